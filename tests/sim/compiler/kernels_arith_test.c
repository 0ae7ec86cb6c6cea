/* Element-wise arithmetic: one expression, compiled as OpenCL C for the device
 * and as C for the host, must give the same bits for every element.
 *
 * Each case runs in groups of 16 (the vectorized variant, when there is one)
 * and of 5 (the scalar one). */
#include <check.h>
#include <math.h>
#include <string.h>

#include "tests/support/rig.h"

typedef _Float16 half;
typedef unsigned char uchar;

/* The device rounds halves after every operation; the host's compiler may keep
 * more digits until it is told not to. */
#define H(x) ((half)(x))

enum { N = 4160 }; /* 64 * 65: all pairs of special values, and a tail */

/* --- the built-ins of OpenCL C that the cases use, for the host ---------- */

#undef isnan
#undef isless
#define min(x, y) ((y) < (x) ? (y) : (x))
#define max(x, y) ((x) < (y) ? (y) : (x))
#define clamp(x, lo, hi) min(max(x, lo), hi)
#define abs(x) ((x) < 0 ? 0u - (uint)(x) : (uint)(x))
#define mad24(x, y, z) ((x) * (y) + (z))
#define mul24(x, y) ((x) * (y))
#define popcount(x) ((uint)__builtin_popcount(x))
#define clz(x) ((x) ? (uint)__builtin_clz(x) : 32u)
#define fmin(x, y) fminf(x, y)
#define fmax(x, y) fmaxf(x, y)
#define fabs(x) fabsf(x)
#define floor(x) floorf(x)
#define ceil(x) ceilf(x)
#define trunc(x) truncf(x)
#define rint(x) rintf(x)
#define round(x) roundf(x)
#define sqrt(x) sqrtf(x)
#define copysign(x, y) copysignf(x, y)
#define isnan(x) ((x) != (x))
#define isless(x, y) ((x) < (y))
#define isequal(x, y) ((x) == (y))
#define step(edge, x) ((x) < (edge) ? 0.0f : 1.0f)
#define mix(x, y, t) ((x) + ((y) - (x)) * (t))
#define mad(x, y, z) ((x) * (y) + (z))
#define half_mad(x, y, z) (H((x) * (y)) + (z))
#define select(x, y, c) ((c) ? (y) : (x))

/* Conversions clamp; NaN becomes 0. */
#define SATURATE(T, x, lo, hi) \
    ((x) != (x) ? (T)0 : (x) <= (lo) ? (T)(lo) : (x) >= (hi) ? (T)(hi) : (T)(x))
#define convert_char_sat(x) SATURATE(signed char, x, -128, 127)
#define convert_uchar_sat(x) SATURATE(uchar, x, 0, 255)
#define convert_short_sat(x) SATURATE(short, x, -32768, 32767)
#define convert_ushort_sat(x) SATURATE(ushort, x, 0, 65535)
#define convert_int_sat(x) \
    SATURATE(int, (double)(x), -2147483648.0, 2147483647.0)
#define convert_uint_sat(x) SATURATE(uint, (double)(x), 0, 4294967295.0)
#define convert_int_rte(x) convert_int_sat(rintf(x))
#define convert_int_rtz(x) convert_int_sat(truncf(x))
#define convert_int_rtp(x) convert_int_sat(ceilf(x))
#define convert_int_rtn(x) convert_int_sat(floorf(x))
#define convert_uchar_sat_rte(x) convert_uchar_sat(rintf(x))
#define convert_short_sat_rtn(x) convert_short_sat(floorf(x))
#define convert_char(x) ((signed char)(x))
#define convert_uchar(x) ((uchar)(x))
#define convert_short(x) ((short)(x))
#define convert_ushort(x) ((ushort)(x))
#define convert_int(x) ((int)(x))
#define convert_uint(x) ((uint)(x))
#define convert_long(x) ((long)(x))
#define convert_ulong(x) ((ulong)(x))
#define convert_float(x) ((float)(x))
#define convert_half(x) ((half)(x))

static inline int as_int(float x)
{
    int r;

    memcpy(&r, &x, 4);
    return r;
}

static inline ushort as_ushort(half x)
{
    ushort r;

    memcpy(&r, &x, 2);
    return r;
}

static inline half as_half(ushort x)
{
    half r;

    memcpy(&r, &x, 2);
    return r;
}

/* Some value of a half or float directly above, towards zero and so on. */
static half half_up(float x)
{
    half h = (half)x;

    if ((float)h < x) {
        ushort b = as_ushort(h);

        return as_half((ushort)(b == 0x8000 ? 1 : b & 0x8000 ? b - 1 : b + 1));
    }
    return h;
}
#define convert_half_rtp(x) half_up(x)
#define convert_half_rtn(x) ((half) - half_up(-(x)))
#define convert_half_rtz(x) \
    ((x) < 0 ? convert_half_rtp(x) : convert_half_rtn(x))

