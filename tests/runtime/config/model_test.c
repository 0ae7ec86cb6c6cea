/* IR versions 7, 10 and 11, and everything wrong in them. */
#include "runtime/config/model.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

static arena *a;
static vpu_error err;
static config_model m;
static const char bin[16] = {1, 2, 3, 4, 5, 6, 7, 8};

static void setup(void)
{
    a = arena_create(0);
    memset(&err, 0, sizeof err);
}

static void teardown(void)
{
    arena_destroy(a);
}

static vpu_status parse(const char *text)
{
    return config_model_parse(&(const file_bytes){text, strlen(text), "m.xml"},
                              &(const file_bytes){bin, sizeof bin, "m.bin"}, a,
                              &m, &err);
}

#define DIMS4 "<dim>1</dim><dim>3</dim><dim>4</dim><dim>8</dim>"

static const char v7[] =
    "<?xml version=\"1.0\"?>\n"
    "<net name=\"n7\" version=\"7\" batch=\"1\" precision=\"FP32\">\n"
    "<layers>\n"
    "<layer id=\"10\" name=\"data\" type=\"Input\" precision=\"FP16\">\n"
    "<output><port id=\"0\">" DIMS4 "</port></output></layer>\n"
    "<layer id=\"20\" name=\"conv\" type=\"Conv\">\n"
    "<data kernel=\"3,3\" group=\"1\"/>\n"
    "<input><port id=\"1\"><dim>8</dim></port>\n"
    "<port id=\"0\">" DIMS4 "</port></input>\n"
    "<output><port id=\"3\">" DIMS4 "</port></output>\n"
    "<weights offset=\"0\" size=\"8\" precision=\"FP16\"/>\n"
    "<biases offset=\"8\" size=\"4\"/>\n"
    "<blobs><custom offset=\"12\" size=\"4\"/></blobs></layer>\n"
    "<layer id=\"30\" name=\"grn\" type=\"GRN\"><grn_data bias=\"1\"/>\n"
    "<input><port id=\"0\">" DIMS4 "</port></input></layer>\n"
    "</layers><edges>\n"
    "<edge from-layer=\"10\" from-port=\"0\" to-layer=\"20\" to-port=\"0\"/>\n"
    "<edge from-layer=\"20\" from-port=\"3\" to-layer=\"30\" to-port=\"0\"/>\n"
    "</edges></net>\n";

START_TEST(version_7)
{
    const config_model_layer *l;

    ck_assert_msg(!parse(v7), "%s", err.msg);
    ck_assert_uint_eq(m.version, 7);
    ck_assert_str_eq(m.name, "n7");
    ck_assert_uint_eq(m.n_layers, 3);
    l = config_model_find(&m, "conv");
    ck_assert_ptr_nonnull(l);
    ck_assert_uint_eq(l->line, 6);
    ck_assert_uint_eq(l->inputs[0].id, 0); /* sorted */
    ck_assert_uint_eq(l->inputs[0].rank, 4);
    ck_assert_uint_eq(l->inputs[0].dims[3], 8);
    ck_assert_int_eq(l->inputs[0].from_layer, 0);
    ck_assert_int_eq(l->inputs[1].from_layer, -1);
    ck_assert_str_eq(l->outputs[0].precision, "FP32");
    ck_assert_str_eq(m.layers[0].outputs[0].precision, "FP16");
    ck_assert_str_eq(config_param_get(l->params, l->n_params, "kernel"), "3,3");
    ck_assert_uint_eq(l->n_blobs, 3);
    ck_assert_str_eq(l->blobs[0].name, "weights");
    ck_assert_str_eq(l->blobs[0].precision, "FP16");
    ck_assert_ptr_eq(l->blobs[2].data, bin + 12);
    ck_assert_str_eq(l->blobs[1].precision, "FP32");
    l = config_model_find(&m, "grn");
    ck_assert_str_eq(config_param_get(l->params, l->n_params, "bias"), "1");
    ck_assert_ptr_null(config_model_find(&m, "none"));
}
END_TEST

#define NET(v, layers, edges)                                         \
    "<net name=\"n\" version=\"" v "\"><layers>\n" layers "</layers>" \
    "<edges>\n" edges "</edges><rt_info><a/></rt_info></net>"
#define PARAMETER                                                        \
    "<layer id=\"0\" name=\"in\" type=\"Parameter\" version=\"opset1\">" \
    "<data shape=\"1,3,4,8\" element_type=\"f32\"/>"                     \
    "<output><port id=\"0\" precision=\"FP32\">" DIMS4                   \
    "</port></output></layer>\n"
#define CONST                                                            \
    "<layer id=\"2\" name=\"c\" type=\"Const\" version=\"opset1\">"      \
    "<data offset=\"0\" size=\"8\" element_type=\"f32\" shape=\"2,1\"/>" \
    "<output><port id=\"0\" precision=\"FP32\"><dim>2</dim><dim>1</dim>" \
    "</port></output></layer>\n"
