/* A layer on the simulator, stopped and looked at by commands;
 * docs/debugging.md has them all. Runs are deterministic, so a way back is a
 * run again up to an earlier event. */
#ifndef VPU_RUNTIME_DEBUG_DEBUG_H
#define VPU_RUNTIME_DEBUG_DEBUG_H

#include <stdatomic.h>
#include <stdio.h>

#include "runtime/backend/backend.h"
#include "runtime/debug/value.h"

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

/* --- stops, for programs --------------------------------------------------- */

typedef enum { DEBUG_NOT_BEGUN, DEBUG_STANDS, DEBUG_ENDED } debug_state;

typedef enum {
    DEBUG_BY_STEP,
    DEBUG_BY_BREAKPOINT,
    DEBUG_BY_WATCH, /* and by breakpoints, perhaps */
    DEBUG_BY_PAUSE,
    DEBUG_BY_FAULT,  /* the kernel does not get over this line */
    DEBUG_BY_NOTHING /* a way back that led to nothing: where it was */
} debug_cause;

enum { DEBUG_MAX_POINTS = 64 };

typedef struct {
    debug_state state;
    debug_cause cause; /* of STANDS */
    vpu_status status; /* ENDED: of the run; BY_FAULT: the fault's */
    const char *text;  /* in words; may be empty */
    uint32_t points[DEBUG_MAX_POINTS]; /* numbers of those that hold here */
    uint32_t n_points;
} debug_stop;

/* What becomes of a kernel that runs. */
typedef enum { DEBUG_GOES_ON, DEBUG_PAUSES, DEBUG_LEAVES } debug_wish;

/* A program in the place of commands. All of it is called in the thread of
 * debug_run, and may call what takes a debug_session. */
typedef struct {
    /* The run has not begun, stands or has ended. debug_go, or a debug_command
     * that moves, says what comes next; without one the session ends. */
    void (*stopped)(void *user, debug_session *s, const debug_stop *stop);
    /* While it runs, after somebody has set debug_config.interrupt. */
    debug_wish (*passing)(void *user, debug_session *s);
    /* Of kernels' printf, once, however often the run goes back. */
    void (*print)(void *user, const char *text, size_t n);
    /* A breakpoint's log message. */
    void (*told)(void *user, const char *text);
    void *user;
} debug_control;

