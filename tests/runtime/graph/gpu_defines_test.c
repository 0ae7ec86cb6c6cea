/* Macros and work sizes of SimpleGPU layers. Every expected number was worked
 * out on paper from the plug-in's documented rules. */
#include "runtime/graph/gpu_defines.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/bind.h"
#include "tests/support/util.h"

static arena *a;
static test_log tlog;
static config_file file;
static vpu_error err;
static graph *g;
static const graph_launch *launch; /* of the layer's kernel */
static config_param params[8];
static size_t n_params;
static graph_padding pads[4];
static size_t n_pads;

static void setup(void)
{
    a = arena_create(0);
    test_log_init(&tlog);
}

static void teardown(void)
{
    test_log_fini(&tlog);
    arena_destroy(a);
}

static void param(const char *name, const char *value)
{
    params[n_params++] = (config_param){name, value};
}

static void pad(const char *text)
{
    ck_assert(!graph_padding_parse(text, &pads[n_pads++], &err));
}

/* Binds the text to shapes, blanks between them. */
static vpu_status bind_to(const char *text, const char *shapes)
{
    graph_shape s[8];
    graph_request q = {.binding = &file,
                       .shapes = s,
                       .params = params,
                       .n_params = n_params,
                       .paddings = pads,
                       .n_paddings = n_pads};
    char *copy = arena_strdup(a, shapes);
    vpu_status st;

    for (char *p = strtok(copy, " "); p; p = strtok(NULL, " "))
        ck_assert_msg(!graph_shape_parse(p, &s[q.n_shapes++], &err), "%s",
                      err.msg);
    ck_assert_msg(
        !config_file_parse(&(const file_bytes){text, strlen(text), "g.xml"}, a,
                           NULL, CONFIG_EVERY_RELEASE, &file, &err),
        "%s", err.msg);
    st = graph_bind(&q, a, &tlog.sink, &g, &err);
    launch = NULL;
    for (uint32_t i = 0; !st && i < g->n_launches; i++)
        if (g->launches[i].macros) {
            ck_assert_ptr_null(launch);
            launch = &g->launches[i];
        }
    return st;
}

#define LAYER(defines, tensors, sizes)                            \
    "<CustomLayer name=\"L\" type=\"SimpleGPU\" version=\"1\">\n" \
    "<Kernel entry=\"k\"><Source filename=\"k.cl\"/>\n" defines   \
    "</Kernel>\n<Buffers>\n" tensors "</Buffers>\n" sizes "</CustomLayer>\n"
#define TENSOR(index, type, port, format)                                  \
    "<Tensor arg-index=\"" index "\" type=\"" type "\" port-index=\"" port \
    "\" format=\"" format "\"/>\n"
#define TWO(format)                   \
    TENSOR("0", "input", "0", format) \
    TENSOR("1", "input", "1", format) TENSOR("2", "output", "0", format)
#define ONE(format) \
    TENSOR("0", "input", "0", format) TENSOR("1", "output", "0", format)

/* --- built-in macros ----------------------------------------------------- */

/* Two inputs and an output, all 2x3x4x5: in0 of f16 with one element in front
 * and two behind a line, a line above and one below (6 lines of 8); in1 of f32
 * without; out0 of i32 with one behind and two above (6 lines of 6). */
