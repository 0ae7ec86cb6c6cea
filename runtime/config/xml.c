/* SAX2 into an arena. The text is wrapped in one synthetic root; positions are
 * computed from byte offsets into the wrapped text, because libxml2 counts a
 * tag at its end and its line numbers stop at 65535. */
#include "runtime/config/xml.h"

#include <ctype.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include <libxml/parser.h>

static const char opening[] = "<file>", closing[] = "</file>";
enum { N_OPENING = sizeof opening - 1, N_CLOSING = sizeof closing - 1 };

typedef struct {
    const char *path;
    const config_xml_limits *limits;
    arena *a;
    vpu_error *err;
    vpu_status st;

    char *text; /* opening + data + closing */
    size_t n;   /* all of it */
    size_t *lines;
    size_t n_lines, cap_lines; /* offsets at which lines start */

    xmlParserCtxtPtr ctxt;
    config_xml_node *stack[CONFIG_XML_MAX_DEPTH];
    config_xml_node *last[CONFIG_XML_MAX_DEPTH + 1]; /* youngest child */
    config_xml_node *roots;
    int depth; /* elements open inside the synthetic root; -1 outside it */
    size_t n_elements;
} reader;

static void fail_at(reader *r, vpu_status st, uint32_t line, uint32_t col,
                    const char *fmt, ...) VPU_PRINTF(5, 6);

/* The first problem counts; parsing stops there. */
static void fail_at(reader *r, vpu_status st, uint32_t line, uint32_t col,
                    const char *fmt, ...)
{
    vpu_error why;
    va_list ap;

    if (r->st)
        return;
    va_start(ap, fmt);
    err_vset(&why, st, fmt, ap);
    va_end(ap);
    r->st = err_at(r->err, st, r->path, line, col, "%s", why.msg);
    if (r->ctxt)
        xmlStopParser(r->ctxt);
}

static void index_lines(reader *r)
{
    size_t *first = arena_append(r->a, r->lines, r->n_lines, r->cap_lines);

    *first = N_OPENING;
    for (size_t i = N_OPENING; i < r->n; i++)
        if (r->text[i] == '\n')
            *arena_append(r->a, r->lines, r->n_lines, r->cap_lines) = i + 1;
}

static void position(const reader *r, size_t offset, uint32_t *line,
                     uint32_t *col)
{
    size_t lo = 0, hi = r->n_lines;

    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;

        if (r->lines[mid] <= offset)
            lo = mid;
        else
            hi = mid;
    }
    *line = (uint32_t)lo + 1;
    *col = offset < r->lines[lo] ? 1 : (uint32_t)(offset - r->lines[lo]) + 1;
}

/* Offset of a pointer into the parser's current window, n if outside it. */
static size_t offset_of(const reader *r, const xmlChar *p)
{
    const xmlParserInput *in = r->ctxt->input;

    if (!in || p < in->base || p > in->end)
        return r->n;
    return in->consumed + (size_t)(p - in->base);
}

static char *join_name(reader *r, const xmlChar *prefix, const xmlChar *name)
{
    return prefix ? arena_printf(r->a, "%s:%s", (const char *)prefix,
                                 (const char *)name)
                  : arena_strdup(r->a, (const char *)name);
}

/* Where the value of that attribute stands in the tag that begins at `tag`: of
 * a value with references libxml2 hands out a copy. r->n: not found. */
static size_t find_value(const reader *r, size_t tag, const char *name)
{
    const char *p = r->text + tag + 1, *end = r->text + r->n;
    size_t n = strlen(name);

    p += strcspn(p, " \t\r\n/>");
    while (p < end) {
        const char *word, *value;
        size_t length;

        p += strspn(p, " \t\r\n");
        word = p;
        length = strcspn(word, "= \t\r\n/>");
        value = word + length;
        value += strspn(value, "= \t\r\n");
        if (!length || (*value != '"' && *value != '\''))
            break;
        if (length == n && !memcmp(word, name, n))
            return (size_t)(value + 1 - r->text);
        p = memchr(value + 1, *value, (size_t)(end - value - 1));
        if (!p++)
            break;
    }
    return r->n;
}

