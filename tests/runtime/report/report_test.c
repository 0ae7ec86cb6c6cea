/* The report's two forms: the JSON's figures against what the layer asks for
 * and against one another, and the text against a text made of the JSON here.
 */
#include <check.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "tests/support/fields.h"
#include "tests/support/terminal.h"

typedef struct {
    const char *name, *entry;
    uint64_t groups, local[3];
    uint64_t dma_in, dma_out, transfers, loads, stores;
} stage;

typedef struct {
    const char *words, *layer, *type, *form;
    uint64_t shaves;
    uint32_t n;
    stage stages[2];
} layer;

/* Bytes and groups by hand, from shapes and kernels: GRN of 5 planes of 11 rows
 * of 48 halves moves them all once each way by DMA, a transfer each way for a
 * row; GRNRolled reads each value twice and writes it once. MVN's statistics
 * are two floats a plane; its second kernel reads them for each item, and each
 * value once. The last one moves more than 10 KiB and more than 10 MiB. */
static const layer layers[] = {
    {"grn/layer.xml --layer GRNDma --shape in0=1x5x11x48 --param bias=1",
     "GRNDma",
     "GRNDma",
     "nested",
     16,
     1,
     {{"GRNDma", "grn_dma", 11, {48, 1, 1}, 5280, 5280, 22, 0, 0}}},
    {"mvn/layer.xml --shape in0=1x6x10x16 --param eps=0.001 --shaves 4",
     "MVN",
     "MVN",
     "nested",
     4,
     2,
     {{"MVN stage 0", "mvn_stats", 6, {1, 1, 1}, 0, 0, 0, UINT64_MAX, 48},
      {"MVN stage 1", "mvn_apply", 60, {16, 1, 1}, 0, 0, 0, UINT64_MAX, 1920}}},
    {"grn/layer.xml --layer GRNRolled --shape in0=1x7x9x20 --param bias=1 "
     "--shaves 2",
     "GRNRolled",
     "GRNRolled",
     "nested",
     2,
     1,
     {{"GRNRolled", "grn_rolled", 9, {20, 1, 1}, 0, 0, 0, 5040, 2520}}},
    {"grn/layer.xml --layer GRNDma --shape in0=1x3x1000x2000 --param bias=1 "
     "--shaves 16",
     "GRNDma",
     "GRNDma",
     "nested",
     16,
     1,
     {{"GRNDma",
       "grn_dma",
       1000,
       {2000, 1, 1},
       12000000,
       12000000,
       2000,
       0,
       0}}}};
enum { N_LAYERS = sizeof layers / sizeof *layers };

static const char *const causes[] = {"issue",       "L2 stall",  "DDR stall",
                                     "store stall", "DMA setup", "DMA wait",
                                     "dispatch",    "idle"};
enum { N_CAUSES = sizeof causes / sizeof *causes };

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

static const char *run(const layer *l, const char *options)
{
    terminal_run(&p, arena_printf(p.arena, "run %s/kernels/%s --quiet %s", home,
                                  l->words, options));
    ck_assert_msg(!p.status, "%s%s", p.err, p.out);
    return p.out;
}

static json_t *json_of(const layer *l, const char *options)
{
    return fields_read(run(l, arena_printf(p.arena, "%s --json", options)));
}

static uint64_t local(const json_t *s, size_t d)
{
    return (uint64_t)json_integer_value(
        json_array_get(json_object_get(s, "local"), d));
}

static uint64_t cause(const json_t *s, int c)
{
    return fields_number(json_object_get(s, "shave_cycles_by_cause"),
                         causes[c]);
}

/* --- JSON ---------------------------------------------------------------- */

