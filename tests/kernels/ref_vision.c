/* Plain C computations of the layers around images and detectors. */
#include "tests/kernels/ref_vision.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static size_t at(const ref_tensor *t, size_t b, size_t f, size_t y, size_t x)
{
    return ((b * t->dims[1] + f) * t->dims[2] + y) * t->dims[3] + x;
}

/* --- images -------------------------------------------------------------- */

void ref_cvtu8(const ref_tensor *in, const double *param, ref_tensor *out)
{
    float scale = (float)param[0], bias = (float)param[1];

    for (size_t i = 0; i < ref_elements(out); i++) {
        float v = ref_get(in, i);

        v = v * scale;
        v = v + bias;
        ref_put(out, i, v);
    }
}

/* Weight of pixel i of n for output pixel `to` of n_to. */
static float triangle(size_t i, size_t n, size_t to, size_t n_to)
{
    float scale = (float)n / (float)n_to, radius = scale < 1 ? 1 : scale;
    float centre = (float)to + 0.5f, w;

    centre = centre * scale;
    centre = centre - 0.5f;
    w = fabsf((float)i - centre);
    w = w / radius;
    w = 1.0f - w;
    return w > 0 ? w : 0;
}

static float filtered(const ref_tensor *in, size_t first, size_t y, size_t x,
                      const ref_tensor *out)
{
    size_t H = in->dims[2], W = in->dims[3];
    float sum = 0, weights = 0;

    for (size_t i = 0; i < H; i++)
        for (size_t j = 0; j < W; j++) {
            float wy = triangle(i, H, y, out->dims[2]);
            float w = wy * triangle(j, W, x, out->dims[3]);
            float product = w * ref_get(in, first + i * W + j);

            if (w > 0) {
                sum = sum + product;
                weights = weights + w;
            }
        }
    return sum / weights;
}

void ref_antialias(const ref_tensor *in, const double *param, ref_tensor *out)
{
    size_t H = out->dims[2], W = out->dims[3];
    size_t plane = (size_t)in->dims[2] * in->dims[3];

    (void)param;
    for (size_t i = 0; i < ref_elements(out); i++)
        ref_put(out, i,
                filtered(in, i / (H * W) * plane, i / W % H, i % W, out));
}

/* Row `row` of theta applied to pixel (y, x) of out: where in n pixels. */
static float looked_up(const ref_tensor *theta, size_t row, size_t y, size_t x,
                       const ref_tensor *out, size_t n)
{
    float px = (float)(2 * x + 1) / (float)out->dims[3];
    float py = (float)(2 * y + 1) / (float)out->dims[2];
    float p, q;

    px = px - 1;
    py = py - 1;
    p = ref_get(theta, row * 3) * px;
    q = ref_get(theta, row * 3 + 1) * py;
    p = p + q;
    p = p + ref_get(theta, row * 3 + 2);
    p = p + 1;
    p = p * (float)n;
    p = p - 1;
    p = p / 2;
    return p<-1 ? -1 : p>(float) n ? (float)n : p;
}

static float mixed(const ref_tensor *in, size_t b, size_t c, float sy, float sx)
{
    const float H = (float)in->dims[2], W = (float)in->dims[3];
    float sum = 0;

    for (int k = 0; k < 4; k++) {
        float y = floorf(sy) + (float)(k / 2), wy = sy - floorf(sy);
        float x = floorf(sx) + (float)(k % 2), wx = sx - floorf(sx);
        float w, v = 0;

        if (k / 2 == 0)
            wy = 1 - wy;
        if (k % 2 == 0)
            wx = 1 - wx;
        w = wy * wx;
        if (y >= 0 && y < H && x >= 0 && x < W)
            v = ref_get(in, at(in, b, c, (size_t)y, (size_t)x));
        v = w * v;
        sum = k ? sum + v : v;
    }
    return sum;
}

