/* The layer to bind, put together from shapes and parameters; and the texts
 * that describe them on a command line. */
#include "runtime/graph/bind_priv.h"

#include <string.h>

#include "base/str.h"
#include "runtime/graph/npy.h"

enum { MAX_PORTS = 1024, MAX_PARAMS = 4096, MAX_PADDING = 65535 };

/* --- texts --------------------------------------------------------------- */

static bool read_u32(const char **p, uint32_t *out)
{
    uint64_t v = 0;
    const char *start = *p;

    for (; **p >= '0' && **p <= '9'; (*p)++) {
        v = v * 10 + (uint64_t)(**p - '0');
        if (v > UINT32_MAX)
            return false;
    }
    *out = (uint32_t)v;
    return *p != start;
}

static vpu_status bad_shape(const char *text, const char *why, vpu_error *err)
{
    return err_set(err, VPU_ERR_INVALID,
                   "shape '%s': %s; expected something like in0=1x24x128x512 "
                   "or out0=1x24x128x512:f32",
                   text, why);
}

vpu_status graph_shape_parse(const char *text, graph_shape *out, vpu_error *err)
{
    graph_shape s = {.desc.dtype = TENSOR_F16};
    const char *p = text;
    vpu_status st;

    if (!strncmp(p, "in", 2))
        p += 2;
    else if (!strncmp(p, "out", 3))
        s.output = true, p += 3;
    else
        return bad_shape(text, "it names neither an input nor an output", err);
    if (!read_u32(&p, &s.port) || s.port >= MAX_PORTS)
        return bad_shape(text, "the port is not a number below 1024", err);
    if (*p++ != '=')
        return bad_shape(text, "'=' is missing after the port", err);
    do {
        if (s.desc.rank == TENSOR_MAX_RANK)
            return bad_shape(text, "more than 5 dims", err);
        if (!read_u32(&p, &s.desc.dims[s.desc.rank++]))
            return bad_shape(text, "a dim is not a number of 32 bits", err);
    } while (*p++ == 'x');
    p--;
    if (*p == ':') {
        if (!tensor_dtype_parse(p + 1, &s.desc.dtype))
            return bad_shape(text,
                             "the element type is none of f16 f32 i32 u8 i8 "
                             "i16 u16 i64",
                             err);
    } else if (*p) {
        return bad_shape(text, "unexpected text behind the dims", err);
    }
    st = tensor_desc_check(&s.desc, err);
    if (st)
        return err_in(err, st, "shape '%s'", text);
    *out = s;
    return VPU_OK;
}

static vpu_status bad_padding(const char *text, vpu_error *err)
{
    return err_set(err, VPU_ERR_INVALID,
                   "padding '%s': expected something like in0=1,2,0,0 or "
                   "out0=0,1,0,0: elements left, right, above and below, each "
                   "at most %d",
                   text, MAX_PADDING);
}

vpu_status graph_padding_parse(const char *text, graph_padding *out,
                               vpu_error *err)
{
    graph_padding x = {0};
    uint32_t *const sides[] = {&x.left, &x.right, &x.top, &x.bottom};
    const char *p = text;

    x.output = !strncmp(p, "out", 3);
    if (!x.output && strncmp(p, "in", 2))
        return bad_padding(text, err);
    p += x.output ? 3 : 2;
    if (!read_u32(&p, &x.port) || x.port >= MAX_PORTS || *p != '=')
        return bad_padding(text, err);
    for (int i = 0; i < 4; i++) {
        if (*p++ != (i ? ',' : '=') || !read_u32(&p, sides[i]) ||
            *sides[i] > MAX_PADDING)
            return bad_padding(text, err);
    }
    if (*p)
        return bad_padding(text, err);
    *out = x;
    return VPU_OK;
}

vpu_status graph_param_parse(const char *text, arena *a, config_param *out,
                             vpu_error *err)
{
    const char *eq = strchr(text, '=');

    if (!eq || eq == text)
        return err_set(err, VPU_ERR_INVALID,
                       "parameter '%s': expected name=value", text);
    out->name = arena_strndup(a, text, (size_t)(eq - text));
    out->value = arena_strdup(a, eq + 1);
    return VPU_OK;
}

