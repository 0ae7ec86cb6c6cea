/* Golden outputs as a device: a file NAME.npy for each output of the layer,
 * made by whatever is trusted. Inputs that lie beside them must be those of the
 * run. */
#include <string.h>

#include "base/file.h"
#include "runtime/backend/ops.h"
#include "runtime/graph/npy.h"

typedef struct {
    arena *a;
    const graph *g;
    const char *path; /* a folder, or the file of the only output */
    backend_caps caps;
    const void **outputs; /* by buffer of the graph, in its type; else NULL */
} npy_files;

static vpu_status npy_files_probe(arena *a, backend_device **list, uint32_t *n,
                                  vpu_error *err)
{
    (void)err;
    *list = arena_new(a, backend_device);
    *n = 1;
    **list = (backend_device){.id = "npy",
                              .name = "golden outputs",
                              .version = "",
                              .half = true,
                              .why = "needs a folder: npy:DIR, with a file "
                                     "NAME.npy for each output"};
    return VPU_OK;
}

static void npy_files_close(void *self)
{
    if (self)
        arena_destroy(((npy_files *)self)->a);
}

static const backend_caps *npy_files_caps(const void *self)
{
    return &((const npy_files *)self)->caps;
}

/* --- elements ------------------------------------------------------------ */

static const char *python_type(tensor_dtype t)
{
    static const char *const names[TENSOR_N_DTYPES] = {
        [TENSOR_F16] = "float16", [TENSOR_F32] = "float32",
        [TENSOR_I32] = "int32",   [TENSOR_U8] = "uint8",
        [TENSOR_I8] = "int8",     [TENSOR_I16] = "int16",
        [TENSOR_U16] = "uint16",  [TENSOR_I64] = "int64"};

    return names[t];
}

static bool same_dims(const tensor_desc *x, const tensor_desc *y)
{
    return x->rank == y->rank &&
           !memcmp(x->dims, y->dims, x->rank * sizeof *x->dims);
}

/* Floats are rounded to the halves of a tensor of halves; any other type must
 * be the tensor's. */
static vpu_status fit(npy_files *f, const char *path, const graph_buffer *b,
                      tensor *t, vpu_error *err)
{
    uint64_t n = tensor_elements(&t->desc);
    uint16_t *halves;

    if (!same_dims(&t->desc, &b->desc) ||
        (t->desc.dtype != b->desc.dtype &&
         (t->desc.dtype != TENSOR_F32 || b->desc.dtype != TENSOR_F16)))
        return err_set(err, VPU_ERR_MISMATCH,
                       "%s: the file is %s, '%s' is %s; save it with "
                       ".reshape(...).astype(numpy.%s)",
                       path, tensor_desc_text(f->a, &t->desc), b->name,
                       tensor_desc_text(f->a, &b->desc),
                       python_type(b->desc.dtype));
    if (t->desc.dtype == b->desc.dtype)
        return VPU_OK;
    halves = arena_push(f->a, b->bytes, 1, 64);
    for (uint64_t i = 0; i < n; i++)
        halves[i] = tensor_f32_to_f16(((const float *)t->data)[i]);
    t->data = halves;
    return VPU_OK;
}

static vpu_status load(npy_files *f, const char *path, const graph_buffer *b,
                       const void **data, vpu_error *err)
{
    tensor t;
    vpu_status st = npy_read(path, f->a, &t, err);

    if (!st)
        st = fit(f, path, b, &t, err);
    *data = st ? NULL : t.data;
    return st;
}

static const char *file_of(const npy_files *f, const graph_buffer *b)
{
    size_t n = strlen(f->path);

    if (b->role == GRAPH_OUTPUT && n > 4 && !strcmp(f->path + n - 4, ".npy"))
        return f->path;
    return arena_printf(f->a, "%s/%s.npy", f->path, b->name);
}

/* --- the table ----------------------------------------------------------- */

static vpu_status load_outputs(npy_files *f, vpu_error *err)
{
    const char *used = NULL;
    vpu_status st = VPU_OK;

    f->outputs = arena_array(f->a, const void *, f->g->n_buffers + 1);
    for (uint32_t i = 0; i < f->g->n_buffers && !st; i++) {
        const graph_buffer *b = &f->g->buffers[i];
        const char *path;

        if (b->role != GRAPH_OUTPUT)
            continue;
        path = file_of(f, b);
        if (used == path)
            return err_set(err, VPU_ERR_INVALID,
                           "npy:%s: one file, and the layer has several "
                           "outputs; expected a folder",
                           f->path);
        used = path;
        st = load(f, path, b, &f->outputs[i], err);
    }
    return st;
}

static vpu_status npy_files_open(const backend_config *cfg, const graph *g,
                                 void **self, vpu_error *err)
{
    arena *a;
    npy_files *f;
    vpu_status st;

    *self = NULL;
    if (!cfg->device || !*cfg->device)
        return err_set(err, VPU_ERR_INVALID,
                       "npy: no folder given; expected npy:DIR with a file "
                       "NAME.npy for each output");
    a = arena_create(0);
    f = arena_new(a, npy_files);
    f->a = a;
    f->g = g;
    f->path = arena_strdup(a, cfg->device);
    f->caps = (backend_caps){.device = f->path, .version = ""};
    st = load_outputs(f, err);
    if (st) {
        npy_files_close(f);
        return st;
    }
    *self = f;
    return VPU_OK;
}

/* An input beside the outputs tells what they were made of. */
static vpu_status npy_files_write(void *self, uint32_t i, const void *data,
                                  vpu_error *err)
{
    npy_files *f = self;
    const graph_buffer *b = &f->g->buffers[i];
    const char *path = file_of(f, b);
    const void *was = NULL;
    vpu_status st;

    if (!file_exists(path))
        return VPU_OK;
    st = load(f, path, b, &was, err);
    if (!st && memcmp(was, data, b->bytes))
        st = err_set(err, VPU_ERR_MISMATCH,
                     "%s: not the input of this run; expected --input %u=%s",
                     path, b->port, path);
    return st;
}

static vpu_status npy_files_read(void *self, uint32_t i, void *data,
                                 vpu_error *err)
{
    const npy_files *f = self;

    if (i >= f->g->n_buffers || !f->outputs[i])
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "npy:%s has outputs alone, not '%s'", f->path,
                       i < f->g->n_buffers ? f->g->buffers[i].name : "?");
    memcpy(data, f->outputs[i], f->g->buffers[i].bytes);
    return VPU_OK;
}

static vpu_status npy_files_run(void *self, uint32_t first, uint32_t n,
                                backend_result *results, vpu_error *err)
{
    const npy_files *f = self;

    if (first || n != f->g->n_launches)
        return err_set(err, VPU_ERR_INVALID,
                       "npy:%s: launches %u to %u of %u; outputs are those of "
                       "all",
                       f->path, first, first + n, f->g->n_launches);
    memset(results, 0, n * sizeof *results);
    return VPU_OK;
}

const backend_ops backend_npy_ops = {
    .name = "npy",
    .called = "golden outputs",
    .about = "outputs kept as .npy files",
    .probe = npy_files_probe,
    .open = npy_files_open,
    .close = npy_files_close,
    .caps = npy_files_caps,
    .write = npy_files_write,
    .read = npy_files_read,
    .run = npy_files_run,
    .extras = BACKEND_PARAMS | BACKEND_PROGRAM,
};
