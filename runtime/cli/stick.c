/* vpu stick: a virtual stick, on USB or behind a socket. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "runtime/backend/backend.h"
#include "runtime/cli/cli.h"
#include "runtime/cli/ending.h"
#include "runtime/cli/offers.h"
#include "runtime/cli/stop.h"
#include "runtime/link/transport.h"
#include "runtime/link/xlink_log.h"
#include "runtime/stick/isolate.h"
#include "runtime/stick/program.h"
#include "runtime/stick/stick.h"
#include "runtime/stick/usbip.h"
#include "sim/compiler/store/kcache.h"

/* 18 digits: so many Luxonis' hosts read from the boot ROM and look for in the
 * booted stick [V]. Logs of booted ones have about 14 [L]. */
#define DEFAULT_SERIAL "14442C10218CCCD200"

enum { MAX_FAULTS = 16, ACCEPT_MS = 200, MAX_SERIAL = 64 };

typedef struct {
    const char *listen, *layout, *log, *machine;
    options_list sets;
    mach_desc desc;
    stick_config c;
    isolate_config apart; /* how sessions get a process of their own */
    stick_fault faults[MAX_FAULTS];
    const char *serial;
    char usbip_address[64]; /* "" = this machine's own USB */
    unsigned usbip_port;
    bool usbip, super, once, quiet, stages;
} stick_options;

static bool add_fault(stick_options *o, const char *text)
{
    vpu_error err;

    if (o->c.n_faults == MAX_FAULTS)
        return false;
    if (stick_fault_parse(text, &o->faults[o->c.n_faults], &err)) {
        cli_fail(&err);
        return false;
    }
    o->c.n_faults++;
    return true;
}

static bool usbip_at(stick_options *o, const char *text)
{
    const char *colon = text ? strchr(text, ':') : NULL;
    size_t n = colon ? (size_t)(colon - text) : text ? strlen(text) : 0;
    unsigned long long port = 0;

    o->usbip = true;
    if (!text)
        return true;
    if (!n || n >= sizeof o->usbip_address ||
        (colon &&
         (!str_to_u64(colon + 1, &port) || !port || port > UINT16_MAX)))
        return false;
    memcpy(o->usbip_address, text, n);
    o->usbip_port = (unsigned)port;
    return true;
}

static bool take_fault(void *fields, const char *value, arena *a)
{
    (void)a;
    return add_fault(fields, value);
}

static bool take_usbip(void *fields, const char *value, arena *a)
{
    (void)a;
    return usbip_at(fields, value);
}

static bool take_speed(void *fields, const char *value, arena *a)
{
    stick_options *o = fields;

    (void)a;
    o->super = !strcmp(value, "super");
    return o->super || !strcmp(value, "high");
}

static bool take_serial(void *fields, const char *value, arena *a)
{
    (void)a;
    ((stick_options *)fields)->serial = value;
    return *value && strlen(value) <= MAX_SERIAL;
}

static bool take_layout(void *fields, const char *value, arena *a)
{
    stick_options *o = fields;

    (void)a;
    o->layout = value;
    return xlink_layout_parse(value, &o->c.layout);
}

static bool take_link(void *fields, const char *value, arena *a)
{
    (void)a;
    return stick_link_parse(value, &((stick_options *)fields)->c.link);
}

static bool take_noise(void *fields, const char *value, arena *a)
{
    (void)a;
    return stick_noise_parse(value, &((stick_options *)fields)->c.noise);
}

static bool take_log(void *fields, const char *value, arena *a)
{
    stick_options *o = fields;

    (void)a;
    o->log = value ? value : "-";
    return *o->log;
}

#define AT(field) offsetof(stick_options, field)

