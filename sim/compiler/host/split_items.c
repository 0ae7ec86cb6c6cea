/* Loops over work-items by what their conditions say; see split_items.h.
 *
 *     from                          from
 *       |                             |
 *       v                             v
 *     header <--+                   pieces <-------+   end = where the truth of
 *      ...      |      becomes        |            |   a condition changes next
 *     latch ----+                     v            |
 *       |                           header <--+    |
 *       v                            ...      |    |
 *     exit                          latch ----+    |
 *                                     |            |
 *                                     v            |
 *                                    more ---------+
 *                                     |
 *                                     v
 *                                    exit
 */
#include "sim/compiler/host/split_items.h"

#include <string.h>

#include "sim/ir/ir.h"

/* A condition doubles what it does not decide about. A loop is not worth more
 * instructions, as many as they are before optimisation, than these; of one
 * with checks, whose accesses are some times as many, than so many times. */
enum {
    MAX_CONDITIONS = 4,
    MAX_COPIED = 112,
    CHECKED = 4,
    MAX_SIZE = 4096,
    MAX_SUM = 4,
    MAX_USES = 3
};

typedef struct {
    LLVMValueRef cmp, number, limit;
    LLVMIntPredicate predicate; /* number predicate limit */
} condition;

typedef struct {
    arena *a;
    LLVMContextRef c;
    LLVMBuilderRef b;
    LLVMTypeRef i32, i64;
    const ir_cfg *cfg;
    ir_word *in;     /* blocks of the loop */
    ir_word *seen;   /* blocks, for walks over them */
    uint32_t *stack; /* the same */
    LLVMBasicBlockRef header, latch, exit;
    LLVMValueRef br, item, next, items; /* next < items: go on */
    condition conditions[MAX_CONDITIONS];
    unsigned n_conditions, size, copied, most_copied; /* instructions */
    LLVMBasicBlockRef pieces, more;
    LLVMValueRef first, end; /* items of a piece */
} loop;

/* --- what may be split --------------------------------------------------- */

static bool varies(const loop *l, LLVMValueRef v)
{
    return LLVMIsAInstruction(v) &&
           ir_bit(l->in, ir_cfg_number(l->cfg, LLVMGetInstructionParent(v)));
}

/* False: there is another way in, or another way round. */
static bool find_blocks(loop *l)
{
    uint32_t header = ir_cfg_number(l->cfg, l->header);
    uint32_t latch = ir_cfg_number(l->cfg, l->latch);
    const uint32_t *preds = l->cfg->preds[header];

    l->in = ir_loop_blocks(l->cfg, header, latch, l->a);
    for (uint32_t k = 1; l->in && k <= preds[0]; k++)
        if (preds[k] != latch && ir_bit(l->in, preds[k]))
            return false;
    return l->in != NULL;
}

/* item: a phi that goes up by one from iteration to iteration. */
static bool find_item(loop *l)
{
    LLVMValueRef cmp = LLVMGetCondition(l->br);

    if (!LLVMIsAICmpInst(cmp) || LLVMGetICmpPredicate(cmp) != LLVMIntULT)
        return false;
    l->next = LLVMGetOperand(cmp, 0);
    l->items = LLVMGetOperand(cmp, 1);
    if (LLVMTypeOf(l->next) != l->i32 || !LLVMIsABinaryOperator(l->next) ||
        varies(l, l->items))
        return false;
    l->item = LLVMGetOperand(l->next, 0);
    return LLVMIsAInstruction(l->item) &&
           LLVMGetInstructionParent(l->item) == l->header &&
           ir_counts_up(l->item, l->latch, l->next);
}

/* Is v the same for all items, though each may compute it anew? */
static bool is_same(const loop *l, LLVMValueRef v, unsigned depth)
{
    return !varies(l, v) ||
           (depth < MAX_SUM && ir_is_arithmetic(LLVMGetInstructionOpcode(v)) &&
            is_same(l, LLVMGetOperand(v, 0), depth + 1) &&
            is_same(l, LLVMGetOperand(v, 1), depth + 1));
}

/* Is v the item's number plus what does not change in the loop? */
static bool is_number(const loop *l, LLVMValueRef v, unsigned depth)
{
    LLVMOpcode op;
    LLVMValueRef x, y;

    if (v == l->item)
        return true;
    if (!varies(l, v) || LLVMIsAPHINode(v) || depth == MAX_SUM)
        return false;
    op = LLVMGetInstructionOpcode(v);
    if (op != LLVMAdd && op != LLVMSub)
        return false;
    x = LLVMGetOperand(v, 0);
    y = LLVMGetOperand(v, 1);
    return (!varies(l, y) && is_number(l, x, depth + 1)) ||
           (op == LLVMAdd && !varies(l, x) && is_number(l, y, depth + 1));
}

