/* Two tensors, element by element: how many differ, where first, where worst,
 * by how much.
 *
 * a is what is judged, b what it should be. Extra memory is a block of some
 * thousand elements whatever the tensors' size; nothing is allocated. Same
 * input, same result, bit for bit. Pure functions: any thread. */
#ifndef VPU_RUNTIME_DIFF_COMPARE_H
#define VPU_RUNTIME_DIFF_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "runtime/graph/tensor.h"

typedef enum {
    DIFF_NAN_ANY,  /* a NaN equals every NaN */
    DIFF_NAN_BITS, /* only one of the same sign and payload */
    DIFF_NAN_NEVER /* none */
} diff_nan;

typedef enum {
    DIFF_ZERO_SIGNED, /* -0 and +0 differ, whatever the tolerances */
    DIFF_ZERO_EQUAL
} diff_zero;

/* mvNCCheck's four figures, in percent; the first, second and fourth are
 * relative to the largest |b|:
 *   min pixel accuracy      the largest |a - b|
 *   average pixel accuracy  the mean |a - b|
 *   wrong values            elements with |a - b| > 2 % of the largest |b|
 *   pixel-wise L2           root of the mean (a - b)^2
 * Where b is all zeros they are 0, or infinite if a is not. Where NaNs or
 * infinities stand that do not equal each other, those elements are wrong
 * values and the other three figures are infinite (mvNCCheck: NaN). */
typedef struct {
    double min_accuracy, average_accuracy, wrong, l2;
} diff_metrics;
#define DIFF_MVNC_LIMITS ((diff_metrics){2, 1, 0, 1})
#define DIFF_WRONG_FRACTION 0.02

/* All-zero is exact. An element is equal when any one of the three holds; an
 * infinity equals only itself. */
typedef struct {
    uint64_t ulp;    /* at most so many steps apart among the values of the
                        type; of integers, their difference */
    double absolute; /* |a - b| <= absolute */
    double relative; /* |a - b| <= relative * |b| */
    diff_nan nan;
    diff_zero zero;
    /* The verdict is then of these limits alone, not of single elements. */
    bool by_metrics;
    diff_metrics limits;
} diff_tolerance;

typedef struct {
    uint64_t index;          /* in memory order */
    double value_a, value_b; /* 64-bit integers: rounded */
    double apart; /* |value_a - value_b|; NaN or infinite if one of them is */
    uint64_t ulp; /* 0 if one is a NaN */
} diff_element;

/* Class 0 is 0 steps apart, class k is 2^(k-1) .. 2^k - 1. */
enum { DIFF_ULP_CLASSES = 65 };

typedef struct {
    tensor_desc desc;
    bool equal;          /* the verdict */
    uint64_t n_elements; /* elements */
    uint64_t n_diff;     /* beyond the tolerance */
    uint64_t n_bits;     /* whose bytes differ */
    /* Valid when n_diff > 0. Worst of those that differ, the first of equals;
     * by apart, NaN and infinity against something else are worse than any
     * number. */
    diff_element first, worst_ulp, worst;
    uint64_t n_nan_a, n_nan_b;              /* NaNs */
    uint64_t n_zero_sign;                   /* zeros of unlike sign */
    uint64_t ulp_classes[DIFF_ULP_CLASSES]; /* elements without NaNs */
    uint64_t max_ulp;                       /* over all of those */
    double max_abs_b;                       /* largest finite |b| */
    diff_metrics metrics;
} diff_result;

/* Called for every block that has elements that differ, in order: elements
 * first .. first + n - 1; different[i] is 1 where element first + i does. */
typedef struct {
    void (*block)(void *user, uint64_t first, uint32_t n,
                  const uint8_t *different);
    void *user;
} diff_watch;

/* Two tensors of one description: tensor_bytes(desc) each, in its type and
 * order. Borrowed. */
typedef struct {
    const tensor_desc *desc;
    const void *a, *b;
} diff_pair;

/* watch may be NULL.
 *
 * VPU_ERR_INVALID, VPU_ERR_LIMIT  as tensor_desc_check
 * VPU_ERR_INVALID                 a tolerance that is negative or NaN */
vpu_status diff_compare(const diff_pair *pair, const diff_tolerance *tol,
                        const diff_watch *watch, diff_result *out,
                        vpu_error *err);

/* Steps between the elements at a and b. *nan: one of them, or both, are NaNs;
 * then 0. */
uint64_t diff_ulp(tensor_dtype t, const void *a, const void *b, bool *nan);

/* "ulp=2,abs=1e-3,rel=0.01,nan=any|bits|never,zero=signed|equal,mvnc", any of
 * them in any order; "exact" and "" are all-zero.
 *
 * VPU_ERR_INVALID  the message quotes the word and says what there is */
vpu_status diff_tolerance_parse(const char *text, diff_tolerance *out,
                                vpu_error *err);

/* Logical index of the element at place `index` of memory: desc.rank numbers.
 */
void diff_unravel(const tensor_desc *desc, uint64_t index, uint32_t *at);

#endif
