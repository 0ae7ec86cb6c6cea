/* The vpu program from outside: options, what it accepts with a warning, files
 * it reads and writes, .bin files. */
#include <check.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/trace/reader.h"
#include "tests/support/add_layer.h"

static terminal p;

static void setup(void)
{
    terminal_open(&p);
    add_layer_put(&p);
}

static void teardown(void)
{
    terminal_close(&p);
}

static const void *npy_data(const char *name, size_t *n)
{
    const char *data = terminal_bytes(&p, name, n);

    ck_assert_uint_gt(*n, 128);
    *n -= 128;
    return data + 128;
}

/* --- command lines ------------------------------------------------------- */

static const struct {
    const char *args;
    int status;
    const char *want[3];
} lines[] = {
    {"--help", 0, {"run", "cc", "machine"}},
    {"help", 0, {"run", "cc", "machine"}},
    {"", 2, {"usage: vpu COMMAND"}},
    {"help run", 0, {"usage: vpu run", "Examples:"}},
    {"help cc", 0, {"usage: vpu cc", "Examples:"}},
    {"help machine", 0, {"usage: vpu machine", "Examples:"}},
    {"help lint", 0, {"usage: vpu lint", "--checks LIST", "Examples:"}},
    {"help asm", 0, {"usage: vpu asm", "Examples:"}},
    {"run --help", 0, {"usage: vpu run", "--trace-level", "Examples:"}},
    {"cc --help", 0, {"usage: vpu cc", "--strip-binary-header", "Examples:"}},
    {"machine --help", 0, {"usage: vpu machine", "Examples:"}},
    {"run layer.xml -h", 0, {"usage: vpu run"}},
    {"--version", 0, {"vpu ", "LLVM"}},
    {"fly", 2, {"no command 'fly'", "vpu --help"}},
    {"rn", 2, {"no command 'rn'", "did you mean run?"}},
    {"help foo", 2, {"no command 'foo'", "vpu --help"}},
    {"help chekc", 2, {"did you mean check?"}},
    {"run layer.xml --trace-levle full", 2, {"did you mean --trace-level?"}},
    {"run", 2, {"no binding file", "vpu run --help"}},
    {ADD_RUN "other.xml", 2, {"vpu: other.xml: No such file"}},
    {ADD_RUN "--fast", 2, {"--fast", "vpu run --help"}},
    {ADD_RUN "--order shuffled", 2, {"--order", "shuffled"}},
    {ADD_RUN "--order random:x", 2, {"--order", "random:x"}},
    {ADD_RUN "--shaves 0", 2, {"--shaves", "'0'"}},
    {ADD_RUN "--shaves 17", 2, {"--shaves 17", "16"}},
    {ADD_RUN "--shaves many", 2, {"--shaves", "many"}},
    {ADD_RUN "--shaves -1", 2, {"--shaves", "-1"}},
    {ADD_RUN "--threads 0", 2, {"--threads", "'0'"}},
    {ADD_RUN "--timeout soon", 2, {"--timeout", "soon"}},
    {ADD_RUN "--timeout -1", 2, {"--timeout", "-1"}},
    {ADD_RUN "--max-cycles 0", 0, {"layer Add"}},
    {ADD_RUN "--max-cycles many", 2, {"--max-cycles", "'many'"}},
    {ADD_RUN "--cache-size many", 2, {"--cache-size", "'many'"}},
    {ADD_RUN "--cache-size 99999999999G", 2, {"--cache-size", "99999999999G"}},
    {ADD_RUN "--cache-size 64M", 0, {"layer Add"}},
    {ADD_RUN "--report xml", 2, {"--report", "xml"}},
    {ADD_RUN "--trace-level fine", 2, {"--trace-level", "fine"}},
    {ADD_RUN "--set ddr_load_stal=3", 2, {"ddr_load_stal", "ddr_load_stall"}},
    {ADD_RUN "--set ddr_load_stall=9 --set ddr_load_stal=3",
     2,
     {"ddr_load_stal"}},
    {ADD_RUN "--set ddr_load_stall", 2, {"ddr_load_stall", "key=value"}},
    {ADD_RUN "--set ddr_load_stall=fast", 2, {"ddr_load_stall"}},
    {ADD_RUN "--set fast_cache=4096",
     2,
     {"fast_cache: 4096", "outside 0 .. ", "vpu machine"}},
    {ADD_RUN "--set fast_cache=no", 2, {"fast_cache", "not a whole number"}},
    {ADD_RUN "--machine nowhere.xml", 2, {"nowhere.xml"}},
    {ADD_RUN "--machine layer.xml", 2, {"layer.xml", "machine"}},
    {ADD_RUN "--input 0", 2, {"--input 0", "expected"}},
    {ADD_RUN "--input 0=ones", 2, {"ones", "in0", "zeros"}},
    {ADD_RUN "--input 3=zeros", 2, {"--input 3=zeros"}},
    {ADD_RUN "--input 0=nowhere.npy", 2, {"nowhere.npy"}},
    {ADD_RUN "--layer Mul",
     2,
     {"no layer of type Mul", "layer.xml", "it binds Add (line 1)"}},
    {ADD_RUN "--layer Adds", 2, {"did you mean Add?"}},
    {"run add.cl --shape in0=1x2x4x16",
     2,
     {"add.cl: error: found no element", "looks like OpenCL C",
      "<Source filename="}},
    {ADD_RUN "--strict 2021.3", 0, {"layer Add"}},
    {ADD_RUN "--strict 2020.3", 2, {"layer.xml:1", "nested form", "2020.3"}},
    {ADD_RUN "--strict 2023.0", 2, {"--strict", "2023.0"}},
    {ADD_RUN "--at x", 2, {"--at", "--model"}},
    {ADD_RUN "--model m.xml", 2, {"--model", "--shape"}},
    {"run layer.xml --model m.xml --layer Add", 2, {"--layer", "--at NAME"}},
    {"run layer.xml --model m.xml", 2, {"m.xml"}},
    {ADD_RUN "--shape in0=1x2x4x16", 2, {"in0"}},
    {ADD_RUN "--shape out1=1x2x4x16", 2, {"out1"}},
    {ADD_RUN "-I", 2, {"-I needs a value"}},
    {"cc", 2, {"no source file", "vpu cc --help"}},
    {"cc add.cl other.cl", 2, {"add.cl", "other.cl"}},
    {"cc add.cl --fast", 2, {"--fast"}},
    {"cc add.cl -o", 2, {"-o"}},
    {"cc nowhere.cl", 2, {"nowhere.cl"}},
    {"cc add.cl -I@add.cl", 2, {"'-I@add.cl' is no option", "-I./@x"}},
    {ADD_RUN "-D @add.cl", 2, {"'-D@add.cl' is no option", "-DNAME=VALUE"}},
    {"cc add.cl --kernel sub", 2, {"add.cl", "'sub'", "add"}},
    {"cc add.cl -o add.cl/x.bin", 2, {"add.cl/x.bin"}},
    {"machine", 0, {"clk_mhz", "documented", "assumed"}},
    {"machine --set ddr_load_stall=77", 0, {"77", "set by the user"}},
    {"machine --set fast_cache=0",
     0,
     {"modes of the simulator", "fast_cache                    0"}},
    {"machine --set dd=1", 2, {"\"dd\"", "vpu machine lists them"}},
    {"machine --set ddr_laod=1", 2, {"nearest: ddr_load_stall"}},
    {"machine extra", 2, {"machine --help"}},
    {"machine --machine nowhere.xml", 2, {"nowhere.xml"}},
};

