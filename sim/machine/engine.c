/* The discrete-event replay: SHAVEs and DMA channels as actors over one clock.
 *
 *   actors   [ DMA 0 .. DMA c-1 | SHAVE 0 .. SHAVE n-1 ]   next[] = wake cycle
 *
 * The loop takes the earliest actor (of equals the first, so channels free
 * their waiters before SHAVEs look) and lets it act. A SHAVE runs ahead on its
 * own clock s->t through everything that concerns only itself, and stops at
 * the first thing others can see (a flow, a transfer, a wait) until the common
 * clock is there. Rates are shared again only when the clock moves on after a
 * flow started or ended under contention. */
#include "sim/machine/engine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine/emit.h"
#include "sim/machine/flow.h"

#define NEVER UINT64_MAX

enum { N_SLOTS = 2, MAX_CHANNELS = 16 };

/* A group in the queue; positions count from the queue's head. */
typedef struct {
    uint64_t id;
    uint32_t end;
    uint32_t phase_at[MACH_N_PHASES], phase_end[MACH_N_PHASES];
    uint32_t n_transfers;
} group;

/* Transfers of one phase of one slot. They start in order of number, so what
 * has not started is known by a count alone. */
typedef struct {
    uint32_t first, issued, started, ended;
} phase_transfers;

typedef enum { CHOOSE, ENTER, STEPS, RUNNING, DRAIN, DONE } shave_state;

typedef struct {
    shave_state state;
    uint64_t t;         /* accounted up to here */
    uint64_t n_loaded;  /* groups taken from the queue */
    uint64_t n_retired; /* groups done */
    uint64_t pos;       /* of the group whose phase is running, from 0 */
    mach_phase phase;
    bool any;     /* some phase has been chosen */
    bool charged; /* the step's own cycles are accounted */
    bool blocked; /* waits for transfers, since t */
    uint32_t at;  /* step in the queue, from its head */
    uint32_t loaded_end;
    group groups[N_SLOTS];
    phase_transfers transfers[N_SLOTS][MACH_N_PHASES];
} shave;

typedef struct {
    uint32_t shave, slot, number;
    mach_phase phase;
    uint64_t group;
    mach_transfer t;
} request;

typedef struct {
    bool busy, flowing;
    uint64_t begin;
    request r;
} channel;

typedef struct {
    const mach_desc *d;
    const mach_launch *l;
    mach_profile *p;
    vpu_error *err;
    emitter *trace;
    uint64_t now;
    uint32_t n_channels, n_actors, n_active;
    uint64_t next[FLOW_MAX];
    flow_set flows;
    channel channels[MAX_CHANNELS];
    shave shaves[MACH_MAX_SHAVES];
    mach_queue queues[MACH_MAX_SHAVES];
    request *waiting; /* ring of cap_waiting, a power of two */
    uint32_t waiting_head, n_waiting, cap_waiting;
} engine;

static const char *const cause_names[] = {
    [MACH_CAUSE_ISSUE] = "issue",         [MACH_CAUSE_L2] = "L2 stall",
    [MACH_CAUSE_DDR] = "DDR stall",       [MACH_CAUSE_STORE] = "store stall",
    [MACH_CAUSE_DMA_SETUP] = "DMA setup", [MACH_CAUSE_DMA_WAIT] = "DMA wait",
    [MACH_CAUSE_DISPATCH] = "dispatch",   [MACH_CAUSE_IDLE] = "idle",
};

const char *mach_cause_name(mach_cause c)
{
    return (unsigned)c < MACH_N_CAUSES ? cause_names[c] : "unknown";
}

mach_step *mach_queue_push(mach_queue *q, mach_step_kind kind)
{
    if (q->n == q->cap && q->head && q->head >= q->cap / 2) {
        q->n -= q->head;
        memmove(q->items, q->items + q->head, q->n * sizeof *q->items);
        q->head = 0;
    } else if (q->n == q->cap) {
        uint32_t cap = q->cap ? 2 * q->cap : 256;
        mach_step *items =
            cap > q->cap ? realloc(q->items, cap * sizeof *items) : NULL;

        if (!items)
            return NULL;
        q->items = items;
        q->cap = cap;
    }
    q->items[q->n] = (mach_step){.kind = kind};
    return &q->items[q->n++];
}

/* --- accounting --------------------------------------------------------- */

