/* Steps of graph_bind, one file each: target.c (what layer), select.c (which
 * CustomLayer), args.c (values), bind.c (buffers and launches). */
#ifndef VPU_RUNTIME_GRAPH_BIND_PRIV_H
#define VPU_RUNTIME_GRAPH_BIND_PRIV_H

#include "runtime/graph/bind.h"

/* The layer to bind, wherever it came from. */
typedef struct {
    tensor_desc desc;        /* as the kernel sees it, layout still PLAIN */
    const config_blob *blob; /* input fed by a constant, else NULL */
} target_input;

typedef struct {
    const char *name, *type;
    target_input *inputs;
    size_t n_inputs;
    tensor_desc output;
    const config_param *params;
    size_t n_params;
    const config_blob *blobs;
    size_t n_blobs;
} target;

/* One stage of the chosen implementation. */
typedef struct {
    const config_layer *layer;
    const config_kernel *kernel;
} stage;

typedef struct {
    const graph_request *q;
    arena *a;
    const log_sink *log;
    vpu_error *err;
    target t;
    config_var *vars; /* of graph_vars */
    size_t n_numeric;
    const stage *stages;
    size_t n_stages;
} binder;

vpu_status graph_find_target(binder *b);
vpu_status graph_select(binder *b);

/* "path:line: error: text" with VPU_ERR_INVALID. */
vpu_status graph_fail(const binder *b, const char *path, uint32_t line,
                      const char *fmt, ...) VPU_PRINTF(4, 5);

/* For config_refused_by about l. */
config_context graph_context(const binder *b, const config_layer *l);

/* Variables of an expression: numeric parameters, then B, F, Y, X and their
 * lower case from desc (NULL = 1 each, for checks without values). Valid until
 * the next call. */
const config_var *graph_vars(binder *b, const tensor_desc *desc, size_t *n);
/* The desc a dim names; NULL with an error when it is out of range. */
const tensor_desc *graph_dim_desc(const binder *b, const stage *s,
                                  const config_dim *dim);
/* Up to three positive sizes, missing ones 1. what: "global", "local". */
vpu_status graph_work_size(binder *b, const stage *s, const char *what,
                           config_text list, uint32_t out[3]);
/* The size of a buffer or local_data binding, positive: in the flat form the
 * product of up to three expressions. */
vpu_status graph_binding_size(binder *b, const stage *s,
                              const config_binding *bind, uint32_t *out);
/* arg->kind and value of a Scalar. */
vpu_status graph_scalar(const binder *b, const stage *s,
                        const config_binding *bind, graph_arg *arg);

#endif
