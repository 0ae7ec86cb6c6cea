/* vpu sweep: many points of a manifest, computed, gathered, compared. A row
 * each. */
#include "runtime/cli/sweep.h"
#include "runtime/cli/sweep_slurm.h"

static const cli_command *const parts[] = {&cli_sweep_plan,
                                           &cli_sweep_run,
                                           &cli_sweep_work,
                                           &cli_sweep_list,
                                           &cli_sweep_gather,
                                           &cli_sweep_report,
                                           &cli_sweep_serve,
                                           &cli_sweep_slurm,
                                           &cli_sweep_submit,
                                           &cli_sweep_status,
                                           NULL};

static int sweep_main(int argc, char **argv)
{
    return cli_no_part(&cli_sweep, argc > 1 ? argv[1] : NULL);
}

const cli_command cli_sweep = {
    .name = "sweep",
    .summary = "run a layer at very many points: shapes, machines, sizes",
    .head =
        "usage: vpu sweep COMMAND ...\n\n"
        "Points of a manifest, a text file: layers, and what is varied. Each point is what\n"
        "`vpu run` would do with its words; its figures are a file in the sweep's folder,\n"
        "so that what is interrupted goes on, and equal points are computed once.\n"
        "docs/sweep.md has the manifest's grammar, and how to read the reports.\n\n",
    .tail = "\n"
            "vpu sweep COMMAND --help says what each one does.\n\n"
            "Example:\n"
            "  vpu sweep run grn.manifest --dir grn --jobs 2\n"
            "  vpu sweep gather grn --csv grn.csv\n",
    .main = sweep_main,
    .parts = parts};
