/* Which loops have rows, and their two other forms; see rows.h. */
#include "sim/compiler/check/rows.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <string.h>

#include "sim/compiler/check/wide.h"
#include "sim/ir/ir.h"

/* Of a loop there will be two more forms, of loops of so many instructions in
 * all. Longer accesses than these always call (sim/compiler/host/check.c). */
enum { MAX_SIZE = 1024, MAX_BYTES = 64, LEVELS = 3 };

/* What a value is of the next item in each direction: so much more, or nobody
 * knows. Addresses have 32 bits and begin again behind the last, so sums do. */
typedef struct {
    enum { STEP_OPEN, STEP_KNOWN, STEP_VARIES } how;
    uint32_t by[LEVELS];
} step;

/* A loop over the items of one direction. */
typedef struct {
    LLVMBasicBlockRef before, header, latch, exit;
    LLVMValueRef lid, bound; /* lid + 1 < bound: there is a next one */
    LLVMValueRef number;     /* of the item, among all */
    ir_word *in;             /* its blocks */
} level;

/* Loops in one another, the innermost first; items are in that alone. */
typedef struct {
    arena *a;
    LLVMModuleRef m;
    LLVMTargetDataRef td;
    LLVMBuilderRef b;
    LLVMTypeRef i32;
    const sim_sites *sites;
    ir_cfg cfg;
    LLVMValueRef item; /* the call check_item */
    level levels[LEVELS];
    unsigned n_levels;
    ir_word *in;     /* blocks of the outermost */
    uint32_t *order; /* the same, definitions before uses */
    uint32_t n;
    ir_map steps;        /* instruction -> its step */
    ir_map needed;       /* instructions that addresses and ways hang on */
    unsigned size, room; /* instructions in it; it may have */
} loop;

static bool inside(const loop *l, LLVMValueRef v)
{
    return LLVMIsAInstruction(v) &&
           ir_bit(l->in, ir_cfg_number(&l->cfg, LLVMGetInstructionParent(v)));
}

static const level *outermost(const loop *l)
{
    return &l->levels[l->n_levels - 1];
}

/* --- the loops ----------------------------------------------------------- */

static bool find_blocks(loop *l, level *v)
{
    v->in = ir_loop_blocks(&l->cfg, ir_cfg_number(&l->cfg, v->header),
                           ir_cfg_number(&l->cfg, v->latch), l->a);
    return v->in && !ir_bit(v->in, ir_cfg_number(&l->cfg, v->before)) &&
           !ir_bit(v->in, ir_cfg_number(&l->cfg, v->exit));
}

static bool is_phi_of(LLVMValueRef v, LLVMBasicBlockRef header)
{
    return LLVMIsAPHINode(v) && LLVMGetInstructionParent(v) == header;
}

/* Goes round while lid + 1 < bound. */
static bool find_count(loop *l, level *v)
{
    LLVMValueRef br = LLVMGetBasicBlockTerminator(v->latch), cmp, next;

    if (!LLVMIsABranchInst(br) || !LLVMIsConditional(br) ||
        LLVMGetSuccessor(br, 0) != v->header)
        return false;
    v->exit = LLVMGetSuccessor(br, 1);
    cmp = LLVMGetCondition(br);
    if (!LLVMIsAICmpInst(cmp) || LLVMGetICmpPredicate(cmp) != LLVMIntULT)
        return false;
    next = LLVMGetOperand(cmp, 0);
    v->bound = LLVMGetOperand(cmp, 1);
    if (LLVMTypeOf(next) != l->i32 || !LLVMIsABinaryOperator(next))
        return false;
    v->lid = LLVMGetOperand(next, 0);
    return is_phi_of(v->lid, v->header) && ir_counts_up(v->lid, v->latch, next);
}

