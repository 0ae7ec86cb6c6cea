/* Loads a plug-in, negotiates formats and runs it, in a process of its own:
 * nothing here is freed or unloaded, the process ends. */
#include "base/clock.h"
#include "base/file.h"
#include "runtime/backend/host_priv.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <strings.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    const plugin_job *job;
    const vpu_plugin *p;
    void *self;
    vpu_plugin_desc in[HOST_MAX_PORTS], out[HOST_MAX_PORTS];
    char text[1024];
    vpu_plugin_error error;
} child;

static _Noreturn void finish(const child *c, vpu_status st, const char *fmt,
                             ...) VPU_PRINTF(3, 4);

static _Noreturn void finish(const child *c, vpu_status st, const char *fmt,
                             ...)
{
    plugin_shared *s = c->job->shared;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(s->message, sizeof s->message, fmt, ap);
    va_end(ap);
    s->status = st;
    s->done = 1;
    fflush(stdout);
    fflush(stderr);
    _exit(0);
}

/* The plug-in's own message, whatever it left there. */
static const char *text_of(child *c)
{
    c->text[sizeof c->text - 1] = 0;
    return c->text[0] ? c->text : "no reason given";
}

/* --- loading ------------------------------------------------------------- */

static void check_file(const child *c)
{
    const char *path = c->job->path;
    unsigned char m[4] = {0};
    vpu_error err;
    file_in f;
    vpu_status st = file_in_open(&f, path, UINT64_MAX, &err);

    if (st)
        finish(c, st, "%s (expected a plug-in: host:FILE.so)", err.msg);
    st = file_in_read(&f, 0, m, f.bytes < 4 ? f.bytes : 4, &err);
    file_in_close(&f);
    if (st)
        finish(c, st, "%s", err.msg);
    if (f.bytes < 4 || memcmp(m, "\177ELF", 4))
        finish(c, VPU_ERR_UNSUPPORTED,
               "%s: not a shared object: it begins with %02x %02x %02x %02x, "
               "expected 7f 45 4c 46 (ELF)",
               path, m[0], m[1], m[2], m[3]);
}

static bool defines(const vpu_plugin *p, const char *type)
{
    for (uint32_t i = 0; p->types && p->types[i]; i++)
        if (!strcasecmp(p->types[i], type))
            return true;
    return false;
}

static void list_types(const vpu_plugin *p, char *text, size_t n)
{
    size_t used = 0;

    text[0] = 0;
    for (uint32_t i = 0; p->types && p->types[i] && used + 1 < n; i++)
        used += (size_t)snprintf(text + used, n - used, "%s%s", i ? ", " : "",
                                 p->types[i]);
}

static void load(child *c)
{
    const plugin_job *j = c->job;
    vpu_plugin_get_fn *get;
    void *lib, *symbol;
    char types[512];

    check_file(c);
    /* A name without a '/' would be looked for on the library path. */
    if (strchr(j->path, '/')) {
        lib = dlopen(j->path, RTLD_NOW | RTLD_LOCAL);
    } else {
        snprintf(types, sizeof types, "./%s", j->path);
        lib = dlopen(types, RTLD_NOW | RTLD_LOCAL);
    }
    if (!lib)
        finish(c, VPU_ERR_UNSUPPORTED, "%s cannot be loaded: %s", j->path,
               dlerror());
    symbol = dlsym(lib, VPU_PLUGIN_SYMBOL);
    if (!symbol)
        finish(c, VPU_ERR_UNSUPPORTED,
               "%s has no symbol %s: not a plug-in? VPU_PLUGIN_EXPORT of "
               "vpu_plugin.h defines it",
               j->path, VPU_PLUGIN_SYMBOL);
    memcpy(&get, &symbol, sizeof get);
    c->p = get(VPU_PLUGIN_ABI);
    if (!c->p)
        finish(c, VPU_ERR_UNSUPPORTED,
               "%s gives no table for version %u of the plug-in interface",
               j->path, VPU_PLUGIN_ABI);
    if (c->p->abi != VPU_PLUGIN_ABI)
        finish(c, VPU_ERR_UNSUPPORTED,
               "%s was built for version %u of the plug-in interface; this "
               "program has version %u. Compile it with this vpu_plugin.h",
               j->path, c->p->abi, VPU_PLUGIN_ABI);
    if (c->p->bytes != sizeof(vpu_plugin) || !c->p->init || !c->p->execute)
        finish(c, VPU_ERR_UNSUPPORTED,
               "%s: its table has %u bytes, expected %zu, with init and "
               "execute in it",
               j->path, c->p->bytes, sizeof(vpu_plugin));
    snprintf(j->shared->name, sizeof j->shared->name, "%s",
             c->p->name ? c->p->name : "plug-in");
    snprintf(j->shared->version, sizeof j->shared->version, "%s",
             c->p->version ? c->p->version : "");
    list_types(c->p, types, sizeof types);
    if (!defines(c->p, j->layer.type))
        finish(c, VPU_ERR_UNSUPPORTED,
               "%s does not define layers of type '%s'; it has %s", j->path,
               j->layer.type, types);
}

