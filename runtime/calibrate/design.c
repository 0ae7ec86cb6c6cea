/* The tables of the measurement, expanded. */
#include "runtime/calibrate/design.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"

/* Elements of four bytes: the zeros that are read, the place that is written,
 * what groups leave; bytes of local memory. */
enum { DATA = 1310720, PLACE = 262144, OUT = 4096, TILE_BYTES = 65536 };

#define TEXT_OF(name)                                              \
    __asm__(".section .rodata\n"                                   \
            "vpu_calibrate_" #name ":\n"                           \
            ".incbin \"runtime/calibrate/kernels/" #name ".cl\"\n" \
            ".byte 0\n"                                            \
            ".previous\n");                                        \
    extern const char vpu_calibrate_##name[];
#define KERNEL(name, arguments) TEXT_OF(name)
#include "runtime/calibrate/kernels.def"

enum {
#define KERNEL(name, arguments) KERNEL_##name,
#include "runtime/calibrate/kernels.def"
    N_KERNELS
};

static const design_kernel kernels[] = {
#define KERNEL(name, arguments) {#name, vpu_calibrate_##name, arguments},
#include "runtime/calibrate/kernels.def"
};

const design_kernel *design_kernels(size_t *n)
{
    *n = N_KERNELS;
    return kernels;
}

const char *design_block_name(design_block b)
{
    static const char *const names[] = {"start",  "L1",    "L2",
                                        "stores", "banks", "DMA"};

    return names[b];
}

/* --- cases ---------------------------------------------------------------- */

typedef struct {
    uint32_t groups, shaves;
    int32_t arguments[DESIGN_MAX_ARGUMENTS];
} numbers;

#define ARGUMENTS(...) {__VA_ARGS__}
#define FAMILY(name, block, kernel, groups, shaves, arguments, about, ...)   \
    static numbers numbers_of_##name(int v)                                  \
    {                                                                        \
        (void)v;                                                             \
        return (numbers){(uint32_t)(groups), (uint32_t)(shaves), arguments}; \
    }
#include "runtime/calibrate/design.def"

enum { MAX_VALUES = 12 };

static const struct {
    const char *name, *about;
    design_block block;
    const design_kernel *kernel;
    numbers (*of)(int v);
    int values[MAX_VALUES]; /* up to a 0 */
} families[] = {
#define FAMILY(name, block, kernel, groups, shaves, arguments, about, ...) \
    {#name,                                                                \
     about,                                                                \
     DESIGN_##block,                                                       \
     &kernels[KERNEL_##kernel],                                            \
     numbers_of_##name,                                                    \
     {__VA_ARGS__, 0}},
#include "runtime/calibrate/design.def"
};
enum { N_FAMILIES = sizeof families / sizeof *families };

const design_case *design_cases(uint32_t max_shaves, arena *a, size_t *n)
{
    design_case *list = arena_array(a, design_case, N_FAMILIES * MAX_VALUES);

    *n = 0;
    for (size_t f = 0; f < N_FAMILIES; f++)
        for (const int *v = families[f].values; *v; v++) {
            numbers x = families[f].of(*v);
            design_case *c = &list[*n];

            if (x.shaves > max_shaves)
                continue;
            *c = (design_case){
                .name = arena_printf(a, "%s/%d", families[f].name, *v),
                .family = families[f].name,
                .about = families[f].about,
                .block = families[f].block,
                .kernel = families[f].kernel,
                .groups = x.groups,
                .shaves = x.shaves};
            memcpy(c->arguments, x.arguments, sizeof c->arguments);
            ++*n;
        }
    return list;
}

/* --- as a graph ----------------------------------------------------------- */

enum { IN, ZEROS, PLACED, LEFT, N_BUFFERS };

static graph_buffer buffer(const char *name, graph_role role, uint32_t n)
{
    return (graph_buffer){.name = name,
                          .role = role,
                          .desc = {TENSOR_I32, 1, {n}, TENSOR_PLAIN},
                          .bytes = (uint64_t)n * 4};
}

static const struct {
    const char *name;
    uint32_t buffer;
    bool written;
} pointers[] = {{"in", IN, false},
                {"data", ZEROS, false},
                {"place", PLACED, true},
                {"out", LEFT, true}};

static graph_arg argument(const char *name, int32_t number)
{
    if (!strcmp(name, "tile"))
        return (graph_arg){
            .name = name, .kind = GRAPH_ARG_LOCAL, .bytes = TILE_BYTES};
    for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++)
        if (!strcmp(name, pointers[i].name))
            return (graph_arg){.name = name,
                               .kind = GRAPH_ARG_BUFFER,
                               .buffer = pointers[i].buffer,
                               .written = pointers[i].written};
    return (graph_arg){.name = name, .kind = GRAPH_ARG_INT, .integer = number};
}

static void add_arguments(const design_case *c, graph_launch *l, arena *a)
{
    graph_arg *args = arena_array(a, graph_arg, DESIGN_MAX_ARGUMENTS + 3);
    const char *from = c->kernel->arguments;
    uint32_t n_numbers = 0;

    l->args = args;
    while (*from) {
        size_t n = strcspn(from, " ");
        graph_arg *x = &args[l->n_args++];

        *x = argument(arena_strndup(a, from, n), c->arguments[n_numbers]);
        n_numbers += x->kind == GRAPH_ARG_INT;
        from += n + strspn(from + n, " ");
    }
}

