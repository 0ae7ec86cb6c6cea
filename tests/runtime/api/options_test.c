/* Option structures: of older and newer headers, copied in, never written to.
 */
#include <check.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/kernels/program.h"
#include "tests/runtime/api/api.h"

enum { N = 64 };

static vpu_context *sim;
static api_scaling growing, ready; /* the second one is finalized */
static arena *mem;
static char *dir;

/* --- a call for each structure -------------------------------------------- */

static vpu_context_options context;
static vpu_program_options program;
static vpu_tensor_options tensor;
static vpu_view_options view;
static vpu_launch_options launch;
static vpu_layer_options layer;
static vpu_kind kind;
static vpu_add_options add;
static vpu_host_options host;
static vpu_graph_save_options save;
static vpu_graph_export_options export;
static vpu_memory_use memory;
static vpu_run_options run;
static vpu_split_options split;
static vpu_picture_options picture;
static vpu_check_options check;
static vpu_diff_options diff;
static vpu_tune_options tune;

static vpu_status nothing(void *user, const void *const *inputs,
                          void *const *outputs, vpu_error *err)
{
    (void)user, (void)err;
    memcpy(outputs[0], inputs[0], N * sizeof(float));
    return VPU_OK;
}

static void setup(void)
{
    static const char *const bindings[] = {"kernels/grn/layer.xml"};
    static const char *const shapes[] = {"in0=1x16x8x8"};
    static const char *const params[] = {"bias=1"};
    static const char *const arguments[] = {"x"};
    static const char *const results[] = {"y"};
    static const vpu_parameter f = {.name = "f", .is_real = 1};

    mem = arena_create(0);
    dir = program_temp_dir(mem);
    sim = api_context(NULL);
    api_scaling_open(&growing, sim, N, 2);
    api_scaling_open(&ready, sim, N, 2);
    api_ok(vpu_graph_finalize(ready.graph, &api_err));
    api_ok(vpu_tensor_fill(ready.x, "ramp", &api_err));

    context = (vpu_context_options)VPU_CONTEXT_OPTIONS_INIT;
    context.backend = "null";
    program = (vpu_program_options)VPU_PROGRAM_OPTIONS_INIT;
    program.source = api_scale_source;
    tensor = (vpu_tensor_options)VPU_TENSOR_OPTIONS_INIT;
    tensor.name = "t";
    tensor.role = VPU_ROLE_INPUT;
    tensor.shape = "4:f32";
    view = (vpu_view_options)VPU_VIEW_OPTIONS_INIT;
    view.name = "v";
    view.dims[0] = N / 2;
    launch = (vpu_launch_options)VPU_LAUNCH_OPTIONS_INIT;
    launch.name = "again";
    launch.global[0] = N;
    layer = (vpu_layer_options)VPU_LAYER_OPTIONS_INIT;
    layer.bindings = bindings;
    layer.shapes = shapes;
    layer.params = params;
    layer.n_bindings = layer.n_shapes = layer.n_params = 1;
    layer.layer = "GRN";
    kind = (vpu_kind)VPU_KIND_INIT;
    kind.name = "own";
    kind.source = api_scale_source;
    kind.inputs = arguments;
    kind.outputs = results;
    kind.parameters = &f;
    kind.n_inputs = kind.n_outputs = kind.n_parameters = 1;
    kind.global = "in0_0";
    add = (vpu_add_options)VPU_ADD_OPTIONS_INIT;
    add.inputs = &growing.x;
    add.n_inputs = 1;
    host = (vpu_host_options)VPU_HOST_OPTIONS_INIT;
    host.inputs = &growing.x;
    host.outputs = &growing.y;
    host.n_inputs = host.n_outputs = 1;
    host.function = nothing;
    save = (vpu_graph_save_options)VPU_GRAPH_SAVE_OPTIONS_INIT;
    export = (vpu_graph_export_options)VPU_GRAPH_EXPORT_OPTIONS_INIT;
    export.release = "2022.3";
    memory = (vpu_memory_use)VPU_MEMORY_USE_INIT;
    run = (vpu_run_options)VPU_RUN_OPTIONS_INIT;
    split = (vpu_split_options)VPU_SPLIT_OPTIONS_INIT;
    split.dimension = 1;
    picture = (vpu_picture_options)VPU_PICTURE_OPTIONS_INIT;
    picture.png = file_join(mem, dir, "t.png");
    check = (vpu_check_options)VPU_CHECK_OPTIONS_INIT;
    diff = (vpu_diff_options)VPU_DIFF_OPTIONS_INIT;
    tune = (vpu_tune_options)VPU_TUNE_OPTIONS_INIT;
    tune.mode = VPU_TUNE_RAPID;
}

