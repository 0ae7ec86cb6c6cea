/* Binding files: both forms, every error with its line, notes and warnings. */
#include "runtime/config/layer.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/config/where.h"
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

static vpu_status parse(const char *text)
{
    vpu_status st = config_file_parse(
        &(const file_bytes){text, strlen(text), "dir/layer.xml"}, a, &tlog.sink,
        CONFIG_EVERY_RELEASE, &file, &err);

    for (size_t i = 0; i < file.n_layers && !st; i++)
        config_layer_tell(&file.layers[i], &tlog.sink);
    return st;
}

/* One nested layer on lines 1 to 12 with pieces to replace. */
#define HEAD "<CustomLayer name=\"GRN\" type=\"mvcl\" version=\"1\">\n"
#define KERNEL                                    \
    "  <Kernel entry=\"grn\" max-shaves=\"4\">\n" \
    "    <Source filename=\"a.cl\"/>\n"           \
    "    <Source filename=\"/abs/b.cl\"/>\n"
#define PARAMS                                                            \
    "    <Parameters>\n"                                                  \
    "      <Scalar arg-name=\"bias\" type=\"float\" source=\"bias\"/>\n"  \
    "      <Data arg-name=\"l\" type=\"local_data\" dim=\"Input,0\" "     \
    "size=\"X*2\"/>\n"                                                    \
    "      <Tensor arg-name=\"src\" type=\"input\" port-index=\"0\" "     \
    "format=\"byxf\"/>\n"                                                 \
    "      <Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\"/>\n" \
    "    </Parameters>\n"
#define SIZES \
    "    <WorkSizes dim=\"input,0\" global=\"X,Y,1\" local=\"X,1,1\"/>\n"
#define TAIL "  </Kernel>\n</CustomLayer>\n"

START_TEST(nested)
{
    const config_kernel *k;

    ck_assert_msg(!parse(HEAD KERNEL PARAMS SIZES TAIL), "%s", err.msg);
    ck_assert_uint_eq(file.n_layers, 1);
    ck_assert_str_eq(file.layers[0].type, "GRN");
    ck_assert_int_eq(file.layers[0].form, CONFIG_FORM_NESTED);
    ck_assert_int_eq(file.layers[0].stage, -1);
    k = file.layers[0].kernels;
    ck_assert_str_eq(k->entry, "grn");
    ck_assert_uint_eq(k->line, 2);
    ck_assert_uint_eq(k->max_shaves, 4);
    ck_assert_uint_eq(k->n_sources, 2);
    ck_assert_str_eq(k->sources[0], "dir/a.cl");
    ck_assert_str_eq(k->sources[1], "/abs/b.cl");
    ck_assert_uint_eq(k->n_bindings, 4);
    ck_assert_str_eq(k->bindings[0].arg, "src"); /* tensors, data, scalars */
    ck_assert_int_eq(k->bindings[0].format, CONFIG_BYXF);
    ck_assert_uint_eq(k->bindings[0].line, 8);
    ck_assert_int_eq(k->bindings[1].format, CONFIG_BFYX);
    ck_assert_int_eq(k->bindings[2].kind, CONFIG_LOCAL_DATA);
    ck_assert_str_eq(k->bindings[2].size.text, "X*2");
    ck_assert_int_eq(k->bindings[3].kind, CONFIG_FLOAT);
    ck_assert_int_eq(k->bindings[3].port, -1);
    ck_assert_uint_eq(k->global.line, 11);
    ck_assert_int_eq(tlog.lines.n, 0);
}
END_TEST

START_TEST(flat_and_several_roots)
{
    static const char text[] =
        "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<!-- a comment with <!DOCTYPE x> -->\n"
        "stray text\n"
        "<CustomLayer name=\"MVN\" stage=\"0\" type=\"MVCL\" version=\"1\">\n"
        "  <Where kernel=\"3,3\" n=\"&gt;=2\"/>\n"
        "  <Kernel entry=\"mean\"><Source filename=\"m.cl\"/></Kernel>\n"
        "  <Parameters/>\n"
        "  <WorkSizes dim=\"output\" global=\"1,Y,F\" local=\"1\"/>\n"
        "</CustomLayer>\n"
        "more text <!-- -->\n"
        "<CustomLayer name=\"MVN\" stage=\"1\" type=\"MVCL\" version=\"1\"\n"
        "             max-shaves=\"3\">\n"
        "  <Kernel entry=\"scale\"><Source filename=\"m.cl\"/></Kernel>\n"
        "  <Parameters/><WorkSizes global=\"1\" local=\"1\"/>\n"
        "</CustomLayer>";
    const config_layer *l;

    ck_assert_msg(!parse(text), "%s", err.msg);
    ck_assert_uint_eq(file.n_layers, 2);
    l = file.layers;
    ck_assert_int_eq(l[0].form, CONFIG_FORM_FLAT);
    ck_assert_uint_eq(l[0].line, 4);
    ck_assert_uint_eq(l[1].line, 11);
    ck_assert_str_eq(config_form_name(l[0].form), "flat");
    ck_assert_int_eq(l[0].stage, 0);
    ck_assert_int_eq(l[1].stage, 1);
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(l[i].n_kernels, 1);
        ck_assert_str_eq(l[i].kernels->entry, i ? "scale" : "mean");
        ck_assert_uint_eq(l[i].kernels->stage, i);
    }
    ck_assert_uint_eq(l[0].kernels->max_shaves, 0);
    ck_assert_uint_eq(l[0].n_where, 2);
    ck_assert_str_eq(l[0].where[1].name, "n");
    ck_assert_str_eq(l[0].where[1].value.text, ">=2");
    ck_assert_uint_eq(l[0].where[1].value.line, 5);
    ck_assert(l[0].kernels->dim.output);
    ck_assert_uint_eq(l[0].kernels->dim.index, 0);
    ck_assert(!l[1].kernels->dim.output);
    ck_assert_uint_eq(l[1].kernels->max_shaves, 3);
    ck_assert_int_eq(test_log_count(&tlog, "dir/layer.xml:4: CustomLayer "
                                           "is in the flat form"),
                     1);
    /* Once for the file, not for each of its layers. */
    ck_assert_int_eq(test_log_count(&tlog, "2020.4 to 2022.3 refuse it"), 1);
}
END_TEST

