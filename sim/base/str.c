/* Growable strings, and strict number parsing. */
#include "sim/base/str.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"

static void reserve(str *s, size_t more)
{
    size_t want = s->n + more + 1;

    if (want <= s->cap)
        return;
    if (want < s->cap * 2)
        want = s->cap * 2;
    s->data = realloc(s->data, want);
    if (!s->data) {
        fprintf(stderr, "vpu: out of memory (wanted %zu bytes)\n", want);
        exit(2);
    }
    s->cap = want;
}

void str_free(str *s)
{
    free(s->data);
    *s = (str){0};
}

void str_add(str *s, const void *bytes, size_t n)
{
    reserve(s, n);
    if (n)
        memcpy(s->data + s->n, bytes, n);
    s->n += n;
    s->data[s->n] = '\0';
}

void str_puts(str *s, const char *text)
{
    str_add(s, text, strlen(text));
}

void str_printf(str *s, const char *fmt, ...)
{
    va_list ap, again;
    int n;

    va_start(ap, fmt);
    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n > 0) {
        reserve(s, (size_t)n);
        vsnprintf(s->data + s->n, (size_t)n + 1, fmt, ap);
        s->n += (size_t)n;
    }
    va_end(ap);
}

const char *str_text(const str *s)
{
    return s->data ? s->data : "";
}

/* The strto* functions skip blanks; a whole number has none. */
static bool starts_well(const char *text)
{
    return *text && !isspace((unsigned char)*text);
}

bool str_to_u64(const char *text, unsigned long long *out)
{
    unsigned long long v;
    char *end;

    if (!starts_well(text) || *text == '-')
        return false;
    errno = 0;
    v = strtoull(text, &end, 0);
    if (errno || *end)
        return false;
    *out = v;
    return true;
}

bool str_to_i64(const char *text, long long *out)
{
    long long v;
    char *end;

    if (!starts_well(text))
        return false;
    errno = 0;
    v = strtoll(text, &end, 0);
    if (errno || *end)
        return false;
    *out = v;
    return true;
}

bool str_to_f64(const char *text, double *out)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double v;
    char *end;

    if (!starts_well(text))
        return false;
    if (c) {
        v = strtod_l(text, &end, c);
        freelocale(c);
    } else {
        v = strtod(text, &end);
    }
    if (*end)
        return false;
    *out = v;
    return true;
}
