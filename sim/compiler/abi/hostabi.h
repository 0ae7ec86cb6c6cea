/* The contract between compiled kernels and the engine that runs them.
 *
 * Everything a kernel may touch is here: one sim_wg per SHAVE. Offsets are
 * taken with offsetof by the code generator, so the layout may change freely as
 * long as cached objects do not survive (SIM_ABI). */
#ifndef VPU_SIM_COMPILER_ABI_HOSTABI_H
#define VPU_SIM_COMPILER_ABI_HOSTABI_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/builtins/calls.h"

/* Bump when compiled code and this header stop fitting together. */
enum { SIM_ABI = 30 };

/* Global accesses are logged and given to the cache model in batches. Where the
 * code does not know from before that a block's accesses fit, it makes room for
 * so many at once. */
enum { SIM_LOG_ENTRIES = 2048, SIM_LOG_AT_ONCE = 256 };
#define SIM_LOG_ENTRY(addr, bytes, store) \
    ((uint64_t)(addr) | (uint64_t)(bytes) << 32 | (uint64_t)(store) << 48)

/* printf's arguments: three words with the local id, then, in front of each
 * argument: its bytes, bytes of an element, float? */
#define SIM_PRINT_TAG(bytes, element, is_float) \
    ((uint32_t)(bytes) | (uint32_t)(element) << 16 | (uint32_t)(is_float) << 24)
enum { SIM_PRINT_IDS = 3 };

/* Of a block of so many bytes of a buffer nobody used before: stores of
 * `element` bytes, one behind the other from byte `from` of the block on, each
 * of whose words is `step` more than that of the one before. The words in
 * shadow memory are still 0. A store of so many bytes at `next`, counted from
 * where the buffer begins, with the word `next_word` goes on with it. */
enum {
    SIM_RUN_BYTES = 256, /* of a block */
    SIM_RUN_MADE = 255,  /* element: the words in shadow memory tell it all */
    SIM_RUN_ENDS = -1    /* next, as uint32_t: nothing goes on with it */
};
typedef struct {
    uint32_t next, next_word, step;
    uint16_t count; /* 0: nobody used the block, or SIM_RUN_MADE */
    uint8_t from, element;
} sim_check_run;
/* Of an argument's buffer. */
typedef struct {
    uint64_t runs; /* host address of a sim_check_run per block; 0: none */
    uint64_t from; /* device address of the first block */
} sim_check_runs;

/* State of code compiled for checking (site.h). One shadow word per byte of the
 * window, at shadow + 4 * address (sim/check/shadow.h). An access that finds in
 * all its words what is said here changes nothing and needs no call; in local
 * memory compiled code knows the usual changes, too. */
typedef struct {
    uint64_t shadow; /* host address */
    uint64_t limits; /* host address of a uint64_t per argument: bytes from
                        where it points on that need a call only for their
                        shadow's sake; 0 = always call */
    /* [0] of local memory, [1] of global: a barrier may order one alone. */
    uint32_t many[2];     /* a load's words: read by several in this interval */
    uint32_t mine[2];     /* a store: written by this item in this interval */
    uint32_t interval[2]; /* mine less the item */
    uint32_t floor;       /* words of local memory of this group are no less */
    uint32_t now_floor;   /* those of this interval; 0 = always call */
    uint32_t init;        /* words of private arrays: written */
    uint32_t item;        /* that runs, linear in its group */
    uint32_t at, at_item; /* site of the collective call an item is about to
                             make, the item */
    uint32_t before;      /* at, before it was set last */
    uint32_t expected;    /* by the compare and exchange about to be made */
    void *user;
    uint64_t runs; /* host address of a sim_check_runs per argument */
} sim_check;
/* Bits of shadow words. */
enum {
    SIM_CHECK_KIND = 7 | 64,
    SIM_CHECK_READ = 1,
    SIM_CHECK_MANY = 2,
    SIM_CHECK_WROTE = 3,
    SIM_CHECK_SPECIAL = 4, /* no plain loads and stores: transfers, atomics */
    SIM_CHECK_INIT = 8,
    SIM_CHECK_WRITTEN = 32,
    SIM_CHECK_ITEM_SHIFT = 7,
    /* A load that finds its words so but for these bits changes nothing: with
     * the second of them READ is WROTE. */
    SIM_CHECK_LOAD_MINE =
        SIM_CHECK_WRITTEN | (SIM_CHECK_READ ^ SIM_CHECK_WROTE),
    SIM_CHECK_LOAD_MANY = SIM_CHECK_WRITTEN
};

/* A group that has ended: its issue cycles, and the end of its accesses in the
 * log. `more` groups of the row behind it have ended as well, took as many
 * cycles each, and the log does not have their accesses: these are the group's,
 * of which there are SIM_MOVED at most, each moved as far from group to group
 * as it is from that of the entry before, which is of the same row. */
