/* Reading graphs: nothing in the file is believed. */
#include <string.h>

#include "base/file.h"
#include "runtime/graph/convert.h"
#include "runtime/graphfile/graphfile.h"
#include "runtime/graphfile/names.h"
#include "runtime/record/manifest.h"

#define MAX_MANIFEST ((uint64_t)256 << 20)
enum { MAX_VALUE = 128 }; /* the largest vector, long16 */

typedef struct {
    container file;
    manifest m;
    arena *a;
    graphfile *out;
    bool fills_padding; /* the launch that is read: an input's, too */
} reader;

static uint64_t number(reader *r, const json_t *o, const char *where,
                       const char *key, uint64_t least, uint64_t most)
{
    return (uint64_t)manifest_number(&r->m, json_object_get(o, key), where, key,
                                     (int64_t)least, (int64_t)most);
}

static uint32_t word(reader *r, const json_t *o, const char *where,
                     const char *key)
{
    return (uint32_t)number(r, o, where, key, 0, UINT32_MAX);
}

/* An index below n, or null where it may be. */
static uint32_t index_of(reader *r, const json_t *o, const char *where,
                         const char *key, uint32_t n)
{
    if (!n) {
        manifest_wrong(&r->m, where, key, "an index, but there is nothing");
        return 0;
    }
    return (uint32_t)number(r, o, where, key, 0, n - 1);
}

static uint32_t index_or_none(reader *r, const json_t *o, const char *where,
                              const char *key, uint32_t n)
{
    return json_is_null(json_object_get(o, key))
               ? GRAPHFILE_NONE
               : index_of(r, o, where, key, n);
}

/* A list of numbers from least to most: n of them, or, where *n is 0, as many
 * as there are, `room` at the most. */
static void get_numbers_from(reader *r, const json_t *o, const char *where,
                             const char *key, int64_t least, uint32_t *list,
                             uint32_t room, uint32_t *n)
{
    uint32_t has;
    const json_t *j = manifest_list(&r->m, o, where, key, &has);

    if (has > room || (*n && has != *n)) {
        manifest_wrong(&r->m, where, key,
                       arena_printf(r->a, "%s%u numbers", *n ? "" : "up to ",
                                    *n ? *n : room));
        has = 0;
    }
    *n = has;
    for (uint32_t i = 0; i < has; i++)
        list[i] = (uint32_t)manifest_number(&r->m, json_array_get(j, i), where,
                                            key, least, UINT32_MAX);
}

/* From 1 on. */
static void get_numbers(reader *r, const json_t *o, const char *where,
                        const char *key, uint32_t *list, uint32_t room,
                        uint32_t *n)
{
    get_numbers_from(r, o, where, key, 1, list, room, n);
}

/* --- buffers -------------------------------------------------------------- */

static container_section get_section(reader *r, const json_t *o,
                                     const char *where)
{
    uint32_t i = (uint32_t)number(r, o, where, "section", 1, UINT32_MAX);

    if (i < r->file.n_sections)
        return container_at(&r->file, i);
    manifest_wrong(&r->m, where, "section", "a section of the file");
    return (container_section){.data = ""};
}

/* What version 1 has not: the contents of outputs, places. */
static void get_place_of_buffer(reader *r, const json_t *o, const char *where,
                                graph_buffer *b)
{
    uint64_t *place;

    if (r->file.version < 2 || json_is_null(json_object_get(o, "place")))
        return;
    place = arena_new(r->a, uint64_t);
    *place = number(r, o, where, "place", 0, UINT32_MAX);
    b->place = place;
}

static bool has_contents(const reader *r, const json_t *o,
                         const graph_buffer *b)
{
    return b->role == GRAPH_CONST ||
           (b->role == GRAPH_OUTPUT && r->file.version >= 2 &&
            !json_is_null(json_object_get(o, "section")));
}

