/* vpu sweep from outside: what it computes, keeps, refuses, and names. */
#include <check.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/add_layer.h"
#include "tests/support/fields.h"
#include "tests/runtime/sweep/sweep_rig.h"
#include "tests/support/proc.h"

static terminal p;
static const char *root;

static void setup(void)
{
    terminal_open(&p);
    add_layer_put(&p);
    root = realpath(".", NULL);
}

static void teardown(void)
{
    terminal_close(&p);
}

/* --- the table ------------------------------------------------------------ */

static uint64_t cycles_of_run(const char *words)
{
    json_t *j;
    uint64_t n;

    terminal_run(&p, arena_printf(p.arena, "run %s --json --quiet", words));
    ck_assert_msg(!p.status, "%s: %s", words, p.err);
    j = fields_read(p.out);
    n = fields_number(j, "cycles");
    json_decref(j);
    return n;
}

/* Figures are those of vpu run. */
START_TEST(as_vpu_run_says)
{
    static const char *const words[] = {
        "--shape in0=1x2x4x16 --shaves 1", "--shape in0=1x2x4x16 --shaves 16",
        "--shape in0=1x2x8x16 --shaves 1", "--shape in0=1x2x8x16 --shaves 16"};
    const char *csv;

    terminal_text(&p, "m", RUN SHAPES "vary --shaves 1 16\n");
    sweep_expect(&p, "sweep run m --dir d", 0, "4 points: 4 computed");
    sweep_expect(&p, "sweep gather d", 0, "point,layer,shape,shaves,cycles,");
    csv = p.out;
    for (int i = 0; i < 4; i++) {
        const char *command = arena_printf(
            p.arena, "layer.xml --layer Add --param bias=1 %s", words[i]);

        ck_assert_str_eq(sweep_cell(&p, csv, i, "shaves"), i % 2 ? "16" : "1");
        ck_assert_str_eq(sweep_cell(&p, csv, i, "shape"),
                         i / 2 ? "1x2x8x16" : "1x2x4x16");
        ck_assert_str_eq(
            sweep_cell(&p, csv, i, "cycles"),
            arena_printf(p.arena, "%llu",
                         (unsigned long long)cycles_of_run(command)));
        ck_assert_str_eq(sweep_cell(&p, csv, i, "store_bytes"),
                         i / 2 ? "512" : "256");
    }
}
END_TEST

/* The samples' own layers, at any number of jobs, in any parts. */
START_TEST(whatever_computes_it)
{
    static const char *const how[] = {"sweep run d --jobs 1",
                                      "sweep run d --jobs 4", NULL};
    const char *first[3] = {NULL};

    terminal_text(&p, "m",
                  arena_printf(p.arena,
                               "run %s/kernels/grn/layer.xml --layer GRN "
                               "--param bias=1\n"
                               "run %s/kernels/mvn/layer.xml --param eps=0.1\n"
                               "vary --shape in0=1x4x8x16 in0=1x8x8x16\n"
                               "vary --shaves 1 3 16\nvary --set "
                               "ddr_load_stall 60..200/3\n",
                               root, root));
    for (int i = 0; i < 3; i++) {
        sweep_expect(&p, "sweep plan m --dir d", 0, "");
        if (how[i]) {
            sweep_expect(&p, how[i], 0, "36 points: 36 computed");
        } else {
            sweep_expect(&p, "sweep work d --part 1/3", 0,
                         "12 points: 12 computed");
            sweep_expect(&p, "sweep work d --part 0/3", 0,
                         "12 points: 12 computed");
            sweep_expect(&p, "sweep gather d", 1, "12 of 36 points missing");
            sweep_expect(&p, "sweep work d --part 2/3", 0,
                         "12 points: 12 computed");
        }
        sweep_expect(&p, "sweep gather d --csv t.csv --json t.json", 0, "");
        if (i) {
            ck_assert_str_eq(sweep_file(&p, "t.csv"), first[0]);
            ck_assert_str_eq(sweep_file(&p, "t.json"), first[1]);
            ck_assert_str_eq(sweep_file(&p, "d/points.jsonl"), first[2]);
        }
        first[0] = sweep_file(&p, "t.csv");
        first[1] = sweep_file(&p, "t.json");
        first[2] = sweep_file(&p, "d/points.jsonl");
        ck_assert(!rename(arena_printf(p.arena, "%s/d", p.dir),
                          arena_printf(p.arena, "%s/d%d", p.dir, i)));
    }
}
END_TEST

