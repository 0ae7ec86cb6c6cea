/* Any bytes as a blob, and as a kernel's file. Few inputs hold together, so the
 * sizes and offsets of the header are also made to fit the input. What is read
 * is written again, checked and shown. */
#include <stdlib.h>
#include <string.h>

#include "base/word.h"
#include "runtime/blob/blob.h"
#include "runtime/blob/check.h"
#include "runtime/blob/meta.h"
#include "runtime/blob/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void look(const uint8_t *data, size_t n)
{
    arena *a = arena_create(0);
    str again = {0}, text = {0};
    vpu_error err;
    blob b;

    if (!blob_parse(data, n, "fuzz", a, &b, &err)) {
        if (blob_build(&b, &again, &err) || again.n != n ||
            memcmp(again.data, data, n))
            abort();
        blob_check(&b, a, &text);
        blob_show(&b, a, &text);
    }
    str_free(&again);
    str_free(&text);
    arena_destroy(a);
}

/* The first bytes say how the rest is divided into sections. */
static void seal(const uint8_t *data, size_t n)
{
    size_t size = WIRE_FIRST_SECTION, at = 6;
    uint32_t ends[4];
    uint8_t *p;

    if (n < at)
        return;
    for (int i = 0; i < 4; i++) {
        ends[i] = (uint32_t)size;
        size += BLOB_ALIGN * (size_t)(data[i] % 8);
    }
    p = calloc(1, size);
    memcpy(p, blob_wire_elf, WIRE_ELF);
    word_set(p + 52, BLOB_MAGIC);
    word_set(p + 56, (uint32_t)size);
    word_set(p + 60, 5 + data[4] % 2);
    word_set(p + 68, data[4] / 2 % 4);
    word_set(p + 72, data[4] / 8 % 4);
    word_set(p + 76, data[5] % 4);
    for (int i = 0; i < 4; i++)
        word_set(p + 116 + 4 * i, ends[i]);
    if (n - at > size - WIRE_FIRST_SECTION)
        n = at + size - WIRE_FIRST_SECTION;
    memcpy(p + WIRE_FIRST_SECTION, data + at, n - at);
    look(p, size);
    free(p);
}

static void kernel(const uint8_t *data, size_t n, const char *entry)
{
    arena *a = arena_create(0);
    volatile size_t sum = 0;
    meta_kernel m;
    vpu_error err;

    if (!meta_read(&(const file_bytes){data, n, "fuzz"}, entry, a, &m, &err))
        for (uint32_t i = 0; i < m.n_args; i++)
            sum += strlen(m.args[i]);
    arena_destroy(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    look(data, n);
    seal(data, n);
    kernel(data, n, NULL);
    kernel(data, n, "grn");
    return 0;
}
