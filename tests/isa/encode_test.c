/* The serialised form: exact both ways, and any bytes are survived. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/isa/isa_rig.h"

enum { N_SEEDS = 20 };

static arena *mem;

static void setup(void)
{
    mem = arena_create(0);
}
static void teardown(void)
{
    arena_destroy(mem);
}

static uint8_t *encoded(const isa_function *fs, uint32_t n, size_t *size)
{
    uint8_t *out;

    *size = isa_encode(fs, n, NULL, 0);
    out = arena_push(mem, *size, 1, 1);
    ck_assert_uint_eq(isa_encode(fs, n, out, *size), *size);
    return out;
}

START_TEST(round_trip)
{
    isa_function fs[2] = {isa_rig_program(mem, (uint64_t)_i),
                          isa_rig_program(mem, (uint64_t)_i + 1000)},
                 *back;
    isa_memory m = isa_rig_memory(mem);
    size_t size;
    uint8_t *bytes = encoded(fs, 2, &size);
    const char *why;
    uint32_t n;

    why = isa_decode(bytes, size, &m, &back, &n);
    ck_assert_msg(!why, "%s", why);
    ck_assert_uint_eq(n, 2);
    isa_rig_same(&fs[0], &back[0]);
    isa_rig_same(&fs[1], &back[1]);
}
END_TEST

START_TEST(nothing_to_write)
{
    isa_memory m = isa_rig_memory(mem);
    isa_function *back;
    size_t size;
    uint8_t *bytes = encoded(NULL, 0, &size);
    uint32_t n = 7;

    ck_assert_ptr_null(isa_decode(bytes, size, &m, &back, &n));
    ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(writes_within_cap)
{
    isa_function f = isa_rig_program(mem, 5);
    size_t size;
    uint8_t *bytes = encoded(&f, 1, &size), part[64];

    memset(part, 0xaa, sizeof part);
    ck_assert_uint_eq(isa_encode(&f, 1, part, 40), size);
    ck_assert_mem_eq(part, bytes, 40);
    for (size_t k = 40; k < sizeof part; k++)
        ck_assert_uint_eq(part[k], 0xaa);
}
END_TEST

/* Decodes an exact copy, so that sanitizers see a read past its end. */
static const char *decoded(const uint8_t *bytes, size_t size)
{
    arena *a = arena_create(0);
    isa_memory m = isa_rig_memory(a);
    uint8_t *copy = malloc(size ? size : 1);
    isa_function *fs;
    uint32_t n;
    const char *why;

    memcpy(copy, bytes, size);
    why = isa_decode(copy, size, &m, &fs, &n);
    for (uint32_t k = 0; k < n; k++) {
        isa_verify(&fs[k], NULL, NULL);
        isa_print(&fs[k], NULL, 0);
    }
    free(copy);
    arena_destroy(a);
    return why;
}

START_TEST(truncation)
{
    isa_function f = isa_rig_program(mem, 1);
    size_t size;
    uint8_t *bytes = encoded(&f, 1, &size);

    for (size_t k = 0; k < size; k++)
        ck_assert_ptr_nonnull(decoded(bytes, k));
    ck_assert_ptr_null(decoded(bytes, size));
}
END_TEST

START_TEST(bit_flips)
{
    isa_function f = isa_rig_program(mem, 2);
    size_t size, accepted = 0;
    uint8_t *bytes = encoded(&f, 1, &size);

    for (size_t k = 0; k < size; k++) {
        bytes[k] ^= (uint8_t)(1 << k % 8);
        accepted += !decoded(bytes, size);
        bytes[k] ^= (uint8_t)(1 << k % 8);
    }
    /* Cycles, lines, registers may be anything; counts and kinds may not. */
    ck_assert_uint_gt(accepted, size / 4);
    ck_assert_uint_lt(accepted, size);
}
END_TEST

