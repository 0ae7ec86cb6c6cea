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

#include "sim/machine/host.h"

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

/* Banks, and the places at a bank, are reckoned a bundle at a time. All numbers
 * are integers, or these over a power of two, as doubles, and products are
 * below 2^53. So results are those of integer arithmetic, everywhere. */
typedef double lanes
    __attribute__((vector_size(FLOW_LANES * 8), aligned(8), may_alias));
typedef int64_t lane_bits
    __attribute__((vector_size(FLOW_LANES * 8), aligned(8), may_alias));

/* a / b. Processors divide numbers of 53 bits faster as doubles, and rounding
 * reaches no integer then that the quotient is below. */
static uint64_t quotient(uint64_t a, uint64_t b)
{
    if ((a | b) >> 53)
        return a / b;
    return (uint64_t)(int64_t)((double)(int64_t)a / (double)(int64_t)b);
}

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    uint64_t n = quotient(a, b);

    return n + (n * b != a);
}

/* The bit of a set that is next, and the set without it. */
static INLINE uint32_t next_of(uint32_t *set)
{
    uint32_t k = (uint32_t)__builtin_ctz(*set);

    *set &= *set - 1;
    return k;
}

/* The cycles the flow takes with every resource to itself. */
static uint64_t least_work(const flow_set *s, const flow_need *need,
                           uint32_t banks, uint64_t work)
{
    uint64_t bytes = need->bytes << FLOW_Q;

    /* Mostly a multiplication tells. */
    if ((work | s->capacity[FLOW_BUS]) >> 32 ||
        bytes > work * s->capacity[FLOW_BUS]) {
        uint64_t bus = ceil_div(bytes, s->capacity[FLOW_BUS]);

        if (work < bus)
            work = bus;
    }
    for (uint32_t left = banks; left;) {
        uint64_t busy = need->bank_busy[next_of(&left)];

        work = work < busy ? busy : work;
    }
    return work;
}

/* Of the interface. Rounding up must not make the only flow slower than
 * alone. */
static uint32_t bus_rate(const flow_set *s, uint64_t bytes, uint64_t work)
{
    uint64_t rate = ceil_div(bytes << FLOW_Q, work);

    return (uint32_t)(rate < s->capacity[FLOW_BUS] ? rate
                                                   : s->capacity[FLOW_BUS]);
}

/* Queues for banks that are used less are shorter than 1/30 of a service and
 * not worth reckoning. */
#define QUEUES (ONE / 16)

/* The set with those bits, or without them. */
static INLINE uint32_t with_bits(uint32_t set, uint32_t bits, bool are_in)
{
    return are_in ? set | bits : set & ~bits;
}

/* Whether flows may slow each other down. */
static bool crowded(const flow_set *s)
{
    return s->n_running >= 2 && (s->queued || s->over >> FLOW_BUS & 1);
}

static void changed(flow_set *s, uint64_t now)
{
    bool patient = !s->scarce && !s->over;
    uint64_t due = now + (patient ? s->shortest / PATIENCE : 0);

    if (!s->dirty || due < s->due)
        s->due = due;
    s->dirty = true;
}

/* What a flow asks of each bank: of its time, Q20, and half of the blocking
 * part of that, Q20. */
typedef struct {
    double rate[MACH_MAX_BANKS], half_blocking[MACH_MAX_BANKS];
} bank_shares;

/* The integer at or below a quotient of integers, which is below 2^51: where it
 * was rounded it reached no integer. */
static INLINE void floor_quotient(lanes *x)
{
    const double whole = (double)(UINT64_C(3) << 51); /* no fractions there */
    const lanes ones = {1, 1, 1, 1};
    lanes near = *x + whole - whole;

    *x = near - (lanes)((near > *x) & (lane_bits)ones);
}

/* Of integers below 2^52: these are the last bits of such a double. */
static INLINE void take_integers(lanes *x, const uint64_t *n)
{
    const double past = (double)(UINT64_C(1) << 52);
    const lanes passed = {past, past, past, past};
    lane_bits bits;

    memcpy(&bits, n, sizeof bits);
    *x = (lanes)(bits | (lane_bits)passed) - past;
}

/* Work is below 2^32, so is what its banks are busy, and requests below 2^20.
 */
