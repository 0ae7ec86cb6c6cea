/* Profiles by source line: figures reckoned by hand, and for all kinds of
 * kernels that no cycle is lost (rig_check_profile, with every run here). */
#include <check.h>
#include <string.h>

#include "tests/support/rig.h"

static rig r;

static void setup(void)
{
    rig_open(&r);
}

static void teardown(void)
{
    rig_close(&r);
}

/* The launch again, counted by line; the buffers are as the first run left
 * them. */
static exec_profile profile_of(uint32_t groups, uint32_t local)
{
    exec_profile p;
    exec_result result;
    rig_keeper keeper = {&p, r.arena};
    const exec_observer observer = rig_profiler(&keeper);
    const exec_observer *const list = &observer;
    exec_launch l = {.name = "profiled",
                     .kernel = r.kernel,
                     .values = r.values,
                     .groups = {groups, 1, 1},
                     .local = {local, 1, 1},
                     .how.n_shaves = r.n_shaves,
                     .how.engine = EXEC_INTERPRETED,
                     .how.n_threads = r.n_threads,
                     .how.order = r.order,
                     .how.seed = r.seed,
                     .observers = &list,
                     .n_observers = 1};
    vpu_status st = exec_run(r.mem, &r.desc, &l, &result, &r.err);

    ck_assert_msg(!st, "%s", r.err.msg);
    rig_check_profile(&p, &result.profile, r.n_shaves);
    r.result = result;
    return p;
}

static exec_profile_row row(const exec_profile *p, mach_phase phase,
                            uint32_t line)
{
    for (uint32_t k = 0; k < p->n; k++)
        if (p->rows[k].place == EXEC_AT_LINE && p->rows[k].phase == phase &&
            p->rows[k].line == line)
            return p->rows[k];
    return (exec_profile_row){.place = EXEC_AT_LINE};
}

static uint64_t at_place(const exec_profile *p, exec_place place,
                         mach_phase phase)
{
    uint64_t n = 0;

    for (uint32_t k = 0; k < p->n; k++)
        for (int c = 0; c < MACH_N_CAUSES; c++)
            if (p->rows[k].place == place && p->rows[k].phase == phase)
                n += p->rows[k].cycles[c];
    return n;
}

/* An observer whose needs the launch does not meet: nothing runs. */
START_TEST(needs_that_are_not_met)
{
    exec_profile p;
    exec_result result;
    rig_keeper keeper = {&p, r.arena};
    const exec_observer observer = rig_profiler(&keeper);
    const exec_observer *const list = &observer;
    int *out;

    rig_compile(&r, "kernel void k(global int *a) { a[get_global_id(0)] = 7; }",
                "k");
    out = rig_buffer(&r, 16 * sizeof *out);
    memset(out, 0, 16 * sizeof *out);
    for (int k = 0; k < 3; k++) {
        exec_launch l = {.name = "refused",
                         .kernel = r.kernel,
                         .values = r.values,
                         .groups = {1, 1, 1},
                         .local = {16, 1, 1},
                         .how.n_shaves = 1,
                         .how.engine =
                             k == 0 ? EXEC_COMPILED : EXEC_INTERPRETED,
                         .how.timing = k == 1 ? EXEC_NO_TIMING : EXEC_FLOWS,
                         .how.n_threads = 1,
                         .observers = &list,
                         .n_observers = 1};
        vpu_status st = exec_run(r.mem, &r.desc, &l, &result, &r.err);

        ck_assert_int_eq(st, k < 2 ? VPU_ERR_INVALID : VPU_OK);
        ck_assert_int_eq(out[0], k < 2 ? 0 : 7);
    }
}
END_TEST

/* --- by hand ------------------------------------------------------------- */

/* Lines 4 apart by 4 KiB: each a fill from DDR; they compete for one set of L1
 * and have a set of L2 each, so line 6 finds a[0] in L2. */
