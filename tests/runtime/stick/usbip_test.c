/* The virtual stick as a USB device. The test is the kernel: it sends USB/IP
 * messages written out here byte by byte, and knows what hardware does with
 * short, full and too long packets. */
#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "runtime/stick/usbip.h"
#include "runtime/stick/usbip_session.h"
#include "tests/support/proc.h"

static gadget g;
static usbip_faults faults;
static usbip_session *session;
static usbip_end ended;
static pthread_t thread;
static int kernel = -1;
static bool running;
static vpu_error err;
static uint8_t reply_data[1 << 20];

static void *run(void *arg)
{
    (void)arg;
    ended = usbip_session_run(session, NULL, NULL, NULL);
    return NULL;
}

static void start(bool booted)
{
    struct timeval tv = {.tv_sec = 10};
    int pair[2];

    g = (gadget){.booted = booted, .serial = "0123456789abcd"};
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    kernel = pair[0];
    session = usbip_session_new(pair[1], &g, &faults);
    ck_assert_ptr_nonnull(session);
    ck_assert_int_eq(pthread_create(&thread, NULL, run, NULL), 0);
    running = true;
}

/* The kernel closes its end when it has seen the session's. */
static usbip_end finish(void)
{
    while (kernel >= 0 && recv(kernel, reply_data, sizeof reply_data, 0) > 0)
        ;
    if (kernel >= 0)
        shutdown(kernel, SHUT_RDWR);
    pthread_join(thread, NULL);
    running = false;
    return ended;
}

static void setup(void)
{
    faults = (usbip_faults)USBIP_NO_FAULTS;
    session = NULL;
    running = false;
}

static void teardown(void)
{
    if (kernel >= 0)
        close(kernel);
    kernel = -1;
    if (running)
        finish();
    usbip_session_free(session);
}

static void put32(uint8_t *p, uint32_t v)
{
    v = htonl(v);
    memcpy(p, &v, 4);
}

static uint32_t get32(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, 4);
    return ntohl(v);
}

static void submit(uint32_t seqnum, uint32_t endpoint, bool in, uint32_t flags,
                   uint32_t length, const uint8_t *setup_packet,
                   const void *data)
{
    uint8_t m[48] = {0};

    put32(m, 1);
    put32(m + 4, seqnum);
    put32(m + 8, 0x10002);
    put32(m + 12, in);
    put32(m + 16, endpoint);
    put32(m + 20, flags);
    put32(m + 24, length);
    if (setup_packet)
        memcpy(m + 40, setup_packet, 8);
    ck_assert_int_eq(send(kernel, m, sizeof m, MSG_NOSIGNAL), sizeof m);
    if (!in && length)
        ck_assert_int_eq(send(kernel, data, length, MSG_NOSIGNAL), length);
}

static void unlink_urb(uint32_t seqnum, uint32_t victim)
{
    uint8_t m[48] = {0};

    put32(m, 2);
    put32(m + 4, seqnum);
    put32(m + 20, victim);
    ck_assert_int_eq(send(kernel, m, sizeof m, MSG_NOSIGNAL), sizeof m);
}

typedef struct {
    uint32_t command, seqnum;
    int32_t status;
    uint32_t moved;
} answer;

/* The next message; the data of a transfer to the host in reply_data. */
static answer next(bool in)
{
    uint8_t m[48];
    answer a;

    ck_assert_int_eq(recv(kernel, m, sizeof m, MSG_WAITALL), sizeof m);
    a = (answer){get32(m), get32(m + 4), (int32_t)get32(m + 20), get32(m + 24)};
    if (in && a.command == 3 && a.moved) {
        ck_assert_uint_le(a.moved, sizeof reply_data);
        ck_assert_int_eq(recv(kernel, reply_data, a.moved, MSG_WAITALL),
                         a.moved);
    }
    return a;
}

static void expect(bool in, uint32_t seqnum, int32_t status, uint32_t moved)
{
    answer a = next(in);

    ck_assert_uint_eq(a.command, 3);
    ck_assert_uint_eq(a.seqnum, seqnum);
    ck_assert_int_eq(a.status, status);
    ck_assert_uint_eq(a.moved, moved);
}

static answer get_descriptor(unsigned type, unsigned index, unsigned length)
{
    uint8_t s[8] = {0x80, 6, (uint8_t)index,  (uint8_t)type,
                    0,    0, (uint8_t)length, (uint8_t)(length >> 8)};

    submit(7, 0, true, 0, length, s, NULL);
    return next(true);
}

