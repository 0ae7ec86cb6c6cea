/* Subcommands of `vpu sweep` that are about Slurm, and what they share. */
#ifndef VPU_RUNTIME_CLI_SWEEP_SLURM_H
#define VPU_RUNTIME_CLI_SWEEP_SLURM_H

#include "runtime/cli/cli.h"
#include "runtime/sweep/status.h"

extern const cli_command cli_sweep_slurm, cli_sweep_submit, cli_sweep_status;

typedef struct {
    const char *given; /* the folder's name, as it was written */
    sweep_store store;
    sweep_status points;
    slurm_record record;
    slurm_tasks tasks;
} cli_sweep_view;

/* Opens the folder `given`, and looks which points have results. extend: of
 * halving, the next round is planned first when it can be. */
vpu_status cli_sweep_open(cli_sweep_view *s, bool extend, arena *a,
                          vpu_error *err);
/* Asks squeue about all jobs of the record. */
vpu_status cli_sweep_ask(cli_sweep_view *s, arena *a, vpu_error *err);
/* The one word of a command line, the folder. CLI_OK, or the exit status after
 * saying what is wrong. */
int cli_sweep_take(const cli_command *c, const options_line *line,
                   cli_sweep_view *s);

#endif
