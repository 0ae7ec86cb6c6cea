/* Firmware images: a generator writes command streams, so the test knows where
 * everything is; and the sources' worked example, byte for byte. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/usb/firmware.h"

static const uint8_t example[] = {
    0x4d, 0x41, 0x32, 0x78, 0x9a, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
    0x00, 0xba, 0x78, 0xe9, 0x00, 0x70, 0xa4, 0x00, 0x00, 0x18, 0x80};
static const uint8_t patched_example[] = {
    0x4d, 0x41, 0x32, 0x78, 0x9a, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
    0x00, 0x98, 0x00, 0x0c, 0x20, 0x70, 0x00, 0xba, 0x78, 0xe9, 0x00, 0x70,
    0x98, 0x00, 0x00, 0x20, 0x80, 0x01, 0xa4, 0x00, 0x00, 0x18, 0x80};

static str image, out;
static vpu_error err;
static firmware_info info;

static void teardown(void)
{
    str_free(&image);
    str_free(&out);
}

static const uint8_t *bytes(const str *s)
{
    return (const uint8_t *)s->data;
}

START_TEST(worked_example)
{
    firmware_options o = {.watchdog = true};

    ck_assert_int_eq(firmware_patch(example, sizeof example, &o, &out, &err),
                     VPU_OK);
    ck_assert_uint_eq(out.n, sizeof patched_example);
    ck_assert_mem_eq(out.data, patched_example, out.n);
    ck_assert_int_eq(firmware_scan(example, sizeof example, &info, &err),
                     VPU_OK);
    ck_assert(info.complete);
    ck_assert_uint_eq(info.entry, 0x80180000);
    ck_assert_uint_eq(info.last_call, 0x7000e978);
    ck_assert_uint_eq(info.end, sizeof example);
}
END_TEST

/* The last call of 2022.2's image, which its own host does not look for. */
START_TEST(other_call)
{
    firmware_options o = {.watchdog = true};
    uint8_t other[sizeof example];

    memcpy(other, example, sizeof other);
    other[14] = 0xdc;
    ck_assert_int_eq(firmware_patch(other, sizeof other, &o, &out, &err),
                     VPU_OK);
    ck_assert_uint_eq(out.n, sizeof example + 6);
    ck_assert_mem_eq(out.data, other, 18);
    ck_assert_mem_eq(out.data + 18, patched_example + 24, 11);
    str_free(&out);
    o.ddr_type = 2;
    ck_assert_int_eq(firmware_patch(other, sizeof other, &o, &out, &err),
                     VPU_OK);
    ck_assert_uint_eq(out.n, sizeof example + 12);
    ck_assert_uint_eq(out.data[18], 2);
}
END_TEST

static void add_random(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t b = (uint8_t)rand();

        /* Plenty of bytes that look like commands. */
        if (rand() % 3 == 0)
            b = rand() & 1 ? 0xa4 : 0xba;
        str_add(&image, &b, 1);
    }
}

static void add_command(uint8_t op, size_t n)
{
    str_add(&image, &op, 1);
    add_random(n);
}

static void add_counted(uint8_t op, bool address, unsigned count, size_t unit)
{
    uint8_t size[2] = {(uint8_t)count, (uint8_t)(count >> 8)};

    str_add(&image, &op, 1);
    add_random(address ? 4 : 0);
    str_add(&image, size, 2);
    add_random(count * unit);
}

static void add_any(size_t *last_call)
{
    switch (rand() % 7) {
    case 0:
        add_command(0x00, 0);
        break;
    case 1:
        add_command(0x9a, 8);
        break;
    case 2:
        add_command(0x98, 5);
        break;
    case 3:
        add_counted(0x8a, true, (unsigned)rand() % 300, 4);
        break;
    case 4:
        add_counted(0xa8, false, (unsigned)rand() % 300, 1);
        break;
    case 5:
        add_command(0xc9, 2);
        break;
    default:
        *last_call = image.n;
        if (rand() & 1)
            add_command(0xba, 4);
        else
            str_add(&image,
                    rand() & 1 ? "\xba\xd0\xe9\x00\x70"
                               : "\xba\xdc\xe9\x00\x70",
                    5);
        break;
    }
}