/* Bytes as they are: a kernel looks at them through a pointer to bytes. The
 * device has halves there, so that a byte more may be behind the last. */
static void keep_bytes(arena *a, const tensor *t, config_blob *out)
{
    uint64_t n = tensor_bytes(&t->desc);
    uint8_t *data = arena_push(a, n + 1, 1, 16);

    memcpy(data, t->data, n);
    out->precision = tensor_dtype_name(TENSOR_F16);
    out->data = data;
    out->bytes = (n + 1) / 2 * 2;
}

vpu_status graph_blob_read(const char *text, arena *a, config_blob *out,
                           vpu_error *err)
{
    const char *eq = strchr(text, '=');
    tensor t;
    vpu_status st;

    if (!eq || eq == text || !eq[1])
        return err_set(err, VPU_ERR_INVALID,
                       "blob '%s': expected NAME=FILE.npy", text);
    st = npy_read(eq + 1, a, &t, err);
    if (st)
        return st;
    if (t.desc.dtype != TENSOR_F16 && t.desc.dtype != TENSOR_F32 &&
        t.desc.dtype != TENSOR_U8 && t.desc.dtype != TENSOR_I8)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "blob '%s': the file is %s; expected f16, f32, or bytes "
                       "(u8, i8), which stay as they are",
                       text, tensor_desc_text(a, &t.desc));
    *out = (config_blob){.name = arena_strndup(a, text, (size_t)(eq - text)),
                         .precision = tensor_dtype_name(t.desc.dtype),
                         .data = t.data,
                         .bytes = tensor_bytes(&t.desc)};
    if (tensor_dtype_bytes(t.desc.dtype) == 1)
        keep_bytes(a, &t, out);
    return VPU_OK;
}

/* --- by hand ------------------------------------------------------------- */

const char *graph_line_of(const graph_binder *b, const config_layer *l)
{
    bool only = !strcmp(b->request->binding->path, l->path);

    return only ? arena_printf(b->arena, "line %u", l->line)
                : arena_printf(b->arena, "%s:%u", l->path, l->line);
}

const char *graph_list_types(const graph_binder *b)
{
    const config_file *f = b->request->binding;
    const char *text;
    str s = {0};

    for (size_t i = 0; i < f->n_layers; i++) {
        size_t before = 0;

        while (!config_layer_is_for(&f->layers[i], f->layers[before].type))
            before++;
        if (before == i)
            str_printf(&s, "%s%s (%s)", i ? ", " : "", f->layers[i].type,
                       graph_line_of(b, &f->layers[i]));
    }
    text = arena_strdup(b->arena, str_text(&s));
    str_free(&s);
    return text;
}

static vpu_status only_type(graph_binder *b)
{
    const config_file *f = b->request->binding;

    b->target.type = b->request->type;
    for (size_t i = 0; i < f->n_layers && !b->request->type; i++) {
        if (b->target.type &&
            !config_layer_is_for(&f->layers[i], b->target.type))
            return err_set(b->err, VPU_ERR_INVALID,
                           "%s: binds several layer types: %s; say which "
                           "one is meant (--layer)",
                           f->path, graph_list_types(b));
        b->target.type = f->layers[i].type;
    }
    b->target.name = b->target.type;
    return VPU_OK;
}

static vpu_status take_shapes(graph_binder *b)
{
    const graph_request *q = b->request;
    tensor_desc out = {0};
    bool has_output = false;

    for (size_t i = 0; i < q->n_shapes; i++)
        if (!q->shapes[i].output && q->shapes[i].port >= b->target.n_inputs)
            b->target.n_inputs = (size_t)q->shapes[i].port + 1;
    if (!b->target.n_inputs || b->target.n_inputs > MAX_PORTS)
        return err_set(b->err, VPU_ERR_INVALID,
                       "no input shape is given; expected at least in0, as in "
                       "in0=1x24x128x512");
    b->target.inputs = arena_array(b->arena, graph_data *, b->target.n_inputs);
    for (size_t i = 0; i < q->n_shapes; i++) {
        const graph_shape *s = &q->shapes[i];

        if (s->output && s->port)
            return err_set(b->err, VPU_ERR_INVALID,
                           "shape out%u: a custom layer has exactly one "
                           "output, out0",
                           s->port);
        if (s->output ? has_output : b->target.inputs[s->port] != NULL)
            return err_set(b->err, VPU_ERR_INVALID, "shape %s%u is given twice",
                           s->output ? "out" : "in", s->port);
        if (s->output)
            out = s->desc, has_output = true;
        else
            b->target.inputs[s->port] = graph_data_new(
                b->arena, arena_printf(b->arena, "in%u", s->port), GRAPH_INPUT,
                s->port, &s->desc);
    }
    for (size_t i = 0; i < b->target.n_inputs; i++)
        if (!b->target.inputs[i])
            return err_set(b->err, VPU_ERR_INVALID,
                           "the shape of in%zu is missing, in%zu is given", i,
                           b->target.n_inputs - 1);
    b->target.output =
        graph_data_new(b->arena, "out0", GRAPH_OUTPUT, 0,
                       has_output ? &out : &b->target.inputs[0]->desc);
    return VPU_OK;
}

