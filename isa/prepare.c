/* A program as steps. What a run would have to find out again and again is
 * found out here: functions, places, and when results become readable.
 *
 * A result reaches its register lat cycles after its operation. Mostly nobody
 * can tell: no bundle that may issue in between, on any way through the
 * program, reads the register, and no result that was issued later lands there
 * first. Such a result is written at once. The others are owed, and the blocks
 * in which one may be on its way count time. */
#include <stdlib.h>

#include "isa/steps.h"

/* Where control goes behind a block. */
typedef struct {
    const isa_instr *branch; /* NULL: none; not rep */
    bool is_repeated;
    uint32_t next; /* the first block from it on that takes time */
} exits;

/* A result: operation k of the program, in that block. */
typedef struct {
    uint32_t block, k;
    unsigned d;
} result;

typedef struct {
    const isa_function *f;
    const isa_memory *mem;
    bool watched;
    isa_code *code;
    exits *ways;                  /* by block */
    bool *timed;                  /* likewise */
    bool (*is_owed)[ISA_MAX_DST]; /* by operation and result */
    result *owed;
    uint32_t n_owed;
    /* By block: cycles behind the result's at which this flight was there. */
    uint64_t *seen;
    uint32_t *seen_by, n_flights;
    isa_noted *noted;
    uint32_t n_noted;
    /* Steps; without an array they are counted. */
    isa_step *steps;
    size_t n_steps;
} preparation;

static void *get(const preparation *p, size_t n, size_t size)
{
    void *got = n > SIZE_MAX / size - 1
                    ? NULL
                    : p->mem->alloc(p->mem->user, (n + 1) * size);

    if (got)
        memset(got, 0, (n + 1) * size);
    return got;
}

static uint32_t latency(const isa_instr *in, unsigned d)
{
    return d ? 1 : isa_ops[in->op].lat;
}

static bool same(isa_operand x, isa_operand y)
{
    return x.kind == y.kind && x.number == y.number;
}

/* --- results that are owed ----------------------------------------------- */

static void find_ways(preparation *p)
{
    const isa_function *f = p->f;

    for (uint32_t n = f->n_blocks; n-- > 0;) {
        const isa_block *b = &f->blocks[n];

        p->ways[n].next = b->cycles ? n : p->ways[n + 1].next;
        for (uint32_t k = b->first; k < b->first + b->n_instrs; k++)
            if (f->instrs[k].op == ISA_OP_rep)
                p->ways[n + 1].is_repeated = true;
            else if (isa_ops[f->instrs[k].op].flags & ISA_F_BRANCH)
                p->ways[n].branch = &f->instrs[k];
    }
}

/* A result, followed on every way from its operation to where it lands. */
typedef struct {
    preparation *p;
    isa_operand reg;
    uint32_t lat;
    bool is_owed; /* known already: others go by that */
    bool noticed; /* somebody could tell */
} flight;

static void becomes_owed(preparation *p, uint32_t block, uint32_t k, unsigned d)
{
    if (!p->is_owed[k][d])
        p->owed[p->n_owed++] = (result){block, k, d};
    p->is_owed[k][d] = true;
}

/* Operation k, which issues `after` cycles later, in block n. */
static void meet(flight *x, uint32_t n, uint32_t k, uint32_t after)
{
    const isa_instr *in = &x->p->f->instrs[k];

    for (unsigned s = 0; s < ISA_MAX_SRC; s++)
        x->noticed |= same(in->src[s], x->reg);
    for (unsigned d = 0; d < ISA_MAX_DST; d++)
        if (same(in->dst[d], x->reg)) {
            x->noticed |= after + latency(in, d) < x->lat;
            /* Written at once it would be written over. */
            if (x->is_owed)
                becomes_owed(x->p, n, k, d);
        }
}

static void follow(flight *x, uint32_t n, uint32_t after);

/* Through block n from operation k on, whose cycle 0 is `after` cycles behind
 * the result's, which may be negative. */
static void pass(flight *x, uint32_t n, uint32_t k, int64_t after)
{
    const isa_function *f = x->p->f;
    const isa_block *b = &f->blocks[n];
    const exits *ways = &x->p->ways[n];
    int64_t end = after + b->cycles;

    if (x->is_owed)
        x->p->timed[n] = true;
    for (; k < b->first + b->n_instrs; k++) {
        int64_t at = after + f->instrs[k].cycle;

        if (at >= x->lat)
            return;
        if (at > 0)
            meet(x, n, k, (uint32_t)at);
    }
    if (end >= x->lat)
        return;
    if (ways->branch && ways->branch->op != ISA_OP_ret)
        follow(x, (uint32_t)ways->branch->imm, (uint32_t)end);
    if (ways->is_repeated)
        follow(x, n, (uint32_t)end);
    if (!ways->branch || ways->branch->predicated ||
        ways->branch->op == ISA_OP_brc)
        follow(x, n + 1, (uint32_t)end);
}

