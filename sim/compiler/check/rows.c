/* Which loops have rows, and their two other forms; see rows.h. */
#include "sim/compiler/check/rows.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <string.h>

#include "sim/ir/ir.h"

/* Fewer items are as fast one by one. Of a loop there will be two more forms.
 * Longer accesses than these always call (sim/compiler/host/check.c). */
enum {
    LEAST_ITEMS = 32,
    MOST_ITEMS = 1 << 20,
    MAX_SIZE = 1024,
    MAX_BYTES = 64
};

/* What a value is of the next item: `by` more, or nobody knows. Addresses have
 * 32 bits and begin again behind the last, so sums do. */
typedef struct {
    enum { STEP_OPEN, STEP_KNOWN, STEP_VARIES } how;
    uint32_t by;
} step;

typedef struct {
    arena *a;
    LLVMModuleRef m;
    LLVMTargetDataRef td;
    LLVMBuilderRef b;
    LLVMTypeRef i32;
    const sim_sites *sites;
    ir_cfg cfg;
    ir_word *in;     /* blocks of the loop */
    uint32_t *order; /* the same, definitions before uses */
    uint32_t n;
    LLVMBasicBlockRef before, header, latch, exit;
    LLVMValueRef item; /* the call check_item */
    LLVMValueRef lid, bound;
    ir_map steps;  /* instruction -> its step */
    ir_map needed; /* instructions that addresses and ways hang on */
} loop;

static bool inside(const loop *l, LLVMValueRef v)
{
    return LLVMIsAInstruction(v) &&
           ir_bit(l->in, ir_cfg_number(&l->cfg, LLVMGetInstructionParent(v)));
}

/* --- the loop ------------------------------------------------------------ */

/* Blocks from which the latch is reached without passing the header. */
static bool find_blocks(loop *l)
{
    uint32_t n = l->cfg.n_blocks, top = 0, *stack;
    uint32_t header = ir_cfg_number(&l->cfg, l->header);
    uint32_t latch = ir_cfg_number(&l->cfg, l->latch);

    stack = arena_array(l->a, uint32_t, n + 1);
    l->in = ir_bits(l->a, n);
    ir_bit_set(l->in, header);
    if (latch != header)
        stack[top++] = latch;
    ir_bit_set(l->in, latch);
    while (top) {
        const uint32_t *p = l->cfg.preds[stack[--top]];

        if (!p[0])
            return false;
        for (uint32_t k = 1; k <= p[0]; k++)
            if (!ir_bit(l->in, p[k])) {
                ir_bit_set(l->in, p[k]);
                stack[top++] = p[k];
            }
    }
    return true;
}

static void order_blocks(loop *l)
{
    uint32_t *all = arena_array(l->a, uint32_t, l->cfg.n_blocks);
    ir_word *seen = ir_bits(l->a, l->cfg.n_blocks);
    uint32_t n = ir_post_order(&l->cfg, all, seen);

    l->order = arena_array(l->a, uint32_t, l->cfg.n_blocks);
    while (n-- > 0)
        if (ir_bit(l->in, all[n]))
            l->order[l->n++] = all[n];
}

/* Goes round while lid + 1 < bound. */
static bool find_count(loop *l)
{
    LLVMValueRef br = LLVMGetBasicBlockTerminator(l->latch), cmp, next, one;

    if (!LLVMIsABranchInst(br) || !LLVMIsConditional(br) ||
        LLVMGetSuccessor(br, 0) != l->header)
        return false;
    l->exit = LLVMGetSuccessor(br, 1);
    cmp = LLVMGetCondition(br);
    if (!LLVMIsAICmpInst(cmp) || LLVMGetICmpPredicate(cmp) != LLVMIntULT)
        return false;
    next = LLVMGetOperand(cmp, 0);
    l->bound = LLVMGetOperand(cmp, 1);
    if (LLVMTypeOf(next) != l->i32 || !LLVMIsAInstruction(next) ||
        LLVMGetInstructionOpcode(next) != LLVMAdd || inside(l, l->bound))
        return false;
    l->lid = LLVMGetOperand(next, 0);
    one = LLVMGetOperand(next, 1);
    return LLVMIsAPHINode(l->lid) &&
           LLVMGetInstructionParent(l->lid) == l->header &&
           ir_incoming_from(l->lid, l->latch) == next &&
           LLVMIsAConstantInt(one) && LLVMConstIntGetZExtValue(one) == 1;
}

