/* Commands that make the kernel go on, or begin again. */
#include <stdlib.h>
#include <string.h>

#include "runtime/debug/session.h"

bool dbg_count(dbg_session *s, const char *text, uint64_t most, uint64_t *out)
{
    unsigned long long n = 1;

    if (*text && (!str_to_u64(text, &n) || !n || n > most)) {
        str_printf(&s->buf, "'%s' is no number from 1 to %llu\n", text,
                   (unsigned long long)most);
        return false;
    }
    *out = n;
    return true;
}

static dbg_goal goal_here(const dbg_session *s, dbg_goal_mode mode,
                          dbg_goal_want want)
{
    dbg_goal g = {.mode = mode,
                  .want = want,
                  .points = true,
                  .item = s->cur,
                  .group = s->group,
                  .count = 1,
                  .target = s->pos,
                  .origin = s->pos};

    if (s->place == AT_EVENT && s->site)
        g.depth = s->site->depth - s->frame;
    if (s->place == AT_END)
        g.target = g.origin = (dbg_pos){.launch = UINT32_MAX};
    return g;
}

static dbg_outcome forward(dbg_session *s, dbg_goal_want want, const char *arg)
{
    uint64_t n;

    if (s->place == AT_END) {
        return dbg_refuse(
            s, "the run has ended: run begins it again, back goes back");
    }
    if (!dbg_count(s, arg, UINT32_MAX, &n))
        return DBG_FAILED;
    s->goal = goal_here(s, GO_FORWARD,
                        s->place == AT_START && want != WANT_NOTHING ? WANT_ANY
                                                                     : want);
    s->goal.count = n;
    return DBG_GO;
}

static dbg_outcome backward(dbg_session *s, dbg_goal_want want, const char *arg)
{
    uint64_t n;

    if (s->place == AT_START) {
        return dbg_refuse(s, "the run has not begun");
    }
    if (!dbg_count(s, arg, MAX_BACK, &n))
        return DBG_FAILED;
    s->goal = goal_here(s, GO_SEARCH, want);
    s->goal.count = n;
    return DBG_AGAIN;
}

dbg_outcome dbg_do_run(dbg_session *s, char *arg)
{
    size_t gone = dbg_change_forget(s, NULL);

    (void)arg;
    if (gone)
        str_printf(&s->buf, "what was changed is as it was: %zu\n", gone);
    points_restart(s);
    s->goal = goal_here(s, GO_FORWARD, WANT_NOTHING);
    return s->place == AT_START ? DBG_GO : DBG_AGAIN;
}

dbg_outcome dbg_do_continue(dbg_session *s, char *arg)
{
    return forward(s, WANT_NOTHING, arg);
}

dbg_outcome dbg_do_step(dbg_session *s, char *arg)
{
    return forward(s, s->cfg->bundles ? WANT_LINE : WANT_STEP, arg);
}

dbg_outcome dbg_do_next(dbg_session *s, char *arg)
{
    return forward(s, s->cfg->bundles ? WANT_LINE : WANT_NEXT, arg);
}

/* The goal of an item that leaves a function, or comes to a place in it. */
static dbg_outcome leave(dbg_session *s, dbg_goal_want want)
{
    const dbg_frame *f;

    if (s->place != AT_EVENT || s->cfg->bundles)
        return dbg_refuse(s, "no item stands in a function here: %s",
                          s->cfg->bundles ? "tbreak and continue lead to a "
                                            "line of the SHAVE program"
                                          : "break and run lead into one");
    f = &s->site->frames[s->frame];
    s->goal = goal_here(s, GO_FORWARD, want);
    s->goal.scope = track_function_scope(s->site, s->frame);
    s->goal.line = f->line;
    return DBG_GO;
}

dbg_outcome dbg_do_finish(dbg_session *s, char *arg)
{
    (void)arg;
    return leave(s, s->place == AT_EVENT && s->frame + 1 == s->site->n_frames
                        ? WANT_END
                        : WANT_FINISH);
}

