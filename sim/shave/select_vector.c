/* Selection of vector operations: parts of 128 bits, lanes, masks, shuffles,
 * conversions between lane widths. */
#include <string.h>

#include "sim/shave/select.h"

/* --- lanes --------------------------------------------------------------- */

static uint32_t width(isa_type t)
{
    return 8 * isa_type_bytes(t);
}

static isa_type sint_of(uint32_t bits)
{
    return bits <= 8 ? ISA_S8 : bits <= 16 ? ISA_S16 : ISA_S32;
}

/* The bits of a lane as the value is held; masks have their own width. */
static uint32_t lane_bits(sel_shape t, const sel_value_parts *x)
{
    return t.bits == 1 ? x->mask : t.bits;
}

isa_operand sel_lane(sel *s, LLVMTypeRef t, const sel_value_parts *x,
                     uint32_t lane)
{
    sel_shape y = sel_type(t);
    uint32_t bits = lane_bits(y, x), per = 128 / bits;
    isa_operand r;

    if (!sel_is_vector(t))
        return x->parts[lane];
    r = sel1(s, x->parts[lane / per], .op = ISA_OP_vext, .type = sel_uint(bits),
             .sub = lane % per);
    if (y.bits == 1)
        r = sel2(s, r, vp_imm(1), .op = ISA_OP_iand);
    return r;
}

isa_operand sel_from_lanes(sel *s, isa_type t, const isa_operand *lanes,
                           uint32_t n)
{
    isa_operand v = sel1(s, lanes[0], .op = ISA_OP_vsplat, .type = t);
    bool same = true;

    for (uint32_t k = 1; k < n; k++)
        same &= vp_same(lanes[k], lanes[0]);
    for (uint32_t k = 1; k < n && !same; k++)
        v = sel2(s, v, lanes[k], .op = ISA_OP_vins, .type = t, .sub = k);
    return v;
}

void sel_set_lanes(sel *s, LLVMTypeRef t, const isa_operand *lanes,
                   sel_value_parts *x)
{
    sel_shape y = sel_type(t);
    uint32_t bits = y.bits == 1 ? 16 : y.bits, per = 128 / bits;
    isa_operand part[16];

    if (!sel_is_vector(t)) {
        memcpy(x->parts, lanes, x->n_parts * sizeof *lanes);
        return;
    }
    if (y.bits == 1)
        x->mask = 16;
    for (uint32_t p = 0; p < x->n_parts; p++) {
        uint32_t n = 0;

        for (; n < per && p * per + n < y.lanes; n++) {
            part[n] = lanes[p * per + n];
            if (y.bits == 1)
                part[n] = sel2(s, vp_imm(0), part[n], .op = ISA_OP_isub);
        }
        x->parts[p] = sel_from_lanes(s, sel_uint(bits), part, n);
    }
}

sel_value_parts *sel_convert_lanes(sel *s, const isa_operand *parts,
                                   uint32_t lanes, isa_type from, isa_type to)
{
    uint32_t wf = width(from), wt = width(to), per = 128 / wt;
    sel_value_parts *x = arena_new(s->arena, sel_value_parts);

    x->n_parts = (lanes + per - 1) / per;
    x->parts = arena_array(s->arena, isa_operand, x->n_parts + 1);
    if (wt >= wf) {
        uint32_t groups = wt / wf;

        for (uint32_t k = 0; k < x->n_parts; k++)
            x->parts[k] = sel1(s, parts[k / groups], .op = ISA_OP_vcvt,
                               .type = to, .from = from, .sub = k % groups);
    } else {
        uint32_t groups = wf / wt, n = (lanes + 128 / wf - 1) / (128 / wf);

        for (uint32_t k = 0; k < n; k++) {
            isa_operand old = k % groups ? x->parts[k / groups] : parts[k];

            x->parts[k / groups] =
                sel2(s, parts[k], old, .op = ISA_OP_vcvtn, .type = to,
                     .from = from, .sub = k % groups);
        }
    }
    return x;
}

sel_value_parts *sel_mask(sel *s, const sel_value_parts *x, uint32_t lanes,
                          uint32_t bits)
{
    sel_value_parts *r;

    if (x->mask == bits) {
        r = arena_new(s->arena, sel_value_parts);
        *r = sel_copy(s, x);
        return r;
    }
    r = sel_convert_lanes(s, x->parts, lanes, sint_of(x->mask), sint_of(bits));
    r->mask = (uint8_t)bits;
    return r;
}