static void get_buffer(reader *r, const json_t *o, uint32_t i, graph_buffer *b)
{
    const char *where = arena_printf(r->a, "buffers[%u]", i);
    const char *types[TENSOR_N_DTYPES];
    container_section s;
    vpu_error why;

    for (int k = 0; k < TENSOR_N_DTYPES; k++)
        types[k] = tensor_dtype_name((tensor_dtype)k);
    b->name = manifest_text(&r->m, o, where, "name");
    b->label = manifest_text_or_null(&r->m, o, where, "label");
    b->role = (graph_role)manifest_one_of(&r->m, o, where, "role",
                                          graphfile_roles, GRAPHFILE_N_ROLES);
    b->port = word(r, o, where, "port");
    b->desc.dtype = (tensor_dtype)manifest_one_of(&r->m, o, where, "dtype",
                                                  types, TENSOR_N_DTYPES);
    b->desc.layout = manifest_bool(&r->m, o, where, "minor")
                         ? TENSOR_CHANNEL_MINOR
                         : TENSOR_PLAIN;
    get_numbers(r, o, where, "dims", b->desc.dims, TENSOR_MAX_RANK,
                &b->desc.rank);
    b->untyped = manifest_bool(&r->m, o, where, "untyped");
    b->bytes = number(r, o, where, "bytes", 1, TENSOR_MAX_BYTES);
    if (tensor_desc_check(&b->desc, &why))
        manifest_wrong(&r->m, where, "dims", "a tensor of at most 4 GiB");
    else if (!b->untyped && b->role != GRAPH_CONST &&
             tensor_bytes(&b->desc) != b->bytes)
        manifest_wrong(&r->m, where, "bytes", "what type and dims make");
    get_place_of_buffer(r, o, where, b);
    if (!has_contents(r, o, b))
        return;
    s = get_section(r, o, where);
    if (s.bytes != b->bytes)
        manifest_wrong(&r->m, where, "section", "a section of so many bytes");
    b->init = s.data;
}

/* --- launches ------------------------------------------------------------- */

static bool is_inside(const graph_arg *x, const graph_buffer *b)
{
    uint64_t bytes = x->bytes ? x->bytes : x->items ? b->bytes / x->items : 1;

    return bytes && x->offset + bytes <= b->bytes &&
           (b->untyped || x->offset % tensor_dtype_bytes(b->desc.dtype) == 0);
}

static void get_place(reader *r, const json_t *o, const char *where,
                      graph_arg *x)
{
    const graph *g = &r->out->graph;

    x->buffer = index_of(r, o, where, "buffer", g->n_buffers);
    x->offset = word(r, o, where, "offset");
    x->items = word(r, o, where, "items");
    x->bytes = word(r, o, where, "bytes");
    x->written = manifest_bool(&r->m, o, where, "written");
    x->split = manifest_bool(&r->m, o, where, "split");
    if (r->m.failed)
        return;
    if (!is_inside(x, &g->buffers[x->buffer]))
        manifest_wrong(&r->m, where, "offset", "a place inside of the buffer");
    if (x->written &&
        ((g->buffers[x->buffer].role == GRAPH_INPUT && !r->fills_padding) ||
         g->buffers[x->buffer].role == GRAPH_CONST))
        manifest_wrong(&r->m, where, "written",
                       "false: it is an input, or a constant");
}

static void get_bytes(reader *r, const json_t *o, const char *where,
                      graph_arg *x)
{
    container_section s = get_section(r, o, where);

    if (!s.bytes || s.bytes > MAX_VALUE)
        manifest_wrong(&r->m, where, "section",
                       arena_printf(r->a, "1 to %d bytes", MAX_VALUE));
    x->bytes = r->m.failed ? 0 : (uint32_t)s.bytes;
    x->value = arena_memdup(r->a, s.data, x->bytes);
}

static void get_arg(reader *r, const json_t *o, const char *launch, uint32_t i,
                    graph_arg *x)
{
    const char *where = arena_printf(r->a, "%s.args[%u]", launch, i);
    uint32_t bits;

    x->name = manifest_text(&r->m, o, where, "name");
    x->kind = (graph_arg_kind)manifest_one_of(
        &r->m, o, where, "kind", graphfile_kinds, GRAPHFILE_N_KINDS);
    x->line = word(r, o, where, "line");
    switch (x->kind) {
    case GRAPH_ARG_BUFFER:
        get_place(r, o, where, x);
        break;
    case GRAPH_ARG_LOCAL:
        x->bytes = (uint32_t)number(r, o, where, "bytes", 0, UINT32_MAX);
        break;
    case GRAPH_ARG_INT:
        x->integer = manifest_number(&r->m, json_object_get(o, "integer"),
                                     where, "integer", INT64_MIN, INT64_MAX);
        x->converts = manifest_bool(&r->m, o, where, "converts");
        break;
    case GRAPH_ARG_FLOAT:
        bits = word(r, o, where, "bits");
        memcpy(&x->real, &bits, sizeof bits);
        break;
    case GRAPH_ARG_BYTES:
        get_bytes(r, o, where, x);
        break;
    case GRAPH_ARG_BROKEN:
        x->why = manifest_text(&r->m, o, where, "why");
    }
}

