/* Guarding a kernel that changes: recordings, golden outputs, one binding
 * against another, and limits on cycles. */
#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/npy.h"
#include "tests/support/terminal.h"

static terminal p;

#define TENSORS                                                  \
    "<Tensor arg-name=\"in\" type=\"input\" port-index=\"0\" "   \
    "format=\"BFYX\"/>"                                          \
    "<Tensor arg-name=\"out\" type=\"output\" port-index=\"0\" " \
    "format=\"BFYX\"/>"

#define SCALE "<Scalar arg-name=\"by\" type=\"float\" source=\"by\"/>"

/* A kernel of file, whose items are a row each, with further bindings. */
static void put_layer(const char *name, const char *type, const char *file,
                      const char *further, const char *sizes)
{
    terminal_text(&p, name,
                  arena_printf(p.arena,
                               "<CustomLayer name=\"%s\" type=\"MVCL\" "
                               "version=\"1\">\n<Kernel entry=\"scale\">"
                               "<Source filename=\"%s\"/>\n"
                               "<Parameters>%s%s</Parameters>\n"
                               "<WorkSizes dim=\"input,0\" %s/></Kernel>\n"
                               "</CustomLayer>\n",
                               type, file, TENSORS SCALE, further, sizes));
}

#define HEAD                                                            \
    "__kernel void scale(__global const half *in, __global half *out, " \
    "float by"

static const char plain_cl[] =
    HEAD ")\n{\n    int i = get_global_id(1) * 16 + get_global_id(0);\n"
         "    out[i] = (half)((float)in[i] * by);\n}\n";

/* The same, a row an item. */
static const char rows_cl[] =
    HEAD ", int width)\n{\n    int y = get_global_id(1);\n"
         "    for (int x = 0; x < width; x++)\n"
         "        out[y * width + x] = (half)((float)in[y * width + x] * by);\n"
         "}\n";

/* It waits for each element it has stored. */
static const char slow_cl[] =
    HEAD ")\n{\n    int i = get_global_id(1) * 16 + get_global_id(0);\n"
         "    volatile __global half *o = out;\n"
         "    for (int k = 0; k < 4000; k++)\n        o[i] = o[i] + 1;\n"
         "    o[i] = (half)((float)in[i] * by);\n}\n";

#define EACH "global=\"X,Y,1\" local=\"X,1,1\""
#define ROW "global=\"1,Y,1\" local=\"1,1,1\""
#define BOUND " --shape in0=1x1x8x16 --param by=3 "
#define WIDTH                                                 \
    "<Scalar arg-name=\"width\" type=\"int\" source=\"I.X\" " \
    "port-index=\"0\"/>"

static void setup(void)
{
    terminal_open(&p);
    terminal_text(&p, "plain.cl", plain_cl);
    terminal_text(&p, "rows.cl", rows_cl);
    terminal_text(&p, "slow.cl", slow_cl);
    put_layer("plain.xml", "Scale", "plain.cl", "", EACH);
    put_layer("rows.xml", "Scale", "rows.cl", WIDTH, ROW);
    put_layer("slow.xml", "Scale", "slow.cl", "", EACH);
}

static void teardown(void)
{
    terminal_close(&p);
}

static void expect(const char *args, int status, const char *words)
{
    terminal_run(&p, args);
    terminal_expect(&p, status, words);
}

static void says(const char *text)
{
    ck_assert_msg(strstr(p.err, text) != NULL, "no \"%s\" in: %s", text, p.err);
}

static void prints(const char *text)
{
    ck_assert_msg(strstr(p.out, text) != NULL, "no \"%s\" in: %s", text, p.out);
}

static void record(void)
{
    expect("record plain.xml --output x.vpurec" BOUND, 0, "");
}

/* --- recordings ---------------------------------------------------------- */

START_TEST(a_changed_kernel)
{
    record();
    terminal_text(&p, "plain.cl",
                  arena_printf(p.arena, "/* the same */\n%s", plain_cl));
    expect("diff plain.xml --b replay:x.vpurec" BOUND, 0, "bit for bit");
    says("the source of kernel 'scale' (plain.cl) is not the recorded one");
    expect("diff plain.xml --b replay:x.vpurec --exact-source" BOUND, 2,
           "its hash is");
    expect("diff plain.xml --b replay:x.vpurec --quiet --json" BOUND, 0,
           "is not the recorded one");
}
END_TEST

