/* What the parts of libvpusim share: its objects. Private to runtime/api.
 *
 * Each object has an arena of its own, in which it lies itself. Whatever may
 * allocate runs under oom_guard: when memory is short, an object that was being
 * made goes with its arena, and one that was there is as it was. */
#ifndef VPU_RUNTIME_API_API_PRIV_H
#define VPU_RUNTIME_API_API_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/str.h"
#include "include/vpusim/vpu.h"
#include "runtime/backend/backend.h"
#include "runtime/graph/bind.h"
#include "runtime/graph/layer.h"
#include "runtime/graph/share.h"
#include "runtime/report/bundles.h"
#include "runtime/report/kanata.h"
#include "runtime/report/report.h"

/* --- options -------------------------------------------------------------- */

/* *to, `size` bytes, from the caller's structure, which begins with its own
 * size; what that lacks is 0. `given` NULL: all 0.
 *
 * VPU_ERR_INVALID  of a newer header, or no size at all */
vpu_status api_take_options(void *to, size_t size, const void *given,
                            const char *type, vpu_error *err);
/* VPU_ERR_INVALID: p is NULL; the message names the argument. */
vpu_status api_need(const void *p, const char *what, vpu_error *err);
/* VPU_ERR_INVALID: the number is above the enum's last. */
vpu_status api_check_enum(uint32_t value, uint32_t last, const char *what,
                          vpu_error *err);
/* Both as texts of the arena. */
const char *const *api_copy_list(arena *a, const char *const *list, size_t n);

/* --- objects -------------------------------------------------------------- */

/* A kind of operation, its texts its own. */
typedef struct api_kind {
    arena *arena; /* NULL: one of the library's */
    vpu_kind kind;
    bool is_layer;         /* a type of kind.file, which is a binding file */
    struct api_kind *next; /* an earlier one */
} api_kind;

/* A program that a kind of operation was compiled from. */
typedef struct api_compiled {
    const vpu_kind *kind;
    const char *options; /* all, with blanks between */
    vpu_program *program;
    struct api_compiled *next;
} api_compiled;

struct vpu_context {
    atomic_uint refs; /* of the user, and of what was made in it */
    arena *arena;
    const char *id;
    const backend_ops *ops;
    const char *device; /* part of id */
    mach_desc desc;
    sim_debug debug; /* used where cfg.debug is */
    child_limits compile;
    const char *tuned; /* file; NULL = none */
    const char *local; /* likewise */
    backend_stick_options stick;
    atomic_bool stop;    /* sessions with sticks are to end */
    atomic_int sessions; /* those that are open */
    config_release release;
    bool keep_conversions;
    backend_config cfg; /* for graphs: all but what is a graph's own */
    log_sink log;
    void (*log_user)(void *user, vpu_log_level level, const char *text);
    void (*progress)(void *user, const char *of, const char *units,
                     uint64_t done, uint64_t total);
    void *user;
    pthread_mutex_t lock; /* of what follows */
    api_kind *kinds;      /* latest first */
    api_compiled *compiled;
};

/* context.c: engine, timing and order of options that are checked. */
vpu_status api_context_check(const vpu_context_options *o, vpu_error *err);
exec_options api_context_how(const vpu_context_options *o);
/* kind.c */
void api_kinds_free(vpu_context *c);
/* NULL: there is none. Lives as long as the context. */
const vpu_kind *api_kind_find(vpu_context *c, const char *name);
/* Is it a layer type of a binding file? api_layer_kind_add adds those. */
bool api_kind_is_layer(vpu_context *c, const vpu_kind *k);
/* A list of kinds, latest first, into the context, or away. */
void api_kinds_join(vpu_context *c, api_kind *list);
void api_kinds_drop(api_kind *list);
/* layer_kind.c: errors of vpu_graph_add_layer. */
vpu_status api_layer_kind_add(vpu_graph *g, const vpu_kind *kind,
                              const vpu_add_options *o, vpu_operation **out,
                              vpu_error *err);
