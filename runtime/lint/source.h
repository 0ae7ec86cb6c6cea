/* Just enough of OpenCL C's text to point into it and to change it: comments
 * blanked, kernels' signatures, loops, pragmas, returns. What macros make is
 * not seen. Positions are byte offsets. */
#ifndef VPU_RUNTIME_LINT_SOURCE_H
#define VPU_RUNTIME_LINT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

typedef struct {
    size_t name, n_name; /* the parameter's name */
    size_t star;         /* of its last '*', 0 = not a pointer */
    bool restricted;
    bool global; /* says __global or global */
    bool is_const;
} lint_source_param;

typedef struct {
    size_t name;
    const lint_source_param *params;
    uint32_t n_params;
    size_t body, end; /* of { and } */
} lint_source_kernel;

typedef struct {
    size_t first, end; /* of the keyword; of the last character */
} lint_source_span;

typedef struct {
    const char *path;
    const char *text; /* as in the file */
    size_t length;
    /* The same length; comments, literals and what #if 0 leaves out are blanks.
     */
    const char *code;
    const lint_source_span *loops; /* by their first character */
    uint32_t n_loops;
    bool includes; /* a file of the user's: lines may be of that one */
} lint_source_text;

/* VPU_ERR_IO, VPU_ERR_LIMIT as file_read. */
vpu_status lint_source_read(const char *path, arena *a, lint_source_text *out,
                            vpu_error *err);
void lint_source_position(const lint_source_text *s, size_t at, uint32_t *line,
                          uint32_t *col);
/* Offset of a position; s->length when there is none. */
size_t lint_source_offset(const lint_source_text *s, uint32_t line,
                          uint32_t col);
/* The definition of kernel `name`; false when the text shows none, or several.
 */
bool lint_source_find_kernel(const lint_source_text *s, const char *name,
                             arena *a, lint_source_kernel *out);
/* The first `return` of a kernel that something follows; 0 = none. */
size_t lint_source_early_return(const lint_source_text *s,
                                const lint_source_kernel *k);
/* The first vector type a kernel names; 0 = none. */
size_t lint_source_vector_type(const lint_source_text *s,
                               const lint_source_kernel *k);
/* The next "#pragma unroll" from offset `from`; SIZE_MAX = none. *loop is the
 * loop behind it; false in *found when none is. */
size_t lint_source_next_unroll(const lint_source_text *s, size_t from,
                               lint_source_span *loop, bool *found);
/* Is offset `at` inside a loop? */
bool lint_source_in_loop(const lint_source_text *s, size_t at);

/* The text with n bytes at `at` replaced. In the arena. */
char *lint_source_replace(const lint_source_text *s, size_t at, size_t n,
                          const char *with, arena *a);
/* The text with " restrict" behind the star of every __global pointer of the
 * kernel that has none. Lines stay. */
char *lint_source_with_restrict(const lint_source_text *s,
                                const lint_source_kernel *k, arena *a);

#endif
