/* Random numbers, permutations, and the Sobol sequence. */
#include "runtime/sweep/samples.h"

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A stream for each dimension: seeds that differ by one have nothing in
 * common. */
static uint64_t begin(uint64_t seed, uint32_t dimension)
{
    uint64_t state = seed;
    uint64_t mixed = splitmix64(&state);

    state = mixed + dimension;
    return splitmix64(&state);
}

double samples_random(uint64_t seed, uint32_t dimension, uint64_t i)
{
    uint64_t state = begin(seed, dimension) + i * 0x9e3779b97f4a7c15u;

    return (double)(splitmix64(&state) >> 11) * 0x1p-53;
}

/* Fisher and Yates's; the remainder of 64 bits by at most 2^20 is fair to
 * within 2^-44. */
void samples_shuffle(uint64_t seed, uint32_t dimension, uint32_t n,
                     uint32_t *out)
{
    uint64_t state = ~begin(seed, dimension);

    for (uint32_t i = 0; i < n; i++)
        out[i] = i;
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = (uint32_t)(splitmix64(&state) % i), was = out[i - 1];

        out[i - 1] = out[k];
        out[k] = was;
    }
}

/* Primitive polynomials over GF(2), without their highest and lowest term, and
 * first direction numbers: Joe and Kuo's, new-joe-kuo-6.21201, dimensions 2 to
 * 10. */
static const struct {
    uint32_t degree, inner, m[5];
} polynomials[SAMPLES_SOBOL_MOST - 1] = {{1, 0, {1}},
                                         {2, 1, {1, 3}},
                                         {3, 1, {1, 3, 1}},
                                         {3, 2, {1, 1, 1}},
                                         {4, 1, {1, 1, 3, 3}},
                                         {4, 4, {1, 3, 5, 13}},
                                         {5, 2, {1, 1, 5, 5, 17}},
                                         {5, 4, {1, 1, 5, 5, 5}},
                                         {5, 7, {1, 1, 7, 11, 19}}};

enum { BITS = 32 };

static void directions(uint32_t dimension, uint32_t v[BITS])
{
    uint32_t s, inner;

    if (!dimension) {
        for (int k = 0; k < BITS; k++)
            v[k] = 1u << (31 - k);
        return;
    }
    s = polynomials[dimension - 1].degree;
    inner = polynomials[dimension - 1].inner;
    for (uint32_t k = 0; k < s; k++)
        v[k] = polynomials[dimension - 1].m[k] << (31 - k);
    for (uint32_t k = s; k < BITS; k++) {
        v[k] = v[k - s] ^ (v[k - s] >> s);
        for (uint32_t j = 1; j < s; j++)
            if (inner >> (s - 1 - j) & 1)
                v[k] ^= v[k - j];
    }
}

double samples_sobol(uint32_t dimension, uint32_t i)
{
    uint32_t v[BITS], x = 0, gray;

    directions(dimension, v);
    i++;
    gray = i ^ (i >> 1);
    for (int k = 0; k < BITS; k++)
        if (gray >> k & 1)
            x ^= v[k];
    return x * 0x1p-32;
}
