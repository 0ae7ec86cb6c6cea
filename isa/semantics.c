/* Single elements: integers, floats, comparisons, conversions. */
#include "isa/semantics.h"

#include <math.h>
#include <string.h>

/* What compilers call a half before C23. */
__extension__ typedef _Float16 half;

/* --- bits and numbers ------------------------------------------------------
 */

static bool is_float(isa_type t)
{
    return t == ISA_F16 || t == ISA_F32;
}

static bool is_signed(isa_type t)
{
    return t == ISA_S8 || t == ISA_S16 || t == ISA_S32;
}

static uint32_t mask_of(isa_type t)
{
    return 0xffffffffu >> (32 - 8 * isa_type_bytes(t));
}

uint32_t isa_extend(isa_type t, uint32_t bits)
{
    uint32_t mask = mask_of(t);

    bits &= mask;
    if (is_signed(t) && bits & (mask ^ mask >> 1))
        bits |= ~mask;
    return bits;
}

/* The integer that the bits are. */
static int64_t whole(isa_type t, uint32_t bits)
{
    bits = isa_extend(t, bits);
    return is_signed(t) ? (int64_t)(int32_t)bits : (int64_t)bits;
}

static float real(isa_type t, uint32_t bits)
{
    uint16_t low = (uint16_t)bits;
    half h;
    float f;

    if (t == ISA_F16) {
        memcpy(&h, &low, sizeof h);
        return (float)h;
    }
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* The nearest half or float. A double holds the exact result of anything that
 * may be asked: no value is rounded on its way here, so this is once. */
static uint32_t nearest(isa_type t, double x)
{
    uint32_t bits;

    if (t == ISA_F16) {
        half h = (half)x;
        uint16_t low;

        memcpy(&low, &h, sizeof low);
        bits = low;
    } else {
        float f = (float)x;

        memcpy(&bits, &f, sizeof bits);
    }
    return bits;
}

/* A float's own bits, or the half nearest to it: rounding a float result of +,
 * -, *, / or sqrt of halves again gives what rounding once would, as 24 bits
 * are at least 2 * 11 + 2. */
static uint32_t rounded(isa_type t, float x)
{
    return nearest(t, (double)x);
}

uint32_t isa_convert(isa_type to, isa_type from, uint32_t bits)
{
    int64_t most, least;
    float x;

    if (is_float(to))
        return is_float(from) ? rounded(to, real(from, bits))
                              : nearest(to, (double)whole(from, bits));
    if (!is_float(from))
        return isa_extend(to, (uint32_t)whole(from, bits));
    x = real(from, bits);
    most = is_signed(to) ? mask_of(to) >> 1 : mask_of(to);
    least = is_signed(to) ? -most - 1 : 0;
    if (isnan(x))
        return 0;
    /* most + 1 and least are powers of two: exact as floats. */
    if (x >= (float)(most + 1))
        return isa_extend(to, (uint32_t)most);
    if (x <= (float)least)
        return isa_extend(to, (uint32_t)least);
    return isa_extend(to, (uint32_t)(int64_t)x);
}

/* --- arithmetic ------------------------------------------------------------
 */

static uint32_t divide(isa_type t, uint32_t a, uint32_t b, bool remainder)
{
    int64_t x = whole(t, a), y = whole(t, b);

    return y ? (uint32_t)(remainder ? x % y : x / y) : 0;
}

/* by: a word, or a lane with zeros above it. */
static uint32_t shift(isa_type t, uint32_t a, uint32_t by, bool left)
{
    unsigned bits = 8 * isa_type_bytes(t);
    int64_t x = whole(t, a);

    if (left)
        return by < bits ? a << by : 0;
    if (by >= bits)
        return x < 0 ? ~0u : 0;
    return (uint32_t)(x >> by);
}

static bool ordered(isa_cond c, bool less, bool equal)
{
    switch (c) {
    case ISA_EQ:
    case ISA_UEQ:
        return equal;
    case ISA_NE:
    case ISA_ONE:
        return !equal;
    case ISA_LT:
    case ISA_ULT:
        return less;
    case ISA_LE:
    case ISA_ULE:
        return less || equal;
    case ISA_GT:
    case ISA_UGT:
        return !less && !equal;
    case ISA_GE:
    case ISA_UGE:
        return !less;
    default:
        return c == ISA_ORD;
    }
}

static bool compare(isa_type t, isa_cond c, uint32_t a, uint32_t b)
{
    float x, y;

    if (!is_float(t))
        return ordered(c, whole(t, a) < whole(t, b),
                       whole(t, a) == whole(t, b));
    x = real(t, a);
    y = real(t, b);
    if (isnan(x) || isnan(y))
        return c == ISA_NE || c == ISA_UNO ||
               (c >= ISA_UEQ && c <= ISA_UGE && c != ISA_ONE);
    return ordered(c, x < y, x == y);
}

static uint32_t extreme(isa_type t, uint32_t a, uint32_t b, bool most)
{
    if (is_float(t) && isnan(real(t, a)))
        return b;
    return compare(t, most ? ISA_GT : ISA_LT, b, a) ? b : a;
}

static float integral(isa_round how, float x)
{
    switch (how) {
    case ISA_FLOOR:
        return floorf(x);
    case ISA_CEIL:
        return ceilf(x);
    case ISA_TRUNC:
        return truncf(x);
    case ISA_RINT:
        return rintf(x);
    default:
        return roundf(x);
    }
}

static uint32_t count(isa_op op, uint32_t a)
{
    if (op == ISA_OP_ipop)
        return (uint32_t)__builtin_popcount(a);
    if (!a)
        return 32;
    return (uint32_t)(op == ISA_OP_iclz ? __builtin_clz(a) : __builtin_ctz(a));
}

/* --- rows ------------------------------------------------------------------
 */

/* The type a row computes in: its own, or what it is for. */
static isa_type type_of(const isa_instr *in)
{
    switch (in->op) {
    case ISA_OP_vfadd16:
    case ISA_OP_vfsub16:
    case ISA_OP_vfmul16:
        return ISA_F16;
    case ISA_OP_vfadd32:
    case ISA_OP_vfsub32:
    case ISA_OP_vfmul32:
        return ISA_F32;
    default:
        return in->type ? (isa_type)in->type : ISA_U32;
    }
}

/* The special functions as the mathematical routines compute them: halves
 * rounded once from double, floats by the C library. */
static uint32_t special(isa_op op, isa_type t, float x)
{
    double d = op == ISA_OP_frsqrt  ? 1.0 / sqrt((double)x)
               : op == ISA_OP_fexp2 ? exp2((double)x)
                                    : log2((double)x);
    half h = (half)d;
    float f = op == ISA_OP_frsqrt  ? (float)d
              : op == ISA_OP_fexp2 ? exp2f(x)
                                   : log2f(x);
    uint32_t bits = 0;

    memcpy(&bits, t == ISA_F16 ? (void *)&h : (void *)&f, isa_type_bytes(t));
    return bits;
}

static uint32_t float_element(const isa_instr *in, isa_type t, uint32_t a,
                              uint32_t b)
{
    float x = real(t, a), y = real(t, b);

    switch (in->op) {
    case ISA_OP_fadd:
    case ISA_OP_vfadd16:
    case ISA_OP_vfadd32:
        return rounded(t, x + y);
    case ISA_OP_fsub:
    case ISA_OP_vfsub16:
    case ISA_OP_vfsub32:
        return rounded(t, x - y);
    case ISA_OP_fmul:
    case ISA_OP_vfmul16:
    case ISA_OP_vfmul32:
        return rounded(t, x * y);
    case ISA_OP_fdiv:
        return rounded(t, x / y);
    case ISA_OP_fsqrt:
        return rounded(t, sqrtf(x));
    case ISA_OP_frsqrt:
    case ISA_OP_fexp2:
    case ISA_OP_flog2:
        return special((isa_op)in->op, t, x);
    default: /* fround, vround */
        return rounded(t, integral((isa_round)in->sub, x));
    }
}

static uint32_t logic(const isa_instr *in, uint32_t a, uint32_t b)
{
    switch (in->op) {
    case ISA_OP_iand:
    case ISA_OP_vand:
        return a & b;
    case ISA_OP_ior:
    case ISA_OP_vor:
        return a | b;
    default: /* ixor, vxor */
        return a ^ b;
    }
}

static uint32_t high_word(isa_type t, uint32_t a, uint32_t b)
{
    return t == ISA_U32 ? (uint32_t)((uint64_t)a * b >> 32)
                        : (uint32_t)(whole(t, a) * whole(t, b) >> 32);
}

uint32_t isa_element(const isa_instr *in, uint32_t a, uint32_t b)
{
    isa_type t = type_of(in);

    switch (in->op) {
    case ISA_OP_imov:
    case ISA_OP_iext:
        return a;
    case ISA_OP_iadd:
    case ISA_OP_vadd:
        return a + b;
    case ISA_OP_isub:
    case ISA_OP_vsub:
        return a - b;
    case ISA_OP_imul:
    case ISA_OP_vmul:
        return a * b;
    case ISA_OP_imulh:
        return high_word(t, a, b);
    case ISA_OP_idiv:
    case ISA_OP_irem:
        return divide(t, a, b, in->op == ISA_OP_irem);
    case ISA_OP_iand:
    case ISA_OP_ior:
    case ISA_OP_ixor:
    case ISA_OP_vand:
    case ISA_OP_vor:
    case ISA_OP_vxor:
        return logic(in, a, b);
    case ISA_OP_ishl:
    case ISA_OP_vshl:
        return shift(t, a, b, true);
    case ISA_OP_ishr:
    case ISA_OP_vshr:
        return shift(t, a, b, false);
    case ISA_OP_iclz:
    case ISA_OP_ictz:
    case ISA_OP_ipop:
        return count((isa_op)in->op, a);
    case ISA_OP_icmp:
    case ISA_OP_fcmp:
        return compare(t, (isa_cond)in->sub, a, b);
    case ISA_OP_vcmp:
        return compare(t, (isa_cond)in->sub, a, b) ? ~0u : 0;
    case ISA_OP_imin:
    case ISA_OP_fmin:
    case ISA_OP_vmin:
        return extreme(t, a, b, false);
    case ISA_OP_imax:
    case ISA_OP_fmax:
    case ISA_OP_vmax:
        return extreme(t, a, b, true);
    default:
        return float_element(in, t, a, b);
    }
}
