/* The opencl backend: what is promoted, what is refused, what fails, on PoCL.
 * That it computes the sample layers is backend_layers_test's. */
#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "runtime/backend/opencl_bytes.h"
#include "runtime/backend/opencl_text.h"
#include "sim/builtins/routines.h"
#include "tests/runtime/backend/backend_rig.h"
#include "tests/support/terminal.h"

static backend_rig r;

static void setup(void)
{
    layer_init(&r);
}

static void teardown(void)
{
    layer_fini(&r);
}

/* --- one kernel k, of whatever text -------------------------------------- */

#define TENSORS                                                  \
    "<Tensor arg-name=\"src\" type=\"input\" port-index=\"0\" "  \
    "format=\"BFYX\"/><Tensor arg-name=\"dst\" type=\"output\" " \
    "port-index=\"0\" format=\"BFYX\"/>"
#define KERNEL(more, sizes)                                              \
    "<CustomLayer name=\"L\" type=\"MVCL\" version=\"1\">\n<Kernel "     \
    "entry=\"k\"><Source filename=\"k.cl\"/>\n<Parameters>" TENSORS more \
    "</Parameters>\n<WorkSizes dim=\"input,0\" " sizes "/></Kernel>"     \
    "</CustomLayer>"
#define ROWS "global=\"X,Y,1\" local=\"X,1,1\""
#define SHAPE "in0=1x1x4x32"

static void bind_kernel(const char *text, const char *xml, const char *shapes)
{
    layer_file(&r, "k.cl", text);
    layer_bind(&r, layer_file(&r, "l.xml", xml), "L", shapes, "");
}

static unsigned char *output_on(const char *id, uint64_t *n)
{
    ck_assert_msg(!layer_open(&r, id), "%s", r.err.msg);
    ck_assert_msg(!layer_run(&r, "random:4", NULL), "%s", r.err.msg);
    return layer_read(&r, "out0", n);
}

/* Texts whose results have a single rounding to half, at the end. */
static const struct {
    const char *text, *more;
} equal[] = {
    /* literals, conversions, limits */
    {"__kernel void k(__global const half *src, __global half *dst) {\n"
     "size_t i = get_global_id(1) * 32 + get_global_id(0);\n"
     "half v = src[i];\n"
     "dst[i] = i % 4 == 0 ? v * 2.5h : i % 4 == 1 ? convert_half_rte(v)\n"
     "  : i % 4 == 2 ? (half)HALF_MAX : 0x1.8p1h + 1e-1h * 0.h; }",
     ""},
    /* constants of half by name */
    {"__kernel void k(__global const half *src, __global half *dst) {\n"
     "int i = get_global_id(1) * 32 + get_global_id(0);\n"
     "half all[] = {HALF_MAX, HALF_MIN, HALF_EPSILON, M_E_H, M_PI_H, "
     "M_PI_2_H,\n"
     "  M_1_PI_H, M_2_SQRTPI_H, M_SQRT2_H, M_LN10_H};\n"
     "dst[i] = all[i % 10]; }",
     ""},
    /* vectors anywhere, by cast, vload and vload_half */
    {"__kernel void k(__global const half *src, __global half *dst) {\n"
     "int x = get_local_id(0), y = get_group_id(1);\n"
     "__global const half *from = src + y * 32; __global half *to = dst + y * "
     "32;\n"
     "if (x < 3) *(__global half8 *)(to + 1 + x * 8) =\n"
     "    *(__global const half8 *)(from + 1 + x * 8) * (half8)(2.0h);\n"
     "if (x == 0) { vstore4(vload4(0, from + 25), 0, to + 25);\n"
     "  to[0] = vload_half(3, from); vstore_half(from[1] + 1.0f, 29, to);\n"
     "  vstore_half2_rte(vload_half2(15, from), 15, to); } }",
     ""},
    /* names for half, a size_t beside a uint, a half by value in a helper */
    {"typedef half real; typedef real row[4];\n"
     "static real twice(const real v) { return v + v; }\n"
     "__kernel void k(__global const real *src, __global real *dst) {\n"
     "uint last = 100; row r; size_t i = get_global_id(1) * 32 + "
     "get_global_id(0);\n"
     "r[i % 4] = src[min(i, last)]; dst[i] = twice(r[i % 4]); }",
     ""},
    /* the SHAVE's own; bits of a tensor's vector but not of a half */
    {"__kernel void k(__global const half *src, __global half *dst) {\n"
     "int x = get_global_id(0), i = get_global_id(1) * 32 + x;\n"
     "short8 a = (short8)(0, 1, 2, 3, 4, 5, 6, 7) + (short)x, b = a + "
     "(short)8;\n"
     "short8 c = __builtin_shave_cmu_alignvec_rri_short8(a, b, 6);\n"
     "half8 v = (half8)(1, 2, 3, 4, 5, 6, 7, x);\n"
     "dst[i] = __builtin_shave_sau_sumx_f16_r(v) + c.s5 +\n"
     "  __builtin_shave_cmu_min_i32_rr_int(x, 7) +\n"
     "  __builtin_shave_sau_exp2_f16_l_r((half)(x % 5)); }",
     ""},
    /* a value by name, half and float */
    {"__kernel void k(__global const half *src, __global half *dst, half s,\n"
     "  float t, int n) {\n"
     "int i = get_global_id(1) * 32 + get_global_id(0);\n"
     "dst[i] = (float)s * 8 + t + n; }",
     "<Scalar arg-name=\"s\" type=\"float\" port-index=\"0\" source=\"I.X\"/>"
     "<Scalar arg-name=\"t\" type=\"float\" port-index=\"0\" source=\"I.Y\"/>"
     "<Scalar arg-name=\"n\" type=\"int\" port-index=\"0\" source=\"I.Y\"/>"},
    /* local data without bytes */
    {"__kernel void k(__global const half *src, __global half *dst,\n"
     "  __local half *none, __local half *row) {\n"
     "int x = get_local_id(0), i = get_global_id(1) * 32 + x;\n"
     "row[x] = src[i]; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "dst[i] = row[31 - x] * 2; }",
     "<Data arg-name=\"none\" type=\"local_data\" dim=\"input,0\" "
     "size=\"0\"/>"
     "<Data arg-name=\"row\" type=\"local_data\" dim=\"input,0\" "
     "size=\"X*2\"/>"},
    /* three kernels, items that return early, arrays of the group's own */
    {"#define A (__global const half *src, __global half *dst, "
     "__local half *a, __local half *b)\n"
     "__kernel void __dma_preload_k A {\n"
     "WorkGroupDmaCreateTransaction(src + get_group_id(1) * 32, a,\n"
     "  32 * sizeof(half), 0); }\n"
     "__kernel void k A { __local half turned[32]; int x = get_local_id(0);\n"
     "turned[31 - x] = a[x]; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "if (x % 3 == 1) { b[x] = 7; return; } b[x] = turned[x] * 2; }\n"
     "__kernel void __dma_postwrite_k A {\n"
     "WorkGroupDmaCreateTransaction(b, dst + get_group_id(1) * 32,\n"
     "  32 * sizeof(half), 0); }",
     "<Data arg-name=\"a\" type=\"local_data\" dim=\"input,0\" size=\"X*2\"/>"
     "<Data arg-name=\"b\" type=\"local_data\" dim=\"input,0\" size=\"X*2\"/>"},
};
enum { N_EQUAL = sizeof equal / sizeof *equal };

