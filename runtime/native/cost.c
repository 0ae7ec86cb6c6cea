/* Which unit does how much for a stage. */
#include "runtime/native/cost.h"

#include "runtime/native/hw.h"

static bool is_function(uint32_t type)
{
    switch (type) {
#define FUNCTION(number) case number:
#include "runtime/native/cost.def"
        return true;
    default:
        return false;
    }
}

static double products_of(const native_op *op)
{
    switch (op->type) {
#define PRODUCTS(number, count) \
    case number:                \
        return count(op);
#include "runtime/native/cost.def"
    default:
        return 0;
    }
}

static bool in_ddr(const native_tensor *t)
{
    return t->present && t->operand.buffer->location != BLOB_CMX;
}

static uint64_t bytes_of(const native_tensor *t)
{
    return t->present ? t->n * blob_type_bytes(t->type) : 0;
}

/* --- the hardware engine ------------------------------------------------- */

static uint64_t mode_cost(const mach_desc *d, uint32_t mode)
{
    const uint64_t costs[] = {d->nce_mode_cost_0, d->nce_mode_cost_1,
                              d->nce_mode_cost_2, d->nce_mode_cost_3,
                              d->nce_mode_cost_4};

    return mode < sizeof costs / sizeof *costs ? costs[mode] : 0;
}

/* docs/networks.md, "Time". */
static mach_descriptor descriptor_of(const native_op *op, const hw_op *o,
                                     const mach_desc *d)
{
    const native_tensor *in = &op->tensors[o->input],
                        *out = &op->tensors[o->output];
    uint64_t fused = o->kind == HW_CONV_POOL ? 4 : 1;
    uint64_t pixels = (uint64_t)out->dims[0] * out->dims[1] * fused;
    uint64_t window = (uint64_t)o->kernel_w * o->kernel_h;
    uint64_t channels = native_size(in, NATIVE_C);
    uint64_t plane = (uint64_t)in->dims[0] * in->dims[1] * 2;
    uint64_t blocks =
        o->kind == HW_POOL ? 1 : (channels + (1u << o->mode) - 1) >> o->mode;
    mach_descriptor x = {.cycles = pixels *
                                   (window * blocks + mode_cost(d, o->mode))};

    if (o->kind == HW_POOL)
        channels = o->n_channels;
    else
        x.weight_bytes = (o->n_channels + 7) / 8 * 16 * window * channels;
    if (in_ddr(in))
        x.ddr_bytes += plane * channels;
    if (in_ddr(out))
        x.ddr_bytes += pixels / fused * 2 * o->n_channels;
    return x;
}

static mach_work hardware(const native_op *op, const mach_desc *d, arena *a)
{
    const native_hw_state *s = op->state;
    mach_descriptor *list = arena_array(a, mach_descriptor, s->n_work + 1);

    for (uint32_t i = 0; i < s->n_work; i++)
        list[i] = descriptor_of(op, &s->work[i].op, d);
    return (mach_work){
        .unit = MACH_WORK_NCE, .descriptors = list, .n_descriptors = s->n_work};
}

/* --- copies -------------------------------------------------------------- */

/* Runs of bytes without a gap, of the side that has more of them. */
static uint32_t lines_of(const native_tensor *t)
{
    uint64_t run = blob_type_bytes(t->type), n = t->n;

    for (uint32_t i = 0; i < t->rank && t->strides[i] == run; i++) {
        run *= t->dims[i];
        n /= t->dims[i];
    }
    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

static mach_work copy(const native_op *op)
{
    const native_tensor *from = &op->tensors[0], *to = &op->tensors[1];
    uint32_t p = lines_of(from), q = lines_of(to);

    return (mach_work){.unit = MACH_WORK_COPY,
                       .bytes = bytes_of(from),
                       .lines = p > q ? p : q,
                       .ddr_in = in_ddr(from) ? bytes_of(from) : 0,
                       .ddr_out = in_ddr(to) ? bytes_of(to) : 0};
}

/* --- SHAVEs -------------------------------------------------------------- */

static mach_work shaves(const native_op *op, const mach_desc *d)
{
    mach_work w = {.unit = MACH_WORK_SHAVE, .n_shaves = op->stage->n_shaves};
    uint64_t bytes = 0, outputs = 0;

    if (!w.n_shaves || w.n_shaves > d->num_shaves)
        w.n_shaves = 1; /* the control core, taken for a SHAVE */
    for (uint32_t i = 0; i < op->n_tensors; i++) {
        const native_tensor *t = &op->tensors[i];

        bytes += bytes_of(t);
        if (t->operand.written)
            outputs += t->present ? t->n : 0;
        if (in_ddr(t))
            *(t->operand.written ? &w.ddr_out : &w.ddr_in) += bytes_of(t);
    }
    w.issue = (double)bytes * d->native_byte;
    if (is_function(op->type))
        w.issue += (double)outputs * d->native_function;
    w.issue += products_of(op) / d->native_mac;
    return w;
}

uint32_t native_cost(const native_op *op, const mach_desc *desc,
                     const char *name, arena *a, mach_work *works)
{
    uint32_t n = 1;

    *works = op->type == STAGE_HW     ? hardware(op, desc, a)
             : op->type == STAGE_COPY ? copy(op)
                                      : shaves(op, desc);
    works->name = name;
    works->type = stage_name(op->type);
    if (op->injected && n < MACH_MAX_WORKS)
        n += native_cost(op->injected, desc, name, a, works + 1);
    return n;
}
