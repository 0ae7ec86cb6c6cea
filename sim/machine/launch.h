/* One launch as the engine replays it, what it tells while it does, and what
 * comes out. */
#ifndef VPU_SIM_MACHINE_LAUNCH_H
#define VPU_SIM_MACHINE_LAUNCH_H

#include "base/err.h"
#include "sim/machine/buffers.h"
#include "sim/machine/steps.h"

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
    /* Where it lies, both times: byte of the SHAVE's part of CMX, + 1; 0 =
     * unknown. */
    uint32_t at[2];
} mach_local;

typedef struct {
    const char *name;         /* launch name, for the trace */
    const char *kernel;       /* and its kernel's; NULL = unknown */
    const char *source;       /* the kernel's file; NULL = unknown */
    const mach_local *locals; /* n_locals of them, borrowed; for the trace */
    uint32_t n_locals;
    const mach_buffer *buffers; /* n_buffers of them by place, borrowed; for
                                   the trace */
    uint32_t n_buffers;
    uint32_t n_shaves;    /* that take part, 1 .. desc num_shaves */
    bool double_buffered; /* the kernel has a preload or a postwrite phase */
    bool one_buffer;   /* it has, but one buffer: the phases of its groups and
                          their transfers follow each other */
    uint64_t n_groups; /* in all */
    /* Work-items of a work-group, work-groups of the grid, for the trace; 0:
     * not all of the grid runs. */
    uint32_t group_size[3], grid[3];
    uint32_t local_bytes; /* CMX per work-group, for the trace's counter */
    uint64_t max_cycles;  /* VPU_ERR_LIMIT beyond, and beyond 2^57 - 3;
                             0 = only that */
    mach_refill *refill;
    void *user;
    uint64_t start_cycle; /* of this launch on the device's clock */
    /* Each line of DDR, each burst of DMA and each posted store an event of its
     * own, instead of flows. Steps must carry their misses. */
    bool transactions;
    const mach_watch *watch; /* NULL: nobody; not at transaction level */
} mach_launch;

/* A transfer that has ended: asked for by its SHAVE, begun by the channel. All
 * on the common clock, which begins with the launch. */
typedef struct {
    uint32_t channel, shave;
    uint64_t group, asked, begin, end;
    const mach_transfer *transfer;
} mach_moved;

/* Who wants to know what each cycle went to, as it is decided. Calls come in
 * the order of each SHAVE's time; all causes of a SHAVE add up to the launch's
 * cycles. Costs nothing when nobody watches. */
struct mach_watch {
    /* Before all else; may be NULL. */
    void (*launch_begin)(void *user, const mach_launch *l);
    /* A phase of a group begins, ends; may be NULL. In between are the causes
     * of its steps, in their order: ISSUE first of what a RUN step caused. */
    void (*phase_begin)(void *user, uint32_t shave, uint64_t group,
                        mach_phase phase);
    void (*phase_end)(void *user, uint32_t shave);
    /* now: the common clock; the causes of one step have the same. May be
     * NULL. */
    void (*cause)(void *user, uint32_t shave, uint64_t now, uint64_t cycles,
                  mach_cause cause);
    void *user;
    /* May be NULL. In the order of their ends. */
    void (*transfer)(void *user, const mach_moved *m);
    /* What waits for what is written there; NULL: nobody asks. */
    struct critical *path;
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
    /* Of all SHAVEs, lost to banks of DDR that others keep busy; a part of the
     * DDR and store causes. 0 at transaction level. */
    uint64_t bank_wait_cycles;
    /* Of a network's stage on the hardware engine; see stage.h. */
    uint64_t nce_cycles, nce_descriptors;
    double utilisation;       /* issue cycles / (cycles * n_shaves) */
    uint64_t baseline_cycles; /* the trivial estimate: the busiest SHAVE's
                                 issue cycles + all bytes / bandwidth */
} mach_profile;

/* Cycles of a launch's n SHAVEs with that cause. */
uint64_t mach_profile_sum(const mach_profile *p, uint32_t n_shaves,
                          mach_cause c);

#endif
