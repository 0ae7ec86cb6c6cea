/* Heads of networks that find things: cells, boxes, regions and labels, against
 * plain loops and small examples worked out by hand. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "tests/runtime/native/stage_rig.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static stage_rig r;

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* Values of a tensor, as many as there are. */
static void set_all(uint32_t t, const double *v)
{
    for (uint64_t i = 0; i < r.n[t]; i++)
        unit_set(&r, t, i, v[i]);
}

static void check_all(uint32_t t, const double *v, double more)
{
    for (uint64_t i = 0; i < r.n[t]; i++)
        unit_near(r.v[t][i], v[i], more);
}

/* --- YOLO ---------------------------------------------------------------- */

enum { CLASSES = 3, COORDS = 4, ANCHORS = 2, CELLS = 12 };

START_TEST(cells)
{
    enum { EACH = COORDS + 1 + CLASSES };

    for (uint32_t k = 0; k < 4; k++) {
        bool by_softmax = k & 1;

        unit_start(&r, 29, k & 2);
        unit_word(&r, CLASSES);
        unit_word(&r, COORDS);
        unit_word(&r, by_softmax ? ANCHORS : 9);
        unit_word(&r, by_softmax ? 0 : ANCHORS);
        unit_word(&r, by_softmax);
        unit_in(&r, BLOB_F16, 0x4321, 4, 3, ANCHORS * EACH, 1);
        if (by_softmax)
            unit_out(&r, BLOB_F16, 0x43, ANCHORS * EACH * CELLS, 1);
        else
            unit_out(&r, BLOB_F16, 0x4321, 4, 3, ANCHORS * EACH, 1);
        unit_fill(&r, 0, -4, 4);
        unit_run(&r);
        for (uint32_t i = 0; i < r.n[1]; i++) {
            uint32_t e = i / CELLS % EACH, cell = i % CELLS;
            uint32_t first = i / CELLS / EACH * EACH + COORDS + 1;
            double want = r.v[0][i], all = 0;

            for (uint32_t c = 0; c < CLASSES; c++)
                all += exp(r.v[0][(first + c) * CELLS + cell]);
            if (e < 2 || e == COORDS || (e > COORDS && !by_softmax))
                want = sigmoid(want);
            else if (e > COORDS)
                want = exp(want) / all;
            unit_near(r.v[1][i], want, 1e-6);
        }
        unit_end(&r);
    }
}
END_TEST

/* From the other side: where an element of the large planes goes. */
START_TEST(reorganized)
{
    enum { S = 2, C = 8, H = 4, W = 6, C2 = C / S / S };

    unit_start(&r, 30, true);
    unit_word(&r, S);
    unit_in(&r, BLOB_F16, 0x321, W, H, C);
    unit_out(&r, BLOB_F16, 0x321, W / S, H / S, C * S * S);
    for (uint64_t i = 0; i < r.n[0]; i++)
        unit_set(&r, 0, i, (double)i);
    unit_run(&r);
    for (uint32_t i = 0; i < C * H * W; i++) {
        uint32_t x = i % (W * S), y = i / (W * S) % (H * S);
        uint32_t c = (y % S * S + x % S) * C2 + i / (W * S) / (H * S);

        ck_assert_double_eq(r.v[1][(c * H + y / S) * W + x / S], i);
    }
    unit_end(&r);
}
END_TEST

/* --- labels -------------------------------------------------------------- */

/* Probabilities for which those classes are the best, -1: all alike. */
static void set_best(uint32_t t, uint32_t step, uint32_t classes, int best)
{
    for (uint32_t c = 0; c < classes; c++)
        unit_set(&r, t, step * classes + c, (int)c == best ? 0.9 : 0.05);
}

START_TEST(labels)
{
    static const int best[] = {1, 1, 3, 1, 2, 2, 0};
    static const double want[2][7] = {{1, 1, 2, 0, -1, -1, -1},
                                      {1, 1, -1, -1, -1, -1, -1}};

    /* Two sequences; the second one ends behind the fourth step. */
    unit_start(&r, 43, true);
    unit_in(&r, BLOB_F16, 0x321, 4, 2, 7);
    unit_in(&r, BLOB_F16, 0x43, 2, 7);
    unit_out(&r, BLOB_F16, 0x4321, 1, 1, 7, 2);
    for (uint32_t t = 0; t < 7; t++)
        for (uint32_t n = 0; n < 2; n++) {
            set_best(0, t * 2 + n, 4, best[t]);
            unit_set(&r, 1, t * 2 + n, n == 0 || t < 4);
        }
    unit_run(&r);
    check_all(2, want[0], 0);
    unit_end(&r);
}
END_TEST

START_TEST(labels_with_lengths)
{
    static const int best[] = {1, 1, 3, 1, 2, 2, 0};
    static const double merged[2][7] = {{1, 3, 1, 2, 0, -1, -1},
                                        {1, 3, 1, -1, -1, -1, -1}};
    static const double all[2][7] = {{1, 1, 3, 1, 2, 2, 0},
                                     {1, 1, 3, 1, -1, -1, -1}};

    for (uint32_t merges = 0; merges < 2; merges++) {
        /* Class 2 stands for none in the first run. */
        unit_start(&r, 141, merges);
        unit_word(&r, merges);
        unit_word(&r, merges ? 9 : 4);
        unit_in(&r, BLOB_F16, 0x321, 4, 7, 2);
        unit_in(&r, BLOB_S32, 3, 2);
        unit_out(&r, BLOB_S32, 0x43, 7, 2);
        unit_out(&r, BLOB_S32, 3, 2);
        for (uint32_t i = 0; i < 14; i++)
            set_best(0, i, 4, best[i % 7]);
        unit_ints(&r, 1, 2, 99, 4);
        unit_run(&r);
        check_all(2, merges ? merged[0] : all[0], 0);
        ck_assert_double_eq(r.v[3][0], merges ? 5 : 7);
        ck_assert_double_eq(r.v[3][1], merges ? 3 : 4);
        unit_end(&r);
    }
}
END_TEST

