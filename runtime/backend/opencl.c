/* Graphs on an OpenCL device: the same kernels, computed by somebody else. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "runtime/backend/args.h"
#include "runtime/backend/opencl_device.h"
#include "runtime/backend/opencl_text.h"
#include "runtime/backend/opencl_views.h"
#include "runtime/backend/opencl_wait.h"
#include "runtime/backend/ops.h"
#include "runtime/backend/source.h"
#include "sim/builtins/routines.h"

/* Behind each buffer: published kernels read a vector across the end. */
enum { SLACK = 256 };

enum { MAX_SOURCE = 16 << 20 };

typedef struct {
    cl_program program;
    cl_kernel kernel;
    sim_kernel *k; /* the signature */
    backend_arg *args;
    cl_mem *items; /* by argument: memory of an item of a batch, else NULL */
    backend_source src;
    opencl_text text;
} stage;

typedef struct {
    arena *a;
    const backend_config *cfg;
    const graph *g;
    const opencl_api *cl;
    opencl_device device;
    backend_caps caps;
    cl_context context;
    cl_command_queue queue;
    cl_mem *buffers;
    bool *half; /* buffer i is floats on the device */
    stage *stages;
    bool hangs; /* a launch ran out of time and may still run */
} opencl;

static vpu_status failed(const opencl *o, const char *what, cl_int code,
                         vpu_error *err)
{
    return err_set(err,
                   code == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
                           code == CL_OUT_OF_RESOURCES ||
                           code == CL_OUT_OF_HOST_MEMORY
                       ? VPU_ERR_LIMIT
                       : VPU_ERR_UNSUPPORTED,
                   "%s on %s: %s", what, o->device.name, opencl_error(code));
}

/* --- kernels ------------------------------------------------------------- */

/* The simulator's front end checks the text and tells the signature. */
static vpu_status load_signature(opencl *o, const graph_launch *l, stage *s,
                                 vpu_error *err)
{
    const kernel_compile_options user = {.options = o->cfg->compile.options,
                                         .n_options = o->cfg->compile.n_options,
                                         .no_cache = o->cfg->compile.no_cache};
    const kernel_compile_config cfg = {
        .user = backend_source_options(l, &user, o->a), .log = o->cfg->log};
    vpu_status st = VPU_ERR_IO;

    for (uint32_t i = 0; i < backend_source_count(l); i++) {
        kernel_source source;

        st = backend_source_of(l, i, o->cfg->source_dir, o->a, &s->src, err);
        if (!st && s->src.kind == SOURCE_OUR_BIN)
            st = err_set(err, VPU_ERR_UNSUPPORTED,
                         "%s: backend opencl needs the OpenCL C, not the .bin: "
                         "name the .cl in the binding",
                         s->src.path);
        source = backend_source_kernel(&s->src, l);
        if (!st)
            st = kernel_compile(&source, &cfg, o->a, &s->k, err);
        if (!st)
            return VPU_OK;
    }
    return st;
}

static vpu_status read_text(opencl *o, const graph_launch *l, stage *s,
                            vpu_error *err)
{
    const kernel_compile_options compile =
        backend_source_options(l, &o->cfg->compile, o->a);
    opencl_source src = {.path = s->src.path,
                         .entry = l->entry,
                         .text = s->src.text,
                         .options = compile.options,
                         .n_options = compile.n_options,
                         .promote = !o->device.half};
    vpu_status st;

    src.moves_halves = s->k && opencl_moves_words(o->g, l, s->k, s->args);
    st = opencl_text_read(&src, o->a, &s->text, err);
    if (!st && s->text.bytes_line && s->text.halves)
        log_warn(o->cfg->log,
                 "%s:%u: the size '%s' of a copy does not come from sizeof; "
                 "this device computes halves as floats, of which so many "
                 "bytes are half as many",
                 s->text.bytes_file, s->text.bytes_line, s->text.bytes);
    return st;
}

/* The front end does not compile it: perhaps because of something that no
 * device but the SHAVE has. */
static vpu_status explain(opencl *o, const graph_launch *l, stage *s,
                          vpu_error *err)
{
    vpu_error other;

    if (read_text(o, l, s, &other) != VPU_ERR_UNSUPPORTED)
        return VPU_ERR_COMPILE;
    if (err)
        *err = other;
    return VPU_ERR_UNSUPPORTED;
}