START_TEST(stages_in_order)
{
#define STAGE(n, e)                                                      \
    "<Kernel entry=\"" e "\" stage=\"" n "\"><Source filename=\"m\"/>"   \
    "<Parameters/><WorkSizes dim=\"input,0\" global=\"1\" local=\"1\"/>" \
    "</Kernel>\n"
    ck_assert_msg(!parse(HEAD STAGE("2.5", "c") STAGE("0", "a")
                             STAGE("1", "b") "</CustomLayer>"),
                  "%s", err.msg);
    ck_assert_uint_eq(file.layers[0].n_kernels, 3);
    ck_assert_str_eq(file.layers[0].kernels[0].entry, "a");
    ck_assert_str_eq(file.layers[0].kernels[1].entry, "b");
    ck_assert_str_eq(file.layers[0].kernels[2].entry, "c");
}
END_TEST

#define ONE(x) HEAD KERNEL "<Parameters>\n" x "</Parameters>\n" SIZES TAIL

static const struct {
    const char *text;
    vpu_status st;
    const char *says;
} errors[] = {
    {"", VPU_ERR_PARSE, "layer.xml: error: found no element"},
    {"<A/>", VPU_ERR_PARSE, "layer.xml:1:1: error: found element A"},
    {"<CustomLayer/>", VPU_ERR_PARSE, "missing mandatory attribute name"},
    {"\n<CustomLayer name=\"a\"/>", VPU_ERR_PARSE,
     ":2:1: error: node CustomLayer is missing mandatory attribute type"},
    {"<CustomLayer name=\"a\" type=\"SW\"/>", VPU_ERR_PARSE,
     "type is not MVCL, but SW"},
    {"<CustomLayer name=\"a\" type=\"MVCL\"/>", VPU_ERR_PARSE,
     "missing mandatory attribute version"},
    {"<CustomLayer name=\"a\" type=\"MVCL\" version=\"2\"/>", VPU_ERR_PARSE,
     "only version 1 is supported, found 2"},
    {"<CustomLayer name=\"a\" type=\"MVCL\" version=\"1x\"/>", VPU_ERR_PARSE,
     "is not an integer"},
    {"<CustomLayer name=\"\"/>", VPU_ERR_PARSE, "empty attribute name"},
    {HEAD "</CustomLayer>", VPU_ERR_PARSE,
     "required parameter Kernel is not found"},
    {HEAD "<Kernel entry=\"\"/></CustomLayer>", VPU_ERR_PARSE,
     ":2:16: error: custom layer GRN has node Kernel with an empty attribute "
     "entry"},
    {HEAD "<Kernel/></CustomLayer>", VPU_ERR_PARSE,
     "missing mandatory attribute entry"},
    {HEAD "  <Kernel entry=\"k\">\n" PARAMS SIZES TAIL, VPU_ERR_PARSE,
     ":2:3: error: required parameter Source is not found"},
    {HEAD KERNEL SIZES TAIL, VPU_ERR_PARSE,
     "required parameter Parameters is not found in Kernel"},
    {HEAD KERNEL PARAMS TAIL, VPU_ERR_PARSE,
     "required parameter WorkSizes is not found in Kernel"},
    {HEAD KERNEL PARAMS PARAMS SIZES TAIL, VPU_ERR_PARSE,
     ":11:5: error: found several definitions of the parameter Parameters in "
     "Kernel; the first is in line 5"},
    {HEAD KERNEL PARAMS SIZES SIZES TAIL, VPU_ERR_PARSE,
     "several definitions of the parameter WorkSizes"},
    {HEAD KERNEL PARAMS SIZES "</Kernel>" SIZES "</CustomLayer>", VPU_ERR_PARSE,
     "expected both in the same place"},
    {HEAD KERNEL "</Kernel>" KERNEL "</Kernel>" PARAMS SIZES "</CustomLayer>",
     VPU_ERR_PARSE, "several definitions of the parameter Kernel"},
    {HEAD STAGE("0", "a") KERNEL PARAMS SIZES TAIL, VPU_ERR_PARSE,
     ":3:3: error: each kernel should be provided with 'stage'"},
    {HEAD STAGE("0", "a") STAGE("0", "b") "</CustomLayer>", VPU_ERR_PARSE,
     ":3: error: found duplicating stage id 0; the other is in line 2"},
    {HEAD STAGE("1", "a") STAGE("2", "b") "</CustomLayer>", VPU_ERR_PARSE,
     ":2: error: stage 0 is not found; the lowest is 1"},
    {HEAD STAGE("0", "a") STAGE("2", "b") "</CustomLayer>", VPU_ERR_PARSE,
     ":3: error: kernels should have stage id from 0 to 1, found 2"},
    {HEAD STAGE("x", "a") STAGE("2", "b") "</CustomLayer>", VPU_ERR_PARSE,
     "stage=\"x\"; expected a number"},
    {HEAD KERNEL PARAMS "<WorkSizes global=\"1\" local=\"1\"/>" TAIL,
     VPU_ERR_PARSE, "missing mandatory attribute dim"},
    {HEAD KERNEL PARAMS "<WorkSizes dim=\"input\" global=\"1\" "
                        "local=\"1\"/>" TAIL,
     VPU_ERR_PARSE, "has no index"},
    {HEAD KERNEL PARAMS "<WorkSizes dim=\"in,0\" global=\"1\" "
                        "local=\"1\"/>" TAIL,
     VPU_ERR_PARSE, "invalid dim source 'in'"},
    {HEAD KERNEL PARAMS "<WorkSizes dim=\"input,-1\" global=\"1\" "
                        "local=\"1\"/>" TAIL,
     VPU_ERR_PARSE, "'-1' is not a tensor index"},
    {HEAD KERNEL PARAMS "<WorkSizes dim=\"input,0\" local=\"1\"/>" TAIL,
     VPU_ERR_PARSE, "missing mandatory attribute global"},
    {HEAD KERNEL PARAMS "<WorkSizes dim=\"input,0\" global=\"1,2,3,4\" "
                        "local=\"1\"/>" TAIL,
     VPU_ERR_INVALID, "4 comma-separated parts"},
    {ONE("<Tensor type=\"input\" port-index=\"0\"/>"), VPU_ERR_PARSE,
     ":6:1: error: node Tensor is missing mandatory attribute arg-name"},
    {ONE("<Tensor arg-name=\"a\" port-index=\"0\"/>"), VPU_ERR_PARSE,
     "missing mandatory attribute type"},
    {ONE("<Tensor arg-name=\"a\" type=\"int\" port-index=\"0\"/>"),
     VPU_ERR_PARSE, "Tensor node has an invalid type 'int'"},
    {ONE("<Tensor arg-name=\"a\" type=\"input\"/>"), VPU_ERR_PARSE,
     "missing mandatory attribute port-index"},
    {ONE("<Tensor arg-name=\"a\" type=\"input\" port-index=\"0.5\"/>"),
     VPU_ERR_PARSE, "port-index=\"0.5\" is not an integer"},
    {ONE("<Tensor arg-name=\"a\" type=\"input\" port-index=\"-1\"/>"),
     VPU_ERR_PARSE, "expected at least 0"},
    {ONE("<Tensor arg-name=\"a\" type=\"output\" port-index=\"1\"/>"),
     VPU_ERR_PARSE, "exactly one output"},
    {ONE("<Tensor arg-name=\"a\" type=\"input\" port-index=\"0\" "
         "format=\"NCHW\"/>"),
     VPU_ERR_PARSE, "invalid format 'NCHW'"},
    {ONE("<Tensor arg-name=\"a\" type=\"input_buffer\" port-index=\"0\" "
         "dim=\"input,0\"/>"),
     VPU_ERR_PARSE, "missing mandatory attribute size"},
    {ONE("<Tensor arg-name=\"a\" type=\"output_buffer\" port-index=\"0\" "
         "size=\"1\"/>"),
     VPU_ERR_PARSE, "missing mandatory attribute dim"},
    {ONE("<Data arg-name=\"a\" type=\"blob\"/>"), VPU_ERR_PARSE,
     "Data node has an invalid type 'blob'"},
    {ONE("<Data arg-name=\"a\" type=\"data\"/>"), VPU_ERR_PARSE,
     "Data node has no source or dim"},
    {ONE("<Data arg-name=\"a\" type=\"data\" dim=\"input,0\"/>"), VPU_ERR_PARSE,
     "expected source"},
    {ONE("<Data arg-name=\"a\" type=\"local_data\" source=\"x\"/>"),
     VPU_ERR_PARSE, "local_data\" with source"},
    {ONE("<Data arg-name=\"a\" type=\"local_data\" source=\"x\" "
         "dim=\"input,0\"/>"),
     VPU_ERR_PARSE, "can only have source or dim"},
    {ONE("<Data arg-name=\"a\" type=\"local_data\" dim=\"input,0\"/>"),
     VPU_ERR_PARSE, "missing mandatory attribute size"},
    {ONE("<Data arg-name=\"a\" type=\"local_data\" size=\"1\"/>"),
     VPU_ERR_PARSE, "Data node has no source or dim"},
    {ONE("<Data arg-name=\"a\" type=\"local_data\" dim=\"input\" "
         "size=\"1\"/>"),
     VPU_ERR_PARSE, "has no index"},
    {ONE("<Scalar arg-name=\"a\" type=\"half\" source=\"1\"/>"), VPU_ERR_PARSE,
     "Scalar node has an invalid type 'half'"},
    {ONE("<Scalar arg-name=\"a\" type=\"int\"/>"), VPU_ERR_PARSE,
     "missing mandatory attribute source"},
    /* not well-formed, or refused as XML */
    {"<CustomLayer", VPU_ERR_PARSE, "layer.xml:1:"},
    {HEAD, VPU_ERR_PARSE, "layer.xml:"},
    {HEAD "</Kernel>", VPU_ERR_PARSE, "layer.xml:2:"},
    {"</file><file>", VPU_ERR_PARSE, "closing tag without an opening one"},
    {"<CustomLayer name=\"a\" name=\"b\"/>", VPU_ERR_PARSE, "redefined"},
    {"<CustomLayer name=\"&what;\"/>", VPU_ERR_PARSE, "what"},
    {"<!DOCTYPE a [<!ENTITY b \"c\">]>\n<CustomLayer name=\"&b;\"/>",
     VPU_ERR_UNSUPPORTED, "layer.xml:1:1: error: document type and entity"},
    {"\n<CustomLayer>\n <!ENTITY x SYSTEM \"file:///etc/passwd\">",
     VPU_ERR_UNSUPPORTED, "layer.xml:3:2: error: document type and entity"},
    {"\xff\xfe<\x01", VPU_ERR_UNSUPPORTED, "UTF-16"},
    {"<?xml version=\"1.0\" encoding=\"latin1\"?><a/>", VPU_ERR_UNSUPPORTED,
     "encoding latin1"},
};

