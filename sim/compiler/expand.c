/* Expands calls of OpenCL built-ins, row by row of sim/builtins/builtins.def.
 *
 * An expander gets the call's operands and leaves a replacement value (NULL for
 * functions without one). Everything element-wise works on scalars and vectors
 * alike because LLVM's instructions do; routines are called lane by lane, as
 * the SHAVE's scalar unit would (hardware.md 3.2). */
#include "sim/compiler/expand.h"

#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/builtins/routines.h"
#include "sim/compiler/ir.h"

typedef struct {
    LLVMModuleRef m;
    LLVMContextRef c;
    LLVMBuilderRef b;
    LLVMValueRef call;
    unsigned n_args;
    ir_signature sig;
    char name[64];
    const char *data;  /* third column of the row */
    const char *problem; /* set when the call cannot be expanded */
    LLVMTypeRef i32;
} xp;

typedef LLVMValueRef expander(xp *x);

static LLVMValueRef arg(xp *x, unsigned i)
{
    return LLVMGetOperand(x->call, i);
}

static LLVMTypeRef result(xp *x)
{
    return LLVMTypeOf(x->call);
}

static LLVMValueRef k32(xp *x, uint32_t v)
{
    return LLVMConstInt(x->i32, v, false);
}

static bool is_float(LLVMTypeRef t)
{
    LLVMTypeKind k = LLVMGetTypeKind(ir_element(t));

    return k == LLVMHalfTypeKind || k == LLVMFloatTypeKind;
}

static bool is_signed(xp *x, unsigned i)
{
    return i < x->sig.n_args && strchr("csilx", x->sig.args[i].letter);
}

static LLVMValueRef splat(xp *x, LLVMValueRef v, LLVMTypeRef like)
{
    unsigned n = ir_lanes(like);
    LLVMValueRef one, idx[16], r;

    if (n == 1 || ir_lanes(LLVMTypeOf(v)) == n)
        return v;
    for (unsigned i = 0; i < n; i++)
        idx[i] = k32(x, 0);
    r = LLVMGetUndef(LLVMVectorType(LLVMTypeOf(v), n));
    one = LLVMBuildInsertElement(x->b, r, v, k32(x, 0), "");
    return LLVMBuildShuffleVector(x->b, one, r, LLVMConstVector(idx, n), "");
}

/* Argument i, spread to the result's lanes: fmax(float4, float). */
static LLVMValueRef wide(xp *x, unsigned i)
{
    return splat(x, arg(x, i), result(x));
}

static LLVMValueRef real(xp *x, LLVMTypeRef like, double v)
{
    return splat(x, LLVMConstReal(ir_element(like), v), like);
}

static LLVMValueRef call_intrinsic(xp *x, const char *name, LLVMTypeRef *over,
                                   unsigned n_over, LLVMValueRef *args,
                                   unsigned n)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(x->m, id, over, n_over);
    LLVMTypeRef t = LLVMIntrinsicGetType(x->c, id, over, n_over);

    return LLVMBuildCall2(x->b, t, f, args, n, "");
}

static LLVMValueRef pure_call(xp *x, const char *name, LLVMTypeRef ret,
                              LLVMValueRef *args, unsigned n)
{
    LLVMTypeRef types[4], t;
    LLVMValueRef f;

    for (unsigned i = 0; i < n; i++)
        types[i] = LLVMTypeOf(args[i]);
    t = LLVMFunctionType(ret, types, n, false);
    f = ir_declare(x->m, name, t);
    ir_attr(f, "memory", 0);
    ir_attr(f, "nounwind", 0);
    ir_attr(f, "willreturn", 0);
    ir_attr(f, "speculatable", 0);
    return LLVMBuildCall2(x->b, t, f, args, n, "");
}

/* A call that other passes treat as a point all items reach together. */
static LLVMValueRef collective(xp *x, const char *name, LLVMTypeRef ret,
                               LLVMValueRef *args, unsigned n)
{
    LLVMTypeRef types[16], t;
    LLVMValueRef f, call;

    for (unsigned i = 0; i < n; i++)
        types[i] = LLVMTypeOf(args[i]);
    t = LLVMFunctionType(ret, types, n, false);
    f = ir_declare(x->m, name, t);
    ir_attr(f, "nounwind", 0);
    ir_attr(f, "convergent", 0);
    ir_attr(f, "noduplicate", 0);
    call = LLVMBuildCall2(x->b, t, f, args, n, "");
    return call;
}

/* --- work-item functions ------------------------------------------------- */