/* From block n's start on, once for each cycle at which that is: ways that meet
 * go on as one. `after` is less than a latency, which 64 bits have room for. */
static void follow(flight *x, uint32_t n, uint32_t after)
{
    preparation *p = x->p;

    n = p->ways[n].next;
    if (n >= p->f->n_blocks)
        return;
    if (p->seen_by[n] != p->n_flights) {
        p->seen_by[n] = p->n_flights;
        p->seen[n] = 0;
    }
    if (p->seen[n] >> after & 1)
        return;
    p->seen[n] |= UINT64_C(1) << after;
    pass(x, n, p->f->blocks[n].first, after);
}

/* Does another operation of the bundle write this one's result? */
static bool is_written_twice(const preparation *p, const result *r)
{
    const isa_block *b = &p->f->blocks[r->block];
    const isa_instr *all = p->f->instrs, *in = &all[r->k];
    uint32_t k = r->k, n = 0;

    while (k > b->first && all[k - 1].cycle == in->cycle)
        k--;
    for (; k < b->first + b->n_instrs && all[k].cycle == in->cycle; k++)
        for (unsigned d = 0; d < ISA_MAX_DST; d++)
            n += same(all[k].dst[d], in->dst[r->d]);
    return n > 1;
}

static void fly(preparation *p, const result *r)
{
    const isa_instr *in = &p->f->instrs[r->k];
    flight x = {p, in->dst[r->d], latency(in, r->d), p->is_owed[r->k][r->d],
                false};

    if (in->dst[r->d].kind == ISA_NONE)
        return;
    p->n_flights++;
    pass(&x, r->block, r->k, -(int64_t)in->cycle);
    if (x.noticed || is_written_twice(p, r))
        becomes_owed(p, r->block, r->k, r->d);
}

static void find_owed(preparation *p)
{
    for (uint32_t n = 0; n < p->f->n_blocks; n++)
        for (uint32_t k = 0; k < p->f->blocks[n].n_instrs; k++)
            for (unsigned d = 0; d < ISA_MAX_DST; d++)
                fly(p, &(result){n, p->f->blocks[n].first + k, d});
    for (uint32_t k = 0; k < p->n_owed; k++) /* which may become more */
        fly(p, &(result){p->owed[k].block, p->owed[k].k, p->owed[k].d});
}

/* How many results can be owed for one cycle: of each latency what one bundle
 * has of it. */
static void count_owed(preparation *p)
{
    const isa_function *f = p->f;
    uint32_t most[ISA_MAX_WAIT + 1] = {0}, here[ISA_MAX_WAIT + 1] = {0};
    uint32_t longest = 1;

    for (uint32_t k = 0; k < f->n_instrs; k++) {
        const isa_instr *in = &f->instrs[k];

        if (k && (in->cycle != in[-1].cycle))
            memset(here, 0, sizeof here);
        for (unsigned d = 0; d < ISA_MAX_DST; d++)
            if (p->is_owed[k][d]) {
                uint32_t lat = latency(in, d);

                longest = lat > longest ? lat : longest;
                if (++here[lat] > most[lat])
                    most[lat] = here[lat];
            }
    }
    for (uint32_t lat = 0; lat <= ISA_MAX_WAIT; lat++)
        p->code->n_owed += most[lat];
    p->code->n_slots = 1; /* what is due when a bundle issues has landed */
    while (p->code->n_slots < longest)
        p->code->n_slots *= 2;
}

/* --- places -------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static bool collect_immediates(preparation *p)
{
    const isa_function *f = p->f;
    uint32_t *all = get(p, (size_t)f->n_instrs * ISA_MAX_SRC, sizeof *all);
    uint32_t n = 0, left = 1;

    if (!all)
        return false;
    n = 1; /* 0, of operands that are not there */
    for (uint32_t k = 0; k < f->n_instrs; k++)
        for (unsigned s = 0; s < ISA_MAX_SRC; s++)
            if (f->instrs[k].src[s].kind == ISA_IMM)
                all[n++] = f->instrs[k].src[s].number;
    qsort(all, n, sizeof *all, ascending);
    for (uint32_t k = 1; k < n; k++)
        if (all[k] != all[left - 1])
            all[left++] = all[k];
    p->code->immediates = all;
    p->code->n_immediates = left;
    return true;
}

