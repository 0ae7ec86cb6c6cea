/* From a blob to something that runs. */
#include "runtime/stick/program.h"

#include <string.h>

#include "runtime/blob/stage.h"
#include "runtime/import/import.h"
#include "runtime/native/native.h"

struct stick_program {
    arena *arena;
    stick_program_config cfg;
    blob blob;
    graph graph;
    mach_desc desc;
    backend_config run;
    backend sim;
    uint64_t n_times; /* told so far */
};

void stick_stages(str *out)
{
    str_printf(out, "%4d %-24s the kernel in the blob, simulated\n",
               STAGE_CUSTOM, stage_name(STAGE_CUSTOM));
    for (uint32_t i = STAGE_LOOP_START; i <= STAGE_LOOP_END; i++)
        str_printf(out, "%4u %-24s slices are copied, once an iteration\n", i,
                   stage_name(i));
    native_stages(out);
}

static vpu_status open_sim(stick_program *p, vpu_error *err)
{
    const stick_program_config *c = &p->cfg;
    vpu_status st = VPU_OK;

    if (c->desc)
        p->desc = *c->desc;
    else
        st = mach_desc_load(NULL, p->arena, &p->desc, err);

    p->run = (backend_config){.device = "",
                              .desc = &p->desc,
                              .how = {.n_shaves = p->blob.n_shaves,
                                      .n_threads = c->n_threads,
                                      .timeout_s = c->timeout_s},
                              .source_dir = c->kernels,
                              .compile.no_cache = c->no_cache,
                              .log = c->log,
                              .print = c->print,
                              .print_user = c->print_user};
    return st ? st
              : backend_open(
                    backend_offering(BACKEND_MACHINE | BACKEND_INSPECT),
                    &p->run, &p->graph, &p->sim, err);
}

vpu_status stick_program_load(const void *file, size_t n,
                              const stick_program_config *cfg,
                              stick_program **out, vpu_error *err)
{
    arena *a = arena_create(0);
    stick_program *p = arena_new(a, stick_program);
    vpu_status st;

    p->arena = a;
    p->cfg = *cfg;
    st = blob_parse(arena_memdup(a, file, n), n, "the blob", a, &p->blob, err);
    if (!st)
        st = import_blob(&p->blob,
                         &(const import_config){.kernels = cfg->kernels}, a,
                         &p->graph, err);
    if (!st)
        st = open_sim(p, err);
    if (st)
        stick_program_free(p);
    else
        *out = p;
    return st;
}

void stick_program_free(stick_program *p)
{
    if (!p)
        return;
    backend_close(&p->sim);
    arena_destroy(p->arena);
}

static uint64_t memory_of(const graph *g)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < g->n_buffers; i++)
        n += g->buffers[i].bytes;
    return n;
}

stick_program_info stick_program_about(const stick_program *p)
{
    return (stick_program_info){p->blob.inputs_size, p->blob.outputs_size,
                                p->blob.n_stages, p->blob.batch,
                                memory_of(&p->graph)};
}

/* Of an inference: the time of each stage, of all items of a batch. */
static void add_times(stick_program *p, uint32_t at_once, float *ms)
{
    uint32_t n = p->graph.n_launches;
    mach_executors_result unused;
    arena *a = arena_create(0);
    double *cycles = arena_array(a, double, n);

    while (at_once > 1 &&
           backend_executors(&p->sim, &p->graph, &p->desc, at_once, NULL,
                             cycles, &unused, NULL))
        at_once--;
    for (uint32_t i = 0; i < n; i++) {
        if (at_once < 2)
            cycles[i] =
                (double)backend_launch_of(&p->sim, i)->exec.profile.cycles;
        ms[p->graph.launches[i].line] +=
            (float)(cycles[i] / (double)p->desc.clk_mhz * 1e-3);
    }
    for (uint32_t i = 0; i < p->blob.n_stages; i++)
        ms[i] *= (float)stick_noise_factor(&p->cfg.noise, p->n_times++);
    arena_destroy(a);
}

vpu_status stick_program_run(stick_program *p, const void *input, void *output,
                             uint32_t at_once, float *ms, vpu_error *err)
{
    const blob *b = &p->blob;
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < b->n_stages; i++)
        ms[i] = 0;
    for (uint32_t i = 0; i < b->n_inputs; i++)
        memcpy(backend_buffer(&p->sim, i),
               (const char *)input + b->inputs[i].offset,
               p->graph.buffers[i].bytes);
    for (uint32_t i = 0; i < p->graph.n_launches && !st; i++)
        st = backend_run_one(&p->sim, i, err);
    if (st)
        return st;
    add_times(p, at_once, ms);
    for (uint32_t i = 0; i < b->n_outputs; i++)
        memcpy((char *)output + b->outputs[i].offset,
               backend_buffer(&p->sim, b->n_inputs + i),
               p->graph.buffers[b->n_inputs + i].bytes);
    return VPU_OK;
}
