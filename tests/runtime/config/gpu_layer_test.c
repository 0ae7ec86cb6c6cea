/* Binding files of SimpleGPU layers: what is read, every error to the letter,
 * layers that replace others, the formulas of work sizes. */
#include "runtime/config/gpu.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/util.h"

static arena *a;
static test_log tlog;
static config_file file;
static vpu_error err;

static void setup(void)
{
    a = arena_create(0);
    test_log_init(&tlog);
    memset(&err, 0, sizeof err);
}

static void teardown(void)
{
    test_log_fini(&tlog);
    arena_destroy(a);
}

static vpu_status parse_as(const char *path, const char *text, config_file *out)
{
    return config_file_parse(&(const file_bytes){text, strlen(text), path}, a,
                             &tlog.sink, CONFIG_EVERY_RELEASE, out, &err);
}

static vpu_status parse(const char *text)
{
    vpu_status st = parse_as("dir/g.xml", text, &file);

    for (size_t i = 0; i < file.n_layers && !st; i++)
        config_layer_tell(&file.layers[i], &tlog.sink);
    return st;
}

/* Ten lines; the tests below replace a piece of them. */
#define HEAD "<CustomLayer name=\"Scale\" type=\"SimpleGPU\" version=\"1\">\n"
#define KERNEL "  <Kernel entry=\"scale\">\n"
#define SOURCE "    <Source filename=\"scale.cl\"/>\n"
#define BUFFERS "  <Buffers>\n"
#define INPUT "    <Tensor arg-index=\"0\" type=\"input\" port-index=\"0\"/>\n"
#define OUTPUT \
    "    <Tensor arg-index=\"1\" type=\"output\" port-index=\"0\"/>\n"
#define SIZES "  <WorkSizes global=\"X,Y,B*F\"/>\n"
#define TAIL "</CustomLayer>\n"
#define LAYER                                               \
    HEAD KERNEL SOURCE "  </Kernel>\n" BUFFERS INPUT OUTPUT \
                       "  </Buffers>\n" SIZES TAIL

/* text with the first `old` replaced. */
static const char *changed(const char *text, const char *old, const char *by)
{
    const char *at = strstr(text, old);

    ck_assert_msg(at != NULL, "the text has no %s", old);
    return arena_printf(a, "%.*s%s%s", (int)(at - text), text, by,
                        at + strlen(old));
}

/* --- what is read -------------------------------------------------------- */

START_TEST(defaults)
{
    const config_layer *l;
    const config_kernel *k;

    ck_assert_msg(!parse(LAYER), "%s", err.msg);
    ck_assert_uint_eq(file.n_layers, 1);
    l = file.layers;
    ck_assert_str_eq(l->type, "Scale");
    ck_assert_int_eq(l->form, CONFIG_FORM_GPU);
    ck_assert_str_eq(config_form_name(l->form), "gpu");
    ck_assert_int_eq(l->stage, -1);
    ck_assert_str_eq(l->path, "dir/g.xml");
    ck_assert_uint_eq(l->line, 1);
    ck_assert_uint_eq(l->n_where, 0);
    ck_assert_uint_eq(l->n_kernels, 1);
    k = l->kernels;
    ck_assert_str_eq(k->entry, "scale");
    ck_assert_uint_eq(k->line, 2);
    ck_assert_uint_eq(k->stage, 0);
    ck_assert_uint_eq(k->max_shaves, 0);
    ck_assert_uint_eq(k->n_sources, 1);
    ck_assert_str_eq(k->sources[0], "dir/scale.cl");
    ck_assert_uint_eq(k->n_defines, 0);
    ck_assert_uint_eq(k->n_bindings, 2);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(k->bindings[i].kind, i ? CONFIG_OUTPUT : CONFIG_INPUT);
        ck_assert_int_eq(k->bindings[i].format, CONFIG_BFYX);
        ck_assert_int_eq(k->bindings[i].index, i);
        ck_assert_int_eq(k->bindings[i].port, 0);
        ck_assert_uint_eq(k->bindings[i].line, 6 + i);
        ck_assert_str_eq(k->bindings[i].arg, i ? "1" : "0");
    }
    ck_assert(k->dim.output);
    ck_assert_str_eq(k->global.text, "X,Y,B*F");
    ck_assert_uint_eq(k->global.line, 9);
    ck_assert_ptr_null(k->local.text);
    ck_assert_ptr_null(k->options.text);
    ck_assert_int_eq(test_log_count(&tlog, ""), 0);
    /* All of WorkSizes is optional, and the element itself. */
    ck_assert(!parse(changed(LAYER, SIZES, "")));
    ck_assert_ptr_null(file.layers->kernels->global.text);
    ck_assert(file.layers->kernels->dim.output);
    ck_assert(!parse(changed(LAYER, " global=\"X,Y,B*F\"",
                             " global=\"\" local=\"\" dim=\"\"")));
    ck_assert_ptr_null(file.layers->kernels->global.text);
    ck_assert_ptr_null(file.layers->kernels->local.text);
    ck_assert(file.layers->kernels->dim.output);
    ck_assert_int_eq(test_log_count(&tlog, ""), 0);
}
END_TEST

