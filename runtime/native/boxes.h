/* Boxes with scores: in order, and without those that lie upon better ones.
 * Private to runtime/native. */
#ifndef VPU_RUNTIME_NATIVE_BOXES_H
#define VPU_RUNTIME_NATIVE_BOXES_H

#include <stdint.h>

#include "runtime/native/native_priv.h"

typedef struct {
    float x0, y0, x1, y1;
} native_box;

typedef struct {
    float score;
    uint32_t index; /* of a box; any number that tells equal scores apart */
} native_scored;

/* The largest scores first, of equal ones the smaller index; those that are no
 * number last. */
void native_sort_scored(native_scored *v, uint32_t n);
/* Of the n, which are in order, those stay that share no more than `threshold`
 * of the union with one that stays, `most` of them at most; how many. offset is
 * added to widths and heights. */
uint32_t native_suppress(const native_job *j, const native_box *boxes,
                         native_scored *v, uint32_t n, uint32_t most,
                         float threshold, float offset);
/* The corners between 0 and the two numbers. */
native_box native_clip(native_box b, float width, float height);
/* A box moved by parts of its size, and scaled by powers of e: d has those of
 * x, y, width and height. offset: as above. */
native_box native_refine(native_box b, const float *d, float offset);

#endif
