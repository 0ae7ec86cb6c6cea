/* Finding, copying and hashing the files of a sweep. */
#include "runtime/sweep/files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "base/file.h"
#include "base/str.h"

enum { MAX_FILES = 4096, MAX_DEPTH = 16, PIECE = 1 << 20 };
#define MAX_SOURCE ((size_t)64 << 20)

/* --- the list ------------------------------------------------------------- */

/* Without "." and "x/..": as text, since a frozen tree has no links. */
static char *tidy(arena *a, const char *path)
{
    char *copy = arena_strdup(a, path), *save = NULL;
    str out = {.arena = a};

    for (char *w = strtok_r(copy, "/", &save); w;
         w = strtok_r(NULL, "/", &save)) {
        if (!strcmp(w, "."))
            continue;
        if (!strcmp(w, "..")) {
            while (out.n && out.data[--out.n] != '/')
                ;
            if (out.data)
                out.data[out.n] = 0;
            continue;
        }
        str_printf(&out, "/%s", w);
    }
    return arena_strdup(a, out.n ? str_text(&out) : "/");
}

/* The folder without links, the name as it is. */
static char *absolute(arena *a, const char *path)
{
    char *dir = realpath(file_dirname(a, path), NULL), *out;

    if (!dir)
        return NULL;
    out = tidy(a, arena_printf(a, "%s/%s", dir, file_basename(path)));
    free(dir);
    return out;
}

static size_t number_of(const sweep_files *f, const char *source)
{
    size_t i = 0;

    while (i < f->n && strcmp(f->items[i].source, source))
        i++;
    return i;
}

static void note_number(sweep_files *f, sweep_file_set *set, size_t number)
{
    for (size_t i = 0; set && i < set->n; i++)
        if (set->items[i] == number)
            return;
    if (set)
        *arena_append(f->arena, set->items, set->n, set->cap) = number;
}

static vpu_status add_row(sweep_files *f, const char *source, bool folder,
                          sweep_file_set *set, bool *is_new, vpu_error *err)
{
    size_t i = number_of(f, source);

    *is_new = i == f->n;
    if (*is_new && f->n >= MAX_FILES)
        return err_set(err, VPU_ERR_LIMIT,
                       "%s: a sweep copies at most %d files; a smaller folder "
                       "for -I",
                       source, MAX_FILES);
    if (*is_new)
        *arena_append(f->arena, f->items, f->n, f->cap) = (sweep_file){
            .source = arena_strdup(f->arena, source), .folder = folder};
    note_number(f, set, i);
    return VPU_OK;
}

static vpu_status add_path(sweep_files *f, const char *source, int depth,
                           sweep_file_set *set, vpu_error *err);

static int by_bytes(const struct dirent **x, const struct dirent **y)
{
    return strcmp((*x)->d_name, (*y)->d_name);
}

static int no_links_up(const struct dirent *e)
{
    return strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
}

static vpu_status add_folder(sweep_files *f, const char *dir, int depth,
                             sweep_file_set *set, vpu_error *err)
{
    struct dirent **names;
    int n = scandir(dir, &names, no_links_up, by_bytes);
    vpu_status st = VPU_OK;

    if (n < 0)
        return err_set(err, VPU_ERR_IO, "%s: %s", dir, strerror(errno));
    for (int i = 0; i < n; i++) {
        const char *path = file_join(f->arena, dir, names[i]->d_name);
        struct stat sb;

        if (!st && !stat(path, &sb) &&
            (S_ISREG(sb.st_mode) || S_ISDIR(sb.st_mode)))
            st = add_path(f, path, depth + 1, set, err);
        free(names[i]);
    }
    free(names);
    return st;
}

static vpu_status add_path(sweep_files *f, const char *source, int depth,
                           sweep_file_set *set, vpu_error *err)
{
    struct stat sb;
    bool is_new;
    vpu_status st;

    if (stat(source, &sb))
        return err_set(err, VPU_ERR_IO, "%s: %s", source, strerror(errno));
    if (!S_ISREG(sb.st_mode) && !S_ISDIR(sb.st_mode))
        return err_set(err, VPU_ERR_IO, "%s: not a regular file", source);
    if (depth > MAX_DEPTH)
        return err_set(err, VPU_ERR_LIMIT, "%s: more than %d folders deep",
                       source, MAX_DEPTH);
    st = add_row(f, source, S_ISDIR(sb.st_mode), set, &is_new, err);
    return st || !S_ISDIR(sb.st_mode) ? st
                                      : add_folder(f, source, depth, set, err);
}