static void check_stage(const json_t *s, const stage *want, uint64_t shaves)
{
    uint64_t sum = 0;

    ck_assert_str_eq(fields_text(s, "kernel"), want->entry);
    ck_assert_uint_eq(fields_number(s, "groups"), want->groups);
    ck_assert_uint_eq(json_array_size(json_object_get(s, "local")), 3);
    for (size_t d = 0; d < 3; d++)
        ck_assert_uint_eq(local(s, d), want->local[d]);
    ck_assert_uint_eq(fields_number(s, "shaves"), shaves);
    ck_assert_uint_eq(fields_number(s, "dma_in_bytes"), want->dma_in);
    ck_assert_uint_eq(fields_number(s, "dma_out_bytes"), want->dma_out);
    ck_assert_uint_eq(fields_number(s, "dma_transfers"), want->transfers);
    if (want->loads != UINT64_MAX)
        ck_assert_uint_eq(fields_number(s, "load_bytes"), want->loads);
    ck_assert_uint_eq(fields_number(s, "store_bytes"), want->stores);
    /* Each SHAVE's every cycle has one cause. */
    for (int c = 0; c < N_CAUSES; c++)
        sum += cause(s, c);
    ck_assert_uint_eq(
        json_object_size(json_object_get(s, "shave_cycles_by_cause")),
        N_CAUSES);
    ck_assert_uint_eq(sum, fields_number(s, "cycles") * shaves);
    ck_assert_double_eq_tol(fields_real(s, "utilisation"),
                            (double)cause(s, 0) / (double)sum, 1e-9);
}

START_TEST(json_says_what_ran)
{
    const layer *l = &layers[_i];
    json_t *j = json_of(l, "");
    json_t *stages = json_object_get(j, "stages");
    uint64_t cycles = 0, mhz = fields_number(j, "clk_mhz");

    ck_assert_str_eq(fields_text(j, "layer"), l->layer);
    ck_assert_str_eq(fields_text(j, "type"), l->type);
    ck_assert_str_eq(fields_text(j, "form"), l->form);
    ck_assert_str_eq(fields_text(j, "machine"), "MA2485");
    ck_assert_uint_eq(mhz, 700);
    ck_assert_str_eq(fields_text(j, "timing"), "flow");
    ck_assert_uint_eq(json_array_size(stages), l->n);
    for (size_t i = 0; i < l->n; i++) {
        const json_t *s = json_array_get(stages, i);
        uint64_t n = fields_number(s, "cycles");

        check_stage(s, &l->stages[i], l->shaves);
        ck_assert_double_eq_tol(fields_real(s, "ms"),
                                (double)n / (double)mhz * 1e-3, 1e-9);
        cycles += n;
    }
    ck_assert_uint_eq(fields_number(j, "cycles"), cycles);
    ck_assert_double_eq_tol(fields_real(j, "ms"),
                            (double)cycles / (double)mhz * 1e-3, 1e-9);
    json_decref(j);
}
END_TEST

/* The file beside the outputs is what --json prints. */
START_TEST(json_beside_the_outputs)
{
    const char *printed = run(&layers[_i], "--json --output out");
    const char *file;
    size_t n;

    file = terminal_bytes(&p, "out/report.json", &n);
    ck_assert_uint_eq(n, strlen(printed));
    ck_assert_mem_eq(file, printed, n);
}
END_TEST

START_TEST(json_without_timing)
{
    json_t *j = json_of(&layers[_i], "--timing none");
    json_t *s = json_array_get(json_object_get(j, "stages"), 0);

    ck_assert_str_eq(fields_text(j, "timing"), "none");
    ck_assert_ptr_null(json_object_get(j, "cycles"));
    ck_assert_ptr_null(json_object_get(j, "ms"));
    ck_assert_ptr_null(json_object_get(s, "cycles"));
    ck_assert_ptr_null(json_object_get(s, "dma_in_bytes"));
    ck_assert_uint_eq(fields_number(s, "groups"), layers[_i].stages[0].groups);
    json_decref(j);
}
END_TEST

/* --- text ---------------------------------------------------------------- */

static void put_bytes(str *t, const char *what, uint64_t n)
{
    if (n < 10240)
        str_printf(t, "  %-26s %" PRIu64 " B\n", what, n);
    else if (n < 10485760)
        str_printf(t, "  %-26s %.1f KiB\n", what, (double)n / 1024);
    else
        str_printf(t, "  %-26s %.1f MiB\n", what, (double)n / 1048576);
}