#define TEXT(format, pitches0, offset0, pitches1, pitches2, offset2) \
    "#define NUM_INPUTS 2\n"                                         \
    "#define GLOBAL_WORKSIZE_SIZE 1\n"                               \
    "#define GLOBAL_WORKSIZE (ulong []){ 120, } \n"                  \
    "#define LOCAL_WORKSIZE_SIZE 0\n"                                \
    "#define LOCAL_WORKSIZE (ulong []){  } \n"                       \
    "#define INPUT0_DIMS_SIZE 4\n"                                   \
    "#define INPUT0_DIMS (int []){ 2,3,4,5, } \n"                    \
    "#define INPUT0_TYPE half\n"                                     \
    "#define INPUT0_FORMAT_" format " \n"                            \
    "#define INPUT0_LOWER_PADDING_SIZE 4\n"                          \
    "#define INPUT0_LOWER_PADDING (int []){ 0,0,1,1, } \n"           \
    "#define INPUT0_UPPER_PADDING_SIZE 4\n"                          \
    "#define INPUT0_UPPER_PADDING (int []){ 0,0,1,2, } \n"           \
    "#define INPUT0_PITCHES_SIZE 4\n"                                \
    "#define INPUT0_PITCHES (int []){ " pitches0 ", } \n"            \
    "#define INPUT0_OFFSET " offset0 "\n"                            \
    "#define INPUT1_DIMS_SIZE 4\n"                                   \
    "#define INPUT1_DIMS (int []){ 2,3,4,5, } \n"                    \
    "#define INPUT1_TYPE float\n"                                    \
    "#define INPUT1_FORMAT_" format " \n"                            \
    "#define INPUT1_LOWER_PADDING_SIZE 4\n"                          \
    "#define INPUT1_LOWER_PADDING (int []){ 0,0,0,0, } \n"           \
    "#define INPUT1_UPPER_PADDING_SIZE 4\n"                          \
    "#define INPUT1_UPPER_PADDING (int []){ 0,0,0,0, } \n"           \
    "#define INPUT1_PITCHES_SIZE 4\n"                                \
    "#define INPUT1_PITCHES (int []){ " pitches1 ", } \n"            \
    "#define INPUT1_OFFSET 0\n"                                      \
    "#define OUTPUT0_DIMS_SIZE 4\n"                                  \
    "#define OUTPUT0_DIMS (int []){ 2,3,4,5, } \n"                   \
    "#define OUTPUT0_TYPE int\n"                                     \
    "#define OUTPUT0_FORMAT_" format " \n"                           \
    "#define OUTPUT0_LOWER_PADDING_SIZE 4\n"                         \
    "#define OUTPUT0_LOWER_PADDING (int []){ 0,0,2,0, } \n"          \
    "#define OUTPUT0_UPPER_PADDING_SIZE 4\n"                         \
    "#define OUTPUT0_UPPER_PADDING (int []){ 0,0,0,1, } \n"          \
    "#define OUTPUT0_PITCHES_SIZE 4\n"                               \
    "#define OUTPUT0_PITCHES (int []){ " pitches2 ", } \n"           \
    "#define OUTPUT0_OFFSET " offset2 "\n"

static const struct {
    const char *layer, *text;
    uint64_t elements[3]; /* padded: 2*3*6*8, 2*3*4*5, 2*3*6*6 */
} formats[] = {
    {LAYER("", TWO("BFYX"), ""),
     TEXT("BFYX", "144,48,8,1", "9", "60,20,5,1", "108,36,6,1", "12"),
     {288, 120, 216}},
    {LAYER("", TWO("byxf"), ""),
     TEXT("BYXF", "144,1,24,3", "27", "60,1,15,3", "108,1,18,3", "36"),
     {288, 120, 216}},
    {LAYER("", TWO("YXFB"), ""),
     TEXT("YXFB", "1,2,48,6", "54", "1,2,30,6", "1,2,36,6", "72"),
     {288, 120, 216}},
    {LAYER("", TWO("fyxb"), ""),
     TEXT("FYXB", "1,96,16,2", "18", "1,40,10,2", "1,72,12,2", "24"),
     {288, 120, 216}},
    /* ANY is the host's order, and that has a name. */
    {LAYER("", TWO("ANY"), ""),
     TEXT("BFYX", "144,48,8,1", "9", "60,20,5,1", "108,36,6,1", "12"),
     {288, 120, 216}}};

