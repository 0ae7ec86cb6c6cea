/* set var: what a person writes into the device's memory.
 *
 * A way back is a run again, so a change is remembered with its event, and
 * every run that comes by makes it again. Changes further on belong to a run
 * that there will not be any more: they are forgotten. */
#include <string.h>

#include "runtime/debug/session.h"

static void write_bytes(dbg_session *s, const dbg_change *c)
{
    uint8_t *window = memory_window(backend_memory(&s->sim));

    memcpy(window + c->address, c->bytes, c->n);
}

void dbg_change_replay(dbg_session *s)
{
    for (size_t k = 0; k < s->n_changes; k++)
        if (!dbg_compare(&s->changes[k].pos, &s->pos))
            write_bytes(s, &s->changes[k]);
}

size_t dbg_change_forget(dbg_session *s, const dbg_pos *behind)
{
    size_t n = s->n_changes;

    while (
        s->n_changes &&
        (!behind || dbg_compare(&s->changes[s->n_changes - 1].pos, behind) > 0))
        s->n_changes--;
    /* The beginning of a group was kept with these changes made. */
    if (n > s->n_changes || !behind ||
        (s->has_snap && dbg_compare(&s->snap_at, behind) > 0))
        s->has_snap = false;
    return n - s->n_changes;
}

/* The '=' that is no part of ==, <=, >= or !=; NULL: there is none. */
static char *assignment(char *text)
{
    for (char *p = strchr(text, '='); p; p = strchr(p + 1, '=')) {
        if (p[1] == '=')
            p++;
        else if (p > text && !strchr("<>!", p[-1]))
            return p;
    }
    return NULL;
}

static vpu_status change_to(dbg_session *s, const dbg_value *to,
                            const dbg_value *from, dbg_change *c,
                            vpu_error *err)
{
    dbg_value n;
    vpu_status st = dbg_number(from, &n, err);

    if (st)
        return st;
    if (!to->at || !to->type || !look_address(s, to->at, &c->address))
        return err_set(err, VPU_ERR_INVALID,
                       "that is not in the device's memory: it cannot be "
                       "changed");
    c->pos = s->pos;
    c->n = (uint32_t)to->type->bytes;
    return dbg_store(&n, to->type, c->bytes, err);
}

vpu_status dbg_change_make(dbg_session *s, const char *to, const char *from,
                           size_t *gone, vpu_error *err)
{
    dbg_change c = {0};
    dbg_value place, value;
    vpu_status st = look_evaluate(s, to, NULL, &place, err);

    if (!st)
        st = look_evaluate(s, from, NULL, &value, err);
    if (!st)
        st = change_to(s, &place, &value, &c, err);
    if (st)
        return st;
    *gone = dbg_change_forget(s, &s->pos);
    *arena_append(s->arena, s->changes, s->n_changes, s->cap_changes) = c;
    write_bytes(s, &c);
    return VPU_OK;
}

dbg_outcome dbg_do_set_var(dbg_session *s, char *arg)
{
    char *equals = assignment(arg);
    vpu_error err = {0};
    size_t gone;

    if (!equals)
        return dbg_refuse(s, "set var EXPR = EXPR, as set var sum = 0.5");
    if (s->place != AT_EVENT)
        return dbg_refuse(s, "a variable is changed where the kernel stands: "
                             "break and run first");
    *equals = 0;
    for (char *end = equals; end > arg && strchr(" \t", end[-1]);)
        *--end = 0;
    if (dbg_change_make(s, arg, equals + 1, &gone, &err))
        return dbg_refuse(s, "error: %s", err.msg);
    if (gone)
        str_printf(&s->buf, "changes further on are forgotten: %zu\n", gone);
    return look_print(s, arg, 0) ? DBG_STAY : DBG_FAILED;
}
