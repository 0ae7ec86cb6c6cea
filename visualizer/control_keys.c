/* Keys and typed text as changes of the views: the commands, and the rows of
 * keys.def that give the keys to them. */
#include <math.h>
#include <string.h>

#include "visualizer/control_priv.h"
#include "visualizer/links.h"

/* --- commands ------------------------------------------------------------ */

static bool same_slice(const view_slice *a, const view_slice *b)
{
    return a->row == b->row && a->lane == b->lane && a->slice == b->slice;
}

/* From one hit to the next no other is counted again. */
static void find(control *k, int dir)
{
    view *v = control_focused(k);
    view_slice s;
    bool next = !k->searching && k->hits_in == k->focus && k->hits.on &&
                k->hits.done && k->hit && v->has_selection &&
                same_slice(&v->selection, &k->found) &&
                !strcmp(k->hits.text, k->search);

    k->failed_search = !view_search_from(v, k->search, dir, v->from, &s);
    k->tells_hits = k->search[0] != 0;
    if (k->failed_search)
        return;
    view_select(v, &s);
    view_reveal(v, &s);
    k->found = s;
    if (!next)
        control_begin_hits(k);
    else if (dir > 0)
        k->hit = k->hit % k->hits.total + 1;
    else
        k->hit = k->hit > 1 ? k->hit - 1 : k->hits.total;
}

/* --- searches that were done ---------------------------------------------- */

static void keep_search(control *k)
{
    int at = 0;

    while (at < k->n_searches && strcmp(k->searches[at], k->search))
        at++;
    if (!at && k->n_searches)
        return;
    if (at == k->n_searches && k->n_searches < CONTROL_SEARCHES)
        k->n_searches++;
    at = at < CONTROL_SEARCHES ? at : CONTROL_SEARCHES - 1;
    memmove(k->searches[1], k->searches[0], (size_t)at * CONTROL_TEXT);
    memcpy(k->searches[0], k->search, CONTROL_TEXT);
    k->searched = true;
}

static void recall_search(control *k, int by)
{
    int at = k->at_search + by;

    if (at < 0 || at > k->n_searches)
        return;
    k->at_search = at;
    if (at)
        memcpy(k->search, k->searches[at - 1], CONTROL_TEXT);
    else
        k->search[0] = 0;
}

/* Neighbours of the selection: along the lane, or to the next row. */
static void step_selection(control *k, int along, int down)
{
    view *v = control_focused(k);
    view_slice s = v->selection;
    const tl_lane *l;
    double t, y, x;
    paint_boxes b;

    control_boxes(k, &b);
    if (!v->has_selection) {
        for (uint32_t i = 0; i < v->n_rows && !v->has_selection; i++)
            if (view_hit(v, b.rows.w, b.rows.w / 2, v->rows[i].y + 1, &s))
                view_select(v, &s);
        return;
    }
    l = view_lane_of(v, &s);
    if (along) {
        if (along < 0 ? s.slice == 0 : s.slice + 1 >= l->n_slices)
            return;
        s.slice += along < 0 ? UINT64_MAX : 1;
        view_select(v, &s);
        view_reveal(v, &s);
        return;
    }
    t = fmin(
        fmax((double)tl_begin(l, s.slice) + (double)tl_length(l, s.slice) / 2,
             v->from),
        v->to);
    x = fmin(view_x(v, b.rows.w, t), b.rows.w - 1);
    for (uint32_t i = 0; i < v->n_rows; i++)
        if (v->rows[i].row == s.row) {
            y = v->rows[i].y + (down > 0 ? v->rows[i].h : -1);
            for (; y >= 0 && y < v->height; y += down)
                if (view_hit(v, b.rows.w, x, y, &s)) {
                    view_select(v, &s);
                    return;
                }
            return;
        }
}

