/* Launches on the simulator. */
#include <string.h>

#include "base/clock.h"
#include "runtime/backend/locate.h"
#include "runtime/backend/sim_priv.h"
#include "runtime/backend/trace_source.h"

typedef struct {
    backend_sim_graph *b;
    uint32_t launch;
} tracking;

static vpu_status load_tracking(void *user, sim_kernel **out)
{
    const tracking *t = user;

    return backend_sim_load_tracking(t->b, &t->b->graph->launches[t->launch],
                                     &t->b->stages[t->launch], out, NULL);
}

/* Code for a debugger is in no need of it when it runs for ever. */
static void find_place(backend_sim_graph *b, uint32_t i, const exec_launch *el,
                       vpu_status st, vpu_error *err)
{
    tracking t = {b, i};
    const backend_stopped s = {.mem = b->mem,
                               .desc = b->desc,
                               .launch = el,
                               .result = &b->stages[i].result.exec,
                               .track = load_tracking,
                               .user = &t};

    if (st != VPU_ERR_LIMIT || !b->stages[i].kernel->debug)
        backend_locate(&s, st, err);
}

static vpu_status groups_of(const backend_sim_graph *b, const graph_launch *l,
                            exec_launch *el, vpu_error *err)
{
    for (int d = 0; d < 3; d++) {
        el->local[d] = l->local[d];
        el->groups[d] = l->local[d] ? l->global[d] / l->local[d] : 0;
        if (!el->groups[d])
            return err_at(err, VPU_ERR_INVALID, l->file, l->line, 0,
                          "%s: global size %ux%ux%u and local size %ux%ux%u "
                          "make no work-group",
                          l->name, l->global[0], l->global[1], l->global[2],
                          l->local[0], l->local[1], l->local[2]);
    }
    if (!el->how.n_shaves)
        el->how.n_shaves = (uint32_t)b->desc->num_shaves;
    if (l->max_shaves && l->max_shaves < el->how.n_shaves)
        el->how.n_shaves = l->max_shaves;
    return VPU_OK;
}

static void note_time(backend_sim_stage *s, double run, double groups)
{
    uint32_t i;

    if (s->n_times == SIM_MAX_TIMES)
        return;
    for (i = s->n_times++; i && s->times[i - 1].run > run; i--)
        s->times[i] = s->times[i - 1];
    s->times[i].run = run;
    s->times[i].engine = run - groups;
    s->result.run_s = s->times[s->n_times / 2].run;
    s->result.engine_s = s->times[s->n_times / 2].engine;
}

static void trace_stage(const backend_sim_graph *b, uint32_t i)
{
    const backend_sim_stage *s = &b->stages[i];
    backend_trace_stage t = {.stage = b->graph->launches[i].name,
                             .path = s->kernel->source,
                             .text = b->graph->launches[i].text,
                             .start_cycle = b->clock,
                             .profile = &s->result.profile};

    for (uint32_t k = 0; k < i && !t.again; k++)
        t.again =
            b->stages[k].kernel && !strcmp(b->stages[k].kernel->source, t.path);
    backend_trace_source(b->trace, &t);
}

static void set_number(const backend_sim_stage *s, const char *argument,
                       uint32_t number)
{
    for (uint32_t i = 0; argument && i < s->kernel->n_args; i++)
        if (!strcmp(s->kernel->args[i].name, argument))
            memcpy(s->values[i].as.raw, &number, sizeof number);
}

/* The part of its groups that the launch runs on, if not on all. */
static void take_window(const graph_launch *l, const backend_sim_stage *s,
                        exec_window *w, exec_launch *el)
{
    const graph_window *from = &l->window;

    set_number(s, from->part_argument, from->part);
    set_number(s, from->parts_argument, from->parts ? from->parts : 1);
    if (!from->n[0])
        return;
    memcpy(w->first, from->first, sizeof w->first);
    memcpy(w->n, from->n, sizeof w->n);
    el->window = w;
}

