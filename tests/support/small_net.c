/* Networks of a few stages. */
#include "tests/support/small_net.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/blob/plan.h"
#include "runtime/blob/stage.h"
#include "runtime/graph/tensor.h"

enum { KERNEL = 9, N_WEIGHTS = 8 * KERNEL * SMALL_IN };

/* The same every time. */
static float weight(uint32_t o, uint32_t i, uint32_t k)
{
    return (float)((int)((o * 31 + i * 17 + k * 7) % 13) - 6) / 8;
}

static void must(vpu_status st, const vpu_error *err)
{
    if (st) {
        fprintf(stderr, "a small network: %s\n", err->msg);
        abort();
    }
}

static void build(const plan *p, arena *a, blob *out)
{
    vpu_error err = {0};

    must(plan_blob(p, a, out, &err), &err);
}

static plan_tensor tensor_of(const char *name, blob_location location,
                             uint32_t w, uint32_t h, uint32_t c)
{
    return (plan_tensor){.name = name,
                         .location = location,
                         .type = BLOB_F16,
                         .order = 0x4321,
                         .rank = 4,
                         .dims = {w, h, c, 1}};
}

void small_net(arena *a, uint32_t batch, blob *out)
{
    uint16_t *weights = arena_array(a, uint16_t, N_WEIGHTS);
    plan_tensor tensors[] = {
        tensor_of("data", BLOB_INPUT, SMALL_W, SMALL_H, SMALL_IN),
        tensor_of(NULL, BLOB_CONST, 8, KERNEL, SMALL_IN),
        tensor_of(NULL, BLOB_BSS, SMALL_W, SMALL_H, SMALL_OUT),
        tensor_of("prob", BLOB_OUTPUT, SMALL_W, SMALL_H, SMALL_OUT)};
    static const uint32_t conv[] = {
        1, 0, 0, 1, 0, 0, 2, 1, (uint32_t)-1, (uint32_t)-1, 0, 8, 3, 3, 1,
        1, 0, 0, 1, 0, 0, 0, 0};
    static const uint32_t axis[] = {2};
    static const uint32_t of_conv[] = {0, 1, 2}, of_softmax[] = {2, 3};
    const plan_stage stages[] = {
        {STAGE_HW, conv, sizeof conv / sizeof *conv, of_conv, 3},
        {3, axis, 1, of_softmax, 2}};
    const plan p = {
        blob_release_of(CONFIG_2021_4), 9, 7, tensors, 4, stages, 2};

    for (uint32_t o = 0; o < SMALL_OUT; o++)
        for (uint32_t i = 0; i < SMALL_IN; i++)
            for (uint32_t k = 0; k < KERNEL; k++)
                weights[o + 8 * k + 8 * KERNEL * i] =
                    tensor_f32_to_f16(weight(o, i, k));
    tensors[1].bytes = weights;
    build(&p, a, out);
    out->batch = batch;
    out->inputs_size *= batch;
    out->outputs_size *= batch;
}

static float convolved(const uint16_t *x, uint32_t o, int row, int column)
{
    double sum = 0;

    for (int i = 0; i < SMALL_IN; i++)
        for (int k = 0; k < KERNEL; k++) {
            int r = row + k / 3 - 1, c = column + k % 3 - 1;

            if (r >= 0 && r < SMALL_H && c >= 0 && c < SMALL_W)
                sum += (double)weight(o, (uint32_t)i, (uint32_t)k) *
                       (double)tensor_f16_to_f32(
                           x[(i * SMALL_H + r) * SMALL_W + c]);
        }
    return sum > 0 ? (float)sum : 0;
}

void small_net_expected(const uint16_t *x, float *out)
{
    for (int row = 0; row < SMALL_H; row++)
        for (int column = 0; column < SMALL_W; column++) {
            double all = 0, v[SMALL_OUT];

            for (uint32_t o = 0; o < SMALL_OUT; o++)
                all += v[o] = exp((double)convolved(x, o, row, column));
            for (uint32_t o = 0; o < SMALL_OUT; o++)
                out[(o * SMALL_H + (uint32_t)row) * SMALL_W +
                    (uint32_t)column] = (float)(v[o] / all);
        }
}

void small_loop(arena *a, blob *out)
{
    plan_tensor tensors[] = {
        tensor_of("data", BLOB_INPUT, SMALL_W, SMALL_H, 1),
        tensor_of(NULL, BLOB_BSS, SMALL_W, 1, 1),
        tensor_of(NULL, BLOB_BSS, SMALL_W, 1, 1),
        tensor_of("rows", BLOB_OUTPUT, SMALL_W, SMALL_H, 1)};
    /* Iterations, stages, rules; axis, start, stride, end. */
    static const uint32_t start[] = {SMALL_H, 3, 1, 1, 0, 1, (uint32_t)-1};
    static const uint32_t end[] = {SMALL_H,      1, 1, (uint32_t)-1,
                                   (uint32_t)-1, 0};
    static const uint32_t power[] = {0x3f800000, 0x40000000, 0x3f800000};
    static const uint32_t of_start[] = {0, 1}, of_power[] = {1, 2},
                          of_end[] = {3, 2};
    const plan_stage stages[] = {{STAGE_LOOP_START, start, 7, of_start, 2},
                                 {26, power, 3, of_power, 2},
                                 {STAGE_LOOP_END, end, 6, of_end, 2}};
    const plan p = {
        blob_release_of(CONFIG_2021_4), 9, 7, tensors, 4, stages, 3};

    build(&p, a, out);
}

void small_bytes(const blob *b, arena *a, const uint8_t **data, size_t *n)
{
    str bytes = {0};
    vpu_error err = {0};

    must(blob_build(b, &bytes, &err), &err);
    *data = arena_memdup(a, bytes.data, bytes.n);
    *n = bytes.n;
    str_free(&bytes);
}
