/* What a DMA transfer moves. */
#ifndef VPU_SIM_EXEC_COPY_H
#define VPU_SIM_EXEC_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/compiler/abi/hostabi.h"
#include "sim/machine/engine.h"

/* Lines of each side are consecutive runs of width bytes, pitch bytes apart;
 * both sides walk their own lines until `bytes` are moved, per plane. */
typedef struct {
    uint32_t dst, src; /* device addresses */
    uint32_t bytes;    /* per plane */
    uint32_t src_width, dst_width, src_pitch, dst_pitch;
    uint32_t planes, src_plane, dst_plane;
} copy_shape;

/* Of the arguments of the hook dma (hostabi.h). */
copy_shape copy_shape_of(const sim_dma *args);

typedef enum {
    COPY_DONE,
    COPY_NO_WIDTH, /* a zero width with bytes to move, nothing done */
    COPY_OUTSIDE   /* it left the 32-bit addresses, up to there it is done */
} copy_result;

/* Performs the copy in the window (may fault there). */
copy_result copy_run(const copy_shape *s, uint8_t *window);

/* Contiguous runs on the side that has more of them; at least 1. */
uint32_t copy_lines(const copy_shape *s);

/* Events that later transfers joined, of one phase of a group: whoever waits
 * for such an event waits for those, too. */
enum { COPY_MAX_JOINED = 16 };
typedef struct {
    struct {
        uint32_t event, last; /* transfer that joined it last */
    } list[COPY_MAX_JOINED];
    uint32_t n, waited; /* transfers up to this one were waited for */
} copy_joined;

/* Transfer `number` joins `event`. With more open events than are kept, waits
 * are for more than they need to be. */
void copy_join(copy_joined *j, uint32_t event, uint32_t number);
/* The last transfer that a wait for events up to n is for. */
uint32_t copy_wait_end(const copy_joined *j, uint32_t n);
/* Transfers up to this one were waited for. */
void copy_waited(copy_joined *j, uint32_t last);

/* What the timing model needs to know of one side. */
mach_walk copy_side(const copy_shape *s, bool destination);

#endif
