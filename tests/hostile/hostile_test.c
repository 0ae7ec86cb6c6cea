/* Kernels that mean harm, or stand for those who do not know better: whatever
 * a file of this folder holds, the program ends by itself, with a status it
 * documents, and leaves nothing behind. Each begins with what it tries. Those
 * in bombs/ are small and make the compiler work for very long. */
#include <check.h>
#include <dirent.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "tests/kernels/program.h"

/* Seconds: those a launch may take, and the whole program with compiling, on a
 * machine that is busy or with the sanitizers. */
enum { LIMIT_S = 2, PATIENCE_S = 100 };
enum { LAST_STATUS = 7 };

static glob_t files;

static void write_text(const char *path, const char *text)
{
    vpu_error err;

    ck_assert_msg(!file_write(path, text, strlen(text), &err), "%s", err.msg);
}

/* A layer of the file's kernel k, which takes out alone or n, m and t, too. */
static const char *write_binding(arena *a, const char *dir, const char *source)
{
    const char *path = file_join(a, dir, "layer.xml"), *name;
    size_t n;
    char *text = program_file(a, ".", source, &n);
    bool more = memmem(text, n, "uint m", 6) != NULL;

    name = source + strlen("tests/hostile/");
    write_text(
        path,
        arena_printf(
            a,
            "<CustomLayer name=\"L\" type=\"MVCL\" version=\"1\">"
            "<Kernel entry=\"k\"><Source filename=\"%s\"/><Parameters>"
            "<Tensor arg-name=\"out\" type=\"output\" port-index=\"0\" "
            "format=\"BFYX\"/>%s</Parameters>"
            "<WorkSizes dim=\"input,0\" global=\"4,2,1\" local=\"4,1,1\"/>"
            "</Kernel></CustomLayer>",
            name,
            more ? "<Scalar arg-name=\"n\" type=\"int\" source=\"zero\"/>"
                   "<Scalar arg-name=\"m\" type=\"int\" source=\"ones\"/>"
                   "<Data arg-name=\"t\" type=\"local_data\" dim=\"input,0\" "
                   "size=\"4096\"/>"
                 : ""));
    return path;
}

static unsigned entries_of(const char *dir)
{
    DIR *d = opendir(dir);
    unsigned n = 0;

    ck_assert_ptr_nonnull(d);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

/* All of what a run writes, or nothing. */
static void check_output(arena *a, const char *dir, int status)
{
    bool tensor = !access(file_join(a, dir, "out/out0.npy"), F_OK);
    bool report = !access(file_join(a, dir, "out/report.json"), F_OK);

    ck_assert_msg(tensor == (status == 0) && report == tensor,
                  "status %d: out0.npy %s, report.json %s", status,
                  tensor ? "written" : "not written",
                  report ? "written" : "not written");
}

static void run(const char *source, const char *command, const char *engine)
{
    arena *a = arena_create(0);
    char *dir = program_temp_dir(a);
    const char *temp = file_join(a, dir, "tmp");
    const char *binding = write_binding(a, dir, source);
    bool runs = !strcmp(command, "run");
    double begin = clock_seconds(), took;
    program_args p;
    int status;

    ck_assert_int_eq(mkdir(temp, 0700), 0);
    setenv("TMPDIR", temp, 1);
    program_args_init(&p, a, command, binding, "--source-dir", "tests/hostile",
                      "--shape", "in0=1x1x32x32:i32", "--param", "zero=0",
                      "--param", "ones=-1", "--compile-timeout", "4",
                      "--compile-memory", "1G", NULL);
    if (runs) {
        program_args_add(&p, "--engine");
        program_args_add(&p, "%s", engine);
        program_args_add(&p, "--output");
        program_args_add(&p, "%s/out", dir);
        program_args_add(&p, "--max-cycles");
        program_args_add(&p, "2000000");
        program_args_add(&p, "--no-cache");
    }
    if (strcmp(command, "lint")) {
        program_args_add(&p, "--timeout");
        program_args_add(&p, "%d", LIMIT_S);
    }
    status = program_run(&p, dir);
    took = clock_seconds() - begin;
    if (getenv("VPU_SHOW"))
        printf("%5.1f s status %d %s %s %s\n", took, status, command, engine,
               source);
    ck_assert_msg(status <= LAST_STATUS, "%s: %s %s: status %d", source,
                  command, engine, status);
    ck_assert_msg(took < PATIENCE_S, "%s: %s %s: %g s", source, command, engine,
                  took);
    ck_assert_msg(entries_of(temp) == 0, "%s: %s %s: left in TMPDIR", source,
                  command, engine);
    if (runs)
        check_output(a, dir, status);
    program_remove_dir(dir);
    arena_destroy(a);
}

START_TEST(compiled)
{
    run(files.gl_pathv[_i], "run", "compiled");
}
END_TEST

START_TEST(interpreted)
{
    run(files.gl_pathv[_i], "run", "interpreted");
}
END_TEST

/* Every eighth file: the same compiler is behind these. */
START_TEST(checked)
{
    run(files.gl_pathv[8 * _i], "check", "");
}
END_TEST

START_TEST(linted)
{
    run(files.gl_pathv[8 * _i], "lint", "");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("hostile");
    TCase *c = tcase_create("hostile");
    SRunner *r;
    int failed, n;

    glob("tests/hostile/*.cl", 0, NULL, &files);
    glob("tests/hostile/bombs/*.cl", GLOB_APPEND, NULL, &files);
    n = (int)files.gl_pathc;
    tcase_set_timeout(c, 2 * PATIENCE_S);
    tcase_add_loop_test(c, compiled, 0, n);
    tcase_add_loop_test(c, interpreted, 0, n);
    tcase_add_loop_test(c, checked, 0, n / 8);
    tcase_add_loop_test(c, linted, 0, n / 8);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    globfree(&files);
    return failed != 0;
}
