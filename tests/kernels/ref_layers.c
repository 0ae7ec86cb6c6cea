/* Plain C computations of the layers with several parameters or inputs. */
#include "tests/kernels/ref_layers.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Row-major index of an element of a tensor with four dimensions. */
static size_t at(const ref_tensor *t, size_t b, size_t f, size_t y, size_t x)
{
    return ((b * t->dims[1] + f) * t->dims[2] + y) * t->dims[3] + x;
}

static float to_half(float v)
{
    return (float)(ref_half)v;
}

/* --- normalisation ------------------------------------------------------- */

void ref_mvn(const ref_tensor *in, const double *param, ref_tensor *out)
{
    size_t plane = (size_t)in->dims[2] * in->dims[3];

    for (size_t first = 0; first < ref_elements(in); first += plane) {
        float sum = 0, squares = 0, mean, variance, factor;

        for (size_t i = first; i < first + plane; i++)
            sum = sum + ref_get(in, i);
        mean = sum / (float)plane;
        for (size_t i = first; i < first + plane; i++) {
            float d = ref_get(in, i) - mean;
            float square = d * d;

            squares = squares + square;
        }
        variance = squares / (float)plane;
        variance = variance + (float)param[0];
        factor = (float)(1.0 / sqrt((double)variance));
        for (size_t i = first; i < first + plane; i++) {
            float d = ref_get(in, i) - mean;

            ref_put(out, i, d * factor);
        }
    }
}

/* n values, step apart. */
static void softmax(const ref_tensor *in, size_t first, size_t step, size_t n,
                    ref_tensor *out)
{
    float largest = ref_get(in, first), sum = 0;

    for (size_t k = 1; k < n; k++)
        if (ref_get(in, first + k * step) > largest)
            largest = ref_get(in, first + k * step);
    for (size_t k = 0; k < n; k++) {
        float d = ref_get(in, first + k * step) - largest;

        sum = sum + (float)exp((double)d);
    }
    for (size_t k = 0; k < n; k++) {
        float d = ref_get(in, first + k * step) - largest;

        ref_put(out, first + k * step, (float)exp((double)d) / sum);
    }
}

void ref_softmax(const ref_tensor *in, const double *param, ref_tensor *out)
{
    size_t axis = (size_t)param[0], step = 1, n = in->dims[axis];

    for (size_t d = axis + 1; d < 4; d++)
        step *= in->dims[d];
    for (size_t i = 0; i < ref_elements(in); i++)
        if (i / step % n == 0)
            softmax(in, i, step, n, out);
}

void ref_quantize(const ref_tensor *in, const double *param, ref_tensor *out)
{
    float steps = (float)param[0] - 1;
    float in_low = (float)param[1], in_high = (float)param[2];
    float out_low = (float)param[3], out_high = (float)param[4];
    float in_range = in_high - in_low, out_range = out_high - out_low;

    for (size_t i = 0; i < ref_elements(in); i++) {
        float v = ref_get(in, i), q;

        q = v - in_low;
        q = q / in_range;
        q = q * steps;
        q = nearbyintf(q);
        q = q / steps;
        q = q * out_range;
        q = q + out_low;
        ref_put(out, i, v <= in_low ? out_low : v > in_high ? out_high : q);
    }
}

/* --- rectifiers --------------------------------------------------------- */

void ref_leaky_relu(const ref_tensor *in, const double *param, ref_tensor *out)
{
    for (size_t i = 0; i < ref_elements(out); i++) {
        float v = ref_get(in, i), product = v * (float)param[0];

        ref_put(out, i, v > 0 ? v : product);
    }
}

void ref_prelu(const ref_tensor *in, const double *param, ref_tensor *out)
{
    size_t plane = (size_t)in->dims[2] * in->dims[3], i = 0;

    (void)param;
    for (size_t b = 0; b < in->dims[0]; b++)
        for (size_t c = 0; c < in->dims[1]; c++)
            for (size_t p = 0; p < plane; p++, i++) {
                float v = ref_get(in, i), product = v * ref_get(&in[1], c);

                ref_put(out, i, v > 0 ? v : product);
            }
}

/* --- sums of products ---------------------------------------------------- */

void ref_convolution1x1(const ref_tensor *in, const double *param,
                        ref_tensor *out)
{
    size_t C = in->dims[1], plane = (size_t)in->dims[2] * in->dims[3];

    (void)param;
    for (size_t i = 0; i < ref_elements(out); i++) {
        size_t p = i % plane, o = i / plane % out->dims[1];
        size_t b = i / plane / out->dims[1];
        float sum = 0;

        for (size_t c = 0; c < C; c++) {
            float product = ref_get(&in[0], (b * C + c) * plane + p) *
                            ref_get(&in[1], o * C + c);

            sum = to_half(sum + to_half(product));
        }
        ref_put(out, i, sum);
    }
}

/* Walks the window as a row of nine. */
static float window(const ref_tensor *in, size_t b, size_t o, size_t y,
                    size_t x)
{
    size_t H = in->dims[2], W = in->dims[3];
    float sum = 0;

    for (size_t c = 0; c < in->dims[1]; c++)
        for (size_t k = 0; k < 9; k++) {
            size_t sy = y + k / 3, sx = x + k % 3; /* both one too large */
            float product;

            if (sy < 1 || sy > H || sx < 1 || sx > W)
                continue;
            product = ref_get(&in[0], at(&in[0], b, c, sy - 1, sx - 1)) *
                      ref_get(&in[1], at(&in[1], o, c, 0, k));
            sum = sum + product;
        }
    return sum;
}

