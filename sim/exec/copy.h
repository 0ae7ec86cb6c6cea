/* What a DMA transfer moves. */
#ifndef VPU_SIM_EXEC_COPY_H
#define VPU_SIM_EXEC_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/machine/engine.h"

/* Lines of each side are consecutive runs of width bytes, pitch bytes apart;
 * both sides walk their own lines until `bytes` are moved, per plane. */
typedef struct {
    uint32_t dst, src; /* device addresses */
    uint32_t bytes;    /* per plane */
    uint32_t src_width, dst_width, src_pitch, dst_pitch;
    uint32_t planes, src_plane, dst_plane;
} copy_shape;

/* Performs the copy in the window (may fault there). False: a zero width with
 * bytes to move, nothing done. */
bool copy_run(const copy_shape *s, uint8_t *window);

/* Contiguous runs on the side that has more of them; at least 1. */
uint32_t copy_lines(const copy_shape *s);

/* What the timing model needs to know of one side. */
mach_walk copy_side(const copy_shape *s, bool destination);

#endif
