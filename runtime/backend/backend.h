/* Whatever can run a graph, behind one table of operations.
 *
 * A backend finds devices, opens one for a graph, takes buffers' contents, runs
 * launches and gives contents back. Nothing above this line knows which one it
 * talks to: reports, diff, recordings and suites work from what is here.
 *
 *   name      device part         runs
 *   null      -                   nothing: outputs are zeros (for tests of the
 *                                 rest, and as the smallest example)
 *   sim       -                   the simulator
 *   opencl    P:D or a name       the .cl files on an OpenCL device
 *   host      FILE.so             a C plug-in that says what is right
 *   replay    FILE                a recording
 *   usb       bus-port, or        a stick; a virtual one
 *             unix:PATH,
 *             tcp:ADDRESS:PORT
 *
 * A device is asked for by id: "sim", "opencl", "opencl:0:1", "opencl:pthread",
 * "host:libgrn.so", "replay:grn.vpurec". Threading: an opened backend is used
 * by one thread at a time; different ones are independent. */
#ifndef VPU_RUNTIME_BACKEND_BACKEND_H
#define VPU_RUNTIME_BACKEND_BACKEND_H

#include "runtime/backend/sim.h"
#include "runtime/graph/graph.h"

/* A device, usable or not. Texts live as long as the arena of the probe. */
typedef struct {
    const char *id; /* as above; finds this device again */
    const char *name, *version;
    uint64_t memory_bytes; /* global memory; 0 = unknown or no limit */
    bool half;             /* computes in half; else halves are promoted */
    bool usable;
    const char *why; /* not usable: the reason, and what to do about it */
} backend_device;

/* What an opened backend can tell. */
typedef struct {
    const char *device, *version;
    bool stages;   /* launches run one by one and every buffer can be read in
                      between; else outputs only, after all of them */
    bool promoted; /* halves were computed, and kept, as floats */
    bool timed;    /* backend_result.seconds are the device's own */
    bool cycles;   /* and it counts cycles */
} backend_caps;

typedef struct backend_usb_config backend_usb_config;

typedef struct {
    const char
        *device; /* the id's part behind the first ':'; "" = none given */
    const char *source_dir;     /* NULL = beside the binding file's sources */
    const char *const *options; /* -D and -I for the OpenCL preprocessor */
    uint32_t n_options;
    const child_limits *limits; /* of compiling; NULL = the compiler's own */
    bool no_cache;
    double timeout_s;   /* per launch, host time; 0 = no limit */
    uint32_t n_threads; /* 0 = as many as the host has */
    /* Layer parameters as the binding resolved them, "name=value"; for
     * plug-ins.
     */
    const char *const *params;
    uint32_t n_params;
    const log_sink *log;
    void (*print)(void *user, const char *text, size_t n); /* printf; or NULL */
    void *print_user;
    /* What the simulator alone needs (machine, order, engine, trace); its
     * fields that also stand above are ignored. NULL = the default machine. */
    const backend_sim_config *sim;
    const backend_usb_config *usb; /* what sticks need (usb.h); NULL = nothing
                                      is known */
} backend_config;

/* Of one launch. */
typedef struct {
    double
        seconds; /* on the device, see caps.timed; else of the host's clock */
    uint64_t cycles; /* 0 = unknown */
} backend_result;

typedef struct backend_ops {
    const char *name;
    const char *about; /* one line */
    /* What there is now. Finding nothing is no error: then one device that is
     * not usable says why. Does not fail but for VPU_ERR_NOMEM. */
    vpu_status (*probe)(arena *a, backend_device **list, uint32_t *n,
                        vpu_error *err);
    /* cfg and g must outlive what is opened.
     *
     * VPU_ERR_INVALID      no such device (message: which there are)
     * VPU_ERR_UNSUPPORTED  the device cannot run this graph, and why
     * VPU_ERR_COMPILE, VPU_ERR_MISMATCH, VPU_ERR_LIMIT, VPU_ERR_IO  as sim's */
    vpu_status (*open)(const backend_config *cfg, const graph *g, void **self,
                       vpu_error *err);
    void (*close)(void *self); /* NULL is fine */
    const backend_caps *(*caps)(const void *self);
    /* All of graph buffer i, in its own type and layout. Constants are there
     * from the start; inputs must be written before the first launch. */
    vpu_status (*write)(void *self, uint32_t i, const void *data,
                        vpu_error *err);
    vpu_status (*read)(void *self, uint32_t i, void *data, vpu_error *err);
    /* Launches first .. first + n - 1 of the graph; results: n of them. Without
     * caps.stages only all at once.
     *
     * VPU_ERR_FAULT, VPU_ERR_LIMIT  as sim's; what ran before stays valid */
    vpu_status (*run)(void *self, uint32_t first, uint32_t n,
                      backend_result *results, vpu_error *err);
} backend_ops;

/* All of them, in a fixed order; NULL ends. */
extern const backend_ops *const backend_all[];

/* The backend an id names and its device part (a pointer into id).
 *
 * VPU_ERR_INVALID  no backend of that name (message: which there are) */
vpu_status backend_find(const char *id, const backend_ops **ops,
                        const char **device, vpu_error *err);

#endif
