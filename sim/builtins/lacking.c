/* Patterns of names, one behind the other: messages are rare. */
#include "sim/builtins/lacking.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
#define LACKING(id, name, why, instead) ROW_##id,
#define SPELT(id, pattern)
#include "sim/builtins/lacking.def"
};

static const lacking_row rows[] = {
#define LACKING(id, name, why, instead) {name, why, instead},
#define SPELT(id, pattern)
#include "sim/builtins/lacking.def"
};

static const struct {
    const char *pattern;
    unsigned row;
} spellings[] = {
#define LACKING(id, name, why, instead)
#define SPELT(id, pattern) {pattern, ROW_##id},
#include "sim/builtins/lacking.def"
};
enum { N_SPELLINGS = sizeof spellings / sizeof *spellings };

static const char word_characters[] = "abcdefghijklmnopqrstuvwxyz"
                                      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789_";

/* Whether the n characters at name are of this form; a star may stand for
 * none. */
static bool fits(const char *pattern, const char *name, size_t n)
{
    size_t head = strcspn(pattern, "*"), tail;

    if (!pattern[head])
        return n == head && !memcmp(pattern, name, n);
    tail = strlen(pattern) - head - 1;
    return n >= head + tail && !memcmp(pattern, name, head) &&
           !memcmp(pattern + head + 1, name + n - tail, tail);
}

static const lacking_row *find(const char *name, size_t n)
{
    for (size_t i = 0; i < N_SPELLINGS; i++)
        if (fits(spellings[i].pattern, name, n))
            return &rows[spellings[i].row];
    return NULL;
}

const lacking_row *lacking_find(const char *identifier)
{
    return find(identifier, strlen(identifier));
}

/* The first of the words in n characters, which are a type or a name; what has
 * other signs in it, as the name of a file, is neither. */
static const lacking_row *find_word(const char *text, size_t n)
{
    const lacking_row *found = NULL;

    for (size_t i = 0; i < n; i++)
        if (!strchr(word_characters, text[i]) && !strchr(" *&()[],", text[i]))
            return NULL;
    for (size_t at = 0, length; at < n && !found; at += length + 1) {
        length = strspn(text + at, word_characters);
        found = find(text + at, length);
    }
    return found;
}

const lacking_row *lacking_in_message(const char *message)
{
    const char *end = strstr(message, "; did you mean");
    const lacking_row *found = NULL;
    const char *from = message, *to;

    end = end ? end : message + strlen(message);
    while (!found && (from = memchr(from, '\'', (size_t)(end - from)))) {
        from++;
        to = memchr(from, '\'', (size_t)(end - from));
        if (!to)
            break;
        found = find_word(from, (size_t)(to - from));
        from = to + 1;
    }
    return found;
}
