/* Sums of ids and counters, with pitches as factors. */
#include <inttypes.h>
#include <string.h>

#include "sim/compiler/middle/boxes_priv.h"

/* --- expressions --------------------------------------------------------- */

boxes_expr boxes_number(int64_t n)
{
    return (boxes_expr){.add = n, .fixed = true, .value = n};
}

bool boxes_is_number(const boxes_expr *e)
{
    return !e->text;
}

const char *boxes_text(const boxes_finder *f, const boxes_expr *e)
{
    if (!e->text)
        return arena_printf(f->a, "%" PRId64, e->add);
    if (!e->add)
        return e->text;
    return arena_printf(f->a, "(%s %c %" PRId64 ")", e->text,
                        e->add < 0 ? '-' : '+', e->add < 0 ? -e->add : e->add);
}

/* A product of two values below 2^31 fits; what does not is refused. */
static bool fits(int64_t n)
{
    return n >= INT32_MIN && n <= INT32_MAX;
}

bool boxes_is_sound(const boxes_expr *e)
{
    return fits(e->add) && (!e->fixed || fits(e->value)) &&
           (!e->text || strlen(e->text) <= BOXES_TEXT);
}

boxes_expr boxes_plus(const boxes_finder *f, const boxes_expr *x,
                      const boxes_expr *y)
{
    boxes_expr r = {.add = x->add + y->add,
                    .fixed = x->fixed && y->fixed,
                    .value = x->value + y->value};

    r.text = !x->text   ? y->text
             : !y->text ? x->text
                        : arena_printf(f->a, "(%s + %s)", x->text, y->text);
    return r;
}

boxes_expr boxes_times(const boxes_finder *f, const boxes_expr *x,
                       const boxes_expr *y)
{
    boxes_expr r = {.fixed = x->fixed && y->fixed,
                    .value = x->value * y->value};

    if (boxes_is_number(x) && boxes_is_number(y))
        return boxes_number(x->add * y->add);
    if ((boxes_is_number(x) && !x->add) || (boxes_is_number(y) && !y->add))
        return boxes_number(0);
    if (boxes_is_number(x) && x->add == 1)
        return *y;
    if (boxes_is_number(y) && y->add == 1)
        return *x;
    if (boxes_is_number(x)) {
        const boxes_expr *swap = x;

        x = y;
        y = swap;
    }
    if (boxes_is_number(y)) {
        r.text = arena_printf(f->a, "%s * %" PRId64, x->text, y->add);
        if (y->add < 0)
            r.text = arena_printf(f->a, "%s * (%" PRId64 ")", x->text, y->add);
        r.text = arena_printf(f->a, "(%s)", r.text);
        r.add = x->add * y->add;
        return r;
    }
    r.text =
        arena_printf(f->a, "(%s * %s)", boxes_text(f, x), boxes_text(f, y));
    return r;
}

boxes_expr boxes_minus(const boxes_finder *f, const boxes_expr *x,
                       const boxes_expr *y)
{
    const boxes_expr negative = boxes_number(-1);
    boxes_expr n;

    if (x->text && y->text && !strcmp(x->text, y->text))
        return boxes_number(x->add - y->add);
    n = boxes_times(f, y, &negative);
    return boxes_plus(f, x, &n);
}

/* x op y, "/" or "%", as the kernel computes it. */
boxes_expr boxes_divide(const boxes_finder *f, LLVMOpcode op,
                        const boxes_expr *x, const boxes_expr *y)
{
    bool is_signed = op == LLVMSDiv || op == LLVMSRem;
    bool rest = op == LLVMURem || op == LLVMSRem;
    boxes_expr r = {.fixed = x->fixed && y->fixed && y->value};

    if (r.fixed)
        r.value = rest ? x->value % y->value : x->value / y->value;
    if (boxes_is_number(x) && boxes_is_number(y) && r.fixed)
        return boxes_number(r.value);
    if (boxes_is_number(y) && y->add == 1)
        return rest ? boxes_number(0) : *x;
    r.text = is_signed ? arena_printf(f->a, "(%s %c %s)", boxes_text(f, x),
                                      rest ? '%' : '/', boxes_text(f, y))
                       : arena_printf(f->a, "(int)((uint)%s %c (uint)%s)",
                                      boxes_text(f, x), rest ? '%' : '/',
                                      boxes_text(f, y));
    return r;
}

/* --- values -------------------------------------------------------------- */

boxes_value boxes_unknown(const char *why)
{
    return (boxes_value){.pointer = -1, .why = why};
}

boxes_value boxes_of_coordinate(const boxes_coordinate *c)
{
    boxes_value v = {.pointer = -1, .n = 1};

    v.parts[0].symbol = BOXES_NO_SYMBOL;
    v.parts[0].c = *c;
    return v;
}

boxes_value boxes_of_expr(const boxes_expr *e)
{
    const boxes_coordinate c = {.base = *e};

    return boxes_of_coordinate(&c);
}

boxes_value boxes_of_symbol(int symbol)
{
    const boxes_coordinate one = {.base = boxes_number(1)};
    boxes_value v = boxes_of_coordinate(&one);

    v.parts[0].symbol = symbol;
    return v;
}

