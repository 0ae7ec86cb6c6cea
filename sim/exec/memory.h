/* The device's address space: one reserved 4 GiB window of host memory.
 *
 * Device addresses are 32-bit offsets into the window. DDR buffers and each
 * SHAVE's CMX are mapped inside, everything else is inaccessible, so whatever a
 * kernel computes as an address, it cannot reach the simulator's own memory.
 *
 * DDR buffers end on a page boundary (less their alignment) and have an
 * inaccessible page on both sides, at least. What is given back leaves a hole
 * for later ones, the first that is large enough. Time does not see that: a
 * table of places has them packed, 64 bytes aligned, as the device's compiler
 * packs the data of a network. Bytes of the first page before a buffer are
 * filled with a pattern which memory_check compares. The page in front of a
 * SHAVE's CMX can be read. Not thread safe, but the memory itself may be used
 * from many threads. */
#ifndef VPU_SIM_EXEC_MEMORY_H
#define VPU_SIM_EXEC_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "sim/machine/desc.h"
#include "sim/machine/places.h"

/* Bytes reserved on the host from the window's start: an access or copy of up
 * to 4 GiB that begins at any device address stays inside. */
#define MEMORY_RESERVED (UINT64_C(2) << 32 | 0x10000)

typedef struct {
    const char *name;
    uint32_t address;
    uint64_t bytes;
    uint64_t packed; /* its place on the device */
} memory_buffer;

typedef struct memory memory;

enum { MEMORY_ALIGN = 64 };

/* VPU_ERR_NOMEM: the window cannot be reserved. */
vpu_status memory_create(const mach_desc *desc, memory **out, vpu_error *err);
/* The same for a debugger: device address = host address where the host has
 * room there, so that the kernel's pointers can be followed, and with more CMX
 * per SHAVE than the device's kernels have, for variables that code not
 * optimised keeps in memory. */
vpu_status memory_create_roomy(const mach_desc *desc, memory **out,
                               vpu_error *err);
void memory_destroy(memory *m); /* NULL is fine */

/* A zeroed DDR buffer, aligned to 64 bytes. The name is copied.
 * VPU_ERR_INVALID: no bytes
 * VPU_ERR_LIMIT: over the device's DDR (message: the buffers by size)
 * VPU_ERR_NOMEM: no memory for the entry */
vpu_status memory_alloc(memory *m, const char *name, uint64_t bytes,
                        uint32_t *address, vpu_error *err);
/* The same, aligned to a power of two from 64 to MACH_PAGE_SIZE. */
vpu_status memory_alloc_aligned(memory *m, const char *name, uint64_t bytes,
                                uint32_t align, uint32_t *address,
                                vpu_error *err);
/* What a buffer is to be. */
typedef struct {
    const char *name; /* copied */
    uint64_t bytes;
    uint32_t align;        /* a power of two from 64 to MACH_PAGE_SIZE */
    const uint64_t *place; /* where on the device, a multiple of 64; NULL: the
                              first place with room */
} memory_wanted;

/* VPU_ERR_INVALID, too: another buffer is at that place, or it is none. */
vpu_status memory_alloc_at(memory *m, const memory_wanted *w, uint32_t *address,
                           vpu_error *err);
/* In the order they were allocated. */
size_t memory_count(const memory *m);
const memory_buffer *memory_buffer_at(const memory *m, size_t i);
/* Give back the buffer that begins there; nothing if none does. */
void memory_free(memory *m, uint32_t address);
/* Give back every buffer allocated since n_buffers was what memory_count says;
 * none was given back otherwise meanwhile. */
void memory_release(memory *m, size_t n_buffers);
uint8_t *memory_window(const memory *m);
/* Where the device has what is at an address; valid as long as m. */
mach_places memory_places(const memory *m);

/* First address of a SHAVE's part of CMX and its bytes for kernels. */
uint32_t memory_cmx(const memory *m, uint32_t shave);
uint32_t memory_cmx_bytes(const memory *m);
/* The same with room for guards (cmx.h). */
uint32_t memory_cmx_span(const memory *m);

/* May these bytes be read, by somebody who looks at them? */
bool memory_readable(const memory *m, uint32_t address, uint64_t bytes);
/* "in0 + 128 (16 bytes behind its end)", "CMX of SHAVE 3 + 0x100", … */
void memory_describe(const memory *m, uint32_t address, str *out);
/* The buffer whose surroundings were written to, NULL when all are intact. */
const memory_buffer *memory_check(const memory *m, uint32_t *address);
/* What stands around the buffers is again what memory_check expects. */
void memory_mend(memory *m);

#endif