/* The sources' table, field by field. */
START_TEST(unbooted_descriptors)
{
    answer a;

    start(false);
    a = get_descriptor(1, 0, 64);
    ck_assert_uint_eq(a.moved, 18);
    ck_assert_mem_eq(reply_data + 2, "\x00\x02\x00\x00\x00", 5); /* 2.0 */
    ck_assert_mem_eq(reply_data + 8, "\xe7\x03\x85\x24\x01\x00", 6);
    a = get_descriptor(2, 0, 9); /* the kernel asks for the head first */
    ck_assert_uint_eq(a.moved, 9);
    ck_assert_uint_eq(reply_data[2], 9 + 9 + 2 * 7);
    a = get_descriptor(2, 0, 255);
    ck_assert_uint_eq(a.moved, 32);
    ck_assert_uint_eq(reply_data[7], 0x80);
    ck_assert_uint_eq(reply_data[8], 250); /* 500 mA */
    ck_assert_mem_eq(reply_data + 14, "\xff\x11\xff", 3);
    ck_assert_mem_eq(reply_data + 18, "\x07\x05\x81\x02\x00\x02", 6);
    ck_assert_mem_eq(reply_data + 25, "\x07\x05\x01\x02\x00\x02", 6);
    a = get_descriptor(3, 3, 255);
    ck_assert_uint_eq(a.moved, 2 + 2 * 8);
    ck_assert_mem_eq(reply_data + 2, "0\0003\0e\0007\0002\0004\0008\0005\000",
                     16);
    a = get_descriptor(3, 9, 255); /* no such string: the endpoint stalls */
    ck_assert_int_eq(a.status, -32);
}
END_TEST

START_TEST(booted_descriptors)
{
    start(true);
    ck_assert_uint_eq(get_descriptor(1, 0, 64).moved, 18);
    ck_assert_mem_eq(reply_data + 8, "\xe7\x03\x3b\xf6", 4);
    ck_assert_uint_eq(get_descriptor(2, 0, 255).moved, 9 + 9 + 6 * 7);
    ck_assert_uint_eq(reply_data[7], 0xc0);
    ck_assert_uint_eq(reply_data[20], 0x01); /* out, then in */
    ck_assert_uint_eq(reply_data[27], 0x81);
}
END_TEST

/* Endpoint 0 never crashes or hangs, whatever is asked. */
START_TEST(any_control_request)
{
    start(_i & 1);
    for (unsigned r = 0; r < 256; r++)
        for (unsigned type = 0; type < 256; type += 32) {
            uint8_t s[8] = {(uint8_t)type,
                            (uint8_t)r,
                            (uint8_t)(r * 7),
                            (uint8_t)(r % 17),
                            0x81,
                            0,
                            255,
                            3};
            bool in = type & 0x80;

            submit(r, 0, in, 0, in ? 1023 : 0, s, NULL);
            ck_assert_uint_eq(next(in).seqnum, r);
        }
}
END_TEST

static const uint8_t firmware[] = {'M', 'A',  '2',  'x',  0x9a, 0,
                                   0,   0,    0,    1,    0,    0,
                                   0,   0xa4, 0x00, 0x00, 0x18, 0x80};

/* However the image is cut into transfers. */
START_TEST(firmware_boots_once_it_is_whole)
{
    start(false);
    for (size_t at = 0, n; at < sizeof firmware; at += n) {
        n = sizeof firmware - at < (size_t)_i ? sizeof firmware - at
                                              : (size_t)_i;
        submit((uint32_t)at + 1, 1, false, 0, (uint32_t)n, NULL, firmware + at);
        expect(false, (uint32_t)at + 1, 0, (uint32_t)n);
    }
    ck_assert_int_eq(finish(), USBIP_BOOTED);
    ck_assert_uint_eq(usbip_session_firmware(session, NULL), sizeof firmware);
}
END_TEST

/* Writes, a call and a read of nine bytes, as hosts ask for the serial number;
 * then the firmware, and the stick boots. */
