/* Where the elements of a tensor are: strides, padding; packed copies. */
#include "runtime/api/layout.h"

#include <math.h>
#include <string.h>

enum { AUTO_PADDING = 4, AUTO_PADDING_BEHIND = 32 };

/* --- strides -------------------------------------------------------------- */

static bool any(const uint32_t *list)
{
    for (int i = 0; i < VPU_MAX_RANK; i++)
        if (list[i])
            return true;
    return false;
}

static bool has_strides(const vpu_tensor_options *o)
{
    for (uint32_t i = 0; i < o->rank; i++)
        if (o->strides[i])
            return true;
    return false;
}

static vpu_status take_auto_padding(vpu_tensor_options *o, vpu_error *err)
{
    uint32_t last = o->rank - 1;

    if (!o->auto_padding)
        return VPU_OK;
    if (any(o->pad_before) || any(o->pad_after) || has_strides(o))
        return err_set(err, VPU_ERR_INVALID,
                       "auto_padding is asked for, and padding or strides are "
                       "given besides");
    for (uint32_t i = o->rank > 1 ? last - 1 : last; i <= last; i++)
        o->pad_before[i] = o->pad_after[i] = AUTO_PADDING;
    o->pad_after[last] += AUTO_PADDING_BEHIND;
    return VPU_OK;
}

static vpu_status check_border(const vpu_tensor_options *o, vpu_error *err)
{
    vpu_status st =
        api_check_enum(o->border, VPU_BORDER_CONSTANT, "border", err);
    double v = o->border_value;
    bool real = o->type == VPU_F16 || o->type == VPU_F32;

    if (st || o->border <= VPU_BORDER_UNDEFINED)
        return st;
    if (!any(o->pad_before) && !any(o->pad_after))
        return err_set(err, VPU_ERR_INVALID,
                       "a border is given, but no padding that it would be in");
    if (!real && o->border == VPU_BORDER_CONSTANT &&
        (v != floor(v) || fabs(v) > 1 << 24 ||
         (v < 0 && (o->type == VPU_U8 || o->type == VPU_U16))))
        return err_set(err, VPU_ERR_INVALID,
                       "border_value is %g, for elements of %s: expected a "
                       "whole number that a float holds",
                       v, vpu_type_name(o->type));
    return VPU_OK;
}

static bool all_strides(const vpu_tensor_options *o)
{
    for (uint32_t i = 0; i < o->rank; i++)
        if (!o->strides[i])
            return false;
    return true;
}

static uint64_t size_of(const vpu_tensor_options *o, uint32_t i)
{
    return (uint64_t)o->pad_before[i] + o->dims[i] + o->pad_after[i];
}

/* Of equal strides a dim of one element is within the other. */
static bool is_farther(const vpu_tensor_options *o, uint32_t i, uint32_t k)
{
    return o->strides[i] != o->strides[k] ? o->strides[i] > o->strides[k]
                                          : size_of(o, i) > size_of(o, k);
}

/* From the dim whose elements are nearest together to the farthest: the last
 * one first, unless all strides are given, which may have any order. */
