/* From IR to a finished program: the steps in their order. */
#include "sim/shave/shave.h"

#include <stdlib.h>
#include <string.h>

#include "sim/shave/passes.h"
#include "sim/shave/pipeline.h"
#include "sim/shave/select.h"
#include "sim/shave/verify_memory.h"

/* Rounds of spilling before registers are given up on: each makes the lives of
 * what is left shorter, so more than a few mean a defect. */
enum { MAX_ROUNDS = 24 };

/* First without a thought of registers; then within them; when spilling has not
 * ended after a few rounds, with less and less in use, as what lives across
 * blocks needs room, too. */
static uint32_t room(int round)
{
    uint32_t less = round < 6 ? 0 : 2 * (uint32_t)(round - 5);

    if (!round)
        return UINT32_MAX;
    return less < ISA_N_IREGS - 8 ? ISA_N_IREGS - less : 8;
}

static void schedule_all(vprog *p, int round)
{
    arena *a = arena_create(0);
    liveness l;

    liveness_compute(p, a, &l);
    for (size_t b = 0; b < p->n_blocks; b++) {
        arena *scratch;

        if (p->blocks[b].fixed)
            continue;
        scratch = arena_create(0);
        schedule_block(p, &p->blocks[b], l.in[b], l.out[b], room(round),
                       scratch);
        arena_destroy(scratch);
    }
    arena_destroy(a);
}

