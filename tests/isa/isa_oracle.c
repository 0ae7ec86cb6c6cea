/* One function per kind of operation, lane by lane. */
#include "tests/isa/isa_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- numbers ------------------------------------------------------------- */

bool oracle_is_real(isa_type t)
{
    return t == ISA_F16 || t == ISA_F32;
}

unsigned oracle_width(isa_type t)
{
    return t == ISA_S8 || t == ISA_U8                     ? 8
           : t == ISA_S16 || t == ISA_U16 || t == ISA_F16 ? 16
                                                          : 32;
}

static double half_value(uint16_t h)
{
    int e = h >> 10 & 31, m = h & 1023;
    double x = e == 31  ? (m ? (double)NAN : (double)INFINITY)
               : e == 0 ? ldexp(m, -24)
                        : ldexp(1024 + m, e - 25);

    return h >> 15 ? -x : x;
}

/* To nearest even, by the spacing of halves around x. */
static uint16_t half_bits(double x)
{
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    double a = fabs(x), q;
    int e;

    if (isnan(x))
        return 0x7e00;
    if (a >= 65520)
        return sign | 0x7c00;
    frexp(a, &e);
    if (e < -13)
        e = -13;
    q = rint(ldexp(a, 11 - e)); /* whole spacings: exact in a double */
    if (q >= 2048) {
        q = 1024;
        e++;
    }
    if (q < 1024)
        return (uint16_t)(sign | (uint16_t)q);
    return (uint16_t)(sign | ((e + 14) << 10) | ((uint16_t)q - 1024));
}

double oracle_real(isa_type t, uint32_t bits)
{
    float f;

    if (t == ISA_F16)
        return half_value((uint16_t)bits);
    memcpy(&f, &bits, 4);
    return f;
}

static uint32_t bits_of(isa_type t, double x)
{
    float f = (float)x;
    uint32_t bits;

    if (t == ISA_F16)
        return half_bits(x);
    memcpy(&bits, &f, 4);
    return bits;
}

int64_t oracle_whole(isa_type t, uint32_t bits)
{
    switch (t) {
    case ISA_S8:
        return (int8_t)bits;
    case ISA_U8:
        return (uint8_t)bits;
    case ISA_S16:
        return (int16_t)bits;
    case ISA_U16:
        return (uint16_t)bits;
    case ISA_S32:
        return (int32_t)bits;
    default:
        return bits;
    }
}

uint32_t oracle_lane(isa_type t, const oracle_bits *v, unsigned k)
{
    return oracle_width(t) == 8    ? v->u8[k]
           : oracle_width(t) == 16 ? v->u16[k]
                                   : v->u32[k];
}

void oracle_set_lane(isa_type t, oracle_bits *v, unsigned k, uint32_t x)
{
    if (oracle_width(t) == 8)
        v->u8[k] = (uint8_t)x;
    else if (oracle_width(t) == 16)
        v->u16[k] = (uint16_t)x;
    else
        v->u32[k] = x;
}

/* --- oracles of one lane ------------------------------------------------- */

static double limit(isa_type t, bool most)
{
    static const double least_of[] = {0, -128, 0, -32768, 0, -2147483648.0, 0};
    static const double most_of[] = {0,     127,          255,         32767,
                                     65535, 2147483647.0, 4294967295.0};

    return most ? most_of[t] : least_of[t];
}

static uint32_t converted(isa_type to, isa_type from, uint32_t bits)
{
    double x;

    if (!oracle_is_real(from) && !oracle_is_real(to))
        return (uint32_t)oracle_whole(from, bits);
    x = oracle_is_real(from) ? oracle_real(from, bits)
                             : (double)oracle_whole(from, bits);
    if (oracle_is_real(to))
        return bits_of(to, x);
    x = isnan(x) ? 0 : trunc(x);
    x = x < limit(to, false) ? limit(to, false) : x;
    x = x > limit(to, true) ? limit(to, true) : x;
    return (uint32_t)(int64_t)x;
}

