/* A table as an SQLite database: one table `points`, a column for the number,
 * for each dimension and for each figure. */
#include <sqlite3.h>
#include <string.h>

#include "base/late.h"
#include "base/str.h"
#include "runtime/sweep/writers.h"

typedef struct {
    sweep_writer table;
    const sweep_manifest *m;
    bool columns[SWEEP_MAX_FIGURES];
    file_out out; /* its temporary name is the database until it is whole */
    sqlite3 *db;
    sqlite3_stmt *insert;
} database;

static vpu_status complain(const database *w, vpu_error *err)
{
    return err_set(err, VPU_ERR_IO, "%s: SQLite: %s", w->out.path,
                   w->db ? sqlite3_errmsg(w->db) : "no memory");
}

static void close_all(database *w)
{
    sqlite3_finalize(w->insert);
    sqlite3_close(w->db);
    w->insert = NULL;
    w->db = NULL;
}

static void abandon(sweep_writer *t)
{
    database *w = (database *)t;

    close_all(w);
    file_out_abandon(&w->out);
}

static vpu_status commit(sweep_writer *t, vpu_error *err)
{
    database *w = (database *)t;

    if (sqlite3_exec(w->db, "COMMIT", NULL, NULL, NULL)) {
        vpu_status st = complain(w, err);

        abandon(t);
        return st;
    }
    close_all(w);
    return file_out_commit(&w->out, err);
}

/* --- rows ----------------------------------------------------------------- */

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
    unsigned long long n;
    double x;

    if (str_to_u64(text, &n) && n <= INT64_MAX)
        sqlite3_bind_int64(s, at, (sqlite3_int64)n);
    else if (str_to_f64(text, &x))
        sqlite3_bind_double(s, at, x);
    else
        sqlite3_bind_text(s, at, text, -1, SQLITE_TRANSIENT);
}

static void bind_figure(sqlite3_stmt *s, int at, const json_t *x)
{
    if (json_is_integer(x))
        sqlite3_bind_int64(s, at, json_integer_value(x));
    else if (x)
        sqlite3_bind_double(s, at, json_real_value(x));
    else
        sqlite3_bind_null(s, at);
}

static vpu_status insert_row(sweep_writer *t, const sweep_row *row,
                             vpu_error *err)
{
    database *w = (database *)t;
    int at = 1;

    sqlite3_bind_int64(w->insert, at++, (sqlite3_int64)row->point->number);
    for (size_t d = 0; d < w->m->n_dims; d++)
        bind_text(w->insert, at++, row->point->texts[d]);
    for (size_t i = 0; sweep_figure_name(i); i++)
        if (w->columns[i])
            bind_figure(w->insert, at++, row->figures[i]);
    if (sqlite3_step(w->insert) != SQLITE_DONE || sqlite3_reset(w->insert))
        return complain(w, err);
    return VPU_OK;
}

/* --- the table ------------------------------------------------------------ */

/* Names of manifests have no quotes in them. */
static void add_columns(const database *w, str *create, str *insert)
{
    const sweep_manifest *m = w->m;

    str_puts(create, "CREATE TABLE points (point INTEGER PRIMARY KEY");
    str_puts(insert, "INSERT INTO points VALUES (?");
    for (size_t d = 0; d < m->n_dims; d++) {
        str_printf(create, ", \"%s\"", m->dims[d].name);
        str_puts(insert, ", ?");
    }
    for (size_t i = 0; sweep_figure_name(i); i++)
        if (w->columns[i]) {
            str_printf(create, ", \"%s\"", sweep_figure_name(i));
            str_puts(insert, ", ?");
        }
    str_puts(create, ")");
    str_puts(insert, ")");
}

/* Nobody but us knows the file yet, so there is nothing to guard against. */
static vpu_status begin(database *w, vpu_error *err)
{
    str create = {0}, insert = {0};
    bool bad;

    add_columns(w, &create, &insert);
    bad = sqlite3_open(w->out.temp, &w->db) ||
          sqlite3_exec(w->db,
                       "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
                       "BEGIN",
                       NULL, NULL, NULL) ||
          sqlite3_exec(w->db, str_text(&create), NULL, NULL, NULL) ||
          sqlite3_prepare_v2(w->db, str_text(&insert), -1, &w->insert, NULL);
    str_free(&create);
    str_free(&insert);
    return bad ? complain(w, err) : VPU_OK;
}

vpu_status sweep_writer_sqlite(sweep_writer **out, const char *path,
                               const sweep_manifest *m, arena *a,
                               vpu_error *err)
{
    database *w = arena_new(a, database);
    vpu_status st = late_need("libsqlite3", err);

    if (!st)
        st = file_out_open(&w->out, path, err);
    if (st)
        return st;
    w->m = m;
    sweep_find_columns(m, w->columns);
    w->table = (sweep_writer){insert_row, commit, abandon};
    if (!w->out.temp)
        st = err_set(err, VPU_ERR_IO,
                     "%s: a database needs a regular file of its own", path);
    if (!st)
        st = begin(w, err);
    if (st)
        abandon(&w->table);
    else
        *out = &w->table;
    return st;
}
