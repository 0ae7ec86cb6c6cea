/* A SimpleGPU layer as one of the VPU: a binding of type MVCL, and a kernel
 * whose arguments have names.
 *
 * The kernel's body stays as it is. What it knows by macros it gets otherwise:
 * sizes and pitches from the shapes of each run, as int arguments; parameters
 * of the layer as int and float arguments; element types, and what the given
 * parameters cannot be told apart from, as the macros they were.
 *
 *   PORT_PLAIN  the kernel reads and writes DDR, as on the GPU
 *   PORT_DMA    tensors whose accesses are proved to stay in a box that follows
 *               from the work-group's id are copied into local memory before a
 *               work-group runs, and out behind it (dma.h)
 *
 * Nothing here runs a layer: who asks compares the two. */
#ifndef VPU_RUNTIME_PORT_PORT_H
#define VPU_RUNTIME_PORT_PORT_H

#include "base/arena.h"
#include "runtime/config/layer.h"
#include "runtime/graph/bind.h"
#include "sim/compiler/kernel.h"
#include "sim/machine/desc.h"

typedef enum { PORT_PLAIN, PORT_DMA, PORT_N_FORMS } port_form;

const char *port_form_name(port_form f); /* "plain", "dma" */

typedef struct {
    const config_layer *layer;    /* of type SimpleGPU */
    const graph_request *request; /* that graph was bound from, by hand */
    const graph *graph;
    const char *source_dir; /* as backend_config's */
    const kernel_compile_options *compile;
    const mach_desc *desc; /* local memory, and what transfers take */
} port_job;

typedef struct {
    const char *binding; /* text of the XML */
    const char *kernel;  /* text of the .cl */
    const char *name;    /* of the .cl, without a folder */
    /* The parameters that stay some. */
    const char *const *params;
    size_t n_params;
    /* What the layer does not do for other shapes or parameters than the ones
     * of the job, and why a form could not be had: lines without an end. */
    const char *const *notes;
    size_t n_notes;
} port_result;

/* The layer in a form. Everything lives in the arena.
 *
 * VPU_ERR_UNSUPPORTED  what MVCL has no word for, or with PORT_DMA no tensor
 *                      that can be copied (message: the reason for each)
 * VPU_ERR_COMPILE      the kernel does not compile as it is
 * VPU_ERR_IO           a source that cannot be read */
vpu_status port_layer(const port_job *job, port_form form, arena *a,
                      port_result *out, vpu_error *err);

#endif
