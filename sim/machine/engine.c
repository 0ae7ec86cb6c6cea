/* The discrete-event replay: SHAVEs and DMA channels as actors over one clock.
 *
 *   actors   [ DMA 0 .. DMA c-1 | SHAVE 0 .. SHAVE n-1 ]   wakes[] = when
 *
 * The loop takes the earliest actor (of equals the first, so channels free
 * their waiters before SHAVEs look) and lets it act. A SHAVE runs ahead on its
 * own clock s->accounted through everything that concerns only itself, and
 * stops at the first thing others can see (a flow, a transfer, a wait) until
 * the common clock is there. Rates are shared again only when the clock moves
 * on after a flow started or ended under contention. */
#include "sim/machine/engine_priv.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(FLOW_MAX < 1 << ACTOR_BITS, "actors have other numbers");

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

uint64_t mach_profile_sum(const mach_profile *p, uint32_t n_shaves,
                          mach_cause c)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < n_shaves; i++)
        n += p->by_cause[i][c];
    return n;
}

/* --- shared with the other parts ----------------------------------------- */

void engine_account(engine *e, uint32_t i, mach_cause cause, uint64_t cycles)
{
    engine_shave *s = &e->shaves[i];

    if (!cycles)
        return;
    e->profile->by_cause[i][cause] += cycles;
    if (e->trace)
        emit_cause(e->trace, i, s->accounted, cycles, cause);
    s->accounted += cycles;
}

bool engine_in_step(engine *e, uint32_t i)
{
    engine_shave *s = &e->shaves[i];

    if (s->accounted <= e->now)
        return true;
    engine_wake(e, e->n_channels + i, s->accounted);
    return false;
}

/* --- groups and phases --------------------------------------------------- */

enum { HOST_LINE = 64 };

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
    st = e->launch->refill(e->launch->user, e->queues, e->launch->n_shaves,
                           e->err);
    *there = q->n - q->head > e->shaves[i].loaded_end;
    if (!st && !*there && !q->ended)
        st = err_set(e->err, VPU_ERR_INTERNAL,
                     "SHAVE %u was given neither a group nor the end", i);
    return st;
}

/* Transfers that something of a SHAVE needs. */
static const critical_set all_transfers = {
    (1 << N_SLOTS) - 1, (1 << MACH_N_PHASES) - 1, UINT64_MAX};

static bool have_ended(const engine_shave *s, critical_set set)
{
    if (!s->open)
        return true;
    for (uint32_t slot = 0; slot < N_SLOTS; slot++)
        for (uint32_t p = 0; p < MACH_N_PHASES; p++)
            if (set.slots >> slot & 1 && set.phases >> p & 1 &&
                !engine_all_ended(s, slot, (mach_phase)p))
                return false;
    return true;
}

/* Is the group the queue has at `at` one RUN step without lines of DDR? */
static bool is_quiet(const mach_queue *q, uint32_t at)
{
    const mach_step *step = &q->items[at];

    if (step->like)
        return true;
    return at + 1 < q->n && step[1].kind == MACH_STEP_RUN &&
           (at + 2 == q->n || step[2].kind == MACH_STEP_GROUP) &&
           !mach_moves_lines(&step[1].detail.mem);
}

/* Whether the SHAVE does nothing else beside its next groups: no transfer is on
 * its way. */
static bool is_alone(const engine *e, uint32_t i)
{
    const engine_shave *s = &e->shaves[i];

    return !e->launch->transactions && s->n_loaded == s->n_retired &&
           have_ended(s, all_transfers);
}

/* The quiet group at the queue's head, those it stands for, and perhaps more
 * behind them. How many groups; 0, and nothing has changed: they end behind the
 * launch's limit. */
static uint64_t pass_groups(engine *e, uint32_t i)
{
    mach_queue *q = &e->queues[i];
    const mach_step *group = &q->items[q->head];
    const mach_step *run = mach_queue_run_of(q, q->head);
    bool shown = e->trace && !e->merges;
    uint64_t n = group->more + UINT64_C(1);

    if (group->like && !shown)
        return engine_run_likes(e, i);
    if (!(shown ? engine_run_shown(e, i, group, run, n)
                : engine_run_unseen(e, i, run, n)))
        return 0;
    q->head += mach_queue_items_of(q, q->head);
    return n;
}

/* Does groups that no other SHAVE notices at once, up to the launch's limit.
 * *there: another is left. */