static vpu_status build_failed(opencl *o, const stage *s, cl_int code,
                               vpu_error *err)
{
    size_t n = 0;
    char *log;

    if (code != CL_BUILD_PROGRAM_FAILURE)
        return failed(o, "building a kernel", code, err);
    o->cl->GetProgramBuildInfo(s->program, o->device.id, CL_PROGRAM_BUILD_LOG,
                               0, NULL, &n);
    log = arena_array(o->a, char, n + 1);
    o->cl->GetProgramBuildInfo(s->program, o->device.id, CL_PROGRAM_BUILD_LOG,
                               n, log, NULL);
    return err_set(err, VPU_ERR_COMPILE,
                   "%s: the compiler of %s refuses kernel '%s'%s:\n%s",
                   s->src.path, o->device.name, s->k->name,
                   o->device.half ? ""
                                  : " (halves are floats here, because the "
                                    "device has no cl_khr_fp16)",
                   log);
}

/* For a device that has the SHAVE's functions and phases itself: the kernel's
 * own text, and its options, with the folder of the file to include from. */
static vpu_status plain_text(opencl *o, const graph_launch *l, const stage *s,
                             const char **text, const char **options,
                             vpu_error *err)
{
    const kernel_compile_options user =
        backend_source_options(l, &o->cfg->compile, o->a);
    str words = {.arena = o->a};
    char *file;
    size_t n;
    vpu_status st = VPU_OK;

    str_puts(&words, *options);
    str_printf(&words, " \"-I%s\"", file_dirname(o->a, s->src.path));
    for (uint32_t i = 0; i < user.n_options; i++)
        str_printf(&words, " \"%s\"", user.options[i]);
    *options = str_text(&words);
    *text = s->src.text;
    if (!*text) {
        st = file_read(s->src.path, MAX_SOURCE, o->a, &file, &n, err);
        *text = st ? NULL : file;
    }
    return st;
}

static vpu_status build(opencl *o, const graph_launch *l, stage *s,
                        vpu_error *err)
{
    const char *text, *entry = s->k->name;
    /* Warnings came from our front end. */
    const char *options = arena_printf(
        o->a, "-w -cl-std=CL1.2 -cl-single-precision-constant%s",
        o->device.divides ? " -cl-fp32-correctly-rounded-divide-sqrt" : "");
    cl_int code;
    vpu_status st = VPU_OK;

    if (o->device.shave)
        st = plain_text(o, l, s, &text, &options, err);
    else
        opencl_text_program(&s->text, s->k, !o->device.half, o->a, &text,
                            &entry);
    if (st)
        return st;
    s->program =
        o->cl->CreateProgramWithSource(o->context, 1, &text, NULL, &code);
    if (!code)
        code = o->cl->BuildProgram(s->program, 1, &o->device.id, options, NULL,
                                   NULL);
    if (code)
        return build_failed(o, s, code, err);
    s->kernel = o->cl->CreateKernel(s->program, entry, &code);
    return code ? failed(o, "creating a kernel", code, err) : VPU_OK;
}

/* --- buffers ------------------------------------------------------------- */

static size_t device_bytes(const opencl *o, uint32_t i)
{
    uint64_t bytes = o->g->buffers[i].bytes;

    return o->half[i] ? (bytes + 1) / 2 * sizeof(float) : bytes;
}

