/* Selection of scalar operations and control flow; values and constants. */
#include "sim/shave/select.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

void sel_fail(sel *s, const char *what)
{
    if (!s->st)
        s->st = err_set(s->err, VPU_ERR_UNSUPPORTED,
                        "line %u: %s has no SHAVE form yet", s->line, what);
}

/* --- types --------------------------------------------------------------- */

sel_shape sel_type(LLVMTypeRef t)
{
    LLVMTypeRef e = ir_element(t);

    return (sel_shape){LLVMGetTypeKind(e), ir_bits_of(e), ir_lanes(t)};
}

static bool is_wide(sel_shape t)
{
    return t.kind == LLVMIntegerTypeKind && t.bits > 32;
}

bool sel_is_vector(LLVMTypeRef t)
{
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind && !is_wide(sel_type(t));
}

/* Lanes of a value in one register. */
static uint32_t lanes_per_part(sel_shape t)
{
    return 8 * ISA_VECTOR_BYTES / (t.bits < 8 ? 16 : t.bits);
}

uint32_t sel_parts(sel *s, LLVMTypeRef t)
{
    sel_shape y;
    uint32_t n = 0, per;

    switch (LLVMGetTypeKind(t)) {
    case LLVMVoidTypeKind:
        return 0;
    case LLVMStructTypeKind:
        for (unsigned k = 0; k < LLVMCountStructElementTypes(t); k++)
            n += sel_parts(s, LLVMStructGetTypeAtIndex(t, k));
        return n;
    case LLVMArrayTypeKind:
        return (uint32_t)LLVMGetArrayLength2(t) *
               sel_parts(s, LLVMGetElementType(t));
    default:
        break;
    }
    y = sel_type(t);
    if (y.bits > 64)
        sel_fail(s, "an integer of more than 64 bits");
    if (is_wide(y))
        return 2 * y.lanes;
    if (!sel_is_vector(t))
        return 1;
    per = lanes_per_part(y);
    return (y.lanes + per - 1) / per;
}

isa_type sel_uint(uint32_t bits)
{
    return bits <= 8 ? ISA_U8 : bits <= 16 ? ISA_U16 : ISA_U32;
}

isa_type sel_isa_type(sel_shape t, bool is_signed)
{
    if (t.kind == LLVMHalfTypeKind)
        return ISA_F16;
    if (t.kind == LLVMFloatTypeKind)
        return ISA_F32;
    if (t.bits <= 8)
        return is_signed ? ISA_S8 : ISA_U8;
    if (t.bits <= 16)
        return is_signed ? ISA_S16 : ISA_U16;
    return is_signed ? ISA_S32 : ISA_U32;
}

/* --- emission ------------------------------------------------------------ */

/* x as the source class c of an operation wants it. */
static isa_operand fit(sel *s, char c, isa_operand x)
{
    if (c == 'i' && x.kind == ISA_IMM)
        return sel1(s, x, .op = ISA_OP_imov);
    return x;
}

isa_operand sel_emit(sel *s, sel_op o, isa_operand a, isa_operand b,
                     isa_operand c)
{
    isa_operand src[ISA_MAX_SRC] = {a, b, c};
    vp_op *x;

    for (unsigned k = 0; k < isa_n_src(o.op); k++)
        src[k] = fit(s, isa_src_class(o.op, k), src[k]);
    x = vp_add(s->program, s->cur, o.op);
    x->in.type = (uint8_t)o.type;
    x->in.from = (uint8_t)o.from;
    x->in.sub = (uint8_t)o.sub;
    x->in.imm = o.imm;
    x->in.cost = o.cost;
    x->in.line = s->line;
    x->in.col = s->col;
    x->origin = o.origin;
    x->at = o.at;
    x->ir = s->inst;
    memcpy(x->in.src, src, sizeof src);
    for (unsigned k = 0; k < isa_n_dst(o.op); k++)
        x->in.dst[k] =
            vp_reg(s->program, isa_dst_class(o.op, k) == 'v' ? ISA_V : ISA_I);
    return x->in.dst[0];
}

void sel_call(sel *s, sel_routine r, const isa_operand *args, uint32_t n,
              isa_operand *ret, uint32_t n_ret)
{
    for (uint32_t k = 0; k < n; k++)
        sel1(s, args[k], .op = ISA_OP_starg, .imm = (int32_t)k);
    sel0(s, .op = ISA_OP_call, .imm = (int32_t)vp_callee(s->program, r.name),
         .cost = r.cost ? r.cost : 1);
    for (uint32_t k = 0; k < n_ret; k++)
        ret[k] = sel0(s, .op = ISA_OP_ldret, .imm = (int32_t)k);
}

/* --- values -------------------------------------------------------------- */

sel_value_parts *sel_new(sel *s, LLVMTypeRef t)
{
    sel_value_parts *x = arena_new(s->arena, sel_value_parts);

    x->n_parts = sel_parts(s, t);
    x->parts = arena_array(s->arena, isa_operand, x->n_parts + 1);
    return x;
}

