/* Triangles and diamonds to selects. */
#include "sim/compiler/middle/flatten.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "sim/ir/ir.h"

/* Operations of both ways together that are worth a branch. The branch ends a
 * block, and so does the way taken: seven cycles each, in which the units could
 * issue more than this. */
enum { MOST = 16 };

typedef struct {
    LLVMBasicBlockRef from, join;
    LLVMBasicBlockRef side[2]; /* on true, on false; NULL = straight to join */
} shape;

/* --- what may run in vain ------------------------------------------------ */

static unsigned parts(LLVMTypeRef t)
{
    unsigned bits;

    if (LLVMGetTypeKind(t) == LLVMStructTypeKind ||
        LLVMGetTypeKind(t) == LLVMArrayTypeKind)
        return MOST + 1;
    bits = ir_lanes(t) * ir_bits_of(ir_element(t));
    return ir_lanes(t) == 1 ? (bits + 31) / 32 : (bits + 127) / 128;
}

static bool is_plain_intrinsic(LLVMValueRef call)
{
    static const char *const names[] = {
        "llvm.fabs.",    "llvm.minnum.", "llvm.maxnum.", "llvm.smin.",
        "llvm.smax.",    "llvm.umin.",   "llvm.umax.",   "llvm.abs.",
        "llvm.ctpop.",   "llvm.ctlz.",   "llvm.cttz.",   "llvm.copysign.",
        "llvm.usub.sat", "llvm.uadd.sat"};
    const char *callee = ir_callee(call);

    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (!strncmp(callee, names[k], strlen(names[k])))
            return true;
    return false;
}

/* Operations it costs; more than MOST when it must stay where it is. */
static unsigned cost(LLVMValueRef i)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);

    if (ir_is_arithmetic(op))
        return parts(LLVMTypeOf(i));
    switch (op) {
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFNeg:
    case LLVMICmp:
    case LLVMFCmp:
    case LLVMSelect:
    case LLVMGetElementPtr:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMFPToUI:
    case LLVMFPToSI:
    case LLVMUIToFP:
    case LLVMSIToFP:
    case LLVMFPTrunc:
    case LLVMFPExt:
    case LLVMBitCast:
    case LLVMExtractElement:
    case LLVMInsertElement:
    case LLVMShuffleVector:
    case LLVMFreeze:
        return parts(LLVMTypeOf(i));
    case LLVMCall:
        return is_plain_intrinsic(i) ? parts(LLVMTypeOf(i)) : MOST + 1;
    default:
        return MOST + 1;
    }
}

static unsigned cost_of_side(LLVMBasicBlockRef b)
{
    unsigned sum = 0;

    if (b)
        ir_each_inst(i, b) {
            if (!LLVMIsATerminatorInst(i))
                sum += cost(i);
            if (sum > MOST)
                break;
        }
    return sum;
}

/* --- shapes -------------------------------------------------------------- */

/* A block that only `from` enters and that goes to one other. */
static LLVMBasicBlockRef leads_to(const ir_cfg *c, LLVMBasicBlockRef b)
{
    LLVMValueRef t = LLVMGetBasicBlockTerminator(b);

    if (c->preds[ir_cfg_number(c, b)][0] != 1 ||
        LLVMGetInstructionOpcode(t) != LLVMBr || LLVMGetNumSuccessors(t) != 1 ||
        ir_metadata(t, "llvm.loop") || ir_metadata(t, "vpu.items") ||
        LLVMIsAPHINode(LLVMGetFirstInstruction(b)))
        return NULL;
    return LLVMGetSuccessor(t, 0);
}

static unsigned selects_needed(const shape *s)
{
    unsigned sum = 0;

    ir_each_inst(i, s->join) {
        if (!LLVMIsAPHINode(i))
            break;
        sum += parts(LLVMTypeOf(i));
    }
    return sum;
}