static exec_launch launch_of(backend_sim_graph *b, uint32_t i)
{
    const graph_launch *l = &b->graph->launches[i];
    const backend_config *cfg = b->cfg;
    const backend_sim_stage *s = &b->stages[i];

    return (exec_launch){.name = l->name,
                         .kernel = s->kernel,
                         .values = s->values,
                         .offset = {l->offset[0], l->offset[1], l->offset[2]},
                         .work_dim = l->work_dim,
                         .how = cfg->how,
                         .threads = b->threads,
                         .scratch = &b->scratch,
                         .start_cycle = b->clock,
                         .log = cfg->log,
                         .first = b->first,
                         .print = cfg->print,
                         .print_user = cfg->print_user};
}

/* Those of its arguments, for the trace: virtual tensors that share the
 * device's memory have no buffer of their own there. In the graph's arena. */
static void name_tensors(backend_sim_graph *b, uint32_t i, exec_launch *el)
{
    const graph_launch *l = &b->graph->launches[i];
    exec_tensor *list = arena_array(b->arena, exec_tensor, l->n_args + 1);
    uint32_t n = 0;

    for (uint32_t k = 0; k < l->n_args; k++) {
        const graph_buffer *x;
        uint32_t at, seen = 0;

        if (l->args[k].kind != GRAPH_ARG_BUFFER)
            continue;
        x = graph_buffer_at(b->graph, l->args[k].buffer);
        at = b->addresses[l->args[k].buffer];
        while (seen < n && list[seen].address != at)
            seen++;
        if (seen == n)
            list[n++] = (exec_tensor){x->name, at, x->bytes};
    }
    el->tensors = list;
    el->n_tensors = n;
}

/* --- what looks at a run ------------------------------------------------- */

enum { OWN_OBSERVERS = 4 };

/* The observers of one launch: those of the caller, the timeline, the profile,
 * the sample and the steps for reports. */
typedef struct {
    backend_sim_graph *b;
    backend_sim_stage *stage;
    exec_observer own[OWN_OBSERVERS];
    const exec_observer **list;
} looking;

/* Into the graph's arena: the rows of exec end with the launch. */
static void keep_profile(void *user, const exec_profile *p)
{
    looking *x = user;
    exec_profile *to = &x->stage->result.profile;

    to->n = p->n;
    to->rows = arena_memdup(x->b->arena, p->rows, p->n * sizeof *p->rows);
}

/* Where the steps of launch i go; NULL: nobody wants them. */
static mach_record *steps_of(backend_sim_graph *b, uint32_t i)
{
    backend_sim_stage *s = &b->stages[i];

    s->result.steps = NULL;
    if (!b->steps_bytes || b->cfg->how.timing != EXEC_FLOWS)
        return NULL;
    if (!s->steps)
        s->steps = mach_record_create(b->steps_bytes);
    s->result.steps = s->steps;
    return s->steps;
}

static void look(looking *x, backend_sim_graph *b, uint32_t i, exec_launch *el)
{
    uint32_t n = 0;

    *x = (looking){.b = b, .stage = &b->stages[i]};
    x->list = arena_array(b->arena, const exec_observer *,
                          b->n_observers + OWN_OBSERVERS);
    for (; n < b->n_observers; n++)
        x->list[n] = b->observers[n];
    x->own[0] = (exec_observer){
        .name = "a trace", .needs = EXEC_TRACE_NEEDS, .trace = b->trace};
    x->own[1] = (exec_observer){.name = b->profile,
                                .needs = EXEC_PROFILE_NEEDS,
                                .user = x,
                                .profile = keep_profile};
    x->own[2] =
        (exec_observer){.name = "a report", .sample = b->stages[i].sample};
    if (x->own[2].sample)
        x->list[n++] = &x->own[2];
    x->own[3] = (exec_observer){.name = "advice", .steps = steps_of(b, i)};
    if (x->own[3].steps)
        x->list[n++] = &x->own[3];
    if (b->trace)
        x->list[n++] = &x->own[0];
    if (b->profile)
        x->list[n++] = &x->own[1];
    el->observers = x->list;
    el->n_observers = n;
}

