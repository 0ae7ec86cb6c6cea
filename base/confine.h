/* A process gives up rights, for good: what may go wrong in it from then on,
 * code of strangers included, stays in it and in the folders it keeps.
 *
 * By what Linux has: Landlock for files, TCP and other processes, a seccomp
 * filter for system calls (confine_calls.def), no capabilities, no programs
 * that give more rights, no core files. What it starts later has no more rights
 * than it. docs/sandbox.md, "Isolation of the virtual stick". */
#ifndef VPU_BASE_CONFINE_H
#define VPU_BASE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Lists are borrowed for the call. A name stands for what it is at the call:
 * what is renamed later keeps its rights. */
typedef struct {
    /* Files and folders that can be read and executed with all beneath, besides
     * the system's own (confine.c lists them: programs, libraries, /proc,
     * /dev/null). Those that are not there are left out. */
    const char *const *read;
    size_t n_read;
    /* Folders beneath which files and folders can be read, made, written,
     * renamed and removed, but not executed. They must be there. */
    const char *const *write;
    size_t n_write;
    /* File descriptors that stay open, besides 0, 1 and 2. */
    const int *keep;
    size_t n_keep;
} confine_config;

typedef struct {
    int landlock; /* the kernel's ABI, 0: it has none */
    bool seccomp; /* calls are filtered */
    /* What this kernel cannot refuse, in words for the user; "": nothing. */
    char missing[256];
} confine_report;

/* What this kernel has. Changes nothing; any thread. */
void confine_probe(confine_report *r);

/* Confine this process. It must have one thread alone: Landlock is for the
 * calling one. Later threads and children are confined as well, and can signal
 * one another. What is refused fails with EPERM or EACCES; nothing is ended.
 *
 * What the kernel lacks is left out, and stands in the report.
 *
 * VPU_ERR_IO     a folder of `write` cannot be opened, or the kernel has
 *                something but refuses it: the process may be confined in part
 *                and should end */
vpu_status confine_self(const confine_config *c, confine_report *r,
                        vpu_error *err);

#endif
