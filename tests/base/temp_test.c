/* Temporary files and folders: which are removed, and how deep. */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/temp.h"

static arena *a;
static char *dir;
static vpu_error err;

static void setup(void)
{
    a = arena_create(0);
    ck_assert_msg(!temp_dir(a, "vpu-temp-", &dir, &err), "%s", err.msg);
}

static void teardown(void)
{
    temp_dir_remove(dir);
    arena_destroy(a);
}

static char *temporary(const char *stem)
{
    char *path = arena_printf(a, "%s/%sXXXXXX", dir, stem);
    int fd = temp_file(path);

    ck_assert_int_ge(fd, 0);
    close(fd);
    return path;
}

START_TEST(all_that_are_known_are_removed)
{
    char *file = temporary("file"), *kept = temporary("kept"), *folder;

    setenv("TMPDIR", dir, 1);
    ck_assert_msg(!temp_dir(a, "folder", &folder, &err), "%s", err.msg);
    ck_assert(!file_write(file_join(a, folder, "inside"), "x", 1, &err));
    temp_forget(kept);
    temp_forget(dir);
    temp_remove_all();
    ck_assert(!file_exists(file));
    ck_assert(!file_exists(folder));
    ck_assert(file_exists(kept));
}
END_TEST

START_TEST(a_folder_beside_a_place)
{
    const char *place = file_join(a, dir, "place");
    char *folder;

    ck_assert_msg(!temp_dir_beside(a, place, &folder, &err), "%s", err.msg);
    ck_assert_msg(!strncmp(folder, place, strlen(place)) &&
                      !strchr(folder + strlen(place), '/'),
                  "%s", folder);
    ck_assert(!file_write(file_join(a, folder, "inside"), "x", 1, &err));
    temp_forget(dir);
    temp_remove_all();
    ck_assert(!file_exists(folder));
    ck_assert_int_eq(temp_dir_beside(a, "/proc/nothing/x", &folder, &err),
                     VPU_ERR_IO);
    ck_assert_msg(strstr(err.msg, "/proc/nothing/x.") != NULL, "%s", err.msg);
}
END_TEST

START_TEST(none_of_a_parent_is_removed)
{
    char *file = temporary("file");

    temp_disown();
    temp_remove_all();
    ck_assert(file_exists(file));
}
END_TEST

/* Eight folders in a folder, and no more. */
START_TEST(eight_folders_deep)
{
    char *top = arena_printf(a, "%s/XXXXXX", dir), *path;

    ck_assert(mkdtemp(top));
    path = top;
    for (int depth = 0; depth < _i; depth++) {
        path = file_join(a, path, "d");
        ck_assert(!mkdir(path, 0700));
    }
    ck_assert(!file_write(file_join(a, path, "inside"), "x", 1, &err));
    temp_dir_remove(top);
    ck_assert(file_exists(top) == (_i > 8));
    temp_dir_remove(arena_printf(a, "%s/d", top));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("temp");
    TCase *t = tcase_create("temp");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, all_that_are_known_are_removed);
    tcase_add_test(t, a_folder_beside_a_place);
    tcase_add_test(t, none_of_a_parent_is_removed);
    tcase_add_loop_test(t, eight_folders_deep, 7, 10);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
