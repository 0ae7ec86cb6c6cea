/* What the files of the checker share. */
#ifndef VPU_SIM_CHECK_SESSION_PRIV_H
#define VPU_SIM_CHECK_SESSION_PRIV_H

#include "base/arena.h"
#include "sim/check/check.h"
#include "sim/check/shadow.h"

enum { MAX_FINDINGS = 4096, SINK_BYTES = 256, MAX_PENDING = 128 };

typedef struct {
    const char *name;
    uint32_t number, address;
    uint64_t bytes;
    const char *kernel; /* that writes it, last of all launches; NULL = none */
    uint32_t launch;
    bool full;  /* every byte is written */
    bool blank; /* full, and its words not yet made: nobody looked at them */
    sim_check_run *runs; /* a block each; NULL = all words are made */
    uint64_t rows_to;    /* before this byte there may be rows (rows.c) */
    bool shared;         /* another one has some of its bytes, too */
} check_region;

/* Intervals between barriers, as the words of one kind of memory count them. */
typedef struct {
    uint32_t launch, group, now; /* tags: first of launch, of group; now */
    uint64_t interval;           /* the same as now, but never starts again */
} check_clock;

enum { CLOCK_LOCAL, CLOCK_GLOBAL };

/* The memory of one side of a transfer. */
typedef struct {
    bool cmx, private, constant;
} check_side_of;

/* A transfer of the phase that runs. */
typedef struct {
    sim_dma shape; /* as sim_hooks.dma gets it, with its site */
    check_side_of src, dst;
    bool done, waited;
    bool refused;   /* it was not made */
    uint32_t event; /* its own (its number, from 1) or the one it joined */
} check_transfer;

/* What an access does. */
typedef enum {
    CHECK_READS,
    CHECK_WRITES,
    CHECK_ATOMIC, /* reads and writes atomically */
    CHECK_LOOKS   /* reads atomically: a compare and exchange that fails */
} check_use;

static inline bool check_changes(check_use use)
{
    return use == CHECK_WRITES || use == CHECK_ATOMIC;
}

/* n bytes from an address on, used at a site by the item that runs, or by a
 * transfer (copy) for all items. */
typedef struct {
    uint32_t site, address, n;
    check_use use;
    bool copy;
} check_access;

/* An access to a byte that is watched. */
typedef struct {
    uint32_t site, item;
    uint64_t group, interval;
    bool write, copy;
} check_event;

/* A byte two parties came together at in the run before. */
typedef struct {
    uint32_t address, launch;
    check_event *events;
    size_t n_events, cap_events;
} check_watch;

typedef struct {
    check_kind kind;
    uint32_t launch, site, object, extra;
} check_finding_key;

/* Memory an access goes to. */
typedef struct {
    check_memory memory;
    int64_t base; /* address of its first byte */
    bool cmx;     /* what is in it lasts a group */
    bool private;
} check_extent;

/* A store over another item's, about to be made. */
typedef struct {
    uint32_t site, item;
    uint32_t at;             /* the first byte both write */
    uint32_t address, bytes; /* of the store; 0 bytes = none */
    check_extent where;
    uint8_t before[MAX_PENDING];
    uint64_t both[MAX_PENDING / 64]; /* a bit per byte: both write it */
} check_pending;

/* Flag in origins: it is an earlier group's. */
#define ORIGIN_STALE 0x80000000u

/* Stores of n items that follow each other, each to the element behind that of
 * the one before. */
typedef struct {
    check_region *region;
    uint32_t at; /* where the first is, from the region's first byte on */
    uint32_t n, element; /* bytes of each */
    uint32_t item;       /* the first */
} check_row;

/* What compiled code told of a loop over items. */
typedef struct {
    check_row *rows; /* to be noted when it has told all */
    size_t n, cap;
    uint32_t items[3], first; /* in each direction; the first one's number */
    bool lost;                /* some row needs looks one by one */
    uint64_t loops;           /* how many were noted so */
    uint32_t in_vain;         /* of the launch, how many more were not */
} check_rows;

