/* libvpusim: OpenCL custom layers on a simulated Myriad X VPU, on a stick, or
 * on whatever else can run them.
 *
 *   vpu_context   where things run: a backend with its options
 *   vpu_program   OpenCL C as text, a file, or a compiled kernel
 *   vpu_kernel    one kernel of a program: its arguments, its local memory
 *   vpu_graph     tensors and operations; an operation is a kernel's launch, or
 *                 a layer of a binding file
 *   vpu_tensor    a graph's input, output, constant, or what lies between
 *   vpu_result    what one run of a graph cost
 *   vpu_findings  what the checkers have found in a graph's kernels
 *   vpu_diff      two graphs' outputs, compared
 *
 * Errors. A function that can fail returns a vpu_status, 0 for success, and
 * fills the caller's vpu_error, which may be NULL. Nothing else is changed
 * then, and an object that would have been created is NULL. Every such function
 * returns VPU_ERR_INVALID for a NULL where an object is needed, for a
 * struct_size that no version of this header has, and for numbers that no enum
 * here has; VPU_ERR_NOMEM when memory is short; each names its further errors.
 *
 * Ownership. What a function gives through its first argument, `out`, belongs
 * to the caller and goes with the free function of its type, for which NULL is
 * fine. Pointers that a function returns are borrowed from the object asked and
 * live as long as it does, unless said otherwise. What is passed in is copied,
 * unless said otherwise. A program and a graph keep their context alive, a
 * result its graph: order of freeing does not matter.
 *
 * Threads. An object is used by one thread at a time; vpu_graph_cancel is the
 * exception. Contexts are independent, and so are graphs and programs of one
 * context; a result counts as its graph. Callbacks come on the thread that
 * called the library, or while that waits. Processes made with fork() cannot
 * use objects of their parent. Kernels are compiled in processes of their own:
 * a program that waits for all of its children may meet one of these, until the
 * context goes.
 *
 * The library prints nothing, does not end the process and has no global state
 * that a caller could see, but for code that a debugger is told about
 * (vpu_context_options.debugger). While a graph runs on the simulator, SIGSEGV
 * and SIGBUS have handlers of the library; what does not concern a kernel goes
 * on to those that were there before. Environment: XDG_CACHE_HOME and HOME say
 * where compiled kernels are kept, TMPDIR where temporary files are, PATH where
 * clang-19 is, VPU_FONT_DIR where fonts for pictures are.
 *
 * Option structures begin with their size and are made by their _INIT macro;
 * members that are 0 mean the default. Later versions append members. */
#ifndef VPUSIM_VPU_H
#define VPUSIM_VPU_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#define VPU_EXPORT __attribute__((visibility("default")))
#else
#define VPU_EXPORT
#endif

/* --- version -------------------------------------------------------------- */

#define VPU_VERSION_MAJOR 0
#define VPU_VERSION_MINOR 1
#define VPU_VERSION_PATCH 0
/* Counts up with each function, member or constant that is added here. */
#define VPU_API_VERSION 2

/* The library's version, "0.1.0"; the macros above are the header's. */
VPU_EXPORT const char *vpu_version(void);
/* The library's VPU_API_VERSION. */
VPU_EXPORT uint32_t vpu_api_version(void);

/* --- errors --------------------------------------------------------------- */

/* A few words for a status; "unknown status" for numbers that are none. Never
 * NULL. */
VPU_EXPORT const char *vpu_status_text(vpu_status status);

/* --- devices -------------------------------------------------------------- */

typedef struct vpu_devices vpu_devices;

/* Looks for whatever can run graphs now: the simulator, OpenCL devices, sticks.
 * Where a backend has no device, one that is not usable says why. */
VPU_EXPORT vpu_status vpu_devices_create(vpu_devices **out, vpu_error *err);
VPU_EXPORT void vpu_devices_free(vpu_devices *devices);
VPU_EXPORT size_t vpu_devices_count(const vpu_devices *devices);
/* For vpu_context_options.backend: "sim", "opencl:0:1". NULL: i is too large;
 * so of the functions below. */
VPU_EXPORT const char *vpu_devices_id(const vpu_devices *devices, size_t i);
VPU_EXPORT const char *vpu_devices_name(const vpu_devices *devices, size_t i);
/* NULL: it is usable; else why not, and what to do about it. */
VPU_EXPORT const char *vpu_devices_why_not(const vpu_devices *devices,
                                           size_t i);

/* --- contexts ------------------------------------------------------------- */

typedef struct vpu_context vpu_context;

/* What executes work-groups on the simulator. */
typedef enum vpu_engine {
    VPU_ENGINE_COMPILED = 1,   /* host code (default) */
    VPU_ENGINE_INTERPRETED = 2 /* the SHAVE program, bundle by bundle: same
                                  results, same cycles, much slower */
} vpu_engine;

/* How the simulator finds cycles. */
typedef enum vpu_timing {
    VPU_TIMING_FLOW = 1,        /* DDR bandwidth shared between flows (default)
                                 */
    VPU_TIMING_TRANSACTION = 2, /* every line of DDR an event; slower */
    VPU_TIMING_NONE = 3         /* not at all: cycles are 0 */
} vpu_timing;

/* In which order the simulator runs work-groups. */
typedef enum vpu_order {
    VPU_ORDER_SEQUENTIAL = 1, /* default */
    VPU_ORDER_REVERSE = 2,
    VPU_ORDER_RANDOM = 3 /* by vpu_context_options.seed */
} vpu_order;

typedef enum vpu_log_level {
    VPU_LOG_WARNING = 1,
    VPU_LOG_NOTE = 2,
    VPU_LOG_HINT = 3 /* what nobody said, and what may be behind the error or
                        the finding that is about to be returned */
} vpu_log_level;

typedef struct vpu_context_options {
    size_t struct_size;
    /* Where graphs run: "sim" (NULL, too), "usb", "usb:BUS-PORT",
     * "usb:unix:PATH", "usb:tcp:ADDRESS:PORT", "opencl", "opencl:P:D",
     * "opencl:NAME", "host:FILE.so", "replay:FILE", "npy:DIR", "null". */
    const char *backend;
    const char *machine;         /* file of a machine description; NULL = the
                                    built-in one */
    const char *const *settings; /* numbers of it, "KEY=VALUE" */
    size_t n_settings;
    uint32_t shaves;  /* to use; 0 = all of the machine's, of a stick 7 */
    uint32_t threads; /* of the host; 0 = as many as it has. Nothing depends on
                         it but time */
    uint32_t engine;  /* vpu_engine, 0 = default; so the two below */
    uint32_t timing;
    uint32_t order;
    uint64_t seed;
    uint64_t max_cycles; /* of a SHAVE in a launch; 0 = 10 s of the device's
                            time, UINT64_MAX = no limit */
    double timeout; /* seconds of the host for a launch; 0 = 3600, below 0 =
                       no limit */
    uint32_t allow_overruns; /* 1: a write behind an array in local memory is
                                logged; 0: it is a fault */
    uint32_t no_cache;       /* 1: kernels are compiled anew */
    const char *source_dir;  /* where .cl files of binding files are looked for
                                first */
    const char *const *build_options; /* for all kernels: "-DN=4", "-Iinclude"
                                       */
    size_t n_build_options;
    const char *release;  /* refuse what this release of OpenVINO refuses,
                             "2020.4"; NULL = log it */
    const char *firmware; /* of a stick that is not booted */
    const char *xlink; /* layout of a stick's packets, "A", "B" or "C"; NULL =
                          that of the firmware file, if it is a known one */
    const char *xlink_log; /* file for every packet to and from a stick */
    /* 1: layers that are put together keep the conversions of memory order that
     * each of them asks for; 0: those that repeat or undo one another go. */
    uint32_t keep_conversions;
    /* What is worth knowing and no error; NULL = nowhere. */
    void (*log)(void *user, vpu_log_level level, const char *text);
    /* Output of kernels' printf, in the order of the work-groups. */
    void (*print)(void *user, const char *text, size_t n);
    void *user;        /* for these, and progress */
    const char *tuned; /* file of vpu_graph_tune or `vpu tune`: graphs take its
                          local sizes when they are finalized */
    /* Of each process that compiles. */
    double compile_timeout;  /* seconds of the processor's time; 0 = 60, below
                                0 = no limit */
    uint64_t compile_memory; /* bytes; 0 = 2 GiB, UINT64_MAX = no limit */
    uint32_t exact_source;   /* 1: a recording is compared with only when
                                kernels, work sizes and names are the recorded
                                ones to the letter; 0: what differs is logged */
    uint32_t print_prefix;   /* 1: "[group X,Y,Z item X,Y,Z] ", with the item's
                                local id, in front of each line of printf */
    uint32_t take_booted;    /* 1: a stick that is booted already, which another
                                program may use, is taken, too */
    /* Something long advances, a few times in each second: so many of `total`
     * units ("work-groups") of a kernel or a file are done; total 0: not known.
     * NULL = nobody asks. */
    void (*progress)(void *user, const char *of, const char *units,
                     uint64_t done, uint64_t total);
    /* 1: kernels are code for a debugger (gdb) that is attached to this
     * process: by source line, with their variables. It is told by gdb's
     * interface for compilers, of which a process has one. Needs
     * VPU_TIMING_NONE and the compiled engine; one thread is used. */
    uint32_t debugger;
    uint32_t stops; /* 1, with debugger: where the work-item of this global id
                       begins */
    uint32_t break_at[3];
    /* Local sizes of launches in place of the binding's, as they are finalized:
     * "64x1x1" those of all kernels, "STAGE=64x1x1" that of one, several with
     * commas between them; each divides the global size. After `tuned`. */
    const char *local;
} vpu_context_options;

#ifdef __cplusplus
#define VPU_OPTIONS_INIT_(type) {sizeof(type)}
#else
#define VPU_OPTIONS_INIT_(type) {.struct_size = sizeof(type)}
#endif
#define VPU_CONTEXT_OPTIONS_INIT VPU_OPTIONS_INIT_(vpu_context_options)

