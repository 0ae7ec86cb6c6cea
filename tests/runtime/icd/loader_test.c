/* The driver as programs get it: found by the ICD loader, which finds it by a
 * file of its folder. */
#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/temp.h"

static arena *a;
static char *folder, *library;
static void *loader;

static void *function(const char *name)
{
    void *f = dlsym(loader, name);

    ck_assert_msg(f != NULL, "%s", name);
    return f;
}

/* A pointer to the loader's function of that name. */
#define GET(name)                                      \
    __typeof__(&name) p_##name;                        \
    do {                                               \
        void *f_##name = function(#name);              \
        memcpy(&p_##name, &f_##name, sizeof f_##name); \
    } while (0)

static void setup(void)
{
    const char *build = getenv("VPU_BUILD");
    vpu_error err;
    char *text;

    a = arena_create(0);
    ck_assert(!temp_dir(a, "vpu-icd-", &folder, &err));
    library = arena_printf(a, "%s/libvpusim-opencl.so",
                           build ? build : "build/release");
    if (*library != '/')
        library = arena_printf(a, "%s/%s", getcwd(NULL, 0), library);
    ck_assert_msg(file_exists(library), "%s", library);
    text = arena_printf(a, "%s\n", library);
    ck_assert(!file_write(arena_printf(a, "%s/vpusim.icd", folder), text,
                          strlen(text), &err));
    setenv("OCL_ICD_VENDORS", folder, 1);
    loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(loader != NULL, "%s", dlerror());
}

static void teardown(void)
{
    temp_dir_remove(folder);
    arena_destroy(a);
}

/* Every program that lists platforms loads the driver: LLVM comes later. */
START_TEST(small)
{
    FILE *p = popen(arena_printf(a, "ldd %s", library), "r");
    char line[512];
    int n = 0;

    ck_assert_ptr_nonnull(p);
    for (; fgets(line, sizeof line, p); n++)
        ck_assert_msg(!strstr(line, "LLVM") && !strstr(line, "vpusim.so"), "%s",
                      line);
    ck_assert_int_gt(n, 0);
    ck_assert_int_eq(pclose(p), 0);
}
END_TEST

START_TEST(found)
{
    cl_platform_id platforms[4];
    cl_device_id device;
    cl_uint n;
    char name[64];
    GET(clGetPlatformIDs);
    GET(clGetPlatformInfo);
    GET(clGetDeviceIDs);
    GET(clCreateContext);
    GET(clReleaseContext);
    cl_context c;
    cl_int rc;

    ck_assert_int_eq(p_clGetPlatformIDs(4, platforms, &n), CL_SUCCESS);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(p_clGetPlatformInfo(*platforms, CL_PLATFORM_NAME,
                                         sizeof name, name, NULL),
                     CL_SUCCESS);
    ck_assert_str_eq(name, "vpusim");
    ck_assert_int_eq(p_clGetDeviceIDs(*platforms, CL_DEVICE_TYPE_ACCELERATOR, 1,
                                      &device, NULL),
                     CL_SUCCESS);
    c = p_clCreateContext(NULL, 1, &device, NULL, NULL, &rc);
    ck_assert_int_eq(rc, CL_SUCCESS);
    ck_assert_int_eq(p_clReleaseContext(c), CL_SUCCESS);
}
END_TEST

/* --- processes ------------------------------------------------------------ */

/* What the tests below have: a queue and a kernel of their own. */
static struct {
    cl_context context;
    cl_command_queue queue;
    cl_kernel kernel;
    cl_mem memory;
    __typeof__(&clEnqueueNDRangeKernel) enqueue;
    __typeof__(&clFinish) finish;
} host;

static void open_host(const char *text)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_program p;
    cl_int rc;
    GET(clGetPlatformIDs);
    GET(clGetDeviceIDs);
    GET(clCreateContext);
    GET(clCreateCommandQueue);
    GET(clCreateProgramWithSource);
    GET(clBuildProgram);
    GET(clCreateKernel);
    GET(clCreateBuffer);
    GET(clSetKernelArg);
    GET(clEnqueueNDRangeKernel);
    GET(clFinish);

    ck_assert_int_eq(p_clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    ck_assert_int_eq(
        p_clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL),
        CL_SUCCESS);
    host.context = p_clCreateContext(NULL, 1, &device, NULL, NULL, &rc);
    ck_assert_int_eq(rc, CL_SUCCESS);
    host.queue = p_clCreateCommandQueue(host.context, device, 0, &rc);
    p = p_clCreateProgramWithSource(host.context, 1, &text, NULL, &rc);
    ck_assert_int_eq(p_clBuildProgram(p, 0, NULL, NULL, NULL, NULL),
                     CL_SUCCESS);
    host.kernel = p_clCreateKernel(p, "k", &rc);
    host.memory =
        p_clCreateBuffer(host.context, CL_MEM_READ_WRITE, 4096, NULL, &rc);
    ck_assert_int_eq(
        p_clSetKernelArg(host.kernel, 0, sizeof host.memory, &host.memory),
        CL_SUCCESS);
    host.enqueue = p_clEnqueueNDRangeKernel;
    host.finish = p_clFinish;
}

