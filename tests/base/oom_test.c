/* Scopes of short memory: which one is left, and in what state things are then;
 * and a kernel compiled and run while each allocation in turn finds nothing. */
#include <check.h>
#include <pthread.h>
#include <string.h>

#include "base/arena.h"
#include "base/oom.h"
#include "base/str.h"
#include "tests/support/rig.h"

static vpu_status want(void *user, vpu_error *err)
{
    const size_t *n = user;

    (void)err;
    oom_raise(*n);
}

START_TEST(guard_tells_what_was_wanted)
{
    static const struct {
        size_t n;
        const char *text;
    } rows[] = {{12345, "wanted 12345 bytes"},
                {SIZE_MAX, "wanted more than there are addresses"}};
    vpu_error err = {0};
    size_t n = rows[_i].n;

    ck_assert_int_eq(oom_guard(want, &n, &err), VPU_ERR_NOMEM);
    ck_assert_ptr_nonnull(strstr(err.msg, rows[_i].text));
    ck_assert_ptr_null(oom_innermost());
}
END_TEST

typedef struct {
    size_t n;
    vpu_status inner;
} nested;

static vpu_status nest(void *user, vpu_error *err)
{
    nested *x = user;

    x->inner = oom_guard(want, &x->n, err);
    return VPU_ERR_STOPPED;
}

START_TEST(the_innermost_scope_is_left)
{
    nested x = {1, VPU_OK};

    ck_assert_int_eq(oom_guard(nest, &x, NULL), VPU_ERR_STOPPED);
    ck_assert_int_eq(x.inner, VPU_ERR_NOMEM);
    ck_assert_ptr_null(oom_innermost());
}
END_TEST

static vpu_status grow(void *user, vpu_error *err)
{
    str *s = user;

    (void)err;
    for (int i = 0; i < 1000; i++)
        str_printf(s, "line %d\n", i);
    return VPU_OK;
}

/* A string that finds no room keeps what it has. */
START_TEST(strings_stay_whole)
{
    bool done = false;

    for (uint64_t n = 1; !done; n++) {
        str s = {0};

        oom_fail_at(n);
        done = !oom_guard(grow, &s, NULL);
        oom_fail_at(0);
        ck_assert(done || !s.n || s.data[s.n] == 0);
        ck_assert(done || !s.n || s.data[s.n - 1] == '\n');
        str_free(&s);
    }
}
END_TEST

static vpu_status too_much(void *user, vpu_error *err)
{
    (void)err;
    arena_push(user, SIZE_MAX / 2, 4, 8);
    return VPU_OK;
}

START_TEST(sizes_no_number_holds)
{
    arena *a = arena_create(0);

    ck_assert_int_eq(oom_guard(too_much, a, NULL), VPU_ERR_NOMEM);
    ck_assert_ptr_nonnull(arena_strdup(a, "it goes on"));
    arena_destroy(a);
}
END_TEST

static void *other_thread(void *user)
{
    size_t n = 7;

    *(vpu_status *)user = oom_guard(want, &n, NULL);
    return NULL;
}

static vpu_status beside(void *user, vpu_error *err)
{
    pthread_t t;

    (void)err;
    ck_assert(!pthread_create(&t, NULL, other_thread, user));
    pthread_join(t, NULL);
    return VPU_OK;
}

START_TEST(each_thread_has_its_own)
{
    vpu_status inner = VPU_OK;

    ck_assert_int_eq(oom_guard(beside, &inner, NULL), VPU_OK);
    ck_assert_int_eq(inner, VPU_ERR_NOMEM);
}
END_TEST

/* --- a launch ------------------------------------------------------------ */

static const char sum_cl[] =
    "__kernel void sum(__global const float *a, __global float *b)\n"
    "{\n"
    "    __local float part[8];\n"
    "    int i = get_local_id(0);\n"
    "    part[i] = a[get_global_id(0)];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (i == 0) printf(\"%d\\n\", (int)get_group_id(0));\n"
    "    b[get_global_id(0)] = part[i] + part[7 - i];\n"
    "}\n";

static void drop(void *user, const char *text, size_t n)
{
    (void)text;
    *(size_t *)user += n;
}

/* Every allocation in turn fails: the launch says so and leaves the device as
 * it was, so that the next one runs. */
START_TEST(a_launch_survives)
{
    const uint32_t groups[3] = {4, 1, 1}, local[3] = {8, 1, 1};
    size_t printed = 0;
    bool done = false;
    uint64_t n = 0;
    float *in, *out;
    rig r;

    rig_open(&r);
    rig_compile(&r, sum_cl, "sum");
    in = rig_buffer(&r, 32 * sizeof *in);
    out = rig_buffer(&r, 32 * sizeof *out);
    for (int i = 0; i < 32; i++)
        in[i] = (float)i;
    while (!done) {
        exec_launch l = {
            .name = "short",
            .kernel = r.kernel,
            .values = r.values,
            .how = {.n_shaves = 2,
                    .n_threads = 1,
                    .engine = _i ? EXEC_INTERPRETED : EXEC_COMPILED},
            .print = drop,
            .print_user = &printed};
        vpu_status st;

        memcpy(l.groups, groups, sizeof groups);
        memcpy(l.local, local, sizeof local);
        memset(out, 0, 32 * sizeof *out);
        printed = 0;
        oom_fail_at(++n);
        st = exec_run(r.mem, &r.desc, &l, &r.result, &r.err);
        oom_fail_at(0);
        done = !st;
        ck_assert_msg(!st || st == VPU_ERR_NOMEM, "%d: %s", st, r.err.msg);
    }
    ck_assert_uint_gt(n, 5);
    ck_assert_uint_eq(printed, 8);
    for (int i = 0; i < 32; i++)
        ck_assert_float_eq(out[i], (float)(i / 8 * 16 + 7));
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("oom");
    TCase *c = tcase_create("oom");
    SRunner *runner = srunner_create(s);
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, guard_tells_what_was_wanted, 0, 2);
    tcase_add_test(c, the_innermost_scope_is_left);
    tcase_add_test(c, strings_stay_whole);
    tcase_add_test(c, sizes_no_number_holds);
    tcase_add_test(c, each_thread_has_its_own);
    tcase_add_loop_test(c, a_launch_survives, 0, 2);
    suite_add_tcase(s, c);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
