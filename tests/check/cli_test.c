/* vpu check from outside: reports in three forms, suppressions, limits, what a
 * bad command line gets. */
#include <check.h>
#include <ftw.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/terminal.h"

static const char layer[] =
    "<CustomLayer name=\"T\" type=\"MVCL\" version=\"1\">\n"
    "<Kernel entry=\"k\"><Source filename=\"k.cl\"/>\n"
    "<Parameters>\n"
    "<Tensor arg-name=\"src\" type=\"input\" port-index=\"0\" "
    "format=\"BFYX\"/>\n"
    "<Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\" "
    "format=\"BFYX\"/>\n"
    "</Parameters>\n"
    "<WorkSizes dim=\"input,0\" global=\"X,Y*F,1\" local=\"X,1,1\"/>\n"
    "</Kernel></CustomLayer>\n";

/* Line 4 is called from line 10; item 15 of the last row reads past the end.
 * Line 12: neighbours without a barrier. */
static const char faulty[] =
    "__attribute__((noinline))\n"
    "half pick(__global const half *p, int i)\n"
    "{\n"
    "    return p[i + 1];\n"
    "}\n"
    "__kernel void k(__global const half *restrict src,\n"
    "                __global half *restrict dst)\n"
    "{\n"
    "    int l = get_local_id(0), i = get_global_id(1) * 16 + l;\n"
    "    half v = pick(src, i);\n"
    "    __local half row[16];\n"
    "    row[l] = v;\n"
    "    dst[i] = row[l ? l - 1 : 0];\n"
    "}\n";

static const char clean[] =
    "__kernel void k(__global const half *restrict src,\n"
    "                __global half *restrict dst)\n"
    "{\n"
    "    int i = get_global_id(1) * 16 + get_global_id(0);\n"
    "    dst[i] = src[i];\n"
    "}\n";

#define RUN "check layer.xml --shape in0=1x2x4x16 --quiet"

static terminal p;

static void open_with(const char *kernel)
{
    terminal_open(&p);
    terminal_text(&p, "layer.xml", layer);
    terminal_text(&p, "k.cl", kernel);
}

static void close_it(void)
{
    terminal_close(&p);
}

#define has(text) \
    ck_assert_msg(strstr(p.out, text) != NULL, "no '%s' in\n%s", text, p.out)

static int n_kernels; /* nftw has no place for it */

static int count_file(const char *path, const struct stat *st, int kind,
                      struct FTW *at)
{
    (void)path;
    (void)st;
    (void)at;
    n_kernels += kind == FTW_F;
    return 0;
}

static int kernels_kept(void)
{
    n_kernels = 0;
    ck_assert(
        !nftw(arena_printf(p.arena, "%s/.cache", p.dir), count_file, 8, 0));
    return n_kernels;
}

/* Code that tells of every access is made for checkers that look at accesses,
 * and for no other ones: these share what there is then. */
START_TEST(code_that_checkers_need)
{
    static const char *const without[] = {
        "none", "group-size", "local-memory,order", "order --order all"};
    int few = 0;

    open_with(faulty);
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        terminal_run(&p, arena_printf(p.arena, RUN " --checks %s", without[i]));
        ck_assert_int_eq(p.status, 0);
        few = few ? few : kernels_kept();
        ck_assert_int_eq(kernels_kept(), few);
    }
    terminal_run(&p, RUN " --checks bounds");
    ck_assert_int_eq(p.status, 1);
    ck_assert_int_gt(kernels_kept(), few);
    close_it();
}
END_TEST

START_TEST(text)
{
    open_with(faulty);
    terminal_run(&p, RUN);
    ck_assert_int_eq(p.status, 1);
    has("k.cl:4:12: error: reads 2 bytes 1 byte behind the end of 'src' "
        "(in0[0,1,3,16]: 1 element past the end of dimension X) [bounds]\n"
        "    return p[i + 1];\n"
        "           ^\n"
        "k.cl:10:14: note: called from here\n");
    has("work-item (15,0,0) of work-group (0,7,0), global id (15,7,0)");
    has("k.cl:13:14: error: reads what another work-item writes");
    has("k.cl:12:12: note: work-item (0,0,0) of work-group (0,0,0), global id "
        "(0,0,0) writes\n");
    has("T: 2 findings\n");
    close_it();
}
END_TEST

