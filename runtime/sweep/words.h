/* Lines of a manifest as words: what stands on one line, and on those that it
 * goes on in, split as a shell would split it. */
#ifndef VPU_RUNTIME_SWEEP_WORDS_H
#define VPU_RUNTIME_SWEEP_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"

typedef struct {
    const char *path;     /* for messages */
    const char *at, *end; /* what is left of the text */
    uint32_t line;        /* of *at */
    uint32_t opened;      /* line on which the last sweep_line began */
} sweep_reader;

typedef struct {
    char **items; /* NULL at the end */
    size_t n;
} sweep_words;

void sweep_reader_open(sweep_reader *r, const file_bytes *text);

/* The next line that has words, in the arena; n = 0 at the end of the text. A
 * word that begins with # begins a comment, quotes keep blanks, \ takes the
 * next character as it is, and at the end of a line goes on with the next.
 *
 * VPU_ERR_PARSE  an open quote, a byte of value 0 */
vpu_status sweep_read_line(sweep_reader *r, arena *a, sweep_words *out,
                           vpu_error *err);

#endif
