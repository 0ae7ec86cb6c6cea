/* What the checks share. Internal to runtime/lint. */
#ifndef VPU_RUNTIME_LINT_LINT_PRIV_H
#define VPU_RUNTIME_LINT_LINT_PRIV_H

#include "runtime/lint/lint.h"
#include "runtime/lint/source.h"
#include "sim/compiler/kernel.h"

typedef struct {
    const lint_config *cfg;
    arena *arena;
    lint_finding *findings;
    size_t n_findings, cap_findings;
    bool sizes;
} lint_state;

/* A stage with the kernel it names. */
typedef struct {
    const config_layer *layer;
    const config_kernel *binding;
    const sim_kernel *kernel;
    const isa_function *const *programs; /* SIM_N_VARIANTS */
    const lint_source_text *src;
    lint_source_kernel in_src;
    bool shown; /* in_src is what the compiler saw: same arguments */
    /* Work sizes as far as they are known, else 0. */
    uint32_t global[3], local[3];
    const graph_launch *launch; /* or NULL */
    /* SimpleGPU: the text that the kernel is compiled from, which has src's in
     * it; else NULL. */
    const char *joined;
} lint_stage;

/* A finding, unless there is the same one. */
void lint_add(lint_state *l, lint_finding f);
void lint_report(lint_state *l, lint_check check, const char *path,
                 uint32_t line, uint32_t col, const char *fmt, ...)
    VPU_PRINTF(6, 7);
/* At an offset of a kernel's source. */
void lint_report_at(lint_state *l, lint_check check, const lint_source_text *s,
                    size_t at, const char *fmt, ...) VPU_PRINTF(5, 6);
bool lint_is_on(const lint_state *l, lint_check check);

/* A kernel of changed source text, its programs and no host code. False: it
 * does not compile. */
bool lint_variant(lint_state *l, const lint_stage *s, const char *text,
                  sim_kernel *k, const isa_function **programs);
/* The one that runs: vectorized if there is one. */
const isa_function *lint_program(const isa_function *const *programs);

/* Look at one stage. used: a flag for each of the configuration's sources, set
 * when the stage's kernel is taken from it. Errors as lint_run's. */
vpu_status lint_look(lint_state *l, const config_layer *layer,
                     const config_kernel *k, bool *used, vpu_error *err);

void lint_check_args(lint_state *l, const lint_stage *s);   /* args.c */
void lint_check_ports(lint_state *l, const lint_stage *s);  /* args.c */
void lint_check_sizes(lint_state *l, lint_stage *s);        /* sizes.c */
void lint_check_kernel(lint_state *l, const lint_stage *s); /* kernel.c */

#endif