/* The loop over items with this header. */
static bool find_level(loop *l, LLVMBasicBlockRef header, level *v)
{
    const uint32_t *preds = l->cfg.preds[ir_cfg_number(&l->cfg, header)];

    for (unsigned k = 1; k <= 2 && preds[0] == 2; k++) {
        *v = (level){.header = header,
                     .latch = l->cfg.blocks[preds[k]],
                     .before = l->cfg.blocks[preds[3 - k]]};
        if (find_count(l, v) && find_blocks(l, v))
            return true;
    }
    return false;
}

/* The loop that begins with telling of its item; false: another form. */
static bool find_innermost(loop *l)
{
    level *v = &l->levels[0];
    LLVMValueRef number = LLVMGetOperand(l->item, 0);

    if (!find_level(l, LLVMGetInstructionParent(l->item), v) ||
        !is_phi_of(number, v->header) ||
        !ir_counts_up(number, v->latch, ir_incoming_from(number, v->latch)))
        return false;
    v->number = number;
    l->n_levels = 1;
    return true;
}

/* The next one around them, in which items are numbered on. */
static bool find_next(loop *l)
{
    const level *in = outermost(l);
    level v;

    if (l->n_levels == LEVELS || !find_level(l, in->before, &v) ||
        !ir_bit(v.in, ir_cfg_number(&l->cfg, in->exit)))
        return false;
    v.number = ir_incoming_from(in->number, in->before);
    if (!is_phi_of(v.number, v.header) ||
        ir_incoming_from(v.number, v.latch) !=
            ir_incoming_from(l->levels[0].number, l->levels[0].latch))
        return false;
    l->levels[l->n_levels++] = v;
    return true;
}

/* False: how many items there are is not known in front of the outermost. */
static bool order_blocks(loop *l)
{
    uint32_t *all = arena_array(l->a, uint32_t, l->cfg.n_blocks);
    ir_word *seen = ir_bits(l->a, l->cfg.n_blocks);
    uint32_t n = ir_post_order(&l->cfg, all, seen);

    l->in = outermost(l)->in;
    l->order = arena_array(l->a, uint32_t, l->cfg.n_blocks);
    l->n = 0;
    while (n-- > 0)
        if (ir_bit(l->in, all[n]))
            l->order[l->n++] = all[n];
    for (unsigned k = 0; k < l->n_levels; k++)
        if (inside(l, l->levels[k].bound) ||
            inside(l, ir_incoming_from(l->levels[k].lid, l->levels[k].before)))
            return false;
    return l->cfg.blocks[l->order[0]] == outermost(l)->header;
}

/* How many of the loops, from the innermost on, i is not in. */
static unsigned depth_of(const loop *l, LLVMValueRef i)
{
    uint32_t b = ir_cfg_number(&l->cfg, LLVMGetInstructionParent(i));
    unsigned k = 0;

    while (!ir_bit(l->levels[k].in, b))
        k++;
    return k;
}

/* The loop whose header, or latch, the block is; or NULL. */
static const level *headed(const loop *l, LLVMBasicBlockRef b)
{
    for (unsigned k = 0; k < l->n_levels; k++)
        if (l->levels[k].header == b)
            return &l->levels[k];
    return NULL;
}

static const level *latched(const loop *l, LLVMBasicBlockRef b)
{
    for (unsigned k = 0; k < l->n_levels; k++)
        if (l->levels[k].latch == b)
            return &l->levels[k];
    return NULL;
}

/* --- steps --------------------------------------------------------------- */

static const step open, same = {.how = STEP_KNOWN},
                        varies = {.how = STEP_VARIES};

static step step_of(const loop *l, LLVMValueRef v)
{
    const step *s;

    if (LLVMIsUndef(v) || LLVMIsPoison(v))
        return varies;
    if (!inside(l, v))
        return same;
    s = ir_map_get(&l->steps, v);
    return s ? *s : open;
}

static bool is_equal(const step *s, const step *t)
{
    return s->how == t->how && !memcmp(s->by, t->by, sizeof s->by);
}

static bool is_same(step s)
{
    return is_equal(&s, &same);
}

static step times(step s, uint32_t n)
{
    for (unsigned k = 0; k < LEVELS; k++)
        s.by[k] *= n;
    return s;
}

