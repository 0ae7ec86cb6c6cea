/* vpu view: the timeline of a run, in a window as a picture, a page or text. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "runtime/cli/cli.h"
#include "visualizer/control.h"
#include "visualizer/export.h"
#include "visualizer/follow.h"
#include "visualizer/html.h"
#include "visualizer/load.h"
#include "visualizer/multiples.h"
#include "visualizer/picture.h"
#include "visualizer/text.h"
#include "visualizer/window.h"

typedef struct {
    const char *file, *compare, *range, *select, *rows, *csv, *html;
    compare_mode mode;
    paint_panel_kind panel;
    table_grouping slices;
    bool slices_given, panel_given, mode_given, follow, keys, path_only, text;
    uint32_t columns;          /* 0: not given */
    unsigned long long memory; /* bytes; 0: not given */
    char *const *several;      /* files, more than one; NULL: file */
    uint32_t n_several;
    view_unit unit;
    picture_options picture;
} options;

static bool parse_size(const char *text, uint32_t *w, uint32_t *h)
{
    unsigned long long a, b;
    const char *x = strchr(text, 'x');
    char first[16] = "";

    if (!x || (size_t)(x - text) >= sizeof first)
        return false;
    memcpy(first, text, (size_t)(x - text));
    if (!str_to_u64(first, &a) || !str_to_u64(x + 1, &b) || !a || !b ||
        a > PICTURE_MAX_SIDE || b > PICTURE_MAX_SIDE)
        return false;
    *w = (uint32_t)a;
    *h = (uint32_t)b;
    return true;
}

static bool take_mode(void *fields, const char *value, arena *a)
{
    static const char *const modes[] = {"both", "a", "b", "overlay"};
    options *o = fields;

    (void)a;
    o->mode_given = true;
    for (int i = 0; i < COMPARE_N_MODES; i++)
        if (!strcmp(value, modes[i])) {
            o->mode = (compare_mode)i;
            return true;
        }
    return false;
}

static bool take_memory(void *fields, const char *value, arena *a)
{
    (void)a;
    return str_to_bytes(value, &((options *)fields)->memory);
}

static bool take_panel(void *fields, const char *value, arena *a)
{
    options *o = fields;

    (void)a;
    o->panel_given = true;
    for (int i = 0; i < PAINT_N_PANELS; i++)
        if (!strcmp(value, paint_panels[i].name)) {
            o->panel = (paint_panel_kind)i;
            return true;
        }
    return false;
}

static bool take_slices(void *fields, const char *value, arena *a)
{
    options *o = fields;

    (void)a;
    o->slices_given = true;
    for (int i = 0; i < TABLE_N_GROUPINGS; i++)
        if (!strcmp(value, table_grouping_name((table_grouping)i))) {
            o->slices = (table_grouping)i;
            return true;
        }
    return false;
}

static bool take_theme(void *fields, const char *value, arena *a)
{
    options *o = fields;

    (void)a;
    o->picture.colors = !strcmp(value, "dark")    ? &theme_dark
                        : !strcmp(value, "light") ? &theme_light
                                                  : NULL;
    return o->picture.colors;
}

static bool take_range(void *fields, const char *value, arena *a)
{
    (void)a;
    ((options *)fields)->range = value;
    return strstr(value, "..");
}

static bool take_size(void *fields, const char *value, arena *a)
{
    options *o = fields;

    (void)a;
    return parse_size(value, &o->picture.width, &o->picture.height);
}

static bool take_scale(void *fields, const char *value, arena *a)
{
    options *o = fields;

    (void)a;
    return str_to_f64(value, &o->picture.scale) && o->picture.scale >= 0.5 &&
           o->picture.scale <= 4;
}

static bool take_columns(void *fields, const char *value, arena *a)
{
    unsigned long long n;

    (void)a;
    if (!str_to_u64(value, &n) || n < TEXT_LEAST_COLUMNS ||
        n > TEXT_MAX_COLUMNS)
        return false;
    ((options *)fields)->columns = (uint32_t)n;
    return true;
}

#define AT(field) offsetof(options, field)

/* "figures|source|…" */
static const char panel_names[] =
#define PANEL(id, name, compares, width, painter) "|" name
#include "visualizer/panels.def"
    ;

