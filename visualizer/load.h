/* A trace file as a timeline. */
#ifndef VPU_VISUALIZER_LOAD_H
#define VPU_VISUALIZER_LOAD_H

#include "visualizer/timeline.h"

/* Reads as far as it can: a file that is cut off or damaged further on gives
 * what stands before, and tl->partial says why. The caller frees tl, also
 * after an error.
 *
 * VPU_ERR_IO     cannot be opened
 * VPU_ERR_PARSE  not a trace, or nothing in it (message: path, byte)
 * VPU_ERR_LIMIT  as trc_read_file, before the first event
 * VPU_ERR_NOMEM */
vpu_status load_file(const char *path, tl_timeline *tl, vpu_error *err);
/* Of a reading in another thread: both are looked at and set with atomic
 * accesses. */
typedef struct {
    uint64_t events;     /* read so far, to within some thousands */
    bool stop;           /* end early: tl->partial says so */
    uint64_t most_bytes; /* of the timeline, within some per cent: it ends there
                            and tl->partial says so; 0 = any. Set before */
} load_watch;

vpu_status load_file_watched(const char *path, load_watch *w, tl_timeline *tl,
                             vpu_error *err);
vpu_status load_bytes(const char *name, const void *data, size_t n_bytes,
                      tl_timeline *tl, vpu_error *err);

#endif
