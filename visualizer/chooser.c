/* The list of traces and folders; what keys and the mouse do to it. */
#include "visualizer/chooser.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file.h"
#include "visualizer/control.h"

enum { LINE = 24, PAGE_LINES = 10 };

/* --- the list ------------------------------------------------------------- */

static bool is_trace(const char *name)
{
    static const char *const ends[] = {".pftrace", ".perfetto-trace"};
    size_t n = strlen(name);

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t e = strlen(ends[i]);

        if (n > e && !strcmp(name + n - e, ends[i]))
            return true;
    }
    return false;
}

/* False: no file or folder, or one that is not listed. */
static bool look(const char *path, chooser_entry *to)
{
    struct stat info;

    if (stat(path, &info))
        return false;
    to->bytes = (uint64_t)info.st_size;
    to->changed = (int64_t)info.st_mtime;
    if (S_ISDIR(info.st_mode))
        to->kind = CHOOSER_FOLDER;
    else if (S_ISREG(info.st_mode))
        to->kind = CHOOSER_TRACE;
    else
        return false;
    return true;
}

static void add(chooser *c, const chooser_entry *e)
{
    *arena_append(c->a, c->entries, c->n, c->cap) = *e;
}

static int by_place(const void *x, const void *y)
{
    const chooser_entry *a = x, *b = y;

    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->kind == CHOOSER_TRACE && a->changed != b->changed)
        return a->changed > b->changed ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void add_recent(chooser *c)
{
    for (size_t i = 0; i < c->n_recent; i++) {
        chooser_entry e = {.name = c->recent[i], .path = c->recent[i]};

        if (!look(e.path, &e) || e.kind != CHOOSER_TRACE)
            continue;
        e.kind = CHOOSER_RECENT;
        add(c, &e);
    }
}

static void add_folder(chooser *c)
{
    DIR *d = opendir(c->folder);
    size_t first = c->n;
    struct dirent *e;

    if (!d) {
        snprintf(c->message, sizeof c->message, "%.150s: %s", c->folder,
                 strerror(errno));
        return;
    }
    while ((e = readdir(d))) {
        chooser_entry entry = {.name = e->d_name};

        if (*e->d_name == '.')
            continue;
        if (c->n - first >= CHOOSER_MAX_FILES) {
            snprintf(c->message, sizeof c->message,
                     "more than %d files; type a path", CHOOSER_MAX_FILES);
            break;
        }
        entry.path = file_join(c->a, c->folder, e->d_name);
        if (!look(entry.path, &entry) ||
            (entry.kind == CHOOSER_TRACE && !is_trace(e->d_name)))
            continue;
        entry.name = arena_strdup(c->a, e->d_name);
        add(c, &entry);
    }
    closedir(d);
    if (c->n > first)
        qsort(c->entries + first, c->n - first, sizeof *c->entries, by_place);
}

/* Every word of what is typed is in the name. */
static bool matches(const char *name, const char *typed)
{
    char words[CHOOSER_TEXT], *save = NULL;

    snprintf(words, sizeof words, "%s", typed);
    for (char *w = strtok_r(words, " ", &save); w;
         w = strtok_r(NULL, " ", &save))
        if (!strcasestr(name, w))
            return false;
    return true;
}

static void filter(chooser *c)
{
    c->n_shown = 0;
    c->at = c->first = 0;
    for (uint32_t i = 0; i < (uint32_t)c->n; i++)
        if (matches(c->entries[i].name, c->typed))
            c->shown[c->n_shown++] = i;
    /* Enter opens a trace: the folder above is not what one means first. */
    while (c->at + 1 < c->n_shown &&
           c->entries[c->shown[c->at]].kind == CHOOSER_UP)
        c->at++;
}

static void list_folder(chooser *c, const char *folder)
{
    arena *old = c->a;
    char *whole = realpath(folder, NULL);
    chooser_entry up = {.kind = CHOOSER_UP, .name = ".."};

    c->a = arena_create(0);
    c->entries = NULL;
    c->n = c->cap = 0;
    c->typed[0] = c->message[0] = 0;
    c->folder = arena_strdup(c->a, whole ? whole : folder);
    free(whole);
    arena_destroy(old); /* which `folder` may lie in */
    add_recent(c);
    if (strcmp(c->folder, "/")) {
        up.path = file_dirname(c->a, c->folder);
        add(c, &up);
    }
    add_folder(c);
    c->shown = arena_array(c->a, uint32_t, c->n + 1);
    filter(c);
}