/* --- boxes of an SSD network --------------------------------------------- */

enum { CORNER = 1, CENTER_SIZE, CORNER_SIZE };

typedef struct {
    uint32_t classes, shares, top_k, code, keep, in_target, priors, before,
        after, decreases, rows, arms;
    int background;
} ssd;

static const ssd plain = {.classes = 3,
                          .shares = 1,
                          .top_k = UINT32_MAX,
                          .code = CORNER,
                          .keep = 99,
                          .priors = 3,
                          .rows = 5};

/* Three priors; the third one lies upon the second one. */
static const double priors[] = {
    0.125, 0.125, 0.375, 0.375, 0.5, 0.5, 1,    1,    0.5, 0.5, 1,    0.9375,
    0.5,   0.5,   0.25,  0.25,  0.5, 0.5, 0.25, 0.25, 0.5, 0.5, 0.25, 0.25};

static void start_ssd(const ssd *p)
{
    unit_start(&r, 37, p->arms);
    unit_word(&r, p->classes);
    unit_word(&r, p->shares);
    unit_word(&r, p->background);
    unit_float(&r, 0.5);
    unit_word(&r, p->top_k);
    unit_word(&r, p->code);
    unit_word(&r, p->keep);
    unit_float(&r, 0.25);
    unit_word(&r, p->in_target);
    unit_word(&r, p->priors);
    unit_word(&r, p->before);
    unit_word(&r, p->after);
    unit_word(&r, p->decreases);
    unit_word(&r, 1);
    unit_word(&r, 1);
    unit_word(&r, 1);
    unit_word(&r, 1);
    unit_float(&r, 0.5);
    unit_word(&r, p->arms);
    unit_in(&r, BLOB_F16, 0x43, p->priors * 4 * (p->shares ? 1 : p->classes),
            1);
    unit_in(&r, BLOB_F16, 0x43, p->priors * p->classes, 1);
    unit_in(&r, BLOB_F16, 0x321, p->priors * 4, p->in_target ? 1 : 2, 1);
    if (p->arms) {
        unit_in(&r, BLOB_F16, 0x43, p->priors * 2, 1);
        unit_in(&r, BLOB_F16, 0x43, p->priors * 4, 1);
    }
    unit_out(&r, BLOB_F16, 0x4321, 7, p->rows, 1, 1);
    unit_out(&r, BLOB_U8, 3, 64);
    set_all(2, priors);
}

/* Scores of the three classes, prior by prior. */
static const double scores[] = {0.125, 0.75, 0.5,   0.5, 0.625,
                                0.375, 0.5,  0.875, 0.25};

static void run_ssd(const ssd *p, const double *want)
{
    set_all(1, scores);
    unit_run(&r);
    check_all(p->arms ? 5 : 3, want, 1e-4);
    unit_end(&r);
}

/* Rows are grouped by class; of the two that lie upon each other the better one
 * stays, and behind the last row stands a -1. */
START_TEST(detections)
{
    static const double want[] = {
        0,  1, 0.875, 0.5,   0.5,   1,     0.9375, /* third prior */
        0,  1, 0.75,  0.125, 0.125, 0.375, 0.375,  /* first */
        0,  2, 0.5,   0.125, 0.125, 0.375, 0.375,  /* first */
        0,  2, 0.375, 0.5,   0.5,   1,     1,      /* second */
        -1, 0, 0,     0,     0,     0,     0};

    start_ssd(&plain);
    run_ssd(&plain, want);
}
END_TEST

START_TEST(fewer_detections)
{
    static const double two[] = {0, 1,    0.875, 0.5,   0.5,   1,     0.9375, 0,
                                 1, 0.75, 0.125, 0.125, 0.375, 0.375, -1};
    static const double one[] = {0, 0, 0.875, 0.5, 0.5, 1, 0.9375, -1};
    static const double one_each[] = {0,     1,      0.875, 0.5,   0.5,
                                      1,     0.9375, 0,     2,     0.5,
                                      0.125, 0.125,  0.375, 0.375, -1};
    double want[35] = {0};
    ssd p = plain;

    memcpy(want, two, sizeof two);
    p.keep = 2;
    start_ssd(&p);
    run_ssd(&p, want);
    memcpy(want, one_each, sizeof one_each);
    p = plain;
    p.top_k = 1;
    start_ssd(&p);
    run_ssd(&p, want);
    /* With labels that are one less, of all classes together. */
    memset(want, 0, sizeof want);
    memcpy(want, one, sizeof one);
    p.decreases = 1;
    start_ssd(&p);
    run_ssd(&p, want);
    /* And each prior is of one class. */
    memset(want, 0, sizeof want);
    memcpy(want, two, sizeof two);
    want[1] = want[8] = 0;
    p.top_k = 99;
    start_ssd(&p);
    run_ssd(&p, want);
    /* As many as the memory has. */
    p = plain;
    p.rows = 2;
    start_ssd(&p);
    run_ssd(&p, two);
}
END_TEST