static void teardown(void)
{
    api_scaling_close(&growing);
    api_scaling_close(&ready);
    vpu_context_free(sim);
    program_remove_dir(dir);
    arena_destroy(mem);
}

enum {
    CONTEXT,
    PROGRAM,
    TENSOR,
    VIEW,
    LAUNCH,
    LAYER,
    KIND,
    ADD,
    HOST,
    SAVE,
    EXPORT,
    MEMORY,
    RUN,
    SPLIT,
    PICTURE,
    CHECK,
    DIFF,
    TUNE,
    ASKED,
    N_ROWS
};

static vpu_status call(int i, void *o)
{
    vpu_graph *g = growing.graph, *done = ready.graph;
    vpu_context *c = NULL;
    vpu_program *p = NULL;
    vpu_findings *f = NULL;
    vpu_result *r = NULL;
    vpu_diff *d = NULL;
    vpu_operation *op;
    vpu_tensor *t;
    vpu_status st = VPU_ERR_INTERNAL;

    switch (i) {
    case CONTEXT:
        st = vpu_context_create(&c, o, &api_err);
        break;
    case PROGRAM:
        st = vpu_program_create(&p, sim, o, &api_err);
        break;
    case TENSOR:
        st = vpu_graph_tensor(g, o, &t, &api_err);
        break;
    case VIEW:
        st = vpu_graph_view(g, growing.x, o, &t, &api_err);
        break;
    case LAUNCH:
        st = vpu_graph_add_kernel(g, growing.kernel, o, &op, &api_err);
        break;
    case LAYER:
        st = vpu_graph_add_layer(g, o, &op, &api_err);
        break;
    case KIND:
        st = vpu_context_register(sim, o, &api_err);
        break;
    case ADD:
        st = vpu_graph_add(g, "relu", o, &op, &api_err);
        break;
    case HOST:
        st = vpu_graph_add_host(g, o, &op, &api_err);
        break;
    case SAVE:
        st = vpu_graph_save(done, file_join(mem, dir, "g"), o, &api_err);
        break;
    case EXPORT:
        st = vpu_graph_export(done, file_join(mem, dir, "b"), o, &api_err);
        break;
    case MEMORY:
        st = vpu_graph_memory(done, o, &api_err);
        break;
    case RUN:
        st = vpu_graph_run(done, o, &r, &api_err);
        break;
    case SPLIT:
        st = vpu_graph_run_split(&done, 1, o, NULL, &api_err);
        break;
    case PICTURE:
        st = vpu_picture_write("/nowhere.pftrace", o, &api_err);
        break;
    case CHECK:
        st = vpu_graph_check(&f, done, o, &api_err);
        break;
    case DIFF:
        st = vpu_diff_create(&d, done, done, o, &api_err);
        break;
    case TUNE:
        st = vpu_graph_tune(done, o, &api_err);
        break;
    case ASKED:
        st = vpu_run_options_check(o, NULL, &api_err);
        break;
    default:
        ck_abort();
    }
    vpu_context_free(c);
    vpu_program_free(p);
    vpu_findings_free(f);
    vpu_result_free(r);
    vpu_diff_free(d);
    return st;
}

#define END(type, member) \
    offsetof(type, member) + sizeof(((type *)NULL)->member)
