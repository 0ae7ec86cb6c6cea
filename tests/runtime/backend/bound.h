/* Sample layers bound by hand, their inputs filled: what tests of backends,
 * recordings and diff start from. */
#ifndef VPU_TESTS_RUNTIME_BACKEND_BOUND_H
#define VPU_TESTS_RUNTIME_BACKEND_BOUND_H

#include "runtime/backend/backend.h"
#include "runtime/graph/graph.h"
#include "sim/machine/desc.h"

enum { BOUND_MAX = 8 };

typedef struct {
    const char *folder, *layer; /* kernels/<folder>/layer.xml, its type */
    const char *shapes[BOUND_MAX], *params[BOUND_MAX]; /* as --shape, --param */
    uint64_t blob_words; /* of a blob `weights` of arbitrary halves */
} bound_request;

typedef struct {
    arena *arena;
    graph *graph;
    void **data; /* of the graph's buffers: inputs random, others zeros */
    mach_desc desc;
    const char *const *params;
    uint32_t n_params;
} bound;

/* Everything in a; fails the test when something is wrong. */
void bound_layer(arena *a, const bound_request *q, bound *out);
/* Run it on the simulator: fills data of outputs and scratch. */
void bound_simulate(bound *b);
/* The only output's number. */
uint32_t bound_output(const bound *b);

/* A device whose launches put canned contents into what they write: those of a
 * bound layer after bound_simulate, or changed ones. open takes one from
 * backend_config.print_user. */
typedef struct {
    const graph *graph;
    void **data; /* after everything */
    void **now;  /* what is there */
    backend_caps caps;
    uint64_t cycles;  /* of each launch */
    uint32_t fail_at; /* launch that fails; UINT32_MAX = none */
} canned;

extern const backend_ops canned_ops;
/* Copies b->data. */
canned *canned_new(const bound *b, bool stages);

#endif
