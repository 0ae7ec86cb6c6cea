/* vpu sweep: one file for what belongs together of its commands, and what they
 * share. */
#ifndef VPU_RUNTIME_CLI_SWEEP_H
#define VPU_RUNTIME_CLI_SWEEP_H

#include "runtime/cli/cli.h"
#include "runtime/sweep/workers.h"

/* A row each in sweep.c. */
extern const cli_command cli_sweep_plan, cli_sweep_run, cli_sweep_work,
    cli_sweep_list, cli_sweep_gather, cli_sweep_report, cli_sweep_serve;

/* Freezes the files that the manifest's words name: finds them, copies them
 * below dir/files, and rewrites the words. Then plans the folder.
 *
 * VPU_ERR_INVALID  words that vpu run does not take, or that sweeps have no use
 *                  for
 * and errors of sweep_files_add and sweep_store_plan */
vpu_status cli_sweep_freeze(const char *manifest, const char *dir, arena *a,
                            vpu_error *err);
/* VPU_ERR_MISMATCH  the manifest, or a file that it names, is not what was
 *                   frozen in dir (message: which, and what to do) */
vpu_status cli_sweep_unchanged(const char *manifest, const char *dir, arena *a,
                               vpu_error *err);

/* The words as `vpu run` takes them, into argv, which has room for two more:
 * how many. The values of --expect, which it does not know, into the list. */
int cli_sweep_arguments(const sweep_words *words, options_list *expects,
                        char **argv, arena *a);
/* The largest difference between outputs of a graph that has run and what they
 * should be; 0 without any.
 *
 * VPU_ERR_INVALID   no such output
 * VPU_ERR_MISMATCH  another number of elements
 * and errors of npy_read */
vpu_status cli_sweep_measure(const options_list *expects, vpu_graph *g,
                             arena *a, double *worst, vpu_error *err);

/* A point, as sweep_workers_config.compute has it; user: a uint32_t, the host
 * threads of points whose words do not say how many. */
vpu_status cli_sweep_point(void *user, const sweep_words *words, json_t **out,
                           vpu_error *err);

/* The part of a machine's processors that each of so many jobs has. */
uint32_t cli_sweep_threads(uint32_t jobs);

/* What workers are started with, but for limits, jobs and parts. threads: host
 * threads of a point, which must live as long. */
sweep_workers_config cli_sweep_config(uint32_t *threads);
/* --timeout and --memory; of a cli_sweep_limits. */
typedef struct {
    double timeout_s;
    uint64_t memory;
} cli_sweep_limits;
extern const cli_options cli_sweep_limit_options;
enum { CLI_SWEEP_TIMEOUT = 3600 };

/* The command line as main got it, from a part's argc and argv; before they are
 * parsed, which changes their order. */
char **cli_sweep_line(int argc, char **argv, arena *a);
/* Goes on as the program that dir has frozen, unless this is it. Returns when
 * it is. VPU_ERR_IO: it cannot be started. */
vpu_status cli_sweep_become(const char *dir, char **argv, arena *a,
                            vpu_error *err);

#endif
