/* Files that appear whole: what a link leads to is written, and the link stays;
 * a name of the system's, such as /dev/stdout, is never replaced. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/kernels/program.h"

static arena *mem;
static char *dir;
static vpu_error err;

static void setup(void)
{
    mem = arena_create(0);
    dir = program_temp_dir(mem);
}

static void teardown(void)
{
    program_remove_dir(dir);
    arena_destroy(mem);
}

static char *in_dir(const char *name)
{
    return file_join(mem, dir, name);
}

static void write_to(const char *path, const char *text)
{
    ck_assert_msg(!file_write(path, text, strlen(text), &err), "%s", err.msg);
}

static void expect(const char *name, const char *text)
{
    size_t n;

    ck_assert_str_eq(program_file(mem, dir, name, &n), text);
}

static void link_to(const char *target, const char *name)
{
    ck_assert_int_eq(symlink(target, in_dir(name)), 0);
}

static bool is_link(const char *name)
{
    struct stat s;

    ck_assert_int_eq(lstat(in_dir(name), &s), 0);
    return S_ISLNK(s.st_mode);
}

START_TEST(links_stay)
{
    ck_assert_int_eq(mkdir(in_dir("sub"), 0777), 0);
    write_to(in_dir("sub/file"), "before");
    link_to("sub/file", "relative");
    link_to(in_dir("relative"), "chain");
    link_to("sub/new", "dangling");
    write_to(in_dir("relative"), "first");
    expect("sub/file", "first");
    write_to(in_dir("chain"), "second");
    expect("sub/file", "second");
    write_to(in_dir("dangling"), "third");
    expect("sub/new", "third");
    ck_assert(is_link("relative") && is_link("chain") && is_link("dangling"));
}
END_TEST

START_TEST(links_without_an_end)
{
    link_to("b", "a");
    link_to("a", "b");
    ck_assert_int_eq(file_write(in_dir("a"), "x", 1, &err), VPU_ERR_IO);
    ck_assert(is_link("a") && is_link("b"));
}
END_TEST

/* Standard output goes to a file, which a program names as /dev/stdout: what is
 * there stays, and what comes later follows. */
START_TEST(names_of_the_system)
{
    char fd_name[64];
    int fd = open(in_dir("log"), O_CREAT | O_WRONLY, 0666);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, "one ", 4), 4);
    snprintf(fd_name, sizeof fd_name, "/proc/self/fd/%d", fd);
    link_to(fd_name, "stdout");
    write_to(in_dir("stdout"), "two ");
    write_to(fd_name, "three ");
    ck_assert_int_eq(write(fd, "four", 4), 4);
    close(fd);
    expect("log", "one two three four");
    ck_assert(is_link("stdout"));
}
END_TEST

/* A folder below /dev is one like others. */
START_TEST(files_in_memory)
{
    char name[64];
    size_t n;

    snprintf(name, sizeof name, "vpu-file-out-%d", (int)getpid());
    write_to(file_join(mem, "/dev/shm", name), "a long text");
    write_to(file_join(mem, "/dev/shm", name), "short");
    ck_assert_str_eq(program_file(mem, "/dev/shm", name, &n), "short");
    unlink(file_join(mem, "/dev/shm", name));
}
END_TEST

START_TEST(the_mode_that_was_asked_for)
{
    struct stat s;
    mode_t before = umask(027);

    write_to(in_dir("file"), "x");
    ck_assert_int_eq(umask(before), 027);
    ck_assert_int_eq(stat(in_dir("file"), &s), 0);
    ck_assert_int_eq(s.st_mode & 0777, 0640);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("file_out");
    Suite *suite = suite_create("files that appear whole");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, links_stay);
    tcase_add_test(t, links_without_an_end);
    tcase_add_test(t, names_of_the_system);
    tcase_add_test(t, files_in_memory);
    tcase_add_test(t, the_mode_that_was_asked_for);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
