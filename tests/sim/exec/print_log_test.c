/* Texts of groups: given on in the groups' order and once, whether they are in
 * memory or in the file, and what is said of those that found no room. */
#include "sim/exec/print_log.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

static print_log *p;
static str given;

static void setup(void)
{
    p = print_log_create();
    given = (str){0};
}

static void teardown(void)
{
    print_log_destroy(p);
    str_free(&given);
}

static void take(void *user, const char *text, size_t n)
{
    ck_assert_ptr_eq(user, p);
    str_add(&given, text, n);
}

static void add(uint64_t group, const char *text)
{
    print_log_add(p, group, text, strlen(text));
}

static void deliver(uint64_t below, const char *want)
{
    str_free(&given);
    given = (str){0};
    print_log_deliver(p, below, take, p);
    ck_assert_str_eq(str_text(&given), want);
    ck_assert_uint_eq(given.n, strlen(want));
}

START_TEST(in_the_order_of_groups)
{
    deliver(UINT64_MAX, "");
    add(7, "seven;");
    add(2, "two;");
    add(UINT64_C(1) << 40, "far;");
    add(3, "three;");
    deliver(2, "");
    deliver(3, "two;");
    deliver(3, "");
    add(0, "zero;");
    deliver(8, "zero;three;seven;");
    add(1, "one;");
    deliver(UINT64_MAX, "one;far;");
    deliver(UINT64_MAX, "");
    print_log_destroy(NULL);
}
END_TEST

enum { LONG = 3 << 20 };

/* Of LONG bytes; no two groups have the same. */
static char *long_text(uint64_t group)
{
    char *text = malloc(LONG + 1);

    for (size_t i = 0; i < LONG; i++)
        text[i] = (char)('a' + (i * 7 + i / 1000 + group * 5) % 26);
    text[LONG] = 0;
    return text;
}

/* Two texts fit into memory, the others go to the file. When all were given on
 * there is room again. */
START_TEST(more_than_memory)
{
    enum { N = 6 };
    char *text[N];

    for (int round = 0; round < 2; round++) {
        for (uint64_t k = N; k-- > 0;) {
            text[k] = long_text(k + (uint64_t)round * N);
            add(k, text[k]);
        }
        for (uint64_t k = 0; k < N; k++) {
            deliver(k + 1, text[k]);
            free(text[k]);
        }
    }
}
END_TEST

/* The file may have as many bytes as one text. What comes too late to it is
 * told; short ones still fit into memory. */
START_TEST(no_room_in_the_file)
{
    static const char lost[] = "[printf: no room left for this output]\n";
    struct rlimit few = {LONG, LONG};
    char *text = long_text(1);

    signal(SIGXFSZ, SIG_IGN);
    ck_assert(!setrlimit(RLIMIT_FSIZE, &few));
    for (uint64_t k = 0; k < 4; k++)
        add(k, text);
    add(4, "short");
    deliver(1, text);
    deliver(2, text);
    deliver(3, text);
    deliver(4, lost);
    deliver(5, "short");
    free(text);
}
END_TEST

/* The file opened last; Check has one without a name, too. */
static int nameless_file(void)
{
    struct stat s;

    for (int fd = 63; fd > 2; fd--)
        if (!fstat(fd, &s) && S_ISREG(s.st_mode) && !s.st_nlink)
            return fd;
    return -1;
}

/* Text that the file no longer has is told as lost, too. */
START_TEST(a_file_cut_short)
{
    char *text = long_text(1);

    for (uint64_t k = 0; k < 3; k++)
        add(k, text);
    ck_assert(!ftruncate(nameless_file(), 0));
    deliver(1, text);
    deliver(2, text);
    deliver(3, "[printf: no room left for this output]\n");
    free(text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("print_log");
    TCase *t = tcase_create("print_log");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, in_the_order_of_groups);
    tcase_add_test(t, more_than_memory);
    tcase_add_test(t, no_room_in_the_file);
    tcase_add_test(t, a_file_cut_short);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
