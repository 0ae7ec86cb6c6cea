/* Stages with windows: pooling, convolutions in all orders of weights, frames,
 * planes of another size; against straightforward loops in double. */
#include <check.h>
#include <math.h>

#include "tests/runtime/native/stage_rig.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static stage_rig r;

static const uint32_t orders[] = {0x4321, 0x4213, 0x4231};

/* The value there, 0 outside of the plane. */
static double inside(uint32_t t, uint32_t n, uint32_t c, int h, int w)
{
    if (h < 0 || w < 0 || h >= (int)unit_size(&r, t, 2) ||
        w >= (int)unit_size(&r, t, 1))
        return 0;
    return *unit_at(&r, t, n, c, (uint32_t)h, (uint32_t)w);
}

/* A tensor of these sizes in that order. */
static uint32_t add_planes(bool in, uint32_t order, uint32_t n, uint32_t c,
                           uint32_t h, uint32_t w)
{
    const uint32_t by_letter[] = {0, w, h, c, n};
    uint32_t d[4];

    for (uint32_t i = 0; i < 4; i++)
        d[i] = by_letter[order >> 4 * i & 15];
    return in ? unit_in(&r, BLOB_F16, order, d[0], d[1], d[2], d[3])
              : unit_out(&r, BLOB_F16, order, d[0], d[1], d[2], d[3]);
}

#define EACH(n, c, h, w, t)                                    \
    for (uint32_t n = 0; n < unit_size(&r, t, 4); n++)         \
        for (uint32_t c = 0; c < unit_size(&r, t, 3); c++)     \
            for (uint32_t h = 0; h < unit_size(&r, t, 2); h++) \
                for (uint32_t w = 0; w < unit_size(&r, t, 1); w++)

/* --- pooling ------------------------------------------------------------- */

typedef struct {
    uint32_t kx, ky, sx, sy, px, py, h, w, oh, ow;
} pool_case;

static const pool_case pools[] = {
    {2, 2, 2, 2, 0, 0, 8, 10, 4, 5}, {3, 3, 2, 2, 1, 1, 9, 7, 5, 4},
    {3, 2, 1, 3, 1, 0, 9, 7, 3, 7},  {3, 3, 2, 2, 0, 0, 6, 6, 3, 3},
    {5, 5, 1, 1, 2, 2, 4, 3, 4, 3},  {1, 1, 3, 2, 0, 0, 7, 7, 4, 3},
    {6, 5, 1, 1, 0, 0, 5, 6, 1, 1},
};

static double pooled(const pool_case *p, bool average, bool skips, uint32_t n,
                     uint32_t c, uint32_t oh, uint32_t ow)
{
    double most = -1e9, sum = 0;
    int seen = 0, size = 0;

    for (uint32_t y = 0; y < p->ky; y++)
        for (uint32_t x = 0; x < p->kx; x++) {
            int h = (int)(oh * p->sy + y) - (int)p->py;
            int w = (int)(ow * p->sx + x) - (int)p->px;

            /* Pads at the end are those at the start. */
            size += h < (int)(p->h + p->py) && w < (int)(p->w + p->px);
            if (h < 0 || w < 0 || h >= (int)p->h || w >= (int)p->w)
                continue;
            seen++;
            sum += inside(0, n, c, h, w);
            most = fmax(most, inside(0, n, c, h, w));
        }
    return average ? sum / (skips ? seen : size) : most;
}

