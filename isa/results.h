/* The results of operations, as functions that are built into whoever calls
 * them: where operation and type are known, as in the interpreter's steps,
 * little is left of them. semantics.h tells what they mean; nothing else
 * defines a result.
 *
 * t is the type computed in, sub is isa_instr.sub. */
#ifndef VPU_ISA_RESULTS_H
#define VPU_ISA_RESULTS_H

#include <assert.h>
#include <math.h>
#include <string.h>

#include "isa/semantics.h"

/* Without optimisation nothing would become less, but the program longer; with
 * a sanitizer's checks in it, compilation would take a minute. */
#ifdef __has_feature
#define ISA_SANITIZED __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define ISA_SANITIZED 1
#else
#define ISA_SANITIZED 0
#endif
#if defined(__OPTIMIZE__) && !ISA_SANITIZED
#define ISA_BUILT_IN static inline __attribute__((always_inline))
#else
#define ISA_BUILT_IN static inline
#endif

/* What compilers call a half before C23. */
__extension__ typedef _Float16 isa_half;

/* Lanes are copied as they lie in memory. */
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "lane 0 is lowest on this host, too");

/* --- bits and numbers ---------------------------------------------------- */

ISA_BUILT_IN bool isa_is_float(isa_type t)
{
    return t == ISA_F16 || t == ISA_F32;
}

ISA_BUILT_IN bool isa_is_signed(isa_type t)
{
    return t == ISA_S8 || t == ISA_S16 || t == ISA_S32;
}

ISA_BUILT_IN uint32_t isa_mask_of(isa_type t)
{
    return 0xffffffffu >> (32 - 8 * isa_type_bytes(t));
}

/* isa_extend */
ISA_BUILT_IN uint32_t isa_extended(isa_type t, uint32_t bits)
{
    switch (t) {
    case ISA_S8:
        return (uint32_t)(int8_t)bits;
    case ISA_S16:
        return (uint32_t)(int16_t)bits;
    default:
        return bits & isa_mask_of(t);
    }
}

/* The integer that the bits are. */
ISA_BUILT_IN int64_t isa_whole_number(isa_type t, uint32_t bits)
{
    bits = isa_extended(t, bits);
    return isa_is_signed(t) ? (int64_t)(int32_t)bits : (int64_t)bits;
}

