/* A growable byte string, always terminated; all-zero is empty and grows on the
 * heap. And numbers from text. When memory is short, base/oom.h says what
 * happens. */
#ifndef VPU_BASE_STR_H
#define VPU_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

typedef struct {
    char *data; /* NULL while empty and never written */
    size_t n, cap;
    /* Where it grows instead of on the heap; set before the first byte. What it
     * has outgrown stays there until the arena goes, and with it the string,
     * also where memory is short half-way. */
    struct arena *arena;
} str;

/* Back to empty; a string of an arena may do without. */
void str_free(str *s);
void str_add(str *s, const void *bytes, size_t n);
void str_puts(str *s, const char *text);
void str_printf(str *s, const char *fmt, ...) VPU_PRINTF(2, 3);
void str_vprintf(str *s, const char *fmt, va_list ap);
const char *str_text(const str *s); /* "" while empty */
/* Append bytes as a terminal may have them: control characters and what is not
 * UTF-8 become \x1b and the like; newlines and tabs stay. */
void str_add_shown(str *s, const char *bytes, size_t n);
/* Append text as far as XML 1.0 can hold it: control characters and what is not
 * UTF-8 become '?', byte by byte. Markup stays for whoever writes the XML. */
void str_puts_xml(str *s, const char *text);
/* The same with references for markup, for elements and for attributes between
 * double quotes. */
void str_puts_markup(str *s, const char *text);

/* Whole-string number parsing, C locale whatever the process uses. False when
 * the text is not exactly a number or does not fit; *out then is unchanged. */
bool str_to_u64(const char *text, unsigned long long *out);
bool str_to_f64(const char *text, double *out);
/* Bytes: a number with K, M or G behind it (of 1024), or without. */
bool str_to_bytes(const char *text, unsigned long long *out);

#endif
