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
#include "base/str.h"
#include "include/vpusim/vpu.h"
#include "runtime/backend/backend.h"
#include "runtime/cli/options.h"
#include "runtime/json/jsontext.h"

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

/* Rows of options, in the order of help. */
typedef struct {
    const cli_option *rows;
    size_t n;
} cli_options;

#define CLI_OPTIONS(rows) {rows, sizeof rows / sizeof *rows}

/* A table of options, and where the structure that it fills is in that of all
 * the command's options. */
typedef struct {
    const cli_options *options;
    size_t at;
} cli_table;

typedef struct cli_command {
    const char *name;
    const char *summary;     /* one line for `vpu --help` */
    const char *head;        /* usage, and what the command does */
    const cli_table *tables; /* of options, in the order of help */
    size_t n_tables;
    const char *tail; /* exit status, examples; NULL = nothing */
    int (*main)(int argc, char **argv); /* argv[0] is the subcommand */
    /* Commands of its own, "sweep plan"; NULL at the end. Its main gets what
     * names none of them. NULL: it has none. */
    const struct cli_command *const *parts;
} cli_command;

extern const cli_command cli_run, cli_diff, cli_record, cli_suite, cli_cc,
    cli_asm, cli_calibrate, cli_machine, cli_devices, cli_blob, cli_stick,
    cli_reset, cli_view, cli_trace, cli_stick_report, cli_lint, cli_check,
    cli_debug, cli_dap, cli_port, cli_tune, cli_whatif, cli_sweep, cli_cl,
    cli_init;

/* Warnings and notes to stderr, each text once, progress when stderr is a
 * terminal. quiet leaves warnings only. */
log_sink cli_log(bool quiet);
/* The same for what happens again and again: every line. */
log_sink cli_log_events(bool quiet);
/* The same as cli_log, of a context of the library's; its hints wait for
 * cli_tell_hints. */
void cli_context_log(vpu_context_options *o, bool quiet);
/* As notes, behind the error or the findings that they are about. */
void cli_tell_hints(void);
void cli_drop_hints(void);
/* A message of the library that begins with a member of its options,
 * "shaves 20: …", as one about an option, "--shaves 20: …"; others as they are.
 */
void cli_spell(const char *text, str *out);
/* Removes a progress line, if one is shown. */
void cli_progress_done(void);

/* Text on standard output or standard error: on a terminal control characters
 * are shown, as \x1b; a file or pipe gets the bytes. When standard output does
 * not take them the program ends. */
void cli_put(FILE *f, const char *text, size_t n);
/* The same with control characters shown whatever f is: messages, findings. */
void cli_put_shown(FILE *f, const char *text, size_t n);

/* A JSON value on standard output, as jsontext_add writes it; takes the
 * reference. */
void cli_put_json(json_t *j, int digits);

/* "vpu: kind: message" to stderr, spelt as cli_spell does; returns its exit
 * status (stop.h). */
int cli_fail(const vpu_error *err);
int cli_usage(const cli_command *c, const char *fmt, ...) VPU_PRINTF(2, 3);

/* Of n commands the one that argv[0] names, or its part that argv[1] does;
 * *words: how many words that takes. NULL: there is none. */
const cli_command *cli_find(const cli_command *const *list, size_t n,
                            char *const *argv, int *words);
/* No word, or one that is no part: says which there are. */
int cli_no_part(const cli_command *c, const char *word);
/* A line for each part. */
void cli_help_parts(const cli_command *c, str *out);

/* The text of `vpu NAME --help`. */
void cli_help(const cli_command *c, str *out);
/* Parses options of these tables into `fields`. Errors of options_parse. */
vpu_status cli_take(const cli_table *tables, size_t n, void *fields,
                    options_line *line, arena *a, vpu_error *err);
/* Parses the command's options into `fields`. CLI_OK, or the exit status after
 * saying what is wrong. */
int cli_parse(const cli_command *c, void *fields, options_line *line, arena *a);
/* Options that are about other backends than the n of `ops`: where says which
 * those are, "not with --backend null". CLI_OK, or the exit status after saying
 * so. */
int cli_check_needs(const cli_command *c, const options_needs *needs,
                    const backend_ops *const *ops, size_t n, const char *where);

/* How to talk to a stick; of a backend_stick_options. */
extern const cli_options cli_stick_options;

/* --compile-timeout and --compile-memory; of a child_limits. */
extern const cli_options cli_compile_options;

/* Words for clang, and what compiling may cost (budget.h). */
typedef struct {
    options_list words;
    child_limits limits;
} cli_clang;

/* -D, -I, -U and -cl-…; of a cli_clang. */
extern const cli_options cli_clang_options;
bool cli_take_define(void *list, const char *value, arena *a); /* -DVALUE */
bool cli_take_include(void *list, const char *value, arena *a);
/* "text" or "json": the older form of --json; of its bool. */
bool cli_take_report(void *json, const char *value, arena *a);

#endif
