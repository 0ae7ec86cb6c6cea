/* A trace read by a thread of its own, ahead of who takes its events. Private
 * to the visualizer. */
#ifndef VPU_VISUALIZER_LOAD_AHEAD_H
#define VPU_VISUALIZER_LOAD_AHEAD_H

#include "base/trace/reader.h"

typedef struct {
    const char *name; /* a file's path, or what stands for it in messages */
    const void *data; /* NULL: it is a file */
    size_t n_bytes;
} load_source;

/* As trc_read_file and trc_read_bytes: the same calls of ops, from this thread,
 * in the same order. Texts of a key stay until load_ahead returns.
 *
 * VPU_ERR_NOMEM; theirs */
vpu_status load_ahead(const load_source *from, const trc_read_ops *ops,
                      vpu_error *err);

#endif
