/* The replay against cycle counts worked out by hand, and its invariants. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sim/machine/engine.h"

/* A machine with round numbers: 10 bytes per cycle of DDR, 16 on the bus. */
static mach_desc desc;
static arena *mem;

static void setup(void)
{
    static const char *const round[] = {
        "clk_mhz=1000",    "ddr_eff_bw=10",      "wg_dispatch=0",
        "layer_fixed=0",   "ddr_load_stall=100", "l2_hit_stall=20",
        "dma_setup=10",    "dma_first_byte=50",  "dma_line_overhead=5",
        "dma_channels=1",  "dma_bus_bytes=16",   "store_buffer=4",
        "shave_start=0",   "ddr_row_cycle=60",   "ddr_row_switch=36",
        "ddr_banks=8",     "ddr_row_bytes=4096", "ddr_peak_bw=16",
        "ddr_bank_hash=0",
    };
    vpu_error err;

    mem = arena_create(0);
    ck_assert_int_eq(mach_desc_load(NULL, mem, &desc, &err), VPU_OK);
    for (size_t i = 0; i < sizeof round / sizeof round[0]; i++)
        ck_assert_msg(!mach_desc_set(&desc, mem, round[i], &err), "%s",
                      err.msg);
}

static void teardown(void)
{
    arena_destroy(mem);
}

/* A script gives each SHAVE its steps all at once. */
typedef void script(mach_queue *q, uint32_t shave);

static vpu_status give_all(void *user, mach_queue *q, uint32_t n, vpu_error *e)
{
    (void)e;
    for (uint32_t i = 0; i < n; i++) {
        if (!q[i].ended)
            (*(script **)user)(&q[i], i);
        q[i].ended = true;
    }
    return VPU_OK;
}

static mach_profile replay_as(script *s, mach_launch l)
{
    uint32_t n_shaves = l.n_shaves;
    mach_profile p;
    vpu_error err = {0};

    l.name = "test";
    l.refill = give_all;
    l.user = &s;
    ck_assert_msg(!mach_run(&desc, &l, NULL, &p, &err), "%s", err.msg);
    for (uint32_t i = 0; i < n_shaves; i++) {
        uint64_t sum = 0;

        for (int c = 0; c < MACH_N_CAUSES; c++)
            sum += p.by_cause[i][c];
        ck_assert_uint_eq(sum, p.cycles);
    }
    return p;
}

static mach_profile replay(script *s, uint32_t n_shaves, bool db)
{
    return replay_as(
        s, (mach_launch){.n_shaves = n_shaves, .double_buffered = db});
}

static void new_group(mach_queue *q, uint64_t id)
{
    mach_queue_push(q, MACH_STEP_GROUP)->id = id;
}
static void phase(mach_queue *q, mach_phase p)
{
    mach_queue_push(q, MACH_STEP_PHASE)->id = p;
}
static mach_step *run(mach_queue *q, uint64_t issue)
{
    mach_step *s = mach_queue_push(q, MACH_STEP_RUN);

    s->issue_cycles = issue;
    return s;
}
static void dma(mach_queue *q, uint64_t bytes, bool in)
{
    mach_queue_push(q, MACH_STEP_DMA)->detail.dma =
        (mach_transfer){.bytes = bytes, .lines = 1, .to_cmx = in};
}
static void wait_for(mach_queue *q, uint64_t n)
{
    mach_queue_push(q, MACH_STEP_WAIT)->id = n;
}

static void issue_only(mach_queue *q, uint32_t i)
{
    new_group(q, i);
    run(q, 100 + 10 * i);
}

START_TEST(issue_cycles_and_idle)
{
    mach_profile p = replay(issue_only, 3, false);

    ck_assert_uint_eq(p.cycles, 120);
    ck_assert_uint_eq(p.by_cause[0][MACH_CAUSE_IDLE], 20);
    ck_assert_uint_eq(p.groups, 3);
}
END_TEST