static const cli_option rows[] = {
    {"png", "OUT", OPTION_NAME, AT(picture.png),
     .help = "write a picture instead of opening a window"},
    {"svg", "OUT", OPTION_NAME, AT(picture.svg), .help = "the same as SVG"},
    {"csv", "OUT", OPTION_NAME, AT(csv),
     .help = "every slice of FILE in the range as a table; with --compare: "
             "what differs, by stage, SHAVE and work-group; with --panel "
             "slices: that table"},
    {"html", "OUT", OPTION_NAME, AT(html),
     .help = "a page for a browser, in one file: pan, zoom, select, search; "
             "needs no network"},
    {"text", NULL, OPTION_FLAG, AT(text),
     .help = "print the timeline, a letter for each column of time"},
    {"columns", "N", OPTION_OTHER, .take = take_columns,
     .help = "of that, 40 to 1000; default 120, or the terminal's width"},
    {"compare", "FILE2", OPTION_NAME, AT(compare),
     .help = "a second trace below, on the same scale of time, with the "
             "differences by stage, SHAVE and work-group"},
    {"compare-view", "both|a|b|overlay", OPTION_OTHER, .take = take_mode,
     .help =
         "both (default), one of them, or the second in the rows of the first"},
    {"follow", NULL, OPTION_FLAG, AT(follow),
     .help = "FILE is being written (or will be, within a minute) by vpu run "
             "--trace FILE: show it as it grows"},
    {"panel", panel_names + 1, OPTION_OTHER, .take = take_panel,
     .help = "at the right: numbers (default), the kernel's lines with their "
             "cycles, what took the time, a work-group's bundles, what got "
             "slower"},
    {"slices-by", "name|stage|phase|cause", OPTION_OTHER, .take = take_slices,
     .help = "--panel slices, with slices grouped so"},
    {"critical-path", NULL, OPTION_FLAG, AT(path_only),
     .help = "dim what is not on the critical path"},
    {"range", "TIME..TIME", OPTION_OTHER, .take = take_range,
     .help = "from time A to B: cycles, or with ns, us, ms behind"},
    {"rows", "TEXT,TEXT", OPTION_NAME, AT(rows),
     .help = "show the rows alone whose names hold one of the texts"},
    {"memory", "SIZE", OPTION_OTHER, .take = take_memory,
     .help =
         "that a timeline takes at most, with K, M or G behind: of a longer "
         "trace the first part is shown"},
    {"select", "TEXT", OPTION_NAME, AT(select),
     .help = "select the first slice whose name holds TEXT"},
    {"unit", "auto|cycles|ns|us|ms", OPTION_CHOICE, AT(unit),
     .help = "of the times that are shown"},
    {"size", "WxH", OPTION_OTHER, .take = take_size,
     .help = "of the picture or window, default 1600 wide and a picture as "
             "high as it needs"},
    {"scale", "F", OPTION_OTHER, .take = take_scale,
     .help = "pixels for each of those, 0.5 to 4, default 1"},
    {"theme", "light|dark", OPTION_OTHER, .take = take_theme,
     .help = "colours"},
    {"keys", NULL, OPTION_FLAG, AT(keys),
     .help = "list the keys of the window, and open nothing"}};
static const cli_options own_options = CLI_OPTIONS(rows);
static const cli_table tables[] = {{&own_options, 0}};

/* Whether a file or text is wanted, and no window. */
static bool writes(const options *o)
{
    return o->picture.png || o->picture.svg || o->csv || o->html || o->text;
}

/* A picture of several; what shows one of them has nothing to say about it. */
static int take_several(options *o, const options_line *line, arena *a)
{
    if (line->n_words > MULTIPLES_MAX)
        return cli_usage(&cli_view, "%d files; at most %d make a picture",
                         line->n_words, MULTIPLES_MAX);
    if (o->compare || o->csv || o->html || o->text || o->follow || o->range ||
        o->select || o->rows || !(o->picture.png || o->picture.svg))
        return cli_usage(&cli_view,
                         "several files, '%s' as well, are a picture of small "
                         "ones: with --png or --svg, --size, --theme and "
                         "--memory alone; two of them: --compare",
                         line->words[1]);
    o->several = arena_memdup(a, line->words,
                              (size_t)line->n_words * sizeof *line->words);
    o->n_several = (uint32_t)line->n_words;
    return CLI_OK;
}

