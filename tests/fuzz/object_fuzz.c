/* Compiled kernels are files from outside: the ELF reader and what is read of
 * a kernel's description. */
#include <stdlib.h>
#include <string.h>

#include "sim/compiler/store/artifact.h"
#include "sim/compiler/store/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    /* An exact copy, so that reading past the end is seen. */
    uint8_t *copy = malloc(n ? n : 1);
    arena *a = arena_create(0);
    sim_kernel k = {0};
    artifact_object host;
    const uint8_t *section;
    size_t size;
    vpu_error err;

    memcpy(copy, data, n);
    if (object_classify(copy, n) == OBJECT_OURS &&
        object_find(copy, n, ".vpusim.info", &section, &size))
        artifact_read(copy, n, a, &k, &host, &err);
    arena_destroy(a);
    free(copy);
    return 0;
}
