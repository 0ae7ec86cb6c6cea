/* Which memory a pointer can point into, by the rules of the language.
 *
 * A pointer is followed to its bases: private arrays, program-scope variables,
 * arguments. Selects and phis have several. A pointer that was loaded or made
 * from an integer may be any address that the function has let out of its
 * hands: it was stored, made an integer or passed on. */
#ifndef VPU_SIM_SHAVE_ALIAS_H
#define VPU_SIM_SHAVE_ALIAS_H

#include "sim/ir/ir.h"

typedef struct alias alias;
typedef struct alias_origin alias_origin;

/* For one function, which must not change while this is in use. In arena a. */
alias *alias_new(arena *a);

/* Where p, any pointer of the function, may point. Owned by x. */
const alias_origin *alias_of(alias *x, LLVMValueRef p);

/* Registers that the compiler itself keeps in memory: nothing else points
 * there. */
extern const alias_origin alias_spills;

/* May a pointer of one origin and one of the other reach the same byte? NULL:
 * nothing is known of it. */
bool alias_may_meet(const alias_origin *a, const alias_origin *b);
/* Can it be an address of another address space than its type says? */
bool alias_is_forged(const alias_origin *a);

#endif