vpu_status sweep_files_add(sweep_files *f, const char *path,
                           sweep_file_set *set, vpu_error *err)
{
    struct stat sb;
    const char *source = absolute(f->arena, path);

    if (!source)
        return err_set(err, VPU_ERR_IO, "%s: %s", path, strerror(errno));
    if (!stat(source, &sb) && S_ISDIR(sb.st_mode)) {
        char *real = realpath(source, NULL);

        source = real ? arena_strdup(f->arena, real) : source;
        free(real);
    }
    return add_path(f, source, 0, set, err);
}

/* --- sources -------------------------------------------------------------- */

/* The name behind #include in the line, in the arena; NULL: there is none. */
static const char *included(const char *line, arena *a)
{
    const char *end;
    char close;

    line += strspn(line, " \t");
    if (*line != '#')
        return NULL;
    line += 1 + strspn(line + 1, " \t");
    if (strncmp(line, "include", 7))
        return NULL;
    line += 7 + strspn(line + 7, " \t");
    close = *line == '<' ? '>' : *line;
    if (close != '"' && close != '>')
        return NULL;
    end = strpbrk(line + 1, close == '"' ? "\"\n" : ">\n");
    return end && *end == close
               ? arena_strndup(a, line + 1, (size_t)(end - line - 1))
               : NULL;
}

static vpu_status add_source(sweep_files *f, const char *source, int depth,
                             sweep_file_set *set, vpu_error *err)
{
    bool is_new;
    size_t n;
    char *text, *dir = file_dirname(f->arena, source);
    vpu_status st = add_row(f, source, false, set, &is_new, err);

    if (st)
        return st;
    if (depth > MAX_DEPTH)
        return err_set(err, VPU_ERR_LIMIT, "%s: includes more than %d deep",
                       source, MAX_DEPTH);
    st = file_read(source, MAX_SOURCE, f->arena, &text, &n, err);
    for (const char *line = st ? NULL : text; line && !st;) {
        const char *name = included(line, f->arena), *next = strchr(line, '\n');
        const char *path =
            name ? tidy(f->arena, file_join(f->arena, dir, name)) : NULL;

        if (path && *name != '/' && file_exists(path))
            st = add_source(f, path, depth + 1, set, err);
        line = next ? next + 1 : NULL;
    }
    return st;
}

vpu_status sweep_files_add_source(sweep_files *f, const char *path,
                                  sweep_file_set *set, vpu_error *err)
{
    const char *source = absolute(f->arena, path);

    return source ? add_source(f, source, 0, set, err)
                  : err_set(err, VPU_ERR_IO, "%s: %s", path, strerror(errno));
}

/* --- places --------------------------------------------------------------- */

/* Characters of x's and y's folders that are the same, up to a '/'. */
static size_t common(const char *x, size_t n, const char *y)
{
    size_t last = 0;

    for (size_t i = 0; i < n && x[i] == y[i]; i++)
        if (x[i] == '/')
            last = i + 1;
    return last;
}

void sweep_files_place(sweep_files *f)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++) {
        const char *source = f->items[i].source;

        if (f->items[i].folder) /* itself belongs to the tree */
            source = arena_printf(f->arena, "%s/", source);
        n = i ? common(f->items[0].source, n, source)
              : (size_t)(strrchr(source, '/') - source) + 1;
    }
    for (size_t i = 0; i < f->n; i++)
        f->items[i].frozen =
            strlen(f->items[i].source) > n ? f->items[i].source + n : ".";
}

const sweep_file *sweep_files_find(const sweep_files *f, const char *path)
{
    const char *source = absolute(f->arena, path);
    size_t i = source ? number_of(f, source) : f->n;
    char *real = i == f->n ? realpath(path, NULL) : NULL;

    if (real)
        i = number_of(f, real);
    free(real);
    return i < f->n ? &f->items[i] : NULL;
}

/* --- bytes ---------------------------------------------------------------- */

