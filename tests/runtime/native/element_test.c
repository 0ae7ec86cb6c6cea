/* Stages that work on each element alone, or on two tensors element by element,
 * against the same in double. */
#include <check.h>
#include <math.h>

#include "tests/runtime/native/stage_rig.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static stage_rig r;

/* --- one tensor ---------------------------------------------------------- */

typedef double of_one(const double *p, double x);

static double relu(const double *p, double x)
{
    return fmax(x, 0) + p[0] * fmin(x, 0);
}

static double clamp(const double *p, double x)
{
    return fmin(p[1], fmax(p[0], x));
}

static double power(const double *p, double x)
{
    return pow(p[0] + p[1] * x, p[2]);
}

static double elu(const double *p, double x)
{
    return x < 0 ? p[0] * exp(x) - p[0] : x;
}

static double sigmoid(const double *p, double x)
{
    (void)p;
    return exp(x) / (exp(x) + 1);
}

static double tangent(const double *p, double x)
{
    (void)p;
    return 1 - 2 / (exp(2 * x) + 1);
}

static double exponent(const double *p, double x)
{
    (void)p;
    return pow(2.718281828459045, x);
}

static double logarithm(const double *p, double x)
{
    (void)p;
    return log2(x) / 1.4426950408889634;
}

static double error(const double *p, double x)
{
    (void)p;
    return 1 - erfc(x);
}

static double down(const double *p, double x)
{
    (void)p;
    return floor(x);
}

static double up(const double *p, double x)
{
    (void)p;
    return -floor(-x);
}

static double even(const double *p, double x)
{
    double low = floor(x), rest = x - low;

    (void)p;
    if (rest != 0.5)
        return rest < 0.5 ? low : low + 1;
    return fmod(low, 2) == 0 ? low : low + 1;
}

static double away(const double *p, double x)
{
    (void)p;
    return copysign(floor(fabs(x) + 0.5), x);
}

static double soft_plus(const double *p, double x)
{
    (void)p;
    return log(1 + exp(x));
}

static double mish(const double *p, double x)
{
    return x * tangent(p, soft_plus(p, x));
}

static double gelu(const double *p, double x)
{
    (void)p;
    return x * erfc(-x / sqrt(2)) / 2;
}

static double swish(const double *p, double x)
{
    return x * sigmoid(p, p[0] * x);
}

static double h_swish(const double *p, double x)
{
    (void)p;
    return x <= -3 ? 0 : x >= 3 ? x : x * (x + 3) / 6;
}

static double absolute(const double *p, double x)
{
    (void)p;
    return sqrt(x * x);
}

static const struct {
    uint32_t type;
    uint32_t whole, n; /* words of params: integers first, then floats */
    int64_t words[1];
    double floats[3];
    of_one *want;
    double least, most;
} ones[] = {
    {6, 1, 1, {0}, {0}, relu, -9, 9},
    {44, 1, 1, {0}, {0.1}, relu, -9, 9},
    {57, 0, 2, {0}, {-1.5, 2.25}, clamp, -9, 9},
    {26, 0, 3, {0}, {0.5, 2, 1}, power, -9, 9},
    {26, 0, 3, {0}, {0.5, 2, 2}, power, -9, 9},
    {26, 0, 3, {0}, {0, 1, -1}, power, 0.25, 9},
    {26, 0, 3, {0}, {1, 0.5, 0.5}, power, 0, 9},
    {26, 0, 3, {0}, {1, 0.5, 1.75}, power, 0, 9},
    {26, 0, 3, {0}, {0, 1, 3}, power, -9, 9},
    {26, 0, 3, {0}, {0, 1, 0}, power, -9, 9},
    {23, 0, 1, {0}, {0.75}, elu, -9, 9},
    {20, 0, 0, {0}, {0}, sigmoid, -9, 9},
    {21, 0, 0, {0}, {0}, tangent, -5, 5},
    {101, 0, 0, {0}, {0}, exponent, -8, 11},
    {92, 0, 0, {0}, {0}, logarithm, 0.01, 99},
    {110, 0, 0, {0}, {0}, error, -3, 3},
    {102, 0, 0, {0}, {0}, down, -9, 9},
    {138, 0, 0, {0}, {0}, up, -9, 9},
    {140, 1, 0, {0}, {0}, even, -9, 9},
    {140, 1, 0, {1}, {0}, away, -9, 9},
    {131, 0, 0, {0}, {0}, mish, -9, 9},
    {132, 0, 0, {0}, {0}, gelu, -4, 9},
    {134, 0, 0, {0}, {0}, soft_plus, -9, 9},
    {135, 0, 1, {0}, {1.25}, swish, -9, 9},
    {137, 0, 0, {0}, {0}, h_swish, -9, 9},
    {142, 0, 0, {0}, {0}, absolute, -9, 9},
};

