/* Host objects in the cache of kernels: loaded or refused, never run here. */
#include <stdlib.h>
#include <string.h>

#include "sim/compiler/store/loader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void *find(void *user, const char *name)
{
    return *name ? user : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    /* An exact copy, so that reading past the end is seen. */
    uint8_t *copy = malloc(n ? n : 1);
    uint64_t bytes;
    loader *l;
    vpu_error err;

    memcpy(copy, data, n);
    if (!loader_open(copy, n, find, copy, &l, &err)) {
        loader_function(l, "vpu_scalar");
        loader_code(l, "vpu_scalar", &bytes);
        loader_close(l);
    }
    free(copy);
    return 0;
}
