/* The page is visualizer/html/page.html with style, script and data put in. The
 * data is JSON; columns of slices in it are base64 of a stream of varints (7
 * bits a byte, the lowest first, the highest bit: more follow):
 *
 *   slices    begin as what lies between it and the end before, length, name,
 *             and in lanes with numbers: number + 1, 0 = none
 *   args      of each slice: 0, or slack * 2 + 1 and whether it is on the
 *             critical path; how many; name, kind, value of each
 *   sums      of each bucket: a bit for each class that occurs, its ticks
 *   counters  time since the value before, mean, peak (8 bytes each)
 *   path      what lies between a stretch and the end before, length
 *
 * Every '<' of the trace is \u003c in it, so no name can end the element. */
#include "visualizer/html.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/oom.h"
#include "base/str.h"
#include "visualizer/names.h"
#include "visualizer/paint.h"
#include "visualizer/stats.h"

#define CARRY(name, file)            \
    __asm__(".section .rodata\n"     \
            "html_" #name "_text:\n" \
            ".incbin \"" file "\"\n" \
            ".byte 0\n"              \
            ".previous\n");          \
    extern const char html_##name##_text[]

CARRY(page, "visualizer/html/page.html");
CARRY(style, "visualizer/html/page.css");
CARRY(script, "visualizer/html/page.js");

enum { MAX_SLACK_ROWS = 4096 }; /* more cost a search each, for each slice */

/* What a lane or counter has; lane of a counter: 0. */
typedef struct {
    uint32_t at, lane; /* of the view's rows */
    uint64_t n;
} item;

typedef struct {
    const view *v;
    const tl_timeline *tl;
    const html_options *o;
    const char *path;
    view open; /* the same with no row folded; its rows are ours */
    file_out out;
    FILE *f;
    str text; /* scratch */
    uint64_t base;
    item *items;
    uint64_t n_items;
    bool *summed;        /* by row of the view and lane */
    uint32_t *number_of; /* a name in the page + 1, by name of the trace */
    tl_name *names;
    uint32_t n_names;
    bool slack;
    uint32_t triple; /* bytes of base64 that wait */
    int n_triple;
} writer;

/* --- JSON ---------------------------------------------------------------- */

/* As a string; control characters and what is not UTF-8 as \x1b. */
static void put_string(writer *w, const char *text)
{
    w->text.n = 0;
    str_add_shown(&w->text, text, strlen(text));
    putc('"', w->f);
    for (const char *p = str_text(&w->text), *end = p + w->text.n; p < end;
         p++) {
        if (strchr("\"\\<>&\n\t", *p))
            fprintf(w->f, "\\u%04x", (unsigned)*p);
        else if (!strncmp(p, "\xe2\x80\xa8", 3) ||
                 !strncmp(p, "\xe2\x80\xa9", 3)) {
            fprintf(w->f, "\\u20%02x", (unsigned)(unsigned char)p[2] - 0x80);
            p += 2;
        } else
            putc(*p, w->f);
    }
    putc('"', w->f);
}

static void put_key(writer *w, const char *key, const char *text)
{
    fprintf(w->f, "\"%s\":", key);
    put_string(w, text);
}

/* --- base64 -------------------------------------------------------------- */

static void flush_triple(writer *w, int n)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char four[4] = "====";

    for (int i = 0; i <= n; i++)
        four[i] = digits[w->triple >> (18 - 6 * i) & 63];
    fwrite(four, 1, 4, w->f);
    w->triple = 0;
    w->n_triple = 0;
}

static void put_byte(writer *w, uint8_t byte)
{
    w->triple |= (uint32_t)byte << (16 - 8 * w->n_triple);
    if (++w->n_triple == 3)
        flush_triple(w, 3);
}

static void begin_bytes(writer *w, const char *key)
{
    fprintf(w->f, "\"%s\":\"", key);
}

static void end_bytes(writer *w)
{
    if (w->n_triple)
        flush_triple(w, w->n_triple);
    putc('"', w->f);
}

static void put_varint(writer *w, uint64_t u)
{
    for (; u > 127; u >>= 7)
        put_byte(w, (uint8_t)(u | 128));
    put_byte(w, (uint8_t)u);
}