static bool has_argument(const graph_launch *l, const char *name)
{
    for (uint32_t i = 0; i < l->n_args; i++)
        if (!strcmp(l->args[i].name, name))
            return l->args[i].kind == GRAPH_ARG_INT;
    return !name;
}

static void get_window(reader *r, const json_t *launch, const char *of,
                       graph_launch *l)
{
    const json_t *o = json_object_get(launch, "window");
    const char *where = arena_printf(r->a, "%s.window", of);
    graph_window *w = &l->window;
    uint32_t three = 3;

    if (json_is_null(o))
        return;
    get_numbers_from(r, o, where, "first", 0, w->first, 3, &three);
    get_numbers_from(r, o, where, "groups", 0, w->n, 3, &three);
    w->part_argument = manifest_text_or_null(&r->m, o, where, "part_argument");
    w->parts_argument =
        manifest_text_or_null(&r->m, o, where, "parts_argument");
    w->part = word(r, o, where, "part");
    w->parts = word(r, o, where, "parts");
    for (int d = 0; d < 3 && !r->m.failed; d++)
        if (w->n[0] && (!w->n[d] || (uint64_t)w->first[d] + w->n[d] >
                                        l->global[d] / l->local[d]))
            manifest_wrong(&r->m, where, "groups", "work-groups of the launch");
    if (!r->m.failed &&
        ((w->part_argument && !has_argument(l, w->part_argument)) ||
         (w->parts_argument && !has_argument(l, w->parts_argument))))
        manifest_wrong(&r->m, where, "part_argument",
                       "the name of an integer argument");
}

static const char *get_text(reader *r, const json_t *o, const char *where)
{
    container_section s = get_section(r, o, where);
    char *text = arena_strndup(r->a, s.data, s.bytes);

    if (strlen(text) != s.bytes)
        manifest_wrong(&r->m, where, "section", "a text without zero bytes");
    return text;
}

/* What version 2 has not. */
static void get_linked(reader *r, const json_t *source, const char *of,
                       graph_launch *l)
{
    const json_t *list;
    graph_text *texts;

    if (r->file.version < 3)
        return;
    list = manifest_list(&r->m, source, of, "linked", &l->n_linked);
    texts = arena_array(r->a, graph_text, l->n_linked + 1);
    for (uint32_t i = 0; i < l->n_linked; i++) {
        const json_t *o = json_array_get(list, i);
        const char *where = arena_printf(r->a, "%s.linked[%u]", of, i);

        texts[i].name = manifest_text(&r->m, o, where, "name");
        texts[i].options =
            manifest_texts(&r->m, o, where, "options", &texts[i].n_options);
        texts[i].text = get_text(r, o, where);
    }
    l->linked = texts;
}

/* The kernel's text or binary; args are there already. */
static void get_source(reader *r, const json_t *launch, const char *of,
                       graph_launch *l)
{
    const json_t *o = json_object_get(launch, "source");
    const char *where = arena_printf(r->a, "%s.source", of);
    const char **sources = arena_array(r->a, const char *, 1);
    graphfile_form form = (graphfile_form)manifest_one_of(
        &r->m, o, where, "form", graphfile_forms, GRAPHFILE_N_FORMS);
    container_section s;

    sources[0] = manifest_text(&r->m, o, where, "name");
    l->sources = sources;
    l->n_sources = 1;
    l->options = manifest_texts(&r->m, o, where, "options", &l->n_options);
    if (form == GRAPHFILE_CONVERSION) {
        if (!graph_restore_conversion(l))
            manifest_wrong(&r->m, where, "form",
                           "arguments of a conversion of that name");
        return;
    }
    if (form == GRAPHFILE_BIN) {
        s = get_section(r, o, where);
        l->bin = arena_memdup(r->a, s.data, s.bytes); /* aligned */
        l->n_bin = s.bytes;
        return;
    }
    l->given = get_text(r, o, where);
    get_linked(r, o, where, l);
}

