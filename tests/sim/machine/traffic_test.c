/* Counters of who moves what, as a trace has them, against what the launch
 * moved. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/machine/engine.h"
#include "visualizer/load.h"

enum { MANY = 100, SHAVES = 2 };

static mach_desc desc;
static arena *mem;
static tl_timeline tl;
static char path[] = "/tmp/vpu-traffic-XXXXXX";
static mach_buffer tensors[MANY];
static char names[MANY][32];
static const char *format; /* of the names */
static bool transactions;

static void setup(void)
{
    vpu_error err;
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    close(fd);
    mem = arena_create(0);
    ck_assert_int_eq(mach_desc_load(NULL, mem, &desc, &err), VPU_OK);
}

static void teardown(void)
{
    unlink(path);
    arena_destroy(mem);
}

/* Tensor i has 4096 bytes and moves 32 * (i + 1) of them: in by the first
 * SHAVE, out by the second. */
static vpu_status give_all(void *user, mach_queue *q, uint32_t n, vpu_error *e)
{
    (void)user;
    (void)e;
    for (uint32_t s = 0; s < n; s++) {
        mach_queue_push(&q[s], MACH_STEP_GROUP)->id = s;
        mach_queue_push(&q[s], MACH_STEP_PHASE)->id = MACH_COMP;
        for (uint32_t i = 0; i < MANY; i++) {
            uint32_t bytes = 32 * (i + 1);

            mach_queue_push(&q[s], MACH_STEP_DMA)->detail.dma =
                (mach_transfer){.bytes = bytes,
                                .lines = 1,
                                .to_cmx = !s,
                                .ddr = {.addr = 4096 * (i + 1),
                                        .bytes = bytes,
                                        .width = bytes,
                                        .planes = 1}};
        }
        /* One more, which lies in no tensor; one that nobody knows where. */
        for (int k = 0; k < 2; k++)
            mach_queue_push(&q[s], MACH_STEP_DMA)->detail.dma = (mach_transfer){
                .bytes = 64,
                .lines = 1,
                .to_cmx = !s,
                .ddr = {.addr = 64, .bytes = k ? 64 : 0, .width = 64, 0, 1}};
        mach_queue_push(&q[s], MACH_STEP_WAIT)->id = MANY + 2;
        q[s].ended = true;
    }
    return VPU_OK;
}

static void name_all(uint32_t launch)
{
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], format, i, launch);
        tensors[i] = (mach_buffer){
            .name = names[i], .place = 4096 * (i + 1), .bytes = 4096};
    }
}

static uint64_t run(uint32_t n_launches, trc_level level)
{
    trc_writer *w;
    vpu_error err;
    uint64_t bytes = 0, clock = 0;
    trc_config cfg = {.level = level, .clk_mhz = (uint32_t)desc.clk_mhz};

    ck_assert(!trc_writer_create(&cfg, &w, &err));
    ck_assert(!trc_writer_add(w, TRC_PERFETTO, path, &err));
    for (uint32_t k = 0; k < n_launches; k++) {
        mach_launch l = {.name = "test",
                         .n_shaves = SHAVES,
                         .n_groups = SHAVES,
                         .buffers = tensors,
                         .n_buffers = MANY,
                         .refill = give_all,
                         .transactions = transactions,
                         .start_cycle = clock};
        mach_profile p;

        name_all(k);
        ck_assert_msg(!mach_run(&desc, &l, w, &p, &err), "%s", err.msg);
        bytes += p.ddr_bytes;
        clock += p.cycles;
    }
    ck_assert(!trc_writer_commit(w, &err));
    ck_assert_msg(!load_file(path, &tl, &err), "%s", err.msg);
    return bytes;
}

static const tl_row *group(void)
{
    for (uint32_t i = 0; i < tl.n_rows; i++)
        if (!strcmp(tl.rows[i].name, "buffers"))
            return &tl.rows[i];
    return NULL;
}

/* Bytes of all counters of the group whose names end so; how many there are. */
static double bytes_of(const char *end, uint32_t *n)
{
    const tl_row *g = group();
    double sum = 0;

    *n = 0;
    for (uint32_t i = 0; g && i < tl.n_rows; i++) {
        const tl_row *r = &tl.rows[i];
        double mean, high;

        if (r->parent != g->uuid || strlen(r->name) < strlen(end) ||
            strcmp(r->name + strlen(r->name) - strlen(end), end))
            continue;
        tl_mean(r->counter, 0, tl.end, &mean, &high);
        sum += mean * (double)tl.end;
        ++*n;
    }
    return sum;
}

