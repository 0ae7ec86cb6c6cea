/* Any bytes as a graph's file; and, since few of them have the right hashes,
 * as a manifest in front of sections of a file that has. What is read is
 * written and read again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/graph/conversions.h"
#include "runtime/graphfile/graphfile.h"
#include "runtime/graphfile/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static char path[64];

static void look(const void *data, size_t n)
{
    arena *a = arena_create(0);
    graphfile f, again;
    uint32_t *new_index;
    vpu_error err;

    if (!graphfile_parse(data, n, "fuzz", a, &f, &err)) {
        if (graphfile_write(path, &f, a, &err) ||
            graphfile_read(path, a, &again, &err) ||
            again.n_tensors != f.n_tensors ||
            again.graph.n_launches != f.graph.n_launches)
            abort();
        graph_cancel_conversions(&again.graph, a, &new_index);
    }
    arena_destroy(a);
}

/* The first byte counts sections, as many bytes behind it are their lengths,
 * the rest is the manifest. */
static void seal(const uint8_t *data, size_t n)
{
    uint8_t filler[256];
    container_section s[17];
    size_t n_more = n ? data[0] % 16 : 0;
    arena *a = arena_create(0);
    const void *file;
    size_t size;

    if (n < 1 + n_more)
        return arena_destroy(a);
    s[0] =
        (container_section){.data = data + 1 + n_more, .bytes = n - 1 - n_more};
    for (size_t i = 1; i <= n_more; i++)
        s[i] = (container_section){.data = filler, .bytes = data[i]};
    if (!container_write(path, &graphfile_kind, s, (uint32_t)n_more + 1,
                         NULL) &&
        !container_load(path, &graphfile_kind, a, &file, &size, NULL))
        look(file, size);
    arena_destroy(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    snprintf(path, sizeof path, "/dev/shm/graph_file_fuzz.%d", getpid());
    look(data, n);
    seal(data, n);
    unlink(path);
    return 0;
}
