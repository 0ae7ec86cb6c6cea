/* What vpu sweep makes of results: rounds of halving, reports, databases. */
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "tests/runtime/sweep/sweep_rig.h"
#include "tests/support/fields.h"

static terminal p;

static void setup(void)
{
    terminal_open(&p);
    add_layer_put(&p);
}

static void teardown(void)
{
    terminal_close(&p);
}

/* By hand: DDR latency is what the points differ in, and each round's worse
 * half goes. */
START_TEST(better_half)
{
    const char *table;

    terminal_text(&p, "m",
                  RUN SHAPES "vary --set ddr_load_stall 400 100 300 "
                             "200 500\nmethod halving shape\n");
    sweep_expect(&p, "sweep plan m --dir d", 0, "");
    sweep_expect(&p, "sweep work d --part 0/2", 0, "3 points: 3 computed");
    sweep_expect(&p, "sweep gather d", 1, "3 of later rounds");
    ck_assert_msg(strstr(p.err, "5 of 8 points missing"), "%s", p.err);
    sweep_expect(&p, "sweep run d --jobs 2", 0,
                 "8 points: 5 computed, 3 there already");
    sweep_expect(&p, "sweep gather d", 0, "\n7,Add,1x2x8x16,200,");
    table = p.out;
    for (int i = 5; i < 8; i++)
        ck_assert_str_eq(sweep_cell(&p, table, i, "shape"), "1x2x8x16");
    ck_assert_str_eq(sweep_cell(&p, table, 5, "ddr_load_stall"), "100");
    ck_assert_str_eq(sweep_cell(&p, table, 6, "ddr_load_stall"), "300");
    sweep_expect(&p, "sweep run m --dir e --jobs 1", 0, "8 points: 8 computed");
    sweep_expect(&p, "sweep gather e", 0, "");
    ck_assert_str_eq(p.out, table);
}
END_TEST

/* A round with a failed point has no better half. */
START_TEST(failed_round)
{
    terminal_text(&p, "m",
                  "run layer.xml\nvary --shape in0=1x2x4x16 "
                  "in0=1x2x8x16\nvary --param bias=1 nix=2\nmethod "
                  "halving shape\n");
    sweep_expect(&p, "sweep run m --dir d", 1, "2 points: 1 computed");
    sweep_expect(&p, "sweep gather d", 1, "2 of 3 points missing");
}
END_TEST

/* The same figures through SQLite's own library. */
START_TEST(database)
{
    const char *path = arena_printf(p.arena, "%s/t.db", p.dir);
    sqlite3_stmt *q;
    sqlite3 *db;

    terminal_text(&p, "m", RUN SHAPES "vary --shaves 1 16\n");
    sweep_expect(&p, "sweep run m --dir d", 0, "4 computed");
    sweep_expect(&p, "sweep gather d --csv t.csv --sqlite t.db", 0, "");
    ck_assert(!sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL));
    ck_assert(!sqlite3_prepare_v2(
        db, "SELECT shaves, cycles, shape FROM points ORDER BY point", -1, &q,
        NULL));
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(sqlite3_step(q), SQLITE_ROW);
        ck_assert_int_eq(sqlite3_column_type(q, 0), SQLITE_INTEGER);
        ck_assert_str_eq((const char *)sqlite3_column_text(q, 0),
                         sweep_cell(&p, sweep_file(&p, "t.csv"), i, "shaves"));
        ck_assert_str_eq((const char *)sqlite3_column_text(q, 1),
                         sweep_cell(&p, sweep_file(&p, "t.csv"), i, "cycles"));
        ck_assert_str_eq((const char *)sqlite3_column_text(q, 2),
                         sweep_cell(&p, sweep_file(&p, "t.csv"), i, "shape"));
    }
    ck_assert_int_eq(sqlite3_step(q), SQLITE_DONE);
    sqlite3_finalize(q);
    sqlite3_close(db);
    sweep_expect(&p, "sweep gather d --sqlite /dev/null", 2,
                 "a regular file of its own");
}
END_TEST

/* A result for each point of all rounds, the later of two the better one. */
static void put_candidates(void)
{
    const char *line;

    sweep_expect(&p, "sweep plan m --dir d", 0, "");
    line = sweep_file(&p, "d/candidates.jsonl");
    for (int i = 0; *line; i++, line = strchr(line, '\n') + 1) {
        const char *name =
            arena_strndup(p.arena, strstr(line, "\"name\":\"") + 8, 32);

        terminal_text(
            &p, arena_printf(p.arena, "d/results/%.2s/%s.json", name, name),
            arena_printf(p.arena,
                         "{\"name\":\"%s\",\"figures\":{\"cycles\":%d}}\n",
                         name, 10000 - i));
    }
}

/* Processes that add rounds at once add each round once: 512 + 256 + 128
 * points, whichever of them is first, and the same ones as one process alone.
 */
START_TEST(rounds_at_once)
{
    enum { PROCESSES = 8 };
    pid_t pid[PROCESSES];
    const char *first, *alone;

    terminal_text(&p, "m",
                  RUN "vary --shape in0=1x1x1x8 in0=1x1x1x16 in0=1x1x1x24\n"
                      "vary --set ddr_load_stall=1..512/512\n"
                      "method halving shape\n");
    put_candidates();
    first = sweep_file(&p, "d/points.jsonl");
    sweep_expect(&p, "sweep work d", 0, "896 points: 0 computed");
    alone = sweep_file(&p, "d/points.jsonl");
    for (int attempt = 0; attempt < 6; attempt++) {
        terminal_text(&p, "d/points.jsonl", first);
        for (int i = 0; i < PROCESSES; i++)
            pid[i] = terminal_start(&p, "sweep work d");
        for (int i = 0; i < PROCESSES; i++) {
            terminal_wait(&p, pid[i]);
            ck_assert_msg(!p.status, "%s", p.err);
        }
        ck_assert_msg(!strcmp(sweep_file(&p, "d/points.jsonl"), alone),
                      "the points of eight processes are others");
    }
}
END_TEST

