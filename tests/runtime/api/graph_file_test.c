/* Graphs saved and loaded: the same bytes, cycles and names; and files that are
 * damaged, or mean harm. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "runtime/graphfile/names.h"
#include "tests/kernels/program.h"
#include "tests/runtime/api/api.h"

static vpu_context *sim;
static vpu_graph *g;
static arena *mem;
static char *dir;
static const char *path;

static void setup(void)
{
    sim = api_context(NULL);
    mem = arena_create(0);
    dir = program_temp_dir(mem);
    path = file_join(mem, dir, "graph.vpugraph");
    api_ok(vpu_graph_create(&g, sim, &api_err));
}

static void teardown(void)
{
    vpu_graph_free(g);
    vpu_context_free(sim);
    program_remove_dir(dir);
    arena_destroy(mem);
}

/* --- a graph of everything ------------------------------------------------ */

static vpu_tensor *make(const char *name, uint32_t role, const char *shape,
                        const void *data)
{
    vpu_tensor_options o = VPU_TENSOR_OPTIONS_INIT;
    vpu_tensor *t;

    o.name = name;
    o.role = role;
    o.shape = shape;
    o.data = data;
    api_ok(vpu_graph_tensor(g, &o, &t, &api_err));
    return t;
}

/* Row `row` of a tensor of 16 columns. */
static vpu_tensor *row_of(vpu_tensor *parent, uint32_t row)
{
    vpu_view_options o = VPU_VIEW_OPTIONS_INIT;
    vpu_tensor *v;

    o.start[0] = row;
    o.dims[0] = 1;
    o.dims[1] = 16;
    api_ok(vpu_graph_view(g, parent, &o, &v, &api_err));
    return v;
}

static vpu_operation *add(const char *kind, vpu_tensor *in, vpu_tensor *out)
{
    const vpu_value factor = {"factor", 1, 0, 0.1};
    vpu_add_options o = VPU_ADD_OPTIONS_INIT;
    vpu_operation *op;

    o.inputs = &in;
    o.n_inputs = 1;
    o.outputs = &out;
    o.n_outputs = 1;
    o.values = &factor;
    o.n_values = !strcmp(kind, "scale");
    api_ok(vpu_graph_add(g, kind, &o, &op, &api_err));
    return op;
}

/* A kernel that includes a file and wants a macro. */
static void add_own(vpu_tensor *a, vpu_tensor *b, vpu_tensor *y)
{
    const char *options[] = {arena_printf(mem, "-I%s", dir), "-DFACTOR=3.0f"};
    vpu_program_options o = VPU_PROGRAM_OPTIONS_INIT;
    vpu_launch_options l = VPU_LAUNCH_OPTIONS_INIT;
    const vpu_kernel *k;
    vpu_operation *op;
    vpu_program *p;

    o.source =
        "#include \"offset.h\"\n"
        "__kernel void own(__global const float *a,\n"
        "    __global const float *b, __global float *y, int n,\n"
        "    float f, __local float *t)\n"
        "{\n"
        "    int i = get_global_id(0);\n"
        "    t[get_local_id(0)] = a[i];\n"
        "    y[i] = FACTOR * t[get_local_id(0)] + b[i] * f + OFFSET + n;\n"
        "}\n";
    o.build_options = options;
    o.n_build_options = 2;
    api_ok(file_write(file_join(mem, dir, "offset.h"), "#define OFFSET 7\n", 17,
                      &api_err));
    api_ok(vpu_program_create(&p, sim, &o, &api_err));
    api_ok(vpu_program_kernel(p, NULL, &k, &api_err));
    l.global[0] = 16;
    l.local[0] = 8;
    api_ok(vpu_graph_add_kernel(g, k, &l, &op, &api_err));
    api_ok(vpu_operation_set_tensor(op, "a", a, &api_err));
    api_ok(vpu_operation_set_tensor(op, "b", b, &api_err));
    api_ok(vpu_operation_set_tensor(op, "y", y, &api_err));
    api_ok(vpu_operation_set_integer(op, "n", -2, &api_err));
    api_ok(vpu_operation_set_real(op, "f", 0.1, &api_err));
    api_ok(vpu_operation_set_local(op, "t", 32, &api_err));
    vpu_program_free(p);
}

