/* vpu asm: the VLIW program a kernel becomes. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "runtime/cli/cli.h"
#include "runtime/report/listing.h"
#include "sim/compiler/front/budget.h"
#include "sim/compiler/kernel.h"
#include "sim/compiler/store/object.h"

enum { MAX_FILE_BYTES = 64 << 20 };

static const char help[] =
    "usage: vpu asm FILE.cl|FILE.bin [OPTIONS]\n\n"
    "Shows the SHAVE program a kernel becomes, for each variant: figures, a\n"
    "table of its blocks, then bundle by bundle the cycle, the operations, one "
    "a\n"
    "line, where in the source they come from (@line:column), and why each is "
    "not\n"
    "a cycle earlier. Without its comments (from ; to the end of a line) the\n"
    "listing is the program, exactly.\n\n"
    "  --kernel NAME     which kernel, when the file has several\n"
    "  --variant NAME    only scalar, vectorized, dma_preload or "
    "dma_postwrite\n"
    "  --explain         one line instead: why the kernel was not vectorized\n"
    "  --source          the text of each source line before its first bundle\n"
    "  -D NAME[=VALUE], -I DIR, -cl-…\n"
    "                    for the compiler, as in vpu cc\n\n"
    "What the reasons mean:\n"
    "  waits for i5 (ld at 4, 7)   i5 is the result of the ld of cycle 4 of "
    "this\n"
    "                              block and takes 7 cycles\n"
    "  IAU busy                    its unit is taken in the cycle before\n"
    "  branch slots                behind a branch 6 bundles always run\n"
    "  memory order                it may not pass that access\n"
    "  held back                   it could go, but registers are scarce\n\n"
    "Examples:\n"
    "  vpu asm kernels/grn/grn_rolled.cl --variant scalar --source\n"
    "  vpu asm kernels/grn/grn.cl --explain\n"
    "  vpu asm -D UNROLL=4 --kernel grn grn.cl\n"
    "  vpu asm grn.bin | grep -c 'busy'\n";

typedef struct {
    const char *file, *kernel;
    int variant; /* SIM_N_VARIANTS: all */
    bool explain, source;
    cli_clang clang;
} asm_args;

static int variant(const char *name, asm_args *out)
{
    for (out->variant = 0; out->variant < SIM_N_VARIANTS; out->variant++)
        if (!strcmp(name, sim_variant_name((sim_variant_kind)out->variant)))
            return CLI_OK;
    return cli_usage(&cli_asm,
                     "--variant %s: expected scalar, vectorized, dma_preload "
                     "or dma_postwrite",
                     name);
}

static int parse(arena *a, int argc, char **argv, asm_args *out)
{
    int rc = CLI_OK;

    out->variant = SIM_N_VARIANTS;
    out->clang.limits = budget_or_default(NULL);
    for (int i = 1; i < argc && !rc; i++) {
        const char *s = argv[i];

        if (!strcmp(s, "--kernel") || !strcmp(s, "--variant")) {
            if (i + 1 == argc)
                return cli_usage(&cli_asm, "%s needs a value", s);
            if (s[2] == 'k')
                out->kernel = argv[++i];
            else
                rc = variant(argv[++i], out);
        } else if (!strcmp(s, "--explain")) {
            out->explain = true;
        } else if (!strcmp(s, "--source")) {
            out->source = true;
        } else if (cli_clang_option(&cli_asm, a, argc, argv, &i, &out->clang,
                                    &rc)) {
            continue;
        } else if (s[0] == '-' && s[1]) {
            return cli_usage(&cli_asm, "unknown option %s", s);
        } else if (out->file) {
            return cli_usage(&cli_asm, "one file at a time (%s, %s)", out->file,
                             s);
        } else {
            out->file = s;
        }
    }
    if (!rc && !out->file)
        return cli_usage(&cli_asm, "no kernel file");
    return rc;
}

static bool is_bin(const char *path)
{
    size_t n = strlen(path);

    return n > 4 && !strcmp(path + n - 4, ".bin");
}

/* What a .bin of ours holds. */
static vpu_status load_bin(const asm_args *args, arena *a, sim_kernel **k,
                           vpu_error *err)
{
    size_t n;
    char *data;
    vpu_status st = file_read(args->file, MAX_FILE_BYTES, a, &data, &n, err);

    if (st)
        return st;
    if (object_classify((uint8_t *)data, n) == OBJECT_FOREIGN)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "%s: compiled by the vendor's clc for the SHAVE; "
                       "only .bin files of vpu cc can be shown",
                       args->file);
    st = sim_kernel_describe(args->file, (uint8_t *)data, n, a, k, err);
    if (!st && args->kernel && strcmp(args->kernel, (*k)->name))
        st = err_set(err, VPU_ERR_COMPILE,
                     "%s: no kernel named '%s'; the file has: %s", args->file,
                     args->kernel, (*k)->name);
    return st;
}

static vpu_status load(const asm_args *args, arena *a, sim_kernel **k,
                       vpu_error *err)
{
    log_sink log = cli_log(false);
    sim_compile_config cfg = {.user.options = args->clang.words,
                              .user.n_options = (uint32_t)args->clang.n,
                              .user.no_cache = true,
                              .user.limits = &args->clang.limits,
                              .log = &log};

    return is_bin(args->file)
               ? load_bin(args, a, k, err)
               : sim_kernel_compile(args->file, args->kernel, &cfg, a, k, err);
}

