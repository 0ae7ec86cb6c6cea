/* Perfetto traces of others: sequences with clocks of their own. The bytes are
 * put together here from Perfetto's public field numbers. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/trace/reader.h"
#include "tests/support/message.h"
#include "visualizer/load.h"

/* TracePacket.clock_snapshot = 6, .clocks = 1 {clock_id 1, timestamp 2,
 * is_incremental 3, unit_multiplier_ns 4} */
static void put_clock_as(message *snapshot, uint32_t field, uint64_t id,
                         uint64_t value, uint64_t incremental, uint64_t unit)
{
    message c = {.n = 0};

    message_uint(&c, 1, id);
    message_uint(&c, 2, value);
    if (incremental)
        message_uint(&c, 3, 1);
    if (unit)
        message_uint(&c, 4, unit);
    message_bytes(snapshot, field, c.bytes, c.n);
}

static void put_clock(message *snapshot, uint64_t id, uint64_t value,
                      uint64_t incremental, uint64_t unit)
{
    put_clock_as(snapshot, 1, id, value, incremental, unit);
}

/* clock 0: none given */
static void put_instant(message *trace, uint64_t sequence, uint64_t stamp,
                        uint64_t clock)
{
    message packet = {.n = 0}, event = {.n = 0};

    message_uint(&event, 9, 3);
    message_uint(&event, 11, 7);
    message_bytes(&event, 23, "x", 1);
    message_uint(&packet, 8, stamp);
    message_uint(&packet, 10, sequence);
    if (clock)
        message_uint(&packet, 58, clock);
    message_bytes(&packet, 11, event.bytes, event.n);
    message_packet(trace, &packet);
}

