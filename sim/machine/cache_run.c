/* Lists of accesses to caches of two ways: looked up one by one, or, where
 * cache_repeat.c finds a repetition, round by round. */
#include <string.h>

#include "sim/machine/cache_priv.h"

static void add_tally(mach_cache *c, const cache_ddr_banks *d,
                      const cache_tally *t)
{
    uint64_t all = 0, backs = 0;
    uint32_t fills = (t->ddr.load_number - c->ddr.load_number) & LOAD_NUMBERS;

    for (uint32_t b = 0; b <= c->bank_mask; b++) {
        all += d->banks[b].fills - c->banks.banks[b].fills;
        backs += d->backs[b] - c->banks.backs[b];
    }
    c->counts.load_bytes += t->load_bytes;
    c->counts.store_bytes += t->store_bytes;
    c->counts.stores += t->stores;
    c->counts.load_l1_hits += t->loads + t->crossings - t->l1_misses;
    c->counts.load_l2_hits += t->l1_misses - fills;
    c->counts.load_fills += fills;
    c->counts.store_fills += all - fills;
    c->counts.write_backs += backs;
    c->ddr = t->ddr;
    c->banks = *d;
}

enum { BATCH = 511 };

/* n <= BATCH, so that their bytes stay below 2^16 in `all`: a sum of the
 * entries' upper halves, that is bytes, and stores << 16. */
static INLINE void run_pairs(mach_cache *c, cache_geometry g,
                             const uint64_t *list, size_t n)
{
    const cache_level l1 = c->l1, l2 = c->l2;
    cache_pair_of_ways nowhere = 0;
    cache_warm_set w2 = {&nowhere, 0};
    uint32_t recent = UINT32_MAX; /* no line */
    uint64_t all = 0, stored = 0;
    /* A copy: sets are written through pointers that may alias anything, and
     * what is local need not be fetched again after each. */
    cache_ddr_banks d = c->banks;
    cache_tally t = {.ddr = c->ddr};

    for (const uint64_t *end = list + n; list < end; list++) {
        uint64_t addr = MACH_ACCESS_ADDR(*list), upper = *list >> 32;
        uint32_t bytes = upper & 0xffff, line, last;

        all += upper;
        if (MACH_ACCESS_IS_STORE(*list)) { /* past L1 */
            stored += bytes;
            line = (uint32_t)(addr >> g.l2);
            last = (uint32_t)((addr + bytes - 1) >> g.l2);
            do
                cache_l2_pair(&l2, g, &w2, line, 1, &d, &t);
            while (line++ != last);
            continue;
        }
        line = (uint32_t)(addr >> g.l1);
        last = (uint32_t)((addr + upper - 1) >> g.l1);
        t.crossings += last - line;
        /* The line touched last is where it is. */
        if (line == recent && line++ == last)
            continue;
        recent = last;
        do {
            if (cache_l1_pair(&l1, line))
                continue;
            t.l1_misses++;
            cache_l2_pair(&l2, g, &w2, line >> (g.l2 - g.l1), 0, &d, &t);
        } while (line++ != last);
    }
    *w2.set = w2.both;
    t.stores = all >> 16;
    t.loads = n - t.stores;
    t.store_bytes = stored;
    t.load_bytes = (all & 0xffff) - stored;
    add_tally(c, &d, &t);
}

/* What a round looks up and what is known of it, `moved` lines of L2 on. */
static INLINE void run_ops(const repeat_ops *ops, const cache_level *l1,
                           const cache_level *l2, cache_geometry g,
                           uint32_t moved, cache_ddr_banks *d, cache_tally *t)
{
    uint32_t moved1 = moved << (g.l2 - g.l1);

    for (const repeat_op *o = ops->list, *end = o + ops->n; o < end; o++) {
        uint32_t line = o->line + moved, missed;

        switch ((repeat_kind)o->kind) {
        case OP_LOAD:
            line = o->line + moved1;
            if (cache_l1_pair(l1, line))
                break;
            t->l1_misses++;
            cache_l2_pair_once(l2, g, line >> (g.l2 - g.l1), 0, d, t);
            break;
        case OP_LOADS:
            line = o->line + moved1;
            missed = (uint32_t)!cache_l1_pair(l1, line) +
                     !cache_l1_pair(l1, line + 1);
            t->l1_misses += missed;
            if (missed)
                cache_l2_pair_once(l2, g, line >> (g.l2 - g.l1), 0, d, t);
            break;
        case OP_FETCH:
            cache_l2_pair_once(l2, g, line, 0, d, t);
            break;
        case OP_STORE:
            cache_l2_pair_once(l2, g, line, 1, d, t);
            break;
        case OP_LOADED:
            cache_loaded_line(d, &t->ddr, cache_bank_of_line(g, line));
            break;
        case OP_STORED:
            cache_stored_line(d, &t->ddr, cache_bank_of_line(g, line));
            break;
        case OP_BACK:
            d->backs[cache_bank_of_line(g, line)]++;
            break;
        case OP_PASS:
            t->ddr.load_number = (t->ddr.load_number + o->line) & LOAD_NUMBERS;
            t->ddr.loads_behind += o->behind;
            t->ddr.lines_before += o->waiting;
            break;
        case OP_SET_L1:
            line = o->line + moved1;
            *cache_pair(l1, line) =
                line << 1 | (uint64_t)((o->second + moved1) << 1) << 32;
            break;
        case OP_SET_L2:
            *cache_pair(l2, line) =
                (line << 1 | (o->dirty & 1)) |
                (uint64_t)((o->second + moved) << 1 | o->dirty >> 1) << 32;
            break;
        }
    }
}

