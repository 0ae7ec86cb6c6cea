/* Built-ins on numbers: mathematical, integer, common, geometric, relational.
 */
#include "sim/compiler/expand/expand_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- element-wise arithmetic --------------------------------------------- */

LLVMValueRef x_intrinsic(xp *x)
{
    LLVMValueRef args[3];
    LLVMTypeRef t = xp_result(x);
    unsigned n = x->n_args;
    char name[32];

    for (unsigned i = 0; i < n; i++)
        args[i] = xp_wide(x, i);
    if (!strcmp(x->data, "ctlz"))
        args[n++] = LLVMConstInt(LLVMInt1TypeInContext(x->context), 0, false);
    snprintf(name, sizeof name, "llvm.%s", x->data);
    return xp_intrinsic(x, name, &t, 1, args, n);
}

static LLVMValueRef lane_of(xp *x, LLVMValueRef v, unsigned lane)
{
    return ir_lanes(LLVMTypeOf(v)) > 1
               ? LLVMBuildExtractElement(x->builder, v, xp_k32(x, lane), "")
               : v;
}

/* name of the precision of t; ret is the result's type, of as many lanes. */
static LLVMValueRef routine(xp *x, const char *name, LLVMTypeRef t,
                            LLVMTypeRef ret, LLVMValueRef *args, unsigned n)
{
    LLVMTypeRef e = ir_element(t), re = ir_element(ret);
    unsigned lanes = ir_lanes(ret);
    LLVMValueRef r = LLVMGetUndef(ret), one[3], v;
    call_id id = call_of_routine(name, LLVMGetTypeKind(e) == LLVMHalfTypeKind);

    for (unsigned l = 0; l < lanes; l++) {
        for (unsigned i = 0; i < n; i++)
            one[i] = lane_of(x, args[i], l);
        v = xp_runtime(x, id, re, one, n);
        if (lanes == 1)
            return v;
        r = LLVMBuildInsertElement(x->builder, r, v, xp_k32(x, l), "");
    }
    return r;
}

LLVMValueRef x_routine(xp *x)
{
    LLVMTypeRef t = xp_result(x);
    LLVMValueRef args[3];

    if (x->n_args > 3 || !xp_is_float(t)) {
        x->problem = "argument types not supported";
        return NULL;
    }
    for (unsigned i = 0; i < x->n_args; i++)
        args[i] = xp_wide(x, i);
    return routine(x, x->data, t, t, args, x->n_args);
}

LLVMValueRef x_routine_i(xp *x)
{
    LLVMValueRef v = xp_arg(x, 0);

    return routine(x, x->data, LLVMTypeOf(v), xp_result(x), &v, 1);
}

/* data = "value second": the result, and an int through the last argument. */
LLVMValueRef x_frexp(xp *x)
{
    LLVMTypeRef t = xp_result(x), it = x->i32;
    LLVMValueRef args[2], r, k;
    unsigned n = x->n_args - 1;
    char first[24];
    const char *second = strchr(x->data, ' ') + 1;

    snprintf(first, sizeof first, "%.*s", (int)(second - 1 - x->data), x->data);
    if (ir_lanes(t) > 1)
        it = LLVMVectorType(it, ir_lanes(t));
    for (unsigned i = 0; i < n && i < 2; i++)
        args[i] = xp_wide(x, i);
    r = routine(x, first, t, t, args, n);
    k = routine(x, second, t, it, args, n);
    xp_store(x, k, xp_arg(x, n));
    return r;
}

LLVMValueRef x_sincos(xp *x)
{
    LLVMTypeRef t = xp_result(x);
    LLVMValueRef v = xp_arg(x, 0);

    xp_store(x, routine(x, "cos", t, t, &v, 1), xp_arg(x, 1));
    return routine(x, "sin", t, t, &v, 1);
}

static LLVMValueRef round_by(xp *x, const char *intrinsic, LLVMValueRef v)
{
    LLVMTypeRef t = LLVMTypeOf(v);

    return xp_intrinsic(x, intrinsic, &t, 1, &v, 1);
}

static LLVMValueRef magnitude(xp *x, LLVMValueRef v)
{
    return round_by(x, "llvm.fabs", v);
}

/* v with the sign of s */
static LLVMValueRef with_sign(xp *x, LLVMValueRef v, LLVMValueRef s)
{
    LLVMTypeRef t = LLVMTypeOf(v);
    LLVMValueRef args[2] = {v, s};

    return xp_intrinsic(x, "llvm.copysign", &t, 1, args, 2);
}

