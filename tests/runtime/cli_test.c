/* The vpu program from outside: options, what it accepts with a warning, files
 * it reads and writes, .bin files, being interrupted. */
#include <check.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/file.h"
#include "sim/trace/reader.h"
#include "tests/support/terminal.h"

#define HEAD "<CustomLayer name=\"Add\" type=\"MVCL\" version=\"1\">\n"
#define BODY(source, sizes)                                               \
    "  <Kernel entry=\"add\">\n"                                          \
    "    <Source filename=\"" source "\"/>\n"                             \
    "    <Parameters>\n"                                                  \
    "      <Tensor arg-name=\"src\" type=\"input\" port-index=\"0\"/>\n"  \
    "      <Tensor arg-name=\"dst\" type=\"output\" port-index=\"0\"/>\n" \
    "      <Scalar arg-name=\"bias\" type=\"float\" source=\"bias\"/>\n"  \
    "    </Parameters>\n"                                                 \
    "    <WorkSizes dim=\"input,0\" " sizes "/>\n"                        \
    "  </Kernel>\n"
#define SIZES "global=\"X,Y,F\" local=\"X,1,1\""
#define GOOD HEAD BODY("add.cl", SIZES) "</CustomLayer>\n"

static const char add_cl[] =
    "__kernel void add(__global const half *src, __global half *dst,\n"
    "                  float bias)\n{\n"
    "    int i = (get_global_id(2) * get_global_size(1) + get_global_id(1)) *\n"
    "            get_global_size(0) + get_global_id(0);\n"
    "    dst[i] = src[i] + (half)bias;\n}\n";
static const char endless_cl[] =
    "__kernel void add(__global const half *src, __global half *dst,\n"
    "                  float bias)\n{\n    while (1) dst[0] += src[0];\n}\n";

#define RUN "run layer.xml --shape in0=1x2x4x16 --param bias=1 "
#define OUT "--output out --trace t.pftrace --trace-json t.json "

static terminal p;

static void setup(void)
{
    terminal_open(&p);
    terminal_text(&p, "layer.xml", GOOD);
    terminal_text(&p, "add.cl", add_cl);
}

static void teardown(void)
{
    terminal_close(&p);
}

static void expect(int status, const char *fragment)
{
    ck_assert_msg(p.status == status, "exit status %d, expected %d\n%s%s",
                  p.status, status, p.err, p.out);
    ck_assert_msg(strstr(status ? p.err : p.out, fragment) ||
                      strstr(p.err, fragment),
                  "'%s' is not in\n%s%s", fragment, p.err, p.out);
}

/* Beside the files given and those setup wrote there is nothing. */
static void expect_files(const char *more)
{
    const char *left =
        terminal_files(&p, arena_printf(p.a, "layer.xml\nadd.cl\n%s", more));

    ck_assert_msg(!*left, "unexpected files:\n%s", left);
}

static const char *file_bytes(const char *name, size_t *n)
{
    char *data;
    vpu_error err = {0};

    ck_assert_msg(!file_read(arena_printf(p.a, "%s/%s", p.dir, name), 1 << 26,
                             p.a, &data, n, &err),
                  "%s", err.msg);
    return data;
}

static const void *npy_data(const char *name, size_t *n)
{
    const char *data = file_bytes(name, n);

    ck_assert_uint_gt(*n, 128);
    *n -= 128;
    return data + 128;
}

/* --- command lines
 * ------------------------------------------------------------ */

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
    {"fly", 2, {"no command 'fly'"}},
    {"run", 2, {"no binding file", "vpu run --help"}},
    {RUN "other.xml", 2, {"one binding file", "layer.xml", "other.xml"}},
    {RUN "--fast", 2, {"--fast", "vpu run --help"}},
    {RUN "--order shuffled", 2, {"--order", "shuffled"}},
    {RUN "--order random:x", 2, {"--order", "random:x"}},
    {RUN "--shaves 0", 2, {"--shaves", "'0'"}},
    {RUN "--shaves 17", 2, {"--shaves 17", "16"}},
    {RUN "--shaves many", 2, {"--shaves", "many"}},
    {RUN "--shaves -1", 2, {"--shaves", "-1"}},
    {RUN "--threads 0", 2, {"--threads", "'0'"}},
    {RUN "--timeout soon", 2, {"--timeout", "soon"}},
    {RUN "--timeout -1", 2, {"--timeout", "-1"}},
    {RUN "--max-cycles 0", 0, {"layer Add"}},
    {RUN "--max-cycles many", 2, {"--max-cycles", "'many'"}},
    {RUN "--cache-size many", 2, {"--cache-size", "'many'"}},
    {RUN "--cache-size 99999999999G", 2, {"--cache-size", "99999999999G"}},
    {RUN "--cache-size 64M", 0, {"layer Add"}},
    {RUN "--report xml", 2, {"--report", "xml"}},
    {RUN "--trace-level fine", 2, {"--trace-level", "fine"}},
    {RUN "--set ddr_load_stal=3", 2, {"ddr_load_stal", "ddr_load_stall"}},
    {RUN "--set ddr_load_stall", 2, {"ddr_load_stall", "key=value"}},
    {RUN "--set ddr_load_stall=fast", 2, {"ddr_load_stall"}},
    {RUN "--machine nowhere.xml", 2, {"nowhere.xml"}},
    {RUN "--machine layer.xml", 2, {"layer.xml", "machine"}},
    {RUN "--input 0", 2, {"--input 0", "expected"}},
    {RUN "--input 0=ones", 2, {"ones", "in0", "zeros"}},
    {RUN "--input 3=zeros", 2, {"--input 3=zeros"}},
    {RUN "--input 0=nowhere.npy", 2, {"nowhere.npy"}},
    {RUN "--layer Mul", 2, {"Mul", "layer.xml"}},
    {RUN "--strict 2021.3", 0, {"layer Add"}},
    {RUN "--strict 2020.3", 2, {"layer.xml:1", "nested form", "2020.3"}},
    {RUN "--strict 2023.0", 2, {"--strict", "2023.0"}},
    {RUN "--at x", 2, {"--at", "--model"}},
    {RUN "--model m.xml", 2, {"--model", "--shape"}},
    {"run layer.xml --model m.xml --layer Add", 2, {"--layer", "--at NAME"}},
    {"run layer.xml --model m.xml", 2, {"m.xml"}},
    {RUN "--shape in0=1x2x4x16", 2, {"in0"}},
    {RUN "--shape out1=1x2x4x16", 2, {"out1"}},
    {RUN "-I", 2, {"-- 'I'"}},
    {"cc", 2, {"no source file", "vpu cc --help"}},
    {"cc add.cl other.cl", 2, {"add.cl", "other.cl"}},
    {"cc add.cl --fast", 2, {"--fast"}},
    {"cc add.cl -o", 2, {"-o"}},
    {"cc nowhere.cl", 2, {"nowhere.cl"}},
    {"cc add.cl -I@add.cl", 2, {"'-I@add.cl' is no option", "-I./@x"}},
    {RUN "-D @add.cl", 2, {"'-D@add.cl' is no option", "-DNAME=VALUE"}},
    {"cc add.cl --kernel sub", 2, {"add.cl", "'sub'", "add"}},
    {"cc add.cl -o add.cl/x.bin", 2, {"add.cl/x.bin"}},
    {"machine", 0, {"clk_mhz", "documented", "assumed"}},
    {"machine --set ddr_load_stall=77", 0, {"77", "set by the user"}},
    {"machine --set dd=1", 2, {"dd", "nearest"}},
    {"machine extra", 2, {"machine --help"}},
    {"machine --machine nowhere.xml", 2, {"nowhere.xml"}},
};

