/* Advice in traces: what a run writes against the report of that run; which
 * finding a click means; damaged ones. */
#include <check.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/trace/writer.h"
#include "tests/support/fields.h"
#include "tests/support/terminal.h"
#include "visualizer/control.h"
#include "visualizer/load.h"

static terminal p;
static tl_timeline tl;
static view v;
static bool opened;

static void close_trace(void)
{
    if (!opened)
        return;
    view_free(&v);
    tl_free(&tl);
    opened = false;
}

static void open_trace(void)
{
    vpu_error err;

    close_trace();
    ck_assert_msg(
        !load_file(arena_printf(p.arena, "%s/t.pftrace", p.dir), &tl, &err),
        "%s", err.msg);
    ck_assert(!view_init(&v, &tl, &err));
    opened = true;
}

static void setup(void)
{
    terminal_open(&p);
}

static void teardown(void)
{
    close_trace();
    terminal_close(&p);
}

/* --- a run ---------------------------------------------------------------- */

static void run(const char *options)
{
    char root[1024];

    ck_assert(getcwd(root, sizeof root) != NULL);
    terminal_run(
        &p, arena_printf(
                p.arena,
                "run %s/kernels/mvn/layer.xml --layer MVN "
                "--shape in0=1x16x32x64 --param eps=1e-5 --trace t.pftrace "
                "--output o %s",
                root, options));
    terminal_expect(&p, 0, "");
    open_trace();
}