static void put_word(writer *w, uint64_t u)
{
    for (int i = 0; i < 8; i++)
        put_byte(w, (uint8_t)(u >> (8 * i)));
}

static void put_real(writer *w, double value)
{
    uint64_t u;

    memcpy(&u, &value, sizeof u);
    put_word(w, u);
}

/* --- rows ---------------------------------------------------------------- */

static uint32_t name_in_page(writer *w, tl_name name)
{
    if (!w->number_of[name]) {
        w->names[w->n_names++] = name;
        w->number_of[name] = w->n_names;
    }
    return w->number_of[name] - 1;
}

static void put_slices(writer *w, const tl_lane *l)
{
    uint64_t end = w->base;

    begin_bytes(w, "slices");
    for (uint64_t i = 0; i < l->n_slices; i++) {
        uint64_t begin = tl_begin(l, i), length = tl_length(l, i);
        uint32_t number = tl_number(l, i);

        put_varint(w, begin - end);
        put_varint(w, length);
        put_varint(w, name_in_page(w, tl_name_of(l, i)));
        if (l->has_numbers)
            put_varint(w, number == TL_NO_NUMBER ? 0 : (uint64_t)number + 1);
        end = begin + length;
    }
    end_bytes(w);
}

static void put_args(writer *w, uint32_t row, uint32_t lane)
{
    enum { UINT, REAL, TEXT, WIDE }; /* WIDE: 8 bytes */
    const tl_lane *l = &w->tl->rows[row].lanes[lane];
    tl_arg args[TL_SLICE_ARGS];

    begin_bytes(w, "args");
    for (uint64_t i = 0; i < l->n_slices; i++) {
        size_t n = tl_slice_args(w->tl, l, i, args, TL_SLICE_ARGS);
        view_slack s = {0};

        put_varint(
            w, w->slack &&
                       view_slack_of(w->v, &(view_slice){row, lane, i}, &s) &&
                       s.slack < UINT64_C(1) << 51
                   ? (s.slack * 2 + s.on_path) + 1
                   : 0);
        n = n > 64 ? 64 : n;
        put_varint(w, n);
        for (size_t k = 0; k < n; k++) {
            const tl_arg *a = &args[k];
            bool wide = a->number >> 53;

            put_varint(w, name_in_page(w, a->name));
            put_byte(w, a->kind == TL_ARG_TEXT   ? TEXT
                        : a->kind == TL_ARG_REAL ? REAL
                        : wide                   ? WIDE
                                                 : UINT);
            if (a->kind == TL_ARG_TEXT)
                put_varint(w, name_in_page(w, a->text));
            else if (a->kind == TL_ARG_REAL)
                put_real(w, a->real);
            else if (wide)
                put_word(w, a->number);
            else
                put_varint(w, a->number);
        }
    }
    end_bytes(w);
}

static uint64_t buckets_of(uint64_t n)
{
    return n < HTML_BUCKETS ? n : HTML_BUCKETS;
}

/* Where bucket k of n begins. */
static uint64_t bucket_at(const writer *w, uint64_t k, uint64_t n)
{
    uint64_t all = w->tl->end - w->base;

    return w->base + all / n * k + all % n * k / n;
}

static void put_sums(writer *w, const tl_lane *l)
{
    uint64_t before[TL_N_CLASSES], sums[TL_N_CLASSES],
        n = buckets_of(l->n_slices);
    tl_cursor at = {0};

    fprintf(w->f, "\"buckets\":%" PRIu64 ",", n);
    begin_bytes(w, "sums");
    tl_walk(w->tl, l, &at, w->base, before);
    for (uint64_t k = 1; k <= n; k++) {
        uint32_t occurs = 0;

        tl_walk(w->tl, l, &at, bucket_at(w, k, n), sums);
        for (int c = 0; c < TL_N_CLASSES; c++)
            occurs |= (uint32_t)(sums[c] > before[c]) << c;
        put_varint(w, occurs);
        for (int c = 0; c < TL_N_CLASSES; c++)
            if (occurs >> c & 1)
                put_varint(w, sums[c] - before[c]);
        memcpy(before, sums, sizeof before);
    }
    end_bytes(w);
}

