/* vpu debug: functions that are inlined into each other, places, ways out of
 * functions and loops, forms of values, changed variables, scripts. What a
 * value must be is computed here, in plain C, from the ramp. */
#include <check.h>
#include <string.h>

#include "runtime/graph/tensor.h"
#include "tests/runtime/debug/twist.h"

/* Three functions deep, one of them called twice, once in a loop. */
static const char nest_cl[] =
    "int twice(int x)\n"                /* 1 */
    "{\n"                               /* 2 */
    "    int two = 2;\n"                /* 3 */
    "    return two * x;\n"             /* 4 */
    "}\n"                               /* 5 */
    "int outer(int x)\n"                /* 6 */
    "{\n"                               /* 7 */
    "    int sum = 0;\n"                /* 8 */
    "    for (int k = 0; k < 3; k++)\n" /* 9 */
    "        sum += twice(x + k);\n"    /* 10 */
    "    return sum;\n"                 /* 11 */
    "}\n"                               /* 12 */
    "// nothing here\n"                 /* 13 */
    "__kernel void twist(__global const half *src, __global half *dst,\n"
    "                    float bias)\n" /* 15 */
    "{\n"                               /* 16 */
    "    int l = get_local_id(0);\n"    /* 17 */
    "    int at = get_global_id(1) * get_global_size(0) + get_global_id(0);\n"
    "    int a = outer(l);\n"                 /* 19 */
    "    int b = twice(a);\n"                 /* 20 */
    "    int mine[4] = {a, b, -1, 0x7fff};\n" /* 21 */
    "    dst[at] = src[at] + mine[1];\n"      /* 22 */
    "}\n";

static void open_nest(void)
{
    twist_open();
    terminal_text(&twist, "twist.cl", nest_cl);
}

/* In twice() of outer() for item 5, second turn of the loop: x is 6. */
#define IN_TWICE "break 4 if local_id[0] == 5 && x == 6\nrun\ndelete\n"

START_TEST(callers)
{
    twist_expect_in_order(
        twist_session(IN_TWICE
                      "bt\nprint x\nprint k\nup\nprint x\nprint sum\ninfo "
                      "locals\nup\nprint x\nprint l\nup\ndown 7\nframe 2\n"
                      "frame 3\ndown\nlist 10\nlocals\n"),
        (const char *const[]){
            "twist.cl:4 in twice, item (5,0,0) of group (0,0,0)\n",
            "> #0  twice at twist.cl:4\n  #1  outer at twist.cl:10\n"
            "  #2  twist at twist.cl:19\n",
            "x = 6\n",
            "k = 1\n",
            "> #1  outer at twist.cl:10\n10\t        sum += twice(x + k);\n",
            "x = 5\n",
            "sum = 10\n",
            "x = 5\n",
            "sum = 10\n",
            "> #2  twist at twist.cl:19\n19\t    int a = outer(l);\n",
            "error: there is no 'x' here",
            "l = 5\n",
            "this is the kernel: nothing calls it",
            "> #0  twice at twist.cl:4\n",
            "> #2  twist at twist.cl:19\n",
            "'3' is no frame from 0 to 2",
            "> #1  outer at twist.cl:10\n",
            "10\t",
            "k = 1\n",
            "l = 5\n",
            "local_id = (5, 0, 0)\n",
            NULL});
}
END_TEST

/* Variables of a function are not those of its callers. */
START_TEST(locals_of_one_function)
{
    const char *out = twist_session(IN_TWICE "info locals\n");

    out = strstr(out, "delete") ? out : strstr(out, "4\t");
    twist_expect(out, "two = 2\n");
    twist_expect(out, "x = 6\n");
    ck_assert_msg(!strstr(out, "sum =") && !strstr(out, "local_id") &&
                      !strstr(out, "bias ="),
                  "%s", out);
}
END_TEST

START_TEST(out_of_functions)
{
    twist_expect_in_order(
        twist_session(IN_TWICE
                      "finish\nprint k\nprint sum\nfinish\nfinish\nquit\n"),
        (const char *const[]){"\n4\t", "twist.cl:10 in outer, item (5,0,0)",
                              "k = 1\n", "twist.cl:19 in twist, item (5,0,0)",
                              "item (5,0,0) of group (0,0,0), at its end",
                              NULL});
    /* The function looked at is left, not the one inside. */
    twist_expect_in_order(twist_session(IN_TWICE "up\nfinish\nprint l\n"),
                          (const char *const[]){"#1  outer",
                                                "twist.cl:19 in twist, item (5",
                                                "l = 5\n", NULL});
    twist_expect(twist_session("finish\n"), "break and run lead into one");
}
END_TEST

