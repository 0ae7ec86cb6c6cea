/* Any bytes as a trace: read, put in columns, looked at, as text and page. */
#include "visualizer/compare.h"
#include "visualizer/html.h"
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

static void look(const tl_timeline *tl)
{
    vpu_error err;
    view_slice s;
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
    text_timeline(&v, &(text_options){.columns = 60, .title = "fuzz"}, &text);
    str_free(&text);
    html_write(&v, &(html_options){.title = "fuzz", .max_items = 100},
               "/dev/null", &err);
    view_free(&v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    vpu_error err;
    tl_timeline tl;

    if (!load_bytes("fuzz", data, n, &tl, &err))
        look(&tl);
    tl_free(&tl);
    return 0;
}