static LLVMValueRef is_infinite(xp *x, LLVMValueRef v)
{
    return LLVMBuildFCmp(x->builder, LLVMRealOEQ, magnitude(x, v),
                         xp_real(x, LLVMTypeOf(v), HUGE_VAL), "");
}

/* x - floor(x), below 1 even where that rounds up; zeros and infinities leave a
 * zero of their sign. */
LLVMValueRef x_fract(xp *x)
{
    LLVMValueRef v = xp_arg(x, 0), f = round_by(x, "llvm.floor", v), d, below;
    LLVMValueRef none;
    LLVMTypeRef t = xp_result(x);
    bool half = LLVMGetTypeKind(ir_element(t)) == LLVMHalfTypeKind;
    LLVMValueRef top = xp_real(x, t, half ? 0x1.ffcp-1 : 0x1.fffffep-1);

    xp_store(x, f, xp_arg(x, 1));
    d = LLVMBuildFSub(x->builder, v, f, "");
    below = LLVMBuildFCmp(x->builder, LLVMRealOGT, d, top, "");
    d = LLVMBuildSelect(x->builder, below, top, d, "");
    none = LLVMBuildOr(
        x->builder, is_infinite(x, v),
        LLVMBuildFCmp(x->builder, LLVMRealOEQ, v, xp_real(x, t, 0), ""), "");
    return LLVMBuildSelect(x->builder, none, with_sign(x, xp_real(x, t, 0), v),
                           d, "");
}

LLVMValueRef x_modf(xp *x)
{
    LLVMValueRef v = xp_arg(x, 0), whole = round_by(x, "llvm.trunc", v), d;

    xp_store(x, whole, xp_arg(x, 1));
    d = LLVMBuildFSub(x->builder, v, whole, "");
    d = LLVMBuildSelect(x->builder, is_infinite(x, v),
                        xp_real(x, xp_result(x), 0), d, "");
    return with_sign(x, d, v);
}

/* The argument's bits are the payload. */
LLVMValueRef x_nan(xp *x)
{
    LLVMTypeRef t = xp_result(x);
    LLVMValueRef v = xp_arg(x, 0);
    bool half = LLVMGetTypeKind(ir_element(t)) == LLVMHalfTypeKind;

    v = LLVMBuildAnd(x->builder, v,
                     xp_int(x, LLVMTypeOf(v), half ? 0x1ff : 0x3fffff), "");
    v = LLVMBuildOr(x->builder, v,
                    xp_int(x, LLVMTypeOf(v), half ? 0x7e00 : 0x7fc00000), "");
    return LLVMBuildBitCast(x->builder, v, t, "");
}

LLVMValueRef x_nextafter(xp *x)
{
    LLVMValueRef args[2] = {xp_arg(x, 0), xp_arg(x, 1)};
    LLVMTypeRef t = xp_result(x);

    return routine(x, "nextafter", t, t, args, 2);
}

LLVMValueRef x_divide(xp *x)
{
    return LLVMBuildFDiv(x->builder, xp_wide(x, 0), xp_wide(x, 1), "");
}

LLVMValueRef x_recip(xp *x)
{
    return LLVMBuildFDiv(x->builder, xp_real(x, xp_result(x), 1.0),
                         xp_arg(x, 0), "");
}

LLVMValueRef x_mul(xp *x)
{
    return LLVMBuildMul(x->builder, xp_arg(x, 0), xp_arg(x, 1), "");
}

/* Two roundings, as a multiply and an add on the device. */
LLVMValueRef x_mad(xp *x)
{
    if (xp_is_float(xp_result(x)))
        return LLVMBuildFAdd(
            x->builder,
            LLVMBuildFMul(x->builder, xp_wide(x, 0), xp_wide(x, 1), ""),
            xp_wide(x, 2), "");
    return LLVMBuildAdd(
        x->builder, LLVMBuildMul(x->builder, xp_wide(x, 0), xp_wide(x, 1), ""),
        xp_wide(x, 2), "");
}

LLVMValueRef xp_min_max(xp *x, LLVMValueRef a, LLVMValueRef b, bool max)
{
    LLVMTypeRef t = LLVMTypeOf(a);
    LLVMValueRef args[2] = {a, b}, less;
    char name[16];

    if (xp_is_float(
            t)) { /* y if x < y (max), else x: NaN as the text defines */
        less = max ? LLVMBuildFCmp(x->builder, LLVMRealOLT, a, b, "")
                   : LLVMBuildFCmp(x->builder, LLVMRealOLT, b, a, "");
        return LLVMBuildSelect(x->builder, less, b, a, "");
    }
    snprintf(name, sizeof name, "llvm.%c%s", xp_is_signed(x, 0) ? 's' : 'u',
             max ? "max" : "min");
    return xp_intrinsic(x, name, &t, 1, args, 2);
}

