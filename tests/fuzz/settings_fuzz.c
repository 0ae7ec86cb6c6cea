/* Any text as the variable VPU_CL. */
#include "runtime/icd/settings.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    arena *a = arena_create(0);
    char *text = arena_strndup(a, (const char *)data, n);
    icd_settings s;
    vpu_error err;

    /* What is read of a machine's file is desc_fuzz's. */
    if (!strstr(text, "machine") && !icd_settings_read(text, a, &s, &err) &&
        (!s.shaves || s.shaves > s.desc.num_shaves || s.as < 0 || s.as > 2))
        abort();
    arena_destroy(a);
    return 0;
}
