/* Any bytes as a trace: read, put in columns, looked at, as text and page. */
#include "visualizer/compare.h"
#include "visualizer/control.h"
#include "visualizer/html.h"
#include "visualizer/links.h"
#include "visualizer/load.h"
#include "visualizer/stats.h"
#include "visualizer/table.h"
#include "visualizer/text.h"
#include "visualizer/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* All its tables, and the slices behind their lines. */
static void count(const view *v)
{
    view_hits hits;
    view_slice s;
    table t = {0};
    vpu_error err;

    for (int g = 0; g < TABLE_N_GROUPINGS; g++) {
        table_look look = {.grouping = (table_grouping)g};

        if (table_make(&t, v, &look, &err))
            break;
        for (uint32_t i = 0; i < t.shown.n_lines && i < 8; i++)
            if (table_next(&t.shown, v, i, &s))
                table_line_of(&t.shown, v, &s);
    }
    table_clear(&t);
    view_hits_begin(&hits, v, "a", v->from);
    view_hits_step(&hits, v, UINT64_MAX);
}

/* What waits for what, from every row's first slice on. */
static void follow(const view *v)
{
    links_link links[LINKS_MAX];

    for (uint32_t i = 0; i < v->n_rows && i < 64; i++) {
        const tl_row *r = &v->tl->rows[v->rows[i].row];

        for (uint32_t lane = 0; r->lanes && lane < r->n_lanes && lane < 2;
             lane++) {
            view_slice s = {v->rows[i].row, lane, 0}, to;

            if (!r->lanes[lane].n_slices)
                continue;
            links_of(v, &s, links);
            links_phase_at(v, &s, &to);
            links_rate(v, &s);
            for (int k = 0; k < 8 && links_follow(v, &s, k % 2 ? 1 : -1, &to);
                 k++)
                s = to;
        }
    }
}

/* The window's page. Drawing text takes most of the time, so few inputs have
 * that. */
static void paint_page_of(view *v)
{
    enum { W = 900, H = 240 };
    static const char keys[] = "bltmxgGcvfFHiIe.by}}{yl";
    static cv_font_set *fonts;
    static uint32_t px[W * H];
    static control k;
    cv_canvas c;
    view_slice s;
    vpu_error err;

    if (!fonts && cv_fonts_open(1, &fonts, &err))
        return;
    control_init(&k, v, "fuzz", NULL, "");
    control_resize(&k, W, H);
    for (double y = 60; y < H; y += 20) { /* a click on every row */
        control_motion(&k, 300, y);
        control_press(&k, 300, y, 1, 1, 0);
        control_release(&k, 300, y);
        cv_raster(&c, fonts, &(const cv_pixels){px, W, H, W}, 1);
        control_paint(&k, &c);
    }
    if (view_bundle_near(v, &s))
        view_select(v, &s);
    for (const char *key = keys; *key; key++) {
        control_key(&k, (uint32_t)(unsigned char)*key, 0);
        cv_raster(&c, fonts, &(const cv_pixels){px, W, H, W}, 1);
        control_paint(&k, &c);
    }
}

static void look(const tl_timeline *tl, bool page)
{
    vpu_error err;
    view_slice s;
    view_point at;
    compare c;
    stats st;
    str text = {0};
    view v;

    if (view_init(&v, tl, &err))
        return;
    stats_of(tl, tl->end / 3, tl->end, &st);
    view_zoom(&v, 0.3, (double)tl->end / 2);
    for (double y = 0; y < v.height && y < 2000; y += 5)
        if (view_hit(&v, 100, 50, y, &s))
            view_select(&v, &s);
        else if (view_heat_at(&v, 100, 50, y, &at))
            view_choose(&v, &at);
    view_search(&v, "a", 1, &s);
    count(&v);
    view_mark(&v, (double)tl->end / 3, (double)tl->end);
    view_mark_rows(&v, v.height / 4, v.height / 2);
    count(&v);
    if (!compare_make(&v, &v, &c, &err)) {
        compare_shift(&c, NULL, (double)tl->end / 2);
        if (v.has_selection)
            compare_of_slice(&c, 0, &v.selection);
        compare_free(&c);
    }
    follow(&v);
    text_timeline(&v, &(text_options){.columns = 60, .title = "fuzz"}, &text);
    str_free(&text);
    html_write(&v, &(html_options){.title = "fuzz", .max_items = 100},
               "/dev/null", &err);
    if (page)
        paint_page_of(&v);
    view_free(&v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    vpu_error err;
    tl_timeline tl;

    if (!load_bytes("fuzz", data, n, &tl, &err))
        look(&tl, n && data[n / 2] % 32 == 0);
    tl_free(&tl);
    return 0;
}
