/* Element types, sizes, half conversion and the one transposition there is:
 * [outer][channel][inner] <-> [outer][inner][channel]. */
#include "runtime/graph/tensor.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *name, *ir, *long_name;
    uint32_t bytes;
} dtypes[TENSOR_N_DTYPES] = {
    [TENSOR_F16] = {"f16", "FP16", "FLOAT16", 2},
    [TENSOR_F32] = {"f32", "FP32", "FLOAT32", 4},
    [TENSOR_I32] = {"i32", "I32", "INT32", 4},
    [TENSOR_U8] = {"u8", "U8", "BOOLEAN", 1},
    [TENSOR_I8] = {"i8", "I8", "INT8", 1},
    [TENSOR_I16] = {"i16", "I16", "INT16", 2},
    [TENSOR_U16] = {"u16", "U16", "UINT16", 2},
    [TENSOR_I64] = {"i64", "I64", "INT64", 8},
};

uint32_t tensor_dtype_bytes(tensor_dtype t)
{
    return dtypes[t].bytes;
}

const char *tensor_dtype_name(tensor_dtype t)
{
    return dtypes[t].name;
}

bool tensor_dtype_parse(const char *text, tensor_dtype *out)
{
    for (int i = 0; i < TENSOR_N_DTYPES; i++)
        if (!strcasecmp(text, dtypes[i].name) ||
            !strcasecmp(text, dtypes[i].ir) ||
            !strcasecmp(text, dtypes[i].long_name)) {
            *out = (tensor_dtype)i;
            return true;
        }
    if (!strcasecmp(text, "BOOL")) {
        *out = TENSOR_U8;
        return true;
    }
    return false;
}

uint64_t tensor_elements(const tensor_desc *d)
{
    uint64_t n = 1;

    for (uint32_t i = 0; i < d->rank && i < TENSOR_MAX_RANK; i++)
        if (!d->dims[i])
            return 0;
    for (uint32_t i = 0; i < d->rank && i < TENSOR_MAX_RANK; i++)
        if (__builtin_mul_overflow(n, d->dims[i], &n))
            return UINT64_MAX;
    return n;
}

uint64_t tensor_bytes(const tensor_desc *d)
{
    uint64_t n;

    if (__builtin_mul_overflow(tensor_elements(d), dtypes[d->dtype].bytes, &n))
        return UINT64_MAX;
    return n;
}

vpu_status tensor_desc_check(const tensor_desc *d, vpu_error *err)
{
    if (d->rank > TENSOR_MAX_RANK)
        return err_set(err, VPU_ERR_INVALID,
                       "a tensor of rank %u; at most %d are possible", d->rank,
                       TENSOR_MAX_RANK);
    for (uint32_t i = 0; i < d->rank; i++)
        if (!d->dims[i])
            return err_set(err, VPU_ERR_INVALID,
                           "dim %u of the tensor is 0; expected at least 1", i);
    if (tensor_bytes(d) > TENSOR_MAX_BYTES)
        return err_set(err, VPU_ERR_LIMIT,
                       "the tensor is larger than the device's address space "
                       "(4 GiB)");
    return VPU_OK;
}

char *tensor_desc_text(arena *a, const tensor_desc *d)
{
    char *s = arena_printf(a, "%s%s", dtypes[d->dtype].name,
                           d->rank ? " " : " scalar");

    for (uint32_t i = 0; i < d->rank && i < TENSOR_MAX_RANK; i++)
        s = arena_printf(a, "%s%s%u", s, i ? "x" : "", d->dims[i]);
    return s;
}

/* dst[c][r] = src[r][c], in tiles that stay in the first-level cache. */
#define DEFINE_TRANSPOSE(bits)                                          \
    static void transpose##bits(const uint##bits##_t *src, size_t rows, \
                                size_t cols, uint##bits##_t *dst)       \
    {                                                                   \
        enum { TILE = 32 };                                             \
                                                                        \
        for (size_t r0 = 0; r0 < rows; r0 += TILE)                      \
            for (size_t c0 = 0; c0 < cols; c0 += TILE)                  \
                for (size_t r = r0; r < rows && r < r0 + TILE; r++)     \
                    for (size_t c = c0; c < cols && c < c0 + TILE; c++) \
                        dst[c * rows + r] = src[r * cols + c];          \
    }