static int parse(options *o, arena *a, int argc, char **argv)
{
    options_line line = {.argc = argc, .argv = argv};
    int rc = cli_parse(&cli_view, o, &line, a);

    if (rc)
        return rc;
    if (o->keys)
        return !line.n_words ? CLI_OK
                             : cli_usage(&cli_view, "--keys takes no FILE");
    if (!line.n_words && (o->follow || o->compare || writes(o) || o->range ||
                          o->select || o->rows))
        return cli_usage(&cli_view, "which FILE? Without one a window opens "
                                    "that asks; options of a trace need it");
    if (line.n_words > 1)
        return take_several(o, &line, a);
    o->file = line.n_words ? line.words[0] : NULL;
    if (o->follow &&
        (o->compare || writes(o) || o->range || o->select || o->rows))
        return cli_usage(&cli_view,
                         "--follow opens a window of one trace: not "
                         "with --compare, --png, --svg, --csv, "
                         "--html, --text, --range, --select, --rows");
    if (o->compare && (o->html || o->text))
        return cli_usage(&cli_view, "%s shows one trace: not with --compare",
                         o->html ? "--html" : "--text");
    if (o->columns && !o->text)
        return cli_usage(&cli_view, "--columns needs --text");
    if (o->slices_given && o->panel_given && o->panel != PANEL_SLICES)
        return cli_usage(&cli_view,
                         "--slices-by needs --panel slices, not "
                         "--panel %s",
                         paint_panels[o->panel].name);
    if (o->slices_given)
        o->panel = PANEL_SLICES;
    o->panel_given |= o->slices_given;
    if (o->mode_given && !o->compare)
        return cli_usage(&cli_view, "--compare-view needs --compare FILE2");
    if (paint_panels[o->panel].compares && !o->compare)
        return cli_usage(&cli_view, "--panel %s needs --compare FILE2",
                         paint_panels[o->panel].name);
    return CLI_OK;
}

/* --- traces -------------------------------------------------------------- */

typedef struct {
    tl_timeline tl;
    view v;
    follow live;
    char title[256];
} shown;

/* Two traces of the command line, or one that was opened in the window. */
typedef struct {
    shown *s; /* two */
    compare cmp;
    shown *next;          /* read, not yet shown */
    const options *first; /* of the command line, for the next one that is read;
                             NULL: others */
    uint64_t memory;      /* a timeline's bytes at most, 0 = any */
} traces;

static void free_shown(shown *s)
{
    follow_close(&s->live);
    view_free(&s->v);
    tl_free(&s->tl);
}

static bool refresh(void *user)
{
    shown *s = ((traces *)user)->s;

    return follow_step(&s->live, &s->tl, &s->v);
}

/* The launches' names, or the file's. */
static void make_title(shown *s, const char *path)
{
    const char *name = strrchr(path, '/');
    size_t n;

    snprintf(s->title, sizeof s->title, "%s", name ? name + 1 : path);
    n = strlen(s->title);
    if (n > 8 && !strcmp(s->title + n - 8, ".pftrace"))
        s->title[n - 8] = 0;
}

static vpu_status open_shown(shown *s, const char *path, const options *o,
                             load_watch *watch, vpu_error *err)
{
    vpu_status st = load_file_watched(path, watch, &s->tl, err);

    if (!st)
        st = view_init(&s->v, &s->tl, err);
    if (st)
        return st;
    make_title(s, path);
    s->v.unit = o->unit;
    if (o->unit == VIEW_CYCLES && !s->tl.clk_mhz)
        return err_set(err, VPU_ERR_INVALID,
                       "--unit cycles: %s is not a trace of vpusim; it has no "
                       "clock to count cycles of, only nanoseconds",
                       path);
    if (s->tl.partial[0])
        fprintf(stderr, "vpu: warning: shown in part: %s\n", s->tl.partial);
    return VPU_OK;
}

static vpu_status show_range(shown *s, const char *range, vpu_error *err)
{
    const char *dots = strstr(range, "..");
    char first[64] = "";
    double a, b;

    if ((size_t)(dots - range) < sizeof first)
        memcpy(first, range, (size_t)(dots - range));
    if (!view_parse_time(&s->tl, first, &a) ||
        !view_parse_time(&s->tl, dots + 2, &b) || a >= b)
        return err_set(err, VPU_ERR_INVALID,
                       "--range: '%s' is not TIME..TIME (like 1000..2000 or "
                       "1us..2.5us)",
                       range);
    view_show(&s->v, a, b);
    return VPU_OK;
}

