/* Critical paths and slacks of random launches, against a longest path in plain
 * C that goes forwards, and against replays of launches in which a group takes
 * longer. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "sim/machine/critical.h"
#include "sim/machine/record.h"

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

static void set(const char *parameter, uint32_t value)
{
    const char *text = arena_printf(mem, "%s=%u", parameter, value);

    ck_assert_msg(!mach_desc_set(&desc, mem, text, &err), "%s", err.msg);
}

/* --- launches ------------------------------------------------------------ */

enum {
    MOST_SHAVES = 4,
    MOST_GROUPS = 6,  /* of a SHAVE */
    MOST_STEPS = 8,   /* of a phase */
    MOST_MOVED = 1024 /* transfers of a launch */
};

typedef struct {
    mach_step_kind kind;
    uint64_t cycles, id; /* RUN: cycles; WAIT: id; DMA: lines */
} step;

typedef struct {
    step steps[MACH_N_PHASES][MOST_STEPS];
    uint32_t n[MACH_N_PHASES];
    uint64_t longer; /* cycles at the end of its compute phase */
} group;

typedef struct {
    uint32_t n_shaves;
    bool doubled, one_buffer;
    group groups[MOST_SHAVES][MOST_GROUPS];
    uint32_t n_groups[MOST_SHAVES];
} launch;

static uint32_t random_state;

static uint32_t below(uint32_t n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % n;
}

static void add_step(group *g, mach_phase p, step s)
{
    g->steps[p][g->n[p]++] = s;
}

static void make_group(group *g, bool transfers)
{
    uint32_t asked = 0;

    *g = (group){.longer = 0};
    for (uint32_t k = below(3); transfers && k; k--, asked++)
        add_step(g, MACH_PRE, (step){MACH_STEP_DMA, 0, 1 + below(900)});
    add_step(g, MACH_COMP, (step){MACH_STEP_RUN, 1 + below(3000), 0});
    for (uint32_t k = below(3); transfers && k; k--) {
        add_step(g, MACH_COMP, (step){MACH_STEP_DMA, 0, 1 + below(900)});
        add_step(g, MACH_COMP, (step){MACH_STEP_RUN, below(1500), 0});
        asked++;
        if (below(2))
            add_step(g, MACH_COMP, (step){MACH_STEP_WAIT, 0, asked - below(2)});
    }
    for (uint32_t k = below(3); transfers && k; k--)
        add_step(g, MACH_POST, (step){MACH_STEP_DMA, 0, 1 + below(900)});
}

static launch make_launch(uint32_t seed, bool transfers)
{
    launch l;

    random_state = seed * 7919 + 1;
    memset(&l, 0, sizeof l);
    l.n_shaves = 1 + below(MOST_SHAVES);
    l.doubled = transfers && below(3);
    l.one_buffer = transfers && !l.doubled && below(2);
    for (uint32_t i = 0; i < l.n_shaves; i++) {
        l.n_groups[i] = below(MOST_GROUPS + 1);
        for (uint32_t k = 0; k < l.n_groups[i]; k++)
            make_group(&l.groups[i][k], transfers);
    }
    return l;
}

/* Numbers of groups go round the SHAVEs. */
static uint64_t number_of(const launch *l, uint32_t shave, uint32_t k)
{
    return (uint64_t)k * l->n_shaves + shave;
}

static void record_phase(mach_record *r, uint32_t shave, const group *g,
                         mach_phase p)
{
    mach_step s = {.kind = MACH_STEP_PHASE, .id = p};

    ck_assert(mach_record_add(r, shave, &s));
    for (uint32_t k = 0; k < g->n[p]; k++) {
        s = (mach_step){.kind = g->steps[p][k].kind};
        if (s.kind == MACH_STEP_RUN)
            s.issue_cycles = g->steps[p][k].cycles;
        else if (s.kind == MACH_STEP_DMA)
            s.detail.dma = (mach_transfer){.lines = (uint32_t)g->steps[p][k].id,
                                           .to_cmx = p != MACH_POST};
        else
            s.id = g->steps[p][k].id;
        ck_assert(mach_record_add(r, shave, &s));
    }
    s = (mach_step){.kind = MACH_STEP_RUN, .issue_cycles = g->longer};
    if (p == MACH_COMP)
        ck_assert(mach_record_add(r, shave, &s));
}