/* What the context's backend can; bits. */
typedef enum vpu_capability {
    VPU_CAN_COUNT_CYCLES = 1, /* cycles, and SHAVEs to choose */
    VPU_CAN_TRACE = 2,        /* timelines */
    VPU_CAN_PROFILE = 4,      /* cycles by source line */
    VPU_CAN_CHECK = 8,        /* vpu_graph_check */
    VPU_CAN_SHARE = 16,       /* vpu_tensor_data is the device's own memory */
    VPU_CAN_RUN_PARTS = 32 /* vpu_operation_set_window, vpu_graph_run_split */
} vpu_capability;

/* options NULL: the simulator, all defaults. Devices are not looked at yet.
 *
 * VPU_ERR_INVALID  no backend of that name; a setting that the machine does not
 *                  have; more SHAVEs than it has; a debugger with time
 * VPU_ERR_IO, VPU_ERR_PARSE, VPU_ERR_LIMIT  of the machine description */
VPU_EXPORT vpu_status vpu_context_create(vpu_context **out,
                                         const vpu_context_options *options,
                                         vpu_error *err);
VPU_EXPORT void vpu_context_free(vpu_context *context);
/* The id that it was created with. */
VPU_EXPORT const char *vpu_context_backend(const vpu_context *context);
/* Bits of vpu_capability. */
VPU_EXPORT uint32_t vpu_context_capabilities(const vpu_context *context);
/* For a program that a signal ends: from any thread, and from a signal handler.
 * Sessions with sticks that the context has open end soon, with VPU_ERR_IO, and
 * leave their stick reset; it opens no others then. How many there are; 0:
 * none, and nothing was done. */
VPU_EXPORT uint32_t vpu_context_interrupt(vpu_context *context);

/* --- programs and kernels ------------------------------------------------- */

typedef struct vpu_program vpu_program;
typedef struct vpu_kernel vpu_kernel;

/* One of source and file. */
typedef struct vpu_program_options {
    size_t struct_size;
    const char *source; /* OpenCL C */
    const char *name;   /* of the source in messages, as of a file; NULL =
                           "source.cl" */
    const char *file;   /* a .cl, or a .bin that `vpu cc` has made */
    const char *const *build_options; /* behind those of the context */
    size_t n_build_options;
    uint32_t images; /* 1: the source may use 2-D images, as buffers: it begins
                        with #include <vpusim/images.h> */
} vpu_program_options;
#define VPU_PROGRAM_OPTIONS_INIT VPU_OPTIONS_INIT_(vpu_program_options)

/* Nothing is compiled yet.
 *
 * VPU_ERR_INVALID  neither source nor file, or both
 * VPU_ERR_IO       the file cannot be read */
VPU_EXPORT vpu_status vpu_program_create(vpu_program **out,
                                         vpu_context *context,
                                         const vpu_program_options *options,
                                         vpu_error *err);
VPU_EXPORT void vpu_program_free(vpu_program *program);

/* The kernel of that name; NULL: the only one. Compiled when it is first asked
 * for, and once. Borrowed from the program.
 *
 * VPU_ERR_COMPILE      the compiler's diagnostics, also of what a VPU does not
 *                      have; no such kernel (names those there are)
 * VPU_ERR_UNSUPPORTED  a .bin of the vendor's alone; an address in a __constant
 * VPU_ERR_PARSE        a damaged .bin; a file that is neither .cl nor .bin
 * VPU_ERR_LIMIT        compiling took too long, or too much memory; a file that
 *                      is too large
 * VPU_ERR_IO           a file, or no clang-19 */
VPU_EXPORT vpu_status vpu_program_kernel(vpu_program *program, const char *name,
                                         const vpu_kernel **out,
                                         vpu_error *err);

/* As in the source. */
VPU_EXPORT const char *vpu_kernel_name(const vpu_kernel *kernel);
/* Work-items of dimension 0 that run as one, with vectors of so many elements;
 * 1: the kernel is not vectorized. */
VPU_EXPORT uint32_t vpu_kernel_vector_factor(const vpu_kernel *kernel);
/* Why it is not vectorized, with file and line; NULL: it is. */
VPU_EXPORT const char *vpu_kernel_not_vectorized(const vpu_kernel *kernel);
/* Bytes of __local arrays in the source, without those of arguments. */
VPU_EXPORT uint32_t vpu_kernel_local_bytes(const vpu_kernel *kernel);

typedef enum vpu_space {
    VPU_SPACE_VALUE = 1,    /* passed by value */
    VPU_SPACE_GLOBAL = 2,   /* __global pointer: a tensor */
    VPU_SPACE_CONSTANT = 3, /* __constant pointer: a tensor */
    VPU_SPACE_LOCAL = 4     /* __local pointer: bytes of local memory */
} vpu_space;

/* Those of the source, in its order. */
VPU_EXPORT size_t vpu_kernel_argument_count(const vpu_kernel *kernel);
/* NULL, or 0: i is too large; so of the two below. */
VPU_EXPORT const char *vpu_kernel_argument_name(const vpu_kernel *kernel,
                                                size_t i);
/* As in the source: "half*", "int". */
VPU_EXPORT const char *vpu_kernel_argument_type(const vpu_kernel *kernel,
                                                size_t i);
/* A vpu_space. */
VPU_EXPORT uint32_t vpu_kernel_argument_space(const vpu_kernel *kernel,
                                              size_t i);

/* --- graphs: tensors ------------------------------------------------------ */

typedef struct vpu_graph vpu_graph;
typedef struct vpu_tensor vpu_tensor;
typedef struct vpu_operation vpu_operation;

/* Element types. */
typedef enum vpu_type {
    VPU_F16 = 1, /* IEEE half: 2 bytes */
    VPU_F32 = 2,
    VPU_I32 = 3,
    VPU_U8 = 4,
    VPU_I8 = 5,
    VPU_I16 = 6,
    VPU_U16 = 7,
    VPU_I64 = 8
} vpu_type;

/* Bytes of an element; 0: no such type. */
VPU_EXPORT uint32_t vpu_type_bytes(uint32_t type);
/* "f16", "f32" …; NULL: no such type. */
VPU_EXPORT const char *vpu_type_name(uint32_t type);

typedef enum vpu_role {
    VPU_ROLE_INPUT = 1,    /* written by the caller */
    VPU_ROLE_OUTPUT = 2,   /* read by the caller */
    VPU_ROLE_CONSTANT = 3, /* given with the tensor */
    VPU_ROLE_VIRTUAL = 4   /* between operations: shares its memory with others
                              that are not needed at the same time */
} vpu_role;

#define VPU_MAX_RANK 6

/* What padding holds for the operations that read it. */
typedef enum vpu_border {
    VPU_BORDER_UNDEFINED = 1, /* anything (default) */
    VPU_BORDER_REPLICATE = 2, /* the nearest element of the tensor */
    VPU_BORDER_CONSTANT = 3   /* vpu_tensor_options.border_value */
} vpu_border;

typedef struct vpu_tensor_options {
    size_t struct_size;
    const char *name; /* unique in the graph; NULL = "tensor<number>" */
    uint32_t role;    /* vpu_role */
    uint32_t type;    /* vpu_type */
    uint32_t rank;    /* 1 .. VPU_MAX_RANK */
    uint32_t dims[VPU_MAX_RANK]; /* outermost first: N, C, H, W; each > 0 */
    const void *data;            /* of a constant: all elements, packed */
    const char *shape; /* instead of type, rank and dims: "1x3x64x64:f32", as of
                          `vpu run --shape`; without a type f16 */
    /* Memory beside the tensor that kernels may read: elements on both sides of
     * each dim. A tensor without padding and strides is packed. */
    uint32_t pad_before[VPU_MAX_RANK], pad_after[VPU_MAX_RANK];
    uint32_t auto_padding; /* 1, instead: 4 on all sides of the last two dims,
                              and 32 more behind the last one, so that kernels
                              with windows and vectors need no care */
    uint64_t strides[VPU_MAX_RANK]; /* bytes from one element of a dim to the
                                       next; 0 = as dims and padding make them.
                                       Given for all dims they may have any
                                       order */
    uint32_t channels_last; /* 1, instead of strides: dim 1 is innermost in
                               memory, as in NHWC for dims N, C, H, W */
    uint32_t border;        /* vpu_border, 0 = default */
    double border_value;    /* of VPU_BORDER_CONSTANT; as a float */
} vpu_tensor_options;
#define VPU_TENSOR_OPTIONS_INIT VPU_OPTIONS_INIT_(vpu_tensor_options)

/* A graph without tensors and operations. What is borrowed from it goes with
 * it.
 */
VPU_EXPORT vpu_status vpu_graph_create(vpu_graph **out, vpu_context *context,
                                       vpu_error *err);
VPU_EXPORT void vpu_graph_free(vpu_graph *graph);

/* A new tensor of the graph, borrowed from it.
 *
 * VPU_ERR_INVALID  the name is taken; a rank or a dim that cannot be (message:
 *                  which); a shape that is none; a constant without data,
 *                  others with data; a stride that is no whole number of
 *                  elements, or in which what is nearer together has no room
 *                  (message: which dim); channels_last with strides, or of
 *                  fewer than 3 dims; a border without padding; auto_padding
 *                  with other padding or strides; a border_value that the type
 *                  does not hold; the graph is finalized
 * VPU_ERR_LIMIT    more than 4 GiB */
VPU_EXPORT vpu_status vpu_graph_tensor(vpu_graph *graph,
                                       const vpu_tensor_options *options,
                                       vpu_tensor **out, vpu_error *err);
/* Tensors of a role, in the order they were made; NULL: there are not so many.
 */
VPU_EXPORT vpu_tensor *vpu_graph_tensor_at(vpu_graph *graph, uint32_t role,
                                           size_t i);
/* The tensor of that name, or, of a model, of the layer it comes from; NULL:
 * there is none. */
VPU_EXPORT vpu_tensor *vpu_graph_tensor_named(vpu_graph *graph,
                                              const char *name);

/* A part of a tensor: in each dim the elements from start on, below end. step
 * is for vpu_region_next alone; 0 = 1. */
typedef struct vpu_region {
    uint32_t start[VPU_MAX_RANK], end[VPU_MAX_RANK], step[VPU_MAX_RANK];
} vpu_region;

