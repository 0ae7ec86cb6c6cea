/* asm FILE.bin: the SHAVE program of a compiled kernel as text. */
#include <stdio.h>
#include <stdlib.h>

#include "isa/text.h"
#include "sim/base/file.h"
#include "sim/compiler/object.h"

static void *take(void *user, size_t n)
{
    return arena_push(user, n, 1, 16);
}

static int fail(const char *path, const char *why)
{
    fprintf(stderr, "%s: %s\n", path, why);
    return 1;
}

int main(int argc, char **argv)
{
    arena *a = arena_create(0);
    isa_memory mem = {take, a};
    isa_function *fs = NULL;
    vpu_error err = {0};
    const uint8_t *program;
    const char *why;
    size_t n, bytes;
    uint32_t n_fs;
    char *file;

    if (argc != 2)
        return fail("usage", "asm FILE.bin");
    if (file_read(argv[1], (size_t)1 << 30, a, &file, &n, &err))
        return fail(argv[1], err.msg);
    if (!object_find((uint8_t *)file, n, ".vpusim.program", &program, &bytes))
        return fail(argv[1], "no SHAVE program");
    why = isa_decode(program, bytes, &mem, &fs, &n_fs);
    if (why)
        return fail(argv[1], why);
    for (uint32_t i = 0; i < n_fs; i++) {
        size_t len = isa_print(&fs[i], NULL, 0);
        char *text = arena_push(a, len + 1, 1, 1);

        isa_print(&fs[i], text, len + 1);
        fputs(text, stdout);
    }
    arena_destroy(a);
    return 0;
}