static INLINE void share_banks(const flow_need *need, uint32_t n_banks,
                               uint64_t work, bank_shares *out)
{
    double all = (double)(int64_t)work;
    double requests = (double)(int64_t)(need->requests ? need->requests : 1);
    double blocking = (double)(int64_t)need->blocking;

    for (uint32_t b = 0; b < n_banks; b += FLOW_LANES) {
        lanes busy, rate, blocks;

        take_integers(&busy, &need->bank_busy[b]);
        rate = (busy * (double)ONE + (all - 1)) / all;
        floor_quotient(&rate);
        blocks = busy * blocking / requests;
        floor_quotient(&blocks);
        blocks = blocks * (double)(ONE / 2) / all;
        floor_quotient(&blocks);
        memcpy(&out->rate[b], &rate, sizeof rate);
        memcpy(&out->half_blocking[b], &blocks, sizeof blocks);
    }
}

MACH_HOST_AVX2 static void share_banks_avx2(const flow_need *need,
                                            uint32_t n_banks, uint64_t work,
                                            bank_shares *out)
{
    share_banks(need, n_banks, work, out);
}

/* What a bank asked for last is reckoned already: banks are often alike, and so
 * are flows. */
static void share_bank(flow_set *s, const flow_need *need, uint64_t busy,
                       uint64_t work)
{
    flow_bank_share *last = &s->last_share;
    uint64_t blocks;

    if (last->busy == busy && last->work == work &&
        last->requests == need->requests && last->blocking == need->blocking)
        return;
    blocks = need->blocking ? busy * need->blocking / need->requests : 0;
    *last = (flow_bank_share){
        .busy = busy,
        .work = work,
        .requests = need->requests,
        .blocking = need->blocking,
        .rate = (double)(int64_t)ceil_div(busy << FLOW_Q, work),
        .half_blocking =
            (double)(int64_t)(quotient(blocks << FLOW_Q, work) / 2)};
}

/* The same, bank by bank, of any numbers. */
static void share_each_bank(flow_set *s, const flow_need *need, uint32_t banks,
                            uint64_t work, bank_shares *out)
{
    while (banks) {
        uint32_t b = next_of(&banks);

        share_bank(s, need, need->bank_busy[b], work);
        out->rate[b] = s->last_share.rate;
        out->half_blocking[b] = s->last_share.half_blocking;
    }
}

/* So few banks, three at most, are reckoned one by one. */
static bool are_few(uint32_t banks)
{
    banks &= banks - 1;
    banks &= banks - 1;
    return !(banks & (banks - 1));
}

static void share_all_banks(flow_set *s, const flow_need *need, uint32_t banks,
                            uint64_t work, bank_shares *out)
{
    if (are_few(banks) || work >> 32 || need->requests >> 20)
        share_each_bank(s, need, banks, work, out);
    else if (mach_host_has_avx2())
        share_banks_avx2(need, s->n_banks, work, out);
    else
        share_banks(need, s->n_banks, work, out);
}

/* What a bank is asked for changes by what f asks of it; there f has its place,
 * or none. */
static INLINE uint64_t count_at_bank(flow_set *s, const flow *f, uint32_t b,
                                     const bank_shares *shares, bool in)
{
    uint32_t place = f->place;
    flow_at_bank *at = &s->at_banks[b];

    at->rate[place] = in ? shares->rate[b] / (double)ONE : 0;
    at->queue[place] = in ? shares->half_blocking[b] / (1 << 11) : 0;
    at->n[place / FLOW_LANES] += in ? 1 : -1;
    at->n_all += in ? 1 : -1;
    s->demand[b] = in ? s->demand[b] + f->rate[b] : s->demand[b] - f->rate[b];
    return s->demand[b];
}

/* The same of the interface and all the flow's banks. */
static INLINE void count(flow_set *s, const flow *f, const bank_shares *shares,
                         bool in)
{
    uint32_t over = s->over, queued = s->queued, met = s->met;
    uint64_t demand = s->demand[FLOW_BUS];

    demand = in ? demand + f->rate[FLOW_BUS] : demand - f->rate[FLOW_BUS];
    s->demand[FLOW_BUS] = demand;
    over = with_bits(over, UINT32_C(1) << FLOW_BUS,
                     demand > s->capacity[FLOW_BUS]);
    for (uint32_t left = f->banks; left;) {
        uint32_t bank = left & -left, b = next_of(&left);

        demand = count_at_bank(s, f, b, shares, in);
        over = with_bits(over, bank, demand > ONE);
        queued = with_bits(queued, bank, demand > QUEUES);
        met = with_bits(met, bank, s->at_banks[b].n_all > 1);
    }
    s->over = over;
    s->queued = queued;
    s->met = met;
}