#define CUSTOM                                                      \
    "<layer id=\"1\" name=\"x\" type=\"A\" version=\"extension\">"  \
    "<data bias=\"0.5\"/><input><port id=\"5\">" DIMS4              \
    "</port><port id=\"2\"><dim>2</dim><dim>1</dim></port></input>" \
    "<output><port id=\"0\" precision=\"FP32\">" DIMS4              \
    "</port></output><rt_info/></layer>\n"
#define EDGE(a, b, c, d)                                           \
    "<edge from-layer=\"" a "\" from-port=\"" b "\" to-layer=\"" c \
    "\" to-port=\"" d "\"/>\n"

static const char *const versions[] = {
    NET("10", PARAMETER CONST CUSTOM,
        EDGE("0", "0", "1", "5") EDGE("2", "0", "1", "2")),
    NET("11", PARAMETER CONST CUSTOM,
        EDGE("0", "0", "1", "5") EDGE("2", "0", "1", "2")),
};

START_TEST(version_10_and_11)
{
    const config_model_layer *l;

    ck_assert_msg(!parse(versions[_i]), "%s", err.msg);
    ck_assert_uint_eq(m.version, _i ? 11 : 10);
    l = config_model_find(&m, "x");
    ck_assert_str_eq(l->opset, "extension");
    ck_assert_uint_eq(l->inputs[0].id, 5); /* as written */
    ck_assert_int_eq(l->inputs[0].from_layer, 0);
    ck_assert_int_eq(l->inputs[1].from_layer, 1);
    ck_assert_ptr_null(l->inputs[0].precision);
    ck_assert_str_eq(m.layers[1].blobs[0].precision, "f32");
    ck_assert_uint_eq(m.layers[1].blobs[0].bytes, 8);
}
END_TEST

START_TEST(dynamic_dims)
{
    ck_assert(!parse(NET("11",
                         "<layer id=\"0\" name=\"a\" type=\"P\" "
                         "version=\"o\"><output><port id=\"0\"><dim>-1</dim>"
                         "</port></output></layer>",
                         "")));
    ck_assert_uint_eq(m.layers[0].outputs[0].dims[0], CONFIG_DIM_DYNAMIC);
}
END_TEST

#define LAYER(body) \
    "<layer id=\"0\" name=\"a\" type=\"P\" version=\"o\">" body "</layer>"

static const struct {
    const char *text;
    vpu_status st;
    const char *says;
} errors[] = {
    {"", VPU_ERR_PARSE, "found no element; expected net"},
    {"<a/>", VPU_ERR_PARSE, "m.xml:1:1: error: found a; expected net"},
    {"<net/>", VPU_ERR_PARSE, "missing mandatory attribute version"},
    {"<net version=\"8\"/>", VPU_ERR_UNSUPPORTED, "IR version 8"},
    {"<net version=\"12\"/>", VPU_ERR_UNSUPPORTED, "IR version 12"},
    {"<net version=\"1\"/>", VPU_ERR_UNSUPPORTED, "IR version 1"},
    {"<net version=\"x\"/>", VPU_ERR_PARSE, "version=\"x\" of net"},
    {"<net version=\"10\"/>", VPU_ERR_PARSE, "no element layers"},
    {"<net version=\"10\"><layers/></net><net/>", VPU_ERR_PARSE,
     "a second root element"},
    {NET("10", "<layer/>", ""), VPU_ERR_PARSE,
     "m.xml:2:1: error: node layer is missing mandatory attribute id"},
    {NET("10", "<layer id=\"0\" name=\"a\" type=\"b\"/>", ""), VPU_ERR_PARSE,
     "missing mandatory attribute version"},
    {NET("10", PARAMETER PARAMETER, ""), VPU_ERR_PARSE, "two layers have id 0"},
    {NET("10",
         PARAMETER "<layer id=\"9\" name=\"in\" type=\"b\" version=\"o\"/>",
         ""),
     VPU_ERR_PARSE, "two layers are named 'in'"},
    {NET("10", LAYER("<input><port id=\"-1\"/></input>"), ""), VPU_ERR_PARSE,
     "id=\"-1\" of port"},
    {NET("10", LAYER("<input><port id=\"1\"/><port id=\"1\"/></input>"), ""),
     VPU_ERR_PARSE, "two ports have id 1"},
    {NET("10", LAYER("<input><port id=\"1\"><dim>0</dim></port></input>"), ""),
     VPU_ERR_PARSE, "dim '0'; expected"},
    {NET("10", LAYER("<input><port id=\"1\"><dim>-1</dim></port></input>"), ""),
     VPU_ERR_PARSE, "dim '-1'; expected"},
    {NET("10",
         LAYER("<input><port id=\"1\"><dim>4294967296</dim></port></input>"),
         ""),
     VPU_ERR_PARSE, "dim '4294967296'"},
    {NET("10", LAYER("<weights offset=\"0\" size=\"17\"/>"), ""), VPU_ERR_PARSE,
     "17 bytes at 0, exceeds the weights file of 16"},
    {NET("10", LAYER("<weights offset=\"18446744073709551610\" size=\"8\"/>"),
         ""),
     VPU_ERR_PARSE, "offset=\"18446744073709551610\""},
    {NET("10", LAYER("<weights offset=\"9\" size=\"8\"/>"), ""), VPU_ERR_PARSE,
     "8 bytes at 9, exceeds"},
    {NET("10", LAYER("<blobs><w offset=\"9\"/></blobs>"), ""), VPU_ERR_PARSE,
     "node w is missing mandatory attribute size"},
    {NET("10", PARAMETER CUSTOM, "<edge/>"), VPU_ERR_PARSE,
     "missing mandatory attribute from-layer"},
    {NET("10", PARAMETER CUSTOM, EDGE("7", "0", "1", "5")), VPU_ERR_PARSE,
     "attempt to access node 7"},
    {NET("10", PARAMETER CUSTOM, EDGE("0", "0", "8", "5")), VPU_ERR_PARSE,
     "attempt to access node 8"},
    {NET("10", PARAMETER CUSTOM, EDGE("0", "3", "1", "5")), VPU_ERR_PARSE,
     "output port 3 does not exist in layer in"},
    {NET("10", PARAMETER CUSTOM, EDGE("0", "0", "1", "7")), VPU_ERR_PARSE,
     "input port 7 does not exist in layer x"},
    {NET("10", PARAMETER CUSTOM, EDGE("0", "0", "1", "2")), VPU_ERR_PARSE,
     "mismatch dimensions: output port 0 of in and input port 2 of x"},
    {NET("10", PARAMETER CUSTOM,
         EDGE("0", "0", "1", "5") EDGE("0", "0", "1", "5")),
     VPU_ERR_PARSE, "connected twice"},
    {"<!DOCTYPE net><net/>", VPU_ERR_UNSUPPORTED, "document type"},
};

