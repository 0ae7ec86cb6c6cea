/* Heat maps: what a trace must have for one, its colours, and what a click on
 * it says. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/trace/writer.h"
#include "visualizer/control.h"
#include "visualizer/export.h"
#include "visualizer/load.h"
#include "visualizer/text.h"

enum { BANKS = 4, STEP = 1000, STEPS = 10, WIDTH = 1200, HEIGHT = 700 };

static tl_timeline tl;
static view v;
static char path[] = "/tmp/vpu-heat-XXXXXX";

/* Bank b is busy b * 2 + i percent in stretch i, but for the first stretch. */
static double share(uint32_t bank, uint32_t i)
{
    return i ? (2 * bank + i) / 100.0 : 0;
}

typedef struct {
    const char *group;
    uint32_t n;
    bool has_slices;
} form;

static void make(form f)
{
    trc_track device, group, stages;
    trc_writer *w;
    vpu_error err;
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert(
        !trc_writer_create(&(const trc_config){.clk_mhz = 1000}, &w, &err));
    ck_assert(!trc_writer_add(w, TRC_PERFETTO, path, &err));
    device = trc_track_group(w, 0, "device");
    stages = trc_track_slices(w, device, "stages", TRC_CYCLES);
    trc_slice(w, stages, 0, STEPS * STEP, &(const trc_event){.name = "s"});
    group = f.has_slices ? trc_track_slices(w, device, f.group, TRC_CYCLES)
                         : trc_track_group(w, device, f.group);
    if (f.has_slices)
        trc_slice(w, group, 0, 10, &(const trc_event){.name = "s"});
    for (uint32_t b = 0; b < f.n; b++) {
        char name[32];
        trc_track bank;

        snprintf(name, sizeof name, "bank %u", b);
        bank = trc_track_counter(w, f.has_slices ? device : group, name,
                                 TRC_CYCLES, TRC_UNIT_NONE);
        for (uint32_t i = 0; i < STEPS; i++)
            trc_count_real(w, bank, i * STEP, share(b, i));
    }
    ck_assert(!trc_writer_commit(w, &err));
    ck_assert_msg(!load_file(path, &tl, &err), "%s", err.msg);
    ck_assert(!view_init(&v, &tl, &err));
    unlink(path);
    strcpy(strrchr(path, '-') + 1, "XXXXXX");
}

static void drop(void)
{
    view_free(&v);
    tl_free(&tl);
}

/* The row of the view of that name; NULL: it is not shown. */
static const view_row *shown(const char *name)
{
    for (uint32_t i = 0; i < v.n_rows; i++)
        if (!strcmp(tl.rows[v.rows[i].row].name, name))
            return &v.rows[i];
    return NULL;
}

START_TEST(counters_of_a_group_are_one_row)
{
    const view_row *row;
    const tl_row *r;

    make((form){"DDR banks", BANKS, false});
    row = shown("DDR banks");
    ck_assert(row && row->h >= 40);
    r = &tl.rows[row->row];
    ck_assert_int_eq(r->kind, TL_ROW_HEAT);
    ck_assert_uint_eq(r->n_heat, BANKS);
    for (uint32_t b = 0; b < BANKS; b++) {
        char name[32];

        snprintf(name, sizeof name, "bank %u", b);
        ck_assert_str_eq(tl.rows[r->heat[b]].name, name);
        ck_assert(!shown(name));
    }
    drop();
}
END_TEST

/* Counters stay rows of their own: of other groups, behind the 64th, where what
 * has the name is no group. */
