/* The compiled form as bytes: packed into sections, read back. */
#include "sim/compiler/store/artifact.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/oom.h"
#include "base/file.h"
#include "sim/compiler/store/artifact_priv.h"
#include "sim/compiler/store/neo.h"
#include "sim/compiler/store/object.h"

void artifact_symbol(sim_variant_kind k, char out[32])
{
    snprintf(out, 32, "vpu_%s", sim_variant_name(k));
}

/* Content hash as 32 hex digits. */
static void hash_text(const void *data, size_t n, char out[33])
{
    XXH128_hash_t h = XXH3_128bits(data, n);

    snprintf(out, 33, "%016llx%016llx", (unsigned long long)h.high64,
             (unsigned long long)h.low64);
}

/* --- packing ------------------------------------------------------------- */

typedef struct {
    const char *path;
    char hash[33];
} hashing;

static vpu_status hash_contents(void *user, arena *scratch, vpu_error *err)
{
    hashing *h = user;
    char *data;
    size_t n;
    vpu_status st = file_read(h->path, 64 << 20, scratch, &data, &n, err);

    if (!st)
        hash_text(data, n, h->hash);
    return st;
}

static vpu_status hash_with_scratch(void *user, vpu_error *err)
{
    return oom_scratch(hash_contents, user, err);
}

/* "" where it cannot be read, or memory is short: JSON of ours is held while
 * files are. */
static void hash_file(hashing *h, const char *path)
{
    *h = (hashing){.path = path};
    oom_guard(hash_with_scratch, h, NULL);
}

static json_t *deps_json(const char *const *deps, uint32_t n)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < n; i++) {
        hashing h;

        hash_file(&h, deps[i]);
        json_array_append_new(list, json_pack("[s,s]", deps[i], h.hash));
    }
    return list;
}

static json_t *strings_json(const char *const *strings, uint32_t n)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(list, json_string(strings[i]));
    return list;
}

static json_t *copies_json(const sim_kernel *k)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < k->n_copies; i++) {
        const sim_copy *c = &k->copies[i];

        json_array_append_new(list, json_pack("{s:s,s:i,s:b,s:i,s:s*}", "array",
                                              c->array, "line", (int)c->line,
                                              "in", (int)c->in, "phase",
                                              (int)c->phase, "why", c->why));
    }
    return list;
}

static json_t *info_json(const sim_kernel *k, const artifact_job *job)
{
    json_t *args = json_array(), *variants = json_array();
    json_t *locals = json_array();

    for (uint32_t i = 0; i < k->n_args; i++) {
        const sim_arg *g = &k->args[i];

        json_array_append_new(
            args,
            json_pack("{s:s,s:s,s:i,s:i,s:i,s:i,s:i,s:b,s:b,s:b,s:b}", "name",
                      g->name, "type", g->type, "space", (int)g->space, "bytes",
                      (int)g->bytes, "offset", (int)g->offset, "element",
                      (int)g->element_bytes, "object", (int)g->object_bytes,
                      "float", (int)g->is_float, "signed", (int)g->is_signed,
                      "const", (int)g->is_const, "twice", (int)g->twice));
    }
    for (int v = 0; v < SIM_N_VARIANTS; v++)
        json_array_append_new(
            variants, json_pack("{s:b,s:i,s:i,s:i,s:i}", "present",
                                (int)k->variants[v].present, "factor",
                                (int)k->variants[v].factor, "stack",
                                (int)k->variants[v].stack_bytes, "item",
                                (int)k->variants[v].item_bytes, "bundles",
                                (int)k->variants[v].n_bundles));
    for (uint32_t i = 0; i < k->n_locals; i++)
        json_array_append_new(
            locals, json_pack("{s:s,s:i,s:i,s:b}", "name", k->locals[i].name,
                              "offset", (int)k->locals[i].offset, "bytes",
                              (int)k->locals[i].bytes, "twice",
                              (int)k->locals[i].twice));
    return json_pack(
        "{s:s,s:i,s:s,s:i,s:o,s:i,s:o,s:o,s:i,s:i,s:i,s:[i,i,i],s:b,s:s*,s:s*,"
        "s:o,s:o,s:o,s:b}",
        "kernel", k->name, "line", (int)k->line, "version", VPU_VERSION, "abi",
        SIM_ABI, "args", args, "args_bytes", (int)k->args_bytes, "variants",
        variants, "locals", locals, "local_bytes", (int)k->local_bytes,
        "local_span", (int)k->local_span, "guard", (int)k->guard, "reqd_local",
        (int)k->reqd_local[0], (int)k->reqd_local[1], (int)k->reqd_local[2],
        "atomics", (int)k->global_atomics, "not_vectorized", k->not_vectorized,
        "compiler", job->compiler, "deps", deps_json(job->deps, job->n_deps),
        "options", strings_json(job->options, job->n_options), "copies",
        copies_json(k), "hoisted", (int)k->hoisted);
}