/* The kernel of a kind, compiled once for the same options, which are in front
 * of the kind's own. */
vpu_status api_kind_kernel(vpu_context *c, const vpu_kind *kind,
                           const vpu_variant *v, const vpu_kernel **out,
                           vpu_error *err);
/* builtin.c: the library's own; .name NULL ends. */
extern const vpu_kind api_builtin[];

vpu_context *api_context_keep(vpu_context *c);

struct vpu_kernel {
    vpu_program *program;
    const char *asked; /* by this name; NULL: for the only one */
    sim_kernel *compiled;
    struct vpu_kernel *next;
};

struct vpu_program {
    atomic_uint refs;
    arena *arena;
    vpu_context *context;
    bool of_context; /* which frees it: it does not keep the context */
    const char *source, *path; /* source NULL: path is a file */
    const char *const *options;
    uint32_t n_options;
    vpu_kernel *kernels; /* those that were asked for */
};

vpu_program *api_program_keep(vpu_program *p);

struct vpu_tensor {
    vpu_graph *graph;
    const char *name, *label; /* label: of a model's layer; or NULL */
    uint32_t role, type, rank;
    uint32_t dims[VPU_MAX_RANK];
    vpu_tensor *parent; /* of a view; NULL: it has a buffer of its own */
    uint32_t buffer;    /* of the graph */
    uint64_t offset;    /* of the first element in the buffer, bytes */
    uint64_t bytes;     /* of the elements, packed */
    uint64_t strides[VPU_MAX_RANK]; /* bytes */
    bool has_gaps;                  /* or padding: not in one piece */
    uint32_t place[VPU_MAX_RANK];   /* of a view: in the root */
    /* Of a root: memory beside it, what that holds, and the elements that mean
     * something. */
    uint32_t pad_before[VPU_MAX_RANK], pad_after[VPU_MAX_RANK];
    uint32_t border;
    double border_value;
    vpu_region valid;
    /* Of inputs and outputs that are no views: their contents. When the graph
     * is open and its device shares, the device's memory, else malloc'ed. */
    void *memory;
    void *imported;          /* the caller's memory for them; NULL = none */
    bool written;            /* an input that has contents */
    struct vpu_tensor *next; /* of views */
};

/* How an operation of a kind was added, to do so again with other shapes. */
typedef struct {
    const vpu_kind *kind;
    vpu_add_options options; /* its lists are the graph's */
} api_recipe;

/* How a layer was bound, to do so again with other shapes. */
typedef struct {
    graph_layer_texts texts;
    const graph *bound;
    const uint32_t *buffer; /* of the graph, for each of the layer's */
    bool output_as_input;   /* output 0 has the shape of input 0 */
} api_layer_recipe;

struct vpu_operation {
    vpu_graph *graph;
    const char *name;
    const vpu_kernel *kernel;      /* NULL: a layer */
    const api_recipe *recipe;      /* NULL: it is of no kind */
    const api_layer_recipe *layer; /* NULL: it is no layer, or one of a model */
    uint32_t launch, n_launches;   /* of the graph */
    struct vpu_operation *outer;   /* the composed one that it is a part of */
    bool composed, ended;
    bool is_host;      /* a function of the host's, in front of `launch` */
    bool *set;         /* of a kernel: by argument */
    vpu_window window; /* of a kernel: the largest one */
    bool in_part;      /* it runs on a smaller one that the caller chose */
    const graph_request *request; /* of a layer; NULL: a kernel */
    bool output_assumed;          /* a layer whose output nobody gave a shape */
    vpu_tensor **inputs, **outputs;
    size_t n_inputs, n_outputs, inputs_cap, outputs_cap;
    struct vpu_operation *next;
};

