/* vpu debug, driven by scripts on standard input: where it stops, what it
 * shows, and that ways back show what was there. What a variable must be is
 * computed here, in plain C, from the item's id; the input is a ramp. */
#include <check.h>
#include <string.h>

#include "base/file.h"
#include "runtime/graph/tensor.h"
#include "tests/runtime/debug/twist.h"

/* A layer by its absolute name, below the current folder: a line without a file
 * is one of its kernel's. */
START_TEST(an_absolute_name)
{
    int status;
    const char *out =
        twist_session_of(arena_printf(twist.arena, "%s/" TWIST_ARGS, twist.dir),
                         "break 22\nrun\nquit\n", &status);

    ck_assert_int_eq(status, 0);
    twist_expect(
        out, arena_printf(twist.arena, "%s/twist.cl:22 in twist", twist.dir));
}
END_TEST

START_TEST(the_ramp)
{
    const char *out = twist_session("print src[0,0,1,11]\nprint in0[0,2,1,15]\n"
                                    "print in0[95]\n");

    twist_expect(out, arena_printf(twist.arena, "src[0,0,1,11] = %.5g\n",
                                   twist_ramp(27)));
    twist_expect(out, arena_printf(twist.arena, "in0[0,2,1,15] = %.5g\n",
                                   twist_ramp(95)));
    twist_expect(out,
                 arena_printf(twist.arena, "in0[95] = %.5g\n", twist_ramp(95)));
}
END_TEST

/* Item 3 of group (1,1), behind the barrier: global id (11,1). */
START_TEST(variables)
{
    const char *out = twist_session(
        "break twist.cl:22 if global_id[0] == 11 && global_id[1] == 1\nrun\n"
        "print l\nprint at\nprint f\nprint f.w\nprint mine\nprint pair\n"
        "print pair.v.y + 1\nprint other\nprint tile[2]\nprint tile[l - 1] * "
        "2\n"
        "print src[at]\nprint dst[0,0,1,11]\nprint bias\nprint mine[l - 1]\n"
        "locals\n");
    double other = twist_ramp(28) * 2;

    twist_expect(out,
                 "breakpoint 1\ntwist.cl:22 in twist, item (3,0,0) of group "
                 "(1,1,0)\n22\t    f.x += other;\n");
    twist_expect(out, "\nl = 3\n");
    twist_expect(out, "\nat = 27\n");
    twist_expect(out, "\nf = (11, 2, 3, 4)\n");
    twist_expect(out, "\nf.w = 4\n");
    twist_expect(out, "\nmine = {300, 301, 302}\n");
    twist_expect(out, "\npair = {a = 3, v = (0.5, 3)}\n");
    twist_expect(out, "\npair.v.y + 1 = 4\n");
    twist_expect(out, arena_printf(twist.arena, "\nother = %.9g\n", other));
    twist_expect(
        out, arena_printf(twist.arena, "\ntile[2] = %.5g\n", twist_ramp(26)));
    twist_expect(out, arena_printf(twist.arena, "\ntile[l - 1] * 2 = %.17g\n",
                                   2 * twist_ramp(26)));
    twist_expect(
        out, arena_printf(twist.arena, "\nsrc[at] = %.5g\n", twist_ramp(27)));
    twist_expect(out, "\ndst[0,0,1,11] = 0\n");
    twist_expect(out, "\nbias = 0.25\n");
    twist_expect(out, "\nmine[l - 1] = 302\n");
    twist_expect(
        out, "\nglobal_id = (11, 1, 0)\nlocal_id = (3, 0, 0)\ngroup_id = (1, "
             "1, 0)\n");
}
END_TEST

START_TEST(steps)
{
    static const char *const want[] = {
        "\n11\t", "\n12\t", "\n13\t",     "\n14\t", "\n17\t", "\n18\t",
        "\n17\t", "\n18\t", "\n17\t",     "\n18\t", "\n17\t", "\n19\t",
        "\n20\t", "\n21\t", " in scaled", "\n3\t",  "\n22\t", NULL};
    static const char *const over[] = {"\n21\t", "\n22\t", "\n23\t", "\n24\t",
                                       NULL};
    const char *out =
        twist_session("step 1\nstep\nstep\nstep\nstep\nstep\nstep\n"
                      "step\nstep\nstep\nstep\nstep\nstep\nstep\n"
                      "step\nbreak 22\ncontinue\n");

    twist_expect_in_order(out, want);
    out = twist_session("break 21 if l == 5\nrun\ndelete\nnext\nnext\nnext\n");
    twist_expect_in_order(out, over);
    ck_assert_msg(!strstr(out, "in scaled"), "%s", out);
    /* Other items went on meanwhile, and this one came back. */
    ck_assert_msg(!strstr(out, "item (4,0,0)"), "%s", out);
}
END_TEST

