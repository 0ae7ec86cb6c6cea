/* See record.h.
 *
 * The steps of a SHAVE lie one behind the other in a block of bytes that grows:
 * a head, and behind it what the step's kind has of the rest, of `bank_lines`
 * those that are not 0. Of a RUN step that is like one of the last few only the
 * head's first half is there, which says where that one lies.
 *
 * A block is made of pieces, so that it grows without being copied. A step lies
 * in one piece: where the longest one would not fit, the next piece begins. */
#include "sim/machine/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/oom.h"
#include "sim/machine/banks.h"
#include "sim/machine/engine.h"

typedef struct {
    uint8_t kind;   /* mach_step_kind */
    uint8_t memory; /* RUN: mem follows, or LIKE */
    uint16_t banks; /* RUN: of each bit that is set a bank_lines follows */
    uint32_t more;  /* GROUP: if not 0, distance follows; LIKE: where the other
                       one lies */
    uint64_t id, issue_cycles;
} head;

enum {
    MEM_HEAD = offsetof(mach_mem_counts, bank_lines),
    LIKE = 2,
    LIKE_BYTES = offsetof(head, id),
    LONGEST = sizeof(head) + sizeof(mach_mem_counts) + sizeof(mach_transfer),
    PIECE = 1 << 15,
    N_LAST = 4
};

/* A RUN step without lines by bank. */
typedef struct {
    uint8_t mem[MEM_HEAD];
    uint64_t issue_cycles;
    const mach_step
        *from;   /* of a group with `like`; NULL: written for itself */
    uint32_t at; /* in the block, + 1 */
} short_run;

typedef struct {
    uint8_t **pieces;
    uint32_t n_pieces;
    size_t n;
    uint64_t unsettled;     /* of what max_bytes counts, not in n_bytes yet */
    bool short_of_memory;   /* a step was lost */
    uint32_t more;          /* of the last group */
    short_run last[N_LAST]; /* that were written whole */
    uint32_t oldest;        /* of these */
} block;

struct mach_record {
    uint64_t max_bytes, n_bytes;
    bool broken;          /* does not fit, or is not to be replayed */
    bool short_of_memory; /* that is why */
    mach_launch launch;
    block shaves[MACH_MAX_SHAVES];
};

mach_record *mach_record_create(uint64_t max_bytes)
{
    mach_record *r = oom_malloc(sizeof *r);

    *r = (mach_record){.max_bytes = max_bytes, .broken = true};
    return r;
}

static void forget(mach_record *r)
{
    for (int i = 0; i < MACH_MAX_SHAVES; i++) {
        block *b = &r->shaves[i];

        for (uint32_t k = 0; k < b->n_pieces; k++)
            free(b->pieces[k]);
        free(b->pieces);
        *b = (block){0};
    }
    r->n_bytes = 0;
}

void mach_record_free(mach_record *r)
{
    if (r)
        forget(r);
    free(r);
}

bool mach_record_complete(const mach_record *r)
{
    return !r->broken;
}

const mach_launch *mach_record_launch(const mach_record *r)
{
    return &r->launch;
}

/* --- writing ------------------------------------------------------------- */

/* Where the step behind `at` begins. */
static size_t step_at(size_t at)
{
    return PIECE - at % PIECE < LONGEST ? (at / PIECE + 1) * PIECE : at;
}

static bool add_piece(block *b)
{
    uint8_t **pieces = b->pieces;

    if (!(b->n_pieces & (b->n_pieces - 1))) {
        size_t cap = b->n_pieces ? 2 * b->n_pieces : 1;

        pieces = realloc(pieces, cap * sizeof *pieces);
        if (!pieces)
            return false;
        b->pieces = pieces;
    }
    pieces[b->n_pieces] = malloc(PIECE);
    if (!pieces[b->n_pieces])
        return false;
    b->n = (size_t)b->n_pieces++ * PIECE;
    return true;
}

/* Room for a step; NULL: there is none. */
static inline uint8_t *room_for_step(block *b)
{
    size_t room = (size_t)b->n_pieces * PIECE - b->n;

    if (room < LONGEST && (b->short_of_memory || !add_piece(b))) {
        b->short_of_memory = true;
        return NULL;
    }
    return b->pieces[b->n_pieces - 1] + b->n % PIECE;
}

