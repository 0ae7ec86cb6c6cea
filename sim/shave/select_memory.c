/* Selection of addresses, loads, stores, private arrays, atomics. */
#include <string.h>

#include "sim/shave/select.h"

/* --- addresses ----------------------------------------------------------- */

static void step_constant(sel_value_parts *x, uint64_t bytes)
{
    x->addend = (int32_t)((uint32_t)x->addend + (uint32_t)bytes);
}

static uint32_t log2_of(uint32_t n)
{
    return (uint32_t)__builtin_ctz(n);
}

static void step_variable(sel *s, sel_value_parts *x, LLVMValueRef idx,
                          uint32_t size)
{
    sel_shape t = sel_type(LLVMTypeOf(idx));
    isa_operand i = sel_scalar(s, idx);

    i = sel_extend(s, i, t.bits > 32 ? 32 : t.bits, true);
    if (size & (size - 1))
        i = sel2(s, i, vp_imm(size), .op = ISA_OP_imul);
    else if (size > 1)
        i = sel2(s, i, vp_imm(log2_of(size)), .op = ISA_OP_ishl);
    if (x->parts[0].kind == ISA_IMM && !x->parts[0].number)
        x->parts[0] = i;
    else
        x->parts[0] = sel2(s, x->parts[0], i, .op = ISA_OP_iadd);
}

sel_value_parts *sel_index(sel *s, LLVMValueRef gep)
{
    LLVMTypeRef t = LLVMGetGEPSourceElementType(gep);
    sel_value_parts *base = sel_value(s, LLVMGetOperand(gep, 0)),
                    *x = arena_new(s->arena, sel_value_parts);

    *x = sel_copy(s, base);
    for (int k = 1; k < LLVMGetNumOperands(gep); k++) {
        LLVMValueRef idx = LLVMGetOperand(gep, (unsigned)k);
        uint32_t size;

        if (k > 1 && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
            unsigned f = (unsigned)LLVMConstIntGetZExtValue(idx);

            step_constant(x, LLVMOffsetOfElement(s->td, t, f));
            t = LLVMStructGetTypeAtIndex(t, f);
            continue;
        }
        if (k > 1)
            t = LLVMGetElementType(t);
        size = (uint32_t)LLVMABISizeOfType(s->td, t);
        if (LLVMIsAConstantInt(idx))
            step_constant(x, size * (uint64_t)LLVMConstIntGetSExtValue(idx));
        else
            step_variable(s, x, idx, size);
    }
    return x;
}

static void address(sel *s, LLVMValueRef p, isa_operand *base, int32_t *imm)
{
    sel_value_parts *x = sel_value(s, p);

    *base = x->parts[0];
    *imm = x->addend;
}

static isa_space space_of(LLVMValueRef p)
{
    unsigned as = LLVMGetPointerAddressSpace(LLVMTypeOf(p));

    return as == AS_GLOBAL || as == AS_CONSTANT ? ISA_GLOBAL : ISA_LOCAL;
}

/* --- accesses ------------------------------------------------------------ */

static uint32_t pieces(uint32_t n, uint32_t largest, uint8_t *out)
{
    uint32_t k = 0;

    for (uint32_t size = largest; n; size /= 2)
        for (; n >= size; n -= size)
            out[k++] = (uint8_t)size;
    return k;
}

/* What is in I registers moves a word at a time. */
uint32_t shave_pieces(LLVMTargetDataRef td, LLVMTypeRef t, uint8_t *out)
{
    uint32_t n = (uint32_t)LLVMStoreSizeOfType(td, t);

    return pieces(n, sel_is_vector(t) ? 16 : 4, out);
}

typedef struct {
    isa_operand base;
    int32_t imm;
    isa_space space;
    const alias_origin *origin;
} place;

static place place_of(sel *s, LLVMValueRef p)
{
    place at = {.space = space_of(p), .origin = alias_of(s->alias, p)};

    address(s, p, &at.base, &at.imm);
    return at;
}

static isa_operand load_scalar(sel *s, const place *at, uint32_t off,
                               uint32_t bytes)
{
    return sel1(s, at->base, .op = ISA_OP_ld, .type = sel_uint(8 * bytes),
                .sub = at->space, .imm = at->imm + (int32_t)off,
                .origin = at->origin, .at = off);
}

