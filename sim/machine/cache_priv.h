/* What the files of the cache model share: tags, and the paths for caches of
 * two ways, which nearly all time is spent in. */
#ifndef VPU_SIM_MACHINE_CACHE_PRIV_H
#define VPU_SIM_MACHINE_CACHE_PRIV_H

#include "sim/machine/cache.h"
#include "sim/machine/fast.h"

#define LOAD_NUMBERS 0xffffffu /* of ddr_view.load_number */

#define INLINE inline __attribute__((always_inline))

typedef struct {
    uint32_t *ways; /* n_sets * n_ways entries */
    uint32_t n_ways, set_mask, line_shift;
} cache_level;

/* What DDR sees, by bank. posted: a bank's store fills since the load fill
 * before, as a count (low byte, sticking) that is valid when the rest is
 * load_number. Fills and write-backs are counted apart: of planes a power of
 * two apart all are in one bank, and a count waits for the one before. */
typedef struct {
    struct {
        uint32_t fills, posted;
    } banks[MACH_MAX_BANKS];
    uint32_t backs[MACH_MAX_BANKS];
} cache_ddr_banks;

/* And in all; apart, so that it can stay in registers. */
typedef struct {
    uint32_t load_number, loads_behind, lines_before;
} cache_ddr_loads;

static INLINE void cache_stored_line(cache_ddr_banks *v,
                                     const cache_ddr_loads *l, uint32_t bank)
{
    uint32_t *p = &v->banks[bank].posted;

    v->banks[bank].fills++;
    if (*p >> 8 != l->load_number)
        *p = l->load_number << 8;
    *p += (uint8_t)*p != UINT8_MAX;
}

static INLINE void cache_loaded_line(cache_ddr_banks *v, cache_ddr_loads *l,
                                     uint32_t bank)
{
    uint32_t p = v->banks[bank].posted;
    uint32_t n = p >> 8 == l->load_number ? (uint8_t)p : 0;

    v->banks[bank].fills++;
    l->loads_behind += n > 0;
    l->lines_before += n;
    l->load_number = (l->load_number + 1) & LOAD_NUMBERS;
}

/* A set of two ways as one word, most recent in the low half (hosts are
 * little-endian: LLVM's code for the window's memory needs that, too). */
typedef uint64_t __attribute__((may_alias)) cache_pair_of_ways;

static INLINE cache_pair_of_ways *cache_pair(const cache_level *v,
                                             uint32_t line)
{
    return (cache_pair_of_ways *)(void *)v->ways + (line & v->set_mask);
}

/* The set used last, held in registers and written back when another is used.
 * Access after access to one set (planes a power of two apart) would otherwise
 * wait for its own stores to come back from memory. */
typedef struct {
    cache_pair_of_ways *set, both;
} cache_warm_set;

static INLINE void cache_warm(cache_warm_set *w, cache_pair_of_ways *set)
{
    if (set != w->set) {
        *w->set = w->both;
        w->set = set;
        w->both = *set;
    }
}

/* What a batch adds to the counts; what follows from others is not counted. */
typedef struct {
    uint64_t loads, stores, load_bytes, store_bytes;
    uint64_t crossings; /* lines that loads touched beyond their first */
    uint64_t l1_misses;
    cache_ddr_loads ddr;
} cache_tally;

/* Shifts and masks of line numbers: parameters, so that the usual ones are
 * constants where they are used. */
typedef struct {
    unsigned l1, l2, bank;
    uint32_t bank_mask;
} cache_geometry;

static const cache_geometry cache_usual_geometry = {5, 6, 6, 7};

static inline bool cache_is_usual(cache_geometry g)
{
    return g.l1 == cache_usual_geometry.l1 && g.l2 == cache_usual_geometry.l2 &&
           g.bank == cache_usual_geometry.bank &&
           g.bank_mask == cache_usual_geometry.bank_mask;
}

static INLINE uint32_t cache_bank_of_line(cache_geometry g, uint32_t line)
{
    return line >> g.bank & g.bank_mask;
}

/* A line that was not in its set, and the one that it takes the place of. */
static INLINE void cache_l2_missed(cache_geometry g, uint32_t line,
                                   uint32_t dirty, uint32_t lru,
                                   cache_ddr_banks *d, cache_tally *t)
{
    if (dirty)
        cache_stored_line(d, &t->ddr, cache_bank_of_line(g, line));
    else
        cache_loaded_line(d, &t->ddr, cache_bank_of_line(g, line));
    d->backs[cache_bank_of_line(g, lru >> 1)] += lru & 1;
}

static INLINE void cache_l2_pair(const cache_level *l2, cache_geometry g,
                                 cache_warm_set *w, uint32_t line,
                                 uint32_t dirty, cache_ddr_banks *d,
                                 cache_tally *t)
{
    uint32_t mru, lru;

    cache_warm(w, cache_pair(l2, line));
    mru = (uint32_t)w->both;
    lru = (uint32_t)(w->both >> 32);
    if (mru >> 1 == line) {
        w->both |= dirty;
        return;
    }
    if (lru >> 1 == line) {
        w->both = lru | dirty | (uint64_t)mru << 32;
        return;
    }
    w->both = line << 1 | dirty | (uint64_t)mru << 32;
    cache_l2_missed(g, line, dirty, lru, d, t);
}

