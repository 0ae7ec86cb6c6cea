/* What a recording says about a bound layer before anything ran: buffers,
 * resolved bindings, hashes of kernels. */
#ifndef VPU_RUNTIME_BACKEND_IDENTITY_H
#define VPU_RUNTIME_BACKEND_IDENTITY_H

#include "runtime/backend/backend.h"
#include "runtime/record/recording.h"

/* Fills all of *out but what ran it, times and contents. Of cfg, source_dir,
 * options, params and the machine count. Sources are read, with the files they
 * include by
 * `#include "name"`. In a.
 *
 * VPU_ERR_IO, VPU_ERR_UNSUPPORTED  of backend_source_find
 * VPU_ERR_LIMIT                    includes more than 32 deep
 * Also those of mach_desc_load. */
vpu_status backend_identity(const backend_config *cfg, const graph *g, arena *a,
                            recording *out, vpu_error *err);
/* The hash of one launch's kernel that is in a recording: of its sources and
 * what they include, of its options and those of cfg. The same errors. */
vpu_status backend_identity_kernel(const backend_config *cfg,
                                   const graph_launch *l, arena *a,
                                   uint64_t *out, vpu_error *err);

#endif
