/* Hooks that yield, and copies put off. */
#include "sim/check/order.h"

#include <string.h>

#include "sim/exec/copy.h"

enum { MAX_LATE = 1024 };

typedef struct order_run order_run;

/* A transfer that is not made yet. */
typedef struct {
    copy_shape shape;
    uint32_t number; /* among the phase's */
} late_copy;

/* Of one SHAVE. */
typedef struct {
    order_run *run;
    late_copy late[MAX_LATE];
    uint32_t n, transfers; /* of the phase, late or not */
} late_copies;

struct order_run {
    arena *a;
    uint8_t *window;
    bool late;
};

/* Makes the phase's transfers up to `last`. */
static void make(late_copies *l, uint32_t last)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < l->n; i++)
        if (l->late[i].number > last)
            l->late[kept++] = l->late[i];
        else
            copy_run(&l->late[i].shape, l->run->window);
    l->n = kept;
}

static uint32_t dma(sim_wg *wg, uint64_t *log, const sim_dma *a)
{
    late_copies *l = wg->check.user;
    sim_dma plain = *a;
    uint32_t r;

    l->transfers++;
    if (l->run->late && l->n < MAX_LATE && a->src_width && a->dst_width) {
        l->late[l->n++] = (late_copy){copy_shape_of(a), l->transfers};
        plain.bytes = 0;
    }
    r = exec_dma(wg, log, &plain);
    exec_yield();
    return r;
}

static void wait(sim_wg *wg, uint64_t *log, uint32_t n)
{
    make(wg->check.user, exec_wait_end(wg, n));
    exec_wait(wg, log, n);
    exec_yield();
}

static void barrier(sim_wg *wg)
{
    (void)wg;
    exec_yield();
}

const sim_hooks order_hooks = {
#define HOOK_EVERY(returns, name, parameters) .name = exec_##name,
#include "sim/compiler/abi/hooks.def"
    .dma = dma, .wait = wait, .barrier = barrier};

/* --- groups -------------------------------------------------------------- */

static void group_begin(void *user, sim_wg *wg, uint64_t index, uint64_t group,
                        const uint8_t *args)
{
    order_run *r = user;
    late_copies *l = wg->check.user;

    (void)index;
    (void)group;
    (void)args;
    if (!l) {
        l = arena_new(r->a, late_copies);
        l->run = r;
        wg->check.user = l;
    }
    l->n = l->transfers = 0;
}

static void phase_begin(void *user, sim_wg *wg, mach_phase phase,
                        const isa_function *f)
{
    late_copies *l = wg->check.user;

    (void)f;
    (void)user;
    (void)phase;
    l->n = l->transfers = 0;
}

static void phase_end(void *user, sim_wg *wg, mach_phase phase, uint64_t cycles)
{
    (void)cycles;
    (void)user;
    (void)phase;
    make(wg->check.user, UINT32_MAX);
}

static void group_end(void *user, sim_wg *wg)
{
    (void)user;
    (void)wg;
    exec_yield();
}

static void stopped(void *user, sim_wg *wg, const exec_stop *why)
{
    (void)user;
    (void)wg;
    (void)why;
}

vpu_status order_launch(memory *mem, const mach_desc *desc,
                        const exec_launch *l, bool late, vpu_error *err)
{
    order_run r = {
        .a = arena_create(0), .window = memory_window(mem), .late = late};
    const exec_observer observer = {
        .name = "trying orders",
        .needs = EXEC_NEED_ORDER | EXEC_NEED_HOST_CODE | EXEC_NEED_NO_TIME,
        .user = &r,
        .group_begin = group_begin,
        .phase_begin = phase_begin,
        .phase_end = phase_end,
        .group_end = group_end,
        .stopped = stopped};
    const exec_observer *const list = &observer;
    exec_launch el = *l;
    exec_result result;
    vpu_status st;

    el.how.timing = EXEC_NO_TIMING;
    el.how.engine = EXEC_COMPILED;
    el.print = NULL;
    el.observers = &list;
    el.n_observers = 1;
    st = exec_run(mem, desc, &el, &result, err);
    arena_destroy(r.a);
    return st;
}
