/* A bound graph as a blob. */
#ifndef VPU_RUNTIME_BLOB_NETWORK_H
#define VPU_RUNTIME_BLOB_NETWORK_H

#include "base/log.h"
#include "runtime/blob/blob.h"
#include "runtime/blob/release.h"
#include "runtime/graph/graph.h"

typedef struct {
    const char *path; /* for messages */
    const uint8_t *file;
    size_t file_bytes;
} network_kernel;

typedef struct {
    config_release release;
    uint32_t n_slices, n_shaves;
    /* The compiled kernel of each launch; those of launches with text (our
     * conversions, which become Permute and Convert stages) are not looked at.
     * Must outlive the call. */
    const network_kernel *kernels;
} network_config;

/* What an input or output is called in the blob: the model's name, where it has
 * one and no other input (output) has the same; else the buffer's. */
const char *network_name(const graph *g, uint32_t buffer);

/* Inputs and outputs are called by network_name. Inputs a Data
 * binding names but the layer does not have are not counted among a custom
 * stage's (the graph does not know of them). In a.
 *
 * VPU_ERR_INVALID      an argument of the kernel without a binding or a value,
 *                      work sizes that do not divide; errors of meta_read
 * VPU_ERR_MISMATCH     a kernel whose metadata is of the other generation
 * VPU_ERR_UNSUPPORTED  what is not known of a release: custom stages of 2019,
 *                      conversions up to 2020.3; batches (dim 0 of a
 *                      tensor that is split, graph.h); i16, u16, i64
 * VPU_ERR_LIMIT        too large */
vpu_status network_blob(const network_config *cfg, const graph *g, arena *a,
                        blob *out, vpu_error *err);

#endif