static vpu_status pass_quiet(engine *e, uint32_t i, bool *there)
{
    mach_queue *q = &e->queues[i];
    bool alone = is_alone(e, i);
    vpu_status st = VPU_OK;
    uint32_t at;

    while (!st && *there && alone && is_quiet(q, q->head)) {
        uint64_t n = pass_groups(e, i);

        if (!n)
            break;
        e->profile->groups += n;
        e->profile->shave_groups[i] += n;
        if (q->n == q->head)
            st = make_available(e, i, there);
    }
    at = q->head + e->shaves[i].loaded_end;
    if (st || !*there || !(q->items[at].more || q->items[at].like))
        return st;
    if (e->launch->transactions || !is_quiet(q, at))
        return err_set(e->err, VPU_ERR_INTERNAL,
                       "a group stands for others that cannot be like it");
    if (!mach_queue_part(q, at))
        return err_set(e->err, VPU_ERR_NOMEM, "no memory for steps");
    return VPU_OK;
}

/* The queue's next items were written long ago, perhaps by another thread: a
 * group that stands for itself and its step, and one that does not. */
static void fetch_next(const mach_queue *q, uint32_t at)
{
    const char *next = (const char *)&q->items[at];

    if (at + 1 < q->n)
        for (uint32_t k = 0; k < 6 * sizeof(mach_step); k += HOST_LINE)
            __builtin_prefetch(next + k);
}

/* Most groups that move lines are one RUN step of a SHAVE that has no other
 * group and no transfer on its way. Such a group enters no phase but this: its
 * step is done where it lies. False: the next group is another one, or begins
 * behind the launch's limit. */
static bool enter_lone(engine *e, uint32_t i)
{
    engine_shave *s = &e->shaves[i];
    const mach_queue *q = &e->queues[i];
    const mach_step *group = &q->items[q->head];
    uint32_t n = q->n - q->head;

    if (n < 2 || group->kind != MACH_STEP_GROUP ||
        group[1].kind != MACH_STEP_RUN ||
        (n > 2 && group[2].kind != MACH_STEP_GROUP) ||
        e->launch->double_buffered || !is_alone(e, i) ||
        s->accounted + e->desc->wg_dispatch > e->limit)
        return false;
    engine_account(e, i, MACH_CAUSE_DISPATCH, e->desc->wg_dispatch);
    fetch_next(q, q->head + 2);
    s->pos = s->n_loaded;
    s->groups[s->pos % N_SLOTS].id = group->id;
    s->phase = MACH_COMP;
    s->any = s->lone = true;
    if (e->trace)
        engine_begin_lone(e, i, group->id);
    s->state = STEPS;
    return true;
}

/* False: the SHAVE sleeps. */
static bool do_lone(engine *e, uint32_t i)
{
    engine_shave *s = &e->shaves[i];

    if (!engine_run_step(e, i, step_at(e, i, 1)))
        return false;
    if (s->accounted > e->limit) /* it has not ended */
        return true;
    if (e->trace)
        engine_end_lone(e, i);
    e->queues[i].head += 2;
    e->profile->groups++;
    e->profile->shave_groups[i]++;
    s->lone = false;
    s->phase = MACH_POST;
    s->state = CHOOSE;
    return true;
}

/* Take the next group of the queue; *there false when none is left. */
static vpu_status load_group(engine *e, uint32_t i, bool *there)
{
    engine_shave *s = &e->shaves[i];
    uint32_t at = s->loaded_end, n, phase = MACH_COMP;
    vpu_status st = make_available(e, i, there);
    engine_group *g;

    if (!st)
        st = pass_quiet(e, i, there);
    if (st || !*there || enter_lone(e, i))
        return st;
    g = &s->groups[s->n_loaded % N_SLOTS];
    if (step_at(e, i, at)->kind != MACH_STEP_GROUP)
        return err_set(e->err, VPU_ERR_INTERNAL,
                       "the steps of SHAVE %u do not begin with a group", i);
    n = e->queues[i].n - e->queues[i].head;
    *g = (engine_group){.id = step_at(e, i, at)->id};
    g->phase_at[phase] = g->phase_end[phase] = ++at;
    for (; at < n && step_at(e, i, at)->kind != MACH_STEP_GROUP; at++) {
        if (step_at(e, i, at)->kind == MACH_STEP_PHASE) {
            phase = (uint32_t)step_at(e, i, at)->id;
            if (phase >= MACH_N_PHASES)
                return err_set(e->err, VPU_ERR_INTERNAL, "no phase %u", phase);
            g->phase_at[phase] = at + 1;
        }
        g->phase_end[phase] = at + 1;
    }
    g->end = s->loaded_end = at;
    s->n_loaded++;
    fetch_next(&e->queues[i], e->queues[i].head + at);
    engine_account(e, i, MACH_CAUSE_DISPATCH, e->desc->wg_dispatch);
    return VPU_OK;
}

