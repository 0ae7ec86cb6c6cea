/* The function around translated instructions: entry, blocks with their cycles
 * and log room, branches with their limit checks, phis. */
#include "sim/compiler/host/hostcode.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <stddef.h>
#include <string.h>

#include "sim/compiler/abi/hostabi.h"
#include "sim/compiler/host/check.h"
#include "sim/compiler/host/hostcode_priv.h"
#include "sim/compiler/host/split_items.h"

static LLVMValueRef k64(host *h, uint64_t v)
{
    return LLVMConstInt(h->i64, v, false);
}

/* --- control flow -------------------------------------------------------- */

/* A loop that counts: its latch compares phi + step with something computed
 * before the loop. */
typedef struct {
    LLVMValueRef start, bound; /* start NULL: there are several ways in */
    uint64_t step;             /* without its sign */
    bool down;
    LLVMIntPredicate on; /* another iteration while phi + step <on> bound */
} counter;

static LLVMValueRef start_of(LLVMValueRef phi, LLVMBasicBlockRef latch)
{
    LLVMValueRef start = NULL;

    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        if (LLVMGetIncomingBlock(phi, k) == latch)
            continue;
        if (start)
            return NULL;
        start = LLVMGetIncomingValue(phi, k);
    }
    return start;
}

static bool is_before(host *h, LLVMValueRef v, uint32_t header)
{
    return LLVMIsConstant(v) || LLVMIsAArgument(v) ||
           (LLVMIsAInstruction(v) &&
            h->rpo[ir_cfg_number(&h->cfg, LLVMGetInstructionParent(v))] <
                h->rpo[header]);
}

static LLVMIntPredicate with_sides_swapped(LLVMIntPredicate p)
{
    static const LLVMIntPredicate other[] = {
        [LLVMIntEQ] = LLVMIntEQ,   [LLVMIntNE] = LLVMIntNE,
        [LLVMIntUGT] = LLVMIntULT, [LLVMIntULT] = LLVMIntUGT,
        [LLVMIntUGE] = LLVMIntULE, [LLVMIntULE] = LLVMIntUGE,
        [LLVMIntSGT] = LLVMIntSLT, [LLVMIntSLT] = LLVMIntSGT,
        [LLVMIntSGE] = LLVMIntSLE, [LLVMIntSLE] = LLVMIntSGE};

    return other[p];
}

static LLVMIntPredicate opposite(LLVMIntPredicate p)
{
    static const LLVMIntPredicate other[] = {
        [LLVMIntEQ] = LLVMIntNE,   [LLVMIntNE] = LLVMIntEQ,
        [LLVMIntUGT] = LLVMIntULE, [LLVMIntULT] = LLVMIntUGE,
        [LLVMIntUGE] = LLVMIntULT, [LLVMIntULE] = LLVMIntUGT,
        [LLVMIntSGT] = LLVMIntSLE, [LLVMIntSLT] = LLVMIntSGE,
        [LLVMIntSGE] = LLVMIntSLT, [LLVMIntSLE] = LLVMIntSGT};

    return other[p];
}

/* Does br end a loop that counts, from `header` on? */
static bool counted(host *h, LLVMValueRef br, uint32_t header, counter *out)
{
    LLVMValueRef cmp, side[2];

    if (LLVMGetNumSuccessors(br) != 2)
        return false;
    cmp = LLVMGetOperand(br, 0);
    if (!LLVMIsAICmpInst(cmp))
        return false;
    for (unsigned k = 0; k < 2; k++)
        side[k] = LLVMGetOperand(cmp, k);
    for (unsigned k = 0; k < 2; k++) {
        LLVMValueRef step = side[k], phi;
        LLVMIntPredicate p = LLVMGetICmpPredicate(cmp);
        int64_t by;

        if (!LLVMIsABinaryOperator(step) ||
            LLVMGetInstructionOpcode(step) != LLVMAdd ||
            !LLVMIsAConstantInt(LLVMGetOperand(step, 1)))
            continue;
        phi = LLVMGetOperand(step, 0);
        if (!LLVMIsAPHINode(phi) ||
            LLVMGetInstructionParent(phi) != h->cfg.blocks[header] ||
            !is_before(h, side[!k], header))
            continue;
        by = LLVMConstIntGetSExtValue(LLVMGetOperand(step, 1));
        p = k ? with_sides_swapped(p) : p;
        *out = (counter){.start = start_of(phi, LLVMGetInstructionParent(br)),
                         .bound = side[!k],
                         .step = by < 0 ? 0 - (uint64_t)by : (uint64_t)by,
                         .down = by < 0,
                         .on = LLVMGetSuccessor(br, 0) == h->cfg.blocks[header]
                                   ? p
                                   : opposite(p)};
        return true;
    }
    return false;
}

/* --- limits
 *
 * A loop looks whether the SHAVE has used up its cycles, or the launch its
 * time, each time it goes round. One that counts, has no other loop in it and
 * no other way out does so before it begins: then it is known how long it runs.
 * What is too long for the launch's time is interrupted (exec/fault.h). */