static void start_one(size_t k, bool gaps)
{
    unit_start(&r, ones[k].type, gaps);
    for (uint32_t i = 0; i < ones[k].whole; i++)
        unit_word(&r, ones[k].words[i]);
    for (uint32_t i = 0; i < ones[k].n; i++)
        unit_float(&r, ones[k].floats[i]);
}

static void check_one(size_t k)
{
    double p[3];

    for (uint32_t i = 0; i < 3; i++)
        p[i] = (double)(float)ones[k].floats[i];
    unit_run(&r);
    for (uint64_t i = 0; i < r.n[0]; i++)
        unit_near(r.v[1][i], ones[k].want(p, r.v[0][i]), 2e-6);
    unit_end(&r);
}

START_TEST(functions)
{
    size_t k = (size_t)_i;

    for (uint32_t gaps = 0; gaps < 2; gaps++) {
        static const uint32_t orders[] = {0x4321, 0x4213, 0x4231, 0x321, 0x43};

        for (size_t o = 0; o < COUNT(orders); o++) {
            start_one(k, gaps);
            unit_in(&r, BLOB_F16, orders[o], 7, 5, 3, 2);
            unit_out(&r, BLOB_F16, orders[o], 7, 5, 3, 2);
            unit_fill(&r, 0, ones[k].least, ones[k].most);
            check_one(k);
        }
    }
}
END_TEST

/* So many that results are looked up in a table. */
START_TEST(many)
{
    size_t k = (size_t)_i;

    start_one(k, false);
    unit_in(&r, BLOB_F16, 0x321, 311, 241, 1);
    unit_out(&r, BLOB_F16, 0x321, 311, 241, 1);
    unit_fill(&r, 0, ones[k].least, ones[k].most);
    check_one(k);
}
END_TEST

/* What is no number, or too large for one. */
START_TEST(extremes)
{
    static const struct {
        uint32_t type, n;
        double floats[3], in, want;
    } rows[] = {
        {101, 0, {0}, 12, INFINITY},
        {101, 0, {0}, -INFINITY, 0},
        {92, 0, {0}, 0, -INFINITY},
        {92, 0, {0}, -1, NAN},
        {20, 0, {0}, -65504, 0},
        {20, 0, {0}, 65504, 1},
        {21, 0, {0}, -INFINITY, -1},
        {134, 0, {0}, 65504, 65504},
        {134, 0, {0}, -65504, 0},
        {131, 0, {0}, 65504, 65504},
        {135, 1, {1}, 65504, 65504},
        {135, 1, {1}, -60000, 0},
        {26, 3, {0, 1, -1}, 0, INFINITY},
        {26, 3, {0, 1, 0.5}, -1, NAN},
        {26, 3, {0, 4096, 1}, 32, INFINITY},
        {26, 3, {0, 1, 2}, 256, INFINITY},
        {6, 1, {0}, -INFINITY, 0},
        {57, 2, {-1, 1}, INFINITY, 1},
        {57, 2, {-1, INFINITY}, 65504, 65504},
        {23, 1, {0.5}, -INFINITY, -0.5},
        {102, 0, {0}, -0.0009765625, -1},
        {138, 0, {0}, 0.0009765625, 1},
    };

    for (size_t k = 0; k < COUNT(rows); k++) {
        unit_start(&r, rows[k].type, false);
        if (rows[k].type == 6)
            unit_word(&r, 0);
        for (uint32_t i = 0; i < rows[k].n; i++)
            unit_float(&r, rows[k].floats[i]);
        unit_in(&r, BLOB_F16, 3, 1);
        unit_out(&r, BLOB_F16, 3, 1);
        unit_set(&r, 0, 0, rows[k].in);
        unit_run(&r);
        unit_near(r.v[1][0], rows[k].want, 0);
        unit_end(&r);
    }
}
END_TEST

