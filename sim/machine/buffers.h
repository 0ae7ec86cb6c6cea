/* Tensors in DDR, for the trace: which one lies at an address, and what a
 * transfer moves of it. Private to the launch's maker and the emitter. */
#ifndef VPU_SIM_MACHINE_BUFFERS_H
#define VPU_SIM_MACHINE_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/machine/steps.h"

typedef struct {
    const char *name;     /* as the binding calls it; borrowed */
    const char *argument; /* of the kernel, that points into it; NULL: none */
    uint32_t place;       /* the device's address of its first byte */
    uint64_t bytes;
    uint32_t element_bytes; /* as the kernel's argument has them; 0 = unknown */
} mach_buffer;

/* Sorts them by place, as mach_buffer_at wants them. */
void mach_buffers_sort(mach_buffer *buffers, uint32_t n);
/* The last one that begins at the place or before, when it reaches there: its
 * index; n: none does. */
uint32_t mach_buffer_at(const mach_buffer *buffers, uint32_t n, uint32_t place);

/* The lowest and the highest address that bytes of the walk have; false: it
 * has no bytes, or they leave the 32-bit addresses. */
bool mach_walk_range(const mach_walk *w, uint32_t *first, uint32_t *last);

#endif