/* The loop that begins with telling of its item; false: another form. */
static bool find_loop(loop *l, LLVMValueRef item)
{
    const uint32_t *preds;
    LLVMValueRef number = LLVMGetOperand(item, 0);

    l->item = item;
    l->header = LLVMGetInstructionParent(item);
    preds = l->cfg.preds[ir_cfg_number(&l->cfg, l->header)];
    if (preds[0] != 2 || !LLVMIsAPHINode(number) ||
        LLVMGetInstructionParent(number) != l->header)
        return false;
    for (unsigned k = 1; k <= 2; k++) {
        l->latch = l->cfg.blocks[preds[k]];
        l->before = l->cfg.blocks[preds[3 - k]];
        l->in = ir_bits(l->a, l->cfg.n_blocks);
        if (find_count(l) && find_blocks(l) &&
            !ir_bit(l->in, ir_cfg_number(&l->cfg, l->before)) &&
            !ir_bit(l->in, ir_cfg_number(&l->cfg, l->exit))) {
            order_blocks(l);
            return l->cfg.blocks[l->order[0]] == l->header;
        }
    }
    return false;
}

/* --- steps --------------------------------------------------------------- */

static const step varies = {STEP_VARIES, 0};

static step known(uint32_t by)
{
    return (step){STEP_KNOWN, by};
}

static step step_of(const loop *l, LLVMValueRef v)
{
    const step *s;

    if (LLVMIsUndef(v) || LLVMIsPoison(v))
        return varies;
    if (!inside(l, v))
        return known(0);
    s = ir_map_get(&l->steps, v);
    return s ? *s : (step){STEP_OPEN, 0};
}

static bool is_same(step s)
{
    return s.how == STEP_KNOWN && !s.by;
}

static step times(step s, uint32_t n)
{
    return s.how == STEP_KNOWN ? known(s.by * n) : s;
}

static step plus(step s, step t)
{
    if (s.how == STEP_VARIES || t.how == STEP_VARIES)
        return varies;
    if (s.how == STEP_OPEN || t.how == STEP_OPEN)
        return (step){STEP_OPEN, 0};
    return known(s.by + t.by);
}

/* On either way. */
static step meet(step s, step t)
{
    if (s.how == STEP_OPEN)
        return t;
    if (t.how == STEP_OPEN)
        return s;
    return s.how == STEP_KNOWN && t.how == STEP_KNOWN && s.by == t.by ? s
                                                                      : varies;
}

/* What items add up on their way is no step, but for a number that counts them.
 */
static step step_of_header(const loop *l, LLVMValueRef phi)
{
    LLVMValueRef next = ir_incoming_from(phi, l->latch);

    if (next == phi)
        return known(0);
    if (LLVMTypeOf(phi) == l->i32 && LLVMIsAInstruction(next) &&
        LLVMGetInstructionOpcode(next) == LLVMAdd &&
        LLVMGetOperand(next, 0) == phi &&
        LLVMIsAConstantInt(LLVMGetOperand(next, 1)))
        return known(
            (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(next, 1)));
    return varies;
}

static step step_of_phi(const loop *l, LLVMValueRef phi)
{
    step s = {STEP_OPEN, 0};

    if (LLVMGetInstructionParent(phi) == l->header)
        return step_of_header(l, phi);
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
        s = meet(s, step_of(l, LLVMGetIncomingValue(phi, k)));
    return s;
}

