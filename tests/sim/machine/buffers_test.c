/* Which tensor lies at an address, and what a walk touches, against looking at
 * every one of them, at every byte. */
#include <check.h>
#include <stdlib.h>

#include "sim/machine/buffers.h"
enum { N = 7 };

START_TEST(tensors_by_address)
{
    /* Not in order, with gaps, two that touch, one at the end of all. */
    mach_buffer list[N] = {{.name = "d", .place = 4096, .bytes = 64},
                           {.name = "a", .place = 64, .bytes = 1},
                           {.name = "b", .place = 128, .bytes = 128},
                           {.name = "c", .place = 256, .bytes = 100},
                           {.name = "z", .place = 0xffffffc0, .bytes = 64},
                           {.name = "e", .place = 4160, .bytes = 64},
                           {.name = "f", .place = 9000, .bytes = 0}};
    uint32_t at[] = {0,    63,         64,         65,        127,  128,
                     255,  256,        355,        356,       4095, 4096,
                     4159, 4160,       4223,       4224,      8999, 9000,
                     9001, 0xffffffbf, 0xffffffc0, UINT32_MAX};

    mach_buffers_sort(list, N);
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
        uint32_t expected = N;

        for (uint32_t i = 0; i < N; i++)
            if (at[k] >= list[i].place &&
                at[k] < (uint64_t)list[i].place + list[i].bytes)
                expected = i;
        ck_assert_uint_eq(mach_buffer_at(list, N, at[k]), expected);
    }
    ck_assert_uint_eq(mach_buffer_at(NULL, 0, 5), 0);
}
END_TEST

/* Byte by byte. */
static bool touched(const mach_walk *w, int64_t *first, int64_t *last)
{
    *first = INT64_MAX;
    *last = INT64_MIN;
    for (uint32_t p = 0; p < w->planes; p++)
        for (uint32_t i = 0; i < w->bytes; i++) {
            int64_t at = w->addr + (int64_t)p * (int32_t)w->plane_pitch +
                         (int64_t)(i / w->width) * (int32_t)w->pitch +
                         i % w->width;

            *first = at < *first ? at : *first;
            *last = at > *last ? at : *last;
        }
    return w->planes && w->bytes;
}

START_TEST(range_of_a_walk)
{
    srand(1);
    for (int k = 0; k < 20000; k++) {
        mach_walk w = {.addr = 1000000 + (uint32_t)rand() % 64,
                       .bytes = (uint32_t)rand() % 40,
                       .width = 1 + (uint32_t)rand() % 12,
                       .pitch = (uint32_t)(rand() % 61 - 30),
                       .planes = (uint32_t)rand() % 4,
                       .plane_pitch = (uint32_t)(rand() % 401 - 200)};
        uint32_t first = 0, last = 0;
        int64_t lo, hi;
        bool any = touched(&w, &lo, &hi);

        ck_assert(mach_walk_range(&w, &first, &last) == any);
        if (any) {
            ck_assert_int_eq(first, lo);
            ck_assert_int_eq(last, hi);
        }
    }
}
END_TEST

START_TEST(range_at_the_ends_of_memory)
{
    mach_walk w = {.addr = 0xfffffff0, .bytes = 16, .width = 16, .planes = 1};
    uint32_t first, last;

    ck_assert(mach_walk_range(&w, &first, &last));
    ck_assert_uint_eq(last, UINT32_MAX);
    w.bytes = 17;
    w.width = 17;
    ck_assert(!mach_walk_range(&w, &first, &last));
    w = (mach_walk){
        .addr = 8, .bytes = 8, .width = 4, .pitch = (uint32_t)-8, .planes = 1};
    ck_assert(mach_walk_range(&w, &first, &last));
    ck_assert_uint_eq(first, 0);
    ck_assert_uint_eq(last, 11);
    w.pitch = (uint32_t)-9;
    ck_assert(!mach_walk_range(&w, &first, &last));
    w = (mach_walk){.addr = 8, .bytes = 8, .width = 0, .planes = 1};
    ck_assert(!mach_walk_range(&w, &first, &last));
    w = (mach_walk){.addr = UINT32_MAX,
                    .bytes = UINT32_MAX,
                    .width = 1,
                    .pitch = INT32_MAX,
                    .planes = UINT32_MAX,
                    .plane_pitch = INT32_MAX};
    ck_assert(!mach_walk_range(&w, &first, &last));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("buffers");
    TCase *t = tcase_create("buffers");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_test(t, tensors_by_address);
    tcase_add_test(t, range_of_a_walk);
    tcase_add_test(t, range_at_the_ends_of_memory);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
