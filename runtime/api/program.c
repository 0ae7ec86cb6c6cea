/* Programs, and the kernels in them. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/oom.h"
#include "runtime/api/api_priv.h"
#include "runtime/backend/source.h"
#include "sim/compiler/front/clang.h"

enum { MAX_SOURCE = 16 << 20 };

__asm__(".section .rodata\n"
        "vpu_images_start:\n"
        ".incbin \"include/vpusim/images.h\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char vpu_images_start[];

/* --- programs ------------------------------------------------------------- */

typedef struct {
    const vpu_program_options *o;
    vpu_context *context;
    arena *a;
    vpu_program *made;
} making;

/* What a file includes by "name" is beside it, a text's is not. */
static void look_beside(vpu_program *p)
{
    arena *a = p->arena;
    const char **all = arena_array(a, const char *, p->n_options + 2);
    const char *dir = file_plain_name(a, file_dirname(a, p->path));

    memcpy(all, p->options, p->n_options * sizeof *all);
    all[p->n_options++] = arena_printf(a, "-I%s", dir);
    p->options = all;
}

/* The file as the program's own text. */
static vpu_status read_source(vpu_program *p, vpu_error *err)
{
    char *text;
    size_t n;
    vpu_status st = file_read(p->path, MAX_SOURCE, p->arena, &text, &n, err);

    if (!st && strlen(text) != n)
        st = err_set(err, VPU_ERR_INVALID,
                     "%s is compiled: images are for OpenCL C", p->path);
    p->source = text;
    look_beside(p);
    return st;
}

static vpu_status make_program(void *user, vpu_error *err)
{
    making *m = user;
    const vpu_program_options *o = m->o;
    vpu_program *p;

    vpu_status st = VPU_OK;

    m->a = arena_create(0);
    m->made = p = arena_new(m->a, vpu_program);
    atomic_init(&p->refs, 1);
    p->arena = m->a;
    p->source = arena_strdup(m->a, o->source);
    p->path = arena_strdup(m->a, o->file   ? o->file
                                 : o->name ? o->name
                                           : "source.cl");
    p->options = api_copy_list(m->a, o->build_options, o->n_build_options);
    p->n_options = (uint32_t)o->n_build_options;
    if (o->file && !file_exists(o->file))
        return err_set(err, VPU_ERR_IO, "%s: there is no such file", o->file);
    if (o->images && o->file)
        st = read_source(p, err);
    if (o->images && !st)
        p->source = arena_printf(
            m->a, "%s%s\n%s%s", fe_line_mark(m->a, "<vpusim/images.h>"),
            vpu_images_start, fe_line_mark(m->a, p->path), p->source);
    return st;
}

vpu_status vpu_program_create(vpu_program **out, vpu_context *context,
                              const vpu_program_options *options,
                              vpu_error *err)
{
    vpu_program_options o;
    making m = {.o = &o, .context = context};
    vpu_status st = api_need(out, "out", err);

    if (st)
        return st;
    *out = NULL;
    st = api_need(context, "context", err);
    if (!st)
        st =
            api_take_options(&o, sizeof o, options, "vpu_program_options", err);
    if (!st && !o.source == !o.file)
        st = err_set(err, VPU_ERR_INVALID,
                     "vpu_program_options: %s; one of source and file is "
                     "needed",
                     o.source ? "both source and file are given"
                              : "neither source nor file is given");
    if (!st && o.n_build_options)
        st = api_need(o.build_options, "build_options", err);
    if (!st)
        st = oom_guard(make_program, &m, err);
    if (st) {
        arena_destroy(m.a);
        return st;
    }
    m.made->context = api_context_keep(context);
    *out = m.made;
    return VPU_OK;
}

vpu_program *api_program_keep(vpu_program *p)
{
    atomic_fetch_add(&p->refs, 1);
    return p;
}

void vpu_program_free(vpu_program *program)
{
    if (!program || atomic_fetch_sub(&program->refs, 1) != 1)
        return;
    for (vpu_kernel *k = program->kernels; k; k = k->next)
        kernel_release(k->compiled);
    if (!program->of_context)
        vpu_context_free(program->context);
    arena_destroy(program->arena);
}

/* --- kernels -------------------------------------------------------------- */

typedef struct {
    vpu_program *p;
    const char *name;
    vpu_kernel *made;
} compiling;

