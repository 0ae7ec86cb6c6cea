/* Work in a copy of the process: what it hands over, and how it is stopped. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/task.h"

/* Its malloc does not return NULL. */
#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static arena *a;
static unsigned char *out;
static size_t n;
static task_end end;
static vpu_error err;

static void setup(void)
{
    a = arena_create(0);
    err = (vpu_error){0};
}

static void teardown(void)
{
    arena_destroy(a);
}

static vpu_status run(task_fn *work, void *user, child_limits limits)
{
    const task_job job = {.work = work, .user = user, .limits = limits};
    task_result r;
    vpu_status st = task_run(&job, NULL, a, &r, &err);

    out = r.bytes;
    n = r.n;
    end = r.end;
    return st;
}

/* --- what it hands over -------------------------------------------------- */

static int counted;

static vpu_status count(void *user, arena *own, unsigned char **bytes,
                        size_t *n_bytes, vpu_error *e)
{
    size_t wanted = *(size_t *)user;

    (void)e;
    counted++;
    *bytes = arena_push(own, wanted, 1, 1);
    for (size_t i = 0; i < wanted; i++)
        (*bytes)[i] = (unsigned char)(i * 7);
    *n_bytes = wanted;
    return VPU_OK;
}

START_TEST(hands_bytes_over)
{
    static const size_t sizes[] = {0, 1, 4096, 40000001};
    size_t wanted = sizes[_i], wrong = 0;

    ck_assert_msg(!run(count, &wanted, (child_limits){0}), "%s", err.msg);
    ck_assert_int_eq(end, TASK_DONE);
    ck_assert_uint_eq(n, wanted);
    for (size_t i = 0; i < n; i++) /* an assertion costs a microsecond */
        wrong += out[i] != (unsigned char)(i * 7);
    ck_assert_uint_eq(wrong, 0);
    ck_assert_int_eq(counted, 0); /* the copy counted, not this process */
}
END_TEST

static vpu_status refuse(void *user, arena *own, unsigned char **bytes,
                         size_t *n_bytes, vpu_error *e)
{
    (void)user;
    (void)own;
    (void)bytes;
    (void)n_bytes;
    return err_at(e, VPU_ERR_COMPILE, "k.cl", 3, 4, "no");
}

START_TEST(hands_errors_over)
{
    ck_assert_int_eq(run(refuse, NULL, (child_limits){0}), VPU_ERR_COMPILE);
    ck_assert_int_eq(end, TASK_DONE);
    ck_assert_str_eq(err.msg, "k.cl:3:4: error: no");
    ck_assert_uint_eq(err.line, 3);
    ck_assert_uint_eq(err.col, 4);
}
END_TEST

/* --- how it is stopped --------------------------------------------------- */

static vpu_status spin(void *user, arena *own, unsigned char **bytes,
                       size_t *n_bytes, vpu_error *e)
{
    for (volatile int i = 0;; i++)
        ;
    return refuse(user, own, bytes, n_bytes, e);
}

START_TEST(time_ends_it)
{
    ck_assert_int_eq(run(spin, NULL, (child_limits){.seconds = 0.2}),
                     VPU_ERR_LIMIT);
    ck_assert_int_eq(end, TASK_TIME);
    ck_assert_msg(strstr(err.msg, "0.2 s"), "%s", err.msg);
}
END_TEST

/* In the arena, in the C library, in operator new's words. */
static vpu_status take_all(void *user, arena *own, unsigned char **bytes,
                           size_t *n_bytes, vpu_error *e)
{
    for (;;)
        switch (*(int *)user) {
        case 0:
            memset(arena_push(own, 1 << 20, 1, 1), 1, 1 << 20);
            break;
        case 1:
            if (!malloc(1 << 20))
                return refuse(user, own, bytes, n_bytes, e);
            break;
        default:
            if (!malloc(1 << 20)) {
                fputs("terminate called after throwing an instance of "
                      "'std::bad_alloc'\n",
                      stderr);
                abort();
            }
        }
}

