/* Where the time of a network goes: sums of products for many outputs at once.
 *
 * A product of two halves is exact in a float, so that fused and separate
 * multiply-adds give the same bits; each output's sum has its own order (input
 * channel, row, column of the kernel), whatever is computed beside it. So the
 * plain loops and those for AVX2 agree bit for bit. */
#include "runtime/graph/tensor.h"
#include "runtime/native/hw.h"

enum { B = NATIVE_HW_BLOCK, P = NATIVE_HW_POSITIONS, MAX_VECTORS = 4 };

/* --- plain --------------------------------------------------------------- */

static void dense_plain(const native_hw_tile *t, bool skip_zero,
                        float acc[P][2 * B])
{
    for (uint32_t c = 0; c < t->n_channels; c++) {
        uint64_t channel = t->channels[c];

        for (uint32_t k = 0; k < t->kernel; k++) {
            uint64_t at = (channel * t->kernel + k) * B;
            uint64_t from = channel * t->plane + t->taps[k];
            float w[2 * B];

            native_from_half(t->weights[0] + at, w, B);
            native_from_half(t->weights[1] + at, w + B, B);
            for (int p = 0; p < P; p++) {
                float x = t->base[p][from];

                for (int o = 0; o < 2 * B; o++)
                    if (!skip_zero || w[o] != 0)
                        acc[p][o] += w[o] * x;
            }
        }
    }
}

static float larger(float a, float b)
{
    return b > a ? b : a;
}

static void row_plain(native_hw_fold fold, const float *plane,
                      const uint32_t *taps, const uint16_t *weights,
                      uint32_t n_taps, float *acc, uint32_t n)
{
    for (uint32_t k = 0; k < n_taps; k++) {
        const float *v = plane + taps[k];
        float w = weights ? tensor_f16_to_f32(weights[(size_t)k * B]) : 1;

        if (weights && w == 0)
            continue;
        for (uint32_t x = 0; x < n; x++)
            if (fold == NATIVE_HW_MAX)
                acc[x] = larger(acc[x], v[x]);
            else
                acc[x] += w * v[x];
    }
}

/* --- AVX2 ---------------------------------------------------------------- */

#if defined __x86_64__
#include <immintrin.h>

#define FAST __attribute__((target("avx2,fma,f16c")))

static bool has_fast(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("f16c");
}

FAST static inline __m256 load_weights(const uint16_t *w)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)w));
}

FAST static void dense_fast(const native_hw_tile *t, float acc[P][2 * B])
{
    __m256 a00 = _mm256_loadu_ps(acc[0]), a01 = _mm256_loadu_ps(acc[0] + B);
    __m256 a10 = _mm256_loadu_ps(acc[1]), a11 = _mm256_loadu_ps(acc[1] + B);
    __m256 a20 = _mm256_loadu_ps(acc[2]), a21 = _mm256_loadu_ps(acc[2] + B);
    __m256 a30 = _mm256_loadu_ps(acc[3]), a31 = _mm256_loadu_ps(acc[3] + B);
    __m256 a40 = _mm256_loadu_ps(acc[4]), a41 = _mm256_loadu_ps(acc[4] + B);
    __m256 a50 = _mm256_loadu_ps(acc[5]), a51 = _mm256_loadu_ps(acc[5] + B);

    for (uint32_t c = 0; c < t->n_channels; c++) {
        uint64_t channel = t->channels[c], from = channel * t->plane;
        const uint16_t *w0 = t->weights[0] + channel * t->kernel * B;
        const uint16_t *w1 = t->weights[1] + channel * t->kernel * B;

        for (uint32_t k = 0; k < t->kernel; k++, w0 += B, w1 += B) {
            uint64_t at = from + t->taps[k];
            __m256 p = load_weights(w0), q = load_weights(w1), x;

            x = _mm256_broadcast_ss(t->base[0] + at);
            a00 = _mm256_fmadd_ps(p, x, a00);
            a01 = _mm256_fmadd_ps(q, x, a01);
            x = _mm256_broadcast_ss(t->base[1] + at);
            a10 = _mm256_fmadd_ps(p, x, a10);
            a11 = _mm256_fmadd_ps(q, x, a11);
            x = _mm256_broadcast_ss(t->base[2] + at);
            a20 = _mm256_fmadd_ps(p, x, a20);
            a21 = _mm256_fmadd_ps(q, x, a21);
            x = _mm256_broadcast_ss(t->base[3] + at);
            a30 = _mm256_fmadd_ps(p, x, a30);
            a31 = _mm256_fmadd_ps(q, x, a31);
            x = _mm256_broadcast_ss(t->base[4] + at);
            a40 = _mm256_fmadd_ps(p, x, a40);
            a41 = _mm256_fmadd_ps(q, x, a41);
            x = _mm256_broadcast_ss(t->base[5] + at);
            a50 = _mm256_fmadd_ps(p, x, a50);
            a51 = _mm256_fmadd_ps(q, x, a51);
        }
    }
    _mm256_storeu_ps(acc[0], a00), _mm256_storeu_ps(acc[0] + B, a01);
    _mm256_storeu_ps(acc[1], a10), _mm256_storeu_ps(acc[1] + B, a11);
    _mm256_storeu_ps(acc[2], a20), _mm256_storeu_ps(acc[2] + B, a21);
    _mm256_storeu_ps(acc[3], a30), _mm256_storeu_ps(acc[3] + B, a31);
    _mm256_storeu_ps(acc[4], a40), _mm256_storeu_ps(acc[4] + B, a41);
    _mm256_storeu_ps(acc[5], a50), _mm256_storeu_ps(acc[5] + B, a51);
}

