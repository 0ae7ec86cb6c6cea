/* Built-ins on integers, shuffles, and the SHAVE's own instructions. */
#include "sim/compiler/expand/expand_priv.h"

#include <stdio.h>
#include <string.h>

static LLVMValueRef by_sign(xp *x, const char *stem, LLVMValueRef a,
                            LLVMValueRef b)
{
    LLVMTypeRef t = LLVMTypeOf(a);
    LLVMValueRef args[2] = {a, b};
    char name[24];

    snprintf(name, sizeof name, "llvm.%c%s", xp_is_signed(x, 0) ? 's' : 'u',
             stem);
    return xp_intrinsic(x, name, &t, 1, args, 2);
}

LLVMValueRef x_int_abs(xp *x)
{
    LLVMTypeRef t = xp_result(x);
    LLVMValueRef args[2] = {
        xp_arg(x, 0),
        LLVMConstInt(LLVMInt1TypeInContext(x->context), 0, false)};

    return xp_is_signed(x, 0) ? xp_intrinsic(x, "llvm.abs", &t, 1, args, 2)
                              : args[0];
}

LLVMValueRef x_abs_diff(xp *x)
{
    LLVMValueRef a = xp_arg(x, 0), b = xp_arg(x, 1);

    return LLVMBuildSub(x->builder, by_sign(x, "max", a, b),
                        by_sign(x, "min", a, b), "");
}

LLVMValueRef x_saturate(xp *x)
{
    return by_sign(x, x->data[0] == 'a' ? "add.sat" : "sub.sat", xp_arg(x, 0),
                   xp_arg(x, 1));
}

/* (a + b) >> 1 and (a + b + 1) >> 1 without the carry getting lost. */
LLVMValueRef x_hadd(xp *x)
{
    LLVMValueRef a = xp_arg(x, 0), b = xp_arg(x, 1), half, common;

    half = LLVMBuildXor(x->builder, a, b, "");
    half =
        xp_is_signed(x, 0)
            ? LLVMBuildAShr(x->builder, half, xp_int(x, xp_result(x), 1), "")
            : LLVMBuildLShr(x->builder, half, xp_int(x, xp_result(x), 1), "");
    common = x->data[0] ? LLVMBuildOr(x->builder, a, b, "")
                        : LLVMBuildAnd(x->builder, a, b, "");
    return x->data[0] ? LLVMBuildSub(x->builder, common, half, "")
                      : LLVMBuildAdd(x->builder, common, half, "");
}

static LLVMTypeRef doubled(xp *x, LLVMTypeRef t)
{
    LLVMTypeRef e =
        LLVMIntTypeInContext(x->context, 2 * ir_bits_of(ir_element(t)));

    return ir_lanes(t) > 1 ? LLVMVectorType(e, ir_lanes(t)) : e;
}

static LLVMValueRef widened(xp *x, unsigned i, LLVMTypeRef to)
{
    return LLVMBuildIntCast2(x->builder, xp_arg(x, i), to, xp_is_signed(x, 0),
                             "");
}

/* --- products wider than the operands. Up to 32 bits the wider type is one
 * the device has; 64 bits are multiplied in halves. */

typedef struct {
    LLVMValueRef lo, hi;
} product;

static LLVMValueRef shifted(xp *x, LLVMValueRef v, uint64_t n)
{
    return LLVMBuildLShr(x->builder, v, xp_int(x, LLVMTypeOf(v), n), "");
}

static LLVMValueRef low_half(xp *x, LLVMValueRef v)
{
    return LLVMBuildAnd(x->builder, v, xp_int(x, LLVMTypeOf(v), UINT32_MAX),
                        "");
}

/* other where v is negative, else 0 */
static LLVMValueRef if_negative(xp *x, LLVMValueRef v, LLVMValueRef other)
{
    LLVMTypeRef t = LLVMTypeOf(v);

    return LLVMBuildAnd(x->builder,
                        LLVMBuildAShr(x->builder, v, xp_int(x, t, 63), ""),
                        other, "");
}

static product wide_product(xp *x, LLVMValueRef a, LLVMValueRef b)
{
    LLVMBuilderRef q = x->builder;
    LLVMValueRef al = low_half(x, a), ah = shifted(x, a, 32);
    LLVMValueRef bl = low_half(x, b), bh = shifted(x, b, 32), t, u, hi;

    t = LLVMBuildAdd(q, LLVMBuildMul(q, ah, bl, ""),
                     shifted(x, LLVMBuildMul(q, al, bl, ""), 32), "");
    u = LLVMBuildAdd(q, LLVMBuildMul(q, al, bh, ""), low_half(x, t), "");
    hi = LLVMBuildAdd(q, LLVMBuildMul(q, ah, bh, ""), shifted(x, t, 32), "");
    hi = LLVMBuildAdd(q, hi, shifted(x, u, 32), "");
    if (xp_is_signed(x, 0)) {
        hi = LLVMBuildSub(q, hi, if_negative(x, a, b), "");
        hi = LLVMBuildSub(q, hi, if_negative(x, b, a), "");
    }
    return (product){LLVMBuildMul(q, a, b, ""), hi};
}

