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
 *   npy       DIR                 golden outputs, a file NAME.npy each
 *   usb       bus-port, or        a stick; a virtual one
 *             unix:PATH,
 *             tcp:ADDRESS:PORT
 *
 * A device is asked for by id: "sim", "opencl", "opencl:0:1", "opencl:pthread",
 * "host:libgrn.so", "replay:grn.vpurec". Threading: an opened backend is used
 * by one thread at a time; different ones are independent. */
#ifndef VPU_RUNTIME_BACKEND_BACKEND_H
#define VPU_RUNTIME_BACKEND_BACKEND_H

#include <stdatomic.h>

#include "base/log.h"
#include "base/str.h"
#include "base/trace/writer.h"
#include "runtime/config/release.h"
#include "runtime/graph/graph.h"
#include "runtime/link/xlink_wire.h"
#include "sim/check/check.h"
#include "sim/check/order.h"
#include "sim/exec/exec.h"
#include "sim/machine/desc.h"
#include "sim/machine/stage.h"

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
    bool cycles;   /* and it counts cycles; all in the last launch where
                      launches only run all at once */
    uint32_t n_shaves; /* that launches may use; 0 = not known, or none */
    /* Of a recording: its limit, 0 = none (recording.max_slowdown), and what
     * differs from the recorded run (recording_match.differs). */
    double max_slowdown;
    const char *const *differs;
    uint32_t n_differs;
} backend_caps;

/* What a backend may offer besides running a graph. A caller that needs one of
 * these asks for it (backend_offering, backend_extras), not for a backend. */
typedef enum {
    BACKEND_MACHINE = 1 << 0, /* SHAVEs and cycles: desc and all of `how` */
    BACKEND_TRACE = 1 << 1,   /* a timeline: backend_config.trace */
    BACKEND_INSPECT = 1 << 2, /* buffers in place, figures of launches */
    BACKEND_OBSERVE = 1 << 3, /* observers of launches (sim/exec/observe.h);
                                 code for a debugger: backend_config.debug */
    BACKEND_ORDER = 1 << 4,   /* launches in other orders; code for checking:
                                 backend_config.check */
    BACKEND_STICK =
        1 << 5, /* boots and talks to sticks: backend_config.stick */
    BACKEND_PARAMS = 1 << 6,   /* looks at the layer's parameters itself, not at
                                  the binding's alone: backend_config.params */
    BACKEND_RECORDED = 1 << 7, /* gives back a run of the past:
                                 backend_config.exact_source */
    BACKEND_LAYERS = 1 << 10,  /* `read` gives what layers of a network have
                                  written, too: graph_buffer_at */
    BACKEND_PROGRAM = 1 << 11, /* runs launches of OpenCL programs:
                                  graph_launch.program */
    BACKEND_NATIVE = 1 << 9,   /* runs stages that have no kernel:
                                  graph_launch.native */
    BACKEND_WINDOW = 1 << 8    /* runs launches on a part of their groups:
                                 graph_launch.window, looked at in each run */
} backend_extra;

/* For BACKEND_ORDER: the kernels are compiled for checking (sim/check/check.h)
 * and watched by a session of that kind; or, with orders, for
 * backend_order_ops.run alone. */
typedef struct {
    check_set enabled;
    const check_session *again; /* as check_config.again */
    const bool *taint;          /* by launch: compile it so; NULL = none */
    bool orders;
} backend_check;

/* For BACKEND_STICK. */
typedef struct {
    const char *layout;   /* "A", "B", "C"; NULL = what the firmware file says,
                             if it is a known one, else an error */
    const char *firmware; /* to boot a stick with; NULL = none */
    config_release release; /* whose compiler's blobs; 0 = the layout's last */
    uint32_t n_shaves;      /* 0 = 7 */
    const char *log;  /* file for every packet, "-" = standard error; or NULL */
    bool take_booted; /* a stick another program may use */
    /* Sessions end soon after it is set, with VPU_ERR_IO, and leave their stick
     * reset; NULL = nobody sets it. */
    const atomic_bool *stop;
    atomic_int *sessions; /* counts those that are open; NULL = nobody asks */
} backend_stick_options;

/* Bytes that buffers of an OpenCL program are aligned to: those of its largest
 * type, long16. */
enum { BACKEND_PROGRAM_ALIGN = 128 };

