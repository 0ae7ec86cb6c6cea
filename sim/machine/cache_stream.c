/* Each lookup of a round is the first line of a stream: one line, or `step`
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
#include "sim/machine/cache_stream.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

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

/* False: ops are other things than lookups of L2, too, or too many. */
static bool take_streams(repeat_streams *s, const repeat_ops *ops)
{
    if (!ops->n || ops->n > REPEAT_MAX_STREAMS)
        return false;
    for (s->n = 0; s->n < ops->n; s->n++) {
        const repeat_op *o = &ops->list[s->n];

        if (o->kind != OP_FETCH && o->kind != OP_STORE)
            return false;
        s->list[s->n] =
            (repeat_stream){o->line, o->kind == OP_STORE, (uint8_t)s->n};
    }
    return true;
}

void repeat_streams_plan(repetition *r, const cache_level *l2)
{
    repeat_streams *s = &r->streams;
    uint32_t n_sets = l2->set_mask + 1, widest = 0, foremost = 0;

    s->most = 0;
    if (r->step >= n_sets || !take_streams(s, &r->late.ops))
        return;
    for (uint32_t k = 0; k < s->n; k++)
        if (gap_before(s, n_sets, k) > widest) {
            widest = gap_before(s, n_sets, k);
            foremost = k;
        }
    sort_from(s, l2->set_mask, foremost);
    s->most = (widest - 1) / r->step + 1;
    if (s->most > MOST)
        s->most = MOST;
    if (s->most < WORTH_IT)
        s->most = 0;
}

/* --- lookups ------------------------------------------------------------- */

/* Lines written back, counted for one bank after the other: that is what they
 * mostly are, and a count in memory would wait for itself. */
typedef struct {
    cache_geometry g;
    uint32_t *of_banks;
    uint32_t bank, n;
} backs;

static INLINE void count_back(backs *b, uint32_t entry)
{
    uint32_t bank = cache_bank_of_line(b->g, entry >> 1);

    if (bank != b->bank) {
        b->of_banks[b->bank] += b->n;
        b->bank = bank;
        b->n = 0;
    }
    b->n += entry & 1;
}

/* True on a hit. */
static INLINE bool look_up_line(cache_pair_of_ways *set, uint32_t line,
                                uint32_t store, backs *b)
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
    count_back(b, lru);
    return false;
}

/* Lines that a stream has in n <= 64 rounds, step apart. */
typedef struct {
    uint32_t line, step, n, store;
} lines;

/* Returns which lines were missing, a bit each. */
static uint64_t look_up(cache_level l2, const lines *s, backs *b)
{
    uint32_t line = s->line;
    uint64_t missing = 0;

    for (uint32_t k = 0; k < s->n; k++, line += s->step)
        if (!look_up_line(cache_pair(&l2, line), line, s->store, b))
            missing |= UINT64_C(1) << k;
    return missing;
}

#ifdef __x86_64__

enum { WAYS_MRU = 0x55, WAYS_LRU = 0xaa }; /* of four sets */

#define fold_rows(rows, shift) \
    _mm256_xor_si256(rows, _mm256_srli_epi32(rows, shift))

/* mach_bank of eight entries at once; bits above the mask stay. */
static INLINE __attribute__((target("avx2,popcnt"))) __m256i
banks_of_entries(const mach_banks *b, __m256i entries)
{
    __m256i row = _mm256_srl_epi32(entries, _mm_cvtsi32_si128((int)b->row + 1));

    MACH_BANK_FOLD(row, b->group, fold_rows)
    return row;
}

static INLINE __attribute__((target("avx2,popcnt"))) void
count_four_backs(backs *b, __m256i sets)
{
    __m256i banks = banks_of_entries(&b->g.banks, sets);
    __m256i same = _mm256_cmpeq_epi32(
        _mm256_and_si256(banks, _mm256_set1_epi32((int)b->g.banks.mask)),
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
        count_back(b, old[k]);
}

/* Four lines that follow each other, of which keys are the entries without
 * their dirty bits, in the sets from `set` on. */
static INLINE __attribute__((target("avx2,popcnt"))) uint64_t
look_up_four(cache_pair_of_ways *set, __m256i keys, uint32_t store, backs *b)
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
        count_four_backs(b, sets);
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
        if (!look_up_line(set + k, line + k, store, b))
            missing |= UINT64_C(1) << k;
    return missing;
}

/* The same for lines that follow each other. */
__attribute__((target("avx2,popcnt"))) static uint64_t
look_up_next(cache_level l2, const lines *s, backs *all)
{
    const uint32_t line = s->line, n = s->n, store = s->store;
    backs b = *all;
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
            missing |= look_up_four(set, keys, store, &b) << k;
            keys = _mm256_add_epi32(keys, _mm256_set1_epi32(8));
        }
        for (; k < end; k++, set++)
            missing |= (uint64_t)!look_up_line(set, line + k, store, &b) << k;
    }
    *all = b;
    return missing;
}