static inline uint8_t *put(uint8_t *at, const void *data, size_t n)
{
    memcpy(at, data, n);
    return at + n;
}

/* Field by field: a processor waits where it loads at once what was stored in
 * parts. */
static inline uint8_t *put_short(uint8_t *to, const head *h)
{
    put(to + offsetof(head, kind), &h->kind, sizeof h->kind);
    put(to + offsetof(head, memory), &h->memory, sizeof h->memory);
    put(to + offsetof(head, banks), &h->banks, sizeof h->banks);
    return put(to + offsetof(head, more), &h->more, sizeof h->more);
}

static inline uint8_t *put_head(uint8_t *to, const head *h)
{
    return put(put(put_short(to, h), &h->id, sizeof h->id), &h->issue_cycles,
               sizeof h->issue_cycles);
}

static bool has_memory(const mach_mem_counts *m)
{
    static const mach_mem_counts none;

    return memcmp(m, &none, MEM_HEAD) != 0;
}

static const short_run *like_one(const block *b, const mach_step *s)
{
    for (uint32_t k = 0; k < N_LAST; k++)
        if (b->last[k].at && b->last[k].issue_cycles == s->issue_cycles &&
            !memcmp(b->last[k].mem, &s->detail.mem, MEM_HEAD))
            return &b->last[k];
    return NULL;
}

/* Is it like one of the last? Else it becomes one of them. */
static bool put_like(block *b, const mach_step *s, head *h, uint8_t *to)
{
    const short_run *like = like_one(b, s);
    short_run *last = &b->last[b->oldest];

    if (like) {
        h->memory = LIKE;
        h->more = like->at - 1;
        b->n += (size_t)(put_short(to, h) - to);
        return true;
    }
    if (b->n < UINT32_MAX) {
        memcpy(last->mem, &s->detail.mem, MEM_HEAD);
        last->issue_cycles = s->issue_cycles;
        last->at = (uint32_t)b->n + 1;
        last->from = NULL;
        b->oldest = (b->oldest + 1) % N_LAST;
    }
    return false;
}

/* How many bytes it takes. */
static size_t put_whole(block *b, const mach_step *s, const head *h,
                        uint8_t *to)
{
    const mach_mem_counts *m = &s->detail.mem;
    uint8_t *at = put_head(to, h);

    if (h->more)
        at = put(at, &s->detail.distance, sizeof s->detail.distance);
    if (h->memory)
        at = put(at, m, MEM_HEAD);
    for (uint32_t banks = h->banks; banks; banks &= banks - 1)
        at = put(at, &m->bank_lines[__builtin_ctz(banks)],
                 sizeof *m->bank_lines);
    if (h->kind == MACH_STEP_DMA)
        at = put(at, &s->detail.dma, sizeof s->detail.dma);
    b->n += (size_t)(at - to);
    return (size_t)(at - to);
}

/* max_bytes counts all steps as if they were written whole, and each group by
 * itself. */
static void count_bytes(block *b, size_t bytes)
{
    b->unsettled += bytes * (b->more + UINT64_C(1));
}

enum { LIKE_WHOLE = sizeof(head) + MEM_HEAD };

static void put_step(block *b, const mach_step *s)
{
    const mach_mem_counts *m = &s->detail.mem;
    uint8_t *to = room_for_step(b);
    head h = {
        .kind = (uint8_t)s->kind, .id = s->id, .issue_cycles = s->issue_cycles};

    if (s->kind == MACH_STEP_GROUP)
        h.more = b->more = s->more;
    if (s->kind == MACH_STEP_RUN) {
        h.banks = (uint16_t)mach_banks_in_use(m);
        h.memory = h.banks || has_memory(m);
    }
    if (!to)
        return;
    if (h.memory && !h.banks && !h.id && put_like(b, s, &h, to))
        count_bytes(b, LIKE_WHOLE);
    else
        count_bytes(b, put_whole(b, s, &h, to));
}

/* The last one that was written of this step; NULL: none of the last. */
static const short_run *run_from(const block *b, const mach_step *from)
{
    for (uint32_t k = 0; k < N_LAST; k++)
        if (b->last[k].from == from)
            return &b->last[k];
    return NULL;
}

/* The step is the one of some group before. False: it is not, or there is no
 * room. */
