/* Loops: what their counters run through, and what runs in every round. */
#include <string.h>

#include "sim/compiler/middle/boxes_priv.h"

/* --- loops --------------------------------------------------------------- */

void boxes_find_loops(boxes_finder *f)
{
    uint32_t *order = arena_array(f->a, uint32_t, f->cfg.n_blocks);
    ir_word *seen = ir_bits(f->a, f->cfg.n_blocks);
    uint32_t n = ir_post_order(&f->cfg, order, seen);
    uint32_t *place = arena_array(f->a, uint32_t, f->cfg.n_blocks);

    for (uint32_t i = 0; i < n; i++)
        place[order[i]] = i;
    /* From a block to one that comes after it in post-order: backwards. */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t b = order[i];

        for (uint32_t s = 1; s <= f->cfg.succs[b][0]; s++) {
            uint32_t h = f->cfg.succs[b][s];
            uint32_t *stack, top = 0;
            boxes_loop l = {.header = h, .latch = b};

            if (place[h] < place[b])
                continue;
            l.blocks = ir_bits(f->a, f->cfg.n_blocks);
            stack = arena_array(f->a, uint32_t, f->cfg.n_blocks + 1);
            ir_bit_set(l.blocks, h);
            if (b != h) {
                ir_bit_set(l.blocks, b);
                stack[top++] = b;
            }
            while (top) {
                uint32_t x = stack[--top];

                for (uint32_t p = 1; p <= f->cfg.preds[x][0]; p++) {
                    uint32_t y = f->cfg.preds[x][p];

                    if (ir_bit(l.blocks, y) || !ir_bit(seen, y))
                        continue;
                    ir_bit_set(l.blocks, y);
                    stack[top++] = y;
                }
            }
            *arena_append(f->a, f->loops, f->n_loops, f->cap_loops) = l;
        }
    }
}

/* The loop that phi counts; NULL: none, or none with one way back. */
static const boxes_loop *loop_of(const boxes_finder *f, LLVMValueRef phi,
                                 size_t *number)
{
    uint32_t b = ir_cfg_number(&f->cfg, LLVMGetInstructionParent(phi));
    const boxes_loop *found = NULL;

    for (size_t i = 0; i < f->n_loops; i++)
        if (f->loops[i].header == b) {
            if (found)
                return NULL;
            found = &f->loops[i];
            *number = i;
        }
    return found;
}

/* How the loop goes on while `phi`, or what it is next, compares with *bound.
 */
typedef struct {
    LLVMIntPredicate pred;
    LLVMValueRef bound;
    bool of_next; /* the value compared is the next one */
    bool at_end;  /* the comparison is behind the body */
} condition;

static LLVMIntPredicate inverse(LLVMIntPredicate p)
{
    switch (p) {
    case LLVMIntEQ:
        return LLVMIntNE;
    case LLVMIntNE:
        return LLVMIntEQ;
    case LLVMIntUGT:
        return LLVMIntULE;
    case LLVMIntUGE:
        return LLVMIntULT;
    case LLVMIntULT:
        return LLVMIntUGE;
    case LLVMIntULE:
        return LLVMIntUGT;
    case LLVMIntSGT:
        return LLVMIntSLE;
    case LLVMIntSGE:
        return LLVMIntSLT;
    case LLVMIntSLT:
        return LLVMIntSGE;
    default:
        return LLVMIntSGT;
    }
}

static LLVMIntPredicate swapped(LLVMIntPredicate p)
{
    switch (p) {
    case LLVMIntUGT:
        return LLVMIntULT;
    case LLVMIntUGE:
        return LLVMIntULE;
    case LLVMIntULT:
        return LLVMIntUGT;
    case LLVMIntULE:
        return LLVMIntUGE;
    case LLVMIntSGT:
        return LLVMIntSLT;
    case LLVMIntSGE:
        return LLVMIntSLE;
    case LLVMIntSLT:
        return LLVMIntSGT;
    case LLVMIntSLE:
        return LLVMIntSGE;
    default:
        return p;
    }
}

