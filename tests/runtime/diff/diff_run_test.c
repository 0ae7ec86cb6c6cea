/* Two backends against each other: verdicts, stages, who wrote what, and the
 * reports. */
#include "runtime/diff/diff.h"

#include <check.h>
#include <jansson.h>
#include <libxml/parser.h>
#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "runtime/backend/ops.h"
#include "runtime/diff/report.h"
#include "tests/kernels/program.h"
#include "tests/runtime/backend/bound.h"

static arena *a;
static char *dir;
static vpu_error err;
static bound b;
static diff_config o;
static diff_report r;

/* Two stages, float statistics between them. */
static const bound_request mvn = {.folder = "mvn",
                                  .layer = "MVN",
                                  .shapes = {"in0=2x3x4x8"},
                                  .params = {"eps=0.5"}};
/* Three: to channels innermost, the kernel, and back. */
static const bound_request reorg = {.folder = "reorg",
                                    .layer = "ReorgLast",
                                    .shapes = {"in0=1x2x4x8", "out0=1x8x2x4"},
                                    .params = {"stride=2"}};
static const bound_request grn = {.folder = "grn",
                                  .layer = "GRN",
                                  .shapes = {"in0=2x3x4x8"},
                                  .params = {"bias=1"}};

static void setup(void)
{
    a = arena_create(0);
    dir = program_temp_dir(a);
    memset(&err, 0, sizeof err);
    memset(&o, 0, sizeof o);
}

static void teardown(void)
{
    program_remove_dir(dir);
    arena_destroy(a);
}

static void bind(const bound_request *q)
{
    bound_layer(a, q, &b);
    bound_simulate(&b);
}

static vpu_status run(canned *x, canned *y)
{
    backend_config cx = {.print_user = x}, cy = {.print_user = y};
    const diff_side sides[] = {
        {"left", &canned_ops, &cx, b.graph, b.data, NULL},
        {"right", &canned_ops, &cy, b.graph, b.data, NULL}};

    return diff_run(sides, &o, a, &r, &err);
}

static canned *same(void)
{
    return canned_new(&b, true);
}

/* A tensor that an argument of a launch writes. */
static uint32_t written_by(uint32_t launch)
{
    const graph_launch *l = &b.graph->launches[launch];

    for (uint32_t k = 0; k < l->n_args; k++)
        if (l->args[k].written)
            return l->args[k].buffer;
    ck_abort_msg("launch %u writes nothing", launch);
    return 0;
}

static void nudge(canned *c, uint32_t buffer, uint64_t element)
{
    ((uint16_t *)c->data[buffer])[element] ^= 1;
}

/* --- verdicts ------------------------------------------------------------ */

START_TEST(equal_sides)
{
    bind(&reorg);
    ck_assert_uint_eq(b.graph->n_launches, 3);
    ck_assert_msg(!run(canned_new(&b, _i), same()), "%s", err.msg);
    ck_assert(r.equal);
    ck_assert_int_eq(r.by_stage, _i);
    ck_assert_int_eq(r.first_deviating, -1);
    ck_assert_uint_eq(r.n_buffers, _i ? 3 : 1);
    ck_assert_uint_eq(r.sides[1].results[1].cycles, 1000);
    ck_assert_str_eq(r.summary, _i ? "192 elements, bit for bit"
                                   : "64 elements, bit for bit");
}
END_TEST

START_TEST(first_stage_that_deviates)
{
    canned *x;

    bind(&reorg);
    x = same();
    nudge(x, written_by(1), 6);
    nudge(x, written_by(2), 50);
    ck_assert(!run(x, same()));
    ck_assert(!r.equal);
    ck_assert_int_eq(r.first_deviating, 1);
    ck_assert(!r.launches[0].deviates && r.launches[1].deviates &&
              r.launches[2].deviates);
    ck_assert_uint_eq(r.buffers[1].first.element.index, 6);
    o.outputs_only = true;
    ck_assert(!run(x, same()));
    ck_assert(!r.equal && !r.by_stage);
    ck_assert_uint_eq(r.n_buffers, 1);
    ck_assert_uint_eq(r.buffers[0].first.element.index, 50);
}
END_TEST

START_TEST(rules_by_name)
{
    diff_rule rules[] = {{NULL, {.ulp = 1}}, {"out0", {0}}};
    canned *x;

    bind(&mvn);
    x = same();
    nudge(x, bound_output(&b), 50);
    ck_assert(!run(x, same()));
    ck_assert(!r.equal);
    o.rules = rules;
    o.n_rules = 1;
    ck_assert(!run(x, same()));
    ck_assert(r.equal);
    ck_assert_str_eq(r.summary,
                     "192 elements, 1 not the same bits but within tolerance");
    o.n_rules = 2;
    ck_assert(!run(x, same()));
    ck_assert(!r.equal);
    ck_assert_uint_eq(r.buffers[0].result.n_diff, 1);
}
END_TEST