DEFINE_TRANSPOSE(8)
DEFINE_TRANSPOSE(16)
DEFINE_TRANSPOSE(32)
DEFINE_TRANSPOSE(64)

static void transpose(const void *src, size_t rows, size_t cols, uint32_t bytes,
                      void *dst)
{
    switch (bytes) {
    case 1:
        transpose8(src, rows, cols, dst);
        break;
    case 2:
        transpose16(src, rows, cols, dst);
        break;
    case 4:
        transpose32(src, rows, cols, dst);
        break;
    default:
        transpose64(src, rows, cols, dst);
    }
}

void tensor_relayout(const tensor_desc *src_desc, const void *src,
                     tensor_layout dst_layout, void *dst)
{
    uint32_t bytes = dtypes[src_desc->dtype].bytes;
    uint32_t channel_dim = src_desc->rank > 3 ? 1 : 0;
    size_t outer = 1, channels = 1, inner = 1, step;

    if (src_desc->layout == dst_layout || src_desc->rank < 3) {
        memcpy(dst, src, tensor_bytes(src_desc));
        return;
    }
    for (uint32_t i = 0; i < src_desc->rank; i++)
        if (i < channel_dim)
            outer *= src_desc->dims[i];
        else if (i == channel_dim)
            channels = src_desc->dims[i];
        else
            inner *= src_desc->dims[i];
    step = channels * inner * bytes;
    for (size_t i = 0; i < outer; i++) {
        const char *from = (const char *)src + i * step;
        char *to = (char *)dst + i * step;

        if (dst_layout == TENSOR_CHANNEL_MINOR)
            transpose(from, channels, inner, bytes, to);
        else
            transpose(from, inner, channels, bytes, to);
    }
}

/* Bits of floats: the least normal half, and 65536. */
enum { LEAST_NORMAL = 113 << 23, TOO_LARGE = 143 << 23 };

/* What is no normal half, or has too many bits for one. */
static uint16_t to_odd_half(uint32_t x)
{
    const uint32_t sign = x >> 16 & 0x8000, shift = 126 - (x >> 23 & 0xff);
    uint32_t mant = x & 0x7fffff, half, rest, tie;

    if ((x & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(sign | 0x7e00 | mant >> 13);
    if ((x & 0x7fffffff) >= TOO_LARGE)
        return (uint16_t)(sign | 0x7c00);
    /* Denormal: the implicit bit becomes visible and slides right. */
    if (shift > 24)
        return (uint16_t)sign;
    mant |= 0x800000;
    half = mant >> shift;
    rest = mant & ((1u << shift) - 1);
    tie = 1u << (shift - 1);
    return (uint16_t)(sign |
                      (half + (rest > tie || (rest == tie && half & 1))));
}

uint16_t tensor_f32_to_f16(float f)
{
    const uint32_t exponents = (127 - 15) << 23;
    uint32_t x, a;

    memcpy(&x, &f, sizeof x);
    a = x & 0x7fffffff;
    if (a - LEAST_NORMAL >= TOO_LARGE - LEAST_NORMAL)
        return to_odd_half(x);
    /* To the nearest, without a branch that nobody can foresee. A carry out of
     * the mantissa moves into the exponent, up to infinity. */
    a += 0xfff + (a >> 13 & 1);
    return (uint16_t)((x >> 16 & 0x8000) | (a - exponents) >> 13);
}

float tensor_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exp = h >> 10 & 31;
    uint32_t mant = h & 0x3ff, x;
    float f;

    if (exp == 31) {
        x = sign | 0x7f800000 | mant << 13;
    } else if (exp) {
        x = sign | (exp + 112) << 23 | mant << 13;
    } else if (mant) {
        exp = 113;
        while (!(mant & 0x400)) {
            mant <<= 1;
            exp--;
        }
        x = sign | exp << 23 | (mant & 0x3ff) << 13;
    } else {
        x = sign;
    }
    memcpy(&f, &x, sizeof f);
    return f;
}
