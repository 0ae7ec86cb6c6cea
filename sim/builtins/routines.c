/* The routines on the host. Half versions compute in double and round once. */
#include "sim/builtins/routines.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* C23 gives some of these names to the C library; ours must not clash. */
#define acospi own_acospi
#define asinpi own_asinpi
#define atan2pi own_atan2pi
#define atanpi own_atanpi
#define cospi own_cospi
#define pown own_pown
#define powr own_powr
#define powrf own_powrf
#define rootn own_rootn
#define rsqrt own_rsqrt
#define rsqrtf own_rsqrtf
#define sinpi own_sinpi
#define tanpi own_tanpi

/* What the C library gives for NaN and 0 depends on the host; OpenCL C's header
 * has INT_MAX as FP_ILOGBNAN and INT_MIN as FP_ILOGB0. */
static int ilogb_of(double x)
{
    return isnan(x) ? INT_MAX : x == 0 ? INT_MIN : ilogb(x);
}
#define ilogb ilogb_of

/* powr is exp(y log x): undefined where pow has a value by convention (0^0,
 * inf^0, 1^inf, NaN^0), and without the sign of a zero. */
static bool powr_defined(double x, double y)
{
    return x >= 0 && !isnan(y) && !(y == 0 && (x == 0 || isinf(x))) &&
           !(x == 1 && isinf(y));
}
static double powr(double x, double y)
{
    return powr_defined(x, y) ? pow(fabs(x), y) : NAN;
}
static float powrf(float x, float y)
{
    return powr_defined(x, y) ? powf(fabsf(x), y) : NAN;
}
static double rsqrt(double x)
{
    return 1.0 / sqrt(x);
}
static float rsqrtf(float x)
{
    /* Two roundings in float would cost up to 1 ulp; OpenCL allows 2, but the
     * double path is as fast and correctly rounded almost always. */
    return (float)(1.0 / sqrt((double)x));
}
/* A half product has at most 22 significant bits, so fma in double is exact
 * unless the addend lies more than 30 binary places away; the double result
 * then still holds the sticky bits a single rounding to half needs. */

/* --- what the C library does not have ------------------------------------ */

/* sin and cos of pi x: the reduction to [-1/4, 1/4] is exact in double. */
static double sinpi(double x)
{
    double r;

    if (!isfinite(x))
        return NAN;
    r = fmod(x, 2.0);
    if (r == trunc(r))
        return copysign(0.0, x);
    if (r > 1)
        r -= 2;
    if (r < -1)
        r += 2;
    if (r > 0.5)
        r = 1 - r;
    if (r < -0.5)
        r = -1 - r;
    if (fabs(r) > 0.25)
        return copysign(cos(M_PI * (0.5 - fabs(r))), r);
    return sin(M_PI * r);
}

static double cospi(double x)
{
    double r;

    if (!isfinite(x))
        return NAN;
    r = fabs(fmod(x, 2.0));
    if (r > 1)
        r = 2 - r;
    if (r == 0.5)
        return 0.0;
    if (r <= 0.25)
        return cos(M_PI * r);
    if (r >= 0.75)
        return -cos(M_PI * (1 - r));
    return sin(M_PI * (0.5 - r));
}

/* At half odd integers tan is infinite, at integers zero, with the signs that
 * the specification lists (7.5.1). */
static double tanpi(double x)
{
    double s = sinpi(x), c = cospi(x), r;

    if (!isfinite(x))
        return NAN;
    r = fmod(fabs(x), 2.0);
    if (s == 0)
        return copysign(0.0, r == 1 ? -x : x);
    if (c == 0)
        return copysign(INFINITY, r == 0.5 ? x : -x);
    return s / c;
}

static double acospi(double x)
{
    return acos(x) / M_PI;
}
static double asinpi(double x)
{
    return asin(x) / M_PI;
}
static double atanpi(double x)
{
    return atan(x) / M_PI;
}
static double atan2pi(double y, double x)
{
    return atan2(y, x) / M_PI;
}

