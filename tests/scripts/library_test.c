/* libvpusim as `make install` leaves it: what lies where, what its header and
 * its symbols are, and that every example compiles against it and runs. */
#include <check.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/arena.h"
#include "base/file.h"
#include "tests/kernels/program.h"

static arena *mem;
static char *root, *dir;
static glob_t examples;

/* Both streams of a shell command, which must succeed. */
static char *shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static char *shell(const char *fmt, ...)
{
    char *out = arena_push(mem, 1 << 16, 1, 1), *line;
    va_list ap;
    FILE *f;
    int st;

    va_start(ap, fmt);
    line = arena_vprintf(mem, fmt, ap);
    va_end(ap);
    f = popen(arena_printf(mem, "{ %s ; } 2>&1", line), "r");
    ck_assert_ptr_nonnull(f);
    out[fread(out, 1, (1 << 16) - 1, f)] = 0;
    st = pclose(f);
    ck_assert_msg(st == 0, "%s: %s", line, out);
    return out;
}

/* Once for all tests of this program: a tree that make install has filled. */
static void install(void)
{
    mem = arena_create(0);
    root = realpath(".", NULL);
    dir = program_temp_dir(mem);
    shell(
        "make -s install DESTDIR=%s/root PREFIX=/usr UDEVDIR=/etc/udev/rules.d",
        dir);
    setenv("PKG_CONFIG_PATH",
           arena_printf(mem, "%s/root/usr/lib/pkgconfig", dir), 1);
    setenv("PKG_CONFIG_SYSROOT_DIR", arena_printf(mem, "%s/root", dir), 1);
    setenv("LD_LIBRARY_PATH", arena_printf(mem, "%s/root/usr/lib", dir), 1);
    setenv("PATH", arena_printf(mem, "%s/root/usr/bin:%s", dir, getenv("PATH")),
           1);
}

static void uninstall(void)
{
    program_remove_dir(dir);
    free(root);
    arena_destroy(mem);
}

/* --- what lies where ------------------------------------------------------ */

START_TEST(nothing_outside_the_prefix)
{
    ck_assert_str_eq(
        shell("cd %s/root && find . ! -type d ! -path './usr/*' | sort", dir),
        "./etc/OpenCL/vendors/vpusim.icd\n"
        "./etc/udev/rules.d/70-vpusim.rules\n");
}
END_TEST

START_TEST(everything_goes_again)
{
    shell("cp -r %s/root %s/copy", dir, dir);
    shell("make -s uninstall DESTDIR=%s/copy PREFIX=/usr "
          "UDEVDIR=/etc/udev/rules.d",
          dir);
    ck_assert_str_eq(shell("cd %s/copy && find . ! -type d", dir), "");
}
END_TEST

START_TEST(editors_find_the_header_of_kernels)
{
    shell("cd %s && vpu init layer && grep -qx -- "
          "-I$(realpath root/usr/include) layer/compile_flags.txt && vpu suite "
          "layer && ls root/usr/share/doc/vpusim/ci/github.yml",
          dir);
}
END_TEST

START_TEST(pkg_config_names_the_library_alone)
{
    char *flags = shell("pkg-config --cflags --libs vpusim");

    ck_assert_ptr_nonnull(strstr(flags, "-lvpusim"));
    ck_assert_ptr_null(strstr(flags, "LLVM"));
    ck_assert_str_eq(
        shell("pkg-config --print-requires --print-requires-private "
              "vpusim"),
        "");
    ck_assert_str_eq(shell("pkg-config --modversion vpusim"),
                     shell("cat VERSION"));
}
END_TEST

/* --- header and symbols --------------------------------------------------- */

/* The functions that the header exports, one a line, sorted. */
static const char functions[] =
    "tr '\\n' ' ' < include/vpusim/vpu.h | "
    "grep -o 'VPU_EXPORT [a-z][^;(]*(' | "
    "sed 's/.*[ *]\\(vpu_[a-z_0-9]*\\)($/\\1/' | sort";

START_TEST(symbols_are_those_of_the_header)
{
    ck_assert_str_eq(
        shell("nm -D --defined-only %s/root/usr/lib/libvpusim.so.0 | "
              "awk '$2 != \"A\" { sub(/@.*/, \"\", $3); print $3 }' | "
              "grep -v '^vpusim_icd_core$' | sort", /* the driver's */
              dir),
        shell("%s", functions));
    ck_assert_ptr_nonnull(
        strstr(shell("objdump -p %s/root/usr/lib/libvpusim.so", dir),
               "libvpusim.so.0"));
}
END_TEST

