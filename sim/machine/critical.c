/* See critical.h.
 *
 * What happened is a log of items. Those of a SHAVE are a chain through
 * `before`; transfers of a channel are one, too. The log's order is one in
 * which everything comes after what it waits for, which is all that the walk
 * backwards needs: the slack of an item is known before it is come to. */
#include "sim/machine/critical.h"

#include <stdlib.h>
#include <string.h>

enum { N_SLOTS = 2, MAX_CHANNELS = 16 };

/* Numbers of items, transfers and works, from 1; 0 is none. */
typedef uint32_t link;

typedef enum {
    WORK, /* until t; of: the work */
    CUT,  /* a compute phase ends at t; of: the group */
    ASK,  /* at t; of: the transfer */
    DONE, /* a transfer, of */
    NEED  /* at t, after a wait; of: the transfer that ended last */
} item_kind;

typedef struct {
    uint8_t kind, shave; /* item_kind */
    link before;         /* on that SHAVE */
    link of;
    uint64_t t;
    uint64_t waited, slack; /* NEED: cycles */
} item;

typedef struct {
    uint64_t begin, group;
    mach_phase phase;
    uint64_t by_cause[MACH_N_CAUSES];
} work;

typedef struct {
    critical_request r;
    uint64_t asked, begin, end;
    uint64_t slack; /* as far as it is known */
    uint32_t channel;
    link ask, need;    /* items */
    link before;       /* the transfer before it in its channel */
    link next_pending; /* asked for after it, in the same list */
} transfer;

typedef struct {
    link first, last;
} pending;

typedef struct {
    link last; /* item */
    work open; /* of which no item is made yet, until t */
    uint64_t t;
    uint64_t waited; /* cycles in front of the next NEED */
    link group;      /* the last one whose compute phase ended */
    pending asked[N_SLOTS][MACH_N_PHASES]; /* and not yet needed */
} shave;

/* Room for more of something, in bytes of the whole. */
typedef struct {
    void *items;
    uint32_t n, cap;
} list;

struct critical {
    uint64_t max_bytes, n_bytes;
    bool too_many, short_of_memory, finished;
    list items, works, transfers, groups, segments;
    link channels[MAX_CHANNELS]; /* the last transfer of each */
    shave shaves[MACH_MAX_SHAVES];
    critical_result result;
};

critical *critical_create(uint64_t max_bytes)
{
    critical *c = calloc(1, sizeof *c);

    if (c)
        c->max_bytes = max_bytes;
    return c;
}

static void forget(list *l)
{
    free(l->items);
    *l = (list){0};
}

void critical_free(critical *c)
{
    if (!c)
        return;
    forget(&c->items);
    forget(&c->works);
    forget(&c->transfers);
    forget(&c->groups);
    forget(&c->segments);
    free(c);
}

static bool is_broken(const critical *c)
{
    return c->too_many || c->short_of_memory;
}

void critical_expect(critical *c, uint64_t n_groups)
{
    /* A compute phase has its dispatch, at least, and an end. */
    uint64_t least = sizeof(critical_group) + sizeof(work) + 2 * sizeof(item);

    if (c && n_groups > c->max_bytes / least)
        c->too_many = true;
}

/* One more, zeroed, and its number; 0 when there is no room. */
static link add(critical *c, list *l, size_t bytes)
{
    if (c->n_bytes + bytes > c->max_bytes)
        c->too_many = true;
    if (is_broken(c))
        return 0;
    if (l->n == l->cap) {
        uint32_t cap = l->cap ? 2 * l->cap : 64;
        void *items = realloc(l->items, cap * bytes);

        if (!items) {
            c->short_of_memory = true;
            return 0;
        }
        l->items = items;
        l->cap = cap;
    }
    memset((char *)l->items + l->n * bytes, 0, bytes);
    c->n_bytes += bytes;
    return ++l->n;
}

static item *item_at(const critical *c, link n)
{
    return (item *)c->items.items + n - 1;
}

static work *work_at(const critical *c, link n)
{
    return (work *)c->works.items + n - 1;
}

static transfer *transfer_at(const critical *c, link n)
{
    return (transfer *)c->transfers.items + n - 1;
}

static critical_group *group_at(const critical *c, link n)
{
    return (critical_group *)c->groups.items + n - 1;
}

/* --- what happens -------------------------------------------------------- */

/* An item of a SHAVE; NULL: no room. */
static item *log_item(critical *c, item_kind kind, uint32_t i, link of)
{
    link n = add(c, &c->items, sizeof(item));
    item *at = n ? item_at(c, n) : NULL;

    if (!at)
        return NULL;
    *at = (item){.kind = (uint8_t)kind,
                 .shave = (uint8_t)i,
                 .before = c->shaves[i].last,
                 .of = of,
                 .t = c->shaves[i].t};
    c->shaves[i].last = n;
    return at;
}

