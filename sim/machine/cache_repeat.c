/* Finds repetitions in lists of accesses, and that they go on or begin again.
 */
#include "sim/machine/cache_repeat.h"

#include <string.h>

enum {
    MIN_ROUNDS = 4,              /* less is not worth the walk */
    MAX_STRIDE = MACH_PAGE_SIZE, /* no step over the page between buffers */
    BLOCK = 32,
    MIN_ROUNDS_AGAIN = 2
};

/* --- the same accesses again --------------------------------------------- */

typedef uint64_t
    __attribute__((vector_size(32), aligned(8), may_alias)) four_accesses;

static INLINE size_t extent_of(const uint64_t *list, size_t n, uint32_t k,
                               uint64_t d)
{
    size_t i = k;

    for (; i + BLOCK <= n; i += BLOCK) {
        const four_accesses *at = (const void *)&list[i];
        const four_accesses *before = (const void *)&list[i - k];
        four_accesses other = {0, 0, 0, 0};

#pragma GCC unroll 8
        for (int b = 0; b < BLOCK / 4; b++)
            other |= (at[b] - before[b]) ^ d;
        if (other[0] | other[1] | other[2] | other[3])
            break;
    }
    while (i < n && list[i] - list[i - k] == d)
        i++;
    return i;
}

MACH_HOST_AVX2 static size_t extent_avx2(const uint64_t *list, size_t n,
                                         uint32_t k, uint64_t d)
{
    return extent_of(list, n, k, d);
}

/* How many accesses list has up to the first, from the k-th on, that is not the
 * one k before moved by d; at least k. */
static size_t extent(const uint64_t *list, size_t n, uint32_t k, uint64_t d)
{
    return mach_host_has_avx2() ? extent_avx2(list, n, k, d)
                                : extent_of(list, n, k, d);
}

/* Addresses beyond the last carry into what is above them: then the same
 * difference does not mean the same access further on. */
static bool in_memory(const repetition *r, uint64_t shift, uint64_t n)
{
    return r->highest + shift + n / r->period * r->stride + r->stride <=
           UINT32_MAX;
}

size_t repeat_goes_on(const repetition *r, const uint64_t *list, size_t n)
{
    size_t i = 0;

    while (i < n && i < r->period && list[i] - r->last[i] == r->stride)
        i++;
    if (i == r->period)
        i = extent(list, n, r->period, r->stride);
    return in_memory(r, r->shift, r->ran + i) ? i : 0;
}

/* Is the access moved to its place as far as access i of r was? */
static bool moved_alike(const repetition *r, uint32_t i, mach_places places,
                        uint64_t access)
{
    uint32_t at = MACH_ACCESS_ADDR(access);

    return mach_place_of(places, at) - at == r->places[i];
}

size_t repeat_again(const repetition *r, const cache_level *l2,
                    mach_places places, const uint64_t *list, size_t n,
                    uint64_t *shift)
{
    uint32_t i = 0;

    *shift = list[0] - r->first[0];
    if (n < r->period || *shift & ((1u << l2->line_shift) - 1) ||
        r->lowest + *shift > UINT32_MAX)
        return 0;
    while (i < r->period && list[i] - r->first[i] == *shift &&
           moved_alike(r, i, places, list[i]))
        i++;
    if (i < r->period)
        return 0;
    n = extent(list, n, r->period, r->stride);
    if (n < (size_t)MIN_ROUNDS_AGAIN * r->period * r->round ||
        !in_memory(r, *shift, n))
        return 0;
    return n;
}

void repeat_ran(repetition *r, const uint64_t *list, size_t n)
{
    size_t k = r->period;

    r->ran += n;
    if (n >= k) {
        memcpy(r->last, list + n - k, k * sizeof *list);
        return;
    }
    memmove(r->last, r->last + n, (k - n) * sizeof *list);
    memcpy(r->last + k - n, list, n * sizeof *list);
}

static uint32_t gcd_of_line(uint64_t stride, uint32_t line)
{
    uint64_t low = stride & -stride;

    return low < line ? (uint32_t)low : line;
}

/* The least period that lasts; returns how many accesses. */
static size_t find_period(const uint64_t *list, size_t n, size_t least,
                          uint32_t l2_line, repetition *r)
{
    for (uint32_t k = 1; k <= REPEAT_MAX_SITES && 2 * k <= n && n >= least;
         k++) {
        uint64_t d = list[k] - list[0];
        uint32_t round;
        size_t all;

        if (!d || d > MAX_STRIDE || list[2 * k - 1] - list[k - 1] != d)
            continue;
        round = l2_line / gcd_of_line(d, l2_line);
        if ((size_t)MIN_ROUNDS * k * round > n)
            continue;
        all = extent(list, n, k, d);
        if (all < (size_t)MIN_ROUNDS * k * round || all < least)
            continue;
        r->period = k;
        r->round = round;
        r->stride = d;
        r->step = (uint32_t)(d * round / l2_line);
        return all;
    }
    return 0;
}

/* --- what comes again ---------------------------------------------------- */

static void take_sites(const uint64_t *list, repetition *r)
{
    cache_tally *t = &r->adds;

    memcpy(r->first, list, r->period * sizeof *list);
    r->lowest = UINT64_MAX;
    r->highest = 0;
    *t = (cache_tally){0};
    for (uint32_t i = 0; i < r->period; i++) {
        uint64_t at = MACH_ACCESS_ADDR(list[i]);
        uint64_t bytes = MACH_ACCESS_BYTES(list[i]);
        bool is_store = MACH_ACCESS_IS_STORE(list[i]);

        r->lowest = at < r->lowest ? at : r->lowest;
        r->highest = at + bytes > r->highest ? at + bytes : r->highest;
        *(is_store ? &t->stores : &t->loads) += r->round;
        *(is_store ? &t->store_bytes : &t->load_bytes) += r->round * bytes;
    }
}

size_t repeat_find(const cache_level *l2, const uint64_t *list, size_t n,
                   size_t least, repetition *r)
{
    r->state = REPEAT_NONE;
    n = find_period(list, n, least, 1u << l2->line_shift, r);
    if (!n)
        return 0;
    take_sites(list, r);
    if (!in_memory(r, 0, n))
        return 0;
    r->sums.n_lines = r->sums.n_list = 0;
    return n;
}
