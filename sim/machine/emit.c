/* Engine activity as trace events, and the merging that keeps traces small; and
 * for a mach_watch as calls. What local memory holds is in emit_local.c.
 *
 * At the levels groups and full each phase of a group is a slice on its SHAVE's
 * track (double buffering interleaves the groups' phases, so a group as one
 * slice would overlap its neighbours). At summary a track gets at most
 * MAX_MERGED slices: a slice covers `span` consecutive items, and when the
 * array is full neighbours are merged and span doubles. DDR rates are averaged
 * in the same way over windows of time, at every level. */
#include "sim/machine/emit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine/emit_local.h"
#include "sim/machine/flow.h"

enum { MAX_MERGED = 256, N_WINDOWS = 512, MAX_CHANNELS = 16 };

static const char *const phase_names[] = {"pre", "comp", "post"};

typedef struct {
    uint64_t begin, end, items, busy, bytes;
    uint64_t by_cause[MACH_N_CAUSES];
} merged;

typedef struct {
    merged *m; /* MAX_MERGED */
    uint32_t n;
    uint64_t span;
} merge_list;

/* At the level groups: what a SHAVE does between phases, not yet written. */
typedef struct {
    bool in_phase;
    mach_cause cause;
    uint64_t begin, end;
} between;

struct emit_writer {
    trc_writer *w;           /* NULL: only watched */
    const mach_watch *watch; /* NULL: only written */
    uint64_t now;            /* the common clock, for the watch */
    const mach_launch *launch;
    trc_level level;
    uint64_t start;
    trc_track stages;
    emit_local *local; /* NULL: none is used */
    critical *path;    /* NULL: nobody asks */
    trc_track device;
    between gaps[MACH_MAX_SHAVES];
    trc_track shaves[MACH_MAX_SHAVES], channels[MAX_CHANNELS], ddr, active;
    uint64_t now_by_cause[MACH_MAX_SHAVES][MACH_N_CAUSES]; /* of the phase */
    merge_list lists[MACH_MAX_SHAVES + MAX_CHANNELS];
    uint64_t windows[N_WINDOWS]; /* bytes Q20 */
    uint32_t window_log;         /* cycles per window, as a power of two */
    uint64_t flow_base;          /* flow ids of this launch start here */
};

/* --- merging ------------------------------------------------------------- */

static void merge_into(merged *to, const merged *from)
{
    if (!to->items && !to->end)
        to->begin = from->begin;
    to->end = from->end;
    to->items += from->items;
    to->busy += from->busy;
    to->bytes += from->bytes;
    for (int c = 0; c < MACH_N_CAUSES; c++)
        to->by_cause[c] += from->by_cause[c];
}

static void merge_add(merge_list *l, const merged *item)
{
    if (!l->m && !(l->m = calloc(MAX_MERGED, sizeof *l->m)))
        return;
    if (!l->span)
        l->span = 1;
    if (l->n && l->m[l->n - 1].items < l->span) {
        merge_into(&l->m[l->n - 1], item);
        return;
    }
    if (l->n == MAX_MERGED) {
        for (uint32_t i = 0; i < MAX_MERGED / 2; i++) {
            merged pair = l->m[2 * i];

            merge_into(&pair, &l->m[2 * i + 1]);
            l->m[i] = pair;
        }
        l->n = MAX_MERGED / 2;
        l->span *= 2;
    }
    l->m[l->n++] = *item;
}

static size_t cause_args(trc_arg *args, const uint64_t *by_cause)
{
    size_t n = 0;

    for (int c = 0; c < MACH_N_CAUSES; c++)
        if (by_cause[c])
            args[n++] = TRC_UINT(mach_cause_name((mach_cause)c), by_cause[c]);
    return n;
}

static void write_merged(emit_writer *e, trc_track track, merge_list *l,
                         const char *name)
{
    for (uint32_t i = 0; i < l->n; i++) {
        const merged *m = &l->m[i];
        trc_arg args[TRC_MAX_ARGS];
        size_t n = cause_args(args, m->by_cause);

        args[n++] = TRC_UINT("items", m->items);
        if (m->busy)
            args[n++] = TRC_UINT("busy cycles", m->busy);
        if (m->bytes)
            args[n++] = TRC_UINT("bytes", m->bytes);
        trc_slice(e->w, track, e->start + m->begin, e->start + m->end,
                  &(trc_event){.name = name, .args = args, .n_args = n});
    }
    free(l->m);
}

