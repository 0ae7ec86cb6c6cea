/* Commands that show values in a form asked for: print/x, display, x/4. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/debug/session.h"

enum { PER_LINE = 8, MAX_UNITS = 4096 };

bool dbg_read_format(dbg_session *s, char **arg, dbg_format *out)
{
    char *p = *arg;

    *out = (dbg_format){0};
    if (*p != '/')
        return true;
    p++;
    if (isdigit((unsigned char)*p)) {
        unsigned long n = strtoul(p, &p, 10);

        if (n < 1 || n > MAX_UNITS) {
            dbg_refuse(s, "a count is a number from 1 to %d", MAX_UNITS);
            return false;
        }
        out->count = (uint32_t)n;
    }
    for (; *p && *p != ' ' && *p != '\t'; p++) {
        if (strchr("xduotcf", *p)) {
            out->letter = *p;
        } else if (strchr("bhwg", *p)) {
            out->unit = *p;
        } else {
            dbg_refuse(s,
                       "'%c' is no format: x d u o t (binary) c f, and for x "
                       "the sizes b h w g",
                       *p);
            return false;
        }
    }
    *arg = p + strspn(p, " \t");
    return true;
}

/* A format of a value, not of memory. */
static bool plain_format(dbg_session *s, char **arg, dbg_format *out)
{
    if (!dbg_read_format(s, arg, out))
        return false;
    if (out->count || out->unit) {
        dbg_refuse(s, "a count and a size are for x: x/4xh EXPR");
        return false;
    }
    return true;
}

dbg_outcome dbg_do_print(dbg_session *s, char *arg)
{
    dbg_format f;

    if (!plain_format(s, &arg, &f))
        return DBG_FAILED;
    if (!*arg)
        return dbg_refuse(s, "print what?");
    return look_print(s, arg, f.letter) ? DBG_STAY : DBG_FAILED;
}

/* --- displays ------------------------------------------------------------ */

/* Where an expression means nothing, its display says so and stays: the next
 * stop may be in its function again. */
static void show_display(dbg_session *s, const dbg_display *d)
{
    dbg_value v;
    vpu_error err;

    str_printf(&s->buf, "%u: %s = ", d->number, d->text);
    if (look_evaluate(s, d->text, NULL, &v, &err))
        str_printf(&s->buf, "(%s)", err.msg);
    else
        look_show(s, &v, d->format.letter);
    str_puts(&s->buf, "\n");
}

void dbg_show_displays(dbg_session *s)
{
    for (int k = 0; k < MAX_DISPLAYS; k++)
        if (s->displays[k].number)
            show_display(s, &s->displays[k]);
}

dbg_outcome dbg_do_display(dbg_session *s, char *arg)
{
    dbg_display *d = NULL;
    dbg_format f;
    dbg_value v;
    vpu_error err;

    if (!plain_format(s, &arg, &f))
        return DBG_FAILED;
    if (!*arg) {
        dbg_show_displays(s);
        return DBG_STAY;
    }
    if (s->place == AT_EVENT && look_evaluate(s, arg, NULL, &v, &err))
        return dbg_refuse(s, "error: %s", err.msg);
    if (strlen(arg) >= MAX_CONDITION)
        return dbg_refuse(s, "that is longer than %d characters",
                          MAX_CONDITION - 1);
    for (int k = 0; k < MAX_DISPLAYS && !d; k++)
        if (!s->displays[k].number)
            d = &s->displays[k];
    if (!d)
        return dbg_refuse(s, "there are %d displays already", MAX_DISPLAYS);
    *d = (dbg_display){.number = ++s->last_display, .format = f};
    snprintf(d->text, sizeof d->text, "%s", arg);
    /* Before the run there may be no such variable yet. */
    if (s->place != AT_EVENT)
        str_printf(&s->buf, "%u: %s, from the next stop on\n", d->number, arg);
    else
        show_display(s, d);
    return DBG_STAY;
}

dbg_outcome dbg_do_undisplay(dbg_session *s, char *arg)
{
    unsigned long long n = 0;
    bool any = false;

    if (*arg && !str_to_u64(arg, &n))
        return dbg_refuse(s, "'%s' is no number of a display", arg);
    for (int k = 0; k < MAX_DISPLAYS; k++)
        if (s->displays[k].number && (!*arg || s->displays[k].number == n)) {
            s->displays[k].number = 0;
            any = true;
        }
    return any ? DBG_STAY : dbg_refuse(s, "there is no such display");
}