START_TEST(dispatch_and_fixed_cost)
{
    vpu_error err;
    mach_profile p;

    mach_desc_set(&desc, mem, "wg_dispatch=7", &err);
    mach_desc_set(&desc, mem, "layer_fixed=1000", &err);
    p = replay(issue_only, 1, false);
    ck_assert_uint_eq(p.cycles, 1000 + 7 + 100);
    ck_assert_uint_eq(p.by_cause[0][MACH_CAUSE_DISPATCH], 1007);
    mach_desc_set(&desc, mem, "shave_start=30", &err);
    p = replay(issue_only, 3, false);
    ck_assert_uint_eq(p.cycles, 1000 + 2 * 30 + 7 + 120);
    ck_assert_uint_eq(p.by_cause[1][MACH_CAUSE_DISPATCH], 1000 + 30 + 7);
}
END_TEST

static void nothing(mach_queue *q, uint32_t i)
{
    (void)q, (void)i;
}

START_TEST(no_groups)
{
    ck_assert_uint_eq(replay(nothing, 4, true).cycles, 0);
}
END_TEST

static void loads(mach_queue *q, uint32_t i)
{
    mach_step *s;

    new_group(q, i);
    s = run(q, 40);
    s->detail.mem.load_l2_hits = 2;
    s->detail.mem.load_fills = 3;
}

/* 40 + 2*20 + 3*100 = 380; 3*64 bytes in 380 cycles is far below 10/cycle. */
START_TEST(load_stalls)
{
    mach_profile p = replay(loads, 1, false);

    ck_assert_uint_eq(p.cycles, 380);
    ck_assert_uint_eq(p.by_cause[0][MACH_CAUSE_L2], 40);
    ck_assert_uint_eq(p.by_cause[0][MACH_CAUSE_DDR], 300);
    ck_assert_uint_eq(p.ddr_bytes, 192);
}
END_TEST

static void stores(mach_queue *q, uint32_t i)
{
    mach_step *s;

    new_group(q, i);
    s = run(q, 100);
    s->detail.mem.stores = 32;
    s->detail.mem.store_fills = 8;
}

/* (24*20 + 8*100) / 4 = 320 cycles in the buffer, 100 of them covered. */
START_TEST(store_buffer_stall)
{
    mach_profile p = replay(stores, 1, false);

    ck_assert_uint_eq(p.cycles, 320);
    ck_assert_uint_eq(p.by_cause[0][MACH_CAUSE_STORE], 220);
}
END_TEST

static void streams(mach_queue *q, uint32_t i)
{
    mach_step *s;

    new_group(q, i);
    s = run(q, 0);
    s->detail.mem.load_fills = 1;
    s->detail.mem.write_backs =
        11; /* 768 bytes in 100 cycles: 7.68 per cycle */
}

/* Two want 7.68 each of 10: 5 each, 768 / 5 = 153.6 cycles. */
START_TEST(two_shaves_share_ddr)
{
    mach_profile p = replay(streams, 2, false);

    ck_assert_uint_eq(replay(streams, 1, false).cycles, 100);
    ck_assert_uint_eq(p.cycles, 154);
    ck_assert_uint_eq(p.by_cause[1][MACH_CAUSE_DDR], 154);
    ck_assert_uint_eq(p.ddr_bytes, 2 * 768);
}
END_TEST

static void late_stream(mach_queue *q, uint32_t i)
{
    new_group(q, i);
    run(q, i ? 50 : 0);
    run(q, 0)->detail.mem =
        (mach_mem_counts){.load_fills = 1, .write_backs = 11};
}

/* 0: alone until 50 (384 bytes), then 5 per cycle: 50 + 76.8 = 127 (126.8).
 * 1: from 50, 77 cycles at 5 = 385 bytes, the rest at 7.68: 127 + 49.87. */
START_TEST(flow_starts_in_the_middle)
{
    mach_profile p = replay(late_stream, 2, false);

    ck_assert_uint_eq(p.by_cause[0][MACH_CAUSE_DDR], 127);
    ck_assert_uint_eq(p.cycles, 177);
}
END_TEST

