/* Tags of a SHAVE's L1 and of its part of L2: the plain model, which looks up
 * access by access, and the entry, which decides between it and the fast ways
 * (mach_cache_run). All ways keep the same tags.
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
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine/banks.h"
#include "sim/machine/cache_pairs.h"
#include "sim/machine/cache_priv.h"
#include "sim/machine/cache_rounds.h"
#include "sim/machine/cache_run.h"

/* Not dirty, and no line: line numbers have fewer bits. */
#define EMPTY UINT32_C(0xfffffffe)

static const uint32_t NO_LINE = UINT32_MAX;

static void fill_empty(uint32_t *ways, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ways[i] = EMPTY;
}

/* A level that has ways of that number keeps their memory. */
static bool level_init(cache_level *v, uint64_t bytes, uint64_t line,
                       uint64_t ways)
{
    uint32_t n_sets = UINT32_C(1) << mach_log2(bytes / (line * ways));
    size_t n = (size_t)n_sets * ways;

    if (v->ways && ((size_t)v->set_mask + 1) * v->n_ways != n) {
        free(v->ways);
        v->ways = NULL;
    }

    v->n_ways = (uint32_t)ways;
    v->set_mask = n_sets - 1;
    v->line_shift = mach_log2(line);
    if (!v->ways)
        v->ways = malloc(n * sizeof *v->ways);
    return v->ways;
}

static void forget_last(mach_cache *c)
{
    c->l1_last = c->l2_last = NO_LINE;
    c->l2_last_entry = NULL;
}

static void forget(mach_cache *c)
{
    forget_last(c);
    if (c->repeat.state == REPEAT_LIVE)
        c->repeat.state = REPEAT_LEFT;
    c->repeat.behind = c->repeat.owed = 0;
    fill_empty(c->l1.ways, (c->l1.set_mask + 1) * c->l1.n_ways);
    fill_empty(c->l2.ways, ((size_t)c->l2.set_mask + 1) * c->l2.n_ways);
}

/* As new, but for memory that it has. */
static void clear(mach_cache *c)
{
    const cache_level l1 = c->l1, l2 = c->l2;
    mach_miss *misses = c->misses;
    uint32_t cap_misses = c->cap_misses;

    /* Of `repeat`, most of it, only what is used. */
    memset(c, 0, offsetof(mach_cache, repeat));
    c->l1 = l1;
    c->l2 = l2;
    c->misses = misses;
    c->cap_misses = cap_misses;
}

/* What the effects of a repetition hang on, besides its accesses. */
typedef struct {
    uint32_t l1_sets, l2_sets, l1_line, l2_line, ways;
    mach_banks banks;
} shape;

static shape shape_of(const mach_cache *c)
{
    return (shape){c->l1.set_mask,   c->l2.set_mask, c->l1.line_shift,
                   c->l2.line_shift, c->fast,        c->g.banks};
}

vpu_status mach_cache_create(const mach_desc *desc, uint32_t n_sharing,
                             mach_cache **out, vpu_error *err)
{
    *out = NULL;
    return mach_cache_renew(desc, n_sharing, out, err);
}

vpu_status mach_cache_renew(const mach_desc *desc, uint32_t n_sharing,
                            mach_cache **out, vpu_error *err)
{
    uint64_t share = desc->l2_bytes;
    mach_cache *c = *out;
    shape before, now;

    *out = NULL;
    if (!n_sharing || n_sharing > desc->num_shaves) {
        mach_cache_destroy(c);
        return err_set(err, VPU_ERR_INVALID,
                       "%u SHAVEs cannot share the L2 cache of %llu", n_sharing,
                       (unsigned long long)desc->num_shaves);
    }
    if (desc->l2_partition)
        share /= n_sharing;
    if (!c && (c = malloc(sizeof *c))) {
        memset(c, 0, offsetof(mach_cache, repeat));
        c->repeat.state = REPEAT_NONE;
    }
    if (c) {
        before = shape_of(c);
        clear(c);
    }
    if (!c ||
        !level_init(&c->l1, desc->l1d_bytes, desc->l1d_line, desc->l1d_ways) ||
        !level_init(&c->l2, share, desc->l2_line, desc->l2_ways)) {
        mach_cache_destroy(c);
        return err_set(err, VPU_ERR_NOMEM, "no memory for cache tags");
    }
    c->g = (cache_geometry){c->l1.line_shift, c->l2.line_shift,
                            mach_banks_of(desc, c->l2.line_shift)};
    if (c->l1.n_ways == 2 && c->l2.n_ways == 2)
        c->fast = (uint32_t)desc->fast_cache;
    forget(c);
    /* A launch often does what the one before did. */
    now = shape_of(c);
    if (memcmp(&before, &now, sizeof now))
        c->repeat.state = REPEAT_NONE;
    *out = c;
    return VPU_OK;
}

