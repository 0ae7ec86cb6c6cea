/* From tensors and stages to a blob: where everything lies, as the vendor's
 * compiler of a release places it. */
#ifndef VPU_RUNTIME_BLOB_PLAN_H
#define VPU_RUNTIME_BLOB_PLAN_H

#include "runtime/blob/blob.h"
#include "runtime/blob/release.h"

typedef struct {
    const char *name;       /* inputs and outputs */
    blob_location location; /* BLOB_INPUT, _OUTPUT, _CONST or _BSS */
    uint32_t type, order, rank;
    uint32_t dims[BLOB_MAX_DIMS]; /* the fastest first; strides are compact */
    const void *bytes;            /* BLOB_CONST */
    /* An item of a batch: it lies in tensor `whole`, which comes before it and
     * has the same location, from this byte on; it has no name and no bytes. */
    bool part;
    uint32_t whole, offset;
} plan_tensor;

typedef struct {
    uint32_t type;
    const uint32_t *params;
    uint32_t n_params;
    const uint32_t *tensors; /* in the order of the record */
    uint32_t n_tensors;
} plan_stage;

typedef struct {
    const blob_release *release;
    uint32_t n_slices, n_shaves; /* of an executor */
    const plan_tensor *tensors;
    uint32_t n_tensors;
    const plan_stage *stages;
    uint32_t n_stages;
} plan;

/* Inputs and outputs go by name, each at a multiple of 64; constants in the
 * order of tensors, equal ones once; scratch tensors share memory where no
 * stage needs two at once, best fit; shapes in the order stages use them.
 * Everything in a.
 *
 * VPU_ERR_INVALID  two inputs or two outputs of one name, or a name longer
 *                  than BLOB_MAX_NAME
 * VPU_ERR_LIMIT    more than 4 GiB of anything */
vpu_status plan_blob(const plan *p, arena *a, blob *out, vpu_error *err);

#endif