START_TEST(all_of_a_format)
{
    static const char shapes[] = "in0=2x3x4x5 in1=2x3x4x5:f32 out0=2x3x4x5:i32";
    static const unsigned bytes[] = {2, 4, 4};

    pad("in0=1,2,1,1");
    pad("out0=0,1,2,0");
    ck_assert_msg(!bind_to(formats[_i].layer, shapes), "%s", err.msg);
    ck_assert_str_eq(launch->macros, formats[_i].text);
    ck_assert(launch->by_index);
    ck_assert_uint_eq(launch->n_args, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(g->buffers[launch->args[i].buffer].bytes,
                          formats[_i].elements[i] * bytes[i]);
}
END_TEST

/* The reference's own numbers: 2,3,4,5, padded 1 and 2 below, 1 and 1 above. */
START_TEST(padded_lines)
{
    pad("in0=2,1,1,1");
    ck_assert_msg(!bind_to(LAYER("", ONE("BFYX"), ""), "in0=2x3x4x5"), "%s",
                  err.msg);
    ck_assert_ptr_nonnull(strstr(
        launch->macros, "#define INPUT0_PITCHES (int []){ 144,48,8,1, } \n"
                        "#define INPUT0_OFFSET 10\n"));
    ck_assert_ptr_nonnull(strstr(
        launch->macros, "#define OUTPUT0_PITCHES (int []){ 60,20,5,1, } \n"
                        "#define OUTPUT0_OFFSET 0\n"));
}
END_TEST

/* Inputs and output in an order of their own; one that no Tensor binds is ANY;
 * an output of ANY has the first input's. */
START_TEST(formats_of_their_own)
{
    static const char text[] = LAYER("",
                                     TENSOR("0", "input", "0", "YXFB")
                                         TENSOR("1", "output", "0", "BYXF"),
                                     "");
    static const char any[] = LAYER(
        "", TENSOR("0", "input", "0", "FYXB") TENSOR("1", "output", "0", "ANY"),
        "");

    ck_assert_msg(!bind_to(text, "in0=2x3x4x5 in1=6x7:u8"), "%s", err.msg);
    ck_assert_ptr_nonnull(strstr(launch->macros, "#define NUM_INPUTS 2\n"));
    ck_assert_ptr_nonnull(
        strstr(launch->macros, "#define INPUT0_FORMAT_YXFB \n"));
    ck_assert_ptr_nonnull(strstr(launch->macros,
                                 "#define INPUT1_DIMS (int []){ 6,7,1,1, } \n"
                                 "#define INPUT1_TYPE uchar\n"
                                 "#define INPUT1_FORMAT_BFYX \n"));
    ck_assert_ptr_nonnull(
        strstr(launch->macros, "#define OUTPUT0_FORMAT_BYXF \n"));
    ck_assert_int_eq(
        test_log_count(&tlog, "warning: g.xml:1: no Tensor binds input 1 of "
                              "layer L: the plug-in refuses such a layer"),
        1);
    ck_assert_msg(!bind_to(any, "in0=2x3x4x5"), "%s", err.msg);
    ck_assert_ptr_nonnull(
        strstr(launch->macros, "#define OUTPUT0_FORMAT_FYXB \n"));
    ck_assert_ptr_nonnull(strstr(
        launch->macros, "#define OUTPUT0_PITCHES (int []){ 1,40,10,2, } \n"));
}
END_TEST

static const struct {
    const char *type, *word; /* NULL: none */
} types[] = {{"f16", "half"}, {"f32", "float"}, {"i32", "int"}, {"i64", "long"},
             {"i8", "char"},  {"u8", "uchar"},  {"i16", NULL},  {"u16", NULL}};

START_TEST(element_types)
{
    vpu_status st = bind_to(LAYER("", ONE("BFYX"), ""),
                            arena_printf(a, "in0=2x3x4x5:%s", types[_i].type));

    if (!types[_i].word) {
        ck_assert_int_eq(st, VPU_ERR_INVALID);
        ck_assert_str_eq(
            err.msg,
            arena_printf(a,
                         "g.xml:1: error: the tensor %s 2x3x4x5: the GPU "
                         "plug-in has no type for such elements; it knows f16 "
                         "f32 i32 i64 i8 u8",
                         types[_i].type));
        return;
    }
    ck_assert_msg(!st, "%s", err.msg);
    ck_assert_ptr_nonnull(
        strstr(launch->macros,
               arena_printf(a, "#define INPUT0_TYPE %s\n", types[_i].word)));
    ck_assert_ptr_nonnull(
        strstr(launch->macros,
               arena_printf(a, "#define OUTPUT0_TYPE %s\n", types[_i].word)));
}
END_TEST

static const struct {
    const char *shape, *layer, *dims, *pitches;
} ranks[] = {{"in0=5", LAYER("", ONE("BFYX"), ""), "5,1,1,1", "1,1,1,1"},
             {"in0=7x5", LAYER("", ONE("BFYX"), ""), "7,5,1,1", "5,1,1,1"},
             {"in0=7x5x3", LAYER("", ONE("BFYX"), ""), "7,5,3,1", "15,3,1,1"},
             {"in0=7x5", LAYER("", ONE("YXFB"), ""), "7,5,1,1", "1,7,35,35"},
             {"in0=7x5x3", LAYER("", ONE("FYXB"), ""), "7,5,3,1", "1,21,7,7"},
             {"in0=7x5x3", LAYER("", ONE("BYXF"), ""), "7,5,3,1", "15,1,5,5"},
             {"in0=1x1x1x1", LAYER("", ONE("YXFB"), ""), "1,1,1,1", "1,1,1,1"}};

START_TEST(lower_ranks)
{
    static const char *const who[] = {"INPUT0", "OUTPUT0"};

    ck_assert_msg(!bind_to(ranks[_i].layer, ranks[_i].shape), "%s", err.msg);
    for (int i = 0; i < 2; i++) {
        ck_assert_ptr_nonnull(
            strstr(launch->macros,
                   arena_printf(a, "#define %s_DIMS (int []){ %s, } \n", who[i],
                                ranks[_i].dims)));
        ck_assert_ptr_nonnull(
            strstr(launch->macros,
                   arena_printf(a, "#define %s_PITCHES (int []){ %s, } \n",
                                who[i], ranks[_i].pitches)));
    }
}
END_TEST

/* --- Define -------------------------------------------------------------- */

/* What stands behind the last of the built-in macros. */
static const char *own_macros(void)
{
    static const char last[] = "#define OUTPUT0_OFFSET 0\n";
    const char *at = strstr(launch->macros, last);

    ck_assert_ptr_nonnull(at);
    return at + strlen(last);
}

START_TEST(defines)
{
    param("i", "3");
    param("f", "-0.5");
    param("list", "1,2,3");
    param("reals", "0.5,1e-3f");
    param("empty", "");
    param("flag", "true");
    ck_assert_msg(
        !bind_to(LAYER("<Define name=\"A\" type=\"int\" param=\"i\"/>"
                       "<Define name=\"B\" type=\"float\" param=\"f\" "
                       "default=\"7\"/>"
                       "<Define name=\"C\" type=\"int[]\" param=\"list\"/>"
                       "<Define name=\"D\" type=\"float[]\" param=\"reals\"/>"
                       "<Define name=\"E\" param=\"flag\" default=\"\"/>"
                       "<Define name=\"F\" type=\"int\" param=\"no\" "
                       "default=\"42\"/>"
                       "<Define name=\"G\" type=\"int[]\" param=\"no\" "
                       "default=\"4,5\"/>"
                       "<Define name=\"H\" param=\"no\" default=\"\"/>"
                       "<Define name=\"I\" type=\"float[]\" param=\"no\" "
                       "default=\"\"/>"
                       "<Define name=\"J\"/>"
                       "<Define name=\"K 3\"/>"
                       "<Define name=\"SQ(a) ((a)*(a))\"/>"
                       "<Define name=\"T\" default=\"half\"/>"
                       "<Define name=\"L\" type=\"int\" param=\"empty\" "
                       "default=\"9\"/>"
                       "<Define name=\"M\" param=\"I\" default=\"b\"/>"
                       "<Define name=\"A\" default=\"twice\"/>"
                       "<Define name=\"N\" default=\"a &amp; b\" type=\"\"/>",
                       ONE("BFYX"), ""),
                 "in0=2x3x4x5"),
        "%s", err.msg);
    ck_assert_str_eq(own_macros(), "#define A 3\n"
                                   "#define B -0.5\n"
                                   "#define C (int[]) {1,2,3}\n"
                                   "#define D (float[]) {0.5,1e-3f}\n"
                                   "#define E true\n"
                                   "#define F 42\n"
                                   "#define G (int[]) {4,5}\n"
                                   "#define H \n"
                                   "#define I (float[]) {}\n"
                                   "#define J \n"
                                   "#define K 3 \n"
                                   "#define SQ(a) ((a)*(a)) \n"
                                   "#define T half\n"
                                   "#define L \n"
                                   "#define M b\n"
                                   "#define A twice\n"
                                   "#define N a & b\n");
}
END_TEST

static const struct {
    const char *define, *says;
} wrong_defines[] = {
    {"\n  <Define name=\"S\" param=\"slope\"/>",
     "g.xml:4:27: error: Define S: the layer has no parameter 'slope', and "
     "there is no default; give it with --param slope=\xe2\x80\xa6"},
    {"<Define name=\"A\" default=\"\"/><Define name=\"S\" type=\"int[]\" "
     "param=\"Given\"/>",
     "g.xml:3:67: error: Define S: the layer has no parameter 'Given', and "
     "there is no default; give it with --param Given=\xe2\x80\xa6"},
    {" <Define name=\"S\" default=\"1&#10;#error\"/>",
     "g.xml:3:2: error: Define S: its value goes over the end of a line"},
    {"<Define name=\"S\" default=\"1\\\"/>",
     "g.xml:3:1: error: Define S: its value goes over the end of a line"},
    {"<Define name=\"S\" param=\"given\"/>",
     "g.xml:3:1: error: Define S: its value goes over the end of a line"}};

START_TEST(refuses_a_define)
{
    const char *text = LAYER("@", ONE("BFYX"), ""), *at = strchr(text, '@');

    param("given", "1\r2");
    ck_assert_int_eq(bind_to(arena_printf(a, "%.*s%s%s", (int)(at - text), text,
                                          wrong_defines[_i].define, at + 1),
                             "in0=2x3x4x5"),
                     VPU_ERR_INVALID);
    ck_assert_str_eq(err.msg, wrong_defines[_i].says);
}
END_TEST

/* --- work sizes ---------------------------------------------------------- */

static const struct {
    const char *attributes, *shapes;
    const char *n_global, *global, *n_local, *local;
    unsigned launched[6]; /* global, local */
} sizes[] = {
    /* None: one for each element of the output, whatever dim is. */
    {"",
     "in0=1x8x4x6 out0=2x3x4x5",
     "1",
     "120,",
     "0",
     "",
     {120, 1, 1, 120, 1, 1}},
    {"dim=\"input\"",
     "in0=1x8x4x6 out0=2x3x4x5",
     "1",
     "120,",
     "0",
     "",
     {120, 1, 1, 120, 1, 1}},
    {"", "in0=7x11", "1", "77,", "0", "", {77, 1, 1, 77, 1, 1}},
    {"global=\"X,Y,B*F\"",
     "in0=1x8x4x6 out0=2x3x4x5",
     "3",
     "5,4,6,",
     "0",
     "",
     {5, 4, 6, 5, 1, 1}},
    {"global=\"X,Y,B*F\" dim=\"output\"",
     "in0=1x8x4x6 out0=2x3x4x5",
     "3",
     "5,4,6,",
     "0",
     "",
     {5, 4, 6, 5, 1, 1}},
    {"global=\"X,Y,B*F\" dim=\"input\"",
     "in0=1x8x4x6 out0=2x3x4x5",
     "3",
     "6,4,8,",
     "0",
     "",
     {6, 4, 8, 6, 1, 1}},
    {"global=\"X,Y,B*F\" dim=\"input,1\"",
     "in0=1x8x4x6 in1=3x5x9x2 out0=2x3x4x5",
     "3",
     "2,9,15,",
     "0",
     "",
     {2, 9, 15, 2, 1, 1}},
    /* The output's dims are counted from the first, missing ones are 1. */
    {"global=\"B,F,Y*X\"",
     "in0=7x5x3",
     "3",
     "7,5,3,",
     "0",
     "",
     {7, 5, 3, 7, 1, 1}},
    {"global=\"B,F,Y+X\"",
     "in0=7x5",
     "3",
     "7,5,2,",
     "0",
     "",
     {7, 5, 2, 7, 1, 1}},
    {"global=\"B,F+Y,X\"", "in0=9", "3", "9,2,1,", "0", "", {9, 2, 1, 9, 1, 1}},
    /* An input's from the last, as many as the output has, others are 0. */
    {"global=\"X,Y,F+B+1\" dim=\"input\"",
     "in0=2x3x4x5 out0=7x9",
     "3",
     "5,4,1,",
     "0",
     "",
     {5, 4, 1, 5, 1, 1}},
    {"global=\"X,Y,F+B*9\" dim=\"input\"",
     "in0=2x3x4x5 out0=7x9x2",
     "3",
     "5,4,3,",
     "0",
     "",
     {5, 4, 3, 5, 1, 1}},
    {"global=\"X,Y+1\" dim=\"input\"",
     "in0=2x3x4x5 out0=9",
     "2",
     "5,1,",
     "0",
     "",
     {5, 1, 1, 5, 1, 1}},
    {"global=\"X,Y,F+B+1\" dim=\"input\"",
     "in0=6x8",
     "3",
     "8,6,1,",
     "0",
     "",
     {8, 6, 1, 8, 1, 1}},
    /* Local sizes; without, the largest divisor up to 512 that is a multiple
     * of 8, else the largest. */
    {"global=\"X*8,Y\" local=\"8,Y/2\"",
     "in0=2x3x4x5",
     "2",
     "40,4,",
     "2",
     "8,2,",
     {40, 4, 1, 8, 2, 1}},
    {"global=\"X*8,Y,B\" local=\"8\"",
     "in0=2x3x4x5",
     "3",
     "40,4,2,",
     "1",
     "8,",
     {40, 4, 2, 8, 1, 1}},
    {"global=\"X*8,Y,B\" local=\"4,2,1\" dim=\"input\"",
     "in0=2x3x4x5",
     "3",
     "40,4,2,",
     "3",
     "4,2,1,",
     {40, 4, 2, 4, 2, 1}},
    {"local=\"F*4\"",
     "in0=2x3x4x5",
     "1",
     "120,",
     "1",
     "12,",
     {120, 1, 1, 12, 1, 1}},
    {"global=\"1024,3\"",
     "in0=2x3x4x5",
     "2",
     "1024,3,",
     "0",
     "",
     {1024, 3, 1, 512, 1, 1}},
    {"global=\"1000\"",
     "in0=2x3x4x5",
     "1",
     "1000,",
     "0",
     "",
     {1000, 1, 1, 200, 1, 1}},
    {"global=\"521\"",
     "in0=2x3x4x5",
     "1",
     "521,",
     "0",
     "",
     {521, 1, 1, 1, 1, 1}}};

START_TEST(work_sizes)
{
    const char *text = LAYER("", ONE("BFYX"), "<WorkSizes @/>\n");
    const char *at = strchr(text, '@');

    ck_assert_msg(!bind_to(arena_printf(a, "%.*s%s%s", (int)(at - text), text,
                                        sizes[_i].attributes, at + 1),
                           sizes[_i].shapes),
                  "%s", err.msg);
    ck_assert_ptr_nonnull(
        strstr(launch->macros,
               arena_printf(a,
                            "#define GLOBAL_WORKSIZE_SIZE %s\n"
                            "#define GLOBAL_WORKSIZE (ulong []){ %s } \n"
                            "#define LOCAL_WORKSIZE_SIZE %s\n"
                            "#define LOCAL_WORKSIZE (ulong []){ %s } \n",
                            sizes[_i].n_global, sizes[_i].global,
                            sizes[_i].n_local, sizes[_i].local)));
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(launch->global[i], sizes[_i].launched[i]);
        ck_assert_uint_eq(launch->local[i], sizes[_i].launched[3 + i]);
    }
    ck_assert_int_eq(test_log_count(&tlog,
                                    "note: g.xml:2: no local size is given: "
                                    "work-groups have "),
                     *sizes[_i].n_local == '0');
}
END_TEST