static void add_layer(void)
{
    static const char *const file = "kernels/grn/layer.xml";
    static const char *const shape = "in0=1x16x24x32", *const bias = "bias=1.0";
    vpu_layer_options o = VPU_LAYER_OPTIONS_INIT;
    vpu_operation *op;

    o.bindings = &file;
    o.n_bindings = 1;
    o.layer = "GRN";
    o.shapes = &shape;
    o.n_shapes = 1;
    o.params = &bias;
    o.n_params = 1;
    o.virtual_output = 1;
    api_ok(vpu_graph_add_layer(g, &o, &op, &api_err));
    add("relu", vpu_operation_output(op, 0),
        make("r", VPU_ROLE_OUTPUT, "1x16x24x32:f16", NULL));
}

/* A layer, kinds of operations, composed and not, a kernel of its own, views
 * and a constant. */
static void build(void)
{
    float w[64];
    vpu_tensor *x, *c, *y, *m, *rows[3];
    vpu_operation *cell;

    for (int i = 0; i < 64; i++)
        w[i] = (float)i / 3;
    add_layer();
    x = make("x", VPU_ROLE_INPUT, "4x16:f32", NULL);
    c = make("w", VPU_ROLE_CONSTANT, "4x16:f32", w);
    y = make("y", VPU_ROLE_OUTPUT, "2x16:f32", NULL);
    m = make("between", VPU_ROLE_VIRTUAL, "1x16:f32", NULL);
    rows[0] = row_of(x, 2);
    rows[1] = row_of(c, 3);
    rows[2] = row_of(y, 0);
    add_own(rows[0], rows[1], rows[2]);
    api_ok(vpu_graph_begin(g, "cell", &cell, &api_err));
    add("scale", row_of(x, 1), m);
    add("tanh", m, row_of(y, 1));
    api_ok(vpu_graph_end(cell, &api_err));
}

static vpu_result *run(vpu_graph *of)
{
    vpu_tensor *t;
    vpu_result *r;

    api_ok(vpu_graph_finalize(of, &api_err));
    for (size_t i = 0; (t = vpu_graph_tensor_at(of, VPU_ROLE_INPUT, i)); i++)
        api_ok(vpu_tensor_fill(t, "random:5", &api_err));
    api_ok(vpu_graph_run(of, NULL, &r, &api_err));
    return r;
}

static bool is_of_host(const char *counter)
{
    return strstr(counter, "_s") || strstr(counter, "seconds") ||
           strstr(counter, "host") || strstr(counter, "from_cache");
}

/* Names, tensors, cycles: composed ones have those of their parts. */
static void check_operations(vpu_graph *p, const vpu_result *a, vpu_graph *q,
                             const vpu_result *b)
{
    vpu_operation *x, *y;
    vpu_tensor *t;

    for (size_t i = 0; (x = vpu_graph_operation_at(p, i)); i++) {
        y = vpu_graph_operation_at(q, i);
        ck_assert_str_eq(vpu_operation_name(x), vpu_operation_name(y));
        ck_assert_ptr_eq(vpu_graph_operation_named(q, vpu_operation_name(x)),
                         y);
        ck_assert_uint_eq(vpu_result_operation_cycles(a, x),
                          vpu_result_operation_cycles(b, y));
        ck_assert_uint_eq(vpu_operation_local(x, 0), vpu_operation_local(y, 0));
        for (size_t k = 0; (t = vpu_operation_input(x, k)); k++)
            ck_assert_str_eq(vpu_tensor_name(t),
                             vpu_tensor_name(vpu_operation_input(y, k)));
        for (size_t k = 0; (t = vpu_operation_output(x, k)); k++)
            ck_assert_str_eq(vpu_tensor_name(t),
                             vpu_tensor_name(vpu_operation_output(y, k)));
    }
    ck_assert_ptr_null(vpu_graph_operation_at(q, 100));
    ck_assert_ptr_null(vpu_graph_operation_named(q, "none"));
}

