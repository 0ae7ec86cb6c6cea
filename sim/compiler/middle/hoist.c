/* See hoist.h for the conditions. A function with a copy that happens once is
 * cut by it into what comes before and what comes behind: no block is both. */
#include "sim/compiler/middle/hoist.h"

#include <string.h>

#include "sim/compiler/abi/hostabi.h"
#include "sim/ir/ir.h"

/* A call of dma in the kernel. */
typedef struct {
    LLVMValueRef call;
    LLVMValueRef array; /* its local end: a global or an argument, or NULL */
    bool in, once;
    sim_copy *told;
    bool moves;
} copy;

typedef struct {
    LLVMValueRef fn;
    arena *a;
    sim_kernel *k;
    ir_cfg cfg;
    ir_word **pdom;
    copy *copies; /* those that happen once in the order they happen in */
    size_t n_copies, cap_copies;
} hoister;

/* What happens before, or behind, some instruction: whole blocks, and part of
 * its own block. */
typedef struct {
    ir_word *blocks;
    LLVMValueRef at;
    bool before;
} region;

/* --- what an instruction does ---------------------------------------------- */

static copy *copy_of(const hoister *h, LLVMValueRef call)
{
    for (size_t i = 0; i < h->n_copies; i++)
        if (h->copies[i].call == call)
            return &h->copies[i];
    return NULL;
}

/* The array or argument that an address is made of; NULL: more than one, or
 * none that is known. */
static LLVMValueRef array_of(LLVMValueRef p)
{
    for (;;) {
        if (LLVMIsAGlobalVariable(p) || LLVMIsAArgument(p))
            return p;
        if (!LLVMIsAInstruction(p) && !LLVMIsAConstantExpr(p))
            return NULL;
        switch (LLVMIsAInstruction(p) ? LLVMGetInstructionOpcode(p)
                                      : LLVMGetConstOpcode(p)) {
        case LLVMGetElementPtr:
        case LLVMBitCast:
        case LLVMPtrToInt:
            p = LLVMGetOperand(p, 0);
            break;
        default:
            return NULL;
        }
    }
}

/* A function of its arguments that does nothing else. */
static bool is_plain_call(LLVMValueRef i)
{
    LLVMValueRef f = LLVMGetCalledValue(i);
    unsigned memory = LLVMGetEnumAttributeKindForName("memory", 6);
    LLVMAttributeRef effects =
        LLVMIsAFunction(f)
            ? LLVMGetEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, memory)
            : NULL;

    return effects && !LLVMGetEnumAttributeValue(effects) &&
           !call_is_collective(ir_call_id(i));
}

typedef struct {
    bool local, global; /* in which memory it may be */
    bool writes;
    LLVMValueRef array; /* of local memory; NULL: unknown */
} access;

static void touch(access *x, LLVMValueRef pointer, bool writes)
{
    unsigned as = LLVMGetPointerAddressSpace(LLVMTypeOf(pointer));

    x->local = as == AS_LOCAL;
    x->global = as == AS_GLOBAL;
    x->writes = writes;
    x->array = x->local ? array_of(pointer) : NULL;
}

/* An intrinsic that is no plain function: it touches what it points to. */
static void touch_operands(access *x, LLVMValueRef call)
{
    int n = LLVMGetNumArgOperands(call);

    for (int k = 0; k < n; k++) {
        LLVMValueRef p = LLVMGetOperand(call, (unsigned)k);
        access one = {.local = false};

        if (LLVMGetTypeKind(LLVMTypeOf(p)) != LLVMPointerTypeKind)
            continue;
        touch(&one, p, true);
        x->array = one.local && !x->local ? one.array : NULL;
        x->local |= one.local;
        x->global |= one.global;
        x->writes = true;
    }
}

/* A call of neither a built-in nor an intrinsic may do anything. */
static void touch_by_call(const hoister *h, access *x, LLVMValueRef i)
{
    const copy *c = copy_of(h, i);
    call_id id = ir_call_id(i);

    if (c)
        *x = (access){true, true, true, c->array};
    else if (!strncmp(ir_callee(i), "llvm.", 5))
        touch_operands(x, i);
    else if (!call_is_collective(id) && id != CALL_printf &&
             id != CALL_divergence)
        *x = (access){true, true, true, NULL};
}