/* The place behind `at` in a region of so many dims, the last dim first, as
 * elements lie in memory; 0: `at` was the last one, and is the first one again.
 */
VPU_EXPORT uint32_t vpu_region_next(const vpu_region *region, uint32_t rank,
                                    uint32_t at[VPU_MAX_RANK]);

typedef struct vpu_view_options {
    size_t struct_size;
    const char *name;             /* NULL = "view<number>" */
    uint32_t start[VPU_MAX_RANK]; /* in the parent */
    uint32_t dims[VPU_MAX_RANK];  /* of the view, whose rank is the parent's */
} vpu_view_options;
#define VPU_VIEW_OPTIONS_INIT VPU_OPTIONS_INIT_(vpu_view_options)

/* A part of a tensor as a tensor, without memory of its own: what is written to
 * one is in the other. Operations that write views of one tensor concatenate
 * without copies. It has the role of its parent, which may be a view. A view of
 * a packed tensor is in one piece where all dims are 1 in front of the first
 * one that it does not take whole; else it has gaps, and so has every view of a
 * tensor with padding or strides (vpu_tensor_is_packed).
 *
 * VPU_ERR_INVALID  it leaves its parent (message: which dim); the name is
 *                  taken; the graph is finalized */
VPU_EXPORT vpu_status vpu_graph_view(vpu_graph *graph, vpu_tensor *parent,
                                     const vpu_view_options *options,
                                     vpu_tensor **out, vpu_error *err);
/* NULL: it is no view. */
VPU_EXPORT vpu_tensor *vpu_tensor_parent(const vpu_tensor *tensor);

/* As the tensor was made. */
VPU_EXPORT const char *vpu_tensor_name(const vpu_tensor *tensor);
VPU_EXPORT uint32_t vpu_tensor_role(const vpu_tensor *tensor);
VPU_EXPORT uint32_t vpu_tensor_type(const vpu_tensor *tensor);
VPU_EXPORT uint32_t vpu_tensor_rank(const vpu_tensor *tensor);
/* 0: i is not below the rank. */
VPU_EXPORT uint32_t vpu_tensor_dim(const vpu_tensor *tensor, uint32_t i);
/* Of its elements alone, packed: what is written, read, and saved. */
VPU_EXPORT size_t vpu_tensor_bytes(const vpu_tensor *tensor);
/* 1: its elements are one piece of memory, each behind the one before it. */
VPU_EXPORT uint32_t vpu_tensor_is_packed(const vpu_tensor *tensor);
/* Bytes from one element of dim i to the next; 0: i is not below the rank. */
VPU_EXPORT uint64_t vpu_tensor_stride(const vpu_tensor *tensor, uint32_t i);
/* Bytes from the memory that kernels get (vpu_operation_set_memory) to the
 * first element; 0 for a packed tensor that is no view. */
VPU_EXPORT uint64_t vpu_tensor_offset(const vpu_tensor *tensor);
/* Of all that memory, padding and gaps with it; of a view, of the tensor that
 * it is a part of. */
VPU_EXPORT size_t vpu_tensor_memory_bytes(const vpu_tensor *tensor);
/* The elements that mean something: all of an input, what operations with a
 * reach (vpu_kind) have left of it behind them. An end at its start: none is
 * known to.
 *
 * VPU_ERR_INVALID  NULL */
VPU_EXPORT vpu_status vpu_tensor_valid(const vpu_tensor *tensor,
                                       vpu_region *out, vpu_error *err);

/* The contents of an input, for the runs that follow; bytes: vpu_tensor_bytes.
 *
 * VPU_ERR_INVALID   the tensor is no input
 * VPU_ERR_MISMATCH  another number of bytes */
VPU_EXPORT vpu_status vpu_tensor_write(vpu_tensor *tensor, const void *data,
                                       size_t bytes, vpu_error *err);
/* An input's contents from a description: "zeros", "ramp", "random:SEED", a
 * file "NAME.npy" or an array "NAME.npz:ARRAY" of its shape and element type,
 * or a picture of its width and height, "NAME.png" or "NAME.jpg", with options
 * such as ":mean=104,117,123,scale=58" behind it: docs/inputs.md.
 *
 * VPU_ERR_INVALID   none of these; no input
 * VPU_ERR_MISMATCH  the file has another shape or element type
 * VPU_ERR_IO, VPU_ERR_PARSE, VPU_ERR_UNSUPPORTED, VPU_ERR_LIMIT  of the file
 */
VPU_EXPORT vpu_status vpu_tensor_fill(vpu_tensor *tensor, const char *spec,
                                      vpu_error *err);
/* The contents of an output after a run, or of an input.
 *
 * VPU_ERR_INVALID   neither an input nor an output; nothing was run yet
 * VPU_ERR_MISMATCH  another number of bytes */
VPU_EXPORT vpu_status vpu_tensor_read(vpu_tensor *tensor, void *data,
                                      size_t bytes, vpu_error *err);
/* An input's or output's first element, for reading and writing in place
 * between runs, from vpu_graph_finalize on and as long as the graph lives; NULL
 * else. vpu_tensor_stride says where the others are. With VPU_CAN_SHARE runs
 * work on it directly, else they copy from and to it. */
VPU_EXPORT void *vpu_tensor_data(vpu_tensor *tensor);
/* From now on an input's or output's memory, as vpu_tensor_memory_bytes counts
 * it, padding with it, is at data, `bytes` of them,
 * which stay the caller's and must be there as long as the tensor is, or until
 * it is imported anew, with NULL for none. Runs copy from there, or to there,
 * once, so that a kernel never sees what is beside it; vpu_result_copied_bytes
 * says how much. vpu_tensor_data is then in it, also before vpu_graph_finalize.
 *
 * On an error the tensor is as it was.
 *
 * VPU_ERR_INVALID   neither an input nor an output, or a view of one, whose
 *                   parent has its memory; data not aligned to the elements
 * VPU_ERR_MISMATCH  fewer bytes than the tensor has */
VPU_EXPORT vpu_status vpu_tensor_import(vpu_tensor *tensor, void *data,
                                        size_t bytes, vpu_error *err);
/* Into a file NAME.npy, whole or not at all.
 *
 * VPU_ERR_INVALID  neither an input nor an output; nothing was run yet
 * VPU_ERR_IO       the file */
VPU_EXPORT vpu_status vpu_tensor_save(vpu_tensor *tensor, const char *path,
                                      vpu_error *err);

/* --- graphs: operations --------------------------------------------------- */

typedef struct vpu_launch_options {
    size_t struct_size;
    const char *name;   /* of the operation; NULL = the kernel's */
    uint32_t global[3]; /* work-items of each dimension; 0 = 1 */
    uint32_t local[3]; /* of a work-group, dividing them. All 0: what the kernel
                          requires, else of dimension 0 the largest divisor up
                          to 512 that whole vectors fill and that leaves a
                          work-group for each SHAVE */
    uint32_t max_shaves; /* 0 = no limit */
    /* Arguments of the kernel, int or uint, that get the number of the part
     * that runs (vpu_window) and how many parts there are; 0 and 1 when it runs
     * whole. NULL = none. So a part finds memory of its own. */
    const char *part, *parts;
} vpu_launch_options;
#define VPU_LAUNCH_OPTIONS_INIT VPU_OPTIONS_INIT_(vpu_launch_options)

/* A launch of a kernel, behind the operations that are there. Its arguments are
 * set by the functions below before the graph is finalized. The program must be
 * of the graph's context; the graph keeps it.
 *
 * VPU_ERR_INVALID   sizes that do not divide, or not the kernel's required
 *                   ones; a program of another context; no argument of the
 *                   name of part or parts; the graph is finalized
 * VPU_ERR_MISMATCH  part or parts is no int and no uint */
VPU_EXPORT vpu_status vpu_graph_add_kernel(vpu_graph *graph,
                                           const vpu_kernel *kernel,
                                           const vpu_launch_options *options,
                                           vpu_operation **out, vpu_error *err);
/* Arguments by name; each message names the argument and its type. A pointer
 * that is not const may be given an input or a constant, but the kernel must
 * not write to it: other operations need not see that.
 *
 * VPU_ERR_INVALID   no such argument (names one like it); a value that its type
 *                   does not hold; a tensor of another graph; the graph is
 *                   finalized
 * VPU_ERR_MISMATCH  an argument of another kind; elements of another type; a
 *                   tensor with gaps or padding */
VPU_EXPORT vpu_status vpu_operation_set_tensor(vpu_operation *operation,
                                               const char *argument,
                                               vpu_tensor *tensor,
                                               vpu_error *err);
/* The same for a kernel that knows where elements are: it gets all of the
 * tensor's memory, padding with it, of a view that of the tensor that it is a
 * part of. Elements begin vpu_tensor_offset behind that, vpu_tensor_stride
 * apart. vpu_operation_set_tensor takes packed tensors alone, and gives of a
 * view its own piece.
 *
 * VPU_ERR_INVALID, VPU_ERR_MISMATCH  as vpu_operation_set_tensor */
VPU_EXPORT vpu_status vpu_operation_set_memory(vpu_operation *operation,
                                               const char *argument,
                                               vpu_tensor *tensor,
                                               vpu_error *err);
/* Any integer type.
 *
 * VPU_ERR_INVALID, VPU_ERR_MISMATCH  as vpu_operation_set_tensor */
VPU_EXPORT vpu_status vpu_operation_set_integer(vpu_operation *operation,
                                                const char *argument,
                                                int64_t value, vpu_error *err);
/* half and float; rounded to nearest.
 *
 * VPU_ERR_INVALID, VPU_ERR_MISMATCH  as vpu_operation_set_tensor */
VPU_EXPORT vpu_status vpu_operation_set_real(vpu_operation *operation,
                                             const char *argument, double value,
                                             vpu_error *err);
/* Bytes of local memory of each work-group.
 *
 * VPU_ERR_INVALID, VPU_ERR_MISMATCH  as vpu_operation_set_tensor */
VPU_EXPORT vpu_status vpu_operation_set_local(vpu_operation *operation,
                                              const char *argument,
                                              uint32_t bytes, vpu_error *err);