static void put_counter(writer *w, const tl_counter *c, bool summed)
{
    uint64_t n = summed ? buckets_of(c->n_values) : c->n_values, last = w->base;

    fprintf(w->f, ",\"counter\":{\"n\":%" PRIu64 ",\"summed\":%s,", c->n_values,
            summed ? "true" : "false");
    begin_bytes(w, "values");
    for (uint64_t i = 0; i < n; i++) {
        uint64_t t = summed ? bucket_at(w, i, n) : c->time[i];
        double mean = summed ? 0 : c->value[i], high = mean;

        if (summed)
            tl_mean(c, t, bucket_at(w, i + 1, n), &mean, &high);
        put_varint(w, t - last);
        put_real(w, mean);
        put_real(w, high);
        last = t;
    }
    end_bytes(w);
    putc('}', w->f);
}

static void put_path(writer *w, uint32_t row)
{
    const facts_stretch *s = NULL;
    uint64_t n = facts_path(&w->v->facts, w->tl, row, &s), end = w->base;

    if (!n)
        return;
    fprintf(w->f, ",\"stretches\":%" PRIu64 ",", n);
    begin_bytes(w, "path");
    for (uint64_t i = 0; i < n; i++) {
        put_varint(w, s[i].begin - end);
        put_varint(w, s[i].end - s[i].begin);
        end = s[i].end;
    }
    end_bytes(w);
}

/* The lanes of a heat map; long ones as sums, whatever the page has room for.
 */
static void put_heat(writer *w, const tl_row *r)
{
    fprintf(w->f, ",\"heatTop\":%.17g,\"heat\":[",
            paint_heat_top(w->tl, NULL, r));
    for (uint32_t i = 0; i < r->n_heat; i++) {
        const tl_row *lane = &w->tl->rows[r->heat[i]];

        fputs(i ? ",{" : "{", w->f);
        put_key(w, "name", lane->name);
        put_counter(w, lane->counter, lane->counter->n_values > HTML_BUCKETS);
        putc('}', w->f);
    }
    putc(']', w->f);
}

static void put_row(writer *w, uint32_t at)
{
    static const char *const kinds[] = {
        [TL_ROW_SHAVE] = "SHAVE",   [TL_ROW_LOCAL] = "local memory",
        [TL_ROW_DMA] = "DMA",       [TL_ROW_COUNTER] = "counter",
        [TL_ROW_STAGES] = "stages", [TL_ROW_PATH] = "critical path",
        [TL_ROW_SLACK] = "slack",   [TL_ROW_BUNDLES] = "bundles",
        [TL_ROW_OTHER] = "track",   [TL_ROW_HEAT] = "heat"};
    const view_row *shown = &w->v->rows[at], *open = &w->open.rows[at];
    const tl_row *r = &w->tl->rows[shown->row];

    putc('{', w->f);
    put_key(w, "name", r->name);
    fprintf(w->f, ",\"kind\":\"%s\",\"y\":%.17g,\"h\":%.17g,\"openY\":%.17g,",
            kinds[r->kind], shown->y, shown->h, open->y);
    fprintf(w->f, "\"openH\":%.17g,\"bytes\":%" PRIu64 ",\"lanes\":[", open->h,
            w->v->facts.row_bytes[shown->row]);
    for (uint32_t lane = 0; r->lanes && lane < r->n_lanes; lane++) {
        const tl_lane *l = &r->lanes[lane];
        double y, h;

        view_lane_place(&w->open, open, lane, &y, &h);
        fprintf(w->f,
                "%s{\"y\":%.17g,\"h\":%.17g,\"n\":%" PRIu64 ",\"numbers\":%s,",
                lane ? "," : "", y, h, l->n_slices,
                l->has_numbers ? "true" : "false");
        if (w->summed[(size_t)at * TL_MAX_LANES + lane]) {
            put_sums(w, l);
        } else {
            put_slices(w, l);
            if (l->has_args) {
                putc(',', w->f);
                put_args(w, shown->row, lane);
            }
        }
        putc('}', w->f);
    }
    putc(']', w->f);
    put_path(w, shown->row);
    if (r->counter)
        put_counter(w, r->counter, w->summed[(size_t)at * TL_MAX_LANES]);
    if (r->n_heat)
        put_heat(w, r);
    fputs("}\n", w->f);
}