static inline void account(engine *e, uint32_t i, mach_cause cause,
                           uint64_t cycles)
{
    shave *s = &e->shaves[i];

    if (!cycles)
        return;
    e->p->by_cause[i][cause] += cycles;
    if (e->trace)
        emit_cause(e->trace, i, s->t, cycles, cause);
    s->t += cycles;
}

static void add_saturating(uint32_t *sum, uint32_t n)
{
    *sum = *sum > UINT32_MAX - n ? UINT32_MAX : *sum + n;
}

static void count_memory(mach_profile *p, const mach_mem_counts *m,
                         uint64_t ddr_bytes)
{
    add_saturating(&p->mem.load_l1_hits, m->load_l1_hits);
    add_saturating(&p->mem.load_l2_hits, m->load_l2_hits);
    add_saturating(&p->mem.load_fills, m->load_fills);
    add_saturating(&p->mem.stores, m->stores);
    add_saturating(&p->mem.store_fills, m->store_fills);
    add_saturating(&p->mem.write_backs, m->write_backs);
    p->mem.load_bytes += m->load_bytes;
    p->mem.store_bytes += m->store_bytes;
    p->load_bytes += m->load_bytes;
    p->store_bytes += m->store_bytes;
    p->ddr_bytes += ddr_bytes;
}

/* --- a RUN step --------------------------------------------------------- */

typedef struct {
    uint64_t issue, l2, ddr, store; /* cycles when alone */
    uint64_t bytes;                 /* on DDR */
} run_cost;

/* Stores leave through a buffer of posted stores; each holds an entry while it
 * is on its way (as long as a load of the same kind would stall). Only what the
 * rest of the step does not cover is a stall, and a handful of stores that all
 * fit into the buffer never is. */
static run_cost cost_of(const mach_desc *d, const mach_step *step)
{
    const mach_mem_counts *m = &step->u.mem;
    run_cost c = {.issue = step->issue_cycles};
    uint64_t fills = m->store_fills, hits, held, covered;

    c.l2 =
        m->load_l1_hits * d->l1_hit_stall + m->load_l2_hits * d->l2_hit_stall;
    c.ddr = m->load_fills * d->ddr_load_stall;
    c.bytes = ((uint64_t)m->load_fills + m->store_fills + m->write_backs) *
              d->l2_line;
    if (m->stores > d->store_buffer) {
        hits = m->stores > fills ? m->stores - fills : 0;
        held = (hits * d->l2_hit_stall + fills * d->ddr_load_stall +
                d->store_buffer - 1) /
               d->store_buffer;
        covered = c.issue + c.l2 + c.ddr;
        c.store = held > covered ? held - covered : 0;
    }
    return c;
}

static void account_run(engine *e, uint32_t i, const mach_step *step,
                        const run_cost *c, uint64_t stretch)
{
    account(e, i, MACH_CAUSE_ISSUE, c->issue);
    account(e, i, MACH_CAUSE_L2, c->l2);
    account(e, i, MACH_CAUSE_DDR, c->ddr);
    account(e, i, MACH_CAUSE_STORE, c->store);
    account(e, i, step->u.mem.load_fills ? MACH_CAUSE_DDR : MACH_CAUSE_STORE,
            stretch);
    count_memory(e->p, &step->u.mem, c->bytes);
}

/* --- DMA ---------------------------------------------------------------- */

static void start_transfer(engine *e, uint32_t c, const request *r)
{
    channel *ch = &e->channels[c];

    *ch = (channel){.busy = true, .begin = e->now, .r = *r};
    e->shaves[r->shave].transfers[r->slot][r->phase].started++;
    e->next[c] = e->now + (e->d->dma_first_byte ? e->d->dma_first_byte : 1);
}

static vpu_status request_transfer(engine *e, const request *r)
{
    for (uint32_t c = 0; c < e->n_channels; c++)
        if (!e->channels[c].busy) {
            start_transfer(e, c, r);
            return VPU_OK;
        }
    if (e->n_waiting == e->cap_waiting) {
        uint32_t cap = e->cap_waiting ? 2 * e->cap_waiting : 64;
        request *ring = malloc(cap * sizeof *ring);

        if (!ring)
            return err_set(e->err, VPU_ERR_NOMEM,
                           "no memory for %u waiting transfers", e->n_waiting);
        for (uint32_t k = 0; k < e->n_waiting; k++)
            ring[k] = e->waiting[(e->waiting_head + k) & (e->cap_waiting - 1)];
        free(e->waiting);
        e->waiting = ring;
        e->waiting_head = 0;
        e->cap_waiting = cap;
    }
    e->waiting[(e->waiting_head + e->n_waiting++) & (e->cap_waiting - 1)] = *r;
    return VPU_OK;
}

