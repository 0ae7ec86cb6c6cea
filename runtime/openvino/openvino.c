/* Networks through the vendor's package. */
#include "runtime/openvino/openvino.h"

#include <jansson.h>
#include <string.h>

#include "base/file.h"
#include "base/oom.h"
#include "base/temp.h"
#include "runtime/openvino/bins.h"
#include "runtime/openvino/process.h"
#include "sim/compiler/store/kcache.h"

#define MAX_MODEL ((size_t)2 << 30)

enum { LOOK = 4096 };

bool openvino_is_network(const char *path)
{
    char start[LOOK + 1];
    size_t n = file_peek(path, start, LOOK);
    const char *p = start;

    start[n] = 0;
    if (strlen(start) != n)
        return false;
    /* The first element that is no declaration and no comment. */
    while ((p = strchr(p, '<')) && (p[1] == '?' || p[1] == '!'))
        p = strncmp(p, "<!--", 4) ? p + 1 : strstr(p, "-->");
    return p && !strncmp(p, "<net", 4) && strchr(" \t\r\n>", p[4]);
}

/* --- what was made ------------------------------------------------------- */

static const char *text_of(const json_t *o, const char *key, arena *a)
{
    const char *s = json_string_value(json_object_get(o, key));

    return s ? arena_strdup(a, s) : "";
}

static void read_stages(const char *text, size_t n, arena *a,
                        openvino_network *out)
{
    json_t *list = json_loadb(text, n, 0, NULL);
    size_t count = json_array_size(list);
    openvino_stage *stages = arena_array(a, openvino_stage, count + 1);

    for (size_t i = 0; i < count; i++) {
        const json_t *o = json_array_get(list, i);
        const json_t *writes = json_object_get(o, "writes");
        size_t k = json_array_size(writes);
        const char **names = arena_array(a, const char *, k + 1);

        for (size_t w = 0; w < k; w++) {
            const char *s = json_string_value(json_array_get(writes, w));

            names[w] = s ? arena_strdup(a, s) : "";
        }
        stages[i] = (openvino_stage){
            text_of(o, "name", a), text_of(o, "layer", a), names, (uint32_t)k};
    }
    json_decref(list);
    out->stages = stages;
    out->n_stages = (uint32_t)count;
}

/* What is kept: 8 bytes that say how long the blob is, the blob, the stages. */
static void unpack(const uint8_t *data, size_t n, arena *a,
                   openvino_network *out)
{
    uint64_t bytes;

    memcpy(&bytes, data, 8);
    bytes = bytes < n - 8 ? bytes : n - 8;
    out->blob = data + 8;
    out->n_blob = bytes;
    read_stages((const char *)data + 8 + bytes, n - 8 - bytes, a, out);
}

/* --- compiling ----------------------------------------------------------- */

typedef struct {
    const openvino_config *c;
    const char *path;
    char *folder;
    openvino_python python;
    arena *a;
    openvino_network *out;
    kcache_key key;
} job;

static vpu_status add_file(str *parts, const char *path, arena *a,
                           vpu_error *err)
{
    arena_mark m = arena_save(a);
    char *data;
    size_t n;
    vpu_status st = file_read(path, MAX_MODEL, a, &data, &n, err);

    if (!st)
        kcache_part(parts, data, n);
    arena_restore(a, m);
    return st;
}

/* "net.bin" of "net.xml". */
static const char *weights_of(const char *path, arena *a)
{
    size_t n = strlen(path);

    if (n > 4 && !strcmp(path + n - 4, ".xml"))
        n -= 4;
    return arena_printf(a, "%.*s.bin", (int)n, path);
}