START_TEST(command_line)
{
    terminal_run(&p, lines[_i].args);
    for (int k = 0; k < 3 && lines[_i].want[k]; k++)
        expect(lines[_i].status, lines[_i].want[k]);
    expect_files("");
}
END_TEST

/* --- accepted with a warning
 * ----------------------------------------------------- */

static const struct {
    const char *name, *xml, *cl, *want;
} odd[] = {
    {"unknown attribute",
     "<CustomLayer name=\"Add\" type=\"MVCL\" version=\"1\" "
     "colour=\"red\">\n" BODY("add.cl", SIZES) "</CustomLayer>\n",
     NULL, "layer.xml:1: unknown attribute colour"},
    {"unknown element",
     HEAD "  <Colour/>\n" BODY("add.cl", SIZES) "</CustomLayer>\n", NULL,
     "layer.xml:2: unknown element Colour"},
    {"remainder dropped",
     HEAD BODY("add.cl", "global=\"X,Y,F\" local=\"5,1,1\"") "</CustomLayer>\n",
     NULL, "global size 16 is not a multiple"},
    {"binding without argument", GOOD,
     "__kernel void add(__global const half *src, __global half *dst)\n"
     "{ dst[get_global_id(0)] = src[get_global_id(0)]; }\n",
     "note: layer.xml:7: kernel 'add' has no argument 'bias'"},
    {"wider elements", GOOD,
     "__kernel void add(__global const uint2 *src, __global half *dst,\n"
     "                  float bias)\n{\n    dst[0] = src[0].y + bias;\n}\n",
     "layer.xml:5: 'src' is __global uint2*: each element is 2 of the tensor"},
    {"the same size", GOOD,
     "__kernel void add(__global const ushort8 *src, __global short *dst,\n"
     "                  float bias)\n{\n    dst[0] = src[0].s7 + bias;\n}\n",
     ""},
    {"compiler's warning", GOOD,
     "__kernel void add(__global const half *src, __global half *dst,\n"
     "                  float bias)\n{\n    if (bias = 2)\n"
     "        dst[0] = src[0];\n}\n",
     "add.cl:4:"},
    {"comments and stray text", "hello\n<!-- a --> b\n" GOOD "the end\n", NULL,
     ""},
};

START_TEST(accepted)
{
    terminal_text(&p, "layer.xml", odd[_i].xml);
    if (odd[_i].cl)
        terminal_text(&p, "add.cl", odd[_i].cl);
    terminal_run(&p, RUN OUT);
    expect(0, "cycles");
    if (*odd[_i].want)
        ck_assert_msg((strstr(p.err, "warning") || strstr(p.err, "note")) &&
                          strstr(p.err, odd[_i].want),
                      "%s: %s", odd[_i].name, p.err);
    expect_files("out/out0.npy\nout/report.json\nt.json\nt.pftrace");
    ck_assert(terminal_has(&p, "out/out0.npy"));
    ck_assert(terminal_has(&p, "out/report.json"));
    ck_assert(terminal_has(&p, "t.pftrace") && terminal_has(&p, "t.json"));
}
END_TEST

START_TEST(several_layers)
{
    terminal_text(&p, "layer.xml",
                  GOOD
                  "<CustomLayer name=\"Other\" type=\"MVCL\" "
                  "version=\"1\">\n" BODY("none.cl", SIZES) "</CustomLayer>\n");
    terminal_run(&p, RUN);
    expect(2, "binds several layer types (Add in line 1, Other in line");
    terminal_run(&p, RUN "--layer Add");
    expect(0, "cycles");
    terminal_run(&p, RUN "--layer other");
    expect(2, "none.cl");
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

        terminal_run(&p, arena_printf(p.a, RUN "--output out %s", how[i]));
        expect(0, "cycles");
        data = npy_data("out/out0.npy", &n);
        if (!first) {
            first = data;
            first_n = n;
            ck_assert_uint_eq(n, 2 * 2 * 4 * 16);
        }
        ck_assert_msg(n == first_n && !memcmp(data, first, n), "%s", how[i]);
    }
    terminal_run(&p, RUN "--report json");
    expect(0, "\"cycles\"");
    ck_assert(p.out[0] == '{');
}
END_TEST

