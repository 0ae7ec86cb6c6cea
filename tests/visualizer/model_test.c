/* The viewer without a display: sums, zoom, hits, search, damaged files. The
 * oracle is a plain list of the slices that were put in. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/trace/writer.h"
#include "visualizer/control.h"
#include "visualizer/load.h"
#include "visualizer/stats.h"

enum { MAX = 4000 };

static const char *const causes[] = {"issue",       "L2 stall",  "DDR stall",
                                     "store stall", "DMA setup", "DMA wait",
                                     "dispatch",    "idle"};

typedef struct {
    uint64_t begin, end;
    int class;
} plain;

static plain put[MAX];
static int n_put;
static uint64_t seed;

static uint64_t next_random(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
}

/* One SHAVE's causes with gaps, empty slices and now and then a very long one.
 */
static void make(tl_timeline *tl, uint64_t how)
{
    uint64_t t = 0;
    vpu_error err;
    uint32_t row;

    seed = how * 7919 + 1;
    ck_assert(!tl_init(tl, &err));
    tl->clk_mhz = 700;
    row = tl_row_at(tl, 4);
    tl_row_describe(tl, row, 3, "SHAVE 0", false);
    n_put = 1 + (int)next_random(how % 3 ? 300 : MAX - 1);
    for (int i = 0; i < n_put; i++) {
        plain *p = &put[i];

        p->class = (int)next_random(8);
        p->begin = t += next_random(3) ? 0 : next_random(50);
        t += next_random(5) ? next_random(40) : 0;
        if (!next_random(400))
            t += UINT64_C(5000000000);
        p->end = t;
        tl_add_begin(tl, row, p->begin, causes[p->class]);
        tl_add_end(tl, row, p->end);
    }
    tl_finish(tl);
}

static uint64_t overlap(const plain *p, uint64_t a, uint64_t b)
{
    uint64_t lo = p->begin > a ? p->begin : a, hi = p->end < b ? p->end : b;

    return hi > lo ? hi - lo : 0;
}

START_TEST(sums_are_exact_for_any_stretch)
{
    tl_timeline tl;

    make(&tl, (uint64_t)_i);
    for (int k = 0; k < 200; k++) {
        uint64_t a = next_random(tl.end + 2), b = a + next_random(tl.end + 2);
        uint64_t want[TL_N_CLASSES] = {0}, got[TL_N_CLASSES];

        for (int i = 0; i < n_put; i++)
            want[put[i].class] += overlap(&put[i], a, b);
        tl_sums(&tl, &tl.rows[0].lanes[1], a, b, got);
        ck_assert_mem_eq(want, got, sizeof want);
    }
    tl_free(&tl);
}
END_TEST

/* What a painter adds up over its columns is the whole, at every width. */
START_TEST(columns_add_up)
{
    tl_timeline tl;
    uint64_t whole[TL_N_CLASSES];

    make(&tl, (uint64_t)_i);
    tl_sums(&tl, &tl.rows[0].lanes[1], 0, tl.end, whole);
    for (uint64_t width = 1; width < 3000; width = width * 3 + 1) {
        uint64_t all[TL_N_CLASSES] = {0}, last[TL_N_CLASSES] = {0};
        tl_cursor at = {0};

        for (uint64_t x = 1; x <= width; x++) {
            uint64_t now[TL_N_CLASSES];

            tl_walk(&tl, &tl.rows[0].lanes[1], &at,
                    (uint64_t)((__uint128_t)tl.end * x / width), now);
            for (int c = 0; c < TL_N_CLASSES; c++) {
                ck_assert(now[c] >= last[c]);
                all[c] += now[c] - last[c];
            }
            memcpy(last, now, sizeof last);
        }
        ck_assert_mem_eq(all, whole, sizeof all);
    }
    tl_free(&tl);
}
END_TEST

/* Where only the neighbourhood of a time is asked for, the answer is that of a
 * time in it, exactly. */
START_TEST(near_sums_are_exact_for_their_time)
{
    tl_timeline tl;

    make(&tl, (uint64_t)_i);
    for (uint64_t slack = 0; slack < 5000; slack = slack * 5 + 1) {
        const tl_lane *l = &tl.rows[0].lanes[1];
        tl_cursor at = {0};

        for (uint64_t k = 0, t = 0; k < 200;
             k++, t += next_random(tl.end / 99)) {
            uint64_t want[TL_N_CLASSES], got[TL_N_CLASSES];
            uint64_t when = tl_walk_near(&tl, l, &at, t, slack, got);

            ck_assert_uint_le(when, t);
            ck_assert_uint_le(t - when, slack);
            tl_sums(&tl, l, 0, when, want);
            ck_assert_mem_eq(want, got, sizeof want);
        }
    }
    tl_free(&tl);
}
END_TEST

