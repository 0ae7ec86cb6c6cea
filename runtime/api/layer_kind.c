/* Layer types of binding files as kinds of operations. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/oom.h"
#include "runtime/api/api_priv.h"
#include "runtime/graph/layer.h"

/* --- finding -------------------------------------------------------------- */

typedef struct {
    vpu_context *c;
    const char *path; /* of the caller's; NULL = the library's samples */
    arena *a;         /* what lasts until the end of the call */
    api_kind *made;   /* latest first */
} registering;

static bool is_folder(const char *path)
{
    struct stat s;

    return !stat(path, &s) && S_ISDIR(s.st_mode);
}

/* Beside the library, as `make install` puts them. */
static vpu_status find_samples(registering *r, vpu_error *err)
{
    Dl_info self;
    char *dir, *slash;

    if (!dladdr((void *)(uintptr_t)vpu_context_register_layers, &self) ||
        !self.dli_fname)
        return err_set(err, VPU_ERR_IO,
                       "the library does not know where it is");
    dir = arena_strdup(r->a, self.dli_fname);
    slash = strrchr(dir, '/');
    if (slash)
        *slash = 0;
    r->path =
        arena_printf(r->a, "%s/../share/vpusim/kernels", slash ? dir : ".");
    if (!is_folder(r->path))
        return err_set(err, VPU_ERR_IO,
                       "there are no sample layers in %s: give the path of "
                       "your own",
                       r->path);
    return VPU_OK;
}

static int by_name(const void *p, const void *q)
{
    return strcmp(*(const char *const *)p, *(const char *const *)q);
}

/* DIR's own layer.xml, and those of the folders in it, by name. */
static vpu_status list_files(registering *r, graph_texts *out, vpu_error *err)
{
    DIR *d = opendir(r->path);
    const char **list = NULL;
    size_t n = 0, cap = 0;
    struct dirent *e;

    if (!d)
        return err_set(err, VPU_ERR_IO, "%s: it cannot be read", r->path);
    while ((e = readdir(d))) {
        const char *file =
            file_join(r->a, file_join(r->a, r->path, e->d_name), "layer.xml");

        if (strcmp(e->d_name, "..") && file_exists(file))
            *arena_append(r->a, list, n, cap) = file;
    }
    closedir(d);
    if (!n)
        return err_set(err, VPU_ERR_IO,
                       "%s has no layer.xml, nor has a folder in it", r->path);
    qsort(list, n, sizeof *list, by_name);
    *out = (graph_texts){list, n};
    return VPU_OK;
}

/* --- registering ---------------------------------------------------------- */

static void add_kind(registering *r, const char *file, const char *type)
{
    arena *a = arena_create(0);
    api_kind *k = arena_new(a, api_kind);

    *k = (api_kind){.arena = a, .is_layer = true, .next = r->made};
    r->made = k;
    k->kind.name = arena_strdup(a, type);
    k->kind.file = arena_strdup(a, file);
}

static vpu_status read_file(registering *r, const char *file, vpu_error *err)
{
    const graph_layer_texts t = {.bindings = {&file, 1},
                                 .release = r->c->release};
    config_file f;
    vpu_status st = graph_layer_read(&t, r->a, r->c->cfg.log, &f, err);

    for (size_t i = 0; i < f.n_layers && !st; i++)
        add_kind(r, file, f.layers[i].type);
    return st;
}

static vpu_status read_all(void *user, vpu_error *err)
{
    registering *r = user;
    graph_texts files = {&r->path, 1};
    vpu_status st = VPU_OK;

    r->a = arena_create(0);
    if (!r->path)
        st = find_samples(r, err);
    if (!st && is_folder(r->path))
        st = list_files(r, &files, err);
    for (size_t i = 0; i < files.n && !st; i++)
        st = read_file(r, files.items[i], err);
    return st;
}

vpu_status vpu_context_register_layers(vpu_context *context, const char *path,
                                       vpu_error *err)
{
    registering r = {.c = context, .path = path};
    vpu_status st = api_need(context, "context", err);

    if (st)
        return st;
    st = oom_guard(read_all, &r, err);
    if (st)
        api_kinds_drop(r.made);
    else
        api_kinds_join(context, r.made);
    arena_destroy(r.a);
    return st;
}

/* --- adding --------------------------------------------------------------- */

typedef struct {
    vpu_graph *g;
    const vpu_kind *kind;
    const vpu_add_options *o;
    vpu_layer_options layer;
    vpu_operation *made;
} adding;

static const char *const *params_of(adding *x)
{
    const vpu_add_options *o = x->o;
    arena *a = x->g->arena;
    const char **list = arena_array(a, const char *, o->n_values + 1);

    for (size_t i = 0; i < o->n_values; i++) {
        const vpu_value *v = &o->values[i];

        list[i] = v->is_real ? arena_printf(a, "%s=%.9g", v->name, v->real)
                             : arena_printf(a, "%s=%lld", v->name,
                                            (long long)v->integer);
    }
    return list;
}

static vpu_status fill_options(void *user, vpu_error *err)
{
    adding *x = user;
    const vpu_add_options *o = x->o;
    vpu_layer_options *l = &x->layer;
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < o->n_values && !st; i++)
        st = api_need(o->values[i].name, "a value's name", err);
    if (st)
        return st;
    *l = (vpu_layer_options)VPU_LAYER_OPTIONS_INIT;
    l->name = o->name;
    l->bindings = &x->kind->file;
    l->n_bindings = 1;
    l->layer = x->kind->name;
    l->params = params_of(x);
    l->n_params = o->n_values;
    l->inputs = o->inputs;
    l->n_inputs = o->n_inputs;
    l->output = o->n_outputs ? o->outputs[0] : NULL;
    l->virtual_output = o->output_role != VPU_ROLE_OUTPUT;
    return VPU_OK;
}

vpu_status api_layer_kind_add(vpu_graph *g, const vpu_kind *kind,
                              const vpu_add_options *o, vpu_operation **out,
                              vpu_error *err)
{
    adding x = {.g = g, .kind = kind, .o = o};
    vpu_status st = oom_guard(fill_options, &x, err);

    if (!st && o->n_outputs > 1)
        st = err_set(err, VPU_ERR_INVALID,
                     "%zu outputs are given, layer %s takes one", o->n_outputs,
                     kind->name);
    return st ? st : vpu_graph_add_layer(g, &x.layer, out, err);
}
