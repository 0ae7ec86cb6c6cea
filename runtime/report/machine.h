/* A machine description as JSON. */
#ifndef VPU_RUNTIME_REPORT_MACHINE_H
#define VPU_RUNTIME_REPORT_MACHINE_H

#include <jansson.h>

#include "sim/machine/desc.h"

/* {"machine", "parameters": [{"name", "value", "unit", "status", "about",
 * "source"}]}, in the order of params.def. A new reference; NULL: no memory. */
json_t *report_machine_json(const mach_desc *d);

#endif
