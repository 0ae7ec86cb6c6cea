/* Values: expression variables, work sizes, buffer sizes and scalars. */
#include "runtime/graph/bind_priv.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "runtime/config/number.h"

config_context graph_context(const graph_binder *b, const config_layer *l)
{
    return config_layer_context(l, b->request->binding->strict, b->log, b->err);
}

vpu_status graph_fail(const graph_binder *b, const char *path, uint32_t line,
                      const char *fmt, ...)
{
    vpu_error why;
    va_list ap;

    va_start(ap, fmt);
    err_vset(&why, VPU_ERR_INVALID, fmt, ap);
    va_end(ap);
    return err_at(b->err, VPU_ERR_INVALID, path, line, 0, "%s", why.msg);
}

/* --- dims ---------------------------------------------------------------- */

static const char letters[] = "BFYX";

/* B, F, Y, X of a shape: [C], [N,C], [C,H,W], [N,C,H,W], [N,C,D,H,W]; what is
 * missing is 1, and depth has no letter. */
static void bfyx(const tensor_desc *d, int32_t out[4])
{
    enum { NONE = 4 };
    static const uint8_t letter_of[TENSOR_MAX_RANK][TENSOR_MAX_RANK] = {
        {1}, {0, 1}, {1, 2, 3}, {0, 1, 2, 3}, {0, 1, NONE, 2, 3}};

    for (uint32_t i = 0; i < 4; i++)
        out[i] = 1;
    for (uint32_t i = 0; i < d->rank; i++)
        if (letter_of[d->rank - 1][i] != NONE)
            out[letter_of[d->rank - 1][i]] = (int32_t)d->dims[i];
}

const config_var *graph_vars(graph_binder *b, const tensor_desc *desc,
                             size_t *n)
{
    static const char *const names[] = {"B", "b", "F", "f", "Y", "y", "X", "x"};
    const graph_target *t = &b->target;
    int32_t dims[4] = {1, 1, 1, 1};

    if (!b->vars) {
        b->vars = arena_array(b->arena, config_var, t->n_params + 8);
        /* The first of equal names counts here, the last among parameters. */
        for (size_t i = t->n_params; i--;) {
            config_var *v = &b->vars[b->n_numeric];

            v->name = t->params[i].name;
            b->n_numeric += config_number_value(t->params[i].value, &v->value);
        }
    }
    if (desc)
        bfyx(desc, dims);
    for (size_t i = 0; i < 8; i++)
        b->vars[b->n_numeric + i] =
            (config_var){names[i], {.integer = dims[i / 2]}};
    *n = b->n_numeric + 8;
    return b->vars;
}

/* The desc that a dim names; NULL with an error when it is out of range. */
static const tensor_desc *dim_desc(const graph_binder *b, const graph_stage *s,
                                   const config_dim *dim)
{
    size_t n = dim->output ? 1 : b->target.n_inputs;

    if (dim->index >= n) {
        graph_fail(b, s->layer->path, dim->line,
                   "dim=\"%s,%u\": layer %s has %zu %s%s",
                   dim->output ? "output" : "input", dim->index, b->target.name,
                   n, dim->output ? "output" : "input", n == 1 ? "" : "s");
        return NULL;
    }
    return dim->output ? &b->target.output->desc
                       : &b->target.inputs[dim->index]->desc;
}

/* Earlier compilers know less of an expression, or compute it otherwise. */
static vpu_status check_uses(graph_binder *b, const graph_stage *s,
                             const config_expr *e, const config_var *vars,
                             size_t n_vars)
{
    static const config_range whole = {CONFIG_2020_4, CONFIG_2021_1};
    config_context c = graph_context(b, s->layer);
    unsigned uses = config_expr_uses(e, vars, n_vars);
    vpu_status st = VPU_OK;

    if (uses & CONFIG_EXPR_NAMES)
        st = config_refused_by(&c, CONFIG_FLAT_RELEASES, e->line, e->col,
                               "know no names but b f y x B F Y X",
                               "expression '%.*s' has a function or a "
                               "parameter",
                               (int)e->length, e->text);
    if (!st && uses & CONFIG_EXPR_FRACTIONS)
        st = config_refused_by(
            &c, whole, e->line, e->col, "cut it to an integer first",
            "expression '%.*s' has a fraction", (int)e->length, e->text);
    return st;
}

/* The expressions of a list of sizes, and what they are. */
typedef struct {
    config_expr parts[3];
    int32_t values[3];
    size_t n;
} size_list;

