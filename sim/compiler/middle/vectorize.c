/* The work-group vectorizer.
 *
 * Every value of the item function becomes one of
 *   uniform  same for all lanes              -> one scalar
 *   affine   lane k = lane 0 + k * stride    -> the scalar of lane 0
 *   vector   anything else                   -> <N x T>
 * Affine integers grow a vector form where one is needed; affine pointers whose
 * stride is the element size make vector loads and stores, all other varying
 * pointers make one access per lane, computed from their base and index. */
#include "sim/compiler/middle/vectorize.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <string.h>

#include "sim/compiler/middle/uniform.h"
#include "sim/ir/ir.h"

enum { MAX_FACTOR = 8 };

typedef struct {
    arena *a;
    LLVMContextRef c;
    LLVMModuleRef m;
    LLVMTargetDataRef td;
    LLVMBuilderRef b;
    LLVMValueRef fn, out;
    LLVMTypeRef i32;
    unsigned n; /* lanes */
    uniformity u;
    ir_map stride; /* instruction -> stride record */
    ir_map scalar; /* uniform and affine: the scalar */
    ir_map vector; /* vector form */
    ir_map blocks;
    vectorize_result *result;
} vec;

/* Strides in bytes for pointers, units for integers. */
typedef struct {
    bool known;
    int64_t step;
} stride;

static void refuse(vec *v, LLVMValueRef where, const char *why)
{
    if (v->result->reason)
        return;
    v->result->reason = why;
    if (where) {
        v->result->line = LLVMGetDebugLocLine(where);
        v->result->col = LLVMGetDebugLocColumn(where);
    }
}

bool vectorize_source_has_vectors(LLVMValueRef kernel, unsigned *line)
{
    ir_each_block(b, kernel)
        ir_each_inst(i, b) {
            LLVMTypeRef t = LLVMTypeOf(i);

            if (LLVMIsAAllocaInst(i))
                t = LLVMGetAllocatedType(i);
            if (LLVMIsAStoreInst(i))
                t = LLVMTypeOf(LLVMGetOperand(i, 0));
            while (LLVMGetTypeKind(t) == LLVMArrayTypeKind)
                t = LLVMGetElementType(t);
            if (LLVMGetTypeKind(t) == LLVMVectorTypeKind) {
                *line = LLVMIsAAllocaInst(i) ? 0 : LLVMGetDebugLocLine(i);
                return true;
            }
        }
    return false;
}

/* --- strides ------------------------------------------------------------- */

static bool varies(const vec *v, LLVMValueRef x)
{
    return uniformity_varies(&v->u, x);
}

static bool stride_of(const vec *v, LLVMValueRef x, int64_t *step)
{
    const stride *s;

    if (!varies(v, x)) {
        *step = 0;
        return true;
    }
    s = ir_map_get(&v->stride, x);
    *step = s ? s->step : 0;
    return s && s->known;
}

static bool constant(LLVMValueRef x, int64_t *out)
{
    if (!LLVMIsAConstantInt(x) || LLVMGetIntTypeWidth(LLVMTypeOf(x)) > 64)
        return false;
    *out = LLVMConstIntGetSExtValue(x);
    return true;
}

static bool gep_stride(vec *v, LLVMValueRef i, int64_t *step)
{
    LLVMTypeRef t = LLVMGetGEPSourceElementType(i);
    int n = LLVMGetNumOperands(i);

    if (!stride_of(v, LLVMGetOperand(i, 0), step))
        return false;
    for (int k = 1; k < n; k++) {
        LLVMValueRef idx = LLVMGetOperand(i, (unsigned)k);
        int64_t s;

        if (k > 1 && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
            int64_t field;

            if (!constant(idx, &field))
                return false;
            t = LLVMStructGetTypeAtIndex(t, (unsigned)field);
            continue;
        }
        if (k > 1)
            t = LLVMGetElementType(t);
        if (!stride_of(v, idx, &s))
            return false;
        *step += s * (int64_t)LLVMABISizeOfType(v->td, t);
    }
    return true;
}

/* Stride of a varying instruction, assuming strides found so far. False: no
 * constant stride. */
