/* Expressions: recursive descent that evaluates as it reads. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/debug/value.h"

enum { MAX_NESTED = 64, MAX_NAME = 64 };

typedef struct {
    const char *p;
    const dbg_env *env;
    arena *a;
    vpu_error *err;
    vpu_status st;
    int nested;
} parser;

static dbg_value integer(int64_t i)
{
    return (dbg_value){.integer = i};
}

static dbg_value real(double f)
{
    return (dbg_value){.real = true, .floating = f};
}

/* The first error counts; what is computed behind it is not looked at. */
static dbg_value fail(parser *x, vpu_status st, const char *what)
{
    if (!x->st)
        x->st = err_set(x->err, st, "%s", what);
    return integer(0);
}

/* Conditions are read millions of times: no call for what is not there. */
static void skip_blanks(parser *x)
{
    while (*x->p == ' ' || *x->p == '\t')
        x->p++;
}

static bool take(parser *x, const char *op)
{
    skip_blanks(x);
    if (*x->p != *op || strncmp(x->p, op, strlen(op)))
        return false;
    x->p += strlen(op);
    return true;
}

static dbg_value number(parser *x, const dbg_value *v)
{
    dbg_value n = integer(0);

    if (!x->st)
        x->st = dbg_number(v, &n, x->err);
    return n;
}

static dbg_value expression(parser *x);

/* --- what follows a name ------------------------------------------------- */

static dbg_value at_address(parser *x, const dbg_type *t, int64_t address)
{
    const uint8_t *at = NULL;
    uint64_t bytes = t->bytes ? t->bytes : 1;

    if (address >= 0 && address <= UINT32_MAX && !x->st)
        at = x->env->memory(x->env->user, (uint32_t)address, bytes);
    if (!at) {
        if (!x->st)
            x->st = err_set(x->err, VPU_ERR_INVALID,
                            "nothing can be read at 0x%08llx",
                            (unsigned long long)address & 0xffffffffffffULL);
        return integer(0);
    }
    return (dbg_value){.type = t, .at = at};
}

static dbg_value one_index(parser *x, const dbg_value *v, int64_t i)
{
    const dbg_type *t = v->type;
    dbg_kind k = t ? t->kind : DBG_INT;

    if (k == DBG_POINTER) {
        dbg_value p = number(x, v);

        if (i > INT32_MAX || i < INT32_MIN)
            return fail(x, VPU_ERR_INVALID, "the index is too large");
        return at_address(
            x, t->of, (int64_t)(uint32_t)p.integer + i * (int64_t)t->of->bytes);
    }
    if ((k != DBG_ARRAY && k != DBG_VECTOR) || !v->at)
        return fail(x, VPU_ERR_INVALID, "that has no elements");
    if (i < 0 || (uint64_t)i >= t->count) {
        if (!x->st)
            x->st = err_set(x->err, VPU_ERR_INVALID,
                            "index %lld is outside: there are %llu elements",
                            (long long)i, (unsigned long long)t->count);
        return integer(0);
    }
    return (dbg_value){.type = t->of, .at = v->at + (uint64_t)i * t->of->bytes};
}

static dbg_value indexed(parser *x, const dbg_value *v)
{
    int64_t index[DBG_MAX_INDEX];
    uint32_t n = 0;
    dbg_value r = integer(0);

    do {
        dbg_value e = expression(x), i = number(x, &e);

        if (i.real)
            fail(x, VPU_ERR_INVALID, "an index is a whole number");
        if (n == DBG_MAX_INDEX)
            return fail(x, VPU_ERR_INVALID, "too many coordinates");
        index[n++] = i.integer;
    } while (take(x, ",") && !x->st);
    if (!take(x, "]"))
        return fail(x, VPU_ERR_PARSE, "']' is missing");
    if (x->st)
        return r;
    if (n == 1 && (!v->type || v->type->kind != DBG_TENSOR))
        return one_index(x, v, index[0]);
    if (!v->type ||
        (v->type->kind != DBG_TENSOR && v->type->kind != DBG_POINTER))
        return fail(x, VPU_ERR_INVALID,
                    "coordinates are for buffers and pointers to them");
    x->st = x->env->element(x->env->user, v, index, n, &r, x->err);
    return r;
}

