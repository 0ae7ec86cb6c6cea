/* Selection of calls: intrinsics as operations, routines as calls with a cost,
 * the group's collective operations as calls to the runtime. */
#include <string.h>

#include "sim/shave/costs.h"
#include "sim/shave/select.h"

typedef struct {
    LLVMValueRef i;
    LLVMTypeRef t;
    sel_shape y;
    bool vector;
    sel_value_parts *a, *b, *c; /* arguments, as far as there are any */
    sel_value_parts *x;
} call;

static LLVMValueRef arg(const call *c, unsigned k)
{
    return LLVMGetOperand(c->i, k);
}

static bool begins(const char *name, const char *prefix)
{
    return !strncmp(name, prefix, strlen(prefix));
}

/* --- element-wise intrinsics --------------------------------------------- */

static isa_operand splat(sel *s, const call *c, uint32_t bits)
{
    isa_type t = sel_uint(c->y.bits);

    return c->vector ? sel1(s, vp_imm(bits), .op = ISA_OP_vsplat, .type = t)
                     : vp_imm(bits);
}

static uint32_t sign_bit(const call *c)
{
    return 1u << (c->y.bits - 1);
}

static isa_operand logic(sel *s, const call *c, isa_op scalar, isa_op vector,
                         isa_operand a, isa_operand b)
{
    return sel2(s, a, b, .op = c->vector ? vector : scalar);
}

static isa_operand absolute(sel *s, const call *c, isa_operand a)
{
    return logic(s, c, ISA_OP_iand, ISA_OP_vand, a,
                 splat(s, c, sign_bit(c) - 1));
}

static isa_operand copy_sign(sel *s, const call *c, isa_operand a,
                             isa_operand b)
{
    isa_operand sign =
        logic(s, c, ISA_OP_iand, ISA_OP_vand, b, splat(s, c, sign_bit(c)));

    if (b.kind == ISA_IMM)
        sign = splat(s, c, b.number & sign_bit(c));
    return logic(s, c, ISA_OP_ior, ISA_OP_vor, absolute(s, c, a), sign);
}

/* A part of an integer argument; scalars get their upper bits right. */
static isa_operand part(sel *s, const call *c, const sel_value_parts *v,
                        uint32_t k, bool is_signed)
{
    return c->vector ? v->parts[k]
                     : sel_extend(s, v->parts[0], c->y.bits, is_signed);
}

static void min_max(sel *s, call *c, bool max, bool is_signed)
{
    bool is_float = c->y.kind != LLVMIntegerTypeKind;
    isa_type t = sel_isa_type(c->y, is_signed);

    if (!c->vector && !is_float)
        t = is_signed ? ISA_S32 : ISA_U32;
    for (uint32_t k = 0; k < c->x->n_parts; k++)
        c->x->parts[k] = sel_minmax(
            s, c->vector, max, t,
            is_float ? c->a->parts[k] : part(s, c, c->a, k, is_signed),
            is_float ? c->b->parts[k] : part(s, c, c->b, k, is_signed));
}

static void int_abs(sel *s, call *c)
{
    for (uint32_t k = 0; k < c->x->n_parts; k++) {
        isa_operand a = part(s, c, c->a, k, true), zero = splat(s, c, 0), neg;
        isa_type t = sel_isa_type(c->y, true);

        neg = c->vector ? sel2(s, zero, a, .op = ISA_OP_vsub, .type = t)
                        : sel2(s, zero, a, .op = ISA_OP_isub);
        c->x->parts[k] =
            sel_minmax(s, c->vector, true, c->vector ? t : ISA_S32, a, neg);
    }
}

static void rounding(sel *s, call *c, isa_round how)
{
    isa_type t = sel_isa_type(c->y, true);

    for (uint32_t k = 0; k < c->x->n_parts; k++)
        c->x->parts[k] = sel1(s, c->a->parts[k],
                              .op = c->vector ? ISA_OP_vround : ISA_OP_fround,
                              .type = t, .sub = how);
}

