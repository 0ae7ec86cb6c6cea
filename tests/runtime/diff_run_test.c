/* Two backends against each other, who wrote what, and the reports. */
#include "runtime/diff/diff.h"

#include <check.h>
#include <jansson.h>
#include <libxml/parser.h>
#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/backend/host.h"
#include "runtime/diff/report.h"
#include "sim/base/file.h"
#include "tests/kernels/program.h"
#include "tests/runtime/bound.h"

static arena *a;
static char *dir;
static vpu_error err;
static bound b;
static diff_options o;
static diff_report r;

static const bound_request mvn = {.folder = "mvn",
                                  .layer = "MVN",
                                  .shapes = {"in0=2x3x4x8"},
                                  .params = {"eps=0.5"}};
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
    diff_side sx = {&canned_ops, x, "left"}, sy = {&canned_ops, y, "right"};

    return diff_run(&sx, &sy, b.g, b.data, &o, a, &r, &err);
}

static uint32_t named(const char *name)
{
    uint32_t i = 0;

    while (strcmp(b.g->buffers[i].name, name))
        i++;
    return i;
}

static void nudge(canned *c, const char *name, uint64_t element)
{
    ((uint16_t *)c->data[named(name)])[element] ^= 1;
}

/* --- verdicts ------------------------------------------------------------- */

START_TEST(equal_sides)
{
    bind(&mvn);
    ck_assert(!run(canned_new(&b, _i), canned_new(&b, true)));
    ck_assert_int_eq(r.verdict, DIFF_EQUAL);
    ck_assert_int_eq(r.by_stage, _i);
    ck_assert_int_eq(r.first_stage, -1);
    ck_assert_uint_eq(r.n_stages, 2);
    ck_assert_uint_eq(r.n_tensors, _i ? 2 : 1);
    ck_assert_uint_eq(r.stages[1].b.cycles, 1000);
    ck_assert_int_eq(r.stages[0].compared, _i);
}
END_TEST

START_TEST(first_stage_that_deviates)
{
    canned *x;

    bind(&mvn);
    x = canned_new(&b, true);
    nudge(x, "buffer0", 3);
    ck_assert(!run(x, canned_new(&b, true)));
    /* What counts is the output. */
    ck_assert_int_eq(r.verdict, DIFF_EQUAL);
    ck_assert_int_eq(r.first_stage, 0);
    ck_assert_uint_eq(r.tensors[0].result.n_diff, 1);
    ck_assert_uint_eq(r.tensors[0].result.first.index, 6);
    nudge(x, "out0", 50);
    ck_assert(!run(x, canned_new(&b, true)));
    ck_assert_int_eq(r.verdict, DIFF_DIFFERENT);
    ck_assert_int_eq(r.first_stage, 0);
    ck_assert(!r.stages[0].equal && !r.stages[1].equal);
    o.outputs_only = true;
    ck_assert(!run(x, canned_new(&b, true)));
    ck_assert_int_eq(r.verdict, DIFF_DIFFERENT);
    ck_assert_uint_eq(r.n_tensors, 1);
    ck_assert_int_eq(r.first_stage, -1);
}
END_TEST

START_TEST(rules_by_name)
{
    diff_rule rules[2] = {
        {.name = "out0", .tolerance = {.ulp = 1}},
        {.name = "buffer0", .typed = true, .dtype = TENSOR_F32}};
    canned *x;

    bind(&mvn);
    x = canned_new(&b, true);
    nudge(x, "out0", 50);
    nudge(x, "buffer0", 4);
    o.rules = rules;
    o.n_rules = 2;
    ck_assert_msg(!run(x, canned_new(&b, true)), "%s", err.msg);
    ck_assert_int_eq(r.verdict, DIFF_EQUAL);
    ck_assert_int_eq(r.tensors[0].result.desc.dtype, TENSOR_F32);
    ck_assert_uint_eq(r.tensors[0].result.first.index, 2);
    ck_assert_uint_eq(r.tensors[0].result.first.ulp, 1);
    rules[1].tolerance.ulp = 1;
    ck_assert(!run(x, canned_new(&b, true)));
    ck_assert_int_eq(r.first_stage, -1);
    rules[1].name = "buffer7";
    ck_assert_int_eq(run(x, canned_new(&b, true)), VPU_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(err.msg, "buffer7"));
}
END_TEST