/* One class and no background; each code, clipped before, behind or not. */
START_TEST(codes)
{
    for (uint32_t k = 0; k < 18; k++) {
        ssd p = {.classes = 1,
                 .shares = k & 1,
                 .top_k = 9,
                 .code = 1 + k % 3,
                 .keep = 9,
                 .in_target = k / 3 % 2,
                 .priors = 1,
                 .before = k / 6 == 1,
                 .after = k / 6 == 2,
                 .rows = 1,
                 .background = -1};
        static const double moves[] = {-0.5, 0.25, 2.5, -0.375};
        double v = p.in_target ? 1 : 0.5, c = p.in_target ? 1 : 0.25;
        double w = 0.25, want[7] = {0, 0, 0.75};

        start_ssd(&p);
        /* Of one prior, variances follow at once. */
        set_all(2,
                (double[]){0.125, 0.125, 0.375, 0.375, 0.5, 0.5, 0.25, 0.25});
        set_all(0, moves);
        unit_set(&r, 1, 0, 0.75);
        for (uint32_t i = 0; i < 4; i++) {
            double by = i < 2 ? v : c, at = i < 2 ? 0.125 : 0.375;

            want[3 + i] = at + by * moves[i] * (p.code == CORNER ? 1 : w);
        }
        if (p.code == CENTER_SIZE)
            for (uint32_t i = 0; i < 2; i++) {
                double size = exp(c * moves[2 + i]) * w;
                double middle = v * moves[i] * w + 0.25;

                want[3 + i] = middle - size / 2;
                want[5 + i] = middle + size / 2;
            }
        for (uint32_t i = 3; i < 7 && (p.before || p.after); i++)
            want[i] = fmin(1, fmax(0, want[i]));
        unit_run(&r);
        check_all(3, want, 1e-4);
        unit_end(&r);
    }
}
END_TEST

/* Locations of a class of its own; priors in pixels, with a number before. */
START_TEST(other_forms)
{
    static const double rows[] = {0, 1, 0.75, 0.25,  0.125, 0.5,   0.375,
                                  0, 2, 0.5,  0.125, 0.25,  0.375, 0.5};
    ssd p = plain;

    p.priors = 1;
    p.shares = 0;
    p.rows = 2;
    start_ssd(&p);
    r.words[13] = r.words[14] = 64;
    r.words[15] = 0;
    r.buffers[2].desc.dims[0] = 5; /* room for it is behind */
    r.buffers[2].desc.strides[1] = 10;
    r.buffers[2].desc.strides[2] = 20;
    r.n[2] = 10;
    r.v[2] = (double[]){7, 8, 8, 24, 24, 0.5, 0.5, 0.5, 0.5, 0};
    set_all(0, (double[]){9, 9, 9, 9, 0.25, 0, 0.25, 0, 0, 0.25, 0, 0.25});
    set_all(1, (double[]){0.125, 0.75, 0.5});
    unit_run(&r);
    check_all(3, rows, 1e-4);
    unit_end(&r);
}
END_TEST

/* Boxes that a network before has refined, and doubts. */
START_TEST(refined_before)
{
    static const double want[] = {0,      1,      0.875, 0.5625, 0.5,    1.0625,
                                  0.9375, 0,      1,     0.75,   0.1875, 0.125,
                                  0.4375, 0.375,  0,     2,      0.5,    0.1875,
                                  0.125,  0.4375, 0.375, -1};
    double all[35] = {0};
    ssd p = plain;

    memcpy(all, want, sizeof want);
    p.arms = 1;
    start_ssd(&p);
    /* The second prior is doubted. */
    set_all(3, (double[]){0.25, 0.75, 0.75, 0.25, 0.25, 0.75});
    for (uint32_t i = 0; i < 12; i += 2)
        unit_set(&r, 4, i, i % 4 ? 0.25 : 0.125);
    run_ssd(&p, all);
}
END_TEST

START_TEST(wrong_detections)
{
    ssd p = plain;

    start_ssd(&p);
    r.words[5] = 4;
    unit_fails(&r, VPU_ERR_PARSE, "code_type is 4");
    r.words[5] = 1;
    r.words[9] = 4;
    unit_fails(&r, VPU_ERR_PARSE, "12 elements, expected 16");
    r.words[9] = 3;
    r.words[18] = 1;
    unit_fails(&r, VPU_ERR_PARSE, "5 buffers, expected 7");
    unit_end(&r);
}
END_TEST

/* --- regions, pooled ----------------------------------------------------- */

enum { SIDE_W = 9, SIDE_H = 7 };

static double plane(uint32_t n, uint32_t c, int y, int x)
{
    return *unit_at(&r, 0, n, c, (uint32_t)y, (uint32_t)x);
}

static void start_regions(uint32_t type, uint32_t channels, uint32_t w,
                          uint32_t h, uint32_t out_channels, uint32_t n,
                          bool gaps)
{
    (void)type;
    unit_in(&r, BLOB_F16, 0x4321, SIDE_W, SIDE_H, channels, 2);
    unit_out(&r, BLOB_F16, 0x4321, w, h, out_channels, n);
    r.gaps = gaps;
    unit_in(&r, BLOB_F16, 0x43, 5, n);
    unit_fill(&r, 0, -4, 4);
}

/* Regions in whole elements; one on the border, one larger than the plane, one
 * of no image. */
static const double regions[][5] = {{0, 1, 2, 6, 5},  {1, 0, 0, 8, 6},
                                    {1, 3, 3, 3, 3},  {0, 7, 5, 20, 30},
                                    {2, 1, 1, 5, 5},  {0, -4, -4, 4, 4},
                                    {-1, 0, 0, 3, 3}, {1, 60000, 0, 60001, 1}};

START_TEST(pooled_regions)
{
    for (uint32_t gaps = 0; gaps < 2; gaps++) {
        unit_start(&r, 65, gaps);
        unit_word(&r, 3);
        unit_word(&r, 2);
        unit_float(&r, 0.5);
        unit_word(&r, 0);
        start_regions(65, 3, 3, 2, 3, COUNT(regions), gaps);
        for (uint32_t i = 0; i < r.n[2]; i++)
            unit_set(&r, 2, i, regions[i / 5][i % 5] * (i % 5 ? 2 : 1));
        unit_run(&r);
        for (uint64_t i = 0; i < r.n[1]; i++) {
            uint32_t x = i % 3, y = i / 3 % 2, c = i / 6 % 3;
            const double *g = regions[i / 18];
            double w = fmax(1, g[3] - g[1] + 1), h = fmax(1, g[4] - g[2] + 1);
            double most = -INFINITY;

            for (int b = 0; b < SIDE_H; b++)
                for (int a = 0; a < SIDE_W; a++)
                    if (g[0] >= 0 && g[0] < 2 && a >= floor(x * w / 3) + g[1] &&
                        a < ceil((x + 1) * w / 3) + g[1] &&
                        b >= floor(y * h / 2) + g[2] &&
                        b < ceil((y + 1) * h / 2) + g[2])
                        most = fmax(most, plane((uint32_t)g[0], c, b, a));
            unit_near(r.v[1][i], isinf(most) ? 0 : most, 0);
        }
        unit_end(&r);
    }
}
END_TEST

