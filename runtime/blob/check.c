/* Cross references of a blob. */
#include "runtime/blob/check.h"

#include <inttypes.h>
#include <string.h>

#include "runtime/blob/hw.h"
#include "runtime/blob/meta.h"
#include "runtime/blob/stage.h"
#include "runtime/blob/wire.h"

typedef struct {
    const blob *b;
    arena *a;
    str *out;
    uint32_t n;
} checker;

static void wrong(checker *c, uint32_t at, const char *fmt, ...)
    VPU_PRINTF(3, 4);

static void wrong(checker *c, uint32_t at, const char *fmt, ...)
{
    va_list ap;

    str_printf(c->out, "byte %u: ", at);
    va_start(ap, fmt);
    str_puts(c->out, arena_vprintf(c->a, fmt, ap));
    va_end(ap);
    str_puts(c->out, "\n");
    c->n++;
}

/* Old blobs keep some tensors in a form of three dims whatever the order. */
static void check_desc(checker *c, uint32_t at, const blob_desc *d)
{
    uint64_t least = blob_type_bytes(d->type);

    if (!least)
        wrong(c, at, "element type %u, expected 0 to %d", d->type,
              BLOB_N_TYPES - 1);
    if (stage_order_rank(d->order) != d->rank &&
        !(c->b->major < 6 && d->rank == 3))
        wrong(c, at, "%u dims in order 0x%x, expected as many as its digits",
              d->rank, d->order);
    if (c->b->major >= 6 &&
        (d->strides_location != BLOB_CONST || d->dims_location != BLOB_CONST)) {
        if (d->strides_location != BLOB_CONST)
            wrong(c, at, "strides at location %u, expected %d",
                  d->strides_location, BLOB_CONST);
        if (d->dims_location >= BLOB_N_LOCATIONS)
            wrong(c, at, "dims at location %u, expected 0 to %d",
                  d->dims_location, BLOB_N_LOCATIONS - 1);
        return;
    }
    for (uint32_t i = 0; i < d->rank && least; i++) {
        if (!d->dims[i])
            wrong(c, at, "dim %u is 0", i);
        if (d->strides[i] < least)
            wrong(c, at, "stride %u is %u, expected at least %" PRIu64, i,
                  d->strides[i], least);
        least = (uint64_t)d->strides[i] * d->dims[i];
    }
}

static void check_ios(checker *c, const blob_io *list, uint32_t n,
                      uint32_t size, const char *what)
{
    uint64_t end = 0;

    for (uint32_t i = 0; i < n; i++) {
        const blob_io *io = &list[i];
        uint32_t at = io->at + 12 + io->name_bytes;

        check_desc(c, at, &io->desc);
        if (c->b->major >= 6 && io->desc.dims_location != BLOB_CONST)
            wrong(c, at, "dims of '%s' at location %u, expected %d", io->name,
                  io->desc.dims_location, BLOB_CONST);
        if (io->offset != blob_align(end, BLOB_ALIGN))
            wrong(c, io->at + 4, "'%s' at %u of the %s, expected %" PRIu64,
                  io->name, io->offset, what, blob_align(end, BLOB_ALIGN));
        end = io->offset +
              blob_desc_bytes(&io->desc) * (c->b->batch ? c->b->batch : 1);
    }
    /* Outputs need not scale with the batch. */
    if (end != size && c->b->batch <= 1)
        wrong(c, list == c->b->inputs ? 80 : 84,
              "%s of %u bytes, expected %" PRIu64, what, size, end);
}

static void check_owner(checker *c, const blob_buffer *f, uint32_t location,
                        const blob_owner *o)
{
    bool in = location == BLOB_INPUT;
    uint32_t n = in ? c->b->n_inputs : c->b->n_outputs;
    const blob_io *list = in ? c->b->inputs : c->b->outputs;

    if (o->index >= n)
        wrong(c, f->at, "%s %u, expected less than %u", in ? "input" : "output",
              o->index, n);
    else if (blob_desc_bytes(&list[o->index].desc) != o->bytes)
        wrong(c, f->at, "owner '%s' of %u bytes, expected %" PRIu64,
              list[o->index].name, o->bytes,
              blob_desc_bytes(&list[o->index].desc));
}

