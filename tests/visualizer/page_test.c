/* The parts of the page that take the mouse besides the rows: the legend, which
 * shows one class alone, the bar that scrolls the rows, the menu; what is
 * copied. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/trace/writer.h"
#include "tests/support/terminal.h"
#include "visualizer/control.h"
#include "visualizer/export.h"
#include "visualizer/load.h"
#include "visualizer/tools.h"

enum { W = 900, H = 400, N_SHAVES = 16, LENGTH = 1000 };

static terminal p;
static tl_timeline tl;
static view v;
static control k;
static cv_font_set *fonts;
static uint32_t *px;

static void setup(void)
{
    trc_track device, shave;
    trc_writer *w;
    vpu_error err;
    const char *path;

    terminal_open(&p);
    path = arena_printf(p.arena, "%s/t.pftrace", p.dir);
    ck_assert(!trc_writer_create(NULL, &w, &err));
    ck_assert(!trc_writer_add(w, TRC_PERFETTO, path, &err));
    device = trc_track_group(w, 0, "device");
    for (int i = 0; i < N_SHAVES; i++) { /* half and half */
        shave = trc_track_slices(
            w, device, arena_printf(p.arena, "SHAVE %d", i), TRC_CYCLES);
        trc_begin(w, shave, 0,
                  &(trc_event){.name = "comp", .numbered = true, .number = 1});
        trc_slice(w, shave, 0, LENGTH / 2, &(trc_event){.name = "issue"});
        trc_slice(w, shave, LENGTH / 2, LENGTH,
                  &(trc_event){.name = "DDR stall"});
        trc_end(w, shave, LENGTH, NULL, 0);
    }
    ck_assert(!trc_writer_commit(w, &err));
    ck_assert(!load_file(path, &tl, &err));
    ck_assert(!view_init(&v, &tl, &err));
    ck_assert_msg(!cv_fonts_open(1, &fonts, &err), "%s", err.msg);
    control_init(&k, &v, "t", NULL, NULL);
    control_resize(&k, W, H);
    px = calloc((size_t)W * H, sizeof *px);
    ck_assert(px != NULL);
}

static void teardown(void)
{
    free(px);
    cv_fonts_close(fonts);
    view_free(&v);
    tl_free(&tl);
    terminal_close(&p);
}

static void paint_all(void)
{
    cv_canvas c;

    cv_raster(&c, fonts, &(const cv_pixels){px, W, H, W}, 1);
    control_paint(&k, &c);
}

/* The page as SVG. */
static const char *drawn(void)
{
    cv_canvas c;
    str out = {.arena = p.arena};

    cv_svg(&c, fonts, W, H, &out);
    control_paint(&k, &c);
    cv_svg_end(&c);
    return str_text(&out);
}

static void click(double x, double y)
{
    control_press(&k, x, y, 1, 1, 0);
    control_release(&k, x, y);
}

/* The colours of SHAVE 0's causes, a quarter from each end: issue, stall. */
static void look(uint32_t colors[2])
{
    paint_boxes b;

    paint_all();
    paint_layout(&k.pages[0], &b);
    for (uint32_t i = 0; i < v.n_rows; i++)
        if (!strcmp(tl.rows[v.rows[i].row].name, "SHAVE 0")) {
            double y, h;
            int at;

            view_lane_place(&v, &v.rows[i], 1, &y, &h);
            /* Below the name that stands on it, between lines of a pattern. */
            at = (int)(b.rows.y + v.rows[i].y - v.scroll + y + h - 2);
            for (int half = 0; half < 2; half++)
                colors[half] =
                    px[at * W +
                       (int)(b.rows.x + b.rows.w * (half ? 0.95 : 0.45))] &
                    0xffffff;
        }
}

static double distance(uint32_t a, uint32_t b)
{
    double sum = 0;

    for (int shift = 0; shift < 24; shift += 8) {
        double d = (double)(a >> shift & 255) - (double)(b >> shift & 255);

        sum += d < 0 ? -d : d;
    }
    return sum;
}

static uint32_t shown_rows(void)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < v.n_rows; i++)
        n += v.rows[i].h > 0;
    return n;
}

/* Typed letter by letter; what is hidden is found by no search; Escape shows
 * all, Enter keeps it, the key for all rows ends it. */