static vpu_status prepare(shown *s, const options *o, vpu_error *err)
{
    view_slice found;

    if (o->path_only && !s->v.facts.n_path)
        return err_set(err, VPU_ERR_INVALID,
                       "--critical-path: %s says nothing about it; traces of "
                       "vpu run do, but for the level summary",
                       s->title);
    s->v.path_only = o->path_only;
    if (o->rows)
        view_filter(&s->v, o->rows);
    if (o->rows && !(s->v.height > 0))
        return err_set(err, VPU_ERR_INVALID, "--rows: no row of %s holds '%s'",
                       s->title, o->rows);
    if (o->range) {
        vpu_status st = show_range(s, o->range, err);

        if (st)
            return st;
    }
    if (!o->select)
        return VPU_OK;
    if (!view_search(&s->v, o->select, 1, &found))
        return err_set(err, VPU_ERR_INVALID, "--select: nothing holds '%s'",
                       o->select);
    view_select(&s->v, &found);
    if (!o->range)
        view_reveal(&s->v, &found);
    return VPU_OK;
}

/* Another one; beside what is shown. */
static vpu_status load_other(void *user, const char *path, load_watch *watch,
                             vpu_error *err)
{
    traces *t = user;
    shown *s = calloc(2, sizeof *s);
    const options *first = t->first;
    vpu_status st;

    if (!s)
        return err_set(err, VPU_ERR_NOMEM, "%s: out of memory", path);
    t->first = NULL;
    watch->most_bytes = t->memory;
    if (first) {
        st = open_shown(s, path, first, watch, err);
        if (!st)
            st = prepare(s, first, err);
    } else {
        st = load_file_watched(path, watch, &s->tl, err);
        if (!st)
            st = view_init(&s->v, &s->tl, err);
        make_title(s, path);
    }
    if (st) {
        free_shown(s);
        free(s);
        return st;
    }
    t->next = s;
    return VPU_OK;
}

static view *take_other(void *user, const char **title)
{
    traces *t = user;
    view_unit unit = t->s[0].v.unit;

    compare_free(&t->cmp);
    t->cmp = (compare){0};
    for (int i = 0; i < 2; i++)
        free_shown(&t->s[i]);
    free(t->s);
    t->s = t->next;
    t->next = NULL;
    t->s[0].v.unit =
        unit == VIEW_CYCLES && !t->s[0].tl.clk_mhz ? VIEW_AUTO : unit;
    *title = t->s[0].title;
    return &t->s[0].v;
}

static vpu_status open_window(const options *o, traces *t, vpu_error *err)
{
    shown *s = t->s;
    window_options w = {
        .views = {&s[0].v, o->compare ? &s[1].v : NULL},
        .titles = {s[0].title, s[1].title},
        .cmp = o->picture.cmp,
        .mode = o->mode,
        .panel = o->panel,
        .slices = {.grouping = o->slices},
        .file = t->first ? NULL : o->file,
        .begin_with = t->first ? o->file : NULL,
        .width = o->picture.width,
        .height = o->picture.height,
        .scale = o->picture.scale,
        .dark = o->picture.colors ? o->picture.colors == &theme_dark : -1,
        .refresh = o->follow ? refresh : NULL,
        .user = t,
        .export_to = s[0].title,
        .load = load_other,
        .take = take_other};

    return window_run(&w, err);
}

static void print_text(const shown *s, const options *o)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    struct winsize size = {0};
    text_options t = {.columns = o->columns ? o->columns : 120,
                      .title = s->title};
    str out = {0};

    if (isatty(1)) {
        t.color =
            (!none || !*none) && term && *term && strcmp(term, "dumb") != 0;
        if (!o->columns && !ioctl(1, TIOCGWINSZ, &size) && size.ws_col)
            t.columns = size.ws_col;
    }
    text_timeline(&s->v, &t, &out);
    if (t.color) /* its codes are for the terminal; all else is ASCII */
        fwrite(str_text(&out), 1, out.n, stdout);
    else
        cli_put(stdout, str_text(&out), out.n);
    str_free(&out);
}