START_TEST(promoted_text_computes_the_same)
{
    unsigned char *sim, *cl;
    char *xml = arena_printf(r.arena, KERNEL("%s", ROWS), equal[_i].more);
    uint64_t n;

    bind_kernel(arena_printf(r.arena, "%s\n%s\n",
                             "#pragma OPENCL EXTENSION cl_khr_fp16 : enable",
                             equal[_i].text),
                xml, SHAPE);
    sim = output_on("sim", &n);
    cl = output_on("opencl", &n);
    ck_assert(r.ops->caps(r.self)->promoted != layer_opencl_has_half(&r));
    for (uint64_t i = 0; i < n / 2; i++) {
        builtin_half a, b;

        memcpy(&a, sim + 2 * i, 2);
        memcpy(&b, cl + 2 * i, 2);
        ck_assert_msg(a == b, "case %d: element %llu is %g, not %g", _i,
                      (unsigned long long)i, (double)b, (double)a);
    }
}
END_TEST

/* --- layouts and types converted on the way ------------------------------ */

#define PORT(id, p, dims) \
    "<port id=\"" #id "\" precision=\"" p "\">" dims "</port>"
#define IN_DIMS "<dim>2</dim><dim>5</dim><dim>6</dim><dim>9</dim>"
#define OUT_DIMS "<dim>2</dim><dim>45</dim><dim>2</dim><dim>3</dim>"

