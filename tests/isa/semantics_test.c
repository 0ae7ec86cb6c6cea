/* What each operation computes, executed by the interpreter, against the
 * oracle. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "isa/interp.h"
#include "tests/isa/isa_oracle.h"
#include "tests/isa/isa_rig.h"

enum { ROUNDS = 60, AT = 16 };

/* --- running one operation ----------------------------------------------- */

static const uint8_t table[16] = {0,  31, 255, 7,  8,  16, 17, 255,
                                  15, 15, 1,   30, 29, 3,  2,  9};

static uint8_t window[128];

static arena *mem;
static void setup(void)
{
    mem = arena_create(0);
}
static void teardown(void)
{
    arena_destroy(mem);
}

/* Loads at 0, the operation at AT, its result stored as soon as it is there. */
static void run(isa_instr in, const oracle_inputs *x, bool immediates,
                oracle_bits *out)
{
    isa_instr prog[16] = {0};
    uint32_t n = 0, end = AT + isa_ops[in.op].lat;
    bool vector = isa_dst_class((isa_op)in.op, 0) == 'v';
    isa_block block = {.kind = ISA_PLAIN, .cycles = end + 8};
    isa_function f = {.name = "one",
                      .blocks = &block,
                      .n_blocks = 1,
                      .instrs = prog,
                      .vectors = (uint8_t(*)[16])(uintptr_t)table,
                      .n_vectors = 1};
    isa_env env = {.window = window};
    arena_mark before = arena_save(mem);
    const char *why;

    for (uint32_t k = 0; k < 3; k++) {
        memcpy(window + 16 * k, x->vectors[k].bytes, 16);
        memcpy(window + 48 + 4 * k, &x->integers[k], 4);
        prog[n++] = (isa_instr){.op = ISA_OP_ldv128,
                                .unit = ISA_UNIT_LSU0,
                                .cycle = 2 * k,
                                .dst = {{ISA_V, k}},
                                .src = {{ISA_IMM, 16 * k}}};
        prog[n++] = (isa_instr){.op = ISA_OP_ld,
                                .unit = ISA_UNIT_LSU0,
                                .type = ISA_U32,
                                .cycle = 2 * k + 1,
                                .dst = {{ISA_I, k}},
                                .src = {{ISA_IMM, 48 + 4 * k}}};
    }
    for (uint32_t k = 0; k < isa_n_src((isa_op)in.op); k++)
        in.src[k] = isa_src_class((isa_op)in.op, k) == 'v'
                        ? (isa_operand){ISA_V, k}
                    : isa_src_class((isa_op)in.op, k) == 'j' && immediates
                        ? (isa_operand){ISA_IMM, x->integers[k]}
                        : (isa_operand){ISA_I, k};
    in.dst[0] = (isa_operand){vector ? ISA_V : ISA_I, 9};
    in.cycle = AT;
    prog[n++] = in;
    prog[n++] = (isa_instr){.op = (uint8_t)(vector ? ISA_OP_stv128 : ISA_OP_st),
                            .unit = ISA_UNIT_LSU0,
                            .type = vector ? ISA_NO_TYPE : ISA_U32,
                            .cycle = end,
                            .src = {in.dst[0], {ISA_IMM, 64}}};
    prog[n++] =
        (isa_instr){.op = ISA_OP_ret, .unit = ISA_UNIT_BRU, .cycle = end + 1};
    block.n_instrs = f.n_instrs = n;
    why = isa_verify(&f, NULL, NULL);
    ck_assert_msg(!why, "%s: %s", isa_ops[in.op].name, why);
    memset(window + 64, 0x55, 16);
    ck_assert_int_eq(isa_rig_run(mem, &f, env), ISA_DONE);
    arena_restore(mem, before);
    memcpy(out->bytes, window + 64, 16);
}

/* --- comparing ----------------------------------------------------------- */

static bool agree(isa_type t, uint32_t a, uint32_t b)
{
    if (oracle_is_real(t) && isnan(oracle_real(t, a)))
        return isnan(oracle_real(t, b));
    return !((a ^ b) & (0xffffffffu >> (32 - oracle_width(t))));
}

