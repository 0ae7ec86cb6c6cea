/* Sizes of copies that a kernel counts by hand: "width * 2" for halves. Where
 * halves are promoted to floats such a copy moves half of what it should, and
 * nothing but the text tells. */
#ifndef VPU_RUNTIME_BACKEND_OPENCL_BYTES_H
#define VPU_RUNTIME_BACKEND_OPENCL_BYTES_H

#include <stddef.h>

/* name: in text, the name of a function that starts a copy. The first size
 * among its arguments that is, or comes from, something times 2 without a
 * sizeof; its length in *n. NULL = none. */
const char *opencl_bytes_by_hand(const char *text, const char *name, size_t *n);

#endif
