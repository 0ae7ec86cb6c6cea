/* A file that comes in pieces: from some file systems fewer bytes are read at
 * once than were asked for, and a signal may end the call before the first.
 * Descriptors: each is closed once, and never another's. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"

enum { PIECE = 3 };

static unsigned calls, interrupted; /* interrupted: how many calls still are */

/* Instead of the C library's. */
ssize_t pread(int fd, void *out, size_t n, off_t at)
{
    calls++;
    if (interrupted) {
        interrupted--;
        errno = EINTR;
        return -1;
    }
    return syscall(SYS_pread64, fd, out, n > PIECE ? PIECE : n, at);
}

static char path[32];
static file_in file;
static vpu_error err;

static void setup(void)
{
    int fd;

    strcpy(path, "/tmp/vpu-file-XXXXXX");
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, "0123456789abcdef", 16), 16);
    close(fd);
    ck_assert_msg(!file_in_open(&file, path, 100, &err), "%s", err.msg);
    calls = interrupted = 0;
}

static void teardown(void)
{
    file_in_close(&file);
    unlink(path);
}

START_TEST(in_pieces)
{
    char out[32];

    memset(out, '-', sizeof out);
    ck_assert_msg(!file_in_read(&file, 2, out, 8, &err), "%s", err.msg);
    ck_assert_mem_eq(out, "23456789--------", 16);
    ck_assert_uint_eq(calls, 3); /* 3, 3 and 2 bytes */
}
END_TEST

START_TEST(interrupted_before_the_first)
{
    char out[32];

    memset(out, '-', sizeof out);
    interrupted = 2;
    ck_assert_msg(!file_in_read(&file, 12, out, 4, &err), "%s", err.msg);
    ck_assert_mem_eq(out, "cdef----", 8);
    ck_assert_uint_eq(calls, 4);
}
END_TEST

START_TEST(ends_too_early)
{
    char out[32];

    memset(out, '-', sizeof out);
    ck_assert_int_eq(file_in_read(&file, 12, out, 7, &err), VPU_ERR_IO);
    ck_assert_msg(strstr(err.msg, ": 4 of 7 bytes read") != NULL, "%s",
                  err.msg);
    ck_assert_mem_eq(out, "cdef----", 8);
}
END_TEST

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

START_TEST(closed_once)
{
    int fd = file.fd, other;

    ck_assert(is_open(fd));
    file_in_close(&file);
    ck_assert(!is_open(fd));
    other = open(path, O_RDONLY);
    ck_assert_int_eq(other, fd); /* the lowest that is free */
    file_in_close(&file);
    ck_assert(is_open(other));
    ck_assert(is_open(0));
    close(other);
    /* 0 is a descriptor like others. */
    close(0);
    ck_assert_msg(!file_in_open(&file, path, 100, &err), "%s", err.msg);
    ck_assert_int_eq(file.fd, 0);
    file_in_close(&file);
    ck_assert(!is_open(0));
}
END_TEST

/* Whoever follows a log sees each line at once, and a process that is killed
 * leaves what it logged. */
START_TEST(log_by_the_line)
{
    FILE *log;
    struct stat now;

    ck_assert_msg(!file_log_open(path, &log, &err), "%s", err.msg);
    ck_assert_int_eq(stat(path, &now), 0);
    ck_assert_int_eq(now.st_size, 0); /* there from the start, and empty */
    for (int n = 1; n <= 3; n++) {
        fputs("a packet", log);
        fputs(" of eight bytes\n", log);
        ck_assert_int_eq(stat(path, &now), 0);
        ck_assert_int_eq(now.st_size, n * 24);
    }
    fclose(log);
}
END_TEST

START_TEST(text_of_a_descriptor)
{
    arena *a = arena_create(0);
    size_t n = 77;
    char *data = file_fd_get(file.fd, 100, a, &n);

    ck_assert_uint_eq(n, 16);
    ck_assert_mem_eq(data, "0123456789abcdef", 16);
    data = file_fd_get(file.fd, 5, a, &n);
    ck_assert_uint_eq(n, 5);
    ck_assert_mem_eq(data, "01234", 5);
    n = 77;
    ck_assert_ptr_null(file_fd_get(-1, 100, a, &n));
    ck_assert_uint_eq(n, 0);
    arena_destroy(a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("files");
    TCase *c = tcase_create("pieces");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, in_pieces);
    tcase_add_test(c, interrupted_before_the_first);
    tcase_add_test(c, ends_too_early);
    tcase_add_test(c, closed_once);
    tcase_add_test(c, log_by_the_line);
    tcase_add_test(c, text_of_a_descriptor);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