/* --- element by element -------------------------------------------------- */

static isa_op vector_op(LLVMOpcode op, isa_type t)
{
    bool half = t == ISA_F16;

    switch (op) {
    case LLVMAdd:
        return ISA_OP_vadd;
    case LLVMSub:
        return ISA_OP_vsub;
    case LLVMMul:
        return ISA_OP_vmul;
    case LLVMAnd:
        return ISA_OP_vand;
    case LLVMOr:
        return ISA_OP_vor;
    case LLVMXor:
        return ISA_OP_vxor;
    case LLVMShl:
        return ISA_OP_vshl;
    case LLVMLShr:
    case LLVMAShr:
        return ISA_OP_vshr;
    case LLVMFAdd:
        return half ? ISA_OP_vfadd16 : ISA_OP_vfadd32;
    case LLVMFSub:
        return half ? ISA_OP_vfsub16 : ISA_OP_vfsub32;
    case LLVMFMul:
        return half ? ISA_OP_vfmul16 : ISA_OP_vfmul32;
    default:
        return ISA_OP_nop;
    }
}

static bool typed(isa_op op)
{
    return isa_ops[op].types;
}

/* Division has no vector form: lane by lane on the scalar units. */
static void divide(sel *s, LLVMValueRef i, sel_shape t, sel_value_parts *x)
{
    LLVMTypeRef ty = LLVMTypeOf(i);
    sel_value_parts *a = sel_value(s, LLVMGetOperand(i, 0));
    sel_value_parts *b = sel_value(s, LLVMGetOperand(i, 1));
    isa_operand *lanes = arena_array(s->arena, isa_operand, t.lanes);
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    bool is_signed = op == LLVMSDiv || op == LLVMSRem;
    isa_type type = op == LLVMFDiv || op == LLVMFRem
                        ? sel_isa_type(t, true)
                        : (is_signed ? ISA_S32 : ISA_U32);

    for (uint32_t k = 0; k < t.lanes; k++) {
        isa_operand l = sel_lane(s, ty, a, k), r = sel_lane(s, ty, b, k);

        if (op == LLVMFDiv) {
            lanes[k] = sel2(s, l, r, .op = ISA_OP_fdiv, .type = type);
        } else if (op == LLVMFRem) {
            isa_operand args[2] = {l, r};

            sel_call(s,
                     (sel_routine){t.bits == 16 ? "frem.f16" : "frem.f32", 40},
                     args, 2, &lanes[k], 1);
        } else {
            l = sel_extend(s, l, t.bits, is_signed);
            r = sel_extend(s, r, t.bits, is_signed);
            lanes[k] =
                sel2(s, l, r,
                     .op = op == LLVMUDiv || op == LLVMSDiv ? ISA_OP_idiv
                                                            : ISA_OP_irem,
                     .type = type);
        }
    }
    sel_set_lanes(s, ty, lanes, x);
}

static void binary(sel *s, LLVMValueRef i, sel_shape t, sel_value_parts *x)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    sel_value_parts *a = sel_value(s, LLVMGetOperand(i, 0));
    sel_value_parts *b = sel_value(s, LLVMGetOperand(i, 1));
    isa_type type = sel_isa_type(t, op == LLVMAShr);
    isa_op o = vector_op(op, type);

    if (o == ISA_OP_nop) {
        divide(s, i, t, x);
        return;
    }
    if (t.bits == 1) { /* masks: and, or, xor; the rest does not occur */
        b = sel_mask(s, b, t.lanes, a->mask);
        x->mask = a->mask;
        x->n_parts = a->n_parts;
        x->parts = arena_array(s->arena, isa_operand, x->n_parts + 1);
        if (!(op == LLVMAnd || op == LLVMOr || op == LLVMXor))
            sel_fail(s, "arithmetic on vectors of bits");
    }
    for (uint32_t k = 0; k < x->n_parts; k++)
        x->parts[k] = sel2(s, a->parts[k], b->parts[k], .op = o,
                           .type = typed(o) ? type : ISA_NO_TYPE);
}

