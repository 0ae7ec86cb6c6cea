/* Built-ins with a second result, relational and common functions: float and
 * half, scalar and vectors, over pairs of special and random values. */
#include <check.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <string.h>

#include "sim/builtins/routines.h"
#include "tests/support/rig.h"

typedef struct {
    bool half, vector;
    double x, y, r, s; /* inputs, results */
} sample;

static double narrowed(const sample *c, double v)
{
    return c->half ? (double)(builtin_half)v : (double)(float)v;
}

/* A relation: 1 in scalars, -1 in vectors. */
static double truth(const sample *c, bool v)
{
    return v ? c->vector ? -1 : 1 : 0;
}

static uint32_t bits_of(const sample *c, double v)
{
    builtin_half h = (builtin_half)v;
    float f = (float)v;
    uint32_t r = 0;

    if (c->half)
        memcpy(&r, &h, 2);
    else
        memcpy(&r, &f, 4);
    return r;
}

static double of_bits(const sample *c, uint32_t b)
{
    builtin_half h;
    float f;

    memcpy(&h, &b, 2);
    memcpy(&f, &b, 4);
    return c->half ? (double)h : (double)f;
}

static double next(const sample *c)
{
    uint32_t sign = c->half ? 0x8000 : 0x80000000, b = bits_of(c, c->x);

    if (isnan(c->x) || isnan(c->y))
        return NAN;
    if (c->x == c->y)
        return c->y;
    if (c->x == 0)
        return of_bits(c, c->y > 0 ? 1 : sign | 1);
    return of_bits(c, (c->y > c->x) == (c->x > 0) ? b + 1 : b - 1);
}

static long quotient(double x, double y)
{
    mpfr_t a, b, r;
    long q = 0;

    if (!isfinite(x) || isnan(y) || y == 0)
        return 0;
    mpfr_inits2(53, a, b, r, (mpfr_ptr)0);
    mpfr_set_d(a, x, MPFR_RNDN);
    mpfr_set_d(b, y, MPFR_RNDN);
    mpfr_remquo(r, &q, a, b, MPFR_RNDN);
    mpfr_clears(a, b, r, (mpfr_ptr)0);
    return q < 0 ? -(-q & 0x7f) : q & 0x7f;
}

static double gamma_sign(double x)
{
    if (isnan(x) || (x < 0 && x == floor(x)))
        return 0;
    if (x > 0)
        return 1;
    return x == 0 ? (signbit(x) ? -1 : 1) : fmod(floor(x), 2) ? -1 : 1;
}