/* The function of graph.hosts of the same number. */
typedef struct {
    vpu_operation *operation;
    vpu_status (*function)(void *user, const void *const *inputs,
                           void *const *outputs, vpu_error *err);
    void *user;
    void (*release)(void *user);
} api_host;

/* A tensor of the graph for each of its buffers that the user can see. */
struct vpu_graph {
    atomic_uint refs; /* of the user, of results, and of clones */
    arena *arena;
    vpu_context *context;
    vpu_graph *origin; /* of a clone: it has its texts; else NULL */
    graph g;
    size_t buffers_cap, launches_cap;
    vpu_tensor **tensors; /* by buffer; NULL: not the user's */
    size_t n_tensors, tensors_cap;
    vpu_tensor *views; /* latest first */
    uint32_t n_views;
    vpu_program **programs; /* kept */
    size_t n_programs, programs_cap;
    vpu_operation *operations, **last_operation;
    uint32_t n_operations;
    vpu_operation *begun;  /* the innermost composed one; NULL = none */
    bool sealed;           /* verified; nothing is added any more */
    bool owns_arguments;   /* of launches; a clone has those of its origin */
    bool resizing;         /* but numbers are set by vpu_graph_resize */
    bool resized;          /* some tensor is smaller than its memory */
    bool ran;              /* outputs have contents */
    bool loaded;           /* from a file, whose kernels need no other one */
    graph_sharing sharing; /* of a graph that was opened */
    const char *memory_text, *memory_svg; /* NULL: not made yet */
    const char **params;                  /* "name=value", of the layers */
    size_t n_params, params_cap;
    api_host *hosts;
    size_t n_hosts, hosts_cap, graph_hosts_cap;
    backend_config cfg;
    graph_launch *planned; /* launches as they were before the plan to open it;
                              NULL: there is none, or it is open */
    backend open;          /* ops NULL: it is not */
    atomic_bool cancel;
    vpu_result *latest; /* which reads the figures of launches from the open
                           backend; NULL: none does */
};

/* tensor.c: the element type in OpenCL C. */
const char *api_opencl_type(uint32_t type);
/* The tensor whose buffer it is. */
vpu_tensor *api_tensor_root(vpu_tensor *t);
const vpu_tensor *api_tensor_root_of(const vpu_tensor *t);
/* Where the first element of an input or output is for the caller, and where
 * the memory of its root begins; NULL: nowhere yet. */
void *api_tensor_contents(const vpu_tensor *t);
void *api_tensor_memory(const vpu_tensor *t);
/* Of the root's memory. */
uint64_t api_tensor_memory_bytes(const vpu_tensor *t);
/* graph.c: verifies, once. Errors as vpu_graph_finalize's, without those of the
 * backend. */
vpu_status api_graph_seal(vpu_graph *g, vpu_error *err);
/* flow.c: what is read was written before, outputs are written, and nothing in
 * parts that overlap. VPU_ERR_INVALID. */
vpu_status api_graph_check_flow(const vpu_graph *g, arena *a, vpu_error *err);
/* VPU_ERR_INVALID: it is sealed. */
vpu_status api_graph_needs_open(const vpu_graph *g, vpu_error *err);
/* add.c: shapes, sizes and numbers of an operation of a kind, whose inputs have
 * other dims than before; resize.c makes room for them. Errors of
 * vpu_graph_add; what was changed then stays. */
vpu_status api_add_again(vpu_operation *op, vpu_error *err);
/* layer.c: the same of a layer. Also VPU_ERR_UNSUPPORTED, VPU_ERR_LIMIT. */
vpu_status api_layer_again(vpu_operation *op, vpu_error *err);
/* operation.c: other sizes. Errors of vpu_graph_add_kernel. */
vpu_status api_operation_take_sizes(vpu_operation *op,
                                    const vpu_launch_options *o,
                                    vpu_error *err);
/* resize.c: a tensor's dims, if they fit into its memory and may change.
 * VPU_ERR_LIMIT, VPU_ERR_UNSUPPORTED */
