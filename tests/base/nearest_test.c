/* Which known name a misspelt word finds. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

static const char *const names[] = {
    "run",       "check",    "blob",           "record",      "replay",
    "ddr_clock", "clk_mhz",  "ddr_load_stall", "ddr_stores",  "ddr_load_depth",
    "noise",     "--engine", "--max-slowdown", "interpreted", "x"};

static const struct {
    const char *word, *found;
} rows[] = {
    {"rn", "run"},
    {"rum", "run"},
    {"rnu", "run"},
    {"runn", "run"},
    {"RUN", "run"},
    {"chekc", "check"},
    {"ddr_laod", "ddr_load_stall"},
    {"ddr_load_stal", "ddr_load_stall"},
    {"ddr_load_dept", "ddr_load_depth"},
    {"ddr_c", "ddr_clock"},
    {"rec", "record"},
    {"rep", "replay"},
    {"nioes", "noise"},
    {"naaae", NULL}, /* three mistakes in five letters */
    {"interprted", "interpreted"},
    {"--max-slow", "--max-slowdown"},
    {"--engines", "--engine"},
    {"li", NULL}, /* a beginning of two letters says nothing */
    {"x", NULL},
    {"", NULL},
    {"zebra", NULL},
};

static const char *find(const char *word)
{
    nearest n = {.word = word};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        nearest_offer(&n, names[i]);
    return n.best;
}

START_TEST(words)
{
    const char *found = find(rows[_i].word);

    ck_assert_pstr_eq(found, rows[_i].found);
}
END_TEST

/* One mistake of each kind at each place of each name of four letters or more
 * finds a name that is as near: its own, or one with the same beginning. */
START_TEST(one_mistake)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);

        for (size_t at = 0; at < n && n > 3; at++) {
            char word[80];

            snprintf(word, sizeof word, "%.*s%s", (int)at, names[i],
                     names[i] + at + 1);
            ck_assert_msg(find(word) == names[i], "%s: %s", word, find(word));
            snprintf(word, sizeof word, "%.*s~%s", (int)at, names[i],
                     names[i] + at);
            ck_assert_msg(find(word) == names[i], "%s: %s", word, find(word));
            snprintf(word, sizeof word, "%.*s~%s", (int)at, names[i],
                     names[i] + at + 1);
            ck_assert_msg(find(word) == names[i], "%s: %s", word, find(word));
            if (!at)
                continue;
            snprintf(word, sizeof word, "%.*s%c%c%s", (int)at - 1, names[i],
                     names[i][at], names[i][at - 1], names[i] + at + 1);
            ck_assert_msg(find(word) == names[i], "%s: %s", word, find(word));
        }
    }
}
END_TEST

START_TEST(long_words)
{
    char word[100];

    memset(word, 'a', sizeof word);
    for (size_t n = 60; n < 70; n++) {
        nearest x = {.word = word};
        char name[100];

        word[n] = 0;
        strcpy(name, word);
        name[0] = 'b';
        nearest_offer(&x, name);
        ck_assert((x.best == name) == (n <= NEAREST_LONGEST));
        word[n] = 'a';
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("nearest");
    TCase *t = tcase_create("all");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_loop_test(t, words, 0, sizeof rows / sizeof *rows);
    tcase_add_test(t, one_mistake);
    tcase_add_test(t, long_words);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