static LLVMValueRef id_of(xp *x, const char *what, unsigned d)
{
    char name[32];

    snprintf(name, sizeof name, "__vpu_%s%u", what, d);
    return pure_call(x, name, x->i32, NULL, 0);
}

static LLVMValueRef id_in(xp *x, const char *what, unsigned d)
{
    LLVMValueRef v;

    if (!strcmp(what, "global_id")) {
        v = LLVMBuildMul(x->b, id_of(x, "grp", d), id_of(x, "lsz", d), "");
        v = LLVMBuildAdd(x->b, v, id_of(x, "off", d), "");
        return LLVMBuildAdd(x->b, v, id_of(x, "lid", d), "");
    }
    if (!strcmp(what, "global_size"))
        return LLVMBuildMul(x->b, id_of(x, "ngrp", d), id_of(x, "lsz", d), "");
    return id_of(x, what, d);
}

static LLVMValueRef x_id(xp *x)
{
    LLVMValueRef dim = arg(x, 0), v;
    bool size = !strcmp(x->data, "lsz") || !strcmp(x->data, "ngrp") ||
          !strcmp(x->data, "global_size");

    v = k32(x, size); /* dimensions beyond the third: size 1, id 0 */
    if (LLVMIsAConstantInt(dim)) {
        uint64_t d = LLVMConstIntGetZExtValue(dim);

        return d < 3 ? id_in(x, x->data, (unsigned)d) : v;
    }
    for (unsigned d = 0; d < 3; d++)
        v = LLVMBuildSelect(
            x->b, LLVMBuildICmp(x->b, LLVMIntEQ, dim, k32(x, d), ""),
            id_in(x, x->data, d), v, "");
    return v;
}

static LLVMValueRef x_work_dim(xp *x)
{
    return k32(x, 3); /* the device's grids always have three */
}

/* --- element-wise arithmetic --------------------------------------------- */

static LLVMValueRef x_intrinsic(xp *x)
{
    LLVMValueRef args[3];
    LLVMTypeRef t = result(x);
    unsigned n = x->n_args;
    char name[32];

    for (unsigned i = 0; i < n; i++)
        args[i] = wide(x, i);
    if (!strcmp(x->data, "ctlz"))
        args[n++] = LLVMConstInt(LLVMInt1TypeInContext(x->c), 0, false);
    snprintf(name, sizeof name, "llvm.%s", x->data);
    return call_intrinsic(x, name, &t, 1, args, n);
}

static LLVMValueRef routine_lane(xp *x, LLVMTypeRef t, LLVMValueRef *args,
                                 unsigned n)
{
    char name[40];

    snprintf(name, sizeof name, "__vpu_%s_%s", x->data,
             LLVMGetTypeKind(t) == LLVMHalfTypeKind ? "f16" : "f32");
    return pure_call(x, name, t, args, n);
}

static LLVMValueRef x_routine(xp *x)
{
    LLVMTypeRef t = result(x), e = ir_element(t);
    unsigned lanes = ir_lanes(t), n = x->n_args;
    LLVMValueRef args[3], r = LLVMGetUndef(t);

    if (n > 3 || !is_float(t)) {
        x->problem = "argument types not supported";
        return NULL;
    }
    for (unsigned i = 0; i < n; i++)
        args[i] = wide(x, i);
    if (lanes == 1)
        return routine_lane(x, e, args, n);
    for (unsigned l = 0; l < lanes; l++) {
        LLVMValueRef one[3];

        for (unsigned i = 0; i < n; i++)
            one[i] = LLVMBuildExtractElement(x->b, args[i], k32(x, l), "");
        r = LLVMBuildInsertElement(x->b, r, routine_lane(x, e, one, n),
                                   k32(x, l), "");
    }
    return r;
}

static LLVMValueRef x_divide(xp *x)
{
    return LLVMBuildFDiv(x->b, wide(x, 0), wide(x, 1), "");
}

static LLVMValueRef x_recip(xp *x)
{
    return LLVMBuildFDiv(x->b, real(x, result(x), 1.0), arg(x, 0), "");
}

static LLVMValueRef x_mul(xp *x)
{
    return LLVMBuildMul(x->b, arg(x, 0), arg(x, 1), "");
}

/* Two roundings, as a multiply and an add on the device. */
static LLVMValueRef x_mad(xp *x)
{
    if (is_float(result(x)))
        return LLVMBuildFAdd(
            x->b, LLVMBuildFMul(x->b, wide(x, 0), wide(x, 1), ""), wide(x, 2),
            "");
    return LLVMBuildAdd(x->b, LLVMBuildMul(x->b, wide(x, 0), wide(x, 1), ""),
                        wide(x, 2), "");
}

