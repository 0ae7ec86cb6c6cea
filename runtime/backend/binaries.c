/* Finds or compiles what blobs carry. */
#include "runtime/backend/binaries.h"

#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "runtime/backend/source.h"
#include "sim/compiler/kernel.h"
#include "sim/compiler/store/object.h"

#define MAX_BIN ((size_t)1 << 30)

static bool is_bin(const char *path)
{
    size_t n = strlen(path);

    return !(n > 3 && !strcmp(path + n - 3, ".cl")) && file_exists(path);
}

/* No .bin: the .cl, compiled here. */
static vpu_status compile(const backend_binaries_config *c,
                          const graph_launch *l, arena *a, network_kernel *k,
                          vpu_error *err)
{
    kernel_compile_config cfg = {
        .user = backend_source_options(l, &c->compile, a), .log = c->log};
    kernel_source source;
    kernel_bin bin = {0};
    backend_source s;
    vpu_status st;

    if (l->n_sources != 1)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "%s:%u: kernel '%s' of %u sources, not all of them .bin",
                       l->file, l->line, l->entry, l->n_sources);
    st = backend_source_of(l, 0, c->source_dir, a, &s, err);
    source = backend_source_kernel(&s, l);
    if (!st)
        st = kernel_build_bin(&source, &cfg, a, &bin, err);
    k->file = bin.bytes;
    k->file_bytes = bin.n;
    return st;
}

/* The kernel's file: all its .bin, one behind the other. */
static vpu_status find_kernel(const backend_binaries_config *c,
                              const graph_launch *l, arena *a,
                              network_kernel *k, vpu_error *err)
{
    str all = {0};
    bool bins = l->n_sources > 0 && !l->given && !l->bin;
    vpu_status st = VPU_OK;

    if (l->by_index)
        return err_at(err, VPU_ERR_UNSUPPORTED, l->file, l->line, 0,
                      "layer %s is of type SimpleGPU, which a stick cannot "
                      "run: its blobs hold MVCL layers",
                      l->layer);

    k->path = l->n_sources ? l->sources[0] : l->entry;
    for (uint32_t i = 0; i < l->n_sources; i++)
        bins = bins && is_bin(l->sources[i]);
    for (uint32_t i = 0; i < l->n_sources && bins && !st; i++) {
        char *data;
        size_t n;

        st = file_read(l->sources[i], MAX_BIN, a, &data, &n, err);
        if (!st)
            str_add(&all, data, n);
    }
    if (l->bin) {
        k->file = l->bin;
        k->file_bytes = l->n_bin;
    } else if (bins && !st) {
        k->file = arena_memdup(a, str_text(&all), all.n);
        k->file_bytes = all.n;
    } else if (!st) {
        st = compile(c, l, a, k, err);
    }
    str_free(&all);
    if (!st && !c->simulator &&
        object_classify(k->file, k->file_bytes) == OBJECT_OURS)
        log_warn(c->log,
                 "%s: compiled by this program, for the simulator: on a "
                 "stick the blob needs a .bin of the vendor's clc",
                 k->path);
    return st;
}

vpu_status backend_binaries(const graph *g, const backend_binaries_config *cfg,
                            arena *a, network_kernel **out, vpu_error *err)
{
    vpu_status st = VPU_OK;

    *out = arena_array(a, network_kernel, g->n_launches + 1);
    for (uint32_t i = 0; i < g->n_launches && !st; i++)
        if (!g->launches[i].text)
            st = find_kernel(cfg, &g->launches[i], a, &(*out)[i], err);
    return st;
}

enum { NETWORK_SHAVES = 7, ALL_SLICES = 19, SOME_SLICES = 9 };

vpu_status backend_blob(const graph *g, const backend_blob_config *cfg,
                        arena *a, blob *out, str *bytes, vpu_error *err)
{
    uint32_t shaves = cfg->n_shaves ? cfg->n_shaves : NETWORK_SHAVES;
    network_config net = {.release = cfg->release,
                          .n_shaves = shaves,
                          .n_slices = shaves > NETWORK_SHAVES ? ALL_SLICES
                                                              : SOME_SLICES};
    network_kernel *kernels = NULL;
    vpu_status st = backend_binaries(g, &cfg->binaries, a, &kernels, err);

    net.kernels = kernels;
    if (!st)
        st = network_blob(&net, g, a, out, err);
    return st ? st : blob_build(out, bytes, err);
}
