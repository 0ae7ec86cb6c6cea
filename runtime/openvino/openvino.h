/* The vendor's own compiler and CPU plug-in, where a Python has the package
 * openvino that carries them: as a process, whose results are kept. */
#ifndef VPU_RUNTIME_OPENVINO_OPENVINO_H
#define VPU_RUNTIME_OPENVINO_OPENVINO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/log.h"

typedef struct {
    /* Where the package is: a virtual environment's folder, a folder that
     * contains openvino, or a Python. NULL: VPU_OPENVINO of the environment,
     * else what python3 has. */
    const char *package;
    const char *custom;        /* a binding file for layers; or NULL */
    const char *const *config; /* "KEY=VALUE", of the plug-in */
    uint32_t n_config;
    bool no_cache;
    const log_sink *log;
} openvino_config;

/* What the compiler calls a stage of the blob, in the blob's order. Names that
 * it does not say are "". */
typedef struct {
    const char *name;
    const char *layer; /* of the network */
    /* The network's name for what output i of the stage holds: of layers that
     * became one, the last one's; "" for parts and for what the compiler made
     * up. */
    const char *const *writes;
    uint32_t n_writes;
} openvino_stage;

typedef struct {
    const uint8_t *blob;
    size_t n_blob;
    const openvino_stage *stages;
    uint32_t n_stages;
} openvino_network;

/* Is the file a network: XML whose root is <net>? */
bool openvino_is_network(const char *path);

/* Compile a network, its inputs and outputs as FP16 where they are floats, or
 * take what compiling the same gave before (the kernel cache). Kernels of the
 * binding file are compiled first, those that are no .bin. In a.
 *
 * VPU_ERR_UNSUPPORTED  no such package (message: what to install)
 * VPU_ERR_COMPILE      the vendor's compiler refused (its message)
 * VPU_ERR_LIMIT        it took too long
 * VPU_ERR_IO           files; no process
 * and errors of compiling kernels */
vpu_status openvino_compile(const openvino_config *c, const char *path,
                            arena *a, openvino_network *out, vpu_error *err);

/* A tensor of the network, as the CPU plug-in computes it: floats in the IR's
 * order. */
typedef struct {
    const char *name; /* "LAYER", or "LAYER.PORT" */
    uint32_t rank;
    const uint32_t *dims;
    const float *data;
} openvino_tensor;

/* Run the network on the CPU plug-in; inputs are .npy files, "NAME=FILE" each.
 * All tensors between its layers, in a. Errors as openvino_compile's. */
vpu_status openvino_run_cpu(const openvino_config *c, const char *path,
                            const char *const *inputs, uint32_t n_inputs,
                            arena *a, openvino_tensor **out, uint32_t *n,
                            vpu_error *err);

#endif