/* Computed from operands that are the same for all items. */
static step step_of_same(const loop *l, LLVMValueRef i)
{
    bool open = false;

    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        step s = step_of(l, LLVMGetOperand(i, (unsigned)k));

        if (s.how == STEP_OPEN)
            open = true;
        else if (!is_same(s))
            return varies;
    }
    return open ? (step){STEP_OPEN, 0} : known(0);
}

static step step_of_product(const loop *l, LLVMValueRef i, bool shift)
{
    LLVMValueRef x = LLVMGetOperand(i, 0), y = LLVMGetOperand(i, 1);

    if (LLVMTypeOf(i) == l->i32 && LLVMIsAConstantInt(y)) {
        uint64_t n = LLVMConstIntGetZExtValue(y);

        if (!shift || n < 32)
            return times(step_of(l, x), shift ? 1u << n : (uint32_t)n);
    }
    return step_of_same(l, i);
}

static step step_of_element(const loop *l, LLVMValueRef i)
{
    LLVMTypeRef t = LLVMGetGEPSourceElementType(i);
    step s = step_of(l, LLVMGetOperand(i, 0));

    if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMPointerTypeKind)
        return varies;
    for (int k = 1; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef n = LLVMGetOperand(i, (unsigned)k);
        step by = step_of(l, n);

        if (k > 1 && LLVMGetTypeKind(t) == LLVMStructTypeKind) {
            t = LLVMStructGetTypeAtIndex(t,
                                         (unsigned)LLVMConstIntGetZExtValue(n));
            continue; /* a constant */
        }
        if (k > 1)
            t = LLVMGetElementType(t);
        if (by.how == STEP_KNOWN && by.by && LLVMTypeOf(n) != l->i32)
            return varies;
        s = plus(s, times(by, (uint32_t)LLVMABISizeOfType(l->td, t)));
    }
    return s;
}

static step step_of_sum(const loop *l, LLVMValueRef i, bool minus)
{
    step x = step_of(l, LLVMGetOperand(i, 0));
    step y = step_of(l, LLVMGetOperand(i, 1));

    if (LLVMTypeOf(i) != l->i32)
        return step_of_same(l, i);
    return plus(x, minus ? times(y, UINT32_MAX) : y);
}

static step find_step(const loop *l, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMPHI:
        return step_of_phi(l, i);
    case LLVMAdd:
        return step_of_sum(l, i, false);
    case LLVMSub:
        return step_of_sum(l, i, true);
    case LLVMMul:
        return step_of_product(l, i, false);
    case LLVMShl:
        return step_of_product(l, i, true);
    case LLVMGetElementPtr:
        return step_of_element(l, i);
    case LLVMCall: /* it gives the address it is asked about */
        return call_is_access(ir_call_id(i)) ? step_of(l, LLVMGetOperand(i, 1))
                                             : varies;
    case LLVMLoad:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMAlloca:
    case LLVMFreeze:
        return varies;
    default:
        return step_of_same(l, i);
    }
}

/* Steps become less and less known until nothing changes. */
static void find_steps(loop *l)
{
    bool changed = true;

    ir_map_init(&l->steps, l->a);
    while (changed) {
        changed = false;
        for (uint32_t k = 0; k < l->n; k++)
            ir_each_inst(i, l->cfg.blocks[l->order[k]]) {
                step *was = ir_map_get(&l->steps, i), s = find_step(l, i);

                if (!was) {
                    was = arena_new(l->a, step);
                    ir_map_set(&l->steps, i, was);
                }
                if (was->how == s.how && was->by == s.by)
                    continue;
                *was = was->how == STEP_OPEN ? s : varies;
                changed = true;
            }
    }
}

/* --- what may be in a loop ----------------------------------------------- */

static const sim_site *site_of(const loop *l, LLVMValueRef access)
{
    LLVMValueRef n = LLVMGetOperand(access, 0);

    return &l->sites->sites[LLVMConstIntGetZExtValue(n)];
}

/* An access that a row may tell of: of memory whose words do not matter, or a
 * store to a buffer of one element behind the other. */
