/* See local.h. */
#include "runtime/graph/local.h"

#include <string.h>

#include "base/str.h"

static bool parse_sizes(const char *text, arena *a, uint32_t out[3])
{
    char *rest = arena_strdup(a, text), *word;
    int n = 0;

    while ((word = strsep(&rest, "x"))) {
        unsigned long long x;

        if (n == 3 || !str_to_u64(word, &x) || !x || x > UINT32_MAX)
            return false;
        out[n++] = (uint32_t)x;
    }
    while (n && n < 3)
        out[n++] = 1;
    return n == 3;
}

static vpu_status set_one(graph_launch *l, const uint32_t local[3],
                          vpu_error *err)
{
    for (int d = 0; d < 3; d++)
        if (l->global[d] % local[d])
            return err_set(err, VPU_ERR_INVALID,
                           "local %ux%ux%u: %s has the global size %ux%ux%u, "
                           "which it does not divide",
                           local[0], local[1], local[2], l->name, l->global[0],
                           l->global[1], l->global[2]);
    memcpy(l->local, local, sizeof l->local);
    return VPU_OK;
}

static vpu_status no_launch(const graph *g, const char *name, vpu_error *err)
{
    str names = {0};
    vpu_status st;

    for (uint32_t i = 0; i < g->n_launches; i++)
        if (!graph_is_internal(&g->launches[i]))
            str_printf(&names, "%s%s", names.n ? ", " : "",
                       g->launches[i].name);
    st = err_set(err, VPU_ERR_INVALID,
                 "local: no stage with a kernel is called %s; there are %s",
                 name ? name : "so", names.n ? str_text(&names) : "none");
    str_free(&names);
    return st;
}

/* "NAME=64x1x1" or "64x1x1" */
static vpu_status set_word(graph *g, char *word, arena *a, vpu_error *err)
{
    char *equals = strrchr(word, '=');
    const char *name = equals ? word : NULL,
               *sizes = equals ? equals + 1 : word;
    uint32_t local[3], n = 0;
    vpu_status st = VPU_OK;

    if (!parse_sizes(sizes, a, local))
        return err_set(err, VPU_ERR_INVALID,
                       "local %s: expected sizes as 64x1x1, or STAGE=64x1x1",
                       word);
    if (equals)
        *equals = 0;
    for (uint32_t i = 0; i < g->n_launches && !st; i++) {
        graph_launch *l = &g->launches[i];

        if (graph_is_internal(l) || (name && strcmp(name, l->name) != 0))
            continue;
        st = set_one(l, local, err);
        n++;
    }
    return st || n ? st : no_launch(g, name, err);
}

vpu_status graph_set_local(graph *g, const char *text, arena *a, vpu_error *err)
{
    char *rest = arena_strdup(a, text), *word;
    vpu_status st = VPU_OK;

    while ((word = strsep(&rest, ",")) && !st)
        st = set_word(g, word, a, err);
    return st;
}