/* A layer of a binding file, as `vpu run` takes it: the first kind of options
 * says which, then either shapes by hand or a model. Or, as the one file of
 * `bindings`, a whole network: a graph blob, as the vendor's compiler and its
 * cache leave it, or an IR, which that compiler is then asked to compile. Their
 * stages are the operation's launches. Of other members name, custom and
 * openvino count then. */
typedef struct vpu_layer_options {
    size_t struct_size;
    const char *name;            /* of the operation; NULL = the layer's type */
    const char *const *bindings; /* files; several count as one */
    size_t n_bindings;
    const char *layer;         /* type; NULL = the only one there is */
    uint32_t number;           /* which CustomLayer of that type, from 1; 0 =
                                  the one that the vendor's compiler takes */
    const char *const *shapes; /* "in0=1x3x64x64", "out0=1x3x32x32:f32" */
    size_t n_shapes;
    const char *const *params; /* "NAME=VALUE" */
    size_t n_params;
    const char *const *blobs; /* "NAME=FILE.npy", for Data */
    size_t n_blobs;
    const char *const *paddings; /* "in0=LEFT,RIGHT,TOP,BOTTOM", of SimpleGPU */
    size_t n_paddings;
    const char *model;      /* an OpenVINO IR, instead of shapes */
    const char *at;         /* its layer; NULL = all of bound types */
    uint32_t batch_by_item; /* 1: a stage runs once for each item of a
                               batch, as on a stick; 0: once */
    /* Tensors of the graph to take for inputs 0, 1 …, whose shapes count then,
     * and for the output; NULL = a new one. */
    vpu_tensor *const *inputs;
    size_t n_inputs;
    vpu_tensor *output;
    uint32_t virtual_output; /* 1: what is new between operations is
                                VPU_ROLE_VIRTUAL; 0: VPU_ROLE_OUTPUT */
    uint32_t batch_whole;    /* 1: a stage runs once on a stick as well; not
                                with batch_by_item */
    uint32_t any_layer;      /* 1: where the files have no `layer`, the only one
                                there is is taken */
    uint32_t any_params;     /* 1: a parameter that the binding does not look at
                                is no error; vpu_operation_check_params tells */
    /* Of a network: a binding file for layers of it; and where the package
     * openvino is that compiles it: a virtual environment, a folder of packages
     * or a Python; NULL = the environment's VPU_OPENVINO, else python3. */
    const char *custom;
    const char *openvino;
} vpu_layer_options;
#define VPU_LAYER_OPTIONS_INIT VPU_OPTIONS_INIT_(vpu_layer_options)

/* New inputs and outputs are called "in0", "out0" …; where the graph has such
 * names already, "NAME.in0".
 *
 * VPU_ERR_INVALID, VPU_ERR_PARSE, VPU_ERR_UNSUPPORTED, VPU_ERR_LIMIT,
 * VPU_ERR_IO  the binding, the model and the shapes do not fit, and why
 * VPU_ERR_MISMATCH  the output is of another shape */
VPU_EXPORT vpu_status vpu_graph_add_layer(vpu_graph *graph,
                                          const vpu_layer_options *options,
                                          vpu_operation **out, vpu_error *err);
/* Does a layer's binding look at these parameters, "NAME=VALUE"? On a backend
 * that looks at them itself (a plug-in) all are fine.
 *
 * VPU_ERR_INVALID  one that it does not look at (message: which, and one like
 *                  it); no layer of a binding file */
VPU_EXPORT vpu_status vpu_operation_check_params(const vpu_operation *operation,
                                                 const char *const *params,
                                                 size_t n_params,
                                                 vpu_error *err);
/* What is bound to the operation: of a layer its inputs and outputs, of a
 * kernel the tensors that it reads alone, and those it may write. NULL: there
 * are not so many. */
VPU_EXPORT vpu_tensor *vpu_operation_input(vpu_operation *operation, size_t i);
VPU_EXPORT vpu_tensor *vpu_operation_output(vpu_operation *operation, size_t i);
VPU_EXPORT const char *vpu_operation_name(const vpu_operation *operation);

/* --- kinds of operations -------------------------------------------------- */

/* A number by the name of its parameter. */
typedef struct vpu_value {
    const char *name;
    uint32_t is_real; /* 1: `real` counts; 0: `integer` */
    int64_t integer;
    double real;
} vpu_value;

/* A parameter of a kind. The kernel's argument of that name gets its value;
 * where the kernel has none the parameter is for expressions alone. */
typedef struct vpu_parameter {
    const char *name;
    uint32_t is_real;
    uint32_t optional; /* 1: `preset` counts where no value is given */
    double preset;
    /* The value, which callers cannot give then: an expression, or 1: what
     * vpu_kind.find_value says. */
    const char *expression;
    uint32_t computed;
} vpu_parameter;

/* Local memory of a kernel: an argument and its bytes, an expression. */
typedef struct vpu_local {
    const char *argument, *bytes;
} vpu_local;

typedef struct vpu_shape {
    uint32_t type, rank;
    uint32_t dims[VPU_MAX_RANK];
} vpu_shape;

/* Of an operation that is being added: what callbacks of its kind decide by. */
typedef struct vpu_call {
    const char *name; /* of the operation */
    vpu_tensor *const *inputs;
    size_t n_inputs;
    vpu_tensor *const *outputs; /* none while shapes are asked for */
    size_t n_outputs;
    const vpu_value *values; /* of all parameters, in the kind's order */
    size_t n_values;
} vpu_call;

/* What a callback chooses; its texts are copied when it returns. */
typedef struct vpu_variant {
    const char *kernel;
    const char *const *build_options;
    size_t n_build_options;
} vpu_variant;

typedef struct vpu_sizes {
    uint32_t global[3], local[3]; /* as of vpu_launch_options */
} vpu_sizes;

/* A kind of operation: a kernel with answers to four questions, each as an
 * expression or as a callback: which shapes do outputs have, which kernel is it
 * for these types, how large is its launch, what are its numbers.
 *
 * Expressions are those of binding files (docs/bindings.md). They know the
 * parameters; "in0_1", dim 1 of input 0, and "out0_1"; "in0_rank"; B, F, Y and
 * X of input 0. Lists have commas between. A kernel's source knows the element
 * types of the tensors, as OpenCL C names them: VPU_IN0, VPU_OUT0 … */
typedef struct vpu_kind {
    size_t struct_size;
    const char *name;
    const char *source; /* OpenCL C, or a file; as of vpu_program_options */
    const char *file;
    const char *const *build_options;
    size_t n_build_options;
    const char *kernel; /* NULL = the only one */
    /* The kernel's arguments that take tensors, constant ones and others. */
    const char *const *inputs;
    size_t n_inputs;
    const char *const *outputs;
    size_t n_outputs;
    const vpu_parameter
        *parameters; /* in the order of the kernel's arguments */
    size_t n_parameters;
    const vpu_local *locals;
    size_t n_locals;
    const char *const *shapes; /* n_outputs lists of dims; NULL, all or one: as
                                  input 0 */
    const char *global;        /* list of one to three sizes */
    const char *local; /* likewise; NULL: as vpu_launch_options.local 0 */
    /* Instead of the expressions; NULL = none. They may fail, with a message,
     * and must not change the graph. */
    vpu_status (*find_shape)(void *user, const vpu_call *call, size_t output,
                             vpu_shape *out, vpu_error *err);
    vpu_status (*find_variant)(void *user, const vpu_call *call,
                               vpu_variant *out, vpu_error *err);
    vpu_status (*find_sizes)(void *user, const vpu_call *call, vpu_sizes *out,
                             vpu_error *err);
    /* Of a computed parameter, when outputs are there; expressions do not know
     * it. */
    vpu_status (*find_value)(void *user, const vpu_call *call,
                             const char *parameter, vpu_value *out,
                             vpu_error *err);
    void *user;
    void (*release)(void *user); /* when the kind goes; NULL = nothing to do */
    const char *part, *parts;    /* as of vpu_launch_options */
    uint32_t strided; /* 1: the kernel gets tensors as vpu_operation_set_memory
                         gives them. Expressions, mostly of parameters, know
                         where elements are, in elements: "in0_offset",
                         "in0_stride_1", "out0_offset" … */
    /* How far around its own place a work-item reads the inputs that have the
     * shape of output 0, which has that of input 0: a list, an expression for
     * each dim, or one for all of them; NULL = not known. Dims in front of the
     * last three have 0. Work-items of dimension 0 are then elements of the
     * last dim, of 1 and 2 those in front of it; or all elements, where it is
     * 0.
     *
     * Where an input has less padding than that, the work-groups that would
     * leave its memory do not run (on a backend without VPU_CAN_RUN_PARTS the
     * operation is refused), and the output's valid region ends with them. The
     * region also ends where padding is read that holds nothing: with a border
     * it does not. */
    const char *reach;
} vpu_kind;
#define VPU_KIND_INIT VPU_OPTIONS_INIT_(vpu_kind)

/* The context's graphs can add operations of this kind from now on. A kind that
 * has the name already, also one of the library's own, is replaced for
 * operations that are added later. From any thread. What is wrong with the
 * kernel is told when an operation is added.
 *
 * VPU_ERR_INVALID  no name, no tensor, neither source nor file or both; a name
 *                  twice; no global size and no callback for it; on an error
 *                  `release` is not called */
VPU_EXPORT vpu_status vpu_context_register(vpu_context *context,
                                           const vpu_kind *kind,
                                           vpu_error *err);
/* The layer types of a binding file become kinds of these names: vpu_graph_add
 * takes their inputs, at most one output, whose shape is that of input 0 where
 * none is given, and their parameters as values. path is a file; a folder,
 * whose layer.xml and those of the folders in it are read; or NULL for the
 * samples that were installed with the library (GRN, MVN, Reorg …). Of types
 * that a file has twice the vendor's compiler's choice counts.
 *
 * VPU_ERR_IO     the file or folder; no samples are where the library is
 * VPU_ERR_PARSE, VPU_ERR_UNSUPPORTED, VPU_ERR_LIMIT  of a file */
VPU_EXPORT vpu_status vpu_context_register_layers(vpu_context *context,
                                                  const char *path,
                                                  vpu_error *err);
/* Names of the kinds, those of the library first; NULL: there are not so many.
 */