static bool is_64(LLVMTypeRef t)
{
    return ir_bits_of(ir_element(t)) == 64;
}

/* mul_hi(a, b), and mad_hi(a, b, c) = mul_hi(a, b) + c */
LLVMValueRef x_mul_hi(xp *x)
{
    LLVMTypeRef t = xp_result(x), w;
    LLVMValueRef p;

    if (is_64(t)) {
        p = wide_product(x, xp_arg(x, 0), xp_arg(x, 1)).hi;
    } else {
        w = doubled(x, t);
        p = LLVMBuildMul(x->builder, widened(x, 0, w), widened(x, 1, w), "");
        p = shifted(x, p, ir_bits_of(ir_element(t)));
        p = LLVMBuildTrunc(x->builder, p, t, "");
    }
    return x->n_args == 3 ? LLVMBuildAdd(x->builder, p, xp_arg(x, 2), "") : p;
}

static LLVMValueRef mad_sat_64(xp *x)
{
    LLVMTypeRef t = xp_result(x);
    LLVMBuilderRef q = x->builder;
    LLVMValueRef c = xp_arg(x, 2), max = xp_int(x, t, INT64_MAX), lost;
    product p = wide_product(x, xp_arg(x, 0), xp_arg(x, 1));

    p.lo = LLVMBuildAdd(q, p.lo, c, "");
    p.hi = LLVMBuildAdd(
        q, p.hi,
        LLVMBuildZExt(q, LLVMBuildICmp(q, LLVMIntULT, p.lo, c, ""), t, ""), "");
    if (!xp_is_signed(x, 0)) {
        lost = LLVMBuildICmp(q, LLVMIntNE, p.hi, xp_int(x, t, 0), "");
        return LLVMBuildSelect(q, lost, xp_int(x, t, UINT64_MAX), p.lo, "");
    }
    p.hi =
        LLVMBuildAdd(q, p.hi, if_negative(x, c, xp_int(x, t, UINT64_MAX)), "");
    lost = LLVMBuildICmp(q, LLVMIntNE, p.hi,
                         LLVMBuildAShr(q, p.lo, xp_int(x, t, 63), ""), "");
    /* The greatest, or the least when the sum is below zero. */
    max =
        LLVMBuildXor(q, max, LLVMBuildAShr(q, p.hi, xp_int(x, t, 63), ""), "");
    return LLVMBuildSelect(q, lost, max, p.lo, "");
}

LLVMValueRef x_mad_sat(xp *x)
{
    LLVMTypeRef t = xp_result(x), w = doubled(x, t);
    unsigned bits = ir_bits_of(ir_element(t));
    LLVMValueRef p, top, low;

    if (is_64(t))
        return mad_sat_64(x);
    p = LLVMBuildMul(x->builder, widened(x, 0, w), widened(x, 1, w), "");
    p = LLVMBuildAdd(x->builder, p, widened(x, 2, w), "");
    if (xp_is_signed(x, 0)) {
        top = xp_int(x, w, (UINT64_C(1) << (bits - 1)) - 1);
        low = LLVMBuildNot(x->builder, top, "");
        p = by_sign(x, "max", p, low);
    } else {
        top = xp_int(x, w, UINT64_MAX >> (64 - bits));
    }
    return LLVMBuildTrunc(x->builder, by_sign(x, "min", p, top), t, "");
}

LLVMValueRef x_rotate(xp *x)
{
    LLVMTypeRef t = xp_result(x);
    LLVMValueRef args[3] = {xp_arg(x, 0), xp_arg(x, 0), xp_arg(x, 1)};

    return xp_intrinsic(x, "llvm.fshl", &t, 1, args, 3);
}

LLVMValueRef x_upsample(xp *x)
{
    LLVMTypeRef t = xp_result(x);
    unsigned low_bits = ir_bits_of(ir_element(LLVMTypeOf(xp_arg(x, 1))));
    LLVMValueRef hi = LLVMBuildZExt(x->builder, xp_arg(x, 0), t, "");

    hi = LLVMBuildShl(x->builder, hi, xp_int(x, t, low_bits), "");
    return LLVMBuildOr(x->builder, hi,
                       LLVMBuildZExt(x->builder, xp_arg(x, 1), t, ""), "");
}