/* --- the cases --------------------------------------------------------------
 * X(name, result, type of a, type of b, expression of a[i], b[i] and i) */

#define HALF_CASES(X)                                                          \
    X(half_add, half, half, half, a[i] + b[i])                                 \
    X(half_sub, half, half, half, a[i] - b[i])                                 \
    X(half_mul, half, half, half, a[i] * b[i])                                 \
    X(half_div, half, half, half, a[i] / b[i])                                 \
    X(half_neg, half, half, half, -a[i])                                       \
    X(half_chain, half, half, half, H(H(a[i] * b[i]) + a[i]) - H(b[i] * b[i])) \
    X(half_third, half, half, half, H(a[i] / (half)3) + H(b[i] * (half)0.1f))  \
    X(half_sum, half, half, half, H(H(a[i] + b[i]) + b[i]) + b[i])             \
    X(half_sqrt, half, half, half, sqrt(a[i]))                                 \
    X(half_fabs, half, half, half, fabs(a[i]))                                 \
    X(half_floor, half, half, half, floor(a[i]))                               \
    X(half_rint, half, half, half, rint(a[i]))                                 \
    X(half_less, int, half, half, a[i] < b[i])                                 \
    X(half_le, int, half, half, a[i] <= b[i])                                  \
    X(half_eq, int, half, half, a[i] == b[i])                                  \
    X(half_ne, int, half, half, a[i] != b[i])                                  \
    X(half_select, half, half, half, a[i] > b[i] ? a[i] : b[i])                \
    X(half_max, half, half, half, max(a[i], b[i]))                             \
    X(half_min, half, half, half, min(a[i], b[i]))                             \
    X(half_clamp, half, half, half, clamp(a[i], (half) - 1, (half)2))          \
    X(half_mad, half, half, half, half_mad(a[i], b[i], b[i]))                  \
    X(half_to_float, float, half, half, (float)a[i] * (float)b[i])             \
    X(half_bits, ushort, half, half, as_ushort(a[i]) ^ as_ushort(b[i]))        \
    X(half_to_uchar, uchar, half, half, convert_uchar_sat(a[i]))               \
    X(half_to_short, short, half, half, convert_short_sat(a[i]))               \
    X(half_to_ushort, ushort, half, half, convert_ushort_sat(a[i]))            \
    X(half_to_int, int, half, half, convert_int_sat(a[i]))                     \
    X(half_from_float, half, float, float, convert_half(a[i]))                 \
    X(half_cast, half, float, float, (half)(a[i] + b[i]))                      \
    X(half_from_int, half, int, int, (half)a[i])                               \
    X(half_from_ushort, half, ushort, ushort, convert_half(a[i]))              \
    X(half_rtp, half, float, float, convert_half_rtp(a[i]))                    \
    X(half_rtn, half, float, float, convert_half_rtn(a[i]))                    \
    X(half_rtz, half, float, float, convert_half_rtz(a[i]))

