/* Stages of networks, as a few actors over one clock. */
#include "sim/machine/stage.h"

#include <stdio.h>
#include <string.h>

#include "sim/machine/flow.h"

#define NEVER UINT64_MAX

/* Inferences of each executor. */
enum { ROUNDS = 6, N_ACTORS = MACH_MAX_EXECUTORS * MACH_MAX_WORKS };

typedef enum { BEGIN, SETUP, COMPUTE, FLOW, DONE } actor_state;

typedef struct {
    const mach_work *w;
    uint32_t executor;
    actor_state state;
    uint32_t at;    /* descriptor */
    uint64_t stage; /* cycle its work for the stage began */
    uint64_t begin; /* of the descriptor */
    uint64_t next;  /* cycle it acts again */
    uint64_t end;
} actor;

/* Its actors are those from its own index times MACH_MAX_WORKS on. */
typedef struct {
    uint32_t at, round, rounds;
    uint32_t left;  /* actors whose part of the stage is not done */
    uint64_t begin; /* of the stage */
    uint64_t begun[ROUNDS], ended[ROUNDS];
    trc_track group;
    bool drawn; /* this round */
} executor;

typedef struct {
    const mach_desc *desc;
    const mach_stage *stages;
    uint32_t n_stages;
    uint64_t fixed;
    flow_set flows;
    actor actors[N_ACTORS];
    executor executors[MACH_MAX_EXECUTORS];
    uint32_t n;
    uint64_t now, start;
    trc_writer *trace;
    mach_profile *profile;
    double *stage_cycles; /* sums of what is measured; or NULL */
} machine;

static uint64_t cycles_of(double seconds, const mach_desc *d)
{
    return (uint64_t)(seconds * (double)d->clk_mhz * 1e6 + 0.5);
}

static uint64_t at_least(uint64_t n, uint64_t least)
{
    return n < least ? least : n;
}

/* --- timeline ------------------------------------------------------------ */

static trc_track track(const machine *s, const actor *a, const char *name,
                       uint32_t i)
{
    char text[32];

    snprintf(text, sizeof text, "%s %u", name, i);
    return trc_track_slices(s->trace, s->executors[a->executor].group, text,
                            TRC_CYCLES);
}

static void slice(const machine *s, trc_track t, uint64_t begin, uint64_t end,
                  const mach_work *w)
{
    trc_arg args[] = {TRC_TEXT("type", w->type ? w->type : "")};

    if (end > begin)
        trc_slice(s->trace, t, s->start + begin, s->start + end,
                  &(trc_event){.name = w->name, .args = args, .n_args = 1});
}

static bool drawn(const machine *s, const actor *a)
{
    return s->trace && s->executors[a->executor].drawn;
}

static bool in_detail(const machine *s, const actor *a)
{
    return drawn(s, a) && trc_writer_level(s->trace) != TRC_SUMMARY;
}

/* A descriptor is to the engine what a group is to a SHAVE. */
static void draw_descriptor(const machine *s, const actor *a)
{
    const mach_descriptor *d = &a->w->descriptors[a->at];
    trc_arg args[] = {TRC_TEXT("stage", a->w->name),
                      TRC_UINT("cycles", d->cycles),
                      TRC_UINT("weight bytes", d->weight_bytes)};

    if (in_detail(s, a))
        trc_slice(s->trace, track(s, a, "NCE", 0), s->start + a->begin,
                  s->start + s->now,
                  &(trc_event){.name = "descriptor",
                               .numbered = true,
                               .number = a->at,
                               .args = args,
                               .n_args = 3});
}

static void draw(const machine *s, const actor *a)
{
    const mach_work *w = a->w;

    if (w->unit == MACH_WORK_NCE && !in_detail(s, a))
        slice(s, track(s, a, "NCE", 0), a->stage, a->end, w);
    else if (w->unit == MACH_WORK_COPY)
        slice(s, track(s, a, "DMA", 0), a->stage, a->end, w);
    for (uint32_t i = 0;
         (w->unit == MACH_WORK_SHAVE || w->unit == MACH_WORK_LAUNCH) &&
         i < w->n_shaves;
         i++)
        slice(s, track(s, a, "SHAVE", i), a->stage, a->end, w);
}

/* --- the units ----------------------------------------------------------- */