static void flush(mach_queue *q, uint32_t i)
{
    new_group(q, i);
    run(q, 0)->detail.mem.write_backs = 100;
}

START_TEST(write_backs_alone_take_ddr_time)
{
    ck_assert_uint_eq(replay(flush, 1, false).cycles, 640);
}
END_TEST

static void one_dma(mach_queue *q, uint32_t i)
{
    new_group(q, i);
    dma(q, 800, true);
    wait_for(q, 1);
    run(q, 30);
}

/* setup 10, first byte 50, 800 bytes at 10 per cycle (the bus would do 50 + 5
 * for the line): 80; then 30. */
START_TEST(dma_alone)
{
    mach_profile p = replay(one_dma, 1, false);

    ck_assert_uint_eq(p.cycles, 10 + 50 + 80 + 30);
    ck_assert_uint_eq(p.by_cause[0][MACH_CAUSE_DMA_SETUP], 10);
    ck_assert_uint_eq(p.by_cause[0][MACH_CAUSE_DMA_WAIT], 130);
    ck_assert_uint_eq(p.dma_in_bytes, 800);
    ck_assert_uint_eq(p.dma_busy_cycles, 130);
}
END_TEST

/* One channel: the second SHAVE's transfer starts when the first has ended. */
START_TEST(dma_queue)
{
    mach_profile p = replay(one_dma, 2, false);

    ck_assert_uint_eq(p.by_cause[0][MACH_CAUSE_DMA_WAIT], 130);
    ck_assert_uint_eq(p.by_cause[1][MACH_CAUSE_DMA_WAIT], 260);
    ck_assert_uint_eq(p.cycles, 300);
}
END_TEST

/* Two channels: first bytes at 60, both at 5 per cycle until 220. */
START_TEST(dma_two_channels_share)
{
    vpu_error err;
    mach_profile p;

    mach_desc_set(&desc, mem, "dma_channels=2", &err);
    p = replay(one_dma, 2, false);
    ck_assert_uint_eq(p.cycles, 10 + 50 + 160 + 30);
}
END_TEST

static void wait_first(mach_queue *q, uint32_t i)
{
    new_group(q, i);
    dma(q, 160, true);
    dma(q, 160, true);
    wait_for(q, 1);
    run(q, 1);
    wait_for(q, 2);
}

/* 10 setup; first ends 10+50+16 = 76 (second queued at 20); 77; second
 * 76+66 = 142. */
START_TEST(wait_for_some)
{
    mach_profile p = replay(wait_first, 1, false);

    ck_assert_uint_eq(p.cycles, 142);
    ck_assert_uint_eq(p.by_cause[0][MACH_CAUSE_DMA_WAIT], 142 - 20 - 1);
}
END_TEST

static void unwaited(mach_queue *q, uint32_t i)
{
    new_group(q, i);
    dma(q, 160, false);
}

START_TEST(launch_ends_after_its_transfers)
{
    mach_profile p = replay(unwaited, 1, false);

    ck_assert_uint_eq(p.cycles, 76);
    ck_assert_uint_eq(p.dma_out_bytes, 160);
}
END_TEST

static void buffered(mach_queue *q, uint32_t i)
{
    for (uint64_t g = 0; g < 3; g++) {
        new_group(q, 3 * i + g);
        phase(q, MACH_PRE);
        dma(q, 200, true);
        phase(q, MACH_COMP);
        run(q, 100);
        phase(q, MACH_POST);
        dma(q, 200, false);
    }
}

/* The worked example of docs/timing.md. A transfer of 200 bytes keeps the
 * channel 50 + 20 cycles.
 *
 *   SHAVE  pre0 0-10, pre1 10-20, wait 80, comp0 80-180, post0 180-190,
 *          pre2 190-200, comp1 200-300, post1 300-310,
 *          comp2 (in 2 has ended at 330) 330-430, post2 430-440
 *   DMA    in0 10-80, in1 80-150, out0 190-260, in2 260-330, out1 330-400,
 *          out2 440-510 */