#endif

static uint64_t look_up_stream(cache_batch *b, const lines *s)
{
    backs n = {b->g, b->banks->backs, 0, 0};
    uint64_t missing;

#ifdef __x86_64__
    if (s->step == 1 && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("popcnt"))
        missing = look_up_next(b->l2, s, &n);
    else
#endif
        missing = look_up(b->l2, s, &n);
    n.of_banks[n.bank] += n.n;
    return missing;
}

/* --- what DDR sees ------------------------------------------------------- */

/* Streams some of whose lines are missing, in the order of a round. */
typedef struct {
    uint32_t n, step;
    struct {
        uint32_t line, store;
        uint64_t missing; /* a bit per round */
    } list[REPEAT_MAX_STREAMS];
} misses;

static void tell_round(const misses *m, uint32_t round, cache_batch *b)
{
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t line = m->list[i].line + round * m->step;
        uint32_t bank = cache_bank_of_line(b->g, line);

        if (!(m->list[i].missing >> round & 1))
            continue;
        if (m->list[i].store)
            cache_stored_line(b->banks, &b->ddr, bank);
        else
            cache_loaded_line(b->banks, &b->ddr, bank);
    }
}

/* n rounds that miss the same in the same banks, loads among it. The first is
 * in the way of what was before; each further one adds what the second does. */
static void tell_alike(const misses *m, uint32_t n, cache_batch *b)
{
    cache_ddr_loads *l = &b->ddr, first;
    uint32_t more;

    tell_round(m, 0, b);
    first = *l;
    tell_round(m, 0, b);
    n -= 2;
    l->loads_behind += n * (l->loads_behind - first.loads_behind);
    l->lines_before += n * (l->lines_before - first.lines_before);
    more = n * ((l->load_number - first.load_number) & LOAD_NUMBERS);
    for (uint32_t k = 0; k <= b->g.banks.mask; k++)
        if (b->banks->posted[k] >> 8 == l->load_number)
            b->banks->posted[k] += more << 8;
    l->load_number = (l->load_number + more) & LOAD_NUMBERS;
    for (uint32_t i = 0; i < m->n; i++)
        if (m->list[i].missing & 1)
            b->banks->fills[cache_bank_of_line(b->g, m->list[i].line)] += n;
}

/* Rounds from the first on in which no stream comes to another bank. */
static uint32_t rounds_in_banks(const misses *m, cache_geometry g)
{
    uint32_t row = 1u << g.banks.row, least = MOST;

    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t line = m->list[i].line;
        uint32_t rounds = (row - 1 - (line & (row - 1))) / m->step + 1;

        if (rounds < least)
            least = rounds;
    }
    return least;
}

/* Do the first n rounds miss the same, loads among it? */
static bool are_alike(const misses *m, uint32_t n)
{
    uint64_t all = n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
    bool alike = true, loads = false;

    for (uint32_t i = 0; i < m->n; i++) {
        uint64_t missing = m->list[i].missing & all;

        alike &= !missing || missing == all;
        loads |= missing && !m->list[i].store;
    }
    return alike && loads;
}

static void tell(misses *m, uint32_t n, cache_batch *b)
{
    while (n) {
        uint32_t now = rounds_in_banks(m, b->g);

        now = now < n ? now : n;
        if (now >= ALIKE_WORTH_IT && are_alike(m, now))
            tell_alike(m, now, b);
        else
            for (uint32_t k = 0; k < now; k++)
                tell_round(m, k, b);
        n -= now;
        for (uint32_t i = 0; i < m->n && n; i++) {
            m->list[i].missing >>= now;
            m->list[i].line += now * m->step;
        }
    }
}

void repeat_streams_run(const repetition *r, cache_batch *b, uint32_t n)
{
    const repeat_streams *s = &r->streams;
    uint64_t missing[REPEAT_MAX_STREAMS]; /* by place */
    misses m;

    m.n = 0;
    m.step = r->step;
    for (uint32_t i = 0; i < s->n; i++) {
        repeat_stream of = s->list[i];
        lines at = {of.line + r->moved, r->step, n, of.store};

        missing[of.place] = look_up_stream(b, &at);
    }
    for (uint32_t i = 0; i < s->n; i++) {
        const repeat_op *o = &r->late.ops.list[i];

        if (!missing[i])
            continue;
        m.list[m.n].line = o->line + r->moved;
        m.list[m.n].store = o->kind == OP_STORE;
        m.list[m.n++].missing = missing[i];
    }
    tell(&m, n, b);
}
