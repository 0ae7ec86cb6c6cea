/* Halves and floats, many at once: with the processor's own conversion where it
 * has one, which gives the bits of the plain one. */
#include <string.h>

#include "runtime/graph/tensor.h"
#include "runtime/native/native_priv.h"

#if defined __x86_64__
#include <immintrin.h>

__attribute__((target("avx,f16c"))) static void
from_half_f16c(const uint16_t *from, float *to, size_t n)
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        __m128i h;

        memcpy(&h, from + i, sizeof h);
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(h));
    }
    for (; i < n; i++)
        to[i] = tensor_f16_to_f32(from[i]);
}

__attribute__((target("avx,f16c"))) static void
to_half_f16c(const float *from, uint16_t *to, size_t n)
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        __m128i h = _mm256_cvtps_ph(_mm256_loadu_ps(from + i),
                                    _MM_FROUND_TO_NEAREST_INT);

        memcpy(to + i, &h, sizeof h);
    }
    for (; i < n; i++)
        to[i] = tensor_f32_to_f16(from[i]);
}

static bool has_f16c(void)
{
    return __builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c");
}
#endif

void native_from_half(const uint16_t *from, float *to, size_t n)
{
#if defined __x86_64__
    if (has_f16c()) {
        from_half_f16c(from, to, n);
        return;
    }
#endif
    for (size_t i = 0; i < n; i++)
        to[i] = tensor_f16_to_f32(from[i]);
}

void native_to_half(const float *from, uint16_t *to, size_t n)
{
#if defined __x86_64__
    if (has_f16c()) {
        to_half_f16c(from, to, n);
        return;
    }
#endif
    for (size_t i = 0; i < n; i++)
        to[i] = tensor_f32_to_f16(from[i]);
}
