/* Metadata of kernel files; no offset in them is believed. */
#include "runtime/blob/meta.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/word.h"

enum { SECTION = 40, MAX_ARGS = 1024 };

typedef struct {
    const uint8_t *p;
    uint64_t n;
    const char *path;
    arena *a;
    vpu_error *err;
    uint64_t sections;
    uint32_t n_sections;
} elf;

typedef struct {
    uint64_t at, n;
} range;

static vpu_status bad(const elf *e, uint64_t at, const char *what)
{
    return err_set(e->err, VPU_ERR_PARSE, "%s: byte %" PRIu64 ": %s", e->path,
                   at, what);
}

static bool inside(const elf *e, uint64_t at, uint64_t n)
{
    return at <= e->n && n <= e->n - at;
}

/* A text in r, NULL when it does not end there. */
static const char *text_at(const elf *e, range r, uint64_t at)
{
    const char *s = (const char *)e->p + r.at + at;

    return at < r.n && memchr(s, 0, r.n - at) ? s : NULL;
}

static range section(const elf *e, uint32_t i)
{
    const uint8_t *s = e->p + e->sections + SECTION * (uint64_t)i;
    range r = {word_get(s + 16), word_get(s + 20)};

    return inside(e, r.at, r.n) ? r : (range){0, 0};
}

static vpu_status open_elf(elf *e)
{
    if (e->n < 52 || memcmp(e->p, "\177ELF", 4))
        return bad(e, 0, "not an ELF file, expected 7f 45 4c 46");
    e->sections = word_get(e->p + 32);
    e->n_sections = word_get(e->p + 48) & 0xffff;
    if (!e->sections || !inside(e, e->sections, SECTION * e->n_sections))
        return bad(e, 32, "expected section headers inside the file");
    return VPU_OK;
}

static bool find_section(const elf *e, const char *name, range *out)
{
    uint32_t names_at = word_get(e->p + 48) >> 16;
    range names;

    if (names_at >= e->n_sections)
        return false;
    names = section(e, names_at);
    for (uint32_t i = 0; i < e->n_sections; i++) {
        uint64_t at = e->sections + SECTION * (uint64_t)i;
        const char *s = text_at(e, names, word_get(e->p + at));

        if (s && !strcmp(s, name)) {
            *out = section(e, i);
            return true;
        }
    }
    return false;
}

/* --- .neo_metadata ------------------------------------------------------- */

enum {
    NEO_HEADER = 52,
    NEO_KERNEL = 132,
    NEO_ARG = 28,
    NEO_HOISTED = 8 /* an argument the compiler added */
};

/* An array of count records at `first` inside the section. */
static bool neo_array(range m, uint32_t count, uint32_t first, uint32_t bytes)
{
    return first <= m.n && (uint64_t)count * bytes <= m.n - first;
}

static vpu_status neo_args(const elf *e, range m, range strings,
                           const uint8_t *kernel, meta_kernel *out)
{
    const uint8_t *head = e->p + m.at;
    uint32_t count = word_get(kernel + 4), index = word_get(kernel + 8);
    uint32_t all = word_get(head + 12), first = word_get(head + 16);
    const char **names;

    if (!neo_array(m, all, first, NEO_ARG))
        return bad(e, m.at + 12, "expected arguments inside .neo_metadata");
    if (!count || count > MAX_ARGS || index > all || count > all - index)
        return bad(e, (uint64_t)(kernel - e->p) + 4,
                   "expected 1 to 1024 arguments of those in the table");
    out->args = names = arena_array(e->a, const char *, count);
    for (uint32_t i = 0; i + 1 < count; i++) { /* the last is not one */
        const uint8_t *arg = head + first + NEO_ARG * (uint64_t)(index + i);
        const char *name = text_at(e, strings, word_get(arg + 4));

        if (!name)
            return bad(e, (uint64_t)(arg - e->p) + 4,
                       "expected a name inside .neo_metadata.str");
        if (!(word_get(arg) & NEO_HOISTED))
            names[out->n_args++] = arena_strdup(e->a, name);
    }
    return VPU_OK;
}