static const struct {
    const char *attributes, *shapes, *says;
} wrong_sizes[] = {
    {"dim=\"input,1\" global=\"X\"", "in0=2x3x4x5",
     ":8: error: dim=\"input,1\": layer L has 1 input"},
    {"dim=\"input,2\"", "in0=2x3x4x5 in1=2x3x4x5",
     ":8: error: dim=\"input,2\": layer L has 2 inputs"},
    {"dim=\"input\" global=\"X\"", "in0=3x4 out0=2x3x4x5",
     ":8: error: dim=\"input,0\": the input is f16 3x4, the output f16 "
     "2x3x4x5; the plug-in counts as many dims of the input as the output "
     "has"},
    {"dim=\"input\" global=\"X,Y,B*F\"", "in0=3x4",
     ":8:36: error: global=\"X,Y,B*F\": size 2 is 0; expected at least 1"},
    {"global=\"X/(Y-4)\"", "in0=2x3x4x5",
     ":8:21: error: global=\"X/(Y-4)\": division by zero"},
    {"global=\"X\" local=\"X,1\"", "in0=2x3x4x5",
     ":8: error: local=\"X,1\" has more sizes than the global one, which has "
     "1"},
    {"local=\"8,1\"", "in0=2x3x4x4",
     ":8: error: local=\"8,1\" has more sizes than the global one, which has "
     "1"},
    {"global=\"X,Y\" local=\"1,3\"", "in0=2x3x4x5",
     ":8: error: dimension 1: global size 4 is not a multiple of the local "
     "size 3, which an OpenCL device refuses (local=\"1,3\")"},
    {"", "in0=2x3x2x4x5",
     ":1: error: the tensor f16 2x3x2x4x5 has five dims; the GPU plug-in "
     "knows no pitches for them"},
};

