/* Finds the newest of a file and its temporaries, reads it again when it has
 * grown, and carries rows, selection and visible stretch over to the new
 * timeline. */
#include "visualizer/follow.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "visualizer/load.h"

void follow_open(follow *f, const char *path)
{
    *f = (follow){.path = path};
}

void follow_close(follow *f)
{
    free(f->now);
    *f = (follow){0};
}

static bool newer(const struct stat *a, const struct stat *b)
{
    if (a->st_mtim.tv_sec != b->st_mtim.tv_sec)
        return a->st_mtim.tv_sec > b->st_mtim.tv_sec;
    return a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* "a*b" as a pattern that matches nothing else. In heap. */
static char *temporary_pattern(const char *path)
{
    char *pattern = malloc(2 * strlen(path) + 16), *to = pattern;

    if (!pattern)
        return NULL;
    for (; *path; path++) {
        if (strchr("\\*?[", *path))
            *to++ = '\\';
        *to++ = *path;
    }
    memcpy(to, ".??????", 8);
    return pattern;
}

/* The newest of the file and its temporaries. */
static char *find(const follow *f, struct stat *best)
{
    char *pattern = temporary_pattern(f->path);
    char *name = stat(f->path, best) ? NULL : strdup(f->path);
    glob_t g = {0};

    if (pattern && !glob(pattern, 0, NULL, &g))
        for (size_t i = 0; i < g.gl_pathc; i++) {
            struct stat sb;

            if (stat(g.gl_pathv[i], &sb) || (name && !newer(&sb, best)))
                continue;
            free(name);
            name = strdup(g.gl_pathv[i]);
            *best = sb;
        }
    globfree(&g);
    free(pattern);
    return name;
}

/* Whether there is something not yet read, and then what. */
static bool look(follow *f)
{
    struct stat sb;
    char *name;

    if (clock_seconds() < f->next_s || !(name = find(f, &sb)))
        return false;
    free(f->now);
    f->now = name;
    if (f->inode == sb.st_ino && f->bytes == (uint64_t)sb.st_size)
        return false;
    f->inode = sb.st_ino;
    f->bytes = (uint64_t)sb.st_size;
    return true;
}

static bool read_it(follow *f, tl_timeline *tl)
{
    double start = clock_seconds();
    vpu_error err = {0};
    bool ok = f->bytes && !load_file(f->now, tl, &err);

    if (!ok)
        tl_free(tl);
    else if (strcmp(f->now, f->path)) /* not whole yet is no defect */
        tl->partial[0] = 0;
    f->load_s = clock_seconds() - start;
    f->next_s = clock_seconds() + 3 * f->load_s;
    return ok;
}

bool follow_wait(follow *f, double seconds, tl_timeline *tl, view *v)
{
    double until = clock_seconds() + seconds;
    struct timespec nap = {0, 50 * 1000000};
    vpu_error err;

    do {
        if (look(f) && read_it(f, tl)) {
            if (!view_init(v, tl, &err))
                return true;
            tl_free(tl);
        }
        nanosleep(&nap, NULL);
    } while (clock_seconds() < until);
    return false;
}

/* --- keeping what the user did ------------------------------------------- */

static const view_row *row_of(const view *v, uint64_t uuid)
{
    for (uint32_t i = 0; i < v->n_rows; i++)
        if (v->tl->rows[v->rows[i].row].uuid == uuid)
            return &v->rows[i];
    return NULL;
}

/* Rows in the order they had, new ones where they belong. */
static void keep_rows(const view *old, view *v)
{
    uint32_t place = 0;

    memcpy(v->filter, old->filter, sizeof v->filter);
    for (uint32_t i = 0; i < old->n_rows; i++) {
        const tl_row *r = &old->tl->rows[old->rows[i].row];
        view_row *now = (view_row *)row_of(v, r->uuid);

        if (!now)
            continue;
        now->folded = old->rows[i].folded;
        now->pinned = old->rows[i].pinned;
        now->hidden = old->rows[i].hidden;
        v->area[now->row] = old->area[old->rows[i].row];
    }
    /* The same rows: any order is kept as well. */
    for (uint32_t i = 0; old->n_rows == v->n_rows && i < old->n_rows; i++)
        for (uint32_t k = place; k < v->n_rows; k++)
            if (v->tl->rows[v->rows[k].row].uuid ==
                old->tl->rows[old->rows[i].row].uuid) {
                view_row moved = v->rows[k];

                v->rows[k] = v->rows[place];
                v->rows[place++] = moved;
            }
}

static void keep_selection(const view *old, view *v)
{
    const view_slice *s = &old->selection;
    const view_row *row;
    const tl_row *r;
    const tl_lane *l;
    view_slice now;

    if (!old->has_selection) /* then it names no row */
        return;
    r = &old->tl->rows[s->row];
    row = row_of(v, r->uuid);
    if (!row || s->lane >= v->tl->rows[row->row].n_lanes)
        return;
    l = &v->tl->rows[row->row].lanes[s->lane];
    now = (view_slice){
        row->row, s->lane,
        tl_count_before(l, tl_begin(&r->lanes[s->lane], s->slice))};
    if (now.slice < l->n_slices)
        view_select(v, &now);
}

static void keep_view(const view *old, view *v)
{
    bool at_end = old->to >= (double)old->extent - 1;
    bool whole = at_end && old->from <= (double)old->tl->begin;
    double span = old->to - old->from, end = (double)v->extent;

    keep_rows(old, v);
    keep_selection(old, v);
    v->only = old->only;
    for (uint32_t i = 0; old->line_file && i < v->facts.n_lines; i++)
        if (!strcmp(v->facts.lines[i].file, old->line_file))
            v->line_file = v->facts.lines[i].file;
    v->line = old->line;
    v->source_scroll = old->source_scroll;
    v->source_column = old->source_column;
    v->unit = old->unit;
    v->path_only = old->path_only && v->facts.n_path;
    v->scroll = old->scroll;
    v->has_range = old->has_range;
    v->range_from = old->range_from;
    v->range_to = old->range_to;
    v->has_area = old->has_area;
    memcpy(v->history, old->history, sizeof v->history);
    v->n_history = old->n_history;
    v->at_history = old->at_history;
    view_layout(v);
    if (whole)
        view_move(v, 0, end);
    else if (at_end)
        view_move(v, end - span, end);
    else
        view_move(v, old->from, old->to);
}

bool follow_step(follow *f, tl_timeline *tl, view *v)
{
    tl_timeline fresh, old_tl = *tl;
    view now, old = *v;
    vpu_error err;

    if (!look(f) || !read_it(f, &fresh))
        return false;
    if (view_init(&now, &fresh, &err)) {
        tl_free(&fresh);
        return false;
    }
    old.tl = &old_tl;
    keep_view(&old, &now);
    *tl = fresh;
    *v = now;
    v->tl = tl;
    view_free(&old);
    tl_free(&old_tl);
    return true;
}
