/* Random kernels with one meaning: no undefined behaviour, no races.
 *
 * The body is one text that is OpenCL C with one prologue and C with another.
 * It is made of ITEMS { … } blocks, which every item of the group runs, and
 * SYNC between them, in uniform loops and conditions. */
#ifndef VPU_TESTS_SUPPORT_KERNEL_GEN_H
#define VPU_TESTS_SUPPORT_KERNEL_GEN_H

#include "base/str.h"

enum { GEN_ITEMS = 512, GEN_OUTPUTS = 7 };

/* What a generated C group function takes; arrays have GEN_ITEMS elements, out
 * GEN_OUTPUTS times as many. */
typedef void gen_group_fn(const int group[2], const int groups[2],
                          const int local[2], unsigned n, const unsigned *in,
                          const float *fin, const unsigned short *hin,
                          const unsigned char *bin, unsigned *out,
                          unsigned short *hout, unsigned char *bout);

/* A file of n kernels k0, k1, …, those of the seeds from `seed` on, and one of
 * C functions group0, group1, … Every second seed makes kernels whose control
 * flow is uniform; the others may have arrays, pointers that change,
 * structures, vectors and volatile variables. */
void gen_file(uint64_t seed, unsigned n, str *opencl, str *c);

#endif
