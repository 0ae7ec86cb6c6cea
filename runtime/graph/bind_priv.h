/* Steps of graph_bind, one file each: target.c (a layer by hand), network.c
 * (layers of a model), select.c (which CustomLayer), args.c (values), data.c
 * (tensors and their conversions), bind.c (stages and their arguments),
 * gpu_bind.c (those of SimpleGPU). */
#ifndef VPU_RUNTIME_GRAPH_BIND_PRIV_H
#define VPU_RUNTIME_GRAPH_BIND_PRIV_H

#include "runtime/graph/bind.h"

/* A tensor that layers read or write, and the memory orders it stands in so
 * far. Shared by everyone who reads it. */
typedef struct {
    const char *name;   /* of its buffers */
    const char *origin; /* network input or layer it comes from */
    graph_role role;    /* of what the host sees; GRAPH_SCRATCH: nothing */
    uint32_t port;
    tensor_desc desc;        /* as kernels see it; layout: as it is made */
    tensor_dtype host;       /* the host's element type */
    const config_blob *blob; /* GRAPH_CONST */
    bool written;            /* by a stage laid out already */
    bool placed[2];          /* by order: buffers[order] is valid */
    uint32_t buffers[2];     /* with desc.dtype */
} graph_data;

/* A layer to bind, wherever it came from. */
typedef struct {
    const char *name, *type;
    graph_data **inputs;
    size_t n_inputs;
    graph_data *output;
    const config_param *params;
    size_t n_params;
    const config_blob *blobs;
    size_t n_blobs;
} graph_target;

/* One stage of the chosen implementation. */
typedef struct {
    const config_layer *layer;
    const config_kernel *kernel;
} graph_stage;

typedef struct {
    const graph_request *request;
    arena *arena;
    const log_sink *log;
    vpu_error *err;
    graph_target target; /* being bound */
    config_var *vars;    /* of graph_vars */
    size_t n_numeric;
    const graph_stage *stages;
    size_t n_stages;
    bool chained; /* several targets: buffers carry the layer's name */
    graph *graph;
    size_t n_buffers, cap_buffers, n_launches, cap_launches;
    const config_layer **told; /* whose notes were told */
    size_t n_told, cap_told;
} graph_binder;

/* Where in the graph and in the binding file a tensor is used. */
typedef struct {
    const char *stage;
    uint32_t edge; /* of the stage's inputs, or outputs */
    const char *path;
    uint32_t line;
} graph_place;

/* Everything to bind, producers before consumers; at least one. */
vpu_status graph_find_targets(graph_binder *b, graph_target **out, size_t *n);
/* Where a layer stands: "line 3", of several files "b.xml:3". */
const char *graph_line_of(const graph_binder *b, const config_layer *l);
/* The layer types that the binding file has, with their lines. */
const char *graph_list_types(const graph_binder *b);
vpu_status graph_targets_of_model(graph_binder *b, graph_target **out,
                                  size_t *n);
vpu_status graph_select(graph_binder *b);

/* A tensor not placed anywhere yet. */
graph_data *graph_data_new(arena *a, const char *name, graph_role role,
                           uint32_t port, const tensor_desc *desc);

/* b->stages, which is one of SimpleGPU, into the graph. */
vpu_status graph_lay_out_gpu(graph_binder *b);

/* "path:line: error: text" with VPU_ERR_INVALID. */
vpu_status graph_fail(const graph_binder *b, const char *path, uint32_t line,
                      const char *fmt, ...) VPU_PRINTF(4, 5);
/* For config_refused_by about l. */
config_context graph_context(const graph_binder *b, const config_layer *l);

/* Variables of an expression: numeric parameters, then B, F, Y, X and their
 * lower case from desc (NULL = 1 each, for checks without values). Valid until
 * the next call. */
const config_var *graph_vars(graph_binder *b, const tensor_desc *desc,
                             size_t *n);
/* Up to three positive sizes, missing ones 1. what: "global", "local". */
vpu_status graph_work_size(graph_binder *b, const graph_stage *s,
                           const char *what, config_text list, uint32_t out[3]);
/* The size of a buffer or local_data binding, positive: in the flat form the
 * product of up to three expressions. */
vpu_status graph_binding_size(graph_binder *b, const graph_stage *s,
                              const config_binding *bind, uint32_t *out);
/* arg->kind and value of a Scalar. */
vpu_status graph_scalar(const graph_binder *b, const graph_stage *s,
                        const config_binding *bind, graph_arg *arg);

/* A new buffer (bytes is filled in), a new launch. */
vpu_status graph_add_buffer(graph_binder *b, graph_buffer add,
                            const graph_place *at, uint32_t *index);
void graph_add_launch(graph_binder *b, const graph_launch *add);
/* The name of something that each layer has: as it is when there is one layer,
 * else "<layer>@name". */
const char *graph_local_name(const graph_binder *b, const char *name);
/* The first n elements of a blob as the device holds them: f32 becomes f16. */
void *graph_const_elements(arena *a, const config_blob *blob, size_t n);

/* The buffer with d in that order. What is missing is made: the host's buffer,
 * a constant, conversions before the stage. */
vpu_status graph_read_data(graph_binder *b, graph_data *d, tensor_layout order,
                           const graph_place *at, uint32_t *index);
/* The buffer a stage writes d to, in an order that all writers must agree on:
 * else *index is not set and *agrees false. */
vpu_status graph_write_data(graph_binder *b, graph_data *d, tensor_layout order,
                            const graph_place *at, uint32_t *index,
                            bool *agrees);
/* After the last writer: conversions to what the host sees. */
vpu_status graph_finish_data(graph_binder *b, graph_data *d,
                             const graph_place *at);

#endif
