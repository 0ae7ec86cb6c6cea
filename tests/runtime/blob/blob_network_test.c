/* Kernels' metadata, bound graphs as blobs, and vpu blob. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "runtime/blob/check.h"
#include "runtime/blob/meta.h"
#include "runtime/blob/network.h"
#include "runtime/blob/stage.h"
#include "tests/kernels/program.h"

static arena *a;
static vpu_error err;
static str bytes;

static void setup(void)
{
    a = arena_create(0);
    memset(&err, 0, sizeof err);
    bytes = (str){0};
}

static void teardown(void)
{
    str_free(&bytes);
    arena_destroy(a);
}

static void put(uint8_t *file, size_t at, size_t n, const uint32_t *words)
{
    for (size_t i = 0; i < 4 * n; i++)
        file[at + i] = (uint8_t)(words[i / 4] >> (8 * (i % 4)));
}

#define PUT(at, ...)                                                    \
    put(file, at, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), \
        (uint32_t[]){__VA_ARGS__})

/* --- kernels' metadata --------------------------------------------------- */

/* An ELF file of the earlier generation (docs/formats.md, "Metadata of 2020 and
 * before"): two kernels, the second with arguments `src` and `n`. Sections:
 * none, names, symbols, info, strings. */
static size_t old_elf(uint8_t file[600])
{
    enum { NAMES = 100, SYMBOLS = 180, INFO = 260, STRINGS = 380 };
    static const char names[] = "\0OpenCL.KernelArgs.Info\0"
                                "opencl.kernelArgs.strings\0first\0second";
    static const char strings[] = "src\0n";
    const uint32_t sections[5][6] = {{0},
                                     {0, 3, 0, 0, NAMES, sizeof names},
                                     {0, 2, 0, 0, SYMBOLS, 64},
                                     {0, 1, 0, 0, INFO, 110},
                                     {0, 1, 0, 0, STRINGS, sizeof strings}};

    memset(file, 0, 600);
    memcpy(file, "\177ELF", 4);
    PUT(28, 60);
    PUT(32, 396);
    file[48] = 5;
    PUT(60 + 8, 0x1000);
    memcpy(file + NAMES, names, sizeof names);
    PUT(SYMBOLS, 1, 0, 0, 3 << 16, 24, 0, 0, 4 << 16, 50, 0x1010, 0, 3 << 16,
        56, 0x1020, 0, 3 << 16);
    /* Count; {address, flags, size, args, stacks}: 16 more and 8 to the next;
     * the second's count and arguments stand behind it. */
    PUT(INFO, 2, 0x10, 0, 24, 0, 0, 0, 0, 0);
    PUT(INFO + 36, 0x20, 0, 64, 12, 0, 0, 2, 0, 1, 0, 4, 0, 4, 0, 0, 4, 0);
    memcpy(file + STRINGS, strings, sizeof strings);
    for (int i = 0; i < 5; i++)
        put(file, 396 + 40 * (size_t)i, 6, sections[i]);
    return 596;
}

START_TEST(metadata_2020)
{
    uint8_t file[600];
    size_t n = old_elf(file);
    meta_kernel m;

    ck_assert_msg(
        !meta_read(&(const file_bytes){file, n, "k"}, "second", a, &m, &err),
        "%s", err.msg);
    ck_assert(!m.neo);
    ck_assert_uint_eq(m.n_kernels, 2);
    ck_assert_uint_eq(m.kernel, 1);
    ck_assert_uint_eq(m.n_args, 2);
    ck_assert_str_eq(m.args[0], "src");
    ck_assert_str_eq(m.args[1], "n");
    ck_assert_int_eq(
        meta_read(&(const file_bytes){file, n, "k"}, "third", a, &m, &err),
        VPU_ERR_INVALID);
    for (size_t k = 0; k < n; k++) {
        uint8_t *cut = malloc(k + 1);

        memcpy(cut, file, k);
        ck_assert(
            meta_read(&(const file_bytes){cut, k, "k"}, "second", a, &m, &err));
        free(cut);
    }
}
END_TEST