START_TEST(another_kernel)
{
    record();
    expect("diff rows.xml --b replay:x.vpurec" BOUND, 0, "bit for bit");
    says("binding of 'Scale': global = 1x8x1, recorded global = 16x8x1");
    terminal_text(&p, "rows.cl",
                  HEAD ", int width)\n{\n    out[get_global_id(1)] = 1;\n}\n");
    expect("diff rows.xml --b replay:x.vpurec --no-groups" BOUND, 1, "");
}
END_TEST

/* The machine, its SHAVEs and its timing are no part of the meaning. */
START_TEST(another_machine)
{
    record();
    expect("diff plain.xml --b replay:x.vpurec --shaves 3 --set clk_mhz=500 "
           "--timing transaction" BOUND,
           0, "bit for bit");
    says("the machine has shaves=3, recorded 16");
    says("the machine has clk_mhz=500, recorded the default");
    says("the machine has timing=transaction, recorded flow");
    expect("diff plain.xml --b replay:x.vpurec" BOUND, 0, "bit for bit");
    ck_assert_str_eq(p.err, "");
    expect("record plain.xml --set clk_mhz=500 --output y.vpurec" BOUND, 0, "");
    expect("diff plain.xml --b replay:y.vpurec" BOUND, 0, "bit for bit");
    says("the recorded machine had clk_mhz=500");
}
END_TEST

static const struct {
    const char *args, *say;
} others[] = {
    {"--shape in0=1x1x8x16 --param by=2", "parameter by=2, recorded with 3"},
    {"--shape in0=1x1x4x16 --param by=3",
     "'in0' is f16 1x1x4x16, recorded 'in0' is f16 1x1x8x16"},
    {"--shape in0=1x1x8x16 --shape out0=1x1x9x16 --param by=3",
     "'out0' is f16 1x1x9x16, recorded 'out0' is f16 1x1x8x16"},
    {"--shape in0=1x1x8x16 --param by=3 --input 0=ramp",
     "input 'in0' is not the recorded one"},
};

START_TEST(another_layer)
{
    record();
    expect(arena_printf(p.arena, "diff plain.xml --b replay:x.vpurec %s",
                        others[_i].args),
           2, others[_i].say);
    put_layer("twice.xml", "Twice", "plain.cl", "", EACH);
    expect("diff twice.xml --b replay:x.vpurec" BOUND, 2,
           "type is 'Twice', recorded 'Scale'");
}
END_TEST

/* 16 SHAVEs against 3: that explains other cycles, and stands there. */
START_TEST(other_numbers_of_shaves)
{
    expect("record plain.xml --shaves 3 --output x.vpurec" BOUND, 0, "");
    expect("diff plain.xml --b replay:x.vpurec" BOUND, 0, "bit for bit");
    prints(", 16 SHAVEs\n");
    prints(", 3 SHAVEs\n");
    prints("the sides have other numbers of SHAVEs; --shaves N gives both");
    expect("diff plain.xml --shaves 3 --b replay:x.vpurec" BOUND, 0,
           "bit for bit");
    ck_assert_ptr_null(strstr(p.out, "other numbers"));
}
END_TEST

/* "3" and "3.0" are one number. */
START_TEST(the_same_parameter)
{
    record();
    expect("diff plain.xml --b replay:x.vpurec --shape in0=1x1x8x16 "
           "--param by=3.0",
           0, "bit for bit");
    ck_assert_str_eq(p.err, "");
}
END_TEST

START_TEST(two_recordings)
{
    record();
    expect("record slow.xml --output y.vpurec" BOUND, 0, "");
    expect("diff plain.xml --a replay:y.vpurec --b replay:x.vpurec" BOUND, 0,
           "bit for bit");
    expect("diff plain.xml --a replay:y.vpurec --b replay:x.vpurec "
           "--max-slowdown 1.5" BOUND,
           1, "");
    prints("SLOWER");
    expect("diff plain.xml --a replay:x.vpurec --b replay:y.vpurec "
           "--max-slowdown 1.5" BOUND,
           0, "bit for bit");
}
END_TEST

