/* See dense.h. */
#include "runtime/calibrate/dense.h"

#include <math.h>

bool dense_solve(size_t n, double *a, const double *b, double *x)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];

            for (size_t k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            if (i == j && !(sum > 0))
                return false;
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
    for (size_t i = 0; i < n; i++) {
        x[i] = b[i];
        for (size_t k = 0; k < i; k++)
            x[i] -= a[i * n + k] * x[k];
        x[i] /= a[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            x[i] -= a[k * n + i] * x[k];
        x[i] /= a[i * n + i];
    }
    return true;
}

/* One rotation, which makes a[p][q] zero. */
static void rotate(size_t n, double *a, double *vectors, size_t p, size_t q)
{
    double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;

    for (size_t k = 0; k < n; k++) {
        double x = a[k * n + p], y = a[k * n + q];

        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for (size_t k = 0; k < n; k++) {
        double x = a[p * n + k], y = a[q * n + k];

        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
    }
    for (size_t k = 0; k < n; k++) {
        double x = vectors[k * n + p], y = vectors[k * n + q];

        vectors[k * n + p] = c * x - s * y;
        vectors[k * n + q] = s * x + c * y;
    }
}

void dense_eigen(size_t n, double *a, double *values, double *vectors)
{
    enum { SWEEPS = 30 };

    for (size_t i = 0; i < n * n; i++)
        vectors[i] = i % (n + 1) == 0;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double off = 0, all = 0;

        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                all += a[i * n + j] * a[i * n + j];
                off += i == j ? 0 : a[i * n + j] * a[i * n + j];
            }
        if (off <= all * 1e-24)
            break;
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++)
                if (a[p * n + q] != 0)
                    rotate(n, a, vectors, p, q);
    }
    for (size_t i = 0; i < n; i++)
        values[i] = a[i * n + i];
}
