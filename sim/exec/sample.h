/* The first global accesses of a launch's first SHAVE, kept for whoever asks
 * afterwards which of them were in each other's way (sim/machine/crowding.h).
 */
#ifndef VPU_SIM_EXEC_SAMPLE_H
#define VPU_SIM_EXEC_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "sim/exec/memory.h"

enum { EXEC_SAMPLE_ACCESSES = 1 << 14, EXEC_SAMPLE_BUFFERS = 64 };

typedef struct {
    /* Cut where it is longer. A copy: what a launch places itself, as the
     * program's constants, is gone when somebody asks. */
    char name[48];
    uint32_t place; /* the device's address of its first byte */
    uint64_t bytes;
} exec_sample_buffer;

typedef struct {
    uint32_t n_shaves; /* of the launch */
    uint32_t n;        /* accesses: MACH_ACCESS of places */
    uint32_t n_buffers;
    exec_sample_buffer buffers[EXEC_SAMPLE_BUFFERS];
    uint64_t list[EXEC_SAMPLE_ACCESSES];
} exec_sample;

/* Empty, for a launch on so many SHAVEs with the buffers that m has now. */
void exec_sample_begin(exec_sample *s, const memory *m, uint32_t n_shaves);
void exec_sample_add(exec_sample *s, mach_places places, const uint64_t *list,
                     uint64_t n);
/* The buffer with that place, NULL: none that was kept. */
const exec_sample_buffer *exec_sample_buffer_at(const exec_sample *s,
                                                uint32_t place);

#endif