/* The number is the report's own: one cycle less is too few. */
START_TEST(cycle_budgets)
{
    const char *at;
    unsigned long long cycles;

    record();
    expect("diff plain.xml --b replay:x.vpurec --cycle-budget 900000000" BOUND,
           0, "bit for bit");
    prints("the budget is 900000000\n");
    at = strstr(p.out, "cycles: a takes ");
    at = strstr(at + 1, "cycles: a takes ");
    ck_assert_ptr_nonnull(at);
    cycles = strtoull(at + 16, NULL, 10);
    expect(arena_printf(p.arena,
                        "diff plain.xml --b replay:x.vpurec --cycle-budget "
                        "%llu" BOUND,
                        cycles),
           0, "bit for bit");
    expect(arena_printf(p.arena,
                        "diff plain.xml --b replay:x.vpurec --json "
                        "--cycle-budget %llu" BOUND,
                        cycles - 1),
           1, "");
    prints("\"verdict\": \"slower\"");
    prints(arena_printf(p.arena, "%llu cycles, the budget is %llu", cycles,
                        cycles - 1));
    expect("diff plain.xml --b replay:x.vpurec --cycle-budget 1 --junit "
           "j.xml" BOUND,
           1, "");
    prints("the budget is 1: SLOWER\n");
    ck_assert(!system(arena_printf(
        p.arena, "grep -q 'tests=\"2\" failures=\"1\"' %s/j.xml", p.dir)));
    expect("diff plain.xml --b replay:x.vpurec --timing none --cycle-budget "
           "5" BOUND,
           5, "");
    ck_assert_ptr_nonnull(strstr(p.err, "a budget of 5 cycles, but a (sim)"));
}
END_TEST

/* --- other stages -------------------------------------------------------- */

START_TEST(other_stages)
{
    terminal_text(&p, "two.cl",
                  "__kernel void first(__global const half *in, "
                  "__global half *mid)\n{\n    int i = get_global_id(1) * 16 "
                  "+ get_global_id(0);\n    mid[i] = in[i];\n}\n");
    terminal_text(
        &p, "two.xml",
        "<CustomLayer name=\"Scale\" type=\"MVCL\" version=\"1\">\n"
        "<Kernel entry=\"first\" stage=\"0\"><Source filename=\"two.cl\"/>"
        "<Parameters><Tensor arg-name=\"in\" type=\"input\" port-index=\"0\" "
        "format=\"BFYX\"/><Tensor arg-name=\"mid\" type=\"output_buffer\" "
        "port-index=\"0\" dim=\"input,0\" size=\"X*Y\"/></Parameters>"
        "<WorkSizes dim=\"input,0\" " EACH "/></Kernel>\n"
        "<Kernel entry=\"scale\" stage=\"1\"><Source filename=\"plain.cl\"/>"
        "<Parameters><Tensor arg-name=\"in\" type=\"input_buffer\" "
        "port-index=\"0\" dim=\"input,0\" size=\"X*Y\"/>"
        "<Tensor arg-name=\"out\" type=\"output\" port-index=\"0\" "
        "format=\"BFYX\"/>" SCALE "</Parameters>"
        "<WorkSizes dim=\"input,0\" " EACH "/></Kernel>\n"
        "</CustomLayer>\n");
    record();
    expect("diff two.xml --b replay:x.vpurec" BOUND, 0, "bit for bit");
    says("other stages (2, recorded 1): outputs alone can be compared");
    expect("diff plain.xml --b-layer two.xml" BOUND, 0, "stage of b");
    expect("diff two.xml --b replay:x.vpurec --max-slowdown 1.01" BOUND, 1, "");
    prints("SLOWER");
}
END_TEST

/* --- golden outputs ------------------------------------------------------ */

enum { N = 8 * 16 };

static void put_npy(const char *name, tensor_dtype t, uint32_t rows,
                    const void *data)
{
    tensor x = {{t, 4, {1, 1, rows, 16}, TENSOR_PLAIN}, NULL};
    vpu_error err;

    x.data = arena_memdup(p.arena, data, tensor_bytes(&x.desc));
    ck_assert_msg(
        !npy_write(arena_printf(p.arena, "%s/%s", p.dir, name), &x, &err), "%s",
        err.msg);
}

/* A ramp times 3, in float: rounded to half it is what the kernel stores. */
START_TEST(golden_outputs)
{
    float want[N];

    for (int i = 0; i < N; i++)
        want[i] = (float)i / 256 * 3;
    terminal_text(&p, "gold/note.txt", "");
    put_npy("gold/out0.npy", TENSOR_F32, 8, want);
    expect("diff plain.xml --input 0=ramp --b npy:gold" BOUND, 0,
           "bit for bit");
    expect("diff plain.xml --input 0=ramp --b npy:gold/out0.npy" BOUND, 0,
           "bit for bit");
    expect("diff plain.xml --input 0=zeros --no-groups --b npy:gold" BOUND, 1,
           "");
    prints("DIFFERENT");
    want[5] += 1;
    put_npy("gold/out0.npy", TENSOR_F32, 8, want);
    expect("diff plain.xml --input 0=ramp --b npy:gold" BOUND, 1, "");
    prints("1 of 128 differ, first at [0,0,0,5]");
}
END_TEST

