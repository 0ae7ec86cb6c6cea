/* vpu debug: a layer's kernels by source line or bundle, without gdb. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "runtime/cli/cli.h"
#include "runtime/cli/ending.h"
#include "runtime/cli/stop.h"
#include "runtime/cli/target.h"
#include "runtime/debug/debug.h"

static const char help[] =
    "usage: vpu debug LAYER.xml [OPTIONS]\n\n"
    "Runs a custom layer under commands: breakpoints, stepping by source "
    "line,\n"
    "forwards and backwards, variables, tensors by their coordinates. `help` "
    "lists\n"
    "the commands, docs/debugging.md shows a session. One SHAVE, one thread, "
    "no\n"
    "cycles.\n\n"
    "  -x FILE                 commands from FILE first, then from standard "
    "input\n"
    "  --bundles               the SHAVE program, bundle by bundle, instead of "
    "the\n"
    "                          source; variables are in registers then and "
    "not shown\n" TARGET_HELP_LAYER "How it runs:\n"
    "  --machine FILE, --set KEY=VALUE, --order ORDER, --no-cache, --quiet as "
    "vpu run\n\n"
    "Exit status: 0, whatever became of the kernel; 2 and above when it could "
    "not\n"
    "begin (vpu run --help).\n\n"
    "Example:\n"
    "  vpu debug kernels/grn/layer.xml --layer GRN --shape in0=1x16x4x8 \\\n"
    "      --param bias=1.0\n";

enum { OPT_BUNDLES = TARGET_OWN };

static const struct option long_options[] = {
    TARGET_LONG,
    {"bundles", no_argument, NULL, OPT_BUNDLES},
    {NULL, 0, NULL, 0}};

typedef struct {
    target_options t;
    const char *script;
    bool bundles;
    arena *a;
    log_sink log;
    target bound;
} session;

/* Options of vpu run that have no meaning here. */
static bool refused(int c)
{
    return c == TARGET_SHAVES || c == TARGET_ENGINE || c == TARGET_TIMING ||
           c == TARGET_THREADS || c == TARGET_TIMEOUT ||
           c == TARGET_MAX_CYCLES || (c >= TARGET_XLINK && c < TARGET_OWN);
}

static int parse(int argc, char **argv, session *s)
{
    int c, which = 0;

    target_init(&s->t);
    while ((c = getopt_long(argc, argv, TARGET_SHORT "x:", long_options,
                            &which)) != -1) {
        if (c == '?')
            return cli_usage(&cli_debug, "bad command line");
        if (refused(c))
            return cli_usage(&cli_debug, "--%s has no meaning here",
                             long_options[which].name);
        if (c == 'x')
            s->script = optarg;
        else if (c == OPT_BUNDLES)
            s->bundles = true;
        else if (!target_option(&s->t, c, optarg, s->a))
            return cli_usage(&cli_debug, "--%s does not take '%s'",
                             c < 256 ? "D" : long_options[which].name, optarg);
    }
    return target_check(&s->t, &cli_debug, argc, argv);
}

static vpu_status fill(void *user, uint32_t i, void *data, vpu_error *err)
{
    session *s = user;

    return target_fill(&s->t, &s->bound.g->buffers[i], s->a, data, err);
}

/* The first one stops the kernel; one more, before it did, the program. */
static void on_interrupt(int sig)
{
    if (debug_interrupted)
        ending_die_of(sig);
    debug_interrupted = 1;
}

static vpu_status run(session *s, vpu_error *err)
{
    FILE *in[2], *script = NULL;
    debug_config cfg = {.bundles = s->bundles,
                        .in = in,
                        .out = stdout,
                        .shown = isatty(1),
                        .prompt = isatty(0),
                        .fill = fill,
                        .user = s};
    vpu_status st = target_bind(&s->t, s->a, &s->log, &s->bound, err);

    if (!st)
        st = target_check_inputs(&s->t, &s->bound, s->a, err);
    if (!st && s->script) {
        st = file_stream_open(s->script, &script, err);
        if (st)
            return st;
        in[cfg.n_in++] = script;
    }
    in[cfg.n_in++] = stdin;
    cfg.g = s->bound.g;
    cfg.run = target_backend(&s->t, &s->bound);
    cfg.run.log = &s->log;
    if (cfg.prompt)
        ending_handle(SIGINT, on_interrupt);
    if (!st)
        st = debug_run(&cfg, err);
    if (script)
        fclose(script);
    return st;
}

static int debug_main(int argc, char **argv)
{
    session s = {.a = arena_create(0)};
    vpu_error err = {0};
    int rc = parse(argc, argv, &s);

    if (!rc) {
        s.log = cli_log(s.t.quiet);
        rc = run(&s, &err) ? cli_fail(&err) : CLI_OK;
    }
    arena_destroy(s.a);
    return rc;
}

const cli_command cli_debug = {
    "debug", "look into a layer's kernels while they run", help, debug_main};
