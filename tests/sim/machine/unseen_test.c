/* Groups that the engine passes at once, and groups that stand for others,
 * against the same groups one by one: drawn steps on drawn machines. A watch
 * sees the time of every group, so with one each is shown by itself. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/temp.h"
#include "base/trace/writer.h"
#include "sim/machine/engine.h"
#include "tests/sim/machine/recorded.h"

enum { LAUNCHES = 400, MOST_GROUPS = 120, MOST_SHAVES = 16 };

typedef struct {
    mach_step steps[4]; /* behind that of the group */
    uint32_t n;
    uint64_t id;
} group;

/* One launch; each SHAVE has its own groups. */
typedef struct {
    group groups[MOST_SHAVES][MOST_GROUPS];
    uint32_t n_groups[MOST_SHAVES], given[MOST_SHAVES];
    uint32_t batch; /* groups of a refill */
    bool joins;
    bool waits; /* no group is one step alone: it waits for nothing behind it */
} drawn;

static arena *mem;
static uint32_t state;

static uint32_t draw(uint32_t n)
{
    state = state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)state * n >> 32);
}

static void setup(void)
{
    mem = arena_create(0);
}

static void teardown(void)
{
    arena_destroy(mem);
}

static mach_step draw_run(bool lines)
{
    mach_step s = {.kind = MACH_STEP_RUN, .issue_cycles = 1 + draw(300)};
    mach_mem_counts *m = &s.detail.mem;

    m->load_l1_hits = draw(30);
    m->load_l2_hits = draw(20);
    m->stores = draw(60);
    m->load_bytes = 4 * draw(100);
    m->store_bytes = 4 * draw(100);
    if (!lines)
        return s;
    m->load_fills = draw(4);
    m->store_fills = draw(4);
    m->stores += m->store_fills;
    m->write_backs = draw(3);
    for (uint32_t k = m->load_fills + m->store_fills + m->write_backs; k; k--)
        m->bank_lines[draw(8)]++;
    return s;
}

static bool same_group(const group *a, const group *b)
{
    return a->n == 1 && b->n == 1 &&
           !memcmp(&a->steps[0], &b->steps[0], sizeof a->steps[0]);
}

static bool is_quiet(const group *g)
{
    const mach_mem_counts *m = &g->steps[0].detail.mem;

    return g->n == 1 && g->steps[0].kind == MACH_STEP_RUN && !m->load_fills &&
           !m->store_fills && !m->write_backs;
}

/* Some repeat the one before, as most groups of real kernels do. */
static void draw_group(group *g, const group *before, uint64_t id)
{
    *g = (group){.n = 1};
    if (before && draw(4)) {
        *g = *before;
    } else if (!draw(8)) {
        g->n = 2 + draw(2);
        g->steps[0] = (mach_step){.kind = MACH_STEP_DMA, .issue_cycles = 5};
        g->steps[0].detail.dma = (mach_transfer){
            .bytes = 64 * (1 + draw(40)), .lines = 1, .to_cmx = draw(2)};
        g->steps[1] = draw_run(draw(2));
        g->steps[2] = (mach_step){.kind = MACH_STEP_WAIT, .id = 1};
    } else {
        g->steps[0] = draw_run(draw(2));
        if (!draw(10))
            g->n = 0;
    }
    g->id = id;
}

static void add_step(group *g, mach_step s)
{
    g->steps[g->n++] = s;
}

static void draw_launch(drawn *d)
{
    uint64_t distance = 1 + draw(3), id = 0;

    d->batch = 1 + draw(40);
    for (uint32_t i = 0; i < MOST_SHAVES; i++) {
        d->n_groups[i] = draw(MOST_GROUPS);
        for (uint32_t k = 0; k < d->n_groups[i]; k++) {
            id += draw(9) ? distance : 7;
            draw_group(&d->groups[i][k], k ? &d->groups[i][k - 1] : NULL, id);
        }
        if (d->n_groups[i]) /* lines are written back at the end */
            add_step(&d->groups[i][d->n_groups[i] - 1], draw_run(true));
    }
}

