/* Parameters of a layer, and the conditions Where puts on them. */
#ifndef VPU_RUNTIME_CONFIG_WHERE_H
#define VPU_RUNTIME_CONFIG_WHERE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "runtime/config/layer.h"

typedef struct {
    const char *name, *value; /* value may be "" */
} config_param;

/* The value, NULL when there is no such parameter. Exact case; the last of
 * equal names counts. */
const char *config_param_get(const config_param *params, size_t n,
                             const char *name);

/* Whether every restriction of the layer's Where holds. A missing parameter
 * means not met. Not numeric values are compared as text ignoring case; numeric
 * ones as floats, where the restriction may begin with >= <= > < or !=.
 *
 * *unmet  the first restriction that does not hold, NULL when all do
 *
 * VPU_ERR_PARSE  the parameter is numeric and the restriction has no number,
 *                or the release that c is strict about compares otherwise */
vpu_status config_where_match(const config_layer *layer,
                              const config_param *params, size_t n_params,
                              const config_context *c,
                              const config_where **unmet);

#endif