static double maxmag(double x, double y)
{
    return fabs(x) > fabs(y) ? x : fabs(y) > fabs(x) ? y : fmax(x, y);
}
static double minmag(double x, double y)
{
    return fabs(x) < fabs(y) ? x : fabs(y) < fabs(x) ? y : fmin(x, y);
}

static double pown(double x, int n)
{
    return pow(x, n);
}

static double rootn(double x, int n)
{
    double r;

    if (!n)
        return NAN;
    if (x < 0 && !(n & 1))
        return NAN;
    if (x == 0) /* poles keep the sign for odd n only */
        return n & 1 ? (n < 0 ? copysign(INFINITY, x) : x)
                     : (n < 0 ? INFINITY : 0.0);
    r = pow(fabs(x), 1.0 / n);
    return x < 0 ? -r : r;
}

static double frexp_m(double x)
{
    int e;

    return frexp(x, &e);
}
static int frexp_e(double x)
{
    int e = 0;

    frexp(x, &e);
    return isfinite(x) ? e : 0;
}

static int lgamma_sign(double x)
{
    if (isnan(x) || (x <= 0 && x == floor(x) && x != 0))
        return 0;
    if (x == 0)
        return signbit(x) ? -1 : 1;
    return x > 0 || fmod(floor(x), 2.0) == 0 ? 1 : -1;
}

/* The low seven bits of the quotient rounded to the nearest integer, with its
 * sign (the C library's remquo gives three). Exact: the arguments are floats,
 * and everything here a multiple of the smaller one's last place. */
static int remquo_q(double x, double y)
{
    double r, d = fabs(y);
    int q = 0;

    if (!isfinite(x) || isnan(y) || y == 0)
        return 0;
    r = fmod(fabs(x), 128 * d);
    for (int k = 6; k >= 0; k--)
        if (r >= ldexp(d, k)) {
            r -= ldexp(d, k);
            q += 1 << k;
        }
    if (2 * r > d || (2 * r == d && q & 1))
        q++;
    q &= 0x7f;
    return !signbit(x) == !signbit(y) ? q : -q;
}

/* --- both precisions ----------------------------------------------------- */

#define ARGS_1(t) t a
#define ARGS_2(t) t a, t b
#define ARGS_3(t) t a, t b, t d
#define PASS_1(c) (c) a
#define PASS_2(c) (c) a, (c)b
#define PASS_3(c) (c) a, (c)b, (c)d

#define BODY(ret, type, suffix, fn, args, pass) \
    static ret suffix(args)                     \
    {                                           \
        return (ret)fn(pass);                   \
    }

