/* Builds work-group functions: every region becomes a loop over the items, with
 * what lives across collective points brought in and out. */
#include "sim/compiler/middle/workgroup.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "sim/compiler/middle/workgroup_priv.h"

/* The region being built. */
typedef struct {
    uint32_t start;            /* segment */
    ir_word *segs;             /* reachable */
    ir_map map;                /* values inside the item loops */
    LLVMBasicBlockRef *blocks; /* by segment */
    LLVMBasicBlockRef latch;
    LLVMValueRef lid[3], linear, next;
    uint32_t n_exits, only_exit;
    LLVMValueRef sync_exit; /* a collective call it leads to, or NULL */
} region;
static LLVMValueRef k32(wg *w, uint32_t v)
{
    return LLVMConstInt(w->i32, v, false);
}

/* --- the function being built -------------------------------------------- */

static LLVMValueRef alloca_in_entry(wg *w, LLVMTypeRef t)
{
    LLVMBasicBlockRef at = LLVMGetInsertBlock(w->builder);
    LLVMValueRef first = LLVMGetFirstInstruction(w->entry), r;

    if (first)
        LLVMPositionBuilderBefore(w->builder, first);
    else
        LLVMPositionBuilderAtEnd(w->builder, w->entry);
    LLVMSetCurrentDebugLocation2(w->builder, NULL);
    r = LLVMBuildAlloca(w->builder, t, "");
    LLVMPositionBuilderAtEnd(w->builder, at);
    return r;
}

static LLVMValueRef id_value(wg *w, LLVMValueRef call, LLVMValueRef *lid)
{
    call_id id = ir_call_id(call);

    return call_item_dimension(id) >= 0
               ? lid[call_dimension(id)]
               : w->ids[call_word(id) + call_dimension(id)];
}

/* Where a value's (or private array's) copy of item `linear` is. */
static LLVMValueRef item_address(wg *w, const wg_value_info *vi,
                                 LLVMValueRef linear)
{
    LLVMValueRef at =
        LLVMBuildMul(w->builder, w->n_items, k32(w, vi->offset), "");

    at = LLVMBuildAdd(w->builder, at,
                      LLVMBuildMul(w->builder, linear, k32(w, vi->stride), ""),
                      "");
    return LLVMBuildGEP2(w->builder, LLVMInt8TypeInContext(w->context), w->kept,
                         &at, 1, "");
}

static LLVMValueRef load_kept(wg *w, LLVMTypeRef t, LLVMValueRef p)
{
    LLVMTypeRef mt = wg_memory_type(w, t);
    LLVMValueRef v = LLVMBuildLoad2(w->builder, mt, p, "");

    LLVMSetAlignment(v, 4);
    return mt == t ? v : LLVMBuildTrunc(w->builder, v, t, "");
}

static void store_kept(wg *w, LLVMValueRef v, LLVMValueRef p)
{
    LLVMTypeRef t = LLVMTypeOf(v), mt = wg_memory_type(w, t);
    LLVMValueRef s;

    if (mt != t)
        v = LLVMBuildZExt(w->builder, v, mt, "");
    s = LLVMBuildStore(w->builder, v, p);
    LLVMSetAlignment(s, 4);
}

/* v recomputed at the builder's position for the item with these ids. */
static LLVMValueRef recompute(wg *w, LLVMValueRef v, ir_map *map,
                              LLVMValueRef *lid, LLVMValueRef linear)
{
    wg_value_info *vi = wg_value(w, v);
    LLVMValueRef r = ir_map_get(map, v);

    if (r)
        return r;
    if (!vi)
        return v; /* a constant: arguments are in the map */
    if (wg_is_id(v)) {
        r = id_value(w, v, lid);
    } else if (LLVMIsAAllocaInst(v)) {
        r = item_address(w, vi, linear);
    } else {
        for (int k = 0; k < LLVMGetNumOperands(v); k++)
            recompute(w, LLVMGetOperand(v, (unsigned)k), map, lid, linear);
        r = ir_clone(w->builder, v, map);
    }
    ir_map_set(map, v, r);
    return r;
}

