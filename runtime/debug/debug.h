/* A layer on the simulator, stopped and looked at by commands;
 * docs/debugging.md has them all. Runs are deterministic, so a way back is a
 * run again up to an earlier event. */
#ifndef VPU_RUNTIME_DEBUG_DEBUG_H
#define VPU_RUNTIME_DEBUG_DEBUG_H

#include <signal.h>
#include <stdio.h>

#include "runtime/backend/backend.h"

typedef struct {
    const graph *graph;
    /* machine, order, sources, clang's options, log; what a debugger decides
     * itself (SHAVEs, threads, timing, limits, engine) is not looked at */
    backend_config run;
    bool bundles; /* the SHAVE program, bundle by bundle, instead of source */
    FILE *const *in; /* commands, one stream after the other; borrowed */
    uint32_t n_in;
    FILE *out;   /* what it says; borrowed */
    bool shown;  /* control characters as \x1b: out is a terminal */
    bool prompt; /* a person types */
    /* Fill input buffer i. */
    vpu_status (*fill)(void *user, uint32_t i, void *data, vpu_error *err);
    void *user;
} debug_config;

/* Until `quit` or the end of the commands. Wrong commands, and kernels that
 * fail, are told to `out` and are no errors.
 *
 * Errors of backend_open and of fill. */
vpu_status debug_run(const debug_config *cfg, vpu_error *err);

/* Set by whoever catches Ctrl-C: the kernel stops at its next event, and the
 * session asks what to do. */
extern volatile sig_atomic_t debug_interrupted;

/* For tests: everything that reads text from a person, on one command line. */
void debug_parse_only(const char *line);

#endif
