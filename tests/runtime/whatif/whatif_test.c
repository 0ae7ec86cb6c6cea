/* vpu whatif: its numbers are those of vpu run on the machine that is asked
 * about. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "tests/support/terminal.h"

static terminal p;
static const char *root;

static void setup(void)
{
    terminal_open(&p);
    root = realpath(".", NULL);
}

static void teardown(void)
{
    terminal_close(&p);
}

static const char *layers[] = {
    "grn/layer.xml --layer GRN --shape in0=1x12x20x32 --param bias=1",
    "grn/layer.xml --layer GRNDma --shape in0=1x12x20x32 --param bias=1",
    "mvn/layer.xml --shape in0=1x4x8x16 --param eps=0.001"};

static json_t *object_of(const char *command)
{
    json_t *j;

    terminal_run(&p, command);
    ck_assert_msg(p.status == 0, "%s: %s", command, p.err);
    j = json_loads(p.out, 0, NULL);
    ck_assert_msg(j != NULL, "%s", p.out);
    return j;
}

static json_int_t number(const json_t *o, const char *name)
{
    const json_t *x = json_object_get(o, name);

    ck_assert_msg(json_is_integer(x), "%s", name);
    return json_integer_value(x);
}

static const char *knob_of(const json_t *row)
{
    return json_string_value(json_object_get(row, "knob"));
}

/* Cycles of all stages under vpu run. */
static json_int_t run_with(const char *layer, const char *options)
{
    json_t *j = object_of(arena_printf(p.arena, "run %s/kernels/%s %s --json",
                                       root, layer, options));
    json_int_t cycles = 0;
    const json_t *stage;
    size_t i;

    json_array_foreach(json_object_get(j, "stages"), i, stage) cycles +=
        number(stage, "cycles");
    json_decref(j);
    return cycles;
}

/* What vpu run calls the same machine. */
static const struct {
    const char *knob, *options;
} known[] = {
    {"ddr", "--set ddr_load_stall=1 --set ddr_peak_bw=100 --set ddr_eff_bw=100 "
            "--set ddr_row_cycle=0 --set ddr_row_switch=0"},
    {"ddr-latency", "--set ddr_load_stall=1"},
    {"ddr-bandwidth", "--set ddr_peak_bw=100 --set ddr_eff_bw=100"},
    {"ddr-banks", "--set ddr_row_cycle=0 --set ddr_row_switch=0"},
    {"l2-size", "--set l2_ways=16 --set l2_bytes=16777216"},
    {"l2-latency", "--set l2_hit_stall=0 --set l1_hit_stall=0"},
    {"stores", "--set store_buffer=64"},
    {"dma", "--set dma_setup=0 --set dma_first_byte=0 --set "
            "dma_line_overhead=0 --set dma_channels=16 --set "
            "dma_bus_bytes=128"},
    {"dispatch", "--set wg_dispatch=0 --set shave_start=0"},
    {"layer", "--set layer_fixed=0"},
    {"shaves=15", "--shaves 15"},
    {"shaves=8", "--shaves 8"},
    {"shaves=4", "--shaves 4"},
    {"shaves=2", "--shaves 2"},
    {"shaves=1", "--shaves 1"},
    {"reverse", "--order reverse"},
};
enum { N_KNOWN = sizeof known / sizeof *known };

/* NULL: no machine, but another program. */
static const char *options_of(const char *knob)
{
    static const char *const others[] = {
        "issue",
#define WHATIF_EDIT(id, name, about) name,
#include "runtime/whatif/edits.def"
    };

    for (int i = 0; i < N_KNOWN; i++)
        if (!strcmp(known[i].knob, knob))
            return known[i].options;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(others[i], knob))
            return NULL;
    ck_abort_msg("%s", knob);
}

