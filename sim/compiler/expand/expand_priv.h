/* What the expanders of built-ins share. Internal to
 * sim/compiler/expand/expand*.c. */
#ifndef VPU_SIM_COMPILER_EXPAND_EXPAND_PRIV_H
#define VPU_SIM_COMPILER_EXPAND_EXPAND_PRIV_H

#include "sim/compiler/expand/expand.h"
#include "sim/ir/ir.h"

typedef struct {
    LLVMModuleRef module;
    LLVMContextRef context;
    LLVMBuilderRef builder;
    LLVMValueRef call;
    unsigned n_args;
    ir_signature sig;
    char name[64];
    const char *data;    /* third column of the row */
    const char *types;   /* fourth */
    const char *suffix;  /* of a family's name: what follows the prefix */
    const char *problem; /* set when the call cannot be expanded */
    LLVMTypeRef i32;
} xp;

typedef LLVMValueRef xp_expander(xp *x);

/* The expanders, as the table names them. They leave the replacement value, or
 * NULL for functions without one, and set x->problem when they cannot. */
#define BUILTIN(name, fn, data, types) xp_expander x_##fn;
#define FAMILY(name, fn, types) xp_expander x_##fn;
#include "sim/builtins/builtins.def"

LLVMValueRef xp_arg(xp *x, unsigned i);
LLVMTypeRef xp_result(xp *x);
/* Argument i, spread to the result's lanes: fmax(float4, float). */
LLVMValueRef xp_wide(xp *x, unsigned i);
bool xp_is_float(LLVMTypeRef t);      /* or a vector of them */
bool xp_is_signed(xp *x, unsigned i); /* argument i, from the mangled name */
LLVMValueRef xp_k32(xp *x, uint32_t v);
LLVMValueRef xp_splat(xp *x, LLVMValueRef v, LLVMTypeRef like);
/* Constants of like's shape. */
LLVMValueRef xp_real(xp *x, LLVMTypeRef like, double v);
LLVMValueRef xp_int(xp *x, LLVMTypeRef like, uint64_t v);

LLVMValueRef xp_intrinsic(xp *x, const char *name, LLVMTypeRef *over,
                          unsigned n_over, LLVMValueRef *args, unsigned n);
/* A runtime call. */
LLVMValueRef xp_runtime(xp *x, call_id id, LLVMTypeRef ret, LLVMValueRef *args,
                        unsigned n);
/* One with one argument, lane by lane. CALL_NONE sets x->problem: the direction
 * of a rounding that is none. */
LLVMValueRef xp_lanewise(xp *x, call_id id, LLVMValueRef v, LLVMTypeRef to);
LLVMValueRef xp_min_max(xp *x, LLVMValueRef a, LLVMValueRef b, bool max);

/* Aligned to the element only. */
void xp_store(xp *x, LLVMValueRef v, LLVMValueRef p);

#endif
