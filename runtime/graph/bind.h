/* From a binding file and a layer to a graph: expressions evaluated, scalars
 * resolved, formats decided, buffers and launches laid out.
 *
 * The layer comes from a model, or is described by hand with shapes and
 * parameters. Which of the file's CustomLayers implements it is decided as the
 * vendor's compiler does: type (any case), Where, expressions that parse, then
 * the first whose input formats match the shapes, else the first of all. */
#ifndef VPU_RUNTIME_GRAPH_BIND_H
#define VPU_RUNTIME_GRAPH_BIND_H

#include "runtime/config/layer.h"
#include "runtime/config/model.h"
#include "runtime/config/where.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/log.h"

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
/* "name=value"; the value may be empty and may contain '='.
 *
 * VPU_ERR_INVALID  no '=' or no name */
vpu_status graph_param_parse(const char *text, arena *a, config_param *out,
                             vpu_error *err);

/* What to bind. All-zero but for binding is valid: a layer without inputs is
 * then refused. */
typedef struct {
    const config_file *binding;
    /* (a) A layer of a model. */
    const config_model *model; /* NULL = by hand */
    const char *at; /* name of the layer; NULL = the only one of a bound type */
    /* (b) By hand. */
    const char *type; /* NULL = the only type the binding file has */
    const graph_shape *shapes;
    size_t n_shapes;          /* no out0: as in0 */
    const config_blob *blobs; /* for Data bindings, by name */
    size_t n_blobs;
    /* Either: parameters. With a model they come before the model's own. */
    const config_param *params;
    size_t n_params;
} graph_request;

/* Bind. Everything in *out lives in a or in the request's binding and model.
 *
 * Element types: by hand as given; from a model, float tensors are f16 and u8
 * tensors that come straight from a network input too, others as in the model.
 * Constant inputs (f32 and f16 become f16, i32 stays) and data blobs (one f16
 * per element) are GRAPH_CONST buffers.
 * Formats: BYXF and YXF give TENSOR_CHANNEL_MINOR, the rest TENSOR_PLAIN. An
 * input that kernels want in two layouts is two GRAPH_INPUT buffers of one
 * port. Scratch buffers are f16 [1,1,1,size], that is 2 * size bytes, as the
 * vendor's compiler allocates them.
 *
 * VPU_ERR_INVALID      the request does not fit the file or the model: no such
 *                      layer, missing shapes, no suitable CustomLayer, ports
 *                      out of range, work sizes of zero, a rank that does not
 *                      fit the format, scratch read before it is written...
 * VPU_ERR_PARSE        an expression or a Where that cannot be read
 * VPU_ERR_UNSUPPORTED  ranks other than 2 to 4, several outputs, element types
 *                      the device does not have
 * VPU_ERR_LIMIT        a tensor above TENSOR_MAX_BYTES
 * Scalars, local_data and data that cannot be resolved are not errors yet: see
 * GRAPH_ARG_BROKEN. *out is NULL on failure. */
vpu_status graph_bind(const graph_request *q, arena *a, const log_sink *log,
                      graph **out, vpu_error *err);

#endif