static bool has_row(const loop *l, LLVMValueRef access)
{
    const sim_site *s = site_of(l, access);
    const sim_object *o = &l->sites->objects[s->object];
    step at = step_of(l, LLVMGetOperand(access, 1));

    if (at.how != STEP_KNOWN || !is_same(step_of(l, LLVMGetOperand(access, 2))))
        return false;
    if (s->bytes > MAX_BYTES || o->kind != SIM_MEM_ARG || o->local)
        return false;
    if (s->kind == SITE_STORE)
        return at.by == s->bytes && !(s->bytes & (s->bytes - 1));
    return s->kind == SITE_LOAD && !o->written;
}

/* Of a call that is no access: is it the same in a loop without checks, and
 * nothing to the first item's rows? */
static bool may_call(const loop *l, LLVMValueRef i)
{
    switch (ir_call_id(i)) {
    case CALL_check_item:
        return i == l->item;
    case CALL_check_if:
    case CALL_check_at:
    case CALL_undef:
        return true;
    case CALL_NONE:
        return !strncmp(ir_callee(i), "llvm.", 5) &&
               strncmp(ir_callee(i), "llvm.mem", 8) != 0;
    default:
        return call_code(ir_call_id(i)) != NULL;
    }
}

/* All items leave the block by the same way, which is in the loop. */
static bool keeps_together(const loop *l, LLVMBasicBlockRef b)
{
    LLVMValueRef t = LLVMGetBasicBlockTerminator(b);

    if (b == l->latch)
        return true;
    if (!LLVMIsABranchInst(t) && !LLVMIsASwitchInst(t))
        return false;
    for (unsigned k = 0; k < LLVMGetNumSuccessors(t); k++)
        if (!ir_bit(l->in, ir_cfg_number(&l->cfg, LLVMGetSuccessor(t, k))))
            return false;
    return LLVMGetNumSuccessors(t) == 1 ||
           is_same(step_of(l, LLVMGetOperand(t, 0)));
}

static bool has_rows(const loop *l)
{
    unsigned size = 0, rows = 0;

    for (uint32_t k = 0; k < l->n; k++) {
        LLVMBasicBlockRef b = l->cfg.blocks[l->order[k]];

        if (!keeps_together(l, b))
            return false;
        ir_each_inst(i, b) {
            if (++size > MAX_SIZE)
                return false;
            if (!LLVMIsACallInst(i))
                continue;
            if (call_is_access(ir_call_id(i))) {
                if (!has_row(l, i))
                    return false;
                rows++;
            } else if (!may_call(l, i)) {
                return false;
            }
        }
    }
    return rows > 0;
}

/* --- what the first item's rows hang on ---------------------------------- */

static void need(loop *l, LLVMValueRef v)
{
    if (!inside(l, v) || ir_map_get(&l->needed, v))
        return;
    ir_map_set(&l->needed, v, v);
    if (call_is_access(ir_call_id(v))) {
        need(l, LLVMGetOperand(v, 1));
        return;
    }
    if (LLVMIsAPHINode(v) && LLVMGetInstructionParent(v) == l->header)
        return; /* what it is at first is from outside */
    for (int k = 0; k < LLVMGetNumOperands(v); k++)
        need(l, LLVMGetOperand(v, (unsigned)k));
}

static void find_needed(loop *l)
{
    ir_map_init(&l->needed, l->a);
    for (uint32_t k = 0; k < l->n; k++) {
        LLVMBasicBlockRef b = l->cfg.blocks[l->order[k]];
        LLVMValueRef t = LLVMGetBasicBlockTerminator(b);

        if (b != l->latch && LLVMGetNumSuccessors(t) > 1)
            need(l, LLVMGetOperand(t, 0));
        ir_each_inst(i, b)
            if (call_is_access(ir_call_id(i))) {
                need(l, LLVMGetOperand(i, 1));
                need(l, LLVMGetOperand(i, 2));
            }
    }
}

/* --- the other forms ----------------------------------------------------- */

/* A copy of the loop's blocks. */
typedef struct {
    ir_map map;               /* values, and blocks */
    bool first;               /* the first item's rows, else without checks */
    LLVMBasicBlockRef before; /* the header comes behind it */
    LLVMBasicBlockRef after;  /* behind the latch */
} copy;

