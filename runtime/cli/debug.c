/* vpu debug: a layer's kernels by source line or bundle, without gdb. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "runtime/cli/cli.h"
#include "runtime/cli/ending.h"
#include "runtime/cli/run_options.h"
#include "runtime/cli/stop.h"
#include "runtime/cli/target.h"
#include "runtime/cli/typing.h"
#include "runtime/debug/debug.h"

typedef struct {
    target_options t;
    const char *script;
    bool bundles, gdb;
    arena *a;
    log_sink log;
    target bound;
    bool failed; /* a command of a script was not done */
} session;

#define AT(field) offsetof(session, field)

static const cli_option rows[] = {
    {"-x", "FILE", OPTION_TEXT, AT(script),
     .help = "commands from FILE first, then from standard input"},
    {"bundles", NULL, OPTION_FLAG, AT(bundles),
     .help = "the SHAVE program, bundle by bundle, instead of the source; "
             "variables are in registers then and not shown"},
    {"gdb", NULL, OPTION_FLAG, AT(gdb),
     .help = "your gdb instead of these commands: vpu run --gdb"}};
static const cli_options own_options = CLI_OPTIONS(rows);

static const cli_table tables[] = {{&own_options, 0},
                                   TARGET_LAYER(AT(t)),
                                   {&target_input_options, AT(t)},
                                   {&target_how_heading, 0},
                                   {&target_machine_options, AT(t)},
                                   {&target_order_options, AT(t)},
                                   {&cli_compile_options, AT(t.compile)},
                                   {&target_cache_options, AT(t)},
                                   {&target_quiet_options, AT(t)}};

static int parse(int argc, char **argv, session *s)
{
    options_line line = {.argc = argc, .argv = argv};
    int c;

    target_init(&s->t);
    c = cli_parse(&cli_debug, s, &line, s->a);
    if (!c && s->gdb && (s->script || s->bundles))
        c = cli_usage(&cli_debug, "--gdb and %s exclude each other",
                      s->script ? "-x" : "--bundles");
    return c ? c : target_check(&s->t, &cli_debug, line.words, line.n_words);
}

static vpu_status fill(void *user, uint32_t i, void *data, vpu_error *err)
{
    session *s = user;

    return target_fill(&s->t, &s->bound.graph->buffers[i], s->a, data, err);
}

static atomic_bool interrupted; /* by the signal */

/* The first one stops the kernel; one more, before it did, the program. */
static void on_interrupt(int sig)
{
    if (atomic_exchange(&interrupted, true))
        ending_die_of(sig);
}

static vpu_status run(session *s, vpu_error *err)
{
    debug_input in[2] = {
        {.name = s->script},
        {.name = "standard input", .file = stdin, .goes_on = true}};
    debug_config cfg = {.bundles = s->bundles,
                        .in = s->script ? in : in + 1,
                        .n_in = s->script ? 2 : 1,
                        .out = stdout,
                        .interrupt = &interrupted,
                        .clear = cli_progress_done,
                        .shown = isatty(1),
                        .fill = fill,
                        .user = s};
    typing *person = NULL;
    vpu_status st = target_bind(&s->t, s->a, &s->log, &s->bound, err);

    if (!st)
        st = target_check_inputs(&s->t, &s->bound, s->a, err);
    if (!st && s->script)
        st = file_stream_open(s->script, &in[0].file, err);
    if (st)
        return st;
    cfg.graph = s->bound.graph;
    cfg.run = target_backend(&s->t, &s->bound);
    cfg.run.log = &s->log;
    if (isatty(0) && (person = typing_open("(vpu) "))) {
        in[1].ask = typing_ask;
        in[1].user = person;
        ending_handle(SIGINT, on_interrupt);
    }
    st = debug_run(&cfg, &s->failed, err);
    typing_close(person);
    if (in[0].file)
        fclose(in[0].file);
    return st;
}

static int debug_main(int argc, char **argv)
{
    session s = {.a = arena_create(0)};
    vpu_error err = {0};
    int rc = parse(argc, argv, &s);

    if (!rc && s.gdb) {
        argv[0] = (char *)"run";
        rc = cli_run_main(argc, argv);
    } else if (!rc) {
        s.log = cli_log(s.t.quiet);
        rc = run(&s, &err) ? cli_fail(&err) : s.failed ? CLI_DIFFERS : CLI_OK;
    }
    arena_destroy(s.a);
    return rc;
}

const cli_command cli_debug = {
    .name = "debug",
    .summary = "look into a layer's kernels while they run",
    .head =
        "usage: vpu debug LAYER.xml [OPTIONS]\n\n"
        "Runs a custom layer under commands: breakpoints, stepping by source line,\n"
        "forwards and backwards, variables, tensors by their coordinates. `help` lists\n"
        "the commands, docs/debugging.md shows a session. One SHAVE, one thread, no\n"
        "cycles.\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail =
        "\n"
        "Exit status: 0, whatever became of the kernel; 1 when a command of a script (-x,\n"
        "or standard input that is no terminal) could not be done: the rest of FILE is\n"
        "left out then; 2 and above when the kernel could not begin (vpu run --help).\n\n"
        "Example:\n"
        "  vpu debug kernels/grn/layer.xml --layer GRN --shape in0=1x16x4x8 \\\n"
        "      --param bias=1.0\n",
    .main = debug_main};
