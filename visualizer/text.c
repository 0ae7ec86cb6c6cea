/* One character is one column of time. Rows of causes and transfers have the
 * letter of what takes most of the column, from the same exact sums as a
 * picture's columns; other rows have their slices' names. */
#include "visualizer/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "visualizer/paint.h"
#include "visualizer/stats.h"

enum { NAME = 16, FIGURE = 10, LABEL = NAME + FIGURE, TICKS_APART = 18 };

/* Large: at least half of the column. */
static const struct {
    char large, small;
} letters[TL_OTHER] = {[TL_ISSUE] = {'#', '+'},     [TL_L2] = {'L', 'l'},
                       [TL_DDR] = {'D', 'd'},       [TL_STORE] = {'S', 's'},
                       [TL_DMA_SETUP] = {'U', 'u'}, [TL_DMA_WAIT] = {'W', 'w'},
                       [TL_DISPATCH] = {'P', 'p'},  [TL_IDLE] = {'.', '.'},
                       [TL_IN] = {'I', 'i'},        [TL_OUT] = {'O', 'o'}};

/* A line of cells, each with the class it is coloured by. */
typedef struct {
    char text[TEXT_MAX_COLUMNS];
    uint8_t class[TEXT_MAX_COLUMNS]; /* TL_N_CLASSES: none */
} cells;

typedef struct {
    const view *v;
    const text_options *o;
    str *out;
    uint32_t n; /* columns of time */
    bool seen[TL_OTHER];
    cells line;
} writer;

/* --- text ---------------------------------------------------------------- */

/* As ASCII: thin spaces are blanks, the micro sign is u, a tail byte of UTF-8
 * is nothing, all else '?'. */
static void to_ascii(char *to, size_t room, const char *text)
{
    size_t n = 0;

    for (const unsigned char *p = (const unsigned char *)text;
         *p && n + 1 < room; p++) {
        if (p[0] == 0xe2 && p[1] == 0x80 && p[2] == 0x89)
            to[n++] = ' ';
        else if (p[0] == 0xc2 && p[1] == 0xb5)
            to[n++] = 'u';
        else if ((*p & 0xc0) != 0x80)
            to[n++] = *p >= 32 && *p < 127 ? (char)*p : '?';
    }
    to[n] = 0;
}

static void time_text(const writer *w, double ticks, double step, char *to,
                      size_t n)
{
    char text[96];

    view_time_text(w->v, ticks, step, text, sizeof text);
    to_ascii(to, n, text);
}

/* The nearest of the 216 colours that most terminals have. */
static unsigned terminal_color(cv_color c)
{
    unsigned r = (c >> 16 & 255) * 5 + 127, g = (c >> 8 & 255) * 5 + 127,
             b = (c & 255) * 5 + 127;

    return 16 + r / 255 * 36 + g / 255 * 6 + b / 255;
}

static void put_colored(writer *w, uint8_t class, const char *text, size_t n)
{
    bool colored = w->o->color && class < TL_N_CLASSES;

    if (colored)
        str_printf(w->out, "\033[38;5;%um",
                   terminal_color(theme_dark.class_color[class]));
    str_add(w->out, text, n);
    if (colored)
        str_puts(w->out, "\033[0m");
}

/* The line without blanks at its end, behind its label. */
static void put_line(writer *w, const char *name, const char *figure)
{
    const cells *k = &w->line;
    uint32_t n = w->n, i = 0;
    char label[NAME], value[FIGURE];

    to_ascii(label, sizeof label, name);
    to_ascii(value, sizeof value, figure);
    while (n && k->text[n - 1] == ' ')
        n--;
    str_printf(w->out, "%-*s%*s ", NAME - 1, label, FIGURE - 1, value);
    str_puts(w->out, "|");
    while (i < n) {
        uint32_t from = i;

        while (i < n && k->class[i] == k->class[from])
            i++;
        put_colored(w, k->class[from], k->text + from, i - from);
    }
    str_puts(w->out, "\n");
}

static void clear(writer *w)
{
    memset(w->line.text, ' ', sizeof w->line.text);
    memset(w->line.class, TL_N_CLASSES, sizeof w->line.class);
}

/* --- columns ------------------------------------------------------------- */

/* Where column i begins; the last one's end is that of column n. */
static uint64_t edge(const writer *w, uint32_t i)
{
    return (uint64_t)(w->v->from + (w->v->to - w->v->from) * i / w->n);
}

