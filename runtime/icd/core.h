/* What the OpenCL driver needs of the simulator, as a table: the driver is a
 * small library that every OpenCL program on the machine loads, and loads the
 * large one, with its compiler, when a program makes its first context.
 *
 * A device is used by one thread at a time but for its memory's bytes; units
 * and kernels by any thread, each by one at a time. */
#ifndef VPU_RUNTIME_ICD_CORE_H
#define VPU_RUNTIME_ICD_CORE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "sim/exec/exec.h"
#include "sim/machine/desc.h"

typedef struct icd_machine icd_machine; /* memory, host threads */
typedef struct icd_unit icd_unit;       /* OpenCL C behind the front end */

typedef struct {
    const char *name; /* of the launch, for messages */
    const sim_kernel *kernel;
    const exec_value *values;
    uint32_t groups[3], local[3], offset[3], work_dim;
    uint32_t n_shaves;
    uint64_t max_cycles; /* 0 = no limit */
    double timeout_s;    /* 0 = no limit */
    void (*print)(void *user, const char *text, size_t n);
    void *print_user;
} icd_launch;

typedef struct {
    const char *text;
    const char *const *options; /* words for the compiler */
    uint32_t n_options;
    const char *const *names, *const *headers; /* that it may include */
    uint32_t n_headers;
} icd_source;

typedef struct {
    const char *version; /* VPU_VERSION: both libraries are of one build */
    /* VPU_ERR_NOMEM  no address space for the device's memory */
    vpu_status (*open)(const mach_desc *desc, icd_machine **out,
                       vpu_error *err);
    void (*close)(icd_machine *m);
    uint8_t *(*window)(const icd_machine *m);
    /* Errors of memory_alloc_aligned. */
    vpu_status (*alloc)(icd_machine *m, const char *name, uint64_t bytes,
                        uint32_t align, uint32_t *address, vpu_error *err);
    void (*give_back)(icd_machine *m, uint32_t address);
    /* text and options (words for clang) are copied; log gets the compiler's
     * messages. Errors of kernel_unit_of_text. */
    vpu_status (*compile)(const icd_source *source, str *log, icd_unit **out,
                          vpu_error *err);
    /* Several as one; the parts may go. Errors of kernel_unit_link. */
    vpu_status (*link)(icd_unit *const *parts, uint32_t n, icd_unit **out,
                       vpu_error *err);
    /* Its kernels' names. */
    const char *const *(*names)(const icd_unit *u, uint32_t *n);
    /* Made when first asked for; lives as long as the unit. Errors of
     * kernel_of_unit. */
    vpu_status (*kernel)(icd_unit *u, const char *name, const sim_kernel **out,
                         vpu_error *err);
    void (*release)(icd_unit *u); /* NULL is fine */
    /* CMX of a work-group of that size, and of the arguments' local arrays. */
    uint32_t (*local_bytes)(const icd_launch *l, const mach_desc *desc,
                            str *list);
    const char *(*cause)(mach_cause c);
    /* Errors of exec_run. */
    vpu_status (*run)(icd_machine *m, const icd_launch *l, exec_result *out,
                      vpu_error *err);
} icd_core;

__attribute__((visibility("default"))) extern const icd_core vpusim_icd_core;

#endif
