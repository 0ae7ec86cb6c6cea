/* Running the vpu program in a directory of its own. */
#ifndef VPU_TESTS_SUPPORT_TERMINAL_H
#define VPU_TESTS_SUPPORT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/str.h"

typedef struct {
    arena *arena;
    char dir[48]; /* the program's working directory; tmp/ is its TMPDIR */
    int status;   /* exit status of the last run, 128 + n of signal n */
    const char *out, *err; /* what it printed */
    const char *tmp;       /* its TMPDIR below dir; NULL: tmp */
    int out_fd;            /* its standard output; 0: .out, -1: closed */
} terminal;

/* Everything here asserts what must work. */
void terminal_open(terminal *p);
void terminal_close(terminal *p); /* removes the directory */

void terminal_file(terminal *p, const char *name, const void *data, size_t n);
void terminal_text(terminal *p, const char *name, const char *text);
bool terminal_has(terminal *p, const char *name);

/* args is split at blanks; no quoting. Stops the program after 60 s. */
void terminal_run(terminal *p, const char *args);
/* Starts it without waiting; terminal_wait collects it. */
pid_t terminal_start(terminal *p, const char *args);
void terminal_wait(terminal *p, pid_t pid);

/* The last run's exit status, and words it wrote; to stderr unless it is 0. */
void terminal_expect(const terminal *p, int status, const char *words);

/* The bytes of a file below dir. */
const char *terminal_bytes(terminal *p, const char *name, size_t *n);

/* Names of all files below dir, sorted, one a line, without those in except
 * (one a line) and without the compile cache. Directories are not listed. */
const char *terminal_files(terminal *p, const char *except);

#endif