/* Loops of fewer iterations are not looked at. */
enum { FEW_TRIPS = 1 << 16 };

/* Does an instruction take as long as the kernel likes? */
static bool is_long_by_itself(LLVMValueRef i)
{
    return !strncmp(ir_callee(i), "llvm.mem", 8) || call_is_long(ir_call_id(i));
}

static bool ends_item_loop(const host *h, uint32_t block)
{
    return ir_metadata(LLVMGetBasicBlockTerminator(h->cfg.blocks[block]),
                       "vpu.items") != NULL;
}

/* Does control stop in the block, as where items wait at different barriers? */
static bool ends_for_good(const host *h, uint32_t block)
{
    return LLVMIsAUnreachableInst(
               LLVMGetBasicBlockTerminator(h->cfg.blocks[block])) != NULL;
}

/* Cycles of an iteration at most, of a loop with no other loop in it and no way
 * out but its end; 0: it is none. In loops over items there may be such. */
static uint64_t cycles_of_trip(host *h, uint32_t header, uint32_t latch,
                               bool items)
{
    ir_word *in = ir_loop_blocks(&h->cfg, header, latch, h->arena);
    uint64_t n = in != NULL;

    for (uint32_t b = 0; in && b < h->cfg.n_blocks; b++) {
        const uint32_t *succs = h->cfg.succs[b];
        const shave_cost *c = &h->program->costs[b];

        if (!ir_bit(in, b))
            continue;
        for (uint32_t k = 1; k <= succs[0] && b != latch; k++)
            if (ir_bit(in, succs[k]) ? h->rpo[succs[k]] <= h->rpo[b] &&
                                           !(items && ends_item_loop(h, b))
                                     : !ends_for_good(h, succs[k]))
                return 0;
        ir_each_inst(i, h->cfg.blocks[b])
            if (is_long_by_itself(i))
                return 0;
        n += c->loop_stages ? c->loop_interval : c->cycles;
    }
    return n;
}

static bool is_signed(LLVMIntPredicate p)
{
    return p == LLVMIntSLT || p == LLVMIntSGT;
}

/* A loop that looks before it begins. */
typedef struct {
    counter count;
    uint32_t header, latch;
    bool items;      /* over work-items, and perhaps more such in it */
    uint64_t cycles; /* of an iteration at most */
} foreseen;

/* The loop that begins at `header`; false: its iterations cannot be told. */
static bool foresee(host *h, uint32_t header, foreseen *out)
{
    const uint32_t *preds = h->cfg.preds[header];
    uint32_t n_in = 0, n_back = 0, in = 0;
    LLVMIntPredicate on;

    for (uint32_t k = 1; k <= preds[0]; k++) {
        bool back = h->rpo[preds[k]] >= h->rpo[header];

        n_back += back;
        n_in += !back;
        *(back ? &out->latch : &in) = preds[k];
    }
    out->header = header;
    if (n_in != 1 || n_back != 1 || h->cfg.succs[in][0] != 1 ||
        !counted(h, LLVMGetBasicBlockTerminator(h->cfg.blocks[out->latch]),
                 header, &out->count) ||
        !out->count.start || !out->count.step)
        return false;
    on = out->count.on;
    if (out->count.down ? on != LLVMIntUGT && on != LLVMIntSGT
                        : on != LLVMIntULT && on != LLVMIntSLT)
        if (on != LLVMIntNE)
            return false;
    out->items = ends_item_loop(h, out->latch);
    out->cycles = cycles_of_trip(h, header, out->latch, out->items);
    return out->cycles > 0;
}

/* Is the loop over items one of those in another that is foreseen? */
static bool is_inner(host *h, const foreseen *f)
{
    foreseen outer;
    const ir_word *in;

    for (uint32_t b = 0; b < h->cfg.n_blocks && f->items; b++) {
        const uint32_t *succs = h->cfg.succs[b];

        for (uint32_t k = 1; k <= succs[0]; k++)
            if (h->rpo[succs[k]] < h->rpo[f->header] && b != f->latch &&
                h->rpo[b] >= h->rpo[f->latch] && ends_item_loop(h, b) &&
                foresee(h, succs[k], &outer) &&
                (in = ir_loop_blocks(&h->cfg, succs[k], b, h->arena)) &&
                ir_bit(in, f->header))
                return true;
    }
    return false;
}

LLVMValueRef host_id(const host *h, unsigned id)
{
    return LLVMGetParam(h->from, LLVMCountParams(h->from) - SIM_N_HIDDEN + id);
}

/* Work-items of the group, 64 bits. */
static LLVMValueRef items_of_group(host *h)
{
    LLVMValueRef n = k64(h, 1);

    for (unsigned d = 0; d < 3; d++) {
        LLVMValueRef size = host_value(h, host_id(h, SIM_ID_LOCAL_SIZE + d));

        n = LLVMBuildMul(h->builder, n,
                         LLVMBuildZExt(h->builder, size, h->i64, ""), "");
    }
    return n;
}

