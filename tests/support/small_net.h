/* Small networks as blobs, of the stages that a compiler would write, and what
 * they compute by plain loops. */
#ifndef VPU_TESTS_SUPPORT_SMALL_NET_H
#define VPU_TESTS_SUPPORT_SMALL_NET_H

#include "runtime/blob/blob.h"

enum {
    SMALL_W = 16,
    SMALL_H = 6,
    SMALL_IN = 3,
    SMALL_OUT = 8,
    SMALL_INPUTS = SMALL_W * SMALL_H * SMALL_IN,
    SMALL_OUTPUTS = SMALL_W * SMALL_H * SMALL_OUT
};

/* A convolution of 3x3 on the hardware engine, 3 to 8 channels with ReLU; then
 * softmax over the channels. batch: items of the input. */
void small_net(arena *a, uint32_t batch, blob *out);
/* x as halves: what small_net makes of one item. */
void small_net_expected(const uint16_t *x, float *out);

/* A loop over the rows of a tensor of SMALL_H rows: each becomes its double
 * plus one; the output has them in the order last to first. */
void small_loop(arena *a, blob *out);

/* The blob as bytes, in a. */
void small_bytes(const blob *b, arena *a, const uint8_t **data, size_t *n);

#endif