/* --- a number for each channel ------------------------------------------- */

static double channelwise(uint32_t type, double x, double p, double q)
{
    double slope = type == 46 ? 0.25 : 0;

    switch (type) {
    case 9:
        return x + p;
    case 15:
        return x * p;
    case 47:
        return x * p + q;
    case 10:
        return x < 0 ? x * p : x;
    default:
        return x + p < 0 ? slope * (x + p) : x + p;
    }
}

START_TEST(channels)
{
    static const uint32_t types[] = {9, 15, 47, 10, 45, 46};
    static const uint32_t orders[] = {0x4321, 0x4213, 0x321, 0x213, 0x43, 3};
    uint32_t type = types[_i];

    for (size_t o = 0; o < 2 * COUNT(orders); o++) {
        unit_start(&r, type, o & 1);
        if (type >= 45 && type < 47) {
            unit_word(&r, 1);
            unit_float(&r, type == 46 ? 0.25 : 0);
        }
        unit_in(&r, BLOB_F16, orders[o / 2], 5, 6, 3, 2);
        unit_out(&r, BLOB_F16, orders[o / 2], 5, 6, 3, 2);
        unit_fill(&r, 0, -4, 4);
        for (uint32_t i = 2; i < (type == 47 ? 4 : 3); i++) {
            unit_constant(&r, BLOB_F16, 3, unit_size(&r, 0, 3));
            unit_fill(&r, i, -4, 4);
        }
        unit_run(&r);
        for (uint32_t n = 0; n < unit_size(&r, 0, 4); n++)
            for (uint32_t c = 0; c < unit_size(&r, 0, 3); c++)
                for (uint32_t h = 0; h < unit_size(&r, 0, 2); h++)
                    for (uint32_t w = 0; w < unit_size(&r, 0, 1); w++)
                        unit_near(*unit_at(&r, 1, n, c, h, w),
                                  channelwise(type, *unit_at(&r, 0, n, c, h, w),
                                              r.v[2][c],
                                              type == 47 ? r.v[3][c] : 0),
                                  2e-6);
        unit_end(&r);
    }
}
END_TEST

START_TEST(both_signs)
{
    for (uint32_t absent = 0; absent < 2; absent++) {
        unit_start(&r, 109, true);
        unit_float(&r, 0.125);
        unit_word(&r, 2);
        unit_in(&r, BLOB_F16, 0x321, 4, 3, 2);
        unit_out(&r, BLOB_F16, 0x321, 4, 3, 4);
        unit_fill(&r, 0, -2, 2);
        for (uint32_t i = 2; i < 4; i++)
            if (absent) {
                unit_absent(&r);
            } else {
                unit_constant(&r, BLOB_F16, 3, 4);
                unit_fill(&r, i, -1, 1);
            }
        unit_run(&r);
        for (uint32_t c = 0; c < 4; c++)
            for (uint32_t k = 0; k < 12; k++) {
                double x = r.v[0][c % 2 * 12 + k] * (c < 2 ? 1 : -1);

                if (!absent)
                    x = x * r.v[2][c] + r.v[3][c];
                unit_near(r.v[1][c * 12 + k], x < 0 ? x / 8 : x, 1e-6);
            }
        unit_end(&r);
    }
}
END_TEST

