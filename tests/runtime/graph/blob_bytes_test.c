/* --blob: halves, floats that become halves, and bytes that stay bytes, as a
 * kernel sees them. */
#include <check.h>
#include <string.h>

#include "runtime/graph/npy.h"
#include "runtime/graph/tensor.h"
#include "tests/support/terminal.h"

#define LAYER                                                            \
    "<CustomLayer name=\"T\" type=\"MVCL\" version=\"1\">\n"             \
    " <Kernel entry=\"k\"><Source filename=\"k.cl\"/>\n  <Parameters>\n" \
    "   <Tensor arg-name=\"src\" type=\"input\" port-index=\"0\" "       \
    "format=\"BFYX\"/>\n"                                                \
    "   <Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\" "      \
    "format=\"BFYX\"/>\n"                                                \
    "   <Data arg-name=\"w\" type=\"data\" source=\"weights\"/>\n"       \
    "  </Parameters>\n  <WorkSizes dim=\"input,0\" global=\"X,1,1\" "    \
    "local=\"1,1,1\"/>\n </Kernel>\n</CustomLayer>\n"

enum { N = 5 };

static terminal p;

static void setup(void)
{
    terminal_open(&p);
    terminal_text(&p, "layer.xml", LAYER);
}

static void teardown(void)
{
    terminal_close(&p);
}

static void put_weights(tensor_dtype type, void *data)
{
    const tensor t = {{type, 1, {N}, TENSOR_PLAIN}, data};
    vpu_error err;

    ck_assert_msg(
        !npy_write(arena_printf(p.arena, "%s/w.npy", p.dir), &t, &err), "%s",
        err.msg);
}

/* dst[i] = w[i], where w is of that type in the kernel. */
static const uint16_t *run_with(const char *type)
{
    tensor out;
    vpu_error err;

    terminal_text(&p, "k.cl",
                  arena_printf(p.arena,
                               "__kernel void k(__global const half *src, "
                               "__global half *dst,\n"
                               "                __global const %s *w)\n{\n"
                               "    int i = get_global_id(0);\n"
                               "    dst[i] = (half)w[i] + src[i] * 0;\n}\n",
                               type));
    terminal_run(&p, "run layer.xml --shape in0=1x1x1x5 --blob weights=w.npy "
                     "--input 0=ramp --output out");
    ck_assert_msg(p.status == 0, "%s", p.err);
    ck_assert_msg(!npy_read(arena_printf(p.arena, "%s/out/out0.npy", p.dir),
                            p.arena, &out, &err),
                  "%s", err.msg);
    return out.data;
}

/* An odd number of them. */
START_TEST(bytes)
{
    uint8_t data[N] = {0, 1, 127, 128, 255};
    const uint16_t *got;

    put_weights(_i ? TENSOR_I8 : TENSOR_U8, data);
    got = run_with(_i ? "char" : "uchar");
    for (int i = 0; i < N; i++)
        ck_assert_uint_eq(got[i], tensor_f32_to_f16(_i ? (float)(int8_t)data[i]
                                                       : (float)data[i]));
}
END_TEST

START_TEST(halves_and_floats)
{
    float data[N] = {0.5f, -2, 3.25f, 1e-3f, 4096};
    uint16_t halves[N];
    const uint16_t *got;

    for (int i = 0; i < N; i++)
        halves[i] = tensor_f32_to_f16(data[i]);
    if (_i)
        put_weights(TENSOR_F32, data);
    else
        put_weights(TENSOR_F16, halves);
    got = run_with("half");
    for (int i = 0; i < N; i++)
        ck_assert_uint_eq(got[i], halves[i]);
}
END_TEST

START_TEST(other_types_are_refused)
{
    int32_t data[N] = {1, 2, 3, 4, 5};

    put_weights(TENSOR_I32, data);
    terminal_text(&p, "k.cl", "__kernel void k(__global half *dst) {}\n");
    terminal_run(&p, "run layer.xml --shape in0=1x1x1x5 --blob weights=w.npy");
    ck_assert_int_eq(p.status, 5);
    ck_assert_msg(strstr(p.err, "expected f16, f32, or bytes (u8, i8), which "
                                "stay as they are") != NULL,
                  "%s", p.err);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("blob bytes");
    TCase *c = tcase_create("blobs");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, bytes, 0, 2);
    tcase_add_loop_test(c, halves_and_floats, 0, 2);
    tcase_add_test(c, other_types_are_refused);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
