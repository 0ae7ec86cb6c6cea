/* Every rule of the verifier: a program that breaks it alone, and the same one
 * with one thing changed, which is sound. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

#define HEAD                                       \
    "function \"f\" private=0 spills=0\n"          \
    "vector 0: 000102030405060708090a0b0c0d1fff\n" \
    "vector 1: 000102030405060708090a0b0c0d0e20\n" \
    "callee 0: \"c\"\n"
#define PLAIN HEAD "block 0 plain cycles=60 stages=1\n"
#define KERNEL HEAD "block 0 kernel cycles=4 stages=1\n"
#define LOOP                                    \
    HEAD "block 0 prologue cycles=4 stages=2\n" \
         "block 1 kernel cycles=4 stages=2\n"
#define DRAIN "block 2 epilogue cycles=4 stages=2\n"

/* $ stands for good, which is sound, or bad, which is not; block and instr are
 * where it is not. */
typedef struct {
    const char *text, *good, *bad, *why;
    uint32_t block, instr;
} rule;

static const char no_unit[] = "that unit does not issue this operation";
static const char result[] = "a result is not of the operation's form";
static const char source[] = "a source is not of the operation's form";
static const char no_register[] = "the machine has no such register";
static const char type[] = "a type the operation does not know";
static const char modifier[] = "a modifier out of its range";
static const char no_arg[] = "there is no such argument or result";
static const char order[] = "operations are not in order";
static const char slot[] = "its slot is taken";
static const char slots[] = "its delay slots do not end with the block";
static const char early[] = "reads a register before its value is there";
static const char on_top[] = "an earlier result lands on top of it";
static const char during[] = "something issues during a call";

static const rule operation_rules[] = {
    {PLAIN "0: $.imov i1, 2", "IAU", "SAU", no_unit, 0, 0},
    {PLAIN "0: $.st.u8.local i1, [i2]", "LSU1", "IAU", no_unit, 0, 0},
    {PLAIN "0: $.ldv128.local v1, [i2]", "LSU0", "LSU1", no_unit, 0, 0},
    {PLAIN "0: IAU.imov $, 2", "i1", "v1", result, 0, 0},
    {PLAIN "0: IAU.imov $, 2", "i1", "sp", result, 0, 0},
    {PLAIN "0: IAU.imov $, 2", "i1", "_", result, 0, 0},
    {PLAIN "0: CMU.vmov $, v1", "v1", "i1", result, 0, 0},
    {PLAIN "0: IAU.imov i1, $", "i2", "v2", source, 0, 0},
    {PLAIN "0: IAU.imov i1, $", "3", "_", source, 0, 0},
    {PLAIN "0: IAU.iadd i1, $, 2", "i2", "3", source, 0, 0},
    {PLAIN "0: IAU.iadd i1, $, 2", "sp", "3", source, 0, 0},
    {PLAIN "0: CMU.vmov v1, $", "v2", "sp", source, 0, 0},
    {PLAIN "0: CMU.vmov v1, $", "v2", "i2", source, 0, 0},
    {PLAIN "0: CMU.vmov v1, $", "v2", "3", source, 0, 0},
    {PLAIN "0: IAU.imov $, 2", "i31", "i32", no_register, 0, 0},
    {PLAIN "0: CMU.vmov v0, $", "v31", "v32", no_register, 0, 0},
    {PLAIN "0: IAU.ishr.$ i1, i2, 3", "s32", "s16", type, 0, 0},
    {PLAIN "0: IAU.iext.$ i1, i2", "s16", "f16", type, 0, 0},
    {PLAIN "0: SAU.fadd.$ i1, i2, i3", "f32", "s32", type, 0, 0},
    {PLAIN "0: VAU.vadd.$ v1, v2, v3", "u8", "f16", type, 0, 0},
    {PLAIN "0: SAU.vred.f16.$ i1, v2", "sum", "all", type, 0, 0},
    {PLAIN "0: CMU.vcvt.$.s16.0 v1, v2", "f32", "s8", "vcvt to narrower lanes",
     0, 0},
    {PLAIN "0: CMU.vcvtn.$.f32.0 v1, v2, v2", "f16", "s32",
     "vcvtn to lanes that are not narrower", 0, 0},
    {PLAIN "0: IAU.icmp.s32.$ i1, i2, 3", "ge", "ult", modifier, 0, 0},
    {PLAIN "0: CMU.vcmp.$.uno v1, v2, v3", "f16", "s16", modifier, 0, 0},
    {PLAIN "0: CMU.vext.u32.$ i1, v2", "3", "4", modifier, 0, 0},
    {PLAIN "0: CMU.vcvt.f32.u16.$ v1, v2", "1", "2", modifier, 0, 0},
    {PLAIN "0: CMU.vcvt.f32.s32.$ v1, v2", "0", "1", modifier, 0, 0},
    {PLAIN "0: CMU.vcvtn.u8.u16.$ v1, v2, v2", "1", "2", modifier, 0, 0},
    {PLAIN "0: LSU0.vcon v1, vector[$]", "1", "2", "there is no such vector", 0,
     0},
    {PLAIN "0: LSU0.vcon v1, vector[$]", "1", "-1", "there is no such vector",
     0, 0},
    {PLAIN "0: CMU.vshuf v1, v2, v3, vector[$]", "0", "1",
     "a shuffle of bytes that are not there", 0, 0},
    {PLAIN "0: BRU.call callee[$]", "0", "1", "there is no such callee", 0, 0},
    {PLAIN "53: BRU.bra block[$]", "0", "1", "there is no such block", 0, 0},
    {PLAIN "0: LSU0.starg i1, arg[$]", "63", "64", no_arg, 0, 0},
    {PLAIN "0: IAU.ldret i1, ret[$]", "1", "2", no_arg, 0, 0},
    {PLAIN "0: LSU0.ldarg.u8 i1, args[$]", "0", "-1", no_arg, 0, 0},
};