static mach_record *record(const launch *l)
{
    mach_launch like = {.name = "test",
                        .n_shaves = l->n_shaves,
                        .double_buffered = l->doubled,
                        .one_buffer = l->one_buffer};
    mach_record *r = mach_record_create(1 << 22);

    for (uint32_t i = 0; i < l->n_shaves; i++)
        like.n_groups += l->n_groups[i];
    mach_record_begin(r, &like);
    for (uint32_t i = 0; i < l->n_shaves; i++)
        for (uint32_t k = 0; k < l->n_groups[i]; k++) {
            mach_record_add(r, i,
                            &(const mach_step){.kind = MACH_STEP_GROUP,
                                               .id = number_of(l, i, k)});
            for (int p = 0; p < MACH_N_PHASES; p++)
                record_phase(r, i, &l->groups[i][k], (mach_phase)p);
        }
    return r;
}

/* --- what the engine says ------------------------------------------------ */

typedef struct {
    mach_moved moved[MOST_MOVED]; /* in the order of their ends */
    uint32_t n;
} traffic;

static void on_moved(void *user, const mach_moved *m)
{
    traffic *t = user;

    ck_assert_uint_lt(t->n, MOST_MOVED);
    t->moved[t->n++] = *m;
}

/* The cycles of the launch. path and traffic may be NULL. */
static uint64_t cycles_of(const launch *l, critical *path, traffic *t)
{
    mach_record *r = record(l);
    const mach_watch watch = {
        .user = t, .transfer = t ? on_moved : NULL, .path = path};
    mach_profile p;

    if (t)
        t->n = 0;
    ck_assert_msg(!mach_record_replay(r, &desc, NULL, &watch, &p, &err), "%s",
                  err.msg);
    mach_record_free(r);
    return p.cycles;
}

/* --- the longest path, forwards ------------------------------------------ */

/* When transfers begin and end, as far as it is known: times only grow until
 * nothing changes. */
typedef struct {
    uint64_t asked, end, takes;
    int before; /* in its channel; -1 = none */
} moving;

typedef struct {
    const launch *l;
    moving all[MOST_MOVED];
    uint32_t of[MOST_SHAVES][MOST_MOVED], n_of[MOST_SHAVES]; /* as asked for */
    bool changed;
} model;

/* A SHAVE on its way. */
typedef struct {
    model *m;
    uint32_t shave, n_asked;
    uint64_t t;
    uint64_t phase_end[MOST_GROUPS][MACH_N_PHASES]; /* of its transfers */
    uint64_t number_end[MOST_GROUPS][3 * MOST_STEPS];
    uint32_t n_numbers[MOST_GROUPS];
    uint64_t all_end;
} walker;

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void ask(walker *w, uint32_t k, mach_phase p)
{
    moving *x = &w->m->all[w->m->of[w->shave][w->n_asked++]];
    uint64_t begin, end;

    w->t += desc.dma_setup;
    begin = x->before < 0 ? w->t : most(w->t, w->m->all[x->before].end);
    end = begin + x->takes;
    w->m->changed |= end != x->end;
    x->end = end;
    w->phase_end[k][p] = most(w->phase_end[k][p], end);
    w->number_end[k][w->n_numbers[k]++] = end;
    w->all_end = most(w->all_end, end);
}

