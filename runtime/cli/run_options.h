/* The options of vpu run. */
#ifndef VPU_RUNTIME_CLI_RUN_OPTIONS_H
#define VPU_RUNTIME_CLI_RUN_OPTIONS_H

#include "base/trace/writer.h"
#include "runtime/check/layer.h"
#include "runtime/cli/target.h"

typedef struct {
    target_options target;
    const char *backend; /* id */
    const backend_ops *ops;
    const char *device; /* of the id */
    const char *output, *trace, *trace_json, *vcd, *folded, *kanata;
    const char *tuned; /* file of tuned sizes to take; NULL = none */
    uint32_t repeat;
    uint32_t profile; /* lines in the table, 0 = none */
    uint64_t kanata_group;
    uint32_t kanata_bundles;
    trc_level trace_level;
    bool trace_host, view, json;
    bool check; /* before it runs */
    check_set checkers;
    bool gdb;
    sim_debug debug; /* for gdb */
} run_options;

/* CLI_OK, or the exit status after saying what is wrong. */
int run_options_parse(int argc, char **argv, run_options *o, arena *a);

/* vpu run, in run.c. */
int cli_run_main(int argc, char **argv);

#endif
