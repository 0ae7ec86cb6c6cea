/* Any bytes as a file of suppressions. */
#include "runtime/check/suppress.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const layer_check_shown f = {.kind = CHECK_RACE,
                                        .kernel = "grn",
                                        .file = "kernels/grn/grn.cl",
                                        .line = 7};
    arena *a = arena_create(0);
    layer_check_suppressions *s;
    vpu_error err;

    if (!layer_check_suppressions_parse("fuzz", (const char *)data, n, a, &s,
                                        &err))
        layer_check_suppressed(s, &f);
    arena_destroy(a);
    return 0;
}