static bool holds(isa_type t, unsigned cond, uint32_t a, uint32_t b)
{
    double x =
        oracle_is_real(t) ? oracle_real(t, a) : (double)oracle_whole(t, a);
    double y =
        oracle_is_real(t) ? oracle_real(t, b) : (double)oracle_whole(t, b);
    bool un = isunordered(x, y);

    switch (cond) {
    case ISA_EQ:
        return x == y;
    case ISA_NE:
        return x != y;
    case ISA_LT:
        return isless(x, y);
    case ISA_LE:
        return islessequal(x, y);
    case ISA_GT:
        return isgreater(x, y);
    case ISA_GE:
        return isgreaterequal(x, y);
    case ISA_UEQ:
        return un || x == y;
    case ISA_ONE:
        return islessgreater(x, y);
    case ISA_ULT:
        return !isgreaterequal(x, y);
    case ISA_ULE:
        return !isgreater(x, y);
    case ISA_UGT:
        return !islessequal(x, y);
    case ISA_UGE:
        return !isless(x, y);
    case ISA_ORD:
        return !un;
    default:
        return un;
    }
}

static uint32_t least_or_most(isa_type t, bool most, uint32_t a, uint32_t b)
{
    if (oracle_is_real(t) && isnan(oracle_real(t, a)))
        return b;
    if (oracle_is_real(t) && isnan(oracle_real(t, b)))
        return a;
    return holds(t, most ? ISA_GE : ISA_LE, a, b) ? a : b;
}

static double to_integral(unsigned how, double x)
{
    double f = floor(x), below = x - f;

    switch (how) {
    case ISA_FLOOR:
        return f;
    case ISA_CEIL:
        return -floor(-x);
    case ISA_TRUNC:
        return x < 0 ? -floor(-x) : f;
    case ISA_ROUND:
        return x < 0 ? -floor(-x + 0.5) : floor(x + 0.5);
    default:
        if (!isfinite(x))
            return x;
        return below < 0.5 ? f : below > 0.5 || fmod(f, 2) != 0 ? f + 1 : f;
    }
}

/* Floats with 24 bits: a double holds products exactly, and rounding its sums,
 * quotients and roots again gives what rounding once would (53 >= 2 * 24 + 2).
 */
static uint32_t real_lane(isa_op op, isa_type t, unsigned sub, uint32_t a,
                          uint32_t b)
{
    double x = oracle_real(t, a), y = oracle_real(t, b), r;

    switch (op) {
    case ISA_OP_fadd:
        r = x + y;
        break;
    case ISA_OP_fsub:
        r = x - y;
        break;
    case ISA_OP_fmul:
        r = x * y;
        break;
    case ISA_OP_fdiv:
        r = x / y;
        break;
    case ISA_OP_fsqrt:
        r = sqrt(x);
        break;
    case ISA_OP_frsqrt:
        r = 1 / sqrt(x);
        break;
    case ISA_OP_fexp2: /* the C library's own result, a float already */
        r = t == ISA_F16 ? exp2(x) : (double)exp2f((float)x);
        break;
    case ISA_OP_flog2:
        r = t == ISA_F16 ? log2(x) : (double)log2f((float)x);
        break;
    default:
        r = copysign(to_integral(sub, x), x);
    }
    return bits_of(t, r);
}

static uint32_t shifted(isa_type t, uint32_t a, uint32_t by, bool left)
{
    int64_t x = oracle_whole(t, a);
    uint64_t n = t == ISA_S32 || t == ISA_U32 ? by
                 : oracle_width(t) == 16      ? (uint16_t)by
                                              : (uint8_t)by;

    for (unsigned k = 0; k < 64 && k < n; k++)
        x = left ? (int64_t)((uint64_t)x << 1) : (x - (x & 1)) / 2;
    return (uint32_t)x;
}

static uint32_t counted(isa_op op, uint32_t a)
{
    uint32_t n = 0;

    for (unsigned k = 0; k < 32; k++) {
        bool bit = a >> (op == ISA_OP_iclz ? 31 - k : k) & 1;

        if (op == ISA_OP_ipop)
            n += bit;
        else if (bit)
            return k;
    }
    return op == ISA_OP_ipop ? n : 32;
}

static uint32_t quotient(isa_type t, uint32_t a, uint32_t b, bool remainder)
{
    int64_t x = oracle_whole(t, a), y = oracle_whole(t, b), q;

    if (!y)
        return 0;
    q = (x < 0) != (y < 0) ? -(llabs(x) / llabs(y)) : llabs(x) / llabs(y);
    return (uint32_t)(remainder ? x - q * y : q);
}