static LLVMIntPredicate swapped(LLVMIntPredicate p)
{
    switch (p) {
    case LLVMIntULT:
        return LLVMIntUGT;
    case LLVMIntULE:
        return LLVMIntUGE;
    case LLVMIntUGT:
        return LLVMIntULT;
    case LLVMIntUGE:
        return LLVMIntULE;
    case LLVMIntSLT:
        return LLVMIntSGT;
    case LLVMIntSLE:
        return LLVMIntSGE;
    case LLVMIntSGT:
        return LLVMIntSLT;
    case LLVMIntSGE:
        return LLVMIntSLE;
    default:
        return p;
    }
}

/* --- what it costs ------------------------------------------------------- */

/* Instructions an iteration can reach without the way between two blocks;
 * UINT32_MAX: all. */
static unsigned reached(const loop *l, uint32_t from, uint32_t to)
{
    uint32_t *stack = l->stack, top = 0;
    unsigned size = 0;

    memset(l->seen, 0, (l->cfg->n_blocks + 63) / 64 * sizeof *l->seen);
    stack[top] = ir_cfg_number(l->cfg, l->header);
    ir_bit_set(l->seen, stack[top++]);
    while (top) {
        uint32_t n = stack[--top];
        const uint32_t *s = l->cfg->succs[n];

        ir_each_inst(i, l->cfg->blocks[n])
            size++;
        for (uint32_t k = 1; k <= s[0]; k++)
            if (ir_bit(l->in, s[k]) && !ir_bit(l->seen, s[k]) &&
                (n != from || s[k] != to)) {
                ir_bit_set(l->seen, s[k]);
                stack[top++] = s[k];
            }
    }
    return size;
}

/* Instructions that only one outcome leads to of the branches v decides, or
 * what is made of it. */
static unsigned decided_by(const loop *l, LLVMValueRef v, unsigned depth)
{
    unsigned n = 0;

    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef i = LLVMGetUser(u);
        const uint32_t *s;
        uint32_t from;

        if (!varies(l, i))
            continue;
        if (LLVMTypeOf(i) == LLVMTypeOf(v) && !LLVMIsAPHINode(i) &&
            depth < MAX_USES)
            n += decided_by(l, i, depth + 1);
        if (!LLVMIsABranchInst(i))
            continue;
        from = ir_cfg_number(l->cfg, LLVMGetInstructionParent(i));
        s = l->cfg->succs[from];
        for (uint32_t k = 1; k <= s[0]; k++)
            if (ir_bit(l->in, s[k]))
                n += l->size - reached(l, from, s[k]);
    }
    return n;
}

static unsigned copied(const loop *l, LLVMValueRef cmp)
{
    unsigned n = decided_by(l, cmp, 0);

    return n < l->size ? l->size - n : 0;
}

/* The first item alone: where there is nothing else, the unroller takes it out
 * of the loop at less cost. */
static bool is_first(const loop *l, const condition *c)
{
    return (c->predicate == LLVMIntEQ || c->predicate == LLVMIntNE) &&
           c->number == l->item && LLVMIsNull(c->limit);
}

/* Adds a condition if the loop is small enough for one more. */
static void add_condition(loop *l, condition c)
{
    unsigned n;

    if (l->n_conditions == MAX_CONDITIONS)
        return;
    n = is_first(l, &c) ? 0 : copied(l, c.cmp);
    if (l->copied + n > l->most_copied)
        return;
    l->copied += n;
    l->conditions[l->n_conditions++] = c;
}

static void find_conditions(loop *l)
{
    l->size = reached(l, UINT32_MAX, UINT32_MAX);
    for (uint32_t n = 0; n < l->cfg->n_blocks && l->size <= MAX_SIZE; n++) {
        if (!ir_bit(l->in, n))
            continue;
        ir_each_inst(i, l->cfg->blocks[n]) {
            if (!LLVMIsAICmpInst(i) || i == LLVMGetCondition(l->br) ||
                LLVMTypeOf(LLVMGetOperand(i, 0)) != l->i32)
                continue;
            for (unsigned k = 0; k < 2; k++) {
                LLVMValueRef x = LLVMGetOperand(i, k);
                LLVMValueRef y = LLVMGetOperand(i, !k);
                LLVMIntPredicate p = LLVMGetICmpPredicate(i);

                if (!is_same(l, y, 0) || !is_number(l, x, 0))
                    continue;
                add_condition(l, (condition){i, x, y, k ? swapped(p) : p});
                break;
            }
        }
    }
}

