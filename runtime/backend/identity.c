/* Nothing here may depend on paths, locale or the machine: it is compared on
 * another one. */
#include "runtime/backend/identity.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/file.h"
#include "runtime/backend/source.h"

enum { MAX_DEPTH = 32 };
#define MAX_SOURCE ((size_t)64 << 20)

/* --- kernels ------------------------------------------------------------- */

static vpu_status hash_file(arena *a, const char *path, int depth,
                            XXH64_state_t *h, vpu_error *err);

/* Files a source includes by "name" stand beside it; others, and those that
 * are not there, are the compiler's affair. */
static vpu_status hash_includes(arena *a, const char *path, const char *text,
                                int depth, XXH64_state_t *h, vpu_error *err)
{
    char *dir = file_dirname(a, path);
    vpu_status st = VPU_OK;

    for (const char *line = text; line && !st; line = strchr(line, '\n')) {
        const char *p = line + (*line == '\n'), *end;
        char *name;

        line = p;
        p += strspn(p, " \t");
        if (*p != '#')
            continue;
        p += 1 + strspn(p + 1, " \t");
        if (strncmp(p, "include", 7))
            continue;
        p += 7 + strspn(p + 7, " \t");
        end = *p == '"' ? strpbrk(p + 1, "\"\n") : NULL;
        if (!end || *end != '"')
            continue;
        name =
            file_join(a, dir, arena_strndup(a, p + 1, (size_t)(end - p - 1)));
        if (file_exists(name))
            st = hash_file(a, name, depth + 1, h, err);
    }
    return st;
}

static vpu_status hash_file(arena *a, const char *path, int depth,
                            XXH64_state_t *h, vpu_error *err)
{
    char *data;
    size_t n;
    vpu_status st;

    if (depth > MAX_DEPTH)
        return err_set(err, VPU_ERR_LIMIT, "%s: includes more than %d deep",
                       path, MAX_DEPTH);
    st = file_read(path, MAX_SOURCE, a, &data, &n, err);
    if (st)
        return st;
    XXH64_update(h, file_basename(path), strlen(file_basename(path)) + 1);
    XXH64_update(h, data, n);
    return hash_includes(a, path, data, depth, h, err);
}

vpu_status backend_identity_kernel(const backend_config *cfg,
                                   const graph_launch *l, arena *a,
                                   uint64_t *out, vpu_error *err)
{
    XXH64_state_t *h = XXH64_createState();
    vpu_status st = VPU_OK;
    backend_source src;

    if (!h)
        return err_set(err, VPU_ERR_NOMEM, "no memory for a hash");
    XXH64_reset(h, 0);
    if (l->native)
        XXH64_update(h, l->entry, strlen(l->entry) + 1);
    if (l->text)
        XXH64_update(h, l->text, strlen(l->text));
    if (l->given)
        XXH64_update(h, l->given, strlen(l->given));
    for (uint32_t i = 0; i < l->n_linked; i++) {
        const graph_text *t = &l->linked[i];

        XXH64_update(h, t->text, strlen(t->text));
        for (uint32_t k = 0; k < t->n_options; k++)
            XXH64_update(h, t->options[k], strlen(t->options[k]) + 1);
    }
    if (l->bin)
        XXH64_update(h, l->bin, l->n_bin);
    for (uint32_t i = 0;
         i < l->n_sources && !l->text && !l->given && !l->bin && !st; i++) {
        st = backend_source_find(&(const backend_source_name){l->sources[i],
                                                              cfg->source_dir,
                                                              l->file, l->line},
                                 a, &src, err);
        if (!st && src.kind == SOURCE_OUR_BIN)
            XXH64_update(h, src.file, src.n_bytes);
        else if (!st)
            st = hash_file(a, src.path, 0, h, err);
    }
    if (l->macros) /* what they are follows from them, and from no path */
        XXH64_update(h, l->macros, strlen(l->macros));
    for (uint32_t i = 0; i < l->n_options; i++)
        XXH64_update(h, l->options[i], strlen(l->options[i]) + 1);
    for (uint32_t i = 0; i < cfg->compile.n_options && !l->text; i++)
        if (strncmp(cfg->compile.options[i], "-I", 2)) /* a path */
            XXH64_update(h, cfg->compile.options[i],
                         strlen(cfg->compile.options[i]) + 1);
    *out = XXH64_digest(h);
    XXH64_freeState(h);
    return st;
}

/* --- bindings ------------------------------------------------------------ */

/* A float as JSON writes it: exact, and with a point in every locale. */
static const char *float_text(arena *a, float f)
{
    json_t *j = json_real((double)f);
    char *text =
        j ? json_dumps(j, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9)) : NULL;
    char *kept = arena_strdup(a, text);
    uint32_t bits;

    free(text);
    json_decref(j);
    memcpy(&bits, &f, sizeof bits);
    return kept ? kept : arena_printf(a, "bits %08x", bits);
}

