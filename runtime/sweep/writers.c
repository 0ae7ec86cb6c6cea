/* Tables as CSV (RFC 4180, lines end with \n) and as JSON. */
#include "runtime/sweep/writers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/oom.h"
#include "base/str.h"
#include "runtime/json/jsontext.h"

typedef struct {
    sweep_writer table;
    const sweep_manifest *m;
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
        if (sweep_has_figure(w->m, i)) {
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
        if (sweep_has_figure(m, i))
            str_printf(&line, ",%s", sweep_figure_name(i));
    put_line(w, &line);
    *out = &w->table;
    return VPU_OK;
}

/* --- JSON ----------------------------------------------------------------- */

/* A number where the text is one. */
static json_t *json_text(const char *text)
{
    unsigned long long n;
    double x;

    if (str_to_u64(text, &n) && n <= INT64_MAX)
        return json_integer((json_int_t)n);
    return str_to_f64(text, &x) ? json_real(x) : jsontext_string(text);
}

static vpu_status json_row(sweep_writer *t, const sweep_row *row,
                           vpu_error *err)
{
    text_writer *w = (text_writer *)t;
    json_t *parameters = json_object(), *figures = json_object(), *j;
    char *text;

    (void)err;
    for (size_t d = 0; d < w->m->n_dims; d++)
        json_object_set_new(parameters, w->m->dims[d].name,
                            json_text(row->point->texts[d]));
    for (size_t i = 0; sweep_figure_name(i); i++)
        if (row->figures[i])
            json_object_set(figures, sweep_figure_name(i),
                            (json_t *)(uintptr_t)row->figures[i]);
    j = json_pack("{s:I, s:o, s:o}", "point", (json_int_t)row->point->number,
                  "parameters", parameters, "figures", figures);
    text = j ? json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(10)) : NULL;
    json_decref(j);
    if (!text)
        oom_raise(1);
    fprintf(w->out.stream, "%s%s", w->any ? ",\n" : "", text);
    w->any = true;
    free(text);
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
