/* Stages that move elements as the launches the simulator makes of them, where
 * there is a kernel for it: their times are then simulated as well. */
#include "runtime/graph/convert.h"

#include <string.h>

#include "runtime/blob/stage.h"
#include "runtime/stick/program_priv.h"

/* Orders of tensors in memory, by rank: as the IR writes them, channels
 * innermost. */
static const uint32_t plain[] = {0, 0x3, 0x43, 0x321, 0x4321, 0x43521};
static const uint32_t minor[] = {0, 0, 0, 0x213, 0x4213, 0x45213};

static uint32_t digit(uint32_t order, uint32_t i)
{
    return order >> (4 * i) & 15;
}

static bool dtype_of(uint32_t type, tensor_dtype *out)
{
    static const tensor_dtype of[BLOB_N_TYPES] = {[BLOB_F16] = TENSOR_F16,
                                                  [BLOB_U8] = TENSOR_U8,
                                                  [BLOB_S32] = TENSOR_I32,
                                                  [BLOB_F32] = TENSOR_F32,
                                                  [BLOB_I8] = TENSOR_I8};

    if (type >= BLOB_N_TYPES)
        return false;
    *out = of[type];
    return true;
}

static bool is_compact(const blob_desc *d)
{
    uint64_t stride = blob_type_bytes(d->type);

    for (uint32_t i = 0; i < d->rank; i++) {
        if (d->strides[i] != stride)
            return false;
        stride *= d->dims[i];
    }
    return true;
}

/* A compact tensor in one of the two orders. */
static bool tensor_of(const blob_desc *d, tensor_desc *out)
{
    if (!d->rank || d->rank > TENSOR_MAX_RANK || !is_compact(d) ||
        !dtype_of(d->type, &out->dtype))
        return false;
    if (d->order != plain[d->rank] && d->order != minor[d->rank])
        return false;
    out->rank = d->rank;
    out->layout =
        d->order == plain[d->rank] ? TENSOR_PLAIN : TENSOR_CHANNEL_MINOR;
    for (uint32_t i = 0; i < d->rank; i++)
        for (uint32_t k = 0; k < d->rank; k++)
            if (digit(d->order, k) == digit(plain[d->rank], i))
                out->dims[d->rank - 1 - i] = d->dims[k];
    return true;
}

/* Both orders put the same elements at the same indices: a Permute's parameters
 * may say something else. */
static bool keeps_names(const stick_move *m, const blob_stage *s)
{
    const blob_desc *from = &s->buffers[0].desc, *to = &s->buffers[1].desc;

    for (uint32_t i = 0; i < m->rank; i++)
        for (uint32_t k = 0; k < from->rank; k++)
            if (digit(from->order, k) == digit(to->order, i) &&
                (m->from_strides[i] != from->strides[k] ||
                 m->dims[i] != from->dims[k]))
                return false;
    return true;
}

static bool apart(const stick_step *t)
{
    const stick_move *m = &t->move;

    return t->from != t->to ||
           m->from_offset + stick_move_span(m, false) <= m->to_offset ||
           m->to_offset + stick_move_span(m, true) <= m->from_offset;
}

static void place(stick_program *p, graph_launch *l, const stick_step *t)
{
    graph_arg *args =
        arena_memdup(p->arena, l->args, l->n_args * sizeof *l->args);

    for (uint32_t i = 0; i < l->n_args; i++)
        if (args[i].kind == GRAPH_ARG_BUFFER)
            args[i].offset =
                args[i].written ? t->move.to_offset : t->move.from_offset;
    l->args = args;
}

bool stick_convert(stick_program *p, const blob_stage *s, const stick_step *t,
                   const char *name, graph_launch *out)
{
    const stick_move *m = &t->move;
    tensor_desc from, to;
    bool same_type;

    if (s->type == STAGE_COPY || m->scale != 1 || m->bias != 0 || !apart(t) ||
        !tensor_of(&s->buffers[0].desc, &from) ||
        !tensor_of(&s->buffers[1].desc, &to) || !keeps_names(m, s))
        return false;
    same_type = from.dtype == to.dtype;
    if (same_type ? from.layout == to.layout
                  : from.layout != to.layout ||
                        !graph_can_retype(from.dtype, to.dtype))
        return false;
    if (same_type)
        graph_permute(p->arena, &from, t->from, t->to, out);
    else
        graph_retype(p->arena, &from, to.dtype, t->from, t->to, out);
    place(p, out, t);
    out->name = out->layer = name;
    out->type = stage_name(s->type);
    out->file = "the blob";
    out->max_shaves = s->n_shaves;
    return true;
}