START_TEST(golden_outputs_that_are_none)
{
    int32_t data[N] = {0};
    uint16_t input[N] = {0};

    expect("diff plain.xml --b npy:gold" BOUND, 2, "gold/out0.npy: No such");
    expect("diff plain.xml --b npy:" BOUND, 2, "expected npy:DIR");
    terminal_text(&p, "gold/out0.npy", "no array");
    expect("diff plain.xml --b npy:gold" BOUND, 2, "not a .npy file");
    put_npy("gold/out0.npy", TENSOR_I32, 8, data);
    expect("diff plain.xml --b npy:gold" BOUND, 2, ".astype(numpy.float16)");
    put_npy("gold/out0.npy", TENSOR_F16, 4, data);
    expect("diff plain.xml --b npy:gold" BOUND, 2, "the file is f16 1x1x4x16");
    put_npy("gold/out0.npy", TENSOR_F16, 8, data);
    put_npy("gold/in0.npy", TENSOR_F16, 8, input);
    expect("diff plain.xml --b npy:gold" BOUND, 2,
           "expected --input 0=gold/in0.npy");
    expect("diff plain.xml --b npy:gold --input 0=gold/in0.npy" BOUND, 0,
           "bit for bit");
}
END_TEST

/* --- one binding against another ----------------------------------------- */

START_TEST(another_binding)
{
    expect("diff rows.xml --b-layer plain.xml" BOUND, 0, "bit for bit");
    expect("diff rows.xml --b-layer plain.xml --shape in0=1x1x8x16", 2, "'by'");
    expect("diff rows.xml --b-layer nothing.xml" BOUND, 2, "nothing.xml");
    put_layer("twice.xml", "Twice", "plain.cl", "", EACH);
    expect("diff plain.xml --layer Scale --b-layer twice.xml" BOUND, 0,
           "bit for bit");
    expect("diff twice.xml --layer Scale --b-layer plain.xml" BOUND, 0,
           "bit for bit");
    terminal_text(&p, "plain.cl",
                  HEAD ")\n{\n    out[get_global_id(0)] = 1;"
                       "\n}\n");
    expect("diff rows.xml --b-layer plain.xml" BOUND, 1, "");
    prints("DIFFERENT");
}
END_TEST

/* Two bindings of one layer in one file, the second with a row an item. */
START_TEST(bindings_by_number)
{
    const char *one, *other;
    size_t n;

    one = terminal_bytes(&p, "plain.xml", &n);
    other = terminal_bytes(&p, "rows.xml", &n);
    terminal_text(&p, "both.xml", arena_printf(p.arena, "%s%s", one, other));
    expect("run both.xml --quiet" BOUND, 0, "");
    prints("8 work-groups of 16x1x1");
    expect("run both.xml --quiet --binding 2" BOUND, 0, "");
    prints("8 work-groups of 1x1x1");
    expect("run both.xml --quiet --binding 1" BOUND, 0, "");
    prints("8 work-groups of 16x1x1");
    expect("run both.xml --binding 3" BOUND, 2,
           "no binding 3 of layer type Scale; there are 1 in line 1, 2 in "
           "line");
    expect("run both.xml --binding 1 --layer Scala" BOUND, 2,
           "did you mean Scale?");
    expect("diff both.xml --b-binding 2 --max-slowdown 100" BOUND, 0,
           "bit for bit");
    terminal_text(&p, "rows.cl",
                  HEAD ", int width)\n{\n    out[get_global_id(1)] = 1;\n}\n");
    expect("diff both.xml --b-binding 2 --no-groups" BOUND, 1, "");
}
END_TEST

/* A parameter that one of the two looks at is none too many. */
START_TEST(parameters_of_either)
{
    put_layer("more.xml", "Scale", "rows.cl",
              "<Scalar arg-name=\"width\" type=\"int\" source=\"wide\"/>", ROW);
    expect("diff plain.xml --b-layer more.xml --param wide=16" BOUND, 0,
           "bit for bit");
    expect(
        "diff plain.xml --b-layer more.xml --param wide=16 --param wid=1" BOUND,
        2, "did you mean 'wide'?");
}
END_TEST

/* --- cycles -------------------------------------------------------------- */

START_TEST(limits)
{
    expect("diff slow.xml --b-layer plain.xml" BOUND, 0, "bit for bit");
    expect("diff slow.xml --b-layer plain.xml --max-slowdown 1.5" BOUND, 1, "");
    prints("SLOWER: 128 elements, bit for bit; ");
    expect("diff slow.xml --b-layer plain.xml --max-slowdown 1.5 --json" BOUND,
           1, "");
    prints("\"verdict\": \"slower\"");
    expect("diff slow.xml --b-layer plain.xml --max-slowdown 1000" BOUND, 0,
           "the limit is 1000");
    expect("diff plain.xml --b null --max-slowdown 2 --no-groups" BOUND, 5,
           "b (null) counts none");
    expect("diff plain.xml --a null --b null --max-slowdown if-known:2" BOUND,
           0, "equal");
    expect("diff plain.xml --b sim --max-slowdown 0" BOUND, 2,
           "--max-slowdown");
    expect("diff plain.xml --b sim --max-slowdown fast" BOUND, 2,
           "--max-slowdown");
}
END_TEST