static void take_attrs(reader *r, config_xml_node *node, size_t tag, int n,
                       const xmlChar **a)
{
    config_xml_attr *attrs = arena_array(r->a, config_xml_attr, (size_t)n);

    /* Five pointers each: name, prefix, namespace, value, end of value. */
    for (int i = 0; i < n; i++, a += 5) {
        size_t at = offset_of(r, a[3]);

        attrs[i].name = join_name(r, a[1], a[0]);
        attrs[i].value =
            arena_strndup(r->a, (const char *)a[3], (size_t)(a[4] - a[3]));
        if (at >= r->n)
            at = find_value(r, tag, attrs[i].name);
        if (at < r->n) {
            position(r, at, &attrs[i].line, &attrs[i].col);
        } else {
            attrs[i].line = node->line;
            attrs[i].col = node->col;
        }
    }
    node->attrs = attrs;
    node->n_attrs = (size_t)n;
}

static void on_start(void *user, const xmlChar *name, const xmlChar *prefix,
                     const xmlChar *uri, int n_namespaces,
                     const xmlChar **namespaces, int n_attrs, int n_defaulted,
                     const xmlChar **attrs)
{
    reader *r = user;
    config_xml_node *node;
    size_t at;

    (void)uri, (void)n_namespaces, (void)namespaces, (void)n_defaulted;
    if (r->st)
        return;
    if (r->depth < 0) {
        r->depth = 0;
        return;
    }
    node = arena_new(r->a, config_xml_node);
    /* A '<' cannot occur inside a tag, so the last one began it. */
    at = offset_of(r, r->ctxt->input->cur);
    at = at < r->n ? at : r->n - 1;
    while (at > N_OPENING && r->text[at] != '<')
        at--;
    position(r, at, &node->line, &node->col);
    if (r->depth == CONFIG_XML_MAX_DEPTH) {
        fail_at(r, VPU_ERR_LIMIT, node->line, node->col,
                "elements are nested more than %d deep", CONFIG_XML_MAX_DEPTH);
        return;
    }
    if (r->n_elements++ == r->limits->max_elements) {
        fail_at(r, VPU_ERR_LIMIT, node->line, node->col,
                "more than %zu elements", r->limits->max_elements);
        return;
    }
    node->name = join_name(r, prefix, name);
    node->text = "";
    take_attrs(r, node, at, n_attrs, attrs);
    if (r->last[r->depth])
        r->last[r->depth]->next = node;
    else if (r->depth)
        r->stack[r->depth - 1]->first = node;
    else
        r->roots = node;
    r->last[r->depth] = node;
    r->stack[r->depth++] = node;
    r->last[r->depth] = NULL;
}

static void on_end(void *user, const xmlChar *name, const xmlChar *prefix,
                   const xmlChar *uri)
{
    reader *r = user;
    uint32_t line, col;

    (void)name, (void)prefix, (void)uri;
    if (r->st)
        return;
    if (r->depth) {
        r->depth--;
        return;
    }
    r->depth = -1;
    if (offset_of(r, r->ctxt->input->cur) >= r->n - N_CLOSING)
        return;
    position(r, offset_of(r, r->ctxt->input->cur), &line, &col);
    fail_at(r, VPU_ERR_PARSE, line, col,
            "a closing tag without an opening one");
}

static void on_text(void *user, const xmlChar *text, int n)
{
    reader *r = user;
    config_xml_node *node;
    size_t old, take = (size_t)n;
    char *both;

    if (r->st || r->depth < 1)
        return;
    node = r->stack[r->depth - 1];
    old = strlen(node->text);
    while (!old && take && isspace(*text))
        text++, take--;
    if (take > CONFIG_XML_MAX_TEXT - old)
        take = CONFIG_XML_MAX_TEXT - old;
    if (!take)
        return;
    both = arena_push(r->a, old + take + 1, 1, 1);
    memcpy(both, node->text, old);
    memcpy(both + old, text, take);
    while (both[0] && isspace((unsigned char)both[strlen(both) - 1]))
        both[strlen(both) - 1] = '\0';
    node->text = both;
}

