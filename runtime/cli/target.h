/* What commands that run a layer share: the options that say which layer, with
 * what, and how; binding it; filling its inputs. */
#ifndef VPU_RUNTIME_CLI_TARGET_H
#define VPU_RUNTIME_CLI_TARGET_H

#include "runtime/backend/backend.h"
#include "runtime/cli/cli.h"
#include "runtime/graph/layer.h"

/* As given on a command line. All-zero but for what target_init sets. */
typedef struct {
    const char *const *bindings; /* files, at least one */
    size_t n_bindings;
    const char *layer, *model, *at, *machine, *source_dir;
    const char *custom, *openvino; /* of a network */
    options_list shapes, params, pads, inputs, blobs, sets, clang;
    uint32_t binding;  /* --binding; 0 = not given */
    int batch;         /* --batch: a graph_batch, or below 0: not given */
    bool only_type;    /* `layer` or, where the file has none of that name, the
                          only one there is */
    bool exact_source; /* as backend_config.exact_source */
    exec_options how;  /* n_shaves 0 = all; max_cycles: see target_max_cycles */
    config_release strict;
    child_limits compile; /* of each process that compiles */
    uint32_t offered; /* extras of the backends that the command has chosen */
    bool engine_given, max_cycles_given, no_cache, quiet;
    backend_stick_options stick;
} target_options;

/* Tables of options, each of a target_options: which layer, and sizes of it;
 * where its kernels are and how they are compiled; its inputs; the machine; how
 * the simulator runs it; how host threads and time are used; compiled kernels
 * on disk; --quiet; the lines above those of sticks (cli_stick_options), and
 * above TARGET_HOW of the simulator and of any backend. */
extern const cli_options target_layer_options, target_source_options,
    target_input_options, target_machine_options, target_order_options,
    target_run_options, target_shaves_options, target_host_options,
    target_cache_options, target_quiet_options, target_recording_options,
    target_stick_heading, target_how_heading, target_how_backend_heading;

/* In a command's list of tables: a layer, of the target_options at offset `at`.
 */
#define TARGET_LAYER(at)           \
    {&target_layer_options, at},   \
    {                              \
        &target_source_options, at \
    }
/* In a command's list of tables: how a layer runs, and how a stick is talked
 * to, of the target_options at offset `at`. */
#define TARGET_HOW(at)                                                    \
    {&target_shaves_options, at}, {&target_machine_options, at},          \
        {&target_order_options, at}, {&target_run_options, at},           \
        {&target_host_options, at},                                       \
        {&cli_compile_options, (at) + offsetof(target_options, compile)}, \
        {&target_cache_options, at},                                      \
    {                                                                     \
        &target_quiet_options, at                                         \
    }
#define TARGET_STICK(at)                                           \
    {&target_stick_heading, 0},                                    \
    {                                                              \
        &cli_stick_options, (at) + offsetof(target_options, stick) \
    }

/* --order, for a command that takes more of it; of a target_options. */
bool target_take_order(void *fields, const char *value, arena *a);

void target_init(target_options *o);
/* After the options, with the words that are none: the binding files and what
 * excludes each other. CLI_OK, or the exit status after saying what is wrong.
 */
int target_check(target_options *o, const cli_command *c, char *const *words,
                 int n_words);
/* The same without saying what is wrong: VPU_ERR_INVALID. */
vpu_status target_take_words(target_options *o, char *const *words, int n_words,
                             vpu_error *err);

/* A layer bound: what a backend runs. */
typedef struct {
    graph_layer layer;
    mach_desc desc;
    graph *graph; /* layer.graph */
} target;

/* The layer that the options describe, in their words. */
graph_layer_texts target_texts(const target_options *o);
/* Machine, binding, model, graph; everything in the arena. Unless o->offered
 * has BACKEND_PARAMS, parameters that the binding does not look at are refused.
 * Errors of mach_desc_load, config_file_read, config_model_read, graph_bind,
 * and VPU_ERR_INVALID for values that do not fit (message quotes them). */
vpu_status target_bind(const target_options *o, arena *a, const log_sink *log,
                       target *t, vpu_error *err);
/* What the options say of the input of that number, default random:N; in the
 * arena. VPU_ERR_INVALID: an --input is no "N=SPEC". */
vpu_status target_input_spec(const target_options *o, uint32_t port, arena *a,
                             const char **spec, vpu_error *err);
/* VPU_ERR_INVALID  an --input is no "N=SPEC", or of a port that, as `has` says,
 *                  the layer does not have */
vpu_status target_check_ports(const target_options *o, arena *a,
                              bool (*has)(const void *user, uint64_t port),
                              const void *user, vpu_error *err);
/* Fill data with what the options say of input buffer b; default random:N.
 * VPU_ERR_INVALID, and the errors of graph_input_fill. */
vpu_status target_fill(const target_options *o, const graph_buffer *b, arena *a,
                       void *data, vpu_error *err);
/* All inputs of an open backend, in place where it has BACKEND_INSPECT. Errors
 * as target_fill, and of backend_ops.write. */
vpu_status target_fill_all(const target_options *o, const target *t,
                           const backend *b, arena *a, vpu_error *err);
/* A buffer per input of the graph, filled as the options say; others NULL.
 * Everything in the arena. Errors of target_check_inputs and target_fill. */
vpu_status target_make_inputs(const target_options *o, const target *t,
                              arena *a, void *const **inputs, vpu_error *err);
/* VPU_ERR_INVALID  an --input names a port the graph does not have */
vpu_status target_check_inputs(const target_options *o, const target *t,
                               arena *a, vpu_error *err);
/* A backend as the options describe it; log, print, and the device stay to be
 * set. o and t must outlive it. */
backend_config target_backend(const target_options *o, const target *t);

#endif
