/* Offsets: nothing overlaps, nothing is below the bound, well-known networks
 * come close to it. */
#include "runtime/pool/plan.h"

#include <check.h>
#include <stdbool.h>
#include <string.h>

#include "tests/runtime/pool/networks.h"
#include "tests/support/random.h"

enum { MOST = 400 };

static arena *a;
static vpu_error err;

static void setup(void)
{
    a = arena_create(0);
}

static void teardown(void)
{
    arena_destroy(a);
}

static pool_plan plan_of(const pool_item *items, size_t n)
{
    pool_plan plan;

    ck_assert_int_eq(pool_plan_make(items, n, a, &plan, &err), VPU_OK);
    ck_assert_uint_eq(plan.n, n);
    return plan;
}

static uint64_t alignment_of(const pool_item *it)
{
    return it->alignment ? it->alignment : 1;
}

/* The memory of an item: its size rounded up, by division. */
static uint64_t room_of(const pool_item *it)
{
    uint64_t alignment = alignment_of(it);

    return (it->bytes / alignment + (it->bytes % alignment != 0)) * alignment;
}

/* All that a plan promises, pair by pair. */
static void check_plan(const pool_item *items, const pool_plan *plan)
{
    uint64_t peak = 0, bound = 0, sum = 0;

    for (size_t i = 0; i < plan->n; i++) {
        uint64_t from = plan->offsets[i], to = from + room_of(&items[i]);
        uint64_t live = 0;

        sum += room_of(&items[i]);
        peak = to > peak ? to : peak;
        ck_assert_uint_eq(from % alignment_of(&items[i]), 0);
        if (!items[i].bytes)
            ck_assert_uint_eq(from, 0);
        for (size_t k = 0; k < plan->n; k++) {
            uint64_t other = plan->offsets[k];
            bool together = items[k].first <= items[i].last &&
                            items[i].first <= items[k].last;

            if (k < i && together && items[i].bytes && items[k].bytes &&
                other < to && other + room_of(&items[k]) > from)
                ck_abort_msg("items %zu and %zu overlap", k, i);
            /* The fullest step is one at which an item begins. */
            if (items[k].first <= items[i].first &&
                items[k].last >= items[i].first)
                live += room_of(&items[k]);
        }
        bound = live > bound ? live : bound;
    }
    ck_assert_uint_eq(plan->sum, sum);
    ck_assert_uint_eq(plan->peak, peak);
    ck_assert_uint_eq(plan->lower_bound, bound);
    ck_assert_uint_ge(peak, bound);
}

/* --- By hand */

START_TEST(nothing)
{
    pool_plan plan = plan_of(NULL, 0);

    ck_assert(!plan.peak && !plan.lower_bound && !plan.sum);
}
END_TEST

/* Two that meet at a step, both ends included; a third behind them. */
START_TEST(three_items)
{
    const pool_item items[] = {{10, 0, 0, 1}, {20, 1, 1, 2}, {30, 1, 2, 3}};
    pool_plan plan = plan_of(items, 3);

    check_plan(items, &plan);
    ck_assert_uint_eq(plan.sum, 60);
    ck_assert_uint_eq(plan.lower_bound, 50);
    ck_assert_uint_eq(plan.peak, 50);
    ck_assert_uint_eq(plan.offsets[2], 0);
    ck_assert_uint_eq(plan.offsets[1], 30);
    ck_assert_uint_eq(plan.offsets[0], 0);
}
END_TEST

START_TEST(sizes_are_rounded_up)
{
    const pool_item items[] = {{100, 64, 0, 0}, {1, 32, 0, 0}, {5, 0, 0, 0}};
    pool_plan plan = plan_of(items, 3);

    check_plan(items, &plan);
    ck_assert_uint_eq(plan.sum, 128 + 32 + 5);
    ck_assert_uint_eq(plan.peak, 128 + 32 + 5);
    ck_assert_uint_eq(plan.offsets[1], 128);
    ck_assert_uint_eq(plan.offsets[2], 160);
}
END_TEST

START_TEST(no_bytes_no_memory)
{
    const pool_item items[] = {{0, 64, 0, 9}, {7, 0, 0, 9}, {0, 0, 3, 3}};
    pool_plan plan = plan_of(items, 3);

    check_plan(items, &plan);
    ck_assert_uint_eq(plan.peak, 7);
    plan = plan_of(items, 1);
    ck_assert_uint_eq(plan.peak, 0);
}
END_TEST

