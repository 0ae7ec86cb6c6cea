/* Binds a layer, opens a backend, runs the layer and keeps its outputs. */
#include "tests/runtime/backend/backend_rig.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "runtime/graph/bind.h"
#include "runtime/graph/io.h"
#include "tests/kernels/program.h"

enum { MAX_WORDS = 16 };

void layer_init(backend_rig *r)
{
    *r = (backend_rig){.arena = arena_create(0)};
    r->dir = program_temp_dir(r->arena);
    setenv("POCL_CACHE_DIR", r->dir, 1);
    test_log_init(&r->log);
    r->cfg.log = &r->log.sink;
    r->cfg.how.timeout_s = 300;
}

void layer_fini(backend_rig *r)
{
    if (r->ops)
        r->ops->close(r->self);
    test_log_fini(&r->log);
    program_remove_dir(r->dir);
    arena_destroy(r->arena);
}

const char *layer_file(backend_rig *r, const char *name, const char *text)
{
    char *path = file_join(r->arena, r->dir, name);

    ck_assert_msg(!file_write(path, text, strlen(text), &r->err), "%s",
                  r->err.msg);
    return path;
}

static uint32_t split(backend_rig *r, const char *text, const char **words)
{
    char *copy = arena_strdup(r->arena, text), *save = NULL;
    uint32_t n = 0;

    for (char *w = strtok_r(copy, " ", &save); w;
         w = strtok_r(NULL, " ", &save))
        if (n < MAX_WORDS)
            words[n++] = w;
    return n;
}

void layer_bind(backend_rig *r, const char *xml, const char *layer,
                const char *shapes, const char *params)
{
    const char *words[MAX_WORDS];
    graph_shape s[MAX_WORDS];
    config_param p[MAX_WORDS];
    config_blob blob;
    graph_request q = {
        .binding = &r->file, .type = layer, .shapes = s, .params = p};

    ck_assert_msg(!config_file_read(xml, r->arena, NULL, CONFIG_EVERY_RELEASE,
                                    &r->file, &r->err),
                  "%s", r->err.msg);
    q.n_shapes = split(r, shapes, words);
    for (uint32_t i = 0; i < q.n_shapes; i++)
        ck_assert_msg(!graph_shape_parse(words[i], &s[i], &r->err), "%s",
                      r->err.msg);
    q.n_params = split(r, params, words);
    for (uint32_t i = 0; i < q.n_params; i++)
        ck_assert_msg(!graph_param_parse(words[i], r->arena, &p[i], &r->err),
                      "%s", r->err.msg);
    if (r->model) {
        ck_assert_msg(
            !config_model_read(r->model, NULL, r->arena, &r->ir, &r->err), "%s",
            r->err.msg);
        q.model = &r->ir;
    }
    if (r->blob) {
        ck_assert_msg(!graph_blob_read(r->blob, r->arena, &blob, &r->err), "%s",
                      r->err.msg);
        q.blobs = &blob;
        q.n_blobs = 1;
    }
    ck_assert_msg(!graph_bind(&q, r->arena, NULL, &r->graph, &r->err), "%s",
                  r->err.msg);
}

vpu_status layer_open(backend_rig *r, const char *id)
{
    if (r->ops)
        r->ops->close(r->self);
    r->self = NULL;
    r->ops = NULL;
    if (backend_find(id, &r->ops, &r->cfg.device, &r->err))
        return r->err.code;
    return r->ops->open(&r->cfg, r->graph, &r->self, &r->err);
}

vpu_status layer_run(backend_rig *r, const char *inputs,
                     backend_result *results)
{
    backend_result *to = results ? results
                                 : arena_array(r->arena, backend_result,
                                               r->graph->n_launches + 1);

    for (uint32_t i = 0; i < r->graph->n_buffers; i++) {
        const graph_buffer *b = &r->graph->buffers[i];
        unsigned char *data;

        if (b->role != GRAPH_INPUT)
            continue;
        data = arena_array(r->arena, unsigned char, b->bytes);
        ck_assert_msg(!graph_input_fill(b, inputs, data, &r->err), "%s",
                      r->err.msg);
        ck_assert(!r->ops->write(r->self, i, data, &r->err));
    }
    return r->ops->run(r->self, 0, r->graph->n_launches, to, &r->err);
}

void *layer_read(backend_rig *r, const char *name, uint64_t *bytes)
{
    for (uint32_t i = 0; i < r->graph->n_buffers; i++) {
        void *data;

        if (strcmp(r->graph->buffers[i].name, name) != 0)
            continue;
        *bytes = r->graph->buffers[i].bytes;
        data = arena_array(r->arena, unsigned char, *bytes);
        ck_assert_msg(!r->ops->read(r->self, i, data, &r->err), "%s",
                      r->err.msg);
        return data;
    }
    ck_abort_msg("no buffer '%s'", name);
    return NULL;
}

bool layer_opencl_has_half(backend_rig *r)
{
    const backend_ops *ops;
    const char *device;
    backend_device *list;
    uint32_t n;

    ck_assert(!backend_find("opencl", &ops, &device, &r->err));
    ck_assert(!ops->probe(r->arena, &list, &n, &r->err));
    for (uint32_t i = 0; i < n; i++)
        if (list[i].usable)
            return list[i].half;
    ck_abort_msg("no OpenCL device: %s", list[0].why);
    return false;
}
