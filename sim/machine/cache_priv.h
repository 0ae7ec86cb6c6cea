/* What the files of the cache model share: tags, and the paths for caches of
 * two ways, which nearly all time is spent in. */
#ifndef VPU_SIM_MACHINE_CACHE_PRIV_H
#define VPU_SIM_MACHINE_CACHE_PRIV_H

#include "sim/machine/cache.h"

#define LOAD_NUMBERS 0xffffffu /* of ddr_view.load_number */

#define INLINE inline __attribute__((always_inline))

typedef struct {
    uint32_t *ways; /* n_sets * n_ways entries */
    uint32_t n_ways, set_mask, line_shift;
} level;

/* What DDR sees. posted: a bank's store fills since the load fill before, as a
 * count (low byte, sticking) that is valid when the rest is load_number. Fills
 * and write-backs are counted apart: of planes a power of two apart all are in
 * one bank, and a count waits for the one before. */
typedef struct {
    struct {
        uint32_t fills, posted;
    } banks[MACH_MAX_BANKS];
    uint32_t backs[MACH_MAX_BANKS];
    uint32_t load_number, loads_behind, lines_before;
} ddr_view;

static INLINE void stored_line(ddr_view *v, uint32_t bank)
{
    uint32_t *p = &v->banks[bank].posted;

    v->banks[bank].fills++;
    if (*p >> 8 != v->load_number)
        *p = v->load_number << 8;
    *p += (uint8_t)*p != UINT8_MAX;
}

static INLINE void loaded_line(ddr_view *v, uint32_t bank)
{
    uint32_t p = v->banks[bank].posted;

    v->banks[bank].fills++;
    if (p >> 8 == v->load_number && (uint8_t)p) {
        v->loads_behind++;
        v->lines_before += (uint8_t)p;
    }
    v->load_number = (v->load_number + 1) & LOAD_NUMBERS;
}

/* A set of two ways as one word, most recent in the low half (hosts are
 * little-endian: LLVM's code for the window's memory needs that, too). */
typedef uint64_t __attribute__((may_alias)) pair_of_ways;

static INLINE pair_of_ways *pair(const level *v, uint32_t line)
{
    return (pair_of_ways *)(void *)v->ways + (line & v->set_mask);
}

/* The set used last, held in registers and written back when another is used.
 * Access after access to one set (planes a power of two apart) would otherwise
 * wait for its own stores to come back from memory. */
typedef struct {
    pair_of_ways *set, both;
} warm_set;

static INLINE void warm(warm_set *w, pair_of_ways *set)
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
    ddr_view ddr;
} tally;

/* Shifts and masks of line numbers: parameters, so that the usual ones are
 * constants where they are used. */
typedef struct {
    unsigned l1, l2, bank;
    uint32_t bank_mask;
} geometry;

static const geometry usual_geometry = {5, 6, 6, 7};

static INLINE void l2_pair(const level *l2, geometry g, warm_set *w,
                           uint32_t line, uint32_t dirty, tally *t)
{
    uint32_t mru, lru;

    warm(w, pair(l2, line));
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
    if (dirty)
        stored_line(&t->ddr, line >> g.bank & g.bank_mask);
    else
        loaded_line(&t->ddr, line >> g.bank & g.bank_mask);
    if (lru & 1)
        t->ddr.backs[lru >> 1 >> g.bank & g.bank_mask]++;
}

/* True on a hit. L1 lines are never dirty: on a hit in the second way and on a
 * miss alike the new set is (line, old first way). Most accesses find their
 * line first in its set, so nothing is written then. */
static INLINE bool l1_pair(const level *l1, uint32_t line)
{
    pair_of_ways *set = pair(l1, line), both = *set;
    uint32_t key = line << 1, mru = (uint32_t)both;

    if (mru == key)
        return true;
    *set = key | (uint64_t)mru << 32;
    return (uint32_t)(both >> 32) == key;
}

/* --- repetitions (cache_repeat.c)
 * ---------------------------------------------------------------------------
 */

/* Of an access that has to be looked up: the line, of L1 for a load, of L2 for
 * a store. */
typedef struct {
    uint32_t line;
    bool is_store;
} line_touch;

enum { REPEAT_MAX_SITES = 64, REPEAT_MAX_TOUCHES = 512 };

/* Accesses that come again and again, each time some bytes further. After a
 * round of times all are a line of L2 further. */
typedef struct {
    uint32_t period; /* accesses */
    uint32_t round;  /* times */
    uint32_t times;  /* in the list */
    /* Of the second round, in order. */
    line_touch touches[REPEAT_MAX_TOUCHES];
    uint32_t n_touches;
    tally adds; /* a round's loads, stores, bytes and crossings */
} repetition;

/* Does list begin with one, of which most need not be looked up? */
bool repeat_find(const level *l1, const level *l2, const uint64_t *list,
                 size_t n, repetition *r);

#endif
