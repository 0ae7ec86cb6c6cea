/* Single elements: integers, floats, comparisons, conversions. */
#include "isa/semantics.h"

#include <math.h>
#include <string.h>

/* What compilers call a half before C23. */
__extension__ typedef _Float16 half;

/* --- bits and numbers ---------------------------------------------------- */

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

/* --- arithmetic ---------------------------------------------------------- */

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

static uint32_t zeros(uint32_t a, bool leading)
{
    if (!a)
        return 32;
    return (uint32_t)(leading ? __builtin_clz(a) : __builtin_ctz(a));
}

/* --- rows ---------------------------------------------------------------- */

isa_type isa_computes_in(const isa_instr *in)
{
    isa_type as = (isa_type)isa_ops[in->op].as;

    return as ? as : in->type ? (isa_type)in->type : ISA_U32;
}

/* The special functions as the mathematical routines compute them: halves
 * rounded once from double, floats by the C library. */
static uint32_t special(isa_type t, double d, float f)
{
    half h = (half)d;
    uint32_t bits = 0;

    memcpy(&bits, t == ISA_F16 ? (void *)&h : (void *)&f, isa_type_bytes(t));
    return bits;
}

static uint32_t high_word(isa_type t, uint32_t a, uint32_t b)
{
    return t == ISA_U32 ? (uint32_t)((uint64_t)a * b >> 32)
                        : (uint32_t)(whole(t, a) * whole(t, b) >> 32);
}

/* One lane after the other of what x and y give; the operation is looked up
 * once for all. */
#define EACH(value)                        \
    for (unsigned k = 0; k < n; k++) {     \
        const uint32_t x = a[k], y = b[k]; \
                                           \
        (void)x, (void)y;                  \
        out[k] = (value);                  \
    }                                      \
    break

void isa_elements(const isa_instr *in, isa_type t, unsigned n,
                  const uint32_t *a, const uint32_t *b, uint32_t *out)
{
    switch ((isa_lanes)isa_ops[in->op].lanes) {
    case ISA_LANES_none:
        EACH(0);
    case ISA_LANES_copy:
        EACH(x);
    case ISA_LANES_add:
        EACH(x + y);
    case ISA_LANES_sub:
        EACH(x - y);
    case ISA_LANES_mul:
        EACH(x * y);
    case ISA_LANES_mul_high:
        EACH(high_word(t, x, y));
    case ISA_LANES_div:
        EACH(divide(t, x, y, false));
    case ISA_LANES_rem:
        EACH(divide(t, x, y, true));
    case ISA_LANES_and:
        EACH(x & y);
    case ISA_LANES_or:
        EACH(x | y);
    case ISA_LANES_xor:
        EACH(x ^ y);
    case ISA_LANES_shl:
        EACH(shift(t, x, y, true));
    case ISA_LANES_shr:
        EACH(shift(t, x, y, false));
    case ISA_LANES_clz:
        EACH(zeros(x, true));
    case ISA_LANES_ctz:
        EACH(zeros(x, false));
    case ISA_LANES_pop:
        EACH((uint32_t)__builtin_popcount(x));
    case ISA_LANES_compare:
        EACH(compare(t, (isa_cond)in->sub, x, y));
    case ISA_LANES_compare_lane:
        EACH(compare(t, (isa_cond)in->sub, x, y) ? ~0u : 0);
    case ISA_LANES_min:
        EACH(extreme(t, x, y, false));
    case ISA_LANES_max:
        EACH(extreme(t, x, y, true));
    case ISA_LANES_float_add:
        EACH(rounded(t, real(t, x) + real(t, y)));
    case ISA_LANES_float_sub:
        EACH(rounded(t, real(t, x) - real(t, y)));
    case ISA_LANES_float_mul:
        EACH(rounded(t, real(t, x) * real(t, y)));
    case ISA_LANES_float_div:
        EACH(rounded(t, real(t, x) / real(t, y)));
    case ISA_LANES_float_sqrt:
        EACH(rounded(t, sqrtf(real(t, x))));
    case ISA_LANES_float_rsqrt:
        EACH(special(t, 1.0 / sqrt((double)real(t, x)),
                     (float)(1.0 / sqrt((double)real(t, x)))));
    case ISA_LANES_float_exp2:
        EACH(special(t, exp2((double)real(t, x)), exp2f(real(t, x))));
    case ISA_LANES_float_log2:
        EACH(special(t, log2((double)real(t, x)), log2f(real(t, x))));
    case ISA_LANES_float_round:
        EACH(rounded(t, integral((isa_round)in->sub, real(t, x))));
    }
}

#undef EACH
