/* Integers of more than 32 bits: widths between 33 and 63, and vectors of
 * longs and reductions, against C on both engines. */
#include <check.h>

#include "tests/support/rig.h"

enum { N = 96 };

/* --- widths that C has no type for --------------------------------------- */

static ulong low(ulong v, unsigned bits)
{
    return v & ((1ul << bits) - 1);
}

static long sign(ulong v, unsigned bits)
{
    ulong least = 1ul << (bits - 1);

    return (long)((low(v, bits) ^ least) - least);
}

/* x and y have bits bits. */
typedef ulong host_fn(ulong x, ulong y, unsigned bits);

static ulong product(ulong x, ulong y, unsigned bits)
{
    return low(x * y + 3, bits);
}

static ulong quotient(ulong x, ulong y, unsigned bits)
{
    return low(x + y, bits) / (low(x, 7) + 1);
}

static ulong shifted(ulong x, ulong y, unsigned bits)
{
    return low(x - y, bits) >> (x & 31);
}

static ulong compared(ulong x, ulong y, unsigned bits)
{
    return low(x + y, bits) < x;
}

static ulong signed_sum(ulong x, ulong y, unsigned bits)
{
    return (ulong)sign(x + y, bits);
}

static ulong signed_quotient(ulong x, ulong y, unsigned bits)
{
    return (ulong)(sign(x ^ y, bits) / 13);
}

static const struct {
    const char *type, *text;
    host_fn *host;
} operations[] = {
    {"unsigned", "x * y + 3", product},
    {"unsigned", "(U)(x + y) / (U)((x & 127) + 1)", quotient},
    {"unsigned", "(U)(x - y) >> (int)(x & 31)", shifted},
    {"unsigned", "(U)(x + y) < x", compared},
    {"signed", "(long)(S)(U)((U)x + (U)y)", signed_sum},
    {"signed", "(long)((S)(x ^ y) / 13)", signed_quotient},
};
enum { N_OPERATIONS = sizeof operations / sizeof *operations };
static const unsigned widths[] = {33, 40, 63};
enum { N_WIDTHS = sizeof widths / sizeof *widths };

START_TEST(odd_widths)
{
    unsigned bits = widths[_i % N_WIDTHS], op = (unsigned)_i / N_WIDTHS;
    ulong *out, *a, *b;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                arena_printf(r.arena,
                             "typedef unsigned _BitInt(%u) U;\n"
                             "typedef signed _BitInt(%u) S;\n"
                             "__kernel void k(__global ulong *out,\n"
                             "                __global const ulong *a,\n"
                             "                __global const ulong *b)\n{\n"
                             "    int i = get_global_id(0);\n"
                             "    %s _BitInt(%u) x = a[i], y = b[i];\n"
                             "    out[i] = (ulong)(%s);\n}\n",
                             bits, bits, operations[op].type, bits,
                             operations[op].text),
                "k");
    out = rig_buffer(&r, N * sizeof *out);
    a = rig_buffer(&r, N * sizeof *a);
    b = rig_buffer(&r, N * sizeof *b);
    for (uint32_t i = 0; i < N; i++) {
        a[i] = (ulong)rig_noise(4 * i) << 32 | rig_noise(4 * i + 1);
        b[i] = (ulong)rig_noise(4 * i + 2) << 32 | rig_noise(4 * i + 3);
    }
    rig_run_1d(&r, 6, N / 6);
    for (int i = 0; i < N; i++) {
        ulong want =
            operations[op].host(low(a[i], bits), low(b[i], bits), bits);

        ck_assert_msg(out[i] == want,
                      "%s, %u bits, of %lx and %lx: %lx, expected %lx",
                      operations[op].text, bits, a[i], b[i], out[i], want);
    }
    rig_close(&r);
}
END_TEST

/* --- a choice between vectors -------------------------------------------- */

/* One condition for all lanes, or one for each. */
START_TEST(chosen_vectors)
{
    static const char *const choices[] = {
        "a[i] & 1 ? x * 3 : y ^ 5",
        "select(y ^ 5, x * 3, (long4)(a[i] << 63))",
    };
    long *out, *a;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                arena_printf(r.arena,
                             "__kernel void k(__global long *out,\n"
                             "                __global const long *a)\n{\n"
                             "    int i = get_global_id(0);\n"
                             "    long4 x = vload4(i, a), y = x.wzyx;\n"
                             "    vstore4(%s, i, out);\n}\n",
                             choices[_i]),
                "k");
    out = rig_buffer(&r, 4 * N * sizeof *out);
    a = rig_buffer(&r, 4 * N * sizeof *a);
    for (uint32_t i = 0; i < 4 * N; i++)
        a[i] = (long)((ulong)rig_noise(2 * i) << 28 ^ rig_noise(2 * i + 1));
    rig_run_1d(&r, 6, N / 6);
    for (int i = 0; i < N; i++)
        for (int l = 0; l < 4; l++)
            ck_assert_int_eq(out[4 * i + l], a[i] & 1 ? a[4 * i + l] * 3
                                                      : a[4 * i + 3 - l] ^ 5);
    rig_close(&r);
}
END_TEST

