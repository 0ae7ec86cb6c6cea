/* Choosing a trace to open: files that were opened before, and those of a
 * folder, filtered by what is typed. The list without a window, so that tests
 * need no display. */
#ifndef VPU_VISUALIZER_CHOOSER_H
#define VPU_VISUALIZER_CHOOSER_H

#include "base/arena.h"
#include "visualizer/canvas.h"
#include "visualizer/theme.h"

/* In the order they are listed. */
typedef enum {
    CHOOSER_RECENT, /* a trace that was opened before */
    CHOOSER_UP,     /* the folder above */
    CHOOSER_FOLDER,
    CHOOSER_TRACE /* of the folder; the newest first */
} chooser_kind;

typedef struct {
    chooser_kind kind;
    const char *name; /* as listed */
    const char *path;
    uint64_t bytes;  /* of a file */
    int64_t changed; /* seconds since 1970 */
} chooser_entry;

enum {
    CHOOSER_TEXT = 512,       /* bytes of what is typed */
    CHOOSER_MAX_FILES = 10000 /* of a folder; the list says when there are more
                               */
};

typedef struct {
    bool open;
    arena *a; /* of the list */
    const char *folder;
    const char *const *recent; /* borrowed; newest first */
    size_t n_recent;
    chooser_entry *entries;
    size_t n, cap;
    uint32_t *shown;      /* those that have all words typed, in any case */
    uint32_t n_shown, at; /* at: of shown, the one chosen by Enter */
    uint32_t first;       /* of shown: at the top */
    uint32_t n_fit;       /* lines of the last picture */
    char typed[CHOOSER_TEXT];
    char message[256];  /* why a folder or file is not shown; "" */
    const char *chosen; /* set by a key or click: the trace to open; the owner
                           takes it and sets NULL. Good until the next call */
    cv_box box, list;   /* of the last picture */
} chooser;

/* Lists traces (*.pftrace, *.perfetto-trace) and folders of `folder`, behind
 * those of `recent` that are there. A folder that cannot be read gives a
 * message in the list. */
void chooser_open(chooser *c, const char *folder, const char *const *recent,
                  size_t n_recent);
/* Hides and frees the list. */
void chooser_close(chooser *c);
/* As control's (control.h): whether the picture changed. Escape takes back
 * what is typed, then closes. A text with a '/' is a path: Enter opens it. */
bool chooser_key(chooser *c, uint32_t key);
bool chooser_text(chooser *c, const char *utf8);
bool chooser_press(chooser *c, double x, double y, int clicks);
bool chooser_wheel(chooser *c, double y);
/* In the middle of a page of that size. */
void chooser_paint(chooser *c, cv_canvas *canvas, const theme *colors,
                   double width, double height);

#endif
