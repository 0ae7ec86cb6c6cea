/* Reading whole files and writing files that appear whole or not at all. */
#ifndef VPU_SIM_BASE_FILE_H
#define VPU_SIM_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"

/* Read a whole regular file into the arena, with one zero byte behind it.
 *
 * VPU_ERR_IO     cannot be opened or read (message: path and reason), or is
 *                not a regular file
 * VPU_ERR_LIMIT  longer than max_bytes */
vpu_status file_read(const char *path, size_t max_bytes, arena *a, char **data,
                     size_t *n_bytes, vpu_error *err);

bool file_exists(const char *path);
/* "dir/name", or name itself when it is absolute. In the arena. */
char *file_join(arena *a, const char *dir, const char *name);
/* Text up to the last '/', "." when there is none. In the arena. */
char *file_dirname(arena *a, const char *path);
/* Create a directory and its parents; fine when it is there already. */
vpu_status file_mkdirs(const char *path, vpu_error *err);

/* A file being written beside its final place under a temporary name.
 * file_out_commit renames it into place; file_out_abandon removes it. Exactly
 * one of the two ends it. Both accept an out that never opened. A process that
 * dies by a signal handled with file_out_remove_all leaves nothing either. */
typedef struct {
    FILE *f;
    char *path, *temp; /* heap */
} file_out;

vpu_status file_out_open(file_out *o, const char *path, vpu_error *err);
vpu_status file_out_commit(file_out *o, vpu_error *err);
void file_out_abandon(file_out *o);
/* Unlink every temporary still open. Async-signal-safe. */
void file_out_remove_all(void);

/* open, write, commit. */
vpu_status file_write(const char *path, const void *data, size_t n_bytes,
                      vpu_error *err);

#endif
