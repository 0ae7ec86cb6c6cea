/* A new layer: a folder with a kernel, its binding, what it should compute, a
 * case that compares the two, and what editors need. What is written runs as it
 * is, passes its case, and is a beginning for a layer of one's own. */
#ifndef VPU_RUNTIME_INIT_INIT_H
#define VPU_RUNTIME_INIT_INIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

enum { INIT_MAX_NAME = 48 };

/* Strings are borrowed. */
typedef struct {
    const char *name; /* of the layer, its files and the folder made for it, in
                         the current one */
    bool dma;         /* the kernel works on copies in local memory */
    bool two_stage;   /* two kernels, and a buffer between them */
} init_job;

typedef struct {
    const char *words; /* "--shape … --param …", for a run of the layer */
    size_t n_files;
    /* Where editors find vpusim/kernel.h: the installed folder or that of the
     * sources the program was built from. NULL: there is none, and the layer's
     * folder has a copy. */
    const char *include;
} init_result;

/* A name begins with a letter, goes on with letters, digits and '_', and has
 * INIT_MAX_NAME bytes at most: it becomes part of the names of functions.
 *
 * VPU_ERR_INVALID  it is not like that (message: what was found, and where) */
vpu_status init_check_name(const char *name, vpu_error *err);

/* Makes the folder, whole or not at all; one that is there and empty is taken.
 * Thread-safe as long as nobody changes the current folder. The result is in
 * the arena.
 *
 * VPU_ERR_INVALID  the name; something of that name is there already
 * VPU_ERR_IO       a file or folder cannot be written */
vpu_status init_layer(const init_job *job, arena *a, init_result *out,
                      vpu_error *err);

/* The words that compile_flags.txt of a layer has, one a line. include: as
 * init_result's. In the arena. */
const char *init_flags(const char *include, arena *a);

#endif