START_TEST(where)
{
    static const char *const want[] = {
        "group (0,1,0) of 2x2x1",
        "  item (0,0,0) to item (4,0,0): waits at the barrier, copy or wait of "
        "line 20\n  item (5,0,0): line 19  <- here\n"
        "  item (6,0,0) to item (7,0,0): not begun\n",
        "  item (0,0,0) to item (4,0,0): done\n"
        "  item (5,0,0): line 3  <- here\n"
        "  item (6,0,0) to item (7,0,0): waits at the barrier, copy or wait of "
        "line 20\n",
        NULL};

    twist_expect_in_order(
        twist_session("break 19 if local_id[0] == 5 && group_id[1] == 1\n"
                      "run\nwhere\nbreak scaled if local_id[0] == 5\n"
                      "continue\nwhere\n"),
        want);
}
END_TEST

/* The same place, reached forward and by going back, shows the same. */
START_TEST(backwards)
{
    const char *out;

    out = twist_session("break 18 if l == 6 && i == 1\nrun\n# a remark\n"
                        "print i\nnext\nback\nprint i\nback 2\nprint i\n"
                        "back 2\nback\nback 200\nback\n");
    twist_expect(out,
                 "breakpoint 1\ntwist.cl:18 in twist, item (6,0,0) of group "
                 "(0,0,0)\n");
    {
        static const char *const seen[] = {
            "i = 1\n", "\n17\t",
            "\n18\t",  "i = 1\n",
            "\n18\t",  "i = 0\n",
            "\n14\t",  "\n13\t",
            "\n11\t",  "this is the item's first line\n",
            "\n11\t",  NULL};

        twist_expect_in_order(out, seen);
    }
}
END_TEST

/* Who wrote an element last: from the end, backwards. */
START_TEST(who_wrote_it)
{
    double value = 14 + 2 * twist_ramp(16 + 8 + 1) + 0.25 + 601;
    const char *out = twist_session(
        "watch out0[0,0,1,14]\nrun\ndelete\nrun\nwatch out0[0,0,1,14]\n"
        "reverse-continue\nback\nprint out0[0,0,1,14]\nprint at\nstep\n"
        "print out0[0,0,1,14]\nreverse-continue\n");
    const char *text = arena_printf(
        twist.arena, "%.5g",
        (double)tensor_f16_to_f32(tensor_f32_to_f16((float)value)));
    const char *const want[] = {
        arena_printf(twist.arena,
                     "watch 1: out0[0,0,1,14] was 0, is %s (behind line "
                     "23)\ntwist.cl:24 in twist, item (6,0,0) of group "
                     "(1,1,0)",
                     text),
        "the run has ended\n",
        arena_printf(twist.arena,
                     "watch 2: out0[0,0,1,14] was 0, is %s (behind line "
                     "23)\ntwist.cl:24 in twist, item (6,0,0) of group "
                     "(1,1,0)",
                     text),
        "\n23\t",
        "out0[0,0,1,14] = 0\nat = 30\n",
        "\n24\t",
        arena_printf(twist.arena, "out0[0,0,1,14] = %s\n", text),
        "no breakpoint or watch before\n",
        NULL};

    twist_expect_in_order(out, want);
}
END_TEST