/* Does the instruction access local or global memory? */
static bool accesses(const hoister *h, LLVMValueRef i, access *x)
{
    *x = (access){.local = false};
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad:
        touch(x, LLVMGetOperand(i, 0), LLVMGetVolatile(i));
        break;
    case LLVMStore:
        touch(x, LLVMGetOperand(i, 1), true);
        break;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        touch(x, LLVMGetOperand(i, 0), true);
        break;
    case LLVMCall:
        if (!is_plain_call(i))
            touch_by_call(h, x, i);
        break;
    default:
        break;
    }
    return x->local || x->global;
}

/* --- before and behind ----------------------------------------------------- */

static region region_of(const hoister *h, LLVMValueRef at, bool before)
{
    uint32_t n = h->cfg.n_blocks, top = 0;
    uint32_t *stack = arena_array(h->a, uint32_t, n + 1);
    region r = {ir_bits(h->a, n), at, before};
    uint32_t **next = before ? h->cfg.preds : h->cfg.succs;

    stack[top++] = ir_cfg_number(&h->cfg, LLVMGetInstructionParent(at));
    while (top) {
        uint32_t b = stack[--top];

        for (uint32_t k = 1; k <= next[b][0]; k++)
            if (!ir_bit(r.blocks, next[b][k])) {
                ir_bit_set(r.blocks, next[b][k]);
                stack[top++] = next[b][k];
            }
    }
    return r;
}

static LLVMValueRef first_of(const region *r, const hoister *h, uint32_t b)
{
    bool own = h->cfg.blocks[b] == LLVMGetInstructionParent(r->at);

    if (own && !ir_bit(r->blocks, b) && !r->before)
        return LLVMGetNextInstruction(r->at);
    return ir_bit(r->blocks, b) || own
               ? LLVMGetFirstInstruction(h->cfg.blocks[b])
               : NULL;
}

static bool ends_at(const region *r, const hoister *h, uint32_t b,
                    LLVMValueRef i)
{
    return i == r->at && r->before && !ir_bit(r->blocks, b) &&
           h->cfg.blocks[b] == LLVMGetInstructionParent(i);
}

#define each_in(h, r, i)                                            \
    for (uint32_t each_b = 0; each_b < (h)->cfg.n_blocks; each_b++) \
        for (LLVMValueRef i = first_of(r, h, each_b);               \
             i && !ends_at(r, h, each_b, i); i = LLVMGetNextInstruction(i))

/* All paths pass the block, and none twice. */
static bool happens_once(const hoister *h, LLVMValueRef i)
{
    uint32_t b = ir_cfg_number(&h->cfg, LLVMGetInstructionParent(i));
    region behind = region_of(h, i, false);

    return ir_bit(h->pdom[0], b) && !ir_bit(behind.blocks, b);
}

/* --- what a copy is made of ------------------------------------------------ */

typedef struct {
    LLVMValueRef *list; /* operands first */
    size_t n, cap;
    ir_map seen;
    const char *why; /* it cannot be made at the kernel's begin */
} slice;

static const char *why_not(LLVMValueRef i)
{
    if (call_item_dimension(ir_call_id(i)) >= 0)
        return "its address or size depends on the local id";
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMPHI:
        return "its address or size depends on a loop or a condition";
    case LLVMLoad:
        return "its address or size depends on memory";
    case LLVMCall:
        if (is_plain_call(i))
            return NULL;
        return ir_call_id(i) == CALL_dma
                   ? "its address or size depends on an event"
                   : "its address or size depends on a call";
    case LLVMAlloca:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return "its address or size depends on memory";
    default:
        return LLVMIsATerminatorInst(i)
                   ? "its address or size depends on a call"
                   : NULL;
    }
}

