/* Finds repetitions in lists of accesses: what the body of a loop over
 * neighbouring addresses makes.
 *
 * Let a list be the same k accesses again and again, each time `stride` bytes
 * further, a stride that divides L2's lines. After a round of times all are one
 * line of L2 further, in the next set: which accesses share lines and sets is
 * the same in every round.
 *
 * An access whose line is the most recent of its set hits, leaves the order of
 * ways as it is and can be skipped. Which accesses of a round are of that kind
 * follows from the list alone, whatever the caches held before: the last load
 * in a set of L1 made its line the most recent. So a round is walked through to
 * know what it leaves behind, the next to tell which of its accesses must be
 * looked up (`touches`); the same ones, further on, must be in all later
 * rounds.
 *
 * In L2 a store makes its line the most recent, and dirty; a load does so if it
 * misses L1, which cannot be known here: another line's load that has to be
 * looked up ends what is known of the set. */
#include <string.h>

#include "sim/machine/cache_priv.h"

enum {
    MIN_ROUNDS = 4, /* fewer are not worth the search */
    BLOCK = 16,
    KNOWN = 64 /* sets told apart; others share an entry, which forgets */
};

/* Most recent lines, by the low bits of their set. */
typedef struct {
    uint32_t lines[KNOWN];
    uint32_t mask;
} recent_lines;

typedef struct {
    uint64_t addr;
    uint32_t bytes;
    bool is_store;
} site;

typedef struct {
    site sites[REPEAT_MAX_SITES];
    recent_lines l1, l2;
    unsigned l1_shift, l2_shift;
} walk;

static const uint32_t NOTHING = UINT32_MAX; /* more than any line's number */

typedef uint64_t
    __attribute__((vector_size(16), aligned(8), may_alias)) two_accesses;

/* How many accesses from the k-th on are those k before moved by d. */
static size_t extent(const uint64_t *list, size_t n, uint32_t k, uint64_t d)
{
    size_t i = k;

    while (i < n && i < 2 * (size_t)k && list[i] - list[i - k] == d)
        i++;
    if (i < 2 * (size_t)k)
        return 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        const two_accesses *at = (const void *)&list[i];
        const two_accesses *before = (const void *)&list[i - k];
        two_accesses other = {0, 0};

#pragma GCC unroll 8
        for (int b = 0; b < BLOCK / 2; b++)
            other |= (at[b] - before[b]) ^ d;
        if (other[0] | other[1])
            break;
    }
    while (i < n && list[i] - list[i - k] == d)
        i++;
    return i - k;
}

/* The least period with a stride that divides a line of l2, and how often. */
static bool find_period(const uint64_t *list, size_t n, uint32_t l2_line,
                        uint64_t *stride, repetition *r)
{
    for (uint32_t k = 1; k <= REPEAT_MAX_SITES && 2 * k <= n; k++) {
        uint64_t d = list[k] - list[0];

        if (!d || d > l2_line || (d & (d - 1)))
            continue;
        r->period = k;
        r->round = (uint32_t)(l2_line / d);
        r->times = 1 + (uint32_t)(extent(list, n, k, d) / k);
        *stride = d;
        if (r->times >= MIN_ROUNDS * r->round)
            return true;
    }
    return false;
}

static void forget(recent_lines *r, const level *v)
{
    memset(r->lines, 0xff, sizeof r->lines);
    r->mask = v->set_mask < KNOWN - 1 ? v->set_mask : KNOWN - 1;
}

static INLINE uint32_t *most_recent(recent_lines *r, uint32_t line)
{
    return &r->lines[line & r->mask];
}

static INLINE bool note(repetition *r, uint32_t line, bool is_store)
{
    if (r->n_touches == REPEAT_MAX_TOUCHES)
        return false;
    r->touches[r->n_touches++] = (line_touch){line, is_store};
    return true;
}

static bool walk_load(walk *w, const site *s, uint64_t at, repetition *r)
{
    uint32_t line = (uint32_t)(at >> w->l1_shift);
    uint32_t last = (uint32_t)((at + s->bytes - 1) >> w->l1_shift);

    r->adds.crossings += last - line;
    for (; line <= last; line++) {
        uint32_t *l1 = most_recent(&w->l1, line);
        uint32_t line2 = line >> (w->l2_shift - w->l1_shift);
        uint32_t *l2 = most_recent(&w->l2, line2);

        if (*l1 == line)
            continue;
        *l1 = line;
        if (*l2 != line2)
            *l2 = NOTHING;
        if (!note(r, line, false))
            return false;
    }
    return true;
}

static bool walk_store(walk *w, const site *s, uint64_t at, repetition *r)
{
    uint32_t line = (uint32_t)(at >> w->l2_shift);
    uint32_t last = (uint32_t)((at + s->bytes - 1) >> w->l2_shift);

    for (; line <= last; line++) {
        uint32_t *l2 = most_recent(&w->l2, line);

        if (*l2 == line)
            continue;
        *l2 = line;
        if (!note(r, line, true))
            return false;
    }
    return true;
}

/* A round, starting at the given time. */
static bool walk_round(walk *w, uint64_t stride, uint32_t time, repetition *r)
{
    r->n_touches = 0;
    r->adds.crossings = 0;
    for (uint32_t end = time + r->round; time < end; time++)
        for (uint32_t i = 0; i < r->period; i++) {
            const site *s = &w->sites[i];
            uint64_t at = s->addr + time * stride;

            if (!(s->is_store ? walk_store : walk_load)(w, s, at, r))
                return false;
        }
    return true;
}

static void add_up(const walk *w, repetition *r)
{
    tally *t = &r->adds;

    t->loads = t->stores = t->load_bytes = t->store_bytes = 0;
    for (uint32_t i = 0; i < r->period; i++) {
        const site *s = &w->sites[i];

        *(s->is_store ? &t->stores : &t->loads) += r->round;
        *(s->is_store ? &t->store_bytes : &t->load_bytes) +=
            (uint64_t)r->round * s->bytes;
    }
}

/* False: strides that carry out of the address are no strides. */
static bool take_sites(walk *w, const uint64_t *list, uint64_t stride,
                       const repetition *r)
{
    for (uint32_t i = 0; i < r->period; i++) {
        w->sites[i] =
            (site){MACH_ACCESS_ADDR(list[i]), MACH_ACCESS_BYTES(list[i]),
                   (bool)MACH_ACCESS_IS_STORE(list[i])};
        if (w->sites[i].addr + r->times * stride + w->sites[i].bytes >
            UINT32_MAX)
            return false;
    }
    return true;
}

bool repeat_find(const level *l1, const level *l2, const uint64_t *list,
                 size_t n, repetition *r)
{
    uint64_t stride;
    walk w;

    if (!find_period(list, n, 1u << l2->line_shift, &stride, r) ||
        !take_sites(&w, list, stride, r))
        return false;
    w.l1_shift = l1->line_shift;
    w.l2_shift = l2->line_shift;
    forget(&w.l1, l1);
    forget(&w.l2, l2);
    if (!walk_round(&w, stride, 0, r) || !walk_round(&w, stride, r->round, r))
        return false;
    add_up(&w, r);
    return 2 * r->n_touches < r->period * r->round;
}
