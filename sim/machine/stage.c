/* Stages of networks, as a few actors over one clock. */
#include "sim/machine/stage.h"

#include <stdio.h>
#include <string.h>

#include "sim/machine/flow.h"

#define NEVER UINT64_MAX

typedef enum { SETUP, COMPUTE, FLOW, DONE } actor_state;

typedef struct {
    const mach_work *w;
    actor_state state;
    uint32_t at;    /* descriptor */
    uint64_t begin; /* of the descriptor */
    uint64_t next;  /* cycle it acts again */
    uint64_t end;
} actor;

typedef struct {
    const mach_desc *desc;
    flow_set flows;
    actor actors[MACH_MAX_WORKS];
    uint32_t n;
    uint64_t now, start;
    trc_writer *trace;
    trc_track group;
    mach_profile *profile;
} stage;

static uint64_t cycles_of(double seconds, const mach_desc *d)
{
    return (uint64_t)(seconds * (double)d->clk_mhz * 1e6 + 0.5);
}

static uint64_t at_least(uint64_t n, uint64_t least)
{
    return n < least ? least : n;
}

/* --- timeline ------------------------------------------------------------ */

static trc_track track(const stage *s, const char *name, uint32_t i)
{
    char text[32];

    snprintf(text, sizeof text, "%s %u", name, i);
    return trc_track_slices(s->trace, s->group, text, TRC_CYCLES);
}

static void slice(const stage *s, trc_track t, uint64_t begin, uint64_t end,
                  const mach_work *w)
{
    trc_arg args[] = {TRC_TEXT("type", w->type ? w->type : "")};

    if (s->trace && end > begin)
        trc_slice(s->trace, t, s->start + begin, s->start + end,
                  &(trc_event){.name = w->name, .args = args, .n_args = 1});
}

static bool in_detail(const stage *s)
{
    return s->trace && trc_writer_level(s->trace) != TRC_SUMMARY;
}

/* A descriptor is to the engine what a group is to a SHAVE. */
static void draw_descriptor(const stage *s, const actor *a)
{
    const mach_descriptor *d = &a->w->descriptors[a->at];
    trc_arg args[] = {TRC_TEXT("stage", a->w->name),
                      TRC_UINT("cycles", d->cycles),
                      TRC_UINT("weight bytes", d->weight_bytes)};

    if (in_detail(s))
        trc_slice(s->trace, track(s, "NCE", 0), s->start + a->begin,
                  s->start + s->now,
                  &(trc_event){.name = "descriptor",
                               .numbered = true,
                               .number = a->at,
                               .args = args,
                               .n_args = 3});
}

static void draw_stage(const stage *s, const mach_work *w, uint64_t cycles)
{
    if (s->trace)
        slice(s, trc_track_slices(s->trace, s->group, "stages", TRC_CYCLES), 0,
              cycles, w);
}

static void draw(const stage *s, const actor *a, uint64_t begin)
{
    const mach_work *w = a->w;

    if (!s->trace)
        return;
    if (w->unit == MACH_WORK_NCE && !in_detail(s))
        slice(s, track(s, "NCE", 0), begin, a->end, w);
    else if (w->unit == MACH_WORK_COPY)
        slice(s, track(s, "DMA", 0), begin, a->end, w);
    for (uint32_t i = 0; w->unit == MACH_WORK_SHAVE && i < w->n_shaves; i++)
        slice(s, track(s, "SHAVE", i), begin, a->end, w);
}

/* --- the units ----------------------------------------------------------- */

static void flow_from(stage *s, uint32_t i, uint64_t bytes, uint64_t work,
                      bool dma)
{
    actor *a = &s->actors[i];
    flow_need need = {.bytes = bytes, .dma = dma};

    a->state = FLOW;
    if (bytes) {
        flow_start(&s->flows, i, s->now, &need, at_least(work, 1));
        a->next = s->flows.flows[i].finish;
    } else {
        a->state = COMPUTE; /* nothing that is shared */
        a->next = s->now + work;
    }
    s->profile->ddr_bytes += bytes;
}

/* While the engine is set up its weights arrive. They come in long bursts,
 * faster than the accesses of SHAVEs reach: they are so many bytes of those as
 * take as long. */
static void begin_descriptor(stage *s, uint32_t i)
{
    actor *a = &s->actors[i];
    const mach_desc *d = s->desc;
    uint64_t weights, bytes, fetch;

    if (a->at == a->w->n_descriptors) {
        a->state = DONE;
        a->next = NEVER;
        a->end = s->now;
        return;
    }
    weights = a->w->descriptors[a->at].weight_bytes;
    bytes = (uint64_t)((double)weights * d->ddr_eff_bw / d->nce_weight_bw);
    fetch = cycles_of((double)weights / (d->nce_weight_bw * 1e9), d);
    a->begin = s->now;
    flow_from(s, i, bytes, at_least(fetch, d->nce_descriptor), true);
    s->profile->ddr_bytes += weights - bytes;
    a->state = SETUP;
}

static void end_flow(stage *s, uint32_t i)
{
    if (s->flows.flows[i].counted)
        flow_end(&s->flows, i, s->now);
}

