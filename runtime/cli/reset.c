/* vpu reset: a booted stick back to its boot loader. */
#include <getopt.h>
#include <string.h>

#include "runtime/backend/backend.h"
#include "runtime/cli/cli.h"

static const char help[] =
    "usage: vpu reset [DEVICE] --xlink A|B|C [OPTIONS]\n\n"
    "Ends whatever runs on a booted stick (after a program died, say): it "
    "comes "
    "back\n"
    "unbooted, as plugged in. Not for a stick that another program uses.\n\n"
    "  DEVICE                  usb (default: the first), usb:BUS-PORT, "
    "usb:unix:PATH,\n"
    "                          usb:tcp:ADDRESS:PORT (see vpu devices)\n"
    "  --xlink A|B|C           layout of its packets (see vpu run --help)\n"
    "  --firmware FILE         its firmware, which says the same\n"
    "  --xlink-log[=FILE]      every packet as a line, to FILE or standard "
    "error\n\n"
    "Example:\n"
    "  vpu reset usb:1-1.4 --xlink C\n";

static int reset_main(int argc, char **argv)
{
    static const struct option options[] = {
        {"xlink", required_argument, NULL, 'x'},
        {"firmware", required_argument, NULL, 'f'},
        {"xlink-log", optional_argument, NULL, 'l'},
        {NULL, 0, NULL, 0}};
    backend_stick_options cfg = {.stop = &cli_stop, .sessions = &cli_sessions};
    const backend_ops *ops = backend_offering(BACKEND_STICK);
    const char *device = "";
    log_sink log = cli_log(false);
    vpu_error err = {0};
    xlink_layout layout;
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
        if (c == 'x' && xlink_layout_parse(optarg, &layout))
            cfg.layout = optarg;
        else if (c == 'x')
            return cli_usage(&cli_reset, "--xlink does not take '%s'", optarg);
        else if (c == 'f')
            cfg.firmware = optarg;
        else if (c == 'l')
            cfg.log = optarg ? optarg : "-";
        else
            return cli_usage(&cli_reset, "bad command line");
    if (optind + 1 < argc)
        return cli_usage(&cli_reset, "one device at a time");
    if (optind < argc) {
        if (backend_find(argv[optind], &ops, &device, &err))
            return cli_fail(&err);
        if (!ops->stick)
            return cli_usage(&cli_reset, "'%s' is no stick: usb…",
                             argv[optind]);
    }
    return ops->stick->reset(device, &cfg, &log, &err) ? cli_fail(&err)
                                                       : CLI_OK;
}

const cli_command cli_reset = {"reset", "bring a stick back to its boot loader",
                               help, reset_main};
