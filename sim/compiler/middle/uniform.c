/* Divergence analysis: a fixed point over data dependence, plus the influence
 * of divergent branches on the phis and loop results they decide. */
#include "sim/compiler/middle/uniform.h"

typedef struct {
    uniformity *u;
    ir_cfg cfg;
    ir_word **pdom;
    unsigned dims;
    arena *a;
    bool changed;
} analysis;

bool uniformity_varies(const uniformity *u, LLVMValueRef v)
{
    return ir_map_get(&u->varying, v) != NULL;
}

static void mark(analysis *x, LLVMValueRef v)
{
    if (uniformity_varies(x->u, v))
        return;
    ir_map_set(&x->u->varying, v, v);
    x->changed = true;
}

static bool is_source(const analysis *x, LLVMValueRef i)
{
    call_id id = ir_call_id(i);

    if (call_item_dimension(id) >= 0)
        return x->dims >> call_item_dimension(id) & 1;
    if (call_is_for_each(id))
        return true;
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return true;
    case LLVMAlloca: /* an address of each item's own memory */
        return true;
    default:
        return false;
    }
}

/* What a collective call gives is one value for the group. */
static bool is_agreed(LLVMValueRef i)
{
    return call_is_collective(ir_call_id(i)) &&
           LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind;
}

static void visit(analysis *x, LLVMValueRef i)
{
    int n = LLVMGetNumOperands(i);

    if (uniformity_varies(x->u, i))
        return;
    if (is_source(x, i)) {
        mark(x, i);
        return;
    }
    if (is_agreed(i))
        return;
    for (int k = 0; k < n; k++)
        if (uniformity_varies(x->u, LLVMGetOperand(i, (unsigned)k))) {
            mark(x, i);
            return;
        }
}

static void push_successors(analysis *x, uint32_t b, ir_word *queued,
                            uint32_t *stack, uint32_t *top)
{
    for (uint32_t k = 1; k <= x->cfg.succs[b][0]; k++) {
        uint32_t s = x->cfg.succs[b][k];

        if (!ir_bit(queued, s)) {
            ir_bit_set(queued, s);
            stack[(*top)++] = s;
        }
    }
}

/* Phis that the branch at the end of block b decides, and what its loop leaves
 * behind when it decides how often the loop runs. */
static void influence(analysis *x, uint32_t b)
{
    uint32_t n = x->cfg.n_blocks, top = 0;
    uint32_t *stack = arena_array(x->a, uint32_t, n);
    ir_word *seen = ir_bits(x->a, n), *queued = ir_bits(x->a, n);
    LLVMUseRef use;

    push_successors(x, b, queued, stack, &top);
    while (top) {
        uint32_t at = stack[--top];

        ir_bit_set(seen, at);
        ir_each_inst(i, x->cfg.blocks[at]) {
            if (!LLVMIsAPHINode(i))
                break;
            mark(x, i);
        }
        if (at != b && ir_bit(x->pdom[b], at))
            continue; /* paths meet again here */
        push_successors(x, at, queued, stack, &top);
    }
    if (!ir_bit(seen, b))
        return;
    for (uint32_t at = 0; at < n; at++)
        if (ir_bit(seen, at) && !(at != b && ir_bit(x->pdom[b], at)))
            ir_each_inst(i, x->cfg.blocks[at])
                for (use = LLVMGetFirstUse(i); use; use = LLVMGetNextUse(use)) {
                    LLVMValueRef user = LLVMGetUser(use);

                    if (!ir_bit(seen,
                                ir_cfg_number(&x->cfg,
                                              LLVMGetInstructionParent(user))))
                        mark(x, i);
                }
}

void uniformity_analyse(uniformity *u, LLVMValueRef fn, unsigned dims, arena *a)
{
    analysis x = {.u = u, .dims = dims, .a = a};

    ir_map_init(&u->varying, a);
    u->divergent = NULL;
    ir_cfg_build(&x.cfg, fn, a);
    x.pdom = ir_post_dominators(&x.cfg, a);
    do {
        x.changed = false;
        for (uint32_t b = 0; b < x.cfg.n_blocks; b++) {
            LLVMValueRef t = LLVMGetBasicBlockTerminator(x.cfg.blocks[b]);

            ir_each_inst(i, x.cfg.blocks[b])
                if (i != t)
                    visit(&x, i);
            if (x.cfg.succs[b][0] > 1 &&
                uniformity_varies(u, LLVMGetOperand(t, 0))) {
                if (!u->divergent)
                    u->divergent = t;
                influence(&x, b);
            }
        }
    } while (x.changed);
}
