/* Reading blobs: no size, count or offset is believed, and nothing is passed
 * over, so that what was read can be written again. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/word.h"
#include "runtime/blob/blob.h"
#include "runtime/blob/hw.h"
#include "runtime/blob/stage.h"
#include "runtime/blob/wire.h"

typedef struct {
    const uint8_t *p;
    uint64_t at, end; /* of what is being read */
    const char *path, *where;
    arena *a;
    blob *b;
    vpu_error *err;
    vpu_status st; /* the first problem; reads give 0 from then on */
} reader;

/* In header order. */
typedef struct {
    uint32_t n_inputs, n_outputs, n_stages;
    uint32_t sections[4], file_size;
} layout;

static void bad(reader *r, uint64_t at, const char *fmt, ...) VPU_PRINTF(3, 4);

static void bad(reader *r, uint64_t at, const char *fmt, ...)
{
    va_list ap;

    if (r->st)
        return;
    va_start(ap, fmt);
    err_vset(r->err, VPU_ERR_PARSE, fmt, ap);
    va_end(ap);
    r->st = err_in(r->err, VPU_ERR_PARSE, "%s: byte %" PRIu64, r->path, at);
}

/* n bytes, or NULL. */
static const uint8_t *take(reader *r, uint64_t n, const char *what)
{
    const uint8_t *p = r->p + r->at;

    if (r->st)
        return NULL;
    if (n > r->end - r->at) {
        bad(r, r->at,
            "%s of %" PRIu64 " bytes, expected at most %" PRIu64
            ": %s ends at byte %" PRIu64,
            what, n, r->end - r->at, r->where, r->end);
        return NULL;
    }
    r->at += n;
    return p;
}

static uint32_t get(reader *r, const char *what)
{
    const uint8_t *p = take(r, 4, what);

    return p ? word_get(p) : 0;
}

static uint64_t get64(reader *r, const char *what)
{
    const uint8_t *p = take(r, 8, what);

    return p ? word_get(p) | (uint64_t)word_get(p + 4) << 32 : 0;
}

static void expect_zeros(reader *r, uint64_t to)
{
    for (; r->at < to && !r->st; r->at++)
        if (r->p[r->at])
            bad(r, r->at, "%02x, expected 00 up to byte %" PRIu64, r->p[r->at],
                to);
}

/* --- header -------------------------------------------------------------- */

static void read_elf(reader *r)
{
    const uint8_t *p = take(r, WIRE_ELF, "an ELF-like header");

    for (int i = 0; p && i < WIRE_ELF && !r->st; i++)
        if (p[i] != blob_wire_elf[i])
            bad(r, (uint64_t)i, "%02x, expected %02x: not the header of a blob",
                p[i], blob_wire_elf[i]);
}

static void check_layout(reader *r, const layout *l, uint64_t n)
{
    static const char *const names[] = {"inputs", "outputs", "stages",
                                        "const data", "the end"};
    uint32_t least = WIRE_FIRST_SECTION;

    if (l->file_size > n)
        bad(r, 56, "a file of %u bytes, expected at most %" PRIu64,
            l->file_size, n);
    if (l->sections[0] != WIRE_FIRST_SECTION)
        bad(r, 116, "section of inputs at %u, expected %d", l->sections[0],
            WIRE_FIRST_SECTION);
    for (int i = 1; i <= 4; i++) {
        uint32_t here = i < 4 ? l->sections[i] : l->file_size;

        if (here < least || here > l->file_size || here % BLOB_ALIGN)
            bad(r, i < 4 ? 116 + 4 * (uint64_t)i : 56,
                "%s at %u, expected a multiple of %d from %u to %u", names[i],
                here, BLOB_ALIGN, least, l->file_size);
        least = here;
    }
}

static void read_header(reader *r, layout *l)
{
    blob *b = r->b;
    uint32_t magic;

    read_elf(r);
    magic = get(r, "the magic number");
    if (magic != BLOB_MAGIC)
        bad(r, 52, "magic number %u, expected %d", magic, BLOB_MAGIC);
    l->file_size = get(r, "the file size");
    b->major = get(r, "the version");
    b->minor = get(r, "the version");
    if (!r->st && !blob_wire_known_version(b->major, b->minor))
        r->st = err_set(r->err, VPU_ERR_UNSUPPORTED,
                        "%s: byte 60: a blob of version %u.%u, expected 4.0, "
                        "5.0 or 6.0",
                        r->path, b->major, b->minor);
    l->n_inputs = get(r, "the number of inputs");
    l->n_outputs = get(r, "the number of outputs");
    l->n_stages = get(r, "the number of stages");
    b->inputs_size = get(r, "the size of inputs");
    b->outputs_size = get(r, "the size of outputs");
    b->batch = get(r, "the batch");
    b->bss_size = get(r, "the size of scratch memory");
    b->n_slices = get(r, "the number of slices");
    b->n_shaves = get(r, "the number of SHAVEs");
    b->has_hw = get(r, "a stage flag");
    b->has_shave = get(r, "a stage flag");
    b->has_dma = get(r, "a stage flag");
    for (int i = 0; i < 4; i++)
        l->sections[i] = get(r, "the offset of a section");
}

