/* Text files of lines with a key and its numbers, in the user's state folder
 * (XDG_STATE_HOME) and beside a trace. */
#include "visualizer/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum { MAX_BYTES = 65536 };

/* False: there is no home to keep things in. */
static bool state_path(char *path, size_t n, bool make)
{
    const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    size_t used;

    if (base && *base == '/')
        used = (size_t)snprintf(path, n, "%s/vpusim", base);
    else if (home && *home)
        used = (size_t)snprintf(path, n, "%s/.local/state/vpusim", home);
    else
        return false;
    if (used + 8 >= n || (make && file_mkdirs(path, NULL)))
        return false;
    memcpy(path + used, "/window", 8);
    return true;
}

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
    char path[4096];

    if (state_path(path, sizeof path, false))
        each_line(path, see_state, s);
}

void viewer_state_save(const viewer_state *s)
{
    char path[4096], text[256];

    if (!state_path(path, sizeof path, true))
        return;
    snprintf(text, sizeof text, "size %u %u\nscale %.4g\ndark %d\n", s->width,
             s->height, s->scale, s->dark);
    file_write(path, text, strlen(text), NULL);
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
