/* Selection of 64-bit integers: pairs of words, and vectors of them lane by
 * lane. Sums and logic are a few operations; the rest are routines. */
#include <string.h>

#include "sim/shave/costs.h"
#include "sim/shave/select.h"

typedef struct {
    isa_operand lo, hi;
} pair;

static pair sum(sel *s, pair a, pair b)
{
    pair r;
    isa_operand carry;

    r.lo = sel2(s, a.lo, b.lo, .op = ISA_OP_iadd);
    carry =
        sel2(s, r.lo, b.lo, .op = ISA_OP_icmp, .type = ISA_U32, .sub = ISA_LT);
    r.hi = sel2(s, a.hi, b.hi, .op = ISA_OP_iadd);
    r.hi = sel2(s, r.hi, carry, .op = ISA_OP_iadd);
    return r;
}

static pair difference(sel *s, pair a, pair b)
{
    pair r;
    isa_operand borrow =
        sel2(s, a.lo, b.lo, .op = ISA_OP_icmp, .type = ISA_U32, .sub = ISA_LT);

    r.lo = sel2(s, a.lo, b.lo, .op = ISA_OP_isub);
    r.hi = sel2(s, a.hi, b.hi, .op = ISA_OP_isub);
    r.hi = sel2(s, r.hi, borrow, .op = ISA_OP_isub);
    return r;
}

static pair routine(sel *s, const char *name, pair a, pair b, uint32_t cost)
{
    isa_operand args[4] = {a.lo, a.hi, b.lo, b.hi}, ret[2];

    sel_call(s, (sel_routine){name, cost}, args, 4, ret, 2);
    return (pair){ret[0], ret[1]};
}

static pair constant_shift(sel *s, LLVMOpcode op, pair a, uint32_t n)
{
    pair r = a;
    isa_type t = op == LLVMAShr ? ISA_S32 : ISA_U32;

    n &= 63;
    if (!n)
        return r;
    if (op == LLVMShl) {
        if (n >= 32) {
            r.hi = sel2(s, a.lo, vp_imm(n - 32), .op = ISA_OP_ishl);
            r.lo = vp_imm(0);
            return r;
        }
        r.lo = sel2(s, a.lo, vp_imm(n), .op = ISA_OP_ishl);
        r.hi = sel2(
            s, sel2(s, a.hi, vp_imm(n), .op = ISA_OP_ishl),
            sel2(s, a.lo, vp_imm(32 - n), .op = ISA_OP_ishr, .type = ISA_U32),
            .op = ISA_OP_ior);
        return r;
    }
    if (n >= 32) {
        r.lo = sel2(s, a.hi, vp_imm(n - 32), .op = ISA_OP_ishr, .type = t);
        r.hi = op == LLVMAShr
                   ? sel2(s, a.hi, vp_imm(31), .op = ISA_OP_ishr, .type = t)
                   : vp_imm(0);
        return r;
    }
    r.lo = sel2(s, sel2(s, a.lo, vp_imm(n), .op = ISA_OP_ishr, .type = ISA_U32),
                sel2(s, a.hi, vp_imm(32 - n), .op = ISA_OP_ishl),
                .op = ISA_OP_ior);
    r.hi = sel2(s, a.hi, vp_imm(n), .op = ISA_OP_ishr, .type = t);
    return r;
}

static pair bitwise(sel *s, isa_op op, pair a, pair b)
{
    return (pair){sel2(s, a.lo, b.lo, .op = op), sel2(s, a.hi, b.hi, .op = op)};
}

