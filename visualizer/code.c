/* See code.h. Bytes above 127 belong to comments, strings or nothing. */
#include "visualizer/code.h"

#include <ctype.h>
#include <string.h>

static const char *const words[] = {
#define WORD(text) text,
#define TYPE(text)
#include "visualizer/code.def"
};

static const char *const types[] = {
#define WORD(text)
#define TYPE(text) text,
#include "visualizer/code.def"
};

static bool among(const char *text, size_t n, const char *const *list,
                  size_t n_list)
{
    for (size_t i = 0; i < n_list; i++)
        if (strlen(list[i]) == n && !strncmp(list[i], text, n))
            return true;
    return false;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* "half8" is a type as "half" is. */
static size_t without_width(const char *text, size_t n)
{
    static const char *const widths[] = {"16", "2", "3", "4", "8"};

    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        size_t k = strlen(widths[i]);

        if (n > k && !strncmp(text + n - k, widths[i], k) &&
            !isdigit((unsigned char)text[n - k - 1]))
            return n - k;
    }
    return n;
}

static size_t name(const char *text, code_kind *kind)
{
    size_t n = 0, bare;

    while (is_name(text[n]))
        n++;
    bare = n > 2 && text[0] == '_' && text[1] == '_' ? 2 : 0; /* __global */
    if (among(text, n, words, sizeof words / sizeof *words) ||
        among(text + bare, n - bare, words, sizeof words / sizeof *words))
        *kind = CODE_WORD;
    else if (among(text, without_width(text, n), types,
                   sizeof types / sizeof *types))
        *kind = CODE_TYPE;
    return n;
}

/* Up to the quote that ends it, or the line's end. */
static size_t quoted(const char *text)
{
    size_t n = 1;

    while (text[n] && text[n] != text[0])
        n += text[n] == '\\' && text[n + 1] ? 2 : 1;
    return n + (text[n] != 0);
}

static size_t comment(const char *text, size_t from, bool *open)
{
    const char *end = strstr(text + from, "*/");

    *open = !end;
    return end ? (size_t)(end + 2 - text) : strlen(text);
}

static size_t number(const char *text)
{
    size_t n = 0;

    while (is_name(text[n]) || text[n] == '.' ||
           (n && text[n] && strchr("+-", text[n]) &&
            strchr("eEpP", text[n - 1]) &&
            (strncmp(text, "0x", 2) || strchr("pP", text[n - 1]))))
        n++;
    return n;
}

size_t code_next(const char *text, bool begins, bool *in_comment,
                 code_kind *kind)
{
    size_t n = 0;

    *kind = *in_comment ? CODE_COMMENT : CODE_PLAIN;
    if (!*text)
        return 0;
    if (*in_comment)
        return comment(text, 0, in_comment);
    if (!strncmp(text, "//", 2)) {
        *kind = CODE_COMMENT;
        return strlen(text);
    }
    if (!strncmp(text, "/*", 2)) {
        *kind = CODE_COMMENT;
        return comment(text, 2, in_comment);
    }
    if (begins && text[strspn(text, " \t")] == '#') {
        n = strspn(text, " \t") + 1;
        n += strspn(text + n, " \t");
        while (is_name(text[n]))
            n++;
        *kind = CODE_DIRECTIVE;
        return n;
    }
    if (*text == '"' || *text == '\'') {
        *kind = CODE_STRING;
        return quoted(text);
    }
    if (isdigit((unsigned char)*text) ||
        (*text == '.' && isdigit((unsigned char)text[1]))) {
        *kind = CODE_NUMBER;
        return number(text);
    }
    if (is_name(*text))
        return name(text, kind);
    do
        n++;
    while (text[n] && !is_name(text[n]) && !strchr("/\"'.", text[n]));
    return n;
}

bool code_after(const char *line, bool in_comment)
{
    code_kind kind;

    for (size_t n; (n = code_next(line, false, &in_comment, &kind)); line += n)
        ;
    return in_comment;
}
