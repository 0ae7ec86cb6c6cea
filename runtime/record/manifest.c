/* Values of a manifest, checked one by one. */
#include "runtime/record/manifest.h"

#include <inttypes.h>
#include <string.h>

vpu_status manifest_open(manifest *m, uint64_t max_bytes, json_t **out)
{
    const container *c = m->file;
    const container_section s = container_at(c, 0);
    json_error_t why;

    *out = NULL;
    if (s.bytes > max_bytes)
        return err_set(c->err, VPU_ERR_LIMIT,
                       "%s: byte %" PRIu64 ": a manifest of %" PRIu64
                       " bytes, the limit is %" PRIu64,
                       c->path, container_row(c, 0) + 8, s.bytes, max_bytes);
    *out = json_loadb(s.data, (size_t)s.bytes, JSON_REJECT_DUPLICATES, &why);
    return *out ? VPU_OK
                : container_bad(c,
                                container_place(c, 0) + (uint64_t)why.position,
                                "the manifest is not JSON: %s", why.text);
}

void manifest_wrong(manifest *m, const char *where, const char *key,
                    const char *expected)
{
    if (m->failed)
        return;
    m->failed = true;
    container_bad(m->file, container_place(m->file, 0),
                  "manifest: %s.%s: expected %s", where, key, expected);
}

const char *manifest_text(manifest *m, const json_t *o, const char *where,
                          const char *key)
{
    const json_t *j = json_object_get(o, key);
    const char *text = json_string_value(j);

    if (!text || strlen(text) != json_string_length(j)) {
        manifest_wrong(m, where, key, "a text");
        return "";
    }
    return arena_strdup(m->a, text);
}

const char *manifest_text_or_null(manifest *m, const json_t *o,
                                  const char *where, const char *key)
{
    return json_is_null(json_object_get(o, key))
               ? NULL
               : manifest_text(m, o, where, key);
}

bool manifest_bool(manifest *m, const json_t *o, const char *where,
                   const char *key)
{
    const json_t *j = json_object_get(o, key);

    if (!json_is_boolean(j))
        manifest_wrong(m, where, key, "true or false");
    return json_is_true(j);
}

int64_t manifest_number(manifest *m, const json_t *value, const char *where,
                        const char *key, int64_t least, int64_t most)
{
    int64_t v = json_integer_value(value);

    if (json_is_integer(value) && v >= least && v <= most)
        return v;
    manifest_wrong(m, where, key,
                   arena_printf(m->a,
                                "a whole number from %" PRId64 " to %" PRId64,
                                least, most));
    return least;
}

const json_t *manifest_list(manifest *m, const json_t *o, const char *where,
                            const char *key, uint32_t *n)
{
    const json_t *list = json_object_get(o, key);

    if (!json_is_array(list) || json_array_size(list) > UINT32_MAX / 2) {
        manifest_wrong(m, where, key, "a list");
        *n = 0;
        return NULL;
    }
    *n = (uint32_t)json_array_size(list);
    return list;
}

const char *const *manifest_texts(manifest *m, const json_t *o,
                                  const char *where, const char *key,
                                  uint32_t *n)
{
    const json_t *list = manifest_list(m, o, where, key, n);
    const char **texts = arena_array(m->a, const char *, *n + 1);

    for (uint32_t i = 0; i < *n; i++) {
        const char *text = json_string_value(json_array_get(list, i));

        if (!text)
            manifest_wrong(m, where, key, "a list of texts");
        texts[i] = arena_strdup(m->a, text ? text : "");
    }
    return texts;
}

const char *const *manifest_pairs(manifest *m, const json_t *o,
                                  const char *where, const char *key,
                                  uint32_t *n)
{
    const char *const *texts = manifest_texts(m, o, where, key, n);

    for (uint32_t i = 0; i < *n; i++)
        if (!strchr(texts[i], '='))
            manifest_wrong(m, where, key, "texts name=value");
    return texts;
}

int manifest_one_of(manifest *m, const json_t *o, const char *where,
                    const char *key, const char *const *names, int n)
{
    const char *text = json_string_value(json_object_get(o, key));

    for (int i = 0; i < n && text; i++)
        if (!strcmp(text, names[i]))
            return i;
    manifest_wrong(m, where, key, "one of the names docs/formats.md lists");
    return 0;
}
