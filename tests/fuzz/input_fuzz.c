/* Any bytes as an archive or a picture, behind a spec of an input:
 *
 *   ending | type << 2 | rank << 4, width, height, n, n bytes behind the colon,
 *   the file
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/temp.h"
#include "runtime/graph/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static arena *names; /* of the folder, as long as the process */
static char *dir;

static void open_folder(void)
{
    vpu_error err;

    names = arena_create(0);
    if (temp_dir(names, "input-fuzz", &dir, &err))
        abort();
    atexit(temp_remove_all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    enum { HEAD = 4, MAX_REST = 48 };
    static const char *const endings[] = {".npz", ".png", ".jpg", ".jpeg"};
    static const tensor_dtype types[] = {TENSOR_U8, TENSOR_F16, TENSOR_F32,
                                         TENSOR_I32};
    graph_buffer b = {.name = "in0"};
    size_t n_rest;
    arena *a;
    FILE *f;
    char *path, *spec;
    vpu_error err;

    if (!dir)
        open_folder();
    if (n < HEAD || (n_rest = data[3] % MAX_REST) > n - HEAD)
        return 0;
    a = arena_create(0);
    b.desc.dtype = types[data[0] >> 2 & 3];
    b.desc.rank = 1 + (data[0] >> 4) % 4;
    for (uint32_t i = 0; i < b.desc.rank; i++)
        b.desc.dims[i] = 1;
    if (b.desc.rank > 2)
        b.desc.dims[b.desc.rank - 3] = 3;
    if (b.desc.rank > 1)
        b.desc.dims[b.desc.rank - 2] = 1 + data[2];
    b.desc.dims[b.desc.rank - 1] = 1 + data[1];
    b.bytes = tensor_bytes(&b.desc);
    path = arena_printf(a, "%s/x%s", dir, endings[data[0] & 3]);
    f = fopen(path, "wb");
    if (!f)
        abort();
    fwrite(data + HEAD + n_rest, 1, n - HEAD - n_rest, f);
    fclose(f);
    spec =
        n_rest
            ? arena_printf(a, "%s:%s", path,
                           arena_strndup(a, (const char *)data + HEAD, n_rest))
            : path;
    graph_input_fill(&b, spec, arena_push(a, b.bytes, 1, 64), &err);
    remove(path);
    arena_destroy(a);
    return 0;
}
