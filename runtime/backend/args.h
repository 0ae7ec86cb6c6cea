/* Arguments of a launch in the order of the kernel's signature. */
#ifndef VPU_RUNTIME_BACKEND_ARGS_H
#define VPU_RUNTIME_BACKEND_ARGS_H

#include "runtime/graph/graph.h"
#include "sim/compiler/kernel.h"

typedef enum {
    BACKEND_ARG_SCALAR,
    BACKEND_ARG_LOCAL,
    BACKEND_ARG_BUFFER
} backend_arg_kind;

typedef struct {
    backend_arg_kind kind;
    uint8_t raw[128]; /* SCALAR: as the kernel has it, sim_arg.bytes of them */
    uint32_t bytes;   /* LOCAL: as the binding says; BUFFER: of the part of it,
                         from offset on, that is meant; 0: all of it */
    uint32_t buffer;  /* BUFFER: index into graph.buffers */
    uint32_t offset;  /* BUFFER: byte in it */
    uint32_t items;   /* as graph_arg.items */
    bool written;     /* as graph_arg.written */
} backend_arg;

/* A kernel and its launch in a graph. */
typedef struct {
    const graph *graph;
    const graph_launch *launch;
    const sim_kernel *kernel;
    const log_sink *log; /* notes; NULL = none */
} backend_binding;

/* b->kernel->n_args of them, in the arena. Bindings no argument takes are
 * noted.
 *
 * VPU_ERR_MISMATCH  signature and binding differ (kernel, argument, both types,
 *                   file and line of the binding)
 * VPU_ERR_INVALID   an argument without binding, or with a broken one */
vpu_status backend_args_bind(const backend_binding *b, arena *a,
                             backend_arg **out, vpu_error *err);

/* Elements behind a pointer argument, vectors taken apart; uint and ulong count
 * as their signed sisters. False for structs and names of the kernel's own. */
bool backend_arg_type(const sim_arg *p, tensor_dtype *out);

#endif