START_TEST(the_filter)
{
    view_slice s;

    control_key(&k, 'r', 0);
    ck_assert(control_types(&k));
    control_text(&k, "sh");
    control_text(&k, "AVE 1");
    ck_assert_uint_eq(shown_rows(), 7); /* 1, 10 to 15 */
    ck_assert(strstr(drawn(), "rows: shAVE 1_   7 of 16"));
    control_text(&k, " ,, shave 03 , e 7");
    ck_assert_uint_eq(shown_rows(), 8);
    for (int i = 0; i < 18; i++)
        control_key(&k, KEY_BACKSPACE, 0);
    ck_assert_str_eq(v.filter, "shAVE 1");
    control_text(&k, "\xc3\xa4");
    ck_assert_uint_eq(shown_rows(), 0);
    paint_all(); /* nothing to draw, nothing to select */
    control_key(&k, KEY_BACKSPACE, 0);
    ck_assert_uint_eq(shown_rows(), 7);
    control_text(&k, "5");
    control_key(&k, KEY_ENTER, 0);
    ck_assert(!control_types(&k));
    ck_assert_uint_eq(shown_rows(), 1);
    ck_assert(strstr(drawn(), "rows with shAVE 15 (H shows all)"));
    ck_assert(view_search(&v, "comp", 1, &s));
    ck_assert_str_eq(tl.rows[s.row].name, "SHAVE 15");
    ck_assert(!view_search(&v, "SHAVE 3", 1, &s));
    control_key(&k, 'H', 0);
    ck_assert_uint_eq(shown_rows(), 16);
    control_key(&k, 'r', 0);
    control_text(&k, "nothing");
    control_key(&k, KEY_ESCAPE, 0);
    ck_assert(!control_types(&k));
    ck_assert_uint_eq(shown_rows(), 16);
    for (int i = 0; i < 30; i++) { /* longer than there is room for */
        control_key(&k, 'r', 0);
        control_text(&k, "0123456789");
        control_key(&k, KEY_ENTER, 0);
    }
    ck_assert_uint_eq(strlen(v.filter), 120);
}
END_TEST

START_TEST(the_legend)
{
    uint32_t all[2], one[2], again[2], page;
    double x, y;
    paint_boxes b;

    look(all);
    paint_layout(&k.pages[0], &b);
    page = k.pages[0].colors->page & 0xffffff;
    ck_assert(k.legend[0][TL_ISSUE].end > k.legend[0][TL_ISSUE].x);
    ck_assert(k.legend[0][TL_OUT].end == 0); /* there is none */
    x = (k.legend[0][TL_ISSUE].x + k.legend[0][TL_ISSUE].end) / 2;
    y = b.legend.y + b.legend.h / 2;
    click(x, y);
    ck_assert_int_eq(v.only, TL_ISSUE + 1);
    look(one);
    ck_assert_uint_eq(one[0], all[0]);
    ck_assert_msg(distance(one[1], page) < distance(all[1], page) / 3,
                  "%06x, before %06x", one[1], all[1]);
    x = (k.legend[0][TL_DDR].x + k.legend[0][TL_DDR].end) / 2;
    click(x, y);
    ck_assert_int_eq(v.only, TL_DDR + 1);
    click(x, y); /* again */
    ck_assert_int_eq(v.only, 0);
    look(again);
    ck_assert(!memcmp(again, all, sizeof all));
    click(x, y);
    click(b.legend.x + b.legend.w - 1, y); /* beside all of them */
    ck_assert_int_eq(v.only, 0);
    click(x, y);
    control_key(&k, KEY_ESCAPE, 0);
    ck_assert_int_eq(v.only, 0);
}
END_TEST

START_TEST(the_bar)
{
    paint_boxes b;
    double most, span = v.to - v.from;

    paint_layout(&k.pages[0], &b);
    ck_assert(b.bar.h > 0 && b.thumb.h < b.bar.h);
    ck_assert(b.bar.x >= b.rows.x + b.rows.w);
    ck_assert_double_eq(b.thumb.y, b.bar.y);
    most = v.height - b.rows.h;
    click(b.bar.x + 2, b.bar.y + b.bar.h - 1);
    ck_assert_double_eq_tol(v.scroll, most, 1);
    paint_layout(&k.pages[0], &b);
    ck_assert_double_eq_tol(b.thumb.y + b.thumb.h, b.bar.y + b.bar.h, 1);
    /* Pulled half the way up, then beyond the end. */
    control_press(&k, b.thumb.x + 2, b.thumb.y + 3, 1, 1, 0);
    control_motion(&k, b.thumb.x + 2,
                   b.thumb.y + 3 - (b.bar.h - b.thumb.h) / 2);
    ck_assert_double_eq_tol(v.scroll, most / 2, 1);
    control_motion(&k, 5, -1000); /* beside the bar, too */
    control_release(&k, 5, -1000);
    ck_assert_double_eq(v.scroll, 0);
    /* Time has not moved, and there is nothing to come back to. */
    ck_assert_double_eq(v.to - v.from, span);
    ck_assert_uint_eq(v.at_history, 0);
    /* Where all rows are seen there is no bar. */
    control_resize(&k, W, 4000);
    paint_layout(&k.pages[0], &b);
    ck_assert(b.bar.h == 0);
    paint_layout(&(const paint_page){.view = &v,
                                     .colors = k.pages[0].colors,
                                     .title = "t",
                                     .area = {0, 0, W, H}},
                 &b);
    ck_assert(b.bar.h == 0); /* nor in a picture */
}
END_TEST

