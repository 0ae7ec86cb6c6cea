/* Parts of lines of OpenCL C: written down by hand, and, whatever the text, all
 * of it in parts of one byte or more. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "visualizer/code.h"

/* A letter for each part's kind, in front of it. */
static const char *parts(arena *a, const char *line, bool open)
{
    static const char letters[CODE_N_KINDS] = {'p', 'w', 't', 'n',
                                               's', 'c', 'd'};
    str out = {.arena = a};
    bool begins = true;
    code_kind kind;

    for (size_t n; (n = code_next(line, begins, &open, &kind)); line += n) {
        str_printf(&out, "%c<%.*s>", letters[kind], (int)n, line);
        begins = false;
    }
    return str_text(&out);
}

START_TEST(by_hand)
{
    static const struct {
        const char *line, *parts;
        bool open;
    } cases[] = {
        {"__kernel void f(half8 x)",
         "w<__kernel>p< >t<void>p< >p<f>p<(>t<half8>p< >p<x>p<)>", false},
        {"  #pragma unroll 8", "d<  #pragma>p< >p<unroll>p< >n<8>", false},
        {"x = a # b;", "p<x>p< = >p<a>p< # >p<b>p<;>", false},
        {"1.5e-3f+0x1e-3 .5", "n<1.5e-3f>p<+>n<0x1e>p<->n<3>p< >n<.5>", false},
        {"a/*b*/c // d", "p<a>c</*b*/>p<c>p< >c<// d>", false},
        {"b */ int3 y", "c<b */>p< >t<int3>p< >p<y>", true},
        {"\"a\\\"b\" 'c", "s<\"a\\\"b\">p< >s<'c>", false},
        {"float float44 int5 uint16",
         "t<float>p< >p<float44>p< >p<int5>p< "
         ">t<uint16>",
         false},
        {"a / b", "p<a>p< >p</ >p<b>", false},
        {"", "", false}};
    arena *a = arena_create(0);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(parts(a, cases[i].line, cases[i].open),
                         cases[i].parts);
    ck_assert(code_after("x /* y", false) && code_after("y", true));
    ck_assert(!code_after("/* y */ x", false) && !code_after("*/", true));
    ck_assert(!code_after("\"/*\" // /*", false));
    arena_destroy(a);
}
END_TEST

START_TEST(any_text)
{
    static const char bytes[] = "/*\"'\\#.e+-_aZ09 \t\xc3\xa4\xff(";
    uint64_t seed = 7;

    for (int i = 0; i < 20000; i++) {
        char line[40] = "";
        size_t all = 0, n, length = (size_t)i % (sizeof line - 1);
        bool open = i % 3 == 0;
        code_kind kind;

        for (size_t k = 0; k < length; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            line[k] = bytes[(seed >> 33) % (sizeof bytes - 1)];
        }
        while ((n = code_next(line + all, !all, &open, &kind))) {
            ck_assert_int_lt(kind, CODE_N_KINDS);
            all += n;
            ck_assert_uint_le(all, strlen(line));
        }
        ck_assert_uint_eq(all, strlen(line));
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("code");
    TCase *t = tcase_create("code");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_test(t, by_hand);
    tcase_add_test(t, any_text);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
