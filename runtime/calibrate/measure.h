/* Times of cases on a device, again and again. */
#ifndef VPU_RUNTIME_CALIBRATE_MEASURE_H
#define VPU_RUNTIME_CALIBRATE_MEASURE_H

#include "runtime/backend/backend.h"
#include "runtime/calibrate/design.h"

typedef struct {
    const backend_ops *ops;
    backend_config run; /* desc: the machine that the fit begins with; device,
                           stick, log as of any run */
    const char *folder; /* of kernels that the vendor's compiler made; NULL:
                           they are compiled here */
    uint32_t n_shaves;  /* cases of more are left out */
    uint32_t orders;    /* of the cases in a run, each random */
    uint32_t repeats;   /* of each order */
    uint64_t seed;      /* of the orders */
} measure_config;

/* Of one case. */
typedef struct {
    double seconds;  /* the mean of what is no outlier */
    double error;    /* its standard error, relative; 0: of one time alone */
    uint32_t n_used; /* times that are no outliers: at most four deviations
                        from the median, as the median of their distances
                        tells it */
} measure_time;

typedef struct {
    const design_case *cases;
    measure_time *times; /* of each */
    size_t n_cases;
    uint32_t n_times; /* of each case, outliers included */
    const char *device;
    /* Of a stick, in degrees Celsius, before and behind each order; both 0: it
     * tells none. */
    double coldest, hottest;
    /* What the model runs: the cases in the order of `cases`, as the device
     * had them; a stick's from its blob. */
    graph *graph;
} measure_result;

/* Everything in a.
 *
 * VPU_ERR_UNSUPPORTED  the backend has no times of its own
 * VPU_ERR_STOPPED      cfg->run.how.cancel is set
 * VPU_ERR_MISMATCH     the device told no time for a case
 * else                 of the backend */
vpu_status measure_run(const measure_config *cfg, arena *a, measure_result *out,
                       vpu_error *err);

#endif