START_TEST(refuses)
{
    vpu_status st = parse(errors[_i].text);

    ck_assert_msg(st == errors[_i].st, "case %d: status %d: %s", _i, st,
                  err.msg);
    ck_assert_msg(strstr(err.msg, errors[_i].says) != NULL,
                  "case %d:\n%s\nlacks\n%s", _i, err.msg, errors[_i].says);
    ck_assert_uint_eq(file.n_layers, 0);
}
END_TEST

START_TEST(entity_bomb_is_refused_fast)
{
    str s = {0};

    str_puts(&s, "<?xml version=\"1.0\"?>\n<!DOCTYPE l [\n<!ENTITY a0 \"x\">");
    for (int i = 1; i < 40; i++)
        str_printf(&s, "<!ENTITY a%d \"&a%d;&a%d;&a%d;\">\n", i, i - 1, i - 1,
                   i - 1);
    str_puts(&s, "]>\n<CustomLayer name=\"&a39;\"/>");
    ck_assert_int_eq(parse(s.data), VPU_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(err.msg, "layer.xml:2:1:"));
    str_free(&s);
}
END_TEST

START_TEST(limits)
{
    str s = {0};

    for (int i = 0; i < 200; i++)
        str_puts(&s, "<CustomLayer name=\"a\">");
    ck_assert_int_eq(parse(s.data), VPU_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.msg, "nested more than 64 deep"));
    s.n = 0;
    str_puts(&s, "\n<CustomLayer");
    for (int i = 0; s.n < 8 << 20; i++)
        str_printf(&s, " a%d=''", i);
    str_puts(&s, "/>");
    ck_assert_int_eq(parse(s.data), VPU_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.msg, "layer.xml:2:1: error:"));
    ck_assert_ptr_nonnull(strstr(err.msg, "attributes in one element"));
    s.n = 0;
    for (int i = 0; i <= CONFIG_LAYER_MAX_ELEMENTS; i++)
        str_puts(&s, "<a/>\n");
    ck_assert_int_eq(parse(s.data), VPU_ERR_LIMIT);
    ck_assert_msg(strstr(err.msg, ":65537:1: error: more than 65536") != NULL,
                  "%s", err.msg);
    while (s.n <= CONFIG_LAYER_MAX_BYTES)
        str_printf(&s, "%1000s", "");
    ck_assert_int_eq(config_file_parse(&(const file_bytes){s.data, s.n, "x"}, a,
                                       NULL, CONFIG_EVERY_RELEASE, &file, &err),
                     VPU_ERR_LIMIT);
    str_free(&s);
    ck_assert_int_eq(config_file_parse(&(const file_bytes){"<a>\0</a>", 8, "x"},
                                       a, NULL, CONFIG_EVERY_RELEASE, &file,
                                       &err),
                     VPU_ERR_PARSE);
    ck_assert_int_eq(config_file_read("/nowhere/x", a, NULL,
                                      CONFIG_EVERY_RELEASE, &file, &err),
                     VPU_ERR_IO);
}
END_TEST

