/* What the layers with several parameters, inputs or stages compute, in plain
 * C: written from the formulas in kernels/<layer>/README.md, as ref.h. */
#ifndef VPU_TESTS_KERNELS_REF_LAYERS_H
#define VPU_TESTS_KERNELS_REF_LAYERS_H

#include "tests/kernels/ref.h"

/* in: one or two tensors; param: the layer's parameters in the order stated.
 * in and out have data; out's shape is given. */
typedef void ref_layer_fn(const ref_tensor *in, const double *param,
                          ref_tensor *out);

ref_layer_fn ref_mvn;            /* eps */
ref_layer_fn ref_convolution1x1; /* input 1: weights */
ref_layer_fn ref_convolution3x3; /* input 1: weights */
ref_layer_fn ref_softmax;        /* axis */
ref_layer_fn ref_quantize;       /* levels, in low, high, out low, high */
ref_layer_fn ref_shuffle;        /* groups */
ref_layer_fn ref_leaky_relu;     /* slope */
ref_layer_fn ref_prelu;          /* input 1: slopes */
ref_layer_fn ref_permute;        /* the order, four numbers */
ref_layer_fn ref_resample;       /* nearest */
ref_layer_fn ref_correlation;    /* of two inputs */
ref_layer_fn ref_ctc;            /* input 1: 1 where a sequence goes on */
ref_layer_fn ref_copy;

/* As ref_compare, for half tensors, where neighbouring values, up to ulp apart,
 * count as equal. */
size_t ref_compare_ulp(const ref_tensor *want, const void *got, unsigned ulp,
                       char *text, size_t n_text);

#endif
