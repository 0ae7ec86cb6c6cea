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

/* --- where the device has it --------------------------------------------- */

/* One behind the other, 64 bytes aligned, whatever pages lie between the
 * addresses; a buffer that takes the room of released ones has their place. */
START_TEST(places_are_packed)
{
    static const struct {
        uint32_t bytes, place;
    } buffers[] = {{100, 0}, {128, 128}, {8192, 256}, {1, 8448}, {64, 8512}};
    mach_places table = memory_places(mem);
    uint32_t at[5];

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 5; i++) {
            uint32_t last = buffers[i].bytes - 1;

            ck_assert(!memory_alloc(mem, "it", buffers[i].bytes, &at[i], &err));
            ck_assert_uint_eq(mach_place_of(table, at[i]),
                              desc.ddr_base + buffers[i].place);
            ck_assert_uint_eq(mach_place_of(table, at[i] + last),
                              desc.ddr_base + buffers[i].place + last);
        }
        memory_release(mem, 0);
    }
    ck_assert(!memory_alloc(mem, "large", 8192 + 64, &at[0], &err));
    ck_assert(!memory_alloc(mem, "next", 8192, &at[1], &err));
    ck_assert_uint_eq(mach_place_of(table, at[1] + 8191),
                      desc.ddr_base + 2 * 8192 + 64 - 1);
}
END_TEST

static bool all_are(const uint8_t *p, uint32_t n, uint8_t value)
{
    return *p == value && !memcmp(p, p + 1, n - 1);
}

/* Any order of giving back: what is alive never overlaps, keeps its bytes, and
 * begins zeroed; the device's places are as disjoint. In the end everything is
 * one hole again. */
START_TEST(buffers_come_and_go)
{
    enum { MOST = 40 };
    struct {
        uint32_t at, bytes;
        uint8_t value;
    } alive[MOST];
    mach_places table = memory_places(mem);
    uint8_t *window = memory_window(mem);
    uint32_t n = 0, random = (uint32_t)_i + 1, first = 0, again = 0, beside;

    for (int step = 0; step < 600; step++) {
        random = random * 1664525 + 1013904223;
        if (n < MOST && random >> 31) {
            uint32_t align = 64u << (random >> 8) % 7;

            alive[n].bytes = 1 + (random >> 12) % 9000;
            alive[n].value = (uint8_t)(1 + step % 255);
            ck_assert(!memory_alloc_aligned(mem, "b", alive[n].bytes, align,
                                            &alive[n].at, &err));
            ck_assert_uint_eq(alive[n].at % align, 0);
            ck_assert(all_are(window + alive[n].at, alive[n].bytes, 0));
            memset(window + alive[n].at, alive[n].value, alive[n].bytes);
            n++;
        } else if (n) {
            uint32_t k = (random >> 8) % n;

            ck_assert(
                all_are(window + alive[k].at, alive[k].bytes, alive[k].value));
            memory_free(mem, alive[k].at);
            alive[k] = alive[--n];
        }
        ck_assert_uint_eq(memory_count(mem), n);
        ck_assert_ptr_null(memory_check(mem, &beside));
        for (uint32_t k = 0; k + 1 < n; k++) {
            uint64_t a0 = mach_place_of(table, alive[k].at) / 64,
                     b0 = mach_place_of(table, alive[n - 1].at) / 64;

            ck_assert(a0 + (alive[k].bytes + 63) / 64 <= b0 ||
                      b0 + (alive[n - 1].bytes + 63) / 64 <= a0);
        }
    }
    while (n)
        memory_free(mem, alive[--n].at);
    ck_assert(!memory_alloc(mem, "large", 400 << 20, &first, &err));
    memory_free(mem, first);
    ck_assert(!memory_alloc(mem, "large", 400 << 20, &again, &err));
    ck_assert_uint_eq(again, first);
    ck_assert_uint_eq(mach_place_of(table, again), desc.ddr_base);
    memory_free(mem, again + 1); /* nobody's */
    ck_assert_uint_eq(memory_count(mem), 1);
}
END_TEST

/* A hole is taken by the next that fits, not by what is larger. */
START_TEST(holes_are_reused)
{
    uint32_t at[4], hole, large;

    for (int i = 0; i < 4; i++)
        ck_assert(!memory_alloc(mem, "b", 4096, &at[i], &err));
    memory_free(mem, at[1]);
    ck_assert(!memory_alloc(mem, "large", 8192, &large, &err));
    ck_assert_uint_gt(large, at[3]);
    ck_assert(!memory_alloc(mem, "small", 4096, &hole, &err));
    ck_assert_uint_eq(hole, at[1]);
    ck_assert_uint_eq(mach_place_of(memory_places(mem), hole),
                      desc.ddr_base + 4096);
}
END_TEST

/* --- what an address is -------------------------------------------------- */

static void described(uint64_t address, const char *want)
{
    str text = {0};

    memory_describe(mem, (uint32_t)address, &text);
    ck_assert_str_eq(str_text(&text), want);
    str_free(&text);
}

