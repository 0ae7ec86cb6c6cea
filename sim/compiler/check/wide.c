/* See wide.h. */
#include "sim/compiler/check/wide.h"

#include <llvm-c/DebugInfo.h>

/* Items at once, and instructions of a loop that becomes so many times as long.
 */
enum { LANES = 4, MAX_SIZE = 192 };

typedef struct {
    const wide_loop *l;
    ir_map lanes[LANES];              /* values of each item */
    ir_map blocks;                    /* of the loop's blocks */
    LLVMBasicBlockRef enough, repeat; /* in front of the loop, and at its end */
} wide;

static LLVMBasicBlockRef block_at(const wide_loop *l, uint32_t k)
{
    return l->cfg->blocks[l->order[k]];
}

static bool is_inside(const wide_loop *l, uint32_t k)
{
    return ir_bit(l->in, l->order[k]);
}

static LLVMValueRef k32(const wide_loop *l, uint32_t n)
{
    return LLVMConstInt(LLVMInt32TypeInContext(LLVMGetModuleContext(l->m)), n,
                        false);
}

/* --- does it suit? ------------------------------------------------------- */

/* What a phi of the header goes up by from item to item; NULL: it is no count.
 */
static LLVMValueRef count_of(const wide_loop *l, LLVMValueRef phi)
{
    LLVMValueRef by = ir_step_of(phi, l->latch);

    return by && LLVMTypeOf(phi) == LLVMTypeOf(k32(l, 0)) ? by : NULL;
}

/* Memory that the checkers were not asked about is private, and there once. */
static bool is_private(LLVMValueRef p)
{
    return LLVMGetTypeKind(LLVMTypeOf(p)) == LLVMPointerTypeKind &&
           !call_is_access(ir_call_id(p));
}

static bool uses_private(LLVMValueRef i)
{
    bool uses = LLVMIsAAllocaInst(i) != NULL;

    if (LLVMIsALoadInst(i))
        return is_private(LLVMGetOperand(i, 0));
    if (LLVMIsAStoreInst(i))
        return is_private(LLVMGetOperand(i, 1));
    if (!LLVMIsACallInst(i) || call_is_access(ir_call_id(i)))
        return uses;
    for (unsigned k = 0; k < LLVMGetNumArgOperands(i); k++)
        uses |= is_private(LLVMGetOperand(i, k));
    return uses;
}

/* Does it find faults, of the item that runs, in the order of items? */
static bool looks_at_items(LLVMValueRef i)
{
    call_id id = ir_call_id(i);

    return id == CALL_check_if || id == CALL_check_at;
}

static bool suits(const wide_loop *l)
{
    uint32_t size = 0;

    for (uint32_t k = 0; k < l->n; k++) {
        LLVMBasicBlockRef b = block_at(l, k);

        if (!is_inside(l, k))
            continue;
        ir_each_inst(i, b)
            if (++size > MAX_SIZE || uses_private(i) || looks_at_items(i) ||
                (b == l->header && LLVMIsAPHINode(i) && !count_of(l, i)))
                return false;
    }
    return true;
}

/* --- the loop ------------------------------------------------------------ */

static LLVMBasicBlockRef add_block(const wide_loop *l, const char *name)
{
    return LLVMAppendBasicBlockInContext(
        LLVMGetModuleContext(l->m), LLVMGetBasicBlockParent(l->copy_before),
        name);
}

/* There are more than so many items from lid on. */
static LLVMValueRef has_enough(const wide_loop *l, LLVMValueRef lid)
{
    LLVMValueRef left =
        LLVMBuildSub(l->b, ir_mapped(l->copy, l->bound), lid, "");

    return LLVMBuildICmp(l->b, LLVMIntUGT, left, k32(l, LANES), "");
}

static void set_all(wide *w, LLVMValueRef i, LLVMValueRef v)
{
    for (int k = 0; k < LANES; k++)
        ir_map_set(&w->lanes[k], i, v);
}