/* The type that decides which results are the same. */
static isa_type result_type(const isa_instr *in)
{
    switch (in->op) {
    case ISA_OP_icmp:
    case ISA_OP_fcmp:
    case ISA_OP_vmask:
    case ISA_OP_vext:
    case ISA_OP_vextd: /* zeros above the lane */
    case ISA_OP_iext:
        return ISA_U32;
    case ISA_OP_vcmp:
    case ISA_OP_vins:
    case ISA_OP_vinsd:
    case ISA_OP_vsplat:
        return ISA_U8;
    case ISA_OP_vfadd16:
    case ISA_OP_vfsub16:
    case ISA_OP_vfmul16:
        return ISA_F16;
    case ISA_OP_vfadd32:
    case ISA_OP_vfsub32:
    case ISA_OP_vfmul32:
        return ISA_F32;
    default:
        return in->type ? (isa_type)in->type : ISA_U32;
    }
}

static void check_once(const isa_instr *in, const oracle_inputs *x,
                       bool immediates)
{
    isa_type t = result_type(in);
    oracle_bits got;

    run(*in, x, immediates, &got);
    if (isa_dst_class((isa_op)in->op, 0) == 'v') {
        oracle_bits want = oracle_vector(in, table, x);

        for (unsigned k = 0; k < 128 / oracle_width(t); k++)
            ck_assert_msg(
                agree(t, oracle_lane(t, &want, k), oracle_lane(t, &got, k)),
                "%s.%s.%s.%u lane %u: %x %x -> %x, expected %x",
                isa_ops[in->op].name, isa_type_names[in->type],
                isa_type_names[in->from], in->sub, k,
                oracle_lane(t, &x->vectors[0], k),
                oracle_lane(t, &x->vectors[1], k), oracle_lane(t, &got, k),
                oracle_lane(t, &want, k));
    } else {
        uint32_t want = oracle_word(in, x);

        if (in->op == ISA_OP_iext)
            want = (uint32_t)oracle_whole((isa_type)in->type, want);
        ck_assert_msg(agree(t, want, got.u32[0]),
                      "%s.%s.%s.%u: %x %x -> %x, expected %x",
                      isa_ops[in->op].name, isa_type_names[in->type],
                      isa_type_names[in->from], in->sub, x->integers[0],
                      x->integers[1], got.u32[0], want);
    }
}

/* Values where something happens, as a lane of that width. */
static uint32_t special(uint64_t *seed, unsigned bits)
{
    static const uint32_t halves[] = {
        0,      0x8000, 1,      0x83ff, 0x0400, 0x3c00, 0xbc00, 0x3800, 0x3e00,
        0xc100, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x5bf8, 0x6800, 0x7800};
    static const uint32_t words[] = {
        0,          0x80000000, 1,          0x00800000, 0x3f800000, 0xbf800000,
        0x3f000000, 0x3fc00000, 0xc0200000, 0x7f7fffff, 0x7f800000, 0xff800000,
        0x7fc00000, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x477fefff,
        0x477ff000, 0x33000000, 0x33000001, 0x7fffffff, 0xffffffff, 31,
        32,         33,         0x42fe0000, 0x43000000, 0x437f0000, 0x46fffe00};
    static const uint32_t bytes[] = {0, 1, 7, 8, 9, 0x7f, 0x80, 0xff};

    return bits == 8    ? bytes[isa_rig_random(seed, 8)]
           : bits == 16 ? halves[isa_rig_random(seed, 18)]
                        : words[isa_rig_random(seed, 30)];
}

static void make_inputs(uint64_t *seed, oracle_inputs *x)
{
    static const unsigned widths[] = {8, 16, 32};

    for (unsigned k = 0; k < 3; k++) {
        unsigned w = widths[isa_rig_random(seed, 3)];

        x->integers[k] = isa_rig_random(seed, 3)
                             ? special(seed, w)
                             : isa_rig_random(seed, 0xffffffffu);
        for (unsigned b = 0; b < 16; b++)
            x->vectors[k].bytes[b] = (uint8_t)isa_rig_random(seed, 256);
        for (unsigned l = 0; l < 128 / w; l++)
            if (isa_rig_random(seed, 3))
                oracle_set_lane(w == 8    ? ISA_U8
                                : w == 16 ? ISA_U16
                                          : ISA_U32,
                                &x->vectors[k], l, special(seed, w));
    }
    if (!isa_rig_random(seed, 4)) {
        x->vectors[1] = x->vectors[0];
        x->integers[1] = x->integers[0];
    }
}

/* Rows with a result that comes neither from memory nor from outside. */
static bool computes(isa_op op)
{
    return isa_n_dst(op) && op != ISA_OP_ldarg && op != ISA_OP_ldret &&
           op != ISA_OP_vcon &&
           !(isa_ops[op].flags & (ISA_F_LOAD | ISA_F_STORE));
}

