/* The sample layers around images and detectors against plain C, on even and
 * awkward shapes and several machines: bit for bit, or within the units in the
 * last place that the row states.
 *
 * The program is run as a user runs it; the variant column says which form of
 * the last stage's kernel runs. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "runtime/graph/npy.h"
#include "tests/kernels/program.h"
#include "tests/kernels/ref_vision.h"

enum { MAX_PARAMS = 5, MAX_VALUES = 8, MAX_INPUTS = 3, SEED = 13 };

typedef void fill_fn(ref_tensor *t, uint32_t port);

typedef struct {
    const char *folder, *layer, *variant;
    ref_layer_fn *compute;
    uint32_t in[MAX_INPUTS][4], out[4];
    const char *params[MAX_PARAMS]; /* as on the command line */
    fill_fn *fill;                  /* NULL = --input random */
    bool bytes;                     /* input 0 */
    bool shapes;                    /* is all that counts of further inputs */
    uint32_t words;                 /* blob `weights`, as input 1 to compute */
    unsigned ulp;
} sample;

/* --- inputs -------------------------------------------------------------- */

/* Every byte. */
static void fill_bytes(ref_tensor *t, uint32_t port)
{
    (void)port;
    for (size_t i = 0; i < ref_elements(t); i++)
        ref_put(t, i, (float)(i * 151 % 256));
}

/* Scores whose exponentials span the halves. */
static void fill_wide(ref_tensor *t, uint32_t port)
{
    ref_random(t, port, SEED);
    for (size_t i = 0; i < ref_elements(t); i++)
        ref_put(t, i, 9 * ref_get(t, i));
}

static void fill_thetas(ref_tensor *t, uint32_t port, const float *theta)
{
    ref_random(t, port, SEED);
    for (size_t i = 0; port && i < ref_elements(t); i++)
        ref_put(t, i, theta[i % 6]);
}

static void fill_identity(ref_tensor *t, uint32_t port)
{
    fill_thetas(t, port, (const float[]){1, 0, 0, 0, 1, 0});
}

/* A turn by 30 degrees, out over the border. */
static void fill_turned(ref_tensor *t, uint32_t port)
{
    fill_thetas(t, port, (const float[]){0.866f, -0.5f, 0.1f, 0.5f, 0.866f, 0});
}

static void fill_far(ref_tensor *t, uint32_t port)
{
    fill_thetas(t, port, (const float[]){1, 0, 60000, 0, 20, -0.5f});
}

/* Priors of some hundred pixels. */
static void fill_priors(ref_tensor *t, uint32_t port)
{
    ref_random(t, port, SEED);
    for (size_t i = 0; i < ref_elements(t); i++)
        ref_put(t, i, 300 * ref_get(t, i));
}

/* Bits in halves, every kind of half among them; none set past channel C. */
static void fill_words(ref_tensor *t, uint32_t C)
{
    uint32_t state = SEED, words = (C + 15) / 16;

    for (uint32_t i = 0; i < ref_elements(t); i++) {
        uint32_t left = C - i % words * 16;
        uint16_t w;

        state = state * 1664525 + 1013904223;
        w = (uint16_t)(state >> 16);
        if (left < 16)
            w = (uint16_t)(w & ((1u << left) - 1));
        memcpy((ref_half *)t->data + i, &w, sizeof w);
    }
}

/* --- rows ---------------------------------------------------------------- */