static uint32_t integer_lane(isa_op op, isa_type t, uint32_t a, uint32_t b)
{
    /* Modulo 2^64, which is the whole product of 32-bit numbers. */
    uint64_t wide = (uint64_t)oracle_whole(t, a) * (uint64_t)oracle_whole(t, b);

    switch (op) {
    case ISA_OP_imov:
    case ISA_OP_iext:
        return a;
    case ISA_OP_iadd:
        return (uint32_t)(oracle_whole(t, a) + oracle_whole(t, b));
    case ISA_OP_isub:
        return (uint32_t)(oracle_whole(t, a) - oracle_whole(t, b));
    case ISA_OP_imul:
        return (uint32_t)wide;
    case ISA_OP_imulh:
        return (uint32_t)(wide >> 32);
    case ISA_OP_iand:
        return a & b;
    case ISA_OP_ior:
        return a | b;
    case ISA_OP_ixor:
        return (a | b) & ~(a & b);
    case ISA_OP_ishl:
        return shifted(t, a, b, true);
    case ISA_OP_ishr:
        return shifted(t, a, b, false);
    case ISA_OP_idiv:
    case ISA_OP_irem:
        return quotient(t, a, b, op == ISA_OP_irem);
    default:
        return counted(op, a);
    }
}

/* The scalar operation that a vector one does in each lane, and its type. */
static const struct {
    isa_op vector, scalar;
    isa_type type; /* when the row has none */
} lanewise[] = {
    {ISA_OP_vfadd16, ISA_OP_fadd, ISA_F16},
    {ISA_OP_vfsub16, ISA_OP_fsub, ISA_F16},
    {ISA_OP_vfmul16, ISA_OP_fmul, ISA_F16},
    {ISA_OP_vfadd32, ISA_OP_fadd, ISA_F32},
    {ISA_OP_vfsub32, ISA_OP_fsub, ISA_F32},
    {ISA_OP_vfmul32, ISA_OP_fmul, ISA_F32},
    {ISA_OP_vadd, ISA_OP_iadd, ISA_NO_TYPE},
    {ISA_OP_vsub, ISA_OP_isub, ISA_NO_TYPE},
    {ISA_OP_vmul, ISA_OP_imul, ISA_NO_TYPE},
    {ISA_OP_vand, ISA_OP_iand, ISA_U8},
    {ISA_OP_vor, ISA_OP_ior, ISA_U8},
    {ISA_OP_vxor, ISA_OP_ixor, ISA_U8},
    {ISA_OP_vshl, ISA_OP_ishl, ISA_NO_TYPE},
    {ISA_OP_vshr, ISA_OP_ishr, ISA_NO_TYPE},
    {ISA_OP_vcmp, ISA_OP_icmp, ISA_NO_TYPE},
    {ISA_OP_vmin, ISA_OP_imin, ISA_NO_TYPE},
    {ISA_OP_vmax, ISA_OP_imax, ISA_NO_TYPE},
    {ISA_OP_vround, ISA_OP_fround, ISA_NO_TYPE},
};

static uint32_t scalar_result(isa_op op, isa_type t, unsigned sub, uint32_t a,
                              uint32_t b)
{
    switch (op) {
    case ISA_OP_icmp:
    case ISA_OP_fcmp:
        return holds(t, sub, a, b);
    case ISA_OP_imin:
    case ISA_OP_imax:
    case ISA_OP_fmin:
    case ISA_OP_fmax:
        return least_or_most(t, op == ISA_OP_imax || op == ISA_OP_fmax, a, b);
    default:
        return oracle_is_real(t) ? real_lane(op, t, sub, a, b)
                                 : integer_lane(op, t, a, b);
    }
}

/* --- oracles of operations ----------------------------------------------- */

static uint32_t reduced(const isa_instr *in, const oracle_bits *v)
{
    isa_type t = (isa_type)in->type;
    uint32_t r = oracle_lane(t, v, 0);

    for (unsigned k = 1; k < 128 / oracle_width(t); k++) {
        uint32_t x = oracle_lane(t, v, k);

        switch (in->sub) {
        case ISA_SUM:
            r = oracle_is_real(t)
                    ? bits_of(t, oracle_real(t, r) + oracle_real(t, x))
                    : r + x;
            break;
        case ISA_PRODUCT:
            r = oracle_is_real(t)
                    ? bits_of(t, oracle_real(t, r) * oracle_real(t, x))
                    : r * x;
            break;
        case ISA_ALL:
            r &= x;
            break;
        case ISA_ANY:
            r |= x;
            break;
        case ISA_PARITY:
            r ^= x;
            break;
        default:
            r = least_or_most(t, in->sub == ISA_MOST, r, x);
        }
    }
    return r;
}