static pair binary(sel *s, LLVMOpcode op, pair a, pair b)
{
    switch (op) {
    case LLVMAdd:
        return sum(s, a, b);
    case LLVMSub:
        return difference(s, a, b);
    case LLVMAnd:
        return bitwise(s, ISA_OP_iand, a, b);
    case LLVMOr:
        return bitwise(s, ISA_OP_ior, a, b);
    case LLVMXor:
        return bitwise(s, ISA_OP_ixor, a, b);
    case LLVMMul:
        return routine(s, "i64.mul", a, b, COST_WIDE_MUL);
    case LLVMUDiv:
        return routine(s, "i64.udiv", a, b, COST_WIDE_DIV);
    case LLVMSDiv:
        return routine(s, "i64.sdiv", a, b, COST_WIDE_DIV);
    case LLVMURem:
        return routine(s, "i64.urem", a, b, COST_WIDE_DIV);
    case LLVMSRem:
        return routine(s, "i64.srem", a, b, COST_WIDE_DIV);
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
        if (b.lo.kind == ISA_IMM)
            return constant_shift(s, op, a, b.lo.number);
        return routine(s,
                       op == LLVMShl    ? "i64.shl"
                       : op == LLVMLShr ? "i64.lshr"
                                        : "i64.ashr",
                       a, b, COST_WIDE_SHIFT);
    default:
        sel_fail(s, "this operation on 64 bits");
        return a;
    }
}

static isa_operand compare(sel *s, LLVMIntPredicate p, pair a, pair b)
{
    bool is_signed;
    isa_cond c = sel_int_cond(p, &is_signed);
    isa_operand same, low, high;

    if (c == ISA_EQ || c == ISA_NE) {
        isa_operand d =
            sel2(s, sel2(s, a.lo, b.lo, .op = ISA_OP_ixor),
                 sel2(s, a.hi, b.hi, .op = ISA_OP_ixor), .op = ISA_OP_ior);

        return sel2(s, d, vp_imm(0), .op = ISA_OP_icmp, .type = ISA_U32,
                    .sub = c);
    }
    same =
        sel2(s, a.hi, b.hi, .op = ISA_OP_icmp, .type = ISA_U32, .sub = ISA_EQ);
    low = sel2(s, a.lo, b.lo, .op = ISA_OP_icmp, .type = ISA_U32, .sub = c);
    high = sel2(s, a.hi, b.hi, .op = ISA_OP_icmp,
                .type = is_signed ? ISA_S32 : ISA_U32, .sub = c);
    return sel3(s, same, low, high, .op = ISA_OP_isel);
}

static pair lane_pair(const sel_value_parts *x, uint32_t k)
{
    return (pair){x->parts[2 * k], x->parts[2 * k + 1]};
}

/* LLVM makes integers of 33 to 63 bits where it computes what a loop leaves.
 * Bits above their width are anything; here they become zeros, or the sign. */
static pair extended(sel *s, pair x, uint32_t bits, bool is_signed)
{
    isa_operand by = vp_imm(64 - bits);

    if (bits >= 64) /* more: sel_parts has refused it already */
        return x;
    if (is_signed) {
        x.hi = sel2(s, x.hi, by, .op = ISA_OP_ishl);
        x.hi = sel2(s, x.hi, by, .op = ISA_OP_ishr, .type = ISA_S32);
    } else {
        isa_operand hi = x.hi;

        if (hi.kind == ISA_IMM)
            hi = sel1(s, hi, .op = ISA_OP_imov);
        x.hi = sel2(s, hi, vp_imm((1u << (bits - 32)) - 1), .op = ISA_OP_iand);
    }
    return x;
}

/* Operand k of i, its lane, as an operation that sees all its bits wants it. */
static pair operand(sel *s, LLVMValueRef i, unsigned k, uint32_t lane,
                    bool whole, bool is_signed)
{
    LLVMValueRef v = LLVMGetOperand(i, k);
    pair x = lane_pair(sel_value(s, v), lane);

    return whole ? extended(s, x, sel_type(LLVMTypeOf(v)).bits, is_signed) : x;
}

static bool sees_all_bits(LLVMOpcode op)
{
    return op == LLVMUDiv || op == LLVMSDiv || op == LLVMURem ||
           op == LLVMSRem || op == LLVMLShr || op == LLVMAShr;
}

static bool is_signed_op(LLVMOpcode op)
{
    return op == LLVMSDiv || op == LLVMSRem || op == LLVMAShr;
}