#define FLOAT_CASES(X)                                                   \
    X(float_add, float, float, float, a[i] + b[i])                       \
    X(float_sub, float, float, float, a[i] - b[i])                       \
    X(float_mul, float, float, float, a[i] * b[i])                       \
    X(float_div, float, float, float, a[i] / b[i])                       \
    X(float_muladd, float, float, float, a[i] * b[i] + a[i])             \
    X(float_mad, float, float, float, mad(a[i], b[i], a[i]))             \
    X(float_sqrt, float, float, float, sqrt(a[i]))                       \
    X(float_fmin, float, float, float, fmin(a[i], 1.5f))                 \
    X(float_fmax, float, float, float, fmax(a[i], -1.5f))                \
    X(float_min, float, float, float, min(a[i], b[i]))                   \
    X(float_max, float, float, float, max(a[i], b[i]))                   \
    X(float_clamp, float, float, float, clamp(a[i], -2.0f, 3.0f))        \
    X(float_abs, float, float, float, fabs(a[i]))                        \
    X(float_floor, float, float, float, floor(a[i]))                     \
    X(float_ceil, float, float, float, ceil(a[i]))                       \
    X(float_trunc, float, float, float, trunc(a[i]))                     \
    X(float_rint, float, float, float, rint(a[i]))                       \
    X(float_round, float, float, float, round(a[i]))                     \
    X(float_copysign, float, float, float, copysign(a[i], b[i]))         \
    X(float_mix, float, float, float, mix(a[i], b[i], 0.25f))            \
    X(float_step, float, float, float, step(a[i], b[i]))                 \
    X(float_isnan, int, float, float, isnan(a[i]))                       \
    X(float_isless, int, float, float, isless(a[i], b[i]))               \
    X(float_isequal, int, float, float, isequal(a[i], b[i]))             \
    X(float_select, float, float, float, a[i] < b[i] ? a[i] * 2 : b[i])  \
    X(float_logic, int, float, float,                                    \
      ((a[i] < 1) & (b[i] > 0)) | (a[i] == b[i]))                        \
    X(float_bits, int, float, float, as_int(a[i]) & 0x7fffffff)          \
    X(float_rte, int, float, float, convert_int_rte(a[i]))               \
    X(float_rtz, int, float, float, convert_int_rtz(a[i]))               \
    X(float_rtp, int, float, float, convert_int_rtp(a[i]))               \
    X(float_rtn, int, float, float, convert_int_rtn(a[i]))               \
    X(float_uchar_rte, uchar, float, float, convert_uchar_sat_rte(a[i])) \
    X(float_short_rtn, short, float, float, convert_short_sat_rtn(a[i])) \
    X(float_char, char, float, float, convert_char_sat(a[i]))            \
    X(float_uint, uint, float, float, convert_uint_sat(a[i]))            \
    X(float_of_int, float, int, int, convert_float(a[i]))                \
    X(float_of_uint, float, uint, uint, (float)a[i])                     \
    X(float_of_long, float, long, long, (float)a[i])                     \
    X(float_of_uchar, float, uchar, uchar, a[i] * 0.5f)                  \
    X(float_of_i, float, float, float, a[i] + i)