static vpu_status eval_list(graph_binder *b, const graph_stage *s,
                            const config_dim *dim, config_text list,
                            size_list *out)
{
    const tensor_desc *d = dim_desc(b, s, dim);
    config_expr all = config_text_expr(list, s->layer->path);
    const config_var *vars;
    size_t n_vars;
    vpu_status st;

    out->n = 0;
    if (!d)
        return VPU_ERR_INVALID;
    vars = graph_vars(b, d, &n_vars);
    st = config_expr_split(&all, 3, out->parts, &out->n, b->err);
    for (size_t i = 0; i < out->n && !st; i++)
        st = check_uses(b, s, &out->parts[i], vars, n_vars);
    for (size_t i = 0; i < out->n && !st; i++)
        st = config_expr_eval(&out->parts[i], vars, n_vars, &out->values[i],
                              b->err);
    return st;
}

vpu_status graph_work_size(graph_binder *b, const graph_stage *s,
                           const char *what, config_text list, uint32_t out[3])
{
    size_list sizes;
    vpu_status st = eval_list(b, s, &s->kernel->dim, list, &sizes);

    for (size_t i = 0; i < 3 && !st; i++) {
        out[i] = i < sizes.n ? (uint32_t)sizes.values[i] : 1;
        if (i < sizes.n && sizes.values[i] <= 0)
            st = graph_fail(b, s->layer->path, list.line,
                            "%s size '%.*s' of dimension %zu is %d; expected "
                            "at least 1",
                            what, (int)sizes.parts[i].length,
                            sizes.parts[i].text, i, (int)sizes.values[i]);
    }
    return st;
}

vpu_status graph_binding_size(graph_binder *b, const graph_stage *s,
                              const config_binding *bind, uint32_t *out)
{
    config_text list = bind->size;
    /* Published bindings have local_data of no bytes. */
    int32_t least = bind->kind == CONFIG_LOCAL_DATA ? 0 : 1;
    size_list sizes;
    uint64_t total = 1;
    vpu_status st = eval_list(b, s, &bind->dim, list, &sizes);

    if (st)
        return st;
    if (sizes.n > 1 && s->layer->form == CONFIG_FORM_NESTED)
        return graph_fail(b, s->layer->path, list.line,
                          "size=\"%s\" of argument %s; expected one expression",
                          list.text, bind->arg);
    for (size_t i = 0; i < sizes.n; i++) {
        if (sizes.values[i] < least)
            return graph_fail(b, s->layer->path, list.line,
                              "size '%.*s' of argument %s is %d; expected at "
                              "least %d",
                              (int)sizes.parts[i].length, sizes.parts[i].text,
                              bind->arg, (int)sizes.values[i], (int)least);
        if (__builtin_mul_overflow(total, (uint64_t)sizes.values[i], &total) ||
            total > INT32_MAX)
            return graph_fail(b, s->layer->path, list.line,
                              "size=\"%s\" of argument %s is above 2^31 - 1",
                              list.text, bind->arg);
    }
    *out = (uint32_t)total;
    return VPU_OK;
}

/* --- scalars ------------------------------------------------------------- */

typedef struct {
    const graph_binder *b;
    const graph_stage *s;
    const config_binding *bind;
    graph_arg *arg;
} scalar;

static vpu_status bad(const scalar *x, const char *fmt, ...) VPU_PRINTF(2, 3);

static vpu_status bad(const scalar *x, const char *fmt, ...)
{
    vpu_error why;
    va_list ap;

    va_start(ap, fmt);
    err_vset(&why, VPU_ERR_INVALID, fmt, ap);
    va_end(ap);
    return graph_fail(x->b, x->s->layer->path, x->bind->source.line,
                      "argument %s, source=\"%s\": %s", x->bind->arg,
                      x->bind->source.text, why.msg);
}

static bool is_flat(const scalar *x)
{
    return x->s->layer->form == CONFIG_FORM_FLAT;
}

/* A number is the longest prefix that reads as one. */
static vpu_status take_number(const scalar *x, const char *text)
{
    bool ok, fits;
    int32_t integer = 0;
    float real;

    if (x->bind->kind == CONFIG_INT) {
        x->arg->kind = GRAPH_ARG_INT;
        ok = config_number_int(text, &integer, &fits);
        x->arg->integer = integer;
        if (ok && !fits)
            return bad(x, "'%s' does not fit an integer of 32 bits", text);
        if (ok && config_number_float(text, &real) && real != truncf(real))
            return bad(x,
                       "'%s' is no integer, but the binding has type=\"int\", "
                       "which would cut it to %d; bind it with type=\"float\" "
                       "and declare the kernel's argument float",
                       text, (int)integer);
    } else {
        x->arg->kind = GRAPH_ARG_FLOAT;
        ok = config_number_float(text, &x->arg->real) && isfinite(x->arg->real);
    }
    if (ok)
        return VPU_OK;
    return bad(x, "'%s' is not %s", text,
               x->bind->kind == CONFIG_INT ? "an integer"
                                           : "a number that fits a float");
}