static void flow_from(machine *s, uint32_t i, uint64_t bytes, uint64_t work,
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

static void stage_ended(machine *s, uint32_t executor);

static void done(machine *s, uint32_t i)
{
    actor *a = &s->actors[i];

    a->state = DONE;
    a->next = NEVER;
    a->end = s->now;
    if (--s->executors[a->executor].left == 0)
        stage_ended(s, a->executor);
}

/* While the engine is set up its weights arrive. They come in long bursts,
 * faster than the accesses of SHAVEs reach: they are so many bytes of those as
 * take as long. */
static void begin_descriptor(machine *s, uint32_t i)
{
    actor *a = &s->actors[i];
    const mach_desc *d = s->desc;
    uint64_t weights, bytes, fetch;

    if (a->at == a->w->n_descriptors) {
        done(s, i);
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

static void end_flow(machine *s, uint32_t i)
{
    if (s->flows.flows[i].counted)
        flow_end(&s->flows, i, s->now);
}

static void nce_event(machine *s, uint32_t i)
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

static void begin_other(machine *s, uint32_t i)
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
    } else if (w->unit == MACH_WORK_LAUNCH) {
        flow_from(s, i, w->ddr_in + w->ddr_out, w->cycles, false);
    } else {
        a->state = COMPUTE;
        a->next = s->now;
    }
}

static void act(machine *s, uint32_t i)
{
    actor *a = &s->actors[i];
    bool engine = a->w->unit == MACH_WORK_NCE;

    if (a->state == BEGIN) {
        a->stage = s->now;
        if (engine)
            begin_descriptor(s, i);
        else
            begin_other(s, i);
    } else if (engine) {
        nce_event(s, i);
    } else {
        end_flow(s, i);
        done(s, i);
    }
}

/* --- executors ----------------------------------------------------------- */

/* A launch's cycles have its own beginning in them. */
static void begin_stage(machine *s, uint32_t e, uint64_t at)
{
    executor *x = &s->executors[e];
    const mach_stage *stage = &s->stages[x->at];

    x->begin = at;
    x->left = stage->n;
    for (uint32_t k = 0; k < stage->n; k++) {
        const mach_work *w = &stage->works[k];
        bool launch = w->unit == MACH_WORK_LAUNCH;

        s->actors[e * MACH_MAX_WORKS + k] =
            (actor){.w = w,
                    .executor = e,
                    .state = BEGIN,
                    .next = at + (launch ? 0 : s->desc->native_stage)};
    }
}

static void begin_inference(machine *s, uint32_t e, uint64_t at)
{
    executor *x = &s->executors[e];

    x->at = 0;
    x->begun[x->round] = at;
    x->drawn = x->rounds == 1 || x->round == 1;
    begin_stage(s, e, at + s->fixed);
}

static void account(const machine *s, const actor *a)
{
    const mach_work *w = a->w;
    mach_profile *p = s->profile;

    p->groups++;
    if (w->unit == MACH_WORK_COPY) {
        p->dma_busy_cycles += a->end - a->stage;
        p->dma_in_bytes += w->ddr_in;
        p->dma_out_bytes += w->ddr_out;
    }
    for (uint32_t i = 0; w->unit == MACH_WORK_SHAVE && i < w->n_shaves; i++) {
        uint64_t busy = (uint64_t)(w->issue / w->n_shaves);

        busy = busy < a->end - a->stage ? busy : a->end - a->stage;
        p->by_cause[i][MACH_CAUSE_ISSUE] += busy;
        p->by_cause[i][MACH_CAUSE_DDR] += a->end - a->stage - busy;
        p->shave_groups[i]++;
    }
    if (w->unit == MACH_WORK_SHAVE) {
        p->load_bytes += w->ddr_in;
        p->store_bytes += w->ddr_out;
    }
}

/* All executors are busy in it. */
static bool measured(uint32_t round)
{
    return round && round < ROUNDS - 1;
}

static void stage_ended(machine *s, uint32_t e)
{
    executor *x = &s->executors[e];
    const mach_stage *stage = &s->stages[x->at];
    const actor *first = &s->actors[e * MACH_MAX_WORKS];

    for (uint32_t k = 0; k < stage->n; k++) {
        account(s, first + k);
        if (drawn(s, first + k))
            draw(s, first + k);
    }
    if (s->stage_cycles && measured(x->round))
        s->stage_cycles[x->at] += (double)(s->now - x->begin);
    if (drawn(s, first))
        slice(s, trc_track_slices(s->trace, x->group, "stages", TRC_CYCLES),
              x->begin, s->now, stage->works);
    if (++x->at < s->n_stages) {
        begin_stage(s, e, s->now);
        return;
    }
    x->ended[x->round++] = s->now;
    if (x->round < x->rounds)
        begin_inference(s, e, s->now);
}

/* --- the loop ------------------------------------------------------------ */

static uint32_t earliest(const machine *s)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < s->n * MACH_MAX_WORKS; i++)
        if (s->actors[i].next < s->actors[best].next)
            best = i;
    return best;
}

static void replay(machine *s)
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
        act(s, i);
    }
}

static void prepare(machine *s)
{
    const mach_desc *d = s->desc;
    double per_cycle = d->ddr_eff_bw * 1000 / (double)d->clk_mhz;

    flow_init(&s->flows, (uint64_t)(per_cycle * (1 << FLOW_Q) + 0.5), 0);
    for (uint32_t i = 0; i < N_ACTORS; i++)
        s->actors[i].next = NEVER;
}

