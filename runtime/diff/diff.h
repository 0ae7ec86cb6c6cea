/* A graph on two backends, and what came out compared.
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

typedef struct {
    const char *id; /* as the user wrote it */
    const backend_ops *ops;
    const backend_config *cfg;
} diff_side;

typedef struct {
    const diff_rule *rules; /* none = exact */
    uint32_t n_rules;
    void *const *inputs;  /* per buffer of the graph: what to put into each
                                   input; others are not looked at */
    bool outputs_only;    /* do not compare between stages */
    bool no_groups;       /* do not trace back */
    const char *heat_map; /* file for a picture of the first buffer that differs
                             (diff_heat_map); NULL = none */
    const backend_config
        *run; /* for tracing back; NULL = the default machine */
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
    backend_result result_a, result_b;
    bool deviates; /* some buffer it wrote is not equal */
} diff_launch;

typedef struct {
    const graph *graph;
    const char *id_a, *id_b;
    backend_caps caps_a, caps_b;
    bool by_stage, equal;
    diff_buffer *buffers; /* in the order they were compared */
    uint32_t n_buffers;
    diff_launch *launches;   /* graph->n_launches */
    int64_t first_deviating; /* launch; -1 = none */
    const char *not_traced;  /* why elements were not traced back, or NULL */
    const char *summary;     /* one line */
} diff_report;

/* sides: a and b. Everything of the report is in the arena. When a buffer
 * differs, different (if not NULL) is called for its elements as diff_compare
 * would.
 *
 * VPU_ERR_*  a backend's, with "a (ID): " or "b (ID): " in front. That values
 *            differ is no error. */
vpu_status diff_run(const graph *g, const diff_side sides[2],
                    const diff_config *cfg, arena *mem, diff_report *report,
                    vpu_error *err);

#endif
