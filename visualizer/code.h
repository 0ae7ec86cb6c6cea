/* The parts of a line of OpenCL C, for their colours: no more of the language
 * than that needs. */
#ifndef VPU_VISUALIZER_CODE_H
#define VPU_VISUALIZER_CODE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    CODE_PLAIN, /* names, operators, blanks */
    CODE_WORD,
    CODE_TYPE,
    CODE_NUMBER,
    CODE_STRING,
    CODE_COMMENT,
    CODE_DIRECTIVE, /* of the preprocessor */
    CODE_N_KINDS
} code_kind;

/* The part that text begins with, at least one byte unless the text is empty:
 * its bytes, its kind. in_comment: a comment of several lines goes on; written
 * for what comes behind. begins: the line does. */
size_t code_next(const char *text, bool begins, bool *in_comment,
                 code_kind *kind);
/* Whether a comment is open behind a whole line. */
bool code_after(const char *line, bool in_comment);

#endif
