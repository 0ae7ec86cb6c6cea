/* Growable strings, text escaped for XML and for terminals, and strict number
 * parsing. */
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/oom.h"

static void reserve(str *s, size_t more)
{
    size_t want = s->n + more + 1;

    if (want <= s->cap)
        return;
    if (want < s->cap * 2)
        want = s->cap * 2;
    if (s->arena) {
        char *more_room = arena_push(s->arena, want, 1, 1);

        if (s->n)
            memcpy(more_room, s->data, s->n + 1);
        s->data = more_room;
    } else {
        s->data = oom_realloc(s->data, want);
    }
    s->cap = want;
}

void str_free(str *s)
{
    if (!s->arena)
        free(s->data);
    *s = (str){.arena = s->arena};
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

void str_vprintf(str *s, const char *fmt, va_list ap)
{
    va_list again;
    int n;

    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n > 0) {
        reserve(s, (size_t)n);
        vsnprintf(s->data + s->n, (size_t)n + 1, fmt, ap);
        s->n += (size_t)n;
    }
}

void str_printf(str *s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    str_vprintf(s, fmt, ap);
    va_end(ap);
}

/* Bytes of the character at p that XML may hold; 0 = none. */
static size_t xml_char(const unsigned char *p)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = *p < 0x80 ? 1 : *p >> 5 == 6 ? 2 : *p >> 4 == 14 ? 3 : 4;
    uint32_t c = n == 1 ? *p : *p & (0x7fu >> n);

    if (n == 1)
        return c >= 0x20 || c == '\t' || c == '\n' || c == '\r';
    if (n == 4 && *p >> 3 != 30)
        return 0;
    for (size_t k = 1; k < n; k++) {
        if (p[k] >> 6 != 2)
            return 0;
        c = c << 6 | (p[k] & 0x3f);
    }
    if (c < least[n] || (c >= 0xd800 && c < 0xe000) || c == 0xfffe ||
        c == 0xffff || c > 0x10ffff)
        return 0;
    return n;
}

void str_puts_xml(str *s, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;

    while (*p) {
        size_t n = xml_char(p);

        if (n)
            str_add(s, p, n);
        else
            str_add(s, "?", n = 1);
        p += n;
    }
}

void str_puts_markup(str *s, const char *text)
{
    str clean = {0};

    str_puts_xml(&clean, text);
    for (size_t i = 0; i < clean.n; i++)
        switch (clean.data[i]) {
        case '&':
            str_puts(s, "&amp;");
            break;
        case '<':
            str_puts(s, "&lt;");
            break;
        case '>':
            str_puts(s, "&gt;");
            break;
        case '"':
            str_puts(s, "&quot;");
            break;
        default:
            str_add(s, &clean.data[i], 1);
        }
    str_free(&clean);
}

/* As xml_char, without what terminals take for commands: 80 to 9f are, too. */
static size_t shown_char(const unsigned char *p)
{
    if (*p == '\r' || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0))
        return 0;
    return xml_char(p);
}

void str_add_shown(str *s, const char *bytes, size_t n)
{
    str text = {0}; /* with a zero behind it */
    size_t k;

    str_add(&text, bytes, n);
    for (size_t at = 0; at < n; at += k) {
        k = shown_char((const unsigned char *)text.data + at);
        if (k)
            str_add(s, text.data + at, k);
        else
            str_printf(s, "\\x%02x", (unsigned char)text.data[at]);
        k = k ? k : 1;
    }
    str_free(&text);
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

bool str_to_bytes(const char *text, unsigned long long *out)
{
    static const char units[] = "KMG";
    size_t n = strlen(text);
    const char *unit = n > 1 ? strchr(units, text[n - 1]) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    unsigned long long v;
    char digits[32];

    if (n >= sizeof digits)
        return false;
    memcpy(digits, text, n + 1);
    if (unit)
        digits[n - 1] = '\0';
    if (!str_to_u64(digits, &v) || v > ULLONG_MAX >> shift)
        return false;
    *out = v << shift;
    return true;
}
