/* Programs of compiled kernels are read from files: one that is well formed but
 * asks for what is not there is refused before it runs. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/rig.h"

static rig r;

static void setup(void)
{
    rig_open(&r);
    r.both_engines = false;
}

static void teardown(void)
{
    rig_close(&r);
}

static isa_function *decode(const sim_kernel *k, uint32_t *n)
{
    isa_memory mem = {arena_bytes, r.arena};
    isa_function *fs;

    ck_assert(!isa_decode(k->program, k->program_bytes, &mem, &fs, n));
    return fs;
}

static void encode(sim_kernel *k, const isa_function *fs, uint32_t n)
{
    size_t size = isa_encode(fs, n, NULL, 0);
    uint8_t *bytes = arena_push(r.arena, size, 1, 1);

    isa_encode(fs, n, bytes, size);
    k->program = bytes;
    k->program_bytes = size;
}

/* The first load of an argument of that area in any function reads at `imm`. */
static void move_load(sim_kernel *k, isa_area area, int32_t imm)
{
    uint32_t n, moved = 0;
    isa_function *fs = decode(k, &n);

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < fs[i].n_instrs && !moved; j++)
            if (fs[i].instrs[j].op == ISA_OP_ldarg &&
                fs[i].instrs[j].sub == area) {
                fs[i].instrs[j].imm = imm;
                moved++;
            }
    ck_assert_uint_eq(moved, 1);
    encode(k, fs, n);
}

/* All functions call `to` where they call `from`. */
static void rename_callee(sim_kernel *k, const char *from, const char *to)
{
    uint32_t n, renamed = 0;
    isa_function *fs = decode(k, &n);

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < fs[i].n_callees; j++)
            if (!strcmp(fs[i].callees[j], from)) {
                fs[i].callees[j] = to;
                renamed++;
            }
    ck_assert_uint_gt(renamed, 0);
    encode(k, fs, n);
}

static vpu_status interpret(void)
{
    exec_launch l = {.name = "test",
                     .kernel = r.kernel,
                     .values = r.values,
                     .groups = {2, 1, 1},
                     .local = {4, 1, 1},
                     .how.n_shaves = 1,
                     .how.n_threads = 1,
                     .how.engine = EXEC_INTERPRETED};

    return exec_run(r.mem, &r.desc, &l, &r.result, &r.err);
}

/* Two arguments of 4 bytes each, in a block of 16. */
static const struct {
    isa_area area;
    int32_t imm;
    vpu_status st;
} loads[] = {
    {ISA_ARGS, 12, VPU_OK},
    {ISA_ARGS, 13, VPU_ERR_PARSE},
    {ISA_ARGS, 16, VPU_ERR_PARSE},
    {ISA_ARGS, INT32_MAX, VPU_ERR_PARSE},
    {ISA_GROUP, INT32_MAX - 3, VPU_ERR_PARSE},
    {ISA_GROUP, 1 << 20, VPU_ERR_PARSE},
};

START_TEST(arguments_that_are_not_there)
{
    rig_compile(&r,
                "__kernel void k(__global int *d, int n)\n"
                "{\n"
                "    d[get_global_id(0)] = n + (int)get_group_id(0);\n"
                "}\n",
                "k");
    rig_buffer(&r, 64);
    rig_int(&r, 3);
    ck_assert_uint_eq(r.kernel->args_bytes, 16);
    ck_assert_msg(!interpret(), "%s", r.err.msg);
    move_load(r.kernel, loads[_i].area, loads[_i].imm);
    if (loads[_i].st)
        ck_assert_int_eq(interpret(), loads[_i].st);
    else /* what is there is no argument: the stores fault, or go elsewhere */
        ck_assert_int_ne(interpret(), VPU_ERR_PARSE);
    if (loads[_i].st)
        ck_assert_msg(strstr(r.err.msg, "ldarg of byte") != NULL, "%s",
                      r.err.msg);
}
END_TEST

/* Names of calls: those that programs have, and others. */
static const struct {
    const char *name;
    vpu_status st;
} calls[] = {
    {"atomic.add.global", VPU_OK},
    {"atomic.cmpxchg.local", VPU_OK},
    {"i64.mul", VPU_OK},
    {"__vpu_exp_f32", VPU_OK},
    {"__vpu_half_z", VPU_OK},
    {"__vpu_wait", VPU_OK},
    {"", VPU_ERR_INTERNAL},
    {"__vpu_", VPU_ERR_INTERNAL},
    {"__vpu_nosuch", VPU_ERR_INTERNAL},
    {"__vpu_half_q", VPU_ERR_INTERNAL},
    {"__vpu_exp_f64", VPU_ERR_INTERNAL},
    {"exp", VPU_ERR_INTERNAL},
    /* Calls that no finished program has. */
    {"__vpu_barrier", VPU_ERR_INTERNAL},
    {"__vpu_lid0", VPU_ERR_INTERNAL},
    {"__vpu_udiv", VPU_ERR_INTERNAL},
    {"__vpu_check.as1", VPU_ERR_INTERNAL},
    {"__vpu_undef.0", VPU_ERR_INTERNAL},
    {"__vpu_async_copy", VPU_ERR_INTERNAL},
    {"i64.mull", VPU_ERR_INTERNAL},
    {"atomic.", VPU_ERR_INTERNAL},
    {"atomic.add", VPU_ERR_INTERNAL},
    {"atomic.addd.global", VPU_ERR_INTERNAL},
    {"atomic.add.nowhere", VPU_ERR_INTERNAL},
};

START_TEST(calls_that_are_not_there)
{
    char text[128];

    rig_compile(&r,
                "__kernel void k(__global int *d)\n"
                "{\n"
                "    atomic_xchg(d + get_global_id(0), 5);\n"
                "}\n",
                "k");
    rig_buffer(&r, 64);
    ck_assert_msg(!interpret(), "%s", r.err.msg);
    rename_callee(r.kernel, "atomic.xchg.global", calls[_i].name);
    ck_assert_int_eq(interpret(), calls[_i].st);
    if (calls[_i].st) {
        snprintf(text, sizeof text, "the interpreter has no routine '%s'",
                 calls[_i].name);
        ck_assert_msg(strstr(r.err.msg, text) != NULL, "%s", r.err.msg);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("damaged programs");
    TCase *c = tcase_create("damaged");
    SRunner *sr = srunner_create(s);
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, arguments_that_are_not_there, 0,
                        sizeof loads / sizeof *loads);
    tcase_add_loop_test(c, calls_that_are_not_there, 0,
                        sizeof calls / sizeof *calls);
    suite_add_tcase(s, c);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
