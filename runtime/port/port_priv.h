/* Shared by the files of this folder. */
#ifndef VPU_RUNTIME_PORT_PORT_PRIV_H
#define VPU_RUNTIME_PORT_PORT_PRIV_H

#include "base/str.h"
#include "runtime/lint/source.h"
#include "runtime/port/port.h"
#include "sim/compiler/middle/boxes.h"

/* A tensor of the layer. */
typedef struct {
    const char *macro; /* "INPUT0", "OUTPUT0" */
    const char *word;  /* "in0", "out0" */
    bool output;
    uint32_t port;
    tensor_desc desc;
    config_format gpu;    /* as the binding says, ANY as BFYX */
    config_format format; /* BFYX or BYXF of rank 4: what MVCL is asked for */
    const char *letters;  /* MVCL's letter of each dim of the shape */
    const char *dims[4];  /* b, f, y, x in the kernel: an argument, or "1" */
    bool needs_dims;      /* the kernel looks at them */
    /* What OFFSET and PITCHES are, where it is not what the shape says. */
    const char *offset, *pitches[4];
    boxes_box box;
    bool moved;      /* into local memory */
    const char *ddr; /* moved: the argument with the tensor */
} port_tensor;

/* A number that the kernel gets. */
typedef struct {
    const char *name, *type; /* "int", "float" */
    const char *source;      /* of Scalar; NULL: there is none (dma.c) */
    int64_t value;           /* of an int, now */
    int32_t port;            /* of a dimension; -1: none */
} port_scalar;

typedef struct {
    const port_job *job;
    arena *a;
    vpu_error *err;
    const config_kernel *kernel;
    lint_source_text *files;
    size_t n_files;
    size_t shown;            /* the file with the kernel */
    lint_source_kernel sign; /* where it stands there */
    port_tensor *tensors;    /* inputs in port order, then the output */
    size_t n_tensors;
    port_scalar *scalars;
    size_t n_scalars, cap_scalars;
    bool fixed;    /* all sizes and parameters as macros */
    bool all_dims; /* as arguments, whether the kernel looks at them or not */
    str defines;
    const char **params; /* of the scalars */
    size_t n_params, cap_params;
    const char **notes;
    size_t n_notes, cap_notes;
} port_state;

void port_note(port_state *p, const char *fmt, ...) VPU_PRINTF(2, 3);
/* Whether a word stands in a text; anywhere in the layer's. */
bool port_text_has_word(const char *text, const char *word);
bool port_has_word(const port_state *p, const char *word);
/* A name that does not, begun with wish. */
const char *port_new_name(const port_state *p, const char *wish);
/* The tensor that binding x is of. */
port_tensor *port_tensor_of(const port_state *p, const config_binding *x);
/* The pitch of dim d (0 to 3), in words of dims: those of the tensor, or of a
 * part of it. */
const char *port_pitch(const port_state *p, const port_tensor *t,
                       const char *const dims[4], int d);

/* Macros and scalars (macros.c): p->defines, p->scalars. */
void port_macros(port_state *p);
/* Formulas as MVCL's expressions (sizes.c). */
typedef struct {
    const char *dim, *global, *local;
} port_sizes;
void port_find_sizes(const port_state *p, port_sizes *out);
/* Work-groups of so many items, which divide the global sizes; the layer's own
 * local size where it has one. A whole global size is that of each shape, a
 * part of one is a number. Also as expressions of the kernel's arguments. */
typedef struct {
    port_sizes mvcl;
    const char *texts[3];
    uint32_t values[3];
    bool one_group[3];
    uint64_t groups;
} port_local;
void port_find_local(const port_state *p, const uint32_t wanted[3],
                     port_local *out);
/* The launch of the layer's kernel. */
const graph_launch *port_launch(const port_state *p);

/* Steps of a form (port.c): read the sources, find the tensors. */
vpu_status port_begin(const port_job *job, arena *a, vpu_error *err,
                      port_state *p);
/* lines: lines have the numbers of their files. */
void port_put_sources(const port_state *p, const char *arguments,
                      bool local_body, bool lines, str *out);
/* Between the brackets of the kernel's arguments; local: those moved are what
 * is in local memory, else all are as they were. */
const char *port_arguments(const port_state *p, bool local);
void port_put_binding(const port_state *p, const port_sizes *sizes,
                      const char *file, str *out);
const char *port_take(arena *a, str *s);
vpu_status port_compiles(const port_state *p, const char *text,
                         const char *name, vpu_error *err);
/* Attributes dim and size of a moved tensor's local_data (dma.c). */
const char *port_tile_size(const port_state *p, const port_tensor *t);
vpu_status port_write_dma(const port_job *job, arena *a, port_result *out,
                          vpu_error *err); /* dma.c */

#endif
