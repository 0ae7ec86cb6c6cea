/* Compiling inside programs that have signals, children and threads of their
 * own. */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/support/rig.h"

enum { THREADS = 6, EACH = 3 };

static const char good[] =
    "__kernel void k(__global float *o) { o[get_global_id(0)] = BIAS; }\n";
static const char bad[] =
    "__kernel void k(__global float *o) { o[0] = nix; }\n";

/* Compiles text, whose BIAS is n, without the cache. */
static vpu_status compile(const char *text, int n, vpu_error *err)
{
    arena *a = arena_create(0);
    const char *option = arena_printf(a, "-DBIAS=%d", n);
    const kernel_compile_config cfg = {
        .user = {.no_cache = true, .options = &option, .n_options = 1},
        .hooks = &exec_hooks};
    const kernel_source of = {.path = "k.cl", .entry = "k", .text = text};
    sim_kernel *k = NULL;
    vpu_status st = kernel_compile(&of, &cfg, a, &k, err);

    kernel_release(k);
    arena_destroy(a);
    return st;
}

static void both_ways(void)
{
    vpu_error err = {0};

    ck_assert_msg(!compile(good, 1, &err), "%s", err.msg);
    ck_assert_int_eq(compile(bad, 1, &err), VPU_ERR_COMPILE);
    ck_assert_msg(strstr(err.msg, "undeclared identifier 'nix'"), "%s",
                  err.msg);
}

START_TEST(ignored_children)
{
    ck_assert(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
    both_ways();
}
END_TEST

static atomic_bool over;

static void *reap(void *unused)
{
    while (!atomic_load(&over))
        waitpid(-1, NULL, WNOHANG);
    return unused;
}

START_TEST(a_thread_that_waits_for_all)
{
    pthread_t t;

    ck_assert_int_eq(pthread_create(&t, NULL, reap, NULL), 0);
    for (int i = 0; i < 3; i++)
        both_ways();
    atomic_store(&over, true);
    pthread_join(t, NULL);
}
END_TEST

static void *compile_some(void *number)
{
    int n = *(const int *)number;

    for (int i = 0; i < EACH; i++) {
        vpu_error err = {0};
        bool is_bad = (n + i) % 3 == 0;
        vpu_status st = compile(is_bad ? bad : good, n * EACH + i, &err);

        if (st != (is_bad ? VPU_ERR_COMPILE : VPU_OK))
            return strdup(err.msg);
    }
    return NULL;
}

START_TEST(several_threads)
{
    pthread_t t[THREADS];
    int numbers[THREADS];

    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        ck_assert_int_eq(pthread_create(&t[i], NULL, compile_some, &numbers[i]),
                         0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *why;

        pthread_join(t[i], &why);
        ck_assert_msg(!why, "%s", why ? (const char *)why : "");
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("hosts of the compiler");
    TCase *t = tcase_create("hosts");
    SRunner *runner;
    int failed;

    tcase_set_timeout(t, 120);
    tcase_add_test(t, ignored_children);
    tcase_add_test(t, a_thread_that_waits_for_all);
    tcase_add_test(t, several_threads);
    suite_add_tcase(s, t);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
