/* Flows: see flow.h for the model.
 *
 * Two shortcuts keep the common cases cheap. While the demand fits, starting
 * and ending a flow is an addition per resource. And a flow that asks for less
 * than 1/4096 of everything always runs at full speed without being counted:
 * under max-min fairness small demands are served in full anyway, and even 64
 * such flows overdraw a resource by less than 1.6 %. */
#include "sim/machine/flow.h"

#include <assert.h>
#include <string.h>

#define ONE (UINT64_C(1) << FLOW_Q)

enum { NEGLIGIBLE = 4096, PATIENCE = 128 };

void flow_init(flow_set *s, uint64_t capacity, uint32_t n_banks)
{
    memset(s, 0, sizeof *s);
    s->capacity[FLOW_BUS] = capacity ? capacity : 1;
    for (uint32_t b = 0; b < n_banks; b++)
        s->capacity[b] = ONE;
    s->n_banks = n_banks;
}

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

/* The cycles the flow takes with every resource to itself. */
static uint64_t least_work(const flow_set *s, const flow_need *need,
                           uint64_t work)
{
    uint64_t bytes = need->bytes << FLOW_Q;

    /* Mostly a multiplication tells. */
    if ((work | s->capacity[FLOW_BUS]) >> 32 ||
        bytes > work * s->capacity[FLOW_BUS]) {
        uint64_t bus = ceil_div(bytes, s->capacity[FLOW_BUS]);

        if (work < bus)
            work = bus;
    }
    for (uint32_t b = 0; b < s->n_banks; b++)
        if (work < need->bank_busy[b])
            work = need->bank_busy[b];
    return work;
}

/* Rounding up must not make the only flow slower than alone. */
static uint32_t rate_of(const flow_set *s, uint32_t r, uint64_t amount,
                        uint64_t work, bool *counts)
{
    uint64_t rate;

    if (!amount)
        return 0;
    rate = ceil_div(amount << FLOW_Q, work);
    if (rate > s->capacity[r])
        rate = s->capacity[r];
    *counts |= rate > s->capacity[r] / NEGLIGIBLE;
    return (uint32_t)rate;
}

/* Queues for banks that are used less are shorter than 1/30 of a service and
 * not worth reckoning. */
#define QUEUES (ONE / 16)

/* Whether flows may slow each other down. */
static bool crowded(const flow_set *s)
{
    bool any = s->demand[FLOW_BUS] > s->capacity[FLOW_BUS];

    if (s->n_running < 2)
        return false;
    for (uint32_t b = 0; b < s->n_banks; b++)
        any |= s->demand[b] > QUEUES;
    return any;
}

static bool enough_for_all(const flow_set *s)
{
    bool enough = true;

    for (uint32_t b = 0; b < s->n_banks; b++)
        enough &= s->demand[b] <= s->capacity[b];
    return enough & (s->demand[FLOW_BUS] <= s->capacity[FLOW_BUS]);
}

static void changed(flow_set *s, uint64_t now)
{
    bool patient = !s->scarce && enough_for_all(s);
    uint64_t due = now + (patient ? s->shortest / PATIENCE : 0);

    if (!s->dirty || due < s->due)
        s->due = due;
    s->dirty = true;
}

void flow_start(flow_set *s, uint32_t i, uint64_t now, const flow_need *need,
                uint64_t work)
{
    flow *f = &s->flows[i];
    bool counts = false;

    assert(need->bytes >> 43 == 0 && work >> 43 == 0);
    work = least_work(s, need, work);
    f->rate[FLOW_BUS] = rate_of(s, FLOW_BUS, need->bytes, work, &counts);
    for (uint32_t b = 0; b < s->n_banks; b++) {
        f->rate[b] = rate_of(s, b, need->bank_busy[b], work, &counts);
        f->queue[b] = 0;
        if (need->blocking[b])
            f->queue[b] = (uint32_t)((need->blocking[b] << FLOW_Q) / work / 2);
    }
    f->dma = need->dma;
    f->length = work;
    f->work = work << FLOW_Q;
    f->speed = ONE;
    f->since = now;
    f->finish = now + work;
    f->lost = 0;
    f->counted = counts;
    if (!counts)
        return;
    s->demand[FLOW_BUS] += f->rate[FLOW_BUS];
    for (uint32_t b = 0; b < s->n_banks; b++)
        s->demand[b] += f->rate[b];
    s->running[s->n_running++] = (uint8_t)i;
    if (work < s->shortest || s->n_running == 1)
        s->shortest = work;
    if (crowded(s))
        changed(s, now);
}