START_TEST(double_buffering)
{
    mach_profile p = replay(buffered, 1, true);

    ck_assert_uint_eq(p.cycles, 510);
    ck_assert_uint_eq(p.by_cause[0][MACH_CAUSE_ISSUE], 300);
    ck_assert_uint_eq(p.by_cause[0][MACH_CAUSE_DMA_SETUP], 60);
    ck_assert_uint_eq(p.by_cause[0][MACH_CAUSE_DMA_WAIT], 60 + 20 + 70);
    ck_assert_uint_eq(p.transfers, 6);
    ck_assert_uint_eq(p.dma_busy_cycles, 6 * 70);
}
END_TEST

/* One buffer: the transfers of a group have ended before its next phase, and
 * before the next group. Each group takes 10 + 70, 100, 10 + 70 cycles. */
START_TEST(one_buffer)
{
    mach_profile p =
        replay_as(buffered, (mach_launch){.n_shaves = 1, .one_buffer = true});

    ck_assert_uint_eq(p.cycles, 3 * (80 + 100 + 80));
    ck_assert_uint_eq(p.by_cause[0][MACH_CAUSE_DMA_WAIT], 3 * 140);
}
END_TEST

static void random_steps(mach_queue *q, uint32_t i)
{
    uint32_t x = 12345 + i * 977;
    uint64_t n;

    for (uint64_t g = 0; g < 40; g++) {
        new_group(q, g);
        for (int p = 0; p < MACH_N_PHASES; p++) {
            phase(q, (mach_phase)p);
            for (n = 0; n < 5; n++) {
                x = x * 1664525 + 1013904223;
                if (x >> 30 == 0)
                    dma(q, x >> 16 & 4095, p == MACH_PRE);
                else if (x >> 30 == 1)
                    wait_for(q, x >> 20 & 7);
                else
                    run(q, x >> 20 & 255)->detail.mem =
                        (mach_mem_counts){.load_fills = x >> 8 & 7,
                                          .stores = x >> 12 & 31,
                                          .store_fills = x >> 12 & 3,
                                          .write_backs = x >> 16 & 63};
            }
        }
    }
}

/* By its rows: n_shaves 1..16, with and without double buffering. */
START_TEST(conservation_and_determinism)
{
    for (uint32_t n = 1; n <= 16; n++) {
        mach_profile a = replay(random_steps, n, _i), b;
        uint64_t lines =
            (uint64_t)a.mem.load_fills + a.mem.store_fills + a.mem.write_backs;

        b = replay(random_steps, n, _i);
        ck_assert_mem_eq(&a, &b, sizeof a);
        ck_assert_uint_eq(a.ddr_bytes,
                          lines * 64 + a.dma_in_bytes + a.dma_out_bytes);
        ck_assert_uint_eq(a.groups, 40 * n);
        /* Never faster than DDR: capacity is 10 bytes per cycle. */
        ck_assert_uint_ge(a.cycles, a.ddr_bytes / 10 * 98 / 100);
    }
}
END_TEST

START_TEST(cycle_limit)
{
    script *s = issue_only;
    mach_launch l = {
        .n_shaves = 1, .refill = give_all, .user = &s, .max_cycles = 99};
    mach_profile p;
    vpu_error err;

    ck_assert_int_eq(mach_run(&desc, &l, NULL, &p, &err), VPU_ERR_LIMIT);
    l.max_cycles = 100;
    ck_assert_int_eq(mach_run(&desc, &l, NULL, &p, &err), VPU_OK);
    l.n_shaves = 0;
    ck_assert_int_eq(mach_run(&desc, &l, NULL, &p, &err), VPU_ERR_INVALID);
}
END_TEST

/* Steps that end in the last cycle of the model's clock, and behind it. */
#define LAST_CYCLE ((UINT64_C(1) << 57) - 3)

