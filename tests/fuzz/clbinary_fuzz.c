/* Any bytes as the binary of an OpenCL program. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/icd/icd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void forget(cl_program p)
{
    free(p->source);
    free(p->options);
    str_free(&p->texts.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct _cl_program p = {.refs = 1}, again = {.refs = 1};
    str bytes = {0}, more = {0};

    if (icd_binary_read(&p, data, n)) { /* what is read is written the same */
        icd_binary_make(&p, &bytes);
        if (!icd_binary_read(&again, (const unsigned char *)bytes.data,
                             bytes.n))
            abort();
        icd_binary_make(&again, &more);
        if (more.n != bytes.n || memcmp(more.data, bytes.data, more.n))
            abort();
    }
    forget(&p);
    forget(&again);
    str_free(&bytes);
    str_free(&more);
    return 0;
}
