/* What the two halves of the host code generator share: hostcode.c makes the
 * function and its control flow, inst.c what stands in a block. */
#ifndef VPU_SIM_COMPILER_HOST_HOSTCODE_PRIV_H
#define VPU_SIM_COMPILER_HOST_HOSTCODE_PRIV_H

#include <llvm-c/Target.h>
#include <stddef.h>

#include "sim/compiler/host/hostcode.h"
#include "sim/ir/ir.h"

/* Where a source variable of code for a debugger is; debug.h. */
typedef struct {
    LLVMMetadataRef var, loc;
    LLVMValueRef slot; /* alloca: its host address */
} host_slot;

/* The ways out of a switch, by successor. */
typedef struct {
    LLVMBasicBlockRef *ends; /* where host code comes from on each */
    LLVMValueRef phi;        /* the one filled last, */
    unsigned next;           /* and the successor behind those it has */
} host_ways;

/* A row of groups: where the next one begins, NULL: the code runs one alone.
 * Allocas, all but the blocks. Groups of a regular row that follow two others
 * run in code that notes nothing, from `quiet` on: more of them, of left. */
typedef struct {
    LLVMBasicBlockRef head, quiet;
    LLVMValueRef ended, used, group;
    LLVMValueRef logged; /* groups whose accesses the log has, in a row */
    LLVMValueRef from;   /* where those of the running group begin */
    LLVMValueRef more, left;
} host_row;

/* Fields of sim_check that code for checking sets: the item that runs, the
 * collective call it came to last, whose that was, and the one before. */
enum { HOST_ITEM, HOST_AT, HOST_AT_ITEM, HOST_BEFORE, HOST_TOLD };

typedef struct {
    arena *arena;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetDataRef td; /* the device's layout */
    LLVMBuilderRef builder;
    LLVMValueRef from, fn;
    LLVMTypeRef i1, i8, i32, i64, ptr, wg_void;
    const shave_layout *layout;
    const shave_program *program;
    bool track_lines, debug;
    const sim_sites *sites;       /* of code for checking; else NULL */
    LLVMValueRef shadow, *limits; /* its state that does not change; limits by
                                     argument */
    /* What it keeps of sim_check itself (host_check_save): allocas, promoted
     * later. */
    LLVMValueRef told[HOST_TOLD], mine[2];
    host_slot *slots;
    size_t n_slots, cap_slots;
    ir_cfg cfg;
    uint32_t *rpo; /* block -> position in reverse post-order */
    ir_map map, blocks, ends;
    ir_map exits;       /* end of a loop -> block on its way out */
    ir_map ways;        /* end of a switch -> its host_ways */
    LLVMValueRef trips; /* iterations of the loop running now; alloca */
    LLVMValueRef wg, window, args, log; /* parameters */
    LLVMValueRef cycles, log_n;         /* allocas, promoted later */
    LLVMValueRef bases[4];              /* local, stack, kept, const */
    host_row row;
    bool is_quiet; /* what is made now counts no cycles and logs nothing */
    uint32_t stack;
    uint32_t room;  /* entries that the log has for what comes now, at least */
    uint32_t *left; /* room at the end of each block */
    vpu_error *err;
    vpu_status st;
} host;

/* Remembers the first problem; building goes on with something harmless. */
void host_fail(host *h, LLVMValueRef at, const char *what);
/* Device type to host type: pointers become i32. */
LLVMTypeRef host_type(host *h, LLVMTypeRef t);
/* The host value of a device value, at the builder's position. */
LLVMValueRef host_value(host *h, LLVMValueRef v);
LLVMValueRef host_operand(host *h, LLVMValueRef i, unsigned k);
/* Operand k, a number of bytes: SIM_DMA_TOO_LARGE when it is a product that 32
 * bits do not hold. */
LLVMValueRef host_size(host *h, LLVMValueRef i, unsigned k);
/* Where a device address is on the host. */
LLVMValueRef host_ptr(host *h, LLVMValueRef device);
/* Is this device pointer one to DDR? */
bool host_is_global(LLVMValueRef p);

/* Fields of sim_wg, by offset. */
LLVMValueRef host_field_ptr(host *h, size_t offset);
LLVMValueRef host_load_field(host *h, LLVMTypeRef t, size_t offset);
/* The parameter of the function for a work-group (workgroup.h) that holds word
 * SIM_ID_…. */
LLVMValueRef host_id(const host *h, unsigned id);
/* cycles and log_n to and from sim_wg, around calls out. */
void host_save_state(host *h);
void host_restore_state(host *h);
/* At most so many arguments: wg and the log in front of a call's. */
enum { HOST_HOOK_ARGS = 2 + CALL_MAX_WORDS };
LLVMValueRef host_hook(host *h, const char *name, LLVMTypeRef ret,
                       LLVMValueRef *args, unsigned n);
void host_no_return(host *h, const char *name, LLVMValueRef *args, unsigned n);
/* The accesses logged so far go to the caches. */
void host_flush(host *h);
/* if (cond) { unlikely }: leaves the builder in the unlikely block and returns
 * the block to go on in. */
LLVMBasicBlockRef host_unlikely(host *h, LLVMValueRef cond);

/* With track_lines: notes the line of i in sim_wg. */
void host_track(host *h, LLVMValueRef i);
/* A block at the beginning for what is as large as a call's arguments. */
LLVMValueRef host_scratch(host *h, LLVMTypeRef t);

/* One device instruction that is neither phi nor terminator; NULL when it has
 * no value. */
LLVMValueRef host_inst(host *h, LLVMValueRef i);

/* row.c, for code that runs rows of groups (sim_row). Is this such? */
bool host_row_suits(const host *h);
/* At the end of what all groups share. Returns the group's number in dimension
 * 0. */
LLVMValueRef host_row_begin(host *h);
/* Behind a hook, which may have ended the row. */
void host_row_restore(host *h);
/* In place of a return. */
void host_row_end(host *h);
/* Behind the code of groups, where h->row.quiet is set: what the function's
 * code is made for once more. Returns the group's number. */
LLVMValueRef host_row_begin_quiet(host *h);

/* regular.c: does each group of a row make the accesses of the one before, all
 * of them moved by what does not change from group to group, and take as long?
 * With no other loops than those over items: other groups take long enough. */
bool host_is_regular(host *h);

/* debug.c, for HOSTCODE_DEBUG. */
/* h->fn is the code of h->from's subprogram. */
void host_debug_begin_function(host *h);
/* The calls var and stop, and the calls of debuginfo_add_lines as host code.
 * False: i is something else. */
bool host_debug_call(host *h, LLVMValueRef i);

#endif
