/* What the files of runtime/import share. */
#ifndef VPU_RUNTIME_IMPORT_IMPORT_PRIV_H
#define VPU_RUNTIME_IMPORT_IMPORT_PRIV_H

#include "runtime/import/import.h"

enum { IMPORT_MAX_LOOPS = 8, IMPORT_MAX_LAUNCHES = 1 << 20 };

typedef struct {
    const blob *b;
    const import_config *c;
    arena *arena;
    graph *g;
    uint32_t outputs, scratch, cmx, constants; /* first buffers of these */
    uint64_t *step; /* by buffer: bytes from one item of a batch to the next; 0:
                       all share it */
    size_t launches_cap, layers_cap;
    uint32_t depth; /* of loops */
} import_state;

/* The launches of stages [first, end), in their order.
 *
 * VPU_ERR_PARSE, VPU_ERR_UNSUPPORTED  as import_blob's */
vpu_status import_stages(import_state *m, uint32_t first, uint32_t end,
                         vpu_error *err);
/* The loop that stage i begins, of stages before end; *next: the one behind it.
 * Errors as import_stages'. */
vpu_status import_loop(import_state *m, uint32_t i, uint32_t end,
                       uint32_t *next, vpu_error *err);
/* One launch that has no kernel, for stage i. Likewise. */
vpu_status import_native(import_state *m, const blob_stage *s, uint32_t i,
                         const char *name, vpu_error *err);

/* The graph's buffer that a record's one lies in; false: in none of them. */
bool import_place(const import_state *m, const blob_buffer *f,
                  uint32_t *buffer);

/* The network's layer that stage i is of; `name` where that is not known. */
const char *import_layer_name(const import_state *m, uint32_t i,
                              const char *name);

/* The launch of a custom stage.
 *
 * VPU_ERR_PARSE, VPU_ERR_UNSUPPORTED  as import_blob's */
vpu_status import_custom(import_state *m, const blob_stage *s, const char *name,
                         graph_launch *out, vpu_error *err);

#endif