static void until_the_last(mach_queue *q, uint32_t i)
{
    new_group(q, i);
    run(q, LAST_CYCLE);
    wait_for(q, 0);
}

static void past_the_last(mach_queue *q, uint32_t i)
{
    until_the_last(q, i);
    run(q, 1);
    dma(q, 64, true);
}

START_TEST(cycles_end_where_the_models_clock_does)
{
    script *last = until_the_last, *past = past_the_last;
    mach_launch l = {.n_shaves = 2, .refill = give_all};
    mach_profile p;
    vpu_error err;

    for (uint64_t limit = 0; limit <= 1; limit++) {
        l.max_cycles = limit * UINT64_MAX;
        l.user = &last;
        ck_assert_int_eq(mach_run(&desc, &l, NULL, &p, &err), VPU_OK);
        ck_assert_uint_eq(p.cycles, LAST_CYCLE);
        l.user = &past;
        ck_assert_int_eq(mach_run(&desc, &l, NULL, &p, &err), VPU_ERR_LIMIT);
        ck_assert_ptr_nonnull(
            strstr(err.msg, "over 144115188075855869 cycles"));
    }
}
END_TEST

static vpu_status give_nothing(void *user, mach_queue *q, uint32_t n,
                               vpu_error *e)
{
    (void)user, (void)q, (void)n;
    return e ? VPU_OK : VPU_ERR_IO;
}

START_TEST(refill_must_give)
{
    mach_launch l = {.n_shaves = 1, .refill = give_nothing};
    mach_profile p;
    vpu_error err;

    ck_assert_int_eq(mach_run(&desc, &l, NULL, &p, &err), VPU_ERR_INTERNAL);
    ck_assert_int_eq(mach_run(&desc, &l, NULL, &p, NULL), VPU_ERR_IO);
}
END_TEST

/* --- banks --------------------------------------------------------------- */

/* One group of 10 loads from DDR, all in one bank: bank `i % spread`. */
static uint32_t spread;

static void loads_in_a_bank(mach_queue *q, uint32_t i)
{
    mach_mem_counts *m;

    new_group(q, i);
    m = &run(q, 0)->detail.mem;
    m->load_fills = 10;
    m->bank_lines[i % spread] = 10;
}

/* Alone each step takes 10 * 100 cycles and keeps its bank busy for 10 * 60.
 * Two in one bank want 1.2 of it: both run at 1 / 1.2. In banks of their own
 * nothing happens. */
START_TEST(a_bank_is_shared)
{
    spread = 1;
    ck_assert_uint_eq(replay(loads_in_a_bank, 1, false).cycles, 1000);
    ck_assert_uint_le(abs((int)replay(loads_in_a_bank, 4, false).cycles - 2400),
                      2);
    spread = 8;
    ck_assert_uint_eq(replay(loads_in_a_bank, 8, false).cycles, 1000);
}
END_TEST

/* Behind a posted line of its own in the same bank a load waits its 60 cycles,
 * less what is issued between two accesses (40 / 4). */
static void load_behind_write_back(mach_queue *q, uint32_t i)
{
    mach_step *s;

    new_group(q, i);
    s = run(q, 40);
    s->detail.mem = (mach_mem_counts){.load_fills = 2,
                                      .stores = 2,
                                      .store_fills = 1,
                                      .loads_behind = 1,
                                      .lines_before = 1};
    s->detail.mem.bank_lines[0] = 3;
}

START_TEST(own_posted_lines_are_in_front)
{
    mach_profile p = replay(load_behind_write_back, 1, false);

    ck_assert_uint_eq(p.by_cause[0][MACH_CAUSE_DDR], 2 * 100 + 60 - 40 / 4);
}
END_TEST

/* A strided transfer of 8 lines of 64 bytes, each in another row of one bank:
 * the bank takes max(60, 36 + 4) for each, more than the channel's 9 each. */