#define INT_CASES(X)                                                          \
    X(int_add, uint, uint, uint, a[i] + b[i])                                 \
    X(int_mul, uint, uint, uint, a[i] * b[i])                                 \
    X(int_div, int, int, int, a[i] / (b[i] % 1000 * 2 + 1))                   \
    X(int_rem, int, int, int, a[i] % (b[i] % 1000 * 2 + 1))                   \
    X(int_div_7, int, int, int, a[i] / 7 - a[i] % 7)                          \
    X(uint_div, uint, uint, uint, a[i] / (b[i] | 1))                          \
    X(uint_rem, uint, uint, uint, a[i] % (b[i] | 1))                          \
    X(uint_div_10, uint, uint, uint, a[i] / 10 + a[i] % 10)                   \
    X(int_shl, uint, uint, uint, a[i] << (b[i] & 31))                         \
    X(int_shr, uint, uint, uint, a[i] >> (b[i] & 31))                         \
    X(int_sar, int, int, int, a[i] >> (b[i] & 31))                            \
    X(int_bits, int, int, int, (a[i] & b[i]) ^ (~a[i] | b[i]))                \
    X(int_less, int, int, int, a[i] < b[i])                                   \
    X(uint_less, int, uint, uint, a[i] < b[i])                                \
    X(int_min, int, int, int, min(a[i], b[i]))                                \
    X(uint_min, uint, uint, uint, min(a[i], b[i]))                            \
    X(int_max, int, int, int, max(a[i], b[i]))                                \
    X(int_clamp, int, int, int, clamp(a[i], -100, 100))                       \
    X(int_abs, uint, int, int, abs(a[i]))                                     \
    X(int_mad24, int, short, short, mad24((int)a[i], 31, (int)b[i]))          \
    X(int_mul24, int, short, short, mul24((int)a[i], 77))                     \
    X(int_popcount, uint, uint, uint, popcount(a[i]))                         \
    X(uchar_low_zeros, uchar, uchar, uchar,                                   \
      (uchar)popcount((uchar)(~a[i] & (a[i] - 1))))                           \
    X(ushort_low_zeros, ushort, ushort, ushort,                               \
      (ushort)popcount(                                                       \
          (ushort)(~(a[i] << (b[i] & 15)) & ((a[i] << (b[i] & 15)) - 1))))    \
    X(int_clz, uint, uint, uint, clz(a[i] >> (b[i] & 31)))                    \
    X(int_select, int, int, int, select(a[i], b[i], a[i] & 1))                \
    X(int_ternary, uint, uint, uint, a[i] & 4 ? a[i] + 1u : i * 3u)           \
    X(int_not, int, int, int, !(a[i] & 3))                                    \
    X(char_add, char, char, char, (char)(a[i] + b[i]))                        \
    X(char_mul, char, char, char, (char)(a[i] * b[i]))                        \
    X(char_div, char, char, char, (char)(a[i] / (b[i] | 1)))                  \
    X(char_less, int, char, char, a[i] < b[i])                                \
    X(char_sar, char, char, char, (char)(a[i] >> 3))                          \
    X(uchar_add, uchar, uchar, uchar, (uchar)(a[i] + b[i]))                   \
    X(uchar_avg, uchar, uchar, uchar, (uchar)((a[i] + b[i] + 1) / 2))         \
    X(uchar_min, uchar, uchar, uchar, min(a[i], b[i]))                        \
    X(short_mul, short, short, short, (short)(a[i] * b[i]))                   \
    X(short_max, short, short, short, max(a[i], b[i]))                        \
    X(short_wide, int, short, short, a[i] * b[i])                             \
    X(ushort_shr, ushort, ushort, ushort, (ushort)(a[i] >> (b[i] & 15)))      \
    X(ushort_of_i, ushort, ushort, ushort, (ushort)(a[i] + i * 3))            \
    X(long_mul, ulong, ulong, ulong, a[i] * b[i])                             \
    X(long_add, long, long, long, (a[i] >> 1) + (b[i] >> 1))                  \
    X(long_div, ulong, ulong, ulong, a[i] / (b[i] >> 33 | 1))                 \
    X(long_shift, ulong, ulong, ulong, a[i] << (b[i] & 63))                   \
    X(long_less, int, long, long, a[i] < b[i])                                \
    X(long_high, uint, uint, uint, (uint)((ulong)a[i] * b[i] >> 32))          \
    X(long_of_wrapping, ulong, uint, uint, (ulong)((uint)i - 3u) + a[i])      \
    X(long_of_index, ulong, uint, uint, (ulong)(uint)(i - 3) * 5 + b[i])      \
    X(long_of_signed, long, int, int, (long)(i - 70) * 3 + a[i])              \
    X(long_of_odd, long, uint, uint, (long)(int)(i * 715827883u) + a[i])      \
    X(float_of_wrapping, float, uint, uint, (float)((uint)i - 3u) + b[i] % 7) \
    X(uint_of_index, uint, uint, uint, ((uint)i - 9u) / 3u + a[i] % 5)        \
    X(index_shift, uint, uint, uint, (uint)i << 29 | a[i] >> 5)               \
    X(index_mul, uint, uint, uint, (uint)i * 0x30000001u ^ a[i])              \
    X(index_less, int, int, int, i * 3 - 7 < i + 1000 + (a[i] & 1))           \
    X(sat_char, char, int, int, convert_char_sat(a[i]))                       \
    X(sat_uchar, uchar, int, int, convert_uchar_sat(a[i]))                    \
    X(sat_uchar_s, uchar, short, short, convert_uchar_sat(a[i]))              \
    X(sat_uchar_c, uchar, char, char, convert_uchar_sat(a[i]))                \
    X(sat_char_u, char, uchar, uchar, convert_char_sat(a[i]))                 \
    X(sat_short, short, int, int, convert_short_sat(a[i]))                    \
    X(sat_ushort_u, ushort, uint, uint, convert_ushort_sat(a[i]))             \
    X(sat_int_u, int, uint, uint, convert_int_sat(a[i]))                      \
    X(sat_uint_i, uint, int, int, convert_uint_sat(a[i]))                     \
    X(cut_char, char, int, int, convert_char(a[i]))                           \
    X(cut_ushort, ushort, int, int, convert_ushort(a[i]))                     \
    X(grow_long, long, int, int, convert_long(a[i]))                          \
    X(grow_ulong, ulong, uchar, uchar, convert_ulong(a[i]))                   \
    X(grow_short, short, char, char, convert_short(a[i]))                     \
    X(grow_uint, uint, ushort, ushort, convert_uint(a[i]))

#define FUNCTION(name, R, A, B, ...)                                      \
    static void host_##name(void *o, const void *p, const void *q, int i) \
    {                                                                     \
        const A *a = p;                                                   \
        const B *b = q;                                                   \
                                                                          \
        (void)a;                                                          \
        (void)b;                                                          \
        ((R *)o)[i] = (R)(__VA_ARGS__);                                   \
    }

HALF_CASES(FUNCTION)
FLOAT_CASES(FUNCTION)
INT_CASES(FUNCTION)