/* --- life ---------------------------------------------------------------- */

static void begin_stage(emit_writer *e, const mach_desc *desc)
{
    const mach_launch *l = e->launch;
    trc_arg args[TRC_MAX_ARGS] = {
        TRC_TEXT("kernel", l->kernel ? l->kernel : ""),
        TRC_UINT("groups", l->n_groups),
        TRC_UINT("SHAVEs", l->n_shaves),
        TRC_UINT("local bytes", l->local_bytes),
        TRC_UINT("local budget", (uint64_t)desc->ocl_local_budget),
        TRC_REAL("DDR capacity",
                 desc->ddr_eff_bw * 1e3 / (double)desc->clk_mhz)};
    size_t n = 6;

    for (uint32_t i = 0; i < l->n_locals && n < TRC_MAX_ARGS; i++)
        args[n++] = TRC_UINT(l->locals[i].name, l->locals[i].bytes);
    trc_begin(e->w, e->stages, e->start,
              &(trc_event){
                  .name = l->name ? l->name : "", .args = args, .n_args = n});
}

static void make_tracks(emit_writer *e, const mach_desc *desc)
{
    const mach_launch *launch = e->launch;
    trc_writer *trace = e->w;
    trc_track device;
    char name[32];

    e->level = trc_writer_level(trace);
    e->start = launch->start_cycle;
    e->flow_base = launch->start_cycle << 20;
    e->device = device = trc_track_group(trace, 0, "device");
    e->stages = trc_track_slices(trace, device, "stages", TRC_CYCLES);
    begin_stage(e, desc);
    for (uint32_t i = 0; i < launch->n_shaves; i++) {
        snprintf(name, sizeof name, "SHAVE %u", i);
        e->shaves[i] = trc_track_slices(trace, device, name, TRC_CYCLES);
    }
    for (uint32_t i = 0; i < desc->dma_channels && i < MAX_CHANNELS; i++) {
        snprintf(name, sizeof name, "DMA %u", i);
        e->channels[i] = trc_track_slices(trace, device, name, TRC_CYCLES);
    }
    e->ddr = trc_track_counter(trace, device, "DDR bytes/cycle", TRC_CYCLES,
                               TRC_UNIT_NONE);
    e->active = trc_track_counter(trace, device, "active SHAVEs", TRC_CYCLES,
                                  TRC_UNIT_COUNT);
    if (e->level != TRC_SUMMARY &&
        launch->n_groups > trc_writer_max_groups(trace)) {
        e->level = TRC_SUMMARY;
        trc_note(trace, "level of launch",
                 "%s: summary, because of %llu groups",
                 launch->name ? launch->name : "",
                 (unsigned long long)launch->n_groups);
    }
    e->local =
        emit_local_create(trace, device, launch, e->level == TRC_SUMMARY);
}

emit_writer *emit_create(trc_writer *trace, const mach_desc *desc,
                         const mach_launch *launch)
{
    emit_writer *e = trace || launch->watch ? calloc(1, sizeof *e) : NULL;

    if (!e)
        return NULL;
    e->w = trace;
    e->watch = launch->watch;
    e->launch = launch;
    if (trace)
        make_tracks(e, desc);
    if (e->watch && e->watch->launch_begin)
        e->watch->launch_begin(e->watch->user, launch);
    if (e->watch && e->watch->path) {
        e->path = e->watch->path;
    } else if (trace) {
        e->path = critical_create(CRITICAL_BYTES);
        critical_expect(e->path, launch->n_groups);
    }
    return e;
}

static void write_windows(emit_writer *e, uint64_t end)
{
    double last = -1;

    for (uint64_t i = 0; i < N_WINDOWS; i++) {
        uint64_t begin = i << e->window_log;
        uint64_t span = end - begin < UINT64_C(1) << e->window_log
                            ? end - begin
                            : UINT64_C(1) << e->window_log;
        double mean;

        if (begin >= end)
            break;
        mean = (double)e->windows[i] / (double)(UINT64_C(1) << FLOW_Q) /
               (double)span;
        if (mean != last)
            trc_count_real(e->w, e->ddr, e->start + begin, mean);
        last = mean;
    }
    trc_count_real(e->w, e->ddr, e->start + end, 0);
}