START_TEST(threads_do_not_change_cycles_and_traces)
{
    size_t n[2];
    const void *trace[2];
    char *report[2];

    for (int i = 0; i < 2; i++) {
        terminal_run(&p, arena_printf(p.a, RUN OUT "--threads %d", i + 1));
        expect(0, "cycles");
        report[i] = arena_strdup(p.a, p.out);
        trace[i] = npy_data("t.pftrace", &n[i]);
    }
    ck_assert_str_eq(report[0], report[1]);
    ck_assert_uint_eq(n[0], n[1]);
    ck_assert_mem_eq(trace[0], trace[1], n[0]);
}
END_TEST

/* --- what traces hold --- */

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
    s->names[s->n_tracks++] = arena_strdup(p.a, t->name);
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
    trc_read_ops ops = {see_track, see_event, &s};
    vpu_error err = {0};

    ck_assert_msg(
        !trc_read_file(arena_printf(p.a, "%s/%s", p.dir, name), &ops, &err),
        "%s", err.msg);
    return s;
}

/* 400 groups on one SHAVE: more than merged slices. */
#define MANY "run layer.xml --shape in0=1x4x100x16 --param bias=1 --shaves 1 "

START_TEST(trace_levels)
{
    static const char *const levels[] = {"summary", "groups", "full"};
    trace_seen s[3];

    for (int i = 0; i < 3; i++) {
        terminal_run(&p, arena_printf(p.a,
                                      MANY "--trace t.pftrace "
                                           "--trace-level %s",
                                      levels[i]));
        expect(0, "cycles");
        s[i] = read_trace("t.pftrace");
        ck_assert_str_eq(s[i].level, levels[i]);
    }
    ck_assert_uint_eq(s[0].phases, 0);
    ck_assert_uint_le(s[0].slices, 256);
    ck_assert_uint_eq(s[1].phases, 400);
    ck_assert_uint_eq(s[1].causes, 0);
    ck_assert_uint_eq(s[2].phases, 400);
    ck_assert_uint_eq(s[2].causes, 400);
    terminal_run(&p, MANY "--trace t.pftrace");
    ck_assert_uint_eq(read_trace("t.pftrace").slices, s[2].slices);
}
END_TEST

/* --- tensors from files
 * -------------------------------------------------------------- */

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
    terminal_run(&p, RUN OUT "--input 0=t.npy");
    for (int k = 0; k < 3 && tensors[_i].want[k]; k++)
        expect(_i == 2 || _i == 3 ? 5 : 2, tensors[_i].want[k]);
    expect_files("t.npy");
}
END_TEST

START_TEST(good_tensor)
{
    const unsigned short *data;
    size_t n;

    write_npy(NPY("<f2", "False", "(1, 2, 4, 16)"), 256);
    terminal_run(&p, RUN OUT "--input 0=t.npy");
    expect(0, "cycles");
    data = npy_data("out/out0.npy", &n);
    ck_assert_uint_eq(n, 256);
    for (int i = 0; i < 128; i++)
        ck_assert_uint_eq(data[i], 0x4000); /* 1 + 1 */
}
END_TEST

START_TEST(truncated_tensor)
{
    terminal_file(&p, "t.npy", "\x93NUMPY\x01\x00\x76", 9);
    terminal_run(&p, RUN OUT "--input 0=t.npy");
    expect(2, "t.npy");
    terminal_file(&p, "t.npy", "", 0);
    terminal_run(&p, RUN OUT "--input 0=t.npy");
    expect(2, "t.npy");
    expect_files("t.npy");
}
END_TEST

/* --- output that cannot be written
 * ----------------------------------------------------- */

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
    terminal_run(&p, arena_printf(p.a, RUN "%s", unwritable[_i].args));
    expect(2, unwritable[_i].want);
    expect_files("");
}
END_TEST

/* --- .bin files
 * -------------------------------------------------------------------------- */

#define BIN_LAYER HEAD BODY("add.bin", SIZES) "</CustomLayer>\n"

START_TEST(own_bin)
{
    const void *from_cl, *from_bin;
    size_t n, m;

    terminal_run(&p, RUN "--output out");
    expect(0, "cycles");
    from_cl = npy_data("out/out0.npy", &n);
    terminal_run(&p, "cc --strip-binary-header add.cl -o add.bin");
    expect(0, "");
    terminal_text(&p, "add.cl", "this is not used any more");
    terminal_text(&p, "layer.xml", BIN_LAYER);
    terminal_run(&p, RUN "--output out");
    expect(0, "cycles");
    from_bin = npy_data("out/out0.npy", &m);
    ck_assert_uint_eq(n, m);
    ck_assert_mem_eq(from_cl, from_bin, n);
    terminal_run(&p, "cc add.cl");
    expect(2, "add.cl:1:1: error");
    expect_files("add.bin\nout/out0.npy\nout/report.json");
}
END_TEST

