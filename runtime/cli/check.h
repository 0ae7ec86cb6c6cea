/* A layer run for its checkers, with the options of a command. */
#ifndef VPU_RUNTIME_CLI_CHECK_H
#define VPU_RUNTIME_CLI_CHECK_H

#include "runtime/check/layer.h"
#include "runtime/cli/target.h"

/* cfg: what is to be looked for, and run.log; the rest of it is set here.
 * Errors are those of layer_check and of filling the inputs. */
vpu_status cli_check_layer(const target_options *o, const target *t,
                           layer_check_config *cfg, arena *a,
                           layer_check_report *r, vpu_error *err);

#endif
