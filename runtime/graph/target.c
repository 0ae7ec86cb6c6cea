/* The layer to bind: found in a model, or put together from shapes and
 * parameters; and the texts that describe them on a command line. */
#include "runtime/graph/bind_priv.h"

#include <string.h>
#include <strings.h>

enum { MAX_PORTS = 1024, MAX_PARAMS = 4096 };

/* --- texts ------------------------------------------------------------ */

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

/* --- by hand ---------------------------------------------------------- */

static vpu_status only_type(binder *b)
{
    const config_file *f = b->q->binding;

    b->t.type = b->q->type;
    for (size_t i = 0; i < f->n_layers && !b->q->type; i++) {
        if (b->t.type && strcasecmp(b->t.type, f->layers[i].type))
            return err_set(b->err, VPU_ERR_INVALID,
                           "%s: binds several layer types (%s in line %u, %s "
                           "in line %u); say which one is meant",
                           f->path, f->layers[0].type, f->layers[0].line,
                           f->layers[i].type, f->layers[i].line);
        b->t.type = f->layers[i].type;
    }
    b->t.name = b->t.type;
    return VPU_OK;
}

static vpu_status take_shapes(binder *b)
{
    const graph_request *q = b->q;
    bool has_output = false;
    bool *seen;

    for (size_t i = 0; i < q->n_shapes; i++)
        if (!q->shapes[i].output && q->shapes[i].port >= b->t.n_inputs)
            b->t.n_inputs = (size_t)q->shapes[i].port + 1;
    if (!b->t.n_inputs || b->t.n_inputs > MAX_PORTS)
        return err_set(b->err, VPU_ERR_INVALID,
                       "no input shape is given; expected at least in0, as in "
                       "in0=1x24x128x512");
    b->t.inputs = arena_array(b->a, target_input, b->t.n_inputs);
    seen = arena_array(b->a, bool, b->t.n_inputs);
    for (size_t i = 0; i < q->n_shapes; i++) {
        const graph_shape *s = &q->shapes[i];

        if (s->output && s->port)
            return err_set(b->err, VPU_ERR_INVALID,
                           "shape out%u: a custom layer has exactly one "
                           "output, out0",
                           s->port);
        if (s->output ? has_output : seen[s->port])
            return err_set(b->err, VPU_ERR_INVALID, "shape %s%u is given twice",
                           s->output ? "out" : "in", s->port);
        if (s->output)
            b->t.output = s->desc;
        else
            b->t.inputs[s->port].desc = s->desc;
        *(s->output ? &has_output : &seen[s->port]) = true;
    }
    for (size_t i = 0; i < b->t.n_inputs; i++)
        if (!seen[i])
            return err_set(b->err, VPU_ERR_INVALID,
                           "the shape of in%zu is missing, in%zu is given", i,
                           b->t.n_inputs - 1);
    if (!has_output)
        b->t.output = b->t.inputs[0].desc;
    return VPU_OK;
}

static vpu_status by_hand(binder *b)
{
    vpu_status st = only_type(b);

    b->t.params = b->q->params;
    b->t.n_params = b->q->n_params;
    b->t.blobs = b->q->blobs;
    b->t.n_blobs = b->q->n_blobs;
    return st ? st : take_shapes(b);
}

/* --- from a model ----------------------------------------------------- */

static bool is_bound(const config_file *f, const char *type)
{
    for (size_t i = 0; i < f->n_layers; i++)
        if (!strcasecmp(f->layers[i].type, type))
            return true;
    return false;
}