START_TEST(refuses_sizes)
{
    const char *text = LAYER("", ONE("BFYX"), "<WorkSizes @/>\n");
    const char *at = strchr(text, '@');

    ck_assert_int_eq(bind_to(arena_printf(a, "%.*s%s%s", (int)(at - text), text,
                                          wrong_sizes[_i].attributes, at + 1),
                             wrong_sizes[_i].shapes),
                     VPU_ERR_INVALID);
    ck_assert_str_eq(err.msg, arena_printf(a, "g.xml%s", wrong_sizes[_i].says));
}
END_TEST

/* --- what fits ----------------------------------------------------------- */

START_TEST(limits)
{
    graph_gpu_tensor t = {.dims = {1, 1, 65536, 65536},
                          .format = CONFIG_BFYX,
                          .dtype = TENSOR_U8};

    /* 2^32 elements are more than a pitch or an offset can say. */
    ck_assert_int_eq(graph_gpu_place(&t, &err), VPU_ERR_LIMIT);
    t.dims[3] = 65535;
    ck_assert(!graph_gpu_place(&t, &err));
    ck_assert_uint_eq(t.elements, 65536ull * 65535);
    ck_assert_uint_eq(t.at.pitches[0], 65536u * 65535u);
    for (int i = 0; i < 4; i++) {
        graph_gpu_tensor wide = {
            .dims = {1, 1, 1, 1}, .format = CONFIG_YXFB, .dtype = TENSOR_I64};

        wide.lower[i] = wide.upper[i] = UINT32_MAX;
        ck_assert_int_eq(graph_gpu_place(&wide, NULL), VPU_ERR_LIMIT);
    }
    pad("in0=65535,65535,65535,65535");
    ck_assert_int_eq(bind_to(LAYER("", ONE("BFYX"), ""), "in0=2x3x4x5"),
                     VPU_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(err.msg,
                                 "g.xml:1: error: f16 2x3x4x5 has more than "
                                 "2147483648 elements with its "
                                 "padding"));
}
END_TEST

