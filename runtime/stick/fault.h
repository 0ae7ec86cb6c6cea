/* What a stick can do wrong, on request. */
#ifndef VPU_RUNTIME_STICK_FAULT_H
#define VPU_RUNTIME_STICK_FAULT_H

#include <stdint.h>

#include "runtime/link/transport.h"
#include "runtime/link/xlink_wire.h"

typedef enum {
#define STICK_FAULT(name, ...) STICK_FAULT_##name,
#include "runtime/stick/fault.def"
    STICK_N_FAULTS
} stick_fault_kind;

typedef struct {
    stick_fault_kind kind;
    uint32_t number;
} stick_fault;

/* "NAME" or "NAME:N"; '-' and '_' are the same.
 *
 * VPU_ERR_INVALID  no such name (message: which there are), no number */
vpu_status stick_fault_parse(const char *text, stick_fault *out,
                             vpu_error *err);

/* NULL: it is not among them. */
const stick_fault *stick_fault_find(const stick_fault *list, uint32_t n,
                                    stick_fault_kind k);

/* A transport that does the link's faults among them; `inner` is the device's
 * end, stays the caller's and outlives the result. VPU_ERR_NOMEM. */
vpu_status stick_fault_wrap(transport *inner, xlink_layout layout,
                            const stick_fault *list, uint32_t n,
                            transport **out, vpu_error *err);

#endif