static LLVMValueRef x_int_abs(xp *x)
{
    LLVMTypeRef t = result(x);
    LLVMValueRef args[2] = {
        arg(x, 0), LLVMConstInt(LLVMInt1TypeInContext(x->c), 0, false)};

    return is_signed(x, 0) ? call_intrinsic(x, "llvm.abs", &t, 1, args, 2)
                           : args[0];
}

static LLVMValueRef min_max(xp *x, LLVMValueRef a, LLVMValueRef b, bool max)
{
    LLVMTypeRef t = LLVMTypeOf(a);
    LLVMValueRef args[2] = {a, b}, less;
    char name[16];

    if (is_float(t)) { /* y if x < y (max), else x: NaN as the text defines */
        less = max ? LLVMBuildFCmp(x->b, LLVMRealOLT, a, b, "")
                   : LLVMBuildFCmp(x->b, LLVMRealOLT, b, a, "");
        return LLVMBuildSelect(x->b, less, b, a, "");
    }
    snprintf(name, sizeof name, "llvm.%c%s", is_signed(x, 0) ? 's' : 'u',
             max ? "max" : "min");
    return call_intrinsic(x, name, &t, 1, args, 2);
}

static LLVMValueRef x_min_max(xp *x)
{
    return min_max(x, wide(x, 0), wide(x, 1), x->data[1] == 'a');
}

static LLVMValueRef x_clamp(xp *x)
{
    LLVMValueRef v = min_max(x, wide(x, 0), wide(x, 1), true);

    return min_max(x, v, wide(x, 2), false);
}

static LLVMValueRef x_scale(xp *x)
{
    return LLVMBuildFMul(
        x->b, arg(x, 0), real(x, result(x), strtod(x->data, NULL)), "");
}

static LLVMValueRef x_mix(xp *x)
{
    LLVMValueRef d = LLVMBuildFSub(x->b, wide(x, 1), wide(x, 0), "");

    return LLVMBuildFAdd(x->b, wide(x, 0),
                         LLVMBuildFMul(x->b, d, wide(x, 2), ""), "");
}

static LLVMValueRef x_step(xp *x)
{
    LLVMTypeRef t = result(x);
    LLVMValueRef below =
        LLVMBuildFCmp(x->b, LLVMRealOLT, wide(x, 1), wide(x, 0), "");

    return LLVMBuildSelect(x->b, below, real(x, t, 0), real(x, t, 1), "");
}

static LLVMValueRef x_dot(xp *x)
{
    LLVMValueRef p = LLVMBuildFMul(x->b, arg(x, 0), arg(x, 1), ""), sum;
    unsigned n = ir_lanes(LLVMTypeOf(p));

    if (n == 1)
        return p;
    sum = LLVMBuildExtractElement(x->b, p, k32(x, 0), "");
    for (unsigned i = 1; i < n; i++)
        sum = LLVMBuildFAdd(x->b, sum,
                            LLVMBuildExtractElement(x->b, p, k32(x, i), ""),
                            "");
    return sum;
}

/* --- relational ----------------------------------------------------------- */

static LLVMValueRef x_relation(xp *x)
{
    static const struct {
        const char *name;
        LLVMRealPredicate p;
    } preds[] = {{"oeq", LLVMRealOEQ}, {"ogt", LLVMRealOGT},
                 {"oge", LLVMRealOGE}, {"olt", LLVMRealOLT},
                 {"ole", LLVMRealOLE}, {"uno", LLVMRealUNO},
                 {"une", LLVMRealUNE}, {"ord", LLVMRealORD}};
    LLVMValueRef a = arg(x, 0), b = x->n_args > 1 ? arg(x, 1) : a, c = NULL;

    for (size_t i = 0; i < sizeof preds / sizeof *preds; i++)
        if (!strcmp(preds[i].name, x->data))
            c = LLVMBuildFCmp(x->b, preds[i].p, a, b, "");
    /* scalars: 1; vectors: all bits */
    return ir_lanes(result(x)) == 1 ? LLVMBuildZExt(x->b, c, result(x), "")
                                    : LLVMBuildSExt(x->b, c, result(x), "");
}

