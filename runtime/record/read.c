/* Reading recordings: nothing in the file is believed. Every byte of it is
 * covered by a hash or must be zero, so a changed one is found; texts and
 * numbers of the manifest are checked one by one all the same. */
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <xxhash.h>

#include "base/file.h"
#include "runtime/record/format.h"
#include "runtime/record/recording.h"

typedef struct {
    const unsigned char *p;
    size_t n;
    const char *path;
    arena *a;
    recording *out;
    vpu_error *err;
    bool failed; /* in the manifest */
} reader;

static vpu_status bad(const reader *r, uint64_t at, const char *fmt, ...)
    VPU_PRINTF(3, 4);

static vpu_status bad(const reader *r, uint64_t at, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    err_vset(r->err, VPU_ERR_PARSE, fmt, ap);
    va_end(ap);
    return err_in(r->err, VPU_ERR_PARSE, "%s: byte %" PRIu64, r->path, at);
}

/* --- head and sections --------------------------------------------------- */

static vpu_status check_zeros(const reader *r, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        if (r->p[i])
            return bad(r, i, "%02x, expected 00 between sections", r->p[i]);
    return VPU_OK;
}

/* The head alone; total: bytes of the file. */
static vpu_status check_head(const reader *r, uint64_t total)
{
    uint64_t version, bytes, hash;

    if (r->n < 8 || memcmp(r->p, FORMAT_MAGIC, 8))
        return bad(r, 0, "not a recording: expected 89 'VPUREC' 0a");
    if (r->n < FORMAT_HEAD)
        return bad(r, r->n, "the file ends in its head of %d bytes",
                   FORMAT_HEAD);
    version = format_get(r->p + FORMAT_VERSION_AT, 4);
    if (version < RECORDING_OLDEST || version > RECORDING_VERSION)
        return err_set(r->err, VPU_ERR_UNSUPPORTED,
                       "%s: byte %d: a recording of version %" PRIu64
                       ", this program reads versions %d to %d",
                       r->path, FORMAT_VERSION_AT, version, RECORDING_OLDEST,
                       RECORDING_VERSION);
    hash = format_get(r->p + FORMAT_HEAD_HASH_AT, 8);
    if (hash != XXH64(r->p, FORMAT_HEAD_HASH_AT, 0))
        return bad(r, FORMAT_HEAD_HASH_AT,
                   "the head has changed: hash %016" PRIx64
                   ", expected %016" PRIx64,
                   XXH64(r->p, FORMAT_HEAD_HASH_AT, 0), hash);
    bytes = format_get(r->p + FORMAT_BYTES_AT, 8);
    if (bytes != total)
        return bad(r, FORMAT_BYTES_AT,
                   "the file should have %" PRIu64 " bytes, it has %" PRIu64,
                   bytes, total);
    return VPU_OK;
}

static vpu_status read_head(const reader *r, uint32_t *n_sections)
{
    uint64_t n, table, hash;
    vpu_status st = check_head(r, r->n);

    if (st)
        return st;
    n = format_get(r->p + FORMAT_SECTIONS_AT, 4);
    table = n * FORMAT_ENTRY;
    if (!n || format_align(FORMAT_HEAD + table) > r->n)
        return bad(r, FORMAT_SECTIONS_AT,
                   "%" PRIu64 " sections, expected 1 to %zu", n,
                   (r->n - FORMAT_HEAD) / FORMAT_ENTRY);
    hash = format_get(r->p + FORMAT_TABLE_HASH_AT, 8);
    if (hash != XXH64(r->p + FORMAT_HEAD, table, 0))
        return bad(r, FORMAT_HEAD,
                   "the table of sections has changed: hash %016" PRIx64
                   ", expected %016" PRIx64,
                   XXH64(r->p + FORMAT_HEAD, table, 0), hash);
    st = check_zeros(r, FORMAT_HEAD_USED, FORMAT_HEAD);
    if (!st)
        st = check_zeros(r, FORMAT_HEAD + table,
                         format_align(FORMAT_HEAD + table));
    *n_sections = (uint32_t)n;
    return st;
}

static const unsigned char *entry_of(const reader *r, uint32_t i)
{
    return r->p + FORMAT_HEAD + (size_t)i * FORMAT_ENTRY;
}

