/* Lists of accesses to caches of two ways, looked up one by one. */
#include "sim/machine/cache_pairs.h"
#include "sim/machine/cache_priv.h"

static uint32_t fills_of(const mach_cache *c)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k <= c->g.banks.mask; k++)
        n += c->banks.fills[k];
    return n;
}

static uint32_t backs_of(const mach_cache *c)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k <= c->g.banks.mask; k++)
        n += c->banks.backs[k];
    return n;
}

cache_batch cache_batch_begin(mach_cache *c)
{
    return (cache_batch){.l1 = c->l1,
                         .l2 = c->l2,
                         .g = c->g,
                         .ddr = c->ddr,
                         .banks = &c->banks,
                         .fills = fills_of(c),
                         .backs = backs_of(c)};
}

void cache_batch_end(mach_cache *c, const cache_batch *b)
{
    const cache_tally *t = &b->tally;
    uint32_t all = fills_of(c) - b->fills;
    uint32_t loads = (b->ddr.load_number - c->ddr.load_number) & LOAD_NUMBERS;

    c->counts.load_bytes += t->load_bytes;
    c->counts.store_bytes += t->store_bytes;
    c->counts.stores += (uint32_t)t->stores;
    c->counts.load_l1_hits +=
        (uint32_t)(t->loads + t->crossings - t->l1_misses);
    c->counts.load_l2_hits += (uint32_t)t->l1_misses - loads;
    c->counts.load_fills += loads;
    c->counts.store_fills += all - loads;
    c->counts.write_backs += backs_of(c) - b->backs;
    c->ddr = b->ddr;
}

/* Stores go past L1. */
static INLINE void store(cache_batch *b, uint64_t addr, uint32_t bytes)
{
    uint32_t line = (uint32_t)(addr >> b->g.l2);
    uint32_t last = (uint32_t)((addr + bytes - 1) >> b->g.l2);

    do
        cache_l2_pair(b, line, 1);
    while (line++ != last);
}

/* *recent: the line touched last, which is where it is. */
static INLINE void load(cache_batch *b, uint64_t addr, uint32_t bytes,
                        uint32_t *recent)
{
    uint32_t line = (uint32_t)(addr >> b->g.l1);
    uint32_t last = (uint32_t)((addr + bytes - 1) >> b->g.l1);

    b->tally.crossings += last - line;
    if (line == *recent && line++ == last)
        return;
    *recent = last;
    do
        cache_load_pair(b, line);
    while (line++ != last);
}

enum { BATCH = 511 };

/* n <= BATCH, so that their bytes stay below 2^16 in `all`: a sum of the
 * entries' upper halves, that is bytes, and stores << 16. */
static void run_batch(mach_cache *c, const uint64_t *list, size_t n)
{
    uint32_t recent = UINT32_MAX; /* no line */
    uint64_t all = 0, stored = 0;
    mach_places places = c->places;
    cache_batch b = cache_batch_begin(c);

    for (const uint64_t *end = list + n; list < end; list++) {
        uint64_t upper = *list >> 32;
        uint32_t addr = mach_place_of(places, MACH_ACCESS_ADDR(*list));
        uint32_t bytes = upper & 0xffff;

        all += upper;
        if (MACH_ACCESS_IS_STORE(*list)) {
            stored += bytes;
            store(&b, addr, bytes);
        } else {
            load(&b, addr, bytes, &recent);
        }
    }
    b.tally.stores = all >> 16;
    b.tally.loads = n - b.tally.stores;
    b.tally.store_bytes = stored;
    b.tally.load_bytes = (all & 0xffff) - stored;
    cache_batch_end(c, &b);
}

void cache_pairs_run(mach_cache *c, const uint64_t *list, size_t n)
{
    for (size_t now; n; list += now, n -= now) {
        now = n < BATCH ? n : BATCH;
        run_batch(c, list, now);
    }
}
