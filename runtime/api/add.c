/* Operations of a kind: shapes, kernel, sizes and numbers found, then a launch
 * like any other. */
#include <math.h>
#include <string.h>

#include "base/nearest.h"
#include "base/oom.h"
#include "runtime/api/reach.h"
#include "runtime/config/expr.h"

typedef struct {
    vpu_graph *g;
    const vpu_kind *k;
    const vpu_add_options *o;
    vpu_call call;
    vpu_tensor **outputs;
    vpu_value *values;
    config_var *vars; /* what expressions know */
    size_t n_vars, vars_cap;
    const vpu_kernel *kernel;
    vpu_operation *made;
    bool again; /* `made` is there, and gets other shapes */
} adding;

/* --- numbers -------------------------------------------------------------- */

static const vpu_parameter *parameter_named(const vpu_kind *k, const char *name)
{
    for (size_t i = 0; i < k->n_parameters; i++)
        if (!strcmp(k->parameters[i].name, name))
            return &k->parameters[i];
    return NULL;
}

static vpu_status no_parameter(const adding *x, const char *name,
                               vpu_error *err)
{
    nearest n = {.word = name};

    for (size_t i = 0; i < x->k->n_parameters; i++)
        if (!x->k->parameters[i].expression && !x->k->parameters[i].computed)
            nearest_offer(&n, x->k->parameters[i].name);
    return err_set(
        err, VPU_ERR_INVALID, "operation %s: kind %s takes no value '%s'%s%s%s",
        x->call.name, x->k->name, name, n.best ? "; did you mean '" : "",
        n.best ? n.best : "", n.best ? "'?" : "");
}

static vpu_status check_values(const adding *x, vpu_error *err)
{
    for (size_t i = 0; i < x->o->n_values; i++) {
        const vpu_value *v = &x->o->values[i];
        const vpu_parameter *p;
        vpu_status st = api_need(v->name, "a value's name", err);

        if (st)
            return st;
        p = parameter_named(x->k, v->name);
        if (!p || p->expression || p->computed)
            return no_parameter(x, v->name, err);
        if (v->is_real && !p->is_real)
            return err_set(err, VPU_ERR_INVALID,
                           "operation %s: value '%s' is an integer for kind "
                           "%s, a real number is given",
                           x->call.name, v->name, x->k->name);
        for (size_t k = 0; k < i; k++)
            if (!strcmp(x->o->values[k].name, v->name))
                return err_set(err, VPU_ERR_INVALID,
                               "operation %s: value '%s' is given twice",
                               x->call.name, v->name);
    }
    return VPU_OK;
}

static void know(adding *x, const char *name, config_value value)
{
    *arena_append(x->g->arena, x->vars, x->n_vars, x->vars_cap) =
        (config_var){name, value};
}

static config_value as_variable(const vpu_value *v)
{
    if (v->is_real)
        return (config_value){.is_float = true, .real = (float)v->real};
    if (v->integer < INT32_MIN || v->integer > INT32_MAX)
        return (config_value){.too_large = true, .real = (float)v->integer};
    return (config_value){.integer = (int32_t)v->integer};
}

static vpu_status evaluate(const adding *x, const char *text, size_t n,
                           int32_t *out, vpu_error *err)
{
    const config_expr e = {.text = text,
                           .length = n,
                           .path = arena_printf(x->g->arena,
                                                "operation %s of kind %s",
                                                x->call.name, x->k->name)};

    return config_expr_eval(&e, x->vars, x->n_vars, out, err);
}

