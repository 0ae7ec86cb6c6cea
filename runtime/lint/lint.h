/* What can be said of a binding file and its kernels without running them:
 * bindings against signatures, sizes against the device, and what the vendor's
 * guide warns of, each with the guide's advice and, where compiling a variant
 * shows it, with the cycles it is about.
 *
 * Nothing is guessed: a check that cannot see its subject says nothing. */
#ifndef VPU_RUNTIME_LINT_LINT_H
#define VPU_RUNTIME_LINT_LINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/child.h"
#include "base/err.h"
#include "base/log.h"
#include "base/str.h"
#include "runtime/config/layer.h"
#include "runtime/graph/graph.h"

typedef enum {
#define CHECK(id, name, summary, tip) LINT_##id,
#include "runtime/lint/checks.def"
#undef CHECK
    LINT_N_CHECKS
} lint_check;

typedef struct {
    const char *name, *summary, *tip;
} lint_check_info;

extern const lint_check_info lint_checks[LINT_N_CHECKS];

/* "all", "none" or names separated by commas, to a bit per check.
 *
 * VPU_ERR_INVALID  a name is none; the message lists those there are */
vpu_status lint_checks_parse(const char *text, uint32_t *mask, vpu_error *err);

typedef struct {
    lint_check check;
    const char *path;
    uint32_t line, col; /* from 1; col 0 = the line as a whole */
    const char *text;
} lint_finding;

typedef struct {
    const config_file *binding;
    const char *layer; /* only CustomLayers of this type; NULL = all */
    /* A layer of the file bound to shapes, or NULL: then only what is constant
     * in the file is known of the sizes. */
    const graph *graph;
    const char *const *sources; /* .cl files to take instead of those of the
                                   same name, or for the kernels in them */
    uint32_t n_sources;
    const char *source_dir;     /* look there for .cl files first, or NULL */
    const char *const *options; /* words for clang */
    uint32_t n_options;
    const child_limits *limits; /* of compiling; NULL = the compiler's own */
    bool no_cache;              /* compile anew */
    uint64_t local_budget;      /* bytes of a work-group */
    uint32_t checks;            /* bit per lint_check */
    const log_sink *log;
    /* Of LINT_ADVICE: what a run of the graph showed (runtime/advice). */
    const lint_finding *measured;
    uint32_t n_measured;
} lint_config;

typedef struct {
    const lint_finding *findings; /* by path, line, column, check; none twice */
    uint32_t n_findings;
    uint32_t n_layers, n_kernels; /* looked at; a kernel of several layers
                                     counts in each */
    uint32_t checks;              /* those that were on */
    bool sizes;                   /* work sizes of some launch were known */
} lint_result;

/* Look. Everything in the arena. Compiles several kernels at once, each in a
 * clang of its own; the result does not depend on that. The log is called by
 * one thread at a time.
 *
 * VPU_ERR_INVALID      no such layer; a source no kernel of the file is in
 * VPU_ERR_IO           a source cannot be read
 * VPU_ERR_COMPILE      a kernel does not compile, or is not in its source
 * VPU_ERR_UNSUPPORTED  no clang; a kernel that is there only compiled */
vpu_status lint_run(const lint_config *cfg, arena *a, lint_result *out,
                    vpu_error *err);

/* As clang prints diagnostics, with the source line and a caret; the last line
 * counts, or says what was checked and found clean. */
void lint_print_text(const lint_result *r, const char *binding, arena *a,
                     str *out);
void lint_print_json(const lint_result *r, const char *binding, str *out);
/* SARIF 2.1.0. */
void lint_print_sarif(const lint_result *r, str *out);

#endif
