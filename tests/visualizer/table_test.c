/* The table of slices, marked areas and counts of hits, without a display. The
 * oracle is a plain list of the slices that were put in, counted and sorted
 * again for each question. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "tests/support/terminal.h"
#include "visualizer/control.h"
#include "visualizer/export.h"
#include "visualizer/state.h"

enum { MAX = 20000, SHAVES = 3, ROWS = SHAVES + 2 };
enum { STAGES, FIRST_SHAVE, PLAIN = ROWS - 1 }; /* rows of the timeline */

static const char *const causes[] = {"issue",       "L2 stall",  "DDR stall",
                                     "store stall", "DMA setup", "DMA wait",
                                     "dispatch",    "idle"};
static const char *const stage_names[] = {"norm", "conv"};

typedef struct {
    uint32_t row, lane;
    const char *name;
    uint32_t number; /* TL_NO_NUMBER: none */
    uint64_t begin, end;
    int cause; /* -1: none */
} plain;

static plain put[MAX];
static int n_put;
static uint64_t seed;
static tl_timeline tl;
static view v;
static control k;
static table t;

static uint64_t next_random(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
}

/* Not always open when the next begins: lanes are depths. */
static plain *add(uint32_t row, uint32_t lane, const char *name,
                  uint32_t number, uint64_t begin)
{
    plain *p = &put[n_put++];
    char text[64];

    ck_assert_int_lt(n_put, MAX);
    *p = (plain){row, lane, name, number, begin, begin, -1};
    for (int c = 0; c < TL_N_CAUSES; c++)
        if (!strcmp(name, causes[c]))
            p->cause = c;
    if (number == TL_NO_NUMBER)
        snprintf(text, sizeof text, "%s", name);
    else
        snprintf(text, sizeof text, "%s %u", name, number);
    tl_add_begin(&tl, row, begin, text);
    return p;
}

static void end(plain *p, uint64_t at)
{
    p->end = at;
    tl_add_end(&tl, p->row, at);
}

/* Lengths of all sizes, some of no ticks. */
static uint64_t any_length(void)
{
    return next_random(UINT64_C(1) << next_random(12));
}

static void add_stages(void)
{
    uint64_t at = next_random(100);
    int n = 1 + (int)next_random(6);

    for (int i = 0; i < n; i++) {
        plain *p =
            add(STAGES, 0, stage_names[next_random(2)], TL_NO_NUMBER, at);

        end(p, at += 1 + next_random(20000));
        at += next_random(3) ? 0 : next_random(500);
    }
}

static void add_shave(uint32_t row)
{
    static const char *const phases[] = {"pre", "comp", "post"};
    uint64_t at = next_random(300);
    int n = (int)next_random(200);

    for (int i = 0; i < n; i++) {
        plain *p = add(row, 0, phases[next_random(3)], (uint32_t)i, at);

        for (int c = (int)next_random(6); c > 0; c--) {
            plain *cause =
                add(row, 1, causes[next_random(8)], TL_NO_NUMBER, at);

            end(cause, at += any_length());
            at += next_random(4) ? 0 : next_random(30);
        }
        end(p, at += next_random(20));
        at += next_random(50);
    }
}

/* Nested three deep, with and without numbers. */
static void add_plain(uint64_t *at, uint32_t depth)
{
    static const char *const names[] = {"job", "wait", "job", "read"};
    bool numbered = next_random(2);
    plain *p = add(PLAIN, depth, names[next_random(4)],
                   numbered ? (uint32_t)next_random(30) : TL_NO_NUMBER, *at);

    for (uint64_t i = depth < 2 ? next_random(3) : 0; i > 0; i--) {
        *at += next_random(10);
        add_plain(at, depth + 1);
    }
    end(p, *at += any_length());
    *at += next_random(40);
}

static void begin_trace(uint64_t how)
{
    static const char *const names[ROWS] = {"stages", "SHAVE 0", "SHAVE 1",
                                            "SHAVE 2", "cpu"};
    vpu_error err;

    seed = how * 7919 + 1;
    n_put = 0;
    ck_assert(!tl_init(&tl, &err));
    tl.clk_mhz = 700;
    for (uint32_t i = 0; i < ROWS; i++) {
        ck_assert_uint_eq(tl_row_at(&tl, 4 + i), i);
        tl_row_describe(&tl, i, 3, names[i], false);
    }
}

static void end_trace(void)
{
    vpu_error err;

    tl_finish(&tl);
    ck_assert(!view_init(&v, &tl, &err));
    control_init(&k, &v, "t", NULL, NULL);
    k.tables[0] = &t;
    control_resize(&k, 1280, 800);
}

static void make(uint64_t how)
{
    uint64_t at = 0;

    begin_trace(how);
    add_stages();
    for (uint32_t i = 0; i < SHAVES; i++)
        add_shave(FIRST_SHAVE + i);
    for (int i = 0; i < 150; i++)
        add_plain(&at, 0);
    end_trace();
}

