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
#include <stdlib.h>
#include <string.h>

#include "sim/machine/cache_priv.h"

/* Not dirty, and no line: line numbers have fewer bits. */
#define EMPTY UINT32_C(0xfffffffe)

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
    /* Lists whose repetitions are not looked for after some that had none, and
     * how many are left to skip. */
    uint32_t patience, skip;
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
    c->ddr.backs[bank_of(c, line)]++;
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

static void add_tally(mach_cache *c, const tally *t)
{
    uint64_t all = 0, backs = 0;
    uint32_t fills = (t->ddr.load_number - c->ddr.load_number) & LOAD_NUMBERS;

    for (uint32_t b = 0; b <= c->bank_mask; b++) {
        all += t->ddr.banks[b].fills - c->ddr.banks[b].fills;
        backs += t->ddr.backs[b] - c->ddr.backs[b];
    }
    c->n.load_bytes += t->load_bytes;
    c->n.store_bytes += t->store_bytes;
    c->n.stores += t->stores;
    c->n.load_l1_hits += t->loads + t->crossings - t->l1_misses;
    c->n.load_l2_hits += t->l1_misses - fills;
    c->n.load_fills += fills;
    c->n.store_fills += all - fills;
    c->n.write_backs += backs;
    c->ddr = t->ddr;
}

enum { BATCH = 511, FEW = 8 };

/* n <= BATCH, so that their bytes stay below 2^16 in `all`: a sum of the
 * entries' upper halves, that is bytes, and stores << 16. */
static INLINE void run_pairs(mach_cache *c, geometry g, const uint64_t *list,
                             size_t n)
{
    const level l1 = c->l1, l2 = c->l2;
    pair_of_ways nowhere = 0;
    warm_set w2 = {&nowhere, 0};
    uint32_t recent = UINT32_MAX; /* no line */
    uint64_t all = 0, stored = 0;
    /* A copy: sets are written through pointers that may alias anything, and
     * what is local need not be fetched again after each. */
    tally t = {.ddr = c->ddr};

    for (const uint64_t *end = list + n; list < end; list++) {
        uint64_t addr = MACH_ACCESS_ADDR(*list), upper = *list >> 32;
        uint32_t bytes = upper & 0xffff, line, last;

        all += upper;
        if (MACH_ACCESS_IS_STORE(*list)) { /* past L1 */
            stored += bytes;
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
    t.stores = all >> 16;
    t.loads = n - t.stores;
    t.store_bytes = stored;
    t.load_bytes = (all & 0xffff) - stored;
    add_tally(c, &t);
}

/* n rounds of a repetition, from its second on. */
static INLINE void run_rounds(mach_cache *c, geometry g, repetition *r,
                              uint32_t n)
{
    const level l1 = c->l1, l2 = c->l2;
    pair_of_ways nowhere = 0;
    warm_set w2 = {&nowhere, 0};
    tally t = {.ddr = c->ddr};

    t.loads = n * r->adds.loads;
    t.stores = n * r->adds.stores;
    t.load_bytes = n * r->adds.load_bytes;
    t.store_bytes = n * r->adds.store_bytes;
    t.crossings = n * r->adds.crossings;
    for (; n; n--)
        for (uint32_t k = 0; k < r->n_touches; k++) {
            line_touch *f = &r->touches[k];

            if (f->is_store) {
                l2_pair(&l2, g, &w2, f->line++, 1, &t);
                continue;
            }
            if (!l1_pair(&l1, f->line)) {
                t.l1_misses++;
                l2_pair(&l2, g, &w2, f->line >> (g.l2 - g.l1), 0, &t);
            }
            f->line += 1u << (g.l2 - g.l1);
        }
    *w2.set = w2.both;
    add_tally(c, &t);
}

static geometry geometry_of(const mach_cache *c)
{
    return (geometry){c->l1.line_shift, c->l2.line_shift, c->bank_shift,
                      c->bank_mask};
}

static bool is_usual(geometry g)
{
    return !memcmp(&g, &usual_geometry, sizeof g);
}

static void run_singly(mach_cache *c, const uint64_t *list, size_t n)
{
    const geometry g = geometry_of(c);

    /* The common shape gets code of its own. */
    for (size_t now; n; list += now, n -= now) {
        now = n < BATCH ? n : BATCH;
        if (is_usual(g))
            run_pairs(c, usual_geometry, list, now);
        else
            run_pairs(c, g, list, now);
    }
}

/* The repetition that list begins with; returns how many accesses were run, 0
 * if there is none. */
static size_t run_repetition(mach_cache *c, const uint64_t *list, size_t n)
{
    const geometry g = geometry_of(c);
    repetition r;
    uint32_t rounds;
    size_t in_round;

    if (!repeat_find(&c->l1, &c->l2, list, n, &r))
        return 0;
    in_round = (size_t)r.period * r.round;
    run_singly(c, list, in_round);
    rounds = r.times / r.round - 1;
    if (is_usual(g))
        run_rounds(c, usual_geometry, &r, rounds);
    else
        run_rounds(c, g, &r, rounds);
    return in_round * (1 + rounds);
}

/* A list of two-way caches. Where a repetition is not found, it is looked for
 * again a while later, each time a longer one. */
static void run_list(mach_cache *c, const uint64_t *list, size_t n)
{
    enum { STRETCH = 256, MAX_PATIENCE = 63 };
    size_t stretch = STRETCH;
    bool found = false;

    if (c->skip) {
        c->skip--;
        run_singly(c, list, n);
        return;
    }
    while (n) {
        size_t done = n < FEW ? 0 : run_repetition(c, list, n);

        if (done) {
            found = true;
            stretch = STRETCH;
        } else {
            done = n < stretch ? n : stretch;
            run_singly(c, list, done);
            stretch *= 4;
        }
        list += done;
        n -= done;
    }
    c->patience = found                        ? 0
                  : c->patience < MAX_PATIENCE ? 4 * c->patience + 3
                                               : c->patience;
    c->skip = c->patience;
}

void mach_cache_run(mach_cache *c, const uint64_t *list, size_t n)
{
    if (!c->recording && n >= FEW && c->l1.n_ways == 2 && c->l2.n_ways == 2) {
        run_list(c, list, n);
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
        n.bank_lines[b] = c->ddr.banks[b].fills + c->ddr.backs[b];
        c->ddr.banks[b].fills = c->ddr.backs[b] = 0;
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