static const char *plain(const char *path)
{
    return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

static void same(const facts_advice *f, const json_t *j)
{
    const json_t *cause = json_object_get(j, "cause");

    ck_assert_str_eq(f->stage, fields_text(j, "stage"));
    ck_assert_str_eq(f->rule, fields_text(j, "rule"));
    ck_assert_str_eq(f->text, fields_text(j, "text"));
    ck_assert_str_eq(f->knob, fields_text(j, "knob"));
    ck_assert_str_eq(f->file, plain(fields_text(j, "file")));
    ck_assert_uint_eq(f->line, json_integer_value(json_object_get(j, "line")));
    ck_assert_uint_eq(f->before,
                      json_integer_value(json_object_get(j, "cycles")));
    ck_assert_uint_eq(f->after,
                      json_integer_value(json_object_get(j, "estimate")));
    ck_assert_str_eq(tl_class_name(f->cause), json_string_value(cause));
    ck_assert_str_eq(facts_stage_at(&v.facts, f->time)->name, f->stage);
}

/* Of a layer of two kernels, by rank, each in its stage. */
START_TEST(as_the_report)
{
    static const char *const without[] = {
        "--no-advice", "--trace-level summary", "--timing none"};
    const json_t *list;
    json_t *j;
    size_t n;

    run("");
    j = fields_read(terminal_bytes(&p, "o/report.json", &n));
    list = json_object_get(j, "advice");
    ck_assert_uint_gt(json_array_size(list), 0);
    ck_assert_uint_eq(v.facts.n_advice, json_array_size(list));
    for (uint32_t i = 0; i < v.facts.n_advice; i++) {
        ck_assert_uint_eq(v.facts.advice[i].rank, i + 1);
        same(&v.facts.advice[i], json_array_get(list, i));
    }
    json_decref(j);
    run("--trace-level groups");
    ck_assert_uint_gt(v.facts.n_advice, 0);
    for (size_t i = 0; i < 2; i++) {
        run(without[i]);
        ck_assert_uint_eq(v.facts.n_advice, 0);
    }
    terminal_run(&p, "view t.pftrace --text --columns 100");
    ck_assert_ptr_null(strstr(p.out, "what would help"));
}
END_TEST

/* --- a trace that is written here ------------------------------------------ */

typedef struct {
    uint64_t at, rank, line, before, after;
    const char *stage, *cause, *text;
} made;

static const made three[] = {
    {1000, 2, 0, 900, 600, "b", "dispatch", "group \xc3\xa4ll of them"},
    {0, 1, 7, 1000, 100, "a", "DDR stall",
     "a text of many words that has to be broken into several lines, since the "
     "panel is not as wide as it is long"},
    {1000, 3, 0, 900, 890, "b", "no cause of ours", " unbroken"}};

static void write_trace(const made *list, size_t n)
{
    trc_track stages, advice;
    trc_writer *w;
    vpu_error err;

    ck_assert(!trc_writer_create(NULL, &w, &err));
    ck_assert(!trc_writer_add(
        w, TRC_PERFETTO, arena_printf(p.arena, "%s/t.pftrace", p.dir), &err));
    stages = trc_track_slices(w, trc_track_group(w, 0, "device"), "stages",
                              TRC_CYCLES);
    trc_slice(w, stages, 0, 1000, &(trc_event){.name = "a"});
    trc_slice(w, stages, 1000, 1900, &(trc_event){.name = "b"});
    for (size_t i = 0; i < n; i++) {
        trc_arg args[] = {TRC_UINT("rank", list[i].rank),
                          TRC_TEXT("stage", list[i].stage),
                          TRC_TEXT("rule", "r"),
                          TRC_TEXT("file", list[i].line ? "k.cl" : ""),
                          TRC_UINT("line", list[i].line),
                          TRC_TEXT("cause", list[i].cause),
                          TRC_UINT("cycles", list[i].before),
                          TRC_UINT("estimate", list[i].after),
                          TRC_TEXT("text", list[i].text),
                          TRC_TEXT("knob", "k")};

        /* A track each, so that they may stand in any order. */
        advice = trc_track_slices(
            w, trc_track_group(w, 0, arena_printf(p.arena, "g%zu", i)),
            "advice", TRC_CYCLES);
        trc_instant(w, advice, list[i].at,
                    &(trc_event){.name = "advice", .args = args, .n_args = 10});
    }
    ck_assert(!trc_writer_commit(w, &err));
    open_trace();
}

/* Draws the page, so that the control knows where findings are. */
static void draw(control *k)
{
    static uint32_t px[1000 * 600];
    cv_font_set *fonts;
    vpu_error err;
    cv_canvas c;

    ck_assert_msg(!cv_fonts_open(1, &fonts, &err), "%s", err.msg);
    cv_raster(&c, fonts, &(const cv_pixels){px, 1000, 600, 1000}, 1);
    control_paint(k, &c);
    cv_fonts_close(fonts);
}

static void click(control *k, double y)
{
    control_press(k, 800, y, 1, 1, 0);
    control_release(k, 800, y);
}

START_TEST(choosing)
{
    control k;
    double second;

    write_trace(three, 3);
    ck_assert_uint_eq(v.facts.n_advice, 3);
    ck_assert_str_eq(v.facts.advice[0].stage, "a");
    ck_assert_int_eq(v.facts.advice[0].cause, TL_DDR);
    ck_assert_int_eq(v.facts.advice[2].cause, TL_N_CAUSES);
    control_init(&k, &v, "t", NULL, NULL);
    control_resize(&k, 1000, 600);
    control_key(&k, 'b', 0);
    ck_assert_int_eq(k.shows, PANEL_ADVICE);
    draw(&k);
    ck_assert(k.advice[0][0] < k.advice[0][1]);
    ck_assert(k.advice[0][1] < k.advice[0][2]);
    second = (k.advice[0][0] + k.advice[0][1]) / 2;
    click(&k, k.advice[0][0] - 12);
    ck_assert_uint_eq(v.advice, 1);
    ck_assert_int_eq(v.only, TL_DDR + 1);
    ck_assert_str_eq(v.line_file, "k.cl");
    ck_assert_uint_eq(v.line, 7);
    view_show(&v, 0, 500);
    click(&k, second); /* its stage comes into view, the line is no more */
    ck_assert_uint_eq(v.advice, 2);
    ck_assert_int_eq(v.only, TL_DISPATCH + 1);
    ck_assert_ptr_null(v.line_file);
    ck_assert(v.from <= 1000 && v.to >= 1900);
    click(&k, second);
    ck_assert_uint_eq(v.advice, 0);
    ck_assert_int_eq(v.only, 0);
    control_key(&k, '}', 0);
    control_key(&k, '}', 0);
    control_key(&k, '}', 0);
    ck_assert_uint_eq(v.advice, 3);
    ck_assert_int_eq(v.only, 0); /* its cause is unknown */
    control_key(&k, '}', 0);
    ck_assert_uint_eq(v.advice, 3);
    control_key(&k, '{', 0);
    ck_assert_uint_eq(v.advice, 2);
    control_key(&k, KEY_ESCAPE, 0);
    ck_assert_uint_eq(v.advice, 0);
    click(&k, k.advice[0][2] + 40); /* below all of them */
    ck_assert_uint_eq(v.advice, 0);
    control_key(&k, 'b', 0);
    ck_assert_int_eq(k.shows, PANEL_FIGURES);
}
END_TEST

START_TEST(as_text)
{
    write_trace(three, 3);
    terminal_run(&p, "view t.pftrace --text --columns 100 --unit cycles");
    terminal_expect(&p, 0, "");
    ck_assert_msg(
        strstr(p.out, "\nwhat would help:\n"
                      "  1. a, k.cl:7: about 900 cycles of 1 000 cycles (k)\n"
                      "  2. b: about 300 cycles of 900 cycles (k)\n"
                      "  3. b: about 10 cycles of 900 cycles (k)\n") != NULL,
        "%s", p.out);
}
END_TEST

/* Without a text, or slower than before: none of ours. */
START_TEST(damaged)
{
    static const made bad[] = {
        {0, 1, 0, 100, 200, "a", "issue", "it takes longer"},
        {0, 2, 0, 100, 50, "a", "issue", ""},
        {0, 0, 0, 0, 0, "", "", "no stage, no cycles"},
        {0, 4, 0, 9, 1, "a", "issue",
         "nowordinthistextisshortenoughtostandinonelineofthepanelsothatitiscut"
         "offwhereitendswhichmustnothanggoon\xc3\xa4\xc3\xa4\xc3\xa4 twice"}};
    control k;

    write_trace(bad, 4);
    ck_assert_uint_eq(v.facts.n_advice, 2);
    control_init(&k, &v, "t", NULL, NULL);
    control_resize(&k, 1000, 600);
    control_key(&k, 'b', 0);
    draw(&k);
    click(&k, k.advice[0][0] - 12);
    ck_assert_uint_eq(v.advice, 1);
    draw(&k);
    control_resize(&k, 900, 130); /* no room for the second */
    draw(&k);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("advice in traces");
    TCase *t = tcase_create("advice");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, as_the_report);
    tcase_add_test(t, choosing);
    tcase_add_test(t, as_text);
    tcase_add_test(t, damaged);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