static bool find_shape(const ir_cfg *c, LLVMBasicBlockRef b, shape *s)
{
    LLVMValueRef t = LLVMGetBasicBlockTerminator(b);
    LLVMBasicBlockRef to[2], next[2];

    if (LLVMGetInstructionOpcode(t) != LLVMBr || LLVMGetNumSuccessors(t) != 2 ||
        ir_metadata(t, "llvm.loop") || ir_metadata(t, "vpu.items"))
        return false;
    for (unsigned k = 0; k < 2; k++) {
        to[k] = LLVMGetSuccessor(t, k);
        next[k] = leads_to(c, to[k]);
    }
    *s = (shape){.from = b};
    if (to[0] == to[1])
        return false;
    if (next[0] && next[0] == next[1]) {
        *s = (shape){b, next[0], {to[0], to[1]}};
    } else if (next[0] && next[0] == to[1]) {
        *s = (shape){b, to[1], {to[0], NULL}};
    } else if (next[1] && next[1] == to[0]) {
        *s = (shape){b, to[0], {NULL, to[1]}};
    } else {
        return false;
    }
    return s->join != b && cost_of_side(s->side[0]) + cost_of_side(s->side[1]) +
                                   selects_needed(s) <=
                               MOST;
}

/* --- rewriting ----------------------------------------------------------- */

static void move_up(LLVMBuilderRef at, LLVMBasicBlockRef side,
                    LLVMValueRef before)
{
    LLVMValueRef next;

    if (!side)
        return;
    for (LLVMValueRef i = LLVMGetFirstInstruction(side);
         !LLVMIsATerminatorInst(i); i = next) {
        next = LLVMGetNextInstruction(i);
        LLVMInstructionRemoveFromParent(i);
        LLVMPositionBuilderBefore(at, before);
        LLVMInsertIntoBuilder(at, i);
    }
}

/* The phi again, with one way in from `from` in place of two. */
static void join_phi(LLVMBuilderRef at, const shape *s, LLVMValueRef phi,
                     LLVMValueRef t)
{
    LLVMValueRef value[2], one, fresh;
    LLVMBasicBlockRef from = s->from;

    for (int k = 0; k < 2; k++)
        value[k] = ir_incoming_from(phi, s->side[k] ? s->side[k] : s->from);
    LLVMPositionBuilderBefore(at, t);
    one = value[0] == value[1] ? value[0]
                               : LLVMBuildSelect(at, LLVMGetCondition(t),
                                                 value[0], value[1], "");
    if (LLVMIsASelectInst(one) && one != value[0])
        LLVMInstructionSetDebugLoc(one, LLVMInstructionGetDebugLoc(t));
    LLVMPositionBuilderBefore(at, phi);
    fresh = LLVMBuildPhi(at, LLVMTypeOf(phi), "");
    LLVMAddIncoming(fresh, &one, &from, 1);
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        LLVMBasicBlockRef b = LLVMGetIncomingBlock(phi, k);
        LLVMValueRef v = LLVMGetIncomingValue(phi, k);

        if (b == s->from || b == s->side[0] || b == s->side[1])
            continue;
        LLVMAddIncoming(fresh, &v, &b, 1);
    }
    LLVMReplaceAllUsesWith(phi, fresh);
    LLVMInstructionEraseFromParent(phi);
}

static void rewrite(LLVMBuilderRef at, const shape *s)
{
    LLVMValueRef t = LLVMGetBasicBlockTerminator(s->from), jump, next;

    for (int k = 0; k < 2; k++)
        move_up(at, s->side[k], t);
    for (LLVMValueRef i = LLVMGetFirstInstruction(s->join); LLVMIsAPHINode(i);
         i = next) {
        next = LLVMGetNextInstruction(i);
        join_phi(at, s, i, t);
    }
    LLVMPositionBuilderBefore(at, t);
    jump = LLVMBuildBr(at, s->join);
    LLVMInstructionSetDebugLoc(jump, LLVMInstructionGetDebugLoc(t));
    LLVMInstructionEraseFromParent(t);
    for (int k = 0; k < 2; k++)
        if (s->side[k])
            LLVMDeleteBasicBlock(s->side[k]);
}

static bool flatten_one(LLVMBuilderRef at, LLVMValueRef fn)
{
    arena *a = arena_create(0);
    ir_cfg c;
    shape s;
    bool found = false;

    ir_cfg_build(&c, fn, a);
    for (uint32_t b = 0; b < c.n_blocks && !found; b++)
        if (find_shape(&c, c.blocks[b], &s)) {
            rewrite(at, &s);
            found = true;
        }
    arena_destroy(a);
    return found;
}

void flatten(LLVMModuleRef m)
{
    LLVMBuilderRef at = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));

    for (LLVMValueRef f = LLVMGetFirstFunction(m); f;
         f = LLVMGetNextFunction(f))
        while (!LLVMIsDeclaration(f) && flatten_one(at, f))
            ;
    LLVMDisposeBuilder(at);
}