/* Where the whole launch went: at every level, so that the causes in a trace
 * add up to the SHAVE's time. */
static void write_total(emit_writer *e, uint32_t shave, const mach_profile *p)
{
    trc_arg args[TRC_MAX_ARGS];
    size_t n = cause_args(args, p->by_cause[shave]);

    args[n++] = TRC_UINT("cycles", p->cycles);
    args[n++] = TRC_UINT("groups", p->shave_groups[shave]);
    trc_instant(
        e->w, e->shaves[shave], e->start + p->cycles,
        &(trc_event){.name = "launch total", .args = args, .n_args = n});
}

static void write_gap(emit_writer *e, uint32_t shave)
{
    between *b = &e->gaps[shave];

    if (b->end > b->begin)
        trc_slice(e->w, e->shaves[shave], e->start + b->begin,
                  e->start + b->end,
                  &(trc_event){.name = mach_cause_name(b->cause),
                               .idle = b->cause == MACH_CAUSE_IDLE});
    b->begin = b->end;
}

static void add_gap(emit_writer *e, uint32_t shave, uint64_t t, uint64_t cycles,
                    mach_cause cause)
{
    between *b = &e->gaps[shave];

    if (b->end != t || b->cause != cause) {
        write_gap(e, shave);
        b->begin = t;
        b->cause = cause;
    }
    b->end = t + cycles;
}

/* --- the critical path --------------------------------------------------- */

/* Named so that a search for a phase or transfer does not find it here. */
static void write_segment(emit_writer *e, trc_track track,
                          const critical_segment *s)
{
    bool works = s->kind == CRITICAL_SHAVE;
    trc_arg args[TRC_MAX_ARGS];
    char name[48];
    size_t n = 0;

    if (works)
        snprintf(name, sizeof name, "SHAVE %u group", s->shave);
    else
        snprintf(name, sizeof name, "%sDMA %u group",
                 s->kind == CRITICAL_CHANNELS ? "busy " : "", s->channel);
    args[n++] = TRC_UINT("shave", s->shave);
    if (works) {
        args[n++] = TRC_TEXT("phase", phase_names[s->phase]);
        n += cause_args(args + n, s->by_cause);
    } else {
        args[n++] = TRC_UINT("channel", s->channel);
        args[n++] = TRC_UINT(s->to_cmx ? "in" : "out", s->end - s->begin);
    }
    trc_slice(e->w, track, e->start + s->begin, e->start + s->end,
              &(trc_event){.name = name,
                           .numbered = true,
                           .number = s->group,
                           .args = args,
                           .n_args = n});
}

/* Transfers are time that a SHAVE waits for them. */
static void merge_segment(merge_list *l, const critical_segment *s)
{
    merged m = {.begin = s->begin, .end = s->end, .items = 1};

    if (s->by_cause)
        memcpy(m.by_cause, s->by_cause, sizeof m.by_cause);
    else
        m.by_cause[MACH_CAUSE_DMA_WAIT] = s->end - s->begin;
    merge_add(l, &m);
}

static void write_path(emit_writer *e, const critical_result *r)
{
    trc_track track =
        trc_track_slices(e->w, e->device, "critical path", TRC_CYCLES);
    merge_list all = {0};

    for (size_t i = 0; i < r->n_segments; i++)
        if (e->level == TRC_SUMMARY)
            merge_segment(&all, &r->segments[i]);
        else
            write_segment(e, track, &r->segments[i]);
    write_merged(e, track, &all, "path");
}

/* On tracks of their own: phases are written when they happen, which is before
 * anybody knows. */
static void write_slack(emit_writer *e, const critical_result *r)
{
    trc_track tracks[MACH_MAX_SHAVES];
    char name[32];

    for (uint32_t i = 0; i < e->launch->n_shaves; i++) {
        snprintf(name, sizeof name, "SHAVE %u slack", i);
        tracks[i] = trc_track_slices(e->w, e->device, name, TRC_CYCLES);
    }
    for (size_t i = 0; i < r->n_groups; i++) {
        const critical_group *g = &r->groups[i];
        const trc_arg args[] = {TRC_UINT("slack", g->slack),
                                TRC_UINT("on critical path", g->on_path)};

        trc_slice(e->w, tracks[g->shave], e->start + g->begin,
                  e->start + g->end,
                  &(trc_event){.name = "group",
                               .numbered = true,
                               .number = g->group,
                               .args = args,
                               .n_args = 2});
    }
}

