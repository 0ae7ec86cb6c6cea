/* Kernels of launches, taken out of their files. */
#include "runtime/backend/whole.h"

#include <string.h>

#include "runtime/backend/preprocess.h"
#include "runtime/backend/source.h"

typedef struct {
    const backend_config *cfg;
    const graph_launch *l;
    arena *a;
    kernel_compile_config compile;
    backend_source src;
} taking;

/* Where there are several files, the first that has the kernel. */
static vpu_status find_source(taking *t, vpu_error *err)
{
    uint32_t n = backend_source_count(t->l);
    vpu_status st = VPU_ERR_IO;

    if (!n)
        return err_set(err, st, "%s has no source", t->l->name);
    for (uint32_t i = 0; i < n; i++) {
        kernel_source source;
        sim_kernel *k = NULL;

        st = backend_source_of(t->l, i, t->cfg->source_dir, t->a, &t->src, err);
        if (n == 1)
            return st;
        source = backend_source_kernel(&t->src, t->l);
        if (!st)
            st = kernel_compile(&source, &t->compile, t->a, &k, err);
        if (!st) {
            kernel_release(k);
            return VPU_OK;
        }
    }
    return st;
}

/* What is left to say when macros and includes are resolved. */
static const char *const *keep_options(const char *const *options, uint32_t *n,
                                       arena *a)
{
    const char **left = arena_array(a, const char *, *n + 1);
    uint32_t all = *n;

    *n = 0;
    for (uint32_t i = 0; i < all; i++)
        if (!strchr("DUI", options[i][1]))
            left[(*n)++] = options[i];
    return left;
}

/* VPU_ERR_COMPILE: the compiler proper says why. */
static vpu_status take_linked(const taking *t, graph_launch *out,
                              vpu_error *err)
{
    graph_text *list = arena_array(t->a, graph_text, out->n_linked + 1);
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < out->n_linked && !st; i++) {
        const graph_text *from = &t->l->linked[i];
        const preprocess_job job = {from->name, from->text, from->options,
                                    from->n_options};
        char *text = NULL;

        list[i] = *from;
        list[i].options = keep_options(from->options, &list[i].n_options, t->a);
        st = preprocess(&job, t->a, &text, err);
        list[i].text = text;
    }
    out->linked = list;
    return st;
}

static vpu_status take_text(const taking *t, graph_launch *out, vpu_error *err)
{
    const kernel_compile_options *all = &t->compile.user;
    const preprocess_job job = {t->src.path, t->src.text, all->options,
                                all->n_options};
    char *text;
    vpu_status st = preprocess(&job, t->a, &text, err);

    if (!st)
        st = take_linked(t, out, err);
    if (st != VPU_ERR_COMPILE) {
        out->n_options = all->n_options;
        out->options = keep_options(all->options, &out->n_options, t->a);
        out->given = st ? NULL : text;
        return st;
    }
    /* The compiler proper says why. */
    const kernel_source source = backend_source_kernel(&t->src, t->l);
    sim_kernel *k = NULL;

    st = kernel_compile(&source, &t->compile, t->a, &k, err);
    kernel_release(k);
    return st ? st : VPU_ERR_COMPILE;
}

static vpu_status take_bin(const taking *t, graph_launch *out, vpu_error *err)
{
    const kernel_source source = backend_source_kernel(&t->src, t->l);
    kernel_bin bin = {t->src.file, t->src.n_bytes};
    vpu_status st = VPU_OK;

    if (t->src.kind != SOURCE_OUR_BIN)
        st = kernel_build_bin(&source, &t->compile, t->a, &bin, err);
    out->bin = bin.bytes;
    out->n_bin = bin.n;
    out->n_options = 0;
    return st;
}

vpu_status backend_whole(const backend_config *cfg, const graph_launch *l,
                         bool compiled, arena *a, graph_launch *out,
                         vpu_error *err)
{
    taking t = {.cfg = cfg, .l = l, .a = a};
    const char **name;
    vpu_status st;

    *out = *l;
    if (l->native)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "%s is a stage of a network, %s: a graph's file holds "
                       "kernels alone, keep the blob",
                       l->name, l->type);
    if (l->text)
        return VPU_OK;
    t.compile = (kernel_compile_config){
        .user = backend_source_options(l, &cfg->compile, a), .log = cfg->log};
    st = find_source(&t, err);
    if (st)
        return st;
    name = arena_array(a, const char *, 1);
    name[0] = t.src.path;
    out->sources = name;
    out->n_sources = 1;
    out->given = NULL;
    out->bin = NULL;
    if (compiled && t.src.n_parts)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "%s: its program was linked of several texts, which no "
                       ".bin holds",
                       l->name);
    out->macros = out->private_macros = NULL;
    return compiled || t.src.kind == SOURCE_OUR_BIN ? take_bin(&t, out, err)
                                                    : take_text(&t, out, err);
}
