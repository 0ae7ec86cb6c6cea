/* Protobuf's wire form, decoded in place: no memory, no copies. Private to
 * base/trace; a reader of hundreds of megabytes cannot afford a tree of objects
 * per packet. */
#ifndef VPU_BASE_TRACE_WIRE_H
#define VPU_BASE_TRACE_WIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    const uint8_t *at, *end;
} wire_span;

/* type 0: value is the varint. 1, 5: value is the fixed word. 2: bytes. */
typedef struct {
    uint32_t number, type;
    uint64_t value;
    wire_span bytes;
} wire_field;

static inline bool wire_varint(wire_span *s, uint64_t *out)
{
    uint64_t n = 0;

    for (int shift = 0; s->at < s->end && shift < 64; shift += 7) {
        uint8_t c = *s->at++;

        n |= (uint64_t)(c & 127) << shift;
        if (c < 128) {
            *out = n;
            return true;
        }
    }
    return false;
}

static inline bool wire_fixed(wire_span *s, unsigned n_bytes, uint64_t *out)
{
    if ((size_t)(s->end - s->at) < n_bytes)
        return false;
    *out = 0;
    for (unsigned i = 0; i < n_bytes; i++)
        *out |= (uint64_t)s->at[i] << 8 * i;
    s->at += n_bytes;
    return true;
}

/* The next field of a message; *bad and false when the bytes are none, false
 * alone at the end. */
static inline bool wire_next(wire_span *s, wire_field *f, bool *bad)
{
    uint64_t tag;

    if (s->at == s->end)
        return false;
    *bad = true;
    if (!wire_varint(s, &tag) || !(tag >> 3) || tag >> 32)
        return false;
    f->number = (uint32_t)(tag >> 3);
    f->type = tag & 7;
    if (f->type == 0) {
        if (!wire_varint(s, &f->value))
            return false;
    } else if (f->type == 2) {
        if (!wire_varint(s, &f->value) || f->value > (uint64_t)(s->end - s->at))
            return false;
        f->bytes = (wire_span){s->at, s->at + f->value};
        s->at += f->value;
    } else if (f->type == 1 || f->type == 5) {
        if (!wire_fixed(s, f->type == 1 ? 8 : 4, &f->value))
            return false;
    } else {
        return false;
    }
    *bad = false;
    return true;
}

static inline double wire_double(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
