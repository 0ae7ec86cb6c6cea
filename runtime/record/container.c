/* Files of sections: written, and read without believing a byte. */
#include "runtime/record/container.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <xxhash.h>

#include "base/file.h"
#include "runtime/record/format.h"

/* --- writing ------------------------------------------------------------- */

/* Head and table. */
static unsigned char *make_head(const container_kind *kind,
                                container_section *sections, uint32_t n,
                                size_t *n_bytes)
{
    size_t size = FORMAT_HEAD + (size_t)n * FORMAT_ENTRY;
    unsigned char *p = calloc(1, size), *e = p ? p + FORMAT_HEAD : NULL;
    uint64_t at = format_align(size);

    *n_bytes = size;
    if (!p)
        return NULL;
    for (uint32_t i = 0; i < n; i++, e += FORMAT_ENTRY) {
        container_section *s = &sections[i];

        s->hash = XXH64(s->data, s->bytes, 0);
        format_put(e, 8, at);
        format_put(e + 8, 8, s->bytes);
        format_put(e + 16, 8, s->hash);
        at = format_align(at + s->bytes);
    }
    memcpy(p, kind->magic, 8);
    format_put(p + FORMAT_VERSION_AT, 4, kind->version);
    format_put(p + FORMAT_SECTIONS_AT, 4, n);
    format_put(p + FORMAT_BYTES_AT, 8, at);
    format_put(p + FORMAT_TABLE_HASH_AT, 8,
               XXH64(p + FORMAT_HEAD, size - FORMAT_HEAD, 0));
    format_put(p + FORMAT_HEAD_HASH_AT, 8, XXH64(p, FORMAT_HEAD_HASH_AT, 0));
    return p;
}

static void put_section(FILE *f, const void *data, uint64_t bytes)
{
    static const char zeros[FORMAT_ALIGN];

    fwrite(data, 1, bytes, f);
    fwrite(zeros, 1, format_align(bytes) - bytes, f);
}

vpu_status container_write(const char *path, const container_kind *kind,
                           container_section *sections, uint32_t n,
                           vpu_error *err)
{
    size_t n_head;
    unsigned char *p = make_head(kind, sections, n, &n_head);
    file_out out;
    vpu_status st;

    if (!p)
        return err_set(err, VPU_ERR_NOMEM, "%s: no memory for its head", path);
    st = file_out_open(&out, path, err);
    if (!st) {
        put_section(out.stream, p, n_head);
        for (uint32_t i = 0; i < n; i++)
            put_section(out.stream, sections[i].data, sections[i].bytes);
        st = file_out_commit(&out, err);
    }
    free(p);
    return st;
}

/* --- reading ------------------------------------------------------------- */

vpu_status container_bad(const container *c, uint64_t at, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    err_vset(c->err, VPU_ERR_PARSE, fmt, ap);
    va_end(ap);
    return err_in(c->err, VPU_ERR_PARSE, "%s: byte %" PRIu64, c->path, at);
}

static vpu_status check_zeros(const container *c, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        if (c->p[i])
            return container_bad(c, i, "%02x, expected 00 between sections",
                                 c->p[i]);
    return VPU_OK;
}

/* The head alone; total: bytes of the file. */
static vpu_status check_head(const container *c, uint64_t total)
{
    const container_kind *k = c->kind;
    uint64_t version, bytes, hash;

    if (c->n < 8 || memcmp(c->p, k->magic, 8))
        return container_bad(c, 0, "not a %s: expected %s", k->called,
                             k->begin);
    if (c->n < FORMAT_HEAD)
        return container_bad(c, c->n, "the file ends in its head of %d bytes",
                             FORMAT_HEAD);
    version = format_get(c->p + FORMAT_VERSION_AT, 4);
    if (version < k->oldest || version > k->version)
        return err_set(c->err, VPU_ERR_UNSUPPORTED,
                       "%s: byte %d: a %s of version %" PRIu64
                       ", this program reads versions %u to %u",
                       c->path, FORMAT_VERSION_AT, k->called, version,
                       k->oldest, k->version);
    hash = format_get(c->p + FORMAT_HEAD_HASH_AT, 8);
    if (hash != XXH64(c->p, FORMAT_HEAD_HASH_AT, 0))
        return container_bad(c, FORMAT_HEAD_HASH_AT,
                             "the head has changed: hash %016" PRIx64
                             ", expected %016" PRIx64,
                             XXH64(c->p, FORMAT_HEAD_HASH_AT, 0), hash);
    bytes = format_get(c->p + FORMAT_BYTES_AT, 8);
    if (bytes != total)
        return container_bad(c, FORMAT_BYTES_AT,
                             "the file should have %" PRIu64
                             " bytes, it has %" PRIu64,
                             bytes, total);
    return VPU_OK;
}

