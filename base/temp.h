/* Temporary files and folders that are removed at the end of the process, also
 * when a signal ends it: each is known by name from its creation to its
 * removal, so that a signal handler can remove them all. SIGKILL leaves them,
 * and so does a handler where more than 64 are there at once. Thread-safe. */
#ifndef VPU_BASE_TEMP_H
#define VPU_BASE_TEMP_H

#include "base/arena.h"
#include "base/err.h"

/* As mkstemp: a new open file, its name in *path, of which the last six
 * characters are XXXXXX. -1: errno says why. The string must stay until
 * temp_forget. */
int temp_file(char *path);
/* It got another name, or is removed. */
void temp_forget(const char *path);

/* A new folder below $TMPDIR, only for this user, whose name begins with stem;
 * its name, in the arena, is one that no program takes for an option. */
vpu_status temp_dir(arena *a, const char *stem, char **path, vpu_error *err);
/* A new folder beside path, on its file system, only for this user: its name is
 * path's and six characters. */
vpu_status temp_dir_beside(arena *a, const char *path, char **out,
                           vpu_error *err);
/* Remove it with everything in it, eight folders deep, whoever made them. */
void temp_dir_remove(const char *path);

/* Remove every file and folder that is still there. Async-signal-safe. */
void temp_remove_all(void);

/* In a child that goes on as ours: those known so far are its parent's, who
 * removes them. No other thread may be there. */
void temp_disown(void);

#endif
