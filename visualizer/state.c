/* Text files of lines with a key and its numbers, in the user's state folder
 * (XDG_STATE_HOME) and beside a trace. */
#include "visualizer/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"

enum { MAX_BYTES = 65536 };

/* Calls for each "key value" line. */
static void each_line(const char *path,
                      void (*see)(void *user, const char *key, double a,
                                  double b),
                      void *user)
{
    arena *a = arena_create(0);
    char *data, *save = NULL;
    size_t n;

    if (!file_read(path, MAX_BYTES, a, &data, &n, NULL))
        for (char *s = strtok_r(data, "\n", &save); s;
             s = strtok_r(NULL, "\n", &save)) {
            char key[32];
            double x = 0, y = 0;

            if (sscanf(s, "%31s %lf %lf", key, &x, &y) >= 2 && isfinite(x) &&
                isfinite(y))
                see(user, key, x, y);
        }
    arena_destroy(a);
}

static void see_state(void *user, const char *key, double a, double b)
{
    viewer_state *s = user;

    if (!strcmp(key, "size") && a >= 200 && b >= 100 && a <= 16384 &&
        b <= 16384) {
        s->width = (uint32_t)a;
        s->height = (uint32_t)b;
    } else if (!strcmp(key, "scale") && a >= 0.5 && a <= 4) {
        s->scale = a;
    } else if (!strcmp(key, "dark")) {
        s->dark = a != 0;
    }
}

void viewer_state_load(viewer_state *s)
{
    arena *a = arena_create(0);
    const char *path = file_state_path(a, "window");

    if (path)
        each_line(path, see_state, s);
    arena_destroy(a);
}

void viewer_state_save(const viewer_state *s)
{
    arena *a = arena_create(0);
    const char *path = file_state_path(a, "window");
    str text = {.arena = a};

    if (s->width)
        str_printf(&text, "size %u %u\n", s->width, s->height);
    if (s->scale > 0)
        str_printf(&text, "scale %.4g\n", s->scale);
    str_printf(&text, "dark %d\n", s->dark);
    if (path && !file_mkdirs(file_dirname(a, path), NULL))
        file_write(path, str_text(&text), text.n, NULL);
    arena_destroy(a);
}

const char *const *viewer_state_recent(arena *a, size_t *n)
{
    const char *path = file_state_path(a, "recent");
    const char **list = arena_array(a, const char *, VIEWER_RECENT);
    char *data, *save = NULL;
    size_t bytes;

    *n = 0;
    if (!path || file_read(path, MAX_BYTES, a, &data, &bytes, NULL))
        return list;
    for (char *s = strtok_r(data, "\n", &save); s && *n < VIEWER_RECENT;
         s = strtok_r(NULL, "\n", &save))
        if (*s == '/')
            list[(*n)++] = s;
    return list;
}

void viewer_state_opened(const char *trace)
{
    arena *a = arena_create(0);
    const char *path = file_state_path(a, "recent");
    char *whole = realpath(trace, NULL);
    str text = {.arena = a};
    size_t n;
    const char *const *list = viewer_state_recent(a, &n);

    /* A line is a path. */
    if (path && whole && !strchr(whole, '\n') &&
        !file_mkdirs(file_dirname(a, path), NULL)) {
        size_t kept = 1;

        str_printf(&text, "%s\n", whole);
        for (size_t i = 0; i < n && kept < VIEWER_RECENT; i++)
            if (strcmp(list[i], whole)) {
                str_printf(&text, "%s\n", list[i]);
                kept++;
            }
        file_write(path, str_text(&text), text.n, NULL);
    }
    free(whole);
    arena_destroy(a);
}

void viewer_state_load_searches(control *k)
{
    arena *a = arena_create(0);
    const char *path = file_state_path(a, "searches");
    char *data, *save = NULL;
    size_t n;

    k->n_searches = 0;
    if (path && !file_read(path, MAX_BYTES, a, &data, &n, NULL))
        for (char *s = strtok_r(data, "\n", &save);
             s && k->n_searches < CONTROL_SEARCHES;
             s = strtok_r(NULL, "\n", &save))
            if (strlen(s) < CONTROL_TEXT)
                snprintf(k->searches[k->n_searches++], CONTROL_TEXT, "%s", s);
    arena_destroy(a);
}

void viewer_state_searched(const char *text)
{
    arena *a = arena_create(0);
    const char *path = file_state_path(a, "searches");
    control *before = arena_new(a, control); /* another window's as well */
    str lines = {.arena = a};
    int kept = 1;

    viewer_state_load_searches(before);
    str_printf(&lines, "%s\n", text);
    for (int i = 0; i < before->n_searches && kept < CONTROL_SEARCHES; i++)
        if (strcmp(before->searches[i], text)) {
            str_printf(&lines, "%s\n", before->searches[i]);
            kept++;
        }
    if (path && !strchr(text, '\n') &&
        !file_mkdirs(file_dirname(a, path), NULL))
        file_write(path, str_text(&lines), lines.n, NULL);
    arena_destroy(a);
}

static void see_mark(void *user, const char *key, double a, double b)
{
    control *k = user;
    int i = key[0] - '1';

    if (key[1] || i < 0 || i >= CONTROL_BOOKMARKS || !(a >= 0) || !(b > a))
        return;
    k->bookmarks[i].set = true;
    k->bookmarks[i].from = a;
    k->bookmarks[i].to = b;
}

void viewer_state_load_marks(const char *trace, control *k)
{
    char path[4096];

    if ((size_t)snprintf(path, sizeof path, "%s.marks", trace) < sizeof path)
        each_line(path, see_mark, k);
}

void viewer_state_save_marks(const char *trace, const control *k)
{
    char path[4096], text[1024];
    size_t n = 0;

    if ((size_t)snprintf(path, sizeof path, "%s.marks", trace) >= sizeof path)
        return;
    for (int i = 0; i < CONTROL_BOOKMARKS; i++)
        if (k->bookmarks[i].set)
            n += (size_t)snprintf(text + n, sizeof text - n, "%d %.1f %.1f\n",
                                  i + 1, k->bookmarks[i].from,
                                  k->bookmarks[i].to);
    file_write(path, text, n, NULL);
}
