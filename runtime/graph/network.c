/* Layers of a model to bind: one, or all of a bound type that follow from the
 * network's inputs, and the tensors between them. */
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "runtime/graph/bind_priv.h"
#include "runtime/graph/convert.h"

enum { MAX_CHAIN = 1024 };

/* Of a layer of the model, by its index. */
typedef struct {
    graph_data *data; /* its output, if it is chosen; a network input */
    bool chosen, listed;
    bool ends;     /* its output feeds a Result or nothing */
    bool consumed; /* it feeds something */
} node;

typedef struct {
    graph_binder *b;
    const config_model *m;
    node *nodes;
    size_t *order; /* indices of the chosen layers, producers first */
    size_t n;
    bool alone; /* one layer: all others are the host */
} network;

/* --- which layers -------------------------------------------------------- */

static bool is_bound(const config_file *f, const char *type)
{
    for (size_t i = 0; i < f->n_layers; i++)
        if (config_layer_is_for(&f->layers[i], type))
            return true;
    return false;
}

static bool is_type(const config_model_layer *l, const char *a, const char *b)
{
    return !strcasecmp(l->type, a) || (b && !strcasecmp(l->type, b));
}

static bool is_network_input(const config_model_layer *l)
{
    return is_type(l, "Input", "Parameter");
}

/* Types of a model's layers that compute, each once, the first ones of many. */
static const char *types_of(const network *net)
{
    enum { MOST = 20 };
    const config_model *m = net->m;
    const char *text = "";
    uint32_t n = 0;

    for (size_t i = 0; i < m->n_layers && n <= MOST; i++) {
        const config_model_layer *l = &m->layers[i];
        size_t before = 0;

        while (strcasecmp(m->layers[before].type, l->type))
            before++;
        if (before != i || is_network_input(l) || is_type(l, "Const", "Result"))
            continue;
        text = arena_printf(net->b->arena, "%s%s%s", text, n ? ", " : "",
                            n == MOST ? "…" : l->type);
        n++;
    }
    return n ? text : "none that computes";
}

static vpu_status no_such_layer(const network *net)
{
    const graph_binder *b = net->b;
    nearest like = {.word = b->request->at};

    for (size_t i = 0; i < net->m->n_layers; i++)
        nearest_offer(&like, net->m->layers[i].name);
    return err_set(b->err, VPU_ERR_INVALID,
                   "%s: there is no layer named '%s'%s%s%s", net->m->path,
                   b->request->at, like.best ? "; did you mean '" : "",
                   like.best ? like.best : "", like.best ? "'?" : "");
}

static vpu_status choose_at(network *net)
{
    const graph_binder *b = net->b;
    const config_model *m = net->m;
    const config_model_layer *l = config_model_find(m, b->request->at);

    if (!l)
        return no_such_layer(net);
    if (!is_bound(b->request->binding, l->type))
        return err_at(b->err, VPU_ERR_INVALID, m->path, l->line, 0,
                      "layer '%s' is of type %s, which %s does not bind; it "
                      "binds %s",
                      b->request->at, l->type, b->request->binding->path,
                      graph_list_types(b));
    net->nodes[l - m->layers].chosen = true;
    net->n = 1;
    return VPU_OK;
}

static vpu_status choose(network *net)
{
    const graph_binder *b = net->b;
    const config_model *m = net->m;

    if (b->request->at)
        return choose_at(net);
    for (size_t i = 0; i < m->n_layers; i++) {
        net->nodes[i].chosen = is_bound(b->request->binding, m->layers[i].type);
        net->n += net->nodes[i].chosen;
    }
    if (!net->n)
        return err_set(b->err, VPU_ERR_INVALID,
                       "%s: no layer is of a type that %s binds: there are %s; "
                       "the file binds %s",
                       m->path, b->request->binding->path, types_of(net),
                       graph_list_types(b));
    if (net->n > MAX_CHAIN)
        return err_set(b->err, VPU_ERR_LIMIT,
                       "%s: %zu layers are of a bound type, at most %d run in "
                       "a row; --at NAME runs one alone",
                       m->path, net->n, MAX_CHAIN);
    return VPU_OK;
}

/* Whether everything that feeds l is listed already. */
static bool is_ready(const network *net, const config_model_layer *l)
{
    for (size_t i = 0; i < l->n_inputs; i++) {
        int64_t from = l->inputs[i].from_layer;

        if (from >= 0 && net->nodes[from].chosen && !net->nodes[from].listed)
            return false;
    }
    return true;
}

/* Producers first, else as in the document. */
static vpu_status sort(network *net)
{
    const config_model *m = net->m;
    size_t n = 0, before = 1, waiting = 0;

    net->order = arena_array(net->b->arena, size_t, net->n);
    while (n < net->n && n != before) {
        before = n;
        for (size_t i = 0; i < m->n_layers; i++) {
            if (!net->nodes[i].chosen || net->nodes[i].listed)
                continue;
            waiting = i;
            if (!net->alone && !is_ready(net, &m->layers[i]))
                continue;
            net->nodes[i].listed = true;
            net->order[n++] = i;
        }
    }
    if (n == net->n)
        return VPU_OK;
    return graph_fail(net->b, m->path, m->layers[waiting].line,
                      "layer %s takes, by way of other layers, its own output",
                      m->layers[waiting].name);
}

