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

#include "base/log.h"
#include "sim/compiler/kernel.h"
#include "sim/exec/memory.h"
#include "sim/exec/threads.h"
#include "sim/machine/engine.h"

/* What compiled kernels call; pass to sim_kernel_compile. */
extern const sim_hooks exec_hooks;
/* Its entries of hooks that any code calls, exec_flush and so on, for tables
 * that put others in place of some. */
#define HOOK_EVERY(returns, name, parameters) returns exec_##name parameters;
#define HOOK_COPIES(returns, name, parameters) returns exec_##name parameters;
#include "sim/compiler/abi/hooks.def"
/* The last transfer of its phase that a wait for n is for. */
uint32_t exec_wait_end(const sim_wg *wg, uint32_t n);
/* A hook did work that counts as so many cycles for exec_launch.max_cycles. */
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
bool exec_timing_parse(const char *text, exec_timing *out);

typedef enum { EXEC_SEQUENTIAL, EXEC_REVERSE, EXEC_RANDOM } exec_order;

/* Do groups of different SHAVEs run one after the other, as far as any of them
 * can tell, or by turns: from one exec_yield to the next? */
typedef enum {
    EXEC_APART,
    EXEC_IN_TURN,       /* SHAVE after SHAVE */
    EXEC_IN_RANDOM_TURN /* by exec_launch.seed */
} exec_turns;

/* Where cycles of SHAVEs go: to a line of the kernel, or to what has none. */
typedef enum {
    EXEC_AT_LINE,
    EXEC_AT_DISPATCH,   /* of the launch and its groups */
    EXEC_AT_PHASE_WAIT, /* for transfers, before a phase of a group */
    EXEC_AT_FLUSH,      /* dirty lines leave the caches, at the end */
    EXEC_AT_IDLE        /* no group left */
} exec_place;

/* One row of a profile, of all SHAVEs together. */
typedef struct {
    exec_place place;
    mach_phase phase; /* of AT_LINE; AT_PHASE_WAIT: that follows, MACH_N_PHASES
                         = none, the launch ends */
    uint32_t line;    /* of AT_LINE: 0 = the program names none */
    uint64_t cycles[MACH_N_CAUSES];
    uint64_t executions; /* of the line's most often issued operation */
    uint64_t load_bytes, store_bytes; /* global memory, as the kernel asked */
    uint64_t dma_bytes;               /* of transfers started there */
} exec_profile_row;

/* The rows' cycles, added up by cause, are those of all SHAVEs of the launch:
 * rows x causes = launch's cycles x SHAVEs. Rows without any are left out;
 * order: by place, phase, line. */
typedef struct {
    exec_profile_row *rows;
    uint32_t n;
} exec_profile;

/* Who looks at one work-group's program while it runs on the interpreter. Its
 * phases come one after the other, called from one thread at a time. */
typedef struct exec_group_watch {
    uint64_t group; /* linear number */
    void (*phase_begin)(void *user, mach_phase phase, const isa_function *f);
    /* The n operations (in f->instrs) that issue `cycle` issue cycles after the
     * phase's start; stalls are not in it. */
    void (*bundle)(void *user, uint64_t cycle, const isa_instr *in, uint32_t n);
    void (*phase_end)(void *user, uint64_t cycles);
    void *user;
} exec_group_watch;

/* Who looks at a launch step by step, and may end it (exec_leave). One host
 * thread; sequential SHAVEs. Called from the thread of exec_run. */
typedef struct exec_debugger {
    /* Group number `group`, at `index` in the launch's order, begins a phase.
     */
    void (*phase)(void *user, uint64_t index, uint64_t group, mach_phase phase);
    /* Code with sim_debug.lines: the item with that local id is about to do
     * what stands at site: "KIND\tLINE\tCOLUMN\tDEPTH\tSCOPES\tFILE\tFUNCTION".
     * KIND: l a line, s a barrier, copy or wait, e the item's end. DEPTH: calls
     * inlined around it. SCOPES: "7,3,0", innermost first. */
    void (*line)(void *user, const char *site, const uint32_t local_id[3]);
    /* Likewise: "SCOPE\tNAME\tLINE\tTYPE" of the item whose line comes next is
     * at `at`. TYPE: f16 i32 u8 …, v4:TYPE, a10:TYPE, p:TYPE (32-bit address),
     * {BYTES;OFFSET NAME=TYPE;…}, ?BYTES. */
    void (*var)(void *user, const char *what, const uint8_t *at);
    /* The interpreter is about to issue these operations; as in
     * exec_group_watch. */
    void (*bundle)(void *user, const isa_function *f, uint64_t cycle,
                   const isa_instr *in, uint32_t n);
    void *user;
} exec_debugger;

/* Why a work-group ended early. */
typedef enum {
    EXEC_STOP_ACCESS,     /* outside mapped memory: address, write */
    EXEC_STOP_DIVERGENCE, /* items wait at different places: line */
    EXEC_STOP_COPY        /* of no width, or beyond all addresses: line */
} exec_stop_kind;

typedef struct {
    exec_stop_kind kind;
    uint32_t address, line;
    bool write;
} exec_stop;

/* Who is told how groups go, before any code of theirs runs and after. With
 * code compiled for checking; then one host thread, and SHAVEs one after the
 * other. */