/* --- lane by lane -------------------------------------------------------- */

typedef isa_operand lane_fn(sel *s, const call *c, const isa_operand *args);

/* Applies fn to each lane of up to three arguments of the result's shape. */
static void by_lanes(sel *s, call *c, unsigned n_args, lane_fn *fn)
{
    const sel_value_parts *in[3] = {c->a, c->b, c->c};
    isa_operand *lanes = arena_array(s->arena, isa_operand, c->y.lanes);

    for (uint32_t k = 0; k < c->y.lanes; k++) {
        isa_operand args[3];

        for (unsigned n = 0; n < n_args; n++) {
            LLVMTypeRef t = LLVMTypeOf(arg(c, n));

            args[n] =
                sel_is_vector(t) ? sel_lane(s, t, in[n], k) : in[n]->parts[0];
        }
        lanes[k] = fn(s, c, args);
    }
    sel_set_lanes(s, c->t, lanes, c->x);
}

static isa_operand lane_sqrt(sel *s, const call *c, const isa_operand *a)
{
    return sel1(s, a[0], .op = ISA_OP_fsqrt, .type = sel_isa_type(c->y, true));
}

static isa_operand lane_clz(sel *s, const call *c, const isa_operand *a)
{
    isa_operand n =
        sel1(s, sel_extend(s, a[0], c->y.bits, false), .op = ISA_OP_iclz);

    return c->y.bits < 32
               ? sel2(s, n, vp_imm(32 - c->y.bits), .op = ISA_OP_isub)
               : n;
}

static isa_operand lane_ctz(sel *s, const call *c, const isa_operand *a)
{
    isa_operand x = a[0];

    if (c->y.bits < 32) /* a bit above the width stops the count there */
        x = sel2(s, x, vp_imm(1u << c->y.bits), .op = ISA_OP_ior);
    return sel1(s, x, .op = ISA_OP_ictz);
}

static isa_operand lane_pop(sel *s, const call *c, const isa_operand *a)
{
    return sel1(s, sel_extend(s, a[0], c->y.bits, false), .op = ISA_OP_ipop);
}

/* Funnel shifts; the amount counts modulo the width. */
static isa_operand funnel(sel *s, const call *c, const isa_operand *a,
                          bool left)
{
    uint32_t bits = c->y.bits;
    isa_operand hi = sel_extend(s, a[0], bits, false);
    isa_operand lo = sel_extend(s, a[1], bits, false), n, m;

    n = sel2(s, a[2], vp_imm(bits - 1), .op = ISA_OP_iand);
    if (a[2].kind == ISA_IMM)
        n = vp_imm(a[2].number & (bits - 1));
    m = sel2(s, vp_imm(bits), n, .op = ISA_OP_isub);
    if (n.kind == ISA_IMM)
        m = vp_imm(bits - n.number);
    /* A shift by the whole width gives 0 for 32 bits; narrower ones keep their
     * upper bits out of the way by themselves. */
    if (left) {
        hi = sel2(s, hi, n, .op = ISA_OP_ishl);
        lo = sel2(s, lo, m, .op = ISA_OP_ishr, .type = ISA_U32);
    } else {
        hi = sel2(s, hi, m, .op = ISA_OP_ishl);
        lo = sel2(s, lo, n, .op = ISA_OP_ishr, .type = ISA_U32);
    }
    return sel2(s, hi, lo, .op = ISA_OP_ior);
}

static isa_operand lane_fshl(sel *s, const call *c, const isa_operand *a)
{
    return funnel(s, c, a, true);
}

static isa_operand lane_fshr(sel *s, const call *c, const isa_operand *a)
{
    return funnel(s, c, a, false);
}

