/* What a round of a repetition does, as far as the list alone tells, whatever
 * the caches held before.
 *
 * A round is walked through to know which lines it leaves in which ways, then
 * the next to tell which of its accesses must be looked up, and a few more if
 * then none must be looked up in L1. Those of later rounds are the same ones,
 * further on:
 *
 *   - an access whose line is known to be the most recent of its set, and dirty
 *     if it is a store, hits and changes nothing: it is skipped;
 *   - in a set of which both ways are known, hits and misses are known, too,
 *     and what is written back; what is left of it are lines that DDR gives or
 *     gets, and the ways at the end of the round;
 *   - all others are looked up. A load that does may or may not ask L2: what
 *     was known of that set is not any more. */
#include "sim/machine/cache_walk.h"

#include <string.h>

enum {
    MAX_WARMUP = 8,
    KNOWN = 64 /* sets told apart; others share an entry, which forgets */
};

static const uint32_t NOTHING = UINT32_MAX; /* more than any line's number */

enum { CLEAN, DIRTY, EITHER };

typedef struct {
    uint32_t set;
    uint32_t line[2]; /* most recent first, NOTHING = not known */
    uint8_t dirty[2];
    bool stale; /* the tags are not up to date; both ways are known */
} known_set;

typedef struct {
    const cache_level *v1, *v2;
    mach_places places;
    known_set l1[KNOWN], l2[KNOWN];
    const repetition *r;
    repeat_part *part; /* what is found out */
    uint64_t crossings;
} walk;

static void forget(known_set *k)
{
    k->line[0] = k->line[1] = NOTHING;
    k->dirty[0] = k->dirty[1] = EITHER;
}

/* Counts beyond what fits; such a round is no use. */
static void emit(walk *w, repeat_kind kind, uint32_t line)
{
    repeat_ops *ops = &w->part->ops;

    if (ops->n < REPEAT_MAX_OPS)
        ops->list[ops->n] = (repeat_op){.kind = kind, .line = line};
    ops->n++;
}

static void bring_up_to_date(walk *w, known_set *k, bool is_l2)
{
    repeat_ops *ops = &w->part->ops;

    if (!k->stale)
        return;
    k->stale = false;
    emit(w, is_l2 ? OP_SET_L2 : OP_SET_L1, k->line[0]);
    if (ops->n > REPEAT_MAX_OPS)
        return;
    ops->list[ops->n - 1].second = k->line[1];
    ops->list[ops->n - 1].dirty = (uint32_t)(k->dirty[0] == DIRTY) |
                                  (uint32_t)(k->dirty[1] == DIRTY) << 1;
}

static known_set *known_of(walk *w, uint32_t line, bool is_l2)
{
    const cache_level *v = is_l2 ? w->v2 : w->v1;
    uint32_t set = line & v->set_mask;
    known_set *k = &(is_l2 ? w->l2 : w->l1)[set % KNOWN];

    if (k->set != set) {
        bring_up_to_date(w, k, is_l2);
        k->set = set;
        forget(k);
    }
    return k;
}

static void make_recent(known_set *k, uint32_t line, uint8_t dirty)
{
    k->line[1] = k->line[0];
    k->dirty[1] = k->dirty[0];
    k->line[0] = line;
    k->dirty[0] = dirty;
}

static void know_l2(walk *w, uint32_t line, bool is_store)
{
    known_set *k = known_of(w, line, true);
    bool full =
        k->line[1] != NOTHING && k->dirty[0] != EITHER && k->dirty[1] != EITHER;
    uint8_t dirty = EITHER;

    if (k->line[0] == line && (!is_store || k->dirty[0] == DIRTY))
        return;
    if (!full)
        emit(w, is_store ? OP_STORE : OP_FETCH, line);
    else
        k->stale = true;
    if (k->line[0] == line) {
        k->dirty[0] = DIRTY;
        return;
    }
    if (k->line[1] == line) {
        dirty = k->dirty[1];
    } else if (k->line[1] != NOTHING) { /* a miss */
        dirty = CLEAN;
        if (full)
            emit(w, is_store ? OP_STORED : OP_LOADED, line);
        if (full && k->dirty[1] == DIRTY)
            emit(w, OP_BACK, k->line[1]);
    }
    make_recent(k, line, is_store ? DIRTY : dirty);
}

static void know_l1(walk *w, uint32_t line)
{
    uint32_t line2 = line >> (w->v2->line_shift - w->v1->line_shift);
    known_set *k = known_of(w, line, false), *k2;
    bool hit = k->line[1] == line;

    if (k->line[0] == line)
        return;
    if (w->part->n_lines < REPEAT_MAX_LINES)
        w->part->lines[w->part->n_lines] = line;
    w->part->n_lines++;
    if (k->line[1] != NOTHING) {
        k->stale = true;
        make_recent(k, line, CLEAN);
        if (hit)
            return;
        w->part->l1_misses++;
        know_l2(w, line2, false);
        return;
    }
    make_recent(k, line, CLEAN);
    k2 = known_of(w, line2, true);
    bring_up_to_date(w, k2, true);
    if (k2->line[0] != line2)
        forget(k2);
    emit(w, OP_LOAD, line);
}

