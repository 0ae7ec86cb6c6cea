/* Integer built-ins for all eight types, scalar and vector, against C with
 * 128-bit intermediate values. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "tests/support/rig.h"

typedef __int128 wide;

typedef struct {
    const char *name, *unsigned_name, *twice;
    unsigned bits;
    bool is_signed;
} int_type;

static const int_type types[] = {{"char", "uchar", "short", 8, true},
                                 {"uchar", "uchar", "ushort", 8, false},
                                 {"short", "ushort", "int", 16, true},
                                 {"ushort", "ushort", "uint", 16, false},
                                 {"int", "uint", "long", 32, true},
                                 {"uint", "uint", "ulong", 32, false},
                                 {"long", "ulong", NULL, 64, true},
                                 {"ulong", "ulong", NULL, 64, false}};

/* --- the oracle: results count modulo the result's size ------------------ */

static wide least(const int_type *t)
{
    return t->is_signed ? -((wide)1 << (t->bits - 1)) : 0;
}

static wide most(const int_type *t)
{
    return ((wide)1 << (t->bits - t->is_signed)) - 1;
}

static wide saturated(const int_type *t, wide v)
{
    return v < least(t) ? least(t) : v > most(t) ? most(t) : v;
}

static uint64_t low(const int_type *t, wide v)
{
    return (uint64_t)v & UINT64_MAX >> (64 - t->bits);
}

#define F(name, expression)                                         \
    static wide f_##name(const int_type *t, wide x, wide y, wide z) \
    {                                                               \
        (void)t, (void)x, (void)y, (void)z;                         \
        return expression;                                          \
    }

/* Floor of (x * y) / 2^bits; 64-bit unsigned products need all 128 bits. */
static wide f_mul_hi(const int_type *t, wide x, wide y, wide z)
{
    (void)z;
    if (!t->is_signed)
        return (wide)((unsigned __int128)x * (unsigned __int128)y >> t->bits);
    return x * y >> t->bits;
}

static wide f_mad_sat(const int_type *t, wide x, wide y, wide z)
{
    unsigned __int128 p = (unsigned __int128)x * (unsigned __int128)y;

    if (t->is_signed)
        return saturated(t, x * y + z);
    /* 2^64 - 1 squared and one more 2^64 - 1 just fit */
    p += (unsigned __int128)z;
    return p >> t->bits ? most(t) : (wide)p;
}

static wide f_rotate(const int_type *t, wide x, wide y, wide z)
{
    uint64_t v = low(t, x);
    unsigned n = (unsigned)(low(t, y) % t->bits);

    (void)z;
    return (wide)(n ? v << n | v >> (t->bits - n) : v);
}

static wide f_clz(const int_type *t, wide x, wide y, wide z)
{
    unsigned n = 0;

    (void)y, (void)z;
    while (n < t->bits && !(low(t, x) >> (t->bits - 1 - n) & 1))
        n++;
    return n;
}

static wide f_popcount(const int_type *t, wide x, wide y, wide z)
{
    unsigned n = 0;

    (void)y, (void)z;
    for (unsigned i = 0; i < t->bits; i++)
        n += low(t, x) >> i & 1;
    return n;
}

F(abs, x < 0 ? -x : x)
F(abs_diff, x < y ? y - x : x - y)
F(add_sat, saturated(t, x + y))
F(sub_sat, saturated(t, x - y))
F(hadd, (x + y) >> 1)
F(rhadd, (x + y + 1) >> 1)
F(mad_hi, f_mul_hi(t, x, y, 0) + z)
F(min, x < y ? x : y)
F(max, x < y ? y : x)
F(clamp, x<y ? y : x> z ? z : x)
F(upsample, x *((wide)1 << t->bits) + (wide)low(t, y))
F(mad24, x *y + z)
F(mul24, x *y)

enum { ANY, UNSIGNED, TWICE, ONLY24, ORDERED };

