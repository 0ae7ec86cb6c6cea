/* Where a work-group's local and private memory lies in its SHAVE's CMX.
 *
 * The device packs arrays; here SIM_LOCAL_GUARD bytes lie behind each (of code
 * that is not for checking), which a kernel has no business with: whoever
 * writes there has gone over an array's end. They count nowhere, nor does what
 * lies between arrays because of their types' alignment: neither in what a
 * group is said to need nor against the device's limit, and no cycle depends on
 * an address in CMX. */
#ifndef VPU_SIM_EXEC_CMX_H
#define VPU_SIM_EXEC_CMX_H

#include "sim/exec/exec.h"

enum { CMX_FILL = 0xff }; /* every byte before a group begins */

/* Bytes that stay as they are filled. */
typedef struct {
    uint32_t from, bytes; /* offset in the SHAVE's CMX */
    const char *array;    /* the one before, and its bytes */
    uint32_t array_bytes;
} cmx_guard;

/* Offsets in a SHAVE's CMX. */
typedef struct {
    uint64_t once;    /* local_data that is there once */
    uint64_t slot[2]; /* local_data that groups take turns in */
    uint64_t stack, kept, span;
    uint64_t private_bytes, kept_bytes;
    uint64_t total; /* on the device, without guards */
    uint32_t guard; /* bytes behind each local_data */
    unsigned copies;
} cmx_layout;

/* Have groups phases that copy, so that they take turns in two buffers? */
bool cmx_has_phases(const sim_kernel *k);

/* VPU_ERR_LIMIT: over the device's local memory (lists the consumers) */
vpu_status cmx_lay_out(const exec_launch *l, sim_variant_kind variant,
                       const mach_desc *desc, const memory *mem,
                       cmx_layout *out, vpu_error *err);
/* The argument block of buffer slot 0 or 1 on the SHAVE whose CMX begins
 * there, in the arena. */
uint8_t *cmx_args(const exec_launch *l, const cmx_layout *c, int slot,
                  uint32_t cmx, arena *a);
/* All guards of a layout, in the arena; returns how many. */
uint32_t cmx_guards(const exec_launch *l, const cmx_layout *c, arena *a,
                    const cmx_guard **out);
/* The parts for the trace, in the arena; c: the launch's layout. */
void cmx_name_parts(const exec_launch *l, const cmx_layout *c, mach_launch *ml,
                    arena *a);

#endif
