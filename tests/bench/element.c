/* GRN in half. The C beside it is one loop over pixels for each channel of a
 * stretch of a row, with the processor's conversions of eight halves at once:
 * what a compiler makes of the kernel when the layout is known. */
#include "tests/bench/element.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "tests/bench/proc.h"
#include "tests/bench/quiet.h"
#include "tests/bench/rows.h"

/* Of the fastest process: so many that were alone, in as many as it takes. */
enum { PROCESSES = 5, MOST_PROCESSES = 15, QUIET_SECONDS = 10 };
enum { RUNS = 9, CHANNELS = 16, STRETCH = 256 };

static const struct {
    uint32_t rows, columns;
} shapes[] = {{256, 512}, {1024, 2048}};

#if defined __x86_64__
#include <immintrin.h>

__attribute__((target("avx2,f16c"))) static void
grn_stretch(const uint16_t *src, uint16_t *dst, size_t plane, float bias)
{
    float sum[STRETCH];

    for (int i = 0; i < STRETCH; i++)
        sum[i] = bias;
    for (int c = 0; c < CHANNELS; c++)
        for (int i = 0; i < STRETCH; i += 8) {
            __m256 v = _mm256_cvtph_ps(
                _mm_loadu_si128((const void *)(src + c * plane + i)));

            _mm256_storeu_ps(sum + i, _mm256_add_ps(_mm256_loadu_ps(sum + i),
                                                    _mm256_mul_ps(v, v)));
        }
    for (int i = 0; i < STRETCH; i += 8) { /* the factor becomes half */
        __m256 f = _mm256_div_ps(_mm256_set1_ps(1),
                                 _mm256_sqrt_ps(_mm256_loadu_ps(sum + i)));

        _mm256_storeu_ps(sum + i, _mm256_cvtph_ps(_mm256_cvtps_ph(f, 0)));
    }
    for (int c = 0; c < CHANNELS; c++)
        for (int i = 0; i < STRETCH; i += 8) {
            __m256 v = _mm256_cvtph_ps(
                _mm_loadu_si128((const void *)(src + c * plane + i)));

            _mm_storeu_si128(
                (void *)(dst + c * plane + i),
                _mm256_cvtps_ph(_mm256_mul_ps(v, _mm256_loadu_ps(sum + i)), 0));
        }
}

/* Seconds of the fastest run; 0: this processor has no such conversions. */
static double time_native(uint32_t rows, uint32_t columns)
{
    size_t plane = (size_t)rows * columns, n = plane * CHANNELS;
    uint16_t *src = malloc(n * sizeof *src), *dst = malloc(n * sizeof *dst);
    double least = 0;

    if (!src || !dst) {
        fprintf(stderr, "bench: no memory for %zu halves\n", 2 * n);
        exit(1);
    }
    for (size_t i = 0; i < n; i++)
        src[i] = (uint16_t)(0x3000 + i * 2654435761u % 0x0c00);
    for (int r = 0; __builtin_cpu_supports("avx2") &&
                    __builtin_cpu_supports("f16c") && r < RUNS;
         r++) {
        double start = clock_seconds(), t;

        for (size_t at = 0; at < plane; at += STRETCH)
            grn_stretch(src + at, dst + at, plane, 1);
        t = clock_seconds() - start;
        least = least > 0 && least < t ? least : t;
    }
    free(src);
    free(dst);
    return least;
}
#else
static double time_native(uint32_t rows, uint32_t columns)
{
    (void)rows;
    (void)columns;
    return 0;
}
#endif

static double time_vpu(const char *vpu, uint32_t rows, uint32_t columns)
{
    static proc_result r;
    char words[1024];
    double least = 0;

    snprintf(words, sizeof words,
             "%s run kernels/grn/layer.xml --layer GRN --shape in0=1x%dx%ux%u "
             "--param bias=1.0 --quiet --json --repeat 5 --threads 1",
             vpu, CHANNELS, rows, columns);
    for (int i = 0, n_alone = 0; i < MOST_PROCESSES && n_alone < PROCESSES;
         i++) {
        double t;

        quiet_within(QUIET_SECONDS);
        proc_run_once(words, 0, UINT32_MAX, &r);
        n_alone += r.alone;
        t = bench_report_seconds(r.out);
        least = least > 0 && least < t ? least : t;
    }
    return least;
}

json_t *bench_element(const char *vpu)
{
    json_t *all = json_array();

    printf("\n%-34s %11s %11s %9s\n", "an element on one host thread", "vpusim",
           "C", "vs C");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        double n = (double)CHANNELS * shapes[i].rows * shapes[i].columns;
        double native = time_native(shapes[i].rows, shapes[i].columns) / n;
        double own = time_vpu(vpu, shapes[i].rows, shapes[i].columns) / n;
        char name[64];

        snprintf(name, sizeof name, "GRN half, DDR, 1x%dx%ux%u", CHANNELS,
                 shapes[i].rows, shapes[i].columns);
        printf("%-34s %8.2f ns %8.2f ns %8.2fx\n", name, own * 1e9,
               native * 1e9, native > 0 ? native / own : 0);
        fflush(stdout);
        json_array_append_new(all, json_pack("{s:s,s:f,s:f}", "name", name,
                                             "seconds", own, "native_seconds",
                                             native));
    }
    return all;
}