void chooser_open(chooser *c, const char *folder, const char *const *recent,
                  size_t n_recent)
{
    c->recent = recent;
    c->n_recent = n_recent;
    c->open = true;
    c->chosen = NULL;
    list_folder(c, folder);
}

void chooser_close(chooser *c)
{
    arena_destroy(c->a);
    *c = (chooser){0};
}

/* --- keys and the mouse --------------------------------------------------- */

static void choose_path(chooser *c, const char *path)
{
    chooser_entry e;

    if (!look(path, &e))
        snprintf(c->message, sizeof c->message, "%.150s: %s", path,
                 errno ? strerror(errno) : "neither a file nor a folder");
    else if (e.kind == CHOOSER_FOLDER)
        list_folder(c, path);
    else
        c->chosen = path;
}

static void choose(chooser *c)
{
    c->message[0] = 0;
    errno = 0;
    if (strchr(c->typed, '/'))
        choose_path(c, arena_strdup(c->a, c->typed));
    else if (c->n_shown)
        choose_path(c, c->entries[c->shown[c->at]].path);
}

static void keep_visible(chooser *c)
{
    if (c->at < c->first)
        c->first = c->at;
    if (c->n_fit && c->at >= c->first + c->n_fit)
        c->first = c->at - c->n_fit + 1;
}

static void move(chooser *c, int by)
{
    int64_t at = (int64_t)c->at + by, last = (int64_t)c->n_shown - 1;

    c->at = (uint32_t)(at > last ? (last > 0 ? last : 0) : at < 0 ? 0 : at);
    keep_visible(c);
}

static void take_back(chooser *c)
{
    size_t n = strlen(c->typed);

    if (!n) { /* nothing to take back: the folder above */
        if (strcmp(c->folder, "/"))
            list_folder(c, file_dirname(c->a, c->folder));
        return;
    }
    do /* a whole character */
        n--;
    while (n && (c->typed[n] & 0xc0) == 0x80);
    c->typed[n] = 0;
    filter(c);
}

bool chooser_key(chooser *c, uint32_t key)
{
    switch (key) {
    case KEY_UP:
        move(c, -1);
        return true;
    case KEY_DOWN:
        move(c, 1);
        return true;
    case KEY_PAGE_UP:
        move(c, -PAGE_LINES);
        return true;
    case KEY_PAGE_DOWN:
        move(c, PAGE_LINES);
        return true;
    case KEY_HOME:
        move(c, -(int)c->n_shown);
        return true;
    case KEY_ENTER:
        choose(c);
        return true;
    case KEY_BACKSPACE:
        take_back(c);
        return true;
    case KEY_ESCAPE:
        if (c->typed[0]) {
            c->typed[0] = 0;
            filter(c);
        } else {
            chooser_close(c);
        }
        return true;
    }
    return false;
}

bool chooser_text(chooser *c, const char *utf8)
{
    size_t n = strlen(c->typed), more = strlen(utf8);

    if (n + more >= sizeof c->typed)
        return false;
    memcpy(c->typed + n, utf8, more + 1);
    filter(c);
    return true;
}

bool chooser_press(chooser *c, double x, double y, int clicks)
{
    cv_box b = c->list;
    uint32_t line;

    if (x < b.x || x >= b.x + b.w || y < b.y || y >= b.y + b.h)
        return false;
    line = c->first + (uint32_t)((y - b.y) / LINE);
    if (line >= c->n_shown)
        return false;
    c->at = line;
    if (clicks == 2) {
        errno = 0;
        choose_path(c, c->entries[c->shown[line]].path);
    }
    return true;
}

