/* Virtual tensors share memory, and values are as if they did not. */
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/runtime/api/api.h"

enum { STEPS = 9, N = 3000 };

/* x -> v1 -> v2 -> ... -> y, each the former and x weighted. */
static const char blend[] =
    "__kernel void blend(__global const float *x, __global const float *v,\n"
    "                    __global float *y, int n)\n"
    "{\n"
    "    int i = get_global_id(0);\n"
    "    y[i] = v[i] * 0.5f + x[i] * n;\n"
    "}\n";

static vpu_context *sim;

static void setup(void)
{
    sim = api_context(NULL);
}

static void teardown(void)
{
    vpu_context_free(sim);
}

/* `wide`: sizes of the virtual tensors in turn; only N elements are used. */
static vpu_graph *build(vpu_context *c, vpu_program *p, uint32_t wide)
{
    vpu_launch_options l = VPU_LAUNCH_OPTIONS_INIT;
    const vpu_kernel *k;
    vpu_tensor *x, *from, *to;
    vpu_operation *op;
    vpu_graph *g;

    l.global[0] = N;
    api_ok(vpu_program_kernel(p, NULL, &k, &api_err));
    api_ok(vpu_graph_create(&g, c, &api_err));
    from = x = api_tensor(g, "x", VPU_ROLE_INPUT, VPU_F32, N);
    for (int i = 0; i < STEPS; i++) {
        bool last = i + 1 == STEPS;

        to = api_tensor(g, last ? "y" : NULL,
                        last ? VPU_ROLE_OUTPUT : VPU_ROLE_VIRTUAL, VPU_F32,
                        last || i % 2 ? N : N + wide);
        api_ok(vpu_graph_add_kernel(g, k, &l, &op, &api_err));
        api_ok(vpu_operation_set_tensor(op, "x", x, &api_err));
        api_ok(vpu_operation_set_tensor(op, "v", from, &api_err));
        api_ok(vpu_operation_set_tensor(op, "y", to, &api_err));
        api_ok(vpu_operation_set_integer(op, "n", i, &api_err));
        from = to;
    }
    return g;
}

START_TEST(a_chain_needs_two)
{
    vpu_program *p = api_program(sim, blend);
    vpu_graph *g = build(sim, p, 500);
    vpu_memory_use use = VPU_MEMORY_USE_INIT;
    float x[N];
    const float *y;

    ck_assert_ptr_null(vpu_graph_memory_text(g));
    api_ok(vpu_graph_memory(g, &use, &api_err));
    ck_assert_uint_eq(use.apart + use.bound + use.planned, 0);
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_graph_memory(g, &use, &api_err));
    /* Multiples of 64 bytes: four of 3000 floats, four of 3500. */
    ck_assert_uint_eq(use.apart, 4 * 12032 + 4 * 14016);
    ck_assert_uint_eq(use.bound, 12032 + 14016);
    ck_assert_uint_eq(use.planned, use.bound);
    ck_assert_ptr_nonnull(strstr(vpu_graph_memory_text(g), "tensor1"));
    ck_assert_ptr_nonnull(strstr(vpu_graph_memory_svg(g), "<svg"));
    for (int i = 0; i < N; i++)
        x[i] = (float)(i % 101) - 50;
    api_ok(vpu_tensor_write(vpu_graph_tensor_named(g, "x"), x, sizeof x,
                            &api_err));
    for (int again = 0; again < 2; again++) {
        api_ok(vpu_graph_run(g, NULL, NULL, &api_err));
        y = vpu_tensor_data(vpu_graph_tensor_named(g, "y"));
        for (int i = 0; i < N; i++) {
            float v = x[i];

            for (int s = 0; s < STEPS; s++)
                v = v * 0.5f + x[i] * (float)s;
            ck_assert_float_eq(y[i], v);
        }
    }
    vpu_graph_free(g);
    vpu_program_free(p);
}
END_TEST

