/* Who was doing what when a launch was stopped. Internal to exec. */
#ifndef VPU_SIM_EXEC_STUCK_H
#define VPU_SIM_EXEC_STUCK_H

#include "sim/exec/shave.h"

/* "work-group (1, 2, 0)" */
void stuck_group(const uint32_t groups[3], uint64_t linear, str *out);
/* A line "\n  SHAVE 3: ..." for each SHAVE that has groups left. */
void stuck_report(const exec_shave *shaves, uint32_t n, str *out);
/* The work-groups that were running, of the lowest SHAVEs. */
void stuck_list(const exec_shave *shaves, uint32_t n, exec_result *r);

#endif
