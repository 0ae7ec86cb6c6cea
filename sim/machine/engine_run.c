/* A RUN step: cycles issued, and the memory accesses among them.
 *
 * At flow level a step is one flow over its whole length. At transaction level
 * each line of DDR is an event: the step's list of misses says where between
 * the accesses it lies, and issue cycles pass evenly from access to access. */
#include "sim/machine/engine_priv.h"

#include <assert.h>
#include <string.h>

static void add_saturating(uint32_t *sum, uint64_t n)
{
    *sum = n > UINT32_MAX - *sum ? UINT32_MAX : *sum + (uint32_t)n;
}

/* Of n steps. */
static void count_memory(mach_profile *p, const mach_mem_counts *m,
                         uint64_t ddr_bytes, uint64_t n)
{
    add_saturating(&p->mem.load_l1_hits, n * m->load_l1_hits);
    add_saturating(&p->mem.load_l2_hits, n * m->load_l2_hits);
    add_saturating(&p->mem.load_fills, n * m->load_fills);
    add_saturating(&p->mem.stores, n * m->stores);
    add_saturating(&p->mem.store_fills, n * m->store_fills);
    add_saturating(&p->mem.write_backs, n * m->write_backs);
    p->mem.load_bytes += n * m->load_bytes;
    p->mem.store_bytes += n * m->store_bytes;
    p->load_bytes += n * m->load_bytes;
    p->store_bytes += n * m->store_bytes;
    p->ddr_bytes += n * ddr_bytes;
}

/* Cycles load fills wait for lines that their own SHAVE's stores fetch from the
 * same bank. A line keeps it busy from the store on; what is issued between two
 * accesses has passed when the load comes. */
static uint64_t behind_stores(const dram *ram, const mach_step *step)
{
    const mach_mem_counts *m = &step->detail.mem;
    uint64_t accesses =
        (uint64_t)m->load_l1_hits + m->load_l2_hits + m->load_fills + m->stores;
    uint64_t busy = (uint64_t)m->lines_before * ram->line_busy, passed;

    if (!m->loads_behind)
        return 0;
    passed = step->issue_cycles / accesses * m->loads_behind;
    return busy > passed ? busy - passed : 0;
}

/* Stores leave through a buffer of posted stores; each holds an entry while it
 * is on its way (as long as a load of the same kind would stall). Only what the
 * rest of the step does not cover is a stall, and a handful of stores that all
 * fit into the buffer never is. */
