/* Kernels by name: compile, load, and the disk cache in between. */
#include "sim/compiler/kernel.h"

#include <link.h>
#include <string.h>
#include <sys/stat.h>

#include "base/oom.h"
#include "base/file.h"
#include "base/str.h"
#include "sim/compiler/front/frontend.h"
#include "sim/compiler/front/source.h"
#include "sim/compiler/middle/middle.h"
#include "sim/compiler/store/artifact.h"
#include "sim/compiler/store/jit.h"
#include "sim/compiler/store/kcache.h"
#include "sim/compiler/store/object.h"

enum { MAX_FILE_BYTES = 256 << 20 };

/* --- the cache ----------------------------------------------------------- */

/* What one use of the cache needs. */
typedef struct {
    bool on;
    kcache_key key;
    const log_sink *log;
} cache_slot;

/* Does this code lie in that object? Then its name: "" is the program's. */
static int is_ours(struct dl_phdr_info *o, size_t n, void *name)
{
    uintptr_t here = (uintptr_t)&is_ours;

    (void)n;
    for (int i = 0; i < o->dlpi_phnum; i++) {
        uintptr_t first = o->dlpi_addr + o->dlpi_phdr[i].p_vaddr;

        if (o->dlpi_phdr[i].p_type == PT_LOAD && here >= first &&
            here - first < o->dlpi_phdr[i].p_memsz) {
            *(const char **)name = o->dlpi_name;
            return 1;
        }
    }
    return 0;
}

/* Another build of the program, or of the library in one of somebody else's,
 * compiles differently under the same version. */
static void add_build(str *s)
{
    const char *name = "";
    struct stat sb;

    dl_iterate_phdr(is_ours, &name);
    if (!stat(*name ? name : "/proc/self/exe", &sb))
        str_printf(s, "%lld %lld %ld\n", (long long)sb.st_size,
                   (long long)sb.st_mtim.tv_sec, sb.st_mtim.tv_nsec);
}

static void add_text(str *parts, const char *text)
{
    kcache_part(parts, text, strlen(text));
}

/* What a kernel is made from, read: OpenCL C, from a file or from memory, or
 * what the front end made of a file. */
typedef struct {
    const char *name;    /* path, for messages and the cache's key */
    const char *entry;   /* NULL: the only kernel */
    const char *content; /* what is hashed */
    size_t n;
    const char *text;         /* OpenCL C that is in no file; else NULL */
    const kernel_part *parts; /* and further texts, n_parts of them */
    uint32_t n_parts;
    bool is_bitcode;
} origin;

/* Such code has one variant. */
static const uint32_t *local_of(const kernel_compile_config *cfg)
{
    return cfg->debug || cfg->checking || !cfg->hooks ? NULL : cfg->local;
}

/* What else than a run the code is for. */
static const char *purpose(const kernel_compile_config *cfg, arena *a)
{
    const sim_checking *c = cfg->checking;
    const char *structures = cfg->user.structures ? " structures" : "";

    return c ? arena_printf(a, "checking taint %d nan %d barriers %d%s",
                            c->taint, c->nan, c->barriers, structures)
             : arena_printf(a, "%s%s", cfg->track_lines ? "lines" : "",
                            structures);
}

/* Where the result of compiling it for target with these settings is kept. The
 * path is part of the key because messages name it. */
