/* convert_*: every pair of types, with and without _sat, in every rounding,
 * against exact arithmetic. */
#include <check.h>
#include <mpfr.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "tests/support/rig.h"

typedef struct {
    const char *name;
    unsigned bits;
    bool is_float, is_signed;
} number_type;

static const number_type types[] = {
    {"char", 8, false, true},   {"uchar", 8, false, false},
    {"short", 16, false, true}, {"ushort", 16, false, false},
    {"int", 32, false, true},   {"uint", 32, false, false},
    {"long", 64, false, true},  {"ulong", 64, false, false},
    {"half", 16, true, true},   {"float", 32, true, true}};

static const struct {
    const char *suffix;
    mpfr_rnd_t rnd;
    bool given;
} modes[] = {{"", MPFR_RNDN, false},
             {"_rte", MPFR_RNDN, true},
             {"_rtz", MPFR_RNDZ, true},
             {"_rtp", MPFR_RNDU, true},
             {"_rtn", MPFR_RNDD, true}};

enum { N_TYPES = 10, N_MODES = 5, MAX_N = 65536 + 48 };

/* --- inputs: the bits of value i of a type ------------------------------- */

static uint32_t float_bits(float f)
{
    uint32_t b;

    memcpy(&b, &f, 4);
    return b;
}

/* Around powers of two, their halves and the limits of the other types. */
static uint64_t boundary(const number_type *t, uint32_t i)
{
    uint64_t noise = (uint64_t)rig_noise(2 * i) << 32 | rig_noise(2 * i + 1);
    int64_t step = (int64_t)(i % 16) - 8;

    if (!t->is_float) {
        uint64_t v = (UINT64_C(1) << (i / 16 % t->bits)) + (uint64_t)step;

        if (i < 16 * t->bits)
            return v;
        if (i < 32 * t->bits)
            return 0 - v;
        return noise >> (noise & 63);
    }
    /* Floats: neighbours of 2^k and of k + 1/2, then any bits. */
    if (i < 16 * 256)
        return (i / 16 << 23) + (uint64_t)(step + 8) - (i / 16 ? 8 : 0);
    if (i < 32 * 256)
        return 0x80000000u | boundary(t, i - 16 * 256);
    if (i < 34 * 256)
        return float_bits((float)((int)i - 33 * 256) * 0.5f);
    if (i < 40 * 256) {
        static const float limits[] = {
            127.5f,   128,      255.5f,        32767.5f,      65535.5f, 65504,
            65520,    65536,    2147483648.0f, 4294967296.0f, 0x1p63f,  0x1p64f,
            0x1p-24f, 0x1p-25f, 0x1p-14f,      0x1.ffcp-15f};
        uint32_t b = float_bits(limits[i / 16 % 16]) + (uint32_t)step;

        return i & 256 ? b | 0x80000000u : b;
    }
    return i < 44 * 256 ? (uint32_t)noise
                        : float_bits((float)(int32_t)noise * 0x1p-10f *
                                     (float)(1 << (noise >> 60)));
}

static uint32_t n_inputs(const number_type *t)
{
    return t->bits == 8 ? 256 + 32 : t->bits == 16 ? 65536 : 48 * 256;
}

static uint64_t input(const number_type *t, uint32_t i)
{
    return t->bits <= 16 ? i * 40503u : boundary(t, i); /* 40503 is odd */
}

/* --- the oracle ---------------------------------------------------------- */

static __int128 as_integer(const number_type *t, uint64_t bits)
{
    unsigned spare = 64 - t->bits;

    if (t->is_signed)
        return (int64_t)(bits << spare) >> spare;
    return bits << spare >> spare;
}

static float as_number(const number_type *t, uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    uint16_t low = (uint16_t)bits;
    _Float16 h;
    float f;

    memcpy(&f, &word, 4);
    memcpy(&h, &low, 2);
    return t->bits == 16 ? (float)h : f;
}

static __int128 clamped(const number_type *t, __int128 v)
{
    __int128 one = 1, low = t->is_signed ? -(one << (t->bits - 1)) : 0;
    __int128 top = (one << (t->bits - t->is_signed)) - 1;

    return v < low ? low : v > top ? top : v;
}

/* A float rounded to an integer that fits in 66 bits, or clamped to those. */
static __int128 rounded(float f, mpfr_rnd_t rnd)
{
    __int128 one = 1, v;
    mpfr_t x;

    if (f != f)
        return 0;
    if (f >= 0x1p65f)
        return one << 65;
    if (f <= -0x1p65f)
        return -(one << 65);
    mpfr_init2(x, 80);
    mpfr_set_flt(x, f, MPFR_RNDN);
    mpfr_rint(x, x, rnd);
    v = (__int128)mpfr_get_d(x, MPFR_RNDN); /* 24 bits at most */
    mpfr_clear(x);
    return v;
}