sel_value_parts sel_copy(sel *s, const sel_value_parts *x)
{
    sel_value_parts y = *x;

    y.parts = arena_array(s->arena, isa_operand, x->n_parts + 1);
    memcpy(y.parts, x->parts, x->n_parts * sizeof *y.parts);
    return y;
}

void sel_set(sel *s, LLVMValueRef v, sel_value_parts *x)
{
    ir_map_set(&s->values, v, x);
}

static uint32_t scalar_bits(sel *s, LLVMValueRef c)
{
    LLVMTypeRef t = LLVMTypeOf(c);
    LLVMBool lost;
    uint32_t bits = 0;

    if (LLVMIsAConstantInt(c))
        return (uint32_t)LLVMConstIntGetZExtValue(c);
    if (LLVMIsAConstantFP(c)) {
        double d = LLVMConstRealGetDouble(c, &lost);
        float f = (float)d;
        __extension__ _Float16 h = (_Float16)d;

        if (LLVMGetTypeKind(t) == LLVMHalfTypeKind)
            memcpy(&bits, &h, 2);
        else
            memcpy(&bits, &f, 4);
        return bits;
    }
    if (!LLVMIsUndef(c) && !LLVMIsNull(c))
        sel_fail(s, "a constant of this kind");
    return 0;
}

static LLVMValueRef element(LLVMValueRef c, unsigned k)
{
    LLVMValueRef e = LLVMGetAggregateElement(c, k);

    return e ? e : LLVMGetUndef(LLVMGetElementType(LLVMTypeOf(c)));
}

/* Is any of n elements from the first on an address, or computed of one? */
static bool has_address(LLVMValueRef c, uint32_t first, uint32_t n)
{
    bool found = false;

    for (uint32_t l = first; l < first + n; l++)
        found |= LLVMIsAConstantExpr(element(c, l)) ||
                 LLVMIsAGlobalVariable(element(c, l));
    return found;
}

static isa_operand vector_of_addresses(sel *s, LLVMValueRef c, uint32_t first,
                                       uint32_t n, isa_type type)
{
    isa_operand lanes[ISA_VECTOR_BYTES];

    for (uint32_t l = 0; l < n; l++)
        lanes[l] = sel_scalar(s, element(c, first + l));
    return sel_from_lanes(s, type, lanes, n);
}

/* A vector constant, made once in the head of the function. */
static void vector_constant(sel *s, LLVMValueRef c, sel_value_parts *x)
{
    sel_shape t = sel_type(LLVMTypeOf(c));
    uint32_t per = lanes_per_part(t), bytes = ISA_VECTOR_BYTES / per;
    vp_block *at = s->cur;

    s->cur = &s->head;
    if (t.bits == 1)
        x->mask = 16;
    for (uint32_t k = 0; k < x->n_parts; k++) {
        uint32_t n = t.lanes - k * per < per ? t.lanes - k * per : per;
        uint8_t v[ISA_VECTOR_BYTES] = {0};
        bool same = true;

        if (has_address(c, k * per, n)) {
            x->parts[k] =
                vector_of_addresses(s, c, k * per, n, sel_uint(8 * bytes));
            continue;
        }
        for (uint32_t l = 0; l < per && k * per + l < t.lanes; l++) {
            uint32_t bits = scalar_bits(s, element(c, k * per + l));

            if (t.bits == 1)
                bits = bits ? 0xffff : 0;
            memcpy(v + l * bytes, &bits, bytes);
        }
        for (uint32_t l = 1; l < per && k * per + l < t.lanes; l++)
            same &= !memcmp(v, v + l * bytes, bytes);
        if (same) {
            uint32_t bits = 0;

            memcpy(&bits, v, bytes);
            x->parts[k] = sel1(s, vp_imm(bits), .op = ISA_OP_vsplat,
                               .type = sel_uint(8 * bytes));
        } else {
            x->parts[k] = sel0(s, .op = ISA_OP_vcon,
                               .imm = (int32_t)vp_vector(s->program, v));
        }
    }
    s->cur = at;
}

static isa_operand group_word(sel *s, uint32_t word)
{
    return sel0(s, .op = ISA_OP_ldarg, .type = ISA_U32, .sub = ISA_GROUP,
                .imm = (int32_t)word * 4);
}

static sel_value_parts *global_variable(sel *s, LLVMValueRef g)
{
    bool local = LLVMGetPointerAddressSpace(LLVMTypeOf(g)) == AS_LOCAL;
    sel_value_parts *x = sel_new(s, LLVMTypeOf(g));

    for (uint32_t i = 0; i < s->layout->n_globals; i++)
        if (s->layout->globals[i].global == g) {
            vp_block *at = s->cur;

            s->cur = &s->head;
            x->parts[0] =
                group_word(s, local ? SHAVE_WORD_LOCAL : SHAVE_WORD_CONST);
            s->cur = at;
            x->addend = (int32_t)s->layout->globals[i].offset;
            ir_map_set(&s->constants, g, x);
            return x;
        }
    sel_fail(s, "a program-scope variable outside local and constant memory");
    return x;
}