static int by_cycle(const void *a, const void *b)
{
    const isa_instr *x = &((const vp_op *)a)->in, *y = &((const vp_op *)b)->in;

    if (x->cycle != y->cycle)
        return x->cycle < y->cycle ? -1 : 1;
    if (x->unit != y->unit)
        return x->unit < y->unit ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

static void finish(const vprog *p, const char *name, arena *a,
                   shave_program *program)
{
    isa_function *out = &program->fn;
    uint32_t n = 0, *block_ir = arena_array(a, uint32_t, p->n_blocks + 1);
    shave_from *from;

    for (size_t b = 0; b < p->n_blocks; b++)
        n += (uint32_t)p->blocks[b].n_ops;
    *out = (isa_function){.name = arena_strdup(a, name),
                          .n_blocks = (uint32_t)p->n_blocks,
                          .vectors = p->vectors,
                          .n_vectors = (uint32_t)p->n_vectors,
                          .callees = p->callees,
                          .n_callees = (uint32_t)p->n_callees,
                          .private_bytes = p->private_bytes};
    out->blocks = arena_array(a, isa_block, p->n_blocks + 1);
    out->instrs = arena_array(a, isa_instr, n + 1);
    from = arena_array(a, shave_from, n + 1);
    for (size_t b = 0; b < p->n_blocks; b++) {
        const vp_block *x = &p->blocks[b];
        isa_block *y = &out->blocks[b];

        *y = (isa_block){.first = out->n_instrs,
                         .n_instrs = (uint32_t)x->n_ops,
                         .cycles = x->cycles,
                         .kind = x->kind,
                         .n_stages = x->kind ? x->n_stages : 1};
        if (x->n_ops) /* an unreachable block has none, and no list */
            qsort(x->ops, x->n_ops, sizeof *x->ops, by_cycle);
        for (size_t i = 0; i < x->n_ops; i++) {
            from[out->n_instrs] = (shave_from){x->ops[i].ir, x->ops[i].at};
            out->instrs[out->n_instrs++] = x->ops[i].in;
        }
        block_ir[b] = x->ir;
    }
    program->from = from;
    program->block_ir = block_ir;
}

/* Blocks of a basic block alone are paid on entry; those on one way out when
 * that way is taken. */
static void costs(const vprog *p, LLVMValueRef fn, arena *a, shave_cost *out)
{
    LLVMBasicBlockRef *blocks =
        arena_array(a, LLVMBasicBlockRef, LLVMCountBasicBlocks(fn));
    ir_cfg cfg;

    LLVMGetBasicBlocks(fn, blocks);
    ir_cfg_build(&cfg, fn, a);
    for (size_t b = 0; b < p->n_blocks; b++) {
        const vp_block *x = &p->blocks[b];
        shave_cost *c = &out[x->ir];
        LLVMValueRef t = LLVMGetBasicBlockTerminator(blocks[x->ir]);
        unsigned n = LLVMGetNumSuccessors(t);

        if (x->fixed)
            continue; /* of a pipelined loop, see loop_costs */
        if (x->in_loop_entry) {
            c->loop_entry = x->cycles;
            continue;
        }
        if (!x->edge) {
            c->cycles += x->cycles;
            continue;
        }
        if (!c->edge)
            c->edge = arena_array(a, uint32_t, n + 1);
        if (x->edge != UINT32_MAX) {
            c->edge[x->edge - 1] += x->cycles;
            continue;
        }
        /* A switch: this test runs for the cases behind those before it, and
         * for the default, which is successor 0. */
        {
            size_t first = b;

            while (first && p->blocks[first - 1].ir == x->ir)
                first--;
            for (unsigned k = 0; k < n; k++)
                if (!k || k > b - first)
                    c->edge[k] += x->cycles;
        }
    }
}

static void loop_costs(const pipeline_loop *loops, size_t n, shave_cost *out)
{
    for (size_t i = 0; i < n; i++) {
        shave_cost *c = &out[loops[i].ir];

        c->loop_stages = loops[i].stages;
        c->loop_frame = loops[i].frame;
        c->loop_interval = loops[i].interval;
        c->loop_plain = c->cycles;
        c->cycles = 0;
    }
}

static vpu_status refused(const isa_function *f, const char *why,
                          uint32_t block, uint32_t instr, vpu_error *err)
{
    return err_set(err, VPU_ERR_INTERNAL, "%s: block %u, operation %u (%s): %s",
                   f->name, block, instr,
                   isa_ops[f->instrs[f->blocks[block].first + instr].op].name,
                   why);
}

typedef struct {
    LLVMValueRef fn;
    const char *name;
    const shave_layout *layout;
    bool *no_pipeline; /* per basic block */
    vprog start;       /* before schedules and registers */
    vprog p;
    pipeline_loop *loops;
    size_t n_loops;
    uint32_t n_spills;
    uint64_t weight; /* of the result, see weighted_cycles */
} builder;

/* Everything before registers, with the loops that may be pipelined. */
static vpu_status prepare(builder *b, arena *a, vpu_error *err)
{
    vpu_status st = select_function(b->fn, b->layout, a, &b->start, err);

    if (st)
        return st;
    strength_reduce(&b->start);
    vp_drop_dead(&b->start);
    phis_remove(&b->start);
    pipeline_loops(&b->start, b->no_pipeline, &b->loops, &b->n_loops);
    return VPU_OK;
}

static void copy_program(const vprog *from, arena *a, vprog *to)
{
    *to = *from;
    to->classes = arena_memdup(a, from->classes, from->n_regs);
    to->regs_cap = from->n_regs;
    to->blocks =
        arena_memdup(a, from->blocks, from->n_blocks * sizeof *to->blocks);
    to->blocks_cap = from->n_blocks;
    for (size_t b = 0; b < to->n_blocks; b++) {
        vp_block *x = &to->blocks[b];

        if (x->n_ops)
            x->ops = arena_memdup(a, x->ops, x->n_ops * sizeof *x->ops);
        x->ops_cap = x->n_ops;
    }
}

/* What the program takes when every loop runs ten times. The plain form of a
 * pipelined loop, four blocks behind what decides between the two, hardly runs.
 */
static uint64_t weighted_cycles(const vprog *p)
{
    arena *a = arena_create(0);
    uint32_t *depth = liveness_loop_depths(p, a);
    uint64_t sum = 0;

    for (size_t b = 0; b < p->n_blocks; b++) {
        uint64_t times = 1;

        if (b >= 4 && p->blocks[b - 4].in_loop_entry)
            continue;
        for (uint32_t d = 0; d < depth[b] && d < 8; d++)
            times *= 10;
        sum += times * p->blocks[b].cycles;
    }
    arena_destroy(a);
    return sum;
}

/* Schedules and registers for what was prepared. */
static registers_outcome fit(builder *b, uint32_t spare, bool *no_pipeline,
                             arena *a)
{
    registers_outcome got = ASSIGN_SPILLED;

    copy_program(&b->start, a, &b->p);
    b->n_spills = 0;
    for (int round = 0; round < MAX_ROUNDS && got == ASSIGN_SPILLED; round++) {
        registers_spill_policy policy = {round > 0, round == 1 ? spare : 0};

        schedule_all(&b->p, round);
        got = registers_assign(&b->p, &policy, &b->n_spills, no_pipeline);
    }
    b->weight = got == ASSIGN_DONE ? weighted_cycles(&b->p) : UINT64_MAX;
    return got;
}

/* What is spilled to give the rest room pays where it lets operations overlap;
 * how much room is best shows when it is tried. */
static void try_spares(builder *b, arena *a)
{
    static const uint32_t spares[] = {4, 8, 12, 18};
    bool *ignored = arena_array(a, bool, LLVMCountBasicBlocks(b->fn) + 1);

    for (size_t i = 0; i < sizeof spares / sizeof *spares; i++) {
        builder other = *b;

        fit(&other, spares[i], ignored, a);
        if (other.weight < b->weight)
            *b = other;
    }
}

static vpu_status build(builder *b, arena *a, vpu_error *err)
{
    registers_outcome got = ASSIGN_NO_PIPELINE;

    b->no_pipeline = arena_array(a, bool, LLVMCountBasicBlocks(b->fn) + 1);
    /* Each time at least one more loop stays plain. */
    while (got == ASSIGN_NO_PIPELINE) {
        vpu_status st = prepare(b, a, err);

        if (st)
            return st;
        got = fit(b, 0, b->no_pipeline, a);
    }
    if (b->n_spills || got != ASSIGN_DONE)
        try_spares(b, a);
    return b->weight < UINT64_MAX
               ? VPU_OK
               : err_set(err, VPU_ERR_INTERNAL,
                         "%s: registers were not found in %d rounds", b->name,
                         MAX_ROUNDS);
}

vpu_status shave_build(LLVMValueRef fn, const char *name,
                       const shave_layout *layout, arena *a, shave_program *out,
                       vpu_error *err)
{
    uint32_t n = LLVMCountBasicBlocks(fn), block = 0, instr = 0;
    builder b = {.fn = fn, .name = name, .layout = layout};
    const char *why;
    vpu_status st;

    *out = (shave_program){0};
    st = build(&b, a, err);
    if (st)
        return st;
    out->costs = arena_array(a, shave_cost, n);
    costs(&b.p, fn, a, out->costs);
    loop_costs(b.loops, b.n_loops, out->costs);
    finish(&b.p, name, a, out);
    out->fn.n_spills = b.n_spills;
    why = isa_verify(&out->fn, &block, &instr);
    if (!why)
        why = verify_memory(fn, out, &block, &instr);
    return why ? refused(&out->fn, why, block, instr, err) : VPU_OK;
}
