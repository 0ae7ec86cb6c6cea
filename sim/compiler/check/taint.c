/* Companions of values; see taint.h.
 *
 * What clang leaves undefined itself (lanes that pad a vector of three) counts
 * as defined: no source says otherwise. */
#include "sim/compiler/check/taint.h"

#include <string.h>

#include "sim/compiler/check/instrument_priv.h"

typedef struct {
    instrument *x;
    sim_variant_kind variant;
    ir_map with; /* instruction -> companion */
} taint;

/* --- companions ---------------------------------------------------------- */

static LLVMTypeRef companion_type(taint *t, unsigned lanes)
{
    return lanes > 1 ? LLVMVectorType(t->x->i32, lanes) : t->x->i32;
}

static unsigned lanes_of(LLVMTypeRef t)
{
    return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetVectorSize(t) : 1;
}

static LLVMValueRef companion(taint *t, LLVMValueRef v)
{
    LLVMValueRef got = ir_map_get(&t->with, v);

    return got ? got
               : LLVMConstNull(companion_type(t, lanes_of(LLVMTypeOf(v))));
}

static bool is_defined(LLVMValueRef c)
{
    return LLVMIsConstant(c) && LLVMIsNull(c);
}

/* The larger number of each lane: one of both when one is 0. */
static LLVMValueRef join(taint *t, LLVMValueRef a, LLVMValueRef b)
{
    if (is_defined(a))
        return b;
    if (is_defined(b))
        return a;
    return LLVMBuildSelect(t->x->builder,
                           LLVMBuildICmp(t->x->builder, LLVMIntUGT, a, b, ""),
                           a, b, "");
}

static LLVMValueRef one(taint *t, LLVMValueRef c)
{
    LLVMTypeRef type = LLVMTypeOf(c);
    LLVMValueRef most;

    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return c;
    if (is_defined(c))
        return LLVMConstNull(t->x->i32);
    most =
        LLVMBuildExtractElement(t->x->builder, c, instrument_k32(t->x, 0), "");
    for (unsigned k = 1; k < LLVMGetVectorSize(type); k++)
        most = join(t, most,
                    LLVMBuildExtractElement(t->x->builder, c,
                                            instrument_k32(t->x, k), ""));
    return most;
}

static LLVMValueRef spread(taint *t, LLVMValueRef c, unsigned lanes)
{
    LLVMTypeRef type = companion_type(t, lanes);
    LLVMValueRef v = LLVMGetUndef(type);

    if (LLVMTypeOf(c) == type)
        return c;
    c = one(t, c);
    if (is_defined(c))
        return LLVMConstNull(type);
    if (lanes == 1)
        return c;
    v = LLVMBuildInsertElement(t->x->builder, v, c, instrument_k32(t->x, 0),
                               "");
    return LLVMBuildShuffleVector(t->x->builder, v, LLVMGetUndef(type),
                                  LLVMConstNull(type), "");
}

/* Lane `at` of a companion as long as a vector is. */
static LLVMValueRef lane(taint *t, LLVMValueRef c, unsigned at)
{
    return LLVMGetTypeKind(LLVMTypeOf(c)) == LLVMVectorTypeKind
               ? LLVMBuildExtractElement(t->x->builder, c,
                                         instrument_k32(t->x, at), "")
               : c;
}

/* Of a value taken for one with other lanes: a narrower lane is as defined as
 * the lane that it lies in, a wider lane as all lanes that it consists of. */
static LLVMValueRef of_bitcast(taint *t, LLVMValueRef i, LLVMValueRef c)
{
    LLVMValueRef from = LLVMGetOperand(i, 0), v;
    unsigned n = lanes_of(LLVMTypeOf(i)), m = lanes_of(LLVMTypeOf(from));
    LLVMTypeRef type = companion_type(t, n);

    if (is_defined(c))
        return LLVMConstNull(type);
    if (n == m || (n % m && m % n))
        return spread(t, c, n);
    v = LLVMConstNull(type);
    for (unsigned k = 0; k < n; k++) {
        unsigned first = k * m / n, parts = m > n ? m / n : 1;
        LLVMValueRef most = lane(t, c, first);

        for (unsigned p = 1; p < parts; p++)
            most = join(t, most, lane(t, c, first + p));
        v = n > 1 ? LLVMBuildInsertElement(t->x->builder, v, most,
                                           instrument_k32(t->x, k), "")
                  : most;
    }
    return v;
}

static LLVMValueRef of_operands(taint *t, LLVMValueRef i, int n)
{
    unsigned lanes = lanes_of(LLVMTypeOf(i));
    LLVMValueRef c = LLVMConstNull(companion_type(t, lanes));

    for (int k = 0; k < n; k++) {
        LLVMValueRef op = LLVMGetOperand(i, (unsigned)k);

        if (!LLVMValueIsBasicBlock(op))
            c = join(t, c, spread(t, companion(t, op), lanes));
    }
    return c;
}