static void end_transfer(engine *e, uint32_t c)
{
    channel *ch = &e->channels[c];
    request *r = &ch->r;
    shave *s = &e->shaves[r->shave];

    if (ch->flowing)
        flow_end(&e->flows, c);
    ch->busy = false;
    e->next[c] = NEVER;
    s->transfers[r->slot][r->phase].ended++;
    e->p->transfers++;
    e->p->dma_busy_cycles += e->now - ch->begin;
    e->p->ddr_bytes += r->t.bytes;
    *(r->t.to_cmx ? &e->p->dma_in_bytes : &e->p->dma_out_bytes) += r->t.bytes;
    emit_transfer(e->trace, c, ch->begin, e->now, r->shave, r->group, &r->t);
    if (s->blocked)
        e->next[e->n_channels + r->shave] = e->now; /* looks again itself */
    if (e->n_waiting) {
        start_transfer(e, c, &e->waiting[e->waiting_head]);
        e->waiting_head = (e->waiting_head + 1) & (e->cap_waiting - 1);
        e->n_waiting--;
    }
}

/* The first byte is there: the rest is a flow. */
static void channel_event(engine *e, uint32_t c)
{
    channel *ch = &e->channels[c];
    const mach_transfer *t = &ch->r.t;
    uint64_t bus = e->d->dma_bus_bytes, work;

    work = t->bytes / bus + (t->bytes % bus != 0) +
           t->lines * e->d->dma_line_overhead;
    if (ch->flowing || !work) {
        end_transfer(e, c);
        return;
    }
    ch->flowing = true;
    if (t->bytes)
        flow_start(&e->flows, c, e->now, t->bytes, work);
    else
        e->flows.flows[c] = (flow){.finish = e->now + work};
    e->next[c] = e->flows.flows[c].finish;
}

static bool all_ended(const shave *s, uint64_t slot, mach_phase phase)
{
    const phase_transfers *p = &s->transfers[slot][phase];

    return p->ended == p->issued;
}

/* Whether the transfers of s's current group and phase below number ended. */
static bool ended_below(const engine *e, uint32_t i, uint64_t number)
{
    const shave *s = &e->shaves[i];
    uint32_t slot = (uint32_t)(s->pos % N_SLOTS);
    const phase_transfers *p = &s->transfers[slot][s->phase];

    if (p->ended == p->issued)
        return true;
    if (p->started < p->issued && p->first + p->started < number)
        return false;
    for (uint32_t c = 0; c < e->n_channels; c++) {
        const channel *ch = &e->channels[c];

        if (ch->busy && ch->r.shave == i && ch->r.slot == slot &&
            ch->r.phase == s->phase && ch->r.number < number)
            return false;
    }
    return true;
}

/* --- groups and phases -------------------------------------------------- */

static const mach_step *step_at(const engine *e, uint32_t i, uint32_t at)
{
    return &e->queues[i].items[e->queues[i].head + at];
}

static vpu_status make_available(engine *e, uint32_t i, bool *there)
{
    mach_queue *q = &e->queues[i];
    vpu_status st;

    *there = q->n - q->head > e->shaves[i].loaded_end;
    if (*there || q->ended)
        return VPU_OK;
    st = e->l->refill(e->l->user, e->queues, e->l->n_shaves, e->err);
    *there = q->n - q->head > e->shaves[i].loaded_end;
    if (!st && !*there && !q->ended)
        st = err_set(e->err, VPU_ERR_INVALID,
                     "SHAVE %u was given neither a group nor the end", i);
    return st;
}

/* Take the next group of the queue; *there false when none is left. */
static vpu_status load_group(engine *e, uint32_t i, bool *there)
{
    shave *s = &e->shaves[i];
    group *g = &s->groups[s->n_loaded % N_SLOTS];
    uint32_t at = s->loaded_end, n, phase = MACH_COMP;
    vpu_status st = make_available(e, i, there);

    if (st || !*there)
        return st;
    if (step_at(e, i, at)->kind != MACH_STEP_GROUP)
        return err_set(e->err, VPU_ERR_INVALID,
                       "the steps of SHAVE %u do not begin with a group", i);
    n = e->queues[i].n - e->queues[i].head;
    *g = (group){.id = step_at(e, i, at)->id};
    g->phase_at[phase] = g->phase_end[phase] = ++at;
    for (; at < n && step_at(e, i, at)->kind != MACH_STEP_GROUP; at++) {
        if (step_at(e, i, at)->kind == MACH_STEP_PHASE) {
            phase = (uint32_t)step_at(e, i, at)->id;
            if (phase >= MACH_N_PHASES)
                return err_set(e->err, VPU_ERR_INVALID, "no phase %u", phase);
            g->phase_at[phase] = at + 1;
        }
        g->phase_end[phase] = at + 1;
    }
    g->end = s->loaded_end = at;
    s->n_loaded++;
    account(e, i, MACH_CAUSE_DISPATCH, e->d->wg_dispatch);
    return VPU_OK;
}