static void drop(void)
{
    table_clear(&t);
    view_free(&v);
    tl_free(&tl);
}

/* --- the oracle ----------------------------------------------------------- */

typedef struct {
    const char *name, *stage;
    uint32_t row, lane_of_causes;
    uint64_t count, total, whole, longest, cause[TL_N_CAUSES];
    uint64_t lengths[MAX];
} want;

static uint64_t overlap(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t lo = a > c ? a : c, hi = b < d ? b : d;

    return hi > lo ? hi - lo : 0;
}

static bool is_shave(uint32_t row)
{
    return row >= FIRST_SHAVE && row < FIRST_SHAVE + SHAVES;
}

/* The stage that a time is in or behind; the first one before all. */
static const char *stage_at(uint64_t time)
{
    const char *name = NULL;

    for (int i = 0; i < n_put; i++)
        if (put[i].row == STAGES && (!name || put[i].begin <= time))
            name = put[i].name;
    return name;
}

static bool counts(table_grouping g, const plain *p)
{
    return g == TABLE_NAME    ? true
           : g == TABLE_STAGE ? p->row == STAGES
           : g == TABLE_PHASE ? is_shave(p->row) && !p->lane
                              : is_shave(p->row) && p->lane == 1;
}

static bool chosen(const bool *area, const plain *p, table_grouping g)
{
    return g == TABLE_STAGE || !area || area[p->row];
}

static bool belongs(const plain *p, const table_line *l, table_grouping g)
{
    bool kind = l->kind == TL_ROW_STAGES  ? p->row == STAGES
                : l->kind == TL_ROW_SHAVE ? is_shave(p->row)
                                          : p->row == PLAIN;

    return kind && counts(g, p) && !strcmp(p->name, l->name) &&
           l->causes == (is_shave(p->row) && p->lane == 1) &&
           (!l->stage || !strcmp(l->stage, stage_at(p->begin)));
}

static void add_causes(want *w, const plain *p, uint64_t from, uint64_t to,
                       const bool *area, table_grouping g)
{
    uint64_t a = p->begin > from ? p->begin : from;
    uint64_t b = p->end < to ? p->end : to;

    for (int i = 0; i < n_put && b > a; i++)
        if (put[i].cause >= 0 && is_shave(put[i].row) &&
            (g == TABLE_PHASE ? put[i].row == p->row
                              : !area || area[put[i].row]))
            w->cause[put[i].cause] += overlap(put[i].begin, put[i].end, a, b);
}