START_TEST(command_line)
{
    terminal_run(&p, lines[_i].args);
    for (int k = 0; k < 3 && lines[_i].want[k]; k++)
        terminal_expect(&p, lines[_i].status, lines[_i].want[k]);
    add_layer_files(&p, "");
}
END_TEST

/* --- accepted with a warning --------------------------------------------- */

static const struct {
    const char *name, *xml, *cl, *want;
} odd[] = {
    {"unknown attribute",
     "<CustomLayer name=\"Add\" type=\"MVCL\" version=\"1\" "
     "colour=\"red\">\n" ADD_BODY("add.cl", ADD_SIZES) "</CustomLayer>\n",
     NULL, "layer.xml:1: unknown attribute colour"},
    {"unknown element",
     ADD_HEAD "  <Colour/>\n" ADD_BODY("add.cl", ADD_SIZES) "</CustomLayer>\n",
     NULL, "layer.xml:2: unknown element Colour"},
    {"remainder dropped",
     ADD_HEAD ADD_BODY("add.cl",
                       "global=\"X,Y,F\" local=\"5,1,1\"") "</CustomLayer>\n",
     NULL, "global size 16 is not a multiple"},
    {"binding without argument", ADD_LAYER,
     "__kernel void add(__global const half *src, __global half *dst)\n"
     "{ dst[get_global_id(0)] = src[get_global_id(0)]; }\n",
     "note: layer.xml:7: kernel 'add' has no argument 'bias'"},
    {"wider elements", ADD_LAYER,
     "__kernel void add(__global const uint2 *src, __global half *dst,\n"
     "                  float bias)\n{\n    dst[0] = src[0].y + bias;\n}\n",
     "layer.xml:5: 'src' is __global uint2*: each element is 2 of the tensor"},
    {"the same size", ADD_LAYER,
     "__kernel void add(__global const ushort8 *src, __global short *dst,\n"
     "                  float bias)\n{\n    dst[0] = src[0].s7 + bias;\n}\n",
     ""},
    {"compiler's warning", ADD_LAYER,
     "__kernel void add(__global const half *src, __global half *dst,\n"
     "                  float bias)\n{\n    if (bias = 2)\n"
     "        dst[0] = src[0];\n}\n",
     "add.cl:4:"},
    {"comments and stray text", "hello\n<!-- a --> b\n" ADD_LAYER "the end\n",
     NULL, ""},
};