/* Whoever observes the code hears of it. */
static void tell(wg *w, call_id id, LLVMValueRef *args, unsigned n)
{
    if (w->observed)
        ir_build_call(
            w->builder, w->module,
            &(const ir_call){id, LLVMVoidTypeInContext(w->context), args, n});
}

static void map_arguments(wg *w, ir_map *map)
{
    for (unsigned k = 0; k < LLVMCountParams(w->item_fn); k++)
        ir_map_set(map, LLVMGetParam(w->item_fn, k), LLVMGetParam(w->fn, k));
}

/* Performs the region's collective operation, once, before the item loops. */
static void emit_sync(wg *w, region *r, LLVMValueRef sync)
{
    LLVMValueRef zero[3] = {k32(w, 0), k32(w, 0), k32(w, 0)}, call;
    ir_map map;

    if (ir_call_id(sync) == CALL_barrier) {
        tell(w, CALL_check_barrier, NULL, 0);
        return; /* the end of the item loops is the barrier */
    }
    ir_map_init(&map, w->arena);
    map_arguments(w, &map);
    for (int k = 0; k < LLVMGetNumOperands(sync) - 1; k++) {
        LLVMValueRef v = LLVMGetOperand(sync, (unsigned)k), x;
        wg_value_info *vi = wg_value(w, v);

        if (!vi || ir_map_get(&map, v))
            continue;
        if (vi->how == KEEP_ONCE)
            x = load_kept(w, LLVMTypeOf(v), vi->once);
        else if (vi->how == KEEP_PER_ITEM && !LLVMIsAAllocaInst(v))
            x = load_kept(w, LLVMTypeOf(v), item_address(w, vi, k32(w, 0)));
        else
            x = recompute(w, v, &map, zero, k32(w, 0));
        ir_map_set(&map, v, x);
    }
    call = ir_clone(w->builder, sync, &map);
    ir_map_set(&r->map, sync, call);
}

static bool in_region_slot(wg *w, const region *r, const wg_value_info *vi)
{
    return ir_bit(w->segs[r->start].live_in, (uint32_t)(vi - w->vals)) &&
           (vi->how == KEEP_ONCE ||
            (vi->how == KEEP_PER_ITEM && !LLVMIsAAllocaInst(vi->inst)));
}

/* op as seen inside the region, at the builder's position. */
static LLVMValueRef use_of(wg *w, region *r, LLVMValueRef op)
{
    wg_value_info *vi = wg_value(w, op);

    if (vi && in_region_slot(w, r, vi))
        return load_kept(w, LLVMTypeOf(op), vi->temp);
    return ir_mapped(&r->map, op);
}

static void define(wg *w, region *r, LLVMValueRef inst, LLVMValueRef copy)
{
    wg_value_info *vi = wg_value(w, inst);

    ir_map_set(&r->map, inst, copy);
    if (vi && in_region_slot(w, r, vi) && !LLVMIsAPHINode(inst))
        store_kept(w, copy, vi->temp);
}

/* --- item loops ---------------------------------------------------------- */

typedef struct {
    LLVMBasicBlockRef head[3], latch[3], after;
} loops;

static void open_loops(wg *w, region *r, loops *l)
{
    LLVMBasicBlockRef from = LLVMGetInsertBlock(w->builder);

    r->linear = alloca_in_entry(w, w->i32);
    LLVMBuildStore(w->builder, k32(w, 0), r->linear);
    for (int d = 2; d >= 0; d--) {
        LLVMValueRef zero = k32(w, 0);

        l->head[d] = LLVMAppendBasicBlockInContext(w->context, w->fn, "items");
        l->latch[d] = LLVMAppendBasicBlockInContext(w->context, w->fn, "next");
        LLVMBuildBr(w->builder, l->head[d]);
        LLVMPositionBuilderAtEnd(w->builder, l->head[d]);
        r->lid[d] = LLVMBuildPhi(w->builder, w->i32, "lid");
        LLVMAddIncoming(r->lid[d], &zero, &from, 1);
        from = l->head[d];
    }
    l->after = LLVMAppendBasicBlockInContext(w->context, w->fn, "all");
    r->latch = l->latch[0];
}

