/* Writing blobs. */
#include <string.h>

#include "base/word.h"
#include "runtime/blob/blob.h"
#include "runtime/blob/stage.h"
#include "runtime/blob/wire.h"

const uint8_t blob_wire_elf[WIRE_ELF] = {
    0x7f, 'e', 'l', 'f', [16] = 1, [18] = 2, [20] = 2, [40] = 0xa0, 0x01};

typedef struct {
    str *out;
    size_t start; /* of the blob in out */
    const blob *b;
    vpu_error *err;
    vpu_status st;
} writer;

static void put(writer *w, uint32_t v)
{
    uint8_t b[4];

    word_set(b, v);
    str_add(w->out, b, 4);
}

static void put64(writer *w, uint64_t v)
{
    put(w, (uint32_t)v);
    put(w, (uint32_t)(v >> 32));
}

static void put_zeros(writer *w, size_t n)
{
    static const char zeros[64];

    for (; n > sizeof zeros; n -= sizeof zeros)
        str_add(w->out, zeros, sizeof zeros);
    str_add(w->out, zeros, n);
}

static size_t here(const writer *w)
{
    return w->out->n - w->start;
}

static void pad(writer *w)
{
    put_zeros(w, blob_align(here(w), BLOB_ALIGN) - here(w));
}

/* Patch a word written before. */
static void patch(writer *w, size_t at, size_t v)
{
    word_set((uint8_t *)w->out->data + w->start + at, (uint32_t)v);
}

static bool same_words(const blob *b, uint32_t at, uint32_t n,
                       const uint32_t *words)
{
    if (at > b->n_constants || 4 * n > b->n_constants - at)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (word_get(b->constants + at + 4 * i) != words[i])
            return false;
    return true;
}

static void put_desc(writer *w, const blob_desc *d, const char *what)
{
    const blob *b = w->b;

    if (d->rank > BLOB_MAX_DIMS) {
        w->st = err_set(w->err, VPU_ERR_INVALID, "%s: %u dims, at most %d",
                        what, d->rank, BLOB_MAX_DIMS);
        return;
    }
    put(w, d->type);
    put(w, d->order);
    put(w, d->rank);
    if (b->major < 6) {
        for (uint32_t i = 0; i < d->rank; i++)
            put(w, d->dims[i]);
        for (uint32_t i = 0; i < d->rank; i++)
            put(w, d->strides[i]);
        return;
    }
    if ((d->dims_location == BLOB_CONST &&
         !same_words(b, d->dims_at, d->rank, d->dims)) ||
        (d->strides_location == BLOB_CONST &&
         !same_words(b, d->strides_at, d->rank, d->strides)))
        w->st = err_set(w->err, VPU_ERR_INVALID,
                        "%s: dims and strides are not those in the const data "
                        "at %u and %u",
                        what, d->dims_at, d->strides_at);
    put(w, d->dims_location);
    put(w, d->dims_at);
    put(w, d->strides_location);
    put(w, d->strides_at);
}

static void put_owner(writer *w, const blob_owner *o)
{
    put(w, o->index);
    put(w, o->bytes);
}

static void put_buffer(writer *w, const blob_buffer *f)
{
    bool dynamic = w->b->major >= 6;

    put_desc(w, &f->desc, "a stage's buffer");
    put(w, f->location);
    if (blob_wire_owned(f->location))
        put_owner(w, &f->data);
    if (dynamic && f->desc.dims_location == BLOB_OUTPUT)
        put_owner(w, &f->dims);
    if (dynamic && f->desc.strides_location == BLOB_OUTPUT)
        put_owner(w, &f->strides);
    put(w, f->offset);
}

static void put_stage(writer *w, const blob_stage *s)
{
    size_t at = here(w);

    put(w, 0);
    put(w, s->type);
    put(w, s->n_shaves);
    put(w, 4 + 4 * s->n_params);
    for (uint32_t i = 0; i < s->n_params; i++)
        put(w, s->params[i]);
    if (s->type == STAGE_HW)
        put(w, s->n_buffers);
    for (uint32_t i = 0; i < s->n_buffers && !w->st; i++)
        put_buffer(w, &s->buffers[i]);
    put(w, s->type);
    put(w, BLOB_BORDER);
    patch(w, at, here(w) - at);
}