typedef struct {
    uint64_t cycles;
    uint32_t log_end, more;
} sim_ran;
enum { SIM_MOVED = 32 };

/* Groups to run one after the other. Code of short groups does so: it writes an
 * entry for each that has ended and goes on with the next one, while there are
 * fewer than n entries; or it counts them to the last entry, `moved` at most.
 * Other code runs one group and writes nothing here. A hook may end the row
 * with the group that runs. */
enum { SIM_ROW = 64 };
typedef struct {
    sim_ran ran[SIM_ROW];
    uint64_t most;   /* cycles behind which no other group begins */
    uint32_t n;      /* at most SIM_ROW */
    uint32_t ended;  /* entries; the first need not be of this row */
    uint32_t moved;  /* groups without entries that may run */
    uint32_t stride; /* from number to number in dimension 0 */
} sim_row;

typedef struct sim_wg {
    uint64_t cycles; /* issue cycles since the last step */
    /* hook_limit is called when cycles passes it; 0 from another thread ends
     * the group soon. */
    _Atomic uint64_t max_cycles;
    uint64_t log_n;          /* entries in the log */
    uint32_t ids[SIM_N_IDS]; /* SIM_ID_… (sim/builtins/calls.h) */
    uint32_t local_base; /* device address of __local arrays of the program */
    uint32_t stack_base; /* device address of private arrays */
    uint32_t kept_base;  /* device address of values kept across barriers */
    uint32_t const_base; /* device address of __constant data */
    uint32_t line, col;  /* of the access being made; code compiled with
                            track_lines only */
    sim_row row;
    sim_check check;
} sim_wg;

/* One work-group. window: host address of device address 0. args: the packed
 * argument block (pointers as 32-bit device addresses). */
typedef void sim_wg_fn(sim_wg *wg, uint8_t *window, const uint8_t *args,
                       uint64_t *log);

/* A transfer: the arguments of the call dma in this order, and what the hook
 * gets. FIELD(name, NAME) */
#define SIM_DMA_FIELDS(FIELD)                                       \
    FIELD(dst, DST)                                                 \
    FIELD(src, SRC)                                                 \
    FIELD(to_cmx, TO_CMX)                                           \
    FIELD(bytes, BYTES) /* per plane; SIM_DMA_TOO_LARGE where 32    \
                           bits do not hold them */                 \
    FIELD(src_width, SRC_WIDTH)                                     \
    FIELD(dst_width, DST_WIDTH)                                     \
    FIELD(src_pitch, SRC_PITCH)                                     \
    FIELD(dst_pitch, DST_PITCH)                                     \
    FIELD(planes, PLANES)                                           \
    FIELD(src_plane, SRC_PLANE) /* pitch between planes */          \
    FIELD(dst_plane, DST_PLANE)                                     \
    FIELD(line, LINE)   /* in the source; of code compiled for      \
                           checking: the site */                    \
    FIELD(event, EVENT) /* the transfer joins it; 0 = it has one of \
                           its own */
#define SIM_DMA_TOO_LARGE UINT32_MAX

enum {
#define SIM_DMA_NUMBER(name, NAME) SIM_DMA_##NAME,
    SIM_DMA_FIELDS(SIM_DMA_NUMBER)
#undef SIM_DMA_NUMBER
        SIM_DMA_N
};

typedef struct {
#define SIM_DMA_FIELD(name, NAME) uint32_t name;
    SIM_DMA_FIELDS(SIM_DMA_FIELD)
#undef SIM_DMA_FIELD
} sim_dma;

/* Compiled code stores argument k at word k. */
static_assert((int)SIM_DMA_N == (int)CALL_WORDS_dma, "row dma of calls.def");
#define SIM_DMA_PLACE(name, NAME)                                \
    static_assert(offsetof(sim_dma, name) == 4 * SIM_DMA_##NAME, \
                  "sim_dma." #name);
SIM_DMA_FIELDS(SIM_DMA_PLACE)
#undef SIM_DMA_PLACE
static_assert(sizeof(sim_dma) == 4 * SIM_DMA_N, "sim_dma");

/* Which code calls a hook: any; any, but where copies are looked at the engine
 * has another in its place; that with sim_debug.lines; that which tells of
 * barriers, to try orders out; that which tells of everything. */
enum {
    SIM_HOOKS_EVERY = 1,
    SIM_HOOKS_COPIES = SIM_HOOKS_EVERY,
    SIM_HOOKS_LINES = 2,
    SIM_HOOKS_ORDERS = 4,
    SIM_HOOKS_CHECKS = 8
};

/* What compiled code calls; hooks.def has them all. */
typedef struct {
#define HOOK(who, returns, name, parameters) returns(*name) parameters;
#include "sim/compiler/abi/hooks.def"
#undef HOOK
} sim_hooks;

#endif