static void walk_phase(walker *w, uint32_t k, mach_phase p)
{
    const group *g = &w->m->l->groups[w->shave][k];
    uint32_t first = w->n_numbers[k];

    if (!g->n[p])
        return;
    if (p == MACH_COMP)
        for (int q = 0; q < MACH_N_PHASES; q++) {
            w->t = most(w->t, w->phase_end[k][q]);
            if (k >= 2)
                w->t = most(w->t, w->phase_end[k - 2][q]);
        }
    else if (p == MACH_PRE && w->m->l->one_buffer)
        w->t = most(w->t, w->all_end);
    else if (k >= 2)
        w->t = most(w->t, w->phase_end[k - 2][p]);
    for (uint32_t n = 0; n < g->n[p]; n++) {
        const step *s = &g->steps[p][n];

        w->t += s->cycles;
        if (s->kind == MACH_STEP_DMA)
            ask(w, k, p);
        for (uint32_t x = first;
             s->kind == MACH_STEP_WAIT && x < s->id && x < w->n_numbers[k]; x++)
            w->t = most(w->t, w->number_end[k][x]);
    }
    w->t += p == MACH_COMP ? g->longer : 0;
}

static uint64_t walk_shave(model *m, uint32_t i)
{
    static walker w;
    uint32_t n = m->l->n_groups[i];

    memset(&w, 0, sizeof w);
    w.m = m;
    w.shave = i;
    w.t = desc.layer_fixed + i * desc.shave_start;
    for (uint32_t k = 0; k < n; k++) {
        if (!m->l->doubled || !k) {
            w.t += desc.wg_dispatch;
            walk_phase(&w, k, MACH_PRE);
        }
        if (m->l->doubled && k + 1 < n) {
            w.t += desc.wg_dispatch;
            walk_phase(&w, k + 1, MACH_PRE);
        }
        walk_phase(&w, k, MACH_COMP);
        walk_phase(&w, k, MACH_POST);
    }
    return most(w.t, w.all_end);
}

/* Durations and channels are those of a run; asked for in the order of the
 * times at which it asked. */
static void make_model(model *m, const launch *l, const traffic *t)
{
    int last[16];

    memset(m, 0, sizeof *m);
    memset(last, 255, sizeof last);
    m->l = l;
    for (uint32_t x = 0; x < t->n; x++) {
        const mach_moved *v = &t->moved[x];
        uint32_t *of = m->of[v->shave], k = m->n_of[v->shave]++;

        m->all[x] = (moving){.asked = v->asked,
                             .takes = v->end - v->begin,
                             .before = last[v->channel]};
        last[v->channel] = (int)x;
        for (; k && m->all[of[k - 1]].asked > v->asked; k--)
            of[k] = of[k - 1];
        of[k] = x;
    }
}

static uint64_t longest(model *m, const launch *l)
{
    uint64_t end = 0;

    m->l = l;
    for (uint32_t x = 0; x < MOST_MOVED; x++)
        m->all[x].end = 0;
    do {
        m->changed = false;
        end = 0;
        for (uint32_t i = 0; i < l->n_shaves; i++)
            end = most(end, walk_shave(m, i));
    } while (m->changed);
    return end;
}

/* --- properties ---------------------------------------------------------- */

static group *group_of(launch *l, uint64_t number)
{
    return &l->groups[number % l->n_shaves][number / l->n_shaves];
}

static void check_path(const critical_result *r, uint64_t cycles)
{
    uint64_t t = 0;

    for (size_t i = 0; i < r->n_segments; i++) {
        const critical_segment *s = &r->segments[i];
        uint64_t sum = 0;

        ck_assert_uint_eq(s->begin, t);
        ck_assert_uint_gt(s->end, t);
        t = s->end;
        for (int c = 0; s->by_cause && c < MACH_N_CAUSES; c++)
            sum += s->by_cause[c];
        ck_assert(!s->by_cause == (s->kind != CRITICAL_SHAVE));
        if (s->by_cause)
            ck_assert_uint_eq(sum, s->end - s->begin);
    }
    ck_assert_uint_eq(t, cycles);
}

static void vary_machine(uint32_t seed)
{
    set("dma_channels", 1 + seed % 3);
    set("layer_fixed", seed % 2 * 700);
    set("wg_dispatch", seed % 5 * 100);
    set("shave_start", seed % 7 * 50);
    set("dma_setup", 20);
}