static bool transfer(vec *v, LLVMValueRef i, int64_t *step)
{
    int64_t a, b, k;

    if (call_item_dimension(ir_call_id(i)) == 0) {
        *step = 1;
        return true;
    }
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMOr:
        if (LLVMGetInstructionOpcode(i) == LLVMOr && !LLVMGetIsDisjoint(i))
            return false;
        if (!stride_of(v, LLVMGetOperand(i, 0), &a) ||
            !stride_of(v, LLVMGetOperand(i, 1), &b))
            return false;
        *step = LLVMGetInstructionOpcode(i) == LLVMSub ? a - b : a + b;
        return true;
    case LLVMMul:
        if (constant(LLVMGetOperand(i, 1), &k) &&
            stride_of(v, LLVMGetOperand(i, 0), &a)) {
            *step = a * k;
            return true;
        }
        return false;
    case LLVMShl:
        if (constant(LLVMGetOperand(i, 1), &k) && k >= 0 && k < 32 &&
            stride_of(v, LLVMGetOperand(i, 0), &a)) {
            *step = a * ((int64_t)1 << k);
            return true;
        }
        return false;
    /* Not SExt and ZExt: narrow lanes may wrap, (ulong)(gid - 3u) does. */
    case LLVMTrunc:
        return LLVMGetIntTypeWidth(LLVMTypeOf(i)) >= 32 &&
               stride_of(v, LLVMGetOperand(i, 0), step);
    case LLVMGetElementPtr:
        return gep_stride(v, i, step);
    case LLVMPHI: { /* all known incoming strides agree */
        bool any = false;

        for (unsigned n = LLVMCountIncoming(i); n-- > 0;) {
            LLVMValueRef in = LLVMGetIncomingValue(i, n);

            if (varies(v, in) && !ir_map_get(&v->stride, in))
                continue; /* not visited yet: optimistic */
            if (!stride_of(v, in, &a) || (any && a != *step))
                return false;
            *step = a;
            any = true;
        }
        return any;
    }
    default:
        return false;
    }
}

/* Optimistic: unvisited is "agrees with everything"; records only go from
 * unvisited to known to unknown, so this ends. */
static void find_strides(vec *v)
{
    bool changed = true;

    ir_map_init(&v->stride, v->a);
    while (changed) {
        changed = false;
        ir_each_block(b, v->fn)
            ir_each_inst(i, b) {
                stride *s = ir_map_get(&v->stride, i);
                int64_t step = 0;
                LLVMTypeKind k = LLVMGetTypeKind(LLVMTypeOf(i));
                bool known;

                if (!varies(v, i) ||
                    (k != LLVMIntegerTypeKind && k != LLVMPointerTypeKind))
                    continue;
                known = transfer(v, i, &step);
                if (!s) {
                    s = arena_new(v->a, stride);
                    *s = (stride){known, step};
                    ir_map_set(&v->stride, i, s);
                    changed = true;
                } else if (s->known && (!known || s->step != step)) {
                    s->known = false;
                    changed = true;
                }
            }
    }
}

static bool is_affine(const vec *v, LLVMValueRef x)
{
    int64_t step;

    return varies(v, x) && stride_of(v, x, &step);
}

/* --- value forms --------------------------------------------------------- */

static LLVMValueRef k32(vec *v, uint64_t x)
{
    return LLVMConstInt(v->i32, x, false);
}

static LLVMTypeRef wide_type(vec *v, LLVMTypeRef t)
{
    return LLVMVectorType(t, v->n);
}

/* The scalar of a uniform value, or lane 0 of an affine one. */
static LLVMValueRef scalar(vec *v, LLVMValueRef x)
{
    return ir_mapped(&v->scalar, x);
}

static LLVMValueRef splat(vec *v, LLVMValueRef s)
{
    LLVMTypeRef t = wide_type(v, LLVMTypeOf(s));
    LLVMValueRef u = LLVMGetUndef(t);

    if (LLVMIsConstant(s) && !LLVMIsAGlobalValue(s)) {
        LLVMValueRef lanes[MAX_FACTOR];

        for (unsigned k = 0; k < v->n; k++)
            lanes[k] = s;
        return LLVMConstVector(lanes, v->n);
    }
    u = LLVMBuildInsertElement(v->b, u, s, k32(v, 0), "");
    return LLVMBuildShuffleVector(v->b, u, LLVMGetUndef(t),
                                  LLVMConstNull(LLVMVectorType(v->i32, v->n)),
                                  "");
}