/* Tents around each element; positions are within. */
static double between(uint32_t n, uint32_t c, double y, double x)
{
    double sum = 0;

    for (int b = 0; b < SIDE_H; b++)
        for (int a = 0; a < SIDE_W; a++)
            sum += plane(n, c, b, a) * fmax(0, 1 - fabs(b - y)) *
                   fmax(0, 1 - fabs(a - x));
    return sum;
}

START_TEST(pooled_linear)
{
    static const double parts[][5] = {{0, 0, 0, 1, 1},
                                      {1, 0.25, 0.5, 0.75, 0.625},
                                      {0, 0.5, 0.5, 0.5, 0.5},
                                      {1, 0.5, 0.5, 1.5, 0.75}};

    for (uint32_t k = 0; k < 4; k++) {
        uint32_t w = k & 1 ? 1 : 4, h = k & 2 ? 1 : 3;

        unit_start(&r, 65, false);
        unit_word(&r, w);
        unit_word(&r, h);
        unit_float(&r, 1);
        unit_word(&r, 1);
        start_regions(65, 2, w, h, 2, COUNT(parts), false);
        set_all(2, parts[0]);
        unit_run(&r);
        for (uint64_t i = 0; i < r.n[1]; i++) {
            uint32_t ox = i % w, oy = i / w % h, c = i / w / h % 2;
            const double *g = parts[i / w / h / 2];
            double x =
                w > 1 ? g[1] + (g[3] - g[1]) * ox / (w - 1) : (g[1] + g[3]) / 2;
            double y =
                h > 1 ? g[2] + (g[4] - g[2]) * oy / (h - 1) : (g[2] + g[4]) / 2;
            bool there = x <= 1 && y <= 1;

            unit_near(r.v[1][i],
                      there ? between((uint32_t)g[0], c, y * (SIDE_H - 1),
                                      x * (SIDE_W - 1))
                            : 0,
                      4e-6);
        }
        unit_end(&r);
    }
}
END_TEST

START_TEST(regions_with_channels)
{
    enum { G = 2, OUT = 3 };

    unit_start(&r, 66, true);
    unit_word(&r, G);
    unit_word(&r, OUT);
    unit_float(&r, 0.5);
    start_regions(66, OUT * G * G, G, G, OUT, COUNT(regions), true);
    for (uint32_t i = 0; i < r.n[2]; i++)
        unit_set(&r, 2, i, regions[i / 5][i % 5] * (i % 5 ? 2 : 1));
    unit_run(&r);
    for (uint64_t i = 0; i < r.n[1]; i++) {
        uint32_t x = i % G, y = i / G % G, c = i / G / G % OUT;
        const double *g = regions[i / G / G / OUT];
        double w = fmax(g[3] + 0.5 - g[1], 0.1) / G;
        double h = fmax(g[4] + 0.5 - g[2], 0.1) / G;
        double sum = 0, n = 0;

        for (int b = 0; b < SIDE_H; b++)
            for (int a = 0; a < SIDE_W; a++)
                if (g[0] >= 0 && g[0] < 2 && a >= floor(g[1] + x * w) &&
                    a < ceil(g[1] + (x + 1) * w) && b >= floor(g[2] + y * h) &&
                    b < ceil(g[2] + (y + 1) * h)) {
                    sum += plane((uint32_t)g[0], (c * G + y) * G + x, b, a);
                    n++;
                }
        unit_near(r.v[1][i], n ? sum / n : 0, 4e-6);
    }
    unit_end(&r);
}
END_TEST

/* Corners of regions, in pixels of a plane that is smaller by two. */
static const double aligned[][4] = {
    {2, 3, 12, 11}, {0, 0, 4, 4}, {6, 2, 6, 2}, {4, 1, 17, 13}};

START_TEST(aligned_regions)
{
    for (uint32_t k = 0; k < 6; k++) {
        uint32_t ratio = k % 3;
        bool largest = k > 2;

        unit_start(&r, 123, k & 1);
        unit_word(&r, 3);
        unit_word(&r, 2);
        unit_word(&r, ratio);
        unit_float(&r, 0.5);
        unit_word(&r, largest);
        unit_word(&r, 2);
        unit_in(&r, BLOB_F16, 0x4321, SIDE_W, SIDE_H, 2, 2);
        unit_in(&r, BLOB_F16, 0x43, 4, 4);
        unit_in(&r, BLOB_S32, 3, 4);
        unit_out(&r, BLOB_F16, 0x4321, 3, 2, 2, 4);
        unit_fill(&r, 0, -4, 4);
        set_all(1, aligned[0]);
        unit_ints(&r, 2, 4, 0, 1, 1, 7);
        unit_run(&r);
        for (uint64_t i = 0; i < r.n[3]; i++) {
            uint32_t g = (uint32_t)(i / 12), n = (uint32_t)r.v[2][g];
            double w = fmax(1, (aligned[g][2] - aligned[g][0]) / 2) / 3;
            double h = fmax(1, (aligned[g][3] - aligned[g][1]) / 2) / 2;
            double nx = ratio ? ratio : ceil(w), ny = ratio ? ratio : ceil(h);
            double sum = 0, most = 0;

            for (uint32_t q = 0; q < nx * ny && n < 2; q++) {
                double x = aligned[g][0] / 2 + w * (i % 3) +
                           (q % (uint32_t)nx + 0.5) * w / nx;
                double y = aligned[g][1] / 2 + h * (i / 3 % 2) +
                           (q / (uint32_t)nx + 0.5) * h / ny;

                x = fmin(x, SIDE_W - 1);
                y = fmin(y, SIDE_H - 1);
                sum += between(n, i / 6 % 2, y, x);
                for (int b = 0; b < SIDE_H; b++)
                    for (int a = 0; a < SIDE_W; a++)
                        most = fmax(most, plane(n, i / 6 % 2, b, a) *
                                              fmax(0, 1 - fabs(b - y)) *
                                              fmax(0, 1 - fabs(a - x)));
            }
            unit_near(r.v[3][i], largest ? most : sum / (nx * ny), 1e-5);
        }
        unit_end(&r);
    }
}
END_TEST

