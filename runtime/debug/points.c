/* Breakpoints and watches. */
#include <stdlib.h>
#include <string.h>

#include "runtime/debug/session.h"

static dbg_point *new_point(dbg_session *s)
{
    for (uint32_t k = 0; k < MAX_POINTS; k++)
        if (!s->points[k].number) {
            s->points[k] = (dbg_point){.number = ++s->last_number};
            if (k == s->end_points)
                s->end_points++;
            return &s->points[k];
        }
    str_printf(&s->buf, "there are %d breakpoints already\n", MAX_POINTS);
    return NULL;
}

static bool fits(dbg_session *s, const char *text)
{
    if (strlen(text) < MAX_CONDITION)
        return true;
    str_printf(&s->buf, "that is longer than %d characters\n",
               MAX_CONDITION - 1);
    return false;
}

static void show_point(dbg_session *s, const dbg_point *p)
{
    const char *kind = p->temporary ? "temporary " : "";

    if (p->watch)
        str_printf(&s->buf, "watch %u: %s\n", p->number, p->text);
    else if (!p->line)
        str_printf(&s->buf, "%sbreakpoint %u: %s", kind, p->number, p->file);
    else
        str_printf(&s->buf, "%sbreakpoint %u: %s%sline %u", kind, p->number,
                   p->file, *p->file ? ", " : "", p->line);
    if (!p->watch)
        str_printf(&s->buf, "%s%s\n", *p->text ? ", if " : "", p->text);
}

dbg_outcome points_add_break(dbg_session *s, char *text, bool temporary)
{
    char *cond = strstr(text, " if ");
    dbg_place to;
    size_t n;
    dbg_point *p;

    if (cond) {
        *cond = 0;
        cond += 4;
    }
    n = strlen(text);
    while (n && text[n - 1] == ' ')
        text[--n] = 0;
    if (!*text)
        return dbg_refuse(s, "break what? break FILE:LINE, LINE or FUNCTION, "
                             "[if CONDITION]");
    if (!fits(s, text) || !fits(s, cond ? cond : "") ||
        !dbg_source_place(s, text, &to) || !(p = new_point(s)))
        return DBG_FAILED;
    p->temporary = temporary;
    p->line = to.line;
    snprintf(p->file, sizeof p->file, "%s", to.line ? to.file : to.function);
    snprintf(p->text, sizeof p->text, "%s", cond ? cond : "");
    show_point(s, p);
    return DBG_STAY;
}

static bool in_buffer(const dbg_session *s, const uint8_t *at)
{
    for (uint32_t i = 0; i < s->graph->n_buffers; i++) {
        const uint8_t *b = backend_buffer(&s->sim, i);

        if (at >= b && at < b + s->graph->buffers[i].bytes)
            return true;
    }
    return false;
}

dbg_outcome points_add_watch(dbg_session *s, const char *text)
{
    dbg_value v, n;
    bool of_item;
    vpu_error err;
    dbg_point *p;

    if (!*text)
        return dbg_refuse(s, "watch what?");
    if (!fits(s, text))
        return DBG_FAILED;
    if (look_evaluate(s, text, &of_item, &v, &err) || dbg_number(&v, &n, &err))
        return dbg_refuse(s, "error: %s", err.msg);
    if (!(p = new_point(s)))
        return DBG_FAILED;
    p->watch = p->known = true;
    if (v.at && in_buffer(s, v.at))
        p->place = v;
    p->of_item = of_item && !p->place.at;
    p->item = s->cur;
    p->group = s->group;
    p->old = n;
    snprintf(p->text, sizeof p->text, "%s", text);
    show_point(s, p);
    return DBG_STAY;
}

