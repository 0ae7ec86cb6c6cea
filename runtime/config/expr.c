/* Shunting-yard into postfix, then a stack machine, as the vendor's compiler
 * does it: the grammar is whatever that procedure accepts ("2 3 +" included),
 * so a recursive-descent parser would not be the same language. */
#include "runtime/config/expr.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/config/number_priv.h"

/* Operators are their character, functions a letter of their own. */
typedef struct {
    char op; /* 0: a value */
    config_value value;
} token;

typedef struct {
    const config_expr *e;
    const config_var *vars;
    size_t n_vars;
    char text[CONFIG_EXPR_MAX + 1];
    token out[CONFIG_EXPR_MAX]; /* postfix */
    size_t n_out;
    char ops[CONFIG_EXPR_MAX];
    size_t n_ops;
    vpu_error *err;
} parser;

static const struct {
    const char *name;
    char op;
} functions[] = {
    {"floor", 'f'}, {"ceil", 'c'}, {"round", 'r'}, {"abs", 'a'}, {"sqrt", 's'},
};

static bool is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_function(char op)
{
    return is_alpha(op);
}

/* 0: not an operator. */
static int priority(char op)
{
    switch (op) {
    case '+':
    case '-':
        return 1;
    case '*':
    case '/':
    case '%':
        return 2;
    default:
        return is_function(op) ? 3 : 0;
    }
}

static vpu_status fail(const config_expr *e, vpu_error *err, vpu_status st,
                       const char *fmt, ...) VPU_PRINTF(4, 5);

static vpu_status fail(const config_expr *e, vpu_error *err, vpu_status st,
                       const char *fmt, ...)
{
    int shown = e->length > CONFIG_EXPR_MAX ? 40 : (int)e->length;
    vpu_error why;
    va_list ap;

    va_start(ap, fmt);
    err_vset(&why, st, fmt, ap);
    va_end(ap);
    return err_at(err, st, e->path, e->line, e->col, "expression '%.*s': %s",
                  shown, e->text, why.msg);
}

static void emit(parser *p, char op, config_value v)
{
    p->out[p->n_out++] = (token){op, v};
}

static void pop_op(parser *p)
{
    emit(p, p->ops[--p->n_ops], (config_value){0});
}

static vpu_status take_number(parser *p, size_t *at)
{
    char *end, saved;
    config_value v = {0};
    const char *start = p->text + *at;
    bool fits;
    int32_t i;

    errno = 0;
    v.real = config_strtof(start, &end);
    if (errno == ERANGE || !isfinite(v.real))
        return fail(p->e, p->err, VPU_ERR_PARSE,
                    "the number %.*s does not fit a float", (int)(end - start),
                    start);
    saved = *end;
    *end = '\0';
    v.is_float = config_number_int(start, &i, &fits) != (size_t)(end - start);
    *end = saved;
    if (!v.is_float && !fits)
        return fail(p->e, p->err, VPU_ERR_INVALID,
                    "the number %.*s does not fit 32 bits", (int)(end - start),
                    start);
    if (!v.is_float)
        v = (config_value){.integer = i};
    emit(p, 0, v);
    *at += (size_t)(end - start);
    return VPU_OK;
}

/* The sign for a function; 0: the name is none. */
static char function_of(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strlen(functions[i].name) == n &&
            !memcmp(functions[i].name, name, n))
            return functions[i].op;
    return 0;
}

static vpu_status take_name(parser *p, size_t *at)
{
    const char *start = p->text + *at;
    size_t n = 1;

    while (is_alpha(start[n]) || is_digit(start[n]) || start[n] == '_')
        n++;
    *at += n;
    if (function_of(start, n)) {
        p->ops[p->n_ops++] = function_of(start, n);
        return VPU_OK;
    }
    for (size_t i = 0; i < p->n_vars; i++)
        if (strlen(p->vars[i].name) == n &&
            !memcmp(p->vars[i].name, start, n)) {
            if (p->vars[i].value.too_large)
                return fail(p->e, p->err, VPU_ERR_INVALID,
                            "the parameter '%.*s' is about %g, which does not "
                            "fit 32 bits",
                            (int)n, start, (double)p->vars[i].value.real);
            emit(p, 0, p->vars[i].value);
            return VPU_OK;
        }
    return fail(p->e, p->err, VPU_ERR_PARSE,
                "unknown name '%.*s'; known are B, F, Y, X (or lower case), "
                "numeric layer parameters and floor, ceil, round, abs, sqrt",
                (int)n, start);
}

static vpu_status take_close(parser *p)
{
    while (p->n_ops && p->ops[p->n_ops - 1] != '(')
        pop_op(p);
    if (!p->n_ops)
        return fail(p->e, p->err, VPU_ERR_PARSE,
                    "mismatched parentheses: a ')' without its '('");
    p->n_ops--;
    return VPU_OK;
}