static void check_buffer(checker *c, const blob_buffer *f)
{
    uint64_t room = UINT64_MAX, bytes = blob_desc_span(&f->desc);

    if (f->location == BLOB_NOWHERE)
        return; /* stands for an absent one */
    check_desc(c, f->at, &f->desc);
    if (f->location >= BLOB_N_LOCATIONS) {
        wrong(c, f->at, "location %u, expected 0 to %d", f->location,
              BLOB_N_LOCATIONS - 1);
        return;
    }
    if (blob_wire_owned(f->location)) {
        check_owner(c, f, f->location, &f->data);
        room = f->data.bytes;
    } else if (f->location == BLOB_CONST) {
        room = c->b->n_constants;
    } else if (f->location == BLOB_BSS) {
        room = c->b->bss_size;
    } else if (f->location == BLOB_CMX) {
        room = (uint64_t)c->b->n_slices * BLOB_SLICE;
    }
    if (f->desc.dims_location == BLOB_OUTPUT)
        check_owner(c, f, BLOB_OUTPUT, &f->dims);
    if (f->offset > room || bytes > room - f->offset)
        wrong(c, f->at,
              "%" PRIu64 " bytes at %u of %s, expected them within %" PRIu64,
              bytes, f->offset, blob_location_name(f->location), room);
}

/* --- stages -------------------------------------------------------------- */

static void check_kernel(checker *c, const blob_stage *s, const stage_custom *u)
{
    const blob_buffer *f = &s->buffers[stage_custom_elf(u)];
    uint64_t bytes = blob_desc_bytes(&f->desc);
    vpu_error err;
    meta_kernel m;
    vpu_status st;

    if (f->location != BLOB_CONST || f->desc.type != BLOB_U8 ||
        f->desc.rank != 1) {
        wrong(c, f->at, "buffer %u, expected the kernel's file: U8, const",
              stage_custom_elf(u));
        return;
    }
    if (f->offset > c->b->n_constants || bytes > c->b->n_constants - f->offset)
        return; /* said already */
    st = meta_read(&(const file_bytes){c->b->constants + f->offset, bytes,
                                       "the kernel's file"},
                   NULL, c->a, &m, &err);
    /* Without a name the earlier generation's cannot be told apart. */
    if (st && st != VPU_ERR_INVALID)
        wrong(c, f->at, "%s", err.msg);
    else if (!st && m.n_args != u->n_args)
        wrong(c, s->at, "%u arguments, the kernel's file has %u", u->n_args,
              m.n_args);
}

static void check_custom(checker *c, const blob_stage *s)
{
    uint32_t at = s->at + 16; /* params */
    stage_custom u;

    if (!stage_custom_read(s, c->a, &u)) {
        wrong(c, at, "%u words of params do not make a custom stage",
              s->n_params);
        return;
    }
    for (int i = 0; i < 3; i++)
        if (!u.groups[i] || !u.local[i])
            wrong(c, at, "work size %d: %u of %u, expected none to be 0", i,
                  u.groups[i], u.local[i]);
    for (uint32_t i = 0; i < u.n_args; i++) {
        int64_t tag = u.args[i].tag;

        if (tag < STAGE_ARG_LOCAL || tag >= (int64_t)u.n_buffers)
            wrong(c, at + 56 + 8 * i,
                  "argument %u has tag %" PRId64 ", expected -3 to %" PRId64, i,
                  tag, (int64_t)u.n_buffers - 1);
    }
    if (s->n_buffers != (uint64_t)u.n_buffers + 1)
        wrong(c, at + 48, "%u inputs and outputs, the record has %u buffers",
              u.n_buffers, s->n_buffers);
    else if (u.n_data >= u.n_buffers)
        wrong(c, at + 44, "%u inputs of %u inputs and outputs", u.n_data,
              u.n_buffers);
    else
        check_kernel(c, s, &u);
}

static void check_permute(checker *c, const blob_stage *s)
{
    uint32_t seen = 0, rank = s->buffers[0].desc.rank;

    for (uint32_t i = 0; i < 8; i++) {
        uint32_t v = s->params[i];

        if (i < rank ? v >= rank || seen & 1u << v : v != UINT32_MAX)
            wrong(c, s->at + 16 + 4 * i,
                  "dim %u comes from %u, expected each of %u once", i, v, rank);
        if (v < 8)
            seen |= 1u << v;
    }
}