/* A variable that a switch jumps over begins to exist with the kernel, before
 * its first line: the note names the file alone. */
START_TEST(place_without_a_line)
{
    open_with("__kernel void k(__global const half *restrict src,\n"
              "                __global half *restrict dst)\n"
              "{\n"
              "    int i = get_global_id(1) * 16 + get_global_id(0);\n"
              "    switch (i & 1) {\n"
              "        half v;\n"
              "    case 0:\n"
              "        v = src[i];\n"
              "    default:\n"
              "        dst[i] = v;\n"
              "    }\n"
              "}\n");
    terminal_run(&p, RUN);
    ck_assert_int_eq(p.status, 1);
    has("k.cl:10:16: error: global memory gets a value nobody gave 'v' "
        "[uninit]\n");
    has("k.cl: note: it begins to exist\n");
    close_it();
}
END_TEST

START_TEST(clean_bill)
{
    open_with(clean);
    terminal_run(&p, RUN);
    ck_assert_int_eq(p.status, 0);
    ck_assert_str_eq(
        p.out,
        "T: no findings in 8 work-groups of 1 launch; checked for bounds, "
        "align, uninit, stale-local, race, group-race, rewritten, unwritten, "
        "divergence, dma-wait, dma-shape, dma-phase, restrict, group-size, "
        "local-memory, divide, shift, convert, half\n");
    terminal_run(&p, RUN " --order all:2");
    ck_assert_int_eq(p.status, 0);
    has("each in 8 orders; checked for");
    has("restrict, order, group-size");
    close_it();
}
END_TEST

#define number(o, key) json_integer_value(json_object_get(o, key))

static json_t *find(json_t *list, const char *check)
{
    json_t *x;
    size_t i;

    json_array_foreach(
        list, i, x) if (!strcmp(json_string_value(json_object_get(x, "check")),
                                check)) return x;
    ck_abort_msg("no finding of %s", check);
    return NULL;
}

START_TEST(json)
{
    json_t *j, *x, *other;

    open_with(faulty);
    terminal_run(&p, RUN " --json");
    ck_assert_int_eq(p.status, 1);
    j = json_loads(p.out, 0, NULL);
    ck_assert_ptr_nonnull(j);
    ck_assert_int_eq(number(j, "work_groups"), 8);
    x = find(json_object_get(j, "findings"), "bounds");
    ck_assert_int_eq(number(x, "line"), 4);
    ck_assert_int_eq(number(x, "column"), 12);
    ck_assert_int_eq(number(x, "count"), 1);
    ck_assert_int_eq(number(x, "byte"), 256);
    ck_assert_int_eq(
        json_integer_value(json_array_get(json_object_get(x, "global_id"), 0)),
        15);
    ck_assert_int_eq(
        number(json_array_get(json_object_get(x, "called_from"), 0), "line"),
        10);
    x = find(json_object_get(j, "findings"), "race");
    other = json_object_get(x, "other");
    ck_assert_int_eq(number(x, "line"), 13);
    ck_assert_int_eq(number(other, "line"), 12);
    /* Items 1 to 15 of 8 groups, each of another one's element. */
    ck_assert_int_eq(number(x, "count"), 15 * 8);
    json_decref(j);
    close_it();
}
END_TEST

START_TEST(sarif)
{
    json_t *j, *run, *result;
    char path[128];

    open_with(faulty);
    terminal_run(&p, RUN " --sarif check.sarif");
    ck_assert_int_eq(p.status, 1);
    snprintf(path, sizeof path, "%s/check.sarif", p.dir);
    j = json_load_file(path, 0, NULL);
    ck_assert_ptr_nonnull(j);
    ck_assert_str_eq(json_string_value(json_object_get(j, "version")), "2.1.0");
    run = json_array_get(json_object_get(j, "runs"), 0);
    ck_assert_int_eq((int)json_array_size(json_object_get(run, "results")), 2);
    for (size_t i = 0; i < 2; i++) {
        json_t *at, *rules;
        json_int_t rule;

        result = json_array_get(json_object_get(run, "results"), i);
        at = json_object_get(
            json_array_get(json_object_get(result, "locations"), 0),
            "physicalLocation");
        ck_assert_str_eq(json_string_value(json_object_get(
                             json_object_get(at, "artifactLocation"), "uri")),
                         "k.cl");
        rules = json_object_get(
            json_object_get(json_object_get(run, "tool"), "driver"), "rules");
        rule = number(result, "ruleIndex");
        ck_assert_str_eq(json_string_value(json_object_get(result, "ruleId")),
                         json_string_value(json_object_get(
                             json_array_get(rules, (size_t)rule), "id")));
        ck_assert_int_eq(
            (int)json_array_size(json_object_get(result, "relatedLocations")),
            1);
    }
    json_decref(j);
    close_it();
}
END_TEST

