/* Writes and checks the plain form line by line. */
#include "sim/compiler/front/source.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* Gaps of so many lines are written as such, larger ones as a line mark. */
enum { MAX_GAP = 8 };

typedef enum { KEEP, REFUSE, DROP } fate;

static const struct {
    const char *begin;
    fate what;
} pragmas[] = {
#define PRAGMA(begin, what) {begin, what},
#include "sim/compiler/front/pragmas.def"
};

/* text: behind "#pragma ". */
static fate pragma_fate(const char *text, size_t n)
{
    for (size_t i = 0; i < sizeof pragmas / sizeof *pragmas; i++) {
        size_t len = strlen(pragmas[i].begin);

        if (n >= len && !memcmp(text, pragmas[i].begin, len) &&
            (n == len || pragmas[i].begin[len - 1] == ' ' ||
             !(isalnum((unsigned char)text[len]) || text[len] == '_')))
            return pragmas[i].what;
    }
    return DROP;
}

/* --- line marks ---------------------------------------------------------- */

/* One of clang's or ours. name: between the quotes, as it is spelled. */
typedef struct {
    unsigned long line;
    const char *name;
    size_t n_name;
} mark;

static size_t escape_length(const char *p, const char *end)
{
    size_t n = 1;

    if (p + 1 < end && (p[1] == '\\' || p[1] == '"'))
        return 2;
    while (n < 4 && p + n < end && p[n] >= '0' && p[n] <= '7')
        n++;
    return n == 4 ? n : 0;
}

/* "# N "name"", what follows stays; false: it is none. */
static bool read_mark(const char *l, const char *end, mark *m,
                      const char **rest)
{
    const char *p = l + 2;

    if (end - l < 5 || l[0] != '#' || l[1] != ' ' ||
        !isdigit((unsigned char)*p))
        return false;
    for (m->line = 0; p < end && isdigit((unsigned char)*p); p++) {
        m->line = m->line * 10 + (unsigned)(*p - '0');
        if (m->line > INT32_MAX)
            return false;
    }
    if (end - p < 3 || p[0] != ' ' || p[1] != '"')
        return false;
    for (m->name = p += 2; p < end && *p != '"';) {
        size_t n = *p == '\\' ? escape_length(p, end) : 1;

        if (!n)
            return false;
        p += n;
    }
    m->n_name = (size_t)(p - m->name);
    *rest = p + 1;
    return p < end;
}

/* --- checking ------------------------------------------------------------ */

static const char *quoted_end(const char *p, const char *end)
{
    const char quote = *p++;

    while (p < end && *p != quote)
        p += *p == '\\' && p + 1 < end ? 2 : 1;
    return p < end ? p + 1 : NULL;
}

/* What must not stand outside of strings at p; NULL: nothing of it. */
static const char *forbidden(const char *p, const char *end)
{
    char next = p + 1 < end ? p[1] : 0;

    if (*p == '#' || (*p == '%' && next == ':'))
        return "a directive";
    if (*p == '/' && (next == '/' || next == '*'))
        return "a comment";
    return *p == '\\' ? "a '\\'" : NULL;
}

/* Characters and trigraphs, wherever they stand. */
static const char *odd_text(const char *l, const char *end)
{
    for (const char *p = l; p < end; p++) {
        if ((unsigned char)*p < ' ' && *p != '\t')
            return "a control character";
        if (*p == 0x7f)
            return "a control character";
        if (end - p >= 3 && p[0] == '?' && p[1] == '?' &&
            strchr("=/'()!<>-", p[2]))
            return "a trigraph";
    }
    return NULL;
}

static const char *odd_tokens(const char *l, const char *end)
{
    while (l < end) {
        const char *why = NULL;

        if (*l == '"' || *l == '\'') {
            l = quoted_end(l, end);
            why = l ? NULL : "a string without an end";
        } else {
            why = forbidden(l++, end);
        }
        if (why)
            return why;
    }
    return NULL;
}

static bool plain_pragma(const char *l, const char *end)
{
    static const char begin[] = "#pragma ";
    const char *text = l + sizeof begin - 1;

    if (end - l < (ptrdiff_t)sizeof begin || memcmp(l, begin, sizeof begin - 1))
        return false;
    for (const char *p = text; p < end; p++)
        if (!isalnum((unsigned char)*p) && !strchr("_ :,()+-", *p))
            return false;
    return pragma_fate(text, (size_t)(end - text)) == KEEP;
}

/* What is wrong with a line; NULL: nothing. */
static const char *odd_line(const char *l, const char *end)
{
    const char *why = odd_text(l, end), *rest;
    mark m;

    if (why || l == end)
        return why;
    if (*l != '#')
        return odd_tokens(l, end);
    if (read_mark(l, end, &m, &rest) && rest == end)
        return NULL;
    return plain_pragma(l, end) ? NULL : "a directive";
}

