#include "runtime/tune/edit.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"

enum { CONTEXT = 3 }; /* lines around a change */

/* --- what changes --------------------------------------------------------- */

typedef struct {
    const config_file *binding;
    const graph *g;
    const tune_report *r;
    arena *a;
    tune_edits *out;
} editing;

static VPU_PRINTF(2, 3) void note(editing *e, const char *fmt, ...)
{
    tune_edits *out = e->out;
    const char *text;
    va_list ap;

    va_start(ap, fmt);
    text = arena_vprintf(e->a, fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < out->n_notes; i++)
        if (!strcmp(out->notes[i], text))
            return;
    *arena_append(e->a, out->notes, out->n_notes, out->notes_cap) = text;
}

static const config_kernel *kernel_of(const editing *e, const graph_launch *l)
{
    for (size_t i = 0; i < e->binding->n_layers; i++) {
        const config_layer *layer = &e->binding->layers[i];

        for (size_t k = 0; k < layer->n_kernels; k++)
            if (layer->kernels[k].line == l->line &&
                !strcmp(layer->path, l->file))
                return &layer->kernels[k];
    }
    return NULL;
}

static bool changes(const tune_row *r)
{
    return memcmp(r->before.local, r->best.local, sizeof r->best.local) != 0;
}

static bool same_kernel(const graph_launch *x, const graph_launch *y)
{
    return x->line == y->line && !strcmp(x->file, y->file);
}

/* One element binds several launches, as of two layers of a model: it can have
 * one size. */
static bool is_agreed(const editing *e, const tune_row *row)
{
    const graph_launch *l = &e->g->launches[row->launch];

    for (uint32_t i = 0; i < e->r->n_rows; i++) {
        const tune_row *other = &e->r->rows[i];

        if (same_kernel(l, &e->g->launches[other->launch]) &&
            memcmp(other->best.local, row->best.local, sizeof row->best.local))
            return false;
    }
    return true;
}

/* --- where it stands ------------------------------------------------------ */

static vpu_status text_of(editing *e, const char *path, tune_edit **out,
                          vpu_error *err)
{
    tune_edits *edits = e->out;
    char *data;
    size_t n;
    vpu_status st;

    for (size_t i = 0; i < edits->n_files; i++)
        if (!strcmp(edits->files[i].path, path)) {
            *out = &edits->files[i];
            return VPU_OK;
        }
    st = file_read(path, CONFIG_LAYER_MAX_BYTES, e->a, &data, &n, err);
    if (st)
        return st;
    *out = arena_append(e->a, edits->files, edits->n_files, edits->cap);
    **out = (tune_edit){path, data, data};
    return VPU_OK;
}

/* The line of that number, from 1; NULL: there are not so many. */
static const char *line_at(const char *text, uint32_t line)
{
    while (text && line-- > 1) {
        text = strchr(text, '\n');
        if (text)
            text++;
    }
    return text;
}

/* The value of the attribute in its file: between quotes, within a line. */
static bool find_value(const char *text, const config_text *t,
                       const char **begin, size_t *length)
{
    const char *line = line_at(text, t->line), *p, *end;
    size_t n = line ? strcspn(line, "\n") : 0;

    if (!line || t->col < 2 || t->col > n)
        return false;
    p = line + t->col - 1;
    if (p[-1] != '"' && p[-1] != '\'')
        return false;
    end = memchr(p, p[-1], n - (t->col - 1));
    *begin = p;
    *length = end ? (size_t)(end - p) : 0;
    return end != NULL;
}

/* Part d of a list with commas; false: it has not so many. */
static bool part_of(const char *list, size_t n, int d, const char **begin,
                    size_t *length)
{
    const char *end = list + n, *p = list;

    for (; d; d--) {
        p = memchr(p, ',', (size_t)(end - p));
        if (!p)
            return false;
        p++;
    }
    *begin = p;
    *length = strcspn(p, ",");
    if (p + *length > end)
        *length = (size_t)(end - p);
    return true;
}

/* Its expressions where they stay, numbers where they do not. */
static const char *new_value(editing *e, const tune_row *row, const char *value,
                             size_t n)
{
    const char *out = "";

    for (int d = 0; d < 3; d++) {
        const char *part;
        size_t length;
        bool there = part_of(value, n, d, &part, &length), later = false;

        for (int k = d; k < 3; k++)
            later |= row->best.local[k] != 1;
        if (!there && !later)
            break;
        if (there && row->before.local[d] == row->best.local[d])
            out = arena_printf(e->a, "%s%s%.*s", out, d ? "," : "", (int)length,
                               part);
        else
            out = arena_printf(e->a, "%s%s%" PRIu32, out, d ? "," : "",
                               row->best.local[d]);
    }
    return out;
}

static const char *size_text(arena *a, const uint32_t s[3])
{
    return arena_printf(a, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, s[0], s[1],
                        s[2]);
}

