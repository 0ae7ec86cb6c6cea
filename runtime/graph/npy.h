/* NumPy's .npy files: one tensor each.
 *
 * Read: format versions 1, 2 and 3; little-endian f2 f4 i4 u1 i1 i2 u2 i8;
 * fortran_order False; up to TENSOR_MAX_RANK dims, none of them 0.
 * Written: version 1.0. Elements are in logical order, layout TENSOR_PLAIN. */
#ifndef VPU_RUNTIME_GRAPH_NPY_H
#define VPU_RUNTIME_GRAPH_NPY_H

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "runtime/graph/tensor.h"

/* Bytes before the elements, at most: 64 KiB of header (NumPy's own limit for
 * safe reading is 10000) and what tells its length. */
enum { NPY_MAX_FRONT = 65536 + 12 };

/* What stands before the elements of a file of f->n bytes, of which the first
 * NPY_MAX_FRONT have to be at f->data; *at is where the elements begin. a: for
 * messages. The errors are those of npy_parse. */
vpu_status npy_parse_front(const file_bytes *f, arena *a, tensor_desc *desc,
                           size_t *at, vpu_error *err);

/* Parse n bytes at data. out->data is inside data when that is aligned for the
 * element type, else a copy in a. path is for messages.
 *
 * VPU_ERR_PARSE        not a .npy file, a header that is no header, fewer or
 *                      more bytes than the shape needs
 * VPU_ERR_UNSUPPORTED  another version, dtype or order, too many dims
 * VPU_ERR_INVALID      a dim of 0
 * VPU_ERR_LIMIT        more than TENSOR_MAX_BYTES */
vpu_status npy_parse(const char *data, size_t n, const char *path, arena *a,
                     tensor *out, vpu_error *err);
/* The same from a file, read into a. Also VPU_ERR_IO. */
vpu_status npy_read(const char *path, arena *a, tensor *out, vpu_error *err);

/* Write t, converting to logical order; the file appears whole or not at all.
 *
 * VPU_ERR_IO       it cannot be written
 * VPU_ERR_INVALID, VPU_ERR_LIMIT  tensor_desc_check refuses t->desc */
vpu_status npy_write(const char *path, const tensor *t, vpu_error *err);

#endif