/* --- what is summed ------------------------------------------------------ */

static int most_first(const void *a, const void *b)
{
    const item *x = a, *y = b;

    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->lane > y->lane) - (x->lane < y->lane);
}

static void choose_summed(writer *w)
{
    uint64_t most = w->o->max_items ? w->o->max_items : HTML_MAX_ITEMS, all = 0;

    for (uint32_t at = 0; at < w->v->n_rows; at++) {
        const tl_row *r = &w->tl->rows[w->v->rows[at].row];

        if (r->n_heat) /* of bounded size */
            continue;
        for (uint32_t k = 0; k < (r->lanes ? r->n_lanes : 1); k++)
            w->items[w->n_items++] = (item){
                at, k, r->lanes ? r->lanes[k].n_slices : r->counter->n_values};
    }
    for (uint64_t i = 0; i < w->n_items; i++)
        all += w->items[i].n;
    qsort(w->items, w->n_items, sizeof *w->items, most_first);
    for (uint64_t i = 0; i < w->n_items && all > most; i++) {
        w->summed[(size_t)w->items[i].at * TL_MAX_LANES + w->items[i].lane] =
            true;
        all -= w->items[i].n;
    }
}

/* --- the other data ------------------------------------------------------ */

static void put_color(writer *w, const char *key, cv_color c)
{
    fprintf(w->f, ",\"%s\":\"#%06x%02x\"", key, c & 0xffffff, c >> 24);
}

static void put_theme(writer *w, const char *key, const theme *t)
{
    fprintf(w->f, "\"%s\":{\"class\":[", key);
    for (int c = 0; c < TL_N_CLASSES; c++)
        fprintf(w->f, "%s%u", c ? "," : "", t->class_color[c] & 0xffffff);
    fputs("],\"phase\":[", w->f);
    for (int i = 0; i < 3; i++)
        fprintf(w->f, "%s%u", i ? "," : "", t->phase[i] & 0xffffff);
    fputs("],\"heat\":[", w->f);
    for (int i = 0; i < THEME_HEAT; i++)
        fprintf(w->f, "%s%u", i ? "," : "", t->heat[i] & 0xffffff);
    fprintf(w->f, "],\"rowRgb\":[%u,%u]", t->row & 0xffffff,
            t->row_alternate & 0xffffff);
    put_color(w, "page", t->page);
    put_color(w, "panel", t->panel);
    put_color(w, "row", t->row);
    put_color(w, "alternate", t->row_alternate);
    put_color(w, "line", t->line);
    put_color(w, "strong", t->strong_line);
    put_color(w, "text", t->text);
    put_color(w, "dim", t->dim);
    put_color(w, "accent", t->accent);
    put_color(w, "select", t->select);
    put_color(w, "warn", t->warn);
    put_color(w, "shade", t->shade);
    put_color(w, "area", t->area);
    put_color(w, "areaLight", t->area_light);
    put_color(w, "ddr", t->class_color[TL_DDR]);
    fputs("}", w->f);
}

static void put_classes(writer *w)
{
    static const char *const patterns[CV_N_PATTERNS] = {[CV_PLAIN] = "",
                                                        [CV_SLASH] = "slash",
                                                        [CV_BACKSLASH] =
                                                            "backslash",
                                                        [CV_DOTS] = "dots",
                                                        [CV_DASHES] = "dashes"};

    fputs(",\n\"classes\":[", w->f);
    for (int c = 0; c < TL_N_CLASSES; c++) {
        fputs(c ? ",{" : "{", w->f);
        put_key(w, "name", tl_class_name((tl_class)c));
        putc(',', w->f);
        put_key(w, "resource", stats_resource((tl_class)c));
        fprintf(w->f, ",\"pattern\":\"%s\"}",
                patterns[theme_light.class_pattern[c]]);
    }
    fprintf(w->f, "],\n\"other\":%d,\"causes\":%d,\"themes\":{", TL_OTHER,
            TL_N_CAUSES);
    put_theme(w, "light", &theme_light);
    putc(',', w->f);
    put_theme(w, "dark", &theme_dark);
    fprintf(w->f, "},\n\"theme\":\"%s\"",
            !w->o->colors                 ? ""
            : w->o->colors == &theme_dark ? "dark"
                                          : "light");
}