START_TEST(as_vpu_run_says)
{
    const char *layer = layers[_i];
    json_t *j = object_of(
        arena_printf(p.arena, "whatif %s/kernels/%s --json", root, layer));
    const json_t *rows = json_object_get(j, "knobs"), *row;
    json_int_t last = 0;
    size_t i, n = 0;

    ck_assert_int_eq(number(json_object_get(j, "before"), "cycles"),
                     run_with(layer, ""));
    json_array_foreach(rows, i, row)
    {
        json_int_t cycles = number(row, "cycles");

        ck_assert_int_le(last, cycles);
        last = cycles;
        if (!options_of(knob_of(row)))
            continue;
        ck_assert_msg(cycles == run_with(layer, options_of(knob_of(row))), "%s",
                      knob_of(row));
        n++;
    }
    ck_assert_uint_eq(n, N_KNOWN);
    json_decref(j);
}
END_TEST

/* One upon another: all that are turned so far, in a run of their own. */
START_TEST(steps_add_up)
{
    const char *layer = layers[_i];
    json_t *j = object_of(arena_printf(
        p.arena, "whatif %s/kernels/%s --steps 3 --json", root, layer));
    const json_t *steps = json_object_get(j, "steps"), *step;
    json_int_t last = number(json_object_get(j, "before"), "cycles");
    const char *options = "";
    size_t i;

    ck_assert_uint_ge(json_array_size(steps), 1);
    ck_assert_uint_le(json_array_size(steps), 3);
    json_array_foreach(steps, i, step)
    {
        json_int_t cycles = number(step, "cycles");

        if (!options_of(knob_of(step)))
            break; /* from here on another program */
        options =
            arena_printf(p.arena, "%s %s", options, options_of(knob_of(step)));
        ck_assert_int_le(cycles, last - last / 100);
        ck_assert_int_eq(cycles, run_with(layer, options));
        last = cycles;
    }
    json_decref(j);
}
END_TEST

/* Shares are of all SHAVEs' cycles; launches add up to the graph. */
START_TEST(figures)
{
    json_t *j = object_of(arena_printf(
        p.arena,
        "whatif %s/kernels/%s --shaves 4 --knob shaves=2 --steps 0 "
        "--json",
        root, layers[2]));
    const json_t *row = json_array_get(json_object_get(j, "knobs"), 0);
    const json_t *x;
    json_int_t cycles = 0, causes = 0;
    const char *name;
    size_t i;

    ck_assert_int_eq(number(j, "runs"), 2);
    ck_assert_uint_eq(json_array_size(json_object_get(j, "steps")), 0);
    ck_assert_str_eq(knob_of(row), "shaves=2");
    json_array_foreach(json_object_get(row, "launches"), i, x) cycles +=
        number(x, "cycles");
    ck_assert_int_eq(cycles, number(row, "cycles"));
    json_object_foreach(json_object_get(row, "shave_cycles_by_cause"), name, x)
        causes += json_integer_value(x);
    ck_assert_int_eq(causes, 2 * cycles);
    json_decref(j);
}
END_TEST

/* The text says the same whatever the threads. */
START_TEST(the_same_every_time)
{
    const char *command =
        arena_printf(p.arena, "whatif %s/kernels/%s", root, layers[1]);
    const char *first;

    terminal_run(&p, arena_printf(p.arena, "%s --threads 1", command));
    ck_assert_msg(p.status == 0, "%s", p.err);
    first = arena_strdup(p.arena, p.out);
    ck_assert_msg(strstr(first, "one upon another"), "%s", first);
    terminal_run(&p, arena_printf(p.arena, "%s --threads 3", command));
    ck_assert_str_eq(p.out, first);
}
END_TEST

/* --- replays -------------------------------------------------------------- */

typedef struct {
    const char *name;
    double min, max;
    bool whole;
} parameter;

static const parameter parameters[] = {
#define INT(name, min, max, unit, about) {#name, min, max, true},
#define REAL(name, min, max, unit, about) {#name, min, max, false},
#include "sim/machine/params.def"
};
enum { N_PARAMETERS = sizeof parameters / sizeof *parameters };

