/* Shared by the files that read a binding file: layer.c (structure),
 * binding.c (Parameters) and gpu.c (all of a SimpleGPU layer). */
#ifndef VPU_RUNTIME_CONFIG_LAYER_PRIV_H
#define VPU_RUNTIME_CONFIG_LAYER_PRIV_H

#include "runtime/config/layer.h"
#include "runtime/config/xml.h"

typedef struct {
    const char *path, *dir;
    arena *arena;
    const log_sink *log;
    vpu_error *err;
    config_release strict;
    config_form form;               /* of the layer being read */
    bool form_told[CONFIG_N_FORMS]; /* its note stands once per file */
    const char *layer;
} config_reader;

/* "path:line:col: error: text". */
vpu_status config_fail(const config_reader *r, uint32_t line, uint32_t col,
                       const char *fmt, ...) VPU_PRINTF(4, 5);
void config_warn(const config_reader *r, uint32_t line, const char *fmt, ...)
    VPU_PRINTF(3, 4);

/* config_refused_by for the place t, in a layer of r->form. */
vpu_status config_refuse(const config_reader *r, config_range by, config_text t,
                         const char *what, const char *fmt, ...)
    VPU_PRINTF(5, 6);

/* Attribute readers. A required one that is missing is an error; an optional
 * one leaves *out as it is. */
vpu_status config_need_text(const config_reader *r, const config_xml_node *node,
                            const char *name, config_text *out);
config_text config_get_text(const config_xml_node *node, const char *name);
vpu_status config_get_int(const config_reader *r, const config_xml_node *node,
                          const char *name, int32_t min, int32_t *out);
/* dim="input,0". Absent: input 0 in the flat form, else an error. */
vpu_status config_get_dim(const config_reader *r, const config_xml_node *node,
                          config_dim *out);
/* Warn about every attribute that is not in known ("a b c"). */
void config_warn_attrs(const config_reader *r, const config_xml_node *node,
                       const char *known);

void config_warn_children(const config_reader *r, const config_xml_node *node,
                          const char *known);
/* The Source children, at least one. */
vpu_status config_read_sources(const config_reader *r,
                               const config_xml_node *node, config_kernel *k);

/* A SimpleGPU layer, behind its head. */
vpu_status config_read_gpu(const config_reader *r, const config_xml_node *node,
                           config_layer *out);

/* The children of Parameters, in binding order. */
vpu_status config_read_bindings(const config_reader *r,
                                const config_xml_node *parameters,
                                const config_binding **out, size_t *n);

#endif