static bool is_known(size_t call)
{
    return call && !memcmp(image.data + call, "\xba\xd0\xe9\x00\x70", 5);
}

/* Random images: everything is found where it was put, and a patched image is
 * the same with a command more, or two, at these two places. */
START_TEST(random_images)
{
    size_t call = 0, execute, n, rest;
    firmware_options o;
    str expect = {0};
    uint8_t word[6] = {0x98, 0x00, 0x0c, 0x20, 0x70};
    uint8_t dog[6] = {0x98, 0x00, 0x00, 0x20, 0x80};

    srand((unsigned)_i + 1);
    n = (size_t)rand() % 40;
    str_puts(&image, "MA2x");
    for (size_t i = 0; i < n; i++)
        add_any(&call);
    execute = image.n;
    add_command(0xa4, 4);
    rest = (size_t)rand() % 4;
    str_add(&image, "\0\0\0", rest);

    ck_assert_int_eq(firmware_scan(bytes(&image), image.n, &info, &err),
                     VPU_OK);
    ck_assert(info.complete);
    ck_assert_uint_eq(info.n_commands, n + 1);
    ck_assert_uint_eq(info.execute_at, execute);
    ck_assert_uint_eq(info.last_call_at, call);
    ck_assert_uint_eq(info.end, execute + 5);

    o = (firmware_options){.watchdog = rand() & 1,
                           .ddr_type = (uint8_t)(rand() % 5)};
    word[5] = o.ddr_type;
    dog[5] = o.watchdog;
    str_add(&expect, image.data, call);
    if (call && (o.ddr_type || is_known(call)))
        str_add(&expect, word, sizeof word);
    str_add(&expect, image.data + call, execute - call);
    str_add(&expect, dog, sizeof dog);
    str_add(&expect, image.data + execute, image.n - execute);
    ck_assert_int_eq(firmware_patch(bytes(&image), image.n, &o, &out, &err),
                     VPU_OK);
    ck_assert_uint_eq(out.n, expect.n);
    ck_assert_mem_eq(out.data, expect.data, out.n);
    str_free(&expect);
}
END_TEST

/* No beginning of an image is one, and none is misread. */
START_TEST(beginnings)
{
    firmware_options o = {0};

    for (size_t n = 0; n < sizeof example; n++) {
        ck_assert_int_eq(firmware_scan(example, n, &info, &err), VPU_OK);
        ck_assert(!info.complete);
        ck_assert_uint_le(info.end, n);
        ck_assert_int_eq(firmware_patch(example, n, &o, &out, &err),
                         VPU_ERR_PARSE);
        ck_assert_ptr_nonnull(strstr(err.msg, "ends before"));
    }
}
END_TEST

START_TEST(no_images)
{
    firmware_options o = {.ddr_type = 5};
    uint8_t bad[sizeof example];

    ck_assert_int_eq(firmware_scan((const uint8_t *)"ELF?", 4, &info, &err),
                     VPU_ERR_PARSE);
    ck_assert_ptr_nonnull(strstr(err.msg, "MA2x"));
    memcpy(bad, example, sizeof bad);
    bad[13] = 0x77;
    ck_assert_int_eq(firmware_scan(bad, sizeof bad, &info, &err),
                     VPU_ERR_PARSE);
    ck_assert_ptr_nonnull(strstr(err.msg, "byte 13: command 0x77"));
    ck_assert_int_eq(firmware_patch(example, sizeof example, &o, &out, &err),
                     VPU_ERR_INVALID);
    ck_assert_uint_eq(out.n, 0);
}
END_TEST

START_TEST(unknown_images_have_no_layout)
{
    xlink_layout l = XLINK_LAYOUT_C;

    ck_assert(!firmware_layout(example, sizeof example, &l, NULL));
    ck_assert_int_eq(l, XLINK_LAYOUT_C);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("firmware");
    TCase *t = tcase_create("firmware");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, NULL, teardown);
    tcase_add_test(t, worked_example);
    tcase_add_test(t, other_call);
    tcase_add_loop_test(t, random_images, 0, 200);
    tcase_add_test(t, beginnings);
    tcase_add_test(t, no_images);
    tcase_add_test(t, unknown_images_have_no_layout);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
