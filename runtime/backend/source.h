/* Which file a <Source filename="…"/> means for the simulator. */
#ifndef VPU_RUNTIME_BACKEND_SOURCE_H
#define VPU_RUNTIME_BACKEND_SOURCE_H

#include "base/arena.h"
#include "base/err.h"

typedef enum { SOURCE_CL, SOURCE_OUR_BIN } backend_source_kind;

typedef struct {
    backend_source_kind kind;
    const char *path;
    const unsigned char *file; /* SOURCE_OUR_BIN: the bytes */
    size_t n_bytes;
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

#endif
