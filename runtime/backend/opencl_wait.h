/* Waiting for an OpenCL queue, but not for ever. */
#ifndef VPU_RUNTIME_BACKEND_OPENCL_WAIT_H
#define VPU_RUNTIME_BACKEND_OPENCL_WAIT_H

#include <stdbool.h>

#include "runtime/backend/opencl_api.h"

/* Flush the queue and wait for the event, timeout_s seconds at most (0 = no
 * limit). False: time is up. A thread then still waits; queue and event must
 * not be released any more, since a driver may wait in there as well. *code:
 * what the wait returned. */
bool opencl_wait(const opencl_api *cl, cl_command_queue queue, cl_event event,
                 double timeout_s, cl_int *code);

#endif