#define ALL (32 * MANY * (MANY + 1) / 2)

START_TEST(largest_have_their_own)
{
    uint32_t n;

    format = "t%u";
    ck_assert_uint_eq(run(1, _i ? TRC_GROUPS : TRC_FULL),
                      2 * (ALL + 2 * UINT64_C(64)));
    ck_assert_double_eq_tol(bytes_of(" read", &n), ALL + 128, 0.01);
    ck_assert_uint_eq(n, 13);
    ck_assert_double_eq_tol(bytes_of(" written", &n), ALL + 128, 0.01);
    ck_assert_uint_eq(n, 13);
    ck_assert_double_eq_tol(bytes_of("others read", &n),
                            ALL + 128 - 32 * (53 + 64) * 6, 0.01);
    /* Of the first 64 that were used the 12 with most. */
    for (uint32_t i = 52; i < 64; i++) {
        char name[32];

        snprintf(name, sizeof name, "t%u read", i);
        ck_assert_double_eq_tol(bytes_of(name, &n), 32 * (i + 1), 0.01);
        ck_assert_uint_eq(n, 1);
    }
    tl_free(&tl);
}
END_TEST

/* Whatever tensors are called, and however many launches bring others. */
START_TEST(names_of_all_kinds)
{
    static const char *const formats[] = {"t%u of %u", "same", "others",
                                          "caches", ""};
    uint64_t bytes;
    uint32_t n;
    double all;

    format = formats[_i];
    bytes = run(5, TRC_FULL);
    all = bytes_of(" read", &n);
    ck_assert_uint_le(n, 34);
    all += bytes_of(" written", &n);
    ck_assert_uint_le(n, 34);
    ck_assert_double_eq_tol(all, (double)bytes, 0.1);
    bytes_of("same read", &n);
    ck_assert_uint_eq(n, _i == 1);
    tl_free(&tl);
}
END_TEST

/* Cycles that a counter says, of a group. */
static double busy_cycles(const tl_row *g, uint32_t bank, double *high)
{
    char name[32];

    snprintf(name, sizeof name, "bank %u", bank);
    for (uint32_t i = 0; i < tl.n_rows; i++)
        if (tl.rows[i].parent == g->uuid && !strcmp(tl.rows[i].name, name)) {
            double mean;

            tl_mean(tl.rows[i].counter, 0, tl.end, &mean, high);
            return mean * (double)tl.end;
        }
    ck_abort_msg("no %s", name);
}

/* Tensor i is a row of bank (i + 1) % 8, and a transfer visits it once: 60
 * cycles, or 36 and then 16 bytes a cycle. Line by line a row that is still
 * open need not be opened again. */
START_TEST(banks_are_as_busy_as_their_rows)
{
    static const char *const machine[] = {
        "clk_mhz=1000",    "ddr_banks=8",      "ddr_row_bytes=4096",
        "ddr_bank_hash=0", "ddr_row_cycle=60", "ddr_row_switch=36",
        "ddr_peak_bw=16"};
    double wanted[8] = {0}, high;
    const tl_row *g = NULL;
    vpu_error err;

    for (size_t i = 0; i < sizeof machine / sizeof *machine; i++)
        ck_assert(!mach_desc_set(&desc, mem, machine[i], &err));
    for (uint32_t i = 0; i < MANY; i++) {
        double visit = 36 + 2 * (i + 1);

        wanted[(i + 1) % 8] += 2 * (visit > 60 ? visit : 60);
    }
    wanted[0] += 2 * 60; /* what lies in no tensor, is known to be in row 0 */
    format = "t%u";
    transactions = _i;
    run(1, TRC_FULL);
    transactions = false;
    for (uint32_t i = 0; i < tl.n_rows; i++)
        if (!strcmp(tl.rows[i].name, "DDR banks"))
            g = &tl.rows[i];
    ck_assert(g);
    for (uint32_t b = 0; b < 8; b++) {
        double found = busy_cycles(g, b, &high);

        ck_assert_double_le(high, 1 + 1e-9);
        if (_i) /* what is known nowhere is taken to be in row 0 as well */
            ck_assert_double_le(found, wanted[b] + (b ? 1 : 121));
        else
            ck_assert_double_eq_tol(found, wanted[b], wanted[b] / 100);
        ck_assert_double_gt(found, wanted[b] / 2);
    }
    tl_free(&tl);
}
END_TEST