/* A device is told a number only; the symbol at the kernel's address names it.
 */
START_TEST(kernels_of_2020_by_number)
{
    static const struct {
        const char *name;
        uint32_t n_args;
    } kernels[] = {{"first", 0}, {"second", 2}};
    uint8_t file[600], *second;
    size_t n = old_elf(file);
    meta_kernel m;

    for (uint32_t i = 0; i < 2; i++) {
        ck_assert_msg(
            !meta_read_nth(&(const file_bytes){file, n, "k"}, i, a, &m, &err),
            "%s", err.msg);
        ck_assert_str_eq(m.name, kernels[i].name);
        ck_assert_uint_eq(m.kernel, i);
        ck_assert_uint_eq(m.n_kernels, 2);
        ck_assert_uint_eq(m.n_args, kernels[i].n_args);
        ck_assert(!m.neo);
    }
    ck_assert_str_eq(m.args[0], "src");
    ck_assert_str_eq(m.args[1], "n");
    ck_assert_int_eq(
        meta_read_nth(&(const file_bytes){file, n, "k"}, 2, a, &m, &err),
        VPU_ERR_INVALID);
    ck_assert(strstr(err.msg, "no kernel 2"));
    for (size_t k = 0; k < n; k++) {
        uint8_t *cut = malloc(k + 1);

        memcpy(cut, file, k);
        ck_assert(
            meta_read_nth(&(const file_bytes){cut, k, "k"}, 1, a, &m, &err));
        free(cut);
    }
    second = memmem(file, n, "\x38\0\0\0\x20\x10", 6); /* its symbol */
    ck_assert_ptr_nonnull(second);
    second[4] = 0x21; /* at no kernel's address */
    ck_assert_int_eq(
        meta_read_nth(&(const file_bytes){file, n, "k"}, 1, a, &m, &err),
        VPU_ERR_INVALID);
    PUT(28, UINT32_MAX - 64); /* program headers far behind the end */
    ck_assert_int_eq(
        meta_read_nth(&(const file_bytes){file, n, "k"}, 0, a, &m, &err),
        VPU_ERR_PARSE);
    ck_assert(strstr(err.msg, "program header"));
}
END_TEST

/* The same kernel as a stage of each earlier form. */
START_TEST(network_2020)
{
    static const config_release releases[] = {CONFIG_2020_2, CONFIG_2020_4,
                                              CONFIG_2021_4, CONFIG_2019R3};
    static const vpu_status expected[] = {VPU_OK, VPU_OK, VPU_ERR_MISMATCH,
                                          VPU_ERR_UNSUPPORTED};
    const tensor_desc desc = {TENSOR_F16, 4, {1, 2, 4, 8}, TENSOR_PLAIN};
    graph_buffer buffers[] = {
        {.name = "in0", .role = GRAPH_INPUT, .desc = desc, .bytes = 128},
        {.name = "out0", .role = GRAPH_OUTPUT, .desc = desc, .bytes = 128}};
    const graph_arg args[] = {
        {.name = "src", .kind = GRAPH_ARG_BUFFER},
        {.name = "dst", .kind = GRAPH_ARG_BUFFER, .buffer = 1, .written = true},
        {.name = "n", .kind = GRAPH_ARG_INT, .integer = -5}};
    graph_launch l = {.name = "L",
                      .entry = "second",
                      .args = args,
                      .n_args = 3,
                      .global = {8, 4, 1},
                      .local = {4, 1, 1},
                      .max_shaves = 3};
    const graph g = {.layer = "L",
                     .type = "T",
                     .buffers = buffers,
                     .n_buffers = 2,
                     .launches = &l,
                     .n_launches = 1,
                     .batch = 1,
                     .form = "flat"};
    uint8_t file[600];
    const network_kernel k = {"k.bin", file, old_elf(file)};
    const network_config cfg = {releases[_i], 9, 7, &k};
    stage_custom c;
    blob b, again;

    ck_assert_int_eq(network_blob(&cfg, &g, a, &b, &err), expected[_i]);
    if (expected[_i])
        return;
    ck_assert(!blob_build(&b, &bytes, &err));
    ck_assert(!blob_parse(bytes.data, bytes.n, "x", a, &again, &err));
    ck_assert_uint_eq(again.major, _i ? 6 : 5);
    ck_assert_uint_eq(again.n_constants, _i ? 768 : 640);
    ck_assert_uint_eq(again.inputs[0].name_bytes, 16);
    ck_assert(stage_custom_read(&again.stages[0], a, &c));
    ck_assert_uint_eq(c.groups[0], 2);
    ck_assert_uint_eq(c.max_shaves, 3);
    ck_assert_uint_eq(c.kernel, 1);
    ck_assert_uint_eq(c.n_args, 2);
    ck_assert_int_eq(c.args[0].tag, 0);
    ck_assert_int_eq((int32_t)c.args[1].value, -5);
    bytes.n = 0;
    ck_assert_msg(!blob_check(&again, a, &bytes), "%s", str_text(&bytes));
    l.local[0] = 3;
    ck_assert_int_eq(network_blob(&cfg, &g, a, &b, &err), VPU_ERR_INVALID);
}
END_TEST

