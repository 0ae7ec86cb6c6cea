/* clang's result is used when clang puts it into its folder, before clang ends.
 * A clang of ours, first on the PATH, runs the real one and goes on for a while
 * behind its result: what it says then counts all the same. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/str.h"
#include "sim/compiler/front/frontend.h"
#include "tests/support/rig.h"

static rig r;
static const char *search; /* the PATH there was */

/* The real clang, given one word more when it is called first; then `behind`,
 * in which $n is the number of calls before. */
static void put_clang(const char *behind)
{
    const char *bin = file_join(r.arena, r.dir, "bin"), *clang;
    char *text;

    ck_assert(!mkdir(bin, 0700));
    clang = file_join(r.arena, bin, FE_CLANG);
    text = arena_printf(r.arena,
                        "#!/bin/sh\n"
                        "PATH='%s'\n"
                        "cd '%s' || exit\n"
                        "n=$(cat calls)\n"
                        "echo $((n + 1)) >calls\n"
                        "first=-DANY\n"
                        "test $n -ne 0 || first=-DFIRST\n" FE_CLANG
                        " $first \"$@\" || exit\n"
                        "%s\n",
                        search, r.dir, behind);
    ck_assert(!file_write(clang, text, strlen(text), NULL));
    ck_assert(!chmod(clang, 0700));
    ck_assert(!file_write(file_join(r.arena, r.dir, "calls"), "0\n", 2, NULL));
    setenv("PATH", arena_printf(r.arena, "%s:%s", bin, search), 1);
}

static int n_calls(void)
{
    char *text;
    size_t n;

    ck_assert(!file_read(file_join(r.arena, r.dir, "calls"), 100, r.arena,
                         &text, &n, NULL));
    return atoi(text);
}

static void setup(void)
{
    rig_open(&r);
    search = arena_strdup(r.arena, getenv("PATH"));
}

static void teardown(void)
{
    setenv("PATH", search, 1);
    rig_close(&r);
}

typedef struct {
    int n_begun, n_compiled;
    fe_unit seen; /* copied */
} watcher;

static void has_begun(void *user)
{
    watcher *w = user;

    w->n_begun++;
}

/* Our clang ends well only when the file is there. */
static void is_compiled(void *user, const fe_unit *unit)
{
    watcher *w = user;

    w->n_compiled++;
    w->seen = *unit;
    w->seen.bitcode = arena_memdup(r.arena, unit->bitcode, unit->n_bytes);
    ck_assert(!file_write(file_join(r.arena, r.dir, "seen"), "", 0, NULL));
}

static const char until_seen[] = "i=0\n"
                                 "while test ! -e seen && test $i -lt 500\n"
                                 "do i=$((i + 1)); sleep 0.02; done\n"
                                 "test -e seen || { echo unseen >&2; exit 3; }";

START_TEST(a_result_is_seen_before_clang_ends)
{
    static const char text[] =
        "#include \"k.h\"\n__kernel void k(__global int *o) { *o = VALUE; }";
    watcher w = {0};
    const fe_job job = {.path = file_join(r.arena, r.dir, "k.cl"),
                        .meanwhile = {has_begun, is_compiled, &w}};
    fe_unit u;
    vpu_status st;

    ck_assert(!file_write(job.path, text, sizeof text - 1, NULL));
    ck_assert(!file_write(file_join(r.arena, r.dir, "k.h"), "#define VALUE 7\n",
                          16, NULL));
    put_clang(until_seen);
    st = fe_compile(&job, r.arena, &u, &r.err);
    ck_assert_msg(!st, "%s", r.err.msg);
    ck_assert_int_eq(w.n_begun, 1);
    ck_assert_int_eq(w.n_compiled, 1);
    ck_assert_uint_eq(u.n_bytes, w.seen.n_bytes);
    ck_assert(!memcmp(u.bitcode, w.seen.bitcode, u.n_bytes));
    ck_assert_uint_eq(u.n_deps, 1);
    ck_assert_uint_eq(w.seen.n_deps, 1);
    ck_assert_ptr_nonnull(strstr(w.seen.deps[0], "k.h"));
}
END_TEST

/* Twice, since it may be the options that leave things out of the prelude. */
START_TEST(a_clang_that_fails_behind_its_result_has_failed)
{
    watcher w = {0};
    const fe_job job = {.path = "k.cl",
                        .text = "__kernel void k(__global int *o) { *o = 7; }",
                        .meanwhile = {has_begun, is_compiled, &w}};
    fe_unit u;

    put_clang("echo 'k.cl:1:1: error: in the end' >&2; exit 1");
    ck_assert_int_eq(fe_compile(&job, r.arena, &u, &r.err), VPU_ERR_COMPILE);
    ck_assert_ptr_nonnull(strstr(r.err.msg, "in the end"));
    ck_assert_int_eq(w.n_begun, 2);
    ck_assert_int_eq(n_calls(), 2);
}
END_TEST

/* A kernel is compiled from what clang made last, though a copy has been at
 * work on what it made first. */
START_TEST(a_result_that_clang_takes_back_is_not_used)
{
    int *o;

    put_clang("test $n -ne 0 ||\n"
              "{ sleep 0.5; echo 'k.cl:1:1: error: once' >&2; exit 1; }");
    rig_compile(&r,
                "#ifdef FIRST\n"
                "#define VALUE 1\n"
                "#else\n"
                "#define VALUE 2\n"
                "#endif\n"
                "__kernel void k(__global int *o) { o[0] = VALUE; }",
                "k");
    ck_assert_int_eq(n_calls(), 2);
    o = rig_buffer(&r, 64);
    rig_run_1d(&r, 1, 1);
    ck_assert_int_eq(*o, 2);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("early");
    TCase *c = tcase_create("early");
    SRunner *sr;
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, a_result_is_seen_before_clang_ends);
    tcase_add_test(c, a_clang_that_fails_behind_its_result_has_failed);
    tcase_add_test(c, a_result_that_clang_takes_back_is_not_used);
    suite_add_tcase(s, c);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
