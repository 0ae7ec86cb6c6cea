/* What work-groups did, without time: the data between sim/exec, which fills
 * queues of steps, the caches, which count their accesses, and the engine,
 * which replays them. */
#ifndef VPU_SIM_MACHINE_STEPS_H
#define VPU_SIM_MACHINE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

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

/* Does it move a line of DDR? */
static inline bool mach_moves_lines(const mach_mem_counts *m)
{
    return m->load_fills | m->store_fills | m->write_backs;
}

typedef enum {
    MACH_STEP_GROUP, /* group starts: id = linear group number; `more` groups
                        behind it did the same, and have no steps of their own
                        (mach_queue_join, mach_queue_push_like) */
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
    uint32_t local; /* where the other side begins: byte of the SHAVE's part of
                       CMX, + 1; 0 = unknown */
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

typedef struct mach_step {
    mach_step_kind kind;
    uint32_t more; /* GROUP */
    uint64_t id;
    uint64_t issue_cycles;
    const struct mach_step *like; /* GROUP: its one RUN step; NULL: its steps
                                     follow */
    /* RUN at transaction level: the step's misses in order; the engine frees
     * them. n_accesses: all, hits included. */
    mach_miss *misses;
    uint32_t n_misses, n_accesses;
    union {
        mach_mem_counts mem; /* RUN */
        mach_transfer dma;   /* DMA */
        uint64_t distance;   /* GROUP with more: from number to number */
    } detail;
} mach_step;

/* Steps of one SHAVE not yet replayed. exec appends with mach_queue_push. */
typedef struct {
    mach_step *items;
    uint32_t n, cap, head;
    bool ended; /* no more groups will come */
} mach_queue;

/* Room for so many more steps, so that none is copied while they are put in.
 * False: memory is short, and nothing has changed. */
bool mach_queue_reserve(mach_queue *q, uint32_t more);
/* A step of that kind at the queue's end, zeroed but for u of those that have
 * none; NULL when memory is short. */
mach_step *mach_queue_push(mach_queue *q, mach_step_kind kind);
/* Many groups of a SHAVE in a row may do the same: one RUN step of the same
 * cycles and counts, that has no line of DDR. Then nobody else can see when
 * they run, and the last group of the queue can stand for the next one, too.
 *
 * False, and nothing has changed: group `id` is not the next in a row that it
 * could stand for. Only for launches at flow level. The caller knows that the
 * last steps of the queue are a group with one RUN step without lines of DDR,
 * not given to the engine yet, and that the next group is like it and gets no
 * further step. */
bool mach_queue_join(mach_queue *q, uint64_t id);
/* The same for the next n groups of the row at once, behind one that joined.
 * False: they are too many. */
bool mach_queue_join_more(mach_queue *q, uint32_t n);
/* Group `id` at the queue's end, which does what `run` says, a RUN step as
 * above that stays as it is until the launch has ended; what holds for the
 * launch and the group holds here, too. False: memory is short. */
bool mach_queue_push_like(mach_queue *q, uint64_t id, const mach_step *run);
/* What the group at q->items[at] does: the step, and the items it has there. */
static inline const mach_step *mach_queue_run_of(const mach_queue *q,
                                                 uint32_t at)
{
    const mach_step *group = &q->items[at];

    return group->like ? group->like : group + 1;
}
static inline uint32_t mach_queue_items_of(const mach_queue *q, uint32_t at)
{
    return q->items[at].like ? 1 : 2;
}
/* The group at q->items[at] stands for itself alone again, the others follow
 * it, and each has its step. False: memory is short, and nothing has changed.
 */
bool mach_queue_part(mach_queue *q, uint32_t at);
/* Moves the steps of `from`, which is empty then, behind those of q; false when
 * memory is short, and nothing has changed. `ended` is left alone. */
bool mach_queue_append(mach_queue *q, mach_queue *from);
void mach_queue_free(mach_queue *q);

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

#endif
