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
