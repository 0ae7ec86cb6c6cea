/* Cuts a work-item function into segments and decides how values cross its
 * collective points: recomputed, kept once, or kept per item. */
#include <string.h>

#include "sim/compiler/abi/types.h"
#include "sim/compiler/middle/workgroup_priv.h"

static bool is_sync(LLVMValueRef i)
{
    return call_is_collective(ir_call_id(i));
}

wg_value_info *wg_value(wg *w, LLVMValueRef v)
{
    uintptr_t n = (uintptr_t)ir_map_get(&w->val_index, v);

    return n ? &w->vals[n - 1] : NULL;
}

/* --- parts of structures ------------------------------------------------- */

static LLVMValueRef behind(LLVMValueRef i)
{
    LLVMValueRef next = LLVMGetNextInstruction(i);

    while (LLVMIsAPHINode(next))
        next = LLVMGetNextInstruction(next);
    return next;
}

/* Parts of what an operation returns (a compare and exchange, a sum with its
 * overflow) are taken right behind it: a structure has no form in memory, so it
 * must not live across a collective point. */
static void take_parts(wg *w, LLVMValueRef i)
{
    LLVMUseRef next;

    for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = next) {
        LLVMValueRef part = LLVMGetUser(u);

        next = LLVMGetNextUse(u);
        if (!LLVMIsAExtractValueInst(part))
            continue;
        LLVMInstructionRemoveFromParent(part);
        LLVMPositionBuilderBefore(w->builder, behind(i));
        LLVMInsertIntoBuilder(w->builder, part);
    }
}

static bool has_sync(wg *w)
{
    ir_each_block(b, w->item_fn)
        ir_each_inst(i, b)
            if (is_sync(i))
                return true;
    return false;
}

static void take_all_parts(wg *w)
{
    ir_each_block(b, w->item_fn)
        ir_each_inst(i, b)
            if (LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMStructTypeKind)
                take_parts(w, i);
}

/* --- segments and liveness ----------------------------------------------- */

static void number_values(wg *w)
{
    size_t n = 0, cap = 0;

    ir_map_init(&w->val_index, w->arena);
    ir_each_block(b, w->item_fn)
        ir_each_inst(i, b)
            if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind) {
                arena_append(w->arena, w->vals, n, cap)->inst = i;
                ir_map_set(&w->val_index, i, (void *)(uintptr_t)n);
            }
    w->n_vals = (uint32_t)n;
}

static wg_segment *add_segment(wg *w, size_t *n, size_t *cap, uint32_t block,
                               LLVMValueRef sync, LLVMValueRef first)
{
    wg_segment *s = arena_append(w->arena, w->segs, *n, *cap);

    *s = (wg_segment){.block = block, .sync = sync, .first = first};
    s->use = ir_bits(w->arena, w->n_vals);
    s->def = ir_bits(w->arena, w->n_vals);
    s->phi_out = ir_bits(w->arena, w->n_vals);
    s->live_in = ir_bits(w->arena, w->n_vals);
    s->live_out = ir_bits(w->arena, w->n_vals);
    return s;
}

static void cut_segments(wg *w)
{
    size_t n = 0, cap = 0;

    w->first_seg = arena_array(w->arena, uint32_t, w->cfg.n_blocks);
    w->last_seg = arena_array(w->arena, uint32_t, w->cfg.n_blocks);
    for (uint32_t b = 0; b < w->cfg.n_blocks; b++) {
        LLVMBasicBlockRef block = w->cfg.blocks[b];
        wg_segment *s;

        w->first_seg[b] = (uint32_t)n;
        s = add_segment(w, &n, &cap, b, NULL, LLVMGetFirstInstruction(block));
        if (!b)
            s->region = ++w->n_regions;
        ir_each_inst(i, block) {
            if (!is_sync(i))
                continue;
            s->end = i;
            s->ends_in_sync = true;
            s = add_segment(w, &n, &cap, b, i, LLVMGetNextInstruction(i));
            s->region = ++w->n_regions;
        }
        s->end = LLVMGetBasicBlockTerminator(block);
        w->last_seg[b] = (uint32_t)n - 1;
    }
    w->n_segs = (uint32_t)n;
}

