/* As `vpu run` does it, without a command line. */
#include "tests/runtime/backend/bound.h"

#include <check.h>
#include <string.h>

#include "runtime/diff/record.h"
#include "runtime/graph/bind.h"
#include "runtime/graph/io.h"

/* err: of this call alone, for tests that bind in several threads. */
#define OK(call)                               \
    do {                                       \
        vpu_error err = {0};                   \
                                               \
        ck_assert_msg(!(call), "%s", err.msg); \
    } while (0)

void bound_layer(arena *a, const bound_request *q, bound *out)
{
    config_file *file = arena_new(a, config_file);
    graph_shape *shapes = arena_array(a, graph_shape, BOUND_MAX);
    config_param *params = arena_array(a, config_param, BOUND_MAX);
    config_blob *blob = arena_new(a, config_blob);
    graph_request r = {.binding = file,
                       .type = q->layer,
                       .shapes = shapes,
                       .params = params,
                       .blobs = blob};
    log_sink *none = NULL;

    OK(config_file_read(arena_printf(a, "kernels/%s/layer.xml", q->folder), a,
                        none, (config_release)0, file, &err));
    for (; r.n_shapes < BOUND_MAX && q->shapes[r.n_shapes]; r.n_shapes++)
        OK(graph_shape_parse(q->shapes[r.n_shapes], &shapes[r.n_shapes], &err));
    for (; r.n_params < BOUND_MAX && q->params[r.n_params]; r.n_params++)
        OK(graph_param_parse(q->params[r.n_params], a, &params[r.n_params],
                             &err));
    if (q->blob_words) {
        uint16_t *w = arena_array(a, uint16_t, q->blob_words);

        for (uint64_t i = 0; i < q->blob_words; i++)
            w[i] = (uint16_t)(i * 40503 >> 3 & 0x3fff);
        *blob = (config_blob){.name = "weights",
                              .precision = "FP16",
                              .data = w,
                              .bytes = 2 * q->blob_words};
        r.n_blobs = 1;
    }
    memset(out, 0, sizeof *out);
    out->arena = a;
    OK(graph_bind(&r, a, none, &out->graph, &err));
    OK(mach_desc_load(NULL, a, &out->desc, &err));
    out->params = q->params;
    out->n_params = (uint32_t)r.n_params;
    out->data = arena_array(a, void *, out->graph->n_buffers + 1);
    for (uint32_t i = 0; i < out->graph->n_buffers; i++) {
        const graph_buffer *b = &out->graph->buffers[i];

        out->data[i] = arena_push(a, b->bytes, 1, 64);
        if (b->role == GRAPH_INPUT)
            OK(graph_input_fill(b, "random:5", out->data[i], &err));
        else if (b->init)
            memcpy(out->data[i], b->init, b->bytes);
    }
}

void bound_simulate(bound *b)
{
    backend_config cfg = {.device = "", .desc = &b->desc};
    backend sim;

    OK(backend_open(backend_offering(BACKEND_INSPECT), &cfg, b->graph, &sim,
                    &err));
    for (uint32_t i = 0; i < b->graph->n_buffers; i++)
        if (b->graph->buffers[i].role == GRAPH_INPUT)
            memcpy(backend_buffer(&sim, i), b->data[i],
                   b->graph->buffers[i].bytes);
    OK(backend_run_all(&sim, b->graph, &err));
    for (uint32_t i = 0; i < b->graph->n_buffers; i++)
        memcpy(b->data[i], backend_buffer(&sim, i), b->graph->buffers[i].bytes);
    backend_close(&sim);
}

uint32_t bound_output(const bound *b)
{
    uint32_t i = 0;

    while (b->graph->buffers[i].role != GRAPH_OUTPUT)
        i++;
    return i;
}

/* --- canned results ------------------------------------------------------ */

canned *canned_new(const bound *b, bool stages)
{
    canned *c = arena_new(b->arena, canned);

    c->graph = b->graph;
    c->caps = (backend_caps){
        .device = "canned", .version = "1", .stages = stages, .cycles = true};
    c->cycles = 1000;
    c->fail_at = UINT32_MAX;
    c->data = arena_array(b->arena, void *, b->graph->n_buffers + 1);
    c->now = arena_array(b->arena, void *, b->graph->n_buffers + 1);
    for (uint32_t i = 0; i < b->graph->n_buffers; i++) {
        c->data[i] = arena_push(b->arena, b->graph->buffers[i].bytes, 1, 64);
        memcpy(c->data[i], b->data[i], b->graph->buffers[i].bytes);
        c->now[i] = arena_push(b->arena, b->graph->buffers[i].bytes, 1, 64);
    }
    return c;
}

static const backend_caps *canned_caps(const void *self)
{
    return &((const canned *)self)->caps;
}

static vpu_status canned_write(void *self, uint32_t i, const void *data,
                               vpu_error *e)
{
    canned *c = self;

    (void)e;
    memcpy(c->now[i], data, c->graph->buffers[i].bytes);
    return VPU_OK;
}

static vpu_status canned_read(void *self, uint32_t i, void *data, vpu_error *e)
{
    canned *c = self;

    (void)e;
    memcpy(data, c->now[i], c->graph->buffers[i].bytes);
    return VPU_OK;
}

static vpu_status canned_run(void *self, uint32_t first, uint32_t n,
                             backend_result *results, vpu_error *e)
{
    canned *c = self;

    for (uint32_t l = first; l < first + n; l++) {
        if (l == c->fail_at)
            return err_set(e, VPU_ERR_FAULT, "launch %u fails", l);
        results[l - first] = (backend_result){0.5, c->cycles};
        for (uint32_t i = 0; i < c->graph->n_buffers; i++)
            if (diff_writes(&c->graph->launches[l], i))
                memcpy(c->now[i], c->data[i], c->graph->buffers[i].bytes);
    }
    return VPU_OK;
}

/* What to open comes in the field that is for printing. */
static vpu_status canned_open(const backend_config *cfg, const graph *g,
                              void **self, vpu_error *e)
{
    (void)g;
    (void)e;
    *self = cfg->print_user;
    return VPU_OK;
}

static void canned_close(void *self)
{
    (void)self; /* the arena's */
}

const backend_ops canned_ops = {.name = "canned",
                                .open = canned_open,
                                .close = canned_close,
                                .caps = canned_caps,
                                .write = canned_write,
                                .read = canned_read,
                                .run = canned_run};
