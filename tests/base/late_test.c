/* Libraries that the program loads when it needs them: a copy of it asks for
 * names that no machine has. Only what needs them misses them, and says so. */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "tests/support/add_layer.h"

#define ADD_DIFF                                          \
    "diff layer.xml --shape in0=1x2x4x16 --param bias=1 " \
    "--a npy:a --b npy:b "
#define SHORT_RUN "run layer.xml --shape in0=1x1x4x16 --param bias=1 --input "

static terminal p;
static const char *real;

static void setup(void)
{
    terminal_open(&p);
    add_layer_put(&p);
    real = getenv("VPU") ? getenv("VPU") : "build/vpu";
    real = realpath(real, NULL);
    ck_assert(real != NULL);
    ck_assert(!setenv("VPU", real, 1));
}

static void teardown(void)
{
    terminal_close(&p);
}

/* From here on the program is one whose library `name` ends in an X. */
static void without(const char *name)
{
    char *bytes, *at;
    size_t n;
    vpu_error err;
    const char *path = arena_printf(p.arena, "%s/other-vpu", p.dir);
    struct stat sb;
    int found = 0;

    ck_assert_msg(!file_read(real, SIZE_MAX, p.arena, &bytes, &n, &err), "%s",
                  err.msg);
    for (at = bytes;
         (at = memmem(at, n - (size_t)(at - bytes), name, strlen(name)));
         found++)
        at[strlen(name) - 1] = 'X';
    ck_assert_msg(found > 0, "the program has no %s", name);
    terminal_file(&p, "other-vpu", bytes, n);
    ck_assert(!chmod(path, 0700) && !setenv("VPU", path, 1));
    /* The cache of kernels takes it for the same program. */
    ck_assert(!stat(real, &sb) &&
              !utimensat(AT_FDCWD, path,
                         (struct timespec[]){sb.st_mtim, sb.st_mtim}, 0));
}

START_TEST(llvm_is_for_compiling)
{
    without("libLLVM.so.19.1");
    terminal_run(&p, "machine");
    terminal_expect(&p, 0, "");
    terminal_run(&p, ADD_RUN);
    terminal_expect(&p, 5, "libLLVM.so.19.X");
    terminal_expect(&p, 5, "install libllvm19");
    /* What is compiled already runs. */
    ck_assert(!setenv("VPU", real, 1));
    terminal_run(&p, ADD_RUN);
    terminal_expect(&p, 0, "");
    without("libLLVM.so.19.1");
    terminal_run(&p, ADD_RUN "--output out");
    terminal_expect(&p, 0, "");
    ck_assert(terminal_has(&p, "out/out0.npy"));
}
END_TEST

START_TEST(sdl_is_for_pictures)
{
    terminal_run(&p, ADD_RUN "--trace t.pftrace");
    terminal_expect(&p, 0, "");
    without("libSDL2-2.0.so.0");
    terminal_run(&p, ADD_RUN);
    terminal_expect(&p, 0, "");
    terminal_run(&p, "view t.pftrace");
    terminal_expect(&p, 5, "libSDL2-2.0.so.X");
    terminal_expect(&p, 5, "install libsdl2-2.0-0");
}
END_TEST

START_TEST(fonts_are_for_pictures)
{
    terminal_run(&p, ADD_RUN "--trace t.pftrace");
    terminal_expect(&p, 0, "");
    without("libSDL2_ttf-2.0.so.0");
    terminal_run(&p, "view t.pftrace --png t.png");
    terminal_expect(&p, 5, "libSDL2_ttf-2.0.so.X");
    terminal_expect(&p, 5, "install libsdl2-ttf-2.0-0");
    ck_assert(!terminal_has(&p, "t.png"));
}
END_TEST

START_TEST(png_is_for_pictures)
{
    terminal_run(&p, ADD_RUN "--output a");
    terminal_expect(&p, 0, "");
    without("libpng16.so.16");
    terminal_run(&p, "run layer.xml --shape in0=1x2x4x16 --param bias=2 "
                     "--output b");
    terminal_expect(&p, 0, "");
    terminal_run(&p, ADD_DIFF);
    terminal_expect(&p, 1, "");
    terminal_run(&p, ADD_DIFF "--heat-map h.png");
    terminal_expect(&p, 5, "libpng16.so.1X");
    terminal_expect(&p, 5, "install libpng16-16");
    ck_assert(!terminal_has(&p, "h.png"));
}
END_TEST

START_TEST(sqlite_is_for_databases)
{
    terminal_file(&p, "m.manifest", ADD_RUN "\n", sizeof ADD_RUN);
    terminal_run(&p, "sweep run m.manifest --dir d");
    terminal_expect(&p, 0, "");
    without("libsqlite3.so.0");
    terminal_run(&p, "sweep gather d --csv t.csv");
    terminal_expect(&p, 0, "");
    terminal_run(&p, "sweep gather d --sqlite t.sqlite");
    terminal_expect(&p, 5, "libsqlite3.so.X");
    terminal_expect(&p, 5, "install libsqlite3-0");
    ck_assert(!terminal_has(&p, "t.sqlite"));
}
END_TEST

/* Of inputs: pictures and an archive. */
START_TEST(files_are_for_inputs)
{
    static const struct {
        const char *name, *file, *first, *missing, *package;
    } rows[] = {
        {"libturbojpeg.so.0", "x.jpg", "\xff\xd8\xff\xe0", "libturbojpeg.so.X",
         "install libturbojpeg0"},
        {"libzip.so.4", "x.npz", "PK\3\4", "libzip.so.X", "install libzip4"},
        {"libpng16.so.16", "x.png", "\x89PNG\r\n\x1a\n", "libpng16.so.1X",
         "install libpng16-16"}};
    const char *words =
        arena_printf(p.arena, "%s0=%s", SHORT_RUN, rows[_i].file);

    terminal_file(&p, rows[_i].file, rows[_i].first, strlen(rows[_i].first));
    terminal_run(&p, words);
    terminal_expect(&p, 2, "damaged");
    without(rows[_i].name);
    terminal_run(&p, SHORT_RUN "0=ramp");
    terminal_expect(&p, 0, "");
    terminal_run(&p, words);
    terminal_expect(&p, 5, rows[_i].missing);
    terminal_expect(&p, 5, rows[_i].package);
}
END_TEST

int main(void)
{
    SRunner *r;
    Suite *s = suite_create("late");
    TCase *t = tcase_create("late");
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, llvm_is_for_compiling);
    tcase_add_test(t, sdl_is_for_pictures);
    tcase_add_test(t, fonts_are_for_pictures);
    tcase_add_test(t, png_is_for_pictures);
    tcase_add_test(t, sqlite_is_for_databases);
    tcase_add_loop_test(t, files_are_for_inputs, 0, 3);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
