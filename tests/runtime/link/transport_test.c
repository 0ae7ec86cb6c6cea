/* Links of bytes: both ends in this process, over every kind of address; what
 * is slow, full, half closed, cut or not there ends in time. */
#include <check.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "runtime/link/transport.h"

static transport *end[2];
static transport_listener *listener;
static vpu_error err;
static char path[64], address[80];

static void setup(void)
{
    end[0] = end[1] = NULL;
    listener = NULL;
    snprintf(path, sizeof path, "/tmp/transport_test.%d", (int)getpid());
    snprintf(address, sizeof address, "unix:%s", path);
}

static void teardown(void)
{
    transport_close(end[0]);
    transport_close(end[1]);
    transport_unlisten(listener);
    ck_assert_int_ne(access(path, F_OK), 0);
}

static void open_pair(int kind)
{
    const char *at = kind == 1   ? address
                     : kind == 2 ? "tcp:127.0.0.1:0"
                                 : "tcp:[::1]:0";

    if (kind == 0) {
        ck_assert_msg(!transport_pair(end, &err), "%s", err.msg);
        return;
    }
    ck_assert_msg(!transport_listen(at, &listener, &err), "%s", err.msg);
    ck_assert_msg(!transport_connect(transport_listener_address(listener), 1000,
                                     &end[0], &err),
                  "%s", err.msg);
    ck_assert_msg(!transport_accept(listener, 1000, &end[1], &err), "%s",
                  err.msg);
}

enum { BIG = 3 << 20 };

static void *send_big(void *from)
{
    unsigned char *data = malloc(BIG);
    size_t put;

    for (size_t i = 0; i < BIG; i++)
        data[i] = (unsigned char)(i * 2654435761u >> 24);
    transport_write(from, data, BIG, &put, 5000, NULL);
    free(data);
    return NULL;
}

START_TEST(bytes_arrive_in_both_directions)
{
    unsigned char *data = malloc(BIG);
    int wrong = 0;
    size_t n;

    open_pair(_i);
    for (int to = 0; to < 2; to++) {
        pthread_t thread;

        pthread_create(&thread, NULL, send_big, end[!to]);
        ck_assert_msg(!transport_read(end[to], data, 1, &n, 5000, &err), "%s",
                      err.msg);
        ck_assert_msg(
            !transport_read(end[to], data + 1, BIG - 1, &n, 5000, &err), "%s",
            err.msg);
        ck_assert_uint_eq(n, BIG - 1);
        pthread_join(thread, NULL);
        for (size_t i = 0; i < BIG; i++)
            wrong += data[i] != (unsigned char)(i * 2654435761u >> 24);
        ck_assert_int_eq(wrong, 0);
    }
    free(data);
}
END_TEST

START_TEST(reads_end_in_time_and_keep_what_came)
{
    char buf[8];
    size_t n;
    int64_t t;

    open_pair(_i);
    ck_assert_int_eq(transport_read(end[0], buf, 4, &n, 0, &err),
                     VPU_ERR_LIMIT);
    ck_assert(!transport_write(end[1], "ab", 2, &n, 100, &err));
    t = clock_ms();
    ck_assert_int_eq(transport_read(end[0], buf, 4, &n, 50, &err),
                     VPU_ERR_LIMIT);
    ck_assert(clock_ms() - t >= 49 && clock_ms() - t < 2000);
    ck_assert_uint_eq(n, 2);
    ck_assert_mem_eq(buf, "ab", 2);
    ck_assert_str_eq(err.msg, "2 of 4 bytes arrived within 50 ms");
    ck_assert(!transport_write(end[1], "cd", 2, &n, 100, &err));
    ck_assert(!transport_read(end[0], buf, 2, &n, 1000, &err));
    ck_assert_mem_eq(buf, "cd", 2);
}
END_TEST

static void *trickle(void *to)
{
    for (int i = 0; i < 10000; i++) { /* until the link is cut */
        struct timespec pause = {0, 2000000};
        size_t put;

        if (transport_write(to, "x", 1, &put, 100, NULL))
            break;
        nanosleep(&pause, NULL);
    }
    return NULL;
}