VPU_EXPORT const char *vpu_context_kind(vpu_context *context, size_t i);

typedef struct vpu_add_options {
    size_t struct_size;
    const char *name; /* of the operation; NULL = the kind's */
    vpu_tensor *const *inputs;
    size_t n_inputs;
    vpu_tensor *const *outputs; /* NULL, or NULL among them: a new tensor */
    size_t n_outputs;
    uint32_t output_role; /* of new ones; 0 = VPU_ROLE_VIRTUAL */
    const vpu_value *values;
    size_t n_values;
} vpu_add_options;
#define VPU_ADD_OPTIONS_INIT VPU_OPTIONS_INIT_(vpu_add_options)

/* An operation of a kind, behind those that are there. New outputs are called
 * as the operation, or "NAME.out<i>" where it has several.
 *
 * VPU_ERR_INVALID   no such kind (names one like it); other numbers of tensors;
 *                   a value that is missing, unknown, given twice or of the
 *                   other kind of number; an expression without value; another
 *                   order of parameters than of the kernel's arguments
 * VPU_ERR_MISMATCH  an output of another shape or element type; and as
 *                   vpu_operation_set_tensor
 * else              of vpu_program_kernel, vpu_graph_tensor,
 *                   vpu_graph_add_kernel, and of the callbacks */
VPU_EXPORT vpu_status vpu_graph_add(vpu_graph *graph, const char *kind,
                                    const vpu_add_options *options,
                                    vpu_operation **out, vpu_error *err);

/* A composed operation: what is added from here to vpu_graph_end is a part of
 * it, and is called "NAME/PART". Composed operations nest.
 *
 * VPU_ERR_INVALID  no name; the graph is finalized; vpu_graph_end: none was
 *                  begun, or another one later */
VPU_EXPORT vpu_status vpu_graph_begin(vpu_graph *graph, const char *name,
                                      vpu_operation **out, vpu_error *err);
VPU_EXPORT vpu_status vpu_graph_end(vpu_operation *operation, vpu_error *err);

/* --- parts of launches ---------------------------------------------------- */

/* Some work-items of a launch: in each dimension those from start on, below
 * end, in steps of a work-group. A kernel that runs on a window has the global
 * size and the ids that it has when all of the launch runs. */
typedef struct vpu_window {
    uint32_t start[3], end[3], step[3];
    uint32_t part, parts; /* which part of how many; parts 0 = 1 */
} vpu_window;

/* The largest window of an operation that is a launch of one kernel: from 0 to
 * the global size, in steps of the local size.
 *
 * VPU_ERR_INVALID  a layer, a composed operation */
VPU_EXPORT vpu_status vpu_operation_window(const vpu_operation *operation,
                                           vpu_window *out, vpu_error *err);
/* Is `part` a part of `whole`? In each dimension the steps are equal, start is
 * in the whole, end not behind it, and start and end are whole steps from the
 * start of the whole and of the part.
 *
 * VPU_ERR_INVALID  it is not (message: which dimension, and why) */
VPU_EXPORT vpu_status vpu_window_check(const vpu_window *whole,
                                       const vpu_window *part, vpu_error *err);
/* Part number `part` of `parts`, along one dimension, as even as whole steps
 * allow. All parts together are the whole, and no two of them overlap.
 *
 * VPU_ERR_INVALID  no such dimension or part; more parts than steps */
VPU_EXPORT vpu_status vpu_window_split(const vpu_window *whole,
                                       uint32_t dimension, uint32_t part,
                                       uint32_t parts, vpu_window *out,
                                       vpu_error *err);
/* The place behind `at`, dimension 0 first, in the order in which work-groups
 * run; 0: `at` was the last one, and is the first one again. The first one is
 * the window's start; any place of the window will do to begin with. */
VPU_EXPORT uint32_t vpu_window_next(const vpu_window *window, uint32_t at[3]);
/* Runs that follow run these work-groups of the operation alone; NULL: all of
 * them. Tensors keep what was in them where other work-groups would write. May
 * be called between runs. Checking and comparing look at the same work-groups;
 * tuning leaves the operation's size alone.
 *
 * VPU_ERR_INVALID      as vpu_operation_window and vpu_window_check
 * VPU_ERR_UNSUPPORTED  without VPU_CAN_RUN_PARTS */
VPU_EXPORT vpu_status vpu_operation_set_window(vpu_operation *operation,
                                               const vpu_window *window,
                                               vpu_error *err);

/* --- host operations ------------------------------------------------------ */

typedef struct vpu_host_options {
    size_t struct_size;
    const char *name; /* of the operation; NULL = "host" */
    vpu_tensor *const *inputs;
    size_t n_inputs;
    vpu_tensor *const *outputs; /* may be inputs, too */
    size_t n_outputs;
    /* Elements of each tensor, packed, in the order above; outputs of the
     * operation must be written whole. An error ends the run with this status
     * and message. It must not use the graph that it is in. */
    vpu_status (*function)(void *user, const void *const *inputs,
                           void *const *outputs, vpu_error *err);
    void *user;
    void (*release)(void *user); /* when the graph goes; NULL = nothing to do */
} vpu_host_options;
#define VPU_HOST_OPTIONS_INIT VPU_OPTIONS_INIT_(vpu_host_options)

/* A function of the host's as an operation, behind those that are there. It is
 * called on the thread that called vpu_graph_run, between the launches around
 * it, and by vpu_graph_tune. It takes no cycles of the device; its time, by the
 * host's clock, is a row of its own in reports and in
 * vpu_result_operation_seconds, and not in vpu_result_seconds.
 *
 * Backends that run a graph only as a whole refuse the graph: its
 * vpu_graph_finalize returns VPU_ERR_UNSUPPORTED, and so do vpu_graph_check,
 * vpu_diff_create, vpu_graph_save and vpu_graph_export. A graph needs a launch
 * besides.
 *
 * VPU_ERR_INVALID  no function, no tensor; a tensor of another graph; an output
 *                  that is an input or a constant of the graph; the graph is
 *                  finalized; on an error `release` is not called */
VPU_EXPORT vpu_status vpu_graph_add_host(vpu_graph *graph,
                                         const vpu_host_options *options,
                                         vpu_operation **out, vpu_error *err);

/* --- graph files ---------------------------------------------------------- */

typedef struct vpu_graph_save_options {
    size_t struct_size;
    uint32_t compiled; /* 1: kernels as `vpu cc` makes them, for the simulator,
                          which then needs no clang; 0: as text */
} vpu_graph_save_options;
#define VPU_GRAPH_SAVE_OPTIONS_INIT VPU_OPTIONS_INIT_(vpu_graph_save_options)

/* The graph as one file: tensors, constants' bytes, operations, and kernels
 * with what they include and the context's build options, so that no other file
 * is needed. Inputs' contents are not in it. The file appears whole or not at
 * all; the same graph gives the same bytes, and so does a graph that was
 * loaded. Nothing can be added to the graph then. options may be NULL.
 *
 * VPU_ERR_INVALID      as vpu_graph_finalize; a name that is not UTF-8
 * VPU_ERR_UNSUPPORTED  a function of the host; a graph that was resized; a
 *                      kernel of which there is a .bin of the vendor's alone
 * VPU_ERR_COMPILE, VPU_ERR_LIMIT  of the kernels
 * VPU_ERR_IO           the file, or one of a kernel */
VPU_EXPORT vpu_status vpu_graph_save(vpu_graph *graph, const char *path,
                                     const vpu_graph_save_options *options,
                                     vpu_error *err);
/* A graph from such a file, to be finalized and run as any other, with the same
 * results and cycles; nothing can be added to it. The file need not stay.
 *
 * VPU_ERR_PARSE        no graph, or a damaged one (message: the byte, and what
 *                      was expected there)
 * VPU_ERR_UNSUPPORTED  of a version that this library does not read
 * VPU_ERR_LIMIT        larger than 16 GiB
 * VPU_ERR_IO           the file cannot be read */
VPU_EXPORT vpu_status vpu_graph_load(vpu_graph **out, vpu_context *context,
                                     const char *path, vpu_error *err);

/* Operations of a graph, also of one that was loaded, in the order they were
 * added, composed ones before their parts; NULL: there are not so many. */
VPU_EXPORT vpu_operation *vpu_graph_operation_at(vpu_graph *graph, size_t i);
/* The first of that name, "cell/tanh" of a part; NULL: there is none. */
VPU_EXPORT vpu_operation *vpu_graph_operation_named(vpu_graph *graph,
                                                    const char *name);

typedef struct vpu_graph_export_options {
    size_t struct_size;
    const char *release; /* of OpenVINO, whose form the blob has; NULL = that of
                            `xlink`, else the context's, else "2022.3" */
    const char *xlink;   /* layout that the stick speaks, "A", "B" or "C": the
                            last release that does; NULL = not known */
    uint32_t shaves;     /* of the network, 1 to 16; 0 = 7 */
} vpu_graph_export_options;
#define VPU_GRAPH_EXPORT_OPTIONS_INIT \
    VPU_OPTIONS_INIT_(vpu_graph_export_options)

/* The graph as the blob that the backend "usb" sends to a stick, for the
 * vendor's own software or `vpu blob`. The context may be any; kernels whose
 * .bin is not the vendor's are compiled here, and run on a virtual stick alone.
 * The file appears whole or not at all. Nothing can be added to the graph then.
 * options may be NULL.
 *
 * VPU_ERR_INVALID      as vpu_graph_finalize; no such release or layout; more
 *                      SHAVEs than there are
 * VPU_ERR_UNSUPPORTED  what a blob of that release does not hold
 * VPU_ERR_MISMATCH     a kernel's .bin is of another generation
 * VPU_ERR_COMPILE, VPU_ERR_IO, VPU_ERR_LIMIT  of the kernels, and the file */
VPU_EXPORT vpu_status vpu_graph_export(vpu_graph *graph, const char *path,
                                       const vpu_graph_export_options *options,
                                       vpu_error *err);

/* --- running -------------------------------------------------------------- */

typedef struct vpu_result vpu_result;