static void close_loops(wg *w, region *r, loops *l)
{
    for (int d = 0; d < 3; d++) {
        LLVMValueRef i, more, br;
        uint32_t step = d ? 1 : w->lanes;

        LLVMPositionBuilderAtEnd(w->builder, l->latch[d]);
        if (!d)
            LLVMBuildStore(
                w->builder,
                LLVMBuildAdd(w->builder,
                             LLVMBuildLoad2(w->builder, w->i32, r->linear, ""),
                             k32(w, 1), ""),
                r->linear);
        i = LLVMBuildNUWAdd(w->builder, r->lid[d], k32(w, step), "");
        LLVMAddIncoming(r->lid[d], &i, &l->latch[d], 1);
        more = LLVMBuildICmp(w->builder, LLVMIntULT, i,
                             w->ids[SIM_ID_LOCAL_SIZE + d], "");
        br = LLVMBuildCondBr(w->builder, more, l->head[d],
                             d < 2 ? l->latch[d + 1] : l->after);
        LLVMSetMetadata(
            br, LLVMGetMDKindIDInContext(w->context, "vpu.items", 9),
            LLVMMetadataAsValue(w->context,
                                LLVMMDNodeInContext2(w->context, NULL, 0)));
    }
    LLVMPositionBuilderAtEnd(w->builder, l->after);
}

/* --- regions ------------------------------------------------------------- */

static void reach(wg *w, region *r)
{
    uint32_t *stack = arena_array(w->arena, uint32_t, w->n_segs), top = 0;

    r->segs = ir_bits(w->arena, w->n_segs);
    stack[top++] = r->start;
    ir_bit_set(r->segs, r->start);
    while (top) {
        const wg_segment *s = &w->segs[stack[--top]];
        uint32_t *succ = w->cfg.succs[s->block];
        uint32_t exit = UINT32_MAX;

        if (s->ends_in_sync) {
            exit = (s + 1)->region;
            r->sync_exit = s->end;
        } else if (!succ[0]) {
            exit = 0;
        }
        if (exit != UINT32_MAX) {
            if (!r->n_exits) {
                r->n_exits = 1;
                r->only_exit = exit;
            } else if (r->only_exit != exit) {
                r->n_exits = 2;
            }
            continue;
        }
        for (uint32_t k = 1; k <= succ[0]; k++) {
            uint32_t n = w->first_seg[succ[k]];

            if (!ir_bit(r->segs, n)) {
                ir_bit_set(r->segs, n);
                stack[top++] = n;
            }
        }
    }
}

/* Says again where the variable in a private array is: every item has its own.
 */
static void place_variable(wg *w, region *r, LLVMValueRef array)
{
    for (LLVMUseRef u = LLVMGetFirstUse(array); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u), copy;

        if (ir_call_id(user) != CALL_var)
            continue;
        copy = LLVMInstructionClone(user);
        LLVMInsertIntoBuilder(w->builder, copy);
        LLVMInstructionSetDebugLoc(copy, LLVMInstructionGetDebugLoc(user));
        LLVMSetOperand(copy, 0, ir_mapped(&r->map, array));
    }
}

/* A source variable in memory of the item's own: a debugger wants to see it
 * whether the region uses it or not. */
static bool is_variable(const wg_value_info *vi)
{
    if (!LLVMIsAAllocaInst(vi->inst) || vi->how != KEEP_PER_ITEM)
        return false;
    for (LLVMUseRef u = LLVMGetFirstUse(vi->inst); u; u = LLVMGetNextUse(u))
        if (ir_call_id(LLVMGetUser(u)) == CALL_var)
            return true;
    return false;
}

