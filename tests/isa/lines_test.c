/* Whose cycle is it: each rule of isa/lines.h on programs small enough to say
 * it by looking. */
#include <check.h>
#include <string.h>

#include "isa/lines.h"
#include "tests/isa/isa_rig.h"

static arena *mem;

static void setup(void)
{
    mem = arena_create(0);
}

static void teardown(void)
{
    arena_destroy(mem);
}

#define F "function \"f\" private=0 spills=0\ncallee 0: \"c\"\n"

static const struct {
    const char *what, *text;
    uint32_t block, lines[16];
} cases[] = {
    {"a bundle is its first operation's in program order, with a line",
     F "block 0 plain cycles=8 stages=1\n"
       "0: SAU.iadd i1, i2, 1 #3 @7:1 || IAU.iadd i3, i2, 1 #2 @8:1 || "
       "CMU.imov i4, i2 #1\n"
       "1: BRU.ret #4 @9:1\n",
     0,
     {8, 9, 9, 9, 9, 9, 9, 9}},
    {"waiting for a load is the load's, whoever uses it",
     F "block 0 plain cycles=15 stages=1\n"
       "0: LSU0.ld.u32.global i1, [i2] #1 @4:1\n"
       "7: IAU.iadd i3, i1, 1 #2 @6:1\n"
       "8: BRU.ret #3 @9:1\n",
     0,
     {4, 4, 4, 4, 4, 4, 4, 6, 9, 9, 9, 9, 9, 9, 9}},
    {"of two results the one that lands last, while it is on its way",
     F "block 0 plain cycles=16 stages=1\n"
       "0: LSU0.ld.u32.global i1, [i2] #1 @4:1\n"
       "2: LSU0.ld.u32.global i4, [i2] #2 @5:1\n"
       "9: IAU.iadd i3, i1, i4 #3 @6:1 || BRU.ret #4 @9:1\n",
     0,
     {4, 5, 5, 5, 5, 5, 5, 5, 5, 6, 9, 9, 9, 9, 9, 9}},
    {"slots of a branch with nothing else to wait for",
     F "block 0 plain cycles=7 stages=1\n"
       "0: BRU.ret #1 @3:1\n"
       "4: IAU.iadd i3, i2, 1 #2 @5:1\n",
     0,
     {3, 3, 3, 3, 5, 3, 3}},
    {"a call's time is the call's",
     F "block 0 plain cycles=14 stages=1\n"
       "0: BRU.call callee[0] #1 @2:1 cost=5\n"
       "6: IAU.iadd i3, i2, 1 #2 @5:1\n"
       "7: BRU.ret #3 @6:1\n",
     0,
     {2, 2, 2, 2, 2, 5, 5, 6, 6, 6, 6, 6, 6, 6}},
    {"what has no line is the cycle's in front of it, or behind",
     F "block 0 plain cycles=10 stages=1\n"
       "0: IAU.imov i1, i2 #1\n"
       "1: IAU.iadd i3, i2, 1 #2 @5:1\n"
       "2: IAU.imov i4, i2 #3\n"
       "3: BRU.ret #4\n",
     0,
     {5, 5, 5, 5, 5, 5, 5, 5, 5, 5}},
    {"none has one",
     F "block 0 plain cycles=7 stages=1\n0: BRU.ret\n",
     0,
     {0, 0, 0, 0, 0, 0, 0}},
};

START_TEST(rules)
{
    isa_function *f = isa_rig_read(mem, cases[_i].text);
    const isa_block *b = &f->blocks[cases[_i].block];
    uint32_t lines[16];

    ck_assert_uint_le(b->cycles, 16);
    isa_cycle_lines(f, cases[_i].block, lines);
    for (uint32_t t = 0; t < b->cycles; t++)
        ck_assert_msg(lines[t] == cases[_i].lines[t],
                      "%s: cycle %u is line %u's, not %u's", cases[_i].what, t,
                      lines[t], cases[_i].lines[t]);
}
END_TEST

/* In a kernel of 4 cycles, a load of the iteration before is what the bundle at
 * 3 waits for: 7 cycles after 0 are 3 cycles into the next. */
START_TEST(around_a_pipelined_kernel)
{
    isa_instr ops[] = {{.op = ISA_OP_ld,
                        .unit = ISA_UNIT_LSU0,
                        .type = ISA_U32,
                        .sub = ISA_GLOBAL,
                        .dst = {{ISA_I, 1}},
                        .src = {{ISA_I, 2}},
                        .seq = 1,
                        .line = 4},
                       {.op = ISA_OP_iadd,
                        .unit = ISA_UNIT_IAU,
                        .dst = {{ISA_I, 3}},
                        .src = {{ISA_I, 1}, {ISA_IMM, 1}},
                        .cycle = 3,
                        .seq = 2,
                        .line = 6}};
    isa_block b = {
        .n_instrs = 2, .cycles = 4, .kind = ISA_KERNEL, .n_stages = 2};
    isa_function f = {
        .blocks = &b, .n_blocks = 1, .instrs = ops, .n_instrs = 2};
    uint32_t lines[4], want[] = {4, 4, 4, 6};

    ck_assert_uint_eq(isa_ops[ISA_OP_ld].lat, 7);
    isa_cycle_lines(&f, 0, lines);
    ck_assert_mem_eq(lines, want, sizeof want);
    b.kind = ISA_PLAIN; /* nothing to wait for: the next bundle's */
    want[1] = want[2] = 6;
    isa_cycle_lines(&f, 0, lines);
    ck_assert_mem_eq(lines, want, sizeof want);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("isa lines");
    TCase *c = tcase_create("isa lines");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, rules, 0, sizeof cases / sizeof *cases);
    tcase_add_test(c, around_a_pipelined_kernel);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
