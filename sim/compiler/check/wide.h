/* Several items of an unchecked loop at once.
 *
 * Items of a loop with rows (rows.h) go the same way, none stores a byte that
 * another one stores or loads. So it does not matter whose turn it is, and each
 * instruction can be that of several items in a row: what they load and store
 * lies side by side, and a line of the host's caches is asked for once for all
 * of them and not anew when the next item comes.
 *
 *     before                before
 *       |                     |
 *     header <-+   becomes  enough? ---> several at once <-+
 *      ...     |              |            ...             |
 *     latch ---+              |          enough? ----------+
 *       |                     |            |
 *     exit                  header <-+ <---+
 *                            ...     |
 *                           latch ---+
 *                             |
 *                           exit
 *
 * The loop as it was does those that are left, one at least: what it leaves
 * behind is what it left behind before. */
#ifndef VPU_SIM_COMPILER_CHECK_WIDE_H
#define VPU_SIM_COMPILER_CHECK_WIDE_H

#include "sim/ir/ir.h"

/* A loop of the original, without a loop over items in it, and its copy. */
typedef struct {
    arena *a;
    LLVMModuleRef m;
    LLVMBuilderRef b;
    const ir_cfg *cfg;
    const uint32_t *order; /* n blocks, definitions before uses; those of the */
    uint32_t n;            /* loop are among them: */
    const ir_word *in;
    LLVMBasicBlockRef header, latch, before;
    LLVMValueRef lid, bound; /* goes on while lid + 1 < bound */
    ir_map *copy; /* blocks and values; what is not there is itself */
    LLVMBasicBlockRef copy_before; /* where the copy's header is come from */
    /* Is it the same for the next item? */
    bool (*is_same)(const void *user, LLVMValueRef i);
    const void *user;
} wide_loop;

/* Nothing where the loop is too long, uses private memory, finds faults by
 * itself (a divisor that is zero), or hands on from item to item what is no
 * count. */
void wide_add(const wide_loop *l);

#endif