START_TEST(bin_falls_back_to_source)
{
    terminal_text(&p, "layer.xml", BIN_LAYER);
    terminal_run(&p, RUN);
    expect(0, "cycles");
    terminal_run(&p, "cc add.cl"); /* the default name is add.bin */
    expect(0, "");
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
    terminal_run(&p, RUN);
    expect(0, "cycles"); /* add.cl is beside it */
    terminal_text(&p, "src/add.cl", add_cl);
    unlink(arena_printf(p.a, "%s/add.cl", p.dir));
    terminal_run(&p, RUN OUT);
    expect(5, "vpu: unsupported feature: add.bin");
    expect(5, "vendor");
    expect(5, "add.cl");
    expect_files("add.bin\nsrc/add.cl");
    terminal_run(&p, RUN "--source-dir src");
    expect(0, "cycles");
}
END_TEST

START_TEST(damaged_bin)
{
    char *data;
    size_t n;
    vpu_error err;

    terminal_run(&p, "cc add.cl -o add.bin");
    expect(0, "");
    terminal_text(&p, "layer.xml", BIN_LAYER);
    ck_assert(!file_read(arena_printf(p.a, "%s/add.bin", p.dir), 1 << 20, p.a,
                         &data, &n, &err));
    unlink(arena_printf(p.a, "%s/add.cl", p.dir));
    for (size_t cut = n - 1; cut > 60; cut -= n / 23) {
        terminal_file(&p, "add.bin", data, cut);
        terminal_run(&p, RUN OUT);
        /* What is left may look like a binary of somebody else's. */
        expect(p.status == 5 ? 5 : 2, "add.bin");
        expect_files("add.bin");
    }
    for (size_t at = 80; at < n; at += n / 23) {
        char old = data[at];

        data[at] ^= 0x55;
        terminal_file(&p, "add.bin", data, n);
        data[at] = old;
        terminal_run(&p, RUN "--quiet");
        ck_assert_msg(p.status == 0 || p.status == 2,
                      "byte %zu changed: exit status %d\n%s", at, p.status,
                      p.err);
    }
}
END_TEST

/* --- being interrupted
 * --------------------------------------------------------------------- */

START_TEST(interrupted)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    pid_t pid;

    terminal_text(&p, "add.cl", endless_cl);
    pid = terminal_start(&p, RUN OUT);
    usleep(700000);
    ck_assert(!kill(pid, signals[_i]));
    terminal_wait(&p, pid);
    ck_assert_int_eq(p.status, 128 + signals[_i]);
    ck_assert_str_eq(p.out, "");
    expect_files("");
}
END_TEST

/* Whatever crashes us, the last line says that it was our mistake. */
START_TEST(crashed)
{
    static const int signals[] = {SIGSEGV, SIGABRT, SIGFPE};
    pid_t pid;

#ifdef __SANITIZE_ADDRESS__
    return; /* it reports crashes itself */
#endif
    terminal_text(&p, "add.cl", endless_cl);
    pid = terminal_start(&p, RUN OUT);
    usleep(700000);
    ck_assert(!kill(pid, signals[_i]));
    terminal_wait(&p, pid);
    expect(70, "vpu: our own bug: ended by SIG");
    ck_assert_str_eq(p.out, "");
    expect_files("");
}
END_TEST

/* Two work-groups of eight never end; the others do, and say so. */
static const char spinning_cl[] =
    "__kernel void add(__global const half *src, __global half *dst,\n"
    "                  float bias)\n{\n"
    "    int n = get_global_id(2) * 4 + get_global_id(1);\n"
    "    while (n % 4 == 2)\n"
    "        n += 4;\n"
    "    dst[n * 16 + get_global_id(0)] = bias;\n}\n";

START_TEST(says_who_is_stuck)
{
    static const char *const how[] = {"--max-cycles 50000",
                                      "--max-cycles 50000 --threads 1",
                                      "--max-cycles 50000 --engine interpreted",
                                      "--max-cycles 50000 --timing none"};
    const char *first = NULL;

    terminal_text(&p, "add.cl", spinning_cl);
    for (size_t k = 0; k < sizeof how / sizeof *how; k++) {
        terminal_run(&p, arena_printf(p.a, RUN "--quiet %s", how[k]));
        ck_assert(!strncmp(p.err, "vpu: limit: add.cl:", 19));
        expect(7, "kernel 'add', work-group (0, 2, 0): over 50000 cycles");
        expect(7, "\n  SHAVE 5: work-group (0, 2, 0), compute phase, executes; "
                  "0 of 1 done\n");
        expect(7, "\n  SHAVE 13: work-group (0, 2, 1)");
        expect(7, "\n  14 SHAVEs: all work-groups done\n");
        expect(7, "\n  work-group (0, 2, 0), run again alone: after 20000000 "
                  "cycles in line ");
        ck_assert(!first || !strcmp(first, p.err));
        first = arena_strdup(p.a, p.err);
    }
}
END_TEST

/* All groups end, but not within the limit: the clock's, not one loop's. */
START_TEST(says_what_the_clock_waits_for)
{
    terminal_run(&p, RUN "--max-cycles 100");
    expect(7, "vpu: limit: Add: kernel 'add': over 100 cycles on the device's "
              "clock (--max-cycles) after 0 of 8 work-groups\n  SHAVE 0: ");
}
END_TEST

/* Bytes of the temporary beside `name`, 0 when there is none. */
static off_t temporary_bytes(const char *name)
{
    const char *pattern = arena_printf(p.a, "%s/%s.??????", p.dir, name);
    struct stat sb = {0};
    glob_t g;

    if (!glob(pattern, 0, NULL, &g)) {
        stat(g.gl_pathv[0], &sb);
        globfree(&g);
    }
    return sb.st_size;
}

/* While a trace is being written: what stood under its name stays; what a
 * handled signal ends leaves no temporary either. */