static LLVMBasicBlockRef add_block(const loop *l, const char *name)
{
    LLVMValueRef fn = LLVMGetBasicBlockParent(l->header);

    return LLVMAppendBasicBlockInContext(LLVMGetModuleContext(l->m), fn, name);
}

static LLVMValueRef k32(const loop *l, uint32_t n)
{
    return LLVMConstInt(l->i32, n, false);
}

static LLVMValueRef tell(const loop *l, const ir_call *what)
{
    return ir_build_call(l->b, l->m, what);
}

static void tell_row(const loop *l, const copy *c, LLVMValueRef access)
{
    LLVMValueRef at = ir_mapped(&c->map, LLVMGetOperand(access, 1));
    LLVMValueRef root = ir_mapped(&c->map, LLVMGetOperand(access, 2));
    LLVMTypeRef none = LLVMVoidTypeInContext(LLVMGetModuleContext(l->m));
    LLVMValueRef args[4] = {LLVMGetOperand(access, 0),
                            LLVMBuildPtrToInt(l->b, at, l->i32, ""),
                            LLVMBuildPtrToInt(l->b, root, l->i32, ""),
                            k32(l, step_of(l, LLVMGetOperand(access, 1)).by)};

    tell(l, &(const ir_call){CALL_check_row, none, args, 4});
}

static void copy_inst(const loop *l, copy *c, LLVMValueRef i)
{
    bool at_header = LLVMGetInstructionParent(i) == l->header;

    if (call_is_access(ir_call_id(i))) {
        if (c->first)
            tell_row(l, c, i);
        ir_map_set(&c->map, i, ir_mapped(&c->map, LLVMGetOperand(i, 1)));
        return;
    }
    if (c->first && !ir_map_get(&l->needed, i))
        return;
    if (c->first && at_header && LLVMIsAPHINode(i))
        ir_map_set(&c->map, i, ir_incoming_from(i, l->before));
    else if (LLVMIsAPHINode(i))
        ir_map_set(&c->map, i, LLVMBuildPhi(l->b, LLVMTypeOf(i), ""));
    else
        ir_map_set(&c->map, i, ir_clone(l->b, i, &c->map));
}

static LLVMBasicBlockRef block_of(const copy *c, LLVMBasicBlockRef b)
{
    return ir_map_get(&c->map, b);
}

static void copy_end(const loop *l, copy *c, LLVMBasicBlockRef b)
{
    LLVMValueRef t = LLVMGetBasicBlockTerminator(b), to;

    if (c->first && b == l->latch) {
        LLVMBuildBr(l->b, c->after);
        return;
    }
    to = LLVMInstructionClone(t);
    LLVMInsertIntoBuilder(l->b, to);
    LLVMInstructionSetDebugLoc(to, LLVMInstructionGetDebugLoc(t));
    if (LLVMGetNumSuccessors(t) > 1)
        LLVMSetOperand(to, 0, ir_mapped(&c->map, LLVMGetOperand(t, 0)));
    for (unsigned k = 0; k < LLVMGetNumSuccessors(t); k++) {
        LLVMBasicBlockRef next = block_of(c, LLVMGetSuccessor(t, k));

        LLVMSetSuccessor(to, k, next ? next : c->after);
    }
}

static void fill_phis(const loop *l, const copy *c, LLVMBasicBlockRef b)
{
    ir_each_inst(i, b) {
        LLVMValueRef to = ir_map_get(&c->map, i);

        if (!LLVMIsAPHINode(i))
            return;
        if (!to || (c->first && b == l->header))
            continue;
        for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
            LLVMValueRef v = ir_mapped(&c->map, LLVMGetIncomingValue(i, k));
            LLVMBasicBlockRef from = block_of(c, LLVMGetIncomingBlock(i, k));

            from = from ? from : c->before;
            LLVMAddIncoming(to, &v, &from, 1);
        }
    }
}

