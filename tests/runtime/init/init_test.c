/* vpu init as a user runs it: each kind of layer passes its case and the
 * checkers as it is written, its reference can fail, and a name or a place that
 * will not do leaves nothing behind. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/terminal.h"

static terminal p;
static char *vpu; /* the program under test, absolute */

static void setup(void)
{
    const char *path = getenv("VPU");

    vpu = realpath(path ? path : "build/vpu", NULL);
    ck_assert_ptr_nonnull(vpu);
    terminal_open(&p);
}

static void teardown(void)
{
    terminal_close(&p);
    free(vpu);
}

/* A shell command in a folder below the terminal's; what it printed. */
static const char *shell(const char *command, int *status)
{
    char *line =
        arena_printf(p.arena, "cd %s && { %s ; } 2>&1", p.dir, command);
    char *out = arena_push(p.arena, 1 << 14, 1, 1);
    FILE *f = popen(line, "r");
    int st;

    ck_assert_ptr_nonnull(f);
    out[fread(out, 1, (1 << 14) - 1, f)] = 0;
    st = pclose(f);
    *status = WIFEXITED(st) ? WEXITSTATUS(st) : 255;
    return out;
}

static void shell_is(const char *command, int expected, const char *words)
{
    int status;
    const char *out = shell(command, &status);

    ck_assert_msg(status == expected && strstr(out, words),
                  "%s\nstatus %d, expected %d and \"%s\":\n%s", command, status,
                  expected, words, out);
}

static const char *text_of(const char *name)
{
    size_t n;

    return terminal_bytes(&p, name, &n);
}

static void is_empty(void)
{
    ck_assert_str_eq(terminal_files(&p, ""), "");
}

/* --- every kind ----------------------------------------------------------- */