static void letter_cells(writer *w, const tl_lane *l)
{
    const tl_timeline *tl = w->v->tl;
    uint64_t before[TL_N_CLASSES], sums[TL_N_CLASSES];
    tl_cursor at = {0};

    clear(w);
    tl_walk(tl, l, &at, edge(w, 0), before);
    for (uint32_t i = 0; i < w->n; i++) {
        uint64_t span = edge(w, i + 1) - edge(w, i), most = 0;
        int class = -1;

        tl_walk(tl, l, &at, edge(w, i + 1), sums);
        for (int c = 0; c < TL_N_CLASSES; c++)
            if (sums[c] - before[c] > most) {
                most = sums[c] - before[c];
                class = c;
            }
        memcpy(before, sums, sizeof before);
        if (class < 0)
            continue;
        w->line.class[i] = (uint8_t)class;
        if (class >= TL_OTHER) {
            w->line.text[i] = most * 2 >= span ? '=' : '-';
            continue;
        }
        w->seen[class] = true;
        w->line.text[i] =
            most * 2 >= span ? letters[class].large : letters[class].small;
    }
}

/* Tenths of the time with a slice. */
static void tenths_cells(writer *w, const tl_lane *l)
{
    uint64_t before = 0, sums[TL_N_CLASSES];
    tl_cursor at = {0};

    clear(w);
    for (uint32_t i = 0; i <= w->n; i++) {
        uint64_t all = 0, span = i ? edge(w, i) - edge(w, i - 1) : 0;

        tl_walk(w->v->tl, l, &at, edge(w, i), sums);
        for (int c = 0; c < TL_N_CLASSES; c++)
            all += sums[c];
        if (i && all > before) {
            w->line.class[i - 1] = TL_ISSUE;
            w->line.text[i - 1] =
                (char)('0' + fmin(9, floor((double)(all - before) * 10 /
                                           (double)span)));
        }
        before = all;
    }
}

/* "[name----" of a slice over the columns [from, to). */
static void put_name(writer *w, const tl_lane *l, uint64_t slice, uint32_t from,
                     uint32_t to)
{
    char name[300], text[300];
    size_t n;

    memset(w->line.text + from, '-', to - from);
    memset(w->line.class + from, tl_class_of(w->v->tl, tl_name_of(l, slice)),
           to - from);
    w->line.text[from] = '[';
    tl_slice_name(w->v->tl, l, slice, name, sizeof name);
    to_ascii(text, sizeof text, name);
    n = strlen(text);
    if (n && n < to - from)
        memcpy(w->line.text + from + 1, text, n);
}

static void name_cells(writer *w, const tl_lane *l)
{
    const tl_timeline *tl = w->v->tl;
    uint64_t before[TL_N_CLASSES], sums[TL_N_CLASSES], slice = 0, last = 0;
    uint32_t from = 0;
    bool open = false;
    tl_cursor at = {0};

    clear(w);
    tl_walk(tl, l, &at, edge(w, 0), before);
    for (uint32_t i = 0; i <= w->n; i++) {
        uint64_t a = edge(w, i), b = i < w->n ? edge(w, i + 1) : a;
        bool in = i < w->n && tl_slice_at(l, a + (b - a) / 2, &slice);

        if (open && (!in || slice != last)) {
            put_name(w, l, last, from, i);
            open = false;
        }
        if (in && !open) {
            from = i;
            last = slice;
            open = true;
        }
        if (i == w->n)
            break;
        tl_walk(tl, l, &at, b, sums);
        if (!in && memcmp(sums, before, sizeof sums))
            w->line.text[i] = ':';
        memcpy(before, sums, sizeof before);
    }
}

static void counter_cells(writer *w, const tl_row *r)
{
    double capacity =
        strncmp(r->name, "DDR", 3) ? 0 : facts_capacity(&w->v->facts);
    double top = fmax(r->counter->max, capacity), mean, high;

    clear(w);
    for (uint32_t i = 0; i < w->n && top > 0; i++) {
        uint64_t a = edge(w, i), b = edge(w, i + 1);

        tl_mean(r->counter, a, b > a ? b : a + 1, &mean, &high);
        if (!(mean > 0))
            continue;
        w->line.text[i] = (char)('0' + fmin(9, floor(mean / top * 10)));
        if (capacity > 0 && mean > 0.95 * capacity)
            w->line.class[i] = TL_DDR;
    }
}

