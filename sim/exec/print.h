/* printf of kernels. */
#ifndef VPU_SIM_EXEC_PRINT_H
#define VPU_SIM_EXEC_PRINT_H

#include <stdint.h>

#include "base/str.h"

/* Formats as OpenCL C 6.12.13 says, appending to out. Addresses are device
 * addresses in the window; args holds the local id and n arguments, each behind
 * a SIM_PRINT_TAG.
 * Missing arguments print as "(missing)"; strings may fault in the window. */
void print_format(const uint8_t *window, uint32_t format, uint32_t args,
                  uint32_t n, str *out);

/* The same, with "[group x,y,z item x,y,z] " in front of each line that begins
 * in it: the group's number and the item's local id. */
void print_format_prefixed(const uint8_t *window, const uint32_t group[3],
                           uint32_t format, uint32_t args, uint32_t n,
                           str *out);

#endif
