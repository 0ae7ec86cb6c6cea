/* Where in its source a launch was that has stopped. */
#ifndef VPU_RUNTIME_BACKEND_LOCATE_H
#define VPU_RUNTIME_BACKEND_LOCATE_H

#include "sim/exec/exec.h"

/* A launch that has stopped, with its kernel once more as code that notes the
 * source line of each access (kernel_compile_config.track_lines). */
typedef struct {
    memory *mem;
    const mach_desc *desc;
    const exec_launch *launch;
    const exec_result *result;
    /* VPU_OK, or there is no such code and the message stays as it is. Called
     * once at most; what it gives is released with kernel_release. */
    vpu_status (*track)(void *user, sim_kernel **out);
    void *user;
} backend_stopped;

/* st: VPU_ERR_FAULT: the group that failed runs again; err gets the line. What
 * it writes is not to be looked at any more. VPU_ERR_LIMIT: each group that was
 * running runs again alone for a while; err gets where it is then. Other
 * statuses: nothing. err is filled already. */
void backend_locate(const backend_stopped *s, vpu_status st, vpu_error *err);

/* After a launch: has it written beside a buffer, on the same page?
 *
 * VPU_ERR_FAULT  it has: launch, kernel, buffer and byte */
vpu_status backend_check_guards(const memory *mem, const char *launch,
                                const char *kernel, vpu_error *err);

#endif
