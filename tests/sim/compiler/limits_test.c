/* Kernels that do not end, or not before the sun does: a limit of time and one
 * of cycles stop each of them, on both engines and under the checkers. A launch
 * that does not meet its limit runs until Check ends the test. VPU_SHOW=1 shows
 * the seconds of each; VPU_TIMED=1 (make nightly, on a quiet machine) allows
 * ALLOWED of them. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/rig.h"

/* n is 0 and m is -1 when it runs; out has 1024 words, t 256. */
static const char *const bodies[] = {
    "while (1) out[0]++;",
    "while (out[n] == n) { }",
    "for (;;) barrier(CLK_LOCAL_MEM_FENCE);",
    "for (uint i = 1; i != n; i += 2) out[0] += i;",
    "for (uint i = 1; i != n; i += 2) t[i & 63] += i;",
    "for (uint i = 0; i <= UINT_MAX; i++) out[i & 7] = i;",
    "for (uint i = 0; i <= m; i++) t[i & 7] = i;",
    "for (uint i = 0; i < m; i++) t[i & 7] ^= i;",
    "for (uint i = 0; i < m; i++) out[i & 1023] = i;",
    "for (uint i = m; i > n; i--) t[i & 7] ^= i;",
    "for (uint i = 0; i < m; i += 3) t[i & 7] ^= i;",
    "for (uint i = 2; i < m; i += 4) t[i & 7] ^= i;",
    "for (int i = 0; i >= 0; i = (i + 1) & 0x7fffffff) t[i & 7] ^= i;",
    "for (ulong i = 0; i < (ulong)m * m; i++) t[i & 7] ^= i;",
    "for (ulong i = 0; i < (ulong)m * m; i++) out[i & 7] ^= i;",
    "for (uint i = 0; i < 60000; i++) for (uint j = 0; j < 60000; j++) "
    "for (uint k = 0; k < 60000; k++) t[k & 7] ^= i + j;",
    "for (uint i = 0; i < m; i++) for (uint j = 0; j < m; j++) "
    "t[j & 7] ^= i * j;",
    "for (uint i = 0; i < m; i++) { if (t[i & 7] == 12345) break; t[1] = i; }",
    "for (uint i = 0; i < m; i++) { if (i == m - 1) return; t[1] ^= t[0] + i; "
    "}",
    "float x = 1.0f; for (uint i = 0; i < m; i++) x = x * 1.0001f + 0.5f; "
    "out[0] = (int)x;",
    "float x = 1.0f; for (uint i = 0; i < m; i++) x = sin(x) + i; "
    "out[0] = (int)x;",
    "uint x = 1; do { x = x * 1664525u + 1013904223u; } while (x != n); "
    "out[0] = x;",
    "uint x = 1; for (uint i = 0; i < m; i++) x = x / (i + 1u) + x % 7u + i; "
    "out[0] = x;",
    "l: t[0]++; goto l;",
    "uint i = 0; a: i++; if (i & 1) goto a; t[i & 3] = i; goto a;",
    "for (uint i = 0; i < m; i++) { switch (i & 3) { case 0: t[0]++; break; "
    "case 1: t[1]--; continue; default: t[2] ^= i; } t[3]++; }",
    "for (uint i = 0; i < m; i++) atomic_inc(out);",
    "for (uint i = 0; i < m; i++) atomic_inc(t);",
    "struct { int a[64]; } x, y; for (int k = 0; k < 64; k++) x.a[k] = k; "
    "for (uint i = 0; i < m; i++) { y = x; x.a[i & 63] = y.a[(i + 1) & 63]; } "
    "out[0] = x.a[3];",
    "for (uint i = 0; i < m; i++) { event_t e = async_work_group_copy(t, "
    "(const __local int *)0 == 0 ? (__global int *)out : "
    "(__global int *)out, 64, 0); wait_group_events(1, &e); }",
    "for (uint i = 0; i < m; i++) printf(\"%d\", i);",
    "half h = 1; for (uint i = 0; i < m; i++) h = h * (half)0.5f + (half)1; "
    "out[0] = (int)h;",
    "int4 v = (int4)(1); for (uint i = 0; i < m; i++) v = v.yzwx * v + "
    "(int4)(i); out[0] = v.x;",
    "for (ushort i = 0; i < 70000; i++) t[i & 7] = i;",
    "for (char i = 0; i < 1000; i++) t[i & 7] = i;",
    "for (uint i = 0, j = 10; i < j; i++, j++) t[i & 7] = j;",
    "uint a = 1, b = 2; while (a) { uint c = a; a = b; b = c; } out[0] = b;",
    "for (uint i = 0; i < 100; ) { t[i & 7] ^= 1; i += n; }",
    "for (uint i = 0; i < m; i++) { barrier(CLK_LOCAL_MEM_FENCE); t[1] = i; }",
    "for (uint i = 0; i < m; i++) out[(i * 97) & 1023] = out[i & 1023] + 1;",
};
enum { N_BODIES = sizeof bodies / sizeof *bodies };

typedef enum { TIME, CYCLES, N_LIMITS } limit;
typedef enum { COMPILED, INTERPRETED, CHECKED, N_WAYS } way;

/* Seconds. */
enum { ALLOWED = 5 };

