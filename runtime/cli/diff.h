/* What `vpu diff` and the commands around it share. */
#ifndef VPU_RUNTIME_CLI_DIFF_H
#define VPU_RUNTIME_CLI_DIFF_H

#include "runtime/cli/target.h"

/* A limit on cycles: so many times those of the other side, 0 = none; whether
 * it counts only where both sides count cycles. */
typedef struct {
    double times;
    bool if_known;
} cli_limit;

/* --max-slowdown, of a cli_limit. */
bool cli_take_limit(void *fields, const char *value, arena *a);

/* Words of a command line that an option of `vpu diff` alone takes, itself
 * included; 0 when word is no such option. */
int cli_diff_own_option(const char *word);

/* What kernels print, to stderr: standard output is the report's. */
void cli_print_aside(void *user, const char *text, size_t n);

#endif