static void find_order(const vpu_tensor_options *o, uint32_t *order)
{
    bool given = all_strides(o);

    for (uint32_t n = 0; n < o->rank; n++) {
        uint32_t i = o->rank - 1 - n, at = n;

        for (; at && given && is_farther(o, order[at - 1], i); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* Of dim i; what is within one step of it takes `inner` bytes. */
static vpu_status check_stride(const vpu_tensor_options *o, uint32_t i,
                               uint64_t inner, vpu_error *err)
{
    uint32_t element = vpu_type_bytes(o->type);

    if (o->strides[i] % element)
        return err_set(err, VPU_ERR_INVALID,
                       "strides[%u] is %llu bytes, no whole number of elements "
                       "of %u",
                       i, (unsigned long long)o->strides[i], element);
    if (o->strides[i] && o->strides[i] < inner)
        return err_set(err, VPU_ERR_INVALID,
                       "strides[%u] is %llu bytes: what is within one step of "
                       "that dim takes %llu",
                       i, (unsigned long long)o->strides[i],
                       (unsigned long long)inner);
    return VPU_OK;
}

static vpu_status add_dim(const vpu_tensor_options *o, uint32_t i,
                          api_layout *out, vpu_error *err)
{
    uint64_t n = size_of(o, i);
    vpu_status st = check_stride(o, i, out->bytes, err);

    if (st)
        return st;
    out->strides[i] = o->strides[i] ? o->strides[i] : out->bytes;
    out->offset += o->pad_before[i] * out->strides[i];
    if (__builtin_mul_overflow(out->strides[i], n, &out->bytes) ||
        out->bytes > TENSOR_MAX_BYTES)
        return err_set(err, VPU_ERR_LIMIT,
                       "with padding and strides of dim %u the tensor takes "
                       "more than %llu bytes, the device's address space",
                       i, (unsigned long long)TENSOR_MAX_BYTES);
    return VPU_OK;
}

/* Dim 1 innermost, as in NHWC for dims N, C, H, W. */
static vpu_status put_channels_last(vpu_tensor_options *o, vpu_error *err)
{
    uint64_t step = vpu_type_bytes(o->type);
    static const uint32_t channel = 1;

    if (!o->channels_last)
        return VPU_OK;
    if (o->rank < 3 || has_strides(o))
        return err_set(err, VPU_ERR_INVALID,
                       "channels_last is asked for, with %s",
                       o->rank < 3 ? "fewer than 3 dims" : "strides besides");
    for (uint32_t n = 0; n < o->rank; n++) {
        uint32_t back = o->rank - n; /* behind the channels: H and W */
        uint32_t i = !n ? channel : back > channel ? back : back - 1;

        o->strides[i] = step;
        if (__builtin_mul_overflow(step, size_of(o, i), &step))
            step = UINT64_MAX / o->dims[i];
    }
    return VPU_OK;
}

static bool are_packed(const vpu_tensor_options *o, const api_layout *l)
{
    uint64_t step = vpu_type_bytes(o->type);

    for (uint32_t i = o->rank; i--;) {
        if (l->strides[i] != step)
            return false;
        step *= o->dims[i];
    }
    return step == l->bytes;
}

vpu_status api_layout_make(vpu_tensor_options *o, api_layout *out,
                           vpu_error *err)
{
    uint32_t order[VPU_MAX_RANK];
    vpu_status st = take_auto_padding(o, err);

    *out = (api_layout){.bytes = vpu_type_bytes(o->type)};
    if (!st)
        st = put_channels_last(o, err);
    if (!st)
        st = check_border(o, err);
    if (st)
        return st;
    find_order(o, order);
    for (uint32_t n = 0; n < o->rank && !st; n++)
        st = add_dim(o, order[n], out, err);
    out->is_packed = !st && are_packed(o, out);
    return st;
}

void api_layout_pack_strides(vpu_tensor *t)
{
    uint64_t step = vpu_type_bytes(t->type);

    for (uint32_t i = t->rank; i--;) {
        t->strides[i] = step;
        step *= t->dims[i];
    }
}

/* A dim of 1 has no step that anyone takes. */
bool api_layout_is_packed(const vpu_tensor *t)
{
    uint64_t step = vpu_type_bytes(t->type);

    for (uint32_t i = t->rank; i--;) {
        if (t->dims[i] > 1 && t->strides[i] != step)
            return false;
        step *= t->dims[i];
    }
    return true;
}

/* The dim behind which there is a gap, for messages. */
static uint32_t gap_of(const vpu_tensor *t)
{
    uint64_t step = vpu_type_bytes(t->type);

    for (uint32_t i = t->rank; i--;) {
        if (t->dims[i] > 1 && t->strides[i] != step)
            return i;
        step *= t->dims[i];
    }
    return 0;
}

vpu_status api_layout_refuse_gaps(const vpu_tensor *t, const char *what,
                                  const char *instead, vpu_error *err)
{
    uint32_t i = gap_of(t);

    if (!t->has_gaps)
        return VPU_OK;
    return err_set(err, VPU_ERR_MISMATCH,
                   "%s: tensor %s has gaps or padding: in dim %u elements are "
                   "%llu bytes apart; %s",
                   what, t->name, i, (unsigned long long)t->strides[i],
                   instead);
}

/* --- packed copies -------------------------------------------------------- */

void api_layout_copy(const vpu_tensor *t, char *first, char *packed,
                     bool to_memory)
{
    uint32_t element = vpu_type_bytes(t->type), last = t->rank - 1;
    uint32_t at[VPU_MAX_RANK] = {0};
    bool rows = t->dims[last] == 1 || t->strides[last] == element;
    size_t n = (rows ? t->dims[last] : 1) * (size_t)element;
    vpu_region all = {.step = {0}};

    memcpy(all.end, t->dims, sizeof all.end);
    all.end[last] = rows ? 1 : t->dims[last];
    do {
        char *p = first;

        for (uint32_t i = 0; i < t->rank; i++)
            p += at[i] * t->strides[i];
        memcpy(to_memory ? p : packed, to_memory ? packed : p, n);
        packed += n;
    } while (vpu_region_next(&all, t->rank, at));
}

/* --- asking --------------------------------------------------------------- */

uint32_t vpu_tensor_is_packed(const vpu_tensor *self)
{
    return self ? !self->has_gaps : 0;
}

uint64_t vpu_tensor_stride(const vpu_tensor *self, uint32_t i)
{
    return self && i < self->rank ? self->strides[i] : 0;
}

uint64_t vpu_tensor_offset(const vpu_tensor *self)
{
    return self ? self->offset : 0;
}

size_t vpu_tensor_memory_bytes(const vpu_tensor *self)
{
    return self ? api_tensor_memory_bytes(self) : 0;
}