/* A place in a buffer belongs to nobody, a variable to its item. */
START_TEST(watches)
{
    twist_expect_in_order(
        twist_session("break 19 if at == 2\nrun\nwatch dst[at + 1]\n"
                      "delete 1\nquit\n"),
        (const char *const[]){"watch 2: dst[at + 1]\n", NULL});
    twist_expect_in_order(
        twist_session("break 19 if at == 2\nrun\nwatch dst[at + 1]\ncontinue\n"
                      "delete\nbreak 17 if at == 28\ncontinue\n"
                      "delete\nwatch l + mine[2]\ncontinue\ncontinue\n"),
        (const char *const[]){
            "breakpoint 1", "watch 2: dst[at + 1]\n",
            "watch 2: dst[at + 1] was 0, is ", "(behind line 23)\n",
            "item (3,0,0) of group (0,0,0)",
            "item (4,0,0) of group (1,1,0)\n17\t", "watch 4: l + mine[2] was ",
            "is 406 (behind line 18)", "item (4,0,0) of group (1,1,0)",
            "the run has ended", NULL});
}
END_TEST

START_TEST(items_and_groups)
{
    static const char *const want[] = {"item (2,0,0) of group (1,0,0)",
                                       "i = 2\nmine[1] = 201\n",
                                       "item (6,0,0) of group (1,0,0)",
                                       "i = 2\nmine[1] = 601\n",
                                       "item (0,0,0) of group (1,0,0)",
                                       "i = 2\nmine[1] = 1\n",
                                       "item (0,0,0) of group (1,1,0)",
                                       "\n11\t",
                                       "item (0,0,0) of group (0,0,0)",
                                       "\n11\t",
                                       NULL};

    twist_expect_in_order(
        twist_session("break 18 if i == 2 && g == 10\nrun\nprint i\n"
                      "print mine[1]\nitem 6\nprint i\nprint mine[1]\n"
                      "item 0,0,0\nprint i\nprint mine[1]\n"
                      "group 1,1,0\ngroup 0,0\n"),
        want);
}
END_TEST

/* Groups in other orders: the same values where it stops. */
START_TEST(in_any_order)
{
    static const char *const orders[] = {"sequential", "reverse", "random:3"};
    int status;

    for (int k = 0; k < 3; k++) {
        const char *out = twist_session_of(
            arena_printf(twist.arena, TWIST_ARGS " --order %s", orders[k]),
            "break 23 if at == 5\nrun\nprint f.x\nback\nstep\nprint f.x\n"
            "delete\ncontinue\nprint out0[0,0,0,5]\n",
            &status);
        double f = 5 + 2 * twist_ramp(2);
        const char *const want[] = {
            arena_printf(twist.arena, "f.x = %.9g\n", (double)(float)f),
            "\n22\t",
            arena_printf(twist.arena, "f.x = %.9g\n", (double)(float)f),
            "the run has ended\n",
            arena_printf(twist.arena, "out0[0,0,0,5] = %.5g\n",
                         (double)tensor_f16_to_f32(
                             tensor_f32_to_f16((float)(f + 0.25 + 501)))),
            NULL};

        ck_assert_int_eq(status, 0);
        twist_expect_in_order(out, want);
    }
}
END_TEST

START_TEST(a_fault)
{
    static const char faulty[] =
        "__kernel void twist(__global const half *src, __global half *dst,\n"
        "                    float bias)\n{\n"        /* 3 */
        "    int x = get_global_id(0), far = 0;\n"    /* 4 */
        "    if (x == 13 && get_global_id(1) == 1)\n" /* 5 */
        "        far = 100000000;\n"                  /* 6 */
        "    dst[x + far] = src[x];\n"                /* 7 */
        "    printf(\"%d\\n\", x);\n}\n";
    static const char *const want[] = {
        "\n11\n12\n",
        "the kernel stops: fault in the simulated program: T: kernel 'twist', "
        "work-group (1, 1, 0): write outside mapped memory",
        "twist.cl:7 in twist, item (5,0,0) of group (1,1,0)\n",
        "far = 100000000\n",
        "\n6\t",
        "far = 0\n",
        "the kernel stops",
        "\n7\t",
        NULL};
    const char *out;

    terminal_text(&twist, "twist.cl", faulty);
    out = twist_session("run\nprint far\nback\nprint far\ncontinue\n");
    twist_expect_in_order(out, want);
    /* Replays print nothing a second time. */
    out = strstr(out, "the kernel stops");
    ck_assert_msg(!strstr(out, "\n12\n"), "%s", out);
}
END_TEST

