/* Stages that move elements by indices, search for them or reduce them: against
 * loops over the model's indices, the slowest first. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "tests/runtime/native/stage_rig.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static stage_rig r;

enum { A = 4, B = 3, C = 5, D = 6 }; /* dims of a model's tensor */

/* Of tensor t with these dims; dim d has index i[d], the slowest first. */
static double value(uint32_t t, const uint32_t *dims, uint32_t rank,
                    const uint32_t *i)
{
    uint64_t at = 0;

    for (uint32_t d = 0; d < rank; d++)
        at = at * dims[d] + i[d];
    return r.v[t][at];
}

static void unravel(uint64_t k, const uint32_t *dims, uint32_t rank,
                    uint32_t *i)
{
    for (uint32_t d = rank; d--; k /= dims[d])
        i[d] = (uint32_t)(k % dims[d]);
}

static void fill_ids(uint32_t t)
{
    for (uint64_t i = 0; i < r.n[t]; i++)
        unit_set(&r, t, i, (double)i + 1);
}

static uint32_t type_of(uint32_t k)
{
    static const uint32_t types[] = {BLOB_F16, BLOB_S32, BLOB_U8};

    return types[k % 3];
}

/* --- gathering ----------------------------------------------------------- */

START_TEST(gather)
{
    static const uint32_t dims[] = {A, B, C};

    for (uint32_t k = 0; k < 12; k++) {
        uint32_t axis = k % 3, type = type_of(k / 3); /* of the model */
        uint32_t out[4] = {A, B, C}, i[4];

        memmove(out + axis + 2, dims + axis + 1, (2 - axis) * sizeof *dims);
        out[axis] = 2;
        out[axis + 1] = 3;
        unit_start(&r, 100, k & 1);
        unit_word(&r, 2 - axis);
        unit_in(&r, type, 0x321, C, B, A);
        unit_out(&r, type, 0x4321, out[3], out[2], out[1], out[0]);
        unit_in(&r, k > 8 ? BLOB_F16 : BLOB_S32, 0x43, 3, 2);
        fill_ids(0);
        unit_ints(&r, 2, 6, 1, 0, 2, -1, 99, 2);
        unit_run(&r);
        for (uint64_t o = 0; o < r.n[1]; o++) {
            uint32_t from[3];
            double index;

            unravel(o, out, 4, i);
            index = r.v[2][i[axis] * 3 + i[axis + 1]];
            memcpy(from, i, axis * sizeof *i);
            from[axis] = (uint32_t)index;
            for (uint32_t d = axis + 1; d < 3; d++)
                from[d] = i[d + 1];
            ck_assert_double_eq(r.v[1][o], index < 0 || index >= dims[axis]
                                               ? 0
                                               : value(0, dims, 3, from));
        }
        unit_end(&r);
    }
}
END_TEST

/* Indices of two numbers, behind none or one dim that both have. */
START_TEST(gather_nd)
{
    static const uint32_t dims[] = {A, B, C, D};

    for (uint32_t batch = 0; batch < 2; batch++) {
        unit_start(&r, 136, batch);
        unit_word(&r, batch);
        unit_in(&r, BLOB_F16, 0x4321, D, C, B, A);
        if (batch) {
            unit_out(&r, BLOB_F16, 0x321, D, 2, A);
            unit_in(&r, BLOB_S32, 0x321, 2, 2, A);
        } else {
            unit_out(&r, BLOB_F16, 0x321, D, C, 7);
            unit_in(&r, BLOB_S32, 0x43, 2, 7);
        }
        fill_ids(0);
        for (uint64_t i = 0; i < r.n[2]; i++)
            unit_set(&r, 2, i, (int)unit_below(&r, 5) - 1);
        unit_run(&r);
        for (uint64_t o = 0; o < r.n[1]; o++) {
            uint32_t rest = batch ? D : C * D, from[4];
            const double *at = r.v[2] + o / rest * 2;
            uint32_t first = batch ? B : A, second = batch ? C : B;
            bool there =
                at[0] >= 0 && at[0] < first && at[1] >= 0 && at[1] < second;

            if (batch) {
                from[0] = (uint32_t)(o / (2 * D));
                from[1] = (uint32_t)at[0];
                from[2] = (uint32_t)at[1];
                from[3] = (uint32_t)(o % D);
            } else {
                from[0] = (uint32_t)at[0];
                from[1] = (uint32_t)at[1];
                from[2] = (uint32_t)(o / D % C);
                from[3] = (uint32_t)(o % D);
            }
            ck_assert_double_eq(r.v[1][o], there ? value(0, dims, 4, from) : 0);
        }
        unit_end(&r);
    }
}
END_TEST

