/* Any bytes as a recording. Few of them have the right hashes, so the input is
 * also taken for a manifest, and put into a file with sections as long as the
 * numbers behind it say. What is read is written and read again. */
#include <stdlib.h>
#include <xxhash.h>

#include "runtime/record/format.h"
#include "runtime/record/meaning.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void look(const void *data, size_t n)
{
    arena *a = arena_create(0);
    volatile unsigned char sum = 0;
    recording r;
    recording_match match;
    vpu_error err;

    if (!recording_parse(data, n, "fuzz", a, &r, &err)) {
        for (uint32_t i = 0; i < r.n_contents; i++) {
            const recording_content *c = &r.contents[i];
            const unsigned char *p = c->data;

            for (uint64_t k = 0; k < r.buffers[c->buffer].bytes; k++)
                sum ^= p[k];
        }
        for (uint32_t i = 0; i < r.n_buffers; i++)
            if (recording_find(&r, i, RECORDING_BEFORE))
                sum++;
        recording_meaning(&r, &r, a, &match, &err);
        if (recording_same(&r, &r, &err) ||
            recording_write("/dev/shm/recording_fuzz", &r, &err) ||
            recording_read("/dev/shm/recording_fuzz", a, &r, &err))
            abort();
    }
    arena_destroy(a);
}

/* The first byte counts sections, as many bytes behind it are their lengths,
 * the rest is the manifest. */
static void seal(const uint8_t *data, size_t n)
{
    size_t n_more = n ? data[0] % 16 : 0, at, size;
    unsigned char *p;

    if (n < 1 + n_more)
        return;
    at = format_align(FORMAT_HEAD + (n_more + 1) * FORMAT_ENTRY);
    size = at + format_align(n - 1 - n_more);
    for (size_t i = 0; i < n_more; i++)
        size += format_align(data[1 + i]);
    p = calloc(1, size);
    memcpy(p + at, data + 1 + n_more, n - 1 - n_more);
    for (size_t i = 0; i <= n_more; i++) {
        unsigned char *e = p + FORMAT_HEAD + i * FORMAT_ENTRY;
        size_t bytes = i ? data[i] : n - 1 - n_more;

        format_put(e, 8, at);
        format_put(e + 8, 8, bytes);
        format_put(e + 16, 8, XXH64(p + at, bytes, 0));
        at += format_align(bytes);
    }
    memcpy(p, FORMAT_MAGIC, 8);
    format_put(p + FORMAT_VERSION_AT, 4, RECORDING_VERSION);
    format_put(p + FORMAT_SECTIONS_AT, 4, n_more + 1);
    format_put(p + FORMAT_BYTES_AT, 8, size);
    format_put(p + FORMAT_TABLE_HASH_AT, 8,
               XXH64(p + FORMAT_HEAD, (n_more + 1) * FORMAT_ENTRY, 0));
    format_put(p + FORMAT_HEAD_HASH_AT, 8, XXH64(p, FORMAT_HEAD_HASH_AT, 0));
    look(p, size);
    free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    look(data, n);
    seal(data, n);
    return 0;
}
