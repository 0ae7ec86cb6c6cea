/* What confine.c and confine_calls.c share. */
#ifndef VPU_BASE_CONFINE_PRIV_H
#define VPU_BASE_CONFINE_PRIV_H

#include <stdbool.h>

#include "base/err.h"

/* Whether there is a filter for this architecture and a kernel that takes it.
 */
bool confine_can_filter(void);
/* Put the filter in place, for all threads; needs no_new_privs.
 *
 * VPU_ERR_IO  the kernel refuses it */
vpu_status confine_filter(vpu_error *err);

#endif
