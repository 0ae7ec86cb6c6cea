/* Texts kept once and numbered. Private to the visualizer. */
#ifndef VPU_VISUALIZER_NAMES_H
#define VPU_VISUALIZER_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/slots.h"

enum { TL_RECENT_NAMES = 16 };

typedef struct tl_names {
    char **text; /* by number; 0 is "" */
    uint8_t *class;
    uint32_t n, cap;
    slots slots;
    uint64_t bytes;
    uint32_t recent[TL_RECENT_NAMES]; /* by first letter and length */
} tl_names;

/* NULL: out of memory. */
tl_names *tl_names_create(void);
void tl_names_free(tl_names *n);
/* 0 when memory or numbers (2^24) or room (256 MiB) run out. */
uint32_t tl_names_add(tl_names *n, const char *text, size_t len);

#endif