START_TEST(repacked_regions)
{
    unit_start(&r, 123, false);
    unit_word(&r, 3);
    unit_word(&r, 2);
    unit_word(&r, 2);
    unit_float(&r, 0.5);
    unit_word(&r, 0);
    unit_word(&r, 1);
    unit_in(&r, BLOB_F16, 0x4321, SIDE_W, SIDE_H, 2, 2);
    unit_in(&r, BLOB_F16, 0x43, 4, 4);
    unit_in(&r, BLOB_S32, 3, 4);
    unit_out(&r, BLOB_F16, 0x4321, 3, 2, 2, 4);
    unit_fails(&r, VPU_ERR_UNSUPPORTED, "repacked");
    unit_end(&r);
}
END_TEST

/* Planes with a slope of their own show which one a region was taken from, and
 * where. */
START_TEST(pyramid)
{
    static const double rois[][4] = {{0, 0, 224, 224}, {0, 0, 223, 223},
                                     {0, 0, 111, 111}, {0, 0, 500, 500},
                                     {0, 0, 8, 8},     {5, 5, 5, 9}};
    static const double want[] = {3, 2, 1, 3, 1, 0};

    for (uint32_t both = 0; both < 2; both++) {
        unit_start(&r, 108, both);
        unit_word(&r, 2);
        unit_word(&r, 2);
        unit_word(&r, 2);
        unit_word(&r, 3);
        unit_word(&r, both);
        for (uint32_t i = 0; i < 16; i++)
            unit_word(&r, i < 3 ? 4 << i : 1);
        unit_in(&r, BLOB_F16, 0x43, 4, 6);
        for (uint32_t l = 0; l < 3; l++)
            unit_in(&r, BLOB_F16, 0x4321, 256 >> l, 256 >> l, 1, 1);
        unit_out(&r, BLOB_F16, 0x4321, 2, 2, 1, 6);
        if (both)
            unit_out(&r, BLOB_F16, 0x43, 4, 6);
        unit_out(&r, BLOB_U8, 3, 64);
        set_all(0, rois[0]);
        for (uint32_t l = 0; l < 3; l++)
            for (uint64_t i = 0; i < r.n[1 + l]; i++)
                unit_set(&r, 1 + l, i, l + 1 + (double)(i % (256 >> l)) / 64);
        unit_run(&r);
        for (uint64_t i = 0; i < r.n[4]; i++) {
            const double *g = rois[i / 4];
            double by = ldexp(0.5, -(int)want[i / 4]);
            double middle = g[0] + (g[2] - g[0]) * (i % 2 ? 0.75 : 0.25);

            unit_near(r.v[4][i],
                      want[i / 4] > 0 ? want[i / 4] + middle * by / 64 : 0,
                      1e-3);
        }
        if (both)
            check_all(5, rois[0], 0);
        unit_end(&r);
    }
}
END_TEST

/* --- regions, proposed --------------------------------------------------- */

static void start_proposal(uint32_t flags, uint32_t rows)
{
    unit_start(&r, 64, flags & 1);
    unit_word(&r, 8);  /* stride */
    unit_word(&r, 16); /* base */
    unit_word(&r, 4);  /* least size */
    unit_word(&r, 99);
    unit_word(&r, rows);
    unit_float(&r, 0.5);
    unit_float(&r, 0.0625);
    unit_float(&r, 1);
    unit_float(&r, 1);
    unit_float(&r, flags ? 0 : 1); /* offset */
    unit_word(&r, 0);
    unit_word(&r, flags & 1); /* clip before */
    unit_word(&r, 0);
    unit_word(&r, flags & 2); /* parts of the image */
    unit_word(&r, flags & 4); /* anchors around 0 */
    unit_word(&r, 0);
    unit_word(&r, flags & 8); /* x and y swapped */
    unit_word(&r, 1);
    unit_float(&r, 2);
    unit_word(&r, 1);
    unit_float(&r, 1);
    unit_in(&r, BLOB_F16, 0x4321, 3, 2, 2, 1);
    unit_out(&r, BLOB_F16, 0x43, 5, rows);
    unit_out(&r, BLOB_F16, 3, rows);
    unit_in(&r, BLOB_F16, 0x4321, 3, 2, 4, 1);
    unit_in(&r, BLOB_F16, 0x43, 3, 1);
    unit_out(&r, BLOB_U8, 3, 64);
    set_all(4, (double[]){64, 128, 1});
}

/* An anchor of 32 by 32 around 8, 8, on a grid of 3 by 2, steps of 8; the cells
 * 0 and 5 are good. */