/* --- two tensors --------------------------------------------------------- */

static double two(uint32_t type, double a, double b)
{
    switch (type) {
    case 12:
        return 0.75 * a - 2 * b;
    case 13:
        return a * b;
    case 14:
        return fmax(a, b);
    case 75:
        return a / b;
    case 76:
        return fmin(a, b);
    case 77:
        return a * a - 2 * a * b + b * b;
    case 78:
        return a == b;
    case 79:
        return !(a == b);
    case 80:
        return a > b;
    case 81:
        return !(a < b);
    case 82:
        return a < b;
    case 83:
        return !(a > b);
    case 84:
        return !a;
    case 85:
        return a && b;
    case 86:
        return a || b;
    case 87:
        return (a && !b) || (b && !a);
    case 88:
        return exp(b * log(a));
    default: {
        double rest = fmod(a, b);

        return rest && rest * b < 0 ? rest + b : rest;
    }
    }
}

static void put_eltwise_words(uint32_t after, double slope)
{
    unit_float(&r, r.s.type == 12 ? 0.75 : 1);
    unit_float(&r, r.s.type == 12 ? -2 : 1);
    unit_word(&r, (int32_t)after);
    unit_float(&r, slope);
    unit_float(&r, -0.5);
    unit_float(&r, 1.5);
}

/* Dims of the two and of the result; sizes of 1 repeat. */
static const struct {
    uint32_t rank_a, rank_b, a[4], b[4], out[4];
} shapes[] = {
    {4, 4, {7, 5, 3, 2}, {7, 5, 3, 2}, {7, 5, 3, 2}},
    {4, 1, {7, 5, 3, 2}, {1}, {7, 5, 3, 2}},
    {4, 3, {7, 5, 3, 2}, {1, 1, 3}, {7, 5, 3, 2}},
    {4, 4, {1, 5, 1, 2}, {7, 1, 3, 1}, {7, 5, 3, 2}},
    {1, 2, {7}, {7, 4}, {7, 4}},
    {3, 3, {1, 1, 1}, {5, 1, 2}, {5, 1, 2}},
    {1, 1, {1}, {1}, {1}},
    {2, 2, {20000, 2}, {20000, 1}, {20000, 2}},
};
static const uint32_t order_of[] = {0, 3, 0x43, 0x321, 0x4321};

static uint32_t rank_of(size_t k)
{
    return shapes[k].rank_a > shapes[k].rank_b ? shapes[k].rank_a
                                               : shapes[k].rank_b;
}

/* Value of tensor t for element i of the result. */
static double spread(uint32_t t, const uint32_t *dims, uint32_t rank, size_t k,
                     uint64_t i)
{
    uint64_t at = 0, step = 1;

    for (uint32_t d = 0; d < rank_of(k); i /= shapes[k].out[d++]) {
        uint32_t n = d < rank ? dims[d] : 1;

        at += (n == 1 ? 0 : i % shapes[k].out[d]) * step;
        step *= n;
    }
    return r.v[t][at];
}

static void add_pair(size_t k, uint32_t type, uint32_t out_type)
{
    const uint32_t *a = shapes[k].a, *b = shapes[k].b, *o = shapes[k].out;

    unit_in(&r, type, order_of[shapes[k].rank_a], a[0], a[1], a[2], a[3]);
    unit_out(&r, out_type, order_of[rank_of(k)], o[0], o[1], o[2], o[3]);
    unit_in(&r, type, order_of[shapes[k].rank_b], b[0], b[1], b[2], b[3]);
    unit_absent(&r);
}

static const uint32_t pairs[] = {12, 13, 14, 75, 76, 77, 78, 79, 80,
                                 81, 82, 83, 85, 86, 87, 88, 89};

