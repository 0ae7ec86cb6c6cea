/* Kernels with images: what they are told, and images in buffers compared with
 * plain C. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/kernels/program.h"
#include "tests/runtime/api/api.h"

enum { W = 7, H = 5, L = 3, N = L * H * W };

__extension__ typedef _Float16 half;

static vpu_context *sim;
static arena *mem;
static char *dir;

static void setup(void)
{
    sim = api_context(NULL);
    mem = arena_create(0);
    dir = program_temp_dir(mem);
}

static void teardown(void)
{
    vpu_context_free(sim);
    program_remove_dir(dir);
    arena_destroy(mem);
}

/* --- what is told --------------------------------------------------------- */

static const char plain[] =
    "__kernel void blend(__read_only image2d_array_t in,\n"
    "                    __write_only image2d_t out, float by)\n"
    "{\n"
    "    int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "    write_imagef(out, at, read_imagef(in, at.xyxy) * by);\n"
    "}\n";

START_TEST(kernel_with_images_is_told_its_buffers)
{
    vpu_program *p = api_program(sim, plain);
    const vpu_kernel *k;

    api_fails(vpu_program_kernel(p, "blend", &k, &api_err), VPU_ERR_COMPILE,
              "kernel 'blend' takes images; a VPU has no images (");
    ck_assert_ptr_nonnull(strstr(
        api_err.msg, "in: __read_only image2d_array_t -> __global const half "
                     "*in, with in_width, in_height and in_depth; out: "
                     "__write_only image2d_t -> __global half *out, with "
                     "out_width and out_height."));
    ck_assert_str_eq(api_err.file, "source.cl");
    vpu_program_free(p);
}
END_TEST

static const char layer[] =
    "<CustomLayer name=\"Blend\" type=\"MVCL\" version=\"1\">\n"
    "  <Kernel entry=\"blend\"><Source filename=\"k.cl\"/><Parameters>\n"
    "    <Tensor arg-name=\"in\" type=\"input\" port-index=\"0\" "
    "format=\"BFYX\"/>\n"
    "    <Tensor arg-name=\"out\" type=\"output\" port-index=\"0\" "
    "format=\"BFYX\"/>\n"
    "    <Scalar arg-name=\"by\" type=\"float\" source=\"by\"/>\n"
    "  </Parameters><WorkSizes dim=\"input,0\" global=\"X,Y,1\" "
    "local=\"X,1,1\"/></Kernel>\n"
    "</CustomLayer>\n";

START_TEST(program_tells_it_too)
{
    const char *xml = file_join(mem, dir, "layer.xml");
    program_args p;
    size_t n;

    ck_assert(!file_write(xml, layer, sizeof layer - 1, NULL));
    ck_assert(!file_write(file_join(mem, dir, "k.cl"), plain, sizeof plain - 1,
                          NULL));
    program_args_init(&p, mem, "run", xml, "--shape=in0=1x1x5x7",
                      "--param=by=2.0", NULL);
    ck_assert_int_ne(program_run(&p, dir), 0);
    ck_assert_ptr_nonnull(
        strstr(program_file(mem, dir, "stderr", &n),
               "in: __read_only image2d_array_t -> __global const half *in"));
}
END_TEST

/* --- images in buffers ---------------------------------------------------- */

typedef enum { NONE, EDGE, BORDER } mode;
static const char *const modes[] = {
    "CLK_ADDRESS_NONE", "CLK_ADDRESS_CLAMP_TO_EDGE", "CLK_ADDRESS_CLAMP"};

/* Reads at an offset, adds by channel, and writes all channels of what was read
 * into one buffer and the first, through an image, into another one. */
static const char shifting[] =
    "__constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | MODE |\n"
    "                         CLK_FILTER_NEAREST;\n"
    "__kernel void shift(__read_only image2d_array_t in,\n"
    "                    __write_only image2d_array_t out,\n"
    "                    __global float *all, int dx, int dy, int dz)\n"
    "{\n"
    "    int4 at = (int4)(get_global_id(0), get_global_id(1),\n"
    "                     get_global_id(2), 0);\n"
    "    int i = (at.z * get_image_height(in) + at.y) *\n"
    "                get_image_width(in) + at.x;\n"
    "    FOUR v = READ(in, s, at + (int4)(dx, dy, dz, 0));\n"
    "    vstore4(convert_float4(v), i, all);\n"
    "    v.x = v.x * 3 + i;\n"
    "    WRITE(out, at, v);\n"
    "}\n";

