/* See loader.h. The image: sections with code, then, on pages of their own,
 * what they read, and the table of addresses that _GLOBAL_OFFSET_TABLE_ is.
 * Each symbol has an entry there, used or not. */
#include "sim/compiler/store/loader.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* In front of the code: clang's -fsanitize=function looks at the eight bytes
 * before a function that is called through a pointer. */
enum { MAX_SECTIONS = 4096, MAX_ALIGN = 4096, BEFORE = 64 };

struct loader {
    const uint8_t *object;
    size_t n;
    const Elf64_Shdr *sections;
    unsigned n_sections;
    const Elf64_Sym *symbols;
    size_t n_symbols;
    const char *names;
    size_t n_names;
    uint64_t *at;     /* of each section, its place in the image */
    uint64_t *values; /* of each symbol, its address */
    uint64_t table, bytes, code_bytes;
    uint8_t *image;
};

static vpu_status short_of_memory(vpu_error *err)
{
    return err_set(err, VPU_ERR_NOMEM, "no memory for a kernel's code");
}

static vpu_status damaged(vpu_error *err, const char *what)
{
    return err_set(err, VPU_ERR_PARSE, "host object: %s", what);
}

static bool inside(const loader *l, uint64_t at, uint64_t n)
{
    return at <= l->n && n <= l->n - at;
}

/* --- what it holds -------------------------------------------------------- */

static vpu_status read_head(loader *l, vpu_error *err)
{
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)l->object;

    if (l->n < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) ||
        (uintptr_t)l->object % _Alignof(Elf64_Ehdr))
        return damaged(err, "no ELF file");
    if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_machine != EM_X86_64 ||
        h->e_type != ET_REL)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "host object: not relocatable code for x86-64");
    l->n_sections = h->e_shnum;
    if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shoff % 8 ||
        h->e_shnum > MAX_SECTIONS ||
        !inside(l, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
        return damaged(err, "its sections");
    l->sections = (const Elf64_Shdr *)(l->object + h->e_shoff);
    for (unsigned i = 0; i < l->n_sections; i++) {
        const Elf64_Shdr *s = &l->sections[i];

        /* The place of a section without bytes, too: below, a section's
         * address is formed before its type is looked at. */
        if (!inside(l, s->sh_offset, s->sh_type == SHT_NOBITS ? 0 : s->sh_size))
            return damaged(err, "a section's bytes");
        if (s->sh_addralign > MAX_ALIGN ||
            (s->sh_addralign & (s->sh_addralign - 1)))
            return damaged(err, "a section's alignment");
    }
    return VPU_OK;
}

static vpu_status read_symbols(loader *l, vpu_error *err)
{
    for (unsigned i = 0; i < l->n_sections; i++) {
        const Elf64_Shdr *s = &l->sections[i], *names;

        if (s->sh_type != SHT_SYMTAB)
            continue;
        if (l->symbols || s->sh_link >= l->n_sections || s->sh_offset % 8)
            return damaged(err, "its symbols");
        names = &l->sections[s->sh_link];
        l->symbols = (const Elf64_Sym *)(l->object + s->sh_offset);
        l->n_symbols = s->sh_size / sizeof *l->symbols;
        l->names = (const char *)l->object + names->sh_offset;
        l->n_names = names->sh_type == SHT_STRTAB ? names->sh_size : 0;
    }
    if (l->n_names && l->names[l->n_names - 1])
        return damaged(err, "names without an end");
    for (size_t i = 0; i < l->n_symbols; i++)
        if (l->symbols[i].st_name >= l->n_names)
            return damaged(err, "a symbol's name");
    return VPU_OK;
}

static const char *name_of(const loader *l, size_t symbol)
{
    return l->names + l->symbols[symbol].st_name;
}

/* --- where it goes -------------------------------------------------------- */

static bool is_kept(const Elf64_Shdr *s)
{
    return (s->sh_flags & SHF_ALLOC) && s->sh_type != SHT_NULL;
}

static uint64_t align_to(uint64_t x, uint64_t to)
{
    return (x + to - 1) & ~(to - 1);
}

