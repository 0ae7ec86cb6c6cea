/* Plain C computations of the sample layers, and the comparison with them. */
#include "tests/kernels/ref.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- tensors ------------------------------------------------------------- */

size_t ref_elements(const ref_tensor *t)
{
    size_t n = 1;

    for (int i = 0; i < 4 && t->dims[i]; i++)
        n *= t->dims[i];
    return n;
}

size_t ref_bytes(const ref_tensor *t)
{
    return ref_elements(t) * (t->is_half ? sizeof(ref_half) : sizeof(float));
}

void ref_alloc(ref_tensor *t)
{
    t->data = calloc(1, ref_bytes(t));
    if (!t->data) {
        fprintf(stderr, "no memory for %zu bytes\n", ref_bytes(t));
        exit(2);
    }
}

void ref_free(ref_tensor *t)
{
    free(t->data);
    t->data = NULL;
}

float ref_get(const ref_tensor *t, size_t i)
{
    return t->is_half ? (float)((const ref_half *)t->data)[i]
                      : ((const float *)t->data)[i];
}

void ref_put(ref_tensor *t, size_t i, float v)
{
    if (t->is_half)
        ((ref_half *)t->data)[i] = (ref_half)v;
    else
        ((float *)t->data)[i] = v;
}

/* --- inputs -------------------------------------------------------------- */

void ref_random(ref_tensor *t, uint32_t port, uint64_t seed)
{
    const uint64_t golden = 0x9e3779b97f4a7c15;
    uint64_t state = seed + port * golden;
    size_t n = ref_elements(t);

    for (size_t i = 0; i < n; i++) {
        uint64_t r = state += golden;

        r = (r ^ (r >> 30)) * 0xbf58476d1ce4e5b9;
        r = (r ^ (r >> 27)) * 0x94d049bb133111eb;
        r ^= r >> 31;
        ref_put(t, i, (float)(r >> 40) / 8388608.0f - 1.0f);
    }
}

void ref_ramp(ref_tensor *t)
{
    size_t n = ref_elements(t);

    for (size_t i = 0; i < n; i++)
        ref_put(t, i, (float)(i % 256) / 256.0f);
}

/* --- layers -------------------------------------------------------------- */

static void grn_pixel(const ref_tensor *in, float bias, size_t first,
                      size_t plane, ref_tensor *out)
{
    uint32_t n = in->dims[1];
    float sum = bias, factor;

    for (uint32_t c = 0; c < n; c++) {
        float v = ref_get(in, first + c * plane);
        float square = v * v;

        sum = sum + square;
    }
    factor = (float)(1.0 / sqrt((double)sum));
    if (in->is_half)
        factor = (float)(ref_half)factor;
    /* The product of two halves is exact in float: put rounds it once. */
    for (uint32_t c = 0; c < n; c++)
        ref_put(out, first + c * plane,
                ref_get(in, first + c * plane) * factor);
}

void ref_grn(const ref_tensor *in, double param, ref_tensor *out)
{
    size_t plane = (size_t)in->dims[2] * in->dims[3];

    for (uint32_t b = 0; b < in->dims[0]; b++)
        for (size_t p = 0; p < plane; p++)
            grn_pixel(in, (float)param, b * in->dims[1] * plane + p, plane,
                      out);
}

/* Walks the input, where the kernel walks the output. */
void ref_reorg(const ref_tensor *in, double param, ref_tensor *out)
{
    uint32_t s = (uint32_t)param;
    size_t C = in->dims[1], H = in->dims[2], W = in->dims[3], i = 0;

    for (size_t b = 0; b < in->dims[0]; b++)
        for (size_t c = 0; c < C; c++)
            for (size_t y = 0; y < H; y++)
                for (size_t x = 0; x < W; x++, i++) {
                    size_t to = (y % s * s + x % s) * C + c;

                    to = b * C * s * s + to;
                    to = to * (H / s) + y / s;
                    to = to * (W / s) + x / s;
                    ref_put(out, to, ref_get(in, i));
                }
}

void ref_cvt(const ref_tensor *in, double param, ref_tensor *out)
{
    size_t n = ref_elements(in);

    (void)param;
    for (size_t i = 0; i < n; i++)
        ref_put(out, i, ref_get(in, i));
}

void ref_matmul(const ref_tensor *in, double param, ref_tensor *out)
{
    size_t M = out->dims[0], N = out->dims[1], K = in[0].dims[1];

    (void)param;
    for (size_t m = 0; m < M; m++)
        for (size_t n = 0; n < N; n++) {
            float sum = 0;

            for (size_t k = 0; k < K; k++) {
                float product =
                    ref_get(&in[0], m * K + k) * ref_get(&in[1], k * N + n);

                sum = sum + product;
            }
            ref_put(out, m * N + n, sum);
        }
}

/* --- comparison ---------------------------------------------------------- */

static uint32_t bits(const ref_tensor *t, size_t i)
{
    uint16_t h;
    uint32_t f;

    if (t->is_half) {
        memcpy(&h, (const ref_half *)t->data + i, sizeof h);
        return h;
    }
    memcpy(&f, (const float *)t->data + i, sizeof f);
    return f;
}

static size_t describe(const ref_tensor *want, const ref_tensor *got, size_t i,
                       char *text, size_t n_text)
{
    uint32_t at[4] = {0};
    size_t rest = i;
    int n;

    for (int d = 3; d >= 0; d--)
        if (want->dims[d]) {
            at[d] = (uint32_t)(rest % want->dims[d]);
            rest /= want->dims[d];
        }
    n = snprintf(text, n_text,
                 "\n  [%u,%u,%u,%u] is %.9g (%#x), expected %.9g (%#x)", at[0],
                 at[1], at[2], at[3], (double)ref_get(got, i), bits(got, i),
                 (double)ref_get(want, i), bits(want, i));
    return n < 0 ? 0 : (size_t)n < n_text ? (size_t)n : n_text - 1;
}

size_t ref_compare(const ref_tensor *want, const void *got, char *text,
                   size_t n_text)
{
    ref_tensor other = *want;
    size_t n = ref_elements(want), differ = 0, used = 0;

    other.data = (void *)(uintptr_t)got;
    text[0] = 0;
    for (size_t i = 0; i < n; i++) {
        if (bits(want, i) == bits(&other, i) ||
            (isnan(ref_get(want, i)) && isnan(ref_get(&other, i))))
            continue;
        if (++differ <= 5)
            used += describe(want, &other, i, text + used, n_text - used);
    }
    return differ;
}
