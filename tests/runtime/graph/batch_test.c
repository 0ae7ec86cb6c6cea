/* A batch, both ways: a stage once over the whole tensor, or, as on the device,
 * once per item with the work sizes of all items. On the simulator, an OpenCL
 * device and a virtual stick; what comes out is computed here. */
#include <check.h>
#include <jansson.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "runtime/graph/npy.h"
#include "runtime/graph/tensor.h"
#include "tests/support/terminal.h"

enum { ITEMS = 3, C = 4, H = 2, W = 16, PER_ITEM = C * H * W };

/* A second input of format ANY is the same for all items. */
#define LAYER(sizes, formats)                                                        \
    "<CustomLayer name=\"T\" type=\"MVCL\" version=\"1\">\n"                         \
    " <Kernel entry=\"k\"><Source filename=\"k.cl\"/>\n"                             \
    "  <Parameters>\n"                                                               \
    "   <Tensor arg-name=\"src\" type=\"input\" port-index=\"0\" format=\"" formats  \
    "\"/>\n"                                                                         \
    "   <Tensor arg-name=\"w\" type=\"input\" port-index=\"1\" "                     \
    "format=\"ANY\"/>\n"                                                             \
    "   <Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\" format=\"" formats \
    "\"/>\n"                                                                         \
    "   <Scalar arg-name=\"N\" type=\"int\" port-index=\"0\" source=\"I.B\"/>"       \
    "\n  </Parameters>\n  <WorkSizes dim=\"input,0\" " sizes "/>\n"                  \
    " </Kernel>\n</CustomLayer>\n"

/* Adds the number of items, which a scalar of the binding counts in any case.
 */
static const char item_cl[] =
    "__kernel void k(__global const half *src, __global const half *w,\n"
    "                __global half *dst, int N)\n"
    "{\n"
    "    int at = (get_global_id(2) * get_global_size(1) + get_global_id(1))\n"
    "             * get_global_size(0) + get_global_id(0);\n"
    "    dst[at] = src[at] * w[0] + (half)N;\n"
    "}\n";

#define PER_ITEM_SIZES "global=\"X,Y,F\" local=\"8,1,1\""
#define SHAPES "--shape in0=3x4x2x16 --shape in1=1x1x1x1 --shape out0=3x4x2x16"
#define INPUTS " --input 0=ramp --input 1=w.npy"

static terminal p;

static void setup(void)
{
    const tensor_desc one = {TENSOR_F16, 4, {1, 1, 1, 1}, TENSOR_PLAIN};
    uint16_t two = tensor_f32_to_f16(2);
    tensor t = {one, &two};
    vpu_error err;

    terminal_open(&p);
    terminal_text(&p, "k.cl", item_cl);
    terminal_text(&p, "layer.xml", LAYER(PER_ITEM_SIZES, "BFYX"));
    ck_assert_msg(
        !npy_write(arena_printf(p.arena, "%s/w.npy", p.dir), &t, &err), "%s",
        err.msg);
}

static void teardown(void)
{
    terminal_close(&p);
}

static void run(const char *more)
{
    terminal_run(
        &p, arena_printf(p.arena, "run layer.xml " SHAPES INPUTS " %s", more));
}

/* out/out0.npy: n items as they must be, the others untouched. */
static void expect_output(int n)
{
    tensor f;
    vpu_error err;
    const uint16_t *got;

    ck_assert_msg(!npy_read(arena_printf(p.arena, "%s/out/out0.npy", p.dir),
                            p.arena, &f, &err),
                  "%s", err.msg);
    got = f.data;
    for (int k = 0; k < ITEMS * PER_ITEM; k++) {
        float in = tensor_f16_to_f32(tensor_f32_to_f16((float)(k % 256) / 256));
        uint16_t want =
            k < n * PER_ITEM ? tensor_f32_to_f16(2 * in + ITEMS) : 0;

        ck_assert_msg(got[k] == want, "element %d is 0x%04x, not 0x%04x", k,
                      got[k], want);
    }
}

static const char *const orders[] = {"BFYX", "BYXF"};

START_TEST(items_one_by_one)
{
    json_t *j;

    if (_i)
        terminal_text(&p, "layer.xml", LAYER(PER_ITEM_SIZES, "BYXF"));
    run("--batch device --output out --json");
    ck_assert_msg(p.status == 0, "%s", p.err);
    expect_output(ITEMS);
    j = json_loads(p.out, 0, NULL);
    ck_assert_ptr_nonnull(j);
    ck_assert_int_eq(json_integer_value(json_object_get(j, "batch")), ITEMS);
    ck_assert(json_is_true(json_object_get(j, "batch_by_item")));
    json_decref(j);
}
END_TEST