static void get_program(reader *r, const json_t *launch, const char *of,
                        graph_launch *l)
{
    const json_t *o = json_object_get(launch, "program");
    const char *where = arena_printf(r->a, "%s.program", of);
    uint32_t three = 3;

    if (r->file.version < 2 || json_is_null(o))
        return;
    l->program = true;
    get_numbers_from(r, o, where, "offset", 0, l->offset, 3, &three);
    l->work_dim = (uint32_t)number(r, o, where, "dims", 1, 3);
    for (uint32_t d = 0; d < 3 && !r->m.failed; d++)
        if ((uint64_t)l->offset[d] + l->global[d] > (uint64_t)UINT32_MAX + 1 ||
            (d >= l->work_dim && l->global[d] > 1))
            manifest_wrong(&r->m, where, "offset",
                           "global ids of 32 bits in so many dims");
}

static void get_launch(reader *r, const json_t *o, uint32_t i, graph_launch *l)
{
    const char *where = arena_printf(r->a, "launches[%u]", i);
    uint32_t three = 3;
    const json_t *list = manifest_list(&r->m, o, where, "args", &l->n_args);
    graph_arg *args = arena_array(r->a, graph_arg, l->n_args + 1);

    l->name = manifest_text(&r->m, o, where, "name");
    l->layer = manifest_text(&r->m, o, where, "layer");
    l->type = manifest_text(&r->m, o, where, "type");
    r->fills_padding = l->type && !strcmp(l->type, "border");
    l->entry = manifest_text(&r->m, o, where, "entry");
    l->by_index = manifest_bool(&r->m, o, where, "by_index");
    l->max_shaves = word(r, o, where, "max_shaves");
    l->tuned = manifest_bool(&r->m, o, where, "tuned");
    l->bound_shaves = word(r, o, where, "bound_shaves");
    l->file = manifest_text_or_null(&r->m, o, where, "file");
    l->line = word(r, o, where, "line");
    get_numbers(r, o, where, "global", l->global, 3, &three);
    get_numbers(r, o, where, "local", l->local, 3, &three);
    for (int d = 0; d < 3 && !r->m.failed; d++)
        if (l->global[d] % l->local[d])
            manifest_wrong(&r->m, where, "local", "sizes that divide global");
    for (uint32_t k = 0; k < l->n_args && !r->m.failed; k++)
        get_arg(r, json_array_get(list, k), where, k, &args[k]);
    l->args = args;
    if (!r->m.failed)
        get_window(r, o, where, l);
    if (!r->m.failed)
        get_program(r, o, where, l);
    if (!r->m.failed)
        get_source(r, o, where, l);
    if (!l->text && !l->file)
        manifest_wrong(&r->m, where, "file", "a text");
}

/* --- tensors and operations ----------------------------------------------- */

static uint64_t bytes_of(const graphfile_tensor *t, const graph_buffer *b)
{
    uint64_t bytes = tensor_dtype_bytes(b->desc.dtype);

    for (uint32_t i = 0; i < t->rank; i++)
        if (__builtin_mul_overflow(bytes, t->dims[i], &bytes))
            return 0;
    return bytes;
}

/* The last element ends in the buffer. */
static bool strides_fit(const graphfile_tensor *t, const graph_buffer *b)
{
    uint32_t element = tensor_dtype_bytes(b->desc.dtype);
    uint64_t end = t->offset + element;

    for (uint32_t i = 0; i < t->rank; i++) {
        uint64_t n;

        if (t->strides[i] % element ||
            __builtin_mul_overflow(t->strides[i], t->dims[i] - 1, &n) ||
            __builtin_add_overflow(end, n, &end))
            return false;
    }
    return t->offset % element == 0 && end <= b->bytes;
}

/* A view lies in its parent, everything else is a buffer. That a view with gaps
 * does is seen by who knows the strides. */
static bool fits(const reader *r, const graphfile_tensor *t)
{
    const graph_buffer *b = &r->out->graph.buffers[t->buffer];
    const graphfile_tensor *p;

    if (!t->bytes || t->bytes != bytes_of(t, b))
        return false;
    if (t->parent == GRAPHFILE_NONE)
        return t->has_strides ? strides_fit(t, b)
                              : !t->offset && t->bytes == b->bytes;
    p = &r->out->tensors[t->parent];
    return p->buffer == t->buffer && t->rank == p->rank && !t->has_strides &&
           t->offset >= p->offset && t->bytes <= p->bytes &&
           t->bytes <= b->bytes && t->offset <= b->bytes - t->bytes &&
           t->offset % tensor_dtype_bytes(b->desc.dtype) == 0;
}

