/* A machine description as JSON. */
#ifndef VPU_RUNTIME_REPORT_MACHINE_H
#define VPU_RUNTIME_REPORT_MACHINE_H

#include <jansson.h>

#include "sim/machine/desc.h"

/* {"machine", "parameters": [{"name", "value", "unit", "status", "about",
 * "source"}], "modes": [{"name", "value", "about"}], "fast_cache_bits":
 * [{"name", "bit", "about"}]}, in the order of params.def and fast.def. A new
 * reference; NULL: no memory. */
json_t *report_machine_json(const mach_desc *d);

#endif