/* Sections that are there: name, bytes. */
typedef struct {
    object_section list[9];
    uint32_t n;
} sections;

static void add(sections *s, const char *name, const void *data, size_t n)
{
    s->list[s->n++] = (object_section){name, data, n};
}

void artifact_pack(const artifact_job *job, const artifact_parts *p, arena *a,
                   artifact *out)
{
    const sim_kernel *k = p->kernel;
    json_t *info = info_json(k, job);
    char *text = json_dumps(info, JSON_COMPACT | JSON_SORT_KEYS), *strings;
    char *sites = p->sites ? artifact_sites_text(p->sites) : NULL;
    size_t n_program = isa_encode(p->programs, p->n_programs, NULL, 0);
    size_t n_meta, n_strings;
    uint8_t *program = arena_push(a, n_program, 1, 16), *meta;
    sections s = {0};

    isa_encode(p->programs, p->n_programs, program, n_program);
    neo_build(k, a, &meta, &n_meta, &strings, &n_strings);
    add(&s, ".neo_metadata", meta, n_meta);
    add(&s, ".neo_metadata.str", strings, n_strings);
    add(&s, ".vpusim.info", text, strlen(text));
    if (job->source)
        add(&s, ".vpusim.source", job->source, strlen(job->source));
    add(&s, ".vpusim.program", program, n_program);
    add(&s, ".vpusim.const", k->const_data, k->const_bytes);
    if (p->object)
        add(&s, ".vpusim.host", p->object, p->n_object);
    if (sites)
        add(&s, ".vpusim.sites", sites, strlen(sites));
    if (p->lines->n)
        add(&s, ".vpusim.lines", p->lines->data, p->lines->n);
    out->file = object_build(s.list, s.n, a, &out->n_bytes);
    free(sites);
    free(text);
    json_decref(info);
}

/* --- reading back -------------------------------------------------------- */

static json_t *read_info(const uint8_t *file, size_t n)
{
    const uint8_t *data;
    size_t size;

    if (!object_find(file, n, ".vpusim.info", &data, &size))
        return NULL;
    return json_loadb((const char *)data, size, 0, NULL);
}

bool artifact_holds(const uint8_t *file, size_t n, const char *compiler)
{
    json_t *info = read_info(file, n), *d;
    const char *by = json_string_value(json_object_get(info, "compiler"));
    bool hold = info && (!by || !compiler || !strcmp(by, compiler));
    size_t i;

    json_array_foreach(json_object_get(info, "deps"), i, d)
    {
        const char *path = json_string_value(json_array_get(d, 0));
        const char *want = json_string_value(json_array_get(d, 1));
        hashing h = {.path = NULL};

        if (path)
            hash_file(&h, path);
        hold &= want && *want && !strcmp(want, h.hash);
    }
    json_decref(info);
    return hold;
}

void artifact_wrap(const artifact_job *job, const uint8_t *bin, size_t n_bytes,
                   arena *a, artifact *out)
{
    json_t *info =
        json_pack("{s:o,s:s*}", "deps", deps_json(job->deps, job->n_deps),
                  "compiler", job->compiler);
    char *text = json_dumps(info, JSON_COMPACT);
    object_section list[] = {{".vpusim.info", text, strlen(text)},
                             {".vpusim.bin", bin, n_bytes}};

    out->file = object_build(list, 2, a, &out->n_bytes);
    free(text);
    json_decref(info);
}