static vpu_status make_buffer(opencl *o, uint32_t i, vpu_error *err)
{
    const graph_buffer *b = &o->g->buffers[i];
    bool exact = o->device.shave; /* it finds what goes beside a buffer */
    size_t bytes =
        exact ? device_bytes(o, i) : (device_bytes(o, i) + SLACK + 3) / 4 * 4;
    const cl_uint zero = 0;
    cl_int code;

    if (bytes > o->device.max_alloc_bytes)
        return err_set(err, VPU_ERR_LIMIT,
                       "buffer '%s' needs %zu bytes on %s, which gives %llu at "
                       "most",
                       b->name, bytes, o->device.name,
                       (unsigned long long)o->device.max_alloc_bytes);
    o->buffers[i] =
        o->cl->CreateBuffer(o->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (!code && !exact)
        code = o->cl->EnqueueFillBuffer(o->queue, o->buffers[i], &zero,
                                        sizeof zero, 0, bytes, 0, NULL, NULL);
    return code ? failed(o, arena_printf(o->a, "buffer '%s'", b->name), code,
                         err)
                : VPU_OK;
}

static vpu_status opencl_write(void *self, uint32_t i, const void *data,
                               vpu_error *err)
{
    opencl *o = self;
    size_t n = device_bytes(o, i);
    float *floats = NULL;
    cl_int code;

    if (o->hangs)
        return err_set(err, VPU_ERR_LIMIT, "%s still runs", o->device.name);
    if (o->half[i]) {
        const unsigned char *from = data;

        floats = calloc(n / sizeof(float), sizeof(float));
        if (!floats)
            return err_set(err, VPU_ERR_NOMEM, "%zu bytes for buffer '%s'", n,
                           o->g->buffers[i].name);
        for (size_t k = 0; k < o->g->buffers[i].bytes / 2; k++) {
            builtin_half h;

            memcpy(&h, from + 2 * k, 2);
            floats[k] = (float)h;
        }
    }
    code = o->cl->EnqueueWriteBuffer(o->queue, o->buffers[i], CL_TRUE, 0, n,
                                     floats ? floats : data, 0, NULL, NULL);
    free(floats);
    return code ? failed(o, "writing a buffer", code, err) : VPU_OK;
}

static vpu_status opencl_read(void *self, uint32_t i, void *data,
                              vpu_error *err)
{
    opencl *o = self;
    size_t n = device_bytes(o, i);
    float *floats = NULL;
    cl_int code;

    if (o->hangs)
        return err_set(err, VPU_ERR_LIMIT, "%s still runs", o->device.name);
    if (o->half[i]) {
        floats = malloc(n);
        if (!floats)
            return err_set(err, VPU_ERR_NOMEM, "%zu bytes for buffer '%s'", n,
                           o->g->buffers[i].name);
    }
    code =
        o->cl->EnqueueReadBuffer(o->queue, o->buffers[i], CL_TRUE, 0, n,
                                 floats ? (void *)floats : data, 0, NULL, NULL);
    for (size_t k = 0; floats && !code && k < o->g->buffers[i].bytes / 2; k++) {
        builtin_half h = (builtin_half)floats[k];

        memcpy((unsigned char *)data + 2 * k, &h, 2);
    }
    free(floats);
    return code ? failed(o, "reading a buffer", code, err) : VPU_OK;
}

/* --- arguments ----------------------------------------------------------- */

static size_t local_bytes(const opencl *o, const stage *s, uint32_t i)
{
    size_t n = s->args[i].bytes;
    bool half = opencl_arg_is_half(&s->k->args[i], &s->text);
    /* Bytes that the kernel casts to halves. */
    bool may = s->text.half_cast_line && s->k->args[i].element_bytes <= 2;

    if (!n)
        return 1; /* OpenCL has no local memory of no bytes */
    return !o->device.half && (half || may) ? 2 * n : n;
}

static cl_int set_scalar(const opencl *o, const stage *s, uint32_t i)
{
    const sim_arg *p = &s->k->args[i];
    builtin_half h;
    float f;

    if (o->device.half || !p->is_float || p->bytes != 2)
        return o->cl->SetKernelArg(s->kernel, i, p->bytes, s->args[i].raw);
    memcpy(&h, s->args[i].raw, 2);
    f = (float)h;
    return o->cl->SetKernelArg(s->kernel, i, sizeof f, &f);
}

/* Bytes on the device from the beginning of the tensor to an item, and of it.
 */
static size_t item_at(const opencl *o, const backend_arg *x)
{
    return (size_t)x->offset * (o->half[x->buffer] ? 2 : 1);
}

static size_t item_bytes(const opencl *o, const backend_arg *x)
{
    return (size_t)x->bytes * (o->half[x->buffer] ? 2 : 1);
}

/* An item has memory of its own: where it begins in its tensor, a device need
 * not be able to begin a buffer. */
static cl_int set_buffer(const opencl *o, const stage *s, uint32_t i)
{
    const backend_arg *x = &s->args[i];
    cl_mem *at = &o->buffers[x->buffer];
    cl_int code = CL_SUCCESS;

    if (x->bytes) {
        at = &s->items[i];
        *at = o->cl->CreateBuffer(o->context, CL_MEM_READ_WRITE,
                                  item_bytes(o, x), NULL, &code);
    }
    return code ? code : o->cl->SetKernelArg(s->kernel, i, sizeof *at, at);
}

/* Items between their tensors and memory of their own. */
static cl_int move_items(const opencl *o, const stage *s, bool back)
{
    cl_int code = CL_SUCCESS;

    for (uint32_t i = 0; i < s->k->n_args && !code; i++) {
        const backend_arg *x = &s->args[i];
        cl_mem whole;

        if (!s->items[i] || (back && !x->written))
            continue;
        whole = o->buffers[x->buffer];
        code = o->cl->EnqueueCopyBuffer(
            o->queue, back ? s->items[i] : whole, back ? whole : s->items[i],
            back ? 0 : item_at(o, x), back ? item_at(o, x) : 0,
            item_bytes(o, x), 0, NULL, NULL);
    }
    return code;
}

static vpu_status set_args(opencl *o, const graph_launch *l, stage *s,
                           vpu_error *err)
{
    uint64_t local = 0;
    cl_ulong whole = 0;
    cl_int code = CL_SUCCESS;

    for (uint32_t i = 0; i < s->k->n_args && !code; i++)
        if (s->args[i].kind == BACKEND_ARG_LOCAL)
            local += local_bytes(o, s, i);
    if (local > o->device.local_bytes)
        return err_at(err, VPU_ERR_LIMIT, l->file, l->line, 0,
                      "kernel '%s' needs %llu bytes of local memory%s, %s has "
                      "%llu",
                      s->k->name, (unsigned long long)local,
                      o->device.half ? "" : " (halves are floats here)",
                      o->device.name,
                      (unsigned long long)o->device.local_bytes);
    s->items = arena_array(o->a, cl_mem, s->k->n_args + 1);
    for (uint32_t i = 0; i < s->k->n_args && !code; i++) {
        switch (s->args[i].kind) {
        case BACKEND_ARG_SCALAR:
            code = set_scalar(o, s, i);
            break;
        case BACKEND_ARG_LOCAL:
            code =
                o->cl->SetKernelArg(s->kernel, i, local_bytes(o, s, i), NULL);
            break;
        case BACKEND_ARG_BUFFER:
            code = set_buffer(o, s, i);
            break;
        }
    }
    if (code)
        return failed(o, "giving a kernel its arguments", code, err);
    /* Arrays of the kernel's own, and the arguments where a driver counts. */
    if (!o->cl->GetKernelWorkGroupInfo(s->kernel, o->device.id,
                                       CL_KERNEL_LOCAL_MEM_SIZE, sizeof whole,
                                       &whole, NULL) &&
        whole > o->device.local_bytes)
        return err_at(err, VPU_ERR_LIMIT, l->file, l->line, 0,
                      "kernel '%s' needs %llu bytes of local memory, %s has "
                      "%llu",
                      s->k->name, (unsigned long long)whole, o->device.name,
                      (unsigned long long)o->device.local_bytes);
    return VPU_OK;
}

static vpu_status check_sizes(const opencl *o, const graph_launch *l,
                              vpu_error *err)
{
    uint64_t items = 1;

    for (int d = 0; d < 3; d++) {
        if (!l->local[d] || l->global[d] < l->local[d])
            return err_at(err, VPU_ERR_INVALID, l->file, l->line, 0,
                          "%s: global size %ux%ux%u and local size %ux%ux%u "
                          "make no work-group",
                          l->name, l->global[0], l->global[1], l->global[2],
                          l->local[0], l->local[1], l->local[2]);
        items *= l->local[d];
        if (l->local[d] > o->device.max_items[d])
            items = UINT64_MAX / UINT32_MAX;
    }
    if (items > o->device.max_group)
        return err_at(err, VPU_ERR_LIMIT, l->file, l->line, 0,
                      "%s: work-groups of %ux%ux%u items are too large for %s, "
                      "which takes %zu of them, %zux%zux%zu at most",
                      l->name, l->local[0], l->local[1], l->local[2],
                      o->device.name, o->device.max_group,
                      o->device.max_items[0], o->device.max_items[1],
                      o->device.max_items[2]);
    return VPU_OK;
}

/* --- opening ------------------------------------------------------------- */

static vpu_status opencl_probe(arena *a, backend_device **list, uint32_t *n,
                               vpu_error *err)
{
    opencl_device *devices;
    const char *why;

    (void)err;
    opencl_devices(a, &devices, n, &why);
    *list = arena_array(a, backend_device, *n + 1);
    for (uint32_t i = 0; i < *n; i++) {
        const opencl_device *d = &devices[i];

        (*list)[i] = (backend_device){
            .id = arena_printf(a, "opencl:%u:%u", d->platform_index,
                               d->device_index),
            .name = arena_printf(a, "%s (%s)", d->name, d->platform_name),
            .version = d->version,
            .memory_bytes = d->memory_bytes,
            .half = d->half,
            .usable = !d->why,
            .why = d->why};
    }
    if (!*n) {
        (*list)[0] = (backend_device){.id = "opencl", .why = why};
        *n = 1;
    }
    return VPU_OK;
}

static void opencl_close(void *self)
{
    opencl *o = self;

    if (!o)
        return;
    for (uint32_t i = 0; i < o->g->n_launches; i++) {
        kernel_release(o->stages[i].k);
        opencl_text_free(&o->stages[i].text);
    }
    /* A driver waits for what runs before it lets go of anything. */
    for (uint32_t i = 0; i < o->g->n_launches && !o->hangs; i++) {
        if (o->stages[i].kernel)
            o->cl->ReleaseKernel(o->stages[i].kernel);
        for (uint32_t k = 0; o->stages[i].items && k < o->stages[i].k->n_args;
             k++)
            if (o->stages[i].items[k])
                o->cl->ReleaseMemObject(o->stages[i].items[k]);
        if (o->stages[i].program)
            o->cl->ReleaseProgram(o->stages[i].program);
    }
    for (uint32_t i = 0; i < o->g->n_buffers && !o->hangs; i++)
        if (o->buffers[i])
            o->cl->ReleaseMemObject(o->buffers[i]);
    if (o->queue && !o->hangs)
        o->cl->ReleaseCommandQueue(o->queue);
    if (o->context && !o->hangs)
        o->cl->ReleaseContext(o->context);
    arena_destroy(o->a);
}

static vpu_status open_device(opencl *o, vpu_error *err)
{
    cl_int code;

    o->context =
        o->cl->CreateContext(NULL, 1, &o->device.id, NULL, NULL, &code);
    if (!code)
        o->queue = o->cl->CreateCommandQueue(o->context, o->device.id,
                                             CL_QUEUE_PROFILING_ENABLE, &code);
    return code ? failed(o, "opening it", code, err) : VPU_OK;
}

/* Signatures, arguments and texts of all launches; which buffers are promoted.
 */
static vpu_status read_kernels(opencl *o, vpu_error *err)
{
    const graph *g = o->g;
    opencl_view *views = arena_array(o->a, opencl_view, g->n_launches + 1);
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < g->n_launches && !st; i++) {
        const graph_launch *l = &g->launches[i];
        stage *s = &o->stages[i];

        st = load_signature(o, l, s, err);
        if (st == VPU_ERR_COMPILE && s->src.path)
            st = explain(o, l, s, err);
        if (!st)
            st = backend_args_bind(&(const backend_binding){.graph = g,
                                                            .launch = l,
                                                            .kernel = s->k,
                                                            .log = o->cfg->log},
                                   o->a, &s->args, err);
        if (!st)
            st = check_sizes(o, l, err);
        if (!st)
            st = read_text(o, l, s, err);
        if (!st)
            views[i] = (opencl_view){l, s->k, s->args, &s->text,
                                     opencl_moves_words(g, l, s->k, s->args)};
    }
    if (!st && !o->device.half)
        st = opencl_views_resolve(g, views, o->a, &o->half, err);
    return st;
}

