/* Packets with one event, by their form. Private to base/trace.
 *
 * Most packets of a trace have the fields of a packet before, and in as many
 * bytes each. Where one has, its fields need no looking for: all bytes that say
 * which fields there are and how long are compared at once, and the numbers and
 * texts are taken from their places. What has no form, or another, is read
 * field by field, which is what a form must agree with. */
#ifndef VPU_BASE_TRACE_FORMS_H
#define VPU_BASE_TRACE_FORMS_H

#include "base/trace/wire.h"
#include "base/trace/writer.h"

enum { PACKET_BYTES = 128, PACKET_ARGS = 12 };

/* Bytes [at, at + n) of a packet, its head included; n 0: it has none. */
typedef struct {
    uint8_t at, n;
} packet_place;

typedef struct {
    packet_place value;
    trc_arg_kind kind;
    uint64_t name; /* in the pool */
} packet_arg;

typedef struct {
    uint64_t mask[PACKET_BYTES / 8], same[PACKET_BYTES / 8];
    uint8_t n_bytes; /* of the packet, its head included; 0: none */
    uint8_t credit;  /* how often it may be missed before another takes over */
    uint8_t type;    /* of the event */
    packet_place stamp, name, text, uuid; /* name: in the pool; text: itself */
    uint32_t sequence;
    uint64_t clock; /* 0: the sequence's default */
    uint8_t n_args;
    packet_arg args[PACKET_ARGS];
} packet_form;

/* The form of a packet of n bytes, its head of two included. False, and *f is
 * no form: it says more than when and where an event is, and of which name and
 * arguments. */
bool packet_learn_form(packet_form *f, const uint8_t *packet, size_t n);

/* Whether a packet as long has it; PACKET_BYTES of it can be read. */
WIRE_INLINE bool packet_has_form(const packet_form *f, const uint8_t *packet)
{
    uint64_t differs = 0;

    for (unsigned i = 0; 8 * i < f->n_bytes; i++) {
        uint64_t word;

        memcpy(&word, packet + 8 * i, 8);
        differs |= (word ^ f->same[i]) & f->mask[i];
    }
    return f->n_bytes && !differs;
}

/* A varint of n bytes, n known to be right; 8 bytes more can be read. */
WIRE_INLINE uint64_t packet_number(const uint8_t *at, unsigned n)
{
    unsigned low = n < 8 ? n : 8;
    uint64_t value;

    memcpy(&value, at, 8);
    value = wire_groups(le64toh(value) & UINT64_MAX >> (64 - 8 * low));
    for (unsigned i = 8; i < n; i++) /* 64 bits at most, as wire_varint */
        value |= (uint64_t)(at[i] & 127) << 7 * i;
    return value;
}

#endif