/* --- the pieces ---------------------------------------------------------- */

static LLVMValueRef k64(const loop *l, uint64_t v)
{
    return LLVMConstInt(l->i64, v, false);
}

/* What is_number or is_same says yes to, of the piece's first item. */
static LLVMValueRef of_first(const loop *l, LLVMValueRef v)
{
    if (v == l->item)
        return l->first;
    if (!varies(l, v))
        return v;
    return LLVMBuildBinOp(l->b, LLVMGetInstructionOpcode(v),
                          of_first(l, LLVMGetOperand(v, 0)),
                          of_first(l, LLVMGetOperand(v, 1)), "");
}

/* A number as 64 bits in the order of the condition. */
static LLVMValueRef in_order(const loop *l, LLVMValueRef v, LLVMIntPredicate p)
{
    if (p >= LLVMIntSGT)
        v = LLVMBuildXor(l->b, v,
                         LLVMConstInt(l->i32, UINT32_C(1) << 31, false), "");
    return LLVMBuildZExt(l->b, v, l->i64, "");
}

/* How many items from a piece's first the condition stays as it is at least:
 * up to the limit, or up to where numbers begin again. Replaces the condition.
 */
static LLVMValueRef stays(const loop *l, const condition *c)
{
    LLVMValueRef x, y, change, below, decided;

    /* Where no item asks, they may be anything, but the same each time. */
    x = LLVMBuildFreeze(l->b, of_first(l, c->number), "");
    y = LLVMBuildFreeze(l->b, of_first(l, c->limit), "");
    decided = LLVMBuildICmp(l->b, c->predicate, x, y, "");
    x = in_order(l, x, c->predicate);
    y = in_order(l, y, c->predicate);
    switch (c->predicate) {
    case LLVMIntEQ:
    case LLVMIntNE:
        below = LLVMBuildICmp(l->b, LLVMIntULT, x, y, "");
        change = LLVMBuildSelect(l->b, below, y,
                                 LLVMBuildAdd(l->b, y, k64(l, 1), ""), "");
        break;
    case LLVMIntULE:
    case LLVMIntUGT:
    case LLVMIntSLE:
    case LLVMIntSGT:
        change = LLVMBuildAdd(l->b, y, k64(l, 1), "");
        break;
    default:
        change = y;
    }
    below = LLVMBuildICmp(l->b, LLVMIntULT, x, change, "");
    change =
        LLVMBuildSelect(l->b, below, change, k64(l, UINT64_C(1) << 32), "");
    LLVMReplaceAllUsesWith(c->cmp, decided);
    LLVMInstructionEraseFromParent(c->cmp);
    return LLVMBuildSub(l->b, change, x, "");
}

/* Decides the conditions for a piece and finds its end. */
static void begin_piece(loop *l)
{
    LLVMValueRef items, end;

    items = LLVMBuildZExt(l->b, l->items, l->i64, "");
    end = items;
    for (unsigned k = 0; k < l->n_conditions; k++) {
        LLVMValueRef n = stays(l, &l->conditions[k]);
        LLVMValueRef first = LLVMBuildZExt(l->b, l->first, l->i64, "");
        LLVMValueRef to = LLVMBuildAdd(l->b, first, n, "");

        end = LLVMBuildSelect(
            l->b, LLVMBuildICmp(l->b, LLVMIntULT, to, end, ""), to, end, "");
    }
    l->end = LLVMBuildTrunc(l->b, end, l->i32, "");
    LLVMBuildBr(l->b, l->header);
}

/* A phi of the header becomes two: outer takes what comes from outside and
 * from the piece before, the other one this and what comes from the item
 * before. */
static void split_phi(loop *l, LLVMValueRef phi, LLVMValueRef outer)
{
    LLVMValueRef round = ir_incoming_from(phi, l->latch), inner;

    LLVMPositionBuilderBefore(l->b, phi);
    inner = LLVMBuildPhi(l->b, LLVMTypeOf(phi), "");
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
        LLVMValueRef v = LLVMGetIncomingValue(phi, k);

        if (from != l->latch)
            LLVMAddIncoming(outer, &v, &from, 1);
    }
    LLVMAddIncoming(inner, &outer, &l->pieces, 1);
    LLVMAddIncoming(inner, &round, &l->latch, 1);
    LLVMAddIncoming(outer, phi == l->item ? &l->end : &round, &l->more, 1);
    LLVMReplaceAllUsesWith(phi, inner);
    LLVMInstructionEraseFromParent(phi);
}