static void constant_parts(sel *s, LLVMValueRef c, isa_operand *out)
{
    LLVMTypeRef t = LLVMTypeOf(c);
    sel_shape y;

    if (LLVMGetTypeKind(t) == LLVMStructTypeKind ||
        LLVMGetTypeKind(t) == LLVMArrayTypeKind ||
        (LLVMGetTypeKind(t) == LLVMVectorTypeKind && !sel_is_vector(t))) {
        unsigned n = LLVMGetTypeKind(t) == LLVMStructTypeKind
                         ? LLVMCountStructElementTypes(t)
                     : LLVMGetTypeKind(t) == LLVMArrayTypeKind
                         ? (unsigned)LLVMGetArrayLength2(t)
                         : LLVMGetVectorSize(t);

        for (unsigned k = 0; k < n; k++) {
            LLVMValueRef e = LLVMGetAggregateElement(c, k);
            sel_value_parts *x = e ? sel_value(s, e) : NULL;

            if (!x) {
                sel_fail(s, "a constant structure");
                return;
            }
            memcpy(out, x->parts, x->n_parts * sizeof *out);
            out += x->n_parts;
        }
        return;
    }
    y = sel_type(t);
    if (is_wide(y)) {
        uint64_t v = LLVMIsAConstantInt(c) ? LLVMConstIntGetZExtValue(c) : 0;

        out[0] = vp_imm((uint32_t)v);
        out[1] = vp_imm((uint32_t)(v >> 32));
    } else {
        uint32_t bits = scalar_bits(s, c);

        if (y.kind == LLVMIntegerTypeKind && y.bits < 32)
            bits &= (1u << y.bits) - 1;
        out[0] = vp_imm(bits);
    }
}

static sel_value_parts *constant(sel *s, LLVMValueRef c)
{
    sel_value_parts *x = ir_map_get(&s->constants, c);

    if (x)
        return x;
    if (LLVMIsAGlobalVariable(c))
        return global_variable(s, c);
    if (LLVMIsAConstantExpr(c))
        return sel_constant_expr(s, c);
    x = sel_new(s, LLVMTypeOf(c));
    if (sel_is_vector(LLVMTypeOf(c)))
        vector_constant(s, c, x);
    else
        constant_parts(s, c, x->parts);
    ir_map_set(&s->constants, c, x);
    return x;
}

sel_value_parts *sel_value(sel *s, LLVMValueRef v)
{
    sel_value_parts *x = ir_map_get(&s->values, v);

    if (x)
        return x;
    if (LLVMIsConstant(v))
        return constant(s, v);
    sel_fail(s, "a value used before it is made");
    return sel_new(s, LLVMTypeOf(v));
}

isa_operand sel_scalar(sel *s, LLVMValueRef v)
{
    sel_value_parts *x = sel_value(s, v);

    if (x->addend)
        return sel2(s, x->parts[0], vp_imm((uint32_t)x->addend),
                    .op = ISA_OP_iadd);
    return x->parts[0];
}

/* --- scalars ------------------------------------------------------------- */

isa_operand sel_extend(sel *s, isa_operand x, uint32_t bits, bool is_signed)
{
    if (x.kind == ISA_IMM) {
        uint32_t v = bits < 32 ? x.number & ((1u << bits) - 1) : x.number;

        if (is_signed && bits < 32 && v >> (bits - 1))
            v |= ~0u << bits;
        return vp_imm(v);
    }
    if (bits == 32)
        return x;
    if (bits == 1) /* truth is 0 or 1 in all 32 bits, always */
        return is_signed ? sel2(s, vp_imm(0), x, .op = ISA_OP_isub) : x;
    if (bits == 8 || bits == 16)
        return sel1(s, x, .op = ISA_OP_iext,
                    .type = bits == 8 ? (is_signed ? ISA_S8 : ISA_U8)
                                      : (is_signed ? ISA_S16 : ISA_U16));
    if (!is_signed)
        return sel2(s, x, vp_imm((1u << bits) - 1), .op = ISA_OP_iand);
    x = sel2(s, x, vp_imm(32 - bits), .op = ISA_OP_ishl);
    return sel2(s, x, vp_imm(32 - bits), .op = ISA_OP_ishr, .type = ISA_S32);
}

isa_cond sel_int_cond(LLVMIntPredicate p, bool *is_signed)
{
    *is_signed = p >= LLVMIntSGT;
    switch (p) {
    case LLVMIntEQ:
        return ISA_EQ;
    case LLVMIntNE:
        return ISA_NE;
    case LLVMIntUGT:
    case LLVMIntSGT:
        return ISA_GT;
    case LLVMIntUGE:
    case LLVMIntSGE:
        return ISA_GE;
    case LLVMIntULT:
    case LLVMIntSLT:
        return ISA_LT;
    default:
        return ISA_LE;
    }
}