static const struct {
    const char *name;
    unsigned n_args;
    int kind;
    wide (*f)(const int_type *t, wide x, wide y, wide z);
} functions[] = {{"abs", 1, UNSIGNED, f_abs},
                 {"abs_diff", 2, UNSIGNED, f_abs_diff},
                 {"add_sat", 2, ANY, f_add_sat},
                 {"sub_sat", 2, ANY, f_sub_sat},
                 {"hadd", 2, ANY, f_hadd},
                 {"rhadd", 2, ANY, f_rhadd},
                 {"mad_hi", 3, ANY, f_mad_hi},
                 {"mad_sat", 3, ANY, f_mad_sat},
                 {"mul_hi", 2, ANY, f_mul_hi},
                 {"rotate", 2, ANY, f_rotate},
                 {"upsample", 2, TWICE, f_upsample},
                 {"clz", 1, ANY, f_clz},
                 {"popcount", 1, ANY, f_popcount},
                 {"min", 2, ANY, f_min},
                 {"max", 2, ANY, f_max},
                 {"clamp", 3, ORDERED, f_clamp},
                 {"mad24", 3, ONLY24, f_mad24},
                 {"mul24", 2, ONLY24, f_mul24}};

/* --- the test ------------------------------------------------------------ */

enum { N = 65536 };

/* Powers of two and their neighbours, limits, noise. */
static wide value(const int_type *t, uint32_t i)
{
    uint64_t v = (uint64_t)rig_noise(2 * (uint64_t)i) << 32 |
                 rig_noise(2 * (uint64_t)i + 1);
    unsigned how = v & 7, spare = 64 - t->bits;

    v >>= 3;
    if (how < 3)
        v = (UINT64_C(1) << v % t->bits) + (v >> 8) % 3 - 1;
    else if (how < 4)
        v = 0 - (v >> 40 & 3);
    else if (how < 6)
        v >>= v >> 56 & 31;
    if (how == 2)
        v = 0 - v;
    if (t->is_signed)
        return (int64_t)(v << spare) >> spare;
    return (wide)(v << spare >> spare);
}

static void inputs(const int_type *t, int kind, uint32_t i, wide v[3])
{
    for (unsigned k = 0; k < 3; k++) {
        v[k] = value(t, 3 * i + k);
        if (t->bits == 8 && k < 2) /* all pairs */
            v[k] = (int)(i >> 8 * k & 0xff) - (t->is_signed ? 128 : 0);
        if (kind == ONLY24 && k < 2)
            v[k] = t->is_signed ? (int32_t)((uint32_t)v[k] << 8) >> 8
                                : v[k] & 0xffffff;
    }
    if (kind == ORDERED && v[1] > v[2]) {
        wide swap = v[1];

        v[1] = v[2];
        v[2] = swap;
    }
}

static void run(rig *r, const int_type *t, unsigned fn, unsigned width)
{
    unsigned bytes = t->bits / 8, n_args = functions[fn].n_args;
    unsigned n = N / (16 * width) * (16 * width), bad = 0;
    int kind = functions[fn].kind;
    bool twice = kind == TWICE;
    const char *second = twice ? t->unsigned_name : t->name;
    const char *result = twice              ? t->twice
                         : kind == UNSIGNED ? t->unsigned_name
                                            : t->name;
    int_type out_type = {.bits = twice ? 2 * t->bits : t->bits};
    uint8_t *out, *in[3];
    wide v[3];
    str s = {0};

    str_printf(&s,
               "__kernel void k(__global %s *o, __global const %s *a, __global "
               "const %s *b, __global const %s *c)\n{\n"
               "    int i = get_global_id(0);\n    ",
               result, t->name, second, t->name);
    if (width == 1)
        str_printf(&s, "o[i] = %s(", functions[fn].name);
    else
        str_printf(&s, "vstore%u(%s(", width, functions[fn].name);
    for (unsigned k = 0; k < n_args; k++)
        if (width == 1)
            str_printf(&s, "%s%c[i]", k ? ", " : "", 'a' + (int)k);
        else
            str_printf(&s, "%svload%u(i, %c)", k ? ", " : "", width,
                       'a' + (int)k);
    str_printf(&s, width == 1 ? ");\n}\n" : "), i, o);\n}\n");
    rig_compile(r, s.data, "k");
    out = rig_buffer(r, (uint64_t)n * out_type.bits / 8);
    for (unsigned k = 0; k < 3; k++)
        in[k] = rig_buffer(r, (uint64_t)n * bytes);
    for (unsigned i = 0; i < n; i++) {
        inputs(t, kind, i, v);
        for (unsigned k = 0; k < 3; k++) {
            uint64_t bits = (uint64_t)v[k];

            memcpy(in[k] + (size_t)i * bytes, &bits, bytes);
        }
    }
    rig_run_1d(r, n / width / 16, 16);
    for (unsigned i = 0; i < n; i++) {
        uint64_t got = 0, want;

        inputs(t, kind, i, v);
        memcpy(&got, out + (size_t)i * out_type.bits / 8, out_type.bits / 8);
        want = low(&out_type, functions[fn].f(t, v[0], v[1], v[2]));
        if (got != want && !bad++)
            fprintf(stderr,
                    "%s(%s) by %u of %#llx, %#llx, %#llx: %#llx, not %#llx\n",
                    functions[fn].name, t->name, width,
                    (unsigned long long)v[0], (unsigned long long)v[1],
                    (unsigned long long)v[2], (unsigned long long)got,
                    (unsigned long long)want);
    }
    ck_assert_msg(!bad, "%s(%s) by %u: %u of %u differ", functions[fn].name,
                  t->name, width, bad, n);
    str_free(&s);
}