static void retire_group(engine *e, uint32_t i)
{
    engine_shave *s = &e->shaves[i];
    uint32_t gone = s->groups[s->n_retired % N_SLOTS].end;
    engine_group *other = &s->groups[(s->n_retired + 1) % N_SLOTS];

    for (uint32_t k = 0; k < gone && e->launch->transactions; k++)
        free(e->queues[i].items[e->queues[i].head + k].misses);
    e->queues[i].head += gone;
    s->loaded_end -= gone;
    s->n_retired++;
    e->profile->groups++;
    e->profile->shave_groups[i]++;
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
static vpu_status next_phase(engine *e, uint32_t i)
{
    engine_shave *s = &e->shaves[i];
    bool there = true;
    vpu_status st = VPU_OK;

    if (s->any && s->phase == MACH_COMP) {
        s->phase = MACH_POST;
    } else if (s->any && s->phase == MACH_PRE &&
               (!e->launch->double_buffered || s->pos > s->n_retired)) {
        s->phase = MACH_COMP;
        s->pos = s->n_retired;
    } else {
        /* Before pre(0), after pre(0), or after post(n). */
        if (s->any && s->phase == MACH_POST && s->n_loaded > s->n_retired)
            retire_group(e, i);
        st = load_group(e, i, &there);
        if (st || s->lone)
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

/* Most groups have one phase of the three. */
static bool has_phase(const engine_shave *s)
{
    const engine_group *g = &s->groups[s->pos % N_SLOTS];

    return g->phase_at[s->phase] != g->phase_end[s->phase];
}

static uint32_t phase_end(const engine_shave *s)
{
    return s->groups[s->pos % N_SLOTS].phase_end[s->phase];
}

static vpu_status choose_phase(engine *e, uint32_t i)
{
    const engine_shave *s = &e->shaves[i];
    vpu_status st;

    do
        st = next_phase(e, i);
    while (!st && s->state == ENTER && !has_phase(s) &&
           s->accounted <= e->limit);
    return st;
}

critical_set engine_needs(const engine *e, const engine_shave *s)
{
    critical_set set = all_transfers;

    if (e->launch->one_buffer && s->phase == MACH_PRE)
        return set;
    set.slots = 1u << s->pos % N_SLOTS;
    if (s->phase != MACH_COMP)
        set.phases = 1u << s->phase;
    return set;
}

static void enter_phase(engine *e, uint32_t i)
{
    engine_shave *s = &e->shaves[i];
    uint64_t slot = s->pos % N_SLOTS;
    engine_group *g = &s->groups[slot];

    s->transfers[slot][s->phase] =
        (engine_phase_transfers){.first = g->n_transfers};
    s->at = g->phase_at[s->phase];
    s->charged = false;
    s->state = STEPS;
    if (e->trace)
        emit_phase_begin(e->trace, i, s->accounted, g->id, s->phase);
}

/* --- SHAVEs -------------------------------------------------------------- */

/* Wait for transfers of the set until ready. False: not yet. */
static bool wait_until(engine *e, uint32_t i, bool ready, critical_set set)
{
    engine_shave *s = &e->shaves[i];

    if (!ready) {
        s->blocked = true;
        engine_sleep(e, e->n_channels + i);
        return false;
    }
    if (s->blocked) {
        s->blocked = false;
        engine_account(e, i, MACH_CAUSE_DMA_WAIT, e->now - s->accounted);
    }
    if (e->trace)
        emit_needs(e->trace, i, s->accounted, set);
    return true;
}

/* Do the step at s->at. False: it is not finished, the SHAVE sleeps. */
static bool do_step(engine *e, uint32_t i, vpu_status *st)
{
    engine_shave *s = &e->shaves[i];
    const mach_step *step = step_at(e, i, s->at);
    uint32_t slot = (uint32_t)(s->pos % N_SLOTS);
    engine_group *g = &s->groups[slot];
    const critical_set set = {1u << slot, 1u << s->phase, step->id};
    engine_transfer r;

    if (step->kind == MACH_STEP_RUN)
        return engine_run_step(e, i, step);
    if (!s->charged) {
        engine_account(e, i, MACH_CAUSE_ISSUE, step->issue_cycles);
        if (step->kind == MACH_STEP_DMA)
            engine_account(e, i, MACH_CAUSE_DMA_SETUP, e->desc->dma_setup);
        s->charged = true;
    }
    if (step->kind == MACH_STEP_WAIT && !engine_all_ended(s, slot, s->phase)) {
        if (!s->blocked && !engine_in_step(e, i))
            return false;
        if (!wait_until(e, i, engine_ended_below(e, i, step->id), set))
            return false;
    } else if (step->kind == MACH_STEP_WAIT) {
        wait_until(e, i, true, set);
    } else if (step->kind == MACH_STEP_DMA) {
        if (!engine_in_step(e, i))
            return false;
        s->transfers[slot][s->phase].issued++;
        s->open++;
        r = (engine_transfer){.shave = i,
                              .slot = slot,
                              .number = g->n_transfers++,
                              .phase = s->phase,
                              .group = g->id,
                              .transfer = step->detail.dma,
                              .asked = e->now};
        r.told =
            emit_asked(e->trace, e->now,
                       &(const critical_request){.shave = i,
                                                 .slot = slot,
                                                 .number = r.number,
                                                 .phase = r.phase,
                                                 .group = r.group,
                                                 .to_cmx = r.transfer.to_cmx});
        *st = engine_request(e, &r);
    }
    s->charged = false;
    return true;
}

static void finish_shave(engine *e, uint32_t i)
{
    e->shaves[i].state = DONE;
    engine_sleep(e, e->n_channels + i);
    e->n_active--;
    emit_active(e->trace, e->now, e->n_active);
}

static vpu_status limit_reached(engine *e)
{
    const mach_launch *l = e->launch;
    str who = {0};
    vpu_status st;

    engine_report(e, &who);
    st = err_set(e->err, VPU_ERR_LIMIT,
                 "%s%skernel '%s': over %llu cycles on the device's clock "
                 "(--max-cycles) after %llu of %llu work-groups%s",
                 l->name ? l->name : "", l->name ? ": " : "",
                 l->kernel ? l->kernel : "", (unsigned long long)e->limit,
                 (unsigned long long)e->profile->groups,
                 (unsigned long long)l->n_groups, str_text(&who));
    str_free(&who);
    return st;
}

/* Let SHAVE i act until it sleeps. */
static vpu_status shave_event(engine *e, uint32_t i)
{
    engine_shave *s = &e->shaves[i];
    vpu_status st = VPU_OK;

    while (!st && s->state != DONE) {
        critical_set set;

        if (s->accounted > e->limit)
            return limit_reached(e);
        switch (s->state) {
        case ENTER:
            if (!has_phase(s)) {
                s->state = CHOOSE;
                break;
            }
            set = engine_needs(e, s);
            if (!have_ended(s, set) && !s->blocked && !engine_in_step(e, i))
                return VPU_OK;
            if (!wait_until(e, i, have_ended(s, set), set))
                return VPU_OK;
            enter_phase(e, i);
            break;
        case CHOOSE:
            st = choose_phase(e, i);
            if (st || !s->lone)
                break;
            /* fall through */
        case STEPS:
        case RUNNING:
            if (s->lone) {
                if (!do_lone(e, i))
                    return VPU_OK;
                break;
            }
            if (s->at == phase_end(s)) {
                emit_phase_end(e->trace, i, s->accounted);
                s->state = CHOOSE;
                break;
            }
            if (!do_step(e, i, &st))
                return st;
            s->at++;
            break;
        case DRAIN:
            if (!s->blocked && !engine_in_step(e, i))
                return VPU_OK;
            set = all_transfers;
            if (!wait_until(e, i, have_ended(s, set), set))
                return VPU_OK;
            finish_shave(e, i);
            break;
        case DONE:
            break;
        }
    }
    return st;
}

/* --- the loop ------------------------------------------------------------ */

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The wake time of the actor to act next. Two minima side by side, because a
 * comparison waits for the one before it. */
static uint64_t earliest(const engine *e)
{
    uint64_t least = e->earliest[0], other = e->earliest[1];

    for (uint32_t k = 2; k * WAKES < e->n_actors; k += 2) {
        least = lesser(e->earliest[k], least);
        other = lesser(e->earliest[k + 1], other);
    }
    return lesser(least, other);
}

/* What DDR does from now to t. */
static void tell_flows(engine *e, uint64_t t)
{
    uint64_t share[MACH_MAX_BANKS];

    emit_ddr(e->trace, e->now, t, flow_total(&e->flows));
    if (!e->launch->transactions && emit_wants_banks(e->trace)) {
        flow_bank_totals(&e->flows, share);
        emit_banks(e->trace, e->now, t, share);
    }
}

/* Flows end at other times than they did. */
static void wake_running(engine *e)
{
    const flow_set *s = &e->flows;

    for (uint32_t n = 0; n < s->n_running; n++)
        engine_wake(e, s->running[n], s->flows[s->running[n]].finish);
}

static vpu_status replay(engine *e)
{
    vpu_status st = VPU_OK;

    while (!st && e->n_active) {
        uint64_t wake = earliest(e), t = wake >> ACTOR_BITS;
        uint32_t k = wake & ((1 << ACTOR_BITS) - 1);

        if (e->flows.dirty && t > e->now && t > e->flows.due) {
            if (flow_share(&e->flows, e->now)) {
                wake_running(e);
                continue;
            }
        }
        assert(wake != NEVER && t >= e->now);
        if (t > e->limit)
            return limit_reached(e);
        if (e->trace && t > e->now)
            tell_flows(e, t);
        e->now = t;
        if (k < e->n_channels)
            engine_channel_event(e, k);
        else
            st = shave_event(e, k - e->n_channels);
    }
    return st;
}

static void begin_launch(engine *e)
{
    double per_cycle = e->desc->ddr_eff_bw * 1000 / (double)e->desc->clk_mhz;

    e->limit = e->launch->max_cycles;
    if (!e->limit || e->limit > LAST_CYCLE)
        e->limit = LAST_CYCLE;
    e->dram = dram_of(e->desc);
    flow_init(&e->flows, (uint64_t)(per_cycle * (1 << FLOW_Q) + 0.5),
              e->dram.n_banks);
    e->server.bytes_per_cycle = e->flows.capacity[FLOW_BUS];
    e->server.line_bytes = (uint32_t)e->desc->l2_line;
    if (emit_wants_banks(e->trace)) {
        e->server.busy = emit_bank;
        e->server.user = e->trace;
    }
    e->n_channels = (uint32_t)e->desc->dma_channels;
    e->n_active = e->launch->n_shaves;
    e->n_actors = e->n_channels + e->launch->n_shaves;
    emit_active(e->trace, 0, e->n_active);
    for (uint32_t k = 0; k < FLOW_MAX; k++)
        engine_sleep(e, k);
    for (uint32_t i = 0; i < e->launch->n_shaves; i++)
        engine_wake(e, e->n_channels + i, 0);
    for (uint32_t i = 0; i < e->launch->n_shaves; i++)
        engine_account(e, i, MACH_CAUSE_DISPATCH,
                       e->desc->layer_fixed + i * e->desc->shave_start);
}

static void end_launch(engine *e)
{
    uint64_t most_issue = 0, issue = 0, bytes_cycles;
    uint64_t capacity = e->flows.capacity[FLOW_BUS];
    mach_profile *p = e->profile;

    for (uint32_t i = 0; i < e->launch->n_shaves; i++)
        if (e->shaves[i].accounted > p->cycles)
            p->cycles = e->shaves[i].accounted;
    for (uint32_t i = 0; i < e->launch->n_shaves; i++) {
        uint64_t sum = 0;

        engine_account(e, i, MACH_CAUSE_IDLE,
                       p->cycles - e->shaves[i].accounted);
        for (int c = 0; c < MACH_N_CAUSES; c++)
            sum += p->by_cause[i][c];
        assert(sum == p->cycles);
        (void)sum;
        issue += p->by_cause[i][MACH_CAUSE_ISSUE];
        if (p->by_cause[i][MACH_CAUSE_ISSUE] > most_issue)
            most_issue = p->by_cause[i][MACH_CAUSE_ISSUE];
    }
    if (p->cycles)
        p->utilisation =
            (double)issue / ((double)p->cycles * e->launch->n_shaves);
    /* In two parts, so that bytes << Q cannot overflow. */
    bytes_cycles = p->ddr_bytes / capacity << FLOW_Q;
    bytes_cycles += ((p->ddr_bytes % capacity) << FLOW_Q) / capacity;
    p->baseline_cycles = most_issue + bytes_cycles;
    p->bank_wait_cycles = flow_lost_to_banks(&e->flows);
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
    e->desc = desc;
    e->launch = launch;
    e->profile = profile;
    e->err = err;
    e->trace = emit_create(trace, desc, launch);
    e->merges = e->trace && emit_merges(e->trace);
    begin_launch(e);
    st = replay(e);
    engine_count_likes(e);
    if (!st)
        end_launch(e);
    emit_destroy(e->trace, profile, !st);
    for (uint32_t i = 0; i < launch->n_shaves; i++)
        mach_queue_free(&e->queues[i]);
    free(e->waiting);
    free(e);
    return st;
}