static const cli_option rows[] = {
    {"xlink", "A|B|C", OPTION_OTHER, .take = take_layout,
     .help = "layout of its packets: OpenVINO up to 2021.4.1, 2021.4.2 and "
             "2022.1, 2022.2 and later"},
    {"listen", "ADDRESS", OPTION_NAME, AT(listen),
     .help = "tcp:127.0.0.1:PORT (0: a free one) or unix:PATH; the address to "
             "connect to is printed"},
    {"usbip", "[=ADDRESS[:PORT]]", OPTION_OTHER, .take = take_usbip,
     .help = "plug it into this machine's USB (root, module vhci-hcd): it "
             "waits for firmware, like a real one; with an address, for usbip "
             "attach -r ADDRESS -b 1-1, again after the boot and after each "
             "reset; port 3240 if none is given"},
    {"usb-speed", "high|super", OPTION_OTHER, .take = take_speed,
     .help = "of the booted stick (default high)"},
    {"serial", "TEXT", OPTION_OTHER, .take = take_serial,
     .help = "of the booted stick's USB descriptor"},
    {"kernels", "DIR", OPTION_NAME, AT(c.kernels),
     .help = ".cl files, for kernels compiled by the vendor's clc"},
    {"machine", "FILE", OPTION_NAME, AT(machine),
     .help = "the machine that it is (vpu machine); default: the built-in one"},
    {"set", "KEY=VALUE", OPTION_LIST, AT(sets), .offer = offers_numbers,
     .help = "with another number of it; may be given several times"},
    {"time-noise", "PERCENT[:SEED]", OPTION_OTHER, .take = take_noise,
     .help = "stage times scatter as measured ones do: normally distributed, "
             "of this deviation (0 to 20)"},
    {"link", "NAME", OPTION_OTHER, .take = take_link,
     .help = "how fast bytes go (below)"},
    {"fault", "NAME[:N]", OPTION_OTHER, .take = take_fault,
     .help = "do something wrong (below); may be repeated"},
    {"once", NULL, OPTION_FLAG, AT(once),
     .help = "end after the first session: status 0 if it ended with a reset, "
             "1 if not"},
    {"log", "[=FILE]", OPTION_OTHER, .take = take_log,
     .help = "every packet as a line, to FILE or standard error"},
    {"threads", "N", OPTION_COUNT, AT(c.n_threads),
     .help = "host threads that run kernels (default: all)"},
    {"timeout", "SECONDS", OPTION_SECONDS, AT(c.timeout_s),
     .help =
         "stop a stage after this much host time (default 3600, 0 = never)"},
    {"watchdog", "SECONDS", OPTION_SECONDS, AT(c.watchdog_s),
     .help = "reboot when a host that sent pings sends none for so long "
             "(default 15 [U], 0 = never: for hosts under a debugger)"},
    {"quiet", NULL, OPTION_FLAG, AT(quiet), .help = "no notes"},
    {"stages", NULL, OPTION_FLAG, AT(stages),
     .help = "list the stages of blobs that run, and serve nothing"}};
static const cli_options own_options = CLI_OPTIONS(rows);
static const cli_table tables[] = {{&own_options, 0}};

static int parse(int argc, char **argv, stick_options *o, arena *a)
{
    options_line line = {.argc = argc, .argv = argv};
    int rc = cli_parse(&cli_stick, o, &line, a);

    if (rc)
        return rc;
    if (line.n_words)
        return cli_usage(&cli_stick, "unexpected '%s'", line.words[0]);
    if (o->stages)
        return CLI_OK;
    if (!o->layout)
        return cli_usage(&cli_stick,
                         "--xlink A, B or C says which OpenVINO it is for");
    if (!o->listen && !o->usbip)
        return cli_usage(&cli_stick,
                         "--listen says where: tcp:127.0.0.1:0 or unix:PATH; "
                         "or --usbip");
    if (o->listen && o->usbip)
        return cli_usage(&cli_stick, "--listen and --usbip: one of them");
    return CLI_OK;
}