static cache_slot cache_at(const origin *o, const char *target,
                           const kernel_compile_config *cfg, arena *a)
{
    cache_slot slot = {.log = cfg->log};
    str build = {.arena = a}, parts = {.arena = a};
    const uint32_t *local = local_of(cfg);

    if (cfg->user.no_cache || cfg->debug)
        return slot;
    str_printf(&build, "%s %d ", VPU_VERSION, SIM_ABI);
    add_build(&build);
    kcache_part(&parts, build.data, build.n);
    kcache_part(&parts, o->content, o->n);
    add_text(&parts, o->name);
    add_text(&parts, o->entry ? o->entry : "");
    add_text(&parts, target);
    add_text(&parts, purpose(cfg, a));
    add_text(&parts,
             local ? arena_printf(a, "local %u", sim_size_class(local)) : "");
    for (uint32_t i = 0; i < cfg->user.n_options; i++)
        add_text(&parts, cfg->user.options[i]);
    for (uint32_t i = 0; i < o->n_parts; i++) {
        const kernel_part *p = &o->parts[i];

        add_text(&parts, p->path);
        add_text(&parts, p->text);
        for (uint32_t k = 0; k < p->n_options; k++)
            add_text(&parts, p->options[k]);
    }
    add_text(&parts, fe_fingerprint(a));
    slot.key = kcache_key_of(&parts);
    slot.on = true;
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

static artifact_host host_kind(const kernel_compile_config *cfg)
{
    return cfg->debug         ? ARTIFACT_HOST_DEBUG
           : cfg->checking    ? ARTIFACT_HOST_CHECKED
           : cfg->track_lines ? ARTIFACT_HOST_LINES
           : cfg->hooks       ? ARTIFACT_HOST
                              : ARTIFACT_NO_HOST;
}

/* --- kernels ------------------------------------------------------------- */

/* Which hooks the code calls. */
static unsigned hook_callers(const kernel_compile_config *cfg)
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
                                const kernel_compile_config *cfg, arena *a,
                                sim_kernel *k, vpu_error *err)
{
    artifact_object host;
    vpu_status st = artifact_read(x->file, x->n_bytes, a, k, &host, err);

    k->source = arena_strdup(a, path);
    if (!st && cfg->hooks) {
        if (!host.bytes)
            return err_set(err, VPU_ERR_PARSE, "%s: no host code", path);
        k->debug = cfg->debug != NULL;
        k->roomy = cfg->debug || cfg->checking;
        k->object = arena_memdup(a, host.bytes, host.n);
        k->object_bytes = host.n;
        st = jit_load(k->object, k->object_bytes, cfg->hooks, hook_callers(cfg),
                      local_of(cfg), k, err);
    }
    return st ? err_in(err, st, "%s", path) : VPU_OK;
}

static fe_job front_of(const char *path, const char *text,
                       const kernel_compile_config *cfg)
{
    return (fe_job){.path = path,
                    .text = text,
                    .options = cfg->user.options,
                    .n_options = cfg->user.n_options,
                    .debug = cfg->debug != NULL,
                    .limits = cfg->user.limits,
                    .log = cfg->log};
}

/* The front end's words: those given, and what checkers need besides. */
static void take_options(fe_job *front, const char *const *given, uint32_t n,
                         bool checking, arena *a)
{
    const char **options = arena_array(a, const char *, n + 1);

    if (n)
        memcpy(options, given, n * sizeof *given);
    if (checking) /* findings name variables */
        options[n++] = "-fno-discard-value-names";
    front->options = options;
    front->n_options = n;
}

static void add_deps(fe_unit *to, const fe_unit *from, arena *a)
{
    const char **all = arena_array(a, const char *, to->n_deps + from->n_deps);

    if (to->n_deps)
        memcpy(all, to->deps, to->n_deps * sizeof *all);
    if (from->n_deps)
        memcpy(all + to->n_deps, from->deps, from->n_deps * sizeof *all);
    to->deps = all;
    to->n_deps += from->n_deps;
}

/* The first text's unit becomes that of all. */
static vpu_status link_parts(const origin *o, const kernel_compile_config *cfg,
                             arena *a, fe_unit *unit, vpu_error *err)
{
    middle_bitcode *from = arena_array(a, middle_bitcode, o->n_parts + 1), all;
    vpu_status st = VPU_OK;

    from[0] = (middle_bitcode){o->name, unit->bitcode, unit->n_bytes};
    for (uint32_t i = 0; i < o->n_parts && !st; i++) {
        const kernel_part *p = &o->parts[i];
        fe_job front = front_of(p->path, p->text, cfg);
        fe_unit more;

        take_options(&front, p->options, p->n_options, cfg->checking, a);
        st = fe_compile(&front, a, &more, err);
        if (st)
            return st;
        from[i + 1] = (middle_bitcode){p->path, more.bitcode, more.n_bytes};
        add_deps(unit, &more, a);
    }
    st = middle_link(from, o->n_parts + 1, a, &all, err);
    if (!st) {
        unit->bitcode = (char *)all.bytes;
        unit->n_bytes = all.n;
    }
    return st;
}

