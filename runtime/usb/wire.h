/* What reading and writing blobs share. */
#ifndef VPU_RUNTIME_USB_WIRE_H
#define VPU_RUNTIME_USB_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/usb/blob.h"

/* The ELF-like header in front; it never differs. */
enum { WIRE_ELF = 52, WIRE_FIRST_SECTION = 192 };
extern const uint8_t wire_elf[WIRE_ELF];

static inline uint32_t wire_get(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static inline void wire_set(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

static inline bool wire_known_version(uint32_t major, uint32_t minor)
{
    return major >= 4 && major <= 6 && minor == 0;
}

static inline bool wire_owned(uint32_t location)
{
    return location == BLOB_INPUT || location == BLOB_OUTPUT;
}

static inline bool wire_name_room(size_t length, uint32_t room)
{
    return room == blob_align(length, 16) || room == blob_align(length + 1, 16);
}

#endif