bool artifact_unwrap(const uint8_t *file, size_t n_bytes, const char *compiler,
                     const uint8_t **bin, size_t *n)
{
    return object_find(file, n_bytes, ".vpusim.bin", bin, n) &&
           artifact_holds(file, n_bytes, compiler);
}

static uint32_t get_u32(json_t *o, const char *key, bool *ok)
{
    json_t *v = json_object_get(o, key);
    json_int_t i = json_integer_value(v);

    if (!json_is_integer(v) || i < 0 || i > INT32_MAX)
        *ok = false;
    return (uint32_t)i;
}

static const char *get_string(json_t *o, const char *key, arena *a, bool *ok)
{
    const char *s = json_string_value(json_object_get(o, key));

    if (!s)
        *ok = false;
    return arena_strdup(a, s ? s : "");
}

static void read_options(json_t *list, arena *a, sim_kernel *k)
{
    const char **options;
    json_t *o;
    size_t i;

    k->n_options = (uint32_t)json_array_size(list);
    options = arena_array(a, const char *, k->n_options + 1);
    json_array_foreach(list, i, o)
    {
        const char *s = json_string_value(o);

        options[i] = arena_strdup(a, s ? s : "");
    }
    k->options = options;
}

/* Arrays and what lies behind them, in the place they say they have. */
static bool guards_fit(const sim_kernel *k)
{
    uint64_t most = (uint64_t)k->local_bytes +
                    2 * SIM_LOCAL_GUARD * (uint64_t)SIM_MAX_GUARDS;
    bool ok = k->local_span <= most &&
              (!k->guard ||
               (k->guard == SIM_LOCAL_GUARD && k->n_locals <= SIM_MAX_GUARDS));

    for (uint32_t i = 0; i < k->n_locals; i++)
        ok &= (uint64_t)k->locals[i].offset + k->locals[i].bytes + k->guard <=
              k->local_span;
    return ok;
}

/* A .bin made before copies were told of has none. */
static void read_copies(json_t *list, arena *a, sim_kernel *k, bool *ok)
{
    json_t *o;
    size_t i;

    k->n_copies = (uint32_t)json_array_size(list);
    k->copies = arena_array(a, sim_copy, k->n_copies + 1);
    json_array_foreach(list, i, o)
    {
        const char *why = json_string_value(json_object_get(o, "why"));
        uint32_t phase = get_u32(o, "phase", ok);

        *ok &= phase < SIM_N_VARIANTS;
        k->copies[i] = (sim_copy){.array = get_string(o, "array", a, ok),
                                  .line = get_u32(o, "line", ok),
                                  .in = json_is_true(json_object_get(o, "in")),
                                  .phase = (sim_variant_kind)phase,
                                  .why = why ? arena_strdup(a, why) : NULL};
    }
}