/* --- tensors ------------------------------------------------------------- */

static void get_words(reader *r, uint32_t rank, uint32_t *out, const char *what)
{
    for (uint32_t i = 0; i < rank; i++)
        out[i] = get(r, what);
}

/* Dims or strides in the const data section. */
static void get_shape(reader *r, uint64_t at, uint32_t rank, uint32_t where,
                      uint32_t *out, const char *what)
{
    const blob *b = r->b;

    if (where > b->n_constants || 4 * rank > b->n_constants - where) {
        bad(r, at, "%s at %u of the const data, expected %u bytes within %u",
            what, where, 4 * rank, b->n_constants);
        return;
    }
    for (uint32_t i = 0; i < rank; i++)
        out[i] = word_get(b->constants + where + 4 * i);
}

static void get_desc(reader *r, blob_desc *d)
{
    uint64_t at = r->at;

    d->type = get(r, "an element type");
    d->order = get(r, "an order");
    d->rank = get(r, "a number of dims");
    if (d->rank > BLOB_MAX_DIMS) {
        bad(r, at + 8, "%u dims, expected at most %d", d->rank, BLOB_MAX_DIMS);
        return;
    }
    if (r->b->major < 6) {
        get_words(r, d->rank, d->dims, "dims");
        get_words(r, d->rank, d->strides, "strides");
        return;
    }
    d->dims_location = get(r, "the location of dims");
    d->dims_at = get(r, "the offset of dims");
    d->strides_location = get(r, "the location of strides");
    d->strides_at = get(r, "the offset of strides");
    if (d->dims_location == BLOB_CONST && !r->st)
        get_shape(r, at + 16, d->rank, d->dims_at, d->dims, "dims");
    if (d->strides_location == BLOB_CONST && !r->st)
        get_shape(r, at + 24, d->rank, d->strides_at, d->strides, "strides");
}

static blob_owner get_owner(reader *r)
{
    blob_owner o;

    o.index = get(r, "the number of an input or output");
    o.bytes = get(r, "the size of an input or output");
    return o;
}

static void get_buffer(reader *r, blob_buffer *f)
{
    *f = (blob_buffer){.at = (uint32_t)r->at};
    get_desc(r, &f->desc);
    f->location = get(r, "a location");
    if (blob_wire_owned(f->location))
        f->data = get_owner(r);
    if (f->desc.dims_location == BLOB_OUTPUT)
        f->dims = get_owner(r);
    if (f->desc.strides_location == BLOB_OUTPUT)
        f->strides = get_owner(r);
    f->offset = get(r, "an offset");
}

/* --- sections ------------------------------------------------------------ */

/* Read inside [from, to); the reader's end is restored by leave. */
static void enter(reader *r, uint64_t from, uint64_t to, const char *where)
{
    r->at = from;
    r->end = to;
    r->where = where;
}

/* Padding, and that the section ends where it should. */
static void leave(reader *r, uint64_t to)
{
    uint64_t expected = blob_align(r->at, BLOB_ALIGN);

    if (!r->st && expected != to)
        bad(r, r->at,
            "%s ends here, expected the next at %" PRIu64 ", not %" PRIu64,
            r->where, expected, to);
    if (!r->st)
        expect_zeros(r, to);
}

static const char *get_name(reader *r, uint32_t room)
{
    uint64_t at = r->at;
    const uint8_t *p = take(r, room, "a name");
    size_t n;

    if (!p)
        return "";
    n = strnlen((const char *)p, room);
    if (room > BLOB_MAX_NAME || !blob_wire_name_room(n, room))
        bad(r, at - 4,
            "room of %u bytes for a name of %zu, expected the length rounded "
            "up to 16, at most %d",
            room, n, BLOB_MAX_NAME);
    for (size_t i = n; i < room; i++)
        if (p[i])
            bad(r, at + i, "%02x, expected 00 behind a name", p[i]);
    return arena_strndup(r->a, (const char *)p, n);
}