/* X(name, device statements on x, y, i, o and p, host expressions for both) */
#define ROWS(X)                                                                \
    X(fract, "T s; PUT(fract(x, &s), o); PUT(s, p);",                          \
      isinf(x)             ? copysign(0, x)                                    \
      : x == 0 || isnan(x) ? x                                                 \
                           : fmin(narrowed(c, x - floor(x)),                   \
                                  c->half ? 0x1.ffcp-1 : 0x1.fffffep-1),       \
      floor(x))                                                                \
    X(modf, "T s; PUT(modf(x, &s), o); PUT(s, p);",                            \
      isinf(x) ? copysign(0, x) : copysign(x - trunc(x), x), trunc(x))         \
    X(frexp, "K k; PUT(frexp(x, &k), o); PUT(OF_K(k), p);", frexp(x, &k),      \
      isfinite(x) ? (frexp(x, &k), k) : 0)                                     \
    X(lgamma_r, "K k; PUT(lgamma_r(x, &k) - lgamma(x), o); PUT(OF_K(k), p);",  \
      isfinite(narrowed(c, lgamma(x))) ? 0 : NAN, gamma_sign(x))               \
    X(remquo, "K k; PUT(remquo(x, y, &k), o); PUT(OF_K(k), p);",               \
      remainder(x, y), quotient(x, y))                                         \
    X(sincos, "T s; PUT(sincos(x, &s) - sin(x), o); PUT(s - cos(x), p);",      \
      isfinite(x) ? 0 : NAN, isfinite(x) ? 0 : NAN)                            \
    X(nextafter, "PUT(nextafter(x, y), o); PUT(nextafter(y, x), p);", next(c), \
      (swap = *c, swap.x = y, swap.y = x, next(&swap)))                        \
    X(nan, "PUT(nan(U_OF(x)), o); PUT(x, p);", NAN, x)                         \
    X(fract_local,                                                             \
      "__local T *s = w + get_local_id(0); PUT(fract(x, s), o); "              \
      "PUT(*s, p);",                                                           \
      isinf(x)             ? copysign(0, x)                                    \
      : x == 0 || isnan(x) ? x                                                 \
                           : fmin(narrowed(c, x - floor(x)),                   \
                                  c->half ? 0x1.ffcp-1 : 0x1.fffffep-1),       \
      floor(x))                                                                \
    X(isnan, "PUT(REL(isnan(x)), o); PUT(REL(signbit(x)), p);",                \
      truth(c, isnan(x)), truth(c, signbit(x)))                                \
    X(isinf, "PUT(REL(isinf(x)), o); PUT(REL(isfinite(x)), p);",               \
      truth(c, isinf(x)), truth(c, isfinite(x)))                               \
    X(isnormal, "PUT(REL(isnormal(x)), o); PUT(REL(isordered(x, y)), p);",     \
      truth(c, isfinite(x) && fabs(x) >= (c->half ? 0x1p-14 : 0x1p-126)),      \
      truth(c, !isnan(x) && !isnan(y)))                                        \
    X(isequal, "PUT(REL(isequal(x, y)), o); PUT(REL(isnotequal(x, y)), p);",   \
      truth(c, x == y), truth(c, x != y))                                      \
    X(isgreater,                                                               \
      "PUT(REL(isgreater(x, y)), o); PUT(REL(isgreaterequal(x, y)), p);",      \
      truth(c, x > y), truth(c, x >= y))                                       \
    X(isless, "PUT(REL(isless(x, y)), o); PUT(REL(islessequal(x, y)), p);",    \
      truth(c, x < y), truth(c, x <= y))                                       \
    X(islessgreater,                                                           \
      "PUT(REL(islessgreater(x, y)), o); PUT(REL(isunordered(x, y)), p);",     \
      truth(c, x<y || x> y), truth(c, isnan(x) || isnan(y)))                   \
    X(select, "PUT(select(x, y, (I)isless(x, y)), o); PUT(x < y ? x : y, p);", \
      x < y ? y : x, x < y ? x : y)                                            \
    X(bitselect, "PUT(bitselect(x, y, x), o); PUT(bitselect(x, y, y), p);",    \
      of_bits(c, (bits_of(c, x) & ~bits_of(c, x)) |                            \
                     (bits_of(c, y) & bits_of(c, x))),                         \
      of_bits(c, (bits_of(c, x) & ~bits_of(c, y)) | bits_of(c, y)))            \
    X(sign, "PUT(sign(x), o); PUT(step(x, y), p);",                            \
      isnan(x) ? 0                                                             \
      : x > 0  ? 1                                                             \
      : x < 0  ? -1                                                            \
               : x,                                                             \
      y < x ? 0 : 1)                                                           \
    X(min_max, "PUT(min(x, y), o); PUT(max(x, y), p);", y < x ? y : x,         \
      x < y ? y : x)                                                           \
    X(number, "PUT(fmin(x, y), o); PUT(fmax(x, y), p);",                       \
      isnan(x) || y < x ? y : x, isnan(x) || x < y ? y : x)                    \
    X(mix, "PUT(mix(x, y, (T)0.25f), o); PUT(mix(x, y, (E)0.25f), p);",        \
      narrowed(c, x + narrowed(c, narrowed(c, y - x) * 0.25)),                 \
      narrowed(c, x + narrowed(c, narrowed(c, y - x) * 0.25)))                 \
    X(clamp, "PUT(clamp(x, (T)-2, (T)3), o); PUT(clamp(x, (E)-2, (E)3), p);",  \
      isnan(x) ? NAN                                                           \
      : x < -2 ? -2                                                            \
      : x > 3  ? 3                                                             \
               : x,                                                             \
      isnan(x) ? NAN                                                           \
      : x < -2 ? -2                                                            \
      : x > 3  ? 3                                                             \
               : x)                                                             \
    X(smoothstep,                                                              \
      "PUT(smoothstep((T)0, (T)4, x), o); PUT(smoothstep((E)0, (E)4, x), p);", \
      smooth(c, x), smooth(c, x))

static double smooth(const sample *c, double x)
{
    double t = narrowed(c, x / 4);

    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return narrowed(c,
                    narrowed(c, t * t) * narrowed(c, 3 - narrowed(c, 2 * t)));
}

#define HOST(name, text, first, second) \
    static void host_##name(sample *c)  \
    {                                   \
        double x = c->x, y = c->y;      \
        sample swap;                    \
        int k = 0;                      \
                                        \
        (void)x, (void)y, (void)swap;   \
        (void)k;                        \
        c->r = first;                   \
        c->s = second;                  \
    }
ROWS(HOST)

static const struct {
    const char *name, *text;
    void (*host)(sample *c);
} rows[] = {
#define ROW(name, text, first, second) {#name, text, host_##name},
    ROWS(ROW)};

enum { N = 16 * 48 * 16 };

static const double specials[] = {0.0,
                                  -0.0,
                                  1,
                                  -1,
                                  0.5,
                                  -0.5,
                                  1.5,
                                  -1.5,
                                  2.5,
                                  -2.5,
                                  3,
                                  -3.25,
                                  4,
                                  100.75,
                                  -100.25,
                                  1000,
                                  0x1p-24,
                                  -0x1p-24,
                                  0x1p-14,
                                  -0x1p-15,
                                  0x1.ffcp-15,
                                  65504,
                                  -65504,
                                  INFINITY,
                                  -INFINITY,
                                  NAN,
                                  -7,
                                  0x1.ffcp-1,
                                  1.0009765625,
                                  2047,
                                  -2048,
                                  0x1p-149,
                                  0x1.fffffep127,
                                  0x1p-126,
                                  -0x1p-130,
                                  0x1p24,
                                  16777215};