/* float -> half -> channel-last -> kernel -> channel-first -> float */
START_TEST(conversions_carry_promoted_halves)
{
    static const char net[] =
        "<net name=\"n\" version=\"10\"><layers>"
        "<layer id=\"0\" name=\"p\" type=\"Parameter\" version=\"opset1\">"
        "<data shape=\"2,5,6,9\" element_type=\"f32\"/><output>" PORT(
            0, "FP32",
            IN_DIMS) "</output></layer>"
                     "<layer id=\"1\" name=\"x\" type=\"ReorgLast\" "
                     "version=\"extension\">"
                     "<data stride=\"3\"/><input>" PORT(
                         0, "FP32",
                         IN_DIMS) "</input>"
                                  "<output>" PORT(
                                      1, "FP32",
                                      OUT_DIMS) "</output></layer>"
                                                "<layer id=\"2\" name=\"r\" "
                                                "type=\"Result\" "
                                                "version=\"opset1\">"
                                                "<input>" PORT(
                                                    0, "FP32",
                                                    OUT_DIMS) "</input></"
                                                              "layer></"
                                                              "layers><edges>"
                                                              "<edge "
                                                              "from-layer="
                                                              "\"0\" "
                                                              "from-port=\"0\" "
                                                              "to-layer=\"1\" "
                                                              "to-port=\"0\"/>"
                                                              "<edge "
                                                              "from-layer="
                                                              "\"1\" "
                                                              "from-port=\"1\" "
                                                              "to-layer=\"2\" "
                                                              "to-port=\"0\"/>"
                                                              "</edges></net>";
    unsigned char *sim, *cl;
    int moves = 0, types = 0;
    uint64_t n;

    r.model = layer_file(&r, "m.xml", net);
    layer_bind(&r, "kernels/reorg/layer.xml", NULL, "", "");
    for (uint32_t i = 0; i < r.graph->n_launches; i++) {
        moves += !strcmp(r.graph->launches[i].entry, "permute_2");
        types += !strncmp(r.graph->launches[i].entry, "convert_", 8);
    }
    ck_assert_int_ge(moves, 2);
    ck_assert_int_ge(types, 2);
    sim = output_on("sim", &n);
    ck_assert_uint_eq(n, 2 * 45 * 2 * 3 * 4);
    cl = output_on("opencl", &n);
    ck_assert(r.ops->caps(r.self)->promoted != layer_opencl_has_half(&r));
    /* The way in rounds to half on sim alone: 11 bits. */
    for (uint64_t i = 0; i < n / 4; i++) {
        float a, b;

        memcpy(&a, sim + 4 * i, 4);
        memcpy(&b, cl + 4 * i, 4);
        ck_assert_float_le((a > b ? a - b : b - a),
                           (a > 0 ? a : -a) * 0x1p-11f);
        ck_assert(i || a != 0);
    }
}
END_TEST

/* --- devices with half --------------------------------------------------- */

static const struct {
    const char *file, *entry;
} with_half[] = {{"kernels/grn/grn_dma.cl", "grn_dma"},
                 {"kernels/grn/grn_vector.cl", "grn_vector"},
                 {"kernels/grn/grn_async_rows.cl", "grn_async_rows"},
                 {"kernels/copy_item_dma/copy_item_dma.cl", "copy_item_dma"},
                 {"kernels/cvtf32f16/cvtf32f16_store.cl", "cvtf32f16_store"},
                 {"kernels/binary_convolution/pack.cl", "pack"}};
enum { N_WITH_HALF = sizeof with_half / sizeof *with_half };

/* PoCL has none, but clang says whether their text would compile: for devices
 * of 64 and of 32 bits, and promoted too, which finds what only PoCL takes. */
START_TEST(text_compiles_with_half)
{
    opencl_source src = {.path = with_half[_i].file,
                         .entry = with_half[_i].entry};
    kernel_source source = {.path = src.path, .entry = with_half[_i].entry};
    kernel_compile_config cfg = {0};
    sim_kernel *k;

    ck_assert_msg(!kernel_compile(&source, &cfg, r.arena, &k, &r.err), "%s",
                  r.err.msg);
    for (int i = 0; i < 4; i++) {
        const char *program, *entry;
        opencl_text text;

        src.promote = i & 2;
        ck_assert_msg(!opencl_text_read(&src, r.arena, &text, &r.err), "%s",
                      r.err.msg);
        opencl_text_program(&text, k, src.promote, r.arena, &program, &entry);
        ck_assert_ptr_nonnull(strstr(program, entry));
        ck_assert(!!strstr(program, "__VPU_PROMOTE 1") == src.promote);
        program = layer_file(&r, "k.cl", program);
        ck_assert_int_eq(system(arena_printf(
                             r.arena,
                             "clang-19 -x cl -cl-std=CL1.2 -target spir%s -w "
                             "-fsyntax-only %s",
                             i & 1 ? "" : "64", program)),
                         0);
        opencl_text_free(&text);
    }
    kernel_release(k);
}
END_TEST

/* --- refusals ------------------------------------------------------------ */

#define HEAD "__kernel void k(__global const half *src, __global half *dst) {\n"

static const struct {
    const char *text;
    vpu_status status;
    const char *part, *other;
    bool any; /* on every device; else where halves are promoted */
} refused[] = {
    {HEAD "\ndst[0] = as_half((short)1); }", VPU_ERR_UNSUPPORTED,
     "k.cl:3: error: 'as_half' looks at the bits", "no cl_khr_fp16", false},
    {HEAD "union { half h; short s; } u; u.h = src[0]; dst[0] = u.s; }",
     VPU_ERR_UNSUPPORTED, "k.cl:2: error: 'union'", "no cl_khr_fp16", false},
    {HEAD "union { int i; half2 h; } u; u.h = (half2)(src[0]); dst[0] = u.i; }",
     VPU_ERR_UNSUPPORTED, "k.cl:2: error: 'union'", "no cl_khr_fp16", false},
    {HEAD "union { short s; struct { half h; } t; } u; u.t.h = src[0]; "
          "dst[0] = u.s; }",
     VPU_ERR_UNSUPPORTED, "k.cl:2: error: 'union'", "no cl_khr_fp16", false},
    {HEAD "dst[0] = ((__global const ushort8 *)src)->s1; }",
     VPU_ERR_UNSUPPORTED, "k.cl:2: error: 'ushort8' behind a cast", "", false},
    {"typedef unsigned short bits;\n" HEAD
     "dst[0] = *(const __global bits *)src; }",
     VPU_ERR_UNSUPPORTED, "k.cl:3: error: 'bits' behind a cast", "", false},
    {HEAD "dst[0] = as_short(src[0]); }", VPU_ERR_COMPILE, "k.cl:2",
     "halves are floats here", false},
    {HEAD "dst[0] =\n__builtin_shave_no_such(src[0]); }", VPU_ERR_UNSUPPORTED,
     "k.cl:3: error: '__builtin_shave_no_such' is an instruction",
     "backend opencl cannot", true},
    {HEAD "dst[0] = nothing; }", VPU_ERR_COMPILE, "k.cl:2:10", "nothing", true},
    {"typedef struct { half a, b; } pair;\n"
     "__kernel void k(__global const pair *src, __global half *dst) {\n"
     "dst[0] = src[0].b; }",
     VPU_ERR_UNSUPPORTED, "argument 'src' of kernel 'k' is", "pair", false},
    {"__kernel void k(__global const ushort *src, __global half *dst) {\n"
     "dst[0] = ((__global const half *)src)[1]; }",
     VPU_ERR_UNSUPPORTED, "k.cl:2: error: this cast may make halves", "'k'",
     false},
};
enum { N_REFUSED = sizeof refused / sizeof *refused };