START_TEST(everything)
{
    static const char text[] =
        "\xef\xbb\xbf<?xml version=\"1.0\"?>\n"
        "<!-- <CustomLayer/> --> stray\n"
        "<CustomLayer version=\"1\" type=\"SimpleGPU\" name=\"P,Q r\">\n"
        "  <WorkSizes local=\"8,1\" dim=\"input,2\" global=\"X,Y\"/>\n"
        "  <!-- between -->\n"
        "  <CompilerOptions options=\" -cl-mad-enable  -DK=1 \"/>\n"
        "  <Buffers>\n"
        "    <Tensor format=\"fyxb\" arg-index=\"3\" type=\"output\"\n"
        "            port-index=\"0\"/>\n"
        "    <Tensor arg-index=\"0\" port-index=\"2\" type=\"input\" "
        "format=\"BYXF\"/>\n"
        "    <Tensor arg-index=\" +2\" port-index=\"0\" type=\"input\" "
        "format=\"any\"/>\n"
        "    <Tensor arg-index=\"1\" port-index=\"1\" type=\"input\" "
        "format=\"YXFB\"/>\n"
        "  </Buffers>\n"
        "  <Kernel entry=\"p\">\n"
        "    <Define name=\"A\" type=\"int\" param=\"a\" default=\"1\"/>\n"
        "    <Source filename=\"k/a.cl\"/>\n"
        "    <Define name=\"B\" type=\"float\" param=\"b\"/>\n"
        "    <Define name=\"C\" type=\"int[]\" default=\"\"/>\n"
        "    <Source filename=\"/abs/b.cl\"/>\n"
        "    <Define name=\"D 3\" type=\"float[]\" default=\"1,2\"/>\n"
        "    <Define name=\"E(x) ((x)&amp;2&lt;1 &quot;&apos;&#x3e;)\"/>\n"
        "  </Kernel>\n"
        "</CustomLayer>";
    static const int formats[] = {CONFIG_BYXF, CONFIG_YXFB, CONFIG_ANY,
                                  CONFIG_FYXB};
    static const int ports[] = {2, 1, 0, 0}, lines[] = {10, 12, 11, 8};
    static const struct {
        const char *name, *param, *preset, *type;
        bool array;
        unsigned line;
    } defines[] = {{"A", "a", "1", "int", false, 15},
                   {"B", "b", NULL, "float", false, 17},
                   {"C", NULL, "", "int", true, 18},
                   {"D 3", NULL, "1,2", "float", true, 20},
                   {"E(x) ((x)&2<1 \"'>)", NULL, NULL, NULL, false, 21}};
    const config_kernel *k;

    ck_assert_msg(!parse(text), "%s", err.msg);
    ck_assert_int_eq(test_log_count(&tlog, ""), 0);
    ck_assert_str_eq(file.layers->type, "P,Q r");
    ck_assert_uint_eq(file.layers->line, 3);
    k = file.layers->kernels;
    ck_assert_uint_eq(k->n_bindings, 4);
    for (int i = 0; i < 4; i++) { /* in the order of the arguments */
        ck_assert_int_eq(k->bindings[i].index, i);
        ck_assert_int_eq(k->bindings[i].format, formats[i]);
        ck_assert_int_eq(k->bindings[i].port, ports[i]);
        ck_assert_uint_eq(k->bindings[i].line, lines[i]);
        ck_assert_int_eq(k->bindings[i].kind,
                         i < 3 ? CONFIG_INPUT : CONFIG_OUTPUT);
    }
    ck_assert_uint_eq(k->n_sources, 2);
    ck_assert_str_eq(k->sources[0], "dir/k/a.cl");
    ck_assert_str_eq(k->sources[1], "/abs/b.cl");
    ck_assert_uint_eq(k->n_defines, 5);
    for (int i = 0; i < 5; i++) {
        const config_define *d = &k->defines[i];

        ck_assert_str_eq(d->name, defines[i].name);
        ck_assert_pstr_eq(d->param.text, defines[i].param);
        ck_assert_pstr_eq(d->preset.text, defines[i].preset);
        ck_assert_pstr_eq(d->type, defines[i].type);
        ck_assert_int_eq(d->array, defines[i].array);
        ck_assert_uint_eq(d->line, defines[i].line);
        ck_assert_uint_eq(d->col, 5);
    }
    ck_assert_str_eq(k->options.text, " -cl-mad-enable  -DK=1 ");
    ck_assert_str_eq(k->global.text, "X,Y");
    ck_assert_str_eq(k->local.text, "8,1");
    ck_assert(!k->dim.output);
    ck_assert_uint_eq(k->dim.index, 2);
    ck_assert_uint_eq(k->dim.line, 4);
}
END_TEST

