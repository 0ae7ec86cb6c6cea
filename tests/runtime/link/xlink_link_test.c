/* The protocol of XLink, its two ends in this process, and one end against
 * bytes written by hand. */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/link/xlink.h"

static transport *end[2];
static xlink *host, *device;
static xlink_config config;
static vpu_error err;

#define OK(call) ck_assert_msg(!(call), "%s", err.msg)
#define FAILS(code, call) ck_assert_int_eq(call, VPU_ERR_##code)
enum { T = 5000 };

static void *start_device(void *arg)
{
    xlink_config c = config;

    (void)arg;
    c.device = true;
    xlink_start(end[1], &c, &device, NULL);
    return NULL;
}

static void setup(void)
{
    host = device = NULL;
    config = (xlink_config){.timeout_ms = T, .max_packet = 16 << 20};
    OK(transport_pair(end, &err));
}

static void connect_both(int layout)
{
    pthread_t thread;

    config.layout = (xlink_layout)layout;
    pthread_create(&thread, NULL, start_device, NULL);
    OK(xlink_start(end[0], &config, &host, &err));
    pthread_join(thread, NULL);
    ck_assert_ptr_nonnull(device);
}

static void teardown(void)
{
    xlink_stop(host);
    xlink_stop(device);
    transport_close(end[0]);
    transport_close(end[1]);
}

START_TEST(a_session)
{
    uint32_t s, d, n = 3 << 20;
    char *data = malloc(n);
    xlink_packet p;

    for (uint32_t i = 0; i < n; i++)
        data[i] = (char)(i * 2654435761u >> 24);
    connect_both(_i);
    OK(xlink_open(host, "deviceMonitor", 2000, &s, T, &err));
    OK(xlink_find(device, "deviceMonitor", &d, T, &err));
    ck_assert_uint_eq(s, d);
    OK(xlink_write(host, s, "\1\0\0\0\0\0\0", 8, T, &err));
    OK(xlink_write(host, s, NULL, 0, T, &err));
    OK(xlink_read(device, d, &p, T, &err));
    ck_assert_uint_eq(p.bytes, 8);
    ck_assert_mem_eq(p.data, "\1\0\0\0\0\0\0", 8);
    OK(xlink_release(device, d, T, &err));
    OK(xlink_read(device, d, &p, T, &err));
    ck_assert_uint_eq(p.bytes, 0);
    OK(xlink_release(device, d, T, &err));
    OK(xlink_write(device, d, data, n, T, &err));
    OK(xlink_read(host, s, &p, T, &err));
    ck_assert_uint_eq(p.bytes, n);
    ck_assert(!memcmp(p.data, data, n));
    OK(xlink_release(host, s, T, &err));
    OK(xlink_close(host, s, T, &err));
    FAILS(INVALID, xlink_write(host, s, "", 1, T, &err));
    FAILS(INVALID, xlink_read(device, d, &p, T, &err));
    OK(xlink_reset(host, T, &err));
    FAILS(IO, xlink_find(device, "x", &d, T, &err));
    ck_assert_msg(strstr(err.msg, "the other end reset the link"), "%s",
                  err.msg);
    FAILS(IO, xlink_open(host, "x", 64, &s, T, &err));
    free(data);
}
END_TEST

/* Ids of a host's requests as it sends them, and of the responses. */
typedef struct {
    uint32_t sent[16], got[16];
    unsigned n_sent, n_got;
} numbers;

static void note_number(void *user, bool sent, const xlink_header *h,
                        const void *payload, uint32_t n)
{
    numbers *s = user; /* with the link's lock held */

    (void)payload;
    (void)n;
    if (!h->response && sent && s->n_sent < 16)
        s->sent[s->n_sent++] = h->id;
    if (h->response && !sent && s->n_got < 16)
        s->got[s->n_got++] = h->id;
}

/* PING is 10; each request is one more than the one before; responses repeat
 * the number. */
START_TEST(requests_are_numbered)
{
    numbers s = {.n_sent = 0};
    xlink_watch watch = {note_number, &s};
    xlink_config watched = config;
    pthread_t thread;
    uint32_t id;

    config.layout = watched.layout = (xlink_layout)_i;
    pthread_create(&thread, NULL, start_device, NULL);
    watched.watch = &watch;
    OK(xlink_start(end[0], &watched, &host, &err));
    pthread_join(thread, NULL);
    OK(xlink_open(host, "a", 4096, &id, T, &err));
    for (int i = 0; i < 4; i++)
        OK(xlink_write(host, id, "x", 1, T, &err));
    xlink_stop(host);
    host = NULL;
    ck_assert_uint_ge(s.n_sent, 6);
    ck_assert_uint_ge(s.n_got, 6);
    for (uint32_t i = 0; i < 6; i++) {
        ck_assert_uint_eq(s.sent[i], 10 + i);
        ck_assert_uint_eq(s.got[i], 10 + i);
    }
}
END_TEST

