/* Cycles from one number of SHAVEs to the next, and from one width to the next:
 * where they jump, the report of the slower run says why.
 *
 * A step of SHAVEs is compared with the groups of the busiest SHAVE, a step of
 * widths with the width. */
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/kernels/program.h"

/* w stands where the width does, W for twice as much. */
static const struct {
    const char *words;
    int width;
} samples[] = {
    {"grn/layer.xml --layer GRN --param bias=1 --shape in0=1x16x128x%w", 256},
    {"grn/layer.xml --layer GRNDma --param bias=1 --shape in0=1x16x128x%w",
     256},
    {"softmax/layer.xml --param axis=1 --shape in0=1x21x40x%w", 56},
    {"mvn/layer.xml --param eps=0.001 --shape in0=1x16x40x%w", 64},
    {"reorg/layer.xml --layer Reorg --param stride=2 --shape in0=1x16x52x%W "
     "--shape out0=1x64x26x%w",
     32},
    {"quantize/layer.xml --shape in0=1x64x56x%w --param levels=16 "
     "--param in_low=-1 --param in_high=1 --param out_low=0 --param "
     "out_high=15",
     56},
};
enum { N_SAMPLES = sizeof samples / sizeof *samples, SHAVES = 16, AROUND = 8 };

static const double most = 1.3;

static arena *mem;
static char *dir;

static void setup(void)
{
    mem = arena_create(0);
    dir = program_temp_dir(mem);
}

static void teardown(void)
{
    program_remove_dir(dir);
    arena_destroy(mem);
}

typedef struct {
    double cycles, groups;
    const char *notes; /* their ids, a space behind each */
} outcome;

/* The next word of the template, with the width in it. */
static const char *with_width(const char *word, int width)
{
    const char *at = strchr(word, '%');

    return at ? arena_printf(mem, "%.*s%d%s", (int)(at - word), word,
                             at[1] == 'W' ? 2 * width : width, at + 2)
              : word;
}

static outcome run(int sample, int width, int shaves)
{
    char *words = arena_printf(mem, "kernels/%s", samples[sample].words);
    char *save = NULL;
    program_args args;
    json_t *report, *stage, *note;
    outcome o = {.notes = ""};
    size_t n, i, k;

    program_args_init(&args, mem, "run", "--quiet", "--json", "--shaves", NULL);
    program_args_add(&args, "%d", shaves);
    for (char *w = strtok_r(words, " ", &save); w;
         w = strtok_r(NULL, " ", &save))
        program_args_add(&args, "%s", with_width(w, width));
    ck_assert_msg(!program_run(&args, dir), "%s, width %d: %s",
                  samples[sample].words, width,
                  program_file(mem, dir, "stderr", &n));
    report = json_loads(program_file(mem, dir, "stdout", &n), 0, NULL);
    o.cycles = json_number_value(json_object_get(report, "cycles"));
    json_array_foreach(json_object_get(report, "stages"), i, stage)
    {
        o.groups = json_number_value(json_object_get(stage, "groups"));
        json_array_foreach(json_object_get(stage, "notes"), k, note) o.notes =
            arena_printf(mem, "%s%s ", o.notes,
                         json_string_value(json_object_get(note, "id")));
    }
    ck_assert(o.cycles > 0);
    json_decref(report);
    return o;
}

/* a and b do a_work and b_work. Where one is much slower for its work, it has a
 * note. Returns whether it is. */
static bool check_step(const char *what, outcome a, double a_work, outcome b,
                       double b_work)
{
    double step = a.cycles / a_work * (b_work / b.cycles);
    const outcome *slower = step > 1 ? &a : &b;

    if (step < most && step > 1 / most)
        return false;
    ck_assert_msg(strstr(slower->notes, "l2-sets ") ||
                      strstr(slower->notes, "ddr-banks ") ||
                      strstr(slower->notes, "scalar "),
                  "%s: %.0f cycles, then %.0f: nothing says why (notes: %s)",
                  what, a.cycles, b.cycles, slower->notes);
    return true;
}

START_TEST(steps_of_shaves)
{
    outcome before = run(_i, samples[_i].width, 1);

    for (int n = 2; n <= SHAVES; n++) {
        outcome here = run(_i, samples[_i].width, n);

        check_step(arena_printf(mem, "%s, %d and %d SHAVEs", samples[_i].words,
                                n - 1, n),
                   before, ceil(here.groups / (n - 1)), here,
                   ceil(here.groups / n));
        before = here;
    }
}
END_TEST