START_TEST(gather_elements)
{
    static const uint32_t dims[] = {A, B, C};

    for (uint32_t axis = 0; axis < 3; axis++) {
        uint32_t out[] = {A, B, C}, i[3];

        out[axis] = 2;
        unit_start(&r, 139, axis & 1);
        unit_word(&r, axis);
        unit_word(&r, 0);
        unit_in(&r, BLOB_F16, 0x321, C, B, A);
        unit_out(&r, BLOB_F16, 0x321, out[2], out[1], out[0]);
        unit_in(&r, BLOB_S32, 0x321, out[2], out[1], out[0]);
        fill_ids(0);
        for (uint64_t k = 0; k < r.n[2]; k++)
            unit_set(&r, 2, k, (int)unit_below(&r, 8) - 1);
        unit_run(&r);
        for (uint64_t o = 0; o < r.n[1]; o++) {
            double index = r.v[2][o];

            unravel(o, out, 3, i);
            i[axis] = (uint32_t)index;
            ck_assert_double_eq(r.v[1][o], index < 0 || index >= dims[axis]
                                               ? 0
                                               : value(0, dims, 3, i));
        }
        unit_end(&r);
    }
}
END_TEST

/* --- scattering ---------------------------------------------------------- */

static double *scattered; /* what is expected */

static void start_scatter(uint32_t type, int axis, const uint32_t *updates,
                          uint32_t n_indices)
{
    unit_start(&r, type, axis & 1);
    unit_in(&r, BLOB_F16, 0x321, C, B, A);
    unit_out(&r, BLOB_F16, 0x321, C, B, A);
    if (n_indices)
        unit_in(&r, BLOB_S32, 3, n_indices);
    else
        unit_in(&r, BLOB_S32, 0x321, updates[2], updates[1], updates[0]);
    unit_in(&r, BLOB_F16, 0x321, updates[2], updates[1], updates[0]);
    unit_constant(&r, BLOB_S32, 3, 1);
    unit_set(&r, 4, 0, axis);
    fill_ids(0);
    fill_ids(3);
    for (uint64_t k = 0; k < r.n[3]; k++)
        r.v[3][k] = -r.v[3][k];
    scattered = arena_memdup(r.a, r.v[0], r.n[0] * sizeof(double));
}

static void check_scattered(void)
{
    unit_run(&r);
    for (uint64_t k = 0; k < r.n[1]; k++)
        ck_assert_double_eq(r.v[1][k], scattered[k]);
    unit_end(&r);
}

START_TEST(scatter)
{
    static const uint32_t dims[] = {A, B, C};

    for (int axis = -1; axis < 3; axis++) {
        uint32_t updates[] = {A, B, C}, i[3],
                 at = axis < 0 ? 2 : (uint32_t)axis;

        updates[at] = 4;
        start_scatter(103, axis, updates, 4);
        unit_ints(&r, 2, 4, 1, -1, 99, 2);
        for (uint64_t k = 0; k < r.n[3]; k++) {
            double index;

            unravel(k, updates, 3, i);
            index = r.v[2][i[at]];
            i[at] = (uint32_t)index;
            if (index >= 0 && index < dims[at])
                scattered[(i[0] * B + i[1]) * C + i[2]] = r.v[3][k];
        }
        check_scattered();
    }
}
END_TEST

START_TEST(scatter_elements)
{
    static const uint32_t dims[] = {A, B, C};

    for (int axis = -2; axis < 3; axis++) {
        uint32_t at = (uint32_t)(axis < 0 ? axis + 3 : axis);
        uint32_t updates[] = {2, 2, 3}, i[3];

        start_scatter(126, axis, updates, 0);
        for (uint64_t k = 0; k < r.n[2]; k++)
            unit_set(&r, 2, k, (int)unit_below(&r, 7) - 1);
        for (uint64_t k = 0; k < r.n[3]; k++) {
            double index = r.v[2][k];

            unravel(k, updates, 3, i);
            i[at] = (uint32_t)index;
            if (index >= 0 && index < dims[at])
                scattered[(i[0] * B + i[1]) * C + i[2]] = r.v[3][k];
        }
        check_scattered();
    }
}
END_TEST

/* --- other arrangements -------------------------------------------------- */

START_TEST(tiles)
{
    for (uint32_t axis = 0; axis < 3; axis++) {
        const uint32_t dims[] = {A, B, C};
        uint32_t out[] = {A, B, C}, i[3];

        out[axis] *= 3;
        unit_start(&r, 28, axis & 1);
        unit_word(&r, 2 - axis);
        unit_word(&r, 3);
        unit_in(&r, type_of(axis), 0x321, C, B, A);
        unit_out(&r, type_of(axis), 0x321, out[2], out[1], out[0]);
        fill_ids(0);
        unit_run(&r);
        for (uint64_t k = 0; k < r.n[1]; k++) {
            unravel(k, out, 3, i);
            i[axis] %= dims[axis];
            ck_assert_double_eq(r.v[1][k], value(0, dims, 3, i));
        }
        unit_end(&r);
    }
}
END_TEST

