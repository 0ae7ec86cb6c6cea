/* Pointers are followed backwards to their bases, once each. A second walk,
 * forwards from a base, finds whether its address leaves the function's hands.
 */
#include "sim/shave/alias.h"

#include <string.h>

/* More bases or steps than this are not followed: the pointer may point
 * anywhere. */
enum { MAX_BASES = 16, MAX_STEPS = 256 };

typedef struct {
    LLVMValueRef value;
    /* Nothing else is there: a variable, or an argument whose memory only
     * pointers made from it reach (restrict). */
    bool apart;
    bool let_out; /* a pointer into it was stored or became an integer */
} base;

struct alias_origin {
    base *bases;
    size_t n, cap;
    bool loaded; /* or made from an integer: any base that was let out */
    bool anywhere;
};

struct alias {
    arena *a;
    ir_map origins; /* pointer -> alias_origin */
    ir_map let_out; /* base -> YES or NO */
};

const alias_origin alias_spills;

static const char YES, NO;

alias *alias_new(arena *a)
{
    alias *x = arena_new(a, alias);

    x->a = a;
    ir_map_init(&x->origins, a);
    ir_map_init(&x->let_out, a);
    return x;
}

/* --- who gets to know an address ----------------------------------------- */

typedef struct {
    arena *a;
    LLVMValueRef *list; /* pointers into the base, each once */
    size_t n, cap;
    ir_map seen;
} pointers;

static void add_pointer(pointers *p, LLVMValueRef v)
{
    if (ir_map_get(&p->seen, v))
        return;
    ir_map_set(&p->seen, v, v);
    *arena_append(p->a, p->list, p->n, p->cap) = v;
}

/* What a call does with an operand: only moves of memory and notes of the
 * optimiser keep no address. */
static bool call_keeps(LLVMValueRef call)
{
    static const char *const harmless[] = {
        "llvm.memcpy.", "llvm.memmove.", "llvm.memset.", "llvm.lifetime.",
        "llvm.dbg.",    "llvm.assume",   "llvm.prefetch"};
    const char *name = ir_callee(call);

    for (size_t k = 0; k < sizeof harmless / sizeof *harmless; k++)
        if (!strncmp(name, harmless[k], strlen(harmless[k])))
            return false;
    return true;
}

static bool is_constant_address(LLVMValueRef v, LLVMOpcode op)
{
    return LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == op;
}

static bool is_pointer(LLVMValueRef v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
}

/* user makes another pointer of the one it is given. */
static bool passes_on(LLVMValueRef user)
{
    return is_pointer(user) &&
           (LLVMIsAGetElementPtrInst(user) || LLVMIsABitCastInst(user) ||
            LLVMIsAAddrSpaceCastInst(user) || LLVMIsAPHINode(user) ||
            LLVMIsASelectInst(user) || LLVMIsAFreezeInst(user) ||
            is_constant_address(user, LLVMGetElementPtr) ||
            is_constant_address(user, LLVMBitCast) ||
            is_constant_address(user, LLVMAddrSpaceCast));
}

/* Does user, an instruction or a constant, let address v out? */
static bool lets_out(LLVMValueRef user, LLVMValueRef v)
{
    if (LLVMIsALoadInst(user))
        return false;
    if (LLVMIsAStoreInst(user))
        return LLVMGetOperand(user, 0) == v;
    if (LLVMIsAAtomicRMWInst(user))
        return LLVMGetOperand(user, 1) == v;
    if (LLVMIsAAtomicCmpXchgInst(user))
        return LLVMGetOperand(user, 1) == v || LLVMGetOperand(user, 2) == v;
    if (LLVMIsACallInst(user))
        return call_keeps(user);
    return true;
}

static bool find_let_out(alias *x, LLVMValueRef from)
{
    arena *scratch = arena_create(0);
    pointers p = {.a = scratch};
    bool out = false;

    ir_map_init(&p.seen, scratch);
    add_pointer(&p, from);
    for (size_t k = 0; k < p.n && !out; k++)
        for (LLVMUseRef u = LLVMGetFirstUse(p.list[k]); u && !out;
             u = LLVMGetNextUse(u)) {
            LLVMValueRef user = LLVMGetUser(u);

            if (passes_on(user))
                add_pointer(&p, user);
            else
                out = lets_out(user, p.list[k]);
        }
    arena_destroy(scratch);
    ir_map_set(&x->let_out, from, (void *)(uintptr_t)(out ? &YES : &NO));
    return out;
}

