/* Tests in front of operations whose result OpenCL leaves open, or that leave
 * the range of their type. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "sim/compiler/check/instrument_priv.h"

static bool is_float_type(LLVMTypeRef t)
{
    LLVMTypeKind k = LLVMGetTypeKind(ir_element(t));

    return k == LLVMHalfTypeKind || k == LLVMFloatTypeKind;
}

static LLVMValueRef splat(LLVMTypeRef t, LLVMValueRef v)
{
    LLVMValueRef lanes[16];
    unsigned n = ir_lanes(t);

    if (LLVMGetTypeKind(t) != LLVMVectorTypeKind)
        return v;
    for (unsigned k = 0; k < n && k < 16; k++)
        lanes[k] = v;
    return LLVMConstVector(lanes, n);
}

static LLVMValueRef k_int(LLVMTypeRef t, uint64_t v)
{
    return splat(t, LLVMConstInt(ir_element(t), v, false));
}

static LLVMValueRef k_float(LLVMTypeRef t, double v)
{
    return splat(t, LLVMConstReal(ir_element(t), v));
}

/* In any lane. */
static LLVMValueRef any(instrument *x, LLVMValueRef cond)
{
    LLVMTypeRef t = LLVMTypeOf(cond), bits;

    if (LLVMGetTypeKind(t) != LLVMVectorTypeKind)
        return cond;
    bits = LLVMIntTypeInContext(x->context, LLVMGetVectorSize(t));
    return LLVMBuildICmp(x->builder, LLVMIntNE,
                         LLVMBuildBitCast(x->builder, cond, bits, ""),
                         LLVMConstNull(bits), "");
}

/* The lane of v that is the first with wrong; the last, where none is. */
static LLVMValueRef first_lane(instrument *x, LLVMValueRef v,
                               LLVMValueRef wrong)
{
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(v));
    LLVMValueRef lane =
        LLVMBuildExtractElement(x->builder, v, instrument_k32(x, n - 1), "");

    for (unsigned k = n - 1; k-- > 0;) {
        LLVMValueRef at = instrument_k32(x, k);

        lane = LLVMBuildSelect(
            x->builder, LLVMBuildExtractElement(x->builder, wrong, at, ""),
            LLVMBuildExtractElement(x->builder, v, at, ""), lane, "");
    }
    return lane;
}

/* For the report: a value's bits, of a vector the first wrong lane's. */
static LLVMValueRef as_i64(instrument *x, LLVMValueRef v, LLVMValueRef wrong,
                           bool is_signed)
{
    LLVMTypeRef t = LLVMTypeOf(v);

    if (LLVMGetTypeKind(t) == LLVMVectorTypeKind) {
        v = first_lane(x, v, wrong);
        t = LLVMTypeOf(v);
    }
    if (is_float_type(t))
        v = LLVMBuildBitCast(
            x->builder, v, LLVMIntTypeInContext(x->context, ir_bits_of(t)), "");
    return LLVMBuildIntCast2(x->builder, v, x->i64, is_signed, "");
}

/* What an operation is tested for. */
typedef struct {
    sim_site_kind kind;
    LLVMValueRef wrong;         /* i1, or a vector of them */
    LLVMValueRef first, second; /* operands, for the report */
    bool is_signed;
    uint32_t bits;
} doubt;

/* Returns the site. */
static uint32_t test(instrument *x, LLVMValueRef i, const doubt *d)
{
    uint32_t n = instrument_site(x, d->kind, i, x->variant, 0);
    sim_site *s = &x->sites->sites[n];
    LLVMValueRef args[4];

    s->is_signed = d->is_signed;
    s->bits = d->bits;
    s->element_bytes = ir_bits_of(ir_element(LLVMTypeOf(d->first))) / 8;
    args[0] = instrument_k32(x, n);
    args[1] = any(x, d->wrong);
    args[2] = as_i64(x, d->first, d->wrong, d->is_signed);
    args[3] = as_i64(x, d->second, d->wrong, d->is_signed);
    instrument_call(x, &(const ir_call){CALL_check_if, x->void_type, args, 4},
                    i);
    return n;
}