static cache_geometry geometry_of(const mach_cache *c)
{
    return (cache_geometry){c->l1.line_shift, c->l2.line_shift, c->bank_shift,
                            c->bank_mask};
}

static uint32_t moved_by(const mach_cache *c, uint64_t shift)
{
    return (uint32_t)(shift >> c->l2.line_shift);
}

/* What n rounds add that every round adds. */
static cache_tally rounds_add(const mach_cache *c, uint32_t n,
                              uint64_t l1_misses)
{
    const cache_tally *round = &c->repeat.adds;

    return (cache_tally){.loads = n * round->loads,
                         .stores = n * round->stores,
                         .load_bytes = n * round->load_bytes,
                         .store_bytes = n * round->store_bytes,
                         .crossings = n * round->crossings,
                         .l1_misses = n * l1_misses,
                         .ddr = c->ddr};
}

/* One OP_LOADS n times, each a step further. */
static INLINE void run_loads_n(const mach_cache *c, cache_geometry g,
                               uint32_t line, uint32_t n, cache_ddr_banks *d,
                               cache_tally *t)
{
    const uint32_t more = g.l2 - g.l1;
    const cache_level l1 = c->l1, l2 = c->l2;
    uint32_t misses = 0;

    for (; n; n--, line += c->repeat.step << more) {
        uint32_t missed =
            (uint32_t)!cache_l1_pair(&l1, line) + !cache_l1_pair(&l1, line + 1);

        misses += missed;
        if (missed)
            cache_l2_pair_once(&l2, g, line >> more, 0, d, t);
    }
    t->l1_misses += misses;
}

/* n times what the ops say, each a step further. */
static void run_ops_n(const mach_cache *c, const repeat_ops *ops,
                      uint32_t moved, uint32_t n, cache_ddr_banks *d,
                      cache_tally *t)
{
    const cache_geometry g = geometry_of(c);
    const cache_level l1 = c->l1, l2 = c->l2;
    bool loads = ops->n == 1 && ops->list[0].kind == OP_LOADS;
    uint32_t line = loads ? ops->list[0].line + (moved << (g.l2 - g.l1)) : 0;

    if (loads && cache_is_usual(g))
        run_loads_n(c, cache_usual_geometry, line, n, d, t);
    else if (loads)
        run_loads_n(c, g, line, n, d, t);
    else if (cache_is_usual(g))
        for (; n; n--, moved += c->repeat.step)
            run_ops(ops, &l1, &l2, cache_usual_geometry, moved, d, t);
    else
        for (; n; n--, moved += c->repeat.step)
            run_ops(ops, &l1, &l2, g, moved, d, t);
}

static void run_part(const mach_cache *c, const repeat_part *p, uint32_t moved,
                     uint32_t n, cache_ddr_banks *d, cache_tally *t)
{
    t->l1_misses += (uint64_t)n * p->l1_misses;
    run_ops_n(c, &p->ops, moved, n, d, t);
}

/* Rounds from the first-th on that are not late ones, n at most; returns how
 * many. */
