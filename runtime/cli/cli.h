/* The vpu program: one file per subcommand, this is what they share. */
#ifndef VPU_RUNTIME_CLI_CLI_H
#define VPU_RUNTIME_CLI_CLI_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/child.h"
#include "base/err.h"
#include "base/log.h"

/* Set by a command that a signal is to end in order: cli_stop is set then, and
 * the command's own status is the program's. */
extern volatile sig_atomic_t cli_serving;
/* Set by a signal: sessions with sticks end soon, and leave their stick reset.
 */
extern atomic_bool cli_stop;
/* Sessions that are open: as long as there are any, a signal is theirs. */
extern atomic_int cli_sessions;

/* Exit statuses; those of errors that stop a run are in stop.h. */
enum { CLI_OK = 0, CLI_DIFFERS = 1, CLI_ERROR = 2 };

typedef struct {
    const char *name;
    const char *summary;                /* one line for `vpu --help` */
    const char *help;                   /* whole text of `vpu NAME --help` */
    int (*main)(int argc, char **argv); /* argv[0] is the subcommand */
} cli_command;

extern const cli_command cli_run, cli_diff, cli_record, cli_suite, cli_cc,
    cli_asm, cli_machine, cli_devices, cli_blob, cli_stick, cli_reset, cli_view,
    cli_trace, cli_stick_report, cli_lint, cli_check, cli_debug;

/* Warnings and notes to stderr, progress when stderr is a terminal. quiet
 * leaves warnings only. */
log_sink cli_log(bool quiet);
/* Removes a progress line, if one is shown. */
void cli_progress_done(void);

/* Text on standard output or standard error: on a terminal control characters
 * are shown, as \x1b; a file or pipe gets the bytes. When standard output does
 * not take them the program ends. */
void cli_put(FILE *f, const char *text, size_t n);
/* The same with control characters shown whatever f is: messages, findings. */
void cli_put_shown(FILE *f, const char *text, size_t n);

/* "vpu: kind: message" to stderr; returns its exit status (stop.h). */
int cli_fail(const vpu_error *err);
int cli_usage(const cli_command *c, const char *fmt, ...) VPU_PRINTF(2, 3);

/* What compiling may cost: values of --compile-timeout and --compile-memory.
 * False: text is none. */
bool cli_compile_time(const char *text, child_limits *out);
bool cli_compile_memory(const char *text, child_limits *out);

/* clang-format off */
#define CLI_HELP_COMPILE \
    "  --compile-timeout SECONDS\n" \
    "                          of the processor's time that compiling a kernel may\n" \
    "                          take, clang's part and ours (default 60, 0 = as long\n" \
    "                          as it takes)\n" \
    "  --compile-memory SIZE   and of memory, with K, M or G behind (default 2G, 0 =\n" \
    "                          what there is)\n"
/* clang-format on */

/* How to compile, collected from a command line; limits: as budget.h's. */
typedef struct {
    const char **words; /* for clang */
    size_t n, cap;
    child_limits limits;
} cli_clang;

/* Takes -D, -I, -U (joined or as two words), -cl-… and the two above at
 * argv[*i], leaving *i at the last word taken. False when it is another option;
 * *rc is CLI_ERROR when a value is missing or none. */
bool cli_clang_option(const cli_command *c, arena *a, int argc, char **argv,
                      int *i, cli_clang *out, int *rc);

#endif