/* The value that the caller gave, or the one that stands for it. */
static vpu_status find_value(const adding *x, const vpu_parameter *p,
                             vpu_value *out, vpu_error *err)
{
    int32_t computed;
    vpu_status st;

    *out = (vpu_value){p->name, p->is_real, (int64_t)p->preset, p->preset};
    for (size_t i = 0; i < x->o->n_values; i++)
        if (!strcmp(x->o->values[i].name, p->name)) {
            *out = x->o->values[i];
            out->name = p->name;
            if (p->is_real && !out->is_real)
                out->real = (double)out->integer;
            out->is_real = p->is_real;
            return VPU_OK;
        }
    if (!p->expression)
        return p->optional || p->computed
                   ? VPU_OK
                   : err_set(err, VPU_ERR_INVALID,
                             "operation %s: kind %s needs a value '%s'",
                             x->call.name, x->k->name, p->name);
    st = evaluate(x, p->expression, strlen(p->expression), &computed, err);
    out->integer = computed;
    out->real = computed;
    return st;
}

static bool is_of_name(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

/* Of expressions that name an output the value is found when outputs are there.
 */
static bool needs_outputs(const vpu_parameter *p)
{
    const char *at = p->expression;

    for (; at && (at = strstr(at, "out")); at++)
        if (at[3] >= '0' && at[3] <= '9' &&
            (at == p->expression || !is_of_name(at[-1])))
            return true;
    return false;
}

static vpu_status find_values(adding *x, vpu_error *err)
{
    vpu_status st = check_values(x, err);

    x->values = arena_array(x->g->arena, vpu_value, x->k->n_parameters + 1);
    /* Those of expressions may use the others, whatever their order. */
    for (int pass = 0; pass < 2 && !st; pass++)
        for (size_t i = 0; i < x->k->n_parameters && !st; i++) {
            const vpu_parameter *p = &x->k->parameters[i];

            if ((p->expression == NULL) == (bool)pass || needs_outputs(p))
                continue;
            st = find_value(x, p, &x->values[i], err);
            if (!st && !p->computed)
                know(x, p->name, as_variable(&x->values[i]));
        }
    x->call.values = x->values;
    x->call.n_values = x->k->n_parameters;
    return st;
}

/* What depends on outputs. */
static vpu_status compute_values(adding *x, vpu_error *err)
{
    const vpu_kind *k = x->k;
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < k->n_parameters && !st; i++)
        if (needs_outputs(&k->parameters[i])) {
            st = find_value(x, &k->parameters[i], &x->values[i], err);
            if (!st)
                know(x, k->parameters[i].name, as_variable(&x->values[i]));
        }
    for (size_t i = 0; i < k->n_parameters && !st; i++)
        if (k->parameters[i].computed)
            st = k->find_value(k->user, &x->call, k->parameters[i].name,
                               &x->values[i], err);
    return st ? err_in(err, st, "operation %s", x->call.name) : VPU_OK;
}

/* --- shapes --------------------------------------------------------------- */

static config_value number(uint64_t n)
{
    return (config_value){.integer = (int32_t)n, .too_large = n > INT32_MAX};
}

/* "in0_offset", "in0_stride_1" and so on, in elements. */
static void know_place(adding *x, const char *what, size_t index,
                       const vpu_tensor *t)
{
    arena *a = x->g->arena;
    uint32_t element = vpu_type_bytes(t->type);

    know(x, arena_printf(a, "%s%zu_offset", what, index),
         number(vpu_tensor_offset(t) / element));
    for (uint32_t d = 0; d < t->rank; d++)
        know(x, arena_printf(a, "%s%zu_stride_%u", what, index, d),
             number(t->strides[d] / element));
}

/* "in0_1" and so on. */
static void know_dims(adding *x, const char *what, size_t index,
                      const vpu_tensor *t)
{
    arena *a = x->g->arena;

    for (uint32_t d = 0; d < t->rank; d++)
        know(x, arena_printf(a, "%s%zu_%u", what, index, d),
             (config_value){.integer = (int32_t)t->dims[d]});
    know(x, arena_printf(a, "%s%zu_rank", what, index),
         (config_value){.integer = (int32_t)t->rank});
    if (x->k->strided)
        know_place(x, what, index, t);
}

/* B, F, Y, X as binding files have them: the last two dims are Y and X, the
 * one in front of them F, all others B; of a tensor of up to two dims the last
 * is F, as in NC. */