START_TEST(proposals)
{
    static const double good[] = {0, 0, 0, 0, 0, 0, 0.75, 0, 0, 0, 0, 0.875};

    for (uint32_t flags = 0; flags < 16; flags++) {
        double from = flags & 4 ? -16 : -8, to = from + 32;
        double x = flags & 8 ? 8 : 16, y = flags & 8 ? 16 : 8;
        double by_x = flags & 2 ? 128 : 1, by_y = flags & 2 ? 64 : 1;
        double want[15] = {0,    from + x, from + y, to + x, to + y, 0,
                           from, from,     to,       to,     -1};

        if (!flags) /* corners are elements: 31 from the first to the last */
            for (uint32_t i = 0; i < 10; i++)
                want[i] += i % 5 == 0 ? 0 : i % 5 < 3 ? 0 : -1;
        for (uint32_t i = 0; i < 10; i++) {
            if (i % 5 && flags & 1)
                want[i] = fmin(fmax(want[i], 0), i % 5 % 2 ? 128 : 64);
            if (i % 5)
                want[i] /= i % 5 % 2 ? by_x : by_y;
        }
        start_proposal(flags, 3);
        set_all(0, good);
        unit_run(&r);
        if (!flags) {
            /* The middle of the base is 7.5; halves of 31 on each side, and
             * the width is one more. */
            for (uint32_t i = 0; i < 10; i++)
                if (i % 5)
                    want[i] = (i < 5 ? (i % 5 % 2 ? 16 : 8) : 0) + 7.5 +
                              (i % 5 < 3 ? -15.5 : 16.5);
        }
        check_all(1, want, 1e-3);
        ck_assert_double_eq(r.v[2][0], 0.875);
        ck_assert_double_eq(r.v[2][1], 0.75);
        ck_assert_double_eq(r.v[2][2], 0);
        unit_end(&r);
    }
}
END_TEST

/* Moves by parts of the size; what lies upon a better one goes, and what is too
 * small. */
START_TEST(moved_proposals)
{
    start_proposal(4, 3);
    set_all(0, (double[]){0, 0, 0, 0, 0, 0, 0.75, 0.625, 0.5, 0, 0, 0.875});
    unit_set(&r, 3, 0, 0.5);     /* cell 0: x by a half */
    unit_set(&r, 3, 6, -0.25);   /* y by a quarter, up */
    unit_set(&r, 3, 12, log(2)); /* twice as wide */
    unit_set(&r, 3, 1, 0.25);    /* cell 1: much like cell 0 */
    unit_set(&r, 3, 7, -0.25);
    unit_set(&r, 3, 13, log(2));
    unit_set(&r, 3, 18 + 5, -10); /* cell 5: very low */
    unit_set(&r, 0, 6 + 4, 0.9375);
    unit_set(&r, 3, 12 + 4, log(3.0 / 32)); /* cell 4: narrower than 4 */
    unit_run(&r);
    check_all(1,
              (double[]){0, -16, -24, 48, 8, 0, 0, -16, 32, 16, -1, 0, 0, 0, 0},
              1e-2);
    unit_end(&r);
}
END_TEST

/* Anchors that are not square: 256 elements, twice as high as wide, in whole
 * numbers or not, times a scale. */
START_TEST(anchors)
{
    for (uint32_t rounds = 0; rounds < 2; rounds++) {
        double w = rounds ? 11 : sqrt(128), h = rounds ? 22 : 2 * sqrt(128);

        start_proposal(4, 1);
        r.words[15] = rounds;
        unit_set(&r, 0, 6, 0.75);
        r.s.n_params -= 4;
        unit_word(&r, 1);
        unit_float(&r, 3);
        unit_word(&r, 1);
        unit_float(&r, 2);
        unit_run(&r);
        check_all(1, (double[]){0, -1.5 * w, -1.5 * h, 1.5 * w, 1.5 * h}, 1e-2);
        unit_end(&r);
    }
}
END_TEST

/* --- Detectron ----------------------------------------------------------- */

START_TEST(detectron_proposals)
{
    unit_start(&r, 124, true);
    unit_float(&r, 4);
    unit_float(&r, 0.5);
    unit_word(&r, 99);
    unit_word(&r, 3);
    unit_in(&r, BLOB_F16, 3, 3);
    unit_in(&r, BLOB_F16, 0x43, 4, 4);
    unit_in(&r, BLOB_F16, 0x321, 2, 1, 8);
    unit_in(&r, BLOB_F16, 0x321, 2, 1, 2);
    unit_out(&r, BLOB_F16, 0x43, 4, 3);
    unit_out(&r, BLOB_F16, 3, 3);
    unit_out(&r, BLOB_U8, 3, 64);
    set_all(0, (double[]){64, 128, 1});
    /* Cell by cell, two anchors each. */
    set_all(1, (double[]){0, 0, 15, 15, 0, 0, 2, 2, 16, 0, 31, 15, 40, 20, 300,
                          51});
    /* Anchor by anchor. */
    set_all(3, (double[]){0.5, 0.25, 0.875, 0.75});
    unit_set(&r, 2, 0, 0.5); /* anchor 0, cell 0: x by a half of 16 */
    unit_run(&r);
    check_all(4, (double[]){40, 20, 127, 51, 8, 0, 23, 15, 16, 0, 31, 15},
              1e-2);
    check_all(5, (double[]){0.75, 0.5, 0.25}, 0);
    unit_end(&r);
}
END_TEST

