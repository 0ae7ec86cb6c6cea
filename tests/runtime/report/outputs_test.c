/* Statistics of outputs in reports, against counts made here. */
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/report/outputs.h"
#include "tests/support/terminal.h"

static terminal p;

static void setup(void)
{
    terminal_open(&p);
}

static void teardown(void)
{
    terminal_close(&p);
}

/* --- counts --------------------------------------------------------------- */

START_TEST(halves)
{
    /* 1.5, -2, 0, -0, +inf, NaN, NaN, smallest, largest denormal, -65504 */
    static const uint16_t x[] = {0x3e00, 0xc000, 0,      0x8000, 0x7c00,
                                 0x7e01, 0xfc01, 0x0001, 0x83ff, 0xfbff};
    report_values v;

    report_values_of(TENSOR_F16, x, 10, &v);
    ck_assert_uint_eq(v.finite, 7);
    ck_assert_uint_eq(v.nan, 2);
    ck_assert_uint_eq(v.inf, 1);
    ck_assert_uint_eq(v.zero, 2);
    ck_assert_uint_eq(v.denormal, 2);
    ck_assert_uint_eq(v.saturated, 1);
    ck_assert(v.min == -65504 && v.max == 1.5);
    ck_assert(fabs(v.mean - (1.5 - 2 + 0x1p-24 - 1023 * 0x1p-24 - 65504) / 7) <
              1e-12);
}
END_TEST

/* All halves at once: every kind has as many as the format has. */
START_TEST(every_half)
{
    static uint16_t x[1 << 16];
    report_values v;

    for (uint32_t i = 0; i < 1 << 16; i++)
        x[i] = (uint16_t)i;
    report_values_of(TENSOR_F16, x, 1 << 16, &v);
    ck_assert_uint_eq(v.nan, 2 * 1023);
    ck_assert_uint_eq(v.inf, 2);
    ck_assert_uint_eq(v.zero, 2);
    ck_assert_uint_eq(v.denormal, 2 * 1023);
    ck_assert_uint_eq(v.saturated, 2);
    ck_assert_uint_eq(v.finite, (1 << 16) - 2 * 1024);
    ck_assert(v.mean == 0 && v.min == -65504 && v.max == 65504);
}
END_TEST

START_TEST(floats)
{
    const float x[] = {3, -INFINITY, NAN, 0x1p-140f, 0x1.fffffep127f, 0};
    report_values v;

    report_values_of(TENSOR_F32, x, 6, &v);
    ck_assert(v.finite == 4 && v.nan == 1 && v.inf == 1 && v.zero == 1);
    ck_assert(v.denormal == 1 && v.saturated == 1);
    ck_assert(v.min == 0 && v.max == (double)0x1.fffffep127f);
    report_values_of(TENSOR_F32, &x[2], 1, &v);
    ck_assert(v.finite == 0 && v.nan == 1 && v.mean == 0);
}
END_TEST

#define INTEGERS(type, dtype, ...)                            \
    do {                                                      \
        const type x[] = {__VA_ARGS__};                       \
                                                              \
        report_values_of(dtype, x, sizeof x / sizeof *x, &v); \
        ck_assert_uint_eq(v.finite, sizeof x / sizeof *x);    \
    } while (0)

START_TEST(integers)
{
    report_values v;

    INTEGERS(uint8_t, TENSOR_U8, 0, 255, 255, 7);
    ck_assert(v.zero == 1 && v.saturated == 2 && v.max == 255);
    INTEGERS(int8_t, TENSOR_I8, -128, 127, 3, 0, 0);
    ck_assert(v.zero == 2 && v.saturated == 2 && v.min == -128);
    INTEGERS(int16_t, TENSOR_I16, -32768, 5);
    ck_assert(v.saturated == 1 && v.mean == (-32768 + 5) / 2.0);
    INTEGERS(uint16_t, TENSOR_U16, 65535, 0);
    ck_assert(v.saturated == 1 && v.zero == 1);
    INTEGERS(int32_t, TENSOR_I32, INT32_MIN, INT32_MAX, 1);
    ck_assert(v.saturated == 2 && v.mean == 0);
    INTEGERS(int64_t, TENSOR_I64, INT64_MIN, 2);
    ck_assert(v.saturated == 1 && v.max == 2);
}
END_TEST