static void copy_loop(const loop *l, copy *c)
{
    ir_map_init(&c->map, l->a);
    for (uint32_t k = 0; k < l->n; k++)
        ir_map_set(&c->map, l->cfg.blocks[l->order[k]],
                   add_block(l, c->first ? "row" : "unchecked"));
    for (uint32_t k = 0; k < l->n; k++) {
        LLVMBasicBlockRef b = l->cfg.blocks[l->order[k]];

        LLVMPositionBuilderAtEnd(l->b, block_of(c, b));
        ir_each_inst(i, b)
            if (!LLVMIsATerminatorInst(i))
                copy_inst(l, c, i);
        copy_end(l, c, b);
    }
    for (uint32_t k = 0; k < l->n; k++)
        fill_phis(l, c, l->cfg.blocks[l->order[k]]);
    LLVMPositionBuilderAtEnd(l->b, c->before);
    LLVMBuildBr(l->b, block_of(c, l->header));
}

/* --- around them --------------------------------------------------------- */

/* What the block's phis get from one block they get from another. */
static void move_incoming(const loop *l, LLVMBasicBlockRef b,
                          LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
    LLVMValueRef i = LLVMGetFirstInstruction(b), next;

    for (; LLVMIsAPHINode(i); i = next) {
        LLVMValueRef phi;

        next = LLVMGetNextInstruction(i);
        LLVMPositionBuilderBefore(l->b, i);
        phi = LLVMBuildPhi(l->b, LLVMTypeOf(i), "");
        for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
            LLVMValueRef v = LLVMGetIncomingValue(i, k);
            LLVMBasicBlockRef at = LLVMGetIncomingBlock(i, k);

            v = v == i ? phi : v;
            at = at == from ? to : at;
            LLVMAddIncoming(phi, &v, &at, 1);
        }
        LLVMReplaceAllUsesWith(i, phi);
        LLVMInstructionEraseFromParent(i);
    }
}

static void redirect(LLVMBasicBlockRef b, LLVMBasicBlockRef from,
                     LLVMBasicBlockRef to)
{
    LLVMValueRef t = LLVMGetBasicBlockTerminator(b);

    for (unsigned k = 0; k < LLVMGetNumSuccessors(t); k++)
        if (LLVMGetSuccessor(t, k) == from)
            LLVMSetSuccessor(t, k, to);
}

/* Uses of i outside the loop and its copies become uses of phi. */
static void replace_outside(const loop *l, LLVMValueRef i, LLVMValueRef phi,
                            const ir_map *old)
{
    LLVMValueRef *users = NULL;
    size_t n = 0, cap = 0;

    for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);

        if (user != phi && !inside(l, user) &&
            ir_map_get(old, LLVMGetInstructionParent(user)))
            *arena_append(l->a, users, n, cap) = user;
    }
    for (size_t k = 0; k < n; k++)
        for (int o = 0; o < LLVMGetNumOperands(users[k]); o++)
            if (LLVMGetOperand(users[k], (unsigned)o) == i)
                LLVMSetOperand(users[k], (unsigned)o, phi);
}

static bool is_used_outside(const loop *l, LLVMValueRef i, const ir_map *old)
{
    for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u))
        if (!inside(l, LLVMGetUser(u)) &&
            ir_map_get(old, LLVMGetInstructionParent(LLVMGetUser(u))))
            return true;
    return false;
}

/* Both loops come together in front of the exit. */
static void join(loop *l, const copy *c, LLVMBasicBlockRef at,
                 const ir_map *old)
{
    LLVMBasicBlockRef from[2] = {l->latch, block_of(c, l->latch)};

    for (uint32_t k = 0; k < l->n; k++)
        ir_each_inst(i, l->cfg.blocks[l->order[k]]) {
            LLVMValueRef v[2] = {i, ir_map_get(&c->map, i)}, phi;

            if (!is_used_outside(l, i, old))
                continue;
            LLVMPositionBuilderAtEnd(l->b, at);
            phi = LLVMBuildPhi(l->b, LLVMTypeOf(i), "");
            LLVMAddIncoming(phi, v, from, 2);
            replace_outside(l, i, phi, old);
        }
    LLVMPositionBuilderAtEnd(l->b, at);
    LLVMBuildBr(l->b, l->exit);
    redirect(l->latch, l->exit, at);
    move_incoming(l, l->exit, l->latch, at);
}