static step plus(step s, step t)
{
    if (s.how == STEP_VARIES || t.how == STEP_VARIES)
        return varies;
    if (s.how == STEP_OPEN || t.how == STEP_OPEN)
        return open;
    for (unsigned k = 0; k < LEVELS; k++)
        s.by[k] += t.by[k];
    return s;
}

/* On either way. */
static step meet(step s, step t)
{
    if (s.how == STEP_OPEN)
        return t;
    return t.how == STEP_OPEN || is_equal(&s, &t) ? s : varies;
}

/* What items add up on their way is no step, but for a number that counts them:
 * it begins again with each turn of the loops outside. */
static step step_of_header(const loop *l, const level *v, LLVMValueRef phi)
{
    LLVMValueRef by = ir_step_of(phi, v->latch);
    step s = step_of(l, ir_incoming_from(phi, v->before));

    if (ir_incoming_from(phi, v->latch) == phi || s.how != STEP_KNOWN)
        return s;
    if (LLVMTypeOf(phi) != l->i32 || !by)
        return varies;
    s.by[v - l->levels] += (uint32_t)LLVMConstIntGetZExtValue(by);
    return s;
}

static step step_of_phi(const loop *l, LLVMValueRef phi)
{
    const level *v = headed(l, LLVMGetInstructionParent(phi));
    step s = open;

    if (v)
        return step_of_header(l, v, phi);
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
        s = meet(s, step_of(l, LLVMGetIncomingValue(phi, k)));
    return s;
}

/* Computed from operands that are the same for all items. */
static step step_of_same(const loop *l, LLVMValueRef i)
{
    step all = same;

    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        step s = step_of(l, LLVMGetOperand(i, (unsigned)k));

        if (s.how == STEP_OPEN)
            all = open;
        else if (!is_same(s))
            return varies;
    }
    return all;
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
        if (by.how == STEP_KNOWN && !is_same(by) && LLVMTypeOf(n) != l->i32)
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

/* Of what an inner loop leaves behind only what is the same for all items is
 * known: the last of them left it. */
static bool is_left_behind(const loop *l, LLVMValueRef i)
{
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef op = LLVMGetOperand(i, (unsigned)k);
        step s;

        if (!inside(l, op) || depth_of(l, op) >= depth_of(l, i))
            continue;
        s = step_of(l, op);
        if (s.how != STEP_OPEN && !is_same(s))
            return true;
    }
    return false;
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

                if (is_left_behind(l, i))
                    s = varies;
                if (!was) {
                    was = arena_new(l->a, step);
                    ir_map_set(&l->steps, i, was);
                }
                if (is_equal(was, &s))
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

/* In some direction items access one element behind the other. */
static bool is_in_a_row(const sim_site *s, const step *at)
{
    bool row = false;

    for (unsigned k = 0; k < LEVELS; k++)
        row |= at->by[k] == s->bytes;
    return row && !(s->bytes & (s->bytes - 1));
}

/* An access that a row may tell of: loads that change no words, stores of one
 * element behind the other. */
static bool has_row(const loop *l, LLVMValueRef access)
{
    const sim_site *s = site_of(l, access);
    const sim_object *o = &l->sites->objects[s->object];
    step at = step_of(l, LLVMGetOperand(access, 1));

    if (at.how != STEP_KNOWN || depth_of(l, access) ||
        !is_same(step_of(l, LLVMGetOperand(access, 2))))
        return false;
    if (s->bytes > MAX_BYTES ||
        (o->kind != SIM_MEM_ARG && o->kind != SIM_MEM_LOCAL))
        return false;
    if (s->kind == SITE_STORE)
        return !sim_object_is_local(o) && is_in_a_row(s, &at);
    return s->kind == SITE_LOAD &&
           (sim_object_is_local(o) ? s->only_read : !o->written);
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

    if (latched(l, b))
        return true;
    if (!LLVMIsABranchInst(t) && !LLVMIsASwitchInst(t))
        return false;
    for (unsigned k = 0; k < LLVMGetNumSuccessors(t); k++)
        if (!ir_bit(l->in, ir_cfg_number(&l->cfg, LLVMGetSuccessor(t, k))))
            return false;
    return LLVMGetNumSuccessors(t) == 1 ||
           is_same(step_of(l, LLVMGetOperand(t, 0)));
}

