/* Steps that are kept: they are those the launch had, and take as long. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "sim/machine/engine.h"
#include "tests/sim/machine/recorded.h"

static mach_desc desc;
static arena *mem;
static vpu_error err;

static void setup(void)
{
    mem = arena_create(0);
    ck_assert_int_eq(mach_desc_load(NULL, mem, &desc, &err), VPU_OK);
}

static void teardown(void)
{
    arena_destroy(mem);
}

/* --- a launch ------------------------------------------------------------- */

enum { SHAVES = 3, GROUPS = 200 };

/* SHAVE i has groups i, i + SHAVES, …; each call gives it one. */
typedef struct {
    uint64_t next[SHAVES];
    uint64_t fail_at; /* group; 0 = none does */
} source;

static void fill(mach_step *s, uint64_t group, mach_phase phase)
{
    s->issue_cycles = 100 + group % 17 + (uint64_t)phase;
    if (group % 5 == 0)
        return; /* touches no memory */
    s->detail.mem.load_fills = (uint32_t)(group % 4);
    s->detail.mem.load_l2_hits = (uint32_t)(group % 7);
    s->detail.mem.stores = 3;
    s->detail.mem.load_bytes = group * 64;
    s->detail.mem.bank_lines[group % 4] = (uint32_t)(group % 4);
}

static void give(mach_queue *q, uint64_t group)
{
    mach_step *s;

    mach_queue_push(q, MACH_STEP_GROUP)->id = group;
    for (int phase = MACH_PRE; phase < MACH_N_PHASES; phase++) {
        mach_queue_push(q, MACH_STEP_PHASE)->id = (uint64_t)phase;
        fill(mach_queue_push(q, MACH_STEP_RUN), group, (mach_phase)phase);
        if (phase == MACH_COMP)
            continue;
        s = mach_queue_push(q, MACH_STEP_DMA);
        s->detail.dma = (mach_transfer){.bytes = 512 + group % 3 * 256,
                                        .lines = 1 + (uint32_t)(group % 8),
                                        .to_cmx = phase == MACH_PRE};
    }
}

static vpu_status refill(void *user, mach_queue *queues, uint32_t n,
                         vpu_error *e)
{
    source *x = user;

    for (uint32_t i = 0; i < n; i++) {
        if (x->next[i] >= GROUPS) {
            queues[i].ended = true;
            continue;
        }
        if (x->fail_at && x->next[i] >= x->fail_at)
            return err_set(e, VPU_ERR_FAULT, "group %u", (unsigned)x->next[i]);
        give(&queues[i], x->next[i]);
        x->next[i] += SHAVES;
    }
    return VPU_OK;
}

static source fresh(void)
{
    return (source){.next = {0, 1, 2}};
}

static mach_launch launch_of(source *x)
{
    return (mach_launch){.name = "test",
                         .n_shaves = SHAVES,
                         .double_buffered = true,
                         .n_groups = GROUPS,
                         .refill = refill,
                         .user = x};
}

static mach_profile run(mach_record *r, const mach_desc *d)
{
    source x = fresh();
    mach_launch l = launch_of(&x);
    mach_profile p;

    ck_assert_msg(!(r ? recorded_run(r, d, l, &p, &err)
                      : mach_run(d, &l, NULL, &p, &err)),
                  "%s", err.msg);
    return p;
}

/* --- the same steps, the same time ---------------------------------------- */

static void expect_same(const mach_profile *a, const mach_profile *b)
{
    ck_assert_uint_eq(a->cycles, b->cycles);
    ck_assert_uint_eq(a->groups, b->groups);
    ck_assert_uint_eq(a->ddr_bytes, b->ddr_bytes);
    ck_assert_uint_eq(a->dma_in_bytes, b->dma_in_bytes);
    ck_assert_mem_eq(a->by_cause, b->by_cause, sizeof a->by_cause);
    ck_assert_mem_eq(&a->mem, &b->mem, sizeof a->mem);
}

/* Recording changes nothing; replays take what runs take, there and on another
 * machine, as often as wanted. */
