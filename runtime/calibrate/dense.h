/* Small dense matrices: as many rows as a fit has parameters. Row by row in
 * arrays of doubles. */
#ifndef VPU_RUNTIME_CALIBRATE_DENSE_H
#define VPU_RUNTIME_CALIBRATE_DENSE_H

#include <stdbool.h>
#include <stddef.h>

enum { DENSE_MAX = 32 };

/* a x = b for a symmetric, positive definite a of n rows, which is overwritten
 * (Cholesky). False: it is not positive definite. */
bool dense_solve(size_t n, double *a, const double *b, double *x);

/* Eigenvalues of the symmetric a, which is overwritten, and eigenvectors, the
 * columns of `vectors` (Jacobi's rotations). */
void dense_eigen(size_t n, double *a, double *values, double *vectors);

#endif