START_TEST(interrupted_writing)
{
    static const int signals[] = {SIGKILL, SIGINT, SIGTERM};
    size_t n;
    pid_t pid;

    terminal_text(&p, "t.pftrace", "old");
    pid = terminal_start(&p, "run layer.xml --shape in0=1x90x1000x16 --param "
                             "bias=1 --trace t.pftrace --trace-json t.json "
                             "--vcd t.vcd");
    for (int i = 0; i < 4000 && temporary_bytes("t.pftrace") < 1 << 16; i++)
        usleep(2000);
    ck_assert_int_ge(temporary_bytes("t.pftrace"), 1 << 16);
    ck_assert(!kill(pid, signals[_i]));
    terminal_wait(&p, pid);
    ck_assert_int_eq(p.status, 128 + signals[_i]);
    ck_assert(!terminal_has(&p, "t.json") && !terminal_has(&p, "t.vcd"));
    ck_assert_mem_eq(file_bytes("t.pftrace", &n), "old", 3);
    ck_assert_uint_eq(n, 3);
    if (signals[_i] != SIGKILL)
        expect_files("t.pftrace\n");
}
END_TEST

/* Long enough to be caught in the middle; until then. */
static pid_t start_compiling(void)
{
    str s = {0};
    pid_t pid;

    str_puts(&s, add_cl);
    for (int i = 0; i < 20000; i++)
        str_printf(&s, "float f%d(float x) { return x * %d + %d; }\n", i, i, i);
    terminal_text(&p, "add.cl", s.data);
    str_free(&s);
    pid = terminal_start(&p, RUN OUT);
    for (int i = 0; i < 200 && !*terminal_files(&p, "layer.xml\nadd.cl"); i++)
        usleep(5000);
    usleep(50000);
    return pid;
}

static void no_core_files(void)
{
    const struct rlimit none = {0, 0};

    setrlimit(RLIMIT_CORE, &none);
}

/* Those that end a program. */
static const int ending[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                             SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM,
                             SIGPROF, SIGXCPU, SIGIO,   SIGPWR};
enum { N_ENDING = sizeof ending / sizeof *ending };

START_TEST(interrupted_compilation)
{
    pid_t pid;

    no_core_files();
    pid = start_compiling();
    ck_assert(!kill(pid, ending[_i]));
    terminal_wait(&p, pid);
    ck_assert_int_eq(p.status, 128 + ending[_i]);
    expect_files("");
}
END_TEST

/* Signals that were ignored when it started, as by nohup, stay ignored. */
START_TEST(ignored_signals_stay_ignored)
{
    pid_t pid;

    signal(ending[_i], SIG_IGN);
    pid = start_compiling();
    ck_assert(!kill(pid, ending[_i]));
    terminal_wait(&p, pid);
    expect(0, "layer Add");
}
END_TEST

/* Its name is longer than any buffer one would think of. */
START_TEST(temporaries_in_a_long_folder)
{
    char name[201] = {0}, *folder = arena_strdup(p.a, "tmp");
    pid_t pid;

    memset(name, 'n', sizeof name - 1);
    for (int i = 0; i < 4; i++) {
        folder = arena_printf(p.a, "%s/%s", folder, name);
        ck_assert(!mkdir(arena_printf(p.a, "%s/%s", p.dir, folder), 0700));
    }
    p.tmp = folder;
    if (_i) {
        pid = start_compiling();
        ck_assert(!kill(pid, SIGTERM));
        terminal_wait(&p, pid);
        ck_assert_int_eq(p.status, 128 + SIGTERM);
    } else {
        terminal_run(&p, RUN);
        expect(0, "layer Add");
    }
    expect_files("");
}
END_TEST

/* The compiler is killed, by a memory limit for one. */
START_TEST(killed_compiler)
{
    pid_t pid = start_compiling();

    ck_assert(!system(arena_printf(p.a, "pkill -KILL -P %d", (int)pid)));
    terminal_wait(&p, pid);
    expect(2, "clang failed without a message");
    expect_files("");
}
END_TEST

START_TEST(no_cache_is_no_cache)
{
    static const char *const options[] = {"--cache-size 0", "--no-cache",
                                          "--cache-size 1K"};

    terminal_run(&p, arena_printf(p.a, "%s%s", RUN, options[_i]));
    expect(0, "layer Add");
    ck_assert(!terminal_has(&p, ".cache"));
    terminal_run(&p, RUN);
    ck_assert(terminal_has(&p, ".cache/vpusim"));
}
END_TEST

/* --- output that nobody takes --------------------------------------------- */

static const char *const printing[] = {
    "--help",
    "--version",
    "help run",
    "run --help",
    RUN,
    RUN "--report json",
    "machine",
    "devices",
    "asm add.cl",
    "lint layer.xml --shape in0=1x2x4x16 --param bias=1",
    "check layer.xml --shape in0=1x2x4x16 --param bias=1",
    "diff layer.xml --shape in0=1x2x4x16 --param bias=1 --a sim --b sim",
    "blob show b.blob",
    "blob verify b.blob",
    "trace summary t.pftrace",
    "suite .",
    "suite . --list",
    "debug layer.xml --shape in0=1x2x4x16 --param bias=1 -x q"};
enum { N_PRINTING = sizeof printing / sizeof *printing };

static void expect_lost(const char *args, const char *how)
{
    terminal_run(&p, args);
    ck_assert_msg(p.status == 2, "%s: %s: exit status %d\n%s", args, how,
                  p.status, p.err);
    ck_assert_msg(strstr(p.err, "vpu: standard output: "), "%s: %s:\n%s", args,
                  how, p.err);
}

