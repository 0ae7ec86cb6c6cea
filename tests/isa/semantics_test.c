/* What each operation computes, executed by the interpreter, against plain C
 * that shares nothing with it: numbers are doubles or 64-bit integers here, and
 * halves are rounded by hand. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/interp.h"
#include "tests/isa/isa_rig.h"

enum { ROUNDS = 60, AT = 16 };

typedef union {
    uint8_t b[16];
    int8_t s8[16];
    uint8_t u8[16];
    int16_t s16[8];
    uint16_t u16[8];
    int32_t s32[4];
    uint32_t u32[4];
    float f32[4];
} bits128;

typedef struct {
    bits128 v[3];  /* what V sources hold */
    uint32_t i[3]; /* I sources, or immediates */
} inputs;

/* --- numbers ---------------------------------------------------------------
 */

static bool is_real(isa_type t)
{
    return t == ISA_F16 || t == ISA_F32;
}

static unsigned width(isa_type t)
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

static double real_of(isa_type t, uint32_t bits)
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

static int64_t whole_of(isa_type t, uint32_t bits)
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

static uint32_t lane_of(isa_type t, const bits128 *v, unsigned k)
{
    return width(t) == 8 ? v->u8[k] : width(t) == 16 ? v->u16[k] : v->u32[k];
}

static void set_lane(isa_type t, bits128 *v, unsigned k, uint32_t x)
{
    if (width(t) == 8)
        v->u8[k] = (uint8_t)x;
    else if (width(t) == 16)
        v->u16[k] = (uint16_t)x;
    else
        v->u32[k] = x;
}

/* --- oracles of one lane ---------------------------------------------------
 */

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

    if (!is_real(from) && !is_real(to))
        return (uint32_t)whole_of(from, bits);
    x = is_real(from) ? real_of(from, bits) : (double)whole_of(from, bits);
    if (is_real(to))
        return bits_of(to, x);
    x = isnan(x) ? 0 : trunc(x);
    x = x < limit(to, false) ? limit(to, false) : x;
    x = x > limit(to, true) ? limit(to, true) : x;
    return (uint32_t)(int64_t)x;
}

static bool holds(isa_type t, unsigned cond, uint32_t a, uint32_t b)
{
    double x = is_real(t) ? real_of(t, a) : (double)whole_of(t, a);
    double y = is_real(t) ? real_of(t, b) : (double)whole_of(t, b);
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
    if (is_real(t) && isnan(real_of(t, a)))
        return b;
    if (is_real(t) && isnan(real_of(t, b)))
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
    double x = real_of(t, a), y = real_of(t, b), r;

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
    default:
        r = copysign(to_integral(sub, x), x);
    }
    return bits_of(t, r);
}

static uint32_t shifted(isa_type t, uint32_t a, uint32_t by, bool left)
{
    int64_t x = whole_of(t, a);
    uint64_t n = t == ISA_S32 || t == ISA_U32 ? by
                 : width(t) == 16             ? (uint16_t)by
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
    int64_t x = whole_of(t, a), y = whole_of(t, b), q;

    if (!y)
        return 0;
    q = (x < 0) != (y < 0) ? -(llabs(x) / llabs(y)) : llabs(x) / llabs(y);
    return (uint32_t)(remainder ? x - q * y : q);
}

static uint32_t integer_lane(isa_op op, isa_type t, uint32_t a, uint32_t b)
{
    __int128 wide = (__int128)whole_of(t, a) * whole_of(t, b);

    switch (op) {
    case ISA_OP_imov:
    case ISA_OP_iext:
        return a;
    case ISA_OP_iadd:
        return (uint32_t)(whole_of(t, a) + whole_of(t, b));
    case ISA_OP_isub:
        return (uint32_t)(whole_of(t, a) - whole_of(t, b));
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
        return is_real(t) ? real_lane(op, t, sub, a, b)
                          : integer_lane(op, t, a, b);
    }
}

/* --- oracles of operations -------------------------------------------------
 */