START_TEST(a_side_that_fails)
{
    canned *y;

    bind(&mvn);
    y = same();
    y->fail_at = 1;
    ck_assert_int_eq(run(same(), y), VPU_ERR_FAULT);
    ck_assert_str_eq(err.msg, "b (right): launch 1 fails");
}
END_TEST

/* Once it has run it is asked for its outputs alone. */
START_TEST(a_side_that_is_kept)
{
    diff_kept kept = {.results = NULL};
    canned *x, *y;
    backend_config cx = {0}, cy = {0};
    diff_side sides[] = {{"left", &canned_ops, &cx, NULL, NULL, NULL},
                         {"right", &canned_ops, &cy, NULL, NULL, &kept}};

    bind(&mvn);
    for (int k = 0; k < 2; k++) {
        sides[k].graph = b.graph;
        sides[k].inputs = b.data;
    }
    o.outputs_only = true;
    cx.print_user = x = same();
    cy.print_user = y = same();
    y->fail_at = 1;
    ck_assert_int_eq(diff_run(sides, &o, a, &r, &err), VPU_ERR_FAULT);
    ck_assert_ptr_null(kept.results);
    y->fail_at = UINT32_MAX;
    ck_assert(!diff_run(sides, &o, a, &r, &err) && r.equal);
    y->fail_at = 1;
    nudge(x, bound_output(&b), 7);
    ck_assert(!diff_run(sides, &o, a, &r, &err) && !r.equal);
    ck_assert_uint_eq(r.sides[1].cycles, 2000);
    backend_close(&kept.b);
}
END_TEST

START_TEST(against_a_plugin)
{
    backend_config cx = {0}, cy;
    diff_side sides[] = {{"sim", &canned_ops, &cx, NULL, NULL, NULL},
                         {"host", &backend_host_ops, &cy, NULL, NULL, NULL}};
    canned *c;

    bind(&mvn);
    for (int k = 0; k < 2; k++) {
        sides[k].graph = b.graph;
        sides[k].inputs = b.data;
    }
    c = same();
    cx.print_user = c;
    cy = (backend_config){.device = "build/plugins/mvn.so",
                          .params = b.params,
                          .n_params = b.n_params};
    ck_assert_msg(!diff_run(sides, &o, a, &r, &err), "%s", err.msg);
    ck_assert_msg(r.equal, "%s", r.summary);
    ck_assert(!r.by_stage);
    nudge(c, bound_output(&b), 7);
    ck_assert(!diff_run(sides, &o, a, &r, &err));
    ck_assert(!r.equal);
}
END_TEST

/* --- who wrote what ------------------------------------------------------ */

static void is_place(const diff_place *p, uint32_t gy, uint32_t gz, uint32_t x)
{
    ck_assert(p->group_known && p->item_known);
    ck_assert_uint_eq(p->group[0], 0);
    ck_assert_uint_eq(p->group[1], gy);
    ck_assert_uint_eq(p->group[2], gz);
    ck_assert_uint_eq(p->item[0], x);
}

/* A group of GRN is a row of one item of the batch, all channels. */
START_TEST(work_groups_that_failed)
{
    const diff_buffer *d;
    canned *x;
    uint32_t out;

    bind(&grn);
    x = same();
    out = bound_output(&b);
    /* n = 1: (f, y, x) = (0, 2, 5), (1, 2, 5), (2, 3, 0) */
    nudge(x, out, 96 + 16 + 5);
    nudge(x, out, 96 + 32 + 16 + 5);
    nudge(x, out, 96 + 64 + 24);
    ck_assert(!run(x, same()));
    ck_assert_ptr_null(r.not_traced);
    d = &r.buffers[0];
    ck_assert_uint_eq(d->n_groups, 8);
    ck_assert_uint_eq(d->n_bad_groups, 2);
    for (uint32_t g = 0; g < 8; g++)
        ck_assert_uint_eq(d->bad_in_group[g], g == 6 ? 2 : g == 7);
    is_place(&d->first, 2, 1, 5);
    o.no_groups = true;
    ck_assert(!run(x, same()));
    ck_assert_ptr_null(r.buffers[0].bad_in_group);
    ck_assert(!r.buffers[0].first.group_known);
}
END_TEST

/* Both dimensions of the launch are as long as two of the tensor: x runs along
 * the innermost. */
START_TEST(items_of_a_square)
{
    bound_request square = grn;
    canned *x;

    square.shapes[0] = "in0=1x3x8x8";
    bind(&square);
    x = same();
    /* (f, y, x) = (1, 2, 5); a group is a row */
    nudge(x, bound_output(&b), 64 + 16 + 5);
    ck_assert(!run(x, same()));
    is_place(&r.buffers[0].first, 2, 0, 5);
}
END_TEST