typedef struct {
    const graph *graph;
    /* machine, order, sources, clang's options, log; what a debugger decides
     * itself (SHAVEs, threads, timing, limits, engine) is not looked at */
    backend_config run;
    bool bundles; /* the SHAVE program, bundle by bundle, instead of source */
    const debug_input *in; /* commands, one after the other; borrowed */
    uint32_t n_in;
    FILE *out; /* what it says; borrowed */
    /* Not NULL: a program decides, without commands, and out is not used. */
    const debug_control *control;
    /* NULL, or set by somebody else (a signal handler, another thread): at its
     * next event the kernel stops, or, with control, asks control->passing. It
     * is cleared then. */
    atomic_bool *interrupt;
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

/* --- for debug_control ---------------------------------------------------- */

typedef enum {
    DEBUG_CONTINUE,
    DEBUG_STEP_IN,
    DEBUG_STEP_OVER,
    DEBUG_STEP_OUT,
    DEBUG_BUNDLE, /* one bundle of the SHAVE program, with `bundles` */
    DEBUG_BACK,
    DEBUG_REVERSE, /* to the breakpoint or watch before */
    DEBUG_QUIT
} debug_move;

/* At a stop: what comes next, when debug_control.stopped returns; as the
 * command of that name does it.
 *
 * VPU_ERR_INVALID  that is not possible here, and why */
vpu_status debug_go(debug_session *s, debug_move move, vpu_error *err);

typedef enum { DEBUG_DONE, DEBUG_REFUSED, DEBUG_MOVES } debug_answer;

/* A line as of vpu debug, at a stop, with that frame looked at. What it says is
 * appended to *out. */
debug_answer debug_command(debug_session *s, uint32_t frame, const char *line,
                           str *out);
/* Does the line begin with the name of a command? */
bool debug_is_command(const char *line);

/* Does a kernel that fails stop before (true at first), or end the run? */
void debug_stop_at_faults(debug_session *s, bool stop);

/* What a breakpoint is to be. NULL: without. */
typedef struct {
    const char *file; /* as debug_file_named gives it; NULL: a function */
    uint32_t line;
    const char *function;
    const char *condition;
    const char *hits; /* which of the times: "3", "== 3", ">= 3", "> 3", "% 3";
                         counted from where it was set */
    const char *log;  /* says this, "sum is {sum}", and does not stop */
} debug_breakpoint;

/* *line: where it is now, a line with code; of a function 0.
 *
 * VPU_ERR_INVALID  no such file, function, or line with code behind; hits is
 *                  not one of those forms
 * VPU_ERR_LIMIT    there are too many already; a text is too long */
vpu_status debug_break(debug_session *s, const debug_breakpoint *wanted,
                       uint32_t *number, uint32_t *line, vpu_error *err);
/* Stops when the number that text means changes; of an element of a buffer
 * whoever writes it.
 *
 * VPU_ERR_INVALID  it is no number here
 * VPU_ERR_LIMIT    as debug_break */
vpu_status debug_watch(debug_session *s, const char *text, uint32_t *number,
                       vpu_error *err);
/* The breakpoint or watch of that number is no more. */
void debug_forget(debug_session *s, uint32_t number);

/* The file with code that a path means; NULL: none. */
const char *debug_file_named(const debug_session *s, const char *path);
/* All files with code, each once; in the arena. */
uint32_t debug_files(const debug_session *s, arena *a, const char *const **out);
/* Their text; NULL: it cannot be read. Valid until the next command. */
const char *debug_source(debug_session *s, const char *file);

/* "group (0,4,0), item (5,0,0)"; empty where the kernel does not stand. */
void debug_who(const debug_session *s, str *out);

/* A function, as inlined; innermost first. */
typedef struct {
    const char *function, *file;
    uint32_t line, column; /* 0: not known */
    bool at_bundle;
    uint64_t address; /* of the bundle, as of debug_rows */
} debug_frame;

uint32_t debug_frames(debug_session *s, arena *a, const debug_frame **out);

typedef enum {
    DEBUG_LOCALS,
    DEBUG_ARGUMENTS, /* of the kernel; those of inlined functions are locals */
    DEBUG_ITEM,
    DEBUG_LOCAL_MEMORY,
    DEBUG_TENSORS,
    DEBUG_N_SCOPES
} debug_scope;

/* Something with a value, at a stop. */
typedef struct {
    const char *name;
    const char *path; /* an expression that means it */
    const char *text, *type;
    uint64_t named, indexed; /* how many parts it has */
    bool in_memory;
    uint32_t address;
    dbg_value value;
    bool tensor; /* a buffer, a pointer to one, or a part of one: */
    uint32_t buffer, n_index;
    int64_t index[DBG_MAX_INDEX]; /* the coordinates given so far */
    const char *base;             /* and what they stand behind */
} debug_variable;

/* All variables of a scope that a frame sees, in the arena. */
uint32_t debug_variables(debug_session *s, uint32_t frame, debug_scope scope,
                         arena *a, const debug_variable **out);
/* Up to `count` parts of one from the first-th on. */
uint32_t debug_parts(debug_session *s, const debug_variable *of, uint64_t first,
                     uint64_t count, arena *a, const debug_variable **out);
/* Errors of dbg_evaluate. */
vpu_status debug_evaluate(debug_session *s, uint32_t frame, const char *text,
                          arena *a, debug_variable *out, vpu_error *err);
/* `to` = `value`, two expressions; out: what it is then.
 *
 * VPU_ERR_INVALID  it is not in the device's memory; the value does not fit
 * else             of dbg_evaluate */
vpu_status debug_assign(debug_session *s, uint32_t frame, const char *to,
                        const char *value, arena *a, debug_variable *out,
                        vpu_error *err);

/* The address of what a variable means: of its tensor, of what it points to, of
 * itself. False: it has none. */
bool debug_address(const debug_session *s, const debug_variable *v,
                   uint32_t *address);
/* Bytes of the device's memory from an address on; *bytes: at most so many,
 * then how many there are. NULL: none. Valid until the kernel goes on. */
const uint8_t *debug_memory(const debug_session *s, uint64_t address,
                            uint64_t *bytes);

/* Addresses of bundles are so far apart. */
enum { DEBUG_BUNDLE_BYTES = 16 };

/* A bundle of the SHAVE program. */
typedef struct {
    uint64_t address;
    const char *text;   /* NULL: there is none at this address */
    const char *symbol; /* of a function's first; else NULL */
    const char *file;
    uint32_t line, column; /* 0: none */
} debug_row;

/* n bundles from the one at address + offset bundles on; those outside of the
 * program, and all without `bundles`, have no text. */
void debug_rows(debug_session *s, uint64_t address, int64_t offset, uint32_t n,
                arena *a, const debug_row **out);

/* For tests: everything that reads text from a person, on one command line. */
void debug_parse_only(const char *line);

#endif