START_TEST(by_bundle)
{
    static const char *const want[] = {
        "breakpoint 1\ntwist.cl:23 in twist, group (0,0,0)\n23\t",
        "cycle ",
        "kernel twist: group (0,0,0) of 2x2x1",
        "cycle ",
        "this is the group's first bundle",
        "twist.cl",
        "cycle 0, block 0:",
        "the run has ended",
        NULL};
    double v = 3 + 2 * twist_ramp(4) + 0.25 + 301;
    int status;
    const char *out = twist_session_of(
        TWIST_ARGS " --bundles",
        "break 23\nrun\nwhere\nbundle 2\nback\nback 256\nback 256\nback 256\n"
        "back 256\nback 256\nback 256\nback 256\nback 256\nback\nback\ndelete\n"
        "continue\nprint out0[0,0,0,3]\nprint g\n",
        &status);

    ck_assert_int_eq(status, 1); /* there are no variables */
    twist_expect_in_order(out, want);
    twist_expect(out, arena_printf(twist.arena, "out0[0,0,0,3] = %.5g\n",
                                   (double)tensor_f16_to_f32(
                                       tensor_f32_to_f16((float)v))));
    twist_expect(out, "error: there is no 'g' here");
}
END_TEST

static const struct {
    const char *command, *want;
} bad[] = {
    {"fly", "there is no command 'fly'"},
    {"print", "print what?"},
    {"print nobody", "error: there is no 'nobody' here"},
    {"print (1 + ", "error: a number or name is missing"},
    {"print 1 +* 2", "error: "},
    {"print mine[3]", "error: index 3 is outside: there are 3 elements"},
    {"print mine[-1]", "error: index -1 is outside"},
    {"print mine[0.5]", "error: an index is a whole number"},
    {"print l[0]", "error: that has no elements"},
    {"print f.q", "error: there is no '.q'"},
    {"print src[-100000]", "error: nothing can be read at 0x"},
    {"print src[99999999999]", "error: the index is too large"},
    {"print src[0,0,2,0]", "error: in0[0,0,2,0]: dimension 2 has 2 elements"},
    {"print src[0,0]", "error: in0 has 4 dimensions, not 2 coordinates"},
    {"print in0[-1,0,0,0]", "error: in0[-1,0,0,0]: dimension 0 has 1"},
    {"print in0[96]", "error: in0 has 96 elements"},
    {"print *l", "error: that is not a pointer"},
    {"print 1 / (l - l)", "error: division by zero"},
    {"print f + 1", "error: that is not a number"},
    {"print 1 2", "error: what is '2'?"},
    {"print 1 && nobody", "error: there is no 'nobody' here"},
    {"print 0 && (1", "error: ')' or ']' is missing"},
    {"print 0 && 1)", "error: what is ')'?"},
    {"break", "break what?"},
    {"break a:b", "is no FILE:LINE, LINE or FUNCTION"},
    {"break 0", "is no FILE:LINE, LINE or FUNCTION"},
    {"watch mine", "error: that is not a number"},
    {"delete x", "is no number of a breakpoint"},
    {"delete 77", "there is no such breakpoint"},
    {"group 2,0,0", "is no work-group of T"},
    {"group 1,1,1,1", "is no work-group of T"},
    {"item 8,0,0", "is no item"},
    {"item x", "is no item"},
    {"step 0", "is no number from 1"},
    {"back 257", "is no number from 1 to 256"},
    {"bundle", "vpu debug --bundles"},
    {"list 500", "has no line 500"},
    {"list x", "'x' is no line"},
};

/* In item (3,0,0) of group (1,1,0) at line 23: l is 3, g 11. */
static const char *const expressions[][2] = {
    {"-l", "-3"},
    {"- -l", "3"},
    {"!l", "0"},
    {"!(l - 3)", "1"},
    {"-0.5 * 4", "-2"},
    {"l + 2 * g", "25"},
    {"(l + 2) * g", "55"},
    {"g / l", "3"},
    {"-g / l", "-3"},
    {"g % l", "2"},
    {"l - g - 1", "-9"},
    {"l < g", "1"},
    {"l > g", "0"},
    {"l <= 3", "1"},
    {"l >= 4", "0"},
    {"l == 3", "1"},
    {"l != 3", "0"},
    {"l == 3 && g == 3", "0"},
    {"l == 3 || g == 3", "1"},
    {"0 || 1 && 0", "0"},
    {"0 && nobody", "0"},
    {"1 || mine[9]", "1"},
    {"0 && mine[9] || l", "1"},
    {"1 || mine[nobody] && (2)", "1"},
    {"0 && (mine[9] || 1) + 4", "0"},
    {"(0 && nobody) + l", "3"},
    {"mine[0 && nobody]", "300"},
    {"l && g", "1"},
    {"1 + 1 == 2", "1"},
};
enum { N_EXPRESSIONS = sizeof expressions / sizeof *expressions };

