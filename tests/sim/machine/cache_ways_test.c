/* Every sum of fast ways against the plain model alone: the same calls, and
 * all that can be seen of a cache afterwards. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine/cache.h"
#include "sim/machine/fast.h"

enum { LONGEST = 9000 };

/* Shapes of caches, and numbers of SHAVEs that share L2. */
static const struct {
    const char *sets[2];
    uint32_t n_sharing;
    bool moved; /* data have other places than addresses */
} shapes[] = {
    {{"l2_ways=2", "ddr_banks=8"}, 12, false},
    {{"l2_line=128", "ddr_banks=4"}, 12, false},
    {{"l1d_line=64", "ddr_row_bytes=1024"}, 16, false},
    {{"l1d_bytes=4096", "l2_bytes=65536"}, 7, false},
    {{"ddr_banks=1", "l2_bytes=32768"}, 16, false},
    {{"l1d_ways=4", "l2_ways=4"}, 12, false}, /* has no fast way */
    {{"ddr_bank_hash=0", "ddr_row_bytes=4096"}, 16, true},
    {{"ddr_banks=2", "l2_line=128"}, 7, true},
    {{"ddr_bank_hash=1", "ddr_banks=16"}, 16, true},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static arena *mem;
static mach_cache *fast, *plain;
static uint32_t ways; /* of `fast` */
static uint32_t *places;
static bool moved;
static int own_shape;      /* of the test; other launches may have others */
static const char *change; /* of that shape, or NULL */

/* Regions of 16 MiB, one after the other, are moved by other distances. */
enum { REGION = 1 << 24, PAGES = 1 << (32 - MACH_PAGE_SHIFT) };

/* *c is NULL, or as it will be for another launch. */
static void make(uint32_t fast_cache, int shape, mach_cache **c)
{
    mach_desc desc;
    vpu_error err;

    ck_assert(!mach_desc_load(NULL, mem, &desc, &err));
    for (int i = 0; i < 2; i++)
        ck_assert_msg(!mach_desc_set(&desc, mem, shapes[shape].sets[i], &err),
                      "%s", err.msg);
    if (change)
        ck_assert_msg(!mach_desc_set(&desc, mem, change, &err), "%s", err.msg);
    desc.fast_cache = fast_cache;
    ck_assert(!mach_cache_renew(&desc, shapes[shape].n_sharing, c, &err));
    moved = shapes[shape].moved;
    if (moved)
        mach_cache_set_places(*c, places);
}

static void make_both(int shape)
{
    make(ways, shape, &fast);
    make(0, shape, &plain);
}

static void setup(void)
{
    mem = arena_create(0);
    places = calloc(PAGES, sizeof *places);
    ck_assert_ptr_nonnull(places);
    for (uint32_t page = 0; page < PAGES; page++) {
        uint32_t region = page / (REGION >> MACH_PAGE_SHIFT);

        places[page] = region * region * 1664525 / 64 * 64;
    }
}

static void teardown(void)
{
    mach_cache_destroy(fast);
    mach_cache_destroy(plain);
    free(places);
    arena_destroy(mem);
}

static uint32_t draw(uint32_t *x, uint32_t n)
{
    *x = *x * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)*x * n >> 32);
}

static void compare_counts(void)
{
    mach_mem_counts want = mach_cache_take(plain), got = mach_cache_take(fast);

    /* Check writes a line for every assertion that holds. */
    if (!memcmp(&got, &want, sizeof got))
        return;
    ck_abort_msg("fast_cache=%u: loads %u %u %u, not %u %u %u; lines for "
                 "stores %u, not %u; written back %u, not %u",
                 ways, got.load_l1_hits, got.load_l2_hits, got.load_fills,
                 want.load_l1_hits, want.load_l2_hits, want.load_fills,
                 got.store_fills, want.store_fills, got.write_backs,
                 want.write_backs);
}

/* --- what is run --------------------------------------------------------- */

/* A loop over neighbouring addresses, each site in a region. */
typedef struct {
    uint32_t period, stride;
    uint64_t sites[12];
} loop;

