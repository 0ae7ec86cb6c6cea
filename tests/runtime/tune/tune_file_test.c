/* Files of tuned sizes: written, read, refused. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "runtime/tune/tune_file.h"

#define KEY "0123456789abcdef 00000000000000aa ffffffffffffffff"
#define ROW KEY " 40,24,1 40,2,1 0 33403 cycles grn\n"
#define HEAD "vpu-tune 1\n"

static arena *a;
static char dir[] = "/tmp/tune-file-XXXXXX";
static vpu_error err;

static void setup(void)
{
    a = arena_create(0);
    strcpy(dir + strlen(dir) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void teardown(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -rf %s", dir);
    ck_assert_int_eq(system(command), 0);
    arena_destroy(a);
}

static vpu_status parse(const char *text, tune_file *f)
{
    return tune_file_parse("t.txt", text, strlen(text), a, f, &err);
}

static const char *printed(const tune_file *f)
{
    str s = {0};
    const char *text;

    tune_file_print(f, &s);
    text = arena_strdup(a, str_text(&s));
    str_free(&s);
    return text;
}

START_TEST(what_a_row_means)
{
    tune_file f;
    const tune_entry *e;
    tune_key key = {0x0123456789abcdef, 0xaa, UINT64_MAX, {40, 24, 1}};

    ck_assert_int_eq(parse(HEAD "# a remark\n\n \t\r\n" ROW, &f), VPU_OK);
    ck_assert_uint_eq(f.n, 1);
    e = tune_file_find(&f, &key);
    ck_assert_ptr_nonnull(e);
    ck_assert_mem_eq(e->choice.local, ((uint32_t[]){40, 2, 1}), 12);
    ck_assert_uint_eq(e->choice.shaves, 0);
    ck_assert_uint_eq(e->cost, 33403);
    ck_assert(e->cycles);
    ck_assert_str_eq(e->entry, "grn");
    ck_assert_str_eq(printed(&f), HEAD ROW);
    /* Every part of a key counts. */
    for (int i = 0; i < 6; i++) {
        tune_key other = key;

        other.kernel += i == 0;
        other.machine += i == 1;
        other.arguments -= i == 2;
        other.global[0] += i == 3;
        other.global[1] += i == 4;
        other.global[2] += i == 5;
        ck_assert_ptr_null(tune_file_find(&f, &other));
    }
    ck_assert_int_eq(parse(HEAD, &f), VPU_OK);
    ck_assert_uint_eq(f.n, 0);
    ck_assert_int_eq(parse("vpu-tune 1\r\n" KEY
                           " 8,1,1 8,1,1 3 18446744073709551615 ns k",
                           &f),
                     VPU_OK);
    ck_assert_uint_eq(f.rows[0].cost, UINT64_MAX);
    ck_assert_uint_eq(f.rows[0].choice.shaves, 3);
    ck_assert(!f.rows[0].cycles);
}
END_TEST

/* The order in which rows were found does not matter. */
START_TEST(rows_are_sorted)
{
    enum { N = 60 };
    static const uint32_t steps[] = {1, 7, 11, 13, 59};
    const char *first = NULL;

    for (uint32_t turn = 0; turn < 5; turn++) {
        tune_file f = {.n = 0};

        for (uint32_t i = 0; i < N; i++) {
            uint32_t k = (i * steps[turn] + turn) % N; /* all of them */
            tune_entry e = {.key = {k % 3, k % 4, k % 5, {100, k + 1, 1}},
                            .choice = {.local = {10, 1, 1}},
                            .cost = k,
                            .cycles = k % 2,
                            .entry = "k"};

            e.cost = 1; /* replaced by the next */
            tune_file_put(&f, a, &e);
            e.cost = k;
            tune_file_put(&f, a, &e);
        }
        ck_assert_uint_eq(f.n, N);
        first = first ? first : printed(&f);
        ck_assert_str_eq(printed(&f), first);
    }
    for (int i = 0; i < 2; i++) { /* and again from the file */
        const char *path = arena_printf(a, "%s/t.txt", dir);
        tune_file f;

        ck_assert_int_eq(parse(first, &f), VPU_OK);
        ck_assert_int_eq(tune_file_write(&f, path, &err), VPU_OK);
        ck_assert_int_eq(tune_file_read(path, a, &f, &err), VPU_OK);
        ck_assert_str_eq(printed(&f), first);
    }
}
END_TEST