START_TEST(the_whole_tensor)
{
    run("--output out");
    ck_assert_int_eq(p.status, 0);
    ck_assert(strstr(p.err, "in0 of layer T has a batch of 3; the compiler "
                            "runs the stages once per item (--batch device)"));
    ck_assert(strstr(p.out, "batch of 3: each stage runs once over all items "
                            "(--batch whole)\n"));
    expect_output(1);
    run("--batch device");
    ck_assert(strstr(p.out, "batch of 3: each stage runs once per item, as on "
                            "the device (--batch device)\nT@batch=0: "));
}
END_TEST

START_TEST(no_batch)
{
    terminal_run(&p, "run layer.xml --shape in0=1x4x2x16 --shape in1=1x1x1x1 "
                     "--batch device");
    ck_assert_int_eq(p.status, 0);
    ck_assert(!strstr(p.out, "batch"));
    ck_assert_str_eq(p.err, "");
}
END_TEST

/* Halves are floats there: an item begins elsewhere. */
START_TEST(on_an_opencl_device)
{
    terminal_run(&p, "diff layer.xml " SHAPES INPUTS
                     " --a sim --b opencl --batch device");
    ck_assert_msg(p.status == 0 && strstr(p.out, "T@batch=2"), "%s%s", p.err,
                  p.out);
    run("--backend opencl --batch device --output out");
    ck_assert_msg(p.status == 0, "%s", p.err);
    expect_output(ITEMS);
}
END_TEST

/* A stick runs items one by one, and so does what it is compared with. */
START_TEST(on_a_stick)
{
    terminal stick;
    pid_t pid;

    terminal_open(&stick);
    pid = terminal_start(&stick, arena_printf(p.arena,
                                              "stick --listen unix:%s/s "
                                              "--xlink B --quiet",
                                              stick.dir));
    for (int i = 0; i < 3000 && !terminal_has(&stick, "s"); i++)
        usleep(10000);
    if (_i)
        terminal_text(&p, "layer.xml", LAYER(PER_ITEM_SIZES, "BYXF"));
    terminal_run(&p, arena_printf(p.arena,
                                  "diff layer.xml " SHAPES INPUTS
                                  " --a sim --b usb:unix:%s/s --xlink B",
                                  stick.dir));
    ck_assert_msg(p.status == 0 && strstr(p.out, "T@batch=2"), "%s%s", p.err,
                  p.out);
    terminal_run(&p, arena_printf(p.arena,
                                  "run layer.xml " SHAPES INPUTS
                                  " --backend usb:unix:%s/s --xlink B --output "
                                  "out",
                                  stick.dir));
    ck_assert_msg(p.status == 0, "%s", p.err);
    ck_assert_msg(strstr(p.out, "device virtual stick, 7 SHAVEs\n") != NULL,
                  "%s", p.out);
    expect_output(ITEMS);
    terminal_run(&p, arena_printf(p.arena,
                                  "run layer.xml " SHAPES INPUTS
                                  " --backend usb:unix:%s/s --xlink B --batch "
                                  "whole",
                                  stick.dir));
    ck_assert_int_ne(p.status, 0);
    ck_assert(
        strstr(p.err, "a batch of 3 is split on a stick: --batch device"));
    kill(pid, SIGTERM);
    terminal_wait(&stick, pid);
    terminal_close(&stick);
}
END_TEST

/* What counts the batch in its work sizes goes beyond an item, and is told so.
 */
START_TEST(sizes_of_all_items)
{
    terminal_text(&p, "layer.xml",
                  LAYER("global=\"X,Y,F*B\" local=\"8,1,1\"", "BFYX"));
    run("--output out");
    ck_assert_int_eq(p.status, 0);
    expect_output(ITEMS);
    run("--batch device");
    ck_assert_int_eq(p.status, 3);
    ck_assert(strstr(p.err, "T@batch="));
    ck_assert(strstr(p.err, "a kernel that counts the batch in its work sizes "
                            "goes beyond its item (--batch whole)"));
}
END_TEST