static bool is_let_out(alias *x, LLVMValueRef from)
{
    const void *known = ir_map_get(&x->let_out, from);

    return known ? known == &YES : find_let_out(x, from);
}

/* --- where an address comes from ----------------------------------------- */

static bool is_restrict(LLVMValueRef arg)
{
    LLVMValueRef fn = LLVMGetParamParent(arg);
    unsigned kind = LLVMGetEnumAttributeKindForName("noalias", 7), k = 0;

    while (k < LLVMCountParams(fn) && LLVMGetParam(fn, k) != arg)
        k++;
    return LLVMGetEnumAttributeAtIndex(fn, k + 1, kind) != NULL;
}

static void add_base(alias *x, alias_origin *o, LLVMValueRef v)
{
    bool arg = LLVMIsAArgument(v) != NULL;

    if (o->n == MAX_BASES) {
        o->anywhere = true;
        return;
    }
    *arena_append(x->a, o->bases, o->n, o->cap) =
        (base){v, !arg || is_restrict(v), is_let_out(x, v)};
}

/* One step back from v: to pointers, to a base, or to where nothing more is
 * known. */
static void step(alias *x, alias_origin *o, pointers *p, LLVMValueRef v)
{
    if (LLVMIsAAllocaInst(v) || LLVMIsAGlobalVariable(v) ||
        LLVMIsAArgument(v)) {
        add_base(x, o, v);
    } else if (LLVMIsAPHINode(v)) {
        for (unsigned k = 0; k < LLVMCountIncoming(v); k++)
            add_pointer(p, LLVMGetIncomingValue(v, k));
    } else if (LLVMIsASelectInst(v)) {
        add_pointer(p, LLVMGetOperand(v, 1));
        add_pointer(p, LLVMGetOperand(v, 2));
    } else if (passes_on(v)) {
        add_pointer(p, LLVMGetOperand(v, 0));
    } else if (LLVMIsALoadInst(v) || LLVMIsAIntToPtrInst(v) ||
               LLVMIsConstant(v)) {
        o->loaded = true; /* a constant: null, or an integer */
    } else {
        o->anywhere = true;
    }
}

static alias_origin *follow(alias *x, LLVMValueRef from)
{
    alias_origin *o = arena_new(x->a, alias_origin);
    arena *scratch = arena_create(0);
    pointers p = {.a = scratch};

    ir_map_init(&p.seen, scratch);
    add_pointer(&p, from);
    for (size_t k = 0; k < p.n && !o->anywhere; k++) {
        step(x, o, &p, p.list[k]);
        o->anywhere |= k == MAX_STEPS;
    }
    arena_destroy(scratch);
    return o;
}

const alias_origin *alias_of(alias *x, LLVMValueRef p)
{
    alias_origin *o = ir_map_get(&x->origins, p);

    if (!o) {
        o = follow(x, p);
        ir_map_set(&x->origins, p, o);
    }
    return o;
}

/* --- two of them --------------------------------------------------------- */

static bool bases_meet(const base *a, const base *b)
{
    return a->value == b->value || (!a->apart && !b->apart);
}

/* May a pointer that was loaded reach one of the bases of o? Who calls the
 * kernel may have stored what an argument without restrict is. */
static bool loaded_meets(const alias_origin *o)
{
    for (size_t k = 0; k < o->n; k++)
        if (!o->bases[k].apart || o->bases[k].let_out)
            return true;
    return o->loaded;
}

bool alias_may_meet(const alias_origin *a, const alias_origin *b)
{
    if (a == &alias_spills || b == &alias_spills)
        return a == b;
    if (!a || !b || a->anywhere || b->anywhere)
        return true;
    if ((a->loaded && loaded_meets(b)) || (b->loaded && loaded_meets(a)))
        return true;
    for (size_t k = 0; k < a->n; k++)
        for (size_t l = 0; l < b->n; l++)
            if (bases_meet(&a->bases[k], &b->bases[l]))
                return true;
    return false;
}

bool alias_is_forged(const alias_origin *a)
{
    return !a || a->loaded || a->anywhere;
}