/* The session's process goes on as this program. */
static void begin_session(void)
{
    ending_begin_anew();
    stop_leave_crashes(); /* the parent says it, and removes what is left */
}

typedef struct {
    const stick_options *o;
    transport *t;
} session;

static int run_session(void *arg)
{
    const session *s = arg;
    stick_end how;
    vpu_error err;

    if (stick_serve(s->t, &s->o->c, &how, &err))
        log_warn(s->o->c.log, "the session ended: %s", err.msg);
    else
        log_note(s->o->c.log,
                 how == STICK_RESET ? "reset by the host" : "stopped");
    return (int)how;
}

/* In a process of its own; t is taken over. A crash is a stick that is gone. */
static vpu_status serve_one(const stick_options *o, transport *t,
                            stick_end *how, vpu_error *err)
{
    session s = {o, t};
    isolate_session child;
    int value = STICK_GONE;
    vpu_status st = isolate_start(&o->apart, transport_socket(t), run_session,
                                  &s, &child, err);

    transport_close(t);
    if (!st)
        st = isolate_wait(&o->apart, &child, NULL, NULL, &value, err);
    *how = st == VPU_ERR_STOPPED ? STICK_STOPPED : (stick_end)value;
    if (st == VPU_ERR_FAULT)
        log_warn(o->c.log, "the session ended: %s", err->msg);
    return st == VPU_ERR_FAULT || st == VPU_ERR_STOPPED ? VPU_OK : st;
}

/* Sessions, one after the other, until a signal. */
static int serve(const stick_options *o, transport_listener *l, vpu_error *err)
{
    while (!atomic_load(&cli_stop)) {
        transport *t;
        stick_end how;
        vpu_status st = transport_accept(l, ACCEPT_MS, &t, err);

        if (st == VPU_ERR_LIMIT)
            continue;
        if (!st)
            st = serve_one(o, t, &how, err);
        if (st)
            return cli_fail(err);
        if (o->once)
            return how == STICK_GONE ? CLI_DIFFERS : CLI_OK;
    }
    return CLI_OK;
}

static int listen_and_serve(stick_options *o, vpu_error *err)
{
    transport_listener *l;
    int rc;

    if (transport_listen(o->listen, &l, err))
        return cli_fail(err);
    printf("%s\n", transport_listener_address(l));
    fflush(stdout);
    rc = serve(o, l, err);
    transport_unlisten(l);
    return rc;
}

static vpu_status serve_usb(void *user, transport *link,
                            const atomic_bool *stop, vpu_error *err)
{
    const stick_options *o = user;
    stick_end how;

    (void)stop; /* the same as c.stop */
    return stick_serve(link, &o->c, &how, err);
}

static void say_ready(void *user)
{
    const stick_options *o = user;

    if (!*o->usbip_address)
        printf("plugged in\n");
    else
        printf("usbip attach -r %s -b 1-1\n", o->usbip_address);
    fflush(stdout);
}

static uint64_t fault_bytes(const stick_options *o, stick_fault_kind k)
{
    const stick_fault *f = stick_fault_find(o->faults, o->c.n_faults, k);

    return f ? f->number : UINT64_MAX;
}

static int run_usbip(stick_options *o, vpu_error *err)
{
    usbip_config c = {
        .address = *o->usbip_address ? o->usbip_address : NULL,
        .port = o->usbip_port,
        .super = o->super,
        .once = o->once,
        .serial = o->serial ? o->serial : DEFAULT_SERIAL,
        .faults = {fault_bytes(o, STICK_FAULT_usb_stall_in),
                   fault_bytes(o, STICK_FAULT_usb_stall_out),
                   fault_bytes(o, STICK_FAULT_usb_unplug_boot),
                   fault_bytes(o, STICK_FAULT_usb_no_boot) != UINT64_MAX},
        .serve = serve_usb,
        .user = o,
        .isolate = &o->apart,
        .stop = o->c.stop,
        .log = o->c.log,
        .ready = say_ready};

    return usbip_run(&c, err) ? cli_fail(err) : CLI_OK;
}