static void put_snapshot(message *trace, uint64_t sequence,
                         const message *snapshot, uint64_t default_clock)
{
    message packet = {.n = 0}, defaults = {.n = 0};

    message_uint(&packet, 10, sequence);
    message_bytes(&packet, 6, snapshot->bytes, snapshot->n);
    if (default_clock) {
        message_uint(&defaults, 58, default_clock);
        message_bytes(&packet, 59, defaults.bytes, defaults.n);
    }
    message_packet(trace, &packet);
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

/* --- what an event says -------------------------------------------------- */

static trc_read_event read_event;
static trc_arg read_args[TRC_MAX_ARGS];
static char read_name[64];
static size_t n_read;

static bool keep_event(void *user, const trc_read_event *e)
{
    (void)user;
    n_read++;
    read_event = *e;
    ck_assert_uint_le(e->n_args, TRC_MAX_ARGS);
    if (e->n_args)
        memcpy(read_args, e->args, e->n_args * sizeof *e->args);
    snprintf(read_name, sizeof read_name, "%s", e->name);
    return true;
}

/* The event alone, in a trace of its own. */
static void read_one(const message *event)
{
    message trace = {.n = 0}, packet = {.n = 0};
    trc_read_ops ops = {.event = keep_event};
    vpu_error err;

    message_uint(&packet, 8, 9);
    message_uint(&packet, 10, 1);
    message_bytes(&packet, 11, event->bytes, event->n);
    message_packet(&trace, &packet);
    n_read = 0;
    ck_assert(!trc_read_bytes("event", trace.bytes, trace.n, &ops, &err));
}

/* Flows are 36 and 42 as varints, 47 and 48 as words of 8 bytes; a list of them
 * in one field (type 2) is none that we know. One that ends goes before one
 * that goes on, the first of those before the next. */
static const struct {
    struct {
        uint32_t field, type;
        uint64_t id;
    } put[2];
    trc_flow flow;
    uint64_t id;
} flows[] = {
    {{{0}}, TRC_FLOW_NONE, 0},
    {{{36, 0, 5}}, TRC_FLOW_STEP, 5},
    {{{47, 1, 6}}, TRC_FLOW_STEP, 6},
    {{{42, 0, 7}}, TRC_FLOW_END, 7},
    {{{48, 1, 8}}, TRC_FLOW_END, 8},
    {{{36, 2, 0}}, TRC_FLOW_NONE, 0},
    {{{47, 2, 0}}, TRC_FLOW_NONE, 0},
    {{{42, 2, 0}}, TRC_FLOW_NONE, 0},
    {{{48, 2, 0}}, TRC_FLOW_NONE, 0},
    {{{47, 1, 1}, {47, 1, 2}}, TRC_FLOW_STEP, 1},
    {{{47, 1, 1}, {48, 1, 2}}, TRC_FLOW_END, 2},
    {{{48, 1, 2}, {47, 1, 1}}, TRC_FLOW_END, 2},
};

START_TEST(flows_of_an_event)
{
    static const uint8_t list[8] = {1};
    message event = {.n = 0};

    message_uint(&event, 9, 1);
    for (int k = 0; k < 2; k++) {
        uint32_t field = flows[_i].put[k].field;

        if (field && flows[_i].put[k].type == 2)
            message_bytes(&event, field, list, sizeof list);
        else if (field && flows[_i].put[k].type == 1)
            message_fixed64(&event, field, flows[_i].put[k].id);
        else if (field)
            message_uint(&event, field, flows[_i].put[k].id);
    }
    read_one(&event);
    ck_assert_uint_eq(n_read, 1);
    ck_assert_int_eq(read_event.flow, flows[_i].flow);
    ck_assert_uint_eq(read_event.flow_id, flows[_i].id);
}
END_TEST

/* Types are 1 to 4; a name is text and no number. */
START_TEST(kind_name_and_value)
{
    static const int kinds[] = {
        -1, TRC_READ_BEGIN, TRC_READ_END, TRC_READ_INSTANT, TRC_READ_COUNT, -1};

    for (uint64_t type = 0; type < 6; type++) {
        message event = {.n = 0};

        message_uint(&event, 9, type);
        message_uint(&event, 11, 77);
        message_bytes(&event, 23, "named", 5);
        message_uint(&event, 23, 3);
        message_uint(&event, 30, (uint64_t)-3);
        read_one(&event);
        ck_assert_uint_eq(n_read, kinds[type] >= 0);
        if (!n_read)
            continue;
        ck_assert_int_eq((int)read_event.kind, kinds[type]);
        ck_assert_uint_eq(read_event.uuid, 77);
        ck_assert_uint_eq(read_event.ns, 9);
        ck_assert_str_eq(read_name, "named");
        ck_assert(read_event.value == -3 && !read_event.real);
        message_fixed64(&event, 44, UINT64_C(0x3ff8000000000000));
        read_one(&event);
        ck_assert(read_event.value == 1.5 && read_event.real);
    }
}
END_TEST

/* DebugAnnotation: name 10, uint_value 3, double_value 5, string_value 6. What
 * is too many is dropped. */
START_TEST(arguments_of_an_event)
{
    message event = {.n = 0}, u = {.n = 0}, x = {.n = 0}, s = {.n = 0};

    message_bytes(&u, 10, "u", 1), message_uint(&u, 3, UINT64_MAX);
    message_bytes(&x, 10, "x", 1);
    message_fixed64(&x, 5, UINT64_C(0xbfe0000000000000));
    message_bytes(&s, 10, "s", 1), message_bytes(&s, 6, "text", 4);
    message_uint(&event, 9, 3);
    message_bytes(&event, 4, u.bytes, u.n);
    message_bytes(&event, 4, x.bytes, x.n);
    message_bytes(&event, 4, s.bytes, s.n);
    read_one(&event);
    ck_assert_uint_eq(read_event.n_args, 3);
    ck_assert_int_eq(read_args[0].kind, TRC_ARG_UINT);
    ck_assert_uint_eq(read_args[0].number, UINT64_MAX);
    ck_assert_int_eq(read_args[1].kind, TRC_ARG_REAL);
    ck_assert(read_args[1].real == -0.5);
    ck_assert_int_eq(read_args[2].kind, TRC_ARG_TEXT);
    for (int k = 0; k < TRC_MAX_ARGS; k++)
        message_bytes(&event, 4, u.bytes, u.n);
    read_one(&event);
    ck_assert_uint_eq(read_event.n_args, TRC_MAX_ARGS);
}
END_TEST

/* Of a sequence's own are 64 to 127; what a snapshot says of others is theirs.
 */
START_TEST(first_and_last_clock_of_a_sequence)
{
    message trace = {.n = 0}, snapshot = {.n = 0};

    put_clock(&snapshot, 6, 1000, 0, 0);
    put_clock(&snapshot, 63, 5, 0, 10);
    put_clock(&snapshot, 64, 0, 0, 20);
    put_clock(&snapshot, 127, 0, 0, 30);
    put_clock(&snapshot, 128, 0, 0, 40);
    put_clock(&snapshot, UINT64_C(1) << 40, 0, 0, 50);
    put_snapshot(&trace, 3, &snapshot, 0);
    for (uint64_t clock = 63; clock <= 64; clock++)
        put_instant(&trace, 3, 7, clock);
    for (uint64_t clock = 127; clock <= 128; clock++)
        put_instant(&trace, 3, 7, clock);
    read_all(&trace);
    ck_assert_uint_eq(n_times, 4);
    ck_assert_uint_eq(times[0], 7);
    ck_assert_uint_eq(times[1], 1000 + 7 * 20);
    ck_assert_uint_eq(times[2], 1000 + 7 * 30);
    ck_assert_uint_eq(times[3], 7);
}
END_TEST

/* Fields of a snapshot that are not its clocks, whatever they hold. */
START_TEST(other_fields_of_a_snapshot)
{
    message trace = {.n = 0}, snapshot = {.n = 0};

    put_clock_as(&snapshot, 99, 6, 555000, 0, 0);
    put_clock(&snapshot, 6, 1000, 0, 0);
    put_clock(&snapshot, 64, 0, 0, 20);
    put_clock_as(&snapshot, 99, 6, 777000, 0, 0);
    put_clock_as(&snapshot, 99, 64, 0, 0, 30);
    put_snapshot(&trace, 3, &snapshot, 64);
    put_instant(&trace, 3, 7, 0);
    read_all(&trace);
    ck_assert_uint_eq(n_times, 1);
    ck_assert_uint_eq(times[0], 1000 + 7 * 20);
}
END_TEST

/* --- names by number ------------------------------------------------------ */

/* A name stays, however many come behind it. */
START_TEST(names_by_number)
{
    static const uint64_t iids[] = {1, 63, 64, 127, 128, 5000};
    enum { N = sizeof iids / sizeof *iids };
    trc_read_ops ops = {.event = keep_event};
    message names = {.n = 0};
    char name[16];
    vpu_error err;

    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "n%d", i);
        message_event_name(&names, iids[i], name, 0);
    }
    for (int i = 0; i < N; i++) {
        message trace = names, packet = {.n = 0}, event = {.n = 0};

        message_uint(&event, 9, 3);
        message_uint(&event, 10, iids[i]);
        message_uint(&packet, 8, 9);
        message_uint(&packet, 10, 1);
        message_bytes(&packet, 11, event.bytes, event.n);
        message_packet(&trace, &packet);
        ck_assert(!trc_read_bytes("names", trace.bytes, trace.n, &ops, &err));
        snprintf(name, sizeof name, "n%d", i);
        ck_assert_str_eq(read_name, name);
    }
}
END_TEST

