/* vpu machine: the numbers the timing model uses, and where they come from. */
#include <getopt.h>
#include <stdio.h>

#include "runtime/cli/cli.h"
#include "sim/machine/desc.h"

static const char help[] =
    "usage: vpu machine [--machine FILE] [--set KEY=VALUE]…\n\n"
    "Prints the machine description: every parameter of the timing model with\n"
    "value, unit, status (documented, inferred, calibrated, assumed) and "
    "source.\n"
    "\n"
    "  --machine FILE    another description than the built-in MA2x8x\n"
    "  --set KEY=VALUE   override one number\n\n"
    "Examples:\n"
    "  vpu machine\n"
    "  vpu machine --set ddr_load_stall=200 | grep ddr_\n";

static int machine_main(int argc, char **argv)
{
    static const struct option options[] = {
        {"machine", required_argument, NULL, 'm'},
        {"set", required_argument, NULL, 's'},
        {NULL, 0, NULL, 0}};
    arena *a = arena_create(0);
    const char *path = NULL;
    vpu_error err = {0};
    mach_desc desc;
    str out = {0};
    int c, rc = CLI_OK;
    vpu_status st = VPU_OK;

    /* The file first, wherever it stands, then the overrides. */
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 'm')
            path = optarg;
        else if (c == '?')
            rc = CLI_ERROR;
    }
    if (rc || optind < argc) {
        arena_destroy(a);
        return cli_usage(&cli_machine, "unexpected arguments");
    }
    st = mach_desc_load(path, a, &desc, &err);
    optind = 1;
    while (!st && (c = getopt_long(argc, argv, "", options, NULL)) != -1)
        if (c == 's')
            st = mach_desc_set(&desc, a, optarg, &err);
    if (st) {
        rc = cli_fail(&err);
    } else {
        mach_desc_print(&desc, &out);
        fputs(str_text(&out), stdout);
    }
    str_free(&out);
    arena_destroy(a);
    return rc;
}

const cli_command cli_machine = {"machine", "print the machine description",
                                 help, machine_main};