static LLVMValueRef x_select(xp *x)
{
    LLVMValueRef c = arg(x, 2), zero = LLVMConstNull(LLVMTypeOf(c));
    bool vector = ir_lanes(LLVMTypeOf(c)) > 1;
    LLVMValueRef pick = LLVMBuildICmp(x->b, vector ? LLVMIntSLT : LLVMIntNE, c,
                                      zero, "");

    return LLVMBuildSelect(x->b, pick, arg(x, 1), arg(x, 0), "");
}

/* --- conversions ---------------------------------------------------------- */

typedef struct {
    LLVMTypeRef element;
    bool is_float, is_signed, sat;
    unsigned bits;
    char round; /* 'e' 'z' 'p' 'n', 0 = default */
} conversion;

/* "convert_" type [lanes] ["_sat"] ["_rt" mode] */
static bool parse_conversion(xp *x, const char *s, conversion *out)
{
    static const struct {
        const char *name;
        unsigned bits;
        bool is_float, is_signed;
    } types[] = {{"char", 8, false, true},    {"uchar", 8, false, false},
                 {"short", 16, false, true},  {"ushort", 16, false, false},
                 {"int", 32, false, true},    {"uint", 32, false, false},
                 {"long", 64, false, true},   {"ulong", 64, false, false},
                 {"half", 16, true, true},    {"float", 32, true, true}};

    *out = (conversion){0};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t n = strlen(types[i].name);

        if (strncmp(s, types[i].name, n) || (s[n] >= 'a' && s[n] <= 'z'))
            continue;
        out->bits = types[i].bits;
        out->is_float = types[i].is_float;
        out->is_signed = types[i].is_signed;
        out->element = ir_element(result(x));
        s += n;
        while (*s >= '0' && *s <= '9')
            s++;
        if (!strncmp(s, "_sat", 4)) {
            out->sat = true;
            s += 4;
        }
        if (!strncmp(s, "_rt", 3)) {
            out->round = s[3];
            s += s[3] ? 4 : 3;
        }
        return !*s;
    }
    return false;
}

static LLVMValueRef lanewise(xp *x, const char *name, LLVMValueRef v,
                             LLVMTypeRef to)
{
    LLVMTypeRef e = ir_element(to);
    LLVMValueRef r = LLVMGetUndef(to);
    unsigned lanes = ir_lanes(to);

    if (lanes == 1)
        return pure_call(x, name, e, &v, 1);
    for (unsigned l = 0; l < lanes; l++) {
        LLVMValueRef one = LLVMBuildExtractElement(x->b, v, k32(x, l), "");

        r = LLVMBuildInsertElement(x->b, r, pure_call(x, name, e, &one, 1),
                                   k32(x, l), "");
    }
    return r;
}

static LLVMValueRef float_to_int(xp *x, LLVMValueRef v, LLVMTypeRef to,
                                 const conversion *cv)
{
    LLVMTypeRef from = LLVMTypeOf(v), over[2] = {to, from};
    const char *round = cv->round == 'e'   ? "llvm.rint"
                        : cv->round == 'p' ? "llvm.ceil"
                        : cv->round == 'n' ? "llvm.floor"
                                           : NULL;

    if (round)
        v = call_intrinsic(x, round, &from, 1, &v, 1);
    /* Saturating even without _sat: out of range is implementation-defined and
     * must neither trap nor be undefined (kernel-language.md 1). */
    return call_intrinsic(x, cv->is_signed ? "llvm.fptosi.sat"
                                           : "llvm.fptoui.sat",
                          over, 2, &v, 1);
}

static LLVMValueRef int_to_int(xp *x, LLVMValueRef v, LLVMTypeRef to,
                               const conversion *cv)
{
    LLVMTypeRef from = LLVMTypeOf(v);
    unsigned from_bits = ir_bits_of(ir_element(from));
    bool from_signed = is_signed(x, 0);

    if (cv->sat) {
        /* Clamp in the source type where the target's limits fit into it. */
        uint64_t top = cv->is_signed ? (UINT64_C(1) << (cv->bits - 1)) - 1
                                     : UINT64_MAX >> (64 - cv->bits);
        uint64_t from_top = from_signed ? (UINT64_C(1) << (from_bits - 1)) - 1
                                        : UINT64_MAX >> (64 - from_bits);
        LLVMTypeRef e = ir_element(from);

        if (from_top > top)
            v = min_max(x, v, splat(x, LLVMConstInt(e, top, false), from),
                        false);
        if (from_signed && (!cv->is_signed || cv->bits < from_bits)) {
            uint64_t low = cv->is_signed
                               ? (uint64_t)-(int64_t)(UINT64_C(1)
                                                      << (cv->bits - 1))
                               : 0;

            v = min_max(x, v, splat(x, LLVMConstInt(e, low, true), from),
                        true);
        }
    }
    return LLVMBuildIntCast2(x->b, v, to, from_signed, "");
}

