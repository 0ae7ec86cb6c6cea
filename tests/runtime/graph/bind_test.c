/* Binding: shapes and models to buffers, launches and argument values. */
#include "runtime/graph/bind.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "runtime/graph/io.h"
#include "runtime/graph/npy.h"
#include "tests/support/util.h"

static arena *a;
static test_log tlog;
static config_file file;
static vpu_error err;
static graph *g;
static config_param params[8];
static size_t n_params;

static void setup(void)
{
    a = arena_create(0);
    test_log_init(&tlog);
    n_params = 0;
}

static void teardown(void)
{
    test_log_fini(&tlog);
    arena_destroy(a);
}

static void param(const char *text)
{
    ck_assert(!graph_param_parse(text, a, &params[n_params++], &err));
}

static config_release strict = CONFIG_EVERY_RELEASE;

/* Bind text to shapes, blank-separated as on a command line. */
static vpu_status bind_to(const char *text, const char *shapes)
{
    graph_shape s[8];
    graph_request q = {
        .binding = &file, .shapes = s, .params = params, .n_params = n_params};
    char *copy = arena_strdup(a, shapes);

    for (char *p = strtok(copy, " "); p; p = strtok(NULL, " "))
        ck_assert_msg(!graph_shape_parse(p, &s[q.n_shapes++], &err), "%s",
                      err.msg);
    ck_assert_msg(
        !config_file_parse(&(const file_bytes){text, strlen(text), "l.xml"}, a,
                           NULL, strict, &file, &err),
        "%s", err.msg);
    return graph_bind(&q, a, &tlog.sink, &g, &err);
}

#define LAYER(where, body, sizes)                                        \
    "<CustomLayer name=\"GRN\" type=\"MVCL\" version=\"1\">" where "\n"  \
    "<Kernel entry=\"k\" max-shaves=\"2\"><Source filename=\"k.cl\"/>\n" \
    "<Parameters>\n" body                                                \
    "<Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\" "         \
    "format=\"ANY\"/>\n</Parameters>\n" sizes "\n</Kernel></CustomLayer>\n"
#define SIZES "<WorkSizes dim=\"input,0\" global=\"X,Y,F\" local=\"X,1,1\"/>"
#define SRC(format)                                             \
    "<Tensor arg-name=\"src\" type=\"input\" port-index=\"0\" " \
    "format=\"" format "\"/>\n"
#define IN4 "in0=1x24x128x512"

/* Notes are about what is bound. */
START_TEST(notes_of_the_layer_alone)
{
    static const char *const types[] = {"One", "Two"};
    static const char *const said[] = {"max-shaves=\"5\"", "max-shaves=\"6\""};
    const char *body = strstr(LAYER("", SRC("BFYX"), SIZES), " type=");
    const char *both = arena_printf(a,
                                    "<CustomLayer name=\"One\" %s%s"
                                    "<CustomLayer name=\"Two\" %s%s",
                                    said[0], body, said[1], body);
    graph_shape s;
    graph_request q = {
        .binding = &file, .type = types[_i], .shapes = &s, .n_shapes = 1};

    ck_assert(!graph_shape_parse(IN4, &s, &err));
    ck_assert_msg(
        !config_file_parse(&(const file_bytes){both, strlen(both), "l.xml"}, a,
                           &tlog.sink, CONFIG_EVERY_RELEASE, &file, &err),
        "%s", err.msg);
    ck_assert_msg(!graph_bind(&q, a, &tlog.sink, &g, &err), "%s", err.msg);
    ck_assert_int_eq(test_log_count(&tlog, said[_i]), 1);
    ck_assert_int_eq(test_log_count(&tlog, said[!_i]), 0);
}
END_TEST

START_TEST(a_layer_by_hand)
{
    const graph_launch *l;
    const graph_arg *arg;

    param("bias=0.5");
    ck_assert_msg(
        !bind_to(LAYER("",
                       SRC("BYXF") "<Data arg-name=\"l\" type=\"local_data\" "
                                   "dim=\"input,0\" size=\"X*F*2\"/>"
                                   "<Scalar arg-name=\"b\" type=\"float\" "
                                   "source=\"bias\"/>"
                                   "<Scalar arg-name=\"C\" type=\"int\" "
                                   "port-index=\"0\" source=\"I.F\"/>",
                       SIZES),
                 IN4),
        "%s", err.msg);
    ck_assert_str_eq(g->layer, "GRN");
    ck_assert_str_eq(g->form, "nested");
    ck_assert_uint_eq(g->n_buffers, 3);
    ck_assert_str_eq(g->buffers[0].name, "in0");
    ck_assert_int_eq(g->buffers[0].role, GRAPH_INPUT);
    ck_assert_int_eq(g->buffers[0].desc.layout, TENSOR_PLAIN);
    ck_assert_uint_eq(g->buffers[0].bytes, 2 * 24 * 128 * 512);
    ck_assert_str_eq(g->buffers[1].name, "in0@NHWC");
    ck_assert_int_eq(g->buffers[1].role, GRAPH_SCRATCH);
    ck_assert_int_eq(g->buffers[1].desc.layout, TENSOR_CHANNEL_MINOR);
    ck_assert_str_eq(g->buffers[2].name, "out0");
    ck_assert_int_eq(g->buffers[2].desc.layout, TENSOR_PLAIN);
    ck_assert_uint_eq(g->n_launches, 2);
    l = g->launches;
    ck_assert_str_eq(l->name, "GRN@reorder-input-data=0");
    ck_assert_str_eq(l->entry, "permute_2");
    ck_assert_ptr_nonnull(l->text);
    ck_assert_uint_eq(l->global[0], 24);             /* channels innermost */
    ck_assert_uint_eq(l->global[1], 128 * 512 / 32); /* a line each */
    ck_assert_uint_eq(l->local[0], 24);
    ck_assert_uint_eq(l->args[0].buffer, 0);
    ck_assert_uint_eq(l->args[1].buffer, 1);
    l++;
    ck_assert_ptr_null(l->text);
    ck_assert_uint_eq(l->args[0].buffer, 1);
    ck_assert_str_eq(l->name, "GRN");
    ck_assert_str_eq(l->entry, "k");
    ck_assert_uint_eq(l->max_shaves, 2);
    ck_assert_uint_eq(l->line, 2);
    ck_assert_uint_eq(l->global[0], 512);
    ck_assert_uint_eq(l->global[1], 128);
    ck_assert_uint_eq(l->global[2], 24);
    ck_assert_uint_eq(l->local[0], 512);
    ck_assert(!graph_launch_arg(l, "l", &arg, &err));
    ck_assert_int_eq(arg->kind, GRAPH_ARG_LOCAL);
    ck_assert_uint_eq(arg->bytes, 512 * 24 * 2);
    ck_assert(!graph_launch_arg(l, "b", &arg, &err));
    ck_assert_int_eq(arg->kind, GRAPH_ARG_FLOAT);
    ck_assert(arg->real == 0.5f);
    ck_assert(!graph_launch_arg(l, "C", &arg, &err));
    ck_assert_int_eq(arg->integer, 24);
    ck_assert(!graph_launch_arg(l, "dst", &arg, &err));
    ck_assert(arg->written);
    ck_assert_int_eq(graph_launch_arg(l, "nope", &arg, &err), VPU_ERR_INVALID);
    ck_assert_ptr_nonnull(
        strstr(err.msg, "l.xml:2: error: XML specification for GRN layer has "
                        "no definition for 'nope'"));
    ck_assert_int_eq(test_log_count(&tlog, ""), 0);
}
END_TEST

