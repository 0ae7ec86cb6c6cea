/* What a layer would take on another machine: one without latency, with another
 * number of SHAVEs, in another order.
 *
 * An answer about a machine is a replay of the steps of a run where those do
 * not depend on what is changed (sim/machine/record.h), and a whole run of the
 * graph elsewhere; both give the same cycles. One about another form of a
 * kernel is an estimate (edits.h). Values do not depend on a machine, so only
 * cycles are kept. The same graph gives the same answers, whatever the number
 * of host threads. Threading: a graph is asked about by one thread. */
#ifndef VPU_RUNTIME_WHATIF_WHATIF_H
#define VPU_RUNTIME_WHATIF_WHATIF_H

#include "runtime/backend/backend.h"
#include "runtime/whatif/edits.h"

enum { WHATIF_MAX_KNOBS = 64, WHATIF_MAX_SETTINGS = 16 };

/* Less work of a source line, or of all of them. */
typedef struct {
    bool on;
    uint32_t line;       /* of the kernels' source files; 0 = all */
    const char *file;    /* without folders; NULL = any */
    double issue, stall; /* what is left of the line's issue cycles, and of its
                            accesses to global memory: 0 to 1 */
} whatif_scale;

/* One change. */
typedef struct {
    const char *name, *about;
    const char *settings[WHATIF_MAX_SETTINGS]; /* "KEY=VALUE" */
    uint32_t n_settings;
    uint32_t shaves;  /* 0 = as many as before */
    bool reverse;     /* groups begin with the last one */
    whatif_edit edit; /* another form of the kernels */
    whatif_scale scale;
    const char *local; /* sizes, as of graph_set_local; NULL = as they are */
} whatif_knob;

/* What a run of the graph came to. */
typedef struct {
    uint64_t cycles;
    /* Of all SHAVEs of all launches of kernels together. */
    uint64_t causes[MACH_N_CAUSES], shave_cycles;
    const uint64_t *launches; /* cycles of each */
    bool replayed;            /* else a whole run */
    const uint64_t *groups;   /* of an edit: work-groups of each launch, 0 where
                                 it is gone, UINT64_MAX where the edit does not
                                 apply; else NULL */
} whatif_outcome;

typedef struct {
    const whatif_knob *knob;
    whatif_outcome outcome;
} whatif_row;

typedef struct {
    whatif_outcome before;
    const whatif_row *rows; /* each knob alone, what saves most first; equals
                               in the order of the knobs. Edits that apply to
                               no launch are left out */
    size_t n_rows;
    /* The best knob, then, on top of it, the one that saves most of what is
     * left, and so on, as long as one saves a hundredth. */
    const whatif_row *steps;
    size_t n_steps;
    uint64_t runs, replays;
} whatif_report;

typedef struct {
    const backend_ops
        *ops; /* with BACKEND_MACHINE, BACKEND_INSPECT, BACKEND_OBSERVE */
    backend_config run; /* desc is the machine that is changed */
    const whatif_knob *knobs;
    size_t n_knobs;
    uint32_t max_steps; /* 0 = no sequence */
    /* Inputs of an opened backend. */
    vpu_status (*fill)(void *user, const backend *b, vpu_error *err);
    void *fill_user;
} whatif_config;

/* The rows of whatif.def; those of edits.def; then, for a machine that runs
 * launches on up to n_shaves, other numbers of SHAVEs, and the reverse order.
 * *n of them, in the arena. */
const whatif_knob *whatif_knobs(const mach_desc *desc, uint32_t n_shaves,
                                arena *a, size_t *n);
/* One that a user describes: names of those and "KEY=VALUE", with commas
 * between them. KEY: a parameter of the machine; "shaves", their number;
 * "issue" and "stall", "[FILE:]LINE*FACTOR", what is left of a source line's.
 *
 * VPU_ERR_INVALID  none of these; a setting that mach_desc_set does not take; a
 *                  factor that is not from 0 to 1; two that exclude each other
 */
vpu_status whatif_knob_parse(const char *text, const mach_desc *desc,
                             const whatif_knob *known, size_t n_known, arena *a,
                             whatif_knob *out, vpu_error *err);

/* The n hottest source lines of kernels, without their issue cycles, without
 * their stalls, and with half of either: knobs for them, appended to those of
 * *list, in the arena. Which they are a run on the interpreter tells.
 *
 * Errors as whatif_ask's */
vpu_status whatif_line_knobs(const whatif_config *cfg, const graph *g,
                             uint32_t n_lines, arena *a,
                             const whatif_knob **list, size_t *n,
                             vpu_error *err);

/* Can a run's steps be replayed with it? */
bool whatif_is_replayed(const whatif_knob *k);

/* What each knob would save. Everything in the arena.
 *
 * VPU_ERR_STOPPED  cfg->run.how.cancel is set
 * else             of backend_open, backend_run, cfg->fill; mach_desc_set where
 *                  a knob's setting contradicts the machine */
vpu_status whatif_ask(const whatif_config *cfg, const graph *g, arena *a,
                      whatif_report *out, vpu_error *err);

/* The cause that most of the SHAVEs' cycles went to. */
mach_cause whatif_main_cause(const whatif_outcome *x);

#endif