static void know_letters(adding *x, const vpu_tensor *t)
{
    static const char *const names[] = {"B", "F", "Y", "X"};
    uint32_t letters[4] = {1, 1, 1, 1}, last = t->rank <= 2 ? 1 : 3;

    for (uint32_t d = 0; d < t->rank; d++) {
        uint32_t from_end = t->rank - 1 - d;

        letters[from_end < last ? last - from_end : 0] *= t->dims[d];
    }
    for (int i = 0; i < 4; i++)
        know(x, names[i], (config_value){.integer = (int32_t)letters[i]});
}

static vpu_status take_tensors(adding *x, vpu_error *err)
{
    const vpu_add_options *o = x->o;

    if (o->n_inputs != x->k->n_inputs)
        return err_set(err, VPU_ERR_INVALID,
                       "operation %s: %zu inputs are given, kind %s takes %zu",
                       x->call.name, o->n_inputs, x->k->name, x->k->n_inputs);
    if (o->n_outputs && o->n_outputs != x->k->n_outputs)
        return err_set(err, VPU_ERR_INVALID,
                       "operation %s: %zu outputs are given, kind %s has %zu",
                       x->call.name, o->n_outputs, x->k->name, x->k->n_outputs);
    for (size_t i = 0; i < o->n_inputs; i++) {
        if (!o->inputs[i] || o->inputs[i]->graph != x->g)
            return err_set(err, VPU_ERR_INVALID, "operation %s: input %zu %s",
                           x->call.name, i,
                           o->inputs[i] ? "is of another graph" : "is NULL");
        know_dims(x, "in", i, o->inputs[i]);
    }
    for (size_t i = 0; i < o->n_outputs; i++)
        if (o->outputs[i] && o->outputs[i]->graph != x->g)
            return err_set(err, VPU_ERR_INVALID,
                           "operation %s: output %zu is of another graph",
                           x->call.name, i);
    if (o->n_inputs)
        know_letters(x, o->inputs[0]);
    x->call.inputs = o->inputs;
    x->call.n_inputs = o->n_inputs;
    return VPU_OK;
}

/* The values of a list with commas between; *n of them. */
static vpu_status evaluate_list(const adding *x, const char *list, int32_t *out,
                                size_t most, size_t *n, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (*n = 0; !st; list++) {
        size_t length = strcspn(list, ",");

        if (*n == most)
            return err_set(err, VPU_ERR_INVALID,
                           "operation %s of kind %s: more than %zu expressions",
                           x->call.name, x->k->name, most);
        st = evaluate(x, list, length, &out[(*n)++], err);
        list += length;
        if (!*list)
            break;
    }
    return st;
}

static vpu_status evaluate_shape(const adding *x, const char *list,
                                 vpu_shape *out, vpu_error *err)
{
    int32_t dims[VPU_MAX_RANK];
    size_t n;
    vpu_status st = evaluate_list(x, list, dims, VPU_MAX_RANK, &n, err);

    for (size_t i = 0; i < n && !st; i++) {
        if (dims[i] <= 0)
            return err_set(err, VPU_ERR_INVALID,
                           "operation %s of kind %s: dim %zu of '%s' is %d",
                           x->call.name, x->k->name, i, list, dims[i]);
        out->dims[i] = (uint32_t)dims[i];
    }
    out->rank = (uint32_t)n;
    return st;
}

static vpu_status find_shape(const adding *x, size_t i, vpu_shape *out,
                             vpu_error *err)
{
    const vpu_kind *k = x->k;
    const vpu_tensor *like = x->call.n_inputs ? x->call.inputs[0] : NULL;

    *out = (vpu_shape){0};
    if (like) {
        out->type = like->type;
        out->rank = like->rank;
        memcpy(out->dims, like->dims, sizeof out->dims);
    }
    if (k->find_shape)
        return k->find_shape(k->user, &x->call, i, out, err);
    return k->shapes && k->shapes[i] ? evaluate_shape(x, k->shapes[i], out, err)
                                     : VPU_OK;
}