START_TEST(of_two)
{
    uint32_t type = pairs[_i];

    for (size_t k = 0; k < 2 * COUNT(shapes); k++) {
        size_t s = k / 2;

        unit_start(&r, type, k & 1);
        put_eltwise_words(UINT32_MAX, 0);
        add_pair(s, BLOB_F16, BLOB_F16);
        for (uint32_t t = 0; t < 3; t += 2)
            for (uint64_t i = 0; i < r.n[t]; i++)
                unit_set(&r, t, i,
                         type >= 78 && type < 88
                             ? unit_below(&r, 3)
                             : unit_between(&r, type > 87 ? 0.5 : -4, 4));
        unit_run(&r);
        for (uint64_t i = 0; i < r.n[1]; i++)
            unit_near(r.v[1][i],
                      two(type, spread(0, shapes[s].a, shapes[s].rank_a, s, i),
                          spread(2, shapes[s].b, shapes[s].rank_b, s, i)),
                      type == 89 ? 1e-5 : 4e-6);
        unit_end(&r);
    }
}
END_TEST

/* Of integers, which keep all their bits; with flags of halves as integers. */
START_TEST(of_integers)
{
    uint32_t type = pairs[_i];

    unit_start(&r, type, true);
    unit_word(&r, type == 12 ? 3 : 1);
    unit_word(&r, type == 12 ? -2 : 1);
    unit_word(&r, -1);
    for (uint32_t i = 0; i < 3; i++)
        unit_word(&r, i == 2);
    add_pair(0, BLOB_S32, BLOB_S32);
    for (uint32_t t = 0; t < 3; t += 2)
        for (uint64_t i = 0; i < r.n[t]; i++)
            unit_set(&r, t, i,
                     type == 88   ? (int)unit_below(&r, 9)
                     : type >= 78 ? (int)unit_below(&r, 5) - 2
                                  : (int)unit_below(&r, 60000) - 30000);
    unit_run(&r);
    for (uint64_t i = 0; i < r.n[1]; i++) {
        double a = r.v[0][i], b = r.v[2][i], want = two(type, a, b);

        if (type == 12)
            want = 3 * a - 2 * b;
        if ((type == 75 || type == 89) && b == 0)
            continue;
        if (type == 75)
            want = trunc(want);
        if (type == 77)
            want = want >= 0x1p31 ? want - 0x1p32 : want;
        if (type == 88)
            want = pow(a, b);
        ck_assert_double_eq(r.v[1][i], want);
    }
    unit_end(&r);
}
END_TEST

START_TEST(flags_as_integers)
{
    static const uint32_t types[] = {78, 80, 82};

    for (size_t k = 0; k < COUNT(types); k++) {
        unit_start(&r, types[k], false);
        put_eltwise_words(UINT32_MAX, 0);
        add_pair(3, BLOB_F16, BLOB_S32);
        for (uint32_t t = 0; t < 3; t += 2)
            for (uint64_t i = 0; i < r.n[t]; i++)
                unit_set(&r, t, i, unit_below(&r, 3));
        unit_run(&r);
        for (uint64_t i = 0; i < r.n[1]; i++)
            ck_assert_double_eq(r.v[1][i],
                                two(types[k], spread(0, shapes[3].a, 4, 3, i),
                                    spread(2, shapes[3].b, 4, 3, i)));
        unit_end(&r);
    }
}
END_TEST

START_TEST(activations_behind)
{
    static const struct {
        uint32_t after;
        double slope;
    } rows[] = {{6, 0}, {44, 0.25}, {57, 0}};

    for (size_t k = 0; k < COUNT(rows); k++) {
        unit_start(&r, 12, false);
        put_eltwise_words(rows[k].after, rows[k].slope);
        add_pair(1, BLOB_F16, BLOB_F16);
        unit_fill(&r, 0, -3, 3);
        unit_fill(&r, 2, -1, 1);
        unit_run(&r);
        for (uint64_t i = 0; i < r.n[1]; i++) {
            double v = 0.75 * r.v[0][i] - 2 * r.v[2][0];

            unit_near(r.v[1][i],
                      rows[k].after == 57 ? fmin(1.5, fmax(-0.5, v))
                      : v < 0             ? v * rows[k].slope
                                          : v,
                      1e-6);
        }
        unit_end(&r);
    }
}
END_TEST

