/* --json of commands that describe: machine, asm, blob show. Each JSON text
 * says the same as the command's text for people, which is read as the oracle
 * here. */
#include <check.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/fields.h"
#include "tests/support/terminal.h"

static const char scale_cl[] =
    "__kernel void scale(__global const half *src, __global half *dst,\n"
    "                    float by)\n"
    "{\n"
    "    int i = get_global_id(0);\n"
    "    for (int k = 0; k < 12; k++)\n"
    "        dst[i * 12 + k] = src[i * 12 + k] * (half)by;\n"
    "}\n";
static const char layer_xml[] =
    "<CustomLayer name=\"Scale\" type=\"MVCL\" version=\"1\">\n"
    "  <Kernel entry=\"scale\"><Source filename=\"scale.cl\"/></Kernel>\n"
    "  <Parameters>\n"
    "    <Tensor arg-name=\"src\" type=\"input\" port-index=\"0\" "
    "format=\"BFYX\"/>\n"
    "    <Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\" "
    "format=\"BFYX\"/>\n"
    "    <Scalar arg-name=\"by\" type=\"float\" source=\"1.5\"/>\n"
    "  </Parameters>\n"
    "  <WorkSizes dim=\"input,0\" global=\"Y,1,1\" local=\"1,1,1\"/>\n"
    "</CustomLayer>\n";

static terminal p;

static void setup(void)
{
    terminal_open(&p);
    terminal_text(&p, "scale.cl", scale_cl);
    terminal_text(&p, "layer.xml", layer_xml);
}

static void teardown(void)
{
    terminal_close(&p);
}

/* What the command prints. */
static const char *text_of(const char *args)
{
    terminal_run(&p, args);
    terminal_expect(&p, 0, "");
    return arena_strdup(p.arena, p.out);
}

static json_t *json_of(const char *args)
{
    return fields_read(text_of(args));
}

static uint32_t count(const char *text, const char *word)
{
    uint32_t n = 0;

    for (; (text = strstr(text, word)); text += strlen(word))
        n++;
    return n;
}

/* A line of the text for each row of the list, with its name, number, about. */
static void expect_lines(const char *text, const json_t *list, const char *key)
{
    const json_t *row;
    size_t i;

    ck_assert_uint_gt(json_array_size(list), 0);
    json_array_foreach(list, i, row)
    {
        const char *line = arena_printf(
            p.arena, "\n%-18s %12" PRIu64 " %s\n", fields_text(row, "name"),
            fields_number(row, key), fields_text(row, "about"));

        ck_assert_msg(strstr(text, line) != NULL, "%s", line);
    }
}

/* --- machine ------------------------------------------------------------- */

START_TEST(machine_says_every_parameter)
{
    const char *text = text_of("machine --set ddr_load_stall=200");
    json_t *j = json_of("machine --json --set ddr_load_stall=200");
    const json_t *list = json_object_get(j, "parameters"), *row;
    const json_t *modes = json_object_get(j, "modes");
    const json_t *bits = json_object_get(j, "fast_cache_bits");
    size_t i;
    bool overridden = false;

    /* Two lines of head; two above the modes, and two above the bits. */
    ck_assert_uint_eq(json_array_size(list) + json_array_size(modes) +
                          json_array_size(bits) + 6,
                      count(text, "\n"));
    ck_assert(strstr(text, fields_text(j, "machine")) != NULL);
    json_array_foreach(list, i, row)
    {
        const json_t *value = json_object_get(row, "value");
        const char *line, *unit = fields_text(row, "unit");
        char shown[64];

        if (json_is_real(value))
            snprintf(shown, sizeof shown, "%g", json_real_value(value));
        else
            snprintf(shown, sizeof shown,
                     strcmp(unit, "address") ? "%" PRIu64 : "0x%" PRIx64,
                     fields_number(row, "value"));
        line = arena_printf(
            p.arena, "\n%-18s %12s %-8s %-10s %s [%s]\n",
            fields_text(row, "name"), shown, unit, fields_text(row, "status"),
            fields_text(row, "about"), fields_text(row, "source"));
        ck_assert_msg(strstr(text, line) != NULL, "%s", line);
        if (!strcmp(fields_text(row, "name"), "ddr_load_stall")) {
            ck_assert_uint_eq(fields_number(row, "value"), 200);
            ck_assert_str_eq(fields_text(row, "status"), "overridden");
            overridden = true;
        }
    }
    ck_assert(overridden);
    expect_lines(text, modes, "value");
    expect_lines(text, bits, "bit");
    json_decref(j);
}
END_TEST

/* --- modes of the simulator ---------------------------------------------- */

