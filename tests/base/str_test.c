/* Texts for XML: its characters stay, every other byte becomes '?'. */
#include <check.h>
#include <string.h>

#include "base/str.h"

/* UTF-8 as RFC 3629 has it, and the Char of XML 1.0. */
static const struct {
    const char *text, *want; /* NULL: the text itself */
} texts[] = {
    {"", NULL},
    {"a <b> & \"c\"\t\r\n", NULL},
    {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", NULL},
    {"\x7f\xc2\x80", NULL},
    {"\x01\x1f", "??"},
    /* The least and the greatest of each length, and forms that are too long.
     */
    {"\xc2\x80\xdf\xbf", NULL},
    {"\xe0\xa0\x80\xef\xbf\xbd", NULL},
    {"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", NULL},
    {"\xc1\xbf", "??"},
    {"\xe0\x9f\xbf", "???"},
    {"\xf0\x8f\xbf\xbf", "????"},
    /* Surrogates, no characters, and numbers above the last one. */
    {"\xed\x9f\xbf\xee\x80\x80", NULL},
    {"\xed\xa0\x80", "???"},
    {"\xed\xbf\xbf", "???"},
    {"\xef\xbf\xbe\xef\xbf\xbf", "??????"},
    {"\xf4\x90\x80\x80", "????"},
    {"\xf8\x88\x80\x80\x80", "?????"},
    /* Cut off, and a byte that continues nothing. */
    {"\xc3", "?"},
    {"\xe2\x82x", "??x"},
    {"\xf0\x9f\x98", "???"},
    {"x\x80y\xbf", "x?y?"},
};

START_TEST(what_xml_can_hold)
{
    const char *want = texts[_i].want ? texts[_i].want : texts[_i].text;
    str s = {0};

    str_puts_xml(&s, texts[_i].text);
    ck_assert_str_eq(str_text(&s), want);
    str_free(&s);
}
END_TEST

START_TEST(markup_is_escaped)
{
    str s = {0};

    str_puts(&s, "x ");
    str_puts_markup(&s, "a<b> & \"c\" \x01 '");
    ck_assert_str_eq(str_text(&s), "x a&lt;b&gt; &amp; &quot;c&quot; ? '");
    str_free(&s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("str");
    TCase *t = tcase_create("str");
    SRunner *r;
    int failed;

    tcase_add_loop_test(t, what_xml_can_hold, 0, sizeof texts / sizeof *texts);
    tcase_add_test(t, markup_is_escaped);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
