/* Which sizes each mode tries, of costs that are made up. */
#include <check.h>
#include <stdlib.h>

#include "runtime/tune/search.h"

enum { MOST = 2000 };

typedef struct {
    tune_search s;
    tune_choice choices[MOST];
    uint64_t costs[MOST];
    uint32_t asked[MOST]; /* how often */
    size_t n_asked, fail_at;
} landscape;

static landscape w;

static vpu_status cost(void *user, size_t i, uint64_t *out, vpu_error *err)
{
    landscape *l = user;

    ck_assert_uint_lt(i, l->s.n_choices);
    if (l->fail_at && l->n_asked + 1 == l->fail_at)
        return err_set(err, VPU_ERR_STOPPED, "enough");
    l->asked[i]++;
    l->n_asked++;
    *out = l->costs[i];
    return VPU_OK;
}

/* All divisors of 48x24x8, with arbitrary costs; the first is 48x1x1. */
static void make(uint64_t seed, tune_mode mode)
{
    uint32_t l[3];
    size_t n = 1;

    w = (landscape){.s = {.mode = mode,
                          .choices = w.choices,
                          .global = {48, 24, 8},
                          .factor = 8,
                          .shaves = 16,
                          .cost = cost,
                          .user = &w}};
    w.choices[0] = (tune_choice){.local = {48, 1, 1}};
    for (l[2] = 1; l[2] <= 8; l[2]++)
        for (l[1] = 1; l[1] <= 24; l[1]++)
            for (l[0] = 1; l[0] <= 48; l[0]++)
                if (48 % l[0] == 0 && 24 % l[1] == 0 && 8 % l[2] == 0 &&
                    l[0] * l[1] * l[2] <= 512 &&
                    !(l[0] == 48 && l[1] == 1 && l[2] == 1))
                    w.choices[n++] = (tune_choice){.local = {l[0], l[1], l[2]}};
    w.s.n_choices = n;
    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        w.costs[i] = seed >> 62 == 0 ? UINT64_MAX : 1000 + (seed >> 40) % 5000;
    }
    w.costs[0] = w.s.own_cost = 3000;
}

static size_t run(void)
{
    vpu_error err;
    size_t best;

    ck_assert_int_eq(tune_search_run(&w.s, &best, &err), VPU_OK);
    return best;
}

START_TEST(exhaustive_finds_the_best)
{
    make((uint64_t)_i + 1, TUNE_EXHAUSTIVE);
    size_t best = run();

    for (size_t i = 0; i < w.s.n_choices; i++) {
        ck_assert_uint_le(w.costs[best], w.costs[i]);
        if (i < best)
            ck_assert_uint_lt(w.costs[best], w.costs[i]);
        ck_assert_uint_eq(w.asked[i], i > 0);
    }
}
END_TEST

START_TEST(others_keep_to_their_runs)
{
    for (tune_mode mode = TUNE_RAPID; mode <= TUNE_NORMAL; mode++) {
        size_t best, n;

        make((uint64_t)_i + 1, mode);
        n = mode == TUNE_RAPID ? 3 : w.s.n_choices / 10;
        ck_assert_uint_gt(n, 2);
        best = run();
        ck_assert_uint_eq(w.n_asked, n - 1); /* and its own */
        for (size_t i = 0; i < w.s.n_choices; i++) {
            ck_assert_uint_le(w.asked[i], 1);
            if (w.asked[i] || i == 0)
                ck_assert_uint_le(w.costs[best], w.costs[i]);
        }
        ck_assert(best == 0 || w.asked[best]);
    }
}
END_TEST

START_TEST(few_choices)
{
    for (tune_mode mode = TUNE_RAPID; mode <= TUNE_EXHAUSTIVE; mode++)
        for (size_t n = 1; n < 60; n++) {
            size_t wanted = mode == TUNE_EXHAUSTIVE ? n
                            : mode == TUNE_RAPID    ? 3
                            : n >= 50               ? 5
                                                    : 4;

            make(7, mode);
            w.s.n_choices = n;
            run();
            ck_assert_uint_eq(w.n_asked, (wanted < n ? wanted : n) - 1);
        }
}
END_TEST

/* Where nothing can run but its own size, that is the answer. */
START_TEST(all_refused)
{
    for (tune_mode mode = TUNE_RAPID; mode <= TUNE_EXHAUSTIVE; mode++) {
        make(3, mode);
        for (size_t i = 1; i < w.s.n_choices; i++)
            w.costs[i] = UINT64_MAX;
        ck_assert_uint_eq(run(), 0);
        for (size_t i = 1; i < w.s.n_choices; i++)
            w.costs[i] = w.costs[0]; /* of equals its own */
        ck_assert_uint_eq(run(), 0);
    }
}
END_TEST

START_TEST(errors_end_it)
{
    vpu_error err;
    size_t best;

    for (tune_mode mode = TUNE_RAPID; mode <= TUNE_EXHAUSTIVE; mode++) {
        make(5, mode);
        w.fail_at = 2;
        ck_assert_int_eq(tune_search_run(&w.s, &best, &err), VPU_ERR_STOPPED);
        ck_assert_str_eq(err.msg, "enough");
        ck_assert_uint_eq(w.n_asked, 1);
    }
}
END_TEST

/* Costs as on a machine: rounds of groups, each with some time of its own. */
START_TEST(a_plain_landscape)
{
    size_t best, lowest = 0;

    make(1, TUNE_NORMAL);
    for (size_t i = 0; i < w.s.n_choices; i++) {
        const uint32_t *l = w.choices[i].local;
        uint32_t items = l[0] * l[1] * l[2], groups = 48 * 24 * 8 / items;

        w.costs[i] =
            14000 + (groups + 15) / 16 *
                        (300 + (uint64_t)20 * items / (l[0] % 8 ? 1 : 8));
        lowest = w.costs[i] < w.costs[lowest] ? i : lowest;
    }
    w.s.own_cost = w.costs[0];
    best = run();
    ck_assert_uint_eq(w.costs[best], w.costs[lowest]);
    ck_assert_uint_lt(w.costs[best], w.costs[0]);
    w.s.mode = TUNE_RAPID;
    ck_assert_uint_eq(w.costs[run()], w.costs[lowest]);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tune: search");
    TCase *t = tcase_create("search");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_loop_test(t, exhaustive_finds_the_best, 0, 20);
    tcase_add_loop_test(t, others_keep_to_their_runs, 0, 20);
    tcase_add_test(t, few_choices);
    tcase_add_test(t, all_refused);
    tcase_add_test(t, errors_end_it);
    tcase_add_test(t, a_plain_landscape);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