START_TEST(slice_at_finds_what_covers_a_time)
{
    tl_timeline tl;

    make(&tl, (uint64_t)_i);
    for (int k = 0; k < 300; k++) {
        uint64_t t = next_random(tl.end + 1), got;
        int want = -1;

        for (int i = 0; i < n_put; i++)
            if (put[i].begin <= t && t < put[i].end)
                want = i;
        if (tl_slice_at(&tl.rows[0].lanes[1], t, &got))
            ck_assert_int_eq(want, (int)got);
        else
            ck_assert_int_eq(want, -1);
    }
    tl_free(&tl);
}
END_TEST

START_TEST(counters_mean_and_peak)
{
    uint64_t time[300];
    double value[300];
    vpu_error err;
    tl_timeline tl;
    uint32_t row;

    seed = 99 + (uint64_t)_i;
    ck_assert(!tl_init(&tl, &err));
    row = tl_row_at(&tl, 1);
    for (int i = 0; i < 300; i++) {
        time[i] = (i ? time[i - 1] : 0) + next_random(20);
        value[i] = (double)next_random(1000);
        tl_add_value(&tl, row, time[i], value[i]);
    }
    for (int k = 0; k < 100; k++) {
        uint64_t a = next_random(time[299]), b = a + 1 + next_random(500);
        double sum = 0, high = 0, mean, peak;

        for (uint64_t t = a; t < b; t++) {
            double v = 0, most = 0;

            for (int i = 0; i < 300 && time[i] <= t; i++) {
                v = value[i];
                if (time[i] == t && t > a && v > most)
                    most = v; /* values replaced at once count for the peak */
            }
            sum += v;
            high = fmax(high, fmax(v, most));
        }
        tl_mean(tl.rows[0].counter, a, b, &mean, &peak);
        ck_assert_double_eq_tol(mean, sum / (double)(b - a), 1e-6);
        ck_assert_double_eq_tol(peak, high, 1e-9);
    }
    tl_free(&tl);
}
END_TEST

START_TEST(pixels_and_ticks_round_trip)
{
    tl_timeline tl;
    vpu_error err;
    view v;

    make(&tl, 6);
    ck_assert(!view_init(&v, &tl, &err));
    for (int k = 0; k < 500; k++) {
        double at = (double)next_random(tl.end), x;

        view_zoom(&v, next_random(2) ? 0.6 : 1.3, at);
        ck_assert(v.from >= 0 && v.to - v.from >= 7.99);
        ck_assert(v.to <= fmax((double)tl.end, 8) + 1e-6);
        x = (double)next_random(1700);
        ck_assert_double_eq_tol(view_x(&v, 1700, view_t(&v, 1700, x)), x, 1e-3);
    }
    view_free(&v);
    tl_free(&tl);
}
END_TEST

START_TEST(zoom_keeps_what_is_under_the_mouse)
{
    tl_timeline tl;
    vpu_error err;
    view v;

    make(&tl, 3);
    ck_assert(!view_init(&v, &tl, &err));
    for (int k = 0; k < 8; k++) {
        double t = view_t(&v, 1000, 400);

        view_zoom(&v, 0.7, t);
        ck_assert_double_eq_tol(view_x(&v, 1000, t), 400, 1e-3);
    }
    view_free(&v);
    tl_free(&tl);
}
END_TEST

START_TEST(navigation_comes_back)
{
    tl_timeline tl;
    vpu_error err;
    view v;
    double end;

    make(&tl, 3);
    ck_assert(!view_init(&v, &tl, &err));
    end = v.to;
    view_show(&v, end * 0.1, end * 0.5);
    view_show(&v, end * 0.2, end * 0.3);
    view_back(&v);
    ck_assert_double_eq(v.from, end * 0.1);
    view_back(&v);
    ck_assert_double_eq(v.to, end);
    view_back(&v); /* no further */
    ck_assert_double_eq(v.to, end);
    view_forward(&v);
    view_forward(&v);
    ck_assert_double_eq_tol(v.from, end * 0.2, 1e-6);
    view_free(&v);
    tl_free(&tl);
}
END_TEST

/* --- files --------------------------------------------------------------- */

static char dir[] = "/tmp/model_testXXXXXX";
static char path[4200];

/* Known when all is over: SHAVE 0, then twice the channel, SHAVE 1 to the end;
 * group i has a slack of 100 i cycles. */
