/* Layers of a model in a row: order, numbering, tensors between them. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "runtime/graph/bind.h"
#include "tests/support/terminal.h"
#include "tests/support/util.h"

/* "name Type from from": precision FP16 but for Types with a ':', as in
 * "Parameter:FP32". A Result has no output. */
static void append_layer(str *layers, str *edges, const char *const *rows,
                         int i)
{
    char name[32], type[32], from[2][32];
    int n =
        sscanf(rows[i], "%31s %31s %31s %31s", name, type, from[0], from[1]);
    char *colon = strchr(type, ':');
    const char *precision = colon ? colon + 1 : "FP16";
    const char *dims = "<dim>1</dim><dim>3</dim><dim>4</dim><dim>5</dim>";

    if (colon)
        *colon = '\0';
    str_printf(layers,
               "\n<layer id=\"%d\" name=\"%s\" type=\"%s\" version=\"x\">"
               "<data n=\"60\"/><input>",
               i, name, type);
    for (int p = 0; p < n - 2; p++) {
        str_printf(layers, "<port id=\"%d\">%s</port>", p, dims);
        for (int k = 0; rows[k]; k++)
            if (!strncmp(rows[k], from[p], strlen(from[p])) &&
                rows[k][strlen(from[p])] == ' ')
                str_printf(edges,
                           "<edge from-layer=\"%d\" from-port=\"9\" "
                           "to-layer=\"%d\" to-port=\"%d\"/>",
                           k, i, p);
    }
    str_puts(layers, "</input>");
    if (strcmp(type, "Result"))
        str_printf(layers,
                   "<output><port id=\"9\" precision=\"%s\">%s</port></output>",
                   precision, dims);
    str_puts(layers, "</layer>");
}

static char *model_text(arena *a, const char *const *rows)
{
    str layers = {0}, edges = {0};
    char *text;

    for (int i = 0; rows[i]; i++)
        append_layer(&layers, &edges, rows, i);
    text = arena_printf(a,
                        "<net name=\"n\" version=\"10\"><layers>%s</layers>"
                        "<edges>%s</edges></net>",
                        str_text(&layers), str_text(&edges));
    str_free(&layers);
    str_free(&edges);
    return text;
}

#define LAYER(name, in, out, more)                                          \
    "<CustomLayer name=\"" name "\" type=\"MVCL\" version=\"1\">"           \
    "<Kernel entry=\"k\"><Source filename=\"k.cl\"/><Parameters>"           \
    "<Tensor arg-name=\"a\" type=\"input\" port-index=\"0\" format=\"" in   \
    "\"/>" more                                                             \
    "<Tensor arg-name=\"d\" type=\"output\" port-index=\"0\" format=\"" out \
    "\"/></Parameters><WorkSizes dim=\"input,0\" global=\"n\" "             \
    "local=\"1\"/></Kernel></CustomLayer>\n"
static const char binding_text[] =
    LAYER("Minor", "BYXF", "BYXF", "") LAYER("Plain", "BFYX", "BFYX", "")
        LAYER("Two", "BFYX", "BFYX",
              "<Tensor arg-name=\"b\" type=\"input\" port-index=\"1\" "
              "format=\"BYXF\"/>") LAYER("Any", "ANY", "ANY", "");

typedef struct {
    const char *rows[12], *at;
    const char *launches, *buffers; /* blank behind each; outputs "name>" */
    const char *error;
} chain;