/* What the loop uses of the copy around it. */
static void take_outside(wide *w)
{
    const wide_loop *l = w->l;

    for (uint32_t k = 0; k < l->n; k++)
        ir_each_inst(i, block_at(l, k)) {
            LLVMValueRef v = ir_map_get(l->copy, i);

            if (!is_inside(l, k) && v)
                set_all(w, i, v);
        }
}

/* A count of the header: of the first item at once, and of the others. */
static void add_count(wide *w, LLVMValueRef phi)
{
    const wide_loop *l = w->l;
    LLVMValueRef start = ir_mapped(l->copy, ir_incoming_from(phi, l->before));
    LLVMValueRef first = LLVMBuildPhi(l->b, LLVMTypeOf(phi), "");

    LLVMAddIncoming(first, &start, &w->enough, 1);
    ir_map_set(&w->lanes[0], phi, first);
}

static void add_other_counts(wide *w)
{
    const wide_loop *l = w->l;

    ir_each_inst(i, l->header) {
        LLVMValueRef first = ir_map_get(&w->lanes[0], i), by;

        if (!LLVMIsAPHINode(i))
            return;
        by = count_of(l, i);
        for (uint32_t k = 1; k < LANES; k++)
            ir_map_set(
                &w->lanes[k], i,
                LLVMBuildAdd(l->b, first, LLVMConstMul(by, k32(l, k)), ""));
    }
}

/* An item is told of in the loop that does one at a time. */
static bool is_left_out(LLVMValueRef i)
{
    return ir_call_id(i) == CALL_check_item;
}

static void add_inst(wide *w, LLVMValueRef i)
{
    const wide_loop *l = w->l;
    bool same = l->is_same(l->user, i);

    if (is_left_out(i))
        return;
    for (int k = 0; k < (same ? 1 : LANES); k++) {
        LLVMValueRef v;

        if (call_is_access(ir_call_id(i)))
            v = ir_mapped(&w->lanes[k], LLVMGetOperand(i, 1));
        else if (LLVMIsAPHINode(i))
            v = LLVMBuildPhi(l->b, LLVMTypeOf(i), "");
        else
            v = ir_clone(l->b, i, &w->lanes[k]);
        if (same)
            set_all(w, i, v);
        else
            ir_map_set(&w->lanes[k], i, v);
    }
}

/* Where all items go: the conditions of a loop with rows are the same. */
static void add_end(wide *w, LLVMBasicBlockRef b)
{
    const wide_loop *l = w->l;
    LLVMValueRef t = LLVMGetBasicBlockTerminator(b), to;

    if (b == l->latch) {
        LLVMBuildBr(l->b, w->repeat);
        return;
    }
    to = LLVMInstructionClone(t);
    LLVMInsertIntoBuilder(l->b, to);
    LLVMInstructionSetDebugLoc(to, LLVMInstructionGetDebugLoc(t));
    if (LLVMGetNumSuccessors(t) > 1)
        LLVMSetOperand(to, 0, ir_mapped(&w->lanes[0], LLVMGetOperand(t, 0)));
    for (unsigned k = 0; k < LLVMGetNumSuccessors(t); k++)
        LLVMSetSuccessor(to, k, ir_map_get(&w->blocks, LLVMGetSuccessor(t, k)));
}

static void add_blocks(wide *w)
{
    const wide_loop *l = w->l;

    for (uint32_t k = 0; k < l->n; k++)
        if (is_inside(l, k))
            ir_map_set(&w->blocks, block_at(l, k), add_block(l, "wide"));
    for (uint32_t k = 0; k < l->n; k++) {
        LLVMBasicBlockRef b = block_at(l, k);

        if (!is_inside(l, k))
            continue;
        LLVMPositionBuilderAtEnd(l->b, ir_map_get(&w->blocks, b));
        ir_each_inst(i, b) {
            if (b == l->header && LLVMIsAPHINode(i)) {
                add_count(w, i);
                continue;
            }
            if (b == l->header && LLVMIsAPHINode(LLVMGetPreviousInstruction(i)))
                add_other_counts(w);
            if (!LLVMIsATerminatorInst(i))
                add_inst(w, i);
        }
        add_end(w, b);
    }
}

