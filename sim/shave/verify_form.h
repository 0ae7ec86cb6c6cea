/* IR values as sums of products, modulo 2^32: what the verifier of memory order
 * knows about addresses. Shares nothing with the passes it checks. */
#ifndef VPU_SIM_SHAVE_VERIFY_FORM_H
#define VPU_SIM_SHAVE_VERIFY_FORM_H

#include <llvm-c/Target.h>

#include "sim/ir/ir.h"

enum { FORM_MAX_TERMS = 16, FORM_MAX_FACTORS = 3 };

typedef struct {
    LLVMValueRef factors[FORM_MAX_FACTORS]; /* ascending, NULL behind the last;
                                               none: the constant */
    uint32_t times;
} forms_term;

typedef struct {
    forms_term terms[FORM_MAX_TERMS]; /* none with times 0 */
    uint32_t n;
} form;

typedef struct {
    arena *arena;
    LLVMTargetDataRef td;
    ir_map known; /* value -> form */
} forms;

void forms_init(forms *f, LLVMTargetDataRef td, arena *a);

/* v, an integer or a pointer, as a form. What cannot be taken apart is a factor
 * of its own, so there always is one. */
const form *forms_of(forms *f, LLVMValueRef v);

/* x, a form of values in a loop of one block, as it is `distance` iterations
 * later in terms of the values now. false: not known. */
bool forms_later(forms *f, const form *x, LLVMBasicBlockRef loop,
                 uint32_t distance, form *out);

/* Is a - b the same number always? */
bool forms_difference(const form *a, const form *b, uint32_t *out);

#endif