static void add_to_slice(hoister *h, slice *s, LLVMValueRef v)
{
    int n;

    if (!LLVMIsAInstruction(v) || ir_map_get(&s->seen, v) || s->why)
        return;
    ir_map_set(&s->seen, v, v);
    s->why = why_not(v);
    n = s->why ? 0 : LLVMGetNumOperands(v);
    for (int k = 0; k < n; k++)
        add_to_slice(h, s, LLVMGetOperand(v, (unsigned)k));
    *arena_append(h->a, s->list, s->n, s->cap) = v;
}

static slice slice_of(hoister *h, const copy *c)
{
    slice s = {.n = 0};

    ir_map_init(&s.seen, h->a);
    for (unsigned k = 0; k < SIM_DMA_N; k++)
        if (k != SIM_DMA_EVENT)
            add_to_slice(h, &s, LLVMGetOperand(c->call, k));
    return s;
}

/* --- waits ----------------------------------------------------------------- */

/* The copy whose event v is; one that joins another's has that one's. NULL: v
 * is not the event of one copy. */
static copy *event_of(const hoister *h, LLVMValueRef v)
{
    copy *c = copy_of(h, v);

    for (size_t n = 0; c && n <= h->n_copies; n++) {
        LLVMValueRef joined = LLVMGetOperand(c->call, SIM_DMA_EVENT);

        if (LLVMIsAConstantInt(joined))
            return LLVMIsNull(joined) ? c : NULL;
        c = copy_of(h, joined);
    }
    return NULL;
}

static bool is_most(LLVMValueRef v)
{
    return LLVMIsACallInst(v) && !strncmp(ir_callee(v), "llvm.umax", 9);
}

/* Does a wait whose operand is v wait for the event of c, too? depth: of
 * operands, against very long chains. */
static bool waits_for(const hoister *h, LLVMValueRef v, const copy *event,
                      unsigned depth)
{
    if (LLVMIsAConstantInt(v))
        return LLVMConstIntGetZExtValue(v) == UINT32_MAX;
    if (is_most(v) && depth)
        return waits_for(h, LLVMGetOperand(v, 0), event, depth - 1) ||
               waits_for(h, LLVMGetOperand(v, 1), event, depth - 1);
    return event_of(h, v) == event;
}

/* Nothing is left to wait for: v is made of events of copies that move. */
static bool waits_in_vain(const hoister *h, LLVMValueRef v, unsigned depth)
{
    copy *c;

    if (LLVMIsAConstantInt(v))
        return LLVMIsNull(v);
    if (is_most(v) && depth)
        return waits_in_vain(h, LLVMGetOperand(v, 0), depth - 1) &&
               waits_in_vain(h, LLVMGetOperand(v, 1), depth - 1);
    c = copy_of(h, v);
    return c && c->moves &&
           waits_in_vain(h, LLVMGetOperand(c->call, SIM_DMA_EVENT), depth);
}

enum { MAX_DEPTH = 64 };

/* --- may it move? ---------------------------------------------------------- */

static bool touches(const access *x, LLVMValueRef array)
{
    return x->local && (!x->array || x->array == array);
}

static const char *say(const hoister *h, LLVMValueRef at, const char *what,
                       const char *array)
{
    unsigned line = ir_line_near(at);

    if (line)
        return arena_printf(h->a, "line %u %s%s%s%s", line, what,
                            array ? " '" : "", array ? array : "",
                            array ? "'" : "");
    return arena_printf(h->a, "the kernel %s%s%s%s", what, array ? " '" : "",
                        array ? array : "", array ? "'" : "");
}

/* The first use of the array on a way from the copy that passes no wait for it.
 */
