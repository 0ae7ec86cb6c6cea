/* Finds repetitions in lists of accesses: what the body of a loop over
 * neighbouring addresses makes.
 *
 * Let a list be the same k accesses again and again, each time `stride` bytes
 * further. After a round of times all are `step` lines of L2 further: which
 * accesses share lines and sets is the same in every round, but in other sets.
 *
 * What a round does follows in part from the list alone, whatever the caches
 * held before. So a round is walked through to know which lines it leaves in
 * which ways, then the next to tell which of its accesses must be looked up, and
 * a few more if then none must be looked up in L1. Those of later rounds are
 * the same ones, further on:
 *
 *   - an access whose line is known to be the most recent of its set, and dirty
 *     if it is a store, hits and changes nothing: it is skipped;
 *   - in a set of which both ways are known, hits and misses are known, too,
 *     and what is written back; what is left of it are lines that DDR gives or
 *     gets, and the ways at the end of the round;
 *   - all others are looked up. A load that does may or may not ask L2: what
 *     was known of that set is not any more. */
#include <string.h>

#include "sim/machine/cache_priv.h"

enum {
    /* Less is not worth the walk. */
    MIN_ROUNDS = 4,
    MIN_ACCESSES = 384,
    MAX_STRIDE = 4096,
    BLOCK = 32,
    MIN_ROUNDS_AGAIN = 2,
    MAX_WARMUP = 8,
    KNOWN = 64 /* sets told apart; others share an entry, which forgets */
};

static const uint32_t NOTHING = UINT32_MAX; /* more than any line's number */

/* --- the same accesses again ---------------------------------------------- */

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

#ifdef __x86_64__
__attribute__((target("avx2"))) static size_t
extent_avx2(const uint64_t *list, size_t n, uint32_t k, uint64_t d)
{
    return extent_of(list, n, k, d);
}
#endif

/* How many accesses list has up to the first, from the k-th on, that is not the
 * one k before moved by d; at least k. */
static size_t extent(const uint64_t *list, size_t n, uint32_t k, uint64_t d)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        return extent_avx2(list, n, k, d);
#endif
    return extent_of(list, n, k, d);
}

/* Addresses beyond the last carry into what is above them: then the same
 * difference does not mean the same access further on. */
static bool in_memory(const repetition *r, size_t n)
{
    return r->highest + r->shift + (r->ran + n) / r->period * r->stride +
               r->stride <=
           UINT32_MAX;
}

size_t repeat_goes_on(const repetition *r, const uint64_t *list, size_t n)
{
    size_t i = 0;

    while (i < n && i < r->period && list[i] - r->last[i] == r->stride)
        i++;
    if (i == r->period)
        i = extent(list, n, r->period, r->stride);
    return in_memory(r, i) ? i : 0;
}

