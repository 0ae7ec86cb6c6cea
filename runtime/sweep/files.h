/* The files that a sweep's points read, copied into its folder. */
#ifndef VPU_RUNTIME_SWEEP_FILES_H
#define VPU_RUNTIME_SWEEP_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum { SWEEP_HASH = 33 }; /* 32 digits of XXH128 and a zero */

typedef struct {
    const char *source; /* absolute, without links in its folder */
    const char *frozen; /* below files/, once sweep_files_place ran */
    bool folder;        /* itself no file: what lies in it are rows, too */
    char hash[SWEEP_HASH];
} sweep_file;

typedef struct {
    arena *arena;
    sweep_file *items;
    size_t n, cap;
} sweep_files;

/* A list of numbers of files. */
typedef struct {
    size_t *items;
    size_t n, cap;
} sweep_file_set;

/* Adds the file or, with everything in it, the folder, unless it is there; its
 * number goes into the set, which may be NULL.
 *
 * VPU_ERR_IO     not there, or cannot be read
 * VPU_ERR_LIMIT  a folder with too much in it */
vpu_status sweep_files_add(sweep_files *f, const char *path,
                           sweep_file_set *set, vpu_error *err);
/* A kernel's source and, however deep, what it includes by a name that is found
 * beside it; others are found in the folders of -I, which are added whole. */
vpu_status sweep_files_add_source(sweep_files *f, const char *path,
                                  sweep_file_set *set, vpu_error *err);
/* Gives every row its place below files/: as they lie to one another. */
void sweep_files_place(sweep_files *f);
/* The row of that path, once all are placed; NULL: it was not added. */
const sweep_file *sweep_files_find(const sweep_files *f, const char *path);

/* Copies all below dir/files and hashes the copies. VPU_ERR_IO. */
vpu_status sweep_files_copy(sweep_files *f, const char *dir, vpu_error *err);
/* VPU_ERR_MISMATCH  a file is another one than its copy below dir/files, or has
 *                   none (message: which, and what to do) */
vpu_status sweep_files_compare(const sweep_files *f, const char *dir,
                               vpu_error *err);

/* One file to another place, with rights as given, and of a file its hash. */
vpu_status sweep_file_copy(const char *from, const char *to, unsigned mode,
                           vpu_error *err);
vpu_status sweep_file_hash(const char *path, char out[SWEEP_HASH],
                           vpu_error *err);

#endif