START_TEST(out_of_loops)
{
    twist_expect_in_order(
        twist_session("break 10 if local_id[0] == 2\nrun\ndelete\nuntil\n"
                      "print sum\nuntil\n"),
        (const char *const[]){"\n10\t", "twist.cl:11 in outer, item (2,0,0)",
                              "sum = 18\n", "twist.cl:19 in twist, item (2",
                              NULL});
    twist_expect_in_order(
        twist_session("tbreak 19 if l == 3\nrun\nuntil 22\nuntil twice\n"),
        (const char *const[]){"temporary breakpoint 1: ", "\n19\t",
                              "twist.cl:22 in twist, item (3,0,0)",
                              "item (3,0,0) of group (0,0,0), at its end",
                              NULL});
    twist_expect(
        twist_session("tbreak 19 if l == 3\nrun\nadvance twice\nprint x\n"),
        "twist.cl:3 in twice, item (3,0,0)");
}
END_TEST

START_TEST(once)
{
    twist_expect_in_order(
        twist_session("tbreak outer\nbreak 22 if at == 25\npoints\nrun\n"
                      "points\ncontinue\ncontinue\n"),
        (const char *const[]){
            "temporary breakpoint 1: outer\n",
            "breakpoint 2: ", "temporary breakpoint 1: outer\n",
            "breakpoint 2: ", "twist.cl:8 in outer, item (0,0,0)",
            "breakpoint 2: ", "item (1,0,0) of group (1,1,0)",
            "the run has ended", NULL});
    ck_assert(
        !strstr(strstr(twist_session("tbreak outer\nrun\npoints\n"), "8\t"),
                "outer\nno"));
}
END_TEST

static const char *const places[][2] = {
    {"break 13", "line 13 has no code: line 17 in its place\nbreakpoint 1: "
                 "twist.cl, line 17\n"},
    {"break twist.cl:2", "line 2 has no code: line 3 in its place\n"},
    {"break 900", "twist.cl has no code at line 900 or behind it: its last "
                  "line with code is 23\n"},
    {"break twits.cl:3", "no file 'twits.cl' has code here; there is code in "
                         "twist.cl; did you mean 'twist.cl'?\n"},
    {"break outr", "no function 'outr' has code here; there is code in "},
    {"break outr", "; did you mean 'outer'?\n"},
    {"until 900", "twist.cl has no code at line 900 or behind it"},
    {"tbreak", "break what?"},
};

START_TEST(places_without_code)
{
    int status;
    const char *out = twist_session_of(
        TWIST_ARGS, arena_printf(twist.arena, "%s\n", places[_i][0]), &status);

    twist_expect(out, places[_i][1]);
    ck_assert_int_eq(status, strstr(places[_i][1], "in its place") ? 0 : 1);
}
END_TEST

/* In the SHAVE program lines may be gone that the source has. */
START_TEST(places_of_bundles)
{
    int status;
    const char *out = twist_session_of(
        TWIST_ARGS " --bundles", "break 900\nbreak 22\nrun\nfinish\n", &status);

    twist_expect_in_order(
        out, (const char *const[]){"twist.cl has no code at line 900",
                                   "breakpoint 1: twist.cl, "
                                   "line 22\n",
                                   "\n22\t", "tbreak and continue", NULL});
}
END_TEST

