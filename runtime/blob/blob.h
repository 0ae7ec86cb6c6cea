/* The graph blob a Myriad X runs (docs/formats.md, "Blobs"): as data, reading,
 * writing. All numbers are those of the file; what the file derives from others
 * (sizes, counts, section offsets) is not kept.
 *
 * A blob that parses is written again byte for byte, and a blob that builds is
 * read again as it was. Whether its numbers make sense is blob_check's matter
 * (runtime/blob/check.h). */
#ifndef VPU_RUNTIME_BLOB_BLOB_H
#define VPU_RUNTIME_BLOB_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum {
    BLOB_MAGIC = 9709,
    BLOB_HEADER = 132, /* bytes a device sees first */
    BLOB_ALIGN = 64,
    BLOB_MAX_DIMS = 8,
    BLOB_SLICE = 131072, /* bytes of a slice of CMX */
    BLOB_MAX_NAME = 4096
};
#define BLOB_BORDER UINT32_C(0x7f83ff19)

typedef enum {
    BLOB_F16,
    BLOB_U8,
    BLOB_S32,
    BLOB_F32,
    BLOB_I8,
    BLOB_N_TYPES
} blob_type;

typedef enum {
    BLOB_NOWHERE,
    BLOB_INPUT,  /* offset from the start of an input tensor */
    BLOB_OUTPUT, /* likewise */
    BLOB_CONST,  /* offset in the const data section */
    BLOB_BSS,    /* offset in DDR scratch */
    BLOB_CMX,
    BLOB_N_LOCATIONS
} blob_location;

/* A tensor's form. Dims (elements) and strides (bytes) stand in memory order,
 * the fastest first. In blobs of version 6 they lie in the const data section
 * at dims_at and strides_at when the location is BLOB_CONST, and are zero here
 * otherwise; in older ones they stand in the record, and the four location
 * fields are zero. */
typedef struct {
    uint32_t type;  /* blob_type */
    uint32_t order; /* hex digits, dim + 1, the fastest first */
    uint32_t rank;
    uint32_t dims_location, dims_at, strides_location, strides_at;
    uint32_t dims[BLOB_MAX_DIMS], strides[BLOB_MAX_DIMS];
} blob_desc;

/* The network input or output that owns memory, and its size. Zero where the
 * location is neither. */
typedef struct {
    uint32_t index, bytes;
} blob_owner;

typedef struct {
    uint32_t at; /* byte of the file it was read from; not written */
    blob_desc desc;
    uint32_t location; /* blob_location */
    uint32_t offset;
    blob_owner data;
    blob_owner dims, strides; /* where these are in an output */
} blob_buffer;

typedef struct blob_stage {
    uint32_t at;   /* as above */
    uint32_t type; /* runtime/blob/stage.h */
    uint32_t n_shaves;
    const uint32_t *params;
    uint32_t n_params;
    const blob_buffer *buffers;
    uint32_t n_buffers;
    /* The record that a hardware stage carries at the end of its params; NULL:
     * none. Not written: params are. */
    const struct blob_stage *injected;
} blob_stage;

/* A network input or output. */
typedef struct {
    uint32_t at;     /* as above */
    uint32_t offset; /* in the one input (output) buffer */
    const char *name;
    uint32_t name_bytes; /* its room: length, or length + 1, rounded up to 16 */
    blob_desc desc;
} blob_io;

/* The trailer behind blobs of 2022. */
typedef struct {
    const char *name;
    const uint64_t *shape;
    uint32_t rank;
    int32_t element; /* element type number of OpenVINO */
    const char *const *names;
    uint32_t n_names;
    const char *producer; /* results only, else NULL */
} blob_node;

typedef struct {
    uint32_t major, minor;
    uint32_t inputs_size, outputs_size, batch, bss_size, n_slices, n_shaves;
    uint32_t has_hw, has_shave, has_dma;
    const blob_io *inputs, *outputs;
    uint32_t n_inputs, n_outputs;
    const blob_stage *stages;
    uint32_t n_stages;
    const uint8_t *constants; /* the const data section, shapes and all */
    uint32_t n_constants;     /* bytes, a multiple of BLOB_ALIGN */
    bool has_trailer;
    const blob_node *parameters, *results;
    uint32_t n_parameters, n_results;
} blob;

static inline uint64_t blob_align(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

/* Whether a blob is in these first bytes of a file, and where it begins: at 0,
 * or behind the header that the host library's cache puts in front. */
bool blob_find(const void *data, size_t n, size_t *at);

/* Read. data is borrowed: constants point into it, or, where they are not
 * aligned there, to a copy in a; the rest is in a.
 *
 * VPU_ERR_PARSE        malformed: "path: byte N: what is there, what was
 *                      expected"
 * VPU_ERR_UNSUPPORTED  a version other than 4.0, 5.0 and 6.0 */
vpu_status blob_parse(const void *data, size_t n, const char *path, arena *a,
                      blob *out, vpu_error *err);

/* Write, behind what out holds already.
 *
 * VPU_ERR_INVALID      a field that cannot be written so that it reads back
 *                      (the message names it)
 * VPU_ERR_UNSUPPORTED  a version other than 4.0, 5.0 and 6.0
 * VPU_ERR_LIMIT        more than 4 GiB
 * out is then undefined, but still to be freed. */
vpu_status blob_build(const blob *b, str *out, vpu_error *err);

#endif