/* Every group of the launch, by its slack longer and by one cycle more. */
START_TEST(slack_is_what_the_longest_path_leaves)
{
    static model m;
    static traffic t;
    launch l = make_launch((uint32_t)_i, _i % 8);
    critical *path = critical_create(CRITICAL_BYTES);
    size_t on_path = 0, with_slack = 0, n = 0;
    critical_result r;
    uint64_t cycles;

    vary_machine((uint32_t)_i);
    cycles = cycles_of(&l, path, &t);
    ck_assert_msg(!critical_finish(path, l.n_shaves, cycles, &r, &err), "%s",
                  err.msg);
    check_path(&r, cycles);
    make_model(&m, &l, &t);
    ck_assert_uint_eq(longest(&m, &l), cycles);
    for (uint32_t i = 0; i < l.n_shaves; i++)
        n += l.n_groups[i];
    ck_assert_uint_eq(r.n_groups, n);
    for (size_t i = 0; i < r.n_groups; i++) {
        group *g = group_of(&l, r.groups[i].group);

        g->longer = r.groups[i].slack;
        ck_assert_uint_eq(longest(&m, &l), cycles);
        g->longer++;
        ck_assert_uint_gt(longest(&m, &l), cycles);
        g->longer = 0;
        on_path += r.groups[i].on_path;
        with_slack += r.groups[i].slack > 0;
        if (r.groups[i].on_path)
            ck_assert_uint_eq(r.groups[i].slack, 0);
        ck_assert_uint_eq(r.groups[i].group % l.n_shaves, r.groups[i].shave);
    }
    ck_assert_uint_le(on_path + with_slack, n);
    critical_free(path);
}
END_TEST

/* The engine agrees where nothing else changes: without transfers, and for one
 * SHAVE with one channel. */
START_TEST(slack_is_what_a_replay_leaves)
{
    bool alone = _i % 2;
    launch l = make_launch((uint32_t)_i, alone);
    critical *path = critical_create(CRITICAL_BYTES);
    critical_result r;
    uint64_t cycles;

    vary_machine((uint32_t)_i);
    set("dma_channels", 1);
    if (alone)
        l.n_shaves = 1;
    cycles = cycles_of(&l, path, NULL);
    ck_assert(!critical_finish(path, l.n_shaves, cycles, &r, &err));
    for (size_t i = 0; i < r.n_groups; i++) {
        group *g = group_of(&l, r.groups[i].group);

        g->longer = r.groups[i].slack;
        ck_assert_uint_eq(cycles_of(&l, NULL, NULL), cycles);
        g->longer++;
        ck_assert_uint_gt(cycles_of(&l, NULL, NULL), cycles);
        g->longer = 0;
    }
    critical_free(path);
}
END_TEST

/* --- by hand ------------------------------------------------------------- */

static critical_result analysed(const launch *l, critical *path)
{
    critical_result r;
    uint64_t cycles = cycles_of(l, path, NULL);

    ck_assert_msg(!critical_finish(path, l->n_shaves, cycles, &r, &err), "%s",
                  err.msg);
    return r;
}

/* SHAVE 0 is the longer one by 1500 cycles. */
START_TEST(the_shorter_shave_has_slack)
{
    critical *path = critical_create(CRITICAL_BYTES);
    launch l = {.n_shaves = 2, .n_groups = {1, 2}};
    critical_result r;

    set("layer_fixed", 1000);
    set("wg_dispatch", 0);
    set("shave_start", 0);
    add_step(&l.groups[0][0], MACH_COMP, (step){MACH_STEP_RUN, 2000, 0});
    add_step(&l.groups[1][0], MACH_COMP, (step){MACH_STEP_RUN, 200, 0});
    add_step(&l.groups[1][1], MACH_COMP, (step){MACH_STEP_RUN, 300, 0});
    r = analysed(&l, path);
    ck_assert_uint_eq(r.shave, 0);
    ck_assert_uint_eq(r.slack_most, 1500);
    ck_assert_uint_eq(r.n_groups, 3);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(r.groups[i].slack, r.groups[i].shave ? 1500 : 0);
        ck_assert_int_eq(r.groups[i].on_path, !r.groups[i].shave);
    }
    ck_assert_uint_eq(r.n_segments, 1);
    ck_assert_uint_eq(r.segments[0].by_cause[MACH_CAUSE_DISPATCH], 1000);
    ck_assert_uint_eq(r.segments[0].by_cause[MACH_CAUSE_ISSUE], 2000);
    critical_free(path);
}
END_TEST