/* At line 22 of item 3: l = 3, a = 2 * (3 + 4 + 5), b = 2 * a. */
static const char *const forms[][2] = {
    {"print/x a", "a = 0x18\n"},
    {"p/d mine[2]", "mine[2] = -1\n"},
    {"p/u mine[2]", "mine[2] = 4294967295\n"},
    {"p/x mine", "mine = {0x18, 0x30, 0xffffffff, 0x7fff}\n"},
    {"p/o b", "b = 060\n"},
    {"p/t a", "a = 11000\n"},
    {"p/c b", "b = 48 '0'\n"},
    {"p/x bias", "bias = 0x3e800000\n"},
    {"p/f 0x3e800000", "0x3e800000 = "},
    {"p mine@2", "mine@2 = {24, 48}\n"},
    {"p a@1", "a@1 = {24}\n"},
    {"p &a", "&a = 0x"},
    {"p *&a", "*&a = 24\n"},
    {"x/4dw mine", ":  24  48  -1  32767\n"},
    {"x/2xw &mine[2]", ":  0xffffffff  0x7fff"},
    {"x/2xb &mine[3]", ":  0xff  0x7f\n"},
    {"x/3 mine", ":  24  48  -1\n"},
    {"x/1000000 mine", "a count is a number from 1 to 4096"},
    {"x/4q mine", "'q' is no format"},
    {"x 0", "nothing can be read at 0x00000000"},
    {"x", "x/4f EXPR"},
    {"p/4x a", "a count and a size are for x"},
    {"p src@100000", "behind '@' stands a number from 1 to 65536"},
    {"p dst@60000", "there are not so many elements"},
    {"p (a + 1)@2", "'@' wants something in memory before it"},
    {"p &7", "it has no address"},
};

START_TEST(forms_of_values)
{
    const char *out = twist_session(arena_printf(
        twist.arena, "break 22 if l == 3\nrun\n%s\n", forms[_i][0]));

    out = strstr(out, "22\t");
    ck_assert_ptr_nonnull(out);
    twist_expect(out, forms[_i][1]);
}
END_TEST

/* Four halves of the input as memory shows them. */
START_TEST(memory_of_a_tensor)
{
    str want = {0};
    const char *out = twist_session("tbreak 22 if at == 0\nrun\nx/10f src\n"
                                    "x/2\n");

    for (int k = 0; k < 10; k++)
        str_printf(&want, "%s  %.5g", k == 8 ? "\n0x80001f50:" : "",
                   twist_ramp(k));
    str_puts(&want, "\n0x");
    twist_expect(out, str_text(&want));
    twist_expect(out, arena_printf(twist.arena, ":  %.5g  %.5g\n",
                                   twist_ramp(10), twist_ramp(11)));
    str_free(&want);
}
END_TEST

START_TEST(displays)
{
    twist_expect_in_order(
        twist_session("break 20 if l == 1\nbreak 22 if l == 1\n"
                      "display a\nrun\ndisplay/x b\ninfo display\ncontinue\n"
                      "undisplay 1\nnext\nundisplay\nnext\nundisplay 9\n"
                      "display nobody\ndisplay\n"),
        (const char *const[]){"1: a, from the next stop on\n", "\n20\t",
                              "1: a = 12\n", "2: b = ", "1: a\n2: b /x\n",
                              "\n22\t", "1: a = 12\n2: b = 0x18\n", "\n23\t",
                              "2: b = 0x18\n", "no such display",
                              "there is no 'nobody' here", NULL});
    /* Where it means nothing it says so, and comes back. */
    twist_expect_in_order(
        twist_session("display two\nbreak 4 if x == 1\nbreak 20 if l == 0\n"
                      "run\ncontinue\n"),
        (const char *const[]){"\n4\t", "1: two = 2\n", "\n20\t",
                              "1: two = (there is no 'two' here)\n", NULL});
}
END_TEST

static double half_of(double x)
{
    return (double)tensor_f16_to_f32(tensor_f32_to_f16((float)x));
}

/* A change holds from there on, when one goes back and on again, too, and `run`
 * begins without it. */
START_TEST(changed_variables)
{
    const char *with = arena_printf(twist.arena, "out0[0,0,0,3] = %.5g\n",
                                    half_of(twist_ramp(3) + 1000)),
               *without = arena_printf(twist.arena, "out0[0,0,0,3] = %.5g\n",
                                       half_of(twist_ramp(3) + 48));

    twist_expect_in_order(
        twist_session("break 22 if at == 3\nrun\nset var mine[1] = 1000\n"
                      "back 2\nprint mine[1]\ncontinue\nprint mine[1]\ndelete\n"
                      "continue\nprint out0[0,0,0,3]\nrun\n"
                      "print out0[0,0,0,3]\n"),
        (const char *const[]){"\n22\t", "mine[1] = 1000\n", "\n4\t",
                              "mine[1] = ", "\n22\t", "mine[1] = 1000\n",
                              "the run has ended", with,
                              "what was changed is as it was: 1\n",
                              "the run has ended", without, NULL});
}
END_TEST

