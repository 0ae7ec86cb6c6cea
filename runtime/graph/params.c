/* Parameters that the user gives must be some that a binding looks at: a
 * misspelt one would change nothing, without a word. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "base/str.h"
#include "runtime/graph/bind.h"

/* One parameter, looked for among all names that could mean one. */
typedef struct {
    arena *arena;
    const char *name;
    bool known;
    nearest like;
    str names; /* the others, each with ", " behind it */
} search;

static bool is_listed(const search *s, const char *name)
{
    const char *at = str_text(&s->names);
    size_t n = strlen(name), length;

    for (; *at; at += length + 2) {
        length = strcspn(at, ",");
        if (length == n && !memcmp(at, name, n))
            return true;
    }
    return false;
}

static void meet(search *s, const char *name)
{
    if (!strcmp(name, s->name)) {
        s->known = true;
        return;
    }
    nearest_offer(&s->like, name);
    if (!is_listed(s, name))
        str_printf(&s->names, "%s, ", name);
}

static void meet_expression(search *s, config_text t, const char *path)
{
    config_expr e;
    const char *name;
    size_t at = 0, n;

    if (!t.text)
        return;
    e = config_text_expr(t, path);
    while ((name = config_expr_name(&e, &at, &n)))
        meet(s, arena_strndup(s->arena, name, n));
}

/* A literal or a dimension is no name. */
static bool is_name(const char *source)
{
    return source && isalpha((unsigned char)*source) && !strchr(source, '.');
}

static void meet_layer(search *s, const config_layer *l)
{
    for (size_t i = 0; i < l->n_where; i++)
        meet(s, l->where[i].name);
    for (size_t i = 0; i < l->n_kernels; i++) {
        const config_kernel *k = &l->kernels[i];

        meet_expression(s, k->global, l->path);
        meet_expression(s, k->local, l->path);
        for (size_t j = 0; j < k->n_defines; j++)
            if (k->defines[j].param.text)
                meet(s, k->defines[j].param.text);
        for (size_t j = 0; j < k->n_bindings; j++) {
            const config_binding *x = &k->bindings[j];

            meet_expression(s, x->size, l->path);
            if ((x->kind == CONFIG_INT || x->kind == CONFIG_FLOAT) &&
                is_name(x->source.text))
                meet(s, x->source.text);
        }
    }
}

/* All names that could mean s->name, for a request. */
static void meet_all(search *s, const graph_request *q)
{
    const config_file *f = q->binding;

    for (size_t i = 0; i < f->n_layers; i++)
        if (q->model || !q->type || config_layer_is_for(&f->layers[i], q->type))
            meet_layer(s, &f->layers[i]);
    /* Those of the model itself may be overridden. */
    for (size_t i = 0; q->model && i < q->model->n_layers; i++) {
        const config_model_layer *l = &q->model->layers[i];

        for (size_t k = 0; k < l->n_params; k++)
            if (!q->at || !strcmp(q->at, l->name))
                meet(s, l->params[k].name);
    }
}

static vpu_status unknown(const search *s, const char *path, vpu_error *err)
{
    if (s->like.best)
        return err_set(err, VPU_ERR_INVALID,
                       "parameter '%s': nothing in %s looks at it; did you "
                       "mean '%s'?",
                       s->name, path, s->like.best);
    return err_set(err, VPU_ERR_INVALID,
                   "parameter '%s': nothing in %s looks at it; %s%.*s", s->name,
                   path, s->names.n ? "known: " : "the layer has none",
                   s->names.n ? (int)s->names.n - 2 : 0, str_text(&s->names));
}

vpu_status graph_check_params(const graph_request *q, arena *a, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (size_t p = 0; p < q->n_params && !st; p++) {
        const char *name = q->params[p].name;
        search s = {.arena = a, .name = name, .like = {.word = name}};

        meet_all(&s, q);
        if (!s.known)
            st = unknown(&s, q->binding->path, err);
        str_free(&s.names);
    }
    return st;
}
