/* The binding file: which kernels implement a layer type, and with what.
 *
 * Layers of type MVCL are for the VPU, in two forms; those of type SimpleGPU
 * (gpu.h) are for the GPU of the same guide, bound by index and by macros.
 *
 * Both forms of MVCL are read. *Nested* (OpenVINO 2020.4 to 2022): Source,
 * Parameters and WorkSizes are children of Kernel; several stages are several
 * Kernels. *Flat* (2019 to 2020.3, and the public guide in every edition): they
 * are children of CustomLayer; several stages are several CustomLayers of one
 * name, with stage="0", "1"...
 *
 * What the public guide promises and real compilers refuse is accepted with one
 * note in the log that names the releases, or refused when the file is read for
 * one of them; what they ignore gets a warning. */
#ifndef VPU_RUNTIME_CONFIG_LAYER_H
#define VPU_RUNTIME_CONFIG_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "runtime/config/expr.h"
#include "runtime/config/release.h"

enum {
    CONFIG_LAYER_MAX_BYTES = 16 << 20, /* of a binding file */
    CONFIG_LAYER_MAX_ELEMENTS = 1 << 16
};

typedef enum {
    CONFIG_FORM_NESTED,
    CONFIG_FORM_FLAT,
    CONFIG_FORM_GPU, /* SimpleGPU */
    CONFIG_N_FORMS
} config_form;

typedef enum {
    CONFIG_INPUT,         /* Tensor: layer input port */
    CONFIG_OUTPUT,        /* Tensor: layer output port, always 0 */
    CONFIG_INPUT_BUFFER,  /* Tensor: read scratch buffer number port */
    CONFIG_OUTPUT_BUFFER, /* Tensor: written scratch buffer number port */
    CONFIG_DATA,          /* Data: blob named by source */
    CONFIG_LOCAL_DATA,    /* Data: local memory of size bytes per group */
    CONFIG_INT,           /* Scalar */
    CONFIG_FLOAT          /* Scalar */
} config_binding_kind;

/* Up to ANY numbered as in the compiled graph. */
typedef enum {
    CONFIG_BYXF,
    CONFIG_BFYX,
    CONFIG_YXF,
    CONFIG_FYX,
    CONFIG_BF,
    CONFIG_ANY,
    CONFIG_YXFB, /* SimpleGPU alone, as FYXB */
    CONFIG_FYXB
} config_format;

const char *config_form_name(config_form form);  /* "flat", "nested", "gpu" */
const char *config_format_name(config_format f); /* "BYXF"... */

/* An attribute's text and where it stands; text is NULL when absent, never
 * empty. */
typedef struct {
    const char *text;
    uint32_t line, col;
} config_text;

/* The tensor whose dims are B, F, Y, X in an expression. */
typedef struct {
    bool output; /* of the layer's outputs, else inputs */
    uint32_t index;
    uint32_t line;
} config_dim;

typedef struct {
    config_binding_kind kind;
    const char *arg;   /* kernel argument; SimpleGPU: its number as text */
    int32_t index;     /* SimpleGPU: arg-index, from 0 */
    config_text place; /* SimpleGPU: of arg-index */
    int32_t port;      /* port-index; -1 = absent (scalars only) */
    config_format format;
    config_dim dim;     /* buffers and local_data */
    config_text size;   /* local_data: bytes; buffers: elements of two bytes,
                           as the vendor's compiler takes them, not bytes as its
                           guide says */
    config_text source; /* data and scalars */
    uint32_t line;
} config_binding;

/* A macro of a SimpleGPU layer, `#define NAME VALUE`. */
typedef struct {
    const char *name;   /* may have a parameter list or a value behind it */
    config_text param;  /* the layer's parameter that gives the value */
    config_text preset; /* value without it (default="..."), perhaps empty */
    const char *type;   /* "int" or "float": of the value, or of an array's
                           elements; NULL: the file says nothing */
    bool array;         /* an array literal */
    uint32_t line, col;
} config_define;

typedef struct {
    const char *entry;
    uint32_t stage;
    uint32_t max_shaves;        /* 0 = no limit */
    const char *const *sources; /* joined to the binding file's folder */
    size_t n_sources;
    const config_binding *bindings; /* all Tensor, all Data, all Scalar; each
                                       in document order */
    size_t n_bindings;
    config_dim dim;
    /* One to three expressions, comma-separated; of SimpleGPU the formulas of
     * gpu.h, and text NULL for the plug-in's own choice. */
    config_text global, local;
    const config_define *defines; /* SimpleGPU alone, as options */
    size_t n_defines;
    config_text options; /* words for the compiler; text NULL = none */
    uint32_t line;
} config_kernel;

/* One restriction of Where: parameter name, and what its value must match. */
typedef struct {
    const char *name;
    config_text value;
} config_where;

typedef struct {
    const char *type; /* CustomLayer/@name: type of the layers it is for */
    config_form form;
    int32_t stage; /* flat form with a stage attribute, else -1 */
    const config_where *where;
    size_t n_where;
    const config_kernel *kernels; /* in stage order, stages 0..n-1 (flat form:
                                     exactly one) */
    size_t n_kernels;
    const char *path;
    uint32_t line;
    /* What a reader of this layer should know: notes, without place or end. */
    const char *const *notes;
    size_t n_notes;
} config_layer;

typedef struct {
    const char *path;
    const config_layer *layers; /* document order, at least one */
    size_t n_layers;
    config_release strict; /* it was read for */
} config_file;

/* The layer's notes, for who has chosen it. */
void config_layer_tell(const config_layer *l, const log_sink *log);

/* Read a binding file as the given release does, or with notes of the layers
 * instead (CONFIG_EVERY_RELEASE). Everything lives in a.
 *
 * VPU_ERR_IO           the file cannot be read
 * VPU_ERR_LIMIT        it is longer or deeper than the limits
 * VPU_ERR_UNSUPPORTED  not UTF-8, or with a document type declaration
 * VPU_ERR_PARSE        anything else wrong in it, or refused by the release
 * Messages are "path:line:col: error: what was found, what was expected". */
vpu_status config_file_read(const char *path, arena *a, const log_sink *log,
                            config_release strict, config_file *out,
                            vpu_error *err);
/* The same from memory; sources are joined to path's folder. */
vpu_status config_file_parse(const file_bytes *text, arena *a,
                             const log_sink *log, config_release strict,
                             config_file *out, vpu_error *err);

/* What config_refused_by needs to speak about a place in l. */
config_context config_layer_context(const config_layer *l,
                                    config_release strict, const log_sink *log,
                                    vpu_error *err);

/* Whether l is for layers of that type: in any case of letters for MVCL, to the
 * letter for SimpleGPU, as the plug-ins do. */
bool config_layer_is_for(const config_layer *l, const char *type);

/* The layers of n files, one behind the other, as one. Of SimpleGPU layers of
 * one name the last counts, as in one file: a note names the one it replaces.
 */
void config_file_join(const config_file *files, size_t n, arena *a,
                      const log_sink *log, config_file *out);

/* The text of an attribute as an expression. */
config_expr config_text_expr(config_text t, const char *path);

#endif