/* Everything that a run tells but the host's clock. */
static void check_same(vpu_graph *p, vpu_graph *q)
{
    vpu_result *a = run(p), *b = run(q);
    vpu_tensor *t, *u;
    const char *name;
    double x, y;

    for (size_t i = 0; (t = vpu_graph_tensor_at(p, VPU_ROLE_OUTPUT, i)); i++) {
        u = vpu_graph_tensor_at(q, VPU_ROLE_OUTPUT, i);
        ck_assert_str_eq(vpu_tensor_name(t), vpu_tensor_name(u));
        ck_assert_mem_eq(vpu_tensor_data(t), vpu_tensor_data(u),
                         vpu_tensor_bytes(t));
    }
    ck_assert_uint_gt(vpu_result_cycles(a), 0);
    ck_assert_uint_eq(vpu_result_launch_count(a), vpu_result_launch_count(b));
    for (size_t i = 0; i < vpu_result_launch_count(a); i++) {
        ck_assert_str_eq(vpu_result_launch_name(a, i),
                         vpu_result_launch_name(b, i));
        ck_assert_uint_eq(vpu_result_launch_cycles(a, i),
                          vpu_result_launch_cycles(b, i));
    }
    for (size_t i = 0; (name = vpu_result_counter_name(a, i)); i++) {
        if (is_of_host(name))
            continue;
        api_ok(vpu_result_counter(a, name, &x, &api_err));
        api_ok(vpu_result_counter(b, name, &y, &api_err));
        ck_assert_msg(x == y, "%s: %g and %g", name, x, y);
    }
    check_operations(p, a, q, b);
    vpu_result_free(a);
    vpu_result_free(b);
}

static vpu_graph *load(void)
{
    vpu_graph *out;

    api_ok(vpu_graph_load(&out, sim, path, &api_err));
    return out;
}

static void check_same_bytes(vpu_graph *of, const vpu_graph_save_options *o)
{
    const char *again = file_join(mem, dir, "again");
    char *a, *b;
    size_t n, m;

    api_ok(vpu_graph_save(of, again, o, &api_err));
    a = program_file(mem, dir, "graph.vpugraph", &n);
    b = program_file(mem, dir, "again", &m);
    ck_assert_uint_eq(n, m);
    ck_assert_mem_eq(a, b, n);
}

/* --- round trips ---------------------------------------------------------- */

START_TEST(loaded_graph_runs_as_the_saved_one)
{
    vpu_graph *loaded;
    vpu_tensor *v;

    build();
    api_ok(vpu_graph_save(g, path, NULL, &api_err));
    api_ok(vpu_graph_finalize(g, &api_err));
    /* What it was made of is needed no more. */
    ck_assert_int_eq(unlink(file_join(mem, dir, "offset.h")), 0);
    loaded = load();
    check_same(g, loaded);
    ck_assert_ptr_nonnull(vpu_graph_operation_named(loaded, "cell"));
    ck_assert_ptr_nonnull(vpu_graph_operation_named(loaded, "cell/tanh"));
    v = vpu_graph_tensor_named(loaded, "view2");
    ck_assert_str_eq(vpu_tensor_name(vpu_tensor_parent(v)), "y");
    ck_assert_uint_eq(vpu_tensor_dim(v, 1), 16);
    ck_assert_ptr_eq(vpu_tensor_data(v),
                     vpu_tensor_data(vpu_graph_tensor_named(loaded, "y")));
    vpu_graph_free(loaded);
}
END_TEST

static const struct {
    const char *file, *layer, *shape, *param;
} layers[] = {
    {"kernels/grn/layer.xml", "GRNDma", "in0=2x16x24x32", "bias=0.5"},
    {"kernels/softmax/layer.xml", NULL, "in0=1x21x16x24", "axis=1"},
    {"kernels/mvn/layer.xml", NULL, "in0=1x3x16x24", "eps=0.001"},
    {"kernels/leaky_relu/gpu.xml", NULL, "in0=1x8x16x24", "negative_slope=0.1"},
    {"kernels/grn/gpu.xml", NULL, "in0=1x16x8x24", "bias=1.0"},
};
enum { N_LAYERS = sizeof layers / sizeof *layers };

/* Phases of copies, stages, conversions, macros of SimpleGPU. */
START_TEST(layers_come_back)
{
    vpu_layer_options o = VPU_LAYER_OPTIONS_INIT;
    vpu_graph_save_options s = VPU_GRAPH_SAVE_OPTIONS_INIT;
    vpu_operation *op;
    vpu_graph *loaded;

    o.bindings = &layers[_i].file;
    o.n_bindings = 1;
    o.layer = layers[_i].layer;
    o.shapes = &layers[_i].shape;
    o.n_shapes = 1;
    o.params = &layers[_i].param;
    o.n_params = 1;
    api_ok(vpu_graph_add_layer(g, &o, &op, &api_err));
    for (s.compiled = 0; s.compiled < 2; s.compiled++) {
        api_ok(vpu_graph_save(g, path, &s, &api_err));
        loaded = load();
        check_same(g, loaded);
        check_same_bytes(loaded, NULL);
        vpu_graph_free(loaded);
    }
}
END_TEST

