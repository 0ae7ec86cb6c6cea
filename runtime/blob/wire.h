/* What reading and writing blobs share. */
#ifndef VPU_RUNTIME_BLOB_WIRE_H
#define VPU_RUNTIME_BLOB_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/blob/blob.h"

/* The ELF-like header in front; it never differs. */
enum { WIRE_ELF = 52, WIRE_FIRST_SECTION = 192 };
extern const uint8_t blob_wire_elf[WIRE_ELF];

static inline bool blob_wire_known_version(uint32_t major, uint32_t minor)
{
    return major >= 4 && major <= 6 && minor == 0;
}

static inline bool blob_wire_owned(uint32_t location)
{
    return location == BLOB_INPUT || location == BLOB_OUTPUT;
}

static inline bool blob_wire_name_room(size_t length, uint32_t room)
{
    return room == blob_align(length, 16) || room == blob_align(length + 1, 16);
}

#endif