static void right_click(double x, double y)
{
    control_press(&k, x, y, 3, 1, 0);
    control_release(&k, x, y);
}

/* A box inside the page; each line runs a command that is there. */
static double panel_width(void)
{
    paint_boxes b;

    paint_layout(&k.pages[0], &b);
    return b.panel.w;
}

/* Each panel has the width that its edge was dragged to, within the page. */
START_TEST(the_panel_s_edge)
{
    double own, x, from = v.from, to = v.to;

    control_resize(&k, 1200, H);
    own = panel_width();
    x = 1200 - own;
    control_press(&k, x + 1, 200, 1, 1, 0);
    control_motion(&k, x - 99, 200);
    control_release(&k, x - 99, 200);
    ck_assert_double_eq_tol(panel_width(), own + 99, 1.5);
    ck_assert_double_eq(v.from, from);
    ck_assert_double_eq(v.to, to);
    control_key(&k, 'g', 0); /* another one */
    ck_assert_double_ne(panel_width(), own + 99);
    control_key(&k, 'g', 0);
    ck_assert_double_eq_tol(panel_width(), own + 99, 1.5);
    x = 1200 - panel_width();
    control_press(&k, x, 200, 1, 1, 0);
    control_motion(&k, 5, 200);
    ck_assert_double_eq(panel_width(), 900);
    control_motion(&k, 1400, 200);
    ck_assert_double_eq(panel_width(), 180);
    control_release(&k, 1400, 200);
    paint_all();
}
END_TEST

/* Where the button of that key is, from the right on; false: nowhere. */
static bool tool_place(uint32_t wanted, double *x, double *y)
{
    paint_boxes b;

    paint_layout(&k.pages[0], &b);
    *y = b.title.y + b.title.h / 2;
    for (*x = k.width; *x >= 0; *x -= 2)
        if (tools_at(&(tools_place){b.title, false}, *x, *y) == wanted)
            return true;
    return false;
}

/* Each button runs its key's command and says what it does; where it is narrow
 * the first ones are left, and the title stays readable. */
START_TEST(the_buttons)
{
    static const uint32_t keys[] = {
#define TOOL(text, key, compares) compares ? 0 : key,
#include "visualizer/tools.def"
    };
    double x, y;
    unsigned n = 0;

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const control_help *help = control_help_of(keys[i]);

        if (!keys[i])
            continue;
        ck_assert_msg(help != NULL, "key %#x", keys[i]);
        control_resize(&k, 2000, H);
        ck_assert_msg(tool_place(keys[i], &x, &y), "key %#x", keys[i]);
        control_motion(&k, x, y);
        ck_assert_msg(strstr(drawn(), help->text), "%s", help->text);
        control_motion(&k, 10, 300);
        ck_assert(!strstr(drawn(), arena_printf(p.arena, "%s  (", help->text)));
        n++;
    }
    ck_assert_uint_gt(n, 10);
    /* Of a key that means something else with ctrl: what it means alone. */
    ck_assert(strstr(control_help_of('c')->text, "what got slower"));
    control_resize(&k, W, H);
    view_show(&v, 100, 200);
    ck_assert(tool_place(KEY_HOME, &x, &y));
    click(x, y);
    ck_assert_double_eq(v.to - v.from, LENGTH);
    ck_assert(tool_place('+', &x, &y));
    click(x, y); /* around the middle, not where the button is */
    ck_assert_double_eq_tol((v.from + v.to) / 2, LENGTH / 2.0, 1);
    ck_assert_double_lt(v.to - v.from, LENGTH);
    ck_assert(tool_place('/', &x, &y));
    click(x, y);
    ck_assert(k.searching);
    ck_assert(tool_place('r', &x, &y) == false); /* no room */
    ck_assert(tool_place('?', &x, &y));
    click(x, y); /* ends typing */
    ck_assert(!k.searching && k.help == 1);
    control_key(&k, KEY_ESCAPE, 0);
    control_resize(&k, 400, 240);
    ck_assert(tool_place('?', &x, &y));
    ck_assert_double_gt(x, 200);
    paint_all();
}
END_TEST

/* Where the line of that key is. */
static double menu_line(uint32_t wanted)
{
    for (int i = 0; i < k.menu.n; i++) {
        menu copy = k.menu;
        double y = copy.box.y + 17 + 22 * i;
        unsigned mods;
        uint32_t key;

        if (menu_choose(&copy, copy.box.x + 5, y, &key, &mods) && key == wanted)
            return y;
    }
    ck_abort_msg("no line of the menu has that key");
}