/* Tenths of the mean of all lanes. */
static void heat_cells(writer *w, const tl_row *r)
{
    clear(w);
    for (uint32_t i = 0; i < w->n; i++) {
        uint64_t a = edge(w, i), b = edge(w, i + 1);
        double mean = paint_heat_mean(w->v, r, a, b > a ? b : a + 1);

        if (mean > 0)
            w->line.text[i] = (char)('0' + fmin(9, floor(mean * 10)));
    }
}

/* --- rows ---------------------------------------------------------------- */

static void put_row(writer *w, const tl_row *r)
{
    char figure[48], name[300];
    bool causes = tl_has_causes(r) && r->n_lanes > 1 && r->lanes[1].n_slices;

    paint_row_figure(w->v, r, figure, sizeof figure);
    if (r->kind == TL_ROW_HEAT) {
        heat_cells(w, r);
        put_line(w, r->name, figure);
        return;
    }
    if (r->counter) {
        counter_cells(w, r);
        put_line(w, r->name, figure);
        return;
    }
    for (uint32_t lane = causes; lane < (causes ? 2 : r->n_lanes); lane++) {
        if (causes || r->kind == TL_ROW_DMA)
            letter_cells(w, &r->lanes[lane]);
        else if (r->kind == TL_ROW_BUNDLES)
            tenths_cells(w, &r->lanes[lane]);
        else
            name_cells(w, &r->lanes[lane]);
        if (r->kind == TL_ROW_LOCAL && strstr(r->name, " local"))
            snprintf(name, sizeof name, "S%u%s", r->index,
                     strstr(r->name, " local"));
        else
            snprintf(name, sizeof name, "%s", r->name);
        put_line(w, lane && !causes ? "" : name, lane && !causes ? "" : figure);
    }
}

static void put_axis(writer *w)
{
    const view *v = w->v;
    double step = view_step(v, w->n, TICKS_APART);
    double t = ceil(v->from / step) * step;
    cells marks;

    clear(w);
    memset(marks.text, ' ', sizeof marks.text);
    for (int i = 0; t + i * step <= v->to && i < TEXT_MAX_COLUMNS; i++) {
        uint32_t at = (uint32_t)view_x(v, w->n, t + i * step);
        char text[96];
        size_t n;

        time_text(w, t + i * step, step, text, sizeof text);
        n = strlen(text);
        if (at >= w->n)
            continue;
        marks.text[at] = '|';
        if (at + n <= w->n)
            memcpy(w->line.text + at, text, n);
    }
    for (int k = 0; k < 2; k++) {
        const char *text = k ? marks.text : w->line.text;
        uint32_t n = w->n;

        while (n && text[n - 1] == ' ')
            n--;
        str_printf(w->out, "%*s%.*s\n", LABEL, "", (int)n, text);
    }
}

/* --- around the rows ----------------------------------------------------- */

static void put_head(writer *w)
{
    const view *v = w->v;
    char from[96], to[96], all[96], title[200];
    double step = (v->to - v->from) / 1000;

    to_ascii(title, sizeof title, w->o->title ? w->o->title : "");
    time_text(w, v->from, step, from, sizeof from);
    time_text(w, v->to, step, to, sizeof to);
    time_text(w, (double)v->tl->end, 0, all, sizeof all);
    str_printf(w->out, "%s%s%s", title, *title ? "  " : "", all);
    if (v->tl->clk_mhz)
        str_printf(w->out, " at %u MHz", v->tl->clk_mhz);
    if (v->from > (double)v->tl->begin || v->to < (double)v->tl->end)
        str_printf(w->out, "; here %s to %s", from, to);
    str_puts(w->out, "\n");
    if (v->tl->partial[0]) {
        char why[512];

        to_ascii(why, sizeof why, v->tl->partial);
        str_printf(w->out, "partial: %s\n", why);
    }
}

static void put_legend(writer *w)
{
    size_t column = 0;
    bool any = false;

    for (int c = 0; c < TL_OTHER; c++) {
        char text[64];

        if (!w->seen[c])
            continue;
        snprintf(text, sizeof text, "%c %s", letters[c].large,
                 tl_class_name((tl_class)c));
        if (any && column + strlen(text) + 2 > w->n + LABEL) {
            str_puts(w->out, "\n");
            column = 0;
        } else if (any) {
            str_puts(w->out, "  ");
            column += 2;
        }
        put_colored(w, (uint8_t)c, text, 1);
        str_puts(w->out, text + 1);
        column += strlen(text);
        any = true;
    }
    if (any)
        str_puts(w->out, "\nmost of a column; small letters and +: less than "
                         "half of it\n");
}

static void put_share(writer *w, const char *key, double part, double all)
{
    if (all > 0)
        str_printf(w->out, "  %-26s %5.1f %%\n", key, 100 * part / all);
}