START_TEST(a_trickle_does_not_move_the_deadline)
{
    static char buf[4096];
    pthread_t thread;
    int64_t t;
    size_t n;

    open_pair(_i);
    pthread_create(&thread, NULL, trickle, end[1]);
    ck_assert(!transport_read(end[0], buf, 1, &n, 10000, &err)); /* it runs */
    t = clock_ms();
    ck_assert_int_eq(transport_read(end[0], buf, sizeof buf, &n, 300, &err),
                     VPU_ERR_LIMIT);
    ck_assert_int_lt(clock_ms() - t, 5000);
    ck_assert_uint_gt(n, 0);
    transport_reset(end[0]);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(writes_nobody_reads_end_in_time)
{
    size_t n = 64u << 20, put;
    char *data = calloc(n, 1);

    open_pair(_i);
    ck_assert_int_eq(transport_write(end[0], data, n, &put, 50, &err),
                     VPU_ERR_LIMIT);
    ck_assert(put > 0 && put < n);
    free(data);
}
END_TEST

START_TEST(a_gone_peer_is_an_error)
{
    char buf[8];
    size_t n;
    vpu_status st = VPU_OK;

    open_pair(_i);
    ck_assert(!transport_write(end[1], "abc", 3, &n, 100, &err));
    transport_close(end[1]);
    end[1] = NULL;
    ck_assert_int_eq(transport_read(end[0], buf, 5, &n, 1000, &err),
                     VPU_ERR_IO);
    ck_assert_uint_eq(n, 3);
    ck_assert(strstr(err.msg, "closed the link after 3 of 5 bytes"));
    for (int i = 0; i < 100 && !st; i++)
        st = transport_write(end[0], "abc", 3, &n, 100, &err);
    ck_assert_int_eq(st, VPU_ERR_IO);
}
END_TEST

/* A peer of another make shuts its writing half down and still reads. */
START_TEST(a_half_closed_peer_still_reads)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    char buf[8];
    size_t n;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    ck_assert(!transport_listen(address, &listener, &err));
    strcpy(a.sun_path, path);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    ck_assert(!transport_accept(listener, 1000, &end[0], &err));
    ck_assert_int_eq(write(fd, "last", 4), 4);
    shutdown(fd, SHUT_WR);
    ck_assert(!transport_read(end[0], buf, 4, &n, 1000, &err));
    ck_assert_int_eq(transport_read(end[0], buf, 1, &n, 1000, &err),
                     VPU_ERR_IO);
    ck_assert(!transport_write(end[0], "answer", 6, &n, 1000, &err));
    ck_assert_int_eq(read(fd, buf, 8), 6);
    ck_assert_mem_eq(buf, "answer", 6);
    close(fd);
}
END_TEST

static void *reset_soon(void *t)
{
    struct timespec pause = {0, 30000000};

    nanosleep(&pause, NULL);
    transport_reset(t);
    return NULL;
}

START_TEST(reset_ends_calls_in_progress)
{
    char buf[8];
    pthread_t thread;
    size_t n;

    for (int which = 0; which < 2; which++) {
        int64_t t = clock_ms();

        open_pair(_i);
        pthread_create(&thread, NULL, reset_soon, end[which]);
        ck_assert_int_eq(transport_read(end[0], buf, 1, &n, 20000, &err),
                         VPU_ERR_IO);
        ck_assert_int_lt(clock_ms() - t, 5000);
        pthread_join(thread, NULL);
        transport_close(end[0]);
        transport_close(end[1]);
        transport_unlisten(listener);
        setup();
    }
}
END_TEST

