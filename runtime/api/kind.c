/* Kinds of operations: registered, found, compiled. */
#include <string.h>

#include "base/oom.h"
#include "runtime/api/api_priv.h"

/* --- checking ------------------------------------------------------------- */

static vpu_status check_list(const char *const *list, size_t n,
                             const char *what, const char *kind, vpu_error *err)
{
    vpu_status st = n ? api_need(list, what, err) : VPU_OK;

    for (size_t i = 0; i < n && !st; i++) {
        st = api_need(list[i], what, err);
        for (size_t k = 0; k < i && !st; k++)
            if (!strcmp(list[i], list[k]))
                st = err_set(err, VPU_ERR_INVALID,
                             "kind %s: %s names '%s' twice", kind, what,
                             list[i]);
    }
    return st;
}

static vpu_status check_parameters(const vpu_kind *k, vpu_error *err)
{
    vpu_status st =
        k->n_parameters ? api_need(k->parameters, "parameters", err) : VPU_OK;

    for (size_t i = 0; i < k->n_parameters && !st; i++) {
        st = api_need(k->parameters[i].name, "a parameter's name", err);
        if (!st && k->parameters[i].computed && !k->find_value)
            st = err_set(err, VPU_ERR_INVALID,
                         "kind %s: parameter '%s' is computed, but there is no "
                         "find_value",
                         k->name, k->parameters[i].name);
        for (size_t n = 0; n < i && !st; n++)
            if (!strcmp(k->parameters[i].name, k->parameters[n].name))
                st = err_set(err, VPU_ERR_INVALID,
                             "kind %s: parameter '%s' is there twice", k->name,
                             k->parameters[i].name);
    }
    if (!st && k->n_locals)
        st = api_need(k->locals, "locals", err);
    for (size_t i = 0; i < k->n_locals && !st; i++) {
        st = api_need(k->locals[i].argument, "a local's argument", err);
        if (!st)
            st = api_need(k->locals[i].bytes, "a local's bytes", err);
    }
    return st;
}

static vpu_status is_whole(const vpu_kind *k, vpu_error *err)
{
    vpu_status st = api_need(k->name, "the kind's name", err);

    if (!st && !k->source == !k->file)
        st = err_set(err, VPU_ERR_INVALID,
                     "kind %s: one of source and file is needed", k->name);
    if (!st)
        st = check_list(k->inputs, k->n_inputs, "inputs", k->name, err);
    if (!st)
        st = check_list(k->outputs, k->n_outputs, "outputs", k->name, err);
    if (!st && !k->n_outputs)
        st = err_set(err, VPU_ERR_INVALID, "kind %s has no output", k->name);
    if (!st && k->n_build_options)
        st = api_need(k->build_options, "build_options", err);
    if (!st)
        st = check_parameters(k, err);
    if (!st && !k->global && !k->find_sizes)
        st = err_set(err, VPU_ERR_INVALID,
                     "kind %s: neither `global` nor find_sizes says how many "
                     "work-items it has",
                     k->name);
    return st;
}

/* --- registering ---------------------------------------------------------- */

typedef struct {
    const vpu_kind *from;
    api_kind *made;
} making;

static const vpu_parameter *copy_parameters(arena *a, const vpu_kind *k)
{
    vpu_parameter *list = arena_array(a, vpu_parameter, k->n_parameters + 1);

    for (size_t i = 0; i < k->n_parameters; i++) {
        list[i] = k->parameters[i];
        list[i].name = arena_strdup(a, list[i].name);
        list[i].expression = arena_strdup(a, list[i].expression);
    }
    return list;
}

static const vpu_local *copy_locals(arena *a, const vpu_kind *k)
{
    vpu_local *list = arena_array(a, vpu_local, k->n_locals + 1);

    for (size_t i = 0; i < k->n_locals; i++)
        list[i] = (vpu_local){arena_strdup(a, k->locals[i].argument),
                              arena_strdup(a, k->locals[i].bytes)};
    return list;
}

static vpu_status copy_kind(void *user, vpu_error *err)
{
    making *m = user;
    arena *a = arena_create(0);
    api_kind *x = arena_new(a, api_kind);
    vpu_kind *k = &x->kind;

    (void)err;
    x->arena = a;
    m->made = x;
    *k = *m->from;
    k->name = arena_strdup(a, k->name);
    k->source = arena_strdup(a, k->source);
    k->file = arena_strdup(a, k->file);
    k->build_options = api_copy_list(a, k->build_options, k->n_build_options);
    k->kernel = arena_strdup(a, k->kernel);
    k->inputs = api_copy_list(a, k->inputs, k->n_inputs);
    k->outputs = api_copy_list(a, k->outputs, k->n_outputs);
    k->parameters = copy_parameters(a, k);
    k->locals = copy_locals(a, k);
    if (k->shapes)
        k->shapes = api_copy_list(a, k->shapes, k->n_outputs);
    k->global = arena_strdup(a, k->global);
    k->local = arena_strdup(a, k->local);
    k->part = arena_strdup(a, k->part);
    k->parts = arena_strdup(a, k->parts);
    k->reach = arena_strdup(a, k->reach);
    return VPU_OK;
}

vpu_status vpu_context_register(vpu_context *context, const vpu_kind *kind,
                                vpu_error *err)
{
    vpu_kind k;
    making m = {.from = &k};
    vpu_status st = api_need(context, "context", err);

    if (!st)
        st = api_need(kind, "kind", err);
    if (!st)
        st = api_take_options(&k, sizeof k, kind, "vpu_kind", err);
    if (!st)
        st = is_whole(&k, err);
    if (!st)
        st = oom_guard(copy_kind, &m, err);
    if (st) {
        arena_destroy(m.made ? m.made->arena : NULL);
        return st;
    }
    pthread_mutex_lock(&context->lock);
    m.made->next = context->kinds;
    context->kinds = m.made;
    pthread_mutex_unlock(&context->lock);
    return VPU_OK;
}

