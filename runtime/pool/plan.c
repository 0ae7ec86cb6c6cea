/* Orders of the items, and which of them gives the smallest peak. The items are
 * sorted by their figures first; all that follows sees their ranks only, so
 * that the order in which they were given cannot matter. */
#include "runtime/pool/plan.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/pool/gaps.h"

enum {
    N_ORDERS = 4,
    MOST_ROUNDS = 500,
    /* Limits the rounds from each order; the work of one grows about as the
     * square of the number of items. */
    ROUND_WORK = 20000000, /* so that 4,472 items are the last with any */
};

/* Something to sort: keys decreasing, then ranks increasing. */
typedef struct {
    uint64_t key, key2;
    uint32_t rank;
} entry;

typedef struct {
    arena *a; /* all of the search, dropped at its end */
    const pool_item *items;
    pool_ranked *ranked; /* [n]: by size, decreasing */
    uint32_t *number;    /* [n]: the item of a rank */
    pool_gaps *gaps;
    uint32_t n;           /* without those of no bytes */
    uint64_t lower_bound; /* as in pool_plan */
    uint64_t *best;       /* [n]: offsets by rank */
    uint64_t *offsets;    /* [n]: of the order that is being tried */
    uint64_t peak;        /* of best */
} search;

static uint64_t aligned(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) & ~(alignment - 1);
}

static uint64_t alignment_of(const pool_item *item)
{
    return item->alignment ? item->alignment : 1;
}

static vpu_status check(const pool_item *items, size_t n, vpu_error *err)
{
    uint64_t all = 1; /* no peak is UINT64_MAX, which means none */

    if (n >= UINT32_MAX)
        return err_set(err, VPU_ERR_LIMIT, "%zu items are too many", n);
    for (size_t i = 0; i < n; i++) {
        const pool_item *item = &items[i];
        uint64_t more = alignment_of(item) - 1;

        if (alignment_of(item) & more)
            return err_set(err, VPU_ERR_INVALID,
                           "item %zu: alignment %llu is not a power of two", i,
                           (unsigned long long)item->alignment);
        if (item->first > item->last)
            return err_set(err, VPU_ERR_INVALID,
                           "item %zu: its first step, %u, is after its last, "
                           "%u",
                           i, item->first, item->last);
        /* Twice: a size is rounded up, and so is the offset. */
        if (item->bytes && (__builtin_add_overflow(all, item->bytes, &all) ||
                            __builtin_add_overflow(all, more, &all) ||
                            __builtin_add_overflow(all, more, &all)))
            return err_set(err, VPU_ERR_LIMIT,
                           "item %zu: its %llu bytes, the sizes before and the "
                           "alignments together are too many",
                           i, (unsigned long long)item->bytes);
    }
    return VPU_OK;
}

static int compare_entries(const void *left, const void *right)
{
    const entry *l = left, *r = right;

    if (l->key != r->key)
        return l->key > r->key ? -1 : 1;
    if (l->key2 != r->key2)
        return l->key2 > r->key2 ? -1 : 1;
    return l->rank < r->rank ? -1 : l->rank > r->rank;
}

static int compare_u32(const void *left, const void *right)
{
    uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;

    return l < r ? -1 : l > r;
}

/* --- Ranks */

typedef struct {
    pool_ranked it;
    const pool_item *given;
} numbered;

static int compare_numbered(const void *left, const void *right)
{
    const numbered *l = left, *r = right;

    if (l->it.bytes != r->it.bytes)
        return l->it.bytes > r->it.bytes ? -1 : 1;
    if (l->it.first != r->it.first)
        return l->it.first < r->it.first ? -1 : 1;
    if (l->it.last != r->it.last)
        return l->it.last < r->it.last ? -1 : 1;
    if (l->given->alignment != r->given->alignment)
        return l->given->alignment > r->given->alignment ? -1 : 1;
    if (l->given->bytes != r->given->bytes) /* before they were rounded up */
        return l->given->bytes > r->given->bytes ? -1 : 1;
    return l->given < r->given ? -1 : l->given > r->given;
}

/* The steps at which an item begins, sorted: the live set only grows there, so
 * no other step matters. Items get places in this list for steps. */
static uint32_t *number_steps(search *s, const numbered *all, uint32_t *n_steps)
{
    uint32_t *steps = arena_array(s->a, uint32_t, s->n + 1);
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n; i++)
        steps[i] = all[i].it.first;
    qsort(steps, s->n, sizeof *steps, compare_u32);
    for (uint32_t i = 0; i < s->n; i++)
        if (!n || steps[n - 1] != steps[i])
            steps[n++] = steps[i];
    *n_steps = n;
    return steps;
}