#define ROUTINE(name, n, c16, c32, about)                                     \
    BODY(builtin_half, builtin_half, name##_16, name, ARGS_##n(builtin_half), \
         PASS_##n(double))                                                    \
    BODY(float, float, name##_32, name##f, ARGS_##n(float), PASS_##n(float))
#define ROUTINE_D(name, n, c16, c32, about)                                   \
    BODY(builtin_half, builtin_half, name##_16, name, ARGS_##n(builtin_half), \
         PASS_##n(double))                                                    \
    BODY(float, float, name##_32, name, ARGS_##n(float), PASS_##n(double))
#define ROUTINE_TI(name, c16, c32, about)                \
    static builtin_half name##_16(builtin_half a, int k) \
    {                                                    \
        return (builtin_half)name((double)a, k);         \
    }                                                    \
    static float name##_32(float a, int k)               \
    {                                                    \
        return (float)name((double)a, k);                \
    }
#define ROUTINE_IT(name, n, c16, c32, about)                         \
    BODY(int, builtin_half, name##_16, name, ARGS_##n(builtin_half), \
         PASS_##n(double))                                           \
    BODY(int, float, name##_32, name, ARGS_##n(float), PASS_##n(double))
#include "sim/builtins/routines.def"

/* # and ## see the name as it stands in the table, not its own_ macro. */
#define CODE(f) (void *)(uintptr_t)(f)
#define ROUTINE(name, n, c16, c32, about) \
    {#name, SIM_T_OF_T, n, c16, c32, CODE(name##_16), CODE(name##_32)},
#define ROUTINE_D(name, n, c16, c32, about) \
    {#name, SIM_T_OF_T, n, c16, c32, CODE(name##_16), CODE(name##_32)},
#define ROUTINE_TI(name, c16, c32, about) \
    {#name, SIM_T_OF_INT, 2, c16, c32, CODE(name##_16), CODE(name##_32)},
#define ROUTINE_IT(name, n, c16, c32, about) \
    {#name, SIM_INT_OF_T, n, c16, c32, CODE(name##_16), CODE(name##_32)},

const builtin_routine builtin_routines[] = {
#include "sim/builtins/routines.def"
};
const uint32_t builtin_n_routines =
    sizeof builtin_routines / sizeof *builtin_routines;

/* --- roundings: 'z' to zero, 'p' up, 'n' down ---------------------------- */

static float float_directed(double x, int direction)
{
    float f = (float)x;
    bool up = direction == 'p' || (direction == 'z' && x < 0);

    if (isnan(x) || (double)f == x || (up ? (double)f > x : (double)f < x))
        return f;
    return nextafterf(f, up ? INFINITY : -INFINITY);
}

/* A 64-bit integer need not fit a double: cut it to 53 bits first, keeping what
 * is cut as a sticky bit, which the second rounding cannot tell from the rest.
 */
static float from_u64(uint64_t x, bool negative, int direction)
{
    unsigned shift = 0;
    double d;

    while (x >> 53) {
        x = x >> 1 | (x & 1);
        shift++;
    }
    d = ldexp((double)x, (int)shift);
    return float_directed(negative ? -d : d, direction);
}

static float from_i64(int64_t x, int direction)
{
    return x < 0 ? from_u64((uint64_t)0 - (uint64_t)x, true, direction)
                 : from_u64((uint64_t)x, false, direction);
}

static builtin_half half_directed(float x, int direction)
{
    builtin_half h = (builtin_half)x;
    uint16_t bits;
    bool up, away;

    if (isnan(x) || (float)h == x)
        return h;
    /* h is one of the two neighbours of x: step to the other one if the
     * direction asks for it. */
    up = direction == 'p' || (direction == 'z' && x < 0);
    if (up ? (float)h > x : (float)h < x)
        return h;
    memcpy(&bits, &h, 2);
    away = up == !(bits & 0x8000);
    if (!(bits & 0x7fff))
        bits = up ? 0x0001 : 0x8001;
    else
        bits = (uint16_t)(away ? bits + 1 : bits - 1);
    memcpy(&h, &bits, 2);
    return h;
}

#define DIRECTED(suffix, direction)              \
    builtin_half builtin_half_##suffix(float x)  \
    {                                            \
        return half_directed(x, direction);      \
    }                                            \
    float builtin_float_i64_##suffix(int64_t x)  \
    {                                            \
        return from_i64(x, direction);           \
    }                                            \
    float builtin_float_u64_##suffix(uint64_t x) \
    {                                            \
        return from_u64(x, false, direction);    \
    }
DIRECTED(to_zero, 'z')
DIRECTED(up, 'p')
DIRECTED(down, 'n')

builtin_half builtin_half_nextafter(builtin_half x, builtin_half y)
{
    uint16_t bits;

    if (isnan((float)x) || isnan((float)y))
        return (builtin_half)NAN;
    if (x == y)
        return y;
    memcpy(&bits, &x, 2);
    if (x == 0)
        bits = y > 0 ? 0x0001 : 0x8001;
    else
        bits = (uint16_t)((x < y) == (x > 0) ? bits + 1 : bits - 1);
    memcpy(&x, &bits, 2);
    return x;
}
