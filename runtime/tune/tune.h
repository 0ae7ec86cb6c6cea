/* Local sizes, tried out: which one makes a launch fastest.
 *
 * A graph's launches are taken one by one, conversions left out. Each runs with
 * its own size first, and then with others; with one that gives other values
 * than its own size does, that faults, or that reaches a limit, the launch does
 * not run: the kernel counts on its size. Cycles of the simulator are exact, so
 * the same graph is tuned the same way every time, whatever the number of
 * threads; where a device has no cycles, the median of some runs' seconds
 * decides. Threading: a graph is tuned by one thread, and runs nowhere else
 * meanwhile. */
#ifndef VPU_RUNTIME_TUNE_TUNE_H
#define VPU_RUNTIME_TUNE_TUNE_H

#include "runtime/backend/backend.h"
#include "runtime/tune/tune_file.h"

typedef enum {
    TUNE_RAPID = 1, /* a few */
    TUNE_NORMAL,    /* a tenth of all, or four where that is more */
    TUNE_EXHAUSTIVE /* all legal ones */
} tune_mode;

/* "rapid", "normal", "exhaustive". */
const char *tune_mode_name(tune_mode m);

/* What became of a launch with a choice. */
typedef enum {
    TUNE_RAN,
    TUNE_OTHER_VALUES, /* than with its own size */
    TUNE_FAULTED,      /* or the device refused it */
    TUNE_OVER_LIMIT    /* of cycles or time */
} tune_outcome;

/* "ran", "other values", "fault", "limit". */
const char *tune_outcome_name(tune_outcome o);

typedef struct {
    tune_choice choice;
    tune_outcome outcome;
    uint64_t cost; /* of TUNE_RAN: cycles, or nanoseconds */
} tune_trial;

/* One launch. */
typedef struct {
    uint32_t launch; /* its number in the graph */
    tune_key key;
    tune_choice before, best;
    uint64_t cost_before; /* 0: not known */
    uint64_t cost_best;
    size_t n_candidates;      /* legal choices, its own among them */
    const tune_trial *trials; /* in the order they ran, its own first */
    size_t n_trials;
    uint32_t factor; /* of the kernel's vectorizer; 1 = not vectorized, 0 = not
                        known */
    bool known;      /* a file had it: it was not tuned */
} tune_row;

typedef struct {
    const tune_row *rows;
    uint32_t n_rows;
    bool cycles;   /* costs are cycles; else nanoseconds */
    uint64_t runs; /* of choices, all launches together */
} tune_report;

typedef struct {
    backend_config run; /* as for a run; without trace, debug and check */
    const backend_ops *ops;
    tune_mode mode;
    bool shaves_too; /* TUNE_EXHAUSTIVE: numbers of SHAVEs, too */
    /* Looked up first; what is found is added, in file_arena. NULL = none. */
    tune_file *file;
    arena *file_arena;
    /* Writes the graph's inputs. */
    vpu_status (*fill)(void *user, const backend *b, vpu_error *err);
    void *fill_user;
    /* What the host does in front of a launch, graph.hosts, with fill_user;
     * NULL = nothing. */
    vpu_status (*before)(void *user, const backend *b, uint32_t launch,
                         vpu_error *err);
} tune_config;

/* Tunes g: its launches have the tuned sizes then. After an error they have
 * those they had, and the file may have rows more. The report is in the arena.
 *
 * VPU_ERR_UNSUPPORTED  the backend runs a graph only as a whole, or has no
 *                      clock
 * VPU_ERR_INVALID      shaves_too without TUNE_EXHAUSTIVE, or on a backend
 *                      without BACKEND_MACHINE
 * VPU_ERR_STOPPED      run.how.cancel
 * VPU_ERR_FAULT, VPU_ERR_LIMIT, VPU_ERR_UNDEFINED  of a launch with its own
 *                      size
 * else                 of backend_open, tune_key_of, and what fill returns */
vpu_status tune_graph(const tune_config *cfg, graph *g, arena *a,
                      tune_report *out, vpu_error *err);

/* Gives the launches of g that the file knows their tuned sizes; *n: how many.
 * cfg as for the run that follows. Errors of tune_key_of; g is as it was then.
 */
vpu_status tune_apply(const tune_file *file, const backend_ops *ops,
                      const backend_config *cfg, graph *g, arena *a,
                      uint32_t *n, vpu_error *err);

#endif
