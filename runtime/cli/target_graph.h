/* A layer as a graph of the library's: what commands make of their options that
 * are written against include/vpusim/vpu.h alone. */
#ifndef VPU_RUNTIME_CLI_TARGET_GRAPH_H
#define VPU_RUNTIME_CLI_TARGET_GRAPH_H

#include "include/vpusim/vpu.h"
#include "runtime/cli/target.h"

/* Where the layer runs, and which it is; the command may change either before
 * target_graph_open. Texts are the options' own. */
typedef struct {
    vpu_context_options context;
    vpu_layer_options layer;
} target_words;

/* On the backend of that id. */
target_words target_words_of(const target_options *o, const char *id);

typedef struct {
    const target_options *o;
    arena *arena;
    vpu_context *context;
    vpu_graph *graph;
    vpu_operation *layer;
} target_graph;

/* target_graph_close also after an error, and for a zeroed one. */
vpu_status target_graph_open(const target_options *o, const target_words *w,
                             arena *a, target_graph *out, vpu_error *err);
void target_graph_close(target_graph *t);

/* The graph's inputs as the options say, random:N where they do not; user: a
 * target_graph. For vpu_check_options.fill and its like.
 *
 * VPU_ERR_INVALID  an --input is no "N=SPEC"
 * and errors of vpu_tensor_fill */
vpu_status target_graph_fill(void *user, vpu_graph *graph, vpu_error *err);
/* VPU_ERR_INVALID  an --input names a port the layer does not have */
vpu_status target_graph_check_inputs(const target_graph *t, vpu_error *err);

#endif