/* The same bytes whatever the threads, the SHAVEs' and the run's number. */
START_TEST(deterministic)
{
    char *first;

    open_with(faulty);
    terminal_run(&p, RUN " --json --order all");
    first = strdup(p.out);
    for (int i = 1; i <= 3; i++) {
        char args[128];

        snprintf(args, sizeof args, RUN " --json --order all --threads %d", i);
        terminal_run(&p, args);
        ck_assert_str_eq(p.out, first);
    }
    free(first);
    close_it();
}
END_TEST

/* A fact about the device, not a mistake, unless it is asked for. */
START_TEST(notes)
{
    open_with("__kernel void k(__global const half *restrict src,\n"
              "                __global half *restrict dst)\n"
              "{\n"
              "    int i = get_global_id(1) * 16 + get_global_id(0);\n"
              "    half2 v = *(__global const half2 *)(src + (i | 1) - 2);\n"
              "    dst[i] = v.x;\n"
              "}\n");
    terminal_run(&p, RUN);
    ck_assert_int_eq(p.status, 1); /* in front of src, too */
    has("k.cl:5:15: note: a vector of 4 bytes at an address");
    has("T: 1 finding, 1 note\n");
    terminal_run(&p, RUN " --checks align");
    ck_assert_int_eq(p.status, 0);
    has("T: no findings in 8 work-groups of 1 launch, 1 note; checked for "
        "align\n");
    terminal_run(&p, RUN " --checks align --json");
    ck_assert_int_eq(p.status, 0);
    has("\"level\": \"note\"");
    terminal_run(&p, RUN " --checks align --strict-align");
    ck_assert_int_eq(p.status, 1);
    has("k.cl:5:15: error: a vector of 4 bytes at an address");
    has("T: 1 finding\n");
    close_it();
}
END_TEST

/* The clean layer with an argument more: a layer is bound once for each pass
 * of the checkers and once for each side of a comparison. */
START_TEST(a_note_is_told_once)
{
    static const char *const lines[] = {
        "check more.xml --shape in0=1x2x4x16",
        "check layer.xml --shape in0=1x2x4x16 --checks all",
        "diff more.xml --shape in0=1x2x4x16 --b sim"};
    static const char note[] = "has no argument 'more'";
    const char *end = strstr(layer, "</Parameters>");

    open_with(faulty);
    terminal_text(&p, "more.xml",
                  arena_printf(p.arena, "%.*s%s%s", (int)(end - layer), layer,
                               "<Scalar arg-name=\"more\" type=\"int\" "
                               "source=\"1\"/>\n",
                               end));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *first;

        terminal_run(&p, lines[i]);
        first = strstr(p.err, note);
        ck_assert_msg(!first == !strstr(lines[i], "more.xml"), "%s", p.err);
        ck_assert_msg(!first || !strstr(first + 1, note), "%s: %s", lines[i],
                      p.err);
    }
    close_it();
}
END_TEST

START_TEST(suppressions)
{
    open_with(faulty);
    terminal_text(&p, "known",
                  "# what is known\n"
                  "bounds k k.cl:4   # until the next release\n"
                  "* other k.cl\n");
    terminal_run(&p, RUN " --suppress known");
    ck_assert_int_eq(p.status, 1);
    has("T: 1 finding, 1 suppressed\n");
    terminal_text(&p, "known", "* * *\n");
    terminal_run(&p, RUN " --suppress known");
    ck_assert_int_eq(p.status, 0);
    has("no findings in 8 work-groups of 1 launch, 2 suppressed; checked");
    terminal_text(&p, "known", "bounds k\n");
    terminal_run(&p, RUN " --suppress known");
    ck_assert_int_eq(p.status, 2);
    ck_assert_ptr_nonnull(strstr(p.err, "known:1"));
    terminal_text(&p, "known", "\nbound k k.cl\n");
    terminal_run(&p, RUN " --suppress known");
    ck_assert_int_eq(p.status, 2);
    ck_assert_ptr_nonnull(strstr(p.err, "known:2"));
    terminal_text(&p, "known", "bounds k k.cl:x\n");
    terminal_run(&p, RUN " --suppress known");
    ck_assert_int_eq(p.status, 2);
    close_it();
}
END_TEST

