/* The driver as programs get it: found by the ICD loader, which finds it by a
 * file of its folder. */
#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CL_TARGET_OPENCL_VERSION 120
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

int main(void)
{
    Suite *s = suite_create("OpenCL driver behind a loader");
    TCase *t = tcase_create("loader");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, found);
    tcase_add_test(t, small);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
