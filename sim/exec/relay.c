#include "sim/exec/relay.h"

typedef struct {
    mach_watch own;
    const mach_watch **to;
    uint32_t n;
} relay;

static void on_launch_begin(void *user, const mach_launch *l)
{
    const relay *r = user;

    for (uint32_t i = 0; i < r->n; i++)
        if (r->to[i]->launch_begin)
            r->to[i]->launch_begin(r->to[i]->user, l);
}

static void on_phase_begin(void *user, uint32_t shave, uint64_t group,
                           mach_phase phase)
{
    const relay *r = user;

    for (uint32_t i = 0; i < r->n; i++)
        if (r->to[i]->phase_begin)
            r->to[i]->phase_begin(r->to[i]->user, shave, group, phase);
}

static void on_phase_end(void *user, uint32_t shave)
{
    const relay *r = user;

    for (uint32_t i = 0; i < r->n; i++)
        if (r->to[i]->phase_end)
            r->to[i]->phase_end(r->to[i]->user, shave);
}

static void on_cause(void *user, uint32_t shave, uint64_t now, uint64_t cycles,
                     mach_cause cause)
{
    const relay *r = user;

    for (uint32_t i = 0; i < r->n; i++)
        if (r->to[i]->cause)
            r->to[i]->cause(r->to[i]->user, shave, now, cycles, cause);
}

static void on_transfer(void *user, const mach_moved *m)
{
    const relay *r = user;

    for (uint32_t i = 0; i < r->n; i++)
        if (r->to[i]->transfer)
            r->to[i]->transfer(r->to[i]->user, m);
}

const mach_watch *relay_watch(const mach_watch *first, const exec_launch *l,
                              arena *a)
{
    relay *r = arena_new(a, relay);

    r->to = arena_array(a, const mach_watch *, l->n_observers + 1);
    if (first)
        r->to[r->n++] = first;
    for (uint32_t i = 0; i < l->n_observers; i++)
        if (l->observers[i]->watch)
            r->to[r->n++] = l->observers[i]->watch;
    r->own = (mach_watch){.launch_begin = on_launch_begin,
                          .phase_begin = on_phase_begin,
                          .phase_end = on_phase_end,
                          .cause = on_cause,
                          .transfer = on_transfer,
                          .user = r};
    return r->n > 1 ? &r->own : r->n ? r->to[0] : NULL;
}