START_TEST(memory_ends_it)
{
    vpu_status st = run(take_all, &_i, (child_limits){.bytes = 64 << 20});

    if (_i == 1) { /* it noticed itself */
        ck_assert_int_eq(st, VPU_ERR_COMPILE);
        ck_assert_int_eq(end, TASK_DONE);
    } else {
        ck_assert_msg(st == VPU_ERR_LIMIT, "%d: %s", st, err.msg);
        ck_assert_int_eq(end, TASK_MEMORY);
        ck_assert_msg(strstr(err.msg, "64 MB"), "%s", err.msg);
    }
}
END_TEST

static vpu_status die(void *user, arena *own, unsigned char **bytes,
                      size_t *n_bytes, vpu_error *e)
{
    fputs("assertion\n", stderr);
    raise(*(int *)user);
    return refuse(user, own, bytes, n_bytes, e);
}

static const int signals[] = {SIGSEGV, SIGABRT, SIGKILL, SIGTERM};

static void on_signal(int s)
{
    (void)s;
    _exit(0); /* as a handler of the process might: not in the copy */
}

START_TEST(signal_ends_it)
{
    int s = signals[_i];

    signal(SIGTERM, on_signal);
    ck_assert_int_eq(run(die, &s, (child_limits){0}), VPU_ERR_INTERNAL);
    ck_assert_int_eq(end, TASK_DIED);
    ck_assert_msg(strstr(err.msg, "signal") && strstr(err.msg, "assertion"),
                  "%s", err.msg);
}
END_TEST

/* --- locks --------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile bool stop;

static void *hold_and_let_go(void *user)
{
    const struct timespec nap = {0, 100000};

    while (!stop) {
        pthread_mutex_lock(&lock);
        nanosleep(&nap, NULL);
        pthread_mutex_unlock(&lock);
    }
    return user;
}

static vpu_status lock_it(void *user, arena *own, unsigned char **bytes,
                          size_t *n_bytes, vpu_error *e)
{
    (void)user;
    (void)own;
    (void)bytes;
    (void)n_bytes;
    (void)e;
    return pthread_mutex_trylock(&lock) ? VPU_ERR_INVALID : VPU_OK;
}

START_TEST(lock_is_free_in_the_copy)
{
    const task_job job = {.work = lock_it, .held = &lock};
    task_result r;
    pthread_t t;

    ck_assert(!pthread_create(&t, NULL, hold_and_let_go, NULL));
    for (int i = 0; i < 50; i++)
        ck_assert_msg(!task_run(&job, NULL, a, &r, &err), "%s", err.msg);
    stop = true;
    pthread_join(t, NULL);
}
END_TEST

/* As of an allocator without a handler for fork: another thread holds a lock at
 * the moment of the copy, which the copy waits for. */
static atomic_bool is_held;

static void *hold_for_a_while(void *user)
{
    const struct timespec a_while = {1, 0};

    pthread_mutex_lock(&lock);
    atomic_store(&is_held, true);
    nanosleep(&a_while, NULL);
    pthread_mutex_unlock(&lock);
    return user;
}

static vpu_status wait_for_lock(void *user, arena *own, unsigned char **bytes,
                                size_t *n_bytes, vpu_error *e)
{
    size_t wanted = 3;

    (void)user;
    pthread_mutex_lock(&lock);
    return count(&wanted, own, bytes, n_bytes, e);
}

START_TEST(a_lock_that_nobody_gives_back)
{
    pthread_t t;

    ck_assert(!pthread_create(&t, NULL, hold_for_a_while, NULL));
    while (!atomic_load(&is_held))
        sched_yield();
    ck_assert_msg(!run(wait_for_lock, NULL, (child_limits){0}), "%s", err.msg);
    ck_assert_int_eq(end, TASK_DONE);
    ck_assert_uint_eq(n, 3);
    pthread_join(t, NULL);
}
END_TEST

/* --- copies made early ---------------------------------------------------- */