/* 8 * MAX_VECTORS neighbours; their sums stay in registers over all taps. */
FAST static void row_block(native_hw_fold fold, const float *plane,
                           const uint32_t *taps, const uint16_t *weights,
                           uint32_t n_taps, float *acc)
{
    __m256 a[MAX_VECTORS];

    for (int i = 0; i < MAX_VECTORS; i++)
        a[i] = _mm256_loadu_ps(acc + 8 * i);
    for (uint32_t k = 0; k < n_taps; k++) {
        const float *v = plane + taps[k];

        if (fold == NATIVE_HW_MAX) {
            for (int i = 0; i < MAX_VECTORS; i++)
                a[i] = _mm256_max_ps(_mm256_loadu_ps(v + 8 * i), a[i]);
        } else if (fold == NATIVE_HW_SUM) {
            for (int i = 0; i < MAX_VECTORS; i++)
                a[i] = _mm256_add_ps(a[i], _mm256_loadu_ps(v + 8 * i));
        } else if (weights[(size_t)k * B] & 0x7fff) {
            __m256 w =
                _mm256_set1_ps(tensor_f16_to_f32(weights[(size_t)k * B]));

            for (int i = 0; i < MAX_VECTORS; i++)
                a[i] = _mm256_fmadd_ps(w, _mm256_loadu_ps(v + 8 * i), a[i]);
        }
    }
    for (int i = 0; i < MAX_VECTORS; i++)
        _mm256_storeu_ps(acc + 8 * i, a[i]);
}
#endif

/* --- which --------------------------------------------------------------- */

void native_hw_dense(const native_hw_tile *t, bool skip_zero,
                     float acc[P][2 * B])
{
#if defined __x86_64__
    if (!skip_zero && has_fast()) {
        dense_fast(t, acc);
        return;
    }
#endif
    dense_plain(t, skip_zero, acc);
}

void native_hw_row(native_hw_fold fold, const float *plane,
                   const uint32_t *taps, const uint16_t *weights,
                   uint32_t n_taps, float *acc, uint32_t n)
{
    uint32_t x = 0;

#if defined __x86_64__
    if (has_fast())
        for (; x + 8 * MAX_VECTORS <= n; x += 8 * MAX_VECTORS)
            row_block(fold, plane + x, taps, weights, n_taps, acc + x);
#endif
    row_plain(fold, plane + x, taps, weights, n_taps, acc + x, n - x);
}