static vpu_status find_layer(const binder *b, const config_model_layer **out)
{
    const config_model *m = b->q->model;

    *out = NULL;
    if (b->q->at) {
        *out = config_model_find(m, b->q->at);
        if (!*out)
            return err_set(b->err, VPU_ERR_INVALID,
                           "%s: there is no layer named '%s'", m->path,
                           b->q->at);
        if (!is_bound(b->q->binding, (*out)->type))
            return err_set(b->err, VPU_ERR_INVALID,
                           "%s:%u: layer '%s' is of type %s, which %s does not "
                           "bind",
                           m->path, (*out)->line, b->q->at, (*out)->type,
                           b->q->binding->path);
        return VPU_OK;
    }
    for (size_t i = 0; i < m->n_layers; i++) {
        const config_model_layer *l = &m->layers[i];

        if (!is_bound(b->q->binding, l->type))
            continue;
        if (*out)
            return err_set(b->err, VPU_ERR_INVALID,
                           "%s: several layers are of a bound type ('%s' in "
                           "line %u, '%s' in line %u); say which one is meant",
                           m->path, (*out)->name, (*out)->line, l->name,
                           l->line);
        *out = l;
    }
    if (*out)
        return VPU_OK;
    return err_set(b->err, VPU_ERR_INVALID,
                   "%s: no layer is of a type that %s binds", m->path,
                   b->q->binding->path);
}

static vpu_status port_desc(const binder *b, const config_model_layer *l,
                            const config_port *p, const char *precision,
                            tensor_desc *out)
{
    const char *path = b->q->model->path;

    *out = (tensor_desc){.dtype = TENSOR_F16, .rank = p->rank};
    if (p->rank > TENSOR_MAX_RANK)
        return graph_fail(b, path, p->line, "port %u of layer %s has %u dims",
                          p->id, l->name, p->rank);
    for (uint32_t i = 0; i < p->rank; i++) {
        if (p->dims[i] == CONFIG_DIM_DYNAMIC)
            return graph_fail(b, path, p->line,
                              "port %u of layer %s has a dynamic dim; expected "
                              "a fixed shape",
                              p->id, l->name);
        out->dims[i] = p->dims[i];
    }
    if (precision && !tensor_dtype_parse(precision, &out->dtype))
        return err_at(b->err, VPU_ERR_UNSUPPORTED, path, p->line, 0,
                      "error: precision %s of port %u of layer %s; supported "
                      "are FP16 FP32 I32 U8 I8 I16 U16 I64 BOOL",
                      precision, p->id, l->name);
    if (out->dtype == TENSOR_F32)
        out->dtype = TENSOR_F16;
    return VPU_OK;
}

static bool is_type(const config_model_layer *l, const char *a, const char *b)
{
    return !strcasecmp(l->type, a) || (b && !strcasecmp(l->type, b));
}

/* The dtype of a constant on the device: floats become halves. */
static vpu_status const_input(const binder *b, const config_model_layer *l,
                              const config_model_layer *from, target_input *in)
{
    const config_blob *blob = from->n_blobs ? &from->blobs[0] : NULL;
    const char *path = b->q->model->path;
    tensor_dtype stored;
    uint64_t want;

    if (!blob)
        return graph_fail(b, path, from->line, "constant %s has no blob",
                          from->name);
    if (!tensor_dtype_parse(blob->precision, &stored) ||
        (stored != TENSOR_F16 && stored != TENSOR_F32 && stored != TENSOR_I32))
        return err_at(b->err, VPU_ERR_UNSUPPORTED, path, blob->line, 0,
                      "error: constant %s, an input of %s, has precision '%s'; "
                      "supported are FP16, FP32, I32",
                      from->name, l->name, blob->precision);
    if (__builtin_mul_overflow(tensor_elements(&in->desc),
                               tensor_dtype_bytes(stored), &want) ||
        want > blob->bytes)
        return graph_fail(b, path, blob->line,
                          "constant %s has %llu bytes; its shape needs %llu",
                          from->name, (unsigned long long)blob->bytes,
                          (unsigned long long)want);
    in->desc.dtype = stored == TENSOR_I32 ? TENSOR_I32 : TENSOR_F16;
    in->blob = blob;
    return VPU_OK;
}

