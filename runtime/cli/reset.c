/* vpu reset: a booted stick back to its boot loader. */
#include <getopt.h>
#include <string.h>

#include "runtime/backend/backend.h"
#include "runtime/cli/cli.h"

static int reset(const backend_stick_options *o, const char *id)
{
    const backend_ops *ops = backend_offering(BACKEND_STICK);
    const char *device = "";
    log_sink log = cli_log_events(false);
    vpu_error err = {0};

    if (id && backend_find(id, &ops, &device, &err))
        return cli_fail(&err);
    if (!ops->stick)
        return cli_usage(&cli_reset, "'%s' is no stick: usb\u2026", id);
    return ops->stick->reset(device, o, &log, &err) ? cli_fail(&err) : CLI_OK;
}

static const cli_table tables[] = {{&cli_stick_options, 0}};

static int reset_main(int argc, char **argv)
{
    backend_stick_options o = {.stop = &cli_stop, .sessions = &cli_sessions};
    arena *a = arena_create(0);
    options_line line = {.argc = argc, .argv = argv};
    int rc = cli_parse(&cli_reset, &o, &line, a);

    if (!rc && line.n_words > 1)
        rc = cli_usage(&cli_reset, "one device at a time");
    if (!rc)
        rc = reset(&o, line.n_words ? line.words[0] : NULL);
    arena_destroy(a);
    return rc;
}

const cli_command cli_reset = {
    .name = "reset",
    .summary = "bring a stick back to its boot loader",
    .head =
        "usage: vpu reset [DEVICE] --xlink A|B|C [OPTIONS]\n\n"
        "Ends whatever runs on a booted stick (after a program died, say): it comes back\n"
        "unbooted, as plugged in. Not for a stick that another program uses. DEVICE is\n"
        "usb (default: the first), usb:BUS-PORT, usb:unix:PATH or usb:tcp:ADDRESS:PORT\n"
        "(see vpu devices).\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail = "\n"
            "Example:\n"
            "  vpu reset usb:1-1.4 --xlink C\n",
    .main = reset_main};