/* By size, and no plan is better. What lives at step 0 only leaves gaps of 90
 * and, above, of 70 at step 2; the smallest item fits both. */
START_TEST(smallest_gap)
{
    const pool_item items[] = {{100, 0, 0, 2}, {90, 0, 0, 0}, {80, 0, 0, 2},
                               {70, 0, 0, 1},  {60, 0, 0, 2}, {50, 0, 2, 2}};
    const uint64_t offsets[] = {0, 100, 190, 270, 340, 270};
    pool_plan plan = plan_of(items, 6);

    check_plan(items, &plan);
    ck_assert_uint_eq(plan.peak, 400);
    for (int i = 0; i < 6; i++)
        ck_assert_uint_eq(plan.offsets[i], offsets[i]);
}
END_TEST

/* By size, the last one would lie in the gap of 90 bytes from 100 on; but 128
 * is the first aligned address, so that it takes another order to reach the
 * bound. */
START_TEST(gap_with_alignment)
{
    const pool_item items[] = {
        {100, 0, 0, 2}, {90, 0, 0, 0}, {80, 0, 0, 2}, {64, 32, 2, 2}};
    pool_plan plan = plan_of(items, 4);

    check_plan(items, &plan);
    ck_assert_uint_eq(plan.peak, 270);
}
END_TEST

/* The ends of what fits: steps and sizes. */
START_TEST(extremes)
{
    const pool_item items[] = {{UINT64_MAX - 2, 0, 0, UINT32_MAX},
                               {1, 0, UINT32_MAX, UINT32_MAX}};
    pool_plan plan = plan_of(items, 2);

    ck_assert_uint_eq(plan.peak, UINT64_MAX - 1);
    ck_assert_uint_eq(plan.lower_bound, UINT64_MAX - 1);
    ck_assert_uint_eq(plan.offsets[1], UINT64_MAX - 2);
}
END_TEST

/* --- Errors */

static void refused(const pool_item *items, size_t n, vpu_status code,
                    const char *text)
{
    pool_plan plan = {.peak = 77};

    ck_assert_int_eq(pool_plan_make(items, n, a, &plan, &err), code);
    ck_assert_int_eq(err.code, code);
    ck_assert_msg(strstr(err.msg, text) != NULL, "%s", err.msg);
    ck_assert_uint_eq(plan.peak, 77);
}

START_TEST(errors)
{
    const pool_item good = {UINT64_MAX - 2, 0, 0, 0};

    refused((const pool_item[]){good, {1, 12, 0, 0}}, 2, VPU_ERR_INVALID,
            "item 1: alignment 12 is not a power of two");
    refused((const pool_item[]){good, {1, 0, 4, 3}}, 2, VPU_ERR_INVALID,
            "item 1: its first step, 4, is after its last, 3");
    refused((const pool_item[]){good, {2, 0, 0, 0}}, 2, VPU_ERR_LIMIT,
            "item 1: its 2 bytes");
    refused((const pool_item[]){{UINT64_MAX - 2, 2, 0, 0}}, 1, VPU_ERR_LIMIT,
            "item 0: its 18446744073709551613 bytes");
    plan_of((const pool_item[]){{UINT64_MAX - 3, 2, 0, 0}}, 1);
    refused((const pool_item[]){{1, (uint64_t)1 << 62, 0, 0},
                                {2, (uint64_t)1 << 62, 0, 0}},
            2, VPU_ERR_LIMIT, "item 1: its 2 bytes");
    plan_of((const pool_item[]){{1, (uint64_t)1 << 62, 0, 0},
                                {1, (uint64_t)1 << 62, 0, 0}},
            2);
    refused(&good, UINT32_MAX, VPU_ERR_LIMIT, "4294967295 items");
    /* What has no bytes adds nothing. */
    plan_of((const pool_item[]){good, {0, (uint64_t)1 << 63, 0, 0}}, 2);
}
END_TEST

/* --- Random items */

