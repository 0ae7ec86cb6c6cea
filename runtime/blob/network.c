/* From launches to stages. */
#include "runtime/blob/network.h"

#include <string.h>

#include "runtime/blob/meta.h"
#include "runtime/blob/plan.h"
#include "runtime/blob/stage.h"

enum { TEMP = 1024 }; /* bytes a custom stage wants beyond its kernel's file */

typedef struct {
    const network_config *cfg;
    const blob_release *release;
    const graph *g;
    arena *a;
    plan_tensor
        *tensors; /* the graph's buffers, then kernels and temporaries */
    uint32_t n_tensors;
    plan_stage *stages;
    vpu_error *err;
} network;

static vpu_status unsupported(network *w, const char *what, const char *name)
{
    return err_set(w->err, VPU_ERR_UNSUPPORTED,
                   "'%s': %s cannot be written for OpenVINO %s", name, what,
                   config_release_name(w->cfg->release));
}

/* --- tensors ------------------------------------------------------------- */

static bool type_of(tensor_dtype t, uint32_t *out)
{
    switch (t) {
    case TENSOR_F16:
        *out = BLOB_F16;
        return true;
    case TENSOR_F32:
        *out = BLOB_F32;
        return true;
    case TENSOR_I32:
        *out = BLOB_S32;
        return true;
    case TENSOR_U8:
        *out = BLOB_U8;
        return true;
    case TENSOR_I8:
        *out = BLOB_I8;
        return true;
    default:
        return false;
    }
}

/* Order and dims, the fastest first. */
static void form_of(const tensor_desc *d, plan_tensor *t)
{
    static const uint32_t plain[] = {0x3, 0x3, 0x43, 0x321, 0x4321, 0x43521};
    static const uint32_t minor[] = {0x3, 0x3, 0x43, 0x213, 0x4213, 0x45213};
    bool channels_first = d->layout == TENSOR_CHANNEL_MINOR && d->rank >= 3;
    uint32_t channel = d->rank > 3 ? 1 : 0, n = 0;

    t->order = (channels_first ? minor : plain)[d->rank];
    if (channels_first)
        t->dims[n++] = d->dims[channel];
    for (uint32_t i = d->rank; i-- > 0;)
        if (!channels_first || i != channel)
            t->dims[n++] = d->dims[i];
    if (!n)
        t->dims[n++] = 1; /* a scalar */
    t->rank = n;
}

const char *network_name(const graph *g, uint32_t buffer)
{
    const graph_buffer *b = &g->buffers[buffer];

    for (uint32_t i = 0; i < g->n_buffers && b->label; i++) {
        const graph_buffer *x = &g->buffers[i];

        if (i != buffer && x->role == b->role &&
            (!strcmp(x->name, b->label) ||
             (x->label && !strcmp(x->label, b->label))))
            return b->name;
    }
    return b->label ? b->label : b->name;
}

static vpu_status add_buffers(network *w)
{
    static const blob_location where[] = {[GRAPH_INPUT] = BLOB_INPUT,
                                          [GRAPH_OUTPUT] = BLOB_OUTPUT,
                                          [GRAPH_SCRATCH] = BLOB_BSS,
                                          [GRAPH_CONST] = BLOB_CONST};

    for (uint32_t i = 0; i < w->g->n_buffers; i++) {
        const graph_buffer *b = &w->g->buffers[i];
        plan_tensor *t = &w->tensors[w->n_tensors++];

        *t = (plan_tensor){.name = network_name(w->g, i),
                           .location = where[b->role],
                           .bytes = b->init};
        if (!type_of(b->desc.dtype, &t->type))
            return unsupported(w, tensor_dtype_name(b->desc.dtype), b->name);
        form_of(&b->desc, t);
    }
    return VPU_OK;
}

/* A batch is a tensor's whose dim 0 the vendor's compiler splits; weights,
 * bound with format ANY or as data, are none. */
static vpu_status check_batches(network *w, const graph_launch *l)
{
    for (uint32_t i = 0; i < l->n_args; i++) {
        const graph_arg *x = &l->args[i];
        const graph_buffer *b;

        if (x->kind != GRAPH_ARG_BUFFER || !x->split || x->items)
            continue;
        b = &w->g->buffers[x->buffer];
        if (b->desc.rank >= 4 && b->desc.dims[0] > 1)
            return err_set(w->err, VPU_ERR_UNSUPPORTED,
                           "'%s': a batch of %u is split on a stick: --batch "
                           "device; if they are weights, bind '%s' with format "
                           "ANY behind the data, or as Data and --blob "
                           "NAME=FILE",
                           b->name, b->desc.dims[0], x->name);
    }
    return VPU_OK;
}

