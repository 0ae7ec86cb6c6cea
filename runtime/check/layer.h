/* A layer run for its checkers: what they found, told in the user's terms.
 *
 * The layer runs once; a second time, from the start, when that run saw values
 * nobody wrote (its kernels are then compiled so that such values are followed)
 * or two parties at one byte (of which the first run knows only the later).
 * Everything is sequential and deterministic. */
#ifndef VPU_RUNTIME_CHECK_LAYER_H
#define VPU_RUNTIME_CHECK_LAYER_H

#include "base/str.h"
#include "runtime/backend/backend.h"
#include "runtime/graph/graph.h"

typedef struct {
    const sim_place *at; /* NULL = no place in a source */
    char *text;          /* one sentence */
} layer_check_note;

/* One finding as it is shown. All texts are in the report's arena. */
typedef struct {
    check_kind kind;
    bool note;                  /* else an error */
    const char *stage, *kernel; /* launch and entry; "" = of none */
    const sim_place *at;        /* NULL = none: `file` and `line` say where */
    const char *file; /* of the source, or of the binding's Kernel element */
    uint32_t line, col;
    char *text; /* one sentence: what, of which memory, which element */
    char *who;  /* "work-item (3,0,0) of work-group (5,0,0)"; or "" */
    layer_check_note other; /* the other party; text NULL = none */
    const char *buffer;     /* name of the memory; "" = none */
    int64_t offset;         /* in it, bytes */
    uint32_t address;       /* on the device */
    uint64_t count;
    bool has_group, has_item;
    uint32_t group[3], local[3], global[3]; /* ids of the work-item */
} layer_check_shown;

typedef struct {
    const layer_check_shown *findings; /* in the order they were found first */
    uint32_t n_findings, n_errors;     /* errors: those that are no notes */
    uint64_t dropped;    /* over max_findings or the checkers' own limit */
    uint32_t suppressed; /* by the file of suppressions */
    uint32_t n_launches, runs;
    uint32_t n_orders; /* besides the plain one, each launch ran in; 0 = not
                          tried */
    uint64_t n_groups;
    check_set enabled;
    double seconds; /* host time, compilation included */
    double run_s;   /* of all runs of the launches, and the checkers' own */
} layer_check_report;

/* Findings that are known and not wanted; suppress.h. */
typedef struct layer_check_suppressions layer_check_suppressions;

typedef struct {
    backend_config run; /* as for a run; `check` is set here */
    check_set enabled;
    check_set strict;      /* checkers whose notes are errors */
    uint32_t max_findings; /* errors, and notes; 0 = all */
    bool orders;           /* try other orders, too (orders.h) */
    uint32_t n_random;     /* so many random ones of each kind */
    uint64_t seed;         /* of the first */
    const layer_check_suppressions *suppressions; /* NULL = none */
    /* Fills the graph's inputs, again for each run; NULL: there are none. */
    vpu_status (*fill)(void *user, const backend *b, vpu_error *err);
    /* A run has ended, and s knows still what was written; NULL = nothing. */
    void (*ended)(void *user, const check_session *s);
    void *fill_user;
} layer_check_config;

/* Errors of backend_open and backend_run_all, and what fill returns. */
vpu_status layer_check(const layer_check_config *cfg, const graph *g, arena *a,
                       layer_check_report *out, vpu_error *err);

/* As clang prints diagnostics: the source line with a caret, who, the other
 * party, what to do; the last line counts, or names what was checked. */
void layer_check_print_text(const layer_check_report *r, const graph *g,
                            arena *a, str *out);
/* The same without that line. */
void layer_check_print_findings(const layer_check_report *r, const graph *g,
                                arena *a, str *out);
void layer_check_print_json(const layer_check_report *r, const graph *g,
                            str *out);
/* A line of JSON for each finding, as in the list of the above. */
void layer_check_print_lines(const layer_check_report *r, str *out);
/* SARIF 2.1.0. */
void layer_check_print_sarif(const layer_check_report *r, str *out);

#endif