START_TEST(joined)
{
    for (uint32_t axis = 0; axis < 3; axis++) {
        uint32_t dims[3][3], out[] = {A, B, C}, i[3];

        out[axis] = 2 + 3 + 1;
        unit_start(&r, 128, axis & 1);
        unit_word(&r, 2 - axis);
        unit_word(&r, 3);
        for (uint32_t t = 0; t < 3; t++) {
            memcpy(dims[t], out, sizeof out);
            dims[t][axis] = t < 2 ? t + 2 : 1;
            unit_in(&r, BLOB_F16, 0x321, dims[t][2], dims[t][1], dims[t][0]);
            unit_fill(&r, t, -9, 9);
        }
        unit_out(&r, BLOB_F16, 0x321, out[2], out[1], out[0]);
        unit_run(&r);
        for (uint64_t k = 0; k < r.n[3]; k++) {
            uint32_t t;

            unravel(k, out, 3, i);
            t = i[axis] < 2 ? 0 : i[axis] < 5 ? 1 : 2;
            i[axis] -= t == 0 ? 0 : t == 1 ? 2 : 5;
            ck_assert_double_eq(r.v[3][k], value(t, dims[t], 3, i));
        }
        unit_end(&r);
    }
}
END_TEST

START_TEST(flat)
{
    for (uint32_t k = 0; k < 4; k++) {
        unit_start(&r, 56, k & 1);
        if (k & 2)
            unit_in(&r, BLOB_F16, 0x213, B, C, A);
        else
            unit_in(&r, BLOB_F16, 0x321, C, A, B);
        unit_out(&r, BLOB_F16, 0x321, 1, 1, A * B * C);
        fill_ids(0);
        unit_run(&r);
        for (uint32_t i = 0; i < A * B * C; i++)
            ck_assert_double_eq(
                r.v[1][i], *unit_at(&r, 0, 0, i / C / A, i / C % A, i % C));
        unit_end(&r);
    }
}
END_TEST

/* Vectors of a slice of a tensor of 4 by 3 by 5, and which of its elements the
 * result has along each dim. */
static const struct {
    uint32_t n, masks[5]; /* begin, end, new, shrink, ellipsis: bits */
    int begin[4], end[4], step[4];
    uint32_t rank, out[4];
    uint32_t n_from[3], from[3][5];
} slices[] = {
    {3,
     {7, 7},
     {1, 0, 1},
     {3, 3, 5},
     {1, 1, 2},
     3,
     {2, 3, 2},
     {2, 3, 2},
     {{1, 2}, {0, 1, 2}, {1, 3}}},
    {3,
     {7, 7},
     {-3, -1, 3},
     {99, -4, 0},
     {2, -1, -1},
     3,
     {2, 3, 3},
     {2, 3, 3},
     {{1, 3}, {2, 1, 0}, {3, 2, 1}}},
    {3,
     {0, 0},
     {1, 1, 1},
     {2, 2, 2},
     {3, -2, 2},
     3,
     {2, 2, 3},
     {2, 2, 3},
     {{0, 3}, {2, 0}, {0, 2, 4}}},
    {1,
     {1, 1},
     {2},
     {4},
     {1},
     3,
     {2, 3, 5},
     {2, 3, 5},
     {{2, 3}, {0, 1, 2}, {0, 1, 2, 3, 4}}},
    {4,
     {15, 15, 2},
     {0, 0, 1, 0},
     {2, 0, 3, 2},
     {1, 1, 1, 1},
     4,
     {2, 1, 2, 2},
     {2, 2, 2},
     {{0, 1}, {1, 2}, {0, 1}}},
    {3,
     {7, 7, 0, 2},
     {0, -1, 0},
     {4, 9, 5},
     {1, 7, 1},
     2,
     {4, 5},
     {4, 1, 5},
     {{0, 1, 2, 3}, {2}, {0, 1, 2, 3, 4}}},
    {2,
     {3, 3, 0, 0, 1},
     {0, 1},
     {0, 4},
     {1, 1},
     3,
     {4, 3, 3},
     {4, 3, 3},
     {{0, 1, 2, 3}, {0, 1, 2}, {1, 2, 3}}},
};