vpu_status source_check(const void *data, size_t n, arena *a, char **out,
                        vpu_error *err)
{
    const char *text = data, *all_end = text + n;
    uint32_t line = 1;

    if (n > SOURCE_MAX_BYTES)
        return err_set(err, VPU_ERR_LIMIT,
                       "source text of %zu bytes, the limit is %d", n,
                       SOURCE_MAX_BYTES);
    for (const char *l = text; l < all_end; line++) {
        const char *end = memchr(l, '\n', (size_t)(all_end - l));
        const char *why = odd_line(l, end ? end : all_end);

        if (why || !end)
            return err_set(err, VPU_ERR_PARSE,
                           "source text, line %u: %s, expected line marks, "
                           "known pragmas and tokens only",
                           line, why ? why : "no line feed");
        l = end + 1;
    }
    *out = arena_strndup(a, text, n);
    return VPU_OK;
}

/* --- writing ------------------------------------------------------------- */

typedef struct {
    str out;
    const char *hidden;
    mark at;   /* of the line that is read now */
    mark done; /* of the next line of out; name NULL: nothing was written */
    bool hide;
} writer;

static bool is_named(const mark *m, const char *name)
{
    return m->n_name == strlen(name) && !memcmp(m->name, name, m->n_name);
}

static bool ends_with(const mark *m, const char *tail)
{
    size_t n = strlen(tail);

    return m->n_name >= n && !memcmp(m->name + m->n_name - n, tail, n);
}

static bool is_hidden(const writer *w, const mark *m)
{
    return is_named(m, "<built-in>") || is_named(m, "<command line>") ||
           is_named(m, w->hidden) || ends_with(m, "/opencl-c-base.h") ||
           ends_with(m, "/opencl-c.h");
}

/* The next line of out is the one that is read now. */
static void catch_up(writer *w)
{
    bool same = w->done.name && w->done.n_name == w->at.n_name &&
                !memcmp(w->done.name, w->at.name, w->at.n_name) &&
                w->at.line >= w->done.line &&
                w->at.line - w->done.line <= MAX_GAP;

    if (same)
        for (unsigned long i = w->done.line; i < w->at.line; i++)
            str_puts(&w->out, "\n");
    else
        str_printf(&w->out, "# %lu \"%.*s\"\n", w->at.line, (int)w->at.n_name,
                   w->at.name);
    w->done = w->at;
    w->done.line++;
}

static void put_line(writer *w, const char *l, const char *end)
{
    catch_up(w);
    for (; l < end; l++)
        str_add(&w->out, strchr("\r\f\v", *l) && *l ? " " : l, 1);
    str_puts(&w->out, "\n");
}

/* Blank for the compiler. */
static bool is_blank(const char *l, const char *end)
{
    while (l < end && isspace((unsigned char)*l))
        l++;
    return l == end;
}

static vpu_status take_line(writer *w, const char *l, const char *end,
                            vpu_error *err)
{
    static const char begin[] = "#pragma ";
    const size_t n = sizeof begin - 1;
    const char *rest;
    fate f;

    if (read_mark(l, end, &w->at, &rest)) {
        w->hide = is_hidden(w, &w->at);
        return VPU_OK;
    }
    if (!w->hide && !is_blank(l, end)) {
        f = (size_t)(end - l) > n && !memcmp(l, begin, n)
                ? pragma_fate(l + n, (size_t)(end - l) - n)
                : KEEP;
        if (f == REFUSE)
            return err_set(err, VPU_ERR_UNSUPPORTED,
                           "%.*s:%lu: '%.*s' cannot be put into a .bin",
                           (int)w->at.n_name, w->at.name, w->at.line,
                           (int)(end - l), l);
        if (f == KEEP)
            put_line(w, l, end);
    }
    w->at.line++;
    return VPU_OK;
}

vpu_status source_plain(const char *text, const char *hidden, arena *a,
                        char **out, vpu_error *err)
{
    writer w = {.hidden = hidden, .hide = true};
    vpu_status st = VPU_OK;
    vpu_error odd;

    for (const char *l = text; *l && !st;) {
        const char *end = strchr(l, '\n');

        end = end ? end : l + strlen(l);
        st = take_line(&w, l, end, err);
        l = *end ? end + 1 : end;
    }
    if (!st && source_check(str_text(&w.out), w.out.n, a, out, &odd))
        st = err_set(err, VPU_ERR_UNSUPPORTED,
                     "it cannot be put into a .bin: preprocessed, it is %s",
                     odd.msg);
    str_free(&w.out);
    return st;
}

/* The next line that is neither a mark nor empty, without the blanks before it:
 * clang moves what stands behind a pragma. Its length in *n. */
static const char *next_line(const char **text, size_t *n)
{
    while (**text) {
        const char *l = *text + strspn(*text, " \t"), *rest;
        mark m;

        *n = strcspn(l, "\n");
        *text = l + *n + (l[*n] != 0);
        if (*n && !read_mark(l, l + *n, &m, &rest))
            return l;
    }
    return NULL;
}

bool source_same(const char *x, const char *y)
{
    const char *l, *k;
    size_t n, m;

    do {
        l = next_line(&x, &n);
        k = next_line(&y, &m);
    } while (l && k && n == m && !memcmp(l, k, n));
    return !l && !k;
}