static LLVMValueRef affine_vector(vec *v, LLVMValueRef s, int64_t step)
{
    LLVMValueRef lanes[MAX_FACTOR];

    for (unsigned k = 0; k < v->n; k++)
        lanes[k] =
            LLVMConstInt(LLVMTypeOf(s), (uint64_t)(step * (int64_t)k), true);
    return LLVMBuildAdd(v->b, splat(v, s), LLVMConstVector(lanes, v->n), "");
}

/* x as a vector at the builder's position. */
static LLVMValueRef vector(vec *v, LLVMValueRef x)
{
    LLVMValueRef got = ir_map_get(&v->vector, x);
    int64_t step;

    if (got)
        return got;
    if (!varies(v, x))
        return splat(v, scalar(v, x));
    if (stride_of(v, x, &step))
        return affine_vector(v, scalar(v, x), step);
    refuse(v, x,
           "a pointer differs between items in a way that is not "
           "base + index");
    return LLVMGetUndef(wide_type(v, LLVMTypeOf(x)));
}

static LLVMValueRef offset_ptr(vec *v, LLVMValueRef p, int64_t bytes)
{
    LLVMValueRef idx = k32(v, (uint64_t)bytes & 0xffffffffu);

    if (!bytes)
        return p;
    return LLVMBuildGEP2(v->b, LLVMInt8TypeInContext(v->c), p, &idx, 1, "");
}

/* Lane k of x: a scalar, at the builder's position. */
static LLVMValueRef lane(vec *v, LLVMValueRef x, unsigned k)
{
    int64_t step;

    if (!varies(v, x))
        return scalar(v, x);
    if (stride_of(v, x, &step)) {
        LLVMValueRef s = scalar(v, x);

        if (LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMPointerTypeKind)
            return offset_ptr(v, s, step * (int64_t)k);
        return LLVMBuildAdd(
            v->b, s,
            LLVMConstInt(LLVMTypeOf(s), (uint64_t)(step * (int64_t)k), true),
            "");
    }
    if (LLVMIsAGetElementPtrInst(x)) {
        int n = LLVMGetNumOperands(x);
        LLVMValueRef idx[8];

        if (n > 8) {
            refuse(v, x, "address expression too deep");
            n = 8;
        }
        for (int i = 1; i < n; i++)
            idx[i - 1] = lane(v, LLVMGetOperand(x, (unsigned)i), k);
        return LLVMBuildGEP2(v->b, LLVMGetGEPSourceElementType(x),
                             lane(v, LLVMGetOperand(x, 0), k), idx,
                             (unsigned)n - 1, "");
    }
    return LLVMBuildExtractElement(v->b, vector(v, x), k32(v, k), "");
}

/* --- instructions -------------------------------------------------------- */

static LLVMValueRef vec_load(vec *v, LLVMValueRef i)
{
    LLVMValueRef p = LLVMGetOperand(i, 0), r, l;
    LLVMTypeRef t = LLVMTypeOf(i), w = wide_type(v, t);
    int64_t step, size = (int64_t)LLVMABISizeOfType(v->td, t);

    if (stride_of(v, p, &step) && step == size) {
        l = LLVMBuildLoad2(v->b, w, scalar(v, p), "");
        LLVMSetAlignment(l, LLVMGetAlignment(i));
        return l;
    }
    r = LLVMGetUndef(w);
    for (unsigned k = 0; k < v->n; k++) {
        l = LLVMBuildLoad2(v->b, t, lane(v, p, k), "");
        LLVMSetAlignment(l, LLVMGetAlignment(i));
        r = LLVMBuildInsertElement(v->b, r, l, k32(v, k), "");
    }
    return r;
}

static void vec_store(vec *v, LLVMValueRef i)
{
    LLVMValueRef x = LLVMGetOperand(i, 0), p = LLVMGetOperand(i, 1), s;
    int64_t step, size = (int64_t)LLVMABISizeOfType(v->td, LLVMTypeOf(x));

    if (stride_of(v, p, &step) && step == size) {
        s = LLVMBuildStore(v->b, vector(v, x), scalar(v, p));
        LLVMSetAlignment(s, LLVMGetAlignment(i));
        return;
    }
    for (unsigned k = 0; k < v->n; k++) {
        s = LLVMBuildStore(v->b, lane(v, x, k), lane(v, p, k));
        LLVMSetAlignment(s, LLVMGetAlignment(i));
    }
}