#define ROW(name, R, A, B, ...) \
    {#name, #R, #A, #B, #__VA_ARGS__, sizeof(R), sizeof(A), host_##name},

static const struct {
    const char *name, *r, *a, *b, *text;
    size_t r_bytes, in_bytes;
    void (*host)(void *, const void *, const void *, int);
} cases[] = {HALF_CASES(ROW) FLOAT_CASES(ROW) INT_CASES(ROW)};

/* --- inputs -------------------------------------------------------------- */

static const ushort special_halves[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x0002, 0x03ff, 0x83ff, 0x0400, 0x8400,
    0x0401, 0x1400, 0x2e66, 0x3555, 0x3800, 0xb800, 0x3bff, 0x3c00, 0xbc00,
    0x3c01, 0x3e00, 0xbe00, 0x4000, 0x4100, 0xc100, 0x4248, 0x4900, 0x57ff,
    0x6400, 0xe400, 0x6401, 0x67ff, 0x7800, 0x7bfe, 0x7bff, 0xfbff, 0x7c00,
    0xfc00, 0x7e00, 0x7fff, 0xfe00, 0x5bf8, 0x5c00, 0x77ff, 0xf800};
static const float special_floats[] = {0.0f,
                                       -0.0f,
                                       1.0f,
                                       -1.0f,
                                       0.5f,
                                       -0.5f,
                                       1.5f,
                                       2.5f,
                                       -2.5f,
                                       -3.5f,
                                       0x1p-24f,
                                       0x1p-25f,
                                       0x1.8p-25f,
                                       0x1p-14f,
                                       65504.0f,
                                       65519.0f,
                                       65520.0f,
                                       -65520.0f,
                                       0x1p-149f,
                                       0x1p-126f,
                                       -0x1p-127f,
                                       0x1.fffffep127f,
                                       2147483648.0f,
                                       -2147483648.0f,
                                       4294967296.0f,
                                       127.5f,
                                       128.0f,
                                       -129.0f,
                                       254.5f,
                                       255.5f,
                                       32767.5f,
                                       -32768.9f,
                                       1.0009765f,
                                       1.00048828125f,
                                       1.0014648f,
                                       0x1.555556p-2f,
                                       (float)INFINITY,
                                       -(float)INFINITY,
                                       (float)NAN,
                                       3.14159265f};

static void fill(const char *type, void *data, uint64_t seed, bool slow)
{
    size_t nh = sizeof special_halves / 2, nf = sizeof special_floats / 4;

    for (unsigned i = 0; i < N; i++) {
        unsigned pick = slow ? i / 64 : i % 64;
        uint32_t r = rig_noise(seed * N + i);
        uint64_t wide = (uint64_t)rig_noise(~seed * N + i) << 32 | r;

        if (!strcmp(type, "half")) {
            ((ushort *)data)[i] = pick < nh ? special_halves[pick] : (ushort)r;
        } else if (!strcmp(type, "float")) {
            float f = (float)((int32_t)r >> (r & 31)) * 0x1p-8f;

            ((float *)data)[i] = pick < nf ? special_floats[pick] : f;
        } else if (strstr(type, "char")) {
            ((uchar *)data)[i] = (uchar)r;
        } else if (strstr(type, "short")) {
            ((ushort *)data)[i] = (ushort)r;
        } else if (strstr(type, "int")) {
            ((uint32_t *)data)[i] = r >> (wide >> 40 & 3) * 8;
        } else {
            ((uint64_t *)data)[i] = wide >> (wide >> 20 & 3) * 16;
        }
    }
}

static bool same(const char *type, const void *x, const void *y, size_t bytes)
{
    if (!memcmp(x, y, bytes))
        return true;
    if (!strcmp(type, "float"))
        return isnan(*(const float *)x) && isnan(*(const float *)y);
    return !strcmp(type, "half") && isnan(*(const half *)x) &&
           isnan(*(const half *)y);
}

static uint64_t low_bits(const void *p, size_t n)
{
    uint64_t v = 0;

    memcpy(&v, p, n);
    return v;
}

START_TEST(element_wise)
{
    const char *text;
    uint8_t *out, *a, *b, want[8] = {0};
    size_t r_bytes = cases[_i].r_bytes, in_bytes = cases[_i].in_bytes;
    rig r;

    rig_open(&r);
    text = arena_printf(r.arena,
                        "#define H(x) (x)\n"
                        "#define half_mad(x, y, z) mad(x, y, z)\n"
                        "__kernel void k(__global %s *out, __global const %s "
                        "*a, __global const %s *b)\n"
                        "{\n    int i = get_global_id(0);\n"
                        "    out[i] = %s;\n}\n",
                        cases[_i].r, cases[_i].a, cases[_i].b, cases[_i].text);
    rig_compile(&r, text, "k");
    out = rig_buffer(&r, N * r_bytes);
    a = rig_buffer(&r, N * in_bytes);
    b = rig_buffer(&r, N * in_bytes);
    fill(cases[_i].a, a, 1, true);
    fill(cases[_i].b, b, 2, false);
    ck_assert_msg(r.kernel->variants[SIM_VECTORIZED].present, "%s: %s",
                  cases[_i].name, r.kernel->not_vectorized);
    for (uint32_t local = 16; local; local = local == 16 ? 5 : 0) {
        memset(out, 0xcc, N * r_bytes);
        rig_run_1d(&r, N / local, local);
        ck_assert_int_eq(r.result.variant,
                         local == 16 ? SIM_VECTORIZED : SIM_SCALAR);
        for (int i = 0; i < N; i++) {
            union {
                uint64_t align;
                uint8_t bytes[8];
            } one;
            uint8_t *all = out + (size_t)i * r_bytes;
            uint8_t keep[8];

            memcpy(keep, all, r_bytes);
            cases[_i].host(out, a, b, i);
            memcpy(want, all, r_bytes);
            memcpy(one.bytes, keep, r_bytes);
            ck_assert_msg(same(cases[_i].r, one.bytes, want, r_bytes),
                          "%s, local %u, element %d: device %#llx, host %#llx "
                          "(a %#llx, b %#llx)",
                          cases[_i].text, local, i,
                          (unsigned long long)low_bits(keep, r_bytes),
                          (unsigned long long)low_bits(want, r_bytes),
                          (unsigned long long)low_bits(a + (size_t)i * in_bytes,
                                                       in_bytes),
                          (unsigned long long)low_bits(b + (size_t)i * in_bytes,
                                                       in_bytes));
        }
    }
    rig_close(&r);
}
END_TEST

/* --- division where it is not defined ------------------------------------ */

static const struct {
    const char *type;
    unsigned bytes;
    bool is_signed;
} integers[] = {{"char", 1, true},    {"uchar", 1, false}, {"short", 2, true},
                {"ushort", 2, false}, {"int", 4, true},    {"uint", 4, false},
                {"long", 8, true},    {"ulong", 8, false}};

/* The device's division does not trap: by zero it gives 0 (and no rest), the
 * least number over -1 is itself. Divisors vary, or are the same for all. */
START_TEST(division)
{
    const char *t = integers[_i / 2].type;
    unsigned bytes = integers[_i / 2].bytes;
    bool uniform = _i % 2;
    uint64_t least = UINT64_C(1) << (8 * bytes - 1), ones = least | (least - 1);
    uint64_t values[] = {0, 1, ones, least, 7, least - 1};
    enum { N_VALUES = sizeof values / sizeof *values };
    uint8_t *q, *m, *a, *b;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                arena_printf(r.arena,
                             "__kernel void k(__global %s *q, __global %s *m, "
                             "__global const %s *a, __global const %s *b)\n"
                             "{\n    int i = get_global_id(0);\n"
                             "    %s d = b[%s];\n"
                             "    q[i] = a[i] / d;\n    m[i] = a[i] %% d;\n}\n",
                             t, t, t, t, t, uniform ? "get_group_id(0)" : "i"),
                "k");
    q = rig_buffer(&r, 64 * bytes);
    m = rig_buffer(&r, 64 * bytes);
    a = rig_buffer(&r, 64 * bytes);
    b = rig_buffer(&r, 64 * bytes);
    for (unsigned i = 0; i < 64; i++) {
        memcpy(a + i * bytes, &values[i % N_VALUES], bytes);
        memcpy(b + i * bytes, &values[i / N_VALUES % N_VALUES], bytes);
    }
    rig_run_1d(&r, 4, 16);
    for (unsigned i = 0; i < 64; i++) {
        uint64_t x = low_bits(a + i * bytes, bytes), want, rest;
        uint64_t d = low_bits(b + (uniform ? i / 16 : i) * bytes, bytes);

        if (!d) {
            want = rest = 0;
        } else if (integers[_i / 2].is_signed && d == ones) {
            want = (0 - x) & ones;
            rest = 0;
        } else if (integers[_i / 2].is_signed) {
            int64_t sx = (int64_t)(x ^ least) - (int64_t)least;
            int64_t sd = (int64_t)(d ^ least) - (int64_t)least;

            if (bytes == 8) {
                sx = (int64_t)x;
                sd = (int64_t)d;
            }
            want = (uint64_t)(sx / sd) & ones;
            rest = (uint64_t)(sx % sd) & ones;
        } else {
            want = x / d;
            rest = x % d;
        }
        ck_assert_msg(low_bits(q + i * bytes, bytes) == want &&
                          low_bits(m + i * bytes, bytes) == rest,
                      "%s: %llx / %llx", t, (unsigned long long)x,
                      (unsigned long long)d);
    }
    rig_close(&r);
}
END_TEST

