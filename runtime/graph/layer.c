/* From a layer's texts to its graph. */
#include "runtime/graph/layer.h"

#include <string.h>
#include <strings.h>

vpu_status graph_layer_read(const graph_layer_texts *t, arena *a,
                            const log_sink *log, config_file *out,
                            vpu_error *err)
{
    config_file *files = arena_array(a, config_file, t->bindings.n + 1);
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < t->bindings.n && !st; i++)
        st = config_file_read(t->bindings.items[i], a, log, t->release,
                              &files[i], err);
    if (!st && t->bindings.n == 1)
        *out = files[0];
    else if (!st)
        config_file_join(files, t->bindings.n, a, log, out);
    return st;
}

static const char *type_to_bind(const graph_layer_texts *t,
                                const config_file *f)
{
    bool only = t->only_type && f->n_layers;

    for (size_t i = 0; i < f->n_layers && only && t->type; i++)
        only = strcasecmp(f->layers[i].type, t->type) &&
               !strcasecmp(f->layers[i].type, f->layers[0].type);
    return only ? NULL : t->type;
}

static vpu_status read_shapes(const graph_layer_texts *t, arena *a,
                              graph_request *q, vpu_error *err)
{
    size_t n = t->shapes.n + t->n_more_shapes;
    graph_shape *shapes = arena_array(a, graph_shape, n + 1);
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < t->shapes.n && !st; i++)
        st = graph_shape_parse(t->shapes.items[i], &shapes[i], err);
    for (size_t i = 0; i < t->n_more_shapes; i++)
        shapes[t->shapes.n + i] = t->more_shapes[i];
    q->shapes = shapes;
    q->n_shapes = n;
    return st;
}

static vpu_status read_texts(const graph_layer_texts *t, arena *a,
                             graph_request *q, vpu_error *err)
{
    config_param *params = arena_array(a, config_param, t->params.n + 1);
    config_blob *blobs = arena_array(a, config_blob, t->blobs.n + 1);
    graph_padding *pads = arena_array(a, graph_padding, t->paddings.n + 1);
    vpu_status st = read_shapes(t, a, q, err);

    for (size_t i = 0; i < t->params.n && !st; i++)
        st = graph_param_parse(t->params.items[i], a, &params[i], err);
    for (size_t i = 0; i < t->paddings.n && !st; i++)
        st = graph_padding_parse(t->paddings.items[i], &pads[i], err);
    for (size_t i = 0; i < t->blobs.n && !st; i++)
        st = graph_blob_read(t->blobs.items[i], a, &blobs[i], err);
    q->params = params;
    q->n_params = t->params.n;
    q->blobs = blobs;
    q->n_blobs = t->blobs.n;
    q->paddings = pads;
    q->n_paddings = t->paddings.n;
    return st;
}

/* The model's layer that was bound, if it is one alone. */
static const config_model_layer *bound_layer(const graph_layer *l)
{
    for (size_t i = 0; i < l->model.n_layers; i++)
        if (!strcmp(l->model.layers[i].name, l->graph->layer))
            return &l->model.layers[i];
    return NULL;
}

static void list_params(const graph_layer_texts *t, arena *a, graph_layer *l)
{
    const config_model_layer *of_model = bound_layer(l);
    size_t n = 0, most = t->params.n + (of_model ? of_model->n_params : 0);
    const char **list = arena_array(a, const char *, most + 1);

    for (size_t i = 0; i < t->params.n; i++)
        list[n++] = t->params.items[i];
    for (size_t i = 0; of_model && i < of_model->n_params; i++)
        list[n++] = arena_printf(a, "%s=%s", of_model->params[i].name,
                                 of_model->params[i].value);
    l->params = list;
    l->n_params = (uint32_t)n;
}

vpu_status graph_layer_bind(const graph_layer_texts *t, arena *a,
                            const log_sink *log, graph_layer *out,
                            vpu_error *err)
{
    graph_request *q = &out->request;
    vpu_status st = graph_layer_read(t, a, log, &out->binding, err);

    *q = (graph_request){.binding = &out->binding,
                         .at = t->at,
                         .number = t->number,
                         .batch = t->batch};
    if (!st) {
        q->type = type_to_bind(t, &out->binding);
        st = read_texts(t, a, q, err);
    }
    if (!st && t->model) {
        st = config_model_read(t->model, NULL, a, &out->model, err);
        q->model = &out->model;
    }
    if (!st)
        st = graph_bind(q, a, log, &out->graph, err);
    if (!st)
        list_params(t, a, out);
    return st;
}
