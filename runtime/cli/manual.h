/* Manual pages, of the rows and texts that help is made of: what --help says a
 * page says, too. */
#ifndef VPU_RUNTIME_CLI_MANUAL_H
#define VPU_RUNTIME_CLI_MANUAL_H

#include "runtime/cli/cli.h"

/* Appends the page of a command in mdoc(7), vpu-NAME(1). A command's parts have
 * pages of their own. parent: the command that it is a part of, NULL = none.
 * date: "November 27, 2026". */
void manual_page(const cli_command *c, const cli_command *parent,
                 const char *date, str *out);
/* Appends vpu(1): the n commands with a line each, the variables of the
 * environment, files. */
void manual_front(const cli_command *const *list, size_t n, const char *date,
                  str *out);
/* A page's name, vpu-sweep-plan; appended. */
void manual_name(const cli_command *c, str *out);

#endif