START_TEST(pooling)
{
    const pool_case *p = &pools[_i];
    static const uint32_t types[] = {1, 2, 2, 60, 59};

    for (uint32_t k = 0; k < COUNT(orders) * COUNT(types); k++) {
        uint32_t type = types[k % 5], order = orders[k / 5];
        bool skips = k % 5 == 2;

        unit_start(&r, type, k & 1);
        unit_word(&r, p->kx);
        unit_word(&r, p->ky);
        unit_word(&r, p->sx);
        unit_word(&r, p->sy);
        unit_word(&r, p->px);
        unit_word(&r, p->py);
        unit_word(&r, skips);
        add_planes(true, order, 2, 3, p->h, p->w);
        add_planes(false, order, 2, 3, p->oh, p->ow);
        unit_fill(&r, 0, -4, 4);
        unit_run(&r);
        EACH(n, c, h, w, 1)
        unit_near(*unit_at(&r, 1, n, c, h, w),
                  pooled(p, type == 2 || type == 59, skips, n, c, h, w), 4e-6);
        unit_end(&r);
    }
}
END_TEST

/* --- convolutions -------------------------------------------------------- */

typedef struct {
    uint32_t type, order, ic, oc, kx, ky, sx, sy, px, py, dx, dy;
    const char *layout; /* of the weights, the slowest first */
} conv_case;

static const conv_case convs[] = {
    {0, 0x4321, 5, 7, 3, 3, 1, 1, 1, 1, 1, 1, "koi"},
    {0, 0x4321, 5, 7, 3, 2, 2, 1, 0, 1, 2, 3, "koi"},
    {0, 0x4321, 6, 4, 1, 1, 1, 1, 0, 0, 1, 1, "oi"},
    {0, 0x4321, 6, 4, 1, 1, 3, 2, 0, 0, 1, 1, "oi"},
    {0, 0x4321, 4, 19, 1, 1, 1, 2, 0, 0, 1, 1, "oi"},
    {0, 0x4213, 40, 23, 5, 1, 1, 1, 2, 0, 1, 1, "koi"},
    {0, 0x4213, 5, 7, 3, 3, 2, 1, 1, 1, 1, 1, "kio"},
    {0, 0x4213, 3, 9, 11, 3, 1, 1, 5, 1, 1, 1, "kio"},
    {0, 0x4213, 17, 16, 3, 3, 1, 1, 1, 1, 1, 1, "koi"},
    {0, 0x4213, 6, 4, 1, 1, 1, 1, 0, 0, 1, 1, "oi"},
    {49, 0x4213, 5, 7, 2, 2, 1, 1, 0, 0, 1, 1, "oki"},
    {49, 0x4213, 4, 3, 1, 5, 1, 2, 0, 2, 1, 1, "oki"},
    {8, 0x4321, 6, 6, 3, 3, 2, 2, 1, 1, 1, 1, "ko"},
    {8, 0x4213, 6, 6, 5, 3, 1, 1, 2, 1, 1, 2, "ko"},
    {22, 0x4321, 5, 7, 3, 3, 2, 2, 1, 1, 1, 1, "Koi"},
    {22, 0x4213, 5, 7, 4, 2, 2, 1, 1, 0, 1, 1, "Koi"},
    {63, 0x4321, 6, 6, 4, 3, 2, 2, 1, 0, 1, 1, "oK"},
    {63, 0x4213, 6, 6, 3, 3, 3, 1, 0, 1, 1, 1, "Ko"},
};

/* Where the weight of o, i and k stands. */
static uint64_t weight_at(const conv_case *p, uint32_t o, uint32_t i,
                          uint32_t k)
{
    uint32_t taps = p->kx * p->ky;
    uint64_t at = 0;

    for (const char *l = p->layout; *l; l++) {
        if (*l == 'o')
            at = at * p->oc + o;
        else if (*l == 'i')
            at = at * p->ic + i;
        else /* K: turned round both ways */
            at = at * taps + (*l == 'K' ? taps - 1 - k : k);
    }
    return at;
}

static double convolved(const conv_case *p, uint32_t n, uint32_t o, uint32_t oh,
                        uint32_t ow)
{
    bool depth = p->type == 8 || p->type == 63;
    double sum = 0;

    for (uint32_t i = 0; i < p->ic; i++)
        for (uint32_t k = 0; k < p->kx * p->ky; k++) {
            int h = (int)(oh * p->sy + k / p->kx * p->dy) - (int)p->py;
            int w = (int)(ow * p->sx + k % p->kx * p->dx) - (int)p->px;

            if (!depth || i == o)
                sum += inside(0, n, i, h, w) * r.v[2][weight_at(p, o, i, k)];
        }
    return sum;
}