ISA_BUILT_IN float isa_as_float(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

ISA_BUILT_IN uint32_t isa_bits_of(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* All bits or none: loops over lanes stay without branches, so that the host's
 * vectors may do them. */
ISA_BUILT_IN uint32_t isa_when(bool so)
{
    return 0 - (uint32_t)so;
}

/* A half's fields at the places a float has them are the number without what
 * the exponents' biases differ by, 127 - 15 = 112; the product is exact.
 * Infinities and NaNs have the largest exponent, a NaN becomes a quiet one. */
ISA_BUILT_IN uint32_t isa_float_of_half(uint32_t half)
{
    uint32_t rest = (half & 0x7fff) << 13;
    uint32_t bits = isa_bits_of(isa_as_float(rest) * 0x1p112f);

    bits |= isa_when(rest >= 0x0f800000) & 0x7f800000;
    bits |= isa_when(rest > 0x0f800000) & 0x00400000;
    return bits | (half & 0x8000) << 16;
}

/* To nearest even: of a normal half by adding half of what is cut off, less one
 * bit where the result is even; of a smaller one by the addition of 0.5, whose
 * last bit is worth as much as the half's. */
ISA_BUILT_IN uint32_t isa_half_of_float(uint32_t bits)
{
    uint32_t rest = bits & 0x7fffffff;
    uint32_t normal =
        (rest + 0xfff + (rest >> 13 & 1) - (UINT32_C(112) << 23)) >> 13;
    uint32_t small = isa_bits_of(isa_as_float(rest) + 0.5f) - isa_bits_of(0.5f);
    uint32_t is_small = isa_when(rest < 0x38800000); /* 2^-14 */
    uint32_t half = (small & is_small) | (normal & ~is_small);
    uint32_t is_large = isa_when(rest >= 0x47800000); /* 2^16 */
    uint32_t nan = isa_when(rest > 0x7f800000) & (0x200 | (rest >> 13 & 0x1ff));

    half = (half & ~is_large) | (is_large & 0x7c00) | nan;
    return half | (bits >> 16 & 0x8000);
}

ISA_BUILT_IN float isa_real(isa_type t, uint32_t bits)
{
    return isa_as_float(t == ISA_F16 ? isa_float_of_half(bits & 0xffff) : bits);
}

/* A float's own bits, or the half nearest to it: rounding a float result of +,
 * -, *, / or sqrt of halves again gives what rounding once would, as 24 bits
 * are at least 2 * 11 + 2. */
ISA_BUILT_IN uint32_t isa_rounded(isa_type t, float x)
{
    return t == ISA_F16 ? isa_half_of_float(isa_bits_of(x)) : isa_bits_of(x);
}

/* The float nearest to an integer. One that a float does not hold is larger
 * than all halves, so that a half of this is rounded once, too. */
ISA_BUILT_IN float isa_float_of_integer(isa_type t, uint32_t bits)
{
    bits = isa_extended(t, bits);
    return t == ISA_U32 ? (float)bits : (float)(int32_t)bits;
}

ISA_BUILT_IN uint32_t isa_integer_of_float(isa_type to, float x)
{
    int64_t most = isa_is_signed(to) ? isa_mask_of(to) >> 1 : isa_mask_of(to);
    int64_t least = isa_is_signed(to) ? -most - 1 : 0;

    if (isnan(x))
        return 0;
    /* most + 1 and least are powers of two: exact as floats. */
    if (x >= (float)(most + 1))
        return isa_extended(to, (uint32_t)most);
    if (x <= (float)least)
        return isa_extended(to, (uint32_t)least);
    return isa_extended(to, (uint32_t)(int64_t)x);
}

/* isa_convert */
ISA_BUILT_IN uint32_t isa_converted(isa_type to, isa_type from, uint32_t bits)
{
    if (isa_is_float(from))
        return isa_is_float(to)
                   ? isa_rounded(to, isa_real(from, bits))
                   : isa_integer_of_float(to, isa_real(from, bits));
    if (isa_is_float(to))
        return isa_rounded(to, isa_float_of_integer(from, bits));
    return isa_extended(to, isa_extended(from, bits));
}

/* --- arithmetic ---------------------------------------------------------- */

ISA_BUILT_IN uint32_t isa_divide(isa_type t, uint32_t a, uint32_t b,
                                 bool remainder)
{
    int64_t x = isa_whole_number(t, a), y = isa_whole_number(t, b);

    return y ? (uint32_t)(remainder ? x % y : x / y) : 0;
}

ISA_BUILT_IN uint32_t isa_high_word(isa_type t, uint32_t a, uint32_t b)
{
    return t == ISA_U32
               ? (uint32_t)((uint64_t)a * b >> 32)
               : (uint32_t)(isa_whole_number(t, a) * isa_whole_number(t, b) >>
                            32);
}

/* by: a word, or a lane with zeros above it. */
ISA_BUILT_IN uint32_t isa_shift(isa_type t, uint32_t a, uint32_t by, bool left)
{
    unsigned bits = 8 * isa_type_bytes(t);

    if (left)
        return by < bits ? a << by : 0;
    a = isa_extended(t, a);
    if (by >= bits)
        return isa_is_signed(t) && (int32_t)a < 0 ? ~0u : 0;
    return isa_is_signed(t) ? (uint32_t)((int32_t)a >> by) : a >> by;
}

ISA_BUILT_IN bool isa_ordered(isa_cond c, bool less, bool equal)
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
        return less | equal;
    case ISA_GT:
    case ISA_UGT:
        return !(less | equal);
    case ISA_GE:
    case ISA_UGE:
        return !less;
    default:
        return c == ISA_ORD;
    }
}

ISA_BUILT_IN bool isa_compare(isa_type t, isa_cond c, uint32_t a, uint32_t b)
{
    bool is_signed = isa_is_signed(t), unordered, with_nan;
    float x, y;

    if (!isa_is_float(t)) {
        a = isa_extended(t, a);
        b = isa_extended(t, b);
        return isa_ordered(c, is_signed ? (int32_t)a < (int32_t)b : a < b,
                           a == b);
    }
    x = isa_real(t, a);
    y = isa_real(t, b);
    unordered = isnan(x) | isnan(y);
    with_nan = c == ISA_NE || c == ISA_UNO ||
               (c >= ISA_UEQ && c <= ISA_UGE && c != ISA_ONE);
    return unordered ? with_nan : isa_ordered(c, x < y, x == y);
}

ISA_BUILT_IN uint32_t isa_extreme(isa_type t, uint32_t a, uint32_t b, bool most)
{
    bool other = isa_compare(t, most ? ISA_GT : ISA_LT, b, a);

    if (isa_is_float(t))
        other |= isnan(isa_real(t, a));
    return other ? b : a;
}

ISA_BUILT_IN float isa_integral(isa_round how, float x)
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

ISA_BUILT_IN uint32_t isa_zeros(uint32_t a, bool leading)
{
    if (!a)
        return 32;
    return (uint32_t)(leading ? __builtin_clz(a) : __builtin_ctz(a));
}

