/* What lint reads out of a kernel's text: each text marks the places with
 * characters that OpenCL C does not have, which are gone before it is read. */
#include "runtime/lint/source.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"

enum { MAX_MARKS = 32 };

static arena *a;
static vpu_error err;
static lint_source_text source;
static size_t marks[MAX_MARKS]; /* where they stood */
static char kinds[MAX_MARKS];
static unsigned n_marks;
static char path[] = "/tmp/vpu-lint-XXXXXX";

static void setup(void)
{
    int fd;

    strcpy(path + strlen(path) - 6, "XXXXXX");
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    a = arena_create(0);
}

static void teardown(void)
{
    arena_destroy(a);
    unlink(path);
}

/* `$ and @ are marks. */
static void read_marked(const char *text)
{
    str plain = {0};

    n_marks = 0;
    for (; *text; text++)
        if (strchr("`$@", *text)) {
            kinds[n_marks] = *text;
            marks[n_marks++] = plain.n;
            ck_assert_uint_lt(n_marks, MAX_MARKS);
        } else {
            str_add(&plain, text, 1);
        }
    ck_assert(!file_write(path, str_text(&plain), plain.n, &err));
    ck_assert_msg(!lint_source_read(path, a, &source, &err), "%s", err.msg);
    ck_assert_uint_eq(source.length, plain.n);
    ck_assert_str_eq(source.text, str_text(&plain));
    ck_assert_uint_eq(strlen(source.code), plain.n);
    str_free(&plain);
}

static size_t mark(char kind)
{
    for (unsigned k = 0; k < n_marks; k++)
        if (kinds[k] == kind)
            return marks[k];
    return 0;
}

/* --- loops --------------------------------------------------------------- */

/* $: inside a loop; @: not. A loop is what stands between the first character
 * of its keyword and its last one. */
static const char *const loops[] = {
    "void f() { @int i; @for ($int i = 0; $i < 3; $i++) {$ x();$ @}@ y();@ }",
    "void f() { @while ($x) $y(); @z(); }",
    "void f() { @do {$ x();$ @} while (x); @y@(); }",
    "void f() { for (;;) {$ for (;;) {$} $x();$ @}@ }@",
    "void f() { @if (x) y(); @form(); @dofor(); @x.while_(); }",
    "/* for (;;) {@} */ void f() { @\"for (;;) {@}\"; }",
    "void f() { for (;$;)@; @x(); }",
};

START_TEST(inside_loops)
{
    read_marked(loops[_i]);
    for (unsigned k = 0; k < n_marks; k++)
        ck_assert_msg(lint_source_in_loop(&source, marks[k]) ==
                          (kinds[k] == '$'),
                      "%zu: %.*s<here>%s", marks[k], (int)marks[k], source.text,
                      source.text + marks[k]);
}
END_TEST

/* --- kernels ------------------------------------------------------------- */

/* `: the name; $: what is looked for. */
static const struct {
    const char *text;
    bool found;
} vectors[] = {
    {"__kernel void `k(__global $half8 *p) {}", true},
    {"__kernel void `k(int n) { int x; $float4 y; }", true},
    {"__kernel void `k(int n) { n = ($uint2)(n).x; }", true},
    {"__kernel void `k(int n) { n = int; float4x(); my_half8(); half8_(); }",
     false},
    {"half8 f(half8 x); __kernel void `k(int n) {}half8 g(half8 x);", false},
    {"__kernel void `k(int n) { /* half8 */ n = 1; // float4\n}", false},
    {"__kernel void `k(size_t n, bool b2, double4 d) { half h; }", false},
};

START_TEST(vector_types)
{
    lint_source_kernel k;

    read_marked(vectors[_i].text);
    ck_assert(lint_source_find_kernel(&source, "k", a, &k));
    ck_assert_uint_eq(k.name, mark('`'));
    ck_assert_uint_eq(lint_source_vector_type(&source, &k),
                      vectors[_i].found ? mark('$') : 0);
}
END_TEST

static const struct {
    const char *text;
    bool found;
} returns[] = {
    {"__kernel void k(int n) { if (n) $return; n = 1; }", true},
    {"__kernel void k(int n) { n = 1; return; }", false},
    {"__kernel void k(int n) { if (n) { n = 1; return; } }", false},
    {"__kernel void k(int n) { if (n) { $return; } n = 1; }", true},
    {"__kernel void k(int n) { { return; } } void f() { return; n(); }", false},
    {"__kernel void k(int n) { returns; no_return; /* return; */ n = 1; }",
     false},
};

START_TEST(early_returns)
{
    lint_source_kernel k;

    read_marked(returns[_i].text);
    ck_assert(lint_source_find_kernel(&source, "k", a, &k));
    ck_assert_uint_eq(lint_source_early_return(&source, &k),
                      returns[_i].found ? mark('$') : 0);
}
END_TEST

