/* What the parts of the instrumentation share: instrument.c the accesses,
 * instrument_arithmetic.c doubtful operations, taint.c where values come from.
 */
#ifndef VPU_SIM_COMPILER_CHECK_INSTRUMENT_PRIV_H
#define VPU_SIM_COMPILER_CHECK_INSTRUMENT_PRIV_H

#include <llvm-c/Target.h>

#include "sim/compiler/check/instrument.h"
#include "sim/ir/ir.h"

enum { MAX_UNDEF_TYPES = 64 };

struct instrument {
    arena *arena;
    LLVMModuleRef module;
    LLVMContextRef context;
    LLVMTargetDataRef td;
    LLVMBuilderRef builder;
    LLVMTypeRef i1, i32, i64, void_type;
    const char *path;
    const sim_kernel *kernel;
    const sim_checking *what;
    sim_sites *sites;
    size_t n_sites, cap_sites, n_objects, cap_objects;
    ir_map numbers; /* variable -> object + 1 */
    /* Conversion -> a companion (taint.h) for its result: by lane 0 or, where
     * the integer cannot hold the number, the site. */
    ir_map converted;
    LLVMTypeRef undef[MAX_UNDEF_TYPES]; /* of CALL_undef, by number */
    unsigned n_undef;
    bool writes_unknown, copies_unknown;
    /* What calls say that the operations they become do not: by line. */
    struct instrument_call_fact {
        LLVMMetadataRef at;
        bool by_item;    /* WorkItemDma… */
        uint32_t fences; /* barrier(…) */
    } *facts;
    size_t n_facts, cap_facts;
    LLVMValueRef fn; /* being worked on */
    sim_variant_kind variant;
};

LLVMValueRef instrument_k32(instrument *x, uint32_t n);
/* A call at the builder's position with the line of `at`; declares it. */
LLVMValueRef instrument_call(instrument *x, const ir_call *what,
                             LLVMValueRef at);
/* The same of a numbered one. */
LLVMValueRef instrument_numbered(instrument *x, const ir_call *what,
                                 unsigned number, LLVMValueRef at);

/* Tests in front of i, an access through p: is each index below the length of
 * its array? Arrays of one element, as some put at the end of structures for
 * more, are left out. */
void instrument_indices(instrument *x, LLVMValueRef i, LLVMValueRef p);
/* A test in front of i where it is one of the operations SITE_DIVIDE to
 * SITE_NAN stand for. */
void instrument_arithmetic(instrument *x, LLVMValueRef i);

#endif
