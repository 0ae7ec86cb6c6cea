/* Shared libraries that are loaded when their first function is needed, so that
 * a command without use for them does not wait for them: LLVM and SDL take ten
 * times as long as a cached run.
 *
 * The linker does not know how to; scripts/late-libraries makes, for a program
 * or library of ours, a function of the same name for each that it uses, which
 * jumps to the library's. A program that is linked without them (tests,
 * sanitizers) has its libraries as usual. */
#ifndef VPU_BASE_LATE_H
#define VPU_BASE_LATE_H

#include <stdint.h>

#include "base/err.h"

/* Loads the library whose file name begins so ("libLLVM") unless it is there.
 * To be called before its first use: who does not ask gets it loaded, too, but
 * where that fails the process is aborted. Any thread.
 *
 * VPU_ERR_UNSUPPORTED  it is not on this machine, or another version; message:
 *                      the package to install */
vpu_status late_need(const char *library, vpu_error *err);

/* Made by scripts/late-libraries. */
typedef struct {
    const char *file, *package;
    const char *const *names; /* of its functions */
    void **places;            /* where each is jumped to through */
    uint64_t n;
} late_library;

#endif
