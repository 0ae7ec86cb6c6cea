/* Bound layers: buffers and launches, ready for a backend.
 *
 * runtime/config says what the files contain; graph_bind resolves it against
 * layers of a model, or against shapes and parameters given by hand, into
 * the list of kernel launches a backend executes. Nothing here knows which
 * backend that is. Everything lives in the arena passed in. */
#ifndef VPU_RUNTIME_GRAPH_GRAPH_H
#define VPU_RUNTIME_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/log.h"
#include "runtime/graph/tensor.h"

typedef enum {
    GRAPH_INPUT,   /* given by the user, in plain order */
    GRAPH_OUTPUT,  /* wanted by the user, in plain order */
    GRAPH_SCRATCH, /* between stages: converted tensors, tensors from layer to
                      layer, input_buffer / output_buffer */
    GRAPH_CONST    /* weights and data blobs */
} graph_role;

typedef struct {
    const char *name;  /* "in0", "out0", "buffer0", or the blob's name; what is
                          converted has the new order or type behind it, as in
                          "in0@NHWC" */
    const char *label; /* inputs and outputs of a model: its name for it, that
                          of the layer it comes from; else NULL */
    graph_role role;
    uint32_t port;    /* number of the input or output, port index, blob number;
                         seeds random inputs */
    tensor_desc desc; /* dtype, dims, layout */
    bool untyped;     /* input_buffer / output_buffer: kernels see any type */
    uint64_t bytes;   /* > 0 */
    const void *init; /* GRAPH_CONST: the bytes; GRAPH_OUTPUT of a program's
                         launch: what stands there before it; else NULL */
    /* With init: a bit for each byte that somebody has written, the lowest of a
     * byte first; NULL = all are. Checkers look at it. */
    const uint8_t *init_written;
    const uint64_t *place; /* where it begins on the device; NULL = where there
                              is room */
    bool shares; /* it stands in the graph's shared memory, at this byte;
                    others stand there before and after it is needed */
    uint64_t offset;
} graph_buffer;

typedef enum {
    GRAPH_ARG_BUFFER, /* global pointer */
    GRAPH_ARG_LOCAL,  /* local pointer with a size */
    GRAPH_ARG_INT,    /* integer scalar; of a binding file int32 */
    GRAPH_ARG_FLOAT,  /* float32 scalar */
    GRAPH_ARG_BYTES,  /* any scalar or vector as the kernel has it; of a
                         program's launch */
    /* A binding without a value. That is an error only if the kernel has such
     * an argument: the vendor's compiler never looks at the others. */
    GRAPH_ARG_BROKEN
} graph_arg_kind;

/* Elements of a buffer's tensor: dims from start on. */
typedef struct {
    uint32_t rank;
    uint32_t start[6], dims[6];
} graph_part;

/* Arguments go by name; the kernel's signature gives the order. */
typedef struct {
    const char *name;
    graph_arg_kind kind;
    uint32_t buffer; /* BUFFER: index into graph.buffers */
    uint32_t offset; /* BUFFER: byte in it: an item of a batch */
    uint32_t items;  /* BUFFER: of the batch of whose items this is one; 0: all
                        of the tensor */
    uint32_t bytes;  /* LOCAL; BYTES; BUFFER: of the part of it from offset on
                        that is meant, 0 = all that follows */
    const void *value;      /* BYTES */
    const graph_part *part; /* BUFFER: the elements that are meant, of a tensor
                               that is a view or has gaps; else NULL */
    int64_t integer;        /* INT */
    bool converts;          /* INT: a float argument takes it as a float */
    float real;             /* FLOAT */
    bool written;           /* output or output_buffer binding */
    bool split; /* the vendor's compiler takes dim 0 of its tensor for a batch:
                   outputs, buffers that the stage writes, and inputs
                   before the first of format ANY */
    uint32_t line;   /* of the binding element in the XML */
    const char *why; /* BROKEN: the error, "file:line:col: error: ..." */
} graph_arg;

/* OpenCL C that a launch's own is linked with. */
typedef struct {
    const char *name, *text;
    const char *const *options; /* words for the compiler, its own */
    uint32_t n_options;
} graph_text;

/* Which work-groups of a launch run: n[d] from first[d] on; n 0: all of them.
 * The kernel's arguments of these names, if any, get the part's number and how
 * many parts there are, for which 0 counts as 1. */
typedef struct {
    uint32_t first[3], n[3];
    const char *part_argument, *parts_argument;
    uint32_t part, parts;
} graph_window;

