/* Breakpoints and watches. */
#include <stdlib.h>
#include <string.h>

#include "runtime/debug/session.h"

static dbg_point *new_point(dbg_session *s)
{
    for (uint32_t k = 0; k < MAX_POINTS; k++)
        if (!s->points[k].number) {
            s->points[k] = (dbg_point){.number = ++s->last_number, .file = ""};
            if (s->place == AT_EVENT)
                s->points[k].since = s->pos;
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
    static const char *const ops[] = {[HITS_EQUAL] = "==",
                                      [HITS_BEHIND] = ">",
                                      [HITS_FROM] = ">=",
                                      [HITS_EACH] = "a multiple of"};
    const char *kind = p->temporary ? "temporary " : "";

    if (p->watch)
        str_printf(&s->buf, "watch %u: %s\n", p->number, p->text);
    else if (!p->line)
        str_printf(&s->buf, "%sbreakpoint %u: %s", kind, p->number, p->file);
    else
        str_printf(&s->buf, "%sbreakpoint %u: %s%sline %u", kind, p->number,
                   p->file, *p->file ? ", " : "", p->line);
    if (!p->watch)
        str_printf(&s->buf, "%s%s", *p->text ? ", if " : "", p->text);
    if (p->when != HITS_ALL)
        str_printf(&s->buf, ", when the time is %s %llu; it was %llu so far",
                   ops[p->when], (unsigned long long)p->times,
                   (unsigned long long)p->passed);
    if (p->log)
        str_printf(&s->buf, ", says '%s'", p->log);
    if (!p->watch)
        str_puts(&s->buf, "\n");
}

static void put_at(dbg_session *s, dbg_point *p, const dbg_place *to,
                   const char *condition)
{
    p->line = to->line;
    p->file = arena_strdup(s->arena, to->line ? to->file : to->function);
    snprintf(p->text, sizeof p->text, "%s", condition);
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
    if (!fits(s, cond ? cond : "") || !dbg_source_place(s, text, &to) ||
        !(p = new_point(s)))
        return DBG_FAILED;
    p->temporary = temporary;
    put_at(s, p, &to, cond ? cond : "");
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

static vpu_status watch(dbg_session *s, const char *text, dbg_point **out,
                        vpu_error *err)
{
    dbg_value v, n;
    bool of_item;
    vpu_status st = look_evaluate(s, text, &of_item, &v, err);
    dbg_point *p;

    if (!st)
        st = dbg_number(&v, &n, err);
    if (st)
        return st;
    if (!(p = new_point(s)))
        return dbg_control_error(s, VPU_ERR_LIMIT, err);
    p->watch = p->known = true;
    if (v.at && in_buffer(s, v.at))
        p->place = v;
    p->of_item = of_item && !p->place.at;
    p->item = s->cur;
    p->group = s->group;
    p->old = n;
    snprintf(p->text, sizeof p->text, "%s", text);
    *out = p;
    return VPU_OK;
}

dbg_outcome points_add_watch(dbg_session *s, const char *text)
{
    vpu_error err;
    dbg_point *p;

    if (!*text)
        return dbg_refuse(s, "watch what?");
    if (!fits(s, text))
        return DBG_FAILED;
    if (watch(s, text, &p, &err))
        return dbg_refuse(s, "error: %s", err.msg);
    show_point(s, p);
    return DBG_STAY;
}

static void look_again(dbg_session *s)
{
    s->counting = s->telling = false;
    for (uint32_t k = 0; k < s->end_points; k++) {
        s->counting |= s->points[k].number && s->points[k].when != HITS_ALL;
        s->telling |= s->points[k].number && s->points[k].log;
    }
}

static bool delete_number(dbg_session *s, bool all, unsigned long long n)
{
    bool any = false;

    for (int k = 0; k < MAX_POINTS; k++)
        if (s->points[k].number && (all || s->points[k].number == n)) {
            s->points[k].number = 0;
            any = true;
        }
    look_again(s);
    return any;
}

dbg_outcome points_delete(dbg_session *s, const char *text)
{
    unsigned long long n = 0;

    if (*text && !str_to_u64(text, &n))
        return dbg_refuse(s, "'%s' is no number of a breakpoint", text);
    return delete_number(s, !*text, n)
               ? DBG_STAY
               : dbg_refuse(s, "there is no such breakpoint");
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
    for (int k = 0; k < MAX_POINTS; k++) {
        s->points[k].known = false;
        s->points[k].passed = 0;
    }
}

void points_restart(dbg_session *s)
{
    for (int k = 0; k < MAX_POINTS; k++)
        s->points[k].since = (dbg_pos){0};
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

/* Its condition; an error in it holds, and is told. */
static bool condition_holds(dbg_session *s, const dbg_point *p, str *why)
{
    dbg_value v, n;
    vpu_error err;

    if (!*p->text)
        return true;
    if (!look_evaluate(s, p->text, NULL, &v, &err) && !dbg_number(&v, &n, &err))
        return dbg_true(&n);
    if (why)
        str_printf(why, "breakpoint %u: error in the condition: %s", p->number,
                   err.msg);
    return true;
}

static bool is_its_time(const dbg_point *p)
{
    switch (p->when) {
    case HITS_EQUAL:
        return p->passed == p->times;
    case HITS_BEHIND:
        return p->passed > p->times;
    case HITS_FROM:
        return p->passed >= p->times;
    case HITS_EACH:
        return p->passed && p->passed % p->times == 0;
    default:
        return true;
    }
}

void points_count(dbg_session *s)
{
    for (uint32_t k = 0; k < s->end_points; k++) {
        dbg_point *p = &s->points[k];
        arena_mark m = arena_save(s->scratch);

        if (p->number && p->when != HITS_ALL && at_break(s, p) &&
            dbg_compare(&s->pos, &p->since) > 0 && condition_holds(s, p, NULL))
            p->passed++;
        arena_restore(s->scratch, m);
    }
}

/* A breakpoint that has come to its place. */
static bool holds(dbg_session *s, dbg_point *p, str *why)
{
    size_t before = why->n;

    if (!condition_holds(s, p, why) || !is_its_time(p))
        return false;
    p->reached = true;
    if (p->log && why->n == before)
        return false;
    if (why->n == before)
        str_printf(why, "breakpoint %u", p->number);
    return true;
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

uint64_t points_hold(dbg_session *s, str *why)
{
    uint64_t any = 0;
    bool at_one = false;

    for (uint32_t k = 0; k < s->end_points; k++) {
        dbg_point *p = &s->points[k];
        arena_mark m;

        p->reached = false;
        if (!p->number || (!p->watch && (at_one || !at_break(s, p))))
            continue;
        m = arena_save(s->scratch);
        if (p->watch ? changed(s, p, why) : holds(s, p, why)) {
            any |= UINT64_C(1) << k;
            at_one |= !p->watch;
        }
        arena_restore(s->scratch, m);
    }
    return any;
}

/* Text with values in the place of {EXPR}. */
static void fill_in(dbg_session *s, const char *text, str *out)
{
    while (*text) {
        size_t n = strcspn(text, "{"), m;
        dbg_value v;
        vpu_error err;

        str_add(out, text, n);
        text += n;
        m = strcspn(text, "}");
        if (!text[0])
            break;
        if (!text[m]) {
            str_puts(out, text);
            break;
        }
        if (look_evaluate(s, arena_strndup(s->scratch, text + 1, m - 1), NULL,
                          &v, &err))
            str_printf(out, "{%s}", err.msg);
        else
            number_text(s, &v, out);
        text += m + 1;
    }
}

void points_tell(dbg_session *s)
{
    for (uint32_t k = 0; k < s->end_points; k++) {
        const dbg_point *p = &s->points[k];
        arena_mark m = arena_save(s->scratch);
        str text = {0};

        if (p->number && p->reached && p->log && !(s->hit >> k & 1)) {
            fill_in(s, p->log, &text);
            s->cfg->control->told(s->cfg->control->user, str_text(&text));
        }
        str_free(&text);
        arena_restore(s->scratch, m);
    }
}

void points_forget_temporary(dbg_session *s)
{
    for (int k = 0; k < MAX_POINTS; k++)
        if (s->points[k].temporary && s->points[k].reached)
            s->points[k].number = 0;
}

/* --- for programs -------------------------------------------------------- */

static vpu_status read_hits(const char *text, dbg_point *p, vpu_error *err)
{
    static const struct {
        const char *op;
        dbg_hits when;
    } ops[] = {{"==", HITS_EQUAL}, {">=", HITS_FROM}, {">", HITS_BEHIND},
               {"=", HITS_EQUAL},  {"%", HITS_EACH},  {"", HITS_EQUAL}};
    const char *at = text + strspn(text, " ");
    unsigned long long n;
    int k = 0;

    while (strncmp(at, ops[k].op, strlen(ops[k].op)) != 0)
        k++;
    at += strlen(ops[k].op);
    at += strspn(at, " ");
    if (!str_to_u64(at, &n) || !n)
        return err_set(err, VPU_ERR_INVALID,
                       "'%.40s' says not which of the times: a number, with "
                       "==, >=, > or %% before it",
                       text);
    p->when = ops[k].when;
    p->times = n;
    return VPU_OK;
}

static bool is_long(const char *text)
{
    return text && strlen(text) >= MAX_CONDITION;
}

vpu_status debug_break(debug_session *s, const debug_breakpoint *wanted,
                       uint32_t *number, uint32_t *line, vpu_error *err)
{
    arena_mark m = arena_save(s->scratch);
    char *text = wanted->file ? arena_printf(s->scratch, "%s:%u", wanted->file,
                                             wanted->line)
                              : arena_strdup(s->scratch, wanted->function);
    dbg_point read = {0}, *p;
    vpu_status st = VPU_OK;
    dbg_place to;

    if (is_long(wanted->condition))
        return err_set(err, VPU_ERR_LIMIT,
                       "the condition is longer than %d characters",
                       MAX_CONDITION - 1);
    if (wanted->hits)
        st = read_hits(wanted->hits, &read, err);
    if (!st && !dbg_source_place(s, text, &to))
        st = dbg_control_error(s, VPU_ERR_INVALID, err);
    if (!st && !(p = new_point(s)))
        st = dbg_control_error(s, VPU_ERR_LIMIT, err);
    if (!st) {
        put_at(s, p, &to, wanted->condition ? wanted->condition : "");
        p->when = read.when;
        p->times = read.times;
        p->log = arena_strdup(s->arena, wanted->log);
        *number = p->number;
        *line = p->line;
        look_again(s);
    }
    str_free(&s->buf);
    arena_restore(s->scratch, m);
    return st;
}

vpu_status debug_watch(debug_session *s, const char *text, uint32_t *number,
                       vpu_error *err)
{
    arena_mark m = arena_save(s->scratch);
    dbg_point *p = NULL;
    vpu_status st = is_long(text) ? err_set(err, VPU_ERR_LIMIT,
                                            "that is longer than %d characters",
                                            MAX_CONDITION - 1)
                                  : watch(s, text, &p, err);

    if (!st)
        *number = p->number;
    arena_restore(s->scratch, m);
    return st;
}

void debug_forget(debug_session *s, uint32_t number)
{
    delete_number(s, false, number);
}
