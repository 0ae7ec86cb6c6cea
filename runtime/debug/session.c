/* Running the layer again and again, from where and up to where the goal says.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/debug/session.h"

#define NO_INDEX UINT64_MAX

enum { PROGRESS_GROUPS = 16 };

const graph_launch *dbg_session_launch(const dbg_session *s)
{
    uint32_t n = s->graph->n_launches, i = s->pos.launch;

    return n ? &s->graph->launches[i < n ? i : n - 1] : NULL;
}

uint32_t dbg_session_groups(const dbg_session *s, uint32_t n[3])
{
    const graph_launch *l = dbg_session_launch(s);

    for (int d = 0; d < 3; d++)
        n[d] = l->local[d] ? l->global[d] / l->local[d] : 0;
    return n[0] * n[1] * n[2];
}

static void put(const dbg_session *s, const char *text, size_t n)
{
    str shown = {0};

    if (s->cfg->control) {
        s->cfg->control->print(s->cfg->control->user, text, n);
        return;
    }
    if (n && s->cfg->clear)
        s->cfg->clear();
    if (s->cfg->shown)
        str_add_shown(&shown, text, n);
    fwrite(s->cfg->shown ? str_text(&shown) : text, 1,
           s->cfg->shown ? shown.n : n, s->cfg->out);
    str_free(&shown);
}

void dbg_session_flush(dbg_session *s)
{
    if (s->cfg->control)
        return; /* what is said belongs to who has asked */
    put(s, str_text(&s->buf), s->buf.n);
    if (fflush(s->cfg->out))
        s->quit = true; /* nobody listens any more */
    str_free(&s->buf);
}

/* --- memory -------------------------------------------------------------- */

static void copy_buffers(dbg_session *s, uint8_t **to)
{
    for (uint32_t i = 0; i < s->graph->n_buffers; i++)
        memcpy(to[i], backend_buffer(&s->sim, i), s->graph->buffers[i].bytes);
}

static void put_buffers(dbg_session *s, uint8_t *const *from)
{
    for (uint32_t i = 0; i < s->graph->n_buffers; i++)
        memcpy(backend_buffer(&s->sim, i), from[i], s->graph->buffers[i].bytes);
}

static uint8_t **new_copy(dbg_session *s)
{
    uint8_t **c = arena_array(s->arena, uint8_t *, s->graph->n_buffers + 1);

    for (uint32_t i = 0; i < s->graph->n_buffers; i++)
        c[i] = arena_push(s->arena, s->graph->buffers[i].bytes, 1, 16);
    return c;
}

/* A group one goes back in begins: once more will be quick. */
static void take_snapshot(dbg_session *s)
{
    if (!s->snap)
        s->snap = new_copy(s);
    copy_buffers(s, s->snap);
    s->snap_at = s->pos;
    s->has_snap = true;
}

/* --- events -------------------------------------------------------------- */

static bool is_inside(const dbg_site *x, uint32_t scope)
{
    for (uint32_t k = 0; k < x->n_scopes; k++)
        if (x->scopes[k] == scope)
            return true;
    return false;
}

/* What an item does that is to leave a function, or to come to a place in it.
 * The caller's line is come back to in its middle. */
static bool leaves(const dbg_goal *g, const dbg_site *x, bool arrived)
{
    if (!is_inside(x, g->scope))
        return true;
    if (!arrived || g->want == WANT_FINISH)
        return false;
    if (g->want == WANT_UNTIL)
        return x->depth == g->depth && x->line > g->line;
    return g->line ? x->line == g->line && dbg_source_is(x->file, g->file)
                   : !strcmp(x->function, g->file);
}

static bool wanted(const dbg_session *s)
{
    const dbg_goal *g = &s->goal;
    const dbg_item *it = s->cfg->bundles ? NULL : &s->items[s->cur];
    const dbg_site *x = s->site, *b = s->before;
    bool arrived = it ? it->arrived : !b || b->line != x->line;
    bool over =
        it && (s->group != g->group || s->pos.launch != g->origin.launch ||
               g->item >= s->n_items || s->items[g->item].state == ITEM_DONE);

    switch (g->want) {
    case WANT_NOTHING:
        return false;
    case WANT_ANY:
        return arrived || !it;
    case WANT_STEP:
        return arrived && (!it || s->cur == g->item || over);
    case WANT_NEXT:
        return arrived &&
               (!it || over || (s->cur == g->item && x->depth <= g->depth));
    case WANT_LINE:
        return arrived;
    case WANT_GROUP:
        return s->group == g->group && s->pos.launch == g->origin.launch &&
               s->pos.event == 1;
    case WANT_ITEM:
        return it && s->cur == g->item && arrived && x->line == g->line &&
               g->line < it->n_hits && it->hits[g->line] == g->hits;
    case WANT_ITEM_ANY:
        return it && s->cur == g->item && arrived;
    case WANT_FINISH:
    case WANT_UNTIL:
    case WANT_PLACE:
        return over || (s->cur == g->item && leaves(g, x, arrived));
    case WANT_END:
        return over || (s->cur == g->item && x->kind == 'e');
    }
    return false;
}