static const struct {
    const char *text;
    bool output;
    unsigned index;
} dims[] = {{"output", true, 0},
            {"input", false, 0},
            {"input,0", false, 0},
            {"input,1", false, 1},
            {"input,12", false, 12}};

START_TEST(dim_sources)
{
    ck_assert_msg(!parse(changed(
                      LAYER, "<WorkSizes",
                      arena_printf(a, "<WorkSizes dim=\"%s\"", dims[_i].text))),
                  "%s", err.msg);
    ck_assert_int_eq(file.layers->kernels->dim.output, dims[_i].output);
    ck_assert_uint_eq(file.layers->kernels->dim.index, dims[_i].index);
}
END_TEST

/* --- errors -------------------------------------------------------------- */

/* LAYER with one piece replaced: the whole message. */
static const struct {
    const char *old, *by, *says;
} errors[] = {
    /* the head */
    {"SimpleGPU", "simplegpu",
     "1:33: error: type is not MVCL, but simplegpu (CustomLayer Scale); "
     "expected SimpleGPU, to the letter"},
    {"SimpleGPU", "SimpleGpu",
     "1:33: error: type is not MVCL, but SimpleGpu (CustomLayer Scale); "
     "expected SimpleGPU, to the letter"},
    {"SimpleGPU", "GPU",
     "1:33: error: type is not MVCL, but GPU (CustomLayer Scale); expected "
     "MVCL or SimpleGPU"},
    {"\"Scale\"", "\"\"", "1:20: error: name is empty"},
    {" name=\"Scale\"", "",
     "1:1: error: node CustomLayer is missing mandatory attribute name"},
    {" version=\"1\"", "",
     "1:1: error: node CustomLayer is missing mandatory attribute version"},
    {"version=\"1\"", "version=\"2\"",
     "1:53: error: only version 1 is supported, found 2"},
    {"version=\"1\"", "version=\"1.0\"",
     "1:53: error: version=\"1.0\" is not an integer of 32 bits"},
    {"version=\"1\"", "version=\"\"",
     "1:53: error: version=\"\" is not an integer of 32 bits"},
    {"<CustomLayer", "<Customlayers",
     "10:15: error: Opening and ending tag mismatch: Customlayers line 1 and "
     "CustomLayer"},
    /* Kernel */
    {KERNEL SOURCE "  </Kernel>\n", "",
     "1:1: error: SimpleGPU layer Scale has no Kernel"},
    {KERNEL SOURCE "  </Kernel>\n", "<kernel/>",
     "1:1: error: SimpleGPU layer Scale has no Kernel; is it 'kernel', "
     "misspelt?"},
    {" entry=\"scale\"", "",
     "2:3: error: node Kernel is missing mandatory attribute entry"},
    {"entry=\"scale\"", "enty=\"scale\"",
     "2:3: error: node Kernel is missing mandatory attribute entry; is it "
     "'enty', misspelt?"},
    {"entry=\"scale\"", "entry=\"\"", "2:18: error: entry of Kernel is empty"},
    {SOURCE, "",
     "2:3: error: required parameter Source is not found in Kernel"},
    {" filename=\"scale.cl\"", "",
     "3:5: error: node Source is missing mandatory attribute filename"},
    {"filename=\"scale.cl\"", "filename=\"\"",
     "3:23: error: filename of Source is empty"},
    /* Define */
    {SOURCE, SOURCE "    <Define/>\n",
     "4:5: error: node Define is missing mandatory attribute name"},
    {SOURCE, SOURCE "    <Define name=\"\"/>\n",
     "4:19: error: name of Define is empty"},
    {SOURCE, SOURCE "    <Define name=\"3D\"/>\n",
     "4:19: error: Define name=\"3D\"; expected a macro's name first"},
    {SOURCE, SOURCE "    <Define name=\" A\"/>\n",
     "4:19: error: Define name=\" A\"; expected a macro's name first"},
    {SOURCE, SOURCE "    <Define name=\"A&#10;#error b\"/>\n",
     "4:19: error: Define A: its name goes over the end of a line"},
    /* Buffers */
    {BUFFERS INPUT OUTPUT "  </Buffers>\n", "",
     "1:1: error: SimpleGPU layer Scale has no Buffers"},
    {BUFFERS INPUT OUTPUT "  </Buffers>\n", "<Buffer/>",
     "1:1: error: SimpleGPU layer Scale has no Buffers; is it 'Buffer', "
     "misspelt?"},
    {INPUT OUTPUT, "",
     "5:3: error: Buffers of SimpleGPU layer Scale has no Tensor"},
    {INPUT, "    <Data name=\"w\" arg-index=\"0\"/>\n",
     "6:5: error: Data is not read by the plug-in since 2021.3: weights are "
     "inputs of the layer, bound with Tensor type=\"input\""},
    {"arg-index=\"0\" ", "",
     "6:5: error: node Tensor is missing mandatory attribute arg-index"},
    {"arg-index=\"0\" ", "arg-name=\"0\" ",
     "6:5: error: node Tensor is missing mandatory attribute arg-index"},
    {"arg-index=\"0\" ", "arg-index=\"\" ",
     "6:24: error: arg-index of Tensor is empty"},
    {"arg-index=\"0\" ", "arg-index=\"-1\" ",
     "6:24: error: arg-index=\"-1\"; expected at least 0"},
    {"arg-index=\"0\" ", "arg-index=\"1.0\" ",
     "6:24: error: arg-index=\"1.0\" is not an integer of 32 bits"},
    {"arg-index=\"0\" ", "arg-index=\"0x1\" ",
     "6:24: error: arg-index=\"0x1\" is not an integer of 32 bits"},
    {"arg-index=\"0\" ", "arg-index=\"256\" ",
     "6:24: error: arg-index=\"256\"; expected at most 255"},
    {"arg-index=\"0\" ", "arg-index=\"1\" ",
     "7:24: error: arg-index=\"1\" is bound twice; the other is in line 6"},
    {"arg-index=\"1\" ", "arg-index=\"2\" ",
     "7:24: error: arg-index=\"2\", but no Tensor binds argument 1"},
    {"arg-index=\"0\" ", "arg-index=\"2\" ",
     "7:24: error: arg-index=\"1\", but no Tensor binds argument 0"},
    {" type=\"input\"", "",
     "6:5: error: node Tensor is missing mandatory attribute type"},
    {"type=\"input\"", "type=\"\"", "6:33: error: type of Tensor is empty"},
    {"type=\"input\"", "type=\"Input\"",
     "6:33: error: Tensor node has an invalid type 'Input'; expected input or "
     "output"},
    {"type=\"input\"", "type=\"input_buffer\"",
     "6:33: error: Tensor node has an invalid type 'input_buffer'; expected "
     "input or output"},
    {" port-index=\"0\"", "",
     "6:5: error: node Tensor is missing mandatory attribute port-index"},
    {"port-index=\"0\"", "port-index=\"-2\"",
     "6:52: error: port-index=\"-2\"; expected at least 0"},
    {"port-index=\"0\"", "port-index=\"a\"",
     "6:52: error: port-index=\"a\" is not an integer of 32 bits"},
    {"port-index=\"0\"", "port-indx=\"0\"",
     "6:5: error: node Tensor is missing mandatory attribute port-index; is it "
     "'port-indx', misspelt?"},
    {"port-index=\"0\"", "port-index=\"0\" format=\"NCHW\"",
     "6:63: error: format=\"NCHW\"; expected BFYX, BYXF, YXFB, FYXB or ANY"},
    {"port-index=\"0\"", "port-index=\"0\" format=\"BFYXBFYX\"",
     "6:63: error: format=\"BFYXBFYX\"; expected BFYX, BYXF, YXFB, FYXB or "
     "ANY"},
    {"port-index=\"0\"", "port-index=\"0\" format=\"Bfyx\"",
     "6:63: error: format=\"Bfyx\": the plug-in knows the letters all upper or "
     "all lower case; expected BFYX"},
    {"port-index=\"0\"", "port-index=\"0\" format=\"Any\"",
     "6:63: error: format=\"Any\": the plug-in knows the letters all upper or "
     "all lower case; expected ANY"},
    {OUTPUT,
     "    <Tensor arg-index=\"1\" type=\"input\" port-index=\"0\" "
     "format=\"BYXF\"/>\n",
     "7:24: error: input 0 is bound as BYXF here and as BFYX in line 6; expected "
     "one format"},
    {INPUT,
     "    <Tensor arg-index=\"0\" type=\"output\" port-index=\"0\" "
     "format=\"yxfb\"/>\n",
     "7:24: error: output 0 is bound as BFYX here and as YXFB in line 6; expected "
     "one format"},
    /* WorkSizes */
    {"<WorkSizes", "<WorkSizes dim=\"input 1\"",
     "9:19: error: dim=\"input 1\"; expected output, input, or input,N with a "
     "comma"},
    {"<WorkSizes", "<WorkSizes dim=\"Input\"",
     "9:19: error: dim=\"Input\"; expected output, input, or input,N with a "
     "comma"},
    {"<WorkSizes", "<WorkSizes dim=\"output,0\"",
     "9:19: error: dim=\"output,0\"; expected output, input, or input,N with a "
     "comma"},
    {"<WorkSizes", "<WorkSizes dim=\"X\"",
     "9:19: error: dim=\"X\"; expected output, input, or input,N with a comma"},
    {"<WorkSizes", "<WorkSizes dim=\"input,-1\"",
     "9:19: error: dim=\"input,-1\": '-1' is not an input"},
    {"<WorkSizes", "<WorkSizes dim=\"input,\"",
     "9:19: error: dim=\"input,\": '' is not an input"},
    {"<WorkSizes", "<WorkSizes dim=\"input,a\"",
     "9:19: error: dim=\"input,a\": 'a' is not an input"},
    {"X,Y,B*F", "X,Y+,F",
     "9:26: error: global=\"X,Y+,F\": a value is missing; expected a number, "
     "B, F, Y, X or '('"},
    /* The column of a value behind one with references, and in it. */
    {"<WorkSizes", "<WorkSizes dim='&amp;' a = \"'>'\" ",
     "9:19: error: dim=\"&\"; expected output, input, or input,N with a comma"},
    {"<WorkSizes global=\"X,Y,B*F\"",
     "<WorkSizes a='\"&lt;' b = \"'>&amp;\"\n local=\"8,1&amp;\"",
     "10:12: error: local=\"8,1&\": found '&'; expected an operator"},
    /* A piece behind one that has no size when each letter is 1. */
    {"X,Y,B*F", "X-1,Y/(F-1),Y*",
     "9:36: error: global=\"X-1,Y/(F-1),Y*\": a value is missing; expected a "
     "number, B, F, Y, X or '('"},
};

