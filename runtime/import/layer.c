/* Binding files, blobs and networks. */
#include "runtime/import/layer.h"

#include <stdlib.h>

#include "base/file.h"

#define MAX_BLOB ((size_t)1 << 30)

/* As much as the header of the host's cache takes. */
enum { LOOK = 65536 };

bool import_is_blob(const char *path)
{
    char *start = malloc(LOOK);
    size_t n = start ? file_peek(path, start, LOOK) : 0, at;
    bool is = n && blob_find(start, n, &at);

    free(start);
    return is;
}

static vpu_status refuse(const graph_layer_texts *t, const char *what,
                         vpu_error *err)
{
    const struct {
        bool given;
        const char *what;
    } list[] = {{t->bindings.n > 1, "another file"},
                {t->type && !t->only_type, "a layer's type"},
                {t->number != 0, "the number of a CustomLayer"},
                {t->shapes.n + t->n_more_shapes != 0, "shapes"},
                {t->params.n != 0, "parameters"},
                {t->blobs.n != 0, "blobs of Data"},
                {t->paddings.n != 0, "paddings"},
                {t->model != NULL, "a model"}};

    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].given)
            return err_set(err, VPU_ERR_INVALID,
                           "%s is a %s, which has all of its own: leave out %s",
                           t->bindings.items[0], what, list[i].what);
    return VPU_OK;
}

/* The blob that is in these bytes, and its graph. */
static vpu_status take(const uint8_t *data, size_t n, const char *path,
                       const import_config *c, arena *a, graph *g,
                       vpu_error *err)
{
    blob *b = arena_new(a, blob);
    size_t at = 0;
    vpu_status st;

    blob_find(data, n, &at);
    st = blob_parse(data + at, n - at, path, a, b, err);
    if (st)
        return st;
    st = import_blob(b, c, a, g, err);
    g->blob = data + at;
    g->n_blob = n - at;
    return st ? err_in(err, st, "%s", path) : VPU_OK;
}

static vpu_status bind_blob(const graph_layer_texts *t, const import_config *c,
                            arena *a, graph_layer *out, vpu_error *err)
{
    const char *path = t->bindings.items[0];
    vpu_status st = refuse(t, "graph blob", err);
    char *data;
    size_t n;

    if (!st && t->custom)
        st = err_set(err, VPU_ERR_INVALID,
                     "%s is a graph blob, whose custom layers are compiled "
                     "into it: a binding file is for a network",
                     path);
    if (!st)
        st = file_read(path, MAX_BLOB, a, &data, &n, err);
    return st ? st
              : take((const uint8_t *)data, n, path, c, a, out->graph, err);
}

/* Kernels' sources are where the binding file is. */
static vpu_status bind_network(const graph_layer_texts *t,
                               const import_config *c, arena *a,
                               const log_sink *log, graph_layer *out,
                               vpu_error *err)
{
    const openvino_config cfg = {.package = t->openvino,
                                 .custom = t->custom,
                                 .no_cache = c->no_cache,
                                 .log = log};
    const char *path = t->bindings.items[0];
    import_config named = *c;
    openvino_network net;
    vpu_status st = refuse(t, "network", err);

    if (!st)
        st = openvino_compile(&cfg, path, a, &net, err);
    if (st)
        return st;
    named.stages = net.stages;
    named.n_stages = net.n_stages;
    named.from_sources = true;
    if (!named.kernels && t->custom)
        named.kernels = file_dirname(a, t->custom);
    st = take(net.blob, net.n_blob, path, &named, a, out->graph, err);
    out->graph->network = arena_strdup(a, path);
    out->graph->openvino = arena_strdup(a, t->openvino);
    return st;
}

vpu_status import_layer_bind(const graph_layer_texts *t, const import_config *c,
                             arena *a, const log_sink *log, graph_layer *out,
                             vpu_error *err)
{
    const char *path = t->bindings.n ? t->bindings.items[0] : NULL;
    bool is_network = path && openvino_is_network(path);

    if (path && (is_network || import_is_blob(path)))
        *out = (graph_layer){.graph = arena_new(a, graph)};
    if (is_network)
        return bind_network(t, c, a, log, out, err);
    if (path && import_is_blob(path))
        return bind_blob(t, c, a, out, err);
    if (t->custom && path && file_exists(path))
        return err_set(err, VPU_ERR_INVALID,
                       "%s: --custom is for a network (an IR, whose root is "
                       "<net>), and %s is none",
                       t->custom, path ? path : "there");
    return graph_layer_bind(t, a, log, out, err);
}