/* Results written by hand, so that front, means and ranks are known: cycles of
 * 8 points over two parameters, the first of which they follow backwards. */
static void put_results(void)
{
    static const int cycles[] = {80, 70, 60, 50, 40, 30, 20, 10};
    static const int bytes[] = {1, 2, 9, 9, 9, 9, 9, 9};
    const char *line;

    terminal_text(&p, "m",
                  RUN "vary --shape in0=1x2x4x16\n"
                      "vary --set ddr_load_stall 1 2 3 4\n"
                      "vary --order reverse sequential\n");
    sweep_expect(&p, "sweep plan m --dir d", 0, "");
    line = sweep_file(&p, "d/points.jsonl");
    for (int i = 0; i < 8; i++, line = strchr(line, '\n') + 1) {
        const char *name =
            arena_strndup(p.arena, strstr(line, "\"name\":\"") + 8, 32);

        terminal_text(
            &p, arena_printf(p.arena, "d/results/%.2s/%s.json", name, name),
            arena_printf(p.arena,
                         "{\"name\":\"%s\",\"figures\":{\"cycles\":%d,"
                         "\"ddr_bytes\":%d,\"cmx_bytes\":0}}\n",
                         name, cycles[i], bytes[i]));
    }
}

START_TEST(reports)
{
    const json_t *effects, *e;
    json_t *j;

    put_results();
    sweep_expect(&p, "sweep report d", 0, "lowest cycles: 10, point 7");
    ck_assert_msg(
        strstr(p.out, "\n7      4               sequential  10 ") &&
            strstr(p.out, "\n1      1               sequential  70 ") &&
            strstr(p.out, "\n0      1               reverse     80 ") &&
            !strstr(p.out, "\n2      "),
        "%s", p.out);
    sweep_expect(&p, "sweep report d --json", 0, "");
    j = fields_read(p.out);
    ck_assert_uint_eq(json_array_size(json_object_get(j, "front")), 3);
    effects = json_object_get(j, "parameters");
    ck_assert_uint_eq(json_array_size(effects), 2);
    e = json_array_get(effects, 0);
    ck_assert_str_eq(fields_text(e, "parameter"), "ddr_load_stall");
    /* (75 - 15) / 45; of ranks 1 1 2 2 .. and 8 .. 1: by hand. */
    ck_assert_double_eq_tol(fields_real(e, "spread"), 60 / 45.0, 1e-12);
    ck_assert_double_eq_tol(fields_real(e, "spearman"), -sqrt(40 / 42.0),
                            1e-12);
    e = json_array_get(effects, 1);
    ck_assert_double_eq_tol(fields_real(e, "spread"), 10 / 45.0, 1e-12);
    ck_assert(json_is_null(json_object_get(e, "spearman")));
    json_decref(j);
    sweep_expect(&p, "sweep report d --objective cycles --json", 0, "");
    j = fields_read(p.out);
    ck_assert_uint_eq(json_array_size(json_object_get(j, "front")), 1);
    json_decref(j);
}
END_TEST

START_TEST(pictures)
{
    size_t n;

    put_results();
    sweep_expect(&p, "sweep report d --heat h.svg --lines l.png", 0, "");
    ck_assert_msg(strstr(sweep_file(&p, "h.svg"), ">80</text>") &&
                      strstr(sweep_file(&p, "h.svg"), ">10</text>"),
                  "%s", sweep_file(&p, "h.svg"));
    ck_assert(!memcmp(terminal_bytes(&p, "l.png", &n), "\x89PNG", 4));
    sweep_expect(&p, "sweep report d --heat h.svg --x order --y shape", 0, "");
    ck_assert_msg(strstr(sweep_file(&p, "h.svg"), ">50</text>") &&
                      strstr(sweep_file(&p, "h.svg"), ">40</text>"),
                  "means: %s", sweep_file(&p, "h.svg"));
    sweep_expect(&p, "sweep report d --heat h.jpg", 2,
                 "ends with .svg or .png");
    sweep_expect(&p, "sweep report d --lines l.png --x ordre", 2,
                 "--x ordre: no such column; did you mean order?");
    sweep_expect(&p, "sweep report d --objective cylces", 2,
                 "did you mean cycles?");
    sweep_expect(&p, "sweep report d --heat nix/h.svg", 2, "nix/h.svg");
    ck_assert(!remove(arena_printf(
        p.arena, "%s/d/results/%.2s/%.32s.json", p.dir,
        strstr(sweep_file(&p, "d/points.jsonl"), "\"name\":\"") + 8,
        strstr(sweep_file(&p, "d/points.jsonl"), "\"name\":\"") + 8)));
    sweep_expect(&p, "sweep report d", 1, "1 of 8 points are missing");
    sweep_expect(&p, "sweep report d --partial", 0, "7 points of 8");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vpu sweep: results");
    TCase *t = tcase_create("results");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, better_half);
    tcase_add_test(t, failed_round);
    tcase_add_test(t, rounds_at_once);
    tcase_add_test(t, database);
    tcase_add_test(t, reports);
    tcase_add_test(t, pictures);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