static bool read_name(parser *x, char name[MAX_NAME])
{
    size_t n = 0;

    x->p += strspn(x->p, " \t");
    if (!isalpha((unsigned char)*x->p) && *x->p != '_')
        return false;
    while (isalnum((unsigned char)*x->p) || *x->p == '_' || *x->p == '@') {
        if (n + 1 < MAX_NAME)
            name[n++] = *x->p;
        x->p++;
    }
    name[n] = 0;
    return true;
}

/* .x .y .z .w .s0 … .sf of a vector: its index; -1: none. */
static int lane(const char *name)
{
    static const char letters[] = "xyzw", digits[] = "0123456789abcdef";
    const char *at;

    if (name[0] && !name[1] && (at = strchr(letters, name[0])))
        return (int)(at - letters);
    if ((name[0] == 's' || name[0] == 'S') && name[1] && !name[2] &&
        (at = strchr(digits, tolower((unsigned char)name[1]))))
        return (int)(at - digits);
    return -1;
}

static dbg_value member(parser *x, const dbg_value *v)
{
    char name[MAX_NAME];
    const dbg_type *t = v->type;

    if (!read_name(x, name))
        return fail(x, VPU_ERR_PARSE, "a name is missing behind '.'");
    if (x->st)
        return integer(0);
    if (t && t->kind == DBG_VECTOR && lane(name) >= 0)
        return one_index(x, v, lane(name));
    for (uint64_t k = 0; t && t->kind == DBG_STRUCT && k < t->count; k++)
        if (!strcmp(t->fields[k].name, name) && v->at)
            return (dbg_value){.type = t->fields[k].type,
                               .at = v->at + t->fields[k].offset};
    if (!x->st)
        x->st = err_set(x->err, VPU_ERR_INVALID, "there is no '.%s'", name);
    return integer(0);
}

static dbg_value whole_number(parser *x, char **end)
{
    unsigned long long v;

    errno = 0;
    v = strtoull(x->p, end, 0);
    if (errno)
        return fail(x, VPU_ERR_PARSE, "that number does not fit 64 bits");
    return integer((int64_t)v);
}

static dbg_value literal(parser *x)
{
    char *end;
    dbg_value v;
    size_t n = strspn(x->p, "0123456789abcdefABCDEFxX");

    if (x->p[n] == '.' || (strncmp(x->p, "0x", 2) && memchr(x->p, 'e', n)))
        v = real(strtod(x->p, &end));
    else
        v = whole_number(x, &end);
    if (end == x->p)
        return fail(x, VPU_ERR_PARSE, "a number or name is missing");
    x->p = end;
    if (*x->p == 'f' || *x->p == 'h' || *x->p == 'u')
        x->p++;
    return v;
}

/* A graph's buffers may have '@' in their names; else it is an operator. */
static dbg_value named(parser *x)
{
    char name[MAX_NAME], *cut;
    dbg_value v = integer(0);
    const char *from = x->p;
    vpu_status st = VPU_OK;

    if (!read_name(x, name))
        return fail(x, VPU_ERR_PARSE, "a number or name is missing");
    if (x->st)
        return v;
    st = x->env->variable(x->env->user, name, &v, x->err);
    cut = strchr(name, '@');
    if (st && cut) {
        from += strspn(from, " \t");
        x->p = from + strcspn(from, "@");
        *cut = 0;
        st = x->env->variable(x->env->user, name, &v, x->err);
    }
    x->st = st;
    return v;
}

static dbg_value primary(parser *x)
{
    dbg_value v;

    if (take(x, "(")) {
        v = expression(x);
        return take(x, ")") ? v : fail(x, VPU_ERR_PARSE, "')' is missing");
    }
    if (isdigit((unsigned char)*x->p) || *x->p == '.')
        return literal(x);
    return named(x);
}

static dbg_value dereferenced(parser *x, const dbg_value *v)
{
    if (!x->st && (!v->type || v->type->kind != DBG_POINTER))
        return fail(x, VPU_ERR_INVALID, "that is not a pointer");
    return x->st ? integer(0) : one_index(x, v, 0);
}

static dbg_value postfix(parser *x)
{
    dbg_value v = primary(x);

    while (!x->st) {
        if (take(x, "[")) {
            v = indexed(x, &v);
        } else if (take(x, "->")) {
            v = dereferenced(x, &v);
            v = member(x, &v);
        } else if (take(x, ".")) {
            v = member(x, &v);
        } else {
            break;
        }
    }
    return v;
}

/* --- operators ----------------------------------------------------------- */