void flow_end(flow_set *s, uint32_t i, uint64_t now)
{
    flow *f = &s->flows[i];
    uint32_t at = 0;

    if (!f->counted)
        return;
    s->bank_lost += (now - s->shared_at) * f->lost;
    while (s->running[at] != i)
        at++;
    s->n_running--;
    memmove(&s->running[at], &s->running[at + 1], s->n_running - at);
    s->demand[FLOW_BUS] -= f->rate[FLOW_BUS];
    for (uint32_t b = 0; b < s->n_banks; b++)
        s->demand[b] -= f->rate[b];
    f->counted = false;
    if (s->contended)
        changed(s, now);
}

/* --- sharing ------------------------------------------------------------- */

/* Speeds as they are decided: scarcest resource first, each fixes the speed of
 * the flows it cuts. */
typedef struct {
    uint64_t speed[FLOW_MAX]; /* of running[k]; ONE until fixed */
    bool fixed[FLOW_MAX];
    uint32_t lost[FLOW_MAX]; /* of each cycle, to busy banks */
} plan;

static uint64_t taken(const flow_set *s, const plan *p, uint32_t r, uint32_t k)
{
    return s->flows[s->running[k]].rate[r] * p->speed[k] >> FLOW_Q;
}

/* The rate of resource r above which flows not yet fixed are cut: those at or
 * below it are served in full, the others share the rest equally. UINT64_MAX
 * when all are served. *greatest: the highest rate among the cut. */
static uint64_t fair_rate(const flow_set *s, const plan *p, uint32_t r,
                          uint64_t *greatest)
{
    uint64_t rest = s->capacity[r], level, small = 0, used = 0;
    uint32_t n = 0, n_small = 0;

    *greatest = 0;
    for (uint32_t k = 0; k < s->n_running; k++) {
        uint64_t rate = s->flows[s->running[k]].rate[r];

        if (p->fixed[k])
            used += taken(s, p, r, k);
        else if (rate) {
            n++;
            *greatest = rate > *greatest ? rate : *greatest;
        }
    }
    rest = rest > used ? rest - used : 0;
    for (;;) {
        uint64_t sum = 0;
        uint32_t served = 0;

        if (n == n_small)
            return UINT64_MAX;
        level = (rest > small ? rest - small : 0) / (n - n_small);
        for (uint32_t k = 0; k < s->n_running; k++) {
            uint64_t rate = s->flows[s->running[k]].rate[r];

            if (!p->fixed[k] && rate && rate <= level) {
                sum += rate;
                served++;
            }
        }
        if (served == n_small)
            return level;
        small = sum;
        n_small = served;
    }
}

static uint64_t speed_under(uint64_t fair, uint64_t rate)
{
    uint64_t speed = (fair << FLOW_Q) / rate;

    return speed ? speed : 1;
}

/* Find the resource that cuts deepest and fix the flows it cuts. False: none
 * is scarce any more. */
static bool fix_scarcest(const flow_set *s, plan *p)
{
    uint64_t deepest = ONE, fair = 0, last_rate = 0, last_speed = 0;
    uint32_t resource = 0;

    for (uint32_t r = 0; r < FLOW_N_RESOURCES; r++) {
        uint64_t level, greatest;

        if (s->demand[r] <= s->capacity[r])
            continue;
        level = fair_rate(s, p, r, &greatest);
        if (level >= greatest || speed_under(level, greatest) >= deepest)
            continue;
        deepest = speed_under(level, greatest);
        fair = level;
        resource = r;
    }
    if (deepest == ONE)
        return false;
    for (uint32_t k = 0; k < s->n_running; k++) {
        uint64_t rate = s->flows[s->running[k]].rate[resource];

        if (p->fixed[k] || rate <= fair)
            continue;
        if (rate != last_rate) { /* flows are often alike */
            last_rate = rate;
            last_speed = speed_under(fair, rate);
        }
        p->speed[k] = last_speed;
        p->fixed[k] = true;
        if (resource != FLOW_BUS)
            p->lost[k] = (uint32_t)(ONE - last_speed);
    }
    return true;
}

