/* The functions of the kernel that are inlined into each other where the item
 * stands: one of them is looked at. */
#include <string.h>

#include "runtime/debug/session.h"

static bool any_frames(dbg_session *s)
{
    if (s->place == AT_EVENT && s->site)
        return true;
    dbg_refuse(s, "the kernel does not stand anywhere: run begins it");
    return false;
}

static void show_frame(dbg_session *s, uint32_t k)
{
    const dbg_frame *f = &s->site->frames[k];

    str_printf(&s->buf, "%s#%u  %s at %s:%u\n", k == s->frame ? "> " : "  ", k,
               f->function, f->file, f->line);
}

static dbg_outcome look_at(dbg_session *s, uint32_t k)
{
    const dbg_frame *f = &s->site->frames[k];

    s->frame = k;
    show_frame(s, k);
    look_line(s, f->file, f->line);
    look_list_at(s, f->file, f->line);
    return DBG_STAY;
}

dbg_outcome dbg_do_backtrace(dbg_session *s, char *arg)
{
    (void)arg;
    if (!any_frames(s))
        return DBG_FAILED;
    for (uint32_t k = 0; k < s->site->n_frames; k++)
        show_frame(s, k);
    return DBG_STAY;
}

dbg_outcome dbg_do_up(dbg_session *s, char *arg)
{
    uint64_t n;

    if (!any_frames(s) || !dbg_count(s, arg, MAX_DEPTH, &n))
        return DBG_FAILED;
    if (s->frame + 1 == s->site->n_frames)
        return dbg_refuse(s, "this is the kernel: nothing calls it");
    n += s->frame;
    return look_at(s,
                   n < s->site->n_frames ? (uint32_t)n : s->site->n_frames - 1);
}

dbg_outcome dbg_do_down(dbg_session *s, char *arg)
{
    uint64_t n;

    if (!any_frames(s) || !dbg_count(s, arg, MAX_DEPTH, &n))
        return DBG_FAILED;
    if (!s->frame)
        return dbg_refuse(s, "this is the innermost function");
    return look_at(s, n < s->frame ? s->frame - (uint32_t)n : 0);
}

dbg_outcome dbg_do_frame(dbg_session *s, char *arg)
{
    unsigned long long k = s->frame;

    if (!any_frames(s))
        return DBG_FAILED;
    if ((*arg && !str_to_u64(arg, &k)) || k >= s->site->n_frames)
        return dbg_refuse(s, "'%s' is no frame from 0 to %u", arg,
                          s->site->n_frames - 1);
    return look_at(s, (uint32_t)k);
}