void ref_transformer(const ref_tensor *in, const double *param, ref_tensor *out)
{
    size_t C = in->dims[1], H = out->dims[2], W = out->dims[3];

    (void)param;
    for (size_t i = 0; i < ref_elements(out); i++) {
        size_t x = i % W, y = i / W % H, c = i / W / H % C, b = i / W / H / C;
        float sx = looked_up(&in[1], b * 2, y, x, out, in->dims[3]);
        float sy = looked_up(&in[1], b * 2 + 1, y, x, out, in->dims[2]);

        ref_put(out, i, mixed(in, b, c, sy, sx));
    }
}

/* --- detectors ----------------------------------------------------------- */

static double logistic(double v)
{
    return 1 / (1 + exp(-v));
}

/* One box at one pixel: n channels, step apart. */
static void region(const ref_tensor *in, size_t from, ref_tensor *out,
                   size_t to, size_t step, size_t coords, size_t n,
                   bool do_softmax)
{
    double sum = 0;

    for (size_t c = coords + 1; c < n; c++)
        sum += exp((double)ref_get(in, from + c * step));
    for (size_t c = 0; c < n; c++) {
        double v = (double)ref_get(in, from + c * step);

        if (c > coords && do_softmax)
            v = exp(v) / sum;
        else if (c < 2 || c >= coords)
            v = logistic(v);
        ref_put(out, to + c * step, (float)v);
    }
}

void ref_region(const ref_tensor *in, const double *param, ref_tensor *out)
{
    size_t num = (size_t)param[0], coords = (size_t)param[1];
    size_t n = coords + 1 + (size_t)param[2];
    bool do_softmax = param[3] != 0;
    size_t boxes = out->dims[1] / n;
    size_t plane = (size_t)in->dims[2] * in->dims[3];

    for (size_t i = 0; i < out->dims[0] * boxes * plane; i++) {
        size_t p = i % plane, k = i / plane % boxes, b = i / plane / boxes;
        size_t box = do_softmax ? k : (size_t)param[4 + k];

        region(in, (b * num + box) * n * plane + p, out,
               (b * boxes + k) * n * plane + p, plane, coords, n, do_softmax);
    }
}

void ref_prior_grid(const ref_tensor *in, const double *param, ref_tensor *out)
{
    size_t N = in->dims[0], W = in[1].dims[3];

    for (size_t i = 0; i < ref_elements(out); i++) {
        size_t k = i % 4, n = i / 4 % N, pixel = i / 4 / N;
        size_t along_y = k % 2; /* x, y, x, y */
        float step = (float)param[1 - along_y];
        float v = (float)(along_y ? pixel / W : pixel % W) + 0.5f;

        if (step <= 0)
            step =
                (float)in[2].dims[3 - along_y] / (float)in[1].dims[3 - along_y];
        v = v * step;
        v = ref_get(in, n * 4 + k) + v;
        ref_put(out, i, v);
    }
}

/* --- signs --------------------------------------------------------------- */

static bool bit(const ref_tensor *words, size_t i, size_t c)
{
    uint16_t w;

    memcpy(&w, (const ref_half *)words->data + i + c / 16, sizeof w);
    return w >> c % 16 & 1;
}

void ref_binary(const ref_tensor *in, const double *param, ref_tensor *out)
{
    size_t K = (size_t)param[0], r = K / 2, C = in->dims[1];
    size_t O = out->dims[1], H = out->dims[2], W = out->dims[3];
    float threshold = (float)param[2];

    for (size_t n = 0; n < ref_elements(out); n++) {
        size_t x = n % W, y = n / W % H, o = n / W / H % O, b = n / W / H / O;
        int sum = 0;

        for (size_t t = 0; t < K * K; t++) {
            size_t sy = y + t / K, sx = x + t % K; /* both r too large */

            if (sy < r || sy >= H + r || sx < r || sx >= W + r)
                continue;
            for (size_t c = 0; c < C; c++) {
                float v = ref_get(in, at(in, b, c, sy - r, sx - r));
                bool w = bit(&in[1], (o * K * K + t) * ((C + 15) / 16), c);

                sum += (v > threshold) == w ? 1 : -1;
            }
        }
        ref_put(out, n, (float)sum);
    }
}