static bool banks_suffice(const flow_set *s, const plan *p)
{
    for (uint32_t b = 0; b < s->n_banks; b++) {
        uint64_t used = 0;

        for (uint32_t k = 0; k < s->n_running && s->demand[b] > ONE; k++)
            used += taken(s, p, b, k);
        if (used > ONE)
            return false;
    }
    return true;
}

/* DMA's part of the interface to its oldest transfers, unless that would take
 * more of a bank than there is. */
static void share_by_age(const flow_set *s, plan *p)
{
    uint64_t part = 0;
    uint32_t n = 0;
    plan aged;

    for (uint32_t k = 0; k < s->n_running; k++)
        if (p->fixed[k] && s->flows[s->running[k]].dma) {
            part += taken(s, p, FLOW_BUS, k);
            n++;
        }
    if (n < 2)
        return;
    aged = *p;
    for (uint32_t k = 0; k < s->n_running; k++) {
        uint64_t rate = s->flows[s->running[k]].rate[FLOW_BUS], mine;

        if (!p->fixed[k] || !s->flows[s->running[k]].dma)
            continue;
        mine = rate < part ? rate : part;
        part -= mine;
        aged.speed[k] = speed_under(mine, rate);
    }
    if (part < ONE && banks_suffice(s, &aged))
        *p = aged;
}

enum { LANES = 4 };
typedef int32_t lanes __attribute__((vector_size(LANES * 4)));
typedef double lanes_d __attribute__((vector_size(LANES * 8)));

/* For n shares of a bank's time, u / (1 - u), Q11, of each; of at most 15/16:
 * longer queues are scarcity, shared above. Both numbers of the quotient are
 * exact as doubles, and so is its integer part. */
static void fractions(lanes *shares, uint32_t n)
{
    const int32_t most = (int32_t)(ONE / 16 * 15);

    for (uint32_t i = 0; i < n; i += LANES) {
        lanes u = shares[i / LANES], over = u > most;

        u = (over & most) | (~over & u);
        shares[i / LANES] = __builtin_convertvector(
            __builtin_convertvector(u << 11, lanes_d) /
                __builtin_convertvector((int32_t)ONE - u, lanes_d),
            lanes);
    }
}

/* 1 / (1 + wait), Q20, to 11 bits: a division of 32 bits. */
static uint32_t slowed(uint64_t wait)
{
    uint64_t d = (ONE + wait) >> 9;

    return (UINT32_C(1) << 31) / (d < UINT32_MAX ? (uint32_t)d : UINT32_MAX);
}

/* The flows that use banks for which queues may form, bank by bank. */
typedef struct {
    uint32_t k, rate, queue;
} bank_use;

typedef struct {
    bank_use list[FLOW_MAX * MACH_MAX_BANKS + 1];
    uint32_t end[MACH_MAX_BANKS]; /* of the bank's part of list */
    uint32_t n_banks;
} bank_uses;

static void list_uses(const flow_set *s, bank_uses *u)
{
    uint32_t n = 0;

    u->n_banks = 0;
    for (uint32_t b = 0; b < s->n_banks; b++) {
        if (s->demand[b] <= QUEUES)
            continue;
        for (uint32_t k = 0; k < s->n_running; k++) {
            const flow *f = &s->flows[s->running[k]];

            u->list[n] = (bank_use){k, f->rate[b], f->queue[b]};
            n += f->rate[b] > 0;
        }
        if (n)
            u->end[u->n_banks++] = n;
    }
}

