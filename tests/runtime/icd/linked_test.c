/* Programs that were linked of several texts, one of them with a header: their
 * launches under checkers, and from files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/temp.h"
#include "tests/runtime/icd/icd_rig.h"

enum { N = 96 };

/* Both have a function of that name of their own. */
static const char first[] =
    "#include \"scale.h\"\n"
    "float next(global const float *a, int i);\n"
    "static float own(float x) { return SCALE(x); }\n"
    "kernel void k(global const float *a, global float *b, int shift)\n"
    "{\n"
    "    int i = get_global_id(0);\n"
    "    b[i] = own(next(a, i + shift));\n"
    "}\n",
                  second[] = "static float own(float x) { return x - OFF; }\n"
                             "float next(global const float *a, int i)\n"
                             "{\n"
                             "    float x = 0;\n"
                             "    x =\n"
                             "        a[i + 1];\n"
                             "    return own(x);\n"
                             "}\n",
                  header[] = "#define SCALE(x) ((x) * 3.0f)\n";

static arena *a;
static char *folder;

static void open_all(void)
{
    vpu_error err;

    a = arena_create(0);
    ck_assert(!temp_dir(a, "vpu-linked-", &folder, &err));
    setenv("VPU_CL",
           arena_printf(a, "--check --findings %s/found --dump %s/launches",
                        folder, folder),
           1);
    setup();
}

static void close_all(void)
{
    teardown();
    temp_dir_remove(folder);
    arena_destroy(a);
}

static cl_program compiled(const char *text, const char *options,
                           const char *name, const char *included)
{
    cl_program p = source(text), h = included ? source(included) : NULL;

    OK(CL->clCompileProgram(p, 0, NULL, options, h ? 1 : 0, h ? &h : NULL,
                            h ? &name : NULL, NULL, NULL));
    return p;
}

static cl_kernel linked_kernel(void)
{
    const cl_program parts[] = {compiled(first, "", "scale.h", header),
                                compiled(second, "-DOFF=0.5f", NULL, NULL)};
    cl_program p =
        CL->clLinkProgram(context, 0, NULL, "", 2, parts, NULL, NULL, &rc);

    OK(rc);
    return kernel(p, "k");
}

/* Cycles of the launch; 0: it failed. */
static cl_ulong launch(cl_kernel k, cl_int shift)
{
    const size_t global = N, local = 8;
    cl_ulong cycles = 0;
    cl_event done;

    OK(CL->clSetKernelArg(k, 2, sizeof shift, &shift));
    OK(CL->clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, 0, NULL,
                                  &done));
    CL->clFinish(queue);
    CL->clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_CYCLES_VPUSIM,
                                sizeof cycles, &cycles, NULL);
    return cycles;
}

static const char *text_of(const char *name)
{
    char *text;
    size_t n;
    vpu_error err;

    ck_assert_msg(
        !file_read(file_join(a, folder, name), 1 << 20, a, &text, &n, &err),
        "%s", err.msg);
    return text;
}

static const char *said_by(const char *command)
{
    FILE *f = popen(command, "r");
    char *text = arena_array(a, char, 1 << 16);

    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, (1 << 16) - 1, f)] = 0;
    ck_assert_msg(!pclose(f), "%s: %s", command, text);
    return text;
}

START_TEST(launches_of_linked_programs)
{
    const char *vpu = getenv("VPU") ? getenv("VPU") : "build/vpu", *found;
    float in[N + 1], out[N];
    cl_mem from, to;
    cl_kernel k = linked_kernel();
    cl_ulong cycles;

    for (int i = 0; i <= N; i++)
        in[i] = (float)(i * i % 37);
    from = buffer(CL_MEM_COPY_HOST_PTR, sizeof in, in);
    to = buffer(CL_MEM_WRITE_ONLY, sizeof out, NULL);
    set(k, 0, sizeof from, &from);
    set(k, 1, sizeof to, &to);
    cycles = launch(k, 0);
    ck_assert_uint_gt(cycles, 0);
    OK(CL->clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof out, out, 0, NULL,
                               NULL));
    for (int i = 0; i < N; i++)
        ck_assert_msg(out[i] == (in[i + 1] - 0.5f) * 3.0f, "%d: %g", i, out[i]);
    ck_assert_str_eq(text_of("found"), "");
    ck_assert_uint_eq(launch(k, N + 4096), 0);
    found = text_of("found");
    ck_assert_msg(strstr(found, "\"bounds\"") &&
                      strstr(found, "\"source-2.cl\"") &&
                      strstr(found, "\"line\":6"),
                  "%s", found);
    /* Once more, from its file. */
    found = said_by(arena_printf(a, "%s run %s/launches/0001-k.vpugraph --json",
                                 vpu, folder));
    ck_assert_msg(strstr(found, arena_printf(a, "\"cycles\": %llu,",
                                             (unsigned long long)cycles)) !=
                      NULL,
                  "%s", found);
    found = said_by(arena_printf(a,
                                 "%s diff %s/launches/0001-k.vpugraph --a sim "
                                 "--b npy:%s/launches/0001-k",
                                 vpu, folder, folder));
    ck_assert_msg(strstr(found, "equal, bit for bit") != NULL, "%s", found);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("linked OpenCL programs");
    TCase *t = tcase_create("linked");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, open_all, close_all);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, launches_of_linked_programs);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