/* --- formats and shapes -------------------------------------------------- */

/* The dtypes of both sides have the same numbers. */
_Static_assert((int)TENSOR_F16 == (int)VPU_PLUGIN_F16 &&
                   (int)TENSOR_F32 == (int)VPU_PLUGIN_F32 &&
                   (int)TENSOR_I32 == (int)VPU_PLUGIN_I32 &&
                   (int)TENSOR_U8 == (int)VPU_PLUGIN_U8 &&
                   (int)TENSOR_I8 == (int)VPU_PLUGIN_I8 &&
                   (int)TENSOR_I16 == (int)VPU_PLUGIN_I16 &&
                   (int)TENSOR_U16 == (int)VPU_PLUGIN_U16 &&
                   (int)TENSOR_I64 == (int)VPU_PLUGIN_I64,
               "dtypes");

static vpu_plugin_desc describe(const tensor_desc *d, bool halves, bool minor)
{
    vpu_plugin_desc p = {.dtype = (uint32_t)d->dtype, .rank = d->rank};

    if (halves && d->dtype == TENSOR_F32)
        p.dtype = VPU_PLUGIN_F16;
    if (minor && d->rank >= 3)
        p.layout = VPU_PLUGIN_MINOR;
    for (uint32_t i = 0; i < d->rank; i++)
        p.dims[i] = d->dims[i];
    return p;
}

static tensor_desc back(const vpu_plugin_desc *p)
{
    tensor_desc d = {.dtype = (tensor_dtype)p->dtype,
                     .rank = p->rank,
                     .layout = p->layout == VPU_PLUGIN_MINOR
                                   ? TENSOR_CHANNEL_MINOR
                                   : TENSOR_PLAIN};

    for (uint32_t i = 0; i < p->rank && i < TENSOR_MAX_RANK; i++)
        d.dims[i] = p->dims[i];
    return d;
}

/* As given, floats as halves, channels innermost, both. */
static void negotiate(child *c)
{
    const plugin_job *j = c->job;
    char first[sizeof c->text] = "";

    j->shared->step = HOST_FORMATS;
    for (int k = 0; k < 4; k++) {
        for (uint32_t i = 0; i < j->n_in; i++)
            c->in[i] = describe(&j->in[i].desc, k & 1, k & 2);
        for (uint32_t i = 0; i < j->n_out; i++)
            c->out[i] = describe(&j->out[i].desc, k & 1, k & 2);
        c->text[0] = 0;
        if (!c->p->formats || !c->p->formats(c->self, c->in, j->n_in, c->out,
                                             j->n_out, &c->error))
            return;
        if (!k)
            snprintf(first, sizeof first, "%s", text_of(c));
    }
    finish(c, VPU_ERR_UNSUPPORTED,
           "%s does not take the tensors of layer '%s': %s", j->path,
           j->layer.name, first);
}

static void shape_text(const vpu_plugin_desc *d, char *text, size_t n)
{
    size_t used = 0;

    snprintf(text, n, "scalar");
    for (uint32_t i = 0; i < d->rank && i < VPU_PLUGIN_MAX_RANK && used + 1 < n;
         i++)
        used += (size_t)snprintf(text + used, n - used, "%s%u", i ? "x" : "",
                                 d->dims[i]);
}

