/* Any bytes as a trace: read, put in columns, looked at, as text and page. */
#include "visualizer/compare.h"
#include "visualizer/html.h"
#include "visualizer/load.h"
#include "visualizer/stats.h"
#include "visualizer/text.h"
#include "visualizer/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

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