static void stop(dbg_session *s)
{
    str ignored = {0};
    bool goes_on;

    s->n_stops++;
    s->frame = 0;
    s->at_fault = s->cause == DEBUG_BY_FAULT;
    points_hold(s, &ignored); /* watches know the value from here on */
    points_forget_temporary(s);
    str_free(&ignored);
    if (s->cfg->control) {
        goes_on = dbg_control_stop(s);
    } else {
        if (s->why.n)
            str_printf(&s->buf, "%s\n", str_text(&s->why));
        str_free(&s->why);
        look_place(s);
        dbg_show_displays(s);
        dbg_session_flush(s);
        goes_on = dbg_command_loop(s);
    }
    if (!goes_on)
        exec_leave();
}

static void search(dbg_session *s)
{
    str why = {0};
    uint64_t hit;

    if (dbg_compare(&s->pos, &s->goal.target) >= 0) {
        s->search_over = true;
        exec_leave();
    }
    hit = s->goal.points ? points_hold(s, &why) : 0;
    if (hit || wanted(s)) {
        s->found_points[s->n_found % MAX_BACK] = hit;
        s->found[s->n_found++ % MAX_BACK] = s->pos;
        str_free(&s->why);
        str_puts(&s->why, str_text(&why));
    }
    str_free(&why);
}

static debug_cause cause_of(const dbg_session *s)
{
    for (uint32_t k = 0; k < s->end_points; k++)
        if (s->hit >> k & 1 && s->points[k].watch)
            return DEBUG_BY_WATCH;
    return s->hit ? DEBUG_BY_BREAKPOINT : DEBUG_BY_STEP;
}

/* Somebody wants something of a kernel that runs, whatever its goal is. */
static void attend(dbg_session *s)
{
    const debug_control *c = s->cfg->control;
    debug_wish wish;

    atomic_store(s->cfg->interrupt, false);
    wish = c ? c->passing(c->user, s) : DEBUG_PAUSES;
    if (wish == DEBUG_LEAVES) {
        s->quit = true;
        exec_leave();
    }
    if (wish == DEBUG_GOES_ON)
        return;
    str_free(&s->why);
    str_puts(&s->why, "interrupted");
    s->hit = 0;
    s->cause = DEBUG_BY_PAUSE;
    stop(s);
}

static void forward(dbg_session *s)
{
    str_free(&s->why);
    s->hit = s->goal.points ? points_hold(s, &s->why) : 0;
    if (s->telling && s->goal.points)
        points_tell(s);
    if (s->hit || (wanted(s) && !--s->goal.count)) {
        s->cause = cause_of(s);
        stop(s);
    }
}

static void on_event(dbg_session *s)
{
    const dbg_site *here = s->site;
    dbg_goal_mode mode = s->goal.mode;

    s->place = AT_EVENT;
    dbg_change_replay(s);
    if (dbg_compare(&s->pos, &s->furthest) > 0)
        s->furthest = s->pos;
    if (s->counting && here->kind != 's')
        points_count(s);
    if (here->kind != 's' && s->cfg->interrupt &&
        atomic_load_explicit(s->cfg->interrupt, memory_order_relaxed)) {
        uint64_t stops = s->n_stops;

        attend(s);
        if (stops != s->n_stops)
            return; /* it goes on from here, with another goal */
    }
    if (mode == GO_TO) {
        if (!dbg_compare(&s->pos, &s->goal.target))
            stop(s);
    } else if (mode == GO_SEARCH) {
        search(s);
    } else if (here->kind != 's') {
        forward(s);
    }
}

static void on_group(void *user, sim_wg *wg, uint64_t index, uint64_t group,
                     const uint8_t *args)
{
    dbg_session *s = user;
    uint32_t n[3];

    (void)wg;
    (void)args;
    s->running_index = index;
    s->running_group = group;
    /* A way back is a long run: a person wants to see that it goes on. */
    if (index % PROGRESS_GROUPS == 0)
        log_progress(
            s->cfg->run.log,
            &(log_step){s->goal.mode == GO_FORWARD ? "running" : "looking back",
                        "work-groups", index, dbg_session_groups(s, n)});
}