dbg_outcome dbg_do_info_display(dbg_session *s, char *arg)
{
    bool any = false;

    (void)arg;
    for (int k = 0; k < MAX_DISPLAYS; k++) {
        const dbg_display *d = &s->displays[k];

        if (!d->number)
            continue;
        any = true;
        str_printf(&s->buf, "%u: %s%s%.1s\n", d->number, d->text,
                   d->format.letter ? " /" : "", &d->format.letter);
    }
    if (!any)
        str_puts(&s->buf, "no displays\n");
    return DBG_STAY;
}

/* --- memory -------------------------------------------------------------- */

static const struct {
    char unit;
    uint8_t bytes;
} units[] = {{'b', 1}, {'h', 2}, {'w', 4}, {'g', 8}};
enum { N_UNITS = sizeof units / sizeof *units };

static uint32_t unit_bytes(char unit)
{
    for (int k = 0; k < N_UNITS; k++)
        if (units[k].unit == unit)
            return units[k].bytes;
    return 4;
}

/* The unit of that size; none (of vectors, structures): words. */
static char unit_of(uint64_t bytes)
{
    for (int k = 0; k < N_UNITS; k++)
        if (units[k].bytes == bytes)
            return units[k].unit;
    return 'w';
}

/* What stands where nobody said in which form: as the elements are. */
static void form_of(const dbg_type *t, dbg_format *f)
{
    while (t && (t->kind == DBG_VECTOR || t->kind == DBG_ARRAY))
        t = t->of;
    if (!f->unit)
        f->unit = t && t->bytes ? unit_of(t->bytes) : 'w';
    if (!f->letter)
        f->letter = t && t->kind == DBG_FLOAT  ? 'f'
                    : t && t->kind == DBG_INT  ? 'd'
                    : t && t->kind == DBG_UINT ? 'u'
                                               : 'x';
}

static dbg_outcome show_memory(dbg_session *s, const dbg_format *f)
{
    static const dbg_type raw[] = {{.kind = DBG_UINT, .bytes = 1},
                                   {.kind = DBG_UINT, .bytes = 2},
                                   {.kind = DBG_UINT, .bytes = 4},
                                   {.kind = DBG_UINT, .bytes = 8}};
    uint32_t bytes = unit_bytes(f->unit), n = f->count ? f->count : 1;
    const memory *m = backend_memory(&s->sim);

    for (uint32_t k = 0; k < n; k++, s->memory_at += bytes) {
        dbg_value v = {.type = &raw[0]};

        while (v.type->bytes != bytes)
            v.type++;
        if (!memory_readable(m, s->memory_at, bytes))
            return dbg_refuse(s, "%snothing can be read at 0x%08" PRIx32,
                              k % PER_LINE ? "\n" : "", s->memory_at);
        if (k % PER_LINE == 0)
            str_printf(&s->buf, "0x%08" PRIx32 ":", s->memory_at);
        v.at = memory_window(m) + s->memory_at;
        str_puts(&s->buf, "  ");
        look_show(s, &v, f->letter);
        if (k % PER_LINE == PER_LINE - 1 || k + 1 == n)
            str_puts(&s->buf, "\n");
    }
    return DBG_STAY;
}

/* Where a value leads: a pointer to what it points to, anything in memory to
 * itself. */
static bool address_of(dbg_session *s, const dbg_value *v, uint32_t *address,
                       const dbg_type **of, vpu_error *err)
{
    dbg_value n;

    *of = v->type;
    if (v->type && v->type->kind == DBG_TENSOR) {
        *of = v->type->of;
        *address = backend_address(&s->sim, (uint32_t)v->type->count);
        return true;
    }
    if (v->type && v->type->kind != DBG_POINTER && v->at &&
        look_address(s, v->at, address))
        return true;
    if (dbg_number(v, &n, err))
        return false;
    if (n.real || n.integer < 0 || n.integer > UINT32_MAX) {
        err_set(err, VPU_ERR_INVALID, "that is no address");
        return false;
    }
    *of = v->type ? v->type->of : NULL;
    *address = (uint32_t)n.integer;
    return true;
}

dbg_outcome dbg_do_memory(dbg_session *s, char *arg)
{
    dbg_format f;
    const dbg_type *of = NULL;
    dbg_value v;
    vpu_error err;

    if (!dbg_read_format(s, &arg, &f))
        return DBG_FAILED;
    if (!*arg && !s->memory_known)
        return dbg_refuse(s, "x/4f EXPR: a pointer, array or address");
    if (*arg) {
        if (look_evaluate(s, arg, NULL, &v, &err) ||
            !address_of(s, &v, &s->memory_at, &of, &err))
            return dbg_refuse(s, "error: %s", err.msg);
        form_of(of, &f);
    } else {
        if (!f.letter)
            f.letter = s->memory.letter;
        if (!f.unit)
            f.unit = s->memory.unit;
    }
    s->memory = f;
    s->memory_known = true;
    s->repeat = "x";
    return show_memory(s, &f);
}