static LLVMValueRef used_unwaited(const hoister *h, const copy *c)
{
    uint32_t n = h->cfg.n_blocks, top = 0;
    uint32_t *stack = arena_array(h->a, uint32_t, n + 1);
    ir_word *queued = ir_bits(h->a, n);
    LLVMValueRef i = LLVMGetNextInstruction(c->call);
    uint32_t b = ir_cfg_number(&h->cfg, LLVMGetInstructionParent(c->call));
    const copy *event = event_of(h, c->call);

    for (;;) {
        access x;

        for (; i; i = LLVMGetNextInstruction(i)) {
            const copy *other = copy_of(h, i);

            if (ir_call_id(i) == CALL_wait && event &&
                waits_for(h, LLVMGetOperand(i, 0), event, MAX_DEPTH))
                break;
            if (accesses(h, i, &x) && touches(&x, c->array) &&
                !(other && other->moves && other->in))
                return i;
        }
        for (uint32_t k = 1; !i && k <= h->cfg.succs[b][0]; k++) {
            uint32_t s = h->cfg.succs[b][k];

            if (!ir_bit(queued, s)) {
                ir_bit_set(queued, s);
                stack[top++] = s;
            }
        }
        if (!top)
            return NULL;
        b = stack[--top];
        i = LLVMGetFirstInstruction(h->cfg.blocks[b]);
    }
}

static const char *why_not_in(const hoister *h, const copy *c)
{
    region before = region_of(h, c->call, true);
    LLVMValueRef use;

    each_in(h, &before, i)
    {
        const copy *other = copy_of(h, i);
        access x;

        if (!accesses(h, i, &x))
            continue;
        /* One that moves, too: it would be behind the kernel then. */
        if (other ? !other->in : x.global && x.writes)
            return say(h, i, "writes to global memory before it", NULL);
        if (!(other && other->moves) && touches(&x, c->array))
            return say(h, i, "uses the array before it:", c->told->array);
    }
    use = used_unwaited(h, c);
    return use ? say(h, use, "uses the array before a wait for the copy:",
                     c->told->array)
               : NULL;
}

static const char *why_not_out(const hoister *h, const copy *c)
{
    region behind = region_of(h, c->call, false);

    each_in(h, &behind, i)
    {
        const copy *other = copy_of(h, i);
        access x;

        if ((other && other->moves) || !accesses(h, i, &x))
            continue;
        if (x.global)
            return say(h, i, "uses global memory behind it", NULL);
        if (touches(&x, c->array) && x.writes)
            return say(h, i, "writes to the array behind it:", c->told->array);
    }
    return NULL;
}

/* Does the event v go anywhere but to waits and copies that join it? Then its
 * number counts, and that a copy that moved has none. */
static bool is_looked_at(LLVMValueRef v, unsigned depth)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        call_id id = ir_call_id(user);

        if (id == CALL_wait ||
            (id == CALL_dma && LLVMGetOperand(user, SIM_DMA_EVENT) == v) ||
            (is_most(user) && depth && !is_looked_at(user, depth - 1)))
            continue;
        return true;
    }
    return false;
}

/* Whatever the other copies do. */
static const char *why_not_apart(hoister *h, const copy *c)
{
    slice s;

    if (!c->once)
        return "it is in a loop or behind a condition";
    if (!c->array ||
        LLVMGetPointerAddressSpace(LLVMTypeOf(c->array)) != AS_LOCAL)
        return "its local end is not in one array of local memory";
    if (is_looked_at(c->call, MAX_DEPTH))
        return "its event is used for more than waiting";
    s = slice_of(h, c);
    return s.why;
}

/* All move, at first; those that cannot, given that the others do, stay, until
 * none is left that cannot. */
static void decide(hoister *h)
{
    bool again = true;

    for (size_t i = 0; i < h->n_copies; i++) {
        h->copies[i].told->why = why_not_apart(h, &h->copies[i]);
        h->copies[i].moves = !h->copies[i].told->why;
    }
    while (again) {
        again = false;
        for (size_t i = 0; i < h->n_copies; i++) {
            copy *c = &h->copies[i];

            if (!c->moves)
                continue;
            c->told->why = c->in ? why_not_in(h, c) : why_not_out(h, c);
            c->moves = !c->told->why;
            again |= !c->moves;
        }
    }
    for (size_t i = 0; i < h->n_copies; i++)
        if (h->copies[i].moves)
            h->copies[i].told->phase =
                h->copies[i].in ? SIM_PRELOAD : SIM_POSTWRITE;
}

/* --- the copies of a kernel ------------------------------------------------ */