static LLVMValueRef x_convert(xp *x)
{
    LLVMValueRef v = arg(x, 0);
    LLVMTypeRef from = LLVMTypeOf(v), to = result(x);
    conversion cv;
    bool from_float = is_float(from);
    char name[20];

    if (!parse_conversion(x, x->name + strlen("convert_"), &cv)) {
        x->problem = "not a conversion of OpenCL C 1.2";
        return NULL;
    }
    if (!cv.is_float)
        return from_float ? float_to_int(x, v, to, &cv)
                          : int_to_int(x, v, to, &cv);
    if (from_float) {
        if (cv.bits == 16 && ir_bits_of(ir_element(from)) == 32 &&
            cv.round && cv.round != 'e') {
            snprintf(name, sizeof name, "__vpu_half_%c", cv.round);
            return lanewise(x, name, v, to);
        }
        return LLVMBuildFPCast(x->b, v, to, "");
    }
    if (cv.round && cv.round != 'e') {
        x->problem = "integer to floating point with directed rounding is not "
                     "supported yet";
        return NULL;
    }
    return is_signed(x, 0) ? LLVMBuildSIToFP(x->b, v, to, "")
                           : LLVMBuildUIToFP(x->b, v, to, "");
}

/* --- vector loads and stores ---------------------------------------------- */

/* &p[offset * step] of elements of type e */
static LLVMValueRef element_ptr(xp *x, LLVMTypeRef e, LLVMValueRef p,
                                LLVMValueRef offset, unsigned step)
{
    LLVMValueRef i = LLVMBuildMul(x->b, offset, k32(x, step), "");

    return LLVMBuildGEP2(x->b, e, p, &i, 1, "");
}

static LLVMValueRef load(xp *x, LLVMTypeRef t, LLVMValueRef p)
{
    LLVMValueRef l = LLVMBuildLoad2(x->b, t, p, "");

    LLVMSetAlignment(l, ir_bits_of(ir_element(t)) / 8);
    return l;
}

static void store(xp *x, LLVMValueRef v, LLVMValueRef p)
{
    LLVMValueRef s = LLVMBuildStore(x->b, v, p);

    LLVMSetAlignment(s, ir_bits_of(ir_element(LLVMTypeOf(v))) / 8);
}

static LLVMValueRef x_vload(xp *x)
{
    LLVMTypeRef t = result(x);

    return load(x, t, element_ptr(x, ir_element(t), arg(x, 1), arg(x, 0),
                                  ir_lanes(t)));
}

static LLVMValueRef x_vstore(xp *x)
{
    LLVMValueRef v = arg(x, 0);
    LLVMTypeRef t = LLVMTypeOf(v);

    store(x, v, element_ptr(x, ir_element(t), arg(x, 2), arg(x, 1),
                            ir_lanes(t)));
    return NULL;
}

/* The aligned forms keep three-element vectors four apart. */
static unsigned half_step(xp *x, const char *after)
{
    unsigned n = (unsigned)strtoul(after, NULL, 10);

    n = n ? n : 1;
    return n == 3 && strstr(x->name, "a_half") ? 4 : n;
}

static LLVMValueRef x_vload_half(xp *x)
{
    LLVMTypeRef t = result(x), h = LLVMHalfTypeInContext(x->c), ht = h;
    const char *after = strstr(x->name, "_half") + strlen("_half");

    if (ir_lanes(t) > 1)
        ht = LLVMVectorType(h, ir_lanes(t));
    return LLVMBuildFPExt(x->b,
                          load(x, ht, element_ptr(x, h, arg(x, 1), arg(x, 0),
                                                  half_step(x, after))),
                          t, "");
}

static LLVMValueRef x_vstore_half(xp *x)
{
    LLVMValueRef v = arg(x, 0);
    LLVMTypeRef t = LLVMTypeOf(v), h = LLVMHalfTypeInContext(x->c), ht = h;
    const char *after = strstr(x->name, "_half") + strlen("_half");
    const char *mode = strstr(after, "_rt");
    char name[20];

    if (ir_lanes(t) > 1)
        ht = LLVMVectorType(h, ir_lanes(t));
    if (mode && mode[3] != 'e') {
        snprintf(name, sizeof name, "__vpu_half_%c", mode[3]);
        v = lanewise(x, name, v, ht);
    } else {
        v = LLVMBuildFPTrunc(x->b, v, ht, "");
    }
    store(x, v, element_ptr(x, h, arg(x, 2), arg(x, 1), half_step(x, after)));
    return NULL;
}