/* Saturating sums: 8 and 16 bits fit into 32; words need compares. */
static isa_operand saturate(sel *s, const call *c, isa_operand x,
                            bool is_signed)
{
    uint32_t bits = c->y.bits;
    uint32_t max = is_signed ? (1u << (bits - 1)) - 1 : (1u << bits) - 1;
    uint32_t min = is_signed ? ~max : 0;

    x = sel_minmax(s, false, false, ISA_S32, x, vp_imm(max));
    return sel_minmax(s, false, true, ISA_S32, x, vp_imm(min));
}

static isa_operand saturating(sel *s, const call *c, const isa_operand *in,
                              bool add, bool is_signed)
{
    isa_operand a = sel_extend(s, in[0], c->y.bits, is_signed), ret;
    isa_operand b = sel_extend(s, in[1], c->y.bits, is_signed);
    isa_operand args[2] = {a, b};

    if (c->y.bits < 32)
        return saturate(s, c,
                        sel2(s, a, b, .op = add ? ISA_OP_iadd : ISA_OP_isub),
                        is_signed);
    sel_call(s,
             (sel_routine){add ? (is_signed ? "sat.sadd" : "sat.uadd")
                               : (is_signed ? "sat.ssub" : "sat.usub"),
                           COST_SATURATE},
             args, 2, &ret, 1);
    return ret;
}

static isa_operand lane_uadd(sel *s, const call *c, const isa_operand *a)
{
    return saturating(s, c, a, true, false);
}
static isa_operand lane_sadd(sel *s, const call *c, const isa_operand *a)
{
    return saturating(s, c, a, true, true);
}
static isa_operand lane_usub(sel *s, const call *c, const isa_operand *a)
{
    return saturating(s, c, a, false, false);
}
static isa_operand lane_ssub(sel *s, const call *c, const isa_operand *a)
{
    return saturating(s, c, a, false, true);
}

static isa_operand lane_bitreverse(sel *s, const call *c, const isa_operand *a)
{
    isa_operand ret;

    sel_call(s, (sel_routine){"bits.reverse", COST_BITS}, a, 1, &ret, 1);
    return c->y.bits < 32 ? sel2(s, ret, vp_imm(32 - c->y.bits),
                                 .op = ISA_OP_ishr, .type = ISA_U32)
                          : ret;
}

static isa_operand lane_bswap(sel *s, const call *c, const isa_operand *a)
{
    isa_operand ret;

    sel_call(s, (sel_routine){"bits.swap", COST_BITS}, a, 1, &ret, 1);
    return c->y.bits < 32 ? sel2(s, ret, vp_imm(32 - c->y.bits),
                                 .op = ISA_OP_ishr, .type = ISA_U32)
                          : ret;
}

/* --- conversions and classes --------------------------------------------- */

/* The operation saturates already. */
static void saturating_convert(sel *s, call *c, bool is_signed)
{
    LLVMTypeRef ft = LLVMTypeOf(arg(c, 0));
    sel_shape f = sel_type(ft);
    isa_type from = sel_isa_type(f, true), to = sel_isa_type(c->y, is_signed);

    if (c->y.bits > 32) {
        isa_operand *lanes = c->x->parts;

        for (uint32_t k = 0; k < c->y.lanes; k++) {
            isa_operand a =
                sel_is_vector(ft) ? sel_lane(s, ft, c->a, k) : c->a->parts[0];

            sel_call(s,
                     (sel_routine){arena_printf(s->arena, "i64.sat_%s_%c",
                                                f.bits == 16 ? "f16" : "f32",
                                                is_signed ? 's' : 'u'),
                                   12},
                     &a, 1, lanes + 2 * k, 2);
        }
    } else if (c->vector) {
        sel_value_parts *r =
            sel_convert_lanes(s, c->a->parts, c->y.lanes, from, to);

        memcpy(c->x->parts, r->parts, c->x->n_parts * sizeof *r->parts);
    } else {
        c->x->parts[0] =
            sel1(s, c->a->parts[0], .op = ISA_OP_cvt, .type = to, .from = from);
    }
}