/* Can the count step over its bound, and go round for ever? */
static LLVMValueRef may_miss(host *h, const counter *c, LLVMValueRef bound,
                             LLVMValueRef distance)
{
    LLVMTypeRef t = LLVMTypeOf(bound);
    unsigned bits = LLVMGetIntTypeWidth(t);
    uint64_t ones = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    uint64_t most = is_signed(c->on) ? ones >> 1 : ones;
    uint64_t least = is_signed(c->on) ? (ones >> 1) + 1 : 0;

    if (c->step == 1)
        return LLVMConstNull(h->i1);
    if (c->on == LLVMIntNE)
        return LLVMBuildICmp(h->builder, LLVMIntNE,
                             LLVMBuildURem(h->builder, distance,
                                           LLVMConstInt(t, c->step, false), ""),
                             LLVMConstNull(t), "");
    if (c->down)
        return LLVMBuildICmp(
            h->builder, is_signed(c->on) ? LLVMIntSLT : LLVMIntULT, bound,
            LLVMConstInt(t, (least + c->step) & ones, false), "");
    return LLVMBuildICmp(h->builder, is_signed(c->on) ? LLVMIntSGT : LLVMIntUGT,
                         bound, LLVMConstInt(t, (most - c->step) & ones, false),
                         "");
}

/* The SHAVE has used more than its cycles; extra: what is not yet counted, or
 * NULL. */
static void check_limit(host *h, LLVMValueRef extra)
{
    LLVMValueRef now = LLVMBuildLoad2(h->builder, h->i64, h->cycles, "");
    LLVMValueRef max = host_load_field(h, h->i64, offsetof(sim_wg, max_cycles));
    LLVMBasicBlockRef on;

    LLVMSetVolatile(max, true); /* another thread may lower it to stop us */
    if (extra)
        now = LLVMBuildAdd(h->builder, now, extra, "");
    on = host_unlikely(h, LLVMBuildICmp(h->builder, LLVMIntUGT, now, max, ""));
    host_no_return(h, "vpu_hook_limit", &h->wg, 1);
    LLVMPositionBuilderAtEnd(h->builder, on);
}

/* In front of the loop. */
static void check_foreseen(host *h, const foreseen *f)
{
    LLVMValueRef start = host_value(h, f->count.start);
    LLVMValueRef bound = host_value(h, f->count.bound), trips, miss, many;
    LLVMBasicBlockRef on;

    trips = f->count.down ? LLVMBuildSub(h->builder, start, bound, "")
                          : LLVMBuildSub(h->builder, bound, start, "");
    miss = may_miss(h, &f->count, bound, trips);
    trips = LLVMBuildUDiv(h->builder, trips,
                          LLVMConstInt(LLVMTypeOf(trips), f->count.step, false),
                          "");
    trips = LLVMBuildIntCast2(h->builder, trips, h->i64, false, "");
    if (f->items)
        trips = items_of_group(h);
    many = LLVMBuildICmp(h->builder, LLVMIntUGT, trips, k64(h, FEW_TRIPS), "");
    on = host_unlikely(h, LLVMBuildOr(h->builder, many, miss, ""));
    trips =
        LLVMBuildSelect(h->builder, miss, k64(h, UINT64_C(1) << 32), trips, "");
    host_track(h, LLVMGetBasicBlockTerminator(h->cfg.blocks[f->latch]));
    check_limit(h, LLVMBuildMul(h->builder, trips, k64(h, f->cycles), ""));
    LLVMBuildBr(h->builder, on);
    LLVMPositionBuilderAtEnd(h->builder, on);
}

/* At the end of a block, in front of the branch t. */
static void limit_loops(host *h, LLVMValueRef t, uint32_t block)
{
    const uint32_t *succs = h->cfg.succs[block];
    bool blind = false; /* a block may end two loops */
    foreseen f;

    for (uint32_t k = 1; k <= succs[0]; k++)
        blind |= h->rpo[succs[k]] <= h->rpo[block] && !foresee(h, succs[k], &f);
    if (blind) {
        host_track(h, t); /* a loop without accesses has a line, too */
        check_limit(h, NULL);
    }
    if (succs[0] == 1 && foresee(h, succs[1], &f) && !is_inner(h, &f))
        check_foreseen(h, &f);
}

static LLVMBasicBlockRef target(host *h, LLVMValueRef t, unsigned k)
{
    return ir_map_get(&h->blocks, LLVMGetSuccessor(t, k));
}

static void add_cycles(host *h, LLVMValueRef n)
{
    LLVMValueRef v;

    if (h->is_quiet)
        return;
    v = LLVMBuildLoad2(h->builder, h->i64, h->cycles, "");
    LLVMBuildStore(h->builder, LLVMBuildAdd(h->builder, v, n, ""), h->cycles);
}

