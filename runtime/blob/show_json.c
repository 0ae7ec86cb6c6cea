/* A blob as JSON. */
#include <string.h>

#include "runtime/blob/check.h"
#include "runtime/blob/release.h"
#include "runtime/blob/stage.h"
#include "runtime/json/jsontext.h"

typedef struct {
    const blob *b;
    arena *a;
} writer;

static json_t *number(uint64_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *words(const uint32_t *list, uint32_t n)
{
    json_t *j = json_array();

    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(j, number(list[i]));
    return j;
}

static json_t *text_or_number(const char *text, uint32_t n)
{
    return text ? json_string(text) : number(n);
}

/* Dims and strides in memory order, the fastest first. */
static json_t *desc_json(const writer *w, const blob_desc *d)
{
    json_t *j = json_pack("{s:o,s:s,s:o,s:o}", "type",
                          text_or_number(blob_type_name(d->type), d->type),
                          "order", stage_order_name(d->order, w->a), "dims",
                          words(d->dims, d->rank), "strides",
                          words(d->strides, d->rank));

    if (w->b->major >= 6) {
        json_object_set_new(j, "dims_location", number(d->dims_location));
        json_object_set_new(j, "dims_at", number(d->dims_at));
        json_object_set_new(j, "strides_location", number(d->strides_location));
        json_object_set_new(j, "strides_at", number(d->strides_at));
    }
    return j;
}

static json_t *io_json(const writer *w, const blob_io *io)
{
    return json_pack("{s:o,s:o,s:o,s:o}", "name", jsontext_string(io->name),
                     "at", number(io->at), "offset", number(io->offset),
                     "tensor", desc_json(w, &io->desc));
}

static json_t *ios_json(const writer *w, const blob_io *list, uint32_t n)
{
    json_t *j = json_array();

    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(j, io_json(w, &list[i]));
    return j;
}

static json_t *argument_json(const stage_arg *arg)
{
    float real;

    switch (arg->tag) {
    case STAGE_ARG_INT:
        return json_pack("{s:I}", "int", (json_int_t)(int32_t)arg->value);
    case STAGE_ARG_FLOAT:
        memcpy(&real, &arg->value, sizeof real);
        /* JSON has neither infinities nor NaN: their bits, then. */
        return real - real == 0
                   ? json_pack("{s:f}", "float", (double)real)
                   : json_pack("{s:I}", "float_bits", (json_int_t)arg->value);
    case STAGE_ARG_LOCAL:
        return json_pack("{s:I}", "local_bytes", (json_int_t)arg->value);
    default:
        return json_pack(
            "{s:I,s:I}", arg->tag >= 0 ? "buffer" : "tag", (json_int_t)arg->tag,
            arg->tag >= 0 ? "offset" : "value", (json_int_t)arg->value);
    }
}

static json_t *custom_json(const stage_custom *c, bool old)
{
    json_t *args = json_array();

    for (uint32_t i = 0; i < c->n_args; i++)
        json_array_append_new(args, argument_json(&c->args[i]));
    return json_pack(
        "{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", old ? "global_size" : "groups",
        words(c->groups, 3), "local_size", words(c->local, 3), "offset",
        words(c->offset, 3), "max_shaves", number(c->max_shaves),
        old ? "kernel_address" : "kernel", number(c->kernel), "kernel_buffer",
        number(stage_custom_elf(c)), "arguments", args);
}

static json_t *buffer_json(const writer *w, const blob_buffer *f)
{
    json_t *j = json_pack(
        "{s:o,s:o,s:o,s:o}", "at", number(f->at), "location",
        text_or_number(blob_location_name(f->location), f->location), "offset",
        number(f->offset), "tensor", desc_json(w, &f->desc));

    if (f->location == BLOB_INPUT || f->location == BLOB_OUTPUT) {
        json_object_set_new(j, "index", number(f->data.index));
        json_object_set_new(j, "bytes", number(f->data.bytes));
    }
    return j;
}

static json_t *stage_json(const writer *w, const blob_stage *s)
{
    json_t *buffers = json_array(), *j;
    stage_custom c;

    for (uint32_t i = 0; i < s->n_buffers; i++)
        json_array_append_new(buffers, buffer_json(w, &s->buffers[i]));
    j = json_pack("{s:o,s:o,s:o,s:o,s:o}", "type", number(s->type), "at",
                  number(s->at), "shaves", number(s->n_shaves), "params",
                  words(s->params, s->n_params), "buffers", buffers);
    if (stage_name(s->type))
        json_object_set_new(j, "name", json_string(stage_name(s->type)));
    if (stage_custom_read(s, w->a, &c))
        json_object_set_new(j, "custom",
                            custom_json(&c, s->type == STAGE_OLD_CUSTOM));
    return j;
}

static json_t *node_json(const blob_node *n)
{
    json_t *shape = json_array(), *names = json_array(), *j;

    for (uint32_t i = 0; i < n->rank; i++)
        json_array_append_new(shape, number(n->shape[i]));
    for (uint32_t i = 0; i < n->n_names; i++)
        json_array_append_new(names, jsontext_string(n->names[i]));
    j = json_pack("{s:o,s:I,s:o,s:o}", "name", jsontext_string(n->name),
                  "element", (json_int_t)n->element, "shape", shape, "names",
                  names);
    if (n->producer)
        json_object_set_new(j, "producer", jsontext_string(n->producer));
    return j;
}

static json_t *nodes_json(const blob_node *list, uint32_t n)
{
    json_t *j = json_array();

    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(j, node_json(&list[i]));
    return j;
}

static json_t *header_json(const blob *b)
{
    const struct {
        const char *name;
        uint32_t value;
    } rows[] = {{"major", b->major},
                {"minor", b->minor},
                {"batch", b->batch},
                {"input_bytes", b->inputs_size},
                {"output_bytes", b->outputs_size},
                {"scratch_bytes", b->bss_size},
                {"constant_bytes", b->n_constants},
                {"slices", b->n_slices},
                {"shaves", b->n_shaves},
                {"hardware", b->has_hw},
                {"shave", b->has_shave},
                {"dma", b->has_dma}};
    json_t *j = json_object();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        json_object_set_new(j, rows[i].name, number(rows[i].value));
    json_object_set_new(j, "releases",
                        json_string(blob_version_releases(b->major, b->minor)));
    return j;
}

json_t *blob_json(const blob *b, arena *a)
{
    const writer w = {b, a};
    json_t *stages = json_array(), *j;

    for (uint32_t i = 0; i < b->n_stages; i++)
        json_array_append_new(stages, stage_json(&w, &b->stages[i]));
    j = json_pack("{s:o,s:o,s:o,s:o}", "header", header_json(b), "inputs",
                  ios_json(&w, b->inputs, b->n_inputs), "outputs",
                  ios_json(&w, b->outputs, b->n_outputs), "stages", stages);
    if (b->has_trailer) {
        json_object_set_new(j, "parameters",
                            nodes_json(b->parameters, b->n_parameters));
        json_object_set_new(j, "results", nodes_json(b->results, b->n_results));
    }
    return j;
}