/* Whether block b leaves loop l depending on a comparison of phi or next. */
static bool leaves_by(const boxes_finder *f, const boxes_loop *l, uint32_t b,
                      LLVMValueRef phi, LLVMValueRef next, condition *out)
{
    LLVMValueRef t = LLVMGetBasicBlockTerminator(f->cfg.blocks[b]), cmp, x, y;
    uint32_t yes, no;

    if (!t || !LLVMIsABranchInst(t) || !LLVMIsConditional(t))
        return false;
    cmp = LLVMGetCondition(t);
    if (!LLVMIsAICmpInst(cmp))
        return false;
    yes = ir_cfg_number(&f->cfg, LLVMGetSuccessor(t, 0));
    no = ir_cfg_number(&f->cfg, LLVMGetSuccessor(t, 1));
    if (ir_bit(l->blocks, yes) == ir_bit(l->blocks, no))
        return false;
    x = LLVMGetOperand(cmp, 0);
    y = LLVMGetOperand(cmp, 1);
    out->pred = LLVMGetICmpPredicate(cmp);
    if (y == phi || y == next) {
        LLVMValueRef swap = x;

        x = y;
        y = swap;
        out->pred = swapped(out->pred);
    }
    if (x != phi && x != next)
        return false;
    out->bound = y;
    out->of_next = x == next;
    if (!ir_bit(l->blocks, yes))
        out->pred = inverse(out->pred);
    out->at_end = b == l->latch;
    /* Before the body what comes next is not what counts. */
    return out->at_end || !out->of_next;
}

/* The number of rounds of a loop that counts up from start by step. */
static bool count_rounds(boxes_finder *f, const condition *c,
                         const boxes_expr *start, const boxes_expr *step,
                         boxes_expr *out)
{
    boxes_value v = boxes_follow(f, c->bound);
    const boxes_expr *bound = boxes_uniform(&v);
    boxes_expr span, extra;

    if (!bound || step->value < 1 || !boxes_is_number(step))
        return false;
    span = boxes_minus(f, bound, start);
    switch (c->pred) {
    case LLVMIntSLT:
    case LLVMIntULT:
        break;
    case LLVMIntSLE:
    case LLVMIntULE:
        extra = boxes_number(1);
        span = boxes_plus(f, &span, &extra);
        break;
    case LLVMIntNE:
        if (step->add != 1)
            return false;
        break;
    default:
        return false;
    }
    if (step->add != 1) {
        extra = boxes_number(step->add - 1);
        span = boxes_plus(f, &span, &extra);
        span = boxes_divide(f, LLVMSDiv, &span, step);
    }
    /* Compared behind the body, before the step: a round more. */
    if (c->at_end && !c->of_next) {
        extra = boxes_number(1);
        span = boxes_plus(f, &span, &extra);
    }
    *out = span;
    return span.fixed && boxes_is_sound(&span) && span.value >= 1;
}