static const chain chains[] = {
    {.rows = {"p Parameter", "x Minor p", "y Minor x", "r Result y"},
     .launches = "x@reorder-input-data=0 x y y@reorder-output-data=0 ",
     .buffers = "in0 in0@NHWC x out0@NHWC out0> "},
    {.rows = {"p Parameter:FP32", "x Minor p", "y Plain:FP32 x", "r Result y"},
     .launches = "p@FP16 x@reorder-input-data=0 x y@reorder-input-data=0 y "
                 "y@FP32 ",
     .buffers = "in0 in0@FP16 in0@NHWC x x@NCHW out0@FP16 out0> "},
    /* one tensor, two readers of one order: converted once */
    {.rows = {"p Parameter", "x Minor p", "y Minor p"},
     .launches = "x@reorder-input-data=0 x x@reorder-output-data=0 y "
                 "y@reorder-output-data=0 ",
     .buffers = "in0 in0@NHWC out0@NHWC out0> out1@NHWC out1> "},
    /* the document's order is not the order of running */
    {.rows = {"r Result y", "y Plain x", "x Plain p", "p Parameter"},
     .launches = "x y ",
     .buffers = "in0 x out0> "},
    /* inputs and outputs are numbered as they stand */
    {.rows = {"p Parameter", "q Parameter", "u Parameter", "y Two q p",
              "r Result y", "x Plain y", "s Result x"},
     .launches = "y@reorder-input-data=1 y x ",
     .buffers = "in1 in0 in0@NHWC out0> out1> "},
    /* one layer's output for the host and for another layer */
    {.rows = {"p Parameter", "x Minor p", "y Plain x", "r Result x",
              "s Result y"},
     .launches = "x@reorder-input-data=0 x x@reorder-output-data=0 y ",
     .buffers = "in0 in0@NHWC out0@NHWC out0> out1> "},
    {.rows = {"p Parameter", "x Plain:FP32 p", "y Minor x", "r Result x"},
     .launches = "x x@FP32 y@reorder-input-data=0 y y@reorder-output-data=0 ",
     .buffers = "in0 out0@FP16 out0> out0@NHWC out1@NHWC out1> "},
    /* ANY takes a tensor as it stands */
    {.rows = {"p Parameter", "x Minor p", "y Any x", "r Result y"},
     .launches = "x@reorder-input-data=0 x y ",
     .buffers = "in0 in0@NHWC x out0> "},
    /* one layer: what is around it does not matter */
    {.rows = {"p Parameter", "z Relu p", "x Plain z", "w Relu x"},
     .launches = "x ",
     .buffers = "in0 out0> "},
    {.rows = {"p Parameter:FP32", "x Plain p", "y Plain:FP32 x", "r Result y"},
     .at = "y",
     .launches = "y y@FP32 ",
     .buffers = "in0 out0@FP16 out0> "},
    {.rows = {"p Parameter", "x Plain p", "z Relu x", "y Plain z",
              "r Result y"},
     .error =
         "m.xml:4: error: layer z of type Relu, which l.xml does not bind, "
         "takes the output of layer x; --at x runs that layer alone"},
    {.rows = {"p Parameter", "z Relu p", "y Plain z", "x Plain y",
              "r Result x"},
     .error =
         "m.xml:3: error: layer z of type Relu, which l.xml does not bind, "
         "feeds layer y; --at y runs that layer alone"},
    {.rows = {"x Plain y", "y Plain x"},
     .error = "m.xml:3: error: layer y takes, by way of other layers, its own"},
    {.rows = {"p Parameter", "x Plain p", "y Two x"},
     .error = "bound to input port 1, but layer y has 1"},
};

START_TEST(in_a_row)
{
    const chain *c = &chains[_i];
    arena *a = arena_create(0);
    char *text = model_text(a, c->rows);
    const char *launches = "", *buffers = "";
    vpu_error err;
    config_file file;
    config_model m;
    graph_request q = {.binding = &file, .model = &m, .at = c->at};
    graph *g;
    vpu_status st;

    ck_assert(!config_file_parse(
        &(const file_bytes){binding_text, sizeof binding_text - 1, "l.xml"}, a,
        NULL, CONFIG_EVERY_RELEASE, &file, &err));
    ck_assert_msg(
        !config_model_parse(&(const file_bytes){text, strlen(text), "m.xml"},
                            NULL, a, &m, &err),
        "%s", err.msg);
    st = graph_bind(&q, a, NULL, &g, &err);
    ck_assert_msg(!st == !c->error, "case %d: %s", _i, err.msg);
    if (st) {
        ck_assert_msg(strstr(err.msg, c->error) != NULL, "%s", err.msg);
        arena_destroy(a);
        return;
    }
    for (uint32_t i = 0; i < g->n_launches; i++)
        launches = arena_printf(a, "%s%s ", launches, g->launches[i].name);
    for (uint32_t i = 0; i < g->n_buffers; i++)
        buffers = arena_printf(a, "%s%s%s ", buffers, g->buffers[i].name,
                               g->buffers[i].role == GRAPH_OUTPUT ? ">" : "");
    ck_assert_str_eq(launches, c->launches);
    ck_assert_str_eq(buffers, c->buffers);
    arena_destroy(a);
}
END_TEST