/* --- scalars ------------------------------------------------------------- */

static const struct {
    const char *type, *port, *source, *shapes;
    int kind; /* GRAPH_ARG_... */
    double value;
    const char *why;
} scalars[] = {
    {"int", "", "k", IN4, GRAPH_ARG_INT, 7, NULL},
    {"int", "", "real", IN4, GRAPH_ARG_BROKEN, 0,
     "'3.75' is no integer, but the binding has type=\"int\", which would cut "
     "it to 3"},
    {"int", "", "3.0", IN4, GRAPH_ARG_INT, 3, NULL},
    {"int", "", "0.5", IN4, GRAPH_ARG_BROKEN, 0, "would cut it to 0"},
    {"float", "", "real", IN4, GRAPH_ARG_FLOAT, 3.75, NULL},
    {"int", "", "list", IN4, GRAPH_ARG_INT, 10, NULL},
    {"int", "0", "list", IN4, GRAPH_ARG_INT, 10, NULL},
    {"int", "1", "list", IN4, GRAPH_ARG_INT, 20, NULL},
    {"int", "9", "list", IN4, GRAPH_ARG_INT, 30, NULL},
    {"float", "1", "list", IN4, GRAPH_ARG_FLOAT, 20, NULL},
    {"int", "0", "k", IN4, GRAPH_ARG_BROKEN, 0,
     "neither a tensor nor an array"},
    {"int", "", "flag", IN4, GRAPH_ARG_BROKEN, 0, "'true' is not an integer"},
    {"int", "", "42", IN4, GRAPH_ARG_INT, 42, NULL},
    {"float", "", "42", IN4, GRAPH_ARG_FLOAT, 42, NULL},
    {"float", "", "0.5", IN4, GRAPH_ARG_FLOAT, 0.5, NULL},
    {"float", "", "1e99", IN4, GRAPH_ARG_BROKEN, 0, "fits a float"},
    {"int", "0", "42", IN4, GRAPH_ARG_BROKEN, 0, "port-index=0 is set"},
    {"int", "", "unknown", IN4, GRAPH_ARG_BROKEN, 0,
     "layer GRN has no parameter 'unknown'; give it with --param unknown=…"},
    {"int", "", "-", IN4, GRAPH_ARG_BROKEN, 0, "not an integer"},
    {"int", "0", "I.X", IN4, GRAPH_ARG_INT, 512, NULL},
    {"int", "0", "I.b", IN4, GRAPH_ARG_INT, 1, NULL},
    {"float", "0", "O.Y", IN4, GRAPH_ARG_INT, 128, NULL},
    {"int", "0", "I.F", "in0=5x6x7", GRAPH_ARG_INT, 5, NULL},
    {"int", "0", "I.Y", "in0=5x6", GRAPH_ARG_INT, 5, NULL}, /* from the end */
    {"int", "0", "I.F", "in0=5x6", GRAPH_ARG_BROKEN, 0, "dimension F does not"},
    {"int", "0", "I.B", "in0=5x6x7", GRAPH_ARG_BROKEN, 0, "dimension B"},
    {"int", "", "I.X", IN4, GRAPH_ARG_BROKEN, 0, "port-index is missing"},
    {"int", "3", "I.X", IN4, GRAPH_ARG_BROKEN, 0, "input port 3 does not"},
    {"int", "1", "O.X", IN4, GRAPH_ARG_BROKEN, 0, "output port 1 does not"},
    {"int", "0", "I.Q", IN4, GRAPH_ARG_BROKEN, 0, "unable to deduce"},
    {"int", "0", "I.XY", IN4, GRAPH_ARG_BROKEN, 0, "unable to deduce"},
    {"int", "", "I1.X", IN4 " in1=2x9", GRAPH_ARG_INT, 9, NULL},
    {"int", "1", "I1.X", IN4 " in1=2x9", GRAPH_ARG_INT, 9, NULL},
    {"int", "0", "I1.X", IN4 " in1=2x9", GRAPH_ARG_BROKEN, 0, "it names port"},
    {"int", "", "O0.F", IN4, GRAPH_ARG_INT, 24, NULL},
    {"int", "", "O1.F", IN4, GRAPH_ARG_BROKEN, 0, "output port 1 does not"},
};