/* --- where it matters ---------------------------------------------------- */

/* In front of i, which uses a value with this companion. */
static void use(taint *t, LLVMValueRef i, sim_site_kind kind, LLVMValueRef c)
{
    LLVMValueRef args[2];

    c = one(t, c);
    if (is_defined(c))
        return;
    args[0] =
        instrument_k32(t->x, instrument_site(t->x, kind, i, t->variant, 0));
    args[1] = c;
    instrument_call(
        t->x, &(const ir_call){CALL_check_use, t->x->void_type, args, 2}, i);
}

/* The site of the check in front of an access, 0 = none. */
static LLVMValueRef site_of(taint *t, LLVMValueRef pointer)
{
    if (call_is_access(ir_call_id(pointer)))
        return LLVMGetOperand(pointer, 0);
    return instrument_k32(t->x, 0);
}

static LLVMValueRef address(taint *t, LLVMValueRef p)
{
    return LLVMBuildPtrToInt(t->x->builder, p, t->x->i32, "");
}

static LLVMValueRef of_load(taint *t, LLVMValueRef i)
{
    unsigned lanes = lanes_of(LLVMTypeOf(i));
    LLVMValueRef args[2] = {site_of(t, LLVMGetOperand(i, 0)), NULL};

    if (LLVMIsNull(args[0]))
        return LLVMConstNull(companion_type(t, lanes));
    args[1] = address(t, LLVMGetOperand(i, 0));
    return instrument_numbered(
        t->x,
        &(const ir_call){CALL_check_origins, companion_type(t, lanes), args, 2},
        lanes, i);
}

static LLVMValueRef of_shuffle(taint *t, LLVMValueRef i, LLVMValueRef a,
                               LLVMValueRef b)
{
    unsigned n = LLVMGetNumMaskElements(i);
    unsigned m = lanes_of(LLVMTypeOf(LLVMGetOperand(i, 0)));
    LLVMTypeRef type = companion_type(t, n);
    LLVMValueRef v = LLVMConstNull(type);

    if (is_defined(a) && is_defined(b))
        return v;
    /* A lane that no source has is clang's own. */
    for (unsigned k = 0; k < n; k++) {
        int at = LLVMGetMaskValue(i, k);
        LLVMValueRef from;

        if (at == LLVMGetUndefMaskElem())
            continue;
        from = lane(t, (unsigned)at < m ? a : b, (unsigned)at % m);
        v = n > 1 ? LLVMBuildInsertElement(t->x->builder, v, from,
                                           instrument_k32(t->x, k), "")
                  : from;
    }
    return v;
}

/* The pointer behind the check in front of an access. */
static LLVMValueRef unchecked(LLVMValueRef p)
{
    return call_is_access(ir_call_id(p)) ? LLVMGetOperand(p, 1) : p;
}

/* v's companion where v is a vector read from p with components replaced: as
 * if those that stay were defined. *found: it is such a vector. */
static LLVMValueRef replaced(taint *t, LLVMValueRef v, LLVMValueRef p,
                             bool *found)
{
    LLVMValueRef a, b;

    if (LLVMIsALoadInst(v) && unchecked(LLVMGetOperand(v, 0)) == p) {
        *found = true;
        return LLVMConstNull(companion_type(t, lanes_of(LLVMTypeOf(v))));
    }
    if (LLVMIsABitCastInst(v)) {
        a = replaced(t, LLVMGetOperand(v, 0), p, found);
        return of_bitcast(t, v, a);
    }
    if (LLVMIsAInsertElementInst(v)) {
        a = replaced(t, LLVMGetOperand(v, 0), p, found);
        return LLVMBuildInsertElement(t->x->builder, a,
                                      companion(t, LLVMGetOperand(v, 1)),
                                      LLVMGetOperand(v, 2), "");
    }
    if (LLVMIsAShuffleVectorInst(v)) {
        bool other = false;

        a = replaced(t, LLVMGetOperand(v, 0), p, found);
        b = replaced(t, LLVMGetOperand(v, 1), p, &other);
        return of_shuffle(t, v, a, b);
    }
    return companion(t, v);
}

static void taint_memory(taint *t, LLVMValueRef i, LLVMValueRef c)
{
    LLVMValueRef p = LLVMGetOperand(i, 1), args[3];

    args[0] = site_of(t, p);
    args[1] = address(t, p);
    args[2] = c;
    instrument_numbered(
        t->x, &(const ir_call){CALL_check_taint, t->x->void_type, args, 3},
        lanes_of(LLVMTypeOf(c)), i);
}

