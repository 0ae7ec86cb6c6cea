/* Tags of a SHAVE's L1 and of its part of L2.
 *
 * A set is an array of ways in order of use, most recent first, so the first
 * comparison is the one most likely to match and LRU needs no counters:
 *
 *   set  [ mru | ... | lru ]      entry = line number << 1 | dirty
 *
 * Line numbers are address / line size; an entry that no line can have marks an
 * empty way. The set is picked by the low bits of the line number, as hardware
 * does, so planes a power of two apart compete for the same few sets.
 *
 * A partition of L2 whose size is not a power of two sets (256 KiB between 7)
 * is rounded down to one: an address bit field is what index hardware is made
 * of, and a modulo by 292 would scatter exactly the strides whose conflicts
 * the published GRN ratio (R2) points to. */
#include "sim/machine/cache.h"

#include <stdlib.h>
#include <string.h>

/* Not dirty, and no line: line numbers have fewer bits. */
#define EMPTY UINT32_C(0xfffffffe)

#define LOAD_NUMBERS 0xffffffu /* of ddr_view.load_number */

#define INLINE inline __attribute__((always_inline))

typedef struct {
    uint32_t *ways; /* n_sets * n_ways entries */
    uint32_t n_ways, set_mask, line_shift;
} level;

/* What DDR sees. posted: a bank's store fills since the load fill before, as a
 * count (low byte, sticking) that is valid when the rest is load_number. */
typedef struct {
    struct {
        uint32_t lines, posted;
    } banks[MACH_MAX_BANKS];
    uint32_t load_number, loads_behind, lines_before;
} ddr_view;

struct mach_cache {
    /* The line of the last load in L1 and of the last access in L2: asking for
     * them again changes no order, so nothing is looked up. */
    uint32_t l1_last, l2_last;
    uint32_t *l2_last_entry; /* way 0 of its set; NULL when l2_last is none */
    level l1, l2;
    uint32_t bank_shift, bank_mask; /* of an L2 line number */
    mach_mem_counts n;
    ddr_view ddr;
    bool recording, lost;
    mach_miss *misses;
    uint32_t n_misses, cap_misses, n_accesses;
};

static const uint32_t NO_LINE = UINT32_MAX;

static uint32_t log2_floor(uint64_t n)
{
    uint32_t log = 0;

    while (n >>= 1)
        log++;
    return log;
}

static void fill_empty(uint32_t *ways, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ways[i] = EMPTY;
}

static bool level_init(level *v, uint64_t bytes, uint64_t line, uint64_t ways)
{
    uint32_t n_sets = UINT32_C(1) << log2_floor(bytes / (line * ways));
    size_t n = (size_t)n_sets * ways;

    v->n_ways = (uint32_t)ways;
    v->set_mask = n_sets - 1;
    v->line_shift = log2_floor(line);
    v->ways = malloc(n * sizeof *v->ways);
    if (v->ways)
        fill_empty(v->ways, n);
    return v->ways;
}

static void forget(mach_cache *c)
{
    c->l1_last = c->l2_last = NO_LINE;
    c->l2_last_entry = NULL;
    fill_empty(c->l1.ways, (c->l1.set_mask + 1) * c->l1.n_ways);
    fill_empty(c->l2.ways, ((size_t)c->l2.set_mask + 1) * c->l2.n_ways);
}

vpu_status mach_cache_create(const mach_desc *desc, uint32_t n_sharing,
                             mach_cache **out, vpu_error *err)
{
    uint64_t share = desc->l2_bytes;
    mach_cache *c;

    *out = NULL;
    if (!n_sharing || n_sharing > desc->num_shaves)
        return err_set(err, VPU_ERR_INVALID,
                       "%u SHAVEs cannot share the L2 cache of %llu", n_sharing,
                       (unsigned long long)desc->num_shaves);
    if (desc->l2_partition)
        share /= n_sharing;
    c = calloc(1, sizeof *c);
    if (!c ||
        !level_init(&c->l1, desc->l1d_bytes, desc->l1d_line, desc->l1d_ways) ||
        !level_init(&c->l2, share, desc->l2_line, desc->l2_ways)) {
        mach_cache_destroy(c);
        return err_set(err, VPU_ERR_NOMEM, "no memory for cache tags");
    }
    c->bank_shift = log2_floor(desc->ddr_row_bytes) - c->l2.line_shift;
    c->bank_mask = (uint32_t)desc->ddr_banks - 1;
    forget(c);
    *out = c;
    return VPU_OK;
}

