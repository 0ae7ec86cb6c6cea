/* A trace that is still being written, seen as it grows.
 *
 * A run writes FILE under the name FILE.XXXXXX and renames it when it is whole;
 * of both the newer is followed. What has been written is read anew when there
 * is more of it, never spending more than a quarter of the time on that. */
#ifndef VPU_VISUALIZER_FOLLOW_H
#define VPU_VISUALIZER_FOLLOW_H

#include "visualizer/view.h"

typedef struct {
    const char *path; /* borrowed */
    char *now;        /* what is followed, heap; NULL = nothing yet */
    uint64_t inode, bytes;
    double load_s, next_s; /* the last reading took; not before that time */
} follow;

void follow_open(follow *f, const char *path);
void follow_close(follow *f);
/* Waits until there is something to show; false when `seconds` passed. tl and v
 * are made then, and are the caller's. */
bool follow_wait(follow *f, double seconds, tl_timeline *tl, view *v);
/* Replaces both when there is more, keeping stretch, rows, selection and marks;
 * a view at the trace's end stays at the end. False: nothing changed. */
bool follow_step(follow *f, tl_timeline *tl, view *v);

#endif