void ref_convolution3x3(const ref_tensor *in, const double *param,
                        ref_tensor *out)
{
    size_t i = 0;
    ref_tensor flat[2] = {in[0], in[1]};

    (void)param;
    flat[1].dims[2] = 1; /* a window as a row of nine */
    flat[1].dims[3] = 9;
    for (size_t b = 0; b < out->dims[0]; b++)
        for (size_t o = 0; o < out->dims[1]; o++)
            for (size_t y = 0; y < out->dims[2]; y++)
                for (size_t x = 0; x < out->dims[3]; x++)
                    ref_put(out, i++, window(flat, b, o, y, x));
}

static void correlated(const ref_tensor *in, size_t b, size_t y, size_t x,
                       ref_tensor *out)
{
    size_t H = in->dims[2], W = in->dims[3];

    for (size_t k = 0; k < 25; k++) {
        size_t oy = y + k / 5, ox = x + k % 5; /* both two too large */
        float sum = 0;

        if (oy >= 2 && oy < H + 2 && ox >= 2 && ox < W + 2)
            for (size_t c = 0; c < in->dims[1]; c++) {
                float product = ref_get(&in[0], at(in, b, c, y, x)) *
                                ref_get(&in[1], at(in, b, c, oy - 2, ox - 2));

                sum = sum + product;
            }
        ref_put(out, at(out, b, k, y, x), sum / (float)in->dims[1]);
    }
}

void ref_correlation(const ref_tensor *in, const double *param, ref_tensor *out)
{
    (void)param;
    for (size_t b = 0; b < in->dims[0]; b++)
        for (size_t y = 0; y < in->dims[2]; y++)
            for (size_t x = 0; x < in->dims[3]; x++)
                correlated(in, b, y, x, out);
}

/* --- moving elements ----------------------------------------------------- */

void ref_copy(const ref_tensor *in, const double *param, ref_tensor *out)
{
    (void)param;
    memcpy(out->data, in->data, ref_bytes(in));
}

/* Walks the input, where the kernel walks the output. */
void ref_shuffle(const ref_tensor *in, const double *param, ref_tensor *out)
{
    size_t G = (size_t)param[0], K = in->dims[1] / G, from = 0;
    size_t plane = (size_t)in->dims[2] * in->dims[3];

    for (size_t b = 0; b < in->dims[0]; b++)
        for (size_t g = 0; g < G; g++)
            for (size_t k = 0; k < K; k++)
                for (size_t i = 0; i < plane; i++, from++)
                    ref_put(out, ((b * K + k) * G + g) * plane + i,
                            ref_get(in, from));
}

/* Walks the output by its indices, where the kernel computes with steps. */
void ref_permute(const ref_tensor *in, const double *param, ref_tensor *out)
{
    for (size_t i = 0; i < ref_elements(out); i++) {
        size_t j[4] = {0}, rest = i;

        for (int k = 3; k >= 0; k--) {
            j[(int)param[k]] = rest % out->dims[k];
            rest /= out->dims[k];
        }
        ref_put(out, i, ref_get(in, at(in, j[0], j[1], j[2], j[3])));
    }
}

void ref_resample(const ref_tensor *in, const double *param, ref_tensor *out)
{
    size_t i = 0;

    (void)param;
    for (size_t b = 0; b < out->dims[0]; b++)
        for (size_t c = 0; c < out->dims[1]; c++)
            for (size_t y = 0; y < out->dims[2]; y++)
                for (size_t x = 0; x < out->dims[3]; x++) {
                    size_t from = at(in, b, c, y * in->dims[2] / out->dims[2],
                                     x * in->dims[3] / out->dims[3]);

                    ref_put(out, i++, ref_get(in, from));
                }
}

/* --- sequences ----------------------------------------------------------- */

static size_t best_class(const ref_tensor *in, size_t t, size_t n)
{
    size_t C = in->dims[2], first = (t * in->dims[1] + n) * C, best = 0;

    for (size_t c = C; c-- > 0;) /* so that the first of equal ones stays */
        if (ref_get(in, first + c) >= ref_get(in, first + best) || c == C - 1)
            best = c;
    return best;
}

void ref_ctc(const ref_tensor *in, const double *param, ref_tensor *out)
{
    size_t T = in->dims[0], N = in->dims[1], C = in->dims[2];

    (void)param;
    for (size_t i = 0; i < N * T; i++)
        ref_put(out, i, -1);
    for (size_t n = 0; n < N; n++) {
        size_t to = n * T;

        for (size_t t = 0; t < T; t++) {
            size_t best = best_class(in, t, n);

            if (ref_get(&in[1], t * N + n) == 0)
                break;
            if (best != C - 1 && (t == 0 || best != best_class(in, t - 1, n)))
                ref_put(out, to++, (float)best);
        }
    }
}

/* --- comparison ---------------------------------------------------------- */

/* Halves in order of their values, one apart from their neighbours. */
static int order(const void *halves, size_t i)
{
    uint16_t h;

    memcpy(&h, (const char *)halves + 2 * i, sizeof h);
    return h & 0x8000 ? -(h & 0x7fff) : h;
}

size_t ref_compare_ulp(const ref_tensor *want, const void *got, unsigned ulp,
                       char *text, size_t n_text)
{
    size_t n = ref_elements(want);
    ref_tensor near = *want;
    size_t differ;

    ref_alloc(&near);
    memcpy(near.data, want->data, ref_bytes(want));
    for (size_t i = 0; i < n; i++) {
        int apart = order(want->data, i) - order(got, i);

        if ((apart < 0 ? -apart : apart) <= (int)ulp)
            memcpy((char *)near.data + 2 * i, (const char *)got + 2 * i, 2);
    }
    differ = ref_compare(&near, got, text, n_text);
    ref_free(&near);
    return differ;
}