#define BITS "    return x > as_half((ushort)3);\n"
#define LOOKS "ushort looks(half x)\n{\n" BITS "}\n"

/* A function that looks at a half's bits, and who calls it; part: of the
 * refusal, NULL = the kernel does not reach it. */
static const struct {
    const char *text, *part;
} reaching[] = {
    {LOOKS HEAD "dst[0] = src[0]; }", NULL},
    {HEAD "dst[0] = src[0]; }\n" LOOKS, NULL},
    {LOOKS HEAD "dst[0] = looks(src[0]) ? 1 : 2; }",
     "k.cl:3: error: 'as_half'"},
    {LOOKS "int between(half x)\n{\n    return looks(x) + 1;\n}\n" HEAD
           "dst[0] = between(src[0]) ? 1 : 2; }",
     "k.cl:3: error: 'as_half'"},
    {LOOKS "int between(half x)\n{\n    return looks(x) + 1;\n}\n" HEAD
           "dst[0] = src[0]; }",
     NULL},
    /* The names of a string, of a part of a word, and of a later line. */
    {LOOKS HEAD "dst[0] = src[0]; printf(\"looks(%d) }\", 1); "
                "int looks_up = 3; (void)looks_up; }",
     NULL},
    /* Another kernel of the file, and one that has attributes. */
    {"__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void other(\n"
     "    __global const half *src, __global half *dst)\n{\n"
     "    dst[0] = as_half((ushort)(as_ushort(src[0]) & 0x7fff));\n}\n" HEAD
     "dst[0] = src[0]; }",
     NULL},
    {"__kernel void __dma_preload_k(__global const half *src, __global half "
     "*dst) {\n    if (src[0] > as_half((ushort)3)) dst[1] = 0;\n}\n" HEAD
     "dst[0] = src[0]; }",
     "k.cl:2: error: 'as_half'"},
    {"typedef struct { int a, b; } pair;\n"
     "__constant pair table[] = {{1, 2}, {3, 4}};\n"
     "static __attribute__((always_inline)) ushort looks(half x)\n"
     "    __attribute__((const));\n"
     "static ushort looks(half x) { if (x > 0) { " BITS " } return 0; }\n" HEAD
     "dst[0] = src[0] + table[1].b; }",
     NULL},
};
enum { N_REACHING = sizeof reaching / sizeof *reaching };

START_TEST(looks_at_what_is_reached)
{
    const char *part = reaching[_i].part;
    vpu_status st;

    if (layer_opencl_has_half(&r))
        return;
    bind_kernel(reaching[_i].text, KERNEL("", ROWS), SHAPE);
    st = layer_open(&r, "opencl");
    ck_assert_msg(st == (part ? VPU_ERR_UNSUPPORTED : VPU_OK), "%d: %s", _i,
                  r.err.msg);
    ck_assert_msg(!part || strstr(r.err.msg, part), "%s", r.err.msg);
}
END_TEST

/* Errors of the device's compiler have their lines, whatever was left out in
 * front of them. */
START_TEST(lines_stay_where_functions_go)
{
    bind_kernel(
        "int unused(int x)\n{\n#pragma unroll 2\n"
        "    for (int i = 0; i < 9; i++) x += i;\n    return x;\n}\n" HEAD
        "dst[0] =\n    as_short(src[0]); }",
        KERNEL("", ROWS), SHAPE);
    if (layer_opencl_has_half(&r))
        return;
    ck_assert(layer_open(&r, "opencl") == VPU_ERR_COMPILE);
    ck_assert_msg(strstr(r.err.msg, "k.cl:9"), "%s", r.err.msg);
}
END_TEST

/* Bits of what stays as it is. */
START_TEST(unions_without_halves)
{
    bind_kernel(
        "typedef union { const float f; uint u[1]; uchar4 b; } bits;\n" HEAD
        "union { float f; int i; } v;\n"
        "bits w = {.f = 2.0f};\n"
        "v.f = (float)src[0]; dst[0] = (half)(v.i + w.u[0]); }",
        KERNEL("", ROWS), SHAPE);
    ck_assert_msg(!layer_open(&r, "opencl"), "%s", r.err.msg);
}
END_TEST

