/* convert_ built-ins: every type, rounding and _sat. */
#include "sim/compiler/expand/expand_priv.h"

#include <string.h>

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
    } types[] = {{"char", 8, false, true},   {"uchar", 8, false, false},
                 {"short", 16, false, true}, {"ushort", 16, false, false},
                 {"int", 32, false, true},   {"uint", 32, false, false},
                 {"long", 64, false, true},  {"ulong", 64, false, false},
                 {"half", 16, true, true},   {"float", 32, true, true}};

    *out = (conversion){0};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t n = strlen(types[i].name);

        if (strncmp(s, types[i].name, n) || (s[n] >= 'a' && s[n] <= 'z'))
            continue;
        out->bits = types[i].bits;
        out->is_float = types[i].is_float;
        out->is_signed = types[i].is_signed;
        out->element = ir_element(xp_result(x));
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

LLVMValueRef xp_lanewise(xp *x, call_id id, LLVMValueRef v, LLVMTypeRef to)
{
    LLVMTypeRef e = ir_element(to);
    LLVMValueRef r = LLVMGetUndef(to);
    unsigned lanes = ir_lanes(to);

    if (id == CALL_NONE) {
        x->problem = "not a rounding of OpenCL C 1.2";
        return NULL;
    }
    if (lanes == 1)
        return xp_runtime(x, id, e, &v, 1);
    for (unsigned l = 0; l < lanes; l++) {
        LLVMValueRef one =
            LLVMBuildExtractElement(x->builder, v, xp_k32(x, l), "");

        r = LLVMBuildInsertElement(x->builder, r, xp_runtime(x, id, e, &one, 1),
                                   xp_k32(x, l), "");
    }
    return r;
}

static LLVMValueRef float_to_int(xp *x, LLVMValueRef v, LLVMTypeRef to,
                                 const conversion *cv)
{
    LLVMTypeRef from = LLVMTypeOf(v), over[2] = {to, from};
    LLVMValueRef r;
    const char *round = cv->round == 'e'   ? "llvm.rint"
                        : cv->round == 'p' ? "llvm.ceil"
                        : cv->round == 'n' ? "llvm.floor"
                                           : NULL;

    if (round)
        v = xp_intrinsic(x, round, &from, 1, &v, 1);
    /* Saturating even without _sat: out of range is implementation-defined and
     * must neither trap nor be undefined (docs/hardware.md, "Kernel language").
     */
    r = xp_intrinsic(x, cv->is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat",
                     over, 2, &v, 1);
    if (!cv->sat)
        ir_mark_unsaturated(r);
    return r;
}

static LLVMValueRef int_to_int(xp *x, LLVMValueRef v, LLVMTypeRef to,
                               const conversion *cv)
{
    LLVMTypeRef from = LLVMTypeOf(v);
    unsigned from_bits = ir_bits_of(ir_element(from));
    bool from_signed = xp_is_signed(x, 0);

    if (cv->sat) {
        /* Clamp in the source type where the target's limits fit into it. */
        uint64_t top = cv->is_signed ? (UINT64_C(1) << (cv->bits - 1)) - 1
                                     : UINT64_MAX >> (64 - cv->bits);
        uint64_t from_top = from_signed ? (UINT64_C(1) << (from_bits - 1)) - 1
                                        : UINT64_MAX >> (64 - from_bits);
        LLVMTypeRef e = ir_element(from);

        if (from_top > top)
            v = xp_min_max(x, v, xp_splat(x, LLVMConstInt(e, top, false), from),
                           false);
        if (from_signed && (!cv->is_signed || cv->bits < from_bits)) {
            uint64_t low =
                cv->is_signed
                    ? (uint64_t)-(int64_t)(UINT64_C(1) << (cv->bits - 1))
                    : 0;

            v = xp_min_max(x, v, xp_splat(x, LLVMConstInt(e, low, true), from),
                           true);
        }
    }
    return LLVMBuildIntCast2(x->builder, v, to, from_signed, "");
}

/* Floats from 64-bit integers directly; halves by way of float, whose rounding
 * does not matter: integers that a float cannot hold are far beyond any half.
 */
static LLVMValueRef int_to_float_directed(xp *x, LLVMValueRef v, LLVMTypeRef to,
                                          const conversion *cv)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(x->context);
    LLVMTypeRef f = LLVMFloatTypeInContext(x->context);
    bool is_signed = xp_is_signed(x, 0);

    if (ir_lanes(to) > 1) {
        i64 = LLVMVectorType(i64, ir_lanes(to));
        f = LLVMVectorType(f, ir_lanes(to));
    }
    if (cv->bits == 16) {
        v = is_signed ? LLVMBuildSIToFP(x->builder, v, f, "")
                      : LLVMBuildUIToFP(x->builder, v, f, "");
        return xp_lanewise(x, call_half_directed(cv->round), v, to);
    }
    v = LLVMBuildIntCast2(x->builder, v, i64, is_signed, "");
    return xp_lanewise(x, call_float_directed(is_signed, cv->round), v, to);
}

LLVMValueRef x_convert(xp *x)
{
    LLVMValueRef v = xp_arg(x, 0);
    LLVMTypeRef from = LLVMTypeOf(v), to = xp_result(x);
    conversion cv;
    bool from_float = xp_is_float(from);

    if (!parse_conversion(x, x->name + strlen("convert_"), &cv)) {
        x->problem = "not a conversion of OpenCL C 1.2";
        return NULL;
    }
    if (!cv.is_float)
        return from_float ? float_to_int(x, v, to, &cv)
                          : int_to_int(x, v, to, &cv);
    if (from_float) {
        if (cv.bits == 16 && ir_bits_of(ir_element(from)) == 32 && cv.round &&
            cv.round != 'e')
            return xp_lanewise(x, call_half_directed(cv.round), v, to);
        return LLVMBuildFPCast(x->builder, v, to, "");
    }
    if (cv.round && cv.round != 'e')
        return int_to_float_directed(x, v, to, &cv);
    return xp_is_signed(x, 0) ? LLVMBuildSIToFP(x->builder, v, to, "")
                              : LLVMBuildUIToFP(x->builder, v, to, "");
}
