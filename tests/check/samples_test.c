/* No sample has a finding, in no order: each case of kernels/ that compares
 * with the layer's definition, run by vpu check. */
#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "runtime/suite/case.h"

static suite_case *cases; /* those against a definition first */
static size_t n_cases;

static bool against_definition(const suite_case *c)
{
    static const char tail[] = "-host";
    size_t n = strlen(c->name), m = sizeof tail - 1;

    return n > m && !strcmp(c->name + n - m, tail);
}

/* The words that say which layer with what; vpu diff's own are left out. */
static void put_words(const suite_case *c, str *out)
{
    static const char *const own[] = {"--a", "--b", "--tolerance"};

    for (size_t i = 0; i < c->n_words; i++) {
        bool skip = false;

        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            skip |= !strcmp(c->words[i], own[k]);
        if (skip)
            i++;
        else
            str_printf(out, " '%s'", c->words[i]);
    }
}

START_TEST(sample)
{
    const suite_case *c = &cases[_i];
    char vpu[PATH_MAX], out[2000] = "";
    str command = {0};
    size_t n;
    FILE *p;

    ck_assert_ptr_nonnull(
        realpath(getenv("VPU") ? getenv("VPU") : "build/vpu", vpu));
    str_printf(&command, "cd '%s' && '%s' check --quiet --order all:1", c->dir,
               vpu);
    put_words(c, &command);
    str_puts(&command, " 2>&1");
    p = popen(command.data, "r");
    ck_assert_ptr_nonnull(p);
    n = fread(out, 1, sizeof out - 1, p);
    out[n] = 0;
    ck_assert_msg(pclose(p) == 0, "%s:\n%s", c->path, out);
    ck_assert_msg(strstr(out, ": no findings in ") != NULL, "%s:\n%s", c->path,
                  out);
    str_free(&command);
}
END_TEST

int main(void)
{
    arena *a = arena_create(0);
    Suite *s = suite_create("samples under vpu check");
    TCase *t = tcase_create("clean");
    SRunner *r;
    vpu_error err;
    size_t n = 0;
    int failed;

    if (case_find("kernels", a, &cases, &n_cases, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    for (size_t i = 0; i < n_cases; i++)
        if (against_definition(&cases[i]))
            cases[n++] = cases[i];
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, sample, 0, (int)n);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r) + !n;
    srunner_free(r);
    arena_destroy(a);
    return failed != 0;
}
