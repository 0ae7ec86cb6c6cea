/* Any bytes as a blob that is run: what the checks let through must stay within
 * the blob's areas, which are as large as it says. */
#include <stdlib.h>
#include <string.h>

#include "runtime/import/import.h"
#include "runtime/native/native.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* What a run may take: a fuzzer tries many small ones. */
enum { MAX_AREA = 1 << 20, MAX_LAUNCHES = 64, MAX_ELEMENTS = 1 << 18 };

static bool is_small(const graph *g)
{
    for (uint32_t i = 0; i < g->n_buffers; i++)
        if (g->buffers[i].bytes > 4 * MAX_AREA)
            return false;
    return g->n_launches <= MAX_LAUNCHES;
}

static bool is_quick(const graph_launch *l)
{
    for (uint32_t i = 0; i < native_n_operands(l->native); i++)
        if (native_operand_at(l->native, i)->span > MAX_ELEMENTS)
            return false;
    return true;
}

static void run(const graph *g, arena *a)
{
    uint8_t **areas = calloc(g->n_buffers, sizeof *areas);

    for (uint32_t i = 0; i < g->n_buffers; i++) {
        areas[i] = calloc(1, g->buffers[i].bytes);
        if (g->buffers[i].init)
            memcpy(areas[i], g->buffers[i].init, g->buffers[i].bytes);
    }
    for (uint32_t i = 0; i < g->n_launches; i++) {
        const graph_launch *l = &g->launches[i];
        void **operands = calloc(l->n_args + 1, sizeof *operands);

        for (uint32_t k = 0; k < l->n_args; k++)
            operands[k] = areas[l->args[k].buffer] + l->args[k].offset;
        if (l->native && is_quick(l))
            native_run(l->native, operands, a, NULL);
        free(operands);
    }
    for (uint32_t i = 0; i < g->n_buffers; i++)
        free(areas[i]);
    free(areas);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    arena *a = arena_create(0);
    vpu_error err;
    graph g;
    blob b;

    if (!blob_parse(data, n, "fuzz", a, &b, &err) && b.bss_size <= MAX_AREA &&
        b.inputs_size <= MAX_AREA && b.outputs_size <= MAX_AREA &&
        b.batch <= 4 &&
        !import_blob(&b, &(const import_config){0}, a, &g, &err) &&
        is_small(&g))
        run(&g, a);
    arena_destroy(a);
    return 0;
}