/* Is the launch ended by an observer's callback? Then the place is known. */
static bool is_debugged(const exec_launch *el)
{
    for (uint32_t i = 0; i < el->n_observers; i++)
        if (el->observers[i]->prints_at_once)
            return true;
    return false;
}

static vpu_status check_stage(backend_sim_graph *b, uint32_t i,
                              const exec_launch *el, vpu_error *err)
{
    exec_launch plain = *el;

    plain.kernel = b->stages[i].plain;
    return check_local_memory(b->checker, b->desc, &plain, i)
               ? check_launch(b->checker, b->desc, el, i, err)
               : VPU_OK;
}

static vpu_status run_native(backend_sim_graph *b, uint32_t i, vpu_error *err)
{
    backend_sim_stage *s = &b->stages[i];
    double start = clock_seconds();
    vpu_status st;

    if (i == 0)
        b->clock = 0;
    s->result.n_shaves = b->graph->launches[i].max_shaves;
    s->result.profile = (exec_profile){0};
    st = backend_sim_run_native(b, i, err);
    note_time(s, clock_seconds() - start, 0);
    b->clock += s->result.exec.profile.cycles;
    return st;
}

vpu_status backend_sim_run_launch(backend_sim_graph *b, uint32_t i,
                                  vpu_error *err)
{
    const graph_launch *l = &b->graph->launches[i];
    backend_sim_stage *s = &b->stages[i];
    double start;
    arena_mark m;
    exec_launch el;
    exec_window w;
    looking x;
    vpu_status st;

    if (l->native)
        return run_native(b, i, err);
    if (i == 0)
        b->clock = 0;
    st = backend_sim_fit_kernel(b, i, err);
    if (st)
        return st;
    start = clock_seconds();
    m = arena_save(b->arena);
    el = launch_of(b, i);
    take_window(l, s, &w, &el);
    st = groups_of(b, l, &el, err);
    if (st)
        return st;
    s->result.n_shaves = el.how.n_shaves;
    s->result.profile = (exec_profile){0}; /* of an earlier run */
    if (b->checker)
        return check_stage(b, i, &el, err);
    if (b->trace)
        name_tensors(b, i, &el);
    look(&x, b, i, &el);
    st = exec_run(b->mem, b->desc, &el, &s->result.exec, err);
    note_time(s, clock_seconds() - start, s->result.exec.groups_s);
    if (st && err && !is_debugged(&el))
        find_place(b, i, &el, st, err);
    if (!b->profile)
        arena_restore(b->arena, m);
    if (st)
        return st;
    if (b->trace)
        trace_stage(b, i);
    b->clock += s->result.exec.profile.cycles;
    return backend_check_guards(b->mem, l->name, l->entry, err);
}

vpu_status backend_sim_run_in_order(void *self, uint32_t i,
                                    const backend_order *o, vpu_error *err)
{
    backend_sim_graph *b = self;
    exec_launch el;
    exec_window w;
    vpu_status st;

    if (b->graph->launches[i].native)
        return run_native(b, i, err);
    st = backend_sim_fit_kernel(b, i, err);
    if (st)
        return st;
    el = launch_of(b, i);
    st = groups_of(b, &b->graph->launches[i], &el, err);
    take_window(&b->graph->launches[i], &b->stages[i], &w, &el);
    el.how.order = o->order;
    el.how.seed = o->seed;
    el.list = o->list;
    el.n_list = o->n_list;
    el.turns = o->turns;
    if (o->n_shaves && o->n_shaves < el.how.n_shaves)
        el.how.n_shaves = o->n_shaves;
    return st ? st : order_launch(b->mem, b->desc, &el, o->late, err);
}
