/* Words from outside that mean something to others: control characters to a
 * terminal, names and variables to clang. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* --- control characters -------------------------------------------------- */

/* Sets a title and clears the screen, on a terminal. */
static const char evil_cl[] =
    "__kernel void add(__global const half *src, __global half *dst,\n"
    "                  float bias)\n{\n"
    "    if (get_global_id(0) + get_global_id(1) + get_global_id(2) == 0)\n"
    "        printf(\"\\033]0;evil\\007\\033[2J \\302\\233m "
    "caf\\303\\251\\n\");\n"
    "    dst[0] = src[0]; /* \033[31m */\n}\n";

/* What the other end of a terminal gets of the program's output. */
static const char *on_terminal(const char *args)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    char *text = arena_array(p.arena, char, 1 << 16);
    size_t at = 0;
    ssize_t n;

    ck_assert_int_ge(master, 0);
    ck_assert(!grantpt(master) && !unlockpt(master));
    p.out_fd = open(ptsname(master), O_RDWR | O_NOCTTY);
    ck_assert_int_ge(p.out_fd, 0);
    terminal_run(&p, args);
    while ((n = read(master, text + at, (1 << 16) - 1 - at)) > 0)
        at += (size_t)n;
    ck_assert_uint_gt(at, 0);
    close(p.out_fd);
    close(master);
    p.out_fd = 0;
    return text;
}

START_TEST(printed_control_characters)
{
    const char *text;

    terminal_text(&p, "add.cl", evil_cl);
    terminal_run(&p, ADD_RUN);
    terminal_expect(&p, 0, "\033]0;evil\007\033[2J \302\233m caf\303\251\n");
    text = on_terminal(ADD_RUN);
    ck_assert_msg(!strchr(text, '\033') && !strchr(text, '\007') &&
                      strstr(text, "\\x1b]0;evil\\x07\\x1b[2J \\xc2\\x9bm "
                                   "caf\303\251"),
                  "%s", text);
    text = on_terminal("asm add.cl --source --variant scalar");
    ck_assert_msg(!strchr(text, '\033') && strstr(text, "/* \\x1b[31m */"),
                  "%.2000s", text);
}
END_TEST

/* Piped or not: they go where people look. */
START_TEST(messages_show_control_characters)
{
    static const char *const commands[] = {
        "lint layer.xml --shape in0=1x2x4x16 --param bias=1",
        "run layer.xml --shape in0=1\033[2J", "run \033[2J"};
    static const char *const texts[] = {
        "__kernel void add(__global const half *src, __global half *dst,\n"
        "float bias) { dst[0] = 1; } /* \033[2J */\n",
        evil_cl, evil_cl};

    terminal_text(&p, "add.cl", texts[_i]);
    terminal_run(&p, commands[_i]);
    ck_assert_msg(!strchr(p.out, '\033') && !strchr(p.err, '\033'), "%s%s",
                  p.out, p.err);
}
END_TEST

START_TEST(clang_shows_control_characters)
{
    terminal_text(&p, "add.cl", "kernel void add() { /* \033[2J */ wrong; }\n");
    terminal_run(&p, ADD_RUN);
    terminal_expect(&p, 2, "wrong");
    ck_assert_ptr_null(strchr(p.err, '\033'));
}
END_TEST

/* --- children ------------------------------------------------------------ */

/* Names clang would take for options, or for files with options in them. Where
 * clang reads the file k.cl as options, it finds none that it knows. */
static const char *const odd_names[] = {"@k.cl", "-x.cl", "sub/@k.cl",
                                        "@sub/k.cl", "-o.cl"};
static const char *const odd_runs[] = {
    ADD_RUN, "lint layer.xml --shape in0=1x2x4x16 --param bias=1",
    "check layer.xml --shape in0=1x2x4x16 --param bias=1 --order sequential",
    ADD_RUN "--backend opencl"};
enum { N_ODD = sizeof odd_names / sizeof *odd_names };

static void put_odd(const char *name)
{
    static const char *const folders[] = {"sub", "@sub"};

    for (int i = 0; i < 2; i++)
        ck_assert(
            !mkdir(arena_printf(p.arena, "%s/%s", p.dir, folders[i]), 0700));
    terminal_text(&p, "k.cl", "a.cl --no-such-option");
    terminal_text(
        &p, name,
        arena_printf(p.arena, "#include \"beside.h\"\n%s", add_layer_cl));
    terminal_text(&p,
                  strchr(name, '/')
                      ? arena_printf(p.arena, "%.*s/beside.h",
                                     (int)(strchr(name, '/') - name), name)
                      : "beside.h",
                  "#define BESIDE 1\n");
    terminal_text(&p, "layer.xml", add_layer_of(&p, name));
}

START_TEST(name_that_looks_like_an_option)
{
    put_odd(odd_names[_i]);
    for (size_t k = 0; k < sizeof odd_runs / sizeof *odd_runs; k++) {
        terminal_run(&p, odd_runs[k]);
        ck_assert_msg(p.status < 2, "%s: %s: %d\n%s%s", odd_names[_i],
                      odd_runs[k], p.status, p.err, p.out);
    }
}
END_TEST