static const blob_io *get_ios(reader *r, uint32_t n, uint32_t *out_n)
{
    blob_io *list = NULL;
    size_t count = 0, cap = 0;

    while (count < n && !r->st) {
        blob_io *io = arena_append(r->a, list, count, cap);
        uint32_t index;

        *io = (blob_io){.at = (uint32_t)r->at};
        index = get(r, "an index");
        if (index != count - 1)
            bad(r, io->at, "index %u, expected %zu", index, count - 1);
        io->offset = get(r, "a buffer offset");
        io->name_bytes = get(r, "the length of a name");
        io->name = get_name(r, io->name_bytes);
        get_desc(r, &io->desc);
    }
    *out_n = (uint32_t)count;
    return list;
}

static void get_params(reader *r, blob_stage *s)
{
    uint64_t at = r->at;
    uint32_t bytes = get(r, "the length of params"), *words;

    if (!r->st && (bytes < 4 || bytes % 4 || bytes - 4 > r->end - r->at))
        bad(r, at,
            "params of %u bytes, expected a multiple of 4 from 4 to %" PRIu64,
            bytes, r->end - at);
    if (r->st)
        return;
    s->n_params = bytes / 4 - 1;
    s->params = words = arena_array(r->a, uint32_t, s->n_params + 1);
    get_words(r, s->n_params, words, "params");
}

static void get_injected(reader *r, blob_stage *s);

/* A hardware stage is the only one whose record counts its buffers. */
static void get_buffers(reader *r, blob_stage *s)
{
    uint64_t at = r->at;
    uint32_t count = s->type == STAGE_HW ? get(r, "the number of buffers") : 0;
    blob_buffer *list = NULL;
    size_t n = 0, cap = 0;

    while (r->at < r->end && !r->st)
        get_buffer(r, arena_append(r->a, list, n, cap));
    s->buffers = list;
    s->n_buffers = (uint32_t)n;
    if (s->type == STAGE_HW && !r->st && n != count)
        bad(r, at, "%u buffers, expected the %zu that follow", count, n);
}

static void get_stage(reader *r, blob_stage *s)
{
    uint64_t at = r->at, end = r->end;
    uint32_t bytes = get(r, "the length of a stage"), type, border;

    *s = (blob_stage){.at = (uint32_t)at};
    if (!r->st && (bytes < 24 || bytes > end - at))
        bad(r, at, "a stage of %u bytes, expected 24 to %" PRIu64, bytes,
            end - at);
    if (r->st)
        return;
    s->type = get(r, "a stage type");
    s->n_shaves = get(r, "a number of SHAVEs");
    r->end = at + bytes - 8;
    r->where = "the stage's body";
    get_params(r, s);
    get_buffers(r, s);
    get_injected(r, s);
    enter(r, r->at, end, "section of stages");
    type = get(r, "a stage type");
    border = get(r, "a border");
    if (type != s->type)
        bad(r, r->at - 8, "stage type %u, expected %u as in front", type,
            s->type);
    if (border != BLOB_BORDER)
        bad(r, r->at - 4, "border %08x, expected %08x", border, BLOB_BORDER);
}

/* The stage that a hardware stage has at the end of its params, as a record of
 * its own. One level deep: the hardware runs no stage of its own kind beside
 * itself. */
static void get_injected(reader *r, blob_stage *s)
{
    uint64_t at = r->at, end = r->end;
    const char *where = r->where;
    uint32_t word;
    blob_stage *inner;

    if (r->st || s->type != STAGE_HW || !hw_stage_injects(s, &word))
        return;
    inner = arena_new(r->a, blob_stage);
    enter(r, s->at + 16 + 4 * (uint64_t)word,
          s->at + 16 + 4 * (uint64_t)s->n_params, "params of the stage");
    if (r->end - r->at >= 8 && word_get(r->p + r->at + 4) == STAGE_HW)
        bad(r, r->at + 4, "a hardware stage inside of one");
    get_stage(r, inner);
    if (!r->st && r->at != r->end)
        bad(r, r->at,
            "%" PRIu64 " bytes behind an injected stage, expected none",
            r->end - r->at);
    s->injected = inner;
    enter(r, at, end, where);
}

enum { ELEMENTS = 16 }; /* an alignment that is enough for all types */

/* Constants are read as halves, floats and numbers in their place. Behind the
 * header of a host library's cache they may lie at any byte. */
static const uint8_t *aligned(reader *r, const uint8_t *constants, uint32_t n)
{
    uint8_t *copy;

    if (!((uintptr_t)constants % ELEMENTS))
        return constants;
    copy = arena_push(r->a, n, 1, ELEMENTS);
    memcpy(copy, constants, n);
    return copy;
}