typedef struct {
    const char *name; /* layer, plus "@stage_<k>" if it has several; conversions
                         "<stage>@reorder-input-data=<edge>",
                         "<stage>@reorder-output-data=<edge>", "<in>@FP16",
                         "<layer>@FP32" */
    const char *layer, *type; /* it belongs to */
    const char *entry;        /* kernel function */
    /* A stage of a blob that has no kernel (runtime/native/native.h): entry and
     * sources are NULL, args its operands in their order. */
    const struct native_op *native;
    const char *text;  /* built-in source, sources[0] is its name; or
                          NULL */
    const char *given; /* OpenCL C of the user's that is in no file, sources[0]
                          is its name; or NULL */
    const graph_text *linked; /* with `given`: further texts */
    uint32_t n_linked;
    const void *bin; /* compiled kernel of ours in memory, or NULL;
                        sources[0] is its name; sim alone */
    size_t n_bin;
    const char *const *sources; /* paths, as written but joined to base dir */
    uint32_t n_sources;
    /* SimpleGPU: in front of the sources, which are one text with it: as the
     * plug-in has them, and with arrays in the private address space; else NULL
     */
    const char *macros, *private_macros;
    const char *const *options; /* words for the compiler */
    uint32_t n_options;
    const graph_arg *args; /* binding order; the last of equal names counts */
    uint32_t n_args;
    bool of_blob;  /* its compiler decided where everything lies: stages
                      overwrite what others no longer need */
    bool by_index; /* args[i] is the kernel's argument i, whatever its name */
    uint32_t global[3], local[3]; /* groups = global / local, whole */
    graph_window window;          /* BACKEND_WINDOW alone */
    uint32_t max_shaves;          /* 0 = no limit */
    bool tuned;            /* local and max_shaves are a tuner's choice */
    uint32_t bound_shaves; /* tuned: the limit that max_shaves was before */
    /* A launch of an OpenCL program: arguments by index of any type, among
     * them structures by value (BUFFER), an offset of global ids, and what
     * get_work_dim says. BACKEND_PROGRAM alone. */
    bool program;
    uint32_t offset[3], work_dim;
    const char *file; /* binding XML and line of the Kernel element */
    uint32_t line;
} graph_launch;

/* Is it none of the user's kernels: a conversion of our own, a stage that has
 * no kernel? There is nothing in it to look at, check or tune. */
static inline bool graph_is_internal(const graph_launch *l)
{
    return l->text || l->native;
}

/* What the host does between launches: here only what it reads and writes. */
typedef struct {
    const char *name;
    uint32_t before;       /* the launch that it runs in front of; n_launches:
                              behind all */
    const graph_arg *args; /* GRAPH_ARG_BUFFER, what is read first */
    uint32_t n_args;
} graph_host;

/* What a stage of a network writes, as the network has it: a part of a buffer
 * that readers may ask for like one. */
typedef struct {
    graph_buffer as; /* named after the layer; GRAPH_SCRATCH, its dims in the
                        IR's order */
    uint32_t launch, buffer, offset;   /* written by, lies in, from byte on */
    uint32_t strides[TENSOR_MAX_RANK]; /* bytes, the outermost dim's first */
} graph_layer_output;

typedef struct {
    const char *layer; /* names of the layers bound, ", " between several */
    const char *type;  /* likewise their types */
    graph_buffer *buffers;
    uint32_t n_buffers;
    graph_launch *launches; /* in the order they run */
    uint32_t n_launches;
    uint64_t shared_bytes; /* of the memory that buffers share; 0 = none do */
    uint32_t batch;        /* items in the largest batch of a stage; 1 = none */
    bool by_item;          /* an item of it is a launch of its own */
    const char *form;      /* of the first binding: config_form_name */
    const void *blob;      /* all of it is this blob, whose stage launches[i]
                              is of is its `line`; NULL: it is of no blob */
    size_t n_blob;
    const char *network;  /* the IR that the blob was compiled from; NULL: it is
                             not known */
    const char *openvino; /* and where the package is that did it, as the user
                             says; or NULL */
    graph_layer_output *layers; /* in the order they are written */
    uint32_t n_layers;
    graph_host *hosts; /* by `before`, in the order they run */
    uint32_t n_hosts;
} graph;

/* The launch's text of that name that no file has; NULL: it has none. */
const char *graph_launch_text(const graph_launch *l, const char *name);

/* Buffer i, or, behind the buffers, what layer i - n_buffers has written. */
static inline const graph_buffer *graph_buffer_at(const graph *g, uint32_t i)
{
    return i < g->n_buffers ? &g->buffers[i] : &g->layers[i - g->n_buffers].as;
}

/* The binding of a kernel's argument: the last of that name.
 *
 * VPU_ERR_INVALID  there is none, or it is GRAPH_ARG_BROKEN; the message names
 *                  the binding file and line */
vpu_status graph_launch_arg(const graph_launch *l, const char *name,
                            const graph_arg **out, vpu_error *err);

#endif