static void add_path(trc_writer *w, trc_track device)
{
    static const struct {
        const char *name;
        uint64_t begin, end, shave, channel, group;
    } segments[] = {{"SHAVE 0 group", 0, 2000, 0, UINT64_MAX, 0},
                    {"busy DMA 0 group", 2000, 2500, 0, 0, 0},
                    {"DMA 0 group", 2500, 4000, 1, 0, 1},
                    {"SHAVE 1 group", 4000, 30000, 1, UINT64_MAX, 19},
                    {"SHAVE 1 group", 30000, 59900, 1, UINT64_MAX, 39}};
    trc_track lane = trc_track_slices(w, device, "critical path", TRC_CYCLES);

    for (size_t i = 0; i < sizeof segments / sizeof *segments; i++) {
        bool moves = segments[i].channel != UINT64_MAX;
        uint64_t cycles = segments[i].end - segments[i].begin;
        trc_arg args[] = {TRC_UINT("shave", segments[i].shave),
                          TRC_UINT(moves ? "in" : "issue", cycles),
                          TRC_UINT("channel", segments[i].channel)};

        trc_slice(w, lane, segments[i].begin, segments[i].end,
                  &(trc_event){.name = segments[i].name,
                               .numbered = true,
                               .number = segments[i].group,
                               .args = args,
                               .n_args = moves ? 3 : 2});
    }
    for (uint64_t i = 0; i < 40; i++) {
        trc_arg args[] = {TRC_UINT("slack", 100 * i),
                          TRC_UINT("on critical path", !i)};
        trc_track slack = trc_track_slices(
            w, device, i % 2 ? "SHAVE 1 slack" : "SHAVE 0 slack", TRC_CYCLES);

        trc_slice(w, slack, i / 2 * 3000 + 1000, i / 2 * 3000 + 2900,
                  &(trc_event){.name = "group",
                               .numbered = true,
                               .number = i,
                               .args = args,
                               .n_args = 2});
    }
}

