/* Any bytes as a machine description. */
#include "sim/machine/desc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    arena *a = arena_create(0);
    mach_desc d;
    vpu_error err;
    str out = {0};

    if (!mach_desc_parse("fuzz", (const char *)data, n, a, &d, &err))
        mach_desc_print(&d, &out);
    str_free(&out);
    arena_destroy(a);
    return 0;
}