void mach_cache_destroy(mach_cache *c)
{
    if (!c)
        return;
    free(c->l1.ways);
    free(c->l2.ways);
    free(c->misses);
    free(c);
}

/* Make line the most recent of its set. True when it was there; otherwise it
 * takes the place of the least recent, which *victim receives. */
static inline bool touch(level *v, uint32_t line, uint32_t **entry,
                         uint32_t *victim)
{
    uint32_t *set = &v->ways[(line & v->set_mask) * v->n_ways];
    uint32_t carried = set[0];

    *entry = set;
    if (carried >> 1 == line)
        return true;
    for (uint32_t i = 1; i < v->n_ways; i++) {
        uint32_t here = set[i];

        set[i] = carried;
        if (here >> 1 == line) {
            set[0] = here;
            return true;
        }
        carried = here;
    }
    set[0] = line << 1;
    *victim = carried;
    return false;
}

static inline uint32_t bank_of(const mach_cache *c, uint32_t line)
{
    return line >> c->bank_shift & c->bank_mask;
}

static INLINE void stored_line(ddr_view *v, uint32_t bank)
{
    uint32_t *p = &v->banks[bank].posted;

    v->banks[bank].lines++;
    if (*p >> 8 != v->load_number)
        *p = v->load_number << 8;
    *p += (uint8_t)*p != UINT8_MAX;
}

static INLINE void loaded_line(ddr_view *v, uint32_t bank)
{
    uint32_t p = v->banks[bank].posted;

    v->banks[bank].lines++;
    if (p >> 8 == v->load_number && (uint8_t)p) {
        v->loads_behind++;
        v->lines_before += (uint8_t)p;
    }
    v->load_number = (v->load_number + 1) & LOAD_NUMBERS;
}

static void record(mach_cache *c, mach_miss_kind kind, uint32_t line)
{
    if (c->n_misses == c->cap_misses) {
        uint32_t cap = c->cap_misses ? 2 * c->cap_misses : 256;
        mach_miss *list = cap <= MACH_MAX_MISSES
                              ? realloc(c->misses, cap * sizeof *list)
                              : NULL;

        if (!list) {
            c->lost = true;
            return;
        }
        c->misses = list;
        c->cap_misses = cap;
    }
    c->misses[c->n_misses++] = (mach_miss){line << c->l2.line_shift, kind,
                                           c->n_accesses, c->n.load_l2_hits};
}

static inline void write_back(mach_cache *c, uint32_t line)
{
    if (c->recording)
        record(c, MACH_WRITE_BACK, line);
    c->n.write_backs++;
    c->ddr.banks[bank_of(c, line)].lines++;
}

/* True on a hit. */
static inline bool l2_access(mach_cache *c, uint32_t line, uint32_t dirty)
{
    uint32_t victim = 0;
    bool hit = true;

    if (line != c->l2_last) {
        hit = touch(&c->l2, line, &c->l2_last_entry, &victim);
        if (!hit) {
            if (c->recording)
                record(c, dirty ? MACH_STORE_FILL : MACH_LOAD_FILL, line);
            if (dirty)
                stored_line(&c->ddr, bank_of(c, line));
            else
                loaded_line(&c->ddr, bank_of(c, line));
            if (victim & 1)
                write_back(c, victim >> 1);
        }
        c->l2_last = line;
    }
    if (hit && dirty && c->recording)
        record(c, MACH_STORE_HIT, line);
    *c->l2_last_entry |= dirty;
    return hit;
}