vpu_status api_resize_tensor(vpu_tensor *t, const uint32_t *dims,
                             vpu_error *err);
/* A new buffer, with a tensor of the user's or, without a role, none. The name
 * is as wanted, or with `of` and a dot in front when it is taken. */
typedef struct {
    const char *name, *of, *label;
    uint32_t role; /* 0: not the user's */
    graph_buffer buffer;
} api_new_tensor;
vpu_tensor *api_graph_add_buffer(vpu_graph *g, const api_new_tensor *n);
vpu_operation *api_graph_add_operation(vpu_graph *g, const char *name);
/* One more of the layers and types that reports name. */
void api_graph_describe(vpu_graph *g, const char *layer, const char *type);
void api_operation_reads(vpu_operation *op, vpu_tensor *t);
void api_operation_writes(vpu_operation *op, vpu_tensor *t);
graph_launch *api_graph_add_launch(vpu_graph *g);
/* work(user, err) under oom_guard; after an error the graph is as it was. */
vpu_status api_graph_change(vpu_graph *g,
                            vpu_status (*work)(void *user, vpu_error *err),
                            void *user, vpu_error *err);
/* One more of the layers and types that reports name. */
void api_graph_describe(vpu_graph *g, const char *layer, const char *type);
void api_operation_reads(vpu_operation *op, vpu_tensor *t);
void api_operation_writes(vpu_operation *op, vpu_tensor *t);
graph_launch *api_graph_add_launch(vpu_graph *g);
/* How its context runs it. */
backend_config api_graph_config(const vpu_graph *g);
/* VPU_ERR_INVALID: an input was never written. */
vpu_status api_graph_check_inputs(const vpu_graph *g, vpu_error *err);
/* Contents of buffer i, where it is an input; else NULL. */
void *api_graph_input(const vpu_graph *g, uint32_t i);
/* VPU_ERR_INVALID: it is not finalized, or an input was never written. */
vpu_status api_graph_check_ready(const vpu_graph *g, vpu_error *err);
/* Contents of the graph's inputs (user) into a backend that was opened for it.
 * Errors of backend_ops.write. */
vpu_status api_graph_fill(void *user, const backend *b, vpu_error *err);

/* host.c: the functions of the host in front of launch i, or behind the last,
 * on the memory of b, which was opened for the graph. seconds: of each of the
 * graph's, or NULL. Errors of the functions, and of backend_ops. */
vpu_status api_hosts_run(const vpu_graph *g, const backend *b, uint32_t i,
                         double *seconds, vpu_error *err);
/* The launch behind i that a function of the host stands in front of;
 * n_launches where there is none. */
uint32_t api_hosts_next(const vpu_graph *g, uint32_t i);
/* VPU_ERR_UNSUPPORTED, with the name of one and the reason. */
vpu_status api_hosts_refuse(const vpu_graph *g, const char *why,
                            vpu_error *err);
void api_hosts_free(vpu_graph *g);

vpu_graph *api_graph_keep(vpu_graph *g);

/* result.c: what the latest result still reads from the backend becomes its
 * own, since the backend runs again or is closed. */
void api_result_settle(vpu_graph *g);
/* Of a run that has just ended. */
typedef struct {
    vpu_graph *graph;
    const backend_result *results; /* a row of launches for each repetition */
    uint32_t repeat;
    const double *hosts; /* seconds of the functions of the host's */
    uint64_t copied;
    uint32_t profile_lines; /* 0: no profile */
    uint32_t n_executors;   /* 0: nobody asked */
    mach_executors_result executors;
} api_run;
vpu_status api_result_create(vpu_result **out, const api_run *run,
                             vpu_error *err);

/* run.c: the contents of inputs to the device, of outputs from it; *copied
 * grows by the bytes of imported memory. Errors of backend_ops.write and read.
 */
