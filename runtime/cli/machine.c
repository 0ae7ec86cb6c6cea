/* vpu machine: the numbers the timing model uses, and where they come from; and
 * the modes of the simulator. */
#include <stdio.h>

#include "runtime/cli/cli.h"
#include "runtime/cli/offers.h"
#include "runtime/report/machine.h"
#include "sim/machine/desc.h"

typedef struct {
    const char *path;
    options_list sets;
    bool json;
} machine_options;

static const cli_option rows[] = {
    {"machine", "FILE", OPTION_TEXT, offsetof(machine_options, path),
     .help = "another description than the built-in MA2x8x"},
    {"set", "KEY=VALUE", OPTION_LIST, offsetof(machine_options, sets),
     .offer = offers_numbers, .help = "override one number"},
    {"json", NULL, OPTION_FLAG, offsetof(machine_options, json),
     .help = "the description as JSON"}};
static const cli_options own_options = CLI_OPTIONS(rows);
static const cli_table tables[] = {{&own_options, 0}};

static int show(const machine_options *o, arena *a)
{
    vpu_error err = {0};
    mach_desc desc;
    str out = {0};
    vpu_status st = mach_desc_load(o->path, a, &desc, &err);

    for (uint32_t i = 0; i < o->sets.n && !st; i++)
        st = mach_desc_set(&desc, a, o->sets.items[i], &err);
    if (st)
        return cli_fail(&err);
    if (o->json)
        jsontext_add(&out, report_machine_json(&desc), JSONTEXT_EXACT);
    else
        mach_desc_print(&desc, &out);
    cli_put(stdout, str_text(&out), out.n);
    str_free(&out);
    return CLI_OK;
}

static int machine_main(int argc, char **argv)
{
    arena *a = arena_create(0);
    machine_options o = {.path = NULL};
    options_line line = {.argc = argc, .argv = argv};
    int rc = cli_parse(&cli_machine, &o, &line, a);

    if (!rc && line.n_words)
        rc = cli_usage(&cli_machine, "unexpected '%s'", line.words[0]);
    if (!rc)
        rc = show(&o, a);
    arena_destroy(a);
    return rc;
}

const cli_command cli_machine = {
    .name = "machine",
    .summary = "print the machine description",
    .head =
        "usage: vpu machine [--machine FILE] [--set KEY=VALUE]\u2026\n\n"
        "Prints the machine description: every parameter of the timing model with\n"
        "value, unit, status (documented, inferred, calibrated, assumed) and source;\n"
        "then the modes of the simulator, which change no result.\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail = "\n"
            "Examples:\n"
            "  vpu machine\n"
            "  vpu machine --set ddr_load_stall=200 | grep ddr_\n",
    .main = machine_main};