START_TEST(scalar_sources)
{
    char text[2048], port[32] = "";
    const graph_arg *arg;

    param("k=7"), param("real=3.75"), param("list=10,20,30");
    param("flag=true");
    if (*scalars[_i].port)
        snprintf(port, sizeof port, "port-index=\"%s\"", scalars[_i].port);
    snprintf(text, sizeof text,
             LAYER("",
                   SRC("ANY") "<Scalar arg-name=\"s\" type=\"%s\" %s "
                              "source=\"%s\"/>\n",
                   SIZES),
             scalars[_i].type, port, scalars[_i].source);
    ck_assert_msg(!bind_to(text, scalars[_i].shapes), "%s", err.msg);
    arg = &g->launches[0].args[g->launches[0].n_args - 1];
    ck_assert_msg((int)arg->kind == scalars[_i].kind, "case %d: %s", _i,
                  arg->why ? arg->why : "");
    if (arg->kind == GRAPH_ARG_INT)
        ck_assert_double_eq(arg->integer, scalars[_i].value);
    if (arg->kind == GRAPH_ARG_FLOAT)
        ck_assert_double_eq((double)arg->real, scalars[_i].value);
    if (arg->kind == GRAPH_ARG_BROKEN) {
        ck_assert_msg(strstr(arg->why, scalars[_i].why) != NULL, "%s",
                      arg->why);
        ck_assert_msg(!strncmp(arg->why, "l.xml:5: error: argument s", 26),
                      "%s", arg->why);
        ck_assert(graph_launch_arg(g->launches, "s", &arg, &err) ==
                  VPU_ERR_INVALID);
        ck_assert_ptr_null(arg);
        ck_assert_uint_eq(err.line, 5);
    }
}
END_TEST

/* --- errors -------------------------------------------------------------- */

#define BUFFER(kind, n, size)                                         \
    "<Tensor arg-name=\"b\" type=\"" kind "_buffer\" port-index=\"" n \
    "\" dim=\"input,0\" size=\"" size "\"/>\n"
#define GLOBAL(g, l) \
    "<WorkSizes dim=\"input,0\" global=\"" g "\" local=\"" l "\"/>"

static const struct {
    const char *text, *shapes;
    vpu_status st;
    const char *says;
} errors[] = {
    {LAYER("", SRC("ANY"), SIZES), "out0=1x2", VPU_ERR_INVALID,
     "no input shape is given"},
    {LAYER("", SRC("ANY"), SIZES), "in1=1x2", VPU_ERR_INVALID,
     "the shape of in0 is missing"},
    {LAYER("", SRC("ANY"), SIZES), "in0=1x2 in0=1x2", VPU_ERR_INVALID,
     "shape in0 is given twice"},
    {LAYER("", SRC("ANY"), SIZES), "in0=1x2 out1=1x2", VPU_ERR_INVALID,
     "exactly one output"},
    {LAYER("", SRC("BFYX"), SIZES), "in0=8", VPU_ERR_INVALID,
     "format BFYX needs a tensor of rank 4 or 5, in0 is f16 8"},
    {LAYER("", SRC("YXF"), SIZES), "in0=1x2x3x4x5", VPU_ERR_INVALID,
     "format YXF needs a tensor of rank 3"},
    {LAYER("", SRC("BFYX"), SIZES), "in0=2x3x4", VPU_ERR_INVALID,
     "l.xml:4: error: argument src: format BFYX needs a tensor of rank 4 or 5, "
     "in0 "
     "is f16 2x3x4"},
    {LAYER("", SRC("YXF"), SIZES), IN4, VPU_ERR_INVALID,
     "format YXF needs a tensor of rank 3"},
    {LAYER("", "<Tensor arg-name=\"i\" type=\"input\" port-index=\"1\"/>",
           SIZES),
     IN4, VPU_ERR_INVALID, "bound to input port 1, but layer GRN has 1 input"},
    {LAYER("", SRC("ANY"), GLOBAL("X/1000", "1")), IN4, VPU_ERR_INVALID,
     "l.xml:7: error: global size 'X/1000' of dimension 0 is 0; expected"},
    {LAYER("", SRC("ANY"), GLOBAL("X", "1,0-1")), IN4, VPU_ERR_INVALID,
     "local size '0-1' of dimension 1 is -1"},
    {LAYER("", SRC("ANY"), GLOBAL("X", "X*2")), IN4, VPU_ERR_INVALID,
     "below the local size 1024"},
    {LAYER("", SRC("ANY"), GLOBAL("X/0", "1")), IN4, VPU_ERR_INVALID,
     "l.xml:7:34: error: expression 'X/0': division by zero"},
    {LAYER("", SRC("ANY"), GLOBAL("X*kernel", "1")), IN4, VPU_ERR_INVALID,
     "unknown name 'kernel'"},
    {LAYER("<Where mode=\"fast\"/>", SRC("ANY"), SIZES), IN4, VPU_ERR_INVALID,
     "l.xml:1: Where mode=\"fast\" is not met: the parameter is missing"},
    {LAYER("", SRC("ANY"),
           "<WorkSizes dim=\"input,1\" global=\"1\" "
           "local=\"1\"/>"),
     IN4, VPU_ERR_INVALID, "l.xml:7: error: dim=\"input,1\": layer GRN has 1"},
    {LAYER("", SRC("ANY") BUFFER("input", "0", "4"), SIZES), IN4,
     VPU_ERR_INVALID, "reads buffer 0, which no earlier stage writes"},
    {LAYER("", SRC("ANY") BUFFER("output", "0", "4") BUFFER("output", "0", "4"),
           SIZES),
     IN4, VPU_ERR_INVALID, "two output_buffer bindings"},
    {LAYER("", SRC("ANY") BUFFER("output", "0", "X-X"), SIZES), IN4,
     VPU_ERR_INVALID, "size 'X-X' of argument b is 0; expected at least 1"},
    {LAYER("",
           "<Tensor arg-name=\"o\" type=\"output\" port-index=\"0\" "
           "format=\"BYXF\"/>",
           SIZES),
     IN4, VPU_ERR_INVALID, "another kernel or argument in a different order"},
    {LAYER("", SRC("ANY"),
           SIZES) "<CustomLayer name=\"B\" type=\"MVCL\" version=\"1\" "
                  "stage=\"1\">"
                  "<Kernel entry=\"k\"><Source filename=\"k.cl\"/></Kernel>"
                  "<Parameters/><WorkSizes global=\"1\" "
                  "local=\"1\"/></CustomLayer>",
     IN4, VPU_ERR_INVALID, "binds several layer types: GRN (line 1), B (line "},
    /* three of the flat form's sizes make a product, a fourth is too many */
    {"<CustomLayer name=\"B\" type=\"MVCL\" version=\"1\">"
     "<Kernel entry=\"k\"><Source filename=\"k.cl\"/></Kernel>"
     "<Parameters>" SRC("ANY")
         BUFFER("output", "0", "2,2,2,2") "</Parameters><WorkSizes "
                                          "global=\"1\" local=\"1\"/>"
                                          "</CustomLayer>",
     IN4, VPU_ERR_INVALID, "4 comma-separated parts, at most 3"},
    {"<CustomLayer name=\"B\" type=\"MVCL\" version=\"1\" stage=\"1\">"
     "<Kernel entry=\"k\"><Source filename=\"k.cl\"/></Kernel>"
     "<Parameters/><WorkSizes global=\"1\" local=\"1\"/></CustomLayer>",
     IN4, VPU_ERR_INVALID, "no stage 0 that suits"},
    {"<CustomLayer name=\"B\" type=\"MVCL\" version=\"1\">"
     "<Kernel entry=\"k\"><Source filename=\"k.cl\"/></Kernel>"
     "<Parameters/><WorkSizes global=\"1\" local=\"1\"/></CustomLayer>",
     IN4, VPU_ERR_INVALID, "no kernel of CustomLayer B has a Tensor of type"},
};