/* The .cl itself; of a .bin, the one beside it. */
static const char *source_path(const char *path, arena *a)
{
    return is_bin(path)
               ? arena_printf(a, "%.*s.cl", (int)strlen(path) - 4, path)
               : path;
}

static vpu_status read_source(const char *path, arena *a, listing_source *out,
                              vpu_error *err)
{
    const char **lines = NULL;
    size_t n, n_lines = 0, cap = 0;
    char *text;
    vpu_status st;

    st = file_read(path, MAX_FILE_BYTES, a, &text, &n, err);
    if (st)
        return st;
    for (const char *s = text, *end = text + n; s < end; s++)
        if (s == text || s[-1] == '\n')
            *arena_append(a, lines, n_lines, cap) = s;
    out->lengths = arena_array(a, size_t, n_lines + 1);
    for (size_t k = 0; k < n_lines; k++) {
        const char *end = k + 1 < n_lines ? lines[k + 1] : text + n;

        while (end > lines[k] && (end[-1] == '\n' || end[-1] == '\r'))
            end--;
        out->lengths[k] = (size_t)(end - lines[k]);
    }
    out->lines = lines;
    out->n = (uint32_t)n_lines;
    return VPU_OK;
}

static bool is_letter(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

/* The line that names the kernel in front of its parameters; 0 = none. */
static uint32_t line_of(const listing_source *src, const char *kernel)
{
    size_t n = strlen(kernel);

    for (uint32_t k = 0; k < src->n; k++) {
        const char *s = src->lines[k], *end = s + src->lengths[k], *at = s;

        while ((at = memmem(at, (size_t)(end - at), kernel, n))) {
            const char *behind = at + n;

            while (behind < end && (*behind == ' ' || *behind == '\t'))
                behind++;
            if ((at == s || !is_letter(at[-1])) && behind < end &&
                *behind == '(')
                return k + 1;
            at += n;
        }
    }
    return 0;
}

/* Reasons about the whole kernel have no position: then the kernel's own. */
static const char *reason(const sim_kernel *k, arena *a)
{
    const char *why = k->not_vectorized ? k->not_vectorized : "not recorded";
    const char *colon = strchr(why, ':');
    const char *path = source_path(k->source, a);
    listing_source src = {0};
    uint32_t line = 0;

    if (colon && colon[1] >= '0' && colon[1] <= '9')
        return why;
    if (!read_source(path, a, &src, NULL))
        line = line_of(&src, k->name);
    return line ? arena_printf(a, "%s:%u: %s", path, line, why)
                : arena_printf(a, "%s: %s", k->source, why);
}

static void explain(const sim_kernel *k, arena *a)
{
    if (k->variants[SIM_VECTORIZED].present)
        printf("%s: kernel '%s' is vectorized: %u work-items of dimension 0 at "
               "once\n",
               k->source, k->name, k->variants[SIM_VECTORIZED].factor);
    else
        printf("%s (kernel '%s' is not vectorized)\n", reason(k, a), k->name);
}

static vpu_status show(const asm_args *args, const sim_kernel *k, arena *a,
                       vpu_error *err)
{
    const isa_function *programs[SIM_N_VARIANTS];
    listing_source src = {0};
    bool any = false;
    str out = {0};
    vpu_status st = sim_kernel_programs(k, a, programs, err);

    if (!st && args->source)
        st = read_source(source_path(args->file, a), a, &src, err);
    for (int v = 0; v < SIM_N_VARIANTS && !st; v++) {
        if (!programs[v] ||
            (args->variant != v && args->variant != SIM_N_VARIANTS))
            continue;
        str_printf(&out, "%s; %s: kernel %s, variant %s", any ? "\n" : "",
                   k->source, k->name, sim_variant_name((sim_variant_kind)v));
        if (v == SIM_VECTORIZED)
            str_printf(&out, ", %u work-items at once", k->variants[v].factor);
        str_puts(&out, "\n");
        listing_print(programs[v], args->source ? &src : NULL, &out);
        any = true;
    }
    if (!st && !any && args->variant == SIM_VECTORIZED && k->not_vectorized)
        st = err_set(err, VPU_ERR_INVALID, "no variant vectorized: %s",
                     reason(k, a));
    else if (!st && !any)
        st = err_set(err, VPU_ERR_INVALID, "%s: kernel '%s' has no variant %s",
                     k->source, k->name,
                     sim_variant_name((sim_variant_kind)args->variant));
    if (!st)
        cli_put(stdout, str_text(&out), out.n);
    str_free(&out);
    return st;
}

static int asm_main(int argc, char **argv)
{
    arena *a = arena_create(0);
    asm_args args = {0};
    sim_kernel *k = NULL;
    vpu_error err = {0};
    int rc = parse(a, argc, argv, &args);

    if (!rc && load(&args, a, &k, &err))
        rc = cli_fail(&err);
    if (!rc && args.explain)
        explain(k, a);
    else if (!rc && show(&args, k, a, &err))
        rc = cli_fail(&err);
    arena_destroy(a);
    return rc;
}

const cli_command cli_asm = {"asm", "show the SHAVE program of a kernel", help,
                             asm_main};
