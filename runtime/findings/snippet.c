/* Reads source lines. */
#include "runtime/findings/snippet.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum { MAX_BYTES = 16 << 20 };

/* A line that says where the following ones are from, as preprocessors write
 * it, too: "#line 7 "name"", "# 7 "name"". *here: whether that is path. */
static bool is_marker(const char *s, const char *path, uint32_t *number,
                      bool *here)
{
    size_t n = strlen(path);
    char *end;

    if (*s++ != '#')
        return false;
    s += strspn(s, " \t");
    if (!strncmp(s, "line", 4))
        s += 4;
    s += strspn(s, " \t");
    if (*s < '0' || *s > '9')
        return false;
    *number = (uint32_t)strtoul(s, &end, 10);
    end += strspn(end, " \t");
    if (*end == '"')
        *here = !strncmp(end + 1, path, n) && end[n + 1] == '"';
    return true;
}

/* NULL: the text has no such line. Of several the last: what stands in front of
 * a text has its numbers, too. */
static const char *find_line(const char *s, const char *path, uint32_t line)
{
    const char *found = NULL;
    uint32_t now = 1;
    bool here = true;

    while (s && *s) {
        if (!is_marker(s, path, &now, &here) && here && now++ == line)
            found = s;
        s = strchr(s, '\n');
        s = s ? s + 1 : NULL;
    }
    return found;
}

static const char *line_of(snippet_file *f, const char *path, uint32_t line,
                           arena *a, size_t *n)
{
    char *text = NULL;
    size_t bytes;
    const char *s;

    if (!f->path || strcmp(f->path, path)) {
        f->path = path;
        f->text =
            file_read(path, MAX_BYTES, a, &text, &bytes, NULL) ? NULL : text;
    }
    s = line ? find_line(f->text, path, line) : NULL;
    *n = s ? strcspn(s, "\r\n") : 0;
    return s;
}

/* Tabs stay tabs, so that the caret is below its character as it is shown. */
static void caret(const char *line, size_t n, uint32_t col, str *out)
{
    str before = {0};

    if (col)
        str_add_shown(&before, line, col - 1 < n ? col - 1 : n);
    for (size_t i = 0; i < before.n; i++)
        if (((unsigned char)before.data[i] & 0xc0) != 0x80)
            str_puts(out, before.data[i] == '\t' ? "\t" : " ");
    str_puts(out, "^\n");
    str_free(&before);
}

uint32_t snippet_column(snippet_file *f, const char *path, uint32_t line,
                        uint32_t col, arena *a)
{
    size_t n;
    const char *s = line_of(f, path, line, a, &n);

    if (!col && s)
        col = (uint32_t)strspn(s, " \t") + 1;
    return col ? col : 1;
}

uint32_t snippet_print(snippet_file *f, const char *path, uint32_t line,
                       uint32_t col, arena *a, str *out)
{
    size_t n;
    const char *s = line_of(f, path, line, a, &n);

    col = snippet_column(f, path, line, col, a);
    if (s && n) {
        str_add_shown(out, s, n);
        str_puts(out, "\n");
        caret(s, n, col, out);
    }
    return col;
}