static void compare(sel *s, LLVMValueRef i, sel_value_parts *x)
{
    LLVMValueRef v = LLVMGetOperand(i, 0);
    sel_shape t = sel_type(LLVMTypeOf(v));
    sel_value_parts *a = sel_value(s, v),
                    *b = sel_value(s, LLVMGetOperand(i, 1));
    isa_type type;
    isa_cond c;
    bool is_signed = true;
    int always = -1;

    if (LLVMIsAFCmpInst(i))
        c = sel_float_cond(LLVMGetFCmpPredicate(i), &always);
    else
        c = sel_int_cond(LLVMGetICmpPredicate(i), &is_signed);
    type = sel_isa_type(t, is_signed);
    if (t.bits == 1) { /* equal and not equal of masks */
        b = sel_mask(s, b, t.lanes, a->mask);
        type = sint_of(a->mask);
    }
    x->mask = (uint8_t)(t.bits == 1 ? a->mask : t.bits);
    x->n_parts = a->n_parts;
    x->parts = arena_array(s->arena, isa_operand, x->n_parts + 1);
    for (uint32_t k = 0; k < x->n_parts; k++)
        x->parts[k] = always >= 0
                          ? sel1(s, vp_imm(always ? ~0u : 0),
                                 .op = ISA_OP_vsplat, .type = ISA_U32)
                          : sel2(s, a->parts[k], b->parts[k], .op = ISA_OP_vcmp,
                                 .type = type, .sub = c);
}

static void choose(sel *s, LLVMValueRef i, sel_shape t, sel_value_parts *x)
{
    LLVMValueRef c = LLVMGetOperand(i, 0);
    sel_value_parts *a = sel_value(s, LLVMGetOperand(i, 1));
    sel_value_parts *b = sel_value(s, LLVMGetOperand(i, 2));
    sel_value_parts *m = sel_value(s, c);

    if (t.bits == 1) {
        uint32_t bits = a->mask;

        b = sel_mask(s, b, t.lanes, bits);
        x->mask = (uint8_t)bits;
        x->n_parts = a->n_parts;
        x->parts = arena_array(s->arena, isa_operand, x->n_parts + 1);
    }
    if (ir_lanes(LLVMTypeOf(c)) > 1) {
        m = sel_mask(s, m, t.lanes, t.bits == 1 ? x->mask : t.bits);
    } else {
        isa_operand all =
            sel2(s, vp_imm(0), sel_extend(s, sel_scalar(s, c), 1, false),
                 .op = ISA_OP_isub);

        all = sel1(s, all, .op = ISA_OP_vsplat, .type = ISA_U32);
        m = sel_new(s, LLVMTypeOf(i));
        m->parts = arena_array(s->arena, isa_operand, x->n_parts + 1);
        for (uint32_t k = 0; k < x->n_parts; k++)
            m->parts[k] = all;
    }
    for (uint32_t k = 0; k < x->n_parts; k++)
        x->parts[k] =
            sel3(s, m->parts[k], a->parts[k], b->parts[k], .op = ISA_OP_vsel);
}

/* --- shuffles ------------------------------------------------------------ */

static sel_value_parts *value_at_width(sel *s, LLVMValueRef v, uint32_t bits)
{
    sel_value_parts *x = sel_value(s, v);
    sel_shape t = sel_type(LLVMTypeOf(v));

    return t.bits == 1 ? sel_mask(s, x, t.lanes, bits) : x;
}

/* Bytes of one result part: from at most two source parts at a time. */
static isa_operand shuffle_part(sel *s, const isa_operand *src,
                                const int *lanes, uint32_t n, uint32_t per)
{
    uint32_t bytes = 16 / per;
    isa_operand acc = SEL_NO;
    uint8_t taken[16] = {0};

    for (;;) {
        uint8_t pattern[16];
        isa_operand a = SEL_NO, b = acc;
        uint32_t from_b = acc.kind ? 1 : 0;
        bool identity = true;

        memset(pattern, 255, sizeof pattern);
        for (uint32_t k = 0; k < n; k++) {
            isa_operand x;
            uint32_t base;

            if (acc.kind && taken[k]) { /* keep what is there */
                for (uint32_t q = 0; q < bytes; q++)
                    pattern[k * bytes + q] = (uint8_t)(16 + k * bytes + q);
                continue;
            }
            if (lanes[k] < 0 || taken[k])
                continue;
            x = src[(uint32_t)lanes[k] / per];
            if (!a.kind || vp_same(a, x))
                a = x, base = 0;
            else if (!from_b && (!b.kind || vp_same(b, x)))
                b = x, base = 16;
            else
                continue;
            taken[k] = 1;
            for (uint32_t q = 0; q < bytes; q++)
                pattern[k * bytes + q] =
                    (uint8_t)(base + (uint32_t)lanes[k] % per * bytes + q);
        }
        if (!a.kind) /* nothing left */
            return acc.kind ? acc : src[0];
        for (uint32_t q = 0; q < 16; q++)
            identity &= pattern[q] == q || pattern[q] == 255;
        acc = identity ? a
                       : sel2(s, a, b.kind ? b : a, .op = ISA_OP_vshuf,
                              .imm = (int32_t)vp_vector(s->program, pattern));
    }
}