START_TEST(values_of_expressions)
{
    str text = {0};
    const char *out;

    str_puts(&text, "break 23 if g == 11 && at == 27\nrun\n");
    for (size_t k = 0; k < N_EXPRESSIONS; k++)
        str_printf(&text, "print %s\n", expressions[k][0]);
    str_puts(&text, "print *src\nprint src[0]\n");
    out = twist_session(str_text(&text));
    for (size_t k = 0; k < N_EXPRESSIONS; k++)
        twist_expect(out, arena_printf(twist.arena, "\n%s = %s\n",
                                       expressions[k][0], expressions[k][1]));
    twist_expect(out,
                 arena_printf(twist.arena, "\n*src = %.5g\n", twist_ramp(0)));
    str_free(&text);
}
END_TEST

/* Integers of all sizes at their ends; l is 5 where the session stops, so that
 * the compiler cannot know them. */
START_TEST(values_at_their_ends)
{
    static const struct {
        const char *type, *value, *shown;
    } numbers[] = {
        {"char", "l - 133", "-128"},
        {"char", "l + 122", "127"},
        {"uchar", "l + 250", "255"},
        {"short", "l - 32773", "-32768"},
        {"short", "l + 32762", "32767"},
        {"ushort", "l + 65530", "65535"},
        {"int", "l - 2147483647 - 6", "-2147483648"},
        {"int", "l + 2147483642", "2147483647"},
        {"uint", "l + 4294967290u", "4294967295"},
        {"long", "l - 9223372036854775807l - 6", "-9223372036854775808"},
        {"long", "l + 9223372036854775802l", "9223372036854775807"},
        {"ulong", "l + 18446744073709551610ul", "18446744073709551615"},
        {"bool", "l == 5", "1"},
        {"half", "l + 0.5h", "5.5"},
        {"half", "-l", "-5"},
        {"float", "l * 0.0625f", "0.3125"},
        {"uchar4", "(uchar4)(l, 255, 128, 127)", "(5, 255, 128, 127)"},
        {"char2", "(char2)(-l, -128)", "(-5, -128)"},
        {"short2", "(short2)(-l, -32768)", "(-5, -32768)"}};
    enum { N = sizeof numbers / sizeof *numbers };
    str source = {0}, commands = {0};
    const char *out;

    str_puts(&source, "__kernel void twist(__global const half *src, __global "
                      "half *dst, float bias)\n{\n"
                      "    int l = get_local_id(0);\n");
    str_puts(&commands, "break 5 if l == 5\nrun\n");
    for (int k = 0; k < N; k++) {
        str_printf(&source, "    %s v%d = %s;", numbers[k].type, k,
                   numbers[k].value);
        str_printf(&commands, "print v%d\n", k);
    }
    str_printf(&source, "\n    dst[l] = src[l] + bias;\n}\n");
    terminal_text(&twist, "twist.cl", str_text(&source));
    out = twist_session(str_text(&commands));
    for (int k = 0; k < N; k++)
        twist_expect(out, arena_printf(twist.arena, "\nv%d = %s\n", k,
                                       numbers[k].shown));
    str_free(&source);
    str_free(&commands);
}
END_TEST

/* A function's name stops every item where it enters the function: the kernel,
 * and one that it calls. */
START_TEST(functions)
{
    static const char *const want[] = {
        "twist.cl:11 in twist, item (0,0,0) of group (0,0,0)",
        "twist.cl:11 in twist, item (1,0,0) of group (0,0,0)",
        "twist.cl:11 in twist, item (2,0,0) of group (0,0,0)", NULL};
    static const char *const called[] = {
        "twist.cl:3 in scaled, item (0,0,0) of group (0,0,0)",
        "twist.cl:3 in scaled, item (1,0,0) of group (0,0,0)",
        "twist.cl:3 in scaled, item (2,0,0) of group (0,0,0)", NULL};

    twist_expect_in_order(
        twist_session("break twist\nrun\ncontinue\ncontinue\n"), want);
    twist_expect_in_order(
        twist_session("break scaled\nrun\ncontinue\ncontinue\n"), called);
}
END_TEST