static const rule block_rules[] = {
    {PLAIN "$: IAU.imov i1, 2", "59", "60", "issues behind its block's end", 0,
     0},
    {PLAIN "5: IAU.imov i1, 2\n$: IAU.imov i2, 2", "6", "4", order, 0, 1},
    {PLAIN "5: $ || IAU.imov i2, 1", "LSU1.starg i1, arg[0]", "CMU.vmov v1, v2",
     order, 0, 1},
    {PLAIN "5: IAU.imov i1, 2 || $ i2, 2, 3", "SAU.fadd.f32", "IAU.isub", slot,
     0, 1},
    {PLAIN "5: IAU.idiv.s32 i1, i2, 3\n$: IAU.imov i2, 2", "45", "44", slot, 0,
     1},
    {PLAIN "5: LSU0.$.local v1, [i2] || LSU1.st.u8.local i3, [i2]", "ldv64",
     "ldv128", slot, 0, 1},
    {PLAIN "5: LSU0.ldv64.local v1, [i2] || $ i3, [i2]", "LSU1.st.u8.local",
     "LSU0.st.u8.local", slot, 0, 1},
    {PLAIN "$: BRU.ret", "53", "52", slots, 0, 0},
    {PLAIN "$: BRU.brc.z i1, block[0]", "53", "54", slots, 0, 0},
    {PLAIN "$\n53: BRU.ret", "40: IAU.imov i1, 2", "52: BRU.rep 3",
     "no block to repeat", 0, 0},
    {PLAIN "$: BRU.rep 3\nblock 1 plain cycles=0 stages=1", "53", "54",
     "too close to the block it repeats", 0, 0},
    {PLAIN "$\n53: BRU.ret\nblock 1 plain cycles=0 stages=1", "50: nop",
     "50: BRU.rep 3", "a second branch", 0, 1},
    {PLAIN "5: $\nblock 1 plain cycles=7 stages=1\n0: BRU.ret",
     "IAU.imov i1, 2", "BRU.rep i1", "a branch in a repeated block", 1, 0},
    {PLAIN "5: $PEU.pred.z i1", "", "?", "a predicate cannot be predicated", 0,
     0},
    {PLAIN "$ || ?IAU.imov i1, 2", "5: PEU.pred.z i1",
     "4: PEU.pred.z i1\n5: BRU.call callee[0]", "its bundle has no predicate",
     0, 2},
    {PLAIN "5: $ cost=3", "BRU.call callee[0]", "IAU.imov i1, 2",
     "a cost that is not a call's", 0, 0},
    {PLAIN "$: BRU.call callee[0] cost=20", "40", "41",
     "its block ends during a call", 0, 0},
    {PLAIN "5: BRU.call callee[0] cost=20 || IAU.imov i1, 1\n$: IAU.imov i2, 1",
     "25", "24", during, 0, 0},
};

