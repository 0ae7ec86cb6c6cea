/* A layer on the simulator, stopped and looked at by commands;
 * docs/debugging.md has them all. Runs are deterministic, so a way back is a
 * run again up to an earlier event. */
#ifndef VPU_RUNTIME_DEBUG_DEBUG_H
#define VPU_RUNTIME_DEBUG_DEBUG_H

#include <signal.h>
#include <stdio.h>

#include "runtime/backend/backend.h"

typedef struct dbg_session debug_session;

/* Where commands come from: a stream, each of whose lines is shown before it is
 * done; or a person, who has seen what they typed. */
typedef struct {
    FILE *file;
    const char *name; /* of the stream, for messages */
    bool goes_on;     /* behind a command of the stream that was not done */
    /* Not NULL: a person. The next line, valid until the next call; NULL: there
     * is none any more. The session is for debug_complete. */
    const char *(*ask)(void *user, debug_session *s);
    void *user;
} debug_input;

typedef struct {
    const graph *graph;
    /* machine, order, sources, clang's options, log; what a debugger decides
     * itself (SHAVEs, threads, timing, limits, engine) is not looked at */
    backend_config run;
    bool bundles; /* the SHAVE program, bundle by bundle, instead of source */
    const debug_input *in; /* commands, one after the other; borrowed */
    uint32_t n_in;
    FILE *out; /* what it says; borrowed */
    void (*clear)(
        void);  /* before writing to it: a line of progress; NULL: no */
    bool shown; /* control characters as \x1b: out is a terminal */
    /* Fill input buffer i. */
    vpu_status (*fill)(void *user, uint32_t i, void *data, vpu_error *err);
    void *user;
} debug_config;

/* Until `quit` or the end of the commands. Wrong commands, and kernels that
 * fail, are told to `out` and are no errors.
 *
 * *failed: a command of a stream was not done.
 *
 * Errors of backend_open and of fill. */
vpu_status debug_run(const debug_config *cfg, bool *failed, vpu_error *err);

/* While ask() is called: what the last word of a line, from its beginning up to
 * the cursor, can be. Returns where that word begins; *words and *n, in the
 * arena, in alphabetical order, each once: every word that begins so. */
size_t debug_complete(debug_session *s, const char *line, arena *a,
                      const char *const **words, size_t *n);

/* Set by whoever catches Ctrl-C: the kernel stops at its next event, and the
 * session asks what to do. */
extern volatile sig_atomic_t debug_interrupted;

/* For tests: everything that reads text from a person, on one command line. */
void debug_parse_only(const char *line);

#endif
