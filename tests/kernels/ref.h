/* What the sample layers compute, in plain C.
 *
 * Written from the formulas in kernels/<layer>/README.md and sharing no code
 * with the simulator: halves are the compiler's own type, inputs are generated
 * here again. Every statement rounds once, as the kernels' documents say. */
#ifndef VPU_TESTS_KERNELS_REF_H
#define VPU_TESTS_KERNELS_REF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__extension__ typedef _Float16 ref_half;

/* dims are outermost first; unused ones, at the end, are 0. */
typedef struct {
    uint32_t dims[4];
    bool is_half; /* else float */
    void *data;
} ref_tensor;

size_t ref_elements(const ref_tensor *t);
size_t ref_bytes(const ref_tensor *t);
/* Give t->data room; exits when there is none. ref_free undoes it. */
void ref_alloc(ref_tensor *t);
void ref_free(ref_tensor *t);

/* Element i, row-major; ref_put rounds to half where the tensor is half. */
float ref_get(const ref_tensor *t, size_t i);
void ref_put(ref_tensor *t, size_t i, float v);

/* The program's `--input port=random:seed` and `--input port=ramp`. */
void ref_random(ref_tensor *t, uint32_t port, uint64_t seed);
void ref_ramp(ref_tensor *t);

/* in: one or two tensors; param: the layer's parameter, if it has one. in and
 * out have data; out's shape is given. */
typedef void ref_fn(const ref_tensor *in, double param, ref_tensor *out);

ref_fn ref_grn;    /* param: bias */
ref_fn ref_reorg;  /* param: stride */
ref_fn ref_cvt;    /* float to half */
ref_fn ref_matmul; /* two inputs */

/* Compare got, ref_bytes(want) long, with want, bit for bit; NaNs are equal
 * whatever their sign and payload. Returns the number of elements that differ;
 * describes the first few, by index, in text. */
size_t ref_compare(const ref_tensor *want, const void *got, char *text,
                   size_t n_text);

#endif
