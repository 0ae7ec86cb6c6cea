/* Text: exact both ways, as documented, with errors that say where. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/isa/isa_rig.h"

enum { N_SEEDS = 30 };

static arena *mem;

static void setup(void)
{
    mem = arena_create(0);
}
static void teardown(void)
{
    arena_destroy(mem);
}

static char *printed(const isa_function *f)
{
    size_t n = isa_print(f, NULL, 0);
    char *s = arena_push(mem, n + 1, 1, 1);

    ck_assert_uint_eq(isa_print(f, s, n + 1), n);
    ck_assert_uint_eq(strlen(s), n);
    return s;
}

START_TEST(random_programs)
{
    isa_function f = isa_rig_program(mem, (uint64_t)_i);
    char *s = printed(&f);
    isa_function *g = isa_rig_read(mem, s);

    isa_rig_same(&f, g);
    ck_assert_str_eq(printed(g), s);
}
END_TEST

/* The random programs are worth their name only if nothing is missing. */
START_TEST(random_programs_have_everything)
{
    unsigned seen[ISA_N_OPS] = {0}, predicated = 0, staged = 0;

    for (unsigned seed = 0; seed < N_SEEDS; seed++) {
        isa_function f = isa_rig_program(mem, seed);

        for (uint32_t k = 0; k < f.n_instrs; k++) {
            seen[f.instrs[k].op]++;
            predicated += f.instrs[k].predicated;
            staged += f.instrs[k].stage > 0;
        }
    }
    for (unsigned op = 0; op < ISA_N_OPS; op++)
        ck_assert_msg(seen[op], "%s is in no program", isa_ops[op].name);
    ck_assert_uint_gt(predicated, N_SEEDS / 2);
    ck_assert_uint_gt(staged, N_SEEDS);
}
END_TEST

static const char example[] =
    "function \"a\\22b\" private=64 spills=2\n"
    "vector 0: 000102030405060708090a0b0c0d0eff\n"
    "callee 0: \"exp.f32\"\n"
    "block 0 plain cycles=17 stages=1\n"
    "  0: LSU0.ldarg.u32 i3, args[8] #0 @7:12 || IAU.imov i4, -1 #1\n"
    "  1: LSU0.ldarg.u32 i6, group[4] #2 || LSU1.starg i4, arg[0] #3\n"
    "  2: BRU.call callee[0] #4 cost=3\n"
    "  3..4: -\n"
    "  5: IAU.ldret i5, ret[0] #5\n"
    "  6: -\n"
    "  7: PEU.pred.nz i4 #6 || ?LSU0.st.f16.global i3, [i4 + 8] #7 || "
    "LSU1.ldp.s8.local i7, i8, [sp - 16], 0xffff0000 #8\n"
    "  8: LSU0.vcon v1, vector[0] #9 || SAU.vred.f16.sum i9, v2 #10 || "
    "CMU.vcvt.f32.u8.3 v3, v4 #11\n"
    "  9: BRU.brc.z i4, block[1] #12\n"
    "  10..15: -\n"
    "  16: nop #13\n"
    "block 1 plain cycles=0 stages=0\n";