START_TEST(refuses)
{
    vpu_status st = parse(errors[_i].text);

    ck_assert_msg(st == errors[_i].st, "case %d: %d: %s", _i, st, err.msg);
    ck_assert_msg(strstr(err.msg, errors[_i].says) != NULL, "%s", err.msg);
    ck_assert_msg(!strncmp(err.msg, "m.xml:", 6), "%s", err.msg);
    ck_assert_uint_eq(m.n_layers, 0);
}
END_TEST

/* What stands beside ports, and names none, is left out. */
START_TEST(only_ports_are_ports)
{
    static const char text[] = NET(
        "10",
        PARAMETER "<layer id=\"1\" name=\"x\" type=\"A\" version=\"extension\">"
                  "<input><rt_info id=\"9\"/><!-- --><port id=\"5\">" DIMS4
                  "</port><other/></input><output><rt_info><port/></rt_info>"
                  "<port id=\"0\" precision=\"FP32\">" DIMS4
                  "</port><other/></output></layer>\n",
        EDGE("0", "0", "1", "5"));

    ck_assert_msg(!parse(text), "%s", err.msg);
    ck_assert_uint_eq(m.n_layers, 2);
    ck_assert_uint_eq(m.layers[1].n_inputs, 1);
    ck_assert_uint_eq(m.layers[1].inputs[0].id, 5);
    ck_assert_int_eq(m.layers[1].inputs[0].from_layer, 0);
    ck_assert_uint_eq(m.layers[1].n_outputs, 1);
    ck_assert_uint_eq(m.layers[1].outputs[0].id, 0);
    ck_assert_str_eq(m.layers[1].outputs[0].precision, "FP32");
}
END_TEST

START_TEST(files)
{
    char dir[] = "/tmp/model_testXXXXXX";
    char *xml, *weights;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    xml = arena_printf(a, "%s/net.xml", dir);
    weights = arena_printf(a, "%s/net.bin", dir);
    ck_assert(!file_write(xml, v7, strlen(v7), &err));
    ck_assert_int_eq(config_model_read(xml, NULL, a, &m, &err), VPU_ERR_PARSE);
    ck_assert_ptr_nonnull(strstr(err.msg, "there is no weights file"));
    ck_assert(!file_write(weights, bin, sizeof bin, &err));
    ck_assert_msg(!config_model_read(xml, NULL, a, &m, &err), "%s", err.msg);
    ck_assert_mem_eq(m.layers[1].blobs[0].data, bin, 8);
    ck_assert_int_eq(config_model_read(xml, "/nowhere", a, &m, &err),
                     VPU_ERR_IO);
    unlink(xml), unlink(weights), rmdir(dir);
    ck_assert_int_eq(config_model_read(xml, NULL, a, &m, &err), VPU_ERR_IO);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("model");
    TCase *t = tcase_create("model");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, version_7);
    tcase_add_loop_test(t, version_10_and_11, 0, 2);
    tcase_add_test(t, dynamic_dims);
    tcase_add_loop_test(t, refuses, 0, sizeof errors / sizeof *errors);
    tcase_add_test(t, only_ports_are_ports);
    tcase_add_test(t, files);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