/* What the SHAVE did so far is one piece, from which paths may come. */
static void close_work(critical *c, uint32_t i)
{
    shave *s = &c->shaves[i];
    link n;

    if (is_broken(c)) /* only times are asked for */
        return;
    n = s->open.begin < s->t ? add(c, &c->works, sizeof(work)) : 0;
    if (n) {
        *work_at(c, n) = s->open;
        log_item(c, WORK, i, n);
    }
    memset(s->open.by_cause, 0, sizeof s->open.by_cause);
    s->open.begin = s->t;
}

void critical_cause(critical *c, uint32_t i, uint64_t t, uint64_t cycles,
                    mach_cause cause)
{
    shave *s;

    if (!c || cause == MACH_CAUSE_IDLE)
        return;
    s = &c->shaves[i];
    if (cause == MACH_CAUSE_DMA_WAIT) {
        close_work(c, i);
        s->waited += cycles;
        s->open.begin = t + cycles;
    } else {
        s->open.by_cause[cause] += cycles;
    }
    s->t = t + cycles;
}

void critical_phase_begin(critical *c, uint32_t i, uint64_t t, uint64_t group,
                          mach_phase phase)
{
    shave *s;
    link n;

    if (!c)
        return;
    s = &c->shaves[i];
    s->t = t;
    s->open.group = group;
    s->open.phase = phase;
    n = phase == MACH_COMP ? add(c, &c->groups, sizeof(critical_group)) : 0;
    if (n) {
        s->group = n;
        *group_at(c, n) =
            (critical_group){.group = group, .begin = t, .shave = i};
    }
}

void critical_phase_end(critical *c, uint32_t i, uint64_t t)
{
    shave *s;

    if (!c)
        return;
    s = &c->shaves[i];
    s->t = t;
    close_work(c, i);
    if (!s->group || is_broken(c) ||
        group_at(c, s->group)->group != s->open.group)
        return;
    group_at(c, s->group)->end = t;
    if (s->open.phase == MACH_COMP)
        log_item(c, CUT, i, s->group);
}

bool critical_keeps(const critical *c)
{
    return c && !is_broken(c);
}

void critical_passed(critical *c, uint32_t i, uint64_t t)
{
    if (c)
        c->shaves[i].t = t;
}

uint32_t critical_asked(critical *c, uint64_t t, const critical_request *r)
{
    pending *p;
    link n;

    if (!c)
        return 0;
    c->shaves[r->shave].t = t;
    close_work(c, r->shave);
    n = add(c, &c->transfers, sizeof(transfer));
    if (!n || !log_item(c, ASK, r->shave, n))
        return 0;
    *transfer_at(c, n) =
        (transfer){.r = *r, .asked = t, .ask = c->shaves[r->shave].last};
    p = &c->shaves[r->shave].asked[r->slot % N_SLOTS][r->phase];
    if (p->last)
        transfer_at(c, p->last)->next_pending = n;
    else
        p->first = n;
    p->last = n;
    return n;
}

void critical_moved(critical *c, uint32_t n, uint32_t channel, uint64_t begin,
                    uint64_t end)
{
    transfer *x;
    link at;

    if (!c || !n || is_broken(c))
        return;
    x = transfer_at(c, n);
    x->begin = begin;
    x->end = end;
    x->channel = channel;
    x->before = c->channels[channel % MAX_CHANNELS];
    c->channels[channel % MAX_CHANNELS] = n;
    at = add(c, &c->items, sizeof(item));
    if (at)
        *item_at(c, at) = (item){.kind = DONE, .of = n, .t = end};
}

/* Those of a list whose number is below; the one of them and `last` that ended
 * last. */
static link take(critical *c, pending *p, uint64_t below, link need, link last)
{
    while (p->first && transfer_at(c, p->first)->r.number < below) {
        link n = p->first;
        transfer *x = transfer_at(c, n);

        x->need = need;
        if (!last || x->end > transfer_at(c, last)->end)
            last = n;
        p->first = x->next_pending;
        if (!p->first)
            p->last = 0;
    }
    return last;
}

static bool holds_some(const critical *c, const shave *s, critical_set set)
{
    for (int slot = 0; slot < N_SLOTS; slot++)
        for (int p = 0; p < MACH_N_PHASES; p++) {
            link n = s->asked[slot][p].first;

            if (n && set.slots >> slot & 1 && set.phases >> p & 1 &&
                transfer_at(c, n)->r.number < set.below)
                return true;
        }
    return false;
}

void critical_needs(critical *c, uint32_t i, uint64_t t, critical_set set)
{
    shave *s;
    item *at;
    link last = 0;

    if (!c || is_broken(c))
        return;
    s = &c->shaves[i];
    if (!s->waited && !holds_some(c, s, set))
        return;
    s->t = t;
    close_work(c, i);
    at = log_item(c, NEED, i, 0);
    for (int slot = 0; at && slot < N_SLOTS; slot++)
        for (int p = 0; p < MACH_N_PHASES; p++)
            if (set.slots >> slot & 1 && set.phases >> p & 1)
                last = take(c, &s->asked[slot][p], set.below, s->last, last);
    if (at) {
        at->of = last;
        at->waited = s->waited;
    }
    s->waited = 0;
}

/* --- slack --------------------------------------------------------------- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Of a transfer: what uses it, and the next one of its channel, which has told
 * already. */
