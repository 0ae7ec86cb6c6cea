/* Programs' binaries: the texts that a program was compiled of, each with its
 * options and headers, so that it can be made again. */
#include <stdlib.h>
#include <string.h>

#include "runtime/icd/icd.h"

static const char magic[] = "vpusim OpenCL program 2\n";

static const char *const types[] = {
    [CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT] = "object",
    [CL_PROGRAM_BINARY_TYPE_LIBRARY] = "library",
    [CL_PROGRAM_BINARY_TYPE_EXECUTABLE] = "executable"};

static void add_text(str *to, const char *text)
{
    str_add(to, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void add_number(str *to, cl_uint n)
{
    str_printf(to, "%u", n);
    str_add(to, "", 1);
}

/* The text at *at, which is then behind it; NULL: it does not end. */
static const char *next_text(const char **at, const char *end)
{
    const char *text = *at;
    const char *stop =
        text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;

    if (stop)
        *at = stop + 1;
    return stop ? text : NULL;
}

static bool next_number(const char **at, const char *end, cl_uint *n)
{
    const char *text = next_text(at, end);
    unsigned long long v;

    /* No binary has more headers or texts than bytes. */
    if (!text || !str_to_u64(text, &v) || v > (unsigned long long)(end - *at))
        return false;
    *n = (cl_uint)v;
    return true;
}

void icd_texts_add(icd_texts *texts, const icd_text *t)
{
    str *to = &texts->bytes;

    add_text(to, t->options);
    add_text(to, t->source);
    add_number(to, t->n_headers);
    for (cl_uint i = 0; i < t->n_headers; i++) {
        add_text(to, t->names[i]);
        add_text(to, t->headers[i]);
    }
    texts->n++;
}

/* The one at *at, which is then behind it; arrays are in a. */
static bool next(const char **at, const char *end, icd_text *out, arena *a)
{
    const char **names, **headers;

    out->options = next_text(at, end);
    out->source = next_text(at, end);
    if (!out->options || !out->source || !next_number(at, end, &out->n_headers))
        return false;
    out->names = names = arena_array(a, const char *, out->n_headers + 1);
    out->headers = headers = arena_array(a, const char *, out->n_headers + 1);
    for (cl_uint i = 0; i < out->n_headers; i++) {
        names[i] = next_text(at, end);
        headers[i] = next_text(at, end);
        if (!names[i] || !headers[i])
            return false;
    }
    return true;
}

icd_text *icd_texts_list(const icd_texts *texts, arena *a)
{
    const char *at = str_text(&texts->bytes), *end = at + texts->bytes.n;
    icd_text *list = arena_array(a, icd_text, texts->n + 1);

    for (cl_uint i = 0; i < texts->n; i++)
        if (!next(&at, end, &list[i], a))
            return NULL;
    return at == end ? list : NULL;
}

bool icd_texts_have(const icd_texts *texts, const char *option)
{
    arena *a = arena_create(0);
    const icd_text *list = icd_texts_list(texts, a);
    bool found = false;

    for (cl_uint i = 0; list && i < texts->n; i++)
        found |= strstr(list[i].options, option) != NULL;
    arena_destroy(a);
    return found;
}

void icd_binary_make(cl_program p, str *out)
{
    str_add(out, magic, sizeof magic);
    add_text(out, types[p->type]);
    add_text(out, p->options);
    add_number(out, p->texts.n);
    str_add(out, str_text(&p->texts.bytes), p->texts.bytes.n);
}

static cl_program_binary_type type_named(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i] && !strcmp(types[i], name))
            return (cl_program_binary_type)i;
    return CL_PROGRAM_BINARY_TYPE_NONE;
}

bool icd_binary_read(cl_program p, const unsigned char *bytes, size_t n)
{
    const char *at = (const char *)bytes, *end = at + n;
    const char *type, *options;
    icd_text *list;
    arena *a;

    if (n < sizeof magic || memcmp(at, magic, sizeof magic))
        return false;
    at += sizeof magic;
    type = next_text(&at, end);
    options = next_text(&at, end);
    if (!type || !options || !next_number(&at, end, &p->texts.n) || !p->texts.n)
        return false;
    p->type = type_named(type);
    str_add(&p->texts.bytes, at, (size_t)(end - at));
    a = arena_create(0);
    list = icd_texts_list(&p->texts, a);
    if (list) {
        p->binary = true;
        p->options = strdup(options);
        if (p->texts.n == 1)
            p->source = strdup(list->source);
    }
    arena_destroy(a);
    return list && p->type != CL_PROGRAM_BINARY_TYPE_NONE;
}