LLVMValueRef x_min_max(xp *x)
{
    return xp_min_max(x, xp_wide(x, 0), xp_wide(x, 1), x->data[1] == 'a');
}

LLVMValueRef x_clamp(xp *x)
{
    LLVMValueRef v = xp_min_max(x, xp_wide(x, 0), xp_wide(x, 1), true);

    return xp_min_max(x, v, xp_wide(x, 2), false);
}

LLVMValueRef x_scale(xp *x)
{
    return LLVMBuildFMul(x->builder, xp_arg(x, 0),
                         xp_real(x, xp_result(x), strtod(x->data, NULL)), "");
}

LLVMValueRef x_mix(xp *x)
{
    LLVMValueRef d =
        LLVMBuildFSub(x->builder, xp_wide(x, 1), xp_wide(x, 0), "");

    return LLVMBuildFAdd(x->builder, xp_wide(x, 0),
                         LLVMBuildFMul(x->builder, d, xp_wide(x, 2), ""), "");
}

LLVMValueRef x_step(xp *x)
{
    LLVMTypeRef t = xp_result(x);
    LLVMValueRef below = LLVMBuildFCmp(x->builder, LLVMRealOLT, xp_wide(x, 1),
                                       xp_wide(x, 0), "");

    return LLVMBuildSelect(x->builder, below, xp_real(x, t, 0),
                           xp_real(x, t, 1), "");
}

LLVMValueRef x_sign(xp *x)
{
    LLVMTypeRef t = xp_result(x);
    LLVMValueRef v = xp_arg(x, 0), r, zero = xp_real(x, t, 0);
    LLVMValueRef nan = LLVMBuildFCmp(x->builder, LLVMRealUNO, v, v, "");
    LLVMValueRef moved = LLVMBuildFCmp(x->builder, LLVMRealONE, v, zero, "");

    r = LLVMBuildSelect(x->builder, moved, xp_real(x, t, 1), zero, "");
    return LLVMBuildSelect(x->builder, nan, zero, with_sign(x, r, v), "");
}

LLVMValueRef x_smoothstep(xp *x)
{
    LLVMTypeRef t = xp_result(x);
    LLVMValueRef e0 = xp_wide(x, 0), e1 = xp_wide(x, 1), v = xp_wide(x, 2), s;

    s = LLVMBuildFDiv(x->builder, LLVMBuildFSub(x->builder, v, e0, ""),
                      LLVMBuildFSub(x->builder, e1, e0, ""), "");
    s = xp_min_max(x, s, xp_real(x, t, 0), true);
    s = xp_min_max(x, s, xp_real(x, t, 1), false);
    v = LLVMBuildFSub(x->builder, xp_real(x, t, 3),
                      LLVMBuildFMul(x->builder, xp_real(x, t, 2), s, ""), "");
    return LLVMBuildFMul(x->builder, LLVMBuildFMul(x->builder, s, s, ""), v,
                         "");
}

/* --- geometric ----------------------------------------------------------- */

static LLVMValueRef dot(xp *x, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef p = LLVMBuildFMul(x->builder, a, b, ""),
                 sum = lane_of(x, p, 0);

    for (unsigned i = 1; i < ir_lanes(LLVMTypeOf(p)); i++)
        sum = LLVMBuildFAdd(x->builder, sum, lane_of(x, p, i), "");
    return sum;
}

LLVMValueRef x_dot(xp *x)
{
    return dot(x, xp_arg(x, 0), xp_arg(x, 1));
}

/* A vector in float, brought near 1 by a power of two, so that squares neither
 * overflow nor vanish; and its length there. Halves fit as they are. */
typedef struct {
    LLVMValueRef v, length;
    LLVMValueRef unscale; /* NULL = 1 */
} scaled;

/* bits, no less than lo and no more than hi */
static LLVMValueRef bounded(xp *x, LLVMValueRef bits, uint32_t lo, uint32_t hi)
{
    LLVMValueRef a[2] = {bits, xp_k32(x, lo)};

    a[0] = xp_intrinsic(x, "llvm.smax", &x->i32, 1, a, 2);
    a[1] = xp_k32(x, hi);
    return xp_intrinsic(x, "llvm.smin", &x->i32, 1, a, 2);
}

/* Exponents of float: 2^-E for a largest element of 2^E, within 2^-126 and
 * 2^126, whose inverses are there, too. */
