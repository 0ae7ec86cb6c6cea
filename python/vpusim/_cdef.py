"""Made by scripts/python-cdef from include/vpusim/vpu.h; not to be edited."""
from __future__ import annotations

import enum


class Status(enum.IntEnum):
    """`vpu_status` of the header."""

    OK = 0
    INVALID = -1
    NOMEM = -2
    IO = -3
    PARSE = -4
    UNSUPPORTED = -5
    FAULT = -6
    LIMIT = -7
    COMPILE = -8
    MISMATCH = -9
    UNDEFINED = -10
    UNTESTED = -11
    INTERNAL = -12
    PLUGIN = -13
    STOPPED = -14


class Engine(enum.IntEnum):
    """`vpu_engine` of the header."""

    COMPILED = 1
    INTERPRETED = 2


class Timing(enum.IntEnum):
    """`vpu_timing` of the header."""

    FLOW = 1
    TRANSACTION = 2
    NONE = 3


class Order(enum.IntEnum):
    """`vpu_order` of the header."""

    SEQUENTIAL = 1
    REVERSE = 2
    RANDOM = 3


class LogLevel(enum.IntEnum):
    """`vpu_log_level` of the header."""

    WARNING = 1
    NOTE = 2
    HINT = 3


class Capability(enum.IntFlag):
    """`vpu_capability` of the header."""

    COUNT_CYCLES = 1
    TRACE = 2
    PROFILE = 4
    CHECK = 8
    SHARE = 16
    RUN_PARTS = 32


class Space(enum.IntEnum):
    """`vpu_space` of the header."""

    VALUE = 1
    GLOBAL = 2
    CONSTANT = 3
    LOCAL = 4


class Type(enum.IntEnum):
    """`vpu_type` of the header."""

    F16 = 1
    F32 = 2
    I32 = 3
    U8 = 4
    I8 = 5
    I16 = 6
    U16 = 7
    I64 = 8


class Role(enum.IntEnum):
    """`vpu_role` of the header."""

    INPUT = 1
    OUTPUT = 2
    CONSTANT = 3
    VIRTUAL = 4


class Border(enum.IntEnum):
    """`vpu_border` of the header."""

    UNDEFINED = 1
    REPLICATE = 2
    CONSTANT = 3


class TraceLevel(enum.IntEnum):
    """`vpu_trace_level` of the header."""

    SUMMARY = 1
    GROUPS = 2
    FULL = 3


class TuneMode(enum.IntEnum):
    """`vpu_tune_mode` of the header."""

    RAPID = 1
    NORMAL = 2
    EXHAUSTIVE = 3


VERSION = "0.1.0"
VERSION_MAJOR = 0
VERSION_MINOR = 1
VERSION_PATCH = 0
API_VERSION = 2
MAX_RANK = 6
MAX_REPEAT = 64

