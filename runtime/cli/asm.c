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

typedef struct {
    const char *file, *kernel;
    int variant; /* SIM_N_VARIANTS: all */
    bool explain, source, json;
    cli_clang clang;
} asm_args;

#define AT(field) offsetof(asm_args, field)

static const cli_option rows[] = {
    {"kernel", "NAME", OPTION_TEXT, AT(kernel),
     .help = "which kernel, when the file has several"},
    {"variant", "scalar|vectorized|dma_preload|dma_postwrite", OPTION_CHOICE,
     AT(variant), .help = "only this one"},
    {"explain", NULL, OPTION_FLAG, AT(explain),
     .help =
         "instead: why the kernel was not vectorized, and in which phase each of its copies happens"},
    {"source", NULL, OPTION_FLAG, AT(source),
     .help = "the text of each source line before its first bundle"},
    {"json", NULL, OPTION_FLAG, AT(json), .help = "the programs as JSON"}};
static const cli_options own_options = CLI_OPTIONS(rows);
static const cli_table tables[] = {{&own_options, 0},
                                   {&cli_clang_options, AT(clang)},
                                   {&cli_compile_options, AT(clang.limits)}};

static int parse(arena *a, int argc, char **argv, asm_args *out)
{
    options_line line = {.argc = argc, .argv = argv};
    int rc;

    out->variant = SIM_N_VARIANTS;
    out->clang.limits = budget_or_default(NULL);
    rc = cli_parse(&cli_asm, out, &line, a);
    if (rc)
        return rc;
    if (line.n_words > 1)
        return cli_usage(&cli_asm, "one file at a time (%s, %s)", line.words[0],
                         line.words[1]);
    if (!line.n_words)
        return cli_usage(&cli_asm, "no kernel file");
    if (out->json && (out->explain || out->source))
        return cli_usage(&cli_asm, "--json and --%s exclude each other",
                         out->explain ? "explain" : "source");
    out->file = line.words[0];
    return CLI_OK;
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
    st = kernel_describe(&(kernel_source){.path = args->file,
                                          .bin = (uint8_t *)data,
                                          .bin_bytes = n},
                         a, k, err);
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
    kernel_compile_config cfg = {.user.options = args->clang.words.items,
                                 .user.n_options = args->clang.words.n,
                                 .user.no_cache = true,
                                 .user.limits = &args->clang.limits,
                                 .log = &log};
    kernel_source source = {.path = args->file, .entry = args->kernel};

    return is_bin(args->file) ? load_bin(args, a, k, err)
                              : kernel_compile(&source, &cfg, a, k, err);
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
    out->n_lines = (uint32_t)n_lines;
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

    for (uint32_t k = 0; k < src->n_lines; k++) {
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
    for (uint32_t i = 0; i < k->n_copies; i++) {
        const sim_copy *c = &k->copies[i];

        if (c->why)
            printf("%s:%u: the copy happens where it stands: %s\n", k->source,
                   c->line, c->why);
        else
            printf("%s:%u: the copy %s '%s' happens in the %s phase\n",
                   k->source, c->line, c->in ? "into" : "out of", c->array,
                   sim_variant_name(c->phase));
    }
}

static bool is_wanted(const asm_args *args, const isa_function *const *programs,
                      int variant)
{
    return programs[variant] &&
           (args->variant == variant || args->variant == SIM_N_VARIANTS);
}

/* The reason why none of the wanted variants is there, if none is. */
static vpu_status check_wanted(const asm_args *args, const sim_kernel *k,
                               const isa_function *const *programs, arena *a,
                               vpu_error *err)
{
    for (int v = 0; v < SIM_N_VARIANTS; v++)
        if (is_wanted(args, programs, v))
            return VPU_OK;
    if (args->variant == SIM_VECTORIZED && k->not_vectorized)
        return err_set(err, VPU_ERR_INVALID, "no variant vectorized: %s",
                       reason(k, a));
    return err_set(err, VPU_ERR_INVALID, "%s: kernel '%s' has no variant %s",
                   k->source, k->name,
                   sim_variant_name((sim_variant_kind)args->variant));
}

static void show_text(const asm_args *args, const sim_kernel *k,
                      const isa_function *const *programs,
                      const listing_source *src, str *out)
{
    for (int v = 0; v < SIM_N_VARIANTS; v++) {
        if (!is_wanted(args, programs, v))
            continue;
        str_printf(out, "%s; %s: kernel %s, variant %s", out->n ? "\n" : "",
                   k->source, k->name, sim_variant_name((sim_variant_kind)v));
        if (v == SIM_VECTORIZED)
            str_printf(out, ", %u work-items at once", k->variants[v].factor);
        str_puts(out, "\n");
        listing_print(programs[v], args->source ? src : NULL, out);
    }
}

static void show_json(const asm_args *args, const sim_kernel *k,
                      const isa_function *const *programs, arena *a, str *out)
{
    json_t *variants = json_array(), *j;

    for (int v = 0; v < SIM_N_VARIANTS; v++) {
        json_t *program;

        if (!is_wanted(args, programs, v))
            continue;
        program = json_pack(
            "{s:s,s:i}", "variant", sim_variant_name((sim_variant_kind)v),
            "work_items", v == SIM_VECTORIZED ? (int)k->variants[v].factor : 1);
        json_object_update_new(program, listing_json(programs[v]));
        json_array_append_new(variants, program);
    }
    j = json_pack("{s:s,s:s,s:o}", "source", k->source, "kernel", k->name,
                  "variants", variants);
    if (!k->variants[SIM_VECTORIZED].present)
        json_object_set_new(j, "not_vectorized", json_string(reason(k, a)));
    jsontext_add(out, j, JSONTEXT_EXACT);
}

static vpu_status show(const asm_args *args, const sim_kernel *k, arena *a,
                       vpu_error *err)
{
    const isa_function *programs[SIM_N_VARIANTS];
    listing_source src = {0};
    str out = {0};
    vpu_status st = kernel_programs(k, a, programs, err);

    if (!st && args->source)
        st = read_source(source_path(args->file, a), a, &src, err);
    if (!st)
        st = check_wanted(args, k, programs, a, err);
    if (!st && args->json)
        show_json(args, k, programs, a, &out);
    else if (!st)
        show_text(args, k, programs, &src, &out);
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

const cli_command cli_asm = {
    .name = "asm",
    .summary = "show the SHAVE program of a kernel",
    .head =
        "usage: vpu asm FILE.cl|FILE.bin [OPTIONS]\n\n"
        "Shows the SHAVE program a kernel becomes, for each variant: figures, a\n"
        "table of its blocks, then bundle by bundle the cycle, the operations, one a\n"
        "line, where in the source they come from (@line:column), and why each is not\n"
        "a cycle earlier. Without its comments (from ; to the end of a line) the\n"
        "listing is the program, exactly.\n\n",
    .tables = tables,
    .n_tables = sizeof tables / sizeof *tables,
    .tail =
        "\n"
        "What the reasons mean:\n"
        "  waits for i5 (ld at 4, 7)   i5 is the result of the ld of cycle 4 of this\n"
        "                              block and takes 7 cycles\n"
        "  IAU busy                    its unit is taken in the cycle before\n"
        "  branch slots                behind a branch 6 bundles always run\n"
        "  memory order                it may not pass that access\n"
        "  held back                   it could go, but registers are scarce\n\n"
        "Examples:\n"
        "  vpu asm kernels/grn/grn_rolled.cl --variant scalar --source\n"
        "  vpu asm kernels/grn/grn.cl --explain\n"
        "  vpu asm -D UNROLL=4 --kernel grn grn.cl\n"
        "  vpu asm grn.bin | grep -c 'busy'\n",
    .main = asm_main};
