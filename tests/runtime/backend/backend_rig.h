/* A layer bound, opened on a backend through the table, and run. Everything
 * lives in the arena; checks of the rig itself fail the test. */
#ifndef VPU_TESTS_RUNTIME_BACKEND_BACKEND_RIG_H
#define VPU_TESTS_RUNTIME_BACKEND_BACKEND_RIG_H

#include "base/arena.h"
#include "runtime/backend/backend.h"
#include "runtime/config/layer.h"
#include "runtime/config/model.h"
#include "tests/support/util.h"

typedef struct {
    arena *arena;
    char *dir; /* temporary; where kernels and bindings of text go */
    test_log log;
    config_file file;
    const char *blob;  /* "NAME=FILE" for Data bindings, or NULL */
    const char *model; /* an IR instead of a layer and shapes, or NULL */
    config_model ir;
    graph *graph;
    backend_config cfg;
    const backend_ops *ops;
    void *self;
    vpu_error err;
} backend_rig;

/* A new temporary folder, which also holds the caches of OpenCL drivers. */
void layer_init(backend_rig *r);
void layer_fini(backend_rig *r);
/* A file of the folder; its path. */
const char *layer_file(backend_rig *r, const char *name, const char *text);
/* Bind a binding file; shapes and params are blank-separated, as behind
 * --shape and --param. */
void layer_bind(backend_rig *r, const char *xml, const char *layer,
                const char *shapes, const char *params);
/* Open r->graph on what id names; an opened one is closed before. */
vpu_status layer_open(backend_rig *r, const char *id);
/* Write all inputs ("random:7" and so on) and run all launches; results may be
 * NULL. */
vpu_status layer_run(backend_rig *r, const char *inputs,
                     backend_result *results);
/* Does the first usable OpenCL device compute in half? PoCL on most CPUs does
 * not; where it does nothing is promoted. */
bool layer_opencl_has_half(backend_rig *r);
/* Contents of the first buffer with this name. */
void *layer_read(backend_rig *r, const char *name, uint64_t *bytes);

#endif