/* Verifies the graph, plans its memory, opens the device. Nothing can be added
 * then.
 *
 * VPU_ERR_INVALID      no operation; an argument that is not set; a tensor that
 *                      is read before anything writes it, an output that
 *                      nothing writes (message: which); views of one
 *                      tensor that are both written and overlap
 * VPU_ERR_UNSUPPORTED  the backend cannot run it, and why
 * VPU_ERR_IO           no device, and what was looked for; no file `tuned` of
 *                      the context
 * VPU_ERR_PARSE        that file has a row that is none
 * VPU_ERR_COMPILE, VPU_ERR_MISMATCH, VPU_ERR_LIMIT  of the kernels, and of the
 *                      device's memory */
VPU_EXPORT vpu_status vpu_graph_finalize(vpu_graph *graph, vpu_error *err);

/* How the memory of virtual tensors is shared, in bytes; 0 before
 * vpu_graph_finalize. Backends without VPU_CAN_SHARE do not share. */
typedef struct vpu_memory_use {
    size_t struct_size;
    uint64_t apart; /* all of them side by side */
    uint64_t bound; /* the largest sum of those needed at one time: no plan can
                       take less */
    uint64_t planned; /* what they take */
} vpu_memory_use;
#define VPU_MEMORY_USE_INIT VPU_OPTIONS_INIT_(vpu_memory_use)

/* Into those members of *out that its struct_size has. */
VPU_EXPORT vpu_status vpu_graph_memory(const vpu_graph *graph,
                                       vpu_memory_use *out, vpu_error *err);
/* The plan as text, or as an SVG picture of addresses over time. Borrowed;
 * NULL before vpu_graph_finalize. */
VPU_EXPORT const char *vpu_graph_memory_text(vpu_graph *graph);
VPU_EXPORT const char *vpu_graph_memory_svg(vpu_graph *graph);

/* --- memory that callers share out ----------------------------------------- */

/* Graphs share the memory of their virtual tensors by themselves. For buffers
 * of one's own, such as what is imported into several graphs: a group records
 * when buffers live, and shares them out to blobs, so that two that live at the
 * same time have none in common. Groups of one manager are never active at the
 * same time, and lie in the same memory. docs/memory.md has the rule; the same
 * calls give the same blobs.
 *
 * Threads: acquire, give_back and address may be called from any; everything
 * else by one thread, while no other calls anything of the manager. */
typedef struct vpu_memory_manager vpu_memory_manager;
typedef struct vpu_memory_group vpu_memory_group;

typedef struct vpu_blob {
    uint64_t bytes, alignment; /* the largest of its owners'; alignment 0: none
                                  asked for one */
    size_t owners;
} vpu_blob;

/* A manager without groups. */
VPU_EXPORT vpu_status vpu_memory_manager_create(vpu_memory_manager **out,
                                                vpu_error *err);
/* With its groups and sets, also those that somebody has. */
VPU_EXPORT void vpu_memory_manager_free(vpu_memory_manager *manager);
/* A group without buffers, which lives as long as the manager. */
VPU_EXPORT vpu_status vpu_memory_group_create(vpu_memory_group **out,
                                              vpu_memory_manager *manager,
                                              vpu_error *err);
/* A buffer's life begins; the key is the caller's, as its address. It ends, and
 * then its size and alignment, a power of two or 0 for none, are known.
 *
 * VPU_ERR_INVALID  a key for the second time; one that never began, or has
 *                  ended; the alignment; the group is finalized
 * VPU_ERR_LIMIT    vpu_memory_group_end: the sum of all sizes does not fit 64
 *                  bits */
VPU_EXPORT vpu_status vpu_memory_group_manage(vpu_memory_group *group,
                                              uint64_t key, vpu_error *err);
VPU_EXPORT vpu_status vpu_memory_group_end(vpu_memory_group *group,
                                           uint64_t key, uint64_t bytes,
                                           uint64_t alignment, vpu_error *err);
/* No more lifetimes: the blobs are made.
 *
 * VPU_ERR_INVALID  lives have not ended; the manager has sets */
VPU_EXPORT vpu_status vpu_memory_group_finalize(vpu_memory_group *group,
                                                vpu_error *err);
/* Forgets all that the group has recorded.
 *
 * VPU_ERR_INVALID  the manager has sets */
VPU_EXPORT vpu_status vpu_memory_group_release(vpu_memory_group *group,
                                               vpu_error *err);
/* Buffers that have a blob; 0 before vpu_memory_group_finalize. */
VPU_EXPORT size_t vpu_memory_group_mapping_count(const vpu_memory_group *group);
/* Of a group, the largest first; of the manager, blob i is as large as the
 * largest blob i of its groups.
 *
 * VPU_ERR_INVALID  i is too large */
VPU_EXPORT size_t vpu_memory_group_blob_count(const vpu_memory_group *group);
VPU_EXPORT vpu_status vpu_memory_group_blob(const vpu_memory_group *group,
                                            size_t i, vpu_blob *out,
                                            vpu_error *err);
VPU_EXPORT size_t
vpu_memory_manager_blob_count(const vpu_memory_manager *manager);
VPU_EXPORT vpu_status vpu_memory_manager_blob(const vpu_memory_manager *manager,
                                              size_t i, vpu_blob *out,
                                              vpu_error *err);
/* apart and planned, of one set; bound is 0. */
VPU_EXPORT vpu_status vpu_memory_manager_use(const vpu_memory_manager *manager,
                                             vpu_memory_use *out,
                                             vpu_error *err);

/* Where memory of sets comes from and goes to. */
typedef struct vpu_allocator {
    /* At least so many bytes, above 0; NULL = there are none. */
    void *(*allocate)(void *user, uint64_t bytes, uint64_t alignment);
    void (*release)(void *user, void *memory, uint64_t bytes);
    void *user;
} vpu_allocator;

/* Memory for n runs at the same time: n sets, each with all blobs. allocator
 * NULL: the heap; it is copied, and serves until the sets are cleared.
 *
 * VPU_ERR_INVALID  a group with buffers is not finalized; there are sets
 * VPU_ERR_NOMEM    the allocator gave NULL; all that it gave before is released
 * VPU_ERR_LIMIT    so many blobs fit no address space */
VPU_EXPORT vpu_status
vpu_memory_manager_populate(vpu_memory_manager *manager, uint32_t n,
                            const vpu_allocator *allocator, vpu_error *err);
VPU_EXPORT uint32_t vpu_memory_manager_set_count(vpu_memory_manager *manager);
/* The sets' memory goes back to the allocator.
 *
 * VPU_ERR_INVALID  a set is acquired */
VPU_EXPORT vpu_status vpu_memory_manager_clear(vpu_memory_manager *manager,
                                               vpu_error *err);
/* The lowest set that nobody has. wait 1: until there is one.
 *
 * VPU_ERR_INVALID  there are no sets; vpu_memory_manager_give_back: nobody has
 *                  it
 * VPU_ERR_LIMIT    vpu_memory_manager_acquire: others have all of them, and
 *                  wait is 0 */
VPU_EXPORT vpu_status vpu_memory_manager_acquire(vpu_memory_manager *manager,
                                                 uint32_t wait, uint32_t *out,
                                                 vpu_error *err);
VPU_EXPORT vpu_status vpu_memory_manager_give_back(vpu_memory_manager *manager,
                                                   uint32_t set,
                                                   vpu_error *err);
/* Where a buffer is in a set that the caller has; NULL where its blob has no
 * bytes.
 *
 * VPU_ERR_INVALID  no such buffer; nobody has the set */
VPU_EXPORT vpu_status vpu_memory_group_address(vpu_memory_group *group,
                                               uint64_t key, uint32_t set,
                                               void **out, vpu_error *err);

/* What timelines hold. */
typedef enum vpu_trace_level {
    VPU_TRACE_SUMMARY = 1, /* at most 256 merged slices per track */
    VPU_TRACE_GROUPS = 2,  /* a slice per work-group phase and transfer */
    VPU_TRACE_FULL = 3     /* and in it what each cycle went to (default) */
} vpu_trace_level;

#define VPU_MAX_REPEAT 64

typedef struct vpu_run_options {
    size_t struct_size;
    const char *trace;      /* file for the timeline: Perfetto's format */
    const char *trace_json; /* the same for chrome://tracing */
    const char *vcd;        /* the same as a value change dump */
    uint32_t profile;       /* 1: cycles by source line, in vpu_result_json; on
                               the interpreter: the context needs
                               VPU_ENGINE_INTERPRETED */
    uint32_t profile_lines; /* with profile: so many of them in vpu_result_text;
                               0 = 20 */
    const char *folded;     /* file for them as folded stacks, which need what
                               profile needs */
    const char *kanata;     /* file for one work-group in the pipeline, for the
                               viewer Konata; VPU_ENGINE_INTERPRETED, too */
    uint64_t kanata_group;  /* which one, in every launch that has it */
    uint32_t kanata_bundles; /* at most so many bundles, of trace_bundles, too;
                                0 = 10000 */
    uint32_t trace_level;    /* vpu_trace_level, 0 = default */
    uint32_t trace_host;     /* 1: and a track of what the host did, in
                                wall-clock time: such a timeline is never the
                                same twice */
    const char *output;      /* folder for all outputs, NAME.npy each, and
                                report.json; made if it is not there */
    uint32_t repeat; /* runs, at most VPU_MAX_REPEAT; 0 = 1. Files and figures
                        are of the last one, but for seconds of the report,
                        which are medians */
    /* 1: a graph that is not finalized is on the way: when files are open, so
     * that a run of minutes does not end in "permission denied", and before
     * inputs are filled. Then a backend that has no timelines of single runs,
     * but of sessions (a stick), writes one: the session ends with the run, and
     * the graph is not finalized any more. */
    uint32_t finalize;
    /* When files are open and nothing is compiled yet: for what comes first, as
     * a viewer beside the run, or vpu_graph_check. Its error ends the run. NULL
     * = nothing. */
    vpu_status (*opened)(void *user, vpu_graph *graph, vpu_error *err);
    /* Writes the inputs, before each of the runs; its error ends them. NULL:
     * they are written already. */
    vpu_status (*fill)(void *user, vpu_graph *graph, vpu_error *err);
    void *user; /* for both */
    /* After the runs: the same inference in so many executors at once, whose
     * times are in the report and, as tracks of their own, in the timeline. The
     * simulator with timing alone; at most its machine's engines. 0 = not. */
    uint32_t executors;
    uint32_t advise; /* 1: the report says what would make launches faster, and
                        how much, by replays of the last repetition's steps; the
                        simulator with VPU_TIMING_FLOW alone, no error elsewhere
                      */
    const char *roofline; /* file, NAME.svg or NAME.png: launches under the roof
                             of issue and DDR's bandwidth; the simulator with
                             timing */
    uint32_t trace_bundles; /* 1: timelines have a work-group's bundles, too;
                               VPU_ENGINE_INTERPRETED and VPU_TIMING_FLOW; at
                               most kanata_bundles of them */
    uint64_t trace_bundles_group; /* which work-group's, in every launch that
                                     has it */
} vpu_run_options;
#define VPU_RUN_OPTIONS_INIT VPU_OPTIONS_INIT_(vpu_run_options)