START_TEST(sliced)
{
    static const uint32_t dims[] = {4, 3, 5};
    size_t s = (size_t)_i;
    uint64_t k = 0;

    unit_start(&r, 133, s & 1);
    for (uint32_t i = 0; i < 5; i++)
        unit_word(&r, slices[s].masks[i]);
    unit_in(&r, type_of(_i), 0x321, 5, 3, 4);
    for (uint32_t v = 0; v < 3; v++) {
        unit_in(&r, BLOB_S32, 3, slices[s].n);
        for (uint32_t i = 0; i < slices[s].n; i++)
            unit_set(&r, 1 + v, i,
                     v == 0   ? slices[s].begin[i]
                     : v == 1 ? slices[s].end[i]
                              : slices[s].step[i]);
    }
    if (slices[s].rank == 2)
        unit_out(&r, type_of(_i), 0x43, slices[s].out[1], slices[s].out[0]);
    else if (slices[s].rank == 3)
        unit_out(&r, type_of(_i), 0x321, slices[s].out[2], slices[s].out[1],
                 slices[s].out[0]);
    else
        unit_out(&r, type_of(_i), 0x4321, slices[s].out[3], slices[s].out[2],
                 slices[s].out[1], slices[s].out[0]);
    fill_ids(0);
    unit_run(&r);
    for (uint32_t a = 0; a < slices[s].n_from[0]; a++)
        for (uint32_t b = 0; b < slices[s].n_from[1]; b++)
            for (uint32_t c = 0; c < slices[s].n_from[2]; c++) {
                uint32_t i[] = {slices[s].from[0][a], slices[s].from[1][b],
                                slices[s].from[2][c]};

                ck_assert_double_eq(r.v[4][k++], value(0, dims, 3, i));
            }
    ck_assert_uint_eq(k, r.n[4]);
    unit_end(&r);
}
END_TEST

/* Vectors that name more or less than the output has room for, and steps of 0.
 */
START_TEST(slices_that_differ)
{
    for (int step = -2; step < 2; step++) {
        unit_start(&r, 133, false);
        for (uint32_t i = 0; i < 5; i++)
            unit_word(&r, i < 2);
        unit_in(&r, BLOB_F16, 3, 9);
        for (uint32_t v = 0; v < 3; v++) {
            unit_in(&r, BLOB_S32, 3, 1);
            unit_set(&r, 1 + v, 0,
                     v == 0   ? 5
                     : v == 1 ? step == -2 ? 5 : 7
                              : step);
        }
        unit_out(&r, BLOB_F16, 3, 4);
        fill_ids(0);
        unit_run(&r);
        for (uint32_t i = 0; i < 4; i++)
            ck_assert_double_eq(r.v[4][i], step == 1 && i < 2 ? 6 + i : 0);
        unit_end(&r);
    }
}
END_TEST

START_TEST(reversed)
{
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t axis = k & 1 ? 0 : 1, batch = k & 1 ? 1 : 2;
        static const uint32_t dims[] = {A, B, C};
        uint32_t n = dims[2 - batch], i[3];

        unit_start(&r, 94, k > 1);
        unit_word(&r, axis);
        unit_word(&r, batch);
        unit_in(&r, BLOB_F16, 0x321, C, B, A);
        unit_in(&r, k > 1 ? BLOB_S32 : BLOB_F16, 3, n);
        unit_out(&r, BLOB_F16, 0x321, C, B, A);
        fill_ids(0);
        for (uint32_t b = 0; b < n; b++)
            unit_set(&r, 1, b, b == 0 ? -1 : b == 1 ? 99 : (int)b);
        unit_run(&r);
        for (uint64_t o = 0; o < r.n[2]; o++) {
            int length;
            uint32_t *at = &i[2 - axis];

            unravel(o, dims, 3, i);
            length = (int)fmin(r.v[1][i[2 - batch]], dims[2 - axis]);
            if ((int)*at < length)
                *at = (uint32_t)length - 1 - *at;
            ck_assert_double_eq(r.v[2][o], value(0, dims, 3, i));
        }
        unit_end(&r);
    }
}
END_TEST

START_TEST(broadcasts)
{
    /* Right-aligned; by axes 0 and 2 of the result. */
    for (uint32_t mode = 0; mode < 3; mode++) {
        unit_start(&r, 129, mode & 1);
        unit_word(&r, mode);
        unit_in(&r, BLOB_F16, 0x43, C, mode == 1 ? A : 1);
        unit_in(&r, BLOB_S32, 3, 3);
        if (mode == 1) {
            unit_constant(&r, BLOB_S32, 3, 2);
            unit_ints(&r, 2, 2, 0, 2);
        }
        unit_out(&r, BLOB_F16, 0x321, C, B, A);
        fill_ids(0);
        unit_run(&r);
        for (uint32_t a = 0; a < A; a++)
            for (uint32_t k = 0; k < B * C; k++)
                ck_assert_double_eq(r.v[mode == 1 ? 3 : 2][a * B * C + k],
                                    1 + k % C + (mode == 1 ? a * C : 0));
        unit_end(&r);
    }
}
END_TEST

/* --- searching ----------------------------------------------------------- */