static const rule pipeline_rules[] = {
    {PLAIN "5: IAU.imov i1, 2 $", "^0", "^1",
     "a stage outside a pipelined loop", 0, 0},
    {KERNEL "3: IAU.imov i1, 2 $", "^0", "^1", "there is no such stage", 0, 0},
    {KERNEL "0: IAU.$ i1, 2, 3", "isub", "idiv.s32", slot, 0, 0},
    {HEAD "block 0 kernel cycles=$ stages=1\n"
          "0: IAU.isub i1, 2, 3\n39: IAU.idiv.s32 i2, i3, 4",
     "79", "78", slot, 0, 1},
    {HEAD "block 0 kernel cycles=$ stages=1\n0: IAU.idiv.s32 i2, i3, 4", "40",
     "39", slot, 0, 0},
    {HEAD "block 0 $ cycles=4 stages=1\n3: BRU.call callee[0]", "plain",
     "kernel", "a call in a pipelined loop", 0, 0},
    {HEAD "block 0 kernel cycles=4 stages=$", "1", "0",
     "a pipelined loop without stages", 0, 0},
    {HEAD "block 0 kernel cycles=$ stages=1", "1", "0",
     "a pipelined loop without length", 0, 0},
    {LOOP "$", DRAIN, "", "a kernel without prologue and epilogue", 1, 0},
    {LOOP "$", DRAIN, "block 2 epilogue cycles=4 stages=3\n",
     "a kernel without prologue and epilogue", 1, 0},
    {HEAD "block 0 $ cycles=4 stages=2\n", "plain", "prologue",
     "a prologue or epilogue without its kernel", 0, 0},
    {HEAD "block 0 $ cycles=4 stages=2\n", "plain", "epilogue",
     "a prologue or epilogue without its kernel", 0, 0},
    {LOOP DRAIN "block 3 $ cycles=4 stages=2", "plain", "epilogue",
     "a prologue or epilogue without its kernel", 3, 0},
    {LOOP "block 2 epilogue cycles=$ stages=2", "4", "3",
     "a prologue or epilogue shorter than its steps", 2, 0},
};

static const rule flight_rules[] = {
    {PLAIN "5: LSU0.ld.u8.local i1, [i2]\n$: IAU.imov i3, i1", "12", "11",
     early, 0, 1},
    {PLAIN "5: VAU.vfadd16 v1, v2, v3\n$: LSU0.stv128.local v1, [i2]", "8", "7",
     early, 0, 1},
    {PLAIN "5: IAU.imul i1, i2, i3\n6: PEU.pred.nz $", "i2", "i1", early, 0, 1},
    {PLAIN "5: LSU0.ld.u8.local i1, [i2]\n$: IAU.imov i1, 2", "12", "11",
     on_top, 0, 1},
    {PLAIN "5: IAU.imov i1, 2 || CMU.isel $, i2, i3, i4", "i2", "i1", on_top, 0,
     1},
    {PLAIN "5: IAU.imov $, 2 || CMU.cvt.f32.s32 i1, i3", "i2", "i1", on_top, 0,
     1},
    {PLAIN "5: LSU0.ldp.u8.local i1, $, [i3], 1", "i3", "i1",
     "two results in one register", 0, 0},
};