static void shuffle(sel *s, LLVMValueRef i, sel_shape t, sel_value_parts *x)
{
    LLVMValueRef v0 = LLVMGetOperand(i, 0), v1 = LLVMGetOperand(i, 1);
    uint32_t n0 = ir_lanes(LLVMTypeOf(v0));
    sel_value_parts *a = sel_value(s, v0), *b;
    uint32_t bits = t.bits == 1 ? a->mask : t.bits, per = 128 / bits;
    isa_operand *src;

    b = value_at_width(s, v1, bits);
    x->mask = (uint8_t)(t.bits == 1 ? bits : 0);
    x->n_parts = (t.lanes + per - 1) / per;
    x->parts = arena_array(s->arena, isa_operand, x->n_parts + 1);
    /* Both sources as one row of parts; b's lanes start a part of their own. */
    src = arena_array(s->arena, isa_operand, a->n_parts + b->n_parts);
    memcpy(src, a->parts, a->n_parts * sizeof *src);
    memcpy(src + a->n_parts, b->parts, b->n_parts * sizeof *src);
    for (uint32_t p = 0; p < x->n_parts; p++) {
        int lanes[16];
        uint32_t k = 0;

        for (; k < per && p * per + k < t.lanes; k++) {
            int m = LLVMGetMaskValue(i, p * per + k);

            lanes[k] = m < 0 || m == LLVMGetUndefMaskElem() ? -1
                       : (uint32_t)m < n0
                           ? m
                           : (int)(a->n_parts * per + ((uint32_t)m - n0));
        }
        x->parts[p] = shuffle_part(s, src, lanes, k, per);
    }
}

static void shuffle_wide(sel *s, LLVMValueRef i, sel_shape t,
                         sel_value_parts *x)
{
    LLVMValueRef v0 = LLVMGetOperand(i, 0);
    uint32_t n0 = ir_lanes(LLVMTypeOf(v0));
    sel_value_parts *a = sel_value(s, v0),
                    *b = sel_value(s, LLVMGetOperand(i, 1));

    for (uint32_t k = 0; k < t.lanes; k++) {
        int m = LLVMGetMaskValue(i, k);
        uint32_t l = m < 0 || m == LLVMGetUndefMaskElem() ? 0 : (uint32_t)m;
        const isa_operand *from =
            l < n0 ? &a->parts[2 * l] : &b->parts[2 * (l - n0)];

        x->parts[2 * k] = from[0];
        x->parts[2 * k + 1] = from[1];
    }
}

/* --- single lanes -------------------------------------------------------- */

static uint32_t element_parts(sel_shape t)
{
    return t.bits > 32 ? 2 : 1;
}

/* A lane whose number is not a constant, among all parts: the number's high
 * bits choose the part. */
static isa_operand variable_lane(sel *s, const sel_value_parts *x,
                                 uint32_t bits, isa_operand idx)
{
    uint32_t per = 128 / bits;
    isa_operand r =
        sel2(s, x->parts[0], idx, .op = ISA_OP_vextd, .type = sel_uint(bits));

    for (uint32_t p = 1; p < x->n_parts; p++) {
        isa_operand l = sel2(s, x->parts[p], idx, .op = ISA_OP_vextd,
                             .type = sel_uint(bits));
        isa_operand here = sel2(s, idx, vp_imm(p * per), .op = ISA_OP_icmp,
                                .type = ISA_U32, .sub = ISA_GE);

        r = sel3(s, here, l, r, .op = ISA_OP_isel);
    }
    return r;
}

