/* A layer on two backends, or in two bindings, and what came out compared.
 *
 * Both get the same inputs. Where both can, launches run one by one and every
 * buffer a launch wrote is compared behind it, so the first launch that
 * deviates is known; else outputs are compared at the end. b is what should be.
 *
 * Elements that differ are traced back to the work-group that wrote them, by
 * running the launch once more on the simulator: groups of a launch are the
 * same on every backend. */
#ifndef VPU_RUNTIME_DIFF_DIFF_H
#define VPU_RUNTIME_DIFF_DIFF_H

#include "runtime/backend/backend.h"
#include "runtime/diff/compare.h"

/* The tolerance of outputs of one name ("out0"), or of all (NULL). Later rules
 * win. Buffers between stages have the rule for NULL. */
typedef struct {
    const char *output;
    diff_tolerance tolerance;
} diff_rule;

/* "[OUT=]SPEC" with a SPEC of diff_tolerance_parse; the name in the arena. What
 * stands before '=' is an output unless it is a word of a tolerance.
 *
 * VPU_ERR_INVALID  as diff_tolerance_parse */
vpu_status diff_rule_parse(const char *text, arena *a, diff_rule *out,
                           vpu_error *err);

/* A side that has run; zeroed before. backend_close(&k.b) when it is done. */
typedef struct {
    backend b;
    const backend_result *results; /* by launch of the graph; NULL: not yet */
} diff_kept;

typedef struct {
    const char *id; /* as the user wrote it */
    const backend_ops *ops;
    const backend_config *cfg;
    const graph *graph;
    void *const *inputs; /* per buffer of the graph: what to put into each
                            input; others are not looked at */
    /* NULL, or where to leave the side once it has run, for further diffs of
     * outputs alone: in those it does not run again. */
    diff_kept *kept;
} diff_side;

typedef struct {
    const diff_rule *rules; /* none = exact */
    uint32_t n_rules;
    bool outputs_only;    /* do not compare between stages */
    bool no_groups;       /* do not trace back */
    const char *heat_map; /* file for a picture of the first buffer that differs
                             (diff_heat_map); NULL = none */
    const backend_config
        *run; /* for tracing back; NULL = the default machine */
    /* a may take so many times the cycles of b, in all and stage by stage; 0 =
     * what a recording demands, or any number. */
    double max_slowdown;
    bool slowdown_if_known; /* else both sides must count cycles */
    uint64_t cycle_budget;  /* of all of a's cycles; 0 = none */
} diff_config;

/* Where an element is. */
typedef struct {
    diff_element element;
    uint32_t at[TENSOR_MAX_RANK]; /* logical index */
    bool group_known, item_known;
    uint64_t group[3];
    uint32_t item[3]; /* local id */
} diff_place;

/* One buffer, compared. */
typedef struct {
    uint32_t buffer; /* of the graph */
    uint32_t launch; /* that wrote it */
    bool output;     /* else between stages */
    diff_tolerance tolerance;
    diff_result result;
    diff_place first, worst, worst_ulp; /* valid when result.n_diff > 0 */
    /* Elements that differ by linear work-group of the launch, when traced
     * back; NULL otherwise. */
    uint64_t n_groups;
    uint32_t *bad_in_group;
    uint64_t n_bad_groups;
} diff_buffer;

typedef struct {
    const char *id;
    const graph *graph;
    void *const *inputs;
    backend_caps caps;
    backend_result *results; /* by launch of the graph */
    uint64_t cycles;         /* of all; 0 = unknown */
} diff_report_side;

/* A launch of a. */
typedef struct {
    bool deviates; /* some buffer it wrote is not equal */
    bool too_slow;
} diff_launch;

typedef struct {
    const graph *graph;        /* a's */
    diff_report_side sides[2]; /* a and b */
    bool paired;               /* launches of a and b are the same ones */
    bool by_stage, equal;
    double max_slowdown;   /* 0 = none */
    uint64_t cycle_budget; /* 0 = none */
    bool over_budget, beyond_limit;
    bool too_slow;        /* one of the two */
    diff_buffer *buffers; /* in the order they were compared */
    uint32_t n_buffers;
    diff_launch *launches;   /* graph->n_launches */
    int64_t first_deviating; /* launch; -1 = none */
    const char *not_traced;  /* why elements were not traced back, or NULL */
    const char *summary;     /* one line */
} diff_report;

/* Cycles of a over cycles of b; 0 = unknown. */
double diff_slowdown(const diff_report *r);

/* sides: a and b. Everything of the report is in the arena.
 *
 * VPU_ERR_*            a backend's, with "a (ID): " or "b (ID): " in front.
 *                      That values differ is no error.
 * VPU_ERR_MISMATCH     the layer's inputs or outputs are others in b
 * VPU_ERR_UNSUPPORTED  cfg->max_slowdown, and a side counts no cycles;
 *                      cfg->cycle_budget, and a counts none */
vpu_status diff_run(const diff_side sides[2], const diff_config *cfg,
                    arena *mem, diff_report *report, vpu_error *err);

#endif
