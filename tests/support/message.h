/* Protobuf messages, put together by their fields' numbers: traces as others
 * write them. */
#ifndef VPU_TESTS_SUPPORT_MESSAGE_H
#define VPU_TESTS_SUPPORT_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint8_t bytes[16384];
    size_t n;
} message;

void message_varint(message *m, uint64_t u);
void message_uint(message *m, uint32_t field, uint64_t u);
void message_fixed64(message *m, uint32_t field, uint64_t u);
void message_bytes(message *m, uint32_t field, const void *data, size_t n);
/* Trace.packet */
void message_packet(message *trace, const message *packet);
/* A packet of sequence 1 that gives an event's name a number; flags: its
 * sequence_flags, 0 for none. */
void message_event_name(message *trace, uint64_t number, const char *name,
                        uint64_t flags);

#endif