static loop make_loop(uint32_t *x)
{
    static const uint32_t strides[] = {4, 8, 16, 16, 32, 64, 12, 64, 192, 512};
    static const uint32_t apart[] = {0x80000, 0x4000, 4160, 2112, 64, 20};
    uint32_t pitch = apart[draw(x, 6)], at = 0x10000000 + draw(x, 1u << 16);
    uint32_t bytes = 1u << draw(x, 6), stores = draw(x, 5);
    loop l = {.period = 1 + draw(x, 12), .stride = strides[draw(x, 10)]};

    for (uint32_t i = 0; i < l.period; i++)
        l.sites[i] = MACH_ACCESS(at + i * pitch + (moved ? i % 3 * REGION : 0),
                                 bytes, draw(x, 6) < stores);
    return l;
}

/* Returns the accesses, at most n. */
static size_t run_of_loop(const loop *l, uint32_t at, uint64_t *list, size_t n)
{
    size_t k = 0;

    for (uint32_t t = 0; k + l->period <= n; t++)
        for (uint32_t i = 0; i < l->period; i++)
            list[k++] = l->sites[i] + at + t * l->stride;
    return k;
}

static size_t scattered(uint32_t *x, uint64_t *list, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        uint32_t at = draw(x, 3) ? 0x10000000 + draw(x, 1u << 17)
                                 : 0x10000000 + draw(x, 16) * 0x4000;

        list[k] = MACH_ACCESS(at, 1 + draw(x, 64), !draw(x, 3));
    }
    return n;
}

/* A list, cut in lists anywhere. */
static void run_in_cuts(const uint64_t *list, size_t n, uint32_t *x)
{
    for (size_t now; n; list += now, n -= now) {
        now = draw(x, 3) ? n : 1 + draw(x, (uint32_t)n);
        mach_cache_run(fast, list, now);
        mach_cache_run(plain, list, now);
        if (draw(x, 2))
            compare_counts();
    }
}

static void run_single(uint64_t access)
{
    uint32_t at = MACH_ACCESS_ADDR(access), bytes = MACH_ACCESS_BYTES(access);
    mach_cache *both[] = {fast, plain};

    for (int i = 0; i < 2; i++)
        if (MACH_ACCESS_IS_STORE(access))
            mach_cache_store(both[i], at, bytes);
        else
            mach_cache_load(both[i], at, bytes);
}

/* Another launch: of the same machine or of another one, with data at the same
 * places or at others. */
static void launch_again(uint32_t *x)
{
    int shape = draw(x, 3) ? own_shape : (int)draw(x, N_SHAPES);

    if (!draw(x, 3))
        for (uint32_t page = 0; page < PAGES; page++)
            places[page] ^= page & REGION >> MACH_PAGE_SHIFT ? 1u << 12 : 0;
    make_both(shape);
}

/* What comes between: others in a list, the latest ones again, one, another
 * launch or nothing. */
static void interrupt(const uint64_t *list, size_t n, uint32_t *x)
{
    uint64_t others[300];
    uint32_t kind = draw(x, 6);

    if (kind == 0)
        run_in_cuts(others, scattered(x, others, 1 + draw(x, 300)), x);
    for (uint32_t i = draw(x, 60); kind == 1 && i; i--)
        run_single(list[n - 1 - draw(x, (uint32_t)(n < 400 ? n : 400))]);
    if (kind == 2)
        run_single(MACH_ACCESS(0x10000000 + draw(x, 1u << 17), 4, draw(x, 2)));
    if (kind == 3 && !draw(x, 4)) {
        mach_cache_flush(fast);
        mach_cache_flush(plain);
    }
    if (kind == 4 && !draw(x, 2))
        launch_again(x);
}

/* One loop some times, each further on, as work-groups follow each other. */
static void run_groups(uint32_t *x)
{
    static uint64_t list[LONGEST];
    loop l = make_loop(x);
    uint32_t times = 32 * (1 + draw(x, 9)) + (draw(x, 3) ? 0 : draw(x, 32));
    uint32_t next = draw(x, 4) ? 128 * draw(x, 200) : draw(x, 9000);
    size_t n = (size_t)l.period * times;

    if (moved && !draw(x, 4)) /* the same in other regions */
        next = REGION;
    for (uint32_t g = 0, groups = 2 + draw(x, 5); g < groups; g++) {
        n = run_of_loop(&l, g * next, list, n < LONGEST ? n : LONGEST);
        run_in_cuts(list, n, x);
        interrupt(list, n, x);
    }
}

/* --- tests --------------------------------------------------------------- */

enum { ROUNDS = 100 };

static void begin(uint32_t fast_cache, int shape)
{
    ways = fast_cache;
    own_shape = shape;
    make_both(shape);
}