START_TEST(refuses)
{
    vpu_status st = bind_to(errors[_i].text, errors[_i].shapes);

    ck_assert_msg(st == errors[_i].st, "case %d: %d: %s", _i, st, err.msg);
    ck_assert_msg(strstr(err.msg, errors[_i].says) != NULL, "case %d: %s", _i,
                  err.msg);
    ck_assert_ptr_null(g);
}
END_TEST

START_TEST(remainder_warns)
{
    ck_assert(!bind_to(LAYER("", SRC("ANY"), GLOBAL("X", "100")), IN4));
    ck_assert_uint_eq(g->launches->global[0], 512);
    ck_assert_uint_eq(g->launches->local[0], 100);
    ck_assert_uint_eq(g->launches->local[2], 1);
    ck_assert_int_eq(test_log_count(&tlog, "warning: l.xml:7: dimension 0: "
                                           "global size 512 is not a multiple"),
                     1);
    ck_assert(!bind_to(LAYER("", SRC("ANY"), SIZES), "in0=2x4x4x4"));
    ck_assert_int_eq(test_log_count(&tlog, "in0 of layer"), 1);
    ck_assert(!bind_to(LAYER("", SRC("ANY"), SIZES), IN4 " in1=2x2"));
    ck_assert_int_eq(test_log_count(&tlog, "no kernel reads input 1"), 1);
}
END_TEST

START_TEST(first_edge_any_with_a_batch)
{
    ck_assert(!bind_to(LAYER("", SRC("ANY"), SIZES), "in0=2x4x4x4"));
    ck_assert_int_eq(test_log_count(&tlog, "fail to split it"), 1);
    ck_assert(!bind_to(LAYER("", SRC("BFYX"), SIZES), "in0=2x4x4x4"));
    ck_assert(!bind_to(LAYER("", SRC("ANY"), SIZES), "in0=1x4x4x4"));
    ck_assert_int_eq(test_log_count(&tlog, "fail to split it"), 1);
    strict = CONFIG_2022_1;
    ck_assert(!bind_to(LAYER("", SRC("BFYX"), SIZES), "in0=2x4x4x4"));
    ck_assert_int_eq(bind_to(LAYER("", SRC("ANY"), SIZES), "in0=2x4x4x4"),
                     VPU_ERR_PARSE);
    ck_assert_msg(strstr(err.msg, "l.xml:4: error: argument src: the first "
                                  "input of stage GRN has format ANY") != NULL,
                  "%s", err.msg);
}
END_TEST

START_TEST(selection)
{
    static const char text[] = LAYER("<Where mode=\"slow\"/>", SRC("BFYX"),
                                     SIZES)
        LAYER("<Where mode=\"fast\"/>", SRC("FYX"), GLOBAL("7", "1"))
            LAYER("<Where mode=\"fast\"/>", SRC("BFYX"), GLOBAL("X*k", "1"));

    param("mode=FAST"), param("k=2");
    ck_assert_msg(!bind_to(text, IN4), "%s", err.msg);
    ck_assert_uint_eq(g->launches->global[0], 1024);
    ck_assert_msg(!bind_to(text, "in0=2x3x4"), "%s", err.msg);
    ck_assert_uint_eq(g->launches->global[0], 7);
}
END_TEST

/* Of two implementations the first, whose kernels read the input in these
 * formats, is taken if they are the target's; else the second, which takes any.
 * A port that several kernels read has the first format that is not ANY. */
static const struct {
    const char *formats[3], *shape, *entry;
} by_format[] = {
    {{"ANY"}, "in0=2x3x4", "first"},
    {{"BFYX"}, "in0=2x3x4x5", "first"},
    {{"BFYX"}, "in0=2x2x3x4x5", "first"},
    {{"BFYX"}, "in0=2x3x4", "second"},
    {{"FYX"}, "in0=2x3x4", "first"},
    {{"FYX"}, "in0=2x3", "second"},
    {{"BF"}, "in0=3", "first"},
    {{"BF"}, "in0=2x3", "first"},
    {{"BF"}, "in0=2x3x4", "second"},
    {{"BYXF"}, "in0=2x3x4x5", "second"},
    {{"ANY", "BFYX"}, "in0=2x3x4", "second"},
    {{"ANY", "FYX"}, "in0=2x3x4", "first"},
    {{"ANY", "ANY", "FYX"}, "in0=2x3", "second"},
    {{"BFYX", "BYXF"}, "in0=2x3x4x5", "first"},
    {{"BYXF", "BFYX"}, "in0=2x3x4x5", "second"},
    {{"FYX", "BFYX"}, "in0=2x3x4x5", "second"},
    {{"BFYX", "ANY", "BYXF"}, "in0=2x3x4x5", "first"},
};

