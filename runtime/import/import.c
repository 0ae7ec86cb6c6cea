/* From a blob to a graph. */
#include "runtime/import/import_priv.h"

#include <string.h>

#include "runtime/blob/check.h"
#include "runtime/blob/stage.h"
#include "runtime/native/native.h"

/* --- inputs and outputs -------------------------------------------------- */

uint32_t import_batch(const blob *b)
{
    return b->batch ? b->batch : 1;
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

/* Channels innermost, the other dims as the IR writes them. */
static bool is_channel_minor(const blob_desc *d)
{
    static const uint32_t minor[] = {0, 0, 0, 0x213, 0x4213, 0x45213};

    return d->rank < sizeof minor / sizeof *minor && d->rank >= 3 &&
           d->order == minor[d->rank];
}

/* Dims as the IR has them, the outermost first; of an order that no tensor of
 * ours has, as memory has them. */
static bool shape_of(const blob_desc *d, tensor_desc *out)
{
    if (d->rank > TENSOR_MAX_RANK || !dtype_of(d->type, &out->dtype))
        return false;
    out->rank = d->rank;
    out->layout = is_channel_minor(d) ? TENSOR_CHANNEL_MINOR : TENSOR_PLAIN;
    for (uint32_t i = 0; i < d->rank; i++)
        out->dims[i] = d->dims[d->rank - 1 - i];
    if (out->layout == TENSOR_CHANNEL_MINOR) {
        uint32_t c = d->rank == 3 ? 0 : 1; /* place of the channels */

        memmove(out->dims + c + 1, out->dims + c,
                (d->rank - 1 - c) * sizeof *out->dims);
        out->dims[c] = d->dims[0];
    }
    return true;
}

/* N items of it, one behind the other. */
static bool times(tensor_desc *t, uint32_t n)
{
    if (n == 1)
        return true;
    if (t->rank && t->dims[0] == 1 &&
        !(t->layout == TENSOR_CHANNEL_MINOR && t->rank == 3)) {
        t->dims[0] = n;
        return true;
    }
    if (t->rank == TENSOR_MAX_RANK || t->layout != TENSOR_PLAIN)
        return false;
    memmove(t->dims + 1, t->dims, t->rank * sizeof *t->dims);
    t->dims[0] = n;
    t->rank++;
    return true;
}

/* Where the next one begins, or all end. */
static uint64_t end_of(const blob_io *list, uint32_t n, uint32_t i,
                       uint32_t all)
{
    return i + 1 < n ? list[i + 1].offset : all;
}

static void add_io(import_state *m, const blob_io *list, uint32_t n, uint32_t i,
                   bool output)
{
    const blob *b = m->b;
    const blob_io *io = &list[i];
    uint64_t bytes = blob_desc_bytes(&io->desc);
    uint32_t batch = import_batch(b), at = m->g->n_buffers++;
    uint64_t room =
        end_of(list, n, i, output ? b->outputs_size : b->inputs_size) -
        io->offset;
    graph_buffer *x = &m->g->buffers[at];

    /* An output that does not scale with the batch is there once. */
    if (batch > 1 && room / batch < bytes)
        batch = 1;
    m->step[at] = batch > 1 ? bytes : 0;
    *x = (graph_buffer){
        .name = arena_printf(m->arena, "%s%u", output ? "out" : "in", i),
        .label = io->name,
        .role = output ? GRAPH_OUTPUT : GRAPH_INPUT,
        .port = i,
        .bytes = bytes * batch};
    if (!shape_of(&io->desc, &x->desc) || !times(&x->desc, batch) ||
        tensor_bytes(&x->desc) != x->bytes)
        x->desc =
            (tensor_desc){TENSOR_U8, 1, {(uint32_t)x->bytes}, TENSOR_PLAIN};
}

/* --- memory -------------------------------------------------------------- */

static uint32_t add_memory(import_state *m, const char *name, graph_role role,
                           uint64_t bytes, const void *init)
{
    uint64_t n = bytes ? bytes : 1;
    uint32_t at = m->g->n_buffers++;

    m->g->buffers[at] =
        (graph_buffer){.name = name,
                       .role = role,
                       .desc = {TENSOR_U8, 1, {(uint32_t)n}, TENSOR_PLAIN},
                       .untyped = true,
                       .bytes = n,
                       .init = bytes ? init : NULL};
    return at;
}

static void add_buffers(import_state *m)
{
    const blob *b = m->b;
    uint32_t n = b->n_inputs + b->n_outputs + 3;

    m->g->buffers = arena_array(m->arena, graph_buffer, n);
    m->step = arena_array(m->arena, uint64_t, n);
    for (uint32_t i = 0; i < b->n_inputs; i++)
        add_io(m, b->inputs, b->n_inputs, i, false);
    m->outputs = m->g->n_buffers;
    for (uint32_t i = 0; i < b->n_outputs; i++)
        add_io(m, b->outputs, b->n_outputs, i, true);
    m->scratch = add_memory(m, "scratch", GRAPH_SCRATCH, b->bss_size, NULL);
    m->cmx = add_memory(m, "cmx", GRAPH_SCRATCH,
                        (uint64_t)b->n_slices * BLOB_SLICE, NULL);
    m->constants =
        add_memory(m, "constants", GRAPH_CONST, b->n_constants, b->constants);
}

bool import_place(const import_state *m, const blob_buffer *f, uint32_t *buffer)
{
    switch (f->location) {
    case BLOB_INPUT:
        *buffer = f->data.index;
        return f->data.index < m->b->n_inputs;
    case BLOB_OUTPUT:
        *buffer = m->outputs + f->data.index;
        return f->data.index < m->b->n_outputs;
    case BLOB_BSS:
        *buffer = m->scratch;
        return true;
    case BLOB_CMX:
        *buffer = m->cmx;
        return true;
    case BLOB_CONST:
        *buffer = m->constants;
        return true;
    default:
        return false;
    }
}

/* --- stages -------------------------------------------------------------- */

/* --- what the compiler calls things -------------------------------------- */

static const openvino_stage *known(const import_state *m, uint32_t i)
{
    return i < m->c->n_stages ? &m->c->stages[i] : NULL;
}

static const char *name_of(const import_state *m, uint32_t i)
{
    const openvino_stage *s = known(m, i);

    return s && *s->name ? arena_printf(m->arena, "%s", s->name)
                         : arena_printf(m->arena, "stage %u", i);
}

const char *import_layer_name(const import_state *m, uint32_t i,
                              const char *name)
{
    const openvino_stage *s = known(m, i);

    return s && *s->layer ? s->layer : name;
}

/* Dims in the IR's order: batch, channels, depth, rows, columns. False: a
 * tensor of more dims than ours have. */
static bool output_of(const blob_desc *d, graph_layer_output *out)
{
    static const uint32_t letters[] = {4, 3, 5, 2, 1};
    tensor_desc *to = &out->as.desc;

    if (d->rank > TENSOR_MAX_RANK || !dtype_of(d->type, &to->dtype))
        return false;
    for (uint32_t k = 0; k < 5; k++)
        for (uint32_t i = 0; i < d->rank; i++)
            if ((d->order >> (4 * i) & 15) == letters[k]) {
                to->dims[to->rank] = d->dims[i];
                out->strides[to->rank++] = d->strides[i];
            }
    out->as.bytes = tensor_bytes(to);
    return to->rank == d->rank;
}

/* The record's buffer at the place that argument has. */
static const blob_desc *desc_of(const import_state *m, const blob_stage *s,
                                const graph_arg *x)
{
    uint32_t at;

    for (uint32_t i = 0; i < s->n_buffers; i++)
        if (s->buffers[i].location != BLOB_NOWHERE &&
            import_place(m, &s->buffers[i], &at) && at == x->buffer &&
            s->buffers[i].offset == x->offset)
            return &s->buffers[i].desc;
    return NULL;
}

static void take_outputs(import_state *m, const blob_stage *s, uint32_t i,
                         const graph_launch *l)
{
    const openvino_stage *k = known(m, i);
    size_t n = m->g->n_layers;

    for (uint32_t x = 0, w = 0; k && x < l->n_args && w < k->n_writes; x++) {
        const graph_arg *arg = &l->args[x];
        graph_layer_output out = {
            .as = {.name = k->writes[w], .role = GRAPH_SCRATCH},
            .launch = (uint32_t)(l - m->g->launches),
            .buffer = arg->buffer,
            .offset = arg->offset};
        const blob_desc *d;

        if (arg->kind != GRAPH_ARG_BUFFER || !arg->written)
            continue;
        d = desc_of(m, s, arg);
        if (*k->writes[w] && d && output_of(d, &out))
            *arena_append(m->arena, m->g->layers, n, m->layers_cap) = out;
        w++;
    }
    m->g->n_layers = (uint32_t)n;
}

/* --- launches ------------------------------------------------------------ */

static vpu_status add_launch(import_state *m, graph_launch **out,
                             vpu_error *err)
{
    size_t n = m->g->n_launches;

    if (n >= IMPORT_MAX_LAUNCHES)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "more than %d stages, those of loops and batches "
                       "counted each time",
                       IMPORT_MAX_LAUNCHES);
    *out = arena_append(m->arena, m->g->launches, n, m->launches_cap);
    m->g->n_launches = (uint32_t)n;
    return VPU_OK;
}

