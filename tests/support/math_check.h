/* One mathematical built-in on the device against MPFR, over many inputs. */
#ifndef VPU_TESTS_SUPPORT_MATH_CHECK_H
#define VPU_TESTS_SUPPORT_MATH_CHECK_H

#include <stdint.h>

#include "tests/support/oracle.h"

/* Input i; of halves or floats, and y an integer for ORACLE_TI. */
typedef void math_input(uint32_t i, double *x, double *y, double *z);

typedef struct {
    double worst;               /* units in the last place */
    double x, y, z;             /* where */
    double got, want;           /* what */
    uint32_t n_values, n_wrong; /* n_wrong: not the correctly rounded result */
    uint32_t n_vector_wrong;    /* vector form differs from the scalar one */
} math_result;

/* Scalar form over n inputs and width lanes over the same ones. */
math_result math_check(const oracle_fn *f, bool half, unsigned width,
                       uint32_t n, math_input *input);
/* Prints one line. With VPU_ULP_FILE in the environment, adds another to that
 * file: name, half or float, worst, the limit, n. */
void math_report(const oracle_fn *f, bool half, const math_result *r);

#endif