START_TEST(positions_far_into_a_file)
{
    str s = {0};

    for (int i = 1; i < 70000; i++)
        str_puts(&s, i % 2 ? "some text\n" : "<!-- a comment -->\n");
    str_puts(&s, "<CustomLayer name=\"a\"\n  type=\"SW\" version=\"1\"/>");
    ck_assert_int_eq(parse(s.data), VPU_ERR_PARSE);
    ck_assert_msg(!strncmp(err.msg, "dir/layer.xml:70001:9: error: type", 34),
                  "%s", err.msg);
    str_free(&s);
}
END_TEST

static const struct {
    const char *text, *line;
} remarks[] = {
    {ONE("<Tensor arg-name=\"a\" type=\"input\" port-index=\"0\" "
         "format=\"BFXY\"/>"),
     "note: dir/layer.xml:6: format=\"BFXY\" is read as BFYX"},
    {ONE("<Tensor arg-name=\"a\" type=\"data\" source=\"w\"/>"),
     "note: dir/layer.xml:6: Tensor type=\"data\" is read as Data"},
    {ONE("<Scalar arg-name=\"a\" type=\"int\" source=\"I0.X\"/>"),
     "source=\"I0.X\" is read as input 0, which is written source=\"I.X\" "
     "port-index=\"0\""},
    {ONE("<Scalar arg-name=\"a\" type=\"int\" source=\"O1.F\"/>"),
     "note: dir/layer.xml:6: source=\"O1.F\" is read as output 1, which is "
     "written source=\"O.F\" port-index=\"1\""},
    {ONE("<Scalar arg-name=\"a\" type=\"float\" source=\"0.5\"/>"),
     "note: dir/layer.xml:6: source=\"0.5\" is read as a number"},
    {"<CustomLayer name=\"a\" type=\"MVCL\" version=\"1\" "
     "max-shaves=\"3\">" KERNEL PARAMS SIZES TAIL,
     "note: dir/layer.xml:1: max-shaves=\"3\" on CustomLayer"},
    {ONE("<Tensor arg-name=\"a\" type=\"input_buffer\" port-index=\"0\" "
         "dim=\"input,0\" size=\"X,Y\"/>"),
     "warning: dir/layer.xml:6: size=\"X,Y\": only \"X\" is used"},
    {ONE("<Blob/>"), "warning: dir/layer.xml:6: unknown element Blob"},
    {ONE("<Scalar arg-name=\"a\" type=\"int\" source=\"1\" colour=\"r\"/>"),
     "warning: dir/layer.xml:6: unknown attribute colour of Scalar"},
    {HEAD
     "  <Kernel x=\"1\" entry=\"k\">\n<Source filename=\"k\"/>" PARAMS SIZES
         TAIL,
     "warning: dir/layer.xml:2: unknown attribute x of Kernel"},
    {HEAD
     "  <Kernel entry=\"k\">\n<Source filename=\"k\" x=\"1\"/>" PARAMS SIZES
         TAIL,
     "warning: dir/layer.xml:3: unknown attribute x of Source"},
    {HEAD KERNEL "<Parameters x=\"1\"/>" SIZES TAIL,
     "warning: dir/layer.xml:5: unknown attribute x of Parameters"},
    {HEAD KERNEL "<Parameters/><WorkSizes dim=\"input,0\" global=\"1\" "
                 "local=\"1\" offset=\"1\"/>" TAIL,
     "warning: dir/layer.xml:5: unknown attribute offset of WorkSizes"},
    {HEAD KERNEL "<Parameters/><WorkSizes dim=\"input,0\" global=\"1\" "
                 "local=\"1\"><Note/></WorkSizes>" TAIL,
     "warning: dir/layer.xml:5: unknown element Note in WorkSizes"},
    {HEAD KERNEL "<Note/>" PARAMS SIZES TAIL,
     "warning: dir/layer.xml:5: unknown element Note in Kernel"},
    {"<CustomLayer x=\"1\" name=\"a\" type=\"MVCL\" version=\"1\">" KERNEL
         PARAMS SIZES TAIL,
     "warning: dir/layer.xml:1: unknown attribute x of CustomLayer"},
    {HEAD "<Note/>" KERNEL PARAMS SIZES TAIL,
     "warning: dir/layer.xml:2: unknown element Note in CustomLayer"},
    {HEAD "<Where a=\"1\"/>\n<Where a=\"2\"/>" KERNEL PARAMS SIZES TAIL,
     "warning: dir/layer.xml:3: only the first Where"},
};