vpu_status api_run_write_inputs(const vpu_graph *g, uint64_t *copied,
                                vpu_error *err);
vpu_status api_run_read_outputs(const vpu_graph *g, uint64_t *copied,
                                vpu_error *err);

/* The launch of an operation of one kernel; others are conversions for it. */
static inline graph_launch *api_operation_launch(const vpu_operation *op)
{
    return &op->graph->g.launches[op->launch + op->n_launches - 1];
}

/* window.c: all of a launch, and what of it runs. */
vpu_window api_window_all(const graph_launch *l);
vpu_window api_window_of(const graph_launch *l);
/* The launch runs on this window from now on. */
void api_window_take(graph_launch *l, const vpu_window *w);
/* VPU_ERR_UNSUPPORTED: the backend runs launches whole. */
vpu_status api_needs_windows(const vpu_graph *g, vpu_error *err);
/* hints.c: `what` is an error's message or a finding's text. Does it name the
 * output of a layer? */
bool api_graph_names_output(const vpu_graph *g, const char *what);
/* Tells the context's log what nobody said about the layer, if that may be
 * behind it. */
void api_graph_hint(const vpu_graph *g, const char *what);

/* run_files.c: what a run writes beside its tensors, and when the host did
 * what. */
typedef struct {
    const char *name;
    uint64_t begin, end; /* ns; end 0: it lasts */
} api_work;
typedef struct {
    vpu_graph *graph;
    const vpu_run_options *options;
    trc_writer *trace;
    bool traced; /* the open backend has it */
    file_out folded, kanata_file;
    kanata *kanata;
    bundles *bundles;
    const exec_observer *observers[2]; /* of these, n_observers */
    uint32_t n_observers;
    api_work *work; /* malloc'ed; none unless it is to be in the timeline */
    uint32_t n_work;
} api_run_files;
/* What looks into a run, and needs more than a plain one: refused before any
 * work, as vpu_run_options_check does. */
vpu_status api_run_files_ask(const vpu_run_options *o, const char *id,
                             const backend_ops *ops, const exec_options *how,
                             vpu_error *err);
/* Opened: of a graph that is planned, or open.
 *
 * VPU_ERR_INVALID      no launch has the work-group for Kanata
 * VPU_ERR_UNSUPPORTED  the backend has no timelines of single runs
 * VPU_ERR_IO           a file */
vpu_status api_run_files_open(api_run_files *f, vpu_error *err);
/* What the host does from now on; NULL: nothing more. */
void api_run_files_work(api_run_files *f, const char *what);
/* The run that follows is the one that timeline and pipeline are of. */
void api_run_files_observe(api_run_files *f);
/* After the runs: outputs, report, stacks and pipeline. Errors of files. */
vpu_status api_run_files_save(api_run_files *f, vpu_result *r, vpu_error *err);
/* The backend does not see them any more. */
void api_run_files_detach(api_run_files *f);
/* The timeline into its file, or, after the error st, nothing of all. */
vpu_status api_run_files_close(api_run_files *f, vpu_status st, vpu_error *err);
/* result.c: where its report comes from, while its graph is open. */
report_source api_result_source(const vpu_result *r);
/* Of the graph's latest run, on a device that tells all; inside oom_guard. */
void api_result_trace_advice(vpu_result *r, trc_writer *w);

/* memory.c: into the caller's structure, which says how much of it there is.
 * VPU_ERR_INVALID */
vpu_status api_give_memory_use(vpu_memory_use is, vpu_memory_use *out,
                               vpu_error *err);

/* tune.c: the sizes of the context's file, if it has one, for the graph's
 * launches. Errors of tune_file_read and tune_apply. */
vpu_status api_graph_take_tuned(vpu_graph *g, vpu_error *err);
/* tune.c: the context's local sizes, if it has some. Errors of
 * graph_set_local. */
vpu_status api_graph_take_local(vpu_graph *g, vpu_error *err);

#endif
