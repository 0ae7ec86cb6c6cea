/* Which CustomLayer implements a layer: custom-layer selection as the vendor's
 * compiler does it, with the reasons why a candidate was passed over. */
#include "runtime/graph/bind_priv.h"

#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "base/str.h"

/* Whether the names in a list of expressions are known and parentheses match.
 */
static vpu_status check_list(config_text list, const char *path,
                             const config_var *vars, size_t n, vpu_error *err)
{
    config_expr all = config_text_expr(list, path), parts[3];
    size_t n_parts;
    vpu_status st = config_expr_split(&all, 3, parts, &n_parts, err);

    for (size_t i = 0; i < n_parts && !st; i++)
        st = config_expr_check(&parts[i], vars, n, err);
    return st;
}

/* *why is NULL when l suits the target. Errors are only those of Where. */
static vpu_status is_suitable(graph_binder *b, const config_layer *l,
                              const char **why)
{
    const config_where *unmet;
    vpu_error reason;
    size_t n_vars;
    const config_var *vars;
    config_context c = graph_context(b, l);
    vpu_status st =
        config_where_match(l, b->target.params, b->target.n_params, &c, &unmet);

    *why = NULL;
    if (st)
        return st;
    if (unmet) {
        const char *v =
            config_param_get(b->target.params, b->target.n_params, unmet->name);

        *why = arena_printf(b->arena,
                            "%s:%u: Where %s=\"%s\" is not met: the "
                            "parameter is %s%s%s",
                            l->path, unmet->value.line, unmet->name,
                            unmet->value.text, v ? "\"" : "", v ? v : "missing",
                            v ? "\"" : "");
        return VPU_OK;
    }
    if (l->form == CONFIG_FORM_GPU)
        return VPU_OK; /* its formulas were checked when they were read */
    vars = graph_vars(b, NULL, &n_vars);
    for (size_t i = 0; i < l->n_kernels && !*why; i++) {
        const config_kernel *k = &l->kernels[i];

        if (check_list(k->global, l->path, vars, n_vars, &reason) ||
            check_list(k->local, l->path, vars, n_vars, &reason))
            *why = arena_strdup(b->arena, reason.msg);
    }
    return VPU_OK;
}

/* Several layers of a model may have the same binding. */
static void tell_once(graph_binder *b, const config_layer *l)
{
    for (size_t i = 0; i < b->n_told; i++)
        if (b->told[i] == l)
            return;
    *arena_append(b->arena, b->told, b->n_told, b->cap_told) = l;
    config_layer_tell(l, b->log);
}

static vpu_status set_stages(graph_binder *b, const config_layer *const *layers,
                             size_t n)
{
    size_t total = 0, at = 0;
    graph_stage *stages;

    for (size_t i = 0; i < n; i++)
        total += layers[i]->n_kernels;
    stages = arena_array(b->arena, graph_stage, total);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < layers[i]->n_kernels; k++)
            stages[at++] = (graph_stage){layers[i], &layers[i]->kernels[k]};
    for (size_t i = 0; i < n; i++)
        tell_once(b, layers[i]);
    b->stages = stages;
    b->n_stages = total;
    return VPU_OK;
}

static bool format_fits(config_format f, uint32_t rank)
{
    switch (f) {
    case CONFIG_ANY:
        return true;
    case CONFIG_BFYX:
        return rank == 4 || rank == 5;
    case CONFIG_FYX:
        return rank == 3;
    case CONFIG_BF:
        return rank == 1 || rank == 2;
    default:
        return false; /* the shapes of models are channel-major */
    }
}

/* Whether the input formats of l are those of the target. A port bound by
 * several kernels has the first format that is not ANY. */
static vpu_status formats_match(const graph_binder *b, const config_layer *l,
                                bool *match)
{
    config_format *formats =
        arena_array(b->arena, config_format, b->target.n_inputs);

    *match = true;
    for (size_t i = 0; i < b->target.n_inputs; i++)
        formats[i] = CONFIG_ANY;
    for (size_t i = 0; i < l->n_kernels; i++)
        for (size_t j = 0; j < l->kernels[i].n_bindings; j++) {
            const config_binding *x = &l->kernels[i].bindings[j];

            if (x->kind != CONFIG_INPUT)
                continue;
            if ((size_t)x->port >= b->target.n_inputs)
                return graph_fail(b, l->path, x->line,
                                  "argument %s is bound to input port %d, but "
                                  "layer %s has %zu input%s",
                                  x->arg, (int)x->port, b->target.name,
                                  b->target.n_inputs,
                                  b->target.n_inputs == 1 ? "" : "s");
            if (formats[x->port] == CONFIG_ANY)
                formats[x->port] = x->format;
        }
    for (size_t i = 0; i < b->target.n_inputs; i++)
        *match =
            *match && format_fits(formats[i], b->target.inputs[i]->desc.rank);
    return VPU_OK;
}