/* Sums that LLVM has a formula for, in more bits than there are. */
START_TEST(sums_of_counts)
{
    unsigned *out, *in;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                "__kernel void k(__global uint *out, __global const uint *in)\n"
                "{\n    int g = get_global_id(0);\n"
                "    ulong m = in[g], a = 0;\n"
                "    uint b = 0;\n    int c = 0;\n    long d = 0;\n"
                "    for (ulong i = 0; i < m; i++) a += i;\n"
                "    for (uint i = 0; i < (uint)m; i++) b += i;\n"
                "    for (int i = 0; i < (int)m; i++) c += i * i;\n"
                "    for (long i = (long)m; i > -9; i--) d += i * i * i;\n"
                "    out[g] = (uint)a; out[g + 64] = b; out[g + 128] = c;\n"
                "    out[g + 192] = (uint)d; out[g + 256] = (uint)(d >> 32);\n"
                "}\n",
                "k");
    out = rig_buffer(&r, 5 * 256);
    in = rig_buffer(&r, 256);
    for (unsigned i = 0; i < 64; i++)
        in[i] = rig_noise(i) >> 20;
    rig_run_1d(&r, 4, 16);
    for (unsigned g = 0; g < 64; g++) {
        uint64_t a = 0, d = 0;
        unsigned c = 0;

        for (unsigned i = 0; i < in[g]; i++) {
            a += i;
            c += i * i;
        }
        for (int64_t i = in[g]; i > -9; i--)
            d += (uint64_t)(i * i * i);
        ck_assert_uint_eq(out[g], (unsigned)a);
        ck_assert_uint_eq(out[g + 64], (unsigned)a);
        ck_assert_uint_eq(out[g + 128], c);
        ck_assert_uint_eq(out[g + 192], (unsigned)d);
        ck_assert_uint_eq(out[g + 256], (unsigned)(d >> 32));
    }
    rig_close(&r);
}
END_TEST