static vpu_status take_operands(import_state *m, const native_op *op,
                                graph_launch *l, vpu_error *err)
{
    graph_arg *args;

    l->n_args = native_n_operands(op);
    l->args = args = arena_array(m->arena, graph_arg, l->n_args + 1);
    for (uint32_t i = 0; i < l->n_args; i++) {
        const native_operand *o = native_operand_at(op, i);

        args[i] = (graph_arg){.name = o->name,
                              .kind = GRAPH_ARG_BUFFER,
                              .offset = o->buffer->offset,
                              .bytes = (uint32_t)o->span,
                              .written = o->written};
        if (!import_place(m, o->buffer, &args[i].buffer))
            return err_set(err, VPU_ERR_PARSE, "%s lies nowhere", o->name);
    }
    return VPU_OK;
}

vpu_status import_native(import_state *m, const blob_stage *s, uint32_t i,
                         const char *name, vpu_error *err)
{
    graph_launch *l;
    native_op *op;
    vpu_status st = native_make(m->b, s, m->arena, &op, err);

    if (!st)
        st = add_launch(m, &l, err);
    if (st)
        return err_in(err, st, "stage %u", i);
    *l = (graph_launch){.name = name,
                        .layer = import_layer_name(m, i, name),
                        .type = stage_name(s->type),
                        .entry = stage_name(s->type),
                        .native = op,
                        .by_index = true,
                        .of_blob = true,
                        .global = {1, 1, 1},
                        .local = {1, 1, 1},
                        .max_shaves = s->n_shaves,
                        .file = "the blob",
                        .line = i};
    st = take_operands(m, op, l, err);
    if (!st && s == &m->b->stages[i])
        take_outputs(m, s, i, l);
    return st ? err_in(err, st, "stage %u", i) : VPU_OK;
}