START_TEST(exactly_this)
{
    isa_function *f = isa_rig_read(mem, example);
    const isa_instr *in = f->instrs;

    ck_assert_str_eq(f->name, "a\"b");
    ck_assert_uint_eq(f->private_bytes, 64);
    ck_assert_uint_eq(f->n_spills, 2);
    ck_assert_uint_eq(f->vectors[0][15], 0xff);
    ck_assert_str_eq(f->callees[0], "exp.f32");
    ck_assert_uint_eq(f->n_blocks, 2);
    ck_assert_uint_eq(f->blocks[0].cycles, 17);
    ck_assert_uint_eq(f->n_instrs, 14);
    ck_assert_uint_eq(in[0].op, ISA_OP_ldarg);
    ck_assert_uint_eq(in[0].unit, ISA_UNIT_LSU0);
    ck_assert_uint_eq(in[0].type, ISA_U32);
    ck_assert_uint_eq(in[0].sub, ISA_ARGS);
    ck_assert_int_eq(in[0].imm, 8);
    ck_assert_uint_eq(in[0].line, 7);
    ck_assert_uint_eq(in[0].col, 12);
    ck_assert_uint_eq(in[1].src[0].kind, ISA_IMM);
    ck_assert_uint_eq(in[1].src[0].number, 0xffffffffu);
    ck_assert_uint_eq(in[2].sub, ISA_GROUP);
    ck_assert_uint_eq(in[4].cost, 3);
    ck_assert_uint_eq(in[4].cycle, 2);
    ck_assert(!in[6].predicated);
    ck_assert_uint_eq(in[6].sub, 1);
    ck_assert(in[7].predicated);
    ck_assert_uint_eq(in[7].sub, ISA_GLOBAL);
    ck_assert_int_eq(in[7].imm, 8);
    ck_assert_uint_eq(in[8].src[0].kind, ISA_SP);
    ck_assert_int_eq(in[8].imm, -16);
    ck_assert_uint_eq(in[8].dst[1].number, 8);
    ck_assert_uint_eq(in[8].src[1].number, 0xffff0000u);
    ck_assert_uint_eq(in[10].sub, ISA_SUM);
    ck_assert_uint_eq(in[11].type, ISA_F32);
    ck_assert_uint_eq(in[11].from, ISA_U8);
    ck_assert_uint_eq(in[11].sub, 3);
    ck_assert_int_eq(in[12].imm, 1);
    ck_assert_uint_eq(in[13].cycle, 16);
    ck_assert_str_eq(printed(f), example);
}
END_TEST

START_TEST(freely_written)
{
    isa_function *f = isa_rig_read(
        mem, "; nothing but what is needed\n"
             "function \"f\" private=0xA0 spills=0 block 0 kernel cycles=4\n"
             "\tstages = 2\r\n"
             "0:IAU.imov i99,0x7F ^1||LSU1.st.u8.local i2,[ i3 ] @ 3 : 4 #1;c\n"
             "3: ?IAU.imov i1, -0x80000000");

    ck_assert_uint_eq(f->private_bytes, 160);
    ck_assert_uint_eq(f->blocks[0].kind, ISA_KERNEL);
    ck_assert_uint_eq(f->n_instrs, 3);
    ck_assert_uint_eq(f->instrs[0].dst[0].number, 99);
    ck_assert_uint_eq(f->instrs[0].src[0].number, 127);
    ck_assert_uint_eq(f->instrs[0].stage, 1);
    ck_assert_uint_eq(f->instrs[1].col, 4);
    ck_assert_uint_eq(f->instrs[1].seq, 1);
    ck_assert_uint_eq(f->instrs[2].cycle, 3);
    ck_assert_uint_eq(f->instrs[2].src[0].number, 0x80000000u);
}
END_TEST