/* Of a transposed one: every element of the input that leads there. */
static double spread(const conv_case *p, uint32_t n, uint32_t o, uint32_t oh,
                     uint32_t ow)
{
    double sum = 0;

    for (uint32_t k = 0; k < p->kx * p->ky; k++) {
        int h = (int)(oh + p->py) - (int)(k / p->kx);
        int w = (int)(ow + p->px) - (int)(k % p->kx);

        if (h < 0 || w < 0 || h % (int)p->sy || w % (int)p->sx)
            continue;
        for (uint32_t i = 0; i < p->ic; i++)
            if (p->type == 22 || i == o)
                sum += inside(0, n, i, h / (int)p->sy, w / (int)p->sx) *
                       r.v[2][weight_at(p, o, i, k)];
    }
    return sum;
}

static uint32_t size_after(uint32_t in, uint32_t k, uint32_t s, uint32_t p,
                           uint32_t d, bool grows)
{
    return grows ? (in - 1) * s + k - 2 * p
                 : (in + 2 * p - (k - 1) * d - 1) / s + 1;
}

START_TEST(convolutions)
{
    const conv_case *p = &convs[_i];
    bool grows = p->type == 22 || p->type == 63;
    bool depth = p->type == 8 || p->type == 63;
    uint32_t h = 9, w = 13;

    for (uint32_t gaps = 0; gaps < 2; gaps++) {
        const uint32_t words[] = {p->kx, p->ky, p->sx, p->sy,
                                  p->px, p->py, p->dx, p->dy};

        unit_start(&r, p->type, gaps);
        for (uint32_t i = 0; i < (grows ? 6u : 8u); i++)
            unit_word(&r, words[i]);
        add_planes(true, p->order, 2, p->ic, h, w);
        add_planes(false, p->order, 2, p->oc,
                   size_after(h, p->ky, p->sy, p->py, p->dy, grows),
                   size_after(w, p->kx, p->sx, p->px, p->dx, grows));
        r.gaps = false;
        unit_constant(&r, BLOB_F16, 0x321, p->kx * p->ky, depth ? 1 : p->ic,
                      p->oc);
        if (p->type == 49 || p->type == 22)
            unit_out(&r, BLOB_U8, 3, 64); /* scratch memory */
        unit_fill(&r, 0, -1, 1);
        unit_fill(&r, 2, -1, 1);
        unit_run(&r);
        EACH(n, c, y, x, 1)
        unit_near(*unit_at(&r, 1, n, c, y, x),
                  grows ? spread(p, n, c, y, x) : convolved(p, n, c, y, x),
                  2e-5);
        unit_end(&r);
    }
}
END_TEST

START_TEST(fully_connected)
{
    for (uint32_t k = 0; k < 3; k++) {
        uint32_t h = k == 2 ? 1 : 3, w = k == 2 ? 1 : 4, c = 5, o = 6;

        unit_start(&r, 4, k == 1);
        if (k == 2) {
            unit_in(&r, BLOB_F16, 0x43, c, 2);
            unit_out(&r, BLOB_F16, 0x43, o, 2);
        } else {
            add_planes(true, 0x4213, 2, c, h, w);
            unit_out(&r, BLOB_F16, 0x43, o, 2);
        }
        r.gaps = false;
        unit_constant(&r, BLOB_F16, 0x321, h * w, c, o);
        unit_fill(&r, 0, -1, 1);
        unit_fill(&r, 2, -1, 1);
        unit_run(&r);
        for (uint32_t n = 0; n < 2; n++)
            for (uint32_t u = 0; u < o; u++) {
                double sum = 0;

                for (uint32_t i = 0; i < c; i++)
                    for (uint32_t p = 0; p < h * w; p++)
                        sum += *unit_at(&r, 0, n, i, p / w, p % w) *
                               r.v[2][(p * c + i) * o + u];
                unit_near(r.v[1][n * o + u], sum, 1e-5);
            }
        unit_end(&r);
    }
}
END_TEST

