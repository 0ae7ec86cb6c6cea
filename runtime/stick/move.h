/* Stages that move elements: any strides, any order, other types. */
#ifndef VPU_RUNTIME_STICK_MOVE_H
#define VPU_RUNTIME_STICK_MOVE_H

#include "runtime/blob/blob.h"

typedef struct {
    uint32_t from_type, to_type;        /* blob_type */
    uint32_t rank, dims[BLOB_MAX_DIMS]; /* of the result, the fastest first */
    uint32_t from_strides[BLOB_MAX_DIMS], to_strides[BLOB_MAX_DIMS]; /* bytes */
    uint32_t from_offset, to_offset;                                 /* bytes */
    float scale, bias; /* 1, 0: bits are kept where the type is */
} stick_move;

/* Of a Copy, Permute or Convert stage; its offsets are not set.
 *
 * VPU_ERR_UNSUPPORTED  dims that do not fit, dynamic ones, types that are not
 *                      converted */
vpu_status stick_move_of(const blob_stage *s, stick_move *out, vpu_error *err);
/* Bytes from the first element's to behind the last. */
uint64_t stick_move_span(const stick_move *m, bool to);
/* from and to: spans of memory at the offsets' origin; they may be the same. */
void stick_move_run(const stick_move *m, const void *from, void *to);

#endif