START_TEST(header_in_every_language)
{
    static const char *const languages[] = {"-x c -std=c99", "-x c -std=c11",
                                            "-x c++ -std=c++17"};

    for (int i = 0; i < 3; i++)
        shell("echo '#include <vpusim/vpu.h>' | cc %s -Wall -Wextra -pedantic "
              "-Werror -fsyntax-only $(pkg-config --cflags vpusim) -",
              languages[i]);
}
END_TEST

START_TEST(functions_are_tested)
{
    char *list = shell("%s", functions);

    for (char *f = strtok(list, "\n"); f; f = strtok(NULL, "\n"))
        ck_assert_msg(
            !system(arena_printf(mem, "grep -qw %s tests/runtime/api/*.c", f)),
            "no test calls %s", f);
}
END_TEST

/* Comments, and tests of each error that they promise. */
START_TEST(errors_of_the_header_are_tested)
{
    ck_assert_str_eq(shell("scripts/check-errors"), "");
}
END_TEST

static const struct {
    const char *change, *words; /* of the header, by sed; what is found then */
} faults[] = {
    {"s/^ \\* VPU_ERR_PARSE  *not a trace/&, VPU_ERR_FAULT  odd/",
     "a row inside of a paragraph: VPU_ERR_PARSE    not a trace, VPU_ERR"},
    {"s/^ \\* VPU_ERR_LIMIT  *larger/ * VPU_ERR_FAULT  larger/",
     "vpu_graph_load: no test expects VPU_ERR_FAULT"},
    {"/^VPU_EXPORT void vpu_instances_free/i\\\n",
     "vpu_instances_free has no comment"},
};
enum { N_FAULTS = sizeof faults / sizeof *faults };

START_TEST(faults_of_the_header_are_found)
{
    const char *found;

    shell("rm -rf %s/tree && mkdir -p %s/tree/include %s/tree/tests/runtime && "
          "cp -r include/vpusim %s/tree/include && "
          "cp -r tests/runtime/api %s/tree/tests/runtime && "
          "sed -i '%s' %s/tree/include/vpusim/vpu.h",
          dir, dir, dir, dir, dir, faults[_i].change, dir);
    found = shell("cd %s/tree && ! %s/scripts/check-errors", dir, root);
    ck_assert_msg(strstr(found, faults[_i].words), "%s", found);
    ck_assert_msg(strchr(found, '\n')[1] == 0, "more than that: %s", found);
}
END_TEST

/* --- examples ------------------------------------------------------------- */

START_TEST(examples_run)
{
    const char *path = examples.gl_pathv[_i];
    const char *name = strrchr(path, '/') + 1;

    shell("mkdir -p %s/examples && cp examples/* %s/examples", dir, dir);
    shell("cd %s/examples && cc -std=c11 -Wall -Wextra -Werror %s "
          "$(pkg-config --cflags --libs vpusim) -lm -lpthread -o run-%d && "
          "./run-%d",
          dir, name, _i, _i);
    ck_assert_int_lt(atoi(shell("wc -l < %s", path)), 60);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("installed");
    Suite *suite = suite_create("the library as it is installed");
    SRunner *runner = srunner_create(suite);
    int failed;

    const char *build = getenv("VPU_BUILD");

    /* What is installed is the release. */
    if (build && !strstr(build, "/release")) {
        puts("skipped 1: the installed library is one of CONF=release");
        puts("100%: Checks: 0, Failures: 0, Errors: 0");
        return EXIT_SUCCESS;
    }
    glob("examples/*.c", 0, NULL, &examples);
    tcase_set_timeout(t, 120);
    tcase_add_unchecked_fixture(t, install, uninstall);
    tcase_add_test(t, nothing_outside_the_prefix);
    tcase_add_test(t, everything_goes_again);
    tcase_add_test(t, editors_find_the_header_of_kernels);
    tcase_add_test(t, pkg_config_names_the_library_alone);
    tcase_add_test(t, symbols_are_those_of_the_header);
    tcase_add_test(t, header_in_every_language);
    tcase_add_test(t, functions_are_tested);
    tcase_add_test(t, errors_of_the_header_are_tested);
    tcase_add_loop_test(t, faults_of_the_header_are_found, 0, N_FAULTS);
    tcase_add_loop_test(t, examples_run, 0, (int)examples.gl_pathc);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    globfree(&examples);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
