/* A layer as users describe it, in texts: read, and bound. What `vpu run` and
 * vpu_graph_add_layer take. */
#ifndef VPU_RUNTIME_GRAPH_LAYER_H
#define VPU_RUNTIME_GRAPH_LAYER_H

#include "runtime/graph/bind.h"

typedef struct {
    const char *const *items;
    size_t n;
} graph_texts;

/* All-zero but for bindings is valid, as a graph_request is. */
typedef struct {
    graph_texts bindings; /* files, joined into one; at least one */
    const char *type;     /* as graph_request.type */
    bool only_type;       /* `type` or, where the files have none of that name,
                             the only one there is */
    uint32_t number;
    graph_texts shapes; /* of graph_shape_parse, and so on */
    /* Behind those: shapes that are no text. */
    const graph_shape *more_shapes;
    size_t n_more_shapes;
    graph_texts params, blobs, paddings;
    /* Of a network (runtime/import/layer.h): a binding file for its layers, and
     * where the vendor's package is; NULL = none, and openvino.h's default. */
    const char *custom, *openvino;
    const char *model; /* file of an IR; NULL = by hand */
    const char *at;
    config_release release; /* to refuse what it refuses */
    graph_batch batch;
} graph_layer_texts;

/* A layer bound. The graph and the request point into the others. */
typedef struct {
    config_file binding;
    config_model model;
    graph_request request;
    graph *graph;
    /* "name=value": those given, then, of a single layer of a model, its own.
     */
    const char *const *params;
    uint32_t n_params;
} graph_layer;

/* The binding files, joined. In the arena. Errors of config_file_read. */
vpu_status graph_layer_read(const graph_layer_texts *t, arena *a,
                            const log_sink *log, config_file *out,
                            vpu_error *err);
/* Everything in the arena; *out stays where it is.
 *
 * VPU_ERR_INVALID  a text that does not fit (the message quotes it)
 * and the errors of config_file_read, config_model_read and graph_bind */
vpu_status graph_layer_bind(const graph_layer_texts *t, arena *a,
                            const log_sink *log, graph_layer *out,
                            vpu_error *err);

#endif
