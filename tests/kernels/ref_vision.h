/* What the sample layers around images and detectors compute, in plain C:
 * written from the formulas in kernels/<layer>/README.md, as ref.h. */
#ifndef VPU_TESTS_KERNELS_REF_VISION_H
#define VPU_TESTS_KERNELS_REF_VISION_H

#include "tests/kernels/ref_layers.h"

ref_layer_fn ref_cvtu8;       /* scale, bias; bytes as floats */
ref_layer_fn ref_region;      /* num, coords, classes, do_softmax, mask... */
ref_layer_fn ref_binary;      /* kernel (two numbers), threshold; input 1: words
                                 of bits in halves */
ref_layer_fn ref_antialias;   /* nothing but shapes */
ref_layer_fn ref_transformer; /* input 1: thetas */
ref_layer_fn ref_prior_grid;  /* stride y, x; inputs 1, 2: their shapes */

#endif
