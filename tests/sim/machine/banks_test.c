/* Banks of DDR: every bank in turn, whatever power of two rows are apart. */
#include "sim/machine/banks.h"

#include <check.h>

static mach_desc desc;

static mach_banks banks_of(uint64_t banks, uint64_t row_bytes, bool hashed,
                           uint32_t unit_shift)
{
    vpu_error err;
    arena *a = arena_create(0);

    ck_assert_msg(!mach_desc_load(NULL, a, &desc, &err), "%s", err.msg);
    arena_destroy(a);
    desc.ddr_banks = banks;
    desc.ddr_row_bytes = row_bytes;
    desc.ddr_bank_hash = hashed;
    return mach_banks_of(&desc, unit_shift);
}

/* The exclusive or of the row's digits, to the base of the number of banks. */
static uint32_t by_digits(uint32_t row, uint32_t banks)
{
    uint32_t bank = 0;

    for (; row && banks > 1; row /= banks)
        bank ^= row % banks;
    return bank;
}

START_TEST(digits_of_the_row)
{
    for (uint32_t banks = 1; banks <= 16; banks *= 2) {
        mach_banks hashed = banks_of(banks, 128, true, 0);
        mach_banks plain = banks_of(banks, 128, false, 0);
        uint32_t x = 5;

        for (int k = 0; k < 10000; k++) {
            x = x * 1664525 + 1013904223;
            ck_assert_uint_eq(mach_bank(&hashed, x), by_digits(x / 128, banks));
            ck_assert_uint_eq(mach_bank(&plain, x), x / 128 % banks);
        }
    }
}
END_TEST

/* As many rows as there are banks, 1, 2, 4 … rows apart, from anywhere. */
START_TEST(rows_a_power_of_two_apart)
{
    mach_banks b = banks_of(16, 2048, true, 0);

    for (uint32_t apart = 2048; apart <= 1u << 27; apart *= 2)
        for (uint32_t start = 0; start < 64; start++) {
            /* not across a carry into higher digits */
            uint32_t first = start * 2048 / (16 * apart) * (16 * apart) +
                             start * 2048 % apart;
            uint32_t seen = 0;

            for (uint32_t i = 0; i < 16; i++)
                seen |= 1u << mach_bank(&b, first + i * apart);
            ck_assert_msg(seen == 0xffff, "%u bytes apart from %u: %x", apart,
                          first, seen);
        }
}
END_TEST

START_TEST(lines_are_in_the_bank_of_their_address)
{
    for (uint32_t shift = 6; shift <= 7; shift++) {
        mach_banks lines = banks_of(8, 2048, true, shift);
        mach_banks bytes = banks_of(8, 2048, true, 0);

        for (uint32_t line = 0; line < 1u << 20; line += 31)
            ck_assert_uint_eq(mach_bank(&lines, line),
                              mach_bank(&bytes, line << shift));
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("banks");
    TCase *t = tcase_create("banks");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_test(t, digits_of_the_row);
    tcase_add_test(t, rows_a_power_of_two_apart);
    tcase_add_test(t, lines_are_in_the_bank_of_their_address);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