static vpu_status model_input(const binder *b, const config_model_layer *l,
                              const config_port *p, target_input *in)
{
    const config_model *m = b->q->model;
    const config_model_layer *from;
    const char *precision = p->precision;
    vpu_status st;

    if (p->from_layer < 0)
        return graph_fail(b, m->path, p->line,
                          "input port %u of layer %s is not connected", p->id,
                          l->name);
    from = &m->layers[p->from_layer];
    if (from->outputs[p->from_port].precision)
        precision = from->outputs[p->from_port].precision;
    st = port_desc(b, l, p, precision, &in->desc);
    if (st)
        return st;
    if (is_type(from, "Const", NULL))
        return const_input(b, l, from, in);
    if (is_type(from, "Input", "Parameter") && in->desc.dtype == TENSOR_U8) {
        log_note(b->log,
                 "%s:%u: input %s is U8 in the model; the compiler converts it "
                 "and the kernel sees f16",
                 m->path, from->line, from->name);
        in->desc.dtype = TENSOR_F16;
    }
    return VPU_OK;
}

static vpu_status from_model(binder *b)
{
    const config_model_layer *l;
    config_param *params;
    vpu_status st = find_layer(b, &l);

    if (st)
        return st;
    if (l->n_outputs != 1)
        return err_at(b->err, VPU_ERR_UNSUPPORTED, b->q->model->path, l->line,
                      0,
                      "error: layer %s has %zu outputs; a custom layer has "
                      "exactly one",
                      l->name, l->n_outputs);
    b->t.name = l->name;
    b->t.type = l->type;
    b->t.n_inputs = l->n_inputs;
    b->t.inputs = arena_array(b->a, target_input, l->n_inputs);
    for (size_t i = 0; i < l->n_inputs && !st; i++)
        st = model_input(b, l, &l->inputs[i], &b->t.inputs[i]);
    if (!st)
        st = port_desc(b, l, &l->outputs[0], l->outputs[0].precision,
                       &b->t.output);
    /* The last of equal names counts, so the request's override. */
    params = arena_array(b->a, config_param, l->n_params + b->q->n_params);
    for (size_t i = 0; i < l->n_params; i++)
        params[i] = l->params[i];
    for (size_t i = 0; i < b->q->n_params; i++)
        params[l->n_params + i] = b->q->params[i];
    b->t.params = params;
    b->t.n_params = l->n_params + b->q->n_params;
    b->t.blobs = l->blobs;
    b->t.n_blobs = l->n_blobs;
    return st;
}

/* --- both ------------------------------------------------------------- */

static vpu_status check_desc(const binder *b, const char *side, size_t port,
                             const tensor_desc *d)
{
    vpu_status st = tensor_desc_check(d, b->err);

    if (!st && !d->rank)
        st = err_set(b->err, VPU_ERR_UNSUPPORTED,
                     "the tensor, %s, has no dims; expected 1 to %d",
                     tensor_desc_text(b->a, d), TENSOR_MAX_RANK);
    for (uint32_t i = 0; i < d->rank && !st; i++)
        if (d->dims[i] > INT32_MAX)
            st = err_set(b->err, VPU_ERR_LIMIT, "dim %u is above 2^31 - 1", i);
    if (st)
        return err_in(b->err, st, "%s%zu of layer %s", side, port, b->t.name);
    /* The first input decides; weights, bound as ANY, are never split. */
    if (d->rank >= 4 && d->dims[0] > 1 && !port && !strcmp(side, "in"))
        log_warn(b->log,
                 "%s%zu of layer %s has a batch of %u; the compiler runs the "
                 "stages once per item, here they see the whole tensor",
                 side, port, b->t.name, d->dims[0]);
    return VPU_OK;
}

vpu_status graph_find_target(binder *b)
{
    vpu_status st = VPU_OK;

    if (b->q->model && b->q->n_shapes)
        return err_set(b->err, VPU_ERR_INVALID,
                       "shapes are given, but the layer comes from a model");
    st = b->q->model ? from_model(b) : by_hand(b);
    for (size_t i = 0; i < b->t.n_inputs && !st; i++)
        st = check_desc(b, "in", i, &b->t.inputs[i].desc);
    if (!st && b->t.n_params > MAX_PARAMS)
        st = err_set(b->err, VPU_ERR_LIMIT,
                     "layer %s has %zu parameters, the limit is %d", b->t.name,
                     b->t.n_params, MAX_PARAMS);
    return st ? st : check_desc(b, "out", 0, &b->t.output);
}