/* --- the program --------------------------------------------------------- */

/* A sample's blob: fine, says that its kernel is ours, has the arguments in the
 * kernel's order; the same bytes again. */
START_TEST(program_makes)
{
    char *dir = program_temp_dir(a), *first = NULL;
    const char *to = arena_printf(a, "%s/x.blob", dir);
    size_t n, m;
    program_args p;
    stage_custom c;
    blob b;

    for (int i = 0; i < 2; i++) {
        program_args_init(&p, a, "blob", "make", "kernels/grn/layer.xml",
                          "--layer", "GRN", "--shape", "in0=1x16x8x64",
                          "--param", "bias=1.5", "--release", "2021.4", "--to",
                          to, NULL);
        ck_assert_int_eq(program_run(&p, dir), 0);
        ck_assert_ptr_nonnull(
            strstr(program_file(a, dir, "stderr", &n), "for the simulator"));
        first = i ? first : program_file(a, dir, "x.blob", &n);
    }
    ck_assert_mem_eq(program_file(a, dir, "x.blob", &m), first, m);
    ck_assert(!blob_parse(first, m, "x", a, &b, &err));
    ck_assert(stage_custom_read(&b.stages[0], a, &c));
    ck_assert_uint_eq(c.n_args, 4);
    ck_assert_int_eq(c.args[0].tag, 0);
    ck_assert_int_eq(c.args[1].tag, 2);
    ck_assert_int_eq(c.args[2].tag, STAGE_ARG_INT);
    ck_assert_uint_eq(c.args[2].value, 16);
    ck_assert_int_eq(c.args[3].tag, STAGE_ARG_FLOAT);
    ck_assert_uint_eq(c.args[3].value, 0x3fc00000);
    program_args_init(&p, a, "blob", "verify", to, NULL);
    ck_assert_int_eq(program_run(&p, dir), 0);
    program_args_init(&p, a, "blob", "show", "--full", to, NULL);
    ck_assert_int_eq(program_run(&p, dir), 0);
    ck_assert_ptr_nonnull(
        strstr(program_file(a, dir, "stdout", &n), "argument 3: float 1.5"));
    program_remove_dir(dir);
}
END_TEST

/* A model of floats, a layer that wants channels innermost: Convert, Permute,
 * custom, Permute back, Convert; every stage reads what the one before wrote.
 */
static void write_text(const char *dir, const char *name, const char *text)
{
    const char *path = arena_strdup(a, file_join(a, dir, name));

    ck_assert(!file_write(path, text, strlen(text), &err));
}

