/* IR reader: one pass over the tree for the layers, one over the edges. */
#include "runtime/config/model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "runtime/config/xml.h"

typedef struct {
    uint32_t id;
    size_t index;
} id_entry;

typedef struct {
    const char *path;
    arena *a;
    vpu_error *err;
    const char *bin;     /* the weights in memory, */
    const file_in *file; /* or in a file; NULL, NULL = there are none */
    size_t n_bin, n_read;
    bool old;                  /* versions 2 to 7 */
    const char *net_precision; /* old form; may be NULL */
    id_entry *ids;             /* layers by id */
    config_model *m;
} reader;

static vpu_status fail(const reader *r, uint32_t line, uint32_t col,
                       const char *fmt, ...) VPU_PRINTF(4, 5);

static vpu_status fail(const reader *r, uint32_t line, uint32_t col,
                       const char *fmt, ...)
{
    vpu_error why;
    va_list ap;

    va_start(ap, fmt);
    err_vset(&why, VPU_ERR_PARSE, fmt, ap);
    va_end(ap);
    return err_at(r->err, VPU_ERR_PARSE, r->path, line, col, "%s", why.msg);
}

static bool to_number(const char *text, uint64_t max, uint64_t *out)
{
    uint64_t v = 0;

    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || v > (UINT64_MAX - 9) / 10)
            return false;
        v = v * 10 + (uint64_t)(*text - '0');
    }
    if (v > max)
        return false;
    *out = v;
    return true;
}

static vpu_status need(const reader *r, const config_xml_node *node,
                       const char *name, const char **out)
{
    const config_xml_attr *a = config_xml_attr_get(node, name);

    *out = a ? a->value : NULL;
    if (a)
        return VPU_OK;
    return fail(r, node->line, node->col,
                "node %s is missing mandatory attribute %s", node->name, name);
}

static vpu_status need_number(const reader *r, const config_xml_node *node,
                              const char *name, uint64_t max, uint64_t *out)
{
    const char *text;
    vpu_status st = need(r, node, name, &text);
    const config_xml_attr *a;

    if (st || to_number(text, max, out))
        return st;
    a = config_xml_attr_get(node, name);
    return fail(r, a->line, a->col,
                "%s=\"%s\" of %s; expected a number from 0 to %llu", name, text,
                node->name, (unsigned long long)max);
}

static const char *optional(const config_xml_node *node, const char *name,
                            const char *otherwise)
{
    const config_xml_attr *a = config_xml_attr_get(node, name);

    return a ? a->value : otherwise;
}

static size_t count_children(const config_xml_node *node, const char *name)
{
    size_t n = 0;

    for (const config_xml_node *c = node ? node->first : NULL; c; c = c->next)
        n += !name || !strcmp(c->name, name);
    return n;
}

/* --- ports --------------------------------------------------------------- */

static vpu_status read_dims(const reader *r, const config_xml_node *node,
                            config_port *port)
{
    size_t n = count_children(node, "dim");
    uint32_t *dims;

    if (n > CONFIG_MODEL_MAX_RANK)
        return fail(r, node->line, node->col,
                    "%zu dims, at most %d are possible", n,
                    CONFIG_MODEL_MAX_RANK);
    dims = arena_array(r->a, uint32_t, n);
    for (const config_xml_node *c = node->first; c; c = c->next) {
        uint64_t v;

        if (strcmp(c->name, "dim"))
            continue;
        if (!strcmp(c->text, "-1") && r->m->version >= 11)
            v = CONFIG_DIM_DYNAMIC;
        else if (!to_number(c->text, UINT32_MAX, &v) || !v)
            return fail(r, c->line, c->col,
                        "dim '%s'; expected a number from 1 to %u%s", c->text,
                        UINT32_MAX, r->m->version >= 11 ? ", or -1" : "");
        dims[port->rank++] = (uint32_t)v;
    }
    port->dims = dims;
    return VPU_OK;
}