DECLARATIONS = """\
#define VPU_MAX_RANK 6
typedef enum vpu_status {
    VPU_OK = 0,
    VPU_ERR_INVALID = -1,
    VPU_ERR_NOMEM = -2,
    VPU_ERR_IO = -3,
    VPU_ERR_PARSE = -4,
    VPU_ERR_UNSUPPORTED = -5,
    VPU_ERR_FAULT = -6,
    VPU_ERR_LIMIT = -7,
    VPU_ERR_COMPILE = -8,
    VPU_ERR_MISMATCH = -9,
    VPU_ERR_UNDEFINED = -10,
    VPU_ERR_UNTESTED = -11,
    VPU_ERR_INTERNAL = -12,
    VPU_ERR_PLUGIN = -13,
    VPU_ERR_STOPPED = -14
} vpu_status;
typedef struct vpu_error {
    int32_t code;
    uint32_t line, col;
    char file[512];
    char msg[4096];
} vpu_error;
const char *vpu_version(void);
uint32_t vpu_api_version(void);
const char *vpu_status_text(vpu_status status);
typedef struct vpu_devices vpu_devices;
vpu_status vpu_devices_create(vpu_devices **out, vpu_error *err);
void vpu_devices_free(vpu_devices *devices);
size_t vpu_devices_count(const vpu_devices *devices);
const char *vpu_devices_id(const vpu_devices *devices, size_t i);
const char *vpu_devices_name(const vpu_devices *devices, size_t i);
const char *vpu_devices_why_not(const vpu_devices *devices,
                                           size_t i);
typedef struct vpu_context vpu_context;
typedef enum vpu_engine {
    VPU_ENGINE_COMPILED = 1,
    VPU_ENGINE_INTERPRETED = 2
} vpu_engine;
typedef enum vpu_timing {
    VPU_TIMING_FLOW = 1,
    VPU_TIMING_TRANSACTION = 2,
    VPU_TIMING_NONE = 3
} vpu_timing;
typedef enum vpu_order {
    VPU_ORDER_SEQUENTIAL = 1,
    VPU_ORDER_REVERSE = 2,
    VPU_ORDER_RANDOM = 3
} vpu_order;
typedef enum vpu_log_level {
    VPU_LOG_WARNING = 1,
    VPU_LOG_NOTE = 2,
    VPU_LOG_HINT = 3
} vpu_log_level;
typedef struct vpu_context_options {
    size_t struct_size;
    const char *backend;
    const char *machine;
    const char *const *settings;
    size_t n_settings;
    uint32_t shaves;
    uint32_t threads;
    uint32_t engine;
    uint32_t timing;
    uint32_t order;
    uint64_t seed;
    uint64_t max_cycles;
    double timeout;
    uint32_t allow_overruns;
    uint32_t no_cache;
    const char *source_dir;
    const char *const *build_options;
    size_t n_build_options;
    const char *release;
    const char *firmware;
    const char *xlink;
    const char *xlink_log;
    uint32_t keep_conversions;
    void (*log)(void *user, vpu_log_level level, const char *text);
    void (*print)(void *user, const char *text, size_t n);
    void *user;
    const char *tuned;
    double compile_timeout;
    uint64_t compile_memory;
    uint32_t exact_source;
    uint32_t print_prefix;
    uint32_t take_booted;
    void (*progress)(void *user, const char *of, const char *units,
                     uint64_t done, uint64_t total);
    uint32_t debugger;
    uint32_t stops;
    uint32_t break_at[3];
    const char *local;
} vpu_context_options;
typedef enum vpu_capability {
    VPU_CAN_COUNT_CYCLES = 1,
    VPU_CAN_TRACE = 2,
    VPU_CAN_PROFILE = 4,
    VPU_CAN_CHECK = 8,
    VPU_CAN_SHARE = 16,
    VPU_CAN_RUN_PARTS = 32
} vpu_capability;
vpu_status vpu_context_create(vpu_context **out,
                                         const vpu_context_options *options,
                                         vpu_error *err);
void vpu_context_free(vpu_context *context);
const char *vpu_context_backend(const vpu_context *context);
uint32_t vpu_context_capabilities(const vpu_context *context);
uint32_t vpu_context_interrupt(vpu_context *context);
typedef struct vpu_program vpu_program;
typedef struct vpu_kernel vpu_kernel;
typedef struct vpu_program_options {
    size_t struct_size;
    const char *source;
    const char *name;
    const char *file;
    const char *const *build_options;
    size_t n_build_options;
    uint32_t images;
} vpu_program_options;
vpu_status vpu_program_create(vpu_program **out,
                                         vpu_context *context,
                                         const vpu_program_options *options,
                                         vpu_error *err);
void vpu_program_free(vpu_program *program);
vpu_status vpu_program_kernel(vpu_program *program, const char *name,
                                         const vpu_kernel **out,
                                         vpu_error *err);
const char *vpu_kernel_name(const vpu_kernel *kernel);
uint32_t vpu_kernel_vector_factor(const vpu_kernel *kernel);
const char *vpu_kernel_not_vectorized(const vpu_kernel *kernel);
uint32_t vpu_kernel_local_bytes(const vpu_kernel *kernel);
typedef enum vpu_space {
    VPU_SPACE_VALUE = 1,
    VPU_SPACE_GLOBAL = 2,
    VPU_SPACE_CONSTANT = 3,
    VPU_SPACE_LOCAL = 4
} vpu_space;
size_t vpu_kernel_argument_count(const vpu_kernel *kernel);
const char *vpu_kernel_argument_name(const vpu_kernel *kernel,
                                                size_t i);
const char *vpu_kernel_argument_type(const vpu_kernel *kernel,
                                                size_t i);
uint32_t vpu_kernel_argument_space(const vpu_kernel *kernel,
                                              size_t i);
typedef struct vpu_graph vpu_graph;
typedef struct vpu_tensor vpu_tensor;
typedef struct vpu_operation vpu_operation;
typedef enum vpu_type {
    VPU_F16 = 1,
    VPU_F32 = 2,
    VPU_I32 = 3,
    VPU_U8 = 4,
    VPU_I8 = 5,
    VPU_I16 = 6,
    VPU_U16 = 7,
    VPU_I64 = 8
} vpu_type;
uint32_t vpu_type_bytes(uint32_t type);
const char *vpu_type_name(uint32_t type);
typedef enum vpu_role {
    VPU_ROLE_INPUT = 1,
    VPU_ROLE_OUTPUT = 2,
    VPU_ROLE_CONSTANT = 3,
    VPU_ROLE_VIRTUAL = 4
} vpu_role;
typedef enum vpu_border {
    VPU_BORDER_UNDEFINED = 1,
    VPU_BORDER_REPLICATE = 2,
    VPU_BORDER_CONSTANT = 3
} vpu_border;
typedef struct vpu_tensor_options {
    size_t struct_size;
    const char *name;
    uint32_t role;
    uint32_t type;
    uint32_t rank;
    uint32_t dims[VPU_MAX_RANK];
    const void *data;
    const char *shape;
    uint32_t pad_before[VPU_MAX_RANK], pad_after[VPU_MAX_RANK];
    uint32_t auto_padding;
    uint64_t strides[VPU_MAX_RANK];
    uint32_t channels_last;
    uint32_t border;
    double border_value;
} vpu_tensor_options;
vpu_status vpu_graph_create(vpu_graph **out, vpu_context *context,
                                       vpu_error *err);
void vpu_graph_free(vpu_graph *graph);
vpu_status vpu_graph_tensor(vpu_graph *graph,
                                       const vpu_tensor_options *options,
                                       vpu_tensor **out, vpu_error *err);
vpu_tensor *vpu_graph_tensor_at(vpu_graph *graph, uint32_t role,
                                           size_t i);
vpu_tensor *vpu_graph_tensor_named(vpu_graph *graph,
                                              const char *name);
typedef struct vpu_region {
    uint32_t start[VPU_MAX_RANK], end[VPU_MAX_RANK], step[VPU_MAX_RANK];
} vpu_region;
uint32_t vpu_region_next(const vpu_region *region, uint32_t rank,
                                    uint32_t at[VPU_MAX_RANK]);
typedef struct vpu_view_options {
    size_t struct_size;
    const char *name;
    uint32_t start[VPU_MAX_RANK];
    uint32_t dims[VPU_MAX_RANK];
} vpu_view_options;
vpu_status vpu_graph_view(vpu_graph *graph, vpu_tensor *parent,
                                     const vpu_view_options *options,
                                     vpu_tensor **out, vpu_error *err);
vpu_tensor *vpu_tensor_parent(const vpu_tensor *tensor);
const char *vpu_tensor_name(const vpu_tensor *tensor);
uint32_t vpu_tensor_role(const vpu_tensor *tensor);
uint32_t vpu_tensor_type(const vpu_tensor *tensor);
uint32_t vpu_tensor_rank(const vpu_tensor *tensor);
uint32_t vpu_tensor_dim(const vpu_tensor *tensor, uint32_t i);
size_t vpu_tensor_bytes(const vpu_tensor *tensor);
uint32_t vpu_tensor_is_packed(const vpu_tensor *tensor);
uint64_t vpu_tensor_stride(const vpu_tensor *tensor, uint32_t i);
uint64_t vpu_tensor_offset(const vpu_tensor *tensor);
size_t vpu_tensor_memory_bytes(const vpu_tensor *tensor);
vpu_status vpu_tensor_valid(const vpu_tensor *tensor,
                                       vpu_region *out, vpu_error *err);
vpu_status vpu_tensor_write(vpu_tensor *tensor, const void *data,
                                       size_t bytes, vpu_error *err);
vpu_status vpu_tensor_fill(vpu_tensor *tensor, const char *spec,
                                      vpu_error *err);
vpu_status vpu_tensor_read(vpu_tensor *tensor, void *data,
                                      size_t bytes, vpu_error *err);
void *vpu_tensor_data(vpu_tensor *tensor);
vpu_status vpu_tensor_import(vpu_tensor *tensor, void *data,
                                        size_t bytes, vpu_error *err);
vpu_status vpu_tensor_save(vpu_tensor *tensor, const char *path,
                                      vpu_error *err);
typedef struct vpu_launch_options {
    size_t struct_size;
    const char *name;
    uint32_t global[3];
    uint32_t local[3];
    uint32_t max_shaves;
    const char *part, *parts;
} vpu_launch_options;
vpu_status vpu_graph_add_kernel(vpu_graph *graph,
                                           const vpu_kernel *kernel,
                                           const vpu_launch_options *options,
                                           vpu_operation **out, vpu_error *err);
vpu_status vpu_operation_set_tensor(vpu_operation *operation,
                                               const char *argument,
                                               vpu_tensor *tensor,
                                               vpu_error *err);
vpu_status vpu_operation_set_memory(vpu_operation *operation,
                                               const char *argument,
                                               vpu_tensor *tensor,
                                               vpu_error *err);
vpu_status vpu_operation_set_integer(vpu_operation *operation,
                                                const char *argument,
                                                int64_t value, vpu_error *err);
vpu_status vpu_operation_set_real(vpu_operation *operation,
                                             const char *argument, double value,
                                             vpu_error *err);
vpu_status vpu_operation_set_local(vpu_operation *operation,
                                              const char *argument,
                                              uint32_t bytes, vpu_error *err);
typedef struct vpu_layer_options {
    size_t struct_size;
    const char *name;
    const char *const *bindings;
    size_t n_bindings;
    const char *layer;
    uint32_t number;
    const char *const *shapes;
    size_t n_shapes;
    const char *const *params;
    size_t n_params;
    const char *const *blobs;
    size_t n_blobs;
    const char *const *paddings;
    size_t n_paddings;
    const char *model;
    const char *at;
    uint32_t batch_by_item;
    vpu_tensor *const *inputs;
    size_t n_inputs;
    vpu_tensor *output;
    uint32_t virtual_output;
    uint32_t batch_whole;
    uint32_t any_layer;
    uint32_t any_params;
    const char *custom;
    const char *openvino;
} vpu_layer_options;
vpu_status vpu_graph_add_layer(vpu_graph *graph,
                                          const vpu_layer_options *options,
                                          vpu_operation **out, vpu_error *err);
vpu_status vpu_operation_check_params(const vpu_operation *operation,
                                                 const char *const *params,
                                                 size_t n_params,
                                                 vpu_error *err);
vpu_tensor *vpu_operation_input(vpu_operation *operation, size_t i);
vpu_tensor *vpu_operation_output(vpu_operation *operation, size_t i);
const char *vpu_operation_name(const vpu_operation *operation);
typedef struct vpu_value {
    const char *name;
    uint32_t is_real;
    int64_t integer;
    double real;
} vpu_value;
typedef struct vpu_parameter {
    const char *name;
    uint32_t is_real;
    uint32_t optional;
    double preset;
    const char *expression;
    uint32_t computed;
} vpu_parameter;
typedef struct vpu_local {
    const char *argument, *bytes;
} vpu_local;
typedef struct vpu_shape {
    uint32_t type, rank;
    uint32_t dims[VPU_MAX_RANK];
} vpu_shape;
typedef struct vpu_call {
    const char *name;
    vpu_tensor *const *inputs;
    size_t n_inputs;
    vpu_tensor *const *outputs;
    size_t n_outputs;
    const vpu_value *values;
    size_t n_values;
} vpu_call;
typedef struct vpu_variant {
    const char *kernel;
    const char *const *build_options;
    size_t n_build_options;
} vpu_variant;
typedef struct vpu_sizes {
    uint32_t global[3], local[3];
} vpu_sizes;
typedef struct vpu_kind {
    size_t struct_size;
    const char *name;
    const char *source;
    const char *file;
    const char *const *build_options;
    size_t n_build_options;
    const char *kernel;
    const char *const *inputs;
    size_t n_inputs;
    const char *const *outputs;
    size_t n_outputs;
    const vpu_parameter
        *parameters;
    size_t n_parameters;
    const vpu_local *locals;
    size_t n_locals;
    const char *const *shapes;
    const char *global;
    const char *local;
    vpu_status (*find_shape)(void *user, const vpu_call *call, size_t output,
                             vpu_shape *out, vpu_error *err);
    vpu_status (*find_variant)(void *user, const vpu_call *call,
                               vpu_variant *out, vpu_error *err);
    vpu_status (*find_sizes)(void *user, const vpu_call *call, vpu_sizes *out,
                             vpu_error *err);
    vpu_status (*find_value)(void *user, const vpu_call *call,
                             const char *parameter, vpu_value *out,
                             vpu_error *err);
    void *user;
    void (*release)(void *user);
    const char *part, *parts;
    uint32_t strided;
    const char *reach;
} vpu_kind;
vpu_status vpu_context_register(vpu_context *context,
                                           const vpu_kind *kind,
                                           vpu_error *err);
vpu_status vpu_context_register_layers(vpu_context *context,
                                                  const char *path,
                                                  vpu_error *err);
const char *vpu_context_kind(vpu_context *context, size_t i);
typedef struct vpu_add_options {
    size_t struct_size;
    const char *name;
    vpu_tensor *const *inputs;
    size_t n_inputs;
    vpu_tensor *const *outputs;
    size_t n_outputs;
    uint32_t output_role;
    const vpu_value *values;
    size_t n_values;
} vpu_add_options;
vpu_status vpu_graph_add(vpu_graph *graph, const char *kind,
                                    const vpu_add_options *options,
                                    vpu_operation **out, vpu_error *err);
vpu_status vpu_graph_begin(vpu_graph *graph, const char *name,
                                      vpu_operation **out, vpu_error *err);
vpu_status vpu_graph_end(vpu_operation *operation, vpu_error *err);
typedef struct vpu_window {
    uint32_t start[3], end[3], step[3];
    uint32_t part, parts;
} vpu_window;
vpu_status vpu_operation_window(const vpu_operation *operation,
                                           vpu_window *out, vpu_error *err);
vpu_status vpu_window_check(const vpu_window *whole,
                                       const vpu_window *part, vpu_error *err);
vpu_status vpu_window_split(const vpu_window *whole,
                                       uint32_t dimension, uint32_t part,
                                       uint32_t parts, vpu_window *out,
                                       vpu_error *err);
uint32_t vpu_window_next(const vpu_window *window, uint32_t at[3]);
vpu_status vpu_operation_set_window(vpu_operation *operation,
                                               const vpu_window *window,
                                               vpu_error *err);
typedef struct vpu_host_options {
    size_t struct_size;
    const char *name;
    vpu_tensor *const *inputs;
    size_t n_inputs;
    vpu_tensor *const *outputs;
    size_t n_outputs;
    vpu_status (*function)(void *user, const void *const *inputs,
                           void *const *outputs, vpu_error *err);
    void *user;
    void (*release)(void *user);
} vpu_host_options;
vpu_status vpu_graph_add_host(vpu_graph *graph,
                                         const vpu_host_options *options,
                                         vpu_operation **out, vpu_error *err);
typedef struct vpu_graph_save_options {
    size_t struct_size;
    uint32_t compiled;
} vpu_graph_save_options;
vpu_status vpu_graph_save(vpu_graph *graph, const char *path,
                                     const vpu_graph_save_options *options,
                                     vpu_error *err);
vpu_status vpu_graph_load(vpu_graph **out, vpu_context *context,
                                     const char *path, vpu_error *err);
vpu_operation *vpu_graph_operation_at(vpu_graph *graph, size_t i);
vpu_operation *vpu_graph_operation_named(vpu_graph *graph,
                                                    const char *name);
typedef struct vpu_graph_export_options {
    size_t struct_size;
    const char *release;
    const char *xlink;
    uint32_t shaves;
} vpu_graph_export_options;
vpu_status vpu_graph_export(vpu_graph *graph, const char *path,
                                       const vpu_graph_export_options *options,
                                       vpu_error *err);
typedef struct vpu_result vpu_result;
vpu_status vpu_graph_finalize(vpu_graph *graph, vpu_error *err);
typedef struct vpu_memory_use {
    size_t struct_size;
    uint64_t apart;
    uint64_t bound;
    uint64_t planned;
} vpu_memory_use;
vpu_status vpu_graph_memory(const vpu_graph *graph,
                                       vpu_memory_use *out, vpu_error *err);
const char *vpu_graph_memory_text(vpu_graph *graph);
const char *vpu_graph_memory_svg(vpu_graph *graph);
typedef struct vpu_memory_manager vpu_memory_manager;
typedef struct vpu_memory_group vpu_memory_group;
typedef struct vpu_blob {
    uint64_t bytes, alignment;
    size_t owners;
} vpu_blob;
vpu_status vpu_memory_manager_create(vpu_memory_manager **out,
                                                vpu_error *err);
void vpu_memory_manager_free(vpu_memory_manager *manager);
vpu_status vpu_memory_group_create(vpu_memory_group **out,
                                              vpu_memory_manager *manager,
                                              vpu_error *err);
vpu_status vpu_memory_group_manage(vpu_memory_group *group,
                                              uint64_t key, vpu_error *err);
vpu_status vpu_memory_group_end(vpu_memory_group *group,
                                           uint64_t key, uint64_t bytes,
                                           uint64_t alignment, vpu_error *err);
vpu_status vpu_memory_group_finalize(vpu_memory_group *group,
                                                vpu_error *err);
vpu_status vpu_memory_group_release(vpu_memory_group *group,
                                               vpu_error *err);
size_t vpu_memory_group_mapping_count(const vpu_memory_group *group);
size_t vpu_memory_group_blob_count(const vpu_memory_group *group);
vpu_status vpu_memory_group_blob(const vpu_memory_group *group,
                                            size_t i, vpu_blob *out,
                                            vpu_error *err);
size_t
vpu_memory_manager_blob_count(const vpu_memory_manager *manager);
vpu_status vpu_memory_manager_blob(const vpu_memory_manager *manager,
                                              size_t i, vpu_blob *out,
                                              vpu_error *err);
vpu_status vpu_memory_manager_use(const vpu_memory_manager *manager,
                                             vpu_memory_use *out,
                                             vpu_error *err);
typedef struct vpu_allocator {
    void *(*allocate)(void *user, uint64_t bytes, uint64_t alignment);
    void (*release)(void *user, void *memory, uint64_t bytes);
    void *user;
} vpu_allocator;
vpu_status
vpu_memory_manager_populate(vpu_memory_manager *manager, uint32_t n,
                            const vpu_allocator *allocator, vpu_error *err);
uint32_t vpu_memory_manager_set_count(vpu_memory_manager *manager);
vpu_status vpu_memory_manager_clear(vpu_memory_manager *manager,
                                               vpu_error *err);
vpu_status vpu_memory_manager_acquire(vpu_memory_manager *manager,
                                                 uint32_t wait, uint32_t *out,
                                                 vpu_error *err);
vpu_status vpu_memory_manager_give_back(vpu_memory_manager *manager,
                                                   uint32_t set,
                                                   vpu_error *err);
vpu_status vpu_memory_group_address(vpu_memory_group *group,
                                               uint64_t key, uint32_t set,
                                               void **out, vpu_error *err);
typedef enum vpu_trace_level {
    VPU_TRACE_SUMMARY = 1,
    VPU_TRACE_GROUPS = 2,
    VPU_TRACE_FULL = 3
} vpu_trace_level;
typedef struct vpu_run_options {
    size_t struct_size;
    const char *trace;
    const char *trace_json;
    const char *vcd;
    uint32_t profile;
    uint32_t profile_lines;
    const char *folded;
    const char *kanata;
    uint64_t kanata_group;
    uint32_t kanata_bundles;
    uint32_t trace_level;
    uint32_t trace_host;
    const char *output;
    uint32_t repeat;
    uint32_t finalize;
    vpu_status (*opened)(void *user, vpu_graph *graph, vpu_error *err);
    vpu_status (*fill)(void *user, vpu_graph *graph, vpu_error *err);
    void *user;
    uint32_t executors;
    uint32_t advise;
    const char *roofline;
    uint32_t trace_bundles;
    uint64_t trace_bundles_group;
} vpu_run_options;
vpu_status vpu_run_options_check(const vpu_run_options *options,
                                            const vpu_context_options *context,
                                            vpu_error *err);
vpu_status vpu_graph_run(vpu_graph *graph,
                                    const vpu_run_options *options,
                                    vpu_result **out, vpu_error *err);
void vpu_graph_cancel(vpu_graph *graph);
void vpu_result_free(vpu_result *result);
uint64_t vpu_result_cycles(const vpu_result *result);
double vpu_result_seconds(const vpu_result *result);
uint32_t vpu_result_repetitions(const vpu_result *result);
double vpu_result_repetition_seconds(const vpu_result *result,
                                                uint32_t i);
size_t vpu_result_launch_count(const vpu_result *result);
const char *vpu_result_launch_name(const vpu_result *result,
                                              size_t i);
uint64_t vpu_result_launch_cycles(const vpu_result *result,
                                             size_t i);
double vpu_result_launch_seconds(const vpu_result *result, size_t i);
uint64_t vpu_result_operation_cycles(const vpu_result *result,
                                                const vpu_operation *operation);
double vpu_result_operation_seconds(const vpu_result *result,
                                               const vpu_operation *operation);
uint64_t vpu_result_copied_bytes(const vpu_result *result);
const char *vpu_result_text(vpu_result *result);
const char *vpu_result_json(vpu_result *result);
vpu_status vpu_result_counter(vpu_result *result, const char *path,
                                         double *out, vpu_error *err);
const char *vpu_result_counter_name(vpu_result *result, size_t i);
vpu_status vpu_graph_resize(vpu_graph *graph,
                                       vpu_tensor *const *inputs,
                                       const vpu_shape *shapes, size_t n,
                                       vpu_error *err);
vpu_status vpu_graph_clone(vpu_graph **out, vpu_graph *graph,
                                      vpu_context *context, vpu_error *err);
typedef struct vpu_instances vpu_instances;
vpu_status vpu_instances_create(vpu_instances **out,
                                           vpu_graph *graph, uint32_t n,
                                           vpu_error *err);
void vpu_instances_free(vpu_instances *instances);
vpu_status vpu_instances_acquire(vpu_instances *instances,
                                            uint32_t wait, vpu_graph **out,
                                            vpu_error *err);
vpu_status vpu_instances_release(vpu_instances *instances,
                                            vpu_graph *graph, vpu_error *err);
typedef struct vpu_split_options {
    size_t struct_size;
    uint32_t dimension;
} vpu_split_options;
vpu_status vpu_graph_run_split(vpu_graph *const *graphs, size_t n,
                                          const vpu_split_options *options,
                                          vpu_result **results, vpu_error *err);
typedef struct vpu_picture_options {
    size_t struct_size;
    const char *png, *svg;
    uint32_t width, height;
    uint32_t dark;
} vpu_picture_options;
vpu_status vpu_picture_write(const char *trace,
                                        const vpu_picture_options *options,
                                        vpu_error *err);
typedef struct vpu_findings vpu_findings;
typedef struct vpu_check_options {
    size_t struct_size;
    const char *checks;
    uint32_t max_findings;
    uint32_t orders;
    uint32_t random_orders;
    uint64_t seed;
    uint32_t strict_align;
    const char *suppress;
    vpu_status (*fill)(void *user, vpu_graph *graph, vpu_error *err);
    void *user;
} vpu_check_options;
vpu_status vpu_checkers_check(const char *text, vpu_error *err);
vpu_status vpu_graph_check(vpu_findings **out, vpu_graph *graph,
                                      const vpu_check_options *options,
                                      vpu_error *err);
void vpu_findings_free(vpu_findings *findings);
size_t vpu_findings_count(const vpu_findings *findings);
size_t vpu_findings_error_count(const vpu_findings *findings);
const char *vpu_findings_checker(const vpu_findings *findings,
                                            size_t i);
const char *vpu_findings_text(const vpu_findings *findings,
                                         size_t i);
const char *vpu_findings_kernel(const vpu_findings *findings,
                                           size_t i);
const char *vpu_findings_file(const vpu_findings *findings,
                                         size_t i);
uint32_t vpu_findings_line(const vpu_findings *findings, size_t i);
uint64_t vpu_findings_times(const vpu_findings *findings, size_t i);
uint32_t vpu_findings_is_note(const vpu_findings *findings,
                                         size_t i);
double vpu_findings_seconds(const vpu_findings *findings);
double vpu_findings_launch_seconds(const vpu_findings *findings);
const char *vpu_findings_report(vpu_findings *findings);
const char *vpu_findings_json(vpu_findings *findings);
const char *vpu_findings_sarif(vpu_findings *findings);
typedef struct vpu_diff vpu_diff;
typedef struct vpu_diff_options {
    size_t struct_size;
    const char *const *tolerances;
    size_t n_tolerances;
    uint32_t outputs_only;
    const char *heat_map;
    double max_slowdown;
    uint32_t slowdown_if_known;
    uint32_t no_groups;
    uint32_t verbose;
    uint64_t cycle_budget;
} vpu_diff_options;
vpu_status vpu_diff_check_tolerance(const char *text,
                                               vpu_error *err);
vpu_status vpu_diff_create(vpu_diff **out, vpu_graph *graph,
                                      vpu_graph *reference,
                                      const vpu_diff_options *options,
                                      vpu_error *err);
void vpu_diff_free(vpu_diff *diff);
uint32_t vpu_diff_equal(const vpu_diff *diff);
uint64_t vpu_diff_count(const vpu_diff *diff);
uint32_t vpu_diff_too_slow(const vpu_diff *diff);
const char *vpu_diff_summary(const vpu_diff *diff);
const char *vpu_diff_text(vpu_diff *diff);
const char *vpu_diff_json(vpu_diff *diff);
const char *vpu_diff_junit(vpu_diff *diff);
typedef enum vpu_tune_mode {
    VPU_TUNE_RAPID = 1,
    VPU_TUNE_NORMAL = 2,
    VPU_TUNE_EXHAUSTIVE = 3
} vpu_tune_mode;
typedef struct vpu_tune_options {
    size_t struct_size;
    uint32_t mode;
    uint32_t shaves_too;
    const char *file;
} vpu_tune_options;
vpu_status vpu_graph_tune(vpu_graph *graph,
                                     const vpu_tune_options *options,
                                     vpu_error *err);
uint32_t vpu_operation_local(const vpu_operation *operation,
                                        uint32_t dimension);
uint32_t vpu_operation_global(const vpu_operation *operation,
                                         uint32_t dimension);
"""
