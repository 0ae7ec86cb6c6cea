/* Exact values from MPFR, rounded so that a second rounding to half or float
 * is correct, and the error of a result in units of the last place. */
#include "tests/support/oracle.h"

#include <limits.h>
#include <math.h>
#include <mpfr.h>
#include <stdint.h>
#include <string.h>

/* r to 53 bits with what is cut off kept in the last bit. */
static double to_odd(mpfr_t r, int inexact)
{
    double d = mpfr_get_d(r, MPFR_RNDZ);
    uint64_t bits;

    if (!isfinite(d) || isnan(d))
        return d;
    if (!inexact && mpfr_cmp_d(r, d) == 0)
        return d;
    memcpy(&bits, &d, 8);
    bits |= 1;
    memcpy(&d, &bits, 8);
    return d;
}

/* Results are computed to 60 bits towards zero, and an inexact one counts as
 * lying beyond its digits. */
#define SETUP                    \
    mpfr_t r, a, b, c;           \
    int t;                       \
                                 \
    mpfr_init2(r, 60);           \
    mpfr_init2(a, 53);           \
    mpfr_init2(b, 53);           \
    mpfr_init2(c, 53);           \
    mpfr_set_d(a, x, MPFR_RNDN); \
    mpfr_set_d(b, y, MPFR_RNDN); \
    mpfr_set_d(c, z, MPFR_RNDN)
#define DONE             \
    *out = to_odd(r, t); \
    mpfr_clears(r, a, b, c, (mpfr_ptr)0)
#define FN(name, expression)                                    \
    static void name(double *out, double x, double y, double z) \
    {                                                           \
        SETUP;                                                  \
        t = (expression);                                       \
        DONE;                                                   \
    }
#define FN1(name) FN(e_##name, mpfr_##name(r, a, MPFR_RNDZ))
#define FN2(name) FN(e_##name, mpfr_##name(r, a, b, MPFR_RNDZ))

/* clang-format off */
FN1(acos)
FN1(acosh)
FN1(asin)
FN1(asinh) FN1(atan) FN1(atanh) FN1(cbrt) FN1(cos) FN1(cosh) FN1(erf) FN1(erfc)
    FN1(exp) FN1(exp10) FN1(exp2) FN1(expm1) FN1(log) FN1(log10) FN1(log1p)
        FN1(log2) FN1(rec_sqrt) FN1(sin) FN1(sinh) FN1(sqrt) FN1(tan) FN1(tanh)
            FN1(acospi) FN1(asinpi) FN1(atanpi) FN1(cospi) FN1(sinpi) FN1(tanpi)
                FN1(gamma) FN2(atan2) FN2(hypot) FN2(fmod) FN2(pow)
                    FN2(remainder) FN2(dim) FN2(atan2pi) FN2(min) FN2(max) FN(
                        e_lgamma, (t = 0, mpfr_lgamma(r, &t, a, MPFR_RNDZ)))
                        FN(e_fma, mpfr_fma(r, a, b, c, MPFR_RNDZ)) FN(
                            e_pown, mpfr_pow_si(r, a, (long)y, MPFR_RNDZ))
                            FN(e_ldexp, mpfr_mul_2si(r, a, (long)y, MPFR_RNDZ))
                                FN(e_div, mpfr_div(r, a, b, MPFR_RNDZ))
                                    FN(e_recip, mpfr_ui_div(r, 1, a, MPFR_RNDZ))
                                        FN(e_degrees,
                                           (mpfr_const_pi(r, MPFR_RNDN),
                                            mpfr_ui_div(r, 180, r, MPFR_RNDN),
                                            mpfr_mul(r, a, r, MPFR_RNDZ)))
                                            FN(e_radians,
                                               (mpfr_const_pi(r, MPFR_RNDN),
                                                mpfr_div_ui(r, r, 180,
                                                            MPFR_RNDN),
                                                mpfr_mul(r, a, r, MPFR_RNDZ)))
    FN(e_ceil, mpfr_rint_ceil(r, a, MPFR_RNDZ))
FN(e_floor, mpfr_rint_floor(r, a, MPFR_RNDZ))
FN(e_trunc, mpfr_rint_trunc(r, a, MPFR_RNDZ))
FN(e_rint, mpfr_rint_roundeven(r, a, MPFR_RNDZ))
FN(e_round, mpfr_rint_round(r, a, MPFR_RNDZ))
FN(e_fabs, mpfr_abs(r, a, MPFR_RNDZ))
    /* clang-format on */

    /* OpenCL 1.2, 7.5.1: none of pow's exceptions for 0, 1 and infinity. */
    static void e_powr(double *out, double x, double y, double z)
{
    if (isnan(x) || isnan(y) || x < 0 || (x == 0 && y == 0) ||
        (isinf(x) && y == 0) || (x == 1 && isinf(y)))
        *out = NAN;
    else
        e_pow(out, fabs(x), y, z);
}