static uint64_t since_base(const writer *w, uint64_t t)
{
    return t > w->base ? t - w->base : 0;
}

static void put_facts(writer *w)
{
    const facts *f = &w->v->facts;

    fputs(",\n\"stages\":[", w->f);
    for (uint32_t i = 0; i < f->n_stages; i++) {
        fputs(i ? ",{" : "{", w->f);
        put_key(w, "name", f->stages[i].name);
        putc(',', w->f);
        put_key(w, "kernel", f->stages[i].kernel);
        fprintf(w->f, ",\"begin\":%" PRIu64 ",\"end\":%" PRIu64 "}",
                since_base(w, f->stages[i].begin),
                since_base(w, f->stages[i].end));
    }
    fputs("],\n\"lines\":[", w->f);
    for (uint32_t i = 0; i < f->n_lines; i++) {
        fputs(i ? ",{" : "{", w->f);
        put_key(w, "file", f->lines[i].file);
        fprintf(w->f, ",\"line\":%u,", f->lines[i].line);
        put_key(w, "text", f->lines[i].text);
        putc('}', w->f);
    }
    fputs("],\n\"costs\":[", w->f);
    for (uint32_t i = 0; i < f->n_costs; i++) {
        const facts_cost *c = &f->costs[i];

        fputs(i ? ",{" : "{", w->f);
        put_key(w, "stage", c->stage);
        putc(',', w->f);
        put_key(w, "file", c->file);
        putc(',', w->f);
        put_key(w, "phase", c->phase);
        fprintf(w->f,
                ",\"line\":%u,\"time\":%" PRIu64 ",\"total\":%" PRIu64
                ",\"cause\":[",
                c->line, since_base(w, c->time), c->total);
        for (int k = 0; k < TL_N_CAUSES; k++)
            fprintf(w->f, "%s%" PRIu64, k ? "," : "", c->cause[k]);
        fputs("]}", w->f);
    }
    fputs("],\n\"advice\":[", w->f);
    for (uint32_t i = 0; i < f->n_advice; i++) {
        const facts_advice *x = &f->advice[i];

        fputs(i ? ",{" : "{", w->f);
        put_key(w, "stage", x->stage);
        putc(',', w->f);
        put_key(w, "file", x->file);
        putc(',', w->f);
        put_key(w, "text", x->text);
        putc(',', w->f);
        put_key(w, "knob", x->knob);
        fprintf(w->f,
                ",\"line\":%u,\"before\":%" PRIu64 ",\"after\":%" PRIu64 "}",
                x->line, x->before, x->after);
    }
    fprintf(w->f, "],\n\"capacity\":%.17g", facts_capacity(f));
}

/* The selected slice as places in the page: its row is the view's. */
static void put_selection(writer *w)
{
    const view *v = w->v;

    for (uint32_t at = 0; v->has_selection && at < v->n_rows; at++)
        if (v->rows[at].row == v->selection.row)
            fprintf(w->f, ",\n\"selection\":[%u,%u,%" PRIu64 "]", at,
                    v->selection.lane, v->selection.slice);
}

static void put_data(writer *w)
{
    static const char *const units[] = {[VIEW_AUTO] = "auto",
                                        [VIEW_CYCLES] = "cycles",
                                        [VIEW_NS] = "ns",
                                        [VIEW_US] = "us",
                                        [VIEW_MS] = "ms"};
    const view *v = w->v;

    fputs("{", w->f);
    put_key(w, "title", w->o->title ? w->o->title : "");
    putc(',', w->f);
    put_key(w, "partial", w->tl->partial);
    fprintf(w->f,
            ",\"mhz\":%u,\"base\":\"%" PRIu64 "\",\"end\":%" PRIu64
            ",\"first\":%" PRIu64,
            w->tl->clk_mhz, w->base, w->tl->end - w->base,
            since_base(w, w->tl->begin));
    fprintf(w->f, ",\"from\":%.17g,\"to\":%.17g,\"unit\":\"%s\"",
            v->from - (double)w->base, v->to - (double)w->base, units[v->unit]);
    fprintf(w->f, ",\"dimmed\":%s,\"hasPath\":%s",
            v->path_only ? "true" : "false",
            v->facts.n_path ? "true" : "false");
    put_selection(w);
    put_classes(w);
    put_facts(w);
    fputs(",\n\"rows\":[", w->f);
    for (uint32_t at = 0; at < v->n_rows; at++) {
        if (at)
            putc(',', w->f);
        put_row(w, at);
    }
    fputs("],\n\"names\":[", w->f);
    for (uint32_t i = 0; i < w->n_names; i++) {
        if (i)
            putc(',', w->f);
        put_string(w, tl_text(w->tl, w->names[i]));
    }
    fputs("],\"classOf\":[", w->f);
    for (uint32_t i = 0; i < w->n_names; i++)
        fprintf(w->f, "%s%d", i ? "," : "",
                (int)tl_class_of(w->tl, w->names[i]));
    fputs("]}", w->f);
}