/* Bits of llvm.is.fpclass, tested on the value's bits. */
enum {
    CLASS_SNAN = 1,
    CLASS_QNAN = 2,
    CLASS_NEG_INF = 4,
    CLASS_NEG_NORMAL = 8,
    CLASS_NEG_SUBNORMAL = 16,
    CLASS_NEG_ZERO = 32,
    CLASS_POS_ZERO = 64,
    CLASS_POS_SUBNORMAL = 128,
    CLASS_POS_NORMAL = 256,
    CLASS_POS_INF = 512
};

/* 1 when lo <= bits of x <= hi, unsigned. */
static isa_operand in_range(sel *s, isa_operand x, uint32_t lo, uint32_t hi)
{
    isa_operand d = lo ? sel2(s, x, vp_imm(lo), .op = ISA_OP_isub) : x;

    return sel2(s, d, vp_imm(hi - lo), .op = ISA_OP_icmp, .type = ISA_U32,
                .sub = ISA_LE);
}

static isa_operand class_of(sel *s, uint32_t bits, isa_operand x,
                            uint32_t wanted)
{
    uint32_t sign = 1u << (bits - 1), frac = bits == 16 ? 10 : 23;
    uint32_t inf = (sign - 1) >> frac << frac, one = 1u << frac;
    const struct {
        uint32_t bit, lo, hi;
    } rows[] = {
        {CLASS_POS_ZERO, 0, 0},
        {CLASS_POS_SUBNORMAL, 1, one - 1},
        {CLASS_POS_NORMAL, one, inf - 1},
        {CLASS_POS_INF, inf, inf},
        {CLASS_NEG_ZERO, sign, sign},
        {CLASS_NEG_SUBNORMAL, sign + 1, sign + one - 1},
        {CLASS_NEG_NORMAL, sign + one, sign + inf - 1},
        {CLASS_NEG_INF, sign + inf, sign + inf},
    };
    isa_operand r = vp_imm(0), mag;

    x = sel_extend(s, x, bits, false);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (wanted & rows[k].bit) {
            isa_operand hit = in_range(s, x, rows[k].lo, rows[k].hi);

            r = r.kind == ISA_IMM ? hit : sel2(s, r, hit, .op = ISA_OP_ior);
        }
    if (!(wanted & (CLASS_SNAN | CLASS_QNAN)))
        return r;
    mag = sel2(s, x, vp_imm(sign - 1), .op = ISA_OP_iand);
    for (int q = 0; q < 2; q++) {
        uint32_t quiet = inf + one / 2;
        isa_operand hit;

        if (!(wanted & (q ? CLASS_QNAN : CLASS_SNAN)))
            continue;
        hit = in_range(s, mag, q ? quiet : inf + 1, q ? sign - 1 : quiet - 1);
        r = r.kind == ISA_IMM ? hit : sel2(s, r, hit, .op = ISA_OP_ior);
    }
    return r;
}

static void fp_class(sel *s, call *c)
{
    LLVMTypeRef ft = LLVMTypeOf(arg(c, 0));
    sel_shape f = sel_type(ft);
    uint32_t wanted = (uint32_t)LLVMConstIntGetZExtValue(arg(c, 1));
    isa_operand *lanes = arena_array(s->arena, isa_operand, c->y.lanes);

    for (uint32_t k = 0; k < c->y.lanes; k++)
        lanes[k] = class_of(
            s, f.bits, c->vector ? sel_lane(s, ft, c->a, k) : c->a->parts[0],
            wanted);
    sel_set_lanes(s, c->t, lanes, c->x);
}

/* --- reductions ---------------------------------------------------------- */

