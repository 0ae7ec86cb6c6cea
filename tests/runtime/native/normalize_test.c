/* Normalizations, products of matrices and LSTM cells against plain loops in
 * double. */
#include <check.h>
#include <math.h>

#include "tests/runtime/native/stage_rig.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static stage_rig r;

static const uint32_t orders[] = {0x4321, 0x4213, 0x321, 0x213, 0x43};

/* Both tensors of a stage: 2 images of 5 channels of 3 rows of 4, or what of
 * that the order has. */
static void add_pair(uint32_t order)
{
    static const uint32_t by_letter[] = {0, 4, 3, 5, 2};
    uint32_t d[4] = {0};

    for (uint32_t i = 0; i < 4; i++)
        d[i] = by_letter[order >> 4 * i & 15];
    unit_in(&r, BLOB_F16, order, d[0], d[1], d[2], d[3]);
    unit_out(&r, BLOB_F16, order, d[0], d[1], d[2], d[3]);
    unit_fill(&r, 0, -4, 4);
}

#define EACH(n, c, h, w)                                       \
    for (uint32_t n = 0; n < unit_size(&r, 0, 4); n++)         \
        for (uint32_t c = 0; c < unit_size(&r, 0, 3); c++)     \
            for (uint32_t h = 0; h < unit_size(&r, 0, 2); h++) \
                for (uint32_t w = 0; w < unit_size(&r, 0, 1); w++)

/* Sum of x^p over the channels [c0, c1), rows and columns that are there. */
static double sum(double p, double less, uint32_t n, int c0, int c1, int h0,
                  int h1, int w0, int w1)
{
    int c2 = (int)fmin(c1, unit_size(&r, 0, 3));
    int h2 = (int)fmin(h1, unit_size(&r, 0, 2));
    int w2 = (int)fmin(w1, unit_size(&r, 0, 1));
    double v = 0;

    for (int c = (int)fmax(c0, 0); c < c2; c++)
        for (int h = (int)fmax(h0, 0); h < h2; h++)
            for (int w = (int)fmax(w0, 0); w < w2; w++)
                v += pow(
                    *unit_at(&r, 0, n, (uint32_t)c, (uint32_t)h, (uint32_t)w) -
                        less,
                    p);
    return v;
}

enum { ALL = 99 };

START_TEST(lengths)
{
    for (uint32_t k = 0; k < 4 * COUNT(orders); k++) {
        bool across = k & 1, shared = k & 2;

        unit_start(&r, 35, k & 4);
        unit_word(&r, across);
        unit_word(&r, shared);
        unit_float(&r, 0.25);
        add_pair(orders[k / 4]);
        unit_constant(&r, BLOB_F16, 3, shared ? 1 : 5);
        unit_fill(&r, 2, 0.5, 3);
        unit_run(&r);
        EACH(n, c, h, w)
        {
            double squares = across ? sum(2, 0, n, 0, ALL, 0, ALL, 0, ALL)
                                    : sum(2, 0, n, 0, ALL, (int)h, (int)h + 1,
                                          (int)w, (int)w + 1);

            unit_near(*unit_at(&r, 1, n, c, h, w),
                      *unit_at(&r, 0, n, c, h, w) * r.v[2][shared ? 0 : c] /
                          sqrt(0.25 + squares),
                      2e-6);
        }
        unit_end(&r);
    }
}
END_TEST

START_TEST(nothing_but_zeros)
{
    unit_start(&r, 35, false);
    unit_word(&r, 0);
    unit_word(&r, 1);
    unit_float(&r, 0);
    add_pair(0x43);
    unit_constant(&r, BLOB_F16, 3, 1);
    unit_fill(&r, 0, 0, 0);
    unit_run(&r);
    for (uint64_t i = 0; i < r.n[1]; i++)
        ck_assert_double_eq(r.v[1][i], 0);
    unit_end(&r);
}
END_TEST

