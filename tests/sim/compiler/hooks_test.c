/* Tables of hooks: each has what the code it is for may call, and a table that
 * has not is refused before anything runs. */
#include <check.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check/check.h"
#include "sim/check/order.h"
#include "sim/exec/exec.h"

/* --- the hooks there are ------------------------------------------------- */

static const struct {
    const char *name;
    unsigned who;
    size_t at;
} hooks[] = {
#define HOOK(who, returns, name, parameters) \
    {#name, SIM_HOOKS_##who, offsetof(sim_hooks, name)},
#include "sim/compiler/abi/hooks.def"
#undef HOOK
};
enum { N_HOOKS = sizeof hooks / sizeof *hooks };

static void *entry(const sim_hooks *h, int i)
{
    void *p;

    memcpy(&p, (const char *)h + hooks[i].at, sizeof p);
    return p;
}

static sim_hooks without(const sim_hooks *h, int i)
{
    sim_hooks less = *h;

    memset((char *)&less + hooks[i].at, 0, sizeof(void *));
    return less;
}

/* --- the code that calls them -------------------------------------------- */

static const sim_debug lines = {.lines = true}, for_gdb = {.lines = false};
static const sim_checking everything = {.nan = true}, tainted = {.taint = true},
                          orders = {.barriers = true};

static const struct {
    const char *name;
    const sim_hooks *table;
    const sim_debug *debug;
    const sim_checking *checking;
    unsigned who;
} codes[] = {
    {"ordinary", &exec_hooks, NULL, NULL, SIM_HOOKS_EVERY},
    {"lines", &exec_hooks, &lines, NULL, SIM_HOOKS_EVERY | SIM_HOOKS_LINES},
    {"gdb", &exec_hooks, &for_gdb, NULL, SIM_HOOKS_EVERY},
    {"checked", &check_hooks, NULL, &everything,
     SIM_HOOKS_EVERY | SIM_HOOKS_ORDERS | SIM_HOOKS_CHECKS},
    {"tainted", &check_hooks, NULL, &tainted,
     SIM_HOOKS_EVERY | SIM_HOOKS_ORDERS | SIM_HOOKS_CHECKS},
    {"orders", &order_hooks, NULL, &orders, SIM_HOOKS_EVERY | SIM_HOOKS_ORDERS},
};
enum { N_CODES = sizeof codes / sizeof *codes };

/* Something of everything: copies and waits, barriers, structures copied whole,
 * arrays with first values, divisions, atomics, conversions, printf. */
static const char source[] =
    "typedef struct { float a[20]; int n; } box;\n"
    "__kernel void k(__global float *out, __global const float *in, int n)\n"
    "{\n"
    "    __local float t[32];\n"
    "    __local int count;\n"
    "    float w[5] = {1, 2, 3, 4, 5};\n"
    "    int i = get_global_id(0), l = get_local_id(0), never;\n"
    "    box x = {{0}}, y;\n"
    "    event_t e = async_work_group_copy(t, in, 16, 0);\n"
    "    e = async_work_group_copy(t + 16, in, 16, e);\n"
    "    wait_group_events(1, &e);\n"
    "    if (l == 0) count = 0;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    x.n = i / n; x.a[l % 20] = in[i]; y = x;\n"
    "    atomic_inc(&count); atomic_cmpxchg(&count, 3, 4);\n"
    "    if (n > 1000) printf(\"%d\\n\", never);\n"
    "    out[i] = y.a[i % 20] + w[i % 5] + t[31 - l] + (1 << (n & 7)) +\n"
    "             convert_int(in[i]) + (float)(half)in[i];\n"
    "}\n";

static vpu_status compile(int code, const sim_hooks *table, vpu_error *err)
{
    kernel_compile_config cfg = {.user.no_cache = true,
                                 .debug = codes[code].debug,
                                 .checking = codes[code].checking,
                                 .hooks = table};
    const kernel_source of = {
        .path = "<test>/k.cl", .entry = "k", .text = source};
    arena *a = arena_create(0);
    sim_kernel *k = NULL;
    vpu_status st = kernel_compile(&of, &cfg, a, &k, err);

    kernel_release(k);
    arena_destroy(a);
    return st;
}

/* --- tests --------------------------------------------------------------- */

START_TEST(the_table_has_what_its_code_calls)
{
    vpu_error err;

    for (int i = 0; i < N_HOOKS; i++)
        ck_assert_msg(!(hooks[i].who & codes[_i].who) ||
                          entry(codes[_i].table, i) != NULL,
                      "%s: no hook '%s'", codes[_i].name, hooks[i].name);
    ck_assert_msg(!compile(_i, codes[_i].table, &err), "%s: %s", codes[_i].name,
                  err.msg);
}
END_TEST

/* One hook less: code that calls it is refused, with its name. Code that links
 * without it does not call it, so that `who` in the list is right. */
START_TEST(a_table_with_a_hole_is_refused)
{
    for (int i = 0; i < N_HOOKS; i++) {
        sim_hooks less = without(codes[_i].table, i);
        bool called = hooks[i].who & codes[_i].who;
        vpu_error err = {.msg = ""};
        vpu_status st = compile(_i, &less, &err);

        ck_assert_msg((st != VPU_OK) == called, "%s without '%s': %s",
                      codes[_i].name, hooks[i].name, err.msg);
        if (!called)
            continue;
        ck_assert_int_eq(st, VPU_ERR_INTERNAL);
        ck_assert_msg(strstr(err.msg, hooks[i].name) != NULL, "%s: %s",
                      hooks[i].name, err.msg);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("hooks");
    TCase *c = tcase_create("tables");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, the_table_has_what_its_code_calls, 0, N_CODES);
    tcase_add_loop_test(c, a_table_with_a_hole_is_refused, 0, N_CODES);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