static void end(void)
{
    mach_cache_destroy(fast);
    mach_cache_destroy(plain);
    fast = plain = NULL;
}

START_TEST(counts_are_those_of_the_plain_model)
{
    for (uint32_t w = 0; w <= MACH_ALL_WAYS; w++) {
        uint32_t x = (uint32_t)_i + 1;

        begin(w, _i);
        for (int round = 0; round < ROUNDS; round++)
            run_groups(&x);
        compare_counts();
        mach_cache_flush(fast);
        mach_cache_flush(plain);
        compare_counts();
        end();
    }
}
END_TEST

static bool same_misses(const mach_step *a, const mach_step *b)
{
    bool same = a->n_misses == b->n_misses && a->n_accesses == b->n_accesses;

    for (uint32_t i = 0; same && i < a->n_misses; i++)
        same = a->misses[i].addr == b->misses[i].addr &&
               a->misses[i].kind == b->misses[i].kind &&
               a->misses[i].access == b->misses[i].access &&
               a->misses[i].l2_hits == b->misses[i].l2_hits;
    return same;
}

static void compare_misses(void)
{
    mach_step want = {.n_misses = 9}, got = {.n_misses = 9};

    if (!mach_cache_take_misses(fast, &got) ||
        !mach_cache_take_misses(plain, &want) || !same_misses(&got, &want))
        ck_abort_msg("fast_cache=%u: %u misses of %u accesses, %u of %u "
                     "expected, or others",
                     ways, got.n_misses, got.n_accesses, want.n_misses,
                     want.n_accesses);
    free(got.misses);
    free(want.misses);
    compare_counts();
}

/* A recording that begins at once, and behind a loop. */
START_TEST(misses_are_those_of_the_plain_model)
{
    static uint64_t list[1500];

    for (uint32_t w = 0; w <= 2 * MACH_ALL_WAYS + 1; w++) {
        uint32_t x = (uint32_t)_i + 50;

        begin(w / 2, _i);
        for (uint32_t round = 0; round < w % 2 * 5; round++)
            run_groups(&x);
        compare_counts();
        mach_cache_record(fast);
        mach_cache_record(plain);
        for (int round = 0; round < ROUNDS; round++) {
            loop l = make_loop(&x);
            size_t n = run_of_loop(&l, draw(&x, 5000), list, 1500);

            mach_cache_run(fast, list, n);
            mach_cache_run(plain, list, n);
            compare_misses();
        }
        end();
    }
}
END_TEST

/* Machines that differ from a shape in one thing. */
static const char *const changes[] = {"l1d_bytes=2048",  "l2_bytes=131072",
                                      "l1d_line=16",     "ddr_banks=2",
                                      "ddr_bank_hash=0", "ddr_row_bytes=8192"};
enum { N_CHANGES = sizeof changes / sizeof *changes };

/* The same accesses on one machine, then on another. */
START_TEST(what_holds_of_one_machine_is_not_used_on_another)
{
    static uint64_t list[LONGEST];
    uint32_t x = (uint32_t)_i + 90;

    for (int other = 0; other < N_SHAPES + N_CHANGES; other++)
        for (int round = 0; round < ROUNDS / 4; round++) {
            loop l = make_loop(&x);
            uint32_t at = 64 * draw(&x, 400);

            begin(MACH_ALL_WAYS, _i);
            for (int time = 0; time < 4; time++) {
                size_t n =
                    run_of_loop(&l, time * at, list, (size_t)l.period * 640);

                if (time == 2) {
                    int shape = other < N_SHAPES ? other : _i;

                    change =
                        other < N_SHAPES ? NULL : changes[other - N_SHAPES];
                    make_both(shape);
                    change = NULL;
                }
                mach_cache_run(fast, list, n);
                mach_cache_run(plain, list, n);
                compare_counts();
            }
            end();
        }
}
END_TEST

/* --- lists that need not be run ------------------------------------------- */

/* A group's accesses, each of which moves by a distance of its own from group
 * to group. */
typedef struct {
    uint64_t sites[12];
    uint32_t n, steps[12];
} small_group;

