/* From activity to time: the discrete-event model of SHAVEs, DMA channels and
 * DDR bandwidth.
 *
 * Work-groups are executed elsewhere (sim/exec) and leave behind *steps*: what
 * each group did, without time. The engine replays the steps of all SHAVEs
 * against the machine's shared resources. It works at flow level: a step that
 * moves DDR bytes, and a DMA transfer, is a flow with a highest rate; the rates
 * of all running flows are shared max-min fairly under the DDR bandwidth and
 * change only when a flow starts or ends. (At transaction level, for
 * comparison, every line is an event instead.) All time is integer cycles and
 * all rates fixed point, so a run's cycles are the same everywhere.
 *
 * Phases of the groups g0, g1, … of one SHAVE, when the kernel has DMA phases
 * (double buffered, slot = position in the SHAVE's list modulo 2):
 *
 *   SHAVE   pre(0)  pre(1) comp(0) post(0)  pre(2) comp(1) post(1)  pre(3) …
 *   DMA        [in 0][in 1]         [out 0]   [in 2]        [out 1]
 *
 * comp(n) starts when the transfers of pre(n) and of post(n-2) have ended;
 * pre(n+1) is issued before comp(n), after comp(n-1). Without DMA phases a
 * group is its comp phase alone.
 *
 * Not thread safe; one engine, one thread. */
#ifndef VPU_SIM_MACHINE_ENGINE_H
#define VPU_SIM_MACHINE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"
#include "sim/machine/desc.h"
#include "sim/trace/writer.h"

enum { MACH_MAX_SHAVES = 64, MACH_MAX_BANKS = 16 };

typedef enum { MACH_PRE, MACH_COMP, MACH_POST, MACH_N_PHASES } mach_phase;

/* What the global memory accesses of one RUN step did. Loads block the SHAVE;
 * stores are posted. Counted by sim/machine/cache. */
typedef struct {
    uint32_t load_l1_hits; /* accesses served by L1 */
    uint32_t load_l2_hits; /* L1 line fills served by L2 */
    uint32_t load_fills;   /* L2 line fills from DDR a load waited for */
    uint32_t stores;       /* store accesses */
    uint32_t store_fills;  /* L2 lines fetched because of a store */
    uint32_t write_backs;  /* dirty L2 lines written to DDR */
    uint64_t load_bytes;   /* as the kernel asked */
    uint64_t store_bytes;
    /* Load fills right behind store fills of the same bank (since the load fill
     * before), and how many of these there were. */
    uint32_t loads_behind, lines_before;
    /* load_fills, store_fills and write_backs by DDR bank */
    uint32_t bank_lines[MACH_MAX_BANKS];
} mach_mem_counts;

typedef enum {
    MACH_STEP_GROUP, /* group starts: id = linear group number */
    MACH_STEP_PHASE, /* id = mach_phase; the following steps belong to it */
    MACH_STEP_RUN,   /* issue cycles and memory accesses */
    MACH_STEP_DMA,   /* start a transfer; it gets the SHAVE's next transfer
                        number within this group */
    MACH_STEP_WAIT   /* wait until all transfers of this group and phase with
                        number < id have ended */
} mach_step_kind;

/* One side of a strided copy: lines of width bytes, pitch apart, until `bytes`
 * are reached; that in each of the planes. */
typedef struct {
    uint32_t addr, bytes, width, pitch, planes, plane_pitch;
} mach_walk;

typedef struct {
    uint64_t bytes; /* moved */
    uint32_t lines; /* contiguous runs on the side with more of them, >= 1 */
    bool to_cmx;    /* DDR -> CMX, else CMX -> DDR */
    uint32_t src_line, dst_line; /* source line numbers of the call, 0 = none */
    mach_walk ddr;               /* the side in DDR; bytes 0 = unknown */
} mach_transfer;

/* An access of a RUN step that DDR or the store buffer sees. */
typedef enum {
    MACH_LOAD_FILL,
    MACH_STORE_FILL,
    MACH_STORE_HIT, /* in L2 */
    MACH_WRITE_BACK
} mach_miss_kind;

typedef struct {
    uint32_t addr;    /* of the line */
    uint32_t kind;    /* mach_miss_kind */
    uint32_t access;  /* number of the access in the step, from 1 */
    uint32_t l2_hits; /* of loads in the step before it */
} mach_miss;

typedef struct {
    mach_step_kind kind;
    uint64_t id;
    uint64_t issue_cycles;
    /* RUN at transaction level: the step's misses in order; the engine frees
     * them. n_accesses: all, hits included. */
    mach_miss *misses;
    uint32_t n_misses, n_accesses;
    union {
        mach_mem_counts mem; /* RUN */
        mach_transfer dma;   /* DMA */
    } u;
} mach_step;

/* Steps of one SHAVE not yet replayed. exec appends with mach_queue_push. */
typedef struct {
    mach_step *items;
    uint32_t n, cap, head;
    bool ended; /* no more groups will come */
} mach_queue;