/* Of a buffer, of a caller, of all kinds. */
START_TEST(changes_of_all_kinds)
{
    twist_expect_in_order(
        twist_session(IN_TWICE "set var src[0,0,0,5] = 0.5\nup\n"
                               "set var sum = -7\nset var l = 70000\nup\n"
                               "set var l = 4\nset var bias = 1 / 4.0\n"
                               "print l == 4\nset x\nset\nset var\n"
                               "set var l = bias\nset var 3 = 4\n"
                               "set var mine = 3\nset var l = 5000000000\n"
                               "set var nobody = 1\nprint in0[0,0,0,5]\n"),
        (const char *const[]){
            "src[0,0,0,5] = 0.5\n", "sum = -7\n", "l = 70000\n", "l = 4\n",
            "bias = 0.25\n", "l == 4 = 1\n", "there is no command 'set x'",
            "set what?", "set var EXPR = EXPR", "l = 0\n",
            "it cannot be changed", "only a number can be changed",
            "does not fit an integer of 32 bits", "there is no 'nobody' here",
            "in0[0,0,0,5] = 0.5\n", NULL});
    twist_expect(twist_session("set var bias = 2\n"), "break and run first");
}
END_TEST

/* A change further on belongs to a run that is given up. */
START_TEST(changes_further_on)
{
    twist_expect_in_order(
        twist_session("break 22 if at == 3\nrun\nset var mine[1] = 1000\n"
                      "back 3\nset var a = 5\ncontinue\nprint mine[1]\n"),
        (const char *const[]){"mine[1] = 1000\n", "\n3\t",
                              "changes further on are forgotten: 1\n",
                              "a = 5\n", "\n22\t", "mine[1] = 48\n", NULL});
}
END_TEST

/* --- scripts --------------------------------------------------------------- */

START_TEST(scripts_show_their_commands)
{
    int status;
    const char *out =
        twist_log_of(TWIST_ARGS, "break 22 if l == 3\n# why\nrun\n", &status);

    ck_assert_int_eq(status, 0);
    twist_expect_in_order(
        out,
        (const char *const[]){"(vpu) break 22 if l == 3\nbreakpoint 1: ",
                              "(vpu) # why\n(vpu) run\nbreakpoint 1\n", NULL});
}
END_TEST

START_TEST(scripts_that_fail)
{
    int status;
    const char *out;

    terminal_text(&twist, "good", "break 22 if l == 3\nrun\nprint a\n");
    terminal_text(&twist, "wrong", "break 22\nbrek 3\nrun\n");
    out = twist_log_of(TWIST_ARGS " -x good", "print l\n", &status);
    ck_assert_int_eq(status, 0);
    twist_expect_in_order(out,
                          (const char *const[]){"a = 24\n", "l = 3\n", NULL});
    out = twist_log_of(TWIST_ARGS " -x wrong", "points\n", &status);
    ck_assert_int_eq(status, 1);
    twist_expect_in_order(
        out,
        (const char *const[]){"did you mean 'break'?\n",
                              "wrong:2: the rest of the script is not done\n",
                              "(vpu) points\nbreakpoint 1", NULL});
    ck_assert_ptr_null(strstr(out, "(vpu) run"));
    /* Of standard input the rest is done, and the status tells. */
    out = twist_log_of(TWIST_ARGS, "brek 3\nprint 1\n", &status);
    ck_assert_int_eq(status, 1);
    twist_expect(out, "1 = 1\n");
    out = twist_log_of(TWIST_ARGS " -x nowhere", "", &status);
    ck_assert_int_eq(status, 2);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("debug frames");
    TCase *c = tcase_create("frames");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, open_nest, twist_close);
    tcase_add_test(c, callers);
    tcase_add_test(c, locals_of_one_function);
    tcase_add_test(c, out_of_functions);
    tcase_add_test(c, out_of_loops);
    tcase_add_test(c, once);
    tcase_add_loop_test(c, places_without_code, 0,
                        sizeof places / sizeof *places);
    tcase_add_test(c, places_of_bundles);
    tcase_add_loop_test(c, forms_of_values, 0, sizeof forms / sizeof *forms);
    tcase_add_test(c, memory_of_a_tensor);
    tcase_add_test(c, displays);
    tcase_add_test(c, changed_variables);
    tcase_add_test(c, changes_of_all_kinds);
    tcase_add_test(c, changes_further_on);
    tcase_add_test(c, scripts_show_their_commands);
    tcase_add_test(c, scripts_that_fail);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
