/* A layer's run in one file: what was run, on what, and what came out.
 *
 * docs/formats.md describes the file. The same run gives the same bytes
 * whatever the locale, the folders and the number of threads: no paths, no
 * dates, no host times in it. */
#ifndef VPU_RUNTIME_RECORD_RECORDING_H
#define VPU_RUNTIME_RECORD_RECORDING_H

#include "base/arena.h"
#include "base/err.h"
#include "runtime/graph/graph.h"
#include "runtime/record/container.h"

enum { RECORDING_VERSION = 2, RECORDING_OLDEST = 1 };
#define RECORDING_MAX_BYTES ((uint64_t)16 << 30)
#define RECORDING_MAX_MANIFEST ((uint64_t)64 << 20)

extern const container_kind recording_kind;

typedef struct {
    const char *name;
    graph_role role;
    uint32_t port;
    tensor_desc desc;
    bool untyped;
    uint64_t bytes;
} recording_buffer;

typedef struct {
    const char *name, *entry;
    const char *sources;        /* file names, ", " between several */
    uint64_t kernel;            /* hash of sources, includes and options */
    const char *const *binding; /* "C = int 16", "global = 16x8x1"... */
    uint32_t n_binding;
    double seconds;  /* the device's own; negative = unknown */
    uint64_t cycles; /* 0 = unknown */
} recording_launch;

enum { RECORDING_BEFORE = -1 };

/* A buffer's bytes after a launch, or before all (inputs and constants). */
typedef struct {
    uint32_t buffer;
    int32_t launch;
    const void *data; /* recording_buffer.bytes, aligned to 64 */
    uint64_t hash;    /* XXH64 of them; filled by the functions below */
} recording_content;

typedef struct {
    const char *layer, *type;
    const char *tool; /* version of this program */
    const char *backend, *device, *version;
    bool promoted, stages;     /* as backend_caps */
    const char *const *params; /* "name=value" */
    uint32_t n_params;
    /* Of a simulated machine "key=value": SHAVEs and what is not as in the
     * default machine. */
    const char *const *machine;
    uint32_t n_machine;
    /* Runs compared with this one may take so many times its cycles; 0 = any
     * number. */
    double max_slowdown;
    const recording_buffer *buffers;
    uint32_t n_buffers;
    const recording_launch *launches;
    uint32_t n_launches;
    /* Sorted by launch, then buffer; every output is there after some launch,
     * every input before. */
    recording_content *contents;
    uint32_t n_contents;
} recording;

/* Write it; the file appears whole or not at all. Fills hashes.
 *
 * VPU_ERR_IO       it cannot be written
 * VPU_ERR_INVALID  a text that is not UTF-8; contents out of order */
vpu_status recording_write(const char *path, recording *r, vpu_error *err);

/* Parse n bytes, which must outlive *out; data is aligned to 64 if it is.
 * path is for messages, which name the byte and what was expected.
 *
 * VPU_ERR_PARSE        not a recording, truncated, or changed
 * VPU_ERR_UNSUPPORTED  of a version that is neither of RECORDING_OLDEST to
 *                      RECORDING_VERSION (message: all)
 * VPU_ERR_LIMIT        larger than the limits above */
vpu_status recording_parse(const void *data, size_t n, const char *path,
                           arena *a, recording *out, vpu_error *err);
/* The same from a file, read into a. Also VPU_ERR_IO. */
vpu_status recording_read(const char *path, arena *a, recording *out,
                          vpu_error *err);

/* Whether two are of the same layer to the letter: type, parameters, buffers,
 * bindings, kernels (meaning.h asks for less). Contents and what ran them are
 * not looked at.
 *
 * VPU_ERR_MISMATCH  the message names the first thing that differs, both ways
 */
vpu_status recording_same(const recording *recorded, const recording *now,
                          vpu_error *err);

/* The last contents of a buffer at or before a launch; NULL = none. */
const recording_content *recording_find(const recording *r, uint32_t buffer,
                                        int32_t launch);

#endif
