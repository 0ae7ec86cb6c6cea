/* Command lines taken apart by rows: every kind of value, words that are no
 * option, what is refused and in which words, and the help of the rows. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cli/options.h"

typedef struct {
    bool flag;
    const char *text, *name;
    uint32_t count;
    uint64_t number;
    double seconds;
    int choice;
    options_list list;
    const char *other;
} fields;

static bool take_even(void *to, const char *value, arena *a)
{
    (void)a;
    *(const char **)to = value ? value : "none";
    return !value || strlen(value) % 2 == 0;
}

#define AT(field) offsetof(fields, field)

static const cli_option rows[] = {
    {.kind = OPTION_HEADING, .help = "A heading:"},
    {"flag", NULL, OPTION_FLAG, AT(flag), .help = "is set"},
    {"text", "[OUT=]TEXT", OPTION_TEXT, AT(text), .help = "may be empty"},
    {"name", "NAME", OPTION_NAME, AT(name), .help = "may not"},
    {"count", "N", OPTION_COUNT, AT(count), .help = "from 1"},
    {"few", "N", OPTION_COUNT, AT(count), .most = 12, .help = "and to 12"},
    {"number", "N", OPTION_NUMBER, AT(number), .help = "from 0"},
    {"seconds", "S", OPTION_SECONDS, AT(seconds), .needs = 4, .help = "time"},
    {"choice", "one|two|three", OPTION_CHOICE, AT(choice), .help = "a word"},
    {"list", "X", OPTION_LIST, AT(list), .help = "several"},
    {"other", "[=XX]", OPTION_OTHER, AT(other), .take = take_even, .needs = 8,
     .help = "letters in pairs"},
    {"older", "TEXT", OPTION_TEXT, AT(text), .help = NULL},
    {"-D", "X", OPTION_LIST, AT(list), .help = "a letter"},
    {"-cl-…", NULL, OPTION_LIST, AT(list), .help = "a beginning"},
    {"text", "TEXT", OPTION_NAME, AT(name), .help = NULL}};

static arena *a;
static fields got;
static options_line line;
static vpu_error err;

static void setup(void)
{
    a = arena_create(0);
    got = (fields){.choice = -1};
}

static void teardown(void)
{
    arena_destroy(a);
}

/* The words behind the command's name, a blank between two. */
static vpu_status parse(const char *text)
{
    const options_table t = {rows, sizeof rows / sizeof *rows, &got};
    char *words = arena_strdup(a, text);

    line.argc = 0;
    line.argv = arena_array(a, char *, strlen(text) + 3);
    line.argv[line.argc++] = "command";
    for (char *w = strtok(words, " "); w; w = strtok(NULL, " "))
        line.argv[line.argc++] = w;
    line.argv[line.argc] = NULL;
    return options_parse(&t, 1, &line, a, &err);
}

START_TEST(every_kind_of_value)
{
    ck_assert(!parse("--flag --text= --name=n --count 4294967295 --number 0 "
                     "--seconds 2.5 --choice two --list a --list=b -Dc -D d "
                     "-cl-fast --other=xy"));
    ck_assert(got.flag);
    ck_assert_str_eq(got.text, "");
    ck_assert_str_eq(got.name, "n");
    ck_assert_uint_eq(got.count, UINT32_MAX);
    ck_assert_uint_eq(got.number, 0);
    ck_assert_double_eq(got.seconds, 2.5);
    ck_assert_int_eq(got.choice, 1);
    ck_assert_uint_eq(got.list.n, 5);
    ck_assert_str_eq(got.list.items[0], "-cl-fast"); /* seen first */
    for (uint32_t i = 1; i < 5; i++)
        ck_assert_int_eq(got.list.items[i][0], (int)('a' + i - 1));
    ck_assert_str_eq(got.other, "xy");
    ck_assert_int_eq(line.n_words, 0);
}
END_TEST

START_TEST(words_between_and_behind)
{
    ck_assert(!parse("one --flag two --other three --older t -- --flag -cl-x"));
    ck_assert(got.flag);
    ck_assert_str_eq(got.other, "none");
    ck_assert_str_eq(got.text, "t");
    ck_assert_int_eq(line.n_words, 5);
    ck_assert_str_eq(line.words[0], "one");
    ck_assert_str_eq(line.words[2], "three");
    ck_assert_str_eq(line.words[3], "--flag");
    ck_assert_str_eq(line.words[4], "-cl-x");
}
END_TEST

START_TEST(the_given_ones_with_needs)
{
    ck_assert(!parse("--other --flag --seconds 0"));
    ck_assert_uint_eq(line.needs.n, 2);
    ck_assert_str_eq(line.needs.given[0]->name, "other");
    ck_assert_str_eq(line.needs.given[1]->name, "seconds");
}
END_TEST

/* There is a limit to what is remembered of them, none to what is taken. */
START_TEST(many_with_needs)
{
    char *text = arena_array(a, char, 300 * sizeof "--seconds 1 ");

    for (int i = 0; i < 300; i++)
        strcat(text, i % 3 ? "--seconds 1 " : "--seconds 2 ");
    ck_assert(!parse(text));
    ck_assert_uint_eq(line.needs.n, OPTION_MAX_LIST);
    for (uint32_t i = 0; i < line.needs.n; i++)
        ck_assert_str_eq(line.needs.given[i]->name, "seconds");
    ck_assert_double_eq(got.seconds, 1);
}
END_TEST

