/* The process of a session of vpu stick: what it has, and what the stick does
 * when it crashes, hangs or is left alone. */
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/confine.h"
#include "runtime/stick/isolate.h"
#include "tests/support/proc.h"
#include "tests/support/terminal.h"

static terminal host, stick;
static pid_t pid; /* of the stick; 0 = it does not run */
static char root[512], address[100];

static void setup(void)
{
    ck_assert(getcwd(root, sizeof root));
    terminal_open(&host);
    terminal_open(&stick);
    snprintf(address, sizeof address, "unix:%s/s", stick.dir);
    pid = 0;
}

static void wait_stick(int status)
{
    terminal_wait(&stick, pid);
    pid = 0;
    ck_assert_msg(stick.status == status, "status %d, expected %d\n%s",
                  stick.status, status, stick.err);
}

static void teardown(void)
{
    if (pid) {
        kill(pid, SIGKILL);
        terminal_wait(&stick, pid);
    }
    terminal_close(&host);
    terminal_close(&stick);
}

static void start_stick(const char *options)
{
    pid = terminal_start(&stick, arena_printf(stick.arena,
                                              "stick --xlink C --listen %s %s",
                                              address, options));
    for (int i = 0; i < 3000 && !terminal_has(&stick, "s"); i++)
        usleep(10000);
    ck_assert(terminal_has(&stick, "s"));
}

/* A host that says nothing. */
static int dial(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct timeval tv = {.tv_sec = 20};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    int rc = -1;

    snprintf(at.sun_path, sizeof at.sun_path, "%s", address + 5);
    /* The file is there a moment before the stick listens. */
    for (int i = 0; i < 3000 && rc; i++) {
        usleep(i ? 10000 : 0);
        rc = connect(fd, (struct sockaddr *)&at, sizeof at);
    }
    ck_assert(!rc);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    return fd;
}

static bool is_cut(int fd)
{
    char c;

    return recv(fd, &c, 1, 0) == 0;
}

/* Names in a folder below the stick's own, one a line; "" = it is empty. */
static const char *names_in(const char *folder)
{
    const char *path = arena_printf(stick.arena, "%s/%s", stick.dir, folder);
    const char *all = "";
    DIR *d = opendir(path);
    const struct dirent *e;

    while (d && (e = readdir(d)))
        if (e->d_name[0] != '.')
            all = arena_printf(stick.arena, "%s%s\n", all, e->d_name);
    if (d)
        closedir(d);
    return all;
}

/* The session's process, when it has given up its rights. */
static pid_t session(void)
{
    pid_t child = proc_child(pid);
    char text[8192] = "";

    for (int i = 0; i < 500 && !strstr(text, "CapEff:\t0000000000000000\n");
         i++) {
        usleep(i ? 10000 : 0);
        proc_status(child, text, sizeof text);
    }
    return child;
}

#define GRN "--layer GRN --shape in0=1x16x32x64 --param bias=1.0"

static void a_session_works(void)
{
    terminal_run(&host, arena_printf(host.arena,
                                     "diff %s/kernels/grn/layer.xml " GRN
                                     " --b usb:%s --xlink C",
                                     root, address));
    ck_assert_msg(host.status == 0 && strstr(host.out, "equal, bit for bit"),
                  "%s%s", host.err, host.out);
}

static unsigned count(const char *text, const char *part)
{
    unsigned n = 0;

    for (const char *p = text; (p = strstr(p, part)); p++)
        n++;
    return n;
}

/* --- what it has --------------------------------------------------------- */

static void wait_status(pid_t child, const char *line)
{
    char text[8192] = "";

    for (int i = 0; i < 500 && !strstr(text, line); i++) {
        usleep(i ? 10000 : 0);
        proc_status(child, text, sizeof text);
    }
    ck_assert_msg(strstr(text, line) != NULL, "no %s in\n%s", line, text);
}

START_TEST(it_is_confined)
{
    confine_report r;
    pid_t child;
    int fd;

    confine_probe(&r);
    start_stick("--log=packets");
    fd = dial();
    child = proc_child(pid);
    if (r.seccomp)
        wait_status(child, "Seccomp:\t2\n");
    wait_status(child, "NoNewPrivs:\t1\n");
    wait_status(child, "CapEff:\t0000000000000000\n");
    wait_status(child, arena_printf(stick.arena, "NSsid:\t%d\n", (int)child));
    close(fd);
}
END_TEST