/* Brings what lives into the region to where its items find it. */
static void enter_items(wg *w, region *r)
{
    const ir_word *in = w->segs[r->start].live_in;
    bool start =
        w->segs[r->start].sync != NULL; /* not the kernel's beginning */
    LLVMValueRef linear = LLVMBuildLoad2(w->builder, w->i32, r->linear, "");

    tell(w, CALL_check_item, &linear, 1);
    map_arguments(w, &r->map);
    for (uint32_t v = 0; v < w->n_vals; v++) {
        wg_value_info *vi = &w->vals[v];
        LLVMTypeRef t = LLVMTypeOf(vi->inst);

        if (!ir_bit(in, v) && !(start && is_variable(vi)))
            continue;
        if (vi->how == KEEP_REMAT || LLVMIsAAllocaInst(vi->inst) ||
            wg_is_id(vi->inst))
            recompute(w, vi->inst, &r->map, r->lid, linear);
        else if (vi->how == KEEP_PER_ITEM)
            store_kept(w, load_kept(w, t, item_address(w, vi, linear)),
                       vi->temp);
        if (LLVMIsAAllocaInst(vi->inst))
            place_variable(w, r, vi->inst);
    }
}

/* Values all items agree on are read before the first item can change them. */
static void read_once_values(wg *w, region *r, LLVMValueRef *out)
{
    for (uint32_t v = 0; v < w->n_vals; v++)
        if (ir_bit(w->segs[r->start].live_in, v) && w->vals[v].how == KEEP_ONCE)
            out[v] = load_kept(w, LLVMTypeOf(w->vals[v].inst), w->vals[v].once);
}

static void leave(wg *w, region *r, uint32_t exit, const ir_word *live,
                  LLVMValueRef at)
{
    LLVMValueRef linear;

    LLVMSetCurrentDebugLocation2(w->builder, NULL);
    linear = LLVMBuildLoad2(w->builder, w->i32, r->linear, "");
    for (uint32_t v = 0; live && v < w->n_vals; v++) {
        wg_value_info *vi = &w->vals[v];

        if (!ir_bit(live, v) || LLVMIsAAllocaInst(vi->inst))
            continue;
        if (vi->how == KEEP_ONCE)
            store_kept(w, use_of(w, r, vi->inst), vi->once);
        else if (vi->how == KEEP_PER_ITEM)
            store_kept(w, use_of(w, r, vi->inst), item_address(w, vi, linear));
    }
    if (r->n_exits > 1) {
        LLVMTypeRef nothing = LLVMVoidTypeInContext(w->context);
        LLVMValueRef now = LLVMBuildLoad2(w->builder, w->i32, r->next, "");
        LLVMValueRef same =
            LLVMBuildICmp(w->builder, LLVMIntEQ, now, k32(w, exit), "");
        LLVMValueRef none =
            LLVMBuildICmp(w->builder, LLVMIntEQ, now, k32(w, UINT32_MAX), "");
        LLVMBasicBlockRef bad =
            LLVMAppendBasicBlockInContext(w->context, w->fn, "diverged");
        LLVMBasicBlockRef good =
            LLVMAppendBasicBlockInContext(w->context, w->fn, "agreed");
        /* An item that returns: the line of what it does not reach. */
        LLVMValueRef line =
            k32(w, LLVMGetDebugLocLine(exit ? at : r->sync_exit));

        LLVMBuildCondBr(w->builder, LLVMBuildOr(w->builder, same, none, ""),
                        good, bad);
        LLVMPositionBuilderAtEnd(w->builder, bad);
        ir_build_call(w->builder, w->module,
                      &(const ir_call){CALL_divergence, nothing, &line, 1});
        LLVMBuildUnreachable(w->builder);
        LLVMPositionBuilderAtEnd(w->builder, good);
        LLVMBuildStore(w->builder, k32(w, exit), r->next);
    }
    LLVMBuildBr(w->builder, r->latch);
}