START_TEST(negation)
{
    unit_start(&r, 84, false);
    put_eltwise_words(UINT32_MAX, 0);
    unit_in(&r, BLOB_F16, 3, 5);
    unit_out(&r, BLOB_F16, 3, 5);
    unit_absent(&r);
    unit_absent(&r);
    unit_ints(&r, 0, 5, 0, 1, 2, 0, -1);
    unit_run(&r);
    for (uint32_t i = 0; i < 5; i++)
        ck_assert_double_eq(r.v[1][i], i == 0 || i == 3);
    unit_end(&r);
}
END_TEST

/* The mask is of one type, what is chosen of another; each may repeat. */
START_TEST(selection)
{
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t mask = k & 1 ? BLOB_S32 : BLOB_F16;
        uint32_t type = k == 3 ? BLOB_S32 : BLOB_F16;

        unit_start(&r, 90, true);
        for (uint32_t i = 0; i < 6; i++)
            unit_word(&r, i == 2 ? -1 : 0);
        unit_in(&r, mask, 0x321, 1, 5, 3);
        unit_out(&r, type, 0x321, 4, 5, 3);
        unit_in(&r, type, 3, 4);
        unit_in(&r, type, 0x321, 4, 1, 3);
        for (uint64_t i = 0; i < r.n[0]; i++)
            unit_set(&r, 0, i, unit_below(&r, 2));
        unit_fill(&r, 2, -9, 9);
        unit_fill(&r, 3, -9, 9);
        unit_run(&r);
        for (uint32_t c = 0; c < 3; c++)
            for (uint32_t h = 0; h < 5; h++)
                for (uint32_t w = 0; w < 4; w++)
                    ck_assert_double_eq(r.v[1][(c * 5 + h) * 4 + w],
                                        r.v[0][c * 5 + h] ? r.v[2][w]
                                                          : r.v[3][c * 4 + w]);
        unit_end(&r);
    }
}
END_TEST

/* --- in one place -------------------------------------------------------- */

/* An input lies where the result does, or in part of it. */
START_TEST(in_place)
{
    for (int behind = -3; behind < 4; behind++) {
        unit_start(&r, 12, false);
        put_eltwise_words(UINT32_MAX, 0);
        unit_in(&r, BLOB_F16, 0x321, 97, 41, 3);
        unit_out(&r, BLOB_F16, 0x321, 97, 41, 3);
        unit_in(&r, BLOB_F16, 0x321, 97, 1, 3);
        unit_absent(&r);
        unit_share(&r, behind & 1 ? 0 : 2, 1, behind);
        unit_fill(&r, 0, -4, 4);
        unit_fill(&r, 2, -4, 4);
        unit_run(&r);
        for (uint32_t i = 0; i < r.n[1]; i++)
            unit_near(r.v[1][i],
                      0.75 * r.v[0][i] - 2 * r.v[2][i / 97 / 41 * 97 + i % 97],
                      1e-6);
        unit_end(&r);

        unit_start(&r, 20, false);
        unit_in(&r, BLOB_F16, 0x43, 9999, 2);
        unit_out(&r, BLOB_F16, 0x43, 9999, 2);
        unit_share(&r, 0, 1, behind * 7);
        unit_fill(&r, 0, -4, 4);
        unit_run(&r);
        for (uint32_t i = 0; i < r.n[1]; i++)
            unit_near(r.v[1][i], sigmoid(NULL, r.v[0][i]), 1e-6);
        unit_end(&r);
    }
}
END_TEST

/* --- records that are wrong ---------------------------------------------- */