START_TEST(a_side_that_fails)
{
    canned *x, *y;
    str text = {0};

    bind(&mvn);
    x = canned_new(&b, true);
    y = canned_new(&b, true);
    y->fail_at = 1;
    ck_assert(!run(x, y));
    ck_assert_int_eq(r.verdict, DIFF_NOT_RUN);
    ck_assert_str_eq(r.failed, "right");
    ck_assert_str_eq(r.error.msg, "launch 1 fails");
    diff_report_text(&r, &text);
    ck_assert_ptr_nonnull(strstr(str_text(&text), "right: launch 1 fails"));
    str_free(&text);
}
END_TEST

START_TEST(simulator_against_plugin)
{
    backend_config cfg;
    diff_side x = {&canned_ops, NULL, "sim"}, y = {&backend_host, NULL, "host"};

    bind(&mvn);
    cfg = (backend_config){.device = "build/plugins/mvn.so",
                           .params = b.params,
                           .n_params = b.n_params};
    x.self = canned_new(&b, true);
    ck_assert_msg(!backend_host.open(&cfg, b.g, &y.self, &err), "%s", err.msg);
    ck_assert(!diff_run(&x, &y, b.g, b.data, &o, a, &r, &err));
    ck_assert_msg(r.verdict == DIFF_EQUAL, "%s", r.error.msg);
    ck_assert(!r.by_stage);
    nudge(x.self, "out0", 7);
    ck_assert(!diff_run(&x, &y, b.g, b.data, &o, a, &r, &err));
    ck_assert_int_eq(r.verdict, DIFF_DIFFERENT);
    backend_host.close(y.self);
}
END_TEST

/* --- who wrote what ------------------------------------------------------- */

static diff_map map_of(const tensor_desc *d, const uint32_t *global,
                       const uint32_t *local)
{
    graph *g = arena_new(a, graph);
    diff_map m;

    g->n_buffers = g->n_launches = 1;
    g->buffers = arena_new(a, graph_buffer);
    g->launches = arena_new(a, graph_launch);
    memcpy(g->launches->global, global, sizeof g->launches->global);
    memcpy(g->launches->local, local, sizeof g->launches->local);
    g->buffers->desc = *d;
    diff_map_init(g, 0, 0, d, NULL, &m);
    return m;
}

#define U3(...) ((const uint32_t[]){__VA_ARGS__})

/* Every element against ids computed by hand from its index. */
START_TEST(writers_by_size)
{
    const tensor_desc plain = {.rank = 4, .dims = {2, 3, 4, 8}};
    tensor_desc minor = plain;
    diff_map rows = map_of(&plain, U3(8, 4, 6), U3(8, 1, 1));
    diff_map column = map_of(&plain, U3(8, 4, 2), U3(4, 2, 1));
    diff_map last;
    diff_writer w;

    for (uint32_t i = 0; i < 192; i++) {
        uint32_t x = i % 8, y = i / 8 % 4, f = i / 32 % 3, n = i / 96;

        ck_assert(diff_map_who(&rows, i, &w));
        ck_assert_mem_eq(w.group, U3(0, y, n * 3 + f), sizeof w.group);
        ck_assert_mem_eq(w.local, U3(x, 0, 0), sizeof w.local);
        ck_assert(diff_map_who(&column, i, &w));
        ck_assert_mem_eq(w.global, U3(x, y, n), sizeof w.global);
        ck_assert_mem_eq(w.group, U3(x / 4, y / 2, n), sizeof w.group);
        ck_assert_mem_eq(w.local, U3(x % 4, y % 2, 0), sizeof w.local);
    }
    ck_assert_str_eq(column.rule, "x = dim 3, y = dim 2, z = dim 0; inside an "
                                  "item: dim 1");
    minor.layout = TENSOR_CHANNEL_MINOR;
    last = map_of(&minor, U3(3, 8, 8), U3(3, 1, 1));
    for (uint32_t i = 0; i < 192; i++) {
        uint32_t f = i % 3, x = i / 3 % 8, y = i / 24 % 4, n = i / 96;

        ck_assert(diff_map_who(&last, i, &w));
        ck_assert_mem_eq(w.global, U3(f, x, n * 4 + y), sizeof w.global);
    }
}
END_TEST

