/* SimpleGPU layers: the sizes that their WorkSizes give.
 *
 * A formula has + - * / %, brackets, decimal integers and the letters B F Y X
 * of either case; no sign stands before a value. It is computed as int32, "/"
 * cuts toward zero. What B, F, Y and X are:
 *
 *   dim="" or "output"        the output's dims 0 to 3, 1 where it has fewer
 *   dim="input", "input,N"    the input's last dims: X the last, Y the one
 *                             before...; but Y, F and B only as far as the
 *                             output's rank goes (above 1, 2, 3), else 0
 *
 * as in the published plug-in of 2021.4. Where that has undefined behaviour
 * (division by zero, an input of a lower rank than the output), this one
 * reports an error. Thread safe. */
#ifndef VPU_RUNTIME_CONFIG_GPU_H
#define VPU_RUNTIME_CONFIG_GPU_H

#include "runtime/config/layer.h"

/* The most dims a work size has. */
enum { CONFIG_GPU_MAX_DIMS = 3 };

/* B, F, Y, X of a formula, in this order. */
typedef struct {
    int32_t dims[4];
} config_gpu_vars;

/* The sizes of list (k's global or local), *n of them, each at least 1. A list
 * without text has none. vars NULL: only whether they are formulas; out is not
 * to be used.
 *
 * VPU_ERR_PARSE    not a formula, more than CONFIG_GPU_MAX_DIMS
 * VPU_ERR_INVALID  division by zero, a size that is not positive or does not
 *                  fit
 * The message has file, line and column. */
vpu_status config_gpu_sizes(const config_layer *l, const char *what,
                            config_text list, const config_gpu_vars *vars,
                            uint32_t out[CONFIG_GPU_MAX_DIMS], size_t *n,
                            vpu_error *err);

/* The order in which a SimpleGPU kernel sees input `port` or the output: of its
 * first binding, as all of them agree. ANY is BFYX, for an output the order of
 * the first input. */
config_format config_gpu_format(const config_kernel *k,
                                config_binding_kind kind, uint32_t port);

#endif
