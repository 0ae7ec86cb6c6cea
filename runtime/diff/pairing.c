/* What two bindings of a layer have in common; see pairing.h. */
#include "runtime/diff/pairing.h"

#include <string.h>

static bool is_port(const graph_buffer *b)
{
    return b->role == GRAPH_INPUT || b->role == GRAPH_OUTPUT;
}

static bool same_desc(const tensor_desc *x, const tensor_desc *y)
{
    return x->dtype == y->dtype && x->rank == y->rank &&
           x->layout == y->layout &&
           !memcmp(x->dims, y->dims, x->rank * sizeof *x->dims);
}

static uint32_t counterpart(const graph_buffer *x, const graph *b)
{
    for (uint32_t i = 0; i < b->n_buffers; i++) {
        const graph_buffer *y = &b->buffers[i];

        if (x->role == y->role &&
            (is_port(x) ? x->port == y->port : !strcmp(x->name, y->name)))
            return i;
    }
    return DIFF_UNPAIRED;
}

static vpu_status pair_port(const graph_buffer *x, const graph *b, uint32_t at,
                            vpu_error *err)
{
    arena *a;
    vpu_status st;

    if (at == DIFF_UNPAIRED && x->role == GRAPH_OUTPUT)
        return err_set(err, VPU_ERR_MISMATCH,
                       "layer %s of b does not make output '%s'", b->layer,
                       x->name);
    if (at == DIFF_UNPAIRED || same_desc(&x->desc, &b->buffers[at].desc))
        return VPU_OK;
    a = arena_create(0);
    st = err_set(err, VPU_ERR_MISMATCH, "'%s' is %s in a, %s in b", x->name,
                 tensor_desc_text(a, &x->desc),
                 tensor_desc_text(a, &b->buffers[at].desc));
    arena_destroy(a);
    return st;
}

static bool same_stages(const graph *a, const graph *b, const uint32_t *pairs)
{
    if (a->n_launches != b->n_launches)
        return false;
    for (uint32_t i = 0; i < a->n_launches; i++)
        if (strcmp(a->launches[i].name, b->launches[i].name))
            return false;
    for (uint32_t i = 0; i < a->n_buffers; i++)
        if (a->buffers[i].role == GRAPH_SCRATCH && !a->buffers[i].untyped &&
            pairs[i] == DIFF_UNPAIRED)
            return false;
    return true;
}

/* What the layers of networks have written, by name. */
static void pair_layers(const graph *a, const graph *b, uint32_t *pairs)
{
    for (uint32_t i = 0; i < a->n_layers; i++) {
        const graph_buffer *x = &a->layers[i].as;

        pairs[a->n_buffers + i] = DIFF_UNPAIRED;
        for (uint32_t k = 0; k < b->n_layers; k++)
            if (!strcmp(x->name, b->layers[k].as.name) &&
                same_desc(&x->desc, &b->layers[k].as.desc))
                pairs[a->n_buffers + i] = b->n_buffers + k;
    }
}

vpu_status diff_pair_graphs(const graph *a, const graph *b, arena *mem,
                            diff_pairing *out, vpu_error *err)
{
    uint32_t *pairs =
        arena_array(mem, uint32_t, a->n_buffers + a->n_layers + 1);
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < a->n_buffers && !st; i++) {
        const graph_buffer *x = &a->buffers[i];

        pairs[i] = a == b ? i : counterpart(x, b);
        if (is_port(x))
            st = pair_port(x, b, pairs[i], err);
        else if (pairs[i] != DIFF_UNPAIRED &&
                 !same_desc(&x->desc, &b->buffers[pairs[i]].desc))
            pairs[i] = DIFF_UNPAIRED;
    }
    pair_layers(a, b, pairs);
    *out = (diff_pairing){pairs, !st && same_stages(a, b, pairs)};
    return st;
}