static void clone_inst(wg *w, region *r, LLVMValueRef i)
{
    LLVMValueRef copy;

    LLVMSetCurrentDebugLocation2(w->builder, NULL);
    if (!strncmp(ir_callee(i), "llvm.lifetime", 13))
        return;
    if (ir_map_get(&r->map, i))
        return; /* recomputed at the start */
    if (wg_is_id(i)) {
        ir_map_set(&r->map, i, id_value(w, i, r->lid));
        return;
    }
    if (LLVMIsAPHINode(i)) {
        ir_map_set(&r->map, i, LLVMBuildPhi(w->builder, LLVMTypeOf(i), ""));
        return;
    }
    if (LLVMIsAAllocaInst(i)) {
        wg_value_info *vi = wg_value(w, i);

        if (vi->how == KEEP_PER_ITEM)
            recompute(w, i, &r->map, r->lid,
                      LLVMBuildLoad2(w->builder, w->i32, r->linear, ""));
        else
            ir_map_set(&r->map, i, alloca_in_entry(w, LLVMGetAllocatedType(i)));
        return;
    }
    copy = LLVMInstructionClone(i);
    LLVMInsertIntoBuilder(w->builder, copy);
    LLVMInstructionSetDebugLoc(copy, LLVMInstructionGetDebugLoc(i));
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef op = LLVMGetOperand(i, (unsigned)k), x;

        if (LLVMValueIsBasicBlock(op))
            continue;
        LLVMPositionBuilderBefore(w->builder, copy);
        x = use_of(w, r, op);
        LLVMSetOperand(copy, (unsigned)k, x);
    }
    LLVMPositionBuilderAtEnd(w->builder, LLVMGetInstructionParent(copy));
    define(w, r, i, copy);
}

/* Phis of slot values are written to their temporary behind the last phi. */
static void store_phis(wg *w, region *r, const wg_segment *s)
{
    LLVMSetCurrentDebugLocation2(w->builder, NULL);
    for (LLVMValueRef i = s->first; i && LLVMIsAPHINode(i);
         i = LLVMGetNextInstruction(i)) {
        wg_value_info *vi = wg_value(w, i);

        if (in_region_slot(w, r, vi))
            store_kept(w, ir_mapped(&r->map, i), vi->temp);
    }
}

static void clone_segment(wg *w, region *r, uint32_t n)
{
    const wg_segment *s = &w->segs[n];
    bool phis = s->first && LLVMIsAPHINode(s->first);

    LLVMPositionBuilderAtEnd(w->builder, r->blocks[n]);
    for (LLVMValueRef i = s->first; i != s->end;
         i = LLVMGetNextInstruction(i)) {
        if (phis && !LLVMIsAPHINode(i)) {
            store_phis(w, r, s);
            phis = false;
        }
        clone_inst(w, r, i);
    }
    if (phis)
        store_phis(w, r, s);
    if (s->ends_in_sync) {
        leave(w, r, (s + 1)->region, (s + 1)->live_in, s->end);
    } else if (!w->cfg.succs[s->block][0]) {
        if (LLVMIsAUnreachableInst(s->end))
            LLVMBuildUnreachable(w->builder);
        else
            leave(w, r, 0, NULL, s->end);
    } else {
        LLVMValueRef t = LLVMInstructionClone(s->end);

        LLVMInsertIntoBuilder(w->builder, t);
        LLVMInstructionSetDebugLoc(t, LLVMInstructionGetDebugLoc(s->end));
        if (LLVMGetNumSuccessors(t) > 1) {
            LLVMPositionBuilderBefore(w->builder, t);
            LLVMSetOperand(t, 0, use_of(w, r, LLVMGetOperand(s->end, 0)));
        }
        for (unsigned k = 0; k < LLVMGetNumSuccessors(t); k++) {
            uint32_t to = ir_cfg_number(&w->cfg, LLVMGetSuccessor(s->end, k));

            LLVMSetSuccessor(t, k, r->blocks[w->first_seg[to]]);
        }
    }
}