START_TEST(remarks_once)
{
    ck_assert_msg(!parse(remarks[_i].text), "%s", err.msg);
    ck_assert_msg(test_log_count(&tlog, remarks[_i].line) == 1, "%s",
                  str_text(&tlog.lines));
    ck_assert_int_eq(test_log_count(&tlog, ""), 1);
}
END_TEST

/* The flat form has its own places for the same words. */
static const struct {
    const char *text, *line; /* NULL: none but that the form is flat */
} flat_remarks[] = {
    {"<Kernel entry=\"k\"><Source filename=\"k\"/></Kernel>", NULL},
    {"<Where n=\"1\"/><Kernel entry=\"k\" max-shaves=\"2\">"
     "<Source filename=\"k\"/></Kernel>",
     NULL},
    {"\n<Kernel entry=\"k\" x=\"1\"><Source filename=\"k\"/></Kernel>",
     "warning: dir/layer.xml:2: unknown attribute x of Kernel"},
    {"\n<Kernel entry=\"k\"><Source filename=\"k\"/>\n<Note/></Kernel>",
     "warning: dir/layer.xml:3: unknown element Note in Kernel"},
    {"<Kernel entry=\"k\"><Source filename=\"k\"/></Kernel><Note/>",
     "warning: dir/layer.xml:1: unknown element Note in CustomLayer"},
};

