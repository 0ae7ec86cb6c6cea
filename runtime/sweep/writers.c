/* Tables as CSV (RFC 4180, lines end with \n) and as JSON. */
#include "runtime/sweep/writers.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/oom.h"
#include "base/str.h"
#include "runtime/json/jsontext.h"

typedef struct {
    sweep_writer table;
    const sweep_manifest *m;
    bool columns[SWEEP_MAX_FIGURES];
    file_out out;
    bool any; /* row is written */
} text_writer;

void sweep_put_figure(str *out, const json_t *x)
{
    if (json_is_integer(x))
        str_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(x));
    else if (x)
        str_printf(out, "%.10g", json_real_value(x));
}

static vpu_status text_commit(sweep_writer *w, vpu_error *err)
{
    return file_out_commit(&((text_writer *)w)->out, err);
}

static void text_abandon(sweep_writer *w)
{
    file_out_abandon(&((text_writer *)w)->out);
}

static vpu_status text_open(text_writer **out, const char *path,
                            const sweep_manifest *m, arena *a, vpu_error *err)
{
    text_writer *w = arena_new(a, text_writer);
    vpu_status st;

    w->m = m;
    sweep_find_columns(m, w->columns);
    w->table.commit = text_commit;
    w->table.abandon = text_abandon;
    st = file_out_open(&w->out, path, err);
    *out = st ? NULL : w;
    return st;
}

/* --- CSV ------------------------------------------------------------------ */

static void put_cell(str *out, const char *text)
{
    bool quoted = text[strcspn(text, ",\"\r\n")];

    if (!quoted) {
        str_puts(out, text);
        return;
    }
    str_puts(out, "\"");
    for (; *text; text++)
        str_printf(out, *text == '"' ? "\"\"" : "%c", *text);
    str_puts(out, "\"");
}

static void put_line(text_writer *w, str *line)
{
    str_puts(line, "\n");
    fwrite(line->data, 1, line->n, w->out.stream);
    str_free(line);
}

static vpu_status csv_row(sweep_writer *t, const sweep_row *row, vpu_error *err)
{
    text_writer *w = (text_writer *)t;
    str line = {0};

    (void)err; /* commit looks at the stream */
    str_printf(&line, "%" PRIu64, row->point->number);
    for (size_t d = 0; d < w->m->n_dims; d++) {
        str_puts(&line, ",");
        put_cell(&line, row->point->texts[d]);
    }
    for (size_t i = 0; sweep_figure_name(i); i++)
        if (w->columns[i]) {
            str_puts(&line, ",");
            sweep_put_figure(&line, row->figures[i]);
        }
    put_line(w, &line);
    return VPU_OK;
}

vpu_status sweep_writer_csv(sweep_writer **out, const char *path,
                            const sweep_manifest *m, arena *a, vpu_error *err)
{
    text_writer *w;
    str line = {0};
    vpu_status st = text_open(&w, path, m, a, err);

    if (st)
        return st;
    w->table.row = csv_row;
    str_puts(&line, "point");
    for (size_t d = 0; d < m->n_dims; d++) {
        str_puts(&line, ",");
        put_cell(&line, m->dims[d].name);
    }
    for (size_t i = 0; sweep_figure_name(i); i++)
        if (w->columns[i])
            str_printf(&line, ",%s", sweep_figure_name(i));
    put_line(w, &line);
    *out = &w->table;
    return VPU_OK;
}

/* --- JSON ----------------------------------------------------------------- */

static void put_string(str *out, const char *text)
{
    json_t *j = jsontext_string(text);
    char *quoted = j ? json_dumps(j, JSON_ENCODE_ANY) : NULL;

    json_decref(j);
    if (!quoted)
        oom_raise(1);
    str_puts(out, quoted);
    free(quoted);
}

/* A number where the text is one as JSON writes it. */
static void put_value(str *out, const char *text)
{
    size_t whole = strspn(text, "0123456789");
    double x;

    if (whole && !text[whole] && (*text != '0' || whole == 1) && whole < 16)
        str_puts(out, text);
    else if (str_to_f64(text, &x) && isfinite(x))
        str_printf(out, "%.17g", x);
    else
        put_string(out, text);
}

static vpu_status json_row(sweep_writer *t, const sweep_row *row,
                           vpu_error *err)
{
    text_writer *w = (text_writer *)t;
    str line = {0};
    bool any = false;

    (void)err;
    str_printf(&line, "%s{\"point\":%" PRIu64 ",\"parameters\":{",
               w->any ? ",\n" : "", row->point->number);
    for (size_t d = 0; d < w->m->n_dims; d++) {
        str_printf(&line, "%s\"%s\":", d ? "," : "", w->m->dims[d].name);
        put_value(&line, row->point->texts[d]);
    }
    str_puts(&line, "},\"figures\":{");
    for (size_t i = 0; sweep_figure_name(i); i++)
        if (row->figures[i]) {
            str_printf(&line, "%s\"%s\":", any ? "," : "",
                       sweep_figure_name(i));
            sweep_put_figure(&line, row->figures[i]);
            any = true;
        }
    str_puts(&line, "}}");
    fwrite(line.data, 1, line.n, w->out.stream);
    str_free(&line);
    w->any = true;
    return VPU_OK;
}

static vpu_status json_commit(sweep_writer *t, vpu_error *err)
{
    text_writer *w = (text_writer *)t;

    fputs(w->any ? "\n]\n" : "]\n", w->out.stream);
    return text_commit(t, err);
}

vpu_status sweep_writer_json(sweep_writer **out, const char *path,
                             const sweep_manifest *m, arena *a, vpu_error *err)
{
    text_writer *w;
    vpu_status st = text_open(&w, path, m, a, err);

    if (st)
        return st;
    w->table.row = json_row;
    w->table.commit = json_commit;
    fputs("[\n", w->out.stream);
    *out = &w->table;
    return VPU_OK;
}
