/* The package's Python as a process. Private to runtime/openvino. */
#ifndef VPU_RUNTIME_OPENVINO_PROCESS_H
#define VPU_RUNTIME_OPENVINO_PROCESS_H

#include "runtime/openvino/openvino.h"

/* Which Python, and what it is to look for modules in (or NULL).
 *
 * VPU_ERR_UNSUPPORTED  the place the user names has neither */
typedef struct {
    const char *python, *modules;
} openvino_python;
vpu_status openvino_find(const openvino_config *c, arena *a,
                         openvino_python *out, vpu_error *err);

/* vendor.py with these words, the first of which are the command, the network
 * and a folder. Errors as openvino_compile's. */
vpu_status openvino_call(const openvino_python *p, const char *const *words,
                         uint32_t n_words, const char *folder, arena *a,
                         vpu_error *err);

#endif