static void zoom_to_selection(control *k)
{
    view *v = control_focused(k);
    double a, span;
    const tl_lane *l;

    if (v->has_range) {
        view_show(v, (double)v->range_from, (double)v->range_to);
        return;
    }
    if (!v->has_selection)
        return;
    l = view_lane_of(v, &v->selection);
    a = (double)tl_begin(l, v->selection.slice);
    span = fmax((double)tl_length(l, v->selection.slice), 1);
    view_show(v, a - span * 0.1, a + span * 1.1);
}

static void mark_selection(control *k)
{
    view *v = control_focused(k);
    const tl_lane *l;
    double a;

    if (v->has_range || !v->has_selection) {
        v->has_range = false;
        return;
    }
    l = view_lane_of(v, &v->selection);
    a = (double)tl_begin(l, v->selection.slice);
    view_mark(v, a, a + (double)tl_length(l, v->selection.slice));
}

/* The row commands are for: the selection's, else the one under the mouse. */
static uint32_t row_meant(control *k)
{
    view *v = control_focused(k);
    paint_boxes b;

    control_boxes(k, &b);
    if (k->mouse_x >= 0 && k->mouse_y >= b.rows.y && !v->has_selection)
        return view_row_at(v, k->mouse_y - b.rows.y + v->scroll);
    for (uint32_t i = 0; v->has_selection && i < v->n_rows; i++)
        if (v->rows[i].row == v->selection.row)
            return i;
    return UINT32_MAX;
}

/* --- commands of keys ---------------------------------------------------- */

/* A command of a row: false, the key means nothing to it now, and the rows
 * below are asked. */
typedef bool command(control *k, uint32_t key, unsigned mods);

#define UNUSED __attribute__((unused))
#define COMMAND(name) \
    static bool name(control *k, UNUSED uint32_t key, UNUSED unsigned mods)

COMMAND(zoom_in)
{
    view_zoom(control_focused(k), 0.7, control_anchor(k));
    return true;
}

COMMAND(zoom_out)
{
    view_zoom(control_focused(k), 1 / 0.7, control_anchor(k));
    return true;
}

static bool is_history(uint32_t key, unsigned mods)
{
    return mods & MOD_ALT && (key == KEY_LEFT || key == KEY_RIGHT);
}

COMMAND(move_left)
{
    if (is_history(key, mods))
        return false;
    view_pan(control_focused(k), mods & MOD_SHIFT ? -0.5 : -0.12);
    return true;
}

COMMAND(move_right)
{
    if (is_history(key, mods))
        return false;
    view_pan(control_focused(k), mods & MOD_SHIFT ? 0.5 : 0.12);
    return true;
}

COMMAND(show_all)
{
    view_fit(control_focused(k));
    return true;
}

COMMAND(zoom_to)
{
    zoom_to_selection(k);
    return true;
}

COMMAND(go_back)
{
    view_back(control_focused(k));
    return true;
}

COMMAND(go_forward)
{
    view_forward(control_focused(k));
    return true;
}

COMMAND(next_slice)
{
    step_selection(k, mods & MOD_SHIFT ? -1 : 1, 0);
    return true;
}

/* Of the list of bundles the next one; without one the next row. */
static bool step_bundle(control *k, int by)
{
    view *v = control_focused(k);
    view_slice s;
    view_bundle b;

    if (k->shows != PANEL_PIPELINE || !view_bundle_near(v, &s) ||
        (v->has_selection && !view_bundle_of(v, &v->selection, &b)))
        return false;
    if (v->has_selection)
        step_selection(k, by, 0);
    else
        control_go_to_slice(k, &s);
    return true;
}

COMMAND(next_row)
{
    if (step_bundle(k, key == KEY_UP ? -1 : 1))
        return true;
    step_selection(k, 0, key == KEY_UP ? -1 : 1);
    return true;
}

COMMAND(measure)
{
    mark_selection(k);
    return true;
}

COMMAND(search)
{
    k->searching = true;
    k->failed_search = false;
    k->search[0] = 0;
    k->at_search = 0;
    k->hits = (view_hits){0};
    return true;
}

COMMAND(find_next)
{
    find(k, 1);
    return true;
}

COMMAND(find_previous)
{
    find(k, -1);
    return true;
}

