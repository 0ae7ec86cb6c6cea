/* Rounds of a repetition that only look up lines of L2, many at once.
 *
 * Each lookup of a round is the first line of a stream: one line, or `step`
 * lines, further in each round. Streams that have no set in common can be
 * looked up one after the other. Where they have, the one that is further on
 * comes to a set first, as long as no other is that far in front of it that it
 * comes to the same set from behind. So sets are taken as a ring,
 *
 *      0 . . c . b a . . . . . . . . . . n - 1
 *          --> each round           gap
 *
 * cut at the widest gap between streams: in as many rounds as it has steps all
 * of a, then all of b, then all of c finds each set as round by round would.
 *
 * Which lines were missing is noted as a bit per round, since what loads wait
 * for depends on the order of misses: those are told to the banks round by
 * round, or, as long as all rounds miss the same in the same banks, at once. */
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "sim/machine/cache_priv.h"

enum { MOST = 64, WORTH_IT = 8, ALIKE_WORTH_IT = 4 };

/* --- the order of streams ------------------------------------------------ */

/* Sets from stream k's on to the next one's in front of it. */
static uint32_t gap_before(const repeat_streams *s, uint32_t n_sets, uint32_t k)
{
    uint32_t gap = n_sets;

    for (uint32_t j = 0; j < s->n; j++) {
        uint32_t d = (s->list[j].line - s->list[k].line) & (n_sets - 1);

        if (d && d < gap)
            gap = d;
    }
    return gap;
}

/* Stable: streams in one set stay in the order of their round. */
static void sort_from(repeat_streams *s, uint32_t mask, uint32_t foremost)
{
    uint32_t front = s->list[foremost].line;

    for (uint32_t i = 1; i < s->n; i++)
        for (uint32_t j = i; j; j--) {
            repeat_stream a = s->list[j - 1], b = s->list[j];

            if (((front - a.line) & mask) <= ((front - b.line) & mask))
                break;
            s->list[j - 1] = b;
            s->list[j] = a;
        }
}

void repeat_streams_plan(repeat_streams *s, const repeat_ops *ops,
                         const cache_level *l2, uint32_t step)
{
    uint32_t n_sets = l2->set_mask + 1, widest = 0, foremost = 0;

    s->n = s->most = 0;
    if (!ops->n || ops->n > REPEAT_MAX_STREAMS || step >= n_sets)
        return;
    for (uint32_t i = 0; i < ops->n; i++) {
        const repeat_op *o = &ops->list[i];

        if (o->kind != OP_FETCH && o->kind != OP_STORE)
            return;
        s->list[s->n++] =
            (repeat_stream){o->line, o->kind == OP_STORE, (uint8_t)i};
    }
    for (uint32_t k = 0; k < s->n; k++)
        if (gap_before(s, n_sets, k) > widest) {
            widest = gap_before(s, n_sets, k);
            foremost = k;
        }
    sort_from(s, l2->set_mask, foremost);
    s->most = (widest - 1) / step + 1;
    if (s->most > MOST)
        s->most = MOST;
    if (s->most < WORTH_IT)
        s->most = 0;
}

/* --- lookups ------------------------------------------------------------- */

/* Lines written back, counted for one bank after the other: that is what they
 * mostly are, and a count in memory would wait for itself. */
typedef struct {
    uint32_t bank, n;
} backs;

static INLINE void count_back(backs *b, cache_geometry g, uint32_t entry,
                              cache_ddr_banks *d)
{
    uint32_t bank = cache_bank_of_line(g, entry >> 1);

    if (bank != b->bank) {
        d->backs[b->bank] += b->n;
        *b = (backs){bank, 0};
    }
    b->n += entry & 1;
}

/* True on a hit. */
static INLINE bool look_up_line(cache_pair_of_ways *set, cache_geometry g,
                                uint32_t line, uint32_t store, backs *b,
                                cache_ddr_banks *d)
{
    cache_pair_of_ways both = *set;
    uint32_t mru = (uint32_t)both, lru = (uint32_t)(both >> 32);

    if (mru >> 1 == line) {
        if (store)
            *set = both | 1;
        return true;
    }
    if (lru >> 1 == line) {
        *set = lru | store | (uint64_t)mru << 32;
        return true;
    }
    *set = line << 1 | store | (uint64_t)mru << 32;
    count_back(b, g, lru, d);
    return false;
}

