/* What a row of a file of tuned sizes is for: hashes that do not depend on
 * paths, names of tensors or the host. */
#ifndef VPU_RUNTIME_TUNE_KEY_H
#define VPU_RUNTIME_TUNE_KEY_H

#include "runtime/backend/backend.h"
#include "runtime/tune/tune_file.h"

/* Of launch l of g, on the backend that ops and cfg say: the kernel's text and
 * options; all parameters of the machine, its SHAVEs in use and how time is
 * found, or, of a backend without BACKEND_MACHINE, its id; types, shapes and
 * values of the arguments; the global size.
 *
 * VPU_ERR_IO, VPU_ERR_UNSUPPORTED, VPU_ERR_LIMIT  of backend_identity_kernel
 * and those of mach_desc_load */
vpu_status tune_key_of(const backend_ops *ops, const backend_config *cfg,
                       const graph *g, const graph_launch *l, arena *a,
                       tune_key *out, vpu_error *err);

#endif
