/* The vpu program stopped before its end: by signals, limits and crashes; what
 * it says then and what it leaves behind. */
#include <check.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/add_layer.h"

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

static const char endless_cl[] =
    "__kernel void add(__global const half *src, __global half *dst,\n"
    "                  float bias)\n{\n    while (1) dst[0] += src[0];\n}\n";

/* --- being interrupted --------------------------------------------------- */

START_TEST(interrupted)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    pid_t pid;

    terminal_text(&p, "add.cl", endless_cl);
    pid = terminal_start(&p, ADD_RUN ADD_OUT);
    usleep(700000);
    ck_assert(!kill(pid, signals[_i]));
    terminal_wait(&p, pid);
    ck_assert_int_eq(p.status, 128 + signals[_i]);
    ck_assert_str_eq(p.out, "");
    add_layer_files(&p, "");
}
END_TEST

/* Whatever crashes us, the last line says that it was our mistake. */
START_TEST(crashed)
{
    static const int signals[] = {SIGSEGV, SIGABRT, SIGFPE};
    pid_t pid;

#ifdef __SANITIZE_ADDRESS__
    return; /* it reports crashes itself */
#endif
    terminal_text(&p, "add.cl", endless_cl);
    pid = terminal_start(&p, ADD_RUN ADD_OUT);
    usleep(700000);
    ck_assert(!kill(pid, signals[_i]));
    terminal_wait(&p, pid);
    terminal_expect(&p, 70, "vpu: our own bug: ended by SIG");
    ck_assert_str_eq(p.out, "");
    add_layer_files(&p, "");
}
END_TEST

/* Two work-groups of sixteen never end; the others do, and say so. */
static const char spinning_cl[] =
    "__kernel void add(__global const half *src, __global half *dst,\n"
    "                  float bias)\n{\n"
    "    int n = get_global_id(2) * 4 + get_global_id(1);\n"
    "    while (n % 4 == 1 && get_group_id(0) == 1)\n"
    "        n += 4;\n"
    "    dst[n * 16 + get_global_id(0)] = bias;\n}\n";

/* Line 5 writes far behind the tensor: both engines say so, and where. */
static const char wild_cl[] =
    "__kernel void add(__global const half *src, __global half *dst,\n"
    "                  float bias)\n{\n"
    "    int i = get_global_id(0);\n"
    "    dst[i == 3 ? 1 << 24 : i] = src[i] + (half)bias;\n}\n";

START_TEST(faults_have_lines)
{
    static const char *const how[] = {"", "--engine interpreted",
                                      "--timing none"};
    const char *first = NULL;

    terminal_text(&p, "add.cl", wild_cl);
    for (size_t k = 0; k < sizeof how / sizeof *how; k++) {
        terminal_run(&p, arena_printf(p.arena, ADD_RUN "--quiet %s", how[k]));
        ck_assert_int_eq(p.status, 3);
        ck_assert_msg(strstr(p.err, "add.cl:5:"), "%s: %s", how[k], p.err);
        terminal_expect(&p, 3, "write outside mapped memory");
        ck_assert(!first || !strcmp(first, p.err));
        first = first ? first : arena_strdup(p.arena, p.err);
    }
}
END_TEST

START_TEST(says_who_is_stuck)
{
    static const char *const how[] = {"--max-cycles 50000",
                                      "--max-cycles 50000 --threads 1",
                                      "--max-cycles 50000 --engine interpreted",
                                      "--max-cycles 50000 --timing none"};
    const char *first = NULL;

    /* 2 x 4 x 2 groups, numbers 3 and 11 of them stuck. */
    terminal_text(
        &p, "layer.xml",
        ADD_HEAD ADD_BODY(
            "add.cl", "global=\"X,Y,F\" local=\"8,1,1\"") "</CustomLayer>\n");
    terminal_text(&p, "add.cl", spinning_cl);
    for (size_t k = 0; k < sizeof how / sizeof *how; k++) {
        terminal_run(&p, arena_printf(p.arena, ADD_RUN "--quiet %s", how[k]));
        ck_assert(!strncmp(p.err, "vpu: limit: add.cl:", 19));
        terminal_expect(
            &p, 7, "kernel 'add', work-group (1, 1, 0): over 50000 cycles");
        terminal_expect(
            &p, 7,
            "\n  SHAVE 3: work-group (1, 1, 0), compute phase, executes; "
            "0 of 1 done\n");
        terminal_expect(&p, 7, "\n  SHAVE 11: work-group (1, 1, 1)");
        terminal_expect(&p, 7, "\n  14 SHAVEs: all work-groups done\n");
        terminal_expect(
            &p, 7,
            "\n  work-group (1, 1, 0), run again alone: after 20000000 "
            "cycles in line ");
        terminal_expect(&p, 7, "\n  work-group (1, 1, 1), run again alone: ");
        ck_assert_ptr_null(strstr(p.err, " more SHAVE"));
        ck_assert(!first || !strcmp(first, p.err));
        first = arena_strdup(p.arena, p.err);
    }
}
END_TEST