/* A sequence whose state is cleared gives the number to another name. */
START_TEST(names_of_a_cleared_sequence)
{
    static const char *const texts[] = {"one 1", "two 2"};
    message trace = {.n = 0};
    tl_timeline tl;
    vpu_error err;

    for (uint64_t i = 0; i < 4; i++) {
        if (i % 2 == 0) {
            message packet = {.n = 0};

            message_uint(&packet, 10, 1);
            message_uint(&packet, 13, 1);
            message_packet(&trace, &packet);
            message_event_name(&trace, 7, texts[i / 2], 0);
        }
        for (uint64_t type = 1; type <= 2; type++) { /* begin, end */
            message packet = {.n = 0}, event = {.n = 0};

            message_uint(&event, 9, type);
            message_uint(&event, 10, 7);
            message_uint(&event, 11, 5);
            message_uint(&packet, 8, i);
            message_uint(&packet, 10, 1);
            message_bytes(&packet, 11, event.bytes, event.n);
            message_packet(&trace, &packet);
        }
    }
    ck_assert_msg(!load_bytes("cleared", trace.bytes, trace.n, &tl, &err), "%s",
                  err.msg);
    for (uint64_t i = 0; i < 4; i++) {
        char name[16];

        tl_slice_name(&tl, &tl.rows[0].lanes[0], i, name, sizeof name);
        ck_assert_str_eq(name, texts[i / 2]);
    }
    tl_free(&tl);
}
END_TEST