static void reduce(sel *s, call *c, const char *name)
{
    static const struct {
        const char *name;
        isa_reduce how;
        bool is_signed;
    } rows[] = {{"add", ISA_SUM, false},    {"mul", ISA_PRODUCT, false},
                {"and", ISA_ALL, false},    {"or", ISA_ANY, false},
                {"xor", ISA_PARITY, false}, {"smin", ISA_LEAST, true},
                {"smax", ISA_MOST, true},   {"umin", ISA_LEAST, false},
                {"umax", ISA_MOST, false},  {"fmin", ISA_LEAST, true},
                {"fmax", ISA_MOST, true}};
    const char *what = name + strlen("llvm.vector.reduce.");
    LLVMTypeRef vt = LLVMTypeOf(arg(c, 0));
    sel_shape v = sel_type(vt);
    sel_value_parts *a = c->a;
    uint32_t per;

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        size_t len = strlen(rows[k].name);
        isa_type t;

        if (strncmp(what, rows[k].name, len) || what[len] != '.')
            continue;
        if (v.bits == 1)
            a = sel_mask(s, a, v.lanes, 16);
        t = v.bits == 1 ? ISA_U16 : sel_isa_type(v, rows[k].is_signed);
        per = 128 / (8 * isa_type_bytes(t));
        if (!sel_is_vector(vt) || v.lanes % per) {
            sel_fail(s, "a reduction of a vector that fills no register");
            return;
        }
        for (uint32_t p = 0; p < a->n_parts; p++) {
            isa_operand r = sel1(s, a->parts[p], .op = ISA_OP_vred, .type = t,
                                 .sub = rows[k].how);
            isa_op op = rows[k].how == ISA_SUM       ? ISA_OP_iadd
                        : rows[k].how == ISA_PRODUCT ? ISA_OP_imul
                        : rows[k].how == ISA_ALL     ? ISA_OP_iand
                        : rows[k].how == ISA_ANY     ? ISA_OP_ior
                        : rows[k].how == ISA_PARITY  ? ISA_OP_ixor
                                                     : ISA_OP_nop;

            if (!p)
                c->x->parts[0] = r;
            else if (op != ISA_OP_nop)
                c->x->parts[0] = sel2(s, c->x->parts[0], r, .op = op);
            else
                c->x->parts[0] = sel_minmax(
                    s, false, rows[k].how == ISA_MOST,
                    v.kind != LLVMIntegerTypeKind ? t
                    : rows[k].is_signed           ? ISA_S32
                                                  : ISA_U32,
                    sel_extend(s, c->x->parts[0], v.bits, rows[k].is_signed),
                    sel_extend(s, r, v.bits, rows[k].is_signed));
        }
        if (v.bits == 1)
            c->x->parts[0] =
                sel2(s, c->x->parts[0], vp_imm(1), .op = ISA_OP_iand);
        return;
    }
    sel_fail(s, name);
}

/* --- tables -------------------------------------------------------------- */

static bool by_table(sel *s, call *c, const char *name)
{
    static const struct {
        const char *prefix;
        lane_fn *fn;
        unsigned n;
    } lanes[] = {
        {"llvm.sqrt.", lane_sqrt, 1},
        {"llvm.ctlz.", lane_clz, 1},
        {"llvm.cttz.", lane_ctz, 1},
        {"llvm.ctpop.", lane_pop, 1},
        {"llvm.fshl.", lane_fshl, 3},
        {"llvm.fshr.", lane_fshr, 3},
        {"llvm.uadd.sat.", lane_uadd, 2},
        {"llvm.sadd.sat.", lane_sadd, 2},
        {"llvm.usub.sat.", lane_usub, 2},
        {"llvm.ssub.sat.", lane_ssub, 2},
        {"llvm.bitreverse.", lane_bitreverse, 1},
        {"llvm.bswap.", lane_bswap, 1},
    };
    static const struct {
        const char *prefix;
        isa_round how;
    } rounds[] = {{"llvm.floor.", ISA_FLOOR},   {"llvm.ceil.", ISA_CEIL},
                  {"llvm.trunc.", ISA_TRUNC},   {"llvm.rint.", ISA_RINT},
                  {"llvm.round.", ISA_ROUND},   {"llvm.roundeven.", ISA_RINT},
                  {"llvm.nearbyint.", ISA_RINT}};
    static const struct {
        const char *prefix;
        bool max, is_signed;
    } minmax[] = {{"llvm.smin.", false, true},   {"llvm.smax.", true, true},
                  {"llvm.umin.", false, false},  {"llvm.umax.", true, false},
                  {"llvm.minnum.", false, true}, {"llvm.maxnum.", true, true}};

    for (size_t k = 0; k < sizeof lanes / sizeof *lanes; k++)
        if (begins(name, lanes[k].prefix)) {
            by_lanes(s, c, lanes[k].n, lanes[k].fn);
            return true;
        }
    for (size_t k = 0; k < sizeof rounds / sizeof *rounds; k++)
        if (begins(name, rounds[k].prefix)) {
            rounding(s, c, rounds[k].how);
            return true;
        }
    for (size_t k = 0; k < sizeof minmax / sizeof *minmax; k++)
        if (begins(name, minmax[k].prefix)) {
            min_max(s, c, minmax[k].max, minmax[k].is_signed);
            return true;
        }
    return false;
}

