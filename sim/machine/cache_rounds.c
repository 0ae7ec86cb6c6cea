/* Rounds of a repetition carried out: what is known of them is added to the
 * counts, and what is not is looked up. */
#include "sim/machine/cache_rounds.h"
#include "sim/machine/cache_bank.h"
#include "sim/machine/cache_priv.h"
#include "sim/machine/cache_stream.h"

/* Both ways of a set of L1, and of a set of L2. */
static INLINE void set_l1(const cache_batch *b, uint32_t line, uint32_t second)
{
    *cache_pair(&b->l1, line) = line << 1 | (uint64_t)(second << 1) << 32;
}

static INLINE void set_l2(const cache_batch *b, const repeat_op *o,
                          uint32_t moved)
{
    uint32_t line = o->line + moved, second = o->second + moved;

    *cache_pair(&b->l2, line) = (line << 1 | (o->dirty & 1)) |
                                (uint64_t)(second << 1 | o->dirty >> 1) << 32;
}

static INLINE void pass(cache_ddr_loads *l, const repeat_op *o)
{
    l->load_number = (l->load_number + o->line) & LOAD_NUMBERS;
    l->loads_behind += o->behind;
    l->lines_before += o->waiting;
}

/* What a round looks up and what is known of it, `moved` lines of L2 on. */
static INLINE void run_ops(cache_batch *b, const repeat_ops *ops,
                           uint32_t moved)
{
    uint32_t moved1 = moved << (b->g.l2 - b->g.l1);

    for (const repeat_op *o = ops->list, *end = o + ops->n; o < end; o++) {
        uint32_t line = o->line + moved;

        switch ((repeat_kind)o->kind) {
        case OP_LOAD:
            cache_load_pair(b, o->line + moved1);
            break;
        case OP_FETCH:
            cache_l2_pair(b, line, 0);
            break;
        case OP_STORE:
            cache_l2_pair(b, line, 1);
            break;
        case OP_LOADED:
            cache_loaded_line(b->banks, &b->ddr,
                              cache_bank_of_line(b->g, line));
            break;
        case OP_STORED:
            cache_stored_line(b->banks, &b->ddr,
                              cache_bank_of_line(b->g, line));
            break;
        case OP_BACK:
            b->banks->backs[cache_bank_of_line(b->g, line)]++;
            break;
        case OP_PASS:
            pass(&b->ddr, o);
            break;
        case OP_SET_L1:
            set_l1(b, o->line + moved1, o->second + moved1);
            break;
        case OP_SET_L2:
            set_l2(b, o, moved);
            break;
        }
    }
}

/* n times what the ops say, each a step further. */
static void run_ops_n(cache_batch *batch, const repeat_ops *ops, uint32_t moved,
                      uint32_t step, uint32_t n)
{
    cache_batch b = *batch;

    for (; n; n--, moved += step)
        run_ops(&b, ops, moved);
    batch->tally.l1_misses = b.tally.l1_misses;
    batch->ddr = b.ddr;
}

/* What n rounds add that every round adds. */
static void add_rounds(cache_batch *b, const cache_tally *round, uint64_t n)
{
    b->tally.loads += n * round->loads;
    b->tally.stores += n * round->stores;
    b->tally.load_bytes += n * round->load_bytes;
    b->tally.store_bytes += n * round->store_bytes;
    b->tally.crossings += n * round->crossings;
}

static void run_part(cache_batch *b, const repetition *r, const repeat_part *p,
                     uint32_t moved, uint32_t n)
{
    add_rounds(b, &r->adds, n);
    b->tally.l1_misses += (uint64_t)n * p->l1_misses;
    run_ops_n(b, &p->ops, moved, r->step, n);
}

static uint32_t moved_by(const mach_cache *c, uint64_t shift)
{
    return (uint32_t)(shift >> c->g.l2);
}

/* Rounds from the first-th on that are not late ones, n at most; returns how
 * many. */