/* --- synchronisation and copies ------------------------------------------- */

static LLVMValueRef x_nothing(xp *x)
{
    (void)x;
    return NULL;
}

static LLVMValueRef x_barrier(xp *x)
{
    collective(x, "__vpu_barrier", LLVMVoidTypeInContext(x->c), NULL, 0);
    return NULL;
}

static LLVMValueRef line_of(xp *x)
{
    return k32(x, LLVMGetDebugLocLine(x->call));
}

static uint32_t pointee_bytes(xp *x, unsigned i)
{
    /* Opaque pointers: the element type is only in the mangled name. */
    size_t n;
    const char *s = LLVMGetValueName2(LLVMGetCalledValue(x->call), &n);
    const char *p = s;
    unsigned seen = 0, lanes = 1;

    for (; *p; p++)
        if (*p == 'P' && !strncmp(p, "PU3AS", 5) && seen++ == i)
            break;
    if (!*p)
        return 0;
    p += 6;
    while (*p == 'K')
        p++;
    if (p[0] == 'D' && p[1] == 'v') {
        char *end;

        lanes = (unsigned)strtoul(p + 2, &end, 10);
        p = end + 1;
        lanes = lanes == 3 ? 4 : lanes;
    }
    if (p[0] == 'D' && p[1] == 'h')
        return 2 * lanes;
    switch (*p) {
    case 'c':
    case 'h':
        return lanes;
    case 's':
    case 't':
        return 2 * lanes;
    case 'i':
    case 'j':
    case 'f':
        return 4 * lanes;
    case 'l':
    case 'm':
        return 8 * lanes;
    }
    return 0;
}

typedef struct {
    LLVMValueRef src_width, dst_width, src_pitch, dst_pitch, bytes;
    LLVMValueRef planes, src_plane, dst_plane;
} copy_shape;

static LLVMValueRef emit_copy(xp *x, LLVMValueRef dst, LLVMValueRef src,
                              const copy_shape *s)
{
    unsigned dst_as = LLVMGetPointerAddressSpace(LLVMTypeOf(dst));
    LLVMValueRef args[12] = {LLVMBuildPtrToInt(x->b, dst, x->i32, ""),
                             LLVMBuildPtrToInt(x->b, src, x->i32, ""),
                             k32(x, dst_as == AS_LOCAL),
                             s->bytes,
                             s->src_width,
                             s->dst_width,
                             s->src_pitch,
                             s->dst_pitch,
                             s->planes,
                             s->src_plane,
                             s->dst_plane,
                             line_of(x)};

    return collective(x, "__vpu_dma", x->i32, args, 12);
}

static LLVMValueRef copy_flat(xp *x, LLVMValueRef dst, LLVMValueRef src,
                              LLVMValueRef bytes)
{
    copy_shape s = {bytes, bytes, bytes, bytes, bytes,
                    k32(x, 1), k32(x, 0), k32(x, 0)};

    return emit_copy(x, dst, src, &s);
}

static LLVMValueRef times(xp *x, LLVMValueRef v, uint32_t n)
{
    return LLVMBuildMul(x->b, v, k32(x, n), "");
}

static LLVMValueRef x_copy_1d(xp *x)
{
    return copy_flat(x, arg(x, 0), arg(x, 1),
                     times(x, arg(x, 2), pointee_bytes(x, 0)));
}

/* The stride is on the global side, in elements. */
static LLVMValueRef x_copy_strided(xp *x)
{
    uint32_t size = pointee_bytes(x, 0);
    LLVMValueRef one = k32(x, size), pitch = times(x, arg(x, 3), size);
    bool to_cmx =
        LLVMGetPointerAddressSpace(LLVMTypeOf(arg(x, 0))) == AS_LOCAL;
    copy_shape s = {one, one, to_cmx ? pitch : one, to_cmx ? one : pitch,
                    times(x, arg(x, 2), size), k32(x, 1), k32(x, 0), k32(x, 0)};

    return emit_copy(x, arg(x, 0), arg(x, 1), &s);
}

static LLVMValueRef x_dma_1d(xp *x)
{
    return copy_flat(x, arg(x, 1), arg(x, 0), arg(x, 2));
}