/* llvm.scmp and llvm.ucmp: -1, 0 or 1. */
static void three_way(sel *s, call *c, bool is_signed)
{
    LLVMTypeRef t = LLVMTypeOf(arg(c, 0));
    sel_shape f = sel_type(t);
    isa_operand *lanes = arena_array(s->arena, isa_operand, c->y.lanes);
    isa_type type = is_signed ? ISA_S32 : ISA_U32;

    if (f.bits > 32) {
        sel_fail(s, "a three-way comparison of 64 bits");
        return;
    }
    for (uint32_t k = 0; k < c->y.lanes; k++) {
        bool v = sel_is_vector(t);
        isa_operand a = sel_extend(
            s, v ? sel_lane(s, t, c->a, k) : c->a->parts[0], f.bits, is_signed);
        isa_operand b = sel_extend(
            s, v ? sel_lane(s, t, c->b, k) : c->b->parts[0], f.bits, is_signed);

        lanes[k] = sel2(
            s, sel2(s, a, b, .op = ISA_OP_icmp, .type = type, .sub = ISA_GT),
            sel2(s, a, b, .op = ISA_OP_icmp, .type = type, .sub = ISA_LT),
            .op = ISA_OP_isub);
    }
    sel_set_lanes(s, c->t, lanes, c->x);
}

static void wide_intrinsic(sel *s, call *c, const char *name)
{
    if (c->y.bits != 64)
        sel_fail(s, name);
    for (uint32_t k = 0; k < c->y.lanes; k++) {
        isa_operand args[6], ret[2];
        const sel_value_parts *in[3] = {c->a, c->b, c->c};
        uint32_t n = 0;
        char op[64];
        /* "llvm.smin.v2i64" is "smin" */
        size_t len = (size_t)(strrchr(name, '.') - (name + 5));

        for (int q = 0; q < 3 && in[q]; q++) {
            LLVMTypeRef t = LLVMTypeOf(arg(c, (unsigned)q));

            if (sel_type(t).bits != 64)
                continue; /* "zero is poison" and the like */
            args[n++] = in[q]->parts[2 * k];
            args[n++] = in[q]->parts[2 * k + 1];
        }
        if (len > sizeof op - 1)
            len = sizeof op - 1;
        memcpy(op, name + 5, len);
        op[len] = 0;
        sel_call(
            s,
            (sel_routine){arena_printf(s->arena, "i64.%s", op), COST_WIDE_ODD},
            args, n, ret, 2);
        c->x->parts[2 * k] = ret[0];
        c->x->parts[2 * k + 1] = ret[1];
    }
}

