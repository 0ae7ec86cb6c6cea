#include "runtime/tune/candidates.h"

#include <string.h>

#include "sim/exec/exec.h"

typedef struct {
    const tune_space *space;
    arena *a;
    exec_launch probe; /* asks for the local memory of a size */
    tune_choice *list;
    size_t n, cap;
} collecting;

/* Local memory depends on the size of local_data and of the group. */
static void prepare(collecting *c)
{
    const sim_kernel *k = c->space->kernel;
    exec_value *values;

    if (!k)
        return;
    values = arena_array(c->a, exec_value, k->n_args + 1);
    for (uint32_t i = 0; i < k->n_args; i++) {
        const graph_arg *x;

        if (k->args[i].space == SIM_ARG_LOCAL &&
            !graph_launch_arg(c->space->launch, k->args[i].name, &x, NULL) &&
            x->kind == GRAPH_ARG_LOCAL)
            values[i].as.bytes = x->bytes;
    }
    c->probe = (exec_launch){.kernel = k, .values = values};
}

static bool fits_kernel(collecting *c, const uint32_t local[3])
{
    const sim_kernel *k = c->space->kernel;
    uint64_t budget = c->space->local_bytes;

    if (!k)
        return true;
    for (int d = 0; d < 3; d++)
        if (k->reqd_local[d] && k->reqd_local[d] != local[d])
            return false;
    memcpy(c->probe.local, local, sizeof c->probe.local);
    return exec_local_bytes(&c->probe, sim_pick_variant(k, local), budget,
                            NULL) <= budget;
}

static void add(collecting *c, const uint32_t local[3], uint32_t shaves)
{
    tune_choice *x = arena_append(c->a, c->list, c->n, c->cap);

    memcpy(x->local, local, sizeof x->local);
    x->shaves = shaves;
}

/* With each number of SHAVEs; 0 stands for the most there are. */
static void add_size(collecting *c, const uint32_t local[3])
{
    bool own = !memcmp(local, c->list[0].local, sizeof c->list[0].local);

    if (!own)
        add(c, local, 0);
    for (uint32_t n = 1; n < c->space->max_shaves; n++)
        add(c, local, n);
}

static bool divides(const uint32_t global[3], const uint32_t l[3])
{
    return !(global[0] % l[0] || global[1] % l[1] || global[2] % l[2]);
}

/* What one dimension may have beside so many items of the others. */
static uint32_t most_of(uint32_t global, uint32_t others)
{
    uint32_t most = TUNE_MAX_ITEMS / others;

    return global < most ? global : most;
}

const tune_choice *tune_candidates(const tune_space *s, arena *a, size_t *n)
{
    collecting c = {.space = s, .a = a};
    const uint32_t *global = s->launch->global;
    uint32_t l[3];

    prepare(&c);
    add(&c, s->launch->local, 0);
    for (l[2] = 1; l[2] <= most_of(global[2], 1); l[2]++)
        for (l[1] = 1; l[1] <= most_of(global[1], l[2]); l[1]++)
            for (l[0] = 1; l[0] <= most_of(global[0], l[1] * l[2]); l[0]++)
                if (divides(global, l) && fits_kernel(&c, l))
                    add_size(&c, l);
    *n = c.n;
    return c.list;
}
