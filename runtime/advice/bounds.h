/* Bounds of a launch: what each of the machine's resources would take alone for
 * what the launch asks of it. The largest one binds; a change that leaves it
 * alone cannot go below. */
#ifndef VPU_RUNTIME_ADVICE_BOUNDS_H
#define VPU_RUNTIME_ADVICE_BOUNDS_H

#include "runtime/backend/backend.h"

typedef enum {
#define BOUND(id, name, about) BOUND_##id,
#include "runtime/advice/bounds.def"
    BOUND_N_KINDS
} bound_kind;

typedef struct {
    uint64_t
        cycles[BOUND_N_KINDS]; /* the launch's beginning and end included */
    bound_kind binding;        /* the largest */
} bound_set;

const char *bound_name(bound_kind k);
const char *bound_about(bound_kind k);
/* Of a launch that has run with timing. */
bound_set bound_of(const backend_launch *l, const mach_desc *desc);
/* DDR's bytes over those that kernels and transfers asked for; 0 = they asked
 * for none. Above 1: lines of which parts are not used, or that come twice. */
double bound_amplification(const backend_launch *l);
/* Mean over most, of the SHAVEs' time that is not idle; 1 = evenly. */
double bound_balance(const backend_launch *l);

#endif