/* Sections follow each other without gaps up to the end of the file. */
static vpu_status check_sections(const reader *r, uint32_t n)
{
    uint64_t at = format_align(FORMAT_HEAD + (uint64_t)n * FORMAT_ENTRY);

    for (uint32_t i = 0; i < n; i++) {
        const unsigned char *e = entry_of(r, i);
        uint64_t offset = format_get(e, 8), bytes = format_get(e + 8, 8);
        uint64_t hash = format_get(e + 16, 8), got;
        vpu_status st;

        if (offset != at)
            return bad(r, (uint64_t)(e - r->p),
                       "section %u begins at %" PRIu64 ", expected %" PRIu64, i,
                       offset, at);
        if (bytes > r->n - at || format_align(bytes) > r->n - at)
            return bad(r, (uint64_t)(e - r->p) + 8,
                       "section %u has %" PRIu64 " bytes, but only %" PRIu64
                       " are left",
                       i, bytes, r->n - at);
        got = XXH64(r->p + at, bytes, 0);
        if (got != hash)
            return bad(r, at,
                       "section %u has changed: hash %016" PRIx64
                       ", expected %016" PRIx64,
                       i, got, hash);
        st = check_zeros(r, at + bytes, at + format_align(bytes));
        if (st)
            return st;
        at += format_align(bytes);
    }
    if (at != r->n)
        return bad(r, at, "%" PRIu64 " bytes behind the last section",
                   r->n - at);
    return VPU_OK;
}

/* --- the manifest -------------------------------------------------------- */

/* The first problem counts; later reads return something harmless. */
static void wrong(reader *r, const char *where, const char *key,
                  const char *expected)
{
    if (r->failed)
        return;
    r->failed = true;
    bad(r, format_get(entry_of(r, 0), 8), "manifest: %s.%s: expected %s", where,
        key, expected);
}

static const char *get_text(reader *r, const json_t *o, const char *where,
                            const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));

    if (!text || strlen(text) != json_string_length(json_object_get(o, key))) {
        wrong(r, where, key, "a text");
        return "";
    }
    return arena_strdup(r->a, text);
}

static bool get_bool(reader *r, const json_t *o, const char *where,
                     const char *key)
{
    const json_t *j = json_object_get(o, key);

    if (!json_is_boolean(j))
        wrong(r, where, key, "true or false");
    return json_is_true(j);
}

static int64_t number(reader *r, const json_t *j, const char *where,
                      const char *key, int64_t least, int64_t most)
{
    int64_t v = json_integer_value(j);

    if (json_is_integer(j) && v >= least && v <= most)
        return v;
    wrong(r, where, key,
          arena_printf(r->a, "a whole number from %" PRId64 " to %" PRId64,
                       least, most));
    return least;
}

static const json_t *get_list(reader *r, const json_t *o, const char *where,
                              const char *key, uint32_t *n)
{
    const json_t *list = json_object_get(o, key);

    if (!json_is_array(list) || json_array_size(list) > UINT32_MAX / 2) {
        wrong(r, where, key, "a list");
        *n = 0;
        return NULL;
    }
    *n = (uint32_t)json_array_size(list);
    return list;
}

static const char *const *get_texts(reader *r, const json_t *o,
                                    const char *where, const char *key,
                                    uint32_t *n)
{
    const json_t *list = get_list(r, o, where, key, n);
    const char **texts = arena_array(r->a, const char *, *n + 1);

    for (uint32_t i = 0; i < *n; i++) {
        const char *text = json_string_value(json_array_get(list, i));

        if (!text)
            wrong(r, where, key, "a list of texts");
        texts[i] = arena_strdup(r->a, text ? text : "");
    }
    return texts;
}

static const char *const *get_pairs(reader *r, const json_t *root,
                                    const char *key, uint32_t *n)
{
    const char *const *texts = get_texts(r, root, "", key, n);

    for (uint32_t i = 0; i < *n; i++)
        if (!strchr(texts[i], '='))
            wrong(r, "", key, "texts name=value");
    return texts;
}

static int one_of(reader *r, const json_t *o, const char *where,
                  const char *key, const char *const *names, int n)
{
    const char *text = json_string_value(json_object_get(o, key));

    for (int i = 0; i < n && text; i++)
        if (!strcmp(text, names[i]))
            return i;
    wrong(r, where, key, "one of the names docs/formats.md lists");
    return 0;
}