START_TEST(grn)
{
    for (uint32_t k = 0; k < 2 * COUNT(orders); k++) {
        unit_start(&r, 61, k & 1);
        unit_float(&r, 0.5);
        add_pair(orders[k / 2]);
        unit_run(&r);
        EACH(n, c, h, w)
        unit_near(*unit_at(&r, 1, n, c, h, w),
                  *unit_at(&r, 0, n, c, h, w) /
                      sqrt(0.5 + sum(2, 0, n, 0, ALL, (int)h, (int)h + 1,
                                     (int)w, (int)w + 1)),
                  2e-6);
        unit_end(&r);
    }
}
END_TEST

START_TEST(moments)
{
    for (uint32_t k = 0; k < 12 * COUNT(orders); k++) {
        bool scales = k & 1, across = k % 3 == 1, rows = k % 3 == 2;

        unit_start(&r, 62, k & 2);
        unit_word(&r, scales);
        unit_word(&r, across);
        if (k % 3)
            unit_word(&r, rows);
        unit_float(&r, 0.125);
        add_pair(orders[k / 12]);
        unit_run(&r);
        EACH(n, c, h, w)
        {
            int c0 = across ? 0 : (int)c, c1 = across ? ALL : (int)c + 1;
            int h0 = rows ? (int)h : 0, h1 = rows ? (int)h + 1 : ALL;
            double size = sum(0, 0, n, c0, c1, h0, h1, 0, ALL);
            double mean = sum(1, 0, n, c0, c1, h0, h1, 0, ALL) / size;
            double squares = sum(2, mean, n, c0, c1, h0, h1, 0, ALL) / size;

            unit_near(*unit_at(&r, 1, n, c, h, w),
                      (*unit_at(&r, 0, n, c, h, w) - mean) /
                          (scales ? sqrt(squares) + 0.125 : 1),
                      4e-6);
        }
        unit_end(&r);
    }
}
END_TEST

/* Halves of 1, 0.5 and 0.75. */
START_TEST(responses)
{
    for (uint32_t k = 0; k < 12 * COUNT(orders); k++) {
        uint32_t type = k & 1 ? 18 : 11, size = k % 3 * 2 + 1;
        int before = (int)size / 2, after = before + 1;

        unit_start(&r, type, k & 2);
        unit_word(&r, size);
        unit_word(&r, 0x38003c00);
        unit_word(&r, 0x3a00);
        add_pair(orders[k / 12]);
        unit_run(&r);
        EACH(n, c, h, w)
        {
            int z = (int)c, y = (int)h, x = (int)w;
            double squares =
                type == 11
                    ? sum(2, 0, n, z - before, z + after, y, y + 1, x, x + 1) /
                          size
                    : sum(2, 0, n, z, z + 1, y - before, y + after, x - before,
                          x + after) /
                          (size * size);

            unit_near(*unit_at(&r, 1, n, c, h, w),
                      *unit_at(&r, 0, n, c, h, w) /
                          pow(1 + 0.5 * squares, 0.75),
                      2e-6);
        }
        unit_end(&r);
    }
}
END_TEST

START_TEST(softmax)
{
    for (uint32_t k = 0; k < 6; k++) {
        uint32_t axis = k % 3;

        unit_start(&r, 3, k > 2);
        unit_word(&r, axis);
        unit_in(&r, BLOB_F16, 0x321, 4, 5, 6);
        unit_out(&r, BLOB_F16, 0x321, 4, 5, 6);
        unit_fill(&r, 0, -6, 6);
        unit_run(&r);
        for (uint32_t i = 0; i < r.n[0]; i++) {
            uint32_t step = axis == 0 ? 1 : axis == 1 ? 4 : 20;
            uint32_t n = 4 + axis, first = i - i / step % n * step;
            double all = 0;

            for (uint32_t q = 0; q < n; q++)
                all += exp(r.v[0][first + q * step]);
            unit_near(r.v[1][i], exp(r.v[0][i]) / all, 1e-6);
        }
        unit_end(&r);
    }
}
END_TEST

