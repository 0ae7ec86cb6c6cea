/* Writing graphs. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graphfile/graphfile.h"
#include "runtime/graphfile/names.h"

const char *const graphfile_roles[] = {"input", "output", "scratch", "const"};
const char *const graphfile_kinds[] = {"buffer", "local", "integer",
                                       "real",   "bytes", "broken"};
const char *const graphfile_forms[] = {"conversion", "text", "bin"};
const container_kind graphfile_kind = {.magic = "\211VPUGRF\n",
                                       .begin = "89 'VPUGRF' 0a",
                                       .called = "graph",
                                       .oldest = GRAPHFILE_OLDEST,
                                       .version = GRAPHFILE_VERSION,
                                       .max_bytes = (uint64_t)16 << 30};

typedef struct {
    const graphfile *f;
    arena *a;
    container_section *sections; /* the first is the manifest */
    size_t n, cap;
} writer;

/* Equal bytes stand in the file once. */
static json_t *section(writer *w, const void *data, uint64_t bytes)
{
    for (size_t i = 1; i < w->n; i++)
        if (w->sections[i].bytes == bytes &&
            !memcmp(w->sections[i].data, data, bytes))
            return json_integer((json_int_t)i);
    *arena_append(w->a, w->sections, w->n, w->cap) =
        (container_section){.data = data, .bytes = bytes};
    return json_integer((json_int_t)w->n - 1);
}

static json_t *texts(const char *const *list, uint32_t n)
{
    json_t *j = json_array();

    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(j, json_string(list[i]));
    return j;
}

static json_t *numbers(const uint32_t *list, uint32_t n)
{
    json_t *j = json_array();

    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(j, json_integer(list[i]));
    return j;
}

static json_t *index_json(uint32_t i)
{
    return i == GRAPHFILE_NONE ? json_null() : json_integer(i);
}

static json_t *buffer_json(writer *w, const graph_buffer *b)
{
    return json_pack(
        "{s:s, s:s?, s:s, s:I, s:s, s:o, s:b, s:b, s:I, s:o, s:o}", "name",
        b->name, "label", b->label, "role", graphfile_roles[b->role], "port",
        (json_int_t)b->port, "dtype", tensor_dtype_name(b->desc.dtype), "dims",
        numbers(b->desc.dims, b->desc.rank), "minor",
        b->desc.layout == TENSOR_CHANNEL_MINOR, "untyped", b->untyped, "bytes",
        (json_int_t)b->bytes, "section",
        b->init ? section(w, b->init, b->bytes) : json_null(), "place",
        b->place ? json_integer((json_int_t)*b->place) : json_null());
}

/* The bits of a real number, so that every one of them comes back. */
static json_int_t bits_of(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static json_t *arg_json(writer *w, const graph_arg *x)
{
    json_t *j = json_pack("{s:s, s:s, s:i}", "name", x->name, "kind",
                          graphfile_kinds[x->kind], "line", (int)x->line);
    json_t *more = NULL;

    switch (x->kind) {
    case GRAPH_ARG_BUFFER:
        more = json_pack("{s:I, s:I, s:I, s:I, s:b, s:b}", "buffer",
                         (json_int_t)x->buffer, "offset", (json_int_t)x->offset,
                         "items", (json_int_t)x->items, "bytes",
                         (json_int_t)x->bytes, "written", x->written, "split",
                         x->split);
        break;
    case GRAPH_ARG_LOCAL:
        more = json_pack("{s:I}", "bytes", (json_int_t)x->bytes);
        break;
    case GRAPH_ARG_INT:
        more = json_pack("{s:I, s:b}", "integer", (json_int_t)x->integer,
                         "converts", x->converts);
        break;
    case GRAPH_ARG_FLOAT:
        more = json_pack("{s:I}", "bits", bits_of(x->real));
        break;
    case GRAPH_ARG_BYTES:
        more = json_pack("{s:o}", "section", section(w, x->value, x->bytes));
        break;
    case GRAPH_ARG_BROKEN:
        more = json_pack("{s:s}", "why", x->why);
    }
    if (!j || !more || json_object_update(j, more)) {
        json_decref(j);
        j = NULL;
    }
    json_decref(more);
    return j;
}

static json_t *linked_json(writer *w, const graph_launch *l)
{
    json_t *j = json_array();

    for (uint32_t i = 0; i < l->n_linked; i++) {
        const graph_text *t = &l->linked[i];

        json_array_append_new(
            j, json_pack("{s:s, s:o, s:o}", "name", t->name, "options",
                         texts(t->options, t->n_options), "section",
                         section(w, t->text, strlen(t->text))));
    }
    return j;
}

static json_t *source_json(writer *w, const graph_launch *l)
{
    graphfile_form form = l->text    ? GRAPHFILE_CONVERSION
                          : l->given ? GRAPHFILE_TEXT
                                     : GRAPHFILE_BIN;
    json_t *at = form == GRAPHFILE_CONVERSION ? json_null()
                 : form == GRAPHFILE_TEXT
                     ? section(w, l->given, strlen(l->given))
                     : section(w, l->bin, l->n_bin);

    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "form", graphfile_forms[form],
                     "name", l->n_sources ? l->sources[0] : "", "options",
                     texts(l->options, l->n_options), "section", at, "linked",
                     linked_json(w, l));
}