START_TEST(batches_that_differ)
{
    terminal_run(&p, "run layer.xml --shape in0=3x4x2x16 --shape in1=1x1x1x1 "
                     "--shape out0=2x4x2x16 --batch device");
    ck_assert_int_eq(p.status, 2);
    ck_assert(strstr(p.err, "'src' has a batch of 3, 'dst' one of 2"));
}
END_TEST

/* Each item's stages would find the last item's data in the buffer: the
 * vendor's compiler splits all outputs of a stage, and a buffer has no batch.
 */
static const char handed_on_xml[] =
    "<CustomLayer name=\"Shift\" type=\"MVCL\" version=\"1\">\n"
    " <Kernel entry=\"sum\" stage=\"0\"><Source filename=\"shift.cl\"/>\n"
    "  <Parameters>\n"
    "   <Tensor arg-name=\"src\" type=\"input\" port-index=\"0\" "
    "format=\"BFYX\"/>\n"
    "   <Tensor arg-name=\"sums\" type=\"output_buffer\" port-index=\"0\" "
    "dim=\"input,0\" size=\"F*2\"/>\n"
    "  </Parameters>\n"
    "  <WorkSizes dim=\"input,0\" global=\"F,1,1\" local=\"1,1,1\"/>\n"
    " </Kernel>\n"
    " <Kernel entry=\"shift\" stage=\"1\"><Source filename=\"shift.cl\"/>\n"
    "  <Parameters>\n"
    "   <Tensor arg-name=\"src\" type=\"input\" port-index=\"0\" "
    "format=\"BFYX\"/>\n"
    "   <Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\" "
    "format=\"BFYX\"/>\n"
    "   <Tensor arg-name=\"sums\" type=\"input_buffer\" port-index=\"0\" "
    "dim=\"input,0\" size=\"F*2\"/>\n"
    "  </Parameters>\n"
    "  <WorkSizes dim=\"input,0\" global=\"X,Y,F\" local=\"8,1,1\"/>\n"
    " </Kernel>\n</CustomLayer>\n";

static const char handed_on_cl[] =
    "__kernel void sum(__global const half *src, __global float *sums)\n"
    "{\n"
    "    int c = get_global_id(0);\n"
    "    float sum = 0;\n"
    "    for (int i = 0; i < 32; i++) sum += src[c * 32 + i];\n"
    "    sums[c] = sum;\n"
    "}\n"
    "__kernel void shift(__global const half *src, __global half *dst,\n"
    "                    __global const float *sums)\n"
    "{\n"
    "    int c = get_global_id(2);\n"
    "    int at = (c * get_global_size(1) + get_global_id(1)) *\n"
    "             get_global_size(0) + get_global_id(0);\n"
    "    dst[at] = src[at] - (half)sums[c];\n"
    "}\n";

START_TEST(stages_that_hand_data_on)
{
    static const char *const what[] = {"run", "check"};

    terminal_text(&p, "shift.cl", handed_on_cl);
    terminal_text(&p, "shift.xml", handed_on_xml);
    terminal_run(&p, "run shift.xml --shape in0=3x4x2x16 --batch device");
    ck_assert_int_eq(p.status, 2);
    ck_assert(strstr(p.err,
                     "shift.xml:5: error: stage Shift@stage_0: 'src' has "
                     "a batch of 3, 'sums', an output_buffer, one of 1"));
    terminal_run(&p, "check shift.xml --shape in0=3x4x2x16 --batch device");
    ck_assert_int_eq(p.status, 2);
    for (size_t i = 0; i < 2; i++) {
        terminal_run(&p, arena_printf(p.arena,
                                      "%s shift.xml --shape in0=1x4x2x16 "
                                      "--batch device",
                                      what[i]));
        ck_assert_int_eq(p.status, 0);
    }
    terminal_run(&p, "run shift.xml --shape in0=3x4x2x16 --batch whole");
    ck_assert_int_eq(p.status, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("batch");
    TCase *c = tcase_create("batch");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, items_one_by_one, 0, sizeof orders / sizeof *orders);
    tcase_add_test(c, the_whole_tensor);
    tcase_add_test(c, no_batch);
    tcase_add_test(c, on_an_opencl_device);
    tcase_add_loop_test(c, on_a_stick, 0, sizeof orders / sizeof *orders);
    tcase_add_test(c, sizes_of_all_items);
    tcase_add_test(c, batches_that_differ);
    tcase_add_test(c, stages_that_hand_data_on);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
