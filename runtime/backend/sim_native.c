/* Launches that are no kernels: the stages of a blob. What they compute is
 * runtime/native's matter; here they get memory, threads and an end. */
#include <stdatomic.h>
#include <unistd.h>

#include "runtime/backend/sim_priv.h"
#include "runtime/native/cost.h"

enum { MOST_THREADS = 64 };

typedef struct {
    exec_threads *threads; /* NULL: this thread alone */
    uint32_t n_threads;
    const atomic_bool *cancel;
    atomic_bool late; /* the time limit is over */
} running;

/* --- threads ------------------------------------------------------------- */

typedef struct {
    running *r;
    void (*part)(void *arg, uint32_t i);
    void *arg;
    uint32_t n, grain;
    _Atomic uint32_t next;
} parts;

static bool stopped(const running *r)
{
    return atomic_load(&r->late) || (r->cancel && atomic_load(r->cancel));
}

static void work(void *arg)
{
    parts *p = arg;

    while (!stopped(p->r)) {
        uint32_t first = atomic_fetch_add(&p->next, p->grain);

        if (first >= p->n)
            return;
        for (uint32_t i = first;
             i < p->n && i - first < p->grain && !stopped(p->r); i++)
            p->part(p->arg, i);
    }
}

static void each(void *user, uint32_t n, void (*part)(void *arg, uint32_t i),
                 void *arg)
{
    running *r = user;
    /* n + what the threads add at the end stays below 2^32. */
    uint32_t more = n < r->n_threads ? n : r->n_threads;
    parts p = {
        .r = r, .part = part, .arg = arg, .n = n, .grain = n / (more * 16) + 1};

    for (uint32_t i = 1; i < more && r->threads; i++)
        if (!exec_threads_run(r->threads, work, &p))
            break;
    work(&p);
    if (r->threads)
        exec_threads_join(r->threads);
}

static bool asked(void *user)
{
    return stopped(user);
}

static uint32_t threads_of(const backend_config *cfg)
{
    long n = cfg->how.n_threads ? (long)cfg->how.n_threads
                                : sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (uint32_t)n;
}

static void strike(void *arg)
{
    atomic_store(&((running *)arg)->late, true);
}

/* --- one launch ---------------------------------------------------------- */

static vpu_status ended(const running *r, const graph_launch *l, double limit,
                        vpu_error *err)
{
    if (!stopped(r))
        return VPU_OK;
    if (r->cancel && atomic_load(r->cancel))
        return err_set(err, VPU_ERR_STOPPED, "%s: stopped", l->name);
    return err_set(err, VPU_ERR_LIMIT,
                   "%s (%s): more than %g s of this machine's time", l->name,
                   l->type, limit);
}

static void run_values(backend_sim_graph *b, const graph_launch *l, running *r)
{
    void **data = arena_array(b->arena, void *, l->n_args + 1);
    native_threads threads = {each, asked, r};

    for (uint32_t i = 0; i < l->n_args; i++)
        data[i] = memory_window(b->mem) + b->addresses[l->args[i].buffer] +
                  l->args[i].offset;
    native_run(l->native, data, exec_scratch_arena(&b->scratch), &threads);
    exec_scratch_give_back(&b->scratch);
}

/* What it wrote, kernels may read. */
static void note_written(backend_sim_graph *b, const graph_launch *l)
{
    for (uint32_t i = 0; i < l->n_args; i++)
        if (l->args[i].written)
            check_filled(b->checker,
                         b->addresses[l->args[i].buffer] + l->args[i].offset,
                         l->args[i].bytes);
}

static vpu_status run_time(backend_sim_graph *b, uint32_t i, vpu_error *err)
{
    const graph_launch *l = &b->graph->launches[i];
    mach_work works[MACH_MAX_WORKS];
    uint32_t n = native_cost(l->native, b->desc, l->name, b->arena, works);

    return mach_stage_run(b->desc, works, n, b->clock, b->trace,
                          &b->stages[i].result.exec.profile, err);
}

vpu_status backend_sim_run_native(backend_sim_graph *b, uint32_t i,
                                  vpu_error *err)
{
    const graph_launch *l = &b->graph->launches[i];
    exec_result *result = &b->stages[i].result.exec;
    const exec_options *how = &b->cfg->how;
    arena_mark mark = arena_save(b->arena);
    running r = {.threads = b->threads,
                 .n_threads = b->threads ? threads_of(b->cfg) : 1,
                 .cancel = how->cancel};
    vpu_status st;

    *result = (exec_result){.n_groups = 1, .factor = 1};
    if (how->timeout_s > 0 && b->threads)
        exec_threads_watch(b->threads, how->timeout_s, strike, &r);
    run_values(b, l, &r);
    if (how->timeout_s > 0 && b->threads)
        exec_threads_unwatch(b->threads);
    if (b->checker)
        note_written(b, l);
    st = ended(&r, l, how->timeout_s, err);
    if (!st && how->timing != EXEC_NO_TIMING)
        st = run_time(b, i, err);
    arena_restore(b->arena, mark);
    return st;
}
