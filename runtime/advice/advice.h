/* What would make a graph's launches faster, with what it would save.
 *
 * Each finding is a rule whose condition holds in the run, and a replay of the
 * run's steps in another form (runtime/whatif/edits.h) that is faster by
 * ADVICE_WORTH of all cycles. So a gain is an estimate of a program that is not
 * written yet. Gains do not add up: findings of a launch are different ways to
 * save mostly the same cycles.
 *
 * The same run gives the same findings. Threading: as the backend. */
#ifndef VPU_RUNTIME_ADVICE_ADVICE_H
#define VPU_RUNTIME_ADVICE_ADVICE_H

#include "runtime/backend/backend.h"

enum { ADVICE_MAX = 5 };

/* Share of the graph's cycles that is worth a sentence. */
#define ADVICE_WORTH 0.02

typedef struct {
    const char *rule; /* for programs: a name of rules.def */
    uint32_t launch;
    const char *file;       /* "" = no one place */
    uint32_t line;          /* 0 = no one line */
    const char *cause;      /* mach_cause_name of what it saves most of */
    uint64_t before, after; /* cycles of the launch */
    const char *text;       /* what was found, what to do */
    const char *knob;       /* of vpu whatif, which shows it */
} advice_finding;

typedef struct {
    advice_finding list[ADVICE_MAX]; /* what saves most first */
    uint32_t n;
    bool known; /* false: no launch's steps were kept */
} advice_findings;

/* After a run of all of g's launches with backend_observe_ops.keep_steps, on
 * the machine desc. Everything in the arena. Launches whose steps were too many
 * to keep are passed over.
 *
 * VPU_ERR_NOMEM
 * else  of mach_record_replay */
vpu_status advice_of(const graph *g, const backend *b, const mach_desc *desc,
                     arena *a, advice_findings *out, vpu_error *err);

/* The line that most cycles of stalls on global memory go to, where the run was
 * profiled; else that with most accesses, loops counted more. False: none is
 * known. In the
 * arena, or the kernel's. */
bool advice_place(const backend_launch *l, arena *a, const char **file,
                  uint32_t *line);

#endif
