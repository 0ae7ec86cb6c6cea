/* Formats printf arguments: every conversion is handed to snprintf with a
 * specification rebuilt from its parts, so nothing of the kernel's text reaches
 * it unchecked. */
#include "sim/exec/print.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "sim/builtins/routines.h"
#include "sim/compiler/abi/hostabi.h"

enum { MAX_FORMAT = 4096, MAX_WIDTH = 200 };

typedef struct {
    const uint8_t *window;
    uint32_t at, left; /* next argument's tag; how many there are */
} arguments;

typedef struct {
    char flags[8];
    int width, precision; /* -1 = none */
    unsigned lanes;
    unsigned bytes; /* that hh and h cut an integer to; 0 = whole */
    char conversion;
} spec;

static uint32_t word(const uint8_t *window, uint32_t address)
{
    uint32_t v;

    memcpy(&v, window + address, 4);
    return v;
}

static const char *parse_number(const char *p, int *out)
{
    int v = 0;
    bool any = false;

    while (*p >= '0' && *p <= '9') {
        any = true;
        if (v <= MAX_WIDTH)
            v = v * 10 + (*p - '0');
        p++;
    }
    *out = any ? (v > MAX_WIDTH ? MAX_WIDTH : v) : -1;
    return p;
}

/* Behind the '%'. */
static const char *parse_spec(const char *p, spec *s)
{
    size_t n = 0;
    int lanes;

    memset(s, 0, sizeof *s);
    while (*p && strchr("-+ #0", *p)) {
        if (n + 1 < sizeof s->flags)
            s->flags[n++] = *p;
        p++;
    }
    p = parse_number(p, &s->width);
    s->precision = -1;
    if (*p == '.') {
        p = parse_number(p + 1, &s->precision);
        if (s->precision < 0)
            s->precision = 0;
    }
    s->lanes = 1;
    if (*p == 'v') {
        p = parse_number(p + 1, &lanes);
        s->lanes = lanes > 0 && lanes <= 16 ? (unsigned)lanes : 1;
    }
    /* Otherwise the argument's tag knows its size; hl is for vectors only. */
    if (p[0] == 'h' && p[1] != 'l')
        s->bytes = p[1] == 'h' ? 1 : 2;
    while (*p && strchr("hl", *p))
        p++;
    s->conversion = *p;
    return *p ? p + 1 : p;
}

static void emit(str *out, const spec *s, const char *kind, const void *value)
{
    char format[64], text[512];
    int n = snprintf(format, sizeof format, "%%%s", s->flags);

    if (s->width >= 0)
        n += snprintf(format + n, sizeof format - (size_t)n, "%d", s->width);
    if (s->precision >= 0)
        n += snprintf(format + n, sizeof format - (size_t)n, ".%d",
                      s->precision);
    snprintf(format + n, sizeof format - (size_t)n, "%s%c", kind,
             s->conversion);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (s->conversion == 'c')
        snprintf(text, sizeof text, format, *(const int *)value);
    else if (kind[0])
        snprintf(text, sizeof text, format, *(const long long *)value);
    else
        snprintf(text, sizeof text, format, *(const double *)value);
#pragma GCC diagnostic pop
    str_puts(out, text);
}

static double as_double(const uint8_t *p, unsigned bytes)
{
    builtin_half h;
    float f;

    if (bytes == 2) {
        memcpy(&h, p, 2);
        return (double)h;
    }
    memcpy(&f, p, 4);
    return (double)f;
}

static long long as_integer(const uint8_t *p, unsigned bytes, bool is_signed)
{
    uint64_t v = 0;

    memcpy(&v, p, bytes > 8 ? 8 : bytes);
    if (is_signed && bytes < 8 && v >> (8 * bytes - 1) & 1)
        v |= ~UINT64_C(0) << 8 * bytes;
    return (long long)v;
}

static void print_element(const spec *s, const uint8_t *p, unsigned bytes,
                          bool is_float, str *out)
{
    bool wants_float = strchr("fFeEgGaA", s->conversion) != NULL;
    double d = is_float ? as_double(p, bytes) : 0;
    long long i = 0;
    int c;

    if (!is_float)
        i = as_integer(p, s->bytes && s->bytes < bytes ? s->bytes : bytes,
                       strchr("di", s->conversion));
    c = (int)(i & 0x7f);

    if (wants_float != is_float)
        str_puts(out, "(wrong type)");
    else if (wants_float)
        emit(out, s, "", &d);
    else if (s->conversion == 'c')
        emit(out, s, "", &c);
    else
        emit(out, s, "ll", &i);
}

/* Width and precision as in C: the text is cut, then padded. */
static void print_text(const spec *s, const char *text, str *out)
{
    int most = s->precision >= 0 ? s->precision : MAX_FORMAT;
    int n = (int)strnlen(text, (size_t)most);
    int pad = s->width > n ? s->width - n : 0;
    bool left = strchr(s->flags, '-');

    str_printf(out, "%*s%.*s%*s", left ? 0 : pad, "", n, text, left ? pad : 0,
               "");
}

static void print_argument(const spec *s, arguments *a, str *out)
{
    uint32_t tag, bytes, element;
    const uint8_t *p;

    if (!a->left) {
        str_puts(out, "(missing)");
        return;
    }
    tag = word(a->window, a->at);
    bytes = tag & 0xffff;
    element = tag >> 16 & 0xff;
    p = a->window + a->at + 4;
    a->left--;
    a->at += 4 + ((bytes + 3) & ~3u);
    if (s->conversion == 's') {
        print_text(s, (const char *)a->window + word(p, 0), out);
        return;
    }
    if (s->conversion == 'p') {
        str_printf(out, "0x%08x", word(p, 0));
        return;
    }
    for (unsigned l = 0; l < s->lanes && element && (l + 1) * element <= bytes;
         l++) {
        if (l)
            str_puts(out, ",");
        print_element(s, p + l * element, element, tag >> 24 & 1, out);
    }
}

void print_format(const uint8_t *window, uint32_t format, uint32_t args,
                  uint32_t n, str *out)
{
    const char *p = (const char *)window + format;
    const char *end = p + strnlen(p, MAX_FORMAT);
    arguments a = {window, args + SIM_PRINT_IDS * 4, n};
    spec s;

    while (p < end && *p) {
        if (*p != '%') {
            str_add(out, p++, 1);
            continue;
        }
        if (p[1] == '%') {
            str_puts(out, "%");
            p += 2;
            continue;
        }
        p = parse_spec(p + 1, &s);
        if (strchr("diouxXcfFeEgGaAsp", s.conversion) && s.conversion)
            print_argument(&s, &a, out);
        else
            str_puts(out, "(bad conversion)");
    }
}

void print_format_prefixed(const uint8_t *window, const uint32_t group[3],
                           uint32_t format, uint32_t args, uint32_t n, str *out)
{
    size_t from = out->n, end;
    char prefix[96];
    str text = {0};

    print_format(window, format, args, n, out);
    snprintf(prefix, sizeof prefix, "[group %u,%u,%u item %u,%u,%u] ", group[0],
             group[1], group[2], word(window, args), word(window, args + 4),
             word(window, args + 8));
    end = out->n;
    str_add(&text, out->data ? out->data + from : "", end - from);
    out->n = from;
    for (size_t k = 0; k < text.n; k++) {
        if (!out->n || out->data[out->n - 1] == '\n')
            str_puts(out, prefix);
        str_add(out, text.data + k, 1);
    }
    str_free(&text);
}