static void get_buffer(reader *r, const json_t *o, uint32_t index,
                       recording_buffer *b)
{
    static const char *const roles[] = {"input", "output", "scratch", "const"};
    const char *where = arena_printf(r->a, "buffers[%u]", index);
    const char *types[TENSOR_N_DTYPES];
    const json_t *dims = get_list(r, o, where, "dims", &b->desc.rank);
    vpu_error why;

    for (int i = 0; i < TENSOR_N_DTYPES; i++)
        types[i] = tensor_dtype_name((tensor_dtype)i);
    b->name = get_text(r, o, where, "name");
    b->role = (graph_role)one_of(r, o, where, "role", roles, 4);
    b->port = (uint32_t)number(r, json_object_get(o, "port"), where, "port", 0,
                               UINT32_MAX);
    b->desc.dtype =
        (tensor_dtype)one_of(r, o, where, "dtype", types, TENSOR_N_DTYPES);
    b->desc.layout =
        get_bool(r, o, where, "minor") ? TENSOR_CHANNEL_MINOR : TENSOR_PLAIN;
    b->untyped = get_bool(r, o, where, "untyped");
    b->bytes = (uint64_t)number(r, json_object_get(o, "bytes"), where, "bytes",
                                1, (int64_t)TENSOR_MAX_BYTES);
    if (b->desc.rank > TENSOR_MAX_RANK) {
        wrong(r, where, "dims", "at most 5 numbers");
        b->desc.rank = 0;
    }
    for (uint32_t i = 0; i < b->desc.rank; i++)
        b->desc.dims[i] = (uint32_t)number(r, json_array_get(dims, i), where,
                                           "dims", 1, UINT32_MAX);
    if (tensor_desc_check(&b->desc, &why))
        wrong(r, where, "dims", "a tensor of at most 4 GiB");
    else if (tensor_bytes(&b->desc) != b->bytes)
        wrong(r, where, "bytes", "what type and dims make");
}

static void get_launch(reader *r, const json_t *o, uint32_t index,
                       recording_launch *l)
{
    const char *where = arena_printf(r->a, "launches[%u]", index);
    const json_t *seconds = json_object_get(o, "seconds");
    const char *hash = get_text(r, o, where, "kernel");

    l->name = get_text(r, o, where, "name");
    l->entry = get_text(r, o, where, "entry");
    l->sources = get_text(r, o, where, "sources");
    if (strlen(hash) != 16 || strspn(hash, "0123456789abcdef") != 16)
        wrong(r, where, "kernel", "16 hexadecimal digits");
    else
        l->kernel = strtoull(hash, NULL, 16);
    l->binding = get_texts(r, o, where, "binding", &l->n_binding);
    l->cycles = (uint64_t)number(r, json_object_get(o, "cycles"), where,
                                 "cycles", 0, INT64_MAX);
    l->seconds = -1;
    if (seconds && (!json_is_real(seconds) || json_real_value(seconds) < 0))
        wrong(r, where, "seconds", "a number of at least 0");
    else if (seconds)
        l->seconds = json_real_value(seconds);
}