boxes_value boxes_follow_phi(boxes_finder *f, LLVMValueRef phi)
{
    static const char why[] = "it comes from a loop without a known count";
    LLVMValueRef first = NULL, next = NULL, other;
    size_t number = 0;
    const boxes_loop *l = loop_of(f, phi, &number);
    boxes_value start, step_value, v;
    const boxes_expr *step;
    condition c;
    boxes_expr rounds;
    boxes_coordinate k = {.base = boxes_number(0), .n_vars = 1};

    if (!l || LLVMCountIncoming(phi) != 2)
        return boxes_unknown(
            "which of several values it is depends on a condition");
    for (unsigned i = 0; i < 2; i++) {
        uint32_t b = ir_cfg_number(&f->cfg, LLVMGetIncomingBlock(phi, i));

        if (b == l->latch)
            next = LLVMGetIncomingValue(phi, i);
        else
            first = LLVMGetIncomingValue(phi, i);
    }
    if (!first || !next || !LLVMIsABinaryOperator(next) ||
        LLVMGetInstructionOpcode(next) != LLVMAdd)
        return boxes_unknown(why);
    other = LLVMGetOperand(next, LLVMGetOperand(next, 0) == phi ? 1 : 0);
    if (LLVMGetOperand(next, 0) != phi && LLVMGetOperand(next, 1) != phi)
        return boxes_unknown(why);
    start = boxes_follow(f, first);
    step_value = boxes_follow(f, other);
    step = boxes_uniform(&step_value);
    if (start.why)
        return start;
    if (!step || !boxes_uniform(&start) || f->n_ranges == BOXES_RANGES ||
        (!leaves_by(f, l, l->header, phi, next, &c) &&
         !leaves_by(f, l, l->latch, phi, next, &c)) ||
        !count_rounds(f, &c, boxes_uniform(&start), step, &rounds))
        return boxes_unknown(why);
    f->ranges[f->n_ranges] = (boxes_range){
        .count = rounds, .counter = true, .ahead = !c.at_end, .loop = number};
    k.vars[0].range = (uint8_t)f->n_ranges++;
    k.vars[0].by = *step;
    v = boxes_of_coordinate(&k);
    return boxes_add(f, &start, &v);
}

bool boxes_counts_in(const boxes_finder *f, const boxes_coordinate *c,
                     uint32_t block)
{
    bool fine = true;

    for (uint32_t i = 0; i < c->n_vars; i++) {
        const boxes_range *r = &f->ranges[c->vars[i].range];
        const boxes_loop *l = r->counter ? &f->loops[r->loop] : NULL;

        fine = fine && (!l || (ir_bit(l->blocks, block) &&
                               (!r->ahead || block != l->header)));
    }
    return fine;
}

/* --- what always runs ---------------------------------------------------- */

/* Whether a round of the loop can end without block b, which is not the first
 * one. */
static bool goes_round(const boxes_finder *f, const boxes_loop *l, uint32_t b)
{
    uint32_t *stack = arena_array(f->a, uint32_t, f->cfg.n_blocks + 1);
    ir_word *seen = ir_bits(f->a, f->cfg.n_blocks);
    uint32_t top = 0;

    stack[top++] = l->header;
    ir_bit_set(seen, l->header);
    while (top) {
        uint32_t at = stack[--top];

        if (at == l->latch)
            return true;
        for (uint32_t s = 1; s <= f->cfg.succs[at][0]; s++) {
            uint32_t n = f->cfg.succs[at][s];

            if (n == b || ir_bit(seen, n) || !ir_bit(l->blocks, n))
                continue;
            ir_bit_set(seen, n);
            stack[top++] = n;
        }
    }
    return false;
}

/* The innermost loop around block b; with `inside`, around that loop. */
static const boxes_loop *around(const boxes_finder *f, uint32_t b,
                                const boxes_loop *inside)
{
    const boxes_loop *best = NULL;

    for (size_t i = 0; i < f->n_loops; i++) {
        const boxes_loop *l = &f->loops[i];

        if (!ir_bit(l->blocks, b) || l == inside ||
            (inside && !ir_bit(l->blocks, inside->header)) ||
            (inside && ir_bit(inside->blocks, l->header)))
            continue;
        if (!best || ir_bit(best->blocks, l->header))
            best = l;
    }
    return best;
}

/* Whether the block runs in every round of the loops around it, and these in
 * each work-item. Loops are left where they are counted alone. */
bool boxes_always_runs(const boxes_finder *f, uint32_t b)
{
    const boxes_loop *l = around(f, b, NULL);

    for (; l; b = l->header, l = around(f, b, l)) {
        uint32_t ways = 0;

        if (b != l->header && goes_round(f, l, b))
            return false;
        for (uint32_t i = 0; i < f->cfg.n_blocks; i++)
            for (uint32_t s = 1;
                 ir_bit(l->blocks, i) && s <= f->cfg.succs[i][0]; s++)
                ways += !ir_bit(l->blocks, f->cfg.succs[i][s]);
        if (ways != 1)
            return false;
    }
    return ir_bit(f->pdom[0], b);
}