/* Two SHAVEs, groups with preload and postwrite, one channel, one counter. */
static void write_trace(void)
{
    trc_config cfg = {.level = TRC_FULL, .clk_mhz = 700};
    vpu_error err;
    trc_writer *w;
    trc_track device, shave[2], dma, ddr;

    strcpy(dir, "/tmp/model_testXXXXXX");
    ck_assert(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/t.pftrace", dir);
    ck_assert(!trc_writer_create(&cfg, &w, &err));
    ck_assert(!trc_writer_add(w, TRC_PERFETTO, path, &err));
    device = trc_track_group(w, 0, "device");
    shave[0] = trc_track_slices(w, device, "SHAVE 0", TRC_CYCLES);
    shave[1] = trc_track_slices(w, device, "SHAVE 1", TRC_CYCLES);
    dma = trc_track_slices(w, device, "DMA 0", TRC_CYCLES);
    ddr = trc_track_counter(w, device, "DDR bytes/cycle", TRC_CYCLES,
                            TRC_UNIT_NONE);
    add_path(w, device);
    for (uint64_t i = 0; i < 40; i++) {
        static const char *const names[] = {"pre", "comp", "post"};
        trc_arg args[] = {TRC_UINT("group", i), TRC_TEXT("launch", "L")};
        uint64_t t = i / 2 * 3000;

        for (uint64_t k = 0; k < 3; k++) {
            trc_begin(w, shave[i % 2], t + k * 1000,
                      &(trc_event){.name = names[k],
                                   .numbered = true,
                                   .number = i,
                                   .args = args,
                                   .n_args = 2});
            trc_slice(w, shave[i % 2], t + k * 1000, t + k * 1000 + 600,
                      &(trc_event){.name = "issue"});
            trc_slice(w, shave[i % 2], t + k * 1000 + 600, t + k * 1000 + 900,
                      &(trc_event){.name = "DMA wait"});
            trc_end(w, shave[i % 2], t + k * 1000 + 900, NULL, 0);
        }
        if (i % 2)
            trc_slice(
                w, dma, t + 500, t + 1500,
                &(trc_event){.name = "in", .numbered = true, .number = i});
        trc_count(w, ddr, i * 1500, (int64_t)i);
    }
    ck_assert(!trc_writer_commit(w, &err));
}

static void drop_trace(void)
{
    unlink(path);
    rmdir(dir);
}

START_TEST(a_written_trace_comes_back_in_cycles)
{
    vpu_error err;
    tl_timeline tl;
    stats s;
    view v;
    view_slice found, near;

    write_trace();
    ck_assert_msg(!load_file(path, &tl, &err), "%s", err.msg);
    ck_assert_str_eq(tl.partial, "");
    ck_assert_uint_eq(tl.clk_mhz, 700);
    ck_assert_uint_eq(tl.end, 59900);
    stats_of(&tl, 0, 60000, &s);
    ck_assert_uint_eq(s.n_shaves, 2);
    ck_assert_uint_eq(s.cause[TL_ISSUE], 120 * 600);
    ck_assert_uint_eq(s.cause[TL_DMA_WAIT], 120 * 300);
    ck_assert_uint_eq(s.uncovered, 120 * 100);
    ck_assert_uint_eq(s.dma_busy, 20 * 1000);
    /* A transfer from 500 on: issue to 600, wait and gap to 1000, issue on. */
    ck_assert(s.has_overlap);
    ck_assert_uint_eq(s.transferring, 20 * 1000);
    ck_assert_uint_eq(s.overlapped, 20 * 600);
    ck_assert(!view_init(&v, &tl, &err));
    ck_assert(view_search(&v, "COMP 7", 1, &found));
    ck_assert(view_flow(&v, &found, 1, &near));
    ck_assert_uint_eq(near.slice, found.slice + 1);
    ck_assert(view_flow(&v, &found, -1, &near));
    ck_assert(!view_flow(&v, &near, -1, &near));
    ck_assert(view_search(&v, "comp 1", 1, &found)); /* not comp 10 */
    ck_assert_uint_eq(tl_number(&tl.rows[found.row].lanes[0], found.slice), 1);
    ck_assert(!view_search(&v, "nowhere", 1, &found));
    view_free(&v);
    tl_free(&tl);
    drop_trace();
}
END_TEST

/* n and N visit every match once and come round. */
START_TEST(search_visits_all)
{
    vpu_error err;
    tl_timeline tl;
    view v;
    view_slice s, first;
    int n = 0;

    write_trace();
    ck_assert(!load_file(path, &tl, &err));
    ck_assert(!view_init(&v, &tl, &err));
    ck_assert(view_search(&v, "post", 1, &first));
    view_select(&v, &first);
    do {
        ck_assert(view_search(&v, "post", 1, &s));
        view_select(&v, &s);
    } while (++n < 100 && memcmp(&s, &first, sizeof s));
    ck_assert_int_eq(n, 40);
    for (int i = 0; i < 40; i++) {
        ck_assert(view_search(&v, "post", -1, &s));
        view_select(&v, &s);
    }
    ck_assert(!memcmp(&s, &first, sizeof s));
    view_free(&v);
    tl_free(&tl);
    drop_trace();
}
END_TEST

/* Groups, transfers and the path's slices know the slack of their group. */
START_TEST(slack_of_what_is_selected)
{
    view_slice s;
    view_slack slack;
    vpu_error err;
    tl_timeline tl;
    view v;

    write_trace();
    ck_assert(!load_file(path, &tl, &err));
    ck_assert(!view_init(&v, &tl, &err));
    for (uint32_t i = 0; i < 40; i++) {
        static const char *const phases[] = {"pre", "comp", "post", "in"};

        for (int k = 0; k < 4; k++) {
            char name[32];

            snprintf(name, sizeof name, "%s %u", phases[k], i);
            if (k == 3 && i % 2 == 0)
                continue; /* has no transfer */
            ck_assert(view_search(&v, name, 1, &s));
            if (k == 3) { /* nothing says whose */
                ck_assert(!view_slack_of(&v, &s, &slack));
                continue;
            }
            ck_assert(view_slack_of(&v, &s, &slack));
            ck_assert_uint_eq(slack.slack, 100 * i);
            ck_assert_int_eq(slack.on_path, !i);
        }
    }
    ck_assert(view_search(&v, "dma 0 group 1", 1, &s));
    ck_assert(view_slack_of(&v, &s, &slack));
    ck_assert_uint_eq(slack.slack, 100);
    ck_assert(view_search(&v, "issue", 1, &s)); /* is of no group */
    ck_assert(!view_slack_of(&v, &s, &slack));
    view_free(&v);
    tl_free(&tl);
    drop_trace();
}
END_TEST

/* Rows know when they are on the path; what touches is one stretch. */
START_TEST(rows_on_the_path)
{
    const facts_stretch *at = NULL;
    vpu_error err;
    tl_timeline tl;
    control k;
    view v;

    write_trace();
    ck_assert(!load_file(path, &tl, &err));
    ck_assert(!view_init(&v, &tl, &err));
    ck_assert_uint_eq(v.facts.n_path, 3);
    for (uint32_t i = 0; i < tl.n_rows; i++) {
        uint64_t n = facts_path(&v.facts, &tl, i, &at);

        if (tl.rows[i].kind == TL_ROW_SHAVE) {
            ck_assert_uint_eq(n, 1);
            ck_assert_uint_eq(at->begin, tl.rows[i].index ? 4000 : 0);
            ck_assert_uint_eq(at->end, tl.rows[i].index ? 59900 : 2000);
        } else if (tl.rows[i].kind == TL_ROW_DMA) {
            ck_assert_uint_eq(n, 1);
            ck_assert_uint_eq(at->begin, 2000);
            ck_assert_uint_eq(at->end, 4000);
        } else {
            ck_assert_uint_eq(n, 0);
        }
    }
    control_init(&k, &v, "t", NULL, NULL);
    ck_assert(control_key(&k, 'x', 0) && v.path_only);
    ck_assert(control_key(&k, 'x', 0) && !v.path_only);
    v.facts.n_path = 0; /* as of a trace that does not say */
    ck_assert(!control_key(&k, 'x', 0) && !v.path_only);
    view_free(&v);
    tl_free(&tl);
    drop_trace();
}
END_TEST

/* Every hit covers its point; rows fold, pin, hide and move. */
START_TEST(hits_and_rows)
{
    vpu_error err;
    tl_timeline tl;
    view v;
    int hits = 0;

    write_trace();
    ck_assert(!load_file(path, &tl, &err));
    ck_assert(!view_init(&v, &tl, &err));
    ck_assert_uint_eq(v.n_rows, 5); /* slack is no row */
    for (double y = 0.5; y < v.height; y += 1)
        for (double x = 0; x < 1200; x += 13) {
            view_slice s;
            const tl_lane *l;
            double a, b;

            if (!view_hit(&v, 1200, x, y, &s))
                continue;
            l = &tl.rows[s.row].lanes[s.lane];
            a = view_x(&v, 1200, (double)tl_begin(l, s.slice));
            b = view_x(&v, 1200, (double)(tl_end(l, s.slice)));
            ck_assert(a <= x + 1 && b >= x);
            hits++;
        }
    ck_assert_int_gt(hits, 1000);
    view_hide(&v, 0, true);
    ck_assert_double_eq(v.rows[0].h, 0);
    view_hide(&v, 0, false);
    view_pin(&v, 2, true);
    ck_assert_double_eq(v.rows[2].y, 0);
    ck_assert(v.rows[0].y > 0);
    view_raise(&v, 2, -2);
    ck_assert(v.rows[0].pinned);
    view_raise(&v, 0, -1); /* nowhere to go */
    ck_assert(v.rows[0].pinned);
    view_fold(&v, 1, true);
    ck_assert(v.rows[1].h < v.rows[2].h);
    view_free(&v);
    tl_free(&tl);
    drop_trace();
}
END_TEST

/* 1024 ticks on 1024 pixels, so that slices end where pixels do: causes at
 * [100, 200) and [300, 301), and the last at [1000, 1024). */
static void make_ruled(tl_timeline *tl)
{
    static const uint64_t at[][2] = {{100, 200}, {300, 301}, {1000, 1024}};
    vpu_error err;
    uint32_t row;

    ck_assert(!tl_init(tl, &err));
    tl->clk_mhz = 700;
    row = tl_row_at(tl, 4);
    tl_row_describe(tl, row, 3, "SHAVE 0", false);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        tl_add_begin(tl, row, at[i][0], "issue");
        tl_add_end(tl, row, at[i][1]);
    }
    tl_finish(tl);
}

