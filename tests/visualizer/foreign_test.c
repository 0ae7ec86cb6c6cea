/* Perfetto traces of others: sequences with clocks of their own. The bytes are
 * put together here from Perfetto's public field numbers. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sim/trace/reader.h"

typedef struct {
    uint8_t bytes[4096];
    size_t n;
} message;

static void put_varint(message *m, uint64_t u)
{
    for (; u > 127; u >>= 7)
        m->bytes[m->n++] = (uint8_t)(u | 128);
    m->bytes[m->n++] = (uint8_t)u;
}

static void put_uint(message *m, uint32_t field, uint64_t u)
{
    put_varint(m, (uint64_t)field << 3);
    put_varint(m, u);
}

static void put_bytes(message *m, uint32_t field, const void *data, size_t n)
{
    put_varint(m, (uint64_t)field << 3 | 2);
    put_varint(m, n);
    memcpy(m->bytes + m->n, data, n);
    m->n += n;
}

/* TracePacket.clock_snapshot = 6, .clocks = 1 {clock_id 1, timestamp 2,
 * is_incremental 3, unit_multiplier_ns 4} */
static void put_clock(message *snapshot, uint64_t id, uint64_t value,
                      uint64_t incremental, uint64_t unit)
{
    message c = {.n = 0};

    put_uint(&c, 1, id);
    put_uint(&c, 2, value);
    if (incremental)
        put_uint(&c, 3, 1);
    if (unit)
        put_uint(&c, 4, unit);
    put_bytes(snapshot, 1, c.bytes, c.n);
}

static void put_packet(message *trace, const message *packet)
{
    put_bytes(trace, 1, packet->bytes, packet->n);
}

/* clock 0: none given */
static void put_instant(message *trace, uint64_t sequence, uint64_t stamp,
                        uint64_t clock)
{
    message packet = {.n = 0}, event = {.n = 0};

    put_uint(&event, 9, 3);
    put_uint(&event, 11, 7);
    put_bytes(&event, 23, "x", 1);
    put_uint(&packet, 8, stamp);
    put_uint(&packet, 10, sequence);
    if (clock)
        put_uint(&packet, 58, clock);
    put_bytes(&packet, 11, event.bytes, event.n);
    put_packet(trace, &packet);
}

static void put_snapshot(message *trace, uint64_t sequence,
                         const message *snapshot, uint64_t default_clock)
{
    message packet = {.n = 0}, defaults = {.n = 0};

    put_uint(&packet, 10, sequence);
    put_bytes(&packet, 6, snapshot->bytes, snapshot->n);
    if (default_clock) {
        put_uint(&defaults, 58, default_clock);
        put_bytes(&packet, 59, defaults.bytes, defaults.n);
    }
    put_packet(trace, &packet);
}

static uint64_t times[16];
static size_t n_times;

static bool on_event(void *user, const trc_read_event *e)
{
    (void)user;
    ck_assert_uint_lt(n_times, 16);
    times[n_times++] = e->ns;
    return true;
}

static void read_all(const message *trace)
{
    trc_read_ops ops = {.event = on_event};
    vpu_error err;

    n_times = 0;
    ck_assert(!trc_read_bytes("foreign", trace->bytes, trace->n, &ops, &err));
}

START_TEST(incremental_clock)
{
    message trace = {.n = 0}, snapshot = {.n = 0};

    put_clock(&snapshot, 6, 1000000, 0, 0);
    put_clock(&snapshot, 64, 500, 1, 1000); /* µs, from 500 of its own */
    put_snapshot(&trace, 3, &snapshot, 64);
    put_instant(&trace, 3, 10, 0);
    put_instant(&trace, 3, 5, 0);
    put_instant(&trace, 3, 2000007, 6); /* the trace's own clock */
    put_instant(&trace, 3, 1, 64);
    read_all(&trace);
    ck_assert_uint_eq(n_times, 4);
    ck_assert_uint_eq(times[0], 1000000 + 10000);
    ck_assert_uint_eq(times[1], 1000000 + 15000);
    ck_assert_uint_eq(times[2], 2000007);
    ck_assert_uint_eq(times[3], 1000000 + 16000);
}
END_TEST

START_TEST(clocks_belong_to_their_sequence)
{
    message trace = {.n = 0}, a = {.n = 0}, b = {.n = 0};

    put_clock(&a, 6, 100, 0, 0);
    put_clock(&a, 65, 0, 1, 0);
    put_clock(&b, 6, 9000, 0, 0);
    put_clock(&b, 65, 40, 0, 2); /* absolute */
    put_snapshot(&trace, 1, &a, 65);
    put_snapshot(&trace, 2, &b, 65);
    put_instant(&trace, 1, 7, 0);
    put_instant(&trace, 2, 50, 0);
    put_instant(&trace, 1, 7, 0);
    put_instant(&trace, 2, 50, 0);
    put_instant(&trace, 4, 77, 65); /* nobody said what that is */
    read_all(&trace);
    ck_assert_uint_eq(n_times, 5);
    ck_assert_uint_eq(times[0], 107);
    ck_assert_uint_eq(times[1], 9000 + 20);
    ck_assert_uint_eq(times[2], 114);
    ck_assert_uint_eq(times[3], 9000 + 20);
    ck_assert_uint_eq(times[4], 77);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("foreign");
    TCase *tc = tcase_create("foreign");
    SRunner *sr = srunner_create(s);
    int failed;

    tcase_add_test(tc, incremental_clock);
    tcase_add_test(tc, clocks_belong_to_their_sequence);
    suite_add_tcase(s, tc);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
