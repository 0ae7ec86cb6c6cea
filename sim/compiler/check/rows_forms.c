/* The other forms of a loop with rows; see rows.h. */
#include <llvm-c/DebugInfo.h>

#include "sim/compiler/check/rows_priv.h"
#include "sim/compiler/check/wide.h"

/* A copy of the loop's blocks. */
typedef struct {
    ir_map map;               /* values, and blocks */
    bool first;               /* the first item's rows, else without checks */
    LLVMBasicBlockRef before; /* the header comes behind it */
    LLVMBasicBlockRef after;  /* behind the latch */
} copy;

static LLVMBasicBlockRef add_block(const rows_loop *l, const char *name)
{
    LLVMValueRef fn = LLVMGetBasicBlockParent(l->levels[0].header);

    return LLVMAppendBasicBlockInContext(LLVMGetModuleContext(l->m), fn, name);
}

static LLVMValueRef k32(const rows_loop *l, uint32_t n)
{
    return LLVMConstInt(l->i32, n, false);
}

static LLVMValueRef tell(const rows_loop *l, const ir_call *what)
{
    return ir_build_call(l->b, l->m, what);
}

static void tell_row(const rows_loop *l, const copy *c, LLVMValueRef access)
{
    LLVMValueRef at = ir_mapped(&c->map, LLVMGetOperand(access, 1));
    LLVMValueRef root = ir_mapped(&c->map, LLVMGetOperand(access, 2));
    LLVMTypeRef none = LLVMVoidTypeInContext(LLVMGetModuleContext(l->m));
    rows_step by = rows_step_of(l, LLVMGetOperand(access, 1));
    LLVMValueRef args[3 + ROWS_LEVELS] = {
        LLVMGetOperand(access, 0), LLVMBuildPtrToInt(l->b, at, l->i32, ""),
        LLVMBuildPtrToInt(l->b, root, l->i32, "")};

    for (unsigned k = 0; k < ROWS_LEVELS; k++)
        args[3 + k] = k32(l, by.by[k]);
    tell(l, &(const ir_call){CALL_check_row, none, args, 3 + ROWS_LEVELS});
}

static void copy_inst(const rows_loop *l, copy *c, LLVMValueRef i)
{
    const rows_level *v = rows_headed(l, LLVMGetInstructionParent(i));

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

static void copy_end(const rows_loop *l, copy *c, LLVMBasicBlockRef b)
{
    LLVMValueRef t = LLVMGetBasicBlockTerminator(b), to;
    const rows_level *v = rows_latched(l, b);

    if (c->first && v) { /* once each */
        LLVMBuildBr(l->b,
                    v == rows_outermost(l) ? c->after : block_of(c, v->exit));
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

static void fill_phis(const rows_loop *l, const copy *c, LLVMBasicBlockRef b)
{
    ir_each_inst(i, b) {
        LLVMValueRef to = ir_map_get(&c->map, i);

        if (!LLVMIsAPHINode(i))
            return;
        if (!to || (c->first && rows_headed(l, b)))
            continue;
        ir_fill_phi(to, i, &c->map, &c->map, c->before);
    }
}

static void copy_loop(const rows_loop *l, copy *c)
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
    LLVMBuildBr(l->b, block_of(c, rows_outermost(l)->header));
}

/* --- around them --------------------------------------------------------- */

/* What the block's phis get from one block they get from another. */
static void move_incoming(const rows_loop *l, LLVMBasicBlockRef b,
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
static void replace_outside(const rows_loop *l, LLVMValueRef i,
                            LLVMValueRef phi, const ir_map *old)
{
    LLVMValueRef *users = NULL;
    size_t n = 0, cap = 0;

    for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);

        if (user != phi && !rows_inside(l, user) &&
            ir_map_get(old, LLVMGetInstructionParent(user)))
            *arena_append(l->a, users, n, cap) = user;
    }
    for (size_t k = 0; k < n; k++)
        for (int o = 0; o < LLVMGetNumOperands(users[k]); o++)
            if (LLVMGetOperand(users[k], (unsigned)o) == i)
                LLVMSetOperand(users[k], (unsigned)o, phi);
}

static bool is_used_outside(const rows_loop *l, LLVMValueRef i,
                            const ir_map *old)
{
    for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u))
        if (!rows_inside(l, LLVMGetUser(u)) &&
            ir_map_get(old, LLVMGetInstructionParent(LLVMGetUser(u))))
            return true;
    return false;
}

/* Both loops come together in front of the exit. */
static void join(rows_loop *l, const copy *c, LLVMBasicBlockRef at,
                 const ir_map *old)
{
    const rows_level *v = rows_outermost(l);
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
static void build_ask(rows_loop *l, LLVMBasicBlockRef at, LLVMBasicBlockRef yes,
                      LLVMBasicBlockRef no)
{
    LLVMValueRef args[1 + ROWS_LEVELS], some;
    const rows_level *v = rows_outermost(l);

    LLVMPositionBuilderAtEnd(l->b, at);
    args[0] = ir_incoming_from(v->number, v->before);
    for (unsigned k = 0; k < ROWS_LEVELS; k++) {
        v = &l->levels[k];
        args[1 + k] = k32(l, 1);
        if (k < l->n_levels)
            args[1 + k] = LLVMBuildSub(l->b, v->bound,
                                       ir_incoming_from(v->lid, v->before), "");
    }
    some = tell(
        l, &(const ir_call){CALL_check_ask, l->i32, args, 1 + ROWS_LEVELS});
    some = LLVMBuildICmp(l->b, LLVMIntNE, some, k32(l, 0), "");
    LLVMBuildCondBr(l->b, some, yes, no);
}

static bool is_next_ones(const void *user, LLVMValueRef i)
{
    const rows_loop *l = user;
    rows_step s = rows_step_of(l, i);

    return s.how == STEP_KNOWN && !s.by[0];
}

/* The innermost loop without checks does several items at once. */
static void widen(rows_loop *l, copy *c)
{
    const rows_level *v = &l->levels[0];

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

void rows_add_forms(rows_loop *l)
{
    LLVMBasicBlockRef ask, slow, told;
    copy first = {.first = true}, fast = {.first = false};
    const rows_level *v = rows_outermost(l);
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