static void fill_phis(wg *w, region *r, const wg_segment *s)
{
    for (LLVMValueRef i = s->first; i && LLVMIsAPHINode(i);
         i = LLVMGetNextInstruction(i)) {
        LLVMValueRef phi = ir_map_get(&r->map, i);

        if (!LLVMIsAPHINode(phi))
            continue;
        for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
            uint32_t p =
                w->last_seg[ir_cfg_number(&w->cfg, LLVMGetIncomingBlock(i, k))];
            LLVMValueRef x;

            if (!ir_bit(r->segs, p))
                continue;
            x = ir_incoming_from(phi, r->blocks[p]);
            if (!x) {
                LLVMPositionBuilderBefore(
                    w->builder, LLVMGetBasicBlockTerminator(r->blocks[p]));
                x = use_of(w, r, LLVMGetIncomingValue(i, k));
            }
            LLVMAddIncoming(phi, &x, &r->blocks[p], 1);
        }
    }
}

static void order_segments(wg *w, const region *r, uint32_t n, ir_word *seen,
                           uint32_t *order, uint32_t *count)
{
    const wg_segment *s = &w->segs[n];
    uint32_t *succ = w->cfg.succs[s->block];

    ir_bit_set(seen, n);
    for (uint32_t k = 1; !s->ends_in_sync && k <= succ[0]; k++)
        if (!ir_bit(seen, w->first_seg[succ[k]]))
            order_segments(w, r, w->first_seg[succ[k]], seen, order, count);
    order[(*count)++] = n;
}

static void go_on(wg *w, region *r)
{
    LLVMBasicBlockRef end;
    LLVMValueRef sw;

    if (r->n_exits == 1 && r->only_exit) {
        LLVMBuildBr(w->builder, w->region_pre[r->only_exit - 1]);
        return;
    }
    if (r->n_exits == 1) {
        LLVMBuildRetVoid(w->builder);
        return;
    }
    if (!r->n_exits) { /* no way out: an endless loop, stopped by the limits */
        LLVMBuildUnreachable(w->builder);
        return;
    }
    end = LLVMAppendBasicBlockInContext(w->context, w->fn, "end");
    sw = LLVMBuildSwitch(w->builder,
                         LLVMBuildLoad2(w->builder, w->i32, r->next, ""), end,
                         w->n_regions);
    for (uint32_t k = 1; k <= w->n_regions; k++)
        LLVMAddCase(sw, k32(w, k), w->region_pre[k - 1]);
    LLVMPositionBuilderAtEnd(w->builder, end);
    LLVMBuildRetVoid(w->builder);
}

static void build_region(wg *w, uint32_t start)
{
    region r = {.start = start};
    LLVMValueRef *once = arena_array(w->arena, LLVMValueRef, w->n_vals + 1);
    uint32_t *order = arena_array(w->arena, uint32_t, w->n_segs), n = 0;
    loops l;

    reach(w, &r);
    ir_map_init(&r.map, w->arena);
    LLVMPositionBuilderAtEnd(w->builder,
                             w->region_pre[w->segs[start].region - 1]);
    if (r.n_exits > 1) {
        r.next = alloca_in_entry(w, w->i32);
        LLVMBuildStore(w->builder, k32(w, UINT32_MAX), r.next);
    }
    if (w->segs[start].sync)
        emit_sync(w, &r, w->segs[start].sync);
    read_once_values(w, &r, once);
    open_loops(w, &r, &l);
    enter_items(w, &r);
    for (uint32_t v = 0; v < w->n_vals; v++)
        if (once[v])
            store_kept(w, once[v], w->vals[v].temp);
    r.blocks = arena_array(w->arena, LLVMBasicBlockRef, w->n_segs);
    for (uint32_t s = 0; s < w->n_segs; s++)
        if (ir_bit(r.segs, s))
            r.blocks[s] = LLVMAppendBasicBlockInContext(w->context, w->fn, "");
    LLVMBuildBr(w->builder, r.blocks[start]);
    order_segments(w, &r, start, ir_bits(w->arena, w->n_segs), order, &n);
    for (uint32_t k = n; k-- > 0;)
        clone_segment(w, &r, order[k]);
    LLVMSetCurrentDebugLocation2(w->builder, NULL);
    for (uint32_t k = n; k-- > 0;)
        fill_phis(w, &r, &w->segs[order[k]]);
    close_loops(w, &r, &l);
    go_on(w, &r);
}