bool chooser_wheel(chooser *c, double y)
{
    int64_t most = (int64_t)c->n_shown - c->n_fit;
    int64_t first = (int64_t)c->first - llround(fmin(fmax(y, -8), 8) * 3);

    first = first > most ? most : first;
    c->first = (uint32_t)(first < 0 ? 0 : first);
    if (c->at < c->first) /* it is always visible */
        c->at = c->first;
    if (c->n_fit && c->at >= c->first + c->n_fit)
        c->at = c->first + c->n_fit - 1;
    return true;
}

/* --- painting ------------------------------------------------------------- */

static void paint_entry(const chooser_entry *e, cv_canvas *canvas,
                        const theme *colors, cv_box at)
{
    static const char *const kinds[] = {"recent", "", "folder", ""};
    char text[64], day[32] = "";
    double y = at.y + at.h / 2, right = at.x + at.w;
    time_t changed = (time_t)e->changed;
    struct tm when;

    if (e->kind == CHOOSER_RECENT || e->kind == CHOOSER_TRACE) {
        if (localtime_r(&changed, &when))
            strftime(day, sizeof day, "%Y-%m-%d %H:%M", &when);
        snprintf(text, sizeof text, "%.1f %s   %s",
                 (double)e->bytes / (e->bytes < 1 << 20 ? 1 << 10 : 1 << 20),
                 e->bytes < 1 << 20 ? "KiB" : "MiB", day);
        cv_text_right(canvas, right - 8, y, CV_SMALL, colors->dim, text);
    }
    cv_text(canvas, at.x + 8, y, CV_SMALL, colors->dim, kinds[e->kind]);
    cv_text_fit(canvas, (cv_slot){at.x + 64, y, at.w - 64 - 220},
                e->kind == CHOOSER_FOLDER || e->kind == CHOOSER_UP ? CV_BOLD
                                                                   : CV_NORMAL,
                colors->text, e->name);
}

static void paint_list(chooser *c, cv_canvas *canvas, const theme *colors)
{
    for (uint32_t i = 0; i < c->n_fit && c->first + i < c->n_shown; i++) {
        uint32_t line = c->first + i;
        cv_box at = {c->list.x, c->list.y + i * LINE, c->list.w, LINE};

        if (line == c->at) {
            cv_fill(canvas, at, colors->shade);
            cv_frame(canvas, at, colors->accent);
        }
        paint_entry(&c->entries[c->shown[line]], canvas, colors, at);
    }
    if (!c->n_shown)
        cv_text(canvas, c->list.x + 8, c->list.y + LINE / 2, CV_NORMAL,
                colors->dim,
                c->typed[0] ? "no trace or folder has that in its name"
                            : "no traces here");
}

void chooser_paint(chooser *c, cv_canvas *canvas, const theme *colors,
                   double width, double height)
{
    double w = fmin(width - 32, 860), h = fmin(height - 32, 620);
    double x = (width - w) / 2, y = (height - h) / 2;
    char text[CHOOSER_TEXT + 32];

    c->box = (cv_box){x, y, w, h};
    c->n_fit = (uint32_t)fmax((h - 126) / LINE, 1);
    c->list = (cv_box){x + 12, y + 78, w - 24, c->n_fit * LINE};
    keep_visible(c);
    cv_fill(canvas, c->box, colors->panel);
    cv_frame(canvas, c->box, colors->strong_line);
    cv_text(canvas, x + 20, y + 22, CV_TITLE, colors->text, "Open a trace");
    cv_text_fit(canvas, (cv_slot){x + 170, y + 22, w - 190}, CV_NORMAL,
                colors->dim, c->folder);
    snprintf(text, sizeof text, "%s_", c->typed);
    cv_text_fit(canvas, (cv_slot){x + 20, y + 54, w - 40}, CV_MONO,
                colors->text, text);
    cv_line(canvas, x + 12, y + 70, x + w - 12, y + 70, colors->line);
    cv_clip(canvas, c->list);
    paint_list(c, canvas, colors);
    cv_unclip(canvas);
    cv_text_fit(canvas, (cv_slot){x + 20, y + h - 24, w - 40}, CV_SMALL,
                c->message[0] ? colors->warn : colors->dim,
                c->message[0] ? c->message
                              : "type to filter, or a path;  Enter or double "
                                "click opens;  Backspace: folder above;  Esc: "
                                "back;  a file may be dropped on the window");
}
