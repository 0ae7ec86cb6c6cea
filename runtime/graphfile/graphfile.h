/* A graph in one file: tensors, constants, operations, launches and what their
 * kernels are compiled from.
 *
 * docs/formats.md, "Graphs", describes the file. The same graph gives the same
 * bytes. */
#ifndef VPU_RUNTIME_GRAPHFILE_GRAPHFILE_H
#define VPU_RUNTIME_GRAPHFILE_GRAPHFILE_H

#include "runtime/graph/graph.h"

enum { GRAPHFILE_VERSION = 3, GRAPHFILE_OLDEST = 1, GRAPHFILE_MAX_RANK = 6 };
#define GRAPHFILE_NONE UINT32_MAX

/* A tensor that the user sees. */
typedef struct {
    const char *name;
    uint32_t buffer; /* of the graph; of no two but views the same */
    bool is_virtual; /* else its role is its buffer's */
    uint32_t rank, dims[GRAPHFILE_MAX_RANK];
    uint32_t parent; /* of a view, one before it; GRAPHFILE_NONE: no view */
    uint64_t offset, bytes; /* of the first element in the buffer; of all of
                               them, packed */
    bool has_strides;       /* of no view: elements are not in one piece */
    uint64_t strides[GRAPHFILE_MAX_RANK]; /* then, bytes */
    bool has_valid; /* not all elements mean something, but these do */
    uint32_t valid_start[GRAPHFILE_MAX_RANK], valid_end[GRAPHFILE_MAX_RANK];
} graphfile_tensor;

typedef struct {
    const char *name;
    uint32_t launch, n_launches; /* of the graph */
    uint32_t outer;              /* the composed one before it that it is a part
                                    of; GRAPHFILE_NONE: none */
    bool composed;
    const uint32_t *inputs, *outputs; /* tensors */
    uint32_t n_inputs, n_outputs;
} graphfile_operation;

typedef struct {
    graph graph; /* of each launch one of text, given and bin is there */
    const graphfile_tensor *tensors; /* views behind all others */
    uint32_t n_tensors;
    const graphfile_operation *operations;
    uint32_t n_operations;
    const char *const *params; /* "name=value" */
    uint32_t n_params;
    uint64_t manifest_at; /* byte of the file that was read */
} graphfile;

/* The file appears whole or not at all.
 *
 * VPU_ERR_IO       it cannot be written
 * VPU_ERR_INVALID  a name that is not UTF-8 */
vpu_status graphfile_write(const char *path, const graphfile *f, arena *a,
                           vpu_error *err);

/* Does the file begin as a graph does? */
bool graphfile_is_one(const char *path);

/* Parse n bytes, which must outlive *out. path is for messages. Whatever comes
 * out is a graph in order: indices, sizes and places fit one another; whether
 * something is written before it is read is not looked at.
 *
 * VPU_ERR_PARSE        no graph, truncated, or changed (message: the byte, and
 *                      what was expected there)
 * VPU_ERR_UNSUPPORTED  of another version
 * VPU_ERR_LIMIT        larger than 16 GiB */
vpu_status graphfile_parse(const void *data, size_t n, const char *path,
                           arena *a, graphfile *out, vpu_error *err);
/* The same from a file, read into a. Also VPU_ERR_IO. */
vpu_status graphfile_read(const char *path, arena *a, graphfile *out,
                          vpu_error *err);

#endif