static vpu_status by_hand(graph_binder *b)
{
    vpu_status st = only_type(b);

    b->target.params = b->request->params;
    b->target.n_params = b->request->n_params;
    b->target.blobs = b->request->blobs;
    b->target.n_blobs = b->request->n_blobs;
    return st ? st : take_shapes(b);
}

/* --- both ---------------------------------------------------------------- */

/* A launch of SimpleGPU covers the batch. */
static bool is_gpu(const graph_binder *b)
{
    const config_file *f = b->request->binding;

    for (size_t i = 0; i < f->n_layers; i++)
        if (f->layers[i].form == CONFIG_FORM_GPU &&
            config_layer_is_for(&f->layers[i], b->target.type))
            return true;
    return false;
}

static vpu_status check_desc(const graph_binder *b, const char *side,
                             size_t port, const tensor_desc *d)
{
    vpu_status st = tensor_desc_check(d, b->err);

    if (!st && !d->rank)
        st = err_set(b->err, VPU_ERR_UNSUPPORTED,
                     "the tensor, %s, has no dims; expected 1 to %d",
                     tensor_desc_text(b->arena, d), TENSOR_MAX_RANK);
    for (uint32_t i = 0; i < d->rank && !st; i++)
        if (d->dims[i] > INT32_MAX)
            st = err_set(b->err, VPU_ERR_LIMIT, "dim %u is above 2^31 - 1", i);
    if (st)
        return err_in(b->err, st, "%s%zu of layer %s", side, port,
                      b->target.name);
    /* The first input decides; weights, bound as ANY, are never split. */
    if (d->rank >= 4 && d->dims[0] > 1 && !port && !strcmp(side, "in") &&
        b->request->batch == GRAPH_BATCH_WHOLE && !is_gpu(b))
        log_warn(b->log,
                 "%s%zu of layer %s has a batch of %u; the compiler runs the "
                 "stages once per item (--batch device), here they see the "
                 "whole tensor",
                 side, port, b->target.name, d->dims[0]);
    return VPU_OK;
}

static vpu_status check_target(graph_binder *b, const graph_target *t)
{
    vpu_status st = VPU_OK;

    b->target = *t;
    for (size_t i = 0; i < t->n_inputs && !st; i++)
        st = check_desc(b, "in", i, &t->inputs[i]->desc);
    if (!st && t->n_params > MAX_PARAMS)
        st = err_set(b->err, VPU_ERR_LIMIT,
                     "layer %s has %zu parameters, the limit is %d", t->name,
                     t->n_params, MAX_PARAMS);
    return st ? st : check_desc(b, "out", 0, &t->output->desc);
}

vpu_status graph_find_targets(graph_binder *b, graph_target **out, size_t *n)
{
    vpu_status st;

    if (b->request->model && b->request->n_shapes)
        return err_set(b->err, VPU_ERR_INVALID,
                       "shapes are given, but the layer comes from a model");
    if (b->request->model) {
        st = graph_targets_of_model(b, out, n);
    } else {
        st = by_hand(b);
        *out = arena_memdup(b->arena, &b->target, sizeof b->target);
        *n = 1;
    }
    for (size_t i = 0; !st && i < *n; i++)
        st = check_target(b, &(*out)[i]);
    return st;
}