static const char layer_xml[] =
    "<CustomLayer name='Twice' type='MVCL' version='1'><Kernel entry='twice'>"
    "%s<Parameters>"
    "<Tensor arg-name='src' type='input' port-index='0' format='BYXF'/>"
    "<Tensor arg-name='dst' type='output' port-index='0' format='BYXF'/>"
    "<Data arg-name='tmp' type='local_data' dim='input,0' size='X*2'/>"
    "</Parameters><WorkSizes dim='input,0' global='X,Y,1' local='X,1,1'/>"
    "</Kernel></CustomLayer>";
static const char kernel_cl[] =
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "__kernel void twice(__global half *restrict dst, __local half *tmp,\n"
    "                    __global const half *restrict src) {\n"
    "  uint i = get_global_id(1) * get_global_size(0) + get_global_id(0);\n"
    "  dst[i] = src[i] * 2.0h;\n"
    "}\n";

#define PORT \
    "<port id='0'><dim>1</dim><dim>2</dim><dim>4</dim><dim>8</dim></port>"

static const char model_xml[] =
    "<net name='n' version='7'><layers>"
    "<layer id='0' name='i' type='Input' precision='FP32'><output>" PORT
    "</output></layer>"
    "<layer id='1' name='t' type='Twice' precision='FP32'><input>" PORT
    "</input><output>"
    "<port id='1'><dim>1</dim><dim>2</dim><dim>4</dim><dim>8</dim></port>"
    "</output></layer></layers><edges><edge from-layer='0' from-port='0' "
    "to-layer='1' to-port='0'/></edges></net>";

/* Writes the model and its layer, whose Source elements these are; x.blob. */
static void make_blob(const char *dir, const char *sources)
{
    program_args p;
    size_t n;

    write_text(dir, "layer.xml", arena_printf(a, layer_xml, sources));
    write_text(dir, "twice.cl", kernel_cl);
    write_text(dir, "net.xml", model_xml);
    write_text(dir, "net.bin", "");
    program_args_init(&p, a, "blob", "make", NULL);
    program_args_add(&p, "%s/layer.xml", dir);
    program_args_add(&p, "--model=%s/net.xml", dir);
    program_args_add(&p, "--to=%s/x.blob", dir);
    program_args_add(&p, "--release=2022.1");
    ck_assert_msg(!program_run(&p, dir), "%s",
                  program_file(a, dir, "stderr", &n));
}

START_TEST(program_converts)
{
    static const uint32_t types[] = {STAGE_CONVERT, STAGE_PERMUTE, STAGE_CUSTOM,
                                     STAGE_PERMUTE, STAGE_CONVERT};
    static const uint32_t there[] = {2, 0, 1, 3}, back[] = {1, 2, 0, 3};
    char *dir = program_temp_dir(a), *data;
    const blob_buffer *last = NULL;
    stage_custom c;
    size_t n;
    blob b;

    make_blob(dir, "<Source filename='twice.cl'/>");
    data = program_file(a, dir, "x.blob", &n);
    ck_assert(!blob_parse(data, n, "x", a, &b, &err));
    ck_assert_uint_eq(blob_check(&b, a, &bytes), 0);
    ck_assert_uint_eq(b.n_stages, 5);
    ck_assert_uint_eq(b.inputs_size, 256);
    ck_assert_uint_eq(b.outputs_size, 256);
    for (int i = 0; i < 5; i++) {
        const blob_stage *s = &b.stages[i];
        const blob_buffer *in = &s->buffers[0];

        ck_assert_uint_eq(s->type, types[i]);
        ck_assert_uint_eq(in->location, i ? BLOB_BSS : BLOB_INPUT);
        if (last)
            ck_assert_mem_eq(&in->desc, &last->desc, sizeof in->desc);
        if (last)
            ck_assert_uint_eq(in->offset, last->offset);
        last = &s->buffers[i == 2 ? 2 : 1];
    }
    ck_assert_uint_eq(last->location, BLOB_OUTPUT);
    ck_assert_mem_eq(b.stages[1].params, there, sizeof there);
    ck_assert_mem_eq(b.stages[3].params, back, sizeof back);
    ck_assert_uint_eq(b.stages[0].params[0], 0x3f800000);
    ck_assert_uint_eq(b.stages[0].params[3], 1);
    ck_assert_uint_eq(b.stages[4].params[3], 0);
    ck_assert_uint_eq(b.stages[2].buffers[0].desc.order, 0x4213);
    /* The kernel's file and the temporary have one dim: C, whose digit is 3. */
    ck_assert_uint_eq(b.stages[2].buffers[1].desc.order, 0x3);
    ck_assert_uint_eq(b.stages[2].buffers[3].desc.order, 0x3);
    ck_assert(stage_custom_read(&b.stages[2], a, &c));
    ck_assert_int_eq(c.args[0].tag, 2); /* the kernel's order */
    ck_assert_int_eq(c.args[1].tag, STAGE_ARG_LOCAL);
    ck_assert_uint_eq(c.args[1].value, 16);
    ck_assert_int_eq(c.args[2].tag, 0);
    program_remove_dir(dir);
}
END_TEST