START_TEST(refuses_what_floats_cannot_do)
{
    if (!refused[_i].any && layer_opencl_has_half(&r))
        return;
    bind_kernel(refused[_i].text, KERNEL("", ROWS), SHAPE);
    ck_assert_msg(layer_open(&r, "opencl") == refused[_i].status, "%d: %s", _i,
                  r.err.msg);
    ck_assert_ptr_null(r.self);
    ck_assert_msg(strstr(r.err.msg, refused[_i].part) != NULL, "%s", r.err.msg);
    ck_assert_msg(strstr(r.err.msg, refused[_i].other) != NULL, "%s",
                  r.err.msg);
}
END_TEST

START_TEST(refuses_a_buffer_of_both)
{
    if (layer_opencl_has_half(&r))
        return;
    layer_file(&r, "k.cl",
               "__kernel void one(__global const half *src, __global half *t)\n"
               "{ t[get_global_id(0)] = src[get_global_id(0)]; }\n"
               "__kernel void two(__global const ushort *t, __global half *dst)"
               "\n{ dst[get_global_id(0)] = t[get_global_id(0)]; }\n");
    layer_bind(
        &r,
        layer_file(
            &r, "l.xml",
            "<CustomLayer name=\"L\" type=\"MVCL\" version=\"1\">\n"
            "<Kernel entry=\"one\" stage=\"0\"><Source filename=\"k.cl\"/>"
            "<Parameters><Tensor arg-name=\"src\" type=\"input\" "
            "port-index=\"0\" format=\"BFYX\"/><Tensor arg-name=\"t\" "
            "type=\"output_buffer\" port-index=\"0\" dim=\"input,0\" "
            "size=\"X*2\"/></Parameters>"
            "<WorkSizes dim=\"input,0\" global=\"X\" local=\"1\"/></Kernel>\n"
            "<Kernel entry=\"two\" stage=\"1\"><Source filename=\"k.cl\"/>"
            "<Parameters><Tensor arg-name=\"t\" type=\"input_buffer\" "
            "port-index=\"0\" dim=\"input,0\" size=\"X*2\"/><Tensor "
            "arg-name=\"dst\" type=\"output\" port-index=\"0\" "
            "format=\"BFYX\"/></Parameters>"
            "<WorkSizes dim=\"input,0\" global=\"X\" local=\"1\"/></Kernel>"
            "</CustomLayer>"),
        "L", "in0=1x1x1x8", "");
    ck_assert_int_eq(layer_open(&r, "opencl"), VPU_ERR_UNSUPPORTED);
    ck_assert_ptr_nonnull(
        strstr(r.err.msg, "l.xml:3: error: buffer 'buffer0' is half* to kernel "
                          "'one' and ushort* to kernel 'two'"));
}
END_TEST

/* Signature and binding are compared by the same code: the same words. */
START_TEST(mismatch_reads_as_on_sim)
{
    char *first;

    bind_kernel("__kernel void k(__global const half *src, __global float *dst)"
                "{ dst[0] = src[0]; }",
                KERNEL("", ROWS), SHAPE);
    ck_assert_int_eq(layer_open(&r, "sim"), VPU_ERR_MISMATCH);
    first = arena_strdup(r.arena, r.err.msg);
    ck_assert_int_eq(layer_open(&r, "opencl"), VPU_ERR_MISMATCH);
    ck_assert_str_eq(r.err.msg, first);
}
END_TEST

/* --- limits -------------------------------------------------------------- */

START_TEST(too_much_local_memory)
{
    bind_kernel("__kernel void k(__global const half *src, __global half *dst,"
                "__local half *l) { l[0] = src[0]; dst[0] = l[0]; }",
                KERNEL("<Data arg-name=\"l\" type=\"local_data\" "
                       "dim=\"input,0\" size=\"67108864\"/>",
                       ROWS),
                SHAPE);
    ck_assert_int_eq(layer_open(&r, "opencl"), VPU_ERR_LIMIT);
    /* promoted: twice the bytes */
    ck_assert_ptr_nonnull(strstr(r.err.msg, layer_opencl_has_half(&r)
                                                ? "needs 67108864 bytes"
                                                : "needs 134217728 bytes"));
}
END_TEST

START_TEST(too_large_a_group)
{
    bind_kernel(HEAD "dst[get_global_id(0)] = src[get_global_id(0)]; }",
                KERNEL("", ROWS), "in0=1x1x1x1000000");
    ck_assert_int_eq(layer_open(&r, "opencl"), VPU_ERR_LIMIT);
    ck_assert_ptr_nonnull(
        strstr(r.err.msg, "work-groups of 1000000x1x1 items are too large"));
}
END_TEST

