/* What a kernel's file says of its kernel: the ELF metadata host software reads
 * (docs/formats.md, "Blobs"), of both generations of the vendor's compiler. */
#ifndef VPU_RUNTIME_BLOB_META_H
#define VPU_RUNTIME_BLOB_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"

typedef struct {
    const char *name;
    bool neo; /* .neo_metadata (2021.1 on), else opencl.kernelArgs.* */
    uint32_t n_kernels;      /* in the file */
    uint32_t kernel;         /* index of this one */
    const char *const *args; /* names, in the kernel's order */
    uint32_t n_args;
} meta_kernel;

/* The kernel called entry, or the only one when entry is NULL and the file is
 * of the later generation. Names are in a.
 *
 * VPU_ERR_PARSE        damaged: "path: byte N: ..."
 * VPU_ERR_UNSUPPORTED  neither generation's metadata in it
 * VPU_ERR_INVALID      no such kernel; several, in a generation that allows
 *                      one */
vpu_status meta_read(const file_bytes *file, const char *entry, arena *a,
                     meta_kernel *out, vpu_error *err);
/* The kernel of that number in the file. Errors as above; VPU_ERR_INVALID: no
 * such number, or no symbol names it. */
vpu_status meta_read_nth(const file_bytes *file, uint32_t kernel, arena *a,
                         meta_kernel *out, vpu_error *err);

#endif
