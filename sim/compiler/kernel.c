/* Kernels by name: compile, load, and the disk cache in between. */
#include "sim/compiler/kernel.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/base/file.h"
#include "sim/base/str.h"
#include "sim/compiler/artifact.h"
#include "sim/compiler/frontend.h"
#include "sim/compiler/jit.h"
#include "sim/compiler/object.h"

enum { MAX_FILE_BYTES = 256 << 20 };

const char *sim_variant_name(sim_variant_kind k)
{
    static const char *const names[] = {"scalar", "vectorized", "dma_preload",
                                        "dma_postwrite"};

    return k < SIM_N_VARIANTS ? names[k] : "unknown";
}

/* --- the cache
 * ----------------------------------------------------------------- */

static const char *cache_dir(arena *a)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (xdg && xdg[0] == '/')
        return arena_printf(a, "%s/vpusim", xdg);
    return home && home[0] == '/' ? arena_printf(a, "%s/.cache/vpusim", home)
                                  : NULL;
}

/* Another build of the program compiles differently under the same version. */
static void add_build(str *s)
{
    struct stat sb;

    if (!stat("/proc/self/exe", &sb))
        str_printf(s, "%lld %lld %ld\n", (long long)sb.st_size,
                   (long long)sb.st_mtim.tv_sec, sb.st_mtim.tv_nsec);
}

/* Where the result of compiling these bytes with these settings is kept. NULL:
 * no cache. The path is part of it because messages name it. */
static const char *cache_path(const char *path, const void *content, size_t n,
                              const char *entry, const char *target,
                              const sim_compile_config *cfg, arena *a)
{
    const char *dir =
        cfg->no_cache || cfg->track_lines || cfg->debug || cfg->checking
            ? NULL
            : cache_dir(a);
    char content_hash[33], key[33];
    str s = {0};

    if (!dir)
        return NULL;
    artifact_hash(content, n, content_hash);
    str_printf(&s, "%s %d %s\n%s\n%s\n%s\n", VPU_VERSION, SIM_ABI, content_hash,
               path, entry, target);
    for (uint32_t i = 0; i < cfg->n_options; i++)
        str_printf(&s, "%s\n", cfg->options[i]);
    add_build(&s);
    str_puts(&s, fe_fingerprint(a));
    artifact_hash(s.data, s.n, key);
    str_free(&s);
    return arena_printf(a, "%s/%.2s/%s.elf", dir, key, key + 2);
}

static bool cache_get(const char *path, arena *a, artifact *out)
{
    char *data;

    if (!path || file_read(path, MAX_FILE_BYTES, a, &data, &out->n_bytes, NULL))
        return false;
    out->file = (uint8_t *)data;
    return object_classify(out->file, out->n_bytes) == OBJECT_OURS &&
           artifact_deps_hold(out->file, out->n_bytes);
}

/* A cache that cannot be written costs time, nothing else. */
static void cache_put(const char *path, const artifact *x, arena *a)
{
    if (path && !file_mkdirs(file_dirname(a, path), NULL))
        file_write(path, x->file, x->n_bytes, NULL);
}

static artifact_host host_kind(const sim_compile_config *cfg)
{
    return cfg->debug         ? ARTIFACT_HOST_DEBUG
           : cfg->checking    ? ARTIFACT_HOST_CHECKED
           : cfg->track_lines ? ARTIFACT_HOST_LINES
                              : ARTIFACT_HOST;
}

/* --- kernels
 * --------------------------------------------------------------------- */

static vpu_status open_artifact(const artifact *x, const char *path,
                                const sim_compile_config *cfg, arena *a,
                                sim_kernel *k, vpu_error *err)
{
    const uint8_t *object;
    size_t n;
    vpu_status st = artifact_read(x->file, x->n_bytes, a, k, &object, &n, err);

    k->source = arena_strdup(a, path);
    if (!st && cfg->hooks) {
        if (!object)
            return err_set(err, VPU_ERR_PARSE, "%s: no host code", path);
        k->debug = cfg->debug != NULL;
        k->roomy = cfg->debug || cfg->checking;
        st = jit_load(object, n, cfg->hooks, k, err);
    }
    return st ? err_in(err, st, "%s", path) : VPU_OK;
}

