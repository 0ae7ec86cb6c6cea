/* The machine description: the built-in one, and every way to get one wrong. */
#include <check.h>
#include <string.h>

#include "base/file.h"
#include "sim/machine/desc.h"
#include "sim/machine/fast.h"

static arena *mem;
static vpu_error err;

static void setup(void)
{
    mem = arena_create(0);
}
static void teardown(void)
{
    arena_destroy(mem);
}

START_TEST(built_in)
{
    mach_desc d;
    str out = {0};

    ck_assert_msg(!mach_desc_load(NULL, mem, &d, &err), "%s", err.msg);
    ck_assert_str_eq(d.machine, "MA2485");
    ck_assert_uint_eq(d.clk_mhz, 700);
    ck_assert_uint_eq(d.num_shaves, 16);
    ck_assert_uint_eq(d.ocl_local_budget, 102400);
    ck_assert_uint_eq(d.ddr_base, 0x80000000);
    ck_assert(d.ddr_eff_bw == 7.5);
    ck_assert(mach_desc_seconds(&d, 700000000) == 1.0);
    mach_desc_print(&d, &out);
    ck_assert_ptr_nonnull(strstr(str_text(&out), "0x80000000"));
    ck_assert_ptr_nonnull(strstr(str_text(&out), "assumed"));
    str_free(&out);
}
END_TEST

/* The built-in text with one piece replaced, and what must be said. */
static const struct {
    const char *from, *to, *says;
} wrong[] = {
    {"\"clk_mhz\"", "\"clk_mhx\"", "nearest: clk_mhz"},
    {"\"clk_mhz\"", "\"clk_mhzabc\"", "nearest: clk_mhz"},
    {"\"clk_mhz\"", "\"fast_cache\"", "use --set fast_cache=700"},
    {"\"clk_mhz\"", "\"clk_m\"", "nearest: clk_mhz"},
    {"\"ddr_peak_bw\"", "\"xddr_pak_bww\"", "nearest: ddr_peak_bw"},
    {"value=\"700\"", "value=\"seven\"", "not a whole number"},
    {"value=\"700\"", "value=\"-1\"", "not a whole number"},
    {"value=\"700\"", "value=\"1001\"", "outside 1 .. 1000"},
    {"value=\"7.5\"", "value=\"nan\"", "not a number"},
    {"value=\"7.5\"", "value=\"1e9\"", "outside"},
    {"value=\"7.5\"", "value=\"13\"", "must not be above ddr_peak_bw"},
    {"unit=\"MHz\"", "unit=\"GHz\"", "is in MHz"},
    {"status=\"inferred\"", "status=\"overridden\"", "status is"},
    {"status=\"inferred\"", "colour=\"inferred\"", "no attribute colour"},
    {"status=\"inferred\"", "", "needs the attribute status"},
    {"\"num_shaves\"", "\"clk_mhz\"", "already given in line"},
    {"<machine ", "<engine ", ":"},
    {"<machine ", "<!DOCTYPE machine><machine ", "DOCTYPE"},
    {"<param name=\"clk_mhz\"", "<number name=\"clk_mhz\"", "<number>"},
    {"<param name=\"clk_mhz\"", "<!-- --><par", ":"},
    {"</machine>", "", ":"},
    {"name=\"l1d_line\" value=\"32\"", "name=\"l1d_line\" value=\"33\"",
     "powers of two"},
};

START_TEST(refused)
{
    const char *from = wrong[_i].from;
    char *text, *at, *changed;
    mach_desc d;
    size_t n;

    ck_assert(
        !file_read("sim/machine/ma2x8x.xml", 1 << 20, mem, &text, &n, &err));
    at = strstr(text, from);
    ck_assert_ptr_nonnull(at);
    changed = arena_printf(mem, "%.*s%s%s", (int)(at - text), text,
                           wrong[_i].to, at + strlen(from));
    ck_assert_int_eq(
        mach_desc_parse("m.xml", changed, strlen(changed), mem, &d, &err),
        VPU_ERR_PARSE);
    ck_assert_msg(strstr(err.msg, wrong[_i].says) &&
                      !strncmp(err.msg, "m.xml", 5),
                  "%s", err.msg);
}
END_TEST