static const struct {
    uint32_t type, n_params, n_buffers;
} forms[] = {{STAGE_NONE, 0, 0},
             {STAGE_COPY, 0, 2},
             {STAGE_PERMUTE, 8, 2},
             {STAGE_CONVERT, 4, 2}};

static void check_stage(checker *c, const blob_stage *s);

static void check_hw(checker *c, const blob_stage *s)
{
    const hw_op *ops;
    uint32_t n;
    vpu_error err;

    if (hw_stage_read(s, c->a, &ops, &n, &err)) {
        wrong(c, s->at + 16, "%s", err.msg);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        const int32_t at[] = {ops[i].input, ops[i].output, ops[i].weights,
                              ops[i].biases, ops[i].scales};

        for (size_t k = 0; k < sizeof at / sizeof *at; k++)
            if (at[k] < -1 || at[k] >= (int64_t)s->n_buffers)
                wrong(c, s->at + 16,
                      "operation %u names buffer %d, expected -1 to %" PRId64,
                      i, at[k], (int64_t)s->n_buffers - 1);
    }
    if (s->injected)
        check_stage(c, s->injected);
}

static void check_stage(checker *c, const blob_stage *s)
{
    if (s->n_shaves > c->b->n_shaves)
        wrong(c, s->at + 8, "%u SHAVEs, expected at most %u", s->n_shaves,
              c->b->n_shaves);
    for (uint32_t i = 0; i < s->n_buffers; i++)
        check_buffer(c, &s->buffers[i]);
    if (s->type == STAGE_HW)
        check_hw(c, s);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].type == s->type && (forms[i].n_params != s->n_params ||
                                         forms[i].n_buffers != s->n_buffers)) {
            wrong(c, s->at,
                  "%s of %u words of params and %u buffers, expected %u and %u",
                  stage_name(s->type), s->n_params, s->n_buffers,
                  forms[i].n_params, forms[i].n_buffers);
            return;
        }
    if (s->type == STAGE_CUSTOM || s->type == STAGE_OLD_CUSTOM)
        check_custom(c, s);
    else if (s->type == STAGE_PERMUTE)
        check_permute(c, s);
}

/* Kernel and constants, scratch: where the compiler aligns. */
static void check_places(checker *c, const blob_stage *s)
{
    if (s->type != STAGE_CUSTOM)
        return;
    for (uint32_t i = 0; i < s->n_buffers; i++) {
        const blob_buffer *f = &s->buffers[i];

        if (f->location == BLOB_CONST && f->offset % BLOB_ALIGN)
            wrong(c, f->at, "a constant at %u, expected a multiple of %d",
                  f->offset, BLOB_ALIGN);
    }
}

static void check_flags(checker *c)
{
    static const char *const names[] = {"hardware", "SHAVE", "DMA"};
    const blob *b = c->b;
    uint32_t have[3] = {b->has_hw, b->has_shave, b->has_dma}, want[3] = {0};

    for (uint32_t i = 0; i < b->n_stages; i++) {
        uint32_t type = b->stages[i].type;

        want[stage_is_hw(type) ? 0 : stage_is_dma(type) ? 2 : 1] = 1;
    }
    for (uint32_t i = 0; i < 3; i++)
        if (have[i] != want[i])
            wrong(c, 104 + 4 * i, "flag of %s stages is %u, expected %u",
                  names[i], have[i], want[i]);
}

uint32_t blob_check(const blob *b, arena *a, str *out)
{
    checker c = {b, a, out, 0};

    if (!b->n_shaves || b->n_shaves > 16)
        wrong(&c, 100, "%u SHAVEs, expected 1 to 16", b->n_shaves);
    if (!b->n_slices || b->n_slices > 19)
        wrong(&c, 96, "%u slices, expected 1 to 19", b->n_slices);
    if (!b->batch)
        wrong(&c, 88, "batch 0, expected at least 1");
    check_ios(&c, b->inputs, b->n_inputs, b->inputs_size, "inputs");
    check_ios(&c, b->outputs, b->n_outputs, b->outputs_size, "outputs");
    check_flags(&c);
    for (uint32_t i = 0; i < b->n_stages; i++) {
        check_stage(&c, &b->stages[i]);
        check_places(&c, &b->stages[i]);
    }
    return c.n;
}