typedef struct {
    const char *of, *four, *in, *out;
    uint32_t in_type, out_type;
    double least, most; /* that the output holds */
    double bias;        /* of the input's elements */
} kinds;
static const kinds rows[] = {
    {"f", "float4", "half", "float", VPU_F16, VPU_F32, -INFINITY, INFINITY, 0},
    {"f", "float4", "uchar", "char", VPU_U8, VPU_I8, -128, 127, 0},
    {"h", "half4", "float", "half", VPU_F32, VPU_F16, -INFINITY, INFINITY, 0},
    {"i", "int4", "char", "short", VPU_I8, VPU_I16, -32768, 32767, -50},
    {"i", "int4", "short", "uchar", VPU_I16, VPU_U8, 0, 255, -60},
    {"ui", "uint4", "ushort", "uchar", VPU_U16, VPU_U8, 0, 255, 0},
    {"ui", "uint4", "uchar", "int", VPU_U8, VPU_I32, 0, 2147483647, 0},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static double get(const void *p, uint32_t type, int i)
{
    switch (type) {
    case VPU_F16:
        return (double)((const half *)p)[i];
    case VPU_F32:
        return (double)((const float *)p)[i];
    case VPU_I32:
        return ((const int *)p)[i];
    case VPU_U8:
        return ((const unsigned char *)p)[i];
    case VPU_I8:
        return ((const signed char *)p)[i];
    case VPU_I16:
        return ((const short *)p)[i];
    default:
        return ((const unsigned short *)p)[i];
    }
}

static void put(void *p, uint32_t type, int i, double v)
{
    switch (type) {
    case VPU_F16:
        ((half *)p)[i] = (half)v;
        break;
    case VPU_F32:
        ((float *)p)[i] = (float)v;
        break;
    case VPU_U8:
        ((unsigned char *)p)[i] = (unsigned char)v;
        break;
    case VPU_I8:
        ((signed char *)p)[i] = (signed char)v;
        break;
    case VPU_I16:
        ((short *)p)[i] = (short)v;
        break;
    default:
        ((unsigned short *)p)[i] = (unsigned short)v;
    }
}

static vpu_tensor *tensor(vpu_graph *g, const char *name, uint32_t role,
                          uint32_t type)
{
    vpu_tensor_options o = VPU_TENSOR_OPTIONS_INIT;
    vpu_tensor *t;

    o.name = name;
    o.role = role;
    o.type = type;
    o.rank = 3;
    o.dims[0] = L;
    o.dims[1] = H;
    o.dims[2] = !strcmp(name, "all") ? 4 * W : W;
    api_ok(vpu_graph_tensor(g, &o, &t, &api_err));
    return t;
}

static const vpu_kernel *kernel(const kinds *k, mode m, vpu_program **p)
{
    const char *options[] = {
        arena_printf(mem, "-DMODE=%s", modes[m]),
        arena_printf(mem, "-DFOUR=%s", k->four),
        arena_printf(mem, "-DREAD=read_image%s", k->of),
        arena_printf(mem, "-DWRITE=write_image%s", k->of),
        arena_printf(mem, "-Din_image=%s,%d,%d,%d", k->in, W, H, L),
        arena_printf(mem, "-Dout_image=%s,%d,%d,%d", k->out, W, H, L)};
    vpu_program_options o = VPU_PROGRAM_OPTIONS_INIT;
    const vpu_kernel *out;

    o.source = shifting;
    o.images = 1;
    o.build_options = options;
    o.n_build_options = sizeof options / sizeof *options;
    api_ok(vpu_program_create(p, sim, &o, &api_err));
    api_ok(vpu_program_kernel(*p, NULL, &out, &api_err));
    return out;
}

static int clamped(int v, int most)
{
    return v < 0 ? 0 : v > most ? most : v;
}

/* What the kernel reads at (x, y, z), its first channel. */
static double wanted(const kinds *k, const void *in, mode m, int x, int y,
                     int z)
{
    z = clamped(z, L - 1);
    if (m == BORDER && (x < 0 || y < 0 || x >= W || y >= H))
        return 0;
    if (m == EDGE) {
        x = clamped(x, W - 1);
        y = clamped(y, H - 1);
    }
    return get(in, k->in_type, (z * H + y) * W + x);
}

static void check(const kinds *k, mode m, const int d[3], vpu_graph *g)
{
    const void *in = vpu_tensor_data(vpu_graph_tensor_named(g, "in"));
    const void *out = vpu_tensor_data(vpu_graph_tensor_named(g, "out"));
    const float *all = vpu_tensor_data(vpu_graph_tensor_named(g, "all"));

    for (int i = 0; i < N; i++) {
        int x = i % W + d[0], y = i / W % H + d[1], z = i / W / H + d[2];
        double v = wanted(k, in, m, x, y, z), sum = v * 3 + i;

        ck_assert_double_eq((double)all[4 * i], v);
        ck_assert_double_eq((double)all[4 * i + 1], 0);
        ck_assert_double_eq((double)all[4 * i + 3], 1);
        sum = sum < k->least ? k->least : sum > k->most ? k->most : sum;
        ck_assert_msg(get(out, k->out_type, i) == sum, "%s %s, %d: %g, not %g",
                      k->in, modes[m], i, get(out, k->out_type, i), sum);
    }
}

static void shift(const kinds *k, mode m, const int d[3])
{
    vpu_launch_options l = VPU_LAUNCH_OPTIONS_INIT;
    vpu_program *p;
    const vpu_kernel *kern = kernel(k, m, &p);
    vpu_operation *op;
    vpu_graph *g;
    vpu_tensor *in;

    api_ok(vpu_graph_create(&g, sim, &api_err));
    in = tensor(g, "in", VPU_ROLE_INPUT, k->in_type);
    l.global[0] = W;
    l.global[1] = H;
    l.global[2] = L;
    api_ok(vpu_graph_add_kernel(g, kern, &l, &op, &api_err));
    api_ok(vpu_operation_set_tensor(op, "in", in, &api_err));
    api_ok(vpu_operation_set_tensor(
        op, "out", tensor(g, "out", VPU_ROLE_OUTPUT, k->out_type), &api_err));
    api_ok(vpu_operation_set_tensor(
        op, "all", tensor(g, "all", VPU_ROLE_OUTPUT, VPU_F32), &api_err));
    api_ok(vpu_operation_set_integer(op, "dx", d[0], &api_err));
    api_ok(vpu_operation_set_integer(op, "dy", d[1], &api_err));
    api_ok(vpu_operation_set_integer(op, "dz", d[2], &api_err));
    api_ok(vpu_tensor_fill(in, "zeros", &api_err));
    api_ok(vpu_graph_finalize(g, &api_err));
    for (int i = 0; i < N; i++)
        put(vpu_tensor_data(in), k->in_type, i, i + k->bias);
    api_ok(vpu_graph_run(g, NULL, NULL, &api_err));
    check(k, m, d, g);
    vpu_graph_free(g);
    vpu_program_free(p);
}

START_TEST(images_in_buffers_as_plain_c_reads_them)
{
    static const int inside[] = {0, 0, 0}, beside[] = {-2, 1, 1},
                     far[] = {9, -7, -4};

    shift(&rows[_i], NONE, inside);
    for (mode m = EDGE; m <= BORDER; m++) {
        shift(&rows[_i], m, beside);
        shift(&rows[_i], m, far);
    }
}
END_TEST

/* From its file, where the header is not looked for any more, the graph gives
 * the same. */
static void check_loaded(vpu_graph *g)
{
    const char *path = file_join(mem, dir, "graph");
    vpu_tensor *in = vpu_graph_tensor_named(g, "in"), *out;
    vpu_graph *loaded;

    api_ok(vpu_graph_save(g, path, NULL, &api_err));
    api_ok(vpu_graph_load(&loaded, sim, path, &api_err));
    api_ok(vpu_graph_finalize(loaded, &api_err));
    api_ok(vpu_tensor_write(vpu_graph_tensor_named(loaded, "in"),
                            vpu_tensor_data(in), vpu_tensor_bytes(in),
                            &api_err));
    api_ok(vpu_graph_run(loaded, NULL, NULL, &api_err));
    out = vpu_graph_tensor_named(loaded, "out");
    ck_assert_mem_eq(vpu_tensor_data(out),
                     vpu_tensor_data(vpu_graph_tensor_named(g, "out")),
                     vpu_tensor_bytes(out));
    vpu_graph_free(loaded);
}

/* Elements of four numbers, sizes that are arguments, the header by its name,
 * a kernel in a file. */
static const char four[] =
    "#include <vpusim/images.h>\n"
    "#define in_image half4, w, h\n"
    "#define out_image uchar4, w, h\n"
    "__constant sampler_t s = CLK_ADDRESS_CLAMP;\n"
    "__kernel void k(read_only image2d_t in, write_only image2d_t out, int w,\n"
    "                int h)\n"
    "{\n"
    "    int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "    float4 v = read_imagef(in, at) + read_imagef(in, s, at - 1);\n"
    "    if (get_image_dim(in).x == w && get_image_array_size(in) == 1)\n"
    "        write_imagef(out, at, v);\n"
    "}\n";

START_TEST(images_of_four_channels)
{
    const char *include = "-Iinclude", *path = file_join(mem, dir, "four.cl");
    vpu_program_options o = VPU_PROGRAM_OPTIONS_INIT;
    vpu_launch_options l = VPU_LAUNCH_OPTIONS_INIT;
    const vpu_kernel *k;
    vpu_operation *op;
    vpu_program *p;
    vpu_graph *g;
    vpu_tensor *in, *out;
    const half *x;

    ck_assert(!file_write(path, four, sizeof four - 1, NULL));
    o.file = path;
    o.build_options = &include;
    o.n_build_options = 1;
    api_ok(vpu_program_create(&p, sim, &o, &api_err));
    api_ok(vpu_program_kernel(p, NULL, &k, &api_err));
    api_ok(vpu_graph_create(&g, sim, &api_err));
    in = api_tensor(g, "in", VPU_ROLE_INPUT, VPU_F16, H * W * 4);
    out = api_tensor(g, "out", VPU_ROLE_OUTPUT, VPU_U8, H * W * 4);
    l.global[0] = W;
    l.global[1] = H;
    api_ok(vpu_graph_add_kernel(g, k, &l, &op, &api_err));
    api_ok(vpu_operation_set_tensor(op, "in", in, &api_err));
    api_ok(vpu_operation_set_tensor(op, "out", out, &api_err));
    api_ok(vpu_operation_set_integer(op, "w", W, &api_err));
    api_ok(vpu_operation_set_integer(op, "h", H, &api_err));
    api_ok(vpu_tensor_fill(in, "zeros", &api_err));
    api_ok(vpu_graph_finalize(g, &api_err));
    for (int i = 0; i < H * W * 4; i++)
        ((half *)vpu_tensor_data(in))[i] = (half)(i * 1.25f - 3);
    api_ok(vpu_graph_run(g, NULL, NULL, &api_err));
    x = vpu_tensor_data(in);
    for (int i = 0; i < H * W * 4; i++) {
        int before = i - 4 * (W + 1);
        bool border = i / 4 % W == 0 || i / 4 / W == 0;
        float sum = (float)x[i] + (border ? 0 : (float)x[before]);

        sum = rintf(sum < 0 ? 0 : sum > 255 ? 255 : sum);
        ck_assert_float_eq(((unsigned char *)vpu_tensor_data(out))[i], sum);
    }
    check_loaded(g);
    vpu_graph_free(g);
    vpu_program_free(p);
}
END_TEST

/* --- the option ----------------------------------------------------------- */

/* Lines of messages are the source's own. */
START_TEST(what_is_wrong_with_the_option)
{
    vpu_program_options o = VPU_PROGRAM_OPTIONS_INIT;
    const char *path = file_join(mem, dir, "k.bin"), *cl, *source;
    const vpu_kernel *k;
    vpu_program *p;

    o.images = 1;
    o.source = plain;
    api_ok(vpu_program_create(&p, sim, &o, &api_err));
    api_fails(vpu_program_kernel(p, NULL, &k, &api_err), VPU_ERR_COMPILE,
              "unknown type name 'out_image'");
    ck_assert_str_eq(api_err.file, "source.cl");
    ck_assert_uint_eq(api_err.line, 5);
    vpu_program_free(p);
    o.source = NULL;
    o.file = cl = file_join(mem, dir, "k.cl");
    source = arena_printf(mem, "#include \"empty.h\"\n%s", plain);
    ck_assert(!file_write(cl, source, strlen(source), NULL));
    ck_assert(!file_write(file_join(mem, dir, "empty.h"), "", 0, NULL));
    api_ok(vpu_program_create(&p, sim, &o, &api_err));
    api_fails(vpu_program_kernel(p, NULL, &k, &api_err), VPU_ERR_COMPILE,
              "unknown type name 'out_image'");
    ck_assert_str_eq(api_err.file, cl);
    ck_assert_uint_eq(api_err.line, 6);
    vpu_program_free(p);
    ck_assert(!file_write(path, "\177ELF\0", 6, NULL));
    o.file = path;
    api_fails(vpu_program_create(&p, sim, &o, &api_err), VPU_ERR_INVALID,
              "images are for OpenCL C");
    ck_assert_ptr_null(p);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("images");
    Suite *suite = suite_create("kernels with images");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, kernel_with_images_is_told_its_buffers);
    tcase_add_test(t, program_tells_it_too);
    tcase_add_loop_test(t, images_in_buffers_as_plain_c_reads_them, 0, N_ROWS);
    tcase_add_test(t, images_of_four_channels);
    tcase_add_test(t, what_is_wrong_with_the_option);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