static void write_critical(emit_writer *e, const mach_profile *p)
{
    critical_result r;
    vpu_error err;

    if (!e->path)
        return;
    if (critical_finish(e->path, e->launch->n_shaves, p->cycles, &r, &err)) {
        trc_note(e->w, "critical path of launch", "%s: not known, %s",
                 e->launch->name ? e->launch->name : "", err.msg);
        return;
    }
    write_path(e, &r);
    if (e->level != TRC_SUMMARY)
        write_slack(e, &r);
}

void emit_destroy(emit_writer *e, const mach_profile *p, bool finished)
{
    if (e && e->w && finished)
        write_critical(e, p);
    if (e && !(e->watch && e->watch->path))
        critical_free(e->path);
    if (!e || !e->w) {
        free(e);
        return;
    }
    for (uint32_t i = 0; i < e->launch->n_shaves; i++) {
        write_gap(e, i);
        write_merged(e, e->shaves[i], &e->lists[i], "groups");
        if (finished)
            write_total(e, i, p);
    }
    for (uint32_t i = 0; i < MAX_CHANNELS; i++)
        write_merged(e, e->channels[i], &e->lists[MACH_MAX_SHAVES + i],
                     "transfers");
    if (finished)
        write_windows(e, p->cycles);
    emit_local_destroy(e->local);
    trc_end(e->w, e->stages, e->start + (finished ? p->cycles : e->now), NULL,
            0);
    free(e);
}

/* --- events -------------------------------------------------------------- */

static void write_phase_begin(emit_writer *e, uint32_t shave, uint64_t t,
                              uint64_t group, mach_phase phase)
{
    static const trc_flow flows[] = {TRC_FLOW_START, TRC_FLOW_STEP,
                                     TRC_FLOW_END};
    const trc_arg args[] = {
        TRC_UINT("group", group), TRC_UINT("cycle", e->start + t),
        TRC_TEXT("launch", e->launch->name ? e->launch->name : ""),
        TRC_UINT("local bytes", e->launch->local_bytes)};
    trc_event ev = {.name = phase_names[phase],
                    .numbered = true,
                    .number = group,
                    .args = args,
                    .n_args = 4};

    if (e->launch->double_buffered) {
        ev.flow = flows[phase];
        ev.flow_id = e->flow_base + group + 1;
    }
    trc_begin(e->w, e->shaves[shave], e->start + t, &ev);
}

void emit_phase_begin(emit_writer *e, uint32_t shave, uint64_t t,
                      uint64_t group, mach_phase phase)
{
    if (e && e->watch && e->watch->phase_begin)
        e->watch->phase_begin(e->watch->user, shave, group, phase);
    if (e)
        critical_phase_begin(e->path, shave, t, group, phase);
    if (!e || !e->w)
        return;
    memset(e->now_by_cause[shave], 0, sizeof e->now_by_cause[shave]);
    emit_local_phase(e->local, shave, t, group);
    write_gap(e, shave);
    e->gaps[shave].in_phase = true;
    if (e->level == TRC_SUMMARY) {
        merged m = {.begin = t, .end = t, .items = phase == MACH_COMP};
        merge_list *l = &e->lists[shave];

        /* Items are groups; pre and post join the slice that is open. */
        if (phase == MACH_COMP || !l->n)
            merge_add(l, &m);
        return;
    }
    write_phase_begin(e, shave, t, group, phase);
}

void emit_phase_end(emit_writer *e, uint32_t shave, uint64_t t)
{
    trc_arg args[TRC_MAX_ARGS];
    size_t n;

    if (e && e->watch && e->watch->phase_end)
        e->watch->phase_end(e->watch->user, shave);
    if (e)
        critical_phase_end(e->path, shave, t);
    if (!e || !e->w)
        return;
    emit_local_phase_end(e->local, shave, t);
    e->gaps[shave].in_phase = false;
    if (e->level == TRC_SUMMARY) {
        merge_list *l = &e->lists[shave];

        if (l->n)
            l->m[l->n - 1].end = t;
        return;
    }
    n = cause_args(args, e->now_by_cause[shave]);
    trc_end(e->w, e->shaves[shave], e->start + t, args, n);
}

