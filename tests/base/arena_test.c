/* Arenas: alignment, zeros, giving back; and, under the address sanitizer, that
 * what was not handed out cannot be touched unnoticed. */
#include "base/arena.h"

#include <check.h>
#include <stdint.h>
#include <string.h>

static arena *a;

static void setup(void)
{
    a = arena_create(256);
}

static void teardown(void)
{
    arena_destroy(a);
}

/* Of all sizes, in small and large blocks: apart, aligned, zero. */
START_TEST(things_are_apart)
{
    uint8_t *all[200];

    for (unsigned i = 0; i < 200; i++) {
        size_t align = (size_t)1 << i % 7;

        all[i] = arena_push(a, i, 3, align);
        ck_assert_uint_eq((uintptr_t)all[i] % align, 0);
        for (unsigned k = 0; k < 3 * i; k++)
            ck_assert_uint_eq(all[i][k], 0);
        memset(all[i], (int)i, 3 * (size_t)i);
    }
    for (unsigned i = 0; i < 200; i++)
        for (unsigned k = 0; k < 3 * i; k++)
            ck_assert_uint_eq(all[i][k], i);
}
END_TEST

/* What is given back is handed out again, zeroed; what was before stays. */
START_TEST(restore)
{
    char *kept = arena_strdup(a, "kept");

    for (int i = 0; i < 3; i++) {
        arena_mark m = arena_save(a);
        uint8_t *p = arena_push(a, 100, 1, 1);

        ck_assert_uint_eq(p[0] | p[99], 0);
        memset(p, 0xff, 100);
        arena_push(a, 5000, 1, 64);
        arena_restore(a, m);
    }
    ck_assert_str_eq(kept, "kept");
}
END_TEST

#ifdef __SANITIZE_ADDRESS__
static volatile uint8_t *touched;

START_TEST(behind_the_end)
{
    touched = arena_push(a, 13, 1, 1);
    touched[12] = 1;
    arena_push(a, 1, 1, 1);
    touched[13] = 1;
}
END_TEST

START_TEST(given_back)
{
    arena_mark m = arena_save(a);

    touched = arena_push(a, 13, 1, 1);
    arena_restore(a, m);
    touched[0] = 1;
}
END_TEST
#endif

int main(void)
{
    Suite *s = suite_create("arena");
    TCase *c = tcase_create("arena");
    SRunner *sr = srunner_create(s);
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, things_are_apart);
    tcase_add_test(c, restore);
#ifdef __SANITIZE_ADDRESS__
    tcase_add_exit_test(c, behind_the_end, 1);
    tcase_add_exit_test(c, given_back, 1);
#endif
    suite_add_tcase(s, c);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