START_TEST(compiled_kernels_need_no_clang)
{
    vpu_graph_save_options o = VPU_GRAPH_SAVE_OPTIONS_INIT;
    const char *search = arena_strdup(mem, getenv("PATH"));
    vpu_graph *loaded;
    vpu_result *r;

    build();
    o.compiled = 1;
    api_ok(vpu_graph_save(g, path, &o, &api_err));
    loaded = load();
    check_same_bytes(loaded, NULL);
    check_same(g, loaded);
    vpu_graph_free(loaded);
    loaded = load();
    setenv("PATH", "/nowhere", 1);
    r = run(loaded);
    setenv("PATH", search, 1);
    vpu_result_free(r);
    vpu_graph_free(loaded);
}
END_TEST

START_TEST(same_graph_gives_the_same_bytes)
{
    vpu_graph *loaded;

    build();
    api_ok(vpu_graph_save(g, path, NULL, &api_err));
    check_same_bytes(g, NULL);
    api_ok(vpu_graph_finalize(g, &api_err));
    check_same_bytes(g, NULL);
    loaded = load();
    check_same_bytes(loaded, NULL);
    api_ok(vpu_graph_finalize(loaded, &api_err));
    check_same_bytes(loaded, NULL);
    vpu_graph_free(loaded);
}
END_TEST

START_TEST(build_options_of_the_context_are_in_it)
{
    static const char *const option = "-DBY=4";
    vpu_context_options co = VPU_CONTEXT_OPTIONS_INIT;
    vpu_launch_options l = VPU_LAUNCH_OPTIONS_INIT;
    const vpu_kernel *k;
    vpu_operation *op;
    vpu_context *c;
    vpu_program *p;
    vpu_graph *of, *loaded;
    vpu_tensor *y;

    co.build_options = &option;
    co.n_build_options = 1;
    api_ok(vpu_context_create(&c, &co, &api_err));
    p = api_program(c, "__kernel void k(__global int *y)\n"
                       "{ y[get_global_id(0)] = BY * get_global_id(0); }\n");
    api_ok(vpu_program_kernel(p, NULL, &k, &api_err));
    api_ok(vpu_graph_create(&of, c, &api_err));
    y = api_tensor(of, "y", VPU_ROLE_OUTPUT, VPU_I32, 8);
    l.global[0] = 8;
    api_ok(vpu_graph_add_kernel(of, k, &l, &op, &api_err));
    api_ok(vpu_operation_set_tensor(op, "y", y, &api_err));
    api_ok(vpu_graph_save(of, path, NULL, &api_err));
    vpu_graph_free(of);
    vpu_program_free(p);
    vpu_context_free(c);
    loaded = load();
    vpu_result_free(run(loaded));
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(
            ((int *)vpu_tensor_data(vpu_graph_tensor_named(loaded, "y")))[i],
            4 * i);
    vpu_graph_free(loaded);
}
END_TEST

START_TEST(loaded_graph_takes_nothing_more)
{
    vpu_tensor_options o = VPU_TENSOR_OPTIONS_INIT;
    vpu_graph *loaded;
    vpu_tensor *t;

    build();
    api_ok(vpu_graph_save(g, path, NULL, &api_err));
    loaded = load();
    o.role = VPU_ROLE_INPUT;
    o.shape = "4:f32";
    api_fails(vpu_graph_tensor(loaded, &o, &t, &api_err), VPU_ERR_INVALID,
              "nothing can be added");
    api_fails(vpu_graph_tensor(g, &o, &t, &api_err), VPU_ERR_INVALID,
              "nothing can be added");
    vpu_graph_free(loaded);
}
END_TEST

/* --- what is refused ------------------------------------------------------ */