/* A pair from a narrower integer, or from a float by a routine. */
static pair widen(sel *s, LLVMOpcode op, sel_shape from, isa_operand x)
{
    isa_operand args[1], ret[2];

    if (op == LLVMFPToSI || op == LLVMFPToUI) {
        args[0] = x;
        sel_call(s,
                 (sel_routine){arena_printf(s->arena, "i64.from_%s_%c",
                                            from.bits == 16 ? "f16" : "f32",
                                            op == LLVMFPToSI ? 's' : 'u'),
                               COST_WIDE_FLOAT},
                 args, 1, ret, 2);
        return (pair){ret[0], ret[1]};
    }
    x = sel_extend(s, x, from.bits, op == LLVMSExt);
    return (pair){x, op == LLVMSExt ? sel2(s, x, vp_imm(31), .op = ISA_OP_ishr,
                                           .type = ISA_S32)
                                    : vp_imm(0)};
}

static isa_operand narrow(sel *s, LLVMOpcode op, sel_shape to, pair x)
{
    isa_operand args[2] = {x.lo, x.hi}, ret;

    if (op == LLVMSIToFP || op == LLVMUIToFP) {
        sel_call(s,
                 (sel_routine){arena_printf(s->arena, "i64.to_%s_%c",
                                            to.bits == 16 ? "f16" : "f32",
                                            op == LLVMSIToFP ? 's' : 'u'),
                               COST_WIDE_FLOAT},
                 args, 2, &ret, 1);
        return ret;
    }
    return to.bits == 1 ? sel2(s, x.lo, vp_imm(1), .op = ISA_OP_iand) : x.lo;
}

static void choose(sel *s, LLVMValueRef i, sel_shape t, sel_value_parts *x)
{
    LLVMValueRef c = LLVMGetOperand(i, 0);
    sel_value_parts *m = sel_value(s, c),
                    *a = sel_value(s, LLVMGetOperand(i, 1));
    sel_value_parts *b = sel_value(s, LLVMGetOperand(i, 2));

    for (uint32_t k = 0; k < t.lanes; k++) {
        isa_operand here = ir_lanes(LLVMTypeOf(c)) > 1
                               ? sel_lane(s, LLVMTypeOf(c), m, k)
                               : sel_extend(s, m->parts[0], 1, false);

        for (uint32_t q = 2 * k; q < 2 * k + 2; q++)
            x->parts[q] =
                sel3(s, here, a->parts[q], b->parts[q], .op = ISA_OP_isel);
    }
}

static void cast(sel *s, LLVMValueRef i, sel_value_parts *x)
{
    LLVMValueRef v = LLVMGetOperand(i, 0);
    LLVMTypeRef ft = LLVMTypeOf(v), tt = LLVMTypeOf(i);
    sel_shape f = sel_type(ft), t = sel_type(tt);
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    sel_value_parts *a = sel_value(s, v);
    isa_operand *lanes = arena_array(s->arena, isa_operand, t.lanes);

    for (uint32_t k = 0; k < t.lanes; k++) {
        bool wide_from = f.kind == LLVMIntegerTypeKind && f.bits > 32;

        if (t.bits > 32 && t.kind == LLVMIntegerTypeKind && wide_from) {
            pair r = operand(s, i, 0, k, op != LLVMTrunc, op == LLVMSExt);

            x->parts[2 * k] = r.lo;
            x->parts[2 * k + 1] = r.hi;
        } else if (t.bits > 32 && t.kind == LLVMIntegerTypeKind) {
            pair r =
                widen(s, op, f,
                      f.lanes > 1 ? sel_lane(s, ft, a, k) : sel_scalar(s, v));

            x->parts[2 * k] = r.lo;
            x->parts[2 * k + 1] = r.hi;
        } else {
            lanes[k] =
                narrow(s, op, t,
                       operand(s, i, 0, k, op != LLVMTrunc, op == LLVMSIToFP));
        }
    }
    if (t.bits <= 32)
        sel_set_lanes(s, tt, lanes, x);
}

static bool is_wide(LLVMTypeRef t)
{
    sel_shape y;

    if (LLVMGetTypeKind(t) != LLVMIntegerTypeKind &&
        LLVMGetTypeKind(t) != LLVMVectorTypeKind)
        return false;
    y = sel_type(t);
    return y.kind == LLVMIntegerTypeKind && y.bits > 32;
}