static oracle_bits convert_lanes(const isa_instr *in, const oracle_inputs *x)
{
    isa_type to = (isa_type)in->type, from = (isa_type)in->from;
    oracle_bits r = x->vectors[1];
    unsigned n;

    if (in->op == ISA_OP_vcvt) {
        n = 128 / oracle_width(to);
        for (unsigned k = 0; k < n; k++)
            oracle_set_lane(
                to, &r, k,
                converted(to, from,
                          oracle_lane(from, &x->vectors[0], in->sub * n + k)));
    } else {
        n = 128 / oracle_width(from);
        for (unsigned k = 0; k < n; k++)
            oracle_set_lane(
                to, &r, in->sub * n + k,
                converted(to, from, oracle_lane(from, &x->vectors[0], k)));
    }
    return r;
}

static oracle_bits shuffled(const uint8_t *table, const oracle_inputs *x)
{
    oracle_bits r;

    for (unsigned k = 0; k < 16; k++)
        r.bytes[k] = table[k] == 255
                         ? 0
                         : x->vectors[table[k] / 16].bytes[table[k] % 16];
    return r;
}

static oracle_bits lanes_changed(const isa_instr *in, const oracle_inputs *x)
{
    isa_type t = (isa_type)in->type;
    unsigned n = 128 / oracle_width(t);
    oracle_bits r = x->vectors[0];

    switch (in->op) {
    case ISA_OP_vsplat:
        for (unsigned k = 0; k < n; k++)
            oracle_set_lane(t, &r, k, x->integers[0]);
        break;
    case ISA_OP_vins:
        oracle_set_lane(t, &r, in->sub, x->integers[1]);
        break;
    case ISA_OP_vinsd:
        oracle_set_lane(t, &r, x->integers[2] % n, x->integers[1]);
        break;
    case ISA_OP_vsel:
        for (unsigned k = 0; k < 128; k++) {
            unsigned from = x->vectors[0].bytes[k / 8] >> k % 8 & 1 ? 1 : 2;

            r.bytes[k / 8] =
                (uint8_t)((r.bytes[k / 8] & ~(1 << k % 8)) |
                          (x->vectors[from].bytes[k / 8] & 1 << k % 8));
        }
        break;
    default: /* vmov */
        break;
    }
    return r;
}

oracle_bits oracle_vector(const isa_instr *in, const uint8_t *table,
                          const oracle_inputs *x)
{
    if (in->op == ISA_OP_vshuf)
        return shuffled(table, x);
    if (in->op == ISA_OP_vcvt || in->op == ISA_OP_vcvtn)
        return convert_lanes(in, x);
    for (unsigned k = 0; k < sizeof lanewise / sizeof *lanewise; k++) {
        isa_type t = lanewise[k].type ? lanewise[k].type : (isa_type)in->type;
        oracle_bits r;

        if (lanewise[k].vector != in->op)
            continue;
        for (unsigned l = 0; l < 128 / oracle_width(t); l++) {
            uint32_t y = scalar_result(lanewise[k].scalar, t, in->sub,
                                       oracle_lane(t, &x->vectors[0], l),
                                       oracle_lane(t, &x->vectors[1], l));

            oracle_set_lane(t, &r, l, in->op == ISA_OP_vcmp && y ? ~0u : y);
        }
        return r;
    }
    return lanes_changed(in, x);
}

uint32_t oracle_word(const isa_instr *in, const oracle_inputs *x)
{
    isa_type t = in->type ? (isa_type)in->type : ISA_U32;
    uint32_t r = 0;

    switch (in->op) {
    case ISA_OP_isel:
        return x->integers[0] ? x->integers[1] : x->integers[2];
    case ISA_OP_cvt:
        return converted(t, (isa_type)in->from, x->integers[0]);
    case ISA_OP_vred:
        return reduced(in, &x->vectors[0]);
    case ISA_OP_vext:
        return oracle_lane(t, &x->vectors[0], in->sub);
    case ISA_OP_vextd:
        return oracle_lane(t, &x->vectors[0],
                           x->integers[1] % (128 / oracle_width(t)));
    case ISA_OP_vmask:
        for (unsigned k = 0; k < 128 / oracle_width(t); k++)
            r |= (oracle_lane(t, &x->vectors[0], k) >> (oracle_width(t) - 1))
                 << k;
        return r;
    default:
        return scalar_result((isa_op)in->op, t, in->sub, x->integers[0],
                             x->integers[1]);
    }
}