static void add_format_kernel(str *out, const char *entry, int stage,
                              const char *format)
{
    str_printf(out,
               "<Kernel entry=\"%s\" stage=\"%d\"><Source "
               "filename=\"k.cl\"/><Parameters>"
               "<Tensor arg-name=\"s\" type=\"input\" port-index=\"0\" "
               "format=\"%s\"/><Tensor arg-name=\"d\" type=\"output\" "
               "port-index=\"0\" format=\"ANY\"/></Parameters>"
               "<WorkSizes dim=\"input,0\" global=\"4\" local=\"1\"/></Kernel>",
               entry, stage, format);
}

START_TEST(selection_by_formats)
{
    static const char open[] =
        "<CustomLayer name=\"L\" type=\"MVCL\" version=\"1\">";
    str text = {0};

    str_puts(&text, open);
    for (int i = 0; i < 3 && by_format[_i].formats[i]; i++)
        add_format_kernel(&text, "first", i, by_format[_i].formats[i]);
    str_printf(&text, "</CustomLayer>\n%s", open);
    add_format_kernel(&text, "second", 0, "ANY");
    str_puts(&text, "</CustomLayer>\n");
    ck_assert_msg(!bind_to(str_text(&text), by_format[_i].shape), "%s",
                  err.msg);
    ck_assert_str_eq(g->launches[g->n_launches - 1].entry, by_format[_i].entry);
    str_free(&text);
}
END_TEST

START_TEST(selection_refuses_a_port)
{
    str text = {0};

    str_puts(&text, "<CustomLayer name=\"L\" type=\"MVCL\" version=\"1\">");
    add_format_kernel(&text, "k", 0, "ANY");
    str_puts(&text, "<Kernel entry=\"k\" stage=\"1\"><Source "
                    "filename=\"k.cl\"/><Parameters>\n"
                    "<Tensor arg-name=\"s\" type=\"input\" port-index=\"1\"/>"
                    "<Tensor arg-name=\"d\" type=\"output\" port-index=\"0\"/>"
                    "</Parameters><WorkSizes dim=\"input,0\" global=\"4\" "
                    "local=\"1\"/></Kernel>"
                    "</CustomLayer>");
    ck_assert_int_eq(bind_to(str_text(&text), "in0=2x3"), VPU_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(
        err.msg, "l.xml:2: error: argument s is bound to input port 1, but "
                 "layer L has 1 input"));
    str_free(&text);
}
END_TEST

#define LOCAL_DATA(size)                                         \
    LAYER("",                                                    \
          SRC("ANY") "<Data arg-name=\"l\" type=\"local_data\" " \
                     "dim=\"input,0\" size=\"" size "\"/>",      \
          SIZES)

/* Published bindings have arguments without memory behind them. */
START_TEST(local_data_of_no_bytes)
{
    const graph_arg *arg;

    ck_assert_msg(!bind_to(LOCAL_DATA("X-512"), IN4), "%s", err.msg);
    arg = &g->launches[0].args[2];
    ck_assert_int_eq(arg->kind, GRAPH_ARG_LOCAL);
    ck_assert_uint_eq(arg->bytes, 0);
    ck_assert_msg(!bind_to(LOCAL_DATA("X-513"), IN4), "%s", err.msg);
    arg = &g->launches[0].args[2];
    ck_assert_int_eq(arg->kind, GRAPH_ARG_BROKEN);
    ck_assert_ptr_nonnull(strstr(arg->why, "is -1; expected at least 0"));
}
END_TEST

START_TEST(stages_share_buffers)
{
    static const char text[] =
        "<CustomLayer name=\"MVN\" stage=\"1\" type=\"MVCL\" version=\"1\">"
        "<Kernel entry=\"two\"><Source filename=\"m.cl\"/></Kernel>"
        "<Parameters><Tensor arg-name=\"s\" type=\"input\" port-index=\"0\" "
        "format=\"BYXF\"/><Tensor arg-name=\"d\" type=\"output\" "
        "port-index=\"0\"/>" BUFFER(
            "input", "0",
            "Y*F,2") "</Parameters><WorkSizes dim=\"output\" global=\"Y\" "
                     "local=\"1\"/>"
                     "</CustomLayer>\n"
                     "<CustomLayer name=\"MVN\" stage=\"0\" type=\"MVCL\" "
                     "version=\"1\">"
                     "<Kernel entry=\"one\"><Source "
                     "filename=\"m.cl\"/></Kernel>"
                     "<Parameters>" SRC("BFYX")
                         BUFFER("output", "0",
                                "Y*F,4") "</Parameters><WorkSizes global=\"Y\" "
                                         "local=\"1\"/></CustomLayer>";

    ck_assert_msg(!bind_to(text, IN4), "%s", err.msg);
    ck_assert_str_eq(g->form, "flat");
    ck_assert_uint_eq(g->n_launches, 3);
    ck_assert_str_eq(g->launches[0].name, "MVN@stage_0");
    ck_assert_str_eq(g->launches[0].entry, "one");
    ck_assert_str_eq(g->launches[1].name, "MVN@stage_1@reorder-input-data=0");
    ck_assert_str_eq(g->launches[2].entry, "two");
    /* in0 plain, buffer0, in0 minor, out0 */
    ck_assert_uint_eq(g->n_buffers, 4);
    ck_assert_int_eq(g->buffers[1].role, GRAPH_SCRATCH);
    ck_assert_uint_eq(g->buffers[1].desc.dims[3], 128 * 24 * 4);
    ck_assert_uint_eq(g->buffers[1].bytes, 2 * 128 * 24 * 4);
    ck_assert(g->buffers[1].untyped);
    ck_assert_int_eq(g->buffers[2].role, GRAPH_SCRATCH);
    ck_assert(!g->buffers[2].untyped);
    ck_assert_int_eq(g->buffers[2].desc.layout, TENSOR_CHANNEL_MINOR);
    ck_assert_uint_eq(g->launches[0].args[1].buffer, 1);
    ck_assert_uint_eq(g->launches[2].args[2].buffer, 1);
    ck_assert(g->launches[0].args[1].written);
    ck_assert(!g->launches[2].args[2].written);
    ck_assert_int_eq(test_log_count(&tlog, "buffer 0 has 6144 halves here and "
                                           "12288 where it is first defined"),
                     1);
}
END_TEST