static void rows_of_a_bank(mach_queue *q, uint32_t i)
{
    mach_step *s;

    new_group(q, i);
    s = mach_queue_push(q, MACH_STEP_DMA);
    s->detail.dma = (mach_transfer){.bytes = 512, .lines = 8, .to_cmx = true};
    s->detail.dma.ddr = (mach_walk){.addr = 0x80000000u,
                                    .bytes = 512,
                                    .width = 64,
                                    .pitch = 8 * 4096,
                                    .planes = 1};
    wait_for(q, 1);
}

START_TEST(rows_of_a_bank_take_turns)
{
    /* setup 10, first byte 50 */
    ck_assert_uint_eq(replay(rows_of_a_bank, 1, false).cycles,
                      10 + 50 + 8 * 60);
}
END_TEST

/* --- transaction level --------------------------------------------------- */

static void give_misses(mach_step *s, const mach_miss *list, uint32_t n)
{
    s->misses = malloc(n * sizeof *list);
    memcpy(s->misses, list, n * sizeof *list);
    s->n_misses = n;
}

/* 100 issue cycles over 4 accesses; the second and the third load a line. */
static void load_two_lines(mach_queue *q)
{
    static const mach_miss list[] = {{0x80000000u, MACH_LOAD_FILL, 2, 0},
                                     {0x80008000u, MACH_LOAD_FILL, 3, 0}};
    mach_step *s = run(q, 100);

    s->n_accesses = 4;
    s->detail.mem.load_fills = 2;
    s->detail.mem.bank_lines[0] = 2;
    give_misses(s, list, 2);
}

static void two_line_loads(mach_queue *q, uint32_t i)
{
    new_group(q, i);
    load_two_lines(q);
}

static mach_profile replay_lines(script *s, uint32_t n_shaves)
{
    mach_launch l = {.name = "test",
                     .n_shaves = n_shaves,
                     .refill = give_all,
                     .user = &s,
                     .transactions = true};
    mach_profile p;
    vpu_error err = {0};

    ck_assert_msg(!mach_run(&desc, &l, NULL, &p, &err), "%s", err.msg);
    return p;
}

/* Both SHAVEs want the bank at 50 and one waits 60; at 175 (50 + 100 + 25) the
 * first comes again, when the second (from 50 to 210) is served until 170: no
 * wait; the second comes at 235, when the bank is free since that second. */
START_TEST(lines_queue_for_their_bank)
{
    mach_profile p = replay_lines(two_line_loads, 1);

    ck_assert_uint_eq(p.cycles, 100 + 2 * 100);
    p = replay_lines(two_line_loads, 2);
    ck_assert_uint_eq(p.by_cause[0][MACH_CAUSE_DDR], 200);
    ck_assert_uint_eq(p.by_cause[1][MACH_CAUSE_DDR], 260);
    ck_assert_uint_eq(p.cycles, 360);
}
END_TEST

typedef struct {
    uint64_t groups, runs;
} lines_supply;

/* Group by group, of one to three steps with lines. */
static vpu_status give_lines(void *user, mach_queue *q, uint32_t n,
                             vpu_error *e)
{
    lines_supply *s = user;

    (void)n;
    (void)e;
    for (int k = 0; k < 100 && s->groups; k++) {
        new_group(q, s->groups--);
        for (uint64_t left = 1 + s->groups % 3; left--; s->runs++)
            load_two_lines(q);
    }
    q->ended = !s->groups;
    return VPU_OK;
}

/* A step's lines are the engine's until its group ends, those of a step that
 * stood in the same place before are not. */
START_TEST(lines_of_many_groups)
{
    lines_supply s = {.groups = 1000};
    mach_launch l = {.name = "test",
                     .n_shaves = 1,
                     .n_groups = s.groups,
                     .refill = give_lines,
                     .user = &s,
                     .transactions = true};
    mach_profile p;
    vpu_error err = {0};

    ck_assert_msg(!mach_run(&desc, &l, NULL, &p, &err), "%s", err.msg);
    ck_assert_uint_eq(p.groups, 1000);
    ck_assert_uint_eq(p.cycles, s.runs * (100 + 2 * 100));
}
END_TEST

