/* What the cases take on a machine that is described: the model that is
 * fitted. */
#ifndef VPU_RUNTIME_CALIBRATE_MODEL_H
#define VPU_RUNTIME_CALIBRATE_MODEL_H

#include "runtime/backend/backend.h"

typedef struct model model;

/* Launches of g, which is borrowed, on the simulator. desc: where memory lies,
 * what there is of it, and how many SHAVEs there are; other machines that are
 * asked about have the same.
 *
 * Errors of backend_open */
vpu_status model_open(const graph *g, const mach_desc *desc,
                      const log_sink *log, model **out, vpu_error *err);
void model_close(model *m); /* NULL is fine */

/* Zeros for every input of g, which b was opened for: the contents that all
 * kernels expect. Errors of backend_ops.write. */
vpu_status model_fill(const backend *b, const graph *g, arena *a,
                      vpu_error *err);

/* The machine that is asked about from now on, first the one of model_open. */
void model_set(model *m, const mach_desc *desc);
/* What a launch takes there. Where only the engine's numbers differ from those
 * of the launch's last run, its steps are replayed (sim/machine/record.h).
 *
 * Errors of backend_run, mach_record_replay */
vpu_status model_seconds(model *m, size_t launch, double *seconds,
                         vpu_error *err);

/* So far. */
void model_count(const model *m, uint64_t *runs, uint64_t *replays);

#endif