/* --- ranks --------------------------------------------------------------- */

static const struct {
    const char *format, *shape;
    uint32_t global[4]; /* B F Y X */
} ranks[] = {
    {"ANY", "in0=7", {1, 7, 1, 1}},
    {"BF", "in0=7", {1, 7, 1, 1}},
    {"BF", "in0=3x7", {3, 7, 1, 1}},
    {"FYX", "in0=3x7x5", {1, 3, 7, 5}},
    {"BFYX", "in0=2x3x7x5", {2, 3, 7, 5}},
    {"ANY", "in0=2x3x4x7x5", {2, 3, 7, 5}},
    {"BFYX", "in0=2x3x4x7x5", {2, 3, 7, 5}},
    {"BYXF", "in0=2x3x4x7x5", {2, 3, 7, 5}},
};

START_TEST(variables_by_rank)
{
    char text[2048];
    const uint32_t *want = ranks[_i].global;
    bool odd = strlen(ranks[_i].shape) < 6 || strlen(ranks[_i].shape) > 11;

    snprintf(text, sizeof text,
             LAYER("",
                   "<Tensor arg-name=\"src\" type=\"input\" "
                   "port-index=\"0\" format=\"%s\"/>\n",
                   GLOBAL("X,Y,F*8+B", "1")),
             ranks[_i].format);
    ck_assert_msg(!bind_to(text, ranks[_i].shape), "%s", err.msg);
    for (uint32_t i = 0; i < g->n_launches; i++)
        if (!strcmp(g->launches[i].name, "GRN")) {
            ck_assert_uint_eq(g->launches[i].global[0], want[3]);
            ck_assert_uint_eq(g->launches[i].global[1], want[2]);
            ck_assert_uint_eq(g->launches[i].global[2], want[1] * 8 + want[0]);
        }
    ck_assert_int_eq(test_log_count(&tlog, "a tensor of rank"), odd ? 2 : 0);
    strict = CONFIG_2021_3;
    ck_assert_int_eq(bind_to(text, ranks[_i].shape),
                     odd ? VPU_ERR_PARSE : VPU_OK);
    if (odd)
        ck_assert_ptr_nonnull(
            strstr(err.msg, "l.xml:1: error: in0 of layer GRN is f16"));
    strict = CONFIG_EVERY_RELEASE;
}
END_TEST

static const struct {
    const char *global;
    config_release strict;
    bool refused;
} uses[] = {
    {"round(X)", CONFIG_2020_4, false}, {"X*k", CONFIG_2020_4, false},
    {"X*real", CONFIG_2020_4, true},    {"X*real", CONFIG_2021_1, true},
    {"X*real", CONFIG_2021_2, false},   {"X*2.0", CONFIG_2021_1, true},
    {"X*2", CONFIG_2021_1, false},
};

START_TEST(expressions_by_release)
{
    char text[2048];

    param("k=2"), param("real=1.5");
    snprintf(text, sizeof text, LAYER("", SRC("ANY"), GLOBAL("%s", "1")),
             uses[_i].global);
    ck_assert_msg(!bind_to(text, IN4), "%s", err.msg);
    ck_assert_int_eq(test_log_count(&tlog, "cut it to an integer"),
                     strpbrk(uses[_i].global, ".l") ? 1 : 0);
    strict = uses[_i].strict;
    ck_assert_int_eq(bind_to(text, IN4),
                     uses[_i].refused ? VPU_ERR_PARSE : VPU_OK);
    if (uses[_i].refused)
        ck_assert_msg(strstr(err.msg, "l.xml:7:34: error: expression") != NULL,
                      "%s", err.msg);
}
END_TEST

START_TEST(flat_expressions)
{
    static const char text[] =
        "<CustomLayer name=\"B\" type=\"MVCL\" version=\"1\">"
        "<Kernel entry=\"k\"><Source filename=\"k.cl\"/></Kernel>"
        "<Parameters>" SRC("BFYX") "<Tensor arg-name=\"d\" type=\"output\" "
                                   "port-index=\"0\"/></Parameters>"
                                   "<WorkSizes global=\"X*k,Y\" "
                                   "local=\"1\"/></CustomLayer>";

    param("k=2");
    ck_assert_msg(!bind_to(text, IN4), "%s", err.msg);
    ck_assert_int_eq(test_log_count(&tlog, "know no names but b f y x B F Y X"),
                     1);
    strict = CONFIG_2020_2;
    ck_assert_int_eq(bind_to(text, IN4), VPU_ERR_PARSE);
}
END_TEST

/* --- models -------------------------------------------------------------- */

#define PORT(n, p, d) "<port id=\"" n "\" precision=\"" p "\">" d "</port>"
#define D4 "<dim>1</dim><dim>2</dim><dim>2</dim><dim>2</dim>"
#define D2 "<dim>2</dim><dim>1</dim>"

