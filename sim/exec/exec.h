/* Executing launches: work-groups on SHAVEs, functionally and for the clock.
 *
 * A launch's groups are split evenly and statically over its SHAVEs, as on the
 * device; each SHAVE's groups run in order. Host threads execute SHAVEs
 * independently and record what every group did; sim/machine turns that into
 * time. Results, cycles and traces do not depend on the number of threads.
 *
 * One device is used from one thread at a time; several devices are fine. While
 * a launch runs, the process's SIGSEGV and SIGBUS handlers are ours; faults
 * that are not a kernel's go to the handlers found. */
#ifndef VPU_SIM_EXEC_EXEC_H
#define VPU_SIM_EXEC_EXEC_H

#include <stdatomic.h>

#include "base/log.h"
#include "sim/compiler/kernel.h"
#include "sim/exec/memory.h"
#include "sim/exec/observe.h"
#include "sim/exec/scratch.h"
#include "sim/exec/threads.h"
#include "sim/machine/engine.h"

/* What compiled kernels call; pass to kernel_compile. */
extern const sim_hooks exec_hooks;
/* Its entries of hooks that any code calls, exec_flush and so on, for tables
 * that put others in place of some. */
#define HOOK_EVERY(returns, name, parameters) returns exec_##name parameters;
#define HOOK_COPIES(returns, name, parameters) returns exec_##name parameters;
#include "sim/compiler/abi/hooks.def"
/* The last transfer of its phase that a wait for n is for. */
uint32_t exec_wait_end(const sim_wg *wg, uint32_t n);
/* A hook did work that counts as so many cycles for exec_options.max_cycles. */
void exec_charge(sim_wg *wg, uint64_t cycles);

/* What executes work-groups: compiled host code, or the interpreter of the
 * finished SHAVE program. Same results, same cycles. */
typedef enum { EXEC_COMPILED, EXEC_INTERPRETED } exec_engine;

/* How the time of what was executed is found; see docs/timing.md. */
typedef enum {
    EXEC_FLOWS,        /* bandwidth shared between flows */
    EXEC_TRANSACTIONS, /* every line of DDR an event; slower */
    EXEC_NO_TIMING     /* not at all: the profile is zero, the trace empty */
} exec_timing;

/* "flow", "transaction", "none". */
const char *exec_timing_name(exec_timing t);

typedef enum { EXEC_SEQUENTIAL, EXEC_REVERSE, EXEC_RANDOM } exec_order;

/* Do groups of different SHAVEs run one after the other, as far as any of them
 * can tell, or by turns: from one exec_yield to the next? */
typedef enum {
    EXEC_APART,
    EXEC_IN_TURN,       /* SHAVE after SHAVE */
    EXEC_IN_RANDOM_TURN /* by exec_options.seed */
} exec_turns;

/* A write behind the end of an array in local memory. The device writes to what
 * lies there, and published kernels do so unharmed. */
typedef enum {
    EXEC_OVERRUN_FAULT, /* ends the launch */
    EXEC_OVERRUN_NOTE   /* the first is noted in the log */
} exec_overruns;

/* How launches run. Results do not depend on n_threads, nor cycles and traces.
 */
typedef struct exec_options {
    uint32_t n_shaves;  /* 1 .. the machine's */
    uint32_t n_threads; /* 0 = as many as the host has */
    exec_engine engine;
    exec_timing timing;
    exec_order order;
    uint64_t seed;       /* of EXEC_RANDOM, EXEC_IN_RANDOM_TURN */
    uint64_t max_cycles; /* of one SHAVE, 0 = no limit */
    double timeout_s;    /* host seconds for a launch, 0 = no limit */
    /* Set by another thread, which may call exec_threads_hurry then: the launch
     * ends with VPU_ERR_STOPPED. NULL = nobody does. */
    const atomic_bool *cancel;
    exec_overruns overruns;
    bool print_prefix; /* printf: which group and item, before each line */
} exec_options;

/* Value of one kernel argument, in the kernel's order. */
typedef struct {
    union {
        uint32_t address; /* global and constant pointers */
        uint32_t bytes;   /* local pointers: size wanted */
        uint8_t raw[128]; /* scalars: the argument's own representation */
    } as;
} exec_value;

/* Bytes in DDR with a name, for the trace. */
typedef struct {
    const char *name; /* borrowed */
    uint32_t address;
    uint64_t bytes;
} exec_tensor;

/* Part of a launch's groups: n[d] from first[d] on in each dimension. */
typedef struct {
    uint32_t first[3], n[3];
} exec_window;