START_TEST(the_rom_tells_its_serial_number)
{
    static const uint8_t question[] = {
        'M',  'A',  '2', 'x', 0x9a, 0,    0x10, 0,    0x70, 1,    0, 0, 0,
        0xba, 0x20, 0,   0,   0x70, 0x84, 0,    0x30, 0,    0x70, 9, 0, 0};
    static const uint8_t zeros[5000];
    static const uint8_t serial[9] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd};

    start(false);
    submit(1, 1, false, 0, 10, NULL, question);
    expect(false, 1, 0, 10);
    submit(2, 1, true, 0, 64, NULL, NULL);
    submit(3, 1, false, 0, sizeof question - 10, NULL, question + 10);
    expect(false, 3, 0, sizeof question - 10);
    expect(true, 2, 0, 9);
    ck_assert_mem_eq(reply_data, serial, 9);
    /* What follows has no beginning of its own; nor has padding. */
    submit(5, 1, false, 0, 9, NULL, question + 4);
    expect(false, 5, 0, 9);
    submit(6, 1, false, 0, sizeof zeros, NULL, zeros);
    expect(false, 6, 0, sizeof zeros);
    submit(7, 1, true, 0, 64, NULL, NULL);
    submit(8, 1, false, 0, sizeof question, NULL, question);
    expect(false, 8, 0, sizeof question);
    expect(true, 7, 0, 9);
    ck_assert_mem_eq(reply_data, serial, 9);
    submit(4, 1, false, 0, sizeof firmware, NULL, firmware);
    expect(false, 4, 0, sizeof firmware);
    ck_assert_int_eq(finish(), USBIP_BOOTED);
    ck_assert_uint_eq(usbip_session_firmware(session, NULL), sizeof firmware);
}
END_TEST

START_TEST(unplugged_while_it_boots)
{
    faults.boot_unplug = 8;
    start(false);
    submit(1, 1, false, 0, 12, NULL, firmware);
    ck_assert_int_eq(finish(), USBIP_GONE);
}
END_TEST

START_TEST(firmware_that_does_not_start)
{
    faults.no_boot = true;
    start(false);
    submit(1, 1, false, 0, sizeof firmware, NULL, firmware);
    expect(false, 1, 0, sizeof firmware);
    usleep(400000);
    get_descriptor(1, 0, 18); /* is still the unbooted stick */
    ck_assert_mem_eq(reply_data + 8, "\xe7\x03\x85\x24", 4);
}
END_TEST

/* What the stick writes. */
static struct {
    const void *data;
    size_t n, put;
    vpu_status st;
    pthread_t thread;
} writing;

static void *write_it(void *arg)
{
    (void)arg;
    writing.st = transport_write(usbip_session_link(session), writing.data,
                                 writing.n, &writing.put, 5000, &err);
    return NULL;
}

static void stick_writes(const void *data, size_t n)
{
    writing.data = data;
    writing.n = n;
    ck_assert_int_eq(pthread_create(&writing.thread, NULL, write_it, NULL), 0);
}

static void written(vpu_status st, size_t put)
{
    pthread_join(writing.thread, NULL);
    ck_assert_int_eq(writing.st, st);
    ck_assert_uint_eq(writing.put, put);
}

static uint8_t pattern[8192];

static void fill_pattern(void)
{
    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = (uint8_t)(i * 31 + i / 256);
}

/* A transfer ends with a short packet; in one that is full the rest waits for
 * the next. */
START_TEST(transfers_to_the_host)
{
    static const struct {
        uint32_t message, urbs[4], moved[4];
    } cases[] = {
        {84, {84}, {84}},             /* a header */
        {84, {512}, {84}},            /* shorter than asked */
        {512, {512}, {512}},          /* one packet, full */
        {600, {512, 512}, {512, 88}}, /* goes on in the next */
        {2048, {512, 1024, 512}, {512, 1024, 512}},
        {1500, {4096}, {1500}},
    };
    const uint32_t *urbs = cases[_i].urbs, *moved = cases[_i].moved;
    size_t at = 0;

    fill_pattern();
    start(true);
    for (uint32_t i = 0; i < 4 && urbs[i]; i++)
        submit(i + 1, 1, true, 0, urbs[i], NULL, NULL);
    stick_writes(pattern, cases[_i].message);
    for (uint32_t i = 0; i < 4 && urbs[i]; i++) {
        expect(true, i + 1, 0, moved[i]);
        ck_assert_mem_eq(reply_data, pattern + at, moved[i]);
        at += moved[i];
    }
    written(VPU_OK, cases[_i].message);
}
END_TEST