static bool has_rows(loop *l)
{
    unsigned rows = 0;

    l->size = 0;
    for (uint32_t k = 0; k < l->n; k++) {
        LLVMBasicBlockRef b = l->cfg.blocks[l->order[k]];

        if (!keeps_together(l, b))
            return false;
        ir_each_inst(i, b) {
            if (++l->size > l->room)
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
    const level *in;

    if (!inside(l, v) || ir_map_get(&l->needed, v))
        return;
    ir_map_set(&l->needed, v, v);
    if (call_is_access(ir_call_id(v))) {
        need(l, LLVMGetOperand(v, 1));
        return;
    }
    in = LLVMIsAPHINode(v) ? headed(l, LLVMGetInstructionParent(v)) : NULL;
    if (in) { /* what it is at first */
        need(l, ir_incoming_from(v, in->before));
        return;
    }
    for (int k = 0; k < LLVMGetNumOperands(v); k++)
        need(l, LLVMGetOperand(v, (unsigned)k));
}

static void find_needed(loop *l)
{
    ir_map_init(&l->needed, l->a);
    for (uint32_t k = 0; k < l->n; k++) {
        LLVMBasicBlockRef b = l->cfg.blocks[l->order[k]];
        LLVMValueRef t = LLVMGetBasicBlockTerminator(b);

        if (!latched(l, b) && LLVMGetNumSuccessors(t) > 1)
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
    LLVMValueRef fn = LLVMGetBasicBlockParent(l->levels[0].header);

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
    step by = step_of(l, LLVMGetOperand(access, 1));
    LLVMValueRef args[3 + LEVELS] = {LLVMGetOperand(access, 0),
                                     LLVMBuildPtrToInt(l->b, at, l->i32, ""),
                                     LLVMBuildPtrToInt(l->b, root, l->i32, "")};

    for (unsigned k = 0; k < LEVELS; k++)
        args[3 + k] = k32(l, by.by[k]);
    tell(l, &(const ir_call){CALL_check_row, none, args, 3 + LEVELS});
}

static void copy_inst(const loop *l, copy *c, LLVMValueRef i)
{
    const level *v = headed(l, LLVMGetInstructionParent(i));

    if (call_is_access(ir_call_id(i))) {
        if (c->first)
            tell_row(l, c, i);
        ir_map_set(&c->map, i, ir_mapped(&c->map, LLVMGetOperand(i, 1)));
        return;
    }
    if (c->first && !ir_map_get(&l->needed, i))
        return;
    if (c->first && v && LLVMIsAPHINode(i))
        ir_map_set(&c->map, i,
                   ir_mapped(&c->map, ir_incoming_from(i, v->before)));
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
    const level *v = latched(l, b);

    if (c->first && v) { /* once each */
        LLVMBuildBr(l->b, v == outermost(l) ? c->after : block_of(c, v->exit));
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
        if (!to || (c->first && headed(l, b)))
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
    LLVMBuildBr(l->b, block_of(c, outermost(l)->header));
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
    const level *v = outermost(l);
    LLVMBasicBlockRef from[2] = {v->latch, block_of(c, v->latch)};

    for (uint32_t k = 0; k < l->n; k++)
        ir_each_inst(i, l->cfg.blocks[l->order[k]]) {
            LLVMValueRef is[2] = {i, ir_map_get(&c->map, i)}, phi;

            if (!is_used_outside(l, i, old))
                continue;
            LLVMPositionBuilderAtEnd(l->b, at);
            phi = LLVMBuildPhi(l->b, LLVMTypeOf(i), "");
            LLVMAddIncoming(phi, is, from, 2);
            replace_outside(l, i, phi, old);
        }
    LLVMPositionBuilderAtEnd(l->b, at);
    LLVMBuildBr(l->b, v->exit);
    redirect(v->latch, v->exit, at);
    move_incoming(l, v->exit, v->latch, at);
}

/* In `at`: are there to be rows of so many items? */
static void build_ask(loop *l, LLVMBasicBlockRef at, LLVMBasicBlockRef yes,
                      LLVMBasicBlockRef no)
{
    LLVMValueRef args[1 + LEVELS], some;
    const level *v = outermost(l);

    LLVMPositionBuilderAtEnd(l->b, at);
    args[0] = ir_incoming_from(v->number, v->before);
    for (unsigned k = 0; k < LEVELS; k++) {
        v = &l->levels[k];
        args[1 + k] = k32(l, 1);
        if (k < l->n_levels)
            args[1 + k] = LLVMBuildSub(l->b, v->bound,
                                       ir_incoming_from(v->lid, v->before), "");
    }
    some = tell(l, &(const ir_call){CALL_check_ask, l->i32, args, 1 + LEVELS});
    some = LLVMBuildICmp(l->b, LLVMIntNE, some, k32(l, 0), "");
    LLVMBuildCondBr(l->b, some, yes, no);
}

static bool is_next_ones(const void *user, LLVMValueRef i)
{
    const loop *l = user;
    step s = step_of(l, i);

    return s.how == STEP_KNOWN && !s.by[0];
}

/* The innermost loop without checks does several items at once. */
static void widen(loop *l, copy *c)
{
    const level *v = &l->levels[0];

    wide_add(&(const wide_loop){
        .a = l->a,
        .m = l->m,
        .b = l->b,
        .cfg = &l->cfg,
        .order = l->order,
        .n = l->n,
        .in = v->in,
        .header = v->header,
        .latch = v->latch,
        .before = v->before,
        .lid = v->lid,
        .bound = v->bound,
        .copy = &c->map,
        .copy_before = l->n_levels > 1 ? block_of(c, v->before) : c->before,
        .is_same = is_next_ones,
        .user = l});
}

static void add_forms(loop *l)
{
    LLVMBasicBlockRef ask, slow, told;
    copy first = {.first = true}, fast = {.first = false};
    const level *v = outermost(l);
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
    widen(l, &fast);
    LLVMPositionBuilderAtEnd(l->b, told);
    ok = tell(l, &(const ir_call){CALL_check_rows, l->i32, NULL, 0});
    ok = LLVMBuildICmp(l->b, LLVMIntNE, ok, k32(l, 0), "");
    LLVMBuildCondBr(l->b, ok, fast.before, slow);
    join(l, &fast, fast.after, &old);
    redirect(v->before, v->header, ask);
    LLVMPositionBuilderAtEnd(l->b, slow);
    LLVMBuildBr(l->b, v->header);
    move_incoming(l, v->header, v->before, slow);
}

/* As many loops in one another as have rows together. */
static bool find_loops(loop *l)
{
    if (!find_innermost(l))
        return false;
    while (find_next(l))
        ;
    for (; l->n_levels; l->n_levels--) {
        if (!order_blocks(l))
            continue;
        find_steps(l);
        if (has_rows(l))
            return true;
    }
    return false;
}

void rows_find(LLVMValueRef fn, const sim_sites *sites, arena *a)
{
    LLVMModuleRef m = LLVMGetGlobalParent(fn);
    LLVMContextRef c = LLVMGetModuleContext(m);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(c);
    LLVMValueRef *items = NULL;
    size_t n = 0, cap = 0;
    unsigned room = MAX_SIZE;

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
                  .sites = sites,
                  .item = items[k],
                  .room = room};

        ir_cfg_build(&l.cfg, fn, a);
        if (!find_loops(&l))
            continue;
        find_needed(&l);
        add_forms(&l);
        room -= l.size;
    }
    LLVMDisposeBuilder(b);
}