/* Up to 16 bytes at `off` as a V register. */
static isa_operand load_part(sel *s, const place *at, uint32_t off,
                             uint32_t bytes)
{
    uint8_t parts[8];
    uint32_t n = pieces(bytes, 16, parts), done = 0;
    isa_operand v = SEL_NO;

    for (uint32_t k = 0; k < n; k++) {
        uint32_t size = parts[k];

        if (size >= 8) {
            v = sel1(s, at->base,
                     .op = size == 16 ? ISA_OP_ldv128 : ISA_OP_ldv64,
                     .sub = at->space, .imm = at->imm + (int32_t)(off + done),
                     .origin = at->origin, .at = off + done);
        } else {
            isa_operand x = load_scalar(s, at, off + done, size);

            v = v.kind ? sel2(s, v, x, .op = ISA_OP_vins,
                              .type = sel_uint(8 * size), .sub = done / size)
                       : sel1(s, x, .op = ISA_OP_vsplat,
                              .type = sel_uint(8 * size));
        }
        done += size;
    }
    return v;
}

static void store_part(sel *s, const place *at, uint32_t off, uint32_t bytes,
                       isa_operand v)
{
    uint8_t parts[8];
    uint32_t n = pieces(bytes, 16, parts), done = 0;

    for (uint32_t k = 0; k < n; k++) {
        uint32_t size = parts[k];
        int32_t imm = at->imm + (int32_t)(off + done);

        if (size >= 8) {
            sel2(s, v, at->base,
                 .op = size == 16 ? ISA_OP_stv128 : ISA_OP_stv64,
                 .sub = at->space, .imm = imm, .origin = at->origin,
                 .at = off + done);
        } else {
            isa_operand x =
                sel1(s, v, .op = ISA_OP_vext, .type = sel_uint(8 * size),
                     .sub = done / size);

            sel2(s, x, at->base, .op = ISA_OP_st, .type = sel_uint(8 * size),
                 .sub = at->space, .imm = imm, .origin = at->origin,
                 .at = off + done);
        }
        done += size;
    }
}

static bool plain_type(sel *s, LLVMTypeRef t)
{
    sel_shape y;

    if (LLVMGetTypeKind(t) == LLVMStructTypeKind ||
        LLVMGetTypeKind(t) == LLVMArrayTypeKind) {
        sel_fail(s, "a structure in one access");
        return false;
    }
    y = sel_type(t);
    if (y.bits == 1 && y.lanes > 1) {
        sel_fail(s, "a vector of bits in memory");
        return false;
    }
    return true;
}

static void load(sel *s, LLVMValueRef i)
{
    LLVMTypeRef t = LLVMTypeOf(i);
    place at = place_of(s, LLVMGetOperand(i, 0));
    uint32_t bytes = (uint32_t)LLVMStoreSizeOfType(s->td, t);
    sel_value_parts *x = sel_new(s, t);

    sel_set(s, i, x);
    if (!plain_type(s, t))
        return;
    if (sel_is_vector(t)) {
        for (uint32_t k = 0; k < x->n_parts; k++)
            x->parts[k] = load_part(s, &at, 16 * k,
                                    bytes - 16 * k < 16 ? bytes - 16 * k : 16);
        return;
    }
    for (uint32_t k = 0; k < x->n_parts; k++)
        x->parts[k] =
            load_scalar(s, &at, 4 * k, bytes - 4 * k < 4 ? bytes - 4 * k : 4);
}

static void store(sel *s, LLVMValueRef i)
{
    LLVMValueRef v = LLVMGetOperand(i, 0);
    LLVMTypeRef t = LLVMTypeOf(v);
    uint32_t bytes = (uint32_t)LLVMStoreSizeOfType(s->td, t);
    sel_value_parts *x;
    place at;

    if (!plain_type(s, t))
        return;
    x = sel_value(s, v);
    at = place_of(s, LLVMGetOperand(i, 1));
    if (sel_is_vector(t)) {
        for (uint32_t k = 0; k < x->n_parts; k++)
            store_part(s, &at, 16 * k,
                       bytes - 16 * k < 16 ? bytes - 16 * k : 16, x->parts[k]);
        return;
    }
    for (uint32_t k = 0; k < x->n_parts; k++) {
        uint32_t size = bytes - 4 * k < 4 ? bytes - 4 * k : 4;
        isa_operand y = k || !x->addend ? x->parts[k] : sel_scalar(s, v);

        if (sel_type(t).bits == 1)
            y = sel_extend(s, y, 1, false);
        sel2(s, y, at.base, .op = ISA_OP_st, .type = sel_uint(8 * size),
             .sub = at.space, .imm = at.imm + (int32_t)(4 * k),
             .origin = at.origin, .at = 4 * k);
    }
}