static const struct {
    void *good;
    size_t bytes, two; /* of it, of its first two members */
    /* With two members alone: names are optional, most else is not. */
    vpu_status status;
    const char *words;
} rows[] = {
    [CONTEXT] = {&context, sizeof context, END(vpu_context_options, backend),
                 VPU_OK, ""},
    [PROGRAM] = {&program, sizeof program, END(vpu_program_options, source),
                 VPU_OK, ""},
    [TENSOR] = {&tensor, sizeof tensor, END(vpu_tensor_options, name),
                VPU_ERR_INVALID, "no vpu_type"},
    [VIEW] = {&view, sizeof view, END(vpu_view_options, name), VPU_ERR_INVALID,
              "dim 0 of the view is 0"},
    [LAUNCH] = {&launch, sizeof launch, END(vpu_launch_options, name), VPU_OK,
                ""},
    [LAYER] = {&layer, sizeof layer, END(vpu_layer_options, name),
               VPU_ERR_INVALID, "no binding file"},
    [KIND] = {&kind, sizeof kind, END(vpu_kind, name), VPU_ERR_INVALID,
              "source"},
    [ADD] = {&add, sizeof add, END(vpu_add_options, name), VPU_ERR_INVALID,
             "takes"},
    [HOST] = {&host, sizeof host, END(vpu_host_options, name), VPU_ERR_INVALID,
              "function"},
    [SAVE] = {&save, sizeof save, END(vpu_graph_save_options, compiled), VPU_OK,
              ""},
    [EXPORT] = {&export, sizeof export, END(vpu_graph_export_options, release),
                VPU_OK, ""},
    [MEMORY] = {&memory, sizeof memory, END(vpu_memory_use, apart), VPU_OK, ""},
    [RUN] = {&run, sizeof run, END(vpu_run_options, trace), VPU_OK, ""},
    [SPLIT] = {&split, sizeof split, END(vpu_split_options, dimension), VPU_OK,
               ""},
    [PICTURE] = {&picture, sizeof picture, END(vpu_picture_options, png),
                 VPU_ERR_IO, "/nowhere.pftrace"},
    [CHECK] = {&check, sizeof check, END(vpu_check_options, checks), VPU_OK,
               ""},
    [DIFF] = {&diff, sizeof diff, END(vpu_diff_options, tolerances), VPU_OK,
              ""},
    [TUNE] = {&tune, sizeof tune, END(vpu_tune_options, mode), VPU_OK, ""},
    [ASKED] = {&run, sizeof run, END(vpu_run_options, trace), VPU_OK, ""},
};

/* --- sizes ---------------------------------------------------------------- */

typedef union {
    max_align_t aligned;
    size_t struct_size;
    uint8_t bytes[1024];
} block;

/* A structure with garbage behind it. */
static block as_of(int row, size_t bytes)
{
    block b;

    memset(&b, 0xa5, sizeof b);
    ck_assert_uint_lt(rows[row].bytes, sizeof b);
    memcpy(&b, rows[row].good, bytes);
    b.struct_size = bytes;
    return b;
}

/* Programs that were built when a structure had two members: what is behind
 * them is neither read nor written. */
START_TEST(structures_of_an_older_header)
{
    block b = as_of(_i, rows[_i].two), before = b;

    api_expect(call(_i, &b), rows[_i].status, rows[_i].words, "older");
    if (_i == MEMORY)
        memcpy(&before, &b, rows[_i].two);
    ck_assert_mem_eq(&b, &before, sizeof b);
}
END_TEST

START_TEST(structures_of_a_newer_header)
{
    block b = as_of(_i, rows[_i].bytes), before;

    b.struct_size = rows[_i].bytes + 8;
    before = b;
    api_expect(call(_i, &b), VPU_ERR_INVALID, "built for a newer one", "newer");
    ck_assert_mem_eq(&b, &before, sizeof b);
}
END_TEST

START_TEST(structures_without_a_size)
{
    block b = as_of(_i, rows[_i].bytes);

    b.struct_size = 0;
    api_expect(call(_i, &b), VPU_ERR_INVALID, "its _INIT macro sets it",
               "no size");
}
END_TEST