START_TEST(replayed)
{
    mach_record *r = mach_record_create(1 << 20);
    mach_profile plain = run(NULL, &desc), kept = run(r, &desc), again;
    mach_desc other = desc;

    ck_assert(mach_record_complete(r));
    expect_same(&plain, &kept);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(mach_record_replay(r, &desc, NULL, NULL, &again, &err),
                         VPU_OK);
        expect_same(&again, &plain);
    }
    ck_assert_int_eq(mach_desc_set(&other, mem, "ddr_load_stall=777", &err),
                     VPU_OK);
    ck_assert_int_eq(mach_desc_set(&other, mem, "dma_channels=1", &err),
                     VPU_OK);
    plain = run(NULL, &other);
    ck_assert_uint_ne(plain.cycles, kept.cycles);
    ck_assert_int_eq(mach_record_replay(r, &other, NULL, NULL, &again, &err),
                     VPU_OK);
    expect_same(&again, &plain);
    mach_record_free(r);
}
END_TEST

/* Every step comes back as it was given. */
START_TEST(read_back)
{
    mach_record *r = mach_record_create(1 << 20);

    run(r, &desc);
    for (uint32_t i = 0; i < SHAVES; i++) {
        mach_record_cursor c = mach_record_steps(r, i);
        mach_queue q = {0};
        mach_step s;

        for (uint64_t g = i; g < GROUPS; g += SHAVES)
            give(&q, g);
        for (uint32_t k = 0; k < q.n; k++) {
            const mach_step *want = &q.items[k];

            ck_assert(mach_record_next(&c, &s));
            ck_assert_int_eq(s.kind, want->kind);
            ck_assert_uint_eq(s.id, want->id);
            ck_assert_uint_eq(s.issue_cycles, want->issue_cycles);
            if (s.kind == MACH_STEP_RUN)
                ck_assert_mem_eq(&s.detail.mem, &want->detail.mem,
                                 sizeof s.detail.mem);
            if (s.kind == MACH_STEP_DMA)
                ck_assert_mem_eq(&s.detail.dma, &want->detail.dma,
                                 sizeof s.detail.dma);
        }
        ck_assert(!mach_record_next(&c, &s));
        mach_queue_free(&q);
    }
    mach_record_free(r);
}
END_TEST

/* A copy, step by step, is as good; one with less work is faster. */
START_TEST(edited)
{
    mach_record *r = mach_record_create(1 << 20);
    mach_record *same = mach_record_create(1 << 20);
    mach_record *less = mach_record_create(1 << 20);
    mach_profile first = run(r, &desc), p;

    mach_record_begin(same, mach_record_launch(r));
    mach_record_begin(less, mach_record_launch(r));
    for (uint32_t i = 0; i < SHAVES; i++) {
        mach_record_cursor c = mach_record_steps(r, i);
        mach_step s;

        while (mach_record_next(&c, &s)) {
            ck_assert(mach_record_add(same, i, &s));
            if (s.kind == MACH_STEP_RUN)
                memset(&s.detail.mem, 0, sizeof s.detail.mem);
            ck_assert(mach_record_add(less, i, &s));
        }
    }
    ck_assert_int_eq(mach_record_replay(same, &desc, NULL, NULL, &p, &err),
                     VPU_OK);
    expect_same(&p, &first);
    ck_assert_int_eq(mach_record_replay(less, &desc, NULL, NULL, &p, &err),
                     VPU_OK);
    ck_assert_uint_lt(p.cycles, first.cycles);
    mach_record_free(r);
    mach_record_free(same);
    mach_record_free(less);
}
END_TEST

/* --- what cannot be replayed ---------------------------------------------- */

static void expect_incomplete(const mach_record *r)
{
    mach_profile p;

    ck_assert(!mach_record_complete(r));
    ck_assert_int_eq(mach_record_replay(r, &desc, NULL, NULL, &p, &err),
                     VPU_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(err.msg, "not all steps"));
}

/* Too many steps, one byte too few, no run, one that failed, transactions. The
 * run itself is not disturbed. */
