/* Structures by value as arguments, laid out as a SHAVE does it, and as many
 * arguments as OpenCL allows. */
#include <check.h>
#include <string.h>

#include "tests/support/rig.h"

static rig r;

static void setup(void)
{
    rig_open(&r);
    r.both_engines = r.clean = true;
}

static void teardown(void)
{
    rig_close(&r);
}

/* The address of a structure's bytes is what exec takes. */
static void put(const void *bytes, uint32_t n)
{
    memcpy(rig_buffer(&r, n), bytes, n);
}

typedef struct {
    char c;
    float f;
    short s[3];
    uint64_t l;
} mixed;

START_TEST(members)
{
    static const char source[] =
        "typedef struct { char c; float f; short s[3]; ulong l; } mixed;\n"
        "__kernel void k(__global float *o, mixed m, int n, mixed other)\n{\n"
        "    int i = get_global_id(0);\n"
        "    o[i] = m.c + m.f + m.s[i % 3] + (float)(m.l + n) + other.s[2];\n"
        "}\n";
    mixed m = {-3, 0.5f, {10, 20, 30}, 1000}, other = {.s = {7, 8, 9}};
    float *out;

    rig_compile(&r, source, "k");
    ck_assert_uint_eq(r.kernel->n_args, 4);
    ck_assert_uint_eq(r.kernel->args[0].object_bytes, 0);
    ck_assert_uint_eq(r.kernel->args[1].object_bytes, sizeof m);
    ck_assert_int_eq(r.kernel->args[1].space, SIM_ARG_CONSTANT);
    ck_assert_uint_eq(r.kernel->args[2].object_bytes, 0);
    ck_assert_str_eq(r.kernel->args[3].name, "other");
    ck_assert_str_eq(r.kernel->args[3].type, "mixed");
    out = rig_buffer(&r, 24 * sizeof *out);
    put(&m, sizeof m);
    rig_int(&r, 4);
    put(&other, sizeof other);
    rig_run_1d(&r, 3, 8);
    for (int i = 0; i < 24; i++)
        ck_assert_float_eq(out[i], -3 + 0.5f + (float)m.s[i % 3] + 1004 + 9);
}
END_TEST

/* The kernel's own copy: what it writes there nobody else sees, and no other
 * item. */
START_TEST(copies)
{
    static const char source[] =
        "struct in { int v[4]; };\n"
        "struct out { struct in i; int2 w; };\n"
        "int sum(struct out s) { s.w.x += s.i.v[0] + s.i.v[3]; return s.w.x; }\n"
        "__kernel void k(__global int *o, struct out s)\n{\n"
        "    int i = get_global_id(0);\n"
        "    s.i.v[i & 3] += i;\n"
        "    s.w.y = sum(s);\n"
        "    o[i] = s.i.v[0] + 10 * s.i.v[3] + 1000 * s.w.y + s.w.x;\n}\n";
    struct {
        int v[4], w[2];
    } s = {{1, 2, 3, 4}, {5, 6}}, *there;
    int *out;

    rig_compile(&r, source, "k");
    out = rig_buffer(&r, 16 * sizeof *out);
    there = rig_buffer(&r, sizeof s);
    *there = s;
    rig_run_1d(&r, 2, 8);
    for (int i = 0; i < 16; i++) {
        int v0 = 1 + (i % 4 == 0 ? i : 0), v3 = 4 + (i % 4 == 3 ? i : 0);

        ck_assert_int_eq(out[i], v0 + 10 * v3 + 1000 * (5 + v0 + v3) + 5);
    }
    ck_assert_mem_eq(there, &s, sizeof s);
}
END_TEST

/* One that a layer's binding cannot give. */
START_TEST(layers_have_none)
{
    static const char source[] =
        "typedef struct { int a, b; } two;\n"
        "__kernel void k(__global int *o, two t) { o[0] = t.a; }\n";
    const kernel_source of = {.path = "k.cl", .entry = "k", .text = source};
    const kernel_compile_config cfg = {.hooks = &exec_hooks},
                                with = {.user.structures = true,
                                        .hooks = &exec_hooks};
    sim_kernel *k;
    vpu_error err;

    /* Whichever the cache has seen first. */
    ck_assert(!kernel_compile(&of, &with, r.arena, &k, &err));
    kernel_release(k);
    ck_assert_int_eq(kernel_compile(&of, &cfg, r.arena, &k, &err),
                     VPU_ERR_COMPILE);
    ck_assert(strstr(err.msg, "argument 't' of kernel 'k' is a structure"));
    ck_assert(!kernel_compile(&of, &with, r.arena, &k, &err));
    kernel_release(k);
}
END_TEST

/* n arguments, all added up. */
static const char *many(uint32_t n)
{
    str s = {.arena = r.arena};

    str_puts(&s, "__kernel void k(__global int *o");
    for (uint32_t i = 1; i < n; i++)
        str_printf(&s, ", int a%u", i);
    str_puts(&s, ") { o[get_global_id(0)] = 0");
    for (uint32_t i = 1; i < n; i++)
        str_printf(&s, " + %u * a%u", i, i);
    str_puts(&s, "; }\n");
    return str_text(&s);
}

START_TEST(many_arguments)
{
    int *out, want = 0;

    r.clean = false; /* it takes its time */
    rig_compile(&r, many(SIM_MAX_ARGS), "k");
    out = rig_buffer(&r, 16 * sizeof *out);
    for (int i = 1; i < SIM_MAX_ARGS; i++) {
        rig_int(&r, i);
        want += i * i;
    }
    rig_run_1d(&r, 1, 16);
    for (int i = 0; i < 16; i++)
        ck_assert_int_eq(out[i], want);
    ck_assert_int_eq(rig_try_compile(&r, many(SIM_MAX_ARGS + 1), "k"),
                     VPU_ERR_COMPILE);
    ck_assert(strstr(r.err.msg, "129 arguments, the limit is 128"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("arguments");
    TCase *t = tcase_create("arguments");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, members);
    tcase_add_test(t, copies);
    tcase_add_test(t, layers_have_none);
    tcase_add_test(t, many_arguments);
    suite_add_tcase(s, t);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
