#include "tests/support/message.h"

#include <check.h>
#include <string.h>

static void put_byte(message *m, uint64_t byte)
{
    ck_assert_uint_lt(m->n, sizeof m->bytes);
    m->bytes[m->n++] = (uint8_t)byte;
}

void message_varint(message *m, uint64_t u)
{
    for (; u > 127; u >>= 7)
        put_byte(m, u | 128);
    put_byte(m, u);
}

void message_uint(message *m, uint32_t field, uint64_t u)
{
    message_varint(m, (uint64_t)field << 3);
    message_varint(m, u);
}

void message_fixed64(message *m, uint32_t field, uint64_t u)
{
    message_varint(m, (uint64_t)field << 3 | 1);
    for (int i = 0; i < 8; i++)
        put_byte(m, u >> 8 * i & 255);
}

void message_bytes(message *m, uint32_t field, const void *data, size_t n)
{
    message_varint(m, (uint64_t)field << 3 | 2);
    message_varint(m, n);
    ck_assert_uint_le(n, sizeof m->bytes - m->n);
    memcpy(m->bytes + m->n, data, n);
    m->n += n;
}

void message_packet(message *trace, const message *packet)
{
    message_bytes(trace, 1, packet->bytes, packet->n);
}

/* TracePacket.interned_data = 12, .event_names = 2 {iid 1, name 2} */
void message_event_name(message *trace, uint64_t number, const char *name,
                        uint64_t flags)
{
    message packet = {.n = 0}, data = {.n = 0}, entry = {.n = 0};

    message_uint(&entry, 1, number);
    message_bytes(&entry, 2, name, strlen(name));
    message_bytes(&data, 2, entry.bytes, entry.n);
    message_uint(&packet, 10, 1);
    message_bytes(&packet, 12, data.bytes, data.n);
    if (flags)
        message_uint(&packet, 13, flags);
    message_packet(trace, &packet);
}