static const char loads_cl[] = "__kernel void k(__global const int *a,\n"
                               "                __global int *b, int n)\n"
                               "{   int s = 0; for (int i = 0; i < n; i++)\n"
                               "        s += a[i * 1024];\n"
                               "    b[0] = s;\n"
                               "    b[1] = a[0] + 1;\n"
                               "}\n";

START_TEST(loads_by_level)
{
    exec_profile p;
    exec_profile_row ddr, stored, l2;

    rig_compile(&r, loads_cl, "k");
    rig_buffer(&r, 8 * 4096);
    rig_buffer(&r, 64);
    rig_int(&r, 8);
    p = profile_of(1, 1);
    ddr = row(&p, MACH_COMP, 4);
    stored = row(&p, MACH_COMP, 5);
    l2 = row(&p, MACH_COMP, 6);
    ck_assert_uint_eq(ddr.cycles[MACH_CAUSE_DDR], 8 * r.desc.ddr_load_stall);
    ck_assert_uint_eq(ddr.cycles[MACH_CAUSE_L2], 0);
    ck_assert_uint_eq(ddr.load_bytes, 32);
    ck_assert_uint_eq(ddr.executions, 8);
    ck_assert_uint_ge(ddr.cycles[MACH_CAUSE_ISSUE], 8);
    ck_assert_uint_eq(stored.store_bytes, 4);
    ck_assert_uint_eq(stored.load_bytes, 0);
    ck_assert_uint_eq(stored.executions, 1);
    ck_assert_uint_eq(l2.cycles[MACH_CAUSE_DDR], 0);
    ck_assert_uint_eq(l2.cycles[MACH_CAUSE_L2], r.desc.l2_hit_stall);
    ck_assert_uint_eq(l2.load_bytes, 4);
    ck_assert_uint_eq(l2.store_bytes, 4);
    /* The last SHAVE has the group, the others nothing but their start. */
    ck_assert_uint_eq(at_place(&p, EXEC_AT_IDLE, 0),
                      2 * (r.result.profile.cycles - r.desc.layer_fixed) -
                          r.desc.shave_start);
    ck_assert_uint_eq(at_place(&p, EXEC_AT_DISPATCH, 0),
                      3 * (r.desc.layer_fixed + r.desc.shave_start) +
                          r.desc.wg_dispatch);
}
END_TEST

/* Lines that stall alike share what both stalled: of an odd number of cycles
 * the first line, not the first access, has the smaller half. Sixteen stores to
 * lines of their own hold three entries for a third of their time each, less
 * what the code takes meanwhile; of the two machines one has an odd rest. */
START_TEST(shares_go_by_line)
{
    rig_compile(&r,
                "void put(__global int *p, int x)\n"
                "{   *p = x;\n"
                "}\n"
                "__kernel void k(__global int *b)\n"
                "{   for (int n = 0; n < 8; n++) {\n"
                "        b[n * 64] = n;\n"
                "        put(b + n * 64 + 32, n); }\n"
                "}\n",
                "k");
    rig_buffer(&r, 8 * 256);
    r.n_shaves = 1;
    r.desc.store_buffer = 3;
    for (int n = 0; n < 4; n++) {
        uint64_t held = n & 1 ? 1072 : 1067, rest;
        exec_profile p;

        r.desc.ddr_load_stall = n & 1 ? 201 : 200; /* 16 times, a third of it */
        p = profile_of(1, 1);
        rest = held - r.result.profile.by_cause[0][MACH_CAUSE_ISSUE];
        ck_assert_uint_eq(row(&p, MACH_COMP, 2).cycles[MACH_CAUSE_STORE],
                          rest / 2);
        ck_assert_uint_eq(row(&p, MACH_COMP, 6).cycles[MACH_CAUSE_STORE],
                          rest - rest / 2);
    }
}
END_TEST

/* What does not change in a loop is loaded once before it, but is of its line.
 */