START_TEST(flat_remarks_once)
{
    const char *want = flat_remarks[_i].line;
    const char *text =
        arena_printf(a,
                     "<CustomLayer name=\"a\" type=\"MVCL\" version=\"1\""
                     "%s>%s<Parameters/>" SIZES "</CustomLayer>",
                     _i ? "" : " colour=\"red\"", flat_remarks[_i].text);

    ck_assert_msg(!parse(text), "%s", err.msg);
    ck_assert_int_eq(test_log_count(&tlog, "is in the flat form"), 1);
    if (!_i)
        want = "layer.xml:1: unknown attribute colour of CustomLayer";
    if (want)
        ck_assert_int_eq(test_log_count(&tlog, want), 1);
    ck_assert_int_eq(test_log_count(&tlog, ""), want ? 2 : 1);
}
END_TEST

/* Real numbers are truncated; 16 bits are the range. */
static const struct {
    const char *text;
    int stage; /* -1: refused */
} stages[] = {{"0", 0},
              {"7", 7},
              {"65535", 65535},
              {"65535.9", 65535},
              {"-0.9", 0},
              {"65536", -1},
              {"65536.0", -1},
              {"-1", -1},
              {"-1.0", -1},
              {"-1.5", -1},
              {"1e9", -1},
              {"99999999999", -1},
              {"9999999999.0", -1},
              {"", -1}};

START_TEST(stage_numbers)
{
    const char *text = arena_printf(
        a,
        "<CustomLayer name=\"a\" type=\"MVCL\" version=\"1\" stage=\"%s\">"
        "<Kernel entry=\"k\"><Source filename=\"k\"/></Kernel>"
        "<Parameters/>" SIZES "</CustomLayer>",
        stages[_i].text);
    vpu_status st = parse(text);

    ck_assert_msg(!st == (stages[_i].stage >= 0), "%s: %s", stages[_i].text,
                  st ? err.msg : "taken");
    if (st)
        return;
    ck_assert_int_eq(file.layers->stage, stages[_i].stage);
    ck_assert_int_eq(file.layers->kernels->stage, stages[_i].stage);
}
END_TEST

START_TEST(layers_without_a_stage)
{
    ck_assert(!parse("<CustomLayer name=\"a\" type=\"MVCL\" version=\"1\">"
                     "<Kernel entry=\"k\"><Source filename=\"k\"/></Kernel>"
                     "<Parameters/>" SIZES "</CustomLayer>"));
    ck_assert_int_eq(file.layers->stage, -1);
    ck_assert_int_eq(file.layers->kernels->stage, 0);
}
END_TEST

/* Which tensor sizes are about, and in which line that is said. */
static const struct {
    const char *dim;
    bool output;
    uint32_t index, line;
} dims[] = {{"dim=\"input,0\"", false, 0, 5},
            {"dim=\"INPUT,3\"", false, 3, 5},
            {"dim=\"Output,12\"", true, 12, 5},
            {"\ndim=\"output,1\"", true, 1, 6}};

START_TEST(dimensions)
{
    const config_dim *d;

    ck_assert(!parse(arena_printf(
        a, "%s<Parameters/><WorkSizes %s global=\"1\" local=\"1\"/>%s",
        HEAD KERNEL, dims[_i].dim, TAIL)));
    d = &file.layers->kernels->dim;
    ck_assert(d->output == dims[_i].output);
    ck_assert_uint_eq(d->index, dims[_i].index);
    ck_assert_uint_eq(d->line, dims[_i].line);
}
END_TEST