COMMAND(bookmark)
{
    view *v = control_focused(k);
    uint32_t i = key - '1';

    if (mods & MOD_CTRL) {
        k->bookmarks[i].set = k->bookmarks_changed = true;
        k->bookmarks[i].from = v->from;
        k->bookmarks[i].to = v->to;
    } else if (k->bookmarks[i].set) {
        view_show(v, k->bookmarks[i].from, k->bookmarks[i].to);
    }
    return true;
}

COMMAND(fold_row)
{
    view *v = control_focused(k);
    uint32_t at = row_meant(k);

    if (at == UINT32_MAX)
        return false;
    view_fold(v, at, !v->rows[at].folded);
    return true;
}

COMMAND(fold_kind)
{
    uint32_t at = row_meant(k);

    if (at == UINT32_MAX)
        return false;
    view_fold_kind(control_focused(k), at);
    return true;
}

COMMAND(pin_row)
{
    view *v = control_focused(k);
    uint32_t at = row_meant(k);

    if (at == UINT32_MAX)
        return false;
    view_pin(v, at, !v->rows[at].pinned);
    return true;
}

COMMAND(hide_row)
{
    uint32_t at = row_meant(k);

    if (at == UINT32_MAX)
        return false;
    view_hide(control_focused(k), at, true);
    return true;
}

/* Of both traces. */
static void set_filter(control *k, const char *text)
{
    for (int i = 0; i < k->n_views; i++)
        view_filter(k->views[i], text);
}

COMMAND(unhide_rows)
{
    view *v = control_focused(k);

    for (uint32_t i = 0; i < v->n_rows; i++)
        view_hide(v, i, false);
    set_filter(k, "");
    return true;
}

COMMAND(filter_rows)
{
    k->filtering = true;
    return true;
}

COMMAND(raise_row)
{
    uint32_t at = row_meant(k);

    if (at == UINT32_MAX)
        return false;
    view_raise(control_focused(k), at, key == 'J' ? 1 : -1);
    return true;
}

/* The panel that the key opens; the same key again: figures. */
static bool toggle_panel(control *k, paint_panel_kind panel)
{
    if (paint_panels[panel].compares && !k->cmp)
        return false;
    k->shows = k->shows == panel ? PANEL_FIGURES : panel;
    return true;
}

COMMAND(show_source)
{
    return toggle_panel(k, PANEL_SOURCE);
}

COMMAND(choose_line)
{
    view *v = control_focused(k);
    paint_focus f = paint_focus_of(v);
    const char *file = v->line_file ? v->line_file
                       : f.has_line ? f.line.file
                                    : NULL;

    if (!file)
        return true;
    if (!v->line_file)
        v->line = f.line.line;
    else if (key == '.' && v->line < UINT32_MAX)
        v->line++;
    else if (key == ',' && v->line > 1)
        v->line--;
    v->line_file = file;
    k->shows = PANEL_SOURCE;
    return true;
}

COMMAND(show_pipeline)
{
    return toggle_panel(k, PANEL_PIPELINE);
}

COMMAND(show_slices)
{
    return toggle_panel(k, PANEL_SLICES);
}

COMMAND(next_grouping)
{
    k->look.grouping =
        (table_grouping)((k->look.grouping + 1) % TABLE_N_GROUPINGS);
    k->shows = PANEL_SLICES;
    return true;
}

COMMAND(sort_slices)
{
    int by = key == '<' ? TABLE_N_COLUMNS - 1 : 1;

    if (k->shows == PANEL_SLICES)
        table_sort_by(&k->look,
                      (table_column)((k->look.column + by) % TABLE_N_COLUMNS));
    k->shows = PANEL_SLICES;
    return true;
}

COMMAND(reverse_slices)
{
    k->look.reversed = !k->look.reversed;
    k->shows = PANEL_SLICES;
    return true;
}

COMMAND(show_advice)
{
    return toggle_panel(k, PANEL_ADVICE);
}

