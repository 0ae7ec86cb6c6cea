/* Any bytes as a case of a suite. */
#include <string.h>

#include "runtime/suite/case.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    arena *a = arena_create(0);
    vpu_error err;
    suite_case c;

    if (!case_parse(&(const file_bytes){data, n, "dir/fuzz.case"}, "fuzz", a,
                    &c, &err)) {
        size_t k = 0;

        while (c.words[k])
            k++;
        if (k != c.n_words || !k)
            __builtin_trap();
        case_option(&c, "--b");
    }
    arena_destroy(a);
    return 0;
}
