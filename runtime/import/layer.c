/* Binding files and blobs. */
#include "runtime/import/layer.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"

#define MAX_BLOB ((size_t)1 << 30)

/* As much as the header of the host's cache takes. */
enum { LOOK = 65536 };

bool import_is_blob(const char *path)
{
    static const size_t most = LOOK;
    FILE *f = fopen(path, "rb");
    char *start = f ? malloc(most) : NULL;
    size_t n = start ? fread(start, 1, most, f) : 0, at;
    bool is = blob_find(start, n, &at);

    free(start);
    if (f)
        fclose(f);
    return is;
}

static vpu_status refuse(const graph_layer_texts *t, vpu_error *err)
{
    const struct {
        bool given;
        const char *what;
    } list[] = {{t->bindings.n > 1, "another binding file"},
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
                           "%s is a graph blob, which has all of its own: "
                           "leave out %s",
                           t->bindings.items[0], list[i].what);
    return VPU_OK;
}

static vpu_status bind_blob(const graph_layer_texts *t, const import_config *c,
                            arena *a, graph_layer *out, vpu_error *err)
{
    const char *path = t->bindings.items[0];
    blob *b = arena_new(a, blob);
    vpu_status st = refuse(t, err);
    size_t n, at = 0;
    char *data;

    *out = (graph_layer){.graph = arena_new(a, graph)};
    if (!st)
        st = file_read(path, MAX_BLOB, a, &data, &n, err);
    if (!st && !blob_find(data, n, &at))
        st = err_set(err, VPU_ERR_PARSE, "%s: is no blob any more", path);
    if (!st)
        st = blob_parse(data + at, n - at, path, a, b, err);
    if (!st) {
        st = import_blob(b, c, a, out->graph, err);
        out->graph->blob = data + at;
        out->graph->n_blob = n - at;
        if (st)
            err_in(err, st, "%s", path);
    }
    return st;
}

vpu_status import_layer_bind(const graph_layer_texts *t, const import_config *c,
                             arena *a, const log_sink *log, graph_layer *out,
                             vpu_error *err)
{
    return t->bindings.n && import_is_blob(t->bindings.items[0])
               ? bind_blob(t, c, a, out, err)
               : graph_layer_bind(t, a, log, out, err);
}