static void scale(xp *x, scaled *r)
{
    LLVMTypeRef t = LLVMTypeOf(r->v), f = ir_element(t);
    LLVMValueRef m = magnitude(x, r->v), most = lane_of(x, m, 0), bits, by;

    for (unsigned i = 1; i < ir_lanes(t); i++) {
        LLVMValueRef a[2] = {most, lane_of(x, m, i)};

        most = xp_intrinsic(x, "llvm.maxnum", &f, 1, a, 2);
    }
    bits = LLVMBuildBitCast(x->builder, most, x->i32, "");
    bits = LLVMBuildAnd(x->builder, bits, xp_k32(x, 0x7f800000), "");
    bits = LLVMBuildSub(x->builder, xp_k32(x, 0x7f000000), bits, "");
    bits = bounded(x, bits, 0x00800000, 0x7e800000);
    by = LLVMBuildBitCast(x->builder, bits, f, "");
    r->v = LLVMBuildFMul(x->builder, r->v,
                         ir_lanes(t) > 1 ? xp_splat(x, by, t) : by, "");
    bits = LLVMBuildSub(x->builder, xp_k32(x, 0x7f000000), bits, "");
    r->unscale = LLVMBuildBitCast(x->builder, bits, f, "");
}

static scaled norm(xp *x, LLVMValueRef v)
{
    LLVMTypeRef f = LLVMFloatTypeInContext(x->context), t = LLVMTypeOf(v);
    bool half = LLVMGetTypeKind(ir_element(t)) == LLVMHalfTypeKind;
    scaled r = {.v = v};

    if (ir_lanes(t) > 1)
        f = LLVMVectorType(f, ir_lanes(t));
    if (half)
        r.v = LLVMBuildFPCast(x->builder, v, f, "");
    else
        scale(x, &r);
    r.length = round_by(x, "llvm.sqrt", dot(x, r.v, r.v));
    return r;
}

LLVMValueRef x_length(xp *x)
{
    LLVMValueRef v = xp_arg(x, 0);
    scaled n;

    if (!strcmp(x->data, "distance"))
        v = LLVMBuildFSub(x->builder, v, xp_arg(x, 1), "");
    n = norm(x, v);
    if (n.unscale)
        n.length = LLVMBuildFMul(x->builder, n.length, n.unscale, "");
    return LLVMBuildFPCast(x->builder, n.length, xp_result(x), "");
}

LLVMValueRef x_normalize(xp *x)
{
    LLVMTypeRef t = xp_result(x), f;
    scaled n = norm(x, xp_arg(x, 0));
    LLVMValueRef zero, r;

    f = LLVMTypeOf(n.length);
    zero = LLVMBuildFCmp(x->builder, LLVMRealOEQ, n.length, LLVMConstReal(f, 0),
                         "");
    n.length =
        LLVMBuildSelect(x->builder, zero, LLVMConstReal(f, 1), n.length, "");
    r = LLVMBuildFDiv(x->builder, n.v,
                      ir_lanes(t) > 1 ? xp_splat(x, n.length, LLVMTypeOf(n.v))
                                      : n.length,
                      "");
    return LLVMBuildFPCast(x->builder, r, t, "");
}

LLVMValueRef x_cross(xp *x)
{
    LLVMValueRef a = xp_arg(x, 0), b = xp_arg(x, 1), r;

    r = xp_real(x, xp_result(x), 0);
    for (unsigned i = 0; i < 3; i++) {
        unsigned j = (i + 1) % 3, k = (i + 2) % 3;
        LLVMValueRef p =
            LLVMBuildFMul(x->builder, lane_of(x, a, j), lane_of(x, b, k), "");
        LLVMValueRef q =
            LLVMBuildFMul(x->builder, lane_of(x, a, k), lane_of(x, b, j), "");

        r = LLVMBuildInsertElement(x->builder, r,
                                   LLVMBuildFSub(x->builder, p, q, ""),
                                   xp_k32(x, i), "");
    }
    return r;
}

/* --- relational ---------------------------------------------------------- */