/* What a kernel is made from: OpenCL C, from a file or from memory, or the
 * bitcode of a .bin of ours. */
typedef struct {
    const char *name;    /* path, for messages and the cache's key */
    const char *content; /* what is hashed */
    size_t n;
    const char *text; /* OpenCL C that is in no file; else NULL */
    bool is_bitcode;
} origin;

/* sites: in arena a. */
static vpu_status build(const origin *o, const char *entry,
                        const sim_compile_config *cfg, arena *a,
                        sim_sites *sites, arena *scratch, artifact *x,
                        vpu_error *err)
{
    fe_unit unit = {.bitcode = (char *)o->content, .n_bytes = o->n};
    middle_mode mode = {cfg->debug, cfg->checking, sites, a};
    const char **options = (const char **)cfg->options;
    uint32_t n = cfg->n_options;
    vpu_status st = VPU_OK;

    if (cfg->checking) { /* findings name variables */
        options = arena_array(scratch, const char *, n + 1);
        for (uint32_t i = 0; i < n; i++)
            options[i] = cfg->options[i];
        options[n++] = "-fno-discard-value-names";
    }
    if (!o->is_bitcode)
        st = fe_compile(o->name, o->text, options, n, cfg->debug != NULL,
                        cfg->log, scratch, &unit, err);
    return st ? st
              : artifact_build(unit.bitcode, unit.n_bytes, o->name, entry,
                               unit.deps, unit.n_deps, host_kind(cfg), &mode,
                               scratch, x, err);
}

/* From the cache, or built and put there. */
static vpu_status obtain(const origin *o, const char *entry,
                         const sim_compile_config *cfg, arena *a,
                         arena *scratch, sim_kernel **out, vpu_error *err)
{
    const char *cached = cache_path(o->name, o->content, o->n, entry,
                                    artifact_host_cpu(scratch), cfg, scratch);
    sim_kernel *k = arena_new(a, sim_kernel);
    sim_sites *sites = NULL;
    artifact x;
    vpu_status st;

    if (cache_get(cached, scratch, &x) &&
        !open_artifact(&x, o->name, cfg, a, k, NULL)) {
        k->from_cache = true;
        *out = k;
        return VPU_OK;
    }
    *k = (sim_kernel){0};
    if (cfg->checking)
        sites = arena_new(a, sim_sites);
    st = build(o, entry, cfg, a, sites, scratch, &x, err);
    if (!st)
        st = open_artifact(&x, o->name, cfg, a, k, err);
    k->sites = sites;
    if (st)
        return st;
    cache_put(cached, &x, scratch);
    *out = k;
    return VPU_OK;
}

vpu_status sim_kernel_compile(const char *source, const char *entry,
                              const sim_compile_config *cfg, arena *a,
                              sim_kernel **out, vpu_error *err)
{
    arena *scratch = arena_create(0);
    origin o = {.name = source};
    char *content;
    vpu_status st =
        file_read(source, MAX_FILE_BYTES, scratch, &content, &o.n, err);

    *out = NULL;
    o.content = content;
    if (!st)
        st = obtain(&o, entry, cfg, a, scratch, out, err);
    arena_destroy(scratch);
    return st;
}

vpu_status sim_kernel_compile_text(const char *name, const char *text,
                                   const char *entry,
                                   const sim_compile_config *cfg, arena *a,
                                   sim_kernel **out, vpu_error *err)
{
    arena *scratch = arena_create(0);
    origin o = {.name = name, .content = text, .n = strlen(text), .text = text};
    vpu_status st;

    *out = NULL;
    st = obtain(&o, entry, cfg, a, scratch, out, err);
    arena_destroy(scratch);
    return st;
}