/* Two thousand lines are two thousand places to stop at. */
START_TEST(a_long_kernel)
{
    enum { LINES = 2000 };
    str source = {0};
    const char *out;

    str_puts(&source, "__kernel void twist(__global const half *src, __global "
                      "half *dst, float bias)\n{\n"
                      "    int l = get_local_id(0), x = l;\n");
    for (int k = 4; k < LINES; k++)
        str_printf(&source, "    x = (x ^ l) * %d;\n", 2 * k + 1);
    str_puts(&source, "    dst[l] = x;\n}\n");
    terminal_text(&twist, "twist.cl", str_text(&source));
    out = twist_session(arena_printf(twist.arena,
                                     "break 1234 if l == 1\nrun\nnext\n"
                                     "break %d if l == 1\ncontinue\nback 2\n",
                                     LINES));
    twist_expect_in_order(
        out, (const char *const[]){"twist.cl:1234 in twist", "\n1235\t",
                                   "twist.cl:2000 in", "\n1998\t", NULL});
    str_free(&source);
}
END_TEST

/* 3 x 2 x 2 groups of 2 x 3 x 2 items: no size stands for another. */
START_TEST(groups_and_items_of_three_dimensions)
{
    static const char *const want[] = {"item (0,0,0) of group (1,0,1)",
                                       "item (1,2,1) of group (1,0,1)",
                                       "x * 100 + y * 10 + z = 323\n",
                                       "item (1,0,1) of group (1,0,1)",
                                       "x * 100 + y * 10 + z = 303\n",
                                       "item (0,0,0) of group (2,1,1)",
                                       NULL};
    const char *out;
    int status;

    terminal_text(&twist, "solid.cl",
                  "__kernel void twist(__global const half *src, __global half "
                  "*dst, float bias)\n{\n"
                  "    int x = get_global_id(0), y = get_global_id(1);\n"
                  "    int z = get_global_id(2);\n"
                  "    dst[(z * 6 + y) * 6 + x] = src[x] + bias;\n}\n");
    terminal_text(&twist, "solid.xml",
                  "<CustomLayer name=\"T\" type=\"MVCL\" version=\"1\">"
                  "<Kernel entry=\"twist\"><Source filename=\"solid.cl\"/>"
                  "<Parameters><Tensor arg-name=\"src\" type=\"input\" "
                  "port-index=\"0\" format=\"BFYX\"/><Tensor arg-name=\"dst\" "
                  "type=\"output\" port-index=\"0\" format=\"BFYX\"/>"
                  "<Scalar arg-name=\"bias\" type=\"float\" source=\"bias\"/>"
                  "</Parameters><WorkSizes dim=\"input,0\" global=\"X,Y,F\" "
                  "local=\"2,3,2\"/></Kernel></CustomLayer>");
    out =
        twist_session_of("solid.xml --shape in0=1x4x6x6 --param bias=0 --input "
                         "0=ramp",
                         "break 5\ngroup 1,0,1\ncontinue\nitem 1,2,1\n"
                         "print x * 100 + y * 10 + z\n"
                         "group 0,0,0\ngroup 1,0,1\ncontinue\nitem 1,0,1\n"
                         "print x * 100 + y * 10 + z\ngroup 2,1,1\n",
                         &status);
    ck_assert_int_eq(status, 0);
    twist_expect_in_order(out, want);
}
END_TEST

