/* What a calibration found, for people and for programs. */
#ifndef VPU_RUNTIME_CALIBRATE_SAY_H
#define VPU_RUNTIME_CALIBRATE_SAY_H

#include <jansson.h>

#include "base/str.h"
#include "runtime/calibrate/fit.h"

/* Parameters, their intervals; blocks; the cases that are not explained. */
void calibrate_text(const measure_result *m, const fit_config *cfg,
                    const fit_result *f, str *out);
/* The same as a page, with the residual of each case as a bar. */
void calibrate_html(const measure_result *m, const fit_config *cfg,
                    const fit_result *f, str *out);
json_t *calibrate_json(const measure_result *m, const fit_config *cfg,
                       const fit_result *f);
/* The machine's file: found parameters are "calibrated", measured on `device`,
 * with their intervals; those that the times do not determine are "assumed",
 * the values that go with the others; the rest is as it was in the description
 * that the fit began with. In a. */
void calibrate_machine(const measure_result *m, const fit_result *f, arena *a,
                       str *out);

#endif