static void note_uses(wg *w, wg_segment *s, LLVMValueRef i)
{
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        uintptr_t v = (uintptr_t)ir_map_get(&w->val_index,
                                            LLVMGetOperand(i, (unsigned)k));

        if (v && !ir_bit(s->def, (uint32_t)v - 1))
            ir_bit_set(s->use, (uint32_t)v - 1);
    }
}

static void note_def(wg *w, wg_segment *s, LLVMValueRef i)
{
    uintptr_t v = (uintptr_t)ir_map_get(&w->val_index, i);

    if (v)
        ir_bit_set(s->def, (uint32_t)v - 1);
}

static void local_liveness(wg *w, wg_segment *s)
{
    if (s->sync) {
        note_uses(w, s, s->sync);
        note_def(w, s, s->sync);
    }
    for (LLVMValueRef i = s->first; i; i = LLVMGetNextInstruction(i)) {
        if (i == s->end && s->ends_in_sync)
            break;
        if (LLVMIsAPHINode(i)) {
            for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
                uint32_t p = ir_cfg_number(&w->cfg, LLVMGetIncomingBlock(i, k));
                uintptr_t v = (uintptr_t)ir_map_get(&w->val_index,
                                                    LLVMGetIncomingValue(i, k));

                if (v)
                    ir_bit_set(w->segs[w->last_seg[p]].phi_out,
                               (uint32_t)v - 1);
            }
        } else {
            note_uses(w, s, i);
        }
        note_def(w, s, i);
    }
}

static void liveness(wg *w)
{
    uint32_t words = (w->n_vals + 63) / 64;
    bool changed = true;

    for (uint32_t i = 0; i < w->n_segs; i++)
        local_liveness(w, &w->segs[i]);
    while (changed) {
        changed = false;
        for (uint32_t i = w->n_segs; i-- > 0;) {
            wg_segment *s = &w->segs[i];
            uint32_t *succ = w->cfg.succs[s->block];

            for (uint32_t q = 0; q < words; q++) {
                ir_word out = s->phi_out[q], in;

                if (s->ends_in_sync)
                    out = w->segs[i + 1].live_in[q];
                else
                    for (uint32_t k = 1; k <= succ[0]; k++)
                        out |= w->segs[w->first_seg[succ[k]]].live_in[q];
                in = s->use[q] | (out & ~s->def[q]);
                changed |= in != s->live_in[q] || out != s->live_out[q];
                s->live_in[q] = in;
                s->live_out[q] = out;
            }
        }
    }
}

/* --- what to do with values that live across ----------------------------- */

bool wg_is_id(LLVMValueRef i)
{
    return call_is_id(ir_call_id(i));
}

static bool cheap_opcode(LLVMOpcode op)
{
    if (ir_is_arithmetic(op))
        return true;
    switch (op) {
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMICmp:
    case LLVMSelect:
    case LLVMGetElementPtr:
        return true;
    default:
        return false;
    }
}

/* A tree of at most budget cheap operations over ids, arguments, constants and
 * the addresses of private arrays. */
static bool is_cheap(wg *w, LLVMValueRef v, int *budget)
{
    wg_value_info *vi = wg_value(w, v);

    if (!vi || wg_is_id(v) || LLVMIsAAllocaInst(v))
        return true;
    if (vi->cheap_known && !vi->cheap)
        return false;
    if (!cheap_opcode(LLVMGetInstructionOpcode(v)) || --*budget < 0)
        return false;
    for (int k = 0; k < LLVMGetNumOperands(v); k++)
        if (!is_cheap(w, LLVMGetOperand(v, (unsigned)k), budget))
            return false;
    return true;
}

/* i1 has no memory form of its own. */
LLVMTypeRef wg_memory_type(wg *w, LLVMTypeRef t)
{
    LLVMTypeRef i8 = LLVMInt8TypeInContext(w->context);

    if (ir_bits_of(ir_element(t)) != 1)
        return t;
    return ir_lanes(t) > 1 ? LLVMVectorType(i8, ir_lanes(t)) : i8;
}

/* Values are stored as they are found, in words; arrays are used as declared.
 */
static uint32_t kept_align(LLVMValueRef v)
{
    uint32_t n = LLVMIsAAllocaInst(v) ? LLVMGetAlignment(v) : 4;

    return n < 4 ? 4 : n > SIM_MOST_ALIGN ? SIM_MOST_ALIGN : n;
}

