/* Hooks that yield, and copies put off. */
#include "sim/check/order.h"

#include <string.h>

#include "sim/exec/copy.h"

enum { MAX_LATE = 1024 };

typedef struct order_run order_run;

/* Of one SHAVE. */
typedef struct {
    order_run *run;
    copy_shape late[MAX_LATE]; /* transfers 0 … n - 1 of the phase; those made
                                  have no bytes */
    uint32_t n;
} late_copies;

struct order_run {
    arena *a;
    uint8_t *window;
    bool late;
};

static void make(late_copies *l, uint32_t n)
{
    for (uint32_t i = 0; i < l->n && i < n; i++) {
        copy_run(&l->late[i], l->run->window);
        l->late[i].bytes = 0;
    }
}

static uint32_t dma(sim_wg *wg, uint64_t *log, const uint32_t *a)
{
    late_copies *l = wg->check.user;
    uint32_t plain[12], r;

    memcpy(plain, a, sizeof plain);
    if (l->run->late && l->n < MAX_LATE && a[4] && a[5]) {
        l->late[l->n++] = (copy_shape){.dst = a[0],
                                       .src = a[1],
                                       .bytes = a[3],
                                       .src_width = a[4],
                                       .dst_width = a[5],
                                       .src_pitch = a[6],
                                       .dst_pitch = a[7],
                                       .planes = a[8],
                                       .src_plane = a[9],
                                       .dst_plane = a[10]};
        plain[3] = 0;
    }
    r = exec_dma(wg, log, plain);
    exec_yield();
    return r;
}

static void wait(sim_wg *wg, uint64_t *log, uint32_t n)
{
    make(wg->check.user, n);
    exec_wait(wg, log, n);
    exec_yield();
}

static void barrier(sim_wg *wg)
{
    (void)wg;
    exec_yield();
}

static void event(sim_wg *wg, uint32_t n)
{
    (void)wg;
    (void)n;
}

static void same(sim_wg *wg, uint32_t site, uint32_t hash)
{
    (void)wg;
    (void)site;
    (void)hash;
}

const sim_hooks order_hooks = {.flush = exec_flush,
                               .dma = dma,
                               .wait = wait,
                               .touch = exec_touch,
                               .print = exec_print,
                               .divergence = exec_divergence,
                               .limit = exec_limit,
                               .barrier = barrier,
                               .same = same,
                               .event = event};

/* --- groups --------------------------------------------------------------- */

static void group_begin(void *user, sim_wg *wg, uint64_t group,
                        const uint8_t *args)
{
    order_run *r = user;
    late_copies *l = wg->check.user;

    (void)group;
    (void)args;
    if (!l) {
        l = arena_new(r->a, late_copies);
        l->run = r;
        wg->check.user = l;
    }
    l->n = 0;
}

static void phase_begin(void *user, sim_wg *wg, mach_phase phase)
{
    late_copies *l = wg->check.user;

    (void)user;
    (void)phase;
    l->n = 0;
}

static void phase_end(void *user, sim_wg *wg, mach_phase phase)
{
    (void)user;
    (void)phase;
    make(wg->check.user, MAX_LATE);
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
    const exec_observer observer = {.user = &r,
                                    .group_begin = group_begin,
                                    .phase_begin = phase_begin,
                                    .phase_end = phase_end,
                                    .group_end = group_end,
                                    .stopped = stopped};
    exec_launch el = *l;
    exec_result result;
    vpu_status st;

    el.timing = EXEC_NO_TIMING;
    el.engine = EXEC_COMPILED;
    el.n_threads = 1;

    el.trace = NULL;
    el.profile = NULL;
    el.print = NULL;
    el.observer = &observer;
    st = exec_run(mem, desc, &el, &result, err);
    arena_destroy(r.a);
    return st;
}