/* The flow gets a place where queues are reckoned, the first that is free. */
static void take_place(flow_set *s, flow *f, const bank_shares *shares)
{
    f->place = 0;
    while (s->taken[f->place])
        f->place++;
    s->taken[f->place] = true;
    count(s, f, shares, true);
}

static void leave_place(flow_set *s, const flow *f)
{
    s->taken[f->place] = false;
    count(s, f, NULL, false);
}

/* Of the banks. True: the flow counts. */
static bool set_rates(flow *f, uint32_t banks, const bank_shares *shares)
{
    bool counts = false;

    for (uint32_t left = f->banks & ~banks; left;)
        f->rate[next_of(&left)] = 0;
    f->banks = banks;
    for (uint32_t left = banks; left;) {
        uint32_t b = next_of(&left);

        f->rate[b] = (uint32_t)(int32_t)shares->rate[b];
        counts |= f->rate[b] > ONE / NEGLIGIBLE;
    }
    return counts;
}

void flow_start(flow_set *s, uint32_t i, uint64_t now, const flow_need *need,
                uint64_t work)
{
    flow *f = &s->flows[i];
    bank_shares shares;
    uint32_t banks = need->banks;
    bool counts;

    assert(need->bytes >> 43 == 0 && work >> 43 == 0);
    work = least_work(s, need, banks, work);
    share_all_banks(s, need, banks, work, &shares);
    f->rate[FLOW_BUS] = bus_rate(s, need->bytes, work);
    counts = set_rates(f, banks, &shares) ||
             f->rate[FLOW_BUS] > s->capacity[FLOW_BUS] / NEGLIGIBLE;
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
    s->running[s->n_running++] = (uint16_t)i;
    take_place(s, f, &shares);
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
    for (; at < s->n_running; at++)
        s->running[at] = s->running[at + 1];
    leave_place(s, f);
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
        level = quotient(rest > small ? rest - small : 0, n - n_small);
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
    uint64_t speed = quotient(fair << FLOW_Q, rate);

    return speed ? speed : 1;
}

/* Find the resource that cuts deepest and fix the flows it cuts. False: none
 * is scarce any more. */