START_TEST(steps_of_width)
{
    int sample = _i / 2, shaves = _i % 2 ? 7 : SHAVES;
    int width = samples[sample].width - AROUND;
    outcome before = run(sample, width, shaves);
    int jumps = 0;

    for (; width < samples[sample].width + AROUND; width++) {
        outcome here = run(sample, width + 1, shaves);

        jumps +=
            check_step(arena_printf(mem, "%s, width %d and %d",
                                    samples[sample].words, width, width + 1),
                       before, width, here, width + 1);
        before = here;
    }
    /* With rows of 256 halves planes begin to share sets. */
    if (sample == 0 && shaves == SHAVES)
        ck_assert_int_ge(jumps, 2);
}
END_TEST

/* Four tables of 128 bytes, read by every work-group: the device packs them, so
 * each SHAVE fetches their eight lines once. Each at the end of a page of its
 * own they shared two sets of L2 and were fetched again and again. */
static const char tables_cl[] =
    "__kernel void pick(__global const half *a, __global const half *b,\n"
    "                   __global const half *c, __global const half *d,\n"
    "                   __global half *dst)\n"
    "{\n"
    "    float sum = 0;\n"
    "\n"
    "    for (int i = 0; i < 64; i++)\n"
    "        sum += (float)a[i] + (float)b[i] + (float)c[i] + (float)d[i];\n"
    "    dst[get_global_id(0)] = (half)sum;\n"
    "}\n";
static const char tables_xml[] =
    "<CustomLayer name=\"Pick\" type=\"MVCL\" version=\"1\">\n"
    "<Kernel entry=\"pick\">\n"
    "<Parameters>\n"
    "<Tensor arg-name=\"a\" type=\"input\" port-index=\"0\" format=\"ANY\"/>\n"
    "<Tensor arg-name=\"b\" type=\"input\" port-index=\"1\" format=\"ANY\"/>\n"
    "<Tensor arg-name=\"c\" type=\"input\" port-index=\"2\" format=\"ANY\"/>\n"
    "<Tensor arg-name=\"d\" type=\"input\" port-index=\"3\" format=\"ANY\"/>\n"
    "<Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\" "
    "format=\"BFYX\"/>\n"
    "</Parameters>\n"
    "<WorkSizes dim=\"output,0\" global=\"X,1,1\" local=\"1,1,1\"/>\n"
    "<Source filename=\"pick.cl\"/>\n"
    "</Kernel>\n"
    "</CustomLayer>\n";

static void write_text(const char *name, const char *text)
{
    FILE *f = fopen(arena_printf(mem, "%s/%s", dir, name), "w");

    ck_assert(f && fputs(text, f) >= 0 && !fclose(f));
}

START_TEST(small_tables_lie_side_by_side)
{
    program_args args;
    json_t *report, *causes;
    size_t n;

    write_text("pick.cl", tables_cl);
    write_text("pick.xml", tables_xml);
    program_args_init(&args, mem, "run", "--quiet", "--json", "--shaves", "4",
                      "--shape", "out0=1x1x1x400", NULL);
    program_args_add(&args, "%s/pick.xml", dir);
    for (int i = 0; i < 4; i++) {
        program_args_add(&args, "--shape");
        program_args_add(&args, "in%d=1x64x1x1", i);
    }
    ck_assert_msg(!program_run(&args, dir), "%s",
                  program_file(mem, dir, "stderr", &n));
    report = json_loads(program_file(mem, dir, "stdout", &n), 0, NULL);
    causes =
        json_object_get(json_array_get(json_object_get(report, "stages"), 0),
                        "shave_cycles_by_cause");
    /* Eight lines on each of four SHAVEs, 200 cycles each, and half as much
     * again for queues; it was 3,400 times as much. */
    ck_assert_double_le(json_number_value(json_object_get(causes, "DDR stall")),
                        4 * 8 * 200 * 1.5);
    ck_assert_double_ge(json_number_value(json_object_get(causes, "DDR stall")),
                        4 * 8 * 200);
    json_decref(report);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("smooth");
    TCase *c = tcase_create("smooth");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, steps_of_shaves, 0, N_SAMPLES);
    tcase_add_loop_test(c, steps_of_width, 0, 2 * N_SAMPLES);
    tcase_add_test(c, small_tables_lie_side_by_side);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