static const struct {
    double x;
    int slice; /* -1 = none */
} points[] = {{-1, -1},    {0, -1},    {99, -1},    {99.9, -1},  {100, 0},
              {100.5, 0},  {199, 0},   {199.9, 0},  {200, -1},   {299.9, -1},
              {300, 1},    {300.9, 1}, {301, -1},   {999.9, -1}, {1000, 2},
              {1023.9, 2}, {1024, -1}, {1100.5, -1}};

START_TEST(a_hit_ends_where_the_slice_does)
{
    vpu_error err;
    view_slice s;
    tl_timeline tl;
    double y, h;
    view v;

    make_ruled(&tl);
    ck_assert(!view_init(&v, &tl, &err));
    view_show(&v, 0, 1024);
    ck_assert_uint_eq(v.n_rows, 1);
    view_lane_place(&v, &v.rows[0], 1, &y, &h);
    y += v.rows[0].y;
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        bool hit = view_hit(&v, 1024, points[i].x, y + 1, &s);

        ck_assert_msg(hit == (points[i].slice >= 0), "at %g", points[i].x);
        if (hit)
            ck_assert_int_eq((int)s.slice, points[i].slice);
    }
    /* And from the first line of its lane to the last. */
    ck_assert(view_hit(&v, 1024, 150, y, &s) && s.lane == 1);
    ck_assert(view_hit(&v, 1024, 150, y + h - 0.1, &s) && s.lane == 1);
    ck_assert(!view_hit(&v, 1024, 150, y + h, &s));
    ck_assert(!view_hit(&v, 1024, 150, y - 0.1, &s));
    /* Four ticks to a pixel: what has any of them. */
    ck_assert(view_hit(&v, 256, 75, y, &s) && s.slice == 1);
    ck_assert(!view_hit(&v, 256, 74, y, &s) && !view_hit(&v, 256, 76, y, &s));
    /* The view ends within a slice. */
    view_show(&v, 0, 128);
    ck_assert(view_hit(&v, 128, 127.9, y, &s));
    ck_assert(!view_hit(&v, 128, 128, y, &s));
    view_free(&v);
    tl_free(&tl);
}
END_TEST