static const struct {
    const char *pad, *says;
} ports[] = {{"in1=1,1,1,1", "a padding of in1 is given, but layer L has no "
                             "such input"},
             {"out1=1,1,1,1", "a padding of out1 is given, but layer L has no "
                              "such output"}};

START_TEST(paddings_of_what_is_not_there)
{
    pad(ports[_i].pad);
    ck_assert_int_eq(bind_to(LAYER("", ONE("BFYX"), ""), "in0=2x3x4x5"),
                     VPU_ERR_INVALID);
    ck_assert_str_eq(err.msg,
                     arena_printf(a, "g.xml:1: error: %s", ports[_i].says));
}
END_TEST

/* The last of one tensor's paddings counts, as that of any option. */
START_TEST(padding_given_twice)
{
    pad("in0=9,9,9,9");
    pad("in0=2,1,1,1");
    ck_assert_msg(!bind_to(LAYER("", ONE("BFYX"), ""), "in0=2x3x4x5"), "%s",
                  err.msg);
    ck_assert_ptr_nonnull(strstr(launch->macros, "#define INPUT0_OFFSET 10\n"));
}
END_TEST

static const char *const not_paddings[] = {"",
                                           "in0",
                                           "in0=",
                                           "in0=1",
                                           "in0=1,2",
                                           "in0=1,2,3",
                                           "in0=1,2,3,4,5",
                                           "in0=1,2,3,-4",
                                           "in=1,1,1,1",
                                           "x0=1,1,1,1",
                                           "in0=1,2,3,",
                                           "in0=a,2,3,4",
                                           "in0=1, 2,3,4",
                                           "in0=1,2,3,4294967296",
                                           "out=0,0,0,0",
                                           "in-1=0,0,0,0"};

