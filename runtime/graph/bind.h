/* From a binding file and a layer to a graph: expressions evaluated, scalars
 * resolved, formats decided, buffers and launches laid out.
 *
 * The layer comes from a model, or is described by hand with shapes and
 * parameters. Which of the file's CustomLayers implements it is decided as the
 * vendor's compiler does: type (any case), Where, expressions that parse, then
 * the first whose input formats match the shapes, else the first of all. */
#ifndef VPU_RUNTIME_GRAPH_BIND_H
#define VPU_RUNTIME_GRAPH_BIND_H

#include "base/arena.h"
#include "base/err.h"
#include "base/log.h"
#include "runtime/config/layer.h"
#include "runtime/config/model.h"
#include "runtime/config/where.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

typedef struct {
    bool output; /* else an input */
    uint32_t port;
    tensor_desc desc; /* layout is not used */
} graph_shape;

/* "in0=1x24x128x512", "out0=1x24x128x512:f32". Without ":dtype" it is f16.
 *
 * VPU_ERR_INVALID, VPU_ERR_LIMIT  the message quotes the text */
vpu_status graph_shape_parse(const char *text, graph_shape *out,
                             vpu_error *err);
/* Elements around a tensor in memory that are none of it, as a neighbour in a
 * GPU's network may want them. */
typedef struct {
    bool output; /* else an input */
    uint32_t port;
    uint32_t left, right, top, bottom; /* along X, X, Y, Y */
} graph_padding;

/* "in0=1,2,0,0": left, right, top, bottom.
 *
 * VPU_ERR_INVALID  the message quotes the text */
vpu_status graph_padding_parse(const char *text, graph_padding *out,
                               vpu_error *err);
/* "name=value"; the value may be empty and may contain '='.
 *
 * VPU_ERR_INVALID  no '=' or no name */
vpu_status graph_param_parse(const char *text, arena *a, config_param *out,
                             vpu_error *err);

/* "NAME=FILE.npy": a blob for Data bindings, the file's elements in order;
 * bytes stay bytes, two to an element of f16.
 *
 * VPU_ERR_INVALID      not of that form
 * VPU_ERR_UNSUPPORTED  elements other than f16, f32, u8 and i8
 * and the errors of npy_read */
vpu_status graph_blob_read(const char *text, arena *a, config_blob *out,
                           vpu_error *err);

/* What becomes of a batch that the vendor's compiler leaves in a custom stage.
 */
typedef enum {
    GRAPH_BATCH_WHOLE, /* a stage runs once and sees the whole tensor */
    GRAPH_BATCH_DEVICE /* once per item, with the work sizes of all items, as
                          the vendor's compiler has it run on the device */
} graph_batch;

/* What to bind. All-zero but for binding is valid: a layer without inputs is
 * then refused. */
typedef struct {
    const config_file *binding;
    /* (a) A layer of a model. */
    const config_model *model; /* NULL = by hand */
    const char
        *at; /* name of the layer; NULL = all of a bound type, in a row */
    /* (b) By hand. */
    const char *type; /* NULL = the only type the binding file has; not used
                         with a model */
    uint32_t number;  /* which CustomLayer of the type, counted from 1; 0 = the
                         one that the vendor's compiler takes */
    const graph_shape *shapes;
    size_t n_shapes;          /* no out0: as in0 */
    const config_blob *blobs; /* for Data bindings, by name */
    size_t n_blobs;
    /* Either: parameters. With a model they come before the model's own. */
    const config_param *params;
    size_t n_params;
    graph_batch batch;
    const graph_padding *paddings; /* SimpleGPU alone */
    size_t n_paddings;
} graph_request;

/* Bind. Everything in *out lives in a or in the request's binding and model.
 *
 * Several layers: each input of each comes from a network input, a constant or
 * another of the layers, and nothing else takes their outputs. They run
 * producers first. The network's inputs that are used are in0, in1... in the
 * order of the document, out0... the outputs that feed a Result or nothing. A
 * layer alone: its input p is in<p>, its output out0, whatever is around it.
 *
 * Element types: by hand as given. From a model, floats are f16 to the kernels;
 * so are network inputs of u8. The host's side of network inputs and outputs
 * has the model's type, and where that differs a launch converts. Constant
 * inputs (f32 and f16 become f16, i32 stays) and data blobs (one f16 per
 * element) are GRAPH_CONST buffers.
 *
 * Orders: BYXF and YXF want channels innermost, BFYX and FYX the order of the
 * model, BF and ANY take what there is (and write the order of the model). The
 * host's side is in the order of the model; where that differs from what a
 * kernel wants a launch converts, once per tensor and order. A tensor between
 * layers stands as its producer writes it. Constants are converted here. Ranks
 * 4 and 5 go by BFYX and BYXF, 3 by FYX and YXF, lower ones by BF and ANY.
 *
 * SimpleGPU: dims beyond the shape's are 1, the kernel sees the element types
 * that the shapes give (from a model: as above), and tensors in the memory
 * order of their format, with the paddings of the request around them. Where
 * that is not the host's order a launch reorders, in front or behind. ANY is
 * the host's order. The macros of the layer are made here (gpu_defines.h).
 * Without a local size it is the largest divisor of the first global size up
 * to 512 that is a multiple of 8, or else the largest; a note says which.
 *
 * Scratch buffers are f16 [1,1,1,size], that is 2 * size bytes, as the vendor's
 * compiler allocates them.
 *
 * A batch, as graph_request.batch says: the first dimension of outputs, and of
 * inputs before the first of format ANY, of rank 4 and more; 1 of a scratch
 * buffer that a stage writes, so that a layer which hands data on in one has no
 * batch but 1. GRAPH_BATCH_WHOLE
 * warns; kernels whose sizes count B expect it. With GRAPH_BATCH_DEVICE an item
 * of a stage is a launch of its own, "<stage>@batch=<item>"; all those tensors
 * must have the same number of items.
 *
 * VPU_ERR_INVALID      the request does not fit the file or the model: no such
 *                      layer, missing shapes, no suitable CustomLayer, ports
 *                      out of range, work sizes of zero, a rank that does not
 *                      fit the format, scratch read before it is written, a
 *                      layer between or behind that is not bound...
 * VPU_ERR_PARSE        an expression or a Where that cannot be read, or what
 *                      the release that binding was read for refuses
 * VPU_ERR_UNSUPPORTED  tensors without dims, several outputs, element types
 *                      the device does not have
 * VPU_ERR_LIMIT        a tensor above TENSOR_MAX_BYTES, more than 1024 layers
 * Scalars, local_data and data that cannot be resolved are not errors yet: see
 * GRAPH_ARG_BROKEN. *out is NULL on failure. */
vpu_status graph_bind(const graph_request *q, arena *a, const log_sink *log,
                      graph **out, vpu_error *err);

/* Whether each parameter of the request is one that a binding of the layer
 * looks at, or that the model has: a misspelt one would change nothing, without
 * a word. What the message needs lives in a.
 *
 * VPU_ERR_INVALID  one is not; the message names one like it, or all there are
 */
vpu_status graph_check_params(const graph_request *q, arena *a, vpu_error *err);

#endif
