/* Looks at OpenCL C as text. */
#include "runtime/lint/source.h"

#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"

enum { MAX_BYTES = 16 << 20 };

static bool word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Length of the comment or literal at s, 0 = neither. */
static size_t opaque(const char *s)
{
    size_t n = 1;

    if (s[0] == '/' && s[1] == '/')
        return strcspn(s, "\n");
    if (s[0] == '/' && s[1] == '*') {
        const char *end = strstr(s + 2, "*/");

        return end ? (size_t)(end - s) + 2 : strlen(s);
    }
    if (s[0] != '"' && s[0] != '\'')
        return 0;
    while (s[n] && s[n] != s[0] && s[n] != '\n')
        n += s[n] == '\\' && s[n + 1] ? 2 : 1;
    return n + (s[n] == s[0]);
}

/* Is there this directive, and nothing but `rest` behind it on the line? NULL:
 * anything. */
static bool directive(const char *line, const char *name, const char *rest)
{
    size_t n = strlen(name);

    line += strspn(line, " \t");
    if (*line++ != '#')
        return false;
    line += strspn(line, " \t");
    if (strncmp(line, name, n) || (rest && word(line[n])))
        return false;
    line += n + strspn(line + n, " \t");
    if (!rest)
        return true;
    return !strncmp(line, rest, strlen(rest)) &&
           strchr(" \t\r\n", line[strlen(rest)]);
}

/* Blanks what stands between #if 0 and its #endif or #else. */
static void mask_never(char *code)
{
    unsigned depth = 0;

    for (char *line = code; *line;) {
        size_t n = strcspn(line, "\n");

        if (!depth) {
            depth = directive(line, "if", "0");
        } else if (directive(line, "if", NULL)) { /* #ifdef, #ifndef, too */
            depth++;
        } else if (directive(line, "endif", NULL) ||
                   (depth == 1 && directive(line, "el", NULL))) {
            depth--;
        }
        if (depth)
            memset(line, ' ', n);
        line += n + (line[n] == '\n');
    }
}

static char *mask(const char *text, size_t n, arena *a)
{
    char *out = arena_strndup(a, text, n);

    for (size_t i = 0; i < n; i++) {
        size_t len = opaque(text + i);

        for (size_t k = 0; k < len; k++)
            if (out[i + k] != '\n')
                out[i + k] = ' ';
        i += len ? len - 1 : 0;
    }
    mask_never(out);
    return out;
}

static size_t blanks(const char *s, size_t i)
{
    while (s[i] && isspace((unsigned char)s[i]))
        i++;
    return i;
}

/* Of the bracket that closes the one at i; the text's end when none does. */
static size_t closing(const lint_source_text *s, size_t i)
{
    char open = s->code[i], close = open == '(' ? ')' : '}';
    unsigned depth = 0;

    for (; i < s->length; i++) {
        if (s->code[i] == open)
            depth++;
        else if (s->code[i] == close && !--depth)
            return i;
    }
    return s->length;
}

static bool keyword(const lint_source_text *s, size_t i, const char *w)
{
    size_t n = strlen(w);

    return !strncmp(s->code + i, w, n) && !word(s->code[i + n]) &&
           (!i || !word(s->code[i - 1]));
}

/* Of the last character of the statement at i; conditions in front of it are
 * part of it. */
static size_t statement_end(const lint_source_text *s, size_t i)
{
    for (;;) {
        i = blanks(s->code, i);
        if (s->code[i] == '{')
            return closing(s, i);
        if (!keyword(s, i, "for") && !keyword(s, i, "while") &&
            !keyword(s, i, "if"))
            break;
        i += strcspn(s->code + i, "(");
        if (i >= s->length)
            return s->length;
        i = closing(s, i) + 1;
        if (i > s->length)
            return s->length;
    }
    return i + strcspn(s->code + i, ";");
}

static void find_loops(lint_source_text *s, arena *a)
{
    lint_source_span *v = NULL;
    size_t n = 0, cap = 0;

    for (size_t i = 0; i < s->length; i++) {
        bool head = keyword(s, i, "for") || keyword(s, i, "while");

        if (head)
            *arena_append(a, v, n, cap) =
                (lint_source_span){i, statement_end(s, i)};
        else if (keyword(s, i, "do"))
            *arena_append(a, v, n, cap) =
                (lint_source_span){i, statement_end(s, i + 2)};
    }
    s->loops = v;
    s->n_loops = (uint32_t)n;
}

vpu_status lint_source_read(const char *path, arena *a, lint_source_text *out,
                            vpu_error *err)
{
    char *text;
    vpu_status st;

    *out = (lint_source_text){.path = path};
    st = file_read(path, MAX_BYTES, a, &text, &out->length, err);
    if (st)
        return st;
    out->length = strlen(text); /* a zero byte ends what can be looked at */
    out->text = text;
    out->code = mask(text, out->length, a);
    for (const char *s = out->code; (s = strstr(s, "#")); s++) {
        size_t i = 1 + strspn(s + 1, " \t");

        out->includes |= !strncmp(s + i, "include", 7);
    }
    find_loops(out, a);
    return VPU_OK;
}

void lint_source_position(const lint_source_text *s, size_t at, uint32_t *line,
                          uint32_t *col)
{
    *line = *col = 1;
    for (size_t i = 0; i < at && i < s->length; i++) {
        ++*col;
        if (s->text[i] == '\n') {
            ++*line;
            *col = 1;
        }
    }
}

