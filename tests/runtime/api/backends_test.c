/* One program, three places: the simulator, an OpenCL device, a virtual stick.
 * Only the backend's name differs. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/kernels/program.h"
#include "tests/runtime/api/api.h"

enum { ROWS = 6, COLUMNS = 64, BYTES = ROWS * COLUMNS * 2 };

static arena *mem;
static char *dir, *socket_path;
static pid_t stick;

/* vpu stick as a process of its own, ready for a session. */
static void setup(void)
{
    const char *vpu = getenv("VPU") ? getenv("VPU") : "build/vpu";

    mem = arena_create(0);
    dir = program_temp_dir(mem);
    socket_path = file_join(mem, dir, "s");
    stick = fork();
    if (!stick) {
        ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
        execl(vpu, "vpu", "stick", "--xlink", "C", "--listen",
              arena_printf(mem, "unix:%s", socket_path), "--quiet",
              (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 400 && access(socket_path, F_OK); i++)
        nanosleep(&(struct timespec){.tv_nsec = 25 * 1000 * 1000}, NULL);
}

static void teardown(void)
{
    kill(stick, SIGTERM);
    waitpid(stick, NULL, 0);
    program_remove_dir(dir);
    arena_destroy(mem);
}

/* A kernel as a string, views that are concatenated, one of the library's
 * kinds.
 */
static const char source[] =
    "__kernel void weigh(__global const half *x, __global half *y, int n,\n"
    "                    float f)\n"
    "{\n"
    "    int i = get_global_id(0);\n"
    "    y[i] = x[i] * (half)n + (half)f;\n"
    "}\n";

static void add_weigh(vpu_graph *g, const vpu_kernel *k, vpu_tensor *x,
                      vpu_tensor *y, int n)
{
    vpu_launch_options l = VPU_LAUNCH_OPTIONS_INIT;
    vpu_operation *op;

    l.global[0] = (uint32_t)(vpu_tensor_bytes(x) / 2);
    api_ok(vpu_graph_add_kernel(g, k, &l, &op, &api_err));
    api_ok(vpu_operation_set_tensor(op, "x", x, &api_err));
    api_ok(vpu_operation_set_tensor(op, "y", y, &api_err));
    api_ok(vpu_operation_set_integer(op, "n", n, &api_err));
    api_ok(vpu_operation_set_real(op, "f", -0.5, &api_err));
}

static void run_on(const char *backend, uint16_t *out)
{
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;
    vpu_tensor_options t = VPU_TENSOR_OPTIONS_INIT;
    vpu_view_options v = VPU_VIEW_OPTIONS_INIT;
    vpu_add_options a = VPU_ADD_OPTIONS_INIT;
    vpu_context *c;
    vpu_program *p;
    const vpu_kernel *k;
    vpu_graph *g;
    vpu_tensor *x, *m, *y, *from, *to;
    vpu_operation *op;

    o.backend = backend;
    o.xlink = "C";
    api_ok(vpu_context_create(&c, &o, &api_err));
    p = api_program(c, source);
    api_ok(vpu_program_kernel(p, NULL, &k, &api_err));
    api_ok(vpu_graph_create(&g, c, &api_err));
    t.shape = "6x64:f16";
    t.name = "x";
    t.role = VPU_ROLE_INPUT;
    api_ok(vpu_graph_tensor(g, &t, &x, &api_err));
    t.name = "m";
    t.role = VPU_ROLE_VIRTUAL;
    api_ok(vpu_graph_tensor(g, &t, &m, &api_err));
    v.dims[0] = 2;
    v.dims[1] = COLUMNS;
    for (uint32_t i = 0; i < 3; i++) { /* the last rows come first */
        v.start[0] = 2 * i;
        api_ok(vpu_graph_view(g, x, &v, &from, &api_err));
        v.start[0] = 4 - 2 * i;
        api_ok(vpu_graph_view(g, m, &v, &to, &api_err));
        add_weigh(g, k, from, to, (int)i + 1);
    }
    a.inputs = &m;
    a.n_inputs = 1;
    a.output_role = VPU_ROLE_OUTPUT;
    api_ok(vpu_graph_add(g, "relu", &a, &op, &api_err));
    y = vpu_operation_output(op, 0);
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_tensor_fill(x, "ramp", &api_err));
    for (int again = 0; again < 2; again++)
        api_ok(vpu_graph_run(g, NULL, NULL, &api_err));
    api_ok(vpu_tensor_read(y, out, BYTES, &api_err));
    vpu_graph_free(g);
    vpu_program_free(p);
    vpu_context_free(c);
}

START_TEST(the_same_bytes_everywhere)
{
    uint16_t sim[BYTES / 2], opencl[BYTES / 2], usb[BYTES / 2];

    run_on("sim", sim);
    /* Row 4 of the input, element 1: (1 + 256) mod 256 / 256, times 3, - 0.5.
     */
    ck_assert_uint_eq(sim[4 * COLUMNS + 0], 0);
    for (int i = 0; i < BYTES / 2; i++) {
        int row = i / COLUMNS, part = row / 2;
        int from = (4 - 2 * part + row % 2) * COLUMNS + i % COLUMNS;
        float x = (float)(from % 256) / 256 * (float)(3 - part) - 0.5f;
        __extension__ _Float16 wanted = (_Float16)(x > 0 ? x : 0);

        ck_assert_mem_eq(&sim[i], &wanted, 2);
    }
    run_on("opencl", opencl);
    ck_assert_mem_eq(sim, opencl, BYTES);
    run_on(arena_printf(mem, "usb:unix:%s", socket_path), usb);
    ck_assert_mem_eq(sim, usb, BYTES);
}
END_TEST

/* As a signal handler does it. */
START_TEST(sessions_are_interrupted)
{
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;
    vpu_context *c;
    api_scaling s;

    ck_assert_uint_eq(vpu_context_interrupt(NULL), 0);
    o.backend = arena_printf(mem, "usb:unix:%s", socket_path);
    o.xlink = "C";
    api_ok(vpu_context_create(&c, &o, &api_err));
    ck_assert_uint_eq(vpu_context_interrupt(c), 0);
    api_scaling_open(&s, c, 64, 2);
    api_ok(vpu_graph_finalize(s.graph, &api_err));
    api_ok(vpu_tensor_fill(s.x, "ramp", &api_err));
    api_ok(vpu_graph_run(s.graph, NULL, NULL, &api_err));
    ck_assert_uint_eq(vpu_context_interrupt(c), 1);
    api_fails(vpu_graph_run(s.graph, NULL, NULL, &api_err), VPU_ERR_IO, "");
    api_scaling_close(&s);
    ck_assert_uint_eq(vpu_context_interrupt(c), 0);
    vpu_context_free(c);
}
END_TEST

/* A timeline from the first packet to the last; the session ends with it. */
START_TEST(a_session_has_a_timeline)
{
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;
    vpu_run_options run = VPU_RUN_OPTIONS_INIT;
    char *json = file_join(mem, dir, "t.json");
    float y[64];
    vpu_context *c;
    vpu_result *r;
    api_scaling s;
    size_t n;

    o.backend = arena_printf(mem, "usb:unix:%s", socket_path);
    o.xlink = "C";
    api_ok(vpu_context_create(&c, &o, &api_err));
    api_scaling_open(&s, c, 64, 2);
    api_ok(vpu_tensor_fill(s.x, "ramp", &api_err));
    run.trace_json = json;
    run.finalize = 1;
    for (int again = 0; again < 2; again++) {
        api_ok(vpu_graph_run(s.graph, &run, &r, &api_err));
        ck_assert_ptr_nonnull(
            strstr(program_file(mem, dir, "t.json", &n), "from the stick"));
        ck_assert_ptr_nonnull(vpu_result_text(r));
        api_ok(vpu_tensor_read(s.y, y, sizeof y, &api_err));
        ck_assert_float_eq(y[3], 3.0F / 128);
        vpu_result_free(r);
    }
    api_fails(vpu_graph_run(s.graph, NULL, NULL, &api_err), VPU_ERR_INVALID,
              "not finalized");
    api_ok(vpu_graph_finalize(s.graph, &api_err));
    api_fails(vpu_graph_run(s.graph, &run, NULL, &api_err), VPU_ERR_UNSUPPORTED,
              "timelines of single runs");
    api_scaling_close(&s);
    vpu_context_free(c);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("backends");
    Suite *suite = suite_create("library: one program, several backends");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, the_same_bytes_everywhere);
    tcase_add_test(t, sessions_are_interrupted);
    tcase_add_test(t, a_session_has_a_timeline);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