/* --- software-pipelined loops -------------------------------------------- */

static void count_trip(host *h)
{
    LLVMValueRef v = LLVMBuildLoad2(h->builder, h->i64, h->trips, "");

    LLVMBuildStore(h->builder, LLVMBuildAdd(h->builder, v, k64(h, 1), ""),
                   h->trips);
}

/* What a software-pipelined loop took, known on the way out. */
static void pay_for_trips(host *h, const shave_cost *c)
{
    LLVMValueRef n, many, piped, plain;

    n = LLVMBuildLoad2(h->builder, h->i64, h->trips, "");
    LLVMBuildStore(h->builder, k64(h, 0), h->trips);
    many = LLVMBuildICmp(h->builder, LLVMIntUGE, n, k64(h, c->loop_stages), "");
    piped = LLVMBuildMul(h->builder, n, k64(h, c->loop_interval), "");
    piped = LLVMBuildAdd(h->builder, piped,
                         k64(h, c->loop_entry + c->loop_frame), "");
    plain = LLVMBuildMul(h->builder, n, k64(h, c->loop_plain), "");
    plain = LLVMBuildAdd(h->builder, plain, k64(h, c->loop_entry), "");
    add_cycles(h, LLVMBuildSelect(h->builder, many, piped, plain, ""));
}

/* Does t end a loop over work-items that split_items.h may look at? */
static bool is_item_loop(const host *h, LLVMValueRef t, int round)
{
    return round == 0 && !h->debug && ir_metadata(t, "vpu.items");
}

/* By which successor a loop that ends by itself goes round; -1: t does not end
 * one, or another loop begins again behind it. */
static int way_round(host *h, LLVMValueRef t, uint32_t block)
{
    bool back[2];
    counter c;

    if (!LLVMIsABranchInst(t) || LLVMGetNumSuccessors(t) != 2)
        return -1;
    for (unsigned k = 0; k < 2; k++)
        back[k] = h->rpo[ir_cfg_number(&h->cfg, LLVMGetSuccessor(t, k))] <=
                  h->rpo[block];
    if (back[0] == back[1])
        return -1;
    return counted(h, t, ir_cfg_number(&h->cfg, LLVMGetSuccessor(t, back[1])),
                   &c)
               ? back[1]
               : -1;
}

/* What going round costs is paid by each iteration, so that a loop with nothing
 * else that differs costs a multiple of it: the rest when it ends. */
static uint64_t cost_of_end(const host *h, int round, uint32_t block)
{
    const uint32_t *edge = h->program->costs[block].edge;

    return round < 0 || !edge ? 0 : (uint64_t)edge[!round] - edge[round];
}

/* Where successor k of a two-way branch is; a loop that ends is paid for on the
 * way out, in a block of its own. */
static LLVMBasicBlockRef way(host *h, LLVMValueRef t, int k, uint32_t block)
{
    const shave_cost *c = &h->program->costs[block];
    LLVMBasicBlockRef to = target(h, t, (unsigned)k), exit, at;
    LLVMBasicBlockRef from = h->cfg.blocks[block];
    int round = way_round(h, t, block);
    uint64_t end = h->is_quiet ? 0 : cost_of_end(h, round, block);
    bool trips = c->loop_stages && !h->is_quiet &&
                 LLVMGetSuccessor(t, (unsigned)k) != from;

    if (!trips && (k == round || !(end || is_item_loop(h, t, round))))
        return to;
    at = LLVMGetInsertBlock(h->builder);
    exit = LLVMAppendBasicBlockInContext(h->context, h->fn, "");
    LLVMPositionBuilderAtEnd(h->builder, exit);
    if (trips)
        pay_for_trips(h, c);
    if (end)
        add_cycles(h, k64(h, end));
    LLVMBuildBr(h->builder, to);
    LLVMPositionBuilderAtEnd(h->builder, at);
    ir_map_set(&h->exits, from, exit);
    return exit;
}

static void branch(host *h, LLVMValueRef t, uint32_t block)
{
    LLVMBasicBlockRef yes = way(h, t, 0, block), no = way(h, t, 1, block);
    LLVMValueRef br =
        LLVMBuildCondBr(h->builder, host_operand(h, t, 0), yes, no);

    if (is_item_loop(h, t, way_round(h, t, block)))
        LLVMSetMetadata(br,
                        LLVMGetMDKindIDInContext(h->context, "vpu.items", 9),
                        ir_metadata(t, "vpu.items"));
}

/* A switch whose ways cost different amounts pays on each way, in a block of
 * its own: to choose among the amounts in front of it would take as many
 * comparisons as it has cases. */
