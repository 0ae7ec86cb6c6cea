/* Reads a SimpleGPU layer: Kernel with Source and Define, Buffers, the options
 * of the compiler, WorkSizes; and computes the sizes. */
#include "runtime/config/gpu.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "runtime/config/layer_priv.h"
#include "runtime/config/number.h"

enum { MAX_ARGUMENTS = 256 };

/* The first child of that name; further ones do not count. NULL: none. */
static const config_xml_node *first_child(const config_reader *r,
                                          const config_xml_node *node,
                                          const char *name)
{
    const config_xml_node *first = config_xml_child(node, name);

    for (const config_xml_node *c = first ? first->next : NULL; c; c = c->next)
        if (!strcmp(c->name, name))
            config_warn(r, c->line,
                        "only the first %s of a CustomLayer counts; this one "
                        "is ignored",
                        name);
    return first;
}

static vpu_status needed_child(const config_reader *r,
                               const config_xml_node *node, const char *name,
                               const config_xml_node **out)
{
    nearest like = {.word = name};

    *out = first_child(r, node, name);
    if (*out)
        return VPU_OK;
    for (const config_xml_node *c = node->first; c; c = c->next)
        nearest_offer(&like, c->name);
    return config_fail(r, node->line, node->col,
                       "SimpleGPU layer %s has no %s%s%s%s", r->layer, name,
                       like.best ? "; is it '" : "", like.best ? like.best : "",
                       like.best ? "', misspelt?" : "");
}

/* An attribute, text NULL when it is absent or empty. */
static config_text filled(const config_xml_node *node, const char *name)
{
    config_text t = config_get_text(node, name);

    return t.text && *t.text ? t : (config_text){0};
}

static vpu_status need_filled(const config_reader *r,
                              const config_xml_node *node, const char *name,
                              config_text *out)
{
    vpu_status st = config_need_text(r, node, name, out);

    if (!st && !*out->text)
        st = config_fail(r, out->line, out->col, "%s of %s is empty", name,
                         node->name);
    return st;
}

/* --- Define -------------------------------------------------------------- */

/* The characters of a macro's name. */
static size_t name_length(const char *text)
{
    size_t n = 0;

    while (isalnum((unsigned char)text[n]) || text[n] == '_')
        n++;
    return isdigit((unsigned char)*text) ? 0 : n;
}

static vpu_status read_define(const config_reader *r,
                              const config_xml_node *node, config_define *d)
{
    config_text name, type = filled(node, "type");
    vpu_status st = need_filled(r, node, "name", &name);

    if (st)
        return st;
    if (!name_length(name.text))
        return config_fail(r, name.line, name.col,
                           "Define name=\"%s\"; expected a macro's name first",
                           name.text);
    if (strpbrk(name.text, "\r\n"))
        return config_fail(r, name.line, name.col,
                           "Define %.*s: its name goes over the end of a line",
                           (int)name_length(name.text), name.text);
    *d = (config_define){.name = name.text,
                         .param = filled(node, "param"),
                         .preset = config_get_text(node, "default"),
                         .line = node->line,
                         .col = node->col};
    if (type.text && (!strcmp(type.text, "int") || !strcmp(type.text, "int[]")))
        d->type = "int";
    else if (type.text &&
             (!strcmp(type.text, "float") || !strcmp(type.text, "float[]")))
        d->type = "float";
    d->array = d->type && strlen(type.text) > strlen(d->type);
    if (type.text && !d->type)
        config_warn(r, type.line,
                    "type=\"%s\" of Define %s means nothing; the types are "
                    "int, float, int[] and float[]",
                    type.text, d->name);
    config_warn_attrs(r, node, "name param default type");
    return VPU_OK;
}

static vpu_status read_defines(const config_reader *r,
                               const config_xml_node *kernel, config_kernel *k)
{
    config_define *list = NULL;
    size_t n = 0, cap = 0;
    vpu_status st = VPU_OK;

    for (const config_xml_node *c = kernel->first; c && !st; c = c->next)
        if (!strcmp(c->name, "Define"))
            st = read_define(r, c, arena_append(r->arena, list, n, cap));
    k->defines = list;
    k->n_defines = n;
    return st;
}

