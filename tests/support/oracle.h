/* What OpenCL C's mathematical functions return, from MPFR. */
#ifndef VPU_TESTS_SUPPORT_ORACLE_H
#define VPU_TESTS_SUPPORT_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/builtins/routines.h"

typedef enum {
    ORACLE_T,    /* T (T, ...) */
    ORACLE_TI,   /* T (T, int): y is the integer */
    ORACLE_IT,   /* int (T) */
    ORACLE_LOOSE /* T (T, ...), either zero is right */
} oracle_kind;

typedef struct {
    const char *name;
    oracle_kind kind;
    unsigned n_args;
    double ulps; /* allowed in float, full profile */
    void (*eval)(double *r, double x, double y, double z);
} oracle_fn;

extern const oracle_fn oracle_fns[];
extern const size_t oracle_n_fns;

/* f(x, y, z) to 53 bits, rounded to odd: rounding the value again, to half or
 * float, gives the correctly rounded result. */
double oracle_eval(const oracle_fn *f, double x, double y, double z);

/* got's distance from exact in units of exact's last place, for numbers of
 * digits bits and a least exponent (the last place of subnormals); 0 when both
 * are NaN or the same, infinite when one of them is NaN. loose takes zeros of
 * either sign. */
double oracle_error_half(builtin_half got, double exact, bool loose);
double oracle_error_float(float got, double exact, bool loose);

#endif
