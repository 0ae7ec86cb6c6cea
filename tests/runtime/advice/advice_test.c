/* Advice at the end of reports: what the samples' better variants give, that
 * the best ones are left in peace, and that other forms are told consistently.
 */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "tests/support/terminal.h"

static terminal p;
static const char *root;

static json_t *object_of(const char *command)
{
    json_t *j;

    terminal_run(&p, command);
    ck_assert_msg(p.status == 0, "%s: %s", command, p.err);
    j = json_loads(p.out, 0, NULL);
    ck_assert_msg(j != NULL, "%s", p.out);
    return j;
}

static json_t *ask(const char *command, const char *layer, const char *options)
{
    return object_of(arena_printf(p.arena, "%s %s/kernels/%s %s --json",
                                  command, root, layer, options));
}

static double number(const json_t *o, const char *name)
{
    const json_t *x = json_object_get(o, name);

    ck_assert_msg(json_is_number(x), "%s", name);
    return json_number_value(x);
}

static const char *text(const json_t *o, const char *name)
{
    const char *s = json_string_value(json_object_get(o, name));

    ck_assert_msg(s != NULL, "%s", name);
    return s;
}

/* --- samples and their variants ------------------------------------------- */

typedef struct {
    const char *name, *rule, *bound, *sample, *variant;
} row;

enum { MAX_ROWS = 64 };

static row rows[MAX_ROWS];
static int n_rows;

static const char *trim(char *s)
{
    size_t n;

    s += strspn(s, " ");
    for (n = strlen(s); n && s[n - 1] == ' ';)
        s[--n] = 0;
    return s;
}

/* Before the tests run; they check that there are rows. */
static void read_rows(arena *a)
{
    char *data, *line;
    size_t n;

    if (file_read("tests/runtime/advice/variants.txt", 1 << 20, a, &data, &n,
                  NULL))
        return;
    while ((line = strsep(&data, "\n"))) {
        const char *fields[5];
        int k = 0;

        if (!*line || *line == '#')
            continue;
        while (line && k < 5)
            fields[k++] = trim(strsep(&line, "|"));
        if (k == 5 && n_rows < MAX_ROWS)
            rows[n_rows++] =
                (row){fields[0], fields[1], fields[2], fields[3], fields[4]};
    }
}

static void setup(void)
{
    terminal_open(&p);
    root = realpath(".", NULL);
}

static void teardown(void)
{
    terminal_close(&p);
}

static double saved_by(const json_t *finding)
{
    return number(finding, "cycles") - number(finding, "estimate");
}

static bool has_better(const char *variant)
{
    for (int i = 0; i < n_rows; i++)
        if (!strcmp(rows[i].sample, variant))
            return true;
    return false;
}

/* The top advice is the one that the variant follows, which gains at least half
 * of what was estimated, and no more than the bound; nothing above 5 % is left
 * where no better variant is known. */
START_TEST(variants)
{
    const row *r = &rows[_i];
    json_t *before = ask("run", r->sample, "");
    json_t *after = ask("run", r->variant, "");
    json_t *limit = ask("whatif", r->sample,
                        arena_printf(p.arena, "--steps 0 --knob %s", r->bound));
    const json_t *top = json_array_get(json_object_get(before, "advice"), 0);
    const json_t *left = json_array_get(json_object_get(after, "advice"), 0);
    double cycles = number(before, "cycles");
    double real = cycles - number(after, "cycles");
    double bound =
        cycles -
        number(json_array_get(json_object_get(limit, "knobs"), 0), "cycles");

    ck_assert_str_eq(text(top, "rule"), r->rule);
    ck_assert_msg(real >= 0.5 * saved_by(top), "%s: %g of %g", r->name, real,
                  saved_by(top));
    ck_assert_msg(real <= 1.05 * bound, "%s: %g, at most %g", r->name, real,
                  bound);
    if (left && !has_better(r->variant))
        ck_assert_msg(saved_by(left) <= 0.05 * number(after, "cycles"),
                      "%s: %s", r->name, text(left, "text"));
    json_decref(before);
    json_decref(after);
    json_decref(limit);
}
END_TEST

