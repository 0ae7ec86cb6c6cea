/* Finds what a kernel does that is wrong, undefined or a matter of luck.
 *
 * A check_session watches launches made with exec_run on kernels compiled with
 * kernel_compile_config.checking and check_hooks. It keeps one 32-bit word for
 * each byte of device memory that is used (shadow.h) and notes findings: what,
 * where in the source, which work-item of which group, which memory.
 *
 * One observer (sim_hooks and exec_observer) receives what kernels do; each
 * file of this folder looks at one side of it (access.c, copies.c, …). A
 * checker switched off is one whose findings are dropped.
 *
 * Findings are the same whatever the host, and from run to run. Not thread
 * safe: one session, one thread. */
#ifndef VPU_SIM_CHECK_CHECK_H
#define VPU_SIM_CHECK_CHECK_H

#include "sim/exec/exec.h"

typedef enum {
#define CHECK(id, name, on, level, from, about, advice) CHECK_##id,
#include "sim/check/check.def"
#undef CHECK
    CHECK_N
} check_kind;

const char *check_name(check_kind k);   /* "bounds" */
bool check_is_note(check_kind k);       /* a fact about the device */
const char *check_about(check_kind k);  /* what it finds, one line */
const char *check_advice(check_kind k); /* what to do about it; may be "" */

/* A set of checkers, a bit each. */
typedef uint32_t check_set;
#define CHECK_BIT(k) (1u << (k))
check_set check_default(void);
/* Is there one that looks at accesses and operations? Otherwise code that tells
 * of collective calls alone will do (sim_checking.barriers). */
bool check_set_accesses(check_set set);
/* "all", "none", "default" or names with "," between, "-name" taking one away
 * from what stands before it (from the default when it is first).
 *
 * VPU_ERR_INVALID  names the word and lists the checkers */
vpu_status check_set_parse(const char *text, check_set *out, vpu_error *err);

/* What kernels for checking call; pass to kernel_compile. */
extern const sim_hooks check_hooks;

/* Memory a finding is about. */
typedef struct {
    sim_mem_kind kind; /* SIM_MEM_ARG: a global buffer, or local_data */
    bool local;        /* SIM_MEM_ARG: local_data */
    const char *name;  /* of the buffer, local_data, array; "" = unknown */
    const char *arg;  /* argument a global buffer was used through; "" = none */
    uint32_t buffer;  /* of a global buffer: as given to check_buffer */
    int64_t bytes;    /* its size; 0 = unknown */
    int64_t offset;   /* of the first byte in question; may lie outside */
    uint32_t address; /* of that byte on the device; 0 = not told */
} check_memory;

/* One of the two sides of a finding. */
typedef struct {
    const sim_place *at; /* in the source; NULL = no place of it */
    const char *what;    /* "reads 16 bytes", "writes", "the transfer", … */
    bool has_group, has_item;
    uint64_t group; /* linear */
    uint32_t item;  /* linear in its group */
} check_party;

typedef struct {
    check_kind kind;
    uint32_t launch;              /* as given to check_launch */
    const char *kernel;           /* entry */
    uint32_t groups[3], local[3]; /* of the launch */
    char *text;                   /* one sentence, without place and party */
    check_party by;
    check_party other;      /* at: NULL when there is none or it is not known */
    check_memory memory;    /* kind UNKNOWN and name "" when about none */
    uint32_t element_bytes; /* of the access, 0 = unknown */
    uint64_t count;         /* how often it was found */
    uint64_t elements;      /* UNWRITTEN: how many, the first is `memory` */
    bool note;              /* CONVERT: nothing depends on the result */
} check_finding;

typedef struct check_session check_session;

typedef struct {
    check_set enabled;
    /* Look, too, for the other side of what this earlier session of the same
     * run found (races, transfers): a second run tells all about them. */
    const check_session *again;
} check_config;

/* mem: all of whose buffers belong to the run. Borrowed, like cfg->again.
 *
 * VPU_ERR_NOMEM  16 GiB of address space for shadow words cannot be reserved */
vpu_status check_open(memory *mem, const check_config *cfg, check_session **out,
                      vpu_error *err);
void check_close(check_session *s); /* NULL is fine */

/* A buffer of mem: inputs and constants are written from the start. number is
 * for check_memory.buffer. The name is copied. */
void check_buffer(check_session *s, const char *name, uint32_t number,
                  uint32_t address, uint64_t bytes, bool written);

/* Something that is no kernel wrote these bytes between two launches. */
void check_filled(check_session *s, uint32_t address, uint64_t bytes);

/* Runs l, whose kernel was compiled for checking, sequentially. Statuses are
 * exec_run's but for what becomes a finding: faults and divergence do not end
 * the launch, they end the group. A local size other than required is a finding
 * and the launch does not run. l->max_cycles counts basic blocks here, each at
 * least a cycle of the device's. */
vpu_status check_launch(check_session *s, const mach_desc *desc,
                        const exec_launch *l, uint32_t number, vpu_error *err);
/* The same launch with its kernel as the device would run it: has it the local
 * memory for it? False: no, which is a finding; then check_launch is not to be
 * called. */
bool check_local_memory(check_session *s, const mach_desc *desc,
                        const exec_launch *plain, uint32_t number);
/* After the last launch: elements of this buffer nobody wrote; nothing when
 * some launch did not run. */
void check_written(check_session *s, uint32_t number, uint32_t element_bytes);

/* Sets the bit of each byte of buffer `number` that somebody wrote, the lowest
 * of eight first. Before check_end. */
void check_written_bits(const check_session *s, uint32_t number, uint8_t *bits);

/* Did all launches run? Sizes the device refuses are findings instead. */
bool check_ran_all(const check_session *s);
/* Did launch `number` read bytes or variables nobody wrote? Then whether that
 * matters is found by compiling its kernel with `taint` and running again. */
bool check_needs_taint(const check_session *s, uint32_t number);
/* Are there findings whose other side a second run would tell? */
bool check_needs_again(const check_session *s);

/* Gives the words back: nothing more will run, what was found stays. */
void check_end(check_session *s);

/* In the order they were found first. The session's own. */
const check_finding *check_findings(const check_session *s, size_t *n);
/* Different findings that were not kept: there is a limit (4096). */
uint64_t check_dropped(const check_session *s);

#endif
