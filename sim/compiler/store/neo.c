/* Writes version 1.2 metadata: one kernel, its arguments, an empty rest. */
#include "sim/compiler/store/neo.h"

#include <string.h>

#include "base/str.h"

#define NONE UINT32_C(0xffffffff)

enum { HEADER = 52, KERNEL = 132, ARG = 28, VERSION = 0x00010002 };

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

static void put_kernel(str *m, str *strings, const sim_kernel *k)
{
    static const int slot_of[8] = {[NEO_SCALAR] = SIM_SCALAR + 1,
                                   [NEO_VECTORIZED] = SIM_VECTORIZED + 1,
                                   [NEO_PRELOAD] = SIM_PRELOAD + 1,
                                   [NEO_POSTWRITE] = SIM_POSTWRITE + 1};
    uint32_t func = 0;

    put(m, 3); /* reads and writes DDR */
    put(m, k->n_args + 1);
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

static void put_arg(str *m, str *strings, const sim_kernel *k, uint32_t i)
{
    static const uint32_t space[] = {[SIM_ARG_SCALAR] = 0,
                                     [SIM_ARG_GLOBAL] = 1,
                                     [SIM_ARG_CONSTANT] = 2,
                                     [SIM_ARG_LOCAL] = 3};
    const sim_arg *g = i < k->n_args ? &k->args[i] : NULL;
    bool dma = g && g->space == SIM_ARG_LOCAL;
    uint32_t flags = 0;

    if (dma && k->variants[SIM_PRELOAD].present)
        flags |= 1 | 4;
    if (dma && k->variants[SIM_POSTWRITE].present)
        flags |= 2 | 4;
    put(m, flags);
    put(m, name(strings, g ? g->name : ""));
    put(m, NONE);
    put(m, g ? (g->element_bytes ? g->element_bytes : g->bytes) : 0);
    put(m, g ? space[g->space] : 4);
    put(m, g ? (g->bytes > 4 ? 16 : 4) : 0);
    put(m, g ? g->offset : 0);
}

void neo_build(const sim_kernel *k, arena *a, uint8_t **meta, size_t *n_meta,
               char **strings, size_t *n_strings)
{
    str m = {0}, s = {0};
    uint32_t n_funcs = 0, args_at = HEADER + KERNEL;
    uint32_t funcs_at = args_at + ARG * (k->n_args + 1);

    for (int v = 0; v < SIM_N_VARIANTS; v++)
        n_funcs += k->variants[v].present;
    put(&m, VERSION);
    put(&m, 1);
    put(&m, HEADER);
    put(&m, k->n_args + 1);
    put(&m, args_at);
    for (int i = 0; i < 3; i++) { /* SIPP, expressions, their nodes: none */
        put(&m, 0);
        put(&m, funcs_at);
    }
    put(&m, n_funcs);
    put(&m, funcs_at);
    put_kernel(&m, &s, k);
    for (uint32_t i = 0; i <= k->n_args; i++)
        put_arg(&m, &s, k, i);
    for (uint32_t i = 0; i < n_funcs; i++)
        put(&m, 0); /* load addresses: our programs are not device code */
    *meta = arena_memdup(a, m.data, m.n);
    *n_meta = m.n;
    *strings = arena_memdup(a, s.data, s.n);
    *n_strings = s.n;
    str_free(&m);
    str_free(&s);
}