static graph_launch launch(const design_case *c, const char *folder, arena *a)
{
    const char **sources = arena_array(a, const char *, 1);
    graph_launch l = {.name = c->name,
                      .layer = c->name,
                      .type = c->family,
                      .entry = c->kernel->name,
                      .sources = sources,
                      .n_sources = 1,
                      .global = {c->groups, 1, 1},
                      .local = {1, 1, 1},
                      .max_shaves = c->shaves,
                      .file = "vpu calibrate"};

    sources[0] = folder ? arena_printf(a, "%s/%s.bin", folder, c->kernel->name)
                        : arena_printf(a, "%s.cl", c->kernel->name);
    l.given = folder ? NULL : c->kernel->text;
    add_arguments(c, &l, a);
    return l;
}

graph *design_graph(const design_case *cases, const uint32_t *order, size_t n,
                    const char *folder, arena *a)
{
    graph *g = arena_new(a, graph);

    g->layer = g->type = "calibration";
    g->form = "";
    g->batch = 1;
    g->buffers = arena_array(a, graph_buffer, N_BUFFERS);
    g->n_buffers = N_BUFFERS;
    g->buffers[IN] = buffer("in0", GRAPH_INPUT, 64);
    g->buffers[ZEROS] = buffer("data", GRAPH_CONST, DATA);
    g->buffers[ZEROS].init = arena_array(a, int32_t, DATA);
    /* No scratch memory: where a blob has it, and where what lies behind it is,
     * would depend on the order of the launches, and with it the banks. */
    g->buffers[PLACED] = buffer("out1", GRAPH_OUTPUT, PLACE);
    g->buffers[PLACED].port = 1;
    g->buffers[LEFT] = buffer("out0", GRAPH_OUTPUT, OUT);
    g->launches = arena_array(a, graph_launch, n + 1);
    g->n_launches = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        g->launches[i] = launch(&cases[order[i]], folder, a);
    return g;
}

/* --- for the vendor's compiler -------------------------------------------- */

static const char script[] =
    "#!/bin/sh\n"
    "# Compiles the kernels for a stick: compile.sh TOOLKIT, the folder of the\n"
    "# vendor's custom layer tools (docs/usb.md, step 2).\n"
    "set -eu\n"
    "tools=${1:?the folder of the vendor\'s custom layer tools}\n"
    "cd \"$(dirname \"$0\")\"\n"
    "export SHAVE_MA2X8XLIBS_DIR=$tools/lib/ SHAVE_LDSCRIPT_DIR=$tools/ldscripts/\n"
    "export SHAVE_MYRIAD_LD_DIR=$tools/bin/ SHAVE_MOVIASM_DIR=$tools/bin/\n"
    "for kernel in *.cl; do\n"
    "    \"$tools/bin/clc\" --strip-binary-header \"$kernel\" -o "
    "\"${kernel%.cl}.bin\"\n"
    "done\n";

vpu_status design_write(const char *folder, arena *a, vpu_error *err)
{
    vpu_status st = file_mkdirs(folder, err);

    for (size_t i = 0; i < N_KERNELS && !st; i++)
        st = file_write(arena_printf(a, "%s/%s.cl", folder, kernels[i].name),
                        kernels[i].text, strlen(kernels[i].text), err);
    return st ? st
              : file_write(arena_printf(a, "%s/compile.sh", folder), script,
                           sizeof script - 1, err);
}

/* --- parameters ----------------------------------------------------------- */

typedef struct {
    const char *name, *unit;
    bool real;
    double least, most;
    size_t at;
} machine_row;

static const machine_row machine_rows[] = {
#define INT(name, min, max, unit, about)  \
    {#name,         unit,          false, \
     (double)(min), (double)(max), offsetof(mach_desc, name)},
#define REAL(name, min, max, unit, about) \
    {#name, unit, true, min, max, offsetof(mach_desc, name)},
#include "sim/machine/params.def"
};

enum {
#define INT(name, min, max, unit, about) ROW_##name,
#define REAL(name, min, max, unit, about) ROW_##name,
#include "sim/machine/params.def"
    N_ROWS
};

#define COUNT(...) (sizeof(double[]){__VA_ARGS__} / sizeof(double))

enum {
#define NUMBER(name, block, also, low, high) PARAM_##name,
#define CHOICE(name, block, ...) PARAM_##name,
#include "runtime/calibrate/params.def"
    N_PARAMS
};

const design_param *design_params(size_t *n)
{
    static const design_param params[] = {
#define NUMBER(name, block, also, low, high) \
    {#name, DESIGN_##block, DESIGN_##also, low, high, {0}, 0, ROW_##name},
#define CHOICE(name, block, ...)                   \
    {#name, DESIGN_##block, DESIGN_##block,     0, \
     0,     {__VA_ARGS__},  COUNT(__VA_ARGS__), ROW_##name},
#include "runtime/calibrate/params.def"
    };

    *n = N_PARAMS;
    return params;
}

double design_param_get(const design_param *p, const mach_desc *d)
{
    const machine_row *r = &machine_rows[p->row];
    const char *field = (const char *)d + r->at;

    return r->real ? *(const double *)(const void *)field
                   : (double)*(const uint64_t *)(const void *)field;
}

void design_param_set(const design_param *p, mach_desc *d, double value)
{
    const machine_row *r = &machine_rows[p->row];
    char *field = (char *)d + r->at;

    value = value < r->least ? r->least : value > r->most ? r->most : value;
    if (r->real)
        *(double *)(void *)field = value;
    else
        *(uint64_t *)(void *)field = (uint64_t)(value + 0.5);
}

bool design_param_is_real(const design_param *p)
{
    return machine_rows[p->row].real;
}

const char *design_param_unit(const design_param *p)
{
    return machine_rows[p->row].unit;
}