START_TEST(accepted)
{
    terminal_text(&p, "layer.xml", odd[_i].xml);
    if (odd[_i].cl)
        terminal_text(&p, "add.cl", odd[_i].cl);
    terminal_run(&p, ADD_RUN ADD_OUT);
    terminal_expect(&p, 0, "cycles");
    if (*odd[_i].want)
        ck_assert_msg((strstr(p.err, "warning") || strstr(p.err, "note")) &&
                          strstr(p.err, odd[_i].want),
                      "%s: %s", odd[_i].name, p.err);
    add_layer_files(&p, "out/out0.npy\nout/report.json\nt.json\nt.pftrace");
    ck_assert(terminal_has(&p, "out/out0.npy"));
    ck_assert(terminal_has(&p, "out/report.json"));
    ck_assert(terminal_has(&p, "t.pftrace") && terminal_has(&p, "t.json"));
}
END_TEST

START_TEST(several_layers)
{
    terminal_text(&p, "layer.xml",
                  ADD_LAYER "<CustomLayer name=\"Other\" type=\"MVCL\" "
                            "version=\"1\">\n" ADD_BODY(
                                "none.cl", ADD_SIZES) "</CustomLayer>\n");
    terminal_run(&p, ADD_RUN);
    terminal_expect(&p, 2,
                    "binds several layer types: Add (line 1), Other (line");
    terminal_run(&p, ADD_RUN "--layer Add");
    terminal_expect(&p, 0, "cycles");
    terminal_run(&p, ADD_RUN "--layer other");
    terminal_expect(&p, 2, "none.cl");
}
END_TEST

START_TEST(several_kernels)
{
    terminal_text(&p, "two.cl",
                  "__kernel void first(__global half *d) { d[0] = 1; }\n"
                  "__kernel void __dma_preload_first(__global half *d) {}\n"
                  "__kernel void second(__global half *d) { d[0] = 2; }\n");
    terminal_run(&p, "cc two.cl --output two.bin");
    terminal_expect(&p, 2,
                    "two.cl: error: the file has the kernels first, "
                    "second; name one (--kernel)");
    terminal_run(&p, "cc two.cl --kernel second --output two.bin");
    terminal_expect(&p, 0, "");
    terminal_text(&p, "none.cl", "int twice(int x) { return 2 * x; }\n");
    terminal_run(&p, "cc none.cl --output none.bin");
    terminal_expect(&p, 2, "none.cl: error: the file has no kernel");
    ck_assert(terminal_has(&p, "two.bin") && !terminal_has(&p, "none.bin"));
}
END_TEST

START_TEST(same_result_whatever_the_order)
{
    static const char *const how[] = {"",
                                      "--threads 1",
                                      "--threads 2",
                                      "--order reverse",
                                      "--order random:7",
                                      "--shaves 3",
                                      "--no-cache",
                                      "--quiet"};
    size_t n, first_n = 0;
    const void *first = NULL;

    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        const void *data;

        terminal_run(&p,
                     arena_printf(p.arena, ADD_RUN "--output out %s", how[i]));
        terminal_expect(&p, 0, "cycles");
        data = npy_data("out/out0.npy", &n);
        if (!first) {
            first = data;
            first_n = n;
            ck_assert_uint_eq(n, 2 * 2 * 4 * 16);
        }
        ck_assert_msg(n == first_n && !memcmp(data, first, n), "%s", how[i]);
    }
    terminal_run(&p, ADD_RUN "--report json");
    terminal_expect(&p, 0, "\"cycles\"");
    ck_assert(p.out[0] == '{');
}
END_TEST

