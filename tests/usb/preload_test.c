/* The backend usb through a whole USB life of the virtual stick, in user space:
 * found unbooted, sent firmware, back, booted, reset; with usbip_libusb.so in
 * libusb's place. tests/usb/guest has the same on Linux' own USB. */
#include <arpa/inet.h>
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/terminal.h"

static terminal host, stick; /* each in a folder of its own */
static pid_t pid;            /* of the stick; 0 = it does not run */
static char root[512], library[4096], place[64];

/* Three commands; what a virtual stick runs is its own. */
static const uint8_t firmware[] = {
    0x4d, 0x41, 0x32, 0x78, 0x9a, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
    0x00, 0xba, 0x78, 0xe9, 0x00, 0x70, 0xa4, 0x00, 0x00, 0x18, 0x80};

static void setup(void)
{
    ssize_t n = readlink("/proc/self/exe", library, sizeof library - 32);

    ck_assert_int_gt(n, 0);
    library[n] = 0;
    strcpy(strrchr(library, '/'), "/usbip_libusb.so");
    ck_assert(getcwd(root, sizeof root));
    terminal_open(&host);
    terminal_open(&stick);
    terminal_file(&host, "fw.mvcmd", firmware, sizeof firmware);
    pid = 0;
}

static void end_stick(int sig)
{
    if (!pid)
        return;
    kill(pid, sig);
    terminal_wait(&stick, pid);
    pid = 0;
}

static void teardown(void)
{
    end_stick(SIGKILL);
    terminal_close(&host);
    terminal_close(&stick);
}

static unsigned free_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t n = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    ck_assert_int_ge(fd, 0);
    ck_assert(!bind(fd, (struct sockaddr *)&at, n));
    ck_assert(!getsockname(fd, (struct sockaddr *)&at, &n));
    close(fd);
    return ntohs(at.sin_port);
}

static bool listens(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool there;

    at.sin_port = htons((uint16_t)strtoul(strchr(place, ':') + 1, NULL, 10));
    there = !connect(fd, (struct sockaddr *)&at, sizeof at);
    close(fd);
    return there;
}

static void start_stick(const char *options)
{
    snprintf(place, sizeof place, "127.0.0.1:%u", free_port());
    pid =
        terminal_start(&stick, arena_printf(stick.arena, "stick --usbip=%s %s",
                                            place, options));
    for (int i = 0; i < 3000 && !listens(); i++)
        usleep(10000);
    ck_assert(listens());
}

static void run(const char *args)
{
    const char *options = getenv("ASAN_OPTIONS");

    /* What is preloaded comes before AddressSanitizer's own library. */
    setenv("ASAN_OPTIONS",
           arena_printf(host.arena, "%s:verify_asan_link_order=0",
                        options ? options : ""),
           1);
    setenv("LD_PRELOAD", library, 1);
    setenv("VPU_USBIP", place, 1);
    terminal_run(&host, args);
    unsetenv("LD_PRELOAD");
}

static void expect(int status, const char *words)
{
    ck_assert_msg(host.status == status &&
                      (strstr(host.out, words) || strstr(host.err, words)),
                  "status %d, expected %d and '%s'\n%s%s", host.status, status,
                  words, host.err, host.out);
}

static void diff(const char *layout)
{
    run(arena_printf(host.arena,
                     "diff %s/kernels/grn/layer.xml --layer GRNDma --shape "
                     "in0=1x16x24x40 --param bias=1.0 --a sim --b usb "
                     "--firmware fw.mvcmd --xlink %s",
                     root, layout));
}

/* Twice: after the reset it is unbooted again. */
START_TEST(whole_lives)
{
    static const char *const options[][2] = {
        {"A", ""}, {"B", ""}, {"C", ""}, {"C", "--usb-speed super"}};

    start_stick(arena_printf(stick.arena, "--xlink %s %s", options[_i][0],
                             options[_i][1]));
    for (int i = 0; i < 2; i++) {
        diff(options[_i][0]);
        expect(0, "equal, bit for bit");
    }
    end_stick(SIGTERM);
    ck_assert_int_eq(stick.status, 0);
    ck_assert_ptr_nonnull(strstr(stick.err, "stick: boots after 35 bytes"));
}
END_TEST

START_TEST(listed)
{
    start_stick("--xlink C");
    run("devices");
    expect(0, "usb:1-1");
    expect(0, "not booted");
}
END_TEST

START_TEST(nobody_there)
{
    snprintf(place, sizeof place, "127.0.0.1:%u", free_port());
    diff("C");
    ck_assert_int_ne(host.status, 0);
    expect(host.status, "no stick on the USB bus");
}
END_TEST

/* What goes wrong below XLink arrives as libusb says it; the next run works. */
START_TEST(faults)
{
    static const char *const rows[][2] = {{"usb-stall-in:1000", "stalled"},
                                          {"vanish:2000", "stick"}};

    start_stick(arena_printf(stick.arena, "--xlink C --fault %s", rows[_i][0]));
    diff("C");
    ck_assert_int_ne(host.status, 0);
    expect(host.status, rows[_i][1]);
    if (strncmp(rows[_i][0], "vanish", 6)) { /* which comes each time */
        diff("C");
        expect(0, "equal, bit for bit");
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("preload");
    TCase *t = tcase_create("preload");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, whole_lives, 0, 4);
    tcase_add_test(t, listed);
    tcase_add_test(t, nobody_there);
    tcase_add_loop_test(t, faults, 0, 2);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