/* The special functions as the mathematical routines compute them: halves
 * rounded once from double, floats by the C library. */
ISA_BUILT_IN uint32_t isa_special(isa_type t, double d, float f)
{
    isa_half half = (isa_half)d;
    uint16_t low;

    if (t != ISA_F16)
        return isa_bits_of(f);
    memcpy(&low, &half, sizeof low);
    return low;
}

/* --- operations lane by lane --------------------------------------------- */

/* isa_lane_NAME: of one element. */
#define LANE(name, value)                                           \
    ISA_BUILT_IN uint32_t isa_lane_##name(isa_type t, unsigned sub, \
                                          uint32_t x, uint32_t y)   \
    {                                                               \
        (void)t, (void)sub, (void)x, (void)y;                       \
        return value;                                               \
    }
#include "isa/lanes.def"

/* A scalar result as its register holds it: a word, or of the operation's type.
 */
ISA_BUILT_IN uint32_t isa_word_result(isa_lanes lanes, isa_type type,
                                      uint32_t bits)
{
    return !type || lanes == ISA_LANES_compare ? bits
                                               : isa_extended(type, bits);
}

/* isa_lanes_NAME: of vectors. */
#define ISA_EACH(name, width)                                            \
    {                                                                    \
        uint##width##_t x[128 / width], y[128 / width];                  \
                                                                         \
        memcpy(x, a, sizeof x);                                          \
        memcpy(y, b, sizeof y);                                          \
        for (unsigned k = 0; k < 128 / width; k++)                       \
            x[k] = (uint##width##_t)isa_lane_##name(t, sub, x[k], y[k]); \
        memcpy(&v, x, sizeof v);                                         \
    }
#define LANE(name, value)                                                 \
    ISA_BUILT_IN isa_value isa_lanes_##name(                              \
        isa_type t, unsigned sub, const isa_value *a, const isa_value *b) \
    {                                                                     \
        isa_value v;                                                      \
                                                                          \
        if (isa_type_bytes(t) == 1)                                       \
            ISA_EACH(name, 8)                                             \
        else if (isa_type_bytes(t) == 2)                                  \
            ISA_EACH(name, 16)                                            \
        else                                                              \
            ISA_EACH(name, 32)                                            \
        return v;                                                         \
    }
#include "isa/lanes.def"

/* --- operations on whole operands ---------------------------------------- */

ISA_BUILT_IN uint32_t isa_word(const isa_value *v)
{
    uint32_t bits;

    memcpy(&bits, v, sizeof bits);
    return bits;
}

ISA_BUILT_IN isa_value isa_scalar(uint32_t bits)
{
    isa_value v = {{0}};

    memcpy(&v, &bits, sizeof bits);
    return v;
}

ISA_BUILT_IN uint32_t isa_lane_at(const isa_value *v, unsigned bytes,
                                  unsigned k)
{
    uint32_t bits = 0;

    memcpy(&bits, v->byte + k * bytes, bytes);
    return bits;
}

ISA_BUILT_IN void isa_put_lane(isa_value *v, unsigned bytes, unsigned k,
                               uint32_t bits)
{
    memcpy(v->byte + k * bytes, &bits, bytes);
}

/* What isa_whole_NAME gets. */
typedef struct {
    isa_type t, from;
    unsigned sub;
    const uint8_t *table; /* the vector imm names, for those that have one */
} isa_shape;

/* Bytes of a lane, and lanes of a vector. */
ISA_BUILT_IN unsigned isa_bytes(const isa_shape *s)
{
    return isa_type_bytes(s->t);
}

ISA_BUILT_IN unsigned isa_count(const isa_shape *s)
{
    return ISA_VECTOR_BYTES / isa_bytes(s);
}

ISA_BUILT_IN isa_value isa_whole_select(const isa_shape *s,
                                        const isa_value *src)
{
    (void)s;
    return isa_scalar(isa_word(&src[0]) ? isa_word(&src[1])
                                        : isa_word(&src[2]));
}

ISA_BUILT_IN isa_value isa_whole_select_bits(const isa_shape *s,
                                             const isa_value *src)
{
    uint64_t x[3][2];
    isa_value v;

    (void)s;
    memcpy(x, src, sizeof x);
    for (unsigned k = 0; k < 2; k++)
        x[0][k] = (x[0][k] & x[1][k]) | (~x[0][k] & x[2][k]);
    memcpy(&v, x[0], sizeof v);
    return v;
}

ISA_BUILT_IN isa_value isa_whole_convert(const isa_shape *s,
                                         const isa_value *src)
{
    return isa_scalar(isa_converted(s->t, s->from, isa_word(&src[0])));
}