/* Input N is random:N unless something else is asked for. */
START_TEST(inputs)
{
    static const char two[] = ADD_HEAD
        "<Kernel entry=\"add\"><Source filename=\"add.cl\"/><Parameters>"
        "<Tensor arg-name=\"a\" type=\"input\" port-index=\"0\"/>"
        "<Tensor arg-name=\"b\" type=\"input\" port-index=\"1\"/>"
        "<Tensor arg-name=\"sum\" type=\"output\" port-index=\"0\"/>"
        "</Parameters><WorkSizes dim=\"input,0\" global=\"X,Y,F\" "
        "local=\"X,1,1\"/></Kernel></CustomLayer>\n";
    static const struct {
        const char *options;
        bool same;
    } how[] = {{"--input 0=random:0 --input 1=random:1", true},
               {"--input 0=random:1", false},
               {"--input 0=ramp", false},
               {"--input 0=zeros", false},
               {"--input 1=zeros", false},
               {"--input 0=zeros --input 1=zeros", false}};
    const uint16_t *first, *data = NULL;
    size_t n;

    terminal_text(&p, "layer.xml", two);
    terminal_text(&p, "add.cl",
                  "__kernel void add(__global const half *a, __global const "
                  "half *b, __global half *sum)\n"
                  "{\n    size_t i = (get_global_id(2) * 4 + "
                  "get_global_id(1)) * 16 + get_global_id(0);\n"
                  "    sum[i] = a[i] + b[i];\n}\n");
#define RUN_TWO "run layer.xml --shape in0=1x2x4x16 --shape in1=1x2x4x16 "
    terminal_run(&p, RUN_TWO "--output out");
    terminal_expect(&p, 0, "cycles");
    first = npy_data("out/out0.npy", &n);
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        terminal_run(&p, arena_printf(p.arena, RUN_TWO "--output out %s",
                                      how[i].options));
        terminal_expect(&p, 0, "cycles");
        data = npy_data("out/out0.npy", &n);
        ck_assert_msg(!memcmp(data, first, n) == how[i].same, "%s",
                      how[i].options);
    }
    ck_assert_uint_eq(n, 2 * 2 * 4 * 16);
    for (size_t i = 0; i < n / 2; i++)
        ck_assert_uint_eq(data[i], 0);
}
END_TEST

START_TEST(threads_do_not_change_cycles_and_traces)
{
    size_t n[2];
    const void *trace[2];
    char *report[2];

    for (int i = 0; i < 2; i++) {
        terminal_run(
            &p, arena_printf(p.arena, ADD_RUN ADD_OUT "--threads %d", i + 1));
        terminal_expect(&p, 0, "cycles");
        report[i] = arena_strdup(p.arena, p.out);
        trace[i] = npy_data("t.pftrace", &n[i]);
    }
    ck_assert_str_eq(report[0], report[1]);
    ck_assert_uint_eq(n[0], n[1]);
    ck_assert_mem_eq(trace[0], trace[1], n[0]);
}
END_TEST

/* --- what traces hold ---------------------------------------------------- */

typedef struct {
    uint64_t tracks[64];
    const char *names[64];
    uint32_t n_tracks, slices, causes, phases;
    char level[16];
} trace_seen;

static bool see_track(void *user, const trc_read_track *t)
{
    trace_seen *s = user;

    ck_assert_uint_lt(s->n_tracks, 64);
    s->tracks[s->n_tracks] = t->uuid;
    s->names[s->n_tracks++] = arena_strdup(p.arena, t->name);
    return true;
}

static bool see_event(void *user, const trc_read_event *e)
{
    trace_seen *s = user;

    if (e->kind == TRC_READ_INSTANT && e->n_args &&
        !strcmp(e->args[0].name, "level"))
        snprintf(s->level, sizeof s->level, "%s", e->args[0].text);
    if (e->kind != TRC_READ_BEGIN)
        return true;
    s->slices++;
    s->causes += !strcmp(e->name, "issue");
    s->phases += !strncmp(e->name, "comp ", 5);
    return true;
}