static void get_strides(reader *r, const json_t *o, const char *where,
                        graphfile_tensor *t)
{
    uint32_t n;
    const json_t *list;

    if (json_is_null(json_object_get(o, "strides")))
        return;
    list = manifest_list(&r->m, o, where, "strides", &n);
    t->has_strides = true;
    if (n != t->rank)
        manifest_wrong(&r->m, where, "strides", "a number for each dim");
    for (uint32_t i = 0; i < t->rank && !r->m.failed; i++)
        t->strides[i] =
            (uint64_t)manifest_number(&r->m, json_array_get(list, i), where,
                                      "strides", 1, (int64_t)TENSOR_MAX_BYTES);
}

static void get_valid(reader *r, const json_t *o, const char *where,
                      graphfile_tensor *t)
{
    const json_t *list = json_object_get(o, "valid");
    uint32_t *const parts[] = {t->valid_start, t->valid_end};

    if (json_is_null(list))
        return;
    t->has_valid = true;
    for (uint32_t i = 0; i < 2 * t->rank && !r->m.failed; i++) {
        const json_t *part = json_array_get(list, i / t->rank);

        parts[i / t->rank][i % t->rank] =
            (uint32_t)manifest_number(&r->m, json_array_get(part, i % t->rank),
                                      where, "valid", 0, t->dims[i % t->rank]);
    }
    for (uint32_t i = 0; i < t->rank && !r->m.failed; i++)
        if (t->valid_start[i] > t->valid_end[i])
            manifest_wrong(&r->m, where, "valid", "ends behind their starts");
}

static void get_tensor(reader *r, const json_t *o, uint32_t i,
                       graphfile_tensor *t)
{
    const graph *g = &r->out->graph;
    const char *where = arena_printf(r->a, "tensors[%u]", i);

    t->name = manifest_text(&r->m, o, where, "name");
    t->buffer = index_of(r, o, where, "buffer", g->n_buffers);
    t->is_virtual = manifest_bool(&r->m, o, where, "virtual");
    get_numbers(r, o, where, "dims", t->dims, GRAPHFILE_MAX_RANK, &t->rank);
    t->parent = index_or_none(r, o, where, "parent", i);
    t->offset = number(r, o, where, "offset", 0, TENSOR_MAX_BYTES);
    t->bytes = number(r, o, where, "bytes", 1, TENSOR_MAX_BYTES);
    if (!r->m.failed)
        get_strides(r, o, where, t);
    if (!r->m.failed)
        get_valid(r, o, where, t);
    if (r->m.failed)
        return;
    if (!fits(r, t))
        manifest_wrong(&r->m, where, "bytes",
                       "a tensor inside of its parent, or of its buffer");
    if (t->is_virtual != (g->buffers[t->buffer].role == GRAPH_SCRATCH))
        manifest_wrong(&r->m, where, "virtual", "the role of its buffer");
}

/* Each buffer has one tensor, and inputs and outputs have one. */
static void check_tensors(reader *r)
{
    const graphfile *f = r->out;
    const graph *g = &f->graph;
    bool *seen = arena_array(r->a, bool, g->n_buffers + 1);
    bool views = false;

    for (uint32_t i = 0; i < f->n_tensors && !r->m.failed; i++) {
        const graphfile_tensor *t = &f->tensors[i];

        if (t->parent != GRAPHFILE_NONE) {
            views = true;
            continue;
        }
        if (views || seen[t->buffer])
            manifest_wrong(&r->m, "tensors", t->name,
                           "one tensor for a buffer, and views behind them");
        seen[t->buffer] = true;
    }
    for (uint32_t i = 0; i < g->n_buffers && !r->m.failed; i++)
        if (!seen[i] && (g->buffers[i].role == GRAPH_INPUT ||
                         g->buffers[i].role == GRAPH_OUTPUT))
            manifest_wrong(&r->m, "tensors", g->buffers[i].name,
                           "a tensor for it");
}

static const uint32_t *get_indices(reader *r, const json_t *o,
                                   const char *where, const char *key,
                                   uint32_t *n)
{
    const json_t *j = manifest_list(&r->m, o, where, key, n);
    uint32_t *list = arena_array(r->a, uint32_t, *n + 1);

    for (uint32_t i = 0; i < *n; i++)
        list[i] =
            (uint32_t)manifest_number(&r->m, json_array_get(j, i), where, key,
                                      0, (int64_t)r->out->n_tensors - 1);
    return list;
}