/* --- what a report says --------------------------------------------------- */

#define GRN "grn/layer.xml --layer GRN --shape in0=1x16x64x64 --param bias=1"

START_TEST(rows_are_there)
{
    ck_assert_int_ge(n_rows, 15);
}
END_TEST

/* At most five, what saves most first, each shown by whatif with its knob. */
START_TEST(as_whatif_says)
{
    json_t *j = ask("run", GRN, "");
    const json_t *advice = json_object_get(j, "advice"), *f;
    double last = 1e300;
    size_t i;

    ck_assert_uint_ge(json_array_size(advice), 2);
    ck_assert_uint_le(json_array_size(advice), 5);
    json_array_foreach(advice, i, f)
    {
        json_t *w =
            ask("whatif", GRN,
                arena_printf(p.arena, "--steps 0 --knob %s", text(f, "knob")));
        const json_t *knob = json_array_get(json_object_get(w, "knobs"), 0);

        ck_assert_double_le(saved_by(f), last);
        last = saved_by(f);
        ck_assert_double_eq(number(knob, "cycles"), number(f, "estimate"));
        ck_assert_double_eq_tol(number(f, "gain"),
                                saved_by(f) / number(f, "cycles"), 1e-9);
        ck_assert_ptr_nonnull(strstr(text(f, "file"), "grn.cl"));
        ck_assert(number(f, "line") == 20 || number(f, "line") == 29);
        json_decref(w);
    }
    json_decref(j);
}
END_TEST

/* The text has the same findings, and what bounds the stage. */
START_TEST(text_form)
{
    terminal_run(&p, arena_printf(p.arena, "run %s/kernels/" GRN, root));
    ck_assert_msg(p.status == 0, "%s", p.err);
    ck_assert_ptr_nonnull(strstr(p.out, "\nadvice, what saves most first\n"));
    ck_assert_ptr_nonnull(strstr(p.out, "  1. GRN, "));
    ck_assert_ptr_nonnull(strstr(p.out, "--knob dma-form"));
    ck_assert_ptr_nonnull(strstr(p.out, "16 lines of in0"));
    ck_assert_ptr_nonnull(strstr(p.out, "bound by"));
    ck_assert_ptr_nonnull(strstr(p.out, "load latency"));
    terminal_run(
        &p, arena_printf(p.arena, "run %s/kernels/" GRN " --no-advice", root));
    ck_assert_msg(p.status == 0 && !strstr(p.out, "advice"), "%s", p.out);
}
END_TEST

/* Where no steps are kept there is no advice, and none is made up. */
START_TEST(nothing_known)
{
    static const char *const options[] = {"--timing transaction",
                                          "--timing none"};

    for (int i = 0; i < 2; i++) {
        json_t *j = ask("run", GRN, options[i]);

        ck_assert_ptr_null(json_object_get(j, "advice"));
        json_decref(j);
    }
}
END_TEST

/* Findings are the same whatever the host threads, and with a profile their
 * place is the line that stalls most. */
START_TEST(the_same_every_time)
{
    json_t *one = ask("run", GRN, "--threads 1");
    json_t *three = ask("run", GRN, "--threads 3");
    json_t *profiled = ask("run", GRN, "--profile");

    ck_assert(json_equal(json_object_get(one, "advice"),
                         json_object_get(three, "advice")));
    ck_assert_double_eq(
        number(json_array_get(json_object_get(profiled, "advice"), 0), "line"),
        29);
    json_decref(one);
    json_decref(three);
    json_decref(profiled);
}
END_TEST

/* No bound is above what the launch took, and the largest one is named. */
START_TEST(bounds)
{
    json_t *j = ask("run", rows[_i].sample, "--no-advice");
    const json_t *stage, *bound;
    const char *name;
    size_t i;

    json_array_foreach(json_object_get(j, "stages"), i, stage)
    {
        const json_t *list = json_object_get(stage, "bounds");
        double most = 0;

        ck_assert_uint_eq(json_object_size(list), 5);
        json_object_foreach((json_t *)(uintptr_t)list, name, bound)
        {
            double cycles = json_number_value(bound);

            ck_assert_msg(cycles <= number(stage, "cycles") * 1.0001, "%s",
                          name);
            most = cycles > most ? cycles : most;
        }
        ck_assert_double_eq(most, json_number_value(json_object_get(
                                      list, text(stage, "bound_by"))));
        ck_assert_double_le(number(stage, "balance"), 1);
        ck_assert_double_gt(number(stage, "balance"), 0);
    }
    json_decref(j);
}
END_TEST