START_TEST(top)
{
    static const uint32_t dims[] = {A, B, 40};

    for (uint32_t k = 0; k < 24; k++) {
        uint32_t axis = k % 2 ? 2 : 1, n = dims[axis];
        uint32_t most = axis == 1 ? 2 : 7, sort = k / 2 % 3;
        uint32_t outs = k / 6 % 2 ? 1 : 2; /* without values: 1 */
        bool least = k >= 12;
        uint32_t out[] = {A, B, 40}, i[3];

        out[axis] = most;
        unit_start(&r, 104, k & 4);
        unit_word(&r, 2 - axis);
        unit_word(&r, least);
        unit_word(&r, sort);
        unit_word(&r, outs == 2);
        unit_word(&r, 1);
        unit_in(&r, BLOB_F16, 0x321, 40, B, A);
        unit_in(&r, BLOB_S32, 3, 1);
        unit_set(&r, 1, 0, most);
        if (outs == 2)
            unit_out(&r, BLOB_F16, 0x321, out[2], out[1], out[0]);
        unit_out(&r, BLOB_S32, 0x321, out[2], out[1], out[0]);
        for (uint64_t e = 0; e < r.n[0]; e++)
            unit_set(&r, 0, e, (int)unit_below(&r, 12) - 6);
        unit_run(&r);
        for (uint64_t o = 0; o < r.n[1 + outs]; o++) {
            uint32_t found = (uint32_t)r.v[1 + outs][o], before = 0, place;
            double v;

            unravel(o, out, 3, i);
            place = i[axis];
            i[axis] = found;
            v = value(0, dims, 3, i);
            if (outs == 2)
                ck_assert_double_eq(r.v[2][o], v);
            /* As many are better, or equal and before it. */
            for (i[axis] = 0; i[axis] < n; i[axis]++) {
                double q = value(0, dims, 3, i);

                before +=
                    (least ? q < v : q > v) || (q == v && i[axis] < found);
            }
            if (sort != 2) {
                ck_assert_uint_eq(before, place);
                continue;
            }
            ck_assert_uint_lt(before, most);
            i[axis] = place;
            if (place) {
                i[axis]--;
                ck_assert_double_lt(value(1 + outs, out, 3, i), found);
            }
        }
        unit_end(&r);
    }
}
END_TEST

/* What is no number is never among the best; a K that the output has no room
 * for. */
START_TEST(top_extremes)
{
    for (int k = -1; k < 6; k += 3) {
        unit_start(&r, 104, false);
        unit_word(&r, 0);
        unit_word(&r, 0);
        unit_word(&r, 1);
        unit_word(&r, 1);
        unit_word(&r, 1);
        unit_in(&r, BLOB_F16, 3, 5);
        unit_in(&r, BLOB_S32, 3, 1);
        unit_out(&r, BLOB_F16, 3, 3);
        unit_out(&r, BLOB_S32, 3, 3);
        r.v[0][0] = NAN;
        r.v[0][1] = -0.0;
        r.v[0][2] = INFINITY;
        r.v[0][3] = 0;
        r.v[0][4] = -INFINITY;
        unit_set(&r, 1, 0, k);
        unit_run(&r);
        ck_assert_double_eq(r.v[2][0], k > 0 ? INFINITY : 0);
        ck_assert_double_eq(r.v[3][0], k > 0 ? 2 : 0);
        ck_assert_double_eq(r.v[3][1], k > 0 ? 1 : 0);
        ck_assert_double_eq(r.v[3][2], k > 2 ? 3 : 0);
        unit_end(&r);
    }
}
END_TEST

START_TEST(one_hot)
{
    for (uint32_t axis = 0; axis < 3; axis++) {
        uint32_t out[] = {A, B, 0}, i[3];

        memmove(out + axis + 1, out + axis, (2 - axis) * sizeof *out);
        out[axis] = 7;
        unit_start(&r, 117, axis & 1);
        unit_word(&r, 2 - axis);
        unit_word(&r, 7);
        unit_float(&r, 2);
        unit_float(&r, -0.5);
        unit_in(&r, BLOB_S32, 0x43, B, A);
        unit_out(&r, BLOB_F16, 0x321, out[2], out[1], out[0]);
        for (uint64_t k = 0; k < r.n[0]; k++)
            unit_set(&r, 0, k, (int)unit_below(&r, 9) - 1);
        unit_run(&r);
        for (uint64_t o = 0; o < r.n[1]; o++) {
            uint32_t rest[2], n = 0;

            unravel(o, out, 3, i);
            for (uint32_t d = 0; d < 3; d++)
                if (d != axis)
                    rest[n++] = i[d];
            ck_assert_double_eq(
                r.v[1][o], r.v[0][rest[0] * B + rest[1]] == i[axis] ? 2 : -0.5);
        }
        unit_end(&r);
    }
}
END_TEST

