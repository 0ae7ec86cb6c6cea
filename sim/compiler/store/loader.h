/* Host objects into memory without LLVM: what its code generator writes for
 * x86-64, large code model, position independent (host/hostcode.c), and no more
 * than that. What else there is (objects for debuggers, other processors) ORC
 * loads (jit.c). Internal to sim/compiler. */
#ifndef VPU_SIM_COMPILER_STORE_LOADER_H
#define VPU_SIM_COMPILER_STORE_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

typedef struct loader loader;

/* Where a function outside of the object is; NULL: there is none. */
typedef void *loader_find(void *user, const char *name);

/* Copies the n bytes of the object, which lie at a multiple of 8, to where they
 * can run, and binds them. Any bytes: nothing is read or written outside of
 * object and copy. The object is borrowed until loader_close.
 *
 * VPU_ERR_UNSUPPORTED  it holds what this loader does not know
 * VPU_ERR_PARSE        it does not agree with itself
 * VPU_ERR_COMPILE      find does not know a name
 * VPU_ERR_NOMEM        no room */
vpu_status loader_open(const uint8_t *object, size_t n, loader_find *find,
                       void *user, loader **out, vpu_error *err);
/* A function of the object; NULL: it has none of that name. */
void *loader_function(const loader *l, const char *name);
/* The section with that function's code, and its bytes. */
const uint8_t *loader_code(const loader *l, const char *function,
                           uint64_t *bytes);
void loader_close(loader *l); /* NULL is fine */

/* The same of an object that somebody else has loaded: how far into that
 * section the function begins. False: it is not there. */
bool loader_place(const uint8_t *object, size_t n, const char *function,
                  uint64_t *offset, uint64_t *bytes);

#endif