static void put_bounds(str *t, const json_t *s)
{
    static const char *const names[] = {
        "issue slots", "load latency", "DDR bytes", "DMA channels", "dispatch"};
    const json_t *b = json_object_get(s, "bounds");
    double cycles = (double)fields_number(s, "cycles");

    str_printf(t, "  %-26s", "bounds");
    for (int k = 0; k < 5; k++)
        str_printf(t, "%s %s %" PRIu64 " (%.0f %%)", k ? "," : "", names[k],
                   fields_number(b, names[k]),
                   100 * (double)fields_number(b, names[k]) / cycles);
    str_printf(t,
               "\n  %-26s %s, %.2f times that; DDR moves %.2f times the bytes "
               "asked for, SHAVEs are %.0f %% balanced\n",
               "bound by", fields_text(s, "bound_by"),
               cycles / (double)fields_number(b, fields_text(s, "bound_by")),
               fields_real(s, "ddr_amplification"),
               100 * fields_real(s, "balance"));
}

/* Kinds of a hundredth or more, most first. */
static void put_path(str *t, const json_t *s)
{
    const json_t *path = json_object_get(s, "critical_path");
    json_t *kinds, *x;
    const char *name, *most;
    double all = (double)fields_number(s, "cycles");
    uint32_t n = 0;

    if (!path)
        return;
    kinds = json_copy(json_object_get(path, "cycles_by_kind"));
    str_printf(t, "  %-26s ", "critical path");
    while (json_object_size(kinds)) {
        most = NULL;
        json_object_foreach(kinds, name,
                            x) if (!most || json_integer_value(x) >
                                                (json_int_t)fields_number(
                                                    kinds, most)) most = name;
        if ((double)fields_number(kinds, most) * 100 < all)
            break;
        str_printf(t, "%s%s %.0f %%", n++ ? ", " : "", most,
                   100 * (double)fields_number(kinds, most) / all);
        if (fields_number(path, "line") && strstr(most, " stall"))
            str_printf(t, " (%s:%" PRIu64 ")", fields_text(path, "file"),
                       fields_number(path, "line"));
        json_object_del(kinds, most);
    }
    str_printf(t,
               "; ends on SHAVE %" PRIu64 ", others up to %" PRIu64
               " cycles before; slack of work-groups %" PRIu64 " to %" PRIu64
               "\n",
               fields_number(path, "shave"), fields_number(path, "slack"),
               fields_number(path, "group_slack_least"),
               fields_number(path, "group_slack_most"));
    json_decref(kinds);
}

static void put_times(str *t, const json_t *j, const json_t *s)
{
    double all =
        (double)(fields_number(s, "cycles") * fields_number(s, "shaves"));

    str_printf(t, "  %-26s %" PRIu64 " (%.3f ms at %" PRIu64 " MHz)\n",
               "cycles", fields_number(s, "cycles"), fields_real(s, "ms"),
               fields_number(j, "clk_mhz"));
    str_printf(t,
               "  %-26s %" PRIu64
               " (operations, then bytes / bandwidth, no overlap)\n",
               "trivial estimate", fields_number(s, "baseline_cycles"));
    str_printf(t, "  %-26s %.1f %%\n", "SHAVE utilisation",
               100 * fields_real(s, "utilisation"));
    str_printf(t, "  %-26s", "SHAVE time");
    for (int c = 0; c < N_CAUSES; c++)
        if ((double)cause(s, c) / all >= 0.0005)
            str_printf(t, " %s %.1f %%", causes[c],
                       (double)cause(s, c) / all * 100);
    str_puts(t, "\n");
    put_bounds(t, s);
    put_path(t, s);
    put_bytes(t, "DMA in", fields_number(s, "dma_in_bytes"));
    put_bytes(t, "DMA out", fields_number(s, "dma_out_bytes"));
    put_bytes(t, "loaded by kernels", fields_number(s, "load_bytes"));
    put_bytes(t, "stored by kernels", fields_number(s, "store_bytes"));
    put_bytes(t, "DDR traffic", fields_number(s, "ddr_bytes"));
}