START_TEST(a_hanging_kernel_comes_back)
{
    unsigned char data[4 * 32 * 2];

    bind_kernel("__kernel void k(__global const half *src, __global volatile "
                "half *dst)\n{ while (dst[0] == 0) ; }",
                KERNEL("", ROWS), SHAPE);
    r.cfg.how.timeout_s = 0.5;
    ck_assert(!layer_open(&r, "opencl"));
    ck_assert_int_eq(layer_run(&r, "random:1", NULL), VPU_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(r.err.msg, "kernel 'k' still runs on"));
    ck_assert_ptr_nonnull(strstr(r.err.msg, "after 0.5 s"));
    ck_assert_int_eq(r.ops->read(r.self, 0, data, &r.err), VPU_ERR_LIMIT);
    ck_assert_int_eq(r.ops->write(r.self, 0, data, &r.err), VPU_ERR_LIMIT);
    ck_assert_int_eq(r.ops->run(r.self, 0, 1, NULL, &r.err), VPU_ERR_LIMIT);
}
END_TEST

/* --- devices ------------------------------------------------------------- */

START_TEST(devices_by_number_and_name)
{
    static const char *const wrong[] = {"opencl:9",       "opencl:0:9",
                                        "opencl:no such", "opencl:0:x",
                                        "opencl:0:0:0",   "opencl:-1"};

    bind_kernel(HEAD "dst[0] = src[0]; }", KERNEL("", ROWS), SHAPE);
    ck_assert(!layer_open(&r, "opencl:0"));
    ck_assert(!layer_open(&r, "opencl:0:0"));
    ck_assert(!layer_open(&r, "opencl:PTHREAD"));
    ck_assert(!layer_open(&r, "opencl:portable comp"));
    ck_assert_ptr_nonnull(strstr(r.ops->caps(r.self)->version, "PoCL"));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_int_eq(layer_open(&r, wrong[i]), VPU_ERR_INVALID);
        ck_assert_ptr_nonnull(strstr(r.err.msg, wrong[i] + 7));
        ck_assert_ptr_nonnull(strstr(r.err.msg, "0:0 (pthread"));
    }
}
END_TEST

START_TEST(no_driver)
{
    backend_device *list;
    uint32_t n;

    setenv("OCL_ICD_VENDORS", r.dir, 1); /* no .icd there */
    bind_kernel(HEAD "dst[0] = src[0]; }", KERNEL("", ROWS), SHAPE);
    ck_assert_int_eq(layer_open(&r, "opencl"), VPU_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(r.err.msg, "apt-get install pocl"));
    ck_assert(!r.ops->probe(r.arena, &list, &n, &r.err));
    ck_assert_uint_eq(n, 1);
    ck_assert(!list[0].usable);
    ck_assert_str_eq(list[0].id, "opencl");
    ck_assert_ptr_nonnull(strstr(list[0].why, "apt-get install pocl"));
}
END_TEST

/* --- the program --------------------------------------------------------- */

static terminal p;

static void open_terminal(void)
{
    terminal_open(&p);
    setenv("POCL_CACHE_DIR", p.dir, 1);
    terminal_text(&p, "k.cl",
                  HEAD "int i = get_global_id(0);\n"
                       "if (i == 3) printf(\"three %d\\n\", i);\n"
                       "dst[i] = src[i] * 2; }");
    terminal_text(&p, "l.xml", KERNEL("", "global=\"X,1,1\" local=\"X,1,1\""));
}

static void close_terminal(void)
{
    terminal_close(&p);
}

#define BOUND " l.xml --shape in0=1x1x1x32 "
#define RUN "run" BOUND

START_TEST(program_runs_on_a_device)
{
    json_t *o, *stage;
    bool promoted;

    terminal_run(&p, "devices");
    promoted = strstr(p.out, "no half: promoted to float");
    terminal_run(&p, RUN "--backend opencl:0:0 --output o");
    ck_assert_msg(!p.status, "%s", p.err);
    ck_assert_ptr_nonnull(strstr(p.out, "backend opencl, device pthread"));
    ck_assert(!!strstr(p.out, "halves promoted to float") == promoted);
    ck_assert_ptr_nonnull(strstr(p.out, "three 3"));
    ck_assert(!!strstr(p.err, "note: pthread") == promoted);
    ck_assert(terminal_has(&p, "o/out0.npy"));
    ck_assert(terminal_has(&p, "o/report.json"));

    terminal_run(&p, RUN "--backend opencl --report json --repeat 3");
    ck_assert_msg(!p.status, "%s", p.err);
    ck_assert_ptr_nonnull(strstr(p.err, "three 3"));
    o = json_loads(p.out, 0, NULL);
    ck_assert_ptr_nonnull(o);
    ck_assert_str_eq(json_string_value(json_object_get(o, "backend")),
                     "opencl");
    ck_assert_int_eq(json_is_true(json_object_get(o, "promoted")), promoted);
    ck_assert(json_is_true(json_object_get(o, "device_clock")));
    stage = json_array_get(json_object_get(o, "stages"), 0);
    ck_assert(json_real_value(json_object_get(stage, "seconds")) > 0);
    ck_assert_ptr_null(json_object_get(stage, "cycles"));
    json_decref(o);

    terminal_run(&p, RUN "--backend null --report json");
    ck_assert_msg(!p.status, "%s", p.err);
    ck_assert_ptr_nonnull(strstr(p.out, "\"backend\": \"null\""));
    ck_assert_ptr_nonnull(strstr(p.out, "\"promoted\": false"));
}
END_TEST

