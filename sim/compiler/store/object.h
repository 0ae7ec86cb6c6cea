/* Compiled kernels as files: ELF32 with named sections.
 *
 *   .neo_metadata, .neo_metadata.str  the SHAVE metadata host software reads
 *   .vpusim.info     JSON: arguments, variants, local arrays, versions
 *   .vpusim.source   OpenCL C, preprocessed (source.h); only in a .bin
 *   .vpusim.program  the SHAVE program (isa/program.h)
 *   .vpusim.host     host object; only in the cache, never in a .bin
 *   .vpusim.sites    JSON: places of code for checking; likewise
 *   .vpusim.lines    source lines of code for a debugger; in neither of them
 *
 * Bytes from outside are bounds-checked; nothing here follows a pointer it was
 * given. */
#ifndef VPU_SIM_COMPILER_STORE_OBJECT_H
#define VPU_SIM_COMPILER_STORE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

typedef struct {
    const char *name;
    const void *data;
    size_t n_bytes;
} object_section;

/* The file image, in the arena. */
uint8_t *object_build(const object_section *sections, uint32_t n, arena *a,
                      size_t *n_bytes);

typedef enum {
    OBJECT_OURS,    /* has .vpusim.source and .vpusim.info */
    OBJECT_FOREIGN, /* an ELF file of another compiler */
    OBJECT_NOT_ELF
} object_kind;

object_kind object_classify(const uint8_t *file, size_t n_bytes);

/* A section's bytes inside file; false when absent or damaged. */
bool object_find(const uint8_t *file, size_t n_bytes, const char *name,
                 const uint8_t **data, size_t *size);

#endif