static inline void load_line(mach_cache *c, uint32_t line)
{
    uint32_t *entry, victim;

    c->l1_last = line;
    if (touch(&c->l1, line, &entry, &victim)) {
        c->n.load_l1_hits++;
        return;
    }
    if (l2_access(c, line >> (c->l2.line_shift - c->l1.line_shift), 0))
        c->n.load_l2_hits++;
    else
        c->n.load_fills++;
}

void mach_cache_load(mach_cache *c, uint32_t addr, uint32_t bytes)
{
    uint32_t first = addr >> c->l1.line_shift;
    uint32_t last =
        (uint32_t)(((uint64_t)addr + bytes - 1) >> c->l1.line_shift);

    c->n_accesses++;
    c->n.load_bytes += bytes;
    if (first == last && first == c->l1_last) {
        c->n.load_l1_hits++;
        return;
    }
    for (;; first++) {
        load_line(c, first);
        if (first == last)
            return;
    }
}

/* Stores go past L1, which keeps its (now updated) line if it has it. */
void mach_cache_store(mach_cache *c, uint32_t addr, uint32_t bytes)
{
    uint32_t first = addr >> c->l2.line_shift;
    uint32_t last =
        (uint32_t)(((uint64_t)addr + bytes - 1) >> c->l2.line_shift);

    c->n_accesses++;
    c->n.stores++;
    c->n.store_bytes += bytes;
    for (;; first++) {
        if (!l2_access(c, first, 1))
            c->n.store_fills++;
        if (first == last)
            return;
    }
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

/* What a batch adds to the counts; what follows from others is not counted.
 * `all` sums the entries' upper halves, that is bytes, and stores << 16. */
typedef struct {
    uint64_t all, stored;
    uint32_t crossings; /* lines that loads touched beyond their first */
    uint32_t l1_misses, write_backs;
    ddr_view ddr;
} tally;

/* Shifts and masks of line numbers: parameters, so that the usual ones are
 * constants where they are used. */
typedef struct {
    unsigned l1, l2, bank;
    uint32_t bank_mask;
} geometry;

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
    if (lru & 1) {
        t->write_backs++;
        t->ddr.banks[lru >> 1 >> g.bank & g.bank_mask].lines++;
    }
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

static void add_tally(mach_cache *c, const tally *t, uint32_t n)
{
    uint32_t stores = (uint32_t)(t->all >> 16), lines = 0;
    uint32_t fills = (t->ddr.load_number - c->ddr.load_number) & LOAD_NUMBERS;

    for (uint32_t b = 0; b <= c->bank_mask; b++)
        lines += t->ddr.banks[b].lines - c->ddr.banks[b].lines;
    c->n.load_bytes += (t->all & 0xffff) - t->stored;
    c->n.store_bytes += t->stored;
    c->n.stores += stores;
    c->n.load_l1_hits += n - stores + t->crossings - t->l1_misses;
    c->n.load_l2_hits += t->l1_misses - fills;
    c->n.load_fills += fills;
    c->n.store_fills += lines - fills - t->write_backs;
    c->n.write_backs += t->write_backs;
    c->ddr = t->ddr;
}

/* n < 512, so that their bytes stay below 2^16 in t->all. */
static INLINE void run_pairs(mach_cache *c, geometry g, const uint64_t *list,
                             size_t n)
{
    const level l1 = c->l1, l2 = c->l2;
    pair_of_ways nowhere = 0;
    warm_set w2 = {&nowhere, 0};
    uint32_t recent = NO_LINE;
    /* A copy: sets are written through pointers that may alias anything, and
     * what is local need not be fetched again after each. */
    tally t = {.ddr = c->ddr};

    for (const uint64_t *end = list + n; list < end; list++) {
        uint64_t addr = MACH_ACCESS_ADDR(*list), upper = *list >> 32;
        uint32_t bytes = upper & 0xffff, line, last;

        t.all += upper;
        if (MACH_ACCESS_IS_STORE(*list)) { /* past L1 */
            t.stored += bytes;
            line = (uint32_t)(addr >> g.l2);
            last = (uint32_t)((addr + bytes - 1) >> g.l2);
            do
                l2_pair(&l2, g, &w2, line, 1, &t);
            while (line++ != last);
            continue;
        }
        line = (uint32_t)(addr >> g.l1);
        last = (uint32_t)((addr + upper - 1) >> g.l1);
        t.crossings += last - line;
        /* The line touched last is where it is. */
        if (line == recent && line++ == last)
            continue;
        recent = last;
        do {
            if (l1_pair(&l1, line))
                continue;
            t.l1_misses++;
            l2_pair(&l2, g, &w2, line >> (g.l2 - g.l1), 0, &t);
        } while (line++ != last);
    }
    *w2.set = w2.both;
    add_tally(c, &t, (uint32_t)n);
}

void mach_cache_run(mach_cache *c, const uint64_t *list, size_t n)
{
    enum { BATCH = 511, FEW = 8 };

    /* The common shape gets code of its own. */
    if (!c->recording && n >= FEW && c->l1.n_ways == 2 && c->l2.n_ways == 2) {
        const geometry usual = {5, 6, 6, 7};
        const geometry g = {c->l1.line_shift, c->l2.line_shift, c->bank_shift,
                            c->bank_mask};

        for (size_t now; n; list += now, n -= now) {
            now = n < BATCH ? n : BATCH;
            if (!memcmp(&g, &usual, sizeof g))
                run_pairs(c, usual, list, now);
            else
                run_pairs(c, g, list, now);
        }
        c->l1_last = c->l2_last = NO_LINE;
        c->l2_last_entry = NULL;
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (MACH_ACCESS_IS_STORE(list[i]))
            mach_cache_store(c, MACH_ACCESS_ADDR(list[i]),
                             MACH_ACCESS_BYTES(list[i]));
        else
            mach_cache_load(c, MACH_ACCESS_ADDR(list[i]),
                            MACH_ACCESS_BYTES(list[i]));
}

mach_mem_counts mach_cache_take(mach_cache *c)
{
    mach_mem_counts n = c->n;

    n.loads_behind = c->ddr.loads_behind;
    n.lines_before = c->ddr.lines_before;
    c->ddr.loads_behind = c->ddr.lines_before = 0;
    for (uint32_t b = 0; b <= c->bank_mask; b++) {
        n.bank_lines[b] = c->ddr.banks[b].lines;
        c->ddr.banks[b].lines = 0;
    }
    memset(&c->n, 0, sizeof c->n);
    c->n_accesses = 0;
    c->n_misses = 0;
    return n;
}

void mach_cache_record(mach_cache *c)
{
    c->recording = true;
}

bool mach_cache_take_misses(mach_cache *c, mach_step *step)
{
    step->misses = NULL;
    step->n_misses = c->n_misses;
    step->n_accesses = c->n_accesses;
    if (c->lost)
        return false;
    if (!c->n_misses)
        return true;
    step->misses = malloc(c->n_misses * sizeof *step->misses);
    if (step->misses)
        memcpy(step->misses, c->misses, c->n_misses * sizeof *step->misses);
    return step->misses;
}

void mach_mem_add(mach_mem_counts *to, const mach_mem_counts *n)
{
    to->load_l1_hits += n->load_l1_hits;
    to->load_l2_hits += n->load_l2_hits;
    to->load_fills += n->load_fills;
    to->stores += n->stores;
    to->store_fills += n->store_fills;
    to->write_backs += n->write_backs;
    to->load_bytes += n->load_bytes;
    to->store_bytes += n->store_bytes;
    to->loads_behind += n->loads_behind;
    to->lines_before += n->lines_before;
    for (uint32_t b = 0; b < MACH_MAX_BANKS; b++)
        to->bank_lines[b] += n->bank_lines[b];
}

void mach_cache_flush(mach_cache *c)
{
    size_t n = ((size_t)c->l2.set_mask + 1) * c->l2.n_ways;

    for (size_t i = 0; i < n; i++)
        if (c->l2.ways[i] & 1)
            write_back(c, c->l2.ways[i] >> 1);
    forget(c);
}