/* x runs along columns here, and two of the tensor's dimensions are as long. */
START_TEST(items_that_may_run_along_either)
{
    static const bound_request columns = {
        .folder = "reorg",
        .layer = "ReorgLine",
        .shapes = {"in0=1x2x8x4", "out0=1x8x4x2"},
        .params = {"stride=2"}};
    const diff_place *first;
    canned *x;

    for (int square = 0; square < 2; square++) {
        bound_request q = columns;

        if (square) {
            q.shapes[0] = "in0=1x2x16x4";
            q.shapes[1] = "out0=1x8x8x2";
        }
        bind(&q);
        x = same();
        nudge(x, bound_output(&b), 0);
        ck_assert(!run(x, same()));
        first = &r.buffers[0].first;
        ck_assert(first->group_known);
        ck_assert_int_eq(first->item_known, !square);
    }
}
END_TEST

/* The layer writes no more than its input has. */
START_TEST(elements_that_no_group_writes)
{
    static const bound_request half = {
        .folder = "mvn",
        .layer = "MVN",
        .shapes = {"in0=1x3x4x8", "out0=2x3x4x8"},
        .params = {"eps=1"}};
    canned *x;

    bind(&half);
    x = same();
    nudge(x, bound_output(&b), 96);
    ck_assert(!run(x, same()));
    ck_assert(!r.buffers[0].first.group_known);
}
END_TEST

/* 2 by 3 groups of 16 by 16 items. */
START_TEST(groups_in_two_dimensions)
{
    static const bound_request product = {
        .folder = "matmul",
        .layer = "MatMul",
        .shapes = {"in0=48x16", "in1=16x32", "out0=48x32"}};
    const diff_buffer *d;
    canned *x;

    bind(&product);
    x = same();
    nudge(x, bound_output(&b), 20 * 32 + 17); /* the group (1, 1) */
    nudge(x, bound_output(&b), 47 * 32 + 31); /* the group (1, 2) */
    ck_assert(!run(x, same()));
    d = &r.buffers[0];
    ck_assert_uint_eq(d->n_groups, 6);
    ck_assert_uint_eq(d->n_bad_groups, 2);
    for (uint32_t g = 0; g < 6; g++)
        ck_assert_uint_eq(d->bad_in_group[g], g == 3 || g == 5);
}
END_TEST

/* --- reports ------------------------------------------------------------- */

static void differing(void)
{
    canned *x;

    bind(&grn);
    x = same();
    nudge(x, bound_output(&b), 50);
    ((uint16_t *)x->data[bound_output(&b)])[60] = 0x7e00;
    ck_assert(!run(x, same()));
}

static int64_t whole(const json_t *o_, const char *key)
{
    const json_t *v = json_object_get(o_, key);

    ck_assert_msg(json_is_integer(v), "%s", key);
    return json_integer_value(v);
}