START_TEST(graphs_that_cannot_be_saved)
{
    vpu_tensor *x;

    api_fails(vpu_graph_save(g, path, NULL, &api_err), VPU_ERR_INVALID,
              "no operation");
    api_fails(vpu_graph_save(NULL, path, NULL, &api_err), VPU_ERR_INVALID,
              "graph");
    api_fails(vpu_graph_save(g, NULL, NULL, &api_err), VPU_ERR_INVALID, "path");
    x = make("x\xff", VPU_ROLE_INPUT, "16:f32", NULL);
    add("tanh", x, make("y", VPU_ROLE_OUTPUT, "16:f32", NULL));
    api_fails(vpu_graph_save(g, path, NULL, &api_err), VPU_ERR_INVALID,
              "UTF-8");
    ck_assert(!file_exists(path));
    api_fails(vpu_graph_save(g, file_join(mem, dir, "no/g"), NULL, &api_err),
              VPU_ERR_INVALID, "UTF-8");
}
END_TEST

START_TEST(kernels_that_cannot_be_saved)
{
    static const char unknown[] =
        "__kernel void k(__global const half *x, __global half *y)\n{\n"
        "    y[0] = z;\n}\n";
    static const char good[] =
        "__kernel void k(__global const half *x, __global half *y)\n{\n"
        "    y[get_global_id(0)] = x[get_global_id(0)];\n}\n";
    vpu_graph_save_options o = VPU_GRAPH_SAVE_OPTIONS_INIT;
    vpu_context_options small = VPU_CONTEXT_OPTIONS_INIT;
    vpu_context *c;
    vpu_graph *of;

    o.compiled = 1;
    api_layer(g, dir, "k.cl", unknown);
    api_fails(vpu_graph_save(g, path, &o, &api_err), VPU_ERR_COMPILE,
              "k.cl:3:12");
    api_ok(vpu_graph_create(&of, sim, &api_err));
    api_layer(of, dir, "k.cl", "#include \"nothing.h\"\n");
    api_fails(vpu_graph_save(of, path, NULL, &api_err), VPU_ERR_COMPILE,
              "nothing.h");
    vpu_graph_free(of);
    small.no_cache = 1;
    small.compile_memory = 3 << 20;
    api_ok(vpu_context_create(&c, &small, &api_err));
    api_ok(vpu_graph_create(&of, c, &api_err));
    api_layer(of, dir, "k.cl", good);
    api_fails(vpu_graph_save(of, path, &o, &api_err), VPU_ERR_LIMIT,
              "needed more than 3 MB of memory");
    ck_assert(!file_exists(path));
    vpu_graph_free(of);
    vpu_context_free(c);
}
END_TEST

/* A hole, which takes no room on the disk. */
START_TEST(files_beyond_16_GiB)
{
    vpu_graph *none;

    ck_assert(!file_write(path, "x", 1, NULL));
    ck_assert_int_eq(truncate(path, ((off_t)16 << 30) + 1), 0);
    api_fails(vpu_graph_load(&none, sim, path, &api_err), VPU_ERR_LIMIT,
              "17179869185 bytes, the limit is 17179869184");
    ck_assert_ptr_null(none);
}
END_TEST

START_TEST(folders_that_are_not_there)
{
    add("tanh", make("x", VPU_ROLE_INPUT, "16:f32", NULL),
        make("y", VPU_ROLE_OUTPUT, "16:f32", NULL));
    api_fails(vpu_graph_save(g, file_join(mem, dir, "no/g"), NULL, &api_err),
              VPU_ERR_IO, "no/g");
    api_fails(vpu_graph_load(&g, sim, path, &api_err), VPU_ERR_IO, "graph");
    ck_assert_ptr_null(g);
}
END_TEST

static void save_small(void)
{
    static const float w[16] = {1};
    vpu_tensor *x = make("x", VPU_ROLE_INPUT, "1x16:f32", NULL);
    vpu_tensor *c = make("w", VPU_ROLE_CONSTANT, "1x16:f32", w);
    vpu_tensor *y = make("y", VPU_ROLE_OUTPUT, "1x16:f32", NULL);
    vpu_view_options v = VPU_VIEW_OPTIONS_INIT;
    vpu_tensor *half;

    v.name = "half";
    v.start[1] = 8;
    v.dims[0] = 1;
    v.dims[1] = 8;
    api_ok(vpu_graph_view(g, y, &v, &half, &api_err));
    v.name = "quarter";
    v.start[1] = v.dims[1] = 4;
    api_ok(vpu_graph_view(g, half, &v, &half, &api_err));
    add_own(x, c, y);
    api_ok(vpu_graph_save(g, path, NULL, &api_err));
}