vpu_status sim_kernel_load(const char *path, const uint8_t *file, size_t n,
                           const char *entry, const sim_compile_config *cfg,
                           arena *a, sim_kernel **out, vpu_error *err)
{
    arena *scratch = arena_create(0);
    origin o = {.name = path, .is_bitcode = true};
    sim_kernel in_file = {0};
    const uint8_t *ir, *object;
    size_t n_object;
    vpu_status st;

    *out = NULL;
    st = artifact_read(file, n, scratch, &in_file, &object, &n_object, err);
    if (!st && !object_find(file, n, ".vpusim.ir", &ir, &o.n))
        st = err_set(err, VPU_ERR_PARSE, "no .vpusim.ir section");
    if (!st && strcmp(in_file.name, entry))
        st = err_set(err, VPU_ERR_COMPILE,
                     "no kernel named '%s'; the file has: %s", entry,
                     in_file.name);
    if (st) {
        err_in(err, st, "%s", path);
    } else {
        o.content = (const char *)ir;
        st = obtain(&o, entry, cfg, a, scratch, out, err);
    }
    arena_destroy(scratch);
    return st;
}

/* A .bin holds no host code: it is the same whatever processor made it. */
static const char *bin_path(const char *source, const char *entry,
                            const sim_compile_config *cfg, arena *a)
{
    char *content;
    size_t n;

    if (file_read(source, MAX_FILE_BYTES, a, &content, &n, NULL))
        return NULL; /* the compiler will say so */
    return cache_path(source, content, n, entry ? entry : "", "bin", cfg, a);
}

vpu_status sim_kernel_build_bin(const char *source, const char *entry,
                                const sim_compile_config *cfg, arena *a,
                                uint8_t **file, size_t *n, vpu_error *err)
{
    const char *cached = bin_path(source, entry, cfg, a);
    const uint8_t *bin;
    char *data;
    size_t n_data;
    static const middle_mode plain = {0};
    fe_unit unit;
    artifact x, wrapped;
    vpu_status st;

    if (cached && !file_read(cached, MAX_FILE_BYTES, a, &data, &n_data, NULL) &&
        artifact_unwrap((uint8_t *)data, n_data, &bin, n)) {
        *file = arena_memdup(a, bin, *n); /* aligned */
        return VPU_OK;
    }
    st = fe_compile(source, NULL, cfg->options, cfg->n_options, false, cfg->log,
                    a, &unit, err);
    if (!st)
        st = artifact_build(unit.bitcode, unit.n_bytes, source, entry, NULL, 0,
                            ARTIFACT_NO_HOST, &plain, a, &x, err);
    if (st)
        return st;
    artifact_wrap(x.file, x.n_bytes, unit.deps, unit.n_deps, a, &wrapped);
    cache_put(cached, &wrapped, a);
    *file = x.file;
    *n = x.n_bytes;
    return VPU_OK;
}

static void *in_arena(void *user, size_t n)
{
    return arena_push(user, n, 1, _Alignof(max_align_t));
}

vpu_status sim_kernel_programs(const sim_kernel *k, arena *a,
                               const isa_function *out[SIM_N_VARIANTS],
                               vpu_error *err)
{
    isa_memory mem = {in_arena, a};
    isa_function *fs = NULL;
    uint32_t n = 0;
    const char *why = isa_decode(k->program, k->program_bytes, &mem, &fs, &n);

    for (int v = 0; v < SIM_N_VARIANTS; v++)
        out[v] = NULL;
    for (uint32_t i = 0; i < n && !why; i++) {
        why = isa_verify(&fs[i], NULL, NULL);
        for (int v = 0; v < SIM_N_VARIANTS; v++)
            if (!strcmp(fs[i].name, sim_variant_name((sim_variant_kind)v)))
                out[v] = &fs[i];
    }
    return why ? err_set(err, VPU_ERR_PARSE, "%s: SHAVE program: %s", k->source,
                         why)
               : VPU_OK;
}

void sim_kernel_release(sim_kernel *k)
{
    if (k) {
        jit_unload(k->jit);
        k->jit = NULL;
    }
}