#define PLACE(field) ((uint32_t)offsetof(isa_machine, field))

static uint32_t place(const preparation *p, isa_operand x)
{
    const uint32_t *at;

    switch (x.kind) {
    case ISA_I:
        return PLACE(i) + x.number * 4;
    case ISA_V:
        return PLACE(v) + x.number * ISA_VECTOR_BYTES;
    case ISA_SP:
        return PLACE(sp);
    default:
        at = bsearch(&x.number, p->code->immediates, p->code->n_immediates,
                     sizeof *at, ascending);
        return PLACE(behind) + (uint32_t)(at - p->code->immediates) * 4;
    }
}

/* --- steps --------------------------------------------------------------- */

static void add(preparation *p, isa_step s)
{
    if (p->steps)
        p->steps[p->n_steps] = s;
    p->n_steps++;
}

/* An operation of a bundle. */
typedef struct {
    uint32_t k;             /* its number in the program */
    bool kept[ISA_MAX_DST]; /* its results wait for the bundle's end */
    bool done;
} issued;

typedef struct {
    const isa_block *b;
    issued ops[ISA_N_UNITS + 1];
    uint32_t n;
} issue;

/* Does it more than compute? Such operations stay in order. */
static bool has_effect(const isa_instr *in)
{
    return isa_ops[in->op].flags & (ISA_F_LOAD | ISA_F_STORE | ISA_F_SERIAL) ||
           in->op == ISA_OP_starg || in->op == ISA_OP_ldret;
}

/* Does an operation of the bundle that is still to come read it? */
static bool is_read(const preparation *p, const issue *is, uint32_t by,
                    isa_operand x)
{
    bool found = false;

    for (uint32_t j = 0; j < is->n; j++)
        for (unsigned s = 0; j != by && !is->ops[j].done && s < ISA_MAX_SRC;
             s++)
            found |= same(p->f->instrs[is->ops[j].k].src[s], x);
    return found;
}

/* Can the bundle's operation number j come next, all its results be written
 * that are not owed? */
static bool can_come(const preparation *p, const issue *is, uint32_t j)
{
    const isa_instr *in = &p->f->instrs[is->ops[j].k];

    for (uint32_t e = 0; e < j && has_effect(in); e++)
        if (!is->ops[e].done && has_effect(&p->f->instrs[is->ops[e].k]))
            return false;
    for (unsigned d = 0; d < ISA_MAX_DST; d++)
        if (in->dst[d].kind != ISA_NONE && !(p->is_owed[is->ops[j].k][d]) &&
            is_read(p, is, j, in->dst[d]))
            return false;
    return true;
}

static uint32_t next_of(const preparation *p, const issue *is)
{
    uint32_t first = 0;

    for (uint32_t j = 0; j < is->n; j++)
        if (!is->ops[j].done && can_come(p, is, j))
            return j;
    while (is->ops[first].done)
        first++;
    return first;
}

/* Where result d of the bundle's operation number j is written to when the
 * operation is executed. */
static uint32_t target(const preparation *p, issue *is, uint32_t j, unsigned d)
{
    issued *op = &is->ops[j];
    isa_operand x = p->f->instrs[op->k].dst[d];

    op->kept[d] =
        x.kind != ISA_NONE && (p->is_owed[op->k][d] || is_read(p, is, j, x));
    if (!op->kept[d])
        return place(p, x);
    return x.kind == ISA_V
               ? PLACE(kept_v) + (j * ISA_MAX_DST + d) * ISA_VECTOR_BYTES
               : PLACE(kept_i) + (j * ISA_MAX_DST + d) * 4;
}

/* Cycles of one step of the pipelined loop that the block belongs to. */
static uint32_t step_cycles(const isa_block *b)
{
    return b->kind == ISA_PROLOGUE ? b[1].cycles
           : b->kind == ISA_KERNEL ? b->cycles
                                   : b[-1].cycles;
}

/* Less the step at the block's start, which is 0 in a prologue. */
static int64_t iteration(const isa_block *b, const isa_instr *in)
{
    uint32_t length, pad = 0;

    if (b->kind == ISA_PLAIN)
        return 0;
    length = step_cycles(b);
    if (b->kind == ISA_PROLOGUE)
        pad = b->cycles - (b->n_stages - 1) * length;
    if (in->cycle < pad)
        return -1;
    return (int64_t)((in->cycle - pad) / length) - in->stage;
}

