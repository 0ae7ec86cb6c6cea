/* Several traces as small pictures beside each other, on one scale of time:
 * points of a sweep, versions of a kernel. Each is what its SHAVEs' time goes
 * to, from its begin to its end. */
#ifndef VPU_VISUALIZER_MULTIPLES_H
#define VPU_VISUALIZER_MULTIPLES_H

#include "visualizer/theme.h"
#include "visualizer/view.h"

enum { MULTIPLES_COLUMNS = 240, MULTIPLES_MAX = 200 };

/* What is kept of a trace; plain values, nothing to free. */
typedef struct {
    char title[96];
    double ns; /* from the first stage's begin to the last one's end */
    uint32_t n_shaves;
    uint64_t cause[TL_N_CAUSES]; /* ticks of all SHAVEs */
    uint64_t all;                /* ticks of all SHAVEs, recorded or not */
    /* Shares of the SHAVEs' time in equal parts of the trace. */
    float share[MULTIPLES_COLUMNS][TL_N_CAUSES];
} multiples_trace;

typedef struct {
    const multiples_trace *traces;
    uint32_t n; /* 1 to MULTIPLES_MAX */
    const theme *colors;
    double width; /* logical pixels, at least 400 */
} multiples_page;

void multiples_take(const view *v, const char *title, multiples_trace *out);
/* SVG or PNG by the end of the name; the fastest has a frame, times are told
 * beside the first one's.
 *
 * VPU_ERR_INVALID, VPU_ERR_IO, VPU_ERR_NOMEM  as cv_drawing_write */
vpu_status multiples_write(const multiples_page *p, const char *path,
                           vpu_error *err);

#endif