/* A comparison that is a number in one place and a choice in another. */
START_TEST(comparison_used_twice)
{
    int *out, *a, *b;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                "__kernel void k(__global int *out, __global const int *a,\n"
                "                __global const int *b)\n"
                "{\n    int i = get_global_id(0);\n"
                "    uint c = a[i] != b[i], r = c << 7;\n"
                "    for (int k = 0; k < 3; k++)\n"
                "        r = r * 5 + (c >> k);\n"
                "    out[i] = r + (c ? 1000 : 3);\n}\n",
                "k");
    out = rig_buffer(&r, 256);
    a = rig_buffer(&r, 256);
    b = rig_buffer(&r, 256);
    for (int i = 0; i < 64; i++) {
        a[i] = i % 7;
        b[i] = i % 5;
    }
    rig_run_1d(&r, 4, 16);
    ck_assert_int_eq(r.result.variant, SIM_VECTORIZED);
    for (int i = 0; i < 64; i++) {
        unsigned c = a[i] != b[i], v = c << 7;

        for (int k = 0; k < 3; k++)
            v = v * 5 + (c >> k);
        ck_assert_int_eq(out[i], (int)v + (c ? 1000 : 3));
    }
    rig_close(&r);
}
END_TEST

/* --- roots of several lanes at once ---------------------------------------- */

/* Where lane k of the result comes from: of x or y, through rsqrt or not. */
typedef struct {
    const char *text;
    struct {
        bool y, plain;
        uint8_t lane;
    } lanes[4];
} root_lanes;

#define ROOT(v, k) "rsqrt(" #v ".s" #k ")"

static const root_lanes roots[] = {
    {"rsqrt(x)", {{.lane = 0}, {.lane = 1}, {.lane = 2}, {.lane = 3}}},
    {"(float4)(" ROOT(x, 0) "," ROOT(x, 1) "," ROOT(x, 2) "," ROOT(x, 3) ")",
     {{.lane = 0}, {.lane = 1}, {.lane = 2}, {.lane = 3}}},
    {"(float4)(" ROOT(x, 1) "," ROOT(x, 0) "," ROOT(x, 2) "," ROOT(x, 3) ")",
     {{.lane = 1}, {.lane = 0}, {.lane = 2}, {.lane = 3}}},
    {"(float4)(" ROOT(x, 0) "," ROOT(y, 1) "," ROOT(x, 2) "," ROOT(x, 3) ")",
     {{.lane = 0}, {.y = true, .lane = 1}, {.lane = 2}, {.lane = 3}}},
    {"(float4)(" ROOT(x, 0) "," ROOT(x, 1) ",x.s2," ROOT(x, 3) ")",
     {{.lane = 0}, {.lane = 1}, {.plain = true, .lane = 2}, {.lane = 3}}},
    {"(float4)(" ROOT(x, 0) "," ROOT(x, 1) "," ROOT(x, 2) "," ROOT(x, 2) ")",
     {{.lane = 0}, {.lane = 1}, {.lane = 2}, {.lane = 2}}},
    {"(float4)(" ROOT(x, 0) "," ROOT(x, 1) "," ROOT(x, 2) ",4.0f)",
     {{.lane = 0}, {.lane = 1}, {.lane = 2}, {.plain = true, .lane = 9}}},
    {"((float8)(" ROOT(z, 0) "," ROOT(z, 1) "," ROOT(z, 2) "," ROOT(
         z, 3) ",z.s4567)).lo",
     {{.lane = 0}, {.lane = 1}, {.lane = 2}, {.lane = 3}}},
};
enum { N_ROOTS = sizeof roots / sizeof *roots, ROOT_ITEMS = 96 };