static isa_function *with(const rule *r, const char *what)
{
    const char *hole = strchr(r->text, '$');
    char *text = arena_printf(mem, "%.*s%s%s\n", (int)(hole - r->text), r->text,
                              what, hole + 1);

    return isa_rig_read(mem, text);
}

static void check_rule(const rule *r)
{
    uint32_t block = 99, instr = 99;
    const char *why = isa_verify(with(r, r->good), &block, &instr);

    ck_assert_msg(!why, "%s\nwith %s: %s", r->text, r->good, why);
    why = isa_verify(with(r, r->bad), &block, &instr);
    ck_assert_msg(why && !strcmp(why, r->why), "%s\nwith %s: %s, not %s",
                  r->text, r->bad, why ? why : "sound", r->why);
    ck_assert_msg(block == r->block && instr == r->instr,
                  "%s\nwith %s: block %u, operation %u", r->text, r->bad, block,
                  instr);
}

#define LEN(x) (int)(sizeof(x) / sizeof *(x))

START_TEST(operations)
{
    check_rule(&operation_rules[_i]);
}
END_TEST
START_TEST(blocks)
{
    check_rule(&block_rules[_i]);
}
END_TEST
START_TEST(pipelines)
{
    check_rule(&pipeline_rules[_i]);
}
END_TEST
START_TEST(flight)
{
    check_rule(&flight_rules[_i]);
}
END_TEST

/* --- what text cannot say ------------------------------------------------ */

typedef struct {
    void (*damage)(isa_function *f);
    const char *why;
    uint32_t block, instr;
} damage;

static void bad_op(isa_function *f)
{
    f->instrs[1].op = ISA_N_OPS;
}
static void bad_unit(isa_function *f)
{
    f->instrs[1].unit = ISA_N_UNITS;
}
static void nop_with_unit(isa_function *f)
{
    f->instrs[2].unit = ISA_UNIT_CMU;
}
static void odd_result(isa_function *f)
{
    f->instrs[1].dst[1].kind = ISA_I;
}
static void odd_source(isa_function *f)
{
    f->instrs[1].src[2].number = 1;
}
static void odd_kind(isa_function *f)
{
    f->instrs[1].src[0].kind = 77;
}
static void numbered_sp(isa_function *f)
{
    f->instrs[1].src[0] = (isa_operand){ISA_SP, 1};
}
static void missing_type(isa_function *f)
{
    f->instrs[0].type = ISA_NO_TYPE;
}
static void wild_type(isa_function *f)
{
    f->instrs[0].type = 200;
}
static void needless_type(isa_function *f)
{
    f->instrs[1].type = ISA_S8;
}
static void needless_from(isa_function *f)
{
    f->instrs[1].from = ISA_S8;
}
static void missing_from(isa_function *f)
{
    f->instrs[3].from = ISA_NO_TYPE;
}
static void wild_from(isa_function *f)
{
    f->instrs[3].from = 200;
}
static void needless_sub(isa_function *f)
{
    f->instrs[1].sub = 1;
}
static void wild_space(isa_function *f)
{
    f->instrs[0].sub = ISA_N_SPACES;
}
static void needless_imm(isa_function *f)
{
    f->instrs[1].imm = -1;
}
static void wild_kind(isa_function *f)
{
    f->blocks[1].kind = ISA_EPILOGUE + 1;
}
static void late_block(isa_function *f)
{
    f->blocks[1].first++;
}
static void long_block(isa_function *f)
{
    f->blocks[1].n_instrs = UINT32_MAX;
}
static void forgotten(isa_function *f)
{
    f->blocks[1].n_instrs--;
}
static void no_blocks(isa_function *f)
{
    f->n_blocks = 0;
}

static const char divided[] = "blocks do not divide the operations among them";
static const char from_type[] = "a source type the operation does not know";