static const isa_function tiny = {
    .name = "f",
    .blocks = (isa_block[]){{0, 1, 7, 0, 0}},
    .n_blocks = 1,
    .instrs = (isa_instr[]){{.op = ISA_OP_ret, .unit = ISA_UNIT_BRU}},
    .n_instrs = 1};

/* Offsets of tiny: 12 bytes of header, name 4 + 1, 6 counts of 4; then the
 * block's 17 bytes and the operation's 57. */
enum { COUNTS = 17, BLOCK = 41, INSTR = 58 };

static const struct {
    size_t at;
    uint8_t value;
    const char *why;
} damages[] = {
    {0, 'X', "not a SHAVE program"},
    {4, 99, "a SHAVE program of another version"},
    {11, 0xff, "the program ends too early"}, /* functions */
    {12, 0xff, "the program ends too early"}, /* length of the name */
    {16, 0, "a name with a zero in it"},
    {COUNTS + 11, 0x10, "the program ends too early"}, /* vectors */
    {COUNTS + 15, 0x10, "the program ends too early"}, /* callees */
    {COUNTS + 19, 0x10, "the program ends too early"}, /* blocks */
    {COUNTS + 23, 0x10, "the program ends too early"}, /* operations */
    {BLOCK, 2, "a block of operations that are not there"},
    {BLOCK + 4, 2, "a block of operations that are not there"},
    {BLOCK + 12, 4, "there is no such kind of block"},
    {INSTR, ISA_N_OPS, "there is no such operation"},
    {INSTR + 1, ISA_N_UNITS, "there is no such unit"},
    {INSTR + 2, ISA_N_TYPES, "there is no such type"},
    {INSTR + 3, ISA_N_TYPES, "there is no such type"},
    {INSTR + 4, 1, "a modifier out of its range"},
    {INSTR + 5, 2, "a flag that is not 0 or 1"},
    {INSTR + 8, ISA_IMM + 1, "there is no such kind of operand"},
    {COUNTS + 20, 0, "a block of operations that are not there"},
};

START_TEST(each_field_is_checked)
{
    size_t size;
    uint8_t *bytes = encoded(&tiny, 1, &size);
    const char *why;

    ck_assert_uint_eq(size, INSTR + 57);
    ck_assert_ptr_null(decoded(bytes, size));
    bytes[damages[_i].at] = damages[_i].value;
    why = decoded(bytes, size);
    ck_assert_ptr_nonnull(why);
    ck_assert_str_eq(why, damages[_i].why);
}
END_TEST

START_TEST(nothing_may_follow)
{
    size_t size;
    uint8_t *bytes = encoded(&tiny, 1, &size), more[200] = {0};

    memcpy(more, bytes, size);
    ck_assert_str_eq(decoded(more, size + 1), "bytes behind the program");
}
END_TEST

static void *nothing(void *user, size_t n)
{
    size_t *left = user;

    (void)n;
    return (*left)-- ? arena_push(mem, n, 1, 16) : NULL;
}

START_TEST(memory_may_be_short)
{
    isa_function f = isa_rig_program(mem, 3), *back;
    size_t size, tries = 0;
    uint8_t *bytes = encoded(&f, 1, &size);
    const char *why = "";

    for (size_t allowed = 0; why; allowed++, tries++) {
        size_t left = allowed;
        isa_memory m = {nothing, &left};
        uint32_t n;

        why = isa_decode(bytes, size, &m, &back, &n);
        if (why)
            ck_assert_str_eq(why, "out of memory");
    }
    ck_assert_uint_gt(tries, 6);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("isa encode");
    TCase *t = tcase_create("encode");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, round_trip, 0, N_SEEDS);
    tcase_add_test(t, nothing_to_write);
    tcase_add_test(t, writes_within_cap);
    tcase_add_test(t, truncation);
    tcase_add_test(t, bit_flips);
    tcase_add_loop_test(t, each_field_is_checked, 0,
                        sizeof damages / sizeof *damages);
    tcase_add_test(t, nothing_may_follow);
    tcase_add_test(t, memory_may_be_short);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