/* --- sums of a loop ------------------------------------------------------ */

/* Without the loop, such a sum takes integers of more than 64 bits. */
START_TEST(sums_of_a_loop)
{
    ulong *out, *a;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                "__kernel void k(__global ulong *out,\n"
                "                __global const ulong *a)\n{\n"
                "    int i = get_global_id(0);\n"
                "    ulong sum = 0, n = a[i];\n"
                "    for (ulong k = 0; k < n; k++)\n"
                "        sum += k;\n"
                "    out[i] = sum;\n}\n",
                "k");
    out = rig_buffer(&r, N * sizeof *out);
    a = rig_buffer(&r, N * sizeof *a);
    for (uint32_t i = 0; i < N; i++)
        a[i] = i + 1;
    rig_run_1d(&r, 6, N / 6);
    for (ulong i = 0; i < N; i++)
        ck_assert_uint_eq(out[i], i * (i + 1) / 2);
    rig_close(&r);
}
END_TEST

/* --- an element by its number -------------------------------------------- */

START_TEST(elements_by_number)
{
    ulong *out, *a;
    rig r;

    rig_open(&r);
    rig_compile(&r,
                "__kernel void k(__global ulong *out,\n"
                "                __global const ulong *a)\n{\n"
                "    int i = get_global_id(0);\n"
                "    ulong4 x = vload4(i, a);\n"
                "    out[i] = x[x.x & 3];\n}\n",
                "k");
    out = rig_buffer(&r, N * sizeof *out);
    a = rig_buffer(&r, 4 * N * sizeof *a);
    for (uint32_t i = 0; i < 4 * N; i++)
        a[i] = (ulong)rig_noise(2 * i) << 32 | rig_noise(2 * i + 1);
    rig_run_1d(&r, 6, N / 6);
    for (int i = 0; i < N; i++)
        ck_assert_uint_eq(out[i], a[4 * i + (int)(a[4 * i] & 3)]);
    rig_close(&r);
}
END_TEST

/* --- reductions ---------------------------------------------------------- */

static int add(int x, int y)
{
    return (int)((unsigned)x + (unsigned)y);
}

static int mul(int x, int y)
{
    return (int)((unsigned)x * (unsigned)y);
}

static int and (int x, int y)
{
    return x & y;
}

static int or (int x, int y)
{
    return x | y;
}

static int xor (int x, int y) { return x ^ y; }

    static int min(int x, int y)
{
    return x < y ? x : y;
}

static int max(int x, int y)
{
    return x > y ? x : y;
}

static const struct {
    const char *name;
    int (*host)(int x, int y);
} reductions[] = {{"add", add}, {"mul", mul}, {"and", and}, {"or", or },
                  {"xor", xor}, {"min", min}, {"max", max}};

/* Clang's own, of vectors that fill one, two and four registers. */
START_TEST(reductions_of_vectors)
{
    static const int lanes[] = {4, 8, 16};
    int *out, *a;
    rig r;

    for (int k = 0; k < 3; k++) {
        rig_open(&r);
        rig_compile(&r,
                    arena_printf(r.arena,
                                 "__kernel void k(__global int *out,\n"
                                 "                __global const int *a)\n{\n"
                                 "    int i = get_global_id(0);\n"
                                 "    out[i] = __builtin_reduce_%s("
                                 "vload%d(i, a));\n}\n",
                                 reductions[_i].name, lanes[k]),
                    "k");
        out = rig_buffer(&r, N * sizeof *out);
        a = rig_buffer(&r, (uint64_t)(N * lanes[k]) * sizeof *a);
        for (int i = 0; i < N * lanes[k]; i++)
            a[i] = (int)rig_noise((uint64_t)i);
        rig_run_1d(&r, 6, N / 6);
        for (int i = 0; i < N; i++) {
            int want = a[i * lanes[k]];

            for (int l = 1; l < lanes[k]; l++)
                want = reductions[_i].host(want, a[i * lanes[k] + l]);
            ck_assert_int_eq(out[i], want);
        }
        rig_close(&r);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("kernels: wide integers");
    TCase *c = tcase_create("wide integers");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, odd_widths, 0, N_OPERATIONS * N_WIDTHS);
    tcase_add_loop_test(c, chosen_vectors, 0, 2);
    tcase_add_test(c, sums_of_a_loop);
    tcase_add_test(c, elements_by_number);
    tcase_add_loop_test(c, reductions_of_vectors, 0,
                        sizeof reductions / sizeof *reductions);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
