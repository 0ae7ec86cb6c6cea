/* The backend that runs nothing: outputs and scratch stay zeros. */
#include <string.h>

#include "runtime/backend/ops.h"

typedef struct {
    arena *a;
    const graph *g;
    unsigned char **buffers;
} null_backend;

static vpu_status null_probe(arena *a, backend_device **list, uint32_t *n,
                             vpu_error *err)
{
    (void)err;
    *list = arena_new(a, backend_device);
    **list = (backend_device){.id = "null",
                              .name = "nothing: outputs are zeros",
                              .version = VPU_VERSION,
                              .half = true,
                              .usable = true};
    *n = 1;
    return VPU_OK;
}

static vpu_status null_open(const backend_config *cfg, const graph *g,
                            void **self, vpu_error *err)
{
    null_backend *b;
    arena *a;

    *self = NULL;
    if (*cfg->device)
        return err_set(err, VPU_ERR_INVALID,
                       "backend null has no device '%s': its id is null",
                       cfg->device);
    a = arena_create(0);
    b = arena_new(a, null_backend);
    b->a = a;
    b->g = g;
    b->buffers = arena_array(a, unsigned char *, g->n_buffers + 1);
    for (uint32_t i = 0; i < g->n_buffers; i++) {
        b->buffers[i] = arena_array(a, unsigned char, g->buffers[i].bytes);
        if (g->buffers[i].init)
            memcpy(b->buffers[i], g->buffers[i].init, g->buffers[i].bytes);
    }
    *self = b;
    return VPU_OK;
}

static void null_close(void *self)
{
    if (self)
        arena_destroy(((null_backend *)self)->a);
}

static const backend_caps *null_caps(const void *self)
{
    static const backend_caps caps = {
        .device = "null", .version = VPU_VERSION, .stages = true};

    (void)self;
    return &caps;
}

static vpu_status null_write(void *self, uint32_t i, const void *data,
                             vpu_error *err)
{
    null_backend *b = self;

    (void)err;
    memcpy(b->buffers[i], data, b->g->buffers[i].bytes);
    return VPU_OK;
}

static vpu_status null_read(void *self, uint32_t i, void *data, vpu_error *err)
{
    null_backend *b = self;

    (void)err;
    memcpy(data, b->buffers[i], b->g->buffers[i].bytes);
    return VPU_OK;
}

static vpu_status null_run(void *self, uint32_t first, uint32_t n,
                           backend_result *results, vpu_error *err)
{
    (void)self;
    (void)first;
    (void)err;
    for (uint32_t i = 0; i < n; i++)
        results[i] = (backend_result){0};
    return VPU_OK;
}

const backend_ops backend_null_ops = {.name = "null",
                                      .called = "the null backend",
                                      .about = "runs nothing: outputs are "
                                               "zeros",
                                      .probe = null_probe,
                                      .open = null_open,
                                      .extras = BACKEND_PROGRAM,
                                      .close = null_close,
                                      .caps = null_caps,
                                      .write = null_write,
                                      .read = null_read,
                                      .run = null_run};