static vpu_status make_output(adding *x, size_t i, const vpu_shape *s,
                              vpu_error *err)
{
    vpu_tensor_options t = VPU_TENSOR_OPTIONS_INIT;

    t.name = x->k->n_outputs > 1
                 ? arena_printf(x->g->arena, "%s.out%zu", x->call.name, i)
                 : x->call.name;
    for (int n = 2; vpu_graph_tensor_named(x->g, t.name); n++)
        t.name = arena_printf(x->g->arena, "%s.%zu.%d", x->call.name, i, n);
    t.role = x->o->output_role ? x->o->output_role : VPU_ROLE_VIRTUAL;
    t.type = s->type;
    t.rank = s->rank;
    memcpy(t.dims, s->dims, sizeof t.dims);
    return vpu_graph_tensor(x->g, &t, &x->outputs[i], err);
}

static const char *shape_text(arena *a, uint32_t type, uint32_t rank,
                              const uint32_t *dims)
{
    const char *text = vpu_type_name(type);

    text = text ? text : "no type";
    for (uint32_t i = 0; i < rank; i++)
        text = arena_printf(a, "%s%c%u", text, i ? 'x' : ' ', dims[i]);
    return text;
}

/* Of an output that was there before. */
static vpu_status take_shape(const adding *x, size_t i, const vpu_shape *s,
                             vpu_error *err)
{
    vpu_tensor *t = x->outputs[i];

    if (t->type != s->type || t->rank != s->rank)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "operation %s: output %zu, %s, would be %s; another "
                       "type or number of dims needs another graph",
                       x->call.name, i, t->name,
                       shape_text(x->g->arena, s->type, s->rank, s->dims));
    return api_resize_tensor(t, s->dims, err);
}

static vpu_status find_outputs(adding *x, vpu_error *err)
{
    vpu_status st = VPU_OK;

    x->outputs = arena_array(x->g->arena, vpu_tensor *, x->k->n_outputs + 1);
    for (size_t i = 0; i < x->k->n_outputs && !st; i++) {
        vpu_tensor *given = x->o->n_outputs ? x->o->outputs[i] : NULL;
        arena *a = x->g->arena;
        vpu_shape s;

        st = find_shape(x, i, &s, err);
        if (st)
            return err_in(err, st, "operation %s", x->call.name);
        x->outputs[i] = given;
        if (x->again)
            st = take_shape(x, i, &s, err);
        else if (!given)
            st = make_output(x, i, &s, err);
        else if (given->type != s.type || given->rank != s.rank ||
                 memcmp(given->dims, s.dims, s.rank * sizeof *s.dims))
            st = err_set(
                err, VPU_ERR_MISMATCH,
                "operation %s: output %zu of kind %s is %s, but tensor %s is %s",
                x->call.name, i, x->k->name,
                shape_text(a, s.type, s.rank, s.dims), given->name,
                shape_text(a, given->type, given->rank, given->dims));
        if (!st)
            know_dims(x, "out", i, x->outputs[i]);
    }
    x->call.outputs = x->outputs;
    x->call.n_outputs = x->k->n_outputs;
    return st;
}

/* --- kernel --------------------------------------------------------------- */

/* The macros of the tensors' types, in front of the variant's own options. */
static vpu_status find_kernel(adding *x, vpu_error *err)
{
    arena *a = x->g->arena;
    const vpu_kind *k = x->k;
    vpu_variant v = {.kernel = k->kernel}, all;
    size_t n_tensors = k->n_inputs + k->n_outputs;
    const char **options;
    vpu_status st =
        k->find_variant ? k->find_variant(k->user, &x->call, &v, err) : VPU_OK;

    if (!st && v.n_build_options)
        st = api_need(v.build_options, "build_options of the variant", err);
    if (st)
        return err_in(err, st, "operation %s", x->call.name);
    options = arena_array(a, const char *, n_tensors + v.n_build_options + 1);
    for (size_t i = 0; i < k->n_inputs; i++)
        options[i] = arena_printf(a, "-DVPU_IN%zu=%s", i,
                                  api_opencl_type(x->call.inputs[i]->type));
    for (size_t i = 0; i < k->n_outputs; i++)
        options[k->n_inputs + i] = arena_printf(
            a, "-DVPU_OUT%zu=%s", i, api_opencl_type(x->outputs[i]->type));
    for (size_t i = 0; i < v.n_build_options; i++)
        options[n_tensors + i] = arena_strdup(a, v.build_options[i]);
    all = (vpu_variant){arena_strdup(a, v.kernel), options,
                        n_tensors + v.n_build_options};
    st = api_kind_kernel(x->g->context, k, &all, &x->kernel, err);
    return st ? err_in(err, st, "operation %s", x->call.name) : VPU_OK;
}

