/* A graph on the simulator: buffers on the device, kernels compiled, launches
 * run one after the other. */
#ifndef VPU_RUNTIME_BACKEND_SIM_H
#define VPU_RUNTIME_BACKEND_SIM_H

#include "runtime/graph/graph.h"
#include "base/log.h"
#include "sim/check/check.h"
#include "sim/check/order.h"
#include "sim/exec/exec.h"
#include "sim/machine/desc.h"

/* What runs a layer for its checkers (sim/check/check.h). */
typedef struct {
    check_set enabled;
    const check_session *again; /* as check_config.again */
    const bool *taint;          /* by launch: compile it so; NULL = none */
    bool orders; /* instead of all that: for backend_sim_run_in_order */
} backend_sim_check;

/* How the groups of a launch run (sim/check/order.h). */
typedef struct {
    exec_order order;
    uint64_t seed;
    const uint64_t *list; /* NULL = all groups */
    uint64_t n_list;
    exec_turns turns;
    bool late;         /* transfers */
    uint32_t n_shaves; /* 0 = as many as the launch has */
} backend_sim_order;

typedef struct {
    const mach_desc *desc; /* borrowed */
    uint32_t n_shaves;     /* 0 = all of the machine's */
    uint32_t n_threads;    /* 0 = as many as the host has */
    exec_engine engine;
    exec_timing timing;
    exec_order order;
    uint64_t seed;
    uint64_t max_cycles;        /* 0 = no limit */
    double timeout_s;           /* per launch; 0 = no limit */
    const char *source_dir;     /* NULL = beside the binding file's sources */
    const char *const *options; /* for clang */
    uint32_t n_options;
    const child_limits *limits; /* of compiling; NULL = the compiler's own */
    bool no_cache;
    /* Not NULL: kernels as code for a debugger (sim/compiler/kernel.h), whose
     * cycles mean nothing; compiled engine only. Borrowed. */
    const sim_debug *debug;
    /* Not NULL: kernels for checking, watched by a session of that kind; no
     * cycles. Borrowed. */
    const backend_sim_check *check;
    trc_writer *trace; /* borrowed; NULL = none */
    bool profile; /* count by source line; interpreted, whatever engine says */
    const exec_group_watch *group_watch; /* NULL = none; of every launch */
    const exec_debugger *debugger; /* NULL = none; kernels of files only */
    uint64_t first; /* with a debugger: where the launch begins (exec.h) */
    const log_sink *log;
    /* Output of the kernels' printf; NULL = dropped. */
    void (*print)(void *user, const char *text, size_t n);
    void *print_user;
    bool print_prefix; /* with group and item in front of each line */
} backend_sim_config;

/* What became of one launch. */
typedef struct {
    const sim_kernel *kernel;
    exec_result exec;
    exec_profile profile; /* without rows unless asked for */
    uint32_t n_shaves;
    double compile_s; /* host time */
    double run_s;     /* host time of a run, the median of all so far */
} backend_sim_launch;

typedef struct backend_sim backend_sim;

/* Compile the graph's kernels, check them against their bindings, place its
 * buffers. Owned by the caller (backend_sim_close); cfg and g must outlive it.
 *
 * VPU_ERR_COMPILE, VPU_ERR_UNSUPPORTED, VPU_ERR_IO  of the kernels
 * VPU_ERR_MISMATCH  signature and binding differ (kernel, argument, both types,
 *                   file and line of the binding)
 * VPU_ERR_LIMIT     the buffers exceed the device's DDR */
vpu_status backend_sim_open(const backend_sim_config *cfg, const graph *g,
                            backend_sim **out, vpu_error *err);
void backend_sim_close(backend_sim *b); /* NULL is fine */

/* Buffer i of the graph in device memory. Constants are filled in. */
void *backend_sim_buffer(backend_sim *b, uint32_t i);
/* Its device address, and the memory it is in. */
uint32_t backend_sim_address(const backend_sim *b, uint32_t i);
const memory *backend_sim_memory(const backend_sim *b);

/* Run all launches in order. Errors are those of exec_run, and VPU_ERR_FAULT
 * when a kernel wrote beside a buffer. */
vpu_status backend_sim_run(backend_sim *b, vpu_error *err);
/* Launch i alone, after those before it; the clock starts again with 0. Errors
 * as backend_sim_run. */
vpu_status backend_sim_run_one(backend_sim *b, uint32_t i, vpu_error *err);
/* The same, noting in groups, one number per element of the graph's buffer, the
 * linear number of the work-group that wrote it last; of others the number
 * stays. One host thread. */
vpu_status backend_sim_run_noting(backend_sim *b, uint32_t i, uint32_t buffer,
                                  uint32_t *groups, vpu_error *err);
/* Launch i alone, with cfg->check->orders. Errors are exec_run's. */
vpu_status backend_sim_run_in_order(backend_sim *b, uint32_t i,
                                    const backend_sim_order *o, vpu_error *err);
/* With cfg->check: what watches; findings, and what a further run would tell.
 */
check_session *backend_sim_checker(backend_sim *b);
/* After a run: launch i of the graph. */
const backend_sim_launch *backend_sim_result(const backend_sim *b, uint32_t i);

#endif
