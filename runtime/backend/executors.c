/* Inferences at once: the launches of a run as what they ask of the machine. */
#include "runtime/backend/backend.h"
#include "runtime/native/cost.h"

static mach_stage stage_of(const backend *b, const graph *g, uint32_t i,
                           const mach_desc *desc, arena *a)
{
    const graph_launch *l = &g->launches[i];
    const backend_launch *ran = backend_launch_of(b, i);
    mach_work *works = arena_array(a, mach_work, MACH_MAX_WORKS);

    if (l->native)
        return (mach_stage){works,
                            native_cost(l->native, desc, l->name, a, works)};
    works[0] = (mach_work){.unit = MACH_WORK_LAUNCH,
                           .name = l->name,
                           .type = l->type,
                           .n_shaves = ran->n_shaves,
                           .cycles = ran->exec.profile.cycles,
                           .ddr_in = ran->exec.profile.ddr_bytes};
    return (mach_stage){works, 1};
}

vpu_status backend_executors(const backend *b, const graph *g,
                             const mach_desc *desc, uint32_t n,
                             trc_writer *trace, double *stage_cycles,
                             mach_executors_result *out, vpu_error *err)
{
    arena *a = arena_create(0);
    mach_stage *stages = arena_array(a, mach_stage, g->n_launches);
    vpu_status st;

    for (uint32_t i = 0; i < g->n_launches; i++)
        stages[i] = stage_of(b, g, i, desc, a);
    st = mach_executors_run(desc, stages, g->n_launches, n,
                            desc->inference_fixed, trace, stage_cycles, out,
                            err);
    arena_destroy(a);
    return st;
}