static uint32_t note_of(preparation *p, const isa_block *b, const isa_instr *in)
{
    if (in->sub != ISA_GLOBAL)
        return 0;
    if (p->steps)
        p->noted[p->n_noted] =
            (isa_noted){iteration(b, in), in->seq, in->line,
                        isa_access_bytes((isa_op)in->op, (isa_type)in->type),
                        isa_ops[in->op].flags & ISA_F_STORE};
    return p->n_noted++;
}

static uint32_t extra_of(preparation *p, const isa_block *b,
                         const isa_instr *in, uint32_t k, isa_run_step *run)
{
    if (isa_ops[in->op].flags & (ISA_F_LOAD | ISA_F_STORE))
        return note_of(p, b, in);
    if (run == isa_step_any)
        return k;
    return in->op == ISA_OP_call    ? in->line
           : in->op == ISA_OP_ldarg ? in->type
                                    : in->sub;
}

static void add_operation(preparation *p, issue *is, uint32_t j)
{
    uint32_t k = is->ops[j].k;
    const isa_instr *in = &p->f->instrs[k];
    isa_run_step *run = isa_step_of(in);
    uint32_t to[ISA_MAX_DST];
    isa_step s;

    is->ops[j].done = true;
    for (unsigned d = 0; d < ISA_MAX_DST; d++)
        to[d] = target(p, is, j, d);
    s = (isa_step){.run = run,
                   .dst = to[0],
                   .a = place(p, in->src[0]),
                   .b = place(p, in->src[1]),
                   .c = in->dst[1].kind == ISA_NONE ? place(p, in->src[2])
                                                    : to[1],
                   .imm = in->imm,
                   .extra = extra_of(p, is->b, in, k, run)};
    add(p, s);
}

/* What the operation's results have waited for. */
static void add_results(preparation *p, const issue *is, uint32_t j)
{
    const issued *op = &is->ops[j];
    const isa_instr *in = &p->f->instrs[op->k];

    for (unsigned d = 0; d < ISA_MAX_DST; d++) {
        uint32_t n = j * ISA_MAX_DST + d;
        bool vector = in->dst[d].kind == ISA_V;
        isa_step s = {.dst = place(p, in->dst[d]),
                      .a = vector ? PLACE(kept_v) + n * ISA_VECTOR_BYTES
                                  : PLACE(kept_i) + n * 4,
                      .extra = latency(in, d)};

        if (!op->kept[d])
            continue;
        if (p->is_owed[op->k][d])
            s.run = vector ? isa_step_owe_vector : isa_step_owe_word;
        else
            s.run = vector ? isa_step_move_vector : isa_step_move_word;
        add(p, s);
    }
}

/* Operations of a bundle from number `first` on that happen; loads come before
 * stores. */
static void add_happening(preparation *p, const isa_block *b, uint32_t first,
                          uint32_t n, bool predicated)
{
    const isa_instr *in = &p->f->instrs[first];
    bool calls = false;
    issue is = {.b = b};

    for (int stores = 0; stores < 2; stores++)
        for (uint32_t k = 0; k < n; k++)
            if (in[k].op != ISA_OP_pred && in[k].op != ISA_OP_nop &&
                (predicated || !in[k].predicated) &&
                !(isa_ops[in[k].op].flags & ISA_F_STORE) == !stores)
                is.ops[is.n++] = (issued){.k = first + k};
    for (uint32_t k = 0; k < is.n; k++) {
        uint32_t j = next_of(p, &is);

        add_operation(p, &is, j);
        calls |= in[is.ops[j].k - first].op == ISA_OP_call;
    }
    for (uint32_t j = 0; j < is.n; j++)
        add_results(p, &is, j);
    if (calls)
        add(p, (isa_step){.run = isa_step_check});
}

/* The second of two ways through a predicated bundle begins behind the step
 * that ends the first. */
static void add_predicated(preparation *p, const isa_block *b, uint32_t first,
                           uint32_t n, const isa_instr *pred)
{
    size_t from = p->n_steps;
    isa_step s = {
        .run = isa_step_unless, .a = place(p, pred->src[0]), .imm = pred->sub};

    add(p, s);
    add_happening(p, b, first, n, true);
    add(p, (isa_step){.run = isa_step_skip});
    if (p->steps)
        p->steps[from].extra = (uint32_t)(p->n_steps - from - 1);
    from = p->n_steps;
    add_happening(p, b, first, n, false);
    if (p->steps)
        p->steps[from - 1].extra = (uint32_t)(p->n_steps - from);
}