/* In `ask`: enough items, and are there to be rows? */
static void build_ask(loop *l, LLVMBasicBlockRef ask, LLVMBasicBlockRef yes,
                      LLVMBasicBlockRef no)
{
    LLVMBasicBlockRef call = add_block(l, "ask");
    LLVMValueRef number = LLVMGetOperand(l->item, 0), args[2], some;

    LLVMPositionBuilderAtEnd(l->b, ask);
    args[0] =
        LLVMBuildSub(l->b, l->bound, ir_incoming_from(l->lid, l->before), "");
    args[1] = ir_incoming_from(number, l->before);
    some = LLVMBuildICmp(l->b, LLVMIntULT,
                         LLVMBuildSub(l->b, args[0], k32(l, LEAST_ITEMS), ""),
                         k32(l, MOST_ITEMS - LEAST_ITEMS), "");
    LLVMBuildCondBr(l->b, some, call, no);
    LLVMPositionBuilderAtEnd(l->b, call);
    some = tell(l, &(const ir_call){CALL_check_ask, l->i32, args, 2});
    some = LLVMBuildICmp(l->b, LLVMIntNE, some, k32(l, 0), "");
    LLVMBuildCondBr(l->b, some, yes, no);
}

static void add_forms(loop *l)
{
    LLVMBasicBlockRef ask, slow, told;
    copy first = {.first = true}, fast = {.first = false};
    LLVMValueRef ok;
    ir_map old;

    ir_map_init(&old, l->a);
    for (uint32_t k = 0; k < l->cfg.n_blocks; k++)
        ir_map_set(&old, l->cfg.blocks[k], l);
    ask = add_block(l, "ask");
    slow = add_block(l, "checked");
    told = add_block(l, "rows");
    first.before = add_block(l, "first");
    first.after = told;
    fast.before = add_block(l, "free");
    fast.after = add_block(l, "join");
    build_ask(l, ask, first.before, slow);
    copy_loop(l, &first);
    copy_loop(l, &fast);
    LLVMPositionBuilderAtEnd(l->b, told);
    ok = tell(l, &(const ir_call){CALL_check_rows, l->i32, NULL, 0});
    ok = LLVMBuildICmp(l->b, LLVMIntNE, ok, k32(l, 0), "");
    LLVMBuildCondBr(l->b, ok, fast.before, slow);
    join(l, &fast, fast.after, &old);
    redirect(l->before, l->header, ask);
    LLVMPositionBuilderAtEnd(l->b, slow);
    LLVMBuildBr(l->b, l->header);
    move_incoming(l, l->header, l->before, slow);
}

void rows_find(LLVMValueRef fn, const sim_sites *sites, arena *a)
{
    LLVMModuleRef m = LLVMGetGlobalParent(fn);
    LLVMContextRef c = LLVMGetModuleContext(m);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(c);
    LLVMValueRef *items = NULL;
    size_t n = 0, cap = 0;

    ir_each_block(block, fn)
        ir_each_inst(i, block)
            if (ir_call_id(i) == CALL_check_item)
                *arena_append(a, items, n, cap) = i;
    for (size_t k = 0; k < n; k++) {
        loop l = {.a = a,
                  .m = m,
                  .td = LLVMGetModuleDataLayout(m),
                  .b = b,
                  .i32 = LLVMInt32TypeInContext(c),
                  .sites = sites};

        ir_cfg_build(&l.cfg, fn, a);
        if (!find_loop(&l, items[k]))
            continue;
        find_steps(&l);
        if (!has_rows(&l))
            continue;
        find_needed(&l);
        add_forms(&l);
    }
    LLVMDisposeBuilder(b);
}