/* All of both traces' stages; what a stick sent before and after is outside. */
static void show_stages(shown s[2])
{
    double end = 0;

    for (int i = 0; i < 2; i++) {
        const facts *f = &s[i].v.facts;

        end = fmax(end, (double)f->stages[f->n_stages - 1].end);
    }
    for (int i = 0; i < 2; i++)
        view_show(&s[i].v, 0, end);
}

/* The window of a trace that is being written. */
static vpu_status show_live(const options *o, traces *t, vpu_error *err)
{
    enum { PATIENCE_S = 60 };
    shown *s = t->s;

    follow_open(&s[0].live, o->file);
    make_title(&s[0], o->file);
    if (!follow_wait(&s[0].live, PATIENCE_S, &s[0].tl, &s[0].v))
        return err_set(err, VPU_ERR_IO,
                       "%s: no trace there, nor one being written, for %d s",
                       o->file, PATIENCE_S);
    s[0].v.unit = o->unit;
    return open_window(o, t, err);
}

/* Nothing yet but the list of traces to open. */
static vpu_status show_list(const options *o, traces *t, vpu_error *err)
{
    shown *s = t->s;
    vpu_status st = tl_init(&s->tl, err);

    if (st)
        return st;
    tl_finish(&s->tl);
    snprintf(s->title, sizeof s->title, "vpusim");
    st = view_init(&s->v, &s->tl, err);
    s->v.unit = o->unit;
    return st ? st : open_window(o, t, err);
}

/* Whether reading it may take so long that the window comes first. */
static bool is_long(const char *path)
{
    enum { LONG = 16 << 20 };
    struct stat sb;

    return !stat(path, &sb) && sb.st_size > LONG;
}

/* An empty view until the trace is read, beside the window. */
static vpu_status show_while_loading(const options *o, traces *t,
                                     vpu_error *err)
{
    t->first = o;
    return show_list(o, t, err);
}

static vpu_status write_slices(const options *o, const view *v, vpu_error *err)
{
    table t = {0};
    vpu_status st =
        table_make(&t, v, &(const table_look){.grouping = o->slices}, err);

    if (!st)
        st = table_csv(&t.shown, v, o->csv, err);
    table_clear(&t);
    return st;
}

static vpu_status show(options *o, traces *t, vpu_error *err)
{
    shown *s = t->s;
    compare *cmp = &t->cmp;
    load_watch watch = {.most_bytes = o->memory};
    vpu_status st;

    if (!o->compare && !writes(o) && is_long(o->file))
        return show_while_loading(o, t, err);
    st = open_shown(&s[0], o->file, o, &watch, err);
    if (!st && o->compare)
        st = open_shown(&s[1], o->compare, o, &watch, err);
    if (!st && o->compare) {
        uint64_t a = s[0].tl.end, b = s[1].tl.end;

        s[0].v.extent = s[1].v.extent = a > b ? a : b;
        show_stages(s);
        st = compare_make(&s[0].v, &s[1].v, cmp, err);
        o->picture.cmp = cmp;
        if (!o->panel_given)
            o->panel = PANEL_CHANGES;
        s[0].v.tall = o->mode == COMPARE_OVERLAY;
        view_layout(&s[0].v);
    }
    if (!st)
        st = prepare(&s[0], o, err);
    if (!st && o->compare)
        view_show(&s[1].v, s[0].v.from, s[0].v.to);
    if (st)
        return st;
    o->picture.mode = o->mode;
    o->picture.panel = o->panel;
    o->picture.slices.grouping = o->slices;
    if (o->csv && o->panel == PANEL_SLICES)
        st = write_slices(o, &s[0].v, err);
    else if (o->csv && o->compare)
        st = compare_csv(cmp, o->csv, err);
    else if (o->csv)
        st = export_csv(&s[0].v, o->csv, err);
    if (!st && (o->picture.png || o->picture.svg))
        st = picture_write(&o->picture, &s[0].v, s[0].title,
                           o->compare ? &s[1].v : NULL, s[1].title, err);
    if (!st && o->html)
        st = html_write(
            &s[0].v,
            &(html_options){.title = s[0].title, .colors = o->picture.colors},
            o->html, err);
    if (!st && o->text)
        print_text(&s[0], o);
    if (st || writes(o))
        return st;
    return open_window(o, t, err);
}