/* A tensor of bytes, and one of another size. */
START_TEST(wrong_tensors)
{
    static const struct {
        uint32_t type, n;
        uint32_t words[4];
    } rows[] = {{3, 1, {0}},           {11, 3, {3, 0x38003c00, 0x3a00}},
                {18, 3, {3, 0, 0}},    {35, 3, {0, 1, 0x3f000000}},
                {61, 1, {0x3f000000}}, {62, 4, {1, 0, 0, 0x3f000000}}};

    for (size_t k = 0; k < COUNT(rows); k++) {
        unit_start(&r, rows[k].type, false);
        for (uint32_t i = 0; i < rows[k].n; i++)
            unit_word(&r, rows[k].words[i]);
        unit_in(&r, BLOB_F16, 0x321, 4, 3, 2);
        unit_out(&r, BLOB_F16, 0x321, 4, 3, 2);
        if (rows[k].type == 35)
            unit_constant(&r, BLOB_F16, 3, 1);
        r.buffers[1].desc.dims[1] = 2;
        unit_fails(&r, VPU_ERR_PARSE, "expected one size");
        r.buffers[1].desc.dims[1] = 3;
        r.buffers[0].desc.type = BLOB_U8;
        unit_fails(&r, VPU_ERR_UNSUPPORTED, "of type U8");
        r.buffers[0].desc.type = BLOB_F16;
        r.buffers[0].desc.order = r.buffers[1].desc.order = 0x621;
        if (rows[k].type != 3)
            unit_fails(&r, VPU_ERR_PARSE, "0x621");
        unit_end(&r);
    }
}
END_TEST

/* --- matrices ------------------------------------------------------------ */

enum { ROWS = 5, COLUMNS = 7, BETWEEN = 6 };

static double entry(uint32_t t, uint32_t n, uint32_t c, uint32_t row,
                    uint32_t column, bool turned)
{
    uint32_t size_n = unit_size(&r, t, 4), size_c = unit_size(&r, t, 3);
    uint32_t size_h = unit_size(&r, t, 2), size_w = unit_size(&r, t, 1);
    uint32_t h = turned ? column : row, w = turned ? row : column;

    return *unit_at(&r, t, size_n == 1 ? 0 : n, size_c == 1 ? 0 : c,
                    size_h == 1 ? 0 : h, size_w == 1 ? 0 : w);
}

START_TEST(products)
{
    for (uint32_t k = 0; k < 32; k++) {
        bool third = k & 1, turns_a = k & 2, turns_b = k & 4;
        bool alone = k & 8; /* the second factor is one for all */
        uint32_t out = third ? 3 : 2;

        unit_start(&r, 91, k & 16);
        unit_float(&r, 0.75);
        unit_float(&r, third ? -2 : 1);
        unit_word(&r, third);
        unit_word(&r, turns_a);
        unit_word(&r, turns_b);
        unit_in(&r, BLOB_F16, 0x4321, turns_a ? ROWS : BETWEEN,
                turns_a ? BETWEEN : ROWS, 3, 2);
        if (alone)
            unit_in(&r, BLOB_F16, 0x43, turns_b ? BETWEEN : COLUMNS,
                    turns_b ? COLUMNS : BETWEEN);
        else
            unit_in(&r, BLOB_F16, 0x4321, turns_b ? BETWEEN : COLUMNS,
                    turns_b ? COLUMNS : BETWEEN, 1, 2);
        if (third)
            unit_in(&r, BLOB_F16, 0x4321, COLUMNS, alone ? 1 : ROWS, 3, 1);
        unit_out(&r, BLOB_F16, 0x4321, COLUMNS, ROWS, 3, 2);
        for (uint32_t t = 0; t < out; t++)
            unit_fill(&r, t, -2, 2);
        unit_run(&r);
        for (uint32_t n = 0; n < 2; n++)
            for (uint32_t c = 0; c < 3; c++)
                for (uint32_t y = 0; y < ROWS; y++)
                    for (uint32_t x = 0; x < COLUMNS; x++) {
                        double v = 0;

                        for (uint32_t i = 0; i < BETWEEN; i++) {
                            uint32_t h = turns_b ? x : i, w = turns_b ? i : x;
                            double b =
                                alone
                                    ? r.v[1]
                                         [h * (turns_b ? BETWEEN : COLUMNS) + w]
                                    : entry(1, n, c, i, x, turns_b);

                            v += entry(0, n, c, y, i, turns_a) * b;
                        }
                        v *= 0.75;
                        if (third)
                            v -= 2 * entry(2, n, c, y, x, false);
                        unit_near(*unit_at(&r, out, n, c, y, x), v, 2e-5);
                    }
        unit_end(&r);
    }
}
END_TEST

