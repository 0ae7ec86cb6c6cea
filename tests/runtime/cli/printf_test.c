/* printf of kernels through the vpu program: whose output comes when, and the
 * prefix. What must come is computed here. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/terminal.h"

#define XML                                                               \
    "<CustomLayer name=\"P\" type=\"MVCL\" version=\"1\">\n"              \
    "  <Kernel entry=\"say\">\n"                                          \
    "    <Source filename=\"say.cl\"/>\n"                                 \
    "    <Parameters>\n"                                                  \
    "      <Tensor arg-name=\"src\" type=\"input\" port-index=\"0\"/>\n"  \
    "      <Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\"/>\n" \
    "    </Parameters>\n"                                                 \
    "    <WorkSizes dim=\"input,0\" global=\"X,Y,F\" local=\"4,1,1\"/>\n" \
    "  </Kernel>\n"                                                       \
    "</CustomLayer>\n"

#define KERNEL(body)                                                  \
    "__kernel void say(__global const half *src, __global half *dst)" \
    "\n{\n    int x = get_global_id(0), y = get_global_id(1), z = "   \
    "get_global_id(2);\n    dst[0] = src[0];\n" body "}\n"

/* 2 x 5 x 3 groups of 4 items. */
#define RUN "run layer.xml --shape in0=1x3x5x8 --report json "

static terminal p;

static void setup(void)
{
    terminal_open(&p);
    terminal_text(&p, "layer.xml", XML);
}

static void teardown(void)
{
    terminal_close(&p);
}

static const char *const how[] = {
    "",
    "--shaves 4",
    "--shaves 1",
    "--shaves 7 --threads 1",
    "--threads 2",
    "--threads 3 --shaves 5",
    "--order reverse",
    "--order random:5 --shaves 3",
    "--engine interpreted",
    "--timing none",
    "--set wg_split=0",
    "--set wg_split=1",
};
enum { N_HOW = sizeof how / sizeof *how };

static void printed_is(const char *args, const str *want)
{
    terminal_run(&p, arena_printf(p.arena, RUN "--quiet %s", args));
    ck_assert_msg(p.status == 0, "%s: %s", args, p.err);
    ck_assert_msg(!strcmp(p.err, str_text(want)), "%s: printed\n%s", args,
                  p.err);
}

/* Before and behind a barrier. Items of a group in their order. */
static void say(str *o, bool prefix)
{
    for (int g = 0; g < 30; g++)
        for (int part = 0; part < 2; part++)
            for (int l = 0; l < 4; l++) {
                int x = g % 2 * 4 + l, y = g / 2 % 5, z = g / 10;

                if (prefix)
                    str_printf(o, "[group %d,%d,%d item %d,0,0] ", g % 2, y, z,
                               l);
                if (!part)
                    str_printf(o, "%d %d %d\n", x, y, z);
                else
                    str_printf(o, "then %.1f\n", x + 0.5);
            }
}

START_TEST(by_group)
{
    str want = {0};

    terminal_text(&p, "say.cl",
                  KERNEL("    printf(\"%d %d %d\\n\", x, y, z);\n"
                         "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                         "    printf(\"then %.1f\\n\", x + 0.5f);\n"));
    say(&want, _i >= N_HOW);
    printed_is(arena_printf(p.arena, "%s%s", how[_i % N_HOW],
                            _i >= N_HOW ? " --printf-prefix" : ""),
               &want);
    str_free(&want);
}
END_TEST

/* Lines are prefixed, not calls. */
START_TEST(prefix_of_lines)
{
    str want = {0};

    terminal_text(&p, "say.cl",
                  KERNEL("    if (x == 5 && y == 4 && z == 2) {\n"
                         "        printf(\"a\");\n        printf(\"b\\n\\n"
                         "c\");\n        printf(\"\\nd\\n\");\n    }\n"));
    for (int k = 0; k < 4; k++)
        str_printf(&want, "[group 1,4,2 item 1,0,0] %s\n",
                   (const char *[]){"ab", "", "c", "d"}[k]);
    printed_is("--printf-prefix", &want);
    str_free(&want);
}
END_TEST

/* More than is kept in memory; from the last group on. */
START_TEST(much)
{
    str want = {0};

    terminal_text(&p, "say.cl",
                  KERNEL("    if (x % 4 == 0)\n"
                         "        for (int i = 0; i < 8000; i++)\n"
                         "            printf(\"%60d %d %d %d\\n\", i, x, y, z);"
                         "\n"));
    for (int g = 0; g < 30; g++)
        for (int i = 0; i < 8000; i++)
            str_printf(&want, "%60d %d %d %d\n", i, g % 2 * 4, g / 2 % 5,
                       g / 10);
    ck_assert_uint_gt(want.n, 12 << 20);
    printed_is(_i ? "--order reverse" : "--shaves 4", &want);
    str_free(&want);
}
END_TEST

/* One group has a limit of its own, so that it cannot keep all. */
START_TEST(too_much)
{
    const char *end;

    terminal_text(&p, "say.cl",
                  KERNEL("    if (!x && !y && !z)\n"
                         "        for (int i = 0; i < 50000; i++)\n"
                         "            printf(\"%120d\\n\", i);\n"
                         "    if (x == 7 && y == 4 && z == 2)\n"
                         "        printf(\"last\\n\");\n"));
    terminal_run(&p, RUN "--quiet");
    ck_assert_int_eq(p.status, 0);
    end = strstr(p.err, "\n[printf: more than 4194304 bytes of one work-group");
    ck_assert_ptr_nonnull(end);
    ck_assert_int_ge(end - p.err, 4194304);
    ck_assert_int_le(end - p.err, 4194304 + 200);
    ck_assert_ptr_nonnull(strstr(end, "]\nlast\n"));
}
END_TEST

/* What was printed before the end of a launch that fails is the way to find
 * out why. */
START_TEST(before_a_fault)
{
    terminal_text(&p, "say.cl",
                  KERNEL("    printf(\"%d %d %d\\n\", x, y, z);\n"
                         "    if (x == 6 && z == 2)\n"
                         "        dst[100000000] = 1;\n"));
    terminal_run(&p, RUN "--quiet --shaves 1");
    ck_assert_int_eq(p.status, 3);
    ck_assert(!strncmp(p.err, "0 0 0\n1 0 0\n", 12));
    ck_assert_ptr_nonnull(strstr(p.err, "5 0 2\n6 0 2\nvpu: kernel bug: "));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("printf");
    TCase *c = tcase_create("printf");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, by_group, 0, 2 * N_HOW);
    tcase_add_test(c, prefix_of_lines);
    tcase_add_loop_test(c, much, 0, 2);
    tcase_add_test(c, too_much);
    tcase_add_test(c, before_a_fault);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
