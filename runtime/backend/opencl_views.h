/* Which buffers of a graph hold halves, told from what its kernels take them
 * for: those become floats on a device without half. */
#ifndef VPU_RUNTIME_BACKEND_OPENCL_VIEWS_H
#define VPU_RUNTIME_BACKEND_OPENCL_VIEWS_H

#include "runtime/backend/args.h"
#include "runtime/backend/opencl_text.h"

/* One launch with all that is known of it. */
typedef struct {
    const graph_launch *launch;
    const sim_kernel *kernel;
    const backend_arg *args; /* kernel->n_args */
    const opencl_text *text;
    bool moves; /* a conversion of our own that copies 16-bit words */
} opencl_view;

/* half[i]: buffer i of g is to be promoted. In the arena.
 *
 * VPU_ERR_UNSUPPORTED  a buffer is half to one kernel and bits to another, or
 *                      a struct's part; names both */
vpu_status opencl_views_resolve(const graph *g, const opencl_view *views,
                                arena *a, bool **half, vpu_error *err);

/* Does this pointer argument point to halves? */
bool opencl_arg_is_half(const sim_arg *p, const opencl_text *t);
/* Does our own kernel move 16-bit words whatever they mean? */
bool opencl_moves_words(const graph *g, const graph_launch *l,
                        const sim_kernel *k, const backend_arg *args);

#endif
