/* A sweep's folder: planned once, then read by whoever computes or gathers. */
#include "runtime/sweep/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/oom.h"
#include "base/str.h"
#include "runtime/json/jsontext.h"
#include "runtime/sweep/store_priv.h"

enum { MAX_RESULT = 1 << 15 };

/* --- opening -------------------------------------------------------------- */

vpu_status sweep_store_open(const char *dir, arena *a, sweep_store *out,
                            vpu_error *err)
{
    char *real = realpath(dir, NULL);

    *out = (sweep_store){0};
    if (!real)
        return err_set(err, VPU_ERR_IO, "%s: %s", dir, strerror(errno));
    out->dir = arena_strdup(a, real);
    free(real);
    if (!file_exists(file_join(a, out->dir, SWEEP_POINTS)))
        return err_set(err, VPU_ERR_IO,
                       "%s: no points.jsonl in it: not the folder of a sweep, "
                       "or its plan was cut short; `vpu sweep plan MANIFEST "
                       "--dir %s` makes it",
                       dir, dir);
    return sweep_manifest_read(file_join(a, out->dir, "sweep.manifest"), a,
                               &out->manifest, err);
}

/* --- planning ------------------------------------------------------------- */

static json_t *json_words(const sweep_words *w)
{
    json_t *list = json_array();

    for (size_t i = 0; i < w->n; i++)
        json_array_append_new(list, jsontext_string(w->items[i]));
    return list;
}

void sweep_point_put(const sweep_point *p, const sweep_manifest *m, str *out)
{
    json_t *parameters = json_object(), *j;
    char *text;

    for (size_t d = 0; d < m->n_dims; d++)
        json_object_set_new(parameters, m->dims[d].name,
                            jsontext_string(p->texts[d]));
    j = json_pack("{s:I, s:s, s:o, s:o}", "point", (json_int_t)p->number,
                  "name", p->name, "parameters", parameters, "words",
                  json_words(&p->words));
    text = j ? json_dumps(j, JSON_COMPACT) : NULL;
    json_decref(j);
    if (!text)
        oom_raise(1);
    str_puts(out, text);
    str_puts(out, "\n");
    free(text);
}

typedef struct {
    const sweep_choices *c;
    sweep_plan *plan;
    sweep_value *values;
    FILE *to;
    arena *a;
} writer;

static void write_point(writer *w, uint64_t i)
{
    arena_mark mark = arena_save(w->a);
    const sweep_manifest *m = &w->c->manifest;
    sweep_point p = {.number = i};
    str line = {.arena = w->a};

    sweep_plan_values(w->plan, i, w->values);
    p.texts = arena_array(w->a, const char *, m->n_dims);
    for (size_t d = 0; d < m->n_dims; d++)
        p.texts[d] = sweep_value_text(&m->dims[d], &w->values[d], w->a);
    p.words = sweep_point_words(m, w->values, w->a);
    sweep_point_name(w->c, w->values, &p.words, p.name);
    sweep_point_put(&p, m, &line);
    fwrite(line.data, 1, line.n, w->to);
    arena_restore(w->a, mark);
}

static vpu_status write_points(const char *path, const sweep_choices *c,
                               uint64_t n, arena *a, vpu_error *err)
{
    file_out out;
    writer w = {.c = c, .a = a};
    vpu_status st = file_out_open(&out, path, err);

    if (st)
        return st;
    w.to = out.stream;
    w.plan = sweep_plan_open(&c->manifest, a);
    w.values = arena_array(a, sweep_value, c->manifest.n_dims);
    for (uint64_t i = 0; i < n; i++)
        write_point(&w, i);
    return file_out_commit(&out, err);
}

/* Not there, empty, or a plan that was cut short. */
static vpu_status check_place(const char *dir, arena *a, vpu_error *err)
{
    struct stat sb;

    if (file_exists(file_join(a, dir, SWEEP_POINTS)))
        return err_set(err, VPU_ERR_INVALID,
                       "%s: a sweep is planned there already; another --dir, "
                       "or `vpu sweep run %s`",
                       dir, dir);
    if (!stat(dir, &sb) && S_ISDIR(sb.st_mode) && rmdir(dir) &&
        !file_exists(file_join(a, dir, "sweep.manifest")))
        return err_set(err, VPU_ERR_INVALID,
                       "%s: a folder with other things in it; expected a new "
                       "or an empty one",
                       dir);
    return VPU_OK;
}

static vpu_status make_folders(const char *dir, arena *a, vpu_error *err)
{
    static const char *const names[] = {"files", "results", "failed", "logs"};
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < sizeof names / sizeof *names && !st; i++)
        st = file_mkdirs(file_join(a, dir, names[i]), err);
    return st;
}