static void nce_event(stage *s, uint32_t i)
{
    actor *a = &s->actors[i];
    const mach_descriptor *d = &a->w->descriptors[a->at];

    end_flow(s, i);
    if (a->state == SETUP) {
        flow_from(s, i, d->ddr_bytes, d->cycles, true);
        a->state = COMPUTE;
        s->profile->nce_cycles += d->cycles;
    } else {
        draw_descriptor(s, a);
        a->at++;
        s->profile->nce_descriptors++;
        begin_descriptor(s, i);
    }
}

static void begin_other(stage *s, uint32_t i)
{
    actor *a = &s->actors[i];
    const mach_work *w = a->w;
    const mach_desc *d = s->desc;

    if (w->unit == MACH_WORK_SHAVE) {
        flow_from(s, i, w->ddr_in + w->ddr_out,
                  (uint64_t)(w->issue / w->n_shaves + 0.5), false);
    } else if (w->unit == MACH_WORK_COPY) {
        flow_from(s, i, w->ddr_in + w->ddr_out,
                  d->dma_setup + d->dma_first_byte +
                      w->bytes / d->dma_bus_bytes +
                      w->lines * d->dma_line_overhead,
                  true);
        s->profile->transfers++;
    } else {
        a->state = COMPUTE;
        a->next = s->now;
    }
}

static void other_event(stage *s, uint32_t i)
{
    actor *a = &s->actors[i];

    end_flow(s, i);
    a->state = DONE;
    a->next = NEVER;
    a->end = s->now;
}

/* --- the loop ------------------------------------------------------------ */

static uint32_t earliest(const stage *s)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < s->n; i++)
        if (s->actors[i].next < s->actors[best].next)
            best = i;
    return best;
}

static void replay(stage *s)
{
    for (;;) {
        uint32_t i = earliest(s);
        uint64_t t = s->actors[i].next;

        if (t == NEVER)
            return;
        if (s->flows.dirty && t > s->now) {
            flow_share(&s->flows, s->now);
            for (uint32_t k = 0; k < s->flows.n_running; k++)
                s->actors[s->flows.running[k]].next =
                    s->flows.flows[s->flows.running[k]].finish;
            continue;
        }
        s->now = t;
        if (s->actors[i].w->unit == MACH_WORK_NCE)
            nce_event(s, i);
        else
            other_event(s, i);
    }
}

static void account(const stage *s, const actor *a, uint64_t begin)
{
    const mach_work *w = a->w;
    mach_profile *p = s->profile;

    p->groups++;
    if (w->unit == MACH_WORK_COPY) {
        p->dma_busy_cycles += a->end - begin;
        p->dma_in_bytes += w->ddr_in;
        p->dma_out_bytes += w->ddr_out;
    }
    for (uint32_t i = 0; w->unit == MACH_WORK_SHAVE && i < w->n_shaves; i++) {
        uint64_t busy = (uint64_t)(w->issue / w->n_shaves);

        busy = busy < a->end - begin ? busy : a->end - begin;
        p->by_cause[i][MACH_CAUSE_ISSUE] += busy;
        p->by_cause[i][MACH_CAUSE_DDR] += a->end - begin - busy;
        p->shave_groups[i]++;
    }
    if (w->unit == MACH_WORK_SHAVE) {
        p->load_bytes += w->ddr_in;
        p->store_bytes += w->ddr_out;
    }
}

vpu_status mach_stage_run(const mach_desc *desc, const mach_work *works,
                          uint32_t n, uint64_t start_cycle, trc_writer *trace,
                          mach_profile *profile, vpu_error *err)
{
    stage s = {.desc = desc,
               .n = n,
               .now = desc->native_stage,
               .start = start_cycle,
               .trace = trace,
               .profile = profile};
    double per_cycle = desc->ddr_eff_bw * 1000 / (double)desc->clk_mhz;

    *profile = (mach_profile){0};
    if (n > MACH_MAX_WORKS)
        return err_set(err, VPU_ERR_INVALID, "%u works, at most %d", n,
                       MACH_MAX_WORKS);
    flow_init(&s.flows, (uint64_t)(per_cycle * (1 << FLOW_Q) + 0.5), 0);
    if (trace)
        s.group = trc_track_group(trace, 0, "device");
    for (uint32_t i = 0; i < n; i++) {
        if (works[i].unit == MACH_WORK_SHAVE &&
            (!works[i].n_shaves || works[i].n_shaves > desc->num_shaves ||
             works[i].n_shaves > MACH_MAX_SHAVES))
            return err_set(
                err, VPU_ERR_INVALID, "a stage takes 1 to %llu SHAVEs, not %u",
                (unsigned long long)desc->num_shaves, works[i].n_shaves);
        s.actors[i].w = &works[i];
        if (works[i].unit == MACH_WORK_NCE)
            begin_descriptor(&s, i);
        else
            begin_other(&s, i);
    }
    replay(&s);
    profile->cycles = s.now;
    for (uint32_t i = 0; i < n; i++) {
        account(&s, &s.actors[i], desc->native_stage);
        draw(&s, &s.actors[i], desc->native_stage);
        if (s.actors[i].end > profile->cycles)
            profile->cycles = s.actors[i].end;
    }
    if (n)
        draw_stage(&s, &works[0], profile->cycles);
    return VPU_OK;
}
