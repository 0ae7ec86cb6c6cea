/* Runs the program under test as a user would, in a temporary folder. */
#ifndef VPU_TESTS_KERNELS_PROGRAM_H
#define VPU_TESTS_KERNELS_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum { PROGRAM_MAX_ARGS = 48 };

/* A command line being put together. Words live in arena. */
typedef struct {
    arena *arena;
    const char *argv[PROGRAM_MAX_ARGS + 1];
    size_t n_args;
} program_args;

/* The program's path, $VPU or build/vpu, and the words given, NULL at the end.
 */
void program_args_init(program_args *p, arena *a, const char *first, ...)
    __attribute__((sentinel));
void program_args_add(program_args *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Run it. Returns the exit status, 128 + n for signal n. What it printed is in
 * files `stdout` and `stderr` of dir, an existing folder. */
int program_run(const program_args *p, const char *dir);

/* A new folder below $TMPDIR, its name in a; and its removal, files and all. */
char *program_temp_dir(arena *a);
void program_remove_dir(const char *dir);

/* A whole file in a, zero byte behind it; fails the test when unreadable. */
char *program_file(arena *a, const char *dir, const char *name, size_t *n);

#endif
