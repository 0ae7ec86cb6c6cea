/* Sums of products of IR values: arithmetic on them, taking a value apart into
 * one, and its value some iterations later. A value that is too large to take
 * apart is a factor of its own. */
#include "sim/shave/verify_form.h"

#include <string.h>

/* Longer chains of operations are not taken apart. */
enum { MAX_DEPTH = 64 };

void forms_init(forms *f, LLVMTargetDataRef td, arena *a)
{
    *f = (forms){.arena = a, .td = td};
    ir_map_init(&f->known, a);
}

/* --- arithmetic; false: too many terms or factors ------------------------ */

static bool same_factors(const forms_term *a, const forms_term *b)
{
    return !memcmp(a->factors, b->factors, sizeof a->factors);
}

static bool add_term(form *x, const forms_term *t)
{
    for (uint32_t k = 0; k < x->n; k++)
        if (same_factors(&x->terms[k], t)) {
            x->terms[k].times += t->times;
            if (!x->terms[k].times)
                x->terms[k] = x->terms[--x->n];
            return true;
        }
    if (!t->times)
        return true;
    if (x->n == FORM_MAX_TERMS)
        return false;
    x->terms[x->n++] = *t;
    return true;
}

static bool add(form *x, const form *y, uint32_t times)
{
    for (uint32_t k = 0; k < y->n; k++) {
        forms_term t = y->terms[k];

        t.times *= times;
        if (!add_term(x, &t))
            return false;
    }
    return true;
}

static bool term_product(const forms_term *a, const forms_term *b,
                         forms_term *out)
{
    unsigned n = 0;

    *out = *a;
    out->times *= b->times;
    while (n < FORM_MAX_FACTORS && out->factors[n])
        n++;
    for (unsigned k = 0; k < FORM_MAX_FACTORS && b->factors[k]; k++) {
        unsigned at = n++;

        if (n > FORM_MAX_FACTORS)
            return false;
        for (; at && (uintptr_t)out->factors[at - 1] > (uintptr_t)b->factors[k];
             at--)
            out->factors[at] = out->factors[at - 1];
        out->factors[at] = b->factors[k];
    }
    return true;
}

static bool product(const form *a, const form *b, form *out)
{
    *out = (form){.n = 0};
    for (uint32_t i = 0; i < a->n; i++)
        for (uint32_t k = 0; k < b->n; k++) {
            forms_term t;

            if (!term_product(&a->terms[i], &b->terms[k], &t) ||
                !add_term(out, &t))
                return false;
        }
    return true;
}

static form constant(uint32_t c)
{
    form x = {.n = c != 0};

    x.terms[0] = (forms_term){.times = c};
    return x;
}

static form factor(LLVMValueRef v)
{
    return (form){.n = 1, .terms = {{.factors = {v}, .times = 1}}};
}

static bool is_constant(const form *x, uint32_t *c)
{
    *c = x->n ? x->terms[0].times : 0;
    return !x->n || (x->n == 1 && !x->terms[0].factors[0]);
}

/* --- values -------------------------------------------------------------- */

static const form *of(forms *f, LLVMValueRef v, int depth);

static bool add_index(forms *f, form *x, LLVMValueRef idx, uint64_t bytes,
                      int depth)
{
    return add(x, of(f, idx, depth), (uint32_t)bytes);
}

static bool address(forms *f, LLVMValueRef gep, form *out, int depth)
{
    LLVMTypeRef t = LLVMGetGEPSourceElementType(gep);
    int n = LLVMGetNumOperands(gep);

    *out = *of(f, LLVMGetOperand(gep, 0), depth);
    for (int k = 1; k < n; k++) {
        LLVMValueRef idx = LLVMGetOperand(gep, (unsigned)k);

        if (k > 1 && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
            unsigned m = (unsigned)LLVMConstIntGetZExtValue(idx);
            form at = constant((uint32_t)LLVMOffsetOfElement(f->td, t, m));

            if (!add(out, &at, 1))
                return false;
            t = LLVMStructGetTypeAtIndex(t, m);
            continue;
        }
        if (k > 1)
            t = LLVMGetElementType(t);
        if (!add_index(f, out, idx, LLVMABISizeOfType(f->td, t), depth))
            return false;
    }
    return true;
}