/* Most of the program's time is the kernel's: the device's clock and the host's
 * count the same seconds. */
START_TEST(seconds_of_the_device)
{
    double whole, kernel;
    json_t *o;

    terminal_text(&p, "k.cl",
                  HEAD "int i = get_global_id(0);\n"
                       "float x = src[i];\n"
                       "for (int k = 0; k < 30000000; k++)\n"
                       "    x = x * 0.999f + 0.5f;\n"
                       "dst[i] = x; }");
    whole = clock_seconds();
    terminal_run(&p, RUN "--backend opencl --json --quiet");
    whole = clock_seconds() - whole;
    ck_assert_msg(!p.status, "%s", p.err);
    o = json_loads(p.out, 0, NULL);
    kernel = json_real_value(json_object_get(
        json_array_get(json_object_get(o, "stages"), 0), "seconds"));
    json_decref(o);
    ck_assert_double_lt(kernel, whole);
    ck_assert_double_gt(kernel, 0);
}
END_TEST

START_TEST(program_without_backend_is_sim)
{
    const char *plain;

    terminal_run(&p, RUN "--quiet");
    ck_assert_msg(!p.status, "%s", p.err);
    plain = arena_strdup(p.arena, p.out);
    terminal_run(&p, RUN "--quiet --backend sim");
    ck_assert_str_eq(p.out, plain);
    ck_assert_ptr_nonnull(strstr(plain, "cycles"));
}
END_TEST