static void give_item_memory(wg *w, wg_value_info *vi, LLVMTypeRef t)
{
    uint32_t n = (uint32_t)LLVMABISizeOfType(w->td, wg_memory_type(w, t));

    if (vi->how == KEEP_PER_ITEM)
        return;
    vi->how = KEEP_PER_ITEM;
    vi->align = kept_align(vi->inst);
    vi->stride = (n + vi->align - 1) / vi->align * vi->align;
    *arena_append(w->arena, w->per_item, w->n_per_item, w->cap_per_item) = vi;
}

/* Places the values of this alignment, 0 = of any, one behind the other. False:
 * one is out of line for some number of items, which multiplies its offset. */
static bool place(wg *w, uint32_t align)
{
    bool fits = true;

    for (size_t i = 0; i < w->n_per_item; i++) {
        wg_value_info *vi = w->per_item[i];

        if (align && vi->align != align)
            continue;
        vi->offset = w->item_bytes;
        w->item_bytes += vi->stride;
        fits &= vi->offset % vi->align == 0;
    }
    return fits;
}

/* In the order they were met, where that keeps all in line; otherwise what
 * needs most comes first, behind which the rest is in line, too. */
static void place_item_memory(wg *w)
{
    if (place(w, 0))
        return;
    w->item_bytes = 0;
    for (uint32_t align = SIM_MOST_ALIGN; align >= 4; align /= 2)
        place(w, align);
}

/* Private arrays reached from a recomputed address live across, too. */
static void keep_arrays_of(wg *w, LLVMValueRef v)
{
    wg_value_info *vi = wg_value(w, v);

    if (!vi)
        return;
    if (LLVMIsAAllocaInst(v)) {
        give_item_memory(w, vi, LLVMGetAllocatedType(v));
        return;
    }
    if (cheap_opcode(LLVMGetInstructionOpcode(v)))
        for (int k = 0; k < LLVMGetNumOperands(v); k++)
            keep_arrays_of(w, LLVMGetOperand(v, (unsigned)k));
}

static void decide(wg *w, wg_value_info *vi)
{
    int budget = 16;

    vi->cheap = is_cheap(w, vi->inst, &budget);
    vi->cheap_known = true;
    if (vi->cheap) {
        if (!LLVMIsAAllocaInst(vi->inst))
            vi->how = KEEP_REMAT;
        keep_arrays_of(w, vi->inst);
    } else if (!uniformity_varies(&w->uni, vi->inst)) {
        vi->how = KEEP_ONCE;
    } else {
        give_item_memory(w, vi, LLVMTypeOf(vi->inst));
    }
}

/* Is the array's address used for more than loads, stores and indexing? Then
 * what a pointer kept across a collective point refers to may be this array. */
static bool address_escapes(LLVMValueRef v)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);

        if (LLVMIsALoadInst(user) ||
            !strncmp(ir_callee(user), "llvm.lifetime", 13))
            continue;
        if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) != v)
            continue;
        if (LLVMIsAGetElementPtrInst(user) && !address_escapes(user))
            continue;
        return true;
    }
    return false;
}

static void decide_all(wg *w)
{
    uint32_t words = (w->n_vals + 63) / 64;
    ir_word *across = ir_bits(w->arena, w->n_vals);

    for (uint32_t i = 0; i < w->n_segs; i++)
        if (w->segs[i].sync)
            for (uint32_t q = 0; q < words; q++)
                across[q] |= w->segs[i].live_in[q];
    for (uint32_t v = 0; v < w->n_vals; v++)
        if (ir_bit(across, v))
            decide(w, &w->vals[v]);
    for (uint32_t v = 0; w->n_regions > 1 && v < w->n_vals; v++)
        if (LLVMIsAAllocaInst(w->vals[v].inst) &&
            address_escapes(w->vals[v].inst))
            give_item_memory(w, &w->vals[v],
                             LLVMGetAllocatedType(w->vals[v].inst));
    place_item_memory(w);
}

void wg_analyse(wg *w)
{
    if (has_sync(w))
        take_all_parts(w);
    number_values(w);
    cut_segments(w);
    liveness(w);
    decide_all(w);
}