START_TEST(addresses_of_cmx)
{
    uint32_t first = memory_cmx(mem, 0), slice = memory_cmx(mem, 1) - first;
    uint32_t bytes = memory_cmx_bytes(mem);
    static const struct {
        uint32_t shave, at;
    } in[] = {{0, 0}, {0, 5}, {3, 7}, {15, 0}};

    described(0, "a null pointer");
    described(first - 1, "1 bytes before the CMX of SHAVE 0");
    described(first - 4096, "4096 bytes before the CMX of SHAVE 0");
    described(first - 4097, "no buffer");
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        described(memory_cmx(mem, in[i].shave) + in[i].at,
                  arena_printf(a,
                               "CMX of SHAVE %u + %u (%u bytes are there for "
                               "a work-group)",
                               in[i].shave, in[i].at, bytes));
    described(first + 16 * slice - 1,
              arena_printf(a,
                           "CMX of SHAVE 15 + %u (%u bytes are there for a "
                           "work-group)",
                           slice - 1, bytes));
    described(first + 16 * slice, "no buffer");
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t cmx = memory_cmx(mem, i);

        ck_assert(memory_readable(mem, cmx, bytes));
        ck_assert(memory_readable(mem, cmx + bytes - 1, 1));
        ck_assert(!memory_readable(mem, cmx, bytes + 1));
        ck_assert(!memory_readable(mem, cmx + bytes, 1));
        ck_assert(!memory_readable(mem, cmx - 1, 1));
    }
}
END_TEST

/* The nearest buffer is named; of two as near the one that was there first. */
START_TEST(addresses_of_buffers)
{
    uint32_t x, y, middle;

    ck_assert(!memory_alloc(mem, "x", 100, &x, &err));
    ck_assert(!memory_alloc(mem, "y", 200, &y, &err));
    ck_assert_uint_gt(y, x + 100);
    described(x, "x + 0");
    described(x + 99, "x + 99");
    described(x - 1, "1 bytes before x (100 bytes)");
    described(x + 100, "byte 1 behind the end of x (100 bytes)");
    described(y + 199, "y + 199");
    described(y + 202, "byte 3 behind the end of y (200 bytes)");
    described(y - 2, "2 bytes before y (200 bytes)");
    middle = x + 100 + (y - x - 100) / 2; /* as far from x's end as from y */
    described(middle - 1,
              arena_printf(a, "byte %u behind the end of x (100 bytes)",
                           middle - x - 100));
    described(middle + 1,
              arena_printf(a, "%u bytes before y (200 bytes)", y - middle - 1));
    ck_assert(memory_readable(mem, x, 100));
    ck_assert(memory_readable(mem, y + 100, 100));
    ck_assert(memory_readable(mem, x + 99, 1));
    ck_assert(!memory_readable(mem, x, 101));
    ck_assert(!memory_readable(mem, x - 1, 2));
    ck_assert(!memory_readable(mem, x + 100, 1));
}
END_TEST

/* --- the parts of CMX ---------------------------------------------------- */

static void reopen(bool roomy)
{
    memory_destroy(mem);
    ck_assert_msg(
        !(roomy ? memory_create_roomy : memory_create)(&desc, &mem, &err), "%s",
        err.msg);
}

/* A debugger's CMX takes the addresses that there are up to DDR, at most 4 MiB
 * for each SHAVE; the last page of each stands in front of the next SHAVE's. */
START_TEST(roomy_cmx)
{
    desc.num_shaves = 2;
    desc.cmx_base = 0x7f000000;
    desc.ddr_base = 0x80000000; /* 8 MiB for each */
    reopen(true);
    ck_assert_uint_eq(memory_cmx(mem, 0), 0x7f000000);
    ck_assert_uint_eq(memory_cmx(mem, 1), 0x7f400000);
    ck_assert_uint_eq(memory_cmx_bytes(mem), 0x3fd000);
    desc.cmx_base = 0x7fc00000; /* 2 MiB for each */
    reopen(true);
    ck_assert_uint_eq(memory_cmx(mem, 1), 0x7fe00000);
    ck_assert_uint_eq(memory_cmx_bytes(mem), 0x1fd000);
    memset(memory_window(mem) + memory_cmx(mem, 1), 1, 0x1fd000);
    ck_assert_uint_eq(memory_window(mem)[memory_cmx(mem, 0) - 1], 0xff);
    ck_assert_uint_eq(memory_window(mem)[memory_cmx(mem, 1) - 1], 0xff);
}
END_TEST

/* Slices that are work-groups' to the last byte have no page to spare: only in
 * front of the first one there are addresses. */
START_TEST(cmx_without_room_in_front)
{
    desc.ocl_local_budget = desc.cmx_slice_bytes;
    reopen(false);
    ck_assert_uint_eq(memory_cmx_bytes(mem), desc.cmx_slice_bytes);
    ck_assert_uint_eq(memory_window(mem)[memory_cmx(mem, 0) - 4096], 0xff);
    ck_assert_uint_eq(memory_window(mem)[memory_cmx(mem, 0) - 1], 0xff);
    for (uint32_t i = 0; i < 16; i++) {
        uint8_t *cmx = memory_window(mem) + memory_cmx(mem, i);

        ck_assert_uint_eq(cmx[desc.cmx_slice_bytes - 1], 0);
        memset(cmx, 1, desc.cmx_slice_bytes);
    }
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
    tcase_add_test(c, places_are_packed);
    tcase_add_loop_test(c, buffers_come_and_go, 0, 4);
    tcase_add_test(c, holes_are_reused);
    tcase_add_test(c, addresses_of_cmx);
    tcase_add_test(c, addresses_of_buffers);
    tcase_add_test(c, roomy_cmx);
    tcase_add_test(c, cmx_without_room_in_front);
    suite_add_tcase(s, c);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