static uint32_t run_first(mach_cache *c, uint32_t first, uint32_t n)
{
    const repetition *r = &c->repeat;
    uint32_t shift = moved_by(c, r->shift), end = r->warmup;
    cache_ddr_banks d = c->banks;
    cache_tally t;

    if (r->opened)
        end = r->opening.rounds;
    if (first >= end)
        return 0;
    end = first + n < end ? first + n : end;
    t = rounds_add(c, end - first, 0);
    if (r->opened) {
        run_part(c, &r->opening.part, moved_by(c, r->shift - r->opening.shift),
                 1, &d, &t);
    } else {
        if (!first)
            run_part(c, &r->begin, shift, 1, &d, &t);
        n = first ? first : 1;
        run_part(c, &r->early, shift + (n - 1) * r->step, end - n, &d, &t);
    }
    add_tally(c, &d, &t);
    return end - first;
}

/* The next n rounds of c->repeat, behind its warmup. */
static void run_rounds(mach_cache *c, uint32_t n)
{
    enum { WORTH_IT = 3 };
    repetition *r = &c->repeat;
    const cache_geometry g = geometry_of(c);
    cache_tally t = rounds_add(c, n, r->late.l1_misses);
    cache_ddr_banks d = c->banks;

    r->behind += r->enough ? n : 0;
    for (uint32_t now; n && r->streams.most; n -= now) {
        now = n < r->streams.most ? n : r->streams.most;
        repeat_streams_run(&r->streams, &c->l2, g, r->moved, r->step, now, &d,
                           &t.ddr);
        r->moved += now * r->step;
    }
    while (n) {
        uint32_t at = r->moved - r->in_bank.from, now = n;

        if (at >= r->in_bank.n_rounds && n >= WORTH_IT &&
            (c->fast & MACH_WAY_sums)) {
            repeat_in_bank(r, g);
            at = 0;
        }
        if (at < r->in_bank.n_rounds &&
            now > (r->in_bank.n_rounds - at + r->step - 1) / r->step)
            now = (r->in_bank.n_rounds - at + r->step - 1) / r->step;
        if (at >= r->in_bank.n_rounds) {
            run_ops_n(c, &r->late.ops, r->moved, 1, &d, &t);
            r->moved += r->step;
            n--;
            continue;
        }
        for (uint32_t b = 0; b <= g.bank_mask; b++) {
            d.banks[b].fills += now * r->in_bank.fills[b];
            d.backs[b] += now * r->in_bank.backs[b];
        }
        n -= now;
        run_ops_n(c, &r->in_bank.ops, r->moved, now, &d, &t);
        r->moved += now * r->step;
    }
    add_tally(c, &d, &t);
}

static void load_lines(mach_cache *c, const repeat_part *p, uint32_t moved)
{
    uint32_t moved1 = moved << (c->l2.line_shift - c->l1.line_shift);

    for (uint32_t i = 0; i < p->n_lines; i++)
        cache_l1_pair(&c->l1, p->lines[i] + moved1);
}

/* The last n late rounds, before lines moved by `end`, in L1's tags. */
static void load_rounds(mach_cache *c, uint32_t n, uint32_t end)
{
    repetition *r = &c->repeat;

    for (uint32_t moved = end - n * r->step; n; n--, moved += r->step)
        load_lines(c, &r->late, moved);
}

/* Brings L1's tags up to date. */
static void settle(mach_cache *c)
{
    repetition *r = &c->repeat;

    if (r->opened && r->behind < r->enough) {
        load_rounds(c, r->enough, r->ended);
        load_lines(c, &r->opening.part,
                   moved_by(c, r->shift - r->opening.shift));
    }
    load_rounds(c, r->behind < r->enough ? r->behind : r->enough, r->moved);
    r->opened = false;
    r->behind = 0;
}

static void look_up(mach_cache *c, const uint64_t *list, size_t n)
{
    const cache_geometry g = geometry_of(c);

    if (!(c->fast & MACH_WAY_lists)) {
        cache_plain(c, list, n);
        c->l1_last = c->l2_last = UINT32_MAX;
        c->l2_last_entry = NULL;
        return;
    }
    /* The common shape gets code of its own. */
    for (size_t now; n; list += now, n -= now) {
        now = n < BATCH ? n : BATCH;
        if (cache_is_usual(g))
            run_pairs(c, cache_usual_geometry, list, now);
        else
            run_pairs(c, g, list, now);
    }
}

void cache_pay_owed(mach_cache *c)
{
    repetition *r = &c->repeat;
    uint64_t list[REPEAT_MAX_SITES];

    if (r->behind || r->opened)
        settle(c);
    for (uint64_t at = r->ran - r->owed; at < r->ran;) {
        uint32_t n = 0;

        for (uint64_t time = at / r->period; n < r->period && at < r->ran;
             at++, n++)
            list[n] = r->first[n] + r->shift + time * r->stride;
        look_up(c, list, n);
    }
    r->owed = 0;
}