/* Saved by one backend, run by another one. */
START_TEST(loaded_on_an_opencl_device)
{
    vpu_context *opencl = api_context("opencl");
    vpu_graph *loaded;
    const float *y;

    save_small();
    ck_assert_int_eq(unlink(file_join(mem, dir, "offset.h")), 0);
    api_ok(vpu_graph_load(&loaded, opencl, path, &api_err));
    vpu_context_free(opencl);
    vpu_result_free(run(loaded));
    y = vpu_tensor_data(vpu_graph_tensor_named(loaded, "y"));
    for (int i = 0; i < 16; i++) {
        float x = ((const float *)vpu_tensor_data(
            vpu_graph_tensor_named(loaded, "x")))[i];

        ck_assert_float_eq_tol(y[i], 3 * x + (i ? 0 : 0.1f) + 5, 1e-5f);
    }
    vpu_graph_free(loaded);
}
END_TEST

/* Refused, with the byte. */
static void check_refused(uint64_t at)
{
    vpu_graph *none = g;
    vpu_status st = vpu_graph_load(&none, sim, path, &api_err);

    ck_assert_msg(st == VPU_ERR_PARSE || st == VPU_ERR_UNSUPPORTED,
                  "byte %llu: status %d", (unsigned long long)at, st);
    ck_assert_msg(strstr(api_err.msg, ": byte "), "byte %llu: %s",
                  (unsigned long long)at, api_err.msg);
    ck_assert_ptr_null(none);
}

START_TEST(truncated_at_every_length)
{
    size_t n;

    save_small();
    program_file(mem, dir, "graph.vpugraph", &n);
    while (n--) {
        ck_assert_int_eq(truncate(path, (off_t)n), 0);
        check_refused(n);
    }
}
END_TEST

START_TEST(every_byte_changed)
{
    size_t n;
    char *bytes;

    save_small();
    bytes = program_file(mem, dir, "graph.vpugraph", &n);
    for (size_t i = 0; i < n; i += i < 256 ? 1 : 5) {
        bytes[i] ^= (char)(1 << i % 8);
        ck_assert(!file_write(path, bytes, n, NULL));
        bytes[i] ^= (char)(1 << i % 8);
        check_refused(i);
    }
}
END_TEST

START_TEST(other_versions)
{
    size_t n;
    char *bytes;
    vpu_graph *none;

    save_small();
    bytes = program_file(mem, dir, "graph.vpugraph", &n);
    bytes[8] = 4;
    ck_assert(!file_write(path, bytes, n, NULL));
    api_fails(vpu_graph_load(&none, sim, path, &api_err), VPU_ERR_UNSUPPORTED,
              "a graph of version 4, this program reads versions 1 to 3");
    ck_assert(!file_write(path, "hello, world", 12, NULL));
    api_fails(vpu_graph_load(&none, sim, path, &api_err), VPU_ERR_PARSE,
              "not a graph: expected 89 'VPUGRF' 0a");
}
END_TEST

