/* Reads source lines. */
#include "runtime/findings/snippet.h"

#include <string.h>

#include "base/file.h"

enum { MAX_BYTES = 16 << 20 };

static const char *line_of(snippet_file *f, const char *path, uint32_t line,
                           arena *a, size_t *n)
{
    size_t bytes;
    const char *s;

    if (!f->path || strcmp(f->path, path)) {
        f->path = path;
        if (file_read(path, MAX_BYTES, a, &f->text, &bytes, NULL))
            f->text = NULL;
    }
    s = line ? f->text : NULL;
    for (uint32_t k = 1; k < line && s; k++) {
        s = strchr(s, '\n');
        s = s ? s + 1 : NULL;
    }
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
