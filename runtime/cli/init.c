/* vpu init: a new layer, to begin with. */
#include <stdio.h>

#include "runtime/cli/cli.h"
#include "runtime/init/init.h"

typedef struct {
    bool dma, two_stage;
} init_options;

#define AT(field) offsetof(init_options, field)

static const cli_option rows[] = {
    {"dma", NULL, OPTION_FLAG, AT(dma),
     .help = "the kernel works on copies in local memory, which "
             "__dma_preload_ and __dma_postwrite_ kernels make beside the work "
             "on other work-groups"},
    {"two-stage", NULL, OPTION_FLAG, AT(two_stage),
     .help = "a layer of two kernels, with a buffer between them"}};
static const cli_options own_options = CLI_OPTIONS(rows);
static const cli_table tables[] = {{&own_options, 0}};

static void print(const init_job *job, const init_result *r)
{
    printf("%s: %zu files; README.md tells of them\n", job->name, r->n_files);
    if (!r->include)
        printf("note: vpusim/kernel.h is not installed; %s/include has a copy "
               "for editors\n",
               job->name);
    printf("next:\n"
           "  cd %s\n"
           "  vpu suite .\n"
           "  vpu run layer.xml %s\n"
           "  vpu check layer.xml %s\n"
           "  vpu lint layer.xml %s\n",
           job->name, r->words, r->words, r->words);
}

static int init_main(int argc, char **argv)
{
    arena *a = arena_create(0);
    options_line line = {.argc = argc, .argv = argv};
    init_options o = {.dma = false};
    init_result r;
    vpu_error err = {0};
    int rc = cli_parse(&cli_init, &o, &line, a);

    if (!rc && line.n_words != 1)
        rc = cli_usage(&cli_init, line.n_words
                                      ? "more than one name; expected one"
                                      : "no name for the layer");
    if (!rc) {
        const init_job job = {
            .name = line.words[0], .dma = o.dma, .two_stage = o.two_stage};

        if (init_layer(&job, a, &r, &err))
            rc = cli_fail(&err);
        else
            print(&job, &r);
    }
    arena_destroy(a);
    return rc;
}

const cli_command cli_init = {
    .name = "init",
    .summary = "begin a new layer",
    .head =
        "usage: vpu init NAME [--dma] [--two-stage]\n\n"
        "Makes a folder NAME with a layer that runs: the kernel, its binding, what it\n"
        "should compute in NumPy, a case that compares the two and limits the cycles,\n"
        "and the files that tell clangd the kernel's language. NAME is a letter and\n"
        "then letters, digits and _. A folder that is not empty stays as it is.\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail = "\n"
            "Exit status: 0 the folder is there, 2 nothing is.\n\n"
            "Examples:\n"
            "  vpu init leaky_relu && vpu suite leaky_relu\n"
            "  vpu init peaks --dma --two-stage\n",
    .main = init_main};