static void fill_phis(wide *w, LLVMBasicBlockRef b)
{
    ir_each_inst(i, b) {
        if (!LLVMIsAPHINode(i))
            return;
        for (int k = 0; k < LANES; k++) {
            LLVMValueRef to = ir_map_get(&w->lanes[k], i);

            if (k && to == ir_map_get(&w->lanes[0], i))
                continue;
            ir_fill_phi(to, i, &w->lanes[k], &w->blocks, NULL);
        }
    }
}

/* The counts go on behind the items done at once; then another turn, or the
 * copy. */
static void end_turn(wide *w, ir_map *next)
{
    const wide_loop *l = w->l;
    LLVMBasicBlockRef header = ir_map_get(&w->blocks, l->header);
    LLVMBasicBlockRef copy = ir_map_get(l->copy, l->header);

    LLVMPositionBuilderAtEnd(l->b, w->repeat);
    ir_each_inst(i, l->header) {
        LLVMValueRef first = ir_map_get(&w->lanes[0], i), v;

        if (!LLVMIsAPHINode(i))
            break;
        v = LLVMBuildAdd(l->b, first,
                         LLVMConstMul(count_of(l, i), k32(l, LANES)), "");
        LLVMAddIncoming(first, &v, &w->repeat, 1);
        ir_map_set(next, i, v);
    }
    LLVMBuildCondBr(l->b, has_enough(l, ir_map_get(next, l->lid)), header,
                    copy);
}

/* The copy is come to from two places now. */
static void join_copy(wide *w, const ir_map *next)
{
    const wide_loop *l = w->l;
    LLVMBasicBlockRef copy = ir_map_get(l->copy, l->header);

    ir_each_inst(i, l->header) {
        LLVMValueRef was = ir_map_get(l->copy, i), phi, v;

        if (!LLVMIsAPHINode(i))
            return;
        LLVMPositionBuilderBefore(l->b, LLVMGetFirstInstruction(copy));
        phi = LLVMBuildPhi(l->b, LLVMTypeOf(i), "");
        for (unsigned n = 0; n < LLVMCountIncoming(was); n++) {
            LLVMBasicBlockRef from = LLVMGetIncomingBlock(was, n);

            v = LLVMGetIncomingValue(was, n);
            from = from == l->copy_before ? w->enough : from;
            LLVMAddIncoming(phi, &v, &from, 1);
        }
        v = ir_map_get(next, i);
        LLVMAddIncoming(phi, &v, &w->repeat, 1);
        LLVMReplaceAllUsesWith(was, phi);
        LLVMInstructionEraseFromParent(was);
        ir_map_set(l->copy, i, phi);
    }
}

/* Where the copy's header was come from, `enough` is come to. */
static void begin(wide *w)
{
    const wide_loop *l = w->l;
    LLVMBasicBlockRef copy = ir_map_get(l->copy, l->header);
    LLVMValueRef t = LLVMGetBasicBlockTerminator(l->copy_before);
    LLVMValueRef lid = ir_mapped(l->copy, ir_incoming_from(l->lid, l->before));

    for (unsigned k = 0; k < LLVMGetNumSuccessors(t); k++)
        if (LLVMGetSuccessor(t, k) == copy)
            LLVMSetSuccessor(t, k, w->enough);
    LLVMPositionBuilderAtEnd(l->b, w->enough);
    LLVMBuildCondBr(l->b, has_enough(l, lid), ir_map_get(&w->blocks, l->header),
                    copy);
}

void wide_add(const wide_loop *l)
{
    wide w = {.l = l};
    ir_map next;

    if (!suits(l))
        return;
    for (int k = 0; k < LANES; k++)
        ir_map_init(&w.lanes[k], l->a);
    ir_map_init(&w.blocks, l->a);
    ir_map_init(&next, l->a);
    w.enough = add_block(l, "enough");
    w.repeat = add_block(l, "repeat");
    take_outside(&w);
    add_blocks(&w);
    for (uint32_t k = 0; k < l->n; k++)
        if (is_inside(l, k) && block_at(l, k) != l->header)
            fill_phis(&w, block_at(l, k));
    begin(&w);
    end_turn(&w, &next);
    join_copy(&w, &next);
}