static void index_below(instrument *x, LLVMValueRef i, LLVMValueRef index,
                        uint64_t length)
{
    LLVMTypeRef t = LLVMTypeOf(index);

    if (length < 2 || length > INT32_MAX ||
        (LLVMIsAConstantInt(index) && LLVMConstIntGetZExtValue(index) < length))
        return;
    test(x, i,
         &(const doubt){.kind = SITE_INDEX,
                        .wrong = LLVMBuildICmp(x->builder, LLVMIntUGE, index,
                                               k_int(t, length), ""),
                        .first = index,
                        .second = index,
                        .is_signed = true,
                        .bits = (uint32_t)length});
}

static bool is_of_type(LLVMValueRef variable, LLVMTypeRef t)
{
    if (LLVMIsAAllocaInst(variable))
        return LLVMGetAllocatedType(variable) == t;
    return LLVMIsAGlobalVariable(variable) &&
           LLVMGlobalGetValueType(variable) == t;
}

void instrument_indices(instrument *x, LLVMValueRef i, LLVMValueRef p)
{
    LLVMTypeRef t;
    bool whole;

    if (!LLVMIsAGetElementPtrInst(p))
        return;
    instrument_indices(x, i, LLVMGetOperand(p, 0));
    LLVMPositionBuilderBefore(x->builder, i);
    /* The first index of an array that is all of its memory: bounds tell. */
    t = LLVMGetGEPSourceElementType(p);
    whole = is_of_type(LLVMGetOperand(p, 0), t);
    for (unsigned k = 2; k < (unsigned)LLVMGetNumOperands(p); k++) {
        LLVMValueRef index = LLVMGetOperand(p, k);

        if (LLVMGetTypeKind(t) == LLVMStructTypeKind) {
            t = LLVMStructGetTypeAtIndex(
                t, (unsigned)LLVMConstIntGetZExtValue(index));
        } else if (LLVMGetTypeKind(t) == LLVMArrayTypeKind) {
            if (!whole || k > 2)
                index_below(x, i, index, LLVMGetArrayLength2(t));
            t = LLVMGetElementType(t);
        } else {
            return;
        }
    }
}

static void divide(instrument *x, LLVMValueRef i, bool is_signed)
{
    LLVMValueRef a = LLVMGetOperand(i, 0), b = LLVMGetOperand(i, 1), wrong;
    LLVMTypeRef t = LLVMTypeOf(b);
    unsigned bits = ir_bits_of(ir_element(t));

    if (LLVMIsAConstantInt(b) && LLVMConstIntGetSExtValue(b) != 0 &&
        (!is_signed || LLVMConstIntGetSExtValue(b) != -1))
        return;
    wrong = LLVMBuildICmp(x->builder, LLVMIntEQ, b, LLVMConstNull(t), "");
    if (is_signed) {
        LLVMValueRef least = LLVMBuildICmp(
            x->builder, LLVMIntEQ, a, k_int(t, UINT64_C(1) << (bits - 1)), "");
        LLVMValueRef minus =
            LLVMBuildICmp(x->builder, LLVMIntEQ, b, LLVMConstAllOnes(t), "");

        wrong = LLVMBuildOr(x->builder, wrong,
                            LLVMBuildAnd(x->builder, least, minus, ""), "");
    }
    test(x, i,
         &(const doubt){.kind = SITE_DIVIDE,
                        .wrong = wrong,
                        .first = a,
                        .second = b,
                        .is_signed = is_signed,
                        .bits = bits});
}

/* OpenCL C takes a shift's distance modulo the width: clang writes the mask,
 * and what it masks is what the source says. */
