/* Threads kept from launch to launch, and their watch. */
#include <check.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/exec/threads.h"

static exec_threads *t;

static void setup(void)
{
    t = exec_threads_create();
    ck_assert_ptr_nonnull(t);
}

static void teardown(void)
{
    exec_threads_destroy(t);
}

static void count(void *arg)
{
    atomic_fetch_add((atomic_uint *)arg, 1);
}

/* A job that waits for another: both must have threads of their own. */
typedef struct {
    atomic_bool here, there;
} meeting;

static void go_here(void *arg)
{
    meeting *m = arg;

    m->here = true;
    while (!m->there)
        usleep(10);
}

static void go_there(void *arg)
{
    meeting *m = arg;

    m->there = true;
    while (!m->here)
        usleep(10);
}

static void wait_for(const atomic_uint *n, uint32_t least)
{
    while (*n < least)
        usleep(10);
}

START_TEST(each_job_runs_once)
{
    atomic_uint n = 0;
    uint32_t all = 0;

    for (uint32_t round = 1; round <= 300; round++) {
        for (uint32_t k = 0; k < round % 7; k++, all++)
            ck_assert(exec_threads_run(t, count, &n));
        if (round % 50 == 0)
            usleep(1000); /* they have fallen asleep */
        wait_for(&n, all);
        exec_threads_join(t);
    }
    ck_assert_uint_eq(n, all);
    exec_threads_join(t); /* nothing to wait for */
}
END_TEST

/* Those that had no processor yet are taken back: none runs behind the join. */
START_TEST(none_runs_behind_a_join)
{
    atomic_uint n = 0;

    for (uint32_t round = 1; round <= 300; round++) {
        uint32_t ran;

        n = 0;
        for (uint32_t k = 0; k < round % 20; k++)
            ck_assert(exec_threads_run(t, count, &n));
        exec_threads_join(t);
        ran = n;
        ck_assert_uint_le(ran, round % 20);
        usleep(round % 3 * 100);
        ck_assert_uint_eq(n, ran);
    }
}
END_TEST

START_TEST(jobs_run_side_by_side)
{
    for (int round = 0; round < 200; round++) {
        meeting m = {false, false};

        ck_assert(exec_threads_run(t, go_here, &m));
        ck_assert(exec_threads_run(t, go_there, &m));
        while (!m.here || !m.there)
            usleep(10);
        exec_threads_join(t);
    }
}
END_TEST

/* More than there is room for are refused, and the others are not lost. */
START_TEST(too_many_are_refused)
{
    meeting m = {false, false};
    uint32_t n = 0;

    while (n < 1000 && exec_threads_run(t, go_here, &m))
        n++;
    ck_assert_uint_gt(n, 63);
    ck_assert_uint_lt(n, 1000);
    while (!m.here)
        usleep(10);
    m.there = true;
    exec_threads_join(t);
    m.there = false;
    ck_assert(exec_threads_run(t, go_there, &m));
    while (!m.there)
        usleep(10);
    exec_threads_join(t);
}
END_TEST

START_TEST(the_watch_strikes_in_time)
{
    atomic_uint n = 0, m = 0;

    /* One that is over strikes no more, though its time comes. */
    exec_threads_watch(t, 0.5, count, &n);
    exec_threads_unwatch(t);
    usleep(600000);
    ck_assert_uint_eq(n, 0);
    /* A shorter one after a longer one, and a longer one after it. */
    exec_threads_watch(t, 1000, count, &n);
    exec_threads_unwatch(t);
    exec_threads_watch(t, 0.02, count, &m);
    for (int i = 0; i < 5000 && !m; i++)
        usleep(1000);
    ck_assert_uint_eq(m, 1);
    exec_threads_unwatch(t);
    exec_threads_watch(t, 0.5, count, &n);
    exec_threads_unwatch(t);
    exec_threads_watch(t, 1000, count, &n);
    usleep(600000);
    ck_assert_uint_eq(n, 0);
    ck_assert_uint_eq(m, 1); /* once only */
    exec_threads_unwatch(t);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("threads");
    TCase *c = tcase_create("all");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, each_job_runs_once);
    tcase_add_test(c, none_runs_behind_a_join);
    tcase_add_test(c, jobs_run_side_by_side);
    tcase_add_test(c, too_many_are_refused);
    tcase_add_test(c, the_watch_strikes_in_time);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