START_TEST(refuses)
{
    ck_assert_msg(parse(changed(LAYER, errors[_i].old, errors[_i].by)) ==
                      VPU_ERR_PARSE,
                  "%s is taken", errors[_i].by);
    ck_assert_str_eq(err.msg, arena_printf(a, "dir/g.xml:%s", errors[_i].says));
}
END_TEST

/* --- warnings ------------------------------------------------------------ */

static const struct {
    const char *old, *by, *says;
} remarks[] = {
    {"entry=\"scale\"", "entry=\"scale\" max-shaves=\"4\"",
     "warning: dir/g.xml:2: unknown attribute max-shaves of Kernel is ignored"},
    {SOURCE, SOURCE "<Parameters/>",
     "warning: dir/g.xml:4: unknown element Parameters in Kernel is ignored"},
    {SOURCE, SOURCE "<Define name=\"A\" type=\"half\"/>",
     "warning: dir/g.xml:4: type=\"half\" of Define A means nothing; the types "
     "are int, float, int[] and float[]"},
    {SOURCE, SOURCE "<Define name=\"A\" value=\"1\"/>",
     "warning: dir/g.xml:4: unknown attribute value of Define is ignored"},
    {SIZES, SIZES "<WorkSizes global=\"?\"/>",
     "warning: dir/g.xml:10: only the first WorkSizes of a CustomLayer counts; "
     "this one is ignored"},
    {SIZES, SIZES "<Kernel/>",
     "warning: dir/g.xml:10: only the first Kernel of a CustomLayer counts; "
     "this one is ignored"},
    {SIZES, "<CompilerOptions/><CompilerOptions options=\"-w\"/>" SIZES,
     "warning: dir/g.xml:9: only the first CompilerOptions of a CustomLayer "
     "counts; this one is ignored"},
    {SIZES, "<CompilerOptions option=\"-w\"/>" SIZES,
     "warning: dir/g.xml:9: unknown attribute option of CompilerOptions is "
     "ignored"},
    {SIZES, SIZES "<Where a=\"1\"/>",
     "warning: dir/g.xml:10: unknown element Where in CustomLayer is ignored"},
    {"<WorkSizes", "<WorkSizes dims=\"input\"",
     "warning: dir/g.xml:9: unknown attribute dims of WorkSizes is ignored"},
    {"type=\"output\" port-index=\"0\"", "type=\"output\" port-index=\"3\"",
     "warning: dir/g.xml:7: output port-index=\"3\" is not used: a custom "
     "layer has exactly one output"},
    {INPUT, INPUT "<Tensors/>",
     "warning: dir/g.xml:7: unknown element Tensors in Buffers is ignored"},
    {"port-index=\"0\"", "port-index=\"0\" arg-name=\"src\"",
     "warning: dir/g.xml:6: unknown attribute arg-name of Tensor is ignored"}};

