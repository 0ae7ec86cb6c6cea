/* Writes version 1.2 metadata: one kernel, its arguments, an empty rest. */
#include "sim/compiler/store/neo.h"

#include <string.h>

#include "base/str.h"

#define NONE UINT32_C(0xffffffff)

enum { HEADER = 52, KERNEL = 132, ARG = 28, VERSION = 0x00010002 };

enum { WRITES_DDR = 1, READS_DDR = 2, GENERATED_PHASES = 4 };

/* Of an argument. */
enum { DMA_INPUT = 1, DMA_OUTPUT = 2, DOUBLE_BUFFER = 4, GENERATED = 8 };

/* Variant numbers of the format. */
enum { NEO_SCALAR = 0, NEO_VECTORIZED = 1, NEO_PRELOAD = 5, NEO_POSTWRITE = 6 };

static void put(str *s, uint32_t v)
{
    uint8_t b[4] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16),
                    (uint8_t)(v >> 24)};

    str_add(s, b, 4);
}

static uint32_t name(str *strings, const char *text)
{
    uint32_t at = (uint32_t)strings->n;

    str_add(strings, text, strlen(text) + 1);
    return at;
}

/* The last one is none of the kernel's. */
static uint32_t count_args(const sim_kernel *k)
{
    uint32_t n = k->n_args + 1;

    for (uint32_t i = 0; i < k->n_locals; i++)
        n += k->locals[i].twice;
    return n;
}

static void put_kernel(str *m, str *strings, const sim_kernel *k)
{
    static const int slot_of[8] = {[NEO_SCALAR] = SIM_SCALAR + 1,
                                   [NEO_VECTORIZED] = SIM_VECTORIZED + 1,
                                   [NEO_PRELOAD] = SIM_PRELOAD + 1,
                                   [NEO_POSTWRITE] = SIM_POSTWRITE + 1};
    uint32_t func = 0;

    put(m, READS_DDR | WRITES_DDR | (k->hoisted ? GENERATED_PHASES : 0));
    put(m, count_args(k));
    put(m, 0);
    put(m, 0);
    put(m, 0);
    put(m, 0);
    put(m, name(strings, k->name));
    put(m, k->variants[SIM_SCALAR].stack_bytes + k->local_bytes);
    put(m, k->variants[SIM_SCALAR].item_bytes);
    for (int v = 0; v < 8; v++) {
        int kind = slot_of[v] - 1;

        if (kind < 0 || !k->variants[kind].present) {
            put(m, NONE);
            put(m, 0);
            put(m, NONE);
            continue;
        }
        put(m, name(strings, sim_variant_name((sim_variant_kind)kind)));
        put(m, k->variants[kind].factor);
        put(m, func++);
    }
}

typedef struct {
    uint32_t flags;
    const char *name;
    uint32_t element_bytes, space, alignment, offset;
} neo_arg;

static void put_arg(str *m, str *strings, const neo_arg *g)
{
    put(m, g->flags);
    put(m, name(strings, g->name));
    put(m, NONE);
    put(m, g->element_bytes);
    put(m, g->space);
    put(m, g->alignment);
    put(m, g->offset);
}

/* What phases do with an array of which groups have two. */
static uint32_t phase_flags(const sim_kernel *k, const char *array)
{
    uint32_t flags = 0;

    if (!k->hoisted) {
        flags |= k->variants[SIM_PRELOAD].present ? DMA_INPUT : 0;
        flags |= k->variants[SIM_POSTWRITE].present ? DMA_OUTPUT : 0;
    }
    for (uint32_t i = 0; i < k->n_copies && k->hoisted; i++)
        if (k->copies[i].phase != SIM_SCALAR &&
            !strcmp(k->copies[i].array, array))
            flags |= k->copies[i].in ? DMA_INPUT : DMA_OUTPUT;
    return flags ? flags | DOUBLE_BUFFER : 0;
}

enum { SPACE_UNDEFINED = 4 };

static void put_args(str *m, str *strings, const sim_kernel *k)
{
    static const uint32_t space[] = {[SIM_ARG_SCALAR] = 0,
                                     [SIM_ARG_GLOBAL] = 1,
                                     [SIM_ARG_CONSTANT] = 2,
                                     [SIM_ARG_LOCAL] = 3};

    for (uint32_t i = 0; i < k->n_args; i++) {
        const sim_arg *g = &k->args[i];
        bool local = g->space == SIM_ARG_LOCAL;
        const neo_arg x = {.flags = local ? phase_flags(k, g->name) : 0,
                           .name = g->name,
                           .element_bytes =
                               g->element_bytes ? g->element_bytes : g->bytes,
                           .space = space[g->space],
                           .alignment = g->bytes > 4 ? 16 : 4,
                           .offset = g->offset};

        put_arg(m, strings, &x);
    }
    /* Arrays of the program, which phases take as arguments of theirs. */
    for (uint32_t i = 0; i < k->n_locals; i++) {
        const neo_arg x = {.flags =
                               phase_flags(k, k->locals[i].name) | GENERATED,
                           .name = k->locals[i].name,
                           .element_bytes = k->locals[i].bytes,
                           .space = space[SIM_ARG_LOCAL],
                           .alignment = 16};

        if (k->locals[i].twice)
            put_arg(m, strings, &x);
    }
    put_arg(m, strings, &(neo_arg){.name = "", .space = SPACE_UNDEFINED});
}

void neo_build(const sim_kernel *k, arena *a, uint8_t **meta, size_t *n_meta,
               char **strings, size_t *n_strings)
{
    str m = {0}, s = {0};
    uint32_t n_funcs = 0, args_at = HEADER + KERNEL;
    uint32_t n_args = count_args(k), funcs_at = args_at + ARG * n_args;

    for (int v = 0; v < SIM_N_VARIANTS; v++)
        n_funcs += k->variants[v].present;
    put(&m, VERSION);
    put(&m, 1);
    put(&m, HEADER);
    put(&m, n_args);
    put(&m, args_at);
    for (int i = 0; i < 3; i++) { /* SIPP, expressions, their nodes: none */
        put(&m, 0);
        put(&m, funcs_at);
    }
    put(&m, n_funcs);
    put(&m, funcs_at);
    put_kernel(&m, &s, k);
    put_args(&m, &s, k);
    for (uint32_t i = 0; i < n_funcs; i++)
        put(&m, 0); /* load addresses: our programs are not device code */
    *meta = arena_memdup(a, m.data, m.n);
    *n_meta = m.n;
    *strings = arena_memdup(a, s.data, s.n);
    *n_strings = s.n;
    str_free(&m);
    str_free(&s);
}