/* A structure that a function makes in the place of the caller's array. */
START_TEST(variable_in_the_place_of_a_result)
{
    static const char *const want[] = {
        "twist.cl:5 in made, item (3,0,0) of group (0,0,0)",
        "m = {a = 3, b = {2, 3, 4}}\n", "twist.cl:12 in twist",
        "rows = {{a = 7, b = {1, 1, 1}}, {a = 3, b = {2, 6, 4}}}\n", NULL};

    terminal_text(&twist, "twist.cl",
                  "typedef struct { int a, b[3]; } many;\n"
                  "many made(int of)\n"
                  "{\n"
                  "    many m = {of, {2, 3, 4}};\n"
                  "    m.b[1] += of;\n"
                  "    return m;\n}\n"
                  "__kernel void twist(__global const half *src, __global half "
                  "*dst, float bias)\n{\n"
                  "    int l = get_local_id(0);\n"
                  "    many rows[2] = {{7, {1, 1, 1}}, made(l)};\n"
                  "    dst[l] = rows[1].b[1] + rows[1].a + bias;\n}\n");
    twist_expect_in_order(
        twist_session("break 5 if of == 3\nrun\nprint m\n"
                      "break 12 if l == 3\ncontinue\nprint rows\n"),
        want);
}
END_TEST

START_TEST(bad_commands)
{
    str all = {0};
    const char *out, *at;

    str_puts(&all, "break 19\nrun\n");
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        str_printf(&all, "%s\n", bad[k].command);
    str_puts(&all, "print ");
    for (int k = 0; k < 400; k++)
        str_puts(&all, "(");
    str_puts(&all, "\n");
    for (int k = 0; k < 3000; k++)
        str_puts(&all, "x");
    str_puts(&all, "\nprint l + 40\n");
    at = out = twist_session(str_text(&all));
    str_free(&all);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        at = strstr(at, bad[k].want);
        ck_assert_msg(at != NULL, "%s: '%s' is missing in\n%s", bad[k].command,
                      bad[k].want, out);
    }
    twist_expect(at, "nested deeper than 64");
    twist_expect(at, "that line is too long");
    twist_expect(at, "l + 40 = 40\n");
}
END_TEST

static const char *const nowhere[] = {
    "step\nstep\nwhere\nlocals\nlist 1\n",
    "back\nreverse-continue\nitem 0\n",
    "",
    "\n\n\n",
    "help\n",
    "quit\nprint 1\n",
    "print dst\nprint bias * 2\n",
    "watch l\nwatch bias\nrun\nback\nback\nstep\nwhere\n"};

/* Whatever comes before, between and after runs ends in order. */
START_TEST(ends)
{
    const char *out = twist_session(nowhere[_i]);

    ck_assert_ptr_null(strstr(out, "our own bug"));
    if (_i == 4)
        twist_expect(out, "reverse-continue");
    if (_i == 5)
        ck_assert_str_eq(out, "");
}
END_TEST

START_TEST(script_and_options)
{
    int status;
    const char *out;

    terminal_text(&twist, "script", "break 22 if at == 1\nrun\n");
    out = twist_session_of(TWIST_ARGS " -x script", "print at\n", &status);
    ck_assert_int_eq(status, 0);
    twist_expect(out, "\nat = 1\n");
    out = twist_session_of(TWIST_ARGS " -x nowhere", "", &status);
    ck_assert_int_eq(status, 2);
    twist_expect(out, "nowhere");
    out = twist_session_of(TWIST_ARGS " --timing flow", "", &status);
    ck_assert_int_eq(status, 2);
    twist_expect(out, "unknown option --timing");
    out = twist_session_of("layer.xml", "", &status);
    ck_assert_int_eq(status, 2);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("debug");
    TCase *c = tcase_create("debug");
    SRunner *r;
    int failed;
    tcase_add_test(c, values_of_expressions);

    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, twist_open, twist_close);
    tcase_add_test(c, the_ramp);
    tcase_add_test(c, an_absolute_name);
    tcase_add_test(c, variables);
    tcase_add_test(c, steps);
    tcase_add_test(c, where);
    tcase_add_test(c, backwards);
    tcase_add_test(c, who_wrote_it);
    tcase_add_test(c, watches);
    tcase_add_test(c, items_and_groups);
    tcase_add_test(c, in_any_order);
    tcase_add_test(c, a_fault);
    tcase_add_test(c, by_bundle);
    tcase_add_test(c, values_at_their_ends);
    tcase_add_test(c, functions);
    tcase_add_test(c, a_long_kernel);
    tcase_add_test(c, groups_and_items_of_three_dimensions);
    tcase_add_test(c, variable_in_the_place_of_a_result);
    tcase_add_test(c, bad_commands);
    tcase_add_loop_test(c, ends, 0, sizeof nowhere / sizeof *nowhere);
    tcase_add_test(c, script_and_options);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
