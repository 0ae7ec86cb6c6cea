/* The table of planted faults: kernels of tests/check/faults, what they are run
 * with, and what is to be found in them (tests/check/README.md). */
#ifndef VPU_TESTS_CHECK_FAULT_H
#define VPU_TESTS_CHECK_FAULT_H

#include <stdbool.h>

#include "base/str.h"

enum { FAULT_MAX_EXPECTED = 32, FAULT_MAX_FILES = 512 };

typedef struct {
    char checker[32];
    unsigned line; /* 0 = none of the kernel's */
    bool seen;
} fault_expected;

typedef struct {
    char path[256];
    str args, bind, size, checks;
    bool clean; /* no fault at all, the form without -DFIXED is the only one */
    fault_expected want[FAULT_MAX_EXPECTED];
    unsigned n;
} fault;

/* The files whose path contains `only`, in order; how many. */
int fault_files(const char *only, char **files);
void fault_read(const char *path, fault *f);
void fault_free(fault *f);
/* dir/layer.xml, whose layer T has the kernel. */
void fault_write_layer(const fault *f, const char *dir);
/* Marks what is expected there; false: nothing is. line 0: none of the
 * kernel's. */
bool fault_see(fault *f, const char *checker, bool is_note, unsigned line);

#endif
