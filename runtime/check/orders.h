/* A layer in many orders: does its result depend on luck?
 *
 * Each launch runs sequentially, then in reverse, in random orders of its
 * work-groups, and with groups of different SHAVEs by turns at copies, waits
 * and barriers, transfers as late as the device may make them. Where the result
 * differs, groups are taken away until the fewest are left whose order decides.
 * Deterministic. */
#ifndef VPU_RUNTIME_CHECK_ORDERS_H
#define VPU_RUNTIME_CHECK_ORDERS_H

#include "runtime/check/layer.h"

typedef struct {
    uint32_t n_random; /* orders, and turns, drawn by seed */
    uint64_t seed;
} layer_check_orders_config;

/* What differs. */
typedef struct {
    layer_check_shown *findings; /* of CHECK_ORDER, one a launch at most */
    uint32_t n;
    uint32_t n_orders; /* each launch ran in */
} layer_check_orders_result;

/* cfg's fill and sim as for layer_check. The findings are in the arena. */
vpu_status layer_check_orders(const layer_check_config *cfg,
                              const layer_check_orders_config *orders,
                              const graph *g, arena *a,
                              layer_check_orders_result *out, vpu_error *err);

#endif