START_TEST(cut_short_and_of_the_same_name)
{
    ck_assert(!parse("--few 12"));
    ck_assert_uint_eq(got.count, 12);
    ck_assert(!parse("--fl --cou 3 --text x"));
    ck_assert(got.flag);
    ck_assert_uint_eq(got.count, 3);
    ck_assert_str_eq(got.text, "x"); /* the first row of that name */
    ck_assert_ptr_null(got.name);
}
END_TEST

static const struct {
    const char *line, *text;
} refused[] = {
    {"--nothing", "unknown option --nothing"},
    {"--conut 3", "unknown option --conut; did you mean --count?"},
    {"--chioce=one", "unknown option --chioce=one; did you mean --choice?"},
    {"--oldr t", "unknown option --oldr"}, /* not an older spelling */
    {"--=", "unknown option --="},
    {"-z", "unknown option -z"},
    {"--count", "--count needs a value"},
    {"-D", "-D needs a value"},
    {"--flag=1", "--flag=1 takes no value"},
    {"--count 0",
     "--count does not take '0': expected a whole number from 1 to 4294967295"},
    {"--count 4294967296", "--count does not take '4294967296': expected a "
                           "whole number from 1 to 4294967295"},
    {"--count 1x", "--count does not take '1x': expected a whole number from 1 "
                   "to 4294967295"},
    {"--few 13",
     "--few does not take '13': expected a whole number from 1 to 12"},
    {"--few 0",
     "--few does not take '0': expected a whole number from 1 to 12"},
    {"--number -1",
     "--number does not take '-1': expected a whole number from 0"},
    {"--seconds -1",
     "--seconds does not take '-1': expected seconds, from 0 to 1e9"},
    {"--seconds 1e10",
     "--seconds does not take '1e10': expected seconds, from 0 to 1e9"},
    {"--seconds nan",
     "--seconds does not take 'nan': expected seconds, from 0 to 1e9"},
    {"--name=", "--name does not take '': expected a word that is not empty"},
    {"--choice four", "--choice does not take 'four': expected one|two|three"},
    {"--choice tw", "--choice does not take 'tw': expected one|two|three"},
    {"--choice one|two",
     "--choice does not take 'one|two': expected one|two|three"},
    {"--choice=", "--choice does not take '': expected one|two|three"},
    {"--other=odd", "--other does not take 'odd': expected XX"},
};

START_TEST(what_is_refused)
{
    ck_assert_int_eq(parse(refused[_i].line), VPU_ERR_INVALID);
    ck_assert_str_eq(err.msg, refused[_i].text);
}
END_TEST

START_TEST(lists_have_an_end)
{
    static const char *const one[] = {"-Dx ", "--list=x ", "-cl-x "};
    str text = {0};

    for (int i = 0; i < OPTION_MAX_LIST; i++)
        str_puts(&text, one[_i]);
    ck_assert(!parse(str_text(&text)));
    ck_assert_uint_eq(got.list.n, OPTION_MAX_LIST);
    got.list.n = 0;
    str_puts(&text, one[_i]);
    ck_assert_int_eq(parse(str_text(&text)), VPU_ERR_INVALID);
    ck_assert_uint_eq(got.list.n, OPTION_MAX_LIST);
    ck_assert_msg(strstr(err.msg, "expected at most 256 of them"), "%s",
                  err.msg);
    str_free(&text);
}
END_TEST

START_TEST(help_in_columns)
{
    static const cli_option few[] = {
        {.kind = OPTION_HEADING, .help = "Few:"},
        {"short", NULL, OPTION_FLAG, 0, .help = "a flag"},
        {"a-name-of-some-length", "VALUE", OPTION_TEXT, 0,
         .help =
             "stands below; and a text that is longer than the line has room "
             "is broken between words"},
        {"hidden", NULL, OPTION_FLAG, 0, .help = NULL},
        {"maybe", "[=N]", OPTION_TEXT, 0, .help = "first\nsecond"},
        {"-x", "…", OPTION_TEXT, 0, .help = "columns, not bytes"}};
    str out = {0};

    options_help(few, sizeof few / sizeof *few, &out);
    ck_assert_str_eq(
        str_text(&out),
        "Few:\n"
        "  --short                 a flag\n"
        "  --a-name-of-some-length VALUE\n"
        "                          stands below; and a text that is longer "
        "than "
        "the line\n"
        "                          has room is broken between words\n"
        "  --maybe[=N]             first\n"
        "                          second\n"
        "  -x …                    columns, not bytes\n");
    str_free(&out);
}
END_TEST

START_TEST(words_an_option_takes)
{
    static const struct {
        const char *word;
        int n;
    } words[] = {
        {"--flag", 1},     {"--count", 2}, {"--count=3", 1}, {"--other", 1},
        {"--other=xy", 1}, {"--coun", 0},  {"--counts", 0},  {"count", 0},
        {"-D", 2},         {"--D", 0},     {"", 0}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ck_assert_msg(options_words(rows, sizeof rows / sizeof *rows,
                                    words[i].word) == words[i].n,
                      "%s", words[i].word);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("options");
    TCase *c = tcase_create("options");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, every_kind_of_value);
    tcase_add_test(c, words_between_and_behind);
    tcase_add_test(c, the_given_ones_with_needs);
    tcase_add_test(c, many_with_needs);
    tcase_add_test(c, cut_short_and_of_the_same_name);
    tcase_add_loop_test(c, what_is_refused, 0,
                        sizeof refused / sizeof *refused);
    tcase_add_loop_test(c, lists_have_an_end, 0, 3);
    tcase_add_test(c, help_in_columns);
    tcase_add_test(c, words_an_option_takes);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