static void infer(child *c)
{
    const plugin_job *j = c->job;
    vpu_plugin_desc want[HOST_MAX_PORTS];
    char is[128], should[128];

    j->shared->step = HOST_SHAPE;
    if (!c->p->shape)
        return;
    memcpy(want, c->out, sizeof want);
    c->text[0] = 0;
    if (c->p->shape(c->self, c->in, j->n_in, want, j->n_out, &c->error))
        finish(c, VPU_ERR_MISMATCH, "%s, shape of layer '%s': %s", j->path,
               j->layer.name, text_of(c));
    for (uint32_t i = 0; i < j->n_out; i++) {
        if (want[i].rank == c->out[i].rank &&
            !memcmp(want[i].dims, c->out[i].dims,
                    want[i].rank * sizeof *want[i].dims))
            continue;
        shape_text(&c->out[i], is, sizeof is);
        shape_text(&want[i], should, sizeof should);
        finish(c, VPU_ERR_MISMATCH,
               "layer '%s': output %s is %s, but %s makes %s of these inputs",
               j->layer.name, j->out[i].name, is, j->path, should);
    }
}

/* --- running ------------------------------------------------------------- */

/* Pages of their own, so that inputs can be made read-only. */
static void *pages(const child *c, uint64_t bytes)
{
    void *p = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        finish(c, VPU_ERR_NOMEM, "%s: no memory for a tensor of %llu bytes",
               c->job->path, (unsigned long long)bytes);
    return p;
}

static void change_type(const void *from, tensor_dtype t, void *to, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (t == TENSOR_F32)
            ((uint16_t *)to)[i] = tensor_f32_to_f16(((const float *)from)[i]);
        else
            ((float *)to)[i] = tensor_f16_to_f32(((const uint16_t *)from)[i]);
}

/* From one description of a tensor to the other; types differ by half and
 * float only. */
static void convert(const child *c, const tensor_desc *from, const void *data,
                    const tensor_desc *to, void *out)
{
    tensor_desc d = *from;

    if (from->dtype != to->dtype) {
        void *typed = pages(c, tensor_elements(to) * 4);

        d.dtype = to->dtype;
        change_type(data, from->dtype, typed, tensor_elements(to));
        data = typed;
    }
    tensor_relayout(&d, data, to->layout, out);
}

static void execute(child *c)
{
    const plugin_job *j = c->job;
    vpu_plugin_tensor in[HOST_MAX_PORTS], out[HOST_MAX_PORTS];
    double start;

    for (uint32_t i = 0; i < j->n_in; i++) {
        tensor_desc d = back(&c->in[i]);

        in[i] = (vpu_plugin_tensor){c->in[i], tensor_bytes(&d), NULL};
        in[i].data = pages(c, in[i].bytes);
        convert(c, &j->in[i].desc, j->in[i].data, &d, in[i].data);
        mprotect(in[i].data, in[i].bytes, PROT_READ);
    }
    for (uint32_t i = 0; i < j->n_out; i++) {
        tensor_desc d = back(&c->out[i]);

        out[i] = (vpu_plugin_tensor){c->out[i], tensor_bytes(&d), NULL};
        out[i].data = pages(c, out[i].bytes);
    }
    j->shared->step = HOST_EXECUTE;
    c->text[0] = 0;
    start = clock_seconds();
    if (c->p->execute(c->self, in, j->n_in, out, j->n_out, &c->error))
        finish(c, VPU_ERR_PLUGIN, "%s, layer '%s': %s", j->path, j->layer.name,
               text_of(c));
    j->shared->seconds = clock_seconds() - start;
    for (uint32_t i = 0; i < j->n_out; i++) {
        tensor_desc d = back(&c->out[i]);

        convert(c, &d, out[i].data, &j->out[i].desc, j->out[i].data);
    }
}

_Noreturn void plugin_child(const plugin_job *job)
{
    child c = {.job = job};

    c.error = (vpu_plugin_error){c.text, sizeof c.text};
    load(&c);
    job->shared->step = HOST_INIT;
    if (c.p->init(&job->layer, &c.self, &c.error))
        finish(&c, VPU_ERR_INVALID, "%s refuses layer '%s': %s", job->path,
               job->layer.name, text_of(&c));
    negotiate(&c);
    infer(&c);
    if (job->execute)
        execute(&c);
    job->shared->step = HOST_DESTROY;
    if (c.p->destroy)
        c.p->destroy(c.self);
    finish(&c, VPU_OK, "%s", "");
}