START_TEST(selection)
{
    open_with(faulty);
    terminal_run(&p, RUN " --check race");
    ck_assert_int_eq(p.status, 1);
    has("T: 1 finding\n");
    ck_assert_ptr_null(strstr(p.out, "[bounds]"));
    terminal_run(&p, RUN " --check -race,-bounds");
    ck_assert_int_eq(p.status, 0);
    terminal_run(&p, RUN " --check none");
    ck_assert_int_eq(p.status, 0);
    has("checked for nothing");
    terminal_run(&p, RUN " --max-findings 1");
    ck_assert_int_eq(p.status, 1);
    has("T: 1 finding, 1 more not shown\n");
    terminal_run(&p, RUN " --check raec");
    ck_assert_int_eq(p.status, 2);
    ck_assert_ptr_nonnull(strstr(p.err, "no checker 'raec'"));
    terminal_run(&p, RUN " --order all:0");
    ck_assert_int_eq(p.status, 2);
    terminal_run(&p, RUN " --order allx");
    ck_assert_int_eq(p.status, 2);
    terminal_run(&p, RUN " --max-findings many");
    ck_assert_int_eq(p.status, 2);
    close_it();
}
END_TEST

/* A launch the device refuses is a finding; there are no orders to try then. */
START_TEST(refused_in_no_order)
{
    open_with("__attribute__((reqd_work_group_size(8, 1, 1)))\n"
              "__kernel void k(__global const half *restrict src,\n"
              "                __global half *restrict dst)\n"
              "{\n"
              "    int i = get_global_id(1) * 16 + get_global_id(0);\n"
              "    dst[i] = src[i];\n"
              "}\n");
    terminal_run(&p, RUN " --order all");
    ck_assert_msg(p.status == 1, "%s", p.err);
    has("[group-size]");
    has("T: 1 finding\n");
    close_it();
}
END_TEST

/* Findings beside the run itself. */
START_TEST(with_a_run)
{
    open_with("__kernel void k(__global const half *restrict src,\n"
              "                __global half *restrict dst)\n"
              "{\n"
              "    int i = get_global_id(1) * 16 + get_global_id(0);\n"
              "    dst[i ? i - 1 : 0] = src[i] / (half)(get_local_id(0) / 0);\n"
              "}\n");
    terminal_run(&p,
                 "run layer.xml --shape in0=1x2x4x16 --quiet --check=divide");
    ck_assert_int_eq(p.status, 1);
    has("T: kernel k, ");
    ck_assert_ptr_nonnull(strstr(p.err, "[divide]"));
    ck_assert_ptr_null(strstr(p.err, "[rewritten]"));
    terminal_text(&p, "k.cl", clean);
    terminal_run(&p, "run layer.xml --shape in0=1x2x4x16 --quiet --check");
    ck_assert_int_eq(p.status, 0);
    has("T: kernel k, ");
    ck_assert_ptr_nonnull(strstr(p.err, "T: no findings in 8 work-groups"));
    terminal_run(&p, "run layer.xml --shape in0=1x2x4x16 --check=raec");
    ck_assert_int_eq(p.status, 2);
    close_it();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("check");
    TCase *t = tcase_create("cli");
    SRunner *r;
    int failed;

    tcase_set_timeout(t, 120);
    tcase_add_test(t, code_that_checkers_need);
    tcase_add_test(t, text);
    tcase_add_test(t, place_without_a_line);
    tcase_add_test(t, clean_bill);
    tcase_add_test(t, json);
    tcase_add_test(t, sarif);
    tcase_add_test(t, deterministic);
    tcase_add_test(t, notes);
    tcase_add_test(t, a_note_is_told_once);
    tcase_add_test(t, suppressions);
    tcase_add_test(t, selection);
    tcase_add_test(t, refused_in_no_order);
    tcase_add_test(t, with_a_run);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