/* Each SHAVE loads a line, at once, of another row of bank 3 each. */
static vpu_status give_loads(void *user, mach_queue *q, uint32_t n,
                             vpu_error *e)
{
    (void)user;
    (void)e;
    for (uint32_t s = 0; s < n; s++) {
        mach_step *step;

        mach_queue_push(&q[s], MACH_STEP_GROUP)->id = s;
        mach_queue_push(&q[s], MACH_STEP_PHASE)->id = MACH_COMP;
        step = mach_queue_push(&q[s], MACH_STEP_RUN);
        step->issue_cycles = 10;
        step->n_misses = step->n_accesses = 1;
        step->misses = malloc(sizeof *step->misses);
        *step->misses = (mach_miss){.addr = 3 * 4096 + s * 8 * 4096,
                                    .kind = MACH_LOAD_FILL,
                                    .access = 1};
        step->detail.mem.load_fills = 1;
        q[s].ended = true;
    }
    return VPU_OK;
}

/* The one that comes later waits until the first one's row is done with: 60
 * cycles, and knows for whom. */
START_TEST(who_held_the_bank)
{
    static const char *const machine[] = {
        "clk_mhz=1000",    "ddr_banks=8",      "ddr_row_bytes=4096",
        "ddr_bank_hash=0", "ddr_row_cycle=60", "ddr_row_switch=36",
        "ddr_peak_bw=16",  "shave_start=0",    "ddr_load_stall=100"};
    mach_launch l = {.name = "test",
                     .n_shaves = SHAVES,
                     .n_groups = SHAVES,
                     .refill = give_loads,
                     .transactions = true};
    trc_config cfg = {.clk_mhz = 1000, .level = _i ? TRC_GROUPS : TRC_FULL};
    uint32_t waited = 0;
    mach_profile p;
    trc_writer *w;
    vpu_error err;

    for (size_t i = 0; i < sizeof machine / sizeof *machine; i++)
        ck_assert(!mach_desc_set(&desc, mem, machine[i], &err));
    ck_assert(!trc_writer_create(&cfg, &w, &err));
    ck_assert(!trc_writer_add(w, TRC_PERFETTO, path, &err));
    ck_assert_msg(!mach_run(&desc, &l, w, &p, &err), "%s", err.msg);
    ck_assert(!trc_writer_commit(w, &err));
    ck_assert_uint_eq(p.by_cause[0][MACH_CAUSE_DDR], 100);
    ck_assert_uint_eq(p.by_cause[1][MACH_CAUSE_DDR], 160);
    ck_assert_msg(!load_file(path, &tl, &err), "%s", err.msg);
    for (uint32_t i = 0; i < tl.n_rows; i++) {
        const tl_row *r = &tl.rows[i];

        for (uint64_t k = 0;
             r->kind == TL_ROW_SHAVE && k < r->lanes[1].n_slices; k++) {
            tl_arg bank, by, cycles;

            if (!tl_slice_arg(&tl, &r->lanes[1], k, "held by", &by))
                continue;
            ck_assert(tl_slice_arg(&tl, &r->lanes[1], k, "bank", &bank));
            ck_assert(tl_slice_arg(&tl, &r->lanes[1], k, "cycles for the bank",
                                   &cycles));
            ck_assert_str_eq(r->name, "SHAVE 1");
            ck_assert_str_eq(tl_text(&tl, by.text), "SHAVE 0");
            ck_assert_uint_eq(bank.number, 3);
            ck_assert_uint_eq(cycles.number, 60);
            ck_assert_uint_eq(tl_length(&r->lanes[1], k), 160);
            waited++;
        }
    }
    ck_assert_uint_eq(waited, !_i);
    tl_free(&tl);
}
END_TEST

START_TEST(not_in_a_summary)
{
    format = "t%u";
    run(1, TRC_SUMMARY);
    ck_assert(!group());
    for (uint32_t i = 0; i < tl.n_rows; i++)
        ck_assert_str_ne(tl.rows[i].name, "DDR banks");
    tl_free(&tl);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("traffic");
    TCase *t = tcase_create("traffic");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, largest_have_their_own, 0, 2);
    tcase_add_loop_test(t, names_of_all_kinds, 0, 5);
    tcase_add_loop_test(t, banks_are_as_busy_as_their_rows, 0, 2);
    tcase_add_loop_test(t, who_held_the_bank, 0, 2);
    tcase_add_test(t, not_in_a_summary);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