static void slack_of_transfer(critical *c, transfer *x)
{
    if (x->need)
        x->slack = least(x->slack, item_at(c, x->need)->slack +
                                       (item_at(c, x->need)->t - x->end));
    if (x->before) {
        transfer *p = transfer_at(c, x->before);

        p->slack = least(p->slack, x->slack + (x->begin - p->end));
    }
}

static void find_slack(critical *c, uint32_t n_shaves, uint64_t cycles)
{
    uint64_t now[MACH_MAX_SHAVES]; /* at the place the walk is at */

    for (uint32_t i = 0; i < n_shaves; i++)
        now[i] = cycles - c->shaves[i].t;
    for (link n = 1; n <= c->transfers.n; n++)
        transfer_at(c, n)->slack = cycles - transfer_at(c, n)->end;
    for (link n = c->items.n; n; n--) {
        item *at = item_at(c, n);
        uint64_t *s = &now[at->shave];

        switch ((item_kind)at->kind) {
        case WORK:
            break;
        case CUT:
            group_at(c, at->of)->slack = *s;
            break;
        case ASK: {
            const transfer *x = transfer_at(c, at->of);

            *s = least(*s, x->slack + (x->begin - x->asked));
            break;
        }
        case DONE:
            slack_of_transfer(c, transfer_at(c, at->of));
            break;
        case NEED:
            at->slack = *s;
            *s += at->waited;
            break;
        }
    }
}

/* --- the path ------------------------------------------------------------ */

static critical_segment *add_segment(critical *c, critical_kind kind,
                                     uint64_t begin, uint64_t end)
{
    link n = begin < end ? add(c, &c->segments, sizeof(critical_segment)) : 0;
    critical_segment *s =
        n ? (critical_segment *)c->segments.items + n - 1 : NULL;

    if (s)
        *s = (critical_segment){.kind = kind, .begin = begin, .end = end};
    return s;
}

static void add_work(critical *c, const item *at)
{
    const work *w = work_at(c, at->of);
    critical_segment *s = add_segment(c, CRITICAL_SHAVE, w->begin, at->t);

    if (s) {
        s->shave = at->shave;
        s->group = w->group;
        s->phase = w->phase;
        s->by_cause = w->by_cause;
    }
}

static void add_moved(critical *c, critical_kind kind, const transfer *x,
                      uint64_t end)
{
    critical_segment *s = add_segment(c, kind, x->begin, end);

    if (s) {
        s->shave = x->r.shave;
        s->group = x->r.group;
        s->channel = x->channel;
        s->to_cmx = x->r.to_cmx;
    }
}

/* Backwards from the transfer that ended a wait to the item before the one that
 * asked for it, or for the first of those that kept the channel busy. What
 * passes between its end and the SHAVE's going on counts for it. */
static link through_channel(critical *c, const transfer *x, uint64_t t)
{
    add_moved(c, CRITICAL_TRANSFER, x, t);
    while (x->begin > x->asked && x->before) {
        uint64_t end = x->begin;

        x = transfer_at(c, x->before);
        add_moved(c, CRITICAL_CHANNELS, x, end);
    }
    return item_at(c, x->ask)->before;
}

static void find_path(critical *c, link from)
{
    while (from) {
        const item *at = item_at(c, from);

        from = at->before;
        if (at->kind == WORK)
            add_work(c, at);
        else if (at->kind == CUT)
            group_at(c, at->of)->on_path = true;
        else if (at->kind == NEED && at->waited && at->of)
            from = through_channel(c, transfer_at(c, at->of), at->t);
    }
}

static void turn_round(critical *c)
{
    critical_segment *s = c->segments.items;

    for (uint32_t i = 0; i < c->segments.n / 2; i++) {
        critical_segment first = s[i];

        s[i] = s[c->segments.n - 1 - i];
        s[c->segments.n - 1 - i] = first;
    }
}

static void look(critical *c, uint32_t n_shaves, uint64_t cycles)
{
    critical_result *r = &c->result;
    uint64_t first = cycles, last = 0;

    for (uint32_t i = 0; i < n_shaves; i++) {
        uint64_t t = c->shaves[i].t;

        close_work(c, i);
        if (t > last) {
            last = t;
            r->shave = i;
        }
        first = least(first, t);
    }
    r->slack_most = last > first ? last - first : 0;
    if (is_broken(c))
        return;
    find_slack(c, n_shaves, cycles);
    find_path(c, c->shaves[r->shave].last);
    turn_round(c);
    r->segments = c->segments.items;
    r->n_segments = c->segments.n;
    r->groups = c->groups.items;
    r->n_groups = c->groups.n;
}

vpu_status critical_finish(critical *c, uint32_t n_shaves, uint64_t cycles,
                           critical_result *out, vpu_error *err)
{
    if (!c->finished)
        look(c, n_shaves, cycles);
    c->finished = true;
    *out = c->result;
    if (c->short_of_memory)
        return err_set(err, VPU_ERR_NOMEM, "no memory for a critical path");
    if (c->too_many)
        return err_set(err, VPU_ERR_LIMIT,
                       "too many phases and transfers for a critical path");
    return VPU_OK;
}