START_TEST(what_is_no_heat_map)
{
    make((form){"banks", BANKS, false});
    ck_assert(!shown("banks"));
    ck_assert(shown("bank 0") && shown("bank 3"));
    drop();
    make((form){"DDR banks", 70, false});
    ck_assert_uint_eq(tl.rows[shown("DDR banks")->row].n_heat, 64);
    ck_assert(!shown("bank 63") && shown("bank 64") && shown("bank 69"));
    drop();
    make((form){"DDR banks", BANKS, true});
    ck_assert_uint_eq(tl.rows[shown("DDR banks")->row].n_heat, 0);
    ck_assert(shown("bank 0") && shown("bank 3"));
    drop();
    make((form){"local memory", 0, false});
    ck_assert(!shown("local memory"));
    drop();
}
END_TEST

START_TEST(a_place_says_bank_time_and_value)
{
    const view_row *row;

    make((form){"DDR banks", BANKS, false});
    row = shown("DDR banks");
    for (uint32_t b = 0; b < BANKS; b++)
        for (uint32_t i = 0; i < STEPS; i++) {
            double y = row->y + row->h * (b + 0.5) / BANKS;
            double x = view_x(&v, 900, i * STEP + 0.5 * STEP);
            bool there = i * STEP + 0.5 * STEP < (double)tl.end;
            view_point at;

            ck_assert(view_heat_at(&v, 900, x, y, &at) == there);
            if (!there)
                continue;
            ck_assert_uint_eq(at.row, row->row);
            ck_assert_uint_eq(at.lane, b);
            ck_assert_uint_eq(at.from, i * STEP);
            ck_assert_uint_eq(at.to, (i + 1) * STEP);
            ck_assert_double_eq(at.value, share(b, i));
        }
    ck_assert(!view_heat_at(&v, 900, -1, row->y + 1, &(view_point){0}));
    ck_assert(!view_heat_at(&v, 900, 900, row->y + 1, &(view_point){0}));
    ck_assert(!view_heat_at(&v, 900, 10, v.rows[0].y + 1, &(view_point){0}));
    drop();
}
END_TEST

/* The same colours in the two themes, as far as they are told apart without
 * any hue: each step is darker (in the dark theme lighter) than the one before,
 * by as much everywhere. */
static double lightness(cv_color c)
{
    static const double weights[] = {0.0722, 0.7152, 0.2126};
    double y = 0;

    for (int k = 0; k < 3; k++) {
        double part = (c >> 8 * k & 255) / 255.0;

        y += weights[k] * (part <= 0.04045 ? part / 12.92
                                           : pow((part + 0.055) / 1.055, 2.4));
    }
    return 116 * cbrt(y) - 16; /* L* of CIE, for all but the darkest */
}

START_TEST(lightness_alone_tells_shares_apart)
{
    const theme *t = _i ? &theme_dark : &theme_light;
    double last = lightness(theme_heat(t, 0)), all;

    all = fabs(lightness(theme_heat(t, 1)) - last);
    ck_assert_double_gt(all, 70);
    for (int i = 1; i <= 16; i++) {
        double now = lightness(theme_heat(t, i / 16.0));
        double step = _i ? now - last : last - now;

        ck_assert_double_gt(step, all / 16 / 2.5);
        last = now;
    }
    ck_assert_uint_eq(theme_heat(t, -1), theme_heat(t, 0));
    ck_assert_uint_eq(theme_heat(t, 7), theme_heat(t, 1));
    ck_assert_uint_eq(theme_heat(t, NAN), theme_heat(t, 0));
}
END_TEST

typedef struct {
    control k;
    cv_canvas c;
    cv_font_set *fonts;
    uint32_t *px;
} screen;

static void open_screen(screen *s, bool dark)
{
    vpu_error err;

    s->px = calloc((size_t)WIDTH * HEIGHT, sizeof *s->px);
    ck_assert_msg(!cv_fonts_open(1, &s->fonts, &err), "%s", err.msg);
    cv_raster(&s->c, s->fonts, &(cv_pixels){s->px, WIDTH, HEIGHT, WIDTH}, 1);
    control_init(&s->k, &v, "t", NULL, "");
    if (s->k.dark != dark)
        control_key(&s->k, 't', 0);
    control_resize(&s->k, WIDTH, HEIGHT);
    control_paint(&s->k, &s->c);
}