struct check_session {
    arena *arena;
    check_config cfg;
    memory *mem;
    uint8_t *window;
    uint32_t *shadow; /* by address */
    check_region *buffers;
    size_t n_buffers, cap_buffers;
    uint32_t sink;
    /* the launch */
    exec_launch launched; /* what launch points to */
    const exec_launch *launch;
    const sim_sites *sites;
    uint32_t number;
    uint64_t limits[SIM_MAX_ARGS];
    check_region *regions[SIM_MAX_ARGS]; /* by argument; or NULL */
    sim_check_runs runs[SIM_MAX_ARGS];   /* likewise, for code */
    bool every_access;                   /* nothing is settled inline */
    uint32_t item_bits, tag_shift, max_tag;
    uint8_t *through; /* restrict: argument a byte was first used through, by
                         byte of through_of; NULL = not of interest */
    const check_region *through_of;
    bool *needs_taint; /* by launch */
    bool skipped;      /* some launch did not run */
    size_t n_launches, cap_launches;
    /* the group */
    sim_wg *wg; /* the group that runs; between groups, &nobody */
    sim_wg nobody;
    const uint8_t *args;
    uint64_t group;
    mach_phase phase;
    check_clock clocks[2]; /* of local memory, of global */
    uint32_t n_items;      /* of a group */
    uint32_t *origins;     /* of tainted code: by address, site + 1 where the
                              undefined value stored there came from; or NULL */
    check_transfer *transfers;
    size_t n_transfers, cap_transfers;
    size_t first_open; /* transfers before it were waited for */
    uint32_t *events;  /* that the first item is about to wait for */
    size_t n_events, cap_events;
    uint32_t same_site, same_hash, same_item; /* the first item's; 0 = none */
    check_pending pending;
    check_rows rows;
    uint32_t
        atomic_origin;   /* of what the last atomic found there, 0 = defined */
    uint32_t block_from; /* source of the memcpy being made, 0 = none */
    uint32_t block_root;
    const sim_object *block_object;
    /* what was found */
    check_finding *findings;
    uint32_t *watched_at; /* per finding: address of its byte, 0 = none */
    check_finding_key *keys;
    size_t n_findings, cap_findings, n_keys, cap_keys, n_watched, cap_watched;
    uint64_t dropped;
    check_watch *watches;
    size_t n_watches, cap_watches;
};

static inline check_session *check_session_of(const sim_wg *wg)
{
    return wg->check.user;
}

/* --- session.c ----------------------------------------------------------- */

static inline uint32_t check_session_item_mask(const check_session *s)
{
    return (1u << s->item_bits) - 1;
}

static inline uint32_t check_session_tag(const check_session *s, uint32_t word)
{
    return word >> s->tag_shift;
}

static inline uint32_t check_session_item(const check_session *s, uint32_t word)
{
    return word >> SHADOW_ITEM_SHIFT & check_session_item_mask(s);
}

static inline const check_clock *check_session_clock(const check_session *s,
                                                     bool cmx)
{
    return &s->clocks[cmx ? CLOCK_LOCAL : CLOCK_GLOBAL];
}

/* The word of an access of `kind` by the item that runs, without INIT. */
static inline uint32_t check_session_word(const check_session *s, bool cmx,
                                          shadow_kind kind)
{
    uint32_t item = s->wg->check.item & check_session_item_mask(s);
    uint32_t now = check_session_clock(s, cmx)->now;
    uint32_t w = kind | item << SHADOW_ITEM_SHIFT | now << s->tag_shift;

    return kind == SHADOW_WROTE ? w | SHADOW_WRITTEN : w;
}

/* --- memory.c: whose memory an address is -------------------------------- */

/* The memory `object` of the kernel stands for, with the pointer's root; or for
 * unknown pointers, that which holds addr. False: none. */
bool bounds_find(check_session *s, uint32_t object, uint32_t root,
                 uint32_t addr, check_extent *out);
check_region *bounds_region(check_session *s, uint32_t addr);
/* Are there words for this address: a buffer or CMX? */
bool bounds_tracked(check_session *s, uint32_t addr);

/* --- runs.c: stores one behind the other --------------------------------- */

/* A buffer nobody wrote begins to exist, with runs; without them where there is
 * no memory. */