/* Rows of one name have one result. */
START_TEST(equal_points_once)
{
    terminal_text(&p, "m",
                  RUN "vary --shape in0=1x2x4x16 | in0=1x2x4x16 | "
                      "in0=1x2x8x16\n");
    sweep_expect(&p, "sweep run m --dir d", 0,
                 "3 points: 2 computed, 1 there already");
    sweep_expect(&p, "sweep gather d", 0, "\n2,Add,1x2x8x16,");
    ck_assert_str_eq(sweep_cell(&p, p.out, 0, "cycles"),
                     sweep_cell(&p, p.out, 1, "cycles"));
    sweep_expect(&p, "sweep run m --dir d", 0,
                 "3 points: 0 computed, 3 there already");
}
END_TEST

/* As cells, as numbers, as words that need quotes. */
START_TEST(json_and_cells)
{
    json_t *j, *o;

    terminal_text(&p, "m",
                  RUN "name size --shape in0=1x2x4x16 | in0=1x2x8x16 --shaves 2"
                      "\nname odd,no --order reverse\n");
    sweep_expect(&p, "sweep run m --dir d", 2, "'odd,no' names no column");
    terminal_text(&p, "m",
                  RUN "name size --shape in0=1x2x4x16 | in0=1x2x8x16 --shaves 2"
                      "\nvary --param x '1,\"2'\nvary --max-cycles 1000000\n");
    sweep_expect(&p, "sweep run m --dir d", 1, "point 0: ");
    terminal_text(&p, "n",
                  RUN "name size --shape in0=1x2x4x16 | in0=1x2x8x16 "
                      "--shaves 2\nvary --max-cycles 1000000\n");
    sweep_expect(&p, "sweep run n --dir e", 0, "2 points: 2 computed");
    sweep_expect(&p, "sweep gather e --json t.json", 0, "");
    j = json_loads(sweep_file(&p, "t.json"), 0, NULL);
    ck_assert_uint_eq(json_array_size(j), 2);
    o = json_object_get(json_array_get(j, 1), "parameters");
    ck_assert_str_eq(fields_text(o, "size"), "in0=1x2x8x16 --shaves 2");
    ck_assert_uint_eq(fields_number(o, "max-cycles"), 1000000);
    o = json_object_get(json_array_get(j, 1), "figures");
    ck_assert_uint_eq(fields_number(o, "used_shaves"), 2);
    json_decref(j);
}
END_TEST

/* --- failures ------------------------------------------------------------- */

/* By its bias: faults, never ends, or does what it should. */
static const char wild_cl[] =
    "__kernel void add(__global const half *src, __global half *dst,\n"
    "                  float bias)\n{\n"
    "    int i = get_global_id(0);\n"
    "    if (bias == 2.0f) i += 100000000;\n"
    "    if (bias == 3.0f) for (;;) dst[i] += 1;\n"
    "    dst[i] = src[i];\n}\n";

#define ENDLESS \
    "run layer.xml --shape in0=1x2x4x16 --max-cycles 0 --timeout 0\n"

/* A point that cannot run costs no other, and is named with its reason. */
START_TEST(failing_points)
{
    terminal_text(&p, "add.cl", wild_cl);
    terminal_text(&p, "m",
                  "run layer.xml --layer Add --shape in0=1x2x4x16\n"
                  "vary --param bias=1 bias=2 nix=1 bias=3 bias=4\n"
                  "vary --max-cycles 1000000\n");
    sweep_expect(&p, "sweep run m --dir d", 1,
                 "5 points: 2 computed, 0 there already, 3 "
                 "failed");
    ck_assert_msg(strstr(p.err, "point 1: ") && strstr(p.err, "point 2: ") &&
                      strstr(p.err, "point 3: ") && !strstr(p.err, "point 4: "),
                  "%s", p.err);
    sweep_expect(&p, "sweep gather d --csv t.csv", 1, "3 of 5 points missing");
    ck_assert_msg(strstr(p.err, "add.cl:7") && strstr(p.err, "nix") &&
                      strstr(p.err, "max-cycles"),
                  "%s", p.err);
    ck_assert(!terminal_has(&p, "t.csv"));
    sweep_expect(&p, "sweep gather d --csv t.csv --partial", 0,
                 "3 of 5 points missing");
    ck_assert_str_eq(sweep_cell(&p, sweep_file(&p, "t.csv"), 1, "point"), "4");
    sweep_expect(&p, "sweep list d --missing", 0,
                 "     1 failed  ../program run "
                 "layer.xml");
    ck_assert(!strstr(p.out, "     0 "));
    /* Tried again. */
    sweep_expect(&p, "sweep run d", 1,
                 "5 points: 0 computed, 2 there already, 3 failed");
}
END_TEST