/* null: all work-groups run, and no argument gets a part's number. */
static json_t *window_json(const graph_window *x)
{
    if (!x->n[0] && !x->part_argument && !x->parts_argument)
        return json_null();
    return json_pack("{s:o, s:o, s:s?, s:s?, s:I, s:I}", "first",
                     numbers(x->first, 3), "groups", numbers(x->n, 3),
                     "part_argument", x->part_argument, "parts_argument",
                     x->parts_argument, "part", (json_int_t)x->part, "parts",
                     (json_int_t)x->parts);
}

/* null: the launch of a layer, or of an operation. */
static json_t *program_json(const graph_launch *l)
{
    return l->program ? json_pack("{s:o, s:I}", "offset", numbers(l->offset, 3),
                                  "dims", (json_int_t)l->work_dim)
                      : json_null();
}

static json_t *launch_json(writer *w, const graph_launch *l)
{
    json_t *args = json_array();

    for (uint32_t i = 0; i < l->n_args; i++)
        json_array_append_new(args, arg_json(w, &l->args[i]));
    if (json_array_size(args) != l->n_args) {
        json_decref(args);
        args = NULL; /* a name that is none: json_pack fails */
    }
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:o, s:b, s:o, s:o, s:o, s:I, s:b, s:I, "
        "s:s?, s:I, s:o}",
        "name", l->name, "layer", l->layer, "type", l->type, "entry", l->entry,
        "source", source_json(w, l), "args", args, "by_index", l->by_index,
        "global", numbers(l->global, 3), "local", numbers(l->local, 3),
        "window", window_json(&l->window), "max_shaves",
        (json_int_t)l->max_shaves, "tuned", l->tuned, "bound_shaves",
        (json_int_t)l->bound_shaves, "file", l->file, "line",
        (json_int_t)l->line, "program", program_json(l));
}

static json_t *long_numbers(const uint64_t *list, uint32_t n)
{
    json_t *j = json_array();

    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(j, json_integer((json_int_t)list[i]));
    return j;
}

static json_t *valid_json(const graphfile_tensor *t)
{
    return t->has_valid ? json_pack("[o, o]", numbers(t->valid_start, t->rank),
                                    numbers(t->valid_end, t->rank))
                        : json_null();
}

static json_t *tensor_json(const graphfile_tensor *t)
{
    return json_pack(
        "{s:s, s:I, s:b, s:o, s:o, s:I, s:I, s:o, s:o}", "name", t->name,
        "buffer", (json_int_t)t->buffer, "virtual", t->is_virtual, "dims",
        numbers(t->dims, t->rank), "parent", index_json(t->parent), "offset",
        (json_int_t)t->offset, "bytes", (json_int_t)t->bytes, "strides",
        t->has_strides ? long_numbers(t->strides, t->rank) : json_null(),
        "valid", valid_json(t));
}

static json_t *operation_json(const graphfile_operation *op)
{
    return json_pack("{s:s, s:I, s:I, s:o, s:b, s:o, s:o}", "name", op->name,
                     "launch", (json_int_t)op->launch, "launches",
                     (json_int_t)op->n_launches, "outer", index_json(op->outer),
                     "composed", op->composed, "inputs",
                     numbers(op->inputs, op->n_inputs), "outputs",
                     numbers(op->outputs, op->n_outputs));
}

/* NULL: a text is not UTF-8. */
static json_t *manifest_json(writer *w)
{
    const graphfile *f = w->f;
    const graph *g = &f->graph;
    json_t *buffers = json_array(), *launches = json_array();
    json_t *tensors = json_array(), *operations = json_array();
    bool whole = true;

    for (uint32_t i = 0; i < g->n_buffers; i++)
        whole &=
            !json_array_append_new(buffers, buffer_json(w, &g->buffers[i]));
    for (uint32_t i = 0; i < g->n_launches; i++)
        whole &=
            !json_array_append_new(launches, launch_json(w, &g->launches[i]));
    for (uint32_t i = 0; i < f->n_tensors; i++)
        whole &= !json_array_append_new(tensors, tensor_json(&f->tensors[i]));
    for (uint32_t i = 0; i < f->n_operations; i++)
        whole &= !json_array_append_new(operations,
                                        operation_json(&f->operations[i]));
    if (!whole) {
        json_decref(buffers);
        buffers = NULL; /* and so the whole */
    }
    return json_pack("{s:s, s:s, s:s, s:I, s:b, s:o, s:o, s:o, s:o, s:o}",
                     "layer", g->layer, "type", g->type, "form", g->form,
                     "batch", (json_int_t)g->batch, "by_item", g->by_item,
                     "params", texts(f->params, f->n_params), "buffers",
                     buffers, "launches", launches, "tensors", tensors,
                     "operations", operations);
}

vpu_status graphfile_write(const char *path, const graphfile *f, arena *a,
                           vpu_error *err)
{
    writer w = {.f = f, .a = a};
    json_t *j;
    char *text;
    vpu_status st;

    *arena_append(a, w.sections, w.n, w.cap) = (container_section){0};
    j = manifest_json(&w);
    text =
        j ? json_dumps(j, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_ENSURE_ASCII)
          : NULL;
    json_decref(j);
    if (!text)
        return err_set(err, VPU_ERR_INVALID,
                       "%s: a name in the graph is not UTF-8", path);
    w.sections[0] = (container_section){.data = text, .bytes = strlen(text)};
    st = container_write(path, &graphfile_kind, w.sections, (uint32_t)w.n, err);
    free(text);
    return st;
}