static bool has_argument(const vpu_kernel *k, const char *name)
{
    for (uint32_t i = 0; i < k->compiled->n_args; i++)
        if (!strcmp(k->compiled->args[i].name, name))
            return true;
    return false;
}

static bool is_part_number(const vpu_kind *k, const char *argument)
{
    return (k->part && !strcmp(k->part, argument)) ||
           (k->parts && !strcmp(k->parts, argument));
}

/* The kernel's numbers, in its order, are the kind's parameters that it has. */
static vpu_status check_order(const adding *x, vpu_error *err)
{
    const sim_kernel *k = x->kernel->compiled;
    size_t p = 0;

    for (uint32_t i = 0; i < k->n_args; i++) {
        const sim_arg *arg = &k->args[i];

        if (arg->space != SIM_ARG_SCALAR || is_part_number(x->k, arg->name))
            continue;
        while (p < x->k->n_parameters &&
               !has_argument(x->kernel, x->k->parameters[p].name))
            p++;
        if (p == x->k->n_parameters ||
            strcmp(arg->name, x->k->parameters[p].name))
            return err_set(
                err, VPU_ERR_INVALID,
                "operation %s: argument %u of kernel '%s' is %s %s, "
                "where kind %s has %s%s",
                x->call.name, i, k->name, arg->type, arg->name, x->k->name,
                p == x->k->n_parameters ? "no parameter left" : "parameter ",
                p == x->k->n_parameters ? "" : x->k->parameters[p].name);
        p++;
    }
    return VPU_OK;
}

/* --- the launch ----------------------------------------------------------- */

static vpu_status evaluate_sizes(const adding *x, const char *list,
                                 uint32_t out[3], vpu_error *err)
{
    int32_t values[3] = {1, 1, 1};
    size_t n;
    vpu_status st = evaluate_list(x, list, values, 3, &n, err);

    for (int d = 0; d < 3 && !st; d++) {
        if (values[d] <= 0)
            return err_set(err, VPU_ERR_INVALID,
                           "operation %s of kind %s: size %d of '%s' is %d",
                           x->call.name, x->k->name, d, list, values[d]);
        out[d] = (uint32_t)values[d];
    }
    return st;
}

static vpu_status find_sizes(const adding *x, vpu_launch_options *l,
                             vpu_error *err)
{
    const vpu_kind *k = x->k;
    vpu_sizes s = {{0, 0, 0}, {0, 0, 0}};
    vpu_status st;

    if (k->find_sizes) {
        st = k->find_sizes(k->user, &x->call, &s, err);
        if (st)
            return err_in(err, st, "operation %s", x->call.name);
    } else {
        st = evaluate_sizes(x, k->global, s.global, err);
        if (!st && k->local)
            st = evaluate_sizes(x, k->local, s.local, err);
    }
    memcpy(l->global, s.global, sizeof l->global);
    memcpy(l->local, s.local, sizeof l->local);
    return st;
}

static vpu_status set_value(const adding *x, const vpu_value *v, vpu_error *err)
{
    if (!has_argument(x->kernel, v->name))
        return VPU_OK;
    return v->is_real
               ? vpu_operation_set_real(x->made, v->name, v->real, err)
               : vpu_operation_set_integer(x->made, v->name, v->integer, err);
}