/* Does the verifier take the row with this type, source type, modifier? */
static bool allowed(isa_instr in)
{
    isa_block b = {0, 1, 50, ISA_PLAIN, 1};
    isa_function f = {.name = "",
                      .blocks = &b,
                      .n_blocks = 1,
                      .instrs = &in,
                      .n_instrs = 1,
                      .vectors = (uint8_t(*)[16])(uintptr_t)table,
                      .n_vectors = 1};

    for (unsigned k = 0; k < isa_n_src((isa_op)in.op); k++)
        in.src[k].kind = isa_src_class((isa_op)in.op, k) == 'v' ? ISA_V : ISA_I;
    in.dst[0].kind = isa_dst_class((isa_op)in.op, 0) == 'v' ? ISA_V : ISA_I;
    return !isa_verify(&f, NULL, NULL);
}

START_TEST(every_row)
{
    isa_instr in = {.op = (uint8_t)_i};
    uint64_t seed = (uint64_t)_i;
    unsigned forms = 0;
    oracle_inputs x;

    if (!computes((isa_op)_i))
        return;
    while (!(isa_ops[_i].units >> in.unit & 1))
        in.unit++;
    for (unsigned t = 0; t < ISA_N_TYPES; t++)
        for (unsigned from = 0; from < ISA_N_TYPES; from++)
            for (unsigned sub = 0; sub < 16; sub++) {
                in.type = (uint8_t)t;
                in.from = (uint8_t)from;
                in.sub = (uint8_t)sub;
                if (!allowed(in))
                    continue;
                forms++;
                for (unsigned k = 0; k < ROUNDS; k++) {
                    make_inputs(&seed, &x);
                    check_once(&in, &x, k % 4 == 0);
                }
            }
    ck_assert_uint_gt(forms, 0);
}
END_TEST

/* All halves through the conversions: none is left to chance. */
START_TEST(every_half)
{
    static const isa_type types[] = {ISA_F32, ISA_S32, ISA_U32, ISA_S16,
                                     ISA_U16, ISA_S8,  ISA_U8};
    isa_instr in = {.op = ISA_OP_cvt,
                    .unit = ISA_UNIT_CMU,
                    .from = ISA_F16,
                    .type = types[_i]};
    oracle_inputs x = {0};

    for (uint32_t h = 0; h < 65536; h += 1 + (h % 5 == 0)) {
        x.integers[0] = h;
        check_once(&in, &x, true);
    }
}
END_TEST

/* Halves next to the midpoint of two others, and single values worth a name. */
START_TEST(rounding_to_half)
{
    static const struct {
        float x;
        uint32_t half;
    } cases[] = {{1.00048828125f, 0x3c00},
                 {1.00048840045928955f, 0x3c01},
                 {1.00146484375f, 0x3c02},
                 {65519.996f, 0x7bff},
                 {65520.0f, 0x7c00},
                 {-65520.0f, 0xfc00},
                 {2.98023223876953125e-8f, 0},
                 {2.98023259404089e-8f, 1},
                 {6.0975551605224609e-5f, 0x03ff}};
    isa_instr in = {.op = ISA_OP_cvt,
                    .unit = ISA_UNIT_CMU,
                    .from = ISA_F32,
                    .type = ISA_F16};
    oracle_inputs x = {0};
    oracle_bits out;

    memcpy(&x.integers[0], &cases[_i].x, 4);
    run(in, &x, true, &out);
    ck_assert_uint_eq(out.u32[0], cases[_i].half);
}
END_TEST

/* Above 2^25 floats are 4 apart; above 65504 there are no halves. */
START_TEST(integers_to_floats)
{
    isa_instr in = {.op = ISA_OP_cvt,
                    .unit = ISA_UNIT_CMU,
                    .from = ISA_U32,
                    .type = ISA_F32};
    oracle_inputs x = {.integers = {33554435}};
    oracle_bits out;

    run(in, &x, true, &out);
    ck_assert_uint_eq(out.u32[0], 0x4c000001);
    in.type = ISA_F16;
    x.integers[0] = 4294967295u;
    run(in, &x, true, &out);
    ck_assert_uint_eq(out.u32[0], 0x7c00);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("isa semantics");
    TCase *t = tcase_create("rows");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, every_row, 0, ISA_N_OPS);
    tcase_add_loop_test(t, every_half, 0, 7);
    tcase_add_loop_test(t, rounding_to_half, 0, 9);
    tcase_add_test(t, integers_to_floats);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