/* The tensor an argument stands for: an item of a batch is one of its own, and
 * so is any other part of a tensor, as a row of elements. */
static uint32_t tensor_of(network *w, const graph_arg *x)
{
    plan_tensor *t = &w->tensors[w->n_tensors];

    if (!x->items && !x->bytes)
        return x->buffer;
    *t = w->tensors[x->buffer];
    t->name = "";
    t->bytes = NULL;
    if (x->items) {
        t->dims[t->rank - 1] /= x->items;
    } else {
        t->rank = 1;
        t->order = 0x3;
        t->dims[0] =
            x->bytes / tensor_dtype_bytes(w->g->buffers[x->buffer].desc.dtype);
    }
    t->part = true;
    t->whole = x->buffer;
    t->offset = x->offset;
    return w->n_tensors++;
}

static uint32_t add_bytes(network *w, uint32_t type, blob_location where,
                          size_t n, const void *bytes)
{
    w->tensors[w->n_tensors] = (plan_tensor){.name = "",
                                             .location = where,
                                             .type = type,
                                             .order = 0x3,
                                             .rank = 1,
                                             .dims = {(uint32_t)n},
                                             .bytes = bytes};
    return w->n_tensors++;
}

/* --- conversions --------------------------------------------------------- */

/* One of our launches: buffer `src` in another order or type. */
static vpu_status add_conversion(network *w, const graph_launch *l,
                                 plan_stage *s)
{
    const graph_arg *src = NULL, *dst = NULL;
    uint32_t *buffers = arena_array(w->a, uint32_t, 2);
    uint32_t *p = arena_array(w->a, uint32_t, 8);
    const plan_tensor *from, *to;
    vpu_status st = graph_launch_arg(l, "src", &src, w->err);
    const float one = 1;

    if (!st)
        st = graph_launch_arg(l, "dst", &dst, w->err);
    if (st)
        return st;
    if (w->release->major < 6)
        return unsupported(w, "a conversion between stages", l->name);
    buffers[0] = src->buffer;
    buffers[1] = dst->buffer;
    from = &w->tensors[src->buffer];
    to = &w->tensors[dst->buffer];
    if (from->type == to->type) {
        stage_permute_params(from->order, to->order, p);
        *s = (plan_stage){STAGE_PERMUTE, p, 8, buffers, 2};
        return VPU_OK;
    }
    memcpy(p, &one, sizeof one); /* scale 1, bias 0, not from a detection */
    p[3] = !(w->release->unbatched && to->location == BLOB_OUTPUT);
    *s = (plan_stage){STAGE_CONVERT, p, 4, buffers, 2};
    return VPU_OK;
}

/* --- custom stages ------------------------------------------------------- */

/* Number of the buffer of binding `of` among the stage's. */
static int32_t buffer_number(const graph_launch *l, const graph_arg *of,
                             uint32_t n_inputs)
{
    uint32_t in = 0, out = n_inputs + 1; /* behind the kernel's file */

    for (uint32_t i = 0; i < l->n_args && &l->args[i] != of; i++)
        if (l->args[i].kind == GRAPH_ARG_BUFFER)
            ++*(l->args[i].written ? &out : &in);
    return (int32_t)(of->written ? out : in);
}

static stage_arg argument(const graph_launch *l, const graph_arg *g,
                          uint32_t n_inputs)
{
    stage_arg out = {0, 0};

    switch (g->kind) {
    case GRAPH_ARG_INT:
        return (stage_arg){(uint32_t)g->integer, STAGE_ARG_INT};
    case GRAPH_ARG_FLOAT:
        memcpy(&out.value, &g->real, sizeof out.value);
        out.tag = STAGE_ARG_FLOAT;
        return out;
    case GRAPH_ARG_LOCAL:
        return (stage_arg){g->bytes, STAGE_ARG_LOCAL};
    default:
        out.tag = buffer_number(l, g, n_inputs);
        return out;
    }
}

