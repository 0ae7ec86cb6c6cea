/* A picture of how far launches are from what the machine allows: operations a
 * cycle over operations for each byte of DDR, under the roof of the SHAVEs'
 * issue and of DDR's bandwidth. One point a launch.
 *
 * An operation is an issue cycle of one SHAVE (a bundle, or a wait between two
 * that the schedule has), so the flat roof is the number of SHAVEs. */
#ifndef VPU_RUNTIME_ADVICE_ROOFLINE_H
#define VPU_RUNTIME_ADVICE_ROOFLINE_H

#include "runtime/backend/backend.h"

/* VPU_ERR_INVALID  the name ends with neither .svg nor .png */
vpu_status roofline_check(const char *path, vpu_error *err);
/* Of the launches of kernels of a run with timing.
 *
 * VPU_ERR_INVALID  as roofline_check
 * VPU_ERR_IO       no fonts; cannot be written
 * VPU_ERR_NOMEM */
vpu_status roofline_write(const graph *g, const backend *b,
                          const mach_desc *desc, const char *path,
                          vpu_error *err);

#endif