/* n <= 64 lines, step apart; returns which were missing, a bit each. */
static uint64_t look_up(cache_level l2, cache_geometry g, uint32_t line,
                        uint32_t step, uint32_t n, uint32_t store,
                        cache_ddr_banks *d)
{
    backs b = {0, 0};
    uint64_t missing = 0;

    for (uint32_t k = 0; k < n; k++, line += step)
        if (!look_up_line(cache_pair(&l2, line), g, line, store, &b, d))
            missing |= UINT64_C(1) << k;
    d->backs[b.bank] += b.n;
    return missing;
}

#ifdef __x86_64__

enum { WAYS_MRU = 0x55, WAYS_LRU = 0xaa }; /* of four sets */

static INLINE __attribute__((target("avx2,popcnt"))) void
count_four_backs(backs *b, cache_geometry g, __m256i sets, cache_ddr_banks *d)
{
    __m256i banks = _mm256_srl_epi32(sets, _mm_cvtsi32_si128((int)g.bank + 1));
    __m256i same = _mm256_cmpeq_epi32(
        _mm256_and_si256(banks, _mm256_set1_epi32((int)g.bank_mask)),
        _mm256_set1_epi32((int)b->bank));
    uint32_t old[8];

    if ((_mm256_movemask_ps(_mm256_castsi256_ps(same)) & WAYS_LRU) ==
        WAYS_LRU) {
        __m256i written = _mm256_slli_epi32(sets, 31);

        b->n += (uint32_t)__builtin_popcount(
            (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(written)) &
            WAYS_LRU);
        return;
    }
    _mm256_storeu_si256((void *)old, sets);
    for (int k = 1; k < 8; k += 2)
        count_back(b, g, old[k], d);
}

/* Four lines that follow each other, of which keys are the entries without
 * their dirty bits, in the sets from `set` on. */
static INLINE __attribute__((target("avx2,popcnt"))) uint64_t
look_up_four(cache_pair_of_ways *set, cache_geometry g, __m256i keys,
             uint32_t store, backs *b, cache_ddr_banks *d)
{
    const __m256i dirty = _mm256_set1_epi64x(store);
    __m256i sets = _mm256_loadu_si256((const void *)set);
    __m256i found = _mm256_cmpeq_epi32(
        _mm256_andnot_si256(_mm256_set1_epi32(1), sets), keys);
    int hits = _mm256_movemask_ps(_mm256_castsi256_ps(found));
    uint32_t line = (uint32_t)_mm256_extract_epi32(keys, 0) >> 1;
    uint64_t missing = 0;

    if (!hits) {
        __m256i new = _mm256_or_si256(_mm256_slli_epi64(sets, 32),
                                      _mm256_srli_epi64(keys, 32));

        _mm256_storeu_si256((void *)set, _mm256_or_si256(new, dirty));
        count_four_backs(b, g, sets, d);
        return 15;
    }
    if (hits == WAYS_LRU) {
        sets = _mm256_shuffle_epi32(sets, 0xb1); /* the ways trade places */
        _mm256_storeu_si256((void *)set, _mm256_or_si256(sets, dirty));
        return 0;
    }
    if ((hits & WAYS_MRU) == WAYS_MRU) {
        if (store)
            _mm256_storeu_si256((void *)set, _mm256_or_si256(sets, dirty));
        return 0;
    }
    for (uint32_t k = 0; k < 4; k++)
        if (!look_up_line(set + k, g, line + k, store, b, d))
            missing |= UINT64_C(1) << k;
    return missing;
}

/* The same for lines that follow each other. */
__attribute__((target("avx2,popcnt"))) static uint64_t
look_up_next(cache_level l2, cache_geometry g, uint32_t line, uint32_t n,
             uint32_t store, cache_ddr_banks *d)
{
    backs b = {0, 0};
    uint64_t missing = 0;
    uint32_t k = 0;

    while (k < n) {
        cache_pair_of_ways *set = cache_pair(&l2, line + k);
        uint32_t left = l2.set_mask + 1 - ((line + k) & l2.set_mask);
        uint32_t end = left < n - k ? k + left : n;
        __m256i keys =
            _mm256_add_epi32(_mm256_set1_epi32((int)((line + k) << 1)),
                             _mm256_set_epi32(6, 6, 4, 4, 2, 2, 0, 0));

        for (; k + 4 <= end; k += 4, set += 4) {
            missing |= look_up_four(set, g, keys, store, &b, d) << k;
            keys = _mm256_add_epi32(keys, _mm256_set1_epi32(8));
        }
        for (; k < end; k++, set++)
            missing |= (uint64_t)!look_up_line(set, g, line + k, store, &b, d)
                       << k;
    }
    d->backs[b.bank] += b.n;
    return missing;
}