isa_cond sel_float_cond(LLVMRealPredicate p, int *always)
{
    static const isa_cond conds[] = {
        [LLVMRealOEQ] = ISA_EQ,  [LLVMRealOGT] = ISA_GT,
        [LLVMRealOGE] = ISA_GE,  [LLVMRealOLT] = ISA_LT,
        [LLVMRealOLE] = ISA_LE,  [LLVMRealONE] = ISA_ONE,
        [LLVMRealORD] = ISA_ORD, [LLVMRealUNO] = ISA_UNO,
        [LLVMRealUEQ] = ISA_UEQ, [LLVMRealUGT] = ISA_UGT,
        [LLVMRealUGE] = ISA_UGE, [LLVMRealULT] = ISA_ULT,
        [LLVMRealULE] = ISA_ULE, [LLVMRealUNE] = ISA_NE};

    *always = p == LLVMRealPredicateFalse  ? 0
              : p == LLVMRealPredicateTrue ? 1
                                           : -1;
    return *always < 0 ? conds[p] : ISA_EQ;
}

isa_operand sel_minmax(sel *s, bool vector, bool max, isa_type t, isa_operand a,
                       isa_operand b)
{
    bool is_float = t == ISA_F16 || t == ISA_F32;
    isa_op op = vector     ? (max ? ISA_OP_vmax : ISA_OP_vmin)
                : is_float ? (max ? ISA_OP_fmax : ISA_OP_fmin)
                           : (max ? ISA_OP_imax : ISA_OP_imin);

    return sel2(s, a, b, .op = op, .type = t);
}

static isa_operand binary(sel *s, LLVMValueRef i, sel_shape t)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    LLVMValueRef va = LLVMGetOperand(i, 0), vb = LLVMGetOperand(i, 1);
    isa_operand a = sel_scalar(s, va), b = sel_scalar(s, vb), x;
    bool is_signed = op == LLVMSDiv || op == LLVMSRem || op == LLVMAShr;

    if (op == LLVMSDiv || op == LLVMSRem || op == LLVMUDiv || op == LLVMURem ||
        op == LLVMAShr || op == LLVMLShr)
        a = sel_extend(s, a, t.bits, is_signed);
    if (op == LLVMSDiv || op == LLVMSRem || op == LLVMUDiv || op == LLVMURem)
        b = sel_extend(s, b, t.bits, is_signed);
    /* The immediate stands second. */
    if (a.kind == ISA_IMM && b.kind != ISA_IMM &&
        (op == LLVMAdd || op == LLVMMul || op == LLVMAnd || op == LLVMOr ||
         op == LLVMXor))
        x = a, a = b, b = x;
    switch (op) {
    case LLVMAdd:
        return sel2(s, a, b, .op = ISA_OP_iadd);
    case LLVMSub:
        return sel2(s, a, b, .op = ISA_OP_isub);
    case LLVMMul:
        return sel2(s, a, b, .op = ISA_OP_imul);
    case LLVMAnd:
        return sel2(s, a, b, .op = ISA_OP_iand);
    case LLVMOr: /* without common bits a sum, which strength.c follows */
        return sel2(s, a, b,
                    .op = LLVMGetIsDisjoint(i) ? ISA_OP_iadd : ISA_OP_ior);
    case LLVMXor:
        return sel2(s, a, b, .op = ISA_OP_ixor);
    case LLVMShl:
        return sel2(s, a, b, .op = ISA_OP_ishl);
    case LLVMLShr:
        return sel2(s, a, b, .op = ISA_OP_ishr, .type = ISA_U32);
    case LLVMAShr:
        return sel2(s, a, b, .op = ISA_OP_ishr, .type = ISA_S32);
    case LLVMUDiv:
    case LLVMSDiv:
        return sel2(s, a, b, .op = ISA_OP_idiv,
                    .type = is_signed ? ISA_S32 : ISA_U32);
    case LLVMURem:
    case LLVMSRem:
        return sel2(s, a, b, .op = ISA_OP_irem,
                    .type = is_signed ? ISA_S32 : ISA_U32);
    case LLVMFAdd:
        return sel2(s, a, b, .op = ISA_OP_fadd, .type = sel_isa_type(t, true));
    case LLVMFSub:
        return sel2(s, a, b, .op = ISA_OP_fsub, .type = sel_isa_type(t, true));
    case LLVMFMul:
        return sel2(s, a, b, .op = ISA_OP_fmul, .type = sel_isa_type(t, true));
    case LLVMFDiv:
        return sel2(s, a, b, .op = ISA_OP_fdiv, .type = sel_isa_type(t, true));
    default: { /* frem */
        isa_operand args[2] = {a, b};

        sel_call(s, (sel_routine){t.bits == 16 ? "frem.f16" : "frem.f32", 40},
                 args, 2, &x, 1);
        return x;
    }
    }
}

static isa_operand compare(sel *s, LLVMValueRef i)
{
    LLVMValueRef va = LLVMGetOperand(i, 0), vb = LLVMGetOperand(i, 1);
    sel_shape t = sel_type(LLVMTypeOf(va));
    isa_operand a = sel_scalar(s, va), b = sel_scalar(s, vb);
    bool is_signed;
    int always;
    isa_cond c;

    if (LLVMIsAFCmpInst(i)) {
        c = sel_float_cond(LLVMGetFCmpPredicate(i), &always);
        if (always >= 0)
            return vp_imm((uint32_t)always);
        return sel2(s, a, b, .op = ISA_OP_fcmp, .type = sel_isa_type(t, true),
                    .sub = c);
    }
    c = sel_int_cond(LLVMGetICmpPredicate(i), &is_signed);
    a = sel_extend(s, a, t.bits, is_signed);
    b = sel_extend(s, b, t.bits, is_signed);
    return sel2(s, a, b, .op = ISA_OP_icmp,
                .type = is_signed ? ISA_S32 : ISA_U32, .sub = c);
}