START_TEST(the_menu)
{
    paint_boxes b;
    double x, y;
    uint32_t row;
    int n;

    paint_layout(&k.pages[0], &b);
    x = b.rows.x + b.rows.w * 0.25;
    y = b.rows.y + v.rows[0].y + 4;
    right_click(x, y);
    ck_assert(k.menu.open && v.has_selection);
    n = k.menu.n;
    for (int i = 0; i < n; i++) {
        uint32_t key = 0;
        unsigned mods = 9;

        control_key(&k, KEY_ESCAPE, 0);
        right_click(x, y);
        ck_assert_int_eq(k.menu.n, n);
        ck_assert(menu_choose(&k.menu, k.menu.box.x + 5,
                              k.menu.box.y + 17 + 22 * i, &key, &mods));
        ck_assert(!k.menu.open);
        ck_assert_msg(control_key(&k, key, mods), "line %d, key %#x", i, key);
        control_key(&k, 'H', 0); /* if the row was hidden */
    }
    right_click(x, y);
    paint_all(); /* the last line, by the mouse: the whole trace */
    view_show(&v, 100, 200);
    click(k.menu.box.x + 5, k.menu.box.y + k.menu.box.h - 10);
    ck_assert(!k.menu.open);
    ck_assert_double_eq(v.to - v.from, LENGTH);
    /* Beside it, and Escape: nothing but that it goes. */
    right_click(x, y);
    click(k.menu.box.x - 3, k.menu.box.y);
    ck_assert(!k.menu.open && v.has_selection);
    right_click(x, y);
    control_key(&k, KEY_ESCAPE, 0);
    ck_assert(!k.menu.open && v.has_selection);
    /* At the corner it is inside, and without a slice it says less. */
    right_click(b.rows.x + b.rows.w - 1, b.rows.y + b.rows.h - 1);
    ck_assert(k.menu.box.x + k.menu.box.w <= W &&
              k.menu.box.y + k.menu.box.h <= H);
    control_key(&k, KEY_ESCAPE, 0);
    right_click(b.labels.x + 5, y);
    ck_assert(k.menu.open && !v.has_selection);
    ck_assert_int_lt(k.menu.n, n);
    /* The row that was clicked, not the one behind the line of the menu. */
    row = view_row_at(&v, y - b.rows.y + v.scroll);
    click(k.menu.box.x + 5, menu_line('h'));
    ck_assert(v.rows[row].hidden);
    for (uint32_t i = 0; i < v.n_rows; i++)
        ck_assert_msg(i == row || !v.rows[i].hidden, "row %u, not %u", i, row);
    ck_assert(strstr(drawn(), arena_printf(p.arena, "hidden (H shows): %s",
                                           tl.rows[v.rows[row].row].name)));
    control_key(&k, 'H', 0);
    ck_assert(!strstr(drawn(), "hidden"));
    /* A drag with that button measures, as before. */
    control_key(&k, KEY_ESCAPE, 0);
    control_press(&k, x, y, 3, 1, 0);
    control_motion(&k, x + 50, y);
    control_release(&k, x + 50, y);
    ck_assert(!k.menu.open && v.has_range);
}
END_TEST

/* As ctrl+C copies it. */
START_TEST(text)
{
    str out = {0};

    export_text(&v, &out);
    ck_assert_str_eq(str_text(&out), "");
    ck_assert(control_key(&k, 'c', MOD_CTRL));
    ck_assert(!k.copy); /* there is nothing */
    ck_assert(control_key(&k, KEY_TAB, 0) && v.has_selection);
    v.selection.lane = 1;
    v.selection.slice = 1;
    ck_assert(control_key(&k, 'c', MOD_CTRL) && k.copy);
    view_mark(&v, 10, 20);
    export_text(&v, &out);
    ck_assert_str_eq(str_text(&out),
                     arena_printf(p.arena,
                                  "name: DDR stall\n"
                                  "row: SHAVE 0\n"
                                  "begins: %s\n"
                                  "takes: %s\n"
                                  "range from: %s\n"
                                  "range to: %s\n",
                                  "500 cycles (714 ns)", "500 cycles (714 ns)",
                                  "10 cycles (14 ns)", "20 cycles (28 ns)"));
    k.copy = false;
    control_key(&k, 'c', 0); /* another command */
    ck_assert(!k.copy);
    str_free(&out);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("page");
    TCase *t = tcase_create("page");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, the_filter);
    tcase_add_test(t, the_legend);
    tcase_add_test(t, the_bar);
    tcase_add_test(t, the_panel_s_edge);
    tcase_add_test(t, the_buttons);
    tcase_add_test(t, the_menu);
    tcase_add_test(t, text);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