static LLVMBasicBlockRef pay_on_way(host *h, LLVMBasicBlockRef to,
                                    uint32_t cycles)
{
    LLVMBasicBlockRef at = LLVMGetInsertBlock(h->builder), way;

    if (!cycles)
        return to;
    way = LLVMAppendBasicBlockInContext(h->context, h->fn, "");
    LLVMPositionBuilderAtEnd(h->builder, way);
    add_cycles(h, k64(h, cycles));
    LLVMBuildBr(h->builder, to);
    LLVMPositionBuilderAtEnd(h->builder, at);
    return way;
}

static void choose(host *h, LLVMValueRef t, uint32_t block)
{
    const uint32_t *edge = h->is_quiet ? NULL : h->program->costs[block].edge;
    unsigned n = LLVMGetNumSuccessors(t);
    host_ways *w = arena_new(h->arena, host_ways);
    LLVMValueRef r;

    w->ends = arena_array(h->arena, LLVMBasicBlockRef, n);
    for (unsigned k = 0; k < n; k++)
        w->ends[k] = pay_on_way(h, target(h, t, k), edge ? edge[k] : 0);
    r = LLVMBuildSwitch(h->builder, host_operand(h, t, 0), w->ends[0], n);
    for (unsigned k = 1; k < n; k++)
        LLVMAddCase(r, LLVMGetOperand(t, 2 * k), w->ends[k]);
    for (unsigned k = 0; k < n; k++)
        if (!edge || !edge[k])
            w->ends[k] = LLVMGetInsertBlock(h->builder);
    ir_map_set(&h->ways, h->cfg.blocks[block], w);
}

static void do_terminator(host *h, LLVMValueRef t, uint32_t block)
{
    unsigned n = LLVMGetNumSuccessors(t);
    LLVMValueRef args[2];

    if (!h->is_quiet)
        limit_loops(h, t, block);
    switch (LLVMGetInstructionOpcode(t)) {
    case LLVMRet:
        if (h->row.head) {
            host_row_end(h);
            return;
        }
        host_save_state(h);
        if (h->sites)
            host_check_save(h);
        LLVMBuildRetVoid(h->builder);
        return;
    case LLVMUnreachable:
        args[0] = h->wg;
        args[1] = LLVMConstInt(h->i32, ir_line_near(t), false);
        host_no_return(h, "vpu_hook_unreachable", args, 2);
        return;
    case LLVMBr:
        if (n == 1)
            LLVMBuildBr(h->builder, target(h, t, 0));
        else
            branch(h, t, block);
        return;
    case LLVMSwitch:
        choose(h, t, block);
        return;
    default:
        host_fail(h, t, "a branch of this kind");
    }
}

static bool has_back_edge(const host *h, uint32_t block)
{
    const uint32_t *succs = h->cfg.succs[block];

    for (uint32_t k = 1; k <= succs[0]; k++)
        if (h->rpo[succs[k]] <= h->rpo[block])
            return true;
    return false;
}

/* Is a block paid for by the branch it alone follows? Nothing looks at the
 * cycles in between, and choosing an amount leaves loops with an `if` in them
 * one addition to wait for. */
static bool paid_by_branch(const host *h, uint32_t block)
{
    const uint32_t *preds = h->cfg.preds[block];
    LLVMValueRef t;

    if (preds[0] != 1 || h->program->costs[block].loop_stages ||
        h->program->costs[preds[1]].loop_stages || has_back_edge(h, preds[1]))
        return false;
    t = LLVMGetBasicBlockTerminator(h->cfg.blocks[preds[1]]);
    return LLVMIsABranchInst(t) && LLVMIsConditional(t) &&
           LLVMGetSuccessor(t, 0) != LLVMGetSuccessor(t, 1);
}

static uint32_t cost_of_way(host *h, LLVMValueRef t, unsigned k, uint32_t block)
{
    const uint32_t *edge = h->program->costs[block].edge;
    uint32_t to = ir_cfg_number(&h->cfg, LLVMGetSuccessor(t, k));

    return (edge ? edge[k] : 0) +
           (paid_by_branch(h, to) ? h->program->costs[to].cycles : 0);
}

/* What a branch costs on top of its block: a jump; and the blocks behind it
 * that are paid for here. */
static void leave_block(host *h, LLVMValueRef t, uint32_t block)
{
    const uint32_t *edge = h->program->costs[block].edge;

    if (way_round(h, t, block) >= 0) {
        if (edge && edge[way_round(h, t, block)])
            add_cycles(h, k64(h, edge[way_round(h, t, block)]));
    } else if (LLVMIsABranchInst(t) && LLVMIsConditional(t)) {
        uint32_t yes = cost_of_way(h, t, 0, block);
        uint32_t no = cost_of_way(h, t, 1, block);

        if (yes || no)
            add_cycles(h, LLVMBuildSelect(h->builder, host_operand(h, t, 0),
                                          k64(h, yes), k64(h, no), ""));
    }
}

/* Entries in the log of an access. */
static uint32_t log_entries(LLVMTargetDataRef td, LLVMTypeRef t)
{
    uint8_t pieces[SHAVE_MAX_PIECES];

    return shave_pieces(td, t, pieces);
}