/* All groups end, but not within the limit: the clock's, not one loop's. */
START_TEST(says_what_the_clock_waits_for)
{
    terminal_run(&p, ADD_RUN "--max-cycles 100");
    terminal_expect(
        &p, 7,
        "vpu: limit: Add: kernel 'add': over 100 cycles on the device's "
        "clock (--max-cycles) after 0 of 8 work-groups\n  SHAVE 0: ");
}
END_TEST

/* Bytes of the temporary beside `name`, 0 when there is none. */
static off_t temporary_bytes(const char *name)
{
    const char *pattern = arena_printf(p.arena, "%s/%s.??????", p.dir, name);
    struct stat sb = {0};
    glob_t g;

    if (!glob(pattern, 0, NULL, &g)) {
        stat(g.gl_pathv[0], &sb);
        globfree(&g);
    }
    return sb.st_size;
}

/* While a trace is being written: what stood under its name stays; what a
 * handled signal ends leaves no temporary either. */
START_TEST(interrupted_writing)
{
    static const int signals[] = {SIGKILL, SIGINT, SIGTERM};
    size_t n;
    pid_t pid;

    terminal_text(&p, "t.pftrace", "old");
    pid = terminal_start(&p, "run layer.xml --shape in0=1x90x1000x16 --param "
                             "bias=1 --trace t.pftrace --trace-json t.json "
                             "--vcd t.vcd");
    for (int i = 0; i < 4000 && temporary_bytes("t.pftrace") < 1 << 16; i++)
        usleep(2000);
    ck_assert_int_ge(temporary_bytes("t.pftrace"), 1 << 16);
    ck_assert(!kill(pid, signals[_i]));
    terminal_wait(&p, pid);
    ck_assert_int_eq(p.status, 128 + signals[_i]);
    ck_assert(!terminal_has(&p, "t.json") && !terminal_has(&p, "t.vcd"));
    ck_assert_mem_eq(terminal_bytes(&p, "t.pftrace", &n), "old", 3);
    ck_assert_uint_eq(n, 3);
    if (signals[_i] != SIGKILL)
        add_layer_files(&p, "t.pftrace\n");
}
END_TEST

/* Long enough to be caught in the middle; until then. */
static pid_t start_compiling(void)
{
    str s = {0};
    pid_t pid;

    str_puts(&s, add_layer_cl);
    for (int i = 0; i < 20000; i++)
        str_printf(&s, "float f%d(float x) { return x * %d + %d; }\n", i, i, i);
    terminal_text(&p, "add.cl", s.data);
    str_free(&s);
    pid = terminal_start(&p, ADD_RUN ADD_OUT);
    for (int i = 0; i < 200 && !*terminal_files(&p, "layer.xml\nadd.cl"); i++)
        usleep(5000);
    usleep(50000);
    return pid;
}

static void no_core_files(void)
{
    const struct rlimit none = {0, 0};

    setrlimit(RLIMIT_CORE, &none);
}

/* Those that end a program. */
static const int ending[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                             SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM,
                             SIGPROF, SIGXCPU, SIGIO,   SIGPWR};
enum { N_ENDING = sizeof ending / sizeof *ending };

START_TEST(interrupted_compilation)
{
    pid_t pid;

    no_core_files();
    pid = start_compiling();
    ck_assert(!kill(pid, ending[_i]));
    terminal_wait(&p, pid);
    ck_assert_int_eq(p.status, 128 + ending[_i]);
    add_layer_files(&p, "");
}
END_TEST