START_TEST(missing_parameter)
{
    const char *text = "<machine name=\"x\"/>";
    mach_desc d;

    ck_assert_int_eq(
        mach_desc_parse("m.xml", text, strlen(text), mem, &d, &err),
        VPU_ERR_PARSE);
    ck_assert_str_eq(err.msg, "m.xml:1: error: parameter clk_mhz is missing");
    ck_assert_int_eq(mach_desc_load("no/such.xml", mem, &d, &err), VPU_ERR_IO);
    ck_assert_int_eq(mach_desc_parse("m.xml", "", 0, mem, &d, &err),
                     VPU_ERR_PARSE);
}
END_TEST

START_TEST(set)
{
    mach_desc d, before;

    ck_assert(!mach_desc_load(NULL, mem, &d, &err));
    before = d;
    ck_assert(!mach_desc_set(&d, mem, "l2_hit_stall=33", &err));
    ck_assert(!mach_desc_set(&d, mem, "ddr_eff_bw=6.25", &err));
    ck_assert_uint_eq(d.l2_hit_stall, 33);
    ck_assert(d.ddr_eff_bw == 6.25 && before.ddr_eff_bw == 7.5);
    ck_assert_uint_eq(d.fast_cache, MACH_ALL_WAYS);
    ck_assert(!mach_desc_set(&d, mem, "fast_cache=0", &err));
    ck_assert_uint_eq(d.fast_cache, 0);
    ck_assert_int_eq(mach_desc_set(&d, mem, "fast_cache=4096", &err),
                     VPU_ERR_INVALID);
    ck_assert_int_eq(mach_desc_set(&d, mem, "l2_hit_stal=3", &err),
                     VPU_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(err.msg, "l2_hit_stall"));
    ck_assert_int_eq(mach_desc_set(&d, mem, "l2_hit_stall", &err),
                     VPU_ERR_INVALID);
    ck_assert_int_eq(mach_desc_set(&d, mem, "l2_ways=0", &err),
                     VPU_ERR_INVALID);
    ck_assert_int_eq(mach_desc_set(&d, mem, "ddr_eff_bw=12.9", &err),
                     VPU_ERR_INVALID);
    ck_assert(d.ddr_eff_bw == 6.25);
}
END_TEST

/* What is written is read again: values, statuses, intervals, any text. */
START_TEST(written)
{
    const mach_param_note note = {"\"<&>\" measured", MACH_CALIBRATED, "3..5"};
    mach_desc d, again;
    str out = {0}, twice = {0};

    ck_assert(!mach_desc_load(NULL, mem, &d, &err));
    ck_assert(!mach_desc_set(&d, mem, "ddr_eff_bw=6.25", &err));
    ck_assert(!mach_desc_note(&d, "l2_hit_stal", &note, mem));
    ck_assert(mach_desc_note(&d, "l2_hit_stall", &note, mem));
    mach_desc_write(&d, &out);
    ck_assert_msg(
        !mach_desc_parse("again", str_text(&out), out.n, mem, &again, &err),
        "%s", err.msg);
    ck_assert(again.ddr_eff_bw == 6.25 && again.ddr_base == d.ddr_base);
    mach_desc_write(&again, &twice);
    ck_assert_str_eq(str_text(&out), str_text(&twice));
    ck_assert_ptr_nonnull(strstr(str_text(&out), "interval=\"3..5\""));
    ck_assert_ptr_nonnull(strstr(str_text(&out), "&quot;&lt;&amp;"));
    str_free(&twice);
    mach_desc_print(&again, &twice);
    ck_assert_ptr_nonnull(strstr(str_text(&twice), "[95 %: 3..5]"));
    ck_assert_ptr_nonnull(strstr(str_text(&twice), "\"<&>\" measured"));
    str_free(&out);
    str_free(&twice);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("machine description");
    TCase *t = tcase_create("desc");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, built_in);
    tcase_add_loop_test(t, refused, 0, sizeof wrong / sizeof wrong[0]);
    tcase_add_test(t, missing_parameter);
    tcase_add_test(t, set);
    tcase_add_test(t, written);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