START_TEST(loads_moved_out_of_loops)
{
    exec_profile p;

    rig_compile(&r,
                "__kernel void k(__global const int *restrict a,\n"
                "                __global int *restrict b, int n)\n"
                "{\n"
                "    for (int i = 0; i < n; i++) {\n"
                "        b[i] = i;\n"
                "        b[i] ^=\n"
                "            a[7]; }\n"
                "}\n",
                "k");
    rig_buffer(&r, 64);
    rig_buffer(&r, 256);
    rig_int(&r, 64);
    r.n_shaves = 1;
    p = profile_of(1, 1);
    ck_assert_uint_eq(row(&p, MACH_COMP, 7).load_bytes, 4);
    ck_assert_uint_eq(row(&p, MACH_COMP, 7).executions, 1);
    ck_assert_uint_eq(row(&p, MACH_COMP, 7).cycles[MACH_CAUSE_DDR],
                      r.desc.ddr_load_stall);
}
END_TEST

/* A loop over items, software-pipelined: each line as often as there are items,
 * however prologue, kernel and epilogue share them. */
START_TEST(executions_in_pipelined_loops)
{
    uint32_t local = (uint32_t)_i;
    exec_profile p;

    rig_compile(&r,
                "__kernel void k(__global const float *restrict a,\n"
                "                __global float *restrict b)\n"
                "{   int i = get_global_id(0);\n"
                "    float x = a[i];\n"
                "    b[i] = x * x + 1.0f;\n"
                "}\n",
                "k");
    rig_buffer(&r, 4 * 3 * local);
    rig_buffer(&r, 4 * 3 * local);
    p = profile_of(3, local);
    ck_assert_uint_eq(row(&p, MACH_COMP, 4).executions,
                      3 * local / r.result.factor);
    ck_assert_uint_eq(row(&p, MACH_COMP, 5).executions,
                      3 * local / r.result.factor);
    ck_assert_uint_eq(row(&p, MACH_COMP, 4).load_bytes, 12 * local);
    ck_assert_uint_eq(row(&p, MACH_COMP, 5).store_bytes, 12 * local);
    ck_assert_uint_eq(row(&p, MACH_COMP, 5).cycles[MACH_CAUSE_DDR], 0);
}
END_TEST

/* Both copies are waited for in turn; the wait that finds nothing left to wait
 * for costs nothing. */
START_TEST(copies_and_their_waits)
{
    exec_profile p;
    uint64_t waits;

    rig_compile(&r,
                "__kernel void k(__global const float *a, __global float *b,\n"
                "                __local float *l)\n"
                "{   event_t e = async_work_group_copy(l, a, 1024, 0);\n"
                "    event_t f = async_work_group_copy(l + 1024, a, 16, 0);\n"
                "    wait_group_events(1, &e);\n"
                "    b[0] = l[0];\n"
                "    wait_group_events(1, &f);\n"
                "    b[1] = l[1024];\n"
                "    event_t g = async_work_group_copy(b + 16, l, 512, 0);\n"
                "    wait_group_events(1, &g); b[2] = 1;\n"
                "}\n",
                "k");
    rig_buffer(&r, 4096);
    rig_buffer(&r, 4096);
    rig_local(&r, 8192);
    r.n_shaves = 1;
    p = profile_of(1, 1);
    for (uint32_t line = 3; line < 10; line++) {
        exec_profile_row x = row(&p, MACH_COMP, line);
        bool copy = line == 3 || line == 4 || line == 9;

        ck_assert_uint_eq(x.cycles[MACH_CAUSE_DMA_SETUP],
                          copy ? r.desc.dma_setup : 0);
        ck_assert_uint_eq(x.dma_bytes, line == 3   ? 4096
                                       : line == 4 ? 64
                                       : line == 9 ? 2048
                                                   : 0);
    }
    waits = row(&p, MACH_COMP, 5).cycles[MACH_CAUSE_DMA_WAIT] +
            row(&p, MACH_COMP, 10).cycles[MACH_CAUSE_DMA_WAIT];
    /* The transfer, less what the SHAVE did meanwhile. */
    ck_assert_uint_ge(row(&p, MACH_COMP, 5).cycles[MACH_CAUSE_DMA_WAIT] +
                          r.desc.dma_setup +
                          r.result.profile.by_cause[0][MACH_CAUSE_ISSUE],
                      4096 / r.desc.dma_bus_bytes);
    ck_assert_uint_gt(row(&p, MACH_COMP, 5).cycles[MACH_CAUSE_DMA_WAIT], 0);
    ck_assert_uint_gt(row(&p, MACH_COMP, 10).cycles[MACH_CAUSE_DMA_WAIT], 0);
    ck_assert_uint_eq(waits, r.result.profile.by_cause[0][MACH_CAUSE_DMA_WAIT]);
}
END_TEST