static bool is_word(LLVMValueRef v)
{
    LLVMTypeRef t = LLVMTypeOf(v);

    return LLVMGetTypeKind(t) == LLVMPointerTypeKind ||
           (LLVMGetTypeKind(t) == LLVMIntegerTypeKind &&
            LLVMGetIntTypeWidth(t) >= 32);
}

static LLVMOpcode opcode_of(LLVMValueRef v)
{
    return LLVMIsAInstruction(v)    ? LLVMGetInstructionOpcode(v)
           : LLVMIsAConstantExpr(v) ? LLVMGetConstOpcode(v)
                                    : (LLVMOpcode)0;
}

static bool take_apart(forms *f, LLVMValueRef v, form *out, int depth)
{
    LLVMOpcode op = opcode_of(v);
    LLVMValueRef a = op ? LLVMGetOperand(v, 0) : NULL;
    uint32_t by;

    switch (op) {
    case LLVMGetElementPtr:
        return address(f, v, out, depth);
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMFreeze:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
        if (!is_word(a))
            return false;
        *out = *of(f, a, depth);
        return true;
    case LLVMOr:
        if (!LLVMIsAInstruction(v) || !LLVMGetIsDisjoint(v))
            return false;
        /* fallthrough */
    case LLVMAdd:
    case LLVMSub:
        *out = *of(f, a, depth);
        return add(out, of(f, LLVMGetOperand(v, 1), depth),
                   op == LLVMSub ? UINT32_MAX : 1);
    case LLVMMul:
        return product(of(f, a, depth), of(f, LLVMGetOperand(v, 1), depth),
                       out);
    case LLVMShl:
        *out = (form){.n = 0};
        return is_constant(of(f, LLVMGetOperand(v, 1), depth), &by) &&
               by < 32 && add(out, of(f, a, depth), UINT32_C(1) << by);
    default:
        return false;
    }
}

static const form *of(forms *f, LLVMValueRef v, int depth)
{
    form *x = ir_map_get(&f->known, v);

    if (x)
        return x;
    x = arena_new(f->arena, form);
    if (LLVMIsAConstantInt(v))
        *x = constant((uint32_t)LLVMConstIntGetSExtValue(v));
    else if (LLVMIsAConstantPointerNull(v))
        *x = constant(0);
    else if (depth == MAX_DEPTH || !is_word(v) ||
             !take_apart(f, v, x, depth + 1))
        *x = factor(v);
    ir_map_set(&f->known, v, x);
    return x;
}

const form *forms_of(forms *f, LLVMValueRef v)
{
    return of(f, v, 0);
}

/* --- iterations ---------------------------------------------------------- */

static bool changes(LLVMValueRef v, LLVMBasicBlockRef loop)
{
    return LLVMIsAInstruction(v) && LLVMGetInstructionParent(v) == loop;
}

static bool any_changes(const form *x, LLVMBasicBlockRef loop)
{
    for (uint32_t k = 0; k < x->n; k++)
        for (unsigned i = 0; i < FORM_MAX_FACTORS && x->terms[k].factors[i];
             i++)
            if (changes(x->terms[k].factors[i], loop))
                return true;
    return false;
}

/* v of the loop after `distance` iterations: v + distance * step. */
static bool factor_later(forms *f, LLVMValueRef v, LLVMBasicBlockRef loop,
                         uint32_t distance, form *out)
{
    form now = factor(v), by;
    LLVMValueRef next = NULL;

    *out = now;
    if (!distance || !changes(v, loop))
        return true;
    if (LLVMIsAPHINode(v))
        next = ir_incoming_from(v, loop);
    if (!next)
        return false;
    by = *forms_of(f, next);
    return add(&by, &now, UINT32_MAX) && !any_changes(&by, loop) &&
           add(out, &by, distance);
}

bool forms_later(forms *f, const form *x, LLVMBasicBlockRef loop,
                 uint32_t distance, form *out)
{
    *out = (form){.n = 0};
    for (uint32_t k = 0; k < x->n; k++) {
        const forms_term *t = &x->terms[k];
        form p = constant(t->times), then, q;

        for (unsigned i = 0; i < FORM_MAX_FACTORS && t->factors[i]; i++) {
            if (!factor_later(f, t->factors[i], loop, distance, &then) ||
                !product(&p, &then, &q))
                return false;
            p = q;
        }
        if (!add(out, &p, 1))
            return false;
    }
    return true;
}

bool forms_difference(const form *a, const form *b, uint32_t *out)
{
    form x = *a;

    return add(&x, b, UINT32_MAX) && is_constant(&x, out);
}
