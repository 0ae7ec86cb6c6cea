/* The kernels of a binding file as the vendor's compiler wants them: .bin files
 * that the binding names. Private to runtime/openvino. */
#ifndef VPU_RUNTIME_OPENVINO_BINS_H
#define VPU_RUNTIME_OPENVINO_BINS_H

#include "runtime/openvino/openvino.h"

typedef struct {
    const char *source; /* as the binding names it */
    const uint8_t *bytes;
    size_t n;
} bins_file;

typedef struct {
    bins_file *list;
    uint32_t n;
    size_t cap;
} bins;

/* Every source of c->custom: a .bin as it is, a .cl compiled. In a. Errors of
 * reading and compiling, VPU_ERR_PARSE for the binding file. */
vpu_status bins_make(const openvino_config *c, arena *a, bins *out,
                     vpu_error *err);
/* The binding file once more, in the folder, naming copies of these; *out: its
 * name. */
vpu_status bins_write(const bins *b, const char *binding, const char *folder,
                      arena *a, const char **out, vpu_error *err);

#endif