/* Without what depends on the host and on runs before. */
static json_t *report_of(const char *layer, const char *fast_cache,
                         const char *more)
{
    char root[PATH_MAX];
    json_t *j, *stage;
    size_t i;

    ck_assert(getcwd(root, sizeof root) != NULL);
    j = json_of(arena_printf(p.arena, "run %s/%s --quiet --json %s %s", root,
                             layer, more, fast_cache));
    json_array_foreach(json_object_get(j, "stages"), i, stage)
    {
        ck_assert_double_le(fields_real(stage, "host_engine_s"),
                            fields_real(stage, "host_run_s"));
        json_object_del(stage, "host_run_s");
        json_object_del(stage, "host_engine_s");
        json_object_del(stage, "host_compile_s");
        json_object_del(stage, "from_cache");
        ck_assert_uint_gt(fields_number(stage, "cycles"), 0);
    }
    return j;
}

/* However the cache model finds its counts, they are the same. */
START_TEST(fast_cache_changes_no_report)
{
    static const char grn[] = "kernels/grn/layer.xml --layer GRN "
                              "--shape in0=1x16x24x40 --param bias=1.0";
    static const char *const more[] = {"", "--timing transaction"};
    static const char *const sums[] = {"--set fast_cache=0",
                                       "--set fast_cache=3"};
    json_t *want = report_of(grn, "", more[_i]);

    for (int k = 0; k < 2; k++) {
        json_t *got = report_of(grn, sums[k], more[_i]);
        char *shown = json_dumps(got, JSON_SORT_KEYS | JSON_INDENT(1));

        ck_assert_msg(json_equal(got, want), "%s", shown);
        free(shown);
        json_decref(got);
    }
    json_decref(want);
}
END_TEST

/* Small groups touch the lines of the one before, and are not looked up then.
 */
static const char *const small_groups[] = {
    "--layer Tiny --shape in0=1x1x1x5003:f32",
    "--layer Tiny --shape in0=1x1x1x9000:f32 --order reverse --shaves 3",
    "--layer Tiny --shape in0=1x1x1x4000:f32 --order random:7",
    "--layer Tiny --shape in0=1x1x1x777:f32 --set wg_split=1 --shaves 2",
    "--layer Tiny --shape in0=1x1x1x5000:f32 --set l2_line=128 "
    "--set l1d_line=128",
    "--layer Tiny --shape in0=1x1x1x5000:f32 --set l1d_line=16 "
    "--set l1d_bytes=64 --set store_buffer=1 --threads 1",
    "--layer Tiny --shape in0=1x1x1x30000:f32 --set l1d_bytes=64 "
    "--set l2_bytes=32768 --threads 2",
    "--layer Reduction --shape in0=1x1x1x16384:f32 --shape out0=1x1x1x64:f32",
    "--layer Same --shape in0=1x1x2x4:f32",
};

START_TEST(small_groups_change_no_report)
{
    const char *layer = "tests/bench/layer.xml";
    json_t *want = report_of(layer, "--set fast_cache=0", small_groups[_i]);
    json_t *got = report_of(layer, "", small_groups[_i]);
    char *shown = json_dumps(got, JSON_SORT_KEYS | JSON_INDENT(1));

    ck_assert_msg(json_equal(got, want), "%s", shown);
    free(shown);
    json_decref(got);
    json_decref(want);
}
END_TEST

/* --- asm ----------------------------------------------------------------- */

static void check_program(const json_t *program)
{
    const json_t *blocks = json_object_get(program, "blocks"), *block;
    const json_t *figures = json_object_get(program, "figures");
    const char *text = text_of(arena_printf(
        p.arena, "asm scale.cl --variant %s", fields_text(program, "variant")));
    uint64_t cycles = 0, operations = 0;
    size_t i, k;

    json_array_foreach(blocks, i, block)
    {
        const json_t *ops = json_object_get(block, "operations"), *op;

        cycles += fields_number(block, "cycles");
        operations += json_array_size(ops);
        json_array_foreach(ops, k, op)
        {
            ck_assert_uint_lt(fields_number(op, "cycle"),
                              fields_number(block, "cycles"));
            ck_assert_msg(strstr(text, fields_text(op, "text")) != NULL, "%s",
                          fields_text(op, "text"));
        }
    }
    ck_assert_uint_eq(operations, fields_number(figures, "operations"));
    ck_assert_uint_eq(cycles, fields_number(figures, "bundles"));
    ck_assert_msg(
        strstr(text,
               arena_printf(p.arena,
                            "; %" PRIu64 " bundles, %" PRIu64
                            " of them with operations; %" PRIu64 " operations",
                            cycles, fields_number(figures, "filled_bundles"),
                            operations)) != NULL,
        "%s", text);
    if (fields_number(program, "work_items") > 1)
        ck_assert(
            strstr(text, arena_printf(p.arena, ", %" PRIu64 " work-items",
                                      fields_number(program, "work_items"))));
}