START_TEST(writers_that_are_not_known)
{
    const tensor_desc d = {.rank = 3, .dims = {4, 4, 4}};
    diff_map m = map_of(&d, U3(5, 4, 4), U3(1, 1, 1));
    diff_writer w;

    ck_assert(!m.known && !diff_map_who(&m, 0, &w));
    ck_assert_ptr_nonnull(strstr(m.rule, "5x4x4"));
    m = map_of(&d, U3(4, 4, 4), U3(1, 1, 1));
    ck_assert(m.known);
    ck_assert_ptr_nonnull(strstr(m.rule, "(5 other ways fit as well)"));
    ck_assert(diff_map_who(&m, 1 + 4 * 2 + 16 * 3, &w));
    ck_assert_mem_eq(w.global, U3(1, 2, 3), sizeof w.global);
}
END_TEST

static bool oracle(void *user, uint32_t launch, uint32_t buffer,
                   uint64_t element, diff_writer *out)
{
    (void)user;
    (void)launch;
    (void)buffer;
    *out = (diff_writer){.group = {0, 3, 1}, .local = {(uint32_t)element}};
    return true;
}

START_TEST(places_of_differences)
{
    const diff_provenance told = {oracle, NULL};
    const diff_groups *g;
    const diff_heat *h;
    canned *x;
    uint64_t sum = 0;

    bind(&grn);
    x = canned_new(&b, true);
    /* n = 1: (f, y, x) = (0, 2, 5), (1, 2, 5), (2, 3, 0) */
    nudge(x, "out0", 96 + 16 + 5);
    nudge(x, "out0", 96 + 32 + 16 + 5);
    nudge(x, "out0", 96 + 64 + 24);
    ck_assert(!run(x, canned_new(&b, true)));
    ck_assert(r.tensors[0].located);
    ck_assert_mem_eq(r.tensors[0].first.group, U3(0, 2, 1), 12);
    ck_assert_mem_eq(r.tensors[0].first.local, U3(5, 0, 0), 12);
    g = &r.tensors[0].places.groups;
    ck_assert_uint_eq(g->n_cells, 8);
    ck_assert_uint_eq(g->failed[4 + 2], 2);
    ck_assert_uint_eq(g->failed[4 + 3], 1);
    h = &r.tensors[0].places.heat;
    ck_assert_uint_eq(h->width, 8);
    ck_assert_uint_eq(h->height, 24);
    ck_assert_uint_eq(h->failed[(12 + 2) * 8 + 5], 1);
    for (uint32_t i = 0; i < 192; i++)
        sum += h->failed[i];
    ck_assert_uint_eq(sum, 3);
    o.provenance = &told;
    ck_assert(!run(x, canned_new(&b, true)));
    ck_assert_mem_eq(r.tensors[0].first.group, U3(0, 3, 1), 12);
    ck_assert_uint_eq(r.tensors[0].places.groups.failed[7], 3);
    ck_assert_str_eq(r.tensors[0].map.rule, "as the device says");
}
END_TEST

/* --- reports -------------------------------------------------------------- */

static void differing(void)
{
    canned *x;

    bind(&mvn);
    x = canned_new(&b, true);
    nudge(x, "out0", 50);
    ((uint16_t *)x->data[named("out0")])[60] = 0x7e00;
    ck_assert(!run(x, canned_new(&b, true)));
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
    t = json_array_get(json_object_get(j, "tensors"), 1);
    ck_assert_int_eq(json_integer_value(json_object_get(t, "different")), 2);
    ck_assert_int_eq(json_integer_value(json_object_get(t, "nan")), 1);
    t = json_object_get(t, "first");
    ck_assert_int_eq(
        json_integer_value(json_array_get(json_object_get(t, "index"), 1)), 1);
    ck_assert_int_eq(json_integer_value(json_object_get(t, "ulp")), 1);
    t = json_array_get(json_object_get(j, "stages"), 0);
    ck_assert_int_eq(
        json_integer_value(json_object_get(json_object_get(t, "a"), "cycles")),
        1000);
    json_decref(j);
    str_free(&text);
    str_free(&again);
}
END_TEST

START_TEST(report_as_text)
{
    static const char *const lines[] = {
        "MVN: left against right: DIFFERENT\n",
        "first stage that deviates: MVN@stage_1 (kernel mvn_apply)\n",
        "2 of 192 elements differ (exact), first [0,1,2,2]: ",
        "worst      [0,1,3,4]: nan, expected ",
        "Obtained Pixel-wise L2 error: inf% (max allowed=1%), Fail\n",
        "work-groups with differences: 2 of 24, most in (0,2,1): 1 elements\n",
        "group (0,2,1), item (2,0,0)\n"};
    str text = {0};

    differing();
    diff_report_text(&r, &text);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        ck_assert_msg(strstr(str_text(&text), lines[i]) != NULL,
                      "'%s' is not in:\n%s", lines[i], str_text(&text));
    str_free(&text);
}
END_TEST