START_TEST(a_packet_that_does_not_fit_overflows)
{
    fill_pattern();
    start(true);
    submit(1, 1, true, 0, 84, NULL, NULL);
    stick_writes(pattern, 100);
    expect(true, 1, -75, 84);
    written(VPU_OK, 100); /* what did not fit is lost, as on the bus */
}
END_TEST

/* Two messages never share a transfer that must not be short, even when the
 * kernel has queued more. */
START_TEST(a_short_packet_stops_a_split_transfer)
{
    fill_pattern();
    start(true);
    for (uint32_t i = 1; i <= 3; i++)
        submit(i, 1, true, i < 3, 1024, NULL, NULL);
    stick_writes(pattern, 700);
    expect(true, 1, -121, 700);
    written(VPU_OK, 700);
    stick_writes(pattern, 84);
    usleep(50000);
    unlink_urb(10, 2);
    ck_assert_int_eq(next(true).status, -104);
    unlink_urb(11, 3);
    ck_assert_int_eq(next(true).status, -104);
    submit(4, 1, true, 0, 84, NULL, NULL);
    expect(true, 4, 0, 84);
    written(VPU_OK, 84);
}
END_TEST

/* A packet that is short, but fills its URB, is what was asked for. */
START_TEST(a_full_urb_is_not_short)
{
    fill_pattern();
    start(true);
    submit(1, 1, true, 1, 84, NULL, NULL);
    submit(2, 1, true, 0, 512, NULL, NULL);
    stick_writes(pattern, 84);
    expect(true, 1, 0, 84);
    written(VPU_OK, 84);
    stick_writes(pattern, 100);
    expect(true, 2, 0, 100);
    written(VPU_OK, 100);
}
END_TEST

START_TEST(transfers_to_the_stick)
{
    static uint8_t got[sizeof pattern];
    transport *link;
    size_t n, at = 0;

    fill_pattern();
    start(true);
    link = usbip_session_link(session);
    submit(1, 1, false, 0, 5000, NULL, pattern);
    submit(2, 1, false, 0, 0, NULL, NULL);
    submit(3, 1, false, 0, 3192, NULL, pattern + 5000);
    expect(false, 2, 0, 0); /* nothing in it: done at once */
    for (; at < sizeof pattern; at += n)
        ck_assert_int_eq(transport_read(link, got + at,
                                        at + 999 > sizeof pattern
                                            ? sizeof pattern - at
                                            : 999,
                                        &n, 2000, &err),
                         VPU_OK);
    ck_assert_mem_eq(got, pattern, sizeof pattern);
    expect(false, 1, 0, 5000); /* acknowledged when it was taken */
    expect(false, 3, 0, 3192);
    ck_assert_int_eq(transport_read(link, got, 1, &n, 50, &err), VPU_ERR_LIMIT);
}
END_TEST

START_TEST(cancelled_urbs)
{
    start(true);
    submit(1, 1, true, 0, 512, NULL, NULL);
    unlink_urb(2, 1);
    ck_assert_int_eq(next(true).status, -104);
    unlink_urb(3, 1); /* is not there any more */
    answer a = next(true);
    ck_assert_uint_eq(a.command, 4);
    ck_assert_int_eq(a.status, 0);
    fill_pattern();
    submit(4, 1, false, 0, 100, NULL, pattern);
    size_t n;
    ck_assert_int_eq(transport_read(usbip_session_link(session), reply_data, 40,
                                    &n, 1000, &err),
                     VPU_OK);
    unlink_urb(5, 4); /* what was taken counts */
    expect(false, 4, 0, 40);
    ck_assert_uint_eq(next(true).command, 4);
}
END_TEST

/* The host's numbers need not be unique. */
START_TEST(urbs_of_one_number)
{
    start(true);
    for (int i = 0; i < 3; i++)
        submit(5, 1, true, 0, 64, NULL, NULL);
    submit(5, 1, false, 0, 0, NULL, NULL);
    expect(false, 5, 0, 0);
    fill_pattern();
    stick_writes(pattern, 64);
    expect(true, 5, 0, 64);
    written(VPU_OK, 64);
    unlink_urb(6, 5);
    ck_assert_int_eq(next(true).status, -104);
}
END_TEST