uint32_t mach_cache_l2_sets(const mach_cache *c)
{
    return c->l2.set_mask + 1;
}

void mach_cache_set_places(mach_cache *c, mach_places places)
{
    cache_rounds_leave(c);
    c->places = places;
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

/* Mechanisms of other machines, which this model does not have: what the test
 * of calibration (scripts/check-calibrate) must tell from any machine that can
 * be described. Built with -DMACH_FOREIGN=N alone, for virtual sticks of that
 * test: 1, lines leave a set in the order they came; 2, banks are hashed
 * otherwise (banks.h); 3, a load from L2 brings the next line along. */
#ifndef MACH_FOREIGN
#define MACH_FOREIGN 0
#endif

/* Make line the most recent of its set. True when it was there; otherwise it
 * takes the place of the least recent, which *victim receives. */
static inline bool touch(cache_level *v, uint32_t line, uint32_t **entry,
                         uint32_t *victim)
{
    uint32_t *set = &v->ways[(line & v->set_mask) * v->n_ways];
    uint32_t carried = set[0];

    *entry = set;
    if (carried >> 1 == line)
        return true;
    for (uint32_t i = 1; i < v->n_ways && MACH_FOREIGN == 1; i++)
        if (set[i] >> 1 == line) {
            *entry = &set[i];
            return true;
        }
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
    return cache_bank_of_line(c->g, line);
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
    c->misses[c->n_misses++] = (mach_miss){
        line << c->l2.line_shift, kind, c->n_accesses, c->counts.load_l2_hits};
}

static inline void write_back(mach_cache *c, uint32_t line)
{
    if (c->recording)
        record(c, MACH_WRITE_BACK, line);
    c->counts.write_backs++;
    c->banks.backs[bank_of(c, line)]++;
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
                cache_stored_line(&c->banks, &c->ddr, bank_of(c, line));
            else
                cache_loaded_line(&c->banks, &c->ddr, bank_of(c, line));
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

/* MACH_FOREIGN 3. */
static inline void bring_next(mach_cache *c, uint32_t line)
{
    uint32_t *entry, victim = 0;

    if (touch(&c->l2, line + 1, &entry, &victim) || !(victim & 1))
        victim = 0;
    if (victim)
        write_back(c, victim >> 1);
    c->l2_last = line + 1;
    c->l2_last_entry = entry;
}

static inline void load_line(mach_cache *c, uint32_t line)
{
    uint32_t *entry, victim;

    c->l1_last = line;
    if (touch(&c->l1, line, &entry, &victim)) {
        c->counts.load_l1_hits++;
        return;
    }
    if (l2_access(c, line >> (c->l2.line_shift - c->l1.line_shift), 0))
        c->counts.load_l2_hits++;
    else
        c->counts.load_fills++;
    if (MACH_FOREIGN == 3)
        bring_next(c, line >> (c->l2.line_shift - c->l1.line_shift));
}

static void plain_load(mach_cache *c, uint32_t address, uint32_t bytes)
{
    uint32_t addr = mach_place_of(c->places, address);
    uint32_t first = addr >> c->l1.line_shift;
    uint32_t last =
        (uint32_t)(((uint64_t)addr + bytes - 1) >> c->l1.line_shift);

    c->n_accesses++;
    c->counts.load_bytes += bytes;
    if (first == last && first == c->l1_last) {
        c->counts.load_l1_hits++;
        return;
    }
    for (;; first++) {
        load_line(c, first);
        if (first == last)
            return;
    }
}

/* Stores go past L1, which keeps its (now updated) line if it has it. */
static void plain_store(mach_cache *c, uint32_t address, uint32_t bytes)
{
    uint32_t addr = mach_place_of(c->places, address);
    uint32_t first = addr >> c->l2.line_shift;
    uint32_t last =
        (uint32_t)(((uint64_t)addr + bytes - 1) >> c->l2.line_shift);

    c->n_accesses++;
    c->counts.stores++;
    c->counts.store_bytes += bytes;
    for (;; first++) {
        if (!l2_access(c, first, 1))
            c->counts.store_fills++;
        if (first == last)
            return;
    }
}

static void plain_access(mach_cache *c, uint64_t access)
{
    if (MACH_ACCESS_IS_STORE(access))
        plain_store(c, MACH_ACCESS_ADDR(access), MACH_ACCESS_BYTES(access));
    else
        plain_load(c, MACH_ACCESS_ADDR(access), MACH_ACCESS_BYTES(access));
}

/* --- the entry ----------------------------------------------------------- */

enum { FEW = 8 }; /* accesses that are not worth more than the plain model */

void mach_cache_load(mach_cache *c, uint32_t addr, uint32_t bytes)
{
    cache_rounds_leave(c);
    plain_load(c, addr, bytes);
}

void mach_cache_store(mach_cache *c, uint32_t addr, uint32_t bytes)
{
    cache_rounds_leave(c);
    plain_store(c, addr, bytes);
}

void mach_cache_run(mach_cache *c, const uint64_t *list, size_t n)
{
    if (c->fast && n >= FEW) {
        forget_last(c);
        cache_run_list(c, list, n);
        return;
    }
    cache_rounds_leave(c);
    for (size_t i = 0; i < n; i++)
        plain_access(c, list[i]);
}

/* The bits of an access that tell lines apart, and all that are no address.
 * Places are addresses moved by a multiple of 64 bytes, so no line of more
 * bytes is told from addresses. */
static uint64_t line_bits(const mach_cache *c)
{
    uint32_t shift = c->l1.line_shift < 6 ? c->l1.line_shift : 6;

    return ~((UINT64_C(1) << shift) - 1);
}

/* Does the access end in the line it begins in? */
static INLINE bool in_one_line(uint64_t access, uint64_t line)
{
    return (access & ~line) + MACH_ACCESS_BYTES(access) <= -line;
}

uint32_t mach_cache_again(const mach_cache *c, const uint64_t *list,
                          size_t period, uint32_t most)
{
    uint64_t line = line_bits(c);
    uint32_t times = 0;

    if (!c->fast)
        return 0;
    for (size_t i = 0; i < period; i++)
        if (!in_one_line(list[i], line))
            return 0;
    for (; times < most; times++, list += period)
        for (size_t i = 0; i < period; i++) {
            uint64_t next = list[i + period];

            if (((list[i] ^ next) & line) || !in_one_line(next, line))
                return times;
        }
    return times;
}

/* How many times an access may be moved on and lie in its line. */
static uint32_t times_in_line(uint64_t access, uint32_t by, uint64_t line)
{
    uint32_t at = (uint32_t)(access & ~line), bytes = MACH_ACCESS_BYTES(access);

    if (!by)
        return UINT32_MAX;
    return by >> 31 ? at / -by : ((uint32_t)-line - at - bytes) / by;
}

uint32_t mach_cache_moved(const mach_cache *c, const uint64_t *list,
                          const uint32_t *by, size_t period, uint32_t most)
{
    uint64_t line = line_bits(c);

    if (!c->fast)
        return 0;
    for (size_t i = 0; i < period; i++) {
        uint32_t times;

        if (!in_one_line(list[i], line))
            return 0;
        times = times_in_line(list[i], by[i], line);
        most = times < most ? times : most;
    }
    return most;
}

bool mach_cache_settles(const mach_cache *c, const uint64_t *list, size_t n)
{
    bool stored = false;

    if (!c->fast || n > c->l1.n_ways || n > c->l2.n_ways)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (stored && !MACH_ACCESS_IS_STORE(list[i]))
            return false;
        stored |= MACH_ACCESS_IS_STORE(list[i]);
    }
    return true;
}

static mach_mem_counts counted(const mach_cache *c)
{
    mach_mem_counts now = c->counts;

    now.loads_behind = c->ddr.loads_behind;
    now.lines_before = c->ddr.lines_before;
    return now;
}

/* Adds what the cache has counted since `before`, and counts on from there. */
static void settle(const mach_cache *c, mach_mem_counts *before,
                   mach_mem_counts *to)
{
    mach_mem_counts now = counted(c);

    to->load_l1_hits += now.load_l1_hits - before->load_l1_hits;
    to->load_l2_hits += now.load_l2_hits - before->load_l2_hits;
    to->load_fills += now.load_fills - before->load_fills;
    to->stores += now.stores - before->stores;
    to->store_fills += now.store_fills - before->store_fills;
    to->write_backs += now.write_backs - before->write_backs;
    to->load_bytes += now.load_bytes - before->load_bytes;
    to->store_bytes += now.store_bytes - before->store_bytes;
    to->loads_behind += now.loads_behind - before->loads_behind;
    to->lines_before += now.lines_before - before->lines_before;
    *before = now;
}

void mach_cache_run_owned(mach_cache *c, const uint64_t *list, size_t n,
                          const uint32_t *owner, mach_mem_counts *counts)
{
    mach_mem_counts before;

    if (c->repeat.owed)
        cache_rounds_pay(c);
    cache_rounds_leave(c);
    before = counted(c);
    for (size_t i = 0; i < n; i++) {
        plain_access(c, list[i]);
        if (i + 1 == n || owner[i + 1] != owner[i])
            settle(c, &before, &counts[owner[i]]);
    }
}

/* Nothing stays remembered: the fast ways change the tags, too. */
void cache_look_up(mach_cache *c, const uint64_t *list, size_t n)
{
    if (c->fast & MACH_WAY_lists && n >= FEW) {
        cache_pairs_run(c, list, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        plain_access(c, list[i]);
    forget_last(c);
}

static void forget_counts(mach_cache *c)
{
    memset(&c->counts, 0,
           offsetof(mach_mem_counts, bank_lines)); /* others are 0 */
    c->n_accesses = 0;
    c->n_misses = 0;
}

/* Of all banks there could be, as these are four vectors. */
static void take_lines(cache_ddr_banks *from, mach_mem_counts *to)
{
    typedef uint32_t four __attribute__((vector_size(16)));
    four fills, backs;

    for (int b = 0; b < MACH_MAX_BANKS; b += 4) {
        memcpy(&fills, &from->fills[b], sizeof fills);
        memcpy(&backs, &from->backs[b], sizeof backs);
        fills += backs;
        memcpy(&to->bank_lines[b], &fills, sizeof fills);
    }
    memset(from->fills, 0, sizeof from->fills);
    memset(from->backs, 0, sizeof from->backs);
}

void mach_cache_take_to(mach_cache *c, mach_mem_counts *to)
{
    if (c->repeat.owed)
        cache_rounds_pay(c);
    /* c->counts has no lines by bank. */
    *to = c->counts;
    to->loads_behind = c->ddr.loads_behind;
    to->lines_before = c->ddr.lines_before;
    forget_counts(c);
    if (!mach_moves_lines(to))
        return;
    c->ddr.loads_behind = c->ddr.lines_before = 0;
    take_lines(&c->banks, to);
}

mach_mem_counts mach_cache_take(mach_cache *c)
{
    mach_mem_counts n;

    mach_cache_take_to(c, &n);
    return n;
}

void mach_cache_record(mach_cache *c)
{
    cache_rounds_leave(c);
    c->recording = true;
    c->fast = 0; /* none of the fast ways records */
}

/* Whatever came from DDR, or went there, is counted here. One by one, as it was
 * counted: a processor waits where it loads two numbers at once that it has
 * just stored. */
static bool are_counted(const mach_mem_counts *a, const mach_mem_counts *b)
{
    uint32_t other = (a->load_l1_hits ^ b->load_l1_hits) |
                     (a->load_l2_hits ^ b->load_l2_hits) |
                     (a->load_fills ^ b->load_fills) | (a->stores ^ b->stores) |
                     (a->store_fills ^ b->store_fills) |
                     (a->write_backs ^ b->write_backs);
    uint64_t bytes =
        (a->load_bytes ^ b->load_bytes) | (a->store_bytes ^ b->store_bytes);

    return !(other | bytes);
}

bool mach_cache_take_same(mach_cache *c, const mach_mem_counts *quiet)
{
    if (c->repeat.owed)
        cache_rounds_pay(c);
    if (!are_counted(&c->counts, quiet))
        return false;
    forget_counts(c);
    return true;
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

    if (c->repeat.owed)
        cache_rounds_pay(c);
    for (size_t i = 0; i < n; i++)
        if (c->l2.ways[i] & 1)
            write_back(c, c->l2.ways[i] >> 1);
    forget(c);
}