/* --- contents ------------------------------------------------------------- */

START_TEST(descriptors_are_not_written_to)
{
    block b = as_of(_i, rows[_i].bytes), before = b;

    api_expect(call(_i, &b), _i == PICTURE ? VPU_ERR_IO : VPU_OK, "",
               "in full");
    if (_i == MEMORY)
        memcpy(&before, &b, rows[_i].bytes);
    ck_assert_mem_eq(&b, &before, sizeof b);
}
END_TEST

/* All that was passed in is overwritten before it is needed. */
START_TEST(descriptors_are_copied_in)
{
    char backend[] = "sim", setting[] = "shaves_default=4", text[256],
         file[] = "a";
    char option[] = "-DF=3", name[] = "w", operation[] = "first";
    char argument[] = "f";
    const char *settings[] = {setting}, *options[] = {option};
    float data[N], y[N];
    vpu_launch_options l = VPU_LAUNCH_OPTIONS_INIT;
    const vpu_kernel *k;
    vpu_context *c;
    vpu_operation *op;
    vpu_program *p;
    vpu_tensor *w, *out;
    vpu_graph *g;

    context.backend = backend;
    context.settings = settings;
    context.n_settings = 1;
    api_ok(vpu_context_create(&c, &context, &api_err));
    memset(backend, 'x', sizeof backend - 1);
    memset(setting, 'x', sizeof setting - 1);
    settings[0] = NULL;
    memset(&context, 0xa5, sizeof context);
    ck_assert_str_eq(vpu_context_backend(c), "sim");

    strcpy(text, api_scale_source);
    program.source = text;
    program.name = file;
    program.build_options = options;
    program.n_build_options = 1;
    api_ok(vpu_program_create(&p, c, &program, &api_err));
    memset(text, 'x', strlen(text));
    memset(file, 'x', sizeof file - 1);
    memset(option, 'x', sizeof option - 1);
    options[0] = NULL;
    api_ok(vpu_program_kernel(p, NULL, &k, &api_err));

    api_ok(vpu_graph_create(&g, c, &api_err));
    for (int i = 0; i < N; i++)
        data[i] = (float)i;
    tensor.name = name;
    tensor.role = VPU_ROLE_CONSTANT;
    tensor.shape = "64:f32";
    tensor.data = data;
    api_ok(vpu_graph_tensor(g, &tensor, &w, &api_err));
    memset(data, 0xa5, sizeof data);
    name[0] = 'x';
    memset(&tensor, 0xa5, sizeof tensor);
    ck_assert_str_eq(vpu_tensor_name(w), "w");
    out = api_tensor(g, "y", VPU_ROLE_OUTPUT, VPU_F32, N);
    l.name = operation;
    l.global[0] = N;
    api_ok(vpu_graph_add_kernel(g, k, &l, &op, &api_err));
    memset(operation, 'x', sizeof operation - 1);
    memset(&l, 0xa5, sizeof l);
    ck_assert_str_eq(vpu_operation_name(op), "first");
    api_ok(vpu_operation_set_tensor(op, "x", w, &api_err));
    api_ok(vpu_operation_set_tensor(op, "y", out, &api_err));
    api_ok(vpu_operation_set_real(op, argument, 3, &api_err));
    argument[0] = 'x';
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_graph_run(g, NULL, NULL, &api_err));
    api_ok(vpu_tensor_read(out, y, sizeof y, &api_err));
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(y[i], 3 * (float)i);
    vpu_graph_free(g);
    vpu_program_free(p);
    vpu_context_free(c);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("options");
    Suite *suite = suite_create("library: option structures");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, structures_of_an_older_header, 0, N_ROWS);
    tcase_add_loop_test(t, structures_of_a_newer_header, 0, N_ROWS);
    tcase_add_loop_test(t, structures_without_a_size, 0, N_ROWS);
    tcase_add_loop_test(t, descriptors_are_not_written_to, 0, N_ROWS);
    tcase_add_test(t, descriptors_are_copied_in);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
