/* The user's own gdb around a run. */
#ifndef VPU_RUNTIME_CLI_GDB_H
#define VPU_RUNTIME_CLI_GDB_H

#include <stdbool.h>

#include "base/err.h"
#include "sim/compiler/kernel.h"

/* Is a debugger attached to this process? */
bool gdb_attached(void);
/* Becomes gdb, about to run this program with these arguments (argv[0] is the
 * command, "run"). Returns only on failure.
 *
 * VPU_ERR_IO  gdb is not installed, or cannot be started */
vpu_status gdb_become(int argc, char **argv, vpu_error *err);
/* "gid=x,y,z" as the item to stop at; missing y and z are 0. False: it is
 * something else. */
bool gdb_parse_break_at(const char *text, sim_debug *out);

#endif
