/* Any bytes as a file of tuned sizes; what is taken is written and read again,
 * and is the same then. */
#include <stdlib.h>
#include <string.h>

#include "runtime/tune/tune_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void need(bool ok)
{
    if (!ok)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    arena *a = arena_create(0);
    const char *text = arena_strndup(a, (const char *)data, n);
    str first = {0}, second = {0};
    tune_file f, again;
    vpu_error err;

    if (!tune_file_parse("fuzz", text, n, a, &f, &err)) {
        tune_file_print(&f, &first);
        need(!tune_file_parse("again", str_text(&first), first.n, a, &again,
                              &err));
        tune_file_print(&again, &second);
        need(first.n == second.n && !memcmp(first.data, second.data, first.n));
        for (size_t i = 0; i < f.n; i++)
            need(tune_file_find(&again, &f.rows[i].key) == &again.rows[i]);
    }
    str_free(&first);
    str_free(&second);
    arena_destroy(a);
    return 0;
}