static trace_seen read_trace(const char *name)
{
    trace_seen s = {0};
    trc_read_ops ops = {.track = see_track, .event = see_event, .user = &s};
    vpu_error err = {0};

    ck_assert_msg(
        !trc_read_file(arena_printf(p.arena, "%s/%s", p.dir, name), &ops, &err),
        "%s", err.msg);
    return s;
}

/* 400 groups on one SHAVE: more than merged slices. */
#define MANY "run layer.xml --shape in0=1x4x100x16 --param bias=1 --shaves 1 "

/* Two share nothing but the memory, of which these few bytes need little. */
START_TEST(executors)
{
    json_t *j;
    double ms, latency, period;
    const char *text;
    size_t n;

    terminal_run(&p, ADD_RUN ADD_OUT "--shaves 8 --executors 2 --json "
                                     "--trace-json t.json");
    ck_assert_msg(p.status == 0, "%s", p.err);
    j = json_loads(p.out, 0, NULL);
    ck_assert_ptr_nonnull(j);
    ck_assert(!json_unpack(j, "{s:f,s:{s:f,s:f}}", "ms", &ms, "executors",
                           "latency_ms", &latency, "period_ms", &period));
    json_decref(j);
    ck_assert_double_ge(latency, ms + 1);
    ck_assert_double_le(latency, ms * 1.01 + 1.3);
    ck_assert_double_eq_tol(period, latency / 2, 1e-9);
    text = terminal_bytes(&p, "t.json", &n);
    ck_assert_ptr_nonnull(memmem(text, n, "\"executor 1\"", 12));
    terminal_run(&p, ADD_RUN ADD_OUT "--shaves 8 --executors 2");
    terminal_expect(&p, 0, "2 executors: an inference takes ");
    terminal_run(&p, ADD_RUN ADD_OUT "--executors 2");
    terminal_expect(&p, 2,
                    "16 SHAVEs in each of 2 executors; 1 to 8 are there");
    terminal_run(&p, ADD_RUN ADD_OUT "--shaves 4 --executors 3");
    terminal_expect(&p, 2, "the machine has 2");
    terminal_run(&p, ADD_RUN ADD_OUT "--timing none --executors 1");
    terminal_expect(&p, 2, "executors");
    terminal_run(&p, ADD_RUN "--backend null --executors 1");
    terminal_expect(&p, 2, "--executors is about the simulator");
}
END_TEST

START_TEST(trace_levels)
{
    static const char *const levels[] = {"summary", "groups", "full"};
    trace_seen s[3];

    for (int i = 0; i < 3; i++) {
        terminal_run(&p, arena_printf(p.arena,
                                      MANY "--trace t.pftrace "
                                           "--trace-level %s",
                                      levels[i]));
        terminal_expect(&p, 0, "cycles");
        s[i] = read_trace("t.pftrace");
        ck_assert_str_eq(s[i].level, levels[i]);
    }
    ck_assert_uint_eq(s[0].phases, 0);
    /* 256 of the SHAVE's track, and of the critical path's. */
    ck_assert_uint_le(s[0].slices, 512);
    ck_assert_uint_eq(s[1].phases, 400);
    ck_assert_uint_eq(s[1].causes, 0);
    ck_assert_uint_eq(s[2].phases, 400);
    ck_assert_uint_eq(s[2].causes, 400);
    terminal_run(&p, MANY "--trace t.pftrace");
    ck_assert_uint_eq(read_trace("t.pftrace").slices, s[2].slices);
}
END_TEST

/* --- tensors from files -------------------------------------------------- */

#define NPY(descr, order, shape) \
    "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }"

static const struct {
    const char *name, *head;
    size_t n_data;
    const char *want[3];
} tensors[] = {
    {"wrong type",
     NPY("<f4", "False", "(1, 2, 4, 16)"),
     512,
     {"t.npy", "f32 1x2x4x16", "f16 1x2x4x16"}},
    {"wrong shape",
     NPY("<f2", "False", "(1, 2, 16, 4)"),
     256,
     {"t.npy", "f16 1x2x16x4", "f16 1x2x4x16"}},
    {"unsupported type",
     NPY("<c8", "False", "(1, 2, 4, 16)"),
     1024,
     {"t.npy", "<c8", "<f2"}},
    {"Fortran order",
     NPY("<f2", "True", "(1, 2, 4, 16)"),
     256,
     {"t.npy", "Fortran"}},
    {"too short",
     NPY("<f2", "False", "(1, 2, 4, 16)"),
     200,
     {"t.npy", "200 bytes", "256"}},
    {"too long",
     NPY("<f2", "False", "(1, 2, 4, 16)"),
     300,
     {"t.npy", "300 bytes", "256"}},
    {"no header", "", 0, {"t.npy"}},
    {"broken header", "{'descr': '<f2', 'shape'", 256, {"t.npy", "header"}},
};