static void e_rootn(double *out, double x, double y, double z)
{
    SETUP;
    t = mpfr_rootn_si(r, a, (long)y, MPFR_RNDZ);
    if (mpfr_nan_p(a) || y == 0)
        mpfr_set_nan(r);
    DONE;
    if (x == 0 && y != 0) /* the sign of a zero counts for odd roots only */
        *out = copysign(y < 0 ? INFINITY : 0.0, (int)y & 1 ? x : 1.0);
}

/* MPFR's NaN has no sign. */
static void e_copysign(double *out, double x, double y, double z)
{
    (void)z;
    *out = copysign(x, y);
}

/* IEEE 754: the sign of a zero stays. */
static void e_rsqrt(double *out, double x, double y, double z)
{
    if (x == 0)
        *out = 1 / x;
    else
        e_rec_sqrt(out, x, y, z);
}

static void e_logb(double *out, double x, double y, double z)
{
    SETUP;
    t = 0;
    mpfr_set_d(r,
               mpfr_zero_p(a)  ? -HUGE_VAL
               : mpfr_nan_p(a) ? NAN
               : mpfr_inf_p(a) ? HUGE_VAL
                               : (double)(mpfr_get_exp(a) - 1),
               MPFR_RNDN);
    DONE;
}

static void e_ilogb(double *out, double x, double y, double z)
{
    e_logb(out, x, y, z);
    if (x == 0)
        *out = INT_MIN; /* FP_ILOGB0, FP_ILOGBNAN of OpenCL C's header */
    else if (isnan(x) || isinf(x))
        *out = INT_MAX;
}

static void e_maxmag(double *out, double x, double y, double z)
{
    if (fabs(x) > fabs(y) || fabs(y) > fabs(x))
        *out = fabs(x) > fabs(y) ? x : y;
    else
        e_max(out, x, y, z);
}

static void e_minmag(double *out, double x, double y, double z)
{
    if (fabs(x) < fabs(y) || fabs(y) < fabs(x))
        *out = fabs(x) < fabs(y) ? x : y;
    else
        e_min(out, x, y, z);
}