static vpu_status read_head(container *c)
{
    uint64_t n, table, hash;
    vpu_status st = check_head(c, c->n);

    if (st)
        return st;
    n = format_get(c->p + FORMAT_SECTIONS_AT, 4);
    table = n * FORMAT_ENTRY;
    if (!n || format_align(FORMAT_HEAD + table) > c->n)
        return container_bad(c, FORMAT_SECTIONS_AT,
                             "%" PRIu64 " sections, expected 1 to %zu", n,
                             (c->n - FORMAT_HEAD) / FORMAT_ENTRY);
    hash = format_get(c->p + FORMAT_TABLE_HASH_AT, 8);
    if (hash != XXH64(c->p + FORMAT_HEAD, table, 0))
        return container_bad(c, FORMAT_HEAD,
                             "the table of sections has changed: hash "
                             "%016" PRIx64 ", expected %016" PRIx64,
                             XXH64(c->p + FORMAT_HEAD, table, 0), hash);
    st = check_zeros(c, FORMAT_HEAD_USED, FORMAT_HEAD);
    if (!st)
        st = check_zeros(c, FORMAT_HEAD + table,
                         format_align(FORMAT_HEAD + table));
    c->version = (uint32_t)format_get(c->p + FORMAT_VERSION_AT, 4);
    c->n_sections = (uint32_t)n;
    return st;
}

uint64_t container_row(const container *c, uint32_t i)
{
    (void)c;
    return FORMAT_HEAD + (uint64_t)i * FORMAT_ENTRY;
}

uint64_t container_place(const container *c, uint32_t i)
{
    return format_get(c->p + container_row(c, i), 8);
}

container_section container_at(const container *c, uint32_t i)
{
    const unsigned char *e = c->p + container_row(c, i);

    return (container_section){c->p + format_get(e, 8), format_get(e + 8, 8),
                               format_get(e + 16, 8)};
}

/* Sections follow each other without gaps up to the end of the file. */
vpu_status container_check(container *c)
{
    vpu_status st = read_head(c);
    uint64_t at;

    if (st)
        return st;
    at = format_align(container_row(c, c->n_sections));
    for (uint32_t i = 0; i < c->n_sections; i++) {
        const unsigned char *e = c->p + container_row(c, i);
        uint64_t offset = format_get(e, 8), bytes = format_get(e + 8, 8);
        uint64_t hash = format_get(e + 16, 8), got;

        if (offset != at)
            return container_bad(c, (uint64_t)(e - c->p),
                                 "section %u begins at %" PRIu64
                                 ", expected %" PRIu64,
                                 i, offset, at);
        if (bytes > c->n - at || format_align(bytes) > c->n - at)
            return container_bad(c, (uint64_t)(e - c->p) + 8,
                                 "section %u has %" PRIu64
                                 " bytes, but only %" PRIu64 " are left",
                                 i, bytes, c->n - at);
        got = XXH64(c->p + at, bytes, 0);
        if (got != hash)
            return container_bad(c, at,
                                 "section %u has changed: hash %016" PRIx64
                                 ", expected %016" PRIx64,
                                 i, got, hash);
        st = check_zeros(c, at + bytes, at + format_align(bytes));
        if (st)
            return st;
        at += format_align(bytes);
    }
    return at == c->n
               ? VPU_OK
               : container_bad(c, at,
                               "%" PRIu64 " bytes behind the last section",
                               c->n - at);
}

/* What is no such file is refused before it is read as a whole. */
static vpu_status check_front(const file_in *f, const container_kind *kind,
                              vpu_error *err)
{
    unsigned char front[FORMAT_HEAD];
    container c = {.kind = kind,
                   .p = front,
                   .n = f->bytes < sizeof front ? f->bytes : sizeof front,
                   .path = f->path,
                   .err = err};
    vpu_status st = file_in_read(f, 0, front, c.n, err);

    return st ? st : check_head(&c, f->bytes);
}

vpu_status container_load(const char *path, const container_kind *kind,
                          arena *a, const void **data, size_t *n,
                          vpu_error *err)
{
    vpu_error mine;
    char *bytes = NULL;
    file_in f;
    vpu_status st = file_in_open(&f, path, kind->max_bytes, err);

    if (st)
        return st;
    st = check_front(&f, kind, err ? err : &mine);
    if (!st)
        st = file_in_all(&f, a, &bytes, n, err);
    file_in_close(&f);
    *data = bytes;
    return st;
}