static const char model_text[] =
    "<net name=\"n\" version=\"10\"><layers>"
    "<layer id=\"0\" name=\"p\" type=\"Parameter\" "
    "version=\"opset1\"><output>" PORT(
        "0", "U8",
        D4) "</output></layer>"
            "<layer id=\"1\" name=\"c\" type=\"Const\" version=\"opset1\">"
            "<data offset=\"0\" size=\"8\" element_type=\"f32\"/><output>" PORT(
                "0", "FP32",
                D2) "</output></layer>"
                    "<layer id=\"2\" name=\"x\" type=\"grn\" "
                    "version=\"extension\">"
                    "<data k=\"5\"/><input>" PORT("0", "FP32", D4)
                        PORT("1", "FP32", D2) "</input><output>" PORT(
                            "2", "FP32",
                            D4) "</output>"
                                "<blobs><w offset=\"0\" size=\"8\" "
                                "precision=\"FP32\"/></blobs></layer>"
                                "</layers><edges>"
                                "<edge from-layer=\"0\" from-port=\"0\" "
                                "to-layer=\"2\" to-port=\"0\"/>"
                                "<edge from-layer=\"1\" from-port=\"0\" "
                                "to-layer=\"2\" to-port=\"1\"/>"
                                "</edges></net>";

START_TEST(a_layer_of_a_model)
{
    static const char binding[] = LAYER(
        "",
        SRC("BFYX") "<Tensor arg-name=\"c\" type=\"input\" port-index=\"1\" "
                    "format=\"BF\"/><Data arg-name=\"w\" type=\"data\" "
                    "source=\"w\"/><Data arg-name=\"v\" type=\"data\" "
                    "source=\"none\"/><Scalar arg-name=\"k\" type=\"int\" "
                    "source=\"k\"/>",
        SIZES);
    static const float weights[2] = {1.0f, -2.0f};
    static const uint16_t halves[2] = {0x3c00, 0xc000};
    config_model m;
    graph_request q = {.binding = &file, .model = &m};
    const graph_arg *arg;

    ck_assert(!config_file_parse(
        &(const file_bytes){binding, strlen(binding), "l.xml"}, a, NULL,
        CONFIG_EVERY_RELEASE, &file, &err));
    ck_assert_msg(
        !config_model_parse(
            &(const file_bytes){model_text, strlen(model_text), "m.xml"},
            &(const file_bytes){weights, sizeof weights, "m.bin"}, a, &m, &err),
        "%s", err.msg);
    ck_assert_msg(!graph_bind(&q, a, &tlog.sink, &g, &err), "%s", err.msg);
    ck_assert_str_eq(g->layer, "x");
    /* in0 as the model has it, as the kernel sees it, the constant... */
    ck_assert_uint_eq(g->n_buffers, 6);
    ck_assert_int_eq(g->buffers[0].desc.dtype, TENSOR_U8);
    ck_assert_str_eq(g->buffers[1].name, "in0@FP16");
    ck_assert_int_eq(g->buffers[1].desc.dtype, TENSOR_F16);
    ck_assert_int_eq(g->buffers[2].role, GRAPH_CONST);
    ck_assert_str_eq(g->buffers[2].name, "in1");
    ck_assert_mem_eq(g->buffers[2].init, halves, 4);
    ck_assert_str_eq(g->buffers[3].name, "out0@FP16");
    ck_assert_str_eq(g->buffers[4].name, "w");
    ck_assert_uint_eq(g->buffers[4].desc.rank, 1);
    ck_assert_mem_eq(g->buffers[4].init, halves, 4);
    ck_assert_str_eq(g->buffers[5].name, "out0");
    ck_assert_int_eq(g->buffers[5].role, GRAPH_OUTPUT);
    ck_assert_int_eq(g->buffers[5].desc.dtype, TENSOR_F32);
    ck_assert_uint_eq(g->n_launches, 3);
    ck_assert_str_eq(g->launches[0].name, "p@FP16");
    ck_assert_str_eq(g->launches[0].entry, "convert_u8_f16");
    ck_assert_str_eq(g->launches[1].name, "x");
    ck_assert_str_eq(g->launches[2].name, "x@FP32");
    ck_assert_str_eq(g->launches[2].entry, "convert_f16_f32");
    ck_assert(!graph_launch_arg(&g->launches[1], "k", &arg, &err));
    ck_assert_int_eq(arg->integer, 5);
    ck_assert(graph_launch_arg(&g->launches[1], "v", &arg, &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "layer x has no blob 'none'"));
    param("k=6");
    q.params = params;
    q.n_params = 1;
    q.at = "x";
    ck_assert(!graph_bind(&q, a, &tlog.sink, &g, &err));
    ck_assert(!graph_launch_arg(&g->launches[1], "k", &arg, &err));
    ck_assert_int_eq(arg->integer, 6);
    q.at = "nope";
    ck_assert_int_eq(graph_bind(&q, a, NULL, &g, &err), VPU_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(err.msg, "no layer named 'nope'"));
    q.at = "p";
    ck_assert_int_eq(graph_bind(&q, a, NULL, &g, &err), VPU_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(err.msg, "of type Parameter, which l.xml"));
}
END_TEST

/* --- texts, inputs, outputs ---------------------------------------------- */

static const struct {
    const char *text, *says;
} bad_shapes[] = {
    {"in0", "'=' is missing"},
    {"x0=1", "names neither"},
    {"in=1x2", "the port is not a number"},
    {"in9999=1", "the port is not a number"},
    {"in0=", "a dim is not a number"},
    {"in0=1x", "a dim is not a number"},
    {"in0=1x-2", "a dim is not a number"},
    {"in0=4294967296", "a dim is not a number"},
    {"in0=0x2", "dim 0 of the tensor is 0"},
    {"in0=1x2x3x4x5x6", "more than 5 dims"},
    {"in0=1x2:f64", "the element type"},
    {"in0=1x2,3", "unexpected text"},
    {"in0=4294967295x4294967295x4294967295", "4 GiB"},
};