static void retire_group(engine *e, uint32_t i)
{
    shave *s = &e->shaves[i];
    uint32_t gone = s->groups[s->n_retired % N_SLOTS].end;
    group *other = &s->groups[(s->n_retired + 1) % N_SLOTS];

    e->queues[i].head += gone;
    s->loaded_end -= gone;
    s->n_retired++;
    e->p->groups++;
    e->p->shave_groups[i]++;
    if (s->n_loaded > s->n_retired) {
        other->end -= gone;
        for (int p = 0; p < MACH_N_PHASES; p++) {
            if (other->phase_end[p]) {
                other->phase_at[p] -= gone;
                other->phase_end[p] -= gone;
            }
        }
    }
}

/* Decide which phase follows; the picture in engine.h is this function. */
static vpu_status choose_phase(engine *e, uint32_t i)
{
    shave *s = &e->shaves[i];
    bool there = true;
    vpu_status st = VPU_OK;

    if (s->any && s->phase == MACH_COMP) {
        s->phase = MACH_POST;
    } else if (s->any && s->phase == MACH_PRE &&
               (!e->l->double_buffered || s->pos > s->n_retired)) {
        s->phase = MACH_COMP;
        s->pos = s->n_retired;
    } else {
        /* Before pre(0), after pre(0), or after post(n). */
        if (s->any && s->phase == MACH_POST)
            retire_group(e, i);
        st = load_group(e, i, &there);
        if (st)
            return st;
        if (there) {
            s->phase = MACH_PRE;
            s->pos = s->n_loaded - 1;
        } else if (s->n_loaded > s->n_retired) {
            s->phase = MACH_COMP;
            s->pos = s->n_retired;
        } else {
            s->state = DRAIN;
            return VPU_OK;
        }
        s->any = true;
    }
    s->state = ENTER;
    return VPU_OK;
}

/* What the phase needs: its buffers filled and emptied, its transfer numbers
 * free for reuse. */
static bool may_enter(const shave *s)
{
    uint64_t slot = s->pos % N_SLOTS;

    if (s->phase != MACH_COMP)
        return all_ended(s, slot, s->phase);
    return all_ended(s, slot, MACH_PRE) && all_ended(s, slot, MACH_COMP) &&
           all_ended(s, slot, MACH_POST);
}

static void enter_phase(engine *e, uint32_t i)
{
    shave *s = &e->shaves[i];
    uint64_t slot = s->pos % N_SLOTS;
    group *g = &s->groups[slot];

    s->transfers[slot][s->phase] = (phase_transfers){.first = g->n_transfers};
    s->at = g->phase_at[s->phase];
    s->charged = false;
    s->state = STEPS;
    if (e->trace)
        emit_phase_begin(e->trace, i, s->t, g->id, s->phase);
}

/* --- SHAVEs ------------------------------------------------------------- */

/* The SHAVE is about to do something others can see. False: the common clock
 * is not there yet; it will be called again then. */
static bool in_step(engine *e, uint32_t i)
{
    shave *s = &e->shaves[i];

    if (s->t <= e->now)
        return true;
    e->next[e->n_channels + i] = s->t;
    return false;
}

/* Wait for transfers until ready. False: not yet. */
static bool wait_until(engine *e, uint32_t i, bool ready)
{
    shave *s = &e->shaves[i];

    if (!ready) {
        s->blocked = true;
        e->next[e->n_channels + i] = NEVER;
        return false;
    }
    if (s->blocked) {
        s->blocked = false;
        account(e, i, MACH_CAUSE_DMA_WAIT, e->now - s->t);
    }
    return true;
}