/* One kernel on its way to the compiled form. */
typedef struct {
    const origin *o;
    const kernel_compile_config *cfg;
    arena *scratch;
    artifact *out;
    artifact_job job;
    task_copy *early;
    bool is_given; /* what clang made, to early */
} building;

/* LLVM takes as long to load as clang takes to start. */
static void begin_early(void *user)
{
    building *b = user;

    if (b->early && !b->is_given)
        return;
    task_drop(b->early); /* clang runs again, and makes something else */
    b->early = NULL;
    b->is_given = false;
    b->early = artifact_begin(&b->job);
}

static void take_unit(building *b, const fe_unit *unit)
{
    b->job.bitcode = unit->bitcode;
    b->job.n_bytes = unit->n_bytes;
    b->job.deps = unit->deps;
    b->job.n_deps = unit->n_deps;
}

/* clang takes longer to end than many a pass. */
static void give_early(void *user, const fe_unit *unit)
{
    building *b = user;

    if (!b->early || b->o->n_parts)
        return; /* the parts are to be linked first */
    take_unit(b, unit);
    artifact_give(&b->job, b->early, b->scratch);
    b->is_given = true;
}

static void drop_early(void *user)
{
    building *b = user;

    task_drop(b->early);
}

static vpu_status build_with(void *user, vpu_error *err)
{
    building *b = user;
    const origin *o = b->o;
    const kernel_compile_config *cfg = b->cfg;
    fe_unit unit = {.bitcode = (char *)o->content, .n_bytes = o->n};
    fe_job front = front_of(o->name, o->text, cfg);
    vpu_status st = VPU_OK;

    front.meanwhile = (fe_meanwhile){begin_early, give_early, b};
    take_options(&front, cfg->user.options, cfg->user.n_options, cfg->checking,
                 b->scratch);
    if (!o->is_bitcode)
        st = fe_compile(&front, b->scratch, &unit, err);
    if (!st && o->n_parts)
        st = link_parts(o, cfg, b->scratch, &unit, err);
    if (st)
        return st;
    take_unit(b, &unit);
    return artifact_build(&b->job, &b->early, b->scratch, b->out, err);
}

static vpu_status build(const origin *o, const kernel_compile_config *cfg,
                        arena *scratch, artifact *x, vpu_error *err)
{
    building b = {.o = o,
                  .cfg = cfg,
                  .scratch = scratch,
                  .out = x,
                  .job = {.path = o->name,
                          .entry = o->entry,
                          .kind = host_kind(cfg),
                          .debug = cfg->debug,
                          .checking = cfg->checking,
                          .structures = cfg->user.structures,
                          .local = local_of(cfg),
                          .compiler = fe_clang_fingerprint(scratch),
                          .limits = cfg->user.limits}};

    return oom_finally(build_with, drop_early, &b, err);
}

typedef struct {
    const origin *o;
    const kernel_compile_config *cfg;
    arena *a;
    sim_kernel **out;
} obtaining;

static vpu_status obtain_with(void *user, arena *scratch, vpu_error *err)
{
    const obtaining *w = user;
    const kernel_compile_config *cfg = w->cfg;
    const cache_slot cached =
        cache_at(w->o, cfg->hooks ? artifact_host_cpu(scratch) : "no host", cfg,
                 scratch);
    sim_kernel *k = arena_new(w->a, sim_kernel);
    artifact x;
    vpu_status st = VPU_OK;

    k->from_cache =
        cache_get(&cached, scratch, &x) &&
        artifact_holds(x.file, x.n_bytes, fe_clang_fingerprint(scratch)) &&
        !open_artifact(&x, w->o->name, cfg, w->a, k, NULL);
    if (!k->from_cache) {
        *k = (sim_kernel){0};
        st = build(w->o, cfg, scratch, &x, err);
        if (!st)
            st = open_artifact(&x, w->o->name, cfg, w->a, k, err);
        if (!st)
            cache_put(&cached, &x);
    }
    if (!st)
        *w->out = k;
    return st;
}