START_TEST(shape_texts)
{
    graph_shape s;
    config_param p;

    ck_assert(!graph_shape_parse("out0=1x24:i64", &s, &err));
    ck_assert(s.output && s.port == 0 && s.desc.rank == 2 &&
              s.desc.dims[1] == 24 && s.desc.dtype == TENSOR_I64);
    for (size_t i = 0; i < sizeof bad_shapes / sizeof *bad_shapes; i++) {
        ck_assert(graph_shape_parse(bad_shapes[i].text, &s, &err) != VPU_OK);
        ck_assert_msg(strstr(err.msg, bad_shapes[i].says) &&
                          strstr(err.msg, bad_shapes[i].text),
                      "%s", err.msg);
    }
    ck_assert(!graph_param_parse("a==b", a, &p, &err));
    ck_assert_str_eq(p.name, "a");
    ck_assert_str_eq(p.value, "=b");
    ck_assert(graph_param_parse("ab", a, &p, &err) == VPU_ERR_INVALID);
    ck_assert(graph_param_parse("=b", a, &p, &err) == VPU_ERR_INVALID);
}
END_TEST

START_TEST(input_fill)
{
    graph_buffer b = {
        .name = "in0",
        .desc = {.dtype = TENSOR_F16, .rank = 3, .dims = {4, 5, 30}}};
    uint16_t plain[600], minor[600], back[600];
    int8_t bytes[600];

    b.bytes = 1200;
    ck_assert(!graph_input_fill(&b, "ramp", plain, &err));
    for (int i = 0; i < 600; i++)
        ck_assert(tensor_f16_to_f32(plain[i]) == (float)(i % 256) / 256);
    ck_assert(!graph_input_fill(&b, "random:7", plain, &err));
    b.desc.layout = TENSOR_CHANNEL_MINOR;
    ck_assert(!graph_input_fill(&b, "random:0x7", minor, &err));
    tensor_relayout(&b.desc, minor, TENSOR_PLAIN, back);
    ck_assert_mem_eq(plain, back, 1200);
    for (int i = 0; i < 600; i++)
        ck_assert(tensor_f16_to_f32(plain[i]) >= -1 &&
                  tensor_f16_to_f32(plain[i]) <= 1);
    b.port = 1;
    ck_assert(!graph_input_fill(&b, "random:7", back, &err));
    ck_assert_mem_ne(minor, back, 1200);
    b.desc.dtype = TENSOR_I8;
    b.desc.layout = TENSOR_PLAIN;
    b.bytes = 600;
    ck_assert(!graph_input_fill(&b, "ramp", bytes, &err));
    ck_assert_int_eq(bytes[0], -128);
    ck_assert_int_eq(bytes[255], 127);
    ck_assert(!graph_input_fill(&b, "zeros", bytes, &err));
    ck_assert_int_eq(bytes[255], 0);
    ck_assert_int_eq(graph_input_fill(&b, "random", bytes, &err),
                     VPU_ERR_INVALID);
    ck_assert_int_eq(graph_input_fill(&b, "random:x", bytes, &err),
                     VPU_ERR_INVALID);
    ck_assert_int_eq(graph_input_fill(&b, "/nowhere.npy", bytes, &err),
                     VPU_ERR_IO);
}
END_TEST

START_TEST(files)
{
    char dir[] = "/tmp/bind_testXXXXXX";
    uint16_t in[8], out[8], again[8];
    void *data[3] = {NULL, NULL, in};
    char *path, *sub;
    graph_buffer b;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert(!bind_to(LAYER("", SRC("BYXF"), SIZES), "in0=1x2x2x2"));
    ck_assert(!graph_input_fill(&g->buffers[2], "ramp", in, &err));
    sub = arena_printf(a, "%s/new/deep", dir);
    ck_assert_msg(!graph_output_save(sub, g, data, &err), "%s", err.msg);
    path = arena_printf(a, "%s/out0.npy", sub);
    b = g->buffers[1]; /* the same shape, channels innermost */
    b.name = "in0";
    ck_assert_msg(!graph_input_fill(&b, path, out, &err), "%s", err.msg);
    tensor_relayout(&b.desc, out, TENSOR_PLAIN, again);
    ck_assert_mem_eq(in, again, sizeof in);
    b.desc.dims[1] = 1;
    ck_assert_int_eq(graph_input_fill(&b, path, out, &err), VPU_ERR_MISMATCH);
    ck_assert_ptr_nonnull(
        strstr(err.msg, "the file is f16 1x2x2x2, in0 wants f16 1x1x2x2"));
    b = g->buffers[0];
    b.desc.dtype = TENSOR_I16;
    ck_assert_int_eq(graph_input_fill(&b, path, out, &err), VPU_ERR_MISMATCH);
    unlink(path), rmdir(sub), rmdir(arena_printf(a, "%s/new", dir)), rmdir(dir);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("bind");
    TCase *t = tcase_create("bind");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, notes_of_the_layer_alone, 0, 2);
    tcase_add_test(t, a_layer_by_hand);
    tcase_add_loop_test(t, scalar_sources, 0, sizeof scalars / sizeof *scalars);
    tcase_add_loop_test(t, refuses, 0, sizeof errors / sizeof *errors);
    tcase_add_test(t, remainder_warns);
    tcase_add_test(t, first_edge_any_with_a_batch);
    tcase_add_test(t, selection);
    tcase_add_loop_test(t, selection_by_formats, 0,
                        sizeof by_format / sizeof *by_format);
    tcase_add_test(t, selection_refuses_a_port);
    tcase_add_test(t, local_data_of_no_bytes);
    tcase_add_test(t, stages_share_buffers);
    tcase_add_loop_test(t, variables_by_rank, 0, sizeof ranks / sizeof *ranks);
    tcase_add_loop_test(t, expressions_by_release, 0,
                        sizeof uses / sizeof *uses);
    tcase_add_test(t, flat_expressions);
    tcase_add_test(t, a_layer_of_a_model);
    tcase_add_test(t, shape_texts);
    tcase_add_test(t, input_fill);
    tcase_add_test(t, files);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