START_TEST(rows_end_where_they_do)
{
    vpu_error err;
    tl_timeline tl;
    view v;

    make_ruled(&tl);
    ck_assert(!view_init(&v, &tl, &err));
    ck_assert_uint_eq(view_row_at(&v, v.rows[0].y), 0);
    ck_assert_uint_eq(view_row_at(&v, v.rows[0].y - 0.1), UINT32_MAX);
    ck_assert_uint_eq(view_row_at(&v, v.rows[0].y + v.rows[0].h - 0.1), 0);
    ck_assert_uint_eq(view_row_at(&v, v.rows[0].y + v.rows[0].h), UINT32_MAX);
    view_free(&v);
    tl_free(&tl);
}
END_TEST

START_TEST(keys_and_mouse)
{
    vpu_error err;
    tl_timeline tl;
    control k;
    view v;
    double from, to;

    write_trace();
    ck_assert(!load_file(path, &tl, &err));
    ck_assert(!view_init(&v, &tl, &err));
    control_init(&k, &v, "t", NULL, NULL);
    control_motion(&k, 500, 200);
    control_wheel(&k, 0, 3, 0);
    ck_assert(v.to - v.from < 40000);
    from = v.from;
    to = v.to;
    control_press(&k, 500, 100, 1, 1, 0); /* pan by 100 pixels */
    control_motion(&k, 400, 100);
    control_release(&k, 400, 100);
    ck_assert(v.from > from);
    ck_assert_double_eq_tol(v.to - v.from, to - from, 1e-3);
    control_key(&k, '/', 0);
    control_text(&k, "comp 12x");
    control_key(&k, KEY_BACKSPACE, 0);
    control_key(&k, KEY_ENTER, 0);
    ck_assert(v.has_selection && !k.searching);
    control_key(&k, 'm', 0);
    ck_assert_uint_eq(v.range_to - v.range_from, 900);
    control_key(&k, KEY_ESCAPE, 0);
    ck_assert(!v.has_range && !v.has_selection);
    control_press(&k, 300, 100, 1, 1, MOD_SHIFT);
    control_motion(&k, 600, 100);
    control_release(&k, 600, 100);
    ck_assert(v.has_range);
    control_key(&k, '0', 0);
    control_key(&k, '3', MOD_CTRL);
    control_key(&k, 'w', 0);
    control_key(&k, '3', 0);
    ck_assert_double_eq(v.to, (double)tl.end);
    control_key(&k, 'q', 0);
    ck_assert(k.quit);
    view_free(&v);
    tl_free(&tl);
    drop_trace();
}
END_TEST

/* Each key of keys.def is taken when its line of help says that it is: with a
 * selection, and with a second trace. */
START_TEST(every_key_is_taken)
{
    static const struct {
        uint32_t codes[10];
    } rows[] = {
#define KEY(shown, text, run, ...) {{__VA_ARGS__}},
#define ALSO(run, ...) {{__VA_ARGS__}},
#include "visualizer/keys.def"
    };
    static compare cmp;
    static chooser none;
    vpu_error err;
    tl_timeline tl[2];
    view v[2];
    control k;

    write_trace();
    for (int i = 0; i < 2; i++) {
        ck_assert(!load_file(path, &tl[i], &err));
        ck_assert(!view_init(&v[i], &tl[i], &err));
    }
    ck_assert(!compare_make(&v[0], &v[1], &cmp, &err));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int n = 0; n < 10 && rows[i].codes[n]; n++) {
            uint32_t key = rows[i].codes[n];

            control_init(&k, &v[0], "a", &v[1], "b");
            k.cmp = &cmp;
            k.choose = &none;
            control_resize(&k, 1280, 800);
            control_key(&k, KEY_TAB, 0);
            ck_assert(v[0].has_selection);
            if ((key == '[' || key == ']') && !cmp.n_slower)
                continue;
            ck_assert_msg(control_key(&k, key, 0), "key %#x", key);
        }
    ck_assert(!control_key(&k, '~', 0));
    ck_assert(!control_key(&k, 0, 0));
    compare_free(&cmp);
    for (int i = 0; i < 2; i++) {
        view_free(&v[i]);
        tl_free(&tl[i]);
    }
    drop_trace();
}
END_TEST

/* Every line of the help is seen, however low the window, and nothing is below
 * its edge. */
