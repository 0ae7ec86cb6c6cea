/* Loops whose accesses lie in rows; see rows.h. Private to rows.c, which finds
 * them, and rows_forms.c, which adds their other forms. */
#ifndef VPU_SIM_COMPILER_CHECK_ROWS_PRIV_H
#define VPU_SIM_COMPILER_CHECK_ROWS_PRIV_H

#include <llvm-c/Target.h>

#include "sim/compiler/check/rows.h"
#include "sim/ir/ir.h"

enum { ROWS_LEVELS = 3 };

/* What a value is of the next item in each direction: so much more, or nobody
 * knows. Addresses have 32 bits and begin again behind the last, so sums do. */
typedef struct {
    enum { STEP_OPEN, STEP_KNOWN, STEP_VARIES } how;
    uint32_t by[ROWS_LEVELS];
} rows_step;

/* A loop over the items of one direction. */
typedef struct {
    LLVMBasicBlockRef before, header, latch, exit;
    LLVMValueRef lid, bound; /* lid + 1 < bound: there is a next one */
    LLVMValueRef number;     /* of the item, among all */
    ir_word *in;             /* its blocks */
} rows_level;

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
    rows_level levels[ROWS_LEVELS];
    unsigned n_levels;
    ir_word *in;     /* blocks of the outermost */
    uint32_t *order; /* the same, definitions before uses */
    uint32_t n;
    ir_map steps;        /* instruction -> its step */
    ir_map needed;       /* instructions that addresses and ways hang on */
    unsigned size, room; /* instructions in it; it may have */
} rows_loop;

static inline bool rows_inside(const rows_loop *l, LLVMValueRef v)
{
    return LLVMIsAInstruction(v) &&
           ir_bit(l->in, ir_cfg_number(&l->cfg, LLVMGetInstructionParent(v)));
}

static inline const rows_level *rows_outermost(const rows_loop *l)
{
    return &l->levels[l->n_levels - 1];
}

/* The loop whose header, or latch, the block is; or NULL. */
const rows_level *rows_headed(const rows_loop *l, LLVMBasicBlockRef b);
const rows_level *rows_latched(const rows_loop *l, LLVMBasicBlockRef b);
/* What is known of a value so far. */
rows_step rows_step_of(const rows_loop *l, LLVMValueRef v);

/* Asks in front of the loop whether there are to be rows, and adds a copy that
 * tells those of the first item and one without checks. */
void rows_add_forms(rows_loop *l);

#endif