static vpu_status neo_read(const elf *e, range m, const char *entry,
                           meta_kernel *out)
{
    const uint8_t *head = e->p + m.at;
    uint32_t first;
    range strings;
    const char *name;

    if (!find_section(e, ".neo_metadata.str", &strings))
        return bad(e, 0, "expected a section .neo_metadata.str");
    if (m.n < NEO_HEADER)
        return bad(e, m.at, "expected a header of 52 bytes in .neo_metadata");
    out->neo = true;
    out->n_kernels = word_get(head + 4);
    first = word_get(head + 8);
    if (!neo_array(m, out->n_kernels, first, NEO_KERNEL))
        return bad(e, m.at + 4, "expected kernels inside .neo_metadata");
    if (out->n_kernels != 1)
        return err_set(e->err, VPU_ERR_INVALID,
                       "%s: binary should contain only one kernel, but "
                       "contains %u",
                       e->path, out->n_kernels);
    name = text_at(e, strings, word_get(head + first + 24));
    if (!name)
        return bad(e, m.at + first + 24,
                   "expected a name inside .neo_metadata.str");
    if (entry && strcmp(name, entry))
        return err_set(e->err, VPU_ERR_INVALID,
                       "%s: no kernel '%s', its kernel is '%s'", e->path, entry,
                       name);
    out->name = arena_strdup(e->a, name);
    return neo_args(e, m, strings, head + first, out);
}

/* --- opencl.kernelArgs.* -------------------------------------------------- */

enum { SYMBOL = 16, SYMTAB = 2, STRTAB = 3, INFO = 24, OLD_ARG = 20 };

/* Symbols and their names; the first table of each counts. */
static void symbol_tables(const elf *e, range tables[2])
{
    tables[0] = tables[1] = (range){0, 0};
    for (uint32_t i = e->n_sections; i-- > 0;) {
        uint32_t type =
            word_get(e->p + e->sections + SECTION * (uint64_t)i + 4);

        if (type == SYMTAB || type == STRTAB)
            tables[type - SYMTAB] = section(e, i);
    }
}

/* Value and section of the symbol called name, in any case. */
static bool find_symbol(const elf *e, const char *name, uint32_t *value,
                        range *where)
{
    range tables[2];

    symbol_tables(e, tables);
    for (uint64_t at = 0; at + SYMBOL <= tables[0].n; at += SYMBOL) {
        const uint8_t *s = e->p + tables[0].at + at;
        const char *text = text_at(e, tables[1], word_get(s));
        uint32_t in = word_get(s + 12) >> 16;

        if (!text || strcasecmp(text, name))
            continue;
        *value = word_get(s + 4);
        *where = in < e->n_sections ? section(e, in) : (range){0, 0};
        return true;
    }
    return false;
}

/* at: of the kernel's record in the file. */
static vpu_status old_args(const elf *e, uint64_t at, range strings,
                           meta_kernel *out)
{
    uint64_t array = at + 16 + word_get(e->p + at + 12);
    const char **names;
    uint32_t count;

    if (!inside(e, array - 4, 4))
        return bad(e, at + 12, "expected arguments inside the file");
    count = word_get(e->p + array - 4);
    if (count > MAX_ARGS || !inside(e, array, (uint64_t)count * OLD_ARG))
        return bad(e, array - 4,
                   "expected at most 1024 arguments inside the file");
    out->args = names = arena_array(e->a, const char *, count + 1);
    for (; out->n_args < count; out->n_args++) {
        uint64_t arg = array + OLD_ARG * (uint64_t)out->n_args;
        const char *name = text_at(e, strings, word_get(e->p + arg));

        if (!name)
            return bad(e, arg, "expected a name in opencl.kernelArgs.strings");
        names[out->n_args] = arena_strdup(e->a, name);
    }
    return VPU_OK;
}