COMMAND(choose_advice)
{
    const view *v = control_focused(k);
    uint32_t at = key == '}' ? v->advice + 1 : v->advice - 1;

    if (at >= 1 && at <= v->facts.n_advice)
        control_choose_advice(k, at);
    k->shows = PANEL_ADVICE;
    return true;
}

COMMAND(copy_text)
{
    const view *v = control_focused(k);

    if (!(mods & MOD_CTRL))
        return false;
    k->copy = v->has_selection || v->has_point || v->has_range;
    return true;
}

COMMAND(show_changes)
{
    if (mods & MOD_CTRL)
        return false;
    return toggle_panel(k, PANEL_CHANGES);
}

COMMAND(choose_change)
{
    if (!k->cmp || !k->cmp->n_slower)
        return false;
    if (key == ']' && k->change < k->cmp->n_slower)
        k->change++;
    else if (key == '[' && k->change > 1)
        k->change--;
    k->shows = PANEL_CHANGES;
    control_go_to_change(k);
    return true;
}

COMMAND(next_mode)
{
    if (!k->cmp)
        return false;
    k->mode = (compare_mode)((k->mode + 1) % COMPARE_N_MODES);
    k->views[0]->tall = k->mode == COMPARE_OVERLAY;
    view_layout(k->views[0]);
    return true;
}

/* Of both traces, if one has a path. */
COMMAND(dim_rest)
{
    bool on = !control_focused(k)->path_only, any = false;

    for (int i = 0; i < k->n_views; i++)
        any |= k->views[i]->facts.n_path > 0;
    for (int i = 0; any && i < k->n_views; i++)
        k->views[i]->path_only = on && k->views[i]->facts.n_path;
    return any;
}

COMMAND(scroll)
{
    control_focused(k)->scroll += key == KEY_PAGE_UP ? -200 : 200;
    return true;
}

COMMAND(next_unit)
{
    view *v = control_focused(k);

    v->unit = (view_unit)((v->unit + 1) % (VIEW_MS + 1));
    return true;
}

COMMAND(next_theme)
{
    k->dark = !k->dark;
    return true;
}

COMMAND(export_files)
{
    k->export = true;
    return true;
}

static bool follow_link(control *k, int dir)
{
    view *v = control_focused(k);
    view_slice to;

    if (!v->has_selection || !links_follow(v, &v->selection, dir, &to))
        return true; /* the key is taken; there is nothing */
    view_select(v, &to);
    view_reveal(v, &to);
    return true;
}

COMMAND(follow_back)
{
    return follow_link(k, -1);
}

COMMAND(follow_on)
{
    return follow_link(k, 1);
}

COMMAND(open_trace)
{
    k->wants_choice = k->choose != NULL;
    return k->wants_choice;
}

COMMAND(help)
{
    k->help = k->help < control_help_pages(k) ? k->help + 1 : 0;
    return true;
}

COMMAND(escape)
{
    view *v = control_focused(k);

    if (!k->help) {
        v->has_range = false;
        view_select(v, NULL);
        v->line_file = NULL;
        v->advice = 0;
        k->tells_hits = false;
        for (int i = 0; i < k->n_views; i++)
            k->views[i]->only = 0;
    }
    k->help = 0;
    return true;
}

COMMAND(quit)
{
    k->quit = true;
    return true;
}

/* --- rows ---------------------------------------------------------------- */

enum { MAX_CODES = 10 };

static const struct {
    command *run;
    uint32_t codes[MAX_CODES]; /* characters and control_key_code, up to 0 */
} bindings[] = {
#define KEY(shown, text, run, ...) {run, {__VA_ARGS__}},
#define ALSO(run, ...) {run, {__VA_ARGS__}},
#include "visualizer/keys.def"
};

static const control_help help_rows[] = {
#define KEY(shown, text, run, ...) {shown, text},
#define ALSO(run, ...)
#include "visualizer/keys.def"
};

size_t control_help_rows(const control_help **rows)
{
    if (rows)
        *rows = help_rows;
    return sizeof help_rows / sizeof *help_rows;
}