static bool fix_scarcest(const flow_set *s, plan *p)
{
    uint64_t deepest = ONE, fair = 0, last_rate = 0, last_speed = 0;
    uint32_t resource = 0;

    for (uint32_t left = s->over; left;) {
        uint32_t r = next_of(&left);
        uint64_t level, greatest;

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
    for (uint32_t left = s->over & ~(UINT32_C(1) << FLOW_BUS); left;) {
        uint32_t b = next_of(&left);
        uint64_t used = 0;

        for (uint32_t k = 0; k < s->n_running; k++)
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

/* What a bundle asks of a bank for which queues may form. */
typedef struct {
    const lanes *rate, *queue;
    uint32_t bundle;
} bank_use;

typedef struct {
    bank_use uses[MACH_MAX_BANKS * FLOW_BUNDLES]; /* bank by bank */
    uint32_t end[MACH_MAX_BANKS];                 /* of the bank's uses */
    uint32_t n_banks, n_uses, n_bundles;
    lanes allowed[FLOW_BUNDLES], speed[FLOW_BUNDLES];
} queues;

/* The integer at or below x >= 0, which is one or 2^-21 from the next at least.
 * (A conversion there and back takes longer.) */
static INLINE void cut(lanes *x)
{
    const double whole = (double)(UINT64_C(3) << 51); /* no fractions there */

    *x = *x - (0.5 - 1.0 / (1 << 22)) + whole - whole;
}

/* The lesser of two integers. (Where vectors cannot be compared, compilers do
 * so lane by lane.) */
static INLINE void limit(lanes *x, const lanes *most)
{
    lanes apart = *x - *most;

    apart = (lanes)((lane_bits)apart & INT64_MAX);
    *x = (*x + *most - apart) / 2;
}

/* What blocking requests wait, in cycles per cycle of work (Q20), is added to
 * the flows' `waits`: where others take u of a bank's time u / (1 - u)
 * services. u is 15/16 at most: longer queues are scarcity, shared above. */
static INLINE void wait_in_queues(const queues *q, lanes waits[])
{
    const double longest = ONE / 16 * 15;
    const lanes most = {longest, longest, longest, longest};
    lanes others[MACH_MAX_BANKS * FLOW_BUNDLES];

    for (uint32_t b = 0, begin = 0; b < q->n_banks; begin = q->end[b++]) {
        lanes sum = {0};

        for (uint32_t i = begin; i < q->end[b]; i++) {
            others[i] = *q->uses[i].rate * q->speed[q->uses[i].bundle];
            cut(&others[i]);
            sum += others[i];
        }
        for (uint32_t i = begin; i < q->end[b]; i++)
            others[i] = sum[0] + sum[1] + sum[2] + sum[3] - others[i];
    }
    /* One loop after the other, so that many divisions are on their way. */
    for (uint32_t i = 0; i < q->n_uses; i++) {
        limit(&others[i], &most);
        others[i] = others[i] * (1 << 11) / ((double)ONE - others[i]);
    }
    for (uint32_t i = 0; i < q->n_uses; i++) {
        lanes wait = others[i];

        cut(&wait);
        wait *= *q->uses[i].queue;
        cut(&wait);
        waits[q->uses[i].bundle] += wait;
    }
}

/* Speeds as queues make them, 1 / (1 + wait) to 11 bits: halfway there from the
 * speeds before, unless these are the first. */
static INLINE void slow_down(queues *q, const lanes waits[], bool first)
{
    for (uint32_t i = 0; i < q->n_bundles; i++) {
        lanes next = ((double)ONE + waits[i]) / (1 << 9);

        cut(&next);
        next = (double)(UINT32_C(1) << 31) / next;
        cut(&next);
        limit(&next, &q->allowed[i]);
        if (!first)
            next = (q->speed[i] + next) / 2;
        cut(&next);
        q->speed[i] = next;
    }
}

/* Queues make flows slower, slower flows make queues shorter: a few rounds
 * towards where both agree, from the speeds scarcity allows. */
static INLINE void agree(queues *q)
{
    enum { ROUNDS = 3 };

    memcpy(q->speed, q->allowed, q->n_bundles * sizeof *q->speed);
    for (int round = 0; round < ROUNDS; round++) {
        lanes waits[FLOW_BUNDLES];

        memset(waits, 0, q->n_bundles * sizeof *waits);
        wait_in_queues(q, waits);
        slow_down(q, waits, !round);
    }
}

MACH_HOST_AVX2 static void agree_avx2(queues *q)
{
    agree(q);
}

static void agree_on_host(queues *q)
{
    if (mach_host_has_avx2())
        agree_avx2(q);
    else
        agree(q);
}

/* Where in the table the queues of one bundle belong. */
static uint32_t memo_place(const queues *q)
{
    typedef uint64_t words
        __attribute__((vector_size(FLOW_LANES * 8), aligned(8), may_alias));
    words sum = *(const words *)&q->allowed[0];
    uint64_t h;

    for (uint32_t i = 0; i < q->n_uses; i++)
        sum = (sum ^ sum << 7) + *(const words *)q->uses[i].rate +
              (*(const words *)q->uses[i].queue << 3);
    h = ((sum[0] * 3 + sum[1]) * 3 + sum[2]) * 3 + sum[3];
    return (uint32_t)(h * UINT64_C(0x9e3779b97f4a7c15) >> 58) % FLOW_MEMOS;
}

static bool is_of(const flow_memo *m, const queues *q)
{
    if (m->n_banks != q->n_banks ||
        memcmp(m->allowed, q->allowed, sizeof m->allowed))
        return false;
    for (uint32_t i = 0; i < q->n_uses; i++)
        if (memcmp(m->uses[i][0], q->uses[i].rate, sizeof m->uses[i][0]) ||
            memcmp(m->uses[i][1], q->uses[i].queue, sizeof m->uses[i][1]))
            return false;
    return true;
}

/* agree, but for what it found before. */
static void recall_or_agree(flow_set *s, queues *q)
{
    flow_memo *m;

    if (q->n_bundles > 1 || q->n_uses > FLOW_MEMO_BANKS) {
        agree_on_host(q);
        return;
    }
    m = &s->memos[memo_place(q)];
    if (is_of(m, q)) {
        memcpy(q->speed, m->speed, sizeof m->speed);
        return;
    }
    agree_on_host(q);
    m->n_banks = q->n_banks;
    memcpy(m->allowed, q->allowed, sizeof m->allowed);
    memcpy(m->speed, q->speed, sizeof m->speed);
    for (uint32_t i = 0; i < q->n_uses; i++) {
        memcpy(m->uses[i][0], q->uses[i].rate, sizeof m->uses[i][0]);
        memcpy(m->uses[i][1], q->uses[i].queue, sizeof m->uses[i][1]);
    }
}

static void list_uses(const flow_set *s, uint32_t banks, queues *q)
{
    q->n_banks = q->n_uses = 0;
    for (uint32_t left = banks; left;) {
        const flow_at_bank *at = &s->at_banks[next_of(&left)];

        for (uint32_t k = 0; k < q->n_bundles; k++) {
            q->uses[q->n_uses] =
                (bank_use){(const lanes *)&at->rate[k * FLOW_LANES],
                           (const lanes *)&at->queue[k * FLOW_LANES], k};
            q->n_uses += at->n[k] > 0;
        }
        q->end[q->n_banks++] = q->n_uses;
    }
}

/* Nobody waits where one flow is alone. */
static uint32_t with_queues(const flow_set *s)
{
    return s->queued & s->met;
}

static void add_queues(flow_set *s, plan *p)
{
    uint32_t banks = with_queues(s);
    queues q;
    double *allowed = (double *)q.allowed;
    uint32_t n_places = 0;

    if (!banks)
        return;
    for (uint32_t k = 0; k < s->n_running; k++)
        if (s->flows[s->running[k]].place >= n_places)
            n_places = s->flows[s->running[k]].place + 1;
    q.n_bundles = (n_places + FLOW_LANES - 1) / FLOW_LANES;
    list_uses(s, banks, &q);
    memset(allowed, 0, q.n_bundles * sizeof *q.allowed);
    for (uint32_t k = 0; k < s->n_running; k++)
        allowed[s->flows[s->running[k]].place] = (double)(int64_t)p->speed[k];
    recall_or_agree(s, &q);
    for (uint32_t k = 0; k < s->n_running; k++) {
        uint32_t place = s->flows[s->running[k]].place;
        uint64_t speed = (uint64_t)((const double *)q.speed)[place];

        p->lost[k] += (uint32_t)(p->speed[k] - speed);
        p->speed[k] = speed;
    }
}

/* The shortest flow now, and whether some flow's speed is below one. */
static void look_at_running(flow_set *s)
{
    s->shortest = UINT64_MAX;
    s->slowed = false;
    for (uint32_t k = 0; k < s->n_running; k++) {
        const flow *f = &s->flows[s->running[k]];

        s->shortest = f->length < s->shortest ? f->length : s->shortest;
        s->slowed |= f->speed != ONE;
    }
}

/* Decides the speeds and takes them on. */
static void share_anew(flow_set *s, uint64_t now)
{
    plan p;

    for (uint32_t k = 0; k < s->n_running; k++) {
        s->bank_lost += (now - s->shared_at) * s->flows[s->running[k]].lost;
        p.speed[k] = ONE;
        p.fixed[k] = false;
        p.lost[k] = 0;
    }
    if (s->contended) {
        while (fix_scarcest(s, &p))
            s->scarce = true;
        share_by_age(s, &p);
        add_queues(s, &p);
    }
    for (uint32_t k = 0; k < s->n_running; k++) {
        flow *f = &s->flows[s->running[k]];
        uint64_t done;

        f->lost = f->dma ? 0 : p.lost[k];
        if (p.speed[k] == f->speed)
            continue;
        done = (now - f->since) * f->speed;
        f->work = f->work > done ? f->work - done : 0;
        f->since = now;
        f->speed = p.speed[k];
        f->finish = now + ceil_div(f->work, f->speed);
    }
}

/* Mostly flows that are fast enough to stay so: none shares a bank, and there
 * is enough for all. */
bool flow_share(flow_set *s, uint64_t now)
{
    bool anew = s->slowed || s->over || with_queues(s);

    s->dirty = false;
    s->contended = crowded(s);
    s->scarce = false;
    if (anew)
        share_anew(s, now);
    s->shared_at = now;
    look_at_running(s);
    return anew;
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

void flow_bank_totals(const flow_set *s, uint64_t share[MACH_MAX_BANKS])
{
    for (uint32_t b = 0; b < s->n_banks; b++)
        share[b] = s->contended ? 0 : s->demand[b];
    for (uint32_t k = 0; s->contended && k < s->n_running; k++) {
        const flow *f = &s->flows[s->running[k]];

        for (uint32_t left = f->banks; left;) {
            uint32_t b = next_of(&left);

            share[b] += f->rate[b] * f->speed >> FLOW_Q;
        }
    }
    for (uint32_t b = 0; b < s->n_banks; b++)
        share[b] = share[b] < s->capacity[b] ? share[b] : s->capacity[b];
}