static LLVMValueRef vec_intrinsic(vec *v, LLVMValueRef i, unsigned id)
{
    LLVMTypeRef over[2], w = wide_type(v, LLVMTypeOf(i)), t;
    unsigned n = LLVMGetNumArgOperands(i), n_over = 1;
    LLVMValueRef args[4];
    size_t len;
    const char *name = LLVMIntrinsicGetName(id, &len);
    bool imm_last = !strcmp(name, "llvm.abs") || !strcmp(name, "llvm.ctlz") ||
                    !strcmp(name, "llvm.cttz") ||
                    !strcmp(name, "llvm.is.fpclass");

    over[0] = w;
    for (unsigned k = 0; k < n; k++)
        args[k] = imm_last && k == n - 1 ? LLVMGetOperand(i, k)
                                         : vector(v, LLVMGetOperand(i, k));
    if ((strstr(name, ".sat") && strstr(name, "llvm.fpto")) ||
        !strcmp(name, "llvm.ucmp") || !strcmp(name, "llvm.scmp")) {
        over[1] = LLVMTypeOf(args[0]);
        n_over = 2;
    } else if (!strcmp(name, "llvm.is.fpclass")) {
        over[0] = LLVMTypeOf(args[0]);
    }
    t = LLVMIntrinsicGetType(v->c, id, over, n_over);
    return LLVMBuildCall2(v->b, t,
                          LLVMGetIntrinsicDeclaration(v->m, id, over, n_over),
                          args, n, "");
}

static LLVMValueRef lane_calls(vec *v, LLVMValueRef i)
{
    LLVMValueRef r = LLVMGetUndef(wide_type(v, LLVMTypeOf(i))), args[4];
    unsigned n = LLVMGetNumArgOperands(i);

    for (unsigned k = 0; k < v->n; k++) {
        for (unsigned p = 0; p < n && p < 4; p++)
            args[p] = lane(v, LLVMGetOperand(i, p), k);
        r = LLVMBuildInsertElement(
            v->b, r,
            LLVMBuildCall2(v->b, LLVMGetCalledFunctionType(i),
                           LLVMGetCalledValue(i), args, n, ""),
            k32(v, k), "");
    }
    return r;
}

static LLVMValueRef vec_call(vec *v, LLVMValueRef i)
{
    LLVMValueRef f = LLVMGetCalledValue(i);
    unsigned id = LLVMGetIntrinsicID(f);

    if (id)
        return vec_intrinsic(v, i, id);
    if (LLVMGetNumArgOperands(i) > 4 ||
        LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVoidTypeKind) {
        refuse(v, i, "a call that cannot be repeated per lane");
        return NULL;
    }
    return lane_calls(v, i);
}

/* A varying, non-affine instruction (never a phi) as a vector. */
static LLVMValueRef vec_inst(vec *v, LLVMValueRef i)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    LLVMTypeRef t = LLVMTypeOf(i);
#define OPND(k) vector(v, LLVMGetOperand(i, k))

    switch (op) {
    case LLVMLoad:
        return vec_load(v, i);
    case LLVMCall:
        return vec_call(v, i);
    case LLVMICmp:
        return LLVMBuildICmp(v->b, LLVMGetICmpPredicate(i), OPND(0), OPND(1),
                             "");
    case LLVMFCmp:
        return LLVMBuildFCmp(v->b, LLVMGetFCmpPredicate(i), OPND(0), OPND(1),
                             "");
    case LLVMSelect:
        if (!varies(v, LLVMGetOperand(i, 0)))
            return LLVMBuildSelect(v->b, scalar(v, LLVMGetOperand(i, 0)),
                                   OPND(1), OPND(2), "");
        return LLVMBuildSelect(v->b, OPND(0), OPND(1), OPND(2), "");
    case LLVMFNeg:
        return LLVMBuildFNeg(v->b, OPND(0), "");
    case LLVMFreeze:
        return LLVMBuildFreeze(v->b, OPND(0), "");
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMFPTrunc:
    case LLVMFPExt:
    case LLVMFPToSI:
    case LLVMFPToUI:
    case LLVMSIToFP:
    case LLVMUIToFP:
    case LLVMBitCast:
        return LLVMBuildCast(v->b, op, OPND(0), wide_type(v, t), "");
    default:
        if (LLVMIsABinaryOperator(i))
            return LLVMBuildBinOp(v->b, op, OPND(0), OPND(1), "");
        refuse(v, i, "an operation that has no vector form");
        return LLVMGetUndef(wide_type(v, t));
    }