/* Host's time: a loop that nothing else ends. */
START_TEST(hanging_point)
{
    terminal_text(&p, "add.cl", wild_cl);
    terminal_text(&p, "m", ENDLESS "vary --param bias 3 1\n");
    sweep_expect(&p, "sweep run m --dir d --timeout 1 --jobs 1", 1,
                 "2 points: 1 computed, 0 there already, 1 failed");
    ck_assert_msg(strstr(p.err, "point 0: took more than 1 s (--timeout)"),
                  "%s", p.err);
}
END_TEST

/* A worker that something kills is replaced. */
START_TEST(killed_worker)
{
    pid_t pid;

    terminal_text(&p, "add.cl", wild_cl);
    terminal_text(&p, "m", ENDLESS "vary --param bias 3 1\n");
    sweep_expect(&p, "sweep plan m --dir d", 0, "");
    pid = terminal_start(&p, "sweep run d --jobs 1");
    kill(proc_child(pid), SIGKILL);
    terminal_wait(&p, pid);
    ck_assert_msg(
        p.status == 1 && strstr(p.err, "ended by signal 9 (Killed)") &&
            strstr(p.out, "2 points: 1 computed, 0 there already, 1 failed"),
        "%d %s%s", p.status, p.err, p.out);
}
END_TEST

/* The worker's memory, not the program's. */
START_TEST(much_memory)
{
    terminal_text(&p, "m",
                  "run layer.xml --param bias=1\n"
                  "vary --shape in0=1x2x4x16 in0=1x64x1024x1024\n");
    sweep_expect(&p, "sweep run m --dir d --memory 200M", 1,
                 "2 points: 1 computed, 0 there already, 1 failed");
    ck_assert_msg(strstr(p.err, "point 1: needed more than 209715200 bytes of "
                                "memory (--memory)"),
                  "%s", p.err);
}
END_TEST

/* Ctrl-C: ends soon, says how to go on, and the rest is computed then. */
START_TEST(interrupted)
{
    pid_t pid;

    terminal_text(&p, "add.cl", wild_cl);
    terminal_text(&p, "m", ENDLESS "vary --param bias 1 3\n");
    sweep_expect(&p, "sweep plan m --dir d", 0, "");
    pid = terminal_start(&p, "sweep run d --jobs 1");
    while (!strstr(terminal_files(&p, ""), ".json\n"))
        usleep(1000);
    kill(pid, SIGINT);
    terminal_wait(&p, pid);
    ck_assert_msg(p.status == 128 + SIGINT &&
                      strstr(p.err, "interrupted: 1 of 2 points were done; "
                                    "`vpu sweep run d` goes on"),
                  "%d %s%s", p.status, p.err, p.out);
    sweep_expect(&p, "sweep gather d", 1, "point 1: not computed yet");
}
END_TEST

/* --- the folder ----------------------------------------------------------- */