/* Element port of a comma-separated parameter; past the end, the last. */
static vpu_status from_param(const scalar *x, const char *value)
{
    int32_t port = x->bind->port;
    const char *start = value, *comma;

    if (port < 0 && is_flat(x))
        port = 0;
    if (port < 0)
        return take_number(x, value);
    if (!strchr(value, ',') && !is_flat(x))
        return bad(x,
                   "port-index=%d is set, but the parameter \"%s\" is neither "
                   "a tensor nor an array",
                   (int)port, value);
    while (port-- && (comma = strchr(start, ',')))
        start = comma + 1;
    comma = strchr(start, ',');
    return take_number(
        x, comma ? arena_strndup(x->b->arena, start, (size_t)(comma - start))
                 : start);
}

/* "I.X": counted from the end of the shape, unlike in expressions. */
static vpu_status from_dim(const scalar *x, const char *dot)
{
    const char *source = x->bind->source.text;
    int32_t port = x->bind->port, index;
    const tensor_desc *d;
    const char *letter;
    size_t n;
    bool input, indexed;
    char upper = dot[1] >= 'a' && dot[1] <= 'z' ? (char)(dot[1] - 32) : dot[1];

    indexed = dot > source + 1 && (*source == 'I' || *source == 'O') &&
              strspn(source + 1, "0123456789") == (size_t)(dot - source - 1);
    input = *source == 'I' && (dot == source + 1 || indexed);
    if (!dot[1] || dot[2] || !(letter = strchr(letters, upper)))
        return bad(x,
                   "unable to deduce parameter '%s' for '%s' layer; expected "
                   "one of B F Y X after the dot",
                   dot + 1, x->b->target.type);
    if (indexed) {
        int32_t named;
        bool fits;

        if (!config_number_int(source + 1, &named, &fits) || !fits)
            return bad(x, "there is no such port");
        if (port >= 0 && port != named)
            return bad(x, "it names port %d, port-index says %d", (int)named,
                       (int)port);
        port = named;
    }
    if (port < 0 && !is_flat(x))
        return bad(x, "port-index is missing; a dimension needs one");
    port = port < 0 ? 0 : port;
    n = input ? x->b->target.n_inputs : 1;
    if ((size_t)port >= n)
        return bad(x, "%s port %d does not exist, layer %s has %zu",
                   input ? "input" : "output", (int)port, x->b->target.name, n);
    d = input ? &x->b->target.inputs[port]->desc : &x->b->target.output->desc;
    index = (int32_t)(letter - letters) - 4 + (int32_t)d->rank;
    if (index < 0 || index >= (int32_t)d->rank)
        return bad(x, "dimension %c does not exist in the tensor %s", upper,
                   tensor_desc_text(x->b->arena, d));
    x->arg->kind = GRAPH_ARG_INT;
    x->arg->integer = (int32_t)d->dims[index];
    x->arg->converts = x->bind->kind == CONFIG_FLOAT;
    if (x->arg->converts)
        log_warn(x->b->log,
                 "%s:%u: argument %s is declared float, but a dimension is "
                 "always passed as an int",
                 x->s->layer->path, x->bind->line, x->bind->arg);
    return VPU_OK;
}

static vpu_status from_literal(const scalar *x)
{
    if (x->bind->port >= 0 && !is_flat(x))
        return bad(x,
                   "port-index=%d is set, but the source is neither a tensor "
                   "nor a parameter of the layer",
                   (int)x->bind->port);
    if (isalpha((unsigned char)*x->bind->source.text))
        return bad(x,
                   "layer %s has no parameter '%s'; give it with --param "
                   "%s=…",
                   x->b->target.name, x->bind->source.text,
                   x->bind->source.text);
    return take_number(x, x->bind->source.text);
}

vpu_status graph_scalar(const graph_binder *b, const graph_stage *s,
                        const config_binding *bind, graph_arg *arg)
{
    scalar x = {b, s, bind, arg};
    const char *source = bind->source.text;
    const char *value =
        config_param_get(b->target.params, b->target.n_params, source);
    const char *dot = strchr(source, '.');
    config_value number;

    if (value)
        return from_param(&x, value);
    if (dot && !config_number_value(source, &number))
        return from_dim(&x, dot);
    return from_literal(&x);
}
