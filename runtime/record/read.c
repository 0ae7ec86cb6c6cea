/* Reading recordings: nothing in the file is believed. Every byte of it is
 * covered by a hash or must be zero, so a changed one is found; texts and
 * numbers of the manifest are checked one by one all the same. */
#include <stdlib.h>
#include <string.h>

#include "runtime/record/format.h"
#include "runtime/record/manifest.h"
#include "runtime/record/recording.h"

const container_kind recording_kind = {.magic = FORMAT_MAGIC,
                                       .begin = "89 'VPUREC' 0a",
                                       .called = "recording",
                                       .oldest = RECORDING_OLDEST,
                                       .version = RECORDING_VERSION,
                                       .max_bytes = RECORDING_MAX_BYTES};

typedef struct {
    container file;
    manifest m;
    arena *a;
    recording *out;
} reader;

static void get_buffer(reader *r, const json_t *o, uint32_t index,
                       recording_buffer *b)
{
    static const char *const roles[] = {"input", "output", "scratch", "const"};
    const char *where = arena_printf(r->a, "buffers[%u]", index);
    const char *types[TENSOR_N_DTYPES];
    const json_t *dims = manifest_list(&r->m, o, where, "dims", &b->desc.rank);
    vpu_error why;

    for (int i = 0; i < TENSOR_N_DTYPES; i++)
        types[i] = tensor_dtype_name((tensor_dtype)i);
    b->name = manifest_text(&r->m, o, where, "name");
    b->role = (graph_role)manifest_one_of(&r->m, o, where, "role", roles, 4);
    b->port = (uint32_t)manifest_number(&r->m, json_object_get(o, "port"),
                                        where, "port", 0, UINT32_MAX);
    b->desc.dtype = (tensor_dtype)manifest_one_of(&r->m, o, where, "dtype",
                                                  types, TENSOR_N_DTYPES);
    b->desc.layout = manifest_bool(&r->m, o, where, "minor")
                         ? TENSOR_CHANNEL_MINOR
                         : TENSOR_PLAIN;
    b->untyped = manifest_bool(&r->m, o, where, "untyped");
    b->bytes =
        (uint64_t)manifest_number(&r->m, json_object_get(o, "bytes"), where,
                                  "bytes", 1, (int64_t)TENSOR_MAX_BYTES);
    if (b->desc.rank > TENSOR_MAX_RANK) {
        manifest_wrong(&r->m, where, "dims", "at most 5 numbers");
        b->desc.rank = 0;
    }
    for (uint32_t i = 0; i < b->desc.rank; i++)
        b->desc.dims[i] = (uint32_t)manifest_number(
            &r->m, json_array_get(dims, i), where, "dims", 1, UINT32_MAX);
    if (tensor_desc_check(&b->desc, &why))
        manifest_wrong(&r->m, where, "dims", "a tensor of at most 4 GiB");
    else if (tensor_bytes(&b->desc) != b->bytes)
        manifest_wrong(&r->m, where, "bytes", "what type and dims make");
}

static void get_launch(reader *r, const json_t *o, uint32_t index,
                       recording_launch *l)
{
    const char *where = arena_printf(r->a, "launches[%u]", index);
    const json_t *seconds = json_object_get(o, "seconds");
    const char *hash = manifest_text(&r->m, o, where, "kernel");

    l->name = manifest_text(&r->m, o, where, "name");
    l->entry = manifest_text(&r->m, o, where, "entry");
    l->sources = manifest_text(&r->m, o, where, "sources");
    if (strlen(hash) != 16 || strspn(hash, "0123456789abcdef") != 16)
        manifest_wrong(&r->m, where, "kernel", "16 hexadecimal digits");
    else
        l->kernel = strtoull(hash, NULL, 16);
    l->binding = manifest_texts(&r->m, o, where, "binding", &l->n_binding);
    l->cycles = (uint64_t)manifest_number(&r->m, json_object_get(o, "cycles"),
                                          where, "cycles", 0, INT64_MAX);
    l->seconds = -1;
    if (seconds && (!json_is_real(seconds) || json_real_value(seconds) < 0))
        manifest_wrong(&r->m, where, "seconds", "a number of at least 0");
    else if (seconds)
        l->seconds = json_real_value(seconds);
}