/* Under the checkers, and between launches of a comparison, nothing shares. */
START_TEST(looking_in_between)
{
    vpu_context *opencl = api_context("opencl");
    vpu_program *p = api_program(sim, blend), *q = api_program(opencl, blend);
    vpu_graph *g = build(sim, p, 0), *h = build(opencl, q, 0);
    vpu_findings *f;
    vpu_diff *d;

    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(
        vpu_tensor_fill(vpu_graph_tensor_named(g, "x"), "random:1", &api_err));
    api_ok(vpu_graph_check(&f, g, NULL, &api_err));
    ck_assert_msg(vpu_findings_count(f) == 0, "%s", vpu_findings_report(f));
    vpu_findings_free(f);
    api_ok(vpu_diff_create(&d, g, h, NULL, &api_err));
    ck_assert_msg(vpu_diff_equal(d), "%s", vpu_diff_text(d));
    /* Every tensor between launches was compared. */
    ck_assert_ptr_nonnull(strstr(vpu_diff_json(d), "tensor1"));
    vpu_diff_free(d);
    vpu_graph_free(g);
    vpu_graph_free(h);
    vpu_program_free(p);
    vpu_program_free(q);
    vpu_context_free(opencl);
}
END_TEST

/* In a timeline they have their names, though they have one buffer. */
START_TEST(names_in_a_timeline)
{
    char path[] = "/tmp/vpu-memory-XXXXXX";
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;
    vpu_run_options r = VPU_RUN_OPTIONS_INIT;
    arena *a = arena_create(0);
    vpu_context *c;
    vpu_program *p;
    vpu_graph *g;
    char *text;
    size_t n;
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    close(fd);
    o.timing = VPU_TIMING_TRANSACTION; /* which tells lines of caches apart */
    api_ok(vpu_context_create(&c, &o, &api_err));
    p = api_program(c, blend);
    g = build(c, p, 500);
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_tensor_fill(vpu_graph_tensor_named(g, "x"), "ramp", &api_err));
    r.trace_json = path;
    api_ok(vpu_graph_run(g, &r, NULL, &api_err));
    ck_assert(!file_read(path, 1 << 26, a, &text, &n, &(vpu_error){0}));
    ck_assert_ptr_nonnull(strstr(text, "x read"));
    ck_assert_ptr_nonnull(strstr(text, "y written"));
    for (int i = 1; i < STEPS; i++) {
        ck_assert_ptr_nonnull(
            strstr(text, arena_printf(a, "\"tensor%d written", i)));
        ck_assert_ptr_nonnull(
            strstr(text, arena_printf(a, "\"tensor%d read", i)));
    }
    ck_assert_ptr_null(strstr(text, "the memory of virtual tensors"));
    unlink(path);
    arena_destroy(a);
    vpu_graph_free(g);
    vpu_program_free(p);
    vpu_context_free(c);
}
END_TEST

START_TEST(nothing_to_share)
{
    vpu_memory_use use = VPU_MEMORY_USE_INIT;
    api_scaling s;

    api_scaling_open(&s, sim, 8, 2);
    api_ok(vpu_graph_finalize(s.graph, &api_err));
    api_ok(vpu_graph_memory(s.graph, &use, &api_err));
    ck_assert_uint_eq(use.planned, 0);
    ck_assert_ptr_nonnull(vpu_graph_memory_text(s.graph));
    use.struct_size = 0;
    api_fails(vpu_graph_memory(s.graph, &use, &api_err), VPU_ERR_INVALID,
              "_INIT");
    api_fails(vpu_graph_memory(NULL, &use, &api_err), VPU_ERR_INVALID,
              "graph is NULL");
    api_scaling_close(&s);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("memory");
    Suite *suite = suite_create("library: memory of virtual tensors");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, a_chain_needs_two);
    tcase_add_test(t, looking_in_between);
    tcase_add_test(t, names_in_a_timeline);
    tcase_add_test(t, nothing_to_share);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
