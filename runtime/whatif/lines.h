/* Which source lines the cycles of launches go to, and what is left of a launch
 * when one of them costs less. */
#ifndef VPU_RUNTIME_WHATIF_LINES_H
#define VPU_RUNTIME_WHATIF_LINES_H

#include "runtime/whatif/whatif.h"

/* A run on the interpreter, whose profiles are put into *out, one for each
 * launch, in the arena. Errors as whatif_ask's. */
vpu_status lines_learn(const whatif_config *cfg, const graph *g, arena *a,
                       exec_profile **out, vpu_error *err);
/* Multiplies *issue and *accesses, what is left of all lines of launch i. rows
 * may be NULL where s is about all lines. Issue cycles and stalls of a line
 * count as spread evenly over the work-groups. */
void lines_scale(const graph *g, uint32_t i, const exec_profile *rows,
                 const whatif_scale *s, double *issue, double *accesses);

#endif