START_TEST(bytes_not_released_hold_writes_and_closing)
{
    char data[100] = {0};
    xlink_packet p;
    uint32_t s;

    connect_both(_i);
    OK(xlink_open(host, "a", 100, &s, T, &err)); /* 128 */
    OK(xlink_write(host, s, data, 100, T, &err));
    FAILS(LIMIT, xlink_write(host, s, data, 29, 30, &err));
    ck_assert_msg(strstr(err.msg, "no room for 29 bytes, 100 bytes in 1"), "%s",
                  err.msg);
    OK(xlink_write(host, s, data, 28, T, &err));
    FAILS(INVALID, xlink_write(host, s, data, 129, T, &err));
    FAILS(LIMIT, xlink_close(host, s, 30, &err));
    FAILS(INVALID, xlink_release(device, s, T, &err));
    OK(xlink_read(device, s, &p, T, &err));
    OK(xlink_release(device, s, T, &err));
    OK(xlink_write(host, s, data, 100, T, &err));
    for (int i = 0; i < 2; i++) {
        OK(xlink_read(device, s, &p, T, &err));
        OK(xlink_release(device, s, T, &err));
    }
    FAILS(LIMIT, xlink_read(device, s, &p, 20, &err));
    OK(xlink_close(host, s, T, &err));
}
END_TEST

START_TEST(sixty_four_packets_are_the_bound)
{
    xlink_packet p;
    uint32_t s;

    connect_both(_i);
    OK(xlink_open(host, "a", 4096, &s, T, &err));
    for (int i = 0; i < 64; i++)
        OK(xlink_write(device, s, &(char){(char)i}, 1, T, &err));
    FAILS(LIMIT, xlink_write(device, s, "", 1, 30, &err));
    for (int i = 0; i < 64; i++) {
        OK(xlink_read(host, s, &p, T, &err));
        ck_assert_int_eq(*(const char *)p.data, i);
    }
    for (int i = 0; i < 64; i++)
        OK(xlink_release(host, s, T, &err));
    FAILS(INVALID, xlink_release(host, s, T, &err));
    OK(xlink_write(device, s, "", 1, T, &err));
}
END_TEST

START_TEST(streams_both_ways_and_their_number)
{
    uint32_t s, d, ids[32];
    char name[16];

    connect_both(_i);
    OK(xlink_open(host, "a", 64, &s, T, &err));
    OK(xlink_open(device, "a", 64, &d, T, &err));
    ck_assert_uint_eq(s, d);
    FAILS(INVALID, xlink_open(host, "a", 64, &s, T, &err));
    OK(xlink_close(host, s, T, &err)); /* the device's half stays */
    OK(xlink_find(host, "a", &s, T, &err));
    OK(xlink_write(device, s, "x", 1, T, &err));
    FAILS(LIMIT, xlink_close(device, s, 30, &err));
    OK(xlink_open(device, "b", 64, &d, T, &err));
    OK(xlink_find(host, "b", &s, T, &err));
    ck_assert_uint_eq(s, d);
    for (int i = 2; i < 32; i++) {
        snprintf(name, sizeof name, "n%d", i);
        OK(xlink_open(host, name, 64, &ids[i], T, &err));
    }
    ck_assert_int_ne(xlink_open(host, "more", 64, &s, T, &err), VPU_OK);
    ck_assert_int_ne(xlink_open(device, "more", 64, &s, T, &err), VPU_OK);
    OK(xlink_close(host, ids[7], T, &err));
    OK(xlink_open(host, "more", 64, &s, T, &err));
}
END_TEST

static void *write_many(void *arg)
{
    xlink *x = arg;

    for (unsigned i = 0; i < 500; i++)
        if (xlink_write(x, 0, &i, 4, T, NULL))
            break;
    return NULL;
}

START_TEST(both_ends_write_at_once)
{
    pthread_t thread[2];
    uint32_t s;

    connect_both(_i);
    OK(xlink_open(host, "a", 256, &s, T, &err));
    ck_assert_uint_eq(s, 0);
    pthread_create(&thread[0], NULL, write_many, host);
    pthread_create(&thread[1], NULL, write_many, device);
    for (unsigned i = 0; i < 500; i++)
        for (int k = 0; k < 2; k++) {
            xlink *x = k ? host : device;
            xlink_packet p;

            OK(xlink_read(x, s, &p, T, &err));
            ck_assert_mem_eq(p.data, &i, 4);
            OK(xlink_release(x, s, T, &err));
        }
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
}
END_TEST

START_TEST(silence_ends_in_time)
{
    config.timeout_ms = 50;
    FAILS(LIMIT, xlink_start(end[0], &config, &host, &err));
    transport_close(end[0]);
    transport_close(end[1]);
    setup();
    config.timeout_ms = 50;
    config.device = true;
    FAILS(IO, (transport_close(end[0]), end[0] = NULL,
               xlink_start(end[1], &config, &device, &err)));
    end[0] = end[1];
    end[1] = NULL;
}
END_TEST

