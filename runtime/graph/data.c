/* Tensors of a graph: in which orders and types they stand, and the launches
 * that convert them. */
#include <string.h>

#include "runtime/graph/bind_priv.h"
#include "runtime/graph/convert.h"

graph_data *graph_data_new(arena *a, const char *name, graph_role role,
                           uint32_t port, const tensor_desc *desc)
{
    graph_data *d = arena_new(a, graph_data);

    *d = (graph_data){.name = name,
                      .origin = name,
                      .role = role,
                      .port = port,
                      .desc = *desc,
                      .host = desc->dtype};
    return d;
}

const char *graph_local_name(const graph_binder *b, const char *name)
{
    return b->chained ? arena_printf(b->arena, "%s@%s", b->target.name, name)
                      : name;
}

vpu_status graph_add_buffer(graph_binder *b, graph_buffer add,
                            const graph_place *at, uint32_t *index)
{
    vpu_status st = tensor_desc_check(&add.desc, b->err);

    if (st)
        return err_in(b->err, st, "%s:%u: buffer %s", at->path, at->line,
                      add.name);
    add.bytes = tensor_bytes(&add.desc);
    *index = (uint32_t)b->n_buffers;
    *arena_append(b->arena, b->graph->buffers, b->n_buffers, b->cap_buffers) =
        add;
    b->graph->n_buffers = (uint32_t)b->n_buffers;
    return VPU_OK;
}

void graph_add_launch(graph_binder *b, const graph_launch *add)
{
    *arena_append(b->arena, b->graph->launches, b->n_launches,
                  b->cap_launches) = *add;
    b->graph->n_launches = (uint32_t)b->n_launches;
}

/* --- names --------------------------------------------------------------- */

static const char *order_name(const tensor_desc *d, tensor_layout order)
{
    static const char *const names[TENSOR_MAX_RANK + 1][2] = {
        [3] = {"CHW", "HWC"}, [4] = {"NCHW", "NHWC"}, [5] = {"NCDHW", "NDHWC"}};
    const char *name = names[d->rank][order];

    return name ? name : "plain";
}

static const char *type_name(tensor_dtype t)
{
    return t == TENSOR_F32 ? "FP32" : "FP16";
}

static const char *with_suffix(const graph_binder *b, const char *name,
                               const char *suffix)
{
    return arena_printf(b->arena, "%s@%s", name, suffix);
}

static const char *label_of(const graph_data *d)
{
    return d->origin == d->name ? NULL : d->origin;
}

/* --- conversions --------------------------------------------------------- */

static void add_conversion(graph_binder *b, graph_launch *x, const char *name,
                           const graph_place *at)
{
    x->name = name;
    x->layer = b->target.name;
    x->type = b->target.type;
    x->file = at->path;
    x->line = at->line;
    graph_add_launch(b, x);
}

/* dst and src are buffers that differ in order only. */
static void add_permute(graph_binder *b, const char *direction, uint32_t src,
                        uint32_t dst, const graph_place *at)
{
    graph_launch x;

    graph_permute(b->arena, &b->graph->buffers[src].desc, src, dst, &x);
    add_conversion(b, &x,
                   arena_printf(b->arena, "%s@reorder-%s-data=%u", at->stage,
                                direction, at->edge),
                   at);
}

/* dst and src are buffers that differ in element type only. */
static void add_retype(graph_binder *b, const graph_data *d, uint32_t src,
                       uint32_t dst, const graph_place *at)
{
    tensor_dtype to = b->graph->buffers[dst].desc.dtype;
    graph_launch x;

    graph_retype(b->arena, &b->graph->buffers[src].desc, to, src, dst, &x);
    add_conversion(b, &x, with_suffix(b, d->origin, type_name(to)), at);
}

/* --- constants ----------------------------------------------------------- */

static uint16_t element_as_f16(const config_blob *blob, bool is_f32, size_t i)
{
    const char *p = blob->data;
    uint16_t h;
    float f;

    if (is_f32) {
        memcpy(&f, p + 4 * i, 4);
        return tensor_f32_to_f16(f);
    }
    memcpy(&h, p + 2 * i, 2);
    return h;
}

void *graph_const_elements(arena *a, const config_blob *blob, size_t n)
{
    tensor_dtype stored = TENSOR_F16;
    uint16_t *out;

    tensor_dtype_parse(blob->precision, &stored);
    if (stored == TENSOR_I32)
        return arena_memdup(a, blob->data, n * 4);
    out = arena_array(a, uint16_t, n);
    for (size_t i = 0; i < n; i++)
        out[i] = element_as_f16(blob, stored == TENSOR_F32, i);
    return out;
}

/* Constants are converted while the model is compiled, at no cost. */
static vpu_status place_const(graph_binder *b, graph_data *d,
                              tensor_layout order, const graph_place *at)
{
    graph_buffer add = {
        .name = d->name, .role = GRAPH_CONST, .port = d->port, .desc = d->desc};
    vpu_status st = tensor_desc_check(&d->desc, b->err);
    void *plain;

    if (st)
        return st;
    plain = graph_const_elements(b->arena, d->blob, tensor_elements(&d->desc));
    add.init = plain;
    if (order != TENSOR_PLAIN) {
        void *moved = arena_push(b->arena, tensor_bytes(&d->desc), 1, 16);

        tensor_relayout(&d->desc, plain, order, moved);
        add.init = moved;
        add.desc.layout = order;
    }
    return graph_add_buffer(b, add, at, &d->buffers[order]);
}

