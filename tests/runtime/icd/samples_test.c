/* Every sample of kernels/ as the launches of a host program: the bytes and the
 * cycles of vpu run; and each launch, written as a file, once more by itself.
 * The host is vpu's backend opencl, which is one like any other. */
#include <check.h>
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "runtime/graph/npy.h"
#include "tests/kernels/program.h"

static glob_t cases;
static arena *a;
static char *dir;
static const char *vpu;

static void setup(void)
{
    a = arena_create(0);
    dir = program_temp_dir(a);
    vpu = realpath(getenv("VPU") ? getenv("VPU") : "build/vpu", NULL);
    ck_assert_ptr_nonnull(vpu);
}

static void teardown(void)
{
    program_remove_dir(dir);
    arena_destroy(a);
}

/* Its words for vpu run: without what it is compared with. */
static const char *words_of(const char *path)
{
    static const char *const of_diff[] = {"#", "--b ", "--tolerance "};
    str s = {.arena = a};
    size_t n;
    char *text, *line;

    ck_assert(!file_read(path, 1 << 16, a, &text, &n, NULL));
    while ((line = strsep(&text, "\n"))) {
        bool left = !*line;

        for (size_t i = 0; i < 3; i++)
            left |= !strncmp(line, of_diff[i], strlen(of_diff[i]));
        if (!left)
            str_printf(&s, " %s", line);
    }
    return str_text(&s);
}

/* In the case's folder; standard error goes to `said`. */
static void run(const char *path, const char *command)
{
    const char *whole = arena_printf(a, "cd %s && %s 2>%s/said",
                                     file_dirname(a, path), command, dir);
    size_t n;

    ck_assert_msg(!system(whole), "%s: %s", command,
                  program_file(a, dir, "said", &n));
}

static json_t *report(const char *folder)
{
    size_t n;
    json_t *j = json_loads(
        program_file(a, file_join(a, dir, folder), "report.json", &n), 0, NULL);

    ck_assert_ptr_nonnull(j);
    return j;
}

/* SHAVEs that all launches may use, as its binding says. */
static unsigned shaves_of(const json_t *r)
{
    const json_t *stages = json_object_get(r, "stages");

    return (unsigned)json_integer_value(
        json_object_get(json_array_get(stages, 0), "shaves"));
}

static void same_cycles(const char *path, const json_t *r)
{
    const json_t *stages = json_object_get(r, "stages");
    size_t n, i = 0;
    char *text = program_file(a, dir, "launches", &n), *line;

    while ((line = strsep(&text, "\n")) && *line) {
        json_t *j = json_loads(line, 0, NULL);
        json_int_t got = json_integer_value(json_object_get(j, "cycles"));
        json_int_t want = json_integer_value(
            json_object_get(json_array_get(stages, i), "cycles"));

        ck_assert_msg(got == want, "%s: launch %zu: %lld cycles, not %lld",
                      path, i, (long long)got, (long long)want);
        i++;
        json_decref(j);
    }
    ck_assert_uint_eq(i, json_array_size(stages));
}

static void same_bytes(const char *path)
{
    for (int i = 0; i < 4; i++) {
        const char *name = arena_printf(a, "out%d.npy", i);
        const char *own = file_join(a, file_join(a, dir, "run"), name);
        size_t n, m;
        char *x, *y;

        if (!file_exists(own))
            break;
        x = program_file(a, file_join(a, dir, "run"), name, &n);
        y = program_file(a, file_join(a, dir, "host"), name, &m);
        ck_assert_msg(n == m && !memcmp(x, y, n), "%s: %s differs", path, name);
    }
}

/* The launches by themselves: as many cycles, and the last one writes the
 * sample's first output. */
static void dumped_alike(const char *path, const json_t *r)
{
    const json_t *stages = json_object_get(r, "stages");
    size_t n = json_array_size(stages);
    tensor want, got;

    for (size_t i = 0; i < n; i++) {
        json_t *one;

        run(path, arena_printf(a,
                               "%s run %s/dump/%04zu-*.vpugraph --output "
                               "%s/again%zu >/dev/null",
                               vpu, dir, i + 1, dir, i));
        one = report(arena_printf(a, "again%zu", i));
        ck_assert_msg(json_integer_value(json_object_get(one, "cycles")) ==
                          json_integer_value(json_object_get(
                              json_array_get(stages, i), "cycles")),
                      "%s: launch %zu by itself", path, i);
        if (i + 1 == n) {
            glob_t out;

            ck_assert(!glob(arena_printf(a, "%s/again%zu/*.npy", dir, i), 0,
                            NULL, &out));
            ck_assert(!npy_read(out.gl_pathv[0], a, &got, NULL));
            ck_assert(!npy_read(arena_printf(a, "%s/run/out0.npy", dir), a,
                                &want, NULL));
            ck_assert_msg(
                out.gl_pathc > 1 ||
                    (tensor_bytes(&got.desc) == tensor_bytes(&want.desc) &&
                     !memcmp(got.data, want.data, tensor_bytes(&want.desc))),
                "%s: the last launch by itself writes other bytes", path);
            globfree(&out);
        }
        json_decref(one);
    }
}

START_TEST(as_in_a_host)
{
    const char *path = cases.gl_pathv[_i], *words = words_of(path);
    json_t *r;

    run(path, arena_printf(a, "%s run%s --quiet --output %s/run >/dev/null",
                           vpu, words, dir));
    r = report("run");
    run(path, arena_printf(a,
                           "%s cl --shaves %u --launches %s/launches --dump "
                           "%s/dump %s run%s --quiet --backend opencl --output "
                           "%s/host >/dev/null",
                           vpu, shaves_of(r), dir, dir, vpu, words, dir));
    same_cycles(path, r);
    same_bytes(path);
    dumped_alike(path, r);
    json_decref(r);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *s = suite_create("samples in OpenCL programs");
    TCase *t = tcase_create("samples");
    SRunner *r;
    int failed;

    glob(argc > 1 ? argv[1] : "kernels/*/*-opencl.case", 0, NULL, &cases);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, as_in_a_host, 0, (int)cases.gl_pathc);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed =
        srunner_ntests_failed(r) || (argc == 1 && srunner_ntests_run(r) < 50);
    srunner_free(r);
    globfree(&cases);
    return failed;
}
