/* Cases of a suite: files that hold the words of a `vpu diff`.
 *
 *   # GRN against its definition           a comment, to the end of the line
 *   layer.xml --layer GRN                  words, as a shell would split them
 *   --shape in0=1x16x24x40 --param bias=1.0
 *   --b "host:my plug-ins/grn.so"          quotes keep blanks; \ escapes
 *
 * Paths are meant from the folder of the file. */
#ifndef VPU_RUNTIME_SUITE_CASE_H
#define VPU_RUNTIME_SUITE_CASE_H

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"

typedef struct {
    const char *path; /* of the file */
    const char *name; /* path from the folder asked for, without ".case" */
    const char *dir;  /* of the file */
    char **words;     /* NULL at the end */
    size_t n_words;
} suite_case;

/* A file's text; its path also places the folder. path and name stay borrowed.
 *
 * VPU_ERR_PARSE  an open quote, a NUL byte, or no words (file:line) */
vpu_status case_parse(const file_bytes *text, const char *name, arena *a,
                      suite_case *out, vpu_error *err);

/* All files *.case below path, a folder, in order of name; or path itself, a
 * file. Symbolic links to folders are not followed.
 *
 * VPU_ERR_IO     cannot be read, or there are none
 * VPU_ERR_LIMIT  a file longer than 64 KiB
 * and those of case_parse */
vpu_status case_find(const char *path, arena *a, suite_case **out, size_t *n,
                     vpu_error *err);

/* The value behind option, as "--b x" or "--b=x"; NULL when it is not there. */
const char *case_option(const suite_case *c, const char *option);

#endif