static void get_sections(reader *r, const layout *l)
{
    blob *b = r->b;
    const uint32_t *at = l->sections;
    blob_stage *stages = NULL;
    size_t n = 0, cap = 0;

    b->n_constants = l->file_size - at[3];
    b->constants = aligned(r, r->p + at[3], b->n_constants);
    enter(r, r->at, at[0], "header");
    expect_zeros(r, at[0]);
    enter(r, at[0], at[1], "section of inputs");
    b->inputs = get_ios(r, l->n_inputs, &b->n_inputs);
    leave(r, at[1]);
    if (r->st)
        return;
    enter(r, at[1], at[2], "section of outputs");
    b->outputs = get_ios(r, l->n_outputs, &b->n_outputs);
    leave(r, at[2]);
    if (r->st)
        return;
    enter(r, at[2], at[3], "section of stages");
    while (n < l->n_stages && !r->st)
        get_stage(r, arena_append(r->a, stages, n, cap));
    b->stages = stages;
    b->n_stages = (uint32_t)n;
    leave(r, at[3]);
}

/* --- trailer ------------------------------------------------------------- */

static const char *get_text(reader *r, uint64_t n)
{
    uint64_t at = r->at;
    const uint8_t *p = take(r, n, "a text");
    const uint8_t *nul = p ? memchr(p, 0, n) : NULL;

    if (nul)
        bad(r, at + (uint64_t)(nul - p),
            "00, expected a text of %" PRIu64 " bytes without", n);
    return p ? arena_strndup(r->a, (const char *)p, n) : "";
}

static void get_node(reader *r, bool result, blob_node *node)
{
    uint32_t length = get(r, "the length of a name"), bytes;
    uint64_t *shape = NULL;
    const char **names = NULL;
    size_t n = 0, cap = 0;

    *node = (blob_node){.rank = get(r, "a rank")};
    bytes = get(r, "the size of an element type");
    if (bytes != 4)
        bad(r, r->at - 4, "an element type of %u bytes, expected 4", bytes);
    node->n_names = get(r, "the number of tensor names");
    node->name = get_text(r, length);
    while (n < node->rank && !r->st) {
        uint64_t *dim = arena_append(r->a, shape, n, cap);

        *dim = get64(r, "a dim");
    }
    node->shape = shape;
    node->element = (int32_t)get(r, "an element type");
    for (n = cap = 0; n < node->n_names && !r->st;) {
        const char **name = arena_append(r->a, names, n, cap);

        *name = get_text(r, get64(r, "the length of a tensor name"));
    }
    node->names = names;
    if (result)
        node->producer = get_text(r, get64(r, "the length of a name"));
}

static const blob_node *get_nodes(reader *r, uint32_t count, bool result,
                                  uint32_t *out_n)
{
    blob_node *list = NULL;
    size_t n = 0, cap = 0;

    while (n < count && !r->st)
        get_node(r, result, arena_append(r->a, list, n, cap));
    *out_n = (uint32_t)n;
    return list;
}

static void get_trailer(reader *r)
{
    blob *b = r->b;
    uint32_t n_parameters = get(r, "the number of parameters");
    uint32_t n_results = get(r, "the number of results");

    b->has_trailer = true;
    b->parameters = get_nodes(r, n_parameters, false, &b->n_parameters);
    b->results = get_nodes(r, n_results, true, &b->n_results);
    if (!r->st && r->at != r->end)
        bad(r, r->at, "%" PRIu64 " bytes behind the trailer, expected none",
            r->end - r->at);
}

bool blob_find(const void *data, size_t n, size_t *at)
{
    static const char cache[] = "<?xml", own[] = "<compiled_blob";
    const char *p = data, *found;

    *at = 0;
    if (n >= WIRE_ELF && !memcmp(p, blob_wire_elf, 16))
        return true;
    if (n < sizeof cache || memcmp(p, cache, sizeof cache - 1) ||
        !memmem(p, n < 4096 ? n : 4096, own, sizeof own - 1))
        return false;
    found = memmem(p, n, blob_wire_elf, 16);
    *at = found ? (size_t)(found - p) : 0;
    return found != NULL;
}

vpu_status blob_parse(const void *data, size_t n, const char *path, arena *a,
                      blob *out, vpu_error *err)
{
    reader r = {.p = data, .path = path, .a = a, .b = out, .err = err};
    layout l = {0};

    *out = (blob){0};
    enter(&r, 0, n, "the file");
    read_header(&r, &l);
    if (!r.st)
        check_layout(&r, &l, n);
    if (!r.st)
        get_sections(&r, &l);
    if (!r.st && n > l.file_size) {
        enter(&r, l.file_size, n, "the file");
        get_trailer(&r);
    }
    return r.st;
}