static const char *name_of(LLVMValueRef array, const sim_kernel *k)
{
    if (LLVMIsAArgument(array)) {
        LLVMValueRef fn = LLVMGetParamParent(array);

        for (uint32_t i = 0; i < k->n_args; i++)
            if (LLVMGetParam(fn, i) == array)
                return k->args[i].name;
        return "";
    }
    return ir_plain_name(array);
}

static void add_copy(hoister *h, LLVMValueRef call)
{
    bool in = LLVMConstIntGetZExtValue(LLVMGetOperand(call, SIM_DMA_TO_CMX));
    LLVMValueRef end =
        array_of(LLVMGetOperand(call, in ? SIM_DMA_DST : SIM_DMA_SRC));

    *arena_append(h->a, h->copies, h->n_copies, h->cap_copies) =
        (copy){.call = call, .array = end, .in = in};
}

static void find_copies(hoister *h)
{
    uint32_t *order = arena_array(h->a, uint32_t, h->cfg.n_blocks);
    uint32_t n = ir_post_order(&h->cfg, order, ir_bits(h->a, h->cfg.n_blocks));
    sim_copy *told;

    while (n-- > 0)
        ir_each_inst(i, h->cfg.blocks[order[n]])
            if (ir_call_id(i) == CALL_dma)
                add_copy(h, i);
    if (h->n_copies)
        h->pdom = ir_post_dominators(&h->cfg, h->a);
    told = arena_array(h->a, sim_copy, h->n_copies + 1);
    for (size_t i = 0; i < h->n_copies; i++) {
        copy *c = &h->copies[i];
        LLVMValueRef line = LLVMGetOperand(c->call, SIM_DMA_LINE);

        c->once = happens_once(h, c->call);
        c->told = &told[i];
        told[i] = (sim_copy){.array = arena_strdup(
                                 h->a, c->array ? name_of(c->array, h->k) : ""),
                             .line = (uint32_t)LLVMConstIntGetZExtValue(line),
                             .in = c->in,
                             .phase = SIM_SCALAR};
    }
    h->k->copies = told;
    h->k->n_copies = (uint32_t)h->n_copies;
}

/* --- moving ---------------------------------------------------------------- */

/* A function of the copies that move in, or out, in their order. */
static LLVMValueRef make_phase(hoister *h, bool in)
{
    LLVMModuleRef m = LLVMGetGlobalParent(h->fn);
    LLVMContextRef c = LLVMGetModuleContext(m);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(c);
    unsigned n_params = LLVMCountParams(h->fn);
    size_t n;
    LLVMValueRef fn = LLVMAddFunction(
        m,
        arena_printf(h->a, "%s.%s", LLVMGetValueName2(h->fn, &n),
                     sim_variant_name(in ? SIM_PRELOAD : SIM_POSTWRITE)),
        LLVMGlobalGetValueType(h->fn));
    ir_map map;

    LLVMSetFunctionCallConv(fn, LLVMGetFunctionCallConv(h->fn));
    ir_copy_param_attrs(h->fn, fn, n_params);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(c, fn, ""));
    ir_map_init(&map, h->a);
    for (unsigned k = 0; k < n_params; k++)
        ir_map_set(&map, LLVMGetParam(h->fn, k), LLVMGetParam(fn, k));
    for (size_t i = 0; i < h->n_copies; i++) {
        const copy *x = &h->copies[i];
        slice s;

        if (!x->moves || x->in != in)
            continue;
        s = slice_of(h, x);
        for (size_t k = 0; k < s.n; k++)
            if (!ir_map_get(&map, s.list[k]))
                ir_map_set(&map, s.list[k], ir_clone(b, s.list[k], &map));
        /* A phase ends when all its copies have ended. */
        LLVMSetOperand(ir_clone(b, x->call, &map), SIM_DMA_EVENT,
                       LLVMConstInt(LLVMInt32TypeInContext(c), 0, false));
    }
    LLVMBuildRetVoid(b);
    LLVMDisposeBuilder(b);
    return fn;
}