static const char *arg_text(arena *a, const graph *g, const graph_arg *x)
{
    switch (x->kind) {
    case GRAPH_ARG_BUFFER:
        return arena_printf(
            a, "%s = tensor %s%s%s", x->name, g->buffers[x->buffer].name,
            x->items || x->bytes ? arena_printf(a, " from byte %u", x->offset)
                                 : "",
            x->written ? ", written" : "");
    case GRAPH_ARG_LOCAL:
        return arena_printf(a, "%s = local %u bytes", x->name, x->bytes);
    case GRAPH_ARG_INT:
        return arena_printf(a, "%s = int %lld", x->name, (long long)x->integer);
    case GRAPH_ARG_FLOAT:
        return arena_printf(a, "%s = float %s", x->name,
                            float_text(a, x->real));
    case GRAPH_ARG_BYTES:
        return arena_printf(a, "%s = %u bytes, hash %016llx", x->name, x->bytes,
                            (unsigned long long)XXH64(x->value, x->bytes, 0));
    default:
        return arena_printf(a, "%s = nothing", x->name);
    }
}

static const char *size_text(arena *a, const char *name, const uint32_t *s)
{
    return arena_printf(a, "%s = %ux%ux%u", name, s[0], s[1], s[2]);
}

static void bindings(arena *a, const graph *g, const graph_launch *l,
                     recording_launch *out)
{
    const char **lines = arena_array(a, const char *, l->n_args + 3);
    uint32_t n = 0;

    lines[n++] = size_text(a, "global", l->global);
    lines[n++] = size_text(a, "local", l->local);
    lines[n++] = arena_printf(a, "max-shaves = %u", l->max_shaves);
    for (uint32_t i = 0; i < l->n_args; i++)
        lines[n++] = arg_text(a, g, &l->args[i]);
    out->binding = lines;
    out->n_binding = n;
}

static vpu_status launches(const backend_config *cfg, const graph *g, arena *a,
                           recording *out, vpu_error *err)
{
    recording_launch *list =
        arena_array(a, recording_launch, g->n_launches + 1);
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < g->n_launches && !st; i++) {
        const graph_launch *l = &g->launches[i];

        list[i] = (recording_launch){
            .name = l->name, .entry = l->entry, .sources = "", .seconds = -1};
        for (uint32_t k = 0; k < l->n_sources; k++)
            list[i].sources =
                arena_printf(a, "%s%s%s", list[i].sources, k ? ", " : "",
                             file_basename(l->sources[k]));
        bindings(a, g, l, &list[i]);
        st = backend_identity_kernel(cfg, l, a, &list[i].kernel, err);
    }
    out->launches = list;
    out->n_launches = g->n_launches;
    return st;
}

/* SHAVEs, timing, and what is not as in the default machine. */
static vpu_status machine(const backend_config *cfg, arena *a, recording *out,
                          vpu_error *err)
{
    const char *const *changes;
    const char **list;
    mach_desc usual;
    uint32_t n;
    vpu_status st;

    if (!cfg->desc)
        return VPU_OK;
    st = mach_desc_load(NULL, a, &usual, err);
    if (st)
        return st;
    changes = mach_desc_changes(cfg->desc, &usual, a, &n);
    list = arena_array(a, const char *, n + 2);
    list[0] = arena_printf(a, "shaves=%u",
                           cfg->how.n_shaves ? cfg->how.n_shaves
                                             : (uint32_t)cfg->desc->num_shaves);
    list[1] = arena_printf(a, "timing=%s", exec_timing_name(cfg->how.timing));
    memcpy(list + 2, changes, n * sizeof *list);
    out->machine = list;
    out->n_machine = n + 2;
    return VPU_OK;
}

vpu_status backend_identity(const backend_config *cfg, const graph *g, arena *a,
                            recording *out, vpu_error *err)
{
    recording_buffer *buffers =
        arena_array(a, recording_buffer, g->n_buffers + 1);
    vpu_status st;

    for (uint32_t i = 0; i < g->n_buffers; i++) {
        const graph_buffer *b = &g->buffers[i];

        buffers[i] = (recording_buffer){b->name, b->role,    b->port,
                                        b->desc, b->untyped, b->bytes};
    }
    *out = (recording){.layer = g->layer,
                       .type = g->type,
                       .tool = VPU_VERSION,
                       .backend = "",
                       .device = "",
                       .version = "",
                       .params = cfg->params,
                       .n_params = cfg->n_params,
                       .buffers = buffers,
                       .n_buffers = g->n_buffers};
    st = machine(cfg, a, out, err);
    return st ? st : launches(cfg, g, a, out, err);
}