static void put_ios(writer *w, const blob_io *list, uint32_t n)
{
    for (uint32_t i = 0; i < n && !w->st; i++) {
        const blob_io *io = &list[i];
        size_t length = strlen(io->name);

        if (!blob_wire_name_room(length, io->name_bytes) ||
            io->name_bytes > BLOB_MAX_NAME) {
            w->st = err_set(w->err, VPU_ERR_INVALID,
                            "'%s': room of %u bytes for a name of %zu",
                            io->name, io->name_bytes, length);
            return;
        }
        put(w, i);
        put(w, io->offset);
        put(w, io->name_bytes);
        str_add(w->out, io->name, length);
        put_zeros(w, io->name_bytes - length);
        put_desc(w, &io->desc, io->name);
    }
    pad(w);
}

static void put_header(writer *w)
{
    const blob *b = w->b;
    const uint32_t words[16] = {BLOB_MAGIC,      0,
                                b->major,        b->minor,
                                b->n_inputs,     b->n_outputs,
                                b->n_stages,     b->inputs_size,
                                b->outputs_size, b->batch,
                                b->bss_size,     b->n_slices,
                                b->n_shaves,     b->has_hw,
                                b->has_shave,    b->has_dma};

    str_add(w->out, blob_wire_elf, WIRE_ELF);
    for (int i = 0; i < 16; i++)
        put(w, words[i]);
    put_zeros(w, WIRE_FIRST_SECTION - here(w));
    patch(w, 116, WIRE_FIRST_SECTION);
}

static void put_text(writer *w, const char *text)
{
    put64(w, strlen(text));
    str_puts(w->out, text);
}

static void put_nodes(writer *w, const blob_node *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const blob_node *node = &list[i];

        put(w, (uint32_t)strlen(node->name));
        put(w, node->rank);
        put(w, 4);
        put(w, node->n_names);
        str_puts(w->out, node->name);
        for (uint32_t k = 0; k < node->rank; k++)
            put64(w, node->shape[k]);
        put(w, (uint32_t)node->element);
        for (uint32_t k = 0; k < node->n_names; k++)
            put_text(w, node->names[k]);
        if (node->producer)
            put_text(w, node->producer);
    }
}

static vpu_status check(const blob *b, vpu_error *err)
{
    if (!blob_wire_known_version(b->major, b->minor))
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "blobs of version %u.%u: only 4.0, 5.0 and 6.0",
                       b->major, b->minor);
    if (b->n_constants % BLOB_ALIGN)
        return err_set(err, VPU_ERR_INVALID,
                       "const data of %u bytes, not a multiple of %d",
                       b->n_constants, BLOB_ALIGN);
    for (uint32_t i = 0; i < b->n_parameters; i++)
        if (b->parameters[i].producer)
            return err_set(err, VPU_ERR_INVALID,
                           "parameter '%s' with a producer",
                           b->parameters[i].name);
    for (uint32_t i = 0; i < b->n_results; i++)
        if (!b->results[i].producer)
            return err_set(err, VPU_ERR_INVALID,
                           "result '%s' without a producer",
                           b->results[i].name);
    return VPU_OK;
}

vpu_status blob_build(const blob *b, str *out, vpu_error *err)
{
    writer w = {.out = out, .start = out->n, .b = b, .err = err};
    vpu_status st = check(b, err);

    if (st)
        return st;
    put_header(&w);
    put_ios(&w, b->inputs, b->n_inputs);
    patch(&w, 120, here(&w));
    if (!w.st)
        put_ios(&w, b->outputs, b->n_outputs);
    patch(&w, 124, here(&w));
    for (uint32_t i = 0; i < b->n_stages && !w.st; i++)
        put_stage(&w, &b->stages[i]);
    pad(&w);
    patch(&w, 128, here(&w));
    str_add(out, b->constants, b->n_constants);
    if (!w.st && here(&w) > UINT32_MAX)
        w.st = err_set(err, VPU_ERR_LIMIT, "a blob of %zu bytes, at most 4 GiB",
                       here(&w));
    if (w.st)
        return w.st;
    patch(&w, 56, here(&w));
    if (b->has_trailer) {
        put(&w, b->n_parameters);
        put(&w, b->n_results);
        put_nodes(&w, b->parameters, b->n_parameters);
        put_nodes(&w, b->results, b->n_results);
    }
    return VPU_OK;
}