static void get_contents(reader *r, const json_t *root, uint32_t n_sections)
{
    recording *x = r->out;
    const json_t *list =
        manifest_list(&r->m, root, "", "contents", &x->n_contents);

    if (x->n_contents + 1 != n_sections) {
        manifest_wrong(&r->m, "", "contents",
                       "one for each section but the first");
        return;
    }
    x->contents = arena_array(r->a, recording_content, x->n_contents + 1);
    for (uint32_t i = 0; i < x->n_contents && !r->m.failed; i++) {
        const json_t *pair = json_array_get(list, i);
        const container_section s = container_at(&r->file, i + 1);
        const char *where = arena_printf(r->a, "contents[%u]", i);
        recording_content *c = &x->contents[i];

        if (!json_is_array(pair) || json_array_size(pair) != 2 || !x->n_buffers)
            manifest_wrong(&r->m, "contents", where, "a launch and a buffer");
        c->launch = (int32_t)manifest_number(&r->m, json_array_get(pair, 0),
                                             where, "launch", RECORDING_BEFORE,
                                             (int64_t)x->n_launches - 1);
        c->buffer =
            (uint32_t)manifest_number(&r->m, json_array_get(pair, 1), where,
                                      "buffer", 0, (int64_t)x->n_buffers - 1);
        if (r->m.failed)
            return;
        if (i && (c[-1].launch > c->launch ||
                  (c[-1].launch == c->launch && c[-1].buffer >= c->buffer)))
            manifest_wrong(&r->m, where, "buffer",
                           "ascending launches and buffers");
        if (s.bytes != x->buffers[c->buffer].bytes)
            manifest_wrong(&r->m, where, "buffer",
                           "a section as long as its tensor");
        c->data = s.data;
        c->hash = s.hash;
    }
}

/* Inputs are there before, outputs after. */
static void check_complete(reader *r)
{
    const recording *x = r->out;
    bool *seen = arena_array(r->a, bool, x->n_buffers + 1);

    for (uint32_t i = 0; i < x->n_contents; i++) {
        const recording_content *c = &x->contents[i];
        graph_role role = x->buffers[c->buffer].role;

        if (role != GRAPH_INPUT || c->launch == RECORDING_BEFORE)
            seen[c->buffer] = true;
    }
    for (uint32_t i = 0; i < x->n_buffers; i++)
        if (!seen[i] && (x->buffers[i].role == GRAPH_INPUT ||
                         x->buffers[i].role == GRAPH_OUTPUT))
            manifest_wrong(&r->m, "contents", x->buffers[i].name,
                           "contents of it");
}

/* What version 2 brought. */
static void get_machine(reader *r, const json_t *root)
{
    const json_t *limit = json_object_get(root, "max_slowdown");
    recording *x = r->out;

    x->machine = manifest_pairs(&r->m, root, "", "machine", &x->n_machine);
    if (!json_is_real(limit) || json_real_value(limit) < 0)
        manifest_wrong(&r->m, "", "max_slowdown", "a number of at least 0");
    else
        x->max_slowdown = json_real_value(limit);
}

static void get_manifest(reader *r, const json_t *root, uint32_t n_sections)
{
    recording *x = r->out;
    recording_buffer *buffers;
    recording_launch *launches;
    const json_t *list;

    x->layer = manifest_text(&r->m, root, "", "layer");
    x->type = manifest_text(&r->m, root, "", "type");
    x->tool = manifest_text(&r->m, root, "", "tool");
    x->backend = manifest_text(&r->m, root, "", "backend");
    x->device = manifest_text(&r->m, root, "", "device");
    x->version = manifest_text(&r->m, root, "", "version");
    x->promoted = manifest_bool(&r->m, root, "", "promoted");
    x->stages = manifest_bool(&r->m, root, "", "stages");
    x->params = manifest_pairs(&r->m, root, "", "params", &x->n_params);
    if (r->file.version > 1)
        get_machine(r, root);
    list = manifest_list(&r->m, root, "", "buffers", &x->n_buffers);
    x->buffers = buffers =
        arena_array(r->a, recording_buffer, x->n_buffers + 1);
    for (uint32_t i = 0; i < x->n_buffers && !r->m.failed; i++)
        get_buffer(r, json_array_get(list, i), i, &buffers[i]);
    list = manifest_list(&r->m, root, "", "launches", &x->n_launches);
    x->launches = launches =
        arena_array(r->a, recording_launch, x->n_launches + 1);
    for (uint32_t i = 0; i < x->n_launches && !r->m.failed; i++)
        get_launch(r, json_array_get(list, i), i, &launches[i]);
    if (!r->m.failed)
        get_contents(r, root, n_sections);
    if (!r->m.failed)
        check_complete(r);
}

vpu_status recording_parse(const void *data, size_t n, const char *path,
                           arena *a, recording *out, vpu_error *err)
{
    vpu_error mine;
    reader r = {.file = {.kind = &recording_kind,
                         .p = data,
                         .n = n,
                         .path = path,
                         .err = err ? err : &mine},
                .a = a,
                .out = out};
    json_t *root = NULL;
    vpu_status st = container_check(&r.file);

    memset(out, 0, sizeof *out);
    r.m = (manifest){.file = &r.file, .a = a};
    if (!st)
        st = manifest_open(&r.m, RECORDING_MAX_MANIFEST, &root);
    if (st)
        return st;
    get_manifest(&r, root, r.file.n_sections);
    json_decref(root);
    return r.m.failed ? VPU_ERR_PARSE : VPU_OK;
}

vpu_status recording_read(const char *path, arena *a, recording *out,
                          vpu_error *err)
{
    const void *data;
    size_t n;
    vpu_status st = container_load(path, &recording_kind, a, &data, &n, err);

    return st ? st : recording_parse(data, n, path, a, out, err);
}