static LLVMValueRef x_dma_2d(xp *x)
{
    copy_shape s = {arg(x, 2), arg(x, 3), arg(x, 4), arg(x, 5),
                    arg(x, 6), k32(x, 1), k32(x, 0), k32(x, 0)};

    return emit_copy(x, arg(x, 1), arg(x, 0), &s);
}

static LLVMValueRef x_dma_3d(xp *x)
{
    copy_shape s = {arg(x, 2), arg(x, 3), arg(x, 4), arg(x, 5),
                    arg(x, 9), arg(x, 6), arg(x, 7), arg(x, 8)};

    return emit_copy(x, arg(x, 1), arg(x, 0), &s);
}

/* 2021 generation: gaps behind lines and planes, in elements. */
static LLVMValueRef copy_gaps(xp *x, LLVMValueRef planes, LLVMValueRef src_gap,
                              LLVMValueRef dst_gap, LLVMValueRef src_plane_gap,
                              LLVMValueRef dst_plane_gap)
{
    uint32_t size = pointee_bytes(x, 0);
    LLVMValueRef line = times(x, arg(x, 2), size), lines = arg(x, 3);
    copy_shape s;

    s.src_width = s.dst_width = line;
    s.src_pitch = LLVMBuildAdd(x->b, line, times(x, src_gap, size), "");
    s.dst_pitch = LLVMBuildAdd(x->b, line, times(x, dst_gap, size), "");
    s.bytes = LLVMBuildMul(x->b, line, lines, "");
    s.planes = planes;
    s.src_plane = LLVMBuildAdd(x->b, LLVMBuildMul(x->b, s.src_pitch, lines, ""),
                               times(x, src_plane_gap, size), "");
    s.dst_plane = LLVMBuildAdd(x->b, LLVMBuildMul(x->b, s.dst_pitch, lines, ""),
                               times(x, dst_plane_gap, size), "");
    return emit_copy(x, arg(x, 0), arg(x, 1), &s);
}

static LLVMValueRef x_copy_2d2d(xp *x)
{
    return copy_gaps(x, k32(x, 1), arg(x, 4), arg(x, 5), k32(x, 0), k32(x, 0));
}

static LLVMValueRef x_copy_3d3d(xp *x)
{
    return copy_gaps(x, arg(x, 4), arg(x, 5), arg(x, 6), arg(x, 7), arg(x, 8));
}

/* Waits for the highest-numbered of the events; transfers end in order of their
 * numbers as far as a group can tell. */
static LLVMValueRef x_wait(xp *x)
{
    LLVMValueRef n = arg(x, 0), most = k32(x, 0), args[2];
    LLVMTypeRef i32 = x->i32;
    uint64_t count;

    if (!LLVMIsAConstantInt(n) || LLVMConstIntGetZExtValue(n) > 64) {
        most = k32(x, UINT32_MAX); /* all of them */
    } else {
        count = LLVMConstIntGetZExtValue(n);
        for (uint32_t i = 0; i < count; i++) {
            LLVMValueRef at = k32(x, i);
            LLVMValueRef p = LLVMBuildGEP2(x->b, i32, arg(x, 1), &at, 1, "");

            args[0] = most;
            args[1] = LLVMBuildLoad2(x->b, i32, p, "");
            most = call_intrinsic(x, "llvm.umax", &i32, 1, args, 2);
        }
    }
    collective(x, "__vpu_wait", LLVMVoidTypeInContext(x->c), &most, 1);
    return NULL;
}

static LLVMValueRef x_atomic(xp *x)
{
    static const struct {
        const char *name;
        LLVMAtomicRMWBinOp s, u;
    } ops[] = {
        {"add", LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpAdd},
        {"sub", LLVMAtomicRMWBinOpSub, LLVMAtomicRMWBinOpSub},
        {"inc", LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpAdd},
        {"dec", LLVMAtomicRMWBinOpSub, LLVMAtomicRMWBinOpSub},
        {"and", LLVMAtomicRMWBinOpAnd, LLVMAtomicRMWBinOpAnd},
        {"or", LLVMAtomicRMWBinOpOr, LLVMAtomicRMWBinOpOr},
        {"xor", LLVMAtomicRMWBinOpXor, LLVMAtomicRMWBinOpXor},
        {"max", LLVMAtomicRMWBinOpMax, LLVMAtomicRMWBinOpUMax},
        {"min", LLVMAtomicRMWBinOpMin, LLVMAtomicRMWBinOpUMin},
        {"xchg", LLVMAtomicRMWBinOpXchg, LLVMAtomicRMWBinOpXchg}};
    LLVMValueRef v = x->n_args > 1 ? arg(x, 1) : k32(x, 1), r = NULL;
    bool fl = is_float(LLVMTypeOf(v)); /* atomic_xchg(float) */

    if (fl)
        v = LLVMBuildBitCast(x->b, v, x->i32, "");
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (!strcmp(ops[i].name, x->data))
            r = LLVMBuildAtomicRMW(x->b, is_signed(x, 1) ? ops[i].s : ops[i].u,
                                   arg(x, 0), v, LLVMAtomicOrderingMonotonic,
                                   false);
    return fl ? LLVMBuildBitCast(x->b, r, result(x), "") : r;
}