/* The cache of sessions is apart: what kernels of strangers leave there no
 * other command runs. */
static void set_apart(stick_options *o, FILE *file, arena *a)
{
    o->apart = (isolate_config){.kernels = o->c.kernels,
                                .cache = kcache_apart("stick", a, o->c.log),
                                .log_fd = file ? fileno(file) : -1,
                                .begin = begin_session,
                                .stop = o->c.stop,
                                .log = o->c.log};
    isolate_warn(&o->apart);
}

static int list_stages(arena *a)
{
    str out = {0};

    stick_stages(&out);
    cli_put(stdout, str_text(&out), out.n);
    str_free(&out);
    arena_destroy(a);
    return CLI_OK;
}

static int stick_main(int argc, char **argv)
{
    stick_options o = {
        .c = {.timeout_s = 3600, .watchdog_s = 15, .stop = &cli_stop}};
    xlink_log *packets = NULL;
    FILE *file = NULL;
    vpu_error err = {0};
    log_sink log;
    arena *a = arena_create(0);
    int rc = parse(argc, argv, &o, a);

    if (rc) {
        arena_destroy(a);
        return rc;
    }
    if (o.stages)
        return list_stages(a);
    log = cli_log_events(o.quiet);
    log.progress = NULL;
    o.c.log = &log;
    o.c.faults = o.faults;
    if (o.log && strcmp(o.log, "-") && file_log_open(o.log, &file, &err))
        rc = cli_fail(&err);
    if (!rc &&
        backend_machine(o.machine, o.sets.items, o.sets.n, 0, a, &o.desc, &err))
        rc = cli_fail(&err);
    o.c.desc = &o.desc;
    if (!rc && o.log &&
        xlink_log_create(&(xlink_log_config){.layout = o.c.layout,
                                             .device = true,
                                             .file = file ? file : stderr},
                         &packets, &err))
        rc = cli_fail(&err);
    if (packets)
        o.c.watch = xlink_log_watch(packets);
    cli_serving = 1;
    set_apart(&o, file, a);
    if (!rc)
        rc = o.usbip ? run_usbip(&o, &err) : listen_and_serve(&o, &err);
    arena_destroy(a);
    xlink_log_free(packets);
    if (file && file_close_written(file, o.log, &err) && !rc)
        rc = cli_fail(&err);
    return rc;
}

const cli_command cli_stick = {
    .name = "stick",
    .summary = "a virtual stick, on USB or behind a socket",
    .head =
        "usage: vpu stick --xlink A|B|C --listen ADDRESS|--usbip [OPTIONS]\n\n"
        "A virtual stick: what a Myriad X is to OpenVINO's host software, on the USB of\n"
        "Linux, or, booted already, behind a socket. Custom, copy, permute and convert\n"
        "stages of the blobs it is sent run on the simulator; others are refused as a\n"
        "stick does. One host at a time; after a session the next one is a fresh stick.\n"
        "Each runs in a process without rights (docs/sandbox.md). Ends with Ctrl-C,\n"
        "status 0.\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail = "\nLinks ([?]: inferred):\n"
#define STICK_LINK(name, rate, each, about) "  " #name "\t" about "\n"
#include "runtime/stick/link.def"
            "\nFaults:\n"
#define STICK_FAULT(name, n, about) "  " #name " (" #n "): " about "\n"
#include "runtime/stick/fault.def"
            "Names may be written with '-'; N in brackets is the default.\n\n"
            "Example:\n"
            "  vpu stick --xlink C --listen unix:/tmp/stick &\n"
            "  vpu run kernels/grn/layer.xml --layer GRN --shape "
            "in0=1x16x64x64 \\\n"
            "      --param bias=1.0 --backend usb:unix:/tmp/stick --xlink C\n",
    .main = stick_main};
