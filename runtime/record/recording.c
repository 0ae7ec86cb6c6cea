/* Writing recordings, and comparing what they are of. */
#include "runtime/record/recording.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static const char *const role_names[] = {"input", "output", "scratch", "const"};

/* --- the manifest -------------------------------------------------------- */

static json_t *hash_json(uint64_t hash)
{
    return json_sprintf("%016" PRIx64, hash);
}

static json_t *texts_json(const char *const *texts, uint32_t n)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(list, json_string(texts[i]));
    return list;
}

static json_t *buffer_json(const recording_buffer *b)
{
    json_t *dims = json_array();

    for (uint32_t i = 0; i < b->desc.rank; i++)
        json_array_append_new(dims, json_integer(b->desc.dims[i]));
    return json_pack("{s:s, s:s, s:I, s:s, s:o, s:b, s:b, s:I}", "name",
                     b->name, "role", role_names[b->role], "port",
                     (json_int_t)b->port, "dtype",
                     tensor_dtype_name(b->desc.dtype), "dims", dims, "minor",
                     b->desc.layout == TENSOR_CHANNEL_MINOR, "untyped",
                     b->untyped, "bytes", (json_int_t)b->bytes);
}

static json_t *launch_json(const recording_launch *l)
{
    json_t *j = json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:I}", "name", l->name, "entry", l->entry,
        "sources", l->sources, "kernel", hash_json(l->kernel), "binding",
        texts_json(l->binding, l->n_binding), "cycles", (json_int_t)l->cycles);

    if (j && l->seconds >= 0)
        json_object_set_new(j, "seconds", json_real(l->seconds));
    return j;
}

static json_t *manifest(const recording *r)
{
    json_t *buffers = json_array(), *launches = json_array();
    json_t *contents = json_array();

    for (uint32_t i = 0; i < r->n_buffers; i++)
        json_array_append_new(buffers, buffer_json(&r->buffers[i]));
    for (uint32_t i = 0; i < r->n_launches; i++)
        json_array_append_new(launches, launch_json(&r->launches[i]));
    for (uint32_t i = 0; i < r->n_contents; i++)
        json_array_append_new(
            contents, json_pack("[I, I]", (json_int_t)r->contents[i].launch,
                                (json_int_t)r->contents[i].buffer));
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:b, s:o, s:o, s:f, s:o, s:o, "
        "s:o}",
        "layer", r->layer, "type", r->type, "tool", r->tool, "backend",
        r->backend, "device", r->device, "version", r->version, "promoted",
        r->promoted, "stages", r->stages, "params",
        texts_json(r->params, r->n_params), "machine",
        texts_json(r->machine, r->n_machine), "max_slowdown", r->max_slowdown,
        "buffers", buffers, "launches", launches, "contents", contents);
}

/* --- the file ------------------------------------------------------------ */

static vpu_status check_contents(const recording *r, vpu_error *err)
{
    for (uint32_t i = 0; i < r->n_contents; i++) {
        const recording_content *c = &r->contents[i];

        if (c->buffer >= r->n_buffers || c->launch < RECORDING_BEFORE ||
            c->launch >= (int64_t)r->n_launches ||
            (i && (c[-1].launch > c->launch ||
                   (c[-1].launch == c->launch && c[-1].buffer >= c->buffer))))
            return err_set(err, VPU_ERR_INVALID,
                           "contents %u, buffer %u after launch %d, is out of "
                           "order or of nothing",
                           i, c->buffer, c->launch);
    }
    return VPU_OK;
}

/* Section 0 is text. */
static vpu_status put_file(const char *path, recording *r, const char *text,
                           vpu_error *err)
{
    uint32_t n = r->n_contents + 1;
    container_section *s = calloc(n, sizeof *s);
    vpu_status st;

    if (!s)
        return err_set(err, VPU_ERR_NOMEM, "%s: no memory for its head", path);
    s[0] = (container_section){.data = text, .bytes = strlen(text)};
    for (uint32_t i = 1; i < n; i++) {
        const recording_content *c = &r->contents[i - 1];

        s[i] = (container_section){.data = c->data,
                                   .bytes = r->buffers[c->buffer].bytes};
    }
    st = container_write(path, &recording_kind, s, n, err);
    for (uint32_t i = 1; i < n; i++)
        r->contents[i - 1].hash = s[i].hash;
    free(s);
    return st;
}