/* --- run ----------------------------------------------------------------- */

static terminal p;

static void setup(void)
{
    terminal_open(&p);
    terminal_text(&p, "l.xml", binding_text);
    terminal_text(&p, "k.cl",
                  "__kernel void k(__global const half *a, __global half *d)\n"
                  "{ d[get_global_id(0)] = a[get_global_id(0)] * 2.0h; }\n");
}

static void teardown(void)
{
    terminal_close(&p);
}

START_TEST(values_through_a_chain)
{
    static const char *const rows[] = {"p Parameter:FP32", "x Minor p",
                                       "y Plain x",        "z Minor:FP32 y",
                                       "r Result z",       NULL};
    static const char *const same[] = {"p Parameter:FP32", "x Plain:FP32 p",
                                       "r Result x", NULL};

    terminal_text(&p, "m.xml", model_text(p.arena, rows));
    terminal_text(&p, "same.xml", model_text(p.arena, same));
    terminal_run(&p, "run l.xml --model m.xml --input 0=ramp --output o");
    ck_assert_msg(!p.status, "%s", p.err);
    ck_assert_ptr_nonnull(strstr(p.out, "layer x, y, z (nested form)"));
    ck_assert_ptr_nonnull(strstr(p.out, "p@FP16: kernel convert_f32_f16"));
    ck_assert_ptr_nonnull(strstr(p.out, "z@reorder-output-data=0: kernel"));
    /* three times twice = eight times: the output of one layer, fed again */
    terminal_run(&p, "run l.xml --model same.xml --input 0=ramp --output s1");
    terminal_run(&p, "run l.xml --model same.xml --input 0=s1/out0.npy "
                     "--output s2");
    terminal_run(&p, "run l.xml --model same.xml --input 0=s2/out0.npy "
                     "--output s3");
    ck_assert_msg(!p.status, "%s", p.err);
    {
        vpu_error err;
        char *one, *three;
        size_t n, m;

        ck_assert(!file_read(arena_printf(p.arena, "%s/o/out0.npy", p.dir),
                             1 << 20, p.arena, &one, &n, &err));
        ck_assert(!file_read(arena_printf(p.arena, "%s/s3/out0.npy", p.dir),
                             1 << 20, p.arena, &three, &m, &err));
        ck_assert_uint_eq(n, 128 + 4 * 60);
        ck_assert_uint_eq(m, n);
        ck_assert_mem_eq(one, three, n);
    }
}
END_TEST

START_TEST(blobs_by_hand)
{
    static const char *const net[] = {"p Parameter:FP32", "x Plain:FP32 p",
                                      NULL};

    terminal_text(&p, "m.xml", model_text(p.arena, net));
    terminal_run(&p, "run l.xml --model m.xml --input 0=ramp --output o");
    terminal_text(
        &p, "w.xml",
        "<CustomLayer name=\"W\" type=\"MVCL\" version=\"1\"><Kernel "
        "entry=\"k\"><Source filename=\"k.cl\"/><Parameters><Tensor "
        "arg-name=\"d\" type=\"output\" port-index=\"0\"/><Data "
        "arg-name=\"a\" type=\"data\" source=\"w\"/></Parameters>"
        "<WorkSizes dim=\"input,0\" global=\"X\" local=\"1\"/></Kernel>"
        "</CustomLayer>");
    terminal_run(&p, "run w.xml --shape in0=1x1x1x60 --blob w=o/out0.npy "
                     "--output b");
    ck_assert_msg(!p.status, "%s", p.err);
    ck_assert_ptr_nonnull(strstr(p.err, "no kernel reads input 0"));
    terminal_run(&p, "run w.xml --shape in0=1x1x1x60 --output b");
    ck_assert_int_eq(p.status, 2);
    ck_assert_ptr_nonnull(
        strstr(p.err, "layer W has no blob 'w'; give it with --blob w="));
    terminal_run(&p, "run w.xml --shape in0=1x1x1x60 --blob w");
    ck_assert_int_eq(p.status, 2);
    ck_assert_ptr_nonnull(strstr(p.err, "blob 'w': expected NAME=FILE.npy"));
    terminal_run(&p, "run w.xml --shape in0=1x1x1x60 --blob w=no.npy");
    ck_assert_int_eq(p.status, 2);
    ck_assert_ptr_nonnull(strstr(p.err, "no.npy"));
    terminal_run(&p, "run w.xml --model m.xml --blob w=no.npy");
    ck_assert_int_eq(p.status, 2);
    ck_assert_ptr_nonnull(strstr(p.err, "--model and --blob exclude"));
}
END_TEST

