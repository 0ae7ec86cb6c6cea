/* vpu view: the timeline of a run, in a window or as a picture. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "runtime/cli/cli.h"
#include "visualizer/export.h"
#include "visualizer/follow.h"
#include "visualizer/load.h"
#include "visualizer/picture.h"
#include "visualizer/window.h"

static const char help[] =
    "usage: vpu view FILE [OPTIONS]\n\n"
    "Shows a timeline that vpu run --trace wrote: what each SHAVE does and "
    "waits\n"
    "for, DMA transfers, DDR traffic. Other Perfetto traces are shown as "
    "plain\n"
    "tracks. A file that is cut off is shown as far as it goes.\n\n"
    "  --png OUT             write a picture instead of opening a window\n"
    "  --svg OUT             the same as SVG\n"
    "  --csv OUT             every slice of FILE in the range as a table\n"
    "                        with --compare: what differs, by stage, SHAVE "
    "and\n"
    "                        work-group\n"
    "  --compare FILE2       a second trace below, on the same scale of time, "
    "with\n"
    "                        the differences by stage, SHAVE and work-group\n"
    "  --compare-view both|a|b|overlay\n"
    "                        both (default), one of them, or the second in "
    "the\n"
    "                        rows of the first\n"
    "  --follow              FILE is being written (or will be, within a "
    "minute) by\n"
    "                        vpu run --trace FILE: show it as it grows\n"
    "  --panel figures|source|changes\n"
    "                        at the right: numbers (default), the kernel's "
    "lines with\n"
    "                        their cycles, what got slower\n"
    "  --range A..B          from time A to B: cycles, or with ns, us, ms "
    "behind\n"
    "  --select TEXT         select the first slice whose name holds TEXT\n"
    "  --unit auto|cycles|ns|us|ms\n"
    "  --size WxH            of the picture or window, default 1600 wide and "
    "a\n"
    "                        picture as high as it needs\n"
    "  --scale F             pixels for each of those, 0.5 to 4, default 1\n"
    "  --theme light|dark\n\n"
    "Without --png, --svg and --csv a window opens: ? shows its keys.\n\n"
    "Examples:\n"
    "  vpu run kernels/grn/layer.xml --layer GRNDma --shape in0=1x16x256x512 "
    "\\\n"
    "      --param bias=1.0 --input 0=random:1 --trace dma.pftrace\n"
    "  vpu view dma.pftrace --png dma.png\n"
    "  vpu view ddr.pftrace --compare dma.pftrace --svg both.svg\n";

typedef struct {
    const char *file, *compare, *range, *select, *csv;
    compare_mode mode;
    paint_panel_kind panel;
    bool panel_given, mode_given, follow;
    view_unit unit;
    picture_options picture;
} options;

enum {
    OPT_PNG = 256,
    OPT_SVG,
    OPT_CSV,
    OPT_COMPARE,
    OPT_MODE,
    OPT_FOLLOW,
    OPT_PANEL,
    OPT_RANGE,
    OPT_SELECT,
    OPT_UNIT,
    OPT_SIZE,
    OPT_SCALE,
    OPT_THEME
};

static const struct option long_options[] = {
    {"png", required_argument, NULL, OPT_PNG},
    {"svg", required_argument, NULL, OPT_SVG},
    {"csv", required_argument, NULL, OPT_CSV},
    {"compare", required_argument, NULL, OPT_COMPARE},
    {"compare-view", required_argument, NULL, OPT_MODE},
    {"follow", no_argument, NULL, OPT_FOLLOW},
    {"panel", required_argument, NULL, OPT_PANEL},
    {"range", required_argument, NULL, OPT_RANGE},
    {"select", required_argument, NULL, OPT_SELECT},
    {"unit", required_argument, NULL, OPT_UNIT},
    {"size", required_argument, NULL, OPT_SIZE},
    {"scale", required_argument, NULL, OPT_SCALE},
    {"theme", required_argument, NULL, OPT_THEME},
    {NULL, 0, NULL, 0}};

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

static bool parse_unit(const char *text, view_unit *out)
{
    static const char *const units[] = {"auto", "cycles", "ns", "us", "ms"};

    for (int i = 0; i < 5; i++)
        if (!strcmp(text, units[i])) {
            *out = (view_unit)i;
            return true;
        }
    return false;
}

static bool parse_mode(const char *text, compare_mode *out)
{
    static const char *const modes[] = {"both", "a", "b", "overlay"};

    for (int i = 0; i < COMPARE_N_MODES; i++)
        if (!strcmp(text, modes[i])) {
            *out = (compare_mode)i;
            return true;
        }
    return false;
}

static bool parse_panel(const char *text, paint_panel_kind *out)
{
    static const char *const panels[] = {"figures", "source", "changes"};

    for (int i = 0; i < 3; i++)
        if (!strcmp(text, panels[i])) {
            *out = (paint_panel_kind)i;
            return true;
        }
    return false;
}

static bool parse_theme(const char *text, const theme **out)
{
    *out = !strcmp(text, "dark")    ? &theme_dark
           : !strcmp(text, "light") ? &theme_light
                                    : NULL;
    return *out;
}

static bool take(options *o, int c)
{
    switch (c) {
    case OPT_PNG:
        o->picture.png = optarg;
        return *optarg;
    case OPT_SVG:
        o->picture.svg = optarg;
        return *optarg;
    case OPT_CSV:
        o->csv = optarg;
        return *optarg;
    case OPT_COMPARE:
        o->compare = optarg;
        return *optarg;
    case OPT_MODE:
        o->mode_given = true;
        return parse_mode(optarg, &o->mode);
    case OPT_FOLLOW:
        return o->follow = true;
    case OPT_PANEL:
        o->panel_given = true;
        return parse_panel(optarg, &o->panel);
    case OPT_RANGE:
        o->range = optarg;
        return strstr(optarg, "..");
    case OPT_SELECT:
        o->select = optarg;
        return *optarg;
    case OPT_UNIT:
        return parse_unit(optarg, &o->unit);
    case OPT_SIZE:
        return parse_size(optarg, &o->picture.width, &o->picture.height);
    case OPT_SCALE:
        return str_to_f64(optarg, &o->picture.scale) &&
               o->picture.scale >= 0.5 && o->picture.scale <= 4;
    case OPT_THEME:
        return parse_theme(optarg, &o->picture.colors);
    }
    return false;
}

static int parse(options *o, int argc, char **argv)
{
    int c, which = 0;

    while ((c = getopt_long(argc, argv, "", long_options, &which)) != -1) {
        if (c == '?')
            return cli_usage(&cli_view, "bad options");
        if (!take(o, c))
            return cli_usage(&cli_view, "--%s: not '%s'",
                             long_options[which].name, optarg);
    }
    if (optind + 1 != argc)
        return cli_usage(&cli_view,
                         optind < argc ? "one file, not '%s' as well"
                                       : "which FILE?%s",
                         optind < argc ? argv[optind + 1] : "");
    o->file = argv[optind];
    if (o->follow && (o->compare || o->csv || o->picture.png ||
                      o->picture.svg || o->range || o->select))
        return cli_usage(&cli_view, "--follow opens a window of one trace: not "
                                    "with --compare, --png, --svg, --csv, "
                                    "--range, --select");
    if (o->mode_given && !o->compare)
        return cli_usage(&cli_view, "--compare-view needs --compare FILE2");
    if (o->panel == PANEL_CHANGES && !o->compare)
        return cli_usage(&cli_view, "--panel changes needs --compare FILE2");
    return CLI_OK;
}

/* --- traces -------------------------------------------------------------- */