START_TEST(warns_once)
{
    ck_assert_msg(!parse(changed(LAYER, remarks[_i].old, remarks[_i].by)), "%s",
                  err.msg);
    ck_assert_str_eq(str_text(&tlog.lines),
                     arena_printf(a, "%s\n", remarks[_i].says));
}
END_TEST

/* Twice the same port, or the output, in one format is two arguments. */
START_TEST(one_tensor_in_two_arguments)
{
    const config_kernel *k;

    ck_assert_msg(!parse(changed(LAYER, OUTPUT,
                                 OUTPUT "<Tensor arg-index=\"2\" "
                                        "type=\"output\" port-index=\"0\"/>"
                                        "<Tensor arg-index=\"3\" "
                                        "type=\"input\" port-index=\"0\"/>")),
                  "%s", err.msg);
    k = file.layers->kernels;
    ck_assert_uint_eq(k->n_bindings, 4);
    ck_assert_int_eq(k->bindings[2].kind, CONFIG_OUTPUT);
    ck_assert_int_eq(k->bindings[3].port, 0);
}
END_TEST

/* --- several layers ------------------------------------------------------ */

#define MVCL                                                         \
    "<CustomLayer name=\"Scale\" type=\"MVCL\" version=\"1\">\n"     \
    "  <Kernel entry=\"m\"><Source filename=\"m.cl\"/><Parameters/>" \
    "<WorkSizes dim=\"input,0\" global=\"1\" local=\"1\"/></Kernel>\n" TAIL

