/* A program in the place of commands: it is told of stops and says what comes
 * next. */
#include <string.h>

#include "runtime/debug/session.h"

static void stop_of(const dbg_session *s, debug_stop *out)
{
    *out = (debug_stop){.state = s->place == AT_START   ? DEBUG_NOT_BEGUN
                                 : s->place == AT_EVENT ? DEBUG_STANDS
                                                        : DEBUG_ENDED,
                        .cause = s->cause,
                        .text = str_text(&s->why)};
    if (out->state == DEBUG_ENDED)
        out->status = s->ended;
    else if (out->cause == DEBUG_BY_FAULT)
        out->status = s->fault;
    for (uint32_t k = 0; k < s->end_points; k++)
        if (s->hit >> k & 1 && s->points[k].number)
            out->points[out->n_points++] = s->points[k].number;
}

bool dbg_control_stop(dbg_session *s)
{
    const debug_control *c = s->cfg->control;
    arena_mark m = arena_save(s->scratch);
    debug_stop why;

    stop_of(s, &why);
    s->outcome = DBG_STAY;
    c->stopped(c->user, s, &why);
    str_free(&s->why);
    str_free(&s->buf);
    arena_restore(s->scratch, m);
    s->quit |= s->outcome != DBG_GO && s->outcome != DBG_AGAIN;
    return s->outcome == DBG_GO && !s->quit;
}

vpu_status dbg_control_error(dbg_session *s, vpu_status code, vpu_error *err)
{
    const char *text = str_text(&s->buf);
    size_t n = s->buf.n;

    while (n && text[n - 1] == '\n')
        n--;
    err_set(err, code, "%.*s", (int)n, text);
    str_free(&s->buf);
    return code;
}

vpu_status debug_go(debug_session *s, debug_move move, vpu_error *err)
{
    static dbg_outcome (*const moves[])(dbg_session *, char *) = {
        [DEBUG_CONTINUE] = dbg_do_continue,
        [DEBUG_STEP_IN] = dbg_do_step,
        [DEBUG_STEP_OVER] = dbg_do_next,
        [DEBUG_STEP_OUT] = dbg_do_finish,
        [DEBUG_BUNDLE] = dbg_do_bundle,
        [DEBUG_BACK] = dbg_do_back,
        [DEBUG_REVERSE] = dbg_do_reverse_continue,
        [DEBUG_QUIT] = dbg_do_quit};
    dbg_outcome r;
    char none[1] = "";

    s->frame = 0; /* steps are the item's, whatever was looked at */
    r = moves[move](s, none);
    if (r == DBG_FAILED)
        return dbg_control_error(s, VPU_ERR_INVALID, err);
    s->outcome = (int)r;
    return VPU_OK;
}

bool debug_is_command(const char *line)
{
    arena *a = arena_create(0);
    char *rest = dbg_command_line(a, line + strspn(line, " \t"),
                                  strlen(line) - strspn(line, " \t"));
    bool is = dbg_command_named(&rest) != NULL;

    arena_destroy(a);
    return is;
}

debug_answer debug_command(debug_session *s, uint32_t frame, const char *line,
                           str *out)
{
    arena_mark m = arena_save(s->scratch);
    dbg_outcome r;

    dbg_choose_frame(s, frame);
    if (strlen(line) >= MAX_LINE)
        r = dbg_refuse(s, "that line is too long");
    else
        r = dbg_command_do(s, dbg_command_line(s->scratch, line, strlen(line)));
    str_add(out, str_text(&s->buf), s->buf.n);
    str_free(&s->buf);
    arena_restore(s->scratch, m);
    if (r == DBG_STAY || r == DBG_FAILED)
        return r == DBG_STAY ? DEBUG_DONE : DEBUG_REFUSED;
    s->outcome = (int)r;
    return DEBUG_MOVES;
}

void debug_stop_at_faults(debug_session *s, bool stop)
{
    s->passes_faults = !stop;
}

/* --- places --------------------------------------------------------------- */

void debug_who(const debug_session *s, str *out)
{
    if (s->place != AT_EVENT || !s->site)
        return;
    look_group(s, out);
    if (s->cfg->bundles)
        return;
    str_puts(out, ", ");
    look_item(s, s->cur, out);
}

const char *debug_source(debug_session *s, const char *file)
{
    return look_source(s, file);
}
