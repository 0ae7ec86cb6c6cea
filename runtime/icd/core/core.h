/* What the OpenCL driver needs of the simulator, as a table: the driver is a
 * small library that every OpenCL program on the machine loads, and loads the
 * large one, with its compiler, when a program makes its first context.
 *
 * A device is used by one thread at a time but for its memory's bytes; units
 * and kernels by any thread, each by one at a time. */
#ifndef VPU_RUNTIME_ICD_CORE_CORE_H
#define VPU_RUNTIME_ICD_CORE_CORE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/trace/writer.h"
#include "sim/exec/exec.h"
#include "sim/machine/desc.h"

typedef struct core_machine core_machine; /* memory, host threads */
typedef struct core_unit core_unit;       /* OpenCL C behind the front end */

/* Memory that arguments of a launch point into, each byte in one of a launch's
 * objects alone. */
typedef struct {
    const char *name;
    uint32_t address;
    uint64_t bytes;
    uint8_t *written; /* a bit for each byte that somebody has written, the
                         lowest of eight first; NULL = nobody keeps it */
} core_object;

/* May a kernel write through that argument? */
static inline bool core_writes(const sim_arg *p)
{
    return p->space == SIM_ARG_GLOBAL && !p->is_const;
}

typedef struct {
    const char *name; /* of the launch, for messages */
    core_unit *unit;
    const sim_kernel *kernel;
    const core_object *objects;
    uint32_t n_objects;
    const exec_value *values;
    uint32_t groups[3], local[3], offset[3], work_dim;
    uint32_t n_shaves;
    uint64_t start_cycle; /* on the device's clock, for the timeline */
    uint64_t max_cycles;  /* 0 = no limit */
    double timeout_s;     /* 0 = no limit */
    bool counted;         /* for tell; and where its cycles go, by line: slow */
    bool profiled;
    void (*print)(void *user, const char *text, size_t n);
    void *print_user;
} core_launch;

/* Of the program, for tell. */
typedef struct {
    uint64_t contexts, launches, failed, cycles, findings;
} core_summary;

/* What a host thread or a queue did, on the device's clock. */
typedef struct {
    uint32_t thread, queue; /* which thread's row, 0: the queue's; from 1 on */
    const char *name;
    uint64_t begin_ns, end_ns, queued_ns; /* queued: of a command */
    uint64_t flow;  /* number of the command: an arrow from the thread that
                       enqueued it to where it ran; 0 = none */
    uint64_t bytes; /* that it moved; 0 = none */
    int status;     /* below 0: it failed with that */
} core_mark;

typedef struct {
    uint32_t bundles, i_registers, v_registers, spills, factor;
} core_shape;

typedef struct {
    const char *checks;   /* as vpu check --checks; NULL = the default */
    const char *suppress; /* a file of known findings; NULL = none */
    bool orders;          /* other orders of work-groups, too, */
    uint32_t n_random;    /* so many random ones of each kind */
} core_checking;

typedef struct {
    str text, json; /* for people; a line of JSON for each */
    uint32_t n;     /* that are no notes */
} core_findings;

typedef struct {
    const char *text;
    const char *const *options; /* words for the compiler */
    uint32_t n_options;
    const char *const *names, *const *headers; /* that it may include */
    uint32_t n_headers;
} core_source;

typedef struct {
    const char *version; /* VPU_VERSION: both libraries are of one build */
    /* VPU_ERR_NOMEM  no address space for the device's memory */
    vpu_status (*open)(const mach_desc *desc, core_machine **out,
                       vpu_error *err);
    void (*close)(core_machine *m);
    uint8_t *(*window)(const core_machine *m);
    /* Errors of memory_alloc_aligned. */
    vpu_status (*alloc)(core_machine *m, const char *name, uint64_t bytes,
                        uint32_t align, uint32_t *address, vpu_error *err);
    void (*give_back)(core_machine *m, uint32_t address);
    /* text and options (words for clang) are copied; log gets the compiler's
     * messages. Errors of kernel_unit_of_text. */
    vpu_status (*compile)(const core_source *source, str *log, core_unit **out,
                          vpu_error *err);
    /* Several as one; the parts may go. Errors of kernel_unit_link. */
    vpu_status (*link)(core_unit *const *parts, uint32_t n, core_unit **out,
                       vpu_error *err);
    /* Its kernels, *n of them, as long as it lives. */
    const sim_signature *(*kernels)(const core_unit *u, uint32_t *n);
    /* Made when first asked for; lives as long as the unit. Errors of
     * kernel_of_unit. */
    vpu_status (*kernel)(core_unit *u, const char *name, const sim_kernel **out,
                         vpu_error *err);
    void (*release)(core_unit *u); /* NULL is fine */
    /* CMX of a work-group of that size, and of the arguments' local arrays. */
    uint32_t (*local_bytes)(const core_launch *l, const mach_desc *desc,
                            str *list);
    const char *(*cause)(mach_cause c);
    /* A kernel's program in that form; all-zero: it has none. Errors of
     * kernel_programs. */
    vpu_status (*shape)(const sim_kernel *k, sim_variant_kind v,
                        core_shape *out, vpu_error *err);
    /* Errors of exec_run; and VPU_ERR_FAULT when it wrote beside a buffer. The
     * message has the line. */
    vpu_status (*run)(core_machine *m, const core_launch *l, exec_result *out,
                      vpu_error *err);
    /* From now on a timeline of all launches goes to the file, which is there
     * when end_trace has ended well. Errors of trc_writer_add and
     * trc_writer_commit. */
    vpu_status (*trace)(core_machine *m, const char *path, trc_level level,
                        vpu_error *err);
    vpu_status (*end_trace)(core_machine *m, vpu_error *err);
    /* Into the timeline that is begun, unless it is a summary; each row in the
     * order of time. */
    void (*mark)(core_machine *m, const core_mark *x);
    /* What the launches that were counted came to, kernel by kernel: table gets
     * the `most` lines of each with most cycles, json an object with all; each
     * may be NULL. VPU_ERR_NOMEM. */
    vpu_status (*tell)(core_machine *m, const core_summary *s, uint32_t most,
                       str *table, str *json, vpu_error *err);
    /* The launch under checkers, on copies of its objects, whose bits `written`
     * get what it writes; nothing else changes. What is found is added to *out,
     * but for what was found in an earlier launch of the machine.
     * Errors of layer_check. */
    vpu_status (*check)(core_machine *m, const core_launch *l,
                        const core_checking *how, core_findings *out,
                        vpu_error *err);
    /* The launch as a graph's file for vpu run, before it runs. VPU_ERR_IO: it
     * cannot be written. */
    vpu_status (*dump)(core_machine *m, const core_launch *l, const char *path,
                       vpu_error *err);
    /* After it has run: what stands in objects that it may write, each as
     * NAME.npy in a new folder, for backend npy. */
    vpu_status (*results)(core_machine *m, const core_launch *l,
                          const char *folder, vpu_error *err);
} core_table;

__attribute__((visibility("default"))) extern const core_table vpusim_icd_core;

#endif