static void put_notes(str *t, const json_t *s)
{
    const json_t *notes = json_object_get(s, "notes");

    for (size_t i = 0; i < json_array_size(notes); i++)
        str_printf(t, "  %-26s %s\n", i ? "" : "note",
                   fields_text(json_array_get(notes, i), "text"));
}

/* Copies that are in no phase of their own. */
static void put_copies(str *t, const json_t *s)
{
    const json_t *copies = json_object_get(s, "copies");

    for (size_t i = 0; i < json_array_size(copies); i++) {
        const json_t *c = json_array_get(copies, i);

        if (json_object_get(c, "why"))
            str_printf(t, "  %-26s %s\n", "copy in no phase",
                       fields_text(c, "why"));
    }
}

static void put_stage(str *t, const json_t *j, const json_t *s)
{
    bool timed = strcmp(fields_text(j, "timing"), "none") != 0;

    str_printf(t, "%s: kernel %s, %s", fields_text(s, "name"),
               fields_text(s, "kernel"), fields_text(s, "variant"));
    if (fields_number(s, "factor") != 1)
        str_printf(t, " by %" PRIu64, fields_number(s, "factor"));
    str_printf(t,
               ", %" PRIu64 " work-groups of %" PRIu64 "x%" PRIu64 "x%" PRIu64
               " on %" PRIu64 " SHAVEs\n",
               fields_number(s, "groups"), local(s, 0), local(s, 1),
               local(s, 2), fields_number(s, "shaves"));
    if (timed)
        put_times(t, j, s);
    else
        str_printf(t, "  %-26s not asked for (--timing none)\n", "cycles");
    put_bytes(t, "local memory per group", fields_number(s, "local_bytes"));
    if (timed && json_is_string(json_object_get(s, "not_vectorized")))
        str_printf(t, "  %-26s %s\n", "not vectorized",
                   fields_text(s, "not_vectorized"));
    if (timed)
        put_copies(t, s);
    if (timed)
        put_notes(t, s);
}

static double ms(const json_t *j, uint64_t cycles)
{
    return (double)cycles / (double)fields_number(j, "clk_mhz") / 1e3;
}

static void put_advice(str *t, const json_t *j)
{
    const json_t *list = json_object_get(j, "advice");

    if (!list)
        return;
    str_puts(t, json_array_size(list)
                    ? "advice, what saves most first\n"
                    : "advice: none; nothing that is known saves a "
                      "fiftieth\n");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *f = json_array_get(list, i);
        uint64_t before = fields_number(f, "cycles");
        uint64_t gain = before - fields_number(f, "estimate");

        str_printf(t, "  %zu. %s", i + 1, fields_text(f, "stage"));
        if (fields_number(f, "line"))
            str_printf(t, ", %s:%" PRIu64, fields_text(f, "file"),
                       fields_number(f, "line"));
        str_printf(t, ": about %.3f of %.3f ms (%.0f %%) [%s]\n     %s\n",
                   ms(j, gain), ms(j, before),
                   100 * (double)gain / (double)before, fields_text(f, "rule"),
                   fields_text(f, "text"));
        str_printf(t,
                   "     shown by: vpu whatif with the same options and --knob "
                   "%s\n",
                   fields_text(f, "knob"));
    }
}

static const char *const how[] = {"", "--timing none", "--timing transaction"};
enum { N_HOW = sizeof how / sizeof *how };

START_TEST(text_says_what_json_says)
{
    const layer *l = &layers[_i / N_HOW];
    json_t *j = json_of(l, how[_i % N_HOW]);
    const json_t *stages = json_object_get(j, "stages");
    str want = {0};

    str_printf(&want, "layer %s (%s form), machine %s\n",
               fields_text(j, "layer"), fields_text(j, "form"),
               fields_text(j, "machine"));
    for (size_t i = 0; i < l->n; i++)
        put_stage(&want, j, json_array_get(stages, i));
    if (l->n > 1 && json_object_get(j, "cycles"))
        str_printf(&want, "all stages: %" PRIu64 " cycles (%.3f ms)\n",
                   fields_number(j, "cycles"), fields_real(j, "ms"));
    put_advice(&want, j);
    ck_assert_str_eq(run(l, how[_i % N_HOW]), str_text(&want));
    str_free(&want);
    json_decref(j);
}
END_TEST