static vpu_status set_locals(const adding *x, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < x->k->n_locals && !st; i++) {
        const vpu_local *l = &x->k->locals[i];
        int32_t bytes;

        st = evaluate(x, l->bytes, strlen(l->bytes), &bytes, err);
        if (!st && bytes <= 0)
            st = err_set(err, VPU_ERR_INVALID,
                         "operation %s of kind %s: local memory '%s' has %d "
                         "bytes",
                         x->call.name, x->k->name, l->argument, bytes);
        if (!st)
            st = vpu_operation_set_local(x->made, l->argument, (uint32_t)bytes,
                                         err);
    }
    return st;
}

static vpu_status set_tensor(const adding *x, const char *name, vpu_tensor *t,
                             vpu_error *err)
{
    return x->k->strided ? vpu_operation_set_memory(x->made, name, t, err)
                         : vpu_operation_set_tensor(x->made, name, t, err);
}

/* How far the kind reaches, in each dim of input 0. */
static vpu_status find_reach(const adding *x, uint32_t reach[VPU_MAX_RANK],
                             vpu_error *err)
{
    int32_t values[VPU_MAX_RANK];
    uint32_t rank = x->call.n_inputs ? x->call.inputs[0]->rank : 0;
    size_t n;
    vpu_status st =
        evaluate_list(x, x->k->reach, values, VPU_MAX_RANK, &n, err);

    if (!st && n != 1 && n != rank)
        return err_set(err, VPU_ERR_INVALID,
                       "operation %s: the reach of kind %s, '%s', has %zu "
                       "dims, input 0 has %u",
                       x->call.name, x->k->name, x->k->reach, n, rank);
    for (uint32_t i = 0; i < rank && !st; i++) {
        int32_t v = values[n == 1 ? 0 : i];

        if (v < 0)
            return err_set(err, VPU_ERR_INVALID,
                           "operation %s: the reach of kind %s is %d in dim %u",
                           x->call.name, x->k->name, v, i);
        reach[i] = (uint32_t)v;
    }
    return st;
}

/* What of the outputs means something, and which work-groups may run. */
static vpu_status follow_reach(const adding *x, vpu_error *err)
{
    uint32_t reach[VPU_MAX_RANK] = {0};
    vpu_status st;

    if (!x->k->reach)
        return api_reach_unknown(&x->call, err);
    st = find_reach(x, reach, err);
    return st ? st : api_reach_follow(x->made, &x->call, reach, err);
}

static vpu_status add_launch(adding *x, vpu_error *err)
{
    const vpu_kind *k = x->k;
    vpu_launch_options l = VPU_LAUNCH_OPTIONS_INIT;
    vpu_status st = find_sizes(x, &l, err);

    l.name = x->call.name;
    l.part = k->part;
    l.parts = k->parts;
    if (!st)
        st = vpu_graph_add_kernel(x->g, x->kernel, &l, &x->made, err);
    for (size_t i = 0; i < k->n_inputs && !st; i++)
        st = set_tensor(x, k->inputs[i], x->call.inputs[i], err);
    for (size_t i = 0; i < k->n_outputs && !st; i++)
        st = set_tensor(x, k->outputs[i], x->outputs[i], err);
    for (size_t i = 0; i < x->call.n_values && !st; i++)
        st = set_value(x, &x->values[i], err);
    if (!st)
        st = set_locals(x, err);
    return st ? st : follow_reach(x, err);
}

/* In the graph's arena. */
static void keep_recipe(const adding *x)
{
    arena *a = x->g->arena;
    api_recipe *r = arena_new(a, api_recipe);
    vpu_add_options *o = &r->options;
    size_t n = x->o->n_values;
    vpu_value *values = arena_array(a, vpu_value, n + 1);

    r->kind = x->k;
    *o = *x->o;
    o->name = x->call.name;
    o->inputs = arena_memdup(a, o->inputs, o->n_inputs * sizeof *o->inputs);
    o->outputs = x->outputs;
    o->n_outputs = x->k->n_outputs;
    for (size_t i = 0; i < n; i++) {
        values[i] = x->o->values[i];
        values[i].name = arena_strdup(a, values[i].name);
    }
    o->values = values;
    x->made->recipe = r;
}

