/* Shared by the files of this folder. */
#ifndef VPU_RUNTIME_PORT_PORT_PRIV_H
#define VPU_RUNTIME_PORT_PORT_PRIV_H

#include "base/str.h"
#include "runtime/lint/source.h"
#include "runtime/port/port.h"

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
} port_tensor;

/* A number that the kernel gets. */
typedef struct {
    const char *name, *type; /* "int", "float" */
    const char *source;      /* of Scalar */
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
    bool fixed; /* all sizes and parameters as macros */
    str defines;
    const char **params; /* of the scalars */
    size_t n_params, cap_params;
    const char **notes;
    size_t n_notes, cap_notes;
} port_state;

void port_note(port_state *p, const char *fmt, ...) VPU_PRINTF(2, 3);
/* Whether a word stands anywhere in the layer's text. */
bool port_has_word(const port_state *p, const char *word);
/* A name that does not, begun with wish. */
const char *port_new_name(const port_state *p, const char *wish);
/* The tensor that binding x is of. */
port_tensor *port_tensor_of(const port_state *p, const config_binding *x);
/* The pitch of dim d (0 to 3) in words of the tensor's dims. */
const char *port_pitch(const port_state *p, const port_tensor *t, int d);

/* Macros and scalars (macros.c): p->defines, p->scalars. */
vpu_status port_macros(port_state *p);
/* Formulas as MVCL's expressions (sizes.c). */
typedef struct {
    const char *dim, *global, *local;
} port_sizes;
vpu_status port_find_sizes(port_state *p, port_sizes *out);

#endif