/* --- the picture ---------------------------------------------------------- */

/* As SVG it has the name of each stage, as PNG it is one; other names are
 * refused before the run, and nothing is left of them. */
START_TEST(roofline)
{
    const char *layer =
        arena_printf(p.arena,
                     "run %s/kernels/mvn/layer.xml --shape in0=1x4x8x16 "
                     "--param eps=0.001 --quiet --roofline ",
                     root);
    char *data;
    size_t n;
    vpu_error err;

    terminal_run(&p, arena_printf(p.arena, "%s%s/r.svg", layer, p.dir));
    ck_assert_msg(p.status == 0, "%s", p.err);
    ck_assert(!file_read(arena_printf(p.arena, "%s/r.svg", p.dir), 1 << 20,
                         p.arena, &data, &n, &err));
    ck_assert(strstr(data, "<svg") && strstr(data, "MVN@stage_0") &&
              strstr(data, "MVN@stage_1") && strstr(data, "</svg>"));
    terminal_run(&p, arena_printf(p.arena, "%s%s/r.png", layer, p.dir));
    ck_assert_msg(p.status == 0, "%s", p.err);
    ck_assert(!file_read(arena_printf(p.arena, "%s/r.png", p.dir), 1 << 24,
                         p.arena, &data, &n, &err));
    ck_assert_mem_eq(data, "\x89PNG", 4);
    terminal_run(&p, arena_printf(p.arena, "%s%s/r.gif", layer, p.dir));
    ck_assert_msg(p.status == 2 && strstr(p.err, ".svg or .png"), "%s", p.err);
    terminal_run(&p, arena_printf(p.arena, "%s%s/no/r.svg", layer, p.dir));
    ck_assert_msg(p.status != 0 && strstr(p.err, "no/r.svg"), "%s", p.err);
}
END_TEST

/* --- vpu lint ------------------------------------------------------------- */

/* Without sizes nothing is run; with them the slow form is found; the fast one
 * is clean; the check can be left out. */
START_TEST(lint_finds_it)
{
    static const struct {
        const char *options;
        int status;
        const char *says;
    } cases[] = {
        {"", 0, "no findings"},
        {"--shape in0=1x16x64x64 --param bias=1", 1, "[advice]"},
        {"--shape in0=1x16x64x64 --param bias=1", 1, "--knob dma-form"},
        {"--shape in0=1x16x64x64 --param bias=1 --checks split", 0,
         "no findings"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        terminal_run(&p, arena_printf(p.arena,
                                      "lint %s/kernels/grn/layer.xml --layer "
                                      "GRN %s",
                                      root, cases[i].options));
        ck_assert_msg(p.status == cases[i].status &&
                          strstr(p.out, cases[i].says),
                      "%d: %s%s", p.status, p.out, p.err);
    }
    terminal_run(&p, arena_printf(p.arena,
                                  "lint %s/kernels/grn/layer.xml --layer "
                                  "GRNDma --shape in0=1x16x256x512 --param "
                                  "bias=1",
                                  root));
    ck_assert_msg(p.status == 0 && strstr(p.out, "no findings"), "%s", p.out);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("advice");
    TCase *t = tcase_create("advice");
    arena *a = arena_create(0);
    SRunner *r;
    int failed;

    read_rows(a);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, rows_are_there);
    tcase_add_loop_test(t, variants, 0, n_rows);
    tcase_add_test(t, as_whatif_says);
    tcase_add_test(t, text_form);
    tcase_add_test(t, nothing_known);
    tcase_add_test(t, the_same_every_time);
    tcase_add_loop_test(t, bounds, 0, n_rows);
    tcase_add_test(t, roofline);
    tcase_add_test(t, lint_finds_it);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    arena_destroy(a);
    return failed != 0;
}