static isa_operand cast(sel *s, LLVMValueRef i)
{
    LLVMValueRef v = LLVMGetOperand(i, 0);
    sel_shape from = sel_type(LLVMTypeOf(v)), to = sel_type(LLVMTypeOf(i));
    isa_operand x = sel_scalar(s, v);
    LLVMOpcode op = LLVMGetInstructionOpcode(i);

    switch (op) {
    case LLVMZExt:
        return sel_extend(s, x, from.bits, false);
    case LLVMSExt:
        return sel_extend(s, x, from.bits, true);
    case LLVMFPTrunc:
    case LLVMFPExt:
        return sel1(s, x, .op = ISA_OP_cvt, .type = sel_isa_type(to, true),
                    .from = sel_isa_type(from, true));
    case LLVMFPToSI:
    case LLVMFPToUI:
        return sel1(s, x, .op = ISA_OP_cvt,
                    .type = to.bits == 1 ? ISA_S32
                                         : sel_isa_type(to, op == LLVMFPToSI),
                    .from = sel_isa_type(from, true));
    case LLVMSIToFP:
    case LLVMUIToFP:
        x = sel_extend(s, x, from.bits, op == LLVMSIToFP);
        return sel1(s, x, .op = ISA_OP_cvt, .type = sel_isa_type(to, true),
                    .from = op == LLVMSIToFP ? ISA_S32 : ISA_U32);
    default: /* bits stay as they are, or the upper ones are dropped */
        return to.bits == 1 && from.bits > 1
                   ? sel2(s, x, vp_imm(1), .op = ISA_OP_iand)
                   : x;
    }
}

static void scalar_inst(sel *s, LLVMValueRef i)
{
    sel_value_parts *x = sel_new(s, LLVMTypeOf(i));
    sel_shape t = sel_type(LLVMTypeOf(i));
    LLVMOpcode op = LLVMGetInstructionOpcode(i);

    if (LLVMIsABinaryOperator(i)) {
        x->parts[0] = binary(s, i, t);
        if (t.bits == 1 && (op == LLVMAdd || op == LLVMSub || op == LLVMShl))
            x->parts[0] = sel2(s, x->parts[0], vp_imm(1), .op = ISA_OP_iand);
    } else if (op == LLVMFNeg) {
        x->parts[0] =
            sel2(s, sel_scalar(s, LLVMGetOperand(i, 0)),
                 vp_imm(t.bits == 16 ? 0x8000 : 0x80000000), .op = ISA_OP_ixor);
    } else if (op == LLVMICmp || op == LLVMFCmp) {
        x->parts[0] = compare(s, i);
    } else if (op == LLVMSelect) {
        x->parts[0] =
            sel3(s, sel_scalar(s, LLVMGetOperand(i, 0)),
                 sel_scalar(s, LLVMGetOperand(i, 1)),
                 sel_scalar(s, LLVMGetOperand(i, 2)), .op = ISA_OP_isel);
    } else if (op == LLVMPtrToInt || op == LLVMIntToPtr ||
               op == LLVMAddrSpaceCast || op == LLVMFreeze ||
               op == LLVMBitCast) {
        *x = sel_copy(s, sel_value(s, LLVMGetOperand(i, 0)));
    } else if (LLVMIsACastInst(i)) {
        x->parts[0] = cast(s, i);
    } else {
        sel_fail(s, "this instruction");
    }
    sel_set(s, i, x);
}

/* --- structures ---------------------------------------------------------- */

static uint32_t member_start(sel *s, LLVMTypeRef t, const unsigned *idx,
                             unsigned n, uint32_t *count)
{
    uint32_t at = 0;

    for (unsigned k = 0; k < n; k++) {
        if (LLVMGetTypeKind(t) == LLVMStructTypeKind) {
            for (unsigned m = 0; m < idx[k]; m++)
                at += sel_parts(s, LLVMStructGetTypeAtIndex(t, m));
            t = LLVMStructGetTypeAtIndex(t, idx[k]);
        } else {
            t = LLVMGetElementType(t);
            at += idx[k] * sel_parts(s, t);
        }
    }
    *count = sel_parts(s, t);
    return at;
}

static void member_inst(sel *s, LLVMValueRef i)
{
    LLVMValueRef agg = LLVMGetOperand(i, 0);
    uint32_t n, at = member_start(s, LLVMTypeOf(agg), LLVMGetIndices(i),
                                  LLVMGetNumIndices(i), &n);
    sel_value_parts *x = sel_new(s, LLVMTypeOf(i)), *from = sel_value(s, agg),
                    *put;

    if (LLVMGetInstructionOpcode(i) == LLVMExtractValue) {
        memcpy(x->parts, from->parts + at, n * sizeof *x->parts);
    } else {
        put = sel_value(s, LLVMGetOperand(i, 1));
        memcpy(x->parts, from->parts, x->n_parts * sizeof *x->parts);
        memcpy(x->parts + at, put->parts, n * sizeof *x->parts);
    }
    sel_set(s, i, x);
}