/* --- three dims ---------------------------------------------------------- */

enum { W = 6, H = 5, D = 4 };

static double solid(uint32_t c, int d, int h, int w)
{
    if (d < 0 || h < 0 || w < 0 || d >= D || h >= H || w >= W)
        return 0;
    return r.v[0][((c * D + (uint32_t)d) * H + (uint32_t)h) * W + (uint32_t)w];
}

static void put_vector(uint32_t x, uint32_t y, uint32_t z)
{
    unit_word(&r, 3);
    unit_word(&r, x);
    unit_word(&r, y);
    unit_word(&r, z);
}

/* Kernel 3, 2, 3, strides 1, 2, 1, pads 1, 0, 1; two groups. */
START_TEST(solid_convolution)
{
    for (uint32_t absent = 0; absent < 2; absent++) {
        unit_start(&r, 116, absent);
        put_vector(1, 0, 1);
        put_vector(1, 0, 1);
        put_vector(1, 2, 1);
        put_vector(1, 1, 1);
        unit_word(&r, 2);
        unit_in(&r, BLOB_F16, 0x43521, W, H, D, 4, 1);
        unit_out(&r, BLOB_F16, 0x43521, W, 2, D, 6, 1);
        r.gaps = false;
        unit_constant(&r, BLOB_F16, 0x43521, 3, 2, 3, 2, 6);
        if (absent)
            unit_absent(&r);
        else
            unit_constant(&r, BLOB_F16, 3, 6);
        unit_fill(&r, 0, -1, 1);
        unit_fill(&r, 2, -1, 1);
        if (!absent)
            unit_fill(&r, 3, -1, 1);
        unit_run(&r);
        for (uint32_t k = 0; k < r.n[1]; k++) {
            uint32_t w = k % W, h = k / W % 2, d = k / W / 2 % D;
            uint32_t o = k / W / 2 / D;
            double sum = absent ? 0 : r.v[3][o];

            for (uint32_t i = 0; i < 2; i++)
                for (uint32_t q = 0; q < 18; q++)
                    sum +=
                        solid(o / 3 * 2 + i, (int)(d + q / 6) - 1,
                              (int)(2 * h + q / 3 % 2), (int)(w + q % 3) - 1) *
                        r.v[2][(o * 2 + i) * 18 + q];
            unit_near(r.v[1][k], sum, 1e-5);
        }
        unit_end(&r);
    }
}
END_TEST

START_TEST(solid_pooling)
{
    for (uint32_t k = 0; k < 3; k++) {
        unit_start(&r, 118, k == 1);
        put_vector(3, 2, 2);
        put_vector(1, 0, 0);
        put_vector(1, 1, 0);
        put_vector(1, 2, 2);
        unit_word(&r, 0);
        unit_word(&r, k ? 2 : 1);
        unit_word(&r, 3);
        unit_word(&r, k == 2);
        unit_in(&r, BLOB_F16, 0x43521, W, H, D, 3, 1);
        unit_out(&r, BLOB_F16, 0x43521, W, 3, 2, 3, 1);
        unit_fill(&r, 0, -1, 1);
        unit_run(&r);
        for (uint32_t i = 0; i < r.n[1]; i++) {
            uint32_t w = i % W, h = i / W % 3, d = i / W / 3 % 2;
            uint32_t c = i / W / 6, seen = 0;
            double sum = 0, most = -9;

            for (uint32_t q = 0; q < 12; q++) {
                int z = (int)(2 * d + q / 6), y = (int)(2 * h + q / 3 % 2);
                int x = (int)(w + q % 3) - 1;

                if (x < 0 || x >= W || y >= H)
                    continue;
                seen++;
                sum += solid(c, z, y, x);
                most = fmax(most, solid(c, z, y, x));
            }
            unit_near(r.v[1][i], k ? sum / (k == 2 ? seen : 12) : most, 4e-6);
        }
        unit_end(&r);
    }
}
END_TEST