static void fill(sample *c, uint32_t i)
{
    uint32_t n = sizeof specials / sizeof *specials, r = rig_noise(i);

    if (i < n * n) {
        c->x = narrowed(c, specials[i % n]);
        c->y = narrowed(c, specials[i / n]);
    } else {
        c->x = of_bits(c, i & 1 ? r : bits_of(c, (int32_t)r * 0x1p-24));
        c->y = of_bits(c, rig_noise(~(uint64_t)i));
    }
    if (isnan(c->x)) /* one NaN, whose sign is known */
        c->x = of_bits(c, c->half ? 0x7e00 : 0x7fc00000);
    if (isnan(c->y))
        c->y = of_bits(c, c->half ? 0x7e00 : 0x7fc00000);
}

static const char *source(arena *a, const char *body, bool half, unsigned width)
{
    const char *t = half ? "half" : "float", *w = "";
    const char *load = "p[i]", *rel = "((T)(e))", *put = "((p)[i] = (v))";
    const char *of_k = "((T)(k))", *u_of = "as_uint(x)";

    if (half)
        u_of = "as_ushort(x)";
    if (width > 1) {
        w = arena_printf(a, "%u", width);
        load = arena_printf(a, "vload%u(i, p)", width);
        put = arena_printf(a, "vstore%u(v, i, p)", width);
        of_k = arena_printf(a, "convert_%s%u(k)", t, width);
        rel = arena_printf(a, "convert_%s%u(e)", t, width);
        u_of = arena_printf(a, "as_%s%u(x)", half ? "ushort" : "uint", width);
    }
    return arena_printf(
        a,
        "typedef %s%s T;\ntypedef %s E;\ntypedef int%s K;\ntypedef %s%s I;\n"
        "#define GET(p) %s\n#define PUT(v, p) %s\n#define REL(e) %s\n"
        "#define OF_K(k) %s\n#define U_OF(x) %s\n"
        "__kernel void k(__global %s *o, __global %s *p, __global const %s *a, "
        "__global const %s *b)\n{\n    int i = get_global_id(0);\n"
        "    __local T w[16];\n"
        "    T x = GET(a), y = GET(b);\n    %s\n}\n",
        t, w, t, w, half ? "short" : "int", w, load, put, rel, of_k, u_of, t, t,
        t, t, body);
}

static double at(const void *p, bool half, uint32_t i)
{
    return half ? (double)((const builtin_half *)p)[i]
                : (double)((const float *)p)[i];
}

static bool same(double x, double y)
{
    return (isnan(x) && isnan(y)) ||
           (x == y && (x != 0 || !signbit(x) == !signbit(y)));
}

/* Zeros from -0 truths and from 0/0 sign are not of interest in relations. */
static bool agrees(double x, double y, const char *text)
{
    return same(x, y) || (x == 0 && y == 0 &&
                          (strstr(text, "REL") || strstr(text, "OF_K") ||
                           strstr(text, " - ") || strstr(text, "mix")));
}

static void run(unsigned row, bool half, unsigned width)
{
    size_t bytes = half ? 2 : 4;
    void *o, *p, *a, *b;
    rig r;

    rig_open(&r);
    rig_compile(&r, source(r.arena, rows[row].text, half, width), "k");
    o = rig_buffer(&r, N * bytes);
    p = rig_buffer(&r, N * bytes);
    a = rig_buffer(&r, N * bytes);
    b = rig_buffer(&r, N * bytes);
    for (uint32_t i = 0; i < N; i++) {
        sample c = {.half = half};
        uint32_t bits;

        fill(&c, i);
        bits = bits_of(&c, c.x);
        memcpy((uint8_t *)a + i * bytes, &bits, bytes);
        bits = bits_of(&c, c.y);
        memcpy((uint8_t *)b + i * bytes, &bits, bytes);
    }
    rig_run_1d(&r, N / width / 16, 16);
    for (uint32_t i = 0; i < N; i++) {
        sample c = {.half = half, .vector = width > 1};
        double first = at(o, half, i), second = at(p, half, i);

        fill(&c, i);
        rows[row].host(&c);
        c.s = narrowed(&c, c.s);
        ck_assert_msg(agrees(first, c.r, rows[row].text) &&
                          agrees(second, c.s, rows[row].text),
                      "%s %s%u (%a, %a): %a, %a, not %a, %a", rows[row].name,
                      half ? "half" : "float", width, c.x, c.y, first, second,
                      c.r, c.s);
    }
    rig_close(&r);
}

START_TEST(function)
{
    static const unsigned widths[] = {2, 3, 4, 8, 16};
    unsigned row = (unsigned)_i / 4, width = widths[row % 5];

    run(row, _i & 1, _i & 2 ? width : 1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("built-ins: edge cases");
    TCase *c = tcase_create("functions");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, function, 0, 4 * sizeof rows / sizeof *rows);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
