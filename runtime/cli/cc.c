/* vpu cc: offline compilation, with the command line of the vendor's clc. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "runtime/cli/cli.h"
#include "sim/compiler/front/budget.h"
#include "sim/compiler/kernel.h"

static const char help[] =
    "usage: vpu cc [OPTIONS] FILE.cl -o FILE.bin\n\n"
    "Compiles one OpenCL C kernel to a .bin: an ELF file with the SHAVE "
    "metadata\n"
    "host software reads, the SHAVE program and the preprocessed source. A "
    "binding's\n"
    "<Source filename=\"FILE.bin\"/> finds it. The .bin is for the simulator; "
    "a\n"
    "stick needs the vendor's compiler.\n\n"
    "  -o FILE                  output (default: FILE.bin beside the source)\n"
    "  --kernel NAME            which kernel, when the file has several\n"
    "  -D NAME[=VALUE], -I DIR  for the preprocessor\n"
    "  -cl-…                    passed to clang\n" CLI_HELP_COMPILE
    "  --strip-binary-header    accepted, as clc has it\n\n"
    "Examples:\n"
    "  vpu cc --strip-binary-header grn.cl -o grn.bin\n"
    "  vpu cc -D UNROLL=4 --kernel grn grn.cl\n";

static const char *default_output(arena *a, const char *source)
{
    size_t n = strlen(source);

    if (n > 3 && !strcmp(source + n - 3, ".cl"))
        n -= 3;
    return arena_printf(a, "%.*s.bin", (int)n, source);
}

typedef struct {
    const char *source, *output, *kernel;
    cli_clang clang;
} cc_args;

static int parse(arena *a, int argc, char **argv, cc_args *out)
{
    int rc = CLI_OK;

    for (int i = 1; i < argc && !rc; i++) {
        const char *s = argv[i];

        if (!strcmp(s, "-o") || !strcmp(s, "--kernel")) {
            if (i + 1 == argc)
                return cli_usage(&cli_cc, "%s needs a value", s);
            *(s[1] == 'o' ? &out->output : &out->kernel) = argv[++i];
        } else if (!strcmp(s, "--strip-binary-header") ||
                   cli_clang_option(&cli_cc, a, argc, argv, &i, &out->clang,
                                    &rc)) {
            continue;
        } else if (s[0] == '-' && s[1]) {
            return cli_usage(&cli_cc, "unknown option %s", s);
        } else if (out->source) {
            return cli_usage(&cli_cc, "one source file at a time (%s, %s)",
                             out->source, s);
        } else {
            out->source = s;
        }
    }
    if (rc)
        return rc;
    if (!out->source)
        return cli_usage(&cli_cc, "no source file");
    return CLI_OK;
}

static int cc_main(int argc, char **argv)
{
    arena *a = arena_create(0);
    log_sink log = cli_log(false);
    cc_args args = {.clang.limits = budget_or_default(NULL)};
    /* Not from the cache: whoever compiles wants the warnings again. */
    sim_compile_config cfg = {.user.no_cache = true, .log = &log};
    vpu_error err = {0};
    uint8_t *file;
    size_t n;
    vpu_status st;
    int rc = parse(a, argc, argv, &args);

    if (rc)
        goto out;
    if (!args.output)
        args.output = default_output(a, args.source);
    cfg.user.limits = &args.clang.limits;
    cfg.user.options = args.clang.words;
    cfg.user.n_options = (uint32_t)args.clang.n;
    st = sim_kernel_build_bin(args.source, args.kernel, &cfg, a, &file, &n,
                              &err);
    if (!st)
        st = file_write(args.output, file, n, &err);
    if (st)
        rc = cli_fail(&err);
out:
    arena_destroy(a);
    return rc;
}

const cli_command cli_cc = {"cc", "compile a kernel to a .bin", help, cc_main};