static LLVMValueRef x_cmpxchg(xp *x)
{
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(
        x->b, arg(x, 0), arg(x, 1), arg(x, 2), LLVMAtomicOrderingMonotonic,
        LLVMAtomicOrderingMonotonic, false);

    return LLVMBuildExtractValue(x->b, pair, 0, "");
}

/* --- the tables ------------------------------------------------------------ */

static const struct {
    const char *name;
    expander *fn;
    const char *data;
    bool family;
} rows[] = {
#define BUILTIN(name, fn, data) {#name, x_##fn, data, false},
#define FAMILY(name, fn) {#name, x_##fn, "", true},
#include "sim/builtins/builtins.def"
};

static expander *find(xp *x)
{
    expander *best = NULL;
    size_t best_n = 0;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = strlen(rows[i].name);

        if (rows[i].family ? strncmp(x->name, rows[i].name, n) || n < best_n
                           : strcmp(x->name, rows[i].name))
            continue;
        best = rows[i].fn;
        best_n = n;
        x->data = rows[i].data;
        if (!rows[i].family)
            break;
    }
    return best;
}

static bool is_ours(const char *symbol)
{
    return !strncmp(symbol, "llvm.", 5) ||
           (!strncmp(symbol, "__vpu_", 6) &&
            strcmp(symbol, "__vpu_wait_group_events"));
}

static vpu_status expand_call(xp *x, const char *path, vpu_error *err)
{
    const char *symbol = ir_callee(x->call);
    unsigned line = LLVMGetDebugLocLine(x->call);
    unsigned col = LLVMGetDebugLocColumn(x->call);
    expander *fn;
    LLVMValueRef r;

    ir_demangle(symbol, &x->sig);
    snprintf(x->name, sizeof x->name, "%.*s", (int)x->sig.name_len,
             x->sig.name);
    x->n_args = LLVMGetNumArgOperands(x->call);
    x->problem = NULL;
    fn = find(x);
    if (!fn)
        return err_at(err, VPU_ERR_COMPILE, path, line, col,
                      "function '%s' is neither defined nor a supported "
                      "built-in",
                      x->name);
    LLVMPositionBuilderBefore(x->b, x->call);
    LLVMSetCurrentDebugLocation2(x->b, LLVMInstructionGetDebugLoc(x->call));
    r = fn(x);
    if (x->problem)
        return err_at(err, VPU_ERR_COMPILE, path, line, col, "'%s': %s",
                      x->name, x->problem);
    if (r)
        LLVMReplaceAllUsesWith(x->call, r);
    LLVMInstructionEraseFromParent(x->call);
    return VPU_OK;
}

vpu_status expand_builtins(LLVMModuleRef m, const char *path, vpu_error *err)
{
    LLVMContextRef c = LLVMGetModuleContext(m);
    xp x = {.m = m, .c = c, .i32 = LLVMInt32TypeInContext(c)};
    vpu_status st = VPU_OK;

    x.b = LLVMCreateBuilderInContext(c);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f && !st;
         f = LLVMGetNextFunction(f))
        ir_each_block(b, f)
        {
            LLVMValueRef next;

            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && !st;
                 i = next) {
                LLVMValueRef callee;
                size_t n;

                next = LLVMGetNextInstruction(i);
                if (!LLVMIsACallInst(i))
                    continue;
                callee = LLVMGetCalledValue(i);
                if (!LLVMIsAFunction(callee) || !LLVMIsDeclaration(callee) ||
                    is_ours(LLVMGetValueName2(callee, &n)))
                    continue;
                x.call = i;
                st = expand_call(&x, path, err);
            }
            if (st)
                break;
        }
    LLVMDisposeBuilder(x.b);
    return st;
}