/* With overflow: {value, bit}. */
static void overflowing(sel *s, call *c, const char *name)
{
    sel_shape a = sel_type(LLVMTypeOf(arg(c, 0)));
    isa_operand args[2] = {
        sel_extend(s, c->a->parts[0], a.bits, name[5] == 's'),
        sel_extend(s, c->b->parts[0], a.bits, name[5] == 's')};

    if (a.bits != 32 || a.lanes != 1) {
        sel_fail(s, name);
        return;
    }
    sel_call(s,
             (sel_routine){arena_printf(s->arena, "overflow.%.4s", name + 5),
                           COST_OVERFLOW},
             args, 2, c->x->parts, 2);
}

static void intrinsic(sel *s, call *c, const char *name)
{
    if (begins(name, "llvm.vector.reduce.")) {
        reduce(s, c, name);
    } else if (begins(name, "llvm.fptosi.sat")) {
        saturating_convert(s, c, true);
    } else if (begins(name, "llvm.fptoui.sat")) {
        saturating_convert(s, c, false);
    } else if (begins(name, "llvm.is.fpclass")) {
        fp_class(s, c);
    } else if (strstr(name, ".with.overflow.")) {
        overflowing(s, c, name);
    } else if (begins(name, "llvm.scmp") || begins(name, "llvm.ucmp")) {
        three_way(s, c, name[5] == 's');
    } else if (c->y.kind == LLVMIntegerTypeKind && c->y.bits > 32) {
        wide_intrinsic(s, c, name);
    } else if (by_table(s, c, name)) {
        return;
    } else if (begins(name, "llvm.fabs.")) {
        for (uint32_t k = 0; k < c->x->n_parts; k++)
            c->x->parts[k] = absolute(s, c, c->a->parts[k]);
    } else if (begins(name, "llvm.copysign.")) {
        for (uint32_t k = 0; k < c->x->n_parts; k++)
            c->x->parts[k] = copy_sign(s, c, c->a->parts[k], c->b->parts[k]);
    } else if (begins(name, "llvm.abs.")) {
        int_abs(s, c);
    } else {
        sel_fail(s, name);
    }
}

/* --- routines and the runtime -------------------------------------------- */

static void block_move(sel *s, LLVMValueRef i, const char *name)
{
    bool set = begins(name, "llvm.memset");
    LLVMValueRef n = LLVMGetOperand(i, 2), d = LLVMGetOperand(i, 0);
    uint64_t bytes = LLVMIsAConstantInt(n) ? LLVMConstIntGetZExtValue(n) : 64;
    uint64_t steps = bytes > 1 << 20 ? 1 << 16 : (bytes + 15) / 16;
    isa_operand args[5];
    unsigned from = LLVMGetPointerAddressSpace(LLVMTypeOf(d)), to = 0;

    for (unsigned k = 0; k < 3; k++)
        args[k] = sel_scalar(s, LLVMGetOperand(i, k));
    args[3] = vp_imm(from == AS_GLOBAL || from == AS_CONSTANT);
    if (!set)
        to = LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(i, 1)));
    args[4] = vp_imm(to == AS_GLOBAL || to == AS_CONSTANT);
    sel_call(s,
             (sel_routine){set ? "mem.set" : "mem.move",
                           (uint32_t)(steps * (set ? 1 : 2) +
                                      isa_ops[ISA_OP_ldv128].lat)},
             args, 5, NULL, 0);
}

/* What the SAU does itself. */
static bool on_the_sau(sel *s, LLVMValueRef i, call_id id)
{
    static const struct {
        call_id f16, f32;
        isa_op op;
    } rows[] = {{CALL_rsqrt_f16, CALL_rsqrt_f32, ISA_OP_frsqrt},
                {CALL_exp2_f16, CALL_exp2_f32, ISA_OP_fexp2},
                {CALL_log2_f16, CALL_log2_f32, ISA_OP_flog2}};
    sel_value_parts *x;

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (id == rows[k].f16 || id == rows[k].f32) {
            x = sel_new(s, LLVMTypeOf(i));
            x->parts[0] =
                sel1(s, sel_scalar(s, LLVMGetOperand(i, 0)), .op = rows[k].op,
                     .type = sel_isa_type(sel_type(LLVMTypeOf(i)), true));
            sel_set(s, i, x);
            return true;
        }
    return false;
}