/* A plug-in gets the parameters that the model has for the layer by their own
 * names, whatever the kernel calls them. */
START_TEST(parameters_for_a_plugin)
{
    char here[1024];
#define DIMS "<dim>1</dim><dim>2</dim><dim>4</dim><dim>8</dim>"
#define IN "<input><port id='0'>" DIMS "</port></input>"
#define OUT "<output><port id='1' precision='FP16'>" DIMS "</port></output>"
#define EDGE(from, to)                                             \
    "<edge from-layer='" from "' from-port='1' to-layer='" to "' " \
    "to-port='0'/>"
    static const char model[] =
        "<net name='n' version='10'><layers>"
        "<layer id='0' name='in' type='Parameter' version='x'>" OUT "</layer>"
        "<layer id='1' name='r' type='ReLU' version='x'>" IN OUT "</layer>"
        "<layer id='2' name='norm' type='MVN' version='x'><data %s/>" IN OUT
        "</layer></layers><edges>" EDGE("0", "1")
            EDGE("1", "2") "</edges></net>";

    terminal_text(
        &p, "norm.xml",
        "<CustomLayer name='MVN' type='MVCL' version='1'><Kernel entry='k'>"
        "<Source filename='k.cl'/><Parameters>"
        "<Tensor arg-name='src' type='input' port-index='0' format='BFYX'/>"
        "<Tensor arg-name='dst' type='output' port-index='0' format='BFYX'/>"
        "<Scalar arg-name='e' type='float' source='eps'/></Parameters>"
        "<WorkSizes dim='input,0' global='X,Y,F' local='X,1,1'/></Kernel>"
        "</CustomLayer>");
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    for (int given = 0; given < 2; given++) {
        terminal_text(&p, "m.xml",
                      arena_printf(p.arena, model, given ? "eps='0.5'" : ""));
        terminal_run(&p, arena_printf(p.arena,
                                      "run norm.xml --model m.xml --at norm "
                                      "--backend host:%s/build/plugins/mvn.so "
                                      "--output o",
                                      here));
        ck_assert_msg((p.status == 0) == given, "%d: %s", given, p.err);
    }
}
END_TEST

/* The repository's models, of both forms that converters write today, are what
 * their shape and bias say by hand. */
START_TEST(models_of_samples)
{
    static const char *const models[] = {"network.xml", "network11.xml"};
    char here[1024];
    const char *by_hand, *by_model;
    size_t n, m;

    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    terminal_run(
        &p, arena_printf(p.arena,
                         "run %s/kernels/grn/layer.xml --layer GRN --shape "
                         "in0=1x16x24x40 --param bias=1.0 --input 0=random:3 "
                         "--output hand",
                         here));
    terminal_expect(&p, 0, "");
    by_hand = terminal_bytes(&p, "hand/out0.npy", &n);
    for (int i = 0; i < 2; i++) {
        terminal_run(
            &p, arena_printf(p.arena,
                             "run %s/kernels/grn/layer.xml --model "
                             "%s/kernels/grn/%s --input 0=random:3 --output "
                             "model%d",
                             here, here, models[i], i));
        terminal_expect(&p, 0, "");
        by_model = terminal_bytes(
            &p, arena_printf(p.arena, "model%d/out0.npy", i), &m);
        ck_assert_uint_eq(n, m);
        ck_assert_mem_eq(by_hand, by_model, n);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("chain");
    TCase *t = tcase_create("bind"), *run = tcase_create("run");
    SRunner *r;
    int failed;

    tcase_add_loop_test(t, in_a_row, 0, sizeof chains / sizeof *chains);
    suite_add_tcase(s, t);
    tcase_set_timeout(run, 60);
    tcase_add_checked_fixture(run, setup, teardown);
    tcase_add_test(run, values_through_a_chain);
    tcase_add_test(run, blobs_by_hand);
    tcase_add_test(run, parameters_for_a_plugin);
    tcase_add_test(run, models_of_samples);
    suite_add_tcase(s, run);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
