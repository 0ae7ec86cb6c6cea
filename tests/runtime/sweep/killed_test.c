/* A sweep that is killed at any moment loses nothing: what is computed later
 * gives the table of one that nobody disturbed. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/add_layer.h"

enum { KILLS = 50, MOST_STARTS = 1000, LONGEST_US = 160000 };

static terminal p;

static void setup(void)
{
    terminal_open(&p);
    add_layer_put(&p);
}

static void teardown(void)
{
    terminal_close(&p);
}

/* The program in a process group of its own, with the folders of the
 * terminal's. */
static pid_t start_group(const char *program, const char *sweep)
{
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (!pid) {
        setpgid(0, 0);
        if (chdir(p.dir) || !freopen("/dev/null", "w", stdout) ||
            !freopen(".said", "w", stderr))
            _exit(99);
        setenv("XDG_CACHE_HOME", arena_printf(p.arena, "%s/.cache", p.dir), 1);
        setenv("TMPDIR", arena_printf(p.arena, "%s/tmp", p.dir), 1);
        execl(program, "vpu", "sweep", "run", sweep, "--jobs", "2", NULL);
        _exit(98);
    }
    setpgid(pid, pid); /* whoever is first */
    return pid;
}

static unsigned next_number(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Whether it was still at work then; if not, how it ended must be a success. */
static bool kill_after(pid_t pid, unsigned us)
{
    int status;

    usleep(us);
    kill(-pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFSIGNALED(status) || !WEXITSTATUS(status), "%d", status);
    return WIFSIGNALED(status);
}

static const char *table(const char *dir)
{
    terminal_run(&p, arena_printf(p.arena, "sweep gather %s", dir));
    ck_assert_msg(!p.status, "%s", p.err);
    return p.out;
}

static const char *plan(int number)
{
    const char *dir = arena_printf(p.arena, "d%d", number);

    terminal_run(&p, arena_printf(p.arena, "sweep plan m --dir %s", dir));
    ck_assert_msg(!p.status, "%s", p.err);
    return dir;
}

/* So many kills that met it at work; a sweep that is done by then is looked at,
 * and another one begun. */
START_TEST(killed_and_resumed)
{
    const char *named = getenv("VPU"), *undisturbed, *dir;
    char *program = realpath(named && *named ? named : "build/vpu", NULL);
    unsigned state = 1, at_work = 0;
    int n = 0;

    ck_assert_ptr_nonnull(program);
    terminal_text(&p, "m",
                  "run layer.xml --param bias=1 --shape in0=1x2x4x16\n"
                  "vary --set ddr_load_stall 1..400/400\n");
    terminal_run(&p, "sweep run m --dir whole");
    ck_assert_msg(!p.status, "%s", p.err);
    undisturbed = arena_strdup(p.arena, table("whole"));
    dir = plan(n);
    for (int i = 0; i < MOST_STARTS && at_work < KILLS; i++) {
        if (kill_after(start_group(program, dir),
                       next_number(&state) % LONGEST_US)) {
            at_work++;
            continue;
        }
        ck_assert_str_eq(table(dir), undisturbed);
        dir = plan(++n);
    }
    ck_assert_uint_eq(at_work, KILLS);
    terminal_run(&p, arena_printf(p.arena, "sweep run %s", dir));
    ck_assert_msg(!p.status, "%s", p.err);
    ck_assert_str_eq(table(dir), undisturbed);
    free(program);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("killed sweeps");
    TCase *t = tcase_create("killed");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 180);
    tcase_add_test(t, killed_and_resumed);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
