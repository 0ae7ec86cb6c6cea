/* Every fault of faults/ is found at its line, and nothing in its fixed form.
 * With an argument: of the files whose path contains it. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check/fault.h"

static char *files[FAULT_MAX_FILES];
static int n_files;

static FILE *start(const fault *f, const char *dir, bool fixed)
{
    char command[4096];
    FILE *p;

    snprintf(command, sizeof command,
             "%s check %s/layer.xml %s --quiet --json --check %s %s",
             getenv("VPU") ? getenv("VPU") : "build/vpu", dir,
             str_text(&f->args), f->checks.n ? str_text(&f->checks) : "default",
             fixed ? "-DFIXED" : "");
    p = popen(command, "r");
    ck_assert_ptr_nonnull(p);
    return p;
}

static json_t *result(const fault *f, FILE *p)
{
    size_t n, cap = 1 << 20;
    char *out = calloc(1, cap);
    json_t *j;

    n = fread(out, 1, cap - 1, p);
    pclose(p);
    j = json_loads(out, 0, NULL);
    ck_assert_msg(j != NULL, "%s: %zu bytes: %s", f->path, n, out);
    free(out);
    return j;
}

static void check_faulty(fault *f, FILE *p)
{
    json_t *j = result(f, p), *x;
    size_t i;

    json_array_foreach(json_object_get(j, "findings"), i, x)
    {
        const char *check = json_string_value(json_object_get(x, "check"));
        const char *level = json_string_value(json_object_get(x, "level"));
        bool is_note = !strcmp(level, "note");
        const char *file = json_string_value(json_object_get(x, "file"));
        size_t n = strlen(file);
        bool in_kernel = n > 3 && !strcmp(file + n - 3, ".cl");
        unsigned line =
            in_kernel ? (unsigned)json_integer_value(json_object_get(x, "line"))
                      : 0;

        ck_assert_msg(fault_see(f, check, is_note, line),
                      "%s:%u: unexpected %s%s: %s", f->path, line,
                      is_note ? "note:" : "", check,
                      json_string_value(json_object_get(x, "message")));
    }
    for (unsigned k = 0; k < f->n; k++)
        ck_assert_msg(f->want[k].seen, "%s:%u: no %s", f->path, f->want[k].line,
                      f->want[k].checker);
    json_decref(j);
}

static void check_fixed(const fault *f, FILE *p)
{
    json_t *j = result(f, p);
    json_t *list_of = json_object_get(j, "findings"), *x;

    x = json_array_get(list_of, 0);
    ck_assert_msg(json_array_size(list_of) == 0, "%s:%d: fixed, but %s: %s",
                  f->path, (int)json_integer_value(json_object_get(x, "line")),
                  json_string_value(json_object_get(x, "check")),
                  json_string_value(json_object_get(x, "message")));
    json_decref(j);
}

START_TEST(fault_and_twin)
{
    char dir[] = "/tmp/vpu-faults-XXXXXX", path[64];
    FILE *faulty, *fixed = NULL;
    fault f;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    fault_read(files[_i], &f);
    fault_write_layer(&f, dir);
    faulty = start(&f, dir, false);
    if (!f.clean)
        fixed = start(&f, dir, true); /* side by side */
    check_faulty(&f, faulty);
    if (fixed)
        check_fixed(&f, fixed);
    snprintf(path, sizeof path, "%s/layer.xml", dir);
    unlink(path);
    rmdir(dir);
    fault_free(&f);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *s = suite_create("faults");
    TCase *t = tcase_create("table");
    SRunner *r;
    int failed;

    n_files = fault_files(argc > 1 ? argv[1] : "", files);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, fault_and_twin, 0, n_files);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    for (int i = 0; i < n_files; i++)
        free(files[i]);
    return failed != 0;
}