/* --- the track of events that name none ----------------------------------- */

static uint64_t tracks[8];

static bool keep_track(void *user, const trc_read_event *e)
{
    (void)user;
    ck_assert_uint_lt(n_times, 8);
    tracks[n_times++] = e->uuid;
    return true;
}

/* TracePacket.trace_packet_defaults = 59, .track_event_defaults = 11
 * {track_uuid 11}; other numbers beside it say something else */
static void put_default_track(message *trace, uint64_t sequence, uint64_t track)
{
    message packet = {.n = 0}, defaults = {.n = 0}, event = {.n = 0};

    message_uint(&event, 10, 98);
    message_uint(&event, 11, track);
    message_uint(&event, 12, 99);
    message_bytes(&defaults, 11, event.bytes, event.n);
    message_bytes(&defaults, 12, event.bytes, event.n);
    message_uint(&packet, 10, sequence);
    message_bytes(&packet, 59, defaults.bytes, defaults.n);
    message_packet(trace, &packet);
}

static void put_event_of(message *trace, uint64_t sequence, uint64_t track)
{
    message packet = {.n = 0}, event = {.n = 0};

    message_uint(&event, 9, 3);
    if (track)
        message_uint(&event, 11, track);
    message_bytes(&event, 23, "x", 1);
    message_uint(&packet, 8, 1);
    message_uint(&packet, 10, sequence);
    message_bytes(&packet, 11, event.bytes, event.n);
    message_packet(trace, &packet);
}

START_TEST(default_track_of_a_sequence)
{
    trc_read_ops ops = {.event = keep_track};
    message trace = {.n = 0};
    vpu_error err;

    put_default_track(&trace, 1, 41);
    put_default_track(&trace, 2, 42);
    put_event_of(&trace, 1, 0);
    put_event_of(&trace, 2, 0);
    put_event_of(&trace, 1, 43);
    put_event_of(&trace, 1, 0);
    n_times = 0;
    ck_assert(!trc_read_bytes("tracks", trace.bytes, trace.n, &ops, &err));
    ck_assert_uint_eq(n_times, 4);
    ck_assert_uint_eq(tracks[0], 41);
    ck_assert_uint_eq(tracks[1], 42);
    ck_assert_uint_eq(tracks[2], 43);
    ck_assert_uint_eq(tracks[3], 41);
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
    tcase_add_test(tc, first_and_last_clock_of_a_sequence);
    tcase_add_test(tc, other_fields_of_a_snapshot);
    tcase_add_test(tc, names_by_number);
    tcase_add_test(tc, names_of_a_cleared_sequence);
    tcase_add_test(tc, default_track_of_a_sequence);
    tcase_add_loop_test(tc, flows_of_an_event, 0, sizeof flows / sizeof *flows);
    tcase_add_test(tc, kind_name_and_value);
    tcase_add_test(tc, arguments_of_an_event);
    suite_add_tcase(s, tc);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