START_TEST(a_later_layer_replaces)
{
    const char *later = changed(LAYER, "\"scale\"", "\"scale2\"");

    ck_assert_msg(!parse(arena_printf(a, "%s<!-- x -->y\n%s%s", LAYER, later,
                                      changed(LAYER, "Scale", "scale"))),
                  "%s", err.msg);
    ck_assert_uint_eq(file.n_layers, 2);
    ck_assert_str_eq(file.layers[0].kernels->entry, "scale2");
    ck_assert_uint_eq(file.layers[0].line, 12);
    ck_assert_str_eq(file.layers[1].type, "scale");
    ck_assert_str_eq(str_text(&tlog.lines),
                     "note: dir/g.xml:1: CustomLayer Scale is replaced by the "
                     "one in dir/g.xml:12\n");
}
END_TEST

START_TEST(beside_a_layer_of_mvcl)
{
    ck_assert_msg(!parse(MVCL LAYER MVCL), "%s", err.msg);
    ck_assert_uint_eq(file.n_layers, 3);
    ck_assert_int_eq(file.layers[0].form, CONFIG_FORM_NESTED);
    ck_assert_int_eq(file.layers[1].form, CONFIG_FORM_GPU);
    ck_assert_int_eq(file.layers[2].form, CONFIG_FORM_NESTED);
    ck_assert_int_eq(test_log_count(&tlog, "replaced"), 0);
    /* MVCL's rule that no attribute is empty is not that of SimpleGPU. */
    ck_assert(!parse(changed(LAYER, "B*F\"", "B*F\" local=\"\"")));
    ck_assert(parse(changed(MVCL, "local=\"1\"", "local=\"\"")));
    /* The name's case: any for MVCL. */
    ck_assert(!parse(MVCL LAYER));
    ck_assert(config_layer_is_for(&file.layers[0], "SCALE"));
    ck_assert(config_layer_is_for(&file.layers[1], "Scale"));
    ck_assert(!config_layer_is_for(&file.layers[1], "SCALE"));
    ck_assert(!config_layer_is_for(&file.layers[1], "scale"));
}
END_TEST

START_TEST(several_files)
{
    config_file files[3], all;

    ck_assert(!parse_as("a.xml", arena_printf(a, "%s%s", MVCL, LAYER), files));
    ck_assert(
        !parse_as("b/b.xml", changed(LAYER, "Scale", "Other"), files + 1));
    ck_assert(
        !parse_as("c.xml",
                  arena_printf(a, "%s%s", changed(LAYER, "Scale", "Third"),
                               changed(LAYER, "scale", "scale2")),
                  files + 2));
    config_file_join(files, 3, a, &tlog.sink, &all);
    ck_assert_str_eq(all.path, "a.xml, b/b.xml, c.xml");
    ck_assert_int_eq(all.strict, CONFIG_EVERY_RELEASE);
    ck_assert_uint_eq(all.n_layers, 4);
    ck_assert_int_eq(all.layers[0].form, CONFIG_FORM_NESTED);
    ck_assert_str_eq(all.layers[1].type, "Other");
    ck_assert_str_eq(all.layers[1].kernels->sources[0], "b/scale.cl");
    ck_assert_str_eq(all.layers[2].type, "Third");
    ck_assert_str_eq(all.layers[3].type, "Scale");
    ck_assert_str_eq(all.layers[3].kernels->entry, "scale2");
    ck_assert_str_eq(all.layers[3].path, "c.xml");
    ck_assert_int_eq(test_log_count(&tlog,
                                    "note: a.xml:4: CustomLayer Scale is "
                                    "replaced by the one in c.xml:11"),
                     1);
    config_file_join(files, 1, a, NULL, &all);
    ck_assert_uint_eq(all.n_layers, 2);
    ck_assert_str_eq(all.path, "a.xml");
}
END_TEST