/* Standard streams, the link, the log: no listener, nothing inherited. */
START_TEST(its_descriptors)
{
    char name[64], to[512];
    unsigned sockets = 0, files = 0, n = 0;
    int fd, extra = dup(2);
    pid_t child;

    ck_assert_int_ge(extra, 3);
    start_stick("--log=packets");
    fd = dial();
    child = session();
    for (int i = 0; i < 1024; i++) {
        ssize_t k;

        snprintf(name, sizeof name, "/proc/%d/fd/%d", (int)child, i);
        k = readlink(name, to, sizeof to - 1);
        if (k < 0)
            continue;
        to[k] = 0;
        n++;
        sockets += i > 2 && !strncmp(to, "socket:", 7);
        files += i > 2 && strstr(to, "/packets");
        if (!i)
            ck_assert_str_eq(to, "/dev/null");
    }
    ck_assert_uint_eq(n, 5);
    ck_assert_uint_eq(sockets, 1);
    ck_assert_uint_eq(files, 1);
    close(fd);
    close(extra);
}
END_TEST

/* What it compiled no other command runs. */
START_TEST(its_cache)
{
    start_stick("");
    a_session_works();
    kill(pid, SIGTERM);
    wait_stick(0);
    ck_assert_str_eq(names_in(".cache/vpusim"), "stick\n");
    ck_assert(strstr(names_in(".cache/vpusim/stick"), ".kernel"));
}
END_TEST

/* --- how it ends --------------------------------------------------------- */

static const struct {
    int sig;
    const char *name;
} crashes[] = {{SIGSEGV, "SIGSEGV"},
               {SIGABRT, "SIGABRT"},
               {SIGBUS, "SIGBUS"},
               {SIGKILL, "SIGKILL"}};
enum { N_CRASHES = sizeof crashes / sizeof *crashes };

/* A sanitizer ends a program by a status of its own. */
static const char *how_it_ended(int i)
{
#if defined(__SANITIZE_ADDRESS__)
    if (crashes[i].sig == SIGSEGV || crashes[i].sig == SIGBUS)
        return "the session ended: its process ended with status 1\n";
#endif
    return arena_printf(stick.arena,
                        "the session ended: its process was ended by %s\n",
                        crashes[i].name);
}

/* As a compiler that is ended leaves them. */
static void leave_temporaries(void)
{
    const char *folder = names_in("tmp");
    const char *path = arena_printf(stick.arena, "tmp/%.*s",
                                    (int)strcspn(folder, "\n"), folder);

    ck_assert_msg(!strncmp(folder, "vpu-stick-", 10), "%s", folder);
    terminal_text(&stick, arena_printf(stick.arena, "%s/a", path), "x");
    terminal_text(&stick, arena_printf(stick.arena, "%s/vpu-x/b", path), "x");
}

START_TEST(a_crash_ends_one_session)
{
    const char *says = how_it_ended(_i);
    pid_t child;
    int fd;

    start_stick("");
    fd = dial();
    child = session();
    leave_temporaries();
    ck_assert(!kill(child, crashes[_i].sig));
    ck_assert(is_cut(fd));
    a_session_works();
    kill(pid, SIGTERM);
    wait_stick(0);
    ck_assert_str_eq(names_in("tmp"), "");
    ck_assert_msg(count(stick.err, says) == 1, "%s", stick.err);
    ck_assert_msg(count(stick.err, "the session") == 1, "%s", stick.err);
    close(fd);
}
END_TEST

START_TEST(a_crash_with_once)
{
    int fd;

    start_stick("--once");
    fd = dial();
    kill(session(), SIGABRT);
    wait_stick(1);
    ck_assert(is_cut(fd));
    ck_assert_str_eq(names_in("tmp"), "");
    close(fd);
}
END_TEST

/* A compiler that is still at work goes with it: for the layer's Permute stages
 * the stick has kernels of its own. */