/* --- control flow -------------------------------------------------------- */

static vp_block *add_block(sel *s, uint32_t ir)
{
    vp_block *b = arena_append(s->program->arena, s->program->blocks,
                               s->program->n_blocks, s->program->blocks_cap);

    memset(b, 0, sizeof *b);
    b->ir = ir;
    return b;
}

static void jump(sel *s, isa_op op, isa_operand cond, uint32_t sense,
                 LLVMBasicBlockRef to)
{
    sel1(s, cond, .op = op, .sub = sense,
         .imm = (int32_t)ir_cfg_number(&s->cfg, to));
}

/* A block of its own that only jumps: the way out when control cannot fall
 * through. */
static void jump_block(sel *s, uint32_t ir, uint32_t edge, LLVMBasicBlockRef to)
{
    s->cur = add_block(s, ir);
    s->cur->edge = edge + 1;
    jump(s, ISA_OP_bra, SEL_NO, 0, to);
}

static void two_ways(sel *s, LLVMValueRef t, uint32_t n)
{
    LLVMBasicBlockRef yes = LLVMGetSuccessor(t, 0), no = LLVMGetSuccessor(t, 1);
    LLVMBasicBlockRef next = LLVMGetNextBasicBlock(s->cfg.blocks[n]);
    isa_operand c = sel_scalar(s, LLVMGetOperand(t, 0));

    if (yes == no) {
        if (yes != next)
            jump(s, ISA_OP_bra, SEL_NO, 0, yes);
    } else if (yes == next) {
        c = sel_extend(s, c, 1, false);
        jump(s, ISA_OP_brc, c, 0, no);
    } else {
        c = sel_extend(s, c, 1, false);
        jump(s, ISA_OP_brc, c, 1, yes);
        if (no != next)
            jump_block(s, n, 1, no);
    }
}

static void many_ways(sel *s, LLVMValueRef t, uint32_t n)
{
    LLVMBasicBlockRef other = LLVMGetSwitchDefaultDest(t);
    LLVMValueRef v = LLVMGetOperand(t, 0);
    sel_shape y = sel_type(LLVMTypeOf(v));
    isa_operand x = sel_extend(s, sel_scalar(s, v), y.bits, false), c;

    if (y.bits > 32)
        sel_fail(s, "a switch over 64 bits");
    for (unsigned k = 1; k < LLVMGetNumSuccessors(t); k++) {
        uint64_t to = LLVMConstIntGetZExtValue(LLVMGetOperand(t, 2 * k));

        c = sel2(s, x, vp_imm((uint32_t)to), .op = ISA_OP_icmp, .type = ISA_U32,
                 .sub = ISA_EQ);
        jump(s, ISA_OP_brc, c, 1, LLVMGetSuccessor(t, k));
        s->cur = add_block(s, n);
        s->cur->edge = UINT32_MAX; /* what it costs depends on the case */
    }
    if (other != LLVMGetNextBasicBlock(s->cfg.blocks[n]))
        jump(s, ISA_OP_bra, SEL_NO, 0, other);
}

/* Control that comes here all the same must not run on into whatever is next.
 */
static void unreachable(sel *s, LLVMValueRef t)
{
    LLVMValueRef before = LLVMGetPreviousInstruction(t);
    isa_operand line = vp_imm(ir_line_near(t));

    if (!before || !call_ends(ir_call_id(before)))
        sel_call(s, (sel_routine){"unreachable", 0}, &line, 1, NULL, 0);
}

static void terminator(sel *s, LLVMValueRef t, uint32_t n)
{
    LLVMBasicBlockRef next = LLVMGetNextBasicBlock(s->cfg.blocks[n]);

    switch (LLVMGetInstructionOpcode(t)) {
    case LLVMRet:
        sel0(s, .op = ISA_OP_ret);
        return;
    case LLVMUnreachable:
        unreachable(s, t);
        return;
    case LLVMSwitch:
        many_ways(s, t, n);
        return;
    case LLVMBr:
        s->cur->may_pipeline =
            ir_metadata(t, "vpu.items") || ir_unroll_disabled(t);
        if (LLVMGetNumSuccessors(t) == 2)
            two_ways(s, t, n);
        else if (LLVMGetSuccessor(t, 0) != next)
            jump(s, ISA_OP_bra, SEL_NO, 0, LLVMGetSuccessor(t, 0));
        return;
    default:
        sel_fail(s, "a branch of this kind");
    }
}

/* --- the function -------------------------------------------------------- */