ISA_BUILT_IN isa_value isa_whole_widen(const isa_shape *s, const isa_value *src)
{
    unsigned from = isa_type_bytes(s->from), n = isa_count(s);
    isa_value v;

    for (unsigned k = 0; k < n; k++)
        isa_put_lane(&v, isa_bytes(s), k,
                     isa_converted(s->t, s->from,
                                   isa_lane_at(&src[0], from, s->sub * n + k)));
    return v;
}

ISA_BUILT_IN isa_value isa_whole_narrow(const isa_shape *s,
                                        const isa_value *src)
{
    unsigned from = isa_type_bytes(s->from), n = ISA_VECTOR_BYTES / from;
    isa_value v = src[1];

    for (unsigned k = 0; k < n; k++)
        isa_put_lane(
            &v, isa_bytes(s), s->sub * n + k,
            isa_converted(s->t, s->from, isa_lane_at(&src[0], from, k)));
    return v;
}

ISA_BUILT_IN isa_value isa_whole_move(const isa_shape *s, const isa_value *src)
{
    (void)s;
    return src[0];
}

ISA_BUILT_IN isa_value isa_whole_splat(const isa_shape *s, const isa_value *src)
{
    isa_value v;

    for (unsigned k = 0; k < isa_count(s); k++)
        isa_put_lane(&v, isa_bytes(s), k, isa_word(&src[0]));
    return v;
}

ISA_BUILT_IN isa_value isa_whole_extract(const isa_shape *s,
                                         const isa_value *src)
{
    return isa_scalar(
        isa_lane_at(&src[0], isa_bytes(s), s->sub % isa_count(s)));
}

ISA_BUILT_IN isa_value isa_whole_extract_by(const isa_shape *s,
                                            const isa_value *src)
{
    return isa_scalar(
        isa_lane_at(&src[0], isa_bytes(s), isa_word(&src[1]) % isa_count(s)));
}

ISA_BUILT_IN isa_value isa_whole_insert(const isa_shape *s,
                                        const isa_value *src)
{
    isa_value v = src[0];

    isa_put_lane(&v, isa_bytes(s), s->sub % isa_count(s), isa_word(&src[1]));
    return v;
}

ISA_BUILT_IN isa_value isa_whole_insert_by(const isa_shape *s,
                                           const isa_value *src)
{
    isa_value v = src[0];

    isa_put_lane(&v, isa_bytes(s), isa_word(&src[2]) % isa_count(s),
                 isa_word(&src[1]));
    return v;
}

ISA_BUILT_IN isa_value isa_whole_shuffle(const isa_shape *s,
                                         const isa_value *src)
{
    isa_value v;

    for (unsigned k = 0; k < ISA_VECTOR_BYTES; k++)
        v.byte[k] = s->table[k] < 16   ? src[0].byte[s->table[k]]
                    : s->table[k] < 32 ? src[1].byte[s->table[k] - 16]
                                       : 0;
    return v;
}

ISA_BUILT_IN uint32_t isa_reduce_step(const isa_shape *s, uint32_t x,
                                      uint32_t y)
{
    bool real = isa_is_float(s->t);

    switch ((isa_reduce)s->sub) {
    case ISA_SUM:
        return real ? isa_lane_float_add(s->t, 0, x, y) : x + y;
    case ISA_PRODUCT:
        return real ? isa_lane_float_mul(s->t, 0, x, y) : x * y;
    case ISA_ALL:
        return x & y;
    case ISA_ANY:
        return x | y;
    case ISA_PARITY:
        return x ^ y;
    default:
        return isa_extreme(s->t, x, y, s->sub == ISA_MOST);
    }
}

/* Lane after lane. */
ISA_BUILT_IN isa_value isa_whole_reduce(const isa_shape *s,
                                        const isa_value *src)
{
    uint32_t r = isa_lane_at(&src[0], isa_bytes(s), 0);

    for (unsigned k = 1; k < isa_count(s); k++)
        r = isa_reduce_step(s, r, isa_lane_at(&src[0], isa_bytes(s), k));
    return isa_scalar(isa_extended(s->t, r));
}

ISA_BUILT_IN isa_value isa_whole_top_bits(const isa_shape *s,
                                          const isa_value *src)
{
    uint32_t r = 0;

    for (unsigned k = 0; k < isa_count(s); k++)
        r |= (uint32_t)(src[0].byte[(k + 1) * isa_bytes(s) - 1] >> 7) << k;
    return isa_scalar(r);
}

ISA_BUILT_IN isa_value isa_whole_constant(const isa_shape *s,
                                          const isa_value *src)
{
    isa_value v;

    (void)src;
    memcpy(&v, s->table, sizeof v);
    return v;
}

#endif