/* From the cache, or built and put there. */
static vpu_status obtain(const origin *o, const kernel_compile_config *cfg,
                         arena *a, sim_kernel **out, vpu_error *err)
{
    *out = NULL;
    return oom_scratch(obtain_with, &(obtaining){o, cfg, a, out}, err);
}

struct kernel_unit {
    const char *name;
    fe_unit front;
};

static origin text_origin(const kernel_source *source, const char *text)
{
    return (origin){.name = source->path,
                    .entry = source->entry,
                    .content = text,
                    .n = strlen(text),
                    .text = text,
                    .parts = source->parts,
                    .n_parts = source->n_parts};
}

/* Passes lines on, and counts those that are no notes. */
typedef struct {
    const log_sink *to;
    uint32_t n;
} counting;

static void count_line(void *user, log_level level, const char *text)
{
    counting *c = user;

    c->n += level != LOG_NOTE;
    if (c->to && c->to->line)
        c->to->line(c->to->user, level, text);
}

/* A text's bitcode is kept like kernels are, unless clang warns of something,
 * which it is to say each time. */
static vpu_status front_end(const kernel_source *source,
                            const kernel_compile_config *cfg, arena *a,
                            fe_unit *out, vpu_error *err)
{
    counting warnings = {cfg->log, 0};
    const log_sink log = {.line = count_line, .user = &warnings};
    fe_job job = front_of(source->path, source->text, cfg);
    const origin o = text_origin(source, source->text ? source->text : "");
    cache_slot slot = {0};
    artifact kept;
    const uint8_t *bitcode;
    vpu_status st;

    *out = (fe_unit){0};
    if (source->text)
        slot = cache_at(&o, "unit", cfg, a);
    if (cache_get(&slot, a, &kept) &&
        artifact_unwrap(kept.file, kept.n_bytes, fe_clang_fingerprint(a),
                        &bitcode, &out->n_bytes)) {
        out->bitcode = arena_memdup(a, bitcode, out->n_bytes);
        return VPU_OK;
    }
    job.log = &log;
    st = fe_compile(&job, a, out, err);
    if (!st && slot.on && !warnings.n) {
        artifact_wrap(
            &(const artifact_job){.deps = out->deps,
                                  .n_deps = out->n_deps,
                                  .compiler = fe_clang_fingerprint(a)},
            (const uint8_t *)out->bitcode, out->n_bytes, a, &kept);
        cache_put(&slot, &kept);
    }
    return st;
}

vpu_status kernel_unit_of_text(const kernel_source *source,
                               const kernel_compile_config *cfg, arena *a,
                               kernel_unit **out, vpu_error *err)
{
    *out = arena_new(a, kernel_unit);
    (*out)->name = arena_strdup(a, source->path);
    return front_end(source, cfg, a, &(*out)->front, err);
}

vpu_status kernel_unit_open(const char *source,
                            const kernel_compile_config *cfg, arena *a,
                            kernel_unit **out, vpu_error *err)
{
    return kernel_unit_of_text(&(const kernel_source){.path = source}, cfg, a,
                               out, err);
}

vpu_status kernel_unit_link(const kernel_unit *const *parts, uint32_t n,
                            arena *a, kernel_unit **out, vpu_error *err)
{
    middle_bitcode *from = arena_array(a, middle_bitcode, n), all;
    vpu_status st;

    for (uint32_t i = 0; i < n; i++)
        from[i] = (middle_bitcode){parts[i]->name, parts[i]->front.bitcode,
                                   parts[i]->front.n_bytes};
    *out = arena_new(a, kernel_unit);
    st = middle_link(from, n, a, &all, err);
    if (st)
        return st;
    (*out)->name = arena_strdup(a, parts[0]->name);
    (*out)->front.bitcode = (char *)all.bytes;
    (*out)->front.n_bytes = all.n;
    return VPU_OK;
}

