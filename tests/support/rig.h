/* A device and one kernel on it, for tests that look at what kernels compute.
 *
 * Everything that must work asserts; only rig_run hands its status back. */
#ifndef VPU_TESTS_SUPPORT_RIG_H
#define VPU_TESTS_SUPPORT_RIG_H

#include "base/log.h"
#include "sim/check/check.h"
#include "sim/exec/exec.h"

enum { RIG_MAX_ARGS = SIM_MAX_ARGS };

typedef struct {
    arena *arena;
    mach_desc desc;
    memory *mem;
    char dir[40]; /* for the source; removed by rig_close */
    sim_kernel *kernel;
    kernel_unit *unit;
    exec_value values[RIG_MAX_ARGS];
    uint64_t buffer_bytes[RIG_MAX_ARGS]; /* 0 for what is no buffer */
    uint32_t n_values;
    /* Each run that ends well is repeated on the interpreter, which must leave
     * the same bytes after the same cycles and the same traffic, all of it
     * found by line. */
    bool both_engines;
    /* And under the checkers, with and without following undefined values: the
     * same bytes, and no findings but of half overflows. VPU_CHECKED in the
     * environment does it for all, findings allowed. */
    bool clean;
    const char *entry;
    const char *who; /* named when engines differ; NULL = nobody */
    sim_kernel *checked[2];
    /* How to run; rig_open sets 3 SHAVEs, one thread, sequential order. */
    uint32_t n_shaves, n_threads;
    uint32_t offset[3], work_dim; /* of exec_launch */
    exec_order order;
    uint64_t seed, max_cycles;
    double timeout_s;
    /* Other than EXEC_OVERRUN_FAULT: what a kernel finds there depends on the
     * layout, so it does not run under the checkers. */
    exec_overruns overruns;
    const log_sink *log; /* of launches; NULL = none */
    /* What came of the last rig_run. */
    exec_result result;
    vpu_error err;
} rig;

void rig_open(rig *r);
void rig_close(rig *r);
/* Millions of items: only one engine, unless VPU_BOTH is set (make
 * check-engines). */
void rig_heavy(rig *r);

/* Write source to dir/k.cl and compile its kernel. Forgets the arguments. */
void rig_compile(rig *r, const char *source, const char *entry);
vpu_status rig_try_compile(rig *r, const char *source, const char *entry);

/* The front end once for a file of several kernels, and one kernel of it.
 * Forgets the arguments. */
vpu_status rig_try_open_unit(rig *r, const char *source);
vpu_status rig_try_unit_kernel(rig *r, const char *entry);

/* The next argument. Buffers are zeroed; their host address is returned. */
void *rig_buffer(rig *r, uint64_t bytes);
void rig_int(rig *r, int32_t v);
void rig_float(rig *r, float v);
void rig_raw(rig *r, const void *v, uint32_t bytes);
void rig_local(rig *r, uint32_t bytes);

/* groups of local work-items each, three dimensions. */
vpu_status rig_run(rig *r, const uint32_t groups[3], const uint32_t local[3]);
/* One dimension; must succeed. */
void rig_run_1d(rig *r, uint32_t groups, uint32_t local);
/* Three dimensions; must succeed. */
void rig_run_3d(rig *r, const uint32_t groups[3], const uint32_t local[3]);

/* Where a launch's profile goes: *to, the rows into a. */
typedef struct {
    exec_profile *to;
    arena *arena;
} rig_keeper;

/* The observer that puts it there; k must outlive the launch. */
exec_observer rig_profiler(rig_keeper *k);

/* The rows' cycles, cause by cause, and bytes are those of the launch. */
void rig_check_profile(const exec_profile *lines, const mach_profile *p,
                       uint32_t n_shaves);

/* The n-th number of a fixed pseudo-random sequence. */
uint32_t rig_noise(uint64_t n);

#endif