/* Manifests whose hashes are right: the first text for the second. */
static const struct {
    const char *from, *to, *words;
} hostile[] = {
    {"{\n", "[{\n", "not JSON"},
    {"\"batch\": 1", "\"batch\": 0", "batch: expected a whole number"},
    {"\"linked\": []", "\"linked\": 7", "source.linked"},
    {"\"linked\": []", "\"linked\": [{}]", "source.linked[0].name"},
    {"\"linked\": []",
     "\"linked\": [{\"name\": \"b.cl\", \"options\": [], \"section\": 99}]",
     "a section of the file"},
    {"\"role\": \"input\"", "\"role\": \"none\"", "buffers[0].role"},
    {"\"role\": \"input\"", "\"role\": \"const\"", "buffers[0].section"},
    {"\"section\": 1,", "\"section\": 9,", "a section of the file"},
    {"\"section\": 1,", "\"section\": 2,", "a section of so many bytes"},
    {"\"section\": 2\n", "\"section\": 1\n", "a text without zero bytes"},
    {"\"bytes\": 64,\n   \"dims\": [\n    1,",
     "\"bytes\": 64,\n   \"dims\": [\n    4294967295,", "buffers[0]."},
    {"\"buffer\": 0", "\"buffer\": 3", "from 0 to 2"},
    {"\"buffer\": 0", "\"buffer\": -1", "from 0 to 2"},
    {"\"offset\": 0", "\"offset\": 64", "inside"},
    {"\"offset\": 0", "\"offset\": 2", "inside"},
    {"\"written\": false", "\"written\": true", "an input, or a constant"},
    {"\"written\": true", "\"written\": false", "which nothing has written"},
    {"\"local\": [\n    8", "\"local\": [\n    0", "local"},
    {"\"local\": [\n    8", "\"local\": [\n    5", "sizes that divide"},
    {"\"form\": \"text\"", "\"form\": \"conversion\"", "a conversion"},
    {"\"launches\": 1", "\"launches\": 2", "from 0 to 1"},
    {"\"outer\": null", "\"outer\": 0", "but there is nothing"},
    {"\"parent\": null", "\"parent\": 0", "but there is nothing"},
    {"\"virtual\": false", "\"virtual\": true", "the role of its buffer"},
    {"\"tensors\": [", "\"tensors\": [], \"t\": [", "a tensor for it"},
    {"\"launches\": [\n  {", "\"launches\": [], \"l\": [\n  {", "a launch"},
    {"\"name\": \"half\",\n   \"offset\": 32",
     "\"name\": \"half\",\n   \"offset\": 36", "inside of its parent"},
    {"\"name\": \"quarter\",\n   \"offset\": 48",
     "\"name\": \"quarter\",\n   \"offset\": 28", "inside of its parent"},
    {"\"name\": \"quarter\",\n   \"offset\": 48",
     "\"name\": \"quarter\",\n   \"offset\": 52", "inside of its parent"},
    {"\"name\": \"quarter\",\n   \"offset\": 48",
     "\"name\": \"quarter\",\n   \"offset\": 46", "inside of its parent"},
    {"\"parent\": 3", "\"parent\": 4", "from 0 to 3"},
    {"\"parent\": 3", "\"parent\": 1", "inside of its parent"},
    {"\"parent\": 3", "\"parent\": null", "inside of its parent"},
    {"\"params\": []", "\"params\": [\"x\"]", "name=value"},
    {"\"kind\": \"local\"", "\"kind\": \"buffer\"", "buffer: expected"},
    {"\"kind\": \"local\"", "\"kind\": \"bytes\"", "section: expected"},
    {"\"place\": null", "\"place\": -1", "buffers[0].place"},
    {"\"place\": null", "\"place\": 4294967296", "buffers[0].place"},
    {"\"program\": null", "\"program\": 3", "program.offset"},
    {"\"program\": null", "\"program\": {\"dims\": 0, \"offset\": [0, 0, 0]}",
     "program.dims"},
    {"\"program\": null", "\"program\": {\"dims\": 3, \"offset\": [0, 0]}",
     "program.offset"},
    {"\"program\": null",
     "\"program\": {\"dims\": 3, \"offset\": [4294967295, 0, 0]}",
     "global ids of 32 bits"},
};
enum { N_HOSTILE = sizeof hostile / sizeof *hostile };

/* The saved file with the first `from` of its manifest as `to`. */
static void change_manifest(const char *from, const char *to)
{
    size_t n;
    container c = {.kind = &graphfile_kind, .path = path, .err = &api_err};
    container_section s[4];
    str text = {0};
    const char *at, *all;

    c.p = (unsigned char *)program_file(mem, dir, "graph.vpugraph", &n);
    c.n = n;
    api_ok(container_check(&c));
    ck_assert_uint_le(c.n_sections, 4);
    for (uint32_t i = 0; i < c.n_sections; i++)
        s[i] = container_at(&c, i);
    all = arena_strndup(mem, s[0].data, s[0].bytes);
    at = strstr(all, from);
    ck_assert_msg(at, "no %s in %s", from, all);
    str_add(&text, all, (size_t)(at - all));
    str_puts(&text, to);
    str_puts(&text, at + strlen(from));
    s[0].data = str_text(&text);
    s[0].bytes = text.n;
    api_ok(container_write(path, &graphfile_kind, s, c.n_sections, &api_err));
    str_free(&text);
}

