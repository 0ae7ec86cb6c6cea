/* vpu debug at a terminal, as a person uses it: a pseudoterminal, keys, and
 * what comes back. */
#include <check.h>
#include <poll.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/runtime/debug/twist.h"

enum { ROOM = 1 << 16, SILENCE_MS = 20000 };

static struct {
    pid_t pid;
    int fd;
    char *out; /* everything so far */
    size_t n, seen;
} person;

/* libedit keeps copies of the names of functions it is given, which nobody gets
 * back: known to the leak checker of `make asan`. */
#define KNOWN_LEAKS "leak:wcsdup\n"

static void become_debugger(const char *term)
{
    const char *vpu = getenv("VPU");
    char *path = realpath(vpu && *vpu ? vpu : "build/vpu", NULL);
    const char *line = arena_printf(
        twist.arena,
        "cd %s && export XDG_CACHE_HOME=%s/.c XDG_STATE_HOME=%s/.s "
        "LSAN_OPTIONS=suppressions=leaks:print_suppressions=0 "
        "TERM=%s && exec %s debug " TWIST_ARGS,
        twist.dir, twist.dir, twist.dir, term, path);

    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
}

/* Reads up to the next place where text is written. */
static void await(const char *text)
{
    const char *at;

    while (!(at = strstr(person.out + person.seen, text))) {
        struct pollfd p = {.fd = person.fd, .events = POLLIN};
        ssize_t n =
            poll(&p, 1, SILENCE_MS) == 1
                ? read(person.fd, person.out + person.n, ROOM - 1 - person.n)
                : 0;

        ck_assert_msg(n > 0, "'%s' does not come behind\n%s", text,
                      person.out + person.seen);
        person.n += (size_t)n;
        person.out[person.n] = 0;
    }
    person.seen = (size_t)(at - person.out) + strlen(text);
}

static void type(const char *keys)
{
    ck_assert_int_eq(write(person.fd, keys, strlen(keys)),
                     (ssize_t)strlen(keys));
}

static void begin(const char *term)
{
    terminal_text(&twist, "leaks", KNOWN_LEAKS);
    person.n = person.seen = 0;
    person.out = arena_push(twist.arena, ROOM, 1, 1);
    person.pid = forkpty(&person.fd, NULL, NULL, NULL);
    ck_assert_int_ge(person.pid, 0);
    if (!person.pid)
        become_debugger(term);
    await("(vpu) ");
}

static void end(void)
{
    int status;

    type("quit\r");
    while (read(person.fd, person.out, ROOM) > 0)
        ;
    waitpid(person.pid, &status, 0);
    close(person.fd);
    ck_assert_int_eq(status, 0);
}

/* Wrong commands of a person do not make the program fail. */
START_TEST(words_are_completed)
{
    begin("xterm");
    type("tb\t21 if l == 3\r");
    await("temporary breakpoint 1: twist.cl, line 21, if l == 3");
    type("break sca\t\r");
    await("breakpoint 2: scaled");
    type("delete 2\r");
    type("ru\t\r");
    await("breakpoint 1");
    type("print pai\t.a\r"); /* a blank behind the word is no harm */
    await("pair .a = 3");
    type("print mi\t\r");
    await("= {300, 301, 302}");
    type("info \t\t");
    await("breakpoints  display  locals");
    type("lo\t\r");
    await("l = 3");
    type("zzz\r");
    await("there is no command 'zzz'");
    end();
}
END_TEST

START_TEST(lines_come_back)
{
    begin("xterm");
    type("break 21 if l == 6\r");
    await("breakpoint 1");
    end();
    begin("xterm");
    type("\033[A\033[A\r"); /* above quit */
    await("breakpoint 1: twist.cl, line 21, if l == 6");
    type("run\r");
    await("breakpoint 1\r\n");
    await("(vpu) ");
    type("print 1 + 4\003"); /* Ctrl-C drops the line */
    await("^C");
    type("print 2 * l\r");
    await("2 * l = 12");
    ck_assert_ptr_null(strstr(person.out, "1 + 4 = 5"));
    end();
}
END_TEST

/* A kernel that runs on is stopped, and the session goes on. */
START_TEST(a_run_is_interrupted)
{
    terminal_text(
        &twist, "twist.cl",
        "__kernel void twist(__global const half *src,\n"
        "                    __global half *dst, float bias)\n"
        "{\n"
        "    volatile int go = get_global_id(0) + get_global_id(1) == 0;\n"
        "    while (go)\n"
        "        dst[0] = dst[0] + 1;\n"
        "    dst[1] = bias;\n"
        "}\n");
    begin("xterm");
    type("continue\r");
    await("\n");
    usleep(300000);
    type("\003");
    await("interrupted");
    await("(vpu) ");
    type("set var go = 0\r");
    await("go = 0");
    type("continue\r");
    await("(vpu) ");
    end();
}
END_TEST

/* A terminal that can do nothing is enough. */
START_TEST(a_simple_terminal)
{
    begin("dumb");
    type("print 6 * 7\r");
    await("6 * 7 = 42");
    end();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("debug typing");
    TCase *c = tcase_create("typing");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, twist_open, twist_close);
    tcase_add_test(c, words_are_completed);
    tcase_add_test(c, lines_come_back);
    tcase_add_test(c, a_run_is_interrupted);
    tcase_add_test(c, a_simple_terminal);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
