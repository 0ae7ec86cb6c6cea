/* Many outputs of a convolution at once, by the loops of the hardware's. */
#include <string.h>

#include "runtime/native/conv.h"
#include "runtime/native/hw.h"

enum { B = NATIVE_HW_BLOCK, P = NATIVE_HW_POSITIONS, PAIR = 2 * B };

typedef struct {
    const native_job *j;
    const native_conv *s;
    uint64_t w, plane;       /* of the input with its frame of zeros */
    uint64_t block;          /* weights of 8 outputs */
    const float *in;         /* all images, with frames */
    const uint16_t *weights; /* blocks of 8 outputs: input, kernel, output */
    uint32_t pairs;          /* of blocks */
    const uint32_t *channels, *taps;
    float *out;
} dense;

/* Elements of a side that windows reach over. */
static uint64_t reach(const native_conv_side *s)
{
    return (uint64_t)(s->out - 1) * s->stride +
           (uint64_t)(s->kernel - 1) * s->dilation + 1;
}

/* A frame that is much larger than the planes is not worth its memory. */
static bool suits(const native_conv *s)
{
    uint64_t w = reach(&s->x), h = reach(&s->y);

    return s->groups == 1 && !s->transposed && s->z.in == 1 &&
           s->z.kernel == 1 && s->z.out == 1 && s->oc >= B &&
           w < 4 * (uint64_t)s->x.in + 64 && h < 4 * (uint64_t)s->y.in + 64 &&
           w * h < UINT32_MAX;
}

/* Rows of the input, each to its place within the frame. */
static void frame_planes(const native_conv *s, const float *in, uint64_t w,
                         uint64_t plane, float *out)
{
    uint64_t h = plane / w, count = s->x.in;

    if (count + s->x.pad > w)
        count = w > s->x.pad ? w - s->x.pad : 0;
    for (uint64_t k = 0; k < (uint64_t)s->n * s->ic; k++)
        for (uint64_t y = 0; y < s->y.in && y + s->y.pad < h; y++)
            memcpy(out + k * plane + (y + s->y.pad) * w + s->x.pad,
                   in + (k * s->y.in + y) * s->x.in, count * sizeof *out);
}

/* To halves again, which is exact; outputs that there are not have 0. */
static void pack_weights(const native_conv *s, const float *w, uint16_t *to)
{
    for (uint32_t first = 0; first < s->oc; first += B)
        for (uint32_t i = 0; i < s->ic; i++)
            for (uint64_t k = 0; k < s->taps; k++, to += B) {
                const float *from = w + i * s->at_i + k * s->at_k;
                float of[B] = {0};

                for (uint32_t o = 0; o < B && first + o < s->oc; o++)
                    of[o] = from[(first + o) * s->at_o];
                native_to_half(of, to, B);
            }
}

/* Row `row` of 16 outputs of an image: some positions after the others. */
static void run_row(const dense *g, uint64_t n, uint32_t pair, uint64_t row)
{
    const native_conv *s = g->s;
    const float *from = g->in + n * s->ic * g->plane + row * s->y.stride * g->w;
    uint64_t size = (uint64_t)s->x.out * s->y.out;
    float *to =
        g->out + (n * s->oc + (uint64_t)pair * PAIR) * size + row * s->x.out;
    uint32_t left = s->oc - pair * PAIR, outputs = left < PAIR ? left : PAIR;
    const uint16_t *w = g->weights + (uint64_t)pair * 2 * g->block;
    native_hw_tile t = {.weights = {w, left > B ? w + g->block : w},
                        .channels = g->channels,
                        .n_channels = s->ic,
                        .kernel = (uint32_t)s->taps,
                        .taps = g->taps,
                        .plane = g->plane};

    for (uint32_t x = 0; x < s->x.out && !native_stopped(g->j); x += P) {
        uint32_t count = s->x.out - x < P ? s->x.out - x : P;
        float acc[P][PAIR] = {{0}};

        for (uint32_t p = 0; p < P; p++)
            t.base[p] =
                from + (uint64_t)(x + (p < count ? p : 0)) * s->x.stride;
        native_hw_dense(&t, false, acc);
        for (uint32_t o = 0; o < outputs; o++)
            for (uint32_t p = 0; p < count; p++)
                to[o * size + x + p] = acc[p][o];
    }
}

static void run_rows(void *arg, uint64_t first, uint64_t end)
{
    const dense *g = arg;
    uint64_t rows = g->s->y.out;

    for (uint64_t k = first; k < end; k++)
        run_row(g, k / rows / g->pairs, (uint32_t)(k / rows % g->pairs),
                k % rows);
}

bool native_conv_dense(const native_job *j, const native_conv *s,
                       const float *in, const float *weights, float *out)
{
    uint64_t h = reach(&s->y), cost;
    uint32_t *channels, *taps;
    uint16_t *packed;
    float *framed;
    dense g = {.j = j, .s = s, .w = reach(&s->x), .out = out};

    if (!suits(s))
        return false;
    g.plane = g.w * h;
    g.pairs = (s->oc + PAIR - 1) / PAIR;
    g.block = (uint64_t)s->ic * s->taps * B;
    framed = native_room(j, s->n * s->ic * g.plane);
    frame_planes(s, in, g.w, g.plane, framed);
    packed = arena_push(j->arena, (uint64_t)g.pairs * 2 * g.block, 2, 64);
    pack_weights(s, weights, packed);
    channels = arena_array(j->arena, uint32_t, s->ic);
    taps = arena_array(j->arena, uint32_t, s->taps);
    for (uint32_t i = 0; i < s->ic; i++)
        channels[i] = i;
    for (uint32_t k = 0; k < s->taps; k++)
        taps[k] = (uint32_t)(k / s->x.kernel * s->y.dilation * g.w +
                             k % s->x.kernel * s->x.dilation);
    g.in = framed;
    g.weights = packed;
    g.channels = channels;
    g.taps = taps;
    cost = (uint64_t)s->x.out * s->ic * s->taps * PAIR;
    native_ranges(j, (uint64_t)s->n * g.pairs * s->y.out, 1000000 / cost + 1,
                  run_rows, &g);
    return true;
}