static int by_length(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* What the list says of a line's slices. */
static const want *count_again(const table_line *l, uint64_t from, uint64_t to,
                               const bool *area, table_grouping g)
{
    static want w;

    w = (want){0};
    for (int i = 0; i < n_put; i++) {
        const plain *p = &put[i];
        uint64_t in = overlap(p->begin, p->end, from, to);
        bool begins = p->begin >= from && p->begin < to;

        if (!belongs(p, l, g) || !chosen(area, p, g))
            continue;
        w.total += in;
        if ((in || begins) && p->end - p->begin > w.longest)
            w.longest = p->end - p->begin;
        if (g == TABLE_PHASE || g == TABLE_STAGE)
            add_causes(&w, p, from, to, area, g);
        if (!begins)
            continue;
        w.lengths[w.count++] = p->end - p->begin;
        w.whole += p->end - p->begin;
    }
    qsort(w.lengths, w.count, sizeof *w.lengths, by_length);
    return &w;
}

static uint64_t nearest_rank(const want *w, double share)
{
    return w->count ? w->lengths[(int)ceil((double)w->count * share - 1e-9) - 1]
                    : 0;
}

static void expect_line(const table_line *l, const want *w, uint64_t span,
                        uint32_t rows)
{
    uint64_t histogram[TABLE_BUCKETS] = {0};
    const tl_lane *lane = &tl.rows[l->longest.row].lanes[l->longest.lane];

    for (uint64_t i = 0; i < w->count; i++) {
        int b = 0;

        while (b < 63 && w->lengths[i] >= UINT64_C(1) << b)
            b++;
        histogram[b]++;
    }
    ck_assert_uint_eq(l->count, w->count);
    ck_assert_uint_eq(l->total, w->total);
    ck_assert_uint_eq(l->whole, w->whole);
    ck_assert_uint_eq(l->min, w->count ? w->lengths[0] : 0);
    ck_assert_uint_eq(l->max, w->count ? w->lengths[w->count - 1] : 0);
    ck_assert_uint_eq(l->p50, nearest_rank(w, 0.5));
    ck_assert_uint_eq(l->p99, nearest_rank(w, 0.99));
    ck_assert(!l->estimated && !l->rest);
    ck_assert_mem_eq(l->histogram, histogram, sizeof histogram);
    ck_assert_mem_eq(l->cause, w->cause, sizeof w->cause);
    ck_assert_double_eq_tol(l->share, (double)w->total / (double)span / rows,
                            1e-12);
    ck_assert_uint_eq(tl_length(lane, l->longest.slice), w->longest);
}

/* Every line is right, and no slice is in none. */
static void expect_table(const table_result *r, uint64_t from, uint64_t to,
                         const bool *area)
{
    table_grouping g = r->look.grouping;
    uint64_t all = 0, lines = 0;

    ck_assert_uint_eq(r->from, from);
    ck_assert_uint_eq(r->to, to);
    for (uint32_t i = 0; i < r->n_lines; i++) {
        const table_line *l = &r->lines[i];
        uint32_t rows = 0;

        for (uint32_t row = 0; row < ROWS; row++)
            rows += tl.rows[row].kind == l->kind && tl.rows[row].lanes &&
                    tl.rows[row].n_lanes &&
                    (g == TABLE_STAGE || !area || area[row]);
        expect_line(l, count_again(l, from, to, area, g), to - from, rows);
        lines += l->count;
    }
    for (int i = 0; i < n_put; i++)
        all += counts(g, &put[i]) && chosen(area, &put[i], g) &&
               put[i].begin >= from && put[i].begin < to;
    ck_assert_uint_eq(lines, all);
    ck_assert_uint_eq(r->n_slices, all);
}

static void count_with(table_grouping g)
{
    vpu_error err;

    ck_assert(!table_make(&t, &v, &(const table_look){.grouping = g}, &err));
    ck_assert(t.shown.there && !t.work);
}

/* --- counting ------------------------------------------------------------- */

START_TEST(any_stretch_is_counted)
{
    make((uint64_t)_i);
    for (int g = 0; g < TABLE_N_GROUPINGS; g++) {
        count_with((table_grouping)g);
        expect_table(&t.shown, 0, tl.end, NULL);
        for (int n = 0; n < 12; n++) {
            uint64_t a = next_random(tl.end), b = next_random(tl.end) + 1;

            view_mark(&v, (double)a, (double)b);
            if (!v.has_range)
                continue;
            count_with((table_grouping)g);
            expect_table(&t.shown, a < b ? a : b, a < b ? b : a, NULL);
        }
        v.has_range = false;
    }
    drop();
}
END_TEST

START_TEST(any_rows_are_counted)
{
    make((uint64_t)_i + 50);
    for (int g = 0; g < TABLE_N_GROUPINGS; g++)
        for (int n = 0; n < 10; n++) {
            double y = (double)next_random((uint64_t)v.height);
            double other = (double)next_random((uint64_t)v.height);

            view_mark(&v, (double)tl.end / 4, (double)tl.end / 2);
            view_mark_rows(&v, y, other);
            count_with((table_grouping)g);
            expect_table(&t.shown, v.range_from, v.range_to,
                         v.has_area ? v.area : NULL);
        }
    drop();
}
END_TEST

/* A hidden row is not counted, and counting begins anew by itself. */
START_TEST(hidden_rows_are_left_out)
{
    bool shown[ROWS] = {true, true, true, true, true};

    make(3);
    count_with(TABLE_NAME);
    view_hide(&v, 1, true);
    shown[v.rows[1].row] = false;
    count_with(TABLE_NAME);
    expect_table(&t.shown, 0, tl.end, shown);
    drop();
}
END_TEST

/* In small steps: the same; what was there before stays until the end. */
START_TEST(steps_come_to_the_same)
{
    vpu_error err;
    table once = {0};
    const table_look look = {.grouping = TABLE_NAME};
    int steps = 0;
    double before = 0;

    make(4);
    count_with(TABLE_PHASE);
    table_want(&t, &v, &look);
    while (table_step(&t, 7)) {
        ck_assert_int_eq((int)t.shown.look.grouping, TABLE_PHASE);
        ck_assert(table_progress(&t) >= before && table_progress(&t) <= 1);
        before = table_progress(&t);
        steps++;
    }
    ck_assert_int_gt(steps, n_put / 7);
    ck_assert(!table_make(&once, &v, &look, &err));
    ck_assert_uint_eq(t.shown.n_lines, once.shown.n_lines);
    for (uint32_t i = 0; i < once.shown.n_lines; i++)
        ck_assert_mem_eq(&t.shown.lines[i], &once.shown.lines[i],
                         sizeof(table_line));
    table_want(&t, &v, &look); /* it is there */
    ck_assert(!t.work);
    table_clear(&once);
    drop();
}
END_TEST

/* More lengths than there is room for: those of the large group are estimated,
 * of the small one they are exact. */
START_TEST(too_many_lengths_are_estimated)
{
    enum { N = TABLE_EXACT + 1000 };
    uint64_t at = 0;
    const table_line *l;

    begin_trace(5);
    for (uint32_t i = 0; i < N; i++) {
        tl_add_begin(&tl, PLAIN, at, i % 1000 ? "many" : "few");
        tl_add_end(&tl, PLAIN, at += 100 + i % 900);
    }
    end_trace();
    count_with(TABLE_NAME);
    ck_assert_uint_eq(t.shown.n_lines, 2);
    l = &t.shown.lines[0];
    ck_assert_str_eq(l->name, "many");
    ck_assert(l->estimated);
    ck_assert(l->p50 >= 550 / 2 && l->p50 <= 550 * 2);
    ck_assert(l->p99 >= 990 / 2 && l->p99 <= 999);
    ck_assert_uint_eq(l->min, 100);
    ck_assert_uint_eq(l->max, 999);
    ck_assert(!t.shown.lines[1].estimated);
    ck_assert_uint_eq(t.shown.lines[1].count, (N + 999) / 1000);
    ck_assert_uint_eq(t.shown.lines[1].p99, 900);
    drop();
}
END_TEST

START_TEST(too_many_names_have_one_line)
{
    enum { N = TABLE_MAX_LINES + 700 };
    uint64_t all = 0, rest = 0;
    view_slice s;
    uint32_t at = 0;

    begin_trace(6);
    for (uint64_t i = 0; i < N; i++) {
        char name[32];

        snprintf(name, sizeof name, "n%llux", (unsigned long long)i);
        tl_add_begin(&tl, PLAIN, 10 * i, name);
        tl_add_end(&tl, PLAIN, 10 * i + 5);
    }
    end_trace();
    count_with(TABLE_NAME);
    ck_assert_uint_eq(t.shown.n_lines, TABLE_MAX_LINES + 1);
    for (uint32_t i = 0; i < t.shown.n_lines; i++) {
        all += t.shown.lines[i].count;
        if (t.shown.lines[i].rest) {
            rest += t.shown.lines[i].count;
            at = i;
        }
    }
    ck_assert_uint_eq(all, N);
    ck_assert_uint_eq(rest, 700);
    ck_assert(!table_next(&t.shown, &v, at, &s));
    drop();
}
END_TEST

/* Nothing at all, and a stretch without ticks. */
START_TEST(empty_tables)
{
    begin_trace(7);
    end_trace();
    for (int g = 0; g < TABLE_N_GROUPINGS; g++) {
        count_with((table_grouping)g);
        ck_assert_uint_eq(t.shown.n_lines, 0);
    }
    drop();
}
END_TEST

/* --- order and visits ----------------------------------------------------- */

static double figure(const table_line *l, int column)
{
    switch (column) {
    case TABLE_BY_COUNT:
        return (double)l->count;
    case TABLE_BY_SHARE:
        return l->share;
    case TABLE_BY_MEAN:
        return l->count ? (double)l->whole / (double)l->count : 0;
    case TABLE_BY_P50:
        return (double)l->p50;
    case TABLE_BY_P99:
        return (double)l->p99;
    case TABLE_BY_MIN:
        return (double)l->min;
    case TABLE_BY_MAX:
        return (double)l->max;
    default:
        return (double)l->total;
    }
}

START_TEST(every_column_sorts)
{
    table_look look = {.column = TABLE_BY_NAME};

    make(8);
    for (int c = 0; c < TABLE_N_COLUMNS; c++)
        for (int again = 0; again < 2; again++) {
            int sign = again ? -1 : 1;

            table_sort_by(&look, (table_column)c);
            if (c == TABLE_BY_NAME && !again)
                look.reversed = false;
            ck_assert_int_eq(look.reversed, again);
            table_want(&t, &v, &look);
            while (table_step(&t, 100))
                ;
            for (uint32_t i = 1; i < t.shown.n_lines; i++) {
                const table_line *a = &t.shown.lines[i - 1];
                const table_line *b = &t.shown.lines[i];

                if (c == TABLE_BY_NAME)
                    ck_assert_int_le(sign * strcmp(a->name, b->name), 0);
                else
                    ck_assert(sign * figure(a, c) >= sign * figure(b, c));
            }
        }
    drop();
}
END_TEST

/* Visiting comes to each slice of the line once, in order of time, and round.
 */
START_TEST(a_line_visits_its_slices)
{
    make((uint64_t)_i + 9);
    view_mark(&v, (double)tl.end / 5, (double)tl.end / 2);
    count_with((table_grouping)(_i % TABLE_N_GROUPINGS));
    for (uint32_t i = 0; i < t.shown.n_lines; i++) {
        const table_line *l = &t.shown.lines[i];
        uint64_t n = 0, last = 0, visits = 0;
        view_slice first = {0}, s;

        for (int j = 0; j < n_put; j++)
            n += belongs(&put[j], l, t.shown.look.grouping) &&
                 ((put[j].begin >= v.range_from && put[j].begin < v.range_to) ||
                  overlap(put[j].begin, put[j].end, v.range_from, v.range_to));
        view_select(&v, NULL);
        while (table_next(&t.shown, &v, i, &s) && visits < 2 * n + 2) {
            uint64_t begin = tl_begin(&tl.rows[s.row].lanes[s.lane], s.slice);

            if (visits && !memcmp(&s, &first, sizeof s))
                break;
            if (!visits)
                first = s;
            ck_assert_uint_ge(begin, last);
            ck_assert_uint_eq(table_line_of(&t.shown, &v, &s), i);
            last = begin;
            visits++;
            view_select(&v, &s);
        }
        ck_assert_uint_eq(visits, n);
    }
    drop();
}
END_TEST

/* --- the panel ------------------------------------------------------------ */

static void settle(void)
{
    do
        control_count(&k);
    while (control_counts(&k));
}

static void press(double x, double y, unsigned mods)
{
    control_press(&k, x, y, 1, 1, mods);
    control_release(&k, x, y);
    settle();
}

/* Where on the page a part of the table is. */
static void press_part(int what, uint32_t which, unsigned mods)
{
    for (double y = 0; y < k.height; y += 3)
        for (double x = k.width / 2; x < k.width; x += 3) {
            paint_slices_part at = paint_slices_at(&k.pages[0], x, y);

            if ((int)at.what == what && at.which == which) {
                press(x, y, mods);
                return;
            }
        }
    ck_abort_msg("part %d %u is nowhere", what, which);
}

START_TEST(panel_by_mouse)
{
    uint64_t longest;
    const tl_lane *lane;
    double from, to;

    make(12);
    ck_assert(control_key(&k, 'g', 0));
    ck_assert_int_eq((int)k.shows, PANEL_SLICES);
    settle();
    expect_table(&t.shown, 0, tl.end, NULL);
    press_part(PAINT_COLUMN, TABLE_BY_COUNT, 0);
    ck_assert(t.shown.look.column == TABLE_BY_COUNT && !k.look.reversed);
    ck_assert_uint_ge(t.shown.lines[0].count, t.shown.lines[1].count);
    press_part(PAINT_COLUMN, TABLE_BY_COUNT, 0);
    ck_assert(k.look.reversed);
    ck_assert_uint_le(t.shown.lines[0].count, t.shown.lines[1].count);
    press_part(PAINT_COLUMN, TABLE_BY_NAME, 0);
    ck_assert_int_le(strcmp(t.shown.lines[0].name, t.shown.lines[1].name), 0);
    press_part(PAINT_GROUPING, TABLE_CAUSE, 0);
    expect_table(&t.shown, 0, tl.end, NULL);
    ck_assert_int_eq((int)t.shown.look.grouping, TABLE_CAUSE);
    from = v.from;
    to = v.to;
    press_part(PAINT_LINE, 1, 0);
    ck_assert(v.has_selection);
    ck_assert_uint_eq(table_line_of(&t.shown, &v, &v.selection), 1);
    press_part(PAINT_LINE, 0, MOD_SHIFT);
    lane = &tl.rows[v.selection.row].lanes[v.selection.lane];
    longest = tl_length(lane, v.selection.slice);
    ck_assert_uint_eq(longest, t.shown.lines[0].max);
    /* What is seen already stays where it is. */
    ck_assert(v.from == from && v.to == to);
    ck_assert(control_key(&k, 'g', 0));
    ck_assert_int_eq((int)k.shows, PANEL_FIGURES);
    drop();
}
END_TEST

START_TEST(panel_by_keys)
{
    make(13);
    ck_assert(control_key(&k, '>', 0)); /* opens it */
    ck_assert(k.shows == PANEL_SLICES && k.look.column == TABLE_BY_TOTAL);
    ck_assert(control_key(&k, '>', 0));
    ck_assert_int_eq((int)k.look.column, TABLE_BY_TOTAL + 1);
    ck_assert(control_key(&k, '<', 0) && control_key(&k, '<', 0));
    ck_assert_int_eq((int)k.look.column, TABLE_N_COLUMNS - 1);
    ck_assert(control_key(&k, 'R', 0) && k.look.reversed);
    for (int g = 1; g <= TABLE_N_GROUPINGS; g++) {
        ck_assert(control_key(&k, 'G', 0));
        settle();
        ck_assert_int_eq((int)t.shown.look.grouping, g % TABLE_N_GROUPINGS);
    }
    drop();
}
END_TEST

/* The wheel over the panel moves its lines, as far as there are any; elsewhere
 * it zooms. */
START_TEST(panel_scrolls)
{
    double to;

    make(14);
    control_resize(&k, 1000, 240);
    control_key(&k, 'g', 0);
    settle();
    to = v.to;
    control_motion(&k, 990, 120);
    control_wheel(&k, 0, -1, 0);
    ck_assert_uint_eq(t.first, 3);
    ck_assert_double_eq(v.to, to);
    for (int i = 0; i < 40; i++)
        control_wheel(&k, 0, -5, 0);
    ck_assert_uint_eq(t.first, paint_slices_last(&k.pages[0]));
    ck_assert_uint_lt(t.first, t.shown.n_lines);
    control_wheel(&k, 0, 8, 0);
    control_wheel(&k, 0, 8, 0);
    ck_assert_uint_eq(t.first, 0);
    control_motion(&k, 300, 120);
    control_wheel(&k, 0, 1, 0);
    ck_assert(v.to < to);
    drop();
}
END_TEST

/* Two traces have a table each, by the same look. */
START_TEST(two_views_have_two_tables)
{
    static table other;
    static compare cmp;
    vpu_error err;
    view b;

    make(17);
    ck_assert(!view_init(&b, &tl, &err));
    view_hide(&b, 1, true);
    ck_assert(!compare_make(&v, &b, &cmp, &err));
    control_init(&k, &v, "a", &b, "b");
    k.cmp = &cmp;
    k.tables[0] = &t;
    k.tables[1] = &other;
    control_resize(&k, 1280, 800);
    control_key(&k, 'g', 0);
    control_key(&k, 'G', 0);
    control_key(&k, 'G', 0);
    settle();
    expect_table(&t.shown, 0, tl.end, NULL);
    ck_assert_int_eq((int)other.shown.look.grouping, TABLE_PHASE);
    ck_assert_uint_lt(other.shown.n_slices, t.shown.n_slices);
    control_refresh(&k); /* other contents: counted anew */
    ck_assert(!t.shown.there && !other.shown.there);
    settle();
    expect_table(&t.shown, 0, tl.end, NULL);
    table_clear(&other);
    compare_free(&cmp);
    view_free(&b);
    drop();
}
END_TEST

/* --- marked areas --------------------------------------------------------- */

static void drag(double x0, double y0, double x1, double y1, unsigned mods)
{
    control_press(&k, x0, y0, 1, 1, mods);
    control_motion(&k, x1, y1);
    control_release(&k, x1, y1);
    settle();
}

START_TEST(a_drag_marks_an_area)
{
    paint_boxes b;
    uint32_t rows = 0;
    stats all, some;
    const view_row *first, *last;

    make(15);
    control_key(&k, 'g', 0);
    paint_layout(&k.pages[0], &b);
    first = &v.rows[1];
    last = &v.rows[2];
    drag(b.rows.x + 100, b.rows.y + first->y + 5, b.rows.x + 300,
         b.rows.y + last->y + 5, MOD_SHIFT);
    ck_assert(v.has_range && v.has_area);
    ck_assert_uint_eq(view_area_rows(&v), 2);
    for (uint32_t i = 0; i < v.n_rows; i++)
        rows += view_in_area(&v, v.rows[i].row);
    ck_assert(rows == 2 && v.area[first->row] && v.area[last->row]);
    expect_table(&t.shown, v.range_from, v.range_to, v.area);
    ck_assert(t.shown.area);
    stats_of(&tl, v.range_from, v.range_to, &all);
    stats_of_rows(&tl, v.area, v.range_from, v.range_to, &some);
    ck_assert_uint_eq(all.n_shaves, SHAVES);
    ck_assert_uint_eq(some.n_shaves, 2);
    ck_assert_mem_eq(some.shave_cause[1], all.shave_cause[1],
                     sizeof *all.shave_cause);
    /* Upwards it is the same; on the axis and by `m` all rows are meant. */
    drag(b.rows.x + 300, b.rows.y + last->y + 5, b.rows.x + 100,
         b.rows.y + first->y + 5, MOD_SHIFT);
    ck_assert_uint_eq(view_area_rows(&v), 2);
    drag(b.axis.x + 100, b.axis.y + 5, b.axis.x + 300, b.rows.y + 60, 0);
    ck_assert(v.has_range && !v.has_area);
    expect_table(&t.shown, v.range_from, v.range_to, NULL);
    control_key(&k, 'm', 0);
    ck_assert(!v.has_range);
    drag(b.rows.x + 100, b.rows.y + first->y + 5, b.rows.x + 300,
         b.rows.y + first->y + 5, MOD_SHIFT);
    ck_assert_uint_eq(view_area_rows(&v), 1);
    control_key(&k, KEY_ESCAPE, 0);
    ck_assert(!v.has_range && !view_area_rows(&v));
    control_key(&k, KEY_TAB, 0);
    control_key(&k, 'm', 0);
    ck_assert(v.has_range && !v.has_area);
    /* A row begins with its first line and ends before the one behind it. */
    view_mark_rows(&v, first->y, first->y);
    ck_assert(view_area_rows(&v) == 1 && v.area[first->row]);
    view_mark_rows(&v, first->y + first->h, first->y + first->h);
    ck_assert(!v.area[first->row]);
    view_mark_rows(&v, -20, -10); /* none: all rows */
    ck_assert(!v.has_area && view_in_area(&v, first->row));
    drop();
}
END_TEST

/* Its rows alone are in the table of single slices. */
START_TEST(an_area_is_exported)
{
    terminal p;
    vpu_error err;
    const char *csv;
    size_t n;

    make(16);
    terminal_open(&p);
    view_mark(&v, 0, (double)tl.end);
    view_mark_rows(&v, v.rows[1].y + 1, v.rows[1].y + 2);
    ck_assert(!export_csv(&v, arena_printf(p.arena, "%s/a.csv", p.dir), &err));
    csv = terminal_bytes(&p, "a.csv", &n);
    ck_assert(strstr(csv, "\"SHAVE 0\"") && !strstr(csv, "\"SHAVE 1\"") &&
              !strstr(csv, "\"cpu\""));
    terminal_close(&p);
    drop();
}
END_TEST

/* --- searches ------------------------------------------------------------- */

static void type(const char *text)
{
    control_key(&k, '/', 0);
    for (; *text; text++)
        control_text(&k, (const char[]){*text, 0});
    settle();
}

static uint32_t place_of(uint32_t row)
{
    for (uint32_t i = 0; i < v.n_rows; i++)
        if (v.rows[i].row == row)
            return i;
    return 0;
}

static bool is_before(const plain *a, const plain *b)
{
    uint32_t x = place_of(a->row), y = place_of(b->row);

    return a->begin != b->begin ? a->begin < b->begin
           : x != y             ? x < y
                                : a->lane < b->lane;
}

static const plain *selected(void)
{
    const view_slice *s = &v.selection;
    const tl_lane *l = &tl.rows[s->row].lanes[s->lane];
    uint64_t n = 0;

    ck_assert(v.has_selection);
    for (int i = 0; i < n_put; i++)
        if (put[i].row == s->row && put[i].lane == s->lane && n++ == s->slice) {
            ck_assert_uint_eq(tl_begin(l, s->slice), put[i].begin);
            return &put[i];
        }
    ck_abort_msg("no such slice");
}

/* Which of the slices of that name, or number too, is selected. */
static uint64_t rank_of(const char *name, uint32_t number, uint64_t *all)
{
    const plain *at = selected();
    uint64_t n = 1;

    *all = 0;
    for (int i = 0; i < n_put; i++) {
        const plain *p = &put[i];

        if (strcmp(p->name, name) ||
            (number != TL_NO_NUMBER && p->number != number))
            continue;
        (*all)++;
        n += p != at && is_before(p, at);
    }
    return n;
}

static void expect_hits(const char *name, uint32_t number)
{
    uint64_t all, rank = rank_of(name, number, &all);
    char says[64];

    settle();
    snprintf(says, sizeof says, "%llu of %llu", (unsigned long long)rank,
             (unsigned long long)all);
    ck_assert_msg(strstr(k.status, says), "'%s', not '%s'", k.status, says);
}

START_TEST(hits_are_counted)
{
    uint64_t all;

    make((uint64_t)_i + 20);
    type("read");
    ck_assert_msg(strstr(k.status, "1 of "), "%s", k.status);
    control_key(&k, KEY_ENTER, 0);
    ck_assert(!k.searching);
    expect_hits("read", TL_NO_NUMBER);
    ck_assert_uint_eq(rank_of("read", TL_NO_NUMBER, &all), 1);
    for (int i = 0; i < 5; i++) {
        control_key(&k, 'n', 0);
        expect_hits("read", TL_NO_NUMBER);
    }
    for (int i = 0; i < 8; i++) { /* round the begin */
        control_key(&k, 'N', 0);
        expect_hits("read", TL_NO_NUMBER);
    }
    control_key(&k, KEY_TAB, 0); /* elsewhere: it is counted from there */
    control_key(&k, 'n', 0);
    expect_hits("read", TL_NO_NUMBER);
    /* The bar goes away when the mouse tells of something else. */
    control_motion(&k, 300, 700);
    ck_assert(!strstr(k.status, " of "));
    type("job 7");
    control_key(&k, KEY_ENTER, 0);
    expect_hits("job", 7);
    type("nowhere");
    ck_assert_msg(strstr(k.status, "nothing found"), "%s", k.status);
    control_key(&k, KEY_ENTER, 0);
    ck_assert(k.searching);
    control_key(&k, KEY_ESCAPE, 0);
    drop();
}
END_TEST

/* Enter goes on from what is seen, not from the begin; then from the selection.
 */
START_TEST(the_first_hit_is_the_next_one_seen)
{
    uint64_t all, before, at;

    make(31);
    view_show(&v, (double)tl.end / 3, (double)tl.end / 2);
    type("job");
    sscanf(strstr(k.status, "   ") + 3, "%lu", &before);
    control_key(&k, KEY_ENTER, 0);
    ck_assert_uint_ge(selected()->begin, (uint64_t)v.from);
    at = rank_of("job", TL_NO_NUMBER, &all);
    ck_assert_uint_eq(before, at);
    ck_assert_uint_gt(at, 1);
    for (int i = 0; i < n_put; i++) /* none between the edge and it */
        ck_assert(strcmp(put[i].name, "job") ||
                  put[i].begin < (uint64_t)v.from ||
                  !is_before(&put[i], selected()));
    type("job"); /* the selection is one: the next is meant */
    sscanf(strstr(k.status, "   ") + 3, "%lu", &before);
    ck_assert_uint_eq(before, at % all + 1);
    control_key(&k, KEY_ENTER, 0);
    ck_assert_uint_eq(rank_of("job", TL_NO_NUMBER, &all), at % all + 1);
    drop();
}
END_TEST

/* While it counts, what there is so far. */
START_TEST(counting_hits_is_told)
{
    begin_trace(32);
    for (uint64_t i = 0; i < 200000; i++) {
        tl_add_begin(&tl, PLAIN, 10 * i, "job");
        tl_add_end(&tl, PLAIN, 10 * i + 5);
    }
    end_trace();
    control_key(&k, '/', 0);
    control_text(&k, "job");
    control_count(&k);
    ck_assert(control_counts(&k));
    ck_assert_msg(strstr(k.status, "\u2265 65536, counting"), "%s", k.status);
    settle();
    ck_assert_msg(strstr(k.status, "1 of 200000"), "%s", k.status);
    drop();
}
END_TEST

/* The last nine come back, each once, the last one first. */
START_TEST(searches_come_back)
{
    static const char *const texts[] = {"job",  "wait", "read", "job 1",
                                        "comp", "pre",  "post", "issue",
                                        "idle", "conv", "norm"};
    static control other;
    terminal p;

    make(33);
    terminal_open(&p);
    setenv("XDG_STATE_HOME", p.dir, 1);
    type("zzz"); /* what was not found is not kept */
    control_key(&k, KEY_ENTER, 0);
    control_key(&k, KEY_ESCAPE, 0);
    ck_assert_int_eq(k.n_searches, 0);
    for (int i = 0; i < 5; i++) {
        type(texts[i]);
        control_key(&k, KEY_ENTER, 0);
        ck_assert_msg(k.searched, "%s", texts[i]);
        k.searched = false;
        viewer_state_searched(k.searches[0]);
    }
    type("wait");
    control_key(&k, KEY_ENTER, 0);
    viewer_state_searched(k.searches[0]);
    ck_assert_int_eq(k.n_searches, 5);
    ck_assert_str_eq(k.searches[0], "wait");
    ck_assert_str_eq(k.searches[1], "comp");
    ck_assert_str_eq(k.searches[4], "job");
    control_key(&k, '/', 0);
    control_key(&k, KEY_UP, 0);
    control_key(&k, KEY_UP, 0);
    ck_assert_str_eq(k.search, "comp");
    control_key(&k, KEY_DOWN, 0);
    ck_assert_str_eq(k.search, "wait");
    settle();
    ck_assert_msg(strstr(k.status, "search: wait_   "), "%s", k.status);
    control_key(&k, KEY_DOWN, 0);
    ck_assert_str_eq(k.search, "");
    control_key(&k, KEY_ESCAPE, 0);
    viewer_state_load_searches(&other);
    ck_assert_int_eq(other.n_searches, 5);
    ck_assert_mem_eq(other.searches, k.searches, sizeof k.searches);
    for (int i = 0; i < 11; i++)
        viewer_state_searched(texts[i]);
    viewer_state_load_searches(&other);
    ck_assert_int_eq(other.n_searches, CONTROL_SEARCHES);
    for (int i = 0; i < CONTROL_SEARCHES; i++)
        ck_assert_str_eq(other.searches[i], texts[10 - i]);
    terminal_close(&p);
    drop();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("table");
    TCase *tc = tcase_create("table");
    SRunner *r = srunner_create(s);
    int failed;

    suite_add_tcase(s, tc);
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, any_stretch_is_counted, 0, 12);
    tcase_add_loop_test(tc, any_rows_are_counted, 0, 4);
    tcase_add_test(tc, hidden_rows_are_left_out);
    tcase_add_test(tc, steps_come_to_the_same);
    tcase_add_test(tc, too_many_lengths_are_estimated);
    tcase_add_test(tc, too_many_names_have_one_line);
    tcase_add_test(tc, empty_tables);
    tcase_add_test(tc, every_column_sorts);
    tcase_add_loop_test(tc, a_line_visits_its_slices, 0, 8);
    tcase_add_test(tc, panel_by_mouse);
    tcase_add_test(tc, panel_by_keys);
    tcase_add_test(tc, panel_scrolls);
    tcase_add_test(tc, two_views_have_two_tables);
    tcase_add_test(tc, a_drag_marks_an_area);
    tcase_add_test(tc, an_area_is_exported);
    tcase_add_loop_test(tc, hits_are_counted, 0, 5);
    tcase_add_test(tc, the_first_hit_is_the_next_one_seen);
    tcase_add_test(tc, counting_hits_is_told);
    tcase_add_test(tc, searches_come_back);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