static small_group make_small_group(uint32_t *x)
{
    static const uint32_t steps[] = {0,  1,  2,  4,    4,   8,
                                     12, 32, 64, 4096, -4u, -12u};
    small_group g = {.n = draw(x, 13)};
    uint32_t spread = draw(x, 2) ? 256 : 1u << 14;

    for (uint32_t i = 0; i < g.n; i++) {
        uint32_t at = 0x10000000 + draw(x, spread) + draw(x, 3) * REGION;

        at -= draw(x, 2) ? at % 16 : 0;
        g.sites[i] = MACH_ACCESS(at, 1u << draw(x, 7), !draw(x, 3));
        g.steps[i] = steps[draw(x, 12)];
    }
    return g;
}

/* Returns the accesses of n groups. */
static size_t run_of_small_group(small_group g, uint32_t n, uint64_t *list)
{
    size_t k = 0;

    for (; n; n--)
        for (uint32_t i = 0; i < g.n; i++) {
            list[k++] = g.sites[i];
            g.sites[i] = MACH_ACCESS(MACH_ACCESS_ADDR(g.sites[i]) + g.steps[i],
                                     MACH_ACCESS_BYTES(g.sites[i]),
                                     MACH_ACCESS_IS_STORE(g.sites[i]));
        }
    return k;
}

static bool all_hit(const mach_mem_counts *m)
{
    return !m->load_l2_hits && !mach_moves_lines(m);
}

/* How many of the next lists need no run: the same, whether they are written or
 * told by their steps. */
static uint32_t count_again(const small_group *g, const uint64_t *list,
                            uint32_t most)
{
    uint32_t again = mach_cache_again(fast, list, g->n, most);

    ck_assert_uint_le(again, most);
    ck_assert_uint_eq(again,
                      mach_cache_moved(fast, list, g->steps, g->n, most));
    return again;
}

/* The plain model runs the lists that are said to need no run. They hit, and
 * count what the one before them did. */
static void run_again(const uint64_t *list, uint32_t period, uint32_t again)
{
    mach_mem_counts last, n;

    for (uint32_t k = 1; k <= again; k++, last = n) {
        mach_cache_run(plain, list + k * period, period);
        n = mach_cache_take(plain);
        if (!all_hit(&n) || (k > 1 && memcmp(&n, &last, sizeof n)))
            ck_abort_msg("fast_cache=%u: list %u of %u accesses misses, or has "
                         "other counts than the one before",
                         ways, k, period);
    }
}

/* Returns how many were not run, and adds those behind one that missed. */
static uint32_t run_small_groups(uint32_t *x, uint32_t *settled)
{
    enum { MOST = 40 };
    uint64_t list[12 * MOST];
    small_group g = make_small_group(x);
    uint32_t n = 1 + draw(x, MOST), unrun = 0;

    run_of_small_group(g, n, list);
    for (uint32_t k = 0; k < n; k++) {
        const uint64_t *at = list + k * g.n;
        mach_mem_counts got, want;
        uint32_t again = 0;

        mach_cache_run(fast, at, g.n);
        mach_cache_run(plain, at, g.n);
        got = mach_cache_take(fast);
        want = mach_cache_take(plain);
        if (memcmp(&got, &want, sizeof got))
            ck_abort_msg("fast_cache=%u: group %u of %u", ways, k, n);
        if (all_hit(&got) || mach_cache_settles(fast, at, g.n))
            again = count_again(&g, at, n - 1 - k);
        run_again(at, g.n, again);
        *settled += all_hit(&got) ? 0 : again;
        unrun += again;
        k += again;
    }
    return unrun;
}

START_TEST(lists_like_one_that_hit_need_no_run)
{
    for (uint32_t w = 0; w <= MACH_ALL_WAYS; w++) {
        uint32_t x = (uint32_t)_i + 100, unrun = 0, settled = 0;

        begin(w, _i);
        for (int round = 0; round < 30 * ROUNDS; round++)
            unrun += run_small_groups(&x, &settled);
        if (!w)
            ck_assert_uint_eq(unrun, 0);
        else if (strcmp(shapes[_i].sets[1], "l2_ways=4"))
            ck_assert(unrun > ROUNDS && settled > ROUNDS);
        end();
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("fast ways of the cache model");
    TCase *t = tcase_create("ways");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, counts_are_those_of_the_plain_model, 0, N_SHAPES);
    tcase_add_loop_test(t, misses_are_those_of_the_plain_model, 0, N_SHAPES);
    tcase_add_loop_test(t, what_holds_of_one_machine_is_not_used_on_another, 0,
                        N_SHAPES);
    tcase_add_loop_test(t, lists_like_one_that_hit_need_no_run, 0, N_SHAPES);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