static vpu_status parse(parser *p)
{
    vpu_status st = VPU_OK;

    if (p->e->length > CONFIG_EXPR_MAX)
        return fail(p->e, p->err, VPU_ERR_LIMIT,
                    "%zu characters, the limit is %d", p->e->length,
                    CONFIG_EXPR_MAX);
    memcpy(p->text, p->e->text, p->e->length);
    p->text[p->e->length] = '\0';
    for (size_t at = 0; at < p->e->length && !st;) {
        char c = p->text[at];

        if (c == ' ' || c == '\t') {
            at++;
        } else if (is_digit(c)) {
            st = take_number(p, &at);
        } else if (is_alpha(c)) {
            st = take_name(p, &at);
        } else if (priority(c)) {
            while (p->n_ops && priority(p->ops[p->n_ops - 1]) >= priority(c))
                pop_op(p);
            p->ops[p->n_ops++] = c;
            at++;
        } else if (c == '(') {
            p->ops[p->n_ops++] = c;
            at++;
        } else if (c == ')') {
            st = take_close(p);
            at++;
        } else {
            st = fail(p->e, p->err, VPU_ERR_PARSE,
                      c >= 32 && c < 127 ? "unknown token '%c'"
                                         : "unknown token (byte %d)",
                      c);
        }
    }
    while (!st && p->n_ops) {
        if (p->ops[p->n_ops - 1] == '(')
            st = fail(p->e, p->err, VPU_ERR_PARSE,
                      "mismatched parentheses: a '(' without its ')'");
        else
            pop_op(p);
    }
    return st;
}

static float as_float(config_value v)
{
    return v.is_float ? v.real : (float)v.integer;
}

static vpu_status int_op(const parser *p, char op, int32_t a, int32_t b,
                         config_value *out)
{
    bool over = false;

    *out = (config_value){0};
    switch (op) {
    case '+':
        over = __builtin_add_overflow(a, b, &out->integer);
        break;
    case '-':
        over = __builtin_sub_overflow(a, b, &out->integer);
        break;
    case '*':
        over = __builtin_mul_overflow(a, b, &out->integer);
        break;
    default:
        if (!b)
            return fail(p->e, p->err, VPU_ERR_INVALID,
                        "division by zero in %d %c 0", (int)a, op);
        over = a == INT32_MIN && b == -1;
        if (!over)
            out->integer = op == '/' ? a / b : a % b;
    }
    if (over)
        return fail(p->e, p->err, VPU_ERR_INVALID, "%d %c %d overflows 32 bits",
                    (int)a, op, (int)b);
    return VPU_OK;
}

static vpu_status float_op(const parser *p, char op, float a, float b,
                           config_value *out)
{
    *out = (config_value){.is_float = true};
    switch (op) {
    case '+':
        out->real = a + b;
        break;
    case '-':
        out->real = a - b;
        break;
    case '*':
        out->real = a * b;
        break;
    case '/':
        if (b == 0)
            return fail(p->e, p->err, VPU_ERR_INVALID,
                        "division by zero in %g / 0", (double)a);
        out->real = a / b;
        break;
    default:
        return fail(p->e, p->err, VPU_ERR_INVALID,
                    "'%%' cannot be applied to the floating point values "
                    "%g and %g",
                    (double)a, (double)b);
    }
    if (!isfinite(out->real))
        return fail(p->e, p->err, VPU_ERR_INVALID, "%g %c %g overflows a float",
                    (double)a, op, (double)b);
    return VPU_OK;
}

static vpu_status function_op(const parser *p, char op, config_value v,
                              config_value *out)
{
    float x = as_float(v);

    *out = (config_value){.is_float = true};
    switch (op) {
    case 'f':
        out->real = floorf(x);
        break;
    case 'c':
        out->real = ceilf(x);
        break;
    case 'r':
        out->real = roundf(x);
        break;
    case 'a':
        out->real = fabsf(x);
        break;
    default:
        if (x < 0)
            return fail(p->e, p->err, VPU_ERR_INVALID,
                        "sqrt of the negative value %g", (double)x);
        out->real = sqrtf(x);
    }
    return VPU_OK;
}