/* How many of the sorted steps are not after this one. */
static uint32_t steps_until(const uint32_t *steps, uint32_t n, uint32_t step)
{
    uint32_t low = 0, high = n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (steps[middle] <= step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the number of steps that matter. */
static uint32_t rank(search *s, size_t n_items)
{
    numbered *all = arena_array(s->a, numbered, n_items + 1);
    uint32_t n_steps;
    uint32_t *steps;

    for (uint32_t i = 0; i < n_items; i++) {
        const pool_item *item = &s->items[i];
        uint64_t alignment = alignment_of(item);

        if (item->bytes)
            all[s->n++] = (numbered){{.bytes = aligned(item->bytes, alignment),
                                      .alignment = alignment,
                                      .first = item->first,
                                      .last = item->last},
                                     item};
    }
    qsort(all, s->n, sizeof *all, compare_numbered);
    steps = number_steps(s, all, &n_steps);
    s->ranked = arena_array(s->a, pool_ranked, s->n + 1);
    s->number = arena_array(s->a, uint32_t, s->n + 1);
    for (uint32_t r = 0; r < s->n; r++) {
        s->ranked[r] = all[r].it;
        s->ranked[r].first = steps_until(steps, n_steps, all[r].it.first) - 1;
        s->ranked[r].last = steps_until(steps, n_steps, all[r].it.last) - 1;
        s->number[r] = (uint32_t)(all[r].given - s->items);
    }
    return n_steps;
}

/* --- The live set */

/* live[step]: the sum of the sizes that live then. */
static uint64_t *live_sums(const search *s, uint32_t n_steps)
{
    uint64_t *live = arena_array(s->a, uint64_t, (size_t)n_steps + 1);

    /* Modulo 2^64 a difference is as good as a sum. */
    for (uint32_t r = 0; r < s->n; r++) {
        live[s->ranked[r].first] += s->ranked[r].bytes;
        live[s->ranked[r].last + 1] -= s->ranked[r].bytes;
    }
    for (uint32_t step = 1; step < n_steps; step++)
        live[step] += live[step - 1];
    return live;
}

/* fullest[r]: the largest live sum of the steps of the item of rank r. Row k of
 * a table has the largest of 2^k steps from each one on; two of them that may
 * overlap cover a life. */
static uint64_t *fullest_steps(const search *s, const uint64_t *live,
                               uint32_t n_steps)
{
    uint64_t *fullest = arena_array(s->a, uint64_t, s->n + 1);
    const uint64_t *rows[32] = {live};

    for (unsigned k = 1; k < 32 && (uint64_t)1 << k <= n_steps; k++) {
        uint32_t half = (uint32_t)1 << (k - 1);
        uint64_t *row = arena_array(s->a, uint64_t, n_steps);

        for (uint32_t at = 0; at + 2 * (size_t)half <= n_steps; at++) {
            uint64_t l = rows[k - 1][at], r = rows[k - 1][at + half];

            row[at] = l > r ? l : r;
        }
        rows[k] = row;
    }
    for (uint32_t r = 0; r < s->n; r++) {
        const pool_ranked *it = &s->ranked[r];
        uint32_t steps = it->last - it->first + 1;
        unsigned k = 31 - (unsigned)__builtin_clz(steps);
        uint64_t from = rows[k][it->first];
        uint64_t to = rows[k][it->last + 1 - ((uint32_t)1 << k)];

        fullest[r] = from > to ? from : to;
    }
    return fullest;
}

/* --- Orders */

static entry entry_of(const search *s, int order, const uint64_t *fullest,
                      uint32_t r)
{
    const pool_ranked *it = &s->ranked[r];
    entry e = {.rank = r, .key2 = it->bytes};

    switch (order) {
    case 0:
        e.key = it->bytes;
        break;
    case 1: /* the largest number stands for all products beyond */
        if (__builtin_mul_overflow(it->bytes,
                                   (uint64_t)it->last - it->first + 1, &e.key))
            e.key = UINT64_MAX;
        break;
    case 2:
        e.key = UINT64_MAX - it->first;
        break;
    default:
        e.key = fullest[r];
    }
    return e;
}

/* Try an order; its peak, UINT64_MAX when that is above limit. */
static uint64_t try_order(search *s, const uint32_t *order, uint64_t limit)
{
    uint64_t peak = pool_gaps_fill(s->gaps, order, limit, s->offsets);

    if (peak < s->peak) {
        s->peak = peak;
        memcpy(s->best, s->offsets, s->n * sizeof *s->best);
    }
    return peak;
}

/* The rank whose item ends highest, the first of several. */
static uint32_t top(const search *s, const uint64_t *offsets)
{
    uint32_t found = 0;
    uint64_t highest = 0;

    for (uint32_t r = 0; r < s->n; r++)
        if (offsets[r] + s->ranked[r].bytes > highest) {
            highest = offsets[r] + s->ranked[r].bytes;
            found = r;
        }
    return found;
}

/* splitmix64: the same numbers everywhere. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* In an order: bring the item at `from` to the place `to`. */
static void move(uint32_t *order, uint32_t from, uint32_t to)
{
    uint32_t r = order[from];

    if (to < from)
        memmove(order + to + 1, order + to, (from - to) * sizeof *order);
    else
        memmove(order + from, order + from + 1, (to - from) * sizeof *order);
    order[to] = r;
}

/* From an order on, true when the lower bound is reached. The item at the top
 * lies there because what came before left no gap, so it gets an earlier place,
 * by chance; what makes the peak larger is taken back. The first item has no
 * earlier place: then any other goes anywhere. */
static bool more_rounds(search *s, uint32_t *order, uint64_t rounds)
{
    uint64_t state = 0;
    uint64_t peak = try_order(s, order, UINT64_MAX);
    uint32_t r = top(s, s->offsets);

    for (uint64_t k = 0; k < rounds; k++) {
        uint32_t at = 0, to;
        uint64_t next;

        while (order[at] != r)
            at++;
        to = (uint32_t)(draw(&state) % (at ? at : s->n));
        if (!at)
            at = 1 + (uint32_t)(draw(&state) % (s->n - 1));
        move(order, at, to);
        next = try_order(s, order, peak);
        if (next == s->lower_bound)
            return true;
        if (next == UINT64_MAX) {
            move(order, to, at);
        } else {
            peak = next;
            r = top(s, s->offsets);
        }
    }
    return false;
}

static void find_best(search *s, uint32_t n_steps)
{
    uint64_t *live = live_sums(s, n_steps);
    uint64_t *fullest = fullest_steps(s, live, n_steps);
    entry *entries = arena_array(s->a, entry, s->n);
    uint32_t *orders[N_ORDERS];
    uint64_t rounds = ROUND_WORK / ((uint64_t)s->n * s->n);

    for (uint32_t r = 0; r < s->n; r++)
        if (fullest[r] > s->lower_bound)
            s->lower_bound = fullest[r];
    s->peak = UINT64_MAX;
    for (int k = 0; k < N_ORDERS; k++) {
        orders[k] = arena_array(s->a, uint32_t, s->n);
        for (uint32_t r = 0; r < s->n; r++)
            entries[r] = entry_of(s, k, fullest, r);
        qsort(entries, s->n, sizeof *entries, compare_entries);
        for (uint32_t r = 0; r < s->n; r++)
            orders[k][r] = entries[r].rank;
        if (try_order(s, orders[k], s->peak - 1) == s->lower_bound)
            return;
    }
    /* Two items or more: one alone is at the lower bound. */
    for (int k = 0; k < N_ORDERS && rounds; k++)
        if (more_rounds(s, orders[k],
                        rounds < MOST_ROUNDS ? rounds : MOST_ROUNDS))
            return;
}

vpu_status pool_plan_make(const pool_item *items, size_t n, arena *a,
                          pool_plan *out, vpu_error *err)
{
    vpu_status st = check(items, n, err);
    search s = {.items = items};
    uint32_t n_steps;

    if (st)
        return st;
    *out = (pool_plan){.offsets = arena_array(a, uint64_t, n), .n = n};
    s.a = arena_create(0);
    n_steps = rank(&s, n);
    if (s.n) {
        s.gaps = pool_gaps_create(s.a, s.ranked, s.n);
        s.best = arena_array(s.a, uint64_t, s.n);
        s.offsets = arena_array(s.a, uint64_t, s.n);
        find_best(&s, n_steps);
    }
    for (uint32_t r = 0; r < s.n; r++) {
        out->offsets[s.number[r]] = s.best[r];
        out->sum += s.ranked[r].bytes;
    }
    out->peak = s.peak;
    out->lower_bound = s.lower_bound;
    arena_destroy(s.a);
    return VPU_OK;
}