vpu_status kernel_unit_kernels(const kernel_unit *u, arena *a,
                               const sim_signature **out, uint32_t *n,
                               vpu_error *err)
{
    const middle_bitcode b = {u->name, u->front.bitcode, u->front.n_bytes};

    return middle_kernels(&b, a, out, n, err);
}

vpu_status kernel_of_unit(const kernel_unit *u, const char *entry,
                          const kernel_compile_config *cfg, arena *a,
                          sim_kernel **out, vpu_error *err)
{
    const origin o = {.name = u->name,
                      .entry = entry,
                      .content = u->front.bitcode,
                      .n = u->front.n_bytes,
                      .is_bitcode = true};

    return obtain(&o, cfg, a, out, err);
}

static vpu_status of_text(const kernel_source *source, const char *text,
                          const kernel_compile_config *cfg, arena *a,
                          sim_kernel **out, vpu_error *err)
{
    const origin o = text_origin(source, text);

    return obtain(&o, cfg, a, out, err);
}

static vpu_status read_origin(const kernel_source *file, arena *a, origin *o,
                              vpu_error *err)
{
    char *content = NULL;
    vpu_status st;

    *o = (origin){.name = file->path, .entry = file->entry};
    st = file_read(file->path, MAX_FILE_BYTES, a, &content, &o->n, err);
    o->content = content;
    return st;
}

typedef struct {
    const kernel_source *source;
    const kernel_compile_config *cfg;
    arena *a;
    sim_kernel **out;
} reading;

static vpu_status of_file(void *user, arena *scratch, vpu_error *err)
{
    const reading *r = user;
    origin o;
    vpu_status st = read_origin(r->source, scratch, &o, err);

    return st ? st : obtain(&o, r->cfg, r->a, r->out, err);
}

/* A .bin may say only such as change how its text is read. */
static bool is_of_text(const char *option)
{
    return !strncmp(option, "-cl-", 4);
}

/* The text of a .bin, and what the file says of its kernel. */
static vpu_status read_bin(const kernel_source *bin, arena *a,
                           sim_kernel *in_file, char **text, vpu_error *err)
{
    const uint8_t *source;
    size_t n_source;
    vpu_status st =
        artifact_read(bin->bin, bin->bin_bytes, a, in_file, NULL, err);

    if (st)
        return st;
    if (!object_find(bin->bin, bin->bin_bytes, ".vpusim.source", &source,
                     &n_source))
        return err_set(err, VPU_ERR_PARSE, "no .vpusim.source section");
    if (bin->entry && strcmp(in_file->name, bin->entry))
        return err_set(err, VPU_ERR_COMPILE,
                       "no kernel named '%s'; the file has: %s", bin->entry,
                       in_file->name);
    for (uint32_t i = 0; i < in_file->n_options; i++)
        if (!is_of_text(in_file->options[i]))
            return err_set(err, VPU_ERR_PARSE, "option '%s', expected -cl-…",
                           in_file->options[i]);
    return source_check(source, n_source, a, text, err);
}

static vpu_status of_bin(void *user, arena *scratch, vpu_error *err)
{
    const reading *r = user;
    kernel_compile_config own = *r->cfg;
    sim_kernel in_file = {0};
    char *text;
    vpu_status st = read_bin(r->source, scratch, &in_file, &text, err);

    if (st)
        return err_in(err, st, "%s", r->source->path);
    own.user.options = in_file.options;
    own.user.n_options = in_file.n_options;
    return of_text(r->source, text, &own, r->a, r->out, err);
}