START_TEST(report_as_json)
{
    str text = {0}, again = {0};
    json_t *j, *t;

    differing();
    diff_report_json(&r, &text);
    diff_report_json(&r, &again);
    ck_assert_str_eq(str_text(&text), str_text(&again));
    j = json_loads(str_text(&text), JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(j);
    ck_assert_str_eq(json_string_value(json_object_get(j, "verdict")),
                     "different");
    t = json_array_get(json_object_get(j, "buffers"), 0);
    ck_assert_int_eq(whole(t, "different"), 2);
    ck_assert_int_eq(whole(t, "elements"), 192);
    ck_assert_int_eq(whole(t, "nan_a"), 1);
    ck_assert_str_eq(json_string_value(json_object_get(t, "pixel_wise_l2")),
                     "inf");
    ck_assert_int_eq(whole(json_object_get(t, "different_by_work_group"), "2"),
                     1);
    ck_assert_int_eq(whole(json_object_get(t, "different_by_work_group"), "3"),
                     1);
    t = json_object_get(t, "first");
    ck_assert_int_eq(whole(t, "ulp"), 1);
    ck_assert_int_eq(whole(t, "offset"), 50);
    t = json_object_get(t, "index");
    ck_assert_int_eq(json_integer_value(json_array_get(t, 1)), 1);
    ck_assert_int_eq(json_integer_value(json_array_get(t, 3)), 2);
    t = json_array_get(json_object_get(j, "stages"), 0);
    ck_assert_int_eq(whole(t, "a_cycles"), 1000);
    json_decref(j);
    str_free(&text);
    str_free(&again);
}
END_TEST

START_TEST(report_as_text)
{
    static const char *const lines[] = {
        "out0 f16 2x3x4x8: DIFFERENT, 2 of 192 elements",
        "[0,1,2,2]: ",
        "1 ULP; work-group (0, 2, 0), work-item (2, 0, 0)",
        "[0,1,3,4]: nan instead of ",
        "min pixel accuracy     inf %",
        "work-groups with them  2 of 8: (0, 2, 0): 1, (0, 3, 0): 1\n",
        "DIFFERENT: out0: 2 of 192 differ, first at [0,1,2,2]: "};
    str text = {0};

    differing();
    diff_report_text(&r, false, &text);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        ck_assert_msg(strstr(str_text(&text), lines[i]) != NULL,
                      "'%s' is not in:\n%s", lines[i], str_text(&text));
    str_free(&text);
}
END_TEST

static char *attribute(xmlNode *n, const char *name)
{
    xmlChar *s = xmlGetProp(n, BAD_CAST name);
    char *kept = arena_strdup(a, (const char *)s);

    xmlFree(s);
    return kept;
}

START_TEST(report_as_junit)
{
    str text = {0};
    xmlDoc *doc;
    xmlNode *suite, *one, *failure;

    differing();
    r.sides[0].id = "a <b> & \"c\" \xc3\xa4";
    diff_report_junit(&r, &text);
    doc = xmlReadMemory(str_text(&text), (int)text.n, "x.xml", NULL, 0);
    ck_assert_msg(doc != NULL, "%s", str_text(&text));
    suite = xmlDocGetRootElement(doc);
    ck_assert_str_eq((const char *)suite->name, "testsuite");
    ck_assert_str_eq(attribute(suite, "tests"), "1");
    ck_assert_str_eq(attribute(suite, "failures"), "1");
    one = xmlFirstElementChild(suite);
    ck_assert_ptr_nonnull(
        strstr(attribute(one, "name"), "a <b> & \"c\" \xc3\xa4 against right"));
    failure = xmlFirstElementChild(one);
    ck_assert_str_eq((const char *)failure->name, "failure");
    ck_assert_str_eq(attribute(failure, "message"), r.summary);
    xmlFreeDoc(doc);
    str_free(&text);
    ck_assert(!run(same(), same()));
    diff_report_junit(&r, &text);
    ck_assert_ptr_nonnull(strstr(str_text(&text), "failures=\"0\""));
    ck_assert_ptr_null(strstr(str_text(&text), "<failure"));
    str_free(&text);
}
END_TEST

/* Planes of 4 rows and 8 columns, 2 across and 3 down or the like: which way
 * they lie is not looked at, only how many pixels there are of which kind. */
START_TEST(heat_map)
{
    char *path = arena_strdup(a, file_join(a, dir, "heat.png"));
    png_image image = {.version = PNG_IMAGE_VERSION};
    unsigned char *pixels;
    size_t n, m, equal = 0, white = 0, others = 0;
    char *first, *second;

    o.heat_map = path;
    differing();
    first = program_file(a, dir, "heat.png", &n);
    differing();
    second = program_file(a, dir, "heat.png", &m);
    ck_assert(n == m && !memcmp(first, second, n));
    ck_assert(png_image_begin_read_from_memory(&image, first, n));
    image.format = PNG_FORMAT_RGB;
    pixels = arena_push(a, PNG_IMAGE_SIZE(image), 1, 1);
    ck_assert(png_image_finish_read(&image, NULL, pixels, 0, NULL));
    for (size_t i = 0; i < (size_t)image.width * image.height; i++) {
        const unsigned char *p = pixels + 3 * i;

        if (p[0] == 16 && p[1] == 16 && p[2] == 48)
            equal++;
        else if (p[0] == 255 && p[1] == 255 && p[2] == 255)
            white++;
        else
            others++;
    }
    ck_assert_uint_eq(white, 1);
    ck_assert_uint_eq(others, 1);
    ck_assert_uint_ge(equal, 190);
    o.heat_map = "/nowhere/x.png";
    bind(&grn);
    {
        canned *x = same();

        nudge(x, bound_output(&b), 1);
        ck_assert_int_eq(run(x, same()), VPU_ERR_IO);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("diff_run");
    TCase *tc = tcase_create("diff");
    SRunner *sr;
    int failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, equal_sides, 0, 2);
    tcase_add_test(tc, first_stage_that_deviates);
    tcase_add_test(tc, rules_by_name);
    tcase_add_test(tc, a_side_that_fails);
    tcase_add_test(tc, a_side_that_is_kept);
    tcase_add_test(tc, against_a_plugin);
    tcase_add_test(tc, work_groups_that_failed);
    tcase_add_test(tc, items_of_a_square);
    tcase_add_test(tc, items_that_may_run_along_either);
    tcase_add_test(tc, elements_that_no_group_writes);
    tcase_add_test(tc, groups_in_two_dimensions);
    tcase_add_test(tc, report_as_json);
    tcase_add_test(tc, report_as_text);
    tcase_add_test(tc, report_as_junit);
    tcase_add_test(tc, heat_map);
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