static bool put_again(block *b, const mach_step *run)
{
    const short_run *last = run_from(b, run);
    uint8_t *to = last ? room_for_step(b) : NULL;
    head like = {.kind = MACH_STEP_RUN, .memory = LIKE};

    if (!to)
        return false;
    count_bytes(b, LIKE_WHOLE);
    like.more = last->at - 1;
    b->n += (size_t)(put_short(to, &like) - to);
    return true;
}

/* A group whose step is elsewhere: both are written. */
static void put_group_like(block *b, const mach_step *s)
{
    uint32_t oldest = b->oldest;

    put_step(b, s);
    if (put_again(b, s->like))
        return;
    put_step(b, s->like);
    if (b->oldest != oldest)
        b->last[oldest].from = s->like;
}

static void put_any(block *b, const mach_step *s)
{
    if (s->like)
        put_group_like(b, s);
    else
        put_step(b, s);
}

static void settle(mach_record *r, block *b)
{
    r->n_bytes += b->unsettled;
    b->unsettled = 0;
    r->short_of_memory |= b->short_of_memory;
}

static void break_if_full(mach_record *r)
{
    if (r->n_bytes > r->max_bytes || r->short_of_memory)
        mach_record_spoil(r);
}

bool mach_record_add(mach_record *r, uint32_t shave, const mach_step *step)
{
    if (r->broken)
        return false;
    put_any(&r->shaves[shave], step);
    settle(r, &r->shaves[shave]);
    break_if_full(r);
    return !r->broken;
}

void mach_record_take(mach_record *r, uint32_t shave, const mach_step *steps,
                      uint32_t n)
{
    block *b = &r->shaves[shave];

    for (uint32_t k = 0; k < n && !r->broken; k++)
        put_any(b, &steps[k]);
}

void mach_record_settle(mach_record *r)
{
    for (uint32_t i = 0; i < r->launch.n_shaves; i++)
        settle(r, &r->shaves[i]);
    break_if_full(r);
}

void mach_record_spoil(mach_record *r)
{
    forget(r);
    r->broken = true;
}

void mach_record_begin(mach_record *r, const mach_launch *like)
{
    forget(r);
    r->broken = like->transactions;
    r->short_of_memory = false;
    r->launch = *like;
    r->launch.refill = NULL;
    r->launch.user = NULL;
    r->launch.watch = NULL;
    r->launch.source = NULL;
    r->launch.locals = NULL; /* they live as long as the launch */
    r->launch.n_locals = 0;
    r->launch.buffers = NULL;
    r->launch.n_buffers = 0;
}

/* --- reading ------------------------------------------------------------- */

mach_record_cursor mach_record_steps(const mach_record *r, uint32_t shave)
{
    return (mach_record_cursor){.record = r, .shave = shave};
}

static const uint8_t *get(const uint8_t *from, void *to, size_t n)
{
    memcpy(to, from, n);
    return from + n;
}

/* The step that is written whole there; where it ends. */
static const uint8_t *read_whole(const uint8_t *from, mach_step *out)
{
    head h;

    from = get(from, &h, sizeof h);
    *out = (mach_step){.kind = (mach_step_kind)h.kind,
                       .more = h.more,
                       .id = h.id,
                       .issue_cycles = h.issue_cycles};
    if (h.more)
        from = get(from, &out->detail.distance, sizeof out->detail.distance);
    if (h.memory)
        from = get(from, &out->detail.mem, MEM_HEAD);
    for (int i = 0; i < MACH_MAX_BANKS; i++)
        if (h.banks >> i & 1)
            from = get(from, &out->detail.mem.bank_lines[i], sizeof(uint32_t));
    if (h.kind == MACH_STEP_DMA)
        from = get(from, &out->detail.dma, sizeof out->detail.dma);
    return from;
}

static const uint8_t *byte_at(const block *b, size_t at)
{
    return b->pieces[at / PIECE] + at % PIECE;
}

/* The step as it was recorded. */
static bool next_recorded(mach_record_cursor *c, mach_step *out)
{
    const block *b = &c->record->shaves[c->shave];
    const uint8_t *from;
    head h;

    if (c->at == b->n)
        return false;
    c->at = step_at(c->at);
    from = byte_at(b, c->at);
    memcpy(&h, from, LIKE_BYTES);
    if (h.memory == LIKE) {
        read_whole(byte_at(b, h.more), out);
        c->at += LIKE_BYTES;
    } else {
        c->at += (size_t)(read_whole(from, out) - from);
    }
    return true;
}