START_TEST(wrong_products)
{
    unit_start(&r, 91, false);
    unit_float(&r, 1);
    unit_float(&r, 1);
    for (uint32_t i = 0; i < 3; i++)
        unit_word(&r, 0);
    unit_in(&r, BLOB_F16, 0x43, 6, 5);
    unit_in(&r, BLOB_F16, 0x43, 7, 6);
    unit_out(&r, BLOB_F16, 0x43, 7, 4);
    unit_fails(&r, VPU_ERR_PARSE, "6 by 5 and 7 by 6 for 7 by 4");
    r.words[2] = 1;
    unit_fails(&r, VPU_ERR_PARSE, "3 buffers, expected 4");
    unit_end(&r);

    unit_start(&r, 91, false);
    unit_float(&r, 1);
    unit_float(&r, 1);
    for (uint32_t i = 0; i < 3; i++)
        unit_word(&r, i == 0);
    unit_in(&r, BLOB_F16, 0x321, 6, 5, 2);
    unit_in(&r, BLOB_F16, 0x321, 7, 6, 3);
    unit_in(&r, BLOB_F16, 0x43, 7, 4);
    unit_out(&r, BLOB_F16, 0x321, 7, 5, 2);
    unit_fails(&r, VPU_ERR_PARSE, "dim 2 of in1 is 3, expected 1 or 2");
    r.buffers[1].desc.dims[2] = 1;
    unit_fails(&r, VPU_ERR_PARSE, "dim 1 of in2 is 4, expected 1 or 5");
    unit_end(&r);
}
END_TEST

/* --- LSTM ---------------------------------------------------------------- */

enum { INPUT = 6, STATE = 4, MAX_BATCH = 3 };

static double gate(uint32_t q, uint32_t i, const double *x, const double *h,
                   bool biased)
{
    uint32_t row = q * STATE + i;
    double v = biased ? r.v[4][row] : 0;

    for (uint32_t k = 0; k < INPUT; k++)
        v += r.v[3][row * INPUT + k] * x[k];
    for (uint32_t k = 0; k < STATE; k++)
        v += r.v[3][4 * STATE * INPUT + row * STATE + k] * h[k];
    return q == 2 ? tanh(v) : 1 / (1 + exp(-v));
}

/* The next state and cell of one sequence, both in halves. */
static void step(const double *x, double *h, double *c, bool biased)
{
    double next[STATE];

    for (uint32_t i = 0; i < STATE; i++) {
        double cell = gate(0, i, x, h, biased) * c[i] +
                      gate(1, i, x, h, biased) * gate(2, i, x, h, biased);

        next[i] = gate(3, i, x, h, biased) * tanh(cell);
        c[i] = cell;
    }
    for (uint32_t i = 0; i < STATE; i++) {
        h[i] = unit_rounded(BLOB_F16, next[i]);
        c[i] = unit_rounded(BLOB_F16, c[i]);
    }
}