static void shift(instrument *x, LLVMValueRef i)
{
    LLVMValueRef by = LLVMGetOperand(i, 1), mask;
    LLVMTypeRef t = LLVMTypeOf(by);
    unsigned bits = ir_bits_of(ir_element(t));

    if (!LLVMIsABinaryOperator(by) || LLVMGetInstructionOpcode(by) != LLVMAnd)
        return;
    mask = LLVMGetOperand(by, 1);
    if (mask != k_int(t, bits - 1))
        return;
    by = LLVMGetOperand(by, 0);
    test(x, i,
         &(const doubt){.kind = SITE_SHIFT,
                        .wrong = LLVMBuildICmp(x->builder, LLVMIntUGE, by,
                                               k_int(t, bits), ""),
                        .first = by,
                        .second = by,
                        .is_signed = true,
                        .bits = bits});
}

static LLVMValueRef *same(instrument *x, LLVMValueRef v, unsigned n)
{
    LLVMValueRef *lanes = arena_array(x->arena, LLVMValueRef, n);

    for (unsigned k = 0; k < n; k++)
        lanes[k] = v;
    return lanes;
}

static void to_int(instrument *x, LLVMValueRef i, bool is_signed)
{
    LLVMValueRef v = LLVMGetOperand(i, 0), low, high, good, from;
    LLVMTypeRef t = LLVMTypeOf(v);
    unsigned bits = ir_bits_of(ir_element(LLVMTypeOf(i)));
    double top = ldexp(1, (int)(is_signed ? bits - 1 : bits));

    /* Truncated towards zero: from above -1 to below 2^n. In half, whose
     * greatest number is 65504, a bound beyond it is infinite and excludes
     * infinity alone. */
    if (is_signed)
        low = LLVMBuildFCmp(x->builder, LLVMRealOGE, v, k_float(t, -top), "");
    else
        low = LLVMBuildFCmp(x->builder, LLVMRealOGT, v, k_float(t, -1), "");
    if (is_signed && ir_bits_of(ir_element(t)) == 16 && top > 65504)
        low = LLVMBuildFCmp(x->builder, LLVMRealOGT, v, k_float(t, -INFINITY),
                            "");
    high = LLVMBuildFCmp(x->builder, LLVMRealOLT, v, k_float(t, top), "");
    good = LLVMBuildAnd(x->builder, low, high, "");
    from = instrument_k32(
        x, test(x, i,
                &(const doubt){.kind = SITE_TO_INT,
                               .wrong = LLVMBuildNot(x->builder, good, ""),
                               .first = v,
                               .second = v,
                               .is_signed = is_signed,
                               .bits = bits}));
    if (!x->what->taint)
        return;
    from = LLVMGetTypeKind(t) == LLVMVectorTypeKind
               ? LLVMConstVector(same(x, from, ir_lanes(t)), ir_lanes(t))
               : from;
    ir_map_set(&x->converted, i,
               LLVMBuildSelect(x->builder, good,
                               LLVMConstNull(LLVMTypeOf(from)), from, ""));
}

/* |v| == inf; with nan: or v is none. */
static LLVMValueRef not_finite(instrument *x, LLVMValueRef v, bool nan)
{
    LLVMTypeRef t = LLVMTypeOf(v);
    LLVMRealPredicate equal = nan ? LLVMRealUEQ : LLVMRealOEQ;

    return LLVMBuildOr(
        x->builder,
        LLVMBuildFCmp(x->builder, equal, v, k_float(t, INFINITY), ""),
        LLVMBuildFCmp(x->builder, equal, v, k_float(t, -INFINITY), ""), "");
}

/* Of halves infinity is SITE_HALF's. */
static LLVMValueRef wrong_result(instrument *x, LLVMValueRef i,
                                 sim_site_kind kind)
{
    bool half = LLVMGetTypeKind(ir_element(LLVMTypeOf(i))) == LLVMHalfTypeKind;

    return half && kind == SITE_NAN
               ? LLVMBuildFCmp(x->builder, LLVMRealUNO, i, i, "")
               : not_finite(x, i, kind == SITE_NAN);
}