/* --- reading ------------------------------------------------------------- */

/* The host's buffer, and behind it the type that kernels see. */
static vpu_status place_input(graph_binder *b, graph_data *d,
                              const graph_place *at)
{
    graph_buffer host = {.name = d->name,
                         .label = label_of(d),
                         .role = GRAPH_INPUT,
                         .port = d->port,
                         .desc = d->desc};
    graph_buffer seen = host;
    uint32_t from;
    vpu_status st;

    host.desc.dtype = d->host;
    st = graph_add_buffer(b, host, at, &from);
    d->buffers[TENSOR_PLAIN] = from;
    d->placed[TENSOR_PLAIN] = true;
    if (st || d->host == d->desc.dtype)
        return st;
    seen.name = with_suffix(b, d->name, type_name(d->desc.dtype));
    seen.role = GRAPH_SCRATCH;
    st = graph_add_buffer(b, seen, at, &d->buffers[TENSOR_PLAIN]);
    if (!st)
        add_retype(b, d, from, d->buffers[TENSOR_PLAIN], at);
    return st;
}

vpu_status graph_read_data(graph_binder *b, graph_data *d, tensor_layout order,
                           const graph_place *at, uint32_t *index)
{
    tensor_layout made = d->desc.layout;
    graph_buffer add = {
        .name = with_suffix(b, d->name, order_name(&d->desc, order)),
        .role = GRAPH_SCRATCH,
        .port = d->port,
        .desc = d->desc};
    vpu_status st = VPU_OK;

    if (d->role == GRAPH_CONST && !d->placed[order])
        st = place_const(b, d, order, at);
    else if (d->role == GRAPH_INPUT && !d->placed[made])
        st = place_input(b, d, at);
    if (!st && !d->placed[order] && order != made && d->role != GRAPH_CONST) {
        add.desc.layout = order;
        st = graph_add_buffer(b, add, at, &d->buffers[order]);
        if (!st)
            add_permute(b, "input", d->buffers[made], d->buffers[order], at);
    }
    d->placed[order] |= !st;
    *index = d->buffers[order];
    return st;
}

/* --- writing ------------------------------------------------------------- */

static graph_buffer host_output(const graph_data *d)
{
    graph_buffer x = {.name = d->name,
                      .label = label_of(d),
                      .role = GRAPH_OUTPUT,
                      .port = d->port,
                      .desc = d->desc};

    x.desc.layout = TENSOR_PLAIN;
    x.desc.dtype = d->host;
    return x;
}

vpu_status graph_write_data(graph_binder *b, graph_data *d, tensor_layout order,
                            const graph_place *at, uint32_t *index,
                            bool *agrees)
{
    graph_buffer add = host_output(d);
    vpu_status st = VPU_OK;

    *agrees = !d->written || d->desc.layout == order;
    if (!*agrees)
        return VPU_OK;
    if (!d->written) {
        d->desc.layout = order;
        if (d->role == GRAPH_OUTPUT && order != TENSOR_PLAIN)
            add.name = with_suffix(b, d->name, order_name(&d->desc, order));
        else if (d->role == GRAPH_OUTPUT && d->host != d->desc.dtype)
            add.name = with_suffix(b, d->name, type_name(d->desc.dtype));
        if (add.name != d->name || d->role != GRAPH_OUTPUT)
            add.role = GRAPH_SCRATCH;
        add.desc = d->desc;
        st = graph_add_buffer(b, add, at, &d->buffers[order]);
        d->written = d->placed[order] = !st;
    }
    *index = d->buffers[order];
    return st;
}

vpu_status graph_finish_data(graph_binder *b, graph_data *d,
                             const graph_place *at)
{
    tensor_layout made = d->desc.layout;
    graph_buffer out = host_output(d), plain = out;
    bool retype = d->host != d->desc.dtype;
    uint32_t index;
    vpu_status st = VPU_OK;

    if (d->role != GRAPH_OUTPUT)
        return VPU_OK;
    if (made != TENSOR_PLAIN) {
        if (retype) {
            plain.name = with_suffix(b, d->name, type_name(d->desc.dtype));
            plain.role = GRAPH_SCRATCH;
            plain.desc.dtype = d->desc.dtype;
        }
        st = graph_add_buffer(b, plain, at, &d->buffers[TENSOR_PLAIN]);
        d->placed[TENSOR_PLAIN] = !st;
        if (!st)
            add_permute(b, "output", d->buffers[made], d->buffers[TENSOR_PLAIN],
                        at);
    }
    if (!st && retype) {
        st = graph_add_buffer(b, out, at, &index);
        if (!st)
            add_retype(b, d, d->buffers[TENSOR_PLAIN], index, at);
    }
    return st;
}
