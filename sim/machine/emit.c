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

#include "sim/machine/emit_heat.h"
#include "sim/machine/emit_local.h"
#include "sim/machine/emit_series.h"
#include "sim/machine/emit_traffic.h"
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
    emit_series ddr_bytes; /* Q20 */
    emit_traffic *traffic; /* NULL: not at this level */
    emit_heat banks;       /* likewise, of no banks */
    dram_wait held;        /* of the next cause */
    char holder[16];
    uint64_t flow_base; /* flow ids of this launch start here */
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

static void triple_text(char *to, size_t n, const uint32_t x[3])
{
    snprintf(to, n, "%ux%ux%u", x[0], x[1], x[2]);
}

static void begin_stage(emit_writer *e, const mach_desc *desc)
{
    const mach_launch *l = e->launch;
    char size[40], grid[40];
    trc_arg args[TRC_MAX_ARGS] = {
        TRC_TEXT("kernel", l->kernel ? l->kernel : ""),
        TRC_UINT("groups", l->n_groups),
        TRC_UINT("SHAVEs", l->n_shaves),
        TRC_UINT("local bytes", l->local_bytes),
        TRC_UINT("local budget", (uint64_t)desc->ocl_local_budget),
        TRC_REAL("DDR capacity",
                 desc->ddr_eff_bw * 1e3 / (double)desc->clk_mhz)};
    size_t n = 6;

    if (l->grid[0]) {
        triple_text(size, sizeof size, l->group_size);
        triple_text(grid, sizeof grid, l->grid);
        args[n++] = TRC_TEXT("group size", size);
        args[n++] = TRC_TEXT("grid", grid);
    }
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
    emit_series_init(&e->ddr_bytes, 1, N_WINDOWS, 0);
    if (e->level != TRC_SUMMARY) {
        e->traffic = emit_traffic_create(launch);
        emit_heat_init(&e->banks, (uint32_t)desc->ddr_banks);
    }
    e->local = emit_local_create(trace, device, launch,
                                 (uint32_t)desc->ocl_local_budget,
                                 e->level == TRC_SUMMARY);
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
        emit_series_write(&e->ddr_bytes, 0, e->w, e->ddr, e->start, p->cycles,
                          (double)(UINT64_C(1) << FLOW_Q));
    emit_series_free(&e->ddr_bytes);
    emit_traffic_destroy(e->traffic, e->w, e->device, finished ? p->cycles : 0);
    emit_heat_finish(&e->banks, e->w, e->device, e->start,
                     finished ? p->cycles : 0);
    emit_local_destroy(e->local, finished ? p->cycles : 0);
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

bool emit_merges(const emit_writer *e)
{
    return e->w && !e->watch && e->level == TRC_SUMMARY &&
           emit_local_merges(e->local) && !critical_keeps(e->path);
}

static void add_groups(merged *m, uint64_t n, const uint64_t *causes)
{
    for (int c = 0; c < MACH_N_CAUSES; c++)
        m->by_cause[c] += n * causes[c];
    m->items += n;
}

/* As emit_phase_begin, emit_cause and emit_phase_end for one after the other.
 * The dispatch of a group belongs to the slice that is there before it. */
void emit_groups(emit_writer *e, uint32_t shave, uint64_t t, uint64_t n,
                 const uint64_t causes[MACH_N_CAUSES])
{
    uint64_t dispatch = causes[MACH_CAUSE_DISPATCH], each = 0;
    merge_list *l = &e->lists[shave];
    uint64_t end;

    for (int c = 0; c < MACH_N_CAUSES; c++)
        each += causes[c];
    end = t + n * each;
    emit_local_groups(e->local, shave, t + dispatch, end);
    critical_passed(e->path, shave, end);
    while (n) {
        merged *m = l->n ? &l->m[l->n - 1] : NULL;
        uint64_t room = m ? l->span - m->items : 0;
        uint64_t now = room && room < n ? room : n;

        if (!room) {
            if (m)
                m->by_cause[MACH_CAUSE_DISPATCH] += dispatch;
            merge_add(l, &(merged){.begin = t + dispatch});
            if (!l->n) /* no memory */
                return;
            m = &l->m[l->n - 1];
            m->by_cause[MACH_CAUSE_DISPATCH] -= dispatch;
            now = 1;
        }
        add_groups(m, now, causes);
        n -= now;
        t += now * each;
        m->end = t;
    }
}

void emit_held(emit_writer *e, const dram_wait *why, uint32_t n_channels)
{
    bool dma = why->by < n_channels;

    if (!e || !e->w || e->level != TRC_FULL)
        return;
    e->held = *why;
    if (why->cycles)
        snprintf(e->holder, sizeof e->holder, "%s %u", dma ? "DMA" : "SHAVE",
                 dma ? why->by : why->by - n_channels);
}

static void write_cause(emit_writer *e, uint32_t shave, uint64_t t,
                        uint64_t cycles, mach_cause cause)
{
    const trc_arg args[] = {TRC_UINT("bank", e->held.bank),
                            TRC_TEXT("held by", e->holder),
                            TRC_UINT("cycles for the bank", e->held.cycles)};

    trc_slice(e->w, e->shaves[shave], e->start + t, e->start + t + cycles,
              &(trc_event){.name = mach_cause_name(cause),
                           .idle = cause == MACH_CAUSE_IDLE,
                           .args = args,
                           .n_args = e->held.cycles ? 3 : 0});
    e->held.cycles = 0;
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
        write_cause(e, shave, t, cycles, cause);
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

/* A kernel may walk backwards. */
static trc_arg stride_arg(const char *name, uint32_t pitch)
{
    return (int32_t)pitch < 0 ? TRC_REAL(name, (int32_t)pitch)
                              : TRC_UINT(name, pitch);
}

/* The tensor, which bytes and elements of it, and how they lie there. */
static size_t tensor_args(trc_arg *args, const mach_launch *l,
                          const mach_walk *w)
{
    const mach_buffer *b;
    uint32_t first, last, i;
    size_t n = 0;

    if (!mach_walk_range(w, &first, &last) ||
        (i = mach_buffer_at(l->buffers, l->n_buffers, first)) == l->n_buffers)
        return 0;
    b = &l->buffers[i];
    first -= b->place;
    last -= b->place;
    args[n++] = TRC_TEXT("tensor", b->name);
    if (b->argument)
        args[n++] = TRC_TEXT("argument", b->argument);
    args[n++] = TRC_UINT("first byte", first);
    args[n++] = TRC_UINT("last byte", last);
    if (b->element_bytes) {
        args[n++] = TRC_UINT("first element", first / b->element_bytes);
        args[n++] = TRC_UINT("last element", last / b->element_bytes);
    }
    if (w->bytes > w->width) {
        args[n++] = TRC_UINT("line bytes", w->width);
        args[n++] = stride_arg("line stride", w->pitch);
    }
    if (w->planes > 1) {
        args[n++] = TRC_UINT("planes", w->planes);
        args[n++] = stride_arg("plane stride", w->plane_pitch);
    }
    return n;
}

/* Where the other side begins: in which array, at which byte of it, in which of
 * two copies. Addresses themselves say nothing, the device packs arrays. */
static size_t local_args(trc_arg *args, const mach_launch *l, uint32_t local)
{
    for (uint32_t i = 0; local && i < l->n_locals; i++)
        for (unsigned slot = 0; slot < 2; slot++) {
            const mach_local *x = &l->locals[i];

            if (!x->at[slot] || local - x->at[slot] >= x->bytes)
                continue;
            args[0] = TRC_TEXT("local array", x->name);
            args[1] = TRC_UINT("local byte", local - x->at[slot]);
            args[2] = TRC_UINT("local buffer", slot);
            return x->at[0] != x->at[1] ? 3 : 2;
        }
    return 0;
}

static void write_transfer(emit_writer *e, const emit_dma *d)
{
    const mach_transfer *t = d->transfer;
    trc_arg args[TRC_MAX_ARGS] = {
        TRC_UINT("bytes", t->bytes),
        TRC_UINT("lines", t->lines),
        TRC_TEXT("direction", t->to_cmx ? "in" : "out"),
        TRC_UINT("shave", d->shave),
        TRC_UINT("group", d->group),
        TRC_UINT("source line", t->src_line),
        TRC_UINT("target line", t->dst_line)};
    size_t n = 7;

    n += tensor_args(args + n, e->launch, &t->ddr);
    n += local_args(args + n, e->launch, t->local);
    trc_slice(e->w, e->channels[d->channel], e->start + d->begin,
              e->start + d->end,
              &(trc_event){.name = t->to_cmx ? "in" : "out",
                           .numbered = true,
                           .number = d->group,
                           .args = args,
                           .n_args = n});
}

static void move_tensor(emit_writer *e, const emit_dma *d)
{
    const mach_transfer *t = d->transfer;
    uint32_t first, last;
    uint64_t place =
        mach_walk_range(&t->ddr, &first, &last) ? first : EMIT_NO_PLACE;

    emit_traffic_tensor(e->traffic, place, d->begin, d->end, t->bytes,
                        !t->to_cmx);
    if (e->launch->transactions) /* else flows tell it */
        emit_series_spread(&e->ddr_bytes, 0, d->begin, d->end,
                           t->bytes << FLOW_Q);
}

void emit_transfer(emit_writer *e, const emit_dma *d)
{
    const mach_transfer *t = d->transfer;

    if (e && e->watch && e->watch->transfer)
        e->watch->transfer(e->watch->user,
                           &(const mach_moved){d->channel, d->shave, d->group,
                                               d->asked, d->begin, d->end, t});
    if (e)
        critical_moved(e->path, d->number, d->channel, d->begin, d->end);
    if (!e || !e->w)
        return;
    emit_local_transfer(e->local, d->shave, d->end, d->group);
    move_tensor(e, d);
    if (e->level == TRC_SUMMARY)
        merge_add(&e->lists[MACH_MAX_SHAVES + d->channel],
                  &(merged){.begin = d->begin,
                            .end = d->end,
                            .items = 1,
                            .busy = d->end - d->begin,
                            .bytes = t->bytes});
    else
        write_transfer(e, d);
}

void emit_ddr(emit_writer *e, uint64_t begin, uint64_t end, uint64_t rate)
{
    if (!e)
        return;
    e->now = end;
    if (e->w)
        emit_series_rate(&e->ddr_bytes, 0, begin, end, rate);
}

bool emit_wants_banks(const emit_writer *e)
{
    return e && e->banks.n_banks;
}

void emit_banks(emit_writer *e, uint64_t begin, uint64_t end,
                const uint64_t share[MACH_MAX_BANKS])
{
    emit_heat_banks(&e->banks, begin, end, share);
}

void emit_bank(void *user, uint32_t bank, uint64_t begin, uint64_t end)
{
    emit_writer *e = user;

    emit_heat_bank(&e->banks, bank, begin, end);
}

void emit_lines(emit_writer *e, uint64_t begin, uint64_t end,
                uint64_t bytes_read, uint64_t bytes_written)
{
    if (e)
        emit_traffic_caches(e->traffic, begin, end, bytes_read, bytes_written);
}

void emit_line(emit_writer *e, uint64_t t, uint32_t place, uint64_t bytes,
               bool written)
{
    if (!e || !e->w)
        return;
    emit_traffic_tensor(e->traffic, place, t, t, bytes, written);
    emit_series_spread(&e->ddr_bytes, 0, t, t, bytes << FLOW_Q);
}

void emit_active(emit_writer *e, uint64_t t, uint32_t n_shaves)
{
    if (e && e->w)
        trc_count(e->w, e->active, e->start + t, n_shaves);
}