static uint32_t reduced(const isa_instr *in, const bits128 *v)
{
    isa_type t = (isa_type)in->type;
    uint32_t r = lane_of(t, v, 0);

    for (unsigned k = 1; k < 128 / width(t); k++) {
        uint32_t x = lane_of(t, v, k);

        switch (in->sub) {
        case ISA_SUM:
            r = is_real(t) ? bits_of(t, real_of(t, r) + real_of(t, x)) : r + x;
            break;
        case ISA_PRODUCT:
            r = is_real(t) ? bits_of(t, real_of(t, r) * real_of(t, x)) : r * x;
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

static bits128 convert_lanes(const isa_instr *in, const inputs *x)
{
    isa_type to = (isa_type)in->type, from = (isa_type)in->from;
    bits128 r = x->v[1];
    unsigned n;

    if (in->op == ISA_OP_vcvt) {
        n = 128 / width(to);
        for (unsigned k = 0; k < n; k++)
            set_lane(
                to, &r, k,
                converted(to, from, lane_of(from, &x->v[0], in->sub * n + k)));
    } else {
        n = 128 / width(from);
        for (unsigned k = 0; k < n; k++)
            set_lane(to, &r, in->sub * n + k,
                     converted(to, from, lane_of(from, &x->v[0], k)));
    }
    return r;
}

static bits128 shuffled(const uint8_t *table, const inputs *x)
{
    bits128 r;

    for (unsigned k = 0; k < 16; k++)
        r.b[k] = table[k] == 255 ? 0 : x->v[table[k] / 16].b[table[k] % 16];
    return r;
}

static bits128 lanes_changed(const isa_instr *in, const inputs *x)
{
    isa_type t = (isa_type)in->type;
    unsigned n = 128 / width(t);
    bits128 r = x->v[0];

    switch (in->op) {
    case ISA_OP_vsplat:
        for (unsigned k = 0; k < n; k++)
            set_lane(t, &r, k, x->i[0]);
        break;
    case ISA_OP_vins:
        set_lane(t, &r, in->sub, x->i[1]);
        break;
    case ISA_OP_vinsd:
        set_lane(t, &r, x->i[2] % n, x->i[1]);
        break;
    case ISA_OP_vsel:
        for (unsigned k = 0; k < 128; k++) {
            unsigned from = x->v[0].b[k / 8] >> k % 8 & 1 ? 1 : 2;

            r.b[k / 8] = (uint8_t)((r.b[k / 8] & ~(1 << k % 8)) |
                                   (x->v[from].b[k / 8] & 1 << k % 8));
        }
        break;
    default: /* vmov */
        break;
    }
    return r;
}

static bits128 vector_result(const isa_instr *in, const uint8_t *table,
                             const inputs *x)
{
    if (in->op == ISA_OP_vshuf)
        return shuffled(table, x);
    if (in->op == ISA_OP_vcvt || in->op == ISA_OP_vcvtn)
        return convert_lanes(in, x);
    for (unsigned k = 0; k < sizeof lanewise / sizeof *lanewise; k++) {
        isa_type t = lanewise[k].type ? lanewise[k].type : (isa_type)in->type;
        bits128 r;

        if (lanewise[k].vector != in->op)
            continue;
        for (unsigned l = 0; l < 128 / width(t); l++) {
            uint32_t y =
                scalar_result(lanewise[k].scalar, t, in->sub,
                              lane_of(t, &x->v[0], l), lane_of(t, &x->v[1], l));

            set_lane(t, &r, l, in->op == ISA_OP_vcmp && y ? ~0u : y);
        }
        return r;
    }
    return lanes_changed(in, x);
}

static uint32_t word_result(const isa_instr *in, const inputs *x)
{
    isa_type t = in->type ? (isa_type)in->type : ISA_U32;
    uint32_t r = 0;

    switch (in->op) {
    case ISA_OP_isel:
        return x->i[0] ? x->i[1] : x->i[2];
    case ISA_OP_cvt:
        return converted(t, (isa_type)in->from, x->i[0]);
    case ISA_OP_vred:
        return reduced(in, &x->v[0]);
    case ISA_OP_vext:
        return lane_of(t, &x->v[0], in->sub);
    case ISA_OP_vextd:
        return lane_of(t, &x->v[0], x->i[1] % (128 / width(t)));
    case ISA_OP_vmask:
        for (unsigned k = 0; k < 128 / width(t); k++)
            r |= (lane_of(t, &x->v[0], k) >> (width(t) - 1)) << k;
        return r;
    default:
        return scalar_result((isa_op)in->op, t, in->sub, x->i[0], x->i[1]);
    }
}

/* --- running one operation -------------------------------------------------
 */

static const uint8_t table[16] = {0,  31, 255, 7,  8,  16, 17, 255,
                                  15, 15, 1,   30, 29, 3,  2,  9};

static uint8_t window[128];

/* Loads at 0, the operation at AT, its result stored as soon as it is there. */
static void run(isa_instr in, const inputs *x, bool immediates, bits128 *out)
{
    isa_instr prog[16] = {0};
    uint32_t n = 0, end = AT + isa_ops[in.op].lat;
    bool vector = isa_dst_class((isa_op)in.op, 0) == 'v';
    isa_block block = {.kind = ISA_PLAIN, .cycles = end + 8};
    isa_function f = {.name = "one",
                      .blocks = &block,
                      .n_blocks = 1,
                      .instrs = prog,
                      .vectors = (uint8_t(*)[16])(uintptr_t)table,
                      .n_vectors = 1};
    isa_env env = {.window = window};
    const char *why;

    for (uint32_t k = 0; k < 3; k++) {
        memcpy(window + 16 * k, x->v[k].b, 16);
        memcpy(window + 48 + 4 * k, &x->i[k], 4);
        prog[n++] = (isa_instr){.op = ISA_OP_ldv128,
                                .unit = ISA_UNIT_LSU0,
                                .cycle = 2 * k,
                                .dst = {{ISA_V, k}},
                                .src = {{ISA_IMM, 16 * k}}};
        prog[n++] = (isa_instr){.op = ISA_OP_ld,
                                .unit = ISA_UNIT_LSU0,
                                .type = ISA_U32,
                                .cycle = 2 * k + 1,
                                .dst = {{ISA_I, k}},
                                .src = {{ISA_IMM, 48 + 4 * k}}};
    }
    for (uint32_t k = 0; k < isa_n_src((isa_op)in.op); k++)
        in.src[k] = isa_src_class((isa_op)in.op, k) == 'v'
                        ? (isa_operand){ISA_V, k}
                    : isa_src_class((isa_op)in.op, k) == 'j' && immediates
                        ? (isa_operand){ISA_IMM, x->i[k]}
                        : (isa_operand){ISA_I, k};
    in.dst[0] = (isa_operand){vector ? ISA_V : ISA_I, 9};
    in.cycle = AT;
    prog[n++] = in;
    prog[n++] = (isa_instr){.op = (uint8_t)(vector ? ISA_OP_stv128 : ISA_OP_st),
                            .unit = ISA_UNIT_LSU0,
                            .type = vector ? ISA_NO_TYPE : ISA_U32,
                            .cycle = end,
                            .src = {in.dst[0], {ISA_IMM, 64}}};
    prog[n++] =
        (isa_instr){.op = ISA_OP_ret, .unit = ISA_UNIT_BRU, .cycle = end + 1};
    block.n = f.n_instrs = n;
    why = isa_verify(&f, NULL, NULL);
    ck_assert_msg(!why, "%s: %s", isa_ops[in.op].name, why);
    memset(window + 64, 0x55, 16);
    ck_assert_int_eq(isa_run(&f, &env), ISA_DONE);
    memcpy(out->b, window + 64, 16);
}

/* --- comparing -------------------------------------------------------------
 */

static bool agree(isa_type t, uint32_t a, uint32_t b)
{
    if (is_real(t) && isnan(real_of(t, a)))
        return isnan(real_of(t, b));
    return !((a ^ b) & (0xffffffffu >> (32 - width(t))));
}

/* The type that decides which results are the same. */
static isa_type result_type(const isa_instr *in)
{
    switch (in->op) {
    case ISA_OP_icmp:
    case ISA_OP_fcmp:
    case ISA_OP_vmask:
    case ISA_OP_vext:
    case ISA_OP_vextd: /* zeros above the lane */
    case ISA_OP_iext:
        return ISA_U32;
    case ISA_OP_vcmp:
    case ISA_OP_vins:
    case ISA_OP_vinsd:
    case ISA_OP_vsplat:
        return ISA_U8;
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

static void check_once(const isa_instr *in, const inputs *x, bool immediates)
{
    isa_type t = result_type(in);
    bits128 got;

    run(*in, x, immediates, &got);
    if (isa_dst_class((isa_op)in->op, 0) == 'v') {
        bits128 want = vector_result(in, table, x);

        for (unsigned k = 0; k < 128 / width(t); k++)
            ck_assert_msg(agree(t, lane_of(t, &want, k), lane_of(t, &got, k)),
                          "%s.%s.%s.%u lane %u: %x %x -> %x, expected %x",
                          isa_ops[in->op].name, isa_type_names[in->type],
                          isa_type_names[in->from], in->sub, k,
                          lane_of(t, &x->v[0], k), lane_of(t, &x->v[1], k),
                          lane_of(t, &got, k), lane_of(t, &want, k));
    } else {
        uint32_t want = word_result(in, x);

        if (in->op == ISA_OP_iext)
            want = (uint32_t)whole_of((isa_type)in->type, want);
        ck_assert_msg(agree(t, want, got.u32[0]),
                      "%s.%s.%s.%u: %x %x -> %x, expected %x",
                      isa_ops[in->op].name, isa_type_names[in->type],
                      isa_type_names[in->from], in->sub, x->i[0], x->i[1],
                      got.u32[0], want);
    }
}

/* Values where something happens, as a lane of that width. */
static uint32_t special(uint64_t *seed, unsigned bits)
{
    static const uint32_t halves[] = {
        0,      0x8000, 1,      0x83ff, 0x0400, 0x3c00, 0xbc00, 0x3800, 0x3e00,
        0xc100, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x5bf8, 0x6800, 0x7800};
    static const uint32_t words[] = {
        0,          0x80000000, 1,          0x00800000, 0x3f800000, 0xbf800000,
        0x3f000000, 0x3fc00000, 0xc0200000, 0x7f7fffff, 0x7f800000, 0xff800000,
        0x7fc00000, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x477fefff,
        0x477ff000, 0x33000000, 0x33000001, 0x7fffffff, 0xffffffff, 31,
        32,         33,         0x42fe0000, 0x43000000, 0x437f0000, 0x46fffe00};
    static const uint32_t bytes[] = {0, 1, 7, 8, 9, 0x7f, 0x80, 0xff};

    return bits == 8    ? bytes[isa_rig_random(seed, 8)]
           : bits == 16 ? halves[isa_rig_random(seed, 18)]
                        : words[isa_rig_random(seed, 30)];
}

static void make_inputs(uint64_t *seed, inputs *x)
{
    static const unsigned widths[] = {8, 16, 32};

    for (unsigned k = 0; k < 3; k++) {
        unsigned w = widths[isa_rig_random(seed, 3)];

        x->i[k] = isa_rig_random(seed, 3) ? special(seed, w)
                                          : isa_rig_random(seed, 0xffffffffu);
        for (unsigned b = 0; b < 16; b++)
            x->v[k].b[b] = (uint8_t)isa_rig_random(seed, 256);
        for (unsigned l = 0; l < 128 / w; l++)
            if (isa_rig_random(seed, 3))
                set_lane(w == 8    ? ISA_U8
                         : w == 16 ? ISA_U16
                                   : ISA_U32,
                         &x->v[k], l, special(seed, w));
    }
    if (!isa_rig_random(seed, 4)) {
        x->v[1] = x->v[0];
        x->i[1] = x->i[0];
    }
}

/* Rows with a result that comes neither from memory nor from outside. */
static bool computes(isa_op op)
{
    return isa_n_dst(op) && op != ISA_OP_ldarg && op != ISA_OP_ldret &&
           op != ISA_OP_vcon &&
           !(isa_ops[op].flags & (ISA_F_LOAD | ISA_F_STORE));
}

/* Does the verifier take the row with this type, source type, modifier? */
static bool allowed(isa_instr in)
{
    isa_block b = {0, 1, 50, ISA_PLAIN, 1};
    isa_function f = {.name = "",
                      .blocks = &b,
                      .n_blocks = 1,
                      .instrs = &in,
                      .n_instrs = 1,
                      .vectors = (uint8_t(*)[16])(uintptr_t)table,
                      .n_vectors = 1};

    for (unsigned k = 0; k < isa_n_src((isa_op)in.op); k++)
        in.src[k].kind = isa_src_class((isa_op)in.op, k) == 'v' ? ISA_V : ISA_I;
    in.dst[0].kind = isa_dst_class((isa_op)in.op, 0) == 'v' ? ISA_V : ISA_I;
    return !isa_verify(&f, NULL, NULL);
}

START_TEST(every_row)
{
    isa_instr in = {.op = (uint8_t)_i};
    uint64_t seed = (uint64_t)_i;
    unsigned forms = 0;
    inputs x;

    if (!computes((isa_op)_i))
        return;
    while (!(isa_ops[_i].units >> in.unit & 1))
        in.unit++;
    for (unsigned t = 0; t < ISA_N_TYPES; t++)
        for (unsigned from = 0; from < ISA_N_TYPES; from++)
            for (unsigned sub = 0; sub < 16; sub++) {
                in.type = (uint8_t)t;
                in.from = (uint8_t)from;
                in.sub = (uint8_t)sub;
                if (!allowed(in))
                    continue;
                forms++;
                for (unsigned k = 0; k < ROUNDS; k++) {
                    make_inputs(&seed, &x);
                    check_once(&in, &x, k % 4 == 0);
                }
            }
    ck_assert_uint_gt(forms, 0);
}
END_TEST

/* All halves through the conversions: none is left to chance. */
START_TEST(every_half)
{
    static const isa_type types[] = {ISA_F32, ISA_S32, ISA_U32, ISA_S16,
                                     ISA_U16, ISA_S8,  ISA_U8};
    isa_instr in = {.op = ISA_OP_cvt,
                    .unit = ISA_UNIT_CMU,
                    .from = ISA_F16,
                    .type = types[_i]};
    inputs x = {0};

    for (uint32_t h = 0; h < 65536; h += 1 + (h % 5 == 0)) {
        x.i[0] = h;
        check_once(&in, &x, true);
    }
}
END_TEST

/* Halves next to the midpoint of two others, and single values worth a name. */
START_TEST(rounding_to_half)
{
    static const struct {
        float x;
        uint32_t half;
    } cases[] = {{1.00048828125f, 0x3c00},
                 {1.00048840045928955f, 0x3c01},
                 {1.00146484375f, 0x3c02},
                 {65519.996f, 0x7bff},
                 {65520.0f, 0x7c00},
                 {-65520.0f, 0xfc00},
                 {2.98023223876953125e-8f, 0},
                 {2.98023259404089e-8f, 1},
                 {6.0975551605224609e-5f, 0x03ff}};
    isa_instr in = {.op = ISA_OP_cvt,
                    .unit = ISA_UNIT_CMU,
                    .from = ISA_F32,
                    .type = ISA_F16};
    inputs x = {0};
    bits128 out;

    memcpy(&x.i[0], &cases[_i].x, 4);
    run(in, &x, true, &out);
    ck_assert_uint_eq(out.u32[0], cases[_i].half);
}
END_TEST

/* Above 2^25 floats are 4 apart; above 65504 there are no halves. */
START_TEST(integers_to_floats)
{
    isa_instr in = {.op = ISA_OP_cvt,
                    .unit = ISA_UNIT_CMU,
                    .from = ISA_U32,
                    .type = ISA_F32};
    inputs x = {.i = {33554435}};
    bits128 out;

    run(in, &x, true, &out);
    ck_assert_uint_eq(out.u32[0], 0x4c000001);
    in.type = ISA_F16;
    x.i[0] = 4294967295u;
    run(in, &x, true, &out);
    ck_assert_uint_eq(out.u32[0], 0x7c00);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("isa semantics");
    TCase *t = tcase_create("rows");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, every_row, 0, ISA_N_OPS);
    tcase_add_loop_test(t, every_half, 0, 7);
    tcase_add_loop_test(t, rounding_to_half, 0, 9);
    tcase_add_test(t, integers_to_floats);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