/* How an early copy gets ready. */
typedef enum { QUICK, REFUSES, WAITS_FOR_LOCK, TAKES_MEMORY } getting_ready;

typedef struct {
    getting_ready how;
    task_input input;
    int prepared, value;
} early_user;

static bool get_ready(void *user)
{
    enum { MUCH = 200 << 20 };
    early_user *u = user;
    char *much;

    u->prepared++;
    switch (u->how) {
    case REFUSES:
        return false;
    case WAITS_FOR_LOCK:
        pthread_mutex_lock(&lock);
        return true;
    case TAKES_MEMORY:
        much = malloc(MUCH);
        if (much)
            memset(much, 1, MUCH);
        return much;
    default:
        return true;
    }
}

/* Where the copies' work says that it has begun. */
static atomic_int *n_begun;

/* The input backwards; then how often it was made ready, and the value. */
static vpu_status turn_round(void *user, arena *own, unsigned char **bytes,
                             size_t *n_bytes, vpu_error *e)
{
    const early_user *u = user;

    (void)e;
    if (n_begun)
        atomic_fetch_add(n_begun, 1);
    *n_bytes = u->input.n + 2;
    *bytes = arena_push(own, *n_bytes, 1, 1);
    for (size_t i = 0; i < u->input.n; i++)
        (*bytes)[i] = u->input.bytes[u->input.n - 1 - i];
    (*bytes)[u->input.n] = (unsigned char)u->prepared;
    (*bytes)[u->input.n + 1] = (unsigned char)u->value;
    return VPU_OK;
}

static task_job early_job(early_user *u)
{
    return (task_job){.work = turn_round,
                      .user = u,
                      .limits = {.bytes = 64 << 20},
                      .prepare = get_ready,
                      .input = &u->input};
}

/* Made when the value was 1, run when it is 2. */
static void run_early(getting_ready how, size_t n_input)
{
    early_user u = {.how = how, .value = 1};
    const task_job job = early_job(&u);
    task_copy *early = task_begin(&job);
    unsigned char *input = malloc(n_input + 1);
    task_result r;

    ck_assert_ptr_nonnull(early);
    ck_assert_ptr_nonnull(input);
    for (size_t i = 0; i < n_input; i++)
        input[i] = (unsigned char)(i * 11);
    u.input = (task_input){input, n_input};
    u.value = 2;
    ck_assert_msg(!task_run(&job, early, a, &r, &err), "%s", err.msg);
    ck_assert_int_eq(r.end, TASK_DONE);
    ck_assert_uint_eq(r.n, n_input + 2);
    for (size_t i = 0; i < n_input; i++)
        if (r.bytes[i] != input[n_input - 1 - i])
            ck_abort_msg("byte %zu of %zu", i, n_input);
    out = r.bytes + n_input;
    free(input);
}

START_TEST(an_early_copy_gets_its_input)
{
    static const size_t sizes[] = {0, 1, 70000, 30000001};

    run_early(QUICK, sizes[_i]);
    ck_assert_int_eq(out[0], 1);
    ck_assert_int_eq(out[1], 1); /* what it was made with */
}
END_TEST

static void wait_for_work(void)
{
    const struct timespec nap = {0, 1000000};

    for (int i = 0; i < 10000 && !atomic_load(n_begun); i++)
        nanosleep(&nap, NULL);
    ck_assert_int_eq(atomic_load(n_begun), 1);
}

