/* Building work-group functions: what the analysis finds and the builder uses.
 * Internal to workgroup.c and workgroup_analyse.c.
 *
 * A *segment* is a run of instructions of one block that contains no collective
 * call but perhaps as its first instruction. A *region* starts at a segment
 * with such a call (or the entry) and is everything reachable from there
 * without passing another one. Blocks shared by several regions are copied into
 * each. */
#ifndef VPU_SIM_COMPILER_MIDDLE_WORKGROUP_PRIV_H
#define VPU_SIM_COMPILER_MIDDLE_WORKGROUP_PRIV_H

#include <llvm-c/Target.h>

#include "sim/compiler/middle/uniform.h"
#include "sim/compiler/middle/workgroup.h"
#include "sim/ir/ir.h"

typedef struct {
    uint32_t block;     /* in the CFG */
    LLVMValueRef sync;  /* collective call it starts with, or NULL */
    LLVMValueRef first; /* first instruction after sync */
    LLVMValueRef end;   /* terminator, or the next segment's sync */
    bool ends_in_sync;  /* then the next segment follows it */
    uint32_t region;    /* number of the region that starts here + 1, or 0 */
    ir_word *use, *def, *phi_out, *live_in, *live_out;
} wg_segment;

/* How a value gets across collective points. */
typedef enum { KEEP_NOT, KEEP_REMAT, KEEP_ONCE, KEEP_PER_ITEM } wg_keep;

typedef struct {
    LLVMValueRef inst;
    wg_keep how;
    bool cheap; /* recomputable from ids and arguments */
    bool cheap_known;
    /* PER_ITEM (and allocas): the copies of all items stand in a row, `stride`
     * bytes apart, behind `offset` bytes for each item. */
    uint32_t offset, stride, align;
    LLVMValueRef once; /* ONCE: alloca that holds it between regions */
    LLVMValueRef temp; /* alloca that holds it within a region */
} wg_value_info;

typedef struct {
    arena *arena;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetDataRef td;
    LLVMBuilderRef builder;
    LLVMTypeRef i32;
    LLVMValueRef item_fn, fn;
    unsigned lanes;
    bool observed;
    ir_cfg cfg;
    uniformity uni;
    wg_segment *segs;
    uint32_t n_segs, *first_seg, *last_seg; /* by block */
    wg_value_info *vals;
    uint32_t n_vals;
    ir_map val_index; /* instruction -> number + 1 */
    uint32_t n_regions, item_bytes;
    wg_value_info **per_item; /* values with memory for each item */
    size_t n_per_item, cap_per_item;
    /* the function being built */
    LLVMBasicBlockRef entry, *region_pre;
    LLVMValueRef ids[SIM_N_IDS], kept, n_items;
} wg;

/* Segments, liveness at collective points, and for every value that lives
 * across one how it gets there. w has its item function, CFG and uniformity. */
void wg_analyse(wg *w);

/* What is known of an instruction, NULL for anything else. */
wg_value_info *wg_value(wg *w, LLVMValueRef v);
bool wg_is_id(LLVMValueRef i); /* a work-item function of expand.h */
/* i1 has no memory form of its own. */
LLVMTypeRef wg_memory_type(wg *w, LLVMTypeRef t);

#endif