/* How a graph is to be run. */
typedef struct {
    const char
        *device; /* the id's part behind the first ':'; "" = none given */
    const char *source_dir; /* NULL = beside the binding file's sources */
    kernel_compile_options
        compile; /* -D, -I …; others look at the options alone */
    /* Without BACKEND_MACHINE n_threads and timeout_s alone are looked at.
     * n_shaves: 0 = all of the machine's. timeout_s: of a launch. */
    exec_options how;
    /* Borrowed; NULL = the default machine. What it says may change between
     * runs: only memory is taken at the opening. */
    const mach_desc *desc;
    /* Layer parameters as the binding resolved them, "name=value"; for
     * BACKEND_PARAMS. */
    const char *const *params;
    uint32_t n_params;
    bool exact_source; /* BACKEND_RECORDED: only to the very kernels, bindings
                          and names that were recorded */
    const log_sink *log;
    void (*print)(void *user, const char *text, size_t n); /* printf; or NULL */
    void *print_user;
    trc_writer *trace;          /* from the opening on; NULL = none */
    const sim_debug *debug;     /* NULL; its kernels' cycles mean nothing */
    const backend_check *check; /* NULL; likewise */
    const backend_stick_options *stick; /* NULL = nothing is known */
} backend_config;

/* Limits where nobody says others, per launch: of the device's time, since no
 * layer takes that long, and an endless loop gets there in about as much time
 * of ours; and of the host's. */
enum { BACKEND_DEVICE_SECONDS = 10, BACKEND_HOST_SECONDS = 3600 };

/* The machine that a user describes: a file, NULL = the built-in one, and n
 * numbers of it, "KEY=VALUE". In the arena.
 *
 * VPU_ERR_INVALID  it has fewer SHAVEs than that; 0 is fine
 * else             of mach_desc_load and mach_desc_set */
vpu_status backend_machine(const char *file, const char *const *settings,
                           size_t n, uint32_t shaves, arena *a, mach_desc *out,
                           vpu_error *err);
/* Its cycles in BACKEND_DEVICE_SECONDS. */
uint64_t backend_cycle_limit(const mach_desc *desc);

/* Of one launch. */
typedef struct {
    double
        seconds; /* on the device, see caps.timed; else of the host's clock */
    uint64_t cycles; /* 0 = unknown */
} backend_result;

/* What became of one launch of a simulated machine. */
typedef struct {
    const sim_kernel *kernel;
    exec_result exec;
    exec_profile profile; /* without rows unless backend_observe_ops.profile */
    /* Of the last run; NULL without time, and of native launches. */
    const exec_sample *sample;
    /* Of the last run with backend_observe_ops.keep_steps; else NULL. */
    const mach_record *steps;
    uint32_t n_shaves;
    double compile_s; /* host time */
    double run_s;     /* host time of a run, the median of all so far */
    double engine_s;  /* of it, in which the calling thread ran no groups */
} backend_launch;

/* How the groups of a launch run (sim/check/order.h). */
typedef struct {
    exec_order order;
    uint64_t seed;
    const uint64_t *list; /* NULL = all groups */
    uint64_t n_list;
    exec_turns turns;
    bool late;         /* transfers */
    uint32_t n_shaves; /* 0 = as many as the launch has */
} backend_order;

/* --- extras, each a table of its own; self is what `open` gave ----------- */

/* BACKEND_TRACE, of backends that can begin and end a timeline between runs. */
typedef struct {
    void (*to)(void *self, trc_writer *w); /* borrowed; NULL = none */
} backend_trace_ops;

typedef struct {
    /* Buffer i of the graph in memory. Constants are filled in. */
    void *(*buffer)(void *self, uint32_t i);
    /* Its device address, and the memory it is in. */
    uint32_t (*address)(const void *self, uint32_t i);
    const memory *(*memory)(const void *self);
    /* After a run: launch i of the graph. */
    const backend_launch *(*launch)(const void *self, uint32_t i);
    /* Launch i of the graph has other sizes, numbers, or bytes of local memory
     * than when it was opened. Errors as of the opening. */
    vpu_status (*rebind)(void *self, uint32_t i, vpu_error *err);
} backend_inspect_ops;

typedef struct {
    /* The observers of the runs that follow; the list is borrowed. Launches of
     * kernels that come from no file (conversions) have them, too. */
    void (*observers)(void *self, const exec_observer *const *list, uint32_t n);
    /* Count the runs that follow by source line, into backend_launch.profile.
     */
    void (*profile)(void *self, const char *name, bool on);
    /* The launches that follow begin at this place in the order of their
     * groups; one SHAVE. */
    void (*begin_at)(void *self, uint64_t first);
    /* Keep the steps of the runs that follow, into backend_launch.steps, as far
     * as they fit into so many bytes for all launches together; 0 = do not. */
    void (*keep_steps)(void *self, uint64_t bytes);
} backend_observe_ops;