/* A step of that kind at the queue's end, zeroed but for u of those that have
 * none; NULL when memory is short. */
mach_step *mach_queue_push(mach_queue *q, mach_step_kind kind);
/* Moves the steps of `from`, which is empty then, behind those of q; false when
 * memory is short, and nothing has changed. `ended` is left alone. */
bool mach_queue_append(mach_queue *q, mach_queue *from);
void mach_queue_free(mach_queue *q);

/* Called when some SHAVE's queue holds no group that is not begun yet (double
 * buffering begins group n+1 before group n is done): append at least one
 * whole group to every queue that has not ended and is below the producer's own
 * low-water mark, or mark it ended. A status other than VPU_OK stops the run
 * and is returned by mach_run. Bounded queues are what keeps memory flat. */
typedef vpu_status mach_refill(void *user, mach_queue *queues,
                               uint32_t n_shaves, vpu_error *err);

typedef struct mach_watch mach_watch;

/* A part of the CMX a launch takes on each SHAVE, for the trace. */
typedef struct {
    const char *name;
    uint32_t bytes;
    bool doubled; /* there twice, groups take turns */
} mach_local;

typedef struct {
    const char *name;         /* launch name, for the trace */
    const char *kernel;       /* and its kernel's; NULL = unknown */
    const mach_local *locals; /* n_locals of them, borrowed; for the trace */
    uint32_t n_locals;
    uint32_t n_shaves;    /* that take part, 1 .. desc num_shaves */
    bool double_buffered; /* the kernel has a preload or a postwrite phase */
    uint64_t n_groups;    /* in all */
    uint32_t local_bytes; /* CMX per work-group, for the trace's counter */
    uint64_t max_cycles;  /* 0 = no limit; else VPU_ERR_LIMIT beyond */
    mach_refill *refill;
    void *user;
    uint64_t start_cycle; /* of this launch on the device's clock */
    /* Each line of DDR, each burst of DMA and each posted store an event of its
     * own, instead of flows. Steps must carry their misses. */
    bool transactions;
    const mach_watch *watch; /* NULL: nobody; not at transaction level */
} mach_launch;

/* Where a SHAVE's time went. The causes of one SHAVE add up to the launch's
 * cycles exactly. */
typedef enum {
    MACH_CAUSE_ISSUE,     /* bundles issued */
    MACH_CAUSE_L2,        /* load stall, line came from L2 */
    MACH_CAUSE_DDR,       /* load stall, line came from DDR */
    MACH_CAUSE_STORE,     /* store buffer full */
    MACH_CAUSE_DMA_SETUP, /* building descriptors */
    MACH_CAUSE_DMA_WAIT,  /* waiting for transfers */
    MACH_CAUSE_DISPATCH,  /* group dispatch, launch overhead */
    MACH_CAUSE_IDLE,      /* no group left */
    MACH_N_CAUSES
} mach_cause;

const char *mach_cause_name(mach_cause c);

/* Who wants to know what each cycle went to, as it is decided. Calls come in
 * the order of each SHAVE's time; all causes of a SHAVE add up to the launch's
 * cycles. Costs nothing when nobody watches. */
struct mach_watch {
    /* A phase of a group begins, ends. In between are the causes of its steps,
     * in their order: ISSUE first of what a RUN step caused. */
    void (*phase_begin)(void *user, uint32_t shave, uint64_t group,
                        mach_phase phase);
    void (*phase_end)(void *user, uint32_t shave);
    /* now: the common clock; the causes of one step have the same. */
    void (*cause)(void *user, uint32_t shave, uint64_t now, uint64_t cycles,
                  mach_cause cause);
    void *user;
};

typedef struct {
    uint64_t cycles; /* of the launch, layer_fixed included */
    uint64_t groups; /* replayed */
    uint64_t by_cause[MACH_MAX_SHAVES][MACH_N_CAUSES];
    uint64_t shave_groups[MACH_MAX_SHAVES];
    mach_mem_counts mem; /* summed, sticking at their maximum */
    uint64_t load_bytes, store_bytes, ddr_bytes, dma_in_bytes, dma_out_bytes;
    uint64_t transfers;
    uint64_t dma_busy_cycles; /* channel cycles with a transfer */
    double utilisation;       /* issue cycles / (cycles * n_shaves) */
    uint64_t baseline_cycles; /* the trivial estimate: the busiest SHAVE's
                                 issue cycles + all bytes / bandwidth */
} mach_profile;

/* Replay one launch. trace may be NULL.
 *
 * VPU_ERR_INVALID  n_shaves is 0 or above the machine's
 * VPU_ERR_INTERNAL refill gave a queue neither a group nor its end
 * VPU_ERR_NOMEM
 * VPU_ERR_LIMIT  max_cycles reached (message: cycles, groups done, what each
 *                SHAVE and DMA channel does or waits for)
 * else           what refill returned */
vpu_status mach_run(const mach_desc *desc, const mach_launch *launch,
                    trc_writer *trace, mach_profile *profile, vpu_error *err);

#endif