static vpu_status place(loader *l, vpu_error *err)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    l->at = calloc(l->n_sections + 1, sizeof *l->at);
    if (!l->at)
        return short_of_memory(err);
    l->bytes = BEFORE;
    for (unsigned code = SHF_EXECINSTR;; code = 0) {
        for (unsigned i = 0; i < l->n_sections; i++) {
            const Elf64_Shdr *s = &l->sections[i];

            if (!is_kept(s) || (s->sh_flags & SHF_EXECINSTR) != code)
                continue;
            if ((s->sh_flags & SHF_WRITE) || s->sh_type != SHT_PROGBITS)
                return err_set(err, VPU_ERR_UNSUPPORTED,
                               "host object: a section that is written");
            l->at[i] =
                align_to(l->bytes, s->sh_addralign ? s->sh_addralign : 1);
            l->bytes = l->at[i] + s->sh_size;
            if (l->bytes > l->n + (uint64_t)MAX_SECTIONS * MAX_ALIGN)
                return damaged(err, "sections lie in one another");
        }
        l->bytes = align_to(l->bytes, page);
        if (!code)
            break;
        l->code_bytes = l->bytes;
    }
    l->table = l->bytes;
    l->bytes += align_to(l->n_symbols * sizeof(uint64_t), page);
    l->image = mmap(NULL, l->bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (l->image == MAP_FAILED) {
        l->image = NULL;
        return short_of_memory(err);
    }
    for (unsigned i = 0; i < l->n_sections; i++)
        if (is_kept(&l->sections[i]))
            memcpy(l->image + l->at[i], l->object + l->sections[i].sh_offset,
                   l->sections[i].sh_size);
    return VPU_OK;
}

/* --- binding -------------------------------------------------------------- */

static vpu_status find_value(loader *l, size_t i, loader_find *find, void *user,
                             vpu_error *err)
{
    const Elf64_Sym *s = &l->symbols[i];
    const char *name = name_of(l, i);

    if (s->st_shndx == SHN_ABS || (s->st_shndx == SHN_UNDEF && !*name))
        l->values[i] = s->st_value;
    else if (s->st_shndx == SHN_UNDEF && !strcmp(name, "_GLOBAL_OFFSET_TABLE_"))
        l->values[i] = (uintptr_t)l->image + l->table;
    else if (s->st_shndx == SHN_UNDEF) {
        l->values[i] = (uintptr_t)find(user, name);
        if (!l->values[i])
            return err_set(err, VPU_ERR_COMPILE,
                           "host code: %s is called, which is not known", name);
    } else if (s->st_shndx >= l->n_sections)
        return damaged(err, "a symbol's section");
    else if (is_kept(&l->sections[s->st_shndx])) {
        if (s->st_value > l->sections[s->st_shndx].sh_size)
            return damaged(err, "a symbol's place");
        l->values[i] = (uintptr_t)l->image + l->at[s->st_shndx] + s->st_value;
    }
    return VPU_OK;
}

static vpu_status find_values(loader *l, loader_find *find, void *user,
                              vpu_error *err)
{
    vpu_status st = VPU_OK;

    l->values = calloc(l->n_symbols + 1, sizeof *l->values);
    if (!l->values)
        return short_of_memory(err);
    for (size_t i = 0; i < l->n_symbols && !st; i++)
        st = find_value(l, i, find, user, err);
    memcpy(l->image + l->table, l->values, l->n_symbols * sizeof *l->values);
    return st;
}

/* One relocation: S, A, P and GOT as the processor's ABI names them. */
static vpu_status relocate(loader *l, unsigned section, const Elf64_Rela *r,
                           vpu_error *err)
{
    const uint64_t symbol = ELF64_R_SYM(r->r_info);
    const uint64_t got = (uintptr_t)l->image + l->table;
    uint64_t place, value, a = (uint64_t)r->r_addend;

    if (symbol >= l->n_symbols || r->r_offset > l->sections[section].sh_size ||
        l->sections[section].sh_size - r->r_offset < sizeof value)
        return damaged(err, "a relocation");
    place = (uintptr_t)l->image + l->at[section] + r->r_offset;
    switch (ELF64_R_TYPE(r->r_info)) {
    case R_X86_64_64:
        value = l->values[symbol] + a;
        break;
    case R_X86_64_PC64:
        value = l->values[symbol] + a - place;
        break;
    case R_X86_64_GOTOFF64:
        value = l->values[symbol] + a - got;
        break;
    case R_X86_64_GOTPC64:
        value = got + a - place;
        break;
    case R_X86_64_GOT64:
        value = symbol * sizeof(uint64_t) + a;
        break;
    default:
        return err_set(err, VPU_ERR_UNSUPPORTED, "host object: relocation %u",
                       (unsigned)ELF64_R_TYPE(r->r_info));
    }
    memcpy(l->image + l->at[section] + r->r_offset, &value, sizeof value);
    return VPU_OK;
}

