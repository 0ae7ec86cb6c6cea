/* A graph on the simulator: what its parts share. sim.c opens and closes and
 * has the tables, sim_kernels.c compiles the kernels and binds their arguments,
 * sim_run.c runs launches. Private to runtime/backend. */
#ifndef VPU_RUNTIME_BACKEND_SIM_PRIV_H
#define VPU_RUNTIME_BACKEND_SIM_PRIV_H

#include "runtime/backend/ops.h"
#include "runtime/backend/source.h"

enum { SIM_MAX_TIMES = 64 };

typedef struct {
    sim_kernel *kernel; /* NULL: a native launch */
    backend_source src;
    exec_value *values;
    sim_checking checking; /* as it was compiled */
    sim_kernel *plain;     /* for checking: as the device would run it */
    backend_launch result;
    /* Of the last run; NULL without time, and of native launches. */
    exec_sample *sample;
    mach_record *steps; /* NULL: none were ever kept */
    /* Of the runs so far, ascending; run_s and engine_s of backend_launch. */
    struct {
        double run, engine;
    } times[SIM_MAX_TIMES];
    uint32_t n_times;
} backend_sim_stage;

typedef struct {
    arena *arena;
    const backend_config *cfg;
    const graph *graph;
    mach_desc own_desc;    /* the default machine, unless one was given */
    const mach_desc *desc; /* of cfg, or own_desc */
    backend_caps caps;
    memory *mem;
    uint32_t *addresses;    /* of the graph's buffers */
    check_session *checker; /* NULL = none */
    exec_threads *threads;  /* NULL = each launch has its own */
    exec_scratch scratch;
    backend_sim_stage *stages;
    uint64_t clock; /* cycles so far */
    /* What looks at the next runs. */
    trc_writer *trace;
    const char *profile; /* who wants it, for messages; NULL = nobody */
    const exec_observer *const *observers;
    uint32_t n_observers;
    uint64_t first;
    uint64_t steps_bytes; /* to keep of each launch; 0 = none */
} backend_sim_graph;

/* sim_kernels.c: the kernel of each launch, and its arguments.
 *
 * VPU_ERR_COMPILE, VPU_ERR_UNSUPPORTED, VPU_ERR_IO  of the kernels
 * VPU_ERR_MISMATCH  signature and binding differ (kernel, argument, both types,
 *                   file and line of the binding) */
vpu_status backend_sim_load_kernels(backend_sim_graph *b, vpu_error *err);
/* backend_inspect_ops.rebind */
vpu_status backend_sim_rebind(void *self, uint32_t i, vpu_error *err);
/* To be called before each run of a launch with a kernel: has it code for the
 * size that the launch's groups have now? Errors as of load_kernels. */
vpu_status backend_sim_fit_kernel(backend_sim_graph *b, uint32_t i,
                                  vpu_error *err);
/* The launch's kernel once more, as code that notes each access's line. */
vpu_status backend_sim_load_tracking(backend_sim_graph *b,
                                     const graph_launch *l,
                                     const backend_sim_stage *s,
                                     sim_kernel **out, vpu_error *err);

/* sim_run.c: launch i, after those before it; with i = 0 the clock starts
 * again.
 *
 * Errors are those of exec_run, and VPU_ERR_FAULT when a kernel wrote beside a
 * buffer. */
vpu_status backend_sim_run_launch(backend_sim_graph *b, uint32_t i,
                                  vpu_error *err);
/* sim_native.c: launch i, which is a native one. Its cycles are in the result.
 *
 * VPU_ERR_LIMIT    backend_config.how.timeout_s is over
 * VPU_ERR_STOPPED  somebody wants it to end */
vpu_status backend_sim_run_native(backend_sim_graph *b, uint32_t i,
                                  vpu_error *err);
vpu_status backend_sim_run_in_order(void *self, uint32_t i,
                                    const backend_order *o, vpu_error *err);

#endif