static void send(xlink_header h)
{
    uint8_t bytes[XLINK_HEADER_MAX];
    size_t put;

    h.flags |= h.response ? 0 : XLINK_FLAG_ACK;
    OK(xlink_encode(XLINK_LAYOUT_A, &h, bytes, sizeof bytes, &err));
    OK(transport_write(end[0], bytes, 84, &put, T, &err));
}

static xlink_header receive(void)
{
    uint8_t bytes[84];
    xlink_header h;
    size_t got;

    OK(transport_read(end[0], bytes, 84, &got, T, &err));
    OK(xlink_decode(XLINK_LAYOUT_A, bytes, 84, &h, &err));
    return h;
}

/* A host by hand; what it does wrong, and why the device says the link ended.
 */
static const struct {
    xlink_header h;
    const char *text;
} wrong[] = {
    {{.event = XLINK_WRITE, .stream = 7, .size = 8},
     "WRITE request to stream 7, size 8: expected an open stream"},
    {{.event = XLINK_WRITE, .size = 0xffffffff}, "at most 16777216 bytes"},
    {{.event = XLINK_READ_REL, .size = 8},
     "READ_REL of stream 0: size 8, expected at most the 0 bytes"},
};

START_TEST(a_peer_that_breaks_the_rules_ends_the_link)
{
    pthread_t thread;
    xlink_header h;
    uint32_t s;

    pthread_create(&thread, NULL, start_device, NULL);
    send((xlink_header){.event = XLINK_PING, .id = 10});
    h = receive();
    ck_assert(h.event == XLINK_PING && h.response && h.id == 10);
    pthread_join(thread, NULL);
    send((xlink_header){.event = XLINK_CREATE_STREAM,
                        .id = 11,
                        .name = "a",
                        .stream = XLINK_NO_STREAM,
                        .size = 64});
    h = receive();
    ck_assert(h.stream == 0 && h.flags == 1 && h.size == 64);
    /* An answer to nothing, and a refusal: larger than before. */
    send((xlink_header){.event = XLINK_PING, .response = true, .flags = 1});
    send((xlink_header){.event = XLINK_CREATE_STREAM,
                        .id = 12,
                        .name = "a",
                        .stream = XLINK_NO_STREAM,
                        .size = 128});
    h = receive();
    ck_assert(h.flags == 0x40 && h.stream == XLINK_NO_STREAM && h.id == 12);
    send(wrong[_i].h);
    FAILS(IO, xlink_find(device, "never", &s, T, &err));
    ck_assert_msg(strstr(err.msg, wrong[_i].text), "%s", err.msg);
}
END_TEST

START_TEST(refusals_are_told)
{
    pthread_t thread;
    xlink_header h;
    uint32_t s = 0;

    pthread_create(&thread, NULL, start_device, NULL);
    send((xlink_header){.event = XLINK_PING, .id = 10});
    receive();
    pthread_join(thread, NULL);
    send((xlink_header){.event = XLINK_CREATE_STREAM,
                        .id = 11,
                        .name = "a",
                        .stream = XLINK_NO_STREAM,
                        .size = 64});
    receive();
    /* The answer is there before the question: ids count from 10. */
    send((xlink_header){.event = XLINK_WRITE, .response = true, .flags = 1});
    FAILS(LIMIT, xlink_write(device, s, "x", 1, 30, &err));
    ck_assert_msg(strstr(err.msg, "WRITE: no answer in time"), "%s", err.msg);
    /* What was sent waits to be released, answered or not. */
    send((xlink_header){
        .event = XLINK_READ_REL, .id = 12, .stream = s, .size = 1});
    send((xlink_header){.event = XLINK_CLOSE_STREAM, .id = 13});
    while ((h = receive()).event != XLINK_CLOSE_STREAM) {
        char payload[1];
        size_t got;

        if (h.event == XLINK_WRITE)
            OK(transport_read(end[0], payload, 1, &got, T, &err));
    }
    FAILS(INVALID, xlink_write(device, s, "x", 1, 30, &err));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("xlink_link");
    TCase *t = tcase_create("link");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, a_session, 0, XLINK_N_LAYOUTS);
    tcase_add_loop_test(t, requests_are_numbered, 0, XLINK_N_LAYOUTS);
    tcase_add_loop_test(t, bytes_not_released_hold_writes_and_closing, 0,
                        XLINK_N_LAYOUTS);
    tcase_add_loop_test(t, sixty_four_packets_are_the_bound, 0,
                        XLINK_N_LAYOUTS);
    tcase_add_loop_test(t, streams_both_ways_and_their_number, 0,
                        XLINK_N_LAYOUTS);
    tcase_add_loop_test(t, both_ends_write_at_once, 0, XLINK_N_LAYOUTS);
    tcase_add_test(t, silence_ends_in_time);
    tcase_add_loop_test(t, a_peer_that_breaks_the_rules_ends_the_link, 0,
                        (int)(sizeof wrong / sizeof wrong[0]));
    tcase_add_test(t, refusals_are_told);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