static void instruction(sel *s, LLVMValueRef i)
{
    LLVMTypeRef t = LLVMTypeOf(i);
    LLVMOpcode op = LLVMGetInstructionOpcode(i);

    s->inst = i;
    s->line = LLVMGetDebugLocLine(i);
    s->col = LLVMGetDebugLocColumn(i);
    if (op == LLVMPHI || op == LLVMFence)
        return;
    if (op == LLVMCall) {
        sel_call_inst(s, i);
        return;
    }
    if (op == LLVMExtractValue || op == LLVMInsertValue) {
        member_inst(s, i);
        return;
    }
    if (sel_memory_inst(s, i) || sel_wide_inst(s, i) || sel_vector_inst(s, i))
        return;
    if (LLVMGetTypeKind(t) == LLVMStructTypeKind ||
        LLVMGetTypeKind(t) == LLVMArrayTypeKind)
        sel_fail(s, "an operation on structures");
    else
        scalar_inst(s, i);
}

static void make_parameter(sel *s, unsigned k, unsigned n_args)
{
    LLVMValueRef v = LLVMGetParam(s->fn, k);
    LLVMTypeRef t = LLVMTypeOf(v);
    sel_value_parts *x = sel_new(s, t);
    sel_shape y = sel_type(t);

    if (k >= n_args) {
        x->parts[0] =
            group_word(s, k < n_args + SIM_N_IDS ? SHAVE_WORD_IDS + k - n_args
                                                 : SHAVE_WORD_KEPT);
    } else if (sel_is_vector(t)) {
        uint32_t bytes = y.bits / 8, per = lanes_per_part(y);
        isa_operand lanes[16];

        for (uint32_t p = 0; p < x->n_parts; p++) {
            uint32_t l = 0;

            for (; l < per && p * per + l < y.lanes; l++)
                lanes[l] = sel0(s, .op = ISA_OP_ldarg, .type = sel_uint(y.bits),
                                .sub = ISA_ARGS,
                                .imm = (int32_t)(s->layout->arg_offsets[k] +
                                                 (p * per + l) * bytes));
            x->parts[p] = sel_from_lanes(s, sel_uint(y.bits), lanes, l);
        }
    } else {
        for (uint32_t p = 0; p < x->n_parts; p++)
            x->parts[p] =
                sel0(s, .op = ISA_OP_ldarg, .type = sel_uint(y.bits),
                     .sub = ISA_ARGS,
                     .imm = (int32_t)(s->layout->arg_offsets[k] + 4 * p));
    }
    sel_set(s, v, x);
}

static void make_phis(sel *s, uint32_t n)
{
    ir_each_inst(i, s->cfg.blocks[n]) {
        sel_value_parts *x;
        bool vector = sel_is_vector(LLVMTypeOf(i));

        if (!LLVMIsAPHINode(i))
            return;
        x = sel_new(s, LLVMTypeOf(i));
        if (vector && sel_type(LLVMTypeOf(i)).bits == 1)
            x->mask = 16;
        for (uint32_t k = 0; k < x->n_parts; k++)
            x->parts[k] = vp_reg(s->program, vector ? ISA_V : ISA_I);
        sel_set(s, i, x);
    }
}

/* The machine block an edge of the basic block leaves from. */
static uint32_t edge_block(sel *s, uint32_t from, uint32_t to, uint32_t after)
{
    for (uint32_t b = after; b <= s->last[from]; b++) {
        vp_block *x = &s->program->blocks[b];
        vp_op *br = vp_branch(x);

        if (br && isa_ops[br->in.op].flags & ISA_F_TARGET &&
            (uint32_t)br->in.imm == to)
            return b;
    }
    return s->last[from];
}

/* An incoming value is brought into form at the end of its block. */
static void fill_phi(sel *s, LLVMValueRef i, uint32_t n)
{
    sel_value_parts *x = sel_value(s, i);
    unsigned n_in = LLVMCountIncoming(i);
    LLVMTypeRef t = LLVMTypeOf(i);
    size_t first = s->program->blocks[s->first[n]].n_phis;

    for (uint32_t k = 0; k < x->n_parts; k++) {
        vp_block *b = &s->program->blocks[s->first[n]];
        vp_phi *f =
            arena_append(s->program->arena, b->phis, b->n_phis, b->phis_cap);

        *f = (vp_phi){.dst = x->parts[k]};
        f->src = arena_array(s->arena, isa_operand, n_in);
        f->from = arena_array(s->arena, uint32_t, n_in);
    }
    for (unsigned k = 0; k < n_in; k++) {
        uint32_t from = ir_cfg_number(&s->cfg, LLVMGetIncomingBlock(i, k)), at;
        LLVMValueRef v = LLVMGetIncomingValue(i, k);
        vp_op branch;
        bool has_branch;
        sel_value_parts *y;

        if (!ir_bit(s->reached, from))
            continue;
        at = edge_block(s, from, n, s->first[from]);
        s->cur = &s->program->blocks[at];
        has_branch = vp_branch(s->cur) != NULL;
        if (has_branch)
            branch = s->cur->ops[--s->cur->n_ops];
        y = sel_value(s, v);
        if (x->mask && y->mask != x->mask)
            y = sel_mask(s, y, ir_lanes(t), x->mask);
        if (y->addend) {
            sel_value_parts *z = sel_new(s, t);

            z->parts[0] = sel_scalar(s, v);
            y = z;
        }
        if (has_branch)
            *arena_append(s->program->arena, s->cur->ops, s->cur->n_ops,
                          s->cur->ops_cap) = branch;
        for (uint32_t p = 0; p < x->n_parts; p++) {
            vp_phi *f = &s->program->blocks[s->first[n]].phis[first + p];

            f->src[f->n_from] = y->parts[p];
            f->from[f->n_from++] = at;
        }
    }
}