static void close_screen(screen *s)
{
    cv_fonts_close(s->fonts);
    free(s->px);
}

/* The middle of a bank's stretch on the screen. */
static void place_of(const screen *s, uint32_t bank, uint32_t i, double *x,
                     double *y)
{
    const view_row *row = shown("DDR banks");
    paint_boxes b;

    paint_layout(&s->k.pages[0], &b);
    *x = b.rows.x + view_x(&v, b.rows.w, (i + 0.5) * STEP);
    *y = b.rows.y + row->y - v.scroll + row->h * (bank + 0.5) / BANKS;
}

/* The most is 14 %, so the last colour is 20 %; where nothing is, the row's. */
START_TEST(colours_of_values)
{
    bool dark = _i;
    const theme *t = dark ? &theme_dark : &theme_light;
    screen s;

    make((form){"DDR banks", BANKS, false});
    open_screen(&s, dark);
    for (uint32_t b = 0; b < BANKS; b++)
        for (uint32_t i = 0; i + 1 < STEPS; i++) {
            double x, y, step = share(b, i) / 0.2 * 64;
            uint32_t found;

            place_of(&s, b, i, &x, &y);
            found = s.px[(size_t)y * WIDTH + (size_t)x] | 0xff000000;
            if (!i) {
                ck_assert(found == t->row || found == t->row_alternate ||
                          found == t->class_color[TL_IDLE]);
                continue;
            }
            /* Of 64 colours the next one. */
            ck_assert(found == theme_heat(t, ceil(step - 1e-6) / 64) ||
                      found == theme_heat(t, ceil(step + 1e-6) / 64));
        }
    close_screen(&s);
    drop();
}
END_TEST

START_TEST(a_click_chooses)
{
    str text = {0};
    double x, y;
    screen s;

    make((form){"DDR banks", BANKS, false});
    open_screen(&s, false);
    place_of(&s, 2, 5, &x, &y);
    control_motion(&s.k, x, y);
    ck_assert_msg(strstr(s.k.status, "DDR banks: bank 2, 9.0 % busy"), "%s",
                  s.k.status);
    control_press(&s.k, x, y, 1, 1, 0);
    control_release(&s.k, x, y);
    ck_assert(v.has_point && !v.has_selection);
    ck_assert_uint_eq(v.point.lane, 2);
    ck_assert_double_eq(v.point.value, share(2, 5));
    control_paint(&s.k, &s.c);
    export_text(&v, &text);
    ck_assert_str_eq(str_text(&text),
                     "name: bank 2\nrow: DDR banks\nshare: 0.09\n"
                     "from: 5000 cycles (5000 ns)\n"
                     "for: 1000 cycles (1000 ns)\n");
    str_free(&text);
    control_key(&s.k, KEY_ESCAPE, 0);
    ck_assert(!v.has_point);
    close_screen(&s);
    drop();
}
END_TEST

START_TEST(as_text)
{
    str text = {0};
    const char *at;

    make((form){"DDR banks", BANKS, false});
    text_timeline(&v, &(text_options){.columns = 100}, &text);
    at = strstr(str_text(&text), "\nDDR banks");
    ck_assert_msg(at, "%s", str_text(&text));
    ck_assert(strchr(at, '|') && strchr(strchr(at, '|'), '0'));
    ck_assert(!strstr(str_text(&text), "bank 0"));
    str_free(&text);
    drop();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("heat");
    TCase *t = tcase_create("heat");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_test(t, counters_of_a_group_are_one_row);
    tcase_add_test(t, what_is_no_heat_map);
    tcase_add_test(t, a_place_says_bank_time_and_value);
    tcase_add_loop_test(t, lightness_alone_tells_shares_apart, 0, 2);
    tcase_add_loop_test(t, colours_of_values, 0, 2);
    tcase_add_test(t, a_click_chooses);
    tcase_add_test(t, as_text);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