START_TEST(lost_output_is_an_error)
{
    const char *args = printing[_i];
    int ends[2];

    terminal_text(&p, "q", "help\nwhere\n");
    terminal_text(
        &p, "one.case",
        "layer.xml --shape in0=1x2x4x16 --param bias=1 --a sim --b sim\n");
    terminal_run(&p, RUN "--trace t.pftrace");
    expect(0, "");
    terminal_run(&p, "blob make layer.xml --shape in0=1x2x4x16 --param bias=1 "
                     "--release 2021.4 --to b.blob");
    expect(0, "");
    terminal_run(&p, args);
    ck_assert_msg(p.status < 2 && *p.out, "%s: %d %s", args, p.status, p.err);
    p.out_fd = open("/dev/full", O_WRONLY);
    expect_lost(args, "/dev/full");
    ck_assert(!pipe(ends));
    close(ends[0]);
    p.out_fd = ends[1];
    expect_lost(args, "a pipe nobody reads");
    p.out_fd = -1;
    expect_lost(args, "a closed one");
}
END_TEST

/* A quarter of a milliard lines, were they wanted. */
START_TEST(lost_output_ends_a_long_run)
{
    terminal_text(&p, "add.cl",
                  "__kernel void add(__global const half *src, __global half "
                  "*dst, float bias)\n"
                  "{ for (int i = 0; i < 1000; i++) printf(\"%d\\n\", i); }\n");
    p.out_fd = open("/dev/full", O_WRONLY);
    expect_lost("run layer.xml --shape in0=1x64x64x64 --param bias=1 "
                "--max-cycles 0",
                "/dev/full");
}
END_TEST

START_TEST(lost_files_are_errors)
{
    static const char *const options[] = {"--trace", "--trace-json", "--vcd",
                                          "--folded", "--kanata"};
    struct stat sb;

    terminal_run(&p, arena_printf(p.a, RUN "%s /dev/full", options[_i]));
    expect(2, "/dev/full: ");
    ck_assert(!stat("/dev/full", &sb) && S_ISCHR(sb.st_mode));
}
END_TEST

START_TEST(fifo_as_output)
{
    const char *path = arena_printf(p.a, "%s/pipe", p.dir);
    char begin[64];
    struct stat sb;
    int fd;

    ck_assert(!mkfifo(path, 0600));
    terminal_run(&p, RUN "--trace-json pipe");
    expect(2, "pipe: cannot be written: nobody reads this FIFO");
    fd = open(path, O_RDONLY | O_NONBLOCK);
    terminal_run(&p, RUN "--trace-json pipe --trace-level summary");
    expect(0, "");
    ck_assert_int_gt(read(fd, begin, sizeof begin), 1);
    ck_assert_int_eq(begin[0], '{');
    ck_assert(!lstat(path, &sb) && S_ISFIFO(sb.st_mode));
    close(fd);
}
END_TEST

/* --- inputs that are no files --------------------------------------------- */

#define AS_BOUND " --shape in0=1x2x4x16 --param bias=1"

static const char *bound_to(const char *source)
{
    return arena_printf(p.a,
                        HEAD "<Kernel entry=\"add\"><Source filename=\"%s\"/>"
                             "%s</CustomLayer>\n",
                        source,
                        strstr(BODY("add.cl", SIZES), "    <Parameters>"));
}

/* A FIFO nobody writes to, as each kind of input. */
static const struct {
    const char *fifo, *args;
} fifos[] = {{"pipe", "run pipe" AS_BOUND},
             {"add.cl", RUN},
             {"add.cl", "check layer.xml" AS_BOUND},
             {"add.cl", "lint layer.xml" AS_BOUND},
             {"add.bin", "run bin.xml" AS_BOUND},
             {"pipe.npy", RUN "--input 0=pipe.npy"},
             {"pipe.npy", RUN "--blob x=pipe.npy"},
             {"pipe", "run layer.xml --model pipe"},
             {"m.bin", "run layer.xml --model m.xml"},
             {"pipe", RUN "--machine pipe"},
             {"pipe", RUN "--backend replay:pipe"},
             {"pipe", RUN "--backend host:pipe"},
             {"pipe", RUN "--backend usb --firmware pipe"},
             {"pipe", "diff layer.xml --a sim --b replay:pipe" AS_BOUND},
             {"pipe", "check layer.xml --suppress pipe" AS_BOUND},
             {"pipe", "debug layer.xml -x pipe" AS_BOUND},
             {"pipe.case", "suite pipe.case"},
             {"pipe", "trace summary pipe"},
             {"pipe", "view pipe --png x.png"},
             {"pipe", "blob show pipe"},
             {"pipe", "asm pipe"},
             {"pipe", "cc pipe"}};
enum { N_FIFOS = sizeof fifos / sizeof *fifos };

START_TEST(fifo_as_input)
{
    const char *path = arena_printf(p.a, "%s/%s", p.dir, fifos[_i].fifo);

    terminal_text(&p, "bin.xml", bound_to("add.bin"));
    terminal_text(&p, "m.xml", "<net name=\"n\" version=\"10\"/>");
    unlink(path);
    ck_assert(!mkfifo(path, 0600));
    terminal_run(&p, fifos[_i].args);
    expect(2, arena_printf(p.a, "%s: not a regular file but a FIFO",
                           fifos[_i].fifo));
}
END_TEST

/* clang opens what is included itself. */
START_TEST(fifo_as_included_file)
{
    ck_assert(!mkfifo(arena_printf(p.a, "%s/pipe.h", p.dir), 0600));
    terminal_text(&p, "add.cl",
                  arena_printf(p.a, "#include \"pipe.h\"\n%s", add_cl));
    terminal_run(&p, RUN);
    expect(2, "includes a FIFO");
    unlink(arena_printf(p.a, "%s/pipe.h", p.dir));
    expect_files("");
}
END_TEST