static double seconds(void)
{
    struct timespec t;

    /* Of processors: what else runs on the machine does not count. */
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *text_of(rig *r, const char *body)
{
    return arena_printf(r->arena,
                        "__kernel void k(__global int *out, uint n, uint m,\n"
                        "                __local int *t)\n"
                        "{\n%s\n}\n",
                        body);
}

static void compile_checked(rig *r)
{
    static const sim_checking plain;
    const kernel_compile_config cfg = {.checking = &plain,
                                       .hooks = &check_hooks};
    const kernel_source source = {
        .path = arena_printf(r->arena, "%s/k.cl", r->dir), .entry = "k"};

    ck_assert_msg(
        !kernel_compile(&source, &cfg, r->arena, &r->checked[0], &r->err), "%s",
        r->err.msg);
}

static void set_up(rig *r, const char *body)
{
    rig_open(r);
    rig_compile(r, text_of(r, body), "k");
    compile_checked(r);
    rig_buffer(r, 4096);
    rig_int(r, 0);
    rig_int(r, -1);
    rig_local(r, 1024);
}

static vpu_status run(rig *r, way how, const uint32_t groups[3],
                      const uint32_t local[3], limit what)
{
    exec_launch l = {.name = "test",
                     .kernel = how == CHECKED ? r->checked[0] : r->kernel,
                     .values = r->values,
                     .how.n_shaves = 2,
                     .how.n_threads = 2,
                     .how.engine =
                         how == INTERPRETED ? EXEC_INTERPRETED : EXEC_COMPILED,
                     .how.timeout_s = what == TIME ? 0.2 : 0,
                     .how.max_cycles = what == CYCLES ? 2000000 : 0};
    check_config cfg = {.enabled = check_default()};
    check_session *s;
    vpu_status st;

    memcpy(l.groups, groups, sizeof l.groups);
    memcpy(l.local, local, sizeof l.local);
    if (how != CHECKED)
        return exec_run(r->mem, &r->desc, &l, &r->result, &r->err);
    ck_assert(!check_open(r->mem, &cfg, &s, &r->err));
    check_buffer(s, "out", 0, r->values[0].as.address, 4096, true);
    st = check_launch(s, &r->desc, &l, 0, &r->err);
    check_close(s);
    return st;
}

/* One launch, which must meet its limit; may_end: or end before. */
static void meet(rig *r, const char *body, const uint32_t groups[3],
                 const uint32_t local[3], int k, bool may_end)
{
    way how = (way)(k / N_LIMITS);
    limit what = (limit)(k % N_LIMITS);
    double begin = seconds(), took;
    vpu_status st = run(r, how, groups, local, what);

    took = seconds() - begin;
    ck_assert_msg(st == VPU_ERR_LIMIT || (!st && may_end),
                  "way %d, limit %d: status %d %s\n%s", how, what, st,
                  st ? r->err.msg : "", body);
    ck_assert_msg(
        !st || strstr(r->err.msg, what == TIME ? "--timeout" : "--max-cycles"),
        "%s", r->err.msg);
    ck_assert_msg(took < ALLOWED || !getenv("VPU_TIMED"),
                  "%g s: way %d, limit %d\n%s", took, how, what, body);
    if (getenv("VPU_SHOW"))
        printf("%5.2f s way %d limit %d: %s\n", took, how, what, body);
}

/* Every body, every way, both limits. */
START_TEST(hanging)
{
    rig r;

    set_up(&r, bodies[_i]);
    for (int k = 0; k < N_WAYS * N_LIMITS; k++)
        meet(&r, bodies[_i], (uint32_t[]){2, 1, 1}, (uint32_t[]){1, 1, 1}, k,
             false);
    rig_close(&r);
}
END_TEST

/* Groups of very many items, and very many groups. Some of them LLVM computes
 * without going through the items, so that they end. */
static const struct {
    const char *body;
    uint32_t groups[3], local[3];
} large[] = {
    {"out[get_local_id(0) & 7] = 1;", {1, 1, 1}, {UINT32_MAX, 1, 1}},
    {"t[get_local_id(0) & 7] = 1;", {1, 1, 1}, {1 << 16, 1 << 14, 2}},
    {"t[get_local_id(0) & 7] = 1; barrier(CLK_LOCAL_MEM_FENCE); out[1] = t[1];",
     {1, 1, 1},
     {1, UINT32_MAX, 1}},
    {"if (get_local_id(0) == 77) out[0] = 1;", {1, 1, 1}, {UINT32_MAX, 1, 1}},
    {"out[1] = 1;", {UINT32_MAX, 1, 1}, {1, 1, 1}},
    {"", {UINT32_MAX, 1, 1}, {1, 1, 1}},
    {"", {1, 1, 1}, {UINT32_MAX, 1, 1}},
    {"out[1] = 1;", {1 << 12, 1 << 12, 1 << 7}, {1, 1, 1}},
};
enum { N_LARGE = sizeof large / sizeof *large };

START_TEST(very_many)
{
    const uint32_t *local = large[_i].local;
    rig r;

    set_up(&r, large[_i].body);
    for (int k = 0; k < N_WAYS * N_LIMITS; k++)
        meet(&r, large[_i].body, large[_i].groups, local, k,
             local[0] > 1 || local[1] > 1);
    rig_close(&r);
}
END_TEST

/* Limits that are not met change nothing. */
START_TEST(not_met)
{
    int *out;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                "__kernel void k(__global int *out, uint n)\n{\n"
                "    int x = 0;\n"
                "    for (uint i = 0; i < n; i++) x = x * 3 + i;\n"
                "    out[get_global_id(0)] = x;\n}\n",
                "k");
    out = rig_buffer(&r, 64);
    rig_int(&r, 200000);
    r.max_cycles = 100000000;
    r.timeout_s = 60;
    rig_run_1d(&r, 2, 8);
    {
        unsigned x = 0;

        for (unsigned i = 0; i < 200000; i++)
            x = x * 3 + i;
        for (int i = 0; i < 16; i++)
            ck_assert_int_eq(out[i], (int)x);
    }
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("limits");
    TCase *c = tcase_create("limits");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, hanging, 0, N_BODIES);
    tcase_add_loop_test(c, very_many, 0, N_LARGE);
    tcase_add_test(c, not_met);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
