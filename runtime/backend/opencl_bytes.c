/* Reads the text as far as an expression's words go: no types, no scopes. A
 * name stands for what was assigned to it last in front of the copy. */
#include "runtime/backend/opencl_bytes.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/backend/opencl_words.h"

enum { MAX_DEPTH = 4, N_POINTERS = 2 };

static bool has_word(const char *p, const char *end, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = p; end - at >= (ptrdiff_t)n; at++)
        if (!memcmp(at, word, n) && (at == p || !opencl_is_name_char(at[-1])) &&
            (at + n == end || !opencl_is_name_char(at[n])))
            return true;
    return false;
}

/* Whether text stands in front of p, blanks aside. */
static bool is_before(const char *begin, const char *p, const char *text)
{
    size_t n = strlen(text);

    while (p > begin && isspace((unsigned char)p[-1]))
        p--;
    return (size_t)(p - begin) >= n && !memcmp(p - n, text, n);
}

/* The character behind that is no blank; 0 at the end. */ static char
behind(const char *p, const char *end)
{
    while (p < end && isspace((unsigned char)*p))
        p++;
    return p < end ? *p : 0;
}

/* "... * 2", "2 * ...", "... << 1". */
static bool doubles(const char *p, const char *end)
{
    for (const char *at = p; at < end; at++) {
        if ((at > p && opencl_is_name_char(at[-1])) ||
            (at + 1 < end && (opencl_is_name_char(at[1]) || at[1] == '.')))
            continue;
        if (*at == '2' && (is_before(p, at, "*") || behind(at + 1, end) == '*'))
            return true;
        if (*at == '1' && is_before(p, at, "<<"))
            return true;
    }
    return false;
}

/* Where the argument or statement that begins at p ends. */
static const char *end_of(const char *p)
{
    int depth = 0;

    for (; *p; p++) {
        if (*p == '(' || *p == '[')
            depth++;
        else if ((*p == ')' || *p == ']') && depth-- == 0)
            break;
        else if ((*p == ',' && !depth) || *p == ';' || *p == '{')
            break;
    }
    return p;
}

/* Behind the '=' of the last assignment to a name in front of `at`; NULL. */
static const char *assigned(const char *text, const char *at, const char *name,
                            size_t n)
{
    const char *found = NULL;

    for (const char *p = text; p + n < at; p++) {
        const char *q = p + n;

        if (memcmp(p, name, n) || opencl_is_name_char(*q) ||
            (p > text && opencl_is_name_char(p[-1])))
            continue;
        q += strspn(q, " \t\n");
        if (*q == '=' && q[1] != '=')
            found = q + 1;
    }
    return found;
}

static bool by_hand(const char *text, const char *p, const char *end, int depth)
{
    if (has_word(p, end, "sizeof"))
        return false;
    if (doubles(p, end))
        return true;
    for (const char *at = p; at < end && depth < MAX_DEPTH;) {
        size_t n = 0;
        const char *from;

        while (at + n < end && opencl_is_name_char(at[n]))
            n++;
        from =
            n && !isdigit((unsigned char)*at) ? assigned(text, p, at, n) : NULL;
        if (from && by_hand(text, from, end_of(from), depth + 1))
            return true;
        at += n ? n : 1;
    }
    return false;
}

const char *opencl_bytes_by_hand(const char *text, const char *name, size_t *n)
{
    const char *p = name;
    int argument = 0;

    while (opencl_is_name_char(*p))
        p++;
    p += strspn(p, " \t\n");
    if (*p != '(')
        return NULL;
    do {
        const char *end = end_of(++p);

        if (argument++ >= N_POINTERS && by_hand(text, p, end, 0)) {
            p += strspn(p, " \t\n");
            *n = (size_t)(end - p);
            return p;
        }
        p = end;
    } while (*p == ',');
    return NULL;
}
