/* Filling a graph's inputs and saving its outputs. */
#ifndef VPU_RUNTIME_GRAPH_IO_H
#define VPU_RUNTIME_GRAPH_IO_H

#include "base/err.h"
#include "runtime/graph/graph.h"

/* Fill data, b->bytes bytes in b->desc.layout, as spec says:
 *
 *   zeros        every element 0
 *   ramp         element i, in logical order, is i mod 256 for u8 and wider
 *                integers, i mod 256 - 128 for i8, (i mod 256) / 256 for floats
 *   random:SEED  SEED is a 64-bit number, decimal or 0x...; element i is made
 *                of the i-th output r of splitmix64 whose state starts at SEED
 *                + port * 0x9e3779b97f4a7c15: floats are (r >> 40) * 2^-23 - 1,
 *                uniform in [-1, 1), rounded to the element type; integers are
 *                the top bits of r, uniform over their whole range
 *   FILE.npy     the file's shape and element type must be those of b
 *   FILE.npz     likewise, of the archive's only array
 *   FILE.npz:NAME               of its array NAME
 *   FILE.png, .jpg, .jpeg       a picture, of the width and height of b
 *   FILE.png:OPTION,OPTION...   with the options of pixels_options_parse
 *
 * The endings are meant in either case. The first ending with a colon behind it
 * ends a file's name, else that at the end of spec.
 *
 * Equal for every buffer of one port, whatever its layout.
 *
 * VPU_ERR_INVALID   spec is none of these
 * VPU_ERR_PARSE     a file that is of another kind than its ending says
 * VPU_ERR_MISMATCH  the file's shape or element type differs
 * and the errors of npy_read, npz_open, npz_read, pixels_options_parse and
 * pixels_parse. data is then unchanged. */
vpu_status graph_input_fill(const graph_buffer *b, const char *spec, void *data,
                            vpu_error *err);

/* Write every GRAPH_OUTPUT buffer as <dir>/<name>.npy in logical order; dir is
 * created when missing. data[i] is the content of buffer i (only those of
 * outputs are looked at).
 *
 * VPU_ERR_IO  a file or the folder cannot be written; each file that was
 *             written is complete */
vpu_status graph_output_save(const char *dir, const graph *g, void *const *data,
                             vpu_error *err);

#endif
