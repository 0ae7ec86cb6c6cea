/* The machine that explains measured times. */
#ifndef VPU_RUNTIME_CALIBRATE_FIT_H
#define VPU_RUNTIME_CALIBRATE_FIT_H

#include "runtime/calibrate/measure.h"

typedef enum {
    FIT_FOUND, /* the times tell it */
    FIT_VAGUE, /* they do not: its interval is wider than asked for, or other
                  choices explain them as well */
    FIT_DOUBT  /* cases that are to tell it are not explained */
} fit_verdict;

/* "calibrated", "not determined", "in doubt". */
const char *fit_verdict_name(fit_verdict v);

/* Of a parameter of params.def. */
typedef struct {
    const design_param *param;
    double value;     /* that explains the times best */
    double low, high; /* 95 %; of a choice, least and greatest that explain
                         them as well */
    fit_verdict verdict;
    const char *with; /* VAGUE: the parameters that can only be told together
                         with it, ", " between them; "" if none */
} fit_value;

/* Of a case. */
typedef struct {
    double seconds;  /* of the model, on the machine found */
    double residual; /* ln(model / measured) */
    bool explained;  /* |residual| is at most FIT_TOLERANCE and four standard
                        errors of the measurement */
} fit_case;

#define FIT_TOLERANCE 0.02

typedef struct {
    mach_desc machine; /* all but those in doubt, which are as they were at the
                          beginning: what was found holds beside what goes with
                          it, determined or not */
    fit_value *values; /* one for each row of params.def */
    size_t n_values;
    fit_case *cases; /* one for each of the measurement */
    size_t n_cases, n_unexplained;
    double rms; /* of the residuals */
    uint64_t runs, replays;
} fit_result;

typedef struct {
    const measure_result *measured;
    const mach_desc *start;
    double
        precision; /* half of an interval, by the value, that is found; 0.05 */
    const log_sink *log;
    const atomic_bool *cancel; /* NULL: nobody sets it */
} fit_config;

/* Everything in a. The same times give the same machine.
 *
 * VPU_ERR_STOPPED  *cancel is set
 * else             of model_open and model_ask */
vpu_status fit_run(const fit_config *cfg, arena *a, fit_result *out,
                   vpu_error *err);

#endif
