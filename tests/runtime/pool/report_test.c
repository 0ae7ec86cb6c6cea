/* Plans as text, to the letter; as pictures, read by an XML parser. */
#include "runtime/pool/report.h"

#include <check.h>
#include <libxml/parser.h>
#include <string.h>

static arena *a;
static str out;

static const pool_item items[] = {
    {100, 64, 0, 1}, {1200, 64, 1, 12}, {0, 0, 2, 2}, {64, 64, 2, 4}};
static const char *const names[] = {"conv1", NULL, "n\303\251ant", "a\nb\x1b"};

static void setup(void)
{
    a = arena_create(0);
}

static void teardown(void)
{
    str_free(&out);
    arena_destroy(a);
}

static pool_plan plan_of(const pool_item *them, size_t n)
{
    pool_plan plan;

    ck_assert_int_eq(pool_plan_make(them, n, a, &plan, NULL), VPU_OK);
    return plan;
}

START_TEST(text)
{
    pool_plan plan = plan_of(items, 4);

    str_puts(&out, "before\n");
    pool_report_text(items, names, &plan, &out);
    ck_assert_str_eq(str_text(&out), "before\n"
                                     "name     bytes  offset  steps\n"
                                     "conv1      100    1216  0-1\n"
                                     "item 1    1200       0  1-12\n"
                                     "n\303\251ant        0       0  2-2\n"
                                     "a b\\x1b     64    1216  2-4\n"
                                     "\n"
                                     "peak         1344\n"
                                     "lower bound  1344\n"
                                     "sum          1408\n"
                                     "saved        64\n");
}
END_TEST

START_TEST(text_of_nothing)
{
    pool_plan plan = plan_of(NULL, 0);

    pool_report_text(NULL, NULL, &plan, &out);
    ck_assert_str_eq(str_text(&out), "name  bytes  offset  steps\n\n"
                                     "peak         0\nlower bound  0\n"
                                     "sum          0\nsaved        0\n");
}
END_TEST

/* A plan of somebody else's may need more than the sum. */
START_TEST(text_of_a_loss)
{
    static const pool_item two[] = {{10, 1, 0, 0}, {10, 64, 0, 0}};
    uint64_t offsets[] = {0, 64};
    pool_plan plan = {offsets, 2, 128, 74, 74};

    pool_report_text(two, NULL, &plan, &out);
    ck_assert_ptr_nonnull(strstr(str_text(&out), "\nsaved        -54\n"));
}
END_TEST

static unsigned times(const char *what)
{
    unsigned n = 0;

    for (const char *p = str_text(&out); (p = strstr(p, what)); p++)
        n++;
    return n;
}

static void check_xml(void)
{
    xmlDoc *doc =
        xmlReadMemory(str_text(&out), (int)out.n, "svg", NULL, XML_PARSE_NONET);

    ck_assert_ptr_nonnull(doc);
    ck_assert_str_eq((const char *)xmlDocGetRootElement(doc)->name, "svg");
    xmlFreeDoc(doc);
}

/* 13 steps are 840 pixels wide, 1344 bytes are 440 high. */
START_TEST(picture)
{
    pool_plan plan = plan_of(items, 4);

    pool_report_svg(items, names, &plan, 0, &out);
    check_xml();
    ck_assert_ptr_eq(strstr(str_text(&out),
                            "<svg xmlns=\"http://www.w3.org/2000/svg\" "
                            "width=\"960\" height=\"540\""),
                     str_text(&out));
    ck_assert_uint_eq(times("</title></rect>"), 3);
    ck_assert_ptr_nonnull(strstr(
        str_text(&out),
        "<rect x=\"164.61\" y=\"87.15\" width=\"775.39\" height=\"392.85\" "
        "fill=\"#f28e2b\"><title>item 1: 1200 bytes at 0, steps "
        "1-12</title></rect>\n"));
    ck_assert_uint_eq(times("<rect x=\"100.00\" y=\"49.17\" "
                            "width=\"129.23\" height=\"32.74\""),
                      1);
    ck_assert_uint_eq(times(">step 0<"), 1);
    ck_assert_uint_eq(times(">12</text>"), 1);
    ck_assert_uint_eq(times("are not drawn"), 0);
    ck_assert_uint_eq(times("y1=\"40.00\""), 1); /* the bound is the peak */
}
END_TEST

START_TEST(markup)
{
    static const char *const bad[] = {"</title><script>&\"'", "\xff\x01", "]]>",
                                      ""};
    pool_plan plan = plan_of(items, 4);

    pool_report_svg(items, bad, &plan, 0, &out);
    check_xml();
    ck_assert_uint_eq(times("<script"), 0);
    ck_assert_uint_eq(times("&lt;/title&gt;&lt;script&gt;&amp;"), 1);
    ck_assert_uint_eq(times("<title>??:") + times("<title>: 64 "), 1 + 1);
}
END_TEST

START_TEST(capped)
{
    static pool_item many[3000];
    pool_plan plan;

    for (size_t i = 0; i < 3000; i++)
        many[i] = (pool_item){1 + (i * 7) % 3000, 0, (uint32_t)i, (uint32_t)i};
    plan = plan_of(many, 3000);
    pool_report_svg(many, NULL, &plan, 0, &out);
    check_xml();
    ck_assert_uint_eq(times("</title></rect>"), POOL_MOST_RECTANGLES);
    ck_assert_uint_eq(times("; 1000 smaller items are not drawn"), 1);
    ck_assert_uint_eq(times(": 3000 bytes"), 1);
    ck_assert_uint_eq(times(": 1001 bytes"), 1);
    ck_assert_uint_eq(times(": 1000 bytes"), 0);
    str_free(&out);
    pool_report_svg(many, NULL, &plan, 5, &out);
    ck_assert_uint_eq(times("</title></rect>"), 5);
}
END_TEST

/* Nothing to draw, and figures that fit no double: the shorter life is below,
 * and halves are cut to hundredths. */
START_TEST(extremes)
{
    static const pool_item large[] = {{UINT64_MAX / 2, 0, 0, UINT32_MAX},
                                      {UINT64_MAX / 2, 0, 0, 0}};
    pool_plan plan = plan_of(NULL, 0);

    pool_report_svg(NULL, NULL, &plan, 0, &out);
    check_xml();
    ck_assert_uint_eq(times("</title></rect>"), 0);
    str_free(&out);
    plan = plan_of(large, 2);
    pool_report_svg(large, NULL, &plan, 0, &out);
    check_xml();
    ck_assert_uint_eq(times("width=\"840.00\" height=\"220.01\""), 1);
    ck_assert_uint_eq(times(">4294967295</text>"), 1);
}
END_TEST

START_TEST(same_again)
{
    pool_plan plan = plan_of(items, 4);
    str other = {0};

    pool_report_svg(items, names, &plan, 2, &out);
    pool_report_svg(items, names, &plan, 2, &other);
    ck_assert_str_eq(str_text(&out), str_text(&other));
    str_free(&other);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("report");
    TCase *c = tcase_create("report");
    SRunner *sr = srunner_create(s);
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, text);
    tcase_add_test(c, text_of_nothing);
    tcase_add_test(c, text_of_a_loss);
    tcase_add_test(c, picture);
    tcase_add_test(c, markup);
    tcase_add_test(c, capped);
    tcase_add_test(c, extremes);
    tcase_add_test(c, same_again);
    suite_add_tcase(s, c);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