static void extract(sel *s, LLVMValueRef i)
{
    LLVMValueRef v = LLVMGetOperand(i, 0), idx = LLVMGetOperand(i, 1);
    LLVMTypeRef vt = LLVMTypeOf(v);
    sel_shape t = sel_type(vt);
    sel_value_parts *from = sel_value(s, v), *x = sel_new(s, LLVMTypeOf(i));
    uint32_t bits = lane_bits(t, from);
    isa_operand n;

    if (LLVMIsAConstantInt(idx)) {
        uint32_t k = (uint32_t)LLVMConstIntGetZExtValue(idx) % t.lanes;

        if (sel_is_vector(vt))
            x->parts[0] = sel_lane(s, vt, from, k);
        else
            memcpy(x->parts, from->parts + k * x->n_parts,
                   x->n_parts * sizeof *x->parts);
        sel_set(s, i, x);
        return;
    }
    n = sel_extend(s, sel_scalar(s, idx),
                   sel_type(LLVMTypeOf(idx)).bits > 32
                       ? 32
                       : sel_type(LLVMTypeOf(idx)).bits,
                   false);
    if (sel_is_vector(vt)) {
        x->parts[0] = variable_lane(s, from, bits, n);
        if (t.bits == 1)
            x->parts[0] = sel2(s, x->parts[0], vp_imm(1), .op = ISA_OP_iand);
    } else {
        memcpy(x->parts, from->parts, x->n_parts * sizeof *x->parts);
        for (uint32_t k = 1; k < t.lanes; k++) {
            isa_operand here = sel2(s, n, vp_imm(k), .op = ISA_OP_icmp,
                                    .type = ISA_U32, .sub = ISA_EQ);

            for (uint32_t q = 0; q < x->n_parts; q++)
                x->parts[q] = sel3(s, here, from->parts[k * x->n_parts + q],
                                   x->parts[q], .op = ISA_OP_isel);
        }
    }
    sel_set(s, i, x);
}

static void insert_variable(sel *s, sel_value_parts *x, uint32_t bits,
                            isa_operand v, isa_operand idx)
{
    uint32_t per = 128 / bits;
    isa_type t = sel_uint(bits);

    for (uint32_t p = 0; p < x->n_parts; p++) {
        isa_operand with = sel3(s, x->parts[p], v, idx, .op = ISA_OP_vinsd,
                                .type = t),
                    m;

        if (x->n_parts == 1) {
            x->parts[p] = with;
            return;
        }
        m = sel2(s, idx,
                 vp_imm(per == 16  ? 4
                        : per == 8 ? 3
                                   : 2),
                 .op = ISA_OP_ishr, .type = ISA_U32);
        m = sel2(s, m, vp_imm(p), .op = ISA_OP_icmp, .type = ISA_U32,
                 .sub = ISA_EQ);
        m = sel2(s, vp_imm(0), m, .op = ISA_OP_isub);
        m = sel1(s, m, .op = ISA_OP_vsplat, .type = ISA_U32);
        x->parts[p] = sel3(s, m, with, x->parts[p], .op = ISA_OP_vsel);
    }
}

static void insert(sel *s, LLVMValueRef i)
{
    LLVMValueRef v = LLVMGetOperand(i, 0), e = LLVMGetOperand(i, 1);
    LLVMValueRef idx = LLVMGetOperand(i, 2);
    LLVMTypeRef vt = LLVMTypeOf(v);
    sel_shape t = sel_type(vt);
    sel_value_parts *from = sel_value(s, v), *x = sel_new(s, vt),
                    *put = sel_value(s, e);
    uint32_t bits = lane_bits(t, from), w = element_parts(t);
    isa_operand lane;

    *x = sel_copy(s, from);
    if (!sel_is_vector(vt)) {
        if (!LLVMIsAConstantInt(idx)) {
            isa_operand n = sel_scalar(s, idx);

            for (uint32_t k = 0; k < t.lanes; k++) {
                isa_operand here = sel2(s, n, vp_imm(k), .op = ISA_OP_icmp,
                                        .type = ISA_U32, .sub = ISA_EQ);

                for (uint32_t q = 0; q < w; q++)
                    x->parts[k * w + q] =
                        sel3(s, here, put->parts[q], x->parts[k * w + q],
                             .op = ISA_OP_isel);
            }
        } else {
            uint32_t k = (uint32_t)LLVMConstIntGetZExtValue(idx) % t.lanes;

            memcpy(x->parts + k * w, put->parts, w * sizeof *x->parts);
        }
        sel_set(s, i, x);
        return;
    }
    lane = sel_scalar(s, e);
    if (t.bits == 1)
        lane = sel2(s, vp_imm(0), sel_extend(s, lane, 1, false),
                    .op = ISA_OP_isub);
    if (LLVMIsAConstantInt(idx)) {
        uint32_t k = (uint32_t)LLVMConstIntGetZExtValue(idx) % t.lanes;
        uint32_t per = 128 / bits;

        x->parts[k / per] =
            LLVMIsUndef(v) && t.lanes == 1
                ? sel1(s, lane, .op = ISA_OP_vsplat, .type = sel_uint(bits))
                : sel2(s, x->parts[k / per], lane, .op = ISA_OP_vins,
                       .type = sel_uint(bits), .sub = k % per);
    } else {
        insert_variable(s, x, bits, lane,
                        sel_extend(s, sel_scalar(s, idx), 32, false));
    }
    sel_set(s, i, x);
}