/* --- formulas ------------------------------------------------------------ */

static const config_gpu_vars vars = {{2, 3, 5, 7}}; /* B, F, Y, X */

/* The sizes, blanks between them. */
static const struct {
    const char *list, *gives;
} formulas[] = {
    {"X,Y,B*F", "7 5 6"},
    {"x,y,b*f", "7 5 6"},
    {"X", "7"},
    {"X,", "7"},
    {"X,Y,B,", "7 5 2"},
    {"1", "1"},
    {" X,\tY", "7 5"},
    {"X ,Y ", "7 5"},
    {"2147483647", "2147483647"},
    {"00012", "12"},
    {"X+Y*B", "17"},
    {"(X+Y)*B", "24"},
    {"X-Y-B+1", "1"},
    {"100/X/B", "7"},
    {"100%X", "2"},
    {"X*100%Y+1", "1"},
    {"X/Y*Y", "5"},
    {"(0-X)/2+5", "2"}, /* -7/2 = -3 */
    {"(0-X)%4+5", "2"}, /* -7%4 = -3 */
    {"((X+31)/32)*32", "32"},
    {"( X + Y )\t* B", "24"},
    {"X,1", "7 1"},
};

static const struct {
    const char *list;
    unsigned col; /* of list, from 1 */
    vpu_status st;
    const char *says;
} wrong[] = {
    {"2X", 2, VPU_ERR_PARSE,
     "'X' stands behind a number; is there an operator missing?"},
    {"0x10", 2, VPU_ERR_PARSE,
     "'x' stands behind a number; is there an operator missing?"},
    {"X,XY", 4, VPU_ERR_PARSE,
     "'Y' stands behind a letter; is there an operator missing?"},
    {"X2", 2, VPU_ERR_PARSE,
     "'2' stands behind a letter; is there an operator missing?"},
    {"XY*", 2, VPU_ERR_PARSE,
     "'Y' stands behind a letter; is there an operator missing?"},
    {"-X", 1, VPU_ERR_PARSE, "a sign before a value; write 0-X, not -X"},
    {"X*-1", 3, VPU_ERR_PARSE, "a sign before a value; write 0-X, not -X"},
    {"+X", 1, VPU_ERR_PARSE, "a sign before a value; write 0-X, not -X"},
    {"(X", 3, VPU_ERR_PARSE, "')' is missing"},
    {"X,(Y,B)", 5, VPU_ERR_PARSE, "')' is missing"},
    {"(X Y)", 4, VPU_ERR_PARSE, "')' is missing"},
    {"X)", 2, VPU_ERR_PARSE, "found ')'; expected an operator"},
    {"X Y", 3, VPU_ERR_PARSE, "found 'Y'; expected an operator"},
    {"X 2", 3, VPU_ERR_PARSE, "found '2'; expected an operator"},
    {"X;Y", 2, VPU_ERR_PARSE, "found ';'; expected an operator"},
    {"X^2", 2, VPU_ERR_PARSE, "found '^'; expected an operator"},
    {"X*Z", 3, VPU_ERR_PARSE,
     "found 'Z'; expected a number, B, F, Y, X or '('"},
    {"N", 1, VPU_ERR_PARSE, "found 'N'; expected a number, B, F, Y, X or '('"},
    {"ceil(X)", 1, VPU_ERR_PARSE,
     "found 'c'; expected a number, B, F, Y, X or '('"},
    {"X*\xc3\xa4", 3, VPU_ERR_PARSE,
     "found '\xc3\xa4'; expected a number, B, F, Y, X or '('"},
    {"X\xc3\x97Y", 2, VPU_ERR_PARSE, "found '\xc3\x97'; expected an operator"},
    {"1.5", 2, VPU_ERR_PARSE, "found '.'; expected an operator"},
    {"X,,Y", 3, VPU_ERR_PARSE,
     "a value is missing; expected a number, B, F, Y, X or '('"},
    {",X", 1, VPU_ERR_PARSE,
     "a value is missing; expected a number, B, F, Y, X or '('"},
    {"X, ", 4, VPU_ERR_PARSE,
     "a value is missing; expected a number, B, F, Y, X or '('"},
    {" ", 2, VPU_ERR_PARSE,
     "a value is missing; expected a number, B, F, Y, X or '('"},
    {"X+", 3, VPU_ERR_PARSE,
     "a value is missing; expected a number, B, F, Y, X or '('"},
    {"X/", 3, VPU_ERR_PARSE,
     "a value is missing; expected a number, B, F, Y, X or '('"},
    {"X,Y*,B", 5, VPU_ERR_PARSE,
     "a value is missing; expected a number, B, F, Y, X or '('"},
    {"()", 2, VPU_ERR_PARSE, "found ')'; expected a number, B, F, Y, X or '('"},
    {"*X", 1, VPU_ERR_PARSE, "found '*'; expected a number, B, F, Y, X or '('"},
    {"X,Y,B,F", 7, VPU_ERR_PARSE, "more than 3 sizes"},
    {"1,2,3,4,5", 7, VPU_ERR_PARSE, "more than 3 sizes"},
    {"X+2147483648", 3, VPU_ERR_PARSE, "a number above 2^31 - 1"},
    {"99999999999999999999", 1, VPU_ERR_PARSE, "a number above 2^31 - 1"},
    {"X/(B-2)", 2, VPU_ERR_INVALID, "division by zero"},
    {"X%0", 2, VPU_ERR_INVALID, "division by zero"},
    {"X,Y-5", 3, VPU_ERR_INVALID, "size 1 is 0; expected at least 1"},
    {"0", 1, VPU_ERR_INVALID, "size 0 is 0; expected at least 1"},
    {"B-X", 1, VPU_ERR_INVALID, "size 0 is -5; expected at least 1"},
    {"X,Y,B/F", 5, VPU_ERR_INVALID, "size 2 is 0; expected at least 1"},
    {"2147483647+1", 11, VPU_ERR_INVALID, "the result does not fit 32 bits"},
    {"65536*65536", 6, VPU_ERR_INVALID, "the result does not fit 32 bits"},
    {"0-2147483647-2", 13, VPU_ERR_INVALID, "the result does not fit 32 bits"},
    {"(0-2147483647-1)/(0-1)", 17, VPU_ERR_INVALID,
     "the result does not fit 32 bits"},
    {"(0-2147483647-1)%(0-1)", 17, VPU_ERR_INVALID,
     "the result does not fit 32 bits"},
    /* The first problem counts. */
    {"X/0+-1", 2, VPU_ERR_INVALID, "division by zero"}};