void api_kinds_free(vpu_context *c)
{
    for (api_compiled *x = c->compiled; x; x = x->next)
        vpu_program_free(x->program);
    while (c->kinds) {
        api_kind *x = c->kinds;

        c->kinds = x->next;
        if (x->kind.release)
            x->kind.release(x->kind.user);
        arena_destroy(x->arena);
    }
}

/* --- finding -------------------------------------------------------------- */

static const vpu_kind *find_own(const api_kind *list, const char *name)
{
    for (const api_kind *x = list; x; x = x->next)
        if (!strcmp(x->kind.name, name))
            return &x->kind;
    return NULL;
}

static const vpu_kind *find_builtin(const char *name)
{
    for (const vpu_kind *k = api_builtin; k->name; k++)
        if (!strcmp(k->name, name))
            return k;
    return NULL;
}

bool api_kind_is_layer(vpu_context *c, const vpu_kind *k)
{
    bool is = false;

    pthread_mutex_lock(&c->lock);
    for (const api_kind *x = c->kinds; x; x = x->next)
        is |= &x->kind == k && x->is_layer;
    pthread_mutex_unlock(&c->lock);
    return is;
}

void api_kinds_join(vpu_context *c, api_kind *list)
{
    api_kind **last = &list;

    while (*last)
        last = &(*last)->next;
    pthread_mutex_lock(&c->lock);
    *last = c->kinds;
    c->kinds = list;
    pthread_mutex_unlock(&c->lock);
}

void api_kinds_drop(api_kind *list)
{
    while (list) {
        api_kind *next = list->next;

        arena_destroy(list->arena);
        list = next;
    }
}

const vpu_kind *api_kind_find(vpu_context *c, const char *name)
{
    const vpu_kind *k;

    pthread_mutex_lock(&c->lock);
    k = find_own(c->kinds, name);
    pthread_mutex_unlock(&c->lock);
    return k ? k : find_builtin(name);
}

/* Kinds of the user's that stand for one of the library's, or for an earlier
 * one, are named once. */
static const char *own_name(const vpu_context *c, size_t i)
{
    const char *name = NULL;
    size_t n = 0, count = 0;

    for (const api_kind *x = c->kinds; x; x = x->next)
        n += !find_builtin(x->kind.name) && !find_own(x->next, x->kind.name);
    /* The list is from the latest on. */
    for (const api_kind *x = c->kinds; x && i < n; x = x->next)
        if (!find_builtin(x->kind.name) && !find_own(x->next, x->kind.name) &&
            count++ == n - 1 - i)
            name = x->kind.name;
    return name;
}

const char *vpu_context_kind(vpu_context *context, size_t i)
{
    const char *name;
    size_t n = 0;

    if (!context)
        return NULL;
    while (api_builtin[n].name)
        n++;
    if (i < n)
        return api_builtin[i].name;
    pthread_mutex_lock(&context->lock);
    name = own_name(context, i - n);
    pthread_mutex_unlock(&context->lock);
    return name;
}

/* --- compiling ------------------------------------------------------------ */

typedef struct {
    vpu_context *c;
    const vpu_kind *kind;
    const vpu_variant *v;
    vpu_program *program;
} compiling;

static vpu_status find_program(void *user, vpu_error *err)
{
    compiling *x = user;
    vpu_context *c = x->c;
    const vpu_kind *k = x->kind;
    vpu_program_options o = VPU_PROGRAM_OPTIONS_INIT;
    size_t n = x->v->n_build_options + k->n_build_options;
    const arena_mark before = arena_save(c->arena);
    const char **options = arena_array(c->arena, const char *, n + 1);
    const char *key = "";
    api_compiled *made;
    vpu_status st;

    for (size_t i = 0; i < n; i++) {
        size_t own = i - x->v->n_build_options;

        options[i] = i < x->v->n_build_options ? x->v->build_options[i]
                                               : k->build_options[own];
        key = arena_printf(c->arena, "%s %s", key, options[i]);
    }
    for (api_compiled *y = c->compiled; y; y = y->next)
        if (y->kind == k && !strcmp(y->options, key)) {
            x->program = y->program;
            arena_restore(c->arena, before);
            return VPU_OK;
        }
    o.source = k->source;
    o.file = k->file;
    o.name = k->source ? arena_printf(c->arena, "%s.cl", k->name) : NULL;
    o.build_options = options;
    o.n_build_options = n;
    made = arena_new(c->arena, api_compiled);
    st = vpu_program_create(&x->program, c, &o, err);
    if (st)
        return st;
    x->program->of_context = true;
    vpu_context_free(c); /* which the program kept */
    *made = (api_compiled){k, key, x->program, c->compiled};
    c->compiled = made;
    return VPU_OK;
}

vpu_status api_kind_kernel(vpu_context *c, const vpu_kind *kind,
                           const vpu_variant *v, const vpu_kernel **out,
                           vpu_error *err)
{
    compiling x = {.c = c, .kind = kind, .v = v};
    vpu_status st;

    pthread_mutex_lock(&c->lock);
    st = oom_guard(find_program, &x, err);
    if (!st)
        st = vpu_program_kernel(x.program, v->kernel, out, err);
    pthread_mutex_unlock(&c->lock);
    return st;
}
