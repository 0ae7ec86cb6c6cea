/* ELF32 little-endian container, written and read by hand: five fields of each
 * header matter (docs/formats.md, "ELF fields") and no library writes so
 * few. */
#include "sim/compiler/store/object.h"

#include <string.h>

enum { EHDR = 52, PHDR = 32, SHDR = 40, MAX_SECTIONS = 64 };

static void w16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

static void w32(uint8_t *p, uint32_t v)
{
    w16(p, v);
    w16(p + 2, v >> 16);
}

static uint32_t r16(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8;
}

static uint32_t r32(const uint8_t *p)
{
    return r16(p) | r16(p + 2) << 16;
}

static size_t up(size_t n)
{
    return (n + 15) & ~(size_t)15;
}

uint8_t *object_build(const object_section *sections, uint32_t n, arena *a,
                      size_t *n_bytes)
{
    size_t names = 1 + sizeof ".shstrtab", at = up(EHDR + PHDR), shoff;
    size_t name_at = 1, total;
    uint8_t *f, *sh;
    char *str;

    for (uint32_t i = 0; i < n; i++) {
        names += strlen(sections[i].name) + 1;
        at += up(sections[i].n_bytes);
    }
    shoff = up(at + names);
    total = shoff + SHDR * (size_t)(n + 2);
    f = arena_push(a, total, 1, 16);
    memcpy(f, "\177ELF\1\1\1", 7);
    w16(f + 16, 2); /* executable: the host wants a program header */
    w32(f + 20, 1);
    w32(f + 28, EHDR);
    w32(f + 32, (uint32_t)shoff);
    w16(f + 40, EHDR);
    w16(f + 42, PHDR);
    w16(f + 44, 1);
    w16(f + 46, SHDR);
    w16(f + 48, n + 2);
    w16(f + 50, n + 1);
    sh = f + shoff + SHDR; /* section 0 is empty */
    str = (char *)f + at;
    at = up(EHDR + PHDR);
    for (uint32_t i = 0; i < n; i++, sh += SHDR) {
        size_t len = strlen(sections[i].name) + 1;

        memcpy(str + name_at, sections[i].name, len);
        memcpy(f + at, sections[i].data, sections[i].n_bytes);
        w32(sh, (uint32_t)name_at);
        w32(sh + 4, 1);
        w32(sh + 16, (uint32_t)at);
        w32(sh + 20, (uint32_t)sections[i].n_bytes);
        w32(sh + 32, 16);
        name_at += len;
        at += up(sections[i].n_bytes);
    }
    memcpy(str + name_at, ".shstrtab", sizeof ".shstrtab");
    w32(sh, (uint32_t)name_at);
    w32(sh + 4, 3);
    w32(sh + 16, (uint32_t)at);
    w32(sh + 20, (uint32_t)names);
    w32(sh + 32, 1);
    *n_bytes = total;
    return f;
}

static bool header_ok(const uint8_t *f, size_t n)
{
    return n >= EHDR && !memcmp(f, "\177ELF", 4) && f[4] == 1 && f[5] == 1;
}

bool object_find(const uint8_t *f, size_t n, const char *name,
                 const uint8_t **data, size_t *size)
{
    uint32_t shoff, count, names_idx, names_at, names_n;
    size_t len = strlen(name) + 1;

    if (!header_ok(f, n))
        return false;
    shoff = r32(f + 32);
    count = r16(f + 48);
    names_idx = r16(f + 50);
    if (shoff > n || count > MAX_SECTIONS * 16u || (n - shoff) / SHDR < count ||
        names_idx >= count)
        return false;
    names_at = r32(f + shoff + SHDR * (size_t)names_idx + 16);
    names_n = r32(f + shoff + SHDR * (size_t)names_idx + 20);
    if (names_at > n || names_n > n - names_at)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *sh = f + shoff + SHDR * (size_t)i;
        uint32_t at = r32(sh), off = r32(sh + 16), bytes = r32(sh + 20);

        if (at >= names_n || names_n - at < len ||
            memcmp(f + names_at + at, name, len))
            continue;
        if (off > n || bytes > n - off)
            return false;
        *data = f + off;
        *size = bytes;
        return true;
    }
    return false;
}

object_kind object_classify(const uint8_t *f, size_t n)
{
    const uint8_t *data;
    size_t size;

    if (!header_ok(f, n))
        return n >= 4 && !memcmp(f, "\177ELF", 4) ? OBJECT_FOREIGN
                                                  : OBJECT_NOT_ELF;
    return object_find(f, n, ".vpusim.source", &data, &size) &&
                   object_find(f, n, ".vpusim.info", &data, &size)
               ? OBJECT_OURS
               : OBJECT_FOREIGN;
}
