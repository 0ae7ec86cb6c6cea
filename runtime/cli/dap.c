/* vpu dap: the debugger for editors, on standard input and output. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/cli/cli.h"
#include "runtime/cli/ending.h"
#include "runtime/cli/target.h"
#include "runtime/dap/dap.h"

/* Seconds after the end of the input; then a compiler that is still at work is
 * ended, and the program with it. */
#define PATIENCE 0.4

/* What a launch request's words say. */
typedef struct {
    target_options t;
    bool bundles;
    arena *a;
    target bound;
} session;

#define AT(field) offsetof(session, field)

static const cli_option rows[] = {
    {"bundles", NULL, OPTION_FLAG, AT(bundles), .help = NULL}};
static const cli_options own_options = CLI_OPTIONS(rows);

static const cli_table launch_tables[] = {{&own_options, 0},
                                          TARGET_LAYER(AT(t)),
                                          {&target_input_options, AT(t)},
                                          {&target_machine_options, AT(t)},
                                          {&target_order_options, AT(t)},
                                          {&cli_compile_options, AT(t.compile)},
                                          {&target_cache_options, AT(t)},
                                          {&target_quiet_options, AT(t)}};
enum { N_TABLES = sizeof launch_tables / sizeof *launch_tables };

static vpu_status fill(void *user, uint32_t i, void *data, vpu_error *err)
{
    session *s = user;

    return target_fill(&s->t, &s->bound.graph->buffers[i], s->a, data, err);
}

/* The program's name stands in front, as main has it. */
static vpu_status parse(session *s, const dap_launch *l, vpu_error *err)
{
    options_line line = {.argc = (int)l->n_words + 1,
                         .argv = arena_array(s->a, char *, l->n_words + 2)};
    vpu_status st;

    line.argv[0] = arena_strdup(s->a, "debug");
    for (uint32_t k = 0; k < l->n_words; k++)
        line.argv[k + 1] = arena_strdup(s->a, l->words[k]);
    target_init(&s->t);
    st = cli_take(launch_tables, N_TABLES, s, &line, s->a, err);
    return st ? st : target_take_words(&s->t, line.words, line.n_words, err);
}

static vpu_status open_session(void *user, const dap_launch *l,
                               const log_sink *log, debug_config *out,
                               vpu_error *err)
{
    session *s = user;
    vpu_status st;

    *s = (session){.a = arena_create(0)};
    if (l->cwd && chdir(l->cwd))
        return err_set(err, VPU_ERR_IO, "cwd %s: %s", l->cwd, strerror(errno));
    st = parse(s, l, err);
    if (!st)
        st = target_bind(&s->t, s->a, log, &s->bound, err);
    if (!st)
        st = target_check_inputs(&s->t, &s->bound, s->a, err);
    if (st)
        return st;
    *out = (debug_config){.graph = s->bound.graph,
                          .run = target_backend(&s->t, &s->bound),
                          .bundles = s->bundles,
                          .fill = fill,
                          .user = s};
    return VPU_OK;
}

static void close_session(void *user)
{
    session *s = user;

    arena_destroy(s->a);
    s->a = NULL;
}

static void give_up(void *user)
{
    (void)user;
    ending_clean_up();
    _exit(CLI_OK);
}

/* From here on standard output is the protocol's: what anybody else writes
 * there goes to standard error. */
static int take_output(void)
{
    int out = fcntl(1, F_DUPFD_CLOEXEC, 3);

    return out < 0 || dup2(2, 1) < 0 ? -1 : out;
}

static int dap_main(int argc, char **argv)
{
    options_line line = {.argc = argc, .argv = argv};
    arena *a = arena_create(0);
    int rc = cli_parse(&cli_dap, NULL, &line, a);
    session s = {0};
    vpu_error err = {0};
    dap_config cfg = {.in = 0,
                      .open = open_session,
                      .close = close_session,
                      .late = give_up,
                      .patience = PATIENCE,
                      .user = &s};

    if (!rc && line.n_words)
        rc = cli_usage(&cli_dap, "the layer is the launch request's: '%s'",
                       line.words[0]);
    arena_destroy(a);
    if (rc)
        return rc;
    cfg.out = take_output();
    if (cfg.out < 0)
        err_set(&err, VPU_ERR_IO, "standard output: %s", strerror(errno));
    return cfg.out < 0 || dap_serve(&cfg, &err) ? cli_fail(&err) : CLI_OK;
}

const cli_command cli_dap = {
    .name = "dap",
    .summary = "the debugger for editors, by the Debug Adapter Protocol",
    .head =
        "usage: vpu dap\n\n"
        "Speaks the Debug Adapter Protocol on standard input and output: what an\n"
        "editor starts to debug a layer's kernels, forwards and backwards.\n"
        "docs/editors.md tells how to set up VS Code, Neovim and Emacs.\n\n"
        "A launch request has\n"
        "  program                 the binding file, LAYER.xml\n"
        "  args                    a list of words as behind vpu debug LAYER.xml:\n"
        "                          --layer, --shape, --param, --input, --bundles …\n"
        "  layer, shapes, params, inputs\n"
        "                          or the same as a text, and as objects:\n"
        "                          {\"in0\": \"1x16x4x8\"}\n"
        "  bundles                 true: as --bundles\n"
        "  cwd                     the folder that files are named from\n"
        "  stopOnEntry             true: stops on the first line\n"
        "  stopAtEnd               true: stays at the end, so that one can go back\n",
    .tail =
        "\n"
        "Exit status: 0 when the editor has left; 2 when it could not begin.\n",
    .main = dap_main};