/* Who interrupts a long run learns how far it was. */
START_TEST(an_interrupt_says_how_far_it_was)
{
    static const char *const commands[] = {"run", "check"};
    pid_t pid;
    int done = 0, all = 0;

    terminal_text(&p, "add.cl",
                  "__kernel void add(__global const half *src,\n"
                  "                  __global half *dst, float bias)\n{\n"
                  "    int i = get_global_id(0);\n"
                  "    volatile int sum = 0;\n"
                  "    for (int k = 0; k < 300000; k++)\n"
                  "        sum += k;\n"
                  "    dst[i] = src[i] + (half)bias;\n}\n");
    /* Where the machine has much to do the first group takes its time. */
    for (unsigned wait = 2; !done && wait < 40; wait *= 2) {
        const char *said;

        pid = terminal_start(&p, arena_printf(p.arena,
                                              "%s layer.xml --shape "
                                              "in0=1x64x64x64 --param bias=1 "
                                              "--max-cycles 0 --threads 1",
                                              commands[_i]));
        sleep(wait);
        ck_assert(!kill(pid, SIGINT));
        terminal_wait(&p, pid);
        ck_assert_int_eq(p.status, 128 + SIGINT);
        said = strstr(p.err, "vpu: interrupted: ");
        ck_assert_msg(!said || sscanf(said,
                                      "vpu: interrupted: %d of %d work-groups "
                                      "of Add were done",
                                      &done, &all) == 2,
                      "%s", p.err);
    }
    ck_assert_msg(done > 0 && done < all, "%s", p.err);
}
END_TEST

/* Signals that were ignored when it started, as by nohup, stay ignored. */
START_TEST(ignored_signals_stay_ignored)
{
    pid_t pid;

    signal(ending[_i], SIG_IGN);
    pid = start_compiling();
    ck_assert(!kill(pid, ending[_i]));
    terminal_wait(&p, pid);
    terminal_expect(&p, 0, "layer Add");
}
END_TEST

/* Its name is longer than any buffer one would think of. */
START_TEST(temporaries_in_a_long_folder)
{
    char name[201] = {0}, *folder = arena_strdup(p.arena, "tmp");
    pid_t pid;

    memset(name, 'n', sizeof name - 1);
    for (int i = 0; i < 4; i++) {
        folder = arena_printf(p.arena, "%s/%s", folder, name);
        ck_assert(!mkdir(arena_printf(p.arena, "%s/%s", p.dir, folder), 0700));
    }
    p.tmp = folder;
    if (_i) {
        pid = start_compiling();
        ck_assert(!kill(pid, SIGTERM));
        terminal_wait(&p, pid);
        ck_assert_int_eq(p.status, 128 + SIGTERM);
    } else {
        terminal_run(&p, ADD_RUN);
        terminal_expect(&p, 0, "layer Add");
    }
    add_layer_files(&p, "");
}
END_TEST

/* The compiler is killed, by a memory limit for one. */
START_TEST(killed_compiler)
{
    pid_t pid = start_compiling();

    ck_assert(!system(arena_printf(p.arena, "pkill -KILL -P %d", (int)pid)));
    terminal_wait(&p, pid);
    terminal_expect(&p, 2, "clang failed without a message");
    add_layer_files(&p, "");
}
END_TEST

START_TEST(no_cache_is_no_cache)
{
    static const char *const options[] = {"--cache-size 0", "--no-cache",
                                          "--cache-size 1K"};

    terminal_run(&p, arena_printf(p.arena, "%s%s", ADD_RUN, options[_i]));
    terminal_expect(&p, 0, "layer Add");
    ck_assert(!terminal_has(&p, ".cache"));
    terminal_run(&p, ADD_RUN);
    ck_assert(terminal_has(&p, ".cache/vpusim"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ending");
    TCase *c = tcase_create("ending");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, crashed, 0, 3);
    tcase_add_test(c, faults_have_lines);
    tcase_add_test(c, says_who_is_stuck);
    tcase_add_test(c, says_what_the_clock_waits_for);
    tcase_add_loop_test(c, interrupted, 0, 3);
    tcase_add_loop_test(c, interrupted_writing, 0, 3);
    tcase_add_loop_test(c, interrupted_compilation, 0, N_ENDING);
    tcase_add_loop_test(c, an_interrupt_says_how_far_it_was, 0, 2);
    tcase_add_loop_test(c, ignored_signals_stay_ignored, 0, N_ENDING);
    tcase_add_loop_test(c, temporaries_in_a_long_folder, 0, 2);
    tcase_add_test(c, killed_compiler);
    tcase_add_loop_test(c, no_cache_is_no_cache, 0, 3);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
