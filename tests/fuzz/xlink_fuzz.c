/* Any bytes as XLink headers of each layout; what is accepted encodes again to
 * a header that decodes to the same. */
#include <stdlib.h>
#include <string.h>

#include "runtime/link/xlink_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void one(xlink_layout layout, const uint8_t *data, size_t n)
{
    xlink_header h, again;
    uint8_t bytes[XLINK_HEADER_MAX];
    str text = {0};
    vpu_error err;
    size_t size = xlink_header_size(layout);

    if (xlink_decode(layout, data, n < size ? n : size, &h, &err))
        return;
    xlink_text(layout, &h, data + size, n - size, &text);
    str_free(&text);
    if (h.event == XLINK_WRITE && !h.response)
        h.dropped = 0; /* taken, but never sent */
    if (xlink_encode(layout, &h, bytes, sizeof bytes, &err) ||
        xlink_decode(layout, bytes, size, &again, &err) ||
        memcmp(&h, &again, sizeof h))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    for (int l = 0; l < XLINK_N_LAYOUTS; l++)
        one((xlink_layout)l, data, n);
    return 0;
}
