/* A line of a source file as clang shows it under a diagnostic. */
#ifndef VPU_RUNTIME_FINDINGS_SNIPPET_H
#define VPU_RUNTIME_FINDINGS_SNIPPET_H

#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

/* The last file shown, so that it is read once; all-zero at first. */
typedef struct {
    const char *path;
    const char *text;
} snippet_file;

/* The line, and "^" below column col (0 = its first character that is no
 * blank). Nothing when the file or the line cannot be read. Returns the column.
 */
uint32_t snippet_print(snippet_file *f, const char *path, uint32_t line,
                       uint32_t col, arena *a, str *out);
/* The column alone: col, or where the line's text begins; at least 1. */
uint32_t snippet_column(snippet_file *f, const char *path, uint32_t line,
                        uint32_t col, arena *a);

#endif