START_TEST(refuses_a_padding)
{
    graph_padding p;

    ck_assert_int_eq(graph_padding_parse(not_paddings[_i], &p, &err),
                     VPU_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(err.msg, not_paddings[_i]));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("gpu_defines");
    TCase *t = tcase_create("gpu_defines");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, all_of_a_format, 0,
                        sizeof formats / sizeof *formats);
    tcase_add_test(t, padded_lines);
    tcase_add_test(t, formats_of_their_own);
    tcase_add_loop_test(t, element_types, 0, sizeof types / sizeof *types);
    tcase_add_loop_test(t, lower_ranks, 0, sizeof ranks / sizeof *ranks);
    tcase_add_test(t, defines);
    tcase_add_loop_test(t, refuses_a_define, 0,
                        sizeof wrong_defines / sizeof *wrong_defines);
    tcase_add_loop_test(t, work_sizes, 0, sizeof sizes / sizeof *sizes);
    tcase_add_loop_test(t, refuses_sizes, 0,
                        sizeof wrong_sizes / sizeof *wrong_sizes);
    tcase_add_test(t, limits);
    tcase_add_loop_test(t, paddings_of_what_is_not_there, 0,
                        sizeof ports / sizeof *ports);
    tcase_add_test(t, padding_given_twice);
    tcase_add_loop_test(t, refuses_a_padding, 0,
                        sizeof not_paddings / sizeof *not_paddings);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