START_TEST(help_in_pages)
{
    static const double heights[] = {240, 420, 800, 2160};
    const control_help *rows;
    size_t n = control_help_rows(&rows);
    vpu_error err;
    tl_timeline tl;
    cv_font_set *fonts;
    control k;
    view v;

    write_trace();
    ck_assert(!load_file(path, &tl, &err));
    ck_assert(!view_init(&v, &tl, &err));
    ck_assert(!cv_fonts_open(1, &fonts, &err));
    control_init(&k, &v, "t", NULL, NULL);
    control_resize(&k, 700, heights[_i]);
    for (size_t seen = 0; seen < n;) {
        cv_canvas c;
        str out = {0};

        ck_assert(control_key(&k, '?', 0));
        ck_assert_uint_gt(k.help, 0);
        cv_svg(&c, fonts, k.width, k.height, &out);
        control_paint(&k, &c);
        cv_svg_end(&c);
        ck_assert(strstr(str_text(&out), ">Keys") != NULL);
        for (size_t before = seen; seen < n; seen++)
            if (!strstr(str_text(&out), rows[seen].text)) {
                ck_assert_uint_gt(seen, before);
                break;
            }
        str_free(&out);
    }
    ck_assert_uint_eq(k.help, control_help_pages(&k));
    control_resize(&k, 700, 2160);
    ck_assert_uint_eq(k.help, 1);
    control_key(&k, '?', 0);
    ck_assert_uint_eq(k.help, 0);
    cv_fonts_close(fonts);
    view_free(&v);
    tl_free(&tl);
    drop_trace();
}
END_TEST

START_TEST(history_is_behind_alt)
{
    vpu_error err;
    tl_timeline tl;
    control k;
    view v;
    double whole, zoomed;

    write_trace();
    ck_assert(!load_file(path, &tl, &err));
    ck_assert(!view_init(&v, &tl, &err));
    control_init(&k, &v, "t", NULL, NULL);
    whole = v.to - v.from;
    control_key(&k, KEY_TAB, 0);
    control_key(&k, KEY_ENTER, 0); /* steps are remembered, movements not */
    zoomed = v.to - v.from;
    ck_assert(zoomed < whole);
    control_key(&k, KEY_LEFT, MOD_ALT);
    ck_assert_double_eq(v.to - v.from, whole);
    control_key(&k, KEY_RIGHT, MOD_ALT);
    ck_assert_double_eq(v.to - v.from, zoomed);
    view_free(&v);
    tl_free(&tl);
    drop_trace();
}
END_TEST

/* Cut anywhere: what is in front of it, and a word that it is partial. */
START_TEST(cut_files_are_partial)
{
    arena *a = arena_create(0);
    vpu_error err;
    char *bytes;
    size_t n;
    uint64_t all, last = 0;
    tl_timeline tl;

    write_trace();
    ck_assert(!file_read(path, 1 << 20, a, &bytes, &n, &err));
    ck_assert(!load_bytes("t", bytes, n, &tl, &err));
    all = tl.n_events;
    tl_free(&tl);
    for (size_t cut = 0; cut < n; cut++) {
        vpu_status st = load_bytes("cut", bytes, cut, &tl, &err);

        if (!st) {
            ck_assert(tl.n_events >= last);
            last = tl.n_events;
            /* Between two packets nothing is missing that can be known. */
            ck_assert(tl.n_events < all || !tl.partial[0]);
        } else {
            ck_assert_int_eq(st, VPU_ERR_PARSE);
            ck_assert_uint_eq(last, 0);
        }
        tl_free(&tl);
    }
    arena_destroy(a);
    drop_trace();
}
END_TEST

START_TEST(damaged_files_do_no_harm)
{
    arena *a = arena_create(0);
    vpu_error err;
    char *bytes;
    size_t n;
    int read = 0;

    write_trace();
    ck_assert(!file_read(path, 1 << 20, a, &bytes, &n, &err));
    seed = 5;
    for (int k = 0; k < 3000; k++) {
        size_t at = next_random(n);
        char was = bytes[at];
        tl_timeline tl;
        view v;
        stats s;

        bytes[at] ^= (char)(1 << next_random(8));
        if (!load_bytes("bits", bytes, n, &tl, &err)) {
            ck_assert(!view_init(&v, &tl, &err));
            stats_of(&tl, tl.end / 3, tl.end, &s);
            view_free(&v);
            read++;
        } else {
            ck_assert(err.msg[0]);
        }
        tl_free(&tl);
        bytes[at] = was;
    }
    ck_assert_int_gt(read, 0);
    arena_destroy(a);
    drop_trace();
}
END_TEST

