/* A layer as users describe it: of binding files, or a blob. What everything
 * that runs a layer binds it with. */
#ifndef VPU_RUNTIME_IMPORT_LAYER_H
#define VPU_RUNTIME_IMPORT_LAYER_H

#include "runtime/graph/layer.h"
#include "runtime/import/import.h"

/* graph_layer_bind; but where the one "binding file" is a blob, raw or as the
 * plug-in's cache has it, import_blob; and where it is a network, an IR whose
 * root is <net>, what the vendor's compiler makes of it (openvino_compile).
 * out->binding and out->request are then empty.
 *
 * VPU_ERR_INVALID  shapes, parameters or the like, of which these have their
 *                  own; `custom` without a network
 * VPU_ERR_LIMIT    a blob of more than 1 GiB
 * and errors of these three, and of blob_parse */
vpu_status import_layer_bind(const graph_layer_texts *t, const import_config *c,
                             arena *a, const log_sink *log, graph_layer *out,
                             vpu_error *err);
/* Does the file begin as a blob does? */
bool import_is_blob(const char *path);

#endif