START_TEST(limits_of_recordings)
{
    expect("record plain.xml --max-slowdown 1.5 --output x.vpurec" BOUND, 0,
           "");
    expect("diff slow.xml --b replay:x.vpurec --quiet" BOUND, 1, "");
    prints("SLOWER");
    expect("diff slow.xml --b replay:x.vpurec --max-slowdown 1000" BOUND, 0,
           "the limit is 1000");
    expect("record plain.xml --backend null --max-slowdown 1.5 "
           "--output y.vpurec" BOUND,
           5, "counts no cycles");
    ck_assert(!terminal_has(&p, "y.vpurec"));
}
END_TEST

START_TEST(limits_of_suites)
{
    terminal_text(&p, "c/a.case", "../slow.xml --b-layer ../plain.xml" BOUND);
    terminal_text(&p, "c/b.case", "../plain.xml --a null --b null" BOUND);
    terminal_text(
        &p, "c/c.case",
        "../slow.xml --b-layer ../plain.xml --max-slowdown 1000 " BOUND);
    expect("suite c", 0, "3 equal");
    expect("suite c --max-slowdown 1.5", 1, "");
    prints("2 equal, 0 different, 1 slower");
    expect("suite c --max-slowdown none", 2, "--max-slowdown none");
    expect("suite c --max-slowdown 1.5 --junit j.xml --filter a", 1, "");
    prints("SLOWER");
    expect("record plain.xml --max-slowdown 1.5 --output c/x.vpurec" BOUND, 0,
           "");
    terminal_text(&p, "c/d.case", "../plain.xml --b replay:x.vpurec" BOUND);
    expect("suite c --filter d --update", 0, "1 recorded");
    terminal_text(&p, "plain.cl", slow_cl);
    expect("suite c --filter d", 1, "");
    prints("1 slower");
}
END_TEST

/* The flat form has a CustomLayer for each stage of a layer: one binding. */
START_TEST(stages_are_one_binding)
{
    static const char stage[] =
        "<CustomLayer name=\"Steps\" stage=\"%d\" type=\"MVCL\" "
        "version=\"1\">\n<Kernel entry=\"scale\">"
        "<Source filename=\"plain.cl\"/></Kernel>\n<Parameters>" TENSORS SCALE
        "</Parameters>\n<WorkSizes dim=\"input,0\" " EACH
        "/>\n</CustomLayer>\n";

    terminal_text(&p, "plain.cl", plain_cl);
    terminal_text(&p, "steps.xml",
                  arena_printf(p.arena, "%s%s", arena_printf(p.arena, stage, 0),
                               arena_printf(p.arena, stage, 1)));
    expect("run steps.xml --quiet" BOUND, 0, "");
    prints("Steps@stage_1");
    expect("run steps.xml --quiet --binding 1" BOUND, 0, "");
    prints("Steps@stage_0");
    prints("Steps@stage_1");
    expect("run steps.xml --binding 2" BOUND, 2,
           "no binding 2 of layer type Steps; there are 1 in line 1");
    expect("run steps.xml --binding 1 --layer Step" BOUND, 2,
           "did you mean Steps?");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("guarding kernels");
    TCase *c = tcase_create("guarding");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, a_changed_kernel);
    tcase_add_test(c, another_kernel);
    tcase_add_test(c, another_machine);
    tcase_add_loop_test(c, another_layer, 0, sizeof others / sizeof *others);
    tcase_add_test(c, other_numbers_of_shaves);
    tcase_add_test(c, the_same_parameter);
    tcase_add_test(c, two_recordings);
    tcase_add_test(c, cycle_budgets);
    tcase_add_test(c, other_stages);
    tcase_add_test(c, golden_outputs);
    tcase_add_test(c, golden_outputs_that_are_none);
    tcase_add_test(c, another_binding);
    tcase_add_test(c, bindings_by_number);
    tcase_add_test(c, stages_are_one_binding);
    tcase_add_test(c, parameters_of_either);
    tcase_add_test(c, limits);
    tcase_add_test(c, limits_of_recordings);
    tcase_add_test(c, limits_of_suites);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