/* A compiler's diagnostics begin with their place: "FILE:LINE:COL: error:". */
static void find_place(vpu_error *err)
{
    unsigned line, col;
    const char *at = err ? strstr(err->msg, ": error:") : NULL;
    size_t n;

    if (!at || *err->file)
        return;
    for (int colons = 0; at > err->msg && colons < 2;)
        colons += *--at == ':';
    n = (size_t)(at - err->msg);
    if (sscanf(at, ":%u:%u", &line, &col) != 2 || n >= sizeof err->file)
        return;
    memcpy(err->file, err->msg, n);
    err->file[n] = 0;
    err->line = line;
    err->col = col;
}

/* Signature and program, without code of this machine. */
static vpu_status compile(void *user, vpu_error *err)
{
    compiling *c = user;
    vpu_program *p = c->p;
    const backend_config *cfg = &p->context->cfg;
    const char *const sources[] = {p->path};
    const graph_launch l = {.name = p->path,
                            .entry = c->name,
                            .given = p->source,
                            .sources = sources,
                            .n_sources = 1,
                            .options = p->options,
                            .n_options = p->n_options,
                            .file = p->path};
    vpu_kernel *k = arena_new(p->arena, vpu_kernel);
    backend_source src;
    kernel_compile_config compile = {
        .user = backend_source_options(&l, &cfg->compile, p->arena),
        .log = cfg->log};
    vpu_status st =
        backend_source_of(&l, 0, cfg->source_dir, p->arena, &src, err);

    if (!st) {
        const kernel_source source = backend_source_kernel(&src, &l);

        st = kernel_compile(&source, &compile, p->arena, &k->compiled, err);
        if (st == VPU_ERR_COMPILE)
            find_place(err);
    }
    k->program = p;
    k->asked = arena_strdup(p->arena, c->name);
    c->made = k;
    return st;
}

vpu_status vpu_program_kernel(vpu_program *program, const char *name,
                              const vpu_kernel **out, vpu_error *err)
{
    compiling c = {.p = program, .name = name};
    vpu_status st = api_need(out, "out", err);

    if (st)
        return st;
    *out = NULL;
    st = api_need(program, "program", err);
    if (st)
        return st;
    for (vpu_kernel *k = program->kernels; k; k = k->next)
        if (name && k->asked ? !strcmp(k->asked, name) : name == k->asked) {
            *out = k;
            return VPU_OK;
        }
    st = oom_guard(compile, &c, err);
    if (st)
        return st;
    c.made->next = program->kernels;
    program->kernels = c.made;
    *out = c.made;
    return VPU_OK;
}

const char *vpu_kernel_name(const vpu_kernel *kernel)
{
    return kernel ? kernel->compiled->name : NULL;
}

uint32_t vpu_kernel_vector_factor(const vpu_kernel *kernel)
{
    const sim_variant *v;

    if (!kernel)
        return 0;
    v = &kernel->compiled->variants[SIM_VECTORIZED];
    return v->present ? v->factor : 1;
}

const char *vpu_kernel_not_vectorized(const vpu_kernel *kernel)
{
    return kernel ? kernel->compiled->not_vectorized : NULL;
}

uint32_t vpu_kernel_local_bytes(const vpu_kernel *kernel)
{
    return kernel ? kernel->compiled->local_bytes : 0;
}

size_t vpu_kernel_argument_count(const vpu_kernel *kernel)
{
    return kernel ? kernel->compiled->n_args : 0;
}

static const sim_arg *argument_at(const vpu_kernel *k, size_t i)
{
    return i < vpu_kernel_argument_count(k) ? &k->compiled->args[i] : NULL;
}

const char *vpu_kernel_argument_name(const vpu_kernel *kernel, size_t i)
{
    const sim_arg *p = argument_at(kernel, i);

    return p ? p->name : NULL;
}

const char *vpu_kernel_argument_type(const vpu_kernel *kernel, size_t i)
{
    const sim_arg *p = argument_at(kernel, i);

    return p ? p->type : NULL;
}

uint32_t vpu_kernel_argument_space(const vpu_kernel *kernel, size_t i)
{
    const sim_arg *p = argument_at(kernel, i);

    return p ? (uint32_t)p->space + VPU_SPACE_VALUE : 0;
}