#if LIBXML_VERSION >= 21200
static void on_error(void *user, const xmlError *e)
#else
static void on_error(void *user, xmlErrorPtr e)
#endif
{
    reader *r = user;
    size_t n = e->message ? strlen(e->message) : 0;
    uint32_t line = e->line > 0 ? (uint32_t)e->line : 0;
    uint32_t col = e->int2 > 0 ? (uint32_t)e->int2 : 0;

    if (e->level < XML_ERR_ERROR || e->domain == XML_FROM_NAMESPACE)
        return;
    /* What is missing at the end is missed inside the closing tag we added. */
    if (line == 1)
        col = col > N_OPENING ? col - N_OPENING : 1;
    while (n && isspace((unsigned char)e->message[n - 1]))
        n--;
    if (r->n_lines && line > r->n_lines)
        line = (uint32_t)r->n_lines;
    fail_at(r, e->code == XML_ERR_NO_MEMORY ? VPU_ERR_NOMEM : VPU_ERR_PARSE,
            line, col, "%.*s", (int)n, n ? e->message : "malformed XML");
}

/* Blank out a byte-order mark and an XML declaration. */
static void strip_prolog(reader *r)
{
    char *p = r->text + N_OPENING, *end;
    size_t n = r->n - N_OPENING - N_CLOSING;
    char *enc;

    if (n >= 2 && (!memcmp(p, "\xff\xfe", 2) || !memcmp(p, "\xfe\xff", 2))) {
        fail_at(r, VPU_ERR_UNSUPPORTED, 1, 1,
                "UTF-16 text; save the file as UTF-8");
        return;
    }
    if (n >= 3 && !memcmp(p, "\xef\xbb\xbf", 3)) {
        memset(p, ' ', 3);
        p += 3;
        n -= 3;
    }
    if (n < 6 || memcmp(p, "<?xml", 5) || !isspace((unsigned char)p[5]))
        return;
    end = memmem(p, n, "?>", 2);
    if (!end) {
        fail_at(r, VPU_ERR_PARSE, 1, 1, "the XML declaration has no end");
        return;
    }
    enc = memmem(p, (size_t)(end - p), "encoding", 8);
    if (enc) {
        enc += 8;
        enc += strspn(enc, " \t\r\n=\"'");
        if (strncasecmp(enc, "utf-8", 5) && strncasecmp(enc, "us-ascii", 8) &&
            strncasecmp(enc, "ascii", 5)) {
            fail_at(r, VPU_ERR_UNSUPPORTED, 1, 1,
                    "encoding %.*s; save the file as UTF-8",
                    (int)strcspn(enc, "\"'? \r\n"), enc);
            return;
        }
    }
    for (; p < end + 2; p++)
        if (*p != '\n')
            *p = ' ';
}

/* From the '<' of a tag to behind its '>', counting attributes. NULL where the
 * text is malformed: libxml2 stops there too, and says why. */
static const char *skip_tag(reader *r, const char *p, const char *end)
{
    const char *start = p++;
    size_t n_attrs = 0;
    uint32_t line, col;

    for (; p < end && *p != '>'; p++) {
        if (*p == '<')
            return NULL;
        n_attrs += *p == '=';
        if (*p == '"' || *p == '\'') {
            const char *close = memchr(p + 1, *p, (size_t)(end - p - 1));

            if (!close || memchr(p, '<', (size_t)(close - p)))
                return NULL;
            p = close;
        }
    }
    if (n_attrs > CONFIG_XML_MAX_ATTRS) {
        position(r, (size_t)(start - r->text), &line, &col);
        fail_at(r, VPU_ERR_LIMIT, line, col,
                "%zu attributes in one element, the limit is %d", n_attrs,
                CONFIG_XML_MAX_ATTRS);
        return NULL;
    }
    return p < end ? p : NULL;
}

/* Refuse what libxml2 must not see: declarations, which begin with "<!" and are
 * neither a comment nor a CDATA section, and tags with so many attributes that
 * its search for duplicates would take forever. */