static bool is_seen(const hoister *h, const region *r)
{
    each_in(h, r, i)
    {
        const copy *other = copy_of(h, i);
        access x;

        if (ir_call_id(i) == CALL_printf ||
            (!(other && other->moves) && accesses(h, i, &x)))
            return true;
    }
    return false;
}

/* Copies and waits are barriers, too: of use where items have touched memory,
 * or printed, before and do so behind. */
static bool is_barrier(const hoister *h, LLVMValueRef call)
{
    region before = region_of(h, call, true),
           behind = region_of(h, call, false);

    return !happens_once(h, call) ||
           (is_seen(h, &before) && is_seen(h, &behind));
}

static bool is_over(const hoister *h, LLVMValueRef i)
{
    const copy *c = copy_of(h, i);

    return (c && c->moves) ||
           (ir_call_id(i) == CALL_wait &&
            waits_in_vain(h, LLVMGetOperand(i, 0), MAX_DEPTH));
}

/* The copies that move, and waits for nothing else, go; what waits for such a
 * copy and for others waits for what it had joined. All is looked at before
 * anything goes. */
static void remove_moved(hoister *h)
{
    LLVMModuleRef m = LLVMGetGlobalParent(h->fn);
    LLVMContextRef c = LLVMGetModuleContext(m);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(c);
    const ir_call barrier = {.id = CALL_barrier,
                             .ret = LLVMVoidTypeInContext(c)};
    LLVMValueRef *over = NULL;
    size_t n = 0, cap = 0;

    ir_each_block(block, h->fn)
        ir_each_inst(i, block)
            if (is_over(h, i))
                *arena_append(h->a, over, n, cap) = i;
    for (size_t k = 0; k < n; k++)
        if (is_barrier(h, over[k])) {
            LLVMPositionBuilderBefore(b, over[k]);
            ir_build_call(b, m, &barrier);
        }
    for (size_t k = 0; k < n; k++) {
        if (copy_of(h, over[k]))
            LLVMReplaceAllUsesWith(over[k],
                                   LLVMGetOperand(over[k], SIM_DMA_EVENT));
        LLVMInstructionEraseFromParent(over[k]);
    }
    LLVMDisposeBuilder(b);
}

static void note_array(hoister *h, LLVMValueRef array, hoist_result *out)
{
    for (uint32_t i = 0; i < h->k->n_args; i++)
        if (LLVMGetParam(h->fn, i) == array)
            h->k->args[i].twice = true;
    for (uint32_t i = 0; i < out->n_arrays; i++)
        if (out->arrays[i] == array)
            return;
    if (LLVMIsAGlobalVariable(array))
        out->arrays[out->n_arrays++] = array;
}

static void move(hoister *h, LLVMValueRef *fns, hoist_result *out)
{
    bool in = false, outward = false;

    out->arrays = arena_array(h->a, LLVMValueRef, h->n_copies + 1);
    for (size_t i = 0; i < h->n_copies; i++)
        if (h->copies[i].moves) {
            in |= h->copies[i].in;
            outward |= !h->copies[i].in;
            note_array(h, h->copies[i].array, out);
        }
    if (in)
        fns[SIM_PRELOAD] = make_phase(h, true);
    if (outward)
        fns[SIM_POSTWRITE] = make_phase(h, false);
    h->k->hoisted = in || outward;
    if (h->k->hoisted)
        remove_moved(h);
}

void hoist(LLVMValueRef *fns, arena *a, sim_kernel *k, hoist_result *out)
{
    hoister h = {.fn = fns[SIM_SCALAR], .a = a, .k = k};
    bool companions = fns[SIM_PRELOAD] || fns[SIM_POSTWRITE];

    *out = (hoist_result){.n_arrays = 0};
    ir_cfg_build(&h.cfg, h.fn, a);
    find_copies(&h);
    for (size_t i = 0; i < h.n_copies && companions; i++)
        h.copies[i].told->why =
            "the kernel has a preload or postwrite function in its source";
    if (companions || !h.n_copies)
        return;
    decide(&h);
    move(&h, fns, out);
}
