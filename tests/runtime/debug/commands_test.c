/* The commands of vpu debug as a person types them: their names, short forms
 * and beginnings, and what is said of those that there are not. */
#include <check.h>
#include <string.h>

#include "tests/runtime/debug/twist.h"

/* Each pair: what is typed, the name of the command that help then shows. */
static const char *const names[][2] = {
    {"run", "run"},
    {"ru", "run"},
    {"r", "run"},
    {"cont", "continue"},
    {"c", "continue"},
    {"s", "step"},
    {"st", "step"},
    {"n", "next"},
    {"ni", "bundle"},
    {"si", "bundle"},
    {"rev", "reverse-continue"},
    {"rc", "reverse-continue"},
    {"b", "break"},
    {"br", "break"},
    {"d", "delete"},
    {"p", "print"},
    {"i", "info"},
    {"info b", "info breakpoints"},
    {"info lo", "info locals"},
    {"i loc", "info locals"},
    {"l", "list"},
    {"h", "help"},
    {"q", "quit"},
    {"wa", "watch"},
    {"whe", "where"},
};

START_TEST(a_beginning_is_enough)
{
    const char *out =
        twist_session(arena_printf(twist.arena, "help %s\n", names[_i][0]));
    size_t n = strlen(names[_i][1]);

    ck_assert_msg(strlen(out) > 5 && !strncmp(out + 5, names[_i][1], n) &&
                      out[5 + n] == ' ',
                  "'%s' is not\n%s", names[_i][0], out);
}
END_TEST

static const char *const unknown[][2] = {
    {"info x", "there is no command 'info x': help lists them"},
    {"info locls",
     "there is no command 'info locls'; did you mean 'info locals'?"},
    {"brek 3", "there is no command 'brek'; did you mean 'break'?"},
    {"zzzz", "there is no command 'zzzz': help lists them"},
    {"help zzzz", "there is no command 'zzzz': help lists them"},
    {"/", "there is no command '/'"},
};

START_TEST(unknown_names)
{
    twist_expect(twist_session(unknown[_i][0]), unknown[_i][1]);
}
END_TEST

/* What help lists, help explains, by the same line. */
START_TEST(help_of_each)
{
    str each = {0};
    const char *all = twist_session("help\n"), *out;
    size_t n = (size_t)(strstr(all, "A name") - all);
    int found = 0;

    for (const char *line = all; line < all + n;
         line += strcspn(line, "\n") + 1, found++) {
        const char *end = line + 5;

        /* The name ends where its arguments, or blanks, begin. */
        while (strchr("abcdefghijklmnopqrstuvwxyz-", *end) ||
               (*end == ' ' && end[1] >= 'a' && end[1] <= 'z'))
            end++;
        str_printf(&each, "help %.*s\n", (int)(end - line - 5), line + 5);
    }
    out = twist_session(str_text(&each));
    str_free(&each);
    ck_assert_int_ge(found, 20);
    ck_assert_msg(strlen(out) == n && !memcmp(out, all, n), "%s", out);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("debug commands");
    TCase *c = tcase_create("commands");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, twist_open, twist_close);
    tcase_add_loop_test(c, a_beginning_is_enough, 0,
                        sizeof names / sizeof *names);
    tcase_add_loop_test(c, unknown_names, 0, sizeof unknown / sizeof *unknown);
    tcase_add_test(c, help_of_each);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
