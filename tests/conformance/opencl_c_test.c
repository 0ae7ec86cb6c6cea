/* docs/opencl-c.md lists every built-in there is, measured and supported. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"

static const char *const builtins[] = {
#define BUILTIN(name, fn, data, types) #name,
#define FAMILY(name, fn, types) #name,
#include "sim/builtins/builtins.def"
};

static arena *mem;
static char *page;

static void setup(void)
{
    vpu_error err = {0};
    size_t n;

    mem = arena_create(0);
    ck_assert_msg(!file_read("docs/opencl-c.md", 1 << 20, mem, &page, &n, &err),
                  "%s", err.msg);
}

static void teardown(void)
{
    arena_destroy(mem);
}

/* As kernels write it: the prelude has other names for some. */
static const char *user_name(const char *name)
{
    static const char *const renamed[][2] = {
        {"__vpu_async_copy", "async_work_group_copy"},
        {"__vpu_async_strided_copy", "async_work_group_strided_copy"},
        {"__vpu_wait_group_events", "wait_group_events"},
        {"__vpu_prefetch", "prefetch"},
        {"convert_", "convert_half"}};

    for (size_t k = 0; k < sizeof renamed / sizeof *renamed; k++)
        if (!strcmp(name, renamed[k][0]))
            return renamed[k][1];
    return name;
}

START_TEST(all_are_listed)
{
    for (size_t k = 0; k < sizeof builtins / sizeof *builtins; k++) {
        const char *name = user_name(builtins[k]);
        const char *row = arena_printf(mem, "\n| `%s` |", name);

        ck_assert_msg(strstr(page, row),
                      "%s has no row; add it to "
                      "tests/conformance/opencl_c.def and run make opencl-c",
                      name);
    }
}
END_TEST

/* What is lacking stands there as messages say it. */
START_TEST(all_that_is_lacking_is_listed)
{
    static const struct {
        const char *name, *why, *instead;
    } rows[] = {
#define LACKING(id, name, why, instead) {name, why, instead},
#define SPELT(id, pattern)
#include "sim/builtins/lacking.def"
    };

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const char *row =
            arena_printf(mem, "\n| %s | %s | %s | `", rows[k].name, rows[k].why,
                         rows[k].instead);

        ck_assert_msg(strstr(page, row) != NULL,
                      "%s has no row as it is; run make opencl-c",
                      rows[k].name);
    }
}
END_TEST

START_TEST(all_rows_are_complete)
{
    unsigned n = 0;

    for (const char *s = page; (s = strstr(s, "\n| `")); s++) {
        size_t length = strcspn(s + 1, "\n");

        n++;
        ck_assert_msg(!memmem(s, length, "| ? |", 5) &&
                          !memmem(s, length, "| no:", 5),
                      "%.*s", (int)length, s + 1);
    }
    ck_assert_uint_gt(n, sizeof builtins / sizeof *builtins);
}
END_TEST

/* Pieces from each of its sources. */
START_TEST(errors_are_there)
{
    ck_assert_ptr_nonnull(strstr(page, "| `exp` | half, float | yes | 0.50 |"));
    ck_assert_ptr_nonnull(strstr(page, "## Not supported, and why"));
    ck_assert_ptr_nonnull(strstr(page, "\n## Operations\n"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("conformance list");
    TCase *c = tcase_create("docs/opencl-c.md");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, all_are_listed);
    tcase_add_test(c, all_rows_are_complete);
    tcase_add_test(c, all_that_is_lacking_is_listed);
    tcase_add_test(c, errors_are_there);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