/* a where b is defined. */
static LLVMValueRef without(taint *t, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef none = LLVMConstNull(LLVMTypeOf(a)), free;

    if (is_defined(b))
        return a;
    free = LLVMBuildICmp(t->x->builder, LLVMIntEQ, b, none, "");
    return LLVMBuildSelect(t->x->builder, free, a, none, "");
}

static void do_store(taint *t, LLVMValueRef i)
{
    LLVMValueRef v = LLVMGetOperand(i, 0), c = companion(t, v), new_ones;
    LLVMValueRef p = LLVMGetOperand(i, 1), next = LLVMGetNextInstruction(i);
    bool found = false;

    if (is_defined(c))
        return;
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(p)) == AS_GLOBAL) {
        LLVMPositionBuilderBefore(t->x->builder, i);
        new_ones = replaced(t, v, unchecked(p), &found);
        use(t, i, SITE_OUTPUT, found ? new_ones : c);
        if (!found)
            return;
        LLVMPositionBuilderBefore(t->x->builder, next);
        c = without(t, c, new_ones); /* those are told */
    }
    taint_memory(t, i, c);
}

static bool is_exchange(LLVMValueRef i)
{
    return LLVMIsAAtomicRMWInst(i) &&
           LLVMGetAtomicRMWBinOp(i) == LLVMAtomicRMWBinOpXchg;
}

/* Reads, and writes what it makes of that: in local memory an undefined value
 * stays one, global memory gets it. */
static LLVMValueRef of_atomic(taint *t, LLVMValueRef i)
{
    LLVMValueRef next = LLVMGetNextInstruction(i), p = LLVMGetOperand(i, 0);
    LLVMValueRef args[3] = {site_of(t, p), NULL, NULL}, old, made;

    LLVMPositionBuilderBefore(t->x->builder, i);
    made = companion(t, LLVMGetOperand(i, LLVMIsAAtomicRMWInst(i) ? 1 : 2));
    if (LLVMIsNull(args[0])) {
        use(t, i, SITE_OUTPUT, made);
        return NULL;
    }
    args[1] = address(t, p);
    old = instrument_numbered(
        t->x, &(const ir_call){CALL_check_origins, t->x->i32, args, 2}, 1, i);
    if (LLVMIsAAtomicCmpXchgInst(i))
        use(t, i, SITE_DECIDE,
            join(t, old, companion(t, LLVMGetOperand(i, 1))));
    else if (!is_exchange(i))
        made = join(t, old, made);
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(p)) == AS_GLOBAL) {
        use(t, i, SITE_OUTPUT, made);
    } else if (!is_defined(made)) {
        LLVMPositionBuilderBefore(t->x->builder, next);
        args[2] = made;
        instrument_numbered(
            t->x, &(const ir_call){CALL_check_taint, t->x->void_type, args, 3},
            1, i);
    }
    return old;
}

static LLVMValueRef of_call(taint *t, LLVMValueRef i)
{
    call_id id = ir_call_id(i);
    unsigned lanes = lanes_of(LLVMTypeOf(i));

    if (id == CALL_undef)
        return spread(t, LLVMGetOperand(i, 0), lanes);
    if (call_is_access(id)) {
        LLVMPositionBuilderBefore(t->x->builder, i);
        use(t, i, SITE_ADDRESS, companion(t, LLVMGetOperand(i, 1)));
        return NULL;
    }
    if (call_needs_defined(id)) {
        LLVMPositionBuilderBefore(t->x->builder, i);
        use(t, i, SITE_ADDRESS,
            of_operands(t, i, (int)LLVMGetNumArgOperands(i)));
        return NULL;
    }
    if ((!id && strncmp(ir_callee(i), "llvm.", 5)) ||
        LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVoidTypeKind)
        return NULL;
    return of_operands(t, i, (int)LLVMGetNumArgOperands(i));
}

/* --- instructions -------------------------------------------------------- */

static LLVMValueRef of_select(taint *t, LLVMValueRef i)
{
    unsigned lanes = lanes_of(LLVMTypeOf(i));
    LLVMValueRef cond = LLVMGetOperand(i, 0), c;
    LLVMValueRef yes = spread(t, companion(t, LLVMGetOperand(i, 1)), lanes);
    LLVMValueRef no = spread(t, companion(t, LLVMGetOperand(i, 2)), lanes);

    c = is_defined(yes) && is_defined(no)
            ? yes
            : LLVMBuildSelect(t->x->builder, cond, yes, no, "");
    return join(t, spread(t, companion(t, cond), lanes), c);
}

