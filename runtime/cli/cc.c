/* vpu cc: offline compilation, with the command line of the vendor's clc; and
 * the macros of a SimpleGPU layer. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "runtime/cli/cli.h"
#include "runtime/cli/ending.h"
#include "runtime/cli/target.h"
#include "sim/compiler/front/budget.h"
#include "sim/compiler/kernel.h"

static const char *default_output(arena *a, const char *source)
{
    size_t n = strlen(source);

    if (n > 3 && !strcmp(source + n - 3, ".cl"))
        n -= 3;
    return arena_printf(a, "%.*s.bin", (int)n, source);
}

typedef struct {
    const char *source, *output, *kernel;
    bool stripped; /* nothing comes of it */
    bool defines;
    target_options t; /* with defines */
    cli_clang clang;
} cc_args;

#define AT(field) offsetof(cc_args, field)

static const cli_option rows[] = {
    {"output", "FILE", OPTION_TEXT, AT(output),
     .help = "the .bin (default: FILE.bin beside the source)"},
    {"-o", "FILE", OPTION_TEXT, AT(output), .help = "the same, as clc has it"},
    {"kernel", "NAME", OPTION_TEXT, AT(kernel),
     .help = "which kernel, when the file has several"},
    {"strip-binary-header", NULL, OPTION_FLAG, AT(stripped),
     .help = "accepted, as clc has it"},
    {"defines", NULL, OPTION_FLAG, AT(defines),
     .help = "print the macros of a SimpleGPU layer, which follow from its "
             "sizes; compile nothing"}};
static const cli_options own_options = CLI_OPTIONS(rows);
static const cli_table tables[] = {{&own_options, 0},
                                   {&cli_clang_options, AT(clang)},
                                   {&cli_compile_options, AT(clang.limits)},
                                   {&target_layer_options, AT(t)}};

static int parse(arena *a, int argc, char **argv, cc_args *out)
{
    options_line line = {.argc = argc, .argv = argv};
    int rc = cli_parse(&cli_cc, out, &line, a);

    if (rc)
        return rc;
    if (out->defines)
        return target_check(&out->t, &cli_cc, line.words, line.n_words);
    if (line.n_words > 1)
        return cli_usage(&cli_cc, "one source file at a time (%s, %s)",
                         line.words[0], line.words[1]);
    if (!line.n_words)
        return cli_usage(&cli_cc, "no source file");
    out->source = line.words[0];
    return CLI_OK;
}

/* All that stands in front of the layer's sources. */
static vpu_status print_defines(const cc_args *o, arena *a, const log_sink *log,
                                vpu_error *err)
{
    target t = {0};
    vpu_status st = target_bind(&o->t, a, log, &t, err);
    bool any = false;

    for (uint32_t i = 0; !st && i < t.graph->n_launches; i++) {
        const char *macros = t.graph->launches[i].macros;

        if (macros)
            ending_print(macros, strlen(macros));
        any |= macros != NULL;
    }
    if (!st && !any)
        st = err_set(err, VPU_ERR_INVALID,
                     "%s: --defines is for layers of type SimpleGPU; those of "
                     "type MVCL have no macros",
                     o->t.bindings[0]);
    return st;
}

static int cc_main(int argc, char **argv)
{
    arena *a = arena_create(0);
    log_sink log = cli_log(false);
    cc_args args = {.clang.limits = budget_or_default(NULL)};
    /* Not from the cache: whoever compiles wants the warnings again. */
    kernel_compile_config cfg = {.user.no_cache = true, .log = &log};
    vpu_error err = {0};
    kernel_source source;
    kernel_bin bin;
    vpu_status st;
    int rc;

    target_init(&args.t);
    rc = parse(a, argc, argv, &args);
    if (rc)
        goto out;
    if (args.defines) {
        if (print_defines(&args, a, &log, &err))
            rc = cli_fail(&err);
        goto out;
    }
    if (!args.output)
        args.output = default_output(a, args.source);
    cfg.user.limits = &args.clang.limits;
    cfg.user.options = args.clang.words.items;
    cfg.user.n_options = args.clang.words.n;
    source = (kernel_source){.path = args.source, .entry = args.kernel};
    st = kernel_build_bin(&source, &cfg, a, &bin, &err);
    if (!st)
        st = file_write(args.output, bin.bytes, bin.n, &err);
    if (st)
        rc = cli_fail(&err);
out:
    arena_destroy(a);
    return rc;
}

const cli_command cli_cc = {
    .name = "cc",
    .summary = "compile a kernel to a .bin",
    .head =
        "usage: vpu cc [OPTIONS] FILE.cl --output FILE.bin\n"
        "       vpu cc --defines FILE.xml --shape in0=... [OPTIONS]\n\n"
        "Compiles one OpenCL C kernel to a .bin: an ELF file with the SHAVE metadata\n"
        "host software reads, the SHAVE program and the preprocessed source. A binding's\n"
        "<Source filename=\"FILE.bin\"/> finds it. The .bin is for the simulator; a\n"
        "stick needs the vendor's compiler.\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail =
        "\n"
        "Examples:\n"
        "  vpu cc --strip-binary-header grn.cl -o grn.bin\n"
        "  vpu cc -D UNROLL=4 --kernel grn grn.cl\n"
        "  vpu cc --defines kernels/reorg/gpu.xml --shape in0=1x16x26x26 "
        "\\\n"
        "      --shape out0=1x64x13x13 --param stride=2 --pad in0=1,1,0,0\n",
    .main = cc_main};