START_TEST(asm_says_the_programs)
{
    json_t *j = json_of("asm scale.cl --json");
    const json_t *program;
    size_t i;

    ck_assert_str_eq(fields_text(j, "source"), "scale.cl");
    ck_assert_str_eq(fields_text(j, "kernel"), "scale");
    ck_assert_uint_eq(json_array_size(json_object_get(j, "variants")),
                      count(text_of("asm scale.cl"), "variant "));
    json_array_foreach(json_object_get(j, "variants"), i, program)
        check_program(program);
    json_decref(j);
}
END_TEST

/* --- blob show ----------------------------------------------------------- */

START_TEST(blob_says_stages_and_buffers)
{
    const char *text;
    const json_t *stages, *stage, *custom = NULL, *args;
    json_t *j;
    size_t i, buffers = 0;

    text_of("blob make layer.xml --layer Scale --shape in0=1x2x6x12 --release "
            "2021.4 --output net.blob");
    text = text_of("blob show --full net.blob");
    j = json_of("blob show net.blob --json");
    stages = json_object_get(j, "stages");
    ck_assert_uint_eq(json_array_size(stages), count(text, "\nstage "));
    ck_assert_uint_eq(json_array_size(json_object_get(j, "inputs")),
                      count(text, "\ninput "));
    ck_assert_uint_eq(json_array_size(json_object_get(j, "outputs")),
                      count(text, "\noutput "));
    json_array_foreach(stages, i, stage)
    {
        ck_assert(
            strstr(text, arena_printf(p.arena,
                                      "\nstage %zu at byte %" PRIu64
                                      ": %s (%" PRIu64 "), %" PRIu64 " SHAVEs",
                                      i, fields_number(stage, "at"),
                                      fields_text(stage, "name"),
                                      fields_number(stage, "type"),
                                      fields_number(stage, "shaves"))) != NULL);
        buffers += json_array_size(json_object_get(stage, "buffers"));
        if (json_object_get(stage, "custom"))
            custom = json_object_get(stage, "custom");
    }
    ck_assert_uint_eq(buffers, count(text, "  buffer "));
    ck_assert(custom != NULL);
    args = json_object_get(custom, "arguments");
    ck_assert_uint_eq(json_array_size(args), 3);
    ck_assert_double_eq(
        json_real_value(json_object_get(json_array_get(args, 2), "float")),
        1.5);
    json_decref(j);
}
END_TEST

/* Each argument's line in the text says what its object in the JSON says. */
START_TEST(blob_says_arguments)
{
    const json_t *stage, *args, *arg;
    const char *text;
    size_t i, k, n = 0;
    json_t *j;

    text_of("blob make layer.xml --layer Scale --shape in0=1x2x6x12 --release "
            "2021.4 --output net.blob");
    text = text_of("blob show --full net.blob");
    j = json_of("blob show net.blob --json");
    json_array_foreach(json_object_get(j, "stages"), i, stage)
    {
        args = json_object_get(json_object_get(stage, "custom"), "arguments");
        json_array_foreach(args, k, arg)
        {
            const char *line =
                json_object_get(arg, "buffer")
                    ? arena_printf(p.arena, "buffer %" PRIu64 " + %" PRIu64,
                                   fields_number(arg, "buffer"),
                                   fields_number(arg, "offset"))
                    : arena_printf(
                          p.arena, "float %.9g",
                          json_real_value(json_object_get(arg, "float")));

            ck_assert_msg(
                strstr(text, arena_printf(p.arena, "  argument %zu: %s\n", k,
                                          line)) != NULL,
                "%s in\n%s", line, text);
            n++;
        }
    }
    ck_assert_uint_eq(n, 3);
    json_decref(j);
}
END_TEST

/* --- misuse -------------------------------------------------------------- */

START_TEST(refused_together)
{
    static const char *const cases[][2] = {
        {"asm scale.cl --json --explain", "--explain"},
        {"asm scale.cl --json --source", "--source"},
        {"blob verify scale.cl --json", "for show"},
        {"blob show", "one file"},
        {"blob show --shaves 3 scale.cl", "unknown option --shaves"},
        {"blob make layer.xml --json", "for show"}};

    terminal_run(&p, cases[_i][0]);
    ck_assert_int_eq(p.status, 2);
    ck_assert_msg(strstr(p.err, cases[_i][1]) != NULL, "%s", p.err);
    ck_assert_str_eq(p.out, "");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("json");
    TCase *t = tcase_create("json");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, machine_says_every_parameter);
    tcase_add_loop_test(t, fast_cache_changes_no_report, 0, 2);
    tcase_add_loop_test(t, small_groups_change_no_report, 0,
                        sizeof small_groups / sizeof *small_groups);
    tcase_add_test(t, asm_says_the_programs);
    tcase_add_test(t, blob_says_stages_and_buffers);
    tcase_add_test(t, blob_says_arguments);
    tcase_add_loop_test(t, refused_together, 0, 6);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
