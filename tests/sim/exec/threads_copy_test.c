/* Threads kept from launch to launch, and copies of the process. */
#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/exec/threads.h"

/* A lock that threads hold while they start, as they do the allocator's: so
 * long that whatever does not wait for the thread meets it. */
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static useconds_t start_us;

typedef struct {
    void *(*body)(void *);
    void *arg;
} late;

static void *start_late(void *arg)
{
    late l = *(late *)arg;

    free(arg);
    pthread_mutex_lock(&starting);
    usleep(start_us);
    pthread_mutex_unlock(&starting);
    return l.body(l.arg);
}

/* In the place of the C library's, in this program. */
int pthread_create(pthread_t *id, const pthread_attr_t *attr,
                   void *(*body)(void *), void *arg)
{
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                  void *);
    late *l;

    memcpy(&create, &symbol, sizeof create);
    if (!start_us)
        return create(id, attr, body, arg);
    l = malloc(sizeof *l);
    ck_assert_ptr_nonnull(l);
    *l = (late){body, arg};
    return create(id, attr, start_late, l);
}

static void count(void *arg)
{
    atomic_fetch_add((atomic_uint *)arg, 1);
}

/* A process is copied, for a plug-in or a compiler, while threads wait for the
 * next launch: none of them may hold a lock then, as it would never be free in
 * the copy. */
START_TEST(the_process_can_be_copied_while_they_wait)
{
    exec_threads *t = exec_threads_create();
    atomic_uint n = 0;

    ck_assert_ptr_nonnull(t);
    start_us = 50000;
    exec_threads_watch(t, 1000, count, &n);
    if (_i) /* with a job, too */
        ck_assert(exec_threads_run(t, count, &n));
    exec_threads_join(t);
    exec_threads_unwatch(t);
    for (int k = 0; k < 5; k++) {
        pid_t pid = fork();
        int status;

        if (!pid)
            _exit(pthread_mutex_trylock(&starting) ? 1 : 0);
        ck_assert_int_gt(pid, 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_msg(!status, "copy %d: a thread held a lock, status %#x", k,
                      status);
        usleep(10000);
    }
    ck_assert_uint_le(n, (unsigned)_i);
    exec_threads_destroy(t);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("threads and copies");
    TCase *c = tcase_create("all");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_loop_test(c, the_process_can_be_copied_while_they_wait, 0, 2);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