/* The same where one set is seldom used twice in a row. */
static INLINE void cache_l2_pair_once(const cache_level *l2, cache_geometry g,
                                      uint32_t line, uint32_t dirty,
                                      cache_ddr_banks *d, cache_tally *t)
{
    cache_pair_of_ways *set = cache_pair(l2, line), both = *set;
    uint32_t mru = (uint32_t)both, lru = (uint32_t)(both >> 32);

    if (mru >> 1 == line) {
        if (dirty & ~mru)
            *set = both | 1;
        return;
    }
    if (lru >> 1 == line) {
        *set = lru | dirty | (uint64_t)mru << 32;
        return;
    }
    *set = line << 1 | dirty | (uint64_t)mru << 32;
    cache_l2_missed(g, line, dirty, lru, d, t);
}

/* True on a hit. L1 lines are never dirty: on a hit in the second way and on a
 * miss alike the new set is (line, old first way). Most accesses find their
 * line first in its set, so nothing is written then. */
static INLINE bool cache_l1_pair(const cache_level *l1, uint32_t line)
{
    cache_pair_of_ways *set = cache_pair(l1, line), both = *set;
    uint32_t key = line << 1, mru = (uint32_t)both;

    if (mru == key)
        return true;
    *set = key | (uint64_t)mru << 32;
    return (uint32_t)(both >> 32) == key;
}

/* --- repetitions (cache_repeat.c) ---------------------------------------- */

enum {
    REPEAT_MAX_SITES = 64,
    REPEAT_MAX_OPS = 1024,
    REPEAT_MAX_LINES = 512,
    REPEAT_MAX_STREAMS = 32
};

/* What a round does to the tags and to DDR. */
typedef enum {
    /* Looked up. */
    OP_LOAD,  /* a line of L1, then of L2 */
    OP_LOADS, /* this line of L1 and the next, both in one line of L2 */
    OP_FETCH, /* a line of L2, of a load that misses L1 */
    OP_STORE, /* a line of L2 */
    /* Known: lines of L2 that DDR gives or gets. */
    OP_LOADED,
    OP_STORED,
    OP_BACK,
    OP_PASS, /* several of them, of which load fills are the first and last */
    /* Both ways of a set, as what is known leaves them. */
    OP_SET_L1,
    OP_SET_L2
} repeat_kind;

typedef struct {
    uint32_t kind;
    uint32_t line; /* OP_PASS: load fills */
    union {
        uint32_t second;  /* OP_SET: the line used before */
        uint32_t waiting; /* OP_PASS: adds to lines_before */
    };
    union {
        uint32_t dirty;  /* OP_SET_L2: bit 0 of line, bit 1 of second */
        uint32_t behind; /* OP_PASS: adds to loads_behind */
    };
} repeat_op;

typedef struct {
    repeat_op list[REPEAT_MAX_OPS];
    uint32_t n;
} repeat_ops;

/* Ops that are lookups of lines of L2 only, each a stream of lines when many
 * rounds are done at once (cache_stream.c). */
typedef struct {
    uint32_t line, store;
    uint8_t place; /* among the ops */
} repeat_stream;

typedef struct {
    uint32_t most; /* rounds at once; 0: not to be done so */
    uint32_t n;
    repeat_stream list[REPEAT_MAX_STREAMS]; /* in the order to look them up */
} repeat_streams;

/* The effects of a round that follow from the list of accesses alone. */
typedef struct {
    repeat_ops ops;
    uint32_t l1_misses; /* known ones */
    /* Lines of L1 that become the most recent of their sets, in order. Where
     * ops do not touch L1's tags, these lines bring the tags up to date. */
    uint32_t lines[REPEAT_MAX_LINES], n_lines;
} repeat_part;

/* A repetition is a list in which the same `period` accesses come again and
 * again, moved by `stride` bytes each time. `round` such times are one round:
 * from round to round all accesses move by `step` whole lines of L2. The
 * repetition may begin again at other addresses, as it does when the next
 * work-group runs the same loop. */