/* --- frames -------------------------------------------------------------- */

static int mirrored(int i, int n, uint32_t mode)
{
    if (mode == 1)
        return i < 0 ? 0 : i >= n ? n - 1 : i;
    while (i < 0 || i >= n)
        i = i < 0 ? -i - (mode == 3) : 2 * n - 1 - i - (mode == 2);
    return i;
}

START_TEST(frames)
{
    for (uint32_t k = 0; k < 8; k++) {
        uint32_t mode = k / 2;

        unit_start(&r, 71, k & 1);
        unit_word(&r, 2);
        unit_word(&r, 3);
        unit_word(&r, 0);
        unit_word(&r, 1);
        unit_word(&r, 1);
        unit_word(&r, 0);
        unit_word(&r, 0);
        unit_word(&r, 0);
        unit_float(&r, -1.5);
        unit_word(&r, mode);
        unit_in(&r, BLOB_F16, 0x4321, 6, 5, 4, 2);
        unit_out(&r, BLOB_F16, 0x4321, 11, 6, 5, 2);
        unit_fill(&r, 0, -4, 4);
        unit_run(&r);
        EACH(n, c, h, w, 1)
        {
            int y = (int)h, x = (int)w - 2, z = (int)c - 1;
            double want = -1.5;

            if (mode || (y < 5 && x >= 0 && x < 6 && z >= 0))
                want = *unit_at(&r, 0, n, (uint32_t)mirrored(z, 4, mode),
                                (uint32_t)mirrored(y, 5, mode),
                                (uint32_t)mirrored(x, 6, mode));
            ck_assert_double_eq(*unit_at(&r, 1, n, c, h, w), want);
        }
        unit_end(&r);
    }
}
END_TEST

START_TEST(zeros_between)
{
    unit_start(&r, 73, true);
    unit_word(&r, 2);
    unit_word(&r, 3);
    unit_word(&r, 1);
    unit_word(&r, 1);
    unit_word(&r, 2);
    unit_word(&r, 0);
    unit_word(&r, 1);
    unit_word(&r, 0);
    unit_word(&r, 0);
    unit_in(&r, BLOB_F16, 0x4321, 4, 3, 2, 1);
    unit_out(&r, BLOB_F16, 0x4321, 10, 8, 2, 1);
    unit_fill(&r, 0, 1, 4);
    unit_run(&r);
    EACH(n, c, h, w, 1)
    {
        bool of_input = w % 2 == 1 && w < 8 && h % 3 == 0 && h < 7;

        ck_assert_double_eq(*unit_at(&r, 1, n, c, h, w),
                            of_input ? *unit_at(&r, 0, n, c, h / 3, w / 2) : 0);
    }
    unit_end(&r);
}
END_TEST

/* --- another size -------------------------------------------------------- */

static double place_of(uint32_t coord, double o, double in, double out)
{
    double scale = in / out;

    switch (coord) {
    case 0:
        return (o + 0.5) * scale - 0.5;
    case 1:
        return out > 1 ? (o + 0.5) * scale - 0.5 : 0;
    case 2:
        return o * scale;
    case 3:
        return (o + 0.5) * scale;
    default:
        return out > 1 ? o * (in - 1) / (out - 1) : 0;
    }
}

static double between(uint32_t n, uint32_t c, double y, double x)
{
    uint32_t h = unit_size(&r, 0, 2), w = unit_size(&r, 0, 1);
    double sum = 0;

    y = fmin(fmax(y, 0), h - 1);
    x = fmin(fmax(x, 0), w - 1);
    for (uint32_t b = 0; b < h; b++)
        for (uint32_t a = 0; a < w; a++)
            sum += *unit_at(&r, 0, n, c, b, a) * fmax(0, 1 - fabs(b - y)) *
                   fmax(0, 1 - fabs(a - x));
    return sum;
}