static void write_npy(const char *head, size_t n_data)
{
    size_t n = strlen(head), pad = (118 - n % 64) % 64;
    str s = {0};

    str_add(&s, "\x93NUMPY\x01\x00", 8);
    str_add(&s, &(char){(char)(n + pad)}, 1);
    str_add(&s, "", 1);
    str_puts(&s, head);
    for (size_t i = 0; i < pad; i++)
        str_puts(&s, i + 1 < pad ? " " : "\n");
    for (size_t i = 0; i < n_data; i++)
        str_add(&s, &(char){(char)(i & 1 ? 0x3c : 0)}, 1);
    terminal_file(&p, "t.npy", s.data, s.n);
    str_free(&s);
}

START_TEST(bad_tensor)
{
    write_npy(tensors[_i].head, tensors[_i].n_data);
    terminal_run(&p, ADD_RUN ADD_OUT "--input 0=t.npy");
    for (int k = 0; k < 3 && tensors[_i].want[k]; k++)
        terminal_expect(&p, _i == 2 || _i == 3 ? 5 : 2, tensors[_i].want[k]);
    add_layer_files(&p, "t.npy");
}
END_TEST

START_TEST(good_tensor)
{
    const unsigned short *data;
    size_t n;

    write_npy(NPY("<f2", "False", "(1, 2, 4, 16)"), 256);
    terminal_run(&p, ADD_RUN ADD_OUT "--input 0=t.npy");
    terminal_expect(&p, 0, "cycles");
    data = npy_data("out/out0.npy", &n);
    ck_assert_uint_eq(n, 256);
    for (int i = 0; i < 128; i++)
        ck_assert_uint_eq(data[i], 0x4000); /* 1 + 1 */
}
END_TEST

START_TEST(truncated_tensor)
{
    terminal_file(&p, "t.npy", "\x93NUMPY\x01\x00\x76", 9);
    terminal_run(&p, ADD_RUN ADD_OUT "--input 0=t.npy");
    terminal_expect(&p, 2, "t.npy");
    terminal_file(&p, "t.npy", "", 0);
    terminal_run(&p, ADD_RUN ADD_OUT "--input 0=t.npy");
    terminal_expect(&p, 2, "t.npy");
    add_layer_files(&p, "t.npy");
}
END_TEST

/* --- output that cannot be written --------------------------------------- */

static const struct {
    const char *args, *want;
} unwritable[] = {
    {"--output add.cl/out", "add.cl"},
    {"--output add.cl", "add.cl"},
    {"--output out --trace add.cl/t.pftrace", "add.cl/t.pftrace"},
    {"--output out --trace-json add.cl/t.json", "add.cl/t.json"},
    {"--output out --trace no/such/dir/t.pftrace", "no/such/dir/t.pftrace"},
    {"--output /proc/out", "/proc/out"},
    {"--output out --trace t.pftrace --trace-json add.cl/t.json",
     "add.cl/t.json"},
};

START_TEST(cannot_write)
{
    terminal_run(&p, arena_printf(p.arena, ADD_RUN "%s", unwritable[_i].args));
    terminal_expect(&p, 2, unwritable[_i].want);
    add_layer_files(&p, "");
}
END_TEST

/* --- .bin files ---------------------------------------------------------- */

#define BIN_LAYER ADD_HEAD ADD_BODY("add.bin", ADD_SIZES) "</CustomLayer>\n"

START_TEST(own_bin)
{
    const void *from_cl, *from_bin;
    size_t n, m;

    terminal_run(&p, ADD_RUN "--output out");
    terminal_expect(&p, 0, "cycles");
    from_cl = npy_data("out/out0.npy", &n);
    terminal_run(&p, "cc --strip-binary-header add.cl -o add.bin");
    terminal_expect(&p, 0, "");
    terminal_text(&p, "add.cl", "this is not used any more");
    terminal_text(&p, "layer.xml", BIN_LAYER);
    terminal_run(&p, ADD_RUN "--output out");
    terminal_expect(&p, 0, "cycles");
    from_bin = npy_data("out/out0.npy", &m);
    ck_assert_uint_eq(n, m);
    ck_assert_mem_eq(from_cl, from_bin, n);
    terminal_run(&p, "cc add.cl");
    terminal_expect(&p, 2, "add.cl:1:1: error");
    add_layer_files(&p, "add.bin\nout/out0.npy\nout/report.json");
}
END_TEST