/* --- shuffles ------------------------------------------------------------ */

/* shuffle(v, mask), shuffle2(a, b, mask): only the low bits of the mask count.
 */
LLVMValueRef x_shuffle(xp *x)
{
    bool two = x->data[0] == '2';
    LLVMValueRef a = xp_arg(x, 0), b = two ? xp_arg(x, 1) : NULL;
    LLVMValueRef mask = xp_arg(x, two ? 2 : 1), r = LLVMGetUndef(xp_result(x));
    unsigned n = ir_lanes(LLVMTypeOf(a)), lanes = ir_lanes(LLVMTypeOf(r));
    LLVMTypeRef mt = LLVMTypeOf(mask);

    mask = LLVMBuildAnd(x->builder, mask, xp_int(x, mt, (two ? 2 * n : n) - 1),
                        "");
    for (unsigned l = 0; l < lanes; l++) {
        LLVMValueRef i =
            LLVMBuildExtractElement(x->builder, mask, xp_k32(x, l), "");
        LLVMValueRef at =
            LLVMBuildAnd(x->builder, i, xp_int(x, LLVMTypeOf(i), n - 1), "");
        LLVMValueRef v = LLVMBuildExtractElement(x->builder, a, at, "");

        if (two) {
            LLVMValueRef in_b = LLVMBuildICmp(x->builder, LLVMIntUGE, i,
                                              xp_int(x, LLVMTypeOf(i), n), "");

            v = LLVMBuildSelect(x->builder, in_b,
                                LLVMBuildExtractElement(x->builder, b, at, ""),
                                v, "");
        }
        r = LLVMBuildInsertElement(x->builder, r, v, xp_k32(x, l), "");
    }
    return r;
}

/* --- the SHAVE's own ----------------------------------------------------- */

/* Sum of the lanes. The hardware's order and inner precision are not documented
 * [?]: pairwise, each sum rounded to half. */
LLVMValueRef x_shave_sumx(xp *x)
{
    LLVMValueRef v = xp_arg(x, 0), lanes[16];
    unsigned n = ir_lanes(LLVMTypeOf(v));

    for (unsigned l = 0; l < n; l++)
        lanes[l] = LLVMBuildExtractElement(x->builder, v, xp_k32(x, l), "");
    for (; n > 1; n /= 2)
        for (unsigned l = 0; l < n / 2; l++)
            lanes[l] =
                LLVMBuildFAdd(x->builder, lanes[2 * l], lanes[2 * l + 1], "");
    return lanes[0];
}

LLVMValueRef x_shave_min(xp *x)
{
    LLVMValueRef args[2] = {xp_arg(x, 0), xp_arg(x, 1)};

    return xp_intrinsic(x, "llvm.smin", &x->i32, 1, args, 2);
}

/* Sixteen bytes at byte offset n of a followed by b. */
LLVMValueRef x_shave_alignvec(xp *x)
{
    LLVMTypeRef bytes = LLVMVectorType(LLVMInt8TypeInContext(x->context), 16);
    LLVMValueRef a = LLVMBuildBitCast(x->builder, xp_arg(x, 0), bytes, "");
    LLVMValueRef b = LLVMBuildBitCast(x->builder, xp_arg(x, 1), bytes, "");
    LLVMValueRef n = LLVMBuildAnd(x->builder, xp_arg(x, 2),
                                  xp_int(x, x->i32, 15), ""),
                 lanes[32], row, r = LLVMGetUndef(bytes);

    if (LLVMIsAConstantInt(n)) {
        for (uint64_t k = 0; k < 16; k++)
            lanes[k] = xp_int(x, x->i32, k + LLVMConstIntGetZExtValue(n));
        r = LLVMBuildShuffleVector(x->builder, a, b, LLVMConstVector(lanes, 16),
                                   "");
        return LLVMBuildBitCast(x->builder, r, xp_result(x), "");
    }
    for (uint64_t k = 0; k < 32; k++)
        lanes[k] = xp_int(x, x->i32, k);
    row = LLVMBuildShuffleVector(x->builder, a, b, LLVMConstVector(lanes, 32),
                                 "");
    for (uint64_t k = 0; k < 16; k++) {
        LLVMValueRef at = LLVMBuildAdd(x->builder, n, xp_int(x, x->i32, k), "");

        r = LLVMBuildInsertElement(
            x->builder, r, LLVMBuildExtractElement(x->builder, row, at, ""),
            xp_int(x, x->i32, k), "");
    }
    return LLVMBuildBitCast(x->builder, r, xp_result(x), "");
}