START_TEST(wrong_records)
{
    unit_start(&r, 6, false);
    unit_word(&r, 1);
    unit_float(&r, 0);
    unit_in(&r, BLOB_F16, 3, 4);
    unit_out(&r, BLOB_F16, 3, 4);
    unit_fails(&r, VPU_ERR_PARSE, "hasBias is 1");
    r.words[0] = 0;
    r.words[1] = 0x7fc00000;
    unit_fails(&r, VPU_ERR_PARSE, "the slope is no number");
    r.words[1] = 0x7f800000;
    unit_fails(&r, VPU_ERR_PARSE, "the slope is inf");
    r.words[1] = 0;
    r.s.n_params = 1;
    unit_fails(&r, VPU_ERR_PARSE, "params, which end there");
    r.s.n_params = 3;
    unit_fails(&r, VPU_ERR_PARSE, "3 words of params, expected 2");
    r.s.n_params = 2;
    r.buffers[1].desc.dims[0] = 3;
    unit_fails(&r, VPU_ERR_PARSE, "expected one size");
    r.buffers[1].desc.dims[0] = 4;
    r.buffers[0].desc.type = BLOB_U8;
    unit_fails(&r, VPU_ERR_UNSUPPORTED, "of type U8");
    unit_end(&r);

    unit_start(&r, 9, false);
    unit_in(&r, BLOB_F16, 0x321, 4, 4, 4);
    unit_out(&r, BLOB_F16, 0x321, 4, 4, 4);
    unit_constant(&r, BLOB_F16, 3, 3);
    unit_fails(&r, VPU_ERR_PARSE, "3 elements, expected 4");
    unit_end(&r);

    unit_start(&r, 140, false);
    unit_word(&r, 2);
    unit_in(&r, BLOB_F16, 3, 4);
    unit_out(&r, BLOB_F16, 3, 4);
    unit_fails(&r, VPU_ERR_PARSE, "mode is 2");
    unit_end(&r);

    unit_start(&r, 12, false);
    put_eltwise_words(9, 0);
    add_pair(0, BLOB_F16, BLOB_F16);
    unit_fails(&r, VPU_ERR_UNSUPPORTED, "stage 9 merged behind it");
    r.words[2] = UINT32_MAX;
    r.buffers[2].desc.dims[1] = 2;
    unit_fails(&r, VPU_ERR_PARSE, "is 2, expected 1 or 5");
    r.buffers[2].location = BLOB_NOWHERE;
    unit_fails(&r, VPU_ERR_PARSE, "input 1 is absent");
    unit_end(&r);

    unit_start(&r, 84, false);
    put_eltwise_words(UINT32_MAX, 0);
    add_pair(0, BLOB_F16, BLOB_F16);
    unit_fails(&r, VPU_ERR_PARSE, "input 1 is there");
    unit_end(&r);

    unit_start(&r, 12, false);
    put_eltwise_words(UINT32_MAX, 0);
    unit_in(&r, BLOB_F16, 0x43, 1, 1);
    unit_out(&r, BLOB_F16, 3, 1);
    unit_in(&r, BLOB_F16, 3, 1);
    unit_absent(&r);
    unit_fails(&r, VPU_ERR_PARSE, "2 dims, the output 1");
    unit_end(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("element");
    TCase *t = tcase_create("element");
    SRunner *runner;
    int bad;

    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, functions, 0, COUNT(ones));
    tcase_add_loop_test(t, many, 0, COUNT(ones));
    tcase_add_test(t, extremes);
    tcase_add_loop_test(t, channels, 0, 6);
    tcase_add_test(t, both_signs);
    tcase_add_loop_test(t, of_two, 0, COUNT(pairs));
    tcase_add_loop_test(t, of_integers, 0, COUNT(pairs));
    tcase_add_test(t, flags_as_integers);
    tcase_add_test(t, activations_behind);
    tcase_add_test(t, negation);
    tcase_add_test(t, selection);
    tcase_add_test(t, in_place);
    tcase_add_test(t, wrong_records);
    suite_add_tcase(s, t);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    bad = srunner_ntests_failed(runner);
    srunner_free(runner);
    return bad != 0;
}