static void add_bundle(preparation *p, uint32_t block, uint32_t first,
                       uint32_t n)
{
    const isa_block *b = &p->f->blocks[block];
    const isa_instr *in = &p->f->instrs[first], *pred = NULL;

    if (p->timed[block])
        add(p, (isa_step){.run = isa_step_time, .imm = (int32_t)in->cycle});
    if (p->watched)
        add(p, (isa_step){.run = isa_step_watch,
                          .a = in->cycle,
                          .imm = (int32_t)first,
                          .extra = n});
    for (uint32_t k = 0; k < n; k++)
        if (in[k].op == ISA_OP_pred)
            pred = &in[k];
    if (pred)
        add_predicated(p, b, first, n, pred);
    else
        add_happening(p, b, first, n, true);
}

static void add_block(preparation *p, uint32_t n, isa_block_steps *out)
{
    const isa_block *b = &p->f->blocks[n];
    uint32_t at = b->first, end = b->first + b->n_instrs;

    if (p->steps)
        out->steps = p->steps + p->n_steps;
    while (at < end) {
        uint32_t many = 1;

        while (at + many < end &&
               p->f->instrs[at + many].cycle == p->f->instrs[at].cycle)
            many++;
        add_bundle(p, n, at, many);
        at += many;
    }
    if (p->timed[n])
        add(p, (isa_step){.run = isa_step_time, .imm = (int32_t)b->cycles});
    add(p, (isa_step){.run = isa_step_end});
}

static bool add_blocks(preparation *p)
{
    isa_block_steps *blocks = get(p, p->f->n_blocks, sizeof *blocks);

    if (!blocks)
        return false;
    for (int counted = 0; counted < 2; counted++) {
        if (counted && (!(p->steps = get(p, p->n_steps, sizeof *p->steps)) ||
                        !(p->noted = get(p, p->n_noted, sizeof *p->noted))))
            return false;
        p->n_steps = p->n_noted = 0;
        for (uint32_t n = 0; n < p->f->n_blocks; n++)
            add_block(p, n, &blocks[n]);
    }
    p->code->blocks = blocks;
    p->code->noted = p->noted;
    return true;
}

/* --- accesses waiting to be reported ------------------------------------- */

static size_t global_accesses(const isa_function *f, const isa_block *b)
{
    size_t n = 0;

    for (uint32_t k = 0; k < b->n_instrs; k++) {
        const isa_instr *in = &f->instrs[b->first + k];

        n += isa_ops[in->op].flags & (ISA_F_LOAD | ISA_F_STORE) &&
             in->sub == ISA_GLOBAL;
    }
    return n;
}

static size_t log_size(const isa_function *f)
{
    size_t most = 0;

    for (uint32_t k = 0; k < f->n_blocks; k++) {
        const isa_block *b = &f->blocks[k];
        size_t n = global_accesses(f, b);

        if (b->kind == ISA_KERNEL) { /* all stages, and what frames it */
            n *= b->n_stages + 1;
            n += k ? global_accesses(f, b - 1) : 0;
            n += k + 1 < f->n_blocks ? global_accesses(f, b + 1) : 0;
        }
        most = n > most ? n : most;
    }
    return most;
}

isa_code *isa_prepare(const isa_function *f, bool watched,
                      const isa_memory *mem)
{
    preparation p = {.f = f, .mem = mem, .watched = watched};

    p.code = get(&p, 1, sizeof *p.code);
    p.is_owed = get(&p, f->n_instrs, sizeof *p.is_owed);
    p.owed = get(&p, (size_t)f->n_instrs * ISA_MAX_DST, sizeof *p.owed);
    p.timed = get(&p, f->n_blocks, sizeof *p.timed);
    p.ways = get(&p, f->n_blocks, sizeof *p.ways);
    p.seen = get(&p, f->n_blocks, sizeof *p.seen);
    p.seen_by = get(&p, f->n_blocks, sizeof *p.seen_by);
    if (!p.code || !p.is_owed || !p.owed || !p.timed || !p.ways || !p.seen ||
        !p.seen_by || !collect_immediates(&p))
        return NULL;
    p.code->f = f;
    p.code->log_size = log_size(f);
    p.ways[f->n_blocks].next = f->n_blocks;
    find_ways(&p);
    find_owed(&p);
    count_owed(&p);
    return add_blocks(&p) ? p.code : NULL;
}
