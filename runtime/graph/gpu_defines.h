/* The macros that the published GPU plug-in of 2021.4 puts in front of a
 * SimpleGPU layer's sources: its built-in ones, then those of its Define
 * elements. Sizes are in elements. */
#ifndef VPU_RUNTIME_GRAPH_GPU_DEFINES_H
#define VPU_RUNTIME_GRAPH_GPU_DEFINES_H

#include "base/arena.h"
#include "base/str.h"
#include "runtime/config/layer.h"
#include "runtime/config/where.h"
#include "runtime/graph/convert.h"
#include "runtime/graph/tensor.h"

/* A tensor as a kernel sees it; each array is B, F, Y, X. */
typedef struct {
    uint32_t dims[4];
    uint32_t lower[4], upper[4]; /* padding */
    config_format format;        /* BFYX, BYXF, YXFB or FYXB */
    tensor_dtype dtype;
    graph_pitches at;  /* of graph_gpu_place */
    uint64_t elements; /* with padding; likewise */
} graph_gpu_tensor;

/* at and elements from the rest. VPU_ERR_LIMIT: above TENSOR_MAX_BYTES, or 2^32
 * elements. */
vpu_status graph_gpu_place(graph_gpu_tensor *t, vpu_error *err);

/* The four dims of BFYX, BYXF, YXFB or FYXB, from the innermost outwards. */
const uint8_t *graph_gpu_order(config_format f);

/* The OpenCL C type of the elements; NULL where the plug-in has none. */
const char *graph_gpu_type(tensor_dtype t);

typedef struct {
    const graph_gpu_tensor *inputs; /* of the layer, in port order */
    size_t n_inputs;
    graph_gpu_tensor output;
    uint32_t global[3], local[3];
    size_t n_global, n_local; /* n_local 0: none given */
    const config_layer *layer;
    const config_param *params;
    size_t n_params;
} graph_gpu_layer;

/* Append the macros, a line each. private_arrays: not as the plug-in has them,
 * but with arrays as private ones. To clang a literal in a function of OpenCL C
 * 1.2 is in no address space, so that no pointer may lead to it; to the
 * compilers of GPUs it is in the private one.
 *
 * VPU_ERR_INVALID  a Define whose parameter the layer does not have, without a
 *                  default (message: line and column) */
vpu_status graph_gpu_defines(const graph_gpu_layer *l, bool private_arrays,
                             str *out, vpu_error *err);

#endif
