/* Any bytes as a trace. */
#include "sim/trace/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    trc_read_ops ops = {0};
    vpu_error err;

    trc_read_bytes("fuzz", data, n, &ops, &err);
    return 0;
}