START_TEST(non_zero)
{
    for (uint32_t dynamic = 0; dynamic < 2; dynamic++) {
        unit_start(&r, 122, !dynamic);
        unit_in(&r, BLOB_F16, 0x43, 3, 2);
        unit_out(&r, BLOB_S32, 0x43, 6, 2);
        unit_out(&r, BLOB_S32, 3, 2);
        if (dynamic)
            unit_dynamic(&r, 1);
        unit_ints(&r, 0, 6, 0, 4, 0, -1, 0, 7);
        unit_run(&r);
        ck_assert_double_eq(r.v[2][0], 2);
        ck_assert_double_eq(r.v[2][1], 3);
        for (uint32_t k = 0; k < 3; k++) {
            ck_assert_double_eq(r.v[1][k], k > 0);
            ck_assert_double_eq(r.v[1][6 + k], k == 0 ? 1 : k == 1 ? 0 : 2);
        }
        unit_end(&r);
    }
}
END_TEST

START_TEST(non_zero_of_three_dims)
{
    uint32_t found = 0;

    unit_start(&r, 122, false);
    unit_in(&r, BLOB_S32, 0x321, C, B, A);
    unit_out(&r, BLOB_S32, 0x43, A * B * C, 3);
    unit_out(&r, BLOB_S32, 3, 2);
    for (uint64_t i = 0; i < r.n[0]; i++)
        unit_set(&r, 0, i, unit_below(&r, 3));
    unit_run(&r);
    for (uint32_t i = 0; i < A * B * C; i++)
        if (r.v[0][i] != 0) {
            ck_assert_double_eq(r.v[1][found], i / B / C);
            ck_assert_double_eq(r.v[1][A * B * C + found], i / C % B);
            ck_assert_double_eq(r.v[1][2 * A * B * C + found], i % C);
            found++;
        }
    ck_assert_double_eq(r.v[2][0], 3);
    ck_assert_double_eq(r.v[2][1], found);
    unit_end(&r);
}
END_TEST

/* Dims of an input that are known when it runs. */
START_TEST(dynamic_inputs)
{
    unit_start(&r, 102, false);
    unit_in(&r, BLOB_F16, 3, 4);
    unit_out(&r, BLOB_F16, 3, 4);
    r.buffers[0].desc.dims_location = BLOB_OUTPUT;
    unit_fails(&r, VPU_ERR_UNSUPPORTED, "known when it runs");
    unit_end(&r);
}
END_TEST

START_TEST(shapes)
{
    static const struct {
        int special, asks[3], want[3];
    } rows[] = {{1, {0, -1, 2}, {4, 15, 2}},
                {0, {5, 6, 4}, {5, 6, 4}},
                {0, {0, -1, 2}, {0, 0, 2}},
                {1, {-1, 0, 0}, {2, 6, 10}}};

    for (size_t k = 0; k < COUNT(rows); k++) {
        unit_start(&r, 127, k & 1);
        unit_word(&r, rows[k].special);
        unit_in(&r, BLOB_S32, 3, 3);
        unit_in(&r, BLOB_S32, 3, 3);
        unit_out(&r, BLOB_S32, 3, 3);
        unit_ints(&r, 0, 3, k == 3 ? 2 : 4, k == 3 ? 6 : 3, 10);
        for (uint32_t i = 0; i < 3; i++)
            unit_set(&r, 1, i, rows[k].asks[i]);
        unit_run(&r);
        for (uint32_t i = 0; i < 3; i++)
            ck_assert_double_eq(r.v[2][i], rows[k].want[i]);
        unit_end(&r);
    }
}
END_TEST

/* --- reducing ------------------------------------------------------------ */

static double reduced(uint32_t type, double v, double x, bool first)
{
    switch (type) {
    case 93:
        return (first || v) && x;
    case 105:
        return first ? x : fmin(v, x);
    case 112:
        return first ? x : fmax(v, x);
    default:
        return first ? x : v + x;
    }
}