void emit_cause(emit_writer *e, uint32_t shave, uint64_t t, uint64_t cycles,
                mach_cause cause)
{
    merge_list *l;

    if (!e || !cycles)
        return;
    if (e->watch && e->watch->cause)
        e->watch->cause(e->watch->user, shave, e->now, cycles, cause);
    critical_cause(e->path, shave, t, cycles, cause);
    if (!e->w)
        return;
    e->now_by_cause[shave][cause] += cycles;
    l = &e->lists[shave];
    if (e->level == TRC_SUMMARY && l->n)
        l->m[l->n - 1].by_cause[cause] += cycles;
    if (e->level == TRC_FULL)
        trc_slice(e->w, e->shaves[shave], e->start + t, e->start + t + cycles,
                  &(trc_event){.name = mach_cause_name(cause),
                               .idle = cause == MACH_CAUSE_IDLE});
    else if (e->level == TRC_GROUPS && !e->gaps[shave].in_phase)
        add_gap(e, shave, t, cycles, cause);
}

uint32_t emit_asked(emit_writer *e, uint64_t t, const critical_request *r)
{
    return e ? critical_asked(e->path, t, r) : 0;
}

void emit_needs(emit_writer *e, uint32_t shave, uint64_t t, critical_set set)
{
    critical_needs(e->path, shave, t, set);
}

void emit_transfer(emit_writer *e, const emit_dma *d)
{
    const mach_transfer *t = d->transfer;
    trc_arg args[] = {TRC_UINT("bytes", t->bytes),
                      TRC_UINT("lines", t->lines),
                      TRC_TEXT("direction", t->to_cmx ? "in" : "out"),
                      TRC_UINT("shave", d->shave),
                      TRC_UINT("group", d->group),
                      TRC_UINT("source line", t->src_line),
                      TRC_UINT("target line", t->dst_line)};

    if (e && e->watch && e->watch->transfer)
        e->watch->transfer(e->watch->user,
                           &(const mach_moved){d->channel, d->shave, d->group,
                                               d->asked, d->begin, d->end, t});
    if (e)
        critical_moved(e->path, d->number, d->channel, d->begin, d->end);
    if (!e || !e->w)
        return;
    emit_local_transfer(e->local, d->shave, d->end, d->group);
    if (e->level == TRC_SUMMARY)
        merge_add(&e->lists[MACH_MAX_SHAVES + d->channel],
                  &(merged){.begin = d->begin,
                            .end = d->end,
                            .items = 1,
                            .busy = d->end - d->begin,
                            .bytes = t->bytes});
    else
        trc_slice(e->w, e->channels[d->channel], e->start + d->begin,
                  e->start + d->end,
                  &(trc_event){.name = t->to_cmx ? "in" : "out",
                               .numbered = true,
                               .number = d->group,
                               .args = args,
                               .n_args = 7});
}

void emit_ddr(emit_writer *e, uint64_t begin, uint64_t end, uint64_t rate)
{
    if (!e)
        return;
    e->now = end;
    if (!e->w || !rate)
        return;
    while ((end - 1) >> e->window_log >= N_WINDOWS) {
        for (uint32_t i = 0; i < N_WINDOWS / 2; i++)
            e->windows[i] = e->windows[2 * i] + e->windows[2 * i + 1];
        memset(&e->windows[N_WINDOWS / 2], 0, sizeof e->windows / 2);
        e->window_log++;
    }
    while (begin < end) {
        uint64_t i = begin >> e->window_log;
        uint64_t stop = (i + 1) << e->window_log;

        if (stop > end)
            stop = end;
        e->windows[i] += rate * (stop - begin);
        begin = stop;
    }
}

void emit_active(emit_writer *e, uint64_t t, uint32_t n_shaves)
{
    if (e && e->w)
        trc_count(e->w, e->active, e->start + t, n_shaves);
}