/* The group's step is elsewhere where that is allowed. */
static void push_group(drawn *d, mach_queue *q, const group *g)
{
    if (d->joins && is_quiet(g) && draw(3)) {
        ck_assert(mach_queue_push_like(q, g->id, &g->steps[0]));
        return;
    }
    mach_queue_push(q, MACH_STEP_GROUP)->id = g->id;
    for (uint32_t k = 0; k < g->n; k++) {
        mach_step *s = mach_queue_push(q, g->steps[k].kind);

        if (g->steps[k].kind == MACH_STEP_WAIT)
            s->id = g->steps[k].id;
        else
            *s = g->steps[k];
    }
    if (d->waits && g->n == 1)
        mach_queue_push(q, MACH_STEP_WAIT);
}

/* How many groups behind the next one of the SHAVE are like it, and have
 * numbers in a row with it and the one before it? */
static uint32_t row_behind(const drawn *d, uint32_t i, uint32_t end)
{
    const group *g = &d->groups[i][d->given[i]];
    uint32_t n = 0;

    end = end < d->n_groups[i] ? end : d->n_groups[i];
    while (d->given[i] && d->given[i] + n + 1 < end &&
           same_group(g, &g[n + 1]) &&
           g[n + 1].id - g[n].id == g->id - g[-1].id)
        n++;
    return n;
}

static vpu_status give(void *user, mach_queue *queues, uint32_t n,
                       vpu_error *err)
{
    drawn *d = user;

    (void)err;
    for (uint32_t i = 0; i < n; i++) {
        const group *last = NULL;
        uint32_t end = d->given[i] + d->batch;

        for (; d->given[i] < d->n_groups[i] && d->given[i] < end;
             d->given[i]++) {
            const group *g = &d->groups[i][d->given[i]];
            uint32_t more = row_behind(d, i, end);

            if (d->joins && last && draw(2) && is_quiet(g) && more &&
                same_group(last, g) && mach_queue_join(&queues[i], g->id)) {
                ck_assert(mach_queue_join_more(&queues[i], more));
                d->given[i] += more;
                continue;
            }
            if (!(d->joins && last && is_quiet(g) && same_group(last, g) &&
                  mach_queue_join(&queues[i], g->id)))
                push_group(d, &queues[i], g);
            last = g;
        }
        queues[i].ended = d->given[i] == d->n_groups[i];
    }
    return VPU_OK;
}

static void draw_machine(mach_desc *desc)
{
    static const char *const sets[] = {
        "wg_dispatch=0",   "wg_dispatch=131", "shave_start=0",
        "shave_start=77",  "ddr_eff_bw=1",    "ddr_eff_bw=9",
        "ddr_banks=2",     "ddr_banks=8",     "store_buffer=1",
        "store_buffer=16", "dma_channels=1",  "l1_hit_stall=3"};
    vpu_error err;

    ck_assert(!mach_desc_load(NULL, mem, desc, &err));
    for (int k = 0; k < 4; k++)
        ck_assert_msg(!mach_desc_set(desc, mem,
                                     sets[draw(sizeof sets / sizeof *sets)],
                                     &err),
                      "%s", err.msg);
}

static void see_cause(void *user, uint32_t shave, uint64_t now, uint64_t cycles,
                      mach_cause cause)
{
    (void)user, (void)shave, (void)now, (void)cycles, (void)cause;
}

static const mach_watch watch = {.cause = see_cause};

typedef struct {
    vpu_status st;
    vpu_error err;
    mach_profile profile;
} outcome;

static outcome replay(drawn *d, const mach_desc *desc, mach_launch l,
                      bool joins, mach_record *record)
{
    outcome o = {0};

    memset(d->given, 0, sizeof d->given);
    d->joins = joins;
    l.refill = give;
    l.user = d;
    o.st = record ? recorded_run(record, desc, l, &o.profile, &o.err)
                  : mach_run(desc, &l, NULL, &o.profile, &o.err);
    return o;
}

static void assert_same(const outcome *a, const outcome *b)
{
    ck_assert_int_eq(a->st, b->st);
    ck_assert_str_eq(a->err.msg, b->err.msg);
    ck_assert_uint_eq(a->profile.cycles, b->profile.cycles);
    ck_assert_mem_eq(&a->profile, &b->profile, sizeof a->profile);
}