START_TEST(reductions)
{
    static const uint32_t types[] = {93, 105, 112, 113, 114};
    static const uint32_t dims[] = {A, B, C, D};
    uint32_t type = types[_i];

    /* Any set of axes, kept or not. */
    for (uint32_t k = 0; k < 64; k++) {
        uint32_t axes = k % 16, elements = k & 32 ? BLOB_S32 : BLOB_F16;
        uint32_t out[4], rank = 0, n = 0, i[4], goes = 1;
        double want[A * B * C * D] = {0};
        bool seen[A * B * C * D] = {0}, keeps = k & 16;

        for (uint32_t d = 0; d < 4; d++) {
            if (axes >> d & 1)
                goes *= dims[d];
            if (keeps || !(axes >> d & 1))
                out[rank++] = axes >> d & 1 ? 1 : dims[d];
            n += axes >> d & 1;
        }
        if (!n || !rank)
            continue;
        unit_start(&r, type, k & 1);
        unit_word(&r, keeps);
        unit_in(&r, elements, 0x4321, D, C, B, A);
        unit_out(&r, elements,
                 rank == 4   ? 0x4321
                 : rank == 3 ? 0x321
                 : rank == 2 ? 0x43
                             : 3,
                 out[rank - 1], rank > 1 ? out[rank - 2] : 0,
                 rank > 2 ? out[rank - 3] : 0, rank > 3 ? out[0] : 0);
        r.gaps = false;
        unit_constant(&r, BLOB_S32, 3, n);
        for (uint32_t d = 0, at = 0; d < 4; d++)
            if (axes >> (3 - d) & 1)
                unit_set(&r, 2, at++, d);
        for (uint64_t e = 0; e < r.n[0]; e++)
            unit_set(&r, 0, e,
                     type == 93 ? unit_below(&r, 30) > 0
                                : (int)unit_below(&r, 20) - 10);
        unit_run(&r);
        for (uint64_t e = 0; e < r.n[0]; e++) {
            uint32_t to = 0;

            unravel(e, dims, 4, i);
            for (uint32_t d = 0; d < 4; d++)
                if (!(axes >> d & 1))
                    to = to * dims[d] + i[d];
            want[to] = reduced(type, want[to], r.v[0][e], !seen[to]);
            seen[to] = true;
        }
        for (uint64_t o = 0; o < r.n[1]; o++)
            if (elements == BLOB_S32)
                ck_assert_double_eq(
                    r.v[1][o], type == 114 ? trunc(want[o] / goes) : want[o]);
            else
                unit_near(r.v[1][o], type == 114 ? want[o] / goes : want[o],
                          1e-6);
        unit_end(&r);
    }
}
END_TEST

/* --- records that are wrong ---------------------------------------------- */

START_TEST(wrong_indices)
{
    unit_start(&r, 100, false);
    unit_word(&r, 2);
    unit_in(&r, BLOB_F16, 0x43, 4, 3);
    unit_out(&r, BLOB_F16, 0x43, 4, 2);
    unit_in(&r, BLOB_S32, 3, 2);
    unit_fails(&r, VPU_ERR_PARSE, "the axis is 2, expected 0 to 1");
    r.words[0] = 0;
    unit_fails(&r, VPU_ERR_PARSE, "8 elements, expected 6");
    r.words[0] = 1;
    r.buffers[2].desc.type = BLOB_U8;
    unit_fails(&r, VPU_ERR_UNSUPPORTED, "of type U8");
    unit_end(&r);

    unit_start(&r, 136, false);
    unit_word(&r, 1);
    unit_in(&r, BLOB_F16, 0x43, 4, 3);
    unit_out(&r, BLOB_F16, 0x43, 4, 3);
    unit_in(&r, BLOB_S32, 0x43, 2, 3);
    unit_fails(&r, VPU_ERR_PARSE, "indices of 2 numbers behind 1 dims");
    unit_end(&r);

    unit_start(&r, 126, false);
    unit_in(&r, BLOB_F16, 3, 4);
    unit_out(&r, BLOB_F16, 3, 4);
    unit_in(&r, BLOB_S32, 3, 2);
    unit_in(&r, BLOB_F16, 3, 2);
    unit_constant(&r, BLOB_S32, 3, 1);
    unit_set(&r, 4, 0, 1);
    unit_fails(&r, VPU_ERR_PARSE, "axis 1 of 1 dims");
    r.buffers[4].location = BLOB_BSS;
    unit_fails(&r, VPU_ERR_UNSUPPORTED, "no constant");
    unit_end(&r);

    unit_start(&r, 114, false);
    unit_word(&r, 0);
    unit_in(&r, BLOB_F16, 0x43, 4, 3);
    unit_out(&r, BLOB_F16, 3, 4);
    unit_constant(&r, BLOB_S32, 3, 1);
    unit_set(&r, 2, 0, -1);
    unit_fails(&r, VPU_ERR_PARSE, "axis -1 of 2 dims");
    unit_set(&r, 2, 0, 0);
    unit_fails(&r, VPU_ERR_PARSE, "4 elements, expected 3");
    r.buffers[1].desc.type = BLOB_U8;
    unit_fails(&r, VPU_ERR_UNSUPPORTED, "out0 is of type U8");
    unit_end(&r);
}
END_TEST

