/* Convolutions on SHAVEs, as their records have them. Private to
 * runtime/native. */
#ifndef VPU_RUNTIME_NATIVE_CONV_H
#define VPU_RUNTIME_NATIVE_CONV_H

#include "runtime/native/native_priv.h"

/* Of a dim. */
typedef struct {
    uint32_t in, out, kernel, stride, pad, dilation;
} native_conv_side;

typedef struct {
    native_conv_side x, y, z;
    uint32_t n, ic, oc, groups;
    uint64_t taps; /* of a kernel */
    /* Where in the weights o, i and k (z, y, x of the kernel) lead. */
    uint64_t at_o, at_i, at_k;
    bool mirrored; /* the kernel, in x and y */
    bool transposed;
} native_conv;

/* conv_dense.c: of planes, every output from every input channel. Its sums have
 * the order and the bits of the plain loops. False: the form is another one, or
 * not worth it. in and out are planes, out is 0. */
bool native_conv_dense(const native_job *j, const native_conv *s,
                       const float *in, const float *weights, float *out);

#endif