/* A change of the kernel that changes what it computes, as words of sed. */
static const struct {
    const char *name, *options, *mistake;
} kinds[] = {
    {"leaky", "", "s/v < 0/v <= 1/"},
    {"l2_dma", " --dma", "s/v < 0/v <= 1/"},
    {"Peaks", " --two-stage", "s/ + eps;/ - eps;/"},
    {"both_of_them", " --dma --two-stage", "s/ + eps;/ - eps;/"},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static void make(int i)
{
    terminal_run(&p, arena_printf(p.arena, "init %s%s", kinds[i].name,
                                  kinds[i].options));
    terminal_expect(&p, 0, "vpu suite .");
    ck_assert_str_eq(p.err, "");
}

/* What it prints are commands: they are run as they are. */
START_TEST(what_is_written_passes)
{
    const char *name = kinds[_i].name;
    unsigned n = 0;

    make(_i);
    shell_is(arena_printf(p.arena, "mkdir bin && ln -s %s bin/vpu", vpu), 0,
             "");
    for (const char *at = p.out; (at = strstr(at, "  vpu ")); n++) {
        size_t length = strcspn(at, "\n");

        shell_is(arena_printf(p.arena, "cd %s && PATH=../bin:$PATH && %.*s",
                              name, (int)length, at),
                 0,
                 n == 0   ? "1 equal, 0 different, 0 failed"
                 : n == 1 ? "cycles"
                          : "no findings");
        at += length;
    }
    ck_assert_uint_eq(n, 4);
}
END_TEST

START_TEST(the_files_are_these)
{
    const char *name = kinds[_i].name;
    static const char *const files[] = {"/.clangd",        "/.gitignore",
                                        "/README.md",      "/compile_flags.txt",
                                        "/golden/in0.npy", "/golden/out0.npy",
                                        "/layer.xml",      "/reference.py"};

    make(_i);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        ck_assert_msg(
            terminal_has(&p, arena_printf(p.arena, "%s%s", name, files[i])),
            "%s", files[i]);
    ck_assert(terminal_has(&p, arena_printf(p.arena, "%s/%s.cl", name, name)));
    ck_assert(
        terminal_has(&p, arena_printf(p.arena, "%s/%s.case", name, name)));
    ck_assert_ptr_nonnull(
        strstr(p.out, arena_printf(p.arena, "%s: 10 files", name)));
    shell_is("find . -type f ! -path './tmp/*' ! -name '.out' ! -name '.err' "
             "| wc -l",
             0, "10\n");
    /* No word of a template is left. */
    shell_is("grep -rn '@' --include='*' . --exclude=*.npy", 1, "");
    /* Others may read it, as far as the user lets them. */
    shell_is(arena_printf(p.arena,
                          "mkdir dir; touch file; stat -c %%a dir file >is; "
                          "stat -c %%a %s %s/layer.xml | diff is -",
                          name, name),
             0, "");
}
END_TEST

START_TEST(the_reference_can_fail)
{
    const char *name = kinds[_i].name;
    const char *suite = arena_printf(p.arena, "%s suite %s", vpu, name);

    make(_i);
    shell_is(arena_printf(p.arena,
                          "cp %s/%s.cl . && sed -i '%s' %s/%s.cl && ! cmp "
                          "-s %s.cl %s/%s.cl",
                          name, name, kinds[_i].mistake, name, name, name, name,
                          name),
             0, "");
    shell_is(suite, 1, "0 equal, 1 different, 0 failed");
    shell_is(arena_printf(p.arena, "mv %s.cl %s/%s.cl", name, name, name), 0,
             "");
    /* The budget is a tenth above what the kernel takes: four fifths of it are
     * too few. */
    shell_is(
        arena_printf(p.arena,
                     "n=$(sed -n 's/--cycle-budget //p' %s/%s.case) && sed "
                     "-i s/$n/$((n * 4 / 5))/ %s/%s.case && %s",
                     name, name, name, name, suite),
        1, "0 equal, 0 different, 1 slower, 0 failed");
}
END_TEST

START_TEST(the_reference_makes_the_golden_files)
{
    const char *name = kinds[_i].name;
    int status;
    const char *python = "python3";

    make(_i);
    shell("python3 -c 'import numpy'", &status);
    if (status)
        python = "/usr/bin/python3"; /* the system's has Debian's NumPy */
    shell_is(arena_printf(p.arena,
                          "cp -r %s/golden . && rm -r %s/golden && %s "
                          "%s/reference.py && diff -r golden %s/golden",
                          name, name, python, name, name),
             0, "");
}
END_TEST

/* --- places --------------------------------------------------------------- */

START_TEST(a_second_run_is_refused)
{
    const char *before;

    make(0);
    before = terminal_files(&p, "");
    terminal_text(&p, "leaky/leaky.cl", "mine\n");
    terminal_run(&p, "init leaky --dma");
    terminal_expect(&p, 2, "leaky is there already, and is no empty folder");
    ck_assert_str_eq(terminal_files(&p, ""), before);
    ck_assert_str_eq(text_of("leaky/leaky.cl"), "mine\n");
}
END_TEST

START_TEST(what_else_is_in_the_way)
{
    int status;

    shell("touch file; ln -s nowhere link; mkdir hidden empty; touch hidden/.x",
          &status);
    terminal_run(&p, "init file");
    terminal_expect(&p, 2, "file is there already");
    terminal_run(&p, "init link");
    terminal_expect(&p, 2, "link is there already");
    terminal_run(&p, "init hidden");
    terminal_expect(&p, 2, "hidden is there already");
    terminal_run(&p, "init empty");
    terminal_expect(&p, 0, "cd empty");
    shell_is("ls -A . hidden; readlink link", 0, "nowhere");
    shell_is("ls -d ./*.??????", 2, "");
}
END_TEST

/* Half-way: no room for a file of golden/. And no place at all. */
START_TEST(nothing_is_left_of_a_failure)
{
    shell_is(arena_printf(p.arena, "ulimit -f 4; %s init broken", vpu), 2,
             "golden/");
    is_empty();
    shell_is(arena_printf(p.arena, "cd /proc && %s init broken", vpu), 2,
             "broken");
    is_empty();
}
END_TEST

/* --- names ---------------------------------------------------------------- */

static const struct {
    const char *word, *message;
} bad_names[] = {
    {"''", "is empty"},
    {"1x", "'1x', has '1' at place 1"},
    {"_x", "'_x', has '_' at place 1"},
    {"a-b", "'a-b', has '-' at place 2"},
    {"a/b", "'a/b', has '/' at place 2"},
    {"../x", "has '.' at place 1"},
    {".", "has '.' at place 1"},
    {"'a b'", "has ' ' at place 2"},
    {"'a@NAME@'", "has '@' at place 2"},
    {"größe", "has byte 0xc3 at place 3"},
    {"\"$(printf 'a\\033b')\"", "has byte 0x1b at place 2"},
    {"a23456789b23456789c23456789d23456789e23456789f234", "has 49 bytes"},
    {"", "no name for the layer"},
    {"a b", "more than one name"},
    {"x --three-stage", "unknown option"},
};
enum { N_BAD_NAMES = sizeof bad_names / sizeof *bad_names };

START_TEST(a_bad_name)
{
    shell_is(arena_printf(p.arena, "%s init %s", vpu, bad_names[_i].word), 2,
             bad_names[_i].message);
    is_empty();
}
END_TEST

/* Of functions of OpenCL, of keywords, and the longest. */
START_TEST(names_that_mean_something)
{
    static const char *const names[] = {
        "exp",    "half", "kernel",
        "native", "min",  "a23456789b23456789c23456789d23456789e23456789f23"};
    const char *name = names[_i];

    shell_is(arena_printf(p.arena, "%s init %s --two-stage && %s suite %s", vpu,
                          name, vpu, name),
             0, "1 equal");
}
END_TEST

/* --- editors -------------------------------------------------------------- */

static void flag_of_editors(const char *flag)
{
    ck_assert_msg(strstr(text_of("x/compile_flags.txt"),
                         arena_printf(p.arena, "\n%s\n", flag)),
                  "no %s in %s", flag, text_of("x/compile_flags.txt"));
}

START_TEST(editors_find_the_header)
{
    char *include = realpath("include", NULL);
    int status;

    terminal_run(&p, "init x");
    flag_of_editors(arena_printf(p.arena, "-I%s", include));
    flag_of_editors("-cl-std=CL1.2");
    /* Installed somewhere, with its header and without. */
    shell(arena_printf(p.arena,
                       "rm -r x; mkdir bin; cp %s bin/vpu; bin/vpu init x",
                       vpu),
          &status);
    ck_assert_int_eq(status, 0);
    flag_of_editors("-Iinclude");
    shell_is(arena_printf(p.arena,
                          "cmp x/include/vpusim/kernel.h %s/vpusim/kernel.h",
                          include),
             0, "");
    shell_is(arena_printf(p.arena,
                          "rm -r x; mkdir -p include/vpusim; cp "
                          "%s/vpusim/kernel.h include/vpusim; cd bin; ./vpu "
                          "init x && mv x ..",
                          include),
             0, "10 files");
    flag_of_editors(
        arena_printf(p.arena, "-I%s/include",
                     realpath(p.dir, arena_push(p.arena, 4096, 1, 1))));
    free(include);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("init");
    TCase *c = tcase_create("init");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 180);
    tcase_add_loop_test(c, what_is_written_passes, 0, N_KINDS);
    tcase_add_loop_test(c, the_files_are_these, 0, N_KINDS);
    tcase_add_loop_test(c, the_reference_can_fail, 0, N_KINDS);
    tcase_add_loop_test(c, the_reference_makes_the_golden_files, 0, N_KINDS);
    tcase_add_test(c, a_second_run_is_refused);
    tcase_add_test(c, what_else_is_in_the_way);
    tcase_add_test(c, nothing_is_left_of_a_failure);
    tcase_add_loop_test(c, a_bad_name, 0, N_BAD_NAMES);
    tcase_add_loop_test(c, names_that_mean_something, 0, 6);
    tcase_add_test(c, editors_find_the_header);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