static bool describe(json_t *info, arena *a, sim_kernel *k)
{
    json_t *args = json_object_get(info, "args"), *o;
    json_t *variants = json_object_get(info, "variants");
    json_t *locals = json_object_get(info, "locals");
    const char *why =
        json_string_value(json_object_get(info, "not_vectorized"));
    bool ok = true;
    size_t i;

    k->name = get_string(info, "kernel", a, &ok);
    k->line = get_u32(info, "line", &ok);
    k->n_args = (uint32_t)json_array_size(args);
    ok &= k->n_args <= SIM_MAX_ARGS;
    k->args = arena_array(a, sim_arg, k->n_args + 1);
    k->args_bytes = get_u32(info, "args_bytes", &ok);
    json_array_foreach(args, i, o)
    {
        sim_arg *g = &k->args[i];

        g->name = get_string(o, "name", a, &ok);
        g->type = get_string(o, "type", a, &ok);
        g->space = (sim_arg_space)get_u32(o, "space", &ok);
        g->bytes = get_u32(o, "bytes", &ok);
        g->offset = get_u32(o, "offset", &ok);
        g->element_bytes = get_u32(o, "element", &ok);
        g->object_bytes = get_u32(o, "object", &ok);
        g->is_float = json_is_true(json_object_get(o, "float"));
        g->is_signed = json_is_true(json_object_get(o, "signed"));
        g->is_const = json_is_true(json_object_get(o, "const"));
        g->twice = json_is_true(json_object_get(o, "twice"));
        ok &= g->space <= SIM_ARG_LOCAL && g->bytes <= 128 &&
              k->args_bytes <= 65536 &&
              (!g->object_bytes || g->space == SIM_ARG_CONSTANT) &&
              (uint64_t)g->offset + g->bytes <= k->args_bytes;
    }
    ok &= json_array_size(variants) == SIM_N_VARIANTS;
    json_array_foreach(variants, i, o)
    {
        sim_variant *v = &k->variants[i % SIM_N_VARIANTS];

        v->present = json_is_true(json_object_get(o, "present"));
        v->factor = get_u32(o, "factor", &ok);
        v->stack_bytes = get_u32(o, "stack", &ok);
        v->item_bytes = get_u32(o, "item", &ok);
        v->n_bundles = get_u32(o, "bundles", &ok);
        ok &= !v->present || (v->factor && SIM_MOST_FACTOR % v->factor == 0);
    }
    k->n_locals = (uint32_t)json_array_size(locals);
    k->locals = arena_array(a, sim_local_array, k->n_locals + 1);
    json_array_foreach(locals, i, o)
    {
        k->locals[i].name = get_string(o, "name", a, &ok);
        k->locals[i].offset = get_u32(o, "offset", &ok);
        k->locals[i].bytes = get_u32(o, "bytes", &ok);
        k->locals[i].twice = json_is_true(json_object_get(o, "twice"));
    }
    k->local_bytes = get_u32(info, "local_bytes", &ok);
    k->local_span = k->local_bytes; /* of a .bin made before guards */
    if (json_object_get(info, "guard")) {
        k->local_span = get_u32(info, "local_span", &ok);
        k->guard = get_u32(info, "guard", &ok);
    }
    ok &= guards_fit(k);
    for (i = 0; i < 3; i++)
        k->reqd_local[i] = (uint32_t)json_integer_value(
            json_array_get(json_object_get(info, "reqd_local"), i));
    k->global_atomics = json_is_true(json_object_get(info, "atomics"));
    k->not_vectorized = arena_strdup(a, why);
    k->hoisted = json_is_true(json_object_get(info, "hoisted"));
    read_copies(json_object_get(info, "copies"), a, k, &ok);
    read_options(json_object_get(info, "options"), a, k);
    return ok && k->variants[SIM_SCALAR].present;
}

vpu_status artifact_read(const uint8_t *file, size_t n, arena *a, sim_kernel *k,
                         artifact_object *host, vpu_error *err)
{
    json_t *info = read_info(file, n);
    const uint8_t *data;
    size_t size;
    bool ok = info && describe(info, a, k);

    if (ok && object_find(file, n, ".vpusim.const", &data, &size)) {
        k->const_data = arena_memdup(a, data, size);
        k->const_bytes = (uint32_t)size;
    }
    if (ok && object_find(file, n, ".vpusim.program", &data, &size)) {
        k->program = arena_memdup(a, data, size);
        k->program_bytes = size;
    }
    if (ok && object_find(file, n, ".vpusim.sites", &data, &size)) {
        sim_sites *sites = arena_new(a, sim_sites);

        ok = artifact_sites_read((const char *)data, size, a, sites);
        k->sites = sites;
    }
    if (ok && object_find(file, n, ".vpusim.lines", &data, &size)) {
        k->lines = arena_strndup(a, (const char *)data, size);
        k->lines_bytes = size;
    }
    if (host)
        *host = (artifact_object){0};
    if (host && ok &&
        json_integer_value(json_object_get(info, "abi")) == SIM_ABI)
        object_find(file, n, ".vpusim.host", &host->bytes, &host->n);
    json_decref(info);
    return ok ? VPU_OK
              : err_set(err, VPU_ERR_PARSE,
                        "not a compiled kernel of ours, "
                        "or damaged");
}