START_TEST(manifests_that_mean_harm)
{
    vpu_graph *none;

    save_small();
    change_manifest(hostile[_i].from, hostile[_i].to);
    api_fails(vpu_graph_load(&none, sim, path, &api_err), VPU_ERR_PARSE,
              hostile[_i].words);
    ck_assert_ptr_nonnull(strstr(api_err.msg, ": byte "));
}
END_TEST

/* What is in order as a file, and no graph that runs. */
static const struct {
    const char *from, *to;
    vpu_status status;
} wrong[] = {
    {"\"entry\": \"own\"", "\"entry\": \"other\"", VPU_ERR_COMPILE},
    {"\"name\": \"n\"", "\"name\": \"m\"", VPU_ERR_INVALID},
    {"\"name\": \"a\"", "\"name\": \"t\"", VPU_ERR_INVALID},
    {"\"bytes\": 32", "\"bytes\": 4294967295", VPU_ERR_LIMIT},
    {"\"bytes\": 32", "\"bytes\": 0", VPU_ERR_FAULT},
    {"\"global\": [\n    16", "\"global\": [\n    4294967288", VPU_ERR_FAULT},
    {"\"local\": [\n    8,\n    1,", "\"local\": [\n    16,\n    1,",
     VPU_ERR_FAULT},
    {"\"options\": []", "\"options\": [\"-o/tmp/x\"]", VPU_ERR_INVALID},
    {"\"by_index\": false", "\"by_index\": true", VPU_ERR_MISMATCH},
    {"\"integer\": -2", "\"integer\": 9223372036854775807", VPU_OK},
    {"\"dtype\": \"f32\"", "\"dtype\": \"i32\"", VPU_OK},
    {"\"max_shaves\": 0", "\"max_shaves\": 4294967295", VPU_OK},
    {"\"place\": null", "\"place\": 5", VPU_ERR_INVALID},
    {"\"place\": null", "\"place\": 2147483712", VPU_OK},
    {"\"place\": null", "\"place\": 4294967232", VPU_ERR_INVALID},
    {"\"program\": null", "\"program\": {\"dims\": 3, \"offset\": [0, 0, 0]}",
     VPU_OK},
    {"\"program\": null",
     "\"program\": {\"dims\": 1, \"offset\": [1000000, 0, 0]}", VPU_ERR_FAULT},
};
enum { N_WRONG = sizeof wrong / sizeof *wrong };

/* Whatever becomes of it, the process stays. */
START_TEST(files_that_do_not_run)
{
    vpu_graph *of;
    vpu_status st;

    save_small();
    change_manifest(wrong[_i].from, wrong[_i].to);
    api_ok(vpu_graph_load(&of, sim, path, &api_err));
    st = vpu_graph_finalize(of, &api_err);
    if (!st) {
        api_ok(
            vpu_tensor_fill(vpu_graph_tensor_named(of, "x"), "ramp", &api_err));
        st = vpu_graph_run(of, NULL, NULL, &api_err);
    }
    ck_assert_msg(st == wrong[_i].status, "%s: %d %s", wrong[_i].to, st,
                  api_err.msg);
    vpu_graph_free(of);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("files");
    Suite *suite = suite_create("graphs in files");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, loaded_graph_runs_as_the_saved_one);
    tcase_add_loop_test(t, layers_come_back, 0, N_LAYERS);
    tcase_add_test(t, compiled_kernels_need_no_clang);
    tcase_add_test(t, same_graph_gives_the_same_bytes);
    tcase_add_test(t, build_options_of_the_context_are_in_it);
    tcase_add_test(t, loaded_graph_takes_nothing_more);
    tcase_add_test(t, graphs_that_cannot_be_saved);
    tcase_add_test(t, kernels_that_cannot_be_saved);
    tcase_add_test(t, files_beyond_16_GiB);
    tcase_add_test(t, folders_that_are_not_there);
    tcase_add_test(t, loaded_on_an_opencl_device);
    tcase_add_test(t, truncated_at_every_length);
    tcase_add_test(t, every_byte_changed);
    tcase_add_test(t, other_versions);
    tcase_add_loop_test(t, manifests_that_mean_harm, 0, N_HOSTILE);
    tcase_add_loop_test(t, files_that_do_not_run, 0, N_WRONG);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