static void check_markup(reader *r)
{
    static const struct {
        const char *open, *close;
    } skipped[] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}};
    const char *p = r->text, *end = r->text + r->n;
    uint32_t line, col;

    while (p && (p = memchr(p, '<', (size_t)(end - p)))) {
        size_t k, n_kinds = sizeof skipped / sizeof *skipped;

        for (k = 0; k < n_kinds; k++)
            if (!strncmp(p, skipped[k].open, strlen(skipped[k].open)))
                break;
        if (k < n_kinds) {
            size_t n_open = strlen(skipped[k].open);

            p = memmem(p + n_open, (size_t)(end - p) - n_open, skipped[k].close,
                       strlen(skipped[k].close));
        } else if (p[1] == '!') {
            position(r, (size_t)(p - r->text), &line, &col);
            fail_at(r, VPU_ERR_UNSUPPORTED, line, col,
                    "document type and entity declarations are refused");
            return;
        } else {
            p = skip_tag(r, p, end);
        }
    }
}

static pthread_once_t init_once = PTHREAD_ONCE_INIT;

static void init_libxml(void)
{
    xmlInitParser();
}

static void run_libxml(reader *r)
{
    xmlSAXHandler sax = {.initialized = XML_SAX2_MAGIC,
                         .startElementNs = on_start,
                         .endElementNs = on_end,
                         .characters = on_text,
                         .cdataBlock = on_text,
                         .serror = on_error};
    /* Without NOENT "&amp;" in an attribute becomes "&#38;". There are no other
     * entities: declarations are refused. */
    int options = XML_PARSE_NONET | XML_PARSE_COMPACT | XML_PARSE_NOENT;

    pthread_once(&init_once, init_libxml);
    r->ctxt = xmlNewParserCtxt();
    if (!r->ctxt) {
        r->st = err_set(r->err, VPU_ERR_NOMEM, "out of memory");
        return;
    }
    *r->ctxt->sax = sax;
    r->ctxt->userData = r;
    r->ctxt->recovery = 0;
    xmlFreeDoc(
        xmlCtxtReadMemory(r->ctxt, r->text, (int)r->n, NULL, NULL, options));
    if (!r->st && (!r->ctxt->wellFormed || r->depth >= 0))
        fail_at(r, VPU_ERR_PARSE, 0, 0, "malformed XML");
    xmlFreeParserCtxt(r->ctxt);
    r->ctxt = NULL;
}

vpu_status config_xml_parse(const file_bytes *text,
                            const config_xml_limits *limits, arena *a,
                            config_xml_node **roots, vpu_error *err)
{
    reader r = {.path = text->path, .limits = limits, .a = a, .err = err};
    size_t n = text->n;
    const char *nul;

    *roots = NULL;
    if (n > limits->max_bytes || n > INT_MAX - 64)
        return err_at(err, VPU_ERR_LIMIT, r.path, 0, 0,
                      "%zu bytes of XML, the limit is %zu", n,
                      limits->max_bytes);
    r.depth = -1;
    r.n = N_OPENING + n + N_CLOSING;
    r.text = arena_push(a, r.n + 1, 1, 1);
    memcpy(r.text, opening, N_OPENING);
    if (n)
        memcpy(r.text + N_OPENING, text->data, n);
    memcpy(r.text + N_OPENING + n, closing, N_CLOSING);
    index_lines(&r);
    nul = memchr(r.text, '\0', r.n);
    if (nul) {
        uint32_t line, col;

        position(&r, (size_t)(nul - r.text), &line, &col);
        fail_at(&r, VPU_ERR_PARSE, line, col, "a zero byte: not a text file");
    }
    if (!r.st)
        strip_prolog(&r);
    if (!r.st)
        check_markup(&r);
    if (!r.st)
        run_libxml(&r);
    if (!r.st)
        *roots = r.roots;
    return r.st;
}

const config_xml_attr *config_xml_attr_get(const config_xml_node *node,
                                           const char *name)
{
    for (size_t i = 0; i < node->n_attrs; i++)
        if (!strcmp(node->attrs[i].name, name))
            return &node->attrs[i];
    return NULL;
}

const config_xml_node *config_xml_child(const config_xml_node *node,
                                        const char *name)
{
    for (const config_xml_node *c = node->first; c; c = c->next)
        if (!strcmp(c->name, name))
            return c;
    return NULL;
}