static void draw(uint64_t seed, pool_item *items, size_t n)
{
    uint32_t steps = 1 + random_below(&seed, 2 * (uint32_t)n);
    uint32_t longest = 1 + random_below(&seed, steps);
    uint32_t largest = 1 + random_below(&seed, 5000);
    uint32_t most = 1 + random_below(&seed, 9);

    for (size_t i = 0; i < n; i++) {
        uint32_t first = random_below(&seed, steps);

        items[i] = (pool_item){.bytes = random_below(&seed, largest),
                               .alignment = 1u << random_below(&seed, most),
                               .first = first,
                               .last = first + random_below(&seed, longest)};
        if (!random_below(&seed, 10) && i)
            items[i] = items[i - 1]; /* some are alike */
    }
}

static bool alike(const pool_item *l, const pool_item *r)
{
    return l->bytes == r->bytes && l->alignment == r->alignment &&
           l->first == r->first && l->last == r->last;
}

/* How many of the items like this one lie at an offset. */
static unsigned count(const pool_item *items, const pool_plan *plan,
                      const pool_item *like, uint64_t offset)
{
    unsigned n = 0;

    for (size_t i = 0; i < plan->n; i++)
        n += alike(&items[i], like) && plan->offsets[i] == offset;
    return n;
}

START_TEST(random_items)
{
    static pool_item items[MOST], mixed[MOST];
    uint64_t seed = (uint64_t)_i + 1000;
    size_t n = 1 + (size_t)_i * 29 % (_i % 8 ? 60 : MOST);
    pool_plan plan, again;

    draw((uint64_t)_i, items, n);
    plan = plan_of(items, n);
    check_plan(items, &plan);
    again = plan_of(items, n);
    ck_assert_int_eq(
        memcmp(plan.offsets, again.offsets, n * sizeof *plan.offsets), 0);

    memcpy(mixed, items, n * sizeof *items);
    for (size_t i = n; i > 1; i--) {
        size_t k = random_below(&seed, (uint32_t)i);
        pool_item kept = mixed[i - 1];

        mixed[i - 1] = mixed[k];
        mixed[k] = kept;
    }
    again = plan_of(mixed, n);
    ck_assert_uint_eq(plan.peak, again.peak);
    for (size_t i = 0; i < n; i++)
        ck_assert_uint_eq(count(items, &plan, &items[i], plan.offsets[i]),
                          count(mixed, &again, &items[i], plan.offsets[i]));
}
END_TEST

/* Few that live together, of very many: the tree; and many: the list. */
START_TEST(many_items)
{
    static pool_item items[3000];
    uint64_t seed = (uint64_t)_i;
    pool_plan plan;

    for (size_t i = 0; i < 3000; i++) {
        uint32_t first = random_below(&seed, 3000);

        items[i] =
            (pool_item){.bytes = 1 + random_below(&seed, 100000),
                        .alignment = 64,
                        .first = first,
                        .last = first + random_below(&seed, _i ? 2000 : 20)};
    }
    plan = plan_of(items, 3000);
    check_plan(items, &plan);
    ck_assert_uint_lt(plan.peak, plan.lower_bound + plan.lower_bound / 4);
}
END_TEST

START_TEST(well_known_networks)
{
    static network net;
    pool_plan plan;

    network_make(&networks[_i], &net);
    plan = plan_of(net.items, net.n);
    check_plan(net.items, &plan);
    ck_assert_msg(plan.peak - plan.lower_bound <= plan.lower_bound / 20,
                  "%s: %llu, the bound is %llu", networks[_i].name,
                  (unsigned long long)plan.peak,
                  (unsigned long long)plan.lower_bound);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("plan");
    TCase *c = tcase_create("plan");
    SRunner *sr = srunner_create(s);
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, nothing);
    tcase_add_test(c, three_items);
    tcase_add_test(c, sizes_are_rounded_up);
    tcase_add_test(c, no_bytes_no_memory);
    tcase_add_test(c, smallest_gap);
    tcase_add_test(c, gap_with_alignment);
    tcase_add_test(c, extremes);
    tcase_add_test(c, errors);
    tcase_add_loop_test(c, random_items, 0, 60);
    tcase_add_loop_test(c, many_items, 0, 2);
    tcase_add_loop_test(c, well_known_networks, 0, (int)n_networks);
    suite_add_tcase(s, c);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
