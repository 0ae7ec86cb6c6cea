/* vpu calibrate: a machine's description, measured. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "runtime/calibrate/say.h"
#include "runtime/cli/cli.h"
#include "runtime/cli/offers.h"
#include "runtime/cli/stop.h"

typedef struct {
    const char *backend, *output, *report, *kernels, *write, *machine;
    options_list sets;
    uint32_t n_shaves, orders, repeats, n_threads;
    uint64_t seed;
    double precision; /* percent */
    backend_stick_options stick;
    bool json, quiet;
} calibrate_options;

#define AT(field) offsetof(calibrate_options, field)

static const cli_option rows[] = {
    {"backend", "ID", OPTION_NAME, AT(backend), .offer = offers_devices,
     .help =
         "what is measured: usb, usb:\u2026 (a stick; vpu devices), or sim"},
    {"output", "FILE.xml", OPTION_NAME, AT(output),
     .help = "the machine's description; standard output has the findings"},
    {"report", "FILE.html", OPTION_NAME, AT(report),
     .help = "a page with all cases and what the model leaves of them"},
    {"json", NULL, OPTION_FLAG, AT(json), .help = "the findings as JSON"},
    {"write", "DIR", OPTION_NAME, AT(write),
     .help = "write the kernels and a script that compiles them with the "
             "vendor's clc, and measure nothing"},
    {"kernels", "DIR", OPTION_NAME, AT(kernels),
     .help = "such a folder, compiled; without it kernels are compiled here, "
             "which a real stick does not take"},
    {"shaves", "N", OPTION_COUNT, AT(n_shaves),
     .help = "leave out cases of more SHAVEs (default 16)"},
    {"orders", "N", OPTION_COUNT, AT(orders),
     .help = "random orders of the cases (default 3)"},
    {"repeat", "N", OPTION_COUNT, AT(repeats),
     .help = "times of each case in each order (default 16)"},
    {"seed", "N", OPTION_NUMBER, AT(seed), .help = "of the orders (default 1)"},
    {"precision", "PERCENT", OPTION_SECONDS, AT(precision),
     .help = "a number is found when it is known to so much (default 5)"},
    {"machine", "FILE", OPTION_TEXT, AT(machine),
     .help = "the description to begin with (default: the built-in one); it "
             "keeps what is not found"},
    {"set", "KEY=VALUE", OPTION_LIST, AT(sets), .offer = offers_numbers,
     .help = "override one of its numbers (see vpu machine)"},
    {"quiet", NULL, OPTION_FLAG, AT(quiet), .help = "no notes"}};
static const cli_options own_options = CLI_OPTIONS(rows);

static const cli_option stick_rows[] = {
    {.kind = OPTION_HEADING, .help = "On a stick:"}};
static const cli_options stick_heading = CLI_OPTIONS(stick_rows);

static const cli_table tables[] = {
    {&own_options, 0}, {&stick_heading, 0}, {&cli_stick_options, AT(stick)}};

typedef struct {
    calibrate_options o;
    arena *a;
    log_sink log;
    mach_desc start;
    measure_result measured;
    fit_config fit;
    fit_result found;
} session;

static int parse(int argc, char **argv, calibrate_options *o, arena *a)
{
    options_line line = {.argc = argc, .argv = argv};
    int rc = cli_parse(&cli_calibrate, o, &line, a);

    if (rc)
        return rc;
    if (line.n_words)
        return cli_usage(&cli_calibrate, "unexpected '%s'", line.words[0]);
    if (!o->backend && !o->write)
        return cli_usage(&cli_calibrate, "--backend says what is measured");
    if (o->backend && o->write)
        return cli_usage(&cli_calibrate,
                         "--write and --backend: one of them at a time");
    if (!(o->precision > 0 && o->precision <= 100))
        return cli_usage(&cli_calibrate, "--precision is from 0 to 100");
    return CLI_OK;
}