static const struct {
    const char *restriction, *value;
    int met; /* -1: an error */
} wheres[] = {
    {"3,3", "3,3", 1},  {"3,3", "3,4", 0},     {"TRUE", "true", 1},
    {"3", "3", 1},      {"3.0", "3", 1},       {"3", "3.5", 0},
    {"&gt;2", "3", 1},  {"&gt;3", "3", 0},     {"&gt;=3", "3", 1},
    {"&lt;=3", "3", 1}, {"&lt;3", "3", 0},     {"!=3", "3", 0},
    {"!=3", "4", 1},    {"&gt;0.4", "0.5", 1}, {"&gt;= 3", "3", 1},
    {"three", "3", -1}, {"&gt;", "3", -1},     {"3abc", "3", 1},
    {"0", "", 1},       {"3", "three", 0},     {"3", NULL, 0},
};

START_TEST(where)
{
    config_param params[] = {{"other", "1"}, {"k", wheres[_i].value}};
    char text[1024];
    const config_where *unmet;
    config_context c;
    vpu_status st;

    snprintf(text, sizeof text, "%s<Where k=\"%s\"/>\n%s", HEAD,
             wheres[_i].restriction, KERNEL PARAMS SIZES TAIL);
    ck_assert_msg(!parse(text), "%s", err.msg);
    c = config_layer_context(file.layers, CONFIG_EVERY_RELEASE, NULL, &err);
    st = config_where_match(file.layers, params, wheres[_i].value ? 2 : 1, &c,
                            &unmet);
    ck_assert_msg((st ? -1 : !unmet) == wheres[_i].met, "case %d: %s", _i,
                  err.msg);
    if (st)
        ck_assert_ptr_nonnull(strstr(err.msg, "layer.xml:2:"));
}
END_TEST

/* --- releases ------------------------------------------------------------ */

#define FLAT(params, sizes)                                                   \
    "<CustomLayer name=\"GRN\" type=\"MVCL\" version=\"1\">\n"                \
    "<Kernel entry=\"k\"><Source "                                            \
    "filename=\"k.cl\"/></Kernel>\n<Parameters>" params "</Parameters>" sizes \
    "</CustomLayer>"
#define IN(format)                                            \
    "<Tensor arg-name=\"a\" type=\"input\" port-index=\"0\" " \
    "format=\"" format "\"/>"
#define OLD {CONFIG_2019R3, CONFIG_2020_3}
#define NEW {CONFIG_2020_4, CONFIG_2022_3}
#define ALL {CONFIG_2019R3, CONFIG_2022_3}

static const struct {
    const char *text;
    config_range refused;
    const char *says;
} releases[] = {
    {FLAT("", SIZES), NEW, "layer.xml:1:1: error: CustomLayer is in the"},
    {ONE(""), OLD, "layer.xml:1:1: error: CustomLayer is in the nested"},
    {ONE(IN("BFXY")), ALL, "error: "},
    {FLAT(IN("BF"), SIZES), ALL, "error: "},
    {ONE(IN("BF")), OLD, "error: "},
    {ONE("<Tensor arg-name=\"a\" type=\"data\" source=\"w\"/>"), ALL,
     "error: "},
    {ONE("<Scalar arg-name=\"a\" type=\"int\" source=\"I0.X\"/>"), ALL,
     "error: "},
    {ONE("<Scalar arg-name=\"a\" type=\"int\" source=\"0.5\"/>"), ALL,
     "error: "},
    {FLAT("", SIZES "<Where k=\"&lt;3\"/>"), ALL, "error: "},
    {FLAT("", SIZES "<Where k=\"!=3\"/>"), ALL, "error: "},
    {FLAT("", SIZES "<Where k=\"!3\"/>"), NEW, "is in the flat form"},
    {FLAT("<Scalar arg-name=\"a\" type=\"int\" source=\"1\"/>", SIZES), NEW,
     "strict reading for 20"},
};

START_TEST(strict)
{
    bool any = false;

    for (int r = CONFIG_2019R3; r <= CONFIG_2022_3; r++) {
        bool want = r >= (int)releases[_i].refused.first &&
                    r <= (int)releases[_i].refused.last;
        const char *text = releases[_i].text;
        vpu_status st = config_file_parse(
            &(const file_bytes){text, strlen(text), "layer.xml"}, a, &tlog.sink,
            (config_release)r, &file, &err);

        ck_assert_msg((st == VPU_ERR_PARSE) == want, "case %d, %s: %s", _i,
                      config_release_name((config_release)r), err.msg);
        if (st)
            ck_assert_msg(strstr(err.msg, releases[_i].says) != NULL, "%s",
                          err.msg);
        any |= st != VPU_OK;
    }
    ck_assert(any);
}
END_TEST

/* The vendor's own files have max-shaves on CustomLayer where the compiler they
 * came with ignores it. */