START_TEST(stalled_endpoints)
{
    uint8_t clear[8] = {2, 1, 0, 0, 0x81};

    faults.stall_in = 512;
    fill_pattern();
    start(true);
    submit(1, 1, true, 0, 512, NULL, NULL);
    stick_writes(pattern, 1024);
    expect(true, 1, 0, 512);
    submit(2, 1, true, 0, 512, NULL, NULL);
    expect(true, 2, -32, 0);
    submit(3, 1, true, 0, 512, NULL, NULL);
    expect(true, 3, -32, 0);
    submit(4, 0, false, 0, 0, clear, NULL);
    expect(false, 4, 0, 0);
    submit(5, 1, true, 0, 512, NULL, NULL);
    expect(true, 5, 0, 512);
    ck_assert_mem_eq(reply_data, pattern + 512, 512);
    written(VPU_OK, 1024);
}
END_TEST

START_TEST(unplugging_ends_everything)
{
    size_t n;

    start(true);
    stick_writes(pattern, 100);
    usleep(20000);
    close(kernel);
    kernel = -1;
    ck_assert_int_eq(finish(), USBIP_GONE);
    written(VPU_ERR_IO, 0);
    ck_assert_int_eq(transport_read(usbip_session_link(session), reply_data, 1,
                                    &n, 1000, &err),
                     VPU_ERR_IO);
}
END_TEST

/* vhci-hcd loses what is cancelled while it ends the connection: a stick that
 * leaves waits until nothing is left to cancel, and a host's sends do not fail
 * before it has seen the end. */
START_TEST(a_stick_that_leaves_waits_for_the_host)
{
    char byte;

    start(true);
    submit(31, 1, true, 0, 512, NULL, NULL);
    usbip_session_over(session);
    unlink_urb(32, 31);
    answer a = next(false);
    ck_assert_uint_eq(a.command, 4);
    ck_assert_int_eq(a.status, -104);
    ck_assert_int_eq(recv(kernel, &byte, 1, 0), 0);
    unlink_urb(33, 31);
    ck_assert_int_eq(finish(), USBIP_ENDED);
}
END_TEST

START_TEST(a_stick_that_leaves_does_not_wait_for_good)
{
    int64_t begin;
    char byte;

    start(true);
    submit(31, 1, true, 0, 512, NULL, NULL);
    begin = clock_ms();
    usbip_session_over(session);
    ck_assert_int_eq(recv(kernel, &byte, 1, 0), 0);
    ck_assert_int_ge(clock_ms() - begin, 500);
    ck_assert_int_eq(finish(), USBIP_ENDED);
}
END_TEST

START_TEST(what_no_kernel_sends)
{
    uint8_t m[48];

    start(true);
    memset(m, 0, sizeof m);
    put32(m, _i ? 9 : 1);
    put32(m + 16, 1);
    put32(m + 24, 0x7fffffff);
    ck_assert_int_eq(send(kernel, m, sizeof m, MSG_NOSIGNAL), sizeof m);
    ck_assert_int_eq(finish(), USBIP_GONE);
}
END_TEST

/* The server around it, over TCP as usbip tools talk to it. */
static _Atomic bool stop;
static _Atomic int served;
static unsigned tcp_port;
static usbip_config config;
static vpu_status server_rc;

static vpu_status serve(void *user, transport *link, const _Atomic bool *until,
                        vpu_error *e)
{
    uint8_t b[4];
    size_t n;

    (void)user;
    (void)until;
    served++;
    return transport_read(link, b, sizeof b, &n, 5000, e);
}

static void *run_server(void *arg)
{
    (void)arg;
    server_rc = usbip_run(&config, &err);
    return NULL;
}

static void server_setup(void)
{
    setup();
    stop = false;
    served = 0;
    tcp_port = 20000 + (unsigned)getpid() % 20000;
    config = (usbip_config){.address = "127.0.0.1",
                            .port = tcp_port,
                            .serial = "1234",
                            .faults = USBIP_NO_FAULTS,
                            .serve = serve,
                            .stop = &stop};
    ck_assert_int_eq(pthread_create(&thread, NULL, run_server, NULL), 0);
}

static void server_teardown(void)
{
    stop = true;
    if (kernel >= 0)
        close(kernel);
    kernel = -1;
    pthread_join(thread, NULL);
    ck_assert_int_eq(server_rc, VPU_OK);
}