static LLVMValueRef of_insert(taint *t, LLVMValueRef i)
{
    LLVMValueRef at = LLVMGetOperand(i, 2);
    LLVMValueRef c = LLVMBuildInsertElement(
        t->x->builder, companion(t, LLVMGetOperand(i, 0)),
        companion(t, LLVMGetOperand(i, 1)), at, "");

    return join(t, c, spread(t, companion(t, at), lanes_of(LLVMTypeOf(i))));
}

static LLVMValueRef of_extract(taint *t, LLVMValueRef i)
{
    LLVMValueRef from = companion(t, LLVMGetOperand(i, 0));
    LLVMValueRef at = LLVMGetOperand(i, 1), c = LLVMConstNull(t->x->i32);

    if (!is_defined(from))
        c = LLVMGetTypeKind(LLVMTypeOf(from)) == LLVMVectorTypeKind
                ? LLVMBuildExtractElement(t->x->builder, from, at, "")
                : from;
    return join(t, c, companion(t, at));
}

static LLVMValueRef of_plain(taint *t, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAlloca:
        return NULL;
    case LLVMLoad:
        return of_load(t, i);
    case LLVMStore:
        do_store(t, i);
        return NULL;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return of_atomic(t, i);
    case LLVMCall:
        return of_call(t, i);
    case LLVMSelect:
        return of_select(t, i);
    case LLVMShuffleVector:
        return of_shuffle(t, i, companion(t, LLVMGetOperand(i, 0)),
                          companion(t, LLVMGetOperand(i, 1)));
    case LLVMBitCast:
        return of_bitcast(t, i, companion(t, LLVMGetOperand(i, 0)));
    case LLVMInsertElement:
        return of_insert(t, i);
    case LLVMExtractElement:
        return of_extract(t, i);
    default:
        return of_operands(t, i, LLVMGetNumOperands(i));
    }
}

/* What a conversion makes of a number too large is nobody's value, either. */
static LLVMValueRef of_inst(taint *t, LLVMValueRef i)
{
    LLVMValueRef c = of_plain(t, i), out = ir_map_get(&t->x->converted, i);

    return out ? join(t, c, out) : c;
}

static void visit(taint *t, LLVMValueRef i)
{
    LLVMValueRef next = LLVMGetNextInstruction(i), c;

    if (LLVMIsAPHINode(i)) {
        LLVMPositionBuilderBefore(t->x->builder, i);
        LLVMSetCurrentDebugLocation2(t->x->builder, NULL);
        c = LLVMBuildPhi(t->x->builder,
                         companion_type(t, lanes_of(LLVMTypeOf(i))), "");
        ir_map_set(&t->with, i, c);
        return;
    }
    if (!next) { /* the terminator */
        LLVMPositionBuilderBefore(t->x->builder, i);
        if (LLVMGetNumSuccessors(i) > 1)
            use(t, i, SITE_DECIDE, companion(t, LLVMGetOperand(i, 0)));
        return;
    }
    LLVMPositionBuilderBefore(t->x->builder, next);
    LLVMSetCurrentDebugLocation2(t->x->builder, NULL);
    c = of_inst(t, i);
    if (c && !is_defined(c))
        ir_map_set(&t->with, i, c);
}

static void fill_phi(taint *t, LLVMValueRef phi)
{
    LLVMValueRef c = ir_map_get(&t->with, phi);

    if (!c || !LLVMIsAPHINode(phi))
        return;
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
        LLVMValueRef v = LLVMGetIncomingValue(phi, k), in;

        LLVMPositionBuilderBefore(t->x->builder,
                                  LLVMGetBasicBlockTerminator(from));
        in = spread(t, companion(t, v), lanes_of(LLVMTypeOf(phi)));
        LLVMAddIncoming(c, &in, &from, 1);
    }
}

void taint_follow(instrument *x, LLVMValueRef fn, sim_variant_kind variant)
{
    taint t = {.x = x, .variant = variant};
    LLVMValueRef *list = NULL;
    uint32_t *order, n_blocks;
    size_t n = 0, cap = 0;
    ir_cfg cfg;

    ir_map_init(&t.with, x->arena);
    ir_cfg_build(&cfg, fn, x->arena);
    order = arena_array(x->arena, uint32_t, cfg.n_blocks);
    n_blocks = ir_post_order(&cfg, order, ir_bits(x->arena, cfg.n_blocks));
    for (uint32_t k = n_blocks; k-- > 0;)
        ir_each_inst(i, cfg.blocks[order[k]])
            *arena_append(x->arena, list, n, cap) = i;
    for (size_t k = 0; k < n; k++)
        visit(&t, list[k]);
    for (size_t k = 0; k < n; k++)
        fill_phi(&t, list[k]);
}