typedef struct {
    timeline tl;
    view v;
    follow live;
    char title[256];
} shown;

static bool refresh(void *user)
{
    shown *s = user;

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
                             vpu_error *err)
{
    vpu_status st = load_file(path, &s->tl, err);

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

static vpu_status open_window(const options *o, shown s[2], vpu_error *err)
{
    window_options w = {
        .views = {&s[0].v, o->compare ? &s[1].v : NULL},
        .titles = {s[0].title, s[1].title},
        .cmp = o->picture.cmp,
        .mode = o->mode,
        .panel = o->panel,
        .file = o->file,
        .width = o->picture.width,
        .height = o->picture.height,
        .scale = o->picture.scale,
        .dark = o->picture.colors ? o->picture.colors == &theme_dark : -1,
        .refresh = o->follow ? refresh : NULL,
        .user = &s[0],
        .export_to = s[0].title};

    return window_run(&w, err);
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
static vpu_status show_live(const options *o, shown s[2], vpu_error *err)
{
    enum { PATIENCE_S = 60 };

    follow_open(&s[0].live, o->file);
    make_title(&s[0], o->file);
    if (!follow_wait(&s[0].live, PATIENCE_S, &s[0].tl, &s[0].v))
        return err_set(err, VPU_ERR_IO,
                       "%s: no trace there, nor one being written, for %d s",
                       o->file, PATIENCE_S);
    s[0].v.unit = o->unit;
    return open_window(o, s, err);
}

static vpu_status show(options *o, shown s[2], compare *cmp, vpu_error *err)
{
    vpu_status st = open_shown(&s[0], o->file, o, err);

    if (!st && o->compare)
        st = open_shown(&s[1], o->compare, o, err);
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
    if (o->csv && o->compare)
        st = compare_csv(cmp, o->csv, err);
    else if (o->csv)
        st = export_csv(&s[0].v, o->csv, err);
    if (!st && (o->picture.png || o->picture.svg))
        st = picture_write(&o->picture, &s[0].v, s[0].title,
                           o->compare ? &s[1].v : NULL, s[1].title, err);
    if (st || o->csv || o->picture.png || o->picture.svg)
        return st;
    return open_window(o, s, err);
}

static int view_main(int argc, char **argv)
{
    options o = {0};
    vpu_error err = {0};
    compare cmp = {0};
    shown *s;
    int rc = parse(&o, argc, argv);
    vpu_status st;

    if (rc)
        return rc;
    if (!(s = calloc(2, sizeof *s)))
        return cli_usage(&cli_view, "out of memory");
    if ((st = o.follow ? show_live(&o, s, &err) : show(&o, s, &cmp, &err)))
        rc = cli_fail(&err);
    compare_free(&cmp);
    for (int i = 0; i < 2; i++) {
        follow_close(&s[i].live);
        view_free(&s[i].v);
        tl_free(&s[i].tl);
    }
    free(s);
    return rc;
}

const cli_command cli_view = {"view", "show a run's timeline", help, view_main};