/* Everything is in it: the sources may go, it may be moved. */
START_TEST(moved_folder)
{
    const char *table;

    terminal_text(&p, "src/inc/h.h", "#define HALF half\n");
    terminal_text(&p, "src/k.cl",
                  "#include \"sub/j.h\"\n#include <h.h>\n"
                  "__kernel void add(__global const HALF *src,\n"
                  "    __global half *dst, float bias)\n"
                  "{ int i = get_global_id(0); dst[i] = src[i] + J; }\n");
    terminal_text(&p, "src/sub/j.h", "#define J (half)2\n");
    terminal_text(&p, "src/xml/layer.xml", add_layer_of(&p, "../k.cl"));
    terminal_text(&p, "src/m",
                  "run xml/layer.xml -I inc --param bias=1\n" SHAPES);
    sweep_expect(&p, "sweep run src/m --dir d", 0, "2 points: 2 computed");
    sweep_expect(&p, "sweep gather d", 0, "");
    table = p.out;
    sweep_expect(&p, "sweep plan src/m --dir e", 0, "");
    ck_assert(!rename(arena_printf(p.arena, "%s/src", p.dir),
                      arena_printf(p.arena, "%s/gone", p.dir)));
    terminal_text(&p, "there/x", "");
    ck_assert(!rename(arena_printf(p.arena, "%s/e", p.dir),
                      arena_printf(p.arena, "%s/there/f", p.dir)));
    sweep_expect(&p, "sweep run there/f", 0, "2 points: 2 computed");
    sweep_expect(&p, "sweep gather there/f", 0, "");
    ck_assert_str_eq(p.out, table);
    ck_assert_str_eq(sweep_file(&p, "there/f/points.jsonl"),
                     sweep_file(&p, "d/points.jsonl"));
    ck_assert_msg(!strstr(sweep_file(&p, "d/points.jsonl"), p.dir), "a path");
}
END_TEST

static const struct {
    const char *name, *text;
} changes[] = {{"m", RUN SHAPES "# more\n"},
               {"add.cl",
                "__kernel void add(__global const half *src, __global "
                "half *dst, float bias) {}\n"},
               {"h.h", "#define X 2\n"}};

/* What was planned stays; mixing it with something new is refused. */
START_TEST(changed_sources)
{
    const char *table;

    terminal_text(&p, "h.h", "#define X 1\n");
    terminal_text(&p, "add.cl",
                  arena_printf(p.arena, "#include \"h.h\"\n%s", add_layer_cl));
    terminal_text(&p, "m", RUN SHAPES);
    sweep_expect(&p, "sweep run m --dir d", 0, "2 points: 2 computed");
    sweep_expect(&p, "sweep gather d", 0, "");
    table = p.out;
    sweep_expect(&p, "sweep run m --dir d", 0, "2 there already");
    terminal_text(&p, changes[_i].name, changes[_i].text);
    sweep_expect(&p, "sweep run m --dir d", 2, changes[_i].name);
    ck_assert_msg(strstr(p.err, "another --dir") ||
                      strstr(p.err, "a new --dir"),
                  "%s", p.err);
    sweep_expect(&p, "sweep plan m --dir d", 2,
                 "a sweep is planned there already");
    sweep_expect(&p, "sweep run d", 0, "2 there already");
    sweep_expect(&p, "sweep gather d", 0, "");
    ck_assert_str_eq(p.out, table);
}
END_TEST

/* A result that a power cut has halved is none. */
START_TEST(damaged_results)
{
    static const char *const damage[] = {"", "{\"name\":", "[]",
                                         "{\"name\":\"x\",\"figures\":{}}"};
    const char *name, *table;

    terminal_text(&p, "m", RUN "vary --shape in0=1x2x4x16\n");
    sweep_expect(&p, "sweep run m --dir d", 0, "1 computed");
    sweep_expect(&p, "sweep gather d", 0, "");
    table = p.out;
    name = strstr(sweep_file(&p, "d/points.jsonl"), "\"name\":\"") + 8;
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        terminal_text(
            &p, arena_printf(p.arena, "d/results/%.2s/%.32s.json", name, name),
            damage[i]);
        sweep_expect(&p, "sweep gather d", 1, "1 of 1 points missing");
        sweep_expect(&p, "sweep run d", 0, "1 computed");
        sweep_expect(&p, "sweep gather d", 0, "");
        ck_assert_str_eq(p.out, table);
    }
}
END_TEST

/* The distance from what outputs should be. */
START_TEST(expected_outputs)
{
    terminal_text(&p, "n", RUN "vary --shape in0=1x2x4x16\n");
    sweep_expect(
        &p,
        "run layer.xml --param bias=1 --shape in0=1x2x4x16 --input 0=zeros --output o",
        0, "");
    terminal_text(&p, "m",
                  "run layer.xml --shape in0=1x2x4x16 --input 0=zeros --expect "
                  "out0=o/out0.npy\nvary --param bias 1 1.5\n");
    sweep_expect(&p, "sweep run m --dir d", 0, "2 computed");
    sweep_expect(&p, "sweep gather d", 0, "cycles,ms,error,");
    ck_assert_str_eq(sweep_cell(&p, p.out, 0, "error"), "0");
    ck_assert_str_eq(sweep_cell(&p, p.out, 1, "error"), "0.5");
    sweep_expect(&p, "sweep list d", 0, "../program run layer.xml");
    ck_assert(!strstr(p.out, "--expect"));
    terminal_text(&p, "m",
                  "run layer.xml --shape in0=1x2x8x16 --param bias=1 "
                  "--expect out0=o/out0.npy\n");
    sweep_expect(&p, "sweep run m --dir e", 1, "the output 256 elements");
}
END_TEST

