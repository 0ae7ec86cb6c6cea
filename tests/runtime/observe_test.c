/* vpu run's files for looking at a run, from outside: each is read by a reader
 * of its own here and compared with the report. */
#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/file.h"
#include "tests/support/terminal.h"

static terminal p;
static char home[1024];

static void setup(void)
{
    terminal_open(&p);
    ck_assert(getcwd(home, sizeof home));
}

static void teardown(void)
{
    terminal_close(&p);
}

/* One layer with DMA phases, one of two stages, one on DDR. */
static const char *const layers[] = {
    "grn/layer.xml --layer GRNDma --shape in0=1x5x11x48 --param bias=1",
    "mvn/layer.xml --shape in0=1x6x10x16 --param eps=0.001",
    "grn/layer.xml --layer GRNRolled --shape in0=1x7x9x20 --param bias=1"};
enum { N_LAYERS = sizeof layers / sizeof *layers };

static void run_layer(int i, const char *options)
{
    terminal_run(&p, arena_printf(p.a, "run %s/kernels/%s %s", home, layers[i],
                                  options));
    ck_assert_msg(!p.status, "%s%s", p.err, p.out);
}

static char *file_text(const char *name)
{
    vpu_error err = {0};
    size_t n;
    char *data;

    ck_assert_msg(!file_read(arena_printf(p.a, "%s/%s", p.dir, name), 1 << 28,
                             p.a, &data, &n, &err),
                  "%s", err.msg);
    return data;
}

static json_t *report(void)
{
    json_error_t e;
    json_t *j = json_loads(p.out, 0, &e);

    ck_assert_msg(j, "%s\n%s", e.text, p.out);
    return j;
}

static uint64_t number(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);

    ck_assert_msg(json_is_integer(v), "no number '%s'", key);
    return (uint64_t)json_integer_value(v);
}

static const char *text(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));

    ck_assert_msg(s, "no text '%s'", key);
    return s;
}

/* --- profiles ------------------------------------------------------------- */

static uint64_t shave_cycles(const json_t *report)
{
    uint64_t n = 0;
    size_t i;
    json_t *s;

    json_array_foreach(json_object_get(report, "stages"), i, s)
    {
        n += number(s, "cycles") * number(s, "shaves");
    }
    return n;
}

/* Rows of every stage add up to its SHAVEs' cycles, most cycles first; what a
 * row says of its line stands there. */
START_TEST(rows_add_up)
{
    json_t *j, *s, *row, *causes, *n;
    size_t i, k;
    const char *cause;

    run_layer(_i, "--profile --report json");
    j = report();
    json_array_foreach(json_object_get(j, "stages"), i, s)
    {
        uint64_t sum = 0, last = UINT64_MAX, loaded = 0;
        json_t *rows = json_object_get(s, "profile");

        ck_assert_uint_gt(json_array_size(rows), 3);
        json_array_foreach(rows, k, row)
        {
            uint64_t cycles = number(row, "cycles"), by_cause = 0;

            causes = json_object_get(row, "cycles_by_cause");
            json_object_foreach(causes, cause, n) by_cause +=
                (uint64_t)json_integer_value(n);
            ck_assert_uint_eq(by_cause, cycles);
            ck_assert_uint_le(cycles, last);
            last = cycles;
            sum += cycles;
            if (strcmp(text(row, "place"), "line") != 0)
                continue;
            loaded += number(row, "load_bytes");
            if (number(row, "line"))
                ck_assert_msg(*text(row, "text"), "line %u has no text",
                              (unsigned)number(row, "line"));
        }
        ck_assert_uint_eq(sum, number(s, "cycles") * number(s, "shaves"));
        ck_assert_uint_eq(loaded, number(s, "load_bytes"));
    }
    json_decref(j);
}
END_TEST

/* "frames cycles" a line, sorted, no stack twice; all of it the SHAVEs' time.
 */
START_TEST(folded_stacks)
{
    uint64_t sum = 0;
    char *data, *line, *last = NULL;
    json_t *j;

    run_layer(_i, "--folded f.txt --report json");
    j = report();
    data = file_text("f.txt");
    while ((line = strsep(&data, "\n")) && *line) {
        char *blank = strrchr(line, ' '), *end;
        unsigned frames = 1;

        ck_assert_msg(blank, "%s", line);
        sum += strtoull(blank + 1, &end, 10);
        ck_assert_msg(!*end && end > blank + 1, "%s", line);
        *blank = 0;
        for (const char *c = line; *c; c++)
            frames += *c == ';';
        ck_assert_msg(frames == 4 || frames == 5, "%s", line);
        ck_assert(!last || strcmp(last, line) < 0);
        last = line;
    }
    ck_assert_uint_eq(sum, shave_cycles(j));
    /* Asked for or not, the run is the same. */
    run_layer(_i, "--report json");
    ck_assert_uint_eq(sum, shave_cycles(report()));
    json_decref(j);
}
END_TEST

START_TEST(profile_table)
{
    const char *at;
    uint64_t sum = 0, all = 0;

    run_layer(2, "--profile=2");
    ck_assert(strstr(p.out, "more lines)"));
    ck_assert(strstr(p.out, "grn_rolled.cl:16  "));
    at = strstr(p.out, "executed");
    ck_assert(at);
    while ((at = strchr(at, '\n')) && at[1]) {
        uint64_t n = strtoull(++at, NULL, 10);

        if (strcspn(at, "\n") > 6 && strstr(at, "(all)") &&
            strstr(at, "(all)") < at + strcspn(at, "\n"))
            all = n;
        else
            sum += n;
    }
    ck_assert_uint_gt(all, 0);
    ck_assert_uint_eq(sum, all);
    run_layer(2, "");
    ck_assert(!strstr(p.out, "profile of"));
}
END_TEST

static const struct {
    const char *args, *want[2];
} bad[] = {
    {"--profile=0", {"--profile", "'0'"}},
    {"--profile=many", {"--profile", "many"}},
    {"--profile --engine compiled", {"--profile", "compiled"}},
    {"--folded f.txt --engine compiled", {"--folded", "compiled"}},
    {"--folded no/such/f.txt", {"no/such/f.txt"}},
};

START_TEST(bad_options)
{
    terminal_run(&p, arena_printf(p.a, "run %s/kernels/%s %s", home, layers[2],
                                  bad[_i].args));
    ck_assert_int_eq(p.status, 2);
    for (int k = 0; k < 2 && bad[_i].want[k]; k++)
        ck_assert_msg(strstr(p.err, bad[_i].want[k]), "'%s' is not in\n%s",
                      bad[_i].want[k], p.err);
    ck_assert_str_eq(terminal_files(&p, ""), "");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vpu run, observed");
    TCase *c = tcase_create("observed");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, rows_add_up, 0, N_LAYERS);
    tcase_add_loop_test(c, folded_stacks, 0, N_LAYERS);
    tcase_add_test(c, profile_table);
    tcase_add_loop_test(c, bad_options, 0, sizeof bad / sizeof *bad);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