/* --- the top ------------------------------------------------------------- */

static void declare(wg *w, const char *name)
{
    unsigned n = LLVMCountParams(w->item_fn);
    LLVMTypeRef *types = arena_array(w->arena, LLVMTypeRef, n + SIM_N_HIDDEN),
                t;

    LLVMGetParamTypes(LLVMGlobalGetValueType(w->item_fn), types);
    for (unsigned k = 0; k < SIM_N_IDS; k++)
        types[n + k] = w->i32;
    types[n + SIM_N_IDS] = LLVMPointerTypeInContext(w->context, AS_PRIVATE);
    t = LLVMFunctionType(LLVMVoidTypeInContext(w->context), types,
                         n + SIM_N_HIDDEN, false);
    w->fn = LLVMAddFunction(w->module, name, t);
    ir_attr(w->fn, "nounwind", 0);
    ir_copy_param_attrs(w->item_fn, w->fn, n);
    for (unsigned k = 0; k < SIM_N_IDS; k++)
        w->ids[k] = LLVMGetParam(w->fn, n + k);
    w->kept = LLVMGetParam(w->fn, n + SIM_N_IDS);
    /* Nothing else points into the kept memory. */
    LLVMAddAttributeAtIndex(
        w->fn, n + SIM_N_HIDDEN,
        LLVMCreateEnumAttribute(
            w->context, LLVMGetEnumAttributeKindForName("noalias", 7), 0));
}

static void prepare_entry(wg *w)
{
    LLVMValueRef n;

    w->entry = LLVMAppendBasicBlockInContext(w->context, w->fn, "entry");
    LLVMPositionBuilderAtEnd(w->builder, w->entry);
    n = w->ids[SIM_ID_LOCAL_SIZE];
    if (w->lanes > 1)
        n = LLVMBuildUDiv(w->builder, n, k32(w, w->lanes), "");
    n = LLVMBuildMul(w->builder, n, w->ids[SIM_ID_LOCAL_SIZE + 1], "");
    w->n_items =
        LLVMBuildMul(w->builder, n, w->ids[SIM_ID_LOCAL_SIZE + 2], "items");
    for (uint32_t v = 0; v < w->n_vals; v++) {
        wg_value_info *vi = &w->vals[v];
        LLVMTypeRef t = wg_memory_type(w, LLVMTypeOf(vi->inst));

        if (LLVMIsAAllocaInst(vi->inst) ||
            (vi->how != KEEP_ONCE && vi->how != KEEP_PER_ITEM))
            continue;
        vi->temp = alloca_in_entry(w, t);
        if (vi->how == KEEP_ONCE)
            vi->once = alloca_in_entry(w, t);
    }
    w->region_pre = arena_array(w->arena, LLVMBasicBlockRef, w->n_regions);
    for (uint32_t r = 0; r < w->n_regions; r++)
        w->region_pre[r] =
            LLVMAppendBasicBlockInContext(w->context, w->fn, "region");
    LLVMBuildBr(w->builder, w->region_pre[0]);
}

void workgroup_build(LLVMValueRef item_fn, unsigned lanes, bool observed,
                     const char *name, arena *a, workgroup *out)
{
    wg w = {
        .arena = a, .item_fn = item_fn, .lanes = lanes, .observed = observed};

    w.module = LLVMGetGlobalParent(item_fn);
    w.context = LLVMGetModuleContext(w.module);
    w.td = LLVMGetModuleDataLayout(w.module);
    w.i32 = LLVMInt32TypeInContext(w.context);
    w.builder = LLVMCreateBuilderInContext(w.context);
    ir_cfg_build(&w.cfg, item_fn, a);
    uniformity_analyse(&w.uni, item_fn, 7, a);
    wg_analyse(&w);
    declare(&w, name);
    prepare_entry(&w);
    for (uint32_t s = 0; s < w.n_segs; s++)
        if (w.segs[s].region)
            build_region(&w, s);
    LLVMDisposeBuilder(w.builder);
    *out = (workgroup){w.fn, w.item_bytes, w.n_regions};
}
