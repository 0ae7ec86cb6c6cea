/* Why a command stopped: the kind of its error, as the first words of the
 * message and as the exit status. docs/debugging.md has the table. */
#ifndef VPU_RUNTIME_CLI_STOP_H
#define VPU_RUNTIME_CLI_STOP_H

#include "base/err.h"

/* For --help of commands that run kernels. */
/* clang-format off */
#define STOP_HELP \
    "Exit status, and the message's first words, when a run stops (docs/debugging.md):\n" \
    "   2  command line, binding, input, a kernel that does not compile, output that\n" \
    "      cannot be written\n" \
    "   3  kernel bug             6  untested part of the model\n" \
    "   4  undefined behaviour    7  limit: --timeout, --max-cycles, or memory\n" \
    "      on the device         70  our own bug\n" \
    "   5  unsupported feature  130  interrupted\n"
/* clang-format on */

/* The exit status of an error, from 2 on; 0 for VPU_OK. */
int stop_status(vpu_status code);
/* "kernel bug"; NULL for what stops before anything runs (status 2). */
const char *stop_kind(vpu_status code);
/* From now on a signal that can only come from a defect of ours (SIGSEGV,
 * SIGABRT …) removes half-written files, says so in one line and ends the
 * program with our own bug's status. Not under a sanitizer, which has a
 * handler of its own. */
void stop_watch_crashes(void);
/* In a child whose parent says it: such a signal ends it as it ends any
 * process. */
void stop_leave_crashes(void);

#endif