static vpu_status old_read(const elf *e, range info, const char *entry,
                           meta_kernel *out)
{
    uint32_t phoff = word_get(e->p + 28), address, unused, base;
    uint64_t at = info.at + 4;
    range strings, code;

    if (!find_symbol(e, "opencl.kernelArgs.strings", &unused, &strings))
        return bad(e, 0, "expected a symbol opencl.kernelArgs.strings");
    if (!phoff || !inside(e, phoff, 32))
        return bad(e, 28, "expected a program header inside the file");
    if (info.n < 4)
        return bad(e, info.at, "expected kernels in opencl.kernelArgs.info");
    out->n_kernels = word_get(e->p + info.at);
    if (!entry || !find_symbol(e, entry, &address, &code))
        return err_set(e->err, VPU_ERR_INVALID, "%s: no kernel '%s'", e->path,
                       entry ? entry : "");
    out->name = arena_strdup(e->a, entry);
    base = word_get(e->p + phoff + 8);
    for (uint32_t i = 0; i < out->n_kernels; i++) {
        if (!inside(e, at, INFO))
            return bad(e, at, "expected the record of a kernel");
        out->kernel = i;
        if (word_get(e->p + at) == address - base)
            return old_args(e, at, strings, out);
        at += 8 + (uint64_t)word_get(e->p + at + 8);
    }
    return err_set(e->err, VPU_ERR_INVALID,
                   "%s: opencl.kernelArgs.info has no kernel '%s'", e->path,
                   entry);
}

static elf elf_in(const file_bytes *file, arena *a, vpu_error *err)
{
    return (elf){
        .p = file->data, .n = file->n, .path = file->path, .a = a, .err = err};
}

vpu_status meta_read(const file_bytes *file, const char *entry, arena *a,
                     meta_kernel *out, vpu_error *err)
{
    elf e = elf_in(file, a, err);
    vpu_status st = open_elf(&e);
    uint32_t value;
    range r;

    *out = (meta_kernel){0};
    if (st)
        return st;
    if (find_section(&e, ".neo_metadata", &r))
        return neo_read(&e, r, entry, out);
    if (find_symbol(&e, "opencl.kernelArgs.info", &value, &r))
        return old_read(&e, r, entry, out);
    return err_set(err, VPU_ERR_UNSUPPORTED,
                   "%s: no SHAVE metadata: expected a section .neo_metadata or "
                   "a symbol opencl.kernelArgs.info",
                   file->path);
}

/* The name of the symbol with that value, of whatever section; NULL: none. */
static const char *symbol_at(const elf *e, uint32_t value)
{
    range tables[2];

    symbol_tables(e, tables);
    for (uint64_t at = 0; at + SYMBOL <= tables[0].n; at += SYMBOL) {
        const uint8_t *s = e->p + tables[0].at + at;
        const char *text = text_at(e, tables[1], word_get(s));
        uint32_t in = word_get(s + 12) >> 16;

        if (text && *text && in && in < e->n_sections &&
            word_get(s + 4) == value && strncmp(text, "opencl.", 7))
            return text;
    }
    return NULL;
}

static vpu_status old_nth(const elf *e, range info, uint32_t kernel,
                          meta_kernel *out)
{
    uint32_t phoff = word_get(e->p + 28);
    uint64_t at = info.at + 4;
    const char *name = NULL;

    if (!phoff || !inside(e, phoff, 32) || info.n < 4)
        return bad(e, 28, "expected a program header inside the file");
    for (uint32_t i = 0; i < word_get(e->p + info.at) && i <= kernel; i++) {
        if (!inside(e, at, INFO))
            return bad(e, at, "expected the record of a kernel");
        name =
            i == kernel
                ? symbol_at(e, word_get(e->p + at) + word_get(e->p + phoff + 8))
                : NULL;
        at += 8 + (uint64_t)word_get(e->p + at + 8);
    }
    if (!name)
        return err_set(e->err, VPU_ERR_INVALID, "%s: no kernel %u", e->path,
                       kernel);
    return old_read(e, info, name, out);
}

vpu_status meta_read_nth(const file_bytes *file, uint32_t kernel, arena *a,
                         meta_kernel *out, vpu_error *err)
{
    elf e = elf_in(file, a, err);
    vpu_status st = open_elf(&e);
    uint32_t value;
    range r;

    *out = (meta_kernel){0};
    if (st)
        return st;
    if (!find_section(&e, ".neo_metadata", &r) &&
        find_symbol(&e, "opencl.kernelArgs.info", &value, &r))
        return old_nth(&e, r, kernel, out);
    if (kernel)
        return err_set(err, VPU_ERR_INVALID, "%s: no kernel %u", file->path,
                       kernel);
    return meta_read(file, NULL, a, out, err);
}