START_TEST(detectron_boxes)
{
    unit_start(&r, 106, true);
    for (uint32_t i = 0; i < 4; i++)
        unit_float(&r, i < 2 ? 2 : 1);
    unit_float(&r, log(2)); /* twice the size at most */
    unit_float(&r, 0.5);
    unit_float(&r, 0.25);
    unit_word(&r, 3);
    unit_word(&r, 3);
    unit_word(&r, 2);
    unit_word(&r, 0);
    unit_in(&r, BLOB_F16, 0x43, 4, 3);
    unit_in(&r, BLOB_F16, 0x43, 12, 3);
    unit_in(&r, BLOB_F16, 0x43, 3, 3);
    unit_in(&r, BLOB_F16, 0x43, 3, 1);
    unit_out(&r, BLOB_F16, 0x43, 4, 4);
    unit_out(&r, BLOB_S32, 3, 4);
    unit_out(&r, BLOB_F16, 3, 4);
    set_all(0, (double[]){0, 0, 15, 15, 2, 0, 17, 15, 40, 30, 40, 60});
    set_all(2, (double[]){0.9375, 0.75, 0.5, 0.9375, 0.875, 0.375, 0.9375,
                          0.9375, 0.9375});
    set_all(3, (double[]){64, 128, 1});
    unit_set(&r, 1, 8, 2); /* first region, class 2: x by one of 16 */
    unit_set(&r, 1, 11, 5);
    unit_run(&r);
    check_all(4,
              (double[]){2, 0, 17, 15, 16, 0, 31, 23, 2, 0, 17, 15, 0, 0, 0, 0},
              1e-3);
    check_all(5, (double[]){1, 2, 2, 0}, 0);
    check_all(6, (double[]){0.875, 0.5, 0.375, 0}, 0);
    r.words[10] = 1;
    unit_fails(&r, VPU_ERR_UNSUPPORTED, "all classes share");
    unit_end(&r);
}
END_TEST

START_TEST(best_regions)
{
    for (uint32_t most = 2; most < 6; most++) {
        static const double want[] = {8,  9,  10, 11, 0, 1, 2, 3,
                                      12, 13, 14, 15, 4, 5, 6, 7};

        unit_start(&r, 125, most & 1);
        unit_word(&r, most);
        unit_in(&r, BLOB_F16, 0x43, 4, 4);
        unit_in(&r, BLOB_F16, 3, 4);
        unit_out(&r, BLOB_F16, 0x43, 4, 5);
        for (uint64_t i = 0; i < 16; i++)
            unit_set(&r, 0, i, (double)i);
        set_all(1, (double[]){0.5, 0.25, 0.75, 0.5});
        unit_run(&r);
        for (uint64_t i = 0; i < 20; i++)
            ck_assert_double_eq(r.v[2][i],
                                i < 16 && i < most * 4 ? want[i] : 0);
        unit_end(&r);
    }
}
END_TEST

START_TEST(grid)
{
    for (uint32_t k = 0; k < 2; k++) {
        unit_start(&r, 121, k);
        unit_word(&r, 1);
        unit_word(&r, k ? 2 : 0);
        unit_word(&r, k ? 3 : 0);
        unit_float(&r, k ? 8 : 0);
        unit_float(&r, k ? 4 : 0);
        unit_in(&r, BLOB_F16, 0x43, 4, 2);
        unit_in(&r, BLOB_F16, 0x4321, k ? 9 : 2, k ? 9 : 3, 1, 1);
        unit_in(&r, BLOB_F16, 0x4321, k ? 1 : 16, k ? 1 : 12, 1, 1);
        unit_out(&r, BLOB_F16, 0x43, 4, 12);
        set_all(0, (double[]){-1, -2, 1, 2, -3, -4, 3, 4});
        unit_run(&r);
        for (uint32_t i = 0; i < 48; i++) {
            uint32_t cell = i / 8;
            double at = i % 2 ? (cell / 2 + 0.5) * 4 : (cell % 2 + 0.5) * 8;

            ck_assert_double_eq(r.v[3][i], r.v[0][i % 8] + at);
        }
        unit_end(&r);
    }
}
END_TEST

/* --- NonMaxSuppression --------------------------------------------------- */

START_TEST(suppression)
{
    for (uint32_t center = 0; center < 2; center++) {
        static const double corners[] = {0, 0, 4, 4, 4, 4, 0, 1,
                                         9, 9, 5, 5, 0, 0, 1, 1};
        static const double centers[] = {2, 2, 4, 4, 2.5, 2,   3, 4,
                                         7, 7, 4, 4, 0.5, 0.5, 1, 1};

        unit_start(&r, 130, center);
        unit_word(&r, center);
        unit_word(&r, 0);
        unit_in(&r, BLOB_F16, 0x321, 4, 4, 1);
        unit_in(&r, BLOB_F16, 0x321, 4, 2, 1);
        unit_in(&r, BLOB_S32, 3, 1);
        unit_in(&r, BLOB_F16, 3, 1);
        unit_in(&r, BLOB_F16, 3, 1);
        unit_out(&r, BLOB_S32, 0x43, 3, 6);
        unit_out(&r, BLOB_S32, 3, 2);
        set_all(0, center ? centers : corners);
        set_all(1, (double[]){0.5, 0.75, 0.25, 0.125, 0.5, 0.375, 0.75, 0.5});
        unit_set(&r, 2, 0, 2);
        unit_set(&r, 3, 0, 0.5);
        unit_set(&r, 4, 0, 0.1875);
        unit_run(&r);
        check_all(
            5, (double[]){0, 0, 1, 0, 0, 2, 0, 1, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0},
            0);
        check_all(6, (double[]){4, 3}, 0);
        unit_end(&r);
    }
}
END_TEST

/* Boxes that lie apart are each compared with all that stay. A run that is
 * given up ends at the next box, however many there are. */
START_TEST(boxes_are_given_up)
{
    unit_start(&r, 130, false);
    unit_word(&r, 0);
    unit_word(&r, 0);
    unit_in(&r, BLOB_F16, 0x321, 4, 2000, 1);
    unit_in(&r, BLOB_F16, 0x321, 2000, 1, 1);
    unit_in(&r, BLOB_S32, 3, 1);
    unit_in(&r, BLOB_F16, 3, 1);
    unit_in(&r, BLOB_F16, 3, 1);
    unit_out(&r, BLOB_S32, 0x43, 3, 2000);
    unit_out(&r, BLOB_S32, 3, 2);
    for (uint32_t i = 0; i < 2000; i++) {
        unit_set(&r, 0, 4 * i, i);
        unit_set(&r, 0, 4 * i + 1, 0);
        unit_set(&r, 0, 4 * i + 2, i + 1);
        unit_set(&r, 0, 4 * i + 3, 1);
        unit_set(&r, 1, i, 0.5);
    }
    unit_set(&r, 2, 0, 2000);
    unit_set(&r, 3, 0, 0.5);
    unit_set(&r, 4, 0, 0.25);
    unit_give_up(&r, 1900);
    ck_assert_double_ne(r.v[6][0], 2000); /* it did not come so far */
    unit_give_up(&r, 3000);
    ck_assert_double_eq(r.v[6][0], 2000);
    unit_end(&r);
}
END_TEST