static vpu_status read_kernel(const config_reader *r,
                              const config_xml_node *node, config_kernel *k)
{
    config_text entry;
    vpu_status st = need_filled(r, node, "entry", &entry);

    k->entry = entry.text;
    k->line = node->line;
    if (!st)
        st = config_read_sources(r, node, k);
    if (!st)
        st = read_defines(r, node, k);
    config_warn_attrs(r, node, "entry");
    config_warn_children(r, node, "Source Define");
    return st;
}

/* --- Buffers ------------------------------------------------------------- */

static bool of_one_case(const char *text)
{
    bool upper = false, lower = false;

    for (; *text; text++) {
        upper |= isupper((unsigned char)*text) != 0;
        lower |= islower((unsigned char)*text) != 0;
    }
    return !upper || !lower;
}

static vpu_status read_format(const config_reader *r,
                              const config_xml_node *node, config_format *out)
{
    static const config_format known[] = {CONFIG_BFYX, CONFIG_BYXF, CONFIG_YXFB,
                                          CONFIG_FYXB, CONFIG_ANY};
    config_text t = filled(node, "format");
    char upper[8] = "";

    *out = CONFIG_BFYX;
    if (!t.text)
        return VPU_OK;
    for (size_t i = 0; t.text[i] && i + 1 < sizeof upper; i++)
        upper[i] = (char)toupper((unsigned char)t.text[i]);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(t.text) < sizeof upper &&
            !strcmp(upper, config_format_name(known[i]))) {
            *out = known[i];
            if (of_one_case(t.text))
                return VPU_OK;
            return config_fail(r, t.line, t.col,
                               "format=\"%s\": the plug-in knows the letters "
                               "all upper or all lower case; expected %s",
                               t.text, upper);
        }
    return config_fail(r, t.line, t.col,
                       "format=\"%s\"; expected BFYX, BYXF, YXFB, FYXB or ANY",
                       t.text);
}

static vpu_status need_number(const config_reader *r,
                              const config_xml_node *node, const char *name,
                              int32_t *out)
{
    config_text t;
    vpu_status st = need_filled(r, node, name, &t);

    return st ? st : config_get_int(r, node, name, 0, out);
}

static vpu_status read_tensor(const config_reader *r,
                              const config_xml_node *node, config_binding *b)
{
    config_text type, index = config_get_text(node, "arg-index");
    vpu_status st = need_number(r, node, "arg-index", &b->index);

    if (!st)
        st = need_number(r, node, "port-index", &b->port);
    if (!st)
        st = need_filled(r, node, "type", &type);
    if (!st && b->index >= MAX_ARGUMENTS)
        st = config_fail(r, index.line, index.col,
                         "arg-index=\"%d\"; expected at most %d", (int)b->index,
                         MAX_ARGUMENTS - 1);
    if (st)
        return st;
    if (strcmp(type.text, "input") && strcmp(type.text, "output"))
        return config_fail(r, type.line, type.col,
                           "Tensor node has an invalid type '%s'; expected "
                           "input or output",
                           type.text);
    b->place = index;
    b->kind = *type.text == 'i' ? CONFIG_INPUT : CONFIG_OUTPUT;
    b->arg = arena_printf(r->arena, "%d", (int)b->index);
    if (b->kind == CONFIG_OUTPUT && b->port)
        config_warn(r, node->line,
                    "output port-index=\"%d\" is not used: a custom layer has "
                    "exactly one output",
                    (int)b->port);
    config_warn_attrs(r, node, "arg-index type port-index format");
    return read_format(r, node, &b->format);
}

/* What the plug-in of 2021.4 throws at, and what became of it. */
static vpu_status refuse_data(const config_reader *r,
                              const config_xml_node *node)
{
    return config_fail(r, node->line, node->col,
                       "Data is not read by the plug-in since 2021.3: weights "
                       "are inputs of the layer, bound with Tensor "
                       "type=\"input\"");
}

