/* Kernels whose groups all do the same a bit further on.
 *
 * Where nothing but addresses hangs on a group's number, and these by sums and
 * products, the groups of a row go the same way, cost the same and make the
 * same accesses, each so many bytes behind that of the group before. */
#include "sim/compiler/host/hostcode_priv.h"

/* What a value is of the next group of the row: the same; a number of 32 bits,
 * or a device pointer, that goes on by as much from group to group; anything.
 * In this order values become less and less known. */
typedef enum { SAME, GOES_ON, VARIES } kinship;

typedef struct {
    host *h;
    LLVMValueRef group; /* its number */
    ir_map kin;         /* instruction -> its kinship, NULL: not looked at */
} regular;

static kinship kin_of(const regular *r, LLVMValueRef v)
{
    const kinship *k;

    if (v == r->group)
        return GOES_ON;
    if (LLVMIsUndef(v)) /* poison as well */
        return VARIES;
    if (!LLVMIsAInstruction(v))
        return SAME;
    k = ir_map_get(&r->kin, v);
    return k ? *k : SAME;
}

static kinship further(kinship a, kinship b)
{
    return a > b ? a : b;
}

static kinship kin_of_operands(const regular *r, LLVMValueRef i)
{
    kinship all = SAME;

    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        all = further(all, kin_of(r, LLVMGetOperand(i, (unsigned)k)));
    return all;
}

/* Sums that go round at 2^32, as addresses do. */
static bool is_word(const host *h, LLVMValueRef v)
{
    LLVMTypeRef t = LLVMTypeOf(v);

    return t == h->i32 || LLVMGetTypeKind(t) == LLVMPointerTypeKind;
}

static kinship kin_of_sum(const regular *r, LLVMValueRef i)
{
    kinship all = kin_of_operands(r, i);

    return all == GOES_ON && !is_word(r->h, i) ? VARIES : all;
}

/* A number that goes on, so many times. */
static kinship kin_of_product(const regular *r, LLVMValueRef i, bool shift)
{
    kinship x = kin_of(r, LLVMGetOperand(i, 0)),
            y = kin_of(r, LLVMGetOperand(i, 1));

    if (y != SAME && (shift || x != SAME))
        return VARIES;
    return kin_of_sum(r, i);
}

static kinship kin_of_element(const regular *r, LLVMValueRef i)
{
    for (int k = 1; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef n = LLVMGetOperand(i, (unsigned)k);

        if (kin_of(r, n) != SAME && LLVMTypeOf(n) != r->h->i32)
            return VARIES;
    }
    return kin_of_sum(r, i);
}

/* Either way is taken by all groups, or by none. */
static kinship kin_of_choice(const regular *r, LLVMValueRef i)
{
    return kin_of(r, LLVMGetOperand(i, 0)) == SAME ? kin_of_sum(r, i) : VARIES;
}

static kinship find_kin(const regular *r, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMPHI:
    case LLVMAdd:
    case LLVMSub:
        return kin_of_sum(r, i);
    case LLVMMul:
        return kin_of_product(r, i, false);
    case LLVMShl:
        return kin_of_product(r, i, true);
    case LLVMGetElementPtr:
        return kin_of_element(r, i);
    case LLVMSelect:
        return kin_of_choice(r, i);
    case LLVMLoad:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMCall:
    case LLVMAlloca:
    case LLVMFreeze:
        return VARIES;
    default:
        return kin_of_operands(r, i) == SAME ? SAME : VARIES;
    }
}

static void find_all(regular *r)
{
    static kinship kinds[] = {SAME, GOES_ON, VARIES};
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t b = 0; b < r->h->cfg.n_blocks; b++)
            ir_each_inst(i, r->h->cfg.blocks[b]) {
                kinship before = kin_of(r, i);
                kinship now = further(before, find_kin(r, i));

                if (now == before)
                    continue;
                ir_map_set(&r->kin, i, &kinds[now]);
                changed = true;
            }
    }
}

/* Groups that see each other do not run in rows. */
static bool is_atomic(LLVMValueRef i)
{
    return LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i);
}

/* The address of an access that the log has, or what a branch hangs on. */
static LLVMValueRef what_matters(LLVMValueRef i, bool *branches)
{
    unsigned address = LLVMIsAStoreInst(i) ? 1 : 0;

    *branches = LLVMIsATerminatorInst(i);
    if (*branches)
        return !LLVMIsAReturnInst(i) && LLVMGetNumSuccessors(i) > 1
                   ? LLVMGetOperand(i, 0)
                   : NULL;
    if (!LLVMIsALoadInst(i) && !LLVMIsAStoreInst(i))
        return NULL;
    return host_is_global(LLVMGetOperand(i, address))
               ? LLVMGetOperand(i, address)
               : NULL;
}

static bool has_other_loops(const host *h)
{
    for (uint32_t b = 0; b < h->cfg.n_blocks; b++) {
        const uint32_t *succs = h->cfg.succs[b];
        LLVMValueRef t = LLVMGetBasicBlockTerminator(h->cfg.blocks[b]);

        for (uint32_t k = 1; k <= succs[0]; k++)
            if (h->rpo[succs[k]] <= h->rpo[b] && !ir_metadata(t, "vpu.items"))
                return true;
    }
    return false;
}

bool host_is_regular(host *h)
{
    regular r = {.h = h, .group = host_id(h, SIM_ID_GROUP)};

    if (has_other_loops(h))
        return false;
    ir_map_init(&r.kin, h->arena);
    find_all(&r);
    for (uint32_t b = 0; b < h->cfg.n_blocks; b++)
        ir_each_inst(i, h->cfg.blocks[b]) {
            bool branches;
            LLVMValueRef v = what_matters(i, &branches);

            if (is_atomic(i) ||
                (v && kin_of(&r, v) > (branches ? SAME : GOES_ON)))
                return false;
        }
    return true;
}