/* Block numbers of branches are those of basic blocks until here. */
static void link_blocks(sel *s)
{
    for (size_t b = 0; b < s->program->n_blocks; b++) {
        vp_block *x = &s->program->blocks[b];
        vp_op *br = vp_branch(x);

        x->n_succs = 0;
        if (br && isa_ops[br->in.op].flags & ISA_F_TARGET) {
            br->in.imm = (int32_t)s->first[br->in.imm];
            x->succs[x->n_succs++] = (uint32_t)br->in.imm;
        }
        if (LLVMIsAUnreachableInst(
                LLVMGetBasicBlockTerminator(s->cfg.blocks[x->ir])))
            continue;
        if ((!br || br->in.op == ISA_OP_brc) && b + 1 < s->program->n_blocks)
            x->succs[x->n_succs++] = (uint32_t)b + 1;
    }
}

static void select_blocks(sel *s, const uint32_t *order, uint32_t n)
{
    /* Values are made before their uses; blocks stand in their own order. */
    struct blocks {
        vp_block *b;
        size_t n;
    } *done = arena_array(s->arena, struct blocks, s->cfg.n_blocks);

    for (uint32_t k = n; k-- > 0;)
        make_phis(s, order[k]);
    for (uint32_t k = n; k-- > 0 && !s->st;) {
        uint32_t b = order[k];

        s->program->n_blocks = s->program->blocks_cap = 0;
        s->cur = add_block(s, b);
        ir_each_inst(i, s->cfg.blocks[b]) {
            if (LLVMIsATerminatorInst(i)) {
                s->inst = i;
                s->line = LLVMGetDebugLocLine(i);
                s->col = LLVMGetDebugLocColumn(i);
                terminator(s, i, b);
            } else {
                instruction(s, i);
            }
        }
        done[b].b = s->program->blocks;
        done[b].n = s->program->n_blocks;
    }
    s->program->n_blocks = s->program->blocks_cap = 0;
    for (uint32_t b = 0; b < s->cfg.n_blocks; b++) {
        s->first[b] = (uint32_t)s->program->n_blocks;
        for (size_t k = 0; k < done[b].n; k++)
            *arena_append(s->program->arena, s->program->blocks,
                          s->program->n_blocks, s->program->blocks_cap) =
                done[b].b[k];
        if (!done[b].n) /* unreachable: stays empty, so that numbers hold */
            add_block(s, b);
        s->last[b] = (uint32_t)s->program->n_blocks - 1;
    }
}

static void put_head(sel *s)
{
    vp_block *b = &s->program->blocks[0];
    vp_op *ops = arena_array(s->arena, vp_op, s->head.n_ops + b->n_ops + 1);

    if (s->head.n_ops)
        memcpy(ops, s->head.ops, s->head.n_ops * sizeof *ops);
    if (b->n_ops)
        memcpy(ops + s->head.n_ops, b->ops, b->n_ops * sizeof *ops);
    b->ops = ops;
    b->n_ops += s->head.n_ops;
    b->ops_cap = b->n_ops;
}

vpu_status select_function(LLVMValueRef fn, const shave_layout *layout,
                           arena *a, vprog *p, vpu_error *err)
{
    sel s = {.arena = a, .program = p, .fn = fn, .layout = layout, .err = err};
    unsigned n_params = LLVMCountParams(fn);
    uint32_t *order, n;

    *p = (vprog){.arena = a};
    s.td = LLVMGetModuleDataLayout(LLVMGetGlobalParent(fn));
    ir_cfg_build(&s.cfg, fn, a);
    ir_map_init(&s.values, a);
    ir_map_init(&s.constants, a);
    s.alias = alias_new(a);
    s.first = arena_array(a, uint32_t, s.cfg.n_blocks);
    s.last = arena_array(a, uint32_t, s.cfg.n_blocks);
    order = arena_array(a, uint32_t, s.cfg.n_blocks);
    s.reached = ir_bits(a, s.cfg.n_blocks);
    n = ir_post_order(&s.cfg, order, s.reached);
    s.cur = &s.head;
    for (unsigned k = 0; k < n_params; k++)
        make_parameter(&s, k, n_params - SIM_N_HIDDEN);
    select_blocks(&s, order, n);
    for (uint32_t b = 0; b < s.cfg.n_blocks && !s.st; b++)
        ir_each_inst(i, s.cfg.blocks[b]) {
            if (!LLVMIsAPHINode(i))
                break;
            if (ir_bit(s.reached, b))
                fill_phi(&s, i, b);
        }
    if (s.st)
        return s.st;
    put_head(&s);
    link_blocks(&s);
    vp_drop_dead(p);
    return VPU_OK;
}