static vpu_status add(void *user, vpu_error *err)
{
    adding *x = user;
    vpu_status st;

    x->call.name =
        arena_strdup(x->g->arena, x->o->name ? x->o->name : x->k->name);
    st = take_tensors(x, err);
    if (!st)
        st = find_values(x, err);
    if (!st)
        st = find_outputs(x, err);
    if (!st)
        st = compute_values(x, err);
    if (!st)
        st = find_kernel(x, err);
    if (!st)
        st = check_order(x, err);
    if (!st)
        st = add_launch(x, err);
    if (!st)
        keep_recipe(x);
    return st;
}

/* Outputs of an operation that is added again are what it computes from. */
static vpu_status size_again(adding *x, vpu_error *err)
{
    vpu_launch_options l = VPU_LAUNCH_OPTIONS_INIT;
    vpu_status st = find_sizes(x, &l, err);

    if (!st)
        st = api_operation_take_sizes(x->made, &l, err);
    for (size_t i = 0; i < x->call.n_values && !st; i++)
        st = set_value(x, &x->values[i], err);
    if (!st)
        st = set_locals(x, err);
    return st ? st : follow_reach(x, err);
}

vpu_status api_add_again(vpu_operation *op, vpu_error *err)
{
    const api_recipe *r = op->recipe;
    adding x = {.g = op->graph,
                .k = r->kind,
                .o = &r->options,
                .made = op,
                .call.name = op->name,
                .again = true};
    vpu_status st = take_tensors(&x, err);

    if (!st)
        st = find_values(&x, err);
    if (!st)
        st = find_outputs(&x, err);
    if (!st)
        st = compute_values(&x, err);
    if (!st)
        st = find_kernel(&x, err);
    if (!st && x.kernel != op->kernel)
        st = err_set(err, VPU_ERR_UNSUPPORTED,
                     "operation %s takes another kernel for this shape: make "
                     "another graph",
                     op->name);
    return st ? st : size_again(&x, err);
}

static vpu_status no_kind(vpu_context *c, const char *name, vpu_error *err)
{
    nearest n = {.word = name};
    const char *offer;

    for (size_t i = 0; (offer = vpu_context_kind(c, i)); i++)
        nearest_offer(&n, offer);
    return err_set(err, VPU_ERR_INVALID,
                   "there is no kind of operation '%s'%s%s%s", name,
                   n.best ? "; did you mean '" : "", n.best ? n.best : "",
                   n.best ? "'?" : "; vpu_context_register makes one");
}

vpu_status vpu_graph_add(vpu_graph *self, const char *kind,
                         const vpu_add_options *options, vpu_operation **out,
                         vpu_error *err)
{
    vpu_add_options o;
    adding x = {.g = self, .o = &o};
    vpu_status st = api_need(out, "out", err);

    if (st)
        return st;
    *out = NULL;
    st = api_need(self, "graph", err);
    if (!st)
        st = api_need(kind, "kind", err);
    if (!st)
        st = api_graph_needs_open(self, err);
    if (!st)
        st = api_take_options(&o, sizeof o, options, "vpu_add_options", err);
    if (!st && o.n_inputs)
        st = api_need(o.inputs, "inputs", err);
    if (!st && o.outputs == NULL)
        o.n_outputs = 0;
    if (!st && o.n_values)
        st = api_need(o.values, "values", err);
    if (st)
        return st;
    x.k = api_kind_find(self->context, kind);
    if (!x.k)
        return no_kind(self->context, kind, err);
    if (api_kind_is_layer(self->context, x.k))
        return api_layer_kind_add(self, x.k, &o, out, err);
    st = api_graph_change(self, add, &x, err);
    if (!st)
        *out = x.made;
    return st;
}