#define SCALAR "scalar"
#define VECTOR "vectorized"
#define CVTU8(v, scale, bias, ...)               \
    {.folder = "cvtu8f16",                       \
     .layer = "CvtU8F16",                        \
     .variant = v,                               \
     .compute = ref_cvtu8,                       \
     .in = {{__VA_ARGS__}},                      \
     .out = {__VA_ARGS__},                       \
     .params = {"scale=" #scale, "bias=" #bias}, \
     .fill = fill_bytes,                         \
     .bytes = true}
#define REGION(how, v, b, n, xy, k, h, w)                                 \
    {.folder = "region",                                                  \
     .layer = "RegionYolo",                                               \
     .variant = v,                                                        \
     .compute = ref_region,                                               \
     .in = {{b, (n) * ((xy) + 1 + (k)), h, w}},                           \
     .out = {b, (n) * ((xy) + 1 + (k)), h, w},                            \
     .params = {"num=" #n, "coords=" #xy, "classes=" #k, "do_softmax=1"}, \
     .fill = how,                                                         \
     .ulp = 1}
#define REGION_MASK(how, v, mask, b, n, xy, k, h, w)                     \
    {.folder = "region",                                                 \
     .layer = "RegionYolo",                                              \
     .variant = v,                                                       \
     .compute = ref_region,                                              \
     .in = {{b, (n) * ((xy) + 1 + (k)), h, w}},                          \
     .out = {b, 3 * ((xy) + 1 + (k)), h, w},                             \
     .params = {"num=" #n, "coords=" #xy, "classes=" #k, "do_softmax=0", \
                "mask=" mask},                                           \
     .fill = how,                                                        \
     .ulp = 1}
#define BINARY(v, k, threshold, b, c, o, h, w)                 \
    {.folder = "binary_convolution",                           \
     .layer = "BinaryConvolution",                             \
     .variant = v,                                             \
     .compute = ref_binary,                                    \
     .in = {{b, c, h, w}},                                     \
     .out = {b, o, h, w},                                      \
     .params = {"kernel=" #k "," #k, "threshold=" #threshold}, \
     .words = (o) * (k) * (k) * (((c) + 15) / 16)}
#define ANTIALIAS(v, b, f, h, w, to_h, to_w)                              \
    {                                                                     \
        .folder = "resample", .layer = "ResampleAntialias", .variant = v, \
        .compute = ref_antialias, .in = {{b, f, h, w}}, .out = {          \
            b,                                                            \
            f,                                                            \
            to_h,                                                         \
            to_w                                                          \
        }                                                                 \
    }
#define TRANSFORMER(how, v, b, f, h, w, to_h, to_w) \
    {.folder = "spatial_transformer",               \
     .layer = "SpatialTransformer",                 \
     .variant = v,                                  \
     .compute = ref_transformer,                    \
     .in = {{b, f, h, w}, {b, 6}},                  \
     .out = {b, f, to_h, to_w},                     \
     .fill = how}
#define PRIORS(v, dy, dx, n, h, w, image_h, image_w)         \
    {.folder = "prior_grid",                                 \
     .layer = "PriorGrid",                                   \
     .variant = v,                                           \
     .compute = ref_prior_grid,                              \
     .in = {{n, 4}, {1, 8, h, w}, {1, 3, image_h, image_w}}, \
     .out = {(n) * (h) * (w), 4},                            \
     .params = {"stride_y=" #dy, "stride_x=" #dx},           \
     .fill = fill_priors,                                    \
     .shapes = true}

static const sample samples[] = {
    CVTU8(VECTOR, 0.0078125, -1.0, 1, 3, 32, 64),
    CVTU8(VECTOR, 0.01712475, -2.1179, 2, 3, 5, 24),
    CVTU8(SCALAR, 0.017, -2.1, 2, 3, 7, 13),
    CVTU8(SCALAR, 1.0, 0.0, 1, 1, 1, 1),
    CVTU8(SCALAR, -300.0, 0.5, 1, 5, 3, 257),
    REGION(NULL, VECTOR, 1, 5, 4, 20, 13, 16),
    REGION(fill_wide, SCALAR, 2, 3, 4, 7, 5, 13),
    REGION(fill_wide, VECTOR, 1, 1, 2, 1, 3, 8),
    REGION(fill_wide, SCALAR, 1, 2, 5, 80, 1, 1),
    REGION_MASK(NULL, VECTOR, "0,1,2", 1, 3, 4, 20, 13, 16),
    REGION_MASK(fill_wide, SCALAR, "4,0,1", 2, 5, 4, 7, 5, 13),
    REGION_MASK(fill_wide, VECTOR, "6,7,3", 1, 9, 4, 2, 3, 24),
    REGION_MASK(fill_wide, SCALAR, "1,1,4", 1, 5, 3, 80, 1, 1),
    BINARY(VECTOR, 1, 0.0, 1, 64, 32, 14, 16),
    BINARY(SCALAR, 1, 0.25, 2, 7, 3, 5, 13),
    BINARY(SCALAR, 1, 0.0, 1, 1, 1, 1, 1),
    BINARY(VECTOR, 1, -0.1, 3, 130, 2, 1, 8),
    BINARY(VECTOR, 3, 0.0, 1, 64, 16, 14, 16),
    BINARY(SCALAR, 3, 0.25, 2, 17, 5, 7, 13),
    BINARY(SCALAR, 3, 0.0, 1, 1, 1, 1, 1),
    BINARY(VECTOR, 3, -0.5, 1, 300, 2, 2, 24),
    ANTIALIAS(VECTOR, 1, 8, 26, 32, 13, 16),
    ANTIALIAS(SCALAR, 2, 3, 11, 17, 4, 5),
    ANTIALIAS(VECTOR, 1, 2, 7, 5, 9, 24),
    ANTIALIAS(SCALAR, 1, 3, 19, 23, 1, 1),
    ANTIALIAS(SCALAR, 1, 1, 1, 1, 7, 3),
    ANTIALIAS(VECTOR, 1, 1, 30, 50, 21, 8),
    TRANSFORMER(NULL, VECTOR, 1, 3, 30, 40, 24, 32),
    TRANSFORMER(NULL, SCALAR, 3, 2, 7, 11, 5, 13),
    TRANSFORMER(fill_identity, VECTOR, 1, 5, 12, 16, 12, 16),
    TRANSFORMER(fill_turned, SCALAR, 2, 1, 9, 13, 9, 13),
    TRANSFORMER(fill_turned, VECTOR, 1, 1, 1, 1, 3, 8),
    TRANSFORMER(fill_far, VECTOR, 1, 2, 9, 8, 7, 8),
    PRIORS(SCALAR, 16, 16, 3, 5, 8, 80, 128),
    PRIORS(SCALAR, 0, 0, 3, 7, 11, 100, 171),
    PRIORS(SCALAR, 0, 4.5, 1, 1, 1, 3, 7),
    PRIORS(SCALAR, 32, 0, 15, 13, 21, 417, 1333),
};
enum { N_SAMPLES = sizeof samples / sizeof *samples };

/* What a sample runs on, one after the other. */
static const struct {
    const char *shaves, *channels, *order;
} machines[] = {
    {"16", "2", "sequential"}, {"7", "1", "reverse"}, {"1", "2", "random:3"}};

/* --- running ------------------------------------------------------------- */

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

static tensor_desc desc_of(const ref_tensor *t)
{
    tensor_desc d = {.dtype = TENSOR_F16};

    while (d.rank < 4 && t->dims[d.rank]) {
        d.dims[d.rank] = t->dims[d.rank];
        d.rank++;
    }
    return d;
}

static void give_shape(program_args *p, const char *name, const tensor_desc *d)
{
    char *s = arena_printf(a, "--shape=%s=%u", name, (unsigned)d->dims[0]);

    for (uint32_t i = 1; i < d->rank; i++)
        s = arena_printf(a, "%sx%u", s, (unsigned)d->dims[i]);
    program_args_add(p, "%s:%s", s, d->dtype == TENSOR_U8 ? "u8" : "f16");
}

static char *write_file(const char *name, const tensor *t)
{
    char *path = arena_strdup(a, file_join(a, dir, name));
    vpu_error err = {0};

    ck_assert_msg(!npy_write(path, t, &err), "%s", err.msg);
    return path;
}

/* Fill input `port` as the program will, and say so on its command line. */
static void give_input(const sample *s, ref_tensor *t, uint32_t port,
                       program_args *p)
{
    tensor file = {.desc = desc_of(t), .data = t->data};

    if (s->bytes) {
        size_t n = ref_elements(t);
        uint8_t *bytes = arena_array(a, uint8_t, n);

        s->fill(t, port);
        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)ref_get(t, i);
        file.desc.dtype = TENSOR_U8;
        file.data = bytes;
    } else if (s->fill) {
        s->fill(t, port);
    } else {
        ref_random(t, port, SEED);
    }
    give_shape(p, arena_printf(a, "in%u", port), &file.desc);
    if (s->shapes && port)
        return;
    if (s->fill)
        program_args_add(p, "--input=%u=%s", port,
                         write_file(arena_printf(a, "in%u.npy", port), &file));
    else
        program_args_add(p, "--input=%u=random:%d", port, SEED);
}

static void give_weights(const sample *s, ref_tensor *t, program_args *p)
{
    tensor file = {.desc = desc_of(t), .data = t->data};

    fill_words(t, s->in[0][1]);
    program_args_add(p, "--blob=weights=%s", write_file("weights.npy", &file));
}

/* Parameters to the command line, and their numbers, those of lists one after
 * the other, to values. */
static void give_params(const sample *s, double *values, program_args *p)
{
    size_t n = 0;

    for (int i = 0; i < MAX_PARAMS && s->params[i]; i++) {
        const char *number = strchr(s->params[i], '=');

        program_args_add(p, "--param=%s", s->params[i]);
        for (; number; number = strchr(number + 1, ',')) {
            ck_assert_uint_lt(n, MAX_VALUES);
            values[n++] = strtod(number + 1, NULL);
        }
    }
}

static void check_variant(const sample *s)
{
    json_t *r = json_load_file(file_join(a, dir, "report.json"), 0, NULL);
    json_t *stages = json_object_get(r, "stages");
    json_t *last = json_array_get(stages, json_array_size(stages) - 1);
    const char *variant = json_string_value(json_object_get(last, "variant"));

    ck_assert_msg(variant && !strcmp(variant, s->variant),
                  "%s: %s, expected %s", s->layer,
                  variant ? variant : "no variant", s->variant);
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
    differ = ref_compare_ulp(want, got.data, s->ulp, text, sizeof text);
    ck_assert_msg(differ == 0, "%s %s: %zu of %zu elements differ%s", s->layer,
                  tensor_desc_text(a, &d), differ, ref_elements(want), text);
    remove(file_join(a, dir, "out0.npy"));
}

static void run(const sample *s, const program_args *p, size_t machine)
{
    program_args q = *p;
    int status;
    size_t n;

    program_args_add(&q, "--shaves=%s", machines[machine].shaves);
    program_args_add(&q, "--set=dma_channels=%s", machines[machine].channels);
    program_args_add(&q, "--order=%s", machines[machine].order);
    status = program_run(&q, dir);
    ck_assert_msg(status == 0, "%s: exit status %d: %s", s->layer, status,
                  program_file(a, dir, "stderr", &n));
}

START_TEST(vision_layer_equals_plain_c)
{
    const sample *s = &samples[_i];
    ref_tensor in[MAX_INPUTS] = {0}, want = {.is_half = true};
    double values[MAX_VALUES] = {0};
    program_args p;
    tensor_desc d;

    program_args_init(&p, a, "run",
                      arena_printf(a, "kernels/%s/layer.xml", s->folder),
                      "--layer", s->layer, "--output", dir, NULL);
    for (uint32_t i = 0; i < MAX_INPUTS; i++) {
        memcpy(in[i].dims, s->in[i], sizeof s->in[i]);
        if (i == 1 && s->words)
            in[i].dims[0] = s->words;
        in[i].is_half = true;
        ref_alloc(&in[i]);
        if (i == 1 && s->words)
            give_weights(s, &in[i], &p);
        else if (in[i].dims[0])
            give_input(s, &in[i], i, &p);
    }
    give_params(s, values, &p);
    memcpy(want.dims, s->out, sizeof s->out);
    d = desc_of(&want);
    give_shape(&p, "out0", &d);
    ref_alloc(&want);
    s->compute(in, values, &want);
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        run(s, &p, m);
        check_variant(s);
        check_output(s, &want);
    }
    ref_free(&want);
    for (uint32_t i = 0; i < MAX_INPUTS; i++)
        ref_free(&in[i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("vision");
    TCase *tc = tcase_create("plain C");
    SRunner *sr;
    int failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, vision_layer_equals_plain_c, 0, N_SAMPLES);
    suite_add_tcase(suite, tc);
    sr = srunner_create(suite);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
