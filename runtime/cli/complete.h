/* What a word of a command line may become: for the completion of shells, which
 * ask `vpu --complete`. Everything is of the rows that options are parsed by.
 */
#ifndef VPU_RUNTIME_CLI_COMPLETE_H
#define VPU_RUNTIME_CLI_COMPLETE_H

#include "runtime/cli/cli.h"

/* Appends a line for each: the whole word, a tab, what it is about. ":files"
 * alone on a line: files, too. words: those behind `vpu`, NULL at the end; the
 * last one is to be completed, and may be empty. Wrong words are no error. */
void complete_words(const cli_command *const *list, size_t n,
                    char *const *words, str *out);

#endif