static int by_index(const void *a, const void *b)
{
    const config_binding *x = a, *y = b;

    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Each argument exactly once, and what one tensor is bound as in one order. */
static vpu_status check_tensors(const config_reader *r, const config_binding *b,
                                size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (b[i].index == b[i - 1].index)
            return config_fail(r, b[i].place.line, b[i].place.col,
                               "arg-index=\"%d\" is bound twice; the other is "
                               "in line %u",
                               (int)b[i].index, b[i - 1].line);
    for (size_t i = 0; i < n; i++) {
        if (b[i].index != (int32_t)i)
            return config_fail(r, b[i].place.line, b[i].place.col,
                               "arg-index=\"%d\", but no Tensor binds "
                               "argument %zu",
                               (int)b[i].index, i);
        for (size_t k = 0; k < i; k++)
            if (b[k].kind == b[i].kind && b[k].format != b[i].format &&
                (b[k].kind == CONFIG_OUTPUT || b[k].port == b[i].port))
                return config_fail(
                    r, b[i].place.line, b[i].place.col,
                    "%s %d is bound as %s here and as %s in line %u; expected "
                    "one format",
                    b[k].kind == CONFIG_OUTPUT ? "output" : "input",
                    (int)b[i].port, config_format_name(b[i].format),
                    config_format_name(b[k].format), b[k].line);
    }
    return VPU_OK;
}

static vpu_status read_buffers(const config_reader *r,
                               const config_xml_node *node, config_kernel *k)
{
    config_binding *list = NULL;
    size_t n = 0, cap = 0;
    vpu_status st = VPU_OK;

    for (const config_xml_node *c = node->first; c && !st; c = c->next) {
        if (!strcmp(c->name, "Data"))
            return refuse_data(r, c);
        if (strcmp(c->name, "Tensor"))
            continue;
        config_binding *b = arena_append(r->arena, list, n, cap);

        *b = (config_binding){.line = c->line};
        st = read_tensor(r, c, b);
    }
    if (!st && !n)
        st = config_fail(r, node->line, node->col,
                         "Buffers of SimpleGPU layer %s has no Tensor",
                         r->layer);
    config_warn_attrs(r, node, "");
    config_warn_children(r, node, "Tensor Data");
    if (st)
        return st;
    qsort(list, n, sizeof *list, by_index);
    k->bindings = list;
    k->n_bindings = n;
    return check_tensors(r, list, n);
}

/* --- WorkSizes ----------------------------------------------------------- */

/* "", "output", "input" or "input,N". */
static vpu_status read_dim(const config_reader *r, const config_xml_node *node,
                           config_dim *out)
{
    config_text t = filled(node, "dim");
    const char *comma;
    bool fits;
    int32_t index = 0;

    *out = (config_dim){.output = true, .line = node->line};
    if (!t.text || !strcmp(t.text, "output"))
        return VPU_OK;
    out->line = t.line;
    out->output = false;
    comma = strchr(t.text, ',');
    if (!strcmp(t.text, "input"))
        return VPU_OK;
    if (!comma || strncmp(t.text, "input,", 6))
        return config_fail(r, t.line, t.col,
                           "dim=\"%s\"; expected output, input, or input,N "
                           "with a comma",
                           t.text);
    if (!config_number_int(comma + 1, &index, &fits) || !fits || index < 0)
        return config_fail(r, t.line, t.col, "dim=\"%s\": '%s' is not an input",
                           t.text, comma + 1);
    out->index = (uint32_t)index;
    return VPU_OK;
}

/* Formulas are checked when the file is read, whatever the sizes will be. */
static vpu_status check_sizes(const config_reader *r, const char *what,
                              config_text list)
{
    const config_layer l = {.path = r->path};
    uint32_t sizes[CONFIG_GPU_MAX_DIMS];
    size_t n;
    vpu_error err = {0};
    vpu_status st = config_gpu_sizes(&l, what, list, NULL, sizes, &n, &err);

    if (st && r->err)
        *r->err = err;
    return st;
}

static vpu_status read_sizes(const config_reader *r,
                             const config_xml_node *node, config_kernel *k)
{
    vpu_status st = read_dim(r, node, &k->dim);

    k->global = filled(node, "global");
    k->local = filled(node, "local");
    if (!st)
        st = check_sizes(r, "global", k->global);
    if (!st)
        st = check_sizes(r, "local", k->local);
    config_warn_attrs(r, node, "global local dim");
    config_warn_children(r, node, "");
    return st;
}

/* --- the layer ----------------------------------------------------------- */

vpu_status config_read_gpu(const config_reader *r, const config_xml_node *node,
                           config_layer *out)
{
    config_kernel *k = arena_new(r->arena, config_kernel);
    const config_xml_node *kernel, *buffers = NULL, *options, *sizes;
    vpu_status st = needed_child(r, node, "Kernel", &kernel);

    if (!st)
        st = needed_child(r, node, "Buffers", &buffers);
    if (st)
        return st;
    options = first_child(r, node, "CompilerOptions");
    sizes = first_child(r, node, "WorkSizes");
    k->dim = (config_dim){.output = true, .line = node->line};
    st = read_kernel(r, kernel, k);
    if (!st)
        st = read_buffers(r, buffers, k);
    if (!st && options) {
        k->options = filled(options, "options");
        config_warn_attrs(r, options, "options");
    }
    if (!st && sizes)
        st = read_sizes(r, sizes, k);
    config_warn_attrs(r, node, "name type version");
    config_warn_children(r, node, "Kernel Buffers CompilerOptions WorkSizes");
    out->kernels = k;
    out->n_kernels = 1;
    return st;
}

/* --- formulas ------------------------------------------------------------ */

typedef struct {
    const config_layer *layer;
    const char *what;
    config_text list;
    const config_gpu_vars *vars; /* NULL: values do not count */
    vpu_error *err;
    const char *p, *end; /* of the piece that is left */
    unsigned depth;
    vpu_status st;
} formula;

enum { MAX_DEPTH = 64 };

static void bad(formula *f, vpu_status st, const char *at, const char *fmt, ...)
    VPU_PRINTF(4, 5);

/* The first problem counts. */
static void bad(formula *f, vpu_status st, const char *at, const char *fmt, ...)
{
    vpu_error why;
    va_list ap;

    if (f->st)
        return;
    va_start(ap, fmt);
    err_vset(&why, st, fmt, ap);
    va_end(ap);
    f->st = err_at(f->err, st, f->layer->path, f->list.line,
                   f->list.col + (uint32_t)(at - f->list.text), "%s=\"%s\": %s",
                   f->what, f->list.text, why.msg);
}

/* Bytes of the character at p: of UTF-8, as a binding file is. */
static int width(const char *p)
{
    int n = 1;

    while (((unsigned char)p[n] & 0xc0) == 0x80)
        n++;
    return n;
}

static char look(formula *f)
{
    while (f->p < f->end && (*f->p == ' ' || *f->p == '\t'))
        f->p++;
    return f->p < f->end ? *f->p : 0;
}

static int32_t number(formula *f)
{
    const char *start = f->p;
    int64_t v = 0;

    while (f->p < f->end && isdigit((unsigned char)*f->p)) {
        v = v * 10 + (*f->p++ - '0');
        if (v > INT32_MAX) {
            bad(f, VPU_ERR_PARSE, start, "a number above 2^31 - 1");
            return 0;
        }
    }
    if (f->p < f->end && isalpha((unsigned char)*f->p))
        bad(f, VPU_ERR_PARSE, f->p,
            "'%c' stands behind a number; is there an operator missing?",
            *f->p);
    return (int32_t)v;
}

static int32_t sum(formula *f);

static int32_t value(formula *f)
{
    static const char letters[] = "BFYX";
    char c = look(f);
    const char *letter = c ? strchr(letters, toupper((unsigned char)c)) : NULL;
    const char *at = f->p;
    int32_t v;

    if (isdigit((unsigned char)c))
        return number(f);
    if (letter && *letter) {
        f->p++;
        if (f->p < f->end && isalnum((unsigned char)*f->p))
            bad(f, VPU_ERR_PARSE, f->p,
                "'%c' stands behind a letter; is there an operator missing?",
                *f->p);
        return f->vars ? f->vars->dims[letter - letters] : 1;
    }
    if (c == '(' && f->depth < MAX_DEPTH) {
        f->p++;
        f->depth++;
        v = sum(f);
        f->depth--;
        if (look(f) == ')')
            f->p++;
        else
            bad(f, VPU_ERR_PARSE, f->p, "')' is missing");
        return v;
    }
    if (c == '(')
        bad(f, VPU_ERR_PARSE, at, "brackets are more than %d deep", MAX_DEPTH);
    else if (c == '-' || c == '+')
        bad(f, VPU_ERR_PARSE, at, "a sign before a value; write 0-X, not -X");
    else if (c)
        bad(f, VPU_ERR_PARSE, at,
            "found '%.*s'; expected a number, B, F, Y, X or '('", width(at),
            at);
    else
        bad(f, VPU_ERR_PARSE, at,
            "a value is missing; expected a number, B, F, Y, X or '('");
    return 0;
}

static int32_t apply(formula *f, char op, const char *at, int32_t x, int32_t y)
{
    int32_t v = 0;
    bool over = false;

    if (!f->vars)
        return 1;
    if ((op == '/' || op == '%') && !y) {
        bad(f, VPU_ERR_INVALID, at, "division by zero");
        return 0;
    }
    switch (op) {
    case '+':
        over = __builtin_add_overflow(x, y, &v);
        break;
    case '-':
        over = __builtin_sub_overflow(x, y, &v);
        break;
    case '*':
        over = __builtin_mul_overflow(x, y, &v);
        break;
    case '/':
        over = x == INT32_MIN && y == -1;
        v = over ? 0 : x / y;
        break;
    default:
        over = x == INT32_MIN && y == -1;
        v = over ? 0 : x % y;
    }
    if (over)
        bad(f, VPU_ERR_INVALID, at, "the result does not fit 32 bits");
    return v;
}

static int32_t product(formula *f)
{
    int32_t v = value(f);

    for (char op = look(f); !f->st && (op == '*' || op == '/' || op == '%');
         op = look(f)) {
        const char *at = f->p++;

        v = apply(f, op, at, v, value(f));
    }
    return v;
}

static int32_t sum(formula *f)
{
    int32_t v = product(f);

    for (char op = look(f); !f->st && (op == '+' || op == '-'); op = look(f)) {
        const char *at = f->p++;

        v = apply(f, op, at, v, product(f));
    }
    return v;
}

vpu_status config_gpu_sizes(const config_layer *l, const char *what,
                            config_text list, const config_gpu_vars *vars,
                            uint32_t out[CONFIG_GPU_MAX_DIMS], size_t *n,
                            vpu_error *err)
{
    formula f = {
        .layer = l, .what = what, .list = list, .vars = vars, .err = err};

    *n = 0;
    for (const char *p = list.text; p && *p && !f.st;) {
        const char *comma = strchr(p, ',');
        int32_t v;

        f.p = p;
        f.end = comma ? comma : p + strlen(p);
        if (*n == CONFIG_GPU_MAX_DIMS)
            bad(&f, VPU_ERR_PARSE, p, "more than %d sizes",
                CONFIG_GPU_MAX_DIMS);
        v = sum(&f);
        if (!f.st && look(&f))
            bad(&f, VPU_ERR_PARSE, f.p, "found '%.*s'; expected an operator",
                width(f.p), f.p);
        if (!f.st && vars && v < 1)
            bad(&f, VPU_ERR_INVALID, p, "size %zu is %d; expected at least 1",
                *n, (int)v);
        if (!f.st)
            out[(*n)++] = (uint32_t)v;
        p = comma ? comma + 1 : f.end;
    }
    return f.st;
}

/* --- formats ------------------------------------------------------------- */

config_format config_gpu_format(const config_kernel *k,
                                config_binding_kind kind, uint32_t port)
{
    config_format f = CONFIG_ANY;

    for (size_t i = k->n_bindings; i--;)
        if (k->bindings[i].kind == kind &&
            (kind == CONFIG_OUTPUT || (uint32_t)k->bindings[i].port == port))
            f = k->bindings[i].format;
    if (f == CONFIG_ANY && kind == CONFIG_OUTPUT)
        return config_gpu_format(k, CONFIG_INPUT, 0);
    return f == CONFIG_ANY ? CONFIG_BFYX : f;
}
