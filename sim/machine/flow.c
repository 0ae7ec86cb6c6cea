/* Flows: see flow.h for the model.
 *
 * Two shortcuts keep the common cases cheap. While the demand fits, starting
 * and ending a flow is an addition. And a flow that asks for less than 1/4096
 * of the capacity always runs at full speed without being counted: under
 * max-min fairness small demands are served in full anyway, and even 64 such
 * flows overdraw the capacity by less than 1.6 %. */
#include "sim/machine/flow.h"

#include <assert.h>
#include <string.h>

#define ONE (UINT64_C(1) << FLOW_Q)

enum { NEGLIGIBLE = 4096 };

void flow_init(flow_set *s, uint64_t capacity)
{
    memset(s, 0, sizeof *s);
    s->capacity = capacity ? capacity : 1;
}

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

uint64_t flow_start(flow_set *s, uint32_t i, uint64_t now, uint64_t bytes,
                    uint64_t work)
{
    flow *f = &s->flows[i];
    uint64_t least = ceil_div(bytes << FLOW_Q, s->capacity);

    assert(bytes >> 43 == 0 && work >> 43 == 0);
    if (work < least)
        work = least;
    f->rate = ceil_div(bytes << FLOW_Q, work);
    /* Rounding up must not make the only flow slower than alone. */
    if (f->rate > s->capacity)
        f->rate = s->capacity;
    f->work = work << FLOW_Q;
    f->speed = ONE;
    f->since = now;
    f->finish = now + work;
    f->counted = f->rate > s->capacity / NEGLIGIBLE;
    if (f->counted) {
        s->demand += f->rate;
        s->running[s->n_running++] = (uint8_t)i;
        s->dirty |= s->demand > s->capacity;
    }
    return work;
}

void flow_end(flow_set *s, uint32_t i)
{
    flow *f = &s->flows[i];
    uint32_t at = 0;

    if (!f->counted)
        return;
    while (s->running[at] != i)
        at++;
    s->n_running--;
    memmove(&s->running[at], &s->running[at + 1], s->n_running - at);
    s->demand -= f->rate;
    f->counted = false;
    s->dirty |= s->contended;
}

/* The rate above which flows are cut: those at or below it are served in full,
 * the others share the rest equally. */
static uint64_t fair_rate(const flow_set *s)
{
    uint64_t rest = s->capacity, level = 0, small = 0;
    uint32_t n = s->n_running, n_small = 0;

    for (;;) {
        uint64_t sum = 0;
        uint32_t served = 0;

        if (n == n_small)
            return UINT64_MAX;
        level = (rest - small) / (n - n_small);
        for (uint32_t k = 0; k < n; k++) {
            uint64_t rate = s->flows[s->running[k]].rate;

            if (rate <= level) {
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

bool flow_share(flow_set *s, uint64_t now)
{
    uint64_t fair, last_rate = 0, last_speed = 0;

    s->dirty = false;
    s->contended = s->demand > s->capacity;
    fair = s->contended ? fair_rate(s) : UINT64_MAX;
    for (uint32_t k = 0; k < s->n_running; k++) {
        flow *f = &s->flows[s->running[k]];
        uint64_t speed = ONE, done;

        if (f->rate > fair) {
            if (f->rate != last_rate) {
                last_rate = f->rate;
                last_speed = (fair << FLOW_Q) / f->rate;
                if (!last_speed)
                    last_speed = 1;
            }
            speed = last_speed;
        }
        if (speed == f->speed)
            continue;
        done = (now - f->since) * f->speed;
        f->work = f->work > done ? f->work - done : 0;
        f->since = now;
        f->speed = speed;
        f->finish = now + ceil_div(f->work, speed);
    }
    return true;
}

uint64_t flow_total(const flow_set *s)
{
    return s->demand < s->capacity ? s->demand : s->capacity;
}