/* From outside, the pieces come first. */
static void enter_pieces(loop *l)
{
    const uint32_t *preds = l->cfg->preds[ir_cfg_number(l->cfg, l->header)];

    for (uint32_t k = 1; k <= preds[0]; k++) {
        LLVMBasicBlockRef from = l->cfg->blocks[preds[k]];
        LLVMValueRef t = LLVMGetBasicBlockTerminator(from);

        for (unsigned s = 0; from != l->latch && s < LLVMGetNumSuccessors(t);
             s++)
            if (LLVMGetSuccessor(t, s) == l->header)
                LLVMSetSuccessor(t, s, l->pieces);
    }
}

static void leave_piece(loop *l)
{
    LLVMValueRef cmp = LLVMGetCondition(l->br), done;

    LLVMPositionBuilderBefore(l->b, l->br);
    done = LLVMBuildICmp(l->b, LLVMIntEQ, l->next, l->end, "");
    LLVMBuildCondBr(l->b, done, l->more, l->header);
    LLVMInstructionEraseFromParent(l->br);
    if (!LLVMGetFirstUse(cmp))
        LLVMInstructionEraseFromParent(cmp);
    LLVMPositionBuilderAtEnd(l->b, l->more);
    LLVMBuildCondBr(l->b, LLVMBuildICmp(l->b, LLVMIntULT, l->end, l->items, ""),
                    l->pieces, l->exit);
}

static void split(loop *l)
{
    LLVMValueRef *phis = NULL, *outer;
    size_t n = 0, cap = 0;

    ir_each_inst(i, l->header) {
        if (!LLVMIsAPHINode(i))
            break;
        *arena_append(l->a, phis, n, cap) = i;
    }
    outer = arena_array(l->a, LLVMValueRef, n);
    l->pieces = LLVMInsertBasicBlockInContext(l->c, l->header, "");
    l->more = LLVMInsertBasicBlockInContext(l->c, l->exit, "");
    LLVMPositionBuilderAtEnd(l->b, l->pieces);
    for (size_t k = 0; k < n; k++) {
        outer[k] = LLVMBuildPhi(l->b, LLVMTypeOf(phis[k]), "");
        if (phis[k] == l->item)
            l->first = outer[k];
    }
    begin_piece(l);
    for (size_t k = 0; k < n; k++)
        split_phi(l, phis[k], outer[k]);
    enter_pieces(l);
    leave_piece(l);
}

/* --- the function -------------------------------------------------------- */

static bool find_loop(loop *l, LLVMValueRef br)
{
    l->br = br;
    l->latch = LLVMGetInstructionParent(br);
    l->header = LLVMGetSuccessor(br, 0);
    l->exit = LLVMGetSuccessor(br, 1);
    l->seen = ir_bits(l->a, l->cfg->n_blocks);
    l->stack = arena_array(l->a, uint32_t, l->cfg->n_blocks + 1);
    if (LLVMIsAPHINode(LLVMGetFirstInstruction(l->exit)) || !find_blocks(l) ||
        !find_item(l))
        return false;
    find_conditions(l);
    for (unsigned k = 0; k < l->n_conditions; k++)
        if (!is_first(l, &l->conditions[k]))
            return true;
    return false;
}

void split_item_loops(LLVMValueRef fn, bool checked, arena *a)
{
    LLVMContextRef c = LLVMGetModuleContext(LLVMGetGlobalParent(fn));
    LLVMBuilderRef b = LLVMCreateBuilderInContext(c);
    LLVMValueRef *ends = NULL;
    size_t n = 0, cap = 0;
    bool fresh = false;
    ir_cfg cfg;

    ir_each_block(block, fn) {
        LLVMValueRef t = LLVMGetBasicBlockTerminator(block);

        if (ir_metadata(t, "vpu.items"))
            *arena_append(a, ends, n, cap) = t;
    }
    for (size_t k = 0; k < n; k++) {
        loop l = {.a = a,
                  .c = c,
                  .b = b,
                  .i32 = LLVMInt32TypeInContext(c),
                  .i64 = LLVMInt64TypeInContext(c),
                  .most_copied = MAX_COPIED * (checked ? CHECKED : 1),
                  .cfg = &cfg};

        if (!fresh)
            ir_cfg_build(&cfg, fn, a);
        fresh = !find_loop(&l, ends[k]);
        if (!fresh)
            split(&l);
    }
    LLVMDisposeBuilder(b);
}