LLVMValueRef x_relation(xp *x)
{
    static const struct {
        const char *name;
        LLVMRealPredicate p;
    } preds[] = {
        {"oeq", LLVMRealOEQ}, {"ogt", LLVMRealOGT}, {"oge", LLVMRealOGE},
        {"olt", LLVMRealOLT}, {"ole", LLVMRealOLE}, {"uno", LLVMRealUNO},
        {"une", LLVMRealUNE}, {"ord", LLVMRealORD}, {"one", LLVMRealONE}};
    LLVMValueRef a = xp_arg(x, 0), b = x->n_args > 1 ? xp_arg(x, 1) : a,
                 c = NULL;

    for (size_t i = 0; i < sizeof preds / sizeof *preds; i++)
        if (!strcmp(preds[i].name, x->data))
            c = LLVMBuildFCmp(x->builder, preds[i].p, a, b, "");
    /* scalars: 1; vectors: all bits */
    return ir_lanes(xp_result(x)) == 1
               ? LLVMBuildZExt(x->builder, c, xp_result(x), "")
               : LLVMBuildSExt(x->builder, c, xp_result(x), "");
}

LLVMValueRef x_select(xp *x)
{
    LLVMValueRef c = xp_arg(x, 2), zero = LLVMConstNull(LLVMTypeOf(c));
    bool vector = ir_lanes(LLVMTypeOf(c)) > 1;
    LLVMValueRef pick =
        LLVMBuildICmp(x->builder, vector ? LLVMIntSLT : LLVMIntNE, c, zero, "");

    return LLVMBuildSelect(x->builder, pick, xp_arg(x, 1), xp_arg(x, 0), "");
}

/* 1 for scalars, all bits for vectors. */
static LLVMValueRef truth(xp *x, LLVMValueRef c)
{
    return ir_lanes(xp_result(x)) == 1
               ? LLVMBuildZExt(x->builder, c, xp_result(x), "")
               : LLVMBuildSExt(x->builder, c, xp_result(x), "");
}

static LLVMTypeRef int_like(xp *x, LLVMTypeRef t, unsigned bits)
{
    LLVMTypeRef i = LLVMIntTypeInContext(x->context, bits);

    return ir_lanes(t) > 1 ? LLVMVectorType(i, ir_lanes(t)) : i;
}

LLVMValueRef x_classify(xp *x)
{
    LLVMValueRef v = xp_arg(x, 0), m = magnitude(x, v), c;
    LLVMTypeRef t = LLVMTypeOf(v);
    bool half = LLVMGetTypeKind(ir_element(t)) == LLVMHalfTypeKind;
    LLVMValueRef inf = xp_real(x, t, HUGE_VAL);

    if (!strcmp(x->data, "finite")) {
        c = LLVMBuildFCmp(x->builder, LLVMRealOLT, m, inf, "");
    } else if (!strcmp(x->data, "inf")) {
        c = LLVMBuildFCmp(x->builder, LLVMRealOEQ, m, inf, "");
    } else if (!strcmp(x->data, "normal")) {
        LLVMValueRef least = xp_real(x, t, half ? 0x1p-14 : 0x1p-126);

        c = LLVMBuildAnd(
            x->builder, LLVMBuildFCmp(x->builder, LLVMRealOGE, m, least, ""),
            LLVMBuildFCmp(x->builder, LLVMRealOLT, m, inf, ""), "");
    } else {
        LLVMTypeRef it = int_like(x, t, half ? 16 : 32);

        c = LLVMBuildICmp(x->builder, LLVMIntSLT,
                          LLVMBuildBitCast(x->builder, v, it, ""),
                          LLVMConstNull(it), "");
    }
    return truth(x, c);
}

LLVMValueRef x_any_all(xp *x)
{
    LLVMValueRef v = xp_arg(x, 0), c, r;
    bool any = x->data[0] == 'o';

    c = LLVMBuildICmp(x->builder, LLVMIntSLT, v, LLVMConstNull(LLVMTypeOf(v)),
                      "");
    r = lane_of(x, c, 0);
    for (unsigned i = 1; i < ir_lanes(LLVMTypeOf(v)); i++)
        r = any ? LLVMBuildOr(x->builder, r, lane_of(x, c, i), "")
                : LLVMBuildAnd(x->builder, r, lane_of(x, c, i), "");
    return LLVMBuildZExt(x->builder, r, xp_result(x), "");
}

LLVMValueRef x_bitselect(xp *x)
{
    LLVMTypeRef t = xp_result(x);
    LLVMTypeRef it = int_like(x, t, ir_bits_of(ir_element(t)));
    LLVMValueRef v[3], keep, take;

    for (unsigned i = 0; i < 3; i++)
        v[i] = LLVMBuildBitCast(x->builder, xp_arg(x, i), it, "");
    keep =
        LLVMBuildAnd(x->builder, v[0], LLVMBuildNot(x->builder, v[2], ""), "");
    take = LLVMBuildAnd(x->builder, v[1], v[2], "");
    return LLVMBuildBitCast(x->builder, LLVMBuildOr(x->builder, keep, take, ""),
                            t, "");
}
