/* One bound layer on two backends: stage by stage if both can, and a verdict.
 *
 * Side a is judged, side b is what it should be. */
#ifndef VPU_RUNTIME_DIFF_DIFF_H
#define VPU_RUNTIME_DIFF_DIFF_H

#include "runtime/backend/backend.h"
#include "runtime/diff/compare.h"
#include "runtime/diff/map.h"

typedef struct {
    const backend_ops *ops;
    void *self;        /* opened for the graph */
    const char *label; /* the user's name for it: "sim", "host:libgrn.so" */
} diff_side;

/* For one tensor, by its name in the graph: "out0", "buffer0". */
typedef struct {
    const char *name;
    diff_tolerance tolerance;
    bool typed;         /* an untyped buffer's elements are of this type; its */
    tensor_dtype dtype; /* bytes must be whole elements */
} diff_rule;

typedef struct {
    diff_tolerance tolerance; /* of outputs, and of stages' tensors */
    const diff_rule *rules;   /* the last of equal names counts */
    uint32_t n_rules;
    bool outputs_only;                 /* no stages, even if both could */
    bool no_places;                    /* no failure map, no heat map */
    const diff_provenance *provenance; /* of side a; NULL = inferred */
} diff_options;

typedef enum { DIFF_EQUAL, DIFF_DIFFERENT, DIFF_NOT_RUN } diff_verdict;

/* A tensor that was compared. Untyped buffers without a rule are compared byte
 * by byte, as u8, exactly. */
typedef struct {
    const char *name;
    uint32_t buffer, launch; /* which wrote it */
    bool output;
    diff_tolerance tolerance;
    diff_result result;
    diff_map map;
    diff_places places; /* counted if n_diff > 0, unless no_places */
    bool located;       /* the two below are known */
    diff_writer first, worst;
} diff_tensor;

typedef struct {
    const char *name, *kernel;
    backend_result a, b;
    bool compared, equal; /* what it wrote; not compared: no stages */
} diff_stage;

typedef struct {
    diff_verdict verdict; /* also the exit status; of the outputs */
    vpu_error error;      /* DIFF_NOT_RUN: why */
    const char *failed;   /* DIFF_NOT_RUN: label of the side, or NULL */
    const char *layer, *type, *a, *b;
    backend_caps caps_a, caps_b;
    bool by_stage;
    diff_stage *stages;
    uint32_t n_stages;
    diff_tensor *tensors; /* in the order they were written */
    uint32_t n_tensors;
    int32_t first_stage; /* that deviates; -1 = none, or not by stage */
} diff_report;

/* Give both the inputs (inputs[i] is that of graph buffer i; others are not
 * looked at), run both, compare. Host memory: the two largest tensors. What is
 * in the report lives in a, in g, or in the sides.
 *
 * When a side fails the verdict is DIFF_NOT_RUN and the status VPU_OK.
 *
 * VPU_ERR_INVALID  a rule names no tensor of the graph, or a type that does not
 *                  divide it; a tolerance below 0
 * VPU_ERR_NOMEM    no memory for two tensors */
vpu_status diff_run(const diff_side *a, const diff_side *b, const graph *g,
                    void *const *inputs, const diff_options *o, arena *mem,
                    diff_report *out, vpu_error *err);

#endif