/* --- casts --------------------------------------------------------------- */

/* Scalars and masks in and out of bit patterns. */
static bool bit_cast(sel *s, LLVMValueRef i)
{
    LLVMValueRef v = LLVMGetOperand(i, 0);
    LLVMTypeRef ft = LLVMTypeOf(v), tt = LLVMTypeOf(i);
    sel_shape f = sel_type(ft), t = sel_type(tt);
    bool from_v = sel_is_vector(ft), to_v = sel_is_vector(tt);
    sel_value_parts *a = sel_value(s, v), *x = sel_new(s, tt);

    if (f.bits == 1 && from_v && !to_v) { /* mask to number */
        isa_operand r = SEL_NO;
        uint32_t per = 128 / a->mask;

        for (uint32_t p = 0; p < a->n_parts; p++) {
            isa_operand m = sel1(s, a->parts[p], .op = ISA_OP_vmask,
                                 .type = sint_of(a->mask));

            if (p)
                m = sel2(s, r, sel2(s, m, vp_imm(p * per), .op = ISA_OP_ishl),
                         .op = ISA_OP_ior);
            r = m;
        }
        x->parts[0] = t.bits < 32 ? sel_extend(s, r, t.bits, false) : r;
    } else if (t.bits == 1 && to_v && !from_v) { /* number to mask */
        isa_operand lanes[64];

        if (t.lanes > 32)
            sel_fail(s, "a mask of more than 32 lanes");
        for (uint32_t k = 0; k < t.lanes && k < 32; k++)
            lanes[k] = sel2(s,
                            sel2(s, a->parts[0], vp_imm(k), .op = ISA_OP_ishr,
                                 .type = ISA_U32),
                            vp_imm(1), .op = ISA_OP_iand);
        sel_set_lanes(s, tt, lanes, x);
    } else if (from_v && to_v) {
        *x = sel_copy(s, a);
    } else if (from_v) { /* 16, 32 or 64 bits of a vector; wide vectors */
        for (uint32_t k = 0; k < x->n_parts; k++)
            x->parts[k] =
                sel1(s, a->parts[k / 4], .op = ISA_OP_vext,
                     .type = sel_uint(t.bits > 32 ? 32 : t.bits * t.lanes),
                     .sub = k % 4);
    } else if (to_v) {
        for (uint32_t p = 0; p < x->n_parts; p++) {
            uint32_t n = a->n_parts - 4 * p < 4 ? a->n_parts - 4 * p : 4;

            x->parts[p] =
                sel_from_lanes(s, sel_uint(f.bits > 32 ? 32 : f.bits * f.lanes),
                               a->parts + 4 * p, n);
        }
    } else {
        return false;
    }
    sel_set(s, i, x);
    return true;
}

static bool is_mask_type(LLVMTypeRef t)
{
    return sel_type(t).bits == 1;
}