/* What it was started with may be a pipe. */
START_TEST(own_pipe_as_trace)
{
    size_t n;

    terminal_run(&p, RUN "--trace t.pftrace");
    expect(0, "");
    ck_assert(!system(arena_printf(
        p.a,
        "cat %s/t.pftrace | ${VPU:-build/vpu} trace summary /dev/stdin "
        ">%s/from_pipe",
        p.dir, p.dir)));
    terminal_run(&p, "trace summary t.pftrace");
    ck_assert_ptr_nonnull(
        strstr(file_bytes("from_pipe", &n), strchr(p.out, ':')));
}
END_TEST

/* Four GiB of zeros, of which nothing should be read that need not be. */
static const struct {
    const char *name, *args;
} sparse[] = {{"big", RUN "--backend replay:big"},
              {"big.npy", RUN "--input 0=big.npy"},
              {"m.bin", "run layer.xml --model m.xml --at x"},
              {"big", "run big" AS_BOUND},
              {"big", "trace summary big"},
              {"big", "asm big"}};
enum { N_SPARSE = sizeof sparse / sizeof *sparse };

START_TEST(large_file)
{
    const char *path = arena_printf(p.a, "%s/%s", p.dir, sparse[_i].name);
    struct rusage used;

    terminal_text(&p, "m.xml", "<net name=\"n\" version=\"10\"/>");
    terminal_text(&p, sparse[_i].name, "");
    ck_assert(!truncate(path, (off_t)4 << 30));
    terminal_run(&p, sparse[_i].args);
    ck_assert_msg(p.status == 2 || p.status == 7, "%d %s", p.status, p.err);
    getrusage(RUSAGE_CHILDREN, &used);
    ck_assert_int_lt(used.ru_maxrss, 1 << 20); /* KiB */
}
END_TEST

/* --- data no device holds ------------------------------------------------- */

#define KERNEL(declared, body)                                            \
    declared "__kernel void add(__global const half *src, __global half " \
             "*dst, float bias)\n{\n" body "\n    dst[0] = t[(int)bias];\n}\n"

static const struct {
    const char *cl, *says;
} oversized[] = {
    {KERNEL("", "    char t[4294967295];\n    t[(int)src[0]] = 1;"),
     "a private array of 4294967295 bytes"},
    {KERNEL("", "    int t[400000000], u[400000000];\n"
                "    t[(int)src[0]] = 1; u[(int)src[1]] = 2; dst[1] = "
                "u[(int)bias];"),
     "a private array of 1600000000 bytes"},
    {KERNEL("", "    __local int t[1000000000];\n    t[(int)src[0]] = 1;"),
     "the __local variable 't' has 4000000000 bytes"},
    {KERNEL("__constant char t[1073741824] = {1};\n", ""),
     "the __constant variable 't' has 1073741824 bytes"},
};
enum { N_OVERSIZED = sizeof oversized / sizeof *oversized };

START_TEST(data_no_device_holds)
{
    struct rusage used;

    terminal_text(&p, "add.cl", oversized[_i].cl);
    terminal_run(&p, RUN);
    expect(7, oversized[_i].says);
    getrusage(RUSAGE_CHILDREN, &used);
    ck_assert_int_lt(used.ru_maxrss, 1 << 20); /* KiB */
}
END_TEST

/* --- control characters --------------------------------------------------- */

/* Sets a title and clears the screen, on a terminal. */
static const char evil_cl[] =
    "__kernel void add(__global const half *src, __global half *dst,\n"
    "                  float bias)\n{\n"
    "    if (get_global_id(0) + get_global_id(1) + get_global_id(2) == 0)\n"
    "        printf(\"\\033]0;evil\\007\\033[2J \\302\\233m "
    "caf\\303\\251\\n\");\n"
    "    dst[0] = src[0]; /* \033[31m */\n}\n";

/* What the other end of a terminal gets of the program's output. */
static const char *on_terminal(const char *args)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    char *text = arena_array(p.a, char, 1 << 16);
    size_t at = 0;
    ssize_t n;

    ck_assert_int_ge(master, 0);
    ck_assert(!grantpt(master) && !unlockpt(master));
    p.out_fd = open(ptsname(master), O_RDWR | O_NOCTTY);
    ck_assert_int_ge(p.out_fd, 0);
    terminal_run(&p, args);
    while ((n = read(master, text + at, (1 << 16) - 1 - at)) > 0)
        at += (size_t)n;
    ck_assert_uint_gt(at, 0);
    close(p.out_fd);
    close(master);
    p.out_fd = 0;
    return text;
}

START_TEST(printed_control_characters)
{
    const char *text;

    terminal_text(&p, "add.cl", evil_cl);
    terminal_run(&p, RUN);
    expect(0, "\033]0;evil\007\033[2J \302\233m caf\303\251\n");
    text = on_terminal(RUN);
    ck_assert_msg(!strchr(text, '\033') && !strchr(text, '\007') &&
                      strstr(text, "\\x1b]0;evil\\x07\\x1b[2J \\xc2\\x9bm "
                                   "caf\303\251"),
                  "%s", text);
    text = on_terminal("asm add.cl --source --variant scalar");
    ck_assert_msg(!strchr(text, '\033') && strstr(text, "/* \\x1b[31m */"),
                  "%.2000s", text);
}
END_TEST

/* Piped or not: they go where people look. */
START_TEST(messages_show_control_characters)
{
    static const char *const commands[] = {
        "lint layer.xml --shape in0=1x2x4x16 --param bias=1",
        "run layer.xml --shape in0=1\033[2J", "run \033[2J"};
    static const char *const texts[] = {
        "__kernel void add(__global const half *src, __global half *dst,\n"
        "float bias) { dst[0] = 1; } /* \033[2J */\n",
        evil_cl, evil_cl};

    terminal_text(&p, "add.cl", texts[_i]);
    terminal_run(&p, commands[_i]);
    ck_assert_msg(!strchr(p.out, '\033') && !strchr(p.err, '\033'), "%s%s",
                  p.out, p.err);
}
END_TEST