START_TEST(report_as_junit)
{
    diff_report failed = {.verdict = DIFF_NOT_RUN}, fine = {0};
    diff_case cases[3] = {{"a <b> & \"c\"\x01\xff \xc3\xa4", &r, 0.25},
                          {"broken", &failed, -1},
                          {"fine", &fine, 0}};
    str text = {0};
    xmlDoc *doc;
    xmlNode *suite, *n;
    xmlChar *s;
    int k = 0;

    differing();
    strcpy(failed.error.msg, "no such file <x>");
    failed.layer = fine.layer = "L";
    failed.a = failed.b = fine.a = fine.b = "side";
    failed.first_stage = fine.first_stage = -1;
    diff_report_junit("su&ite", cases, 3, &text);
    doc = xmlReadMemory(str_text(&text), (int)text.n, "x.xml", NULL, 0);
    ck_assert_msg(doc != NULL, "%s", str_text(&text));
    suite = xmlDocGetRootElement(doc);
    s = xmlGetProp(suite, BAD_CAST "failures");
    ck_assert_str_eq((char *)s, "1");
    xmlFree(s);
    s = xmlGetProp(suite, BAD_CAST "name");
    ck_assert_str_eq((char *)s, "su&ite");
    xmlFree(s);
    for (n = xmlFirstElementChild(suite); n;
         n = xmlNextElementSibling(n), k++) {
        xmlNode *what = xmlFirstElementChild(n);

        s = xmlGetProp(n, BAD_CAST "name");
        if (k == 0) {
            ck_assert_str_eq((char *)s, "a <b> & \"c\"?? \xc3\xa4");
            ck_assert_str_eq((char *)what->name, "failure");
        } else if (k == 1) {
            ck_assert_str_eq((char *)what->name, "error");
        } else {
            ck_assert_ptr_null(what);
        }
        xmlFree(s);
    }
    ck_assert_int_eq(k, 3);
    xmlFreeDoc(doc);
    str_free(&text);
}
END_TEST

START_TEST(heat_map)
{
    char *path = arena_strdup(a, file_join(a, dir, "heat.png"));
    png_image image = {.version = PNG_IMAGE_VERSION};
    const diff_tensor *t;
    unsigned char *pixels;
    char *first, *second;
    size_t n, m, grey = 0;
    uint32_t scale;

    differing();
    t = &r.tensors[1];
    ck_assert_msg(!diff_heat_write(path, t, &err), "%s", err.msg);
    first = program_file(a, dir, "heat.png", &n);
    ck_assert(!diff_heat_write(path, t, &err));
    second = program_file(a, dir, "heat.png", &m);
    ck_assert(n == m && !memcmp(first, second, n));
    ck_assert(png_image_begin_read_from_memory(&image, first, n));
    image.format = PNG_FORMAT_RGB;
    scale = image.width / 8;
    ck_assert_uint_eq(image.height, 24 * scale);
    pixels = arena_push(a, PNG_IMAGE_SIZE(image), 1, 1);
    ck_assert(png_image_finish_read(&image, NULL, pixels, 0, NULL));
    for (size_t i = 0; i < (size_t)image.width * image.height; i++)
        grey += pixels[3 * i] == pixels[3 * i + 2];
    /* All but two elements. */
    ck_assert_uint_eq(grey, (size_t)190 * scale * scale);
    /* Element 50: row 6, column 2. */
    ck_assert_uint_ne(pixels[3 * (6 * scale * image.width + 2 * scale)],
                      pixels[3 * (6 * scale * image.width + 2 * scale) + 2]);
    ck_assert_int_eq(diff_heat_write("/nowhere/x.png", t, &err), VPU_ERR_IO);
    ck_assert_int_eq(diff_heat_write("/dev/full/x.png", t, &err), VPU_ERR_IO);
    o.no_places = true;
    ck_assert(!run(canned_new(&b, true), canned_new(&b, true)));
    ck_assert_int_eq(diff_heat_write(path, &r.tensors[0], &err),
                     VPU_ERR_INVALID);
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
    tcase_add_test(tc, simulator_against_plugin);
    tcase_add_test(tc, writers_by_size);
    tcase_add_test(tc, writers_that_are_not_known);
    tcase_add_test(tc, places_of_differences);
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
