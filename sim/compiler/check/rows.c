/* Which loops have rows; see rows.h. */
#include <string.h>

#include "sim/compiler/check/rows_priv.h"

/* Of a loop there will be two more forms, of loops of so many instructions in
 * all. Longer accesses than these always call (sim/compiler/host/check.c). */
enum { MAX_SIZE = 1024, MAX_BYTES = 64 };

/* --- the loops ----------------------------------------------------------- */

static bool find_blocks(rows_loop *l, rows_level *v)
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
static bool find_count(rows_loop *l, rows_level *v)
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
static bool find_level(rows_loop *l, LLVMBasicBlockRef header, rows_level *v)
{
    const uint32_t *preds = l->cfg.preds[ir_cfg_number(&l->cfg, header)];

    for (unsigned k = 1; k <= 2 && preds[0] == 2; k++) {
        *v = (rows_level){.header = header,
                          .latch = l->cfg.blocks[preds[k]],
                          .before = l->cfg.blocks[preds[3 - k]]};
        if (find_count(l, v) && find_blocks(l, v))
            return true;
    }
    return false;
}

/* The loop that begins with telling of its item; false: another form. */
static bool find_innermost(rows_loop *l)
{
    rows_level *v = &l->levels[0];
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
static bool find_next(rows_loop *l)
{
    const rows_level *in = rows_outermost(l);
    rows_level v;

    if (l->n_levels == ROWS_LEVELS || !find_level(l, in->before, &v) ||
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
static bool order_blocks(rows_loop *l)
{
    uint32_t *all = arena_array(l->a, uint32_t, l->cfg.n_blocks);
    ir_word *seen = ir_bits(l->a, l->cfg.n_blocks);
    uint32_t n = ir_post_order(&l->cfg, all, seen);

    l->in = rows_outermost(l)->in;
    l->order = arena_array(l->a, uint32_t, l->cfg.n_blocks);
    l->n = 0;
    while (n-- > 0)
        if (ir_bit(l->in, all[n]))
            l->order[l->n++] = all[n];
    for (unsigned k = 0; k < l->n_levels; k++)
        if (rows_inside(l, l->levels[k].bound) ||
            rows_inside(
                l, ir_incoming_from(l->levels[k].lid, l->levels[k].before)))
            return false;
    return l->cfg.blocks[l->order[0]] == rows_outermost(l)->header;
}

/* How many of the loops, from the innermost on, i is not in. */
static unsigned depth_of(const rows_loop *l, LLVMValueRef i)
{
    uint32_t b = ir_cfg_number(&l->cfg, LLVMGetInstructionParent(i));
    unsigned k = 0;

    while (!ir_bit(l->levels[k].in, b))
        k++;
    return k;
}

const rows_level *rows_headed(const rows_loop *l, LLVMBasicBlockRef b)
{
    for (unsigned k = 0; k < l->n_levels; k++)
        if (l->levels[k].header == b)
            return &l->levels[k];
    return NULL;
}

const rows_level *rows_latched(const rows_loop *l, LLVMBasicBlockRef b)
{
    for (unsigned k = 0; k < l->n_levels; k++)
        if (l->levels[k].latch == b)
            return &l->levels[k];
    return NULL;
}

/* --- steps --------------------------------------------------------------- */

static const rows_step open, same = {.how = STEP_KNOWN},
                             varies = {.how = STEP_VARIES};

rows_step rows_step_of(const rows_loop *l, LLVMValueRef v)
{
    const rows_step *s;

    if (LLVMIsUndef(v) || LLVMIsPoison(v))
        return varies;
    if (!rows_inside(l, v))
        return same;
    s = ir_map_get(&l->steps, v);
    return s ? *s : open;
}

static bool is_equal(const rows_step *s, const rows_step *t)
{
    return s->how == t->how && !memcmp(s->by, t->by, sizeof s->by);
}

static bool is_same(rows_step s)
{
    return is_equal(&s, &same);
}

static rows_step times(rows_step s, uint32_t n)
{
    for (unsigned k = 0; k < ROWS_LEVELS; k++)
        s.by[k] *= n;
    return s;
}

static rows_step plus(rows_step s, rows_step t)
{
    if (s.how == STEP_VARIES || t.how == STEP_VARIES)
        return varies;
    if (s.how == STEP_OPEN || t.how == STEP_OPEN)
        return open;
    for (unsigned k = 0; k < ROWS_LEVELS; k++)
        s.by[k] += t.by[k];
    return s;
}

/* On either way. */
static rows_step meet(rows_step s, rows_step t)
{
    if (s.how == STEP_OPEN)
        return t;
    return t.how == STEP_OPEN || is_equal(&s, &t) ? s : varies;
}

/* What items add up on their way is no step, but for a number that counts them:
 * it begins again with each turn of the loops outside. */
static rows_step step_of_header(const rows_loop *l, const rows_level *v,
                                LLVMValueRef phi)
{
    LLVMValueRef by = ir_step_of(phi, v->latch);
    rows_step s = rows_step_of(l, ir_incoming_from(phi, v->before));

    if (ir_incoming_from(phi, v->latch) == phi || s.how != STEP_KNOWN)
        return s;
    if (LLVMTypeOf(phi) != l->i32 || !by)
        return varies;
    s.by[v - l->levels] += (uint32_t)LLVMConstIntGetZExtValue(by);
    return s;
}

static rows_step step_of_phi(const rows_loop *l, LLVMValueRef phi)
{
    const rows_level *v = rows_headed(l, LLVMGetInstructionParent(phi));
    rows_step s = open;

    if (v)
        return step_of_header(l, v, phi);
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
        s = meet(s, rows_step_of(l, LLVMGetIncomingValue(phi, k)));
    return s;
}

/* Computed from operands that are the same for all items. */
static rows_step step_of_same(const rows_loop *l, LLVMValueRef i)
{
    rows_step all = same;

    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        rows_step s = rows_step_of(l, LLVMGetOperand(i, (unsigned)k));

        if (s.how == STEP_OPEN)
            all = open;
        else if (!is_same(s))
            return varies;
    }
    return all;
}

static rows_step step_of_product(const rows_loop *l, LLVMValueRef i, bool shift)
{
    LLVMValueRef x = LLVMGetOperand(i, 0), y = LLVMGetOperand(i, 1);

    if (LLVMTypeOf(i) == l->i32 && LLVMIsAConstantInt(y)) {
        uint64_t n = LLVMConstIntGetZExtValue(y);

        if (!shift || n < 32)
            return times(rows_step_of(l, x), shift ? 1u << n : (uint32_t)n);
    }
    return step_of_same(l, i);
}

static rows_step step_of_element(const rows_loop *l, LLVMValueRef i)
{
    LLVMTypeRef t = LLVMGetGEPSourceElementType(i);
    rows_step s = rows_step_of(l, LLVMGetOperand(i, 0));

    if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMPointerTypeKind)
        return varies;
    for (int k = 1; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef n = LLVMGetOperand(i, (unsigned)k);
        rows_step by = rows_step_of(l, n);

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

static rows_step step_of_sum(const rows_loop *l, LLVMValueRef i, bool minus)
{
    rows_step x = rows_step_of(l, LLVMGetOperand(i, 0));
    rows_step y = rows_step_of(l, LLVMGetOperand(i, 1));

    if (LLVMTypeOf(i) != l->i32)
        return step_of_same(l, i);
    return plus(x, minus ? times(y, UINT32_MAX) : y);
}

static rows_step find_step(const rows_loop *l, LLVMValueRef i)
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
        return call_is_access(ir_call_id(i))
                   ? rows_step_of(l, LLVMGetOperand(i, 1))
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
static bool is_left_behind(const rows_loop *l, LLVMValueRef i)
{
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef op = LLVMGetOperand(i, (unsigned)k);
        rows_step s;

        if (!rows_inside(l, op) || depth_of(l, op) >= depth_of(l, i))
            continue;
        s = rows_step_of(l, op);
        if (s.how != STEP_OPEN && !is_same(s))
            return true;
    }
    return false;
}

/* Steps become less and less known until nothing changes. */
static void find_steps(rows_loop *l)
{
    bool changed = true;

    ir_map_init(&l->steps, l->a);
    while (changed) {
        changed = false;
        for (uint32_t k = 0; k < l->n; k++)
            ir_each_inst(i, l->cfg.blocks[l->order[k]]) {
                rows_step *was = ir_map_get(&l->steps, i), s = find_step(l, i);

                if (is_left_behind(l, i))
                    s = varies;
                if (!was) {
                    was = arena_new(l->a, rows_step);
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

static const sim_site *site_of(const rows_loop *l, LLVMValueRef access)
{
    LLVMValueRef n = LLVMGetOperand(access, 0);

    return &l->sites->sites[LLVMConstIntGetZExtValue(n)];
}

/* In some direction items access one element behind the other. */
static bool is_in_a_row(const sim_site *s, const rows_step *at)
{
    bool row = false;

    for (unsigned k = 0; k < ROWS_LEVELS; k++)
        row |= at->by[k] == s->bytes;
    return row && !(s->bytes & (s->bytes - 1));
}

/* An access that a row may tell of: loads that change no words, stores of one
 * element behind the other. */
static bool has_row(const rows_loop *l, LLVMValueRef access)
{
    const sim_site *s = site_of(l, access);
    const sim_object *o = &l->sites->objects[s->object];
    rows_step at = rows_step_of(l, LLVMGetOperand(access, 1));

    if (at.how != STEP_KNOWN || depth_of(l, access) ||
        !is_same(rows_step_of(l, LLVMGetOperand(access, 2))))
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
static bool may_call(const rows_loop *l, LLVMValueRef i)
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
static bool keeps_together(const rows_loop *l, LLVMBasicBlockRef b)
{
    LLVMValueRef t = LLVMGetBasicBlockTerminator(b);

    if (rows_latched(l, b))
        return true;
    if (!LLVMIsABranchInst(t) && !LLVMIsASwitchInst(t))
        return false;
    for (unsigned k = 0; k < LLVMGetNumSuccessors(t); k++)
        if (!ir_bit(l->in, ir_cfg_number(&l->cfg, LLVMGetSuccessor(t, k))))
            return false;
    return LLVMGetNumSuccessors(t) == 1 ||
           is_same(rows_step_of(l, LLVMGetOperand(t, 0)));
}

static bool has_rows(rows_loop *l)
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

static void need(rows_loop *l, LLVMValueRef v)
{
    const rows_level *in;

    if (!rows_inside(l, v) || ir_map_get(&l->needed, v))
        return;
    ir_map_set(&l->needed, v, v);
    if (call_is_access(ir_call_id(v))) {
        need(l, LLVMGetOperand(v, 1));
        return;
    }
    in = LLVMIsAPHINode(v) ? rows_headed(l, LLVMGetInstructionParent(v)) : NULL;
    if (in) { /* what it is at first */
        need(l, ir_incoming_from(v, in->before));
        return;
    }
    for (int k = 0; k < LLVMGetNumOperands(v); k++)
        need(l, LLVMGetOperand(v, (unsigned)k));
}

static void find_needed(rows_loop *l)
{
    ir_map_init(&l->needed, l->a);
    for (uint32_t k = 0; k < l->n; k++) {
        LLVMBasicBlockRef b = l->cfg.blocks[l->order[k]];
        LLVMValueRef t = LLVMGetBasicBlockTerminator(b);

        if (!rows_latched(l, b) && LLVMGetNumSuccessors(t) > 1)
            need(l, LLVMGetOperand(t, 0));
        ir_each_inst(i, b)
            if (call_is_access(ir_call_id(i))) {
                need(l, LLVMGetOperand(i, 1));
                need(l, LLVMGetOperand(i, 2));
            }
    }
}

/* As many loops in one another as have rows together. */
static bool find_loops(rows_loop *l)
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
        rows_loop l = {.a = a,
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
        rows_add_forms(&l);
        room -= l.size;
    }
    LLVMDisposeBuilder(b);
}