static vpu_status run(parser *p, int32_t *out)
{
    config_value stack[CONFIG_EXPR_MAX], v;
    size_t n = 0;
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < p->n_out && !st; i++) {
        const token *t = &p->out[i];
        size_t wants = !t->op ? 0 : is_function(t->op) ? 1 : 2;

        if (n < wants)
            return fail(p->e, p->err, VPU_ERR_PARSE,
                        "not enough values for %s evaluation (there is no "
                        "unary plus or minus)",
                        wants == 1 ? "function" : "operator");
        n -= wants;
        if (!t->op)
            stack[n] = t->value;
        else if (wants == 1)
            st = function_op(p, t->op, stack[n], &stack[n]);
        else if (stack[n].is_float || stack[n + 1].is_float)
            st = float_op(p, t->op, as_float(stack[n]), as_float(stack[n + 1]),
                          &stack[n]);
        else
            st = int_op(p, t->op, stack[n].integer, stack[n + 1].integer,
                        &stack[n]);
        n++;
    }
    if (st)
        return st;
    if (n != 1)
        return fail(p->e, p->err, VPU_ERR_PARSE,
                    n ? "not enough operators: %zu values are left"
                      : "nothing to evaluate (%zu values)",
                    n);
    v = stack[0];
    /* 2^31 is exact in a float; anything below it truncates into range. */
    if (v.is_float && !(v.real > -2147483904.0f && v.real < 2147483648.0f))
        return fail(p->e, p->err, VPU_ERR_INVALID,
                    "the result %g does not fit 32 bits", (double)v.real);
    *out = v.is_float ? (int32_t)v.real : v.integer;
    return VPU_OK;
}

vpu_status config_expr_eval(const config_expr *e, const config_var *vars,
                            size_t n_vars, int32_t *out, vpu_error *err)
{
    parser p = {.e = e, .vars = vars, .n_vars = n_vars, .err = err};
    vpu_status st = parse(&p);

    return st ? st : run(&p, out);
}

vpu_status config_expr_check(const config_expr *e, const config_var *vars,
                             size_t n_vars, vpu_error *err)
{
    parser p = {.e = e, .vars = vars, .n_vars = n_vars, .err = err};

    return parse(&p);
}

static bool is_dimension(const char *name, size_t n)
{
    return n == 1 && strchr("bBfFyYxX", *name);
}

/* Characters of the name, number or sign at text, of n. *is_fraction: of a
 * number that is no integer. */
static size_t token_length(const char *text, size_t n, bool *is_fraction)
{
    char copy[CONFIG_EXPR_MAX + 1];
    size_t length = 1;
    bool fits;
    int32_t i;
    float f;

    *is_fraction = false;
    if (is_digit(*text) && n <= CONFIG_EXPR_MAX) {
        memcpy(copy, text, n);
        copy[n] = '\0';
        length = config_number_float(copy, &f);
        *is_fraction = config_number_int(copy, &i, &fits) < length;
    } else if (is_alpha(*text)) {
        while (length < n && (is_alpha(text[length]) ||
                              is_digit(text[length]) || text[length] == '_'))
            length++;
    }
    return length;
}

const char *config_expr_name(const config_expr *e, size_t *at, size_t *n)
{
    while (*at < e->length) {
        const char *start = e->text + *at;
        bool is_fraction;

        *n = token_length(start, e->length - *at, &is_fraction);
        *at += *n;
        if (is_alpha(*start) && !is_dimension(start, *n) &&
            !function_of(start, *n))
            return start;
    }
    return NULL;
}

/* Of the name or number at text; *len is its length. */
static unsigned token_uses(const char *text, size_t n, const config_var *vars,
                           size_t n_vars, size_t *len)
{
    bool is_fraction;
    unsigned uses;

    *len = token_length(text, n, &is_fraction);
    if (!is_alpha(*text))
        return is_fraction ? CONFIG_EXPR_FRACTIONS : 0;
    uses = is_dimension(text, *len) ? 0 : CONFIG_EXPR_NAMES;
    for (size_t v = 0; v < n_vars; v++)
        if (strlen(vars[v].name) == *len && !memcmp(vars[v].name, text, *len))
            return uses | (vars[v].value.is_float ? CONFIG_EXPR_FRACTIONS : 0);
    return uses;
}

unsigned config_expr_uses(const config_expr *e, const config_var *vars,
                          size_t n_vars)
{
    unsigned uses = 0;
    size_t len;

    for (size_t at = 0; at < e->length; at += len)
        uses |= token_uses(e->text + at, e->length - at, vars, n_vars, &len);
    return uses;
}

vpu_status config_expr_split(const config_expr *list, size_t max,
                             config_expr *items, size_t *n, vpu_error *err)
{
    size_t start = 0, count = 1;

    for (size_t i = 0; i < list->length; i++)
        count += list->text[i] == ',';
    *n = 0;
    if (count > max)
        return fail(list, err, VPU_ERR_INVALID,
                    "%zu comma-separated parts, at most %zu are possible",
                    count, max);
    for (size_t i = 0; i <= list->length; i++)
        if (i == list->length || list->text[i] == ',') {
            items[*n] = *list;
            items[*n].text = list->text + start;
            items[*n].length = i - start;
            items[*n].col = list->col ? list->col + (uint32_t)start : 0;
            (*n)++;
            start = i + 1;
        }
    return VPU_OK;
}