/* --- reports -------------------------------------------------------------- */

/* Item 0 of the second stage divides zero by zero, or copies what it reads. */
static void layer(const char *second)
{
    terminal_text(&p, "k.cl",
                  arena_printf(p.arena,
                               "__kernel void a(__global const half *x, "
                               "__global half *y)\n"
                               "{ int i = get_global_id(0); y[i] = x[i]; }\n"
                               "__kernel void b(__global const half *x, "
                               "__global half *y)\n"
                               "{ int i = get_global_id(0); y[i] = %s; }\n",
                               second));
    terminal_text(
        &p, "layer.xml",
        "<CustomLayer name=\"L\" type=\"MVCL\" version=\"1\">"
        "<Kernel entry=\"a\" stage=\"0\"><Source filename=\"k.cl\"/>"
        "<Parameters><Tensor arg-name=\"x\" type=\"input\" port-index=\"0\" "
        "format=\"BFYX\"/><Tensor arg-name=\"y\" type=\"output_buffer\" "
        "port-index=\"0\" dim=\"output,0\" size=\"X*Y*2\"/></Parameters>"
        "<WorkSizes dim=\"output,0\" global=\"X*Y,1,1\" local=\"16,1,1\"/>"
        "</Kernel><Kernel entry=\"b\" stage=\"1\"><Source filename=\"k.cl\"/>"
        "<Parameters><Tensor arg-name=\"x\" type=\"input_buffer\" "
        "port-index=\"0\" dim=\"output,0\" size=\"X*Y*2\"/><Tensor "
        "arg-name=\"y\" type=\"output\" port-index=\"0\" format=\"BFYX\"/>"
        "</Parameters><WorkSizes dim=\"output,0\" global=\"X*Y,1,1\" "
        "local=\"16,1,1\"/></Kernel></CustomLayer>");
}

#define RUN "run layer.xml --shape in0=1x1x4x16 "

START_TEST(who_made_them)
{
    layer("i ? x[i] : (half)0 / (half)(x[i] - x[i])");
    terminal_run(&p, RUN "--input 0=zeros");
    ck_assert_msg(p.status == 0, "%s", p.err);
    ck_assert_msg(strstr(p.out, "out0: 1 NaN, 0 infinite of 64 elements, made "
                                "of finite ones by L@stage_1: vpu check "
                                "--checks half,nan finds"),
                  "%s", p.out);
    /* As that says. */
    terminal_run(&p, "check layer.xml --shape in0=1x1x4x16 --input 0=zeros "
                     "--checks half,nan");
    ck_assert_msg(p.status == 1 && strstr(p.out, "[nan]"), "%s%s", p.out,
                  p.err);
    layer("x[i]");
    terminal_run(&p, RUN "--input 0=zeros");
    ck_assert_msg(p.status == 0 && !strstr(p.out, "NaN"), "%s", p.out);
}
END_TEST

START_TEST(in_json)
{
    static const char *const names[] = {"elements", "nan",  "infinite",
                                        "denormal", "zero", "saturated"};
    static const int expected[] = {64, 0, 1, 0, 63, 0};
    json_t *j, *o;

    layer("i ? x[i] : (half)1 / x[i]");
    terminal_run(&p, RUN "--input 0=zeros --json");
    ck_assert_msg(p.status == 0, "%s", p.err);
    j = json_loads(p.out, 0, NULL);
    ck_assert_uint_eq(json_array_size(json_object_get(j, "outputs")), 1);
    o = json_array_get(json_object_get(j, "outputs"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(o, "name")), "out0");
    ck_assert_str_eq(json_string_value(json_object_get(o, "type")), "f16");
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(json_integer_value(json_object_get(o, names[i])),
                         expected[i]);
    ck_assert(json_number_value(json_object_get(o, "max")) == 0);
    json_decref(j);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("outputs");
    TCase *t = tcase_create("outputs");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, halves);
    tcase_add_test(t, every_half);
    tcase_add_test(t, floats);
    tcase_add_test(t, integers);
    tcase_add_test(t, who_made_them);
    tcase_add_test(t, in_json);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