static int dial(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)tcp_port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval tv = {.tv_sec = 10};

    for (int i = 0; i < 100; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);

        if (!connect(fd, (struct sockaddr *)&at, sizeof at)) {
            setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
            return fd;
        }
        close(fd);
        usleep(20000);
    }
    ck_abort_msg("the server does not listen");
    return -1;
}

/* What `usbip list` gets: the number of devices, and the product of the first.
 */
static unsigned devices(unsigned *product)
{
    static const uint8_t ask[8] = {0x01, 0x11, 0x80, 0x05};
    uint8_t head[12], device[316];
    int fd = dial();
    unsigned n;

    ck_assert_int_eq(send(fd, ask, sizeof ask, 0), sizeof ask);
    ck_assert_int_eq(recv(fd, head, sizeof head, MSG_WAITALL), sizeof head);
    ck_assert_mem_eq(head, "\x01\x11\x00\x05\x00\x00\x00\x00", 8);
    n = get32(head + 8);
    if (n) {
        ck_assert_int_eq(recv(fd, device, sizeof device, MSG_WAITALL),
                         sizeof device);
        ck_assert_str_eq((char *)device, "/sys/devices/virtual/vpusim/1-1");
        ck_assert_str_eq((char *)device + 256, "1-1");
        ck_assert_uint_eq(get32(device + 288), 1); /* bus */
        ck_assert_uint_eq(get32(device + 292), 2); /* device on it */
        ck_assert_uint_eq(get32(device + 296), 3); /* high speed */
        ck_assert_mem_eq(device + 300, "\x03\xe7", 2);
        *product = (unsigned)device[302] << 8 | device[303];
    }
    close(fd);
    return n;
}

static uint32_t attach(const char *busid)
{
    uint8_t ask[40] = {0x01, 0x11, 0x80, 0x03}, head[8], device[312];

    kernel = dial();
    strcpy((char *)ask + 8, busid);
    ck_assert_int_eq(send(kernel, ask, sizeof ask, 0), sizeof ask);
    ck_assert_int_eq(recv(kernel, head, sizeof head, MSG_WAITALL), sizeof head);
    if (!get32(head + 4))
        ck_assert_int_eq(recv(kernel, device, sizeof device, MSG_WAITALL),
                         sizeof device);
    return get32(head + 4);
}

static void wait_for(unsigned product)
{
    unsigned now = 0;

    for (int i = 0; i < 100 && (!devices(&now) || now != product); i++)
        usleep(50000);
    ck_assert_uint_eq(now, product);
}

START_TEST(a_life)
{
    wait_for(0x2485);
    ck_assert_uint_ne(attach("9-9"), 0);
    close(kernel);
    ck_assert_uint_eq(attach("1-1"), 0);
    int first = kernel;
    unsigned product;
    usleep(100000);
    ck_assert_uint_eq(devices(&product), 0); /* it is taken */
    ck_assert_uint_ne(attach("1-1"), 0);
    close(kernel);
    kernel = first;
    submit(1, 1, false, 0, sizeof firmware, NULL, firmware);
    expect(false, 1, 0, sizeof firmware);
    ck_assert_int_eq(recv(kernel, reply_data, 1, 0), 0); /* unplugged */
    close(kernel);
    wait_for(0xf63b);
    ck_assert_uint_eq(attach("1-1"), 0);
    submit(2, 1, false, 0, 4, NULL, "bye!");
    expect(false, 2, 0, 4);
    ck_assert_int_eq(recv(kernel, reply_data, 1, 0), 0);
    close(kernel);
    wait_for(0x2485);
    ck_assert_int_eq(served, 1);
    ck_assert_uint_eq(attach("1-1"), 0);
}
END_TEST

/* The server as a program of its own, each booted stick a process of its own:
 * a crash there is a stick that was pulled out. */
static pid_t server_pid;
static char temporaries[] = "/tmp/vpu-usbip-XXXXXX";

static void say(void *user, log_level level, const char *text)
{
    (void)user;
    if (level == LOG_WARNING)
        fprintf(stderr, "%s\n", text);
}

static void apart_setup(void)
{
    static const log_sink log = {.line = say};
    static const isolate_config isolate = {
        .log_fd = -1, .stop = &stop, .log = &log};

    setup();
    strcpy(temporaries + sizeof temporaries - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(temporaries));
    tcp_port = 20000 + (unsigned)getpid() % 20000;
    config = (usbip_config){.address = "127.0.0.1",
                            .port = tcp_port,
                            .serial = "1234",
                            .faults = USBIP_NO_FAULTS,
                            .serve = serve,
                            .isolate = &isolate,
                            .stop = &stop,
                            .log = &log};
    server_pid = fork();
    ck_assert_int_ge(server_pid, 0);
    if (!server_pid) {
        setenv("TMPDIR", temporaries, 1);
        _exit(usbip_run(&config, &err) != VPU_OK);
    }
}