/* None where none are asked for. */
START_TEST(no_boxes)
{
    for (uint32_t absent = 0; absent < 2; absent++) {
        unit_start(&r, 130, false);
        unit_word(&r, 0);
        unit_word(&r, 0);
        unit_in(&r, BLOB_F16, 0x321, 4, 4, 1);
        unit_in(&r, BLOB_F16, 0x321, 4, 2, 1);
        if (absent)
            unit_absent(&r);
        else
            unit_in(&r, BLOB_S32, 3, 1);
        unit_absent(&r);
        unit_absent(&r);
        unit_out(&r, BLOB_S32, 0x43, 3, 6);
        unit_out(&r, BLOB_S32, 3, 2);
        unit_fill(&r, 0, 0, 9);
        unit_fill(&r, 1, 0.5, 1);
        unit_run(&r);
        check_all(6, (double[]){0, 3}, 0);
        unit_end(&r);
    }
}
END_TEST

enum { BOXES = 40 };

/* The box of an index as its middle and size. */
static void middle_of(bool center, uint32_t k, double *out)
{
    const double *v = r.v[0] + 4 * k;

    out[0] = center ? v[0] : (v[1] + v[3]) / 2;
    out[1] = center ? v[1] : (v[0] + v[2]) / 2;
    out[2] = center ? v[2] : fabs(v[3] - v[1]);
    out[3] = center ? v[3] : fabs(v[2] - v[0]);
}

static double shared_part(bool center, uint32_t i, uint32_t k)
{
    double a[4], b[4], shared = 1;

    middle_of(center, i, a);
    middle_of(center, k, b);
    for (uint32_t d = 0; d < 2; d++) {
        double low = fmax(a[d] - a[2 + d] / 2, b[d] - b[2 + d] / 2);
        double high = fmin(a[d] + a[2 + d] / 2, b[d] + b[2 + d] / 2);

        shared *= fmax(0, high - low);
    }
    return shared / (a[2] * a[3] + b[2] * b[3] - shared);
}

/* Which of the boxes stay, by taking the best one away again and again. */
static uint32_t best_left(const bool *gone)
{
    uint32_t best = BOXES;

    for (uint32_t i = 0; i < BOXES; i++)
        if (!gone[i] && r.v[1][i] > 0.125 &&
            (best == BOXES || r.v[1][i] > r.v[1][best]))
            best = i;
    return best;
}

START_TEST(many_boxes)
{
    for (uint32_t k = 0; k < 8; k++) {
        bool center = k & 1, gone[BOXES] = {0};
        uint32_t rows = 0, best;

        unit_start(&r, 130, k & 2);
        unit_word(&r, center);
        unit_word(&r, 0);
        unit_in(&r, BLOB_F16, 0x321, 4, BOXES, 1);
        unit_in(&r, BLOB_F16, 0x321, BOXES, 1, 1);
        unit_in(&r, BLOB_S32, 3, 1);
        unit_in(&r, BLOB_F16, 3, 1);
        unit_in(&r, BLOB_F16, 3, 1);
        unit_out(&r, BLOB_S32, 0x43, 3, BOXES);
        unit_out(&r, BLOB_S32, 3, 2);
        r.state += k;
        unit_fill(&r, 0, 1, 9);
        unit_fill(&r, 1, 0, 1);
        unit_set(&r, 2, 0, 99);
        unit_set(&r, 3, 0, 0.2001);
        unit_set(&r, 4, 0, 0.125);
        unit_run(&r);
        while ((best = best_left(gone)) != BOXES) {
            ck_assert_double_eq(r.v[5][3 * rows++ + 2], best);
            for (uint32_t i = 0; i < BOXES; i++)
                gone[i] = gone[i] || shared_part(center, best, i) > 0.2001;
            gone[best] = true;
        }
        ck_assert_double_eq(r.v[6][0], rows);
        unit_end(&r);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("heads");
    TCase *t = tcase_create("heads");
    SRunner *runner;
    int bad;

    tcase_set_timeout(t, 120);
    tcase_add_test(t, cells);
    tcase_add_test(t, reorganized);
    tcase_add_test(t, labels);
    tcase_add_test(t, labels_with_lengths);
    tcase_add_test(t, detections);
    tcase_add_test(t, fewer_detections);
    tcase_add_test(t, codes);
    tcase_add_test(t, other_forms);
    tcase_add_test(t, refined_before);
    tcase_add_test(t, wrong_detections);
    tcase_add_test(t, pooled_regions);
    tcase_add_test(t, pooled_linear);
    tcase_add_test(t, regions_with_channels);
    tcase_add_test(t, aligned_regions);
    tcase_add_test(t, repacked_regions);
    tcase_add_test(t, pyramid);
    tcase_add_test(t, proposals);
    tcase_add_test(t, moved_proposals);
    tcase_add_test(t, anchors);
    tcase_add_test(t, detectron_proposals);
    tcase_add_test(t, detectron_boxes);
    tcase_add_test(t, best_regions);
    tcase_add_test(t, grid);
    tcase_add_test(t, suppression);
    tcase_add_test(t, boxes_are_given_up);
    tcase_add_test(t, no_boxes);
    tcase_add_test(t, many_boxes);
    suite_add_tcase(s, t);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    bad = srunner_ntests_failed(runner);
    srunner_free(runner);
    return bad != 0;
}