vpu_status kernel_compile(const kernel_source *source,
                          const kernel_compile_config *cfg, arena *a,
                          sim_kernel **out, vpu_error *err)
{
    reading r = {source, cfg, a, out};

    *out = NULL;
    if (source->text)
        return of_text(source, source->text, cfg, a, out, err);
    return oom_scratch(source->bin ? of_bin : of_file, &r, err);
}

vpu_status kernel_describe(const kernel_source *bin, arena *a, sim_kernel **out,
                           vpu_error *err)
{
    vpu_status st;

    *out = arena_new(a, sim_kernel);
    st = artifact_read(bin->bin, bin->bin_bytes, a, *out, NULL, err);
    (*out)->source = arena_strdup(a, bin->path);
    return st ? err_in(err, st, "%s", bin->path) : VPU_OK;
}

/* A .bin holds no host code: it is the same whatever processor made it. */
static cache_slot bin_slot(const kernel_source *file,
                           const kernel_compile_config *cfg, arena *a)
{
    origin o;

    if (file->text)
        o = text_origin(file, file->text);
    else if (read_origin(file, a, &o, NULL))
        return (cache_slot){0}; /* the compiler will say so */
    return cache_at(&o, "bin", cfg, a);
}

/* From the text it will carry, so that it says what will run. The source itself
 * is compiled before for its messages and the files it includes. */
static vpu_status build_bin(const kernel_source *file,
                            const kernel_compile_config *cfg, arena *a,
                            artifact *x, fe_unit *unit, vpu_error *err)
{
    fe_job front = front_of(file->path, file->text, cfg);
    artifact_job job = {.path = file->path,
                        .entry = file->entry,
                        .kind = ARTIFACT_NO_HOST,
                        .structures = cfg->user.structures,
                        .limits = cfg->user.limits};
    const char **options =
        arena_array(a, const char *, cfg->user.n_options + 1);
    fe_unit plain;
    char *text;
    vpu_status st = fe_compile(&front, a, unit, err);

    if (!st)
        st = fe_preprocess(&front, a, &text, err);
    if (st)
        return st;
    for (uint32_t i = 0; i < cfg->user.n_options; i++)
        if (is_of_text(cfg->user.options[i]))
            options[job.n_options++] = cfg->user.options[i];
    front.text = job.source = text;
    front.options = job.options = options;
    front.n_options = job.n_options;
    front.log = NULL;
    st = fe_compile(&front, a, &plain, err);
    if (st)
        return st;
    job.bitcode = plain.bitcode;
    job.n_bytes = plain.n_bytes;
    return artifact_build(&job, NULL, a, x, err);
}

vpu_status kernel_build_bin(const kernel_source *file,
                            const kernel_compile_config *cfg, arena *a,
                            kernel_bin *out, vpu_error *err)
{
    const cache_slot cached = bin_slot(file, cfg, a);
    const uint8_t *bin;
    fe_unit unit;
    artifact x, wrapped;
    vpu_status st;

    if (cache_get(&cached, a, &x) &&
        artifact_unwrap(x.file, x.n_bytes, fe_clang_fingerprint(a), &bin,
                        &out->n)) {
        out->bytes = arena_memdup(a, bin, out->n); /* aligned */
        return VPU_OK;
    }
    st = build_bin(file, cfg, a, &x, &unit, err);
    if (st)
        return st;
    artifact_wrap(&(const artifact_job){.deps = unit.deps,
                                        .n_deps = unit.n_deps,
                                        .compiler = fe_clang_fingerprint(a)},
                  x.file, x.n_bytes, a, &wrapped);
    cache_put(&cached, &wrapped);
    *out = (kernel_bin){x.file, x.n_bytes};
    return VPU_OK;
}

vpu_status kernel_programs(const sim_kernel *k, arena *a,
                           const isa_function *out[SIM_N_VARIANTS],
                           vpu_error *err)
{
    isa_memory mem = {arena_bytes, a};
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

void kernel_release(sim_kernel *k)
{
    if (k) {
        jit_unload(k->jit);
        k->jit = NULL;
    }
}