static void get_operation(reader *r, const json_t *o, uint32_t i,
                          graphfile_operation *op)
{
    uint32_t n = r->out->graph.n_launches;
    const char *where = arena_printf(r->a, "operations[%u]", i);

    op->name = manifest_text(&r->m, o, where, "name");
    op->launch = (uint32_t)number(r, o, where, "launch", 0, n);
    op->n_launches =
        (uint32_t)number(r, o, where, "launches", 0, n - op->launch);
    op->outer = index_or_none(r, o, where, "outer", i);
    op->composed = manifest_bool(&r->m, o, where, "composed");
    op->inputs = get_indices(r, o, where, "inputs", &op->n_inputs);
    op->outputs = get_indices(r, o, where, "outputs", &op->n_outputs);
    if (!r->m.failed && op->outer != GRAPHFILE_NONE &&
        !r->out->operations[op->outer].composed)
        manifest_wrong(&r->m, where, "outer", "a composed operation");
}

/* --- the manifest --------------------------------------------------------- */

static void get_graph(reader *r, const json_t *root)
{
    graph *g = &r->out->graph;
    const json_t *list =
        manifest_list(&r->m, root, "", "buffers", &g->n_buffers);

    g->buffers = arena_array(r->a, graph_buffer, g->n_buffers + 1);
    for (uint32_t i = 0; i < g->n_buffers && !r->m.failed; i++)
        get_buffer(r, json_array_get(list, i), i, &g->buffers[i]);
    list = manifest_list(&r->m, root, "", "launches", &g->n_launches);
    g->launches = arena_array(r->a, graph_launch, g->n_launches + 1);
    for (uint32_t i = 0; i < g->n_launches && !r->m.failed; i++)
        get_launch(r, json_array_get(list, i), i, &g->launches[i]);
    if (!g->n_launches)
        manifest_wrong(&r->m, "", "launches", "a launch");
}

static void get_manifest(reader *r, const json_t *root)
{
    graphfile *f = r->out;
    graph *g = &f->graph;
    graphfile_tensor *tensors;
    graphfile_operation *operations;
    const json_t *list;

    g->layer = manifest_text(&r->m, root, "", "layer");
    g->type = manifest_text(&r->m, root, "", "type");
    g->form = manifest_text(&r->m, root, "", "form");
    g->batch = (uint32_t)number(r, root, "", "batch", 1, UINT32_MAX);
    g->by_item = manifest_bool(&r->m, root, "", "by_item");
    f->params = manifest_pairs(&r->m, root, "", "params", &f->n_params);
    if (!r->m.failed)
        get_graph(r, root);
    list = manifest_list(&r->m, root, "", "tensors", &f->n_tensors);
    f->tensors = tensors =
        arena_array(r->a, graphfile_tensor, f->n_tensors + 1);
    for (uint32_t i = 0; i < f->n_tensors && !r->m.failed; i++)
        get_tensor(r, json_array_get(list, i), i, &tensors[i]);
    if (!r->m.failed)
        check_tensors(r);
    list = manifest_list(&r->m, root, "", "operations", &f->n_operations);
    f->operations = operations =
        arena_array(r->a, graphfile_operation, f->n_operations + 1);
    for (uint32_t i = 0; i < f->n_operations && !r->m.failed; i++)
        get_operation(r, json_array_get(list, i), i, &operations[i]);
}

vpu_status graphfile_parse(const void *data, size_t n, const char *path,
                           arena *a, graphfile *out, vpu_error *err)
{
    vpu_error mine;
    reader r = {.file = {.kind = &graphfile_kind,
                         .p = data,
                         .n = n,
                         .path = path,
                         .err = err ? err : &mine},
                .a = a,
                .out = out};
    json_t *root = NULL;
    vpu_status st = container_check(&r.file);

    *out = (graphfile){0};
    r.m = (manifest){.file = &r.file, .a = a};
    if (!st)
        st = manifest_open(&r.m, MAX_MANIFEST, &root);
    if (st)
        return st;
    out->manifest_at = container_place(&r.file, 0);
    get_manifest(&r, root);
    json_decref(root);
    return r.m.failed ? VPU_ERR_PARSE : VPU_OK;
}

bool graphfile_is_one(const char *path)
{
    char head[8];

    return file_peek(path, head, sizeof head) == sizeof head &&
           !memcmp(head, graphfile_kind.magic, sizeof head);
}

vpu_status graphfile_read(const char *path, arena *a, graphfile *out,
                          vpu_error *err)
{
    const void *data;
    size_t n;
    vpu_status st = container_load(path, &graphfile_kind, a, &data, &n, err);

    return st ? st : graphfile_parse(data, n, path, a, out, err);
}
