/* One pass over the points; each writer takes the rows as they come. */
#include "runtime/sweep/gather.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/oom.h"
#include "base/str.h"
#include "runtime/sweep/rounds.h"
#include "runtime/sweep/writers.h"

/* --- rows ----------------------------------------------------------------- */

static bool has_word(const sweep_manifest *m, const char *word)
{
    for (size_t d = 0; d < m->n_dims; d++)
        for (size_t c = 0; c < m->dims[d].n; c++)
            for (size_t i = 0; i < m->dims[d].choices[c].words.n; i++)
                if (!strncmp(m->dims[d].choices[c].words.items[i], word,
                             strlen(word)))
                    return true;
    return false;
}

void sweep_find_columns(const sweep_manifest *m,
                        bool columns[SWEEP_MAX_FIGURES])
{
    bool expects = has_word(m, "--expect");

    for (size_t i = 0; sweep_figure_name(i); i++)
        columns[i] = expects || strcmp(sweep_figure_name(i), "error");
}

static void note_missing(const sweep_store *s, const sweep_point *p, arena *a,
                         sweep_gathered *out)
{
    out->missing++;
    if (out->n_named == SWEEP_MISSING_NAMED)
        return;
    out->named[out->n_named] = p->number;
    out->why[out->n_named++] = sweep_store_failure(s, p->name, a);
}

typedef struct {
    const sweep_store *store;
    vpu_status (*each)(void *user, const sweep_row *row, vpu_error *err);
    void *user;
    arena *a, *scratch;
    sweep_gathered *out;
    sweep_cursor cursor;
} reading;

static vpu_status read_row(void *user, const sweep_point *p, vpu_error *err)
{
    reading *r = user;
    json_t *figures = sweep_store_result(r->store, p->name);
    sweep_row row = {.point = p};
    vpu_status st;

    r->out->points++;
    if (!figures) {
        note_missing(r->store, p, r->a, r->out);
        return VPU_OK;
    }
    for (size_t i = 0; sweep_figure_name(i); i++) {
        const json_t *x = json_object_get(figures, sweep_figure_name(i));

        row.figures[i] = json_is_number(x) ? x : NULL;
    }
    st = r->each(r->user, &row, err);
    json_decref(figures);
    return st;
}

static vpu_status read_rows(void *user, vpu_error *err)
{
    reading *r = user;

    return sweep_cursor_each(&r->cursor, r->store, SWEEP_POINTS, r->scratch,
                             read_row, r, err);
}

static void end_rows(void *user)
{
    reading *r = user;

    sweep_cursor_close(&r->cursor);
    arena_destroy(r->scratch);
}

vpu_status sweep_each_row(const sweep_store *s,
                          vpu_status (*each)(void *user, const sweep_row *row,
                                             vpu_error *err),
                          void *user, arena *a, sweep_gathered *out,
                          vpu_error *err)
{
    reading r = {.store = s,
                 .each = each,
                 .user = user,
                 .a = a,
                 .scratch = arena_create(0),
                 .out = out};
    vpu_status st;

    *out = (sweep_gathered){0};
    st = oom_finally(read_rows, end_rows, &r, err);
    out->unplanned =
        sweep_rounds_points(&s->manifest, out->points) - out->points;
    out->points += out->unplanned;
    out->missing += out->unplanned;
    return st;
}

/* --- tables --------------------------------------------------------------- */

enum { CSV, JSON, SQLITE, N_WRITERS };

typedef struct {
    const sweep_store *store;
    const sweep_gather_config *config;
    arena *a;
    sweep_gathered *out;
    sweep_writer *writers[N_WRITERS];
} gathering;

static vpu_status write_row(void *user, const sweep_row *row, vpu_error *err)
{
    gathering *g = user;
    vpu_status st = VPU_OK;

    for (int i = 0; i < N_WRITERS && !st; i++)
        if (g->writers[i])
            st = g->writers[i]->row(g->writers[i], row, err);
    return st;
}

static vpu_status open_all(gathering *g, vpu_error *err)
{
    const sweep_gather_config *c = g->config;
    const sweep_manifest *m = &g->store->manifest;
    vpu_status st = VPU_OK;

    if (c->csv)
        st = sweep_writer_csv(&g->writers[CSV], c->csv, m, g->a, err);
    if (!st && c->json)
        st = sweep_writer_json(&g->writers[JSON], c->json, m, g->a, err);
    if (!st && c->sqlite)
        st = sweep_writer_sqlite(&g->writers[SQLITE], c->sqlite, m, g->a, err);
    return st;
}

static vpu_status gather(void *user, vpu_error *err)
{
    gathering *g = user;
    vpu_status st = open_all(g, err);

    if (!st)
        st = sweep_each_row(g->store, write_row, g, g->a, g->out, err);
    for (int i = 0; i < N_WRITERS && !st; i++)
        if (g->writers[i] && (g->config->partial || !g->out->missing)) {
            sweep_writer *w = g->writers[i];

            g->writers[i] = NULL;
            st = w->commit(w, err);
        }
    return st;
}

static void abandon(void *user)
{
    gathering *g = user;

    for (int i = 0; i < N_WRITERS; i++)
        if (g->writers[i])
            g->writers[i]->abandon(g->writers[i]);
}

vpu_status sweep_gather(const sweep_store *s, const sweep_gather_config *config,
                        arena *a, sweep_gathered *out, vpu_error *err)
{
    gathering g = {.store = s, .config = config, .a = a, .out = out};

    *out = (sweep_gathered){0};
    return oom_finally(gather, abandon, &g, err);
}