size_t repeat_again(repetition *r, const level *l2, const uint64_t *list,
                    size_t n)
{
    uint64_t shift = list[0] - r->first[0];
    uint32_t i = 0;

    if (!r->period || n < r->period || shift & ((1u << l2->line_shift) - 1) ||
        r->lowest + shift > UINT32_MAX)
        return 0;
    while (i < r->period && list[i] - r->first[i] == shift)
        i++;
    if (i < r->period)
        return 0;
    n = extent(list, n, r->period, r->stride);
    r->shift = shift;
    r->ran = 0;
    if (n < (size_t)MIN_ROUNDS_AGAIN * r->period * r->round || !in_memory(r, n))
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
static size_t find_period(const uint64_t *list, size_t n, uint32_t l2_line,
                          repetition *r)
{
    for (uint32_t k = 1;
         k <= REPEAT_MAX_SITES && 2 * k <= n && n >= MIN_ACCESSES; k++) {
        uint64_t d = list[k] - list[0];
        uint32_t round;
        size_t all;

        if (!d || d > MAX_STRIDE || list[2 * k - 1] - list[k - 1] != d)
            continue;
        round = l2_line / gcd_of_line(d, l2_line);
        if ((size_t)MIN_ROUNDS * k * round > n)
            continue;
        all = extent(list, n, k, d);
        if (all < (size_t)MIN_ROUNDS * k * round || all < MIN_ACCESSES)
            continue;
        r->period = k;
        r->round = round;
        r->stride = d;
        r->step = (uint32_t)(d * round / l2_line);
        return all;
    }
    return 0;
}

/* --- what is known of the caches ------------------------------------------ */

enum { CLEAN, DIRTY, EITHER };

typedef struct {
    uint32_t set;
    uint32_t line[2]; /* most recent first, NOTHING = not known */
    uint8_t dirty[2];
    bool stale; /* the tags are not up to date; both ways are known */
} known_set;

typedef struct {
    const level *v1, *v2;
    known_set l1[KNOWN], l2[KNOWN];
    repetition *r;
} walk;

static void forget(known_set *k)
{
    k->line[0] = k->line[1] = NOTHING;
    k->dirty[0] = k->dirty[1] = EITHER;
}

/* Counts beyond what fits; such a round is no use. */
static void emit(walk *w, repeat_kind kind, uint32_t line)
{
    repeat_ops *ops = &w->r->ops;

    if (ops->n < REPEAT_MAX_OPS)
        ops->list[ops->n] = (repeat_op){.kind = kind, .line = line};
    ops->n++;
}

static void bring_up_to_date(walk *w, known_set *k, bool is_l2)
{
    repeat_ops *ops = &w->r->ops;

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
    const level *v = is_l2 ? w->v2 : w->v1;
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
    if (w->r->n_lines < REPEAT_MAX_LINES)
        w->r->lines[w->r->n_lines] = line;
    w->r->n_lines++;
    if (k->line[1] != NOTHING) {
        k->stale = true;
        make_recent(k, line, CLEAN);
        if (hit)
            return;
        w->r->adds.l1_misses++;
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
    uint64_t at = MACH_ACCESS_ADDR(access), bytes = MACH_ACCESS_BYTES(access);
    uint32_t shift = is_store ? w->v2->line_shift : w->v1->line_shift;
    uint32_t line = (uint32_t)(at >> shift);
    uint32_t last = (uint32_t)((at + bytes - 1) >> shift);

    if (!is_store)
        w->r->adds.crossings += last - line;
    for (; line <= last; line++)
        if (is_store)
            know_l2(w, line, true);
        else
            know_l1(w, line);
}

/* A round, starting at the given time. */
static void walk_round(walk *w, uint32_t time)
{
    repetition *r = w->r;

    r->ops.n = r->n_lines = 0;
    r->adds.l1_misses = r->adds.crossings = 0;
    for (uint32_t end = time + r->round; time < end; time++)
        for (uint32_t i = 0; i < r->period; i++)
            walk_access(w, r->first[i] + time * r->stride);
    for (uint32_t s = 0; s < KNOWN; s++) {
        bring_up_to_date(w, &w->l1[s], false);
        bring_up_to_date(w, &w->l2[s], true);
    }
}

static bool looks_up_l1(const repetition *r)
{
    bool any = r->ops.n > REPEAT_MAX_OPS || r->n_lines > REPEAT_MAX_LINES;

    for (uint32_t i = 0; i < r->ops.n && !any; i++)
        any = r->ops.list[i].kind == OP_LOAD;
    return any;
}

static void copy_ops(repeat_ops *to, const repeat_ops *from)
{
    to->n = from->n;
    memcpy(to->list, from->list, from->n * sizeof *to->list);
}

/* L1's tags are not written in each round, as nobody reads them. */
static void leave_l1_behind(repetition *r, const level *l1, uint32_t l1_step)
{
    uint32_t n_sets = l1->set_mask + 1, n = 0;
    uint32_t apart = l1_step & -l1_step; /* sets a line comes to in turn */

    for (uint32_t i = 0; i < r->ops.n; i++)
        if (r->ops.list[i].kind != OP_SET_L1)
            r->ops.list[n++] = r->ops.list[i];
    r->ops.n = n;
    r->enough = 2 * (apart < n_sets ? n_sets / apart : 1);
}

/* Walks as many rounds as it takes, of n accesses. */
static void walk_list(walk *w, size_t n)
{
    repetition *r = w->r;
    size_t rounds = n / (r->period * r->round);

    for (uint32_t s = 0; s < KNOWN; s++) {
        w->l1[s].set = w->l2[s].set = UINT32_MAX;
        forget(&w->l1[s]);
        forget(&w->l2[s]);
    }
    r->enough = r->streams.most = 0;
    walk_round(w, 0);
    walk_round(w, r->round);
    r->warmup = 1;
    if (r->ops.n > REPEAT_MAX_OPS)
        return;
    copy_ops(&r->early, &r->ops);
    r->early_l1_misses = (uint32_t)r->adds.l1_misses;
    while (looks_up_l1(r) && r->warmup < MAX_WARMUP && r->warmup + 3 < rounds)
        walk_round(w, ++r->warmup * r->round);
    if (!looks_up_l1(r)) {
        leave_l1_behind(r, w->v1,
                        r->step << (w->v2->line_shift - w->v1->line_shift));
        streams_plan(&r->streams, &r->ops, w->v2, r->step);
        return;
    }
    r->warmup = 1;
    copy_ops(&r->ops, &r->early);
    r->adds.l1_misses = r->early_l1_misses;
}

static bool is_worth_it(const repetition *r)
{
    uint32_t looked_up = 0;

    for (uint32_t i = 0; i < r->ops.n && r->ops.n <= REPEAT_MAX_OPS; i++)
        looked_up += r->ops.list[i].kind <= OP_STORE;
    return r->ops.n <= REPEAT_MAX_OPS && 2 * looked_up < r->period * r->round &&
           r->ops.n < 2 * r->period * r->round;
}

static void take_sites(const uint64_t *list, repetition *r)
{
    tally *t = &r->adds;

    memcpy(r->first, list, r->period * sizeof *list);
    r->lowest = UINT64_MAX;
    r->highest = 0;
    t->loads = t->stores = t->load_bytes = t->store_bytes = 0;
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

size_t repeat_find(const level *l1, const level *l2, const uint64_t *list,
                   size_t n, repetition *r)
{
    walk w = {.v1 = l1, .v2 = l2, .r = r};

    r->period = 0;
    n = find_period(list, n, 1u << l2->line_shift, r);
    if (!n)
        return 0;
    take_sites(list, r);
    r->shift = r->ran = 0;
    if (in_memory(r, n))
        walk_list(&w, n);
    if (!in_memory(r, n) || !is_worth_it(r)) {
        r->period = 0;
        return 0;
    }
    r->in_bank.n = 0;
    return n;
}

/* --- rounds in the same banks --------------------------------------------- */

/* Lines from r->moved on for which no line leaves its row. */
static uint32_t lines_in_rows(const repetition *r, geometry g)
{
    uint32_t row = 1u << g.bank, n = UINT32_MAX / 2;

    for (uint32_t i = 0; i < r->ops.n; i++) {
        const repeat_op *o = &r->ops.list[i];
        uint32_t left = row - ((o->line + r->moved) & (row - 1));

        if (o->kind >= OP_LOADED && o->kind <= OP_BACK && left < n)
            n = left;
    }
    return n;
}

/* Known accesses to DDR as they are put together. */
typedef struct {
    ddr_banks banks;
    ddr_loads loads;
    /* Since the last lookup: what passes together; where ops after the last
     * load fill begin, 0 if there was none. */
    repeat_op *pass;
    uint32_t rest;
} summing;

static uint32_t bank_of(const repetition *r, geometry g, uint32_t line)
{
    return (line + r->moved) >> g.bank & g.bank_mask;
}

/* A load fill after another, with what DDR gave in between. */
static void add_to_pass(repetition *r, geometry g, summing *s, uint32_t line)
{
    repeat_ops *to = &r->in_bank.ops;
    uint32_t behind = s->loads.loads_behind, before = s->loads.lines_before;

    loaded_line(&s->banks, &s->loads, bank_of(r, g, line));
    r->in_bank.fills[bank_of(r, g, line)]++;
    for (; to->n > s->rest; to->n--)
        r->in_bank.fills[bank_of(r, g, to->list[to->n - 1].line)]++;
    if (!s->pass) {
        s->pass = &to->list[to->n++];
        *s->pass = (repeat_op){.kind = OP_PASS};
        s->rest = to->n;
    }
    s->pass->line++;
    s->pass->behind += s->loads.loads_behind - behind;
    s->pass->waiting += s->loads.lines_before - before;
}

static void copy_op(repetition *r, geometry g, summing *s, const repeat_op *o)
{
    repeat_ops *to = &r->in_bank.ops;

    to->list[to->n++] = *o;
    if (o->kind == OP_STORED) {
        stored_line(&s->banks, &s->loads, bank_of(r, g, o->line));
    } else if (o->kind == OP_LOADED) {
        loaded_line(&s->banks, &s->loads, bank_of(r, g, o->line));
        s->rest = to->n;
    } else {
        s->rest = 0;
        s->pass = NULL;
    }
}

/* Of known accesses to DDR without a lookup in between, the first load fill
 * waits for what was before, and the stores after the last are what the next
 * one waits for. All others add the same in each round. */
void repeat_in_bank(repetition *r, geometry g)
{
    enum { WORTH_IT = 3 };
    summing s = {.loads = {.load_number = 1}};

    r->in_bank.from = r->moved;
    r->in_bank.n = lines_in_rows(r, g);
    if (r->in_bank.n < WORTH_IT * r->step) {
        r->in_bank.n = 0;
        return;
    }
    memset(r->in_bank.fills, 0, sizeof r->in_bank.fills);
    memset(r->in_bank.backs, 0, sizeof r->in_bank.backs);
    r->in_bank.ops.n = 0;
    for (uint32_t i = 0; i < r->ops.n; i++) {
        const repeat_op *o = &r->ops.list[i];

        if (o->kind == OP_BACK)
            r->in_bank.backs[bank_of(r, g, o->line)]++;
        else if (o->kind == OP_LOADED && s.rest)
            add_to_pass(r, g, &s, o->line);
        else
            copy_op(r, g, &s, o);
    }
}