bool sel_wide_inst(sel *s, LLVMValueRef i)
{
    LLVMTypeRef t = LLVMTypeOf(i);
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    bool to = is_wide(t), from = LLVMGetNumOperands(i) > 0 &&
                                 is_wide(LLVMTypeOf(LLVMGetOperand(i, 0)));
    sel_value_parts *x;

    if (!to && !from)
        return false;
    /* Lanes and bit patterns are select_vector.c's. */
    if (op == LLVMExtractElement || op == LLVMInsertElement ||
        op == LLVMShuffleVector)
        return false;
    if (op == LLVMBitCast) {
        if (to && from) {
            sel_set(s, i, sel_value(s, LLVMGetOperand(i, 0)));
            return true;
        }
        return false;
    }
    if (sel_type(t).bits > 64)
        sel_fail(s, "an integer of more than 64 bits");
    x = sel_new(s, t);
    if (op == LLVMICmp) {
        uint32_t n = ir_lanes(t);
        isa_operand *lanes = arena_array(s->arena, isa_operand, n);
        bool is_signed;

        sel_int_cond(LLVMGetICmpPredicate(i), &is_signed);
        for (uint32_t k = 0; k < n; k++)
            lanes[k] = compare(s, LLVMGetICmpPredicate(i),
                               operand(s, i, 0, k, true, is_signed),
                               operand(s, i, 1, k, true, is_signed));
        sel_set_lanes(s, t, lanes, x);
    } else if (LLVMIsABinaryOperator(i)) {
        bool whole = sees_all_bits(op);
        bool shift = whole && op != LLVMUDiv && op != LLVMSDiv &&
                     op != LLVMURem && op != LLVMSRem;

        for (uint32_t k = 0; k < x->n_parts / 2; k++) {
            pair r = binary(s, op, operand(s, i, 0, k, whole, is_signed_op(op)),
                            operand(s, i, 1, k, whole || op == LLVMShl,
                                    !shift && is_signed_op(op)));

            x->parts[2 * k] = r.lo;
            x->parts[2 * k + 1] = r.hi;
        }
    } else if (op == LLVMSelect) {
        choose(s, i, sel_type(t), x);
    } else if (op == LLVMFreeze) {
        *x = sel_copy(s, sel_value(s, LLVMGetOperand(i, 0)));
    } else if (LLVMIsACastInst(i)) {
        cast(s, i, x);
    } else {
        sel_fail(s, "this instruction on 64 bits");
    }
    sel_set(s, i, x);
    return true;
}

/* --- constant expressions ------------------------------------------------- */

/* The words of a constant of any width. */
static pair constant_pair(sel *s, LLVMValueRef c)
{
    const sel_value_parts *x = sel_value(s, c);

    return (pair){sel_scalar(s, c), x->n_parts > 1 ? x->parts[1] : vp_imm(0)};
}

sel_value_parts *sel_constant_expr(sel *s, LLVMValueRef c)
{
    LLVMOpcode op = LLVMGetConstOpcode(c);
    LLVMValueRef first = LLVMGetOperand(c, 0);
    LLVMTypeRef t = LLVMTypeOf(c);
    sel_value_parts *x;
    pair r;

    if (op == LLVMGetElementPtr)
        return sel_index(s, c);
    if (op == LLVMAddrSpaceCast || op == LLVMBitCast || op == LLVMIntToPtr ||
        (op == LLVMPtrToInt && sel_type(t).bits == 32))
        return sel_value(s, first);
    r = constant_pair(s, first);
    if (op == LLVMAdd || op == LLVMSub || op == LLVMMul || op == LLVMXor)
        r = binary(s, op, r, constant_pair(s, LLVMGetOperand(c, 1)));
    else if (op != LLVMPtrToInt && op != LLVMTrunc)
        sel_fail(s, "a constant expression");
    x = sel_new(s, t);
    x->parts[0] = r.lo;
    if (is_wide(t))
        x->parts[1] = r.hi;
    else
        x->parts[0] = sel_extend(s, r.lo, sel_type(t).bits, false);
    return x;
}