static vpu_status custom(import_state *m, const blob_stage *s, uint32_t i,
                         const char *name, vpu_error *err)
{
    graph_launch *l;
    vpu_status st = add_launch(m, &l, err);

    if (!st)
        st = import_custom(m, s, name, l, err);
    if (st)
        return err_in(err, st, "stage %u", i);
    l->line = i;
    l->of_blob = true;
    l->layer = import_layer_name(m, i, name);
    take_outputs(m, s, i, l);
    return VPU_OK;
}

vpu_status import_stages(import_state *m, uint32_t first, uint32_t end,
                         vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (uint32_t i = first, next; i < end && !st; i = next) {
        const blob_stage *s = &m->b->stages[i];
        const char *name = name_of(m, i);

        next = i + 1;
        if (s->type == STAGE_LOOP_START)
            st = import_loop(m, i, end, &next, err);
        else if (s->type == STAGE_LOOP_END)
            st = err_set(err, VPU_ERR_PARSE,
                         "stage %u: LoopEnd without its LoopStart", i);
        else if (s->type == STAGE_CUSTOM)
            st = custom(m, s, i, name, err);
        else if (s->type != STAGE_NONE)
            st = import_native(m, s, i, name, err);
    }
    return st;
}

/* The same launches for another item: its inputs and outputs lie further on. */
static vpu_status add_item(import_state *m, uint32_t n, uint32_t item,
                           vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < n && !st; i++) {
        graph_launch *l;
        graph_arg *args;

        st = add_launch(m, &l, err);
        if (st)
            break;
        *l = m->g->launches[i];
        l->name = arena_printf(m->arena, "%s, item %u", l->name, item);
        args = arena_memdup(m->arena, l->args, l->n_args * sizeof *l->args);
        l->args = args;
        for (uint32_t k = 0; k < l->n_args; k++)
            if (args[k].kind == GRAPH_ARG_BUFFER)
                args[k].offset += (uint32_t)(m->step[args[k].buffer] * item);
    }
    return st;
}

static vpu_status add_stages(import_state *m, vpu_error *err)
{
    vpu_status st = import_stages(m, 0, m->b->n_stages, err);
    uint32_t once = m->g->n_launches, batch = import_batch(m->b);

    for (uint32_t item = 1; item < batch && once && !st; item++)
        st = add_item(m, once, item, err);
    return st;
}

static vpu_status check(const import_state *m, vpu_error *err)
{
    str text = {0};
    vpu_status st = VPU_OK;

    if (blob_check(m->b, m->arena, &text))
        st = err_set(err, VPU_ERR_PARSE,
                     "the blob does not agree with itself: %.1000s",
                     str_text(&text));
    str_free(&text);
    return st;
}

vpu_status import_blob(const blob *b, const import_config *c, arena *a,
                       graph *out, vpu_error *err)
{
    import_state m = {.b = b, .c = c, .arena = a, .g = out};
    vpu_status st = check(&m, err);

    *out = (graph){.layer = "blob",
                   .type = "blob",
                   .form = "blob",
                   .batch = import_batch(b)};
    if (st)
        return st;
    add_buffers(&m);
    return add_stages(&m, err);
}