dbg_outcome points_delete(dbg_session *s, const char *text)
{
    unsigned long long n = 0;
    bool any = false;

    if (*text && !str_to_u64(text, &n))
        return dbg_refuse(s, "'%s' is no number of a breakpoint", text);
    for (int k = 0; k < MAX_POINTS; k++)
        if (s->points[k].number && (!*text || s->points[k].number == n)) {
            s->points[k].number = 0;
            any = true;
        }
    return any ? DBG_STAY : dbg_refuse(s, "there is no such breakpoint");
}

void points_list(dbg_session *s)
{
    bool any = false;

    for (int k = 0; k < MAX_POINTS; k++)
        if (s->points[k].number) {
            show_point(s, &s->points[k]);
            any = true;
        }
    if (!any)
        str_puts(&s->buf, "no breakpoints\n");
}

void points_reset(dbg_session *s)
{
    for (int k = 0; k < MAX_POINTS; k++)
        s->points[k].known = false;
}

static bool at_break(const dbg_session *s, const dbg_point *p)
{
    const dbg_site *x = s->site, *b = s->before;
    bool bundles = s->cfg->bundles;
    bool arrived =
        bundles ? !b || b->line != x->line : s->items[s->cur].arrived;

    if (p->line)
        return arrived && x->line == p->line &&
               (!*p->file || dbg_source_is(x->file, p->file));
    /* The first event of an item in the function. */
    return arrived && x->kind != 'e' && !strcmp(x->function, p->file) &&
           (!b || s->before_item != s->cur || b->depth < x->depth ||
            strcmp(b->function, x->function)) &&
           (bundles ? !b : x->depth || s->items[s->cur].fresh);
}

/* A breakpoint that has come to its place. */
static bool holds(dbg_session *s, dbg_point *p, str *why)
{
    dbg_value v, n;
    vpu_error err;

    if (*p->text) {
        if (look_evaluate(s, p->text, NULL, &v, &err) ||
            dbg_number(&v, &n, &err)) {
            str_printf(why, "breakpoint %u: error in the condition: %s",
                       p->number, err.msg);
            return p->reached = true;
        }
        if (!dbg_true(&n))
            return false;
    }
    str_printf(why, "breakpoint %u", p->number);
    return p->reached = true;
}

static void number_text(dbg_session *s, const dbg_value *v, str *out)
{
    size_t n = s->buf.n;

    look_show(s, v, 0);
    str_add(out, s->buf.data + n, s->buf.n - n);
    s->buf.n = n;
    s->buf.data[n] = 0;
}

static bool changed(dbg_session *s, dbg_point *p, str *why)
{
    dbg_value v, n;
    bool same;

    if (p->of_item && (s->cur != p->item || s->group != p->group))
        return false;
    v = p->place;
    if (!v.at && look_evaluate(s, p->text, NULL, &v, NULL))
        return false;
    if (dbg_number(&v, &n, NULL))
        return false;
    same = !p->known ||
           (n.real ? !memcmp(&n.floating, &p->old.floating, sizeof n.floating)
                   : n.integer == p->old.integer);
    if (!same) {
        str_printf(why, "%swatch %u: %s was ", why->n ? ", " : "", p->number,
                   p->text);
        number_text(s, &p->old, why);
        str_puts(why, ", is ");
        number_text(s, &n, why);
        if (s->before)
            str_printf(why, " (behind line %u)", s->before->line);
    }
    p->old = n;
    p->known = true;
    return !same;
}

bool points_hold(dbg_session *s, str *why)
{
    bool any = false;

    for (uint32_t k = 0; k < s->end_points; k++) {
        dbg_point *p = &s->points[k];
        arena_mark m;

        p->reached = false;
        if (!p->number || (!p->watch && (any || !at_break(s, p))))
            continue;
        m = arena_save(s->scratch);
        any |= p->watch ? changed(s, p, why) : holds(s, p, why);
        arena_restore(s->scratch, m);
    }
    return any;
}

void points_forget_temporary(dbg_session *s)
{
    for (int k = 0; k < MAX_POINTS; k++)
        if (s->points[k].temporary && s->points[k].reached)
            s->points[k].number = 0;
}
