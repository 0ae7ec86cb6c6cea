/* `vpu run` on any backend through the table: inputs in, launches, outputs and
 * a report out. */
#ifndef VPU_RUNTIME_CLI_OTHER_H
#define VPU_RUNTIME_CLI_OTHER_H

#include "runtime/backend/backend.h"

typedef struct {
    const char *id; /* of the device */
    const graph *g;
    const char *const *inputs; /* per buffer of the graph: its SPEC, or NULL */
    uint32_t repeat;           /* seconds reported are the median's */
    const char *output;        /* folder, or NULL */
    bool json;                 /* on standard output */
} other_run;

/* cfg: what belongs to every backend. Errors are the backend's, and those of
 * inputs and outputs. */
vpu_status other_run_all(const other_run *r, backend_config *cfg,
                         vpu_error *err);

#endif
