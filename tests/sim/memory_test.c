/* What lies around the device's buffers: a byte written beside one is noticed,
 * wherever it is, and laid at the door of the buffer it is nearest to. */
#include <check.h>
#include <string.h>

#include "sim/exec/memory.h"

static arena *a;
static mach_desc desc;
static memory *mem;
static vpu_error err;

static void setup(void)
{
    a = arena_create(0);
    ck_assert_msg(!mach_desc_load(NULL, a, &desc, &err), "%s", err.msg);
    ck_assert_msg(!memory_create(&desc, &mem, &err), "%s", err.msg);
}

static void teardown(void)
{
    memory_destroy(mem);
    arena_destroy(a);
}

/* 100 bytes end 28 bytes before their page does (aligned to 64 from the end),
 * and begin 128 bytes before its end. */
static const struct {
    int at; /* from the buffer's first byte */
    bool beside;
} places[] = {
    {0, false},  {50, false},   {99, false},   {-1, true},
    {-2, true},  {-64, true},   {100, true},   {101, true},
    {127, true}, {-3968, true}, {-2000, true}, {-3967, true},
};

START_TEST(bytes_beside_a_buffer)
{
    uint32_t before, address, after, at = 0;
    const memory_buffer *b;
    uint8_t *p;

    ck_assert(!memory_alloc(mem, "before", 100, &before, &err));
    ck_assert(!memory_alloc(mem, "it", 100, &address, &err));
    ck_assert(!memory_alloc(mem, "after", 100, &after, &err));
    ck_assert_uint_eq(address % 4096, 4096 - 128);
    ck_assert_ptr_null(memory_check(mem, &at));
    p = memory_window(mem) + address + places[_i].at;
    *p = (uint8_t)(*p + 1);
    b = memory_check(mem, &at);
    if (!places[_i].beside) {
        ck_assert_ptr_null(b);
        return;
    }
    ck_assert_msg(b != NULL, "byte %d", places[_i].at);
    ck_assert_str_eq(b->name, "it");
    ck_assert_uint_eq(at, address + (uint32_t)places[_i].at);
}
END_TEST

/* Of a buffer that fills its pages nothing beside it can be written at all. */
START_TEST(whole_pages)
{
    uint32_t address, at;

    ck_assert(!memory_alloc(mem, "it", 8192, &address, &err));
    ck_assert_uint_eq(address % 4096, 0);
    memset(memory_window(mem) + address, 1, 8192);
    ck_assert_ptr_null(memory_check(mem, &at));
}
END_TEST

/* A buffer of other pages: the bytes between its first page and itself. */
START_TEST(several_pages)
{
    uint32_t address, at = 0;

    ck_assert(!memory_alloc(mem, "it", 4096 + 64, &address, &err));
    ck_assert_uint_eq(address % 4096, 4096 - 64);
    memory_window(mem)[address / 4096 * 4096] ^= 1;
    ck_assert_ptr_nonnull(memory_check(mem, &at));
    ck_assert_uint_eq(at, address / 4096 * 4096);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("memory");
    TCase *c = tcase_create("memory");
    SRunner *sr = srunner_create(s);
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, bytes_beside_a_buffer, 0,
                        sizeof places / sizeof *places);
    tcase_add_test(c, whole_pages);
    tcase_add_test(c, several_pages);
    suite_add_tcase(s, c);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
