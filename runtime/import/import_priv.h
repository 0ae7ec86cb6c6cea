/* What the files of runtime/import share. */
#ifndef VPU_RUNTIME_IMPORT_IMPORT_PRIV_H
#define VPU_RUNTIME_IMPORT_IMPORT_PRIV_H

#include "runtime/import/import.h"

typedef struct {
    const blob *b;
    const import_config *c;
    arena *arena;
    graph *g;
    uint32_t outputs, scratch, cmx, constants; /* first buffers of these */
    uint64_t *step; /* by buffer: bytes from one item of a batch to the next; 0:
                       all share it */
} importing;

/* The graph's buffer that a record's one lies in; false: in none of them. */
bool import_place(const importing *m, const blob_buffer *f, uint32_t *buffer);

/* The launch of a custom stage.
 *
 * VPU_ERR_PARSE, VPU_ERR_UNSUPPORTED  as import_blob's */
vpu_status import_custom(importing *m, const blob_stage *s, const char *name,
                         graph_launch *out, vpu_error *err);

#endif
