/* A network on the vendor's CPU plug-in: what each layer should compute. The
 * plug-in computes in float, and in one go. */
#include "runtime/openvino/openvino.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/oom.h"
#include "base/temp.h"
#include "runtime/backend/ops.h"
#include "runtime/graph/npy.h"

typedef struct {
    arena *a;
    const backend_config *cfg;
    const graph *g;
    backend_caps caps;
    void **inputs; /* by buffer of the graph; NULL: none */
    const openvino_tensor *tensors;
    uint32_t n_tensors;
    bool ran;
} cpu;

static vpu_status cpu_probe(arena *a, backend_device **list, uint32_t *n,
                            vpu_error *err)
{
    (void)err;
    *list = arena_new(a, backend_device);
    *n = 1;
    **list = (backend_device){.id = "openvino-cpu",
                              .name = "the CPU plug-in of a package openvino",
                              .version = "",
                              .usable = true};
    return VPU_OK;
}

static void cpu_close(void *self)
{
    if (self)
        arena_destroy(((cpu *)self)->a);
}

static const backend_caps *cpu_caps(const void *self)
{
    return &((const cpu *)self)->caps;
}

static vpu_status cpu_open(const backend_config *cfg, const graph *g,
                           void **self, vpu_error *err)
{
    arena *a;
    cpu *c;

    *self = NULL;
    if (!g->network)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "backend openvino-cpu runs networks alone: an IR, whose "
                       "root is <net>");
    a = arena_create(0);
    c = arena_new(a, cpu);
    c->a = a;
    c->cfg = cfg;
    c->g = g;
    c->inputs = arena_array(a, void *, g->n_buffers + 1);
    c->caps = (backend_caps){.device = "OpenVINO's CPU plug-in",
                             .version = "",
                             .stages = true,
                             .promoted = true};
    *self = c;
    return VPU_OK;
}

static vpu_status cpu_write(void *self, uint32_t i, const void *data,
                            vpu_error *err)
{
    cpu *c = self;
    const graph_buffer *b = &c->g->buffers[i];

    if (b->role != GRAPH_INPUT)
        return err_set(err, VPU_ERR_UNSUPPORTED, "'%s' cannot be written",
                       b->name);
    c->inputs[i] = arena_memdup(c->a, data, b->bytes);
    c->ran = false;
    return VPU_OK;
}

/* --- running ------------------------------------------------------------- */

typedef struct {
    cpu *c;
    char *folder;
} running;

static vpu_status infer(void *user, vpu_error *err)
{
    running *r = user;
    cpu *c = r->c;
    const char **words = arena_array(c->a, const char *, c->g->n_buffers + 1);
    const openvino_config cfg = {.package = c->g->openvino, .log = c->cfg->log};
    openvino_tensor *list;
    uint32_t n = 0;
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < c->g->n_buffers && !st; i++) {
        const graph_buffer *b = &c->g->buffers[i];
        const tensor t = {b->desc, c->inputs[i]};
        const char *path;

        if (b->role != GRAPH_INPUT || !c->inputs[i])
            continue;
        path = file_join(c->a, r->folder, arena_printf(c->a, "in%u.npy", n));
        st = npy_write(path, &t, err);
        words[n++] = arena_printf(c->a, "%s=%s", b->label, path);
    }
    if (!st)
        st = openvino_run_cpu(&cfg, c->g->network, words, n, c->a, &list,
                              &c->n_tensors, err);
    if (!st)
        c->tensors = list;
    return st;
}

static void remove_folder(void *user)
{
    temp_dir_remove(((running *)user)->folder);
}

/* All of it with the first launch. */
static vpu_status cpu_run(void *self, uint32_t first, uint32_t n,
                          backend_result *results, vpu_error *err)
{
    cpu *c = self;
    running r = {.c = c};
    vpu_status st;

    memset(results, 0, n * sizeof *results);
    if (c->ran && first)
        return VPU_OK;
    st = temp_dir(c->a, "vpusim-network", &r.folder, err);
    if (!st)
        st = oom_finally(infer, remove_folder, &r, err);
    c->ran = !st;
    return st;
}

/* --- what came out ------------------------------------------------------- */

static const openvino_tensor *find(const cpu *c, const char *name)
{
    for (uint32_t i = 0; i < c->n_tensors && name; i++)
        if (!strcmp(c->tensors[i].name, name))
            return &c->tensors[i];
    return NULL;
}

static uint64_t elements_of(const openvino_tensor *t)
{
    uint64_t n = 1;

    for (uint32_t i = 0; i < t->rank; i++)
        n *= t->dims[i];
    return n;
}

static void put(tensor_dtype type, float v, uint8_t *to, uint64_t i)
{
    uint16_t h = tensor_f32_to_f16(v);
    int32_t n = (int32_t)v;

    if (type == TENSOR_F16)
        memcpy(to + 2 * i, &h, 2);
    else if (type == TENSOR_F32)
        memcpy(to + 4 * i, &v, 4);
    else if (type == TENSOR_I32)
        memcpy(to + 4 * i, &n, 4);
    else
        to[i] = (uint8_t)n;
}

static vpu_status cpu_read(void *self, uint32_t i, void *data, vpu_error *err)
{
    const cpu *c = self;
    const graph_buffer *b = graph_buffer_at(c->g, i);
    const char *name = b->role == GRAPH_OUTPUT ? b->label : b->name;
    const openvino_tensor *t = find(c, name);
    uint64_t n = tensor_elements(&b->desc);

    if (!t)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "the CPU plug-in gives no '%s'", name ? name : b->name);
    if (elements_of(t) != n)
        return err_set(err, VPU_ERR_MISMATCH,
                       "'%s' has %llu elements on the CPU, expected %llu", name,
                       (unsigned long long)elements_of(t),
                       (unsigned long long)n);
    for (uint64_t k = 0; k < n; k++)
        put(b->desc.dtype, t->data[k], data, k);
    return VPU_OK;
}

const backend_ops backend_openvino_ops = {
    .name = "openvino-cpu",
    .called = "the vendor's CPU plug-in",
    .about = "the CPU plug-in of OpenVINO, for networks",
    .probe = cpu_probe,
    .open = cpu_open,
    .close = cpu_close,
    .caps = cpu_caps,
    .write = cpu_write,
    .read = cpu_read,
    .run = cpu_run,
    .extras = BACKEND_NATIVE | BACKEND_LAYERS,
};
