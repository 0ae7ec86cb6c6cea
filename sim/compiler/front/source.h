/* The OpenCL C a .bin carries: preprocessed, in a form so plain that a compiler
 * can be given it from strangers.
 *
 * Lines are line marks (# N "file"), pragmas of a short list, or tokens of C.
 * There are no directives, comments, spliced lines, trigraphs or digraphs for
 * '#', so no other file is read for it, and no macro is defined in it. */
#ifndef VPU_SIM_COMPILER_FRONT_SOURCE_H
#define VPU_SIM_COMPILER_FRONT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

enum { SOURCE_MAX_BYTES = 16 << 20 };

/* The user's part of what clang -E wrote: without that of the file hidden, of
 * clang's own headers and its command line, in the form above. In the arena.
 *
 * VPU_ERR_UNSUPPORTED  something that form has not (message: the line) */
vpu_status source_plain(const char *preprocessed, const char *hidden, arena *a,
                        char **out, vpu_error *err);

/* Whether two such texts say the same, wherever their lines are from. */
bool source_same(const char *x, const char *y);

/* Whether n bytes, which somebody says are such a text, are one: a copy with a
 * zero behind it, in the arena.
 *
 * VPU_ERR_PARSE  they are not (message: line, what was found)
 * VPU_ERR_LIMIT  more than SOURCE_MAX_BYTES */
vpu_status source_check(const void *text, size_t n, arena *a, char **out,
                        vpu_error *err);

#endif
