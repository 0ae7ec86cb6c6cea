/* Looking at a launch while it runs: a timeline, a profile, a pipeline viewer,
 * a debugger, the checkers.
 *
 * An observer is a table of callbacks, each of which may be NULL, and a set of
 * needs. exec_run refuses a launch that does not meet the needs of one of its
 * observers; it takes care of EXEC_NEED_ORDER itself. Callbacks run on the
 * thread that executes the group: with EXEC_NEED_ORDER that is the thread of
 * exec_run, else any one thread at a time for each group. */
#ifndef VPU_SIM_EXEC_OBSERVE_H
#define VPU_SIM_EXEC_OBSERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/trace/writer.h"
#include "isa/program.h"
#include "sim/compiler/abi/types.h"
#include "sim/exec/sample.h"
#include "sim/machine/launch.h"
#include "sim/machine/record.h"
#include "sim/machine/steps.h"

/* What an observer needs of the launch; the words of messages are in
 * observe.c. */
typedef enum {
    EXEC_NEED_ORDER = 1 << 0, /* one host thread, SHAVEs one after the other */
    EXEC_NEED_PROGRAM = 1 << 1,   /* EXEC_INTERPRETED */
    EXEC_NEED_HOST_CODE = 1 << 2, /* EXEC_COMPILED */
    EXEC_NEED_TIME = 1 << 3,      /* any timing but EXEC_NO_TIMING */
    EXEC_NEED_FLOWS = 1 << 4,     /* EXEC_FLOWS */
    EXEC_NEED_NO_TIME = 1 << 5,   /* EXEC_NO_TIMING */
    EXEC_NEED_SITES = 1 << 6      /* a kernel compiled for checking */
} exec_need;

/* The needs of whatever has exec_observer.trace, and .profile. */
enum {
    EXEC_TRACE_NEEDS = EXEC_NEED_TIME,
    EXEC_PROFILE_NEEDS = EXEC_NEED_PROGRAM | EXEC_NEED_TIME | EXEC_NEED_FLOWS
};

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

typedef struct exec_observer {
    const char *name; /* for messages, as users know it: "--profile" */
    uint32_t needs;   /* of exec_need */
    /* NULL: all groups; else the one whose callbacks are made (a linear
     * number). */
    const uint64_t *group;
    /* Output of the kernel's printf goes on at once, not in the order of the
     * groups. With EXEC_NEED_ORDER. */
    bool prints_at_once;
    /* The timeline of the launch; one observer of a launch may have one. With
     * EXEC_TRACE_NEEDS. */
    trc_writer *trace;
    /* The first accesses of the first SHAVE go there; one observer of a launch
     * may have one. Empty without time. */
    exec_sample *sample;
    /* The launch's steps, to be replayed; one observer of a launch may have
     * one. Not complete without EXEC_FLOWS. */
    mach_record *steps;
    /* What the engine tells while it replays the launch, on the thread of
     * exec_run: of a group when all of its own callbacks are done. With
     * EXEC_NEED_FLOWS. */
    const mach_watch *watch;
    void *user;

    /* Group number `group`, at `index` in the launch's order, begins. args: the
     * packed argument block of this group; wg->check is the observer's. */
    void (*group_begin)(void *user, sim_wg *wg, uint64_t index, uint64_t group,
                        const uint8_t *args);
    /* f: the program that the interpreter is about to run; NULL: host code. */
    void (*phase_begin)(void *user, sim_wg *wg, mach_phase phase,
                        const isa_function *f);
    /* Code with sim_debug.lines: the item with that local id is about to do
     * what stands at site: "KIND\tLINE\tCOLUMN\tDEPTH\tSCOPES\tFILE\tFUNCTION".
     * KIND: l a line, s a barrier, copy or wait, e the item's end. DEPTH: calls
     * inlined around it. SCOPES: "7,3,0", innermost first. Behind that, for
     * each of those calls, from the inside out:
     * "\tFIRST\tLINE\tFILE\tFUNCTION", where it stands, and the place in SCOPES
     * where its own begin. */
    void (*line)(void *user, const char *site, const uint32_t local_id[3]);
    /* Likewise: "SCOPE\tNAME\tLINE\tTYPE" of the item whose line comes next is
     * at `at`. TYPE: f16 i32 u8 …, v4:TYPE, a10:TYPE, p:TYPE (32-bit address),
     * {BYTES;OFFSET NAME=TYPE;…}, ?BYTES. */
    void (*var)(void *user, const char *what, const uint8_t *at);
    /* The interpreter is about to issue these n operations (in f->instrs),
     * `cycle` issue cycles after the phase's start; stalls are not in it. */
    void (*bundle)(void *user, const isa_function *f, uint64_t cycle,
                   const isa_instr *in, uint32_t n);
    /* The group stored these bytes, by an access or a transfer. A transfer of
     * several lines, and what was logged together, comes in parts. */
    void (*stored)(void *user, uint64_t group, uint32_t address,
                   uint32_t bytes);
    /* cycles: issued by the interpreter in this phase; 0: host code. */
    void (*phase_end)(void *user, sim_wg *wg, mach_phase phase,
                      uint64_t cycles);
    void (*group_end)(void *user, sim_wg *wg);
    /* The group has stopped; the launch goes on with the next. NULL in all
     * observers: the launch ends, with the group's error. */
    void (*stopped)(void *user, sim_wg *wg, const exec_stop *why);
    /* The launch is over; its cycles were counted by source line. The rows are
     * gone when the callback returns. With EXEC_PROFILE_NEEDS. */
    void (*profile)(void *user, const exec_profile *p);
} exec_observer;

struct exec_options;

/* Do the options meet the needs? kernel: what runs, NULL: not known yet.
 *
 * VPU_ERR_INVALID  they do not: "NAME needs the interpreter: not with --engine
 *                  compiled" */
vpu_status exec_meets(const char *name, uint32_t needs,
                      const struct exec_options *how, const sim_kernel *kernel,
                      vpu_error *err);

#endif