#undef OPND
}

/* A transfer or wait whose arguments differ between items, as none should. */
static bool is_uneven(vec *v, LLVMValueRef i)
{
    if (!call_is_collective(ir_call_id(i)))
        return false;
    for (unsigned k = 0; k < LLVMGetNumArgOperands(i); k++) {
        LLVMValueRef op = LLVMGetOperand(i, k);

        if (varies(v, op) && !is_affine(v, op))
            return true;
    }
    return false;
}

/* What no form exists for; said before anything is built. */
static void check(vec *v, LLVMValueRef i)
{
    LLVMTypeKind k = LLVMGetTypeKind(LLVMTypeOf(i));

    if (LLVMIsAAllocaInst(i))
        refuse(v, i, "a private array is left after optimisation");
    else if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i))
        refuse(v, i, "atomic operations");
    else if (k == LLVMVectorTypeKind)
        refuse(v, i, "vector types");
    else if (varies(v, i) &&
             (k == LLVMStructTypeKind || k == LLVMArrayTypeKind))
        refuse(v, i, "structures that differ between items");
    else if (varies(v, i) && k == LLVMPointerTypeKind && !is_affine(v, i) &&
             !LLVMIsAGetElementPtrInst(i))
        refuse(v, i,
               "a pointer that differs between items in a way that is "
               "not base + index");
    else if (!strncmp(ir_callee(i), "llvm.mem", 8))
        refuse(v, i, "block copies");
    else if (call_is_for_each(ir_call_id(i)))
        refuse(v, i, "a call that each item makes for itself");
    else if (is_uneven(v, i))
        refuse(v, i, "a transfer whose arguments differ between items");
}

static bool droppable(LLVMValueRef i)
{
    const char *c = ir_callee(i);

    return !strncmp(c, "llvm.lifetime", 13) || !strncmp(c, "llvm.dbg", 8) ||
           !strncmp(c, "llvm.assume", 11);
}

static void emit(vec *v, LLVMValueRef i)
{
    LLVMValueRef r;
    bool any = false;

    LLVMSetCurrentDebugLocation2(v->b, LLVMInstructionGetDebugLoc(i));
    if (droppable(i))
        return;
    if (LLVMIsAPHINode(i)) {
        LLVMTypeRef t = LLVMTypeOf(i);
        bool wide = varies(v, i) && !is_affine(v, i);

        r = LLVMBuildPhi(v->b, wide ? wide_type(v, t) : t, "");
        ir_map_set(wide ? &v->vector : &v->scalar, i, r);
        return;
    }
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        any |= varies(v, LLVMGetOperand(i, (unsigned)k));
    if (LLVMIsAStoreInst(i) && any) {
        vec_store(v, i);
        return;
    }
    if (!varies(v, i) || is_affine(v, i)) {
        /* The scalar map gives lane 0 of affine operands: what is wanted. */
        r = ir_clone(v->b, i, &v->scalar);
        ir_map_set(&v->scalar, i, r);
        return;
    }
    if (LLVMIsAGetElementPtrInst(i))
        return; /* built per lane where it is used */
    r = vec_inst(v, i);
    ir_map_set(&v->vector, i, r);
}

static void emit_terminator(vec *v, LLVMValueRef t)
{
    LLVMValueRef r;

    LLVMSetCurrentDebugLocation2(v->b, LLVMInstructionGetDebugLoc(t));
    r = ir_clone(v->b, t, &v->scalar);
    for (unsigned k = 0; k < LLVMGetNumSuccessors(t); k++)
        LLVMSetSuccessor(r, k, ir_map_get(&v->blocks, LLVMGetSuccessor(t, k)));
}

static void fill_phi(vec *v, LLVMValueRef i)
{
    bool wide = varies(v, i) && !is_affine(v, i);
    LLVMValueRef to = ir_map_get(wide ? &v->vector : &v->scalar, i);

    for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
        LLVMBasicBlockRef from =
            ir_map_get(&v->blocks, LLVMGetIncomingBlock(i, k));
        LLVMValueRef in = LLVMGetIncomingValue(i, k), x;

        x = ir_incoming_from(to, from);
        if (!x) {
            LLVMPositionBuilderBefore(v->b, LLVMGetBasicBlockTerminator(from));
            x = wide ? vector(v, in) : scalar(v, in);
        }
        LLVMAddIncoming(to, &x, &from, 1);
    }
}