/* The test needs the result: it goes behind i. */
static void range(instrument *x, LLVMValueRef i, unsigned n_operands,
                  sim_site_kind kind)
{
    LLVMValueRef wrong, first = NULL;

    LLVMPositionBuilderBefore(x->builder, LLVMGetNextInstruction(i));
    wrong = wrong_result(x, i, kind);
    for (unsigned k = 0; k < n_operands; k++) {
        LLVMValueRef op = LLVMGetOperand(i, k), bad;

        if (!is_float_type(LLVMTypeOf(op)))
            continue;
        if (!first)
            first = op;
        bad = not_finite(x, op, true);
        if (ir_lanes(LLVMTypeOf(bad)) != ir_lanes(LLVMTypeOf(wrong)))
            return;
        wrong = LLVMBuildAnd(x->builder, wrong,
                             LLVMBuildNot(x->builder, bad, ""), "");
    }
    if (first)
        test(x, i,
             &(const doubt){.kind = kind,
                            .wrong = wrong,
                            .first = first,
                            .second =
                                n_operands > 1 ? LLVMGetOperand(i, 1) : first});
}

static void ranges(instrument *x, LLVMValueRef i, unsigned n_operands)
{
    if (LLVMGetTypeKind(ir_element(LLVMTypeOf(i))) == LLVMHalfTypeKind)
        range(x, i, n_operands, SITE_HALF);
    if (x->what->nan)
        range(x, i, n_operands, SITE_NAN);
}

static void from_int(instrument *x, LLVMValueRef i, bool is_signed)
{
    LLVMValueRef v = LLVMGetOperand(i, 0);
    LLVMTypeRef t = LLVMTypeOf(v);

    LLVMPositionBuilderBefore(x->builder, LLVMGetNextInstruction(i));
    test(x, i,
         &(const doubt){.kind = SITE_HALF,
                        .wrong = not_finite(x, i, false),
                        .first = v,
                        .second = v,
                        .is_signed = is_signed,
                        .bits = ir_bits_of(ir_element(t))});
}

/* Of the host's or LLVM's mathematics. */
static bool is_routine(LLVMValueRef i)
{
    return is_float_type(LLVMTypeOf(i)) &&
           (!strncmp(ir_callee(i), "llvm.", 5) ||
            call_takes_floats(ir_call_id(i)));
}

void instrument_arithmetic(instrument *x, LLVMValueRef i)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    bool half = LLVMGetTypeKind(ir_element(LLVMTypeOf(i))) == LLVMHalfTypeKind;

    if (x->what->barriers || ir_lanes(LLVMTypeOf(i)) > 16)
        return;
    LLVMPositionBuilderBefore(x->builder, i);
    switch (op) {
    case LLVMSDiv:
    case LLVMSRem:
        divide(x, i, true);
        return;
    case LLVMUDiv:
    case LLVMURem:
        divide(x, i, false);
        return;
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
        shift(x, i);
        return;
    case LLVMFPToSI:
        to_int(x, i, true);
        return;
    case LLVMFPToUI:
        to_int(x, i, false);
        return;
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv:
    case LLVMFRem:
    case LLVMFPTrunc:
        ranges(x, i, op == LLVMFPTrunc ? 1 : 2);
        return;
    case LLVMSIToFP:
    case LLVMUIToFP:
        if (half)
            from_int(x, i, op == LLVMSIToFP);
        return;
    case LLVMCall:
        if (ir_unsaturated(i))
            to_int(x, i, !strncmp(ir_callee(i), "llvm.fptosi", 11));
        else if (is_routine(i))
            ranges(x, i, LLVMGetNumArgOperands(i));
        return;
    default:
        return;
    }
}