/* What comes behind each layer; something unbound behind a chain is an error.
 */
static vpu_status look_behind(network *net)
{
    const config_model *m = net->m;

    for (size_t i = 0; i < m->n_layers; i++)
        for (size_t p = 0; p < m->layers[i].n_inputs; p++) {
            const config_model_layer *l = &m->layers[i];
            int64_t from = l->inputs[p].from_layer;
            bool result = is_type(l, "Result", NULL);

            if (from < 0 || !net->nodes[from].chosen)
                continue;
            net->nodes[from].consumed = true;
            net->nodes[from].ends |= result;
            if (!net->alone && !result && !net->nodes[i].chosen)
                return graph_fail(
                    net->b, m->path, l->line,
                    "layer %s of type %s, which %s does not bind, takes the "
                    "output of layer %s; --at %s runs that layer alone",
                    l->name, l->type, net->b->request->binding->path,
                    m->layers[from].name, m->layers[from].name);
        }
    for (size_t i = 0; i < m->n_layers; i++)
        net->nodes[i].ends |= !net->nodes[i].consumed;
    return VPU_OK;
}

/* --- tensors ------------------------------------------------------------- */

static vpu_status port_desc(const graph_binder *b, const config_model_layer *l,
                            const config_port *p, const char *precision,
                            tensor_desc *out)
{
    const char *path = b->request->model->path;

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
                      "precision %s of port %u of layer %s; supported "
                      "are FP16 FP32 I32 U8 I8 I16 U16 I64 BOOL",
                      precision, p->id, l->name);
    return VPU_OK;
}

/* Inside the network floats are halves. */
static tensor_dtype inner_type(tensor_dtype t)
{
    return t == TENSOR_F32 ? TENSOR_F16 : t;
}

/* The dtype of a constant on the device: floats become halves. */
static vpu_status const_input(const graph_binder *b,
                              const config_model_layer *l,
                              const config_model_layer *from, uint32_t port,
                              tensor_desc *desc, graph_data **out)
{
    const config_blob *blob = from->n_blobs ? &from->blobs[0] : NULL;
    const char *path = b->request->model->path;
    tensor_dtype stored;
    uint64_t want;

    if (!blob)
        return graph_fail(b, path, from->line, "constant %s has no blob",
                          from->name);
    if (!tensor_dtype_parse(blob->precision, &stored) ||
        (stored != TENSOR_F16 && stored != TENSOR_F32 && stored != TENSOR_I32))
        return err_at(b->err, VPU_ERR_UNSUPPORTED, path, blob->line, 0,
                      "constant %s, an input of %s, has precision '%s'; "
                      "supported are FP16, FP32, I32",
                      from->name, l->name, blob->precision);
    if (__builtin_mul_overflow(tensor_elements(desc),
                               tensor_dtype_bytes(stored), &want) ||
        want > blob->bytes)
        return graph_fail(b, path, blob->line,
                          "constant %s has %llu bytes; its shape needs %llu",
                          from->name, (unsigned long long)blob->bytes,
                          (unsigned long long)want);
    desc->dtype = inner_type(stored);
    *out = graph_data_new(
        b->arena, graph_local_name(b, arena_printf(b->arena, "in%u", port)),
        GRAPH_CONST, port, desc);
    (*out)->blob = blob;
    return VPU_OK;
}

/* A tensor the host gives, in the model's type if it is the network's input. */
static graph_data *host_input(network *net, const config_model_layer *from,
                              uint32_t port, tensor_desc *desc)
{
    tensor_dtype given = desc->dtype;
    graph_data *d;

    desc->dtype = inner_type(given);
    if (is_network_input(from) && graph_can_retype(given, TENSOR_F16))
        desc->dtype = TENSOR_F16;
    d = graph_data_new(net->b->arena, arena_printf(net->b->arena, "in%u", port),
                       GRAPH_INPUT, port, desc);
    d->origin = from->name;
    if (is_network_input(from))
        d->host = given;
    return d;
}

/* The network's inputs that chosen layers use get numbers in the order of the
 * document. */
static vpu_status number_inputs(network *net)
{
    const config_model *m = net->m;
    uint32_t n = 0;
    vpu_status st = VPU_OK;

    for (size_t k = 0; k < net->n; k++) {
        const config_model_layer *l = &m->layers[net->order[k]];

        for (size_t p = 0; p < l->n_inputs; p++)
            if (l->inputs[p].from_layer >= 0)
                net->nodes[l->inputs[p].from_layer].consumed = true;
    }
    for (size_t i = 0; i < m->n_layers && !st; i++) {
        const config_model_layer *l = &m->layers[i];
        tensor_desc desc;

        if (!is_network_input(l) || !net->nodes[i].consumed ||
            net->nodes[i].chosen || l->n_outputs != 1)
            continue;
        st = port_desc(net->b, l, &l->outputs[0], l->outputs[0].precision,
                       &desc);
        if (!st)
            net->nodes[i].data = host_input(net, l, n++, &desc);
    }
    return st;
}