static vpu_status edit_row(editing *e, const tune_row *row, vpu_error *err)
{
    const graph_launch *l = &e->g->launches[row->launch];
    const config_kernel *k = kernel_of(e, l);
    const char *value, *made, *old;
    tune_edit *file;
    size_t n;
    vpu_status st;

    if (!k || !k->local.text || !is_agreed(e, row)) {
        note(e, "%s: %s is not written: %s", l->name,
             size_text(e->a, row->best.local),
             k && k->local.text ? "its Kernel element binds launches with "
                                  "other tuned sizes, too"
                                : "the binding has no local size of its own");
        return VPU_OK;
    }
    st = text_of(e, l->file, &file, err);
    if (st)
        return st;
    old = file->after;
    if (!find_value(old, &k->local, &value, &n)) {
        note(e,
             "%s:%" PRIu32 ": the local size is not written: its value does "
             "not stand in one line",
             l->file, k->local.line);
        return VPU_OK;
    }
    /* Of several launches that the element binds each gives the same. */
    made = new_value(e, row, value, n);
    file->after = arena_printf(e->a, "%.*s%s%s", (int)(value - old), old, made,
                               value + n);
    note(e,
         "%s: local=\"%s\" is for the global size %s; another shape may "
         "want another one",
         l->name, made, size_text(e->a, l->global));
    return VPU_OK;
}

static void drop_unchanged(tune_edits *e)
{
    size_t n = 0;

    for (size_t i = 0; i < e->n_files; i++)
        if (e->files[i].before != e->files[i].after)
            e->files[n++] = e->files[i];
    e->n_files = n;
}

vpu_status tune_edits_make(const config_file *binding, const graph *g,
                           const tune_report *r, arena *a, tune_edits *out,
                           vpu_error *err)
{
    editing e = {binding, g, r, a, out};
    vpu_status st = VPU_OK;

    *out = (tune_edits){.n_files = 0};
    for (uint32_t i = r->n_rows; i-- > 0 && !st;) /* lines above stay */
        if (changes(&r->rows[i]))
            st = edit_row(&e, &r->rows[i], err);
    for (uint32_t i = 0; i < r->n_rows && !st; i++)
        if (r->rows[i].best.shaves)
            note(&e,
                 "%s: %" PRIu32 " SHAVEs are not written: max-shaves of its "
                 "Kernel element would say so",
                 g->launches[r->rows[i].launch].name, r->rows[i].best.shaves);
    drop_unchanged(out);
    return st;
}

/* --- the difference ------------------------------------------------------- */

/* Both texts have the same number of lines: a value never spans two. */
typedef struct {
    const char *before, *after;
    size_t n_before, n_after;
    bool differs;
} line_pair;

static size_t count_lines(const char *text)
{
    size_t n = 0;

    for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
        n++;
    return n;
}

static line_pair *pair_lines(const tune_edit *f, arena *a, size_t *n)
{
    const char *x = f->before, *y = f->after;
    line_pair *list;

    *n = count_lines(x);
    list = arena_array(a, line_pair, *n + 1);
    for (size_t i = 0; i < *n; i++) {
        line_pair *p = &list[i];

        *p = (line_pair){x, y, strcspn(x, "\n"), strcspn(y, "\n"), false};
        p->differs =
            p->n_before != p->n_after || strncmp(x, y, p->n_before) != 0;
        x += p->n_before + (x[p->n_before] == '\n');
        y += p->n_after + (y[p->n_after] == '\n');
    }
    return list;
}

static void put_line(char sign, const char *text, size_t n, str *out)
{
    str_printf(out, "%c%.*s\n", sign, (int)n, text);
    if (!text[n])
        str_puts(out, "\\ No newline at end of file\n");
}

/* Changed lines that stand together: all old ones, then all new ones. */
static size_t put_changes(const line_pair *list, size_t i, size_t end, str *out)
{
    size_t stop = i;

    while (stop < end && list[stop].differs)
        stop++;
    for (size_t k = i; k < stop; k++)
        put_line('-', list[k].before, list[k].n_before, out);
    for (size_t k = i; k < stop; k++)
        put_line('+', list[k].after, list[k].n_after, out);
    return stop;
}

static void put_hunk(const line_pair *list, size_t begin, size_t end, str *out)
{
    str_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", begin + 1, end - begin,
               begin + 1, end - begin);
    for (size_t i = begin; i < end;) {
        if (list[i].differs) {
            i = put_changes(list, i, end, out);
        } else {
            put_line(' ', list[i].before, list[i].n_before, out);
            i++;
        }
    }
}

/* Changes whose surroundings meet are one hunk. */
static void put_file(const tune_edit *f, str *out)
{
    arena *a = arena_create(0);
    size_t n, last;
    const line_pair *list = pair_lines(f, a, &n);

    str_printf(out, "--- %s\n+++ %s\n", f->path, f->path);
    for (size_t i = 0; i < n; i = last + 1) {
        last = i;
        if (!list[i].differs)
            continue;
        for (size_t k = i; k < n && k <= last + 2 * CONTEXT + 1; k++)
            last = list[k].differs ? k : last;
        put_hunk(list, i > CONTEXT ? i - CONTEXT : 0,
                 last + CONTEXT + 1 < n ? last + CONTEXT + 1 : n, out);
    }
    arena_destroy(a);
}

void tune_edits_diff(const tune_edits *e, str *out)
{
    for (size_t i = 0; i < e->n_files; i++)
        put_file(&e->files[i], out);
}

vpu_status tune_edits_write(const tune_edits *e, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < e->n_files && !st; i++)
        st = file_write(e->files[i].path, e->files[i].after,
                        strlen(e->files[i].after), err);
    return st;
}