/* The coordinate that a value without pitches is; NULL: it has some. */
static const boxes_coordinate *plain(const boxes_value *v)
{
    static const boxes_coordinate zero = {.base = {.fixed = true}};

    if (v->why || v->pointer >= 0)
        return NULL;
    if (!v->n)
        return &zero;
    return v->n == 1 && v->parts[0].symbol == BOXES_NO_SYMBOL ? &v->parts[0].c
                                                              : NULL;
}

const boxes_expr *boxes_uniform(const boxes_value *v)
{
    const boxes_coordinate *c = plain(v);

    return c && !c->n_vars ? &c->base : NULL;
}

static bool add_coordinate(const boxes_finder *f, boxes_coordinate *to,
                           const boxes_coordinate *from)
{
    to->base = boxes_plus(f, &to->base, &from->base);
    for (uint32_t i = 0; i < from->n_vars; i++) {
        uint32_t k = 0;

        while (k < to->n_vars && to->vars[k].range != from->vars[i].range)
            k++;
        if (k == BOXES_VARS)
            return false;
        if (k == to->n_vars) {
            to->vars[to->n_vars++] = from->vars[i];
        } else {
            to->vars[k].by = boxes_plus(f, &to->vars[k].by, &from->vars[i].by);
            if (boxes_is_number(&to->vars[k].by) && !to->vars[k].by.add)
                to->vars[k] = to->vars[--to->n_vars];
        }
    }
    return boxes_is_sound(&to->base);
}

boxes_value boxes_add(const boxes_finder *f, const boxes_value *x,
                      const boxes_value *y)
{
    boxes_value r = *x;

    if (x->why)
        return *x;
    if (y->why)
        return *y;
    if (x->pointer >= 0 && y->pointer >= 0)
        return boxes_unknown("it is made of two pointers");
    if (y->pointer >= 0)
        r.pointer = y->pointer;
    for (uint32_t i = 0; i < y->n; i++) {
        uint32_t k = 0;

        while (k < r.n && r.parts[k].symbol != y->parts[i].symbol)
            k++;
        if (k == BOXES_PARTS)
            return boxes_unknown("it mixes the pitches of several tensors");
        if (k == r.n)
            r.parts[r.n++] = y->parts[i];
        else if (!add_coordinate(f, &r.parts[k].c, &y->parts[i].c))
            return boxes_unknown("its expression is too long");
    }
    return r;
}

/* A coordinate times something that is the same for the whole group. */
static bool scale(const boxes_finder *f, boxes_coordinate *c,
                  const boxes_expr *by)
{
    if (c->n_vars && !by->fixed)
        return false;
    c->base = boxes_times(f, &c->base, by);
    for (uint32_t i = 0; i < c->n_vars; i++)
        c->vars[i].by = boxes_times(f, &c->vars[i].by, by);
    return boxes_is_sound(&c->base);
}

boxes_value boxes_scale(const boxes_finder *f, const boxes_value *v,
                        const boxes_expr *by)
{
    boxes_value r = *v;

    for (uint32_t i = 0; i < r.n; i++)
        if (!scale(f, &r.parts[i].c, by))
            return boxes_unknown(
                "it is multiplied by what differs between groups");
    return r;
}

boxes_value boxes_multiply(const boxes_finder *f, const boxes_value *x,
                           const boxes_value *y)
{
    const boxes_expr *by = boxes_uniform(y);
    const boxes_coordinate *c;
    boxes_value r;

    if (x->why)
        return *x;
    if (y->why)
        return *y;
    if (by)
        return boxes_scale(f, x, by);
    by = boxes_uniform(x);
    if (by)
        return boxes_scale(f, y, by);
    /* A pitch times a coordinate. */
    c = plain(y);
    r = *x;
    if (!c) {
        c = plain(x);
        r = *y;
    }
    if (c && r.n == 1 && !r.parts[0].c.n_vars &&
        r.parts[0].symbol != BOXES_NO_SYMBOL && r.parts[0].c.base.fixed) {
        const boxes_expr factor = r.parts[0].c.base;

        r.parts[0].c = *c;
        return scale(f, &r.parts[0].c, &factor)
                   ? r
                   : boxes_unknown("its expression is too long");
    }
    return boxes_unknown("it is a product of what differs between items");
}

boxes_value boxes_negate(const boxes_finder *f, const boxes_value *v)
{
    const boxes_expr minus_one = boxes_number(-1);

    return v->why ? *v : boxes_scale(f, v, &minus_one);
}

/* What differs between items can be divided by nothing; a number that is the
 * same for the group can. */
boxes_value boxes_divide_values(const boxes_finder *f, LLVMOpcode op,
                                const boxes_value *x, const boxes_value *y)
{
    const boxes_expr *n = boxes_uniform(x), *d = boxes_uniform(y);
    boxes_expr r;

    if (x->why)
        return *x;
    if (y->why)
        return *y;
    if (!n || !d)
        return boxes_unknown("what differs between items is divided");
    r = boxes_divide(f, op, n, d);
    return boxes_is_sound(&r) ? boxes_of_expr(&r)
                              : boxes_unknown("its expression is too long");
}
