/* The check whether a blob's numbers agree, and a blob as text. */
#ifndef VPU_RUNTIME_BLOB_CHECK_H
#define VPU_RUNTIME_BLOB_CHECK_H

#include <jansson.h>

#include "runtime/blob/blob.h"

/* Everything that does not agree, a line each: "byte N: what is there, what was
 * expected". Returns their number. Checked are inputs and outputs (types,
 * orders, strides, places in their buffer), stages (flags, buffers and
 * parameters of those whose form is known) and buffers (location, owner, that
 * they lie inside their memory and, scratch and constants, at multiples of 64);
 * of custom stages also sizes, arguments and the kernel's metadata. */
uint32_t blob_check(const blob *b, arena *a, str *out);

/* The blob as text: header, inputs and outputs, stages with their parameters
 * by name, buffers, trailer. */
void blob_show(const blob *b, arena *a, str *out);
/* The same as a JSON object: header, inputs, outputs, stages, and parameters
 * and results of the trailer (docs/formats.md). A new reference; NULL: no
 * memory. */
json_t *blob_json(const blob *b, arena *a);

#endif
