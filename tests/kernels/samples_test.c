/* Every sample layer against plain C, bit for bit, on even and awkward shapes.
 *
 * The program is run as a user runs it; the variant column says which form of
 * the kernel the documented rule picks for that local size. */
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "runtime/graph/npy.h"
#include "tests/kernels/program.h"
#include "tests/kernels/ref.h"

typedef struct {
    const char *folder, *layer, *variant;
    ref_fn *compute;
    uint32_t in0[4], in1[4], out[4];
    bool in_half, out_half;
    const char *param; /* its name, or NULL */
    double value;
    const char *input; /* NULL = random */
    const char *more;  /* another parameter and its value, or NULL */
} sample;

#define GRN(l, v, h, b, ...)                                       \
    {"grn", l, v,      ref_grn, {__VA_ARGS__}, {0}, {__VA_ARGS__}, \
     h,     h, "bias", b,       NULL,          NULL}
#define GRN_ALL(v16, v32, b, ...)                    \
    GRN("GRN", v16, true, b, __VA_ARGS__),           \
        GRN("GRNDma", v16, true, b, __VA_ARGS__),    \
        GRN("GRNFloat", v32, false, b, __VA_ARGS__), \
        GRN("GRNDmaFloat", v32, false, b, __VA_ARGS__)
#define GRN_ROWS(v, rows, b, ...) \
    {.folder = "grn",             \
     .layer = "GRNAsyncRows",     \
     .variant = v,                \
     .compute = ref_grn,          \
     .in0 = {__VA_ARGS__},        \
     .out = {__VA_ARGS__},        \
     .in_half = true,             \
     .out_half = true,            \
     .param = "bias",             \
     .value = b,                  \
     .more = "rows=" #rows}
/* Items that hold vectors already stay as they are. */
#define GRN_FORMS(v, b, ...)                      \
    GRN("GRNRolled", v, true, b, __VA_ARGS__),    \
        GRN("GRNAsync", v, true, b, __VA_ARGS__), \
        GRN("GRNVector", SCALAR, true, b, __VA_ARGS__)
#define REORG(v, ...) REORG_FORM("Reorg", v, __VA_ARGS__)
#define REORG_FORMS(line, last, last_line, ...)           \
    REORG_FORM("ReorgClamp", VECTOR, __VA_ARGS__),        \
        REORG_FORM("ReorgExit", SCALAR, __VA_ARGS__),     \
        REORG_FORM("ReorgLine", line, __VA_ARGS__),       \
        REORG_FORM("ReorgUnrolled", SCALAR, __VA_ARGS__), \
        REORG_FORM("ReorgLast", last, __VA_ARGS__),       \
        REORG_FORM("ReorgLastLine", last_line, __VA_ARGS__)
#define REORG_FORM(l, v, s, b, f, y, x) \
    {"reorg",                           \
     l,                                 \
     v,                                 \
     ref_reorg,                         \
     {b, f, (y) * (s), (x) * (s)},      \
     {0},                               \
     {b, (f) * (s) * (s), y, x},        \
     true,                              \
     true,                              \
     "stride",                          \
     s,                                 \
     NULL,                              \
     NULL}
#define CVT(v, in, ...)                                                \
    {"cvtf32f16",                                                      \
     "CvtF32F16",                                                      \
     v,                                                                \
     ref_cvt,                                                          \
     {__VA_ARGS__},                                                    \
     {0},                                                              \
     {__VA_ARGS__},                                                    \
     false,                                                            \
     true,                                                             \
     NULL,                                                             \
     0,                                                                \
     in,                                                               \
     NULL},                                                            \
    {                                                                  \
        "cvtf32f16", "CvtF32F16Store", v, ref_cvt, {__VA_ARGS__}, {0}, \
            {__VA_ARGS__}, false, true, NULL, 0, in, NULL              \
    }
#define MATMUL(l, v, h, m, k, n)                            \
    {"matmul", l, v,    ref_matmul, {m, k}, {k, n}, {m, n}, \
     h,        h, NULL, 0,          NULL,   NULL}

#define SCALAR "scalar"
#define VECTOR "vectorized"
static const sample samples[] = {
    GRN_ALL(VECTOR, VECTOR, 1.0, 1, 16, 8, 16),
    GRN_ALL(VECTOR, VECTOR, 0.5, 2, 5, 3, 24),
    GRN_ALL(VECTOR, VECTOR, 1.0, 1, 24, 4, 128),
    GRN_ALL(SCALAR, VECTOR, 1.0, 1, 7, 5, 12),
    GRN_ALL(SCALAR, SCALAR, 1.0, 1, 3, 5, 13),
    GRN_ALL(SCALAR, SCALAR, 2.0, 3, 9, 7, 1),
    GRN_ALL(VECTOR, VECTOR, 0.001, 1, 1, 33, 40),
    GRN_ALL(SCALAR, SCALAR, 1.0, 1, 1, 1, 1),
    GRN_ALL(SCALAR, SCALAR, 0.0, 1, 2, 1, 1),
    GRN_ALL(SCALAR, SCALAR, 1.0, 1, 4, 19, 101),
    GRN_ALL(VECTOR, VECTOR, 1.0, 1, 16, 17, 320),
    REORG(SCALAR, 2, 1, 64, 13, 13),
    REORG(VECTOR, 2, 1, 64, 13, 16),
    REORG(VECTOR, 3, 2, 5, 4, 8),
    REORG(SCALAR, 3, 1, 1, 7, 5),
    REORG(VECTOR, 1, 1, 3, 2, 8),
    REORG(SCALAR, 4, 1, 1, 1, 1),
    GRN_FORMS(VECTOR, 1.0, 1, 16, 8, 16),
    GRN_FORMS(VECTOR, 0.5, 2, 5, 3, 64),
    GRN_FORMS(VECTOR, 1.0, 1, 24, 4, 128),
    GRN_FORMS(SCALAR, 1.0, 1, 3, 5, 13),
    GRN_FORMS(SCALAR, 2.0, 1, 9, 7, 61),
    GRN_FORMS(SCALAR, 1.0, 3, 2, 1, 1),
    GRN_ROWS(VECTOR, 4, 1.0, 1, 16, 8, 16),
    GRN_ROWS(VECTOR, 3, 0.5, 2, 5, 9, 24),
    GRN_ROWS(SCALAR, 5, 1.0, 2, 3, 15, 13),
    GRN_ROWS(SCALAR, 1, 2.0, 1, 7, 3, 1),
    GRN_ROWS(VECTOR, 2, 1.0, 1, 4, 2, 40),
    REORG_FORMS(SCALAR, VECTOR, VECTOR, 2, 1, 64, 13, 16),
    REORG_FORMS(VECTOR, SCALAR, VECTOR, 3, 2, 5, 8, 8),
    REORG_FORMS(SCALAR, SCALAR, SCALAR, 3, 1, 1, 7, 5),
    REORG_FORMS(SCALAR, SCALAR, SCALAR, 1, 3, 3, 2, 13),
    REORG_FORMS(VECTOR, VECTOR, VECTOR, 4, 1, 6, 16, 10),
    REORG_FORMS(SCALAR, SCALAR, SCALAR, 5, 2, 7, 1, 1),
    CVT(VECTOR, NULL, 1, 3, 16, 64),
    CVT(VECTOR, "ramp", 2, 3, 5, 8),
    CVT(SCALAR, NULL, 1, 3, 7, 9),
    CVT(SCALAR, NULL, 1, 1, 1, 1),
    CVT(VECTOR, "edge.npy", 1, 1, 8, 64),
    CVT(SCALAR, "edge.npy", 1, 1, 1, 511),
    MATMUL("MatMul", VECTOR, true, 16, 16, 16),
    MATMUL("MatMul", VECTOR, true, 64, 48, 32),
    MATMUL("MatMul", VECTOR, true, 16, 160, 16),
    MATMUL("MatMulFloat", VECTOR, false, 16, 16, 16),
    MATMUL("MatMulFloat", VECTOR, false, 32, 80, 128),
    MATMUL("MatMulEdge", SCALAR, true, 1, 1, 1),
    MATMUL("MatMulEdge", SCALAR, true, 17, 33, 15),
    MATMUL("MatMulEdge", SCALAR, true, 16, 16, 16),
    MATMUL("MatMulEdgeFloat", SCALAR, false, 1, 40, 3),
    MATMUL("MatMulEdgeFloat", SCALAR, false, 31, 7, 50),
    MATMUL("MatMulEdgeFloat", SCALAR, false, 5, 1, 64),
};
enum { N_SAMPLES = sizeof samples / sizeof *samples, SEED = 7 };

/* What a sample runs on, one after the other. */
static const struct {
    const char *shaves, *channels;
} machines[] = {{"16", "2"}, {"7", "1"}, {"1", "2"}};

static arena *a;
static char *dir;

static void setup(void)
{
    a = arena_create(0);
    dir = program_temp_dir(a);
}

static void teardown(void)
{
    program_remove_dir(dir);
    arena_destroy(a);
}

static char *shape_text(const char *name, const ref_tensor *t)
{
    char *s = arena_printf(a, "%s=%u", name, t->dims[0]);

    for (int i = 1; i < 4 && t->dims[i]; i++)
        s = arena_printf(a, "%sx%u", s, t->dims[i]);
    return arena_printf(a, "%s:%s", s, t->is_half ? "f16" : "f32");
}

static tensor_desc desc_of(const ref_tensor *t)
{
    tensor_desc d = {.dtype = t->is_half ? TENSOR_F16 : TENSOR_F32};

    while (d.rank < 4 && t->dims[d.rank]) {
        d.dims[d.rank] = t->dims[d.rank];
        d.rank++;
    }
    return d;
}

/* Floats around everything a conversion to half may get wrong: ties and their
 * neighbours among normal and subnormal halves, overflow, zeros, infinities. */
static void fill_edge(ref_tensor *t)
{
    const float specials[] = {0.0f,      -0.0f,     INFINITY,   -INFINITY,
                              NAN,       65504.0f,  65519.99f,  65520.0f,
                              65536.0f,  -65520.0f, 1e30f,      0x1p-14f,
                              0x1p-24f,  0x1p-25f,  0x1.8p-25f, 0x1p-26f,
                              -0x1p-25f, 0x1p-149f, 2048.5f,    2049.0f};
    const size_t n_specials = sizeof specials / sizeof *specials;
    float *f = t->data;

    for (size_t i = 0; i < ref_elements(t); i++) {
        float tie = (2048.0f + (float)(i % 64)) + 0.5f;

        if (i < n_specials)
            f[i] = specials[i];
        else
            f[i] = nextafterf(ldexpf(tie, (int)(i % 41) - 36),
                              i % 3 == 0   ? INFINITY
                              : i % 3 == 1 ? 0
                                           : tie);
        if (i >= n_specials && i % 3 == 2)
            f[i] = ldexpf(tie, (int)(i % 41) - 36);
    }
}

/* Fill input `port` as the program will, and say so on its command line. */
static void give_input(const sample *s, ref_tensor *t, uint32_t port,
                       program_args *p)
{
    vpu_error err = {0};

    ref_alloc(t);
    if (!s->input) {
        ref_random(t, port, SEED);
        program_args_add(p, "--input");
        program_args_add(p, "%u=random:%d", port, SEED);
    } else if (!strcmp(s->input, "ramp")) {
        ref_ramp(t);
        program_args_add(p, "--input");
        program_args_add(p, "%u=ramp", port);
    } else {
        tensor file = {desc_of(t), t->data};

        fill_edge(t);
        ck_assert_int_eq(npy_write(file_join(a, dir, s->input), &file, &err),
                         VPU_OK);
        program_args_add(p, "--input");
        program_args_add(p, "%u=%s/%s", port, dir, s->input);
    }
    program_args_add(p, "--shape");
    program_args_add(p, "%s", shape_text(port ? "in1" : "in0", t));
}

/* Stages that convert the order of a tensor have other names. */
static void check_report(const sample *s)
{
    json_t *r = json_load_file(file_join(a, dir, "report.json"), 0, NULL);
    json_t *stage, *found = NULL;
    const char *name;
    size_t i;

    json_array_foreach(json_object_get(r, "stages"), i, stage)
    {
        name = json_string_value(json_object_get(stage, "name"));
        if (name && !strcmp(name, s->layer))
            found = stage;
    }
    ck_assert_msg(found != NULL, "%s: no stage in report.json", s->layer);
    name = json_string_value(json_object_get(found, "variant"));
    ck_assert_msg(name && !strcmp(name, s->variant), "%s: %s, expected %s",
                  s->layer, name, s->variant);
    ck_assert_int_gt(json_integer_value(json_object_get(r, "cycles")), 0);
    json_decref(r);
}

static void check_output(const sample *s, const ref_tensor *want)
{
    tensor_desc d = desc_of(want);
    vpu_error err = {0};
    char text[1024];
    size_t differ;
    tensor got;

    ck_assert_msg(!npy_read(file_join(a, dir, "out0.npy"), a, &got, &err), "%s",
                  err.msg);
    ck_assert_str_eq(tensor_desc_text(a, &got.desc), tensor_desc_text(a, &d));
    differ = ref_compare(want, got.data, text, sizeof text);
    ck_assert_msg(differ == 0, "%s %s: %zu of %zu elements differ%s", s->layer,
                  tensor_desc_text(a, &d), differ, ref_elements(want), text);
}

static void run(const sample *s, const program_args *p)
{
    int status = program_run(p, dir);
    size_t n;

    ck_assert_msg(status == 0, "%s: exit status %d: %s", s->layer, status,
                  program_file(a, dir, "stderr", &n));
}

START_TEST(sample_equals_plain_c)
{
    const sample *s = &samples[_i];
    ref_tensor in[2] = {{.is_half = s->in_half}, {.is_half = s->in_half}};
    ref_tensor want = {.is_half = s->out_half};
    program_args p;

    memcpy(in[0].dims, s->in0, sizeof s->in0);
    memcpy(in[1].dims, s->in1, sizeof s->in1);
    memcpy(want.dims, s->out, sizeof s->out);
    program_args_init(&p, a, "run",
                      arena_printf(a, "kernels/%s/layer.xml", s->folder),
                      "--layer", s->layer, "--output", dir, NULL);
    give_input(s, &in[0], 0, &p);
    if (in[1].dims[0])
        give_input(s, &in[1], 1, &p);
    program_args_add(&p, "--shape");
    program_args_add(&p, "%s", shape_text("out0", &want));
    if (s->param) {
        program_args_add(&p, "--param");
        program_args_add(&p, "%s=%.9g", s->param, s->value);
    }
    if (s->more)
        program_args_add(&p, "--param=%s", s->more);
    ref_alloc(&want);
    s->compute(in, s->value, &want);
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        program_args q = p;

        program_args_add(&q, "--shaves=%s", machines[m].shaves);
        program_args_add(&q, "--set=dma_channels=%s", machines[m].channels);
        run(s, &q);
        check_report(s);
        check_output(s, &want);
        remove(file_join(a, dir, "out0.npy"));
    }
    ref_free(&want);
    ref_free(&in[1]);
    ref_free(&in[0]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("samples");
    TCase *tc = tcase_create("plain C");
    SRunner *sr;
    int failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, sample_equals_plain_c, 0, N_SAMPLES);
    suite_add_tcase(suite, tc);
    sr = srunner_create(suite);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