static int by_port_id(const void *a, const void *b)
{
    const config_port *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

/* The old form orders ports by id, the new one as written. */
static vpu_status read_ports(const reader *r, const config_xml_node *list,
                             const char *precision, config_port **out,
                             size_t *n)
{
    size_t count = count_children(list, "port");
    config_port *ports = arena_array(r->a, config_port, count), *sorted;

    *out = ports;
    *n = count;
    if (!count)
        return VPU_OK;
    if (count > CONFIG_MODEL_MAX_PORTS)
        return fail(r, list->line, list->col,
                    "%zu ports, at most %d are possible", count,
                    CONFIG_MODEL_MAX_PORTS);
    for (const config_xml_node *c = list->first; c; c = c->next) {
        uint64_t id;
        vpu_status st;

        if (strcmp(c->name, "port"))
            continue;
        st = need_number(r, c, "id", UINT32_MAX, &id);
        ports->id = (uint32_t)id;
        ports->precision = optional(c, "precision", precision);
        ports->line = c->line;
        ports->from_layer = -1;
        if (!st)
            st = read_dims(r, c, ports);
        if (st)
            return st;
        ports++;
    }
    ports = *out;
    sorted = arena_memdup(r->a, ports, count * sizeof *ports);
    qsort(sorted, count, sizeof *sorted, by_port_id);
    for (size_t i = 1; i < count; i++)
        if (sorted[i].id == sorted[i - 1].id)
            return fail(r, sorted[i].line, 0, "two ports have id %u",
                        sorted[i].id);
    if (r->old)
        *out = sorted;
    return VPU_OK;
}

/* --- params and blobs ---------------------------------------------------- */

static const config_xml_node *
find_data(const reader *r, const config_xml_node *node, const char *type)
{
    const config_xml_node *data = config_xml_child(node, "data");
    char *name;

    if (data || !r->old)
        return data;
    name = arena_printf(r->a, "%s_data", type);
    for (char *p = name; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    data = config_xml_child(node, name);
    if (data)
        return data;
    name[strlen(type)] = '\0';
    return config_xml_child(node, name);
}

static void take_params(const reader *r, const config_xml_node *data,
                        config_model_layer *l)
{
    config_param *params;

    if (!data)
        return;
    params = arena_array(r->a, config_param, data->n_attrs);
    for (size_t i = 0; i < data->n_attrs; i++)
        params[i] = (config_param){data->attrs[i].name, data->attrs[i].value};
    l->params = params;
    l->n_params = data->n_attrs;
}

/* Only what layers name is read: the file may be large. Where they name the
 * same bytes again and again it is read once, as a whole. */
static vpu_status read_weights(reader *r, uint64_t at, uint64_t n,
                               const void **out)
{
    char *data;
    size_t n_all;
    vpu_status st = VPU_OK;

    if (!r->bin && n > r->n_bin - r->n_read) {
        st = file_in_all(r->file, r->a, &data, &n_all, r->err);
        r->bin = data;
    }
    if (st || r->bin) {
        *out = r->bin + at;
        return st;
    }
    r->n_read += n;
    *out = data = arena_push(r->a, n + 1, 1, 64);
    return file_in_read(r->file, at, data, n, r->err);
}

static vpu_status take_blob(reader *r, const config_xml_node *node,
                            const char *name, const char *precision,
                            config_blob *out)
{
    uint64_t offset, size;
    vpu_status st = need_number(r, node, "offset", UINT64_MAX, &offset);

    if (!st)
        st = need_number(r, node, "size", UINT64_MAX, &size);
    if (st)
        return st;
    if (!r->bin && !r->file)
        return fail(r, node->line, node->col,
                    "blob %s has %llu bytes, but there is no weights file",
                    name, (unsigned long long)size);
    if (offset > r->n_bin || size > r->n_bin - offset)
        return fail(r, node->line, node->col,
                    "blob %s, %llu bytes at %llu, exceeds the weights file of "
                    "%zu bytes",
                    name, (unsigned long long)size, (unsigned long long)offset,
                    r->n_bin);
    *out = (config_blob){.name = name,
                         .precision = precision ? precision : "",
                         .bytes = size,
                         .line = node->line};
    return read_weights(r, offset, size, &out->data);
}

static bool is_blob(const config_xml_node *node)
{
    return config_xml_attr_get(node, "offset") &&
           config_xml_attr_get(node, "size");
}

/* <weights>, <biases>, the children of <blobs>, and, in the new form, the
 * <data> of a Const. */
static vpu_status read_blobs(reader *r, const config_xml_node *node,
                             const config_xml_node *data, const char *precision,
                             config_model_layer *l)
{
    const config_xml_node *list = config_xml_child(node, "blobs");
    size_t cap = count_children(list, NULL) + 3;
    config_blob *blobs = arena_array(r->a, config_blob, cap);
    static const char *const direct[] = {"weights", "biases"};
    vpu_status st = VPU_OK;

    l->blobs = blobs;
    for (size_t i = 0; i < 2 && !st; i++) {
        const config_xml_node *c = config_xml_child(node, direct[i]);

        if (c && is_blob(c))
            st = take_blob(r, c, c->name, optional(c, "precision", precision),
                           &blobs[l->n_blobs++]);
    }
    for (const config_xml_node *c = list ? list->first : NULL; c && !st;
         c = c->next)
        st = take_blob(r, c, c->name, optional(c, "precision", precision),
                       &blobs[l->n_blobs++]);
    if (!st && !r->old && data && !strcasecmp(l->type, "Const") &&
        is_blob(data))
        st = take_blob(r, data, "custom",
                       optional(data, "element_type",
                                l->n_outputs ? l->outputs[0].precision : NULL),
                       &blobs[l->n_blobs++]);
    return st;
}

/* --- layers -------------------------------------------------------------- */

static vpu_status read_layer(reader *r, const config_xml_node *node,
                             config_model_layer *l)
{
    const config_xml_node *data;
    const char *precision = NULL;
    uint64_t id = 0;
    vpu_status st = need_number(r, node, "id", UINT32_MAX, &id);

    l->id = (uint32_t)id;
    l->line = node->line;
    if (!st)
        st = need(r, node, "name", &l->name);
    if (!st)
        st = need(r, node, "type", &l->type);
    if (!st && !r->old)
        st = need(r, node, "version", &l->opset);
    if (st)
        return st;
    if (r->old)
        precision = optional(node, "precision", r->net_precision);
    data = find_data(r, node, l->type);
    take_params(r, data, l);
    st = read_ports(r, config_xml_child(node, "input"),
                    r->old ? precision : NULL, &l->inputs, &l->n_inputs);
    if (!st)
        st = read_ports(r, config_xml_child(node, "output"), precision,
                        &l->outputs, &l->n_outputs);
    if (!st)
        st = read_blobs(r, node, data, precision, l);
    return st;
}

static int by_layer_id(const void *a, const void *b)
{
    const id_entry *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

static int by_layer_name(const void *a, const void *b)
{
    const config_model_layer *const *x = a, *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

static vpu_status check_unique(reader *r)
{
    size_t n = r->m->n_layers;
    const config_model_layer **names =
        arena_array(r->a, const config_model_layer *, n);

    r->ids = arena_array(r->a, id_entry, n);
    for (size_t i = 0; i < n; i++) {
        r->ids[i] = (id_entry){r->m->layers[i].id, i};
        names[i] = &r->m->layers[i];
    }
    qsort(r->ids, n, sizeof *r->ids, by_layer_id);
    qsort(names, n, sizeof *names, by_layer_name);
    for (size_t i = 1; i < n; i++) {
        if (r->ids[i].id == r->ids[i - 1].id)
            return fail(r, r->m->layers[r->ids[i].index].line, 0,
                        "two layers have id %u", r->ids[i].id);
        if (!strcmp(names[i]->name, names[i - 1]->name))
            return fail(r, names[i]->line, 0, "two layers are named '%s'",
                        names[i]->name);
    }
    return VPU_OK;
}

static vpu_status read_layers(reader *r, const config_xml_node *list)
{
    size_t n = count_children(list, "layer"), at = 0;

    r->m->layers = arena_array(r->a, config_model_layer, n);
    r->m->n_layers = n;
    for (const config_xml_node *c = list->first; c; c = c->next) {
        vpu_status st;

        if (strcmp(c->name, "layer"))
            continue;
        st = read_layer(r, c, &r->m->layers[at++]);
        if (st)
            return st;
    }
    return check_unique(r);
}

/* --- edges --------------------------------------------------------------- */

static config_model_layer *find_id(const reader *r, uint32_t id, size_t *index)
{
    id_entry key = {.id = id};
    const id_entry *found;

    if (!r->m->n_layers)
        return NULL;
    found = bsearch(&key, r->ids, r->m->n_layers, sizeof *r->ids, by_layer_id);
    if (!found)
        return NULL;
    *index = found->index;
    return &r->m->layers[found->index];
}

static config_port *find_port(config_port *ports, size_t n, uint64_t id,
                              uint32_t *index)
{
    for (size_t i = 0; i < n; i++)
        if (ports[i].id == id) {
            *index = (uint32_t)i;
            return &ports[i];
        }
    return NULL;
}

static bool dims_agree(const config_port *a, const config_port *b)
{
    if (a->rank != b->rank)
        return false;
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i] && a->dims[i] != CONFIG_DIM_DYNAMIC &&
            b->dims[i] != CONFIG_DIM_DYNAMIC)
            return false;
    return true;
}

static vpu_status read_edge(const reader *r, const config_xml_node *node)
{
    static const char *const names[] = {"from-layer", "from-port", "to-layer",
                                        "to-port"};
    config_model_layer *from, *to;
    config_port *out, *in;
    size_t from_index = 0, to_index = 0;
    uint32_t out_index, in_index;
    uint64_t v[4] = {0};

    for (size_t i = 0; i < 4; i++) {
        vpu_status st = need_number(r, node, names[i], UINT32_MAX, &v[i]);

        if (st)
            return st;
    }
    from = find_id(r, (uint32_t)v[0], &from_index);
    to = find_id(r, (uint32_t)v[2], &to_index);
    if (!from || !to)
        return fail(r, node->line, node->col,
                    "attempt to access node %llu that is not in the graph",
                    (unsigned long long)(from ? v[2] : v[0]));
    out = find_port(from->outputs, from->n_outputs, v[1], &out_index);
    in = find_port(to->inputs, to->n_inputs, v[3], &in_index);
    if (!out || !in)
        return fail(
            r, node->line, node->col, "%s port %llu does not exist in layer %s",
            out ? "input" : "output", (unsigned long long)(out ? v[3] : v[1]),
            out ? to->name : from->name);
    if (in->from_layer >= 0)
        return fail(r, node->line, node->col,
                    "input port %u of layer %s is connected twice", in->id,
                    to->name);
    if (!dims_agree(out, in))
        return fail(r, node->line, node->col,
                    "trying to connect an edge to mismatch dimensions: output "
                    "port %u of %s and input port %u of %s",
                    out->id, from->name, in->id, to->name);
    in->from_layer = (int64_t)from_index;
    in->from_port = out_index;
    return VPU_OK;
}

static vpu_status read_edges(const reader *r, const config_xml_node *list)
{
    vpu_status st = VPU_OK;

    for (const config_xml_node *c = list ? list->first : NULL; c && !st;
         c = c->next)
        if (!strcmp(c->name, "edge"))
            st = read_edge(r, c);
    return st;
}

/* --- entry points -------------------------------------------------------- */

static vpu_status read_net(reader *r, const config_xml_node *net)
{
    const config_xml_node *layers;
    uint64_t version = 0;
    vpu_status st;

    if (!net || strcmp(net->name, "net"))
        return fail(r, net ? net->line : 0, net ? net->col : 0,
                    "found %s; expected net, the root of an OpenVINO model",
                    net ? net->name : "no element");
    if (net->next)
        return fail(r, net->next->line, net->next->col,
                    "a second root element, %s", net->next->name);
    st = need_number(r, net, "version", UINT32_MAX, &version);
    if (st)
        return st;
    r->m->version = (uint32_t)version;
    r->old = version >= 2 && version <= 7;
    if (!r->old && version != 10 && version != 11)
        return err_at(r->err, VPU_ERR_UNSUPPORTED, r->path, net->line, net->col,
                      "IR version %u; supported are 2 to 7, 10 and 11",
                      r->m->version);
    r->m->name = optional(net, "name", "");
    r->net_precision = optional(net, "precision", NULL);
    layers = config_xml_child(net, "layers");
    if (!layers)
        return fail(r, net->line, net->col, "net has no element layers");
    st = read_layers(r, layers);
    return st ? st : read_edges(r, config_xml_child(net, "edges"));
}

static vpu_status parse(const char *data, size_t n, reader *r)
{
    static const config_xml_limits limits = {CONFIG_MODEL_MAX_XML,
                                             CONFIG_MODEL_MAX_ELEMENTS};
    config_xml_node *roots;
    vpu_status st;

    *r->m = (config_model){.path = r->path};
    st = config_xml_parse(&(const file_bytes){data, n, r->path}, &limits, r->a,
                          &roots, r->err);
    if (!st)
        st = read_net(r, roots);
    if (st)
        *r->m = (config_model){0};
    return st;
}

vpu_status config_model_parse(const file_bytes *xml, const file_bytes *bin,
                              arena *a, config_model *out, vpu_error *err)
{
    reader r = {
        .path = arena_strdup(a, xml->path), .a = a, .err = err, .m = out};

    if (bin) {
        r.bin = bin->data;
        r.n_bin = bin->n;
    }
    return parse(xml->data, xml->n, &r);
}

static char *default_bin(arena *a, const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    size_t n = strlen(path);

    if (dot && (!slash || dot > slash))
        n = (size_t)(dot - path);
    return arena_printf(a, "%.*s.bin", (int)n, path);
}

vpu_status config_model_read(const char *path, const char *bin_path, arena *a,
                             config_model *out, vpu_error *err)
{
    reader r = {.path = arena_strdup(a, path), .a = a, .err = err, .m = out};
    const char *weights = bin_path ? bin_path : default_bin(a, path);
    char *data;
    size_t n;
    file_in f = {.fd = -1};
    vpu_status st = file_read(path, CONFIG_MODEL_MAX_XML, a, &data, &n, err);

    *out = (config_model){0};
    if (!st && (bin_path || file_exists(weights))) {
        st = file_in_open(&f, weights, CONFIG_MODEL_MAX_BIN, err);
        r.file = &f;
        r.n_bin = f.bytes;
    }
    if (!st)
        st = parse(data, n, &r);
    file_in_close(&f);
    return st;
}

const config_model_layer *config_model_find(const config_model *m,
                                            const char *name)
{
    for (size_t i = 0; i < m->n_layers; i++)
        if (!strcmp(m->layers[i].name, name))
            return &m->layers[i];
    return NULL;
}
