/* printf of kernels. */
#ifndef VPU_SIM_EXEC_PRINT_H
#define VPU_SIM_EXEC_PRINT_H

#include <stdint.h>

#include "sim/base/str.h"

/* Formats as OpenCL C 6.12.13 says, appending to out. Addresses are device
 * addresses in the window; args holds n arguments, each behind a SIM_PRINT_TAG.
 * Missing arguments print as "(missing)"; strings may fault in the window. */
void print_format(const uint8_t *window, uint32_t format, uint32_t args,
                  uint32_t n, str *out);

#endif