static const uint32_t sizes[][4] = {
    {5, 7, 10, 14}, {5, 7, 13, 9}, {8, 6, 4, 3}, {4, 4, 1, 1}, {1, 1, 3, 2}};

START_TEST(linear)
{
    const uint32_t *z = sizes[_i];

    for (uint32_t k = 0; k < 12; k++) {
        uint32_t coord = k < 10 ? k / 2 : 2, mode = k & 1 ? 3 : 1;
        bool corners = k >= 10;

        unit_start(&r, 67, k & 1);
        unit_word(&r, corners);
        unit_word(&r, mode);
        unit_word(&r, coord);
        add_planes(true, orders[k % 3], 2, 3, z[0], z[1]);
        add_planes(false, orders[k % 3], 2, 3, z[2], z[3]);
        unit_fill(&r, 0, -4, 4);
        unit_run(&r);
        coord = corners ? 4 : coord;
        EACH(n, c, h, w, 1)
        unit_near(*unit_at(&r, 1, n, c, h, w),
                  between(n, c, place_of(coord, h, z[0], z[2]),
                          place_of(coord, w, z[1], z[3])),
                  4e-6);
        unit_end(&r);
    }
}
END_TEST

static uint32_t rounded(uint32_t mode, double at, uint32_t in, uint32_t out)
{
    double v = floor(at);

    if (mode == 0)
        v = at - v > 0.5 ? v + 1 : v;
    else if (mode == 1)
        v = at - v >= 0.5 ? v + 1 : v;
    else if (mode == 3 || (mode == 4 && out < in))
        v = ceil(at);
    return v < 0 ? 0 : v > in - 1 ? in - 1 : (uint32_t)v;
}

START_TEST(nearest)
{
    const uint32_t *z = sizes[_i];

    for (uint32_t k = 0; k < 25; k++) {
        uint32_t coord = k / 5, mode = k % 5;

        unit_start(&r, 72, k & 1);
        unit_word(&r, 0);
        unit_float(&r, -1);
        unit_word(&r, 0);
        unit_word(&r, coord);
        unit_word(&r, mode);
        add_planes(true, orders[k % 3], 1, 3, z[0], z[1]);
        add_planes(false, orders[k % 3], 1, 3, z[2], z[3]);
        unit_fill(&r, 0, -4, 4);
        unit_run(&r);
        EACH(n, c, h, w, 1)
        {
            /* Positions with thirds and the like are no exact doubles. */
            double y = place_of(coord, h, z[0], z[2]) + 1e-12;
            double x = place_of(coord, w, z[1], z[3]) + 1e-12;

            y = mode == 0 || mode >= 3 ? y - 2e-12 : y;
            x = mode == 0 || mode >= 3 ? x - 2e-12 : x;
            if (mode == 4 && z[2] >= z[0])
                y += 2e-12;
            if (mode == 4 && z[3] >= z[1])
                x += 2e-12;
            ck_assert_double_eq(*unit_at(&r, 1, n, c, h, w),
                                *unit_at(&r, 0, n, c,
                                         rounded(mode, y, z[0], z[2]),
                                         rounded(mode, x, z[1], z[3])));
        }
        unit_end(&r);
    }
}
END_TEST

/* --- records that are wrong ---------------------------------------------- */

static void start_pool(void)
{
    unit_start(&r, 1, false);
    for (uint32_t i = 0; i < 4; i++)
        unit_word(&r, 2);
    for (uint32_t i = 0; i < 3; i++)
        unit_word(&r, 0);
    add_planes(true, 0x4321, 1, 3, 4, 4);
    add_planes(false, 0x4321, 1, 3, 2, 2);
}