START_TEST(phases_and_functions)
{
    static const char source[] =
        "float square(float x)\n"
        "{\n"
        "    return x * x;\n"
        "}\n"
        "__kernel void k(__global const float *a, __global float *b,\n"
        "                __local float *in, __local float *out)\n"
        "{\n"
        "    int i = get_local_id(0);\n"
        "    out[i] = square(in[i]);\n"
        "}\n"
        "__kernel void __dma_preload_k(__global const float *a,\n"
        "    __global float *b, __local float *in, __local float *out)\n"
        "{\n"
        "    WorkGroupDmaCreateTransaction(a, in, 16384, 0);\n"
        "}\n"
        "__kernel void __dma_postwrite_k(__global const float *a,\n"
        "    __global float *b, __local float *in, __local float *out)\n"
        "{\n"
        "    WorkGroupDmaCreateTransaction(out, b, 16384, 0);\n"
        "}\n";
    exec_profile p;

    rig_compile(&r, source, "k");
    rig_buffer(&r, 16384);
    rig_buffer(&r, 16384);
    rig_local(&r, 16384);
    rig_local(&r, 16384);
    p = profile_of(7, 64);
    ck_assert_uint_eq(row(&p, MACH_PRE, 14).cycles[MACH_CAUSE_DMA_SETUP],
                      7 * r.desc.dma_setup);
    ck_assert_uint_eq(row(&p, MACH_POST, 19).cycles[MACH_CAUSE_DMA_SETUP],
                      7 * r.desc.dma_setup);
    ck_assert_uint_gt(at_place(&p, EXEC_AT_PHASE_WAIT, MACH_COMP), 0);
    ck_assert_uint_gt(at_place(&p, EXEC_AT_PHASE_WAIT, MACH_N_PHASES), 0);
    /* The innermost frame: the multiplication, not its call. */
    ck_assert_uint_gt(row(&p, MACH_COMP, 3).executions, 0);
    ck_assert_uint_eq(row(&p, MACH_COMP, 14).executions, 0);
}
END_TEST

/* --- all kinds ----------------------------------------------------------- */

