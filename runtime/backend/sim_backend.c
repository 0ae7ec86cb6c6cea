/* The simulator behind the table of operations. */
#include <string.h>
#include <time.h>

#include "runtime/backend/ops.h"
#include "base/clock.h"

typedef struct {
    arena *a;
    const graph *g;
    mach_desc desc; /* the default machine, unless one was given */
    backend_sim_config cfg;
    backend_caps caps;
    backend_sim *sim;
} table_sim;

static vpu_status sim_probe(arena *a, backend_device **list, uint32_t *n,
                            vpu_error *err)
{
    mach_desc desc;
    vpu_status st = mach_desc_load(NULL, a, &desc, err);

    *n = 0;
    if (st)
        return st;
    *list = arena_new(a, backend_device);
    **list = (backend_device){
        .id = "sim",
        .name = arena_printf(a, "simulated %s, %llu SHAVEs", desc.machine,
                             (unsigned long long)desc.num_shaves),
        .version = VPU_VERSION,
        .memory_bytes = desc.ddr_bytes,
        .half = true,
        .usable = true};
    *n = 1;
    return VPU_OK;
}

static void sim_close(void *self)
{
    table_sim *t = self;

    if (!t)
        return;
    backend_sim_close(t->sim);
    arena_destroy(t->a);
}

static vpu_status sim_open(const backend_config *cfg, const graph *g,
                           void **self, vpu_error *err)
{
    arena *a;
    table_sim *t;
    vpu_status st = VPU_OK;

    *self = NULL;
    if (*cfg->device)
        return err_set(err, VPU_ERR_INVALID,
                       "backend sim has no device '%s': its id is sim",
                       cfg->device);
    a = arena_create(0);
    t = arena_new(a, table_sim);
    t->a = a;
    t->g = g;
    if (cfg->sim)
        t->cfg = *cfg->sim;
    t->cfg.n_threads = cfg->n_threads;
    t->cfg.timeout_s = cfg->timeout_s;
    t->cfg.source_dir = cfg->source_dir;
    t->cfg.options = cfg->options;
    t->cfg.n_options = cfg->n_options;
    t->cfg.limits = cfg->limits;
    t->cfg.no_cache = cfg->no_cache;
    t->cfg.log = cfg->log;
    t->cfg.print = cfg->print;
    t->cfg.print_user = cfg->print_user;
    if (!t->cfg.desc) {
        st = mach_desc_load(NULL, a, &t->desc, err);
        t->cfg.desc = &t->desc;
    }
    t->caps = (backend_caps){.device = arena_strdup(a, t->cfg.desc->machine),
                             .version = VPU_VERSION,
                             .stages = true,
                             .timed = t->cfg.timing != EXEC_NO_TIMING,
                             .cycles = t->cfg.timing != EXEC_NO_TIMING};
    if (!st)
        st = backend_sim_open(&t->cfg, g, &t->sim, err);
    if (st) {
        sim_close(t);
        return st;
    }
    *self = t;
    return VPU_OK;
}

static const backend_caps *sim_caps(const void *self)
{
    return &((const table_sim *)self)->caps;
}

static vpu_status sim_write(void *self, uint32_t i, const void *data,
                            vpu_error *err)
{
    table_sim *t = self;

    (void)err;
    memcpy(backend_sim_buffer(t->sim, i), data, t->g->buffers[i].bytes);
    return VPU_OK;
}

static vpu_status sim_read(void *self, uint32_t i, void *data, vpu_error *err)
{
    table_sim *t = self;

    (void)err;
    memcpy(data, backend_sim_buffer(t->sim, i), t->g->buffers[i].bytes);
    return VPU_OK;
}

static vpu_status sim_run(void *self, uint32_t first, uint32_t n,
                          backend_result *results, vpu_error *err)
{
    table_sim *t = self;
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < n && !st; i++) {
        double start = clock_seconds();
        uint64_t cycles;

        st = backend_sim_run_one(t->sim, first + i, err);
        cycles = backend_sim_result(t->sim, first + i)->exec.profile.cycles;
        results[i] =
            t->caps.cycles
                ? (backend_result){mach_desc_seconds(t->cfg.desc, cycles),
                                   cycles}
                : (backend_result){clock_seconds() - start, 0};
    }
    return st;
}

const backend_ops backend_sim_ops = {.name = "sim",
                                     .about = "the simulated VPU",
                                     .probe = sim_probe,
                                     .open = sim_open,
                                     .close = sim_close,
                                     .caps = sim_caps,
                                     .write = sim_write,
                                     .read = sim_read,
                                     .run = sim_run};
