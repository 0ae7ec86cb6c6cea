/* A child that is done before it ends: who waits for it, and when. */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"

/* Its end waits for ours to be closed. */
static int done[2], go[2];
static pid_t pid;

/* Says that it is done if it is to, and ends with that status. */
static void start(bool says, int status)
{
    ck_assert(!pipe(done));
    ck_assert(!pipe(go));
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (!pid) {
        char c;

        child_default_signals(); /* Check's handler ends the whole group */
        close(go[1]);
        if (says && write(done[1], "", 1) != 1)
            _exit(9);
        if (says && read(go[0], &c, 1))
            _exit(9);
        _exit(status);
    }
    child_add(pid, false);
    close(go[0]);
}

static void let_end(void)
{
    close(go[1]);
    close(done[0]);
    close(done[1]);
}

static child_end wait_until_done(const child_limits *limits, int *status)
{
    const child_signs signs = {.done = done[0]};

    return child_wait(pid, limits, &signs, status);
}

static bool is_alive(void)
{
    return waitpid(pid, NULL, WNOHANG) == 0;
}

static bool is_gone(void)
{
    return waitpid(pid, NULL, WNOHANG) < 0 && errno == ECHILD;
}

START_TEST(one_that_is_done_is_not_waited_for)
{
    int status = -1;

    start(true, 0);
    ck_assert_int_eq(wait_until_done(&(child_limits){0}, &status), CHILD_DONE);
    ck_assert(is_alive());
    child_leave(pid);
    ck_assert(is_alive());
    /* Another one comes and goes meanwhile. */
    child_add(getppid(), false);
    child_forget(getppid());
    ck_assert(is_alive());
    let_end();
    child_settle();
    ck_assert(is_gone());
    child_settle();
}
END_TEST

/* Its end is seen when another child comes, without a wait. */
START_TEST(the_next_one_takes_its_place)
{
    const struct timespec nap = {0, 1000000};
    siginfo_t info;

    start(true, 0);
    child_leave(pid);
    let_end();
    do {
        info.si_pid = 0;
        ck_assert(
            !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT));
        nanosleep(&nap, NULL);
    } while (!info.si_pid);
    child_add(getppid(), false);
    ck_assert(is_gone());
    child_forget(getppid());
}
END_TEST

START_TEST(one_that_ends_first_has_ended)
{
    int status = -1;

    start(false, 3);
    ck_assert_int_eq(wait_until_done(&(child_limits){0}, &status), CHILD_ENDED);
    ck_assert_int_eq(WEXITSTATUS(status), 3);
    child_forget(pid);
    let_end();
    ck_assert(is_gone());
}
END_TEST

START_TEST(one_that_is_never_done_meets_its_limits)
{
    int status = -1;

    start(true, 0);
    ck_assert_int_eq(wait_until_done(&(child_limits){0}, &status), CHILD_DONE);
    ck_assert_int_eq(child_wait(pid, &(child_limits){.idle = 0.2},
                                &(child_signs){.done = -1}, &status),
                     CHILD_IDLE);
    ck_assert_int_eq(WTERMSIG(status), SIGKILL);
    child_forget(pid);
    let_end();
}
END_TEST

/* A host that waits for all of its children has taken it. */
START_TEST(one_that_a_host_waited_for_is_forgotten)
{
    start(true, 0);
    child_leave(pid);
    let_end();
    ck_assert_int_eq(waitpid(-1, NULL, 0), pid);
    child_settle();
    child_add(pid, false); /* its number is another one's now */
    child_settle();
    child_forget(pid);
}
END_TEST

/* The end of the program ends it like the others: nobody else may ever wait for
 * it. */
START_TEST(the_end_of_the_program_waits_for_it)
{
    struct timespec before, after;
    int status;

    start(true, 0);
    ck_assert_int_eq(wait_until_done(&(child_limits){0}, &status), CHILD_DONE);
    child_leave(pid);
    clock_gettime(CLOCK_MONOTONIC, &before);
    child_end_all();
    clock_gettime(CLOCK_MONOTONIC, &after);
    ck_assert_int_le(after.tv_sec - before.tv_sec, 1); /* of two at most */
    ck_assert(is_gone());
    child_settle();
    let_end();
}
END_TEST

/* One that was never added is waited for at once. */
START_TEST(an_unknown_one_is_waited_for)
{
    start(false, 0);
    child_forget(pid);
    child_leave(pid);
    ck_assert(is_gone());
    let_end();
}
END_TEST

/* Asked now and then until it is true, and no more. */
static int n_asked;

static bool third_time(void *user)
{
    ck_assert_ptr_eq(user, &n_asked);
    if (++n_asked == 3)
        let_end();
    return n_asked == 3;
}

START_TEST(what_is_asked_for_is_asked_for_until_it_is_true)
{
    const child_signs signs = {third_time, &n_asked, -1};
    int status = -1;

    n_asked = 0;
    start(true, 5);
    ck_assert_int_eq(child_wait(pid, &(child_limits){0}, &signs, &status),
                     CHILD_ENDED);
    ck_assert_int_eq(WEXITSTATUS(status), 5);
    ck_assert_int_eq(n_asked, 3);
    child_forget(pid);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("child");
    TCase *c = tcase_create("child");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_test(c, one_that_is_done_is_not_waited_for);
    tcase_add_test(c, the_next_one_takes_its_place);
    tcase_add_test(c, one_that_ends_first_has_ended);
    tcase_add_test(c, one_that_is_never_done_meets_its_limits);
    tcase_add_test(c, one_that_a_host_waited_for_is_forgotten);
    tcase_add_test(c, the_end_of_the_program_waits_for_it);
    tcase_add_test(c, an_unknown_one_is_waited_for);
    tcase_add_test(c, what_is_asked_for_is_asked_for_until_it_is_true);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
