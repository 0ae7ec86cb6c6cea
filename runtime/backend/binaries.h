/* The compiled kernels of a graph, as blobs carry them. */
#ifndef VPU_RUNTIME_BACKEND_BINARIES_H
#define VPU_RUNTIME_BACKEND_BINARIES_H

#include "base/log.h"
#include "runtime/blob/network.h"
#include "runtime/graph/graph.h"
#include "sim/compiler/kernel.h"

typedef struct {
    const char *source_dir;
    kernel_compile_options compile;
    bool simulator; /* they need not run on a stick: ours are no surprise */
    const log_sink *log;
} backend_binaries_config;

/* A network_kernel per launch, in a. The .bin files a launch names, one behind
 * the other; where one is missing, its only source compiled here, with a
 * warning that a stick does not take it.
 *
 * VPU_ERR_UNSUPPORTED  several sources, not all of them .bin
 * VPU_ERR_IO, VPU_ERR_COMPILE  of the files */
vpu_status backend_binaries(const graph *g, const backend_binaries_config *cfg,
                            arena *a, network_kernel **out, vpu_error *err);

/* What a stick is sent of a graph. */
typedef struct {
    backend_binaries_config binaries;
    config_release release;
    uint32_t n_shaves; /* 0 = 7, as many as the vendor's plug-in gives a network
                        */
} backend_blob_config;

/* The blob, in a, and its bytes, which are the caller's to free also after an
 * error. Errors of backend_binaries, network_blob and blob_build. */
vpu_status backend_blob(const graph *g, const backend_blob_config *cfg,
                        arena *a, blob *out, str *bytes, vpu_error *err);

#endif