static vpu_status copy_stream(file_in *in, FILE *to, const char *path,
                              vpu_error *err)
{
    char *piece = malloc(PIECE);
    vpu_status st = VPU_OK;

    if (!piece)
        return err_set(err, VPU_ERR_NOMEM, "no memory to copy a file");
    for (uint64_t at = 0; at < in->bytes && !st; at += PIECE) {
        size_t n = in->bytes - at < PIECE ? (size_t)(in->bytes - at) : PIECE;

        st = file_in_read(in, at, piece, n, err);
        if (!st && fwrite(piece, 1, n, to) != n)
            st = err_set(err, VPU_ERR_IO, "%s: %s", path, strerror(errno));
    }
    free(piece);
    return st;
}

vpu_status sweep_file_copy(const char *from, const char *to, unsigned mode,
                           vpu_error *err)
{
    file_in in;
    file_out out = {0};
    vpu_status st = file_in_open(&in, from, UINT64_MAX, err);

    if (st)
        return st;
    st = file_out_open(&out, to, err);
    if (!st)
        st = copy_stream(&in, out.stream, to, err);
    file_in_close(&in);
    if (st) {
        file_out_abandon(&out);
        return st;
    }
    st = file_out_commit(&out, err);
    if (!st && chmod(to, mode))
        st = err_set(err, VPU_ERR_IO, "%s: %s", to, strerror(errno));
    return st;
}

static vpu_status hash_stream(const file_in *in, char out[SWEEP_HASH],
                              vpu_error *err)
{
    char *piece = malloc(PIECE);
    XXH3_state_t *h = XXH3_createState();
    vpu_status st = VPU_OK;
    XXH128_hash_t x;

    if (!piece || !h)
        st = err_set(err, VPU_ERR_NOMEM, "no memory to hash a file");
    else
        XXH3_128bits_reset(h);
    for (uint64_t at = 0; !st && at < in->bytes; at += PIECE) {
        size_t n = in->bytes - at < PIECE ? (size_t)(in->bytes - at) : PIECE;

        st = file_in_read(in, at, piece, n, err);
        if (!st)
            XXH3_128bits_update(h, piece, n);
    }
    if (!st) {
        x = XXH3_128bits_digest(h);
        snprintf(out, SWEEP_HASH, "%016llx%016llx",
                 (unsigned long long)x.high64, (unsigned long long)x.low64);
    }
    XXH3_freeState(h);
    free(piece);
    return st;
}

vpu_status sweep_file_hash(const char *path, char out[SWEEP_HASH],
                           vpu_error *err)
{
    file_in in;
    vpu_status st = file_in_open(&in, path, UINT64_MAX, err);

    if (st)
        return st;
    st = hash_stream(&in, out, err);
    file_in_close(&in);
    return st;
}

static const char *place_of(const sweep_files *f, size_t i, const char *dir)
{
    return arena_printf(f->arena, "%s/files/%s", dir, f->items[i].frozen);
}

vpu_status sweep_files_copy(sweep_files *f, const char *dir, vpu_error *err)
{
    vpu_status st = file_mkdirs(arena_printf(f->arena, "%s/files", dir), err);

    for (size_t i = 0; i < f->n && !st; i++) {
        const char *to = place_of(f, i, dir);

        st = file_mkdirs(f->items[i].folder ? to : file_dirname(f->arena, to),
                         err);
        if (!st && !f->items[i].folder)
            st = sweep_file_copy(f->items[i].source, to, 0644, err);
        if (!st && !f->items[i].folder)
            st = sweep_file_hash(to, f->items[i].hash, err);
    }
    return st;
}

vpu_status sweep_files_compare(const sweep_files *f, const char *dir,
                               vpu_error *err)
{
    for (size_t i = 0; i < f->n; i++) {
        char now[SWEEP_HASH], then[SWEEP_HASH];
        const char *copy = place_of(f, i, dir);
        vpu_status st;

        if (f->items[i].folder)
            continue;
        st = sweep_file_hash(f->items[i].source, now, err);
        if (st)
            return st;
        if (!file_exists(copy) || sweep_file_hash(copy, then, err) ||
            strcmp(now, then))
            return err_set(err, VPU_ERR_MISMATCH,
                           "%s has changed since %s was planned, and results "
                           "of both would be mixed: a new --dir for what it "
                           "says now, or `vpu sweep run %s` for what was "
                           "planned",
                           f->items[i].source, dir, dir);
    }
    return VPU_OK;
}