static engine_run_cost cost_of(const mach_desc *d, const dram *ram,
                               const mach_step *step)
{
    const mach_mem_counts *m = &step->detail.mem;
    engine_run_cost c = {.issue = step->issue_cycles};
    uint64_t fills = m->store_fills, hits, held, covered;

    c.l2 =
        m->load_l1_hits * d->l1_hit_stall + m->load_l2_hits * d->l2_hit_stall;
    c.ddr = m->load_fills * d->ddr_load_stall + behind_stores(ram, step);
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

static uint64_t alone_of(const engine_run_cost *c)
{
    return c->issue + c->l2 + c->ddr + c->store;
}

/* Of n steps. */
static void count_causes(uint64_t *causes, const engine_run_cost *c, uint64_t n)
{
    causes[MACH_CAUSE_ISSUE] += n * c->issue;
    causes[MACH_CAUSE_L2] += n * c->l2;
    causes[MACH_CAUSE_DDR] += n * c->ddr;
    causes[MACH_CAUSE_STORE] += n * c->store;
}

static void causes_of(const engine *e, const engine_run_cost *c,
                      uint64_t causes[MACH_N_CAUSES])
{
    memset(causes, 0, MACH_N_CAUSES * sizeof *causes);
    causes[MACH_CAUSE_DISPATCH] = e->desc->wg_dispatch;
    count_causes(causes, c, 1);
}

static void account_run(engine *e, uint32_t i, const mach_step *step,
                        const engine_run_cost *c, uint64_t stretch)
{
    const mach_mem_counts *m = &step->detail.mem;
    uint64_t begin = e->shaves[i].accounted;
    mach_cause why = m->load_fills ? MACH_CAUSE_DDR : MACH_CAUSE_STORE;

    count_memory(e->profile, m, c->bytes, 1);
    if (!e->trace) {
        count_causes(e->profile->by_cause[i], c, 1);
        e->profile->by_cause[i][why] += stretch;
        e->shaves[i].accounted += alone_of(c) + stretch;
        return;
    }
    engine_account(e, i, MACH_CAUSE_ISSUE, c->issue);
    engine_account(e, i, MACH_CAUSE_L2, c->l2);
    engine_account(e, i, MACH_CAUSE_DDR, c->ddr);
    engine_account(e, i, MACH_CAUSE_STORE, c->store);
    engine_account(e, i, why, stretch);
    if (c->bytes)
        emit_lines(e->trace, begin, e->shaves[i].accounted,
                   ((uint64_t)m->load_fills + m->store_fills) *
                       e->desc->l2_line,
                   m->write_backs * e->desc->l2_line);
}

/* --- groups that no other SHAVE notices ---------------------------------- */

/* Whether the cycles end within the launch's limit. */
static bool fit(const engine *e, uint32_t i, uint64_t cycles)
{
    return cycles <= e->limit && e->shaves[i].accounted <= e->limit - cycles;
}

bool engine_run_unseen(engine *e, uint32_t i, const mach_step *step, uint64_t n)
{
    engine_run_cost c = cost_of(e->desc, &e->dram, step);
    uint64_t each = e->desc->wg_dispatch + alone_of(&c);
    uint64_t causes[MACH_N_CAUSES];

    assert(!c.bytes);
    if (!fit(e, i, n * each))
        return false;
    causes_of(e, &c, causes);
    if (e->trace)
        emit_groups(e->trace, i, e->shaves[i].accounted, n, causes);
    e->shaves[i].accounted += n * each;
    for (int k = 0; k < MACH_N_CAUSES; k++)
        e->profile->by_cause[i][k] += n * causes[k];
    count_memory(e->profile, &step->detail.mem, 0, n);
    return true;
}

static void count_likes(engine *e, uint32_t i, engine_likes *l)
{
    if (!l->n)
        return;
    for (int k = 0; k < MACH_N_CAUSES; k++)
        e->profile->by_cause[i][k] += l->n * l->causes[k];
    count_memory(e->profile, &l->run->detail.mem, 0, l->n);
    l->n = 0;
}

void engine_count_likes(engine *e)
{
    for (uint32_t i = 0; i < e->launch->n_shaves; i++)
        for (uint32_t k = 0; k < N_LIKES; k++)
            count_likes(e, i, &e->shaves[i].likes[k]);
}

/* Those of a step. */
static engine_likes *likes_of(engine *e, uint32_t i, const mach_step *like)
{
    /* Steps lie one behind the other. */
    engine_likes *l = &e->shaves[i].likes[(uintptr_t)like / 32 % N_LIKES];
    engine_run_cost c;

    if (l->run == like)
        return l;
    count_likes(e, i, l);
    c = cost_of(e->desc, &e->dram, like);
    l->run = like;
    l->each = e->desc->wg_dispatch + alone_of(&c);
    causes_of(e, &c, l->causes);
    return l;
}

uint64_t engine_run_likes(engine *e, uint32_t i)
{
    mach_queue *q = &e->queues[i];
    const mach_step *group = &q->items[q->head], *end = &q->items[q->n];
    uint64_t at = e->shaves[i].accounted, passed = 0;

    assert(at <= e->limit);
    for (; group < end && group->like; group++) {
        engine_likes *l = likes_of(e, i, group->like);
        uint64_t n = group->more + UINT64_C(1);

        if (n * l->each > e->limit - at)
            break;
        if (e->trace)
            emit_groups(e->trace, i, at, n, l->causes);
        at += n * l->each;
        l->n += n;
        passed += n;
    }
    e->shaves[i].accounted = at;
    q->head = (uint32_t)(group - q->items);
    return passed;
}

void engine_begin_lone(engine *e, uint32_t i, uint64_t group)
{
    const engine_shave *s = &e->shaves[i];

    emit_needs(e->trace, i, s->accounted, engine_needs(e, s));
    emit_phase_begin(e->trace, i, s->accounted, group, MACH_COMP);
}

void engine_end_lone(engine *e, uint32_t i)
{
    engine_shave *s = &e->shaves[i];

    emit_phase_end(e->trace, i, s->accounted);
    s->n_loaded++;
    s->n_retired++;
}

static void show_group(engine *e, uint32_t i, const mach_step *step,
                       const engine_run_cost *c, uint64_t id)
{
    engine_shave *s = &e->shaves[i];

    engine_account(e, i, MACH_CAUSE_DISPATCH, e->desc->wg_dispatch);
    s->pos = s->n_loaded;
    s->phase = MACH_COMP;
    engine_begin_lone(e, i, id);
    account_run(e, i, step, c, 0);
    engine_end_lone(e, i);
}

bool engine_run_shown(engine *e, uint32_t i, const mach_step *group,
                      const mach_step *run, uint64_t n)
{
    uint64_t distance = n > 1 ? group->detail.distance : 0;
    engine_run_cost c = cost_of(e->desc, &e->dram, run);

    if (!fit(e, i, n * (e->desc->wg_dispatch + alone_of(&c))))
        return false;
    for (uint64_t k = 0; k < n; k++)
        show_group(e, i, run, &c, group->id + k * distance);
    return true;
}

/* --- flow level ---------------------------------------------------------- */

/* Of the banks there are, to a whole bundle: to clear all there could be takes
 * as long as the rest. */
static void fill_need(const engine *e, const mach_step *step, uint64_t bytes,
                      flow_need *need)
{
    const mach_mem_counts *m = &step->detail.mem;
    uint32_t n_banks = e->dram.n_banks, line_busy = e->dram.line_busy;

    need->bytes = bytes;
    need->dma = false;
    need->banks =
        line_busy ? mach_banks_in_use(m) & ((UINT32_C(1) << n_banks) - 1) : 0;
    need->requests = (uint64_t)m->load_fills + m->store_fills + m->write_backs;
    need->blocking = m->load_fills;
    for (uint32_t b = 0; b < n_banks; b += FLOW_LANES)
        for (uint32_t k = 0; k < FLOW_LANES; k++)
            need->bank_busy[b + k] = (uint64_t)m->bank_lines[b + k] * line_busy;
}

/* False: the SHAVE sleeps until the flow ends. */
static bool start_flow(engine *e, uint32_t i, const mach_step *step)
{
    uint32_t actor = e->n_channels + i;
    engine_shave *s = &e->shaves[i];
    uint64_t alone;
    flow_need need;

    s->run.cost = cost_of(e->desc, &e->dram, step);
    alone = alone_of(&s->run.cost);
    if (!s->run.cost.bytes) {
        account_run(e, i, step, &s->run.cost, 0);
        return true;
    }
    fill_need(e, step, s->run.cost.bytes, &need);
    flow_start(&e->flows, actor, e->now, &need, alone ? alone : 1);
    engine_wake(e, actor, e->flows.flows[actor].finish);
    s->state = RUNNING;
    return false;
}

static void end_flow(engine *e, uint32_t i, const mach_step *step)
{
    engine_shave *s = &e->shaves[i];

    flow_end(&e->flows, e->n_channels + i, e->now);
    s->state = STEPS;
    account_run(e, i, step, &s->run.cost,
                e->now - s->accounted - alone_of(&s->run.cost));
}

static bool run_as_flow(engine *e, uint32_t i, const mach_step *step)
{
    if (e->shaves[i].state == RUNNING) {
        end_flow(e, i, step);
        return true;
    }
    if (mach_moves_lines(&step->detail.mem) && !engine_in_step(e, i))
        return false;
    return start_flow(e, i, step);
}

/* --- transaction level --------------------------------------------------- */

/* Account what passes until the miss: its share of issue cycles, and the hits
 * in L2 in front of it. */
static void pass_until(engine *e, uint32_t i, const mach_step *step,
                       uint64_t accesses, uint32_t l2_hits)
{
    engine_run_progress *r = &e->shaves[i].run;
    uint64_t n = step->n_accesses ? step->n_accesses : 1;
    /* In two parts, so that the product cannot overflow. */
    uint64_t due = step->issue_cycles / n * accesses +
                   step->issue_cycles % n * accesses / n;

    engine_account(e, i, MACH_CAUSE_ISSUE, due - r->issued);
    engine_account(e, i, MACH_CAUSE_L2, l2_hits * e->desc->l2_hit_stall);
    r->issued = due;
}

/* The entry of the store buffer that is free first. */
static uint64_t *store_entry(engine *e, uint32_t i)
{
    uint64_t *landing = e->shaves[i].run.landing, *first = landing;

    for (uint64_t k = 1; k < e->desc->store_buffer; k++)
        if (landing[k] < *first)
            first = &landing[k];
    return first;
}

/* False: the SHAVE sleeps and comes back to the same miss. */
static bool do_miss(engine *e, uint32_t i, const mach_miss *m)
{
    engine_shave *s = &e->shaves[i];
    uint64_t *entry = NULL, waited;

    if (m->kind == MACH_STORE_HIT || m->kind == MACH_STORE_FILL) {
        entry = store_entry(e, i);
        if (*entry > s->accounted)
            engine_account(e, i, MACH_CAUSE_STORE, *entry - s->accounted);
    }
    if (m->kind == MACH_STORE_HIT) {
        *entry = s->accounted + e->desc->l2_hit_stall;
        return true;
    }
    if (!engine_in_step(e, i))
        return false;
    e->server.who = e->n_channels + i;
    emit_line(e->trace, e->now, m->addr, e->desc->l2_line,
              m->kind == MACH_WRITE_BACK);
    if (m->kind == MACH_WRITE_BACK) {
        s->run.landed = dram_write_line(&e->dram, &e->server, e->now, m->addr);
        return true;
    }
    waited = dram_serve_line(&e->dram, &e->server, e->now, m->addr);
    s->run.landed = e->now + waited + e->dram.line_busy;
    if (m->kind == MACH_LOAD_FILL) {
        emit_held(e->trace, &e->server.why, e->n_channels);
        engine_account(e, i, MACH_CAUSE_DDR, e->desc->ddr_load_stall + waited);
    } else
        *entry = e->now + e->desc->ddr_load_stall + waited;
    return true;
}

/* Posted lines delay nobody but the last step of a launch, which is nothing but
 * write-backs: it ends when they have landed. */
static bool run_as_transactions(engine *e, uint32_t i, const mach_step *step)
{
    const mach_mem_counts *m = &step->detail.mem;
    engine_run_progress *r = &e->shaves[i].run;
    uint64_t ddr_lines =
        (uint64_t)m->load_fills + m->store_fills + m->write_backs;

    for (; r->miss < step->n_misses; r->miss++) {
        const mach_miss *miss = &step->misses[r->miss];

        if (!r->reached) {
            uint32_t before = r->miss ? miss[-1].l2_hits : 0;

            pass_until(e, i, step, miss->access, miss->l2_hits - before);
            r->reached = true;
        }
        if (!do_miss(e, i, miss))
            return false;
        r->reached = false;
    }
    pass_until(e, i, step, step->n_accesses ? step->n_accesses : 1,
               m->load_l2_hits -
                   (r->miss ? step->misses[r->miss - 1].l2_hits : 0));
    engine_account(e, i, MACH_CAUSE_L2,
                   m->load_l1_hits * e->desc->l1_hit_stall);
    if (m->write_backs && !m->stores && !m->load_fills &&
        r->landed > e->shaves[i].accounted)
        engine_account(e, i, MACH_CAUSE_STORE,
                       r->landed - e->shaves[i].accounted);
    count_memory(e->profile, m, ddr_lines * e->desc->l2_line, 1);
    r->miss = 0;
    r->issued = 0;
    return true;
}

bool engine_run_step(engine *e, uint32_t i, const mach_step *step)
{
    return e->launch->transactions ? run_as_transactions(e, i, step)
                                   : run_as_flow(e, i, step);
}
