/* Running the vpu program in a directory of its own. */
#ifndef VPU_TESTS_SUPPORT_PROGRAM_H
#define VPU_TESTS_SUPPORT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "sim/base/arena.h"
#include "sim/base/str.h"

typedef struct {
    arena *a;
    char dir[48]; /* the program's working directory; tmp/ is its TMPDIR */
    int status;   /* exit status of the last run, 128 + n of signal n */
    const char *out, *err; /* what it printed */
} program;

/* Everything here asserts what must work. */
void program_open(program *p);
void program_close(program *p); /* removes the directory */

void program_file(program *p, const char *name, const void *data, size_t n);
void program_text(program *p, const char *name, const char *text);
bool program_has(program *p, const char *name);

/* args is split at blanks; no quoting. Stops the program after 60 s. */
void program_run(program *p, const char *args);
/* Starts it without waiting; program_wait collects it. */
pid_t program_start(program *p, const char *args);
void program_wait(program *p, pid_t pid);

/* Names of all files below dir, sorted, one a line, without those in except
 * (one a line) and without the compile cache. Directories are not listed. */
const char *program_files(program *p, const char *except);

#endif