/* --- mistakes ------------------------------------------------------------- */

static const struct {
    const char *manifest, *command;
    int status;
    const char *says;
} wrong[] = {
    {RUN, "sweep", 2, "expected plan, run, work, list"},
    {RUN, "sweep rum m", 2, "no 'rum'; did you mean run?"},
    {RUN, "sweep plan", 2, "no manifest"},
    {RUN, "sweep plan m n", 2, "unexpected 'n'"},
    {RUN, "sweep plan nix", 2, "nix: "},
    {RUN, "sweep run nix/nix", 2, "nix: "},
    {RUN, "sweep run tmp", 2, "no points.jsonl in it"},
    {RUN, "sweep gather tmp", 2, "no points.jsonl in it"},
    {RUN, "sweep gather nix", 2, "nix: "},
    {RUN, "sweep work tmp --part 3/3", 2, "--part does not take '3/3'"},
    {RUN, "sweep work tmp --part 3", 2, "--part does not take '3'"},
    {RUN, "sweep run m --jobs 0", 2, "--jobs does not take '0'"},
    {RUN, "sweep plan m --dir .", 2, "a folder with other things in it"},
    {"run nix.xml\n", "sweep plan m", 2, "m:1: error: nix.xml is not there"},
    {RUN "vary --shavez 1 2\n", "sweep plan m", 2,
     "m: error: `vpu run` does not take: layer.xml --layer Add"},
    {RUN "vary --shavez 1 2\n", "sweep plan m", 2,
     "unknown option --shavez; did you mean --shaves?"},
    {RUN "vary --shaves 1 17x\n", "sweep plan m", 2,
     "m:2: error: `vpu run` does not take: "},
    {RUN "vary --trace a b\n", "sweep plan m", 2,
     "m:2: error: --trace is for a single run"},
    {"run layer.xml --output o\n", "sweep plan m", 2,
     "m:1: error: --output is for a single run"},
    {RUN "vary --backend null opencl\n", "sweep plan m", 2,
     "m:2: error: --backend is not the simulator"},
};

START_TEST(mistakes)
{
    terminal_text(&p, "m", wrong[_i].manifest);
    terminal_text(&p, "o/x", "");
    sweep_expect(&p, wrong[_i].command, wrong[_i].status, wrong[_i].says);
    ck_assert_str_eq(terminal_files(&p, "layer.xml\nadd.cl\nm\no/x"), "");
}
END_TEST

/* Nothing is there where it should be written. */
START_TEST(cannot_be_written)
{
    terminal_text(&p, "m", RUN "vary --shape in0=1x2x4x16\n");
    sweep_expect(&p, "sweep run m --dir layer.xml/d", 2, "layer.xml");
    sweep_expect(&p, "sweep run m --dir d", 0, "1 computed");
    sweep_expect(&p, "sweep gather d --csv nix/t.csv", 2, "nix/t.csv: ");
    sweep_expect(&p, "sweep gather d --csv /dev/full", 2, "/dev/full: ");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vpu sweep");
    TCase *t = tcase_create("sweep");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, as_vpu_run_says);
    tcase_add_test(t, whatever_computes_it);
    tcase_add_test(t, equal_points_once);
    tcase_add_test(t, json_and_cells);
    tcase_add_test(t, failing_points);
    tcase_add_test(t, hanging_point);
    tcase_add_test(t, killed_worker);
    tcase_add_test(t, much_memory);
    tcase_add_test(t, interrupted);
    tcase_add_test(t, moved_folder);
    tcase_add_loop_test(t, changed_sources, 0,
                        sizeof changes / sizeof *changes);
    tcase_add_test(t, damaged_results);
    tcase_add_test(t, expected_outputs);
    tcase_add_loop_test(t, mistakes, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(t, cannot_be_written);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