START_TEST(wrong_types)
{
    unit_start(&r, 133, false);
    for (uint32_t i = 0; i < 5; i++)
        unit_word(&r, 0);
    unit_in(&r, BLOB_F16, 3, 4);
    unit_in(&r, BLOB_S32, 3, 1);
    unit_in(&r, BLOB_F16, 3, 1);
    unit_absent(&r);
    unit_out(&r, BLOB_F16, 3, 4);
    unit_fails(&r, VPU_ERR_UNSUPPORTED, "in2 is of type FP16");
    r.buffers[2].desc.type = BLOB_S32;
    r.buffers[2].desc.strides[0] = 4;
    r.buffers[4].desc.type = BLOB_U8;
    unit_fails(&r, VPU_ERR_UNSUPPORTED, "out0 is of type U8");
    unit_end(&r);

    for (uint32_t k = 0; k < 3; k++) {
        unit_start(&r, 127, false);
        unit_word(&r, 0);
        unit_in(&r, k == 0 ? BLOB_F16 : BLOB_S32, 3, 2);
        unit_in(&r, k == 1 ? BLOB_F16 : BLOB_S32, 3, 2);
        unit_out(&r, k == 2 ? BLOB_F16 : BLOB_S32, 3, 2);
        unit_fails(&r, VPU_ERR_UNSUPPORTED, "of type FP16");
        unit_end(&r);
    }

    unit_start(&r, 94, false);
    unit_word(&r, 0);
    unit_word(&r, 1);
    unit_in(&r, BLOB_F16, 0x43, 4, 3);
    unit_in(&r, BLOB_U8, 3, 3);
    unit_out(&r, BLOB_F16, 0x43, 4, 3);
    unit_fails(&r, VPU_ERR_UNSUPPORTED, "in1 is of type U8");
    unit_end(&r);
}
END_TEST

START_TEST(wrong_counts)
{
    unit_start(&r, 104, false);
    unit_word(&r, 0);
    unit_word(&r, 0);
    unit_word(&r, 0);
    unit_word(&r, 1);
    unit_word(&r, 1);
    unit_in(&r, BLOB_F16, 3, 4);
    unit_in(&r, BLOB_S32, 3, 1);
    unit_out(&r, BLOB_F16, 3, 5);
    unit_fails(&r, VPU_ERR_PARSE, "3 buffers, expected 4");
    unit_out(&r, BLOB_S32, 3, 5);
    unit_fails(&r, VPU_ERR_PARSE, "dim 0 of the output is 5");
    unit_end(&r);

    unit_start(&r, 128, false);
    unit_word(&r, 0);
    unit_word(&r, 2);
    unit_in(&r, BLOB_F16, 3, 4);
    unit_in(&r, BLOB_F16, 3, 4);
    unit_out(&r, BLOB_F16, 3, 7);
    unit_fails(&r, VPU_ERR_PARSE, "dims of 8 for the output's 7");
    r.words[1] = 3;
    unit_fails(&r, VPU_ERR_PARSE, "inputs is 3");
    r.s.n_buffers = 0;
    unit_fails(&r, VPU_ERR_PARSE, "0 buffers, expected at least 1");
    unit_end(&r);

    unit_start(&r, 28, false);
    unit_word(&r, 0);
    unit_word(&r, 3);
    unit_in(&r, BLOB_F16, 3, 4);
    unit_out(&r, BLOB_F16, 3, 13);
    unit_fails(&r, VPU_ERR_PARSE, "the output is 13, of the input 4");
    unit_end(&r);

    unit_start(&r, 129, false);
    unit_word(&r, 0);
    unit_in(&r, BLOB_F16, 3, 4);
    unit_in(&r, BLOB_S32, 3, 1);
    unit_out(&r, BLOB_F16, 3, 5);
    unit_fails(&r, VPU_ERR_PARSE, "dim 0 is 4, of the output 5");
    unit_end(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("index");
    TCase *t = tcase_create("index");
    SRunner *runner;
    int bad;

    tcase_set_timeout(t, 120);
    tcase_add_test(t, gather);
    tcase_add_test(t, gather_nd);
    tcase_add_test(t, gather_elements);
    tcase_add_test(t, scatter);
    tcase_add_test(t, scatter_elements);
    tcase_add_test(t, tiles);
    tcase_add_test(t, joined);
    tcase_add_test(t, flat);
    tcase_add_loop_test(t, sliced, 0, COUNT(slices));
    tcase_add_test(t, slices_that_differ);
    tcase_add_test(t, reversed);
    tcase_add_test(t, broadcasts);
    tcase_add_test(t, top);
    tcase_add_test(t, top_extremes);
    tcase_add_test(t, one_hot);
    tcase_add_test(t, non_zero);
    tcase_add_test(t, non_zero_of_three_dims);
    tcase_add_test(t, dynamic_inputs);
    tcase_add_test(t, shapes);
    tcase_add_loop_test(t, reductions, 0, 5);
    tcase_add_test(t, wrong_indices);
    tcase_add_test(t, wrong_types);
    tcase_add_test(t, wrong_counts);
    suite_add_tcase(s, t);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    bad = srunner_ntests_failed(runner);
    srunner_free(runner);
    return bad != 0;
}