static vpu_status show_several(const options *o, vpu_error *err)
{
    multiples_trace *list = calloc(o->n_several, sizeof *list);
    multiples_page page = {.traces = list,
                           .n = o->n_several,
                           .colors = o->picture.colors ? o->picture.colors
                                                       : &theme_light,
                           .width = o->picture.width ? o->picture.width : 1600};
    vpu_status st = VPU_OK;

    if (!list)
        return err_set(err, VPU_ERR_NOMEM, "no memory for %u pictures",
                       o->n_several);
    for (uint32_t i = 0; i < o->n_several && !st; i++) {
        load_watch watch = {.most_bytes = o->memory};
        shown s = {0};

        st = open_shown(&s, o->several[i], o, &watch, err);
        if (!st)
            multiples_take(&s.v, s.title, &list[i]);
        free_shown(&s);
    }
    if (page.width < 400)
        page.width = 400;
    if (!st && o->picture.png)
        st = multiples_write(&page, o->picture.png, err);
    if (!st && o->picture.svg)
        st = multiples_write(&page, o->picture.svg, err);
    free(list);
    return st;
}

static void list_keys(void)
{
    const control_help *list;
    size_t n = control_help_rows(&list);
    str out = {0};

    for (size_t i = 0; i < n; i++) {
        size_t at = out.n, width = 30;

        str_puts(&out, list[i].keys);
        for (size_t k = at; k < at + strlen(list[i].keys); k++)
            width += (out.data[k] & 0xc0) == 0x80; /* no column of its own */
        str_printf(&out, "%*s%s\n", (int)(width - (out.n - at)), "",
                   list[i].text);
    }
    cli_put(stdout, str_text(&out), out.n);
    str_free(&out);
}

static int view_main(int argc, char **argv)
{
    arena *a = arena_create(0);
    options o = {0};
    vpu_error err = {0};
    traces t = {0};
    int rc = parse(&o, a, argc, argv);
    vpu_status st;

    if (rc || o.keys) {
        arena_destroy(a);
        if (!rc)
            list_keys();
        return rc;
    }
    if (o.several) {
        st = show_several(&o, &err);
        arena_destroy(a);
        return st ? cli_fail(&err) : CLI_OK;
    }
    arena_destroy(a);
    if (!(t.s = calloc(2, sizeof *t.s)))
        return cli_usage(&cli_view, "out of memory");
    t.memory = o.memory;
    st = o.follow ? show_live(&o, &t, &err)
         : o.file ? show(&o, &t, &err)
                  : show_list(&o, &t, &err);
    if (st)
        rc = cli_fail(&err);
    compare_free(&t.cmp);
    for (int i = 0; i < 2; i++) {
        free_shown(&t.s[i]);
        if (t.next)
            free_shown(&t.next[i]);
    }
    free(t.s);
    free(t.next);
    return rc;
}

const cli_command cli_view = {
    .name = "view",
    .summary = "show a run's timeline",
    .head =
        "usage: vpu view [FILE] [OPTIONS]\n"
        "       vpu view FILE FILE... --png OUT | --svg OUT\n\n"
        "Shows a timeline that vpu run --trace wrote: what each SHAVE does and waits\n"
        "for, DMA transfers, DDR traffic. Other Perfetto traces are shown as plain\n"
        "tracks. A file that is cut off is shown as far as it goes. Without FILE the\n"
        "window lists traces to open. Several files are a picture of small ones, on\n"
        "one scale of time.\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail =
        "\n"
        "A window opens, and ? shows its keys there, unless --png, --svg, --csv,\n"
        "--html or --text is given.\n\n"
        "Examples:\n"
        "  vpu run kernels/grn/layer.xml --layer GRNDma --shape in0=1x16x256x512 \\\n"
        "      --param bias=1.0 --input 0=random:1 --trace dma.pftrace\n"
        "  vpu view dma.pftrace --png dma.png\n"
        "  vpu view dma.pftrace --html dma.html\n"
        "  vpu view dma.pftrace --text --range 60us..120us\n"
        "  vpu view ddr.pftrace --compare dma.pftrace --svg both.svg\n",
    .main = view_main};