/* What vpu machine prints behind its name. */
static double value_of(const char *machine, const char *name)
{
    for (const char *line = machine; *line; line = strchr(line, '\n') + 1)
        if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ' ')
            return strtod(line + strlen(name), NULL);
    ck_abort_msg("%s", name);
}

/* Another value of its range: twice as much, else half, so that a power of two
 * stays one. */
static const char *changed(const parameter *x, double value)
{
    double to = 2 * value <= x->max && value > 0 ? 2 * value : value / 2;

    if (value == 0)
        to = x->max < 4 ? x->max : 4;
    if (to < x->min || to == value)
        return NULL;
    return arena_printf(p.arena, "%s=%.*f", x->name, x->whole ? 0 : 4, to);
}

enum { BATCH = 8 }; /* words of a command line are few */

/* What whatif says of n knobs against runs; counts what was replayed. */
static size_t compare_knobs(const char *layer, const char *const *set, size_t n)
{
    const char *knobs = "";
    size_t n_replayed = 0, i;
    const json_t *row;
    json_t *j;

    for (i = 0; i < n; i++)
        knobs = arena_printf(p.arena, "%s --knob %s", knobs, set[i]);
    j = object_of(arena_printf(
        p.arena, "whatif %s/kernels/%s --shaves 7 --steps 0 --json%s", root,
        layer, knobs));
    ck_assert_uint_eq(json_array_size(json_object_get(j, "knobs")), n);
    json_array_foreach(json_object_get(j, "knobs"), i, row)
    {
        const char *knob = knob_of(row);

        ck_assert_msg(
            number(row, "cycles") ==
                run_with(layer,
                         arena_printf(p.arena, "--shaves 7 --set %s", knob)),
            "%s", knob);
        n_replayed += json_is_true(json_object_get(row, "replayed"));
    }
    ck_assert_int_eq(number(j, "replays"), (json_int_t)n_replayed);
    ck_assert_int_eq(number(j, "runs"), (json_int_t)(n - n_replayed + 1));
    json_decref(j);
    return n_replayed;
}

/* Whatever parameter of the machine is another one, the cycles are those of a
 * run there, replayed or not; and most can be replayed. */
START_TEST(every_parameter)
{
    const char *machine, *set[N_PARAMETERS];
    size_t n = 0, n_replayed = 0;

    terminal_run(&p, "machine");
    machine = arena_strdup(p.arena, p.out);
    for (size_t i = 0; i < N_PARAMETERS; i++) {
        const parameter *x = &parameters[i];

        set[n] = changed(x, value_of(machine, x->name));
        if (!set[n])
            continue;
        terminal_run(&p, arena_printf(p.arena, "run %s/kernels/%s --set %s",
                                      root, layers[_i], set[n]));
        n += p.status == 0; /* else it contradicts another parameter */
    }
    for (size_t i = 0; i < n; i += BATCH)
        n_replayed +=
            compare_knobs(layers[_i], set + i, n - i < BATCH ? n - i : BATCH);
    ck_assert_uint_ge(n, 40);
    ck_assert_uint_ge(n_replayed, 25);
}
END_TEST

/* --- what users describe -------------------------------------------------- */

START_TEST(own_knobs)
{
    json_t *j = object_of(arena_printf(
        p.arena,
        "whatif %s/kernels/%s --set ddr_load_stall=200 --steps 0 --knob "
        "ddr_load_stall=100,shaves=8 --knob dispatch --json",
        root, layers[0]));
    const json_t *rows = json_object_get(j, "knobs"), *row;
    bool own = false;
    size_t i;

    ck_assert_uint_eq(json_array_size(rows), 2);
    json_array_foreach(rows, i, row) if (strchr(knob_of(row), ','))
    {
        own = true;
        ck_assert_int_eq(
            number(row, "cycles"),
            run_with(layers[0], "--set ddr_load_stall=100 --shaves 8"));
    }
    ck_assert(own);
    json_decref(j);
}
END_TEST