typedef struct {
    /* Launch i alone, with cfg->check->orders. Errors are exec_run's. */
    vpu_status (*run)(void *self, uint32_t i, const backend_order *o,
                      vpu_error *err);
    /* With cfg->check: the session that watches; findings, and what a further
     * run would tell. */
    check_session *(*checker)(void *self);
} backend_order_ops;

typedef struct {
    /* The layout that the options choose. VPU_ERR_INVALID: none, and how to
     * choose. */
    vpu_status (*layout)(const backend_stick_options *o, xlink_layout *out,
                         vpu_error *err);
    /* Open a session with that device and send RESET. */
    vpu_status (*reset)(const char *device, const backend_stick_options *o,
                        const log_sink *log, vpu_error *err);
    /* Of an opened stick, between runs, in degrees Celsius.
     *
     * VPU_ERR_IO, VPU_ERR_LIMIT, VPU_ERR_MISMATCH  it does not answer so */
    vpu_status (*temperature)(void *self, double *celsius, vpu_error *err);
} backend_stick_ops;

typedef struct backend_ops {
    const char *name;
    const char *called; /* "the simulator", "sticks": for messages */
    const char *about;  /* one line */
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
    /* From another thread, which has set cfg->how.cancel: the launch that runs
     * ends soon, with VPU_ERR_STOPPED. NULL: launches are run to their end. */
    void (*cancel)(void *self);
    /* Extras without a table of their own: BACKEND_MACHINE, BACKEND_TRACE,
     * BACKEND_PARAMS, BACKEND_WINDOW, BACKEND_NATIVE. */
    uint32_t extras;
    const backend_trace_ops *trace;     /* NULL: a timeline is from the opening
                                           on, or there is none */
    const backend_inspect_ops *inspect; /* NULL: not offered */
    const backend_observe_ops *observe;
    const backend_order_ops *order;
    const backend_stick_ops *stick;
} backend_ops;

/* All of them, in a fixed order; NULL ends. */
extern const backend_ops *const backend_all[];

/* The backend an id names and its device part (a pointer into id).
 *
 * VPU_ERR_INVALID  no backend of that name (message: which there are) */
vpu_status backend_find(const char *id, const backend_ops **ops,
                        const char **device, vpu_error *err);

/* All extras of a backend, bits of backend_extra. */
uint32_t backend_extras(const backend_ops *ops);
/* The first backend with all of these extras; never NULL for what one backend
 * of this program offers. */
const backend_ops *backend_offering(uint32_t extras);
/* "the simulator", "the simulator and sticks": the backends with this extra. */
void backend_with(backend_extra extra, str *out);

/* A backend that is open. */
typedef struct {
    const backend_ops *ops;
    void *self;
} backend;

/* ops->open, after a look at what cfg asks for.
 *
 * VPU_ERR_UNSUPPORTED  cfg wants an extra that the backend does not offer
 * else                 as backend_ops.open */
vpu_status backend_open(const backend_ops *ops, const backend_config *cfg,
                        const graph *g, backend *out, vpu_error *err);
/* A zeroed one is fine; it is zeroed again. */
void backend_close(backend *b);
/* ops->run. VPU_ERR_NOMEM, too, whatever was short of memory on the way. */
vpu_status backend_run(const backend *b, uint32_t first, uint32_t n,
                       backend_result *results, vpu_error *err);
/* All launches of g, which it was opened for, in order. */
vpu_status backend_run_all(const backend *b, const graph *g, vpu_error *err);
/* Launch i alone, after those before it. */
vpu_status backend_run_one(const backend *b, uint32_t i, vpu_error *err);

/* BACKEND_INSPECT. */
static inline void *backend_buffer(const backend *b, uint32_t i)
{
    return b->ops->inspect->buffer(b->self, i);
}

static inline uint32_t backend_address(const backend *b, uint32_t i)
{
    return b->ops->inspect->address(b->self, i);
}

static inline const memory *backend_memory(const backend *b)
{
    return b->ops->inspect->memory(b->self);
}

static inline const backend_launch *backend_launch_of(const backend *b,
                                                      uint32_t i)
{
    return b->ops->inspect->launch(b->self, i);
}

/* After a run of all launches of g, which it was opened for, by a backend of
 * BACKEND_MACHINE with timing: the same inference in n executors at once, on
 * that machine. trace and stage_cycles (a number for each launch) may be NULL.
 * Functions of the host take no time there.
 *
 * VPU_ERR_INVALID  as mach_executors_run */
vpu_status backend_executors(const backend *b, const graph *g,
                             const mach_desc *desc, uint32_t n,
                             trc_writer *trace, double *stage_cycles,
                             mach_executors_result *out, vpu_error *err);

#endif