/* Of an instruction's accesses. */
static uint32_t inst_entries(LLVMTargetDataRef td, LLVMValueRef i)
{
    if (LLVMIsALoadInst(i) && host_is_global(LLVMGetOperand(i, 0)))
        return log_entries(td, LLVMTypeOf(i));
    if (LLVMIsAStoreInst(i) && host_is_global(LLVMGetOperand(i, 1)))
        return log_entries(td, LLVMTypeOf(LLVMGetOperand(i, 0)));
    return LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i) ? 2 : 0;
}

/* Of all accesses from an instruction of a block on. */
static uint32_t entries_from(LLVMTargetDataRef td, LLVMValueRef i)
{
    uint32_t n = 0;

    for (; i; i = LLVMGetNextInstruction(i))
        n += inst_entries(td, i);
    return n;
}

/* Room in the log for the next accesses. It begins a block of the host's code,
 * too: LLVM takes time by the square of what a block holds. */
static void make_room(host *h)
{
    LLVMBasicBlockRef on;

    h->room = SIM_LOG_AT_ONCE;
    on = host_unlikely(
        h, LLVMBuildICmp(h->builder, LLVMIntUGT,
                         LLVMBuildLoad2(h->builder, h->i64, h->log_n, ""),
                         k64(h, SIM_LOG_ENTRIES - h->room), ""));
    host_flush(h);
    LLVMBuildBr(h->builder, on);
    LLVMPositionBuilderAtEnd(h->builder, on);
}

/* Room that is left in any case where block n begins. */
static uint32_t room_before(const host *h, uint32_t n)
{
    const uint32_t *preds = h->cfg.preds[n];
    uint32_t room = preds[0] ? SIM_LOG_AT_ONCE : 0;

    for (uint32_t k = 1; k <= preds[0]; k++) {
        uint32_t left = h->rpo[preds[k]] < h->rpo[n] ? h->left[preds[k]] : 0;

        room = left < room ? left : room;
    }
    return room;
}

/* Of a block with more accesses than the log holds: room for those to come. */
static void keep_room(host *h, LLVMValueRef i)
{
    uint32_t n = h->sites || h->is_quiet ? 0 : inst_entries(h->td, i);

    if (n > h->room)
        make_room(h);
    h->room -= n;
}

/* What a block costs, and room in the log for its accesses. */
static void enter_block(host *h, LLVMBasicBlockRef b, uint32_t n)
{
    if (h->is_quiet)
        return;
    if (h->program->costs[n].loop_stages)
        count_trip(h);
    if (h->program->costs[n].cycles && !paid_by_branch(h, n))
        add_cycles(h, k64(h, h->program->costs[n].cycles));
    h->room = room_before(h, n);
    if (!h->sites && entries_from(h->td, LLVMGetFirstInstruction(b)) > h->room)
        make_room(h);
}

/* What is built from now on belongs to the source line of i. */
static void at_line_of(host *h, LLVMValueRef i)
{
    if (h->debug)
        LLVMSetCurrentDebugLocation2(h->builder,
                                     i ? LLVMInstructionGetDebugLoc(i) : NULL);
}

static void do_block(host *h, uint32_t n)
{
    LLVMBasicBlockRef b = h->cfg.blocks[n];
    LLVMValueRef t = LLVMGetBasicBlockTerminator(b), i;

    LLVMPositionBuilderAtEnd(h->builder, ir_map_get(&h->blocks, b));
    for (i = LLVMGetFirstInstruction(b); LLVMIsAPHINode(i);
         i = LLVMGetNextInstruction(i))
        ir_map_set(&h->map, i,
                   LLVMBuildPhi(h->builder, host_type(h, LLVMTypeOf(i)), ""));
    at_line_of(h, NULL);
    enter_block(h, b, n);
    for (; i != t && !h->st; i = LLVMGetNextInstruction(i)) {
        LLVMValueRef v;

        at_line_of(h, i);
        keep_room(h, i);
        v = host_inst(h, i);
        if (v)
            ir_map_set(&h->map, i, v);
    }
    if (h->st)
        return;
    at_line_of(h, t);
    if (!h->is_quiet)
        leave_block(h, t, n);
    do_terminator(h, t, n);
    ir_map_set(&h->ends, b, LLVMGetInsertBlock(h->builder));
    h->left[n] = h->room;
}

/* The next of the ways from a switch to block n; phi has an entry for each. */
static LLVMBasicBlockRef end_of_case(host_ways *w, LLVMValueRef t,
                                     LLVMValueRef phi, LLVMBasicBlockRef to)
{
    if (w->phi != phi) {
        w->phi = phi;
        w->next = 0;
    }
    while (LLVMGetSuccessor(t, w->next) != to)
        w->next++;
    return w->ends[w->next++];
}

/* Where host code comes from when it goes from a block to block n, as an entry
 * of phi says that it does. */