/* An input given before task_run is worked on before it, and once. */
START_TEST(what_is_given_early_is_worked_on_at_once)
{
    early_user u = {.input = {(const unsigned char *)"abc", 3}, .value = 4};
    const task_job job = early_job(&u);
    task_copy *early;
    task_result r;

    n_begun = mmap(NULL, sizeof *n_begun, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(n_begun, MAP_FAILED);
    early = task_begin(&job);
    ck_assert_ptr_nonnull(early);
    task_give(&job, early);
    wait_for_work();
    task_give(&job, early);
    if (_i) {
        task_drop(early);
    } else {
        ck_assert_msg(!task_run(&job, early, a, &r, &err), "%s", err.msg);
        ck_assert_uint_eq(r.n, 5);
        ck_assert(!memcmp(r.bytes, "cba\1\4", 5));
    }
    ck_assert_int_eq(atomic_load(n_begun), 1);
    child_settle();
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    munmap(n_begun, sizeof *n_begun);
    n_begun = NULL;
}
END_TEST

/* One that has ended takes nothing, and another one works. */
START_TEST(what_is_given_to_none_is_not_lost)
{
    early_user u = {
        .how = REFUSES, .input = {(const unsigned char *)"ab", 2}, .value = 5};
    const task_job job = early_job(&u);
    task_copy *early = task_begin(&job);
    task_result r;

    ck_assert_ptr_nonnull(early);
    task_give(&job, early);
    ck_assert_msg(!task_run(&job, early, a, &r, &err), "%s", err.msg);
    ck_assert_uint_eq(r.n, 4);
    ck_assert(!memcmp(r.bytes, "ba\0\5", 4));
}
END_TEST

START_TEST(memory_to_get_ready_is_not_counted)
{
    run_early(TAKES_MEMORY, 10);
    ck_assert_int_eq(out[0], 1);
}
END_TEST

START_TEST(without_an_early_copy_another_one_works)
{
    early_user u = {.input = {(const unsigned char *)"ab", 2}, .value = 3};
    const task_job job = early_job(&u);
    task_result r;

    run_early(REFUSES, 10);
    ck_assert_int_eq(out[0], 0);
    ck_assert_int_eq(out[1], 2);
    ck_assert_msg(!task_run(&job, NULL, a, &r, &err), "%s", err.msg);
    ck_assert_uint_eq(r.n, 4);
    ck_assert(!memcmp(r.bytes, "ba\0\3", 4));
}
END_TEST

START_TEST(an_early_copy_that_waits_for_a_lock)
{
    pthread_t t;

    ck_assert(!pthread_create(&t, NULL, hold_for_a_while, NULL));
    while (!atomic_load(&is_held))
        sched_yield();
    run_early(WAITS_FOR_LOCK, 10);
    ck_assert_int_eq(out[0], 0);
    pthread_join(t, NULL);
}
END_TEST

START_TEST(a_copy_in_vain_leaves_nothing)
{
    early_user u = {.how = _i ? WAITS_FOR_LOCK : QUICK};
    const task_job job = early_job(&u);
    int before = dup(0);

    pthread_mutex_lock(&lock);
    task_drop(task_begin(&job));
    pthread_mutex_unlock(&lock);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
    ck_assert_int_eq(errno, ECHILD);
    close(before);
    ck_assert_int_eq(dup(0), before); /* no descriptor is open that was not */
    close(before);
    task_drop(NULL);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("task");
    TCase *c = tcase_create("task");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, hands_bytes_over, 0, 4);
    tcase_add_test(c, hands_errors_over);
    tcase_add_test(c, time_ends_it);
    tcase_add_loop_test(c, memory_ends_it, 0, SANITIZED ? 1 : 3);
    if (SANITIZED)
        puts("skipped 2: a sanitizer's malloc waits for ever when it is short");
    tcase_add_loop_test(c, signal_ends_it, 0, 4);
    tcase_add_test(c, lock_is_free_in_the_copy);
    tcase_add_test(c, a_lock_that_nobody_gives_back);
    tcase_add_loop_test(c, an_early_copy_gets_its_input, 0, 4);
    tcase_add_loop_test(c, what_is_given_early_is_worked_on_at_once, 0, 2);
    tcase_add_test(c, what_is_given_to_none_is_not_lost);
    tcase_add_test(c, memory_to_get_ready_is_not_counted);
    tcase_add_test(c, without_an_early_copy_another_one_works);
    tcase_add_test(c, an_early_copy_that_waits_for_a_lock);
    tcase_add_loop_test(c, a_copy_in_vain_leaves_nothing, 0, 2);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