static void private_array(sel *s, LLVMValueRef i)
{
    LLVMValueRef n = LLVMGetOperand(i, 0);
    uint64_t bytes = LLVMABISizeOfType(s->td, LLVMGetAllocatedType(i));
    uint64_t align = ir_place_align(i);
    uint64_t at = (s->program->private_bytes + align - 1) & ~(align - 1);
    sel_value_parts *x = sel_new(s, LLVMTypeOf(i));

    if (!LLVMIsAConstantInt(n)) {
        sel_fail(s, "an array of variable length");
        bytes = 0;
    } else {
        bytes *= LLVMConstIntGetZExtValue(n);
    }
    if (at > UINT32_MAX / 2 || bytes > UINT32_MAX / 2 - at) {
        sel_fail(s, "a private array of this size");
        bytes = at = 0;
    }
    x->parts[0] = (isa_operand){ISA_SP, 0};
    x->addend = (int32_t)at;
    s->program->private_bytes = (uint32_t)((at + bytes + 15) & ~UINT64_C(15));
    sel_set(s, i, x);
}

/* The core has no atomics of its own that anyone described: a routine that
 * takes the load, the operation and the store. */
static void atomic(sel *s, LLVMValueRef i)
{
    static const char *const names[] = {
        [LLVMAtomicRMWBinOpXchg] = "xchg", [LLVMAtomicRMWBinOpAdd] = "add",
        [LLVMAtomicRMWBinOpSub] = "sub",   [LLVMAtomicRMWBinOpAnd] = "and",
        [LLVMAtomicRMWBinOpOr] = "or",     [LLVMAtomicRMWBinOpXor] = "xor",
        [LLVMAtomicRMWBinOpMax] = "max",   [LLVMAtomicRMWBinOpMin] = "min",
        [LLVMAtomicRMWBinOpUMax] = "umax", [LLVMAtomicRMWBinOpUMin] = "umin"};
    LLVMValueRef p = LLVMGetOperand(i, 0);
    bool global = space_of(p) == ISA_GLOBAL;
    isa_operand args[3] = {sel_scalar(s, p),
                           sel_scalar(s, LLVMGetOperand(i, 1))};
    uint32_t cost = isa_ops[ISA_OP_ld].lat + 2u;
    sel_value_parts *x = sel_new(s, LLVMTypeOf(i));
    const char *name;

    if (LLVMIsAAtomicCmpXchgInst(i)) {
        args[2] = sel_scalar(s, LLVMGetOperand(i, 2));
        sel_call(s,
                 (sel_routine){global ? "atomic.cmpxchg.global"
                                      : "atomic.cmpxchg.local",
                               cost},
                 args, 3, x->parts, 2);
        sel_set(s, i, x);
        return;
    }
    name = LLVMGetAtomicRMWBinOp(i) < sizeof names / sizeof *names
               ? names[LLVMGetAtomicRMWBinOp(i)]
               : NULL;
    if (!name || sel_type(LLVMTypeOf(i)).bits != 32) {
        sel_fail(s, "an atomic operation of this kind");
        name = "add";
    }
    sel_call(s,
             (sel_routine){arena_printf(s->arena, "atomic.%s.%s", name,
                                        global ? "global" : "local"),
                           cost},
             args, 2, x->parts, 1);
    sel_set(s, i, x);
}

bool sel_memory_inst(sel *s, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad:
        load(s, i);
        return true;
    case LLVMStore:
        store(s, i);
        return true;
    case LLVMAlloca:
        private_array(s, i);
        return true;
    case LLVMGetElementPtr:
        if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMPointerTypeKind)
            sel_fail(s, "a vector of addresses");
        else
            sel_set(s, i, sel_index(s, i));
        return true;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        atomic(s, i);
        return true;
    default:
        return false;
    }
}