/* Five stores in a row, each fetching its line from a bank of its own: four fit
 * into the buffer, the fifth waits until the first, from 20 on, has landed. */
static void five_stores(mach_queue *q, uint32_t i)
{
    mach_miss list[5];
    mach_step *s;

    new_group(q, i);
    s = run(q, 100);
    s->n_accesses = 5;
    s->detail.mem.stores = s->detail.mem.store_fills = 5;
    for (uint32_t k = 0; k < 5; k++)
        list[k] =
            (mach_miss){0x80000000u + 4096 * k, MACH_STORE_FILL, k + 1, 0};
    give_misses(s, list, 5);
}

START_TEST(a_full_store_buffer)
{
    mach_profile p = replay_lines(five_stores, 1);

    ck_assert_uint_eq(p.by_cause[0][MACH_CAUSE_STORE], 20 + 100 - 100);
}
END_TEST

typedef struct {
    uint64_t left[16];
    uint32_t most;
} supply;

static vpu_status give_some(void *user, mach_queue *q, uint32_t n, vpu_error *e)
{
    supply *s = user;

    (void)e;
    for (uint32_t i = 0; i < n; i++) {
        for (int k = 0; k < 64 && s->left[i] && q[i].n - q[i].head < 256; k++) {
            new_group(&q[i], s->left[i]--);
            run(&q[i], 100 + s->left[i] % 7)->detail.mem =
                (mach_mem_counts){.load_fills = 4, .write_backs = 4};
        }
        q[i].ended = !s->left[i];
        if (q[i].cap > s->most)
            s->most = q[i].cap;
    }
    return VPU_OK;
}

START_TEST(a_million_groups)
{
    supply s = {.most = 0};
    mach_launch l = {
        .n_shaves = 16, .n_groups = 1000000, .refill = give_some, .user = &s};
    mach_profile p;
    double start;

    for (int i = 0; i < 16; i++)
        s.left[i] = 62500;
    start = clock_seconds();
    ck_assert_int_eq(mach_run(&desc, &l, NULL, &p, NULL), VPU_OK);
    printf("1M groups: %.3f s, %llu cycles\n", clock_seconds() - start,
           (unsigned long long)p.cycles);
    ck_assert_uint_eq(p.groups, 1000000);
    ck_assert_uint_le(s.most, 1024); /* memory stays flat */
}
END_TEST

int main(void)
{
    Suite *s = suite_create("engine");
    TCase *t = tcase_create("replay");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, issue_cycles_and_idle);
    tcase_add_test(t, dispatch_and_fixed_cost);
    tcase_add_test(t, no_groups);
    tcase_add_test(t, load_stalls);
    tcase_add_test(t, store_buffer_stall);
    tcase_add_test(t, two_shaves_share_ddr);
    tcase_add_test(t, flow_starts_in_the_middle);
    tcase_add_test(t, write_backs_alone_take_ddr_time);
    tcase_add_test(t, dma_alone);
    tcase_add_test(t, dma_queue);
    tcase_add_test(t, dma_two_channels_share);
    tcase_add_test(t, wait_for_some);
    tcase_add_test(t, launch_ends_after_its_transfers);
    tcase_add_test(t, double_buffering);
    tcase_add_test(t, one_buffer);
    tcase_add_loop_test(t, conservation_and_determinism, 0, 2);
    tcase_add_test(t, cycle_limit);
    tcase_add_test(t, cycles_end_where_the_models_clock_does);
    tcase_add_test(t, refill_must_give);
    tcase_add_test(t, a_bank_is_shared);
    tcase_add_test(t, own_posted_lines_are_in_front);
    tcase_add_test(t, rows_of_a_bank_take_turns);
    tcase_add_test(t, lines_queue_for_their_bank);
    tcase_add_test(t, lines_of_many_groups);
    tcase_add_test(t, a_full_store_buffer);
    tcase_add_test(t, a_million_groups);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