static vpu_status evaluate(const char *list, uint32_t sizes[3], size_t *n)
{
    static const config_layer l = {.path = "g.xml"};

    return config_gpu_sizes(&l, "local", (config_text){list, 4, 20}, &vars,
                            sizes, n, &err);
}

START_TEST(sizes)
{
    uint32_t v[3];
    size_t n;
    str s = {0};

    ck_assert_msg(!evaluate(formulas[_i].list, v, &n), "%s", err.msg);
    for (size_t i = 0; i < n; i++)
        str_printf(&s, "%s%u", i ? " " : "", v[i]);
    ck_assert_str_eq(str_text(&s), formulas[_i].gives);
    str_free(&s);
}
END_TEST

START_TEST(no_sizes)
{
    uint32_t v[3];
    size_t n = 9;

    ck_assert(!evaluate(NULL, v, &n));
    ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(wrong_sizes)
{
    uint32_t v[3];
    size_t n;

    ck_assert_int_eq(evaluate(wrong[_i].list, v, &n), wrong[_i].st);
    ck_assert_str_eq(err.msg,
                     arena_printf(a, "g.xml:4:%u: error: local=\"%s\": %s",
                                  19 + wrong[_i].col, wrong[_i].list,
                                  wrong[_i].says));
}
END_TEST

/* As deep as a reader may go, and one deeper. */
START_TEST(deep_brackets)
{
    char text[400];
    uint32_t v[3];
    size_t n;

    for (int deep = 64; deep <= 65; deep++) {
        snprintf(
            text, sizeof text, "%.*s%s%.*s", deep,
            "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
            "((((((((((((",
            "X", deep,
            "))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))"
            "))))))))))))");
        ck_assert_int_eq(evaluate(text, v, &n),
                         deep == 64 ? VPU_OK : VPU_ERR_PARSE);
    }
    ck_assert_ptr_nonnull(strstr(err.msg, "brackets are more than 64 deep"));
    ck_assert_ptr_nonnull(strstr(err.msg, "g.xml:4:84: error: "));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("gpu_layer");
    TCase *t = tcase_create("gpu_layer");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, defaults);
    tcase_add_test(t, everything);
    tcase_add_loop_test(t, dim_sources, 0, sizeof dims / sizeof *dims);
    tcase_add_loop_test(t, refuses, 0, sizeof errors / sizeof *errors);
    tcase_add_loop_test(t, warns_once, 0, sizeof remarks / sizeof *remarks);
    tcase_add_test(t, one_tensor_in_two_arguments);
    tcase_add_test(t, a_later_layer_replaces);
    tcase_add_test(t, beside_a_layer_of_mvcl);
    tcase_add_test(t, several_files);
    tcase_add_loop_test(t, sizes, 0, sizeof formulas / sizeof *formulas);
    tcase_add_test(t, no_sizes);
    tcase_add_loop_test(t, wrong_sizes, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(t, deep_brackets);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
