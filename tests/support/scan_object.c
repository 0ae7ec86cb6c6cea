/* Functions and relocations of an ELF object. */
#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/scan.h"

typedef struct {
    const uint8_t *bytes;
    size_t n;
    const Elf64_Shdr *headers;
    unsigned n_headers;
    arena *a;
    scan_section *sections;
} object;

static const uint8_t *bytes_of(const object *o, const Elf64_Shdr *s)
{
    return s->sh_type != SHT_NOBITS && s->sh_offset <= o->n &&
                   s->sh_size <= o->n - s->sh_offset
               ? o->bytes + s->sh_offset
               : NULL;
}

static const Elf64_Shdr *symbols(const object *o)
{
    for (unsigned k = 0; k < o->n_headers; k++)
        if (o->headers[k].sh_type == SHT_SYMTAB)
            return &o->headers[k];
    return NULL;
}

static const char *name_of(const object *o, const Elf64_Sym *s)
{
    return (const char *)o->bytes + o->headers[symbols(o)->sh_link].sh_offset +
           s->st_name;
}

static int by_place(const void *a, const void *b)
{
    const scan_relocation *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at;
}

static void read_relocations(object *o, const Elf64_Shdr *from)
{
    const Elf64_Rela *r = (const Elf64_Rela *)(o->bytes + from->sh_offset);
    size_t n = from->sh_size / sizeof *r;
    scan_relocation *to = arena_array(o->a, scan_relocation, n + 1);
    const Elf64_Sym *list =
        (const Elf64_Sym *)(o->bytes + symbols(o)->sh_offset);

    for (size_t k = 0; k < n; k++) {
        const Elf64_Sym *s = &list[ELF64_R_SYM(r[k].r_info)];
        bool here = s->st_shndx != SHN_UNDEF && s->st_shndx < o->n_headers;

        to[k] = (scan_relocation){.at = r[k].r_offset,
                                  .type = (uint32_t)ELF64_R_TYPE(r[k].r_info),
                                  .symbol = name_of(o, s),
                                  .section = here ? s->st_shndx : -1,
                                  .addend = r[k].r_addend +
                                            (int64_t)(here ? s->st_value : 0)};
    }
    qsort(to, n, sizeof *to, by_place);
    o->sections[from->sh_info].relocations = to;
    o->sections[from->sh_info].n_relocations = n;
}

static const char *read_sections(object *o)
{
    o->sections = arena_array(o->a, scan_section, o->n_headers + 1);
    for (unsigned k = 0; k < o->n_headers; k++) {
        const Elf64_Shdr *s = &o->headers[k];

        if (!(s->sh_flags & SHF_ALLOC))
            continue;
        if (s->sh_flags & SHF_WRITE && s->sh_size)
            return "a section that can be written";
        o->sections[k] =
            (scan_section){.bytes = bytes_of(o, s),
                           .length = s->sh_size,
                           .executable = (s->sh_flags & SHF_EXECINSTR) != 0,
                           .present = bytes_of(o, s) != NULL};
    }
    for (unsigned k = 0; k < o->n_headers; k++)
        if (o->headers[k].sh_type == SHT_RELA)
            read_relocations(o, &o->headers[k]);
    return NULL;
}

static const char *scan_symbol(const object *o, const Elf64_Sym *s,
                               uint32_t args_bytes)
{
    const scan_section *in = &o->sections[s->st_shndx];
    const char *wrong;

    if (!in->present || !in->executable || s->st_value > in->length ||
        s->st_size > in->length - s->st_value || !s->st_size)
        return arena_printf(o->a, "%s is not in the code", name_of(o, s));
    wrong = scan_function(o->sections, o->n_headers, s->st_shndx, s->st_value,
                          s->st_size, args_bytes, o->a);
    return wrong ? arena_printf(o->a, "%s%s", name_of(o, s), wrong) : NULL;
}

const char *scan_object(const uint8_t *bytes, size_t n, uint32_t args_bytes,
                        arena *a)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)bytes;
    object o = {.bytes = bytes, .n = n, .a = a};
    const char *wrong = NULL;
    const Elf64_Sym *list;
    size_t functions = 0;

    if (n < sizeof *head || head->e_shoff > n ||
        head->e_shnum > (n - head->e_shoff) / sizeof *o.headers)
        return "not an ELF object";
    o.headers = (const Elf64_Shdr *)(bytes + head->e_shoff);
    o.n_headers = head->e_shnum;
    if (!symbols(&o))
        return "no symbols";
    wrong = read_sections(&o);
    list = (const Elf64_Sym *)(bytes + symbols(&o)->sh_offset);
    for (size_t k = 0; k < symbols(&o)->sh_size / sizeof *list && !wrong; k++)
        if (ELF64_ST_TYPE(list[k].st_info) == STT_FUNC) {
            functions++;
            wrong = scan_symbol(&o, &list[k], args_bytes);
        }
    return wrong || functions ? wrong : "no functions";
}