static void apart_teardown(void)
{
    teardown();
    kill(server_pid, SIGKILL);
    waitpid(server_pid, NULL, 0);
    rmdir(temporaries);
}

/* Firmware, and attached again. */
static void boot_and_attach(void)
{
    wait_for(0x2485);
    ck_assert_uint_eq(attach("1-1"), 0);
    submit(1, 1, false, 0, sizeof firmware, NULL, firmware);
    expect(false, 1, 0, sizeof firmware);
    ck_assert_int_eq(recv(kernel, reply_data, 1, 0), 0);
    close(kernel);
    wait_for(0xf63b);
    ck_assert_uint_eq(attach("1-1"), 0);
}

START_TEST(a_crash_is_an_unplugging)
{
    unsigned product;
    pid_t child;

    boot_and_attach();
    child = proc_child(server_pid);
    ck_assert_uint_eq(devices(&product), 0); /* it is taken */
    kill(child, SIGKILL);
    ck_assert_int_eq(recv(kernel, reply_data, 1, 0), 0);
    close(kernel);
    boot_and_attach();
    ck_assert_int_ne(proc_child(server_pid), child);
    submit(2, 1, false, 0, 4, NULL, "bye!");
    expect(false, 2, 0, 4);
    ck_assert_int_eq(recv(kernel, reply_data, 1, 0), 0);
    close(kernel);
    wait_for(0x2485);
    ck_assert_int_eq(rmdir(temporaries), 0); /* nothing is left in it */
}
END_TEST

START_TEST(nobody_waits_for_silent_tools)
{
    unsigned product;
    int silent = dial();

    ck_assert_uint_eq(devices(&product), 1);
    close(silent);
}
END_TEST

START_TEST(a_taken_port)
{
    usbip_config c = config;
    vpu_error e;

    wait_for(0x2485);
    ck_assert_int_eq(usbip_run(&c, &e), VPU_ERR_IO);
    c.address = "localhost";
    ck_assert_int_eq(usbip_run(&c, &e), VPU_ERR_INVALID);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("usbip");
    TCase *t = tcase_create("session"), *u = tcase_create("server"),
          *a = tcase_create("apart");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, unbooted_descriptors);
    tcase_add_test(t, booted_descriptors);
    tcase_add_loop_test(t, any_control_request, 0, 2);
    tcase_add_loop_test(t, firmware_boots_once_it_is_whole, 1, 19);
    tcase_add_test(t, the_rom_tells_its_serial_number);
    tcase_add_test(t, unplugged_while_it_boots);
    tcase_add_test(t, firmware_that_does_not_start);
    tcase_add_loop_test(t, transfers_to_the_host, 0, 6);
    tcase_add_test(t, a_packet_that_does_not_fit_overflows);
    tcase_add_test(t, a_short_packet_stops_a_split_transfer);
    tcase_add_test(t, a_full_urb_is_not_short);
    tcase_add_test(t, transfers_to_the_stick);
    tcase_add_test(t, cancelled_urbs);
    tcase_add_test(t, urbs_of_one_number);
    tcase_add_test(t, stalled_endpoints);
    tcase_add_test(t, unplugging_ends_everything);
    tcase_add_test(t, a_stick_that_leaves_waits_for_the_host);
    tcase_add_test(t, a_stick_that_leaves_does_not_wait_for_good);
    tcase_add_loop_test(t, what_no_kernel_sends, 0, 2);
    suite_add_tcase(s, t);
    tcase_add_checked_fixture(u, server_setup, server_teardown);
    tcase_set_timeout(u, 60);
    tcase_add_test(u, a_life);
    tcase_add_test(u, nobody_waits_for_silent_tools);
    tcase_add_test(u, a_taken_port);
    suite_add_tcase(s, u);
    tcase_add_checked_fixture(a, apart_setup, apart_teardown);
    tcase_set_timeout(a, 60);
    tcase_add_test(a, a_crash_is_an_unplugging);
    suite_add_tcase(s, a);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