static void cast(sel *s, LLVMValueRef i, sel_shape t, sel_value_parts *x)
{
    LLVMValueRef v = LLVMGetOperand(i, 0);
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    sel_shape f = sel_type(LLVMTypeOf(v));
    sel_value_parts *a = sel_value(s, v);
    bool from_signed = op == LLVMSExt || op == LLVMSIToFP;
    bool to_signed = op == LLVMFPToSI;
    sel_value_parts *r;

    if (is_mask_type(LLVMTypeOf(v))) {
        /* All ones are -1; unsigned readings want 1. */
        r = sel_mask(s, a, f.lanes, t.bits);
        if (op == LLVMZExt || op == LLVMUIToFP) {
            isa_operand one = sel1(s, vp_imm(1), .op = ISA_OP_vsplat,
                                   .type = sel_uint(t.bits));

            for (uint32_t k = 0; k < r->n_parts; k++)
                r->parts[k] = sel2(s, r->parts[k], one, .op = ISA_OP_vand);
        }
        if (op == LLVMSIToFP || op == LLVMUIToFP)
            r = sel_convert_lanes(s, r->parts, t.lanes, sint_of(t.bits),
                                  sel_isa_type(t, true));
        memcpy(x->parts, r->parts, x->n_parts * sizeof *x->parts);
        return;
    }
    if (t.bits == 1) { /* the lowest bit to a mask */
        sel_value_parts *m = sel_new(s, LLVMTypeOf(i));
        isa_operand one =
            sel1(s, vp_imm(1), .op = ISA_OP_vsplat, .type = sel_uint(f.bits));

        m->n_parts = a->n_parts;
        m->parts = arena_array(s->arena, isa_operand, a->n_parts);
        for (uint32_t k = 0; k < a->n_parts; k++)
            m->parts[k] = sel2(s, sel2(s, a->parts[k], one, .op = ISA_OP_vand),
                               one, .op = ISA_OP_vcmp, .type = sel_uint(f.bits),
                               .sub = ISA_EQ);
        *x = *m;
        x->mask = (uint8_t)f.bits;
        return;
    }
    if (op == LLVMTrunc) {
        r = sel_convert_lanes(s, a->parts, t.lanes, sel_uint(f.bits),
                              sel_uint(t.bits));
    } else {
        r = sel_convert_lanes(s, a->parts, t.lanes,
                              sel_isa_type(f, from_signed),
                              sel_isa_type(t, to_signed || from_signed));
    }
    memcpy(x->parts, r->parts, x->n_parts * sizeof *x->parts);
}

/* --- the dispatcher ------------------------------------------------------ */

static bool lane_inst(sel *s, LLVMValueRef i, LLVMOpcode op)
{
    LLVMTypeRef t = LLVMTypeOf(i);

    if (op == LLVMExtractElement) {
        extract(s, i);
        return true;
    }
    if (op == LLVMInsertElement) {
        insert(s, i);
        return true;
    }
    if (op == LLVMShuffleVector) {
        sel_value_parts *x = sel_new(s, t);

        if (sel_is_vector(t))
            shuffle(s, i, sel_type(t), x);
        else
            shuffle_wide(s, i, sel_type(t), x);
        sel_set(s, i, x);
        return true;
    }
    return op == LLVMBitCast && bit_cast(s, i);
}

bool sel_vector_inst(sel *s, LLVMValueRef i)
{
    LLVMTypeRef t = LLVMTypeOf(i);
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    sel_shape y = sel_type(t);
    sel_value_parts *x;

    if (lane_inst(s, i, op))
        return true;
    if (!sel_is_vector(t))
        return false;
    x = sel_new(s, t);
    if (y.kind == LLVMPointerTypeKind)
        sel_fail(s, "a vector of addresses");
    if (LLVMIsABinaryOperator(i)) {
        binary(s, i, y, x);
    } else if (op == LLVMICmp || op == LLVMFCmp) {
        compare(s, i, x);
    } else if (op == LLVMSelect) {
        choose(s, i, y, x);
    } else if (op == LLVMFreeze) {
        *x = sel_copy(s, sel_value(s, LLVMGetOperand(i, 0)));
    } else if (op == LLVMFNeg) {
        sel_value_parts *a = sel_value(s, LLVMGetOperand(i, 0));
        isa_operand sign = sel1(s, vp_imm(y.bits == 16 ? 0x8000 : 0x80000000),
                                .op = ISA_OP_vsplat, .type = sel_uint(y.bits));

        for (uint32_t k = 0; k < x->n_parts; k++)
            x->parts[k] = sel2(s, a->parts[k], sign, .op = ISA_OP_vxor);
    } else if (LLVMIsACastInst(i)) {
        cast(s, i, y, x);
    } else {
        sel_fail(s, "this vector instruction");
    }
    sel_set(s, i, x);
    return true;
}