const control_help *control_help_of(uint32_t key)
{
    /* The line of each row of `bindings`: an ALSO belongs to the KEY above. */
    static const uint8_t begins[] = {
#define KEY(shown, text, run, ...) 1,
#define ALSO(run, ...) 0,
#include "visualizer/keys.def"
    };
    size_t line = 0;

    for (size_t i = 0; i < sizeof begins; i++) {
        line += begins[i];
        for (int n = 0; n < MAX_CODES && bindings[i].codes[n]; n++)
            if (bindings[i].codes[n] == key)
                return &help_rows[line - 1];
    }
    return NULL;
}

static bool run_binding(control *k, uint32_t key, unsigned mods)
{
    for (size_t i = 0; i < sizeof bindings / sizeof *bindings; i++)
        for (int n = 0; n < MAX_CODES && bindings[i].codes[n]; n++)
            if (bindings[i].codes[n] == key && bindings[i].run(k, key, mods))
                return true;
    return false;
}

/* Without its last character, which may be several bytes. */
static void cut_character(char *text)
{
    size_t n = strlen(text);

    while (n && (text[n - 1] & 0xc0) == 0x80)
        n--;
    if (n)
        text[n - 1] = 0;
}

static bool filter_key(control *k, uint32_t key)
{
    char text[VIEW_FILTER];

    memcpy(text, control_focused(k)->filter, sizeof text);
    if (key == KEY_BACKSPACE)
        cut_character(text);
    else if (key == KEY_ESCAPE)
        text[0] = 0;
    else if (key != KEY_ENTER)
        return false;
    k->filtering = key == KEY_BACKSPACE;
    set_filter(k, text);
    return true;
}

static bool search_key(control *k, uint32_t key)
{
    size_t n = strlen(k->search);

    if (key == KEY_ESCAPE) {
        k->searching = false;
        k->tells_hits = false;
    } else if (key == KEY_ENTER) {
        find(k, 1);
        k->searching = k->failed_search;
        if (!k->failed_search)
            keep_search(k);
    } else if (key == KEY_UP || key == KEY_DOWN) {
        recall_search(k, key == KEY_UP ? 1 : -1);
        k->failed_search = false;
        control_begin_hits(k);
    } else if (key == KEY_BACKSPACE && n) {
        cut_character(k->search);
        k->failed_search = false;
        control_begin_hits(k);
    } else {
        return false;
    }
    return true;
}

bool control_key(control *k, uint32_t key, unsigned mods)
{
    if (k->loading && key == KEY_ESCAPE)
        return k->stop_loading = true;
    if (k->menu.open) { /* any key closes it; Escape does no more */
        k->menu.open = false;
        if (key == KEY_ESCAPE)
            return true;
    }
    if (control_chooses(k))
        return chooser_key(k->choose, key);
    if (!(k->filtering   ? filter_key(k, key)
          : k->searching ? search_key(k, key)
                         : run_binding(k, key, mods)))
        return false;
    control_link_views(k);
    if (key != '[' && key != ']')
        control_link_selection(k);
    control_resize(k, k->width, k->height);
    control_hover(k);
    return true;
}

static bool type_filter(control *k, const char *utf8)
{
    size_t n = strlen(control_focused(k)->filter), more = strlen(utf8);
    char text[VIEW_FILTER];

    if (n + more >= sizeof text)
        return false;
    memcpy(text, control_focused(k)->filter, n);
    memcpy(text + n, utf8, more + 1);
    set_filter(k, text);
    control_resize(k, k->width, k->height);
    control_hover(k);
    return true;
}

bool control_text(control *k, const char *utf8)
{
    size_t n = strlen(k->search), more = strlen(utf8);

    if (control_chooses(k))
        return chooser_text(k->choose, utf8);
    if (k->filtering)
        return type_filter(k, utf8);
    if (!k->searching || n + more >= sizeof k->search)
        return false;
    memcpy(k->search + n, utf8, more + 1);
    k->failed_search = false;
    control_begin_hits(k);
    control_tell_hover(k);
    return true;
}