/* The last argument of a transfer, the event it joins, is left out when it
 * joins none. */
static bool has_event(LLVMValueRef i)
{
    LLVMValueRef event = LLVMGetOperand(i, LLVMGetNumArgOperands(i) - 1);

    return !LLVMIsAConstantInt(event) || LLVMConstIntGetZExtValue(event);
}

/* Cycles of a call that gives a t. */
static uint32_t cost_of(call_id id, LLVMTypeRef t)
{
    bool half;
    const builtin_routine *r = call_routine(id, &half);

    if (r)
        return LLVMGetTypeKind(t) == LLVMHalfTypeKind ? r->cost16 : r->cost32;
    switch (id) {
#define RUNTIME(name, who, form, hook, result, words, time, cost) \
    case CALL_##name:                                             \
        return COST_##cost;
#define VALUE(name, form, function, cost) \
    case CALL_##name:                     \
        return COST_##cost;
#include "sim/builtins/calls.def"
    default: /* of code for checkers and debuggers, which no device runs */
        return COST_COLLECTIVE;
    }
}

/* Everything else that has a name: mathematical routines, conversions with a
 * direction, the runtime's collective operations. */
static void routine(sel *s, LLVMValueRef i, const char *name)
{
    call_id id = ir_call_id(i);
    LLVMTypeRef t = LLVMTypeOf(i);
    unsigned n = LLVMGetNumArgOperands(i);
    isa_operand args[ISA_MAX_CALL_ARGS];
    uint32_t n_args = 0;
    sel_value_parts *x;

    if (on_the_sau(s, i, id))
        return;
    if (id == CALL_dma && !has_event(i))
        n--;
    x = sel_new(s, t);
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef v = LLVMGetOperand(i, k);
        sel_value_parts *a = sel_value(s, v);

        if (sel_is_vector(LLVMTypeOf(v)) ||
            n_args + a->n_parts > ISA_MAX_CALL_ARGS) {
            sel_fail(s, name);
            return;
        }
        for (uint32_t p = 0; p < a->n_parts; p++)
            args[n_args++] = p ? a->parts[p] : sel_scalar(s, v);
        if (a->n_parts > 1)
            args[n_args - a->n_parts] = a->parts[0];
    }
    if (sel_is_vector(t) || x->n_parts > 2)
        sel_fail(s, name);
    sel_call(s, (sel_routine){name, cost_of(id, t)}, args, n_args, x->parts,
             x->n_parts);
    if (x->n_parts)
        sel_set(s, i, x);
}

static bool ignored(const char *name)
{
    return begins(name, "llvm.lifetime") || begins(name, "llvm.dbg") ||
           begins(name, "llvm.assume") || begins(name, "llvm.experimental");
}

void sel_call_inst(sel *s, LLVMValueRef i)
{
    const char *name = ir_callee(i);
    LLVMTypeRef t = LLVMTypeOf(i);
    call c = {.i = i, .t = t};
    sel_value_parts **in[3] = {&c.a, &c.b, &c.c};

    if (ignored(name))
        return;
    if (!name[0]) {
        sel_fail(s, "a call through a pointer");
        return;
    }
    if (begins(name, "llvm.mem")) {
        block_move(s, i, name);
        return;
    }
    if (!begins(name, "llvm.")) {
        routine(s, i, name);
        return;
    }
    if (LLVMGetTypeKind(t) != LLVMStructTypeKind)
        c.y = sel_type(t);
    c.vector = sel_is_vector(t);
    for (unsigned k = 0; k < 3 && k < LLVMGetNumArgOperands(i); k++)
        *in[k] = sel_value(s, arg(&c, k));
    c.x = sel_new(s, t);
    intrinsic(s, &c, name);
    sel_set(s, i, c.x);
}