static vpu_status relocate_all(loader *l, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (unsigned i = 0; i < l->n_sections && !st; i++) {
        const Elf64_Shdr *s = &l->sections[i];
        const Elf64_Rela *list = (const Elf64_Rela *)(l->object + s->sh_offset);

        if (s->sh_type != SHT_RELA)
            continue;
        if (s->sh_info >= l->n_sections || s->sh_offset % 8)
            return damaged(err, "its relocations");
        if (!is_kept(&l->sections[s->sh_info]))
            continue;
        for (uint64_t k = 0; k < s->sh_size / sizeof *list && !st; k++)
            st = relocate(l, s->sh_info, &list[k], err);
    }
    return st;
}

static vpu_status protect(const loader *l, vpu_error *err)
{
    if (mprotect(l->image, l->code_bytes, PROT_READ | PROT_EXEC) ||
        mprotect(l->image + l->code_bytes, l->bytes - l->code_bytes, PROT_READ))
        return err_set(err, VPU_ERR_NOMEM,
                       "a kernel's code cannot be made executable");
    return VPU_OK;
}

vpu_status loader_open(const uint8_t *object, size_t n, loader_find *find,
                       void *user, loader **out, vpu_error *err)
{
    loader *l = malloc(sizeof *l);
    vpu_status st;

    *out = NULL;
    if (!l)
        return short_of_memory(err);
    *l = (loader){.object = object, .n = n};
    st = read_head(l, err);
    if (!st)
        st = read_symbols(l, err);
    if (!st)
        st = place(l, err);
    if (!st)
        st = find_values(l, find, user, err);
    if (!st)
        st = relocate_all(l, err);
    if (!st)
        st = protect(l, err);
    if (st) {
        loader_close(l);
        l = NULL;
    }
    *out = l;
    return st;
}

/* --- what is there -------------------------------------------------------- */

/* The number of the symbol of a kept section, n_symbols: there is none. */
static size_t find_function(const loader *l, const char *name)
{
    for (size_t i = 0; i < l->n_symbols; i++) {
        const Elf64_Sym *s = &l->symbols[i];

        if (ELF64_ST_BIND(s->st_info) == STB_GLOBAL &&
            s->st_shndx != SHN_UNDEF && s->st_shndx < l->n_sections &&
            is_kept(&l->sections[s->st_shndx]) && !strcmp(name_of(l, i), name))
            return i;
    }
    return l->n_symbols;
}

void *loader_function(const loader *l, const char *name)
{
    size_t i = find_function(l, name);

    return i < l->n_symbols ? (void *)(uintptr_t)l->values[i] : NULL;
}

const uint8_t *loader_code(const loader *l, const char *function,
                           uint64_t *bytes)
{
    size_t i = find_function(l, function);
    unsigned section;

    *bytes = 0;
    if (i == l->n_symbols)
        return NULL;
    section = l->symbols[i].st_shndx;
    *bytes = l->sections[section].sh_size;
    return l->image + l->at[section];
}

bool loader_place(const uint8_t *object, size_t n, const char *function,
                  uint64_t *offset, uint64_t *bytes)
{
    loader l = {.object = object, .n = n};
    size_t i;

    if (read_head(&l, NULL) || read_symbols(&l, NULL))
        return false;
    i = find_function(&l, function);
    if (i == l.n_symbols)
        return false;
    *offset = l.symbols[i].st_value;
    *bytes = l.sections[l.symbols[i].st_shndx].sh_size;
    return true;
}

void loader_close(loader *l)
{
    if (!l)
        return;
    if (l->image)
        munmap(l->image, l->bytes);
    free(l->at);
    free(l->values);
    free(l);
}