static const damage damages[] = {
    {bad_op, "there is no such operation", 0, 1},
    {bad_unit, no_unit, 0, 1},
    {nop_with_unit, no_unit, 1, 0},
    {odd_result, result, 0, 1},
    {odd_source, source, 0, 1},
    {odd_kind, source, 0, 1},
    {numbered_sp, source, 0, 1},
    {missing_type, type, 0, 0},
    {wild_type, type, 0, 0},
    {needless_type, type, 0, 1},
    {needless_from, from_type, 0, 1},
    {missing_from, from_type, 1, 1},
    {wild_from, from_type, 1, 1},
    {needless_sub, modifier, 0, 1},
    {wild_space, modifier, 0, 0},
    {needless_imm, "an immediate the operation has no use for", 0, 1},
    {wild_kind, "there is no such kind of block", 1, 0},
    {late_block, divided, 1, 0},
    {long_block, divided, 1, 0},
    {forgotten, divided, 1, 0},
    {no_blocks, "operations without a block", 0, 0},
};

START_TEST(fields)
{
    isa_function *f = isa_rig_read(
        mem, HEAD "block 0 plain cycles=60 stages=1\n"
                  "5: LSU0.st.u8.local i1, [i2] || IAU.imov i1, i4\n"
                  "block 1 plain cycles=9 stages=0\n"
                  "0: nop || CMU.cvt.f32.s32 i3, 4\n");
    uint32_t block = 99, instr = 99;
    const char *why = isa_verify(f, NULL, NULL);

    ck_assert_msg(!why, "%s", why);
    damages[_i].damage(f);
    why = isa_verify(f, &block, &instr);
    ck_assert_ptr_nonnull(why);
    ck_assert_str_eq(why, damages[_i].why);
    ck_assert_uint_eq(block, damages[_i].block);
    ck_assert_uint_eq(instr, damages[_i].instr);
}
END_TEST

/* --- what is sound ------------------------------------------------------- */

START_TEST(virtual_registers)
{
    isa_function *f =
        isa_rig_read(mem, PLAIN "5: IAU.imov i32, 2 || CMU.vmov v999, v32");
    uint32_t instr = 99;

    ck_assert_str_eq(isa_verify(f, NULL, &instr), no_register);
    ck_assert_uint_eq(instr, 0);
    ck_assert_ptr_null(isa_verify_virtual(f, NULL, NULL));
    f->instrs[1].cycle = 4;
    ck_assert_str_eq(isa_verify_virtual(f, NULL, NULL), order);
}
END_TEST

static void sound(const char *text)
{
    const char *why = isa_verify(isa_rig_read(mem, text), NULL, NULL);

    ck_assert_msg(!why, "%s\n%s", text, why);
}

START_TEST(sound_programs)
{
    sound(HEAD);
    sound(HEAD "block 0 plain cycles=0 stages=0");
    /* An early reader and a later writer in one bundle with the old value. */
    sound(PLAIN "5: IAU.imov i1, i2 || CMU.isel i2, i1, 3, 4");
    /* A pipelined loop reads what an earlier iteration left. */
    sound(KERNEL "0: LSU0.ld.u8.local i1, [i2]\n1: IAU.imov i3, i1");
    /* Values may be on their way across blocks. */
    sound(PLAIN "59: LSU0.ld.u8.local i1, [i2]\n"
                "block 1 plain cycles=1 stages=1\n0: IAU.imov i3, i1");
    sound(PLAIN "5: LSU0.ldv64.local v1, [i2] || LSU1.ldv64.local v2, [i2]");
    sound(HEAD "block 0 kernel cycles=7 stages=1\n"
               "0: BRU.brc.nz i1, block[0]");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("isa verify");
    TCase *t = tcase_create("rules");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, operations, 0, LEN(operation_rules));
    tcase_add_loop_test(t, blocks, 0, LEN(block_rules));
    tcase_add_loop_test(t, pipelines, 0, LEN(pipeline_rules));
    tcase_add_loop_test(t, flight, 0, LEN(flight_rules));
    tcase_add_loop_test(t, fields, 0, LEN(damages));
    tcase_add_test(t, virtual_registers);
    tcase_add_test(t, sound_programs);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
