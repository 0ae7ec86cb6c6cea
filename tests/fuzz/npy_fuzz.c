/* Any bytes as a .npy file; what parses is moved to the other layout. */
#include "runtime/graph/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    arena *a = arena_create(0);
    vpu_error err;
    tensor t;

    if (!npy_parse((const char *)data, n, "fuzz.npy", a, &t, &err)) {
        void *other = arena_push(a, tensor_bytes(&t.desc), 1, 16);

        tensor_relayout(&t.desc, t.data, TENSOR_CHANNEL_MINOR, other);
    }
    arena_destroy(a);
    return 0;
}