static dbg_value address_of(parser *x, const dbg_value *v)
{
    dbg_type *t = arena_new(x->a, dbg_type);
    bool tensor = v->type && v->type->kind == DBG_TENSOR;
    const uint8_t *at = tensor ? x->env->tensor(x->env->user, v) : v->at;
    dbg_value p = integer(0);
    uint32_t address;

    if (x->st)
        return p;
    if (!at || !x->env->where(x->env->user, at, &address))
        return fail(x, VPU_ERR_INVALID,
                    "that is not in the device's memory: it has no address");
    *t = (dbg_type){
        .kind = DBG_POINTER, .bytes = 4, .of = tensor ? v->type->of : v->type};
    p.type = t;
    p.integer = address;
    return p;
}

static dbg_value unary(parser *x)
{
    dbg_value v;

    if (x->nested == MAX_NESTED)
        return fail(x, VPU_ERR_LIMIT, "nested deeper than 64");
    x->nested++;
    if (take(x, "-")) {
        v = unary(x);
        v = number(x, &v);
        v = v.real ? real(-v.floating)
                   : integer((int64_t)(0 - (uint64_t)v.integer));
    } else if (take(x, "!")) {
        v = unary(x);
        v = number(x, &v);
        v = integer(!dbg_true(&v));
    } else if (take(x, "&")) {
        v = unary(x);
        v = address_of(x, &v);
    } else if (take(x, "*")) {
        v = unary(x);
        v = dereferenced(x, &v);
    } else {
        v = postfix(x);
    }
    x->nested--;
    return v;
}

static const struct {
    char op[3];
    int level; /* binds tighter the higher */
} operators[] = {
    {"||", 1}, {"&&", 2}, {"==", 3}, {"!=", 3}, {"<=", 4}, {">=", 4}, {"<", 4},
    {">", 4},  {"@", 5},  {"+", 6},  {"-", 6},  {"*", 7},  {"/", 7},  {"%", 7},
};
enum { LOOSEST = 1, OR = 1, AND = 2, MAX_RUN = 65536 };
enum { N_OPERATORS = sizeof operators / sizeof *operators };

/* The operator that comes next; N_OPERATORS: none. */
static int operator_at(parser *x)
{
    int k = 0;

    skip_blanks(x);
    while (k < N_OPERATORS &&
           (x->p[0] != operators[k].op[0] ||
            (operators[k].op[1] && x->p[1] != operators[k].op[1])))
        k++;
    return k;
}

static double of(const dbg_value *v)
{
    return !v->real && v->type && v->type->kind == DBG_UINT
               ? (double)(uint64_t)v->integer
           : v->real ? v->floating
                     : (double)v->integer;
}

static dbg_value divide(parser *x, char op, int64_t a, int64_t b)
{
    if (!b)
        return fail(x, VPU_ERR_INVALID, "division by zero");
    if (b == -1)
        return integer(op == '/' ? (int64_t)(0 - (uint64_t)a) : 0);
    return integer(op == '/' ? a / b : a % b);
}

static dbg_value arithmetic(parser *x, char op, const dbg_value *a,
                            const dbg_value *b)
{
    bool r = a->real || b->real;
    uint64_t m = (uint64_t)a->integer, n = (uint64_t)b->integer;

    switch (op) {
    case '+':
        return r ? real(of(a) + of(b)) : integer((int64_t)(m + n));
    case '-':
        return r ? real(of(a) - of(b)) : integer((int64_t)(m - n));
    case '*':
        return r ? real(of(a) * of(b)) : integer((int64_t)(m * n));
    case '/':
        return r ? real(of(a) / of(b)) : divide(x, op, a->integer, b->integer);
    default:
        return r ? real(fmod(of(a), of(b)))
                 : divide(x, op, a->integer, b->integer);
    }
}

static dbg_value apply(parser *x, const char *op, const dbg_value *l,
                       const dbg_value *r)
{
    dbg_value a = number(x, l), b = number(x, r);
    bool f = a.real || b.real;

    if (x->st)
        return integer(0);
    if (!strcmp(op, "||"))
        return integer(dbg_true(&a) || dbg_true(&b));
    if (!strcmp(op, "&&"))
        return integer(dbg_true(&a) && dbg_true(&b));
    if (!strcmp(op, "=="))
        return integer(f ? of(&a) == of(&b) : a.integer == b.integer);
    if (!strcmp(op, "!="))
        return integer(f ? of(&a) != of(&b) : a.integer != b.integer);
    if (!strcmp(op, "<"))
        return integer(f ? of(&a) < of(&b) : a.integer < b.integer);
    if (!strcmp(op, "<="))
        return integer(f ? of(&a) <= of(&b) : a.integer <= b.integer);
    if (!strcmp(op, ">"))
        return integer(f ? of(&a) > of(&b) : a.integer > b.integer);
    if (!strcmp(op, ">="))
        return integer(f ? of(&a) >= of(&b) : a.integer >= b.integer);
    return arithmetic(x, *op, &a, &b);
}