vpu_status sweep_store_plan(const char *dir, const sweep_manifest *m,
                            const file_bytes *text, sweep_frozen *frozen,
                            arena *a, vpu_error *err)
{
    const char *program = file_join(a, dir, "program");
    sweep_choices c;
    uint64_t n;
    vpu_status st = sweep_points_count(m, &n, err);

    if (!st)
        st = check_place(dir, a, err);
    if (!st)
        st = make_folders(dir, a, err);
    if (!st)
        st = file_write(file_join(a, dir, "sweep.manifest"), text->data,
                        text->n, err);
    if (!st)
        st = sweep_files_copy(frozen->files, dir, err);
    if (!st)
        st = sweep_file_copy(frozen->program, program, 0755, err);
    if (!st)
        st = sweep_choices_write(dir, m, frozen, a, &c, err);
    if (!st && m->method == SWEEP_HALVING)
        st = write_points(file_join(a, dir, SWEEP_CANDIDATES), &c,
                          sweep_points_candidates(m, n), a, err);
    /* The last file, which makes it a sweep's folder. */
    return st ? st
              : write_points(file_join(a, dir, SWEEP_POINTS), &c, n, a, err);
}

/* --- points --------------------------------------------------------------- */

static bool is_name(const char *text)
{
    return text && strlen(text) == SWEEP_HASH - 1 &&
           strspn(text, "0123456789abcdef") == SWEEP_HASH - 1;
}

static bool take_words(const json_t *list, arena *a, sweep_words *out)
{
    size_t n = json_array_size(list);

    out->items = arena_array(a, char *, n + 1);
    for (size_t i = 0; i < n; i++) {
        const char *w = json_string_value(json_array_get(list, i));

        if (!w)
            return false;
        out->items[out->n++] = arena_strdup(a, w);
    }
    return n > 0;
}

static bool take_texts(const json_t *o, const sweep_manifest *m, arena *a,
                       sweep_point *out)
{
    out->texts = arena_array(a, const char *, m->n_dims + 1);
    for (size_t d = 0; d < m->n_dims; d++) {
        const char *t = json_string_value(json_object_get(o, m->dims[d].name));

        if (!t)
            return false;
        out->texts[d] = arena_strdup(a, t);
    }
    return true;
}

vpu_status sweep_point_parse(const char *line, size_t n,
                             const sweep_manifest *m, const char *path,
                             uint64_t number, arena *a, sweep_point *out,
                             vpu_error *err)
{
    json_t *j = json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL);
    const json_t *at = json_object_get(j, "point");
    const char *name = json_string_value(json_object_get(j, "name"));
    bool good;

    *out = (sweep_point){.number = number};
    good = json_is_integer(at) &&
           json_integer_value(at) == (json_int_t)number && is_name(name) &&
           take_words(json_object_get(j, "words"), a, &out->words) &&
           take_texts(json_object_get(j, "parameters"), m, a, out);
    if (good)
        memcpy(out->name, name, SWEEP_HASH);
    json_decref(j);
    return good ? VPU_OK
                : err_at(err, VPU_ERR_PARSE, path, (uint32_t)number + 1, 0,
                         "this is not point %" PRIu64 " of the manifest beside "
                         "it; the file is written by `vpu sweep plan`",
                         number);
}

vpu_status sweep_cursor_open(sweep_cursor *c, const sweep_store *s,
                             const char *name, arena *a, vpu_error *err)
{
    *c = (sweep_cursor){.store = s, .path = file_join(a, s->dir, name)};
    return file_stream_open(c->path, &c->f, err);
}

vpu_status sweep_cursor_next(sweep_cursor *c, arena *a, sweep_point *out,
                             bool *more, vpu_error *err)
{
    ssize_t n;

    c->at += c->n;
    n = getline(&c->line, &c->cap, c->f);
    *more = n > 0;
    c->n = n > 0 ? (size_t)n : 0;
    if (n <= 0)
        return ferror(c->f) ? err_set(err, VPU_ERR_IO, "%s: %s", c->path,
                                      strerror(errno))
                            : VPU_OK;
    return sweep_point_parse(c->line, (size_t)n, &c->store->manifest, c->path,
                             c->number++, a, out, err);
}

void sweep_cursor_close(sweep_cursor *c)
{
    if (c->f)
        fclose(c->f);
    free(c->line);
    *c = (sweep_cursor){0};
}