static cl_int launch(void)
{
    const size_t n = 1024;

    return host.enqueue(host.queue, host.kernel, 1, NULL, &n, NULL, 0, NULL,
                        NULL);
}

static const char fine[] =
    "__kernel void k(__global int *o) { o[get_global_id(0)] = 1; }";
static const char endless[] = "__kernel void k(__global volatile int *o)\n"
                              "{ while (o[0] == 0) o[1]++; }";

/* The status of a child, which gets some seconds. */
static int status_of(pid_t pid)
{
    int status = -1;

    for (int i = 0; i < 1000 && waitpid(pid, &status, WNOHANG) == 0; i++)
        usleep(20000);
    kill(pid, SIGKILL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The child has no device, and ends; the parent goes on. */
START_TEST(forked)
{
    pid_t pid;

    open_host(fine);
    ck_assert_int_eq(launch(), CL_SUCCESS);
    ck_assert_int_eq(host.finish(host.queue), CL_SUCCESS);
    ck_assert_int_eq(launch(), CL_SUCCESS); /* is not begun */
    pid = fork();
    if (!pid) {
        cl_int rc = launch();

        host.finish(host.queue);
        exit(rc == CL_OUT_OF_RESOURCES ? 7 : 8);
    }
    ck_assert_int_eq(status_of(pid), 7);
    ck_assert_int_eq(host.finish(host.queue), CL_SUCCESS);
    ck_assert_int_eq(launch(), CL_SUCCESS);
    ck_assert_int_eq(host.finish(host.queue), CL_SUCCESS);
}
END_TEST

static void *wait_for_all(void *unused)
{
    host.finish(host.queue);
    return unused;
}

/* With launches that are not begun, and, the second time, with one that runs
 * and does not end: the process does, with its own status. */
START_TEST(exit_in_the_middle)
{
    pid_t pid = fork();

    if (!pid) {
        pthread_t t;

        open_host(_i ? endless : fine);
        for (int i = 0; i < 3; i++)
            launch();
        if (_i && !pthread_create(&t, NULL, wait_for_all, NULL))
            usleep(300000);
        exit(5);
    }
    ck_assert_int_eq(status_of(pid), 5);
}
END_TEST

static sigjmp_buf back;
static volatile sig_atomic_t caught;

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info, (void)context;
    caught++;
    siglongjmp(back, 1);
}

/* A kernel's fault is the driver's, the program's own goes to its handler,
 * whether that came before the driver or after it. */
START_TEST(handlers_of_the_host)
{
    struct sigaction own = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO},
                     now;
    volatile int *volatile nowhere = NULL;

    sigemptyset(&own.sa_mask);
    if (!_i)
        sigaction(SIGSEGV, &own, NULL);
    open_host("__kernel void k(__global int *o) { o[1 << 20] = 1; }");
    if (_i)
        sigaction(SIGSEGV, &own, NULL);
    ck_assert_int_eq(launch(), CL_SUCCESS);
    host.finish(host.queue);
    ck_assert_int_eq(caught, 0);
    sigaction(SIGSEGV, NULL, &now);
    ck_assert(now.sa_sigaction == on_fault);
    if (!sigsetjmp(back, 1))
        *nowhere = 1;
    ck_assert_int_eq(caught, 1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("OpenCL driver behind a loader");
    TCase *t = tcase_create("loader");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, found);
    tcase_add_test(t, small);
    tcase_add_test(t, forked);
    tcase_add_loop_test(t, exit_in_the_middle, 0, 2);
    tcase_add_loop_test(t, handlers_of_the_host, 0, 2);
    tcase_set_timeout(t, 60);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