static vpu_status prepare(opencl *o, vpu_error *err)
{
    const graph *g = o->g;
    vpu_status st = read_kernels(o, err);

    if (!st)
        st = open_device(o, err);
    for (uint32_t i = 0; i < g->n_buffers && !st; i++) {
        st = make_buffer(o, i, err);
        if (!st && g->buffers[i].init)
            st = opencl_write(o, i, g->buffers[i].init, err);
        o->caps.promoted |= o->half[i];
    }
    for (uint32_t i = 0; i < g->n_launches && !st; i++) {
        st = build(o, &o->g->launches[i], &o->stages[i], err);
        if (!st)
            st = set_args(o, &g->launches[i], &o->stages[i], err);
        o->caps.promoted |= !o->device.half && o->stages[i].text.halves;
    }
    return st;
}

static vpu_status opencl_open(const backend_config *cfg, const graph *g,
                              void **self, vpu_error *err)
{
    arena *a = arena_create(0);
    opencl *o = arena_new(a, opencl);
    const char *why;
    vpu_status st;

    *self = NULL;
    if (cfg->how.n_threads)
        log_note(cfg->log, "backend opencl: the driver decides about threads");
    o->a = a;
    o->cfg = cfg;
    o->g = g;
    o->buffers = arena_array(a, cl_mem, g->n_buffers + 1);
    o->half = arena_array(a, bool, g->n_buffers + 1);
    o->stages = arena_array(a, stage, g->n_launches + 1);
    st = opencl_device_find(cfg->device, a, &o->device, err);
    if (!st) {
        o->cl = opencl_load(&why); /* found above */
        o->caps = (backend_caps){.device = o->device.name,
                                 .version = o->device.version,
                                 .stages = true,
                                 .timed = true};
        st = prepare(o, err);
    }
    if (st) {
        opencl_close(o);
        return st;
    }
    if (o->caps.promoted)
        log_note(cfg->log,
                 "%s has no cl_khr_fp16: halves are promoted to float, and "
                 "results differ from half's in the last places",
                 o->device.name);
    *self = o;
    return VPU_OK;
}

