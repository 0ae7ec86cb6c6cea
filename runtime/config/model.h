/* OpenVINO IR: layers, ports, shapes, parameters, edges and blobs.
 *
 * Versions 2 to 7 (the old form) and 10 and 11 (the new form) are read. Any
 * layer type is accepted; parameters are the attributes of <data>, verbatim. */
#ifndef VPU_RUNTIME_CONFIG_MODEL_H
#define VPU_RUNTIME_CONFIG_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "runtime/config/where.h"

#define CONFIG_MODEL_MAX_XML ((size_t)256 << 20)
#define CONFIG_MODEL_MAX_BIN ((size_t)4 << 30)
enum {
    CONFIG_MODEL_MAX_ELEMENTS = 1 << 22,
    CONFIG_MODEL_MAX_PORTS = 4096, /* inputs, or outputs, of one layer */
    CONFIG_MODEL_MAX_RANK = 16     /* of a tensor in the file */
};

/* Where a blob's bytes are: borrowed from the .bin in the arena. */
typedef struct {
    const char *name;      /* "weights", "biases", "custom" for Const */
    const char *precision; /* as written: "FP16", "f32", "I32"...; never NULL */
    const void *data;
    uint64_t bytes;
    uint32_t line;
} config_blob;

enum { CONFIG_DIM_DYNAMIC = 0 }; /* a dim of -1 (version 11) */

typedef struct {
    uint32_t id;           /* label in the file; the index is the position */
    const char *precision; /* as written, or the layer's; NULL = unknown */
    const uint32_t *dims;  /* outermost first; CONFIG_DIM_DYNAMIC if unknown */
    uint32_t rank;         /* 0 = scalar */
    uint32_t line;
    /* Inputs: what the edge comes from. -1 = not connected. */
    int64_t from_layer; /* index into config_model.layers */
    uint32_t from_port; /* index into its outputs */
} config_port;

typedef struct {
    uint32_t id;
    const char *name, *type;
    const char *opset; /* new form: version attribute; else NULL */
    const config_param *params;
    size_t n_params;
    config_port *inputs, *outputs;
    size_t n_inputs, n_outputs;
    const config_blob *blobs;
    size_t n_blobs;
    uint32_t line;
} config_model_layer;

typedef struct {
    const char *path;
    const char *name;
    uint32_t version;
    config_model_layer *layers; /* document order */
    size_t n_layers;
} config_model;

/* Read model.xml, and the weights beside it when there are any.
 *
 * bin_path  NULL = path with its extension replaced by ".bin"; that file may
 *           be missing as long as no layer has a blob
 *
 * VPU_ERR_IO           a file cannot be read
 * VPU_ERR_LIMIT        too long, too deep, too many elements or dims
 * VPU_ERR_UNSUPPORTED  an IR version other than 2 to 7, 10, 11; text not UTF-8
 *                      or with a document type declaration
 * VPU_ERR_PARSE        anything else wrong in it: blobs outside the .bin, edges
 *                      from or to nothing, dims that differ along an edge... */
vpu_status config_model_read(const char *path, const char *bin_path, arena *a,
                             config_model *out, vpu_error *err);
/* The same from memory. bin: the weights, NULL = none; its bytes must outlive
 * the model. */
vpu_status config_model_parse(const file_bytes *xml, const file_bytes *bin,
                              arena *a, config_model *out, vpu_error *err);

/* The layer of that name, NULL when there is none. */
const config_model_layer *config_model_find(const config_model *m,
                                            const char *name);

#endif
