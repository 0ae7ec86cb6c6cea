/* What a launch's kernel is compiled from: which file a <Source filename="…"/>
 * means for the simulator, and what stands in front of it. */
#ifndef VPU_RUNTIME_BACKEND_SOURCE_H
#define VPU_RUNTIME_BACKEND_SOURCE_H

#include "base/arena.h"
#include "base/err.h"
#include "runtime/graph/graph.h"
#include "sim/compiler/kernel.h"

typedef enum { SOURCE_CL, SOURCE_OUR_BIN, SOURCE_TEXT } backend_source_kind;

typedef struct {
    backend_source_kind kind;
    const char *path;
    const unsigned char *file; /* SOURCE_OUR_BIN: the bytes */
    size_t n_bytes;
    const char *text;         /* SOURCE_TEXT: OpenCL C; path is its name */
    const kernel_part *parts; /* that it is linked with */
    uint32_t n_parts;
    bool built_in; /* a text of this program's own */
} backend_source;

/* What to find: a source as graph_launch gives it, and the element of the
 * binding file that names it, for messages. */
typedef struct {
    const char *path;
    const char *source_dir; /* NULL = none given */
    const char *binding;
    uint32_t line;
} backend_source_name;

/* A .bin of ours is taken; else the .cl of the same name, in source_dir when
 * given, then beside it. A path that is a .cl is taken as it is.
 *
 * VPU_ERR_UNSUPPORTED  a .bin of the vendor's compiler and no .cl: says so
 * VPU_ERR_IO           nothing there (names every place looked at) */
vpu_status backend_source_find(const backend_source_name *name, arena *a,
                               backend_source *out, vpu_error *err);

/* How many sources a launch has to try, and the one of that number: a text of
 * our own, a kernel in memory, the files of SimpleGPU as one text behind their
 * macros, each with its lines' own numbers, or one file.
 *
 * Errors of backend_source_find; VPU_ERR_UNSUPPORTED for a .bin among the files
 * of SimpleGPU. */
uint32_t backend_source_count(const graph_launch *l);
vpu_status backend_source_of(const graph_launch *l, uint32_t i,
                             const char *source_dir, arena *a,
                             backend_source *out, vpu_error *err);
/* For kernel_compile: the source, and the options of the user and of the
 * layer, of which a text of our own has none. In the arena. */
kernel_source backend_source_kernel(const backend_source *s,
                                    const graph_launch *l);
kernel_compile_options
backend_source_options(const graph_launch *l,
                       const kernel_compile_options *user, arena *a);

#endif