/* Before there is anything to run: can a context of those options give what
 * these ask for? vpu_graph_run looks at the same.
 *
 * VPU_ERR_INVALID      no backend of that name; the engine or the timing is
 *                      another one than these need (message: which)
 * VPU_ERR_UNSUPPORTED  the backend does not offer it */
VPU_EXPORT vpu_status vpu_run_options_check(const vpu_run_options *options,
                                            const vpu_context_options *context,
                                            vpu_error *err);
/* Runs all operations once, or as often as the options say, in the order they
 * were added. options may be NULL, and so may `out`, for those who want no
 * figures.
 *
 * VPU_ERR_INVALID      not finalized; an input that was never written; no
 *                      launch has the work-group for Kanata or trace_bundles,
 *                      or the work-item to stop at; more runs than
 * VPU_MAX_REPEAT; executors that the machine has no engines or SHAVEs for
 * VPU_ERR_FAULT        of a kernel (names kernel, work-group, line, buffer)
 * VPU_ERR_UNDEFINED    likewise
 * VPU_ERR_LIMIT        cycles, time or local memory
 * VPU_ERR_STOPPED      vpu_graph_cancel
 * VPU_ERR_UNSUPPORTED  a timeline or a profile that the backend does not offer
 * VPU_ERR_IO           the device, or a file
 * else                 of vpu_graph_finalize and the callbacks */
VPU_EXPORT vpu_status vpu_graph_run(vpu_graph *graph,
                                    const vpu_run_options *options,
                                    vpu_result **out, vpu_error *err);
/* From any thread: a run that is under way ends soon, with VPU_ERR_STOPPED, and
 * so does checking, tuning, and comparing with the graph as the first one, on
 * the simulator. The graph can be run again. Nothing happens where none is. */
VPU_EXPORT void vpu_graph_cancel(vpu_graph *graph);

/* And what was borrowed from it. */
VPU_EXPORT void vpu_result_free(vpu_result *result);
/* Of all launches; 0: the backend counts none. */
VPU_EXPORT uint64_t vpu_result_cycles(const vpu_result *result);
/* On the device; where it has no clock, on the host's. */
VPU_EXPORT double vpu_result_seconds(const vpu_result *result);
/* Runs that the result is of, and the seconds of all launches of one of them;
 * 0: i is too large. */
VPU_EXPORT uint32_t vpu_result_repetitions(const vpu_result *result);
VPU_EXPORT double vpu_result_repetition_seconds(const vpu_result *result,
                                                uint32_t i);
/* Launches: those of the operations, with conversions between them. */
VPU_EXPORT size_t vpu_result_launch_count(const vpu_result *result);
VPU_EXPORT const char *vpu_result_launch_name(const vpu_result *result,
                                              size_t i);
VPU_EXPORT uint64_t vpu_result_launch_cycles(const vpu_result *result,
                                             size_t i);
VPU_EXPORT double vpu_result_launch_seconds(const vpu_result *result, size_t i);
/* Of an operation's launches, and of conversions made for it; of a composed
 * one, of all its parts. 0: it is of another graph. */
VPU_EXPORT uint64_t vpu_result_operation_cycles(const vpu_result *result,
                                                const vpu_operation *operation);
VPU_EXPORT double vpu_result_operation_seconds(const vpu_result *result,
                                               const vpu_operation *operation);
/* From and to memory that was imported. */
VPU_EXPORT uint64_t vpu_result_copied_bytes(const vpu_result *result);
/* The report of `vpu run`, as text and as JSON (docs/formats.md). Borrowed;
 * NULL: no memory. */
VPU_EXPORT const char *vpu_result_text(vpu_result *result);
VPU_EXPORT const char *vpu_result_json(vpu_result *result);
/* A number of the JSON report by its path: "cycles",
 * "stages.0.shave_cycles_by_cause.L2 stall". Booleans are 0 and 1.
 *
 * VPU_ERR_INVALID  there is no number (message: what there is instead) */
VPU_EXPORT vpu_status vpu_result_counter(vpu_result *result, const char *path,
                                         double *out, vpu_error *err);
/* All such paths, in the order of the report; NULL: i is too large. */
VPU_EXPORT const char *vpu_result_counter_name(vpu_result *result, size_t i);

/* Other dims for inputs of a finalized graph, in the memory that it has: dims
 * of other tensors, sizes of launches and numbers follow by the expressions and
 * callbacks of the operations' kinds, and by the bindings of layers whose
 * output has the shape of input 0, as if the graph had been made so. Runs that
 * follow are at these shapes; the inputs that have changed are to be written
 * again. A graph is finalized at its largest shapes, since no tensor can
 * outgrow the memory that it had then. Local sizes are those that a new graph
 * would have. shapes: n of them, with the rank of their input; type 0 = its.
 *
 * On an error the graph is as it was; where a device without VPU_CAN_SHARE
 * could not be opened again it is to be finalized again.
 *
 * VPU_ERR_INVALID      not finalized; no input
 * VPU_ERR_MISMATCH     another type or rank; dims that do not fit together
 * VPU_ERR_LIMIT        a tensor is too large (message: which)
 * VPU_ERR_UNSUPPORTED  a view, a constant, a tensor with views, padding or
 *                      strides would change; an operation has a tensor that
 *                      would, and its sizes are numbers, or it is a function
 *                      of the host; other kernels or launches would be needed
 * else                 of the kinds' expressions and callbacks */
VPU_EXPORT vpu_status vpu_graph_resize(vpu_graph *graph,
                                       vpu_tensor *const *inputs,
                                       const vpu_shape *shapes, size_t n,
                                       vpu_error *err);

/* --- several runs at once ------------------------------------------------- */

/* A graph like another one, with memory of its own, so that both can run at the
 * same time: same tensors, by the same names, same operations, which are sealed
 * as by vpu_graph_finalize. It is to be finalized itself, and its inputs are to
 * be written. The context, NULL for the other graph's own, may be on another
 * backend. The clone keeps the other graph alive. Functions of the host are
 * those of the other graph, and may be called by several threads then.
 *
 * else  as vpu_graph_finalize verifies the graph */
VPU_EXPORT vpu_status vpu_graph_clone(vpu_graph **out, vpu_graph *graph,
                                      vpu_context *context, vpu_error *err);

/* Clones of a graph, finalized, for threads that each take one, run it, and
 * give it back. */
typedef struct vpu_instances vpu_instances;

/* VPU_ERR_INVALID  n is 0
 * else             of vpu_graph_clone, vpu_graph_finalize */
VPU_EXPORT vpu_status vpu_instances_create(vpu_instances **out,
                                           vpu_graph *graph, uint32_t n,
                                           vpu_error *err);
/* Nobody may have one any more. */
VPU_EXPORT void vpu_instances_free(vpu_instances *instances);
/* One that nobody has; borrowed, and the caller's until it is released. From
 * any thread. wait 1: until there is one.
 *
 * VPU_ERR_LIMIT  others have all of them, and wait is 0 */
VPU_EXPORT vpu_status vpu_instances_acquire(vpu_instances *instances,
                                            uint32_t wait, vpu_graph **out,
                                            vpu_error *err);
/* From any thread.
 *
 * VPU_ERR_INVALID  it is none of them, or not taken */
VPU_EXPORT vpu_status vpu_instances_release(vpu_instances *instances,
                                            vpu_graph *graph, vpu_error *err);

/* --- running in parts on several devices ---------------------------------- */

typedef struct vpu_split_options {
    size_t struct_size;
    uint32_t dimension; /* along which launches are split: 1 = dimension 0, 2,
                           3; 0 = the one with most work-groups */
} vpu_split_options;
#define VPU_SPLIT_OPTIONS_INIT VPU_OPTIONS_INIT_(vpu_split_options)

/* Runs n equal graphs, mostly of n contexts, as one on n devices: of each
 * launch each runs a part, and what the parts have written is in all of them
 * before the next launch. Inputs are those of graphs[0]; all have the outputs
 * then, which are those of a graph that runs alone. results: NULL, or n of
 * them, each of one device's parts: a launch takes as long as its slowest part.
 * Moving bytes between devices takes no time in them.
 *
 * VPU_ERR_MISMATCH     the graphs differ (message: in what)
 * VPU_ERR_INVALID      no graph, one of them twice, or not finalized; an input
 *                      that was never written; an operation with a window
 * VPU_ERR_UNSUPPORTED  without VPU_CAN_RUN_PARTS; a launch whose parts write
 *                      the same element
 * else                 as vpu_graph_run */
VPU_EXPORT vpu_status vpu_graph_run_split(vpu_graph *const *graphs, size_t n,
                                          const vpu_split_options *options,
                                          vpu_result **results, vpu_error *err);

/* --- pictures ------------------------------------------------------------- */

typedef struct vpu_picture_options {
    size_t struct_size;
    const char *png, *svg;  /* files to write, one or both */
    uint32_t width, height; /* 0 = 1600, and as high as the rows */
    uint32_t dark;          /* 1: light on dark */
} vpu_picture_options;
#define VPU_PICTURE_OPTIONS_INIT VPU_OPTIONS_INIT_(vpu_picture_options)