START_TEST(bin_falls_back_to_source)
{
    terminal_text(&p, "layer.xml", BIN_LAYER);
    terminal_run(&p, ADD_RUN);
    terminal_expect(&p, 0, "cycles");
    terminal_run(&p, "cc add.cl"); /* the default name is add.bin */
    terminal_expect(&p, 0, "");
    ck_assert(terminal_has(&p, "add.bin"));
}
END_TEST

START_TEST(vendor_bin)
{
    unsigned char elf[84] = "\177ELF\1\1\1";

    elf[16] = 2; /* executable */
    elf[20] = 1;
    elf[32] = 52; /* section headers: one, empty */
    elf[40] = 52;
    elf[46] = 40;
    terminal_text(&p, "layer.xml", BIN_LAYER);
    terminal_file(&p, "add.bin", elf, sizeof elf);
    terminal_run(&p, ADD_RUN);
    terminal_expect(&p, 0, "cycles"); /* add.cl is beside it */
    terminal_text(&p, "src/add.cl", add_layer_cl);
    unlink(arena_printf(p.arena, "%s/add.cl", p.dir));
    terminal_run(&p, ADD_RUN ADD_OUT);
    terminal_expect(&p, 5,
                    "vpu: unsupported feature: layer.xml:2: error: add.bin");
    terminal_expect(&p, 5, "vendor");
    terminal_expect(&p, 5, "add.cl");
    add_layer_files(&p, "add.bin\nsrc/add.cl");
    terminal_run(&p, ADD_RUN "--source-dir src");
    terminal_expect(&p, 0, "cycles");
}
END_TEST

START_TEST(damaged_bin)
{
    char *data;
    size_t n;
    vpu_error err;

    terminal_run(&p, "cc add.cl -o add.bin");
    terminal_expect(&p, 0, "");
    terminal_text(&p, "layer.xml", BIN_LAYER);
    ck_assert(!file_read(arena_printf(p.arena, "%s/add.bin", p.dir), 1 << 20,
                         p.arena, &data, &n, &err));
    unlink(arena_printf(p.arena, "%s/add.cl", p.dir));
    for (size_t cut = n - 1; cut > 60; cut -= n / 23) {
        terminal_file(&p, "add.bin", data, cut);
        terminal_run(&p, ADD_RUN ADD_OUT);
        /* What is left may look like a binary of somebody else's. */
        terminal_expect(&p, p.status == 5 ? 5 : 2, "add.bin");
        add_layer_files(&p, "add.bin");
    }
    for (size_t at = 80; at < n; at += n / 23) {
        char old = data[at];

        data[at] ^= 0x55;
        terminal_file(&p, "add.bin", data, n);
        data[at] = old;
        terminal_run(&p, ADD_RUN "--quiet");
        ck_assert_msg(p.status == 0 || p.status == 2,
                      "byte %zu changed: exit status %d\n%s", at, p.status,
                      p.err);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vpu");
    TCase *c = tcase_create("vpu");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, command_line, 0, sizeof lines / sizeof *lines);
    tcase_add_loop_test(c, accepted, 0, sizeof odd / sizeof *odd);
    tcase_add_test(c, several_layers);
    tcase_add_test(c, executors);
    tcase_add_test(c, several_kernels);
    tcase_add_test(c, same_result_whatever_the_order);
    tcase_add_test(c, inputs);
    tcase_add_test(c, threads_do_not_change_cycles_and_traces);
    tcase_add_test(c, trace_levels);
    tcase_add_loop_test(c, bad_tensor, 0, sizeof tensors / sizeof *tensors);
    tcase_add_test(c, good_tensor);
    tcase_add_test(c, truncated_tensor);
    tcase_add_loop_test(c, cannot_write, 0,
                        sizeof unwritable / sizeof *unwritable);
    tcase_add_test(c, own_bin);
    tcase_add_test(c, bin_falls_back_to_source);
    tcase_add_test(c, vendor_bin);
    tcase_add_test(c, damaged_bin);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