static vpu_status measure(session *s, vpu_error *err)
{
    calibrate_options *o = &s->o;
    measure_config cfg = {.folder = o->kernels,
                          .n_shaves = o->n_shaves,
                          .orders = o->orders,
                          .repeats = o->repeats,
                          .seed = o->seed};
    vpu_status st = backend_find(o->backend, &cfg.ops, &cfg.run.device, err);

    if (st)
        return st;
    o->stick.n_shaves = o->n_shaves;
    cfg.run.desc = &s->start;
    cfg.run.log = &s->log;
    cfg.run.stick = &o->stick;
    cfg.run.how.cancel = &cli_stop;
    return measure_run(&cfg, s->a, &s->measured, err);
}

static vpu_status fit_them(session *s, vpu_error *err)
{
    s->fit = (fit_config){.measured = &s->measured,
                          .start = &s->start,
                          .precision = s->o.precision / 100,
                          .log = &s->log,
                          .cancel = &cli_stop};
    return fit_run(&s->fit, s->a, &s->found, err);
}

static vpu_status write_files(session *s, vpu_error *err)
{
    vpu_status st = VPU_OK;
    str out = {0};

    if (s->o.output) {
        calibrate_machine(&s->measured, &s->found, s->a, &out);
        st = file_write(s->o.output, str_text(&out), out.n, err);
        str_free(&out);
    }
    if (s->o.report && !st) {
        calibrate_html(&s->measured, &s->fit, &s->found, &out);
        st = file_write(s->o.report, str_text(&out), out.n, err);
        str_free(&out);
    }
    return st;
}

static void show(const session *s)
{
    str out = {0};

    cli_progress_done();
    calibrate_text(&s->measured, &s->fit, &s->found, &out);
    if (s->o.json)
        cli_put_json(calibrate_json(&s->measured, &s->fit, &s->found),
                     JSONTEXT_EXACT);
    else
        cli_put_shown(stdout, str_text(&out), out.n);
    str_free(&out);
}

static vpu_status calibrate(session *s, vpu_error *err)
{
    const calibrate_options *o = &s->o;
    vpu_status st;

    if (o->write)
        return design_write(o->write, s->a, err);
    st = backend_machine(o->machine, o->sets.items, o->sets.n, o->n_shaves,
                         s->a, &s->start, err);
    if (!st)
        st = measure(s, err);
    if (!st)
        st = fit_them(s, err);
    if (!st)
        st = write_files(s, err);
    if (!st)
        show(s);
    return st;
}

static int calibrate_main(int argc, char **argv)
{
    session s = {.o = {.n_shaves = 16,
                       .orders = 3,
                       .repeats = 16,
                       .seed = 1,
                       .precision = 5,
                       .stick = {.stop = &cli_stop, .sessions = &cli_sessions}},
                 .a = arena_create(0)};
    vpu_error err = {0};
    int rc = parse(argc, argv, &s.o, s.a);

    s.log = cli_log_events(s.o.quiet);
    if (!rc && calibrate(&s, &err))
        rc = cli_fail(&err);
    if (!rc && s.found.n_unexplained)
        rc = CLI_DIFFERS;
    arena_destroy(s.a);
    return rc;
}

const cli_command cli_calibrate = {
    .name = "calibrate",
    .summary = "measure a machine's description on a stick",
    .head =
        "usage: vpu calibrate --backend ID [--output FILE.xml] [OPTIONS]\n"
        "       vpu calibrate --write DIR\n\n"
        "Runs small kernels on a stick, each many times, and finds the machine\n"
        "description that explains their times. Status 1: some cases are not\n"
        "explained, the device does something that the model does not.\n"
        "docs/calibration.md goes through it.\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail = "\n"
            "Example:\n"
            "  vpu calibrate --write kernels && sh kernels/compile.sh TOOLKIT\n"
            "  vpu calibrate --backend usb --xlink C --kernels kernels "
            "--output mine.xml\n"
            "  vpu run layer.xml --layer GRN --machine mine.xml \u2026\n",
    .main = calibrate_main};
