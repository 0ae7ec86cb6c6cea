/* Kernels by name: compile, load, and the disk cache in between. */
#include "sim/compiler/kernel.h"

#include <string.h>
#include <sys/stat.h>

#include "sim/base/file.h"
#include "sim/base/str.h"
#include "sim/compiler/artifact.h"
#include "sim/compiler/frontend.h"
#include "sim/compiler/jit.h"
#include "sim/compiler/kcache.h"
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

/* What one use of the cache needs. */
typedef struct {
    bool on;
    kcache_key key;
    const log_sink *log;
} cache_slot;

/* Another build of the program compiles differently under the same version. */
static void add_build(str *s)
{
    struct stat sb;

    if (!stat("/proc/self/exe", &sb))
        str_printf(s, "%lld %lld %ld\n", (long long)sb.st_size,
                   (long long)sb.st_mtim.tv_sec, sb.st_mtim.tv_nsec);
}

static void add_text(str *parts, const char *text)
{
    kcache_part(parts, text, strlen(text));
}

/* Where the result of compiling these bytes with these settings is kept. The
 * path is part of the key because messages name it. */
static cache_slot cache_at(const char *path, const void *content, size_t n,
                           const char *entry, const char *target,
                           const sim_compile_config *cfg, arena *a)
{
    cache_slot slot = {.log = cfg->log};
    str build = {0}, parts = {0};

    if (cfg->no_cache || cfg->track_lines || cfg->debug || cfg->checking)
        return slot;
    str_printf(&build, "%s %d ", VPU_VERSION, SIM_ABI);
    add_build(&build);
    kcache_part(&parts, build.data, build.n);
    kcache_part(&parts, content, n);
    add_text(&parts, path);
    add_text(&parts, entry);
    add_text(&parts, target);
    for (uint32_t i = 0; i < cfg->n_options; i++)
        add_text(&parts, cfg->options[i]);
    add_text(&parts, fe_fingerprint(a));
    slot.key = kcache_key_of(&parts);
    slot.on = true;
    str_free(&build);
    str_free(&parts);
    return slot;
}

static bool cache_get(const cache_slot *slot, arena *a, artifact *out)
{
    if (!slot->on)
        return false;
    out->file = kcache_get(&slot->key, slot->log, a, &out->n_bytes);
    return out->file != NULL;
}

static void cache_put(const cache_slot *slot, const artifact *x)
{
    if (slot->on)
        kcache_put(&slot->key, slot->log, x->file, x->n_bytes);
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

/* Which hooks the code calls. */
static unsigned hook_callers(const sim_compile_config *cfg)
{
    unsigned who = SIM_HOOKS_EVERY;

    if (cfg->debug && cfg->debug->lines)
        who |= SIM_HOOKS_LINES;
    if (cfg->checking)
        who |= SIM_HOOKS_ORDERS;
    if (cfg->checking && !cfg->checking->barriers)
        who |= SIM_HOOKS_CHECKS;
    return who;
}

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
        k->object = arena_memdup(a, object, n);
        k->object_bytes = n;
        st = jit_load(object, n, cfg->hooks, hook_callers(cfg), k, err);
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
    const cache_slot cached =
        cache_at(o->name, o->content, o->n, entry, artifact_host_cpu(scratch),
                 cfg, scratch);
    sim_kernel *k = arena_new(a, sim_kernel);
    sim_sites *sites = NULL;
    artifact x;
    vpu_status st;

    if (cache_get(&cached, scratch, &x) &&
        artifact_deps_hold(x.file, x.n_bytes) &&
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
    cache_put(&cached, &x);
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

struct sim_unit {
    const char *name;
    fe_unit front;
};

vpu_status sim_unit_open(const char *source, const sim_compile_config *cfg,
                         arena *a, sim_unit **out, vpu_error *err)
{
    *out = arena_new(a, sim_unit);
    (*out)->name = arena_strdup(a, source);
    return fe_compile(source, NULL, cfg->options, cfg->n_options, false,
                      cfg->log, a, &(*out)->front, err);
}

vpu_status sim_unit_kernel(const sim_unit *u, const char *entry,
                           const sim_compile_config *cfg, arena *a,
                           sim_kernel **out, vpu_error *err)
{
    arena *scratch = arena_create(0);
    origin o = {.name = u->name,
                .content = u->front.bitcode,
                .n = u->front.n_bytes,
                .is_bitcode = true};
    vpu_status st = obtain(&o, entry, cfg, a, scratch, out, err);

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
static cache_slot bin_slot(const char *source, const char *entry,
                           const sim_compile_config *cfg, arena *a)
{
    char *content;
    size_t n;

    if (file_read(source, MAX_FILE_BYTES, a, &content, &n, NULL))
        return (cache_slot){0}; /* the compiler will say so */
    return cache_at(source, content, n, entry ? entry : "", "bin", cfg, a);
}

vpu_status sim_kernel_build_bin(const char *source, const char *entry,
                                const sim_compile_config *cfg, arena *a,
                                uint8_t **file, size_t *n, vpu_error *err)
{
    const cache_slot cached = bin_slot(source, entry, cfg, a);
    const uint8_t *bin;
    static const middle_mode plain = {0};
    fe_unit unit;
    artifact x, wrapped;
    vpu_status st;

    if (cache_get(&cached, a, &x) &&
        artifact_unwrap(x.file, x.n_bytes, &bin, n)) {
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
    cache_put(&cached, &wrapped);
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
