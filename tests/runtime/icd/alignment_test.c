/* Where arrays and variables lie: at multiples of what their type needs, up to
 * the 128 bytes of long16, in each address space, by both engines. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "tests/runtime/icd/icd_rig.h"

enum { PLACES = 4 };

static const struct {
    const char *name;
    uint32_t bytes;
} types[] = {
    {"char", 1}, {"ushort", 2}, {"int", 4}, {"float", 4}, {"ulong", 8}};
static const char *const spaces[] = {"private", "local", "constant"};
static arena *a;

static void open_compiled(void)
{
    a = arena_create(0);
    setup();
}

static void open_interpreted(void)
{
    setenv("VPU_CL", "--profile=1", 1);
    open_compiled();
}

static void close_all(void)
{
    teardown();
    arena_destroy(a);
}

static void run_one(cl_kernel k)
{
    const size_t global = 4, local = 2;

    OK(CL->clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, 0, NULL,
                                  NULL));
    OK(CL->clFinish(queue));
}

/* Odd numbers of small elements stand in front of the large ones. */
static void check(cl_kernel k, const char *text, uint32_t bytes)
{
    cl_mem to = buffer(CL_MEM_WRITE_ONLY, 4 * PLACES * sizeof(cl_uint), NULL);
    cl_uint at[4 * PLACES];

    set(k, 0, sizeof to, &to);
    run_one(k);
    OK(CL->clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof at, at, 0, NULL,
                               NULL));
    for (int i = 0; i < 4 * PLACES; i++) {
        uint32_t needed = bytes * (2u << i % PLACES);

        ck_assert_msg(at[i] && at[i] % needed == 0, "%#x, not %u: %s", at[i],
                      needed, text);
    }
    OK(CL->clReleaseMemObject(to));
}

START_TEST(variables)
{
    const char *t = types[_i].name;

    for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++)
        for (int across = 0; across < 2; across++) {
            const char *space = spaces[s];
            bool fixed = !strcmp(space, "constant");
            str text = {.arena = a}, vars = {.arena = a};

            for (int k = 2; k <= 16; k *= 2)
                str_printf(&vars, "%s char odd%d[%d]%s; %s %s%d v%d[3]%s;\n",
                           space, k, k + 1, fixed ? " = {1}" : "", space, t, k,
                           k, fixed ? " = {1}" : "");
            str_printf(&text,
                       "%skernel void k(global uint *o) {\n%s"
                       "uint i = get_global_id(0) * %d;\n"
                       "%s"
                       "o[i] = (uint)v2; o[i + 1] = (uint)v4;\n"
                       "o[i + 2] = (uint)v8; o[i + 3] = (uint)v16;\n}\n",
                       fixed ? str_text(&vars) : "",
                       fixed ? "" : str_text(&vars), PLACES,
                       across ? "barrier(CLK_LOCAL_MEM_FENCE);\n" : "");
            check(kernel(built(str_text(&text), ""), "k"), str_text(&text),
                  types[_i].bytes);
        }
}
END_TEST

/* local_data whose size the program gives. */
START_TEST(local_arguments)
{
    const char *t = types[_i].name;
    const char *text = arena_printf(
        a,
        "kernel void k(global uint *o, local char *odd, local %s2 *v2,\n"
        "              local %s4 *v4, local char *more, local %s8 *v8,\n"
        "              local %s16 *v16) {\n"
        "    uint i = get_global_id(0) * %d;\n"
        "    o[i] = (uint)v2; o[i + 1] = (uint)v4;\n"
        "    o[i + 2] = (uint)v8; o[i + 3] = (uint)v16;\n}\n",
        t, t, t, t, PLACES);
    cl_kernel k = kernel(built(text, ""), "k");
    const uint32_t sizes[] = {3, 2, 4, 5, 8, 16};

    for (cl_uint i = 0; i < 6; i++)
        OK(CL->clSetKernelArg(
            k, i + 1, i == 0 || i == 3 ? sizes[i] : types[_i].bytes * sizes[i],
            NULL));
    check(k, text, types[_i].bytes);
}
END_TEST

static void add(Suite *s, const char *name, void (*open)(void))
{
    TCase *t = tcase_create(name);

    tcase_add_checked_fixture(t, open, close_all);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, variables, 0, sizeof types / sizeof *types);
    tcase_add_loop_test(t, local_arguments, 0, sizeof types / sizeof *types);
    suite_add_tcase(s, t);
}

int main(void)
{
    Suite *s = suite_create("alignment");
    SRunner *r;
    int failed;

    add(s, "compiled", open_compiled);
    add(s, "interpreted", open_interpreted);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
