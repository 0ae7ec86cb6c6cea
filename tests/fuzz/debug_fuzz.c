/* Any bytes as a line for the debugger: breakpoints, expressions, types. */
#include <stdlib.h>
#include <string.h>

#include "runtime/debug/debug.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *line = malloc(n + 1);

    if (!line)
        return 0;
    memcpy(line, data, n);
    line[n] = 0;
    debug_parse_only(line);
    free(line);
    return 0;
}
