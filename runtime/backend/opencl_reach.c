/* Reads the text as far as its braces and names go: what stands outside of
 * braces and has a parameter list in front of its body is a function, and a
 * name in a body that a function has is a call of it. */
#include "runtime/backend/opencl_reach.h"

#include <string.h>

#include "base/str.h"
#include "runtime/backend/opencl_words.h"

typedef struct {
    const char *name;
    size_t length;
    const char *begin, *end; /* the definition */
    bool reached;
} function;

typedef struct {
    const char *text;
    function *list;
    size_t n, cap;
} reader;

static bool is_line_start(const char *text, const char *p)
{
    while (p > text && (p[-1] == ' ' || p[-1] == '\t'))
        p--;
    return p == text || p[-1] == '\n';
}

/* The bytes of what stands at p: a name, a literal, a line of a directive, or
 * one character. */
static size_t token_length(const char *text, const char *p)
{
    size_t n = opencl_name_length(p);

    if (n)
        return n;
    if (*p == '"' || *p == '\'')
        return opencl_literal_length(p);
    return *p == '#' && is_line_start(text, p) ? strcspn(p, "\n") : 1;
}

/* Behind the bracket that closes the one at p; the text's end if none does. */
static const char *behind_bracket(const char *text, const char *p)
{
    char open = *p, close = open == '(' ? ')' : '}';
    int depth = 0;

    while (*p) {
        depth += (*p == open) - (*p == close);
        if (*p == close && !depth)
            return p + 1;
        p += token_length(text, p);
    }
    return p;
}

static bool is_attribute(const char *p, size_t n)
{
    return (n == 13 && !strncmp(p, "__attribute__", n)) ||
           (n == 11 && !strncmp(p, "__attribute", n));
}

/* The name in front of the first parameter list from p to end, NULL if there is
 * none, or nothing but a type in front of the body. */
static const char *name_of(const char *text, const char *p, const char *end,
                           size_t *length)
{
    const char *name = NULL;
    bool list = false;

    *length = 0;
    while (p < end) {
        size_t n = token_length(text, p);

        if (opencl_name_length(p)) {
            if (!list) {
                name = p;
                *length = n;
            }
        } else if (*p == '(') {
            list |= name && !is_attribute(name, *length);
            n = (size_t)(behind_bracket(text, p) - p);
        } else if (*p == '=') {
            return NULL;
        }
        p += n;
    }
    return list ? name : NULL;
}

static void find_functions(reader *r, arena *a)
{
    const char *p = r->text, *begin = p;

    while (*p) {
        size_t n = token_length(r->text, p);

        if (*p == '{') {
            size_t length;
            const char *name = name_of(r->text, begin, p, &length);
            const char *end = behind_bracket(r->text, p);

            if (name) {
                *arena_append(a, r->list, r->n, r->cap) =
                    (function){name, length, begin, end, false};
                begin = end;
            }
            n = (size_t)(end - p);
        } else if (*p == ';') {
            begin = p + 1;
        }
        p += n;
    }
}

static bool is_called(const function *f, const char *p, size_t n)
{
    return f->length == n && !strncmp(f->name, p, n);
}

/* All functions of that name, and what their text names. The stack has room for
 * each function once. */
static void reach(reader *r, const char *name, size_t length, function **stack)
{
    size_t top = 0;

    for (size_t i = 0; i < r->n; i++)
        if (is_called(&r->list[i], name, length) && !r->list[i].reached) {
            r->list[i].reached = true;
            stack[top++] = &r->list[i];
        }
    while (top) {
        const function *f = stack[--top];

        for (const char *p = f->begin; p < f->end;
             p += token_length(r->text, p)) {
            size_t n = opencl_name_length(p);

            for (size_t i = 0; i < r->n && n; i++)
                if (!r->list[i].reached && is_called(&r->list[i], p, n)) {
                    r->list[i].reached = true;
                    stack[top++] = &r->list[i];
                }
        }
    }
}

/* # 12 "file.cl", no pragma */
static bool is_line_mark(const char *p, size_t n)
{
    return n > 2 && p[0] == '#' && p[1] == ' ' && isdigit((unsigned char)p[2]);
}

/* Its ends of lines, and what they are said to be lines of. */
static void put_lines(const reader *r, const function *f, str *out)
{
    for (const char *p = f->begin; p < f->end;) {
        size_t n = token_length(r->text, p);

        if (*p == '\n' || is_line_mark(p, n))
            str_add(out, p, n);
        p += n;
    }
}

const char *opencl_reach(const char *text, const char *entry, arena *a)
{
    static const char *const prefixes[] = {"", "__dma_preload_",
                                           "__dma_postwrite_"};
    reader r = {.text = text};
    function **stack;
    str out = {0};
    const char *at = text;
    bool any = false;

    find_functions(&r, a);
    stack = arena_array(a, function *, r.n + 1);
    for (int i = 0; i < 3; i++) {
        const char *name = arena_printf(a, "%s%s", prefixes[i], entry);

        reach(&r, name, strlen(name), stack);
    }
    for (size_t i = 0; i < r.n; i++)
        any |= r.list[i].reached;
    for (size_t i = 0; i < r.n && any; i++) {
        if (r.list[i].reached)
            continue;
        str_add(&out, at, (size_t)(r.list[i].begin - at));
        put_lines(&r, &r.list[i], &out);
        at = r.list[i].end;
    }
    str_puts(&out, at);
    at = arena_strdup(a, str_text(&out));
    str_free(&out);
    return at;
}