/* Round x to a half or float with subnormals; its bits. */
static uint64_t to_float_type(const number_type *to, mpfr_t x, mpfr_rnd_t rnd)
{
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_t y;
    int t;
    float f;
    _Float16 h;
    uint16_t hb;

    mpfr_init2(y, to->bits == 16 ? 11 : 24);
    t = mpfr_set(y, x, rnd);
    mpfr_set_emin(to->bits == 16 ? -23 : -148);
    mpfr_set_emax(to->bits == 16 ? 16 : 128);
    t = mpfr_check_range(y, t, rnd);
    mpfr_subnormalize(y, t, rnd);
    f = mpfr_get_flt(y, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    mpfr_clear(y);
    h = (_Float16)f;
    memcpy(&hb, &h, 2);
    return to->bits == 16 ? hb : float_bits(f);
}

static uint64_t convert(const number_type *from, const number_type *to,
                        bool sat, unsigned mode, uint64_t bits)
{
    uint64_t mask = UINT64_MAX >> (64 - to->bits), r;
    mpfr_rnd_t rnd = modes[mode].rnd;
    mpfr_t x;

    if (!to->is_float && !from->is_float) {
        __int128 v = as_integer(from, bits);

        return (uint64_t)(sat ? clamped(to, v) : v) & mask;
    }
    if (!to->is_float) { /* towards zero by default; out of range saturates */
        if (!modes[mode].given)
            rnd = MPFR_RNDZ;
        return (uint64_t)clamped(to, rounded(as_number(from, bits), rnd)) &
               mask;
    }
    mpfr_init2(x, 64);
    if (from->is_float)
        mpfr_set_flt(x, as_number(from, bits), MPFR_RNDN);
    else if (from->is_signed)
        mpfr_set_sj(x, (intmax_t)as_integer(from, bits), MPFR_RNDN);
    else
        mpfr_set_uj(x, (uintmax_t)as_integer(from, bits), MPFR_RNDN);
    r = to_float_type(to, x, rnd);
    mpfr_clear(x);
    return r;
}

static bool is_nan(const number_type *t, uint64_t bits)
{
    return t->is_float && as_number(t, bits) != as_number(t, bits);
}

/* --- the test ------------------------------------------------------------ */

static uint64_t get(const void *p, const number_type *t, uint32_t i)
{
    uint64_t v = 0;

    memcpy(&v, (const uint8_t *)p + (size_t)i * t->bits / 8, t->bits / 8);
    return v;
}

/* Kernel text: element or vector i of every mode to its own buffer. */
static const char *kernel_text(arena *a, const number_type *from,
                               const number_type *to, unsigned width)
{
    str s = {0};
    const char *text;

    str_printf(&s, "__kernel void k(__global const %s *in", from->name);
    for (unsigned m = 0; m < 2 * N_MODES; m++)
        if (m < N_MODES || !to->is_float)
            str_printf(&s, ", __global %s *o%u", to->name, m);
    str_printf(&s, ")\n{\n    int i = get_global_id(0);\n");
    for (unsigned m = 0; m < 2 * N_MODES; m++) {
        const char *sat = m < N_MODES ? "" : "_sat";

        if (m >= N_MODES && to->is_float)
            continue;
        if (width == 1)
            str_printf(&s, "    o%u[i] = convert_%s%s%s(in[i]);\n", m, to->name,
                       sat, modes[m % N_MODES].suffix);
        else
            str_printf(&s,
                       "    vstore%u(convert_%s%u%s%s(vload%u(i, in)), i, "
                       "o%u);\n",
                       width, to->name, width, sat, modes[m % N_MODES].suffix,
                       width, m);
    }
    str_printf(&s, "}\n");
    text = arena_printf(a, "%s", s.data);
    str_free(&s);
    return text;
}

static void run_pair(rig *r, const number_type *from, const number_type *to,
                     unsigned width)
{
    uint32_t most = n_inputs(from), n, bad = 0;
    void *in, *out[2 * N_MODES] = {0};

    if (width > 1 && from->bits == 16)
        most = 6144; /* lanes are computed alike */
    n = most / (16 * width) * 16 * width;
    rig_compile(r, kernel_text(r->arena, from, to, width), "k");
    in = rig_buffer(r, (uint64_t)n * from->bits / 8);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t v = input(from, i);

        memcpy((uint8_t *)in + (size_t)i * from->bits / 8, &v, from->bits / 8);
    }
    for (unsigned m = 0; m < (to->is_float ? 1 : 2) * N_MODES; m++)
        out[m] = rig_buffer(r, (uint64_t)n * to->bits / 8);
    rig_run_1d(r, n / width / 16, 16);
    for (unsigned m = 0; m < (to->is_float ? 1 : 2) * N_MODES; m++) {
        bool sat = m >= N_MODES;

        bad = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint64_t v = get(in, from, i), got = get(out[m], to, i);
            uint64_t want = convert(from, to, sat, m % N_MODES, v);

            if (got == want || (is_nan(to, got) && is_nan(to, want)))
                continue;
            if (!bad++)
                fprintf(stderr,
                        "convert_%s%s%s(%s) by %u of %#llx: %#llx, not %#llx\n",
                        to->name, sat ? "_sat" : "", modes[m % N_MODES].suffix,
                        from->name, width, (unsigned long long)v,
                        (unsigned long long)got, (unsigned long long)want);
        }
        ck_assert_msg(!bad, "convert_%s%s%s(%s) by %u: %u of %u differ",
                      to->name, sat ? "_sat" : "", modes[m % N_MODES].suffix,
                      from->name, width, bad, n);
    }
}

START_TEST(pairs)
{
    static const unsigned widths[] = {2, 3, 4, 8, 16};
    unsigned from = (unsigned)_i;
    rig r;

    rig_open(&r);
    rig_heavy(&r);
    for (unsigned to = 0; to < N_TYPES; to++) {
        run_pair(&r, &types[from], &types[to], 1);
        if ((from + to) % 3 == 0)
            run_pair(&r, &types[from], &types[to], widths[to % 5]);
    }
    rig_close(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("built-ins: conversions");
    TCase *c = tcase_create("from each type");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, pairs, 0, N_TYPES);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