/* The groups as they come from the record are those of the launch. */
static void assert_recorded(const drawn *d, const mach_record *r, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        mach_record_cursor c = mach_record_steps(r, i);
        mach_step s;

        for (uint32_t k = 0; k < d->n_groups[i]; k++) {
            const group *g = &d->groups[i][k];

            ck_assert(mach_record_next(&c, &s));
            ck_assert_int_eq(s.kind, MACH_STEP_GROUP);
            ck_assert_uint_eq(s.id, g->id);
            ck_assert_uint_eq(s.more, 0);
            for (uint32_t j = 0; j < g->n; j++) {
                ck_assert(mach_record_next(&c, &s));
                ck_assert_int_eq(s.kind, g->steps[j].kind);
                ck_assert_uint_eq(s.issue_cycles, g->steps[j].issue_cycles);
                if (s.kind == MACH_STEP_RUN)
                    ck_assert_mem_eq(&s.detail.mem, &g->steps[j].detail.mem,
                                     sizeof s.detail.mem);
            }
        }
        ck_assert(!mach_record_next(&c, &s));
    }
}

static void replay_recorded(const mach_record *r, const mach_desc *desc,
                            const outcome *plain)
{
    for (int seen = 0; seen < 2; seen++) {
        outcome o = {0};

        o.st = mach_record_replay(r, desc, NULL, seen ? &watch : NULL,
                                  &o.profile, &o.err);
        assert_same(&o, plain);
    }
}

START_TEST(unseen_groups_take_what_seen_ones_take)
{
    drawn *d = calloc(1, sizeof *d);
    mach_record *record = mach_record_create(1 << 24);
    mach_desc desc;

    ck_assert_ptr_nonnull(d);
    state = (uint32_t)_i * 7919 + 1;
    draw_machine(&desc);
    draw_launch(d);
    for (int limited = 0; limited < 4; limited++) {
        mach_launch l = {.name = "test", .n_shaves = 1 + draw(MOST_SHAVES)};
        mach_launch seen = l;
        outcome plain, alone, joined;

        if (limited)
            l.max_cycles = 1000 + draw(60000);
        seen.max_cycles = l.max_cycles;
        seen.watch = &watch;
        plain = replay(d, &desc, seen, false, NULL);
        alone = replay(d, &desc, l, false, NULL);
        joined = replay(d, &desc, l, true, record);
        assert_same(&alone, &plain);
        assert_same(&joined, &plain);
        if (plain.st)
            continue;
        assert_recorded(d, record, l.n_shaves);
        replay_recorded(record, &desc, &plain);
    }
    mach_record_free(record);
    free(d);
}
END_TEST

/* --- what is told of them ------------------------------------------------ */

/* All that a watch sees, as one number. */
typedef struct {
    uint64_t calls, sum;
} seen;

static void see(seen *s, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    const uint64_t all[] = {a, b, c, d};

    s->calls++;
    for (int k = 0; k < 4; k++)
        s->sum = (s->sum ^ all[k]) * UINT64_C(0x100000001b3);
}

static void sum_begin(void *user, uint32_t shave, uint64_t id, mach_phase phase)
{
    see(user, 1, shave, id, phase);
}

static void sum_end(void *user, uint32_t shave)
{
    see(user, 2, shave, 0, 0);
}

static void sum_cause(void *user, uint32_t shave, uint64_t now, uint64_t cycles,
                      mach_cause cause)
{
    see(user, 3 + 8 * (uint64_t)cause, shave, now, cycles);
}

static char *trace_of(drawn *d, const mach_desc *desc, mach_launch l,
                      const trc_config *config, size_t *n)
{
    vpu_error err = {0};
    char *path = NULL, *dir, *bytes;
    trc_writer *w;
    mach_profile p;

    ck_assert(!temp_dir(mem, "vpu-unseen-", &dir, &err));
    path = arena_printf(mem, "%s/t", dir);
    ck_assert(!trc_writer_create(config, &w, &err));
    ck_assert(!trc_writer_add(w, TRC_PERFETTO, path, &err));
    memset(d->given, 0, sizeof d->given);
    l.refill = give;
    l.user = d;
    mach_run(desc, &l, w, &p, &err);
    ck_assert_msg(!trc_writer_commit(w, &err), "%s", err.msg);
    ck_assert(!file_read(path, 1 << 26, mem, &bytes, n, &err));
    unlink(path);
    temp_dir_remove(dir);
    return bytes;
}

