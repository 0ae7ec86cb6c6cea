/* The tensors of well-known networks, made from their published architectures:
 * for the tests of runtime/pool and the table of docs/memory.md. */
#ifndef VPU_TESTS_RUNTIME_POOL_NETWORKS_H
#define VPU_TESTS_RUNTIME_POOL_NETWORKS_H

#include <stddef.h>

#include "runtime/pool/plan.h"

enum { MOST_TENSORS = 1000 };

/* One image, elements of two bytes, addresses of 64. Each operation is a step
 * that makes one tensor; activations and batch normalizations behind a
 * convolution are part of it. The input is there at step 0. A tensor lives from
 * the step that makes it to the last that reads it; results, to the end. */
typedef struct {
    pool_item items[MOST_TENSORS];
    size_t n;
    int channels[MOST_TENSORS], height[MOST_TENSORS];
} network;

typedef struct {
    const char *name;
    void (*make)(network *net); /* adds to a zeroed one */
} network_row;

extern const network_row networks[];
extern const size_t n_networks;

/* The network of a row, from nothing. */
void network_make(const network_row *row, network *net);

#endif