static void start_conv(uint32_t type)
{
    unit_start(&r, type, false);
    for (uint32_t i = 0; i < 8; i++)
        unit_word(&r, i < 2 ? 3 : i == 4 || i == 5 ? 0 : 1);
    add_planes(true, 0x4321, 1, 3, 6, 6);
    add_planes(false, 0x4321, 1, 3, 4, 4);
    unit_constant(&r, BLOB_F16, 0x321, 9, type == 8 ? 1 : 3, 3);
}

START_TEST(wrong_windows)
{
    start_pool();
    r.words[2] = 0;
    unit_fails(&r, VPU_ERR_PARSE, "the stride across is 0");
    r.words[2] = 2;
    r.words[0] = 70000;
    unit_fails(&r, VPU_ERR_PARSE, "the kernel's width is 70000");
    r.words[0] = 2;
    r.buffers[1].desc.dims[2] = 2;
    unit_fails(&r, VPU_ERR_PARSE, "size 2 in dim C, expected 3");
    unit_end(&r);

    start_conv(0);
    r.buffers[2].desc.dims[0] = 8;
    unit_fails(&r, VPU_ERR_PARSE, "72 elements, expected 81");
    r.buffers[2].desc.dims[0] = 9;
    r.words[7] = 0;
    unit_fails(&r, VPU_ERR_PARSE, "the dilation down is 0");
    unit_end(&r);

    start_conv(8);
    r.buffers[1].desc.dims[2] = 2;
    unit_fails(&r, VPU_ERR_PARSE, "in dim C, expected 3");
    unit_end(&r);
}
END_TEST

START_TEST(wrong_sizes)
{
    unit_start(&r, 71, false);
    for (uint32_t i = 0; i < 10; i++)
        unit_word(&r, i == 0);
    unit_in(&r, BLOB_F16, 0x43, 3, 2);
    unit_out(&r, BLOB_F16, 0x43, 3, 2);
    unit_fails(&r, VPU_ERR_PARSE, "dim 0 is 3 and 1 and 0 for the output's 3");
    r.words[0] = 0;
    r.words[5] = 1;
    unit_fails(&r, VPU_ERR_PARSE, "pad of dim 2, expected 2 dims");
    r.words[5] = 0;
    r.words[9] = 4;
    unit_fails(&r, VPU_ERR_PARSE, "the mode is 4");
    unit_end(&r);

    unit_start(&r, 67, false);
    unit_word(&r, 0);
    unit_word(&r, 2);
    unit_word(&r, 0);
    add_planes(true, 0x4321, 1, 3, 4, 4);
    add_planes(false, 0x4321, 1, 3, 2, 2);
    unit_fails(&r, VPU_ERR_UNSUPPORTED, "mode 2");
    unit_end(&r);

    unit_start(&r, 72, false);
    unit_word(&r, 1);
    unit_float(&r, -1);
    for (uint32_t i = 0; i < 3; i++)
        unit_word(&r, 0);
    add_planes(true, 0x4321, 1, 3, 4, 4);
    add_planes(false, 0x4321, 1, 3, 2, 2);
    unit_fails(&r, VPU_ERR_UNSUPPORTED, "antialias");
    unit_end(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("window");
    TCase *t = tcase_create("window");
    SRunner *runner;
    int bad;

    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, pooling, 0, COUNT(pools));
    tcase_add_loop_test(t, convolutions, 0, COUNT(convs));
    tcase_add_test(t, fully_connected);
    tcase_add_test(t, solid_convolution);
    tcase_add_test(t, solid_pooling);
    tcase_add_test(t, frames);
    tcase_add_test(t, zeros_between);
    tcase_add_loop_test(t, linear, 0, COUNT(sizes));
    tcase_add_loop_test(t, nearest, 0, COUNT(sizes));
    tcase_add_test(t, wrong_windows);
    tcase_add_test(t, wrong_sizes);
    suite_add_tcase(s, t);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    bad = srunner_ntests_failed(runner);
    srunner_free(runner);
    return bad != 0;
}