/* One channel: SHAVE 1 waits until that of SHAVE 0 is through, so what SHAVE 0
 * did before it asked is on the path. */
START_TEST(the_path_goes_through_the_channel)
{
    critical *path = critical_create(CRITICAL_BYTES);
    launch l = {.n_shaves = 2, .n_groups = {1, 1}};
    critical_result r;

    set("layer_fixed", 0);
    set("wg_dispatch", 0);
    set("shave_start", 10);
    set("dma_setup", 1);
    set("dma_channels", 1);
    for (uint32_t i = 0; i < 2; i++) {
        add_step(&l.groups[i][0], MACH_PRE, (step){MACH_STEP_RUN, 100, 0});
        add_step(&l.groups[i][0], MACH_PRE, (step){MACH_STEP_DMA, 0, 500});
        add_step(&l.groups[i][0], MACH_COMP,
                 (step){MACH_STEP_RUN, i ? 400 : 10, 0});
    }
    r = analysed(&l, path);
    ck_assert_uint_eq(r.n_segments, 4);
    ck_assert_int_eq(r.segments[0].kind, CRITICAL_SHAVE);
    ck_assert_uint_eq(r.segments[0].shave, 0);
    ck_assert_uint_eq(r.segments[0].end, 101);
    ck_assert_int_eq(r.segments[1].kind, CRITICAL_CHANNELS);
    ck_assert_uint_eq(r.segments[1].shave, 0);
    ck_assert_int_eq(r.segments[2].kind, CRITICAL_TRANSFER);
    ck_assert_uint_eq(r.segments[2].shave, 1);
    ck_assert_int_eq(r.segments[3].kind, CRITICAL_SHAVE);
    ck_assert_uint_eq(r.segments[3].end - r.segments[3].begin, 400);
    ck_assert(r.groups[0].shave == 0 && !r.groups[0].on_path);
    ck_assert_uint_gt(r.groups[0].slack, 390);
    ck_assert(r.groups[1].on_path);
    critical_free(path);
}
END_TEST

START_TEST(too_many_are_told)
{
    critical *path = critical_create(500);
    launch l = make_launch(11, true);
    critical_result r;
    uint64_t cycles;

    l.n_groups[0] = 3;
    for (uint32_t k = 0; k < 3; k++)
        make_group(&l.groups[0][k], true);
    cycles = cycles_of(&l, path, NULL);
    ck_assert_int_eq(critical_finish(path, l.n_shaves, cycles, &r, &err),
                     VPU_ERR_LIMIT);
    ck_assert_int_eq(critical_finish(path, l.n_shaves, cycles, &r, &err),
                     VPU_ERR_LIMIT);
    critical_free(path);
}
END_TEST

/* What cannot fit is not begun, with the same answer; what might is kept. */
START_TEST(too_many_are_expected)
{
    for (uint64_t n = 3; n <= 3000000; n *= 1000) {
        critical *path = critical_create(CRITICAL_BYTES);
        launch l = make_launch(11, true);
        critical_result r;
        uint64_t cycles;

        l.n_groups[0] = 3;
        for (uint32_t k = 0; k < 3; k++)
            make_group(&l.groups[0][k], true);
        critical_expect(path, n);
        cycles = cycles_of(&l, path, NULL);
        ck_assert_int_eq(critical_finish(path, l.n_shaves, cycles, &r, &err),
                         n == 3000000 ? VPU_ERR_LIMIT : VPU_OK);
        critical_free(path);
    }
    critical_expect(NULL, 1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("critical paths");
    TCase *t = tcase_create("critical");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, slack_is_what_the_longest_path_leaves, 0, 400);
    tcase_add_loop_test(t, slack_is_what_a_replay_leaves, 0, 100);
    tcase_add_test(t, the_shorter_shave_has_slack);
    tcase_add_test(t, the_path_goes_through_the_channel);
    tcase_add_test(t, too_many_are_told);
    tcase_add_test(t, too_many_are_expected);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