START_TEST(lstm)
{
    for (uint32_t k = 0; k < 16; k++) {
        uint32_t steps = k & 1 ? 5 : 1, batch = k & 2 ? MAX_BATCH : 1;
        bool forward = k & 4, biased = k & 8;
        uint32_t outputs = 1 + k % 3;

        unit_start(&r, 70, k & 1);
        unit_word(&r, forward);
        unit_word(&r, steps);
        unit_word(&r, batch);
        unit_word(&r, outputs > 1);
        unit_word(&r, outputs);
        unit_in(&r, BLOB_F16, 0x321, INPUT, steps, batch);
        unit_in(&r, BLOB_F16, 0x43, STATE, batch);
        unit_in(&r, BLOB_F16, 0x43, STATE, batch);
        unit_constant(&r, BLOB_F16, 3, 4 * STATE * (INPUT + STATE));
        if (biased)
            unit_constant(&r, BLOB_F16, 3, 4 * STATE);
        else
            unit_absent(&r);
        unit_out(&r, BLOB_F16, 0x321, STATE, steps, batch);
        for (uint32_t i = 1; i < outputs; i++)
            unit_out(&r, BLOB_F16, 0x43, STATE, batch);
        if (steps > 1)
            unit_out(&r, BLOB_U8, 3, 2 * STATE);
        for (uint32_t t = 0; t < (biased ? 5u : 4u); t++)
            unit_fill(&r, t, -1, 1);
        unit_run(&r);
        for (uint32_t b = 0; b < batch; b++) {
            double h[STATE], c[STATE];

            for (uint32_t i = 0; i < STATE; i++) {
                h[i] = r.v[1][b * STATE + i];
                c[i] = r.v[2][b * STATE + i];
            }
            for (uint32_t s = 0; s < steps; s++) {
                uint32_t at = b * steps + (forward ? s : steps - 1 - s);

                step(r.v[0] + at * INPUT, h, c, biased);
                for (uint32_t i = 0; i < STATE; i++)
                    unit_near(r.v[5][at * STATE + i], h[i], 1e-3);
            }
            for (uint32_t i = 0; i < STATE && outputs > 1; i++)
                unit_near(r.v[4 + outputs][b * STATE + i], c[i], 1e-3);
            for (uint32_t i = 0; i < STATE && outputs > 2; i++)
                unit_near(r.v[6][b * STATE + i], h[i], 1e-3);
        }
        unit_end(&r);
    }
}
END_TEST

START_TEST(wrong_cells)
{
    unit_start(&r, 70, false);
    unit_word(&r, 1);
    unit_word(&r, 1);
    unit_word(&r, 1);
    unit_word(&r, 0);
    unit_word(&r, 1);
    unit_in(&r, BLOB_F16, 0x43, INPUT, 1);
    unit_in(&r, BLOB_F16, 0x43, STATE, 1);
    unit_in(&r, BLOB_F16, 0x43, STATE, 1);
    unit_constant(&r, BLOB_F16, 3, 4 * STATE * (INPUT + STATE) - 1);
    unit_absent(&r);
    unit_out(&r, BLOB_F16, 0x43, STATE, 1);
    unit_fails(&r, VPU_ERR_PARSE, "159 elements, expected 160");
    r.words[4] = 2;
    unit_fails(&r, VPU_ERR_PARSE, "6 buffers of 2 outputs and 1 steps");
    r.words[4] = 1;
    r.words[2] = 9;
    unit_fails(&r, VPU_ERR_PARSE, "of fewer values");
    unit_end(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("normalize");
    TCase *t = tcase_create("normalize");
    SRunner *runner;
    int bad;

    tcase_set_timeout(t, 120);
    tcase_add_test(t, lengths);
    tcase_add_test(t, nothing_but_zeros);
    tcase_add_test(t, grn);
    tcase_add_test(t, moments);
    tcase_add_test(t, responses);
    tcase_add_test(t, softmax);
    tcase_add_test(t, wrong_tensors);
    tcase_add_test(t, products);
    tcase_add_test(t, wrong_products);
    tcase_add_test(t, lstm);
    tcase_add_test(t, wrong_cells);
    suite_add_tcase(s, t);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    bad = srunner_ntests_failed(runner);
    srunner_free(runner);
    return bad != 0;
}
