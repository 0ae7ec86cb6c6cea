/* Every kind of copy between DDR and local memory gives the same result. The
 * kernels are cl/dma.cl. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "runtime/graph/npy.h"
#include "tests/kernels/program.h"
#include "tests/kernels/ref.h"
#include "tests/support/fields.h"

enum { CHANNELS = 6, HEIGHT = 10, WIDTH = 24, ROWS = 5, SEED = 5 };

static const char *const layers[] = {
    "dma_3d",  "dma_widths", "dma_preload_only",     "dma_postwrite_only",
    "copy_3d", "copy_2d",    "copy_rows_and_columns"};
enum { N_LAYERS = sizeof layers / sizeof *layers };

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

static void compute(const float *src, float *dst)
{
    for (int c = 0; c < CHANNELS; c++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                int row = (c * HEIGHT + y) * WIDTH;
                float twice = src[row + (x ^ 1)] * 2;

                dst[row + x] = twice + (float)(c * ROWS + y % ROWS);
            }
}

static void run(const char *layer, const char *shaves, const char *order,
                tensor *out)
{
    vpu_error err = {0};
    program_args p;
    size_t n;
    int status;

    program_args_init(&p, a, "run", "tests/kernels/cl/dma.xml", "--layer",
                      layer, "--output", dir, "--shape", "in0=1x6x10x24:f32",
                      "--shaves", shaves, "--order", order, "--input", NULL);
    program_args_add(&p, "0=random:%d", SEED);
    status = program_run(&p, dir);
    ck_assert_msg(status == 0, "%s: exit status %d: %s", layer, status,
                  program_file(a, dir, "stderr", &n));
    ck_assert_msg(!npy_read(file_join(a, dir, "out0.npy"), a, out, &err), "%s",
                  err.msg);
}

START_TEST(copies_move_what_they_say)
{
    static const char *const shaves[] = {"16", "1", "3", "4"};
    static const char *const orders[] = {"sequential", "reverse", "random:1",
                                         "sequential"};
    ref_tensor in = {{1, CHANNELS, HEIGHT, WIDTH}, false, NULL}, want = in;
    char text[1024];
    tensor got;

    ref_alloc(&in);
    ref_alloc(&want);
    ref_random(&in, 0, SEED);
    compute(in.data, want.data);
    for (int i = 0; i < 4; i++) {
        size_t differ;

        run(layers[_i], shaves[i], orders[i], &got);
        differ = ref_compare(&want, got.data, text, sizeof text);
        ck_assert_msg(differ == 0, "%s on %s SHAVEs, %s: %zu differ%s",
                      layers[_i], shaves[i], orders[i], differ, text);
    }
    ref_free(&want);
    ref_free(&in);
}
END_TEST

typedef struct {
    uint64_t cycles, local_bytes;
    bool one_buffer;
    char *out;
    size_t n_out;
} outcome;

static outcome run_with(const char *layer, uint64_t budget, const char *engine)
{
    program_args p;
    json_t *report, *stage;
    outcome o;
    size_t n;
    int status;

    program_args_init(&p, a, "run", "tests/kernels/cl/dma.xml", "--layer",
                      layer, "--output", dir, "--shape", "in0=1x6x10x24:f32",
                      "--json", "--shaves", "1", "--engine", engine, NULL);
    program_args_add(&p, "--set=ocl_local_budget=%llu",
                     (unsigned long long)budget);
    status = program_run(&p, dir);
    ck_assert_msg(status == 0, "%s: exit status %d: %s", layer, status,
                  program_file(a, dir, "stderr", &n));
    report = fields_read(program_file(a, dir, "stdout", &n));
    stage = json_array_get(json_object_get(report, "stages"), 0);
    o = (outcome){.cycles = fields_number(stage, "cycles"),
                  .local_bytes = fields_number(stage, "local_bytes"),
                  .one_buffer =
                      json_is_true(json_object_get(stage, "one_buffer"))};
    json_decref(report);
    o.out = program_file(a, dir, "out0.npy", &o.n_out);
    return o;
}

/* One buffer where two do not fit: the same bytes, never earlier; on both
 * engines. */
START_TEST(two_buffers_do_not_fit)
{
    outcome two = run_with(layers[_i], 102400, "compiled"), one, again;

    ck_assert(!two.one_buffer);
    if (strncmp(layers[_i], "dma_preload", 11) &&
        strncmp(layers[_i], "dma_postwrite", 13))
        return; /* without phases there is one anyway */
    one = run_with(layers[_i], two.local_bytes - 1, "compiled");
    again = run_with(layers[_i], two.local_bytes - 1, "interpreted");
    ck_assert(one.one_buffer && again.one_buffer);
    ck_assert_uint_lt(one.local_bytes, two.local_bytes);
    ck_assert_uint_ge(one.cycles, two.cycles);
    ck_assert_uint_eq(one.cycles, again.cycles);
    ck_assert_mem_eq(one.out, two.out, two.n_out);
    ck_assert_mem_eq(again.out, two.out, two.n_out);
    two = run_with(layers[_i], two.local_bytes, "compiled");
    ck_assert(!two.one_buffer);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dma");
    TCase *tc = tcase_create("copies");
    SRunner *sr;
    int failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, copies_move_what_they_say, 0, N_LAYERS);
    tcase_add_loop_test(tc, two_buffers_do_not_fit, 0, N_LAYERS);
    suite_add_tcase(suite, tc);
    sr = srunner_create(suite);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