static void get_contents(reader *r, const json_t *root, uint32_t n_sections)
{
    recording *x = r->out;
    const json_t *list = get_list(r, root, "", "contents", &x->n_contents);

    if (x->n_contents + 1 != n_sections) {
        wrong(r, "", "contents", "one for each section but the first");
        return;
    }
    x->contents = arena_array(r->a, recording_content, x->n_contents + 1);
    for (uint32_t i = 0; i < x->n_contents && !r->failed; i++) {
        const json_t *pair = json_array_get(list, i);
        const unsigned char *e = entry_of(r, i + 1);
        const char *where = arena_printf(r->a, "contents[%u]", i);
        recording_content *c = &x->contents[i];

        if (!json_is_array(pair) || json_array_size(pair) != 2 || !x->n_buffers)
            wrong(r, "contents", where, "a launch and a buffer");
        c->launch =
            (int32_t)number(r, json_array_get(pair, 0), where, "launch",
                            RECORDING_BEFORE, (int64_t)x->n_launches - 1);
        c->buffer = (uint32_t)number(r, json_array_get(pair, 1), where,
                                     "buffer", 0, (int64_t)x->n_buffers - 1);
        if (r->failed)
            return;
        if (i && (c[-1].launch > c->launch ||
                  (c[-1].launch == c->launch && c[-1].buffer >= c->buffer)))
            wrong(r, where, "buffer", "ascending launches and buffers");
        if (format_get(e + 8, 8) != x->buffers[c->buffer].bytes)
            wrong(r, where, "buffer", "a section as long as its tensor");
        c->data = r->p + format_get(e, 8);
        c->hash = format_get(e + 16, 8);
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
            wrong(r, "contents", x->buffers[i].name, "contents of it");
}

/* What version 2 brought. */
static void get_machine(reader *r, const json_t *root)
{
    const json_t *limit = json_object_get(root, "max_slowdown");
    recording *x = r->out;

    x->machine = get_pairs(r, root, "machine", &x->n_machine);
    if (!json_is_real(limit) || json_real_value(limit) < 0)
        wrong(r, "", "max_slowdown", "a number of at least 0");
    else
        x->max_slowdown = json_real_value(limit);
}

static void get_manifest(reader *r, const json_t *root, uint32_t n_sections)
{
    recording *x = r->out;
    recording_buffer *buffers;
    recording_launch *launches;
    const json_t *list;

    x->layer = get_text(r, root, "", "layer");
    x->type = get_text(r, root, "", "type");
    x->tool = get_text(r, root, "", "tool");
    x->backend = get_text(r, root, "", "backend");
    x->device = get_text(r, root, "", "device");
    x->version = get_text(r, root, "", "version");
    x->promoted = get_bool(r, root, "", "promoted");
    x->stages = get_bool(r, root, "", "stages");
    x->params = get_pairs(r, root, "params", &x->n_params);
    if (format_get(r->p + FORMAT_VERSION_AT, 4) > 1)
        get_machine(r, root);
    list = get_list(r, root, "", "buffers", &x->n_buffers);
    x->buffers = buffers =
        arena_array(r->a, recording_buffer, x->n_buffers + 1);
    for (uint32_t i = 0; i < x->n_buffers && !r->failed; i++)
        get_buffer(r, json_array_get(list, i), i, &buffers[i]);
    list = get_list(r, root, "", "launches", &x->n_launches);
    x->launches = launches =
        arena_array(r->a, recording_launch, x->n_launches + 1);
    for (uint32_t i = 0; i < x->n_launches && !r->failed; i++)
        get_launch(r, json_array_get(list, i), i, &launches[i]);
    if (!r->failed)
        get_contents(r, root, n_sections);
    if (!r->failed)
        check_complete(r);
}

vpu_status recording_parse(const void *data, size_t n, const char *path,
                           arena *a, recording *out, vpu_error *err)
{
    vpu_error mine;
    reader r = {data, n, path, a, out, err ? err : &mine, false};
    uint32_t n_sections = 0;
    const unsigned char *e;
    json_error_t why;
    json_t *root;
    vpu_status st = read_head(&r, &n_sections);

    memset(out, 0, sizeof *out);
    if (!st)
        st = check_sections(&r, n_sections);
    if (st)
        return st;
    e = entry_of(&r, 0);
    if (format_get(e + 8, 8) > RECORDING_MAX_MANIFEST)
        return err_set(r.err, VPU_ERR_LIMIT,
                       "%s: byte %d: a manifest of %" PRIu64
                       " bytes, the limit is %" PRIu64,
                       path, FORMAT_HEAD + 8, format_get(e + 8, 8),
                       RECORDING_MAX_MANIFEST);
    root =
        json_loadb((const char *)r.p + format_get(e, 8),
                   (size_t)format_get(e + 8, 8), JSON_REJECT_DUPLICATES, &why);
    if (!root)
        return bad(&r, format_get(e, 8) + (uint64_t)why.position,
                   "the manifest is not JSON: %s", why.text);
    get_manifest(&r, root, n_sections);
    json_decref(root);
    return r.failed ? VPU_ERR_PARSE : VPU_OK;
}

/* What is no recording is refused before it is read as a whole. */
static vpu_status check_front(const file_in *f, vpu_error *err)
{
    unsigned char front[FORMAT_HEAD];
    vpu_error mine;
    reader r = {.p = front,
                .n = f->bytes < sizeof front ? f->bytes : sizeof front,
                .path = f->path,
                .err = err ? err : &mine};
    vpu_status st = file_in_read(f, 0, front, r.n, r.err);

    return st ? st : check_head(&r, f->bytes);
}

vpu_status recording_read(const char *path, arena *a, recording *out,
                          vpu_error *err)
{
    char *data = NULL;
    size_t n = 0;
    file_in f;
    vpu_status st = file_in_open(&f, path, RECORDING_MAX_BYTES, err);

    if (st)
        return st;
    st = check_front(&f, err);
    if (!st)
        st = file_in_all(&f, a, &data, &n, err);
    file_in_close(&f);
    return st ? st : recording_parse(data, n, path, a, out, err);
}