static const backend_caps *opencl_caps(const void *self)
{
    return &((const opencl *)self)->caps;
}

/* --- running ------------------------------------------------------------- */

static double seconds_of(const opencl *o, cl_event e)
{
    cl_ulong start = 0, end = 0;

    o->cl->GetEventProfilingInfo(e, CL_PROFILING_COMMAND_START, sizeof start,
                                 &start, NULL);
    o->cl->GetEventProfilingInfo(e, CL_PROFILING_COMMAND_END, sizeof end, &end,
                                 NULL);
    return end > start ? (double)(end - start) * 1e-9 : 0;
}

static vpu_status run_stage(opencl *o, uint32_t i, backend_result *result,
                            vpu_error *err)
{
    const graph_launch *l = &o->g->launches[i];
    size_t global[3], local[3];
    cl_event event;
    cl_int code;

    for (int d = 0; d < 3; d++) {
        local[d] = l->local[d];
        global[d] = l->global[d] / l->local[d] * local[d];
    }
    code = move_items(o, &o->stages[i], false);
    if (!code)
        code =
            o->cl->EnqueueNDRangeKernel(o->queue, o->stages[i].kernel, 3, NULL,
                                        global, local, 0, NULL, &event);
    if (code)
        return failed(o, l->name, code, err);
    if (!opencl_wait(o->cl, o->queue, event, o->cfg->how.timeout_s, &code)) {
        o->hangs = true;
        return err_set(err, VPU_ERR_LIMIT,
                       "%s: kernel '%s' still runs on %s after %g s "
                       "(--timeout)",
                       l->name, l->entry, o->device.name,
                       o->cfg->how.timeout_s);
    }
    if (code) {
        o->cl->ReleaseEvent(event);
        return err_set(err, VPU_ERR_FAULT, "%s: kernel '%s' failed on %s: %s",
                       l->name, l->entry, o->device.name, opencl_error(code));
    }
    *result = (backend_result){.seconds = seconds_of(o, event)};
    o->cl->ReleaseEvent(event);
    code = move_items(o, &o->stages[i], true);
    return code ? failed(o, l->name, code, err) : VPU_OK;
}

static vpu_status opencl_run(void *self, uint32_t first, uint32_t n,
                             backend_result *results, vpu_error *err)
{
    opencl *o = self;
    vpu_status st = VPU_OK;

    if (o->hangs)
        return err_set(err, VPU_ERR_LIMIT, "%s still runs", o->device.name);
    for (uint32_t i = 0; i < n && !st; i++)
        st = run_stage(o, first + i, &results[i], err);
    return st;
}

const backend_ops backend_opencl_ops = {.name = "opencl",
                                        .called = "OpenCL devices",
                                        .about = "an OpenCL 1.2 device",
                                        .probe = opencl_probe,
                                        .open = opencl_open,
                                        .close = opencl_close,
                                        .caps = opencl_caps,
                                        .write = opencl_write,
                                        .read = opencl_read,
                                        .run = opencl_run};