/* --- x@n ----------------------------------------------------------------- */

/* Where the elements begin, and of which type they are. */
static const uint8_t *run_of(parser *x, const dbg_value *v, const dbg_type **of)
{
    dbg_kind k = v->type ? v->type->kind : DBG_INT;
    dbg_value first;

    if (k == DBG_TENSOR) {
        *of = v->type->of;
        return x->env->tensor(x->env->user, v);
    }
    if (k == DBG_POINTER) {
        first = one_index(x, v, 0);
        *of = v->type->of;
        return first.at;
    }
    *of = k == DBG_ARRAY ? v->type->of : v->type;
    if (!v->at)
        fail(x, VPU_ERR_INVALID, "'@' wants something in memory before it");
    return v->at;
}

static dbg_value run(parser *x, const dbg_value *v, const dbg_value *count)
{
    dbg_value n = number(x, count);
    dbg_type *t = arena_new(x->a, dbg_type);
    const uint8_t *at = x->st ? NULL : run_of(x, v, &t->of);
    uint32_t address = 0;

    if (!x->st && (n.real || n.integer < 1 || n.integer > MAX_RUN))
        fail(x, VPU_ERR_INVALID, "behind '@' stands a number from 1 to 65536");
    if (x->st)
        return integer(0);
    t->kind = DBG_ARRAY;
    t->count = (uint64_t)n.integer;
    t->bytes = t->count * t->of->bytes;
    if (!x->env->where(x->env->user, at, &address) ||
        !x->env->memory(x->env->user, address, t->bytes))
        return fail(x, VPU_ERR_INVALID,
                    "there are not so many elements in the device's memory");
    return (dbg_value){.type = t, .at = at};
}

/* The right side of && or || that the left side has decided: nothing in it is
 * looked at, as in C. */
static void skip_operand(parser *x, int level)
{
    int depth = 0, k;

    for (skip_blanks(x); *x->p; x->p++, skip_blanks(x)) {
        depth +=
            (*x->p == '(' || *x->p == '[') - (*x->p == ')' || *x->p == ']');
        k = depth ? N_OPERATORS : operator_at(x);
        if (depth < 0 || (!depth && *x->p == ',') ||
            (k < N_OPERATORS && operators[k].level <= level))
            return;
    }
    if (depth)
        fail(x, VPU_ERR_PARSE, "')' or ']' is missing");
}

/* Has the left side of && or || decided? */
static bool decides(parser *x, int level, dbg_value *v)
{
    dbg_value n;
    bool is_true;

    if (level > AND)
        return false;
    n = number(x, v);
    is_true = dbg_true(&n);
    if (x->st || is_true != (level == OR))
        return false;
    *v = integer(is_true);
    return true;
}

/* Operators that bind no looser than that. */
static dbg_value binary(parser *x, int level)
{
    dbg_value v = unary(x);

    for (int k; !x->st && (k = operator_at(x)) < N_OPERATORS &&
                operators[k].level >= level;) {
        dbg_value r;

        x->p += strlen(operators[k].op);
        if (decides(x, operators[k].level, &v)) {
            skip_operand(x, operators[k].level);
            continue;
        }
        r = binary(x, operators[k].level + 1);
        v = *operators[k].op == '@' ? run(x, &v, &r)
                                    : apply(x, operators[k].op, &v, &r);
    }
    return v;
}

static dbg_value expression(parser *x)
{
    dbg_value v;

    if (x->nested == MAX_NESTED)
        return fail(x, VPU_ERR_LIMIT, "nested deeper than 64");
    x->nested++;
    v = binary(x, LOOSEST);
    x->nested--;
    return v;
}

vpu_status dbg_evaluate(const char *text, const dbg_env *env, arena *a,
                        dbg_value *out, vpu_error *err)
{
    parser x = {.p = text, .env = env, .a = a, .err = err};

    *out = expression(&x);
    x.p += strspn(x.p, " \t");
    if (!x.st && *x.p)
        x.st = err_set(err, VPU_ERR_PARSE, "what is '%.40s'?", x.p);
    return x.st;
}