static void on_phase(void *user, sim_wg *wg, mach_phase phase,
                     const isa_function *f)
{
    dbg_session *s = user;
    const dbg_goal *g = &s->goal;
    uint64_t index = s->running_index;

    (void)wg;
    (void)f;
    track_phase(s, index, s->running_group, phase);
    if (g->mode != GO_FORWARD && g->target.launch == s->pos.launch &&
        g->target.index == index && !s->pos.event &&
        !(s->has_snap && s->snap_at.launch == s->pos.launch &&
          s->snap_at.index == index))
        take_snapshot(s);
}

static void on_line(void *user, const char *site, const uint32_t id[3])
{
    dbg_session *s = user;

    track_line(s, site, id);
    on_event(s);
}

static void on_var(void *user, const char *what, const uint8_t *at)
{
    track_var(user, what, at);
}

static void on_bundle(void *user, const isa_function *f, uint64_t cycle,
                      const isa_instr *in, uint32_t n)
{
    dbg_session *s = user;
    uint32_t line = 0, col = 0;

    for (uint32_t k = 0; k < n && !line; k++) {
        line = in[k].line;
        col = in[k].col;
    }
    s->fn = f;
    s->in = in;
    s->n_in = n;
    s->cycle = cycle;
    track_bundle(s, line ? line : s->site ? s->site->line : 0, col);
    on_event(s);
}

/* What was printed is printed once, however often it runs. */
static void on_print(void *user, const char *text, size_t n)
{
    dbg_session *s = user;

    if (dbg_compare(&s->pos, &s->furthest) < 0)
        return;
    put(s, text, n);
}

/* --- runs ---------------------------------------------------------------- */

static bool from_snapshot(const dbg_session *s)
{
    const dbg_goal *g = &s->goal;

    return s->has_snap && g->mode != GO_FORWARD && !g->whole && !s->counting &&
           s->snap_at.launch == g->target.launch &&
           s->snap_at.index == g->target.index;
}

static vpu_status run(dbg_session *s, vpu_error *err)
{
    dbg_pos from = {0};
    vpu_status st = VPU_OK;

    if (from_snapshot(s)) {
        from = s->snap_at;
        put_buffers(s, s->snap);
    } else {
        s->goal.whole = true;
        put_buffers(s, s->first);
    }
    points_reset(s);
    s->place = AT_START;
    s->n_found = 0;
    s->search_over = false;
    for (uint32_t i = from.launch; i < s->graph->n_launches && !st; i++) {
        s->pos = (dbg_pos){i, NO_INDEX, 0};
        /* Conversions are kernels of no file: there is nothing to see. */
        s->sim.ops->observe->observers(
            s->sim.self, s->observers,
            graph_is_internal(&s->graph->launches[i]) ? 0 : 1);
        s->sim.ops->observe->begin_at(
            s->sim.self,
            i == from.launch && !graph_is_internal(&s->graph->launches[i])
                ? from.index
                : 0);
        st = backend_run_one(&s->sim, i, err);
    }
    return st;
}

/* Where a search leads. */
static void resolve(dbg_session *s)
{
    dbg_goal *g = &s->goal;

    s->restart = true;
    if (!s->n_found && !g->whole && !g->one_group) {
        g->whole = true;
        return;
    }
    if (s->n_found) {
        uint64_t back = g->count < s->n_found ? g->count : s->n_found;

        if (back > MAX_BACK)
            back = MAX_BACK;
        g->target = s->found[(s->n_found - back) % MAX_BACK];
        s->hit = s->found_points[(s->n_found - back) % MAX_BACK];
        s->cause = cause_of(s);
    } else {
        s->hit = 0;
        s->cause = DEBUG_BY_NOTHING;
        str_free(&s->why);
        str_puts(&s->why, g->none ? g->none : "there is nothing before");
        g->target = g->origin;
    }
    g->mode = GO_TO;
    g->whole = false;
}

/* Does the kernel, which has failed, stop before that? Not again where somebody
 * has seen it and lets it go on. */
static bool stops_at_fault(const dbg_session *s)
{
    if (s->place != AT_EVENT)
        return false;
    return !s->cfg->control ||
           (!s->passes_faults &&
            !(s->at_fault && !dbg_compare(&s->pos, &s->fault_at)));
}