static bool run_step(engine *e, uint32_t i, const mach_step *step)
{
    uint32_t actor = e->n_channels + i;
    shave *s = &e->shaves[i];
    run_cost c = cost_of(e->d, step);
    uint64_t alone = c.issue + c.l2 + c.ddr + c.store;

    if (s->state == RUNNING) {
        flow_end(&e->flows, actor);
        s->state = STEPS;
        account_run(e, i, step, &c, e->now - s->t - alone);
        return true;
    }
    if (!c.bytes) {
        account_run(e, i, step, &c, 0);
        return true;
    }
    if (!in_step(e, i))
        return false;
    flow_start(&e->flows, actor, e->now, c.bytes, alone ? alone : 1);
    e->next[actor] = e->flows.flows[actor].finish;
    s->state = RUNNING;
    return false;
}

/* Do the step at s->at. False: it is not finished, the SHAVE sleeps. */
static bool do_step(engine *e, uint32_t i, vpu_status *st)
{
    shave *s = &e->shaves[i];
    const mach_step *step = step_at(e, i, s->at);
    uint32_t slot = (uint32_t)(s->pos % N_SLOTS);
    group *g = &s->groups[slot];
    request r;

    if (step->kind == MACH_STEP_RUN)
        return run_step(e, i, step);
    if (!s->charged) {
        account(e, i, MACH_CAUSE_ISSUE, step->issue_cycles);
        if (step->kind == MACH_STEP_DMA)
            account(e, i, MACH_CAUSE_DMA_SETUP, e->d->dma_setup);
        s->charged = true;
    }
    if (step->kind == MACH_STEP_WAIT && !all_ended(s, slot, s->phase)) {
        if (!s->blocked && !in_step(e, i))
            return false;
        if (!wait_until(e, i, ended_below(e, i, step->id)))
            return false;
    } else if (step->kind == MACH_STEP_WAIT) {
        wait_until(e, i, true);
    } else if (step->kind == MACH_STEP_DMA) {
        if (!in_step(e, i))
            return false;
        s->transfers[slot][s->phase].issued++;
        r = (request){i, slot, g->n_transfers++, s->phase, g->id, step->u.dma};
        *st = request_transfer(e, &r);
    }
    s->charged = false;
    return true;
}

static bool drained(const shave *s)
{
    for (uint64_t slot = 0; slot < N_SLOTS; slot++)
        for (int p = 0; p < MACH_N_PHASES; p++)
            if (!all_ended(s, slot, (mach_phase)p))
                return false;
    return true;
}

static void finish_shave(engine *e, uint32_t i)
{
    e->shaves[i].state = DONE;
    e->next[e->n_channels + i] = NEVER;
    e->n_active--;
    emit_active(e->trace, e->now, e->n_active);
}

static vpu_status limit_reached(engine *e)
{
    return err_set(e->err, VPU_ERR_LIMIT,
                   "the limit of %llu cycles was reached after %llu groups",
                   (unsigned long long)e->l->max_cycles,
                   (unsigned long long)e->p->groups);
}

/* Let SHAVE i act until it sleeps. */
static vpu_status shave_event(engine *e, uint32_t i)
{
    uint64_t limit = e->l->max_cycles ? e->l->max_cycles : NEVER;
    shave *s = &e->shaves[i];
    vpu_status st = VPU_OK;

    while (!st && s->state != DONE) {
        const group *g = &s->groups[s->pos % N_SLOTS];

        if (s->t > limit)
            return limit_reached(e);
        switch (s->state) {
        case CHOOSE:
            st = choose_phase(e, i);
            break;
        case ENTER:
            if (g->phase_at[s->phase] == g->phase_end[s->phase]) {
                s->state = CHOOSE; /* the group has no such phase */
                break;
            }
            if (!may_enter(s) && !s->blocked && !in_step(e, i))
                return VPU_OK;
            if (!wait_until(e, i, may_enter(s)))
                return VPU_OK;
            enter_phase(e, i);
            break;
        case STEPS:
        case RUNNING:
            if (s->at == g->phase_end[s->phase]) {
                emit_phase_end(e->trace, i, s->t);
                s->state = CHOOSE;
                break;
            }
            if (!do_step(e, i, &st))
                return st;
            s->at++;
            break;
        case DRAIN:
            if (!s->blocked && !in_step(e, i))
                return VPU_OK;
            if (!wait_until(e, i, drained(s)))
                return VPU_OK;
            finish_shave(e, i);
            break;
        case DONE:
            break;
        }
    }
    return st;
}

/* --- the loop ----------------------------------------------------------- */