static const struct {
    const char *address, *text;
} bad[] = {
    {"", "expected unix:PATH or tcp:ADDRESS:PORT"},
    {"unix:", "expected unix:PATH"},
    {"usb:1", "'usb:1': expected unix:PATH"},
    {"tcp:", "expected tcp:ADDRESS:PORT"},
    {"tcp:127.0.0.1", "expected tcp:ADDRESS:PORT"},
    {"tcp:127.0.0.1:65536", "the port 0 to 65535"},
    {"tcp:127.0.0.1:x", "the port 0 to 65535"},
    {"tcp:localhost:1", "expected an address in numbers"},
    {"tcp:::1:1", "expected an address in numbers"},
    {"unix:/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     "a socket's at most 107"},
};

START_TEST(bad_addresses_are_errors)
{
    ck_assert_int_eq(transport_connect(bad[_i].address, 10, &end[0], &err),
                     VPU_ERR_INVALID);
    ck_assert_msg(strstr(err.msg, bad[_i].text), "%s", err.msg);
    ck_assert_int_eq(transport_listen(bad[_i].address, &listener, &err),
                     VPU_ERR_INVALID);
    end[0] = NULL;
    listener = NULL;
}
END_TEST

static void *connect_when_there(void *problem)
{
    transport *t = NULL;
    vpu_error e = {0};

    while (access(path, F_OK))
        ;
    if (transport_connect(address, 1000, &t, &e))
        snprintf(problem, 256, "%.250s", e.msg);
    transport_close(t);
    return NULL;
}

/* A file that is there is one behind which somebody listens. */
START_TEST(a_file_is_a_listener)
{
    char problem[256] = "";

    for (int i = 0; i < 300 && !*problem; i++) {
        pthread_t thread;

        ck_assert(!pthread_create(&thread, NULL, connect_when_there, problem));
        ck_assert_msg(!transport_listen(address, &listener, &err), "%s",
                      err.msg);
        pthread_join(thread, NULL);
        transport_unlisten(listener);
        listener = NULL;
    }
    ck_assert_str_eq(problem, "");
}
END_TEST

START_TEST(a_taken_file_is_an_error)
{
    transport_listener *second = NULL;

    ck_assert(!transport_listen(address, &listener, &err));
    ck_assert_int_eq(transport_listen(address, &second, &err), VPU_ERR_IO);
    ck_assert_msg(strstr(err.msg, "in use") != NULL, "%s", err.msg);
    /* The first one is still there. */
    ck_assert(!transport_connect(address, 1000, &end[0], &err));
}
END_TEST

START_TEST(nobody_there_is_an_error)
{
    transport_listener *second = NULL;

    ck_assert_int_eq(transport_connect(address, 100, &end[0], &err),
                     VPU_ERR_IO);
    ck_assert(!transport_listen(address, &listener, &err));
    ck_assert_int_eq(transport_listen(address, &second, &err), VPU_ERR_IO);
    ck_assert_int_eq(transport_accept(listener, 20, &end[1], &err),
                     VPU_ERR_LIMIT);
    ck_assert_msg(strstr(err.msg, "nobody connected within 20 ms"), "%s",
                  err.msg);
}
END_TEST

/* The queue of a listener who does not accept fills up. */
START_TEST(connecting_ends_in_time)
{
    transport *many[64] = {NULL};
    vpu_status st = VPU_OK;
    int n = 0;

    ck_assert(!transport_listen(address, &listener, &err));
    while (n < 64 && !st)
        st = transport_connect(address, 30, &many[n++], &err);
    ck_assert_int_eq(st, VPU_ERR_LIMIT);
    for (int i = 0; i < n - 1; i++)
        transport_close(many[i]);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("transport");
    TCase *t = tcase_create("transport");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, bytes_arrive_in_both_directions, 0, 4);
    tcase_add_loop_test(t, reads_end_in_time_and_keep_what_came, 0, 4);
    tcase_add_loop_test(t, a_trickle_does_not_move_the_deadline, 0, 4);
    tcase_add_loop_test(t, writes_nobody_reads_end_in_time, 0, 3);
    tcase_add_loop_test(t, a_gone_peer_is_an_error, 0, 4);
    tcase_add_test(t, a_half_closed_peer_still_reads);
    tcase_add_loop_test(t, reset_ends_calls_in_progress, 0, 4);
    tcase_add_loop_test(t, bad_addresses_are_errors, 0,
                        (int)(sizeof bad / sizeof bad[0]));
    tcase_add_test(t, a_file_is_a_listener);
    tcase_add_test(t, a_taken_file_is_an_error);
    tcase_add_test(t, nobody_there_is_an_error);
    tcase_add_test(t, connecting_ends_in_time);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
