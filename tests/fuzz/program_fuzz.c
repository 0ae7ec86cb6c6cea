/* Compiled kernels are files from outside: any bytes as programs. What decodes
 * and is sound reads back from its own text, and encodes to the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "isa/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Text and back; encoded, the two are equal when everything in them is. */
static void round_trip(const isa_function *f, arena *a)
{
    isa_memory mem = {arena_bytes, a};
    size_t n_text = isa_print(f, NULL, 0), size = isa_encode(f, 1, NULL, 0);
    char *text = arena_push(a, n_text + 1, 1, 1), error[ISA_ERROR_BYTES];
    uint8_t *x = arena_push(a, size, 1, 1), *y = arena_push(a, size, 1, 1);
    isa_function *g;
    uint32_t n;

    isa_print(f, text, n_text + 1);
    if (!isa_parse(text, n_text, &mem, &g, &n, error) || n != 1)
        abort();
    isa_encode(f, 1, x, size);
    if (isa_encode(g, 1, y, size) != size || memcmp(x, y, size))
        abort();
}

/* Any bytes as text, too. */
static void parse(const uint8_t *data, size_t n, arena *a)
{
    isa_memory mem = {arena_bytes, a};
    char error[ISA_ERROR_BYTES];
    isa_function *fs;
    uint32_t n_fs;

    if (!isa_parse((const char *)data, n, &mem, &fs, &n_fs, error))
        return;
    for (uint32_t k = 0; k < n_fs; k++)
        if (!isa_verify_virtual(&fs[k], NULL, NULL))
            round_trip(&fs[k], a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    /* An exact copy, so that reading past the end is seen. */
    uint8_t *copy = malloc(n ? n : 1);
    arena *a = arena_create(0);
    isa_memory mem = {arena_bytes, a};
    isa_function *fs;
    uint32_t n_fs;

    memcpy(copy, data, n);
    if (isa_decode(copy, n, &mem, &fs, &n_fs))
        parse(copy, n, a);
    else if (n_fs && n > isa_encode(fs, n_fs, NULL, 0))
        abort();
    for (uint32_t k = 0; k < n_fs; k++) {
        isa_print(&fs[k], NULL, 0);
        if (!isa_verify(&fs[k], NULL, NULL))
            round_trip(&fs[k], a);
    }
    arena_destroy(a);
    free(copy);
    return 0;
}