vpu_status recording_write(const char *path, recording *r, vpu_error *err)
{
    vpu_status st = check_contents(r, err);
    json_t *j = st ? NULL : manifest(r);
    char *text =
        j ? json_dumps(j, JSON_INDENT(1) | JSON_SORT_KEYS | JSON_ENSURE_ASCII |
                              JSON_REAL_PRECISION(17))
          : NULL;

    json_decref(j);
    if (st)
        return st;
    if (!text)
        return err_set(err, VPU_ERR_INVALID,
                       "%s: a name in the recording of layer '%s' is not UTF-8",
                       path, r->layer);
    st = put_file(path, r, text, err);
    free(text);
    return st;
}

/* --- comparing ----------------------------------------------------------- */

static vpu_status differs(vpu_error *err, const char *what, const char *now,
                          const char *recorded)
{
    return err_set(err, VPU_ERR_MISMATCH, "%s is '%s', recorded '%s'", what,
                   now, recorded);
}

static vpu_status same_list(const char *what, const char *const *now,
                            uint32_t n_now, const char *const *recorded,
                            uint32_t n_recorded, vpu_error *err)
{
    for (uint32_t i = 0; i < n_now || i < n_recorded; i++) {
        const char *x = i < n_now ? now[i] : "(nothing)";
        const char *y = i < n_recorded ? recorded[i] : "(nothing)";

        if (strcmp(x, y))
            return differs(err, what, x, y);
    }
    return VPU_OK;
}

static vpu_status same_buffer(const recording_buffer *now,
                              const recording_buffer *recorded, vpu_error *err)
{
    arena *a;
    vpu_status st;

    if (!strcmp(now->name, recorded->name) && now->role == recorded->role &&
        now->port == recorded->port && now->bytes == recorded->bytes &&
        now->untyped == recorded->untyped &&
        now->desc.dtype == recorded->desc.dtype &&
        now->desc.rank == recorded->desc.rank &&
        now->desc.layout == recorded->desc.layout &&
        !memcmp(now->desc.dims, recorded->desc.dims,
                now->desc.rank * sizeof *now->desc.dims))
        return VPU_OK;
    a = arena_create(0);
    st = err_set(
        err, VPU_ERR_MISMATCH, "tensor '%s' is %s %s%s, recorded '%s', %s %s%s",
        now->name, role_names[now->role], tensor_desc_text(a, &now->desc),
        now->desc.layout ? " channels innermost" : "", recorded->name,
        role_names[recorded->role], tensor_desc_text(a, &recorded->desc),
        recorded->desc.layout ? " channels innermost" : "");
    arena_destroy(a);
    return st;
}

static vpu_status same_launch(const recording_launch *now,
                              const recording_launch *recorded, vpu_error *err)
{
    vpu_status st;

    if (strcmp(now->name, recorded->name))
        return differs(err, "launch", now->name, recorded->name);
    if (strcmp(now->entry, recorded->entry))
        return differs(err, "kernel", now->entry, recorded->entry);
    st = same_list("binding", now->binding, now->n_binding, recorded->binding,
                   recorded->n_binding, err);
    if (st)
        return err_in(err, st, "launch '%s'", now->name);
    if (now->kernel != recorded->kernel)
        return err_set(err, VPU_ERR_MISMATCH,
                       "the source of kernel '%s' (%s) differs: its hash is "
                       "%016" PRIx64 ", recorded %016" PRIx64,
                       now->entry, now->sources, now->kernel, recorded->kernel);
    return VPU_OK;
}

vpu_status recording_same(const recording *recorded, const recording *now,
                          vpu_error *err)
{
    vpu_status st;

    if (strcmp(now->type, recorded->type))
        return differs(err, "the layer's type", now->type, recorded->type);
    if (strcmp(now->layer, recorded->layer))
        return differs(err, "the layer", now->layer, recorded->layer);
    st = same_list("a parameter", now->params, now->n_params, recorded->params,
                   recorded->n_params, err);
    if (!st && now->n_buffers != recorded->n_buffers)
        st = err_set(err, VPU_ERR_MISMATCH, "%u tensors, recorded %u",
                     now->n_buffers, recorded->n_buffers);
    for (uint32_t i = 0; i < now->n_buffers && !st; i++)
        st = same_buffer(&now->buffers[i], &recorded->buffers[i], err);
    if (!st && now->n_launches != recorded->n_launches)
        st = err_set(err, VPU_ERR_MISMATCH, "%u launches, recorded %u",
                     now->n_launches, recorded->n_launches);
    for (uint32_t i = 0; i < now->n_launches && !st; i++)
        st = same_launch(&now->launches[i], &recorded->launches[i], err);
    return st;
}

const recording_content *recording_find(const recording *r, uint32_t buffer,
                                        int32_t launch)
{
    const recording_content *found = NULL;

    for (uint32_t i = 0; i < r->n_contents; i++)
        if (r->contents[i].buffer == buffer && r->contents[i].launch <= launch)
            found = &r->contents[i];
    return found;
}