static LLVMBasicBlockRef end_of(host *h, LLVMBasicBlockRef from, uint32_t n,
                                LLVMValueRef phi)
{
    LLVMValueRef t = LLVMGetBasicBlockTerminator(from);
    LLVMBasicBlockRef exit = ir_map_get(&h->exits, from), to = h->cfg.blocks[n];
    host_ways *ways = ir_map_get(&h->ways, from);
    int round = way_round(h, t, ir_cfg_number(&h->cfg, from));

    if (ways)
        return end_of_case(ways, t, phi, to);
    if (!exit || from == to ||
        (round >= 0 && LLVMGetSuccessor(t, (unsigned)round) == to))
        return ir_map_get(&h->ends, from);
    return exit;
}

static void fill_phis(host *h, const ir_word *seen)
{
    for (uint32_t n = 0; n < h->cfg.n_blocks; n++)
        ir_each_inst(i, h->cfg.blocks[n]) {
            LLVMValueRef phi = ir_map_get(&h->map, i);

            if (!LLVMIsAPHINode(i) || !ir_bit(seen, n))
                break;
            for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
                LLVMBasicBlockRef from = LLVMGetIncomingBlock(i, k);
                LLVMBasicBlockRef end;
                LLVMValueRef v;

                if (!ir_bit(seen, ir_cfg_number(&h->cfg, from)))
                    continue;
                end = end_of(h, from, n, phi);
                LLVMPositionBuilderBefore(h->builder,
                                          LLVMGetBasicBlockTerminator(end));
                v = host_value(h, LLVMGetIncomingValue(i, k));
                LLVMAddIncoming(phi, &v, &end, 1);
            }
        }
}

/* --- the function -------------------------------------------------------- */

static void declare(host *h, const char *name)
{
    LLVMTypeRef types[4] = {h->ptr, h->ptr, h->ptr, h->ptr};
    unsigned noalias = LLVMGetEnumAttributeKindForName("noalias", 7);

    h->fn = LLVMAddFunction(
        h->module, name,
        LLVMFunctionType(LLVMVoidTypeInContext(h->context), types, 4, false));
    ir_attr(h->fn, "nounwind", 0);
    /* A frame of many pages must not step over the stack's guard. */
    LLVMAddAttributeAtIndex(h->fn, LLVMAttributeFunctionIndex,
                            LLVMCreateStringAttribute(h->context, "probe-stack",
                                                      11, "inline-asm", 10));
    /* Not the window: transfers change what is in it. */
    for (unsigned k = 1; k <= 4; k++)
        if (k != 2)
            LLVMAddAttributeAtIndex(
                h->fn, k, LLVMCreateEnumAttribute(h->context, noalias, 0));
    h->wg = LLVMGetParam(h->fn, 0);
    h->window = LLVMGetParam(h->fn, 1);
    h->args = LLVMGetParam(h->fn, 2);
    h->log = LLVMGetParam(h->fn, 3);
}

static void prologue(host *h)
{
    static const size_t bases[4] = {
        offsetof(sim_wg, local_base), offsetof(sim_wg, stack_base),
        offsetof(sim_wg, kept_base), offsetof(sim_wg, const_base)};
    unsigned n_params = LLVMCountParams(h->from),
             n_args = n_params - SIM_N_HIDDEN;

    LLVMPositionBuilderAtEnd(
        h->builder, LLVMAppendBasicBlockInContext(h->context, h->fn, ""));
    h->cycles = LLVMBuildAlloca(h->builder, h->i64, "cycles");
    h->log_n = LLVMBuildAlloca(h->builder, h->i64, "log_n");
    h->trips = LLVMBuildAlloca(h->builder, h->i64, "trips");
    LLVMBuildStore(h->builder, k64(h, 0), h->trips);
    host_restore_state(h);
    for (int k = 0; k < 4; k++)
        h->bases[k] = host_load_field(h, h->i32, bases[k]);
    for (unsigned k = 0; k < n_args; k++) {
        LLVMValueRef p = LLVMGetParam(h->from, k), v;
        LLVMValueRef at = k64(h, h->layout->arg_offsets[k]);

        v = LLVMBuildLoad2(
            h->builder, host_type(h, LLVMTypeOf(p)),
            LLVMBuildGEP2(h->builder, h->i8, h->args, &at, 1, ""), "");
        LLVMSetAlignment(v, 1);
        ir_map_set(&h->map, p, v);
    }
    for (unsigned k = 0; k < SIM_N_IDS; k++)
        ir_map_set(
            &h->map, host_id(h, k),
            host_load_field(h, h->i32,
                            offsetof(sim_wg, ids) + k * sizeof(uint32_t)));
    ir_map_set(&h->map, host_id(h, SIM_N_IDS), h->bases[2]); /* kept */
    if (h->sites)
        host_check_prologue(h, n_args);
    if (host_row_suits(h))
        ir_map_set(&h->map, host_id(h, SIM_ID_GROUP), host_row_begin(h));
}