/* --- notes --------------------------------------------------------------- */

/* What a launch's time goes to, and what the note names: nothing more and
 * nothing less. The distances are those of the shapes: 256 * 512 halves a
 * plane; planes of 17 * 512 halves meet in L2 every eighth. */
static const struct {
    const char *words;
    struct {
        const char *id, *names[3];
    } notes[3];
} noted[] = {
    {"grn/layer.xml --layer GRN --shape in0=1x16x64x512 --param bias=1",
     {{"l2-sets", {"16 lines of in0 (65536 bytes apart)", "more than 2"}}}},
    {"grn/layer.xml --layer GRN --shape in0=1x16x17x512 --param bias=1",
     {{"l2-sets", {"of in0 (139264 bytes apart)", "of out0 (139264"}},
      {"uneven", {"17 work-groups are 2 for some SHAVEs and 1 for others"}}}},
    /* As many groups as SHAVEs, planes that share no set. */
    {"grn/layer.xml --layer GRN --shape in0=1x8x16x552 --param bias=1", {{0}}},
    {"grn/layer.xml --layer GRN --shape in0=1x3x16x540 --param bias=1",
     {{"scalar",
       {"local size 540 is no multiple of 8",
        "no divisor of the global size 540 is, 544 would"}}}},
    {"reorg/layer.xml --layer Reorg --param stride=2 --shape in0=1x4x8x52 "
     "--shape out0=1x16x4x26 --shaves 4",
     {{"scalar", {"local size 26 is no multiple of 8", "32 would"}}}},
    /* All groups of all SHAVEs in one bank, as banks are not hashed. */
    {"grn/layer.xml --layer GRN --shape in0=1x16x256x512 --param bias=1 "
     "--set ddr_bank_hash=0",
     {{"l2-sets", {"(262144 bytes apart)"}},
      {"ddr-banks", {"other SHAVEs keep busy", "to in0"}}}},
};
enum { N_NOTED = sizeof noted / sizeof *noted };

START_TEST(notes_name_what_costs_time)
{
    const layer l = {.words = noted[_i].words};
    json_t *j = json_of(&l, "");
    const json_t *list = json_object_get(
        json_array_get(json_object_get(j, "stages"), 0), "notes");
    size_t n = 0;

    for (; n < 3 && noted[_i].notes[n].id; n++) {
        const json_t *note = json_array_get(list, n);

        ck_assert_msg(note != NULL, "%s: no %s", l.words,
                      noted[_i].notes[n].id);
        ck_assert_str_eq(fields_text(note, "id"), noted[_i].notes[n].id);
        for (int k = 0; k < 3 && noted[_i].notes[n].names[k]; k++)
            ck_assert_msg(strstr(fields_text(note, "text"),
                                 noted[_i].notes[n].names[k]) != NULL,
                          "%s: %s: no \"%s\"", l.words,
                          fields_text(note, "text"),
                          noted[_i].notes[n].names[k]);
    }
    ck_assert_msg(json_array_size(list) == n, "%s: %zu notes", l.words,
                  json_array_size(list));
    json_decref(j);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("reports");
    TCase *c = tcase_create("reports");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, json_says_what_ran, 0, N_LAYERS);
    tcase_add_loop_test(c, json_beside_the_outputs, 0, N_LAYERS);
    tcase_add_loop_test(c, json_without_timing, 0, N_LAYERS);
    tcase_add_loop_test(c, text_says_what_json_says, 0, N_LAYERS * N_HOW);
    tcase_add_loop_test(c, notes_name_what_costs_time, 0, N_NOTED);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