START_TEST(incomplete)
{
    mach_record *r = mach_record_create(1000);
    mach_profile plain = run(NULL, &desc), p;
    source x = fresh();
    mach_launch l = launch_of(&x);

    expect_incomplete(r);
    p = run(r, &desc);
    expect_same(&p, &plain);
    expect_incomplete(r);
    mach_record_free(r);

    r = mach_record_create(1 << 20);
    x.fail_at = 100;
    ck_assert_int_eq(recorded_run(r, &desc, l, &p, &err), VPU_ERR_FAULT);
    expect_incomplete(r);
    run(r, &desc); /* and is used again */
    ck_assert(mach_record_complete(r));

    x = fresh();
    l = launch_of(&x);
    l.transactions = true;
    ck_assert_int_eq(recorded_run(r, &desc, l, &p, &err), VPU_OK);
    expect_incomplete(r);
    mach_record_free(r);
    mach_record_free(NULL);
}
END_TEST

/* Every SHAVE's steps fit by themselves, those of all do not: noticed when the
 * parts are added up. */
START_TEST(parts)
{
    mach_record *r = mach_record_create(500);
    mach_launch l = {.n_shaves = SHAVES};
    mach_step steps[8] = {{.kind = MACH_STEP_GROUP}};

    for (uint32_t k = 1; k < 8; k++)
        steps[k] = (mach_step){.kind = MACH_STEP_RUN, .issue_cycles = k};
    mach_record_begin(r, &l);
    mach_record_take(r, 0, steps, 8);
    mach_record_settle(r);
    ck_assert(mach_record_complete(r));
    for (uint32_t i = 1; i < SHAVES; i++)
        mach_record_take(r, i, steps, 8);
    mach_record_settle(r);
    expect_incomplete(r);
    mach_record_take(r, 0, steps, 8); /* is not missed */
    mach_record_settle(r);
    expect_incomplete(r);
    mach_record_begin(r, &l); /* nor remembered */
    mach_record_take(r, 0, steps, 8);
    mach_record_settle(r);
    ck_assert(mach_record_complete(r));
    mach_record_free(r);
}
END_TEST

/* --- drawn steps ---------------------------------------------------------- */

enum { DRAWN = 6000, KINDS_OF_RUN = 7 };

static uint32_t state;

static uint32_t draw(uint32_t n)
{
    state = state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)state * n >> 32);
}

/* Few that differ, each in one number from another: most steps of a launch are
 * alike. */
static mach_step draw_run(void)
{
    uint32_t kind = draw(KINDS_OF_RUN);
    mach_step s = {.kind = MACH_STEP_RUN, .issue_cycles = 90 + kind / 4};
    mach_mem_counts *m = &s.detail.mem;

    if (!draw(20))
        s.id = draw(3);
    if (kind == 6)
        return s;
    m->load_l1_hits = 3 + kind % 2;
    m->store_bytes = 4 + kind / 5;
    m->load_fills = kind == 3;
    if (kind == 3 || !draw(10))
        m->bank_lines[draw(MACH_MAX_BANKS)] = 1 + draw(2);
    return s;
}

static mach_step draw_step(void)
{
    mach_step s = draw_run();

    if (!draw(12)) {
        s = (mach_step){.kind = MACH_STEP_DMA, .issue_cycles = draw(9)};
        s.detail.dma = (mach_transfer){.bytes = draw(1000), .lines = draw(9)};
        s.detail.dma.ddr.plane_pitch = draw(1000);
    } else if (!draw(12)) {
        s = (mach_step){.kind = MACH_STEP_WAIT, .id = draw(9)};
    }
    return s;
}

static void expect_step(mach_record_cursor *c, const mach_step *want)
{
    mach_step s;

    ck_assert(mach_record_next(c, &s));
    if (memcmp(&s, want, sizeof s))
        ck_abort_msg("step %llu, %llu cycles: another one, %llu, %llu",
                     (unsigned long long)want->id,
                     (unsigned long long)want->issue_cycles,
                     (unsigned long long)s.id,
                     (unsigned long long)s.issue_cycles);
}