/* A slice on a track without a clock of ours: Perfetto's numbers by hand. */
START_TEST(foreign_traces_are_generic_tracks)
{
    static const uint8_t bytes[] = {
        /* TrackDescriptor: uuid 7, name "cpu" */
        0x0a, 0x0a, 0xe2, 0x03, 0x07, 0x08, 0x07, 0x12, 0x03, 'c', 'p', 'u',
        /* SLICE_BEGIN "x" at 100 */
        0x0a, 0x0c, 0x40, 100, 0x5a, 0x08, 0x48, 1, 0x58, 7, 0xba, 0x01, 1, 'x',
        /* SLICE_END at 120, with an unknown field 500 */
        0x0a, 0x0b, 0x40, 120, 0x5a, 0x04, 0x48, 2, 0x58, 7, 0xa0, 0x1f, 1};
    vpu_error err;
    tl_timeline tl;

    ck_assert_msg(!load_bytes("f", bytes, sizeof bytes, &tl, &err), "%s",
                  err.msg);
    ck_assert_uint_eq(tl.clk_mhz, 0);
    ck_assert_int_eq(tl.rows[0].kind, TL_ROW_OTHER);
    ck_assert_str_eq(tl.rows[0].name, "cpu");
    ck_assert_uint_eq(tl_begin(&tl.rows[0].lanes[0], 0), 100);
    ck_assert_uint_eq(tl_length(&tl.rows[0].lanes[0], 0), 20);
    tl_free(&tl);
}
END_TEST

/* More events, arguments and texts than the thread that decodes is ahead. */
START_TEST(long_traces_come_in_order)
{
    enum { N = 20000, LONG = 3000 };
    char file[] = "/tmp/model-test-XXXXXX", text[LONG + 1], want[LONG + 1];
    int fd = mkstemp(file);
    const tl_lane *l;
    trc_writer *w;
    trc_track track;
    tl_timeline tl;
    vpu_error err;
    tl_arg a;

    memset(text, 'x', LONG);
    text[LONG] = 0;
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert(!trc_writer_create(NULL, &w, &err));
    ck_assert(!trc_writer_add(w, TRC_PERFETTO, file, &err));
    track = trc_track_slices(w, trc_track_group(w, 0, "g"), "t", TRC_NS);
    for (uint64_t i = 0; i < N; i++) {
        trc_arg args[] = {TRC_UINT("i", i), TRC_TEXT("text", text)};

        text[i % LONG] ^= 1;
        trc_slice(w, track, 3 * i, 3 * i + 2,
                  &(trc_event){.name = i % 3 ? "even" : "odd",
                               .numbered = i % 2,
                               .number = i,
                               .args = args,
                               .n_args = i % 16 ? 1 : 2});
    }
    ck_assert(!trc_writer_commit(w, &err));
    ck_assert_msg(!load_file(file, &tl, &err), "%s", err.msg);
    unlink(file);
    l = &tl.rows[tl_row_at(&tl, track)].lanes[0];
    ck_assert_uint_eq(l->n_slices, N);
    memset(want, 'x', LONG);
    want[LONG] = 0;
    for (uint64_t i = 0; i < N; i++) {
        want[i % LONG] ^= 1;
        ck_assert_uint_eq(tl_number(l, i), i % 2 ? i : TL_NO_NUMBER);
        ck_assert_str_eq(tl_text(&tl, tl_name_of(l, i)),
                         i % 3 ? "even" : "odd");
        ck_assert(tl_slice_arg(&tl, l, i, "i", &a) && a.number == i);
        ck_assert(tl_slice_arg(&tl, l, i, "text", &a) == !(i % 16));
        if (!(i % 16))
            ck_assert_str_eq(tl_text(&tl, a.text), want);
    }
    tl_free(&tl);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("model");
    TCase *t = tcase_create("model");
    SRunner *r = srunner_create(s);
    int failed;

    suite_add_tcase(s, t);
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, sums_are_exact_for_any_stretch, 0, 12);
    tcase_add_loop_test(t, columns_add_up, 0, 12);
    tcase_add_loop_test(t, near_sums_are_exact_for_their_time, 0, 12);
    tcase_add_loop_test(t, slice_at_finds_what_covers_a_time, 0, 6);
    tcase_add_loop_test(t, counters_mean_and_peak, 0, 4);
    tcase_add_test(t, pixels_and_ticks_round_trip);
    tcase_add_test(t, zoom_keeps_what_is_under_the_mouse);
    tcase_add_test(t, navigation_comes_back);
    tcase_add_test(t, a_written_trace_comes_back_in_cycles);
    tcase_add_test(t, search_visits_all);
    tcase_add_test(t, slack_of_what_is_selected);
    tcase_add_test(t, rows_on_the_path);
    tcase_add_test(t, hits_and_rows);
    tcase_add_test(t, a_hit_ends_where_the_slice_does);
    tcase_add_test(t, rows_end_where_they_do);
    tcase_add_test(t, keys_and_mouse);
    tcase_add_test(t, every_key_is_taken);
    tcase_add_loop_test(t, help_in_pages, 0, 4);
    tcase_add_test(t, history_is_behind_alt);
    tcase_add_test(t, cut_files_are_partial);
    tcase_add_test(t, damaged_files_do_no_harm);
    tcase_add_test(t, foreign_traces_are_generic_tracks);
    tcase_add_test(t, long_traces_come_in_order);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