START_TEST(parameters)
{
    static const struct {
        const char *name;
        bool pointer, restricted, global, is_const;
    } want[] = {{"a", true, false, true, false},
                {"b", true, true, true, true},
                {"c", true, false, false, false},
                {"d", false, false, false, false},
                {"e", true, false, true, true}};
    lint_source_kernel k;

    read_marked("__kernel void k(__global half *a,\n"
                "    const global int * restrict b, __local float *c,\n"
                "    int d, __global const half *const e) `{ $}");
    ck_assert(lint_source_find_kernel(&source, "k", a, &k));
    ck_assert_uint_eq(k.body, mark('`'));
    ck_assert_uint_eq(k.end, mark('$'));
    ck_assert_uint_eq(k.n_params, 5);
    for (unsigned i = 0; i < 5; i++) {
        const lint_source_param *p = &k.params[i];

        ck_assert_uint_eq(p->n_name, 1);
        ck_assert_int_eq(source.text[p->name], want[i].name[0]);
        ck_assert_msg((p->star != 0) == want[i].pointer, "%u", i);
        ck_assert_int_eq(p->restricted, want[i].restricted);
        ck_assert_int_eq(p->global, want[i].global);
        ck_assert_int_eq(p->is_const, want[i].is_const);
    }
    ck_assert_str_eq(lint_source_with_restrict(&source, &k, a),
                     "__kernel void k(__global half * restrict a,\n"
                     "    const global int * restrict b, __local float *c,\n"
                     "    int d, __global const half * restrict const e) { }");
}
END_TEST

START_TEST(which_kernel)
{
    lint_source_kernel k;

    read_marked("__kernel void k(int a); __kernel void `k(int a) {} int kk, "
                "m = k(3);");
    ck_assert(lint_source_find_kernel(&source, "k", a, &k));
    ck_assert_uint_eq(k.name, mark('`'));
    ck_assert(!lint_source_find_kernel(&source, "kk", a, &k));
    ck_assert(!lint_source_find_kernel(&source, "none", a, &k));
    read_marked("__kernel void k(int a) {} __kernel void k(int a) {}");
    ck_assert(!lint_source_find_kernel(&source, "k", a, &k));
}
END_TEST

/* --- places -------------------------------------------------------------- */

START_TEST(places)
{
    uint32_t line = 1, col = 1;

    read_marked("one\n\n  two\nthree");
    for (size_t at = 0; at < source.length; at++) {
        uint32_t l, c;

        lint_source_position(&source, at, &l, &c);
        ck_assert_uint_eq(l, line);
        ck_assert_uint_eq(c, col);
        ck_assert_uint_eq(lint_source_offset(&source, l, c), at);
        line += source.text[at] == '\n';
        col = source.text[at] == '\n' ? 1 : col + 1;
    }
    ck_assert_uint_eq(lint_source_offset(&source, 9, 1), source.length);
    ck_assert_str_eq(lint_source_replace(&source, 4, 1, "x", a),
                     "one\nx  two\nthree");
}
END_TEST

START_TEST(unrolled)
{
    lint_source_span loop;
    bool found;
    size_t at;

    read_marked("void f() {\n`#pragma unroll 4\n  $for (;;) { x(); @}\n"
                "`# pragma  unroll\n  y();\n#pragma other\n}");
    at = lint_source_next_unroll(&source, 0, &loop, &found);
    ck_assert_uint_eq(at, mark('`'));
    ck_assert(found);
    ck_assert_uint_eq(loop.first, mark('$'));
    ck_assert_uint_eq(loop.end, mark('@'));
    at = lint_source_next_unroll(&source, at + 1, &loop, &found);
    ck_assert_uint_eq(at, marks[3]);
    ck_assert(!found);
    ck_assert_uint_eq(lint_source_next_unroll(&source, at + 1, &loop, &found),
                      SIZE_MAX);
}
END_TEST

/* A kernel that stands there twice is found where the preprocessor takes it. */
START_TEST(what_if_0_leaves_out)
{
    lint_source_kernel k;

    read_marked("#if 0\n"
                "__kernel void k(__global int *x) { float4 no; }\n"
                "# if 1\n"
                "__kernel void k(__global int *y) { float4 no; }\n"
                "#else\n"
                "# endif\n"
                "#else /* here */\n"
                "__kernel void `k(__global int *d) { $float4 v = 0; }\n"
                "#endif\n"
                "  #  if 0 // not this\n"
                "__kernel void k(__global int *z) { float4 no; }\n"
                "#elif 0\n"
                "#endif\n");
    ck_assert(lint_source_find_kernel(&source, "k", a, &k));
    ck_assert_uint_eq(k.name, marks[0]);
    ck_assert_uint_eq(lint_source_vector_type(&source, &k), marks[1]);
    read_marked("#if 01\n__kernel void k(int x) { }\n#endif\n"
                "#ifdef A\n__kernel void k(int x) { }\n#endif\n");
    ck_assert(!lint_source_find_kernel(&source, "k", a, &k));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("lint's view of a text");
    TCase *c = tcase_create("source");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, inside_loops, 0, sizeof loops / sizeof *loops);
    tcase_add_loop_test(c, vector_types, 0, sizeof vectors / sizeof *vectors);
    tcase_add_loop_test(c, early_returns, 0, sizeof returns / sizeof *returns);
    tcase_add_test(c, parameters);
    tcase_add_test(c, what_if_0_leaves_out);
    tcase_add_test(c, which_kernel);
    tcase_add_test(c, places);
    tcase_add_test(c, unrolled);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