/* The timeline in a trace file as a picture.
 *
 * VPU_ERR_INVALID  no file to write; larger than 16384 pixels
 * VPU_ERR_PARSE    not a trace
 * VPU_ERR_LIMIT    more in it than is read: packets of 256 KiB
 * VPU_ERR_IO       the trace, a file, no font */
VPU_EXPORT vpu_status vpu_picture_write(const char *trace,
                                        const vpu_picture_options *options,
                                        vpu_error *err);

/* --- checking ------------------------------------------------------------- */

typedef struct vpu_findings vpu_findings;

typedef struct vpu_check_options {
    size_t struct_size;
    const char *checks;     /* as of `vpu check --checks`; NULL = "default" */
    uint32_t max_findings;  /* errors, and notes; 0 = 100, UINT32_MAX = all */
    uint32_t orders;        /* 1: tries other orders of work-groups, too */
    uint32_t random_orders; /* so many random ones among them; 0 = 4 */
    uint64_t seed;          /* of the first of those; 0 = 1 */
    uint32_t strict_align;  /* 1: vectors at addresses that are no multiple of
                               their size are errors, not notes */
    const char *suppress;   /* file of findings that are known and do not count,
                               lines CHECKER KERNEL FILE[:LINE]; NULL = none */
    /* Writes the inputs, when kernels are compiled and before each time that
     * they run; its error is the call's. NULL: they are written already. */
    vpu_status (*fill)(void *user, vpu_graph *graph, vpu_error *err);
    void *user;
} vpu_check_options;
#define VPU_CHECK_OPTIONS_INIT VPU_OPTIONS_INIT_(vpu_check_options)

/* Is the text a list of checkers, as vpu_check_options.checks has it?
 *
 * VPU_ERR_INVALID  it is none (message: which checkers there are) */
VPU_EXPORT vpu_status vpu_checkers_check(const char *text, vpu_error *err);
/* Looks at everything the kernels do with the inputs that are there. The
 * graph's outputs do not change. Findings are no error.
 *
 * VPU_ERR_INVALID      as vpu_graph_finalize; an input never written; no such
 *                      checker
 * VPU_ERR_STOPPED      vpu_graph_cancel
 * VPU_ERR_UNSUPPORTED  without VPU_CAN_CHECK
 * VPU_ERR_LIMIT        cycles or time of a launch; the file `suppress`
 * VPU_ERR_IO, VPU_ERR_PARSE  of that file (message: which line) */
VPU_EXPORT vpu_status vpu_graph_check(vpu_findings **out, vpu_graph *graph,
                                      const vpu_check_options *options,
                                      vpu_error *err);
VPU_EXPORT void vpu_findings_free(vpu_findings *findings);
VPU_EXPORT size_t vpu_findings_count(const vpu_findings *findings);
/* Those that are no notes. */
VPU_EXPORT size_t vpu_findings_error_count(const vpu_findings *findings);
/* Of finding i; NULL, or 0: i is too large, or there is none. */
VPU_EXPORT const char *vpu_findings_checker(const vpu_findings *findings,
                                            size_t i);
VPU_EXPORT const char *vpu_findings_text(const vpu_findings *findings,
                                         size_t i);
VPU_EXPORT const char *vpu_findings_kernel(const vpu_findings *findings,
                                           size_t i);
VPU_EXPORT const char *vpu_findings_file(const vpu_findings *findings,
                                         size_t i);
VPU_EXPORT uint32_t vpu_findings_line(const vpu_findings *findings, size_t i);
/* How often it happened. */
VPU_EXPORT uint64_t vpu_findings_times(const vpu_findings *findings, size_t i);
/* 1: a note, no error. */
VPU_EXPORT uint32_t vpu_findings_is_note(const vpu_findings *findings,
                                         size_t i);
/* Seconds of the host: of all, compiling included, and of the launches alone.
 */
VPU_EXPORT double vpu_findings_seconds(const vpu_findings *findings);
VPU_EXPORT double vpu_findings_launch_seconds(const vpu_findings *findings);
/* All of them, as `vpu check` prints them: text, JSON, SARIF. */
VPU_EXPORT const char *vpu_findings_report(vpu_findings *findings);
VPU_EXPORT const char *vpu_findings_json(vpu_findings *findings);
VPU_EXPORT const char *vpu_findings_sarif(vpu_findings *findings);

/* --- comparing ------------------------------------------------------------ */

typedef struct vpu_diff vpu_diff;

typedef struct vpu_diff_options {
    size_t struct_size;
    /* "ulp=2,abs=1e-3,rel=0.01", "out0=ulp=4", as of `vpu diff --tolerance`;
     * none = exact. The last one for an output counts. */
    const char *const *tolerances;
    size_t n_tolerances;
    uint32_t outputs_only; /* 1: nothing between launches is compared */
    const char *heat_map;  /* file for a picture (PNG) of the first tensor that
                              differs */
    double max_slowdown;   /* `graph` may take so many times the cycles of
                              `reference`, in all and launch by launch; 0 = what
                              a recording demands, else any number */
    uint32_t slowdown_if_known; /* 1: that is looked at only where both sides
                                   count cycles */
    uint32_t no_groups; /* 1: elements that differ are not traced back to
                           work-groups, which takes a run more */
    uint32_t verbose;   /* 1: vpu_diff_text has figures of tensors that agree */
    uint64_t cycle_budget; /* `graph` may take so many cycles, in all; 0 = any
                              number */
} vpu_diff_options;
#define VPU_DIFF_OPTIONS_INIT VPU_OPTIONS_INIT_(vpu_diff_options)

/* Is the text a tolerance, as vpu_diff_options.tolerances has them?
 *
 * VPU_ERR_INVALID  it is none (message: what is wrong with it) */
VPU_EXPORT vpu_status vpu_diff_check_tolerance(const char *text,
                                               vpu_error *err);
/* Runs both graphs, which have inputs and outputs of the same names and shapes,
 * with the inputs of `graph`, and compares: `reference` is what should be. An
 * input that `graph` does not have gets what was written to the reference's.
 * Each runs in its context; elements that differ are traced back to their
 * work-group. That they differ is no error.
 *
 * VPU_ERR_MISMATCH     inputs or outputs are others
 * VPU_ERR_INVALID      a tolerance; an input never written; no operations
 * VPU_ERR_STOPPED      vpu_graph_cancel of the first graph
 * VPU_ERR_UNSUPPORTED  max_slowdown, and a side counts no cycles; cycle_budget,
 *                      and `graph` counts none; a function of the host; a graph
 *                      at other shapes than it was made for
 * else                 of the two backends, "a: " or "b: " in front */
VPU_EXPORT vpu_status vpu_diff_create(vpu_diff **out, vpu_graph *graph,
                                      vpu_graph *reference,
                                      const vpu_diff_options *options,
                                      vpu_error *err);
VPU_EXPORT void vpu_diff_free(vpu_diff *diff);
/* 1: all is equal within the tolerances. */
VPU_EXPORT uint32_t vpu_diff_equal(const vpu_diff *diff);
/* Elements beyond the tolerance, of all tensors compared. */
VPU_EXPORT uint64_t vpu_diff_count(const vpu_diff *diff);
/* 1: `graph` takes more cycles than cycle_budget lets it, or max_slowdown, in
 * all or in one of its launches. */
VPU_EXPORT uint32_t vpu_diff_too_slow(const vpu_diff *diff);
/* One line; the whole report as `vpu diff` prints it; as JSON; as a test suite
 * of JUnit's. */
VPU_EXPORT const char *vpu_diff_summary(const vpu_diff *diff);
VPU_EXPORT const char *vpu_diff_text(vpu_diff *diff);
VPU_EXPORT const char *vpu_diff_json(vpu_diff *diff);
VPU_EXPORT const char *vpu_diff_junit(vpu_diff *diff);

/* --- tuning --------------------------------------------------------------- */

/* Which local sizes are tried for each launch, of those that divide its global
 * size and that its kernel and local memory allow. */
typedef enum vpu_tune_mode {
    VPU_TUNE_RAPID = 1,     /* a few */
    VPU_TUNE_NORMAL = 2,    /* a tenth of them (default) */
    VPU_TUNE_EXHAUSTIVE = 3 /* all */
} vpu_tune_mode;

typedef struct vpu_tune_options {
    size_t struct_size;
    uint32_t mode;       /* vpu_tune_mode, 0 = default */
    uint32_t shaves_too; /* 1, with VPU_TUNE_EXHAUSTIVE: each size with each
                            number of SHAVEs */
    const char *file;    /* what is in it is not tuned again, what is found is
                            added at the end; made if there is none. NULL = none
                          */
} vpu_tune_options;
#define VPU_TUNE_OPTIONS_INIT VPU_OPTIONS_INIT_(vpu_tune_options)

/* Finds the local size with which each launch is fastest, with the inputs that
 * are there: cycles decide, which are the same every time, or, on a device that
 * counts none, the median of five runs' seconds. A size with which a kernel
 * gives other values than with its own one does not count. The graph's launches
 * have the sizes then; its outputs do not change. options may be NULL.
 *
 * VPU_ERR_INVALID      not finalized, an input never written; shaves_too
 *                      without VPU_TUNE_EXHAUSTIVE
 * VPU_ERR_PARSE        the file has a row that is none (message: which)
 * VPU_ERR_UNSUPPORTED  the backend runs a graph only as a whole, or has no
 *                      clock
 * VPU_ERR_STOPPED      vpu_graph_cancel
 * VPU_ERR_FAULT, VPU_ERR_UNDEFINED, VPU_ERR_LIMIT  of a kernel with its own
 *                      size
 * VPU_ERR_IO           the file, or the device */
VPU_EXPORT vpu_status vpu_graph_tune(vpu_graph *graph,
                                     const vpu_tune_options *options,
                                     vpu_error *err);
/* Work-items of dimension 0, 1 or 2, of a work-group and of all; of an
 * operation with several launches those of the first that is no conversion. 0:
 * there is no such dimension, or no launch. */
VPU_EXPORT uint32_t vpu_operation_local(const vpu_operation *operation,
                                        uint32_t dimension);
VPU_EXPORT uint32_t vpu_operation_global(const vpu_operation *operation,
                                         uint32_t dimension);

#ifdef __cplusplus
}
#endif

#endif
