/* 32-bit little-endian numbers in bytes from outside. */
#ifndef VPU_BASE_WORD_H
#define VPU_BASE_WORD_H

#include <stdint.h>

static inline uint32_t word_get(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static inline void word_set(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

#endif