vpu_status sweep_cursor_each(
    sweep_cursor *c, const sweep_store *s, const char *name, arena *a,
    vpu_status (*look)(void *user, const sweep_point *p, vpu_error *err),
    void *user, vpu_error *err)
{
    bool more = true;
    vpu_status st = sweep_cursor_open(c, s, name, a, err);

    while (!st && more) {
        arena_mark mark = arena_save(a);
        sweep_point p;

        st = sweep_cursor_next(c, a, &p, &more, err);
        if (!st && more)
            st = look(user, &p, err);
        arena_restore(a, mark);
    }
    return st;
}

/* --- results -------------------------------------------------------------- */

enum { MAX_PATH = 4096 };

static bool path_of(const sweep_store *s, const char *kind, const char *name,
                    char out[MAX_PATH])
{
    return (size_t)snprintf(out, MAX_PATH, "%s/%s/%.2s/%s.json", s->dir, kind,
                            name, name) < MAX_PATH;
}

/* The member of an object of that name; a new reference. NULL: bytes are none.
 */
static json_t *parse_member(const char *bytes, size_t n, const char *name,
                            const char *member)
{
    json_t *j = json_loadb(bytes, n, JSON_REJECT_DUPLICATES, NULL);
    const char *own = json_string_value(json_object_get(j, "name"));
    json_t *x = own && !strcmp(own, name) ? json_object_get(j, member) : NULL;

    json_incref(x);
    json_decref(j);
    return x;
}

/* How many; 0: no file, or one that is longer than any of ours. */
static size_t read_bytes(const sweep_store *s, const char *kind,
                         const char *name, char out[MAX_RESULT])
{
    char path[MAX_PATH];
    size_t n =
        path_of(s, kind, name, path) ? file_peek(path, out, MAX_RESULT) : 0;

    return n < MAX_RESULT ? n : 0;
}

json_t *sweep_result_parse(const char *bytes, size_t n, const char *name)
{
    json_t *figures = parse_member(bytes, n, name, "figures");

    if (json_is_object(figures))
        return figures;
    json_decref(figures);
    return NULL;
}

json_t *sweep_store_result(const sweep_store *s, const char *name)
{
    char bytes[MAX_RESULT];

    return sweep_result_parse(bytes, read_bytes(s, "results", name, bytes),
                              name);
}

const char *sweep_store_failure(const sweep_store *s, const char *name,
                                arena *a)
{
    char bytes[MAX_RESULT];
    json_t *j =
        parse_member(bytes, read_bytes(s, "failed", name, bytes), name, "why");
    const char *why = arena_strdup(a, json_string_value(j));

    json_decref(j);
    return why;
}

/* Written, on the disk, and only then under its name. */
static vpu_status write_json(const char *path, const json_t *j, vpu_error *err)
{
    char *text =
        j ? json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    file_out out = {0};
    vpu_status st;

    if (!text)
        return err_set(err, VPU_ERR_NOMEM, "no memory for a result");
    st = file_out_open(&out, path, err);
    if (!st) {
        fputs(text, out.stream);
        fputc('\n', out.stream);
        if (fflush(out.stream) || fsync(fileno(out.stream)))
            st = err_set(err, VPU_ERR_IO, "%s: %s", path, strerror(errno));
    }
    free(text);
    if (!st)
        return file_out_commit(&out, err);
    file_out_abandon(&out);
    return st;
}

/* Takes the reference. */
static vpu_status put(const sweep_store *s, const char *kind, const char *name,
                      json_t *j, vpu_error *err)
{
    char path[MAX_PATH], *slash;
    vpu_status st = VPU_OK;

    if (!path_of(s, kind, name, path)) {
        st = err_set(err, VPU_ERR_IO, "%s: the name is too long", s->dir);
    } else {
        slash = strrchr(path, '/');
        *slash = 0;
        if (mkdir(path, 0777) && errno != EEXIST)
            st = err_set(err, VPU_ERR_IO, "%s: %s", path, strerror(errno));
        *slash = '/';
    }
    if (!st)
        st = write_json(path, j, err);
    json_decref(j);
    return st;
}

vpu_status sweep_store_put(const sweep_store *s, const char *name,
                           json_t *figures, vpu_error *err)
{
    char failed[MAX_PATH];
    vpu_status st =
        put(s, "results", name,
            json_pack("{s:s, s:o}", "name", name, "figures", figures), err);

    if (!st && path_of(s, "failed", name, failed) && unlink(failed) &&
        errno != ENOENT)
        st = err_set(err, VPU_ERR_IO, "%s: %s", failed, strerror(errno));
    return st;
}

vpu_status sweep_store_put_failure(const sweep_store *s, const sweep_point *p,
                                   const char *why, vpu_error *err)
{
    return put(s, "failed", p->name,
               json_pack("{s:s, s:I, s:o}", "name", p->name, "point",
                         (json_int_t)p->number, "why", jsontext_string(why)),
               err);
}