/* --- the page ------------------------------------------------------------ */

static void put_title(writer *w)
{
    w->text.n = 0;
    str_puts_markup(&w->text, w->o->title ? w->o->title : "");
    fwrite(str_text(&w->text), 1, w->text.n, w->f);
}

static void put_part(writer *w, const char *name, size_t n)
{
    if (n == 5 && !memcmp(name, "TITLE", n))
        put_title(w);
    else if (n == 5 && !memcmp(name, "STYLE", n))
        fputs(html_style_text, w->f);
    else if (n == 4 && !memcmp(name, "DATA", n))
        put_data(w);
    else
        fputs(html_script_text, w->f);
}

static void put_page(writer *w)
{
    const char *at = html_page_text, *mark;

    while ((mark = strstr(at, "@@"))) {
        const char *end = strstr(mark + 2, "@@");

        fwrite(at, 1, (size_t)(mark - at), w->f);
        put_part(w, mark + 2, (size_t)(end - mark - 2));
        at = end + 2;
    }
    fputs(at, w->f);
}

static vpu_status write(void *user, vpu_error *err)
{
    writer *w = user;
    size_t rows = (size_t)w->v->n_rows + 1, names = (size_t)w->tl->names->n + 1;
    uint32_t n_slack = 0;
    vpu_status st;

    w->base = w->tl->end >> 53 && w->tl->has_first ? w->tl->first : 0;
    if ((w->tl->end - w->base) >> 53)
        return err_set(err, VPU_ERR_INVALID,
                       "--html: the trace takes %" PRIu64
                       " ticks; a page can count 2^53",
                       w->tl->end - w->base);
    w->items = oom_malloc(rows * TL_MAX_LANES * sizeof *w->items);
    w->summed = oom_malloc(rows * TL_MAX_LANES * sizeof *w->summed);
    w->number_of = oom_malloc(names * sizeof *w->number_of);
    w->names = oom_malloc(names * sizeof *w->names);
    w->open = *w->v;
    w->open.rows = oom_malloc(rows * sizeof *w->open.rows);
    memset(w->summed, 0, rows * TL_MAX_LANES * sizeof *w->summed);
    memset(w->number_of, 0, names * sizeof *w->number_of);
    memcpy(w->open.rows, w->v->rows, w->v->n_rows * sizeof *w->open.rows);
    for (uint32_t i = 0; i < w->v->n_rows; i++)
        w->open.rows[i].folded = false;
    view_layout(&w->open);
    for (uint32_t i = 0; i < w->tl->n_rows; i++)
        n_slack += w->tl->rows[i].kind == TL_ROW_SLACK;
    w->slack = n_slack && w->tl->n_rows <= MAX_SLACK_ROWS;
    choose_summed(w);
    if ((st = file_out_open(&w->out, w->path, err)))
        return st;
    w->f = w->out.stream;
    put_page(w);
    return file_out_commit(&w->out, err);
}

static void end(void *user)
{
    writer *w = user;

    file_out_abandon(&w->out);
    free(w->items);
    free(w->summed);
    free(w->number_of);
    free(w->names);
    free(w->open.rows);
    str_free(&w->text);
}

vpu_status html_write(const view *v, const html_options *o, const char *path,
                      vpu_error *err)
{
    writer w = {.v = v, .tl = v->tl, .o = o, .path = path};

    return oom_finally(write, end, &w, err);
}
