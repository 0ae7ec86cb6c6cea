/* Writes the slices of the visible stretch as CSV. */
#include "visualizer/export.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"

void export_quoted(FILE *f, const char *text)
{
    putc('"', f);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', f);
        putc(*text, f);
    }
    putc('"', f);
}

static void put_value(str *out, const tl_timeline *tl, const tl_arg *a)
{
    if (a->kind == TL_ARG_TEXT)
        str_puts(out, tl_text(tl, a->text));
    else if (a->kind == TL_ARG_REAL)
        str_printf(out, "%.17g", a->real);
    else
        str_printf(out, "%llu", (unsigned long long)a->number);
}

static void write_args(FILE *f, const view *v, const tl_lane *l, uint64_t i)
{
    tl_arg args[TL_SLICE_ARGS];
    size_t n = tl_slice_args(v->tl, l, i, args, TL_SLICE_ARGS);
    str out = {0};

    for (size_t k = 0; k < n; k++) {
        str_printf(&out, "%s%s=", k ? "; " : "", tl_text(v->tl, args[k].name));
        put_value(&out, v->tl, &args[k]);
    }
    export_quoted(f, str_text(&out));
    str_free(&out);
}

static void write_slice(FILE *f, const view *v, const tl_row *r, uint32_t lane,
                        uint64_t i)
{
    const tl_lane *l = &r->lanes[lane];
    char name[300];

    tl_slice_name(v->tl, l, i, name, sizeof name);
    export_quoted(f, r->name);
    fprintf(f, ",%u,", lane);
    export_quoted(f, name);
    fprintf(f, ",%llu,%llu,%.0f,%.0f,", (unsigned long long)tl_begin(l, i),
            (unsigned long long)tl_length(l, i),
            floor(tl_ns(v->tl, tl_begin(l, i))),
            floor(tl_ns(v->tl, tl_length(l, i))));
    write_args(f, v, l, i);
    fputs("\r\n", f);
}

vpu_status export_csv(const view *v, const char *path, vpu_error *err)
{
    uint64_t from = v->has_range ? v->range_from : (uint64_t)v->from;
    uint64_t to = v->has_range ? v->range_to : (uint64_t)ceil(v->to);
    file_out out;
    vpu_status st = file_out_open(&out, path, err);

    if (st)
        return st;
    fprintf(out.stream,
            "row,lane,name,begin_%s,length_%s,begin_ns,length_ns,args\r\n",
            v->tl->clk_mhz ? "cycles" : "ticks",
            v->tl->clk_mhz ? "cycles" : "ticks");
    for (uint32_t k = 0; k < v->n_rows; k++) {
        const tl_row *r = &v->tl->rows[v->rows[k].row];

        for (uint32_t lane = 0;
             r->lanes && !view_is_hidden(v, &v->rows[k]) &&
             view_in_area(v, v->rows[k].row) && lane < r->n_lanes;
             lane++) {
            const tl_lane *l = &r->lanes[lane];
            uint64_t i = tl_count_before(l, from), n = tl_count_before(l, to);

            if (i && tl_end(l, i - 1) > from)
                i--;
            for (; i < n; i++)
                write_slice(out.stream, v, r, lane, i);
        }
    }
    st = file_out_commit(&out, err);
    file_out_abandon(&out);
    return st;
}

static void put_time(str *out, const tl_timeline *tl, const char *key,
                     uint64_t ticks)
{
    str_printf(out, "%s: %llu %s", key, (unsigned long long)ticks,
               tl->clk_mhz ? "cycles" : "ns");
    if (tl->clk_mhz)
        str_printf(out, " (%.0f ns)", floor(tl_ns(tl, ticks)));
    str_puts(out, "\n");
}

static void put_selection(const view *v, str *out)
{
    const view_slice *s = &v->selection;
    const tl_row *r = &v->tl->rows[s->row];
    const tl_lane *l = &r->lanes[s->lane];
    tl_arg args[TL_SLICE_ARGS];
    size_t n = tl_slice_args(v->tl, l, s->slice, args, TL_SLICE_ARGS);
    char name[300];

    tl_slice_name(v->tl, l, s->slice, name, sizeof name);
    str_printf(out, "name: %s\nrow: %s\n", name, r->name);
    put_time(out, v->tl, "begins", tl_begin(l, s->slice));
    put_time(out, v->tl, "takes", tl_length(l, s->slice));
    for (size_t k = 0; k < n; k++) {
        str_printf(out, "%s: ", tl_text(v->tl, args[k].name));
        put_value(out, v->tl, &args[k]);
        str_puts(out, "\n");
    }
}

static void put_point(const view *v, str *out)
{
    const view_point *at = &v->point;
    const tl_row *r = &v->tl->rows[at->row];

    str_printf(out, "name: %s\nrow: %s\nshare: %.6g\n",
               v->tl->rows[r->heat[at->lane]].name, r->name, at->value);
    put_time(out, v->tl, "from", at->from);
    put_time(out, v->tl, "for", at->to - at->from);
}

void export_text(const view *v, str *out)
{
    if (v->has_selection)
        put_selection(v, out);
    else if (v->has_point)
        put_point(v, out);
    if (v->has_range) {
        put_time(out, v->tl, "range from", v->range_from);
        put_time(out, v->tl, "range to", v->range_to);
    }
}