/* Of the blocks in this order, which is post-order. */
static void add_blocks(host *h, const uint32_t *order, uint32_t n,
                       const ir_word *seen)
{
    ir_map_init(&h->blocks, h->arena);
    ir_map_init(&h->ends, h->arena);
    ir_map_init(&h->exits, h->arena);
    ir_map_init(&h->ways, h->arena);
    h->stack = 0;
    for (uint32_t k = n; k-- > 0;)
        ir_map_set(&h->blocks, h->cfg.blocks[order[k]],
                   LLVMAppendBasicBlockInContext(h->context, h->fn, ""));
    LLVMBuildBr(h->builder, ir_map_get(&h->blocks, h->cfg.blocks[0]));
    for (uint32_t k = n; k-- > 0 && !h->st;)
        do_block(h, order[k]);
    at_line_of(h, NULL);
    if (!h->st)
        fill_phis(h, seen);
}

/* Once more, for groups of a row that do what others did. */
static void add_quiet_blocks(host *h, const uint32_t *order, uint32_t n,
                             const ir_word *seen)
{
    h->is_quiet = true;
    ir_map_set(&h->map, host_id(h, SIM_ID_GROUP), host_row_begin_quiet(h));
    add_blocks(h, order, n, seen);
}

vpu_status hostcode_add(LLVMModuleRef to, const hostcode_source *source,
                        arena *a, uint32_t *stack_bytes, vpu_error *err)
{
    host h = {.arena = a,
              .module = to,
              .from = source->fn,
              .layout = source->layout,
              .program = source->program,
              .track_lines = source->kind == HOSTCODE_LINES,
              .debug = source->kind == HOSTCODE_DEBUG,
              .sites = source->kind == HOSTCODE_CHECKED ? source->sites : NULL,
              .err = err};
    uint32_t *order, n = 0;
    ir_word *seen;

    h.context = LLVMGetModuleContext(to);
    h.td = LLVMGetModuleDataLayout(LLVMGetGlobalParent(source->fn));
    h.builder = LLVMCreateBuilderInContext(h.context);
    h.i1 = LLVMInt1TypeInContext(h.context);
    h.i8 = LLVMInt8TypeInContext(h.context);
    h.i32 = LLVMInt32TypeInContext(h.context);
    h.i64 = LLVMInt64TypeInContext(h.context);
    h.ptr = LLVMPointerTypeInContext(h.context, 0);
    ir_map_init(&h.map, a);
    ir_cfg_build(&h.cfg, source->fn, a);
    order = arena_array(a, uint32_t, h.cfg.n_blocks);
    seen = ir_bits(a, h.cfg.n_blocks);
    n = ir_post_order(&h.cfg, order, seen);
    h.rpo = arena_array(a, uint32_t, h.cfg.n_blocks);
    h.left = arena_array(a, uint32_t, h.cfg.n_blocks);
    for (uint32_t k = 0; k < n; k++)
        h.rpo[order[k]] = n - 1 - k;
    declare(&h, source->name);
    if (h.debug)
        host_debug_begin_function(&h);
    prologue(&h);
    add_blocks(&h, order, n, seen);
    if (!h.st && h.row.quiet)
        add_quiet_blocks(&h, order, n, seen);
    if (!h.st)
        split_item_loops(h.fn, h.sites != NULL, a);
    LLVMDisposeBuilder(h.builder);
    *stack_bytes = h.stack;
    return h.st;
}

/* Does nothing stand in front of the block's unreachable that ends for good? */
static bool is_open(LLVMBasicBlockRef b)
{
    LLVMValueRef t = LLVMGetBasicBlockTerminator(b), last;

    if (!LLVMIsAUnreachableInst(t))
        return false;
    last = LLVMGetPreviousInstruction(t);
    return !last || !LLVMIsACallInst(last);
}

void hostcode_close(LLVMModuleRef m)
{
    LLVMContextRef c = LLVMGetModuleContext(m);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(c);
    LLVMTypeRef types[2] = {LLVMPointerTypeInContext(c, 0),
                            LLVMInt32TypeInContext(c)};
    LLVMTypeRef t = LLVMFunctionType(LLVMVoidTypeInContext(c), types, 2, false);

    for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
         f = LLVMGetNextFunction(f))
        ir_each_block(block, f)
            if (is_open(block)) {
                LLVMValueRef args[2] = {LLVMGetParam(f, 0),
                                        LLVMConstNull(types[1])};

                LLVMPositionBuilderBefore(b,
                                          LLVMGetBasicBlockTerminator(block));
                LLVMBuildCall2(b, t, ir_declare(m, "vpu_hook_unreachable", t),
                               args, 2, "");
                ir_attr(LLVMGetNamedFunction(m, "vpu_hook_unreachable"),
                        "noreturn", 0);
            }
    LLVMDisposeBuilder(b);
}