/* Everything that the blob depends on, the package by where it is. */
static vpu_status key_of(job *j, const bins *b, vpu_error *err)
{
    static const char tag[] = "vpusim network 1";
    const char *weights = weights_of(j->path, j->a);
    str parts = {0};
    vpu_status st;

    kcache_part(&parts, tag, sizeof tag);
    kcache_part(&parts, j->python.python, strlen(j->python.python));
    if (j->python.modules)
        kcache_part(&parts, j->python.modules, strlen(j->python.modules));
    for (uint32_t i = 0; i < j->c->n_config; i++)
        kcache_part(&parts, j->c->config[i], strlen(j->c->config[i]));
    st = add_file(&parts, j->path, j->a, err);
    if (!st && file_exists(weights))
        st = add_file(&parts, weights, j->a, err);
    if (!st && j->c->custom)
        st = add_file(&parts, j->c->custom, j->a, err);
    for (uint32_t i = 0; i < b->n && !st; i++)
        kcache_part(&parts, b->list[i].bytes, b->list[i].n);
    if (!st)
        j->key = kcache_key_of(&parts);
    str_free(&parts);
    return st;
}

static vpu_status call(job *j, const char *custom, vpu_error *err)
{
    uint32_t n = 0;
    const char **words = arena_array(j->a, const char *, j->c->n_config + 8);

    words[n++] = "compile";
    words[n++] = j->path;
    words[n++] = j->folder;
    if (custom)
        words[n++] = arena_printf(j->a, "MYRIAD_CUSTOM_LAYERS=%s", custom);
    for (uint32_t i = 0; i < j->c->n_config; i++)
        words[n++] = j->c->config[i];
    return openvino_call(&j->python, words, n, j->folder, j->a, err);
}

static vpu_status collect(job *j, str *packed, vpu_error *err)
{
    char *blob, *stages;
    size_t n, k;
    uint64_t bytes;
    vpu_status st = file_read(file_join(j->a, j->folder, "net.blob"), MAX_MODEL,
                              j->a, &blob, &n, err);

    if (!st)
        st = file_read(file_join(j->a, j->folder, "stages.json"), MAX_MODEL,
                       j->a, &stages, &k, err);
    if (st)
        return st;
    bytes = n;
    str_add(packed, &bytes, 8);
    str_add(packed, blob, n);
    str_add(packed, stages, k);
    return VPU_OK;
}

static vpu_status compile(job *j, const bins *b, vpu_error *err)
{
    const char *custom = NULL;
    str packed = {0};
    vpu_status st = VPU_OK;

    if (j->c->custom)
        st = bins_write(b, j->c->custom, j->folder, j->a, &custom, err);
    log_note(j->c->log, "%s: the vendor's compiler works", j->path);
    if (!st)
        st = call(j, custom, err);
    if (!st)
        st = collect(j, &packed, err);
    if (!st) {
        const uint8_t *data = arena_memdup(j->a, packed.data, packed.n);

        if (!j->c->no_cache)
            kcache_put(&j->key, j->c->log, data, packed.n);
        unpack(data, packed.n, j->a, j->out);
    }
    str_free(&packed);
    return st;
}

static vpu_status in_folder(void *user, vpu_error *err)
{
    job *j = user;
    bins b = {0};
    const uint8_t *kept = NULL;
    size_t n = 0;
    vpu_status st = VPU_OK;

    if (j->c->custom)
        st = bins_make(j->c, j->a, &b, err);
    if (!st)
        st = key_of(j, &b, err);
    if (st)
        return st;
    if (!j->c->no_cache)
        kept = kcache_get(&j->key, j->c->log, j->a, &n);
    if (kept && n >= 8) {
        unpack(kept, n, j->a, j->out);
        return VPU_OK;
    }
    return compile(j, &b, err);
}

static void remove_folder(void *user)
{
    temp_dir_remove(((job *)user)->folder);
}

vpu_status openvino_compile(const openvino_config *c, const char *path,
                            arena *a, openvino_network *out, vpu_error *err)
{
    job j = {.c = c, .path = path, .a = a, .out = out};
    vpu_status st = openvino_find(c, a, &j.python, err);

    *out = (openvino_network){0};
    if (!st)
        st = temp_dir(a, "vpusim-network", &j.folder, err);
    return st ? st : oom_finally(in_folder, remove_folder, &j, err);
}