static void walk_access(walk *w, uint64_t access)
{
    bool is_store = MACH_ACCESS_IS_STORE(access);
    uint64_t at = mach_place_of(w->places, MACH_ACCESS_ADDR(access));
    uint64_t bytes = MACH_ACCESS_BYTES(access);
    uint32_t shift = is_store ? w->v2->line_shift : w->v1->line_shift;
    uint32_t line = (uint32_t)(at >> shift);
    uint32_t last = (uint32_t)((at + bytes - 1) >> shift);

    if (!is_store)
        w->crossings += last - line;
    for (; line <= last; line++)
        if (is_store)
            know_l2(w, line, true);
        else
            know_l1(w, line);
}

static void know_nothing(walk *w)
{
    for (uint32_t s = 0; s < KNOWN; s++) {
        w->l1[s].set = w->l2[s].set = UINT32_MAX;
        w->l1[s].stale = w->l2[s].stale = false;
        forget(&w->l1[s]);
        forget(&w->l2[s]);
    }
}

/* The k-th round is to be w->part. */
static void walk_round(walk *w, repeat_part *part, uint64_t k)
{
    const repetition *r = w->r;

    w->part = part;
    w->crossings = 0;
    part->ops.n = part->n_lines = part->l1_misses = 0;
    for (uint64_t time = k * r->round; time < (k + 1) * r->round; time++)
        for (uint32_t i = 0; i < r->period; i++)
            walk_access(w, r->first[i] + time * r->stride);
    for (uint32_t s = 0; s < KNOWN; s++) {
        bring_up_to_date(w, &w->l1[s], false);
        bring_up_to_date(w, &w->l2[s], true);
    }
}

static bool fits(const repeat_part *p)
{
    return p->ops.n <= REPEAT_MAX_OPS && p->n_lines <= REPEAT_MAX_LINES;
}

static bool looks_up_l1(const repeat_part *p)
{
    bool any = !fits(p);

    for (uint32_t i = 0; i < p->ops.n && !any; i++)
        any = p->ops.list[i].kind == OP_LOAD;
    return any;
}

static bool knows_ddr(const repeat_part *p)
{
    bool any = false;

    for (uint32_t i = 0; i < p->ops.n && !any; i++)
        any =
            p->ops.list[i].kind >= OP_LOADED && p->ops.list[i].kind <= OP_BACK;
    return any;
}

static void leave_l1_behind(repeat_part *p)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->ops.n; i++)
        if (p->ops.list[i].kind != OP_SET_L1)
            p->ops.list[n++] = p->ops.list[i];
    p->ops.n = n;
}

static void copy_part(repeat_part *to, const repeat_part *from)
{
    to->ops.n = from->ops.n;
    memcpy(to->ops.list, from->ops.list, from->ops.n * sizeof *from->ops.list);
    to->l1_misses = from->l1_misses;
    to->n_lines = from->n_lines;
    if (from->n_lines <= REPEAT_MAX_LINES)
        memcpy(to->lines, from->lines, from->n_lines * sizeof *from->lines);
}

static uint32_t n_lookups(const repeat_ops *ops)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < ops->n; i++)
        n += ops->list[i].kind <= OP_STORE;
    return n;
}

static bool is_worth_it(const repetition *r)
{
    const repeat_ops *ops = &r->late.ops;

    return 2 * n_lookups(ops) < r->period * r->round &&
           ops->n < 2 * r->period * r->round;
}

/* Walks on until no access must be looked up in L1. False: that does not come
 * about. */
static bool walk_until_l1_is_known(walk *w, repetition *r, size_t rounds)
{
    r->warmup = 1;
    copy_part(&r->late, &r->early);
    while (looks_up_l1(&r->late) && r->warmup < MAX_WARMUP &&
           r->warmup + 3 < rounds)
        walk_round(w, &r->late, ++r->warmup);
    return !looks_up_l1(&r->late);
}

/* What round 0 does holds of any round, since nothing is known when it begins.
 * Does a round that others have gone before do as much? */
static bool begins_as_it_goes_on(const repetition *r)
{
    return n_lookups(&r->begin.ops) <= n_lookups(&r->early.ops) &&
           r->begin.ops.n <= r->early.ops.n;
}

bool repeat_walk_rounds(repetition *r, const cache_level *l1,
                        const cache_level *l2, mach_places places, size_t n,
                        bool may_wait)
{
    walk w = {.v1 = l1, .v2 = l2, .places = places, .r = r};
    size_t rounds = n / (r->period * r->round);
    uint32_t l1_step = r->step << (l2->line_shift - l1->line_shift);
    uint32_t n_sets = l1->set_mask + 1, apart = l1_step & -l1_step;

    for (uint32_t i = 0; i < r->period; i++) {
        uint32_t at = MACH_ACCESS_ADDR(r->first[i]);

        r->places[i] = mach_place_of(places, at) - at;
    }
    know_nothing(&w);
    r->enough = 0;
    walk_round(&w, &r->begin, 0);
    r->adds.crossings = w.crossings;
    walk_round(&w, &r->early, 1);
    if (r->begin.ops.n > REPEAT_MAX_OPS || r->early.ops.n > REPEAT_MAX_OPS)
        return false;
    if (may_wait && walk_until_l1_is_known(&w, r, rounds)) {
        leave_l1_behind(&r->late);
        /* Each line comes to every so many-th set, twice. */
        r->enough = 2 * (apart < n_sets ? n_sets / apart : 1);
    } else {
        r->warmup = knows_ddr(&r->early) ? 1 : UINT32_MAX;
        copy_part(&r->late, &r->early);
        if (r->warmup == 1 && begins_as_it_goes_on(r)) {
            r->warmup = 0;
            copy_part(&r->late, &r->begin);
        }
    }
    return is_worth_it(r);
}
