/* One launch of an opened graph, run again and again from the same contents.
 * Private to runtime/tune. */
#ifndef VPU_RUNTIME_TUNE_MEASURE_H
#define VPU_RUNTIME_TUNE_MEASURE_H

#include "runtime/tune/tune.h"

/* A graph that is open for tuning. */
typedef struct {
    const tune_config *cfg;
    backend_config run; /* cfg's, with nothing that looks at a run */
    graph g;            /* the caller's launches; buffers that share nothing */
    backend b;
    arena *a;        /* for contents; all of it goes with a launch */
    void **before;   /* by buffer: contents when a launch begins */
    void **after;    /* and when it has run with its own size */
    bool *touched;   /* by buffer: it is an argument of the launch */
    uint32_t launch; /* that is tuned */
    uint64_t runs;   /* so far, of all launches */
} tune_bench;

/* Opens the backend and fills the inputs. What is open is closed by
 * tune_bench_close, also after an error. Errors as tune_graph's. */
vpu_status tune_bench_open(const tune_config *cfg, const graph *g,
                           tune_bench *b, vpu_error *err);
void tune_bench_close(tune_bench *b);
/* The kernel of launch i; NULL: the backend does not say. */
const sim_kernel *tune_bench_kernel(const tune_bench *b, uint32_t i);

/* Launch i, once, without trials: what comes behind it needs its values. */
vpu_status tune_bench_pass(tune_bench *b, uint32_t i, vpu_error *err);

/* Launch i from now on; it runs with its own size, whose values are those that
 * every other must give. */
vpu_status tune_bench_begin(tune_bench *b, uint32_t i, uint64_t *cost,
                            vpu_error *err);
/* It runs with that choice. Fails only where no other choice could help:
 * VPU_ERR_STOPPED, VPU_ERR_NOMEM, and of backend_ops.read and write. */
vpu_status tune_bench_try(tune_bench *b, const tune_choice *x, tune_trial *out,
                          vpu_error *err);
/* Its values are those of its own size, whatever ran last. */
vpu_status tune_bench_end(tune_bench *b, vpu_error *err);

/* The launch's size and limit of SHAVEs as the choice says; it remembers the
 * limit it was bound with, which a choice of 0 SHAVEs means. */
void tune_choose(graph_launch *l, const tune_choice *x);
/* The limit of SHAVEs that the launch was bound with. */
uint32_t tune_bound_shaves(const graph_launch *l);

#endif