static void put_figures(writer *w)
{
    const view *v = w->v;
    double mhz = v->tl->clk_mhz ? v->tl->clk_mhz : 1000, span;
    uint64_t end = (uint64_t)v->to;
    stats s;

    end = end > v->tl->end ? v->tl->end : end;
    stats_of(v->tl, (uint64_t)v->from, end, &s);
    span = (double)(s.to - s.from);
    if (!s.n_shaves && !s.n_channels && !s.has_ddr)
        return;
    str_printf(w->out, "\n%u SHAVEs, %u DMA channels:\n", s.n_shaves,
               s.n_channels);
    for (int c = 0; c < TL_N_CAUSES; c++)
        if (s.cause[c])
            put_share(w, tl_class_name((tl_class)c), (double)s.cause[c],
                      span * s.n_shaves);
    if (s.uncovered)
        put_share(w, "not recorded", (double)s.uncovered, span * s.n_shaves);
    if (s.n_channels)
        put_share(w, "DMA channels busy", (double)s.dma_busy,
                  span * s.n_channels);
    if (s.has_overlap)
        put_share(w, "DMA time with computing", (double)s.overlapped,
                  (double)s.transferring);
    if (s.n_shaves)
        put_share(w, "busiest SHAVE above mean", s.imbalance, 1);
    if (s.has_ddr)
        str_printf(w->out, "  %-26s %5.2f GB/s, peak %.2f\n", "DDR traffic",
                   s.ddr_mean * mhz / 1000, s.ddr_peak * mhz / 1000);
}

/* A line each; what to do is in the panel, and in the report. */
static void put_advice(writer *w)
{
    const facts *f = &w->v->facts;

    if (f->n_advice)
        str_puts(w->out, "\nwhat would help:\n");
    for (uint32_t i = 0; i < f->n_advice; i++) {
        const facts_advice *x = &f->advice[i];
        char stage[100], file[100], knob[64], gain[96], all[96];

        to_ascii(stage, sizeof stage, x->stage);
        to_ascii(file, sizeof file, x->file);
        to_ascii(knob, sizeof knob, x->knob);
        time_text(w, (double)(x->before - x->after), 0, gain, sizeof gain);
        time_text(w, (double)x->before, 0, all, sizeof all);
        str_printf(w->out, "  %u. %s", x->rank, stage);
        if (x->line)
            str_printf(w->out, ", %s:%u", file, x->line);
        str_printf(w->out, ": about %s of %s (%s)\n", gain, all, knob);
    }
}

static void put_selection(writer *w, const view_slice *s)
{
    const view *v = w->v;
    const tl_row *r = &v->tl->rows[s->row];
    const tl_lane *l = &r->lanes[s->lane];
    char name[300], text[300], row[100], begin[96], length[96];
    view_slack slack;

    tl_slice_name(v->tl, l, s->slice, name, sizeof name);
    to_ascii(text, sizeof text, name);
    to_ascii(row, sizeof row, r->name);
    time_text(w, (double)tl_begin(l, s->slice), 0, begin, sizeof begin);
    time_text(w, (double)tl_length(l, s->slice), 0, length, sizeof length);
    str_printf(w->out, "\nselected: %s on %s, from %s, takes %s", text, row,
               begin, length);
    if (view_slack_of(v, s, &slack)) {
        time_text(w, (double)slack.slack, 0, length, sizeof length);
        str_printf(w->out, ", slack %s%s", length,
                   slack.on_path ? ", on the critical path" : "");
    }
    str_puts(w->out, "\n");
}

void text_timeline(const view *v, const text_options *o, str *out)
{
    uint32_t columns = o->columns < TEXT_LEAST_COLUMNS ? TEXT_LEAST_COLUMNS
                       : o->columns > TEXT_MAX_COLUMNS ? TEXT_MAX_COLUMNS
                                                       : o->columns;
    writer w = {.v = v, .o = o, .out = out, .n = columns - LABEL};

    put_head(&w);
    put_axis(&w);
    for (int pinned = 1; pinned >= 0; pinned--)
        for (uint32_t i = 0; i < v->n_rows; i++)
            if (v->rows[i].h > 0 && v->rows[i].pinned == (pinned == 1))
                put_row(&w, &v->tl->rows[v->rows[i].row]);
    put_legend(&w);
    put_figures(&w);
    put_advice(&w);
    if (v->has_selection) /* else it names no row */
        put_selection(&w, &v->selection);
}