void runs_open(check_region *r);
void runs_close(check_region *r);
/* A store of n bytes that makes all its words `word`, if nobody used the bytes
 * before and the run of their block goes on with it; false: the words are made
 * now, and not changed. r has runs. */
bool runs_store(check_session *s, const check_region *r, uint32_t addr,
                uint32_t n, uint32_t word);
/* Makes the words of these bytes. Before anybody looks at or changes one that
 * is a buffer's; of other memory it does nothing. */
void runs_make(check_session *s, uint32_t addr, uint64_t n);
/* All of the region's, which has no runs then. */
void runs_make_all(check_session *s, check_region *r);
/* Are these bytes of the region in a run, so written? Otherwise their words are
 * made now. */
bool runs_hold(const check_session *s, const check_region *r, uint64_t off,
               uint32_t n);
/* Did nobody use the block that begins there? Otherwise its words are made now.
 */
bool runs_unused(check_session *s, const check_region *r, uint64_t off);
/* Tells compiled code which runs there are; of phases but MACH_COMP none. */
void runs_tell(check_session *s);
/* Do runs hold all bytes of the region? */
bool runs_fill(const check_region *r);
/* Would the run of one block go on with k stores of n bytes each, one behind
 * the other from `off` on, the first of which makes its words `word`, each
 * other one `step` more? Notes them if so and `note` says so. */
bool runs_take(const check_region *r, uint32_t off, uint32_t n, uint32_t k,
               uint32_t word, uint32_t step, bool note);

/* --- rows.c: accesses of many items at once ------------------------------- */

/* Rows told of so far are none. */
void check_rows_forget(check_session *s);

/* --- findings.c ---------------------------------------------------------- */

/* A finding of this kind at a site (0 = none) in what runs now, once per kind,
 * site, object and extra: NULL when it was found before (and counted), or is
 * not wanted. where: may be NULL. */
check_finding *check_finding_add(check_session *s, check_kind kind,
                                 uint32_t site, const check_extent *where,
                                 uint32_t extra, const char *fmt, ...)
    VPU_PRINTF(6, 7);
/* Was this found already? Then it counts once more. */
bool check_finding_known(check_session *s, check_kind kind, uint32_t site,
                         uint32_t extra);
/* What this finding is about has come to matter: it is a note no more. */
void check_finding_matters(check_session *s, check_kind kind, uint32_t site);
/* Two parties met at this byte: the other one, of another group or else of this
 * interval, is looked up among what the watches saw; without a watch the next
 * session has one. */
void check_finding_other(check_session *s, check_finding *f, uint32_t address,
                         bool cmx, bool other_group, bool only_writes);
void check_findings_free(check_finding *f);
/* For the watches: this access happens, in CMX or in DDR. */
void check_finding_watch(check_session *s, const check_access *x, bool cmx);

/* --- what the hooks do --------------------------------------------------- */

/* One function for each hook of hooks.def that checkers have: check_on_access
 * in access.c, check_on_dma in copies.c, … */
#define HOOK_COPIES(returns, name, parameters) \
    returns check_on_##name parameters;
#define HOOK_ORDERS(returns, name, parameters) \
    returns check_on_##name parameters;
#define HOOK_CHECKS(returns, name, parameters) \
    returns check_on_##name parameters;
#include "sim/compiler/abi/hooks.def"

/* Marks the bytes, of the extent p, as read or written, noting what is wrong
 * with that. */
void access_mark(check_session *s, const check_extent *p,
                 const check_access *x);
/* restrict: n bytes from p on are used through a pointer to `object`. */
void access_argument(check_session *s, uint32_t site, uint32_t object,
                     const check_extent *p, uint32_t n, bool write);
/* check_on_access for what no run takes (runs.c). */
uint32_t access_look(sim_wg *wg, uint32_t site, uint32_t addr, uint32_t root);
/* The store that was pending has been made. */
void access_settle(check_session *s);

/* The phase ends: its transfers end too. */
void copies_end(check_session *s);

/* Where the undefined value of a byte came from; site: what reads it. */
uint32_t origins_of(const check_session *s, uint32_t site, uint32_t addr);
/* An undefined byte reaches global memory by a copy: is it what a conversion
 * made, which was told and matters now? */
bool origins_converted(check_session *s, uint32_t addr);

#endif