static const struct {
    const char *text, *words; /* of the message */
} bad[] = {
    {"", "t.txt:1: error: ''; expected the line 'vpu-tune 1'"},
    {"vpu-tune 2\n", "t.txt:1: error: 'vpu-tune 2'"},
    {"vpu-tune 1 \n", "t.txt:1:"},
    {ROW, "t.txt:1:"},
    {HEAD ROW "grn 1\n", "t.txt:3: error: 'grn 1'; expected a row of nine"},
    {HEAD KEY " 40,24,1 40,2,1 0 33403 cycles\n", "nine words"},
    {HEAD KEY " 40,24,1 40,2,1 0 33403 cycles grn more\n", "nine words"},
    {HEAD "# x\n\n0123456789abcde 0 0 1,1,1 1,1,1 0 1 ns k\n",
     "t.txt:4: error: '0123456789abcde'; expected a hash of 16"},
    {HEAD "0123456789ABCDEF 0 0 1,1,1 1,1,1 0 1 ns k\n", "hash of 16"},
    {HEAD KEY " 40,24 40,2,1 0 1 ns k\n", "'40,24'; expected a global size"},
    {HEAD KEY " 40,24,1,1 40,2,1 0 1 ns k\n", "expected a global size"},
    {HEAD KEY " 40,0,1 40,2,1 0 1 ns k\n", "expected a global size"},
    {HEAD KEY " 40,24,1 40,x,1 0 1 ns k\n", "'40,x,1'; expected a local size"},
    {HEAD KEY " 40,24,1 40,-2,1 0 1 ns k\n", "expected a local size"},
    {HEAD KEY " 40,24,1 4294967336,2,1 0 1 ns k\n", "expected a local size"},
    {HEAD KEY " 40,24,1 40,25,1 0 1 ns k\n", "divides the global one"},
    {HEAD KEY " 40,24,1 40,5,1 0 1 ns k\n", "divides the global one"},
    {HEAD KEY " 40,24,1 40,2,1 -1 1 ns k\n", "'-1'; expected a number of SH"},
    {HEAD KEY " 40,24,1 40,2,1 0 1.5 ns k\n", "'1.5'; expected the cost"},
    {HEAD KEY " 40,24,1 40,2,1 0 18446744073709551616 ns k\n", "the cost"},
    {HEAD KEY " 40,24,1 40,2,1 0 1 s k\n", "'s'; expected cycles or ns"},
    {HEAD ROW KEY " 40,24,1 8,1,1 0 1 ns k\n",
     "t.txt:3: error: a row of the same key as that of line 2"},
};

START_TEST(malformed_rows)
{
    tune_file f;

    ck_assert_int_eq(parse(bad[_i].text, &f), VPU_ERR_PARSE);
    ck_assert_msg(strstr(err.msg, bad[_i].words) != NULL, "no '%s' in: %s",
                  bad[_i].words, err.msg);
    ck_assert_uint_eq(f.n, 0);
}
END_TEST

START_TEST(files_that_are_none)
{
    const char *path = arena_printf(a, "%s/t.txt", dir);
    const char *below = arena_printf(a, "%s/t.txt/x", dir);
    const tune_entry e = {.key = {1, 2, 3, {4, 4, 4}}, .entry = "k"};
    tune_file f = {.n = 0}, empty = {.n = 0};
    struct stat s;

    ck_assert_int_eq(tune_file_read(path, a, &f, &err), VPU_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.msg, "t.txt"));
    ck_assert_int_eq(tune_file_read(dir, a, &f, &err), VPU_ERR_IO);
    ck_assert_int_eq(
        tune_file_parse("t.txt", "vpu-tune 1\n\0", 12, a, &f, &err),
        VPU_ERR_PARSE);
    ck_assert_ptr_nonnull(strstr(err.msg, "zero byte"));
    /* What cannot be written leaves what was there, and nothing beside it. */
    ck_assert_int_eq(tune_file_write(&empty, path, &err), VPU_OK);
    tune_file_put(&f, a, &e);
    ck_assert_int_eq(tune_file_write(&f, below, &err), VPU_ERR_IO);
    ck_assert_int_eq(stat(path, &s), 0);
    ck_assert_int_eq(s.st_size, strlen(HEAD));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tune: files");
    TCase *t = tcase_create("files");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, what_a_row_means);
    tcase_add_test(t, rows_are_sorted);
    tcase_add_loop_test(t, malformed_rows, 0, sizeof bad / sizeof *bad);
    tcase_add_test(t, files_that_are_none);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