static void build(vec *v)
{
    unsigned n_params = LLVMCountParams(v->fn);
    LLVMValueRef *params = arena_array(v->a, LLVMValueRef, n_params + 1);
    ir_cfg cfg;
    uint32_t *order, n = 0;
    ir_word *seen;
    char name[256];
    size_t len;

    snprintf(name, sizeof name, "%.200s.vectorized",
             LLVMGetValueName2(v->fn, &len));
    v->out = LLVMAddFunction(v->m, name, LLVMGlobalGetValueType(v->fn));
    LLVMSetFunctionCallConv(v->out, LLVMGetFunctionCallConv(v->fn));
    ir_copy_param_attrs(v->fn, v->out, n_params);
    LLVMGetParams(v->out, params);
    ir_map_init(&v->scalar, v->a);
    ir_map_init(&v->vector, v->a);
    ir_map_init(&v->blocks, v->a);
    for (unsigned k = 0; k < n_params; k++)
        ir_map_set(&v->scalar, LLVMGetParam(v->fn, k), params[k]);
    ir_cfg_build(&cfg, v->fn, v->a);
    order = arena_array(v->a, uint32_t, cfg.n_blocks);
    seen = ir_bits(v->a, cfg.n_blocks);
    for (uint32_t k = 0; k < cfg.n_blocks; k++)
        ir_map_set(&v->blocks, cfg.blocks[k],
                   LLVMAppendBasicBlockInContext(v->c, v->out, ""));
    n = ir_post_order(&cfg, order, seen);
    while (n-- > 0) {
        LLVMBasicBlockRef from = cfg.blocks[order[n]];
        LLVMValueRef t = LLVMGetBasicBlockTerminator(from);

        LLVMPositionBuilderAtEnd(v->b, ir_map_get(&v->blocks, from));
        ir_each_inst(i, from)
            if (i != t)
                emit(v, i);
        emit_terminator(v, t);
    }
    ir_each_block(b, v->fn)
        ir_each_inst(i, b)
            if (LLVMIsAPHINode(i) && ir_bit(seen, ir_cfg_number(&cfg, b)))
                fill_phi(v, i);
}

/* 128 bits hold 8 halves or 4 words: the smallest element that items load or
 * store next to each other decides. Without such accesses there is nothing to
 * gain. */
static unsigned choose_factor(vec *v)
{
    unsigned smallest = 0;

    ir_each_block(b, v->fn)
        ir_each_inst(i, b) {
            LLVMValueRef p;
            LLVMTypeRef t;
            unsigned bits;

            if (LLVMIsALoadInst(i)) {
                p = LLVMGetOperand(i, 0);
                t = LLVMTypeOf(i);
            } else if (LLVMIsAStoreInst(i)) {
                p = LLVMGetOperand(i, 1);
                t = LLVMTypeOf(LLVMGetOperand(i, 0));
            } else {
                continue;
            }
            bits = ir_bits_of(t);
            if (varies(v, p) && bits && (!smallest || bits < smallest))
                smallest = bits;
        }
    return !smallest ? 0 : smallest <= 16 ? 8 : 4;
}

void vectorize(LLVMValueRef fn, arena *a, vectorize_result *out)
{
    vec v = {.a = a, .fn = fn, .result = out};

    *out = (vectorize_result){0};
    v.m = LLVMGetGlobalParent(fn);
    v.c = LLVMGetModuleContext(v.m);
    v.td = LLVMGetModuleDataLayout(v.m);
    v.i32 = LLVMInt32TypeInContext(v.c);
    uniformity_analyse(&v.u, fn, 1, a);
    if (v.u.divergent) {
        refuse(&v, v.u.divergent, "control flow differs between items");
        return;
    }
    find_strides(&v);
    ir_each_block(b, fn)
        ir_each_inst(i, b)
            check(&v, i);
    v.n = choose_factor(&v);
    if (!v.n)
        refuse(&v, NULL, "no access differs between items of dimension 0");
    if (out->reason)
        return;
    v.b = LLVMCreateBuilderInContext(v.c);
    build(&v);
    LLVMDisposeBuilder(v.b);
    if (out->reason) {
        /* Found late (an address too deep): drop the half-built function. */
        LLVMDeleteFunction(v.out);
        return;
    }
    out->factor = v.n;
    out->fn = v.out;
}