static vpu_status no_such_type(const graph_binder *b)
{
    const config_file *f = b->request->binding;
    nearest n = {.word = b->target.type};

    for (size_t i = 0; i < f->n_layers; i++)
        if (!config_layer_is_for(&f->layers[i], b->target.type))
            nearest_offer(&n, f->layers[i].type);
    return err_set(b->err, VPU_ERR_INVALID,
                   "%s: binds no layer of type %s; %s%s%sit binds %s", f->path,
                   b->target.type, n.best ? "did you mean " : "",
                   n.best ? n.best : "", n.best ? "? " : "",
                   graph_list_types(b));
}

static vpu_status none_suits(const graph_binder *b, const str *reasons)
{
    if (!reasons->n)
        return no_such_type(b);
    return err_set(b->err, VPU_ERR_INVALID,
                   "%s: no CustomLayer suits layer %s of type %s:%s",
                   b->request->binding->path, b->target.name, b->target.type,
                   str_text(reasons));
}

/* Implementations without a stage attribute: pick the first whose formats
 * match, else the first. */
static vpu_status pick_whole(graph_binder *b, str *reasons, bool *any)
{
    const config_file *f = b->request->binding;
    const config_layer *first = NULL, *best = NULL;

    *any = false;
    for (size_t i = 0; i < f->n_layers && !best; i++) {
        const config_layer *l = &f->layers[i];
        const char *why;
        bool match;
        vpu_status st;

        if (l->stage >= 0 || !config_layer_is_for(l, b->target.type))
            continue;
        *any = true;
        st = is_suitable(b, l, &why);
        if (st)
            return st;
        if (why) {
            str_printf(reasons, "\n  %s", why);
            continue;
        }
        st = formats_match(b, l, &match);
        if (st)
            return st;
        if (!first)
            first = l;
        if (match)
            best = l;
    }
    if (!best)
        best = first;
    if (*any && !best)
        return none_suits(b, reasons);
    return best ? set_stages(b, &best, 1) : VPU_OK;
}

/* Flat form with stages: per stage the first element that suits. */
static vpu_status pick_staged(graph_binder *b, str *reasons)
{
    const config_file *f = b->request->binding;
    const config_layer **chosen = NULL;
    size_t n = 0, cap = 0;
    int32_t last = -1;

    for (size_t i = 0; i < f->n_layers; i++)
        if (config_layer_is_for(&f->layers[i], b->target.type) &&
            f->layers[i].stage > last)
            last = f->layers[i].stage;
    for (int32_t s = 0; s <= last; s++) {
        const config_layer *found = NULL;

        for (size_t i = 0; i < f->n_layers && !found; i++) {
            const config_layer *l = &f->layers[i];
            const char *why;
            bool match;
            vpu_status st;

            if (l->stage != s || !config_layer_is_for(l, b->target.type))
                continue;
            st = is_suitable(b, l, &why);
            if (st)
                return st;
            if (why) {
                str_printf(reasons, "\n  %s", why);
                continue;
            }
            st = formats_match(b, l, &match);
            if (st)
                return st;
            found = l;
        }
        if (!found)
            str_printf(reasons,
                       "\n  there is no stage %d that suits, stage %d "
                       "is the last",
                       (int)s, (int)last);
        if (!found)
            return none_suits(b, reasons);
        *arena_append(b->arena, chosen, n, cap) = found;
    }
    return n ? set_stages(b, chosen, n) : none_suits(b, reasons);
}

static vpu_status take(graph_binder *b, const config_layer *l)
{
    const char *why;
    str reasons = {0};
    vpu_status st;

    if (l->stage >= 0) {
        st = pick_staged(b, &reasons);
        str_free(&reasons);
        return st;
    }
    st = is_suitable(b, l, &why);
    if (!st && why)
        st = err_set(b->err, VPU_ERR_INVALID,
                     "%s: binding %u of layer type %s does not suit:\n  %s",
                     b->request->binding->path, b->request->number,
                     b->target.type, why);
    return st ? st : set_stages(b, &l, 1);
}

/* The CustomLayer that the request names by number; those with stages are one,
 * where the first of them stands. */
static vpu_status pick_numbered(graph_binder *b)
{
    const config_file *f = b->request->binding;
    uint32_t wanted = b->request->number, n = 0;
    const config_layer *found = NULL;
    bool staged = false;
    str lines = {0};
    vpu_status st;

    for (size_t i = 0; i < f->n_layers; i++) {
        const config_layer *l = &f->layers[i];

        if (!config_layer_is_for(l, b->target.type) ||
            (l->stage >= 0 && staged))
            continue;
        staged |= l->stage >= 0;
        str_printf(&lines, "%s%u in %s", n ? ", " : "", n + 1,
                   graph_line_of(b, l));
        found = ++n == wanted ? l : found;
    }
    if (!n) {
        st = no_such_type(b);
    } else if (!found) {
        st = err_set(b->err, VPU_ERR_INVALID,
                     "%s: no binding %u of layer type %s; there are %s",
                     f->path, wanted, b->target.type, str_text(&lines));
    } else {
        st = take(b, found);
    }
    str_free(&lines);
    return st;
}

vpu_status graph_select(graph_binder *b)
{
    str reasons = {0};
    bool any;
    vpu_status st;

    if (b->request->number)
        return pick_numbered(b);
    st = pick_whole(b, &reasons, &any);
    if (!st && !any)
        st = pick_staged(b, &reasons);
    str_free(&reasons);
    return st;
}