/* A local size is a run with it, and replayed from there with more. */
START_TEST(local_sizes)
{
    json_t *j = object_of(
        arena_printf(p.arena,
                     "whatif %s/kernels/%s --steps 0 --knob local=8x1x1 --knob "
                     "local=8x1x1,ddr_load_stall=300 --json",
                     root, layers[0]));
    const json_t *row;
    size_t i;

    json_array_foreach(json_object_get(j, "knobs"), i, row) ck_assert_int_eq(
        number(row, "cycles"),
        run_with(layers[0], strstr(knob_of(row), "300")
                                ? "--local 8x1x1 --set ddr_load_stall=300"
                                : "--local 8x1x1"));
    ck_assert_uint_eq(i, 2);
    json_decref(j);
}
END_TEST

/* The list names what the table has, and takes no layer. */
START_TEST(list)
{
    terminal_run(&p, "whatif --list");
    ck_assert_int_eq(p.status, 0);
    for (int i = 0; i < N_KNOWN; i++)
        ck_assert_msg(strstr(p.out, known[i].knob) != NULL, "%s",
                      known[i].knob);
    ck_assert_ptr_nonnull(strstr(p.out, "ddr_peak_bw=100,ddr_eff_bw=100"));
    terminal_run(&p, "whatif --list --shaves 3");
    ck_assert(strstr(p.out, "shaves=2") && strstr(p.out, "shaves=16") &&
              !strstr(p.out, "shaves=8"));
}
END_TEST

static const struct {
    const char *args;
    int status;
    const char *says;
} wrong[] = {
    {"--knob nix", 2, "nix: expected KEY=VALUE"},
    {"--knob nix=1", 2, "nix"},
    {"--knob ddr_eff_bw=fast", 2, "ddr_eff_bw"},
    {"--knob shaves=17", 2, "shaves=17: expected 1 to 16"},
    {"--knob shaves=", 2, "shaves=: expected 1 to 16"},
    {"--steps many", 2, "--steps does not take 'many'"},
    {"--timing none", 2, "leaves no cycles to ask about"},
    {"--knob shaves=2,shaves=3", 2, "shaves=3: given twice"},
    {"--knob dma-form,groups", 2, "groups: another one of the list excludes"},
    {"--knob stall=20", 2, "stall=20: expected [FILE:]LINE*FACTOR"},
    {"--knob issue=x:0*0.5", 2, "issue=x:0*0.5: expected [FILE:]LINE*FACTOR"},
    {"--knob issue=20*1.5", 2, "FACTOR from 0 to 1"},
    {"--knob ddr,ddr,ddr,ddr", 2, "ddr: another one of the list excludes it"},
    {"--knob ddr_peak_bw=1", 2, "ddr_eff_bw must not be above ddr_peak_bw"},
    {"--knob local=7", 2, "does not divide"},
    {"--knob local=x", 2, "expected sizes as 64x1x1"},
    {"--knob local=8x1x1,local=4", 2, "local=4: given twice"},
    {"--max-cycles 100", 7, "cycles"},
};

START_TEST(mistakes)
{
    terminal_run(&p, arena_printf(p.arena, "whatif %s/kernels/%s %s", root,
                                  layers[0], wrong[_i].args));
    ck_assert_msg(p.status == wrong[_i].status &&
                      strstr(p.err, wrong[_i].says) && !*p.out,
                  "%d: %s%s", p.status, p.err, p.out);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vpu whatif");
    TCase *t = tcase_create("whatif");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, as_vpu_run_says, 0, sizeof layers / sizeof *layers);
    tcase_add_loop_test(t, steps_add_up, 0, sizeof layers / sizeof *layers);
    tcase_add_loop_test(t, every_parameter, 0, 2);
    tcase_add_test(t, figures);
    tcase_add_test(t, the_same_every_time);
    tcase_add_test(t, own_knobs);
    tcase_add_test(t, local_sizes);
    tcase_add_test(t, list);
    tcase_add_loop_test(t, mistakes, 0, sizeof wrong / sizeof *wrong);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