START_TEST(clang_shows_control_characters)
{
    terminal_text(&p, "add.cl", "kernel void add() { /* \033[2J */ wrong; }\n");
    terminal_run(&p, RUN);
    expect(2, "wrong");
    ck_assert_ptr_null(strchr(p.err, '\033'));
}
END_TEST

/* --- children ------------------------------------------------------------- */

/* Names clang would take for options, or for files with options in them. Where
 * clang reads the file k.cl as options, it finds none that it knows. */
static const char *const odd_names[] = {"@k.cl", "-x.cl", "sub/@k.cl",
                                        "@sub/k.cl", "-o.cl"};
static const char *const odd_runs[] = {
    RUN, "lint layer.xml --shape in0=1x2x4x16 --param bias=1",
    "check layer.xml --shape in0=1x2x4x16 --param bias=1 --order sequential",
    RUN "--backend opencl"};
enum { N_ODD = sizeof odd_names / sizeof *odd_names };

static void put_odd(const char *name)
{
    static const char *const folders[] = {"sub", "@sub"};

    for (int i = 0; i < 2; i++)
        ck_assert(!mkdir(arena_printf(p.a, "%s/%s", p.dir, folders[i]), 0700));
    terminal_text(&p, "k.cl", "a.cl --no-such-option");
    terminal_text(&p, name,
                  arena_printf(p.a, "#include \"beside.h\"\n%s", add_cl));
    terminal_text(&p,
                  strchr(name, '/')
                      ? arena_printf(p.a, "%.*s/beside.h",
                                     (int)(strchr(name, '/') - name), name)
                      : "beside.h",
                  "#define BESIDE 1\n");
    terminal_text(&p, "layer.xml", bound_to(name));
}

START_TEST(name_that_looks_like_an_option)
{
    put_odd(odd_names[_i]);
    for (size_t k = 0; k < sizeof odd_runs / sizeof *odd_runs; k++) {
        terminal_run(&p, odd_runs[k]);
        ck_assert_msg(p.status < 2, "%s: %s: %d\n%s%s", odd_names[_i],
                      odd_runs[k], p.status, p.err, p.out);
    }
}
END_TEST

START_TEST(message_names_the_file_as_given)
{
    put_odd(odd_names[_i]);
    terminal_text(&p, odd_names[_i], "\n\nkernel void add() { nonsense; }\n");
    terminal_run(&p, RUN);
    expect(2, arena_printf(p.a, "vpu: %s:3:21: error: ", odd_names[_i]));
}
END_TEST

static const char *const variables[][2] = {
    {"CCC_OVERRIDE_OPTIONS", "# +-Dbias=nothing"},
    {"CPATH", "."},
    {"DEPENDENCIES_OUTPUT", "written"},
    {"CLANG_CONFIG_FILE_USER_DIR", "."}};
enum { N_VARIABLES = sizeof variables / sizeof *variables };

START_TEST(environment_does_not_reach_clang)
{
    terminal_text(&p, "inside.h", "#define bias nothing\n");
    terminal_text(&p, "clang.cfg", "-Dbias=nothing\n");
    terminal_text(&p, "add.cl",
                  arena_printf(p.a,
                               "#if __has_include(<inside.h>)\n"
                               "#include <inside.h>\n#endif\n%s",
                               add_cl));
    setenv(variables[_i][0], variables[_i][1], 1);
    terminal_run(&p, RUN);
    unsetenv(variables[_i][0]);
    expect(0, "");
    ck_assert(!terminal_has(&p, "written"));
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
    tcase_add_test(c, same_result_whatever_the_order);
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
    tcase_add_loop_test(c, crashed, 0, 3);
    tcase_add_test(c, says_who_is_stuck);
    tcase_add_test(c, says_what_the_clock_waits_for);
    tcase_add_loop_test(c, interrupted, 0, 3);
    tcase_add_loop_test(c, interrupted_writing, 0, 3);
    tcase_add_loop_test(c, interrupted_compilation, 0, N_ENDING);
    tcase_add_loop_test(c, ignored_signals_stay_ignored, 0, N_ENDING);
    tcase_add_loop_test(c, temporaries_in_a_long_folder, 0, 2);
    tcase_add_test(c, killed_compiler);
    tcase_add_loop_test(c, no_cache_is_no_cache, 0, 3);
    tcase_add_loop_test(c, lost_output_is_an_error, 0, N_PRINTING);
    tcase_add_test(c, lost_output_ends_a_long_run);
    tcase_add_loop_test(c, lost_files_are_errors, 0, 5);
    tcase_add_test(c, fifo_as_output);
    tcase_add_loop_test(c, fifo_as_input, 0, N_FIFOS);
    tcase_add_test(c, fifo_as_included_file);
    tcase_add_test(c, own_pipe_as_trace);
    tcase_add_loop_test(c, large_file, 0, N_SPARSE);
    tcase_add_loop_test(c, data_no_device_holds, 0, N_OVERSIZED);
    tcase_add_test(c, printed_control_characters);
    tcase_add_loop_test(c, messages_show_control_characters, 0, 3);
    tcase_add_test(c, clang_shows_control_characters);
    tcase_add_loop_test(c, name_that_looks_like_an_option, 0, N_ODD);
    tcase_add_loop_test(c, message_names_the_file_as_given, 0, N_ODD);
    tcase_add_loop_test(c, environment_does_not_reach_clang, 0, N_VARIABLES);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