dbg_outcome dbg_do_until(dbg_session *s, char *arg)
{
    dbg_place to = {0};
    dbg_outcome r;

    if (*arg && !dbg_source_place(s, arg, &to))
        return DBG_FAILED;
    r = leave(s, *arg ? WANT_PLACE : WANT_UNTIL);
    if (r == DBG_GO && *arg) {
        s->goal.line = to.line;
        s->goal.file = arena_strdup(s->arena, to.file ? to.file : to.function);
    }
    return r;
}

dbg_outcome dbg_do_bundle(dbg_session *s, char *arg)
{
    if (!s->cfg->bundles) {
        return dbg_refuse(
            s, "bundles are stepped through under vpu debug --bundles");
    }
    return forward(s, WANT_ANY, arg);
}

dbg_outcome dbg_do_back(dbg_session *s, char *arg)
{
    dbg_goal_want want =
        s->cfg->bundles || s->place == AT_END ? WANT_ANY : WANT_ITEM_ANY;
    dbg_outcome r = backward(s, want, arg);

    s->goal.points = false;
    s->goal.one_group = s->place == AT_EVENT;
    s->goal.none = s->cfg->bundles ? "this is the group's first bundle"
                                   : "this is the item's first line";
    return r;
}

dbg_outcome dbg_do_reverse_continue(dbg_session *s, char *arg)
{
    dbg_outcome r = backward(s, WANT_NOTHING, arg);

    s->goal.none = "no breakpoint or watch before";
    return r;
}

/* "X,Y,Z"; missing ones are 0. */
bool dbg_triple(const char *text, uint32_t out[3])
{
    const char *p = text;

    memset(out, 0, 3 * sizeof *out);
    for (int d = 0; d < 3; d++) {
        char *end;
        unsigned long v;

        if (*p < '0' || *p > '9')
            return false;
        v = strtoul(p, &end, 10);
        if (v > UINT32_MAX)
            return false;
        out[d] = (uint32_t)v;
        p = end + strspn(end, " ");
        if (!*p)
            return true;
        if (*p++ != ',')
            return false;
        p += strspn(p, " ");
    }
    return false;
}

dbg_outcome dbg_do_group(dbg_session *s, char *arg)
{
    uint32_t at[3], n[3];

    dbg_session_groups(s, n);
    if (!dbg_triple(arg, at) || at[0] >= n[0] || at[1] >= n[1] ||
        at[2] >= n[2]) {
        return dbg_refuse(s,
                          "'%s' is no work-group of %s: X,Y,Z below %u,%u,%u",
                          arg, dbg_session_launch(s)->name, n[0], n[1], n[2]);
    }
    s->goal = goal_here(s, GO_FORWARD, WANT_GROUP);
    s->goal.points = false;
    s->goal.group = ((uint64_t)at[2] * n[1] + at[1]) * n[0] + at[0];
    s->goal.origin.launch = s->pos.launch;
    return s->place == AT_START ? DBG_GO : DBG_AGAIN;
}

dbg_outcome dbg_do_item(dbg_session *s, char *arg)
{
    const graph_launch *l = dbg_session_launch(s);
    const dbg_item *it = &s->items[s->cur];
    uint32_t at[3];

    if (s->place != AT_EVENT || s->cfg->bundles) {
        return dbg_refuse(s, "there is no item here");
    }
    if (!dbg_triple(arg, at) || at[0] >= l->local[0] || at[1] >= l->local[1] ||
        at[2] >= l->local[2]) {
        return dbg_refuse(s, "'%s' is no item: X,Y,Z below %u,%u,%u", arg,
                          l->local[0], l->local[1], l->local[2]);
    }
    s->goal = goal_here(s, GO_SEARCH, WANT_ITEM);
    s->goal.points = false;
    s->goal.one_group = true;
    s->goal.item = (at[2] * l->local[1] + at[1]) * l->local[0] + at[0];
    s->goal.line = s->site->line;
    s->goal.hits = s->site->line < it->n_hits ? it->hits[s->site->line] : 0;
    s->goal.target.event = UINT64_MAX;
    s->goal.none = "that item does not come to this line so often";
    return DBG_AGAIN;
}
