/* NumPy's .npz files: ZIP archives of .npy files, an array each. The array NAME
 * is the member NAME.npy, stored or deflated, as numpy.savez and
 * numpy.savez_compressed write it; other members are passed over.
 *
 * An array is opened first, which reads its header alone, then read. Sizes that
 * an archive announces are held against the limits, and against the array's
 * shape, before memory is taken for them. No thread knows of another's. */
#ifndef VPU_RUNTIME_GRAPH_NPZ_H
#define VPU_RUNTIME_GRAPH_NPZ_H

#include "base/err.h"
#include "base/file.h"
#include "runtime/graph/tensor.h"

#define NPZ_MAX_BYTES TENSOR_MAX_BYTES /* of an archive */
enum { NPZ_MAX_MEMBERS = 1 << 16 };

typedef struct npz npz;

/* name: of the array; NULL = the only one. *out is to be closed; NULL on an
 * error. Messages name the arrays that are there.
 *
 * VPU_ERR_IO           the file cannot be read
 * VPU_ERR_INVALID      no array of that name, or several; none at all; several
 *                      and no name; a dim of 0
 * VPU_ERR_PARSE        no ZIP archive, or a damaged one; a size that is not
 *                      the one of the shape; as npy_parse
 * VPU_ERR_UNSUPPORTED  encrypted, another compression, no libzip on this
 *                      machine; as npy_parse
 * VPU_ERR_LIMIT        more than NPZ_MAX_BYTES, NPZ_MAX_MEMBERS or
 *                      TENSOR_MAX_BYTES */
vpu_status npz_open(const char *path, const char *name, npz **out,
                    vpu_error *err);
/* Of the array's elements: TENSOR_PLAIN. */
const tensor_desc *npz_desc(const npz *z);
const char *npz_path(const npz *z); /* "FILE:NAME", for messages */
/* Its elements, tensor_bytes of them in logical order; once.
 *
 * VPU_ERR_PARSE  damaged: it ends early, goes on, or has another checksum */
vpu_status npz_read(npz *z, void *data, vpu_error *err);
void npz_close(npz *z); /* NULL is fine */

#endif