size_t lint_source_offset(const lint_source_text *s, uint32_t line,
                          uint32_t col)
{
    size_t i = 0;

    while (line > 1 && i < s->length)
        line -= s->text[i++] == '\n';
    i += col ? col - 1 : 0;
    return line > 1 || i > s->length ? s->length : i;
}

static lint_source_param param(const lint_source_text *s, size_t from,
                               size_t to)
{
    lint_source_param p = {0};

    for (size_t i = from; i < to; i++) {
        if (s->code[i] == '*')
            p.star = i;
        p.restricted |= !strncmp(s->code + i, "restrict", 8);
        p.global |= keyword(s, i, "__global") || keyword(s, i, "global");
        p.is_const |= !p.star && keyword(s, i, "const");
        if (word(s->code[i]) && !word(s->code[i - 1]))
            p.name = i;
    }
    while (p.name + p.n_name < to && word(s->code[p.name + p.n_name]))
        p.n_name++;
    return p;
}

static uint32_t list_params(const lint_source_text *s, size_t open,
                            size_t close, arena *a,
                            const lint_source_param **out)
{
    lint_source_param *v = NULL;
    size_t n = 0, cap = 0, from = open + 1;
    unsigned depth = 0;

    for (size_t i = open + 1; i <= close; i++) {
        depth += s->code[i] == '(';
        if (depth && s->code[i] == ')')
            depth--;
        else if (i == close || (!depth && s->code[i] == ',')) {
            *arena_append(a, v, n, cap) = param(s, from, i);
            from = i + 1;
        }
    }
    *out = v;
    return (uint32_t)n;
}

bool lint_source_find_kernel(const lint_source_text *s, const char *name,
                             arena *a, lint_source_kernel *out)
{
    unsigned found = 0;

    for (size_t i = 0; i < s->length; i++) {
        size_t open, close, body;

        if (!keyword(s, i, name))
            continue;
        open = blanks(s->code, i + strlen(name));
        if (s->code[open] != '(')
            continue;
        close = closing(s, open);
        body = close < s->length ? blanks(s->code, close + 1) : s->length;
        if (s->code[body] != '{')
            continue;
        found++;
        *out = (lint_source_kernel){
            .name = i, .body = body, .end = closing(s, body)};
        out->n_params = list_params(s, open, close, a, &out->params);
    }
    return found == 1;
}

size_t lint_source_early_return(const lint_source_text *s,
                                const lint_source_kernel *k)
{
    unsigned depth = 0;

    for (size_t i = k->body; i < k->end; i++) {
        size_t next;
        unsigned closed = 0;

        depth += s->code[i] == '{';
        depth -= s->code[i] == '}';
        if (!keyword(s, i, "return"))
            continue;
        next = blanks(s->code, i + 6);
        if (s->code[next] != ';')
            continue;
        for (next = blanks(s->code, next + 1); s->code[next] == '}';
             next = blanks(s->code, next + 1))
            closed++;
        if (closed < depth)
            return i;
    }
    return 0;
}

static bool vector_type(const char *s)
{
    static const char *const names[] = {"char",  "uchar", "short", "ushort",
                                        "int",   "uint",  "long",  "ulong",
                                        "float", "half"};
    size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz");
    size_t digits = strspn(s + n, "0123456789");

    for (size_t i = 0; digits && i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && !strncmp(names[i], s, n))
            return !word(s[n + digits]);
    return false;
}

size_t lint_source_vector_type(const lint_source_text *s,
                               const lint_source_kernel *k)
{
    for (size_t i = k->name; i < k->end; i++)
        if (i && !word(s->code[i - 1]) && vector_type(s->code + i))
            return i;
    return 0;
}

size_t lint_source_next_unroll(const lint_source_text *s, size_t from,
                               lint_source_span *loop, bool *found)
{
    *found = false;
    for (size_t i = from; i < s->length; i++) {
        size_t k = i + 1, end;

        if (s->code[i] != '#')
            continue;
        k += strspn(s->code + k, " \t");
        if (!keyword(s, k, "pragma"))
            continue;
        k += 6 + strspn(s->code + k + 6, " \t");
        if (!keyword(s, k, "unroll"))
            continue;
        end = blanks(s->code, i + strcspn(s->code + i, "\n"));
        for (uint32_t l = 0; l < s->n_loops; l++)
            if (s->loops[l].first == end) {
                *loop = s->loops[l];
                *found = true;
            }
        return i;
    }
    return SIZE_MAX;
}

bool lint_source_in_loop(const lint_source_text *s, size_t at)
{
    for (uint32_t l = 0; l < s->n_loops; l++)
        if (at > s->loops[l].first && at < s->loops[l].end)
            return true;
    return false;
}

char *lint_source_replace(const lint_source_text *s, size_t at, size_t n,
                          const char *with, arena *a)
{
    return arena_printf(a, "%.*s%s%s", (int)at, s->text, with,
                        s->text + at + n);
}

char *lint_source_with_restrict(const lint_source_text *s,
                                const lint_source_kernel *k, arena *a)
{
    str out = {0};
    size_t at = 0;
    char *text;

    for (uint32_t i = 0; i < k->n_params; i++) {
        const lint_source_param *p = &k->params[i];

        if (!p->star || !p->global || p->restricted)
            continue;
        str_add(&out, s->text + at, p->star + 1 - at);
        str_puts(&out, " restrict ");
        at = p->star + 1;
    }
    str_puts(&out, s->text + at);
    text = arena_strdup(a, str_text(&out));
    str_free(&out);
    return text;
}