typedef struct {
    const char *name; /* for messages and the trace */
    const sim_kernel *kernel;
    const exec_value *values;
    const exec_tensor *tensors; /* n_tensors of them that it uses, borrowed:
                                   names for where the device's buffers have
                                   none of their own */
    uint32_t n_tensors;
    uint32_t groups[3], local[3];
    uint32_t offset[3]; /* of global ids: the first item's */
    uint32_t work_dim;  /* what get_work_dim says, 1 to 3; 0 = 3 */
    exec_options how;
    /* Its host threads, not used by another launch meanwhile; NULL: made for
     * this one. */
    exec_threads *threads;
    exec_scratch *scratch; /* likewise: its memory; NULL: taken for this one */
    /* Not NULL: these n_list groups alone, in this order, split over the SHAVEs
     * as if they were all. */
    const uint64_t *list;
    uint64_t n_list;
    /* Not NULL: these groups alone, split over the SHAVEs as if they were all;
     * to a kernel they are a part of the launch. Not with list. */
    const exec_window *window;
    /* Not NULL: this group alone (a linear number), on one SHAVE. */
    const uint64_t *only_group;
    uint64_t first;   /* begin at this place in the order; one SHAVE */
    exec_turns turns; /* other than EXEC_APART: one host thread, no timing */
    uint64_t start_cycle; /* on the device's clock */
    const log_sink *log;
    /* Output of the kernel's printf, group by group in the order of their
     * linear numbers (print_log.h says what is kept until then), also when the
     * launch stops; may be NULL. */
    void (*print)(void *user, const char *text, size_t n);
    void *print_user;
    const exec_observer *const *observers; /* n_observers of them, borrowed */
    uint32_t n_observers;
} exec_launch;

enum { EXEC_MAX_STUCK = 4 };

typedef struct {
    mach_profile profile;
    sim_variant_kind variant; /* that ran as the main kernel */
    uint32_t factor;
    uint32_t local_bytes; /* CMX per work-group, double buffers counted */
    bool one_buffer;      /* two do not fit: the phases of groups take turns */
    uint64_t n_groups;
    uint64_t fault_group; /* of VPU_ERR_FAULT and VPU_ERR_LIMIT */
    uint32_t fault_address;
    /* Of VPU_ERR_LIMIT: groups that were running, and, when the code tracks
     * lines, the line the first was last seen on (0 = not known). */
    uint64_t stuck[EXEC_MAX_STUCK];
    uint32_t n_stuck, stuck_line, stuck_col;
    /* Host time in which the calling thread ran groups or waited for others
     * that did. In what is left of a run, groups run on other threads alone. */
    double groups_s;
} exec_result;

/* From a hook: another SHAVE may go on here. Nothing without turns. */
void exec_yield(void);

/* CMX a group of this launch needs where budget bytes are there, by consumer,
 * one "bytes  what" line each appended to *list (may be NULL). */
uint32_t exec_local_bytes(const exec_launch *l, sim_variant_kind variant,
                          uint64_t budget, str *list);

/* VPU_ERR_LIMIT    local memory over the budget (lists the consumers); cycle
 *                  limit or time-out reached (names kernel and group, and what
 *                  each SHAVE does)
 * VPU_ERR_FAULT    an access outside mapped memory (names kernel, group,
 *                  address, buffer); a write behind the end of an array in
 *                  local memory, found when the group has ended (names the
 *                  array)
 * VPU_ERR_UNDEFINED  a copy with zero width, barrier divergence (names kernel,
 *                  group, line)
 * VPU_ERR_UNTESTED more DDR lines in one step than EXEC_TRANSACTIONS keeps
 * VPU_ERR_INVALID  local size 0 or not the required one; no SHAVEs; work_dim
 *                  above 3, or a dimension behind it of more than one item; an
 *                  offset that leads beyond 2^32; a window
 *                  that leaves the launch, or is empty; an
 *                  observer needs something else (exec_meets); two timelines
 * VPU_ERR_INTERNAL, VPU_ERR_PARSE  of the SHAVE program (interpreter only) */
/* VPU_ERR_STOPPED  an observer ended it (exec_leave), or l->how.cancel is set
 */
vpu_status exec_run(memory *mem, const mach_desc *desc, const exec_launch *l,
                    exec_result *result, vpu_error *err);
/* From a callback of an observer with EXEC_NEED_ORDER: ends the launch there.
 */
_Noreturn void exec_leave(void);

#endif