/* What blocking requests wait, in cycles per cycle of work (Q20), is added to
 * the flows' `waits`. */
static void wait_in_queues(const plan *p, const bank_uses *u, uint64_t waits[])
{
    uint32_t n = u->end[u->n_banks - 1];
    lanes others[FLOW_MAX * MACH_MAX_BANKS / LANES];
    int32_t *other = (int32_t *)others;

    others[(n - 1) / LANES] = (lanes){0};
    for (uint32_t b = 0, begin = 0; b < u->n_banks; begin = u->end[b++]) {
        int32_t used = 0;

        for (uint32_t i = begin; i < u->end[b]; i++) {
            const bank_use *f = &u->list[i];

            other[i] = (int32_t)(f->rate * p->speed[f->k] >> FLOW_Q);
            used += other[i];
        }
        for (uint32_t i = begin; i < u->end[b]; i++)
            other[i] = used - other[i];
    }
    fractions(others, n);
    for (uint32_t i = 0; i < n; i++) {
        const bank_use *f = &u->list[i];

        waits[f->k] += f->queue * (uint64_t)(uint32_t)other[i] >> 11;
    }
}

/* Queues make flows slower, slower flows make queues shorter: a few rounds
 * towards where both agree, from the speeds scarcity allows. */
static void add_queues(const flow_set *s, plan *p)
{
    enum { ROUNDS = 3 };
    uint64_t allowed[FLOW_MAX];
    bank_uses uses;

    list_uses(s, &uses);
    if (!uses.n_banks)
        return;
    memcpy(allowed, p->speed, s->n_running * sizeof *allowed);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t waits[FLOW_MAX];

        memset(waits, 0, s->n_running * sizeof *waits);
        wait_in_queues(p, &uses, waits);
        for (uint32_t k = 0; k < s->n_running; k++) {
            uint64_t next = slowed(waits[k]);

            if (next > allowed[k])
                next = allowed[k];
            next = round ? (p->speed[k] + next) / 2 : next;
            p->speed[k] = next ? next : 1;
        }
    }
    for (uint32_t k = 0; k < s->n_running; k++)
        p->lost[k] += (uint32_t)(allowed[k] - p->speed[k]);
}

void flow_share(flow_set *s, uint64_t now)
{
    plan p;

    s->dirty = false;
    s->contended = crowded(s);
    s->scarce = false;
    for (uint32_t k = 0; k < s->n_running; k++) {
        flow *f = &s->flows[s->running[k]];

        s->bank_lost += (now - s->shared_at) * f->lost;
        p.speed[k] = ONE;
        p.fixed[k] = false;
        p.lost[k] = 0;
    }
    s->shared_at = now;
    if (s->contended) {
        while (fix_scarcest(s, &p))
            s->scarce = true;
        share_by_age(s, &p);
        add_queues(s, &p);
    }
    s->shortest = UINT64_MAX;
    for (uint32_t k = 0; k < s->n_running; k++) {
        flow *f = &s->flows[s->running[k]];
        uint64_t done;

        f->lost = f->dma ? 0 : p.lost[k];
        if (f->length < s->shortest)
            s->shortest = f->length;
        if (p.speed[k] == f->speed)
            continue;
        done = (now - f->since) * f->speed;
        f->work = f->work > done ? f->work - done : 0;
        f->since = now;
        f->speed = p.speed[k];
        f->finish = now + ceil_div(f->work, f->speed);
    }
}

uint64_t flow_lost_to_banks(const flow_set *s)
{
    return s->bank_lost >> FLOW_Q;
}

uint64_t flow_total(const flow_set *s)
{
    uint64_t sum = 0;

    if (!s->contended)
        return s->demand[FLOW_BUS];
    for (uint32_t k = 0; k < s->n_running; k++) {
        const flow *f = &s->flows[s->running[k]];

        sum += f->rate[FLOW_BUS] * f->speed >> FLOW_Q;
    }
    return sum < s->capacity[FLOW_BUS] ? sum : s->capacity[FLOW_BUS];
}