static const struct {
    const char *what, *source;
} kinds[] = {
    {"barriers and values kept across them",
     "__kernel void k(__global int *a, __global int *b, __local int *l)\n"
     "{   int i = get_local_id(0), x = a[get_global_id(0)];\n"
     "    l[i] = x;\n"
     "    barrier(CLK_LOCAL_MEM_FENCE);\n"
     "    x += l[get_local_size(0) - 1 - i];\n"
     "    barrier(CLK_LOCAL_MEM_FENCE);\n"
     "    b[get_global_id(0)] = x;\n"
     "}\n"},
    {"printf",
     "__kernel void k(__global int *a, __global int *b, __local int *l)\n"
     "{   int i = get_global_id(0);\n"
     "    if (i % 5 == 0)\n"
     "        printf(\"%d: %d\\n\", i, a[i]);\n"
     "    b[i] = i;\n"
     "}\n"},
    {"scattered accesses under contention",
     "__kernel void k(__global int *a, __global int *b, __local int *l)\n"
     "{   int i = get_global_id(0);\n"
     "    for (int n = 0; n < 20; n++)\n"
     "        b[(i * 67 + n * 1031) & 4095] = a[(i * 1033 + n * 259) & 4095];\n"
     "}\n"},
    {"stores more than the buffer takes",
     "__kernel void k(__global int *a, __global int *b, __local int *l)\n"
     "{   int i = get_global_id(0);\n"
     "    for (int n = 0; n < 64; n++)\n"
     "        b[(i * 16 + n * 64) & 4095] = n;\n"
     "}\n"},
    {"atomics",
     "__kernel void k(__global int *a, __global int *b, __local int *l)\n"
     "{   atomic_add(&b[get_global_id(0) & 3], 2);\n"
     "    atomic_inc(l);\n"
     "}\n"},
    {"copies, and code between them",
     "__kernel void k(__global int *a, __global int *b, __local int *l)\n"
     "{   for (int n = 0; n < 6; n++) {\n"
     "        event_t e = async_work_group_copy(l, a + n * 64, 64, 0);\n"
     "        if (n & 1) b[n] = a[n * 100];\n"
     "        wait_group_events(1, &e);\n"
     "        e = async_work_group_copy(b + n * 64, l, 64, 0);\n"
     "        wait_group_events(1, &e);\n"
     "    }\n"
     "}\n"},
    {"division, 64 bits, a structure moved",
     "struct big { long x[12]; };\n"
     "__kernel void k(__global int *a, __global int *b, __local int *l)\n"
     "{   int i = get_global_id(0);\n"
     "    if (i == 0)\n"
     "        ((__global struct big *)b)[1] = ((__global struct big *)a)[2];\n"
     "    b[i + 100] = (int)((long)a[i] * 12345 / (a[i] + 3));\n"
     "}\n"},
};

/* On 1 and on 3 SHAVEs, in two orders, for one and for two threads the same. */
START_TEST(nothing_is_lost)
{
    exec_profile p[2];
    int32_t *a;

    rig_compile(&r, kinds[_i].source, "k");
    a = rig_buffer(&r, 4 * 4096);
    rig_buffer(&r, 4 * 4096);
    rig_local(&r, 1024);
    for (int k = 0; k < 4096; k++)
        a[k] = (int32_t)(rig_noise((uint64_t)k) & 0xffff);
    for (r.n_shaves = 1; r.n_shaves <= 3; r.n_shaves += 2)
        for (int order = 0; order < 2; order++) {
            r.order = order ? EXEC_RANDOM : EXEC_SEQUENTIAL;
            for (int k = 0; k < 2; k++) {
                r.n_threads = 1 + (uint32_t)k;
                p[k] = profile_of(11, 16);
            }
            ck_assert_uint_eq(p[0].n, p[1].n);
            for (uint32_t k = 0; k < p[0].n; k++)
                ck_assert_mem_eq(p[0].rows[k].cycles, p[1].rows[k].cycles,
                                 sizeof p[0].rows[k].cycles);
        }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("profile");
    TCase *c = tcase_create("profile");
    SRunner *run = srunner_create(s);
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, loads_by_level);
    tcase_add_test(c, needs_that_are_not_met);
    tcase_add_test(c, shares_go_by_line);
    tcase_add_test(c, loads_moved_out_of_loops);
    tcase_add_loop_test(c, executions_in_pipelined_loops, 1, 66);
    tcase_add_test(c, copies_and_their_waits);
    tcase_add_test(c, phases_and_functions);
    tcase_add_loop_test(c, nothing_is_lost, 0, sizeof kinds / sizeof *kinds);
    suite_add_tcase(s, c);
    srunner_run_all(run, CK_NORMAL);
    failed = srunner_ntests_failed(run);
    srunner_free(run);
    return failed != 0;
}