/* OpenCL 1.2, 7.4; half_ and native_ functions allow 8192. */
const oracle_fn oracle_fns[] = {
    {"acos", ORACLE_T, 1, 4, e_acos},
    {"acosh", ORACLE_T, 1, 4, e_acosh},
    {"acospi", ORACLE_T, 1, 5, e_acospi},
    {"asin", ORACLE_T, 1, 4, e_asin},
    {"asinh", ORACLE_T, 1, 4, e_asinh},
    {"asinpi", ORACLE_T, 1, 5, e_asinpi},
    {"atan", ORACLE_T, 1, 5, e_atan},
    {"atan2", ORACLE_T, 2, 6, e_atan2},
    {"atan2pi", ORACLE_T, 2, 6, e_atan2pi},
    {"atanh", ORACLE_T, 1, 5, e_atanh},
    {"atanpi", ORACLE_T, 1, 5, e_atanpi},
    {"cbrt", ORACLE_T, 1, 2, e_cbrt},
    {"ceil", ORACLE_T, 1, 0.5, e_ceil},
    {"copysign", ORACLE_T, 2, 0.5, e_copysign},
    {"cos", ORACLE_T, 1, 4, e_cos},
    {"cosh", ORACLE_T, 1, 4, e_cosh},
    {"cospi", ORACLE_T, 1, 4, e_cospi},
    {"degrees", ORACLE_T, 1, 2, e_degrees},
    {"erf", ORACLE_T, 1, 16, e_erf},
    {"erfc", ORACLE_T, 1, 16, e_erfc},
    {"exp", ORACLE_T, 1, 3, e_exp},
    {"exp10", ORACLE_T, 1, 3, e_exp10},
    {"exp2", ORACLE_T, 1, 3, e_exp2},
    {"expm1", ORACLE_T, 1, 3, e_expm1},
    {"fabs", ORACLE_T, 1, 0.5, e_fabs},
    {"fdim", ORACLE_T, 2, 0.5, e_dim},
    {"floor", ORACLE_T, 1, 0.5, e_floor},
    {"fma", ORACLE_T, 3, 0.5, e_fma},
    {"fmax", ORACLE_LOOSE, 2, 0.5, e_max},
    {"fmin", ORACLE_LOOSE, 2, 0.5, e_min},
    {"fmod", ORACLE_T, 2, 0.5, e_fmod},
    {"hypot", ORACLE_T, 2, 4, e_hypot},
    {"ilogb", ORACLE_IT, 1, 0.5, e_ilogb},
    {"ldexp", ORACLE_TI, 2, 0.5, e_ldexp},
    {"lgamma", ORACLE_LOOSE, 1, 16, e_lgamma},
    {"log", ORACLE_T, 1, 3, e_log},
    {"log10", ORACLE_T, 1, 3, e_log10},
    {"log1p", ORACLE_T, 1, 2, e_log1p},
    {"log2", ORACLE_T, 1, 3, e_log2},
    {"logb", ORACLE_T, 1, 0.5, e_logb},
    {"maxmag", ORACLE_LOOSE, 2, 0.5, e_maxmag},
    {"minmag", ORACLE_LOOSE, 2, 0.5, e_minmag},
    {"pow", ORACLE_T, 2, 16, e_pow},
    {"pown", ORACLE_TI, 2, 16, e_pown},
    {"powr", ORACLE_T, 2, 16, e_powr},
    {"radians", ORACLE_T, 1, 2, e_radians},
    {"remainder", ORACLE_T, 2, 0.5, e_remainder},
    {"rint", ORACLE_T, 1, 0.5, e_rint},
    {"rootn", ORACLE_TI, 2, 16, e_rootn},
    {"round", ORACLE_T, 1, 0.5, e_round},
    {"rsqrt", ORACLE_T, 1, 2, e_rsqrt},
    {"sin", ORACLE_T, 1, 4, e_sin},
    {"sinh", ORACLE_T, 1, 4, e_sinh},
    {"sinpi", ORACLE_T, 1, 4, e_sinpi},
    {"sqrt", ORACLE_T, 1, 3, e_sqrt},
    {"tan", ORACLE_T, 1, 5, e_tan},
    {"tanh", ORACLE_T, 1, 5, e_tanh},
    {"tanpi", ORACLE_T, 1, 6, e_tanpi},
    {"tgamma", ORACLE_T, 1, 16, e_gamma},
    {"trunc", ORACLE_T, 1, 0.5, e_trunc},
    {"half_cos", ORACLE_LOOSE, 1, 8192, e_cos},
    {"half_divide", ORACLE_LOOSE, 2, 8192, e_div},
    {"half_exp", ORACLE_LOOSE, 1, 8192, e_exp},
    {"half_exp10", ORACLE_LOOSE, 1, 8192, e_exp10},
    {"half_exp2", ORACLE_LOOSE, 1, 8192, e_exp2},
    {"half_log", ORACLE_LOOSE, 1, 8192, e_log},
    {"half_log10", ORACLE_LOOSE, 1, 8192, e_log10},
    {"half_log2", ORACLE_LOOSE, 1, 8192, e_log2},
    {"half_powr", ORACLE_LOOSE, 2, 8192, e_powr},
    {"half_recip", ORACLE_LOOSE, 1, 8192, e_recip},
    {"half_rsqrt", ORACLE_T, 1, 8192, e_rsqrt},
    {"half_sin", ORACLE_LOOSE, 1, 8192, e_sin},
    {"half_sqrt", ORACLE_LOOSE, 1, 8192, e_sqrt},
    {"half_tan", ORACLE_LOOSE, 1, 8192, e_tan},
    {"native_cos", ORACLE_LOOSE, 1, 8192, e_cos},
    {"native_divide", ORACLE_LOOSE, 2, 8192, e_div},
    {"native_exp", ORACLE_LOOSE, 1, 8192, e_exp},
    {"native_exp10", ORACLE_LOOSE, 1, 8192, e_exp10},
    {"native_exp2", ORACLE_LOOSE, 1, 8192, e_exp2},
    {"native_log", ORACLE_LOOSE, 1, 8192, e_log},
    {"native_log10", ORACLE_LOOSE, 1, 8192, e_log10},
    {"native_log2", ORACLE_LOOSE, 1, 8192, e_log2},
    {"native_powr", ORACLE_LOOSE, 2, 8192, e_powr},
    {"native_recip", ORACLE_LOOSE, 1, 8192, e_recip},
    {"native_rsqrt", ORACLE_T, 1, 8192, e_rsqrt},
    {"native_sin", ORACLE_LOOSE, 1, 8192, e_sin},
    {"native_sqrt", ORACLE_LOOSE, 1, 8192, e_sqrt},
    {"native_tan", ORACLE_LOOSE, 1, 8192, e_tan},
};
const size_t oracle_n_fns = sizeof oracle_fns / sizeof *oracle_fns;

double oracle_eval(const oracle_fn *f, double x, double y, double z)
{
    double r;

    f->eval(&r, x, y, z);
    return r;
}

/* least: the exponent of the smallest normal; most: the first one too big */
static double error(double got, double exact, double nearest, int digits,
                    int least, int most, bool loose)
{
    int e;

    if (isnan(got) || isnan(exact))
        return isnan(got) && isnan(exact) ? 0 : HUGE_VAL;
    if (got == nearest && got == 0)
        return loose || !signbit(got) == !signbit(exact)
                   ? fabs(exact) / ldexp(1, least - digits + 1)
                   : HUGE_VAL;
    if (got == nearest && isinf(got))
        return 0;
    if (isinf(exact))
        return HUGE_VAL;
    if (isinf(got)) /* as if it were the next number of more range */
        got = copysign(ldexp(1, most), got);
    frexp(exact, &e);
    e = e - 1 < least || exact == 0 ? least : e - 1;
    return fabs(got - exact) / ldexp(1, e - digits + 1);
}

double oracle_error_half(builtin_half got, double exact, bool loose)
{
    return error((double)got, exact, (double)(builtin_half)exact, 11, -14, 16,
                 loose);
}

double oracle_error_float(float got, double exact, bool loose)
{
    return error((double)got, exact, (double)(float)exact, 24, -126, 128,
                 loose);
}
