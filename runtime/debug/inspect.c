/* Commands that stay where they are. */
#include <string.h>

#include "runtime/debug/session.h"

dbg_outcome dbg_refuse(dbg_session *s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    str_vprintf(&s->buf, fmt, ap);
    va_end(ap);
    str_puts(&s->buf, "\n");
    return DBG_FAILED;
}

dbg_outcome dbg_do_break(dbg_session *s, char *arg)
{
    return points_add_break(s, arg, false);
}

dbg_outcome dbg_do_tbreak(dbg_session *s, char *arg)
{
    return points_add_break(s, arg, true);
}

dbg_outcome dbg_do_watch(dbg_session *s, char *arg)
{
    return points_add_watch(s, arg);
}

dbg_outcome dbg_do_delete(dbg_session *s, char *arg)
{
    return points_delete(s, arg);
}

dbg_outcome dbg_do_points(dbg_session *s, char *arg)
{
    (void)arg;
    points_list(s);
    return DBG_STAY;
}

dbg_outcome dbg_do_info(dbg_session *s, char *arg)
{
    return dbg_do_points(s, arg);
}

dbg_outcome dbg_do_where(dbg_session *s, char *arg)
{
    (void)arg;
    look_where(s);
    return DBG_STAY;
}

dbg_outcome dbg_do_locals(dbg_session *s, char *arg)
{
    (void)arg;
    return look_locals(s, true);
}

dbg_outcome dbg_do_info_locals(dbg_session *s, char *arg)
{
    (void)arg;
    return look_locals(s, false);
}

dbg_outcome dbg_do_set(dbg_session *s, char *arg)
{
    (void)arg;
    return dbg_refuse(s, "set what? set var EXPR = EXPR changes a variable");
}

dbg_outcome dbg_do_list(dbg_session *s, char *arg)
{
    const graph_launch *l = dbg_session_launch(s);
    const char *file = s->list_file ? s->list_file : l->sources[0];
    unsigned long long line = s->list_line ? s->list_line : 1;

    if (*arg && (!str_to_u64(arg, &line) || !line || line > UINT32_MAX - 64))
        return dbg_refuse(s, "'%s' is no line", arg);
    s->repeat = "list";
    return look_list(s, file, (uint32_t)line);
}

dbg_outcome dbg_do_quit(dbg_session *s, char *arg)
{
    (void)arg;
    s->quit = true;
    return DBG_AGAIN;
}
