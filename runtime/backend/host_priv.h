/* Between host.c, which stays, and host_child.c, which loads the plug-in. */
#ifndef VPU_RUNTIME_BACKEND_HOST_PRIV_H
#define VPU_RUNTIME_BACKEND_HOST_PRIV_H

#include <stdbool.h>

#include "base/err.h"
#include "runtime/graph/tensor.h"
#include "include/vpusim/vpu_plugin.h"

enum { HOST_MAX_PORTS = 64 };

/* What the child is doing, for messages about its end. */
typedef enum {
    HOST_LOADING,
    HOST_INIT,
    HOST_FORMATS,
    HOST_SHAPE,
    HOST_EXECUTE,
    HOST_DESTROY,
    HOST_N_STEPS
} plugin_step;

/* Written by the child, in memory both have. */
typedef struct {
    _Atomic uint32_t step; /* plugin_step */
    _Atomic uint32_t done; /* it came to the end, well or with an error */
    int32_t status;        /* vpu_status */
    double seconds;        /* of execute */
    char name[64], version[64];
    char message[2048];
} plugin_shared;

/* A tensor as the graph has it; data is memory both have. */
typedef struct {
    const char *name;
    uint32_t port;
    tensor_desc desc;
    void *data;
} plugin_tensor;

typedef struct {
    const char *path;
    vpu_plugin_layer layer;
    plugin_tensor in[HOST_MAX_PORTS], out[HOST_MAX_PORTS];
    uint32_t n_in, n_out;
    bool execute; /* else only up to shape */
    plugin_shared *shared;
} plugin_job;

/* The child's whole life. */
_Noreturn void plugin_child(const plugin_job *job);

#endif