static uint32_t earliest(const engine *e)
{
    uint32_t best = 0;

    for (uint32_t k = 1; k < e->n_actors; k++)
        if (e->next[k] < e->next[best])
            best = k;
    return best;
}

static vpu_status replay(engine *e)
{
    uint64_t limit = e->l->max_cycles ? e->l->max_cycles : NEVER;
    vpu_status st = VPU_OK;

    while (!st && e->n_active) {
        uint32_t k = earliest(e);
        uint64_t t = e->next[k];

        if (t > e->now && e->flows.dirty) {
            flow_share(&e->flows, e->now);
            for (uint32_t n = 0; n < e->flows.n_running; n++)
                e->next[e->flows.running[n]] =
                    e->flows.flows[e->flows.running[n]].finish;
            continue;
        }
        assert(t != NEVER && t >= e->now);
        if (t > limit)
            return limit_reached(e);
        if (e->trace && t > e->now)
            emit_ddr(e->trace, e->now, t, flow_total(&e->flows));
        e->now = t;
        if (k < e->n_channels)
            channel_event(e, k);
        else
            st = shave_event(e, k - e->n_channels);
    }
    return st;
}

static void begin_launch(engine *e)
{
    double per_cycle = e->d->ddr_eff_bw * 1000 / (double)e->d->clk_mhz;

    flow_init(&e->flows, (uint64_t)(per_cycle * (1 << FLOW_Q) + 0.5));
    e->n_channels = (uint32_t)e->d->dma_channels;
    e->n_active = e->l->n_shaves;
    e->n_actors = e->n_channels + e->l->n_shaves;
    emit_active(e->trace, 0, e->n_active);
    for (uint32_t c = 0; c < e->n_channels; c++)
        e->next[c] = NEVER;
    for (uint32_t i = 0; i < e->l->n_shaves; i++)
        account(e, i, MACH_CAUSE_DISPATCH, e->d->layer_fixed);
}

static void end_launch(engine *e)
{
    uint64_t most_issue = 0, issue = 0, bytes_cycles;
    mach_profile *p = e->p;

    for (uint32_t i = 0; i < e->l->n_shaves; i++)
        if (e->shaves[i].t > p->cycles)
            p->cycles = e->shaves[i].t;
    for (uint32_t i = 0; i < e->l->n_shaves; i++) {
        uint64_t sum = 0;

        account(e, i, MACH_CAUSE_IDLE, p->cycles - e->shaves[i].t);
        for (int c = 0; c < MACH_N_CAUSES; c++)
            sum += p->by_cause[i][c];
        assert(sum == p->cycles);
        (void)sum;
        issue += p->by_cause[i][MACH_CAUSE_ISSUE];
        if (p->by_cause[i][MACH_CAUSE_ISSUE] > most_issue)
            most_issue = p->by_cause[i][MACH_CAUSE_ISSUE];
    }
    if (p->cycles)
        p->utilisation = (double)issue / ((double)p->cycles * e->l->n_shaves);
    /* In two parts, so that bytes << Q cannot overflow. */
    bytes_cycles = p->ddr_bytes / e->flows.capacity << FLOW_Q;
    bytes_cycles +=
        ((p->ddr_bytes % e->flows.capacity) << FLOW_Q) / e->flows.capacity;
    p->baseline_cycles = most_issue + bytes_cycles;
}

vpu_status mach_run(const mach_desc *desc, const mach_launch *launch,
                    trc_writer *trace, mach_profile *profile, vpu_error *err)
{
    vpu_status st;
    engine *e;

    memset(profile, 0, sizeof *profile);
    if (!launch->n_shaves || launch->n_shaves > desc->num_shaves ||
        launch->n_shaves > MACH_MAX_SHAVES || desc->dma_channels > MAX_CHANNELS)
        return err_set(err, VPU_ERR_INVALID,
                       "a launch takes 1 to %llu SHAVEs, not %u",
                       (unsigned long long)desc->num_shaves, launch->n_shaves);
    if (!(e = calloc(1, sizeof *e)))
        return err_set(err, VPU_ERR_NOMEM, "no memory for the timing model");
    e->d = desc;
    e->l = launch;
    e->p = profile;
    e->err = err;
    e->trace = emit_create(trace, desc, launch);
    begin_launch(e);
    st = replay(e);
    if (!st)
        end_launch(e);
    emit_destroy(e->trace, profile, !st);
    for (uint32_t i = 0; i < launch->n_shaves; i++)
        free(e->queues[i].items);
    free(e->waiting);
    free(e);
    return st;
}