START_TEST(function)
{
    static const unsigned widths[] = {2, 3, 4, 8, 16};
    unsigned fn = (unsigned)_i;
    rig r;

    rig_open(&r);
    rig_heavy(&r);
    for (unsigned i = 0; i < 8; i++) {
        const int_type *t = &types[i];

        if ((functions[fn].kind == TWICE && !t->twice) ||
            (functions[fn].kind == ONLY24 && t->bits != 32))
            continue;
        run(&r, t, fn, 1);
        if ((fn + i) % 2 == 0)
            run(&r, t, fn, widths[(fn + i) / 2 % 5]);
    }
    rig_close(&r);
}
END_TEST

/* min, max and clamp of a vector with scalar bounds. */
START_TEST(scalar_bounds)
{
    const int_type *t = &types[_i];
    unsigned bytes = t->bits / 8;
    uint8_t *out, *in;
    const char *text;
    rig r;

    rig_open(&r);
    rig_heavy(&r);
    text = arena_printf(r.arena,
                        "__kernel void k(__global %s4 *o, __global const %s4 "
                        "*a)\n{\n    int i = get_global_id(0);\n"
                        "    o[3 * i] = min(a[i], (%s)100);\n"
                        "    o[3 * i + 1] = max(a[i], (%s)5);\n"
                        "    o[3 * i + 2] = clamp(a[i], (%s)7, (%s)99);\n}\n",
                        t->name, t->name, t->name, t->name, t->name, t->name);
    rig_compile(&r, text, "k");
    out = rig_buffer(&r, 64 * 12 * bytes);
    in = rig_buffer(&r, 64 * 4 * bytes);
    for (unsigned i = 0; i < 64 * 4; i++) {
        uint64_t bits = (uint64_t)value(t, i);

        memcpy(in + (size_t)i * bytes, &bits, bytes);
    }
    rig_run_1d(&r, 4, 16);
    for (unsigned i = 0; i < 64 * 4; i++) {
        wide v = value(t, i), want[3] = {v < 100 ? v : 100, v > 5 ? v : 5,
                                         v < 7    ? 7
                                         : v > 99 ? 99
                                                  : v};

        for (unsigned k = 0; k < 3; k++) {
            size_t at = (size_t)(i / 4 * 12 + k * 4 + i % 4) * bytes;
            uint64_t got = 0;

            memcpy(&got, out + at, bytes);
            ck_assert_uint_eq(got, low(t, want[k]));
        }
    }
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("built-ins: integers");
    TCase *c = tcase_create("functions");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, function, 0, sizeof functions / sizeof *functions);
    tcase_add_loop_test(c, scalar_bounds, 0, 8);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
