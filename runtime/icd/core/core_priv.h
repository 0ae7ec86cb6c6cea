/* What the files of the table share. Private to runtime/icd/core. */
#ifndef VPU_RUNTIME_ICD_CORE_CORE_PRIV_H
#define VPU_RUNTIME_ICD_CORE_CORE_PRIV_H

#include "runtime/icd/core/core.h"

/* Findings that were told already. */
typedef struct core_told {
    struct core_told *next;
    char text[];
} core_told;

typedef struct core_total core_total; /* what launches of a kernel came to */

struct core_machine {
    arena *arena;
    mach_desc desc;
    memory *mem;
    exec_threads *threads;
    exec_scratch scratch;
    core_told *told;
    trc_writer *trace; /* NULL = none */
    uint32_t n_traced; /* programs whose texts it has */
    core_total *totals;
};

typedef struct core_made {
    struct core_made *next;
    sim_kernel *kernel;
    core_total *total; /* NULL: nothing was counted yet */
} core_made;

struct core_unit {
    arena *arena;
    kernel_unit *unit;
    core_source *sources; /* that it was linked of, texts as they were given */
    uint32_t n_sources;
    uint32_t n_kernels;
    const sim_signature *signatures;
    core_made *kernels;
    uint32_t traced; /* its number in the trace; 0: it is not there */
};

/* Name of a program's text in messages. */
#define CORE_TEXT_NAME "source.cl"

/* The text for the compiler: under that name, with what it may not see gone. */
const char *core_text(const char *text, const char *name, arena *a);

/* The source's headers as files of a new folder, its last option naming it.
 * *folder NULL: there are none. Else temp_dir_remove is the caller's, also
 * after an error. In the arena. */
vpu_status core_put_headers(core_source *s, arena *a, char **folder,
                            vpu_error *err);

exec_launch core_launch_of(const core_launch *l);

/* totals.c: a launch has run; lines: where its cycles went. Within an
 * oom_guard. */
void core_count(core_machine *m, const core_launch *l, const exec_result *r);
void core_count_lines(core_machine *m, const core_launch *l,
                      const exec_profile *lines);
vpu_status core_tell(core_machine *m, const core_summary *s, uint32_t most,
                     str *table, str *json, vpu_error *err);

/* case.c: entries of the table. */
vpu_status core_check(core_machine *m, const core_launch *l,
                      const core_checking *how, core_findings *out,
                      vpu_error *err);
vpu_status core_dump(core_machine *m, const core_launch *l, const char *path,
                     vpu_error *err);
vpu_status core_results(core_machine *m, const core_launch *l,
                        const char *folder, vpu_error *err);

#endif