/* A layer bound to compiled kernels: their files, one behind the other;
 * messages name the first. */
START_TEST(program_takes_bins)
{
    static const char source[] = "<Source filename='twice.bin'/>";
    static const char again[] = "<Source filename='again.bin'/>";
    char *dir = program_temp_dir(a);
    const char *bin;
    program_args p;
    size_t n, m;

    write_text(dir, "twice.cl", kernel_cl);
    program_args_init(&p, a, "cc", NULL);
    program_args_add(&p, "%s/twice.cl", dir);
    program_args_add(&p, "-o");
    program_args_add(&p, "%s/twice.bin", dir);
    ck_assert_int_eq(program_run(&p, dir), 0);
    bin = program_file(a, dir, "twice.bin", &n);
    ck_assert(!file_write(arena_printf(a, "%s/again.bin", dir), bin, n, &err));
    for (int twice = 0; twice < 2; twice++) {
        const char *whole, *first;

        make_blob(dir, twice ? arena_printf(a, "%s%s", source, again) : source);
        ck_assert_ptr_nonnull(strstr(program_file(a, dir, "stderr", &m),
                                     "twice.bin: compiled by this program"));
        whole = program_file(a, dir, "x.blob", &m);
        first = memmem(whole, m, bin, n);
        ck_assert_ptr_nonnull(first);
        ck_assert_int_eq(memmem(first + n, m - n - (size_t)(first - whole), bin,
                                n) == first + n,
                         twice);
    }
    program_remove_dir(dir);
}
END_TEST

START_TEST(program_refuses)
{
    static const char *const cases[][4] = {
        {"show", "tests/README.md", NULL, "expected 7f"},
        {"show", "nowhere.blob", NULL, "nowhere.blob"},
        {"verify", NULL, NULL, "takes one file"},
        {"paint", "x", NULL, "no 'paint'"},
        {"make", "kernels/grn/layer.xml", "--engine=compiled",
         "unknown option --engine"},
        {"make", "kernels/grn/layer.xml", "--release=2018",
         "--release does not take '2018'"},
        {"make", "kernels/grn/layer.xml", "--to=x", "--release says"}};
    char *dir = program_temp_dir(a);
    program_args p;
    size_t n;

    program_args_init(&p, a, "blob", cases[_i][0], cases[_i][1], cases[_i][2],
                      NULL);
    ck_assert_int_eq(program_run(&p, dir), 2);
    ck_assert_msg(strstr(program_file(a, dir, "stderr", &n), cases[_i][3]) !=
                      NULL,
                  "%s", program_file(a, dir, "stderr", &n));
    program_remove_dir(dir);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("blob network");
    TCase *tc = tcase_create("blobs");
    SRunner *sr;
    int failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, metadata_2020);
    tcase_add_test(tc, kernels_of_2020_by_number);
    tcase_add_loop_test(tc, network_2020, 0, 4);
    tcase_add_test(tc, program_makes);
    tcase_add_test(tc, program_converts);
    tcase_add_test(tc, program_takes_bins);
    tcase_add_loop_test(tc, program_refuses, 0, 7);
    suite_add_tcase(s, tc);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