/* Neither trace nor watch can tell groups passed at once from those that went
 * through all phases; some launches end at their limit. */
START_TEST(traces_are_those_of_groups_one_by_one)
{
    static const trc_config configs[] = {{.level = TRC_FULL},
                                         {.level = TRC_GROUPS},
                                         {.level = TRC_SUMMARY},
                                         {.level = TRC_FULL, .max_groups = 1}};
    const mach_local local = {.name = "part", .bytes = 512, .doubled = _i % 2};
    drawn *d = calloc(1, sizeof *d);
    mach_desc desc;
    mach_launch l = {.name = "test", .locals = &local, .n_locals = 1};

    ck_assert_ptr_nonnull(d);
    state = (uint32_t)_i * 104729 + 5;
    draw_machine(&desc);
    draw_launch(d);
    l.n_shaves = 1 + draw(MOST_SHAVES);
    l.n_groups =
        2 + draw(3) * 2000000; /* told beforehand: too many for paths */
    l.local_bytes = draw(3) ? 1024 : 0;
    l.max_cycles = draw(2) ? 0 : 1000 + draw(60000);
    for (size_t k = 0; k < sizeof configs / sizeof *configs; k++) {
        char *bytes[2];
        size_t n[2];

        for (int joined = 0; joined < 2; joined++) {
            d->joins = joined;
            d->waits = !joined;
            bytes[joined] = trace_of(d, &desc, l, &configs[k], &n[joined]);
        }
        ck_assert_uint_eq(n[0], n[1]);
        ck_assert_mem_eq(bytes[0], bytes[1], n[0]);
    }
    free(d);
}
END_TEST

START_TEST(watches_see_groups_one_by_one)
{
    drawn *d = calloc(1, sizeof *d);
    mach_desc desc;
    mach_launch l = {.name = "test"};
    seen saw[2] = {{0}};
    outcome o;

    ck_assert_ptr_nonnull(d);
    state = (uint32_t)_i * 130363 + 11;
    draw_machine(&desc);
    draw_launch(d);
    l.n_shaves = 1 + draw(MOST_SHAVES);
    for (int joined = 0; joined < 2; joined++) {
        const mach_watch sums = {.phase_begin = sum_begin,
                                 .phase_end = sum_end,
                                 .cause = sum_cause,
                                 .user = &saw[joined]};

        d->waits = !joined;
        l.watch = &sums;
        o = replay(d, &desc, l, joined, NULL);
        ck_assert_msg(!o.st, "%s", o.err.msg);
    }
    ck_assert_uint_eq(saw[0].calls, saw[1].calls);
    ck_assert_uint_eq(saw[0].sum, saw[1].sum);
    free(d);
}
END_TEST

/* Two groups that no row of numbers joins stay two. */
START_TEST(groups_join_in_a_row)
{
    mach_queue q = {0};

    mach_queue_push(&q, MACH_STEP_GROUP)->id = 10;
    mach_queue_push(&q, MACH_STEP_RUN)->issue_cycles = 5;
    ck_assert(mach_queue_join(&q, 8));
    ck_assert(mach_queue_join(&q, 6));
    ck_assert(!mach_queue_join(&q, 5));
    ck_assert_uint_eq(q.items[0].more, 2);
    ck_assert(mach_queue_part(&q, 0));
    ck_assert_uint_eq(q.n, 6);
    for (uint32_t k = 0; k < 3; k++) {
        ck_assert_uint_eq(q.items[2 * k].id, 10 - 2 * k);
        ck_assert_uint_eq(q.items[2 * k].more, 0);
        ck_assert_uint_eq(q.items[2 * k + 1].issue_cycles, 5);
    }
    mach_queue_free(&q);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("groups that go unseen");
    TCase *c = tcase_create("machine");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, unseen_groups_take_what_seen_ones_take, 0, LAUNCHES);
    tcase_add_loop_test(c, traces_are_those_of_groups_one_by_one, 0, 100);
    tcase_add_loop_test(c, watches_see_groups_one_by_one, 0, 100);
    tcase_add_test(c, groups_join_in_a_row);
    tcase_set_timeout(c, 60);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