bool mach_record_next(mach_record_cursor *c, mach_step *out)
{
    size_t at = c->at;
    bool there = next_recorded(c, out);

    if (there && out->kind != MACH_STEP_GROUP)
        return true;
    if (c->passed < c->more) { /* the group's steps are over: once more */
        c->at = at = c->group;
        c->passed++;
        next_recorded(c, out);
    } else if (there) {
        c->group = at;
        c->more = out->more;
        c->passed = 0;
    } else {
        return false;
    }
    out->id += c->passed * out->detail.distance;
    out->more = 0;
    out->detail.distance = 0;
    return true;
}

/* --- replaying ----------------------------------------------------------- */

typedef struct {
    mach_record_cursor cursors[MACH_MAX_SHAVES];
} replay;

/* Steps a queue gets at once: few, so that they stay in the host's caches. */
enum { BATCH = 64 };

static bool copy_batch(mach_record_cursor *c, mach_queue *q)
{
    for (uint32_t k = 0; k < BATCH || !q->ended;) {
        mach_step s, *to;
        mach_record_cursor before = *c;

        if (!next_recorded(c, &s)) {
            q->ended = true;
            return true;
        }
        if (s.kind == MACH_STEP_GROUP && k >= BATCH) {
            *c = before; /* groups come whole */
            return true;
        }
        to = mach_queue_push(q, s.kind);
        if (!to)
            return false;
        if (s.kind == MACH_STEP_RUN || s.kind == MACH_STEP_DMA || s.more) {
            *to = s;
        } else {
            to->id = s.id;
            to->issue_cycles = s.issue_cycles;
        }
        k++;
    }
    return true;
}

/* The engine has begun two groups of a queue at most: a third is to come. */
static bool has_more(const mach_queue *q)
{
    uint32_t n = 0;

    for (uint32_t k = q->head; k < q->n && n < 3; k++)
        n += q->items[k].kind == MACH_STEP_GROUP;
    return n == 3;
}

static vpu_status refill_from_record(void *user, mach_queue *queues, uint32_t n,
                                     vpu_error *err)
{
    replay *p = user;

    for (uint32_t i = 0; i < n; i++)
        if (!queues[i].ended && !has_more(&queues[i]) &&
            !copy_batch(&p->cursors[i], &queues[i]))
            return err_set(err, VPU_ERR_NOMEM, "no memory for recorded steps");
    return VPU_OK;
}

vpu_status mach_record_replay(const mach_record *r, const mach_desc *desc,
                              trc_writer *trace, const mach_watch *watch,
                              mach_profile *out, vpu_error *err)
{
    replay p;
    mach_launch l = r->launch;

    if (r->short_of_memory)
        return err_set(err, VPU_ERR_NOMEM, "no memory for recorded steps");
    if (!mach_record_complete(r))
        return err_set(err, VPU_ERR_INVALID,
                       "not all steps of the launch are recorded");
    for (uint32_t i = 0; i < l.n_shaves; i++)
        p.cursors[i] = mach_record_steps(r, i);
    l.refill = refill_from_record;
    l.user = &p;
    l.watch = watch;
    return mach_run(desc, &l, trace, out, err);
}

/* --- what steps depend on ------------------------------------------------ */

/* Parameters that sim/exec and sim/machine/cache look at. The rest is read by
 * the engine alone; tests/sim/machine/record_test.c tries each. */
static const char *const looked_at[] = {
    "num_shaves",      "shaves_default",  "cmx_base",         "cmx_slices",
    "cmx_slices_user", "cmx_slice_bytes", "ocl_local_budget", "ddr_base",
    "ddr_bytes",       "wg_split",        "l1d_bytes",        "l1d_line",
    "l1d_ways",        "l2_bytes",        "l2_line",          "l2_ways",
    "l2_partition",    "ddr_banks",       "ddr_row_bytes",    "ddr_bank_hash"};

bool mach_record_depends(const char *parameter)
{
    for (size_t i = 0; i < sizeof looked_at / sizeof *looked_at; i++)
        if (!strcmp(looked_at[i], parameter))
            return true;
    return false;
}
