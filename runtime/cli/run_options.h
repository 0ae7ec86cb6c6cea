/* The options of vpu run. */
#ifndef VPU_RUNTIME_CLI_RUN_OPTIONS_H
#define VPU_RUNTIME_CLI_RUN_OPTIONS_H

#include "runtime/cli/target.h"

typedef struct {
    target_options target;
    const char *backend; /* id */
    const backend_ops *ops;
    const char *output, *trace, *trace_json, *vcd, *folded, *kanata;
    const char *tuned; /* file of tuned sizes to take; NULL = none */
    uint32_t repeat, executors;
    uint32_t profile; /* lines in the table, 0 = none */
    uint64_t kanata_group;
    uint32_t kanata_bundles;
    uint64_t trace_bundles; /* of this work-group, UINT64_MAX = of none */
    int trace_level;        /* a vpu_trace_level - 1 */
    bool trace_host, view, json, no_advice;
    const char *roofline, *local;
    bool check;           /* before it runs */
    const char *checkers; /* NULL = the default ones */
    bool gdb;
    sim_debug debug; /* for gdb */
} run_options;

/* What the library is asked for, without callbacks. */
vpu_run_options run_options_words(const run_options *o);
/* CLI_OK, or the exit status after saying what is wrong. */
int run_options_parse(int argc, char **argv, run_options *o, arena *a);

/* vpu run, in run.c. */
int cli_run_main(int argc, char **argv);

#endif