void cache_leave_repetition(mach_cache *c)
{
    cache_pay_owed(c);
    c->repeat.live = c->repeat.latest = false;
}

static void run_singly(mach_cache *c, const uint64_t *list, size_t n)
{
    if (!n)
        return;
    cache_pay_owed(c);
    look_up(c, list, n);
}

/* n whole rounds of c->repeat. */
static void run_whole(mach_cache *c, uint32_t first, uint32_t n)
{
    repetition *r = &c->repeat;
    uint32_t now = run_first(c, first, n);

    if (n > now) {
        r->moved = moved_by(c, r->shift) + (first + now - r->warmup) * r->step;
        run_rounds(c, n - now);
    }
}

/* The next n accesses of c->repeat: what is left of a round, whole rounds. What
 * begins another round is owed until it is known whether the next list goes on
 * with it, or somebody asks. */
static void run_repetition(mach_cache *c, const uint64_t *list, size_t n)
{
    repetition *r = &c->repeat;
    uint32_t whole = r->period * r->round, rounds;
    uint64_t at = r->ran - r->owed; /* accesses */
    size_t head = (whole - at % whole) % whole;

    if (head > n)
        head = n;
    repeat_ran(r, list, n);
    run_singly(c, list, head);
    at += head;
    rounds = (uint32_t)((r->ran - at) / whole);
    r->owed = (uint32_t)(r->ran - at - (uint64_t)rounds * whole);
    if (rounds)
        run_whole(c, (uint32_t)(at / whole), rounds);
    r->latest = true;
}

/* The repetition that list begins with; returns how many accesses were run, 0
 * if there is none. *pays: the search was worth its while. A short one is only
 * if it comes again, so after some that did not they are not looked for. */
static size_t try_repetition(mach_cache *c, const uint64_t *list, size_t n,
                             bool *pays)
{
    enum { SHORT = 128, LONG = 384 };
    repetition *r = &c->repeat;
    uint64_t shift;
    size_t done = repeat_again(r, &c->l2, list, n, &shift);

    if (done && repeat_walk_opening(r, &c->l1, &c->l2, shift, done)) {
        r->opened = true;
        r->ended = r->moved;
        r->behind = 0;
    } else {
        cache_pay_owed(c);
    }
    r->shift = shift;
    r->ran = 0;
    *pays |= done;
    if (!done && !c->skip) {
        done =
            repeat_find(&c->l1, &c->l2, list, n, c->patience ? LONG : SHORT, r);
        *pays |= done >= LONG;
    }
    if (!done)
        return 0;
    run_repetition(c, list, done);
    r->live = done == n;
    return done;
}

static void run_few(mach_cache *c, const uint64_t *list, size_t n)
{
    cache_leave_repetition(c);
    for (size_t i = 0; i < n; i++)
        mach_cache_access(c, list[i]);
}

/* Where a repetition is not found, it is looked for again a while later, each
 * time a longer one. */
static bool run_with_search(mach_cache *c, const uint64_t *list, size_t n)
{
    enum { STRETCH = 256 };
    size_t stretch = STRETCH;
    bool pays = false;

    while (n) {
        size_t done;

        if (n < CACHE_FEW) {
            run_few(c, list, n);
            break;
        }
        done = try_repetition(c, list, n, &pays);
        if (done) {
            stretch = STRETCH;
        } else {
            done = n < stretch || c->skip ? n : stretch;
            run_singly(c, list, done);
            c->repeat.latest = false;
            stretch *= 4;
        }
        list += done;
        n -= done;
    }
    return pays;
}

void cache_run_list(mach_cache *c, const uint64_t *list, size_t n)
{
    enum { MAX_PATIENCE = 63 };
    repetition *r = &c->repeat;
    size_t done = 0;

    if (!(c->fast & MACH_WAY_rounds)) {
        look_up(c, list, n);
        return;
    }
    if (r->live) {
        done = repeat_goes_on(r, list, n);
        run_repetition(c, list, done);
        r->live = done == n;
        if (r->live)
            return;
    }
    if (run_with_search(c, list + done, n - done)) {
        c->patience = c->skip = 0;
    } else if (c->skip) {
        c->skip--;
    } else {
        if (c->patience < MAX_PATIENCE)
            c->patience = 4 * c->patience + 3;
        c->skip = c->patience;
    }
}