/* Inputs, the kernel's file, outputs, the temporary. */
static void custom_buffers(network *w, const graph_launch *l,
                           const network_kernel *k, uint32_t *n_inputs,
                           plan_stage *s)
{
    uint32_t *list = arena_array(w->a, uint32_t, (size_t)l->n_args + 2), n = 0;
    uint32_t temp = w->release->temp_in_bytes ? BLOB_U8 : BLOB_F16;

    for (uint32_t i = 0; i < l->n_args; i++)
        if (l->args[i].kind == GRAPH_ARG_BUFFER && !l->args[i].written)
            list[n++] = tensor_of(w, &l->args[i]);
    *n_inputs = n;
    list[n++] = add_bytes(w, BLOB_U8, BLOB_CONST, k->file_bytes, k->file);
    for (uint32_t i = 0; i < l->n_args; i++)
        if (l->args[i].kind == GRAPH_ARG_BUFFER && l->args[i].written)
            list[n++] = tensor_of(w, &l->args[i]);
    list[n++] = add_bytes(w, temp, BLOB_BSS, k->file_bytes + TEMP, NULL);
    s->tensors = list;
    s->n_tensors = n;
}

static vpu_status work_sizes(network *w, const graph_launch *l, stage_custom *c)
{
    for (int i = 0; i < 3; i++) {
        if (!l->local[i] || l->global[i] % l->local[i])
            return err_set(w->err, VPU_ERR_INVALID,
                           "'%s': global size %u is no multiple of local %u",
                           l->name, l->global[i], l->local[i]);
        c->groups[i] = l->global[i] / l->local[i];
        c->local[i] = l->local[i];
    }
    return VPU_OK;
}

static vpu_status add_custom(network *w, const graph_launch *l,
                             const network_kernel *k, plan_stage *s)
{
    stage_custom c = {.max_shaves = l->max_shaves};
    blob_stage params = {0};
    stage_arg *args;
    meta_kernel m;
    vpu_status st =
        meta_read(&(const file_bytes){k->file, k->file_bytes, k->path},
                  l->entry, w->a, &m, w->err);

    if (st)
        return st;
    if (w->release->old_custom)
        return unsupported(w, "a custom stage", l->name);
    if (m.neo != w->release->neo)
        return err_set(w->err, VPU_ERR_MISMATCH,
                       "%s: compiled for OpenVINO %s; %s needs a kernel of its "
                       "own clc",
                       k->path, m.neo ? "2021.1 and later" : "up to 2020.4",
                       config_release_name(w->cfg->release));
    st = work_sizes(w, l, &c);
    custom_buffers(w, l, k, &c.n_data, s);
    c.n_buffers = s->n_tensors - 1;
    c.kernel = m.kernel;
    c.n_args = m.n_args;
    c.args = args = arena_array(w->a, stage_arg, m.n_args + 1);
    for (uint32_t i = 0; i < m.n_args && !st; i++) {
        const graph_arg *g;

        st = graph_launch_arg(l, m.args[i], &g, w->err);
        if (!st)
            args[i] = argument(l, g, c.n_data);
    }
    stage_custom_write(&c, w->release->custom, w->a, &params);
    s->type = params.type;
    s->params = params.params;
    s->n_params = params.n_params;
    return st;
}

vpu_status network_blob(const network_config *cfg, const graph *g, arena *a,
                        blob *out, vpu_error *err)
{
    network w = {.cfg = cfg,
                 .release = blob_release_of(cfg->release),
                 .g = g,
                 .a = a,
                 .err = err};
    plan p = {.release = w.release,
              .n_slices = cfg->n_slices,
              .n_shaves = cfg->n_shaves};
    size_t n_args = 0;
    vpu_status st;

    for (uint32_t i = 0; i < g->n_launches; i++)
        n_args += g->launches[i].n_args;
    w.tensors = arena_array(
        a, plan_tensor, g->n_buffers + 2 * (size_t)g->n_launches + n_args + 1);
    w.stages = arena_array(a, plan_stage, g->n_launches + 1);
    st = add_buffers(&w);
    for (uint32_t i = 0; i < g->n_launches && !st; i++) {
        const graph_launch *l = &g->launches[i];

        st = check_batches(&w, l);
        if (st)
            break;
        st = l->text ? add_conversion(&w, l, &w.stages[i])
                     : add_custom(&w, l, &cfg->kernels[i], &w.stages[i]);
    }
    p.tensors = w.tensors;
    p.n_tensors = w.n_tensors;
    p.stages = w.stages;
    p.n_stages = g->n_launches;
    return st ? st : plan_blob(&p, a, out, err);
}