START_TEST(program_refuses)
{
    static const char *const rows[][2] = {
        {"--backend opencl --shaves 3", "--shaves is about the simulator"},
        {"--engine interpreted --backend null", "--engine is about"},
        {"--backend opencl --profile", "--profile is about"},
        {"--backend opencl --set clk_mhz=1", "--set is about"},
        {"--backend opencl --max-cycles 9", "--max-cycles is about"},
        {"--backend nobody", "no backend 'nobody'; there are"},
        {"--backend opencl:nobody", "no device 'nobody'; there are 0:0"},
        {"--backend sim:1", "no device '1'"},
        {"--backend opencl --input 4=ramp", "no input 4"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        terminal_run(&p,
                     arena_printf(p.arena, RUN "%s --output x", rows[i][0]));
        ck_assert_int_eq(p.status, 2);
        ck_assert_msg(strstr(p.err, rows[i][1]) != NULL, "%s", p.err);
        ck_assert(!terminal_has(&p, "x/out0.npy"));
    }
}
END_TEST

START_TEST(program_lists_devices)
{
    json_t *o, *list, *d;
    int found = 0;
    size_t i;

    terminal_run(&p, "devices");
    ck_assert_msg(!p.status, "%s", p.err);
    ck_assert_ptr_nonnull(strstr(p.out, "\nsim "));
    ck_assert_ptr_nonnull(strstr(p.out, "\nopencl:0:0 "));
    terminal_run(&p, "devices extra");
    ck_assert_int_eq(p.status, 2);
    setenv("OCL_ICD_VENDORS", p.dir, 1);
    terminal_run(&p, "devices --json");
    ck_assert_msg(!p.status, "%s", p.err);
    o = json_loads(p.out, 0, NULL);
    list = json_object_get(o, "devices");
    ck_assert_uint_ge(json_array_size(list), 3);
    json_array_foreach(list, i, d)
    {
        const char *name = json_string_value(json_object_get(d, "backend"));
        bool usable = json_is_true(json_object_get(d, "usable"));

        ck_assert(json_is_string(json_object_get(d, "why")) != usable);
        if (!strcmp(name, "sim") || !strcmp(name, "null"))
            ck_assert(usable);
        if (!strcmp(name, "opencl")) {
            ck_assert(!usable);
            found++;
        }
    }
    ck_assert_int_eq(found, 1);
    json_decref(o);
    terminal_run(&p, RUN "--backend opencl");
    ck_assert_int_eq(p.status, 2);
    ck_assert_ptr_nonnull(strstr(p.err, "no OpenCL driver"));
}
END_TEST

/* The program ends although the kernel does not. */
START_TEST(program_gives_up)
{
    terminal_text(&p, "k.cl",
                  "__kernel void k(__global const half *src, __global volatile "
                  "half *dst)\n{ while (dst[0] == 0) ; }");
    terminal_run(&p, RUN "--backend opencl --timeout 0.5 --output x");
    ck_assert_int_eq(p.status, 7);
    ck_assert_ptr_nonnull(strstr(p.err, "still runs on"));
    ck_assert(!terminal_has(&p, "x/out0.npy"));
}
END_TEST

/* The size that was counted by hand; "" = none. */
static const struct {
    const char *before, *arguments, *size;
} copies[] = {
    {"", "src, a, W * 2, 0", "W * 2"},
    {"", "src, a, 2*W, 0", "2*W"},
    {"", "src + 2 * x, a, (W + 1) << 1, 0", "(W + 1) << 1"},
    {"", "src, a, W * 2 * sizeof(half), 0", ""},
    {"", "src, a, W * sizeof(half), 0", ""},
    {"", "src + i * 2, a + 2 * i, W * 12, 0", ""},
    {"", "src, a, W * 2.5f, W * x2, a1 < 1", ""},
    {"int n = W * 2;", "src, a, n, 0", "n"},
    {"int n = W * 2, m = H;", "src, a, f(m, n), 0", "f(m, n)"},
    {"int n = W * 2; n = W * sizeof(half);", "src, a, n, 0", ""},
    {"int w = W << 1; int n = w * H;", "src, a, 64, n", "n"},
    {"int nn = W * 2; int n = W;", "src, a, n, 0", ""},
    {"int n = n;", "src, a, n, 0", ""},
    {"int n = m, m = n;", "src, a, n, (m", ""},
    {"", "src, a", ""},
};

START_TEST(sizes_by_hand)
{
    arena *a = arena_create(0);
    const char *text = arena_printf(a, "{ %s copy_it (%s); W * 2; }",
                                    copies[_i].before, copies[_i].arguments);
    size_t n = 0;
    const char *size = opencl_bytes_by_hand(text, strstr(text, "copy_it"), &n);

    ck_assert_str_eq(size ? arena_strndup(a, size, n) : "", copies[_i].size);
    arena_destroy(a);
}
END_TEST

/* A copy of W * 2 bytes moves half a row of floats: the user hears of it. */
START_TEST(bytes_of_halves)
{
    terminal_text(&p, "k.cl",
                  "__kernel void k(__global const half *src, __global half "
                  "*dst)\n{\n    __local half a[16];\n    event_t e =\n"
                  "        WorkGroupDmaCreateTransaction(src, a, 8 * 2, 0);\n"
                  "    wait_group_events(1, &e);\n"
                  "    dst[get_global_id(0)] = a[get_local_id(0)];\n}\n");
    terminal_run(&p, RUN "--backend opencl");
    terminal_expect(&p, 0, "");
    ck_assert_msg(strstr(p.err, "k.cl:5: the size '8 * 2' of a copy does not "
                                "come from sizeof") != NULL,
                  "%s", p.err);
    terminal_run(&p, "diff" BOUND "--b opencl");
    ck_assert_int_eq(p.status, 1);
    ck_assert_msg(strstr(p.out, "side b computes halves as floats: are bytes "
                                "counted by hand") != NULL,
                  "%s", p.out);
}
END_TEST

/* What differs in the last bit is no matter of bytes. */
START_TEST(rounding_of_halves)
{
    terminal_text(&p, "k.cl",
                  "__kernel void k(__global const half *src, __global half "
                  "*dst)\n{\n    int i = get_global_id(0);\n"
                  "    half x = src[i] * src[i];\n"
                  "    dst[i] = x * src[i] + x / 3 + src[i] / 7;\n}\n");
    terminal_run(&p, "diff" BOUND "--b opencl --input 0=random:4");
    ck_assert_int_eq(p.status, 1);
    ck_assert_msg(strstr(p.out, "side b computes halves as floats, which "
                                "rounds less often (--tolerance)") != NULL,
                  "%s", p.out);
    ck_assert(!strstr(p.out, "sizeof"));
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("opencl"), *program = tcase_create("program");
    Suite *s = suite_create("backend_opencl");
    SRunner *sr;
    int failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 300);
    tcase_add_loop_test(tc, promoted_text_computes_the_same, 0, N_EQUAL);
    tcase_add_test(tc, conversions_carry_promoted_halves);
    tcase_add_loop_test(tc, text_compiles_with_half, 0, N_WITH_HALF);
    tcase_add_loop_test(tc, looks_at_what_is_reached, 0, N_REACHING);
    tcase_add_test(tc, lines_stay_where_functions_go);
    tcase_add_test(tc, unions_without_halves);
    tcase_add_loop_test(tc, refuses_what_floats_cannot_do, 0, N_REFUSED);
    tcase_add_test(tc, refuses_a_buffer_of_both);
    tcase_add_test(tc, mismatch_reads_as_on_sim);
    tcase_add_test(tc, too_much_local_memory);
    tcase_add_test(tc, too_large_a_group);
    tcase_add_test(tc, a_hanging_kernel_comes_back);
    tcase_add_test(tc, devices_by_number_and_name);
    tcase_add_test(tc, no_driver);
    tcase_add_loop_test(tc, sizes_by_hand, 0, sizeof copies / sizeof *copies);
    suite_add_tcase(s, tc);
    tcase_add_checked_fixture(program, open_terminal, close_terminal);
    tcase_set_timeout(program, 300);
    tcase_add_test(program, program_runs_on_a_device);
    tcase_add_test(program, bytes_of_halves);
    tcase_add_test(program, rounding_of_halves);
    tcase_add_test(program, seconds_of_the_device);
    tcase_add_test(program, program_without_backend_is_sim);
    tcase_add_test(program, program_refuses);
    tcase_add_test(program, program_lists_devices);
    tcase_add_test(program, program_gives_up);
    suite_add_tcase(s, program);
    sr = srunner_create(s);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
