/* Protobuf's wire form, decoded in place: no memory, no copies. Private to
 * base/trace; a reader of hundreds of megabytes cannot afford a tree of objects
 * per packet. */
#ifndef VPU_BASE_TRACE_WIRE_H
#define VPU_BASE_TRACE_WIRE_H

#include <endian.h>
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

/* In a reader's inner loops a call costs more than what it does. */
#define WIRE_INLINE static inline __attribute__((always_inline))

/* The low seven bits of each byte, moved together. */
WIRE_INLINE uint64_t wire_groups(uint64_t n)
{
    n = (n & UINT64_C(0x007f007f007f007f)) |
        (n & UINT64_C(0x7f007f007f007f00)) >> 1;
    n = (n & UINT64_C(0x00003fff00003fff)) |
        (n & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (n & UINT64_C(0x000000000fffffff)) |
           (n & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* One of several bytes: the length is found by its last byte's clear top bit,
 * then groups of seven bits are moved together, all without a branch that
 * depends on the number. */
WIRE_INLINE bool wire_varint_long(wire_span *s, uint64_t *out)
{
    uint64_t n = 0, ends;

    if (s->end - s->at >= 8) {
        memcpy(&n, s->at, 8);
        n = le64toh(n);
        ends = ~n & UINT64_C(0x8080808080808080);
        if (ends) {
            *out = wire_groups(n & (ends ^ (ends - 1)));
            s->at += (__builtin_ctzll(ends) >> 3) + 1;
            return true;
        }
        n = 0;
    }
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

WIRE_INLINE bool wire_varint(wire_span *s, uint64_t *out)
{
    if (s->at < s->end && *s->at < 128) { /* as most are */
        *out = *s->at++;
        return true;
    }
    return wire_varint_long(s, out);
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
WIRE_INLINE bool wire_next(wire_span *s, wire_field *f, bool *bad)
{
    uint64_t tag, value;

    if (s->at == s->end)
        return false;
    *bad = true;
    if (!wire_varint(s, &tag) || !(tag >> 3) || tag >> 32)
        return false;
    f->number = (uint32_t)(tag >> 3);
    f->type = tag & 7;
    f->bytes = (wire_span){s->at, s->at};
    if (f->type == 0) {
        if (!wire_varint(s, &value))
            return false;
        f->value = value;
    } else if (f->type == 2) {
        if (!wire_varint(s, &value) || value > (uint64_t)(s->end - s->at))
            return false;
        f->value = value;
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

/* Writers put fields in one order, mostly that of their numbers. Asked for in
 * that order a field costs a comparison that is nearly always foreseen, where
 * the loop around wire_next branches anew for each. What is not there, or is
 * not well formed, stays for that loop. The number is below 16. */
WIRE_INLINE bool wire_take(wire_span *s, uint32_t number, uint64_t *value)
{
    wire_span rest = {s->at + 1, s->end};

    if (s->at == s->end || *s->at != number << 3 || !wire_varint(&rest, value))
        return false;
    *s = rest;
    return true;
}

WIRE_INLINE bool wire_take_bytes(wire_span *s, uint32_t number,
                                 wire_span *bytes)
{
    wire_span rest = {s->at + 1, s->end};
    uint64_t n;

    if (s->at == s->end || *s->at != (number << 3 | 2) ||
        !wire_varint(&rest, &n) || n > (uint64_t)(rest.end - rest.at))
        return false;
    *bytes = (wire_span){rest.at, rest.at + n};
    *s = (wire_span){bytes->end, rest.end};
    return true;
}

static inline double wire_double(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