static vpu_status check_stage(const mach_desc *d, const mach_stage *stage,
                              uint32_t n, vpu_error *err)
{
    if (!stage->n || stage->n > MACH_MAX_WORKS)
        return err_set(err, VPU_ERR_INVALID, "%u works, it is 1 to %d",
                       stage->n, MACH_MAX_WORKS);
    for (uint32_t k = 0; k < stage->n; k++) {
        const mach_work *w = &stage->works[k];
        bool shaves = w->unit == MACH_WORK_SHAVE || w->unit == MACH_WORK_LAUNCH;

        if (shaves && (!w->n_shaves || w->n_shaves > MACH_MAX_SHAVES ||
                       (uint64_t)w->n_shaves * n > d->num_shaves))
            return err_set(err, VPU_ERR_INVALID,
                           "stage %s takes %u SHAVEs in each of %u executors; "
                           "1 to %llu are there: run it on fewer",
                           w->name ? w->name : "?", w->n_shaves, n,
                           (unsigned long long)d->num_shaves / n);
    }
    return VPU_OK;
}

vpu_status mach_stage_run(const mach_desc *desc, const mach_work *works,
                          uint32_t n, uint64_t start_cycle, trc_writer *trace,
                          mach_profile *profile, vpu_error *err)
{
    const mach_stage stage = {works, n};
    machine s = {.desc = desc,
                 .stages = &stage,
                 .n_stages = 1,
                 .n = 1,
                 .start = start_cycle,
                 .trace = trace,
                 .profile = profile};
    vpu_status st = check_stage(desc, &stage, 1, err);

    *profile = (mach_profile){0};
    for (uint32_t k = 0; !st && k < n; k++)
        if (works[k].unit == MACH_WORK_LAUNCH)
            st = err_set(err, VPU_ERR_INVALID, "%s is a kernel's launch",
                         works[k].name);
    if (st)
        return st;
    prepare(&s);
    s.executors[0].rounds = 1;
    if (trace)
        s.executors[0].group = trc_track_group(trace, 0, "device");
    begin_inference(&s, 0, 0);
    replay(&s);
    profile->cycles = s.now;
    return VPU_OK;
}

/* The length of one inference alone. */
static uint64_t alone(machine s)
{
    s.trace = NULL;
    s.n = 1;
    s.executors[0].rounds = 1;
    begin_inference(&s, 0, 0);
    replay(&s);
    return s.executors[0].ended[0];
}

/* Executors are never idle: each gives a result as often as it takes for one.
 */
static void measure(const machine *s, mach_executors_result *out)
{
    uint64_t cycles = 0, n = 0;

    for (uint32_t e = 0; e < s->n; e++)
        for (uint32_t i = 0; i < ROUNDS; i++)
            if (measured(i)) {
                cycles += s->executors[e].ended[i] - s->executors[e].begun[i];
                n++;
            }
    out->latency = (double)cycles / (double)n;
    out->period = out->latency / s->n;
    for (uint32_t i = 0; i < s->n_stages && s->stage_cycles; i++)
        s->stage_cycles[i] /= (double)n;
}

vpu_status mach_executors_run(const mach_desc *desc, const mach_stage *stages,
                              uint32_t n_stages, uint32_t n, uint64_t fixed,
                              trc_writer *trace, double *stage_cycles,
                              mach_executors_result *out, vpu_error *err)
{
    mach_profile unused = {0};
    machine s = {.desc = desc,
                 .stages = stages,
                 .n_stages = n_stages,
                 .fixed = fixed,
                 .n = n,
                 .trace = trace,
                 .profile = &unused};
    vpu_status st = VPU_OK;
    uint64_t length;

    if (!n_stages)
        return err_set(err, VPU_ERR_INVALID, "no stage");
    if (!n || n > desc->nce_engines || n > MACH_MAX_EXECUTORS)
        return err_set(err, VPU_ERR_INVALID,
                       "%u executors, each with an engine: the machine has "
                       "%llu, and at most %d are modelled",
                       n, (unsigned long long)desc->nce_engines,
                       MACH_MAX_EXECUTORS);
    for (uint32_t i = 0; i < n_stages && !st; i++)
        st = check_stage(desc, &stages[i], n, err);
    if (st)
        return st;
    prepare(&s);
    length = alone(s);
    for (uint32_t e = 0; e < n; e++) {
        char name[32];

        snprintf(name, sizeof name, "executor %u", e);
        s.executors[e].rounds = ROUNDS;
        if (trace)
            s.executors[e].group = trc_track_group(trace, 0, name);
        begin_inference(&s, e, length * e / n);
    }
    for (uint32_t i = 0; i < n_stages && stage_cycles; i++)
        stage_cycles[i] = 0;
    s.stage_cycles = stage_cycles;
    replay(&s);
    measure(&s, out);
    return VPU_OK;
}