START_TEST(message_names_the_file_as_given)
{
    put_odd(odd_names[_i]);
    terminal_text(&p, odd_names[_i], "\n\nkernel void add() { nonsense; }\n");
    terminal_run(&p, ADD_RUN);
    terminal_expect(&p, 2,
                    arena_printf(p.arena, "%s:3:21: error: ", odd_names[_i]));
}
END_TEST

static const char *const variables[][2] = {
    {"CCC_OVERRIDE_OPTIONS", "# +-Dbias=nothing"},
    {"CPATH", "."},
    {"DEPENDENCIES_OUTPUT", "written"},
    {"CLANG_CONFIG_FILE_USER_DIR", "."}};
enum { N_VARIABLES = sizeof variables / sizeof *variables };

START_TEST(environment_does_not_reach_clang)
{
    terminal_text(&p, "inside.h", "#define bias nothing\n");
    terminal_text(&p, "clang.cfg", "-Dbias=nothing\n");
    terminal_text(&p, "add.cl",
                  arena_printf(p.arena,
                               "#if __has_include(<inside.h>)\n"
                               "#include <inside.h>\n#endif\n%s",
                               add_layer_cl));
    setenv(variables[_i][0], variables[_i][1], 1);
    terminal_run(&p, ADD_RUN);
    unsetenv(variables[_i][0]);
    terminal_expect(&p, 0, "");
    ck_assert(!terminal_has(&p, "written"));
}
END_TEST

/* --- colours ------------------------------------------------------------- */

static const struct {
    const char *term, *none;
    bool coloured;
} wishes[] = {{"xterm", NULL, true},
              {"xterm", "", true},
              {"xterm", "1", false},
              {"dumb", NULL, false}};

/* Words in colours, unless the user or the terminal does not want them; a pipe
 * never gets them. */
#define CHECK "check layer.xml --shape in0=1x2x4x16 --param bias=1"

START_TEST(coloured_words)
{
    const char *text;

    terminal_text(&p, "add.cl",
                  "__kernel void add(__global const half *src, __global half "
                  "*dst,\n    float bias)\n{\n"
                  "    dst[get_global_id(0)] = src[9999];\n}\n");
    setenv("TERM", wishes[_i].term, 1);
    if (wishes[_i].none)
        setenv("NO_COLOR", wishes[_i].none, 1);
    else
        unsetenv("NO_COLOR");
    text = on_terminal(CHECK);
    ck_assert_msg(!strstr(text, ": \033[1;31merror:\033[0m ") ==
                      !wishes[_i].coloured,
                  "%s", text);
    ck_assert_msg(!strchr(text, '\033') == !wishes[_i].coloured, "%s", text);
    terminal_run(&p, CHECK);
    ck_assert_ptr_nonnull(strstr(p.out, ": error: "));
    ck_assert_ptr_null(strchr(p.out, '\033'));
}
END_TEST

/* --- short help ---------------------------------------------------------- */

static const char *const with_options[] = {
    "run",  "diff", "record", "check", "lint",  "debug", "cc",
    "view", "asm",  "blob",   "stick", "reset", "trace", "machine"};

static bool is_named(const char *text, const char *name, size_t n)
{
    for (const char *at = text; (at = strstr(at, name)) != NULL; at++)
        if (!at[n] || strchr(" \n[=", at[n]))
            return true;
    return false;
}

/* -h has the options of --help, all of them, in lines of 80 columns. */
START_TEST(short_help)
{
    const char *command = with_options[_i], *full, *line;

    terminal_run(&p, arena_printf(p.arena, "%s --help", command));
    terminal_expect(&p, 0, "");
    full = arena_strdup(p.arena, p.out);
    terminal_run(&p, arena_printf(p.arena, "%s -h", command));
    terminal_expect(&p, 0, "");
    ck_assert_ptr_nonnull(
        strstr(p.out, arena_printf(p.arena, "vpu %s --help says", command)));
    ck_assert_uint_le(strlen(p.out), strlen(full));
    for (line = full; (line = strstr(line, "\n  --")) != NULL;) {
        size_t n = strcspn(line += 3, " \n[=");
        const char *name = arena_strndup(p.arena, line, n);

        ck_assert_msg(is_named(p.out, name, n), "%s: no %s in\n%s", command,
                      name, p.out);
    }
    for (line = p.out; *line; line += strcspn(line, "\n") + 1)
        ck_assert_uint_le(strcspn(line, "\n"), 80);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("words");
    TCase *c = tcase_create("words");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, printed_control_characters);
    tcase_add_loop_test(c, messages_show_control_characters, 0, 3);
    tcase_add_test(c, clang_shows_control_characters);
    tcase_add_loop_test(c, name_that_looks_like_an_option, 0, N_ODD);
    tcase_add_loop_test(c, message_names_the_file_as_given, 0, N_ODD);
    tcase_add_loop_test(c, environment_does_not_reach_clang, 0, N_VARIABLES);
    tcase_add_loop_test(c, coloured_words, 0, sizeof wishes / sizeof *wishes);
    tcase_add_loop_test(c, short_help, 0,
                        sizeof with_options / sizeof *with_options);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
