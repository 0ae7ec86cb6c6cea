/* JUnit XML, as CI systems read it. */
#include "runtime/diff/report_priv.h"

#include <string.h>

/* Length of the UTF-8 sequence at p that XML allows, 0 = none. */
static size_t sequence(const unsigned char *p)
{
    size_t n = *p < 0x80                 ? 1
               : *p >= 0xc2 && *p < 0xe0 ? 2
               : (*p & 0xf0) == 0xe0     ? 3
               : *p >= 0xf0 && *p < 0xf5 ? 4
                                         : 0;

    if (n == 1)
        return *p >= 0x20 || *p == '\n' || *p == '\t';
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
        (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f) ||
        (*p == 0xef && p[1] == 0xbf && p[2] > 0xbd))
        return 0; /* too long, surrogates, no characters */
    return n;
}

static void escaped(str *out, const char *s)
{
    const unsigned char *p = (const void *)s;

    while (*p) {
        size_t n = sequence(p);

        if (*p == '&')
            str_puts(out, "&amp;");
        else if (*p == '<')
            str_puts(out, "&lt;");
        else if (*p == '>')
            str_puts(out, "&gt;");
        else if (*p == '"')
            str_puts(out, "&quot;");
        else if (*p == '\n')
            str_puts(out, "&#10;");
        else if (n)
            str_add(out, p, n);
        else
            str_puts(out, "?");
        p += n ? n : 1;
    }
}

static const char *first_difference(const diff_report *r, arena *a)
{
    for (uint32_t i = 0; i < r->n_tensors; i++)
        if (r->tensors[i].output && !r->tensors[i].result.equal)
            return diff_summary(&r->tensors[i], a);
    return "different";
}

static void one_case(const char *suite, const diff_case *c, str *out)
{
    const diff_report *r = c->report;
    bool failure = r->verdict == DIFF_DIFFERENT;
    arena *a = arena_create(0);
    str body = {0};

    str_puts(out, "  <testcase classname=\"");
    escaped(out, suite);
    str_puts(out, "\" name=\"");
    escaped(out, c->name);
    if (c->seconds >= 0)
        str_printf(out, "\" time=\"%.3f", c->seconds);
    if (r->verdict == DIFF_EQUAL) {
        str_puts(out, "\"/>\n");
    } else {
        str_printf(out, "\">\n    <%s message=\"",
                   failure ? "failure" : "error");
        escaped(out, failure ? first_difference(r, a) : r->error.msg);
        str_puts(out, "\">");
        diff_report_text(r, &body);
        escaped(out, str_text(&body));
        str_printf(out, "</%s>\n  </testcase>\n",
                   failure ? "failure" : "error");
    }
    str_free(&body);
    arena_destroy(a);
}

void diff_report_junit(const char *suite, const diff_case *cases, uint32_t n,
                       str *out)
{
    uint32_t n_of[3] = {0};

    for (uint32_t i = 0; i < n; i++)
        n_of[cases[i].report->verdict]++;
    str_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<testsuite name=\"");
    escaped(out, suite);
    str_printf(out, "\" tests=\"%u\" failures=\"%u\" errors=\"%u\">\n", n,
               n_of[DIFF_DIFFERENT], n_of[DIFF_NOT_RUN]);
    for (uint32_t i = 0; i < n; i++)
        one_case(suite, &cases[i], out);
    str_puts(out, "</testsuite>\n");
}