static float root_of(float v)
{
    return (float)(1 / __builtin_sqrt((double)v)); /* sqrt is OpenCL's here */
}

static bool same_float(float a, float b)
{
    return (isnan(a) && isnan(b)) || !memcmp(&a, &b, sizeof a);
}

/* Any float: noise, and what roots treat on its own. */
static float root_input(uint32_t i)
{
    static const float special[] = {0,      -0.0f,   1,        -1,        4,
                                    1e-45f, -1e-45f, INFINITY, -INFINITY, NAN};
    uint32_t bits = rig_noise(i);
    float v;

    if (i % 7 == 0)
        return special[i / 7 % 10];
    bits &= i % 3 ? 0x7fffffff : UINT32_MAX;
    memcpy(&v, &bits, sizeof v);
    return v;
}

START_TEST(roots_of_lanes)
{
    const root_lanes *k = &roots[_i];
    float *out, *in;
    rig r;

    rig_open(&r);
    r.both_engines = true;
    rig_compile(&r,
                arena_printf(r.arena,
                             "__kernel void k(__global float *out,\n"
                             "                __global const float *in)\n{\n"
                             "    int i = get_global_id(0);\n"
                             "    float8 z = vload8(i, in);\n"
                             "    float4 x = vload4(2 * i, in);\n"
                             "    float4 y = vload4(2 * i + 1, in);\n"
                             "    vstore4(%s, i, out);\n}\n",
                             k->text),
                "k");
    out = rig_buffer(&r, 4 * ROOT_ITEMS * sizeof *out);
    in = rig_buffer(&r, 8 * ROOT_ITEMS * sizeof *in);
    for (uint32_t i = 0; i < 8 * ROOT_ITEMS; i++)
        in[i] = root_input(i);
    rig_run_1d(&r, ROOT_ITEMS / 32, 32);
    for (uint32_t i = 0; i < ROOT_ITEMS; i++)
        for (uint32_t l = 0; l < 4; l++) {
            float from = k->lanes[l].lane == 9
                             ? 4
                             : in[8 * i + 4 * k->lanes[l].y + k->lanes[l].lane];
            float want = k->lanes[l].plain ? from : root_of(from);

            if (!same_float(out[4 * i + l], want))
                ck_abort_msg("%s: item %u lane %u: %a, expected %a of %a",
                             k->text, i, l, out[4 * i + l], want, from);
        }
    rig_close(&r);
}
END_TEST

/* Items side by side, as the vectorizer puts them. */
START_TEST(roots_of_items)
{
    float *out, *in;
    rig r;

    rig_open(&r);
    r.both_engines = true;
    rig_compile(&r,
                "__kernel void k(__global float *out,\n"
                "                __global const float *in)\n{\n"
                "    int i = get_global_id(0);\n"
                "    out[i] = rsqrt(in[i]) + native_rsqrt(in[i] + 1);\n}\n",
                "k");
    out = rig_buffer(&r, 8 * ROOT_ITEMS * sizeof *out);
    in = rig_buffer(&r, 8 * ROOT_ITEMS * sizeof *in);
    for (uint32_t i = 0; i < 8 * ROOT_ITEMS; i++)
        in[i] = root_input(i);
    rig_run_1d(&r, 8, ROOT_ITEMS);
    for (uint32_t i = 0; i < 8 * ROOT_ITEMS; i++)
        if (!same_float(out[i], root_of(in[i]) + root_of(in[i] + 1)))
            ck_abort_msg("item %u: %a, expected %a + %a, of %a", i, out[i],
                         root_of(in[i]), root_of(in[i] + 1), in[i]);
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("kernels: arithmetic");
    TCase *c = tcase_create("element-wise");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, element_wise, 0, sizeof cases / sizeof *cases);
    tcase_add_loop_test(c, division, 0, 2 * sizeof integers / sizeof *integers);
    tcase_add_test(c, comparison_used_twice);
    tcase_add_test(c, sums_of_counts);
    tcase_add_loop_test(c, roots_of_lanes, 0, N_ROOTS);
    tcase_add_test(c, roots_of_items);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
