/* A kernel's text as other devices get it: includes and macros resolved. */
#include <check.h>
#include <dirent.h>
#include <string.h>

#include "runtime/backend/preprocess.h"

static arena *a;
static vpu_error err;

static void setup(void)
{
    a = arena_create(0);
}

static void teardown(void)
{
    arena_destroy(a);
}

static unsigned open_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned n = 0;

    ck_assert_ptr_nonnull(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static vpu_status process(const char *text, char **out)
{
    static const char *const options[] = {"-DTWICE(x)=((x) * 2)"};

    return preprocess(
        &(preprocess_job){
            .path = "k.cl", .text = text, .options = options, .n_options = 1},
        a, out, &err);
}

START_TEST(macros_are_resolved)
{
    char *out;

    ck_assert_msg(!process("#define N 7\n\n"
                           "__kernel void k(__global int *p)\n"
                           "{\n    p[0] = TWICE(N);\n}\n",
                           &out),
                  "%s", err.msg);
    ck_assert_msg(strstr(out, "p[0] = ((7) * 2);") && strstr(out, "\n# "), "%s",
                  out);
}
END_TEST

/* A process that compiles for days has as many descriptors as at first. */
START_TEST(nothing_stays_open)
{
    unsigned before;
    char *out;

    ck_assert(!process("int x;\n", &out));
    before = open_files();
    for (int i = 0; i < 3; i++) {
        ck_assert(!process("int x;\n", &out));
        ck_assert_int_eq(process("#include \"nothing.h\"\n", &out),
                         VPU_ERR_COMPILE);
        ck_assert_int_eq(preprocess(&(preprocess_job){.path = "/no/such/k.cl"},
                                    a, &out, &err) == VPU_OK,
                         0);
    }
    ck_assert_uint_eq(open_files(), before);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("preprocess");
    TCase *c = tcase_create("preprocess");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, macros_are_resolved);
    tcase_add_test(c, nothing_stays_open);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