START_TEST(several_functions)
{
    static const char text[] = "function \"a\" private=0 spills=0\n"
                               "function \"b\" private=1 spills=0\n"
                               "block 0 plain cycles=1 stages=1\n"
                               "function \"c\" private=2 spills=0\n";
    isa_memory m = isa_rig_memory(mem);
    char error[ISA_ERROR_BYTES];
    isa_function *fs;
    uint32_t n;

    ck_assert(isa_parse(text, strlen(text), &m, &fs, &n, error));
    ck_assert_uint_eq(n, 3);
    ck_assert_str_eq(fs[1].name, "b");
    ck_assert_uint_eq(fs[1].n_blocks, 1);
    ck_assert_uint_eq(fs[2].private_bytes, 2);
    ck_assert(isa_parse("", 0, &m, &fs, &n, error));
    ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(prints_within_cap)
{
    isa_function *f = isa_rig_read(mem, example);
    char part[100];

    for (size_t cap = 0; cap < 60; cap++) {
        memset(part, 'x', sizeof part);
        ck_assert_uint_eq(isa_print(f, part, cap), strlen(example));
        for (size_t k = cap; k < sizeof part; k++)
            ck_assert_int_eq(part[k], 'x');
        if (cap) {
            ck_assert_uint_eq(strlen(part), cap - 1);
            ck_assert_mem_eq(part, example, cap - 1);
        }
    }
}
END_TEST

#define HEAD "function \"f\" private=0 spills=0\n"
#define BLOCK HEAD "block 0 plain cycles=9 stages=1\n"

static const struct {
    const char *text, *error;
} errors[] = {
    {"fun", "1:1: 'function' expected"},
    {"function f", "1:10: '\"' expected"},
    {"function \"f\n", "1:11: a name without closing quote"},
    {"function \"f\\zz\"", "1:12: \\ and two hexadecimal digits expected, not "
                           "00"},
    {"function \"f\\00\"", "1:12: \\ and two hexadecimal digits expected, not "
                           "00"},
    {"function \"f\" spills=0", "1:14: 'private=' expected"},
    {"function \"f\" private 0", "1:22: '=' expected"},
    {"function \"f\" private=x", "1:22: number expected"},
    {"function \"f\" private=12x", "1:22: number expected"},
    {"function \"f\" private=4294967296",
     "1:22: number too large, at most 4294967295"},
    {HEAD "vector 1: 00", "2:8: number 0 expected"},
    {HEAD "vector 0 00", "2:10: ':' expected"},
    {HEAD "vector 0: 00", "2:11: 32 hexadecimal digits expected"},
    {HEAD "vector 0: 000102030405060708090a0b0c0d0exx",
     "2:11: 32 hexadecimal digits expected"},
    {HEAD "callee 2: \"x\"", "2:8: number 0 expected"},
    {HEAD "callee 0: x", "2:11: '\"' expected"},
    {HEAD "block 1 plain cycles=1 stages=1", "2:7: number 0 expected"},
    {HEAD "block 0 round cycles=1 stages=1", "2:9: kind of block expected"},
    {HEAD "block 0 plain stages=1", "2:15: 'cycles=' expected"},
    {HEAD "block 0 plain cycles=1", "2:23: 'stages=' expected"},
    {BLOCK "0 IAU.imov i1, 2", "3:3: ':' expected"},
    {BLOCK "0..x: -", "3:4: number expected"},
    {BLOCK "0: ALU.imov i1, 2", "3:4: operation expected"},
    {BLOCK "0: IAU imov i1, 2", "3:8: '.' expected"},
    {BLOCK "0: IAU.inov i1, 2", "3:8: operation expected"},
    {BLOCK "0: imov i1, 2", "3:4: unit expected"},
    {BLOCK "0: IAU.nop", "3:8: an operation without unit"},
    {BLOCK "0: IAU.iext i1, i2", "3:13: '.' expected"},
    {BLOCK "0: IAU.iext.x i1, i2", "3:13: type expected"},
    {BLOCK "0: CMU.cvt.f16 i1, i2", "3:16: '.' expected"},
    {BLOCK "0: IAU.icmp.s32.xx i1, i2, i3", "3:17: comparison expected"},
    {BLOCK "0: LSU0.ld.u8.near i1, [i2]",
     "3:15: local, global or const expected"},
    {BLOCK "0: CMU.fround.f32.up i1, i2", "3:19: rounding expected"},
    {BLOCK "0: SAU.vred.f32.mean i1, v2", "3:17: reduction expected"},
    {BLOCK "0: PEU.pred.yes i1", "3:13: z or nz expected"},
    {BLOCK "0: CMU.vext.u8.16 i1, v1", "3:16: number too large, at most 15"},
    {BLOCK "0: IAU.imov 4", "3:14: ',' expected"},
    {BLOCK "0: IAU.imov x4, 4", "3:13: register, sp or number expected"},
    {BLOCK "0: IAU.imov i, 4", "3:13: register, sp or number expected"},
    {BLOCK "0: IAU.imov i1, -4294967296",
     "3:18: number too large, at most 2147483648"},
    {BLOCK "0: LSU0.ld.u8.local i1, i2", "3:25: '[' expected"},
    {BLOCK "0: LSU0.ld.u8.local i1, [i2", "3:28: ']' expected"},
    {BLOCK "0: LSU0.ld.u8.local i1, [i2 + i3]", "3:31: number expected"},
    {BLOCK "0: LSU0.ldarg.u8 i1, arg[2]", "3:22: args or group expected"},
    {BLOCK "0: LSU0.starg i1, ret[2]", "3:19: 'arg[' expected"},
    {BLOCK "0: IAU.ldret i1, arg[2]", "3:18: 'ret[' expected"},
    {BLOCK "0: LSU0.vcon v1, block[2]", "3:18: 'vector[' expected"},
    {BLOCK "0: BRU.bra 3", "3:12: 'block[' expected"},
    {BLOCK "0: BRU.call block[0]", "3:13: 'callee[' expected"},
    {BLOCK "0: BRU.bra block 3", "3:18: '[' expected"},
    {BLOCK "0: BRU.ret @3", "3:14: ':' expected"},
    {BLOCK "0: BRU.ret ^65536", "3:13: number too large, at most 65535"},
    {BLOCK "0: BRU.ret cost 3", "3:17: '=' expected"},
    {BLOCK "0: BRU.ret ||", "3:14: operation expected"},
    {BLOCK "0: BRU.ret | nop", "3:12: 'function' expected"},
    {BLOCK "0: BRU.ret\nvector 0: 00", "4:1: 'function' expected"},
};

START_TEST(errors_say_where)
{
    isa_memory m = isa_rig_memory(mem);
    char error[ISA_ERROR_BYTES];
    isa_function *fs;
    uint32_t n;

    ck_assert_msg(!isa_parse(errors[_i].text, strlen(errors[_i].text), &m, &fs,
                             &n, error),
                  "%s", errors[_i].text);
    ck_assert_str_eq(error, errors[_i].error);
    ck_assert_uint_eq(n, 0);
}
END_TEST

/* Cut anywhere, the text is refused or stands for a shorter program. */
START_TEST(truncation)
{
    isa_memory m = isa_rig_memory(mem);
    char error[ISA_ERROR_BYTES];
    isa_function *fs;
    uint32_t n;

    for (size_t size = 0; size < strlen(example); size++) {
        char *part = arena_push(mem, size + 1, 1, 1);

        memcpy(part, example, size);
        if (isa_parse(part, size, &m, &fs, &n, error))
            ck_assert_uint_le(n, 1);
        else
            ck_assert_uint_ge(strlen(error), 6);
    }
}
END_TEST

static void *limited(void *user, size_t n)
{
    size_t *left = user;

    return (*left)-- ? arena_push(mem, n, 1, 16) : NULL;
}

START_TEST(memory_may_be_short)
{
    char error[ISA_ERROR_BYTES];
    size_t allowed = 0;
    bool done = false;

    for (; !done; allowed++) {
        size_t left = allowed;
        isa_memory m = {limited, &left};
        isa_function *fs;
        uint32_t n;

        done = isa_parse(example, strlen(example), &m, &fs, &n, error);
        if (!done)
            ck_assert_ptr_nonnull(strstr(error, ": out of memory"));
    }
    ck_assert_uint_gt(allowed, 6);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("isa text");
    TCase *t = tcase_create("text");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, random_programs, 0, N_SEEDS);
    tcase_add_test(t, random_programs_have_everything);
    tcase_add_test(t, exactly_this);
    tcase_add_test(t, freely_written);
    tcase_add_test(t, several_functions);
    tcase_add_test(t, prints_within_cap);
    tcase_add_loop_test(t, errors_say_where, 0, sizeof errors / sizeof *errors);
    tcase_add_test(t, truncation);
    tcase_add_test(t, memory_may_be_short);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