typedef struct {
    uint32_t fast;
    uint32_t period;                  /* accesses; 0: no repetition is known */
    uint32_t round;                   /* times */
    uint32_t step;                    /* lines of L2 */
    uint64_t stride;                  /* bytes */
    uint64_t first[REPEAT_MAX_SITES]; /* addresses of the first time */
    uint64_t lowest, highest;         /* of these; highest: behind the last */
    cache_tally adds; /* a round's loads, stores, bytes and crossings */
    /* The effects of round 0 (begin), of a round from 1 on (early), and of a
     * round from `warmup` on (late), each with the line numbers of the first
     * round it is for. warmup is UINT32_MAX where late would know no more than
     * early. */
    repeat_part begin, early, late;
    uint32_t warmup;
    repeat_streams streams; /* of late */
    /* 0: late.ops keep L1's tags up to date. Otherwise late.ops neither read
     * nor write these tags, and after so many rounds the last lines in both
     * ways of every set that the rounds touch are from these rounds. */
    uint32_t enough;
    /* A repetition that begins again right behind its end finds L1 in a known
     * state. Its first `rounds` rounds then have the effects of `part`, and the
     * rounds behind them have those of late. */
    struct {
        enum { OPENING_NEW, OPENING_KNOWN, OPENING_NONE } state;
        uint32_t rounds;
        uint64_t apart; /* bytes from the beginning before */
        uint64_t after; /* accesses run since then */
        uint64_t shift; /* of the lines in part */
        repeat_part part;
    } opening;
    /* late.ops put together for the rounds whose lines are moved by `from` to
     * `from + n - 1`: in these rounds each line that DDR gives or gets stays in
     * its bank. */
    struct {
        uint32_t from, n_rounds;
        repeat_ops ops;
        uint32_t fills[MACH_MAX_BANKS], backs[MACH_MAX_BANKS]; /* a round's */
    } in_bank;
    /* How far the caches are in the repetition. */
    bool live;       /* the list before ended within the repetition */
    bool latest;     /* no other accesses were run since */
    bool opened;     /* it began with `opening`, not yet in L1's tags */
    uint32_t moved;  /* lines of L2, this round against the lines in late */
    uint32_t ended;  /* `moved` at the end before it began again */
    uint32_t behind; /* late rounds that are not in L1's tags */
    uint32_t owed;   /* accesses not looked up yet, fewer than a round has */
    uint64_t shift;  /* of its first access against first[0] */
    uint64_t ran;    /* accesses */
    uint64_t last[REPEAT_MAX_SITES];
} repetition;

/* The number of accesses at the list's beginning that continue r, which is
 * live. */
size_t repeat_goes_on(const repetition *r, const uint64_t *list, size_t n);
/* The number of accesses at the list's beginning that are those of r from its
 * first one on, moved by *shift. At least two rounds, or 0. */
size_t repeat_again(const repetition *r, const cache_level *l2,
                    const uint64_t *list, size_t n, uint64_t *shift);
/* Looks for a repetition at the list's beginning that has at least `least`
 * accesses, most of which need no lookup. Returns the number of its accesses;
 * 0: there is none, and r may have changed. */
size_t repeat_find(const cache_level *l1, const cache_level *l2,
                   const uint64_t *list, size_t n, size_t least, repetition *r);
/* Note that these n accesses were the next of r. */
void repeat_ran(repetition *r, const uint64_t *list, size_t n);
/* Finds the effects of the rounds of r, which has n accesses. False: too little
 * is known to save time. */
bool repeat_walk_rounds(repetition *r, const cache_level *l1,
                        const cache_level *l2, size_t n);
/* Is r->opening known for a repetition that begins again at shift, with n
 * accesses? Finds it when the same beginning comes for the second time. L1's
 * tags need not be up to date. */
bool repeat_walk_opening(repetition *r, const cache_level *l1,
                         const cache_level *l2, uint64_t shift, size_t n);

/* Fills r->in_bank for r->moved. */
void repeat_in_bank(repetition *r, cache_geometry g);

/* Fills s from ops, whose lines move by step with each round; s->most is 0
 * where the lines cannot be looked up as streams. */
void repeat_streams_plan(repeat_streams *s, const repeat_ops *ops,
                         const cache_level *l2, uint32_t step);
/* n <= s->most rounds, the first one's lines moved by `moved`. */
void repeat_streams_run(const repeat_streams *s, const cache_level *l2,
                        cache_geometry g, uint32_t moved, uint32_t step,
                        uint32_t n, cache_ddr_banks *d, cache_ddr_loads *loads);

/* --- the caches ---------------------------------------------------------- */

struct mach_cache {
    /* The line of the last load in L1 and of the last access in L2: asking for
     * them again changes no order, so nothing is looked up. */
    uint32_t l1_last, l2_last;
    uint32_t *l2_last_entry; /* way 0 of its set; NULL when l2_last is none */
    cache_level l1, l2;
    uint32_t bank_shift, bank_mask; /* of an L2 line number */
    mach_mem_counts counts;
    cache_ddr_banks banks;
    cache_ddr_loads ddr;
    uint32_t fast; /* ways in use, bits of mach_way */
    bool recording, lost;
    mach_miss *misses;
    uint32_t n_misses, cap_misses, n_accesses;
    /* Lists whose repetitions are not looked for after some that had none, and
     * how many are left to skip. */
    uint32_t patience, skip;
    repetition repeat;
};

enum { CACHE_FEW = 8 };

/* One access; what was looked up last is remembered for the next one. */
void mach_cache_access(mach_cache *c, uint64_t access);
/* Accesses as the plain model looks them up, whatever is owed. */
void cache_plain(mach_cache *c, const uint64_t *list, size_t n);

/* A list of at least CACHE_FEW accesses to caches of two ways that do not
 * record (cache_run.c). */
void cache_run_list(mach_cache *c, const uint64_t *list, size_t n);
/* Looks up what c->repeat owes, and brings L1's tags up to date. */
void cache_pay_owed(mach_cache *c);
/* And what follows is no part of it. */
void cache_leave_repetition(mach_cache *c);

#endif
