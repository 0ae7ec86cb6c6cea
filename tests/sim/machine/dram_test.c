/* Banks and rows of DDR, cycle by cycle. All figures are worked out by hand for
 * this machine: at 1000 MHz a nanosecond is a cycle; a row change takes 30, one
 * activation follows another by 50; 8 bytes pass in a cycle, so a line of 64
 * keeps its bank for max(50, 30 + 8) = 50. Two banks of rows of 1024 bytes:
 * addresses 0 and 2048 are rows of bank 0, 1024 is one of bank 1. */
#include "sim/machine/dram.h"

#include <check.h>

static mach_desc desc;
static dram d;
static dram_server s;

static void setup(void)
{
    vpu_error err;
    arena *a = arena_create(0);

    ck_assert_msg(!mach_desc_load(NULL, a, &desc, &err), "%s", err.msg);
    desc.clk_mhz = 1000;
    desc.ddr_peak_bw = 8;
    desc.ddr_row_cycle = 50;
    desc.ddr_row_switch = 30;
    desc.ddr_row_bytes = 1024;
    desc.ddr_banks = 2;
    desc.ddr_bank_hash = 0;
    desc.l2_line = 64;
    d = dram_of(&desc);
    s = (dram_server){.bytes_per_cycle = 8 << 20, .line_bytes = 64};
    arena_destroy(a);
}

/* A piece that is the first of a run of `in_row` bytes. */
static dram_piece piece(uint32_t addr, uint32_t bytes)
{
    return (dram_piece){
        .addr = addr, .bytes = bytes, .in_row = bytes, .opens = true};
}

static uint64_t serve(uint64_t now, uint32_t addr, uint32_t bytes)
{
    dram_piece p = piece(addr, bytes);

    return dram_serve_piece(&d, &s, now, &p);
}

START_TEST(the_machine)
{
    ck_assert_uint_eq(d.line_busy, 50);
    ck_assert_uint_eq(dram_visit(&d, 64), 50);
    ck_assert_uint_eq(dram_visit(&d, 256), 62);
    ck_assert_uint_eq(dram_bank(&d, 1023), 0);
    ck_assert_uint_eq(dram_bank(&d, 1024), 1);
    ck_assert_uint_eq(dram_bank(&d, 2048), 0);
}
END_TEST

/* 256 bytes: 32 cycles of the interface. The row stays open for the next piece
 * of it, which waits for the interface alone; another row waits for the bank,
 * which the two pieces keep for 62 and 32 cycles. */
START_TEST(a_row_stays_open_for_transfers)
{
    ck_assert_uint_eq(serve(0, 0, 256), 32);
    ck_assert_uint_eq(serve(32, 256, 256), 64);
    ck_assert_uint_eq(serve(64, 2048, 256), 94 + 32);
}
END_TEST

/* A SHAVE's line closes the row: what comes back to it opens it again, when the
 * line's 50 cycles are over. */
START_TEST(a_line_read_closes_the_row)
{
    ck_assert_uint_eq(serve(0, 0, 64), 8);
    ck_assert_uint_eq(dram_serve_line(&d, &s, 100, 64), 0);
    ck_assert_uint_eq(serve(110, 128, 64), 150 + 8);
}
END_TEST

/* And so does one written back. */
START_TEST(a_line_written_closes_the_row)
{
    ck_assert_uint_eq(serve(0, 0, 64), 8);
    ck_assert_uint_eq(dram_write_line(&d, &s, 100, 64), 150);
    ck_assert_uint_eq(serve(101, 128, 64), 150 + 8);
}
END_TEST

/* Of another bank nothing is closed. */
START_TEST(a_line_leaves_other_banks_alone)
{
    ck_assert_uint_eq(serve(0, 0, 64), 8);
    ck_assert_uint_eq(dram_serve_line(&d, &s, 100, 1024), 0);
    ck_assert_uint_eq(serve(110, 64, 64), 118);
}
END_TEST

/* A write that came at cycle 100 to an idle bank begins then. A read in the
 * same cycle goes before it; one in the next finds the bank busy until 150. */
START_TEST(writes_begin_when_the_bank_is_idle)
{
    ck_assert_uint_eq(dram_write_line(&d, &s, 100, 0), 150);
    ck_assert_uint_eq(dram_serve_line(&d, &s, 100, 2048), 0);
    setup();
    ck_assert_uint_eq(dram_write_line(&d, &s, 100, 0), 150);
    ck_assert_uint_eq(dram_serve_line(&d, &s, 101, 2048), 49);
}
END_TEST

/* The read at 100 keeps the bank until 150. The write waits till then and goes
 * on from 150; a read in cycle 150 still is before it, one at 151 is not. */
START_TEST(writes_begin_where_reads_end)
{
    for (uint64_t late = 0; late < 2; late++) {
        setup();
        ck_assert_uint_eq(dram_serve_line(&d, &s, 100, 0), 0);
        ck_assert_uint_eq(dram_write_line(&d, &s, 120, 0), 200);
        ck_assert_uint_eq(dram_serve_line(&d, &s, 150 + late, 2048),
                          late ? 49 : 0);
    }
}
END_TEST

/* A bank idle since long ago does not begin a write before there is one: the
 * write of cycle 1000 is not done by 1001, but at 1050. */
START_TEST(writes_do_not_begin_before_they_come)
{
    ck_assert_uint_eq(dram_serve_line(&d, &s, 0, 0), 0);
    ck_assert_uint_eq(dram_write_line(&d, &s, 1000, 0), 1050);
    ck_assert_uint_eq(dram_serve_line(&d, &s, 1001, 2048), 49);
}
END_TEST

/* Sixteen writes wait for a bank that is read again and again; the one behind
 * them makes the first begin, so that the next read waits for its 50 cycles. */
START_TEST(too_many_writes_go_first)
{
    ck_assert_uint_eq(dram_serve_line(&d, &s, 100, 0), 0);
    for (uint64_t k = 1; k <= DRAM_MAX_WRITES; k++)
        ck_assert_uint_eq(dram_write_line(&d, &s, 100, 0), 150 + 50 * k);
    ck_assert_uint_eq(dram_serve_line(&d, &s, 100, 2048), 50);
    ck_assert_uint_eq(dram_write_line(&d, &s, 100, 0), 200 + 50 * 17);
    ck_assert_uint_eq(dram_serve_line(&d, &s, 100, 2048), 150);
}
END_TEST

int main(void)
{
    Suite *su = suite_create("dram");
    TCase *c = tcase_create("dram");
    SRunner *sr = srunner_create(su);
    int failed;

    tcase_add_checked_fixture(c, setup, NULL);
    tcase_add_test(c, the_machine);
    tcase_add_test(c, a_row_stays_open_for_transfers);
    tcase_add_test(c, a_line_read_closes_the_row);
    tcase_add_test(c, a_line_written_closes_the_row);
    tcase_add_test(c, a_line_leaves_other_banks_alone);
    tcase_add_test(c, writes_begin_when_the_bank_is_idle);
    tcase_add_test(c, writes_begin_where_reads_end);
    tcase_add_test(c, writes_do_not_begin_before_they_come);
    tcase_add_test(c, too_many_writes_go_first);
    suite_add_tcase(su, c);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