static void end(dbg_session *s, vpu_status st, const vpu_error *err)
{
    s->place = AT_END;
    s->ended = st;
    s->pos.launch = s->furthest.launch; /* the last with source */
    if (s->cfg->control) {
        if (st) {
            str_free(&s->why);
            str_printf(&s->why, "%s: %s", err_status_text(st), err->msg);
        }
        return;
    }
    if (st)
        str_printf(&s->buf, "%s: %s\n", err_status_text(st), err->msg);
    else if (s->why.n)
        str_printf(&s->buf, "%s\n", str_text(&s->why));
    str_free(&s->why);
    look_place(s);
    dbg_session_flush(s);
}

static void run_once(dbg_session *s)
{
    vpu_error err = {0};
    vpu_status st = run(s, &err);

    s->restart = false;
    if (s->quit)
        return;
    if (s->goal.mode == GO_SEARCH &&
        (s->search_over || st != VPU_ERR_STOPPED)) {
        resolve(s);
    } else if (st == VPU_ERR_STOPPED) {
        s->restart = true; /* a command has set the goal */
    } else if (st && stops_at_fault(s)) {
        /* Once more, up to the line it does not get over. */
        str_free(&s->why);
        str_printf(&s->why, "the kernel stops: %s: %s", err_status_text(st),
                   err.msg);
        s->goal = (dbg_goal){.mode = GO_TO, .target = s->pos};
        s->fault = st;
        s->fault_at = s->pos;
        s->cause = DEBUG_BY_FAULT;
        s->hit = 0;
        s->restart = true;
    } else {
        end(s, st, &err);
    }
}

/* --- the top ------------------------------------------------------------- */

static vpu_status open(dbg_session *s, vpu_error *err)
{
    const debug_config *c = s->cfg;
    vpu_status st;

    s->debug.lines = true;
    s->observer = (exec_observer){
        .name = "a debugger",
        .needs = EXEC_NEED_ORDER | EXEC_NEED_NO_TIME |
                 (c->bundles ? EXEC_NEED_PROGRAM : EXEC_NEED_HOST_CODE),
        .prints_at_once = true,
        .user = s,
        .group_begin = on_group,
        .phase_begin = on_phase,
        .line = on_line,
        .var = on_var,
        .bundle = on_bundle};
    s->observers[0] = &s->observer;
    s->run_cfg = c->run;
    s->run_cfg.how.n_shaves = s->run_cfg.how.n_threads = 1;
    s->run_cfg.how.engine = c->bundles ? EXEC_INTERPRETED : EXEC_COMPILED;
    s->run_cfg.how.timing = EXEC_NO_TIMING;
    s->run_cfg.how.max_cycles = 0;
    s->run_cfg.how.timeout_s = 0;
    s->run_cfg.debug = c->bundles ? NULL : &s->debug;
    s->run_cfg.print = on_print;
    s->run_cfg.print_user = s;
    st = backend_open(backend_offering(BACKEND_OBSERVE | BACKEND_INSPECT),
                      &s->run_cfg, s->graph, &s->sim, err);
    for (uint32_t i = 0; i < s->graph->n_buffers && !st; i++)
        if (s->graph->buffers[i].role == GRAPH_INPUT)
            st = c->fill(c->user, i, backend_buffer(&s->sim, i), err);
    if (st)
        return st;
    s->first = new_copy(s);
    copy_buffers(s, s->first);
    dbg_source_read(s);
    return VPU_OK;
}

vpu_status debug_run(const debug_config *cfg, bool *failed, vpu_error *err)
{
    arena *a = arena_create(0);
    dbg_session *s = arena_new(a, dbg_session);
    vpu_status st;

    s->cfg = cfg;
    s->arena = a;
    s->scratch = arena_create(0);
    s->graph = cfg->graph;
    track_init(s);
    st = open(s, err);
    while (s->pos.launch + 1 < s->graph->n_launches &&
           graph_is_internal(&s->graph->launches[s->pos.launch]))
        s->pos.launch++;
    while (!st && !s->quit) {
        if (!s->restart && s->cfg->control)
            dbg_control_stop(s);
        else if (!s->restart)
            dbg_command_loop(s);
        if (!s->quit)
            run_once(s);
    }
    *failed = s->failed;
    backend_close(&s->sim);
    str_free(&s->buf);
    str_free(&s->why);
    arena_destroy(s->items_arena);
    arena_destroy(s->scratch);
    arena_destroy(a);
    return st;
}
