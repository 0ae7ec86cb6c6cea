/* Files: regular ones read whole or in parts, streams, names and folders; files
 * to write, which appear whole or not at all. */
#ifndef VPU_BASE_FILE_H
#define VPU_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/err.h"

/* What was read: n bytes, borrowed. path stands for them in messages; they need
 * not come from a file. */
typedef struct {
    const void *data;
    size_t n;
    const char *path;
} file_bytes;

/* Read a whole regular file into the arena, with one zero byte behind it.
 *
 * VPU_ERR_IO     cannot be opened or read (message: path and reason), or is
 *                not a regular file
 * VPU_ERR_LIMIT  longer than max_bytes */
vpu_status file_read(const char *path, size_t max_bytes, arena *a, char **data,
                     size_t *n_bytes, vpu_error *err);

/* A regular file of which bytes are read where they are needed. path: borrowed.
 * The errors are file_read's. */
typedef struct {
    int fd;
    uint64_t bytes;
    const char *path;
} file_in;

vpu_status file_in_open(file_in *f, const char *path, uint64_t max_bytes,
                        vpu_error *err);
vpu_status file_in_read(const file_in *f, uint64_t at, void *out, size_t n,
                        vpu_error *err);
/* All of it, as file_read gives it. */
vpu_status file_in_all(const file_in *f, arena *a, char **data, size_t *n_bytes,
                       vpu_error *err);
void file_in_close(file_in *f);

/* The first bytes of a regular file, n at most: how many there are. 0 for
 * everything else, which is not waited for. */
size_t file_peek(const char *path, void *out, size_t n);

/* For what is read from its beginning to its end: a regular file, or a pipe,
 * terminal or device the process was started with (/dev/stdin, /dev/fd/N).
 * VPU_ERR_IO: something else, a FIFO by name for one, or cannot be opened. */
vpu_status file_stream_open(const char *path, FILE **f, vpu_error *err);

bool file_exists(const char *path);
/* "dir/name", or name itself when it is absolute. In the arena. */
char *file_join(arena *a, const char *dir, const char *name);
/* The same file under a name that another program takes for a file: not for an
 * option (-x.cl) nor for a file with options in it (@k.cl). The name itself, or
 * with "./" before it, in the arena. */
const char *file_plain_name(arena *a, const char *name);
/* Text behind the last '/'; all of it when there is none. */
const char *file_basename(const char *path);
/* Text up to the last '/', "." when there is none. In the arena. */
char *file_dirname(arena *a, const char *path);
/* "FOLDER/vpusim/NAME" of what a program keeps between its runs for one person:
 * FOLDER is $XDG_STATE_HOME, else ~/.local/state. In the arena; NULL: there is
 * no home. The folder need not exist. */
char *file_state_path(arena *a, const char *name);
/* Create a directory and its parents; fine when it is there already. */
vpu_status file_mkdirs(const char *path, vpu_error *err);

/* A file being written beside its final place under a temporary name.
 * file_out_commit renames it into place; file_out_abandon removes it. Exactly
 * one of the two ends it. Both accept an out that never opened. A process that
 * dies by a signal handled with temp_remove_all leaves nothing either. What is
 * there and no regular file, a device or a FIFO, is written to directly. */
typedef struct {
    FILE *stream;
    char *path, *temp; /* heap */
} file_out;

vpu_status file_out_open(file_out *o, const char *path, vpu_error *err);
vpu_status file_out_commit(file_out *o, vpu_error *err);
void file_out_abandon(file_out *o);

/* open, write, commit. */
vpu_status file_write(const char *path, const void *data, size_t n_bytes,
                      vpu_error *err);

/* Write all n bytes at the descriptor's place; false: errno says why not. */
bool file_fd_put(int fd, const void *data, size_t n);
/* All of a regular file or a file in memory from its first byte on, whatever
 * the descriptor's place, most bytes of it for the most, with one zero byte
 * behind it. In the arena. NULL: errno says why, 0 = it ends early. */
char *file_fd_get(int fd, size_t most, arena *a, size_t *n);

/* A file that is read while it is written: there from the start, and each line
 * once it is complete, also when the process is killed behind it. */
vpu_status file_log_open(const char *path, FILE **f, vpu_error *err);
/* fclose, and VPU_ERR_IO when anything written to f has not arrived. */
vpu_status file_close_written(FILE *f, const char *path, vpu_error *err);

#endif
