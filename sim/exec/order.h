/* In which order groups run: a permutation of 0 … n-1 that needs no memory. */
#ifndef VPU_SIM_EXEC_ORDER_H
#define VPU_SIM_EXEC_ORDER_H

#include <stdint.h>

#include "sim/exec/exec.h"

/* Group at position i of n in this order. */
uint64_t exec_order_at(exec_order order, uint64_t seed, uint64_t n, uint64_t i);

#endif