#endif

/* --- what DDR sees ------------------------------------------------------- */

/* A stream some of whose lines are missing. */
typedef struct {
    uint32_t line, store;
    uint64_t missing; /* a bit per round */
} misses;

static void tell_round(const misses *m, uint32_t n, cache_geometry g,
                       uint32_t step, uint32_t round, cache_ddr_banks *d,
                       cache_ddr_loads *l)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!(m[i].missing >> round & 1))
            continue;
        if (m[i].store)
            cache_stored_line(d, l,
                              cache_bank_of_line(g, m[i].line + round * step));
        else
            cache_loaded_line(d, l,
                              cache_bank_of_line(g, m[i].line + round * step));
    }
}

/* Rounds that miss the same in the same banks, n of them, loads among it. The
 * first is in the way of what was before; each further one adds what the second
 * does. */
static void tell_alike(const misses *m, uint32_t n_misses, cache_geometry g,
                       uint32_t round, uint32_t n, cache_ddr_banks *d,
                       cache_ddr_loads *l)
{
    uint32_t behind, before, number, more;

    tell_round(m, n_misses, g, 0, round, d, l);
    behind = l->loads_behind;
    before = l->lines_before;
    number = l->load_number;
    tell_round(m, n_misses, g, 0, round, d, l);
    n -= 2;
    l->loads_behind += n * (l->loads_behind - behind);
    l->lines_before += n * (l->lines_before - before);
    more = n * ((l->load_number - number) & LOAD_NUMBERS);
    for (uint32_t b = 0; b <= g.bank_mask; b++)
        if (d->banks[b].posted >> 8 == l->load_number)
            d->banks[b].posted += more << 8;
    l->load_number = (l->load_number + more) & LOAD_NUMBERS;
    for (uint32_t i = 0; i < n_misses; i++)
        if (m[i].missing >> round & 1)
            d->banks[cache_bank_of_line(g, m[i].line)].fills += n;
}

/* Rounds from the first on in which no stream comes to another bank. */
static uint32_t rounds_in_banks(const misses *m, uint32_t n, cache_geometry g,
                                uint32_t step)
{
    uint32_t row = 1u << g.bank, least = MOST;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t rounds = (row - 1 - (m[i].line & (row - 1))) / step + 1;

        if (rounds < least)
            least = rounds;
    }
    return least;
}

static void tell(misses *m, uint32_t n_misses, cache_geometry g, uint32_t step,
                 uint32_t n, cache_ddr_banks *d, cache_ddr_loads *l)
{
    while (n) {
        uint32_t now = rounds_in_banks(m, n_misses, g, step);
        bool alike = true, loads = false;
        uint64_t all;

        now = now < n ? now : n;
        all = now < 64 ? (UINT64_C(1) << now) - 1 : UINT64_MAX;
        for (uint32_t i = 0; i < n_misses; i++) {
            uint64_t missing = m[i].missing & all;

            alike &= !missing || missing == all;
            loads |= missing && !m[i].store;
        }
        if (alike && loads && now >= ALIKE_WORTH_IT)
            tell_alike(m, n_misses, g, 0, now, d, l);
        else
            for (uint32_t k = 0; k < now; k++)
                tell_round(m, n_misses, g, step, k, d, l);
        n -= now;
        for (uint32_t i = 0; i < n_misses && n; i++) {
            m[i].missing >>= now;
            m[i].line += now * step;
        }
    }
}

static uint64_t look_up_stream(cache_level l2, cache_geometry g, uint32_t line,
                               uint32_t step, uint32_t n, uint32_t store,
                               cache_ddr_banks *d)
{
#ifdef __x86_64__
    if (step == 1 && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("popcnt"))
        return look_up_next(l2, g, line, n, store, d);
#endif
    return look_up(l2, g, line, step, n, store, d);
}

void repeat_streams_run(const repeat_streams *s, const cache_level *l2,
                        cache_geometry g, uint32_t moved, uint32_t step,
                        uint32_t n, cache_ddr_banks *d, cache_ddr_loads *loads)
{
    misses by_place[REPEAT_MAX_STREAMS];
    uint32_t n_misses = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        repeat_stream of = s->list[i];
        uint32_t line = of.line + moved;

        by_place[of.place] = (misses){
            line, of.store, look_up_stream(*l2, g, line, step, n, of.store, d)};
    }
    for (uint32_t i = 0; i < s->n; i++)
        if (by_place[i].missing)
            by_place[n_misses++] = by_place[i];
    tell(by_place, n_misses, g, step, n, d, loads);
}