static vpu_status layer_input(network *net, const config_model_layer *l,
                              uint32_t port, graph_data **out)
{
    const graph_binder *b = net->b;
    const config_port *p = &l->inputs[port];
    const config_model_layer *from;
    const char *precision = p->precision;
    tensor_desc desc;
    vpu_status st;

    if (p->from_layer < 0)
        return graph_fail(b, net->m->path, p->line,
                          "input port %u of layer %s is not connected", p->id,
                          l->name);
    from = &net->m->layers[p->from_layer];
    if (from->outputs[p->from_port].precision)
        precision = from->outputs[p->from_port].precision;
    st = port_desc(b, l, p, precision, &desc);
    if (st)
        return st;
    if (is_type(from, "Const", NULL))
        return const_input(b, l, from, port, &desc, out);
    if (net->alone) {
        *out = host_input(net, from, port, &desc);
        return VPU_OK;
    }
    *out = net->nodes[p->from_layer].data;
    if (*out)
        return VPU_OK;
    return graph_fail(b, net->m->path, from->line,
                      "layer %s of type %s, which %s does not bind, feeds "
                      "layer %s; --at %s runs that layer alone",
                      from->name, from->type, b->request->binding->path,
                      l->name, l->name);
}

/* The output of layer i: what the host sees of it, or a tensor in between. */
static vpu_status layer_output(network *net, size_t i, uint32_t number)
{
    const config_model_layer *l = &net->m->layers[i];
    bool ends = net->nodes[i].ends, host = ends || net->alone;
    arena *a = net->b->arena;
    tensor_desc desc;
    graph_data *d;
    vpu_status st;

    if (l->n_outputs != 1)
        return err_at(net->b->err, VPU_ERR_UNSUPPORTED, net->m->path, l->line,
                      0,
                      "layer %s has %zu outputs; a custom layer has "
                      "exactly one",
                      l->name, l->n_outputs);
    st = port_desc(net->b, l, &l->outputs[0], l->outputs[0].precision, &desc);
    if (st)
        return st;
    d = graph_data_new(a, host ? arena_printf(a, "out%u", number) : l->name,
                       host ? GRAPH_OUTPUT : GRAPH_SCRATCH, number, &desc);
    d->origin = l->name;
    d->desc.dtype = inner_type(desc.dtype);
    d->host = ends ? desc.dtype : d->desc.dtype;
    net->nodes[i].data = d;
    return VPU_OK;
}

/* --- targets ------------------------------------------------------------- */

static vpu_status make_target(network *net, size_t i, graph_target *t)
{
    const config_model_layer *l = &net->m->layers[i];
    graph_binder *b = net->b;
    config_param *params =
        arena_array(b->arena, config_param, l->n_params + b->request->n_params);
    vpu_status st = VPU_OK;

    *t = (graph_target){.name = l->name,
                        .type = l->type,
                        .inputs =
                            arena_array(b->arena, graph_data *, l->n_inputs),
                        .n_inputs = l->n_inputs,
                        .output = net->nodes[i].data,
                        .params = params,
                        .n_params = l->n_params + b->request->n_params,
                        .blobs = l->blobs,
                        .n_blobs = l->n_blobs};
    /* The last of equal names counts, so the request's override. */
    for (size_t k = 0; k < l->n_params; k++)
        params[k] = l->params[k];
    for (size_t k = 0; k < b->request->n_params; k++)
        params[l->n_params + k] = b->request->params[k];
    b->target = *t; /* names its constants */
    for (size_t p = 0; p < l->n_inputs && !st; p++)
        st = layer_input(net, l, (uint32_t)p, &t->inputs[p]);
    return st;
}

vpu_status graph_targets_of_model(graph_binder *b, graph_target **out,
                                  size_t *n)
{
    network net = {.b = b, .m = b->request->model};
    uint32_t n_out = 0;
    vpu_status st;

    net.nodes = arena_array(b->arena, node, net.m->n_layers);
    st = choose(&net);
    net.alone = net.n == 1;
    b->chained = !net.alone;
    if (!st)
        st = sort(&net);
    if (!st)
        st = look_behind(&net);
    for (size_t i = 0; i < net.m->n_layers && !st; i++)
        if (net.nodes[i].chosen) {
            st = layer_output(&net, i, n_out);
            n_out += net.nodes[i].ends;
        }
    if (!st && !net.alone)
        st = number_inputs(&net);
    *n = net.n;
    if (st)
        return st;
    *out = arena_array(b->arena, graph_target, net.n);
    for (size_t i = 0; i < net.n && !st; i++)
        st = make_target(&net, net.order[i], &(*out)[i]);
    return st;
}