START_TEST(shaves_of_a_layer)
{
    static const char text[] =
        "<CustomLayer name=\"a\" type=\"MVCL\" version=\"1\" max-shaves=\"3\">"
        "<Kernel entry=\"k\"><Source filename=\"k.cl\"/>"
        "<Parameters><Tensor arg-name=\"x\" type=\"input\" port-index=\"0\" "
        "format=\"BFYX\"/></Parameters>"
        "<WorkSizes dim=\"input,0\" global=\"X,Y,F\" local=\"X,1,1\"/>"
        "</Kernel></CustomLayer>";

    for (int r = CONFIG_2020_4; r <= CONFIG_2022_3; r++) {
        ck_assert_msg(
            !config_file_parse(&(const file_bytes){text, strlen(text), "l.xml"},
                               a, &tlog.sink, (config_release)r, &file, &err),
            "%s", err.msg);
        ck_assert_uint_eq(file.layers[0].kernels[0].max_shaves, 0);
    }
    ck_assert(
        !config_file_parse(&(const file_bytes){text, strlen(text), "l.xml"}, a,
                           &tlog.sink, CONFIG_EVERY_RELEASE, &file, &err));
    ck_assert_uint_eq(file.layers[0].kernels[0].max_shaves, 3);
}
END_TEST

START_TEST(release_names)
{
    config_release r = CONFIG_EVERY_RELEASE;

    ck_assert(config_release_parse("2019r3", &r) && r == CONFIG_2019R3);
    ck_assert(config_release_parse("2022.3", &r) && r == CONFIG_2022_3);
    ck_assert(!config_release_parse("2022.4", &r) && r == CONFIG_2022_3);
    ck_assert(!config_release_parse("", &r));
    for (int i = CONFIG_2019R3; i <= CONFIG_2022_3; i++) {
        const char *name = config_release_name((config_release)i);

        ck_assert(config_release_parse(name, &r) && (int)r == i);
        ck_assert_ptr_nonnull(strstr(config_release_names(), name));
    }
}
END_TEST

/* Who compares a parameter with Where in another way. */
static const struct {
    const char *restriction, *value;
    config_release release;
    bool refused;
} where_releases[] = {
    {"0.5", "0.5", CONFIG_2020_4, true},  {"0.5", "0.5", CONFIG_2021_1, true},
    {"0.5", "0.5", CONFIG_2021_2, false}, {"3.0", "3", CONFIG_2022_1, false},
    {"3,3", "3,3", CONFIG_2020_4, false},
};

START_TEST(where_by_release)
{
    config_param k = {"k", where_releases[_i].value};
    const config_where *unmet;
    config_context c;
    char text[1024];

    snprintf(text, sizeof text, "%s<Where k=\"%s\"/>\n%s", HEAD,
             where_releases[_i].restriction, KERNEL PARAMS SIZES TAIL);
    ck_assert_msg(!parse(text), "%s", err.msg);
    c = config_layer_context(file.layers, where_releases[_i].release, NULL,
                             &err);
    ck_assert_int_eq(config_where_match(file.layers, &k, 1, &c, &unmet),
                     where_releases[_i].refused ? VPU_ERR_PARSE : VPU_OK);
    c.strict = CONFIG_2020_1;
    ck_assert_int_eq(config_where_match(file.layers, &k, 1, &c, &unmet),
                     strcmp(where_releases[_i].restriction, k.value)
                         ? VPU_ERR_PARSE
                         : VPU_OK);
    snprintf(text, sizeof text, "%s<Where k=\"&gt;2\"/>\n%s",
             "<CustomLayer name=\"a\" type=\"MVCL\" version=\"1\">",
             "<Kernel entry=\"k\"><Source filename=\"k\"/></Kernel>"
             "<Parameters/>" SIZES "</CustomLayer>");
    ck_assert_int_eq(
        config_file_parse(&(const file_bytes){text, strlen(text), "l"}, a, NULL,
                          CONFIG_2020_3, &file, &err),
        VPU_ERR_PARSE);
    ck_assert_ptr_nonnull(strstr(err.msg, "compare texts only"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("layer");
    TCase *t = tcase_create("layer");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, nested);
    tcase_add_test(t, flat_and_several_roots);
    tcase_add_test(t, stages_in_order);
    tcase_add_loop_test(t, refuses, 0, sizeof errors / sizeof *errors);
    tcase_add_test(t, entity_bomb_is_refused_fast);
    tcase_add_test(t, limits);
    tcase_add_test(t, positions_far_into_a_file);
    tcase_add_loop_test(t, remarks_once, 0, sizeof remarks / sizeof *remarks);
    tcase_add_loop_test(t, flat_remarks_once, 0,
                        sizeof flat_remarks / sizeof *flat_remarks);
    tcase_add_loop_test(t, stage_numbers, 0, sizeof stages / sizeof *stages);
    tcase_add_test(t, layers_without_a_stage);
    tcase_add_loop_test(t, dimensions, 0, sizeof dims / sizeof *dims);
    tcase_add_loop_test(t, where, 0, sizeof wheres / sizeof *wheres);
    tcase_add_loop_test(t, strict, 0, sizeof releases / sizeof *releases);
    tcase_add_test(t, release_names);
    tcase_add_test(t, shaves_of_a_layer);
    tcase_add_loop_test(t, where_by_release, 0,
                        sizeof where_releases / sizeof *where_releases);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