static uint32_t run_first(mach_cache *c, uint32_t first, uint32_t n)
{
    const repetition *r = &c->repeat;
    uint32_t shift = moved_by(c, r->shift), end = r->warmup, early = first;
    cache_batch b;

    if (first >= end)
        return 0;
    end = first + n < end ? first + n : end;
    b = cache_batch_begin(c);
    if (!first) {
        run_part(&b, r, &r->begin, shift, 1);
        early = 1;
    }
    run_part(&b, r, &r->early, shift + (early - 1) * r->step, end - early);
    cache_batch_end(c, &b);
    return end - first;
}

/* The next n rounds of c->repeat, behind its warmup. */
static void run_late(mach_cache *c, uint32_t n)
{
    repetition *r = &c->repeat;
    cache_batch b = cache_batch_begin(c);

    add_rounds(&b, &r->adds, n);
    b.tally.l1_misses += (uint64_t)n * r->late.l1_misses;
    r->behind += r->enough ? n : 0;
    for (uint32_t now; n; n -= now) {
        now = 1;
        if (r->streams.most) {
            now = n < r->streams.most ? n : r->streams.most;
            repeat_streams_run(r, &b, now);
        } else if (c->fast & MACH_WAY_sums && repeat_sums_fit(r, b.g, n)) {
            now = repeat_sums_add(r, &b, n);
            run_ops_n(&b, &r->sums.ops, r->moved, r->step, now);
        } else {
            now = n < REPEAT_WORTH_SUMS ? n : 1;
            run_ops_n(&b, &r->late.ops, r->moved, r->step, now);
        }
        r->moved += now * r->step;
    }
    cache_batch_end(c, &b);
}

/* n whole rounds of c->repeat. */
static void run_whole(mach_cache *c, uint32_t first, uint32_t n)
{
    repetition *r = &c->repeat;
    uint32_t now = run_first(c, first, n);

    if (n > now) {
        r->moved = moved_by(c, r->shift) + (first + now - r->warmup) * r->step;
        run_late(c, n - now);
    }
}

/* --- what is owed -------------------------------------------------------- */

/* Brings L1's tags up to date: the last late rounds tell them. */
static void settle(mach_cache *c)
{
    repetition *r = &c->repeat;
    uint32_t n = r->behind < r->enough ? r->behind : r->enough;

    for (uint32_t moved = r->moved - n * r->step; n; n--, moved += r->step)
        for (uint32_t i = 0; i < r->late.n_lines; i++)
            cache_l1_pair(&c->l1,
                          r->late.lines[i] + (moved << (c->g.l2 - c->g.l1)));
    r->behind = 0;
}

void cache_rounds_pay(mach_cache *c)
{
    repetition *r = &c->repeat;
    uint64_t list[REPEAT_MAX_SITES];

    if (r->state != REPEAT_LIVE)
        return;
    settle(c);
    for (uint64_t at = r->ran - r->owed; at < r->ran;) {
        uint32_t n = 0;

        for (uint64_t time = at / r->period; n < r->period && at < r->ran;
             at++, n++)
            list[n] = r->first[n] + r->shift + time * r->stride;
        cache_look_up(c, list, n);
    }
    r->owed = 0;
}

void cache_rounds_leave(mach_cache *c)
{
    if (c->repeat.state != REPEAT_LIVE)
        return;
    cache_rounds_pay(c);
    c->repeat.state = REPEAT_LEFT;
}

void cache_rounds_run(mach_cache *c, const uint64_t *list, size_t n)
{
    repetition *r = &c->repeat;
    uint32_t whole = r->period * r->round, rounds;
    uint64_t at = r->ran - r->owed; /* accesses */
    size_t head = (whole - at % whole) % whole;

    if (head > n)
        head = n;
    repeat_ran(r, list, n);
    /* A round that has begun was owed and paid for: L1's tags are up to date.
     */
    cache_look_up(c, list, head);
    at += head;
    rounds = (uint32_t)((r->ran - at) / whole);
    r->owed = (uint32_t)(r->ran - at - (uint64_t)rounds * whole);
    if (rounds)
        run_whole(c, (uint32_t)(at / whole), rounds);
    r->state = REPEAT_LIVE;
}