/* Groups of some steps, some of which stand for others, of two SHAVEs in turns.
 */
START_TEST(drawn_steps_come_back)
{
    mach_record *r = mach_record_create(UINT64_C(1) << 30);
    mach_launch like = {.n_shaves = SHAVES};
    mach_step *steps = calloc((size_t)DRAWN * 4, sizeof *steps);
    mach_record_cursor c[SHAVES];

    ck_assert_ptr_nonnull(steps);
    state = (uint32_t)_i + 1;
    mach_record_begin(r, &like);
    for (uint32_t g = 0; g < DRAWN; g++) {
        mach_step *s = steps + (size_t)4 * g;

        s[0] = (mach_step){.kind = MACH_STEP_GROUP, .id = g * 100};
        s[0].more = draw(2) ? draw(5) : 0;
        s[0].detail.distance = s[0].more ? 1 + draw(9) : 0;
        for (uint32_t k = 1; k < 4; k++)
            s[k] = draw_step();
        for (uint32_t k = 0; k < 4; k++)
            ck_assert(mach_record_add(r, g % 2, &s[k]));
    }
    for (uint32_t i = 0; i < SHAVES; i++)
        c[i] = mach_record_steps(r, i);
    for (uint32_t g = 0; g < DRAWN; g++) {
        const mach_step *s = steps + (size_t)4 * g;
        mach_step group = {.kind = MACH_STEP_GROUP, .id = s->id};

        for (uint32_t n = 0; n <= s->more; n++) {
            expect_step(&c[g % 2], &group);
            group.id += s->detail.distance;
            for (uint32_t k = 1; k < 4; k++)
                expect_step(&c[g % 2], &s[k]);
        }
    }
    for (uint32_t i = 0; i < SHAVES; i++)
        ck_assert(!mach_record_next(&c[i], steps));
    mach_record_free(r);
    free(steps);
}
END_TEST

/* What a record may hold is counted as if each step were written whole. */
START_TEST(alike_steps_count_whole)
{
    enum { N = 1000, GROUP = 24, RUN = 24 + 48 };
    mach_step group = {.kind = MACH_STEP_GROUP};
    mach_step run = {.kind = MACH_STEP_RUN, .issue_cycles = 7};
    mach_launch like = {.n_shaves = SHAVES};

    run.detail.mem.load_l1_hits = 1;
    for (uint64_t less = 0; less < 2; less++) {
        mach_record *r = mach_record_create(GROUP + RUN * N - less);

        mach_record_begin(r, &like);
        ck_assert(mach_record_add(r, 0, &group));
        for (uint32_t k = 1; k < N; k++)
            ck_assert(mach_record_add(r, 0, &run));
        ck_assert_int_eq(mach_record_add(r, 0, &run), !less);
        ck_assert_int_eq(mach_record_complete(r), !less);
        mach_record_free(r);
    }
}
END_TEST

START_TEST(fewer_shaves)
{
    mach_record *r = mach_record_create(1 << 20);
    mach_desc small = desc;
    mach_profile p;

    run(r, &desc);
    small.num_shaves = SHAVES - 1;
    ck_assert_int_eq(mach_record_replay(r, &small, NULL, NULL, &p, &err),
                     VPU_ERR_INVALID);
    mach_record_free(r);
}
END_TEST

START_TEST(parameters)
{
    ck_assert(mach_record_depends("l2_ways"));
    ck_assert(mach_record_depends("wg_split"));
    ck_assert(!mach_record_depends("ddr_load_stall"));
    ck_assert(!mach_record_depends("wg_dispatch"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("machine: recorded steps");
    TCase *t = tcase_create("record");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, replayed);
    tcase_add_test(t, read_back);
    tcase_add_test(t, edited);
    tcase_add_test(t, incomplete);
    tcase_add_test(t, parts);
    tcase_add_loop_test(t, drawn_steps_come_back, 0, 8);
    tcase_add_test(t, alike_steps_count_whole);
    tcase_add_test(t, fewer_shaves);
    tcase_add_test(t, parameters);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