typedef struct exec_observer {
    void *user;
    /* args: the packed argument block of this group; wg->check is the
     * observer's. */
    void (*group_begin)(void *user, sim_wg *wg, uint64_t group,
                        const uint8_t *args);
    void (*phase_begin)(void *user, sim_wg *wg, mach_phase phase);
    void (*phase_end)(void *user, sim_wg *wg, mach_phase phase);
    void (*group_end)(void *user, sim_wg *wg); /* may be NULL */
    /* The group has stopped; the launch goes on with the next. */
    void (*stopped)(void *user, sim_wg *wg, const exec_stop *why);
} exec_observer;

/* Which work-group wrote each element of a buffer last. For who wants to know,
 * after the fact, whose mistake it is; slow. */
typedef struct {
    uint32_t address, bytes, element_bytes; /* of the buffer */
    uint32_t *groups; /* bytes / element_bytes linear group numbers; those
                         nobody wrote keep what they were */
} exec_writers;

/* Value of one kernel argument, in the kernel's order. */
typedef struct {
    union {
        uint32_t address; /* global and constant pointers */
        uint32_t bytes;   /* local pointers: size wanted */
        uint8_t raw[128]; /* scalars: the argument's own representation */
    } u;
} exec_value;

typedef struct {
    const char *name; /* for messages and the trace */
    const sim_kernel *kernel;
    const exec_value *values;
    uint32_t groups[3], local[3];
    uint32_t n_shaves;  /* 1 .. the machine's */
    uint32_t n_threads; /* 0 = as many as the host has */
    /* Where they come from, not used by another launch meanwhile; NULL: made
     * for this one. */
    exec_threads *threads;
    exec_engine engine;
    exec_timing timing;
    exec_order order;
    uint64_t seed; /* of EXEC_RANDOM, EXEC_IN_RANDOM_TURN */
    /* Not NULL: these n_list groups alone, in this order, split over the SHAVEs
     * as if they were all. */
    const uint64_t *list;
    uint64_t n_list;
    exec_turns turns;    /* other than EXEC_APART: one host thread, no timing */
    uint64_t max_cycles; /* of one SHAVE, 0 = no limit */
    double timeout_s;    /* host seconds, 0 = no limit */
    uint64_t start_cycle; /* on the device's clock */
    trc_writer *trace;    /* may be NULL */
    const log_sink *log;
    /* Output of the kernel's printf, group by group in the order of their
     * linear numbers (print_log.h says what is kept until then), also when the
     * launch stops; may be NULL. */
    void (*print)(void *user, const char *text, size_t n);
    void *print_user;
    bool print_prefix; /* each line says which group and item printed it */
    /* Count by source line, which the interpreter must do, whatever `engine`
     * says. NULL: no. The rows are put into profile_arena. */
    exec_profile *profile;
    arena *profile_arena;
    const exec_group_watch *group_watch; /* NULL; interpreter only */
    const exec_debugger *debugger;       /* NULL: nobody */
    uint64_t first; /* begin at this place in the order; with one SHAVE */
    const exec_writers *writers; /* n_writers of them; with one host thread */
    uint32_t n_writers;
    const exec_observer *observer; /* NULL */
    /* Run this group alone (a linear number); used to find a fault's line. */
    const uint64_t *only_group;
} exec_launch;

enum { EXEC_MAX_STUCK = 4 };

typedef struct {
    mach_profile profile;
    sim_variant_kind variant; /* that ran as the main kernel */
    uint32_t factor;
    uint32_t local_bytes; /* CMX per work-group, double buffers counted */
    uint64_t n_groups;
    uint64_t fault_group; /* of VPU_ERR_FAULT and VPU_ERR_LIMIT */
    uint32_t fault_address;
    /* Of VPU_ERR_LIMIT: groups that were running, and, when the code tracks
     * lines, the line the first was last seen on (0 = not known). */
    uint64_t stuck[EXEC_MAX_STUCK];
    uint32_t n_stuck, stuck_line, stuck_col;
} exec_result;

/* From a hook: another SHAVE may go on here. Nothing without turns. */
void exec_yield(void);

/* CMX a group of this launch needs, by consumer, one "bytes  what" line each
 * appended to *list (may be NULL). */
uint32_t exec_local_bytes(const exec_launch *l, sim_variant_kind variant,
                          str *list);
/* vectorized when the kernel has it and local[0] is a multiple of its factor.
 */
sim_variant_kind exec_pick_variant(const sim_kernel *k,
                                   const uint32_t local[3]);

/* VPU_ERR_LIMIT    local memory over the budget (lists the consumers); cycle
 *                  limit or time-out reached (names kernel and group, and what
 *                  each SHAVE does)
 * VPU_ERR_FAULT    an access outside mapped memory (names kernel, group,
 *                  address, buffer)
 * VPU_ERR_UNDEFINED  a copy with zero width, barrier divergence (names kernel,
 *                  group, line)
 * VPU_ERR_UNTESTED more DDR lines in one step than EXEC_TRANSACTIONS keeps
 * VPU_ERR_INVALID  local size 0 or not the required one; no SHAVEs
 * VPU_ERR_INTERNAL, VPU_ERR_PARSE  of the SHAVE program (interpreter only) */
/* VPU_ERR_STOPPED  the debugger ended it */
vpu_status exec_run(memory *mem, const mach_desc *desc, const exec_launch *l,
                    exec_result *result, vpu_error *err);
/* From a debugger's callback: ends the launch there. */
_Noreturn void exec_leave(void);

#endif