START_TEST(a_crash_while_it_compiles)
{
    static const char slow[] = "#!/bin/sh\nsleep 50\n";
    pid_t child, clang, nap, run;

    terminal_text(&stick, "bin/clang-" VPU_LLVM, slow);
    ck_assert(!chmod(
        arena_printf(stick.arena, "%s/bin/clang-" VPU_LLVM, stick.dir), 0700));
    setenv("PATH",
           arena_printf(stick.arena, "%s/bin:%s", stick.dir, getenv("PATH")),
           1);
    start_stick("");
    setenv("PATH", strchr(getenv("PATH"), ':') + 1, 1);
    run = terminal_start(
        &host, arena_printf(host.arena,
                            "run %s/kernels/reorg/layer.xml --layer "
                            "ReorgLastLine --shape in0=1x64x26x26 --param "
                            "stride=2 --backend usb:%s --xlink C",
                            root, address));
    child = session();
    clang = proc_child(child);
    nap = proc_child(clang);
    kill(child, SIGABRT);
    terminal_wait(&host, run);
    ck_assert_int_eq(host.status, 2);
    ck_assert(proc_ends(clang) && proc_ends(nap));
    kill(pid, SIGTERM);
    wait_stick(0);
    ck_assert_str_eq(names_in("tmp"), "");
}
END_TEST

START_TEST(a_signal_ends_the_session_too)
{
    pid_t child;
    int fd;

    start_stick("");
    fd = dial();
    child = session();
    kill(pid, SIGTERM);
    ck_assert(is_cut(fd));
    wait_stick(0);
    ck_assert(proc_ends(child));
    ck_assert_str_eq(names_in("tmp"), "");
    ck_assert_msg(!strstr(stick.err, "the session"), "%s", stick.err);
    close(fd);
}
END_TEST

/* It hangs: the stick waits ten seconds, or until it is told again. */
START_TEST(a_session_that_does_not_end)
{
    pid_t child;
    int fd;

    start_stick("");
    fd = dial();
    child = session();
    kill(child, SIGSTOP);
    kill(pid, SIGTERM);
    if (_i) {
        usleep(500000);
        kill(pid, SIGTERM);
    }
    wait_stick(_i ? 128 + SIGTERM : 0);
    ck_assert(proc_ends(child));
    ck_assert_str_eq(names_in("tmp"), "");
    close(fd);
}
END_TEST

START_TEST(it_does_not_outlive_the_stick)
{
    pid_t child;
    int fd;

    start_stick("");
    fd = dial();
    child = session();
    kill(pid, SIGKILL);
    wait_stick(128 + SIGKILL);
    ck_assert(proc_ends(child));
    ck_assert(is_cut(fd));
    close(fd);
}
END_TEST

/* --- what it says -------------------------------------------------------- */

static int leave_with(void *arg)
{
    _exit(*(const int *)arg);
}

static int be_worth(void *arg)
{
    return *(const int *)arg;
}

static vpu_status run_apart(int (*body)(void *), int n, int *value,
                            vpu_error *err)
{
    isolate_config c = {.log_fd = -1};
    isolate_session s;

    setenv("TMPDIR", arena_printf(stick.arena, "%s/tmp", stick.dir), 1);
    *value = -1;
    ck_assert_msg(!isolate_start(&c, -1, body, &n, &s, err), "%s", err->msg);
    return isolate_wait(&c, &s, NULL, NULL, value, err);
}

START_TEST(its_value)
{
    static const int values[] = {0, 1, 2, 70, ISOLATE_MAX_VALUE};
    vpu_error err;
    int value;

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        ck_assert_int_eq(run_apart(be_worth, values[i], &value, &err), VPU_OK);
        ck_assert_int_eq(value, values[i]);
    }
    ck_assert_str_eq(names_in("tmp"), "");
}
END_TEST

/* LLVM ends a process by exit(1), or by abort; kernels by any status. */
START_TEST(its_status)
{
    static const int values[] = {0, 1, 2, 70, 99, 255};
    vpu_error err;
    int value;

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        ck_assert_int_eq(run_apart(leave_with, values[i], &value, &err),
                         VPU_ERR_FAULT);
        ck_assert_int_eq(value, -1);
    }
    ck_assert_str_eq(names_in("tmp"), "");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("stick_isolate");
    TCase *t = tcase_create("stick_isolate");
    SRunner *r;
    int bad;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, it_is_confined);
    tcase_add_test(t, its_descriptors);
    tcase_add_test(t, its_cache);
    tcase_add_loop_test(t, a_crash_ends_one_session, 0, N_CRASHES);
    tcase_add_test(t, a_crash_with_once);
    tcase_add_test(t, a_crash_while_it_compiles);
    tcase_add_test(t, a_signal_ends_the_session_too);
    tcase_add_loop_test(t, a_session_that_does_not_end, 0, 2);
    tcase_add_test(t, it_does_not_outlive_the_stick);
    tcase_add_test(t, its_value);
    tcase_add_test(t, its_status);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    bad = srunner_ntests_failed(r);
    srunner_free(r);
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
