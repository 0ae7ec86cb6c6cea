/* From an instruction back to ids, counters, arguments and numbers. */
#include <llvm-c/Target.h>
#include <string.h>

#include "sim/compiler/middle/boxes_priv.h"

/* --- instructions -------------------------------------------------------- */

/* A built-in of one dimension, -1: another one. */
static int dimension(LLVMValueRef call, const char *name)
{
    ir_signature s;
    LLVMValueRef d;

    ir_demangle(ir_callee(call), &s);
    if (strlen(name) != s.name_len || strncmp(s.name, name, s.name_len) ||
        LLVMGetNumArgOperands(call) != 1)
        return -1;
    d = LLVMGetOperand(call, 0);
    return LLVMIsAConstantInt(d) && LLVMConstIntGetZExtValue(d) < 3
               ? (int)LLVMConstIntGetZExtValue(d)
               : -1;
}

static boxes_value local_id(const boxes_finder *f, int d)
{
    boxes_coordinate c = {.base = boxes_number(0)};

    if (f->ranges[d].count.value != 1 || f->ranges[d].count.text) {
        c.n_vars = 1;
        c.vars[0].range = (uint8_t)d;
        c.vars[0].by = boxes_number(1);
    }
    return boxes_of_coordinate(&c);
}

static boxes_value group_id(const boxes_finder *f, int d)
{
    boxes_expr e = {.text = arena_printf(f->a, "(int)get_group_id(%d)", d)};

    if (f->local[d].one_group)
        e = boxes_number(0);
    return boxes_of_expr(&e);
}

static boxes_value global_id(const boxes_finder *f, int d)
{
    boxes_value v = group_id(f, d), l = local_id(f, d);

    v = boxes_scale(f, &v, &f->ranges[d].count);
    return boxes_add(f, &v, &l);
}

static boxes_value follow_call(boxes_finder *f, LLVMValueRef call)
{
    int d;

    if ((d = dimension(call, "get_global_id")) >= 0)
        return global_id(f, d);
    if ((d = dimension(call, "get_local_id")) >= 0)
        return local_id(f, d);
    if ((d = dimension(call, "get_group_id")) >= 0)
        return group_id(f, d);
    if ((d = dimension(call, "get_local_size")) >= 0)
        return boxes_of_expr(&f->ranges[d].count);
    return boxes_unknown(
        arena_printf(f->a, "it comes from a call of %s", ir_callee(call)));
}

static boxes_value follow_gep(boxes_finder *f, LLVMValueRef gep)
{
    LLVMTargetDataRef td = LLVMGetModuleDataLayout(LLVMGetGlobalParent(f->fn));
    LLVMTypeRef t = LLVMGetGEPSourceElementType(gep);
    boxes_value p = boxes_follow(f, LLVMGetOperand(gep, 0)), i;
    uint32_t bytes = 0;

    if (p.why || p.pointer < 0)
        return p.why ? p : boxes_unknown("it is no argument's");
    for (uint32_t k = 0; k < f->job->n_tensors; k++)
        if ((int)f->job->tensors[k].pointer == p.pointer)
            bytes = f->job->tensors[k].element_bytes;
    if (LLVMGetNumOperands(gep) != 2 || LLVMABISizeOfType(td, t) != bytes)
        return boxes_unknown("it is taken for one of other elements");
    i = boxes_follow(f, LLVMGetOperand(gep, 1));
    return boxes_add(f, &p, &i);
}

static boxes_value follow_argument(const boxes_finder *f, LLVMValueRef v)
{
    uint32_t i = 0;

    while (LLVMGetParam(f->fn, i) != v)
        i++;
    for (uint32_t k = 0; k < f->job->n_tensors; k++) {
        const boxes_tensor *t = &f->job->tensors[k];

        if (t->pointer == i)
            return (boxes_value){.pointer = (int)i};
        if (t->offset == i)
            return boxes_of_symbol((int)i);
        for (int d = 0; d < 4; d++)
            if (t->pitches[d] == i)
                return boxes_of_symbol((int)i);
    }
    if (LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMIntegerTypeKind)
        return boxes_unknown("it comes from a floating-point value");
    return boxes_of_expr(&(const boxes_expr){.text = f->job->args[i].name,
                                             .fixed = true,
                                             .value = f->job->args[i].value});
}

static boxes_value follow_shift(boxes_finder *f, LLVMValueRef v)
{
    boxes_value x = boxes_follow(f, LLVMGetOperand(v, 0));
    LLVMValueRef by = LLVMGetOperand(v, 1);
    boxes_expr factor;

    if (!LLVMIsAConstantInt(by) || LLVMConstIntGetZExtValue(by) > 30)
        return boxes_unknown("it is shifted by what is no number");
    factor = boxes_number((int64_t)1 << LLVMConstIntGetZExtValue(by));
    return x.why ? x : boxes_scale(f, &x, &factor);
}

static boxes_value follow_binary(boxes_finder *f, LLVMValueRef v, LLVMOpcode op)
{
    boxes_value x = boxes_follow(f, LLVMGetOperand(v, 0));
    boxes_value y = boxes_follow(f, LLVMGetOperand(v, 1));

    switch (op) {
    case LLVMAdd:
        return boxes_add(f, &x, &y);
    case LLVMSub:
        y = boxes_negate(f, &y);
        return boxes_add(f, &x, &y);
    case LLVMMul:
        return boxes_multiply(f, &x, &y);
    default:
        return boxes_divide_values(f, op, &x, &y);
    }
}

static boxes_value follow_inst(boxes_finder *f, LLVMValueRef v)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(v);

    switch (op) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMUDiv:
    case LLVMURem:
    case LLVMSDiv:
    case LLVMSRem:
        return follow_binary(f, v, op);
    case LLVMShl:
        return follow_shift(f, v);
    case LLVMPHI:
        return boxes_follow_phi(f, v);
    case LLVMCall:
        return follow_call(f, v);
    case LLVMGetElementPtr:
        return follow_gep(f, v);
    case LLVMFreeze:
        return boxes_follow(f, LLVMGetOperand(v, 0));
    case LLVMLoad:
        return boxes_unknown("it comes from memory");
    case LLVMFPToSI:
    case LLVMFPToUI:
        return boxes_unknown("it comes from a floating-point value");
    case LLVMSelect:
        return boxes_unknown(
            "which of several values it is depends on a condition");
    default:
        return boxes_unknown("it is computed in a way that is not followed");
    }
}

boxes_value boxes_follow(boxes_finder *f, LLVMValueRef v)
{
    boxes_value *kept = ir_map_get(&f->known, v), r;

    if (kept)
        return *kept;
    if (LLVMIsAConstantInt(v)) {
        const boxes_expr e = boxes_number(LLVMConstIntGetSExtValue(v));

        return LLVMGetIntTypeWidth(LLVMTypeOf(v)) <= 32 && boxes_is_sound(&e)
                   ? boxes_of_expr(&e)
                   : boxes_unknown("it has more than 32 bits");
    }
    if (LLVMIsAArgument(v))
        return follow_argument(f, v);
    if (!LLVMIsAInstruction(v))
        return boxes_unknown("it is no argument's");
    if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMIntegerTypeKind &&
        LLVMGetIntTypeWidth(LLVMTypeOf(v)) != 32)
        return boxes_unknown("it is computed in other than 32 bits");
    if (f->depth == BOXES_DEPTH)
        return boxes_unknown("its expression is too long");
    f->depth++;
    r = follow_inst(f, v);
    f->depth--;
    kept = arena_new(f->a, boxes_value);
    *kept = r;
    ir_map_set(&f->known, v, kept);
    return r;
}
