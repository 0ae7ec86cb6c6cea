#include "sim/compiler/host/recompute.h"

#include <string.h>

#include "sim/ir/ir.h"

/* Values that leave their block and would be as cheap to compute again. Up to
 * so many LLVM finds registers or stack for in little time; with thousands of
 * them, as where each case of a switch in a loop has its own constants, its
 * allocation of registers takes their square. */
enum { FEW_VALUES = 256 };

typedef struct {
    ir_cfg cfg;
    LLVMBuilderRef builder;
    LLVMValueRef *again; /* by block: the value at hand, computed there */
    uint32_t *stamp;     /* by block: for which value */
    uint32_t now;
} recomputing;

static bool is_cheap(LLVMOpcode op)
{
    if (ir_is_arithmetic(op))
        return op != LLVMMul; /* which takes three times as long */
    switch (op) {
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMBitCast:
    case LLVMGetElementPtr:
        return true;
    default:
        return false;
    }
}

/* Does computing i elsewhere keep at most one other value instead of i? The
 * function's arguments are at hand everywhere. */
static bool keeps_one(LLVMValueRef i)
{
    int n = 0;

    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef v = LLVMGetOperand(i, (unsigned)k);

        n += !LLVMIsConstant(v) && !LLVMIsAArgument(v);
    }
    return n <= 1;
}

/* Is i used in other blocks, and by no phi: a phi's value is wanted at the end
 * of another block yet? */
static bool can_recompute(LLVMValueRef i)
{
    LLVMBasicBlockRef home = LLVMGetInstructionParent(i);
    bool leaves = false;

    if (!is_cheap(LLVMGetInstructionOpcode(i)) || !keeps_one(i))
        return false;
    for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);

        if (LLVMIsAPHINode(user))
            return false;
        leaves |= LLVMGetInstructionParent(user) != home;
    }
    return leaves;
}

static LLVMValueRef first_behind_phis(LLVMBasicBlockRef b)
{
    LLVMValueRef i = LLVMGetFirstInstruction(b);

    while (LLVMIsAPHINode(i))
        i = LLVMGetNextInstruction(i);
    return i;
}

/* i computed in block b. */
static LLVMValueRef value_in(recomputing *s, LLVMValueRef i,
                             LLVMBasicBlockRef b)
{
    uint32_t n = ir_cfg_number(&s->cfg, b);

    if (s->stamp[n] != s->now) {
        s->stamp[n] = s->now;
        s->again[n] = LLVMInstructionClone(i);
        LLVMPositionBuilderBefore(s->builder, first_behind_phis(b));
        LLVMInsertIntoBuilder(s->builder, s->again[n]);
    }
    return s->again[n];
}

static void recompute_value(recomputing *s, LLVMValueRef i)
{
    LLVMBasicBlockRef home = LLVMGetInstructionParent(i);
    LLVMUseRef u = LLVMGetFirstUse(i), next;

    s->now++;
    for (; u; u = next) {
        LLVMValueRef user = LLVMGetUser(u), v;

        next = LLVMGetNextUse(u);
        if (LLVMGetInstructionParent(user) == home)
            continue;
        v = value_in(s, i, LLVMGetInstructionParent(user));
        /* One use goes at a time, and the next one stays in the list. */
        for (int k = 0; k < LLVMGetNumOperands(user); k++)
            if (LLVMGetOperandUse(user, (unsigned)k) == u)
                LLVMSetOperand(user, (unsigned)k, v);
    }
    if (!LLVMGetFirstUse(i))
        LLVMInstructionEraseFromParent(i);
}

/* A sum that is extended, summed after extending and cut: the same value, and
 * LLVM's preparation of code takes the square of the number of extended sums
 * that a value is in. Returns what stands for i. */
static LLVMValueRef extend_first(recomputing *s, LLVMValueRef i)
{
    LLVMValueRef sum = LLVMIsAZExtInst(i) ? LLVMGetOperand(i, 0) : NULL, wide;
    LLVMTypeRef t = LLVMTypeOf(i), narrow;
    uint64_t mask;

    if (!sum || !LLVMIsABinaryOperator(sum) ||
        LLVMGetInstructionOpcode(sum) != LLVMAdd ||
        !LLVMIsAConstantInt(LLVMGetOperand(sum, 1)) ||
        LLVMGetTypeKind(t) != LLVMIntegerTypeKind ||
        LLVMGetIntTypeWidth(t) > 64)
        return i;
    narrow = LLVMTypeOf(sum);
    mask = UINT64_MAX >> (64 - LLVMGetIntTypeWidth(narrow));
    LLVMPositionBuilderBefore(s->builder, i);
    wide = LLVMBuildZExt(s->builder, LLVMGetOperand(sum, 0), t, "");
    wide = LLVMBuildAdd(
        s->builder, wide,
        LLVMConstInt(t, LLVMConstIntGetZExtValue(LLVMGetOperand(sum, 1)),
                     false),
        "");
    wide = LLVMBuildAnd(s->builder, wide, LLVMConstInt(t, mask, false), "");
    LLVMReplaceAllUsesWith(i, wide);
    LLVMInstructionEraseFromParent(i);
    if (!LLVMGetFirstUse(sum))
        LLVMInstructionEraseFromParent(sum);
    return wide;
}

static uint32_t count(LLVMValueRef fn)
{
    uint32_t n = 0;

    ir_each_block(b, fn)
        ir_each_inst(i, b)
            n += can_recompute(i);
    return n;
}

void recompute_cheap_values(LLVMValueRef fn, arena *a)
{
    recomputing s = {0};
    uint32_t *order, n;

    if (count(fn) <= FEW_VALUES)
        return;
    ir_cfg_build(&s.cfg, fn, a);
    s.builder = LLVMCreateBuilderInContext(
        LLVMGetModuleContext(LLVMGetGlobalParent(fn)));
    s.again = arena_array(a, LLVMValueRef, s.cfg.n_blocks);
    s.stamp = arena_array(a, uint32_t, s.cfg.n_blocks);
    order = arena_array(a, uint32_t, s.cfg.n_blocks);
    n = ir_post_order(&s.cfg, order, ir_bits(a, s.cfg.n_blocks));
    /* Users first, so that what they are made of follows them. */
    for (uint32_t k = 0; k < n; k++) {
        LLVMValueRef before, i = LLVMGetLastInstruction(s.cfg.blocks[order[k]]);

        for (; i; i = before) {
            if (can_recompute(i))
                i = extend_first(&s, i);
            before = LLVMGetPreviousInstruction(i);
            if (can_recompute(i))
                recompute_value(&s, i);
        }
    }
    LLVMDisposeBuilder(s.builder);
}
